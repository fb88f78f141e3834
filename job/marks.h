/*
 * marks.h - names by which programs mark microbatches: "Forward 3" (ScheduleGPipe of torch), "PP:1F3", "PP:1SEND_F3" (the runtime of
 * its other schedules).
 */
#ifndef TPA_JOB_MARKS_H
#define TPA_JOB_MARKS_H

#include <stdbool.h>
#include <stdint.h>

enum mark_kind { MARK_NONE, MARK_COMPUTES, MARK_SENDS, MARK_RECEIVES };

struct mark_name {
    enum mark_kind kind;
    uint32_t type; /* enum operation_type of the computation that is marked, or served */
    int64_t stage; /* of the model; below 0: that of the rank */
    int64_t microbatch;
};

/* Read NAME; the kind is MARK_NONE if it marks nothing. */
struct mark_name mark_read(const char *name);

#endif
