/*
 * xplane.c - the reader of XSpaces: *.xplane.pb, which TensorFlow, JAX and PyTorch/XLA write on GPUs, TPUs and CPUs.
 *
 * A file is one message of package tensorflow.profiler, as openxla/xla has it in tsl/profiler/protobuf/xplane.proto (the same
 * since 2020); no header, no checksum:
 *
 *     XSpace  1 planes*, 2 errors*, 3 warnings*, 4 hostnames*
 *     XPlane  1 id, 2 name, 3 lines*, 4 event_metadata{id: XEventMetadata}*, 5 stat_metadata{id: XStatMetadata}*, 6 stats*
 *     XLine   1 id, 2 name, 3 timestamp_ns, 4 events*, 9 duration_ps, 10 display_id, 11 display_name
 *     XEvent  1 metadata_id, 2 offset_ps or 5 num_occurrences, 3 duration_ps, 4 stats*
 *     XStat   1 metadata_id, one of 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref (an XStatMetadata's name)
 *     XEventMetadata  1 id, 2 name, 3 metadata, 4 display_name, 5 stats*, 6 child_id*
 *
 * Names come after the events that have them, so the file is read whole, and each plane is walked twice: for its two tables,
 * then for its lines. What was walked is given back to the system. Every message has its length before it, so damage costs
 * the message that it is in, and what stands around it is read.
 *
 * A plane becomes a process, a line a thread or a stream, with the numbers that XLA's own export as JSON gives them. Some
 * lines repeat others (made by readers: steps, modules, name scopes); they become annotations, which are not work.
 */
#include "ingest/xplane/parts.h"

#include "base/runs.h"
#include <ctype.h>
#include <inttypes.h>

/* Events in a chunk before it is handed over; how many are read between two looks at it. */
enum { EVENTS_PER_CHUNK = 1 << 14, EVENTS_PER_LOOK = 64 };

/* Processes as XLA numbers them when it writes JSON: the host, devices from 1 on. */
enum { HOST_PID = 701, OTHER_PIDS = 10000, SPARSE_PIDS = 100000, SECOND_PIDS = 1000000 };

static bool hand_over(struct xplane_reader *reader)
{
    reader->serial++;
    return trace_builder_append(reader->builder, reader->chunk, reader->err);
}

/* ---- lines ---- */

/* Lines that a reader derived from others have ids from 0xdeadbeef on. */
static bool is_derived(int64_t id)
{
    return (uint32_t)id - UINT32_C(0xdeadbeef) < 400;
}

static void skip_short_events(const struct whole *whole, struct wire *in)
{
    const uint8_t *at = in->at, *end = in->end < whole->ready_end ? in->end : whole->ready_end;
    if (at < whole->ready)
        return;
    while (end - at >= 2 && at[0] == (4 << 3 | WIRE_BYTES) && at[1] < 0x80 && at[1] <= end - at - 2)
        at += 2 + at[1];
    in->at = at;
}

/* The text of FIELD, copied to COPY: what is read next may take its place in memory. */
static struct wire_text copy_text(struct whole *whole, const struct wire_field *field, struct buffer *copy)
{
    whole_need(whole, field->bytes, (size_t)field->value);
    buffer_clear(copy);
    buffer_add(copy, (const char *)field->bytes, (size_t)field->value);
    return (struct wire_text){ copy->at, copy->count };
}

/* The fields of a line that are not events: they may come after these. */
static bool read_line_fields(struct xplane_reader *reader, struct wire in, struct xplane_line *line)
{
    struct whole *whole = &reader->whole;
    struct wire_field field;
    while (skip_short_events(whole, &in), whole_next(whole, &in, &field)) {
        switch (field.number << 3 | field.type) {
        case 1 << 3 | WIRE_VARINT: line->id = (int64_t)field.value; break;
        case 2 << 3 | WIRE_BYTES: line->name = copy_text(whole, &field, &reader->line_name); break;
        case 3 << 3 | WIRE_VARINT: line->timestamp_ns = (int64_t)field.value; break;
        case 11 << 3 | WIRE_BYTES: line->display = copy_text(whole, &field, &reader->line_display); break;
        default:
            if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number))
                return false;
        }
    }
    return !in.damaged;
}

static void describe_damage(struct xplane_reader *reader, const uint8_t *at)
{
    trace_chunk_lacks(reader->chunk, LACK_BAD_MESSAGE,
                      "damaged parts of the file could not be read; what stands around them was",
                      xplane_offset(reader, at));
}

static struct xplane_line open_line(struct xplane_reader *reader, const struct xplane_plane *plane,
                                    struct wire in)
{
    struct xplane_line line = { .track = TRACK_NONE };
    bool is_cut = plane->is_cut && in.end == plane->fields.end; /* which was said */
    if (!read_line_fields(reader, in, &line) && !is_cut)
        describe_damage(reader, in.at);
    line.is_derived = is_derived(line.id);
    if (plane->kind == PLANE_HOST)
        return line;
    line.is_steps = wire_text_is(line.name, "Steps");
    line.is_work = plane->kind == PLANE_TPU &&
                   (wire_text_is(line.name, "XLA Ops") || wire_text_is(line.name, "Async XLA Ops"));
    return line;
}

static bool read_line(struct xplane_reader *reader, struct xplane_plane *plane, struct wire in,
                      uint64_t order)
{
    struct whole *whole = &reader->whole;
    struct xplane_line line = open_line(reader, plane, in);
    struct xplane_event event;
    struct wire_field field;
    unsigned taken = 0;
    line.order = order;
    while (whole_next(whole, &in, &field)) {
        if (wire_is(&field, 4, WIRE_BYTES)) {
            if (xplane_event_read(whole, plane, &in, &field, &event))
                xplane_event_add(reader, plane, &line, &event, field.bytes);
            else
                describe_damage(reader, field.bytes);
            if (++taken % EVENTS_PER_LOOK == 0 &&
                trace_chunk_count_events(reader->chunk) >= EVENTS_PER_CHUNK) {
                if (!hand_over(reader))
                    return false;
                if (plane->lines_come_first)
                    whole_done(whole, (size_t)(field.bytes - whole->at));
            }
        } else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number)) {
            break;
        }
    }
    return true;
}

/* ---- programs on a TPU ---- */

static bool begins_later(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct xplane_program *a = left, *b = right;
    return a->start_ns > b->start_ns;
}

static void read_programs(struct xplane_reader *reader, struct xplane_plane *plane, struct wire in)
{
    struct whole *whole = &reader->whole;
    struct xplane_line line = { 0 };
    struct wire_field field;
    struct xplane_event event;
    read_line_fields(reader, in, &line);
    if (!wire_text_is(line.name, "XLA Modules"))
        return;
    while (whole_next(whole, &in, &field)) {
        struct xplane_program program = { .correlation = -1 };
        int64_t run;
        if (wire_is(&field, 4, WIRE_BYTES) && xplane_event_read(whole, plane, &in, &field, &event) &&
            event.duration_ps >= 0 &&
            xplane_span(&line, event.offset_ps, event.duration_ps, &program.start_ns, &program.end_ns)) {
            if (xplane_number(&event.stats, STAT_RUN_ID, &run))
                program.correlation = xplane_launch_number(plane->number, run);
            *VEC_PUSH(&plane->programs) = program;
        } else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number)) {
            break;
        }
    }
}

static void find_programs(struct xplane_reader *reader, struct xplane_plane *plane)
{
    struct wire in = plane->fields;
    struct wire_field field;
    while (whole_next(&reader->whole, &in, &field)) {
        if (wire_is(&field, 3, WIRE_BYTES))
            read_programs(reader, plane, wire_in(&field));
        else if (field.type == WIRE_GROUP && !whole_skip_group(&reader->whole, &in, field.number))
            break;
    }
    if (plane->programs.count)
        runs_sort(plane->programs.at, plane->programs.count, sizeof *plane->programs.at, begins_later, NULL);
}

/* ---- planes ---- */

/* The number after PREFIX in NAME, or -1; *REST is what follows it. */
static int64_t number_after(struct wire_text name, const char *prefix, struct wire_text *rest)
{
    size_t at = strlen(prefix);
    int64_t number = 0;
    if (!wire_text_begins(name, prefix) || at == name.len || name.at[at] < '0' || name.at[at] > '9')
        return -1;
    for (; at < name.len && name.at[at] >= '0' && name.at[at] <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) || (number += name.at[at] - '0') > INT32_MAX)
            return -1;
    *rest = (struct wire_text){ name.at + at, name.len - at };
    return number;
}

/* What the name of PLANE tells: what it is, and which process it becomes. INDEX counts planes. */
static void place_plane(struct xplane_plane *plane, size_t index)
{
    struct wire_text rest = { "", 0 };
    int64_t gpu = number_after(plane->name, "/device:GPU:", &rest);
    int64_t tpu = number_after(plane->name, "/device:TPU:", &rest);
    int64_t core = number_after(rest, " SparseCore ", &rest);
    plane->number = gpu >= 0 ? gpu : tpu;
    plane->kind = gpu >= 0 ? PLANE_GPU : tpu >= 0 ? PLANE_TPU : PLANE_HOST;
    if (plane->kind != PLANE_HOST)
        plane->pid = 1 + plane->number + (core >= 0 ? SPARSE_PIDS * (core + 1) : 0);
    else if (wire_text_is(plane->name, "/host:CPU") || wire_text_is(plane->name, "/host:CUPTI") ||
             wire_text_is(plane->name, "/host:NVTX-CUPTI") || wire_text_is(plane->name, "/host:ROCTRACER"))
        plane->pid = HOST_PID; /* one host, recorded by several: threads have the same ids in all of them */
    else
        plane->pid = OTHER_PIDS + (int64_t)index;
}

/* The next field of PLANE; where the file ends in the middle of the plane, at last the line that it ends in. */
static bool next_of_plane(struct whole *whole, const struct xplane_plane *plane, struct wire *in,
                          struct wire_field *field)
{
    uint64_t len;
    return whole_next(whole, in, field) || (plane->is_cut && wire_cut(in, field, &len) && field->number == 3);
}

static bool read_plane_fields(struct whole *whole, struct wire in, struct xplane_plane *plane)
{
    struct wire_field field;
    bool has_names = false;
    plane->fields = in;
    plane->name = (struct wire_text){ "", 0 };
    plane->lines_come_first = true;
    plane->has_lines = false;
    while (next_of_plane(whole, plane, &in, &field)) {
        has_names |= field.number == 4 || field.number == 5;
        plane->lines_come_first &= !(has_names && field.number == 3);
        plane->has_lines |= wire_is(&field, 3, WIRE_BYTES);
        if (wire_is(&field, 2, WIRE_BYTES)) {
            plane->name = wire_text_of(&field);
            whole_keep(whole, field.bytes, (size_t)field.value);
        } else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number)) {
            return false;
        }
    }
    return !in.damaged || plane->is_cut;
}

static void read_environment(struct xplane_reader *reader, const struct xplane_plane *plane)
{
    struct trace_file *file = trace_builder_current_file(reader->builder);
    struct xplane_value value;
    if (wire_text_is(plane->name, "Task Environment") &&
        xplane_plane_stat(plane, "profile_start_time", &value) && value.is_number && value.number > 0 &&
        value.number <= TRACE_LATEST_WALL_NS) {
        file->has_base = true;
        file->base_ns = value.number;
    }
    if (!xplane_plane_stat(plane, "jax_version", &value))
        return;
    reader->is_jax = true;
    *VEC_PUSH(&file->properties) = (struct trace_property){
        "jax_version",
        trace_builder_strndup(reader->builder, value.text.len ? value.text.at : "", value.text.len), true
    };
}

static int64_t plane_number(const struct xplane_plane *plane, const char *name)
{
    struct xplane_value value;
    return xplane_plane_stat(plane, name, &value) && value.is_number && value.number > 0 ? value.number : 0;
}

static int int_of(int64_t number)
{
    return number <= INT32_MAX ? (int)number : 0;
}

/* Properties of a device from its plane, if there are any. */
static void read_device(struct xplane_reader *reader, const struct xplane_plane *plane)
{
    struct trace_file *file = trace_builder_current_file(reader->builder);
    struct xplane_value value;
    bool named = xplane_plane_stat(plane, "device_type_string", &value) ||
                 xplane_plane_stat(plane, "device_vendor", &value);
    reader->is_amd |= named && wire_text_is(value.text, "AMD");
    struct trace_device device = {
        .id = (int32_t)plane->number,
        .name = named && value.text.len
                    ? trace_builder_strndup(reader->builder, value.text.at, value.text.len)
                    : "",
        .total_memory = plane_number(plane, "memory_size"),
        .compute_major = int_of(plane_number(plane, "compute_cap_major")),
        .compute_minor = int_of(plane_number(plane, "compute_cap_minor")),
        .sm_count = int_of(plane_number(plane, "core_count")),
    };
    for (size_t i = 0; i < file->devices.count; i++)
        if (file->devices.at[i].id == device.id)
            return;
    if (device.total_memory || device.sm_count || *device.name)
        *VEC_PUSH(&file->devices) = device;
}

static bool read_lines(struct xplane_reader *reader, struct xplane_plane *plane)
{
    struct wire in = plane->fields;
    struct wire_field field;
    uint64_t order = 0;
    while (next_of_plane(&reader->whole, plane, &in, &field)) {
        if (wire_is(&field, 3, WIRE_BYTES)) {
            if (!read_line(reader, plane, wire_in(&field), ++order))
                return false;
        } else if (field.type == WIRE_GROUP && !whole_skip_group(&reader->whole, &in, field.number)) {
            break;
        }
    }
    return true;
}

/* Names of planes with lines that were met, so that two of one name stay apart. */
struct planes_met {
    struct names *names;
    VEC_OF(uint32_t) times; /* by name */
    size_t count;
};

static void keep_apart(struct xplane_reader *reader, struct xplane_plane *plane, struct planes_met *met)
{
    name_id id = names_add(met->names, plane->name.at, plane->name.len);
    plane->name.at = names_text(met->names, id); /* stays when the bytes of the plane are given back */
    if (id >= met->times.count) {                /* the first of this name */
        *VEC_PUSH(&met->times) = 0;
        return;
    }
    plane->pid += (int64_t)SECOND_PIDS * ++met->times.at[id];
    trace_chunk_notice(reader->chunk, "same_plane",
                       "planes have the name of one before them and are kept apart",
                       xplane_offset(reader, plane->fields.at));
}

/* The file ends in the middle of PLANE, which has LEN bytes by its tag. */
static void describe_cut(struct xplane_reader *reader, const struct xplane_plane *plane, uint64_t len)
{
    char text[600];
    size_t there = (size_t)(plane->fields.end - plane->fields.at);
    int written =
        snprintf(text, sizeof text,
                 "the file ends in the middle of %s%.*s: %zu of its %" PRIu64
                 " bytes are there; what is whole in them was read, and events whose names came later are "
                 "called #NUMBER",
                 plane->name.len ? "plane " : "a plane", plane->name.len > 300 ? 300 : (int)plane->name.len,
                 plane->name.at, there, len);
    trace_builder_lacks(reader->builder, LACK_CUT_SHORT,
                        trace_builder_strndup(reader->builder, text, (size_t)written), 1,
                        xplane_offset(reader, plane->fields.at));
}

/* Read plane IN; CUT_LEN is what it would have if the file did not end in its middle, else 0. */
static bool read_plane(struct xplane_reader *reader, struct wire in, uint64_t cut_len, struct planes_met *met)
{
    struct xplane_plane plane = { .is_cut = cut_len > 0 };
    bool ok = true;
    if (in.at == in.end)
        return true;
    if (!read_plane_fields(&reader->whole, in, &plane))
        describe_damage(reader, in.at);
    if (plane.is_cut)
        describe_cut(reader, &plane, cut_len);
    place_plane(&plane, met->count++);
    xplane_names_read(&reader->whole, &plane);
    read_environment(reader, &plane);
    if (plane.kind != PLANE_HOST)
        read_device(reader, &plane);
    if (plane.has_lines) {
        keep_apart(reader, &plane, met);
        if (plane.kind == PLANE_TPU)
            find_programs(reader, &plane);
        ok = read_lines(reader, &plane);
    }
    xplane_names_release(&plane);
    whole_let_go(&reader->whole);
    return ok;
}

/* ---- the file ---- */

static bool comes_later(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct xplane_step *a = left, *b = right;
    return a->number > b->number;
}

/* Where the host marks no steps, those of the devices count. */
static void add_device_steps(struct xplane_reader *reader)
{
    size_t count = reader->device_steps.count;
    struct xplane_step *steps = reader->device_steps.at;
    if (reader->host_steps || count == 0)
        return;
    static const char process[] = "Steps", thread[] = "of the devices";
    track_id track = trace_chunk_track(reader->chunk, &(struct track_key){ .pid_text = process,
                                                                           .tid_text = thread,
                                                                           .pid_len = sizeof process - 1,
                                                                           .tid_len = sizeof thread - 1 });
    runs_sort(steps, count, sizeof *steps, comes_later, NULL);
    for (size_t i = 0; i < count; i++)
        xplane_step_add(reader, track, &steps[i]);
}

/* What the profiler had to say, as a notice each. */
static void describe_message(struct xplane_reader *reader, const struct wire_field *field)
{
    static const char *const heads[] = {
        [2] = "the profiler reported an error: ", [3] = "the profiler warned: "
    };
    static const char *const kinds[] = { [2] = "profiler_error", [3] = "profiler_warning" };
    enum { MOST_TEXT = 500 };
    size_t head = strlen(heads[field->number]), len = (size_t)field->value;
    char text[600];
    len = len > MOST_TEXT ? MOST_TEXT : len;
    memcpy(text, heads[field->number], head);
    memcpy(text + head, field->bytes, len);
    trace_builder_notice(reader->builder, kinds[field->number],
                         trace_builder_strndup(reader->builder, text, head + len), 1,
                         xplane_offset(reader, field->bytes));
}

static bool read_field(struct xplane_reader *reader, const struct wire_field *field, struct planes_met *met)
{
    struct trace_file *file = trace_builder_current_file(reader->builder);
    struct whole *whole = &reader->whole;
    if (field->type != WIRE_BYTES)
        return true;
    switch (field->number) {
    case 1: {
        bool ok = read_plane(reader, wire_in(field), 0, met);
        whole_done(whole, (size_t)(field->bytes + field->value - whole->at));
        return ok;
    }
    case 2:
    case 3: describe_message(reader, field); return true;
    case 4:
        whole_need(whole, field->bytes, (size_t)field->value);
        if (!file->host_name && field->value)
            file->host_name =
                trace_builder_strndup(reader->builder, (const char *)field->bytes, (size_t)field->value);
        return true;
    default: return true;
    }
}

/* The HloProto in the entry ENTRY of a plane's table of events: the bytes of one of its stats. */
static void read_program(struct xplane_reader *reader, const struct wire_field *entry)
{
    enum { LEAST_PROGRAM = 16 }; /* bytes: shorter ones are fingerprints and the like */
    struct wire in = wire_in(entry);
    struct wire_field field, program = { 0 };
    struct wire_text name = { "", 0 };
    while (wire_next(&in, &field)) {
        struct wire value = wire_is(&field, 2, WIRE_BYTES) ? wire_in(&field) : wire_over(NULL, 0);
        struct wire_field stat;
        while (wire_next(&value, &stat)) {
            if (wire_is(&stat, 2, WIRE_BYTES))
                name = wire_text_of(&stat);
            struct wire part = wire_is(&stat, 5, WIRE_BYTES) ? wire_in(&stat) : wire_over(NULL, 0);
            struct wire_field bytes;
            while (wire_next(&part, &bytes))
                if (wire_is(&bytes, 6, WIRE_BYTES) && bytes.value >= LEAST_PROGRAM)
                    program = bytes;
        }
    }
    if (program.value)
        hlo_programs_add(&reader->hlo, name.at, name.len, program.bytes, (size_t)program.value);
}

/* The programs that the compiler left in PLANE. */
static void read_programs_of(struct xplane_reader *reader, const struct xplane_plane *plane)
{
    struct whole *whole = &reader->whole;
    struct wire in = plane->fields;
    struct wire_field field;
    while (whole_next(whole, &in, &field)) {
        if (wire_is(&field, 4, WIRE_BYTES)) {
            whole_need(whole, field.bytes, (size_t)field.value);
            read_program(reader, &field);
        } else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number)) {
            return;
        }
    }
}

/* The work of the GPU at IN, for calls that come before it. */
static void look_at_work(struct xplane_reader *reader, struct wire in)
{
    struct xplane_plane plane = { 0 };
    read_plane_fields(&reader->whole, in, &plane);
    place_plane(&plane, 0);
    xplane_work_scan(reader, &plane);
    whole_let_go(&reader->whole);
}

/* Operators are read with what their programs say, calls with what their work names: look through all programs first, and where
 * the host comes before a GPU, then through the GPUs, whose work keeps what programs say of its operators. */
static void look_ahead(struct xplane_reader *reader)
{
    struct whole *whole = &reader->whole;
    struct wire in = wire_over(whole->at, whole->size);
    struct wire_field field;
    SCOPED VEC_OF(struct wire) gpus = { 0 };
    bool host_was_there = false;
    while (whole_next(whole, &in, &field)) {
        struct xplane_plane plane = { 0 };
        if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number))
            break;
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        bool is_whole = read_plane_fields(whole, wire_in(&field), &plane);
        if (is_whole && (xplane_wants_hlo(reader) || reader->hlo.wants_memory) &&
            wire_text_is(plane.name, "/host:metadata"))
            read_programs_of(reader, &plane);
        if (is_whole && plane.has_lines) {
            place_plane(&plane, 0);
            host_was_there |= plane.kind == PLANE_HOST;
            if (plane.kind == PLANE_GPU && host_was_there)
                *VEC_PUSH(&gpus) = wire_in(&field);
        }
        whole_let_go(whole);
    }
    for (size_t i = 0; i < gpus.count; i++)
        look_at_work(reader, gpus.at[i]);
}

static bool read_space(struct xplane_reader *reader)
{
    struct whole *whole = &reader->whole;
    struct wire in = wire_over(whole->at, whole->size);
    struct wire_field field;
    struct planes_met met = { .names = names_open() };
    bool ok = true;
    while (ok && whole_next(whole, &in, &field)) {
        if (field.type == WIRE_GROUP)
            whole_skip_group(whole, &in, field.number);
        else
            ok = read_field(reader, &field, &met);
    }
    uint64_t len;
    const uint8_t *end = in.at;
    if (ok && wire_cut(&in, &field, &len) && field.number == 1)
        ok = read_plane(reader, wire_in(&field), len, &met);
    else if (in.damaged)
        trace_chunk_lacks(reader->chunk, LACK_CUT_SHORT,
                          "the file is cut or damaged here; what comes after was not read",
                          xplane_offset(reader, end));
    names_free(met.names);
    VEC_FREE(&met.times);
    return ok;
}

static bool read_xplane(struct source *source, struct trace_builder *builder,
                        const struct ingest_options *options, struct tpa_error *err)
{
    struct xplane_reader reader = {
        .builder = builder,
        .chunk = trace_chunk_open(builder),
        .options = options,
        .err = err,
        .serial = 1,
        .hlo = { .wants_memory = options->wants.programs },
    };
    bool ok = whole_open(&reader.whole, source, options, err);
    whole_notice(&reader.whole, source, builder);
    if (ok) {
        xplane_event_init(&reader);
        look_ahead(&reader);
        for (size_t i = 0; i < reader.hlo.memory.count; i++)
            *VEC_PUSH(&trace_builder_current_file(builder)->properties) =
                (struct trace_property){ trace_builder_strndup(builder, reader.hlo.memory.at[i].key,
                                                               strlen(reader.hlo.memory.at[i].key)),
                                         trace_builder_strndup(builder, reader.hlo.memory.at[i].value,
                                                               strlen(reader.hlo.memory.at[i].value)),
                                         true };
        ok = read_space(&reader);
        add_device_steps(&reader);
        trace_builder_current_file(builder)->producer =
            reader.is_tensorflow && !reader.is_jax ? PRODUCER_TENSORFLOW : PRODUCER_JAX;
        ok = ok && hand_over(&reader) && whole_close(&reader.whole, builder, err);
    }
    EACH(VEC_FREE, &reader.device_steps, &reader.allocators);
    id_table_release(&reader.step_places);
    hlo_programs_release(&reader.hlo);
    EACH(buffer_release, &reader.text, &reader.line_name, &reader.line_display);
    trace_chunk_free(reader.chunk);
    whole_free(&reader.whole);
    xplane_work_release(&reader);
    return ok;
}

/* ---- sniffing ---- */

static bool is_printable(const struct wire_field *field)
{
    return !ANY(i, field->value, field->bytes[i] < ' ' || field->bytes[i] == 0x7f) && field->value > 0;
}

/* How much the first plane, of which BYTES are seen, looks like one: 0 to 95. */
static int sniff_plane(struct wire in)
{
    struct wire_field field;
    int score = in.at == in.end ? 30 : 0;
    while (wire_next(&in, &field)) {
        if (field.number > 6) /* a newer writer's comes behind the name; before it, this is not a plane */
            return 0;
        if (field.number == 1 ? field.type != WIRE_VARINT : field.type != WIRE_BYTES)
            return 0;
        if (field.number == 2 && is_printable(&field))
            return field.bytes[0] == '/' || field.bytes[0] == '#' || field.bytes[0] == 'T' ? 95 : 70;
        score = 55;
    }
    return score;
}

/* Texts have no control characters; a message has at least one length or tag below a blank. */
static bool is_text(const char *bytes, size_t len)
{
    enum { ENOUGH = 512 };
    for (size_t i = 0; i < len && i < ENOUGH; i++)
        if ((unsigned char)bytes[i] < ' ' && (bytes[i] == '\0' || !strchr("\t\n\r\f", bytes[i])))
            return false;
    return true;
}

/* A plane first, as always, or what else an XSpace may hold. A cut message in the first bytes is as good as a whole one. */
static int sniff_xplane(const char *bytes, size_t len)
{
    /* A text in quotes begins as a message of a host name would. */
    size_t printable = 0;
    while (printable < len && printable < 64 &&
           (isprint((unsigned char)bytes[printable]) || isspace((unsigned char)bytes[printable])))
        printable++;
    if (len >= 8 && bytes[0] == '"' && printable == (len < 64 ? len : 64))
        return 0;
    struct wire in = wire_over(bytes, len);
    int score = 0;
    if (is_text(bytes, len)) /* a quote is the tag of a host's name */
        return 0;
    while (in.at < in.end) {
        struct wire here = in;
        struct wire_field field;
        uint64_t tag, size;
        if (!wire_varint(&here, &tag))
            break;
        if (tag >> 3 == 0 || tag >> 3 > 4) { /* nobody's field: a newer writer's */
            if (!wire_next(&in, &field) || (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number)))
                break;
            continue;
        }
        if ((tag & 7) != WIRE_BYTES)
            return 0;
        if (!wire_varint(&here, &size))
            break;
        size_t there = (size_t)(here.end - here.at);
        bool is_cut = size > there;
        size_t seen = is_cut ? there : (size_t)size;
        if (tag >> 3 == 1) {
            int plane = sniff_plane(wire_over(here.at, seen));
            if (plane != 30)
                return plane;
            score = plane;
        } else if (!is_cut) {
            score = 60;
        }
        in.at = here.at + seen;
    }
    return score;
}

const struct format format_xplane = {
    .name = "XSpace",
    .description = "TensorFlow, JAX, PyTorch/XLA: *.xplane.pb, of GPUs, TPUs and CPUs",
    .sniff = sniff_xplane,
    .read = read_xplane,
};
