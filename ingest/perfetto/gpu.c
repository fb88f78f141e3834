/*
 * gpu.c - GpuRenderStageEvents, which are kernels, copies and the like, and GpuCounterEvents.
 *
 * A stage has its duration, so stages of one queue may overlap. What it is says the name of the stage; what it is called, its
 * own name, else the kernel's, else the stage's. PyTorch puts what Chrome's format has as arguments into launch parameters
 * and, as text, into extra data under other names.
 */
#include "ingest/perfetto/parts.h"

#include <inttypes.h>

struct stage {
    bool has_id;
    uint64_t id, queue, stage, name_iid, kernel_iid, context;
    int64_t dur_ns, gpu;
    struct wire_text name;
};

static struct wire_text text_of_kind(const struct pf_sequence *sequence, enum pf_interned_kind kind,
                                     uint64_t iid)
{
    const struct pf_interned *entry = iid ? pf_sequence_find(sequence, kind, iid) : NULL;
    return entry ? entry->text : (struct wire_text){ NULL, 0 };
}

/* The kernel's name as people read it: demangled, where the file has that. */
static struct wire_text kernel_name(const struct pf_sequence *sequence, uint64_t iid)
{
    const struct pf_interned *entry = iid ? pf_sequence_find(sequence, PF_KERNEL, iid) : NULL;
    struct wire_text name = entry ? entry->text : (struct wire_text){ NULL, 0 };
    struct wire in = entry ? entry->message : wire_over(NULL, 0);
    struct wire_field field;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP)
        if (wire_is(&field, 3, WIRE_BYTES) && field.value)
            name = wire_text_of(&field);
    return name;
}

/* The category that the name of a stage stands for. */
static uint16_t category_of(const struct pf_reader *reader, struct wire_text stage)
{
    if (wire_text_begins(stage, "Memcpy"))
        return reader->copy;
    if (wire_text_begins(stage, "Memset"))
        return reader->memset;
    if (wire_text_is(stage, "Annotation"))
        return reader->annotation;
    if (wire_text_is(stage, "EventRecord") || wire_text_is(stage, "HostNode"))
        return reader->gpu_other;
    return reader->kernel;
}

static bool read_dimensions(struct wire in, struct buffer *text)
{
    uint64_t size[3] = { 1, 1, 1 };
    struct wire_field field;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP)
        if (field.type == WIRE_VARINT && field.number >= 1 && field.number <= 3)
            size[field.number - 1] = field.value;
    buffer_clear(text);
    buffer_printf(text, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", size[0], size[1], size[2]);
    return !in.damaged;
}

static void add_dimensions(struct pf_reader *reader, enum trace_arg arg, struct wire in)
{
    if (read_dimensions(in, &reader->text))
        trace_chunk_arg(reader->chunk, arg,
                        trace_chunk_text(reader->chunk, reader->text.at, reader->text.count));
}

/* The name and the integer of a launch argument. */
static int64_t read_launch_arg(const struct pf_sequence *sequence, struct wire in, struct wire_text *name)
{
    struct wire_field field;
    int64_t number = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_VARINT))
            *name = text_of_kind(sequence, PF_KERNEL_ARG, field.value);
        else if (wire_is(&field, 2, WIRE_BYTES))
            *name = wire_text_of(&field);
        else if ((field.number == 3 || field.number == 4) && field.type == WIRE_VARINT)
            number = (int64_t)field.value;
    }
    return number;
}

/* Grid, block, registers, shared memory: zeros are not written. */
static void add_launch(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire in)
{
    struct wire_field field;
    int64_t registers = 0, shared = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_BYTES))
            add_dimensions(reader, ARG_GRID, wire_in(&field));
        else if (wire_is(&field, 2, WIRE_BYTES))
            add_dimensions(reader, ARG_BLOCK, wire_in(&field));
        if (!wire_is(&field, 3, WIRE_BYTES))
            continue;
        struct wire_text name = { NULL, 0 };
        int64_t number = read_launch_arg(sequence, wire_in(&field), &name);
        if (wire_text_is(name, "registers_per_thread"))
            registers = number;
        else if (wire_text_is(name, "shared_mem_dynamic") || wire_text_is(name, "shared_mem_static"))
            shared = number >= 0 && number < INT32_MAX ? shared + number : shared;
    }
    trace_chunk_arg(reader->chunk, ARG_REGISTERS, registers);
    trace_chunk_arg(reader->chunk, ARG_SHARED_MEMORY, shared);
}

/* Extra data: PyTorch's words for device, context and stream, and all else under the names that it has in JSON. */
static bool add_extra(struct pf_reader *reader, struct wire in, int64_t *gpu_process)
{
    static const char *const words[][2] = { { "device id", "device" },
                                            { "context id", "context" },
                                            { "stream id", "stream" } };
    struct wire_text name = { NULL, 0 }, value = { NULL, 0 };
    struct wire_field field;
    (void)gpu_process;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_BYTES))
            name = wire_text_of(&field);
        else if (wire_is(&field, 2, WIRE_BYTES))
            value = wire_text_of(&field);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (wire_text_is(name, words[i][0]))
            name = (struct wire_text){ words[i][1], strlen(words[i][1]) };
    pf_text_arg(reader, name, value);
    return wire_text_is(name, "correlation");
}

/* Name the process of GPU as PyTorch's JSON does: its own process', with the label "GPU 0". */
static void name_gpu(struct pf_reader *reader, int64_t gpu, track_id track, struct wire in)
{
    char label[32];
    int len = snprintf(label, sizeof label, "GPU %" PRId64, gpu);
    size_t known = names_count(reader->gpu_names);
    names_add(reader->gpu_names, label, (size_t)len);
    if (names_count(reader->gpu_names) == known)
        return;
    struct wire_field field, part;
    trace_chunk_fact(reader->chunk, track, FACT_PROCESS_LABELS, 0,
                     trace_chunk_text(reader->chunk, label, (size_t)len));
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (!wire_is(&field, 6, WIRE_BYTES))
            continue;
        struct wire extra = wire_in(&field);
        struct wire_text name = { NULL, 0 }, value = { NULL, 0 };
        while (wire_next(&extra, &part) && part.type != WIRE_GROUP) {
            if (wire_is(&part, 1, WIRE_BYTES))
                name = wire_text_of(&part);
            else if (wire_is(&part, 2, WIRE_BYTES))
                value = wire_text_of(&part);
        }
        if (wire_text_is(name, "process_name") && value.len)
            trace_chunk_fact(reader->chunk, track, FACT_PROCESS_NAME, 0,
                             trace_chunk_text(reader->chunk, value.at, value.len));
    }
}

static bool read_stage(struct wire in, struct stage *stage)
{
    struct wire_field field;
    *stage = (struct stage){ 0 };
    while (wire_next(&in, &field)) {
        switch (field.number << 3 | field.type) {
        case 1 << 3 | WIRE_VARINT:
            stage->id = field.value;
            stage->has_id = true;
            break;
        case 2 << 3 | WIRE_VARINT: stage->dur_ns = (int64_t)field.value; break;
        case 11 << 3 | WIRE_VARINT: stage->gpu = (int64_t)(field.value & INT32_MAX); break;
        case 13 << 3 | WIRE_VARINT: stage->queue = field.value; break;
        case 14 << 3 | WIRE_VARINT: stage->stage = field.value; break;
        case 17 << 3 | WIRE_BYTES: stage->name = wire_text_of(&field); break;
        case 19 << 3 | WIRE_VARINT: stage->kernel_iid = field.value; break;
        case 20 << 3 | WIRE_VARINT: stage->name_iid = field.value; break;
        default:
            if (field.type == WIRE_GROUP)
                return false;
        }
    }
    return !in.damaged;
}

static void add_stage_args(struct pf_reader *reader, const struct pf_sequence *sequence,
                           const struct stage *stage, struct wire in, struct wire_text lane)
{
    struct wire_field field;
    bool has_correlation = false;
    int64_t unused = 0;
    trace_chunk_arg(reader->chunk, ARG_DEVICE, stage->gpu);
    if (lane.len && pf_last_number(lane, -1) >= 0)
        trace_chunk_arg(reader->chunk, ARG_STREAM, pf_last_number(lane, -1));
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 21, WIRE_BYTES))
            add_launch(reader, sequence, wire_in(&field));
        else if (wire_is(&field, 6, WIRE_BYTES))
            has_correlation |= add_extra(reader, wire_in(&field), &unused);
    }
    if (!has_correlation && !reader->is_torch)
        trace_chunk_arg(reader->chunk, ARG_CORRELATION, (int64_t)stage->id);
}

void pf_render_stage(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire in,
                     int64_t ts_ns)
{
    struct stage stage;
    if (!read_stage(in, &stage)) {
        pf_lacks(reader, LACK_BAD_PACKET, "damaged packets could not be read and were left out");
        return;
    }
    struct wire_text lane = text_of_kind(sequence, PF_SPECIFICATION, stage.queue);
    struct wire_text kind = text_of_kind(sequence, PF_SPECIFICATION, stage.stage);
    struct wire_text name = stage.name;
    if (!name.len)
        name = text_of_kind(sequence, PF_NAME, stage.name_iid);
    if (!name.len)
        name = kernel_name(sequence, stage.kernel_iid);
    if (!name.len)
        name = kind;
    if (stage.dur_ns < 0 || stage.dur_ns > TRACE_LATEST_NS) {
        pf_notice(reader, lack_word(LACK_NO_DURATION),
                  "events without a usable duration are taken to last 0 ns");
        stage.dur_ns = -1;
    }
    struct chunk_event event = {
        .phase = 'X',
        .start_ns = ts_ns,
        .dur_ns = stage.dur_ns,
        .name = name.len ? trace_chunk_name(reader->chunk, name.at, name.len)
                         : trace_chunk_name(reader->chunk, "[no name]", 9),
        .track = pf_gpu_track(reader, stage.gpu, lane),
        .category = category_of(reader, kind),
    };
    name_gpu(reader, stage.gpu, event.track, in);
    trace_chunk_event(reader->chunk, &event);
    add_stage_args(reader, sequence, &stage, in, lane);
}

/* ---- counters ---- */

/* The name of counter ID in the descriptor IN; empty when it is not there. */
static struct wire_text counter_name(struct wire in, uint64_t id)
{
    struct wire_field field, part;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        struct wire spec = wire_in(&field);
        struct wire_text name = { NULL, 0 };
        uint64_t of = 0;
        while (wire_next(&spec, &part) && part.type != WIRE_GROUP) {
            if (wire_is(&part, 1, WIRE_VARINT))
                of = part.value;
            else if (wire_is(&part, 2, WIRE_BYTES))
                name = wire_text_of(&part);
        }
        if (of == id)
            return name;
    }
    return (struct wire_text){ NULL, 0 };
}

static void add_gpu_sample(struct pf_reader *reader, int64_t gpu, struct wire descriptor, struct wire in,
                           int64_t ts_ns)
{
    char process[48];
    struct wire_field field;
    uint64_t id = 0;
    double value = 0;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_VARINT))
            id = field.value;
        else if (wire_is(&field, 2, WIRE_VARINT))
            value = (double)(int64_t)field.value;
        else if (wire_is(&field, 3, WIRE_FIXED64))
            value = wire_double(field.value);
    }
    trace_chunk_count_skipped(reader->chunk, 0, 1, 0);
    if (!reader->options->wants.counters)
        return;
    struct wire_text name = counter_name(descriptor, id);
    buffer_clear(&reader->text);
    if (name.len)
        buffer_add(&reader->text, name.at, name.len);
    else
        buffer_printf(&reader->text, "counter %" PRIu64, id);
    buffer_putc(&reader->text, ' '); /* as in JSON, where the series has no name */
    int len = snprintf(process, sizeof process, "GPU %" PRId64 " Counters", gpu);
    struct track_key key = { .pid_text = process, .pid_len = (size_t)len };
    trace_chunk_sample(reader->chunk,
                       &(struct trace_sample){
                           .ts_ns = ts_ns,
                           .value = value,
                           .counter = trace_chunk_text(reader->chunk, reader->text.at, reader->text.count),
                           .track = trace_chunk_track(reader->chunk, &key),
                       });
}

void pf_gpu_counters(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire in,
                     int64_t ts_ns)
{
    struct wire descriptor = wire_over(NULL, 0), all = in;
    struct wire_field field, part;
    int64_t gpu = -1;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 1, WIRE_BYTES)) {
            descriptor = wire_in(&field);
        } else if (wire_is(&field, 3, WIRE_VARINT)) {
            gpu = (int64_t)(field.value & INT32_MAX);
        } else if (wire_is(&field, 4, WIRE_VARINT)) {
            const struct pf_interned *entry = pf_sequence_find(sequence, PF_COUNTERS, field.value);
            struct wire message = entry ? entry->message : wire_over(NULL, 0);
            while (wire_next(&message, &part) && part.type != WIRE_GROUP) {
                if (wire_is(&part, 2, WIRE_BYTES))
                    descriptor = wire_in(&part);
                else if (wire_is(&part, 3, WIRE_VARINT) && gpu < 0)
                    gpu = (int64_t)(part.value & INT32_MAX);
            }
        }
    }
    while (wire_next(&all, &field) && field.type != WIRE_GROUP)
        if (wire_is(&field, 2, WIRE_BYTES))
            add_gpu_sample(reader, gpu < 0 ? 0 : gpu, descriptor, wire_in(&field), ts_ns);
}
