/*
 * measure_parts.h - declarations shared by the files that measure a trace; for compare/measure*.c only.
 *
 *     measure.c          keeps samples, metrics, rows and facts
 *     measure_trace.c    the samples of a trace
 *     measure_names.c    rows that tpa top does not have: unmodified names, modules
 *     measure_memory.c   peaks of memory
 *     measure_facts.c    recorded facts about a trace
 *     measure_sums.c     profiles and reports, which hold aggregates
 *     measure_result.c   saved results
 */
#ifndef TPA_DIFF_MEASURE_PARTS_H
#define TPA_DIFF_MEASURE_PARTS_H

#include "derive/device_steps.h"
#include "diff/measure.h"

/* A step that is a sample. */
struct measured_step {
    const struct device_step *step;
    int64_t start_ns, end_ns; /* of the account: as long as the step took */
    uint32_t sample;          /* in measures->by_step */
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
    uint32_t *file_sample;              /* in measures->by_file; undefined for files without events */
};

/* Is the file a sample? A file without events is no sample. */
static inline bool measured_file(const struct measuring *measuring, uint32_t file)
{
    return measuring->trace->files[file].event_count > 0;
}

/* The step whose range on the host includes MOMENT; NULL if there is none or it is not a sample. */
const struct measured_step *measured_step_at(const struct measuring *measuring, uint32_t file,
                                             int64_t moment_ns);

/* ---- measure_names.c ---- */

/* Rows by name as in HTA's trace comparison: everything with a name and a duration, on the host and on
 * devices, each from its start to its end. Work on a device belongs to the step in which the call that
 * launched it began. */
void measure_names(const struct measuring *measuring);

/* Rows by module, including callees if INCLUSIVE. False and ERR if the trace records no modules. */
bool measure_modules(const struct measuring *measuring, bool inclusive, struct tpa_error *err);

/* ---- measure_memory.c ---- */

/* The peak of memory in use in each sample, of the device with the most. */
void measure_memory(const struct measuring *measuring);

/* ---- measure_facts.c ---- */

/* Devices, versions and other facts of the trace, which tell whether two sides can be compared. */
void measure_trace_facts(const struct measuring *measuring);

#endif
