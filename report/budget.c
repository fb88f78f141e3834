#include "report/budget.h"

#include "base/rows.h"
#include "report/exact.h"
#include "report/json_parts.h"
#include "report/output.h"
#include <errno.h>

/* ---- which rows ---- */

/* A row, and how much it costs. */
struct cost {
    double value;
    size_t row;
};

static double cell_value(const struct table *table, size_t row, size_t column)
{
    if (table_is_missing(table, row, column))
        return -1;
    const union table_cell *cell = table_cell(table, row, column);
    return table_is_number(table->columns[column].kind) ? cell->f : (double)cell->i;
}

static bool is_in_order(const struct table *table, size_t column, bool rising)
{
    for (size_t row = 1; row < table->row_count; row++) {
        double before = cell_value(table, row - 1, column), now = cell_value(table, row, column);
        if (rising ? now < before : now > before)
            return false;
    }
    return true;
}

static size_t first_column(const struct table *table, unsigned kinds)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (table_shows(table, c, TABLE_FOR_PROGRAMS) && kinds >> table->columns[c].kind & 1)
            return c;
    return TABLE_NO_COLUMN;
}

/* The ranks of the rows of TABLE by what they cost, if they are in order of time or number; NULL: by their order. New. */
static size_t *ranks_by_cost(const struct table *table, bool beginning)
{
    static const struct key by_cost[] = { DESC(struct cost, value), ASC(struct cost, row), KEY_END };
    size_t number = first_column(table, 1u << TABLE_COUNT | 1u << TABLE_MOMENT);
    size_t time = first_column(table, 1u << TABLE_NS), size = first_column(table, 1u << TABLE_BYTES);
    size_t column = time != TABLE_NO_COLUMN ? time : size;
    if (beginning || table->row_count < 2 || table->sort_column != TABLE_NO_COLUMN ||
        number == TABLE_NO_COLUMN || column == TABLE_NO_COLUMN || is_in_order(table, column, false) ||
        !is_in_order(table, number, true))
        return NULL;
    VEC_OF(struct cost) costs = { 0 };
    for (size_t row = 0; row < table->row_count; row++)
        *VEC_PUSH(&costs) = (struct cost){ cell_value(table, row, column), row };
    SORT(&costs, by_cost);
    size_t *ranks = mem_alloc(mem_times(table->row_count, sizeof *ranks));
    for (size_t i = 0; i < costs.count; i++)
        ranks[costs.at[i].row] = i;
    VEC_FREE(&costs);
    return ranks;
}

/* ---- the result in pieces ---- */

/* Where a row begins in a text, and how long it is, with a comma. */
struct place {
    size_t start, length;
};

struct places {
    VEC_OF(struct place);
};

/* A table as JSON: its frame, and its rows with all columns or only those that are needed. */
struct piece {
    const struct table *table;
    size_t *rank; /* of a row; NULL: its number */
    struct buffer head[2], rows[2], foot;
    struct places places[2]; /* of the rows that could fit, by their rank */
    struct buffer optional;  /* the keys that are left out with the optional columns: "a","b" */
};

struct pieces {
    const struct result *result;
    VEC_OF(struct piece);
    VEC_OF(struct buffer) notices; /* the result in a sentence first */
    const char *more;
    size_t most;
    struct buffer truncated; /* scratch */
};

/* What is shown of it. */
struct shown {
    size_t notices, tables;
    bool needed;        /* without optional columns */
    size_t cap, capped; /* at most CAP rows of the tables from CAPPED on, and CAP + 1 of those before */
    int texts;          /* how much is left out of cannot_answer and truncated */
};

static bool has_value(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (!table_is_missing(table, row, column))
            return true;
    return table->row_count == 0;
}

static void make_row(struct piece *piece, bool needed, const size_t *columns, size_t count, size_t row)
{
    struct json_writer json = { .text = &piece->rows[needed], .compact = true };
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        json_emit_cell(&json, piece->table->columns[columns[i]].kind,
                       table_cell(piece->table, row, columns[i]));
    json_end_array(&json);
}

/* Make the rows that could fit in MOST bytes. */
static void make_rows(struct piece *piece, bool needed, const size_t *columns, size_t count, size_t most)
{
    const struct table *table = piece->table;
    size_t *row_of = NULL;
    if (piece->rank) {
        row_of = mem_alloc(mem_times(table->row_count + 1, sizeof *row_of));
        for (size_t row = 0; row < table->row_count; row++)
            row_of[piece->rank[row]] = row;
    }
    for (size_t i = 0; i < table->row_count && piece->rows[needed].count < most; i++) {
        size_t start = piece->rows[needed].count;
        make_row(piece, needed, columns, count, row_of ? row_of[i] : i);
        *VEC_PUSH(&piece->places[needed]) = (struct place){ start, piece->rows[needed].count - start + 1 };
    }
    free(row_of);
}

static void make_columns(struct piece *piece, bool needed, size_t most)
{
    const struct table *table = piece->table;
    VEC_OF(size_t) columns = { 0 };
    struct buffer key = { 0 };
    struct json_writer json = { .text = &piece->head[needed], .compact = true };
    json_begin_object(&json);
    json_add_text(&json, "key", table->key);
    json_key(&json, "columns");
    json_begin_array(&json);
    for (size_t c = 0; c < table->column_count; c++) {
        if (!table_shows(table, c, TABLE_FOR_PROGRAMS) || !has_value(table, c))
            continue;
        buffer_clear(&key);
        exact_add_key(&key, table->columns[c].key, table->columns[c].kind);
        if (needed && table->columns[c].flags & TABLE_OPTIONAL) {
            buffer_printf(&piece->optional, "%s\"%s\"", piece->optional.count ? "," : "", key.at);
            continue;
        }
        json_emit_text(&json, key.at);
        *VEC_PUSH(&columns) = c;
    }
    json_end_array(&json);
    buffer_puts(&piece->head[needed], ",\"rows\":[");
    make_rows(piece, needed, columns.at, columns.count, most);
    buffer_release(&key);
    VEC_FREE(&columns);
}

static void make_piece(struct piece *piece, const struct table *table, bool beginning, size_t most)
{
    *piece = (struct piece){ .table = table, .rank = ranks_by_cost(table, beginning) };
    make_columns(piece, false, most);
    make_columns(piece, true, most);
    buffer_printf(&piece->foot, "],\"total_rows\":%zu,\"footer\":", table->total_rows);
    struct json_writer json = { .text = &piece->foot, .compact = true };
    json_emit_footers(&json, table);
    buffer_putc(&piece->foot, '}');
}

static void make_notices(struct pieces *pieces)
{
    const struct result *result = pieces->result;
    for (int answers = 1; answers >= 0; answers--)
        for (size_t i = 0; i < result->notices.count; i++) {
            const struct table_notice *notice = &result->notices.at[i];
            if (notice->is_answer != (bool)answers)
                continue;
            struct buffer text = { 0 };
            struct json_writer json = { .text = &text, .compact = true };
            json_emit_notice(&json, notice, true);
            *VEC_PUSH(&pieces->notices) = text;
        }
}

static void release_pieces(struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->at[i];
        for (int needed = 0; needed < 2; needed++) {
            EACH(buffer_release, &piece->head[needed], &piece->rows[needed]);
            VEC_FREE(&piece->places[needed]);
        }
        EACH(buffer_release, &piece->foot, &piece->optional);
        free(piece->rank);
    }
    for (size_t i = 0; i < pieces->notices.count; i++)
        buffer_release(&pieces->notices.at[i]);
    EACH(VEC_FREE, &pieces->notices, pieces);
    buffer_release(&pieces->truncated);
}

/* ---- what is shown ---- */

/* How many rows of table T. */
static size_t rows_shown(const struct pieces *pieces, const struct shown *shown, size_t t)
{
    size_t most = shown->cap + (t < shown->capped && shown->cap != SIZE_MAX),
           all = pieces->at[t].table->row_count;
    return t >= shown->tables ? 0 : most < all ? most : all;
}

/* The number of rows that are left out of all tables with the key of table T; 0 if one before it has that key. */
static size_t rows_left_out(const struct pieces *pieces, const struct shown *shown, size_t t)
{
    size_t left = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct table *table = pieces->at[i].table;
        if (strcmp(table->key, pieces->at[t].table->key) != 0)
            continue;
        if (i < t)
            return 0;
        left += table->total_rows - rows_shown(pieces, shown, i);
    }
    return left;
}

/* Fill the scratch with `,"truncated":{...}`; empty if nothing is left out. */
static void make_truncated(struct pieces *pieces, const struct shown *shown)
{
    struct buffer *out = &pieces->truncated;
    struct buffer columns = { 0 };
    size_t rows = 0, all = 0, notices = pieces->notices.count - shown->notices;
    bool frames = shown->tables < pieces->count;
    buffer_clear(out);
    buffer_puts(out, ",\"truncated\":{\"rows\":{");
    for (size_t t = 0; t < pieces->count; t++) {
        size_t left = rows_left_out(pieces, shown, t);
        all += left;
        if (left && shown->texts < 3)
            buffer_printf(out, "%s\"%s\":%zu", rows++ ? "," : "", pieces->at[t].table->key, left);
        const struct buffer *optional = &pieces->at[t].optional;
        if (shown->needed && t < shown->tables && optional->count &&
            !(columns.count && strstr(columns.at, optional->at)))
            buffer_printf(&columns, "%s%s", columns.count ? "," : "", optional->at);
    }
    if (all && shown->texts >= 3)
        buffer_printf(out, "\"*\":%zu", all);
    buffer_puts(out, "},\"columns\":[");
    if (columns.count)
        buffer_add(out, columns.at, columns.count);
    buffer_printf(out, "],\"notices\":%zu", notices);
    if (shown->texts < 2 && pieces->more[0]) {
        struct json_writer json = { .text = out, .compact = true };
        buffer_puts(out, ",\"more\":");
        json_emit_text(&json, pieces->more);
    }
    buffer_putc(out, '}');
    if (!all && !columns.count && !notices && !frames && !shown->texts)
        buffer_clear(out);
    buffer_release(&columns);
}

static void add_start(const struct pieces *pieces, const struct shown *shown, struct buffer *out)
{
    struct json_writer json = { .text = out, .compact = true };
    struct cannot_answer cannot = pieces->result->cannot;
    if (shown->texts > 0)
        memset(cannot.instead, 0, sizeof cannot.instead);
    if (shown->texts > 2)
        cannot.needs = NULL;
    json_begin_object(&json);
    json_add_text(&json, "schema", pieces->result->schema);
    json_add_cannot(&json, &cannot);
    buffer_puts(out, ",\"tables\":[");
}

static size_t size_shown(struct pieces *pieces, const struct shown *shown, size_t start)
{
    size_t size = start + strlen("],\"notices\":[]}\n");
    for (size_t i = 0; i < shown->notices; i++)
        size += pieces->notices.at[i].count + (i > 0);
    for (size_t t = 0; t < shown->tables; t++) {
        const struct piece *piece = &pieces->at[t];
        size_t rows = rows_shown(pieces, shown, t);
        if (rows > piece->places[shown->needed].count)
            return SIZE_MAX;
        size += piece->head[shown->needed].count + piece->foot.count + (t > 0);
        if (rows) /* without a comma behind the last */
            size += piece->places[shown->needed].at[rows - 1].start +
                    piece->places[shown->needed].at[rows - 1].length - 1 + rows - 1;
    }
    if (size > pieces->most)
        return size;
    make_truncated(pieces, shown);
    return size + pieces->truncated.count;
}

static bool fits(struct pieces *pieces, const struct shown *shown)
{
    struct buffer start = { 0 };
    add_start(pieces, shown, &start);
    bool good = size_shown(pieces, shown, start.count) <= pieces->most;
    buffer_release(&start);
    return good;
}

/* Leave out rows of the longest table until it fits. False: not even without rows. */
static bool cut_rows(struct pieces *pieces, struct shown *shown)
{
    size_t longest = 0;
    for (size_t t = 0; t < pieces->count; t++) {
        size_t count = pieces->at[t].places[shown->needed].count;
        longest = count > longest ? count : longest;
    }
    struct buffer start = { 0 };
    add_start(pieces, shown, &start);
    bool good = false;
    for (size_t cap = longest; cap-- > 0 && !good;)
        for (size_t t = pieces->count; t-- > 0 && !good;) {
            shown->cap = cap;
            shown->capped = t;
            good = pieces->at[t].table->row_count > cap &&
                   size_shown(pieces, shown, start.count) <= pieces->most;
        }
    buffer_release(&start);
    return good;
}

/* The first in the order of budget.h that fits. */
static struct shown choose(struct pieces *pieces)
{
    enum { KEPT_NOTICES = 2, MOST_TEXTS = 4 };
    struct shown shown = { .notices = pieces->notices.count, .tables = pieces->count, .cap = SIZE_MAX };
    while (!fits(pieces, &shown) && shown.notices > KEPT_NOTICES)
        shown.notices--;
    if (fits(pieces, &shown))
        return shown;
    shown.needed = true;
    if (fits(pieces, &shown) || cut_rows(pieces, &shown))
        return shown;
    while (!fits(pieces, &shown) && shown.notices > 0)
        shown.notices--;
    while (!fits(pieces, &shown) && shown.tables > 0)
        shown.tables--;
    while (!fits(pieces, &shown) && shown.texts < MOST_TEXTS)
        shown.texts++;
    return shown;
}

static void add_piece(const struct pieces *pieces, const struct shown *shown, size_t t, struct buffer *out)
{
    const struct piece *piece = &pieces->at[t];
    size_t count = rows_shown(pieces, shown, t), done = 0;
    buffer_add(out, piece->head[shown->needed].at, piece->head[shown->needed].count);
    for (size_t row = 0; row < piece->table->row_count && done < count; row++) {
        size_t rank = piece->rank ? piece->rank[row] : row;
        if (rank >= count)
            continue;
        if (done++)
            buffer_putc(out, ',');
        buffer_add(out, piece->rows[shown->needed].at + piece->places[shown->needed].at[rank].start,
                   piece->places[shown->needed].at[rank].length - 1);
    }
    buffer_add(out, piece->foot.at, piece->foot.count);
}

bool budget_print_json(const struct result *result, size_t most, const char *more, bool beginning, FILE *out,
                       struct tpa_error *err)
{
    struct pieces pieces = { .result = result, .most = most, .more = more };
    for (size_t t = 0; t < result->tables.count; t++) {
        struct piece *piece = VEC_PUSH(&pieces);
        make_piece(piece, result->tables.at[t], beginning, most);
    }
    make_notices(&pieces);
    struct shown shown = choose(&pieces);
    struct buffer text = { 0 };
    add_start(&pieces, &shown, &text);
    for (size_t t = 0; t < shown.tables; t++) {
        if (t)
            buffer_putc(&text, ',');
        add_piece(&pieces, &shown, t, &text);
    }
    buffer_puts(&text, "],\"notices\":[");
    for (size_t i = 0; i < shown.notices; i++) {
        if (i)
            buffer_putc(&text, ',');
        buffer_add(&text, pieces.notices.at[i].at, pieces.notices.at[i].count);
    }
    buffer_putc(&text, ']');
    make_truncated(&pieces, &shown);
    if (pieces.truncated.count)
        buffer_add(&text, pieces.truncated.at, pieces.truncated.count);
    buffer_puts(&text, "}\n");
    release_pieces(&pieces);
    return output_finish(true, &text, out, err);
}

/* ---- text ---- */

/* Rows per table at most: all, then less and less, whatever the budget is. */
static size_t next_cap(size_t cap)
{
    return cap > 32 ? cap - cap / 32 : cap - 1;
}

/* A copy of TABLE with at most CAP of its rows; it shares all else. Free its cells. */
static struct table cut_table(const struct table *table, const size_t *rank, size_t cap)
{
    struct table cut = *table;
    if (cap >= table->row_count)
        return cut;
    cut.row_count = 0;
    cut.cells = mem_alloc(mem_times(mem_times(cap + 1, table->column_count + 1), sizeof *cut.cells));
    for (size_t row = 0; row < table->row_count && cut.row_count < cap; row++)
        if ((rank ? rank[row] : row) < cap)
            memcpy(cut.cells + cut.row_count++ * table->column_count, table_cell(table, row, 0),
                   table->column_count * sizeof *cut.cells);
    return cut;
}

struct text_cut {
    const struct printer *printer;
    const struct result *result;
    const struct print_options *options;
    size_t **ranks;
    size_t most;
    const char *more;
    struct buffer text;
};

/* "10 of 312 rows; tpa gaps --limit 0 trace.json shows all", if there is more. */
static void add_last_line(struct text_cut *cut, size_t shown, size_t total, bool partly)
{
    if (shown < total || partly)
        buffer_printf(&cut->text, "%zu of %zu rows; %s shows all\n", shown, total, cut->more);
}

/* Does the result fit with CAP rows of each of the first TABLES tables and the first NOTICES notices? */
static bool text_fits(struct text_cut *cut, size_t cap, size_t tables, size_t notices, struct tpa_error *err)
{
    const struct result *result = cut->result;
    struct result view = *result;
    struct table *rows = mem_alloc(mem_times(tables + 1, sizeof *rows));
    struct table **list = mem_alloc(mem_times(tables + 1, sizeof *list));
    size_t shown = 0, total = 0, len = 0;
    char *text = NULL;
    for (size_t t = 0; t < result->tables.count; t++) {
        const struct table *table = result->tables.at[t];
        bool hidden = table->detail && !cut->options->all;
        total += hidden ? 0 : table->total_rows;
        if (t >= tables)
            continue;
        rows[t] = cut_table(table, cut->ranks[t], cap);
        list[t] = &rows[t];
        shown += hidden ? 0 : rows[t].row_count;
    }
    view.tables.at = list;
    view.tables.count = tables;
    view.notices.count = notices;
    FILE *memory = open_memstream(&text, &len);
    bool good = memory && cut->printer->print(&view, cut->options, memory, err);
    if (memory)
        fclose(memory);
    else
        tpa_fail_errno(err, "cannot make the text");
    buffer_clear(&cut->text);
    buffer_add(&cut->text, text, len);
    add_last_line(cut, shown, total, tables < result->tables.count || notices < result->notices.count);
    for (size_t t = 0; t < tables; t++)
        if (rows[t].cells != result->tables.at[t]->cells)
            free(rows[t].cells);
    EACH(free, text, rows, list);
    return !good || cut->text.count <= cut->most;
}

/* As much of the lines as fits, and the last one. */
static void cut_lines(struct text_cut *cut)
{
    struct buffer all = cut->text;
    cut->text = (struct buffer){ 0 };
    size_t total = 0, room = cut->most;
    for (size_t t = 0; t < cut->result->tables.count; t++)
        total += cut->result->tables.at[t]->total_rows;
    add_last_line(cut, 0, total, true);
    if (cut->text.count > cut->most) { /* the command is too long */
        buffer_clear(&cut->text);
        buffer_printf(&cut->text, "0 of %zu rows; --limit 0 shows all\n", total);
    }
    struct buffer last = cut->text;
    cut->text = (struct buffer){ 0 };
    room -= last.count;
    size_t kept = all.count < room ? all.count : room;
    while (kept > 0 && all.at[kept - 1] != '\n')
        kept--;
    buffer_add(&cut->text, all.at, kept);
    buffer_add(&cut->text, last.at, last.count);
    EACH(buffer_release, &all, &last);
}

static void choose_text(struct text_cut *cut, struct tpa_error *err)
{
    enum { KEPT_NOTICES = 2 };
    size_t tables = cut->result->tables.count, notices = cut->result->notices.count, longest = 0;
    struct print_options without = *cut->options;
    if (text_fits(cut, SIZE_MAX, tables, notices, err))
        return;
    without.answer = false; /* one screen, which has no rows to leave out */
    cut->options = &without;
    notices = notices < KEPT_NOTICES ? notices : KEPT_NOTICES;
    for (size_t t = 0; t < tables; t++) {
        size_t count = cut->result->tables.at[t]->row_count;
        longest = count > longest ? count : longest;
    }
    size_t cap = 1;
    while (cap < longest) /* one ladder for all budgets */
        cap += cap / 16 + 1;
    for (; cap > 0; cap = next_cap(cap))
        if (cap <= cut->most && text_fits(cut, cap, tables, notices, err))
            return;
    for (; notices > 0; notices--)
        if (text_fits(cut, 0, tables, notices, err))
            return;
    for (; tables > 0; tables--)
        if (text_fits(cut, 0, tables, 0, err))
            return;
    if (!text_fits(cut, 0, 0, 0, err))
        cut_lines(cut);
}

bool budget_print_text(const struct printer *printer, const struct result *result,
                       const struct print_options *options, size_t most, const char *more, bool beginning,
                       FILE *out, struct tpa_error *err)
{
    struct text_cut cut = {
        .printer = printer, .result = result, .options = options, .most = most, .more = more
    };
    size_t tables = result->tables.count;
    cut.ranks = mem_alloc(mem_times(tables + 1, sizeof *cut.ranks));
    for (size_t t = 0; t < tables; t++)
        cut.ranks[t] = ranks_by_cost(result->tables.at[t], beginning);
    choose_text(&cut, err);
    for (size_t t = 0; t < tables; t++)
        free(cut.ranks[t]);
    free(cut.ranks);
    return output_finish(!err->failed, &cut.text, out, err);
}
