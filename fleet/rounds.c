/* rounds.c - see rounds.h. Each kind of file has one or several tables whose rows are the structs below; meetings and
 * their arrivals are in the same order. */
#include "fleet/rounds.h"

#include "base/rows.h"
#include "base/sum.h"
#include "figures/facts_file.h"

#define NUMBER(row, field)                                                                                   \
    {                                                                                                        \
#field, FACTS_INT64, offsetof(struct row, field), "see fleet/rounds.c", FACTS_ANY                    \
    }
#define WORDS(row, field)                                                                                    \
    {                                                                                                        \
#field, FACTS_TEXT, offsetof(struct row, field), "see fleet/rounds.c", FACTS_ANY                     \
    }
#define SCHEMA(key, row, columns)                                                                            \
    {                                                                                                        \
        key, sizeof(struct row), columns, sizeof(columns) / sizeof *(columns)                                \
    }

/* ---- the tables ---- */

enum { MEETS_ONLY = -1 };

struct end_row {
    int64_t recording, end_ns;
    int64_t
        /* 1: a meeting; 0: of the same as the row before; MEETS_ONLY: no meeting, but the member meets another rank */
        begins;
    int64_t shortest_ns, checked;
};

static const struct facts_column end_columns[] = {
    NUMBER(end_row, recording),   NUMBER(end_row, end_ns),  NUMBER(end_row, begins),
    NUMBER(end_row, shortest_ns), NUMBER(end_row, checked),
};

struct clock_row {
    int64_t recording;
    int64_t estimate; /* 0: from all ends; 1: without contradicting meetings */
    int64_t ahead_ns, applied_ns, drift, middle_ns, error_ns, anchors, sure;
    int64_t root; /* its recording */
};

static const struct facts_column clock_columns[] = {
    NUMBER(clock_row, recording),  NUMBER(clock_row, estimate), NUMBER(clock_row, ahead_ns),
    NUMBER(clock_row, applied_ns), NUMBER(clock_row, drift),    NUMBER(clock_row, middle_ns),
    NUMBER(clock_row, error_ns),   NUMBER(clock_row, anchors),  NUMBER(clock_row, sure),
    NUMBER(clock_row, root),
};

struct meeting_row {
    int64_t recording;             /* of the last */
    int64_t count, last, earliest; /* the last two among its arrivals */
    int64_t number, step, by_order, by_clock, sure, before_recording;
    int64_t late_ns, cost_ns, waited_ns, transfer_ns;
    int64_t grew_computation_ns, grew_communication_ns, grew_copies_ns, grew_loading_ns, grew_host_ns,
        carried_ns;
    int64_t cause;
    name_id kind;
    int64_t bytes, source, target;
    int64_t tells_last, outside_rank, outside_ns;
    int64_t group; /* of the recording's */
    int64_t start_ns, since_ns;
};

static const struct facts_column meeting_columns[] = {
    NUMBER(meeting_row, recording),
    NUMBER(meeting_row, count),
    NUMBER(meeting_row, last),
    NUMBER(meeting_row, earliest),
    NUMBER(meeting_row, number),
    NUMBER(meeting_row, step),
    NUMBER(meeting_row, by_order),
    NUMBER(meeting_row, by_clock),
    NUMBER(meeting_row, sure),
    NUMBER(meeting_row, before_recording),
    NUMBER(meeting_row, late_ns),
    NUMBER(meeting_row, cost_ns),
    NUMBER(meeting_row, waited_ns),
    NUMBER(meeting_row, transfer_ns),
    NUMBER(meeting_row, grew_computation_ns),
    NUMBER(meeting_row, grew_communication_ns),
    NUMBER(meeting_row, grew_copies_ns),
    NUMBER(meeting_row, grew_loading_ns),
    NUMBER(meeting_row, grew_host_ns),
    NUMBER(meeting_row, carried_ns),
    NUMBER(meeting_row, cause),
    WORDS(meeting_row, kind),
    NUMBER(meeting_row, bytes),
    NUMBER(meeting_row, source),
    NUMBER(meeting_row, target),
    NUMBER(meeting_row, tells_last),
    NUMBER(meeting_row, outside_rank),
    NUMBER(meeting_row, outside_ns),
    NUMBER(meeting_row, group),
    NUMBER(meeting_row, start_ns),
    NUMBER(meeting_row, since_ns),
};

struct visit_row {
    int64_t recording, device, began_ns, waited_ns;
};

static const struct facts_column visit_columns[] = {
    NUMBER(visit_row, recording),
    NUMBER(visit_row, device),
    NUMBER(visit_row, began_ns),
    NUMBER(visit_row, waited_ns),
};

static const struct facts_column sum_columns[] = {
    NUMBER(fleet_group_sum, rank),        WORDS(fleet_group_sum, name),
    WORDS(fleet_group_sum, description),  WORDS(fleet_group_sum, ranks),
    NUMBER(fleet_group_sum, count),       NUMBER(fleet_group_sum, bytes),
    NUMBER(fleet_group_sum, time_ns),     NUMBER(fleet_group_sum, exposed_ns),
    NUMBER(fleet_group_sum, met),         NUMBER(fleet_group_sum, waited_ns),
    NUMBER(fleet_group_sum, transfer_ns),
};

/* One row: totals of all slices of the file. */
struct total_row {
    int64_t rows, first_ns, exposed_wait_ns, unmatched, refuted, strangers, unrecorded_ns, exposed_outside_ns;
};

static const struct facts_column total_columns[] = {
    NUMBER(total_row, rows),
    NUMBER(total_row, first_ns),
    NUMBER(total_row, exposed_wait_ns),
    NUMBER(total_row, unmatched),
    NUMBER(total_row, refuted),
    NUMBER(total_row, strangers),
    NUMBER(total_row, unrecorded_ns),
    NUMBER(total_row, exposed_outside_ns),
};

static const struct facts_schema ends_schema = SCHEMA("ends", end_row, end_columns),
                                 clocks_schema = SCHEMA("clocks", clock_row, clock_columns),
                                 meetings_schema = SCHEMA("meetings", meeting_row, meeting_columns),
                                 visits_schema = SCHEMA("visits", visit_row, visit_columns),
                                 sums_schema = SCHEMA("group_sums", fleet_group_sum, sum_columns),
                                 totals_schema = SCHEMA("totals", total_row, total_columns);

enum fleet_file rounds_kind(struct source *source)
{
    static const char *const first[FLEET_FILES] = {
        [FILE_SLICE] = "arrivals", [FILE_ENDS] = "ends", [FILE_CLOCKS] = "clocks", [FILE_JUDGED] = "meetings"
    };
    return (enum fleet_file)facts_begin_with(source, first, FLEET_FILES);
}

bool rounds_possible(const struct fleet_job *job, struct tpa_error *err)
{
    bool any;
    free(slice_find_mixed(job, &any));
    if (!any)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "collectives of a process group are numbered in part: no slice of them is enough by itself");
    return tpa_hint(err, "give tpa fleet all slices");
}

/* Write ROWS, any VEC_OF rows of SCHEMA, to OUT. */
#define SAVE(facts, schema, rows, out)                                                                       \
    facts_save_rows(facts, schema, &(struct facts_rows){ (rows)->at, (rows)->count, (rows)->capacity }, out)

static bool written(bool good, struct tpa_error *err)
{
    return good || tpa_fail_errno(err, "cannot write");
}

/* Pass the rows of SCHEMA in all files of a kind to ADD. */
static bool load(const struct fleet_files *files, enum fleet_file kind, const struct facts_schema *schema,
                 void (*add)(void *context, const void *row), void *context, struct tpa_error *err)
{
    for (size_t i = 0; i < files->of[kind].count; i++) {
        const char *path = files->of[kind].at[i];
        struct source *source = source_open(path, &(struct source_limits){ .max_ratio = 0 }, err);
        bool good = source && facts_read_rows(files->facts, schema, source, add, context, err);
        source_free(source);
        if (!good)
            return tpa_in_file(err, path);
    }
    return true;
}

static bool fits(bool good, struct tpa_error *err)
{
    return good ||
           tpa_fail(err, TPA_NOWHERE, "these files of rounds are of other facts, incomplete or damaged");
}

static int64_t recording_of(const struct fleet_job *job, uint32_t member)
{
    return job->members.at[member].recording->recording;
}

/* ---- ends ---- */

bool rounds_save_ends(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                      struct tpa_error *err)
{
    struct ends ends;
    SCOPED VEC_OF(struct end_row) rows = { 0 };
    SCOPED_ARENA struct arena scratch = { 0 };
    ends_init(&ends, job, &scratch);
    bool good = rounds_possible(job, err) && fleet_meetings_find_ends(&ends, files, err);
    for (size_t j = 0; good && j < ends.joining.count; j++)
        for (size_t i = 0; i < ends.joining.at[j].count; i++) {
            const struct joining *joining = &ends.joining.at[j];
            const struct clock_end *end = &ends.at.at[joining->first + i];
            *VEC_PUSH(&rows) = (struct end_row){ recording_of(job, end->member), end->end_ns, i == 0,
                                                 joining->shortest_ns, joining->checked };
        }
    for (uint32_t m = 0; good && m < job->members.count; m++)
        if (ends.meets[m])
            *VEC_PUSH(&rows) = (struct end_row){ .recording = recording_of(job, m), .begins = MEETS_ONLY };
    good = good && written(SAVE(job->facts, &ends_schema, &rows, out), err);
    return good;
}

struct ends_loading {
    struct ends *ends;
    bool bad;
};

static void add_end(void *context, const void *row)
{
    struct ends_loading *loading = context;
    const struct end_row *end = row;
    struct ends *ends = loading->ends;
    uint32_t member = fleet_job_find(ends->job, end->recording);
    if (member == FLEET_NO_MEMBER || (end->begins == 0 && ends->joining.count == 0)) {
        loading->bad = true;
        return;
    }
    if (end->begins == MEETS_ONLY) {
        ends->meets[member] = true;
        return;
    }
    if (end->begins)
        *VEC_PUSH(&ends->joining) = (struct joining){ .first = ends->at.count,
                                                      .shortest_ns = end->shortest_ns,
                                                      .checked = end->checked == 1 };
    ends->joining.at[ends->joining.count - 1].count++;
    *VEC_PUSH(&ends->at) = (struct clock_end){ member, end->end_ns };
}

static bool load_ends(struct ends *ends, const struct fleet_files *files, struct tpa_error *err)
{
    struct ends_loading loading = { .ends = ends };
    return load(files, FILE_ENDS, &ends_schema, add_end, &loading, err) && fits(!loading.bad, err);
}

/* ---- clocks ---- */

bool rounds_save_clocks(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                        struct tpa_error *err)
{
    struct ends ends;
    struct fleet_clocks found = { NULL, NULL };
    SCOPED VEC_OF(struct clock_row) rows = { 0 };
    SCOPED_ARENA struct arena scratch = { 0 };
    ends_init(&ends, job, &scratch);
    bool good = load_ends(&ends, files, err);
    if (good)
        ends_find_clocks(&ends, &found);
    for (int64_t estimate = 0; good && estimate < 2; estimate++)
        for (uint32_t m = 0; m < job->members.count; m++) {
            const struct rank_clock *clock = estimate ? &found.settled[m] : &found.first[m];
            *VEC_PUSH(&rows) = (struct clock_row){
                .recording = recording_of(job, m),
                .estimate = estimate,
                .ahead_ns = clock->ahead_ns,
                .applied_ns = clock->applied_ns,
                .drift = clock->drift,
                .middle_ns = clock->middle_ns,
                .error_ns = clock->error_ns,
                .anchors = clock->anchors,
                .sure = clock->sure,
                .root = recording_of(job, clock->root),
            };
        }
    good = good && written(SAVE(job->facts, &clocks_schema, &rows, out), err);
    EACH(free, found.first, found.settled);
    return good;
}

struct clocks_loading {
    const struct fleet_job *job;
    struct fleet_clocks *clocks;
    size_t count;
};

static void add_clock(void *context, const void *row)
{
    struct clocks_loading *loading = context;
    const struct clock_row *clock = row;
    uint32_t member = fleet_job_find(loading->job, clock->recording),
             root = fleet_job_find(loading->job, clock->root);
    if (member == FLEET_NO_MEMBER || root == FLEET_NO_MEMBER)
        return;
    (clock->estimate == 1 ? loading->clocks->settled : loading->clocks->first)[member] =
        (struct rank_clock){ clock->ahead_ns, clock->applied_ns, clock->drift, clock->middle_ns,
                             clock->error_ns, clock->anchors,    root,         clock->sure == 1 };
    loading->count++;
}

/* Both of CLOCKS are new, in any case. */
static bool load_clocks(const struct fleet_job *job, const struct fleet_files *files,
                        struct fleet_clocks *clocks, struct tpa_error *err)
{
    size_t members = job->members.count;
    struct clocks_loading loading = { .job = job, .clocks = clocks };
    clocks->first = mem_zalloc(members + 1, sizeof *clocks->first);
    clocks->settled = mem_zalloc(members + 1, sizeof *clocks->settled);
    return load(files, FILE_CLOCKS, &clocks_schema, add_clock, &loading, err) &&
           fits(loading.count == 2 * members, err);
}

struct rank_clock *rounds_find_clocks(const struct fleet_job *job, const struct fleet_files *files,
                                      struct tpa_error *err)
{
    struct arena scratch = { 0 };
    struct ends ends;
    struct fleet_clocks clocks = { NULL, NULL };
    bool good;
    if (files && files->of[FILE_CLOCKS].count) {
        good = load_clocks(job, files, &clocks, err);
    } else {
        ends_init(&ends, job, &scratch);
        good = fleet_meetings_find_ends(&ends, files, err);
        if (good)
            ends_find_clocks(&ends, &clocks);
        arena_release(&scratch);
    }
    free(clocks.first);
    if (good)
        return clocks.settled;
    free(clocks.settled);
    return NULL;
}

/* ---- judged meetings ---- */

static struct meeting_row meeting_to_row(const struct fleet_meetings *meetings,
                                         const struct fleet_meeting *one)
{
    return (struct meeting_row){
        .recording = recording_of(meetings->job, meetings->arrivals.at[one->last].member),
        .count = (int64_t)one->count,
        .last = (int64_t)(one->last - one->first),
        .earliest = (int64_t)(one->earliest - one->first),
        .number = one->number,
        .step = one->step,
        .by_order = one->by_order,
        .by_clock = one->by_clock,
        .before_recording = one->before_recording,
        .sure = one->sure,
        .late_ns = one->late_ns,
        .cost_ns = one->cost_ns,
        .waited_ns = one->waited_ns,
        .transfer_ns = one->transfer_ns,
        .grew_computation_ns = one->grew_ns[CAUSE_COMPUTATION],
        .grew_communication_ns = one->grew_ns[CAUSE_COMMUNICATION],
        .grew_copies_ns = one->grew_ns[CAUSE_COPIES],
        .grew_loading_ns = one->grew_ns[CAUSE_LOADING],
        .grew_host_ns = one->grew_ns[CAUSE_HOST],
        .carried_ns = one->carried_ns,
        .cause = one->cause,
        .kind = one->kind,
        .bytes = one->bytes,
        .source = one->source,
        .target = one->target,
        .tells_last = one->tells_last,
        .outside_rank = one->outside_rank,
        .outside_ns = one->outside_ns,
        .group = one->group ? one->group->group : FACTS_MISSING,
        .start_ns = one->start_ns,
        .since_ns = one->since_ns,
    };
}

static bool save_judged(const struct fleet_meetings *meetings, FILE *out)
{
    const struct facts *facts = meetings->job->facts;
    SCOPED VEC_OF(struct meeting_row) rows = { 0 };
    SCOPED VEC_OF(struct visit_row) visits = { 0 };
    struct total_row total = {
        (int64_t)meetings->rows,      meetings->first_ns,           meetings->exposed_wait_ns,
        (int64_t)meetings->unmatched, (int64_t)meetings->refuted,   (int64_t)meetings->strangers,
        meetings->unrecorded_ns,      meetings->exposed_outside_ns,
    };
    for (size_t m = 0; m < meetings->count; m++)
        *VEC_PUSH(&rows) = meeting_to_row(meetings, &meetings->at[m]);
    FOR_EACH(arrival, &meetings->arrivals) {
        *VEC_PUSH(&visits) = (struct visit_row){ recording_of(meetings->job, arrival->member),
                                                 arrival->device, arrival->began_ns, arrival->waited_ns };
    }
    bool good = SAVE(facts, &meetings_schema, &rows, out) && SAVE(facts, &visits_schema, &visits, out) &&
                SAVE(facts, &sums_schema, &meetings->groups, out) &&
                facts_save_rows(facts, &totals_schema, &(struct facts_rows){ &total, 1, 1 }, out);
    return good;
}

bool rounds_save_judged(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                        struct tpa_error *err)
{
    struct fleet_meetings meetings = { 0 };
    SCOPED_ARENA struct arena scratch = { 0 };
    ARENA_OWNS(&scratch, FLEET_MEETINGS_MEMORY(&meetings));
    struct fleet_clocks clocks;
    bool good = load_clocks(job, files, &clocks, err) && rounds_possible(job, err) &&
                fleet_meetings_judge(&meetings, job, files, &clocks, err) &&
                written(save_judged(&meetings, out), err);
    EACH(free, clocks.first, clocks.settled);
    return good;
}

struct judged_loading {
    struct fleet_meetings *meetings;
    size_t arrivals; /* number of arrivals in the meetings */
    bool bad;
};

/* The group that ROW is of; NULL: none, or damage. */
static const struct facts_group *group_in(const struct fleet_job *job, const struct meeting_row *row)
{
    uint32_t member = fleet_job_find(job, row->recording);
    if (member == FLEET_NO_MEMBER)
        return NULL;
    return slice_group(
        job, &(struct slice_row){ &(struct facts_collective){ .group = row->group }, NULL, member });
}

static void add_meeting(void *context, const void *from)
{
    struct judged_loading *loading = context;
    const struct meeting_row *row = from;
    if (row->count < 2 || row->count > UINT32_MAX || row->last < 0 || row->last >= row->count ||
        row->earliest < 0 || row->earliest >= row->count || row->cause < 0 || row->cause > FLEET_CAUSES) {
        loading->bad = true;
        return;
    }
    *VEC_PUSH(loading->meetings) = (struct fleet_meeting){
        .first = loading->arrivals,
        .count = (size_t)row->count,
        .number = row->number,
        .step = row->step,
        .by_order = row->by_order == 1,
        .by_clock = row->by_clock == 1,
        .before_recording = row->before_recording == 1,
        .sure = row->sure == 1,
        .last = loading->arrivals + (size_t)row->last,
        .earliest = loading->arrivals + (size_t)row->earliest,
        .late_ns = row->late_ns,
        .cost_ns = row->cost_ns,
        .waited_ns = row->waited_ns,
        .transfer_ns = row->transfer_ns,
        .grew_ns = { row->grew_computation_ns, row->grew_communication_ns, row->grew_copies_ns,
                     row->grew_loading_ns, row->grew_host_ns },
        .carried_ns = row->carried_ns,
        .cause = (enum fleet_cause)row->cause,
        .kind = row->kind,
        .bytes = row->bytes,
        .source = row->source,
        .target = row->target,
        .tells_last = row->tells_last == 1,
        .outside_rank = row->outside_rank,
        .outside_ns = row->outside_ns,
        .group = group_in(loading->meetings->job, row),
        .start_ns = row->start_ns,
        .since_ns = row->since_ns,
    };
    loading->arrivals += (size_t)row->count;
}

static void add_visit(void *context, const void *from)
{
    struct judged_loading *loading = context;
    const struct visit_row *row = from;
    uint32_t member = fleet_job_find(loading->meetings->job, row->recording);
    loading->bad = loading->bad || member == FLEET_NO_MEMBER;
    *VEC_PUSH(&loading->meetings->arrivals) =
        (struct fleet_arrival){ member, row->device, row->began_ns, row->waited_ns };
}

static const struct key by_rank[] = { ASC(struct fleet_member, rank), KEY_END };

static void add_sum(void *context, const void *from)
{
    struct judged_loading *loading = context;
    const struct fleet_group_sum *sum = from;
    const struct fleet_member wanted = { .rank = sum->rank };
    const struct fleet_job *job = loading->meetings->job;
    loading->bad = loading->bad || job->members.count == 0 ||
                   !rows_find(job->members.at, job->members.count, sizeof wanted, by_rank, &wanted);
    *VEC_PUSH(&loading->meetings->groups) = *sum;
}

static void add_total(void *context, const void *from)
{
    struct judged_loading *loading = context;
    struct fleet_meetings *meetings = loading->meetings;
    const struct total_row *row = from;
    if (row->first_ns < meetings->first_ns)
        meetings->first_ns = row->first_ns;
    sum_add(&meetings->exposed_wait_ns, row->exposed_wait_ns);
    sum_add(&meetings->unrecorded_ns, row->unrecorded_ns);
    sum_add(&meetings->exposed_outside_ns, row->exposed_outside_ns);
    meetings->rows += (uint64_t)row->rows;
    meetings->unmatched += (uint64_t)row->unmatched;
    meetings->refuted += (uint64_t)row->refuted;
    meetings->strangers += (uint64_t)row->strangers;
}

bool rounds_load_judged(struct fleet_meetings *meetings, const struct fleet_job *job,
                        const struct fleet_files *files, struct tpa_error *err)
{
    struct fleet_clocks clocks;
    struct judged_loading loading = { .meetings = meetings };
    *meetings = (struct fleet_meetings){ .job = job, .first_ns = INT64_MAX };
    bool good = load_clocks(job, files, &clocks, err) &&
                load(files, FILE_JUDGED, &meetings_schema, add_meeting, &loading, err) &&
                load(files, FILE_JUDGED, &visits_schema, add_visit, &loading, err) &&
                load(files, FILE_JUDGED, &sums_schema, add_sum, &loading, err) &&
                load(files, FILE_JUDGED, &totals_schema, add_total, &loading, err) &&
                fits(!loading.bad && loading.arrivals == meetings->arrivals.count, err);
    meetings->clocks = clocks.settled;
    free(clocks.first);
    return good;
}
