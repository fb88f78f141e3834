/* Times are added up per pair of name and sample; few of the possible pairs occur, so pairs are interned as bytes in a
 * struct names, which gives them dense ids. */
#include "diff/measure_parts.h"

#include <assert.h>

struct pair {
    name_id name; /* in trace->names */
    uint32_t sample;
};

struct sum {
    int64_t time_ns, count;
};

/* Sums by name and sample of one sampling. */
struct tally {
    struct names *pairs; /* struct pair as bytes */
    VEC_OF(struct sum) sums;
};

static void measure_names_add(struct tally *tally, name_id name, uint32_t sample, int64_t time_ns,
                              int64_t count)
{
    struct pair pair = { name, sample };
    name_id id = names_add(tally->pairs, (const char *)&pair, sizeof pair);
    if (id == tally->sums.count)
        *VEC_PUSH(&tally->sums) = (struct sum){ 0, 0 };
    assert(id < tally->sums.count);
    tally->sums.at[id].time_ns += time_ns;
    tally->sums.at[id].count += count;
}

/* Move the sums to ROWS, and free them. Names lose their first SKIP bytes. */
static void tally_finish(struct tally *tally, const struct trace *trace, struct measure_rows *rows,
                         size_t skip)
{
    for (size_t i = 0; i < tally->sums.count; i++) {
        struct pair pair;
        memcpy(&pair, names_text(tally->pairs, (name_id)i), sizeof pair);
        measure_rows_add(rows, names_text(trace->names, pair.name) + skip,
                         names_length(trace->names, pair.name) - skip, pair.sample,
                         (double)tally->sums.at[i].time_ns, (double)tally->sums.at[i].count);
    }
    names_free(tally->pairs);
    VEC_FREE(&tally->sums);
}

/* The tallies of one table: by step and by file. */
struct tallies {
    const struct measuring *measuring;
    struct tally by_step, by_file;
};

static void tallies_open(struct tallies *tallies, const struct measuring *measuring)
{
    *tallies = (struct tallies){ .measuring = measuring,
                                 .by_step = { .pairs = names_open() },
                                 .by_file = { .pairs = names_open() } };
}

/* Count TIME for NAME in FILE and, if IN_STEP, in the step around MOMENT. */
static void tallies_add(struct tallies *tallies, name_id name, uint32_t file, bool in_step, int64_t moment_ns,
                        int64_t time_ns, int64_t count)
{
    measure_names_add(&tallies->by_file, name, tallies->measuring->file_sample[file], time_ns, count);
    const struct measured_step *step = in_step ? measured_step_at(tallies->measuring, file, moment_ns) : NULL;
    if (step)
        measure_names_add(&tallies->by_step, name, step->sample, time_ns, count);
}

static void tallies_finish(struct tallies *tallies, const char *key, const char *title, size_t skip)
{
    struct measures *measures = tallies->measuring->measures;
    const struct trace *trace = tallies->measuring->trace;
    tally_finish(&tallies->by_step, trace, sampling_open_rows(&measures->by_step, key, title, TABLE_NS),
                 skip);
    tally_finish(&tallies->by_file, trace, sampling_open_rows(&measures->by_file, key, title, TABLE_NS),
                 skip);
}

void measure_names(const struct measuring *measuring)
{
    const struct trace *trace = measuring->trace;
    struct tallies tallies;
    tallies_open(&tallies, measuring);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] == EVENT_SPAN || trace->kind[e] == EVENT_INSTANT || trace->flags[e] & EVENT_POINT)
            continue;
        event_id began = event_on_device(trace->kind[e]) ? attribution_call(measuring->launches, e) : e;
        tallies_add(&tallies, trace->name[e], trace->tracks[trace->track[e]].file, began != EVENT_NONE,
                    began != EVENT_NONE ? trace_start_ns(trace, began) : 0, trace_dur_ns(trace, e), 1);
    }
    tallies_finish(&tallies, "rows", "Time by name, on the host and on devices, from start to end", 0);
}

/* ---- modules ---- */

/* The name that torch.profiler gives the frame of a module: "nn.Module: Linear_3". */
static const char module_prefix[] = "nn.Module: ";
enum { MODULE_PREFIX = sizeof module_prefix - 1 };

struct modules {
    const struct trace *trace;
    bool *is_module; /* by name */
    struct calltree *tree;
    node_id *skips;
    const struct calltree_thread **thread; /* by track; NULL: no module on it */
};

static bool takes_module(const void *context, event_id e)
{
    const struct modules *modules = context;
    return modules->trace->kind[e] == EVENT_PYTHON && modules->is_module[modules->trace->name[e]];
}

static void modules_open(struct modules *modules, const struct trace *trace)
{
    size_t names = names_count(trace->names);
    *modules =
        (struct modules){ .trace = trace, .is_module = mem_zalloc(names + 1, sizeof *modules->is_module) };
    for (name_id id = 0; id < names; id++)
        modules->is_module[id] = strncmp(names_text(trace->names, id), module_prefix, MODULE_PREFIX) == 0;
    modules->tree = calltree_open(trace, takes_module, modules);
    calltree_nest(modules->tree);
    modules->skips = calltree_skips(modules->tree);
    modules->thread = mem_zalloc(trace->track_count + 1, sizeof(struct calltree_thread *));
    for (size_t t = 0; t < modules->tree->thread_count; t++)
        modules->thread[modules->tree->threads[t].track] = &modules->tree->threads[t];
}

/* The innermost module that was running on TRACK at MOMENT; NODE_NONE if none. */
static node_id module_at(const struct modules *modules, track_id track, int64_t moment_ns)
{
    const struct calltree_thread *thread = modules->thread[track];
    return thread ? calltree_open_at(modules->tree, modules->skips, thread, moment_ns) : NODE_NONE;
}

static void add_host_times(const struct measuring *measuring, const struct modules *modules, bool inclusive)
{
    const struct trace *trace = measuring->trace;
    const struct calltree *tree = modules->tree;
    SCOPED int64_t *self_ns = mem_zalloc(tree->count + 1, sizeof *self_ns);
    for (size_t n = 0; n < tree->count; n++)
        self_ns[n] = trace_dur_ns(trace, tree->event[n]);
    for (size_t n = 0; n < tree->count && !inclusive; n++)
        if (tree->parent[n] != NODE_NONE)
            self_ns[tree->parent[n]] -= trace_dur_ns(trace, tree->event[n]);
    struct tallies tallies;
    tallies_open(&tallies, measuring);
    for (size_t n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        tallies_add(&tallies, trace->name[e], trace->tracks[trace->track[e]].file, true,
                    trace_start_ns(trace, e), self_ns[n], 1);
    }
    tallies_finish(&tallies, "modules",
                   inclusive ? "Time on the host, by module, with the modules in it"
                             : "Time on the host, by module, without the modules in it",
                   MODULE_PREFIX);
}

/* Kernels count for the module that launched them; with INCLUSIVE, for the modules around it as well. */
static void add_device_times(const struct measuring *measuring, const struct modules *modules, bool inclusive)
{
    const struct trace *trace = measuring->trace;
    const struct calltree *tree = modules->tree;
    struct tallies tallies;
    tallies_open(&tallies, measuring);
    for (size_t i = 0; i < measuring->gpu->count; i++) {
        event_id e = measuring->gpu->event[i], call = attribution_call(measuring->launches, e);
        if (call == EVENT_NONE)
            continue;
        node_id node = module_at(modules, trace->track[call], trace_start_ns(trace, call));
        for (; node != NODE_NONE; node = inclusive ? tree->parent[node] : NODE_NONE)
            tallies_add(&tallies, trace->name[tree->event[node]], trace->tracks[trace->track[call]].file,
                        true, trace_start_ns(trace, call), trace_dur_ns(trace, e), 1);
    }
    tallies_finish(&tallies, "modules_on_device", "Time on devices of what they launched, by module",
                   MODULE_PREFIX);
}

bool measure_modules(const struct measuring *measuring, bool inclusive, struct tpa_error *err)
{
    struct modules modules;
    modules_open(&modules, measuring->trace);
    bool any = modules.tree->count > 0;
    if (any) {
        add_host_times(measuring, &modules, inclusive);
        if (measuring->gpu->count)
            add_device_times(measuring, &modules, inclusive);
    }
    arena_free(modules.tree);
    EACH(free, modules.skips, modules.is_module, modules.thread);
    if (any)
        return true;
    tpa_fail(err, TPA_NOWHERE, "the trace records no modules, so there are no rows");
    return tpa_hint(err, "profile with with_stack=True; tpa info shows the contents of a trace");
}
