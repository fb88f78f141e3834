/*
 * gather.c - see gather.h. Each file is processed separately: its devices, steps and collectives by the timeline of
 * each device, its names in one pass over its events.
 */
#include "fleet/gather.h"

#include "analyze/many_rows.h"
#include "base/sum.h"
#include "facts/collectives.h"
#include "facts/device_steps.h"
#include "facts/host_state.h"
#include "facts/host_waits.h"
#include "facts/memory_records.h"
#include "fleet/gather_names.h"
#include "fleet/timeline.h"
#include "trace/span.h"
#include <stdlib.h>
#include <string.h>

const struct trace_wants gather_wants = {
    .args = HOST_WAITS_WANTS | COLLECTIVES_WANTS | MEMORY_RECORDS_WANTS,
};

struct gathering {
    struct facts *facts; /* the facts of all files */
    const struct trace *trace;
    const struct gather_options *options;
    const struct gpu_events *gpu;
    const struct gaps *gaps;
    struct device_steps *steps;
    struct collectives *collectives;
    const struct memory_records *memory; /* NULL: none in the trace */
    struct fleet_timeline *lines;        /* by device */
    /* Of the current file: */
    struct facts *own;
    uint32_t file;
};

static name_id text_of(struct gathering *gathering, name_id id)
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

static bool is_cut(const char *kind)
{
    return strcmp(kind, "cut_short") == 0 || strcmp(kind, "not_closed") == 0 ||
           strcmp(kind, "damaged_file") == 0 || strcmp(kind, "unfinished_file") == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static int64_t add_notices(struct gathering *gathering)
{
    int64_t cut = 0;
    for (size_t i = 0; i < gathering->trace->notice_count; i++) {
        const struct trace_notice *notice = &gathering->trace->notices[i];
        if (notice->file != gathering->file || notice->of_all)
            continue;
        cut |= is_cut(notice->kind);
        facts_add(gathering->own, FACTS_NOTICES,
                  &(struct facts_notice){ 0, facts_text(gathering->own, notice->kind),
                                          facts_text(gathering->own, notice->text), (int64_t)notice->count });
    }
    return cut;
}

static void add_recording(struct gathering *gathering)
{
    const struct trace_file *file = &gathering->trace->files[gathering->file];
    struct interval span = trace_file_span(gathering->trace, gathering->file);
    size_t device = gpu_first_device(gathering->gpu, gathering->file), devices = 0;
    const char *model = NULL;
    for (; has_device(gathering, device + devices); devices++)
        if (!model && gathering->gpu->devices[device + devices].properties)
            model = gathering->gpu->devices[device + devices].properties->name;
    struct facts *own = gathering->own;
    struct facts_recording row = {
        .job = facts_text(own, gathering->options->job),
        .file = facts_text(own, base_name(file->path)),
        .host = facts_text(own, file->host_name),
        .producer = facts_text(own, trace_producer_name(file->producer)),
        .device = facts_text(own, model),
        .version = facts_text(own, TPA_VERSION),
        .rank = file->rank >= 0 ? file->rank : FACTS_MISSING,
        .world_size = file->world_size > 0 ? file->world_size : FACTS_MISSING,
        .has_clock = file->has_base,
        .start_ns = absolute(gathering, span.start_ns),
        .end_ns = absolute(gathering, span.end_ns),
        .events = (int64_t)file->event_count,
        .bytes = file->size,
        .devices = (int64_t)devices,
    };
    row.cut = add_notices(gathering);
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

static void add_device(struct gathering *gathering, uint32_t index)
{
    const struct gpu_device *device = &gathering->gpu->devices[index];
    const struct fleet_timeline *line = &gathering->lines[index];
    const struct trace *trace = gathering->trace;
    struct facts_device row = {
        .device = device->id,
        .name = device->properties ? facts_text(gathering->own, device->properties->name) : NAME_NONE,
        .total_memory = device->properties && device->properties->total_memory
                            ? device->properties->total_memory
                            : FACTS_MISSING,
        .multiprocessors =
            device->properties && device->properties->sm_count ? device->properties->sm_count : FACTS_MISSING,
        .span_ns = device->count ? line->span.end_ns - line->span.start_ns : 0,
        .busy_ns = line->busy_ns,
        .operations = (int64_t)device->count,
        .peak_allocated = FACTS_MISSING,
        .peak_reserved = FACTS_MISSING,
    };
    for (size_t i = device->first; i < device->first + device->count; i++) {
        event_id call = gathering->gpu->call[i];
        if (call == EVENT_NONE) {
            row.unlinked++;
            continue;
        }
        int64_t waited_ns = trace_start_ns(trace, gathering->gpu->event[i]) - trace_end_ns(trace, call);
        row.queued += waited_ns > 0;
        sum_add(&row.queue_ns, waited_ns > 0 ? waited_ns : 0);
    }
    set_peaks(gathering, &row);
    facts_add(gathering->own, FACTS_DEVICES, &row);
}

/* ---- steps ---- */

/* The steps of torch.profiler; a file without any is one. New; free with step_list_free. */
static struct step_list *find_ranges(const struct trace *trace)
{
    const struct step_list *marked = step_list_of(trace);
    struct step_list *ranges = mem_zalloc(1, sizeof *ranges);
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

struct host_times {
    struct measured loading, blocked;
};

static void find_host_times(const struct gathering *gathering, struct host_times *times)
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
    measured_take(&times->loading, &loading);
    measured_take(&times->blocked, &blocked);
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

static void add_steps(struct gathering *gathering)
{
    struct host_times times;
    find_host_times(gathering, &times);
    size_t first, end = device_steps_of_file(gathering->steps, gathering->file, &first);
    size_t first_device = gpu_first_device(gathering->gpu, gathering->file);
    size_t last_device = last_device_of_steps(gathering, first_device, end - first);
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
            row.part_ns[p] = FACTS_MISSING;
        size_t d = first_device;
        for (; d < last_device; d++) {
            const struct fleet_timeline *line = &gathering->lines[d];
            row.device = gathering->gpu->devices[d].id;
            row.all_communication_ns = measured_within(&line->communication, step->start_ns, step->end_ns);
            timeline_split(line, step->start_ns, step->end_ns, row.part_ns);
            facts_add(gathering->own, FACTS_STEPS, &row);
        }
        if (d == first_device)
            facts_add(gathering->own, FACTS_STEPS, &row);
    }
    measured_release(&times.loading);
    measured_release(&times.blocked);
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
                                         .name = text_of(gathering, one->group_name),
                                         .description = text_of(gathering, one->group_description),
                                         .ranks = list_of(gathering, one->group_ranks),
                                         .size = one->group_size >= 0 ? one->group_size : FACTS_MISSING });
    return id;
}

/* Store what the device had done until MOMENT in the five members from SUMS on. */
static void sum_until(const struct fleet_timeline *line, int64_t moment_ns, int64_t sums[5])
{
    int64_t part_ns[FACTS_PARTS];
    timeline_split(line, line->span.start_ns, moment_ns, part_ns);
    sums[0] = part_ns[PART_COMPUTATION];
    sums[1] = part_ns[PART_COMMUNICATION];
    sums[2] = part_ns[PART_COPIES];
    sums[3] = part_ns[PART_IDLE + GAP_DATA_LOADING];
    sums[4] = 0;
    for (size_t p = PART_IDLE; p < FACTS_PARTS; p++)
        sums[4] += p == PART_IDLE + GAP_DATA_LOADING ? 0 : part_ns[p];
}

static void set_sums(const struct gathering *gathering, const struct collective *one,
                     struct facts_collective *row)
{
    int64_t before[5], until[5];
    if (one->place < gathering->gpu->device_count) {
        const struct fleet_timeline *line = &gathering->lines[one->place];
        sum_until(line, trace_start_ns(gathering->trace, one->event), before);
        sum_until(line, trace_end_ns(gathering->trace, one->event), until);
    } else {
        for (size_t i = 0; i < 5; i++)
            before[i] = until[i] = FACTS_MISSING;
    }
    row->computed_before_ns = before[0], row->computed_until_ns = until[0];
    row->communicated_before_ns = before[1], row->communicated_until_ns = until[1];
    row->copied_before_ns = before[2], row->copied_until_ns = until[2];
    row->loading_before_ns = before[3], row->loading_until_ns = until[3];
    row->host_before_ns = before[4], row->host_until_ns = until[4];
}

static int64_t known(int64_t value)
{
    return value < 0 ? FACTS_MISSING : value;
}

static void add_collectives(struct gathering *gathering)
{
    const struct trace *trace = gathering->trace;
    const struct collectives *all = gathering->collectives;
    const struct step_list *steps = step_list_of(trace);
    struct names *groups = names_open();
    for (size_t i = 0; i < all->count; i++) {
        const struct collective *one = &all->at[i];
        const struct collective_place *place = &all->places[one->place];
        if (place->file != gathering->file || !one->timed)
            continue;
        int64_t start_ns = trace_start_ns(trace, one->event), end_ns = trace_end_ns(trace, one->event);
        const struct step *step = step_list_at(steps, place->file, collective_issued_ns(all, one));
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
            .start_ns = absolute(gathering, start_ns),
            .duration_ns = end_ns - start_ns,
            .exposed_ns = end_ns - start_ns - collective_place_computed(place, start_ns, end_ns),
        };
        set_sums(gathering, one, &row);
        facts_add(gathering->own, FACTS_COLLECTIVES, &row);
        struct facts_group *group =
            (struct facts_group *)facts_rows(gathering->own, FACTS_GROUPS) + row.group;
        group->collectives++;
        group->unnumbered += row.sequence == FACTS_MISSING;
    }
    names_free(groups);
}

/* ---- all ---- */

static void gather_file(struct gathering *gathering)
{
    gathering->own = facts_open();
    add_recording(gathering);
    for (size_t d = gpu_first_device(gathering->gpu, gathering->file); has_device(gathering, d); d++)
        add_device(gathering, (uint32_t)d);
    add_steps(gathering);
    add_collectives(gathering);
    gather_names(gathering->own, gathering->trace, gathering->gpu, gathering->file);
    facts_check(gathering->own); /* a trace may hold invalid numbers, too */
    facts_seal(gathering->own);
    facts_merge(gathering->facts, gathering->own);
    facts_free(gathering->own);
}

void facts_gather(struct facts *facts, const struct trace *trace, const struct gather_options *options)
{
    struct gaps_options gaps = gaps_defaults;
    gaps.min_ns = 0;
    gaps.in_order = true;
    struct step_list *ranges = find_ranges(trace);
    struct gathering gathering = { .facts = facts, .trace = trace, .options = options };
    gathering.gpu = gpu_events_of(trace);
    struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    gathering.gaps = gaps_analyze(trace, all, BY(DEVICE), &gaps);
    gathering.steps = device_steps_open(ranges, gathering.gpu);
    gathering.collectives = collectives_open(trace);
    gathering.memory = memory_records_of(trace, MEMORY_LEVELS);
    size_t devices = gathering.gpu->device_count;
    gathering.lines = mem_alloc(mem_times(devices + 1, sizeof *gathering.lines));
    for (size_t d = 0; d < devices; d++)
        timeline_init(&gathering.lines[d], gathering.gpu, (uint32_t)d, gathering.gaps);
    for (gathering.file = 0; gathering.file < trace->file_count; gathering.file++)
        gather_file(&gathering);
    for (size_t d = 0; d < devices; d++)
        timeline_release(&gathering.lines[d]);
    free(gathering.lines);
    collectives_free(gathering.collectives);
    device_steps_free(gathering.steps);
    step_list_free(ranges);
    gaps_free(gathering.gaps);
    selection_free(all);
}
