#include "analyze/registry.h"

#define ANALYSIS_ROW(name) &analysis_##name,
const struct analysis *const analyses[] = { ANALYSES(ANALYSIS_ROW) NULL };
#undef ANALYSIS_ROW
