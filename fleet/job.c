#include "fleet/parts.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include "derive/communication.h"

unsigned fleet_member_lacks(const struct fleet_job *job, const struct fleet_member *member)
{
    const struct facts_notice *notices = facts_rows(job->facts, FACTS_NOTICES);
    unsigned lacks = 0;
    for (size_t i = 0; i < member->count[FACTS_NOTICES]; i++) {
        name_id kind = notices[member->first[FACTS_NOTICES] + i].kind;
        lacks |= kind == NAME_NONE ? 0 : lacks_of_word(names_text(job->facts->texts, kind));
    }
    if (lacks == 0 && member->recording->cut == 1)
        lacks = LACKS_END;
    return lacks | (member->steps_lack.of ? lack_sort(LACK_MISSING_STEPS) : 0) |
           (member->no_work ? lack_sort(LACK_LOST_WORK) : 0);
}

struct text fleet_text(const struct facts *facts, name_id id)
{
    return id == NAME_NONE ? (struct text){ 0 }
                           : (struct text){ names_text(facts->texts, id), names_length(facts->texts, id) };
}

/* ---- which job ---- */

struct identity {
    name_id job, backend;
    int64_t world_size;
    size_t count;
    const char *texts[2]; /* of job and backend */
};

static const struct key by_job[] = { ASC(struct identity, texts[0]), ASC(struct identity, world_size),
                                     ASC(struct identity, texts[1]), KEY_END };

/* The most common name, number of ranks and backend of recordings. */
static struct identity find_job(const struct facts *facts)
{
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    size_t count = facts->tables[FACTS_RECORDINGS].count;
    struct identity *all = mem_alloc(mem_times(count + 1, sizeof *all)),
                    most = { NAME_NONE, NAME_NONE, FACTS_MISSING, 0, { "", "" } };
    for (size_t i = 0; i < count; i++)
        all[i] = (struct identity){ recordings[i].job,
                                    recordings[i].backend,
                                    recordings[i].world_size,
                                    0,
                                    { names_text(facts->texts, recordings[i].job),
                                      names_text(facts->texts, recordings[i].backend) } };
    SORT_ARRAY(all, count, by_job);
    FOR_GROUPS_OF(all, count, by_job, first, end) {
        all[first].count = end - first;
        /* On ties the larger job: a part of it is more likely than a whole small one. */
        if (all[first].count > most.count ||
            (all[first].count == most.count && all[first].world_size > most.world_size))
            most = all[first];
    }
    free(all);
    return most;
}

static bool is_of_job(const struct identity *job, const struct facts_recording *recording)
{
    return (recording->job == NAME_NONE || job->job == NAME_NONE || recording->job == job->job) &&
           (recording->backend == NAME_NONE || job->backend == NAME_NONE ||
            recording->backend == job->backend) &&
           (recording->world_size == FACTS_MISSING || job->world_size == FACTS_MISSING ||
            recording->world_size == job->world_size);
}

/* ---- members ---- */

static void find_rows(const struct facts *facts, struct fleet_member *member)
{
    for (size_t t = 0; t < FACTS_TABLES; t++) {
        size_t size = facts_tables[t].row_size, count = facts->tables[t].count, first, end;
        const char *rows = facts->tables[t].at;
        int64_t number = member->recording->recording;
        SEARCH(first, count, *(const int64_t *)(const void *)(rows + first * size) < number);
        SEARCH(end, count, *(const int64_t *)(const void *)(rows + end * size) <= number);
        member->first[t] = first;
        member->count[t] = end - first;
    }
}

#define VIA(item, member) ASC_VIA(item, recording, struct facts_recording, member)
static const struct key by_recording[] = { VIA(struct fleet_member, recording), KEY_END };
static const struct key strangers_by_recording[] = { VIA(struct fleet_stranger, recording), KEY_END };
static const struct key by_rank_time[] = {
    ASC(struct fleet_member, rank), VIA(struct fleet_member, start_ns),
    DESC_VIA(struct fleet_member, recording, struct facts_recording, events), KEY_END
};

static const char *file_of(const struct fleet_job *job, const struct facts_recording *recording)
{
    return names_text(job->facts->texts, recording->file);
}

/* Smallest and largest number of a marked step; false if there are none. */
static bool step_numbers(const struct facts *facts, const struct fleet_member *member, int64_t *least,
                         int64_t *most)
{
    const struct facts_step *steps = facts_rows(facts, FACTS_STEPS);
    *least = INT64_MAX, *most = INT64_MIN;
    for (size_t i = 0; i < member->count[FACTS_STEPS]; i++) {
        int64_t number = steps[member->first[FACTS_STEPS] + i].number;
        if (number == FACTS_MISSING)
            continue;
        *least = number < *least ? number : *least;
        *most = number > *most ? number : *most;
    }
    return *least <= *most;
}

/* Does B, of the same rank, continue after A? */
static bool goes_on(const struct facts *facts, const struct fleet_member *a, const struct fleet_member *b)
{
    int64_t least_a, most_a, least_b, most_b;
    if (b->recording->start_ns < a->recording->end_ns)
        return false;
    return !step_numbers(facts, a, &least_a, &most_a) || !step_numbers(facts, b, &least_b, &most_b) ||
           least_b > most_a;
}

static void job_leave_out(struct fleet_job *job, const struct fleet_member *member, enum fleet_left_out why)
{
    *VEC_PUSH(&job->others) = (struct fleet_stranger){ member->recording, why };
}

static void drop_duplicates(struct fleet_job *job)
{
    size_t kept = 0;
    for (size_t i = 0; job->members.at && i < job->members.count; i++) {
        const struct fleet_member *member = &job->members.at[i];
        const struct fleet_member *before = kept ? &job->members.at[kept - 1] : NULL;
        bool same = before && before->rank == member->rank;
        if (same && !goes_on(job->facts, before, member)) {
            job_leave_out(job, member, LEFT_OUT_DUPLICATE);
            continue;
        }
        job->ranks += !same;
        job->members.at[kept++] = *member;
    }
    job->members.count = kept;
}

/* Without a rank: is B a later recording of the process of A, so that it has its number? Its steps must go on. */
static bool is_cycle_of(const struct facts *facts, const struct fleet_member *a, const struct fleet_member *b)
{
    int64_t least_a, most_a, least_b, most_b;
    return a->recording->process != NAME_NONE && a->recording->process == b->recording->process &&
           a->recording->host == b->recording->host && goes_on(facts, a, b) &&
           step_numbers(facts, a, &least_a, &most_a) && step_numbers(facts, b, &least_b, &most_b);
}

/* Number the members, none of which has a rank, in the order of their files; the cycles of a process share a number. */
static void number_members(struct fleet_job *job)
{
    int64_t ranks = 0;
    SORT(&job->members, by_recording);
    SORT_BY_TEXT(job->members.at, job->members.count, i, file_of(job, job->members.at[i].recording));
    for (size_t i = 0; i < job->members.count; i++) {
        struct fleet_member *member = &job->members.at[i];
        for (size_t k = i; k-- > 0 && member->rank == FACTS_MISSING;)
            if (is_cycle_of(job->facts, &job->members.at[k], member) ||
                is_cycle_of(job->facts, member, &job->members.at[k]))
                member->rank = job->members.at[k].rank;
        if (member->rank == FACTS_MISSING)
            member->rank = ranks++;
    }
}

static const struct key by_recorded[] = {
    ASC_VIA(struct fleet_member, recording, struct facts_recording, start_ns),
    ASC_VIA(struct fleet_member, recording, struct facts_recording, end_ns),
    ASC_VIA(struct fleet_member, recording, struct facts_recording, events),
    ASC_VIA(struct fleet_member, recording, struct facts_recording, process),
    ASC_VIA(struct fleet_member, recording, struct facts_recording, host),
    ASC(struct fleet_member, rank),
    KEY_END,
};

/* Leave out recordings that another one repeats, under whatever name, where their rank is not known. */
static void drop_copies(struct fleet_job *job)
{
    size_t kept = 0;
    SORT(&job->members, by_recorded);
    FOR_GROUPS(&job->members, by_recorded, first, end) {
        bool may_be_copies =
            job->members.at[first].rank == FACTS_MISSING && job->members.at[first].recording->events > 0;
        job->members.at[kept++] = job->members.at[first];
        for (size_t i = first + 1; i < end; i++)
            if (may_be_copies)
                job_leave_out(job, &job->members.at[i], LEFT_OUT_DUPLICATE);
            else
                job->members.at[kept++] = job->members.at[i];
    }
    job->members.count = kept;
}

/* If no recording has a rank, all are numbered; else those without a rank are left out. */
static void number_ranks(struct fleet_job *job)
{
    bool known = false;
    for (size_t i = 0; i < job->members.count; i++)
        known |= job->members.at[i].rank != FACTS_MISSING;
    job->numbered = !known && job->members.count > 0;
    if (!known) {
        number_members(job);
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < job->members.count; i++)
        if (job->members.at[i].rank == FACTS_MISSING)
            job_leave_out(job, &job->members.at[i], LEFT_OUT_NO_RANK);
        else
            job->members.at[kept++] = job->members.at[i];
    job->members.count = kept;
}

/* Find the ranks that lack steps which the others have. */
static void find_missing_steps(struct fleet_job *job)
{
    const struct facts_step *all = facts_rows(job->facts, FACTS_STEPS);
    SCOPED VEC_OF(struct rank_step) steps = { 0 };
    FOR_EACH(member, &job->members) {
        if (!job->numbered)
            *VEC_PUSH(&steps) = (struct rank_step){ 0, member->rank, RANK_STEP_NONE, 0 };
        for (size_t i = 0; i < member->count[FACTS_STEPS]; i++)
            if (all[member->first[FACTS_STEPS] + i].number != FACTS_MISSING)
                *VEC_PUSH(&steps) =
                    (struct rank_step){ 0, member->rank, all[member->first[FACTS_STEPS] + i].number, 0 };
    }
    SCOPED struct rank_steps lacking = rank_steps_lacking(steps.at, steps.count);
    for (size_t m = 0, next = 0; m < job->members.count; m++) {
        while (next < lacking.count && lacking.at[next].rank < job->members.at[m].rank)
            next++;
        if (next < lacking.count && lacking.at[next].rank == job->members.at[m].rank)
            job->members.at[m].steps_lack = lacking.at[next];
    }
}

static bool member_has_work(const struct fleet_job *job, const struct fleet_member *member)
{
    const struct facts_device *devices = facts_rows(job->facts, FACTS_DEVICES);
    return ANY(d, member->count[FACTS_DEVICES], devices[member->first[FACTS_DEVICES] + d].operations > 0);
}

/* Find the members of ranks whose device has no work in any recording, among others that have some. */
static void find_idle(struct fleet_job *job)
{
    static const struct key by_number[] = { ASC(struct fleet_member, rank), KEY_END };
    bool any = false;
    for (size_t m = 0; m < job->members.count && !any; m++)
        any = member_has_work(job, &job->members.at[m]);
    if (!any)
        return;
    FOR_GROUPS(&job->members, by_number, first, end) {
        bool has_work = false;
        for (size_t m = first; m < end; m++)
            has_work |= member_has_work(job, &job->members.at[m]);
        for (size_t m = first; m < end; m++) {
            const struct fleet_member *member = &job->members.at[m];
            name_id backend = member->recording->backend;
            job->members.at[m].no_work = !has_work && member->count[FACTS_NAMES] > 0 &&
                                         backend != NAME_NONE &&
                                         backend_is_of_devices(names_text(job->facts->texts, backend));
        }
    }
}

static void find_missing(struct fleet_job *job)
{
    int64_t next = 0;
    for (size_t i = 0; i <= job->members.count && job->world_size != FACTS_MISSING && !job->numbered; i++) {
        int64_t here = i < job->members.count ? job->members.at[i].rank : job->world_size;
        if (here > job->world_size)
            here = job->world_size;
        if (next < here) {
            *VEC_PUSH(&job->missing) = (struct fleet_range){ next, here - 1 };
            job->missing_count += here - next;
        }
        next = here >= next ? here + 1 : next;
    }
}

/* ---- members by recording ---- */

static void list_by_recording(struct fleet_job *job)
{
    job->by_recording = mem_alloc(mem_times(job->members.count + 1, sizeof *job->by_recording));
    for (uint32_t m = 0; m < job->members.count; m++)
        job->by_recording[m] = m;
    SORT_BY(job->by_recording, job->members.count, i,
            job->members.at[job->by_recording[i]].recording->recording);
}

uint32_t fleet_job_find(const struct fleet_job *job, int64_t recording)
{
    size_t i, count = job->members.count;
    SEARCH(i, count, job->members.at[job->by_recording[i]].recording->recording < recording);
    bool found = i < count && job->members.at[job->by_recording[i]].recording->recording == recording;
    return found ? job->by_recording[i] : FLEET_NO_MEMBER;
}

void fleet_job_init(struct fleet_job *job, const struct facts *facts, struct arena *arena)
{
    struct identity identity = find_job(facts);
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    *job = (struct fleet_job){ .facts = facts, .world_size = identity.world_size };
    ARENA_OWNS(arena, &job->members, &job->others, &job->missing, &job->by_recording);
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++) {
        struct fleet_member member = { .recording = &recordings[i], .rank = recordings[i].rank };
        find_rows(facts, &member);
        if (is_of_job(&identity, &recordings[i]))
            *VEC_PUSH(&job->members) = member;
        else
            job_leave_out(job, &member, LEFT_OUT_OTHER_JOB);
    }
    drop_copies(job);
    number_ranks(job);
    SORT(&job->members, by_recording);
    SORT_BY_TEXT(job->members.at, job->members.count, i, file_of(job, job->members.at[i].recording));
    SORT(&job->members, by_rank_time);
    drop_duplicates(job);
    find_missing(job);
    find_missing_steps(job);
    find_idle(job);
    SORT(&job->others, strangers_by_recording);
    SORT_BY_TEXT(job->others.at, job->others.count, i, file_of(job, job->others.at[i].recording));
    SORT_BY(job->others.at, job->others.count, i, job->others.at[i].recording->rank);
    list_by_recording(job);
}

void fleet_job_of_all(struct fleet_job *job, const struct facts *facts, struct arena *arena)
{
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    *job = (struct fleet_job){ .facts = facts, .world_size = FACTS_MISSING };
    ARENA_OWNS(arena, &job->members, &job->by_recording);
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++) {
        struct fleet_member member = { .recording = &recordings[i], .rank = recordings[i].rank };
        find_rows(facts, &member);
        *VEC_PUSH(&job->members) = member;
    }
    list_by_recording(job);
}
