#include "trace/arg_rows.h"

const struct arg_row arg_rows[ARG_COUNT] = {
#define ARG_ROW(id, kind, keys) { keys, FORM_##kind },
    TRACE_ARGS(ARG_ROW)
#undef ARG_ROW
};
