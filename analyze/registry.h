/*
 * registry.h - all analyses, in the order in which `tpa help` and the report list them.
 *
 * An analysis is one file that ends in `const struct analysis analysis_NAME`, and one row here.
 */
#ifndef TPA_ANALYZE_REGISTRY_H
#define TPA_ANALYZE_REGISTRY_H

#include "analyze/analysis.h"

/* clang-format off */
#define ANALYSES(ROW) \
    ROW(modules) \
    ROW(gpu) \
    ROW(steps) \
    ROW(gaps) \
    ROW(transfers) \
    ROW(comm) \
    ROW(launches) \
    ROW(sequences) \
    ROW(latency) \
    ROW(kernels) \
    ROW(roofline)
/* clang-format on */

#define DECLARE_ANALYSIS(name) extern const struct analysis analysis_##name;
ANALYSES(DECLARE_ANALYSIS)
#undef DECLARE_ANALYSIS

extern const struct analysis *const analyses[]; /* ends in NULL */

#endif
