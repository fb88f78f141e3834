/*
 * number_table.h - the event that has a number: a correlation, an External id.
 *
 * Such numbers count up, so the table is a bit for each number and, for each 64 of them, how many come before: that many
 * places into the events, which lie in the order of their numbers. It is made in two steps: pages of numbers, of which
 * those exist that hold any. Numbers that lie scattered are kept as sorted pairs instead, so that memory stays bounded
 * by the events.
 */
#ifndef TPA_FACTS_NUMBER_TABLE_H
#define TPA_FACTS_NUMBER_TABLE_H

#include "trace/trace.h"

struct numbered_event {
    int64_t number;
    event_id event;
};

/* 64 numbers in a row: which of them there are, and how many smaller ones. */
struct numbered_word {
    uint64_t present;
    uint32_t before;
};

/* Number -> event. The first event with a number has it. Zero-initialised: empty. */
struct number_table {
    int64_t least, greatest;
    event_id
        *events; /* as they were added; once built, perhaps by number, those that do not have theirs last */
    size_t count, capacity;
    uint32_t *page_of;             /* by (number - least) / page size: 1 + its place in `words`, 0 for none */
    struct numbered_word *words;   /* page after page */
    struct numbered_event *sorted; /* instead of pages: numbers and positions in `events` */
};

/* Add E, whose number is NUMBER; events in ascending order. */
void number_table_add(struct number_table *table, int64_t number, event_id e);

/* Make the table answer, once all events are added; ARG is what they are numbered by. */
void number_table_build(struct number_table *table, const struct trace *trace, enum trace_arg arg);

/* Position in table->events of the event with NUMBER, or -1. */
int64_t number_table_find(const struct number_table *table, int64_t number);

/* Free what TABLE holds and make it empty. */
void number_table_release(struct number_table *table);

#endif
