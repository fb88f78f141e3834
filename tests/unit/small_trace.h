/*
 * small_trace.h - traces small enough to draw, for unit tests. Times are in ns.
 *
 *     struct small small = small_begin(WANT(CORRELATION));
 *     small_host(&small, 1, "cpu_op", "aten::mm", 10, 40);
 *     small_device(&small, 7, "kernel", "gemm", 30, 20);
 *     small_arg(&small, ARG_CORRELATION, 5);               // of the event just added
 *     struct trace *trace = small_end(&small);             // freed after the test
 */
#ifndef TPA_TESTS_SMALL_TRACE_H
#define TPA_TESTS_SMALL_TRACE_H

#include "tests/unit/scratch.h"
#include "trace/builder.h"
#include <string.h>

enum { SMALL_PID = 100 }; /* of the host; thread 100 is its main thread */

struct small {
    struct trace_builder *builder;
    struct trace_chunk *chunk;
};

static inline struct small small_begin(uint64_t args)
{
    struct small small;
    small.builder = trace_builder_open(&(struct trace_wants){ .args = args });
    small.chunk = trace_chunk_open(small.builder);
    trace_builder_file(small.builder, "small.json", "Chrome JSON");
    trace_builder_current_file(small.builder)->producer = PRODUCER_KINETO;
    return small;
}

static inline void small_event(struct small *small, struct track_key track, char phase, const char *category,
                               const char *name, int64_t start_ns, int64_t dur_ns)
{
    trace_chunk_event(small->chunk,
                      &(struct chunk_event){
                          .phase = phase,
                          .start_ns = start_ns,
                          .dur_ns = dur_ns,
                          .flags = phase == 'i' ? EVENT_POINT : 0,
                          .name = trace_chunk_name(small->chunk, name, strlen(name)),
                          .track = trace_chunk_track(small->chunk, &track),
                          .category = trace_chunk_category(small->chunk, category, strlen(category)),
                      });
}

static inline void small_host(struct small *small, int64_t tid, const char *category, const char *name,
                              int64_t start_ns, int64_t dur_ns)
{
    small_event(small, (struct track_key){ .pid = SMALL_PID, .tid = tid }, 'X', category, name, start_ns,
                dur_ns);
}

/* On STREAM of device 0. */
static inline void small_device(struct small *small, int64_t stream, const char *category, const char *name,
                                int64_t start_ns, int64_t dur_ns)
{
    small_event(small, (struct track_key){ .pid = 0, .tid = stream }, 'X', category, name, start_ns, dur_ns);
}

static inline void small_arg(struct small *small, enum trace_arg arg, int64_t value)
{
    trace_chunk_arg(small->chunk, arg, value);
}

static inline void small_text(struct small *small, enum trace_arg arg, const char *text)
{
    trace_chunk_arg(small->chunk, arg, trace_chunk_text(small->chunk, text, strlen(text)));
}

/* A [memory] record: BYTES allocated, or freed when negative, of host memory. */
static inline void small_memory(struct small *small, int64_t tid, int64_t at_ns, int64_t bytes)
{
    small_event(small, (struct track_key){ .pid = SMALL_PID, .tid = tid }, 'i', "cpu_instant_event",
                "[memory]", at_ns, -1);
    small_arg(small, ARG_BYTES, bytes);
    small_arg(small, ARG_DEVICE_TYPE, 0);
}

/* What comes now belongs to the next file. */
static inline void small_next_file(struct small *small, const char *path, int64_t rank)
{
    struct tpa_error err = { 0 };
    assert_true(trace_builder_append(small->builder, small->chunk, &err));
    trace_builder_file(small->builder, path, "Chrome JSON");
    trace_builder_current_file(small->builder)->producer = PRODUCER_KINETO;
    trace_builder_current_file(small->builder)->rank = rank;
}

static inline struct trace *small_end(struct small *small)
{
    struct tpa_error err = { 0 };
    assert_true(trace_builder_append(small->builder, small->chunk, &err));
    trace_chunk_free(small->chunk);
    return scratch_trace(trace_builder_finish(small->builder));
}

#endif
