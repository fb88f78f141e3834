/*
 * writer.h - our thread in the application's process: it takes what CUPTI and the application's threads hand over, and
 * writes the log.
 *
 * Nobody waits for it but the end of the process. When it cannot keep up, the pool runs dry and the rings fill; what
 * is then lost is counted and recorded in the log.
 */
#ifndef TPA_CAPTURE_WRITER_H
#define TPA_CAPTURE_WRITER_H

#include "capture/control.h"
#include "capture/host_log.h"
#include "capture/own_files.h"
#include "capture/pool.h"
#include "capture/recent.h"
#include "capture/translate.h"
#include <sys/types.h>

/* Half of what may be lost when the process is killed; the other half is for the disk. */
enum { WRITER_FLUSH_NS = 500000000, WRITER_NAP_NS = 100000000 };

struct writer {
    const struct capture_settings *settings; /* borrowed, as the next */
    struct control *control;
    void (*on_end)(void); /* the log is closed; called by the writer's thread */
    struct pool pool;

    pthread_mutex_t lock; /* of what follows up to the next empty line */
    pthread_cond_t woken, ended;
    struct pool_buffer *first, **last; /* filled, the oldest first */
    bool hurry, stop, done;
    const char *why; /* for the END record; a constant */
    const struct cupti *cupti;
    const struct capture_calls *calls;

    _Atomic(struct host_ring *) rings;
    _Atomic uint32_t ring_count;
    _Atomic uint64_t dropped_by_cupti, dropped_events;
    _Atomic uint64_t progress; /* grows while work is being done */

    /* Only its thread uses the rest; FILES has a second one, on which the log is opened, written and closed. */
    struct own_files files;
    int fd;
    dev_t device;
    ino_t inode;
    int64_t size; /* of the file: whole blocks */
    char path[PATH_MAX];
    struct translator translator;
    struct host_log *host_log;
    struct recent *recent; /* of --ring; NULL: what comes is written */
    int64_t ring_writes;
    bool told_process;              /* the PROCESS record is written, */
    const struct cupti *told_cupti; /* and named this */
    uint64_t told_refused;
    int64_t dropped_in_all;
    int write_errno; /* why the file could not be written; 0: it could */
};

/*
 * Create the log and start the thread, which calls ON_END when it has closed the log. False, and a sentence with what to
 * do in WHY, when that fails.
 */
bool writer_start(struct writer *writer, const struct capture_settings *settings, struct control *control,
                  void (*on_end)(void), char *why, size_t why_size);

/* From now on buffers of CUPTI come. */
void writer_use_cupti(struct writer *writer, const struct cupti *cupti, const struct capture_calls *calls);

/* A buffer of the pool with VALID bytes of records. On any thread. */
void writer_take_buffer(struct writer *writer, uint8_t *bytes, size_t valid);

/* A ring for the calling thread; NULL when there are too many. */
struct host_ring *writer_open_ring(struct writer *writer);

/* A ring is half full: do not wait for the next round. */
void writer_hurry(struct writer *writer);

/*
 * Write what there is, close the log with WHY and end the thread. Waits as long as it makes progress. False when it
 * made none for ten seconds; the log is then as a killed process leaves it.
 */
bool writer_stop(struct writer *writer, const char *why);

/* In a forked child: let go of the parent's file. */
void writer_forget(struct writer *writer);

/* ---- what a log says beside the records: for the writer's thread, and in writer_facts.c ---- */

/* Who is recorded, by what, and how CUPTI is used. */
void writer_add_process(struct writer *writer);

/* What the clocks show now. */
void writer_add_clock(struct writer *writer);

/*
 * The times in which all was recorded, for the reason for which it was switched on: those of writer->control that have
 * ended. Of a ring, which has all SINCE then, also the one that lasts, and all with RING_WHY; else that is NULL.
 */
void writer_add_windows(struct writer *writer, int64_t since_ns, const char *ring_why);

/* What was lost since the last call. */
void writer_add_drops(struct writer *writer);

/* The notes that wait; see notes.h. */
void writer_add_notes(struct writer *writer);

#endif
