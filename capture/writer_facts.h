/*
 * writer_facts.h - what a log says beside the records: of the process, the clocks, when recording was on, what was lost
 * and what a person should know. For the writer's thread.
 */
#ifndef TPA_CAPTURE_WRITER_FACTS_H
#define TPA_CAPTURE_WRITER_FACTS_H

#include "capture/writer.h"

/* CLOCK_REALTIME in ns. */
int64_t writer_wall_ns(void);

/* Who is recorded, by what, and how CUPTI is used. */
void writer_add_process(struct writer *writer);

/* What the clocks show now. */
void writer_add_clock(struct writer *writer);

/* One time in which all was recorded: from START to END, for which reason. */
void writer_add_window(struct writer *writer, int64_t start_ns, int64_t end_ns, const char *why);

/* The windows of writer->control that have ended. */
void writer_add_windows(struct writer *writer);

/* What was lost since the last call. */
void writer_add_drops(struct writer *writer);

/* The notes that wait; see notes.h. */
void writer_add_notes(struct writer *writer);

#endif
