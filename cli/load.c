/* load.c - see load.h. */
#include "cli/load.h"

#include "base/rows.h"
#include "derive/code_paths.h"
#include "derive/step_infer.h"
#include "derive/step_list.h"
#include "trace/span.h"
#include "base/regex.h"
#include "base/sum.h"
#include "base/progress.h"
#include "cli/command_line.h"
#include "cli/output_file.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "memory/snapshot_analysis.h"
#include "profile/view.h"
#include "report/output.h"
#include <inttypes.h>

const struct opt_choice load_files_are[] = {
    [TRACE_FILES_AS_FOUND] = { "auto", "decided by evidence in the files: see tpa info", NULL },
    [TRACE_FILES_ARE_JOB] = { "job", "ranks of one job, and recordings of them one after the other", NULL },
    [TRACE_FILES_ARE_APART] = { "files", "separate runs", "runs" },
    [TRACE_FILES_ARE_SIDES] = { "diff", "two sides to compare, for tpa report and tpa diff", NULL },
    { 0 },
};

static void print_progress(void *context, const char *path, int64_t done, int64_t total)
{
    progress_print(context, path, done, total);
}

static bool load_may_read(const struct source_id *file, struct tpa_error *err)
{
    return output_file_spares(file->device, file->inode, err);
}

/* Read one capture file of graphs, and add it to BODIES. */
static bool read_capture(const char *path, const struct ingest_options *options, struct graph_bodies *bodies,
                         struct tpa_error *err)
{
    struct ingest_options of_capture = *options;
    struct ingested ingested;
    of_capture.wants = (struct trace_wants){ .args = GRAPH_BODIES_WANTS };
    of_capture.results = false;
    if (!ingest_read_any(&path, 1, &of_capture, &ingested, err))
        return false;
    struct trace *trace = ingested_trace(&ingested, path, err);
    if (!trace)
        return false;
    bool good = graph_bodies_add(bodies, trace) > 0;
    trace_free(trace);
    if (good)
        return true;
    tpa_fail(err, TPA_NOWHERE, "'%s' holds no launches, and so nothing that a graph was made of", path);
    return tpa_hint(
        err, "--capture takes a trace of the time when the graphs were captured, or one of an eager run");
}

/* Link the operations of graphs in TRACE to the files of --capture. */
static bool link_graphs(const struct trace *trace, const struct load_args *args,
                        const struct ingest_options *options, struct tpa_error *err)
{
    if (!trace || !args->captures.count)
        return true;
    struct graph_bodies *bodies = graph_bodies_open();
    for (size_t i = 0; i < args->captures.count; i++) {
        if (read_capture(args->captures.at[i], options, bodies, err))
            continue;
        arena_free(bodies);
        return tpa_while(err, "reading what --capture names");
    }
    graph_links_attach(trace, bodies);
    return true;
}

/* ---- --strict ---- */

bool load_fail_strict(const struct result *result, struct tpa_error *err)
{
    const struct table_notice *first = NULL;
    for (size_t i = 0; i < result->notices.count && !first; i++)
        first = result->notices.at[i].lacks ? &result->notices.at[i] : NULL;
    if (!first)
        return tpa_fail(err, TPA_NOWHERE, "the recording is not complete");
    tpa_fail(err, first->offset, "%s", first->text);
    tpa_hint(err, "without --strict all that can be read counts, with this as the first note");
    return first->file ? tpa_in_file(err, first->file) : false;
}

static void add_ingested_notices(const struct ingested *ingested, struct result *result)
{
    load_add_lacks(ingested, result);
    if (ingested->trace)
        load_add_notices(ingested->trace, result);
    snapshot_add_file_notices(&ingested->snapshots, result);
}

/* Is all complete that was read, or nobody wants to know? */
static bool load_check_complete(const struct ingested *ingested, bool strict, struct tpa_error *err)
{
    if (!strict || !ingested_lacks(ingested))
        return true;
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.strict/1");
    add_ingested_notices(ingested, result);
    load_fail_strict(result, err);
    return false;
}

/* Pass on each trace that is complete. */
struct strict_visit {
    ingest_visit *visit;
    void *context;
};

static bool visit_if_complete(void *context, struct trace *trace, struct tpa_error *err)
{
    const struct strict_visit *strict = context;
    return load_check_complete(&(struct ingested){ .trace = trace }, true, err) &&
           strict->visit(strict->context, trace, err);
}

void load_bound_results(uint64_t max_ratio)
{
    const uint64_t fine = UINT64_C(256) << 20;
    uint64_t read = source_bytes_closed(),
             most = read && max_ratio > UINT64_MAX / read ? 0 : read * max_ratio;
    output_set_most(max_ratio == 0 || (most == 0 && read) ? 0 : most > fine ? most : fine);
}

/* ---- a trace that is kept ---- */

static struct {
    bool on;
    struct buffer key; /* what was read, and how */
    struct trace *trace;
    void (*progress)(int64_t done, int64_t total);
    const char *path; /* the file whose progress was told last, and bytes of those before */
    int64_t before, done;
} keeping;

void load_keep(void (*progress)(int64_t done, int64_t total))
{
    keeping.on = true;
    keeping.progress = progress;
}

static void tell_progress(void *context, const char *path, int64_t done, int64_t total)
{
    (void)context;
    if (keeping.path != path)
        keeping.before += keeping.done;
    keeping.path = path;
    keeping.done = done;
    keeping.progress(keeping.before + done, total > 0 ? keeping.before + total : 0);
}

/* Everything that tells two ways of reading apart. */
static void describe_reading(char *const *operands, size_t count, const struct load_args *args,
                             struct buffer *key)
{
    buffer_printf(key, "%d %d %s", args->files_are, args->infer_steps,
                  args->step_range ? args->step_range : "");
    for (size_t i = 0; i < count; i++) {
        buffer_putc(key, '\0');
        buffer_puts(key, operands[i]);
    }
}

static bool is_kept(const struct buffer *key)
{
    return keeping.trace && keeping.key.count == key->count &&
           memcmp(keeping.key.at, key->at, key->count) == 0;
}

bool load_keeps(char *const *operands, size_t count)
{
    SCOPED struct buffer key = { 0 };
    describe_reading(operands, count, &(struct load_args)LOAD_DEFAULTS, &key);
    return is_kept(&key);
}

/* The kept trace, if it is what KEY describes. */
static bool find_kept(const struct buffer *key, struct ingested *ingested)
{
    bool same = is_kept(key);
    if (same)
        *ingested = (struct ingested){ .trace = keeping.trace };
    return same;
}

/* Take KEY, and keep TRACE instead of the last one. */
static void keep_trace(struct buffer *key, struct trace *trace)
{
    if (keeping.trace) {
        keeping.trace->is_kept = false;
        trace_free(keeping.trace);
    }
    buffer_release(&keeping.key);
    keeping.key = *key;
    keeping.trace = trace;
    trace->is_kept = true;
    *key = (struct buffer){ 0 };
}

static bool read_input(const struct invocation *call, const struct load_args *args,
                       struct ingest_options *options, struct ingested *ingested, struct tpa_error *err)
{
    SCOPED struct buffer key = { 0 };
    bool keeps = keeping.on && !options->visit && !args->captures.count && !args->results &&
                 !options->wants.only_count;
    if (keeping.progress) {
        options->progress = tell_progress;
        keeping.path = NULL;
        keeping.before = keeping.done = 0;
    }
    if (keeps) {
        describe_reading(call->operands, call->operand_count, args, &key);
        options->wants.args = UINT64_MAX >> (64 - ARG_COUNT);
        options->wants.flows = options->wants.counters = options->wants.programs = true;
    }
    bool fine =
        (keeps && find_kept(&key, ingested)) ||
        ingest_read_any((const char *const *)call->operands, call->operand_count, options, ingested, err);
    if (fine && ingested->trace && !ingested->trace->is_kept)
        file_set_settle(ingested->trace);
    if (fine && keeps && ingested->trace && !ingested->trace->is_kept)
        keep_trace(&key, ingested->trace);
    return fine;
}

bool load_each(const struct invocation *call, const struct load_args *args, const struct trace_wants *wants,
               ingest_visit *visit, void *context, struct ingested *ingested, struct tpa_error *err)
{
    if (args->files_are == TRACE_FILES_ARE_SIDES) {
        tpa_fail(err, TPA_NOWHERE, "--as diff: this command does not compare");
        return tpa_hint(err, "tpa diff BASE NEW, or tpa report BASE NEW -o compare.html");
    }
    struct regex *steps = args->step_range ? regex_open(args->step_range, err) : NULL;
    if (args->step_range && !steps)
        return tpa_while(err, "reading the option --step-range");
    regex_free(steps);
    struct progress progress = args->progress ? progress_begin(stderr) : (struct progress){ 0 };
    struct trace_wants all = *wants;
    if (args->captures.count)
        all.args |= GRAPH_LINKS_WANTS;
    struct strict_visit strict = { visit, context };
    bool each_strictly = visit && args->strict;
    struct ingest_options options = {
        .wants = all,
        .workers = (unsigned)args->jobs,
        .max_ratio = args->max_ratio == 0 ? UINT64_MAX : args->max_ratio,
        .step_range = args->step_range,
        .results = args->results,
        .files_are = (enum trace_files_are)args->files_are,
        .no_inferred_steps = !args->infer_steps,
        .may_read = load_may_read,
        .progress = progress.out ? print_progress : NULL,
        .progress_context = &progress,
        .visit = each_strictly ? visit_if_complete : visit,
        .visit_context = each_strictly ? &strict : context,
    };
    bool fine = read_input(call, args, &options, ingested, err);
    if (fine && !(load_check_complete(ingested, args->strict, err) &&
                  link_graphs(ingested->trace, args, &options, err))) {
        ingested_free(ingested);
        fine = false;
    }
    progress_end(&progress);
    if (fine)
        load_bound_results(args->max_ratio);
    return fine;
}

bool load_any(const struct invocation *call, const struct load_args *args, const struct trace_wants *wants,
              struct ingested *ingested, struct tpa_error *err)
{
    return load_each(call, args, wants, NULL, NULL, ingested, err);
}

struct trace *load_traces(const struct invocation *call, const struct load_args *args,
                          const struct trace_wants *wants, struct tpa_error *err)
{
    struct ingested ingested;
    if (!load_any(call, args, wants, &ingested, err))
        return NULL;
    return ingested_trace(&ingested, call->operands[0], err);
}

/* Up to this many files get separate notices about the same thing; more share one. Ranks of one job share one, too, unless
 * it is about what their files lack. */
enum { MOST_NOTES_ALIKE = 3, MOST_RANKS_NAMED = 8 };

/* A notice that several files share. */
struct alike {
    size_t files, ranks;
    int64_t cases, last_rank;
    const char *path;     /* of the first */
    bool elsewhere;       /* other files say it, too, not only other ranks of that one */
    bool reported;        /* in one notice */
    struct buffer listed; /* "0, 1": their ranks; empty: not known */
};

/* An id for the content of NOTICE, equal for equal ones; NAME_NONE if it is about no file. Lacks are alike by their kind:
 * each file breaks off somewhere else. */
static name_id what_it_says(struct names *known, struct buffer *key, const struct table_notice *notice)
{
    if (!notice->file)
        return NAME_NONE;
    buffer_clear(key);
    buffer_add(key, notice->kind, strlen(notice->kind) + 1);
    if (!notice->lacks)
        buffer_puts(key, notice->text);
    return names_add(known, key->at, key->count);
}

static void add_alike(struct alike *alike, const struct table_notice *notice, int64_t rank)
{
    if (alike->files++ == 0)
        alike->path = notice->file;
    alike->elsewhere |= strcmp(alike->path, notice->file) != 0;
    sum_add(&alike->cases, notice->count);
    if (rank == TABLE_INT_MISSING || (alike->ranks && alike->last_rank == rank))
        return;
    alike->last_rank = rank;
    if (alike->ranks++ < MOST_RANKS_NAMED)
        buffer_printf(&alike->listed, "%s%lld", alike->ranks > 1 ? ", " : "", (long long)rank);
    else if (alike->ranks == MOST_RANKS_NAMED + 1)
        buffer_puts(&alike->listed, " and more");
}

/* Gather what is ALIKE into one NOTICE, the first of them. */
static void gather(struct result *result, const struct alike *alike, struct table_notice *notice)
{
    bool names_ranks = alike->ranks > 1 && (!alike->elsewhere || alike->files <= MOST_NOTES_ALIKE);
    notice->text = names_ranks ? arena_printf(&result->arena, "ranks %.*s: %s", (int)alike->listed.count,
                                              alike->listed.at, notice->text)
                               : arena_printf(&result->arena, "%s (%zu files, first %s)", notice->text,
                                              alike->files, notice->file);
    notice->count = alike->cases;
    notice->file = alike->elsewhere ? NULL : notice->file;
    notice->offset = TPA_NOWHERE;
}

/* The same, where the notices from the FIRST on are about files of RANKS: TABLE_INT_MISSING of none. */
static void gather_notices(struct result *result, size_t first, const int64_t *ranks)
{
    SCOPED_OBJECT struct names *known = names_open();
    SCOPED struct buffer key = { 0 };
    SCOPED struct alike *alike = mem_zalloc(result->notices.count + 1, sizeof *alike);
    for (size_t i = 0; i < result->notices.count; i++) {
        name_id id = what_it_says(known, &key, &result->notices.at[i]);
        if (id != NAME_NONE)
            add_alike(&alike[id], &result->notices.at[i], i < first ? TABLE_INT_MISSING : ranks[i - first]);
    }
    size_t kept = 0;
    for (size_t i = 0; i < result->notices.count; i++) {
        struct table_notice notice = result->notices.at[i];
        name_id id = what_it_says(known, &key, &notice);
        struct alike *same = id == NAME_NONE ? NULL : &alike[id];
        bool shared = same && (same->files > MOST_NOTES_ALIKE ||
                               (same->ranks > 1 && (!notice.lacks || !same->elsewhere)));
        if (shared && same->reported)
            continue;
        if (shared) {
            same->reported = true;
            gather(result, same, &notice);
        }
        result->notices.at[kept++] = notice;
    }
    for (size_t i = 0; i < names_count(known); i++)
        buffer_release(&alike[i].listed);
    result->notices.count = kept;
}

/* Of a thousand ranks, hundreds have the same notices. */
void load_gather_notices(struct result *result)
{
    gather_notices(result, result->notices.count, NULL);
}

/* "4..6, 9 and more": the ranks below WORLD_SIZE that are not among the COUNT ascending RANKS. */
static void append_missing(struct buffer *out, const int64_t *ranks, size_t count, int64_t world_size)
{
    enum { MOST = 4 };
    int64_t next = 0;
    size_t shown = 0;
    for (size_t i = 0; i <= count; i++) {
        int64_t end = i < count ? ranks[i] : world_size;
        if (next < end && shown++ < MOST)
            buffer_printf(out, next + 1 < end ? "%s%lld..%lld" : "%s%lld", shown > 1 ? ", " : "",
                          (long long)next, (long long)end - 1);
        if (i < count)
            next = end + 1; /* a rank is below the size, which may be the largest that 64 bits hold */
    }
    if (shown > MOST)
        buffer_puts(out, " and more");
}

/* Were several files given, so that some may be missing? */
static bool are_several_files(const struct trace *trace)
{
    bool left_out = ANY(i, trace->notice_count, strcmp(trace->notices[i].kind, "left_out") == 0);
    return left_out || trace->file_count > 1;
}

/* If several files record the number of ranks: report missing ranks. */
static void notice_missing_ranks(const struct trace *trace, struct result *result)
{
    bool are_several = are_several_files(trace) && file_set_of(trace)->jobs < 2;
    SCOPED VEC_OF(int64_t) ranks = { 0 };
    int64_t world_size = 0;
    for (size_t i = 0; i < trace->file_count && are_several; i++) {
        world_size = trace->files[i].world_size > world_size ? trace->files[i].world_size : world_size;
        if (trace->files[i].rank >= 0)
            *VEC_PUSH(&ranks) = trace->files[i].rank;
    }
    if (ranks.count)
        SORT_NUMBERS(ranks.at, ranks.count);
    size_t count = 0;
    for (size_t i = 0; i < ranks.count; i++)
        if (ranks.at[i] < world_size && (count == 0 || ranks.at[count - 1] != ranks.at[i]))
            ranks.at[count++] = ranks.at[i];
    if (count && (int64_t)count < world_size) {
        SCOPED struct buffer missing = { 0 };
        append_missing(&missing, ranks.at, count, world_size);
        ADD_NOTICE(result, "missing_ranks", world_size - (int64_t)count,
                   "%zu of %lld ranks %s here; missing: %s", count, (long long)world_size,
                   count == 1 ? "is" : "are", missing.at);
    }
}

/* Notices about the files as a whole. */
static void notice_files(const struct trace *trace, struct result *result)
{
    const struct file_set *set = file_set_of(trace);
    if (file_set_has_cycles(set) || set->jobs > 1) {
        SCOPED struct buffer text = { 0 };
        file_set_describe(set, &text);
        ADD_NOTICE(result, "recordings", (int64_t)set->count, "the files are %s", text.at);
        bool seen = result->tables.count && strcmp(result->tables.at[0]->key, "runs") == 0; /* a row each */
        result->notices.at[result->notices.count - 1].on_top = set->jobs > 1 && !seen;
    }
    for (size_t i = 0; i < trace->file_count; i++)
        if (trace->files[i].event_count == 0 &&
            (trace->file_count > 1 || (trace->sample_count == 0 && !trace->files[i].lacks)))
            result_add_notice(result, "no_events", 0, trace->files[i].path, TPA_NOWHERE,
                              trace->file_count > 1 ? "the file holds no events"
                                                    : "this is an empty trace: its list of events has none");
    notice_missing_ranks(trace, result);
}

/* Steps of which less than half was recorded: their durations are meaningless. */
static void notice_steps(const struct trace *trace, struct result *result)
{
    const struct step_list *steps = step_list_has_marks(trace) ? step_list_of(trace) : step_list_used(trace);
    for (uint32_t file = 0; steps && file < trace->file_count; file++) {
        struct interval span = trace_file_span(trace, file);
        const struct step *first = NULL;
        int64_t count = 0, first_recorded_ns = 0;
        FOR_EACH(step, steps) {
            int64_t start_ns = step->start_ns > span.start_ns ? step->start_ns : span.start_ns;
            int64_t end_ns = step->end_ns < span.end_ns ? step->end_ns : span.end_ns;
            int64_t recorded_ns = end_ns > start_ns ? end_ns - start_ns : 0;
            if (step->file != file || step->end_ns - step->start_ns <= 2 * recorded_ns)
                continue;
            if (count++ == 0) {
                first = step;
                first_recorded_ns = recorded_ns;
            }
        }
        if (count)
            result_add_notice(
                result, "steps_outside", count, trace->files[file].path, TPA_NOWHERE,
                "step %" PRId64
                " takes %s, of which %s was recorded: times and shares of it are mostly of what was not",
                first->number, TIME_TEXT(first->end_ns - first->start_ns), TIME_TEXT(first_recorded_ns));
    }
}

/* Inferred steps are not marked ones: their evidence, and the ways to decide otherwise. */
static void notice_inferred_steps(const struct trace *trace, struct result *result)
{
    const struct step_list *steps = step_list_used(trace);
    size_t count[STEP_BY_REPETITION + 1] = { 0 };
    for (size_t i = 0; steps && i < steps->count; i++)
        count[steps->at[i].evidence]++;
    for (int evidence = STEP_IS_MARKED + 1; evidence <= STEP_BY_REPETITION; evidence++)
        if (count[evidence])
            ADD_NOTICE(
                result, "inferred_steps", (int64_t)count[evidence],
                "no steps are marked; %zu steps are inferred (by %s): mark them with schedule=..., or decide "
                "otherwise with --no-infer-steps or --step-range",
                count[evidence], step_evidence_name((enum step_evidence)evidence));
}

bool load_cannot_if_empty(const struct trace *trace, struct result *result)
{
    if (trace->event_count || trace->sample_count || trace_features(trace) & FEATURE_MEMORY)
        return false;
    command_line_cannot(result, trace_feature_reason(FEATURE_EVENTS), "the trace holds no events",
                        trace_feature_recipe(trace, FEATURE_EVENTS), "info");
    return true;
}

void load_add_lacks(const struct ingested *ingested, struct result *result)
{
    SCOPED_BY(result_free_at) struct result *all = result_open("tpa.lacks/1");
    if (ingested->profile)
        profile_add_notices(all, ingested->profile, &(struct profile_view){ 0 }, true);
    if (ingested->actions)
        actions_add_notices(all, ingested->actions);
    const struct result *sources[] = { all, ingested->result };
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++)
        for (size_t i = 0; sources[s] && i < sources[s]->notices.count; i++) {
            const struct table_notice *notice = &sources[s]->notices.at[i];
            if (notice->lacks)
                result_add_notice(result, notice->kind, notice->count, notice->file, notice->offset, "%s",
                                  notice->text);
        }
}

void load_add_notices(const struct trace *trace, struct result *result)
{
    notice_inferred_steps(trace, result);
    notice_files(trace, result);
    graph_links_notice(graph_links_of(trace), result);
    notice_steps(trace, result);
    size_t first = result->notices.count;
    bool of_ranks = file_set_of(trace)->ranks > 1;
    SCOPED int64_t *ranks = mem_alloc(mem_times(trace->notice_count + 1, sizeof *ranks));
    for (size_t i = 0; i < trace->notice_count; i++) {
        const struct trace_notice *notice = &trace->notices[i];
        const struct trace_file *file = &trace->files[notice->file];
        const char *path = notice->of_all                            ? NULL
                           : notice->of_container && file->container ? file->container->path
                                                                     : file->path;
        result_add_notice(result, notice->kind, (int64_t)notice->count, path, notice->offset, "%s",
                          notice->text);
        ranks[i] = of_ranks && !notice->of_all ? selection_rank(trace, notice->file) : TABLE_INT_MISSING;
    }
    gather_notices(result, first, ranks);
}
