/*
 * latest.h - of the work that was launched before one moment and had ended by another, which ended last?
 *
 * That is what a synchronisation of the device waits for. Work is sorted by its end; a tree over it holds the earliest launch
 * of each part, so that an answer takes as many steps as the logarithm of the work, however many streams there are.
 *
 *     struct latest *latest = latest_open(operations, count, tell, context);       // by group, then end
 *     size_t work = latest_find(latest, group, call_start_ns, call_end_ns, LATEST_ANY_STREAM);
 *     latest_free(latest);
 */
#ifndef TPA_WHATIF_LATEST_H
#define TPA_WHATIF_LATEST_H

#include <stddef.h>
#include <stdint.h>

#define LATEST_NONE SIZE_MAX
#define LATEST_ANY_STREAM UINT32_MAX

struct latest_item {
    int64_t end_ns, launched_ns;
    uint32_t group, stream; /* numbers that the caller chooses */
};

/* What is known of WORK. Called many times for the same WORK, so that nothing is stored. */
typedef struct latest_item latest_tell(const void *context, uint32_t work);

struct latest;

/* New, of COUNT OPERATIONS by group, end and number, which are taken (free()); CONTEXT is borrowed. Free with latest_free
 * (NULL is allowed). */
struct latest *latest_open(uint32_t *operations, size_t count, latest_tell *tell, const void *context);
void latest_free(struct latest *latest);

/*
 * The work of GROUP that ended last of that which was launched before LAUNCHED_BEFORE and ended at or before ENDED_BY, on any
 * stream but EXCEPT. Of work that ended together, the last in order of the numbers. LATEST_NONE when there is none.
 */
size_t latest_find(const struct latest *latest, uint32_t group, int64_t launched_before_ns,
                   int64_t ended_by_ns, uint32_t except);

#endif
