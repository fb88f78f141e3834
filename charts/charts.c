/* charts.c - see charts.h. */
#include "charts/charts.h"

#define TYPE_ROW(name) &chart_type_##name,
const struct chart_type *const chart_types[] = { CHART_TYPES(TYPE_ROW) NULL };
#undef TYPE_ROW
