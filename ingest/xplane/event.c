/*
 * event.c - one XEvent, made an event of the trace.
 *
 * What is distinguished:
 *
 *   - On a GPU's streams, kernel_details, memcpy_details and memset_details say what it is. On a TPU the lines say it.
 *   - On the host, an event with a correlation_id is a call of CUDA's or HIP's; so is a TPU's DoEnqueueProgram, whose
 *     run_id is that of the program on the device. One with an hlo_op is an operator that XLA ran on the CPU.
 *   - XLA on the CPU marks the end of each operator with a second event, "end: NAME" (a twin). It is not work.
 *   - A call that names the operator it launches for, or whose work does, gets a span of that operator around it: in newer
 *     files, calls lie on lines of their own, and nothing else says it.
 *   - step_num, or a TraceContext, makes a step, which is called so: "train [step 7]".
 *   - MemoryAllocation and MemoryDeallocation are memory records; what is in use afterwards, they say themselves.
 */
#include "ingest/xplane/parts.h"

#include "trace/memory_change.h"
#include "trace/step_name.h"
#include "base/search.h"
#include <inttypes.h>

static uint16_t category(struct xplane_reader *reader, const char *text)
{
    return trace_chunk_category(reader->chunk, text, strlen(text));
}

void xplane_event_init(struct xplane_reader *reader)
{
    reader->no_category = category(reader, "");
    reader->kernel = category(reader, "kernel");
    reader->copy = category(reader, "gpu_memcpy");
    reader->memset = category(reader, "gpu_memset");
    reader->annotation = category(reader, "user_annotation");
    reader->grouping = category(reader, "gpu_user_annotation");
    reader->operation = category(reader, "cpu_op");
    reader->runtime = category(reader, "cuda_runtime");
    reader->driver = category(reader, "cuda_driver");
    reader->tpu_runtime = category(reader, "tpu_runtime");
    reader->instant = category(reader, "cpu_instant_event");
}

/* ---- time ---- */

static int64_t floor_ns(int64_t ps)
{
    return ps / 1000 - (ps % 1000 < 0);
}

bool xplane_span(const struct xplane_line *line, int64_t offset_ps, int64_t duration_ps, int64_t *start_ns,
                 int64_t *end_ns)
{
    int64_t end_ps;
    if (__builtin_add_overflow(offset_ps, duration_ps, &end_ps) ||
        __builtin_add_overflow(line->timestamp_ns, floor_ns(offset_ps), start_ns) ||
        __builtin_add_overflow(line->timestamp_ns, floor_ns(end_ps), end_ns))
        return false;
    return *start_ns >= -TRACE_LATEST_NS && *end_ns <= TRACE_LATEST_NS;
}

/* ---- reading ---- */

/* Any way that an XEvent may be written. */
static bool read_fields(const struct xplane_plane *plane, struct wire in, const uint8_t *end,
                        struct xplane_event *event)
{
    struct wire_field field;
    event->metadata_id = 0;
    event->offset_ps = event->duration_ps = 0;
    event->is_sum = false;
    event->stats.present = 0;
    while (wire_next(&in, &field)) {
        switch (field.number << 3 | field.type) {
        case 1 << 3 | WIRE_VARINT: event->metadata_id = field.value; break;
        case 2 << 3 | WIRE_VARINT:
            event->offset_ps = (int64_t)field.value;
            event->is_sum = false;
            break;
        case 3 << 3 | WIRE_VARINT: event->duration_ps = (int64_t)field.value; break;
        case 4 << 3 | WIRE_BYTES:
            xplane_stat_take(plane, field.bytes, (size_t)field.value, end, &event->stats);
            break;
        case 5 << 3 | WIRE_VARINT: event->is_sum = true; break;
        default:
            if (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number))
                return false;
        }
    }
    return !in.damaged;
}

/* The number of the field that begins with TAG, if that is the next one before STOP. False: it is a long one. */
static inline bool read_number(const uint8_t **at, const uint8_t *stop, uint8_t tag, uint64_t *number)
{
    if (*at >= stop || **at != tag)
        return true;
    ++*at;
    return wire_quick_varint(at, number);
}

/* As writers write it, which takes half the time: in order, tags of one byte, numbers of up to eight, short stats. False: it is
 * written in another way, or damaged. */
static bool read_quickly(const struct xplane_plane *plane, const struct wire_field *field, const uint8_t *end,
                         struct xplane_event *event)
{
    enum { NUMBERS = 3, TAG_AND_NUMBER = 9 };
    const uint8_t *at = field->bytes, *stop = at + field->value;
    uint64_t id = 0, offset_ps = 0, duration_ps = 0;
    if (end - at < (ptrdiff_t)NUMBERS * TAG_AND_NUMBER ||
        !read_number(&at, stop, 1 << 3 | WIRE_VARINT, &id) ||
        !read_number(&at, stop, 2 << 3 | WIRE_VARINT, &offset_ps) ||
        !read_number(&at, stop, 3 << 3 | WIRE_VARINT, &duration_ps))
        return false;
    event->metadata_id = id;
    event->offset_ps = (int64_t)offset_ps;
    event->duration_ps = (int64_t)duration_ps;
    event->is_sum = false;
    event->stats.present = 0;
    while (at < stop) {
        if (*at != (4 << 3 | WIRE_BYTES) || stop - at < 2 || at[1] >= 0x80 || at[1] > stop - at - 2)
            return false;
        xplane_stat_take(plane, at + 2, at[1], end, &event->stats);
        at += 2 + at[1];
    }
    return at == stop;
}

bool xplane_event_read(struct whole *whole, const struct xplane_plane *plane, const struct wire *line,
                       const struct wire_field *field, struct xplane_event *event)
{
    whole_need(whole, field->bytes, (size_t)field->value);
    const uint8_t *end = line->end < whole->ready_end ? line->end : whole->ready_end;
    return read_quickly(plane, field, end, event) || read_fields(plane, wire_in(field), end, event);
}

/* ---- names, tracks ---- */

static bool wants(const struct xplane_reader *reader, enum trace_arg arg)
{
    return reader->options->wants.args >> arg & 1;
}

static name_id text_id(struct xplane_reader *reader, struct wire_text text)
{
    return trace_chunk_text(reader->chunk, text.len ? text.at : "", text.len);
}

static name_id add_name(struct xplane_reader *reader, struct wire_text text)
{
    return text.len ? trace_chunk_name(reader->chunk, text.at, text.len)
                    : trace_chunk_name(reader->chunk, "[no name]", 9);
}

/* Names on a TPU are whole lines of HLO; what people call the operator is the display name. */
static struct wire_text shown_name(const struct xplane_plane *plane, const struct xplane_event_name *name)
{
    return plane->kind == PLANE_TPU && name->display.len ? name->display : name->name;
}

static name_id name_of(struct xplane_reader *reader, const struct xplane_plane *plane,
                       struct xplane_event_name *name, uint64_t metadata_id)
{
    if (!name) {
        char text[32];
        int len = snprintf(text, sizeof text, "#%" PRIu64, metadata_id);
        return trace_chunk_name(reader->chunk, text, (size_t)len);
    }
    if (name->serial == reader->serial)
        return name->id;
    if (name->serial)
        trace_chunk_name_again(reader->chunk, name->id);
    else
        name->id = add_name(reader, shown_name(plane, name));
    name->serial = reader->serial;
    name->long_id = NAME_NONE;
    return name->id;
}

/* The same for the whole line of HLO, of a name that was passed to name_of before. */
static name_id long_name_of(struct xplane_reader *reader, struct xplane_event_name *name)
{
    if (name->long_id == NAME_NONE)
        name->long_id = text_id(reader, name->name);
    return name->long_id;
}

/* The track of LINE, named. */
static track_id xplane_line_track(struct xplane_reader *reader, const struct xplane_plane *plane,
                                  struct xplane_line *line)
{
    if (line->track != TRACK_NONE)
        return line->track;
    struct trace_chunk *chunk = reader->chunk;
    struct wire_text name = line->display.len ? line->display : line->name;
    line->track = trace_chunk_track(chunk, &(struct track_key){ .pid = plane->pid, .tid = line->id });
    trace_chunk_fact(chunk, line->track, FACT_PROCESS_NAME, 0, text_id(reader, plane->name));
    trace_chunk_fact(chunk, line->track, FACT_PROCESS_SORT_INDEX, plane->pid, NAME_NONE);
    if (name.len)
        trace_chunk_fact(chunk, line->track, FACT_THREAD_NAME, 0, text_id(reader, name));
    trace_chunk_fact(chunk, line->track, FACT_THREAD_SORT_INDEX, (int64_t)line->order, NAME_NONE);
    return line->track;
}

/* ---- what goes with an event ---- */

static void add_number(struct xplane_reader *reader, const struct xplane_stats *stats, enum xplane_stat stat,
                       enum trace_arg arg)
{
    int64_t number;
    if (xplane_has(stats, stat) && wants(reader, arg) && xplane_number(stats, stat, &number))
        trace_chunk_arg(reader->chunk, arg, number);
}

/* Details stand in the file once and are referred to by many events: they are read when they were not just read. */
static void add_detail(struct xplane_reader *reader, struct wire_text text)
{
    struct xplane_known_details *known =
        &reader->details[(uintptr_t)text.at * UINT64_C(0x9e3779b97f4a7c15) >> 56];
    if (known->text.at != text.at || known->text.len != text.len) {
        known->text = text;
        xla_details_read(reader->chunk, text.at, text.len, &known->details);
    }
    xla_details_set(reader->chunk, &known->details);
}

static void add_details(struct xplane_reader *reader, const struct xplane_stats *stats)
{
    static const enum xplane_stat details[] = { STAT_KERNEL_DETAILS, STAT_MEMCPY_DETAILS,
                                                STAT_MEMSET_DETAILS };
    if (!(reader->options->wants.args & XLA_DETAILS_TELL))
        return;
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (xplane_has(stats, details[i]) && stats->at[details[i]].text.len)
            add_detail(reader, stats->at[details[i]].text);
}

/* TEXT as an argument, by an id that is kept in *ID while the chunk is the same. */
static void add_text(struct xplane_reader *reader, enum trace_arg arg, const char *text, bool is_kept,
                     uint32_t *id)
{
    if (!is_kept)
        *id = trace_chunk_text(reader->chunk, text, strlen(text));
    if (*text && wants(reader, arg))
        trace_chunk_arg(reader->chunk, arg, *id);
}

/* What its program says of the operator that was added last. */
static void add_hlo(struct xplane_reader *reader, struct hlo_operator *hlo)
{
    if (!hlo || !xplane_wants_hlo(reader))
        return;
    bool is_kept = hlo->serial == reader->serial;
    if (hlo->flops >= 0 && wants(reader, ARG_FLOPS))
        trace_chunk_arg(reader->chunk, ARG_FLOPS, hlo->flops);
    if (hlo->bytes >= 0 && wants(reader, ARG_BYTES_ACCESSED))
        trace_chunk_arg(reader->chunk, ARG_BYTES_ACCESSED, hlo->bytes);
    add_text(reader, ARG_INPUT_DIMS, hlo->dims, is_kept, &hlo->dims_id);
    add_text(reader, ARG_INPUT_TYPES, hlo->types, is_kept, &hlo->types_id);
    add_text(reader, ARG_CALL_STACK, hlo->stack, is_kept, &hlo->stack_id);
    hlo->serial = reader->serial;
}

static void add_args(struct xplane_reader *reader, const struct xplane_stats *stats)
{
    add_number(reader, stats, STAT_CORRELATION, ARG_CORRELATION);
    add_number(reader, stats, STAT_GRAPH_ID, ARG_GRAPH_ID);
    add_number(reader, stats, STAT_GRAPH_NODE_ID, ARG_GRAPH_NODE_ID);
    if (xplane_has(stats, STAT_HLO_MODULE) && stats->at[STAT_HLO_MODULE].text.len &&
        wants(reader, ARG_MODULE))
        trace_chunk_arg(reader->chunk, ARG_MODULE, text_id(reader, stats->at[STAT_HLO_MODULE].text));
    add_number(reader, stats, xplane_has(stats, STAT_FLOPS) ? STAT_FLOPS : STAT_MODEL_FLOPS, ARG_FLOPS);
    add_number(reader, stats, STAT_BYTES_ACCESSED, ARG_BYTES_ACCESSED);
    add_details(reader, stats);
}

/* Contexts tie what requested work to what did it: producer to consumers of one type and id. */
static void add_flow(struct xplane_reader *reader, const struct xplane_stats *stats, enum xplane_stat type,
                     enum xplane_stat id, char phase, track_id track, int64_t ts_ns)
{
    int64_t numbers[2] = { 1, 0 }; /* where no type is reported, it is the one for all */
    xplane_number(stats, type, &numbers[0]);
    if (!xplane_number(stats, id, &numbers[1]))
        return;
    trace_chunk_count_skipped(reader->chunk, 1, 0, 0);
    if (!reader->options->wants.flows)
        return;
    trace_chunk_flow(reader->chunk, &(struct trace_flow){
                                        .id = trace_async_id(0, (const char *)numbers, sizeof numbers),
                                        .ts_ns = ts_ns,
                                        .category = trace_chunk_text(reader->chunk, "context", 7),
                                        .name = trace_chunk_text(reader->chunk, "context", 7),
                                        .track = track,
                                        .phase = phase,
                                        .bind_enclosing = phase == 'f',
                                    });
}

static void add_flows(struct xplane_reader *reader, const struct xplane_stats *stats, track_id track,
                      int64_t ts_ns)
{
    if (xplane_has(stats, STAT_PRODUCER_ID))
        add_flow(reader, stats, STAT_PRODUCER_TYPE, STAT_PRODUCER_ID, 's', track, ts_ns);
    if (xplane_has(stats, STAT_CONSUMER_ID))
        add_flow(reader, stats, STAT_CONSUMER_TYPE, STAT_CONSUMER_ID, 'f', track, ts_ns);
}

/* ---- steps ---- */

void xplane_step_add(struct xplane_reader *reader, track_id track, const struct xplane_step *step)
{
    buffer_clear(&reader->text);
    step_name_add(&reader->text, STEP_OF_DEVICES, sizeof STEP_OF_DEVICES - 1, step->number);
    trace_chunk_event(reader->chunk,
                      &(struct chunk_event){
                          .phase = 'X',
                          .start_ns = step->start_ns,
                          .dur_ns = step->end_ns - step->start_ns,
                          .name = trace_chunk_name(reader->chunk, reader->text.at, reader->text.count),
                          .track = track,
                          .category = reader->annotation,
                      });
}

/* Which step EVENT of the host is: step_num says it; a TraceContext without it is one, too, named or grouped. */
static bool is_step(const struct xplane_event_name *name, const struct xplane_stats *stats, int64_t *number)
{
    if (xplane_number(stats, STAT_STEP_NUM, number))
        return true;
    return name && name->is_context &&
           (xplane_number(stats, STAT_STEP_NAME, number) || xplane_number(stats, STAT_GROUP_ID, number));
}

/* ---- memory ---- */

/* Types of devices, as the framework whose records they resemble numbers them. */
enum { DEVICE_CPU = 0, DEVICE_CUDA = 1, DEVICE_HIP = 6, DEVICE_XLA = 9 };

/* The device of allocator NAME: "GPU_0_bfc" is GPU 0's; a TPU's are known by number; the others are the host's. */
static void choose_device(struct xplane_allocator *allocator, const struct xplane_stats *stats, bool is_amd)
{
    const char *at = allocator->name.at, *end = at + allocator->name.len;
    int64_t number = 0;
    if (wire_text_begins(allocator->name, "GPU_") && at + 4 < end && at[4] >= '0' && at[4] <= '9') {
        for (at += 4; at < end && *at >= '0' && *at <= '9' && number < INT32_MAX / 10; at++)
            number = number * 10 + (*at - '0');
        allocator->type = is_amd ? DEVICE_HIP : DEVICE_CUDA;
        allocator->id = number;
    } else if (allocator->name.len == 0 && (xplane_number(stats, STAT_INDEX_ON_HOST, &number) ||
                                            xplane_number(stats, STAT_DEVICE_ORDINAL, &number))) {
        allocator->type = DEVICE_XLA;
        allocator->id = number;
    } else {
        allocator->type = DEVICE_CPU;
        allocator->id = -1;
    }
}

static bool is_taken(const struct xplane_reader *reader, const struct xplane_allocator *allocator)
{
    return ANY(i, reader->allocators.count,
               reader->allocators.at[i].type == allocator->type &&
                   reader->allocators.at[i].id == allocator->id);
}

static bool same_text(struct wire_text a, struct wire_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Allocators keep books of their own: two of one device cannot be one, so the second is shown as another device. */
static struct xplane_allocator find_allocator(struct xplane_reader *reader, const struct xplane_stats *stats)
{
    struct xplane_allocator allocator = { .name = { "", 0 } };
    if (xplane_has(stats, STAT_ALLOCATOR) && stats->at[STAT_ALLOCATOR].text.len)
        allocator.name = stats->at[STAT_ALLOCATOR].text;
    choose_device(&allocator, stats, reader->is_amd);
    if (allocator.type == DEVICE_XLA)
        return allocator;
    for (size_t i = 0; i < reader->allocators.count; i++)
        if (same_text(reader->allocators.at[i].name, allocator.name))
            return reader->allocators.at[i];
    bool has_company = is_taken(reader, &allocator);
    while (is_taken(reader, &allocator))
        allocator.id = allocator.id < 1000 ? 1000 : allocator.id + 1;
    if (has_company)
        trace_chunk_notice(
            reader->chunk, "several_allocators",
            "a device has several allocators; the memory of each but the first is shown as of a device from 1000 on",
            TPA_NOWHERE);
    allocator.name.at = trace_builder_strndup(reader->builder, allocator.name.at, allocator.name.len);
    *VEC_PUSH(&reader->allocators) = allocator;
    return allocator;
}

static void add_memory(struct xplane_reader *reader, const struct xplane_event_name *name,
                       const struct xplane_stats *stats, track_id track, int64_t ts_ns)
{
    struct trace_chunk *chunk = reader->chunk;
    const char *word = memory_change_names[MEMORY_BLOCK];
    struct xplane_allocator allocator = find_allocator(reader, stats);
    int64_t bytes = 0, allocated, reserved = 0, available, sum;
    if (!xplane_number(stats, STAT_ALLOCATION_BYTES, &bytes))
        xplane_number(stats, STAT_REQUESTED_BYTES, &bytes);
    trace_chunk_event(chunk, &(struct chunk_event){
                                 .phase = 'i',
                                 .start_ns = ts_ns,
                                 .name = trace_chunk_name(chunk, word, strlen(word)),
                                 .track = track,
                                 .category = reader->instant,
                             });
    trace_chunk_arg(chunk, ARG_BYTES, name->is_free && bytes > 0 ? -bytes : bytes);
    trace_chunk_arg(chunk, ARG_DEVICE_TYPE, allocator.type);
    trace_chunk_arg(chunk, ARG_DEVICE_ID, allocator.id);
    add_number(reader, stats, STAT_ADDRESS, ARG_ADDRESS);
    xplane_number(stats, STAT_BYTES_RESERVED, &reserved);
    if (!xplane_number(stats, STAT_BYTES_ALLOCATED, &allocated) ||
        __builtin_add_overflow(allocated, reserved, &allocated))
        return;
    trace_chunk_arg(chunk, ARG_TOTAL_ALLOCATED, allocated);
    if (xplane_number(stats, STAT_BYTES_AVAILABLE, &available) &&
        !__builtin_add_overflow(allocated, available, &sum))
        trace_chunk_arg(chunk, ARG_TOTAL_RESERVED, sum);
}

/* ---- the event itself ---- */

int64_t xplane_launch_number(int64_t device, int64_t run)
{
    return (device & INT32_MAX) << 28 | (run & 0xfffffff);
}

static bool is_last_by(const struct xplane_plane *plane, size_t i, int64_t start_ns)
{
    return i < plane->programs.count && plane->programs.at[i].start_ns <= start_ns &&
           (i + 1 == plane->programs.count || plane->programs.at[i + 1].start_ns > start_ns);
}

/* The program that ran on the TPU at START: the last to begin by then. Mostly it is that of the operator before, or the next. */
static const struct xplane_program *program_at(struct xplane_plane *plane, int64_t start_ns)
{
    size_t i = plane->last_program;
    if (!is_last_by(plane, i, start_ns) && !is_last_by(plane, ++i, start_ns)) {
        SEARCH(i, plane->programs.count, plane->programs.at[i].start_ns <= start_ns);
        if (i == 0)
            return NULL;
        i--;
    }
    plane->last_program = i;
    const struct xplane_program *program = &plane->programs.at[i];
    return start_ns <= program->end_ns ? program : NULL;
}

/* Categories of what is on the device, of GPUs; "" leaves it to the names of the line and of the event. */
static uint16_t device_category(const struct xplane_reader *reader, const struct xplane_plane *plane,
                                const struct xplane_line *line, const struct xplane_stats *stats)
{
    if (line->is_derived || line->is_steps)
        return reader->grouping;
    if (plane->kind == PLANE_TPU)
        return reader->no_category;
    return xplane_has(stats, STAT_MEMCPY_DETAILS)   ? reader->copy
           : xplane_has(stats, STAT_MEMSET_DETAILS) ? reader->memset
           : xplane_has(stats, STAT_KERNEL_DETAILS) ? reader->kernel
                                                    : reader->no_category;
}

static bool is_driver_call(const struct xplane_event_name *name)
{
    struct wire_text text = name->name;
    return text.len > 2 && memcmp(text.at, "cu", 2) == 0 && text.at[2] >= 'A' && text.at[2] <= 'Z';
}

static uint16_t host_category(const struct xplane_reader *reader, const struct xplane_event_name *name,
                              const struct xplane_stats *stats)
{
    if (name && xplane_has(stats, STAT_CORRELATION))
        return is_driver_call(name) ? reader->driver : reader->runtime;
    if (xplane_has(stats, STAT_RUN_ID) && name && wire_text_is(name->name, "DoEnqueueProgram"))
        return reader->tpu_runtime;
    return xplane_operator(stats).len ? reader->operation : reader->no_category;
}

/* The number that joins a launch on the host, or work on a TPU, with the other. False: none. */
static bool tpu_launch(struct xplane_plane *plane, const struct xplane_line *line,
                       const struct xplane_stats *stats, int64_t start_ns, int64_t *number)
{
    int64_t run, device = 0;
    if (plane->kind == PLANE_HOST) {
        if (!xplane_number(stats, STAT_RUN_ID, &run))
            return false;
        xplane_number(stats, STAT_DEVICE_ORDINAL, &device);
        *number = xplane_launch_number(device, run);
        return true;
    }
    const struct xplane_program *program = line->is_work ? program_at(plane, start_ns) : NULL;
    if (!program || program->correlation < 0)
        return false;
    *number = program->correlation;
    return true;
}

/* The operator that the call EVENT launches for: it says so itself, or its work does. It may have an event around the call. */
static void add_operator(struct xplane_reader *reader, const struct xplane_line *line,
                         const struct chunk_event *event, const struct xplane_stats *stats)
{
    struct chunk_event span = *event;
    struct hlo_operator *hlo = NULL;
    bool is_inside =
        line->last_serial == reader->serial && event->start_ns + event->dur_ns <= line->last_end_ns;
    if (!xplane_work_operator(reader, stats, &span.name, &hlo) || (is_inside && span.name == line->last_name))
        return;
    span.category = reader->operation;
    trace_chunk_event(reader->chunk, &span);
    if (xplane_has(stats, STAT_HLO_OP) && xplane_has(stats, STAT_HLO_MODULE) &&
        stats->at[STAT_HLO_MODULE].text.len)
        trace_chunk_arg(reader->chunk, ARG_MODULE, text_id(reader, stats->at[STAT_HLO_MODULE].text));
    add_hlo(reader, hlo);
}

/* EVENT of the host is no call: calls in it are for what it does. */
static void keep_as_around(const struct xplane_reader *reader, struct xplane_line *line,
                           const struct chunk_event *event)
{
    line->last_name = event->name;
    line->last_serial = reader->serial;
    line->last_end_ns = event->start_ns + event->dur_ns;
}

/* EVENT of the host is the step that it tells of. */
static void make_step(struct xplane_reader *reader, const struct xplane_event_name *name,
                      struct chunk_event *event, int64_t number)
{
    if (number < 0) {
        trace_chunk_notice(reader->chunk, "bad_step", "steps have a negative number and are ignored",
                           TPA_NOWHERE);
        return;
    }
    struct wire_text text = name ? name->name : (struct wire_text){ NULL, 0 };
    buffer_clear(&reader->text);
    step_name_add(&reader->text, text.len ? text.at : "step", text.len ? text.len : 4, number);
    event->name = trace_chunk_name(reader->chunk, reader->text.at, reader->text.count);
    event->category = reader->annotation;
    reader->host_steps++;
}

/* The step that EVENT of the host is; and a span around it of the operator that a call launches for. */
static void add_around(struct xplane_reader *reader, struct xplane_line *line,
                       const struct xplane_event_name *name, struct chunk_event *event,
                       const struct xplane_stats *stats)
{
    int64_t number;
    if (is_step(name, stats, &number))
        make_step(reader, name, event, number);
    if (event->category == reader->driver || event->category == reader->runtime)
        add_operator(reader, line, event, stats);
    else
        keep_as_around(reader, line, event);
}

/* What NAME's events on a line of steps are: NO_STEP, or 1 + the index of one that has not happened yet in device_steps. */
static uint32_t find_device_step(struct xplane_reader *reader, const struct xplane_event_name *name)
{
    struct xplane_stats stats = { .present = 1 << STAT_STEP_NAME };
    struct xplane_step step = { 0, INT64_MAX, INT64_MIN };
    stats.at[STAT_STEP_NAME].text = name->name;
    if (!xplane_number(&stats, STAT_STEP_NAME, &step.number) || step.number < 0)
        return NO_STEP;
    uint32_t place = id_table_find(&reader->step_places, (uint64_t)step.number);
    if (place == ID_TABLE_NONE) {
        place = (uint32_t)reader->device_steps.count;
        id_table_set(&reader->step_places, (uint64_t)step.number, place);
        *VEC_PUSH(&reader->device_steps) = step;
    }
    return 1 + place;
}

/* EVENT on a line of steps: its step lasts from the first device's begin to the last one's end. */
static void record_device_step(struct xplane_reader *reader, struct xplane_event_name *name,
                               const struct chunk_event *event)
{
    if (!name)
        return;
    if (!name->step)
        name->step = find_device_step(reader, name);
    if (name->step == NO_STEP)
        return;
    struct xplane_step *step = &reader->device_steps.at[name->step - 1];
    int64_t end_ns = event->start_ns + event->dur_ns;
    step->start_ns = event->start_ns < step->start_ns ? event->start_ns : step->start_ns;
    step->end_ns = end_ns > step->end_ns ? end_ns : step->end_ns;
}

static void add_span(struct xplane_reader *reader, struct xplane_plane *plane, struct xplane_line *line,
                     struct xplane_event_name *name, struct chunk_event *event,
                     const struct xplane_stats *stats)
{
    struct trace_chunk *chunk = reader->chunk;
    int64_t launch;
    if (plane->kind == PLANE_HOST) {
        reader->is_jax |= name && name->is_jax;
        reader->is_tensorflow |= name && name->is_tensorflow;
        if (stats->present == 0) { /* most: it can be no call and no step */
            event->category = reader->no_category;
            keep_as_around(reader, line, event);
            trace_chunk_event(chunk, event);
            return;
        }
        event->category = host_category(reader, name, stats);
        add_around(reader, line, name, event, stats);
    } else {
        event->category = device_category(reader, plane, line, stats);
        if (plane->kind == PLANE_GPU && !line->is_derived)
            xplane_work_record(reader, stats);
        if (line->is_steps)
            record_device_step(reader, name, event);
    }
    trace_chunk_event(chunk, event);
    if (stats->present)
        add_args(reader, stats);
    if (event->category == reader->operation && reader->hlo.keys)
        add_hlo(reader, xplane_hlo(reader, stats));
    if ((event->category == reader->tpu_runtime || line->is_work) &&
        tpu_launch(plane, line, stats, event->start_ns, &launch))
        trace_chunk_arg(chunk, ARG_CORRELATION, launch);
    if (plane->kind == PLANE_TPU && name && name->display.len && wants(reader, ARG_LONG_NAME))
        trace_chunk_arg(chunk, ARG_LONG_NAME, long_name_of(reader, name));
    if (stats->present)
        add_flows(reader, stats, event->track, event->start_ns);
}

/* What is the same for all events of a name stands with the name; what the event tells itself counts more. */
static void add_stats_of_name(const struct xplane_plane *plane, const struct xplane_event_name *name,
                              struct xplane_stats *stats)
{
    uint32_t present = stats->present;
    for (uint32_t i = 0; i < name->stat_count; i++) {
        const struct xplane_name_stat *known = &plane->name_stats.at[name->first_stat + i];
        if (present >> known->stat & 1)
            continue;
        stats->at[known->stat] = known->value;
        stats->present |= UINT32_C(1) << known->stat;
    }
}

void xplane_event_add(struct xplane_reader *reader, struct xplane_plane *plane, struct xplane_line *line,
                      struct xplane_event *event, const uint8_t *at)
{
    struct trace_chunk *chunk = reader->chunk;
    int64_t start_ns, end_ns;
    uint32_t place = id_table_find(&plane->event_ids, event->metadata_id);
    struct xplane_event_name *name = place == UINT32_MAX ? NULL : &plane->event_names.at[place];
    if (event->is_sum) {
        trace_chunk_notice(chunk, "no_time",
                           "events record how often something happened but not when, and were left out",
                           xplane_offset(reader, at));
        return;
    }
    if (name && name->is_twin) {
        trace_chunk_notice(chunk, "operator_ends",
                           "events called \"end: ...\" mark the end of an operator of XLA and were left out",
                           xplane_offset(reader, at));
        return;
    }
    if (event->duration_ps < 0) {
        trace_chunk_notice(chunk, lack_word(LACK_NEGATIVE_DURATION),
                           "events of negative duration are taken to last 0 ns", xplane_offset(reader, at));
        event->duration_ps = 0;
    }
    if (!xplane_span(line, event->offset_ps, event->duration_ps, &start_ns, &end_ns)) {
        trace_chunk_lacks(chunk, LACK_BAD_TIME,
                          "events begin or end more than 73 years from the origin and were left out",
                          xplane_offset(reader, at));
        return;
    }
    if (name && name->stat_count)
        add_stats_of_name(plane, name, &event->stats);
    track_id track = xplane_line_track(reader, plane, line);
    if (name && name->is_allocation && plane->kind == PLANE_HOST) {
        add_memory(reader, name, &event->stats, track, start_ns);
        return;
    }
    struct chunk_event span = {
        .phase = 'X',
        .start_ns = start_ns,
        .dur_ns = end_ns - start_ns,
        .name = name_of(reader, plane, name, event->metadata_id),
        .track = track,
    };
    add_span(reader, plane, line, name, &span, &event->stats);
}
