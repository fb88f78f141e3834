/* json_keep.h - values of a JSON document that live as long as the trace. */
#ifndef TPA_INGEST_JSON_KEEP_H
#define TPA_INGEST_JSON_KEEP_H

#include "ingest/json_pull.h"
#include "trace/columns.h"

/* The characters of a string, unescaped; any other value unchanged. The trace owns the text. */
char *json_text_keep(struct trace_builder *builder, const struct json_text *text);

/* The same as an id of the trace's texts. */
name_id json_text_name(struct trace_builder *builder, const struct json_text *text);

#endif
