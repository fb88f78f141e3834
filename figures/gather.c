/* gather.c - see gather.h. Each file is processed separately: its devices, steps and collectives by the timeline of
 * each device, its names in one pass over its events. */
#include "figures/gather.h"

#include "analyze/many_rows.h"
#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include "base/wide.h"
#include "derive/device_steps.h"
#include "derive/file_set.h"
#include "derive/host_waits.h"
#include "figures/sketch.h"
#include "memory/memory_records.h"
#include "trace/span.h"

#include <assert.h>
#include <inttypes.h>

/* ---- names ---- */

/* The times of each name: one pass over the events of a file. */

/* Names beyond this many of a file count as "(other)", the least time first. */
enum { GATHER_MOST_NAMES = 4000 };

enum name_kind { KIND_NONE, KIND_KERNEL, KIND_COPY, KIND_OPERATOR, KIND_CALL, KIND_ANNOTATION, KIND_MODULE };

static const char *const kind_words[] = {
    NULL, "kernel", "copy", "operator", "call", "annotation", "module"
};

enum { SLOT_NONE = UINT32_MAX };

struct slot {
    name_id name;
    uint8_t kind;
    int64_t device;
    uint32_t next; /* of the same name */
    int64_t count, sum_ns, min_ns, max_ns;
    struct wide squares;
    struct sketch sketch;
};

struct slots {
    struct slot *at;
    size_t count, capacity;
    uint32_t *first; /* by name_id */
};

static enum name_kind kind_of(const struct trace *trace, event_id e)
{
    int64_t number;
    switch ((enum event_kind)trace->kind[e]) {
    case EVENT_KERNEL: return KIND_KERNEL;
    case EVENT_MEMCPY:
    case EVENT_MEMSET: return KIND_COPY;
    case EVENT_OP: return KIND_OPERATOR;
    case EVENT_RUNTIME:
    case EVENT_DRIVER: return KIND_CALL;
    case EVENT_ANNOTATION: return step_number(trace_name(trace, e), &number) ? KIND_NONE : KIND_ANNOTATION;
    case EVENT_PYTHON:
        return strncmp(trace_name(trace, e), "nn.Module: ", strlen("nn.Module: ")) == 0 ? KIND_MODULE
                                                                                        : KIND_NONE;
    default: return KIND_NONE;
    }
}

static struct slot *slot_of(struct slots *slots, name_id name, enum name_kind kind, int64_t device)
{
    uint32_t s = slots->first[name];
    assert(s == SLOT_NONE || slots->at);
    for (; s != SLOT_NONE; s = slots->at[s].next)
        if (slots->at[s].kind == kind && slots->at[s].device == device)
            return &slots->at[s];
    struct slot *slot = VEC_PUSH(slots);
    *slot = (struct slot){ .name = name,
                           .kind = (uint8_t)kind,
                           .device = device,
                           .next = slots->first[name],
                           .min_ns = INT64_MAX,
                           .max_ns = INT64_MIN };
    slots->first[name] = (uint32_t)(slot - slots->at);
    return slot;
}

static void add_duration(struct slot *slot, int64_t ns)
{
    slot->count++;
    slot->sum_ns += ns;
    slot->min_ns = ns < slot->min_ns ? ns : slot->min_ns;
    slot->max_ns = ns > slot->max_ns ? ns : slot->max_ns;
    wide_add(&slot->squares, wide_product((uint64_t)ns, (uint64_t)ns));
    sketch_add(&slot->sketch, ns);
}

/* Add what SLOT holds to INTO. */
static void join(struct slot *into, struct slot *slot)
{
    into->count += slot->count;
    into->sum_ns += slot->sum_ns;
    into->min_ns = slot->min_ns < into->min_ns ? slot->min_ns : into->min_ns;
    into->max_ns = slot->max_ns > into->max_ns ? slot->max_ns : into->max_ns;
    wide_add(&into->squares, slot->squares);
    sketch_merge(&into->sketch, &slot->sketch);
    sketch_release(&slot->sketch);
}

static const struct key by_kind_device[] = { ASC(struct slot, kind), ASC(struct slot, device), KEY_END };

/* If there are too many, keep the maximum number, followed by one for each kind and device. */
static void join_small(struct slots *slots, const struct trace *trace)
{
    if (slots->count <= GATHER_MOST_NAMES)
        return;
    SORT(slots, by_kind_device);
    SORT_BY_TEXT(slots->at, slots->count, i, names_text(trace->names, slots->at[i].name));
    SORT_BY(slots->at, slots->count, i, ~slots->at[i].sum_ns);
    size_t kept = GATHER_MOST_NAMES;
    for (size_t i = GATHER_MOST_NAMES; i < slots->count; i++) {
        struct slot slot = slots->at[i];
        size_t other = GATHER_MOST_NAMES;
        while (other < kept && (slots->at[other].kind != slot.kind || slots->at[other].device != slot.device))
            other++;
        if (other < kept) {
            join(&slots->at[other], &slot);
            continue;
        }
        slot.name = NAME_NONE;
        slots->at[kept++] = slot;
    }
    slots->count = kept;
}

static void add_rows(struct facts *facts, const struct trace *trace, struct slots *slots)
{
    SCOPED struct buffer bytes = { 0 };
    FOR_EACH(slot, slots) {
        buffer_clear(&bytes);
        sketch_encode(&slot->sketch, &bytes);
        facts_add(facts, FACTS_NAMES,
                  &(struct facts_name){
                      .device = slot->device,
                      .kind = facts_text(facts, kind_words[slot->kind]),
                      .name = slot->name == NAME_NONE
                                  ? facts_text(facts, "(other)")
                                  : names_add(facts->texts, names_text(trace->names, slot->name),
                                              names_length(trace->names, slot->name)),
                      .count = slot->count,
                      .sum_ns = slot->sum_ns,
                      .min_ns = slot->min_ns,
                      .max_ns = slot->max_ns,
                      .squares_high = (int64_t)slot->squares.high,
                      .squares_low = (int64_t)slot->squares.low,
                      .sketch = { arena_strndup(&facts->arena, bytes.at, bytes.count), bytes.count },
                  });
        sketch_release(&slot->sketch);
    }
}

/* Add to FACTS the names of FILE: kernels, copies, operators, calls, modules, and annotations that are not steps. */
static void gather_names(struct facts *facts, const struct trace *trace, const struct gpu_events *gpu,
                         uint32_t file)
{
    size_t names = names_count(trace->names);
    SCOPED struct slots slots = { .first = mem_alloc(mem_times(names + 1, sizeof *slots.first)) };
    for (size_t i = 0; i < names; i++)
        slots.first[i] = SLOT_NONE;
    for (event_id e = trace->files[file].first_event, end = e + trace->files[file].event_count; e < end;
         e++) {
        enum name_kind kind = kind_of(trace, e);
        if (kind == KIND_NONE)
            continue;
        uint32_t device =
            event_on_device(trace->kind[e]) ? gpu->device_of_track[trace->track[e]] : UINT32_MAX;
        add_duration(slot_of(&slots, trace->name[e], kind,
                             device == UINT32_MAX ? FACTS_MISSING : gpu->devices[device].id),
                     trace_dur_ns(trace, e));
    }
    join_small(&slots, trace);
    add_rows(facts, trace, &slots);
    free(slots.first);
}

/* ---- files ---- */

const struct trace_wants gather_wants = {
    .args = HOST_WAITS_WANTS | COLLECTIVES_WANTS | MEMORY_RECORDS_WANTS | WANT(STEP),
};

struct gathering {
    struct facts *facts; /* the facts of all files */
    const struct trace *trace;
    const struct gather_options *options;
    const struct gpu_events *gpu;
    struct gap_finder *gaps;
    struct device_steps *steps;
    struct collectives *collectives;
    const struct memory_records *memory; /* NULL: none in the trace */
    void *operations;                    /* as options->operations opened it */
    int64_t *input;                      /* by file */
    /* Of the current file: */
    struct facts *own;
    uint32_t file;
    uint32_t collective_row; /* of the next device */
    size_t first_device;
};

static name_id gather_text_of(struct gathering *gathering, name_id id)
{
    return id == NAME_NONE ? NAME_NONE : facts_text(gathering->own, names_text(gathering->trace->texts, id));
}

static name_id list_of(struct gathering *gathering, name_id id)
{
    return id == NAME_NONE ? NAME_NONE : facts_list(gathering->own, names_text(gathering->trace->texts, id));
}

/* Convert a moment of the file to the clock of its host. */
static int64_t absolute(const struct gathering *gathering, int64_t moment_ns)
{
    const struct trace_file *file = &gathering->trace->files[gathering->file];
    int64_t absolute_ns;
    return file->has_base && !__builtin_add_overflow(moment_ns, file->base_ns, &absolute_ns) ? absolute_ns
                                                                                             : moment_ns;
}

static bool has_device(const struct gathering *gathering, size_t device)
{
    return device < gathering->gpu->device_count && gathering->gpu->devices[device].file == gathering->file;
}

/* ---- the recording ---- */

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static void add_notices(struct gathering *gathering)
{
    FOR_EACH_OF(notice, gathering->trace->notices, gathering->trace->notice_count) {
        if (notice->file != gathering->file || notice->of_all)
            continue;
        facts_add(gathering->own, FACTS_NOTICES,
                  &(struct facts_notice){ 0, facts_text(gathering->own, notice->kind),
                                          facts_text(gathering->own, notice->text), (int64_t)notice->count });
    }
}

static name_id process_of(const struct gathering *gathering)
{
    const struct track *track = file_set_process(gathering->trace, gathering->file);
    char number[24];
    if (!track)
        return NAME_NONE;
    snprintf(number, sizeof number, "%" PRId64, track->pid);
    return facts_text(gathering->own, track->pid_text == NAME_NONE
                                          ? number
                                          : names_text(gathering->trace->texts, track->pid_text));
}

static void add_recording(struct gathering *gathering)
{
    const struct trace_file *file = &gathering->trace->files[gathering->file];
    struct interval span = trace_file_span(gathering->trace, gathering->file);
    int64_t rank = file_set_rank_of(file);
    size_t device = gpu_first_device(gathering->gpu, gathering->file), devices = 0;
    const char *model = NULL;
    for (; has_device(gathering, device + devices); devices++)
        if (!model && gathering->gpu->devices[device + devices].properties)
            model = gathering->gpu->devices[device + devices].properties->name;
    struct facts *own = gathering->own;
    struct facts_recording row = {
        .job = facts_text(own, gathering->options->job),
        .backend = facts_text(own, file->backend && *file->backend ? file->backend : NULL),
        .file = facts_text(own, base_name(file->path)),
        .host = facts_text(own, file->host_name),
        .process = process_of(gathering),
        .producer = facts_text(own, trace_producer_name(file->producer)),
        .device = facts_text(own, model),
        .version = facts_text(own, TPA_VERSION),
        .rank = rank >= 0 ? rank : FACTS_MISSING,
        .world_size = file->world_size > 0 ? file->world_size : FACTS_MISSING,
        .has_clock = file->has_base,
        .start_ns = absolute(gathering, span.start_ns),
        .end_ns = absolute(gathering, span.end_ns),
        .events = (int64_t)file->event_count,
        .bytes = file->size,
        .devices = (int64_t)devices,
        .cut = file->lacks != 0,
        .input = gathering->input[gathering->file],
        .form = NAME_NONE,
        .marked = FACTS_MISSING,
        .dp = FACTS_MISSING,
        .pp = FACTS_MISSING,
        .tp = FACTS_MISSING,
        .cp = FACTS_MISSING,
        .ep = FACTS_MISSING,
    };
    add_notices(gathering);
    if (gathering->options->operations)
        gathering->options->operations->add(gathering->operations, gathering->file, own, &row);
    facts_add(own, FACTS_RECORDINGS, &row);
}

/* ---- devices ---- */

static void set_peaks(const struct gathering *gathering, struct facts_device *row)
{
    for (size_t d = 0; gathering->memory && d < gathering->memory->device_count; d++) {
        const struct memory_device *device = &gathering->memory->devices[d];
        if (device->file != gathering->file || memory_is_host(device) || device->id != row->device)
            continue;
        for (uint32_t i = device->first; i < device->first + device->count; i++) {
            const struct memory_record *record = &gathering->memory->at[i];
            row->peak_allocated =
                record->allocated > row->peak_allocated ? record->allocated : row->peak_allocated;
            if (record->reserved >= 0 && record->reserved > row->peak_reserved)
                row->peak_reserved = record->reserved;
        }
    }
}

/* When the first work of DEVICE began, in ns; without work the end of time. */
static int64_t first_start_ns(const struct gpu_events *gpu, size_t device)
{
    const struct gpu_device *of = &gpu->devices[device];
    return of->count ? trace_start_ns(gpu->trace, gpu->event[of->first]) : INT64_MAX;
}

/* How long it was busy is filled in by follow_device. */
static void add_device(struct gathering *gathering, uint32_t index)
{
    const struct gpu_device *device = &gathering->gpu->devices[index];
    const struct trace *trace = gathering->trace;
    struct facts_device row = {
        .device = device->id,
        .name = device->properties ? facts_text(gathering->own, device->properties->name) : NAME_NONE,
        .total_memory = device->properties && device->properties->total_memory
                            ? device->properties->total_memory
                            : FACTS_MISSING,
        .multiprocessors =
            device->properties && device->properties->sm_count ? device->properties->sm_count : FACTS_MISSING,
        .operations = (int64_t)device->count,
        .peak_allocated = FACTS_MISSING,
        .peak_reserved = FACTS_MISSING,
    };
    int64_t last_ns = INT64_MIN;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        event_id call = gathering->gpu->call[i];
        int64_t end_ns = trace_end_ns(trace, gathering->gpu->event[i]);
        last_ns = end_ns > last_ns ? end_ns : last_ns;
        if (call == EVENT_NONE) {
            row.unlinked++;
            continue;
        }
        int64_t waited_ns = trace_start_ns(trace, gathering->gpu->event[i]) - trace_end_ns(trace, call);
        row.queued += waited_ns > 0;
        sum_add(&row.queue_ns, waited_ns > 0 ? waited_ns : 0);
    }
    row.span_ns = device->count ? last_ns - first_start_ns(gathering->gpu, index) : 0;
    set_peaks(gathering, &row);
    facts_add(gathering->own, FACTS_DEVICES, &row);
}

/* ---- steps ---- */

/* The steps of torch.profiler, or of timelines; a file without any is one. New; free with arena_free. */
static struct step_list *find_ranges(const struct trace *trace)
{
    const struct step_list *marked = step_list_of(trace);
    marked = marked->count ? marked : step_list_of_timelines(trace);
    struct step_list *ranges = step_list_new();
    size_t at = 0;
    for (uint32_t file = 0; file < trace->file_count; file++) {
        size_t first = at;
        for (; at < marked->count && marked->at[at].file == file; at++)
            *VEC_PUSH(ranges) = marked->at[at];
        struct interval span = trace_file_span(trace, file);
        if (at == first && span.start_ns < span.end_ns)
            *VEC_PUSH(ranges) = (struct step){ file, FACTS_MISSING, span.start_ns, span.end_ns, EVENT_NONE };
    }
    step_list_drop_overlaps(ranges);
    return ranges;
}

/* The table of steps: those from FIRST on, and for each of them a row for each of DEVICES, counted from the first of the file. */
struct step_rows {
    size_t first, count, devices;
};

struct host_times {
    struct measured loading, blocked;
};

static void find_host_times(const struct gathering *gathering, struct host_times *times, struct arena *arena)
{
    const struct trace *trace = gathering->trace;
    const struct host_state *host = host_state_of(trace);
    struct intervals loading = { 0 }, blocked = { 0 };
    for (track_id t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].file != gathering->file)
            continue;
        const struct intervals *in = &host->threads[t].in[HOST_DATA_LOADING],
                               *waiting = &host->threads[t].waiting;
        for (size_t i = 0; i < in->count; i++)
            intervals_add(&loading, in->at[i].start_ns, in->at[i].end_ns);
        for (size_t i = 0; i < waiting->count; i++)
            intervals_add(&blocked, waiting->at[i].start_ns, waiting->at[i].end_ns);
    }
    intervals_merge(&loading);
    intervals_merge(&blocked);
    measured_collect(&times->loading, &loading, arena);
    measured_collect(&times->blocked, &blocked, arena);
}

/* One past the last device of the file in the table of STEPS. Adds a notice on the number left out. */
static size_t last_device_of_steps(struct gathering *gathering, size_t first, size_t steps)
{
    size_t devices = 0, most = steps ? (MANY_ROWS + steps - 1) / steps : 0;
    while (has_device(gathering, first + devices))
        devices++;
    if (devices <= most || steps == 0)
        return first + devices;
    struct facts_notice notice = { 0, facts_text(gathering->own, "many_rows"),
                                   facts_text(gathering->own,
                                              "devices are not in the table of steps, which is full"),
                                   (int64_t)(devices - most) };
    facts_add(gathering->own, FACTS_NOTICES, &notice);
    return first + most;
}

/* How the devices spent them is filled in by follow_device. */
static struct step_rows add_steps(struct gathering *gathering)
{
    struct host_times times;
    SCOPED_ARENA struct arena scratch = { 0 };
    find_host_times(gathering, &times, &scratch);
    size_t first, end = device_steps_of_file(gathering->steps, gathering->file, &first);
    size_t first_device = gathering->first_device;
    size_t last_device = last_device_of_steps(gathering, first_device, end - first);
    struct step_rows rows = { first, end - first, last_device - first_device };
    for (size_t s = first; s < end; s++) {
        const struct device_step *step = &gathering->steps->at[s];
        struct facts_step row = {
            .device = FACTS_MISSING,
            .number = step->number,
            .start_ns = absolute(gathering, step->start_ns),
            .duration_ns = step->end_ns - step->start_ns,
            .complete = step->complete,
            .all_communication_ns = FACTS_MISSING,
            .loading_ns = measured_within(&times.loading, step->start_ns, step->end_ns),
            .blocked_ns = measured_within(&times.blocked, step->start_ns, step->end_ns),
        };
        for (size_t p = 0; p < FACTS_PARTS; p++)
            row.part_ns[p] = first_device < last_device ? 0 : FACTS_MISSING;
        if (first_device == last_device)
            facts_add(gathering->own, FACTS_STEPS, &row);
        for (size_t d = first_device; d < last_device; d++) {
            row.device = gathering->gpu->devices[d].id;
            row.all_communication_ns = 0;
            facts_add(gathering->own, FACTS_STEPS, &row);
        }
    }
    return rows;
}

/* ---- collectives ---- */

/* The number of the group of ONE, added if new. KNOWN: groups by their properties. */
static int64_t number_of_group(struct gathering *gathering, struct names *known, const struct collective *one)
{
    const struct {
        name_id name, ranks;
        int64_t size;
    } key = { one->group_name, one->group_ranks, one->group_size };
    size_t count = names_count(known);
    name_id id = names_add(known, (const char *)&key, sizeof key);
    if (id == count)
        facts_add(gathering->own, FACTS_GROUPS,
                  &(struct facts_group){ .group = id,
                                         .name = gather_text_of(gathering, one->group_name),
                                         .description = gather_text_of(gathering, one->group_description),
                                         .ranks = list_of(gathering, one->group_ranks),
                                         .size = one->group_size >= 0 ? one->group_size : FACTS_MISSING });
    return id;
}

/* What the timeline of a device stops for. */
enum { STEP_BEGINS, STEP_ENDS, COLLECTIVE_BEGINS, COLLECTIVE_ENDS };

/* What a device had done until a moment. */
struct sums {
    int64_t computed_ns, communicated_ns, copied_ns, loading_ns, host_ns;
};

static const struct sums no_sums = { FACTS_MISSING, FACTS_MISSING, FACTS_MISSING, FACTS_MISSING,
                                     FACTS_MISSING };

/* Set those of the begin or the end of a collective. */
static void set_sums(struct facts_collective *row, uint32_t what, const struct sums *sums)
{
    bool begins = what == COLLECTIVE_BEGINS;
    *(begins ? &row->computed_before_ns : &row->computed_until_ns) = sums->computed_ns;
    *(begins ? &row->communicated_before_ns : &row->communicated_until_ns) = sums->communicated_ns;
    *(begins ? &row->copied_before_ns : &row->copied_until_ns) = sums->copied_ns;
    *(begins ? &row->loading_before_ns : &row->loading_until_ns) = sums->loading_ns;
    *(begins ? &row->host_before_ns : &row->host_until_ns) = sums->host_ns;
}

static int64_t known(int64_t value)
{
    return value < 0 ? FACTS_MISSING : value;
}

/* Their sums are filled in by follow_device: devices come first, then hosts, which have none. */
static void add_collectives(struct gathering *gathering)
{
    const struct trace *trace = gathering->trace;
    const struct collectives *all = gathering->collectives;
    const struct step_list *steps = step_list_of(trace);
    SCOPED_OBJECT struct names *groups = names_open();
    SCOPED bool *launching = collective_places_launching(all);
    FOR_EACH(one, all) {
        const struct collective_place *place = &all->places[one->place];
        if (place->file != gathering->file || !one->timed)
            continue;
        int64_t start_ns = trace_start_ns(trace, one->event), end_ns = trace_end_ns(trace, one->event);
        bool from_before = one->launch == EVENT_NONE && launching[one->place];
        const struct step *step =
            from_before ? NULL : step_list_at(steps, place->file, collective_issued_ns(all, one));
        struct facts_collective row = {
            .device = place->device,
            .group = number_of_group(gathering, groups, one),
            .kind = facts_text(gathering->own,
                               one->kind ? collective_kind_name(one->kind) : trace_name(trace, one->event)),
            .type = facts_text(gathering->own, one->type),
            .sequence = known(one->sequence),
            .step = step ? step->number : FACTS_MISSING,
            .bytes = known(one->size_bytes),
            .source = known(one->source),
            .target = known(one->target),
            .waited_rank = known(one->waited_rank),
            .waited_ns = known(one->waited_ns),
            .start_ns = absolute(gathering, start_ns),
            .duration_ns = end_ns - start_ns,
            .exposed_ns = end_ns - start_ns - collective_place_computed(place, start_ns, end_ns),
        };
        bool on_host = one->place >= gathering->gpu->device_count;
        set_sums(&row, COLLECTIVE_BEGINS, on_host ? &no_sums : &(struct sums){ 0 });
        set_sums(&row, COLLECTIVE_ENDS, on_host ? &no_sums : &(struct sums){ 0 });
        facts_add(gathering->own, FACTS_COLLECTIVES, &row);
        struct facts_group *group =
            (struct facts_group *)facts_rows(gathering->own, FACTS_GROUPS) + row.group;
        group->collectives++;
        group->unnumbered += row.sequence == FACTS_MISSING;
    }
}

/* ---- what devices did ---- */

struct following {
    struct gathering *gathering;
    const struct step_rows *steps;
    size_t device;          /* counted from the first of the file */
    int64_t first_start_ns; /* of its work */
};

/* The parts of a step; they are complete when it has ended. */
static void split_step(const struct following *following, const struct fleet_timeline *line,
                       const struct timeline_moment *moment)
{
    const struct step_rows *rows = following->steps;
    const struct device_step *step = &following->gathering->steps->at[rows->first + moment->row];
    struct facts_step *table = facts_rows(following->gathering->own, FACTS_STEPS);
    struct facts_step *row = &table[moment->row * rows->devices + following->device];
    bool begins = moment->what == STEP_BEGINS;
    (begins ? timeline_begin : timeline_end)(line, step->start_ns, step->end_ns, row->part_ns);
    row->all_communication_ns += begins ? -line->communicated_ns : line->communicated_ns;
}

/* A timeline_stop. */
static void stop_at(void *context, const struct fleet_timeline *line, const struct timeline_moment *moment)
{
    const struct following *following = context;
    if (moment->what == STEP_BEGINS || moment->what == STEP_ENDS) {
        split_step(following, line, moment);
        return;
    }
    int64_t part_ns[FACTS_PARTS] = { 0 };
    struct facts_collective *table = facts_rows(following->gathering->own, FACTS_COLLECTIVES);
    timeline_end(line, following->first_start_ns, moment->at_ns, part_ns);
    struct sums sums = {
        .computed_ns = part_ns[PART_COMPUTATION],
        .communicated_ns = part_ns[PART_EXPOSED],
        .copied_ns = part_ns[PART_COPIES],
        .loading_ns = part_ns[PART_IDLE + GAP_DATA_LOADING],
    };
    for (size_t p = PART_IDLE; p < FACTS_PARTS; p++)
        sums.host_ns += p == PART_IDLE + GAP_DATA_LOADING ? 0 : part_ns[p];
    set_sums(&table[moment->row], moment->what, &sums);
}

/* Fill in how long DEVICE was busy, how it spent the steps and what it had done around collectives. One device after the other. */
static void follow_device(struct gathering *gathering, size_t device, const struct step_rows *steps)
{
    const struct trace *trace = gathering->trace;
    const struct collectives *all = gathering->collectives;
    struct {
        VEC_OF(struct timeline_moment);
    } moments = { 0 };
    struct following following = { gathering, steps, device - gathering->first_device,
                                   first_start_ns(gathering->gpu, device) };
    for (uint32_t s = 0; following.device < steps->devices && s < steps->count; s++) {
        const struct device_step *step = &gathering->steps->at[steps->first + s];
        *VEC_PUSH(&moments) = (struct timeline_moment){ step->start_ns, s, STEP_BEGINS };
        *VEC_PUSH(&moments) = (struct timeline_moment){ step->end_ns, s, STEP_ENDS };
    }
    size_t i = PLACE(k, all->count, all->at[k].place < device);
    for (; i < all->count && all->at[i].place == device; i++) {
        event_id e = all->at[i].event;
        if (!all->at[i].timed)
            continue;
        uint32_t row = gathering->collective_row++;
        *VEC_PUSH(&moments) = (struct timeline_moment){ trace_start_ns(trace, e), row, COLLECTIVE_BEGINS };
        *VEC_PUSH(&moments) = (struct timeline_moment){ trace_end_ns(trace, e), row, COLLECTIVE_ENDS };
    }
    struct facts_device *table = facts_rows(gathering->own, FACTS_DEVICES);
    table[following.device].busy_ns = timeline_walk(gathering->gpu, (uint32_t)device, gathering->gaps,
                                                    moments.at, moments.count, stop_at, &following);
    VEC_FREE(&moments);
}

static void gather_file(struct gathering *gathering)
{
    bool whole = !gathering->options->only_operations;
    gathering->own = facts_open();
    add_recording(gathering);
    size_t first = gathering->first_device = gpu_first_device(gathering->gpu, gathering->file), devices = 0;
    while (has_device(gathering, first + devices))
        devices++;
    for (size_t d = 0; d < devices; d++)
        add_device(gathering, (uint32_t)(first + d));
    struct step_rows steps = add_steps(gathering);
    add_collectives(gathering);
    gathering->collective_row = 0;
    for (size_t d = 0; d < devices && whole; d++)
        follow_device(gathering, first + d, &steps);
    if (whole)
        gather_names(gathering->own, gathering->trace, gathering->gpu, gathering->file);
    facts_check(gathering->own); /* a trace may hold invalid numbers, too */
    facts_seal(gathering->own);
    facts_merge(gathering->facts, gathering->own);
    arena_free(gathering->own);
}

/* New, by file: a number for the parts of a merged file, made of its size and its first part; FACTS_MISSING for others. */
static int64_t *find_inputs(const struct trace *trace)
{
    int64_t *input = mem_alloc(mem_times(trace->file_count + 1, sizeof *input));
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        struct interval span = trace_file_span(trace, f);
        int64_t first[] = { file->size, file->event_count, span.start_ns, span.end_ns };
        if (!trace_file_property(file, TRACE_RANK_BY))
            input[f] = FACTS_MISSING;
        else if (f > 0 && strcmp(file->path, trace->files[f - 1].path) == 0)
            input[f] = input[f - 1];
        else
            input[f] = facts_number(first, sizeof first);
    }
    return input;
}

void facts_gather(struct facts *facts, const struct trace *trace, const struct gather_options *options)
{
    const struct gather_operations *operations = options->operations;
    struct step_list *ranges = find_ranges(trace);
    struct gathering gathering = { .facts = facts, .trace = trace, .options = options };
    gathering.gpu = gpu_events_of(trace);
    gathering.gaps = options->only_operations ? NULL : gap_finder_open(trace, NULL, 0, GAP_LATENCY_BELOW_NS);
    gathering.steps = device_steps_open(ranges, gathering.gpu);
    gathering.collectives = collectives_open(trace);
    gathering.memory = memory_records_of(trace, MEMORY_LEVELS);
    gathering.input = find_inputs(trace);
    gathering.operations = operations ? operations->open(trace, gathering.collectives) : NULL;
    for (gathering.file = 0; gathering.file < trace->file_count; gathering.file++)
        gather_file(&gathering);
    if (operations)
        operations->close(gathering.operations);
    free(gathering.input);
    arena_free(gathering.collectives);
    arena_free(gathering.steps);
    arena_free(ranges);
    if (gathering.gaps)
        arena_free(gathering.gaps);
}
