/*
 * translate.h - CUPTI's activity records into records of the log. Runs on the writer's thread.
 */
#ifndef TPA_CAPTURE_TRANSLATE_H
#define TPA_CAPTURE_TRANSLATE_H

#include "capture/calls.h"
#include "capture/cupti.h"
#include "capture/own_files.h"
#include "trace/tpafile_write.h"

struct translator {
    struct tpafile_writer *log; /* borrowed, as the next three */
    struct own_files *files;
    const struct cupti *cupti; /* NULL while only NVTX is recorded */
    const struct capture_calls *calls;
    /* Numbers whose meaning is in the log. */
    bool named[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
    int64_t *threads; /* sorted */
    size_t thread_count, thread_capacity;
    bool failed;         /* the log cannot be written */
    uint64_t unknown;    /* records of kinds that we do not know */
    int64_t overhead_ns; /* that CUPTI said it took */
};

/*
 * Add the records in the SIZE bytes of a buffer that CUPTI filled. False when the log cannot be written. Records of
 * calls that nobody wants are left out; those of unknown kinds are counted.
 */
bool translate_buffer(struct translator *translator, uint8_t *bytes, size_t size);

/* Of these only devices, contexts and streams. */
bool translate_environment(struct translator *translator, uint8_t *bytes, size_t size);

/* Have the log name the thread, the first time. */
void translate_thread(struct translator *translator, int64_t tid);

/* The program itself named it. */
void translate_thread_name(struct translator *translator, int64_t tid, const char *name, size_t len);

#endif
