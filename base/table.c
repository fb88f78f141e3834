/*
 * table.c - typed columns and rows; see table.h.
 *
 * Cells are stored row by row, because tables are built and printed by rows. Sorting turns each cell of the column into
 * one unsigned number in the wanted order, merges (number, row) pairs from the bottom up, which is stable, and then
 * moves the rows once, along the cycles of the permutation. For texts the number is the first eight bytes; ties compare
 * the rest.
 */
#include "base/table.h"

#include "base/names.h"
#include <assert.h>
#include <math.h>

bool table_is_text(enum table_kind kind)
{
    return kind == TABLE_NAME || kind == TABLE_TEXT;
}

bool table_is_number(enum table_kind kind)
{
    return kind == TABLE_SHARE || kind == TABLE_NUMBER || kind == TABLE_RATE;
}

bool table_is_time(enum table_kind kind)
{
    return kind == TABLE_NS || kind == TABLE_MOMENT;
}

static bool is_integer(enum table_kind kind)
{
    return !table_is_text(kind) && !table_is_number(kind);
}

const char *table_kind_unit(enum table_kind kind)
{
    return table_is_time(kind) ? "ns" : kind == TABLE_BYTES ? "B" : kind == TABLE_FLOPS ? "FLOP" : NULL;
}

const char *table_kind_name(enum table_kind kind)
{
    switch (kind) {
    case TABLE_NAME: return "name";
    case TABLE_TEXT: return "text";
    case TABLE_NS: return "ns";
    case TABLE_MOMENT: return "moment";
    case TABLE_BYTES: return "bytes";
    case TABLE_COUNT:
    case TABLE_TALLY: return "count";
    case TABLE_FLOPS: return "flops";
    case TABLE_SHARE: return "share";
    case TABLE_NUMBER:
    case TABLE_RATE: return "number";
    case TABLE_BOOL: return "bool";
    }
    assert(!"a kind");
    return "";
}

bool table_cell_is_missing(const union table_cell *cell, enum table_kind kind)
{
    if (table_is_text(kind))
        return !cell->text.at;
    return table_is_number(kind) ? isnan(cell->f) : cell->i == TABLE_INT_MISSING;
}

bool table_is_missing(const struct table *table, size_t row, size_t column)
{
    return table_cell_is_missing(table_cell(table, row, column), table->columns[column].kind);
}

static union table_cell missing_cell(enum table_kind kind)
{
    if (table_is_text(kind))
        return (union table_cell){ .text = { NULL, 0 } };
    if (table_is_number(kind))
        return (union table_cell){ .f = NAN };
    return (union table_cell){ .i = TABLE_INT_MISSING };
}

struct table *table_open(const char *key, const char *title, const struct table_column *columns, size_t count)
{
    struct table *table = mem_zalloc(1, sizeof *table);
    table->key = key;
    table->title = title;
    table->columns = mem_zalloc(count ? count : 1, sizeof *table->columns);
    if (count)
        memcpy(table->columns, columns, count * sizeof *columns);
    table->column_count = count;
    table->sort_column = TABLE_NO_COLUMN;
    return table;
}

/* Longer texts are stored once: a file can refer to a text of megabytes in few bytes, in each of a million rows. */
enum { LONG_TEXT = 512 };

/* TABLE's own copy of TEXT. */
static const char *keep_text(struct table *table, const char *text, size_t len)
{
    if (len < LONG_TEXT)
        return arena_strndup(&table->arena, text, len);
    if (!table->long_texts)
        table->long_texts = names_open();
    return names_text(table->long_texts, names_add(table->long_texts, text, len));
}

void table_free(struct table *table)
{
    if (!table)
        return;
    VEC_FREE(&table->footers);
    arena_release(&table->arena);
    names_free(table->long_texts);
    EACH(free, table->columns, table->cells, table);
}

static bool same(const char *a, const char *b, size_t len)
{
    return strlen(a) == len && !memcmp(a, b, len);
}

static bool among(const char *words, const char *word, size_t len)
{
    for (const char *at = words; at && *at;) {
        size_t n = strcspn(at, " ");
        if (n && n == len && !memcmp(at, word, len))
            return true;
        at += n;
        at += *at == ' ';
    }
    return false;
}

int table_find_column(const struct table *table, const char *key, size_t len)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (same(table->columns[i].key, key, len))
            return (int)i;
    if (len > 3 && !memcmp(key + len - 3, "_ns", 3))
        for (size_t i = 0; i < table->column_count; i++)
            if (table_is_time(table->columns[i].kind) && same(table->columns[i].key, key, len - 3))
                return (int)i;
    for (size_t i = 0; i < table->column_count; i++)
        if (among(table->columns[i].aliases, key, len))
            return (int)i;
    return -1;
}

/* Make room for COUNT rows more: twice the room, or just as much if that is not enough. */
static void table_reserve(struct table *table, size_t count)
{
    size_t columns = table->column_count ? table->column_count : 1;
    size_t needed = table->row_count + count, capacity = table->row_capacity ? table->row_capacity * 2 : 16;
    if (needed <= table->row_capacity)
        return;
    capacity = capacity < needed ? needed : capacity;
    table->cells = mem_realloc(table->cells, mem_times(capacity, columns * sizeof *table->cells));
    table->row_capacity = capacity;
}

size_t table_add_row(struct table *table)
{
    table_reserve(table, 1);
    size_t row = table->row_count++;
    for (size_t i = 0; i < table->column_count; i++)
        *table_cell(table, row, i) = missing_cell(table->columns[i].kind);
    table->total_rows++;
    return row;
}

/* ---- rows of structs ---- */

/* The cell with the value of MEMBER, whose type is that of KIND. */
static union table_cell cell_of_member(struct table *table, const struct table_column *column,
                                       const char *member)
{
    union table_cell cell = { .i = 0 };
    bool flag;
    double figure;
    switch (column->member) {
    case MEMBER_INT64: memcpy(&cell.i, member, sizeof cell.i); break;
    case MEMBER_DOUBLE:
        memcpy(&figure, member, sizeof figure);
        cell = table_figure(column->kind, figure);
        break;
    case MEMBER_BOOL:
        memcpy(&flag, member, sizeof flag);
        cell.i = flag;
        break;
    case MEMBER_TEXT:
        memcpy(&cell.text, member, sizeof cell.text);
        if (cell.text.at)
            cell.text.at = keep_text(table, cell.text.at, cell.text.len);
        break;
    case MEMBER_NONE: assert(!"the columns are written with COLUMN"); break;
    }
    return cell;
}

static bool fits(const struct table_column *column)
{
    switch (column->member) {
    case MEMBER_TEXT: return table_is_text(column->kind);
    case MEMBER_DOUBLE: return !table_is_text(column->kind);
    case MEMBER_BOOL: return column->kind == TABLE_BOOL;
    case MEMBER_INT64: return is_integer(column->kind);
    case MEMBER_NONE: break;
    }
    return false;
}

void table_add_rows(struct table *table, const void *rows, size_t count, size_t size)
{
    table_reserve(table, count);
    for (size_t i = 0; i < count; i++) {
        const char *from = (const char *)rows + i * size;
        size_t row = table_add_row(table);
        for (size_t c = 0; c < table->column_count; c++) {
            const struct table_column *column = &table->columns[c];
            *table_cell(table, row, c) = cell_of_member(table, column, from + column->offset);
        }
    }
}

/* Hide the columns without a value in any row. */
static void hide_empty_columns(struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++) {
        if (!(table->columns[c].flags & TABLE_IF_ANY))
            continue;
        size_t row = 0;
        while (row < table->row_count && table_is_missing(table, row, c))
            row++;
        if (row == table->row_count)
            table->columns[c].flags |= TABLE_HIDDEN;
    }
}

struct table *table_of_rows(const char *key, const char *title, const struct table_column *columns,
                            size_t column_count, const void *rows, size_t count, size_t size)
{
    struct table *table = table_open(key, title, columns, column_count);
    for (size_t c = 0; c < column_count; c++)
        assert(fits(&columns[c]));
    table_add_rows(table, rows, count, size);
    hide_empty_columns(table);
    return table;
}

size_t table_column_at(const struct table *table, size_t offset)
{
    size_t c = 0;
    while (c < table->column_count && (table->columns[c].offset != offset || !table->columns[c].member))
        c++;
    assert(c < table->column_count);
    return c;
}

bool table_shows(const struct table *table, size_t column, enum table_reader reader)
{
    unsigned left_out = TABLE_HIDDEN | (reader == TABLE_FOR_PEOPLE ? TABLE_OPTIONAL | TABLE_FOREIGN : 0u);
    return !(table->columns[column].flags & left_out);
}

void table_set_int(struct table *table, size_t row, size_t column, int64_t value)
{
    assert(row < table->row_count && column < table->column_count);
    assert(is_integer(table->columns[column].kind));
    table_cell(table, row, column)->i = value;
}

void table_set_number(struct table *table, size_t row, size_t column, double value)
{
    assert(row < table->row_count && column < table->column_count);
    assert(table_is_number(table->columns[column].kind));
    table_cell(table, row, column)->f = value;
}

union table_cell table_figure(enum table_kind kind, double value)
{
    assert(!table_is_text(kind));
    if (table_is_number(kind))
        return table_number(isfinite(value) ? value : NAN);
    return table_int(fabs(value) < 0x1p63 ? llround(value) : TABLE_INT_MISSING); /* not of NaN */
}

void table_set_figure(struct table *table, size_t row, size_t column, double value)
{
    assert(row < table->row_count && column < table->column_count);
    *table_cell(table, row, column) = table_figure(table->columns[column].kind, value);
}

void table_set_text(struct table *table, size_t row, size_t column, const char *text, size_t len)
{
    assert(row < table->row_count && column < table->column_count);
    assert(table_is_text(table->columns[column].kind));
    union table_cell *cell = table_cell(table, row, column);
    cell->text.at = text ? keep_text(table, text, len) : NULL;
    cell->text.len = text ? len : 0;
}

void table_add_footer(struct table *table, const char *key, const char *title, enum table_kind kind,
                      union table_cell value)
{
    if (table_is_text(kind) && value.text.at)
        value.text.at = arena_strndup(&table->arena, value.text.at, value.text.len);
    *VEC_PUSH(&table->footers) = (struct table_footer){ key, title, kind, value };
}

void table_add_text_footer(struct table *table, const char *key, const char *title, const char *text,
                           size_t len)
{
    table_add_footer(table, key, title, TABLE_TEXT, (union table_cell){ .text = { text, len } });
}

/* A row on its way to its place. Rows go from low to high rank. */
struct sort_item {
    uint64_t rank;
    size_t row;
};

#define RANK_LAST UINT64_MAX

/* Rank of integers and doubles, from low to high, below RANK_LAST: the caller handles missing ones. */
static uint64_t integer_rank(int64_t value)
{
    /* TABLE_INT_MISSING would be 0, so all others start at 1; one less makes room for RANK_LAST. */
    return ((uint64_t)value ^ (1ull << 63)) - 1;
}

static uint64_t double_rank(double value)
{
    uint64_t bits;
    if (value == 0)
        value = 0; /* -0.0 equals 0.0 */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static uint64_t text_rank(const char *text, size_t len)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < 8; i++)
        rank = rank << 8 | (i < len ? (unsigned char)text[i] : 0);
    return rank;
}

static uint64_t cell_rank(const union table_cell *cell, enum table_kind kind, bool descending)
{
    if (table_cell_is_missing(cell, kind))
        return RANK_LAST;
    if (table_is_text(kind)) {
        uint64_t rank = text_rank(cell->text.at, cell->text.len);
        return descending ? ~rank : rank;
    }
    uint64_t rank = table_is_number(kind) ? double_rank(cell->f) : integer_rank(cell->i);
    return descending ? RANK_LAST - 1 - rank : rank;
}

/* Does B belong before A? Equal ones keep their order. */
static bool goes_before(const struct table *table, size_t column, bool descending, const struct sort_item *b,
                        const struct sort_item *a)
{
    if (b->rank != a->rank)
        return b->rank < a->rank;
    if (!table_is_text(table->columns[column].kind))
        return false;
    const union table_cell *cell_a = table_cell(table, a->row, column);
    const union table_cell *cell_b = table_cell(table, b->row, column);
    if (!cell_a->text.at || !cell_b->text.at)
        return !cell_a->text.at && cell_b->text.at;
    size_t len_a = cell_a->text.len, len_b = cell_b->text.len;
    int order = memcmp(cell_b->text.at, cell_a->text.at, len_a < len_b ? len_a : len_b);
    if (!order)
        order = (len_b > len_a) - (len_b < len_a);
    return descending ? order > 0 : order < 0;
}

/* Put the rows in the order of ITEMS, following each cycle of the permutation with one row held aside. */
static void move_rows(struct table *table, struct sort_item *items)
{
    size_t row_size = table->column_count * sizeof *table->cells;
    union table_cell *in_hand = mem_alloc(row_size);
    for (size_t start = 0; start < table->row_count; start++) {
        if (items[start].row == start)
            continue;
        memcpy(in_hand, table_cell(table, start, 0), row_size);
        size_t place = start;
        while (items[place].row != start) {
            size_t from = items[place].row;
            memcpy(table_cell(table, place, 0), table_cell(table, from, 0), row_size);
            items[place].row = place;
            place = from;
        }
        memcpy(table_cell(table, place, 0), in_hand, row_size);
        items[place].row = place;
    }
    free(in_hand);
}

void table_suggest_column(const struct table *table, struct suggest *near)
{
    for (size_t c = 0; c < table->column_count; c++)
        suggest_consider(near, table->columns[c].key);
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].aliases)
            suggest_consider_words(near, table->columns[c].aliases);
}

int table_sort_column(const struct table *table, const char *key, struct tpa_error *err)
{
    int column = table_find_column(table, key, strlen(key));
    if (column >= 0)
        return column;
    struct suggest near = suggest_for(key, strlen(key));
    table_suggest_column(table, &near);
    if (near.best) {
        tpa_fail(err, TPA_NOWHERE, "cannot sort by '%s'; did you mean %s?", key, near.best);
    } else {
        tpa_fail(err, TPA_NOWHERE, "cannot sort by '%s'", key);
        tpa_hint(err, "sort by a column of the table, such as %s", table->columns[0].key);
    }
    return -1;
}

void table_sort(struct table *table, size_t column, bool reverse)
{
    assert(column < table->column_count);
    enum table_kind kind = table->columns[column].kind;
    bool descending = (table_is_text(kind) || kind == TABLE_MOMENT) ? reverse : !reverse;
    size_t count = table->row_count;
    table->sort_column = column;
    if (count < 2)
        return;

    SCOPED struct sort_item *items = mem_alloc(mem_times(count, sizeof *items));
    SCOPED struct sort_item *merged = mem_alloc(mem_times(count, sizeof *merged));
    for (size_t row = 0; row < count; row++)
        items[row] = (struct sort_item){ cell_rank(table_cell(table, row, column), kind, descending), row };

    for (size_t run = 1; run < count; run *= 2) {
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = start + run < count ? start + run : count;
            size_t end = middle + run < count ? middle + run : count;
            size_t a = start, b = middle;
            for (size_t k = start; k < end; k++) {
                bool take_b =
                    a == middle || (b < end && goes_before(table, column, descending, &items[b], &items[a]));
                merged[k] = take_b ? items[b++] : items[a++];
            }
        }
        struct sort_item *swap = items;
        items = merged;
        merged = swap;
    }
    move_rows(table, items);
}

void table_reverse(struct table *table)
{
    size_t count = table->row_count;
    SCOPED struct sort_item *items = mem_alloc(mem_times(count + 1, sizeof *items));
    for (size_t row = 0; row < count; row++)
        items[row] = (struct sort_item){ .row = count - 1 - row };
    move_rows(table, items);
}

void table_truncate(struct table *table, size_t count)
{
    if (count < table->row_count)
        table->row_count = count;
}

void table_filter(struct table *table, const bool *keep)
{
    size_t kept = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        if (!keep[row])
            continue;
        if (kept != row && table->column_count)
            memcpy(table_cell(table, kept, 0), table_cell(table, row, 0),
                   table->column_count * sizeof *table->cells);
        kept++;
    }
    table->row_count = kept;
    table->total_rows = kept;
}

void table_select(struct table *table, const size_t *columns, size_t count)
{
    SCOPED size_t *chosen = mem_alloc(mem_times(table->column_count + 1, sizeof *chosen));
    SCOPED bool *taken = mem_zalloc(table->column_count + 1, sizeof *taken);
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; i++) {
        assert(columns[i] < table->column_count);
        if (!taken[columns[i]])
            chosen[chosen_count++] = columns[i];
        taken[columns[i]] = true;
    }

    /* There are not more columns than before, so rows only move towards the front. */
    union table_cell *old_row = mem_alloc(mem_times(table->column_count + 1, sizeof *old_row));
    union table_cell *to = table->cells;
    for (size_t row = 0; row < table->row_count && table->column_count; row++) {
        memcpy(old_row, table_cell(table, row, 0), table->column_count * sizeof *old_row);
        for (size_t i = 0; i < chosen_count; i++)
            *to++ = old_row[chosen[i]];
    }
    size_t cells_per_row = chosen_count ? chosen_count : 1;
    table->row_capacity = table->row_capacity * table->column_count / cells_per_row;

    struct table_column *kept = mem_zalloc(cells_per_row, sizeof *kept);
    size_t sort_column = TABLE_NO_COLUMN;
    for (size_t i = 0; i < chosen_count; i++) {
        kept[i] = table->columns[chosen[i]];
        kept[i].flags &= ~(unsigned)(TABLE_OPTIONAL | TABLE_HIDDEN | TABLE_FOREIGN);
        if (chosen[i] == table->sort_column)
            sort_column = i;
    }
    free(table->columns);
    table->columns = kept;
    table->column_count = chosen_count;
    table->sort_column = sort_column;
    free(old_row);
}

void table_drop_hidden(struct table *table)
{
    size_t *kept = mem_alloc(mem_times(table->column_count + 1, sizeof *kept)), count = 0;
    SCOPED unsigned *flags = mem_alloc(mem_times(table->column_count + 1, sizeof *flags));
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].flags & TABLE_HIDDEN)
            continue;
        flags[count] = table->columns[i].flags;
        kept[count++] = i;
    }
    table_select(table, kept, count);
    for (size_t i = 0; i < count; i++)
        table->columns[i].flags = flags[i];
    free(kept);
}
