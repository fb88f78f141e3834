/*
 * snapshot_scopes.h - memory at the beginning and the end of every user scope, and code whose memory grows with every step.
 *
 * Scopes are the snapshot's annotations: ProfilerStep#3, Optimizer.step#AdamW.step, record_function's names. The state
 * at a time is that after the last entry at or before it. The peak is the maximum between beginning and end, inclusive.
 */
#ifndef TPA_MEMORY_SNAPSHOT_SCOPES_H
#define TPA_MEMORY_SNAPSHOT_SCOPES_H

#include "base/table.h"
#include "memory/allocator_history.h"

struct scope_row {
    struct text file, name;
    int64_t device;
    int64_t start_us,
        /* since 1970; end TABLE_INT_MISSING: it was not closed, and is assumed to extend to the last entry */
        end_us;
    int64_t duration_ns;
    int64_t start_bytes, peak_bytes, end_bytes, growth_bytes; /* allocated; growth is end - start */
    int64_t peak_entry;
    int64_t start_entry, end_entry; /* the last at or before */
};

struct scope_rows {
    VEC_OF(struct scope_row) rows; /* by device and start, outer ones first */
};

/* Add those of the device of REPLAY to ROWS. Texts live as long as the snapshot. */
void scopes_find(const struct allocator_history *replay, const char *file, struct scope_rows *rows);

/*
 * A stack whose bytes in use at the end of a step grew in every step after the first two, in which permanent memory
 * (parameters, optimizer states) is allocated.
 */
struct leak_row {
    struct text file, line, stack;
    int64_t device;
    int64_t first_bytes, last_bytes; /* in use at the end of the second step, and of the last one */
    int64_t slope; /* bytes per step: their difference divided by the number of steps between them */
    int64_t steps; /* between them */
    int64_t count; /* blocks in use at the end of the last step */
    stack_id stack_id;
};

enum { LEAK_FEWEST_STEPS = 4 }; /* two at the beginning, and two that grow: with fewer, there are no leaks */

struct leaks {
    VEC_OF(struct leak_row) rows; /* by slope */
    int64_t longest;              /* number of step ends, of the device with the most */
    struct arena arena;
};

/* Add the leaks of the device of REPLAY to LEAKS. SCOPES is the result of scopes_find; those of this device are the
 * steps. */
void leaks_find(const struct allocator_history *replay, const char *file, const struct scope_rows *scopes,
                struct leaks *leaks);
void leaks_release(struct leaks *leaks);

#endif
