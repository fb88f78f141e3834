/*
 * printed_stats.c - the text of Python's pstats, print_stats(), and of Lightning's AdvancedProfiler, which has one such
 * table per action.
 *
 *     Profile stats for: [LightningModule]Model.optimizer_step           Lightning alone
 *              5296 function calls (4085 primitive calls) in 0.002 seconds
 *
 *        Ordered by: cumulative time
 *        List reduced from 29 to 5 due to restriction <5>                if print_stats was given one
 *
 *        ncalls  tottime  percall  cumtime  percall filename:lineno(function)
 *             1    0.000    0.000    0.002    0.002 {built-in method builtins.exec}
 *        410/10    0.000    0.000    0.001    0.000 train.py:37(step)
 *
 * A table ends at an empty line; text around tables is skipped, so that a table may stand in a program's other output.
 * The percall of a function without calls is blank. Times have three decimals, callers are not in the text; the totals of
 * the heading are of all functions, printed or not, and are taken as they are.
 *
 * A heading that occurs twice under one title is of one profile, printed again in another order or with another
 * restriction: its functions count once. Learnt from CPython 2.7 to 3.14 (Lib/pstats.py) and Lightning 2.6
 * (profilers/advanced.py).
 */
#define _GNU_SOURCE /* memmem */
#include "base/quantity.h"
#include "ingest/formats.h"
#include "ingest/stack_sums.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

static const char title_words[] = "Profile stats for: ";
static const char *const column_words[] = { "ncalls", "tottime", "percall", "cumtime", "percall" };

/* A profile in the text: one heading, and the functions below it. */
struct printed {
    const char *title; /* the action of Lightning; "" otherwise */
    int64_t calls, primitive_calls;
    double total_s;
    uint64_t before; /* functions before the list was reduced; 0: it was not */
    bool has_heading;
    struct profile *profile;
};

struct printed_stats {
    VEC_OF(struct printed) all;
    size_t current; /* index of the one whose heading came last; SIZE_MAX: none yet */
    struct arena titles;
    const char *title;
    bool in_table, title_is_open; /* an action was named, and its heading is to come */
    uint64_t odd_lines;
    int64_t odd_offset;
};

/* ---- pieces of a line, which is NUL-terminated ---- */

static bool skip_words(const char **at, const char *words)
{
    *at += strspn(*at, " \t");
    size_t len = strlen(words);
    if (strncmp(*at, words, len) != 0)
        return false;
    *at += len;
    return true;
}

static bool read_integer(const char **at, int64_t *value)
{
    *at += strspn(*at, " \t");
    size_t len = strspn(*at, "-0123456789");
    if (!quantity_parse_integer(*at, len, value))
        return false;
    *at += len;
    return true;
}

static bool printed_read_seconds(const char **at, double *seconds)
{
    *at += strspn(*at, " \t");
    size_t len = strcspn(*at, " \t");
    char *end;
    if (len == 0 || strspn(*at, "-.0123456789infa") < len)
        return false;
    *seconds = strtod(*at, &end);
    bool whole = end == *at + len;
    *at = end;
    return whole;
}

/* "     5296 function calls (4085 primitive calls) in 0.002 seconds" */
static bool read_heading(const char *line, struct printed *heading)
{
    if (!read_integer(&line, &heading->calls) || !skip_words(&line, "function calls"))
        return false;
    heading->primitive_calls = heading->calls;
    if (skip_words(&line, "(") &&
        (!read_integer(&line, &heading->primitive_calls) || !skip_words(&line, "primitive calls)")))
        return false;
    return skip_words(&line, "in") && printed_read_seconds(&line, &heading->total_s);
}

static bool is_column_line(const char *line)
{
    return ALL(i, sizeof column_words / sizeof *column_words, skip_words(&line, column_words[i])) &&
           skip_words(&line, "filename:lineno(function)");
}

/* ---- functions ---- */

/* The function whose text is NAME: "train.py:12(step)", "{built-in method len}", or a bare name. */
static function_id function_named(struct profile *profile, const char *name)
{
    size_t len = strlen(name);
    if (len > 2 && name[0] == '{' && name[len - 1] == '}') {
        char *built_in = arena_strndup(&profile->arena, name, len);
        built_in[0] = '<';
        built_in[len - 1] = '>';
        return profile_function(profile, "~", 1, 0, built_in, len);
    }
    const char *text = arena_strndup(&profile->arena, name, len);
    for (const char *colon = strchr(text, ':'); colon && text[len - 1] == ')';
         colon = strchr(colon + 1, ':')) {
        size_t digits = strspn(colon + 1, "-0123456789");
        int64_t line;
        const char *open = colon + 1 + digits;
        if (*open == '(' && quantity_parse_integer(colon + 1, digits, &line))
            return profile_function(profile, text, (size_t)(colon - text), line, open + 1,
                                    (size_t)(text + len - 1 - (open + 1)));
    }
    return profile_function(profile, "~", 1, 0, text, len);
}

/* A line below the columns. False if it is none. */
static bool read_function(struct profile *profile, const char *line)
{
    struct profile_cost cost;
    double per_call;
    if (!read_integer(&line, &cost.calls))
        return false;
    cost.primitive_calls = cost.calls;
    if (*line == '/' && (line++, !read_integer(&line, &cost.primitive_calls)))
        return false;
    if (!printed_read_seconds(&line, &cost.total_s) ||
        (cost.calls != 0 && !printed_read_seconds(&line, &per_call)) ||
        !printed_read_seconds(&line, &cost.cumulative_s) ||
        (cost.primitive_calls != 0 && !printed_read_seconds(&line, &per_call)))
        return false;
    line += strspn(line, " ");
    if (*line == '\0')
        return false;
    profile_list(profile, function_named(profile, line), &cost, 0, 0);
    return true;
}

/* ---- lines ---- */

static void begin_profile(struct printed_stats *stats, const struct printed *heading)
{
    stats->title_is_open = false;
    for (size_t i = 0; heading->has_heading && i < stats->all.count; i++) {
        const struct printed *known = &stats->all.at[i];
        if (known->has_heading && known->calls == heading->calls &&
            known->primitive_calls == heading->primitive_calls && known->total_s >= heading->total_s &&
            known->total_s <= heading->total_s && strcmp(known->title, stats->title) == 0) {
            stats->current = i;
            return;
        }
    }
    stats->current = stats->all.count;
    struct printed *printed = VEC_PUSH(&stats->all);
    *printed = *heading;
    printed->title = stats->title;
    printed->profile = profile_open();
}

/* LINE begins at OFFSET of the text. */
static void printed_add_line(struct printed_stats *stats, const char *line, int64_t offset)
{
    struct printed heading = { .has_heading = true };
    struct printed *current = stats->current < stats->all.count ? &stats->all.at[stats->current] : NULL;
    const char *rest = line;
    int64_t before;
    if (skip_words(&rest, title_words)) {
        stats->title = arena_strndup(&stats->titles, rest, strlen(rest));
        stats->title_is_open = true;
        stats->in_table = false;
    } else if (read_heading(line, &heading)) {
        begin_profile(stats, &heading);
        stats->in_table = false;
    } else if (current && !stats->in_table && skip_words(&rest, "List reduced from") &&
               read_integer(&rest, &before) && before > 0) {
        if (current->before == 0)
            current->before = (uint64_t)before;
    } else if (is_column_line(line)) {
        if (!current)
            begin_profile(stats, &(struct printed){ 0 });
        stats->in_table = true;
    } else if (line[strspn(line, " \t")] == '\0') {
        stats->in_table = false;
    } else if (stats->in_table && !read_function(current->profile, line)) {
        if (stats->odd_lines++ == 0)
            stats->odd_offset = offset;
    }
}

static void add_lines(struct printed_stats *stats, const struct buffer *text)
{
    SCOPED struct buffer line = { 0 };
    for (size_t at = 0; at < text->count;) {
        const char *start = text->at + at;
        const char *newline = memchr(start, '\n', text->count - at);
        size_t len = newline ? (size_t)(newline - start) : text->count - at;
        buffer_clear(&line);
        buffer_add(&line, start, len);
        while (line.count > 0 && isspace((unsigned char)line.at[line.count - 1]))
            line.count--;
        for (size_t i = 0; i < line.count; i++)
            if (line.at[i] == '\0')
                line.at[i] = '\x01'; /* never in a number or name that Python prints */
        buffer_putc(&line, '\0');
        printed_add_line(stats, line.at, (int64_t)at);
        at += len + 1;
    }
}

/* ---- the profile ---- */

/* Set the totals of PRINTED, and its missing functions: of those that the list left out, *LEFT_OUT; *DIFFERS: the calls of a
 * whole list are not those of the heading. */
static void finish_printed(struct printed *printed, uint64_t *left_out, bool *differs)
{
    struct profile *profile = printed->profile;
    profile_finish(profile);
    if (!printed->has_heading)
        return;
    if (printed->before > profile->listed_count)
        *left_out += printed->before - profile->listed_count;
    else
        *differs |= profile->total.calls != printed->calls;
    profile->total.calls = printed->calls;
    profile->total.primitive_calls = printed->primitive_calls;
    profile->total.total_s = printed->total_s;
}

static void add_lacks(struct profile *profile, const struct printed_stats *stats, uint64_t left_out,
                      bool differs)
{
    size_t count = stats->all.count;
    const char *added = count > 1 ? arena_printf(&profile->arena, "; %zu %s in it were added up", count,
                                                 *stats->title ? "actions" : "profiles")
                                  : "";
    sums_origin_add(&profile->origin, &(struct sums_notice){
                                          .kind = PROFILE_PRINTED,
                                          .text = arena_printf(&profile->arena,
                                                               "the text of print_stats() has times to the "
                                                               "millisecond and no callers%s",
                                                               added),
                                          .count = count,
                                          .offset = TPA_NOWHERE,
                                      });
    if (left_out > 0)
        sums_origin_lacks(
            &profile->origin, LACK_CUT_AT_LIMIT,
            "print_stats() was told to print fewer functions than there are: the others are missing", NULL,
            left_out, TPA_NOWHERE);
    if (stats->title_is_open)
        sums_origin_lacks(&profile->origin, LACK_CUT_SHORT,
                          "the text ends below the name of an action: its functions are missing", NULL, 1,
                          TPA_NOWHERE);
    if (differs)
        sums_origin_lacks(
            &profile->origin, LACK_LOST_SUMS,
            "the calls of the functions do not add up to those of the heading: functions are missing", NULL,
            1, TPA_NOWHERE);
}

static struct profile *printed_stats_finish(struct printed_stats *stats)
{
    uint64_t left_out = 0;
    bool differs = false;
    struct profile *sum = NULL;
    FOR_EACH(printed, &stats->all) {
        finish_printed(printed, &left_out, &differs);
        if (sum)
            profile_add(sum, printed->profile);
        else
            sum = printed->profile;
    }
    sum->odd_entries = stats->odd_lines;
    sum->odd_offset = stats->odd_offset;
    profile_settle_counts(sum);
    add_lacks(sum, stats, left_out, differs);
    return sum;
}

static struct profile *printed_stats_read(struct source *source, struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct printed_stats stats = { .title = "", .current = SIZE_MAX, .odd_offset = TPA_NOWHERE };
    struct profile *profile = NULL;
    if (stack_sums_read(source, &text, err)) {
        add_lines(&stats, &text);
        size_t functions = SUM(size_t, i, stats.all.count, stats.all.at[i].profile->listed_count);
        if (functions > 0)
            profile = printed_stats_finish(&stats);
        else
            tpa_fail(err, TPA_NOWHERE, "the text of print_stats() holds no function");
        for (size_t i = 0; !profile && i < stats.all.count; i++)
            profile_free(stats.all.at[i].profile);
    }
    VEC_FREE(&stats.all);
    arena_release(&stats.titles);
    return profile;
}

static int sniff_printed_stats(const char *bytes, size_t len)
{
    const char *columns = memmem(bytes, len, "ncalls  tottime  percall  cumtime  percall", 42);
    return columns && bytes[0] != '{' && bytes[0] != '[' ? 80 : 0;
}

extern const struct format format_printed_stats;
const struct format format_printed_stats = {
    .name = "pstats text",
    .description = "the text of print_stats() of Python's pstats, and of Lightning's AdvancedProfiler",
    .sniff = sniff_printed_stats,
    .read_profile = printed_stats_read,
};
