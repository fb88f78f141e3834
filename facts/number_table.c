/* number_table.c - see number_table.h. */
#include "facts/number_table.h"

#include "base/memory.h"
#include "base/search.h"
#include "trace/arg_scan.h"
#include <stdlib.h>

enum { PAGE_BITS = 10, PAGE_SIZE = 1 << PAGE_BITS };

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

static int compare_numbers(const void *left, const void *right)
{
    const struct numbered_event *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static size_t page_at(const struct number_table *table, int64_t number)
{
    return (size_t)(((uint64_t)number - (uint64_t)table->least) >> PAGE_BITS);
}

/* Give each page that holds a number its place; false when there would be too many for what they hold. */
static bool make_pages(struct number_table *table, const int64_t *numbers)
{
    uint64_t range = (uint64_t)table->greatest - (uint64_t)table->least;
    uint32_t pages = 0;
    if (range >> PAGE_BITS > table->count + 1024)
        return false;
    table->page_of = mem_zalloc((size_t)(range >> PAGE_BITS) + 1, sizeof *table->page_of);
    for (size_t i = 0; i < table->count; i++) {
        uint32_t *page = &table->page_of[page_at(table, numbers[i])];
        if (*page == 0)
            *page = ++pages;
    }
    if ((uint64_t)pages * PAGE_SIZE > 16 * (uint64_t)table->count + UINT64_C(64) * PAGE_SIZE) {
        free(table->page_of);
        table->page_of = NULL;
        return false;
    }
    table->slots = mem_zalloc((size_t)pages * PAGE_SIZE, sizeof *table->slots);
    return true;
}

static uint32_t *slot_of(const struct number_table *table, int64_t number)
{
    uint32_t page = table->page_of[page_at(table, number)];
    size_t within = (size_t)((uint64_t)number - (uint64_t)table->least) % PAGE_SIZE;
    return page ? &table->slots[(size_t)(page - 1) * PAGE_SIZE + within] : NULL;
}

void number_table_build(struct number_table *table, const struct trace *trace, enum trace_arg arg)
{
    if (table->count == 0)
        return;
    int64_t *numbers = mem_zalloc(table->count, sizeof *numbers);
    struct arg_scan scan = arg_scan_of(trace, arg);
    for (size_t i = 0; i < table->count; i++)
        arg_scan_get(&scan, table->events[i], &numbers[i]);
    if (make_pages(table, numbers)) {
        for (size_t i = 0; i < table->count; i++) {
            uint32_t *slot = slot_of(table, numbers[i]);
            if (*slot == 0)
                *slot = (uint32_t)(i + 1);
        }
    } else {
        table->sorted = mem_alloc(mem_times(table->count, sizeof *table->sorted));
        for (size_t i = 0; i < table->count; i++)
            table->sorted[i] = (struct numbered_event){ numbers[i], (event_id)i };
        qsort(table->sorted, table->count, sizeof *table->sorted, compare_numbers);
    }
    free(numbers);
}

int64_t number_table_find(const struct number_table *table, int64_t number)
{
    if (table->count == 0 || number < table->least || number > table->greatest)
        return -1;
    if (table->page_of) {
        const uint32_t *slot = slot_of(table, number);
        return slot ? (int64_t)*slot - 1 : -1;
    }
    size_t i;
    SEARCH(i, table->count, table->sorted[i].number < number);
    return i < table->count && table->sorted[i].number == number ? (int64_t)table->sorted[i].event : -1;
}

void number_table_release(struct number_table *table)
{
    free(table->page_of);
    free(table->slots);
    free(table->sorted);
    free(table->events);
    *table = (struct number_table){ 0 };
}
