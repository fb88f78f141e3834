/*
 * top.h - which operators, calls and kernels took the time: what torch's key_averages() answers, from the file.
 *
 *     struct top_options options = { .by = TOP_OPERATOR };
 *     struct trace *trace = ingest_read(..., .wants = top_wants(&options), ...);
 *     struct top *top = top_analyze(trace, &options);
 *     for (size_t i = 0; i < top->count; i++)
 *         printf("%s %" PRId64 "\n", top->at[i].name.at, top->at[i].self_cpu_ns);
 *     top_free(top);
 *
 * Every figure follows torch 2.14; docs/definitions.md says what each counts. Files are answered apart (call
 * trees, links and memory never cross from one to another) and added up in the rows.
 */
#ifndef TPA_ANALYZE_TOP_TOP_H
#define TPA_ANALYZE_TOP_TOP_H

#include "analyze/top/counts.h"

/* The order of rows, before their times. */
enum top_order {
    TOP_WORK,
    TOP_NAMES_AGAIN, /* operators that communicate: their kernels have rows of their own */
    TOP_REST,        /* without time on devices, where there is any */
    TOP_RANGES,      /* annotations on devices */
};

struct top_row {
    struct text name;        /* of the operator, call or kernel; of the place, where rows are places */
    struct text place;       /* category, device, stream or thread; "" when none makes a row */
    struct text device_type; /* "CPU", "CUDA" ...; missing where a row holds both sides */
    bool on_device, is_annotation;
    bool is_gpu_work; /* a kernel, copy or memset: neither a wait nor an annotation */
    /* What else makes a row; missing when not requested: */
    struct text shapes, overload, stack, line;
    struct group_key key;
    uint32_t file; /* by rank, its file; else that of its first event */
    int64_t count;
    int64_t
        captured; /* operations of graphs that were captured from it; missing where no capture was given */
    int64_t cpu_ns, self_cpu_ns, cpu_average_ns;          /* on the host */
    int64_t device_ns, self_device_ns, device_average_ns; /* on devices */
    double self_cpu_share, cpu_share,
        self_device_share; /* of the totals of all rows; NaN when there are none */
    int64_t cpu_bytes, self_cpu_bytes, device_bytes, self_device_bytes; /* allocated less freed */
    int64_t flops;
    /* Of its first event in torch's list: */
    bool is_async, is_top_level;
    int64_t node_id, scope; /* torch's, as far as a file tells */
    /* The times in torch's own arithmetic, in microseconds; NaN unless requested. */
    struct {
        double cpu_us, self_cpu_us, cpu_average_us, device_us, self_device_us, device_average_us;
    } as_torch;
    enum top_order order; /* set by top_sort */
};

struct top {
    const struct trace *trace;           /* borrowed */
    unsigned by;                         /* set of enum top_dimension */
    bool per_call;                       /* rows are named by operators, else by places */
    bool as_torch;                       /* the rows have torch's own figures */
    bool sorted;                         /* by top_sort; else they are in torch's order */
    VEC_OF(struct top_row);              /* those that --filter and --exclude keep */
    int64_t self_cpu_ns, self_device_ns; /* of all rows; of devices without annotations */
    const char *device_name;             /* what headings call the devices: "CUDA" */
    /* Is there anything on the host, time on devices, memory of the host, of devices, FLOPs? */
    bool has_host, has_device_time, has_memory, has_device_memory, has_flops;
    bool no_code;      /* no module, or line, is in the recorded stacks */
    uint64_t captured; /* operations of graphs that have an operator by a capture */
    struct top_counts counts;
    struct group *group; /* of the keys; NULL: no dimension of it */
    struct names *texts; /* of the rows: each once, however many have it */
};

/* What the reader must decode. */
extern const struct trace_wants top_least_wants; /* by operator alone */
struct trace_wants top_wants(const struct top_options *options);

/* New; free with top_free (NULL is allowed). Texts live as long as it and TRACE. */
struct top *top_analyze(const struct trace *trace, const struct top_options *options);
void top_free(struct top *top);

/*
 * Sort the rows as people read them first: by the time of devices, else of the host. Operators that communicate come after
 * all work, if their kernels have rows, and ranges of devices last: they are one more name of work that has a row, and a
 * range counts in no total.
 */
void top_sort(struct top *top);

/* The table "operators". New; free with table_free. */
struct table *top_table(const struct top *top);

/* What `tpa top` answers: its table and notices. New; free with result_free. */
struct result *top_result(const struct trace *trace, const struct top_options *options);

/* Say what is special about the trace and its figures. */
void top_add_notices(const struct top *top, struct result *result);

/* Add to OUT what tells rows of one name apart, as people read it. */
void top_append_detail(const struct top_row *row, struct buffer *out);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape top_tables[];

#endif
