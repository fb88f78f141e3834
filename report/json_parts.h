/* json_parts.h - the parts of a result that JSON has beside the rows, for forms that keep them as JSON. */
#ifndef TPA_REPORT_JSON_PARTS_H
#define TPA_REPORT_JSON_PARTS_H

#include "base/result.h"
#include "report/json_writer.h"
#include <stdio.h>

/* An object: the figures below TABLE by their keys. */
void json_emit_footers(struct json_writer *json, const struct table *table);

/* An array: the rows of TABLE as objects. What is written goes to OUT now and then; NULL: it stays in the text of JSON. False
 * and ERR when a write fails. */
bool json_add_rows(struct json_writer *json, const struct table *table, FILE *out, struct tpa_error *err);

/* The key "cannot_answer" and its object, if RESULT has no answer. */
void json_add_cannot(struct json_writer *json, const struct cannot_answer *cannot);

/* CELL of KIND. */
void json_emit_cell(struct json_writer *json, enum table_kind kind, const union table_cell *cell);

/* An object: NOTICE; BRIEF: without what it does not have. */
void json_emit_notice(struct json_writer *json, const struct table_notice *notice, bool brief);

/* An array: what is special about RESULT. */
void json_emit_notices(struct json_writer *json, const struct result *result);

#endif
