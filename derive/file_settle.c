/* file_settle.c - files that are copies of others, and ranks that lack steps or work that the others have; see file_set.h. */
#include "derive/file_set.h"

#include "base/rows.h"
#include "derive/communication.h"
#include "derive/step_list.h"
#include "trace/slice.h"
#include <inttypes.h>

/* ---- copies ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t file_set_fingerprint(const struct trace *trace, uint32_t file)
{
    const struct trace_file *of = &trace->files[file];
    SCOPED uint64_t *of_name = mem_zalloc(names_count(trace->names) + 1, sizeof *of_name);
    uint64_t hash = mix(mix(of->event_count, of->has_base), (uint64_t)(of->has_base ? of->base_ns : 0));
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        name_id id = trace->name[e];
        if (!of_name[id]) {
            const char *text = names_text(trace->names, id);
            for (of_name[id] = 1; *text; text++)
                of_name[id] = mix(of_name[id], (unsigned char)*text);
        }
        hash = mix(hash, of_name[id]);
        hash = mix(hash, (uint64_t)trace_start_ns(trace, e));
        hash = mix(hash, (uint64_t)trace_dur_ns(trace, e));
    }
    return hash;
}

/* A file, as what it holds. */
struct content {
    uint64_t fingerprint, events;
    uint32_t file;
};

static const struct key by_events[] = { ASC(struct content, events), ASC(struct content, file), KEY_END };
static const struct key by_content[] = { ASC(struct content, events), ASC(struct content, fingerprint),
                                         ASC(struct content, file), KEY_END };
static const struct key equal_events[] = { ASC(struct content, events), KEY_END };
static const struct key equal_content[] = { ASC(struct content, events), ASC(struct content, fingerprint),
                                            KEY_END };

/* What one process recorded is not what another did, even if the text is the same. */
static bool may_be_copy(const struct trace *trace, uint32_t one, uint32_t other)
{
    const struct trace_file *a = &trace->files[one], *b = &trace->files[other];
    bool hosts = a->host_name && b->host_name && strcmp(a->host_name, b->host_name) != 0;
    return !hosts && (a->rank < 0 || b->rank < 0 || a->rank == b->rank);
}

/* Say which files are left out. OF: by file, which it is a copy of; UINT32_MAX: none. */
static void tell_copies(struct trace *trace, const uint32_t *of, size_t files, uint64_t count)
{
    enum { MOST_NAMED = 3 };
    SCOPED struct buffer text = { 0 };
    uint64_t named = 0;
    buffer_printf(&text,
                  count == 1 ? "%" PRIu64 " file is a copy and counts once: "
                             : "%" PRIu64 " files are copies and count once: ",
                  count);
    for (uint32_t f = 0; f < files && named < MOST_NAMED; f++)
        if (of[f] != UINT32_MAX)
            buffer_printf(&text, "%s%s of %s", named++ ? ", " : "", trace->files[f].path,
                          trace->files[of[f]].path);
    if (named < count)
        buffer_printf(&text, " and %" PRIu64 " more", count - named);
    buffer_puts(&text, " (the same events at the same times)");
    trace_tell(trace, 0, true, FILE_SET_COPIES, text.at, count);
}

static void drop_copies(struct trace *trace)
{
    size_t files = trace->file_count;
    SCOPED struct content *contents = mem_zalloc(files + 1, sizeof *contents);
    SCOPED uint32_t *of = mem_alloc(mem_times(files + 1, sizeof *of));
    SCOPED bool *keep = mem_alloc(files + 1);
    uint64_t count = 0;
    for (uint32_t f = 0; f < files; f++) {
        contents[f] = (struct content){ 0, trace->files[f].event_count, f };
        of[f] = UINT32_MAX;
    }
    SORT_ARRAY(contents, files, by_events);
    FOR_GROUPS_OF(contents, files, equal_events, first, end)
        for (size_t i = first; i < end && end - first > 1 && contents[i].events; i++)
            contents[i].fingerprint = file_set_fingerprint(trace, contents[i].file);
    SORT_ARRAY(contents, files, by_content);
    FOR_GROUPS_OF(contents, files, equal_content, begin, behind)
        for (size_t i = begin + 1; i < behind && contents[i].events; i++)
            for (size_t k = begin; k < i && of[contents[i].file] == UINT32_MAX; k++)
                if (of[contents[k].file] == UINT32_MAX &&
                    may_be_copy(trace, contents[k].file, contents[i].file)) {
                    of[contents[i].file] = contents[k].file;
                    count++;
                }
    for (size_t f = 0; f < files; f++)
        keep[f] = of[f] == UINT32_MAX;
    if (count) {
        tell_copies(trace, of, files, count);
        trace_keep(trace, &(struct trace_part){ .files = keep });
    }
}

/* ---- ranks that lack steps ---- */

void file_set_add_steps(const struct trace *trace, size_t first, struct rank_step_list *steps)
{
    const struct step_list *list = step_list_has_marks(trace) ? step_list_of(trace) : NULL;
    for (size_t i = 0; list && i < list->count; i++) {
        struct rank_step step = { .source = (int64_t)(first + list->at[i].file) };
        if (step_number(trace_name(trace, list->at[i].event), &step.number))
            *VEC_PUSH(steps) = step;
    }
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (trace->files[f].event_count && trace->files[f].rank >= 0) /* without any mark it lacks all */
            *VEC_PUSH(steps) = (struct rank_step){ .number = RANK_STEP_NONE, .source = (int64_t)(first + f) };
}

struct rank_steps file_set_find_lacking(const struct file_set *set, struct rank_step_list *steps)
{
    if (set->jobs > 1)
        return (struct rank_steps){ 0 }; /* which files are of which run is not sure */
    for (size_t i = 0; i < steps->count; i++)
        steps->at[i].rank = set->files[steps->at[i].source].number;
    return rank_steps_lacking(steps->at, steps->count);
}

static void tell_missing_steps(struct trace *trace)
{
    SCOPED struct rank_step_list steps = { 0 };
    file_set_add_steps(trace, 0, &steps);
    SCOPED struct rank_steps lacking = file_set_find_lacking(file_set_of(trace), &steps);
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < lacking.count; i++) {
        buffer_clear(&text);
        rank_steps_describe(&lacking.at[i], &text);
        trace_tell(trace, (uint32_t)lacking.at[i].source, false, lack_word(LACK_MISSING_STEPS), text.at,
                   (uint64_t)(lacking.at[i].of - lacking.at[i].has));
    }
}

/* ---- ranks without work of a device ---- */

/* Did the process of FILE use a device? It called its runtime, or communicates by a library of devices. */
static bool uses_device(const struct trace *trace, const struct trace_file *file)
{
    bool uses = file->backend && backend_is_of_devices(file->backend);
    for (event_id e = file->first_event; e < file->first_event + file->event_count && !uses; e++)
        uses = event_is_call(trace->kind[e]);
    return uses;
}

static void tell_missing_work(struct trace *trace)
{
    const struct file_set *set = file_set_of(trace);
    bool any = false,
         *has_work = mem_zalloc(set->ranks + 1, sizeof *has_work); /* by rank: in one of its files */
    for (uint32_t f = 0; f < trace->file_count; f++) {
        any |= trace->files[f].lost.work > 0;
        has_work[set->files[f].rank] |= trace->files[f].lost.work > 0;
    }
    for (uint32_t f = 0; f < trace->file_count && any && set->jobs == 1; f++) {
        const struct trace_file *file = &trace->files[f];
        if (file->rank < 0 || file->event_count == 0 || has_work[set->files[f].rank] ||
            file->lost.lost_launches || !uses_device(trace, file))
            continue;
        SCOPED struct buffer text = { 0 };
        buffer_printf(
            &text, "rank %" PRId64 " has no work of its device, which other ranks have: the profiler lost it",
            file->rank);
        trace_tell(trace, f, false, lack_word(LACK_LOST_WORK), text.at, 1);
    }
    free(has_work);
}

void file_set_settle(struct trace *trace)
{
    if (trace->file_count < 2)
        return;
    if (trace->files_are != TRACE_FILES_ARE_APART)
        drop_copies(trace);
    if (trace->file_count > 1 && step_list_has_marks(trace))
        tell_missing_steps(trace);
    if (trace->file_count > 1)
        tell_missing_work(trace);
}
