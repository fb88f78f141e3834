#include "ingest/json_text.h"

char *json_text_keep(struct trace_builder *builder, const struct json_text *text)
{
    SCOPED struct buffer decoded = { 0 };
    json_text_decode(text, &decoded);
    return trace_builder_strndup(builder, decoded.at, decoded.count);
}

name_id json_text_name(struct trace_builder *builder, const struct json_text *text)
{
    SCOPED struct buffer decoded = { 0 };
    json_text_decode(text, &decoded);
    return trace_builder_text(builder, decoded.at, decoded.count);
}
