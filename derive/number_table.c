#include "derive/number_table.h"

#include "base/rows.h"
#include "base/search.h"
#include "trace/arg_scan.h"

enum { PAGE_BITS = 10, PAGE_WORDS = (1 << PAGE_BITS) / 64 };

void number_table_add(struct number_table *table, int64_t number, event_id e)
{
    if (table->count == 0 || number < table->least)
        table->least = number;
    if (table->count == 0 || number > table->greatest)
        table->greatest = number;
    if (table->count == table->capacity)
        table->events = vec_grow(table->events, &table->capacity, table->count + 1, sizeof *table->events);
    table->events[table->count++] = e;
}

static const struct key by_numbers[] = { ASC(struct numbered_event, number),
                                         ASC(struct numbered_event, event), KEY_END };

static size_t page_at(const struct number_table *table, int64_t number)
{
    return (size_t)(((uint64_t)number - (uint64_t)table->least) >> PAGE_BITS);
}

/* The number of the event at I, where SCAN reads them. */
static int64_t number_table_number_at(const struct number_table *table, struct arg_scan *scan, size_t i)
{
    int64_t number = 0;
    arg_scan_get(scan, table->events[i], &number);
    return number;
}

/* Assign places to pages, not to empty ones if there are many; false if too many pages would be needed for the
 * numbers. */
static bool make_pages(struct number_table *table, struct arg_scan scan)
{
    uint64_t range = (uint64_t)table->greatest - (uint64_t)table->least;
    size_t most = table->count / 16 + 64;
    uint32_t pages = 0;
    if (range >> PAGE_BITS > table->count + 1024)
        return false;
    size_t all = (size_t)(range >> PAGE_BITS) + 1;
    table->page_of = mem_zalloc(all, sizeof *table->page_of);
    for (size_t i = 0; all > most && i < table->count; i++)
        table->page_of[page_at(table, number_table_number_at(table, &scan, i))] = 1;
    for (size_t page = 0; page < all; page++) /* a larger number follows */
        if (all <= most || table->page_of[page])
            table->page_of[page] = ++pages;
    if (pages > most) {
        free(table->page_of);
        table->page_of = NULL;
        return false;
    }
    table->words = mem_zalloc((size_t)pages * PAGE_WORDS, sizeof *table->words);
    return true;
}

/* The bit of NUMBER in its word; the word is NULL if its page is empty. */
static struct numbered_word *word_of(const struct number_table *table, int64_t number, uint64_t *bit)
{
    uint32_t page = table->page_of[page_at(table, number)];
    uint64_t offset = (uint64_t)number - (uint64_t)table->least;
    *bit = UINT64_C(1) << (offset % 64);
    return page ? &table->words[((size_t)page - 1) * PAGE_WORDS + (size_t)(offset / 64 % PAGE_WORDS)] : NULL;
}

/* Move the first event of each number to its place given by the words, the others to the end. */
static void order_events(struct number_table *table, struct arg_scan scan, size_t distinct)
{
    event_id *ordered = mem_alloc(mem_times(table->count, sizeof *ordered));
    memset(ordered, 0xff, table->count * sizeof *ordered);
    for (size_t i = 0; i < table->count; i++) {
        uint64_t bit;
        const struct numbered_word *word = word_of(table, number_table_number_at(table, &scan, i), &bit);
        event_id *to = &ordered[word->before + bits_count(word->present & (bit - 1))];
        if (*to == EVENT_NONE)
            *to = table->events[i];
        else
            ordered[distinct++] = table->events[i];
    }
    free(table->events);
    table->events = ordered;
    table->capacity = table->count;
}

static void fill_pages(struct number_table *table, struct arg_scan scan)
{
    struct arg_scan again = scan;
    bool ascending = true;
    int64_t last = 0;
    for (size_t i = 0; i < table->count; i++) {
        int64_t number = number_table_number_at(table, &scan, i);
        uint64_t bit;
        struct numbered_word *word = word_of(table, number, &bit);
        word->present |= bit;
        ascending = ascending && (i == 0 || number > last);
        last = number;
    }
    uint32_t distinct = 0;
    uint64_t ignored;
    const struct numbered_word *end = word_of(table, table->greatest, &ignored) + 1;
    for (struct numbered_word *word = table->words; word < end; word++) {
        word->before = distinct;
        distinct += (uint32_t)bits_count(word->present);
    }
    if (!ascending)
        order_events(table, again, distinct);
}

void number_table_build(struct number_table *table, const struct trace *trace, enum trace_arg arg)
{
    if (table->count == 0)
        return;
    struct arg_scan scan = arg_scan_of(trace, arg);
    if (make_pages(table, scan)) {
        fill_pages(table, scan);
        return;
    }
    table->sorted = mem_alloc(mem_times(table->count, sizeof *table->sorted));
    for (size_t i = 0; i < table->count; i++)
        table->sorted[i] = (struct numbered_event){ number_table_number_at(table, &scan, i), (event_id)i };
    SORT_ARRAY(table->sorted, table->count, by_numbers);
}

int64_t number_table_find(const struct number_table *table, int64_t number)
{
    if (table->count == 0 || number < table->least || number > table->greatest)
        return -1;
    if (table->page_of) {
        uint64_t bit;
        const struct numbered_word *word = word_of(table, number, &bit);
        return word && word->present & bit ? (int64_t)(word->before + bits_count(word->present & (bit - 1)))
                                           : -1;
    }
    size_t i = PLACE(k, table->count, table->sorted[k].number < number);
    return i < table->count && table->sorted[i].number == number ? (int64_t)table->sorted[i].event : -1;
}
