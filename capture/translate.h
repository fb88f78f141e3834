/*
 * translate.h - translates CUPTI's activity records to records of the log. Runs on the writer's thread.
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
    /* Ids that the log defines already. */
    bool named[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
    int64_t *threads; /* sorted */
    size_t thread_count, thread_capacity;
    bool failed;         /* the log cannot be written */
    uint64_t unknown;    /* records of unknown kinds */
    int64_t overhead_ns; /* time that CUPTI reported as its own */
};

/*
 * Add the records in the SIZE bytes of a buffer that CUPTI filled. False if the log cannot be written. Records of
 * unwanted calls are left out; those of unknown kinds are counted.
 */
bool translate_buffer(struct translator *translator, uint8_t *bytes, size_t size);

/* The same, but only records of devices, contexts and streams. */
bool translate_environment(struct translator *translator, uint8_t *bytes, size_t size);

/* Log the name of the thread, the first time. */
void translate_thread(struct translator *translator, int64_t tid);

/* Log the name that the program gave the thread. */
void translate_thread_name(struct translator *translator, int64_t tid, const char *name, size_t len);

#endif
