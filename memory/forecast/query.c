
#include "base/label.h"
#include "base/quantity.h"
#include "memory/forecast/forecast.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

struct forecast_row {
    struct text target;
    int64_t device;
    int64_t peak_bytes, low_bytes, high_bytes;
    int64_t reserved_bytes, reserved_low_bytes, reserved_high_bytes;
    bool sure;
    struct text why, fits, base;
};

struct largest_row {
    struct text name;
    int64_t device, value, capacity_bytes;
};

struct growth_row {
    struct text target, name;
    int64_t device, bytes, growth_bytes;
    double share;
    struct text kind;
};

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct forecast_row, target, "target", "Size", TABLE_TEXT, "the sizes asked for"),
    COLUMN(struct forecast_row, device, "device", "Device", TABLE_COUNT, "number of the device; missing for the host", .flags = TABLE_OPTIONAL),
    COLUMN(struct forecast_row, fits, "fits", "Fits", TABLE_TEXT, "yes, no or unsure: does reserved fit in --capacity?"),
    COLUMN(struct forecast_row, peak_bytes, "peak_bytes", "Peak", TABLE_BYTES, "most bytes in use", .aliases = "peak"),
    COLUMN(struct forecast_row, low_bytes, "low_bytes", "Low", TABLE_BYTES, "lower bound of the peak"),
    COLUMN(struct forecast_row, high_bytes, "high_bytes", "High", TABLE_BYTES, "upper bound of the peak"),
    COLUMN(struct forecast_row, reserved_bytes, "reserved_bytes", "Reserved", TABLE_BYTES, "what the caching allocator holds then: this must fit", .aliases = "reserved"),
    COLUMN(struct forecast_row, reserved_low_bytes, "reserved_low_bytes", "Reserved, low", TABLE_BYTES, "lower bound of reserved", .flags = TABLE_OPTIONAL),
    COLUMN(struct forecast_row, reserved_high_bytes, "reserved_high_bytes", "Reserved, high", TABLE_BYTES, "upper bound of reserved", .flags = TABLE_OPTIONAL),
    COLUMN(struct forecast_row, sure, "sure", "Sure", TABLE_BOOL, "do the recordings tell how memory grows?"),
    COLUMN(struct forecast_row, why, "why", "Why not", TABLE_TEXT, "why it is not sure"),
    COLUMN(struct forecast_row, base, "base", "Base", TABLE_TEXT, "the recording whose order of allocations is replayed", .flags = TABLE_OPTIONAL),
};

static const struct table_column largest_columns[] = {
    COLUMN(struct largest_row, name, "name", "Size", TABLE_NAME, "name of the size"),
    COLUMN(struct largest_row, device, "device", "Device", TABLE_COUNT, "number of the device; missing for the host", .flags = TABLE_OPTIONAL),
    COLUMN(struct largest_row, value, "value", "Largest", TABLE_COUNT, "the largest whole value that fits; the other sizes are those of the first forecast"),
    COLUMN(struct largest_row, capacity_bytes, "capacity_bytes", "Capacity", TABLE_BYTES, "what it fits in"),
};

static const struct table_column growth_columns[] = {
    COLUMN(struct growth_row, target, "target", "Size", TABLE_TEXT, "the sizes asked for", .flags = TABLE_OPTIONAL),
    COLUMN(struct growth_row, device, "device", "Device", TABLE_COUNT, "number of the device; missing for the host", .flags = TABLE_OPTIONAL),
    COLUMN(struct growth_row, name, "name", "Name", TABLE_NAME, "line of code of a snapshot, innermost operator of a trace"),
    COLUMN(struct growth_row, growth_bytes, "growth_bytes", "Growth", TABLE_BYTES, "its bytes at the predicted peak, less those of the same blocks in the base", .aliases = "growth"),
    COLUMN(struct growth_row, share, "share", "Share", TABLE_SHARE, "of all growth"),
    COLUMN(struct growth_row, bytes, "bytes", "Bytes", TABLE_BYTES, "its bytes at the predicted peak"),
    COLUMN(struct growth_row, kind, "kind", "Kind", TABLE_TEXT, "how most of its bytes grow: constant, linear, quadratic, product, affine, mixed or irregular"),
};
/* clang-format on */

const struct table_shape forecast_tables[] = {
    TABLE_SHAPE("forecast", columns, .of = "recordings at several sizes"),
    TABLE_SHAPE("largest", largest_columns, .of = "recordings at several sizes"),
    TABLE_SHAPE("growth", growth_columns, .of = "recordings at several sizes"),
    { 0 },
};

/* ---- sizes ---- */

static int size_number(const struct forecast_query *query, const char *name, size_t len)
{
    for (size_t i = 0; i < query->size_count; i++)
        if (strlen(query->size_names[i]) == len && memcmp(query->size_names[i], name, len) == 0)
            return (int)i;
    return -1;
}

/* Read the sizes of TEXT. New names are added to those of QUERY if MAY_ADD. */
static bool read_sizes(struct forecast_query *query, const char *text, double size[FORECAST_SIZES],
                       bool may_add, const char *where, struct tpa_error *err)
{
    const char *name;
    size_t len;
    double value;
    memset(size, 0, FORECAST_SIZES * sizeof *size);
    while (*text) {
        if (!label_next(&text, &name, &len, &value))
            return tpa_fail(err, TPA_NOWHERE, "%s: \"%s\" is not NAME=NUMBER, such as batch=48", where, text);
        int number = size_number(query, name, len);
        if (number < 0 && !may_add)
            return tpa_fail(err, TPA_NOWHERE, "%s names the size %.*s, which the recordings do not", where,
                            (int)len, name);
        if (number < 0 && query->size_count == FORECAST_SIZES)
            return tpa_fail(err, TPA_NOWHERE, "%s: there are more than %d sizes", where, FORECAST_SIZES);
        if (number < 0) {
            number = (int)query->size_count++;
            query->size_names[number] = arena_strndup(&query->arena, name, len);
        }
        if (size[number] > 0)
            return tpa_fail(err, TPA_NOWHERE, "%s names %s twice", where, query->size_names[number]);
        size[number] = value;
    }
    return true;
}

bool forecast_operand(struct forecast_query *query, const char *operand, const char **path,
                      struct tpa_error *err)
{
    const char *sizes = label_of(operand);
    if (!sizes) {
        tpa_fail(err, TPA_NOWHERE, "%s: the size of the job is not given", operand);
        return tpa_hint(err, "write it behind the file: %s@batch=16", operand);
    }
    *path = arena_strndup(&query->arena, operand, (size_t)(sizes - 1 - operand));
    if (!read_sizes(query, sizes, query->size, query->operands == 0, operand, err))
        return false;
    for (size_t i = 0; i < query->size_count; i++)
        if (query->size[i] == 0)
            return tpa_fail(err, TPA_NOWHERE, "%s does not name the size %s, which another recording does",
                            operand, query->size_names[i]);
    query->operands++;
    return true;
}

/* ---- recordings ---- */

static struct forecast_recording *add_recording(struct forecast_query *query, int64_t type, int64_t id,
                                                bool is_host, const char *path)
{
    size_t d = 0;
    while (d < query->devices.count && (query->devices.at[d].type != type || query->devices.at[d].id != id))
        d++;
    if (d == query->devices.count)
        *VEC_PUSH(&query->devices) = (struct forecast_device){ .type = type, .id = id, .is_host = is_host };
    struct forecast_recording *recording = VEC_PUSH(&query->devices.at[d].recordings);
    *recording = (struct forecast_recording){ .path = path };
    memcpy(recording->size, query->size, sizeof recording->size);
    return recording;
}

bool forecast_add_trace(struct forecast_query *query, const struct trace *trace, const char *path,
                        struct tpa_error *err)
{
    const struct memory_records *records = memory_records_of(trace, MEMORY_OWNERS);
    if (trace->file_count > 1) {
        tpa_fail(err, TPA_NOWHERE, "%s holds %zu recordings; a forecast needs one per size", path,
                 trace->file_count);
        return tpa_hint(err, "give the file of one rank");
    }
    if (records->device_count == 0) {
        tpa_fail(err, TPA_NOWHERE, "%s: the trace holds no memory events", path);
        return tpa_hint(err, "profile with profile_memory=True");
    }
    FOR_EACH_OF(device, records->devices, records->device_count) {
        struct forecast_recording *recording =
            add_recording(query, device->type, device->id, memory_is_host(device), path);
        if (!forecast_read_trace(trace, device, &query->texts, recording, err))
            return false;
    }
    return true;
}

bool forecast_add_snapshot(struct forecast_query *query, const struct snapshot *snapshot, const char *path,
                           struct tpa_error *err)
{
    enum { CUDA = 1 };
    FOR_EACH(device, &snapshot->devices) {
        if (device->device == SNAPSHOT_HOST)
            continue;
        struct forecast_recording *recording = add_recording(query, CUDA, device->device, false, path);
        if (!forecast_read_snapshot(snapshot, device, &query->texts, recording, err))
            return false;
    }
    return true;
}

/* Keep the devices that all recordings have; if there is another than the host, not the host. */
static void keep_devices(struct forecast_query *query)
{
    bool has_other = false;
    size_t kept = 0;
    for (size_t d = 0; d < query->devices.count; d++)
        has_other |=
            !query->devices.at[d].is_host && query->devices.at[d].recordings.count == query->operands;
    for (size_t d = 0; d < query->devices.count; d++) {
        struct forecast_device *device = &query->devices.at[d];
        if (device->recordings.count == query->operands && !(has_other && device->is_host)) {
            struct forecast_device spare = query->devices.at[kept];
            query->devices.at[kept++] = *device;
            *device = spare;
        }
    }
    for (size_t d = kept; d < query->devices.count; d++) {
        for (size_t r = 0; r < query->devices.at[d].recordings.count; r++)
            forecast_recording_release(&query->devices.at[d].recordings.at[r]);
        VEC_FREE(&query->devices.at[d].recordings);
    }
    query->devices.count = kept;
}

/* ---- answers ---- */

bool forecast_size_varies(const struct forecast_device *device, size_t number)
{
    return ANY_FROM(r, 1, device->recordings.count,
                    device->recordings.at[r].size[number] != device->recordings.at[0].size[number]);
}

/* Is each size that differs from all recordings at TARGET one in which the recordings differ? */
static bool check_target(const struct forecast_query *query, const double *target, const char *text,
                         struct tpa_error *err)
{
    const struct forecast_device *device = &query->devices.at[0];
    for (size_t i = 0; i < query->size_count; i++) {
        if (target[i] == 0)
            return tpa_fail(err, TPA_NOWHERE, "--forecast %s does not name the size %s", text,
                            query->size_names[i]);
        if (!forecast_size_varies(device, i) && target[i] != device->recordings.at[0].size[i]) {
            tpa_fail(err, TPA_NOWHERE,
                     "--forecast %s: all recordings have %s=%g, so how memory grows with it is not known",
                     text, query->size_names[i], device->recordings.at[0].size[i]);
            return tpa_hint(err, "give another recording with a different %s", query->size_names[i]);
        }
    }
    return true;
}

static int64_t device_number(const struct forecast_device *device)
{
    return device->is_host ? TABLE_INT_MISSING : device->id;
}

const char *forecast_larger(struct forecast_query *query, double factor)
{
    const struct forecast_device *device = &query->devices.at[0];
    size_t varies = 0, largest = 0;
    while (varies < query->size_count && !forecast_size_varies(device, varies))
        varies++;
    if (varies == query->size_count)
        return NULL;
    for (size_t r = 1; r < device->recordings.count; r++)
        if (device->recordings.at[r].size[varies] > device->recordings.at[largest].size[varies])
            largest = r;
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < query->size_count; i++)
        buffer_printf(&text, "%s%s=%.17g", i ? "," : "", query->size_names[i],
                      device->recordings.at[largest].size[i] * (i == varies ? factor : 1));
    return arena_strndup(&query->arena, text.at, text.count);
}

/* "yes", "no", "unsure"; NULL: not asked, or not sure. */
static const char *fit_of(const struct forecast *forecast, int64_t capacity)
{
    if (capacity <= 0 || !forecast->sure)
        return NULL;
    int64_t high = forecast->reserved_high_bytes == TABLE_INT_MISSING ? forecast->high_bytes
                                                                      : forecast->reserved_high_bytes;
    return high <= capacity ? "yes" : forecast->low_bytes > capacity ? "no" : "unsure";
}

static bool value_fits(const struct forecast_device *device, const double *sizes, size_t number,
                       int64_t value, int64_t capacity)
{
    double target[FORECAST_SIZES];
    memcpy(target, sizes, sizeof target);
    target[number] = (double)value;
    SCOPED_OBJECT struct forecast *forecast =
        forecast_at(device->recordings.at, device->recordings.count, target);
    int64_t needed =
        forecast->reserved_bytes == TABLE_INT_MISSING ? forecast->peak_bytes : forecast->reserved_bytes;
    return needed <= capacity;
}

int64_t forecast_largest(const struct forecast_device *device, const double *sizes, size_t number,
                         int64_t capacity)
{
    enum { MOST = 1 << 24 };
    int64_t fits = 0, fails = 1;
    while (fails <= MOST && value_fits(device, sizes, number, fails, capacity)) {
        fits = fails;
        fails *= 2;
    }
    while (fails - fits > 1) {
        int64_t middle = fits + (fails - fits) / 2;
        if (value_fits(device, sizes, number, middle, capacity))
            fits = middle;
        else
            fails = middle;
    }
    return fits;
}

struct answer_tables {
    struct table *forecast, *largest, *growth;
};

static void add_target(struct forecast_query *query, const struct forecast_device *device, const char *text,
                       const double *target, int64_t capacity, const struct answer_tables *tables)
{
    SCOPED_OBJECT struct forecast *forecast =
        forecast_at(device->recordings.at, device->recordings.count, target);
    struct forecast_row row = {
        .target = as_text(text),
        .device = device_number(device),
        .peak_bytes = forecast->peak_bytes,
        .low_bytes = forecast->low_bytes,
        .high_bytes = forecast->high_bytes,
        .reserved_bytes = forecast->reserved_bytes,
        .reserved_low_bytes = forecast->reserved_low_bytes,
        .reserved_high_bytes = forecast->reserved_high_bytes,
        .sure = forecast->sure,
        .why = as_text(forecast->why),
        .fits = as_text(fit_of(forecast, capacity)),
        .base = as_text(device->recordings.at[forecast->base].path),
    };
    table_add_rows(tables->forecast, &row, 1, sizeof row);
    FOR_EACH(grown, &forecast->grown) {
        struct growth_row growth = { .target = as_text(text),
                                     .name = { names_text(query->texts.names, grown->name),
                                               names_length(query->texts.names, grown->name) },
                                     .device = device_number(device),
                                     .bytes = grown->bytes,
                                     .growth_bytes = grown->growth_bytes,
                                     .share = grown->share,
                                     .kind = as_text(growth_kind_name(grown->kind)) };
        table_add_rows(tables->growth, &growth, 1, sizeof growth);
    }
}

/* "batch 96 fits in 80.00 GB, 97 does not; 31 % of the growth is model.py:65". */
static void add_sentence(struct forecast_query *query, const struct forecast_device *device,
                         const double *target, const char *text, int64_t capacity, int64_t largest,
                         size_t number, struct result *result)
{
    SCOPED_OBJECT struct forecast *forecast =
        forecast_at(device->recordings.at, device->recordings.count, target);
    SCOPED struct buffer out = { 0 };
    bool large = (capacity ? capacity : forecast->peak_bytes) >= 1 << 30;
    double room = (double)capacity / (large ? 1 << 30 : 1 << 20);
    const char *unit = large ? "GiB" : "MiB";
    if (!forecast->sure)
        buffer_printf(&out, "the peak at %s is not known: %s", text, forecast->why);
    else if (capacity > 0 && largest > 0)
        buffer_printf(&out, "%s %" PRId64 " fits in %.4g %s, %" PRId64 " does not", query->size_names[number],
                      largest, room, unit, largest + 1);
    else if (capacity > 0)
        buffer_printf(&out, "no %s fits in %.4g %s", query->size_names[number], room, unit);
    else
        buffer_printf(&out, "at %s the peak is %.4g %s", text,
                      (double)forecast->peak_bytes / (large ? 1 << 30 : 1 << 20), unit);
    if (forecast->sure && forecast->grown.count && forecast->grown.at[0].share > 0)
        buffer_printf(&out, "; %.0f %% of the growth is %.*s", 100 * forecast->grown.at[0].share,
                      (int)names_length(query->texts.names, forecast->grown.at[0].name),
                      names_text(query->texts.names, forecast->grown.at[0].name));
    ADD_NOTICE(result, "forecast", 0, "%.*s", (int)out.count, out.at);
    result_make_verdict(result);
}

bool forecast_prepare(struct forecast_query *query, struct tpa_error *err)
{
    if (query->operands < 2) {
        tpa_fail(err, TPA_NOWHERE, "a forecast needs recordings at two sizes or more");
        return tpa_hint(err, "three tell more: their errors become the bounds");
    }
    keep_devices(query);
    return query->devices.count || tpa_fail(err, TPA_NOWHERE, "no device is in all recordings");
}

bool forecast_read_target(struct forecast_query *query, const char *text, double target[FORECAST_SIZES],
                          struct tpa_error *err)
{
    return read_sizes(query, text, target, false, "--forecast", err) &&
           check_target(query, target, text, err);
}

bool forecast_answer(struct forecast_query *query, const char *const *targets, size_t target_count,
                     int64_t capacity, struct result *result, struct tpa_error *err)
{
    double target[FORECAST_SIZES];
    if (!forecast_prepare(query, err))
        return false;
    struct answer_tables tables = {
        TABLE_OF_ROWS("forecast", "Peak at other sizes", columns, (struct forecast_row *)NULL, 0),
        TABLE_OF_ROWS("largest", "Largest size that fits", largest_columns, (struct largest_row *)NULL, 0),
        TABLE_OF_ROWS("growth", "Growth", growth_columns, (struct growth_row *)NULL, 0),
    };
    result_add_table(result, tables.forecast);
    result_add_table(result, tables.largest);
    result_add_table(result, tables.growth);
    if (target_count > 1)
        TABLE_FLAG(tables.growth, struct growth_row, target, 0);
    tables.largest->none = "No --capacity is given, or the forecast is not sure.";
    for (size_t t = 0; t < target_count; t++) {
        if (!forecast_read_target(query, targets[t], target, err))
            return false;
        for (size_t d = 0; d < query->devices.count; d++)
            add_target(query, &query->devices.at[d], targets[t], target, capacity, &tables);
        for (size_t d = 0; t == 0 && d < query->devices.count; d++) {
            const struct forecast_device *device = &query->devices.at[d];
            int64_t first = 0;
            size_t first_number = 0;
            for (size_t i = query->size_count; i-- > 0 && capacity > 0;) {
                if (!forecast_size_varies(device, i))
                    continue;
                first = forecast_largest(device, target, i, capacity);
                first_number = i;
                struct largest_row row = { as_text(query->size_names[i]), device_number(device), first,
                                           capacity };
                table_add_rows(tables.largest, &row, 1, sizeof row);
            }
            add_sentence(query, device, target, targets[t], capacity, first, first_number, result);
        }
    }
    if (query->devices.at[0].is_host)
        ADD_NOTICE(result, "only_recorded", 0,
                   "of the host only what was recorded counts: memory that was in use before is not in it");
    else
        ADD_NOTICE(
            result, "on_top", 0,
            "memory outside of the allocator comes on top: the CUDA context, NCCL's buffers, other processes");
    return true;
}

void forecast_query_release(struct forecast_query *query)
{
    for (size_t d = 0; d < query->devices.count; d++) {
        for (size_t r = 0; r < query->devices.at[d].recordings.count; r++)
            forecast_recording_release(&query->devices.at[d].recordings.at[r]);
        VEC_FREE(&query->devices.at[d].recordings);
    }
    VEC_FREE(&query->devices);
    EACH(names_free, query->texts.keys, query->texts.names);
    arena_release(&query->arena);
}
