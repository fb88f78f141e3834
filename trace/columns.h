/*
 * columns.h - how readers of files that already hold columns make a trace, past chunks.
 *
 * Ids are the trace's own from the start, so all of this is for one thread at a time, in file order; what can be done
 * by many threads (unpacking, checking) comes before.
 *
 *     trace_builder_file(builder, "run.tpa", "tpa log");
 *     struct trace_columns columns = { .count = 2, .start_ns = ..., .name = ..., ... };
 *     trace_builder_add_columns(builder, &columns, err);
 *
 * See builder.h for what chunks are: a reader may use both, as long as it appends in file order.
 */
#ifndef TPA_TRACE_COLUMNS_H
#define TPA_TRACE_COLUMNS_H

#include "trace/builder.h"

/* One argument of some events, in the order of the events. */
struct trace_columns_arg {
    const uint64_t *present; /* bit e: event e has it. NULL: all have it */
    const int64_t *values;   /* TEXT and JSON: ids of trace_builder_text; DECIMAL: the bits of the double */
    const int32_t *narrow;   /* the values, when all fit: VALUES is not looked at then. NULL: they may not */
    size_t count;            /* 0: none has it */
};

/* COUNT events, complete in themselves, each column COUNT long and borrowed. */
struct trace_columns {
    size_t count;
    const int64_t *start_ns, *dur_ns; /* durations are not negative */
    const name_id *name;
    const track_id *track;
    const uint16_t *category;
    const uint8_t *flags;
    struct trace_columns_arg args[ARG_COUNT]; /* those that are not wanted are left out */
};

/* Ids in the trace; texts are copied the first time. */
name_id trace_builder_name(struct trace_builder *builder, const char *s, size_t len);
name_id trace_builder_text(struct trace_builder *builder, const char *s, size_t len);
uint16_t trace_builder_category(struct trace_builder *builder, const char *s, size_t len);

/* The track of KEY in the current file. */
track_id trace_builder_track(struct trace_builder *builder, const struct track_key *key);

/* A track, to fill in its names and sort indexes; borrowed until the next track is added. */
struct track *trace_builder_track_at(struct trace_builder *builder, track_id id);

/* Add the events after those already there. False and ERR when the trace would pass what an event_id can count, or take more
 * memory than there is. */
bool trace_builder_add_columns(struct trace_builder *builder, const struct trace_columns *columns,
                               struct tpa_error *err);

/* Add a flow or a sample; ids are the trace's. */
void trace_builder_add_flow(struct trace_builder *builder, const struct trace_flow *flow);
void trace_builder_add_sample(struct trace_builder *builder, const struct trace_sample *sample);

/* A container for files to come from: put it into trace_builder_current_file(). Lives as long as the trace. */
struct trace_container *trace_builder_container(struct trace_builder *builder, const char *path);

/* Count what a file holds beside events. */
void trace_builder_count_seen(struct trace_builder *builder, uint64_t flows, uint64_t samples,
                              uint64_t metadata);

#endif
