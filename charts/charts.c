#include "charts/charts.h"

#define TYPE_ROW(name) &chart_type_##name,
const struct chart_type *const chart_types[] = { CHART_TYPES(TYPE_ROW) NULL };
#undef TYPE_ROW

struct trace_wants chart_type_wants(const struct chart_type *type)
{
    struct trace_wants all = { 0 };
    for (size_t i = 0; i < sizeof type->wants / sizeof *type->wants && type->wants[i]; i++)
        trace_wants_join(&all, type->wants[i]);
    return all;
}
