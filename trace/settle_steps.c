/*
 * settle_steps.c - marks of steps that cannot be, when a trace is finished.
 *
 * PyTorch's profiler marks steps one after another on a thread, ProfilerStep#N, and counts them up. So a mark that reaches over a
 * later one has lost its end, one that is there twice was written twice, a number that is left out is a mark or a step that was
 * lost, a number that comes again, or a lower one, is of another recording, or was changed, and a step that holds nothing of the
 * device that the others use has lost it.
 */
#include "trace/storage.h"

#include "base/rows.h"
#include "base/search.h"
#include "trace/slice.h"
#include "trace/step_name.h"
#include <inttypes.h>

struct mark {
    uint32_t file;
    track_id track;
    event_id event;
    int64_t number, start_ns, end_ns;
};

struct mark_list {
    VEC_OF(struct mark);
};

static const struct key by_start[] = { ASC(struct mark, file),
                                       ASC(struct mark, track),
                                       ASC(struct mark, start_ns),
                                       ASC(struct mark, end_ns),
                                       ASC(struct mark, number),
                                       ASC(struct mark, event),
                                       KEY_END };
static const struct key by_times[] = { ASC(struct mark, file),     ASC(struct mark, track),
                                       ASC(struct mark, start_ns), ASC(struct mark, end_ns),
                                       ASC(struct mark, number),   KEY_END };
static const struct key by_event[] = { ASC(struct mark, event), KEY_END };
static const struct key by_thread[] = { ASC(struct mark, file), ASC(struct mark, track), KEY_END };

/* Those of the host, of PyTorch's profiler. */
static struct mark_list find_marks(const struct trace *trace)
{
    static const char torch[] = "ProfilerStep#";
    struct mark_list marks = { 0 };
    size_t names = names_count(trace->names);
    int64_t *numbers = mem_alloc(mem_times(names + 1, sizeof *numbers));
    bool any = false;
    for (name_id id = 0; id < names; id++) {
        const char *name = names_text(trace->names, id);
        bool is_mark = strncmp(name, torch, sizeof torch - 1) == 0 && step_number(name, &numbers[id]);
        numbers[id] = is_mark ? numbers[id] : -1;
        any |= is_mark;
    }
    for (event_id e = 0; any && e < trace->event_count; e++)
        if (numbers[trace->name[e]] >= 0 && !event_on_device(trace->kind[e]))
            *VEC_PUSH(&marks) = (struct mark){ trace->tracks[trace->track[e]].file,
                                               trace->track[e],
                                               e,
                                               numbers[trace->name[e]],
                                               trace_start_ns(trace, e),
                                               trace_end_ns(trace, e) };
    free(numbers);
    if (marks.count)
        SORT(&marks, by_start);
    return marks;
}

static void tell(struct trace_builder *builder, uint32_t file, const char *kind, uint64_t count,
                 const char *one, const char *many)
{
    if (count)
        builder_add_last_notice(builder, file, kind, builder_counted(builder, count, one, many), count);
}

/* Drop marks that are there twice. Were there any? */
static bool drop_doubled_marks(struct trace_builder *builder, const struct mark_list *marks)
{
    const struct trace *trace = builder->trace;
    bool *keep = NULL;
    SCOPED uint64_t *doubles = mem_zalloc(trace->file_count + 1, sizeof *doubles);
    FOR_GROUPS(marks, by_times, first, end)
        for (size_t i = first + 1; i < end; i++) {
            if (!keep) {
                keep = mem_alloc(trace->event_count + 1);
                memset(keep, true, trace->event_count + 1);
            }
            keep[marks->at[i].event] = false;
            doubles[marks->at[i].file]++;
        }
    for (uint32_t f = 0; f < trace->file_count; f++)
        tell(builder, f, "doubled_steps", doubles[f], "mark of a step is in the file twice; it counts once",
             "marks of steps are in the file twice; they count once");
    if (keep)
        trace_keep(builder->trace, &(struct trace_part){ .events = keep });
    bool any = keep != NULL;
    free(keep);
    return any;
}

static int64_t bounded_mark(void *context, size_t e, int64_t dur_ns)
{
    const struct mark_list *late = context;
    size_t i = PLACE(k, late->count, late->at[k].event < e);
    return i < late->count && late->at[i].event == e ? late->at[i].end_ns - late->at[i].start_ns : dur_ns;
}

/* Let marks that reach over all of a later one end where the next begins. */
static void bound_ends(struct trace_builder *builder, struct mark_list *marks)
{
    SCOPED struct mark_list late = { 0 };
    SCOPED uint64_t *count = mem_zalloc(builder->trace->file_count + 1, sizeof *count);
    FOR_GROUPS(marks, by_thread, first, end)
        for (size_t i = first; i + 1 < end; i++) {
            struct mark *mark = &marks->at[i], *next = mark + 1;
            if (next->start_ns <= mark->start_ns || next->start_ns >= mark->end_ns ||
                next->end_ns > mark->end_ns || next->number == mark->number)
                continue;
            mark->end_ns = next->start_ns;
            *VEC_PUSH(&late) = *mark;
            count[mark->file]++;
        }
    for (uint32_t f = 0; f < builder->trace->file_count; f++)
        tell(builder, f, lack_word(LACK_LATE_END), count[f],
             "step reaches over a later one, which cannot be; it is taken to end where the next begins",
             "steps reach over later ones, which cannot be; they are taken to end where the next begins");
    if (late.count) {
        SORT(&late, by_event);
        packing_change(&builder->storage->dur_ns, bounded_mark, &late);
    }
}

/* Did the thread of MARK begin a call or an operator between it and NEXT? */
static bool worked_between(const struct trace *trace, const struct mark *mark, const struct mark *next)
{
    const struct trace_file *file = &trace->files[mark->file];
    return ANY_FROM(
        e, file->first_event, file->first_event + file->event_count,
        trace->track[e] == mark->track && (trace->kind[e] == EVENT_OP || event_is_call(trace->kind[e])) &&
            trace_start_ns(trace, e) >= mark->end_ns && trace_start_ns(trace, e) < next->start_ns);
}

/* Did steps between MARK and NEXT run? There is room for half of a step at least, so numbers were not left out by the program. */
static bool has_room_between(const struct mark *mark, const struct mark *next)
{
    return next->start_ns - mark->end_ns > (mark->end_ns - mark->start_ns) / 2;
}

/* Steps without a mark, in which the thread worked, or of which nothing is there. */
struct lost_steps {
    uint64_t unmarked, unrecorded;
};

/* Those among the COUNT marks at MARKS, of one thread. *HOLES: how many were looked into in all threads. */
static struct lost_steps find_lost_of(const struct trace *trace, const struct mark *marks, size_t count,
                                      size_t *holes)
{
    enum { MOST_HOLES = 64 }; /* each reads a file */
    struct lost_steps lost = { 0 };
    bool ascending = true;
    for (size_t i = 0; i + 1 < count; i++) {
        const struct mark *mark = &marks[i], *next = mark + 1;
        ascending &= next->number > mark->number;
        if (next->number <= mark->number || next->number - mark->number == 1 ||
            (uint64_t)(next->number - mark->number) > count || (*holes)++ > MOST_HOLES)
            continue;
        uint64_t between = (uint64_t)(next->number - mark->number - 1);
        if (worked_between(trace, mark, next))
            lost.unmarked += between;
        else if (has_room_between(mark, next))
            lost.unrecorded += between;
    }
    if (!ascending) /* numbers tell nothing */
        lost.unrecorded = 0;
    return lost.unmarked + lost.unrecorded < count ? lost : (struct lost_steps){ 0 };
}

/* Tell steps of which no mark is there, unless there are more of these than of others: then only some are marked. */
static void tell_lost(struct trace_builder *builder, const struct mark_list *marks)
{
    const struct trace *trace = builder->trace;
    SCOPED struct lost_steps *lost = mem_zalloc(trace->file_count + 1, sizeof *lost);
    size_t holes = 0;
    FOR_GROUPS(marks, by_thread, first, end) {
        const struct lost_steps own = find_lost_of(trace, &marks->at[first], end - first, &holes);
        lost[marks->at[first].file].unmarked += own.unmarked;
        lost[marks->at[first].file].unrecorded += own.unrecorded;
    }
    for (uint32_t f = 0; f < trace->file_count; f++) {
        if (builder_noticed(builder, f, LACK_MISSING_STEPS))
            continue;
        tell(builder, f, lack_word(LACK_MISSING_STEPS), lost[f].unmarked,
             "step between others has no mark, though the host worked in it: its time is in no step",
             "steps between others have no mark, though the host worked in them: their time is in no step");
        tell(
            builder, f, lack_word(LACK_MISSING_STEPS), lost[f].unrecorded,
            "step between others is not in the file: its number is left out, and nothing was recorded meanwhile",
            "steps between others are not in the file: their numbers are left out, and nothing was recorded meanwhile");
    }
}

/* The last mark of the COUNT at AT, by start, that began at NS or before, if it lasts then; else COUNT. */
static size_t mark_at(const struct mark *at, size_t count, int64_t ns, size_t *near)
{
    size_t next = PLACE_NEAR(i, *near, count, at[i].start_ns <= ns);
    *near = next;
    return next > 0 && ns < at[next - 1].end_ns ? next - 1 : count;
}

/* Does it look like a plan which of the COUNT steps do not HOLD something: several, equally far apart, and not neighbours? */
static bool are_of_plan(const bool *holds, size_t count)
{
    size_t last = count, apart = 0, found = 0;
    for (size_t i = 0; i < count; i++) {
        if (holds[i])
            continue;
        if (found > 0 && (i - last == 1 || (found > 1 && i - last != apart)))
            return false;
        apart = i - last;
        last = i;
        found++;
    }
    return found > 1;
}

/* How many of the COUNT steps at MARKS, of one thread, hold neither a call nor work of a device, though an earlier and a later one
 * do? 0 where these are not twice as many, or it looks like a plan: then it is how the program works. */
static uint64_t count_hollow(const struct trace *trace, const struct mark *marks, size_t count)
{
    enum { LEAST_STEPS = 4, HOLLOW_ONE_IN = 2 };
    const struct trace_file *file = &trace->files[marks->file];
    if (count < LEAST_STEPS)
        return 0;
    SCOPED bool *holds = mem_zalloc(count, sizeof *holds);
    size_t near = 0, first = count, last = 0, full = 0;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        enum event_kind kind = (enum event_kind)trace->kind[e];
        if (!event_is_call(kind) && !event_is_gpu_work(kind))
            continue;
        size_t i = mark_at(marks, count, trace_start_ns(trace, e), &near);
        if (i < count)
            holds[i] = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (!holds[i])
            continue;
        full++;
        first = first < i ? first : i;
        last = i;
    }
    uint64_t hollow = full ? last + 1 - first - full : 0;
    bool by_plan = hollow && are_of_plan(holds + first, last + 1 - first);
    return hollow * HOLLOW_ONE_IN <= full && !by_plan ? hollow : 0;
}

/* Tell steps between others that hold nothing of a device, nor a call for one, where most do. */
static void tell_hollow(struct trace_builder *builder, const struct mark_list *marks)
{
    SCOPED uint64_t *hollow = mem_zalloc(builder->trace->file_count + 1, sizeof *hollow);
    FOR_GROUPS(marks, by_thread, first, end)
        hollow[marks->at[first].file] += count_hollow(builder->trace, &marks->at[first], end - first);
    for (uint32_t f = 0; f < builder->trace->file_count; f++)
        if (!builder_noticed(builder, f, LACK_DROPPED_UNKNOWN))
            tell(builder, f, lack_word(LACK_DROPPED_UNKNOWN), hollow[f],
                 "step between others holds no work of a device and no call for it: the profiler lost them",
                 "steps between others hold no work of a device and no calls for it: the profiler lost them");
}

/* Tell marks whose number is not above that of the one before them, on their thread: which step is which is not known. */
static void tell_repeated(struct trace_builder *builder, const struct mark_list *marks)
{
    SCOPED uint64_t *repeated = mem_zalloc(builder->trace->file_count + 1, sizeof *repeated);
    FOR_GROUPS(marks, by_thread, first, end)
        for (size_t i = first + 1; i < end; i++) {
            const struct mark *mark = &marks->at[i], *before = mark - 1;
            repeated[mark->file] += before->number > mark->number ||
                                    (before->number == mark->number && before->end_ns <= mark->start_ns);
        }
    for (uint32_t f = 0; f < builder->trace->file_count; f++)
        if (!builder_noticed(builder, f, LACK_REPEATED_STEPS))
            tell(
                builder, f, lack_word(LACK_REPEATED_STEPS), repeated[f],
                "step is numbered no higher than the one before it: the file holds several recordings, or its marks or times were changed",
                "steps are numbered no higher than those before them: the file holds several recordings, or their marks or times "
                "were changed");
}

void builder_settle_steps(struct trace_builder *builder)
{
    struct mark_list marks = find_marks(builder->trace);
    if (marks.count && drop_doubled_marks(builder, &marks)) { /* events have other numbers now */
        VEC_FREE(&marks);
        marks = find_marks(builder->trace);
    }
    if (marks.count) {
        bound_ends(builder, &marks);
        tell_lost(builder, &marks);
        tell_hollow(builder, &marks);
        tell_repeated(builder, &marks);
    }
    VEC_FREE(&marks);
}
