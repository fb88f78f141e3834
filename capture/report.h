/*
 * report.h - the few lines by which the library says how it goes.
 *
 * They go to the fifo that `tpa capture` reads, which prints what a person should see and adds up what several
 * processes say. Without one, troubles and notes go to stderr, because nobody else would tell; the rest is left out.
 *
 *     begin \t PID \t PATH
 *     end \t PID \t PATH \t BYTES \t RECORDS \t DROPPED
 *     trouble \t PID \t SENTENCE
 *     note \t PID \t SENTENCE
 */
#ifndef TPA_CAPTURE_REPORT_H
#define TPA_CAPTURE_REPORT_H

#include <stdint.h>

/* Where reports go: the path of a fifo, or "" for stderr. The text is copied. Called once, first. */
void report_to(const char *fifo);

void report_begin(const char *path);
void report_end(const char *path, int64_t bytes, int64_t records, int64_t dropped);

/* What went wrong and what to do. Only the first of a process is reported: the others follow from it. */
__attribute__((format(printf, 1, 2))) void report_trouble(const char *fmt, ...);

/* What is not wrong and should be known: a sentence. All of a process are reported. See notes.h. */
void report_note(const char *sentence);

#endif
