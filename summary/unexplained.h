/*
 * unexplained.h - idle time of devices that no finding explains: where it is, how much, what the file lacks, how to record it.
 *
 *     struct buffer text = { 0 };
 *     struct unexplained unexplained;
 *     if (unexplained_describe(summary, &text, &unexplained))
 *         printf("%.*s\n", (int)text.count, text.at);
 */
#ifndef TPA_SUMMARY_UNEXPLAINED_H
#define TPA_SUMMARY_UNEXPLAINED_H

#include "summary/state.h"

/* The parts of what is described. */
struct unexplained {
    double share; /* of the time of the devices */
    enum gap_cause cause;
    const char *action;  /* "Record the calls that launch"; NULL: there is none of all this */
    struct text longest; /* "the longest gap takes 2.625s at 5.016s on device 0": within the sentence */
    const char *recipe;
};

/* Append one sentence about the cause of idle time that is not the host's (a stream that waits for what is not in the file, work that is
 * queued for no recorded reason, launches that are not in the file) and takes a tenth of the time of the devices or more: the largest.
 * UNEXPLAINED: its parts. False: there is none. */
bool unexplained_describe(const struct summary *summary, struct buffer *text,
                          struct unexplained *unexplained);

/* Add "; meanwhile the host is in hipMemcpyWithStream of aten::to" to TEXT: in the longest gap that is due to CAUSE, of which there is one;
 * nothing where no call of the host waits for most of it. */
void unexplained_describe_host(const struct summary *summary, enum gap_cause cause, struct buffer *text);

/* How long before its first work, which was launched already, each device worked on what is not in the file: the longest, in ns, if
 * that is a millisecond or more; else 0. RECORDED_NS: from the origin of the file to that work. */
int64_t unexplained_start_ns(const struct summary *summary, int64_t *recorded_ns);

#endif
