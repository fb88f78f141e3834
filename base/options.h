/*
 * options.h - the options of a command: one row each.
 *
 * A row defines how an option is written, which value it takes and which field of the command's argument struct it
 * fills. Parsing, --help, man pages, shell completion and the option tables in docs/ all come from the rows; the
 * defaults are the initial values of the struct.
 *
 *     struct report_args { const char *sort; int64_t min_ns; int format; bool wide; };
 *
 *     static const struct opt report_opts[] = {
 *         OPT_GROUP("Selection"),
 *         OPT_TIME('m', "min", struct report_args, min_ns, "TIME", "hide kernels shorter than TIME, e.g. 10us"),
 *         OPT_GROUP("Output"),
 *         OPT_CHOICE(0, "format", struct report_args, format, formats, "FORMAT", "how to print the rows"),
 *         OPT_FLAG('w', "wide", struct report_args, wide, "show names in full"),
 *         OPT_END
 *     };
 *
 *     struct report_args args = { .min_ns = 1000 };
 *     struct operands files;
 *     if (!options_parse(report_opts, &args, argc - 1, argv + 1, &files, &err))
 *         ...
 *     options_release(report_opts, &args);
 *
 * Accepted: --min=V, --min V, -m V, -mV, -wm V, --wide, --no-wide, options after operands, "--" before operands that
 * begin with '-', and "-" as an operand. Long names are never abbreviated, so that adding an option breaks no script.
 * The type of each field is checked by the compiler.
 */
#ifndef TPA_BASE_OPTIONS_H
#define TPA_BASE_OPTIONS_H

#include "base/quantity.h"

struct opt;

/* One of the words that a choice accepts. A table of them ends in { NULL }; the field gets the index. Words that people
 * will try but that are not supported come last, with REFUSAL, which gives the reason and an alternative. */
struct opt_choice {
    const char *name;
    const char *help;    /* one line, or NULL */
    const char *aliases; /* other spellings, separated by blanks, or NULL */
    const char *refusal; /* NULL: the word is accepted */
};

/* For words from elsewhere (printers, columns): fill in *CHOICE; returns false past the last one. */
typedef bool opt_choice_at(size_t index, struct opt_choice *choice);

/* What a shell can complete a value with, besides the choices. */
enum opt_completion { OPT_COMPLETE_NOTHING, OPT_COMPLETE_FILES, OPT_COMPLETE_DIRECTORIES };

/* The type of an option's value. A command may define types of its own. */
struct opt_type {
    const char *kind;    /* "time", "ranges" ...: stable, for programs */
    const char *expects; /* "a time such as 10us": for messages; NULL when the option takes no value */
    bool (*parse)(const struct opt *opt, const char *text, void *field);
    void (*show)(const struct opt *opt, const void *field, struct buffer *out); /* appends nothing for zero */
    void (*release)(void *field);                                               /* NULL: nothing to free */
    enum opt_completion completion;
};

enum opt_flags {
    OPT_HIDDEN = 1, /* accepted, but not in help, pages or completion */
    OPT_GREEDY = 2, /* takes all words up to the next option: --base a.json b.json */
};

struct opt {
    char letter;            /* 'm' for -m; 0 when there is none */
    const char *name;       /* "min" for --min; NULL in a heading and at the end */
    const char *value_name; /* "TIME" in --help */
    const char *help;       /* what it does, without a full stop; or the text of a heading */
    const struct opt_type *type;
    size_t offset;                    /* of the field in the args struct */
    const struct opt_choice *choices; /* the words allowed or suggested */
    opt_choice_at *choice_at;         /* the same, from a function */
    int64_t min, max;                 /* limits of integers */
    unsigned flags;                   /* enum opt_flags */
};

/* The words of an OPT_LIST, in the order given; borrowed from argv. Zero-initialise it. */
struct opt_list {
    VEC_OF(const char *);
};

extern const struct opt_type opt_flag, opt_text, opt_file, opt_directory, opt_integer, opt_count, opt_time,
    opt_size, opt_share, opt_limit, opt_ranges, opt_choice, opt_choices, opt_list, opt_file_list;

/* The offset of FIELD in T, if its type is TYPE; else the compiler objects. */
#define OPT_FIELD(T, field, type) _Generic(((T *)0)->field, type : offsetof(T, field))

/* clang-format off */
#define OPT_END { 0 }
#define OPT_GROUP(heading) { .help = (heading) }

/* bool; also accepts --no-NAME */
#define OPT_FLAG(l, n, T, field, h) \
    { .letter = (l), .name = (n), .help = (h), .type = &opt_flag, .offset = OPT_FIELD(T, field, bool) }

#define OPT_VALUE(l, n, T, field, ctype, opttype, value, h, ...) \
    { .letter = (l), .name = (n), .value_name = (value), .help = (h), .type = &(opttype), \
      .offset = OPT_FIELD(T, field, ctype), __VA_ARGS__ }

/* const char *, borrowed from argv; NULL when not given and not initialised */
#define OPT_TEXT(l, n, T, field, value, h) OPT_VALUE(l, n, T, field, const char *, opt_text, value, h, .flags = 0)
#define OPT_FILE(l, n, T, field, value, h) OPT_VALUE(l, n, T, field, const char *, opt_file, value, h, .flags = 0)
#define OPT_DIRECTORY(l, n, T, field, value, h) \
    OPT_VALUE(l, n, T, field, const char *, opt_directory, value, h, .flags = 0)
/* const char *; help and completion offer the words of AT, but others are accepted too */
#define OPT_WORD(l, n, T, field, at, value, h) \
    OPT_VALUE(l, n, T, field, const char *, opt_text, value, h, .choice_at = (at))

#define OPT_INT(l, n, T, field, lowest, highest, value, h) \
    OPT_VALUE(l, n, T, field, int64_t, opt_integer, value, h, .min = (lowest), .max = (highest))
#define OPT_COUNT(l, n, T, field, lowest, highest, value, h) \
    OPT_VALUE(l, n, T, field, uint64_t, opt_count, value, h, .min = (lowest), .max = (highest))
#define OPT_TIME(l, n, T, field, value, h) OPT_VALUE(l, n, T, field, int64_t, opt_time, value, h, .flags = 0)
#define OPT_SIZE(l, n, T, field, value, h) OPT_VALUE(l, n, T, field, int64_t, opt_size, value, h, .flags = 0)
#define OPT_SHARE(l, n, T, field, value, h) OPT_VALUE(l, n, T, field, double, opt_share, value, h, .flags = 0)
#define OPT_LIMIT(l, n, T, field, value, h) \
    OPT_VALUE(l, n, T, field, struct limit, opt_limit, value, h, .flags = 0)
#define OPT_RANGES(l, n, T, field, value, h) \
    OPT_VALUE(l, n, T, field, struct ranges, opt_ranges, value, h, .flags = 0)

/* int or an enum without negative constants: the index of the word in TABLE */
#define OPT_CHOICE_FIELD(T, field) _Generic(((T *)0)->field, int : offsetof(T, field), unsigned : offsetof(T, field))
#define OPT_CHOICE(l, n, T, field, table, value, h) \
    { .letter = (l), .name = (n), .value_name = (value), .help = (h), .type = &opt_choice, \
      .offset = OPT_CHOICE_FIELD(T, field), .choices = (table) }
/* the same, with the words from a function */
#define OPT_CHOICE_OF(l, n, T, field, at, value, h) \
    { .letter = (l), .name = (n), .value_name = (value), .help = (h), .type = &opt_choice, \
      .offset = OPT_CHOICE_FIELD(T, field), .choice_at = (at) }
/* unsigned: a bit, 1 << index, for each of the comma-separated words; 0 when not given */
#define OPT_CHOICES(l, n, T, field, table, value, h) \
    OPT_VALUE(l, n, T, field, unsigned, opt_choices, value, h, .choices = (table))

/* struct opt_list: the option may be repeated */
#define OPT_LIST(l, n, T, field, value, h) \
    OPT_VALUE(l, n, T, field, struct opt_list, opt_list, value, h, .flags = 0)
/* struct opt_list: takes all words up to the next option as values */
#define OPT_FILES(l, n, T, field, value, h) \
    OPT_VALUE(l, n, T, field, struct opt_list, opt_file_list, value, h, .flags = OPT_GREEDY)
/* clang-format on */

/* The words of the command line that are not options, in order. */
struct operands {
    char **at; /* the start of the argv given to options_parse */
    size_t count;
    bool help_wanted; /* -h or --help was among the options; the rest was not parsed */
};

/* Parse the COUNT words of ARGV: options go to the fields of ARGS, operands to the front of ARGV. -h and --help are
 * accepted unless the rows use them. False and ERR for a word that no row accepts. */
bool options_parse(const struct opt *rows, void *args, int count, char **argv, struct operands *operands,
                   struct tpa_error *err);

/* As options_parse, for commands that run a program: the first operand is the program, and all words after it are its
 * arguments, even if they look like options. */
bool options_parse_program(const struct opt *rows, void *args, int count, char **argv,
                           struct operands *operands, struct tpa_error *err);

/* Free what options_parse allocated in ARGS (lists; nothing else allocates). */
void options_release(const struct opt *rows, void *args);

/* Is ROW the end of the table; a heading; an option to show? */
bool opt_is_end(const struct opt *row);
bool opt_is_heading(const struct opt *row);
bool opt_is_shown(const struct opt *row);

/* Get word I that a choice accepts; false past the last one. */
bool opt_choice_get(const struct opt *row, size_t i, struct opt_choice *choice);

/* Append the default to OUT as typed on the command line, taken from DEFAULTS. Appends nothing if there is no
 * default. */
void opt_append_default(const struct opt *row, const void *defaults, struct buffer *out);

/* Append how ROW is written in --help: "--min TIME", "--no-color" for a flag that is on by default. */
void opt_append_usage(const struct opt *row, const void *defaults, struct buffer *out);

/* Append the table of options to OUT, wrapped to WIDTH columns. */
void options_help(const struct opt *rows, const void *defaults, size_t width, struct buffer *out);

/* Append TEXT to OUT, broken between words so that no line is longer than WIDTH columns. The first word
 * starts at COLUMN of the current line; further lines begin at INDENT. "\n" in the text begins a new line.
 * Ends with a newline. */
void text_wrap(struct buffer *out, const char *text, size_t column, size_t indent, size_t width);

#endif
