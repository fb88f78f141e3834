/*
 * lightning.c - the table of PyTorch Lightning's SimpleProfiler.
 *
 *     FIT Profiler Report
 *
 *     -----------------------------------------------------------------------------------
 *     |  Action         \t|  Mean duration (s)\t|  Num calls   \t|  Total time (s) \t|  Percentage %   \t|
 *     -----------------------------------------------------------------------------------
 *     |  Total          \t|  -              \t|  61          \t|  4.7392         \t|  100 %          \t|
 *     -----------------------------------------------------------------------------------
 *     |  run_training_epoch\t|  2.3128      \t|  2           \t|  4.6256         \t|  97.603         \t|
 *
 * Figures have five significant digits ("1.2e-05"). Without `extended` there are only the action, the mean and the
 * total, and no row "Total". Lightning before 1.7 wrote no bar at the beginning and end of a line. Columns are
 * identified by the line of titles. Learnt from Lightning 1.5 to 2.5, profilers/simple.py.
 *
 * The report may be embedded in a program's other output. A table that begins with a rule ends with one; if not, the
 * report was cut. With "Total", its calls are the sum of those of all rows.
 */
#include "ingest/lightning.h"

#include "ingest/formats.h"
#include <assert.h>
#include <math.h>

enum column {
    COLUMN_ACTION,
    COLUMN_MEAN,
    COLUMN_CALLS,
    COLUMN_TOTAL,
    COLUMN_SHARE,
    COLUMN_KINDS,
    COLUMN_OTHER
};

static const char *const titles[COLUMN_KINDS] = {
    [COLUMN_ACTION] = "Action",        [COLUMN_MEAN] = "Mean duration (s)", [COLUMN_CALLS] = "Num calls",
    [COLUMN_TOTAL] = "Total time (s)", [COLUMN_SHARE] = "Percentage %",
};

static const char report_words[] = "Profiler Report";

enum { MOST_CELLS = 8 };

struct cells {
    struct cell {
        const char *at;
        size_t len;
    } at[MOST_CELLS];
    size_t count;
};

static struct cell trim(const char *at, size_t len)
{
    while (len > 0 && strchr(" \t\r", at[0]))
        at++, len--;
    while (len > 0 && strchr(" \t\r", at[len - 1]))
        len--;
    return (struct cell){ at, len };
}

/* Split a line at its bars. Bars at its beginning and end are no separators. */
static struct cells cut(const char *line, size_t len)
{
    struct cells cells = { 0 };
    struct cell rest = trim(line, len);
    if (rest.len > 0 && rest.at[0] == '|')
        rest = (struct cell){ rest.at + 1, rest.len - 1 };
    if (rest.len > 0 && rest.at[rest.len - 1] == '|')
        rest.len--;
    while (cells.count < MOST_CELLS) {
        const char *bar = memchr(rest.at, '|', rest.len);
        size_t cell_len = bar ? (size_t)(bar - rest.at) : rest.len;
        cells.at[cells.count++] = trim(rest.at, cell_len);
        if (!bar)
            break;
        rest.at += cell_len + 1;
        rest.len -= cell_len + 1;
    }
    return cells;
}

static bool cell_is(const struct cell *cell, const char *text)
{
    return cell->len == strlen(text) && memcmp(cell->at, text, cell->len) == 0;
}

/* Identify each cell of the line of titles; false if the line has no titles. */
static bool read_titles(const struct cells *cells, enum column columns[MOST_CELLS])
{
    bool known[COLUMN_KINDS] = { false };
    for (size_t i = 0; i < cells->count; i++) {
        columns[i] = COLUMN_OTHER;
        for (int c = 0; c < COLUMN_KINDS; c++)
            if (cell_is(&cells->at[i], titles[c]))
                columns[i] = (enum column)c, known[c] = true;
    }
    return known[COLUMN_ACTION] && known[COLUMN_TOTAL];
}

static bool lightning_read_number(const struct cell *cell, double *number)
{
    char text[64];
    if (cell->len == 0 || cell->len >= sizeof text)
        return false;
    memcpy(text, cell->at, cell->len);
    text[cell->len] = '\0';
    char *end;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

/* Seconds with five digits, in ns. */
static int64_t to_ns(double seconds)
{
    return fabs(seconds) < 9e9 ? llround(seconds * 1e9) : seconds < 0 ? -INT64_MAX : INT64_MAX;
}

/* A row below the titles. False if it is none. */
static bool lightning_read_row(struct action_report *report, const struct cells *cells, size_t count,
                               const enum column columns[MOST_CELLS])
{
    if (cells->count != count)
        return false;
    struct action action = { .calls = -1, .share = NAN };
    const struct cell *name = NULL;
    bool is_total = false;
    double number;
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells->at[i];
        switch (columns[i]) {
        case COLUMN_ACTION: name = cell; break;
        case COLUMN_MEAN:
            if (cell_is(cell, "-"))
                is_total = true;
            else if (lightning_read_number(cell, &number))
                action.mean_ns = to_ns(number);
            else
                return false;
            break;
        case COLUMN_CALLS:
            if (!lightning_read_number(cell, &number) || fabs(number) > 0x1p53)
                return false;
            action.calls = (int64_t)number;
            break;
        case COLUMN_TOTAL:
            if (!lightning_read_number(cell, &number))
                return false;
            action.total_ns = to_ns(number);
            break;
        case COLUMN_SHARE:
            if (lightning_read_number(cell, &number))
                action.share = number / 100;
            break;
        default: break;
        }
    }
    assert(name); /* the column exists, otherwise there would be no rows */
    if (is_total && cell_is(name, "Total")) {
        report->total_calls = action.calls;
        report->total_ns = action.total_ns;
    } else {
        action.name = arena_strndup(&report->arena, name->at, name->len);
        *VEC_PUSH(&report->actions) = action;
    }
    return true;
}

static bool is_rule(const char *line, size_t len)
{
    struct cell cell = trim(line, len);
    return cell.len > 0 && strspn(cell.at, "-") >= cell.len;
}

/* All of SOURCE as text. */
static bool lightning_read_all(struct source *source, struct buffer *text, struct tpa_error *err)
{
    char block[16384];
    int64_t got;
    while ((got = source_read(source, block, sizeof block, err)) > 0)
        buffer_add(text, block, (size_t)got);
    return got == 0;
}

/* Bytes that a name does not have, as where a part of the file was lost. */
static bool is_damaged(const char *line, size_t len)
{
    return memchr(line, 0, len) || memchr(line, 0xff, len);
}

/* Record what is missing behind the last row, or between rows. */
static void lightning_check_rows(struct action_report *report, bool ends)
{
    double calls = SUM(double, i, report->actions.count, (double)report->actions.at[i].calls);
    if (!ends)
        sums_origin_lacks(&report->origin, LACK_CUT_SHORT,
                          "the report has no line behind its last row: the end is missing", NULL, 1,
                          TPA_NOWHERE);
    else if (report->total_calls >= 0 && report->odd_lines == 0 && calls != (double)report->total_calls)
        sums_origin_lacks(
            &report->origin, LACK_LOST_SUMS,
            "the calls of the rows do not add up to those of the report's total: rows are missing", NULL, 1,
            TPA_NOWHERE);
}

static void read_lines(struct action_report *report, const struct buffer *text)
{
    enum column columns[MOST_CELLS];
    size_t column_count = 0; /* 0: no line of titles yet */
    bool begun = false, after_rule = false, is_ruled = false;
    for (size_t at = 0; at < text->count;) {
        const char *line = text->at + at;
        const char *end = memchr(line, '\n', text->count - at);
        size_t len = end ? (size_t)(end - line) : text->count - at;
        const char *words = memmem(line, len, report_words, sizeof report_words - 1);
        struct cells cells = cut(line, len);
        bool is_table = column_count > 0 && !is_rule(line, len) && memchr(line, '|', len), is_odd = false;
        if (words && column_count == 0) {
            struct cell stage = trim(line, (size_t)(words - line));
            report->stage = arena_strndup(&report->arena, stage.at, stage.len);
            begun = true;
        } else if (column_count == 0) {
            column_count = read_titles(&cells, columns) ? cells.count : 0;
            is_ruled = column_count > 0 && after_rule;
        } else if (is_table && !is_damaged(line, len)) {
            is_odd = !lightning_read_row(report, &cells, column_count, columns);
        }
        is_odd |= begun && is_damaged(line, len);
        if (is_odd && report->odd_lines++ == 0)
            report->odd_offset = (int64_t)at;
        after_rule = is_rule(line, len) || (after_rule && !is_table);
        at += len + 1;
    }
    lightning_check_rows(report, after_rule || !is_ruled);
}

struct action_report *lightning_read(struct source *source, struct tpa_error *err)
{
    struct buffer text = { 0 };
    struct action_report *report = mem_zalloc(1, sizeof *report);
    report->stage = "";
    report->total_calls = report->total_ns = -1;
    report->odd_offset = TPA_NOWHERE;
    bool fine = lightning_read_all(source, &text, err);
    if (fine) {
        read_lines(report, &text);
        fine = report->actions.count > 0 || report->total_ns >= 0;
        if (!fine)
            tpa_fail(err, TPA_NOWHERE, "the profiler report holds no table of actions");
    }
    buffer_release(&text);
    if (fine)
        return report;
    action_report_free(report);
    return NULL;
}

int lightning_sniff(const char *bytes, size_t len)
{
    const char *words = memmem(bytes, len, report_words, sizeof report_words - 1);
    const char *total = memmem(bytes, len, titles[COLUMN_TOTAL], strlen(titles[COLUMN_TOTAL]));
    const char *action = memmem(bytes, len, titles[COLUMN_ACTION], strlen(titles[COLUMN_ACTION]));
    if (!words || !action || bytes[0] == '{' || bytes[0] == '[')
        return 0;
    return total ? 90 : 40;
}

extern const struct format format_lightning;
const struct format format_lightning = {
    .name = "Lightning report",
    .description = "the text of PyTorch Lightning's SimpleProfiler",
    .sniff = lightning_sniff,
    .read_actions = lightning_read,
};
