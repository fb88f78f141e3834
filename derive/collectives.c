/* The host events around launches are few: a call tree of those that communicate by name, and of the launches of
 * kernels that communicate, is sufficient. */
#include "derive/collectives.h"

#include "derive/shapes.h"
#include "base/rows.h"
#include "base/search.h"
#include "derive/communication.h"
#include "derive/host_computing.h"

/* Properties of a name, computed once. */
enum name_fact {
    FACT_CHECKED = 1,
    FACT_COMMUNICATES = 2, /* as an operator or annotation */
    FACT_ON_HOST = 4,      /* a region of a library of the host */
    FACT_RECORD = 8,       /* record_param_comms: carries the arguments */
    FACT_NCCL = 16,        /* issued to a library of the device: nccl:all_reduce */
    FACT_EITHER = 32,      /* the library serves hosts and devices: ucc, mpi */
};

struct search {
    const struct trace *trace;
    struct collectives *all;
    uint8_t *facts;   /* by name */
    uint64_t *taking; /* a bit per event that counts in the call tree */
    struct calltree *tree;
    node_id *node;  /* by event */
    bool *reported; /* by node: a kernel was found for it */
    struct process_groups *groups;
};

static uint8_t facts_of(struct search *search, name_id id)
{
    uint8_t *facts = &search->facts[id];
    if (!*facts) {
        const char *name = names_text(search->trace->names, id);
        *facts = FACT_CHECKED;
        *facts |= operator_is_communication(name) ? FACT_COMMUNICATES : 0;
        *facts |= collective_runs_on_host(name) ? FACT_ON_HOST : 0;
        *facts |= text_begins_with(name, "ucc:") || text_begins_with(name, "mpi:") ? FACT_EITHER : 0;
        *facts |= strcmp(name, "record_param_comms") == 0 ? FACT_RECORD : 0;
        *facts |= (*facts & FACT_COMMUNICATES) && (strstr(name, "ccl:") == name + 1) ? FACT_NCCL : 0;
    }
    return *facts;
}

static bool collectives_is_region(const struct trace *trace, event_id e)
{
    return (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION) &&
           !(trace->flags[e] & EVENT_POINT);
}

/* ---- what a collective was ---- */

static struct collective unknown_collective(event_id event, uint32_t place)
{
    return (struct collective){ .event = event,
                                .launch = EVENT_NONE,
                                .op = EVENT_NONE,
                                .place = place,
                                .timed = true,
                                .group_name = NAME_NONE,
                                .group_description = NAME_NONE,
                                .group_ranks = NAME_NONE,
                                .group_size = -1,
                                .waited_rank = -1,
                                .waited_ns = -1,
                                .sequence = -1,
                                .size_bytes = -1,
                                .source = -1,
                                .target = -1 };
}

/* The size of a collective: input and output elements, -1 if not recorded. */
struct size_facts {
    int64_t in, out, from_shapes;
    int type_bytes; /* 0: unknown */
};

static void learn_text(const struct trace *trace, enum trace_arg arg, event_id e, name_id *to)
{
    int64_t text;
    if (*to == NAME_NONE && trace_arg(trace, arg, e, &text) && names_length(trace->texts, (name_id)text) > 0)
        *to = (name_id)text;
}

static void learn_number(const struct trace *trace, enum trace_arg arg, event_id e, int64_t *to)
{
    int64_t number;
    if (*to < 0 && trace_arg(trace, arg, e, &number) && number >= 0)
        *to = number;
}

static void learn_type(struct collective *one, struct size_facts *size, const char *text, size_t len)
{
    const struct element_type *type = element_type_of(text, len);
    if (type) {
        one->type = type->name;
        size->type_bytes = type->size_bytes;
    }
}

/* Sizes from the recorded shapes: an operator's first input, all inputs of an annotation. c10d's operators that fill
 * one tensor from another take that one first. */
static void learn_shapes(const struct trace *trace, event_id e, struct collective *one,
                         struct size_facts *size)
{
    const char *dims = trace_arg_text(trace, ARG_INPUT_DIMS, e);
    const char *types = trace_arg_text(trace, ARG_INPUT_TYPES, e), *type;
    size_t len;
    if (!dims)
        return;
    bool fills = one->kind == COLLECTIVE_ALL_GATHER || one->kind == COLLECTIVE_REDUCE_SCATTER ||
                 one->kind == COLLECTIVE_ALL_TO_ALL || one->kind == COLLECTIVE_GATHER ||
                 one->kind == COLLECTIVE_SCATTER;
    if (fills && trace->kind[e] == EVENT_OP && text_begins_with(trace_name(trace, e), "c10d::")) {
        int64_t out = shape_elements(dims, 0), in = shape_elements(dims, 1);
        if (out >= 0 && in >= 0 && size->in < 0 && size->out < 0) {
            size->in = in;
            size->out = out;
        }
        return;
    }
    int64_t sum = 0, more;
    size_t inputs = trace->kind[e] == EVENT_OP ? 1 : SIZE_MAX;
    for (size_t i = 0; i < inputs && (more = shape_elements(dims, i)) >= 0; i++)
        if (__builtin_add_overflow(sum, more, &sum))
            return;
    if (sum > 0 && size->from_shapes < 0)
        size->from_shapes = sum;
    if (sum > 0 && !one->type && types && concrete_input(types, 0, &type, &len))
        learn_type(one, size, type, len);
}

/* "nccl:send 0->1", "nccl:recv 1<-0". */
static void learn_peers(const char *name, struct collective *one)
{
    const char *digits = strpbrk(name, "0123456789");
    char *end;
    if (!digits)
        return;
    int64_t own = strtoll(digits, &end, 10);
    if (text_begins_with(end, "->")) {
        one->source = own;
        one->target = strtoll(end + 2, &end, 10);
    } else if (text_begins_with(end, "<-")) {
        one->target = own;
        one->source = strtoll(end + 2, &end, 10);
    }
}

/* Fill in unknown fields from event E. */
static void learn(const struct trace *trace, event_id e, struct collective *one, struct size_facts *size)
{
    const char *said = trace_arg_text(trace, ARG_COLLECTIVE, e);
    if (one->kind == COLLECTIVE_UNKNOWN && trace->kind[e] != EVENT_KERNEL)
        one->kind = collective_kind_of(said ? said : trace_name(trace, e));
    else if (one->kind == COLLECTIVE_UNKNOWN && said)
        one->kind = collective_kind_of(said);
    if ((one->kind == COLLECTIVE_SEND || one->kind == COLLECTIVE_RECV) && one->source < 0 &&
        trace->kind[e] == EVENT_ANNOTATION)
        learn_peers(trace_name(trace, e), one);
    learn_text(trace, ARG_GROUP_NAME, e, &one->group_name);
    learn_text(trace, ARG_GROUP_DESCRIPTION, e, &one->group_description);
    learn_text(trace, ARG_GROUP_RANKS, e, &one->group_ranks);
    learn_number(trace, ARG_GROUP_SIZE, e, &one->group_size);
    learn_number(trace, ARG_SEQ_IN_GROUP, e, &one->sequence);
    learn_number(trace, ARG_WAITED_RANK, e, &one->waited_rank);
    learn_number(trace, ARG_WAITED_NS, e, &one->waited_ns);
    learn_number(trace, ARG_IN_ELEMENTS, e, &size->in);
    learn_number(trace, ARG_OUT_ELEMENTS, e, &size->out);
    const char *type = trace_arg_text(trace, ARG_DTYPE, e);
    if (!one->type && type && *type) {
        one->type = type; /* as recorded, unless it is a known type */
        learn_type(one, size, type, strlen(type));
    }
    learn_shapes(trace, e, one, size);
    const char *library = trace->kind[e] == EVENT_KERNEL ? NULL : collective_library_of(trace_name(trace, e));
    if (!one->library)
        one->library = library;
}

/* The number of ranks, from the sizes of input and output; -1 if unknown. */
static int64_t ranks_by_size(enum collective_kind kind, const struct size_facts *size)
{
    int64_t part = kind == COLLECTIVE_ALL_GATHER       ? size->in
                   : kind == COLLECTIVE_REDUCE_SCATTER ? size->out
                                                       : -1;
    int64_t whole = kind == COLLECTIVE_ALL_GATHER ? size->out : size->in;
    return part > 0 && whole >= part && whole % part == 0 ? whole / part : -1;
}

/* The process group as the file lists it, if the collective does not record it. */
static void learn_group(struct search *search, struct collective *one)
{
    uint32_t file = search->trace->tracks[search->trace->track[one->event]].file;
    bool known = one->group_name != NAME_NONE || one->group_ranks != NAME_NONE || one->group_size >= 0;
    const struct trace_group *group =
        known && one->group_name == NAME_NONE
            ? NULL
            : process_group_of(search->groups, file, one->group_name, one->library);
    if (group) {
        one->group_name = group->name;
        if (one->group_description == NAME_NONE)
            one->group_description = group->description;
        if (one->group_ranks == NAME_NONE)
            one->group_ranks = group->ranks;
    }
    if (one->group_size < 0)
        one->group_size = group   ? group->size
                          : known ? -1
                                  : process_group_size(search->groups, file, one->library);
}

/* Finally, properties from the name of the kernel and the file. */
static void finish_learning(struct search *search, struct collective *one, struct size_facts *size)
{
    const struct trace *trace = search->trace;
    const char *name = trace_name(trace, one->event);
    if (one->kind == COLLECTIVE_UNKNOWN)
        one->kind = collective_kind_of(name);
    const char *library = collective_library_of(name);
    if (library && (!one->library || strcmp(library, "custom") != 0))
        one->library = library;
    const struct element_type *type = one->type ? NULL : element_type_of_kernel(name);
    if (type) {
        one->type = type->name;
        size->type_bytes = type->size_bytes;
    }
    if (size->in < 0 && size->out < 0)
        size->in = size->from_shapes;
    learn_group(search, one);
    if (one->group_size < 0)
        one->group_size = ranks_by_size(one->kind, size);
    int64_t elements = collective_size(one->kind, size->in, size->out, one->group_size);
    if (elements < 0 || size->type_bytes == 0 ||
        __builtin_mul_overflow(elements, (int64_t)size->type_bytes, &one->size_bytes))
        one->size_bytes = -1;
}

/* Regions that communicate nest a few levels deep; only this many levels are examined. */
enum { MOST_AROUND = 16 };

/* Fill in fields from the regions that communicate around node N, from the innermost outwards. */
static void learn_around(struct search *search, node_id n, struct collective *one, struct size_facts *size)
{
    for (int around = 0; n != NODE_NONE && around < MOST_AROUND; n = search->tree->parent[n]) {
        event_id e = search->tree->event[n];
        if (!collectives_is_region(search->trace, e))
            continue;
        around++;
        search->reported[n] = true;
        learn(search->trace, e, one, size);
        one->op = e;
    }
}

/* ---- finding them ---- */

static void add_kernel(struct search *search, size_t index, uint32_t place)
{
    const struct trace *trace = search->trace;
    event_id e = search->all->gpu->event[index];
    struct collective one = unknown_collective(e, place);
    struct size_facts size = { -1, -1, -1, 0 };
    learn(trace, e, &one, &size);
    one.launch = attribution_call(search->all->launches, e);
    event_id linked = attribution_operator(search->all->launches, e);
    node_id n = one.launch == EVENT_NONE ? NODE_NONE : search->node[one.launch];
    if (n == NODE_NONE && linked != EVENT_NONE)
        n = search->node[linked];
    if (linked != EVENT_NONE && facts_of(search, trace->name[linked]) & FACT_COMMUNICATES)
        learn(trace, linked, &one, &size);
    learn_around(search, n, &one, &size);
    if (one.op == EVENT_NONE)
        one.op = linked;
    finish_learning(search, &one, &size);
    *VEC_PUSH(search->all) = one;
}

/* A region on the host, or a collective that was issued while the device was not recorded. */
static void add_region(struct search *search, node_id n, uint32_t place, bool timed)
{
    event_id e = search->tree->event[n];
    struct collective one = unknown_collective(e, place);
    struct size_facts size = { -1, -1, -1, 0 };
    learn_around(search, n, &one, &size);
    one.timed = timed;
    finish_learning(search, &one, &size);
    *VEC_PUSH(search->all) = one;
}

static bool collectives_takes_part(const void *context, event_id e)
{
    const struct search *search = context;
    return search->taking[e / 64] >> (e % 64) & 1;
}

static void collectives_collect(struct search *search, event_id e)
{
    search->taking[e / 64] |= UINT64_C(1) << (e % 64);
}

static void nest_regions(struct search *search)
{
    const struct trace *trace = search->trace;
    const struct gpu_events *gpu = search->all->gpu;
    search->taking = mem_zalloc(trace->event_count / 64 + 1, sizeof *search->taking);
    for (event_id e = 0; e < trace->event_count; e++)
        if (collectives_is_region(trace, e) && facts_of(search, trace->name[e]) & FACT_COMMUNICATES)
            collectives_collect(search, e);
    for (size_t i = 0; i < gpu->count; i++) {
        event_id call = gpu_work_communicates(gpu->work[i])
                            ? attribution_call(search->all->launches, gpu->event[i])
                            : EVENT_NONE;
        if (call != EVENT_NONE)
            collectives_collect(search, call);
    }
    search->tree = calltree_open(trace, collectives_takes_part, search);
    calltree_nest(search->tree);
    search->node = calltree_nodes(search->tree);
    search->reported = mem_zalloc(search->tree->count + 1, sizeof *search->reported);
}

/* False for "wait", "init" and the like, which are recorded like collectives; old files do not distinguish them. */
static bool is_collective_record(const struct trace *trace, event_id e)
{
    const char *said = trace_arg_text(trace, ARG_COLLECTIVE, e);
    return said && collective_kind_of(said) != COLLECTIVE_UNKNOWN;
}

/* Does a process group of FILE use the library of REGION ("ucc:all_reduce") for tensors of the host? */
static bool is_of_cpu(const struct trace_file *file, const char *region)
{
    char backend[16];
    snprintf(backend, sizeof backend, "cpu:%.3s", region);
    return ANY(i, file->groups.count,
               file->groups.at[i].backends && strstr(file->groups.at[i].backends, backend));
}

/* Add regions on the host that are collectives themselves, and issued collectives. HAS_GPU: by file. */
static void add_regions(struct search *search, const bool *has_gpu)
{
    const struct trace *trace = search->trace;
    const struct calltree *tree = search->tree;
    /* Files whose issues are known by record_param_comms; the annotations nccl:* repeat them. */
    SCOPED bool *has_records = mem_zalloc(trace->file_count + 1, sizeof *has_records);
    for (node_id n = 0; n < tree->count; n++)
        if (collectives_is_region(trace, tree->event[n]) &&
            facts_of(search, trace->name[tree->event[n]]) & FACT_RECORD &&
            is_collective_record(trace, tree->event[n]))
            has_records[trace_file_of(trace, tree->event[n])] = true;
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        if (!collectives_is_region(trace, e))
            continue;
        uint8_t facts = facts_of(search, trace->name[e]);
        uint32_t file = trace_file_of(trace, e), place = (uint32_t)(search->all->gpu->device_count + file);
        bool issued = has_records[file] ? facts & FACT_RECORD && is_collective_record(trace, e)
                                        : (facts & FACT_NCCL) != 0;
        bool on_host = facts & FACT_ON_HOST &&
                       (!(facts & FACT_EITHER) ||
                        (!search->reported[n] &&
                         (!has_gpu[file] || is_of_cpu(&trace->files[file], trace_name(trace, e)))));
        issued = issued || (facts & FACT_EITHER && !on_host);
        if (on_host)
            add_region(search, n, place, true);
        else if (issued && !has_gpu[file])
            add_region(search, n, place, false);
        else if (issued && !search->reported[n])
            search->all->without_kernel++;
    }
}

/* ---- places ---- */

static void index_computation(struct collective_place *place)
{
    intervals_merge(&place->computation);
    place->computed_before_ns =
        mem_alloc(mem_times(place->computation.count + 1, sizeof *place->computed_before_ns));
    int64_t sum_ns = 0;
    for (size_t i = 0; i < place->computation.count; i++) {
        place->computed_before_ns[i] = sum_ns;
        sum_ns += place->computation.at[i].end_ns - place->computation.at[i].start_ns;
    }
}

static void index_work(const struct trace *trace, struct collective_place *place)
{
    place->ends_ns = mem_alloc(mem_times(place->work_count + 1, sizeof *place->ends_ns));
    int64_t latest_ns = INT64_MIN;
    for (size_t i = 0; i < place->work_count; i++) {
        int64_t end_ns = trace_end_ns(trace, place->work[i]);
        latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
        place->ends_ns[i] = latest_ns;
    }
}

static void fill_device(const struct gpu_events *gpu, size_t device, bool has_any,
                        struct collective_place *place)
{
    const struct trace *trace = gpu->trace;
    const struct gpu_device *of = &gpu->devices[device];
    place->file = of->file;
    place->device = of->id;
    size_t count = has_any ? of->count : 0;
    place->work = mem_alloc(mem_times(count + 1, sizeof *place->work));
    for (size_t i = of->first; i < of->first + count; i++) {
        event_id e = gpu->event[i];
        if (gpu_work_communicates(gpu->work[i]))
            continue;
        place->work[place->work_count++] = e;
        if (gpu->work[i] != GPU_MEMCPY)
            intervals_add(&place->computation, trace_start_ns(trace, e), trace_end_ns(trace, e));
    }
    index_computation(place);
    index_work(trace, place);
}

struct host_work {
    uint32_t file;
    event_id event;
    int64_t start_ns;
};

static const struct key by_host_work[] = { ASC(struct host_work, file), ASC(struct host_work, start_ns),
                                           ASC(struct host_work, event), KEY_END };

/* Work of the host is named by operators that call no others. */
static void fill_hosts(struct search *search, const bool *wanted)
{
    const struct trace *trace = search->trace;
    struct collectives *all = search->all;
    VEC_OF(struct host_work) operations = { 0 };
    struct calltree *tree = calltree_open(trace, calltree_takes_operators, trace);
    calltree_nest(tree);
    bool *calls = mem_zalloc(tree->count + 1, sizeof *calls);
    for (node_id n = 0; n < tree->count; n++)
        if (tree->parent[n] != NODE_NONE)
            calls[tree->parent[n]] = true;
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        uint32_t file = trace_file_of(trace, e);
        if (!calls[n] && wanted[file] && !(facts_of(search, trace->name[e]) & FACT_COMMUNICATES))
            *VEC_PUSH(&operations) = (struct host_work){ file, e, trace_start_ns(trace, e) };
    }
    if (operations.count)
        SORT(&operations, by_host_work);
    FOR_RUNS(first, end, operations.count, operations.at[end].file == operations.at[first].file) {
        struct collective_place *place = &all->places[all->gpu->device_count + operations.at[first].file];
        place->work = mem_alloc(mem_times(end - first, sizeof *place->work));
        for (size_t i = first; i < end; i++)
            place->work[place->work_count++] = operations.at[i].event;
    }
    VEC_FREE(&operations);
    free(calls);
    arena_free(tree);
    const struct host_computing *computing = host_computing_of(trace);
    for (track_id t = 0; t < computing->thread_count; t++) {
        uint32_t file = trace->tracks[t].file;
        const struct intervals *of = &computing->threads[t];
        for (size_t i = 0; wanted[file] && i < of->count; i++)
            intervals_add(&all->places[all->gpu->device_count + file].computation, of->at[i].start_ns,
                          of->at[i].end_ns);
    }
}

struct place_and_start {
    uint32_t place;
    int64_t start_ns;
    size_t index;
};

static const struct key by_places[] = { ASC(struct place_and_start, place),
                                        ASC(struct place_and_start, start_ns),
                                        ASC(struct place_and_start, index), KEY_END };

static void find_all(struct search *search)
{
    const struct trace *trace = search->trace;
    struct collectives *all = search->all;
    bool *has_gpu = mem_zalloc(trace->file_count + 1, sizeof *has_gpu);
    for (uint32_t d = 0; d < all->gpu->device_count; d++) {
        const struct gpu_device *device = &all->gpu->devices[d];
        has_gpu[device->file] = true;
        for (size_t i = device->first; i < device->first + device->count; i++)
            if (gpu_work_communicates(all->gpu->work[i]))
                add_kernel(search, i, d);
    }
    add_regions(search, has_gpu);
    free(has_gpu);
    SCOPED struct place_and_start *order = mem_alloc(mem_times(all->count + 1, sizeof *order));
    struct collective *sorted = mem_alloc(mem_times(all->count + 1, sizeof *sorted));
    for (size_t i = 0; i < all->count; i++)
        order[i] = (struct place_and_start){ all->at[i].place, trace_start_ns(trace, all->at[i].event), i };
    if (all->count)
        SORT_ARRAY(order, all->count, by_places);
    for (size_t i = 0; i < all->count; i++)
        sorted[i] = all->at[order[i].index];
    free(all->at);
    all->at = sorted;
    all->capacity = all->count + 1;
}

struct collective_place *collective_places_open(const struct collectives *all)
{
    struct arena *arena = arena_of(all);
    struct collective_place *places = arena_zalloc(arena, all->place_count + 1, sizeof *places);
    ARENA_OWNS_EACH(arena, places, all->place_count, computation);
    ARENA_OWNS_EACH(arena, places, all->place_count, computed_before_ns);
    ARENA_OWNS_EACH(arena, places, all->place_count, work);
    ARENA_OWNS_EACH(arena, places, all->place_count, ends_ns);
    return places;
}

struct collectives *collectives_open(const struct trace *trace)
{
    struct collectives *all = arena_open(sizeof *all);
    ARENA_OWNS(arena_of(all), &all->at);
    struct search search = { .trace = trace, .all = all, .groups = process_groups_open(trace) };
    all->trace = trace;
    all->launches = attribution_of(trace);
    all->gpu = gpu_events_of(trace);
    search.facts = mem_zalloc(names_count(trace->names) + 1, sizeof *search.facts);
    nest_regions(&search);
    find_all(&search);

    all->place_count = all->gpu->device_count + trace->file_count;
    all->places = collective_places_open(all);
    SCOPED bool *has_any =
        mem_zalloc(all->place_count + 1, sizeof *has_any); /* by place: those alone are asked about */
    bool *hosts = has_any + all->gpu->device_count, any_host = false;
    for (size_t i = 0; i < all->count; i++) {
        has_any[all->at[i].place] = true;
        any_host |= all->at[i].place >= all->gpu->device_count;
    }
    for (size_t d = 0; d < all->gpu->device_count; d++)
        fill_device(all->gpu, d, has_any[d], &all->places[d]);
    for (uint32_t file = 0; file < trace->file_count; file++) {
        struct collective_place *host = &all->places[all->gpu->device_count + file];
        host->file = file;
        host->device = -1;
    }
    if (any_host)
        fill_hosts(&search, hosts);
    for (size_t p = all->gpu->device_count; p < all->place_count; p++) {
        index_computation(&all->places[p]);
        index_work(trace, &all->places[p]);
    }
    EACH(free, search.node, search.reported, search.taking, search.facts);
    arena_free(search.tree);
    arena_free(search.groups);
    return all;
}

int64_t collective_issued_ns(const struct collectives *all, const struct collective *one)
{
    int64_t issued_ns;
    attribution_issued(all->trace, one->event, one->launch, &issued_ns);
    return issued_ns;
}

bool *collective_places_launching(const struct collectives *all)
{
    bool *launching = mem_zalloc(all->place_count + 1, sizeof *launching);
    for (size_t i = 0; i < all->count; i++)
        launching[all->at[i].place] |= all->at[i].launch != EVENT_NONE;
    return launching;
}

/* Time before MOMENT in which PLACE computed. */
static int64_t computed_before(const struct collective_place *place, int64_t moment_ns)
{
    const struct intervals *set = &place->computation;
    size_t i; /* the first interval that starts at MOMENT or later */
    SEARCH(i, set->count, set->at[i].start_ns < moment_ns);
    if (i == 0)
        return 0;
    const struct interval *last = &set->at[i - 1];
    int64_t end_ns = last->end_ns < moment_ns ? last->end_ns : moment_ns;
    return place->computed_before_ns[i - 1] + end_ns - last->start_ns;
}

int64_t collective_place_computed(const struct collective_place *place, int64_t start_ns, int64_t end_ns)
{
    return end_ns > start_ns ? computed_before(place, end_ns) - computed_before(place, start_ns) : 0;
}
