/*
 * report.h - the few lines by which the library reports its state.
 *
 * They go to a fifo read by `tpa capture`, which prints what users should see and aggregates the reports of several
 * processes. Without a fifo, troubles and notes go to stderr; other lines are omitted.
 *
 *     begin \t PID \t PATH
 *     end \t PID \t PATH \t BYTES \t RECORDS \t DROPPED
 *     trouble \t PID \t SENTENCE
 *     note \t PID \t SENTENCE
 */
#ifndef TPA_CAPTURE_REPORT_H
#define TPA_CAPTURE_REPORT_H

#include <stdint.h>

/* Where reports go: the path of a fifo, or "" for stderr. The text is copied. Call once, before all others. */
void report_to(const char *fifo);

/* A log was begun at PATH; it was ended, with its size in BYTES and the numbers of written and dropped records. */
void report_begin(const char *path);
void report_end(const char *path, int64_t bytes, int64_t records, int64_t dropped);

/* What went wrong and what to do. Only the first of a process is reported: the others follow from it. */
__attribute__((format(printf, 1, 2))) void report_trouble(const char *fmt, ...);

/* A note, one sentence: not a failure, but users should know it. All are reported. See notes.h. */
void report_note(const char *sentence);

#endif
