/*
 * recording.h - what a job allocated and freed, in order, at one size: the input of a forecast.
 *
 *     struct forecast_texts texts = forecast_texts_open();
 *     struct forecast_recording recording = { .path = "a.pickle", .size = { 16 } };
 *     if (!forecast_read_snapshot(snapshot, device, &texts, &recording, err)) ...
 *     forecast_recording_release(&recording);
 *     forecast_texts_release(&texts);
 *
 * Blocks are identified by what allocated them: the chain of open operators and annotations of a trace, without steps; the stack of a
 * snapshot. Equal keys of several recordings are equal numbers.
 */
#ifndef TPA_MEMORY_FORECAST_RECORDING_H
#define TPA_MEMORY_FORECAST_RECORDING_H

#include "memory/memory_records.h"
#include "trace/snapshot.h"

enum { FORECAST_SIZES = 4 }; /* sizes that a recording may have: batch, seq ... */

struct forecast_block {
    int64_t bytes;
    uint32_t key, name; /* of forecast_texts; NAME: the line, or the innermost operator */
    uint32_t stream;
    int32_t step; /* -1: in none */
    bool initial; /* it was there before the first event */
};

struct forecast_event {
    uint32_t block;
    bool frees;
};

/* Zero-initialise it, and set path and size. */
struct forecast_recording {
    const char *path;            /* borrowed */
    double size[FORECAST_SIZES]; /* by number of the name */
    VEC_OF(struct forecast_block) blocks;
    VEC_OF(struct forecast_event) events; /* in order of time */
    int64_t reserved_bytes;               /* the most that the allocator held; -1: not recorded */
    int64_t peak_bytes;                   /* the most in use, of these blocks */
    double steps_vary;                    /* how much the bytes of the last two steps differ, as a share */
};

struct forecast_texts {
    struct names *keys, *names;
};

struct forecast_texts forecast_texts_open(void);
void forecast_texts_release(struct forecast_texts *texts);

/* Fill RECORDING. False and ERR if the blocks of DEVICE have no addresses. */
bool forecast_read_trace(const struct trace *trace, const struct memory_device *device,
                         const struct forecast_texts *texts, struct forecast_recording *recording,
                         struct tpa_error *err);

/* The same of a snapshot. False and ERR if it has no history. */
bool forecast_read_snapshot(const struct snapshot *snapshot, const struct snapshot_device *device,
                            const struct forecast_texts *texts, struct forecast_recording *recording,
                            struct tpa_error *err);

void forecast_recording_release(struct forecast_recording *recording);

#endif
