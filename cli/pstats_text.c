/*
 * pstats_text.c - Python's pstats, byte for byte.
 *
 * Peculiarities of the output are those of pstats: the blank behind an arrow without a caller, the second caller two
 * columns to the right of the first, the time behind the counts of the module `profile`, which is that of the whole
 * function.
 */
#include "cli/parts.h"

#include "report/output.h"
#include "base/unicode.h"
#include <inttypes.h>
#include <math.h>
#include <time.h>

struct printer_state {
    const struct profile *profile;
    FILE *out;
    struct tpa_error *err;
    bool good;          /* all was written so far */
    struct buffer text; /* written to OUT when it is long enough */
    struct buffer name; /* scratch */
};

static void end_line(struct printer_state *state)
{
    buffer_putc(&state->text, '\n');
    state->good = state->good && output_drain(&state->text, state->out, state->err);
    if (!state->good)
        buffer_clear(&state->text);
}

/* SECONDS as C's and Python's "%8.3f". Correct to the last digit, as theirs, but several times faster: a double is
 * M * 2^-E, and M * 1000 fits 64 bits, so the rounding is a shift and a check of the lost bits. */
static void add_seconds(struct buffer *out, double seconds)
{
    char digits[32];
    int exponent;
    double fraction = frexp(seconds, &exponent);
    int shift = 53 - exponent;
    if (isnan(seconds)) {
        buffer_puts(out, "     nan");
        return;
    }
    if (!(fabs(seconds) < 0x1p50) || shift < 1) {
        buffer_printf(out, "%8.3f", seconds);
        return;
    }
    uint64_t thousandths = (uint64_t)ldexp(fabs(fraction), 53) * 1000;
    if (shift >= 64) {
        thousandths = 0; /* below 2^-11 / 2^1: less than half a thousandth */
    } else {
        uint64_t lost = thousandths & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
        thousandths >>= shift;
        thousandths += lost > half || (lost == half && thousandths & 1);
    }
    size_t at = sizeof digits;
    for (int i = 0; i < 3; i++, thousandths /= 10)
        digits[--at] = (char)('0' + thousandths % 10);
    digits[--at] = '.';
    do
        digits[--at] = (char)('0' + thousandths % 10);
    while ((thousandths /= 10) > 0);
    if (signbit(seconds))
        digits[--at] = '-';
    size_t len = sizeof digits - at;
    if (len < 8)
        buffer_pad(out, ' ', 8 - len);
    buffer_add(out, digits + at, len);
}

static void add_function(struct printer_state *state, function_id id)
{
    profile_function_text(&state->profile->functions[id], &state->text);
}

static size_t function_width(struct printer_state *state, function_id id)
{
    buffer_clear(&state->name);
    profile_function_text(&state->profile->functions[id], &state->name);
    return utf8_count(state->name.at, state->name.count);
}

/* Write VALUE before END. Returns its start. */
static char *add_integer(char *end, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--end = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--end = '-';
    return end;
}

/* "75/3", or "75" when both are the same, to the right of WIDTH columns. */
static void add_calls(struct buffer *out, int64_t calls, int64_t primitive_calls, size_t width)
{
    char text[64], *end = text + sizeof text, *start = end;
    if (calls != primitive_calls) {
        start = add_integer(start, primitive_calls);
        *--start = '/';
    }
    start = add_integer(start, calls);
    size_t len = (size_t)(end - start);
    if (len < width)
        buffer_pad(out, ' ', width - len);
    buffer_add(out, start, len);
}

/* The functions of a sorted list and their names are scattered in memory. Prefetching them some rows ahead hides most
 * of the latency. */
static void ask_ahead(const struct profile *profile, const struct profile_view *view, size_t i)
{
    enum { NAMES_AHEAD = 8, FUNCTIONS_AHEAD = 16 };
    if (i + FUNCTIONS_AHEAD < view->count)
        __builtin_prefetch(&profile->functions[view->at[i + FUNCTIONS_AHEAD]]);
    if (i + NAMES_AHEAD < view->count) {
        const struct profile_function *f = &profile->functions[view->at[i + NAMES_AHEAD]];
        __builtin_prefetch(f->file);
        __builtin_prefetch(f->name);
    }
}

/* Write how the list was made. */
static void print_order(struct printer_state *state, const struct profile_view *view,
                        const struct profile_sort *sort)
{
    if (sort->count > 0)
        buffer_printf(&state->text, "   Ordered by: %s\n", sort->description.at);
    else
        buffer_puts(&state->text, "   Random listing order was used\n");
    FOR_EACH(reduction, &view->reductions) {
        buffer_printf(&state->text, "   List reduced from %zu to %zu due to restriction <%s>\n",
                      reduction->before, reduction->after, reduction->restriction);
    }
    end_line(state);
}

static void print_summary(struct printer_state *state)
{
    const struct profile *profile = state->profile;
    struct buffer *out = &state->text;
    FOR_EACH(file, &profile->files) {
        time_t modified = (time_t)file->modified_s;
        char when[64];
        if (file->modified_s != INT64_MIN && ctime_r(&modified, when))
            buffer_printf(out, "%.*s    ", (int)strcspn(when, "\n"), when);
        buffer_printf(out, "%s\n", file->path);
    }
    if (profile->files.count > 0)
        buffer_putc(out, '\n');

    /* Jython's profiler marked the outermost functions by a caller of this name. */
    function_id top = profile_find(profile, "jprofile", 0, "profiler");
    for (size_t i = 0; i < profile->listed_count && top != FUNCTION_NONE; i++) {
        const struct profile_function *f = &profile->functions[profile->listed[i]];
        for (uint32_t e = 0; e < f->edge_count; e++)
            if (profile->edges[f->first_edge + e].caller == top)
                buffer_printf(out, "         %.*s\n", (int)f->name_length, f->name);
    }

    buffer_printf(out, "         %" PRId64 " function calls ", profile->total.calls);
    if (profile->total.calls != profile->total.primitive_calls)
        buffer_printf(out, "(%" PRId64 " primitive calls) ", profile->total.primitive_calls);
    if (isnan(profile->total.total_s))
        buffer_puts(out, "in nan seconds\n\n");
    else
        buffer_printf(out, "in %.3f seconds\n\n", profile->total.total_s);
}

static void print_rows(struct printer_state *state, const struct profile_view *view)
{
    struct buffer *out = &state->text;
    buffer_puts(out, "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)");
    end_line(state);
    for (size_t i = 0; i < view->count; i++) {
        ask_ahead(state->profile, view, i);
        const struct profile_cost *cost = &state->profile->functions[view->at[i]].cost;
        add_calls(out, cost->calls, cost->primitive_calls, 9);
        buffer_putc(out, ' ');
        add_seconds(out, cost->total_s);
        buffer_putc(out, ' ');
        if (cost->calls == 0)
            buffer_pad(out, ' ', 8);
        else
            add_seconds(out, cost->total_s / (double)cost->calls);
        buffer_putc(out, ' ');
        add_seconds(out, cost->cumulative_s);
        buffer_putc(out, ' ');
        if (cost->primitive_calls == 0)
            buffer_pad(out, ' ', 8);
        else
            add_seconds(out, cost->cumulative_s / (double)cost->primitive_calls);
        buffer_putc(out, ' ');
        add_function(state, view->at[i]);
        end_line(state);
    }
}

/* Columns for the names of VIEW. */
static size_t name_columns(struct printer_state *state, const struct profile_view *view)
{
    size_t widest = 0;
    for (size_t i = 0; i < view->count; i++) {
        size_t width = function_width(state, view->at[i]);
        widest = width > widest ? width : widest;
    }
    return widest + 2;
}

/* Do callers have figures? pstats checks the first caller. */
static bool have_figures(const struct profile *profile)
{
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *f = &profile->functions[profile->listed[i]];
        if (f->edge_count > 0)
            return !profile->edges[f->first_edge].count_only;
    }
    return false;
}

/* One caller or callee; NAME_SIZE columns are the name's on the left, which only the first line of a function has. */
static void print_call(struct printer_state *state, const struct profile_call *call, size_t name_size,
                       bool first)
{
    const struct profile_edge *edge = &state->profile->edges[call->edge];
    const struct profile_function *other = &state->profile->functions[call->callee];
    struct buffer *out = &state->text;
    if (!first)
        buffer_pad(out, ' ', name_size + (edge->count_only ? 3 : 1));
    if (edge->count_only) {
        add_function(state, call->callee);
        buffer_printf(out, "(%" PRId64 ") ", edge->cost.calls);
        if (other->listed)
            add_seconds(out, other->cost.cumulative_s);
    } else {
        add_calls(out, edge->cost.calls, edge->cost.primitive_calls, first ? 7 : 9);
        buffer_putc(out, ' ');
        add_seconds(out, edge->cost.total_s);
        buffer_putc(out, ' ');
        add_seconds(out, edge->cost.cumulative_s);
        buffer_puts(out, "  ");
        add_function(state, call->callee);
    }
    end_line(state);
}

static void print_calls(struct printer_state *state, const struct profile_view *view,
                        enum pstats_report report)
{
    bool callers = report == PSTATS_CALLERS;
    struct buffer *out = &state->text;
    size_t name_size = name_columns(state, view);
    buffer_puts(out, "Function ");
    if (name_size > strlen("Function "))
        buffer_pad(out, ' ', name_size - strlen("Function "));
    buffer_puts(out, callers ? "was called by..." : "called...");
    end_line(state);
    if (have_figures(state->profile)) {
        buffer_pad(out, ' ', name_size);
        buffer_puts(out, "    ncalls  tottime  cumtime");
        end_line(state);
    }

    struct profile_callees callees = { 0 };
    SCOPED struct profile_calls calls = { 0 };
    SCOPED_ARENA struct arena scratch = { 0 };
    if (!callers)
        profile_callees_make(&callees, state->profile, &scratch);
    for (size_t i = 0; i < view->count; i++) {
        profile_calls_of(&calls, state->profile, view->at[i], callers ? NULL : &callees);
        add_function(state, view->at[i]);
        buffer_pad(out, ' ', name_size - function_width(state, view->at[i]));
        buffer_puts(out, callers ? "<- " : "-> ");
        if (calls.count == 0)
            end_line(state);
        for (size_t c = 0; c < calls.count; c++)
            print_call(state, &calls.at[c], name_size, c == 0);
    }
}

bool pstats_text_print(enum pstats_report report, const struct profile *profile,
                       const struct profile_view *view, const struct profile_sort *sort, FILE *out,
                       struct tpa_error *err)
{
    struct printer_state state = { .profile = profile, .out = out, .err = err, .good = true };
    if (report == PSTATS_STATS)
        print_summary(&state);
    if (view->count > 0) {
        print_order(&state, view, sort);
        if (report == PSTATS_STATS)
            print_rows(&state, view);
        else
            print_calls(&state, view, report);
        buffer_puts(&state.text, "\n\n");
    }
    buffer_release(&state.name);
    return output_finish(state.good, &state.text, out, err);
}
