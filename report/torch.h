/*
 * torch.h - the text of torch's key_averages().table(), byte for byte.
 *
 * For scripts and eyes that are used to it. It is made from the table "operators" of `tpa top`, whose columns
 * `torch_*` hold the times in torch's own arithmetic.
 */
#ifndef TPA_REPORT_TORCH_H
#define TPA_REPORT_TORCH_H

#include "base/table.h"

/* The arguments of .table(), and the settings of the profiler. */
struct torch_options {
    const char *time_unit;   /* "s", "ms" or "us"; NULL: each figure its own */
    int64_t row_limit;       /* rows to print; -1: all */
    bool top_level_only;     /* top_level_events_only */
    bool profile_memory;     /* there are memory columns */
    bool with_flops;         /* there is a column of FLOPs, if any were counted */
    bool uses_device;        /* something was recorded on a device */
    const char *device_name; /* "CUDA" */
};

/* Print the rows of TABLE in their order. Rows that are not printed count for widths and totals. */
bool torch_print(const struct table *table, const struct torch_options *options, FILE *out,
                 struct tpa_error *err);

#endif
