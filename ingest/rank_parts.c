/* Each way gives every track of a file a label; equal labels are one rank. */
#include "ingest/rank_parts.h"

#include "base/quantity.h"
#include "base/rows.h"
#include "trace/part_file.h"
#include "trace/step_name.h"
#include <inttypes.h>

enum { LABEL_DP, LABEL_PP, LABEL_CP, LABEL_TP, LABEL_EP, LABEL_RANK, LABEL_KINDS };

/* The coordinates of a rank; -1: not given. */
struct label {
    int64_t at[LABEL_KINDS];
};

/* A rank of a file. */
struct part {
    int64_t dp, pp, cp, tp, ep, rank; /* its label, in order of importance */
    int64_t pid;                      /* of the first of its processes */
    uint32_t found;                   /* place in which it was found */
};

struct parts {
    struct trace *trace;
    uint32_t file;
    VEC_OF(struct part) ranks;
    uint32_t *of; /* by track: place of its rank as found; PART_NONE: not known */
    const char *by;
};

#define PART_NONE UINT32_MAX

static const struct label no_label = { { -1, -1, -1, -1, -1, -1 } };

/* ---- labels ---- */

/* Read "[TP01-DP00] 4001": false if TEXT is something else. */
static bool read_bracket(const char *text, struct label *label, int64_t *pid)
{
    static const char *const words[LABEL_EP + 1] = { "DP", "PP", "CP", "TP", "EP" };
    const char *at = text;
    if (*at++ != '[')
        return false;
    *label = no_label;
    for (;;) {
        int kind = 0;
        while (kind <= LABEL_EP && strncmp(at, words[kind], 2) != 0)
            kind++;
        if (kind > LABEL_EP)
            return false;
        at += 2;
        label->at[kind] = quantity_read_number(&at);
        if (label->at[kind] < 0)
            return false;
        if (*at == ']')
            break;
        if (*at++ != '-')
            return false;
    }
    at++;
    at += *at == ' ';
    *pid = quantity_read_number(&at);
    return true;
}

/* Read "rank 3: python", "[rank3] python", "Rank 3 training loop process". */
static bool read_rank(const char *text, struct label *label)
{
    const char *at = text + (*text == '[');
    if (strncasecmp(at, "rank", 4) != 0)
        return false;
    at += 4;
    at += *at == ' ' || *at == '_' || *at == '-';
    *label = no_label;
    label->at[LABEL_RANK] = quantity_read_number(&at);
    return label->at[LABEL_RANK] >= 0 && (*at == '\0' || strchr(" :]_-/", *at));
}

/* The rank with LABEL, added if it is new. */
static uint32_t find_part(struct parts *parts, const struct label *label, int64_t pid)
{
    const int64_t *at = label->at;
    for (uint32_t i = 0; i < parts->ranks.count; i++) {
        const struct part *part = &parts->ranks.at[i];
        if (part->dp == at[LABEL_DP] && part->pp == at[LABEL_PP] && part->cp == at[LABEL_CP] &&
            part->tp == at[LABEL_TP] && part->ep == at[LABEL_EP] && part->rank == at[LABEL_RANK])
            return i;
    }
    uint32_t found = (uint32_t)parts->ranks.count;
    *VEC_PUSH(&parts->ranks) = (struct part){ at[LABEL_DP], at[LABEL_PP],   at[LABEL_CP], at[LABEL_TP],
                                              at[LABEL_EP], at[LABEL_RANK], pid,          found };
    return found;
}

static bool find_labels(struct parts *parts)
{
    const struct trace *trace = parts->trace;
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        struct label label;
        int64_t pid = track->pid;
        if (track->file != parts->file)
            continue;
        if ((track->pid_text != NAME_NONE &&
             read_bracket(names_text(trace->texts, track->pid_text), &label, &pid)) ||
            (track->process_name != NAME_NONE &&
             read_rank(names_text(trace->texts, track->process_name), &label)))
            parts->of[t] = find_part(parts, &label, pid);
    }
    /* A device without a label may be of any rank. */
    bool all = ALL(t, trace->track_count,
                   trace->tracks[t].file != parts->file || trace->tracks[t].kind != TRACK_STREAM ||
                       !trace->tracks[t].event_count || parts->of[t] != PART_NONE);
    parts->by = TRACE_RANK_BY_LABELS;
    return all && parts->ranks.count > 1;
}

/* ---- timelines of jobs ---- */

/* Read "PP rank 0, TP rank 1, dp-comm" and, of the process, "DP rank [0]". */
static bool rank_parts_read_timeline(const char *thread, const char *process, struct label *label)
{
    const char *at = thread;
    *label = no_label;
    if (strncmp(at, "PP rank ", 8) != 0)
        return false;
    at += 8;
    label->at[LABEL_PP] = quantity_read_number(&at);
    if (strncmp(at, ", TP rank ", 10) != 0)
        return false;
    at += 10;
    label->at[LABEL_TP] = quantity_read_number(&at);
    if (strncmp(process, "DP rank [", 9) != 0 || label->at[LABEL_PP] < 0 || label->at[LABEL_TP] < 0)
        return false;
    at = process + 9;
    label->at[LABEL_DP] = quantity_read_number(&at);
    return label->at[LABEL_DP] >= 0;
}

static bool find_timeline(struct parts *parts)
{
    enum { THREADS_OF_RANK = 5 };
    const struct trace *trace = parts->trace;
    bool by_thread = true;
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        struct label label;
        if (track->file != parts->file || track->event_count == 0)
            continue;
        if (!rank_parts_read_timeline(names_text(trace->texts, track->thread_name),
                                      names_text(trace->texts, track->process_name), &label))
            return false;
        parts->of[t] = find_part(parts, &label, track->pid);
        by_thread = by_thread && track->tid >= 0 && track->tid_text == NAME_NONE;
    }
    SCOPED VEC_OF(int64_t) numbers = { 0 };
    for (size_t i = 0; i < parts->ranks.count; i++)
        *VEC_PUSH(&numbers) = -1;
    for (track_id t = 0; t < trace->track_count && by_thread && numbers.at; t++) {
        if (parts->of[t] == PART_NONE)
            continue;
        int64_t *number = &numbers.at[parts->of[t]], rank = trace->tracks[t].tid / THREADS_OF_RANK;
        by_thread = *number < 0 || *number == rank;
        *number = rank;
    }
    for (size_t i = 0; i < parts->ranks.count && by_thread; i++)
        parts->ranks.at[i].rank = numbers.at[i];
    parts->by = TRACE_RANK_BY_LABELS;
    return parts->ranks.count > 1;
}

/* ---- processes that mark steps ---- */

/* New, by track of the host: does it mark steps? */
static bool *find_markers(const struct trace *trace, const struct trace_file *file)
{
    bool *marks = mem_zalloc(trace->track_count + 1, sizeof *marks);
    SCOPED bool *is_step = mem_zalloc(names_count(trace->names) + 1, sizeof *is_step);
    int64_t number;
    for (name_id id = 0; id < names_count(trace->names); id++)
        is_step[id] = strncmp(names_text(trace->names, id), "ProfilerStep", 12) == 0 &&
                      step_number(names_text(trace->names, id), &number);
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
        if (is_step[trace->name[e]] && !event_on_device((enum event_kind)trace->kind[e]))
            marks[trace->track[e]] = true;
    return marks;
}

static const struct key by_pid[] = { ASC(struct part, pid), KEY_END };

/* Devices of the file, by process, ascending; new. */
struct pids {
    VEC_OF(int64_t);
};

static void list_devices(const struct parts *parts, struct pids *pids)
{
    const struct trace *trace = parts->trace;
    for (track_id t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].file == parts->file && trace->tracks[t].kind == TRACK_STREAM &&
            trace->tracks[t].event_count)
            *VEC_PUSH(pids) = trace->tracks[t].pid;
    SORT_NUMBERS(pids->at, pids->count);
    size_t kept = 0;
    for (size_t i = 0; i < pids->count; i++)
        if (kept == 0 || pids->at[kept - 1] != pids->at[i])
            pids->at[kept++] = pids->at[i];
    pids->count = kept;
}

static bool find_processes(struct parts *parts)
{
    const struct trace *trace = parts->trace;
    const struct trace_file *file = &trace->files[parts->file];
    int64_t first_pid = 0;
    bool several = false, any = false;
    FOR_EACH_OF(track, trace->tracks, trace->track_count) {
        if (track->file != parts->file || track->kind != TRACK_THREAD || !track->event_count ||
            track->pid_text != NAME_NONE)
            continue;
        several |= any && track->pid != first_pid;
        first_pid = track->pid;
        any = true;
    }
    if (!several)
        return false;
    bool *marks = find_markers(trace, file);
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        bool known = ANY(i, parts->ranks.count, parts->ranks.at[i].pid == track->pid);
        if (marks[t] && !known && track->pid_text == NAME_NONE)
            *VEC_PUSH(&parts->ranks) = (struct part){ .pid = track->pid };
    }
    free(marks);
    if (parts->ranks.count < 2)
        return false;
    SORT(&parts->ranks, by_pid);
    struct pids devices = { 0 };
    list_devices(parts, &devices);
    size_t each = devices.count / parts->ranks.count;
    bool good = devices.count % parts->ranks.count == 0;
    for (track_id t = 0; t < trace->track_count && good; t++) {
        const struct track *track = &trace->tracks[t];
        size_t place = 0;
        if (track->file != parts->file || track->pid_text != NAME_NONE)
            continue;
        if (track->kind == TRACK_STREAM && each)
            for (; place + 1 < devices.count && devices.at[place] != track->pid; place++)
                ;
        else
            while (place + 1 < parts->ranks.count && parts->ranks.at[place + 1].pid <= track->pid)
                place++;
        parts->of[t] = (uint32_t)(track->kind == TRACK_STREAM && each ? place / each : place);
    }
    VEC_FREE(&devices);
    for (uint32_t i = 0; i < parts->ranks.count; i++)
        parts->ranks.at[i] = (struct part){ -1, -1, -1, -1, -1, i, parts->ranks.at[i].pid, i };
    parts->by = TRACE_RANK_BY_PROCESSES;
    return good;
}

/* ---- the files ---- */

static const struct key by_label[] = { ASC(struct part, rank),
                                       ASC(struct part, dp),
                                       ASC(struct part, pp),
                                       ASC(struct part, cp),
                                       ASC(struct part, tp),
                                       ASC(struct part, ep),
                                       KEY_END };

/* The numbers of the ranks, which are sorted: their own, if each has one, or TP if there is nothing else; else their places. */
static int64_t rank_parts_number_of(const struct parts *parts, uint32_t place)
{
    const struct part *part = &parts->ranks.at[place];
    bool only_tp = true;
    FOR_EACH(one, &parts->ranks)
        only_tp = only_tp && one->tp >= 0 && one->dp < 0 && one->pp < 0 && one->cp < 0 && one->ep < 0;
    return part->rank >= 0 ? part->rank : only_tp ? part->tp : (int64_t)place;
}

/* The coordinates in a label, as TRACE_COORDINATES has them; NULL: there are none. Lives as long as TRACE. */
static const char *write_coordinates(struct trace *trace, const struct part *part)
{
    const int64_t at[] = { part->dp, part->pp, part->cp, part->tp, part->ep };
    static const char *const words[] = { "dp", "pp", "cp", "tp", "ep" };
    const char *text = NULL;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (at[i] >= 0)
            text = arena_printf(&trace->arena, "%s%s%s=%" PRId64, text ? text : "", text ? " " : "", words[i],
                                at[i]);
    return text;
}

/* Are all devices of FILE of one model? */
static bool devices_are_alike(const struct trace_file *file)
{
    const struct trace_device *at = file->devices.at;
    return file->devices.count > 0 && at->name &&
           ALL_FROM(i, 1, file->devices.count,
                    at[i].name && strcmp(at[i].name, at->name) == 0 &&
                        at[i].total_memory == at->total_memory);
}

/* What merges recordings shifts processes, which are numbers of devices, too: let those of FILE that it does not list be as the listed
 * ones, if these are alike. */
static void list_shifted_devices(const struct trace *trace, uint32_t number, struct trace_file *file)
{
    for (track_id t = 0; t < trace->track_count && devices_are_alike(file); t++) {
        const struct track *track = &trace->tracks[t];
        if (track->file != number || track->kind != TRACK_STREAM || !track->event_count ||
            track->device < 0 || trace_file_device(file, track->device))
            continue;
        struct trace_device device = file->devices.at[0];
        device.id = track->device;
        size_t i = file->devices.count;
        *VEC_PUSH(&file->devices) = device;
        for (; i > 0 && file->devices.at[i - 1].id > device.id; i--)
            file->devices.at[i] = file->devices.at[i - 1];
        file->devices.at[i] = device;
    }
}

/* How many ranks the job has at least, by their numbers; -1: unknown. Where every n-th rank was recorded (one of each group of
 * tensor ranks), the size of the job is unknown. */
static int64_t least_world_size(const struct parts *parts)
{
    size_t count = parts->ranks.count;
    int64_t last = rank_parts_number_of(parts, (uint32_t)count - 1),
            apart = count > 1 ? last / ((int64_t)count - 1) : 1;
    bool chosen = apart > 1 && ALL(i, count, rank_parts_number_of(parts, (uint32_t)i) == (int64_t)i * apart);
    return chosen ? -1 : last + 1;
}

static void describe_part(const struct parts *parts, uint32_t place)
{
    struct trace_file *file = trace_file_to_change(parts->trace, parts->file + place);
    int64_t number = rank_parts_number_of(parts, place);
    file->rank = number;
    int64_t least = least_world_size(parts);
    file->world_size = file->world_size < least ? least : file->world_size;
    list_shifted_devices(parts->trace, parts->file + place, file);
    file->groups.count = 0;
    file->has_all_groups = false;
    *VEC_PUSH(&file->properties) = (struct trace_property){ TRACE_RANK_BY, parts->by, true };
    const char *coordinates = write_coordinates(parts->trace, &parts->ranks.at[place]);
    if (coordinates)
        *VEC_PUSH(&file->properties) = (struct trace_property){ TRACE_COORDINATES, coordinates, true };
}

/* Give the tracks the processes back that they had before they were merged. */
static void restore_processes(struct parts *parts)
{
    struct trace *trace = parts->trace;
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        struct label label;
        int64_t pid = -1;
        if (track->file >= parts->file && track->file < parts->file + parts->ranks.count &&
            track->pid_text != NAME_NONE &&
            read_bracket(names_text(trace->texts, track->pid_text), &label, &pid) && pid >= 0)
            trace_track_rename(trace, t, pid);
    }
}

static void split_file(struct parts *parts)
{
    struct trace *trace = parts->trace;
    uint32_t count = (uint32_t)parts->ranks.count;
    SORT(&parts->ranks, by_label);
    SCOPED uint32_t *place_of = mem_zalloc(count + 1, sizeof *place_of);
    for (uint32_t place = 0; place < count; place++)
        place_of[parts->ranks.at[place].found] = place;
    for (track_id t = 0; t < trace->track_count; t++)
        parts->of[t] = parts->of[t] == PART_NONE ? 0 : place_of[parts->of[t]];
    trace_part_file(trace, parts->file, parts->of, count);
    for (uint32_t place = 0; place < count; place++)
        describe_part(parts, place);
    restore_processes(parts);
}

/* Split FILE if it holds several ranks; returns the number of files that it is now. */
static uint32_t part_ranks(struct trace *trace, uint32_t file)
{
    static bool (*const ways[])(struct parts * parts) = { find_timeline, find_labels, find_processes };
    struct parts parts = { .trace = trace, .file = file };
    bool found = false;
    parts.of = mem_alloc(mem_times(trace->track_count + 1, sizeof *parts.of));
    for (size_t way = 0; way < sizeof ways / sizeof *ways && !found; way++) {
        parts.ranks.count = 0;
        for (track_id t = 0; t < trace->track_count; t++)
            parts.of[t] = PART_NONE;
        found = ways[way](&parts);
    }
    if (found)
        split_file(&parts);
    uint32_t files = found ? (uint32_t)parts.ranks.count : 1;
    VEC_FREE(&parts.ranks);
    free(parts.of);
    return files;
}

void rank_parts_find(struct trace *trace)
{
    for (uint32_t file = 0; file < trace->file_count;)
        file += trace_file_property(&trace->files[file], TRACE_RANK_BY) ? 1 : part_ranks(trace, file);
}
