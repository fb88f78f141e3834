/* format.c - the Chrome trace format: who writes it, and how it is distinguished from other files. */
#define _GNU_SOURCE /* memmem */
#include "ingest/chrome/draft.h"

#include "ingest/json_text.h"

/* The first byte that is neither blank, comma nor byte order mark; LEN when there is none. */
static size_t first_byte(const char *bytes, size_t len)
{
    size_t at = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    at = json_behind_blanks(bytes, len, at);
    return at;
}

static size_t skip(const char *bytes, size_t len, size_t at)
{
    while (at < len && (json_is_blank(bytes[at]) || bytes[at] == ','))
        at++;
    return at;
}

/* Keys that stand near the beginning of a trace, and hardly in any other JSON. */
static bool has_telling_key(const char *bytes, size_t len)
{
    static const char *const keys[] = { "\"traceEvents\"",      "\"ph\"",          "\"schemaVersion\"",
                                        "\"deviceProperties\"", "\"stackFrames\"", "\"displayTimeUnit\"",
                                        "\"systemTraceEvents\"" };
    return ANY(i, sizeof keys / sizeof *keys, memmem(bytes, len, keys[i], strlen(keys[i])));
}

/* Any object, and any array of objects, may be a trace; one that looks like a trace surely is. */
static int sniff_chrome(const char *bytes, size_t len)
{
    size_t at = first_byte(bytes, len);
    if (at == len || (bytes[at] != '{' && bytes[at] != '['))
        return 0;
    char bracket = bytes[at];
    at = skip(bytes, len, at + 1);
    const char *follows = bracket == '[' ? "{]" : "\"}";
    if (at < len && !memchr(follows, bytes[at], 2))
        return 0;
    return has_telling_key(bytes, len) ? 90 : 30;
}

static bool read_chrome(struct source *source, struct trace_builder *builder,
                        const struct ingest_options *options, struct tpa_error *err)
{
    const char *head;
    size_t len = source_peek(source, &head, err);
    const struct dialect *dialect = dialect_find(head, len);
    bool ok = dialect ? draft_read(dialect, source, builder, options, err)
                      : chrome_read_windows(source, builder, options, NULL, err);
    if (ok)
        chrome_split_files(builder);
    return ok;
}

const struct format format_chrome = {
    .name = "Chrome JSON",
    .description = "PyTorch (Kineto), TensorFlow, JAX, VizTracer, Chrome: trace events as JSON",
    .sniff = sniff_chrome,
    .read = read_chrome,
};
