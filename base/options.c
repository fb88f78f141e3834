/*
 * options.c - one small loop over the words, and the types of values.
 *
 * Why not getopt_long: it prints its own messages, keeps its state in globals, accepts any abbreviation (so that adding
 * an option breaks scripts), and knows nothing of types, defaults or suggestions.
 */
#include "base/options.h"

#include "base/suggest.h"
#include "base/unicode.h"
#include <inttypes.h>

bool opt_is_end(const struct opt *row)
{
    return row->name == NULL && row->help == NULL;
}

bool opt_is_heading(const struct opt *row)
{
    return row->name == NULL && row->help != NULL;
}

bool opt_is_shown(const struct opt *row)
{
    return row->name != NULL && !(row->flags & OPT_HIDDEN);
}

bool opt_choice_get(const struct opt *row, size_t i, struct opt_choice *choice)
{
    if (row->choice_at)
        return row->choice_at(i, choice);
    if (row->choices == NULL || row->choices[i].name == NULL || row->choices[i].refusal)
        return false;
    *choice = row->choices[i];
    return true;
}

/* --- types of values ----------------------------------------------------------------------------------------- */

static bool parse_text(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    *(const char **)field = text;
    return true;
}

static void append_text(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    const char *text = *(const char *const *)field;
    if (text)
        buffer_puts(out, text);
}

static bool parse_integer(const struct opt *opt, const char *text, void *field)
{
    int64_t value;
    if (!quantity_parse_integer(text, strlen(text), &value) || value < opt->min || value > opt->max)
        return false;
    *(int64_t *)field = value;
    return true;
}

static void append_integer(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    int64_t value = *(const int64_t *)field;
    if (value != 0)
        buffer_printf(out, "%" PRId64, value);
}

static bool parse_count(const struct opt *opt, const char *text, void *field)
{
    int64_t value;
    if (!parse_integer(opt, text, &value) || value < 0)
        return false;
    *(uint64_t *)field = (uint64_t)value;
    return true;
}

static bool parse_time(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    return quantity_parse_time(text, strlen(text), field);
}

static void append_time(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    if (*(const int64_t *)field != 0)
        quantity_append_time(out, *(const int64_t *)field);
}

static bool parse_size(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    return quantity_parse_size(text, strlen(text), field);
}

static void append_size(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    if (*(const int64_t *)field > 0) /* below 0: not given */
        quantity_append_size(out, *(const int64_t *)field);
}

static bool parse_share(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    return quantity_parse_share(text, strlen(text), field);
}

static void append_share(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    if (*(const double *)field > 0)
        quantity_append_share(out, *(const double *)field);
}

static bool parse_limit(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    return quantity_parse_limit(text, strlen(text), field);
}

static void append_limit(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    const struct limit *limit = field;
    if (limit->is_share || limit->count > 0)
        quantity_append_limit(out, limit);
}

static bool parse_ranges(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    return quantity_parse_ranges(text, strlen(text), field);
}

static void append_ranges(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    quantity_append_ranges(out, field);
}

/* Are the LEN bytes at WORD one of the blank-separated words of LIST? */
static bool is_among(const char *list, const char *word, size_t len)
{
    while (list && *list) {
        size_t next = strcspn(list, " ");
        if (next == len && memcmp(list, word, len) == 0)
            return true;
        list += next + (list[next] == ' ');
    }
    return false;
}

/* The index of the word that equals the LEN bytes at TEXT; -1 if there is none. */
static int find_choice(const struct opt *opt, const char *text, size_t len)
{
    struct opt_choice choice = { 0 };
    for (int i = 0; opt_choice_get(opt, (size_t)i, &choice); i++)
        if ((strlen(choice.name) == len && memcmp(choice.name, text, len) == 0) ||
            is_among(choice.aliases, text, len))
            return i;
    return -1;
}

static bool parse_choice(const struct opt *opt, const char *text, void *field)
{
    int index = find_choice(opt, text, strlen(text));
    if (index >= 0)
        *(int *)field = index;
    return index >= 0;
}

static void append_choice(const struct opt *opt, const void *field, struct buffer *out)
{
    struct opt_choice choice = { 0 };
    if (opt_choice_get(opt, (size_t) * (const int *)field, &choice))
        buffer_puts(out, choice.name);
}

static bool parse_choices(const struct opt *opt, const char *text, void *field)
{
    unsigned bits = 0;
    for (size_t len; text; text = text[len] ? text + len + 1 : NULL) {
        len = strcspn(text, ",");
        int index = find_choice(opt, text, len);
        if (index < 0)
            return false;
        bits |= 1u << index;
    }
    *(unsigned *)field = bits;
    return true;
}

static void append_choices(const struct opt *opt, const void *field, struct buffer *out)
{
    unsigned bits = *(const unsigned *)field;
    struct opt_choice choice = { 0 };
    for (size_t i = 0, shown = 0; opt_choice_get(opt, i, &choice); i++)
        if (bits & 1u << i)
            buffer_printf(out, "%s%s", shown++ ? "," : "", choice.name);
}

static bool parse_list(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    struct opt_list *list = field;
    *VEC_PUSH(list) = text;
    return true;
}

static void release_list(void *field)
{
    struct opt_list *list = field;
    VEC_FREE(list);
}

/* clang-format off */
const struct opt_type
    opt_flag      = { "flag", NULL },
    opt_text      = { "text", "a text", parse_text, append_text },
    opt_file      = { "file", "a file", parse_text, append_text, .completion = OPT_COMPLETE_FILES },
    opt_directory = { "directory", "a directory", parse_text, append_text, .completion = OPT_COMPLETE_DIRECTORIES },
    opt_integer   = { "integer", "a whole number", parse_integer, append_integer },
    opt_count     = { "count", "a whole number", parse_count, append_integer },
    opt_time      = { "time", "a time such as 10us, 1.5ms or 2s", parse_time, append_time },
    opt_size      = { "size", "a size such as 4096, 64k or 1.5GiB", parse_size, append_size },
    opt_share     = { "share", "a share such as 5% or 0.05", parse_share, append_share },
    opt_limit     = { "limit", "a number such as 10, or a share such as 20%", parse_limit, append_limit },
    opt_ranges    = { "ranges", "numbers such as 5, 3..7, 3.. or 1,4,6..8", parse_ranges, append_ranges },
    opt_choice    = { "choice", "one of the known words", parse_choice, append_choice },
    opt_choices   = { "choices", "known words, separated by commas", parse_choices, append_choices },
    opt_list      = { "texts", "a text", parse_list, NULL, release_list },
    opt_file_list = { "files", "files", parse_list, NULL, release_list, OPT_COMPLETE_FILES };
/* clang-format on */

/* --- parsing ------------------------------------------------------------------------------------------------- */

struct parser {
    const struct opt *rows;
    void *args;
    char **argv; /* the words; operands are moved to the front */
    size_t count, next;
    struct operands *operands;
    struct tpa_error *err;
};

static void *field_of(const struct opt *row, void *args)
{
    return (char *)args + row->offset;
}

/* The words that ROW accepts, as "a, b, c or d". */
static void list_choices(const struct opt *row, struct buffer *out)
{
    struct opt_choice choice = { 0 }, next = { 0 };
    bool more = opt_choice_get(row, 0, &choice);
    for (size_t i = 0; more; i++) {
        more = opt_choice_get(row, i + 1, &next);
        bool last = !more;
        buffer_printf(out, "%s%s", i == 0 ? "" : last ? " or " : ", ", choice.name);
        choice = next;
    }
}

/* Why the LEN bytes at TEXT are refused here; NULL if the table has no reason for them. */
static const char *refusal_of(const struct opt *row, const char *text, size_t len)
{
    for (const struct opt_choice *choice = row->choices; choice && choice->name; choice++)
        if (choice->refusal && ((strlen(choice->name) == len && memcmp(choice->name, text, len) == 0) ||
                                is_among(choice->aliases, text, len)))
            return choice->refusal;
    return NULL;
}

/* TEXT, or the first of the words in it that is not a choice of ROW. */
static bool unknown_choice(const struct opt *row, const char *text, struct tpa_error *err)
{
    bool several = row->type == &opt_choices;
    size_t len = several ? strcspn(text, ",") : strlen(text);
    while (find_choice(row, text, len) >= 0) {
        text += len + 1; /* another word must follow, or all words were valid choices */
        len = strcspn(text, ",");
    }
    const char *refusal = refusal_of(row, text, len);
    struct suggest near = suggest_for(text, len);
    struct opt_choice choice = { 0 };
    for (size_t i = 0; opt_choice_get(row, i, &choice); i++)
        suggest_consider(&near, choice.name);
    SCOPED struct buffer words = { 0 };
    list_choices(row, &words);
    if (refusal)
        tpa_fail(err, TPA_NOWHERE, "--%s does not take '%.*s': %s", row->name, (int)len, text, refusal);
    else if (near.best)
        tpa_fail(err, TPA_NOWHERE, "--%s does not know '%.*s'; did you mean %s?", row->name, (int)len, text,
                 near.best);
    else
        tpa_fail(err, TPA_NOWHERE, "--%s does not know '%.*s'", row->name, (int)len, text);
    if (words.count > 0)
        tpa_hint(err, "--%s takes %s%s", row->name, words.at,
                 several ? ", and several of them separated by commas" : "");
    return false;
}

static bool set_value(const struct parser *parser, const struct opt *row, const char *text)
{
    if (row->type->parse(row, text, field_of(row, parser->args)))
        return true;
    if (row->type == &opt_choice || row->type == &opt_choices)
        return unknown_choice(row, text, parser->err);
    bool is_integer = row->type == &opt_integer || row->type == &opt_count;
    if (is_integer && row->max == INT64_MAX)
        return tpa_fail(parser->err, TPA_NOWHERE, "--%s takes a whole number from %" PRId64 " up, not '%s'",
                        row->name, row->min, text);
    if (is_integer)
        return tpa_fail(parser->err, TPA_NOWHERE,
                        "--%s takes a whole number from %" PRId64 " to %" PRId64 ", not '%s'", row->name,
                        row->min, row->max, text);
    return tpa_fail(parser->err, TPA_NOWHERE, "--%s takes %s, not '%s'", row->name, row->type->expects, text);
}

static bool looks_like_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* Set ROW from VALUE ("--min=VALUE", "-mVALUE") or, when that is NULL, from the words that follow. */
static bool take_value(struct parser *parser, const struct opt *row, const char *value)
{
    if (value)
        return set_value(parser, row, value);
    /* A negative number is a value; in "--sort --wide", the value is missing. */
    if (parser->next == parser->count || strncmp(parser->argv[parser->next], "--", 2) == 0) {
        tpa_fail(parser->err, TPA_NOWHERE, "--%s needs a value: %s", row->name, row->type->expects);
        if (parser->next < parser->count && parser->argv[parser->next][2] != '\0')
            tpa_hint(parser->err, "if the value begins with dashes, write --%s=%s", row->name,
                     parser->argv[parser->next]);
        return false;
    }
    if (!set_value(parser, row, parser->argv[parser->next++]))
        return false;
    while ((row->flags & OPT_GREEDY) && parser->next < parser->count &&
           !looks_like_option(parser->argv[parser->next]))
        if (!set_value(parser, row, parser->argv[parser->next++]))
            return false;
    return true;
}

static bool collect_value(struct parser *parser, const struct opt *row, const char *value)
{
    return take_value(parser, row, value) || tpa_in_option(parser->err, row->name);
}

static const struct opt *find_name(const struct opt *rows, const char *name, size_t len)
{
    for (const struct opt *row = rows; !opt_is_end(row); row++)
        if (row->name && strlen(row->name) == len && memcmp(row->name, name, len) == 0)
            return row;
    return NULL;
}

static const struct opt *find_letter(const struct opt *rows, char letter)
{
    for (const struct opt *row = rows; !opt_is_end(row); row++)
        if (row->name && row->letter == letter)
            return row;
    return NULL;
}

static bool fail_unknown(const struct parser *parser, const char *name, size_t len)
{
    struct suggest near = suggest_for(name, len);
    for (const struct opt *row = parser->rows; !opt_is_end(row); row++)
        if (opt_is_shown(row))
            suggest_consider(&near, row->name);
    suggest_consider(&near, "help");
    if (near.best)
        return tpa_fail(parser->err, TPA_NOWHERE, "unknown option --%.*s; did you mean --%s?", (int)len, name,
                        near.best);
    return tpa_fail(parser->err, TPA_NOWHERE, "unknown option --%.*s", (int)len, name);
}

static bool unknown_option(const struct parser *parser, const char *name, size_t len)
{
    char option[32];
    snprintf(option, sizeof option, "%.*s", (int)len, name);
    return fail_unknown(parser, name, len) || tpa_in_option(parser->err, option);
}

/* WORD is what follows the two dashes. */
static bool parse_long(struct parser *parser, const char *word)
{
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    bool on = true;
    const struct opt *row = find_name(parser->rows, word, len);
    if (row == NULL && len > 3 && strncmp(word, "no-", 3) == 0) {
        row = find_name(parser->rows, word + 3, len - 3);
        on = false;
        if (row && row->type != &opt_flag)
            row = NULL;
    }
    if (row == NULL && len == 4 && memcmp(word, "help", 4) == 0 && value == NULL) {
        parser->operands->help_wanted = true;
        return true;
    }
    if (row == NULL)
        return unknown_option(parser, word, len);
    if (row->type != &opt_flag)
        return collect_value(parser, row, value);
    if (value)
        return tpa_fail(parser->err, TPA_NOWHERE, "--%.*s takes no value, but '%s' was given", (int)len, word,
                        value);
    *(bool *)field_of(row, parser->args) = on;
    return true;
}

/* LETTERS follow the one dash: flags, and last an option that takes the rest or the next word as its value. */
static bool parse_short(struct parser *parser, const char *letters)
{
    for (; *letters; letters++) {
        const struct opt *row = find_letter(parser->rows, *letters);
        if (row == NULL && *letters == 'h') {
            parser->operands->help_wanted = true;
            return true;
        }
        if (row == NULL) {
            /* "-sort" is probably a long option with one dash. */
            if (letters[1] != '\0' && find_name(parser->rows, letters, strcspn(letters, "=")))
                return tpa_fail(parser->err, TPA_NOWHERE, "unknown option -%c; did you mean --%s?", *letters,
                                letters);
            return tpa_fail(parser->err, TPA_NOWHERE, "unknown option -%c", *letters);
        }
        if (row->type != &opt_flag)
            return collect_value(parser, row, letters[1] != '\0' ? letters + 1 : NULL);
        *(bool *)field_of(row, parser->args) = true;
    }
    return true;
}

static bool parse_all(const struct opt *rows, void *args, int count, char **argv, struct operands *operands,
                      bool operand_ends_options, struct tpa_error *err)
{
    struct parser parser = {
        .rows = rows, .args = args, .argv = argv, .count = (size_t)count, .operands = operands, .err = err
    };
    bool only_operands = false;
    *operands = (struct operands){ .at = argv };
    while (parser.next < parser.count && !operands->help_wanted) {
        char *word = argv[parser.next++];
        if (only_operands || !looks_like_option(word)) {
            argv[operands->count++] = word; /* never past parser.next */
            only_operands |= operand_ends_options;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!(word[1] == '-' ? parse_long(&parser, word + 2) : parse_short(&parser, word + 1))) {
            return false;
        }
    }
    return true;
}

bool options_parse(const struct opt *rows, void *args, int count, char **argv, struct operands *operands,
                   struct tpa_error *err)
{
    return parse_all(rows, args, count, argv, operands, false, err);
}

bool options_parse_program(const struct opt *rows, void *args, int count, char **argv,
                           struct operands *operands, struct tpa_error *err)
{
    return parse_all(rows, args, count, argv, operands, true, err);
}

void options_release(const struct opt *rows, void *args)
{
    for (const struct opt *row = rows; !opt_is_end(row); row++)
        if (row->name && row->type->release)
            row->type->release(field_of(row, args));
}

/* --- help ---------------------------------------------------------------------------------------------------- */

void opt_append_default(const struct opt *row, const void *defaults, struct buffer *out)
{
    if (defaults && row->type->show)
        row->type->show(row, (const char *)defaults + row->offset, out);
}

void opt_append_usage(const struct opt *row, const void *defaults, struct buffer *out)
{
    bool is_on = row->type == &opt_flag && defaults && *((const bool *)defaults + row->offset);
    buffer_printf(out, "--%s%s", is_on ? "no-" : "", row->name);
    if (row->type->expects)
        buffer_printf(out, " %s%s", row->value_name, row->flags & OPT_GREEDY ? "..." : "");
}

void text_wrap(struct buffer *out, const char *text, size_t column, size_t indent, size_t width)
{
    bool line_is_empty = true;
    while (*text) {
        size_t len = strcspn(text, " \n"), columns = utf8_count(text, len);
        if (!line_is_empty && column + 1 + columns > width) {
            buffer_putc(out, '\n');
            buffer_pad(out, ' ', indent);
            column = indent;
            line_is_empty = true;
        }
        if (!line_is_empty && len > 0) {
            buffer_putc(out, ' ');
            column++;
        }
        buffer_add(out, text, len);
        column += columns;
        line_is_empty = line_is_empty && len == 0;
        text += len;
        if (*text == '\n') {
            buffer_putc(out, '\n');
            if (text[1] != '\n' && text[1] != '\0')
                buffer_pad(out, ' ', indent);
            column = indent;
            line_is_empty = true;
        }
        text += *text != '\0';
    }
    buffer_putc(out, '\n');
}

enum { HELP_COLUMN = 26 }; /* column where the texts begin */

static void option_help(const struct opt *row, const void *defaults, size_t width, struct buffer *out)
{
    SCOPED struct buffer usage = { 0 }, text = { 0 }, value = { 0 };
    if (row->letter)
        buffer_printf(&usage, "  -%c, ", row->letter);
    else
        buffer_puts(&usage, "      ");
    opt_append_usage(row, defaults, &usage);
    buffer_add(out, usage.at, usage.count);
    if (usage.count + 2 > HELP_COLUMN) {
        buffer_putc(out, '\n');
        buffer_pad(out, ' ', HELP_COLUMN);
    } else {
        buffer_pad(out, ' ', HELP_COLUMN - usage.count);
    }

    buffer_puts(&text, row->help);
    if (row->type == &opt_choice || row->type == &opt_choices) {
        buffer_puts(&text, ": ");
        list_choices(row, &text);
    }
    opt_append_default(row, defaults, &value);
    if (value.count > 0)
        buffer_printf(&text, " (default: %s)", value.at);
    text_wrap(out, text.at, HELP_COLUMN, HELP_COLUMN, width);
}

void options_help(const struct opt *rows, const void *defaults, size_t width, struct buffer *out)
{
    for (const struct opt *row = rows; !opt_is_end(row); row++) {
        if (opt_is_heading(row))
            buffer_printf(out, "\n%s:\n", row->help);
        else if (opt_is_shown(row))
            option_help(row, defaults, width, out);
    }
}
