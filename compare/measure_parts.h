/*
 * measure_parts.h - what the files that measure a trace share; for analyze/measure*.c only.
 *
 *     measure.c          keeps samples, metrics, rows and facts
 *     measure_trace.c    the samples of a trace
 *     measure_names.c    rows that tpa top does not know: names as they are spelled, modules
 *     measure_memory.c   peaks of memory
 *     measure_facts.c    what a trace says about itself
 *     measure_sums.c     profiles and reports, which hold sums
 *     measure_result.c   results that were saved
 */
#ifndef TPA_COMPARE_MEASURE_PARTS_H
#define TPA_COMPARE_MEASURE_PARTS_H

#include "facts/device_steps.h"
#include "facts/gpu_events.h"
#include "compare/measure.h"
#include "facts/attribution.h"

/* A step that is a sample. */
struct measured_step {
    const struct device_step *step;
    uint32_t sample; /* in measures->by_step */
};

/* A trace while it is measured. */
struct measuring {
    struct measures *measures;
    const struct trace *trace;
    const struct attribution *launches;
    const struct gpu_events *gpu;
    struct step_list *ranges;           /* on the host; they do not overlap */
    struct device_steps *device_steps;  /* one for each range */
    VEC_OF(struct measured_step) steps; /* by file and number, each once */
    uint32_t first_file_sample;         /* in measures->by_file: of this trace */
    uint32_t *file_sample;              /* in measures->by_file; of no meaning for files without events */
};

/* Is the file a sample? A file without events is not, not even one with times of 0. */
static inline bool measured_file(const struct measuring *measuring, uint32_t file)
{
    return measuring->trace->files[file].event_count > 0;
}

/* The step in whose range on the host MOMENT lies; NULL when it is not a sample. */
const struct measured_step *measured_step_at(const struct measuring *measuring, uint32_t file,
                                             int64_t moment_ns);

/* ---- measure_names.c ---- */

/*
 * Rows by name as HTA's comparison of traces has them: whatever has a name and a duration, on the host and on devices,
 * each from its start to its end. What ran on a device belongs to the step in which the call that launched it began.
 */
void measure_names(const struct measuring *measuring);

/* Rows by module, with what each called when INCLUSIVE. False and ERR when the trace records no modules. */
bool measure_modules(const struct measuring *measuring, bool inclusive, struct tpa_error *err);

/* ---- measure_memory.c ---- */

/* The most memory in use in each sample, of the fullest device. */
void measure_memory(const struct measuring *measuring);

/* ---- measure_facts.c ---- */

void measure_trace_facts(const struct measuring *measuring);

#endif
