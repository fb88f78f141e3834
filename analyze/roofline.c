/* roofline_calls.c finds the calls, their costs and their work; here they are aggregated to rows, devices and
 * steps. */
#include "analyze/roofline.h"

#include "analyze/account.h"
#include "base/rows.h"
#include "base/sum.h"
#include "derive/features.h"
#include "derive/gpu_names.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>

const struct trace_wants roofline_wants = {
    .args = GPU_EVENTS_WANTS | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(INPUT_STRIDES) |
            WANT(CONCRETE_INPUTS) | WANT(FLOPS) | WANT(BYTES_ACCESSED),
};

/* clang-format off */
static const struct table_column row_columns[] = {
    COLUMN(struct roofline_row, name, "name", "Operator", TABLE_NAME, "the operator", .flags = TABLE_IF_ANY),
    GROUP_COLUMNS(struct roofline_row, key),
    COLUMN(struct roofline_row, shapes, "shapes", "Shapes", TABLE_TEXT, "sizes of its inputs", .flags = TABLE_IF_ANY),
    COLUMN(struct roofline_row, types, "types", "Types", TABLE_TEXT, "types of their elements", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_row, count, "count", "Calls", TABLE_TALLY, "how often it was called"),
    COLUMN(struct roofline_row, time_ns, "time", "Time", TABLE_NS, "device work launched in it, but not in a modelled operator within it; durations added up"),
    COLUMN(struct roofline_row, share, "share", "Of peak", TABLE_SHARE, "time at the peak as a share of its time; above 100 % a cache served it, or the count is wrong"),
    COLUMN(struct roofline_row, won_ns, "won", "Saving", TABLE_NS, "by how much its time would be less at the peak", .aliases = "saving"),
    COLUMN(struct roofline_row, bound, "bound", "Bound by", TABLE_TEXT, "what would take longer at the peak: compute or memory"),
    COLUMN(struct roofline_row, flops, "flops", "FLOPs", TABLE_FLOPS, "floating-point operations of all calls", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_row, bytes, "bytes", "Bytes", TABLE_BYTES, "what all calls must at least move: inputs read once, output written once", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_row, tflops, "tflops", "TFLOP/s", TABLE_NUMBER, "10^12 operations per second of its time"),
    COLUMN(struct roofline_row, tbs, "tbs", "TB/s", TABLE_NUMBER, "10^12 bytes per second of its time"),
    COLUMN(struct roofline_row, intensity, "intensity", "FLOP/B", TABLE_NUMBER, "operations for each byte"),
    COLUMN(struct roofline_row, units, "units", "Units", TABLE_TEXT, "whose peak it is held to: type, and matrix or vector units; missing where its calls differ in that", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_row, at_peak_ns, "at_peak", "At the peak", TABLE_NS, "how long it would take at the peak", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_row, launching, "launching", "Launching", TABLE_COUNT, "calls that launched device work themselves", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_row, above, "above_peak", "Above the peak", TABLE_BOOL, "is it faster than the peak?", .flags = TABLE_OPTIONAL),
};

static const struct table_column device_columns[] = {
    COLUMN(struct roofline_device, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_device, device, "device", "Device", TABLE_COUNT, "number of the device"),
    COLUMN(struct roofline_device, name, "device_name", "Name", TABLE_NAME, "what the file calls it", .flags = TABLE_IF_ANY),
    COLUMN(struct roofline_device, time_ns, "device_time", "Device time", TABLE_NS, "durations of all its work added up"),
    COLUMN(struct roofline_device, modelled_ns, "modelled_time", "Modelled", TABLE_NS, "of it, work launched in modelled operators"),
    COLUMN(struct roofline_device, modelled, "modelled", "Of it", TABLE_SHARE, "the same as a share of the device time"),
    COLUMN(struct roofline_device, share, "share", "Of peak", TABLE_SHARE, "of the modelled time: how long it would take at the peak"),
    COLUMN(struct roofline_device, won_ns, "won", "Saving", TABLE_NS, "how much less the modelled time would be at the peak", .aliases = "saving"),
    COLUMN(struct roofline_device, slow, "slow", "Below 20 %", TABLE_SHARE, "share of the device time in calls that run below 20 % of what the device could"),
    COLUMN(struct roofline_device, slow_ns, "slow_time", "Slow time", TABLE_NS, "the same as a time", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_device, rated_ns, "rated_time", "Rated", TABLE_NS, "of the modelled time, where the peak is known", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_device, at_peak_ns, "at_peak", "At the peak", TABLE_NS, "how long the rated time would be at the peak", .flags = TABLE_OPTIONAL),
};

static const struct table_column step_columns[] = {
    COLUMN(struct roofline_step, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_step, step, "step", "Step", TABLE_COUNT, "number of the step; missing: the whole recording", .flags = TABLE_IF_ANY),
    COLUMN(struct roofline_step, duration_ns, "duration", "Duration", TABLE_NS, "the host step, or the device step where devices fall behind, as in tpa steps; of a recording from the first device work to the last"),
    COLUMN(struct roofline_step, devices, "devices", "Devices", TABLE_COUNT, "devices of the rank", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_step, model_flops, "model_flops", "Model FLOPs", TABLE_FLOPS, "operations of matrix products, convolutions and attention, without what is recomputed"),
    COLUMN(struct roofline_step, flops, "flops", "FLOPs", TABLE_FLOPS, "the same with what is recomputed"),
    COLUMN(struct roofline_step, mfu, "mfu", "MFU", TABLE_SHARE, "model FLOPs utilisation: time of the model FLOPs at the peak of their types, as a share of the duration"),
    COLUMN(struct roofline_step, at_least, "mfu_at_least", "At least", TABLE_BOOL, "less than 90 % of the time of matrix products, convolutions and attention is modelled: MFU and HFU are lower bounds", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_step, modelled, "products_modelled", "Modelled", TABLE_SHARE, "share of the device time of matrix products, convolutions and attention whose operations are known", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_step, hfu, "hfu", "HFU", TABLE_SHARE, "hardware FLOPs utilisation: the same of all that was executed"),
};

static const struct table_column rest_columns[] = {
    COLUMN(struct roofline_rest, name, "name", "Operator", TABLE_NAME, "the operator; else the call, else the kernel"),
    COLUMN(struct roofline_rest, count, "works", "Operations", TABLE_TALLY, "kernels, copies and memsets", .aliases = "operations"),
    COLUMN(struct roofline_rest, time_ns, "time", "Time", TABLE_NS, "their durations added up"),
    COLUMN(struct roofline_rest, share, "share", "Of the device time", TABLE_SHARE, "the same as a share"),
    COLUMN(struct roofline_rest, why, "why", "Why", TABLE_TEXT, "what the model of the operator lacks; missing: there is none", .flags = TABLE_IF_ANY),
};

static const struct table_column peak_columns[] = {
    COLUMN(struct roofline_peak, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct roofline_peak, device, "device", "Device", TABLE_COUNT, "number of the device"),
    COLUMN(struct roofline_peak, name, "device_name", "Name", TABLE_NAME, "what the file calls it", .flags = TABLE_IF_ANY),
    COLUMN(struct roofline_peak, rate, "rate", "Peak of", TABLE_TEXT, "type of the elements; hbm: bandwidth of the memory"),
    COLUMN(struct roofline_peak, per_second, "per_second", "T per second", TABLE_NUMBER, "10^12 operations, or bytes, per second; dense"),
    COLUMN(struct roofline_peak, source, "source", "Source", TABLE_TEXT, "who says so"),
};
/* clang-format on */

static struct text kept(struct roofline *roofline, struct buffer *text)
{
    struct text copy = { arena_strndup(arena_of(roofline), text->at ? text->at : "", text->count),
                         text->count };
    buffer_release(text);
    return copy;
}

/* ---- peaks ---- */

/* The name of DEVICE; if the file does not number its devices in this way, the first known one. */
static const char *device_name(const struct trace *trace, const struct gpu_device *device)
{
    if (device->properties && device->properties->name && device->properties->name[0])
        return device->properties->name;
    const struct trace_file *file = &trace->files[device->file];
    struct device_peaks peaks;
    for (size_t d = 0; d < file->devices.count; d++)
        if (device_peaks_find(file->devices.at[d].name, &peaks))
            return file->devices.at[d].name;
    return NULL;
}

/* By device: its row, which the cycles of a rank have in common. New; free with free(). */
static uint32_t *rows_of_devices(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    uint32_t *rows = mem_alloc(mem_times(gpu->device_count + 1, sizeof *rows));
    SCOPED_OBJECT struct names *seen = names_open();
    for (size_t d = 0; d < gpu->device_count; d++) {
        int64_t key[] = { selection_rank(trace, gpu->devices[d].file), gpu->devices[d].id };
        rows[d] = names_add(seen, (const char *)key, sizeof key);
    }
    return rows;
}

/* The peaks of each device: the rates that calls are compared with, and the bandwidth. */
static void list_peaks(struct roofline *roofline, const struct device_peaks *override)
{
    const struct gpu_events *gpu = gpu_events_of(roofline->trace);
    SCOPED bool *used = mem_zalloc((gpu->device_count + 1) * (PEAK_RATES + 1), sizeof *used); /* by row */
    uint32_t *rows = rows_of_devices(roofline->trace), listed = 0;
    FOR_EACH(call, &roofline->calls) {
        roofline->rate_ns[call->rate] += call->time_ns;
        if (call->operations)
            used[(size_t)rows[roofline_device(gpu, call)] * (PEAK_RATES + 1) + call->rate] = true;
    }
    for (size_t d = 0; d < gpu->device_count; d++) {
        if (rows[d] < listed)
            continue;
        listed++;
        const struct device_peaks *peaks = &roofline->calls.peaks[d];
        const char *name = device_name(roofline->trace, &gpu->devices[d]);
        for (size_t r = 0; r <= PEAK_RATES; r++) {
            bool hbm = r == PEAK_RATES;
            double rate = hbm ? peaks->bandwidth : peaks->flops[r];
            bool given = override && (hbm ? override->bandwidth : override->flops[r]) > 0;
            if (rate > 0 && (hbm || used[(size_t)rows[d] * (PEAK_RATES + 1) + r]))
                *VEC_PUSH(&roofline->peaks) = (struct roofline_peak){
                    .rank = selection_rank(roofline->trace, gpu->devices[d].file),
                    .device = gpu->devices[d].id,
                    .name = as_text(name),
                    .rate = as_text(hbm ? "hbm" : peak_rate_name((enum peak_rate)r)),
                    .per_second = rate / 1e12,
                    .source = as_text(given ? "--peak" : peaks->source),
                };
        }
    }
    free(rows);
}

static void find_peaks(struct roofline *roofline, const struct device_peaks *override)
{
    const struct gpu_events *gpu = gpu_events_of(roofline->trace);
    roofline->calls.peaks = mem_zalloc(gpu->device_count + 1, sizeof *roofline->calls.peaks);
    for (size_t d = 0; d < gpu->device_count; d++) {
        struct device_peaks *peaks = &roofline->calls.peaks[d];
        device_peaks_find(device_name(roofline->trace, &gpu->devices[d]), peaks);
        for (size_t r = 0; override && r < PEAK_RATES; r++)
            peaks->flops[r] = override->flops[r] > 0 ? override->flops[r] : peaks->flops[r];
        if (override && override->bandwidth > 0)
            peaks->bandwidth = override->bandwidth;
    }
}

/* ---- rows ---- */

/* A row under construction. */
struct row_sums {
    int64_t flops, bytes; /* of calls with work */
    double compute_ns, memory_ns;
    bool rated; /* the time at the peak of all calls with work is known */
    int units;  /* of all calls: as units_kind */
};

/* The kind of the peak of CALL: -1 for memory, or an enum peak_rate. */
static int units_kind(const struct roofline_call *call)
{
    return call->class == OP_MOVE || call->class == OP_FUSED ? -1 : (int)call->rate;
}

/* The same for people: "bf16 matrix". */
static struct text units_of(struct roofline *roofline, const struct roofline_call *call)
{
    if (units_kind(call) < 0)
        return as_text("memory");
    const char *rate = peak_rate_name(call->rate);
    if (!rate)
        return (struct text){ NULL, 0 };
    bool matrix = call->rate < PEAK_FP32;
    struct buffer text = { 0 };
    buffer_printf(&text, "%.*s %s", (int)strcspn(rate, "_"), rate, matrix ? "matrix" : "vector");
    return kept(roofline, &text);
}

/* ["float", "Scalar"], as JSON. */
static struct text types_text(struct roofline *roofline, name_id types)
{
    if (types == NAME_NONE)
        return (struct text){ NULL, 0 };
    struct buffer text = { 0 };
    struct text element;
    const char *at = roofline_text(roofline->trace, types);
    while (list_next(&at, &element)) {
        buffer_puts(&text, text.count ? ", " : "[");
        buffer_add(&text, element.at, element.len);
    }
    buffer_puts(&text, text.count ? "]" : "[]");
    return kept(roofline, &text);
}

static struct text shapes_text(struct roofline *roofline, name_id dims)
{
    struct buffer text = { 0 };
    if (dims == NAME_NONE)
        return (struct text){ NULL, 0 };
    shapes_append(&text, roofline_text(roofline->trace, dims));
    return kept(roofline, &text);
}

static struct roofline_row new_row(struct roofline *roofline, const struct roofline_call *call, unsigned by,
                                   uint32_t group)
{
    struct roofline_row row = { .key = group_key(roofline->group, group),
                                .tflops = NAN,
                                .tbs = NAN,
                                .intensity = NAN,
                                .share = NAN,
                                .at_peak_ns = 0 };
    if (by & BY(OP))
        row.name = as_text(roofline_name(roofline->trace, call->name));
    if (by & BY(SHAPE)) {
        row.shapes = shapes_text(roofline, call->dims);
        row.types = types_text(roofline, call->types);
    }
    row.units = units_of(roofline, call);
    return row;
}

static int64_t rounded_ns(double ns)
{
    return ns < 9e18 ? llround(ns) : INT64_MAX;
}

/* SUM plus VALUE, missing if any value is. */
static void add_or_miss(int64_t *sum, int64_t value)
{
    if (value == OP_UNKNOWN || *sum == TABLE_INT_MISSING)
        *sum = TABLE_INT_MISSING;
    else
        sum_add(sum, value);
}

static void add_call(struct roofline_row *row, struct row_sums *sums, const struct roofline_call *call,
                     bool on_device)
{
    row->count++;
    row->launching += call->operations > 0;
    row->time_ns += call->time_ns;
    add_or_miss(&row->flops, call->cost->flops);
    add_or_miss(&row->bytes, call->cost->bytes);
    if (on_device && call->operations == 0)
        return;
    add_or_miss(&sums->flops, call->cost->flops);
    add_or_miss(&sums->bytes, call->cost->bytes);
    double at_peak_ns = roofline_at_peak_ns(call);
    if (isnan(at_peak_ns)) {
        sums->rated = false;
        return;
    }
    int64_t whole_ns = rounded_ns(at_peak_ns);
    sum_add(&row->at_peak_ns, whole_ns);
    row->won_ns += whole_ns < call->time_ns ? call->time_ns - whole_ns : 0;
    sums->compute_ns += call->compute_ns;
    sums->memory_ns += call->memory_ns;
}

static void finish_row(struct roofline_row *row, const struct row_sums *sums)
{
    double time_ns = (double)row->time_ns;
    if (row->time_ns > 0 && sums->flops != TABLE_INT_MISSING)
        row->tflops = (double)sums->flops / time_ns / 1e3;
    if (row->time_ns > 0 && sums->bytes != TABLE_INT_MISSING)
        row->tbs = (double)sums->bytes / time_ns / 1e3;
    if (row->flops != TABLE_INT_MISSING && row->bytes != TABLE_INT_MISSING && row->bytes > 0 &&
        row->flops > 0)
        row->intensity = (double)row->flops / (double)row->bytes;
    if (!sums->rated || row->time_ns == 0) {
        row->at_peak_ns = row->won_ns = TABLE_INT_MISSING;
        return;
    }
    row->share = (double)row->at_peak_ns / time_ns;
    row->above = row->share > 1;
    if (sums->compute_ns > 0 || sums->memory_ns > 0)
        row->bound = as_text(sums->compute_ns > sums->memory_ns ? "compute" : "memory");
}

static const struct key by_time[] = { DESC(struct roofline_row, time_ns), KEY_END };

/* Is CALL in SELECTION? */
static bool is_selected(const struct roofline *roofline, const struct selection *selection,
                        const struct roofline_call *call)
{
    if (call->joined || !roofline_holds_name(&roofline->calls, selection, call))
        return false;
    return call->operations > 0 || (!selection->tracks && selection_holds_place(selection, call->op));
}

static void roofline_find_rows(struct roofline *roofline, const struct selection *selection, unsigned by)
{
    SCOPED_OBJECT struct names *keys = names_open();
    SCOPED VEC_OF(struct row_sums) sums = { 0 };
    FOR_EACH(call, &roofline->calls) {
        if (!is_selected(roofline, selection, call))
            continue;
        uint32_t key[4] = { group_of(roofline->group, call->work, call->call, call->op), 0, 0, 0 };
        if (by & BY(OP))
            key[1] = call->name;
        if (by & BY(SHAPE)) {
            key[2] = call->dims;
            key[3] = call->types;
        }
        name_id row = names_add(keys, (const char *)key, sizeof key);
        if (row == roofline->rows.count) {
            *VEC_PUSH(&roofline->rows) = new_row(roofline, call, by, key[0]);
            *VEC_PUSH(&sums) =
                (struct row_sums){ .rated = roofline->calls.on_device, .units = units_kind(call) };
        }
        assert(roofline->rows.at && sums.at);
        if (sums.at[row].units != units_kind(call))
            roofline->rows.at[row].units = (struct text){ NULL, 0 };
        add_call(&roofline->rows.at[row], &sums.at[row], call, roofline->calls.on_device);
    }
    assert(roofline->rows.count == sums.count);
    for (size_t i = 0; i < sums.count; i++)
        finish_row(&roofline->rows.at[i], &sums.at[i]);
    SORT(&roofline->rows, by_time);
}

/* ---- devices, and work that is not modelled ---- */

/* Times at the peak of a device under construction: calls that launch on several devices are divided by the time of
 * their work. */
struct device_sums {
    double at_peak_ns, won_ns;
};

static void add_to_device(struct roofline_device *device, struct device_sums *sums,
                          const struct roofline_call *call, int64_t work_ns)
{
    double at_peak_ns = roofline_at_peak_ns(call);
    device->modelled_ns += work_ns;
    if (isnan(at_peak_ns))
        return;
    double part = call->time_ns > 0 ? (double)work_ns / (double)call->time_ns : 0;
    double whole_ns = (double)rounded_ns(at_peak_ns);
    device->rated_ns += work_ns;
    device->slow_ns += roofline_is_below(call, ROOFLINE_SLOW) ? work_ns : 0;
    sums->at_peak_ns += whole_ns * part;
    sums->won_ns += fmax(0, (double)call->time_ns - whole_ns) * part;
}

static void finish_devices(struct roofline *roofline, const struct device_sums *sums)
{
    for (size_t d = 0; d < roofline->devices.count; d++) {
        struct roofline_device *device = &roofline->devices.at[d];
        roofline->time_ns += device->time_ns;
        roofline->modelled_ns += device->modelled_ns;
        device->modelled = device->slow = device->share = NAN;
        if (device->time_ns > 0)
            device->modelled = (double)device->modelled_ns / (double)device->time_ns;
        if (device->rated_ns > 0) {
            device->at_peak_ns = rounded_ns(sums[d].at_peak_ns);
            device->won_ns = rounded_ns(sums[d].won_ns);
            device->share = (double)device->at_peak_ns / (double)device->rated_ns;
            device->slow = (double)device->slow_ns / (double)device->time_ns;
        } else {
            device->at_peak_ns = device->won_ns = device->slow_ns = TABLE_INT_MISSING;
        }
    }
}

static const struct key by_time_[] = { DESC(struct roofline_rest, time_ns), KEY_END };

/* Add up the work of SELECTION on each device; work not launched by a modelled operator goes to the rest. */
static void find_devices(struct roofline *roofline, const struct selection *selection)
{
    const struct trace *trace = roofline->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    const struct graph_links *links = graph_links_of(trace);
    size_t names = names_count(trace->names) + (links ? names_count(links->bodies->texts) : 0);
    uint32_t *place = mem_zalloc(names + 1, sizeof *place); /* by name: 1 + index of its rest */
    struct device_sums *sums = mem_zalloc(gpu->device_count + 1, sizeof *sums);
    uint32_t *rows = rows_of_devices(trace);
    for (size_t d = 0; d < gpu->device_count; d++) {
        const char *name = device_name(trace, &gpu->devices[d]);
        if (rows[d] < roofline->devices.count)
            continue;
        *VEC_PUSH(&roofline->devices) =
            (struct roofline_device){ .rank = selection_rank(trace, gpu->devices[d].file),
                                      .device = gpu->devices[d].id,
                                      .name = as_text(name) };
    }
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        if (!selection_holds_launched(selection, e, gpu->call[i]))
            continue;
        uint32_t d = rows[gpu->device_of_track[trace->track[e]]], call = roofline->calls.of_work[i];
        int64_t time_ns = trace_dur_ns(trace, e);
        roofline->devices.at[d].time_ns += time_ns;
        if (call) {
            add_to_device(&roofline->devices.at[d], &sums[d], &roofline->calls.at[call - 1], time_ns);
            continue;
        }
        name_id name = roofline_name_of_work(trace, links, e, gpu->call[i], gpu->op[i]);
        if (place[name] == 0) {
            *VEC_PUSH(&roofline->rest) =
                (struct roofline_rest){ .name = as_text(roofline_name(trace, name)),
                                        .why = as_text(op_model_lacks(roofline_name(trace, name))) };
            place[name] = (uint32_t)roofline->rest.count;
        }
        struct roofline_rest *rest = &roofline->rest.at[place[name] - 1];
        rest->count++;
        rest->time_ns += time_ns;
    }
    finish_devices(roofline, sums);
    EACH(free, place, sums, rows);
    for (size_t i = 0; i < roofline->rest.count; i++)
        roofline->rest.at[i].share =
            roofline->time_ns > 0 ? (double)roofline->rest.at[i].time_ns / (double)roofline->time_ns : NAN;
    SORT(&roofline->rest, by_time_);
}

/* ---- steps ---- */

/* A step under construction: times at the peak. */
struct step_sums {
    double ns, model_ns;
    int64_t first_ns, last_ns; /* of its work, if it is a whole recording */
    bool any;
    int64_t modelled_ns; /* of the products */
};

/* Add the matrix operations of CALL to STEP. */
static void add_to_step(const struct trace *trace, struct roofline_step *step, struct step_sums *sums,
                        const struct roofline_call *call)
{
    int64_t end_ns = trace_end_ns(trace, call->work);
    sums->first_ns = sums->any && sums->first_ns < trace_start_ns(trace, call->work)
                         ? sums->first_ns
                         : trace_start_ns(trace, call->work);
    sums->last_ns = sums->any && sums->last_ns > end_ns ? sums->last_ns : end_ns;
    sums->any = true;
    if (call->class != OP_MATRIX || call->covers || call->cost->flops == OP_UNKNOWN || call->cost->flops == 0)
        return;
    int64_t model = call->recomputed ? 0 : call->cost->flops - call->cost->recomputed;
    sum_add(&step->flops, call->cost->flops);
    sum_add(&step->model_flops, model);
    sums->ns += call->compute_ns;
    sums->model_ns += call->compute_ns * ((double)model / (double)call->cost->flops);
}

static void finish_step(struct roofline_step *step, const struct step_sums *sums)
{
    const double enough = 0.9, too_little = 0.5;
    double whole_ns = (double)step->duration_ns * (double)step->devices;
    step->hfu = step->mfu = step->modelled = NAN;
    if (step->products_ns > 0)
        step->modelled = (double)sums->modelled_ns / (double)step->products_ns;
    step->at_least = step->modelled < enough;
    if (step->duration_ns > 0 && step->flops > 0 && !(step->modelled < too_little)) {
        step->hfu = sums->ns / whole_ns;
        step->mfu = sums->model_ns / whole_ns;
    }
}

/* From the first to the last work of FILE in SELECTION. */
static struct interval recording_of(const struct gpu_events *gpu, const struct selection *selection,
                                    uint32_t file)
{
    struct interval span = { INT64_MAX, INT64_MIN };
    for (size_t d = 0; d < gpu->device_count; d++)
        for (size_t i = 0; gpu->devices[d].file == file && i < gpu->devices[d].count; i++) {
            event_id e = gpu->event[gpu->devices[d].first + i];
            if (!selection_holds_launched(selection, e, gpu->call[gpu->devices[d].first + i]))
                continue;
            int64_t start_ns = trace_start_ns(gpu->trace, e), end_ns = trace_end_ns(gpu->trace, e);
            span.start_ns = start_ns < span.start_ns ? start_ns : span.start_ns;
            span.end_ns = end_ns > span.end_ns ? end_ns : span.end_ns;
        }
    return span;
}

static bool is_whole(const struct selection *selection, const struct step *step, int64_t end_ns)
{
    return (!selection->files || selection->files[step->file]) && end_ns > step->start_ns &&
           selection_holds_time(selection, step->file, step->start_ns) &&
           selection_holds_time(selection, step->file, end_ns - 1);
}

/* One for each step; for files without steps, one for the recording. OF_FILE: by file, that recording; OF_STEP: by
 * step. */
static void open_steps(struct roofline *roofline, const struct selection *selection, size_t *of_file,
                       size_t *of_step)
{
    const struct trace *trace = roofline->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    const struct step_list *steps = step_list_of(trace);
    const struct account *account = account_of(trace);
    size_t next = 0; /* of the account, whose steps are in the same order */
    SCOPED bool *has_steps = mem_zalloc(trace->file_count + 1, sizeof *has_steps);
    SCOPED int64_t *devices = mem_zalloc(trace->file_count + 1, sizeof *devices);
    for (size_t d = 0; d < gpu->device_count; d++)
        devices[gpu->devices[d].file]++;
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->at[s];
        int64_t end_ns = step_list_end_ns(steps, s);
        has_steps[step->file] = true;
        of_step[s] = SIZE_MAX;
        bool counted = next < account->steps.count && account->steps.at[next].event == step->event;
        int64_t duration_ns =
            counted ? account_step_time(account, &account->steps.at[next++]) : end_ns - step->start_ns;
        if (devices[step->file] == 0 || !is_whole(selection, step, end_ns))
            continue;
        of_step[s] = roofline->steps.count;
        *VEC_PUSH(&roofline->steps) = (struct roofline_step){ .rank = selection_rank(trace, step->file),
                                                              .step = step->number,
                                                              .devices = devices[step->file],
                                                              .duration_ns = duration_ns };
    }
    for (uint32_t file = 0; file < trace->file_count; file++) {
        of_file[file] = SIZE_MAX;
        if (has_steps[file])
            continue;
        struct interval span = recording_of(gpu, selection, file);
        if (span.end_ns <= span.start_ns)
            continue;
        of_file[file] = roofline->steps.count;
        *VEC_PUSH(&roofline->steps) = (struct roofline_step){ .rank = selection_rank(trace, file),
                                                              .step = TABLE_INT_MISSING,
                                                              .devices = devices[file],
                                                              .duration_ns = span.end_ns - span.start_ns };
    }
}

/* The row of what LAUNCH launched; SIZE_MAX: there is none. LAST: the step of the launch before, mostly the same; NULL at first. */
static size_t step_of_launch(const struct trace *trace, const struct step_list *steps, const size_t *of_file,
                             const size_t *of_step, event_id launch, const struct step **last)
{
    uint32_t file = trace->tracks[trace->track[launch]].file;
    int64_t ns = trace_start_ns(trace, launch);
    if (!*last || (*last)->file != file || ns < (*last)->start_ns || ns >= (*last)->end_ns)
        *last = step_list_at(steps, file, ns);
    return *last ? of_step[*last - steps->at] : of_file[file];
}

/* Does work I of GPU multiply matrices, by its name or its operator's? KNOWN: by name, 0 at first. */
static bool is_product(const struct gpu_events *gpu, size_t i, uint8_t *known)
{
    enum { NO = 1, YES };
    const struct trace *trace = gpu->trace;
    event_id named[] = { gpu->event[i], gpu->op[i] };
    if (!gpu_work_is_kernel(gpu->work[i]) || gpu_work_communicates(gpu->work[i]))
        return false;
    for (size_t k = 0; k < 2; k++) {
        if (named[k] == EVENT_NONE)
            continue;
        uint8_t *answer = &known[trace->name[named[k]]];
        if (*answer == 0)
            *answer = (k == 0 ? kernel_is_product(trace_name(trace, named[k]))
                              : operator_is_product(trace_name(trace, named[k])))
                          ? YES
                          : NO;
        if (*answer == YES)
            return true;
    }
    return false;
}

/* How much of the products of each step is modelled. */
static void add_products(struct roofline *roofline, const struct step_list *steps, const size_t *of_file,
                         const size_t *of_step, struct step_sums *sums)
{
    const struct trace *trace = roofline->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    SCOPED uint8_t *known = mem_zalloc(names_count(trace->names) + 1, 1);
    const struct step *last = NULL;
    for (size_t i = 0; i < gpu->count; i++) {
        uint32_t place = roofline->calls.of_work[i];
        const struct roofline_call *call = place ? &roofline->calls.at[place - 1] : NULL;
        bool is_modelled = call && call->class == OP_MATRIX && call->cost->flops != OP_UNKNOWN;
        if (!is_modelled && !is_product(gpu, i, known))
            continue;
        size_t at = step_of_launch(trace, steps, of_file, of_step,
                                   gpu->call[i] == EVENT_NONE ? gpu->event[i] : gpu->call[i], &last);
        if (at == SIZE_MAX)
            continue;
        int64_t time_ns = trace_dur_ns(trace, gpu->event[i]);
        sum_add(&roofline->steps.at[at].products_ns, time_ns);
        sum_add(&sums[at].modelled_ns, is_modelled ? time_ns : 0);
    }
}

static void find_steps(struct roofline *roofline, const struct selection *selection)
{
    const struct trace *trace = roofline->trace;
    const struct step_list *steps = step_list_of(trace);
    SCOPED size_t *of_file = mem_zalloc(trace->file_count + 1, sizeof *of_file);
    SCOPED size_t *of_step = mem_zalloc(steps->count + 1, sizeof *of_step);
    open_steps(roofline, selection, of_file, of_step);
    SCOPED struct step_sums *sums = mem_zalloc(roofline->steps.count + 1, sizeof *sums);
    const struct step *last = NULL;
    FOR_EACH(call, &roofline->calls) {
        if (call->operations == 0)
            continue;
        event_id launch = call->call != EVENT_NONE ? call->call
                          : call->op != EVENT_NONE ? call->op
                                                   : call->work;
        size_t at = step_of_launch(trace, steps, of_file, of_step, launch, &last);
        if (at != SIZE_MAX)
            add_to_step(trace, &roofline->steps.at[at], &sums[at], call);
    }
    add_products(roofline, steps, of_file, of_step, sums);
    for (size_t i = 0; i < roofline->steps.count; i++)
        finish_step(&roofline->steps.at[i], &sums[i]);
}

/* ---- slow work ---- */

struct roofline_slow roofline_find_slow(const struct roofline *roofline, double share, struct arena *arena)
{
    const struct trace *trace = roofline->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    int64_t floor_ns = roofline_shortest_kernel_ns(trace, gpu);
    struct roofline_slow slow = { NULL, NULL, 0 };
    SCOPED VEC_OF(uint32_t) works = { 0 };
    for (size_t i = 0; i < gpu->count; i++) {
        uint32_t place = roofline->calls.of_work[i];
        if (place && roofline_is_below(&roofline->calls.at[place - 1], share) &&
            trace_dur_ns(trace, gpu->event[i]) > floor_ns)
            *VEC_PUSH(&works) = (uint32_t)i;
    }
    slow.work = arena_alloc(arena, mem_times(works.count + 1, sizeof *slow.work));
    slow.factor = arena_alloc(arena, mem_times(works.count + 1, sizeof *slow.factor));
    for (; slow.count < works.count; slow.count++) {
        uint32_t i = works.at[slow.count];
        const struct roofline_call *call = &roofline->calls.at[roofline->calls.of_work[i] - 1];
        double least = (double)floor_ns / (double)trace_dur_ns(trace, gpu->event[i]),
               factor = roofline_at_peak_ns(call) / share / (double)call->time_ns;
        slow.work[slow.count] = i;
        slow.factor[slow.count] = factor > least ? factor : least;
    }
    return slow;
}

struct roofline *roofline_open(const struct trace *trace, const struct selection *selection, unsigned by,
                               const struct device_peaks *override)
{
    struct roofline *roofline = arena_open(sizeof *roofline);
    ARENA_OWNS(arena_of(roofline), &roofline->tensor_cores.work, &roofline->rows, &roofline->devices,
               &roofline->peaks, &roofline->steps, &roofline->rest, &roofline->calls.at,
               &roofline->calls.of_work, &roofline->calls.peaks, &roofline->calls.wanted_captured);
    roofline->trace = roofline->calls.trace = trace;
    roofline->calls.arena = arena_of(roofline);
    roofline->group = arena_hold(arena_of(roofline), group_open(trace, by & ~(BY(OP) | BY(SHAPE))));
    find_peaks(roofline, override);
    roofline_calls_find(&roofline->calls, selection);
    list_peaks(roofline, override);
    roofline_find_rows(roofline, selection, by);
    find_devices(roofline, selection);
    find_steps(roofline, selection);
    return roofline;
}

/* The result that the page, its chart, the summary and its replays share. */
static struct roofline *roofline_find_usual(const struct trace *trace)
{
    struct roofline *usual = roofline_open(trace, selection_all(trace), ROOFLINE_BY_DEFAULT, NULL);
    usual->slow = roofline_find_slow(usual, ROOFLINE_SLOW, arena_of(usual));
    usual->tensor_cores = tensor_cores_find(&usual->calls);
    roofline_calls_forget(&usual->calls);
    return usual;
}

DERIVED(roofline, roofline_of, roofline_find_usual);

const struct roofline *roofline_analyze(const struct trace *trace, const struct selection *selection,
                                        unsigned by, const struct device_peaks *override)
{
    bool usual = by == ROOFLINE_BY_DEFAULT && !override && selection_is_all(selection);
    return usual ? roofline_of(trace) : roofline_open(trace, selection, by, override);
}

/* ---- the command ---- */

struct roofline_options {
    const char *peak;
};

static const struct roofline_options defaults = { .peak = NULL };

static const struct opt options[] = {
    OPT_TEXT('p', "peak", struct roofline_options, peak, "TYPE=RATE",
             "what the device can do, instead of its data sheet: bf16=989T,hbm=3.35T"),
    OPT_END,
};

/* The row with the largest possible saving; NULL: none. */
static const struct roofline_row *best_row(const struct roofline *roofline)
{
    const struct roofline_row *best = NULL;
    FOR_EACH(row, &roofline->rows)
        if (row->won_ns != TABLE_INT_MISSING && row->won_ns > (best ? best->won_ns : 0))
            best = row;
    return best;
}

/* "; at the peak 5.7ms less, most in aten::mm [[8, 8], [8, 8]] (1.3ms)". */
static void add_gain(const struct roofline *roofline, int64_t won_ns, struct buffer *text)
{
    const struct roofline_row *best = best_row(roofline);
    buffer_printf(text, ": at the peak they would take %s less", TIME_TEXT(won_ns));
    if (!best || !best->name.at)
        return;
    buffer_printf(text, ", %s of it in %.*s", TIME_TEXT(best->won_ns), (int)best->name.len, best->name.at);
    if (best->shapes.at)
        buffer_printf(text, " %.*s", (int)best->shapes.len, best->shapes.at);
}

/* The first sentence of the output. */
static void notice_answer(const struct roofline *roofline, struct result *result)
{
    int64_t rated_ns = 0, at_peak_ns = 0, won_ns = 0;
    for (size_t d = 0; d < roofline->devices.count; d++)
        if (roofline->devices.at[d].rated_ns > 0) {
            rated_ns += roofline->devices.at[d].rated_ns;
            sum_add(&at_peak_ns, roofline->devices.at[d].at_peak_ns);
            sum_add(&won_ns, roofline->devices.at[d].won_ns);
        }
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%.1f %% of the device time (%s) is in operators with known operations or bytes",
                  roofline->time_ns > 0 ? 100 * (double)roofline->modelled_ns / (double)roofline->time_ns : 0,
                  TIME_TEXT(roofline->time_ns));
    if (rated_ns > 0) {
        buffer_printf(&text, "; %s at %.1f %% of the peak",
                      rated_ns == roofline->modelled_ns ? "they run" : "those whose peak is known run",
                      100 * (double)at_peak_ns / (double)rated_ns);
        add_gain(roofline, won_ns, &text);
    } else if (roofline->modelled_ns > 0) {
        buffer_puts(&text, "; the peaks of the device are unknown: give them with --peak, such as "
                           "--peak bf16=989T,fp32=67T,hbm=3.35T");
    }
    ADD_NOTICE(result, "answer", (int64_t)roofline->rows.count, "%s", text.at);
    result_make_clause(result);
}

/* MFU of which a part is not known. */
static void notice_unmodelled_products(const struct roofline *roofline, struct result *result)
{
    int64_t steps = 0;
    double least = 1;
    for (size_t i = 0; i < roofline->steps.count; i++)
        if (roofline->steps.at[i].at_least) {
            steps++;
            least = fmin(least, roofline->steps.at[i].modelled);
        }
    if (steps)
        ADD_NOTICE(
            result, "mfu_at_least", steps,
            "MFU and HFU of %" PRId64
            " %s are at least what is shown, or - below a half. Only for %.1f %% of the time of matrix products, convolutions "
            "and attention the operations are known: not_modelled names the others, and record_shapes=True records sizes",
            steps, steps == 1 ? "step" : "steps", quantity_percent(least));
}

/* What running without tensor cores costs, where it is as much as tpa summary looks at. */
static void notice_tensor_cores(const struct trace *trace, struct result *result)
{
    const struct tensor_cores *found = &roofline_of(trace)->tensor_cores;
    if (found->time_ns * 20 > found->kernels_ns)
        ADD_NOTICE(
            result, "tensor_cores", (int64_t)found->work.count,
            "matrix products and convolutions in float32 take %s without tensor cores, and %s at least in %s on "
            "them; what a step gains: tpa whatif --tensor-cores",
            TIME_TEXT(found->time_ns), TIME_TEXT(found->then_ns),
            found->rate == PEAK_TF32 ? "TF32" : "float16");
}

static void notice_oddities(const struct roofline *roofline, struct result *result)
{
    int64_t above = SUM(int64_t, i, roofline->rows.count, roofline->rows.at[i].above);
    if (above)
        ADD_NOTICE(
            result, "above_peak", above,
            "%" PRId64
            " %s above 100 %% of the peak: a cache holds what they read, or the count is wrong for them",
            above, above == 1 ? "row runs" : "rows run");
    notice_unmodelled_products(roofline, result);
    if (!roofline->calls.on_device)
        ADD_NOTICE(result, "host_time", 0, "nothing ran on a device: times are those of the host");
}

static bool run_roofline(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    const struct roofline_options *own = query->options;
    struct device_peaks override = { .source = NULL };
    if (own->peak && !device_peaks_override(&override, own->peak, err))
        return false;
    SCOPED_OBJECT const struct roofline *roofline =
        roofline_analyze(query->trace, query->selection, query->by, own->peak ? &override : NULL);
    struct table *rows = TABLE_OF_ROWS("operators", "Operators against the peak", row_columns,
                                       roofline->rows.at, roofline->rows.count);
    group_fill_texts(roofline->group, rows, offsetof(struct roofline_row, key));
    if (query->for_people && roofline->peaks.count == 0) {
        TABLE_FLAG(rows, struct roofline_row, share, TABLE_OPTIONAL);
        TABLE_FLAG(rows, struct roofline_row, won_ns, TABLE_OPTIONAL);
        TABLE_FLAG(rows, struct roofline_row, bound, TABLE_OPTIONAL);
    }
    TABLE_SORT(rows, struct roofline_row, time_ns);
    if (roofline->calls.on_device)
        notice_answer(roofline, result);
    result_add_table(result, rows);
    if (roofline->calls.on_device) {
        struct table *totals =
            TABLE_OF_ROWS("totals", "Devices", device_columns, roofline->devices.at, roofline->devices.count);
        struct table *peaks =
            TABLE_OF_ROWS("peaks", "Peaks", peak_columns, roofline->peaks.at, roofline->peaks.count);
        totals->uncut = peaks->uncut = true;
        peaks->none = "The peak rates of the devices are not known; set them with --peak.";
        result_add_table(result, totals);
        result_add_table(result, TABLE_OF_ROWS("steps", "FLOPs utilisation", step_columns, roofline->steps.at,
                                               roofline->steps.count));
        result_add_table(result, TABLE_OF_ROWS("not_modelled", "Not modelled", rest_columns,
                                               roofline->rest.at, roofline->rest.count));
        result_add_table(result, peaks);
    }
    notice_oddities(roofline, result);
    if (selection_is_all(query->selection))
        notice_tensor_cores(query->trace, result);
    return true;
}

static const struct table_shape tables[] = {
    TABLE_SHAPE("operators", row_columns), TABLE_SHAPE("totals", device_columns),
    TABLE_SHAPE("steps", step_columns),    TABLE_SHAPE("not_modelled", rest_columns),
    TABLE_SHAPE("peaks", peak_columns),    { 0 },
};

const struct analysis analysis_roofline = {
    .name = "roofline",
    .summary = "how fast operators compute and move, against what the device could; MFU",
    .description =
        "Per operator, shapes and types: floating-point operations and bytes, by a model of the operator; how many per second "
        "of its device time; what bounds it, and its share of the device's peak for that type, on matrix or vector units; how "
        "much less it would take at the peak.\n\n"
        "Then how much of the device time is modelled, the FLOPs utilisation of each step (MFU, HFU), what is not modelled, "
        "and the peaks with their source.\n\n"
        "What is not recorded is missing, never guessed. Shapes are needed (record_shapes=True).",
    .schema = "tpa.roofline/1",
    .examples = {
        "tpa roofline trace.json",
        "tpa roofline --sort won --limit 10 trace.json",
        "tpa roofline --by module trace.json",
        "tpa roofline --peak bf16=800T,hbm=3T trace.json  # against what is achievable",
    },
    .wants = &roofline_wants,
    .needs = FEATURE_SHAPES,
    .dimensions =
        BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(MODULE) | BY(SHAPE),
    .by_default = ROOFLINE_BY_DEFAULT,
    .by_help = "what makes a row; op,shape when not given",
    .options = options,
    ANALYSIS_DEFAULTS(defaults),
    .sorts = true,
    .captures = true,
    .tables = { tables },
    .run = run_roofline,
    .section = "Roofline",
    .section_intro = "What each operator computes and moves in its time on the device, against what the device could: bound by what, "
                     "its share of the peak, and how much less it would take there.",
    .section_needs = FEATURE_GPU,
    .charts = "roofline",
};
