/*
 * query.h - `tpa memory --forecast`: recordings with their sizes as written on the command line, and the tables of the answer.
 *
 *     struct forecast_query query = { .texts = forecast_texts_open() };
 *     forecast_operand(&query, "a.pickle@batch=16", &path, err), then read PATH into query.devices ...
 *     forecast_answer(&query, targets, target_count, capacity, result, err);
 *     forecast_query_release(&query);
 */
#ifndef TPA_MEMORY_FORECAST_QUERY_H
#define TPA_MEMORY_FORECAST_QUERY_H

#include "base/result.h"
#include "memory/forecast/recording.h"

/* The recordings of a device. */
struct forecast_device {
    int64_t type, id; /* as memory_device has them */
    bool is_host;
    VEC_OF(struct forecast_recording) recordings;
};

struct forecast_query {
    struct forecast_texts texts;
    const char *size_names[FORECAST_SIZES];
    size_t size_count;
    double size[FORECAST_SIZES]; /* of the operand read last; 0: not named */
    size_t operands;
    VEC_OF(struct forecast_device) devices;
    struct arena arena; /* owns names and paths */
};

/* Split OPERAND, "PATH@NAME=NUMBER,...", into its *PATH, which lives as long as QUERY, and the sizes of QUERY. False and ERR without
 * sizes, or with others than the operands before. */
bool forecast_operand(struct forecast_query *query, const char *operand, const char **path,
                      struct tpa_error *err);

/* Add what TRACE, or a SNAPSHOT, recorded of each of its devices at the sizes of the last operand. Texts are copied. */
bool forecast_add_trace(struct forecast_query *query, const struct trace *trace, const char *path,
                        struct tpa_error *err);
bool forecast_add_snapshot(struct forecast_query *query, const struct snapshot *snapshot, const char *path,
                           struct tpa_error *err);

/* Add the tables for TARGETS ("batch=48"), and what fits in CAPACITY bytes (0: not given), to RESULT. */
bool forecast_answer(struct forecast_query *query, const char *const *targets, size_t target_count,
                     int64_t capacity, struct result *result, struct tpa_error *err);
void forecast_query_release(struct forecast_query *query);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape forecast_tables[];

#endif
