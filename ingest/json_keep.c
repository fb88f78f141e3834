#include "ingest/json_text.h"

char *json_text_keep(struct trace_builder *builder, const struct json_text *text)
{
    struct buffer decoded = { 0 };
    json_text_decode(text, &decoded);
    char *kept = trace_builder_strndup(builder, decoded.at, decoded.count);
    buffer_release(&decoded);
    return kept;
}

name_id json_text_name(struct trace_builder *builder, const struct json_text *text)
{
    struct buffer decoded = { 0 };
    json_text_decode(text, &decoded);
    name_id id = trace_builder_text(builder, decoded.at, decoded.count);
    buffer_release(&decoded);
    return id;
}
