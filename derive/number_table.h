/*
 * number_table.h - finds events by number: a correlation, an External id.
 *
 * Such numbers count up, so the table has one bit per number and, for each 64 of them, the count of smaller ones, which
 * is an index into the events, sorted by number. It has two levels: only pages that hold numbers exist. Scattered
 * numbers are kept as sorted pairs instead, so that memory is bounded by the number of events.
 */
#ifndef TPA_DERIVE_NUMBER_TABLE_H
#define TPA_DERIVE_NUMBER_TABLE_H

#include "trace/trace.h"

struct numbered_event {
    int64_t number;
    event_id event;
};

/* 64 consecutive numbers: which of them exist, and how many smaller ones. */
struct numbered_word {
    uint64_t present;
    uint32_t before;
};

/* Number -> event. Duplicates: the first event counts. Zero-initialised: empty. */
struct number_table {
    int64_t least, greatest;
    event_id *events; /* as added; once built, possibly by number, with duplicates last */
    size_t count, capacity;
    uint32_t *page_of;             /* by (number - least) / page size: 1 + its place in `words`, 0 for none */
    struct numbered_word *words;   /* page after page */
    struct numbered_event *sorted; /* instead of pages: numbers and positions in `events` */
};

/* Add E, whose number is NUMBER; events in ascending order. */
void number_table_add(struct number_table *table, int64_t number, event_id e);

/* Build the table after all events are added; ARG is the argument that holds their numbers. */
void number_table_build(struct number_table *table, const struct trace *trace, enum trace_arg arg);

/* Position in table->events of the event with NUMBER, or -1. */
int64_t number_table_find(const struct number_table *table, int64_t number);

/* For ARENA_OWNS: what TABLE holds. */
#define NUMBER_TABLE_MEMORY(table) &(table)->events, &(table)->page_of, &(table)->words, &(table)->sorted

#endif
