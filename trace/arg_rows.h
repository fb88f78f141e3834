/* arg_rows.h - what is known of each argument beside its number: how files spell it, and what its values
 * are. */
#ifndef TPA_TRACE_ARG_ROWS_H
#define TPA_TRACE_ARG_ROWS_H

#include "trace/trace.h"

/* As TRACE_ARGS explains them. */
enum arg_form { FORM_INT, FORM_DECIMAL, FORM_TEXT, FORM_JSON, FORM_BOOL };

struct arg_row {
    const char *keys; /* separated by '|'; the first names it */
    enum arg_form form;
};

extern const struct arg_row arg_rows[ARG_COUNT];

#endif
