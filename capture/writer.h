/*
 * writer.h - our thread in the application's process: it takes records from CUPTI and the application's threads, and
 * writes the log.
 *
 * Only the end of the process waits for it. If it cannot keep up, the pool runs empty and the rings fill up; lost
 * records are counted, and the counts are logged.
 */
#ifndef TPA_CAPTURE_WRITER_H
#define TPA_CAPTURE_WRITER_H

#include "capture/parts.h"
#include <sys/types.h>

/* Half of the time that may be lost when the process is killed; the other half is for the disk. */
enum { WRITER_FLUSH_NS = 500000000, WRITER_NAP_NS = 100000000 };

struct writer {
    const struct capture_settings *settings; /* borrowed, as the next */
    struct control *control;
    void (*on_end)(void); /* called by the writer's thread after the log is closed */
    struct pool pool;

    pthread_mutex_t lock; /* protects the fields up to the next empty line */
    pthread_cond_t woken, ended;
    struct pool_buffer *first, **last; /* filled, oldest first */
    bool hurry, stop, done;
    const char *why; /* for the END record; a literal */
    const struct cupti *cupti;
    const struct capture_calls *calls;

    _Atomic(struct host_ring *) rings;
    _Atomic uint32_t ring_count;
    _Atomic uint64_t dropped_by_cupti, dropped_events;
    _Atomic uint64_t progress; /* grows while work is being done */

    /* Only the writer's thread uses the rest; FILES has a second thread, on which the log is opened, written and
     * closed. */
    struct own_files files;
    int fd;
    dev_t device;
    ino_t inode;
    int64_t size; /* of the file: whole blocks */
    char path[PATH_MAX];
    struct translator translator;
    struct host_log *host_log;
    struct recent *recent; /* ring of --ring; NULL: records are written at once */
    int64_t ring_writes;
    bool alone;                         /* no thread of the program is left */
    bool recorded_process;              /* the PROCESS record is written, */
    const struct cupti *recorded_cupti; /* with this CUPTI */
    uint64_t recorded_refused;
    int64_t dropped_in_all;
    int write_errno; /* why the file could not be written; 0: it could */
};

/* Create the log and start the thread, which calls ON_END when it has closed the log. False, and a sentence with what
 * to do in WHY, if that fails. */
bool writer_start(struct writer *writer, const struct capture_settings *settings, struct control *control,
                  void (*on_end)(void), char *why, size_t why_size);

/* From now on CUPTI delivers buffers. */
void writer_use_cupti(struct writer *writer, const struct cupti *cupti, const struct capture_calls *calls);

/* Hand over a buffer of the pool with VALID bytes of records. Callable from any thread. */
void writer_collect_buffer(struct writer *writer, uint8_t *bytes, size_t valid);

/* A new ring for the calling thread; NULL if there are too many. */
struct host_ring *writer_open_ring(struct writer *writer);

/* Wake the writer before its next round: a ring is half full. */
void writer_hurry(struct writer *writer);

/* Write all records, close the log with WHY and end the thread. Waits as long as the writer makes progress. False after
 * ten seconds without progress; the log then ends as after a kill. */
bool writer_stop(struct writer *writer, const char *why);

/* In a forked child: release the parent's file. */
void writer_forget(struct writer *writer);

/* ---- metadata in a log: for the writer's thread, in writer_facts.c ---- */

/* Write the PROCESS record: the recorded process, the recorder, and the use of CUPTI. */
void writer_add_process(struct writer *writer);

/* Write the current time of the clocks. */
void writer_add_clock(struct writer *writer);

/* Write the windows of time in which everything was recorded, and why: those of writer->control that have
 * ended. With a ring, which is complete since SINCE, also the open window, all with reason RING_WHY; else
 * RING_WHY is NULL. */
void writer_add_windows(struct writer *writer, int64_t since_ns, const char *ring_why);

/* Write the number of records lost since the last call. */
void writer_add_drops(struct writer *writer);

/* Write the notes that wait; see notes.h. */
void writer_add_notes(struct writer *writer);

#endif
