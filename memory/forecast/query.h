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

/* What forecast_answer and forecast_draw do first: keep the devices that all recordings have. False and ERR if there are fewer than
 * two recordings, or no such device. */
bool forecast_prepare(struct forecast_query *query, struct tpa_error *err);

/* The sizes of TEXT, "batch=48". False and ERR if the recordings do not tell how memory grows with one of them. */
bool forecast_read_target(struct forecast_query *query, const char *text, double target[FORECAST_SIZES],
                          struct tpa_error *err);

/* The sizes, as of --forecast, of FACTOR times the largest recording in the first size that varies, the others as there; NULL if none varies. After
 * forecast_prepare; lives as long as QUERY. */
const char *forecast_larger(struct forecast_query *query, double factor);

/* Do the recordings of DEVICE differ in size NUMBER? */
bool forecast_size_varies(const struct forecast_device *device, size_t number);

/* The largest whole value of size NUMBER for which reserved (without an allocator, the peak) is at most CAPACITY, the others as in SIZES; 0:
 * none. */
int64_t forecast_largest(const struct forecast_device *device, const double *sizes, size_t number,
                         int64_t capacity);

void forecast_query_release(struct forecast_query *query);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape forecast_tables[];

#endif
