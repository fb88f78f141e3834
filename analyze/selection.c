/* selection.c - a query is converted to one array per kind of thing that can be selected; see selection.h. */
#include "analyze/selection.h"

#include "derive/file_set.h"

#include "base/demangle.h"
#include "base/regex.h"
#include "base/rows.h"
#include "base/table.h"
#include "trace/derived.h"
#include "trace/span.h"
#include "derive/attribution.h"
#include "derive/features.h"
#include "derive/step_list.h"
#include <inttypes.h>

/* --- names --------------------------------------------------------------------------------------------------- */

/* Does REGEX match NAME, mangled or demangled? */
static bool match_name(const struct regex *regex, const char *name, size_t len, bool *matched,
                       struct tpa_error *err)
{
    if (!regex_match(regex, name, len, matched, err))
        return false;
    if (*matched || strncmp(name, "_Z", 2) != 0)
        return true;
    SCOPED struct buffer readable = { 0 };
    bool good =
        !demangle_name(&readable, name) || regex_match(regex, readable.at, readable.count, matched, err);
    return good;
}

/* Clear KEEP for names whose match with REGEX differs from WANTED. */
static bool sieve(const struct names *names, const char *pattern, bool wanted, bool *keep,
                  struct tpa_error *err)
{
    if (pattern == NULL)
        return true;
    struct regex *regex = regex_open(pattern, err);
    bool good = regex != NULL;
    for (name_id id = 0; good && id < names_count(names); id++) {
        bool matched = false;
        good = match_name(regex, names_text(names, id), names_length(names, id), &matched, err);
        if (matched != wanted)
            keep[id] = false;
    }
    regex_free(regex);
    return good;
}

bool *selection_match_names(const struct names *names, const char *filter, const char *exclude,
                            struct tpa_error *err)
{
    bool *keep = mem_alloc(names_count(names) + 1);
    memset(keep, true, names_count(names) + 1);
    if (sieve(names, filter, true, keep, err) && sieve(names, exclude, false, keep, err))
        return keep;
    free(keep);
    return NULL;
}

/* --- ranks, devices, streams --------------------------------------------------------------------------------- */

int64_t selection_rank(const struct trace *trace, uint32_t file)
{
    return file_set_of(trace)->files[file].number;
}

int64_t selection_cycle(const struct trace *trace, uint32_t file)
{
    const struct file_set *set = file_set_of(trace);
    return file_set_has_cycles(set) ? (int64_t)set->files[file].cycle + 1 : TABLE_INT_MISSING;
}

/* The existing numbers, for messages: "0, 1 and 7". */
struct numbers {
    VEC_OF(int64_t);
};

/* WHAT: "device". Fails, and releases NUMBERS. */
static bool none_such(const char *what, const struct ranges *wanted, struct numbers *numbers,
                      struct tpa_error *err)
{
    enum { MOST = 20 };
    SCOPED struct buffer requested = { 0 }, known = { 0 };
    quantity_append_ranges(&requested, wanted);
    if (numbers->count > 0)
        SORT_NUMBERS(numbers->at, numbers->count);
    size_t shown = 0;
    for (size_t i = 0; i < numbers->count && shown <= MOST; i++) {
        if (i > 0 && numbers->at[i] == numbers->at[i - 1])
            continue;
        if (shown++ < MOST)
            buffer_printf(&known, "%s%" PRId64, known.count > 0 ? ", " : "", numbers->at[i]);
        else
            buffer_puts(&known, " ...");
    }
    tpa_fail(err, TPA_NOWHERE, "there is no %s %s", what, requested.at);
    if (known.count > 0)
        tpa_hint(err, "the trace has %s %s", what, known.at);
    else
        tpa_hint(err, "the trace has no %s at all", what);
    VEC_FREE(numbers);
    return tpa_cannot(err, "no_such_selection");
}

static bool select_files(struct selection *selection, const struct ranges *ranks, struct tpa_error *err)
{
    const struct trace *trace = selection->trace;
    struct numbers seen = { 0 };
    bool any = false;
    if (ranks->count == 0)
        return true;
    selection->files = mem_zalloc(trace->file_count + 1, sizeof *selection->files);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        *VEC_PUSH(&seen) = selection_rank(trace, f);
        selection->files[f] = ranges_hold(ranks, selection_rank(trace, f));
        any |= selection->files[f];
    }
    if (!any)
        return none_such("rank", ranks, &seen, err);
    VEC_FREE(&seen);
    return true;
}

/* Remove the tracks of devices whose number is not WANTED. */
static bool sieve_tracks(struct selection *selection, const char *what, const struct ranges *wanted,
                         struct tpa_error *err)
{
    const struct trace *trace = selection->trace;
    struct numbers seen = { 0 };
    bool any = false;
    if (wanted->count == 0)
        return true;
    if (selection->tracks == NULL) {
        selection->tracks = mem_alloc(trace->track_count + 1);
        memset(selection->tracks, true, trace->track_count + 1);
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if (track->kind != TRACK_STREAM)
            continue;
        int64_t number = what[0] == 'd' ? track->device : track->stream;
        *VEC_PUSH(&seen) = number;
        bool held = ranges_hold(wanted, number);
        any |= held;
        selection->tracks[t] &= held;
    }
    if (!any)
        return none_such(what, wanted, &seen, err);
    VEC_FREE(&seen);
    return true;
}

/* --- times --------------------------------------------------------------------------------------------------- */

/* Is E a named range on the host: an annotation, or (old PyTorch does not distinguish them) an operator? */
static bool selection_is_range(const struct trace *trace, event_id e)
{
    return (trace->kind[e] == EVENT_ANNOTATION || trace->kind[e] == EVENT_OP) &&
           !(trace->flags[e] & EVENT_POINT);
}

/* Intersect the windows with MORE, which is empty afterwards. */
static void narrow_windows(struct selection *selection, struct intervals *more)
{
    size_t files = selection->trace->file_count;
    if (selection->windows == NULL) {
        selection->windows = more;
        return;
    }
    for (size_t f = 0; f < files; f++) {
        struct intervals both = { 0 };
        intervals_intersect(&selection->windows[f], &more[f], &both);
        EACH(intervals_release, &selection->windows[f], &more[f]);
        selection->windows[f] = both;
    }
}

static struct intervals *open_windows(const struct selection *selection)
{
    return arena_vectors(arena_of(selection), selection->trace->file_count + 1, sizeof(struct intervals));
}

static void merge_windows(const struct trace *trace, struct intervals *windows)
{
    for (size_t f = 0; f < trace->file_count; f++)
        intervals_merge(&windows[f]);
}

static bool select_steps(struct selection *selection, const struct ranges *wanted, struct tpa_error *err)
{
    const struct trace *trace = selection->trace;
    if (wanted->count == 0)
        return true;
    struct step_list *steps = step_list_open(trace);
    struct intervals *windows = open_windows(selection);
    struct numbers seen = { 0 };
    bool any = false;
    FOR_EACH(step, steps) {
        *VEC_PUSH(&seen) = step->number;
        if (!ranges_hold(wanted, step->number))
            continue;
        any = true;
        intervals_add(&windows[step->file], step->start_ns, step->end_ns);
    }
    arena_free(steps);
    if (!any) {
        bool no_steps = seen.count == 0;
        none_such("step", wanted, &seen, err);
        return no_steps ? tpa_hint(err, "the trace has no steps; to record them, %s",
                                   trace_feature_recipe(trace, FEATURE_STEPS))
                        : false;
    }
    VEC_FREE(&seen);
    merge_windows(trace, windows);
    narrow_windows(selection, windows);
    return true;
}

/* Add the ranges called NAME; false if there are none. */
static bool add_ranges(const struct trace *trace, const char *name, struct intervals *windows)
{
    bool any = false;
    name_id id = names_find(trace->names, name, strlen(name));
    for (event_id e = 0; id != NAME_NONE && e < trace->event_count; e++) {
        if (trace->name[e] != id || !selection_is_range(trace, e))
            continue;
        any = true;
        intervals_add(&windows[trace->tracks[trace->track[e]].file], trace_start_ns(trace, e),
                      trace_end_ns(trace, e));
    }
    merge_windows(trace, windows);
    return any;
}

static bool unknown_range(const struct trace *trace, const char *name, struct tpa_error *err)
{
    struct suggest near = suggest_for(name, strlen(name));
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_ANNOTATION)
            suggest_consider(&near, names_text(trace->names, trace->name[e]));
    if (near.best)
        tpa_fail(err, TPA_NOWHERE, "'%s' is neither a time range nor an annotation; did you mean %s?", name,
                 near.best);
    else
        tpa_fail(err, TPA_NOWHERE, "'%s' is not a time range, and no annotation has this name", name);
    return tpa_hint(err, "write 1.5s..2s, 10ms.. or ..3s, counted from the beginning of the trace");
}

/* "A..B" with times on both sides, either of which may be left out. */
static bool parse_time_range(const char *text, struct interval *range)
{
    const char *dots = strstr(text, "..");
    if (dots == NULL || strlen(text) == 2)
        return false;
    size_t before = (size_t)(dots - text), after = strlen(dots + 2);
    *range = (struct interval){ 0, INT64_MAX };
    return (before == 0 || quantity_parse_time(text, before, &range->start_ns)) &&
           (after == 0 || quantity_parse_time(dots + 2, after, &range->end_ns));
}

static int64_t add_up_to(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static bool select_range(struct selection *selection, const char *text, struct tpa_error *err)
{
    const struct trace *trace = selection->trace;
    struct interval range;
    if (text == NULL)
        return true;
    struct intervals *windows = open_windows(selection);
    if (parse_time_range(text, &range)) {
        if (range.start_ns >= range.end_ns)
            return tpa_fail(err, TPA_NOWHERE, "the time range '%s' is empty", text);
        for (uint32_t f = 0; f < trace->file_count; f++) {
            int64_t origin_ns = trace_file_span(trace, f).start_ns;
            intervals_add(&windows[f], add_up_to(origin_ns, range.start_ns),
                          add_up_to(origin_ns, range.end_ns));
            intervals_merge(&windows[f]);
        }
    } else if (!add_ranges(trace, text, windows)) {
        return unknown_range(trace, text, err);
    }
    narrow_windows(selection, windows);
    return true;
}

struct selection *selection_open(const struct trace *trace, const struct selection_query *query,
                                 struct tpa_error *err)
{
    struct selection *selection = arena_open(sizeof *selection);
    ARENA_OWNS(arena_of(selection), &selection->names, &selection->tracks, &selection->files);
    selection->trace = trace;
    selection->by_steps = query->steps.count > 0;
    selection->filter = query->filter;
    selection->exclude = query->exclude;
    bool good = select_files(selection, &query->ranks, err) &&
                sieve_tracks(selection, "device", &query->devices, err) &&
                sieve_tracks(selection, "stream", &query->streams, err) &&
                select_steps(selection, &query->steps, err) && select_range(selection, query->range, err);
    if (good && (query->filter || query->exclude)) {
        selection->names = selection_match_names(trace->names, query->filter, query->exclude, err);
        good = selection->names != NULL;
    }
    if (good)
        return selection;
    arena_free(selection);
    return NULL;
}

static struct selection *open_all(const struct trace *trace)
{
    return selection_open(trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
}

DERIVED(selection, selection_all, open_all);

/* Are there events that it does not hold because of where or when they are? */
static bool chooses_places(const struct selection *selection)
{
    return selection->tracks || selection->files || selection->windows;
}

bool selection_is_all(const struct selection *selection)
{
    return !selection->names && !chooses_places(selection);
}

bool selection_holds_time(const struct selection *selection, uint32_t file, int64_t ns)
{
    return selection->windows == NULL || intervals_contain(&selection->windows[file], ns);
}

/* Is E in the selected files, tracks and, by MOMENT of its file, windows? */
static bool holds_place(const struct selection *selection, event_id e, int64_t moment_ns)
{
    const struct trace *trace = selection->trace;
    uint32_t file = trace->tracks[trace->track[e]].file;
    return selection_holds_track(selection, trace->track[e]) &&
           (!selection->files || selection->files[file]) && selection_holds_time(selection, file, moment_ns);
}

bool selection_holds_place(const struct selection *selection, event_id e)
{
    const struct trace *trace = selection->trace;
    if (!chooses_places(selection))
        return true;
    event_id call = selection->windows && event_is_launched(trace->kind[e])
                        ? attribution_call(attribution_of(trace), e)
                        : EVENT_NONE;
    int64_t issued_ns;
    attribution_issued(trace, e, call, &issued_ns);
    return holds_place(selection, e, issued_ns);
}

bool selection_holds_work(const struct selection *selection, event_id work, event_id call)
{
    return selection_holds_name(selection, selection->trace->name[work]) &&
           selection_holds_launched(selection, work, call);
}

bool selection_holds_launched(const struct selection *selection, event_id work, event_id call)
{
    int64_t issued_ns;
    if (!chooses_places(selection))
        return true;
    attribution_issued(selection->trace, work, call, &issued_ns);
    return holds_place(selection, work, issued_ns);
}
