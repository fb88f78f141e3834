/* step_name.h - how steps are called: "ProfilerStep#7" by torch.profiler, "train [step 7]" where XLA's profiler recorded
 * the number beside the name of the span. */
#ifndef TPA_TRACE_STEP_NAME_H
#define TPA_TRACE_STEP_NAME_H

#include "base/buffer.h"

/* Is NAME that of a step, and which number? */
bool step_number(const char *name, int64_t *number);

/* Append the name of step NUMBER of the span called NAME, of LEN bytes; a number that NAME ends in is not repeated. */
void step_name_add(struct buffer *text, const char *name, size_t len, int64_t number);

/* Append what the steps like NAME are called together: "ProfilerStep*", "train [step *]". False: NAME is no step's. */
bool step_name_add_all(struct buffer *text, const char *name);

/* How a step is called that only devices mark: "device [step 7]". */
#define STEP_OF_DEVICES "device"

/* Is NAME that of a step that only devices mark: from the begin of its first work to the end of its last? */
bool step_name_is_of_devices(const char *name);

/* Is NAME, of LEN bytes, that of a step or of all steps? */
bool step_name_is_mark(const char *name, size_t len);

#endif
