#include "ingest/xla_details.h"

#include "ingest/json_text.h"

/* One "key:value" of the text. */
struct detail {
    const char *key, *value, *end;
};

/* The next detail at *AT; false if there is none. */
static bool next_detail(const char **at, const char *end, struct detail *detail)
{
    while (*at < end && (**at == ' ' || **at == '\n'))
        (*at)++;
    if (*at == end)
        return false;
    detail->key = *at;
    detail->end = *at;
    while (detail->end < end && *detail->end != ' ' && *detail->end != '\n')
        detail->end++;
    const char *colon = memchr(*at, ':', (size_t)(detail->end - *at));
    detail->value = colon ? colon + 1 : detail->end;
    *at = detail->end;
    return true;
}

static bool key_is(const struct detail *detail, const char *key)
{
    size_t len = strlen(key);
    return (size_t)(detail->value - detail->key) == len + 1 && memcmp(detail->key, key, len) == 0;
}

/* The last value given counts. */
static void xla_details_describe(struct xla_details *details, enum trace_arg arg, int64_t value)
{
    size_t i = 0;
    while (i < details->count && details->at[i].arg != arg)
        i++;
    details->at[i].arg = arg;
    details->at[i].value = value;
    details->count += i == details->count;
}

/* "8,1,1" as Kineto writes it: [8,1,1]. */
static void add_extent(struct trace_chunk *chunk, struct xla_details *details, enum trace_arg arg,
                       const struct detail *detail)
{
    char text[64];
    int64_t extent;
    const char *at = detail->value;
    for (int i = 0; i < 3; i++, at++) {
        const char *number = at;
        while (at < detail->end && *at != ',')
            at++;
        if (!json_integer(number, at, &extent) || (at == detail->end) != (i == 2))
            return;
    }
    int len = snprintf(text, sizeof text, "[%.*s]", (int)(detail->end - detail->value), detail->value);
    if (len > 0 && (size_t)len < sizeof text)
        xla_details_describe(details, arg, trace_chunk_text(chunk, text, (size_t)len));
}

/* The host side of a copy determines its speed, and whether it blocks. */
static bool is_host_memory(const struct detail *detail)
{
    static const char *const kinds[] = { "pageable", "pinned", "managed" };
    size_t len = (size_t)(detail->end - detail->value);
    return ANY(i, sizeof kinds / sizeof *kinds,
               strlen(kinds[i]) == len && memcmp(kinds[i], detail->value, len) == 0);
}

/* Shared memory of a block, in bytes; AMD calls it group memory. */
static bool is_shared_memory(const struct detail *detail)
{
    return key_is(detail, "static_shared") || key_is(detail, "dynamic_shared") || key_is(detail, "shm") ||
           key_is(detail, "group_mem");
}

/* No device has more registers per thread. Older profilers of AMD's devices wrote uninitialised memory. */
enum { MOST_REGISTERS = 1024 };

void xla_details_read(struct trace_chunk *chunk, const char *text, size_t len, struct xla_details *details)
{
    details->count = 0;
    const char *end = text + len;
    struct detail detail;
    int64_t number, shared = 0;
    bool knows_shared = false, garbage = false;
    while (next_detail(&text, end, &detail)) {
        bool is_number = json_integer(detail.value, detail.end, &number);
        if (key_is(&detail, "regs") && is_number) {
            garbage = number > MOST_REGISTERS;
            if (!garbage)
                xla_details_describe(details, ARG_REGISTERS, number);
        } else if (is_shared_memory(&detail) && is_number) {
            knows_shared = !__builtin_add_overflow(shared, number, &shared);
        } else if (key_is(&detail, "grid")) {
            add_extent(chunk, details, ARG_GRID, &detail);
        } else if (key_is(&detail, "block")) {
            add_extent(chunk, details, ARG_BLOCK, &detail);
        } else if ((key_is(&detail, "size") || key_is(&detail, "num_bytes")) && is_number) {
            xla_details_describe(details, ARG_BYTES, number);
        } else if ((key_is(&detail, "kind") || key_is(&detail, "kind_src") || key_is(&detail, "kind_dst")) &&
                   is_host_memory(&detail)) {
            xla_details_describe(details, ARG_COPY_MEMORY,
                                 trace_chunk_text(chunk, detail.value, (size_t)(detail.end - detail.value)));
        }
    }
    if (knows_shared && !garbage)
        xla_details_describe(details, ARG_SHARED_MEMORY, shared);
}

void xla_details_set(struct trace_chunk *chunk, const struct xla_details *details)
{
    for (size_t i = 0; i < details->count; i++)
        trace_chunk_arg(chunk, details->at[i].arg, details->at[i].value);
}

void xla_details_add(struct trace_chunk *chunk, const char *text, size_t len)
{
    struct xla_details details;
    xla_details_read(chunk, text, len, &details);
    xla_details_set(chunk, &details);
}
