/*
 * device_steps.h - steps as they ran: on the host and on the devices.
 *
 * The host runs ahead: when a step's range ends there, the devices still work on it. So a step ends with the last
 * work that was launched from within its range, and the next step begins no earlier. The overview of TensorBoard's
 * PyTorch plugin uses the same boundaries:
 *
 *     host     [ step 1  ][ step 2  ]
 *     device       [ work of 1   ][ work of 2    ]
 *     as it ran [ step 1         ][ step 2       ]
 *
 * - Work belongs to a step if the call that launched it is entirely within the step's range on the host. Where only devices
 *   mark steps, as in XLA's line "Steps", it belongs to the step that it began in.
 * - end = the later of the range's end and the end of its last work; start = the later of the range's start and the
 *   end of the step before. Before the first step the end of the last work that no step launched counts, if that
 *   ended before the first step's work began.
 * - A step at the end of a file is incomplete when it launched no work though others did, or when it is the last that
 *   did and has less than 80 % of the work of the one before: recording stopped during it.
 */
#ifndef TPA_DERIVE_DEVICE_STEPS_H
#define TPA_DERIVE_DEVICE_STEPS_H

#include "derive/gpu_events.h"
#include "derive/step_list.h"

struct device_step {
    uint32_t file;
    event_id event;   /* the range on the host; EVENT_NONE if there is none */
    const char *name; /* as that of a struct step; NULL: that of EVENT */
    int64_t host_start_ns, host_end_ns;
    int64_t start_ns, end_ns; /* as it ran */
    int64_t number;
    size_t work; /* events on devices that it launched */
    int64_t work_start_ns,
        work_end_ns; /* when the first of these began and the last ended; both 0 where WORK is 0 */
    bool complete;
};

struct device_steps {
    VEC_OF(struct device_step); /* by file and start */
};

/* The steps of RANGES, which must be ordered by file and start and, within a file, not overlap. New; free with
 * arena_free (NULL is allowed). */
struct device_steps *device_steps_open(const struct step_list *ranges, const struct gpu_events *gpu);

/* The steps that TRACE marks, without those that overlap the one before: computed once. Borrowed; live as long as TRACE. */
const struct device_steps *device_steps_of(const struct trace *trace);

/* The steps of FILE have the indices from *FIRST to the returned one (exclusive). */
size_t device_steps_of_file(const struct device_steps *steps, uint32_t file, size_t *first);

#endif
