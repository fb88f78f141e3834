/* nsys_text.c - see nsys_text.h. */
#include "cli/nsys_text.h"

#include "analyze/nsys_reports.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *key, *title, *head;
} reports[NSYS_REPORTS] = {
    [NSYS_API] = { "cuda_api_sum", "CUDA API Summary",
                   "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" },
    [NSYS_KERNELS] = { "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary",
                       "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" },
    [NSYS_MEM_TIME] = { "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)",
                        "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation" },
    [NSYS_MEM_SIZE] = { "cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)",
                        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation" },
    [NSYS_OSRT] = { "osrt_sum", "OS Runtime Summary",
                    "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" },
    [NSYS_NVTX] = { "nvtx_sum", "NVTX Range Summary",
                    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range" },
    [NSYS_KERN_EXEC] = { "cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary",
                         "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),TMin (ns),TMax (ns),TStdDev (ns),AAvg (ns),"
                         "AMed (ns),AMin (ns),AMax (ns),AStdDev (ns),QAvg (ns),QMed (ns),QMin (ns),QMax (ns),"
                         "QStdDev (ns),KAvg (ns),KMed (ns),KMin (ns),KMax (ns),KStdDev (ns),API Name,Kernel Name" },
    [NSYS_PROJECTED] = { "nvtx_gpu_proj_sum", "NVTX GPU Projection Summary",
                         "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),"
                         "Proj Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,"
                         "Avg Range Lvl,Avg Num Child" },
};

/* VALUE with 1 decimal, or 3; ties are rounded away from zero, as SQLite does. */
static void emit_rounded(double value, int decimals, FILE *out)
{
    double scale = decimals == 1 ? 10 : 1000;
    fprintf(out, "%.*f", decimals, fabs(value) < 1e15 ? round(value * scale) / scale : value);
}

/* LEN bytes of TEXT, in quotes where CSV needs them. */
static void emit_text(const char *text, size_t len, FILE *out)
{
    bool quoted = false;
    for (size_t i = 0; i < len; i++)
        quoted |= strchr(",\"\n\r", text[i]) != NULL && text[i];
    if (quoted)
        fputc('"', out);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    if (quoted)
        fputc('"', out);
}

/* Average, median, least, greatest, deviation; of nothing a deviation of 0, as nsys has it. */
static void emit_figures(const struct nsys_figures *figures, FILE *out)
{
    if (figures->count == 0)
        fputs(",,,,0.0", out);
    else {
        emit_rounded(figures->mean, 1, out);
        fputc(',', out);
        emit_rounded(figures->median, 1, out);
        fprintf(out, ",%" PRId64 ",%" PRId64 ",", figures->least, figures->greatest);
        emit_rounded(figures->deviation, 1, out);
    }
}

static void emit_megabytes(const struct nsys_row *row, FILE *out)
{
    const double bytes[] = { (double)row->of.total,    row->of.mean,
                             row->of.median,           (double)row->of.least,
                             (double)row->of.greatest, row->of.deviation };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        emit_rounded(bytes[i] / 1e6, 3, out);
        fputc(',', out);
        if (i == 0)
            fprintf(out, "%zu,", row->of.count);
    }
}

static const char *style_of(const struct nsys_row *row)
{
    return row->start_end ? "StartEnd" : "PushPop";
}

static void emit_kern_exec(const struct nsys_row *row, FILE *out)
{
    const struct nsys_figures *const parts[] = { &row->of, &row->call, &row->queue, &row->kernel };
    fprintf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%zu,%zu,", row->pid, row->tid, row->device,
            row->of.count, row->queue.count);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        emit_figures(parts[i], out);
        fputc(',', out);
    }
    emit_text(row->second, row->second_len, out);
    fputc(',', out);
    emit_text(row->name, row->name_len, out);
}

static void emit_projected(const struct nsys_row *row, FILE *out)
{
    emit_text(row->name, row->name_len, out);
    fprintf(out, ",%s,%" PRId64 ",%" PRId64 ",%zu,", style_of(row), row->of.total, row->range_total,
            row->of.count);
    emit_figures(&row->of, out);
    const double means[] = { (double)row->operations / (double)row->of.count, row->mean_level,
                             row->mean_children };
    fprintf(out, ",%" PRId64, row->operations);
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        fputc(',', out);
        emit_rounded(means[i], 1, out);
    }
}

static void emit_row(enum nsys_report report, const struct nsys_row *row, int64_t total, FILE *out)
{
    if (report == NSYS_KERN_EXEC) {
        emit_kern_exec(row, out);
    } else if (report == NSYS_PROJECTED) {
        emit_projected(row, out);
    } else {
        if (report == NSYS_MEM_SIZE) {
            emit_megabytes(row, out);
        } else {
            emit_rounded(total ? 100.0 * (double)row->of.total / (double)total : 0.0, 1, out);
            fprintf(out, ",%" PRId64 ",%zu,", row->of.total, row->of.count);
            emit_figures(&row->of, out);
            fputc(',', out);
        }
        if (report == NSYS_NVTX)
            fprintf(out, "%s,", style_of(row));
        if (row->domain)
            fprintf(out, "%s%.*s]", row->domain, (int)row->name_len, row->name);
        else
            emit_text(row->name, row->shown_len, out);
    }
    fputc('\n', out);
}

void nsys_text_print(const struct trace *trace, FILE *out)
{
    for (int report = 0; report < NSYS_REPORTS; report++) {
        struct nsys_rows rows;
        nsys_report_open(trace, (enum nsys_report)report, &rows);
        if (rows.count)
            fprintf(out, " ** %s (%s):\n\n%s\n", reports[report].title, reports[report].key,
                    reports[report].head);
        for (size_t i = 0; i < rows.count; i++)
            emit_row((enum nsys_report)report, &rows.at[i], rows.total, out);
        if (rows.count)
            fputc('\n', out);
        nsys_rows_free(&rows);
    }
}
