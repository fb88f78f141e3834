/* Names lie sorted, each with the longest other name that it begins with: the names that a text begins with are the
 * last one that sorts at or before the text, its beginning, the beginning of that one, and so on. */
#include "check/facts.h"

#include "analyze/account.h"
#include "analyze/gpu.h"
#include "analyze/steps.h"
#include "analyze/top/top.h"
#include "base/demangle.h"
#include "base/rows.h"
#include "base/search.h"
#include "base/shell_word.h"
#include "memory/memory.h"
#include "trace/derived.h"
#include <ctype.h>
#include <math.h>

#define NO_NAME SIZE_MAX

struct check_name {
    const char *text;
    uint32_t len;
    name_id id;   /* in the trace */
    size_t begin; /* the longest other name that it begins with; NO_NAME: none */
};

/* The durations of a name in a file, on the host or on devices. */
struct name_sums {
    uint32_t file;
    bool on_device, of_kernels;
    int64_t count, sum_ns, min_ns, max_ns;
};

struct nccl_sums {
    int64_t count, sum_ns;
};

struct check_facts {
    const struct trace *trace;
    struct selection *all;
    VEC_OF(struct check_name) names; /* by text */
    struct top *top;
    name_id *row_name; /* by row of top */
    const struct gpu *gpu;
    struct nccl_sums *nccl; /* by row of gpu */
    const struct steps *steps;
    struct memory *memory;
    /* the durations of the name that was requested for last */
    name_id summed;
    VEC_OF(struct name_sums) sums;
};

struct trace_wants check_wants(void)
{
    struct trace_wants wants = top_wants(&(struct top_options){ .by = TOP_OPERATOR | TOP_RANK });
    trace_wants_join(&wants, &gpu_wants);
    trace_wants_join(&wants, &steps_wants);
    trace_wants_join(&wants, &memory_wants);
    return wants;
}

/* ---- names ---- */

static const struct key name_by_text[] = { ASC(struct check_name, text), KEY_END };

static void name_add(struct check_facts *facts, const char *text, name_id id)
{
    size_t len = strlen(text);
    if (len > 0 && len < UINT32_MAX)
        *VEC_PUSH(&facts->names) = (struct check_name){ text, (uint32_t)len, id, NO_NAME };
}

static bool name_begins(const struct check_name *name, const char *text, size_t len)
{
    return name->len <= len && memcmp(name->text, text, name->len) == 0;
}

const char *check_name_text(const struct check_name *name)
{
    return name->text;
}

name_id check_name_id(const struct check_name *name)
{
    return name->id;
}

bool check_name_is_same(const struct check_name *a, const struct check_name *b)
{
    return a == b || a->id == b->id || strcmp(a->text, b->text) == 0;
}

/* The order of NAME and the LEN bytes at TEXT. */
static int name_compare(const struct check_name *name, const char *text, size_t len)
{
    size_t least = name->len < len ? name->len : len;
    int order = memcmp(name->text, text, least);
    return order ? order : (name->len > len) - (name->len < len);
}

/* The last name that sorts at or before the LEN bytes at TEXT; NO_NAME: none. */
static size_t name_at_or_before(const struct check_facts *facts, const char *text, size_t len)
{
    size_t i = PLACE(k, facts->names.count, name_compare(&facts->names.at[k], text, len) <= 0);
    return i - 1; /* NO_NAME for 0 */
}

const struct check_name *check_name_find(const struct check_facts *facts, const char *text, size_t len)
{
    size_t i = name_at_or_before(facts, text, len);
    return i != NO_NAME && name_compare(&facts->names.at[i], text, len) == 0 ? &facts->names.at[i] : NULL;
}

const struct check_name *check_name_longest(const struct check_facts *facts, const char *text, size_t len,
                                            check_name_ends *ends)
{
    for (size_t i = name_at_or_before(facts, text, len); i != NO_NAME; i = facts->names.at[i].begin) {
        const struct check_name *name = &facts->names.at[i];
        if (name_begins(name, text, len) && ends(text, len, name->len))
            return name;
    }
    return NULL;
}

/* Where the next "..." or its character begins in the LEN bytes at TEXT from FROM on, and its length; LEN: none. */
static size_t find_ellipsis(const char *text, size_t len, size_t from, size_t *size)
{
    for (size_t i = from; i + 3 <= len; i++)
        if (memcmp(text + i, "...", 3) == 0 || memcmp(text + i, "\xe2\x80\xa6", 3) == 0) {
            *size = 3;
            return i;
        }
    *size = 0;
    return len;
}

/* Does NAME consist of the parts of TEXT around the ellipses? */
static bool name_has_parts(const struct check_name *name, const char *text, size_t len)
{
    size_t at = 0, from = 0;
    for (bool first = true;; first = false) {
        size_t size, end = find_ellipsis(text, len, from, &size);
        size_t part = end - from;
        if (part > name->len - at)
            return false;
        if (size == 0) /* the last */
            return memcmp(name->text + name->len - part, text + from, part) == 0;
        const char *found = first  ? (memcmp(name->text, text + from, part) == 0 ? name->text : NULL)
                            : part ? memmem(name->text + at, name->len - at, text + from, part)
                                   : name->text + at;
        if (!found)
            return false;
        at = (size_t)(found - name->text) + part;
        from = end + size;
    }
}

const struct check_name *check_name_shortened(const struct check_facts *facts, const char *text, size_t len,
                                              bool *several)
{
    enum { LEAST = 4 }; /* bytes that must be left */
    *several = false;
    size_t size, end = find_ellipsis(text, len, 0, &size);
    if (size == 0 || len < LEAST + size || end + size > len)
        return NULL;
    const struct check_name *only = NULL;
    for (size_t i = 0; i < facts->names.count && !*several; i++) {
        const struct check_name *name = &facts->names.at[i];
        if (!name_has_parts(name, text, len))
            continue;
        *several = only && !check_name_is_same(only, name);
        only = name;
    }
    return *several ? NULL : only;
}

/* ---- all facts ---- */

static void names_fill(struct check_facts *facts)
{
    const struct names *names = facts->trace->names;
    struct buffer readable = { 0 };
    for (name_id id = 0; id < names_count(names); id++) {
        const char *raw = names_text(names, id);
        name_add(facts, raw, id);
        if (raw[0] != '_' || raw[1] != 'Z')
            continue;
        buffer_clear(&readable);
        if (demangle_name(&readable, raw))
            name_add(facts, arena_strndup(arena_of(facts), readable.at, readable.count), id);
        SCOPED char *first = readable.count ? mem_strdup(readable.at) : NULL;
        buffer_clear(&readable);
        if (demangle_as_torch(&readable, raw) && (!first || strcmp(first, readable.at) != 0))
            name_add(facts, arena_strndup(arena_of(facts), readable.at, readable.count), id);
    }
    buffer_release(&readable);
    SORT(&facts->names, name_by_text);
    size_t sorted = facts->names.count;
    struct check_facts before = *facts; /* rows of several names have their own: ProfilerStep* */
    for (size_t i = 0; i < facts->top->count; i++) {
        before.names.at = facts->names.at;
        before.names.count = sorted;
        if (!check_name_find(&before, facts->top->at[i].name.at, facts->top->at[i].name.len))
            name_add(facts, facts->top->at[i].name.at, (name_id)(names_count(names) + i));
    }
    SORT(&facts->names, name_by_text);
    for (size_t i = 1; i < facts->names.count; i++) {
        struct check_name *name = &facts->names.at[i];
        size_t begin = i - 1;
        while (begin != NO_NAME && !name_begins(&facts->names.at[begin], name->text, name->len))
            begin = facts->names.at[begin].begin;
        name->begin = begin;
    }
}

static void nccl_fill(struct check_facts *facts)
{
    const struct gpu_events *gpu = gpu_events_of(facts->trace);
    facts->nccl = mem_zalloc(facts->gpu->count + 1, sizeof *facts->nccl);
    FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
        size_t row = 0;
        while (row < facts->gpu->count &&
               (facts->gpu->at[row].file != device->file || facts->gpu->at[row].key.device != device->id))
            row++;
        struct nccl_sums *sums = &facts->nccl[row];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (gpu->work[i] != GPU_NCCL)
                continue;
            sums->count++;
            sums->sum_ns = sum_plus(sums->sum_ns, trace_dur_ns(facts->trace, gpu->event[i]));
        }
    }
}

struct check_facts *check_facts_open(const struct trace *trace)
{
    struct check_facts *facts = arena_open(sizeof *facts);
    ARENA_OWNS(arena_of(facts), &facts->names, &facts->sums, &facts->row_name, &facts->nccl);
    facts->trace = trace;
    facts->summed = NAME_NONE;
    facts->top =
        arena_hold(arena_of(facts),
                   top_analyze(trace, &(struct top_options){ .by = TOP_OPERATOR |
                                                                   (trace->file_count > 1 ? TOP_RANK : 0) }));
    names_fill(facts);
    facts->row_name = mem_alloc((facts->top->count + 1) * sizeof *facts->row_name);
    for (size_t i = 0; i < facts->top->count; i++) {
        const struct check_name *name =
            check_name_find(facts, facts->top->at[i].name.at, facts->top->at[i].name.len);
        facts->row_name[i] = name ? name->id : NAME_NONE; /* none: no answer could write it */
    }
    struct tpa_error ignored = { 0 }; /* without options nothing is refused */
    facts->all = arena_hold(arena_of(facts), selection_open(trace, &(struct selection_query){ 0 }, &ignored));
    facts->gpu = arena_hold(arena_of(facts), gpu_analyze(trace, facts->all, BY(DEVICE)));
    nccl_fill(facts);
    facts->steps =
        arena_hold(arena_of(facts), steps_analyze(trace, facts->all, &(struct steps_options){ 0 }, &ignored));
    facts->memory = arena_hold(arena_of(facts),
                               memory_analyze(trace, facts->all, &(struct memory_options){ .brief = true }));
    return facts;
}

const struct check_facts *check_facts_kept(const struct trace *trace);
DERIVED(check_facts, check_facts_kept, check_facts_open);

struct check_facts *check_facts_of(const struct trace *trace)
{
    return (struct check_facts *)(uintptr_t)check_facts_kept(trace); /* it keeps the sums of names */
}

const struct top *check_facts_top(const struct check_facts *facts)
{
    return facts->top;
}

name_id check_row_name(const struct check_facts *facts, size_t i)
{
    return facts->row_name[i];
}

bool check_has_rank(const struct check_facts *facts, int64_t rank)
{
    return ANY(file, facts->trace->file_count, selection_rank(facts->trace, file) == rank);
}

bool check_has_device(const struct check_facts *facts, int64_t device)
{
    return ANY(i, facts->gpu->count, facts->gpu->at[i].key.device == device);
}

bool check_has_several_ranks(const struct check_facts *facts)
{
    return facts->trace->file_count > 1;
}

/* ---- answers ---- */

/* An answer while it is collected. */
struct answering {
    struct check_facts *facts;
    const struct check_query *query;
    struct check_readings *readings;
    enum check_strength strength; /* of the next readings */
    uint32_t file;                /* that they are of */
    bool on_device;
};

static bool is_requested(const struct answering *a, uint32_t file)
{
    return a->query->rank == TABLE_INT_MISSING || selection_rank(a->facts->trace, file) == a->query->rank;
}

static void add_reading(struct answering *a, const char *quantity, enum check_command command,
                        long double value, long double slack)
{
    *VEC_PUSH(a->readings) = (struct check_reading){
        .quantity = quantity,
        .value = value,
        .slack = slack,
        .rank =
            check_has_several_ranks(a->facts) ? selection_rank(a->facts->trace, a->file) : TABLE_INT_MISSING,
        .strength = a->strength,
        .on_device = a->on_device,
        .command = command,
    };
}

static void add_value(struct answering *a, const char *quantity, enum check_command command, int64_t value)
{
    if (value != TABLE_INT_MISSING)
        add_reading(a, quantity, command, (long double)value, 0);
}

/* A mean: commands round it to nanoseconds, and texts round that. */
static void add_mean(struct answering *a, const char *quantity, enum check_command command, int64_t sum,
                     int64_t count)
{
    if (count > 0)
        add_reading(a, quantity, command, (long double)sum / (long double)count, 0.5L);
}

static void add_share(struct answering *a, const char *quantity, enum check_command command, int64_t part,
                      int64_t whole)
{
    if (whole > 0)
        add_reading(a, quantity, command, (long double)part / (long double)whole, 0);
}

static struct name_sums *sums_for(struct check_facts *facts, uint32_t file, bool on_device)
{
    for (size_t i = 0; i < facts->sums.count; i++)
        if (facts->sums.at[i].file == file && facts->sums.at[i].on_device == on_device)
            return &facts->sums.at[i];
    struct name_sums *sums = VEC_PUSH(&facts->sums);
    *sums = (struct name_sums){ .file = file, .on_device = on_device, .min_ns = INT64_MAX };
    return sums;
}

/* Fill facts->sums with the durations of the name ID. */
static void sum_name(struct check_facts *facts, name_id id)
{
    const struct trace *trace = facts->trace;
    if (facts->summed == id)
        return;
    facts->summed = id;
    facts->sums.count = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->name[e] != id)
            continue;
        struct name_sums *sums = sums_for(facts, trace->tracks[trace->track[e]].file,
                                          event_on_device((enum event_kind)trace->kind[e]));
        int64_t ns = trace_dur_ns(trace, e);
        sums->of_kernels |= trace->kind[e] == EVENT_KERNEL;
        sums->count++;
        sums->sum_ns = sum_plus(sums->sum_ns, ns);
        sums->min_ns = ns < sums->min_ns ? ns : sums->min_ns;
        sums->max_ns = ns > sums->max_ns ? ns : sums->max_ns;
    }
}

/* Which statistics of a side of a name are requested? */
struct requested {
    bool self, total, sum, mean, max, min, count;
};

static struct requested requested_of(const struct check_query *query)
{
    unsigned s = query->statistics;
    bool any = s == 0, self = s & CHECK_SELF;
    bool sums =
        any || (!self && s & (CHECK_TOTAL | CHECK_SUM) && !(s & (CHECK_MEAN | CHECK_MAX | CHECK_MIN)));
    return (struct requested){
        .self = any || (self && !(s & (CHECK_MEAN | CHECK_MAX | CHECK_MIN))),
        .total = sums,
        .sum = any || (sums && (query->side == CHECK_ANY_SIDE || query->side_is_vague || s & CHECK_SUM)),
        .mean = any || (!self && s & CHECK_MEAN),
        .max = any || (!self && s & CHECK_MAX),
        .min = any || (!self && s & CHECK_MIN),
        .count = query->dimension == CHECK_COUNT,
    };
}

/* May times of a SIDE be meant? And sets the strength. */
static bool side_is_requested(struct answering *a, enum check_side side)
{
    const struct check_query *query = a->query;
    a->strength = CHECK_STRICT;
    if (query->side == CHECK_ANY_SIDE || query->side == side)
        return true;
    a->strength = CHECK_DOES_NOT;
    return query->side_is_vague;
}

static void answer_top_row(struct answering *a, const struct top_row *row, const struct requested *requested)
{
    a->file = row->file;
    a->on_device = row->on_device;
    if (requested->count) {
        add_value(a, "count", CHECK_BY_TOP, row->count);
        return;
    }
    if (!row->on_device && side_is_requested(a, CHECK_HOST)) {
        if (requested->self)
            add_value(a, "self_cpu_time_total_ns", CHECK_BY_TOP, row->self_cpu_ns);
        if (requested->total)
            add_value(a, "cpu_time_total_ns", CHECK_BY_TOP, row->cpu_ns);
        if (requested->mean)
            add_mean(a, "cpu_time_ns", CHECK_BY_TOP, row->cpu_ns, row->count);
    }
    if (side_is_requested(a, CHECK_DEVICE) && a->facts->top->has_device_time) {
        if (requested->self)
            add_value(a, "self_device_time_total_ns", CHECK_BY_TOP, row->self_device_ns);
        if (requested->total)
            add_value(a, "device_time_total_ns", CHECK_BY_TOP, row->device_ns);
        if (requested->mean)
            add_mean(a, "device_time_ns", CHECK_BY_TOP, row->device_ns, row->count);
    }
    if (!requested->mean)
        return;
    /* means of own times, which no command prints */
    for (int device = 0; device < 2; device++) {
        if ((device ? !a->facts->top->has_device_time : row->on_device) ||
            !side_is_requested(a, device ? CHECK_DEVICE : CHECK_HOST))
            continue;
        a->strength = CHECK_DOES_NOT;
        add_mean(a, device ? "self_device_time_total_ns" : "self_cpu_time_total_ns", CHECK_BY_TOP,
                 device ? row->self_device_ns : row->self_cpu_ns, row->count);
    }
}

static void answer_sums(struct answering *a, const struct name_sums *sums, const struct requested *requested)
{
    a->file = sums->file;
    a->on_device = sums->on_device;
    enum check_command prints = sums->of_kernels ? CHECK_BY_KERNELS : CHECK_BY_SQL;
    a->strength = CHECK_STRICT;
    if (requested->count) {
        add_value(a, "count", prints, sums->count);
        return;
    }
    if (!side_is_requested(a, sums->on_device ? CHECK_DEVICE : CHECK_HOST))
        return;
    if (requested->sum)
        add_value(a, "total_ns", prints, sums->sum_ns);
    if (requested->mean)
        add_mean(a, "average_ns", prints, sums->sum_ns, sums->count);
    if (requested->max)
        add_value(a, "max_ns", prints, sums->max_ns);
    if (requested->min)
        add_value(a, "min_ns", prints, sums->min_ns);
}

/* The share of a name in the time of all kernels, of all self times. */
static void answer_name_share(struct answering *a)
{
    const struct check_facts *facts = a->facts;
    a->strength = CHECK_MAY_FIT;
    for (size_t i = 0; i < facts->top->count; i++) {
        const struct top_row *row = &facts->top->at[i];
        if (facts->row_name[i] != a->query->name->id || !is_requested(a, row->file) ||
            check_has_several_ranks(facts))
            continue;
        if (a->query->side != CHECK_HOST) {
            if (row->on_device && facts->gpu->count == 1)
                add_share(a, "share", CHECK_BY_KERNELS, row->self_device_ns, facts->gpu->at[0].kernel_sum_ns);
            add_share(a, "self_device_share", CHECK_BY_TOP, row->self_device_ns, facts->top->self_device_ns);
        }
        if (a->query->side != CHECK_DEVICE)
            add_share(a, "self_cpu_share", CHECK_BY_TOP, row->self_cpu_ns, facts->top->self_cpu_ns);
    }
}

static void answer_name(struct answering *a)
{
    struct check_facts *facts = a->facts;
    const struct check_query *query = a->query;
    if (query->dimension == CHECK_SHARE)
        answer_name_share(a);
    if (query->dimension != CHECK_TIME && query->dimension != CHECK_COUNT)
        return;
    struct requested requested = requested_of(query);
    a->strength = CHECK_STRICT;
    sum_name(facts, query->name->id);
    /* What is printed first is shown as the right figure: sums of the events of a kernel or call, rows of an operator. */
    for (size_t i = 0; i < facts->top->count; i++)
        if (facts->row_name[i] == query->name->id && is_requested(a, facts->top->at[i].file))
            answer_top_row(a, &facts->top->at[i], &requested);
    for (size_t i = 0; i < facts->sums.count; i++)
        if (is_requested(a, facts->sums.at[i].file))
            answer_sums(a, &facts->sums.at[i], &requested);
}

static void answer_gpu_row(struct answering *a, const struct gpu_row *row, const struct nccl_sums *nccl)
{
    const struct check_query *query = a->query;
    bool share = query->dimension == CHECK_SHARE, time = query->dimension == CHECK_TIME;
    switch (query->subject) {
    case CHECK_GPU:
        if (query->dimension == CHECK_COUNT && query->state == CHECK_KERNELS)
            add_value(a, "kernels", CHECK_BY_GPU, row->kernels);
        if (query->state == CHECK_IDLE && time)
            add_value(a, "idle_ns", CHECK_BY_GPU, row->idle_ns);
        if (query->state == CHECK_IDLE && share) {
            add_share(a, "idle_ns", CHECK_BY_GPU, row->idle_ns, row->span_ns);
            add_share(a, "kernel_union_ns", CHECK_BY_GPU, row->span_ns - row->kernel_ns, row->span_ns);
            a->strength = CHECK_MAY_FIT; /* of a step, as tpa summary has it */
            const struct account_rank *rank =
                account_rank_of(account_of(a->facts->trace), selection_rank(a->facts->trace, row->file));
            if (rank && rank->device_count)
                add_reading(a, "idle_share", CHECK_BY_STEPS, account_idle_share(rank), 0);
        }
        if (query->state == CHECK_BUSY && time)
            add_value(a, "busy_ns", CHECK_BY_GPU, row->busy_ns);
        if (query->state == CHECK_BUSY && share) {
            add_share(a, "busy_share", CHECK_BY_GPU, row->busy_ns, row->span_ns);
            add_share(a, "kernel_union_ns", CHECK_BY_GPU, row->kernel_ns, row->span_ns);
        }
        if (query->state == CHECK_SPAN && time)
            add_value(a, "span_ns", CHECK_BY_GPU, row->span_ns);
        if (query->state == CHECK_GAP && time)
            add_value(a, "longest_gap_ns", CHECK_BY_GPU, row->longest_gap_ns);
        /* Idle may be meant of kernels alone: no verdict on such a time. */
        a->strength = CHECK_DOES_NOT;
        if (query->state == CHECK_IDLE && time)
            add_value(a, "kernel_union_ns", CHECK_BY_GPU, row->span_ns - row->kernel_ns);
        if (query->state == CHECK_BUSY && time) {
            add_value(a, "kernel_union_ns", CHECK_BY_GPU, row->kernel_ns);
            add_value(a, "kernel_sum_ns", CHECK_BY_GPU, row->kernel_sum_ns);
        }
        break;
    case CHECK_NCCL:
        if (query->dimension == CHECK_COUNT)
            add_value(a, "nccl_kernels", CHECK_BY_GPU, row->nccl_kernels);
        if (time)
            add_value(a, "nccl_union_ns", CHECK_BY_GPU, row->nccl_ns);
        a->strength = query->statistics & CHECK_SUM ? CHECK_STRICT : CHECK_DOES_NOT;
        if (time)
            add_value(a, "nccl_sum_ns", CHECK_BY_SQL, nccl->sum_ns);
        a->strength = CHECK_MAY_FIT;
        if (share)
            add_share(a, "nccl_union_ns", CHECK_BY_GPU, row->nccl_ns, row->span_ns);
        break;
    case CHECK_COMMUNICATION:
        a->strength = CHECK_MAY_FIT;
        if (time) {
            add_value(a, "communication_ns", CHECK_BY_GPU, row->communication_ns);
            add_value(a, "nccl_union_ns", CHECK_BY_GPU, row->nccl_ns);
        }
        break;
    case CHECK_EXPOSED_COMM:
        if (time) {
            add_value(a, "exposed_nccl_ns", CHECK_BY_GPU, row->exposed_nccl_ns);
            add_value(a, "exposed_communication_ns", CHECK_BY_GPU, row->exposed_communication_ns);
        }
        a->strength = CHECK_MAY_FIT;
        if (share)
            add_share(a, "exposed_communication_ns", CHECK_BY_GPU, row->exposed_communication_ns,
                      row->span_ns);
        break;
    case CHECK_EXPOSED_COPIES:
        if (time)
            add_value(a, "exposed_memcpy_ns", CHECK_BY_GPU, row->exposed_copies_ns);
        a->strength = CHECK_MAY_FIT;
        if (share)
            add_share(a, "exposed_memcpy_ns", CHECK_BY_GPU, row->exposed_copies_ns, row->span_ns);
        break;
    default: break;
    }
}

static bool row_is_requested(const struct answering *a, const struct gpu_row *row)
{
    return is_requested(a, row->file) &&
           (a->query->device == TABLE_INT_MISSING || row->key.device == a->query->device);
}

/* The copies of the direction and memory requested for on the device of ROW, all kinds of memory added up. */
static void answer_copies(struct answering *a, const struct gpu_row *row)
{
    const struct check_query *query = a->query;
    struct gpu_copies all = { 0 };
    FOR_EACH(copies, &a->facts->gpu->copies) {
        struct copy_kind kind = copy_kind_of(copies->name.at);
        if (copies->key.device != row->key.device || copies->key.rank != row->key.rank ||
            copies->key.cycle != row->key.cycle ||
            (query->copies.direction != COPY_UNKNOWN && kind.direction != query->copies.direction) ||
            (query->copies.memory != MEMORY_NONE && kind.memory != query->copies.memory))
            continue;
        all.count += copies->count;
        all.bytes = sum_plus(all.bytes, copies->bytes);
        all.sum_ns = sum_plus(all.sum_ns, copies->sum_ns);
        all.union_ns = sum_plus(all.union_ns, copies->union_ns);
        all.exposed_ns = sum_plus(all.exposed_ns, copies->exposed_ns);
    }
    unsigned s = query->statistics;
    if (query->dimension == CHECK_COUNT)
        add_value(a, "count", CHECK_BY_GPU_COPIES, all.count);
    if (query->dimension == CHECK_BYTES && !(s & ~(unsigned)(CHECK_SUM | CHECK_TOTAL)))
        add_value(a, "bytes", CHECK_BY_GPU_COPIES, all.bytes);
    if (query->dimension != CHECK_TIME)
        return;
    if (s & CHECK_MEAN) {
        add_mean(a, "sum_ns", CHECK_BY_GPU_COPIES, all.sum_ns, all.count);
        return;
    }
    if (s & ~(unsigned)(CHECK_SUM | CHECK_TOTAL))
        return;
    add_value(a, "sum_ns", CHECK_BY_GPU_COPIES, all.sum_ns);
    a->strength = s ? CHECK_DOES_NOT : CHECK_STRICT;
    add_value(a, "union_ns", CHECK_BY_GPU_COPIES, all.union_ns);
}

static void answer_gpu(struct answering *a)
{
    for (size_t i = 0; i < a->facts->gpu->count; i++) {
        const struct gpu_row *row = &a->facts->gpu->at[i];
        if (!row_is_requested(a, row))
            continue;
        a->file = row->file;
        a->strength = CHECK_STRICT;
        if (a->query->subject == CHECK_COPIES)
            answer_copies(a, row);
        else
            answer_gpu_row(a, row, &a->facts->nccl[i]);
    }
}

static void answer_memory(struct answering *a)
{
    const struct check_query *query = a->query;
    bool has_device = false;
    for (size_t i = 0; i < a->facts->memory->peaks.count; i++)
        has_device |= !a->facts->memory->peaks.at[i].place.is_host;
    FOR_EACH(peak, &a->facts->memory->peaks) {
        if ((query->rank != TABLE_INT_MISSING && peak->place.rank != query->rank) ||
            (query->device != TABLE_INT_MISSING && peak->place.number != query->device))
            continue;
        bool wanted = query->side == CHECK_ANY_SIDE || (query->side == CHECK_HOST) == peak->place.is_host;
        if (query->side == CHECK_ANY_SIDE && has_device && peak->place.is_host)
            wanted = false;
        a->strength = wanted ? CHECK_STRICT : CHECK_DOES_NOT;
        bool vague = query->side == CHECK_ANY_SIDE;
        if (wanted || vague) {
            if (query->reserved)
                add_value(a, "peak_reserved", CHECK_BY_MEMORY, peak->reserved_bytes);
            else
                add_value(a, "peak_allocated", CHECK_BY_MEMORY, peak->bytes);
        }
        if (wanted && !query->reserved) { /* "peak memory" may mean it */
            a->strength = CHECK_DOES_NOT;
            add_value(a, "peak_reserved", CHECK_BY_MEMORY, peak->reserved_bytes);
        }
    }
}

/* The number at the end of a step's NAME; -1: none. */
static int64_t number_of_step(const struct text *name)
{
    size_t at = name->len;
    while (at > 0 && !isdigit((unsigned char)name->at[at - 1]))
        at--;
    while (at > 0 && isdigit((unsigned char)name->at[at - 1]))
        at--;
    const char *digits = name->at + at;
    return quantity_read_number(&digits);
}

bool check_number_at(const struct check_facts *facts, bool ranks, size_t i, int64_t *number)
{
    size_t count = ranks ? facts->trace->file_count : facts->steps ? facts->steps->count : 0;
    if (i < count)
        *number =
            ranks ? selection_rank(facts->trace, (uint32_t)i) : number_of_step(&facts->steps->at[i].name);
    return i < count;
}

/* Statistics of the steps of a file: as they ran, and of their ranges on the host. */
static void answer_steps_of(struct answering *a, uint32_t file)
{
    const struct steps *steps = a->facts->steps;
    unsigned s = a->query->statistics;
    for (int of = 0; of < 4; of++) {
        bool host = of % 2, complete = of >= 2; /* those recorded to their end alone may be meant, too */
        a->strength = complete ? CHECK_MAY_FIT : CHECK_STRICT;
        int64_t count = 0, sum_ns = 0, max_ns = 0, min_ns = INT64_MAX;
        SCOPED int64_t *ns = mem_alloc((steps->each.count + 1) * sizeof *ns);
        FOR_EACH(row, &steps->each) {
            int64_t took_ns = host ? row->host_duration_ns : row->duration_ns;
            if (row->file != file || took_ns == TABLE_INT_MISSING || (complete && !row->complete))
                continue;
            ns[count++] = took_ns;
            sum_ns = sum_plus(sum_ns, took_ns);
            max_ns = took_ns > max_ns ? took_ns : max_ns;
            min_ns = took_ns < min_ns ? took_ns : min_ns;
        }
        if (count > 0 && (s == 0 || s & CHECK_MEAN))
            add_mean(a, host ? "host_average_ns" : "average_ns", CHECK_BY_STEPS, sum_ns, count);
        if (count > 0 && (s == 0 || s & CHECK_MEDIAN)) {
            SORT_NUMBERS(ns, (size_t)count);
            add_mean(a, host ? "host_median_ns" : "median_ns", CHECK_BY_STEPS,
                     ns[(count - 1) / 2] + ns[count / 2], 2);
        }
        if (count > 0 && s & CHECK_MAX)
            add_value(a, host ? "host_max_ns" : "max_ns", CHECK_BY_STEPS, max_ns);
        if (count > 0 && s & CHECK_MIN)
            add_value(a, host ? "host_min_ns" : "min_ns", CHECK_BY_STEPS, min_ns);
        if (count > 0 && s & (CHECK_SUM | CHECK_TOTAL) && !(s & (CHECK_MEAN | CHECK_MAX | CHECK_MIN)))
            add_value(a, host ? "host_total_ns" : "total_ns", CHECK_BY_STEPS, sum_ns);
    }
}

/* The number of steps of FILE that IS counts, and *ALL of them. */
static int64_t count_steps(const step_rows *rows, uint32_t file)
{
    return SUM(int64_t, i, rows->count, rows->at[i].file == file);
}

/* The time of steps in the account of all commands, from begin to begin: of one by its number, else the longest and shortest. */
static void answer_accounts(struct answering *a)
{
    const struct account *account = account_of(a->facts->trace);
    const struct check_query *query = a->query;
    int64_t max_ns = 0, min_ns = INT64_MAX;
    a->strength = CHECK_MAY_FIT;
    FOR_EACH(step, &account->steps) {
        if (!is_requested(a, step->file))
            continue;
        a->file = step->file;
        int64_t ns = account_step_time(account, step);
        max_ns = ns > max_ns ? ns : max_ns;
        min_ns = ns > 0 && ns < min_ns ? ns : min_ns;
        if (query->subject == CHECK_STEP && query->dimension == CHECK_TIME && step->number == query->step)
            add_value(a, "step_ns", CHECK_BY_STEPS, ns);
    }
    if (query->subject == CHECK_STEPS && query->statistics & CHECK_MAX)
        add_value(a, "max_step_ns", CHECK_BY_STEPS, max_ns);
    if (query->subject == CHECK_STEPS && query->statistics & CHECK_MIN && min_ns < INT64_MAX)
        add_value(a, "min_step_ns", CHECK_BY_STEPS, min_ns);
}

static void answer_steps(struct answering *a)
{
    const struct steps *steps = a->facts->steps;
    const struct check_query *query = a->query;
    if (!steps || steps->each.count == 0)
        return;
    a->strength = CHECK_STRICT;
    if (query->subject == CHECK_STEP) {
        FOR_EACH(row, steps) {
            if (!is_requested(a, row->file) || number_of_step(&row->name) != query->step)
                continue;
            a->file = row->file;
            add_value(a, "duration_ns", CHECK_BY_STEPS, row->duration_ns);
            add_value(a, "host_duration_ns", CHECK_BY_STEPS, row->host_duration_ns);
        }
        answer_accounts(a);
        return;
    }
    if (query->dimension == CHECK_TIME)
        answer_accounts(a);
    a->strength = CHECK_STRICT;
    for (uint32_t file = 0; file < a->facts->trace->file_count; file++) {
        a->file = file;
        int64_t whole = count_steps(&steps->each, file);
        if (!is_requested(a, file) || whole == 0)
            continue;
        if (query->dimension == CHECK_TIME)
            answer_steps_of(a, file);
        const struct account_rank *rank =
            account_rank_of(account_of(a->facts->trace), selection_rank(a->facts->trace, file));
        if (query->dimension == CHECK_TIME && rank &&
            rank->has_steps) { /* a step, as defined for all commands */
            if (query->statistics == 0 || query->statistics & CHECK_MEAN)
                add_value(a, "step_ns", CHECK_BY_STEPS, rank->step_ns);
            if (query->statistics == 0 || query->statistics & CHECK_MEDIAN)
                add_value(a, "median_step_ns", CHECK_BY_STEPS, rank->median_ns);
        }

        if (query->dimension == CHECK_COUNT) {
            int64_t complete = SUM(int64_t, i, steps->each.count,
                                   steps->each.at[i].file == file && steps->each.at[i].complete);
            a->strength = CHECK_MAY_FIT;
            add_value(a, "complete", CHECK_BY_STEPS, complete);
            a->strength = CHECK_STRICT;
            add_value(a, "steps", CHECK_BY_STEPS, whole);
            step_rows all = { .at = steps->at, .count = steps->count };
            add_value(a, "steps", CHECK_BY_STEPS, count_steps(&all, file));
        }
    }
}

static bool is_additive(const struct check_query *query)
{
    return query->dimension != CHECK_SHARE && query->state != CHECK_GAP &&
           !(query->statistics & (CHECK_MEAN | CHECK_MAX | CHECK_MIN | CHECK_MEDIAN)) &&
           query->subject != CHECK_STEP &&
           (query->subject != CHECK_STEPS || query->dimension == CHECK_COUNT || query->statistics) &&
           query->subject != CHECK_MEMORY;
}

/* What several ranks or devices have of a quantity, added up, is meant if that is said; else it is not judged. */
static void answer_sums_of_ranks(struct answering *a)
{
    struct check_readings *readings = a->readings;
    size_t count = readings->count;
    for (size_t i = 0; i < count; i++) {
        struct check_reading sum = readings->at[i];
        size_t added = 1;
        bool is_first = true;
        for (size_t j = 0; j < count; j++) {
            const struct check_reading *other = &readings->at[j];
            if (j == i || strcmp(other->quantity, sum.quantity) != 0 || other->command != sum.command ||
                other->on_device != sum.on_device)
                continue;
            is_first &= j > i;
            sum.value += other->value;
            added++;
        }
        if (added == 1 || !is_first)
            continue;
        sum.rank = TABLE_INT_MISSING;
        sum.strength = a->query->all ? CHECK_STRICT : CHECK_DOES_NOT;
        *VEC_PUSH(readings) = sum;
    }
    if (a->query->all)
        for (size_t i = 0; i < count && readings->count > count; i++)
            readings->at[i].strength = CHECK_DOES_NOT;
}

void check_facts_answer(struct check_facts *facts, const struct check_query *query,
                        struct check_readings *readings)
{
    struct answering a = { .facts = facts, .query = query, .readings = readings };
    switch (query->subject) {
    case CHECK_NAME: answer_name(&a); break;
    case CHECK_MEMORY:
        if (query->dimension == CHECK_BYTES)
            answer_memory(&a);
        break;
    case CHECK_STEP:
    case CHECK_STEPS:
        if (query->dimension == CHECK_TIME || query->dimension == CHECK_COUNT)
            answer_steps(&a);
        break;
    case CHECK_NOTHING:
    case CHECK_TRACE: break;
    default: answer_gpu(&a);
    }
    if (readings->count > 1 && is_additive(query))
        answer_sums_of_ranks(&a);
}

/* ---- commands ---- */

/* TEXT as a word of a shell. */
static void append_word(struct buffer *out, const char *text, size_t len)
{
    buffer_putc(out, ' ');
    shell_word_append(out, text, len);
}

/* "^aten::mm$", for --filter. */
static void append_filter(struct buffer *out, const char *name)
{
    SCOPED struct buffer pattern = { 0 };
    buffer_putc(&pattern, '^');
    for (; *name; name++) {
        if (strchr("\\^$.[]|()?*+{}", *name))
            buffer_putc(&pattern, '\\');
        buffer_putc(&pattern, *name);
    }
    buffer_putc(&pattern, '$');
    buffer_puts(out, " --filter");
    append_word(out, pattern.at, pattern.count);
}

static void append_sql(struct buffer *out, const struct check_query *query)
{
    SCOPED struct buffer sql = { 0 };
    buffer_puts(&sql, "select rank, count(*), sum(dur_ns), avg(dur_ns), min(dur_ns), max(dur_ns) from ");
    if (query->subject == CHECK_NAME) {
        buffer_puts(&sql, "events where name = '");
        for (const char *c = query->name->text; *c; c++) {
            if (*c == '\'')
                buffer_putc(&sql, '\'');
            buffer_putc(&sql, *c);
        }
        buffer_putc(&sql, '\'');
    } else {
        buffer_puts(&sql, "kernels where name like '%nccl%'");
    }
    buffer_puts(&sql, " group by rank");
    buffer_puts(out, "tpa sql -c");
    append_word(out, sql.at, sql.count);
}

void check_append_command(const struct check_facts *facts, const struct check_query *query,
                          const struct check_reading *reading, struct buffer *out)
{
    bool by_rank = check_has_several_ranks(facts) && reading->rank != TABLE_INT_MISSING;
    switch (reading->command) {
    case CHECK_BY_TOP:
        buffer_puts(out, by_rank ? "tpa top --by op,rank" : "tpa top");
        append_filter(out, query->name->text);
        break;
    case CHECK_BY_KERNELS:
        buffer_puts(out, by_rank ? "tpa kernels --by rank" : "tpa kernels");
        append_filter(out, query->name->text);
        break;
    case CHECK_BY_SQL: append_sql(out, query); break;
    case CHECK_BY_GPU: buffer_puts(out, "tpa gpu --columns all"); break;
    case CHECK_BY_GPU_COPIES: buffer_puts(out, "tpa gpu --table copies --columns all"); break;
    case CHECK_BY_MEMORY: buffer_puts(out, "tpa memory"); break;
    case CHECK_BY_STEPS: buffer_puts(out, "tpa steps --columns all"); break;
    }
}
