#include "cli/convert/parts.h"

#include "trace/arg_rows.h"

static bool is_event_column(const char *key, size_t len)
{
    for (const char *at = CONVERT_EVENT_COLUMNS; *at; at += *at == ',') {
        size_t own = strcspn(at, ",");
        if (own == len && memcmp(at, key, len) == 0)
            return true;
        at += own;
    }
    return false;
}

void convert_add_arg_column(struct buffer *out, enum trace_arg arg)
{
    const char *keys = arg_rows[arg].keys;
    size_t len = strcspn(keys, "|");
    if (is_event_column(keys, len))
        buffer_puts(out, "args.");
    buffer_add(out, keys, len);
}
