#include "derive/step_list.h"

#include "derive/attribution.h"

#include "base/quantity.h"
#include "base/regex.h"
#include "derive/step_infer.h"
#include "base/rows.h"
#include "base/search.h"
#include "trace/arg_scan.h"
#include "trace/derived.h"
#include <inttypes.h>

int64_t step_list_end_ns(const struct step_list *steps, size_t index)
{
    const struct step *step = &steps->at[index], *next = step + 1;
    bool overlap = index + 1 < steps->count && next->file == step->file && next->start_ns < step->end_ns;
    return overlap ? next->start_ns : step->end_ns;
}

static const struct key by_file_start_event[] = { ASC(struct step, file), ASC(struct step, start_ns),
                                                  ASC(struct step, event), KEY_END };

/* ---- steps named by a property of the file ---- */

/* The number at the end of NAME: "iteration 12", "step_7". */
static bool number_at_end(const char *name, int64_t *number)
{
    size_t len = strlen(name), digits = 0;
    while (digits < len && digits < 18 && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9')
        digits++;
    return digits > 0 && quantity_parse_integer(name + len - digits, digits, number);
}

/* Number the steps from FIRST on: by the number at the end of their names if all have distinct ones, else
 * consecutively. */
static void number_steps(const struct trace *trace, struct step_list *steps, size_t first)
{
    bool numbered = ALL_FROM(i, first, steps->count,
                             number_at_end(trace_name(trace, steps->at[i].event), &steps->at[i].number) &&
                                 (i == first || steps->at[i].number > steps->at[i - 1].number));
    for (size_t i = first; i < steps->count && !numbered; i++)
        steps->at[i].number = (int64_t)(i - first);
}

/* Add the ranges of FILE whose names match PATTERN. */
static void add_ranges(const struct trace *trace, uint32_t f, const char *pattern, struct step_list *steps)
{
    enum { NOT_CHECKED, MATCHES, DIFFERS };
    const struct trace_file *file = &trace->files[f];
    struct tpa_error ignored = { 0 };
    struct regex *regex = *pattern ? regex_open(pattern, &ignored) : NULL;
    if (!regex)
        return;
    uint8_t *matches = mem_zalloc(names_count(trace->names) + 1, 1);
    size_t first = steps->count;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        bool is_range = trace->kind[e] == EVENT_ANNOTATION || trace->kind[e] == EVENT_OP ||
                        trace->kind[e] == EVENT_PYTHON || trace->kind[e] == EVENT_OTHER;
        if (!is_range || trace->flags[e] & EVENT_POINT)
            continue;
        name_id id = trace->name[e];
        if (matches[id] == NOT_CHECKED) {
            bool matched = false;
            regex_match(regex, names_text(trace->names, id), names_length(trace->names, id), &matched,
                        &ignored);
            matches[id] = matched ? MATCHES : DIFFERS;
        }
        if (matches[id] == MATCHES)
            *VEC_PUSH(steps) =
                (struct step){ f, 0, trace_start_ns(trace, e), trace_end_ns(trace, e), e, false };
    }
    free(matches);
    regex_free(regex);
    if (steps->count > first)
        SORT_ARRAY(steps->at + first, steps->count - first, by_file_start_event);
    number_steps(trace, steps, first);
}

/* ---- inferred steps ---- */

/* Those of all files without marked steps, with their names. */
struct inferred_steps {
    VEC_OF(struct step);
    struct arena names;
};

/* New, by file: does an event on the host mark a step, or a property define ranges that are? */
static bool *find_marked_files(const struct trace *trace)
{
    bool *marked = mem_zalloc(trace->file_count + 1, sizeof *marked);
    SCOPED bool *is_step = mem_zalloc(names_count(trace->names) + 1, sizeof *is_step);
    int64_t number;
    for (name_id id = 0; id < names_count(trace->names); id++)
        is_step[id] = step_number(names_text(trace->names, id), &number);
    for (event_id e = 0; e < trace->event_count; e++)
        if (is_step[trace->name[e]] && !event_on_device(trace->kind[e]))
            marked[trace->tracks[trace->track[e]].file] = true;
    for (uint32_t f = 0; f < trace->file_count; f++)
        marked[f] |= trace_file_property(&trace->files[f], TRACE_STEP_RANGE) != NULL;
    return marked;
}

static void *derive_inferred(const struct trace *trace)
{
    struct inferred_steps *inferred = arena_open(sizeof *inferred);
    ARENA_OWNS(arena_of(inferred), &inferred->at);
    SCOPED struct step_list steps = { 0 };
    SCOPED bool *marked = find_marked_files(trace);
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (!marked[f] && trace->files[f].producer == PRODUCER_KINETO)
            step_infer(trace, f, &steps);
    for (size_t i = 0; i < steps.count; i++) {
        steps.at[i].name =
            arena_printf(arena_of(inferred), "inferred [step %" PRId64 "]", steps.at[i].number);
        *VEC_PUSH(inferred) = steps.at[i];
    }
    return inferred;
}

/* NULL if all files are MARKED, or the user wants none. */
static const struct inferred_steps *inferred_steps_of(const struct trace *trace, const bool *marked)
{
    static const struct derivation derivation = { derive_inferred };
    bool all = ALL(f, trace->file_count, marked[f]);
    return all || trace->no_inferred_steps ? NULL : trace_derive(trace, &derivation);
}

/* ---- all steps ---- */

static const struct key by_number_in_file[] = { ASC(struct step, file), ASC(struct step, number),
                                                ASC(struct step, start_ns), ASC(struct step, event),
                                                KEY_END };

/* Of the steps from FIRST on, those of one file and number are one. */
static void join_equal_numbers(struct step_list *steps, size_t first)
{
    if (first == steps->count)
        return;
    struct step_list own = { .at = steps->at + first, .count = steps->count - first };
    size_t kept = first;
    SORT(&own, by_number_in_file);
    for (size_t i = first; i < steps->count; i++) {
        struct step *last = kept > first ? &steps->at[kept - 1] : NULL, *step = &steps->at[i];
        if (!last || last->file != step->file || last->number != step->number)
            steps->at[kept++] = *step;
        else if (step->end_ns > last->end_ns)
            last->end_ns = step->end_ns;
    }
    steps->count = kept;
}

/* Of files whose host marks no step, the steps are the shadows that annotations cast on devices
 * (gpu_user_annotation), from the first begin to the last end of those of one number: each stream has its
 * own. NUMBERS are by name, SKIP by file. */
static void add_shadows(const struct trace *trace, const int64_t *numbers, const bool *skip,
                        struct step_list *steps)
{
    size_t first = steps->count;
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t f = trace->tracks[trace->track[e]].file;
        if (trace->kind[e] == EVENT_GPU_ANNOTATION && numbers[trace->name[e]] != INT64_MIN && !skip[f] &&
            trace->files[f].producer != PRODUCER_JAX && trace->files[f].producer != PRODUCER_TENSORFLOW)
            *VEC_PUSH(steps) = (struct step){
                f, numbers[trace->name[e]], trace_start_ns(trace, e), trace_end_ns(trace, e), e, true
            };
    }
    join_equal_numbers(steps, first);
}

struct step_list *step_list_new(void)
{
    struct step_list *steps = arena_open(sizeof *steps);
    ARENA_OWNS(arena_of(steps), &steps->at);
    return steps;
}

struct step_list *step_list_open(const struct trace *trace)
{
    struct step_list *steps = step_list_new();
    size_t name_count = names_count(trace->names);
    int64_t *numbers = mem_alloc(mem_times(name_count + 1, sizeof *numbers));
    bool *defined = mem_zalloc(trace->file_count + 1,
                               sizeof *defined); /* by file: a property defines the ranges that are steps */
    for (name_id id = 0; id < name_count; id++)
        if (!step_number(names_text(trace->names, id), &numbers[id]))
            numbers[id] = INT64_MIN;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const char *pattern = trace_file_property(&trace->files[f], TRACE_STEP_RANGE);
        defined[f] = pattern != NULL;
        if (pattern)
            add_ranges(trace, f, pattern, steps);
    }
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t f = trace->tracks[trace->track[e]].file;
        if (numbers[trace->name[e]] == INT64_MIN || event_on_device(trace->kind[e]) || defined[f])
            continue;
        bool of_devices = step_name_is_of_devices(trace_name(trace, e));
        *VEC_PUSH(steps) = (struct step){
            f, numbers[trace->name[e]], trace_start_ns(trace, e), trace_end_ns(trace, e), e, of_devices
        };
    }
    for (size_t i = 0; i < steps->count; i++)
        defined[steps->at[i].file] = true;
    add_shadows(trace, numbers, defined, steps);
    for (size_t i = 0; i < steps->count; i++)
        defined[steps->at[i].file] = true;
    const struct inferred_steps *inferred = inferred_steps_of(trace, defined);
    for (size_t i = 0; inferred && i < inferred->count; i++)
        if (!defined[inferred->at[i].file])
            *VEC_PUSH(steps) = inferred->at[i];
    EACH(free, defined, numbers);
    SORT(steps, by_file_start_event);
    return steps;
}

static const struct key by_longest_first[] = { ASC(struct step, file), ASC(struct step, start_ns),
                                               DESC(struct step, end_ns), ASC(struct step, event), KEY_END };

static bool holds(const struct step *step, uint32_t file, int64_t ns)
{
    return step->file == file && step->start_ns <= ns && ns < step->end_ns;
}

const struct step *step_list_of_work(const struct step_list *steps, const struct trace *trace, event_id work,
                                     event_id call, const struct step *last)
{
    uint32_t file = trace->tracks[trace->track[work]].file;
    int64_t issued_ns;
    bool issued = attribution_issued(trace, work, call, &issued_ns);
    if (last && holds(last, file, last->of_devices ? trace_start_ns(trace, work) : issued_ns))
        return last->of_devices || issued ? last : NULL;
    const struct step *step = issued ? step_list_at(steps, file, issued_ns) : NULL;
    if (step && !step->of_devices)
        return step;
    step = step_list_at(steps, file, trace_start_ns(trace, work));
    return step && step->of_devices ? step : NULL;
}

/* Does NEXT begin before STEP ends only because both times were rounded when they were written? */
static bool overlaps_by_rounding(const struct step *step, const struct step *next)
{
    enum {
        ROUNDING_NS = 1000,
        LEAST_TIMES = 100
    }; /* profilers write microseconds, with or without decimals */
    int64_t overlap_ns = step->end_ns - next->start_ns;
    return overlap_ns <= ROUNDING_NS && overlap_ns <= (step->end_ns - step->start_ns) / LEAST_TIMES &&
           overlap_ns <= (next->end_ns - next->start_ns) / LEAST_TIMES;
}

size_t step_list_drop_overlaps(struct step_list *steps)
{
    if (steps->count)
        SORT(steps, by_longest_first);
    size_t kept = 0;
    for (size_t i = 0; i < steps->count; i++) {
        struct step *last = kept > 0 ? &steps->at[kept - 1] : NULL;
        if (last && last->file == steps->at[i].file && last->end_ns > steps->at[i].start_ns) {
            if (!overlaps_by_rounding(last, &steps->at[i]))
                continue;
            last->end_ns = steps->at[i].start_ns;
        }
        steps->at[kept++] = steps->at[i];
    }
    size_t dropped = steps->count - kept;
    steps->count = kept;
    return dropped;
}

static void *step_list_derive(const struct trace *trace)
{
    return step_list_open(trace);
}

static const struct derivation step_list_derivation = { step_list_derive };

const struct step_list *step_list_of(const struct trace *trace)
{
    return trace_derive(trace, &step_list_derivation);
}

/* ---- timelines ---- */

static bool track_is_of_timeline(const struct trace *trace, const struct track *track)
{
    return track->thread_name != NAME_NONE && track->process_name != NAME_NONE &&
           strncmp(names_text(trace->texts, track->thread_name), "PP rank ", 8) == 0 &&
           strncmp(names_text(trace->texts, track->process_name), "DP rank [", 9) == 0;
}

bool file_is_timeline(const struct trace *trace, uint32_t file)
{
    bool any = false;
    for (track_id t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].file != file || !trace->tracks[t].event_count)
            continue;
        if (!track_is_of_timeline(trace, &trace->tracks[t]))
            return false;
        any = true;
    }
    return any;
}

static void *derive_of_timelines(const struct trace *trace)
{
    struct step_list *steps = step_list_new();
    struct arg_scan numbers = arg_scan_of(trace, ARG_STEP);
    int64_t number;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        bool is_timeline = file_is_timeline(trace, f);
        for (event_id e = file->first_event; is_timeline && e < file->first_event + file->event_count; e++)
            if (arg_scan_get(&numbers, e, &number))
                *VEC_PUSH(steps) =
                    (struct step){ f, number, trace_start_ns(trace, e), trace_end_ns(trace, e), e };
    }
    join_equal_numbers(steps, 0);
    for (size_t i = 0; i < steps->count; i++)
        steps->at[i].name = arena_printf(arena_of(steps), "step %" PRId64, steps->at[i].number);
    SORT(steps, by_file_start_event);
    return steps;
}

const struct step_list *step_list_of_timelines(const struct trace *trace)
{
    static const struct derivation derivation = { derive_of_timelines };
    return trace_derive(trace, &derivation);
}

bool step_list_has_marks(const struct trace *trace)
{
    int64_t number;
    return ANY(id, names_count(trace->names), step_number(names_text(trace->names, id), &number));
}

const struct step_list *step_list_used(const struct trace *trace)
{
    return trace_derived(trace, &step_list_derivation);
}

static const struct key by_number[] = { ASC(struct step, number), ASC(struct step, file),
                                        ASC(struct step, start_ns), ASC(struct step, event), KEY_END };

static void *derive_by_number(const struct trace *trace)
{
    struct step_list *steps = step_list_open(trace);
    SORT(steps, by_number);
    return steps;
}

const char *step_name_of(const struct trace *trace, int64_t number)
{
    static const struct derivation derivation = { derive_by_number };
    const struct step_list *steps = trace_derive(trace, &derivation);
    size_t i = PLACE(k, steps->count, steps->at[k].number < number);
    return i < steps->count && steps->at[i].number == number ? step_text(trace, &steps->at[i]) : NULL;
}

/* Does STEP start at or before MOMENT_NS of FILE, or in a file before it? */
static bool is_not_after(const struct step *step, uint32_t file, int64_t moment_ns)
{
    return step->file < file || (step->file == file && step->start_ns <= moment_ns);
}

/* The last of the first COUNT steps, if MOMENT_NS of FILE is in it. */
static const struct step *last_with(const struct step_list *steps, size_t count, uint32_t file,
                                    int64_t moment_ns)
{
    const struct step *step = count ? &steps->at[count - 1] : NULL;
    return step && step->file == file && moment_ns < step->end_ns ? step : NULL;
}

const struct step *step_list_at(const struct step_list *steps, uint32_t file, int64_t moment_ns)
{
    size_t i; /* of steps that start at or before the moment */
    SEARCH(i, steps->count, is_not_after(&steps->at[i], file, moment_ns));
    return last_with(steps, i, file, moment_ns);
}

const struct step *step_list_near(const struct step_list *steps, uint32_t file, int64_t moment_ns,
                                  size_t *near)
{
    size_t i = PLACE_NEAR(k, *near, steps->count, is_not_after(&steps->at[k], file, moment_ns));
    *near = i;
    return last_with(steps, i, file, moment_ns);
}
