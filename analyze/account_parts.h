/*
 * account_parts.h - where a stretch of time went on the devices of a file, and why some steps take longer than others.
 *
 *     struct account_windows windows = { 0 };
 *     intervals_add(&windows.in, start_ns, end_ns);
 *     int64_t part_ns[ACCOUNT_PARTS] = { 0 };
 *     size_t devices = account_add_parts(trace, file, &windows, part_ns, NULL);    // each adds end_ns - start_ns
 *
 * What account.h is made of.
 */
#ifndef TPA_ANALYZE_ACCOUNT_PARTS_H
#define TPA_ANALYZE_ACCOUNT_PARTS_H

#include "analyze/gaps.h"

/* Parts of a step, disjoint. With devices: */
enum account_part {
    ACCOUNT_BEFORE_WORK, /* idle after the step began, before its first work: the host had not launched any */
    ACCOUNT_COMPUTING,   /* a kernel that does not communicate, or a memset, ran */
    ACCOUNT_COMMUNICATION, /* else: a kernel communicated */
    ACCOUNT_COPIES,        /* else: something was copied */
    ACCOUNT_AFTER_WORK, /* idle after the last work of a step, before the next began: the host was busy elsewhere */
    ACCOUNT_HOST_OPERATORS, /* from here without devices: in an operator or annotation */
    ACCOUNT_HOST_COMMUNICATION,
    ACCOUNT_HOST_LOADING, /* waited for the next batch */
    ACCOUNT_HOST_CALLS,   /* in a call of the runtime or driver */
    ACCOUNT_HOST_OUTSIDE, /* in none of these */
    ACCOUNT_IDLE,         /* + enum gap_cause: idle otherwise, by cause */
    ACCOUNT_PARTS = ACCOUNT_IDLE + GAP_CAUSES
};

/* As in tables: "computing", "idle: data loading". */
const char *account_part_name(size_t part);
/* Is the device idle in PART? False for parts of hosts without devices. */
bool account_part_is_idle(size_t part);

/* The time that counts in a file. */
struct account_windows {
    struct intervals in;
    VEC_OF(int64_t) begins_ns; /* of all its steps on the host, ascending; none without steps */
};

/* Add to PART_NS the parts of FILE within WINDOWS: of each of its devices that worked there, whose number is returned; of the host
 * where none did. Of each the length of WINDOWS is added. GAPS, of gaps_open_usual, get all gaps of FILE on the way; NULL: nobody does. */
size_t account_add_parts(const struct trace *trace, uint32_t file, const struct account_windows *windows,
                         int64_t part_ns[ACCOUNT_PARTS], struct gaps_query *gaps);

/* A step for account_reason. */
struct account_stretch {
    event_id event; /* the range on the host: the step is that of its thread */
    int64_t start_ns, end_ns;
    size_t work;  /* operations on devices that it launched */
    bool unusual; /* it takes longer or shorter than most */
};

/* What the unusual of COUNT steps of a file do that explains half of the time by which they differ from the others, or that the others do
 * not do: "runs eval". Empty: nothing that is known. The text is in TEXTS. */
struct text account_reason(struct arena *texts, const struct trace *trace,
                           const struct account_stretch *steps, size_t count);

#endif
