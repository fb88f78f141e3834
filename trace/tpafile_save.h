/*
 * tpafile_save.h - a trace into a .tpa file: all that it holds.
 *
 *     struct trace_wants everything = { .args = every argument, .flows = true, .counters = true };
 *     struct trace *trace = ingest_read(..., .wants = everything, ...);
 *     if (!tpafile_save(trace, &(struct tpafile_save_options){ .sink = write_all, .context = out }, &written)) ...
 *
 * Reading it back (ingest/tpalog/tpalog.c) gives one of which every analysis says the same.
 */
#ifndef TPA_TRACE_TPAFILE_SAVE_H
#define TPA_TRACE_TPAFILE_SAVE_H

#include "trace/tpafile_write.h"
#include "trace/trace.h"

struct tpafile_save_options {
    tpafile_sink *sink;
    void *context;
    size_t block_events; /* of a block; 0: the default. For tests */
};

/* Hand TRACE to the sink. False: that failed, or there was no memory. WRITTEN may be NULL. */
bool tpafile_save(const struct trace *trace, const struct tpafile_save_options *options,
                  struct tpafile_written *written);

#endif
