/* account.c - see account.h: which steps count, and how long they take. account_parts.c finds their parts. */
#include "analyze/account.h"

#include "base/search.h"
#include "base/sum.h"
#include "derive/collective_matches.h"
#include "derive/compilation.h"
#include "derive/device_steps.h"
#include "derive/host_waits.h"
#include "derive/step_pattern.h"
#include "trace/derived.h"
#include "trace/span.h"
#include <assert.h>
#include <inttypes.h>
#include "trace/lost_work.h"
#include <math.h>

/* Devices fall behind where their steps take longer than those of the host by more than this. */
static const double falls_behind = 1.02;

/* A step is singular from so many times the time of all others on. */
static const double singular_from = 1.5;

/* The last range stands for its step where others miss at most this share of theirs. */
static const double gap_of_ranges = 0.005;

/* ---- the steps of a file ---- */

/* Is the step at INDEX + 1 of STEPS the one that ran next? Not if their numbers say that others ran between them, and the gap between their
 * ranges has room for half of such a step at least. */
static bool next_was_recorded(const struct device_step *steps, size_t count, size_t index)
{
    if (index + 1 >= count)
        return false;
    const struct device_step *step = &steps[index], *next = step + 1;
    int64_t jump, range_ns = step->host_end_ns - step->host_start_ns;
    return __builtin_sub_overflow(next->number, step->number, &jump) || jump <= 1 ||
           next->host_start_ns - step->host_end_ns <= range_ns / 2;
}

/* Do the ranges of the COUNT steps at FIRST reach to the next of each? */
static bool ranges_follow(const struct device_step *first, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        if (!next_was_recorded(first, count, i))
            continue;
        int64_t gap_ns = first[i + 1].host_start_ns - first[i].host_end_ns;
        if ((double)gap_ns > gap_of_ranges * (double)(first[i + 1].host_start_ns - first[i].host_start_ns))
            return false;
    }
    return count > 1;
}

/* The one step that was recorded may begin with a wait for work that was launched before the recording, for the step before or by the
 * warm-up: that is of this recording, not of a step. */
static void leave_wait_for_work_before(const struct trace *trace, const struct device_step *step,
                                       struct account_step *one)
{
    const struct intervals *waiting = &host_state_of(trace)->threads[trace->track[step->event]].waiting;
    int64_t waited_ns = intervals_length_within(waiting, step->host_start_ns, step->start_ns);
    if (waited_ns <= 0 || waited_ns >= one->host_ns)
        return;
    one->waited_before_ns = waited_ns;
}

static struct account_step account_step_of(const struct trace *trace, const struct device_step *first,
                                           size_t i, size_t count, bool follow)
{
    const struct device_step *step = &first[i];
    bool of_devices = step_name_is_of_devices(trace_name(trace, step->event));
    bool has_next = next_was_recorded(first, count, i);
    bool has_last = i > 0 && next_was_recorded(first, count, i - 1);
    bool ends = has_next || (step->complete && (follow || count == 1));
    int64_t end_ns = has_next ? first[i + 1].host_start_ns : step->host_end_ns;
    struct account_step one = {
        .file = step->file,
        .rank = selection_rank(trace, step->file),
        .number = step->number,
        .event = step->event,
        .start_ns = step->host_start_ns,
        .host_ns = ends && !of_devices ? end_ns - step->host_start_ns : 0,
        .work_start_ns = step->work_start_ns,
        .work_end_ns = step->work_end_ns,
        .work = step->work,
        .role = STEP_CUT,
    };
    if (of_devices)
        one.device_ns = ends ? end_ns - step->host_start_ns : 0;
    else if (step->work && has_last && first[i - 1].work && step->complete)
        one.device_ns = step->work_end_ns - first[i - 1].work_end_ns;
    else if (step->work && count == 1)
        one.device_ns = step->work_end_ns - step->start_ns;
    if (one.device_ns < 0)
        one.device_ns = 0;
    if (count == 1 && one.host_ns > 0)
        leave_wait_for_work_before(trace, step, &one);
    return one;
}

/* The range of the last step stands for it only where another took about as long: at the end hosts wait for all that they launched. The
 * second of two that launched nothing and took less waited for nothing: the first may be the one that is unlike the others. */
static void check_last(struct account_step *steps, size_t count)
{
    struct account_step *last = &steps[count - 1];
    if (count == 2 && steps[0].work == 0 && last->work == 0 && last->host_ns < steps[0].host_ns)
        return;
    for (size_t i = 0; i + 1 < count; i++)
        if (!step_pattern_is_unusual(last->host_ns, steps[i].host_ns))
            return;
    if (count > 1)
        last->host_ns = 0;
}

/* ---- which of them count ---- */

/* The steps of a file, and what is found of them. */
struct choosing {
    const struct trace *trace;
    struct account *account;
    struct account_rank *rank;
    struct account_step *steps; /* COUNT of them */
    size_t count;
    size_t *places; /* by step: how many steps ran since the first, also those that were not recorded */
};

/* New, free with free(): the places of COUNT steps. Numbers tell how many are missing between two, if there was room for half a step. */
static size_t *find_places(const struct account_step *steps, size_t count)
{
    enum { MOST_MISSING = 1000 };
    size_t *places = mem_zalloc(count + 1, sizeof *places);
    for (size_t i = 1; i < count; i++) {
        int64_t jump, before_ns = steps[i - 1].host_ns;
        bool jumps = !__builtin_sub_overflow(steps[i].number, steps[i - 1].number, &jump) && jump > 1 &&
                     jump <= MOST_MISSING && before_ns > 0 &&
                     steps[i].start_ns - steps[i - 1].start_ns - before_ns > before_ns / 2;
        places[i] = places[i - 1] + (jumps ? (size_t)jump : 1);
    }
    return places;
}

/* New, free with free(): VALUES of the COUNT steps at OF by their places, *SPREAD of them, where few are missing between them; else as they
 * are. */
static int64_t *spread_out(const struct choosing *choosing, const int64_t *values, const size_t *of,
                           size_t count, size_t *spread)
{
    enum { MOST_LOST = 4 }; /* of so many one */
    size_t first = count ? choosing->places[of[0]] : 0,
           places = count ? choosing->places[of[count - 1]] - first + 1 : 0;
    bool few = places - count <= count / MOST_LOST;
    *spread = few ? places : count;
    int64_t *out = mem_alloc(mem_times(*spread + 1, sizeof *out));
    for (size_t i = 0; i < *spread; i++)
        out[i] = STEP_PATTERN_LOST;
    for (size_t i = 0; i < count; i++)
        out[few ? choosing->places[of[i]] - first : i] = values[i];
    return out;
}

static int64_t time_of(const struct account_step *step, enum account_limit limit)
{
    return limit == LIMIT_HOST ? step->host_ns - step->waited_before_ns : step->device_ns;
}

/* New, free with free(): the known times of steps by LIMIT, *COUNT of them; OF: the steps that they are of, free it too. */
static int64_t *known_times(const struct choosing *choosing, enum account_limit limit, size_t **of,
                            size_t *count)
{
    int64_t *ns = mem_alloc(mem_times(choosing->count + 1, sizeof *ns));
    *of = mem_alloc(mem_times(choosing->count + 1, sizeof **of));
    *count = 0;
    for (size_t i = 0; i < choosing->count; i++) {
        const struct account_step *step = &choosing->steps[i];
        if (time_of(step, limit) <= 0 || step->role == STEP_SINGULAR || step->role == STEP_FIRST)
            continue;
        (*of)[*count] = i;
        ns[(*count)++] = time_of(step, limit);
    }
    return ns;
}

static struct account_stretch stretch_of(const struct account_step *step, bool unusual)
{
    int64_t length_ns = step->host_ns > 0 ? step->host_ns : step->device_ns;
    return (struct account_stretch){ step->event, step->start_ns, step->start_ns + length_ns, step->work,
                                     unusual };
}

/* Did STEP, for most of its time, wait for a rank whose recording had not begun? */
static bool is_mostly_unrecorded(const struct trace *trace, const struct account_step *step)
{
    int64_t end_ns = sum_plus(step->start_ns, step->host_ns);
    return unrecorded_waits_between(unrecorded_waits_of(trace), step->file, step->start_ns, end_ns) >
           step->host_ns / 2;
}

/* Does STEP compile for most of its time? */
static bool mostly_compiles(const struct trace *trace, const struct account_step *step)
{
    struct intervals compiling = compilation_find(trace, step->file);
    int64_t end_ns = sum_plus(step->start_ns, step->host_ns),
            compiling_ns = intervals_length_within(&compiling, step->start_ns, end_ns);
    intervals_release(&compiling);
    return compiling_ns > step->host_ns / 2;
}

/* Mark the step that took far longer than all others, where nothing that it did explains that, or as the first it compiled. */
static void find_singular(struct choosing *choosing, enum account_limit limit)
{
    enum { LEAST_OTHERS = 3 };
    size_t *of, count, most = 0;
    int64_t *ns = known_times(choosing, limit, &of, &count), second_ns = 0;
    for (size_t i = 1; i < count; i++)
        most = ns[i] > ns[most] ? i : most;
    for (size_t i = 0; i < count; i++)
        if (i != most && ns[i] > second_ns)
            second_ns = ns[i];
    bool unrecorded = count > 1 && is_mostly_unrecorded(choosing->trace, &choosing->steps[of[most]]);
    if ((count > LEAST_OTHERS || unrecorded) && (double)ns[most] > singular_from * (double)second_ns) {
        struct account_step *step = &choosing->steps[of[most]];
        const struct account_step *other = &choosing->steps[of[most == 0 ? count / 2 : most - 1]];
        struct account_stretch two[] = { stretch_of(step, true), stretch_of(other, false) };
        bool compiles = of[most] == 0 && mostly_compiles(choosing->trace, step);
        if (compiles || account_reason(arena_of(choosing->account), choosing->trace, two, 2).len == 0) {
            step->role = of[most] == 0 ? STEP_FIRST : STEP_SINGULAR;
            choosing->rank->singular = step->number;
            choosing->rank->singular_ns = time_of(step, limit);
            choosing->rank->singular_unrecorded = unrecorded;
            choosing->rank->singular_compiles = compiles;
        }
    }
    EACH(free, ns, of);
}

/* The place of the longest of the times NS from FIRST to END, if it is far longer than all others, of which there are two or more; else END. */
static size_t find_lone(const int64_t *ns, size_t first, size_t end)
{
    size_t most = first;
    int64_t second_ns = 0;
    for (size_t i = first; i < end; i++)
        most = ns[i] > ns[most] ? i : most;
    for (size_t i = first; i < end; i++)
        second_ns = i == most ? second_ns : greater_of(second_ns, ns[i]);
    return end - first > 2 && (double)ns[most] > singular_from * (double)second_ns ? most : end;
}

/* Is a step unusual exactly where the one PERIOD before it is? */
static bool repeats(const struct account_stretch *steps, size_t count, size_t period)
{
    return !ANY(i, count, i >= period && steps[i].unusual != steps[i - period].unusual);
}

/* Each so manieth of COUNT steps is unusual, FOUND in all, where they repeat after PERIOD; 0: unusual ones do not lie apart evenly. */
static size_t period_of_unusual(const struct account_stretch *steps, size_t count, size_t found,
                                size_t period)
{
    size_t every = count / found;
    return every > 1 && period % every == 0 && count % every == 0 && found == count / every &&
                   repeats(steps, count, every)
               ? every
               : 0;
}

/* What is said of steps whose times are NS, COUNT of them: those of OF, of which those from FIRST on count, in periods of PERIOD. */
static void describe_unusual(struct choosing *choosing, const int64_t *ns, const size_t *of, size_t first,
                             size_t count, size_t period)
{
    struct account_rank *rank = choosing->rank;
    int64_t median_ns = step_pattern_median(ns, count);
    double sum_ns[2] = { 0 };
    size_t found = 0, place = 0, used = count - first,
           lone = period == 1 ? find_lone(ns, first, count) : count;
    SCOPED struct account_stretch *steps = mem_alloc(mem_times(count + 1, sizeof *steps));
    SCOPED int64_t *waits = mem_alloc(mem_times(count + 1, sizeof *waits));
    bool by_time = false;
    for (size_t i = first; i < count; i++) {
        bool unusual = lone < count ? i == lone : step_pattern_is_unusual(ns[i], median_ns);
        by_time |= unusual;
        steps[i - first] = stretch_of(&choosing->steps[of[i]], unusual);
        waits[i - first] = (int64_t)choosing->steps[of[i]].waits;
    }
    int64_t usual_waits = step_pattern_median(waits, used);
    /* that one step takes longer for another reason hides no plan by which others wait */
    bool by_waits = !by_time || (period > 1 && !repeats(steps, used, period));
    for (size_t i = 0; i < used && by_waits; i++)
        steps[i].unusual = waits[i] != usual_waits;
    for (size_t i = first; i < count; i++) {
        sum_ns[steps[i - first].unusual] += (double)ns[i];
        found += steps[i - first].unusual;
        place = steps[i - first].unusual ? i : place;
    }
    if (found && found < used) {
        rank->unusual_ns = llround(sum_ns[true] / (double)found);
        rank->usual_ns = llround(sum_ns[false] / (double)(used - found));
        rank->every = period_of_unusual(steps, used, found, period);
        rank->reason = account_reason(arena_of(choosing->account), choosing->trace, steps, used);
    }
    if (found == 1 && period == 1 && by_time && used > 1 && rank->unusual_ns > rank->usual_ns) {
        rank->once_is_first = of[place] == 0;
        rank->once = choosing->steps[of[place]].number;
        rank->once_without_ns = rank->usual_ns;
    }
}

/* Times by a limit: how many are known, from which of them on they count, and their mean. */
struct counted {
    int64_t *ns;
    size_t *of, first, count, period;
    double mean_ns;
};

/* From which of COUNT device steps on devices never waited for a launch before the first work of a step; 0 if that leaves too few. */
static size_t first_unstarved(const struct choosing *choosing, const int64_t *ns, const size_t *of,
                              size_t count, size_t period)
{
    enum { LEAST_STEPS = 3 };
    const double starved = 0.02;
    int64_t median_ns = step_pattern_median(ns, count);
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        const struct account_step *step = &choosing->steps[of[i]];
        if (of[i] > 0 && (double)(step->work_start_ns - step[-1].work_end_ns) > starved * (double)median_ns)
            first = i + 1;
    }
    return count - first >= LEAST_STEPS && count - first >= period ? first : 0;
}

/* Where steps are missing among those of COUNTED from START on, those of whole periods count, and come last. Not if there are none. */
static void leave_part_periods(const struct choosing *choosing, struct counted *counted, size_t start)
{
    size_t count = counted->count, period = counted->period, spread, left = 0, kept = 0;
    if (period == 1 || count - start < period)
        return;
    SCOPED int64_t *places =
                       spread_out(choosing, counted->ns + start, counted->of + start, count - start, &spread),
                   *ns = mem_alloc(mem_times(count + 1, sizeof *ns));
    SCOPED size_t *of = mem_alloc(mem_times(count + 1, sizeof *of)),
                  *in_period = mem_zalloc(spread / period + 2, sizeof *in_period);
    for (size_t i = 0; i < spread; i++)
        in_period[(spread - 1 - i) / period] += places[i] != STEP_PATTERN_LOST;
    for (size_t i = 0; i < spread / period; i++)
        kept += in_period[i] == period ? period : 0;
    if (kept && spread > count - start) {
        size_t whole = count - kept;
        for (size_t i = 0; i < count; i++) {
            size_t place =
                i < start ? 0 : choosing->places[counted->of[i]] - choosing->places[counted->of[start]];
            bool counts = i >= start && in_period[(spread - 1 - place) / period] == period;
            size_t to = counts ? whole++ : left++;
            ns[to] = counted->ns[i];
            of[to] = counted->of[i];
        }
        memcpy(counted->ns, ns, count * sizeof *ns);
        memcpy(counted->of, of, count * sizeof *of);
        counted->first = left;
    }
}

static struct counted *counted_of(const struct choosing *choosing, enum account_limit limit, size_t period)
{
    assert(period > 0);
    struct counted *counted = arena_open(sizeof *counted);
    ARENA_OWNS(arena_of(counted), &counted->ns, &counted->of);
    counted->period = period;
    counted->ns = known_times(choosing, limit, &counted->of, &counted->count);
    size_t start = limit == LIMIT_DEVICES
                       ? first_unstarved(choosing, counted->ns, counted->of, counted->count, period)
                       : 0;
    counted->first = counted->count < period ? start : start + (counted->count - start) % period;
    leave_part_periods(choosing, counted, start);
    double sum_ns = 0;
    for (size_t i = counted->first; i < counted->count; i++)
        sum_ns += (double)counted->ns[i];
    size_t used = counted->count - counted->first;
    counted->mean_ns = used ? sum_ns / (double)used : 0;
    return counted;
}

static size_t period_of(const struct choosing *choosing, enum account_limit limit)
{
    size_t *of, count, spread;
    SCOPED int64_t *ns = known_times(choosing, limit, &of, &count),
                   *places = spread_out(choosing, ns, of, count, &spread);
    size_t period = step_pattern_period(places, spread);
    free(of);
    return period;
}

/* After how many steps repeats what repeats after A and after B steps: their least common multiple, if COUNT steps hold it; else A. */
static size_t period_of_both(size_t a, size_t b, size_t count)
{
    size_t both = a;
    while (both % b > 0 && both <= count)
        both += a;
    return both <= count ? both : a;
}

/* Is all work of the steps in the file, so that how much each launched and waited for is known? */
static bool has_all_work(const struct choosing *choosing)
{
    const struct trace_lost *lost = &choosing->trace->files[choosing->steps->file].lost;
    return lost->untimed + lost->lost_launches + lost->lost_graphs + lost->partial_graphs +
               lost->lost_copies ==
           0;
}

/* Is the call of nearly all work in the file, so that the last work of each step is known? */
static bool has_most_calls(const struct choosing *choosing)
{
    const struct trace_lost *lost = &choosing->trace->files[choosing->steps->file].lost;
    return (double)lost->callless < TRACE_LOST_SHARE * (double)lost->work || lost->callless == 0;
}

/* After how many steps all of these repeat, or as many as the recording holds, in this order: the times of the host and of devices, launched
 * work, and calls that wait. Where work is missing, chance decides how much each step seems to have launched and waited for. */
static size_t period_of_all(const struct choosing *choosing)
{
    size_t host = period_of(choosing, LIMIT_HOST), devices = period_of(choosing, LIMIT_DEVICES),
           known = choosing->count - 1,
           period = period_of_both(host > devices ? host : devices, host > devices ? devices : host, known);
    if (!has_all_work(choosing))
        return period;
    SCOPED int64_t *waits = mem_alloc(mem_times(choosing->count + 1, sizeof *waits)),
                   *work = mem_alloc(mem_times(choosing->count + 1, sizeof *work));
    size_t *of = mem_alloc(mem_times(choosing->count + 1, sizeof *of)), count = 0, spread;
    for (size_t i = 0; i < choosing->count; i++)
        if (choosing->steps[i].host_ns > 0 || choosing->steps[i].device_ns > 0) {
            of[count] = i;
            waits[count] = (int64_t)choosing->steps[i].waits;
            work[count++] = (int64_t)choosing->steps[i].work;
        }
    for (int k = 0; k < 2; k++) {
        SCOPED int64_t *places = spread_out(choosing, k ? waits : work, of, count, &spread);
        period = period_of_both(period, step_pattern_period_of_counts(places, spread), known);
    }
    free(of);
    return period;
}

/* A step was singular on the host, but no step is singular on devices, which are how fast the job is: the host waited for a place in their
 * queue, or they had enough to do meanwhile. Then it counts. Returns whether there was one. */
static bool keep_singular(struct choosing *choosing)
{
    struct account_step *singular = NULL;
    int64_t longest_ns = 0, second_ns = 0;
    for (size_t i = 0; i < choosing->count; i++) {
        int64_t device_ns = choosing->steps[i].device_ns;
        if (choosing->steps[i].role == STEP_SINGULAR)
            singular = &choosing->steps[i];
        second_ns = greater_of(second_ns, device_ns < longest_ns ? device_ns : longest_ns);
        longest_ns = greater_of(longest_ns, device_ns);
    }
    if (!singular || choosing->rank->singular_unrecorded || singular->device_ns <= 0 ||
        (double)longest_ns > singular_from * (double)second_ns)
        return false;
    singular->role = STEP_CUT; /* until it is known whether it counts, as those of the others */
    choosing->rank->singular = INT64_MIN;
    choosing->rank->singular_ns = 0;
    return true;
}

/* The step whose device step holds the pause that made the step of the host before it singular: the pause came after the last launch
 * there, so devices waited in between for the first launch of the next one. NULL: there is none. */
static struct account_step *step_behind_pause(const struct choosing *choosing)
{
    size_t late = 0;
    int64_t second_ns = 0;
    for (size_t i = 1; i < choosing->count; i++)
        if (choosing->steps[i - 1].role == STEP_SINGULAR)
            late = i;
    for (size_t i = 0; i < choosing->count; i++)
        if (i != late)
            second_ns = greater_of(second_ns, choosing->steps[i].device_ns);
    struct account_step *step = &choosing->steps[late];
    return late && (double)step->device_ns > singular_from * (double)second_ns &&
                   step->work_start_ns - step[-1].work_end_ns > (step->device_ns - second_ns) / 2
               ? step
               : NULL;
}

/* Where devices are how fast the job is, LATE is the singular step, not the one of the host before it. */
static bool move_singular(struct choosing *choosing, struct account_step *late)
{
    late[-1].role = STEP_CUT; /* until it is known whether it counts, as those of the others */
    choosing->rank->singular = late->number;
    choosing->rank->singular_ns = late->device_ns;
    return true;
}

/* The first number between those of the steps that was not recorded, and how many were not. */
static void name_missing(struct choosing *choosing)
{
    struct account_rank *rank = choosing->rank;
    for (size_t i = 1; i < choosing->count; i++) {
        size_t missing = choosing->places[i] - choosing->places[i - 1] - 1;
        if (missing && rank->missing == 0)
            rank->missing_first = choosing->steps[i - 1].number + 1;
        rank->missing += missing;
    }
}

/* Choose the steps of a file that count. */
static void account_choose(struct choosing *choosing)
{
    struct account_rank *rank = choosing->rank;
    find_singular(choosing, LIMIT_HOST);
    size_t period = period_of_all(choosing);
    struct account_step *late = step_behind_pause(choosing);
    SCOPED_OBJECT struct counted *host = counted_of(choosing, LIMIT_HOST, period);
    if (late)
        late->role = STEP_SINGULAR; /* on devices */
    struct counted *devices = counted_of(choosing, LIMIT_DEVICES, period);
    bool behind = devices->count > 0 && devices->mean_ns > falls_behind * host->mean_ns &&
                  (devices->count > 1 || devices->mean_ns > host->mean_ns * (double)host->count) &&
                  (has_most_calls(choosing) || host->count == 0);
    if (late && !behind)
        late->role = STEP_CUT; /* until the times of the host say what it is */
    if (behind && (late ? move_singular(choosing, late) : keep_singular(choosing))) {
        arena_free(devices);
        period = period_of_both(period, period_of_all(choosing), choosing->count - 1);
        devices = counted_of(choosing, LIMIT_DEVICES, period);
    }
    struct counted *used = behind ? devices : host;
    rank->limit = behind ? LIMIT_DEVICES : LIMIT_HOST;
    rank->host_step_ns = llround(host->mean_ns);
    rank->device_step_ns = llround(devices->mean_ns);
    if (used->count < period) /* of all steps, most of which have no time by this limit */
        period = 1;
    rank->period = period;
    for (size_t i = 0; i < used->count; i++) {
        struct account_step *step = &choosing->steps[used->of[i]];
        step->role = i < used->first ? STEP_OF_PART_PERIOD : STEP_COUNTS;
        if (i < used->first)
            continue;
        rank->count++;
        sum_add(&rank->total_ns, used->ns[i]);
    }
    rank->median_ns = step_pattern_median(used->ns + used->first, used->count - used->first);
    describe_unusual(choosing, used->ns, used->of, used->first, used->count, period);
    if (period > 1)
        name_missing(choosing);
    arena_free(devices);
}

/* ---- ranks ---- */

/* The account of RANK, added if there is none; a pointer until the next is added. */
static struct account_rank *rank_for(struct account *account, int64_t rank, uint32_t file)
{
    struct account_rank *known = FIND(one, account, one->rank == rank);
    if (known)
        return known;
    struct account_rank *added = VEC_PUSH(account);
    *added = (struct account_rank){
        .rank = rank, .file = file, .period = 1, .once = INT64_MIN, .singular = INT64_MIN
    };
    return added;
}

/* The time of STEP by LIMIT, which is known. */
static struct interval window_by(const struct account_step *step, enum account_limit limit)
{
    int64_t end_ns =
        limit == LIMIT_DEVICES && step->work
            ? step->work_end_ns
            : step->start_ns + (limit == LIMIT_HOST ? step->waited_before_ns : 0) + time_of(step, limit);
    return (struct interval){ end_ns - time_of(step, limit), end_ns };
}

/* The stretches of time that count in FILE: of its COUNT steps, or all of it. */
static void find_windows(const struct account_step *steps, size_t count, enum account_limit limit,
                         struct account_windows *windows)
{
    FOR_EACH_OF(step, steps, count) {
        *VEC_PUSH(&windows->begins_ns) = step->start_ns;
        if (step->role != STEP_COUNTS)
            continue;
        struct interval window = window_by(step, limit);
        intervals_add(&windows->in, window.start_ns, window.end_ns);
    }
    intervals_merge(&windows->in);
}

/* Devices run behind: where the work of the last of COUNT steps that count reaches far beyond the step on the
 * host, WINDOWS end with that work, unless the first of the first would be cut. Else the parts of few steps
 * would lack it, as what ran for the steps before them was not recorded. */
static void follow_work(const struct account_step *steps, size_t count, struct account_windows *windows)
{
    const double far = 0.05;
    const struct account_step *first = NULL, *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (steps[i].role == STEP_COUNTS) {
            first = first ? first : &steps[i];
            last = &steps[i];
        }
    if (!last || !first->work || !last->work || windows->in.count != 1)
        return;
    struct interval *in = &windows->in.at[0];
    int64_t behind_ns = last->work_end_ns - in->end_ns, until_work_ns = first->work_start_ns - in->start_ns;
    if (behind_ns > until_work_ns || (double)behind_ns <= far * (double)(in->end_ns - in->start_ns))
        return;
    in->start_ns += behind_ns;
    in->end_ns += behind_ns;
}

/* New, free with free(): the calls that waited in each of the COUNT steps at FIRST. */
static size_t *count_waits(const struct trace *trace, const struct device_step *first, size_t count)
{
    const struct host_waits *waits = host_waits_of(trace);
    size_t *counts = mem_zalloc(count + 1, sizeof *counts);
    for (size_t i = 0; i < waits->count; i++) {
        event_id call = waits->at[i].call;
        int64_t start_ns = trace_start_ns(trace, call);
        size_t next = PLACE(k, count, first[k].host_start_ns <= start_ns);
        if (next > 0 && start_ns < first[next - 1].host_end_ns &&
            trace->tracks[trace->track[call]].file == first->file)
            counts[next - 1]++;
    }
    return counts;
}

/* The mean of COUNT times that add up to TOTAL, rounded, halves up. */
static int64_t mean_of(int64_t total_ns, int64_t count)
{
    return total_ns / count + (total_ns % count >= count - total_ns % count);
}

static void account_add_file(struct account *account, const struct trace *trace,
                             const struct selection *selection, uint32_t file, struct gaps_query *gaps)
{
    const struct device_steps *all = device_steps_of(trace);
    size_t first, end = device_steps_of_file(all, file, &first), added = account->steps.count;
    struct account_rank *rank = rank_for(account, selection_rank(trace, file), file);
    struct account_rank before = *rank;
    struct interval span = trace_file_span(trace, file);
    static const struct device_step none;
    const struct device_step *own = end > first ? &all->at[first] : &none;
    bool follow = ranges_follow(own, end - first);
    size_t *waits = count_waits(trace, own, end - first);
    for (size_t i = first; i < end; i++) {
        struct account_step one = account_step_of(trace, own, i - first, end - first, follow);
        one.waits = waits[i - first];
        if (!selection || selection_holds_time(selection, file, one.start_ns))
            *VEC_PUSH(&account->steps) = one;
    }
    free(waits);
    struct account_windows windows = { 0 };
    sum_add(&rank->recorded_ns, span.end_ns - span.start_ns);
    if (account->steps.count > added) {
        check_last(&account->steps.at[added], account->steps.count - added);
        struct choosing choosing = {
            trace, account, rank, &account->steps.at[added], account->steps.count - added, NULL
        };
        choosing.places = find_places(choosing.steps, choosing.count);
        account_choose(&choosing);
        free(choosing.places);
        find_windows(choosing.steps, choosing.count, rank->limit, &windows);
        if (rank->limit == LIMIT_HOST)
            follow_work(choosing.steps, choosing.count, &windows);
        rank->has_steps |= rank->count > before.count;
        if (before.has_steps && before.step_ns > 0)
            rank->median_ns = before.median_ns; /* of the first recording */
    } else if (!before.has_steps && span.start_ns < span.end_ns) {
        rank->count++;
        sum_add(&rank->total_ns, span.end_ns - span.start_ns);
        intervals_add(&windows.in, span.start_ns, span.end_ns);
    }
    size_t devices = account_add_parts(trace, file, &windows, rank->part_ns, gaps);
    rank->device_count = devices > rank->device_count ? devices : rank->device_count;
    rank->step_ns = rank->count ? mean_of(rank->total_ns, (int64_t)rank->count) : 0;
    intervals_release(&windows.in);
    VEC_FREE(&windows.begins_ns);
}

/* The slowest rank is how fast the job is; what devices do is that of all ranks. */
static void add_up_ranks(struct account *account)
{
    struct account_rank *all = &account->all;
    *all = (struct account_rank){
        .rank = TABLE_INT_MISSING, .period = 1, .once = INT64_MIN, .singular = INT64_MIN
    };
    for (size_t i = 0; i < account->count; i++)
        if (i == 0 || account->at[i].step_ns > all->step_ns)
            *all = account->at[i];
    all->rank = TABLE_INT_MISSING;
    memset(all->part_ns, 0, sizeof all->part_ns);
    all->device_count = 0;
    all->recorded_ns = 0;
    FOR_EACH(rank, account) {
        for (size_t part = 0; part < ACCOUNT_PARTS; part++)
            sum_add(&all->part_ns[part], rank->part_ns[part]);
        all->device_count += rank->device_count;
        all->recorded_ns = rank->recorded_ns > all->recorded_ns ? rank->recorded_ns : all->recorded_ns;
    }
}

static struct account *account_find(const struct trace *trace, const struct selection *selection)
{
    struct account *account = arena_open(sizeof *account);
    ARENA_OWNS(arena_of(account), &account->at, &account->steps);
    struct gaps_query *gaps = selection ? NULL : gaps_open_usual(trace);
    for (uint32_t file = 0; file < trace->file_count; file++)
        if (!selection || !selection->files || selection->files[file])
            account_add_file(account, trace, selection, file, gaps);
    if (gaps)
        gaps_close_usual(gaps);
    for (size_t i = 0; i < account->count; i++)
        account->has_steps |= account->at[i].has_steps;
    account->overlapping = step_list_of(trace)->count - device_steps_of(trace)->count;
    add_up_ranks(account);
    return account;
}

static struct account *account_find_usual(const struct trace *trace)
{
    return account_find(trace, NULL);
}

DERIVED(account, account_of, account_find_usual);

const struct account *account_open(const struct trace *trace, const struct selection *selection)
{
    return !selection || selection_is_all(selection) ? account_of(trace) : account_find(trace, selection);
}

const struct account_rank *account_rank_of(const struct account *account, int64_t rank)
{
    return FIND(one, account, one->rank == rank);
}

int64_t account_step_time(const struct account *account, const struct account_step *step)
{
    const struct account_rank *rank = account_rank_of(account, step->rank);
    int64_t ns = time_of(step, rank->limit);
    return ns > 0 ? ns : rank->step_ns;
}

bool account_step_window(const struct account *account, const struct account_step *step,
                         struct interval *window)
{
    enum account_limit limit = account_rank_of(account, step->rank)->limit;
    *window = window_by(step, limit);
    return time_of(step, limit) > 0;
}

/* ---- figures ---- */

int64_t account_part_ns(const struct account_rank *of, size_t part)
{
    double before = 0, whole = 0;
    for (size_t i = 0; i < ACCOUNT_PARTS; i++) {
        whole += (double)of->part_ns[i];
        before += i < part ? (double)of->part_ns[i] : 0;
    }
    if (!(whole > 0))
        return 0;
    double own = before + (double)of->part_ns[part];
    return llround(own / whole * (double)of->step_ns) - llround(before / whole * (double)of->step_ns);
}

double account_idle_share(const struct account_rank *of)
{
    double idle = 0, whole = 0;
    for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
        whole += (double)of->part_ns[part];
        idle += account_part_is_idle(part) ? (double)of->part_ns[part] : 0;
    }
    return of->device_count ? idle / whole : NAN;
}

static const char *ordinal_ending(size_t n)
{
    bool teen = n % 100 / 10 == 1;
    return teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void append_times(struct buffer *text, int64_t unusual_ns, int64_t usual_ns)
{
    buffer_printf(text, ": %s instead of %s", TIME_TEXT(unusual_ns), TIME_TEXT(usual_ns));
}

void account_describe_pattern(const struct account_rank *of, struct buffer *text)
{
    const char *does = of->reason.len                  ? of->reason.at
                       : of->unusual_ns > of->usual_ns ? "takes longer"
                                                       : "takes less time";
    if (of->once != INT64_MIN) {
        buffer_printf(text, "step %" PRId64 " %s, perhaps %s (a longer recording tells)", of->once, does,
                      of->once_is_first ? "to warm up" : "by plan");
        append_times(text, of->unusual_ns, of->usual_ns);
    } else if (of->period > 1 && of->every) {
        buffer_printf(text, "every %zu%s step %s", of->every, ordinal_ending(of->every), does);
        append_times(text, of->unusual_ns, of->usual_ns);
    } else if (of->period > 1) {
        buffer_printf(text, "steps differ, and repeat every %zu", of->period);
    }
    if (of->period > 1 && of->missing)
        buffer_printf(text, "; %s%s %" PRId64 "%s not recorded, and the others of %s do not count",
                      of->missing > 1 ? "steps" : "step", of->missing > 1 ? " from" : "", of->missing_first,
                      of->missing > 1 ? " on were" : " was",
                      of->missing > 1 ? "their periods" : "its period");
    if (of->singular != INT64_MIN) {
        buffer_printf(text, "%sstep %" PRId64 " does not count: it took %s", text->count ? "; " : "",
                      of->singular, TIME_TEXT(of->singular_ns));
        buffer_puts(text, of->singular_unrecorded ? ", as it waited for a rank whose recording had not begun"
                          : of->singular_compiles ? ", as programs are compiled in it, once"
                                                  : ", for no reason that the others have");
    }
}

bool account_is_unrecorded(const struct trace *trace, const struct account *account, int64_t *recorded_ns)
{
    int64_t steps_ns = 0, within_ns = 0, count = 0;
    for (size_t i = 0; account && account->has_steps && i < account->steps.count; i++) {
        const struct account_step *step = &account->steps.at[i];
        struct interval span = trace_file_span(trace, step->file);
        int64_t start_ns = step->start_ns > span.start_ns ? step->start_ns : span.start_ns;
        int64_t end_ns = sum_plus(step->start_ns, step->host_ns);
        end_ns = end_ns < span.end_ns ? end_ns : span.end_ns;
        if (step->role != STEP_COUNTS || step->host_ns <= 0)
            continue;
        count++;
        sum_add(&steps_ns, step->host_ns);
        sum_add(&within_ns, end_ns > start_ns ? end_ns - start_ns : 0);
    }
    *recorded_ns = count ? within_ns / count : 0;
    return count && within_ns < steps_ns / 2;
}
