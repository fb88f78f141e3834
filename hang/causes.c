/* causes.c - what holds the job up, by class: see hang.h and docs/commands/hang.md. */
#include "base/rows.h"
#include "hang/hang.h"

#include "base/search.h"
#include <assert.h>

/* Marks by rank, 0 at first; free with free(). */
static uint8_t *open_marks(const struct hang_job *job)
{
    return mem_zalloc((size_t)job->world + 1, 1);
}

static void mark(uint8_t *marks, struct hang_ranks ranks)
{
    for (size_t i = 0; i < ranks.count; i++)
        marks[ranks.at[i]] = 1;
}

static void clear(uint8_t *marks, struct hang_ranks ranks)
{
    for (size_t i = 0; i < ranks.count; i++)
        marks[ranks.at[i]] = 0;
}

/* The ranks of MARKS without those of OTHERS. */
static struct hang_ranks ranks_without(struct hang_job *job, uint8_t *marks, struct hang_ranks a,
                                       struct hang_ranks b)
{
    clear(marks, a);
    clear(marks, b);
    return hang_ranks_of(job, marks);
}

static struct hang_cause *add_cause(struct hang_job *job, enum hang_class class, struct hang_ranks ranks,
                                    uint32_t group, int64_t seq, name_id op)
{
    struct hang_cause *cause = VEC_PUSH(&job->causes);
    *cause = (struct hang_cause){
        .class = class, .ranks = ranks, .group = group, .seq = seq, .op = op, .waiter = HANG_NONE
    };
    return cause;
}

/* The waiters of CAUSE: those with an edge into its ranks, and the others that reach them. */
static void set_waiters(struct hang_job *job, struct hang_cause *cause)
{
    SCOPED uint8_t *targets = open_marks(job), *direct = open_marks(job), *reaching = open_marks(job);
    mark(targets, cause->ranks);
    hang_graph_reach(job, targets, direct, reaching);
    clear(direct, cause->ranks);
    cause->direct = hang_ranks_of(job, direct);
    cause->indirect = ranks_without(job, reaching, cause->ranks, cause->direct);
}

/* DIRECT are its direct waiters; the others that reach DIRECT or its ranks are indirect. */
static void set_waiters_behind(struct hang_job *job, struct hang_cause *cause, struct hang_ranks direct)
{
    SCOPED uint8_t *targets = open_marks(job), *reaching = open_marks(job);
    mark(targets, cause->ranks);
    mark(targets, direct);
    hang_graph_reach(job, targets, NULL, reaching);
    cause->direct = direct;
    cause->indirect = ranks_without(job, reaching, cause->ranks, direct);
}

static size_t count_waits(const struct hang_job *job, uint32_t rank)
{
    return job->first_wait[rank + 1] - job->first_wait[rank];
}

/* ---- which operation is named for a rank that others wait for ---- */

/* Is B after A on a rank that waits in both? Results are kept: large groups are asked about for each of their members. */
struct order_memo {
    struct hang_job *job;
    struct names *pairs;
    VEC_OF(bool) after; /* by pair */
};

static size_t find_wait(const struct hang_job *job, const struct hang_wait_op *op, uint32_t rank)
{
    size_t i, end = op->first + op->count;
    SEARCH_BETWEEN(i, op->first, end, job->waits.at[job->by_op[i]].rank < rank);
    return i < end && job->waits.at[job->by_op[i]].rank == rank ? job->by_op[i] : SIZE_MAX;
}

static bool comes_after(struct order_memo *memo, uint32_t b, uint32_t a)
{
    const struct hang_job *job = memo->job;
    uint32_t pair[2] = { b, a };
    name_id id = names_add(memo->pairs, (const char *)pair, sizeof pair);
    if (id < memo->after.count)
        return memo->after.at[id];
    const struct hang_wait_op *first = &job->wait_ops.at[a], *second = &job->wait_ops.at[b];
    const struct hang_wait_op *fewer = first->count < second->count ? first : second;
    bool after = false;
    for (size_t i = fewer->first; i < fewer->first + fewer->count && !after; i++) {
        uint32_t rank = job->waits.at[job->by_op[i]].rank;
        size_t place = find_wait(job, first, rank), later = find_wait(job, second, rank);
        after = place != SIZE_MAX && later != SIZE_MAX && later > place && /* waits of a rank are in order, */
                job->waits.at[later].entry != HANG_NONE;                   /* but those that the ring lost */
    }
    *VEC_PUSH(&memo->after) = after;
    return after;
}

/* Of each group, the first operation in which RANK is missing; and the sends and receives in which it is. */
struct candidates {
    VEC_OF(uint32_t) ops; /* of wait_ops */
};

struct naming {
    struct order_memo memo;
    size_t *first_op;    /* by group: its first of wait_ops with a number; and behind the last */
    uint32_t *groups;    /* groups of each rank */
    size_t *first_group; /* by rank: of `groups` */
    uint32_t *p2p;       /* waits in sends and receives by missing peer: of wait_ops */
    size_t *first_p2p;   /* by rank */
    struct candidates candidates;
};

static void naming_open(struct naming *naming, struct hang_job *job)
{
    *naming = (struct naming){ .memo = { .job = job, .pairs = names_open() } };
    naming->first_op = mem_zalloc(job->groups.count + 2, sizeof *naming->first_op);
    naming->first_group = mem_zalloc((size_t)job->world + 3, sizeof *naming->first_group);
    naming->first_p2p = mem_zalloc((size_t)job->world + 3, sizeof *naming->first_p2p);
    size_t members = 0, sends = 0;
    for (size_t o = 0; o < job->wait_ops.count; o++) {
        const struct hang_wait_op *op = &job->wait_ops.at[o];
        const struct hang_wait *wait = &job->waits.at[job->by_op[op->first]];
        naming->first_op[op->group + 1] = o + 1;
        if (op->seq == HANG_UNKNOWN && op->missing) {
            naming->first_p2p[wait->peer + 2]++;
            sends++;
        }
    }
    for (size_t g = 0; g < job->groups.count; g++) {
        if (naming->first_op[g + 1] == 0) /* nobody waits in it */
            naming->first_op[g + 1] = naming->first_op[g];
        for (size_t m = 0; m < job->groups.at[g].count; m++, members++)
            naming->first_group[job->groups.at[g].members[m].rank + 2]++;
    }
    for (uint32_t r = 0; r < job->world; r++) {
        naming->first_group[r + 2] += naming->first_group[r + 1];
        naming->first_p2p[r + 2] += naming->first_p2p[r + 1];
    }
    naming->groups = mem_alloc(mem_times(members + 1, sizeof *naming->groups));
    naming->p2p = mem_alloc(mem_times(sends + 1, sizeof *naming->p2p));
    for (size_t g = 0; g < job->groups.count; g++)
        for (size_t m = 0; m < job->groups.at[g].count; m++)
            naming->groups[naming->first_group[job->groups.at[g].members[m].rank + 1]++] = (uint32_t)g;
    for (size_t o = 0; o < job->wait_ops.count; o++) {
        const struct hang_wait_op *op = &job->wait_ops.at[o];
        if (op->seq == HANG_UNKNOWN && op->missing)
            naming->p2p[naming->first_p2p[job->waits.at[job->by_op[op->first]].peer + 1]++] = (uint32_t)o;
    }
}

static void find_candidates(struct naming *naming, uint32_t rank)
{
    const struct hang_job *job = naming->memo.job;
    naming->candidates.ops.count = 0;
    for (size_t i = naming->first_group[rank]; i < naming->first_group[rank + 1]; i++) {
        uint32_t g = naming->groups[i];
        const struct hang_group *group = &job->groups.at[g];
        const struct hang_member *member = hang_member(group, rank);
        bool absent = job->dump_of[rank] == HANG_NONE;
        if (!absent && (member->entered == HANG_UNKNOWN || job->stale[rank]))
            continue;
        size_t o, end = naming->first_op[g + 1];
        SEARCH_BETWEEN(o, naming->first_op[g], end,
                       job->wait_ops.at[o].seq != HANG_UNKNOWN && job->wait_ops.at[o].seq <= member->entered);
        /* Of an operation that only ended, members without a dump are missing only if others are. */
        while (o < end && job->wait_ops.at[o].seq != HANG_UNKNOWN && job->wait_ops.at[o].missing == 0)
            o++;
        if (o < end && job->wait_ops.at[o].seq != HANG_UNKNOWN)
            *VEC_PUSH(&naming->candidates.ops) = (uint32_t)o;
    }
    if (naming->candidates.ops.count == 0)
        for (size_t i = naming->first_p2p[rank]; i < naming->first_p2p[rank + 1]; i++)
            *VEC_PUSH(&naming->candidates.ops) = naming->p2p[i];
}

/* Is operation A named rather than B? */
static bool is_better(const struct hang_job *job, uint32_t a, uint32_t b)
{
    const struct hang_wait_op *left = &job->wait_ops.at[a], *right = &job->wait_ops.at[b];
    if (left->missing != right->missing)
        return left->missing < right->missing;
    if (left->created_ns != right->created_ns)
        return left->created_ns < right->created_ns;
    int names = strcmp(flight_text(job->flight, job->groups.at[left->group].name),
                       flight_text(job->flight, job->groups.at[right->group].name));
    return names ? names < 0 : a < b;
}

/* The operation that is named for RANK; HANG_NONE if it is missing in none. */
static uint32_t name_operation(struct naming *naming, uint32_t rank)
{
    find_candidates(naming, rank);
    const struct candidates *candidates = &naming->candidates;
    uint32_t best = HANG_NONE, any = HANG_NONE;
    for (size_t i = 0; i < candidates->ops.count; i++) {
        uint32_t op = candidates->ops.at[i];
        bool is_first = true;
        for (size_t k = 0; k < candidates->ops.count && is_first; k++)
            is_first = k == i || !comes_after(&naming->memo, op, candidates->ops.at[k]);
        if (is_first && (best == HANG_NONE || is_better(naming->memo.job, op, best)))
            best = op;
        if (any == HANG_NONE || is_better(naming->memo.job, op, any))
            any = op;
    }
    return best == HANG_NONE ? any : best;
}

/* ---- sinks ---- */

/* A rank and the operation that is named for it; ranks with the same one are one cause. */
struct named_rank {
    enum hang_class class;
    uint32_t wait_op; /* of wait_ops; HANG_NONE: see group and seq */
    uint32_t group;
    int64_t seq;
    uint32_t rank;
};

static const struct key by_class_group_seq[] = {
    ASC(struct named_rank, class),   ASC(struct named_rank, group), ASC(struct named_rank, seq),
    ASC(struct named_rank, wait_op), ASC(struct named_rank, rank),  KEY_END
};

struct sinks {
    VEC_OF(struct named_rank) named;
};

static void add_named(struct sinks *sinks, const struct hang_job *job, enum hang_class class,
                      uint32_t wait_op, uint32_t rank)
{
    if (wait_op == HANG_NONE)
        return;
    const struct hang_wait_op *op = &job->wait_ops.at[wait_op];
    *VEC_PUSH(&sinks->named) =
        (struct named_rank){ class, op->seq == HANG_UNKNOWN ? wait_op : HANG_NONE, op->group, op->seq, rank };
}

/* The first failed collective of RANK that another member has done; HANG_NONE. */
static uint32_t find_failed(const struct hang_job *job, uint32_t rank)
{
    const struct flight_dump *dump = hang_dump(job, rank);
    for (size_t e = dump->first; e < dump->first + dump->count; e++) {
        const struct flight_entry *entry = &job->flight->entries.at[e];
        uint32_t group = job->group_of[dump->first_group + entry->group];
        if (!entry->p2p && entry->status == FLIGHT_FAILED && !job->unsure[rank] &&
            hang_others_have_done(job, group, entry->seq, hang_find_op(job, group, entry->seq), rank))
            return (uint32_t)e;
    }
    return HANG_NONE;
}

static void add_by_entry(struct sinks *sinks, const struct hang_job *job, enum hang_class class,
                         uint32_t entry, uint32_t rank)
{
    uint32_t group = job->group_of[hang_dump(job, rank)->first_group + hang_entry(job, entry)->group];
    *VEC_PUSH(&sinks->named) =
        (struct named_rank){ class, HANG_NONE, group, hang_entry(job, entry)->seq, rank };
}

/* Which ranks are waited for, by an edge of the graph. */
static uint8_t *find_waited_for(const struct hang_job *job)
{
    uint8_t *waited = open_marks(job);
    SCOPED size_t *most = mem_zalloc(job->groups.count + 1, sizeof *most);
    FOR_EACH(wait, &job->waits) {
        if (wait->missing && wait->seq == HANG_UNKNOWN)
            waited[wait->peer] = 1;
        else if (wait->missing > most[wait->group])
            most[wait->group] = wait->missing;
    }
    for (size_t g = 0; g < job->groups.count; g++)
        for (size_t i = 0; i < most[g]; i++)
            waited[job->groups.at[g].members[job->groups.at[g].order[i]].rank] = 1;
    return waited; /* who is waited for by a queue edge alone waits itself, or stopped */
}

static void find_sinks(struct hang_job *job, struct sinks *sinks)
{
    struct naming naming;
    naming_open(&naming, job);
    SCOPED uint8_t *waited = find_waited_for(job), *in_mismatch = open_marks(job);
    for (size_t i = 0; i < job->mismatches.count; i++)
        mark(in_mismatch, job->mismatches.at[i].entered);
    for (uint32_t r = 0; r < job->world; r++) {
        if (job->stopped[r]) {
            add_by_entry(sinks, job, HANG_DEVICE_STOPPED, job->stopped_at[r], r);
            for (size_t w = job->first_wait[r]; w < job->first_wait[r + 1]; w++)
                if (job->waits.at[w].missing)
                    hang_doubt(job, DOUBT_WAITS_ITSELF, r);
        } else if (!waited[r] || job->waits_for_any[r] || in_mismatch[r]) {
            continue;
        } else if (job->dump_of[r] == HANG_NONE) {
            add_named(sinks, job, HANG_NO_DUMP, name_operation(&naming, r), r);
        } else if (count_waits(job, r) == 0) {
            add_named(sinks, job, HANG_NEVER_ENTERED, name_operation(&naming, r), r);
        } else {
            uint32_t failed = find_failed(job, r);
            if (failed != HANG_NONE)
                add_by_entry(sinks, job, HANG_FAILED_BEFORE, failed, r);
            else
                hang_doubt(job, DOUBT_ENTERED_BY_ALL_AND_PENDING, r);
        }
    }
    names_free(naming.memo.pairs);
    EACH(VEC_FREE, &naming.memo.after, &naming.candidates.ops);
    EACH(free, naming.first_op, naming.groups, naming.first_group, naming.p2p, naming.first_p2p);
}

static void add_sinks(struct hang_job *job)
{
    struct sinks sinks = { 0 };
    find_sinks(job, &sinks);
    SORT(&sinks.named, by_class_group_seq);
    for (size_t i = 0, next; i < sinks.named.count; i = next) {
        const struct named_rank *first = &sinks.named.at[i], *named;
        for (next = i + 1; next < sinks.named.count; next++) {
            named = &sinks.named.at[next];
            if (named->class != first->class || named->group != first->group || named->seq != first->seq ||
                named->wait_op != first->wait_op)
                break;
        }
        uint32_t *ranks = arena_alloc(job->arena, mem_times(next - i, sizeof *ranks));
        for (size_t k = i; k < next; k++)
            ranks[k - i] = sinks.named.at[k].rank;
        name_id op = NAME_NONE;
        const struct hang_wait *p2p = NULL;
        if (first->wait_op != HANG_NONE) {
            p2p = &job->waits.at[job->by_op[job->wait_ops.at[first->wait_op].first]];
            op = flight_op(job->flight, p2p->entry)->text;
        } else {
            op = hang_op_text(job, hang_find_op(job, first->group, first->seq));
        }
        struct hang_cause *cause = add_cause(job, first->class, (struct hang_ranks){ ranks, next - i },
                                             first->group, first->seq, op);
        cause->waiter = p2p ? p2p->rank : HANG_NONE;
        cause->lag = job->stopped[ranks[0]];
        set_waiters(job, cause);
    }
    VEC_FREE(&sinks.named);
}

static void add_mismatches(struct hang_job *job)
{
    FOR_EACH(mismatch, &job->mismatches) {
        struct hang_cause *cause = add_cause(job, mismatch->class, mismatch->minority, mismatch->group,
                                             job->ops.at[mismatch->op].seq, NAME_NONE);
        SCOPED uint8_t *direct = open_marks(job);
        mark(direct, mismatch->entered);
        clear(direct, mismatch->minority);
        if (mismatch->minority.count == 0)
            cause->between = mismatch->entered;
        set_waiters_behind(job, cause, hang_ranks_of(job, direct));
        job->proof |= PROOF_MISMATCH;
    }
}

/* ---- operations that all have entered ---- */

static bool is_after_mismatch(const struct hang_job *job, const struct hang_op *op)
{
    return ANY(i, job->mismatches.count,
               job->mismatches.at[i].group == op->group &&
                   job->ops.at[job->mismatches.at[i].op].seq <= op->seq);
}

static bool op_is_entered_by_all(const struct hang_job *job, const struct hang_op *op)
{
    const struct hang_group *group = &job->groups.at[op->group];
    FOR_EACH_OF(member, group->members, group->count) {
        if (job->dump_of[member->rank] == HANG_NONE || member->entered < op->seq ||
            job->stale[member->rank] || job->stopped[member->rank])
            return false;
    }
    return true;
}

/* Mark the ranks that have OP pending in PENDING, and of those the ones whose device has begun it in STARTED. False if
 * none has, or if one of them waits in an older operation. */
static bool find_pending(const struct hang_job *job, const struct hang_op *op, uint8_t *pending,
                         uint8_t *started)
{
    bool any = false;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const struct hang_ref *ref = &job->refs[i];
        if (hang_entry(job, ref->entry)->status != FLIGHT_PENDING)
            continue;
        bool is_oldest = !job->older_lost[ref->rank] && count_waits(job, ref->rank) &&
                         job->waits.at[job->first_wait[ref->rank]].seq == op->seq &&
                         job->waits.at[job->first_wait[ref->rank]].group == op->group;
        if (!is_oldest)
            return false;
        if (pending)
            pending[ref->rank] = 1;
        if (started && hang_entry(job, ref->entry)->started)
            started[ref->rank] = 1;
        any = true;
    }
    return any;
}

static void add_in_flight(struct hang_job *job, uint32_t o)
{
    const struct hang_op *op = &job->ops.at[o];
    SCOPED uint8_t *pending = open_marks(job), *started = open_marks(job), *reaching = open_marks(job),
                   *edges = open_marks(job);
    find_pending(job, op, pending, started);
    struct hang_ranks all = hang_ranks_of(job, pending), begun = hang_ranks_of(job, started);
    size_t idle = all.count - begun.count;
    if (begun.count && idle && 2 * idle < all.count) {
        clear(pending, begun);
        struct hang_cause *cause = add_cause(job, HANG_NOT_STARTED, hang_ranks_of(job, pending), op->group,
                                             op->seq, hang_op_text(job, o));
        set_waiters_behind(job, cause, begun);
    } else {
        struct hang_cause *cause = add_cause(job, HANG_IN_FLIGHT, (struct hang_ranks){ NULL, 0 }, op->group,
                                             op->seq, hang_op_text(job, o));
        cause->between = cause->direct = all;
        hang_graph_reach(job, pending, edges, reaching);
        cause->indirect = ranks_without(job, reaching, all, hang_ranks_of(job, edges));
    }
}

static void add_entered_by_all(struct hang_job *job)
{
    for (size_t o = 0; o < job->ops.count; o++) {
        const struct hang_op *op = &job->ops.at[o];
        if (find_pending(job, op, NULL, NULL) && op_is_entered_by_all(job, op) && !is_after_mismatch(job, op))
            add_in_flight(job, (uint32_t)o);
    }
}

/* ---- deadlocks ---- */

/* The first operation of RANK in which one of MARKS is missing. */
static const struct hang_wait *first_wait_for(const struct hang_job *job, uint32_t rank, const uint8_t *marks)
{
    for (size_t w = job->first_wait[rank]; w < job->first_wait[rank + 1]; w++) {
        const struct hang_wait *wait = &job->waits.at[w];
        const struct hang_group *group = &job->groups.at[wait->group];
        if (wait->missing && wait->seq == HANG_UNKNOWN && marks[wait->peer])
            return wait;
        if (wait->seq != HANG_UNKNOWN && ANY(i, wait->missing, marks[group->members[group->order[i]].rank]))
            return wait;
    }
    return NULL;
}

static bool same_members(const struct hang_group *a, const struct hang_group *b)
{
    bool same = a->count == b->count;
    for (size_t m = 0; m < a->count && same; m++)
        same = a->members[m].rank == b->members[m].rank;
    return same;
}

struct deadlock_op {
    uint32_t group;
    int64_t seq;
    size_t ranks;
};

static void add_deadlock(struct hang_job *job, struct hang_ranks ranks)
{
    SCOPED uint8_t *marks = open_marks(job), *rest = open_marks(job);
    SCOPED VEC_OF(struct deadlock_op) ops = { 0 };
    mark(marks, ranks);
    bool in_order = true;
    size_t best = 0;
    SCOPED VEC_OF(size_t) op_of = { 0 };
    for (size_t i = 0; i < ranks.count; i++) {
        const struct hang_wait *wait = first_wait_for(job, ranks.at[i], marks);
        in_order = in_order && wait && wait->seq != HANG_UNKNOWN;
        size_t o = 0;
        while (in_order && o < ops.count && (ops.at[o].group != wait->group || ops.at[o].seq != wait->seq))
            o++;
        if (in_order && o == ops.count)
            *VEC_PUSH(&ops) = (struct deadlock_op){ wait->group, wait->seq, 0 };
        *VEC_PUSH(&op_of) = o;
        if (!in_order)
            break;
        in_order = same_members(&job->groups.at[ops.at[0].group], &job->groups.at[wait->group]);
        if (++ops.at[o].ranks > ops.at[best].ranks)
            best = o;
    }
    in_order = in_order && ops.count && 2 * ops.at[best].ranks > ranks.count;
    for (size_t i = 0; i < op_of.count && in_order; i++)
        rest[ranks.at[i]] = op_of.at[i] != best;
    struct hang_cause *cause = add_cause(job, in_order ? HANG_DEADLOCK_ORDER : HANG_DEADLOCK,
                                         hang_ranks_of(job, rest), HANG_NONE, HANG_UNKNOWN, NAME_NONE);
    cause->between = ranks;
    clear(marks, cause->ranks);
    set_waiters_behind(job, cause, hang_ranks_of(job, marks));
    job->proof |= PROOF_DEADLOCK;
}

/* ---- rings that are too short ---- */

/* Members with a dump of whom it is not known whether they entered collectives in which others wait: in doubt. */
static void doubt_short_rings(struct hang_job *job)
{
    for (size_t o = 0; o < job->wait_ops.count; o++) {
        const struct hang_group *group = &job->groups.at[job->wait_ops.at[o].group];
        bool is_last =
            o + 1 == job->wait_ops.count || job->wait_ops.at[o + 1].group != job->wait_ops.at[o].group;
        if (job->wait_ops.at[o].seq == HANG_UNKNOWN ||
            (!is_last && job->wait_ops.at[o + 1].seq != HANG_UNKNOWN))
            continue; /* once for each group */
        for (size_t m = 0; m < group->count; m++) {
            uint32_t rank = group->members[m].rank;
            if (job->dump_of[rank] != HANG_NONE && group->members[m].entered == HANG_UNKNOWN &&
                !job->unsure[rank])
                hang_doubt(job, DOUBT_RING_TOO_SHORT, rank);
        }
    }
}

static int64_t first_time(const struct hang_job *job, const struct hang_wait_op *wait_op)
{
    uint32_t o = hang_find_op(job, wait_op->group, wait_op->seq);
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; o != HANG_NONE && i < job->ops.at[o].count; i++) {
        int64_t created_ns = hang_entry(job, job->refs[job->ops.at[o].first + i].entry)->created_ns;
        first_ns = created_ns < first_ns ? created_ns : first_ns;
    }
    return first_ns;
}

/* Does a rank wait in it whose wait nothing explains? */
static bool has_unexplained_waiter(const struct hang_job *job, const struct hang_wait_op *op)
{
    return ANY_FROM(i, op->first, op->first + op->count,
                    !job->waits_for_any[job->waits.at[job->by_op[i]].rank]);
}

static void add_short_rings(struct hang_job *job)
{
    SCOPED uint8_t *named = open_marks(job);
    SCOPED uint32_t *op_of = mem_alloc(mem_times((size_t)job->world + 1, sizeof *op_of));
    SCOPED int64_t *time_of = mem_alloc(mem_times((size_t)job->world + 1, sizeof *time_of));
    memset(op_of, 0xff, job->world * sizeof *op_of);
    for (size_t c = 0; c < job->causes.count; c++) {
        mark(named, job->causes.at[c].ranks);
        mark(named, job->causes.at[c].between);
    }
    for (size_t o = 0; o < job->wait_ops.count; o++) {
        const struct hang_wait_op *op = &job->wait_ops.at[o];
        const struct hang_group *group = &job->groups.at[op->group];
        if (op->seq == HANG_UNKNOWN || !has_unexplained_waiter(job, op))
            continue;
        int64_t first_ns = first_time(job, op);
        for (size_t m = 0; m < group->count; m++) {
            uint32_t r = group->members[m].rank;
            if (job->dump_of[r] == HANG_NONE || group->members[m].entered != HANG_UNKNOWN || named[r] ||
                job->waits_for_any[r] || count_waits(job, r))
                continue;
            if (op_of[r] == HANG_NONE || first_ns < time_of[r]) {
                op_of[r] = (uint32_t)o;
                time_of[r] = first_ns;
            }
        }
    }
    struct sinks sinks = { 0 };
    for (uint32_t r = 0; r < job->world; r++)
        if (op_of[r] != HANG_NONE)
            add_named(&sinks, job, HANG_RING_TOO_SHORT, op_of[r], r);
    SORT(&sinks.named, by_class_group_seq);
    for (size_t i = 0, next; i < sinks.named.count; i = next) {
        const struct named_rank *first = &sinks.named.at[i];
        SCOPED uint8_t *ranks = open_marks(job), *direct = open_marks(job);
        for (next = i; next < sinks.named.count && sinks.named.at[next].group == first->group &&
                       sinks.named.at[next].seq == first->seq;
             next++)
            ranks[sinks.named.at[next].rank] = 1;
        const struct hang_wait_op *op = &job->wait_ops.at[op_of[first->rank]];
        for (size_t k = op->first; k < op->first + op->count; k++)
            direct[job->waits.at[job->by_op[k]].rank] = 1;
        struct hang_cause *cause =
            add_cause(job, HANG_RING_TOO_SHORT, hang_ranks_of(job, ranks), first->group, first->seq,
                      hang_op_text(job, hang_find_op(job, first->group, first->seq)));
        clear(direct, cause->ranks);
        set_waiters_behind(job, cause, hang_ranks_of(job, direct));
    }
    VEC_FREE(&sinks.named);
}

static const struct key by_group_seq[] = { ASC(struct hang_cause, group), ASC(struct hang_cause, seq),
                                           KEY_END };

void hang_find_causes(struct hang_job *job)
{
    add_mismatches(job);
    add_sinks(job);
    add_entered_by_all(job);
    hang_graph_cycles(job, add_deadlock);
    doubt_short_rings(job);
    add_short_rings(job);
    const struct hang_cause *at = job->causes.at;
    SORT(&job->causes, by_group_seq);
    SORT_BY(job->causes.at, job->causes.count, i, at[i].ranks.count ? at[i].ranks.at[0] : HANG_NONE);
    SORT_BY(job->causes.at, job->causes.count, i, at[i].class);
}
