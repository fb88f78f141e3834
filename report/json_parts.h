/*
 * json_parts.h - the parts of a result that JSON has beside the rows, for forms that keep them as JSON.
 */
#ifndef TPA_REPORT_JSON_PARTS_H
#define TPA_REPORT_JSON_PARTS_H

#include "base/result.h"
#include "report/json_writer.h"

/* An object: the figures below TABLE by their keys. */
void json_emit_footers(struct json_writer *json, const struct table *table);

/* An array: what is special about RESULT. */
void json_emit_notices(struct json_writer *json, const struct result *result);

#endif
