/*
 * row_keys.h - what makes a row of its own, besides what a table is about: `--by stream`, `--by op` and the like.
 *
 *     static const struct table_column columns[] = { ROW_KEY_COLUMNS, { "count", ... }, ... };
 *
 *     struct row_keys *keys = row_keys_open(trace, ROWS_BY_STREAM);
 *     int64_t key = row_key_of(keys, kernel, call, op);    // equal keys: one row
 *     row_keys_show(keys, table);                          // the columns that tell rows apart
 *     row_key_set(keys, table, row, key);
 *     row_keys_free(keys);
 */
#ifndef TPA_ANALYZE_ROW_KEYS_H
#define TPA_ANALYZE_ROW_KEYS_H

#include "base/buffer.h"
#include "base/table.h"
#include "trace/trace.h"

enum rows_by {
    ROWS_BY_DEFAULT, /* nothing besides */
    ROWS_BY_RANK,
    ROWS_BY_DEVICE,
    ROWS_BY_STREAM,
    ROWS_BY_THREAD,   /* of the call */
    ROWS_BY_STEP,     /* in which the call began; without one, the work */
    ROWS_BY_OPERATOR, /* that made the call; the call where there is none */
};

/* The first columns of a table; hidden until row_keys_show. No key is one that other tables of a result have. */
enum {
    ROW_KEY_RANK,
    ROW_KEY_DEVICE,
    ROW_KEY_STREAM,
    ROW_KEY_THREAD,
    ROW_KEY_STEP,
    ROW_KEY_OPERATOR,
    ROW_KEYS
};
/* clang-format off */
#define ROW_KEY_COLUMNS \
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL }, \
    { "device", "Device", TABLE_COUNT, "number of the device", TABLE_HIDDEN, NULL }, \
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL }, \
    { "thread", "Thread", TABLE_TEXT, "number of the host thread that called, and its name", TABLE_HIDDEN, NULL }, \
    { "step", "Step", TABLE_COUNT, "number of the step; missing outside of steps", TABLE_HIDDEN, NULL }, \
    { "op", "Operator", TABLE_NAME, "the operator that launched it; the call where there is none", TABLE_HIDDEN, NULL }
/* clang-format on */

/* Add what a thread is called in tables: its number and its name. */
void row_keys_show_thread(const struct trace *trace, track_id thread, struct buffer *out);

struct row_keys;

/* New; free with row_keys_free. */
struct row_keys *row_keys_open(const struct trace *trace, enum rows_by by);
void row_keys_free(struct row_keys *keys);

/* Of WORK on a device, the CALL that launched it and the operator OP that made the call; any may be EVENT_NONE. */
int64_t row_key_of(const struct row_keys *keys, event_id work, event_id call, event_id op);

void row_keys_show(const struct row_keys *keys, struct table *table);
void row_key_set(const struct row_keys *keys, struct table *table, size_t row, int64_t key);

#endif
