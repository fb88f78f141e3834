/*
 * command.h - a command of the program: one file cmd_NAME.c that ends in one constant, and one row in commands.h.
 *
 *     struct hello_args { const char *who; };
 *     static const struct hello_args hello_defaults = { .who = "world" };
 *     static const struct opt hello_opts[] = {
 *         OPT_TEXT('w', "who", struct hello_args, who, "NAME", "whom to greet"),
 *         OPT_END
 *     };
 *
 *     static int hello_main(const struct invocation *call, struct tpa_error *err)
 *     {
 *         const struct hello_args *args = call->args;
 *         ...
 *         return EXIT_FINE;
 *     }
 *
 *     const struct command cmd_hello = {
 *         .name = "hello", .summary = "greet someone", .section = SECTION_OTHER,
 *         .options = hello_opts, COMMAND_ARGS(hello_defaults),
 *         .main = hello_main,
 *         .examples = { "tpa hello --who you" },
 *     };
 *
 * Parsing, --help, the man page, shell completion and the page in docs/ come from this constant.
 */
#ifndef TPA_CLI_COMMAND_H
#define TPA_CLI_COMMAND_H

#include "base/options.h"

/* Exit codes, as diff(1). */
enum {
    EXIT_FINE = 0,
    EXIT_LIMIT_PASSED = 1, /* there is a difference, a gate was passed */
    EXIT_TROUBLE = 2,
};

/* Groups of commands in `tpa help`, in this order. */
enum command_section {
    SECTION_ANALYZE,
    SECTION_COMPARE,
    SECTION_SHOW,
    SECTION_RECORD,
    SECTION_OTHER,
    SECTION_HIDDEN, /* not listed: for our scripts */
    SECTION_COUNT = SECTION_HIDDEN
};

struct command;

/* One run of a command. */
struct invocation {
    const struct command *command;
    const void *args; /* the command's args struct: defaults and what the options changed */
    char **operands;  /* as many as the command's operand text allows */
    size_t operand_count;
};

struct command {
    const char *name;
    const char *summary;       /* one line, without a full stop */
    const char *operands;      /* "TRACE...", "BASE NEW", "[COMMAND]"; NULL: takes none */
    opt_choice_at *operand_at; /* possible words of an operand, for completion; NULL: files */
    const char *description;   /* paragraphs, separated by an empty line; NULL: only the summary */
    const struct opt *options;
    const void *defaults; /* initial value of args; args_size bytes */
    size_t args_size;
    /* The exit code. If ERR is set, it is printed and the exit code is EXIT_TROUBLE. */
    int (*main)(const struct invocation *call, struct tpa_error *err);
    /* lists of the tables it may make, each ending in { 0 }; for `tpa help` */
    const struct table_shape *tables[8];
    const char *examples[10]; /* lines to paste; with an optional comment " # ..." at the end */
    enum command_section section;
    unsigned needs;     /* enum trace_feature: features that a trace must have for the command */
    bool runs_program;  /* the first operand ends the options: the rest belongs to the program */
    bool needs_callers; /* of profiles: who called whom */
    bool reads_traces, reads_profiles, reads_actions,
        reads_snapshots; /* accepted operands: see struct ingested */
};

#define COMMAND_ARGS(default_args) .defaults = &(default_args), .args_size = sizeof(default_args)

/* The number of operands of COMMAND, from its operand text. */
void command_operand_bounds(const struct command *command, size_t *least, size_t *most);

#endif
