/* Integers are scaled as integers: rounding up to the next unit must not show 1000.000ms. */
#include "base/quantity.h"
#include "report/figures.h"

#include "report/exact.h"
#include <assert.h>
#include <math.h>

static uint64_t size_of(struct buffer *out, int64_t value)
{
    if (value >= 0)
        return (uint64_t)value;
    buffer_putc(out, '-');
    return 0 - (uint64_t)value;
}

/* THOUSANDTHS / 1000 with three decimals. */
static void add_thousandths(struct buffer *out, uint64_t thousandths)
{
    unsigned rest = (unsigned)(thousandths % 1000);
    char decimals[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                         (char)('0' + rest % 10) };
    exact_add_integer(out, (int64_t)(thousandths / 1000));
    buffer_add(out, decimals, sizeof decimals);
}

/* VALUE in the first of UNITS, whole; from the second on, each 1000 times the one before, with three decimals. */
static void add_in_thousands(struct buffer *out, int64_t value, const char *const units[], int count)
{
    uint64_t size = size_of(out, value);
    if (size < 1000) {
        exact_add_integer(out, (int64_t)size);
        buffer_puts(out, units[0]);
        return;
    }
    /* In unit I, a thousandth of it is 1000^(I-1) of the first unit. */
    int i = 1;
    uint64_t divisor = 1, thousandths = size;
    while (thousandths >= 1000000 && i + 1 < count) {
        i++;
        divisor *= 1000;
        thousandths = size / divisor + (size % divisor >= divisor / 2);
    }
    add_thousandths(out, thousandths);
    buffer_puts(out, units[i]);
}

/* NS in UNIT, with three decimals except ns themselves. */
static void add_time_in(struct buffer *out, int64_t ns, enum time_unit unit)
{
    static const struct {
        uint64_t thousandth_ns;
        const char *word;
    } units[] = {
        /* others: as such */ [TIME_S] = { 1000000, "s" }, [TIME_MS] = { 1000, "ms" }, [TIME_US] = { 1, "us" }
    };
    uint64_t size = size_of(out, ns);
    if (unit == TIME_NS) {
        buffer_printf(out, "%lluns", (unsigned long long)size);
        return;
    }
    uint64_t divisor = units[unit].thousandth_ns;
    assert(divisor > 0);
    add_thousandths(out, size / divisor + (divisor > 1 && size % divisor >= divisor / 2));
    buffer_puts(out, units[unit].word);
}

static void add_moment(struct buffer *out, int64_t ns)
{
    uint64_t us = (size_of(out, ns) + 500) / 1000;
    exact_add_integer(out, (int64_t)(us / 1000000));
    buffer_printf(out, ".%06us", (unsigned)(us % 1000000));
}

/* Three decimals; none where the value is whole or has five digits before the point: 529,736 tokens a second. */
static void figures_add_number(struct buffer *out, double value)
{
    double size = fabs(value);
    if (size != 0 && (size < 0.0005 || size >= 1e9))
        buffer_printf(out, "%.3e", value);
    else if (size >= 10000 || (size >= 100 && value == round(value)))
        quantity_append_tally(out, llround(value));
    else
        buffer_printf(out, "%.3f", value);
}

/* To a tenth of a percent, halves away from zero as times are: 1 of 2000 is 0.1 %, where printf alone makes 0.0 or 0.1 of
 * it as the double lies. A change against next to nothing can be 1e300: that must not be 300 digits. */
static void figures_add_share(struct buffer *out, double share)
{
    if (fabs(share) < 10)
        buffer_printf(out, "%.1f %%", round(share * 1000) / 10);
    else if (share < 1e9 && share > 0) /* only a change is so large */
        buffer_printf(out, "x %.0f", 1 + share);
    else
        buffer_printf(out, "%.3e %%", share * 100);
}

/* GB/s as a number; what is far less with its own unit. */
static void add_rate(struct buffer *out, double value)
{
    double size = fabs(value);
    if (size == 0 || size >= 0.1)
        figures_add_number(out, value);
    else if (size >= 1e-3)
        buffer_printf(out, "%.3g MB/s", value * 1e3);
    else if (size >= 1e-6)
        buffer_printf(out, "%.3g KB/s", value * 1e6);
    else
        buffer_printf(out, "%.3g B/s", value * 1e9);
}

void figure_add(struct buffer *out, enum table_kind kind, const union table_cell *cell, enum time_unit unit)
{
    static const char *const times[] = { "ns", "us", "ms", "s" };
    static const char *const operations[] = { " FLOP", " kFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP" };
    if (table_cell_is_missing(cell, kind)) {
        buffer_putc(out, '-');
        return;
    }
    switch (kind) {
    case TABLE_NS:
        if (unit == TIME_FITTING)
            add_in_thousands(out, cell->i, times, 4);
        else
            add_time_in(out, cell->i, unit);
        break;
    case TABLE_MOMENT: add_moment(out, cell->i); break;
    case TABLE_BYTES: quantity_append_rounded_size(out, cell->i); break;
    case TABLE_FLOPS: add_in_thousands(out, cell->i, operations, 6); break;
    case TABLE_COUNT: exact_add_integer(out, cell->i); break;
    case TABLE_TALLY: quantity_append_tally(out, cell->i); break;
    case TABLE_SHARE: figures_add_share(out, cell->f); break;
    case TABLE_NUMBER: figures_add_number(out, cell->f); break;
    case TABLE_RATE: add_rate(out, cell->f); break;
    case TABLE_BOOL: buffer_puts(out, cell->i ? "yes" : "no"); break;
    case TABLE_NAME:
    case TABLE_TEXT: break; /* texts are the printer's business */
    }
}

void figure_add_value(struct buffer *out, enum table_kind kind, double value)
{
    union table_cell cell = table_figure(kind, value);
    figure_add(out, kind, &cell, TIME_FITTING);
}

/* A clause as a sentence: with a capital, unless its first word is a name before a colon, and a full stop. */
static void add_sentence(struct buffer *out, const char *text)
{
    size_t first = strspn(text, "abcdefghijklmnopqrstuvwxyz"), at = out->count, len = strlen(text);
    buffer_puts(out, text);
    if (first && text[first] == ' ')
        out->at[at] = (char)(out->at[at] - 'a' + 'A');
    if (len && text[len - 1] != '.')
        buffer_putc(out, '.');
}

void figure_add_notice(struct buffer *out, const struct table_notice *notice)
{
    if (notice->is_clause) {
        add_sentence(out, notice->text);
        return;
    }
    if (!notice->is_answer)
        buffer_puts(out, notice->lacks ? "warning: " : "note: ");
    if (notice->file) {
        buffer_puts(out, notice->file);
        buffer_puts(out, ": ");
    }
    buffer_puts(out, notice->text);
    if (notice->offset != TPA_NOWHERE && notice->count > 1)
        buffer_printf(out, " (%lld, the first at byte %lld)", (long long)notice->count,
                      (long long)notice->offset);
    else if (notice->offset != TPA_NOWHERE)
        buffer_printf(out, " (at byte %lld)", (long long)notice->offset);
}
