/* Counts, when a trace is finished, the launches whose work is not in the file. */
#include "base/search.h"
#include "trace/lost_work.h"
#include "base/rows.h"

#include "trace/arg_scan.h"
#include "trace/call_names.h"
#include "trace/capture_times.h"
#include "trace/partial_replays.h"
#include "trace/builder.h"
#include "trace/storage.h"
#include <inttypes.h>

/* ---- a set of numbers ---- */

/* Numbers of calls count up, so that a bit for each from the first to the last is small; else they are sorted. */
enum { MOST_BITS_A_NUMBER = 1024 };

struct numbers {
    int64_t *at;
    size_t count;
    int64_t least;
    uint64_t *bits; /* NULL: AT is sorted */
};

/* AT, of COUNT numbers above 0, is taken. */
static struct numbers numbers_open(int64_t *at, size_t count)
{
    struct numbers numbers = { at, count, INT64_MAX, NULL };
    int64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        numbers.least = at[i] < numbers.least ? at[i] : numbers.least;
        most = at[i] > most ? at[i] : most;
    }
    if (count && (uint64_t)(most - numbers.least) / MOST_BITS_A_NUMBER < count) {
        numbers.bits = mem_zalloc((size_t)(most - numbers.least) / 64 + 1, sizeof *numbers.bits);
        for (size_t i = 0; i < count; i++)
            numbers.bits[(at[i] - numbers.least) / 64] |= UINT64_C(1) << (at[i] - numbers.least) % 64;
        numbers.count = (size_t)(most - numbers.least) + 1;
    } else if (count) {
        SORT_NUMBERS(at, count);
    }
    return numbers;
}

static bool numbers_hold(const struct numbers *numbers, int64_t number)
{
    if (!numbers->bits) {
        size_t i = search_from(numbers->at, numbers->count, number);
        return i < numbers->count && numbers->at[i] == number;
    }
    uint64_t at = (uint64_t)number - (uint64_t)numbers->least;
    return number >= numbers->least && at < numbers->count && (numbers->bits[at / 64] >> at % 64 & 1);
}

static void numbers_release(struct numbers *numbers)
{
    EACH(free, numbers->at, numbers->bits);
}

/* ---- the launches of a file ---- */

struct survey {
    const struct trace *trace;
    const struct trace_file *file;
    const unsigned char *sorts; /* by name */
    struct numbers work;        /* numbers of the calls whose work is in the file */
    uint64_t work_count;
    uint64_t unnumbered; /* work without a number, except for pages: its call cannot be known */
    int64_t waited_ns;   /* what was launched before this has run: the host waited for it later */
    int64_t launched_ns; /* the latest launch whose work is in the file */
    bool any_wait;
    struct numbers calls; /* of all calls */
    struct numbers
        graphs; /* of the launches of graphs that have work, and behind which something ran or was waited for */
    bool any_number;   /* has any call one? */
    bool any_callless; /* has any work the number of no call? */
    bool any_time;     /* does any work take time? */
    int64_t common;    /* the number that most launches of kernels have, if any number is that of most */
    uint64_t common_count, kernel_launches;
};

/* The numbers of the work and of the calls of the file. */
static void survey_numbers(struct survey *survey)
{
    const struct trace *trace = survey->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    VEC_OF(int64_t) work = { 0 }, calls = { 0 };
    event_id end = survey->file->first_event + survey->file->event_count;
    for (event_id e = survey->file->first_event; e < end; e++) {
        int64_t number;
        bool is_work = event_is_gpu_work(trace->kind[e]);
        if (!is_work && !event_is_call(trace->kind[e]))
            continue;
        bool has_number = arg_scan_get(&correlations, e, &number) && number > 0;
        is_work &= has_number || !work_moves_pages(trace_name(trace, e));
        survey->work_count += is_work;
        survey->any_time |= is_work && !survey->any_time && trace_dur_ns(trace, e) > 0;
        survey->unnumbered += is_work && !has_number;
        if (has_number && is_work)
            *VEC_PUSH(&work) = number;
        else if (has_number)
            *VEC_PUSH(&calls) = number;
    }
    survey->any_number = calls.count > 0;
    survey->calls = numbers_open(calls.at, calls.count);
    for (size_t i = 0; i < work.count && !survey->any_callless; i++)
        survey->any_callless = !numbers_hold(&survey->calls, work.at[i]);
    survey->work = numbers_open(work.at, work.count);
}

/* Is E a copy of API? Not a memset, which records no work where it sets nothing. */
static bool copies_memory(const struct survey *survey, event_id e, const char *api)
{
    enum call_sort sort = survey->sorts[survey->trace->name[e]];
    return (sort == CALL_COPY || sort == CALL_COPY_SYNC) &&
           strncmp(trace_name(survey->trace, e), api, strlen(api)) == 0;
}

/* A function of the host that a stream runs, cudaLaunchHostFunc, is no work of the device. */
static bool launches_work(const struct survey *survey, event_id e)
{
    enum call_sort sort = survey->sorts[survey->trace->name[e]];
    return sort == CALL_GRAPH_LAUNCH ||
           (sort == CALL_LAUNCH && !strstr(trace_name(survey->trace, e), "HostFunc"));
}

/* Look at the calls: is there a wait, and when was the last? */
static void survey_waits(struct survey *survey)
{
    const struct trace *trace = survey->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    survey->waited_ns = survey->launched_ns = INT64_MIN;
    event_id end = survey->file->first_event + survey->file->event_count;
    for (event_id e = survey->file->first_event; e < end; e++) {
        int64_t number, start_ns;
        if (!event_is_call(trace->kind[e]))
            continue;
        start_ns = trace_start_ns(trace, e);
        enum call_sort sort = survey->sorts[trace->name[e]];
        if (sort == CALL_SYNC || sort == CALL_COPY_SYNC) {
            survey->any_wait = true;
            survey->waited_ns = start_ns > survey->waited_ns ? start_ns : survey->waited_ns;
        } else if (start_ns > survey->launched_ns && launches_work(survey, e) &&
                   arg_scan_get(&correlations, e, &number) && numbers_hold(&survey->work, number)) {
            survey->launched_ns = start_ns;
        }
    }
}

/* How much work has a number, of a call that is not in the file, although it runs behind work of its stream whose call is? */
static uint64_t count_callless(const struct survey *survey)
{
    const struct trace *trace = survey->trace;
    event_id end = survey->file->first_event + survey->file->event_count;
    SCOPED int64_t *since_ns = mem_alloc(mem_times(trace->track_count + 1, sizeof *since_ns));
    uint64_t count = 0;
    for (track_id t = 0; t < trace->track_count; t++)
        since_ns[t] = INT64_MAX;
    for (int pass = 0; pass < 2; pass++) {
        struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
        for (event_id e = survey->file->first_event; e < end; e++) {
            int64_t number, *first_ns = &since_ns[trace->track[e]];
            if (!event_is_gpu_work(trace->kind[e]) || !arg_scan_get(&correlations, e, &number))
                continue;
            bool is_known = numbers_hold(&survey->calls, number);
            if (pass == 0 && is_known && trace_start_ns(trace, e) < *first_ns)
                *first_ns = trace_start_ns(trace, e);
            count += pass == 1 && !is_known && trace_start_ns(trace, e) >= *first_ns;
        }
    }
    return count;
}

/* Find the number of most launches of kernels: each has its own, so that it links none of them. */
static void survey_common_number(struct survey *survey)
{
    const struct trace *trace = survey->trace;
    event_id end = survey->file->first_event + survey->file->event_count;
    uint64_t lead = 0;
    for (int pass = 0; pass < 2; pass++) { /* the majority, if there is one; then how many it is */
        struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
        for (event_id e = survey->file->first_event; e < end; e++) {
            int64_t number;
            if (!event_is_call(trace->kind[e]) || survey->sorts[trace->name[e]] != CALL_LAUNCH ||
                !arg_scan_get(&correlations, e, &number) || number <= 0)
                continue;
            survey->kernel_launches += pass;
            survey->common_count += pass && number == survey->common;
            if (pass)
                continue;
            if (lead == 0)
                survey->common = number;
            lead += number == survey->common ? 1 : -1;
        }
    }
}

/* What was launched last may still have waited in a queue when recording stopped, unless the call itself waits for it. */
static bool must_have_run(const struct survey *survey, event_id call)
{
    int64_t start_ns = trace_start_ns(survey->trace, call);
    return start_ns <= survey->waited_ns || (!survey->any_wait && start_ns < survey->launched_ns);
}

static struct trace_lost survey_launches(struct survey *survey, const struct intervals *captures)
{
    VEC_OF(int64_t) graphs = { 0 };
    const struct trace *trace = survey->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    struct trace_lost lost = { 0 };
    event_id end = survey->file->first_event + survey->file->event_count;
    for (event_id e = survey->file->first_event; e < end; e++) {
        int64_t number;
        bool is_call = event_is_call(trace->kind[e]);
        bool is_copy = is_call && copies_memory(survey, e, "cuda"),
             is_hip_copy = is_call && copies_memory(survey, e, "hip");
        if (!is_call || !(is_copy || is_hip_copy || launches_work(survey, e)) ||
            !arg_scan_get(&correlations, e, &number))
            continue;
        bool is_graph = survey->sorts[trace->name[e]] == CALL_GRAPH_LAUNCH;
        bool has_work = numbers_hold(&survey->work, number);
        if (!has_work && (!must_have_run(survey, e) ||
                          (captures->count && intervals_contain(captures, trace_start_ns(trace, e)))))
            continue;
        if (is_hip_copy) {
            lost.hip_copies++;
            lost.lost_hip_copies += !has_work;
            continue;
        }
        *(is_copy ? &lost.copies : is_graph ? &lost.graphs : &lost.launches) += 1;
        *(is_copy ? &lost.lost_copies : is_graph ? &lost.lost_graphs : &lost.lost_launches) += !has_work;
        int64_t start_ns = trace_start_ns(trace, e);
        if (is_graph && has_work && (start_ns < survey->waited_ns || start_ns < survey->launched_ns))
            *VEC_PUSH(&graphs) = number;
    }
    survey->graphs = numbers_open(graphs.at, graphs.count);
    return lost;
}

static bool launches_replay(const void *context, int64_t number)
{
    const struct survey *survey = context;
    return numbers_hold(&survey->graphs, number);
}

static uint64_t less(uint64_t from, uint64_t by)
{
    return from > by ? from - by : 0;
}

static bool is_much(uint64_t lost, uint64_t all)
{
    return lost > 0 && (double)lost >= TRACE_LOST_SHARE * (double)all;
}

/* Is the time that is not known, of work that was left out or ends too late, much of the time of all work? */
static bool is_much_time(const struct survey *survey, const struct trace_lost *lost)
{
    const struct trace *trace = survey->trace;
    int64_t work_ns = lost->untimed_ns, unknown_ns = lost->untimed_ns + lost->late_ns;
    event_id end = survey->file->first_event + survey->file->event_count;
    for (event_id e = survey->file->first_event; e < end && unknown_ns > 0; e++)
        work_ns += event_is_gpu_work(trace->kind[e]) ? trace_dur_ns(trace, e) : 0;
    return unknown_ns > 0 && (double)unknown_ns >= TRACE_UNKNOWN_SHARE * (double)work_ns;
}

static void describe_part(struct buffer *out, uint64_t lost, uint64_t all, const char *one, const char *many)
{
    if (lost)
        buffer_printf(out, "%s%" PRIu64 " of %" PRIu64 " %s %s no work in the file", out->count ? ", " : "",
                      lost, all, all == 1 ? one : many, lost == 1 ? "has" : "have");
}

static void describe(const struct trace_lost *lost, unsigned lacks, struct buffer *out)
{
    describe_part(out, lost->lost_graphs, lost->graphs, "graph replay", "graph replays");
    if (lost->partial_graphs)
        buffer_printf(out, "%s%" PRIu64 " of %" PRIu64 " graph replays %s a part of %s work",
                      out->count ? ", " : "", lost->partial_graphs, lost->graphs,
                      lost->partial_graphs == 1 ? "lacks" : "lack",
                      lost->partial_graphs == 1 ? "its" : "their");
    describe_part(out, lost->lost_launches, lost->launches, "kernel launch", "kernel launches");
    describe_part(out, lost->lost_copies, lost->copies, "copy", "copies");
    bool is_certain = out->count > 0;
    describe_part(out, lost->lost_hip_copies, lost->hip_copies, "copy of HIP", "copies of HIP");
    if (out->count && !is_certain)
        buffer_puts(out, ": made by the host, or lost by the profiler");
    else if (out->count)
        buffer_puts(out, lacks & LACKS_END ? ": the file ends before it"
                                           : ": the profiler lost it, or its buffers were full");
}

uint64_t builder_noticed(const struct trace_builder *builder, uint32_t f, enum lack lack)
{
    const struct trace_storage *storage = builder->storage;
    FOR_EACH(notice, &storage->notices)
        if (!notice->of_all && notice->file == f && strcmp(notice->kind, lack_word(lack)) == 0)
            return notice->count;
    return 0;
}

enum { TIMELESS_WORK = 4 }; /* of so many operations at least one takes a nanosecond */

enum {
    LAUNCHES_OF_A_NUMBER = 4, /* of so many, of which most have one number, it was not the profiler's */
    LAUNCHES_GONE = 2,        /* some tools never record the call of some of the work */
    GONE_ONE_IN = 10,
};

/* Tell launches that the file lacks, or that have no number of their own. */
static void tell_launches(struct trace_builder *builder, uint32_t f, const struct survey *survey)
{
    const struct trace_lost *lost = &survey->file->lost;
    if (survey->common_count >= LAUNCHES_OF_A_NUMBER && 2 * survey->common_count > survey->kernel_launches &&
        !builder_noticed(builder, f, LACK_ODD_VALUES))
        builder_add_last_notice(builder, f, lack_word(LACK_ODD_VALUES),
                                arena_printf(&builder->trace->arena,
                                             "%" PRIu64 " of %" PRIu64
                                             " launches have one correlation number, %" PRId64
                                             ": which of them launched what is not known",
                                             survey->common_count, survey->kernel_launches, survey->common),
                                survey->common_count);
    uint64_t gone = lost->callless - survey->unnumbered;
    bool is_cut = survey->file->lacks & LACKS_END;
    if (!is_cut && gone >= LAUNCHES_GONE && GONE_ONE_IN * gone >= lost->work &&
        !builder_noticed(builder, f, LACK_DROPPED_UNKNOWN))
        builder_add_last_notice(
            builder, f, lack_word(LACK_DROPPED_UNKNOWN),
            arena_printf(
                &builder->trace->arena,
                "the calls that launched %" PRIu64 " of %" PRIu64
                " operations of devices are not in the file, though others are: the profiler lost them",
                gone, lost->work),
            gone);
}

static void settle_file(struct trace_builder *builder, uint32_t f, const unsigned char *sorts)
{
    struct trace *trace = builder->trace;
    struct trace_file *file = &builder->storage->files.at[f];
    struct survey survey = { .trace = trace, .file = file, .sorts = sorts };
    uint64_t untimed =
        file->lost.untimed ? file->lost.untimed : builder_noticed(builder, f, LACK_UNTIMED_WORK);
    const struct trace_lost before = file->lost;
    bool unknown_noticed = builder_noticed(builder, f, LACK_UNKNOWN_TIME) > 0;
    survey_numbers(&survey);
    survey_waits(&survey);
    file->lost = survey_launches(&survey, &capture_times_of(trace)->of_file[f]);
    file->lost.partial_graphs =
        survey.graphs.count ? partial_replays_count(trace, file, launches_replay, &survey) : 0;
    file->lost.untimed = untimed;
    file->lost.untimed_ns = before.untimed_ns;
    file->lost.late_ns = before.late_ns;
    bool no_time = survey.work_count >= TIMELESS_WORK && !survey.any_time;
    file->lost.much_unknown = unknown_noticed || no_time || is_much_time(&survey, &before);
    file->lost.much_untimed =
        is_much(untimed, untimed + survey.work_count) || (untimed && file->lost.much_unknown);
    if (file->lost.much_unknown && !unknown_noticed)
        builder_add_last_notice(
            builder, f, lack_word(LACK_UNKNOWN_TIME),
            no_time
                ? "no work of a device takes any time in the file, which cannot be; changes have no price"
                : "operations that were left out, or whose end is not known, take a hundredth or more of the time of all; changes have no price",
            1);
    uint64_t known_of = survey.unnumbered + untimed, launches = file->lost.lost_launches;
    file->lost.lost_launches = less(launches, known_of);
    file->lost.lost_copies = less(file->lost.lost_copies, less(known_of, launches));
    file->lost.lost_hip_copies = less(file->lost.lost_hip_copies, less(known_of, launches));
    file->lost.work = survey.work_count;
    file->lost.callless = survey.unnumbered + (survey.any_callless ? count_callless(&survey) : 0);
    file->lost.much_callless =
        survey.any_number && 4 * file->lost.callless >= file->lost.work && file->lost.callless;
    file->lost.much = is_much(file->lost.lost_graphs + file->lost.partial_graphs, file->lost.graphs) ||
                      is_much(file->lost.lost_launches, file->lost.launches) ||
                      is_much(file->lost.lost_copies, file->lost.launches + file->lost.copies);
    survey_common_number(&survey);
    tell_launches(builder, f, &survey);
    EACH(numbers_release, &survey.work, &survey.calls, &survey.graphs);
    uint64_t lost = file->lost.lost_graphs + file->lost.partial_graphs + file->lost.lost_launches +
                    file->lost.lost_copies + file->lost.lost_hip_copies;
    if (lost == 0 || builder_noticed(builder, f, LACK_LOST_WORK))
        return;
    SCOPED struct buffer text = { 0 };
    describe(&file->lost, file->lacks, &text);
    builder_add_last_notice(builder, f, file->lost.much ? lack_word(LACK_LOST_WORK) : "lost_few",
                            trace_builder_strndup(builder, text.at, text.count), lost);
}

void builder_settle_losses(struct trace_builder *builder)
{
    const struct trace *trace = builder->trace;
    SCOPED unsigned char *sorts = call_sorts_open(trace->names);
    for (uint32_t f = 0; f < trace->file_count; f++)
        settle_file(builder, f, sorts);
}

bool trace_lost_much(const struct trace *trace)
{
    return ANY(f, trace->file_count, trace->files[f].lost.much);
}

bool trace_left_out_much(const struct trace *trace)
{
    return ANY(f, trace->file_count, trace->files[f].lost.much_untimed);
}

bool trace_knows_no_durations(const struct trace *trace)
{
    return ANY(f, trace->file_count, trace->files[f].lost.much_unknown);
}

void trace_describe_lost(const struct trace *trace, struct buffer *out)
{
    struct trace_lost all = { 0 };
    unsigned lacks = 0;
    for (size_t f = 0; f < trace->file_count; f++) {
        const struct trace_lost *lost = &trace->files[f].lost;
        all.launches += lost->launches;
        all.lost_launches += lost->lost_launches;
        all.graphs += lost->graphs;
        all.lost_graphs += lost->lost_graphs;
        all.partial_graphs += lost->partial_graphs;
        all.hip_copies += lost->hip_copies;
        all.lost_hip_copies += lost->lost_hip_copies;
        all.copies += lost->copies;
        all.lost_copies += lost->lost_copies;
        lacks |= lost->much ? trace->files[f].lacks : 0;
    }
    describe(&all, lacks, out);
}

bool trace_misses_calls(const struct trace *trace)
{
    return ANY(f, trace->file_count, trace->files[f].lost.much_callless);
}

void trace_describe_callless(const struct trace *trace, struct buffer *out)
{
    uint64_t work = 0, callless = 0;
    for (size_t f = 0; f < trace->file_count; f++) {
        work += trace->files[f].lost.work;
        callless += trace->files[f].lost.callless;
    }
    if (callless)
        buffer_printf(out,
                      "which call launched %" PRIu64 " of %" PRIu64 " operations of devices is not known",
                      callless, work);
}

void trace_describe_left_out(const struct trace *trace, struct buffer *out)
{
    uint64_t untimed = SUM(uint64_t, f, trace->file_count, trace->files[f].lost.untimed);
    if (untimed)
        buffer_printf(out, "%" PRIu64 " record%s of devices %s no time that can be and %s left out", untimed,
                      untimed == 1 ? "" : "s", untimed == 1 ? "has" : "have", untimed == 1 ? "is" : "are");
}
