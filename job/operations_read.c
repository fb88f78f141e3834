/*
 * operations_read.c - operations from the facts of all ranks: see operations.h.
 *
 * Rows know nothing of other ranks. Here the stages of ranks, the clocks of hosts and the steps of the job are.
 */
#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include "fleet/rounds.h"
#include "job/operations.h"

struct joining_ranks {
    struct operations *all;
    const struct facts *facts;
    const struct fleet_job *job;
    struct rank_clock *clocks; /* by member; NULL: all have one clock */
    uint32_t *rank_of;         /* by member */
    uint32_t *types;   /* by text of the facts: the type with this name; OPERATION_NONE: not asked yet */
    bool mixed_clocks; /* some recordings have the clock of their host, others one of their own */
    bool steps_marked; /* on some rank: what no step is known of belongs to none */
    int64_t origin_ns; /* the start of the first recording */
};

static const struct facts_operation *row_at(const struct joining_ranks *joining, size_t index)
{
    return (const struct facts_operation *)facts_rows(joining->facts, FACTS_OPERATIONS) + index;
}

/* ---- ranks ---- */

static const char *text_of(const struct joining_ranks *joining, name_id id)
{
    return id == NAME_NONE ? NULL : names_text(joining->facts->texts, id);
}

static void add_rank(struct joining_ranks *joining, const struct fleet_member *member)
{
    struct operations *all = joining->all;
    const struct facts_recording *recording = member->recording;
    const int64_t at[JOB_DIMENSIONS] = { [JOB_DP] = recording->dp,
                                         [JOB_PP] = recording->pp,
                                         [JOB_TP] = recording->tp,
                                         [JOB_CP] = recording->cp,
                                         [JOB_EP] = recording->ep };
    if (!all->ranks.count || all->ranks.at[all->ranks.count - 1].number != member->rank) {
        struct job_rank *rank = VEC_PUSH(&all->ranks);
        *rank = (struct job_rank){ .number = member->rank };
        for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
            rank->at[d] = JOB_UNKNOWN;
    }
    struct job_rank *rank = &all->ranks.at[all->ranks.count - 1];
    for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
        if (rank->at[d] == JOB_UNKNOWN && at[d] != FACTS_MISSING)
            rank->at[d] = at[d];
}

/* What is known of the ranks together; false: the facts of one have no operations. */
static bool find_ranks(struct joining_ranks *joining, struct tpa_error *err)
{
    struct operations *all = joining->all;
    size_t members = joining->job->members.count, timelines = 0;
    all->form = JOB_OF_HOSTS;
    joining->rank_of = mem_alloc(mem_times(members + 1, sizeof *joining->rank_of));
    joining->origin_ns = INT64_MAX;
    for (size_t m = 0; m < members; m++) {
        const struct fleet_member *member = &joining->job->members.at[m];
        const char *form = text_of(joining, member->recording->form);
        if (!form) {
            tpa_fail(err, TPA_NOWHERE, "the facts of rank %lld have no operations of microbatches",
                     (long long)member->rank);
            return tpa_hint(err, "they are of an older version: make them again with tpa facts");
        }
        if (strcmp(form, job_form_name(JOB_OF_DEVICES)) == 0)
            all->form = JOB_OF_DEVICES;
        timelines += strcmp(form, job_form_name(JOB_TIMELINE)) == 0;
        joining->mixed_clocks |=
            member->recording->has_clock != joining->job->members.at[0].recording->has_clock;
        if (member->recording->start_ns < joining->origin_ns)
            joining->origin_ns = member->recording->start_ns;
        add_rank(joining, member);
        joining->rank_of[m] = (uint32_t)all->ranks.count - 1;
    }
    if (members && timelines == members)
        all->form = JOB_TIMELINE;
    all->world_size = joining->job->world_size == FACTS_MISSING ? 0 : joining->job->world_size;
    return true;
}

/* ---- clocks ---- */

/* Have all recordings one clock, because they are of one host or were one file? */
static bool have_one_clock(const struct joining_ranks *joining)
{
    for (size_t m = 1; m < joining->job->members.count; m++) {
        const struct facts_recording *first = joining->job->members.at[0].recording,
                                     *one = joining->job->members.at[m].recording;
        bool one_file = first->input != FACTS_MISSING && first->input == one->input;
        if (!one_file && one->has_clock == 1 && (one->host == NAME_NONE || first->host != one->host))
            return false;
    }
    return true;
}

/* MOMENT of a member's recording on the clock of all; differences of any two fit, and their sums. */
static int64_t job_moment(const struct joining_ranks *joining, size_t m, int64_t moment_ns)
{
    const int64_t most_ns = INT64_C(1) << 52;
    const struct facts_recording *recording = joining->job->members.at[m].recording;
    int64_t own_ns = sum_plus(recording->start_ns, moment_ns), since_ns;
    if (joining->clocks && recording->has_clock == 1)
        own_ns = rank_clock_moment(&joining->clocks[m], own_ns);
    if (joining->mixed_clocks && recording->has_clock != 1)
        since_ns = moment_ns;
    else if (__builtin_sub_overflow(own_ns, joining->origin_ns, &since_ns))
        since_ns = most_ns;
    return since_ns > most_ns ? most_ns : since_ns < -most_ns ? -most_ns : since_ns;
}

/* ---- steps ---- */

/* The number of the step of a row: without marked steps there is one, 0. JOB_UNKNOWN: it is in none. */
static int64_t step_of(const struct joining_ranks *joining, int64_t step)
{
    return step != FACTS_MISSING ? step : joining->steps_marked ? JOB_UNKNOWN : 0;
}

static bool is_operation(const struct joining_ranks *joining, size_t m, const struct facts_operation *row)
{
    const struct facts_recording *recording = joining->job->members.at[m].recording;
    return row->type != NAME_NONE && (!joining->all->marked || recording->marked == 1) &&
           strcmp(text_of(joining, recording->form), job_form_name(joining->all->form)) == 0;
}

static bool is_talk(const struct joining_ranks *joining, size_t m, const struct facts_operation *row)
{
    return row->dimension != NAME_NONE &&
           strcmp(text_of(joining, joining->job->members.at[m].recording->form),
                  job_form_name(joining->all->form)) == 0;
}

/* Rows of members, in order: for (FOR_ROWS(joining, m, i)) */
#define FOR_ROWS(joining, m, i)                                                                              \
    for (size_t m = 0; m < (joining)->job->members.count; m++)                                               \
        for (size_t i = (joining)->job->members.at[m].first[FACTS_OPERATIONS],                               \
                    i##_end = i + (joining)->job->members.at[m].count[FACTS_OPERATIONS];                     \
             i < i##_end; i++)

static bool has_pipeline(struct joining_ranks *joining)
{
    bool any = false;
    for (size_t m = 0; m < joining->job->members.count; m++)
        joining->all->marked |= joining->job->members.at[m].recording->marked == 1;
    FOR_ROWS(joining, m, i) {
        const struct facts_operation *row = row_at(joining, i);
        joining->steps_marked |= row->step != FACTS_MISSING || row->issued_step != FACTS_MISSING;
        any |= is_operation(joining, m, row);
    }
    return any;
}

static bool is_wanted(int64_t step, const struct ranges *steps)
{
    return step != JOB_UNKNOWN && ranges_hold(steps, step);
}

/* The steps with operations; of a job without a pipeline those with communication. */
static void list_steps(struct joining_ranks *joining, const struct ranges *steps, bool pipeline)
{
    struct operations *all = joining->all;
    int64_t last = JOB_UNKNOWN;
    FOR_ROWS(joining, m, i) {
        const struct facts_operation *row = row_at(joining, i);
        bool counts = pipeline ? is_operation(joining, m, row) : is_talk(joining, m, row);
        int64_t step = step_of(joining, pipeline ? row->step : row->issued_step);
        if (counts && step != last && is_wanted(step, steps))
            *VEC_PUSH(&all->steps) = step;
        last = counts ? step : last;
    }
    SORT(&all->steps, rows_ascending_i64);
    all->steps.count =
        rows_unique(all->steps.at, all->steps.count, sizeof *all->steps.at, rows_ascending_i64);
}

/* The index of the step with NUMBER; OPERATION_NONE: it is not among the steps. */
static uint32_t step_index(const struct operations *all, int64_t number)
{
    const int64_t *found =
        rows_find(all->steps.at, all->steps.count, sizeof *all->steps.at, rows_ascending_i64, &number);
    return found ? (uint32_t)(found - all->steps.at) : OPERATION_NONE;
}

/* ---- rows ---- */

static uint32_t type_of(struct joining_ranks *joining, name_id text)
{
    struct operations *all = joining->all;
    const char *name = text_of(joining, text);
    if (joining->types[text] == OPERATION_NONE)
        joining->types[text] = operation_type_find(all, name);
    if (joining->types[text] == OPERATION_NONE)
        joining->types[text] = OPERATION_OTHER + names_add(all->types, name, strlen(name));
    return joining->types[text];
}

/* Do those of a type begin together? */
static bool type_meets(const struct joining_ranks *joining, const struct facts_operation *row)
{
    static const char *const words[] = { "params-all-gather", "grads-reduce-scatter",
                                         "separate-grads-all-reduce", "embedding-grads-all-reduce",
                                         "optimizer-clip-main-grad" };
    if (joining->all->form != JOB_TIMELINE)
        return row->kind != NAME_NONE && row->serves == FACTS_MISSING;
    return ANY(i, sizeof words / sizeof *words, strcmp(words[i], text_of(joining, row->type)) == 0);
}

/* An operation before it has its place: the row it is of. */
struct placed {
    uint32_t step, rank;
    int64_t start_ns, end_ns;
    uint32_t row, member;
};

static const struct key by_place[] = { ASC(struct placed, step),     ASC(struct placed, rank),
                                       ASC(struct placed, start_ns), ASC(struct placed, end_ns),
                                       ASC(struct placed, row),      KEY_END };

struct placed_list {
    VEC_OF(struct placed);
};

static void list_operations(struct joining_ranks *joining, struct placed_list *list)
{
    FOR_ROWS(joining, m, i) {
        const struct facts_operation *row = row_at(joining, i);
        uint32_t step = is_operation(joining, m, row) ? step_index(joining->all, step_of(joining, row->step))
                                                      : OPERATION_NONE;
        if (step == OPERATION_NONE)
            continue;
        *VEC_PUSH(list) = (struct placed){ step,
                                           joining->rank_of[m],
                                           job_moment(joining, m, row->start_ns),
                                           job_moment(joining, m, row->start_ns + row->duration_ns),
                                           (uint32_t)i,
                                           (uint32_t)m };
    }
    SORT(list, by_place);
}

/* The row of MEMBER with NUMBER, among those before its row I and behind; SIZE_MAX: none. */
static size_t find_number(const struct joining_ranks *joining, uint32_t m, int64_t number)
{
    const struct fleet_member *member = &joining->job->members.at[m];
    size_t first = member->first[FACTS_OPERATIONS], i;
    SEARCH(i, member->count[FACTS_OPERATIONS], row_at(joining, first + i)->number < number);
    return i < member->count[FACTS_OPERATIONS] && row_at(joining, first + i)->number == number ? first + i
                                                                                               : SIZE_MAX;
}

static struct operation make_operation(struct joining_ranks *joining, const struct placed *placed)
{
    const struct facts_operation *row = row_at(joining, placed->row);
    int64_t stage = row->stage;
    if (stage == FACTS_MISSING && joining->all->form != JOB_TIMELINE)
        stage = joining->all->ranks.at[placed->rank].at[JOB_PP];
    return (struct operation){
        .type = type_of(joining, row->type),
        .rank = placed->rank,
        .step = placed->step,
        .chunk = row->chunk > 0 && row->chunk < UINT16_MAX ? (uint32_t)row->chunk : 0,
        .serves = OPERATION_NONE,
        .meets = type_meets(joining, row),
        .start_ns = placed->start_ns,
        .end_ns = placed->end_ns,
        .microbatch = row->microbatch,
        .stage = stage,
        .number = row->sequence == FACTS_MISSING ? 0 : row->sequence,
    };
}

/* What a message serves tells its stage and microbatch. */
static void join_message(struct operation *message, struct operations *all)
{
    if (message->serves == OPERATION_NONE)
        return;
    const struct operation *served = &all->at[message->serves];
    message->microbatch = served->microbatch;
    message->stage = served->stage;
    message->chunk = served->chunk;
}

static void add_operations(struct joining_ranks *joining)
{
    struct operations *all = joining->all;
    struct placed_list list = { 0 };
    size_t rows = joining->facts->tables[FACTS_OPERATIONS].count;
    list_operations(joining, &list);
    uint32_t *place_of = mem_alloc(mem_times(rows + 1, sizeof *place_of)); /* by row */
    for (size_t i = 0; i < rows; i++)
        place_of[i] = OPERATION_NONE;
    for (uint32_t i = 0; i < list.count; i++) {
        place_of[list.at[i].row] = i;
        *VEC_PUSH(all) = make_operation(joining, &list.at[i]);
    }
    for (uint32_t i = 0; i < list.count; i++) {
        int64_t serves = row_at(joining, list.at[i].row)->serves;
        size_t row = serves == FACTS_MISSING ? SIZE_MAX : find_number(joining, list.at[i].member, serves);
        if (operation_is_message(&all->at[i]) && row != SIZE_MAX && place_of[row] != OPERATION_NONE &&
            operation_computes(&all->at[place_of[row]]))
            all->at[i].serves = place_of[row];
    }
    free(place_of);
    VEC_FREE(&list);
    if (all->form == JOB_TIMELINE)
        timeline_find_served(all);
    for (size_t i = 0; i < all->count; i++)
        if (operation_is_message(&all->at[i]))
            join_message(&all->at[i], all);
}

/* ---- communication and garbage ---- */

static uint32_t dimension_of(const char *name)
{
    uint32_t dimension = 0;
    while (dimension < JOB_NO_DIMENSION && strcmp(job_dimension_name(dimension), name) != 0)
        dimension++;
    return dimension;
}

static enum collective_kind kind_of(const char *name)
{
    int kind = COLLECTIVE_KINDS;
    while (--kind > 0 && !(name && strcmp(collective_kind_name((enum collective_kind)kind), name) == 0))
        ;
    return (enum collective_kind)kind;
}

static void add_others(struct joining_ranks *joining)
{
    struct operations *all = joining->all;
    FOR_ROWS(joining, m, i) {
        const struct facts_operation *row = row_at(joining, i);
        bool talks = is_talk(joining, m, row),
             collects =
                 !talks && row->kind != NAME_NONE && strcmp(text_of(joining, row->kind), JOB_COLLECTION) == 0;
        uint32_t step =
            talks || collects ? step_index(all, step_of(joining, row->issued_step)) : OPERATION_NONE;
        if (step == OPERATION_NONE)
            continue;
        int64_t start_ns = job_moment(joining, m, row->start_ns),
                end_ns = job_moment(joining, m, row->start_ns + row->duration_ns);
        if (collects)
            *VEC_PUSH(&all->collections) = (struct collection){ joining->rank_of[m], step, start_ns, end_ns };
        else
            *VEC_PUSH(&all->talks) = (struct talk){ joining->rank_of[m],
                                                    step,
                                                    dimension_of(text_of(joining, row->dimension)),
                                                    kind_of(text_of(joining, row->kind)),
                                                    start_ns,
                                                    end_ns,
                                                    row->exposed_ns == FACTS_MISSING ? 0 : row->exposed_ns };
    }
}

void operations_trim(struct facts *facts)
{
    struct facts_rows *rows = &facts->tables[FACTS_COLLECTIVES];
    struct facts_collective *all = rows->at;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) /* clocks are known by those that all have to reach */
        if (collective_joins_all(kind_of(names_text(facts->texts, all[i].kind))))
            all[kept++] = all[i];
    rows->count = kept;
    facts->tables[FACTS_NAMES].count = facts->tables[FACTS_DEVICES].count = 0;
}

static bool join_ranks(struct joining_ranks *joining, const struct fleet_files *files,
                       const struct ranges *steps, struct tpa_error *err)
{
    struct operations *all = joining->all;
    bool pipeline = has_pipeline(joining);
    all->corrected = all->form != JOB_TIMELINE && !have_one_clock(joining);
    if (all->corrected)
        joining->clocks = rounds_find_clocks(joining->job, files, err);
    if (all->corrected && !joining->clocks)
        return false;
    coordinates_finish(all, pipeline);
    size_t texts = names_count(joining->facts->texts);
    joining->types = mem_alloc(mem_times(texts + 1, sizeof *joining->types));
    for (size_t i = 0; i < texts; i++)
        joining->types[i] = OPERATION_NONE;
    list_steps(joining, steps, pipeline);
    add_others(joining);
    add_operations(joining);
    free(joining->types);
    free(joining->clocks);
    return true;
}

struct operations *operations_open(struct facts *facts, const struct fleet_files *files,
                                   const struct ranges *steps, struct tpa_error *err)
{
    struct operations *all = arena_open(sizeof *all);
    ARENA_OWNS(arena_of(all), &all->at, &all->ranks, &all->steps, &all->talks, &all->collections);
    struct arena scratch = { 0 };
    struct fleet_job job;
    all->types = arena_hold(arena_of(all), names_open());
    operations_trim(facts);
    fleet_job_init(&job, facts, &scratch);
    struct joining_ranks joining = { .all = all, .facts = facts, .job = &job };
    all->left_out = (int64_t)job.others.count;
    for (size_t m = job.members.count; m-- > 0;)
        if (job.members.at[m].recording->cut == 1 &&
            (!all->incomplete || all->incomplete_rank != job.members.at[m].rank)) {
            all->incomplete++;
            all->incomplete_rank = job.members.at[m].rank;
        }
    bool good = find_ranks(&joining, err) && join_ranks(&joining, files, steps, err);
    free(joining.rank_of);
    arena_release(&scratch);
    struct facts_rows *rows = &facts->tables[FACTS_OPERATIONS];
    free(rows->at);
    *rows = (struct facts_rows){ 0 };
    if (good)
        return all;
    arena_free(all);
    return NULL;
}
