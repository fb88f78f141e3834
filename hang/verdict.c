/* verdict.c - state, doubts, culprits and suspects of a job, and the sentence about it: see hang.h. */
#include "hang/hang.h"

#include "base/stats.h"

/* ---- what proves that it would not have gone on ---- */

/*
 * How far the clock of each rank is ahead of the others', in ns, by rank: the least by which it began collectives later than the median of
 * their members, or, below 0, earlier. 0: it began some later and some earlier, or fewer than three are recorded. Of collectives that all
 * with a dump have begun, three ranks or more where the job has them: of two nobody tells whose clock is wrong. A rank that is late each
 * time has a part of its lateness in it, which is far below a timeout. New; free().
 */
static int64_t *clock_errors(const struct hang_job *job)
{
    enum { LEAST_OPERATIONS = 3 };
    struct clock {
        int64_t least_ns, most_ns;
        size_t operations;
    } *clocks = mem_zalloc(job->world, sizeof *clocks);
    int64_t *errors = mem_zalloc(job->world, sizeof *errors),
            *begins = mem_zalloc(job->world, sizeof *begins);
    FOR_EACH(op, &job->ops) {
        size_t count = 0;
        int64_t median_ns, late_ns;
        for (size_t i = op->first; i < op->first + op->count; i++) {
            int64_t created_ns = hang_entry(job, job->refs[i].entry)->created_ns;
            if ((i == op->first || job->refs[i].rank != job->refs[i - 1].rank) && created_ns > 0)
                begins[count++] = created_ns;
        }
        const struct hang_group *group = &job->groups.at[op->group];
        if (count + group->absent < group->count || (count < 3 && job->world > 2) || count < 2)
            continue;
        median_ns = stats_lower_median(begins, count);
        for (size_t i = op->first; i < op->first + op->count; i++) {
            struct clock *clock = &clocks[job->refs[i].rank];
            int64_t created_ns = hang_entry(job, job->refs[i].entry)->created_ns;
            if ((i > op->first && job->refs[i].rank == job->refs[i - 1].rank) || created_ns <= 0 ||
                __builtin_sub_overflow(created_ns, median_ns, &late_ns))
                continue;
            clock->least_ns = !clock->operations || late_ns < clock->least_ns ? late_ns : clock->least_ns;
            clock->most_ns = !clock->operations || late_ns > clock->most_ns ? late_ns : clock->most_ns;
            clock->operations++;
        }
    }
    for (uint32_t r = 0; r < job->world; r++)
        errors[r] = clocks[r].operations < LEAST_OPERATIONS ? 0
                    : clocks[r].least_ns > 0                ? clocks[r].least_ns
                    : clocks[r].most_ns < 0                 ? clocks[r].most_ns
                                                            : 0;
    EACH(free, clocks, begins);
    return errors;
}

/* Is an operation pending for its timeout before the latest stamp of any dump? ERRORS: of clocks, by rank; NULL: they are right. */
static bool is_over_timeout(const struct hang_job *job, const int64_t *errors)
{
    int64_t latest_ns = 0, waited_ns, ns;
    for (uint32_t r = 0; r < job->world; r++) {
        const struct flight_dump *dump = hang_dump(job, r);
        if (dump && !__builtin_sub_overflow(dump->latest_ns, errors ? errors[r] : 0, &ns) && ns > latest_ns)
            latest_ns = ns;
    }
    FOR_EACH(wait, &job->waits) {
        if (wait->entry == HANG_NONE || job->stale[wait->rank])
            continue;
        const struct flight_entry *entry = hang_entry(job, wait->entry);
        if (entry->status == FLIGHT_PENDING && entry->timeout_ms && entry->created_ns > 0 &&
            !__builtin_sub_overflow(entry->created_ns, errors ? errors[wait->rank] : 0, &ns) &&
            !__builtin_sub_overflow(latest_ns, ns, &waited_ns) &&
            waited_ns >= (int64_t)entry->timeout_ms * 1000000)
            return true;
    }
    return false;
}

/* A proof by the clocks of several hosts holds only if it holds with what their collectives tell of the clocks, too. */
static void look_for_timeouts(struct hang_job *job)
{
    if (!is_over_timeout(job, NULL))
        return;
    SCOPED int64_t *errors = clock_errors(job);
    if (is_over_timeout(job, errors))
        job->proof |= PROOF_OVER_TIMEOUT;
}

/* ---- doubts ---- */

static bool used_p2p_of_gloo(const struct hang_job *job, uint32_t rank)
{
    const struct flight_dump *dump = hang_dump(job, rank);
    return ANY_FROM(e, dump->first, dump->first + dump->count,
                    flight_op(job->flight, e)->writer == FLIGHT_GLOO &&
                        job->flight->entries.at[e].op_id > job->flight->entries.at[e].seq);
}

/* How much later than all others RANK entered OP, if all members did and it was the last; 0: it was not. */
static int64_t lateness_of(const struct hang_job *job, const struct hang_op *op, uint32_t rank)
{
    int64_t own_ns = 0, latest_ns = 0;
    size_t ranks = 0;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        if (i > op->first && job->refs[i].rank == job->refs[i - 1].rank)
            continue;
        int64_t created_ns = hang_entry(job, job->refs[i].entry)->created_ns;
        ranks++;
        if (job->refs[i].rank == rank)
            own_ns = created_ns;
        else if (created_ns > latest_ns)
            latest_ns = created_ns;
    }
    bool all = ranks == job->groups.at[op->group].count && ranks >= 2;
    return !all ? -1 : own_ns > latest_ns ? own_ns - latest_ns : 0;
}

static bool is_usually_last(const struct hang_job *job, const struct hang_cause *cause, uint32_t rank)
{
    enum { OPERATIONS = 3, LATE_NS = 50000000 };
    const struct hang_group *group = &job->groups.at[cause->group];
    int64_t late_ns[OPERATIONS];
    size_t found = 0;
    for (size_t o = group->first_op + group->op_count; o > group->first_op && found < OPERATIONS; o--) {
        const struct hang_op *op = &job->ops.at[o - 1];
        int64_t ns = op->seq < cause->seq ? lateness_of(job, op, rank) : -1;
        if (ns == 0)
            return false;
        if (ns > 0)
            late_ns[found++] = ns;
    }
    if (found < OPERATIONS)
        return false;
    size_t late = SUM(size_t, i, OPERATIONS, late_ns[i] >= LATE_NS);
    return 2 * late > OPERATIONS; /* the median is */
}

/* Do all that wait in CAUSE wait in an operation of which it is not recorded whether it is over? Then they may have gone on, and the dump
 * of its ranks may be older. */
static bool waits_in_issued(const struct hang_job *job, const struct hang_cause *cause)
{
    return !ANY(w, job->waits.count,
                job->waits.at[w].group == cause->group && job->waits.at[w].seq == cause->seq &&
                    job->waits.at[w].kind != WAIT_ISSUED) &&
           cause->seq != HANG_UNKNOWN;
}

/*
 * Spare ranks that others, of which it is not recorded what is over, have passed by several operations: their dumps may be older. Where some
 * are, the dumps are no picture of one moment, and so all ranks with such waiters are spared.
 */
static void spare_behind_issued(struct hang_job *job)
{
    for (size_t turn = 0, apart = 0; turn < 1 + apart && turn < 2; turn++)
        FOR_EACH(cause, &job->causes) {
            if (cause->class != HANG_NEVER_ENTERED || !waits_in_issued(job, cause))
                continue;
            for (size_t i = 0; i < cause->ranks.count; i++) {
                uint32_t rank = cause->ranks.at[i];
                if (turn || cause->seq > hang_member(&job->groups.at[cause->group], rank)->entered + 1)
                    job->spared[rank] = true, apart = 1;
            }
        }
}

static void doubt_never_entered(struct hang_job *job)
{
    FOR_EACH(cause, &job->causes) {
        for (size_t i = 0; i < cause->ranks.count && cause->class == HANG_NEVER_ENTERED; i++) {
            uint32_t rank = cause->ranks.at[i];
            if (used_p2p_of_gloo(job, rank))
                hang_doubt(job, DOUBT_P2P_NOT_RECORDED, rank);
            if (cause->seq != HANG_UNKNOWN && is_usually_last(job, cause, rank))
                hang_doubt(job, DOUBT_USUALLY_LAST, rank);
        }
    }
    if (job->has_doubt[DOUBT_COMPLETION_NOT_RECORDED] || job->has_doubt[DOUBT_STATE_UNKNOWN])
        spare_behind_issued(job);
}

/* Has every known member of a group, of which more may exist, entered a pending operation? */
static bool hides_members(const struct hang_job *job, const struct hang_op *op)
{
    const struct hang_group *group = &job->groups.at[op->group];
    bool pending = false;
    for (size_t i = op->first; i < op->first + op->count && !group->known && !pending; i++)
        pending = hang_entry(job, job->refs[i].entry)->status == FLIGHT_PENDING;
    for (size_t m = 0; m < group->count && pending; m++)
        pending = job->dump_of[group->members[m].rank] != HANG_NONE && group->members[m].entered >= op->seq;
    return pending;
}

static bool has_times(const struct hang_job *job, const struct flight_dump *dump)
{
    bool timed = false;
    for (size_t i = 0; i < dump->count && !timed; i++)
        timed = hang_entry(job, (uint32_t)(dump->first + i))->created_ns > 0;
    return timed;
}

/* Dumps whose operations have no times, and, where no dump has any, those that hold none. */
static void doubt_times(struct hang_job *job)
{
    bool any = false, timed = false;
    for (uint32_t r = 0; r < job->world && !timed; r++) {
        any |= job->dump_of[r] != HANG_NONE && hang_dump(job, r)->count > 0;
        timed = job->dump_of[r] != HANG_NONE && has_times(job, hang_dump(job, r));
    }
    for (uint32_t r = 0; r < job->world; r++) {
        const struct flight_dump *dump = hang_dump(job, r);
        if (dump && (dump->count || (any && !timed)) && !has_times(job, dump))
            hang_doubt(job, DOUBT_NO_TIMES, r);
    }
}

static void find_doubts(struct hang_job *job)
{
    for (uint32_t r = 0; r < job->world; r++) {
        if (job->dump_of[r] == HANG_NONE)
            hang_doubt(job, DOUBT_NO_DUMP, r);
        if (job->stale[r])
            hang_doubt(job, DOUBT_SNAPSHOTS_DIFFER, r);
        if (job->unsure[r])
            hang_doubt(job, DOUBT_SEQUENCE_UNSURE, r);
        if (job->runs_apart && hang_dump(job, r))
            hang_doubt(job, DOUBT_SEVERAL_RUNS, r);
        if (job->silent[r])
            hang_doubt(job, DOUBT_NO_ENTRIES, r);
        const struct flight_dump *dump = hang_dump(job, r);
        if (dump && !dump->is_known_version)
            hang_doubt(job, DOUBT_VERSION_UNKNOWN, r);
        if (dump && dump->unknown_states)
            hang_doubt(job, DOUBT_STATE_UNKNOWN, r);
    }
    doubt_times(job);
    doubt_never_entered(job);
    for (size_t o = 0; o < job->ops.count && !job->has_doubt[DOUBT_MEMBERS_UNKNOWN]; o++)
        job->has_doubt[DOUBT_MEMBERS_UNKNOWN] = hides_members(job, &job->ops.at[o]);
}

/* ---- culprits ---- */

/* Does a cause of CLASS blame a rank for what it had not done when its dump was written? Those of others are contradictions. */
static bool rests_on_moment(enum hang_class class)
{
    return class == HANG_NEVER_ENTERED || class == HANG_DEVICE_STOPPED || class == HANG_NOT_STARTED;
}

static void find_culprits(struct hang_job *job)
{
    SCOPED uint8_t *culprits = mem_zalloc((size_t)job->world + 1, 1),
                   *suspects = mem_zalloc((size_t)job->world + 1, 1);
    FOR_EACH(cause, &job->causes) {
        for (size_t i = 0; i < cause->ranks.count; i++) {
            uint32_t rank = cause->ranks.at[i];
            bool spared = job->spared[rank] || job->silent[rank] || job->runs_apart ||
                          job->doubts[DOUBT_P2P_NOT_RECORDED][rank] ||
                          job->doubts[DOUBT_VERSION_UNKNOWN][rank] ||
                          (!job->proof && job->doubts[DOUBT_USUALLY_LAST][rank]) ||
                          (!job->proof && job->doubts[DOUBT_NO_TIMES][rank] && rests_on_moment(cause->class));
            if (hang_names_culprits(cause->class) && !spared)
                culprits[rank] = 1;
            else
                suspects[rank] = 1;
        }
    }
    for (uint32_t r = 0; r < job->world; r++)
        suspects[r] = suspects[r] && !culprits[r];
    job->culprits = hang_ranks_of(job, culprits);
    job->suspects = hang_ranks_of(job, suspects);
}

/* ---- the sentence ---- */

static void add_waiters(struct buffer *out, const struct hang_cause *cause)
{
    const char *whom = cause->ranks.count == 1 ? "it" : "them";
    if (cause->ranks.count == 0 || cause->direct.count + cause->indirect.count == 0)
        return;
    bool one = cause->direct.count == 1;
    buffer_puts(out, "; ");
    hang_add_count(out, cause->direct.count);
    buffer_printf(out, " rank%s wait%s for %s directly", one ? "" : "s", one ? "s" : "", whom);
    if (cause->indirect.count) {
        buffer_puts(out, ", ");
        hang_add_count(out, cause->indirect.count);
        buffer_puts(out, " indirectly");
    }
}

static bool is_main(const struct hang_job *job, const struct hang_cause *cause)
{
    bool any_culprits = false;
    for (size_t c = 0; c < job->causes.count; c++)
        any_culprits = any_culprits || hang_names_culprits(job->causes.at[c].class) ||
                       job->causes.at[c].class == HANG_DEADLOCK;
    return hang_names_culprits(cause->class) || cause->class == HANG_DEADLOCK || !any_culprits;
}

static void add_last_call(struct buffer *out, const struct hang_job *job)
{
    const char *call = job->culprits.count ? hang_last_call(job, job->culprits.at[0]) : NULL;
    for (size_t i = 1; i < job->culprits.count && call; i++) {
        const char *other = hang_last_call(job, job->culprits.at[i]);
        if (!other || strcmp(call, other) != 0)
            call = NULL;
    }
    if (call)
        buffer_printf(out, " %s last call: %s.", job->culprits.count == 1 ? "Its" : "Their", call);
}

/* The operation in which most ranks wait first; NULL if none waits. */
static const struct hang_wait_op *find_front(const struct hang_job *job, size_t *ranks)
{
    const struct hang_wait_op *front = NULL;
    *ranks = 0;
    FOR_EACH(op, &job->wait_ops) {
        size_t count = 0;
        for (size_t i = op->first; i < op->first + op->count; i++)
            count += job->first_wait[job->waits.at[job->by_op[i]].rank] == job->by_op[i];
        if (count > *ranks) {
            front = op;
            *ranks = count;
        }
    }
    return front;
}

static bool front_is_entered_by_all(const struct hang_job *job, const struct hang_wait_op *op)
{
    const struct hang_group *group = &job->groups.at[op->group];
    bool all = group->known && op->seq != HANG_UNKNOWN;
    for (size_t m = 0; m < group->count && all; m++)
        all = group->members[m].entered >= op->seq;
    return all;
}

static void add_without_cause(struct buffer *out, const struct hang_job *job)
{
    size_t ranks;
    const struct hang_wait_op *front = find_front(job, &ranks);
    if (job->state == HANG_MOVING) {
        buffer_puts(out,
                    "The job was moving: some dumps are older than others, and nobody waits beyond that.");
    } else if (job->state == HANG_CLEAN || !front) {
        buffer_printf(out, "Nothing is pending in the dumps of %zu rank%s", job->dumps.count,
                      job->dumps.count == 1 ? "" : "s");
        buffer_puts(out, job->has_doubt[DOUBT_NO_DUMP] ? "; other ranks left no dump." : ".");
    } else {
        const struct hang_wait *wait = &job->waits.at[job->by_op[front->first]];
        size_t waiting = SUM(size_t, r, job->world, job->first_wait[r + 1] > job->first_wait[r]);
        hang_add_count(out, waiting);
        buffer_printf(out, " rank%s ", waiting == 1 ? " waits" : "s wait");
        if (ranks < waiting)
            buffer_printf(out, "in several operations, %zu of them ", ranks);
        buffer_puts(out, "in ");
        hang_add_operation(out, job, front->group, front->seq,
                           wait->entry != HANG_NONE ? flight_op(job->flight, wait->entry)->text : NAME_NONE);
        buffer_puts(
            out,
            front_is_entered_by_all(job, front)
                ? ", which all members have entered: the network, a device, or an older operation on a device."
                : ", and the dumps do not tell what holds them up.");
    }
}

bool hang_is_in_doubt(const struct hang_job *job, const struct hang_cause *cause)
{
    bool any = false;
    for (size_t i = 0; i < job->culprits.count; i++)
        for (size_t k = 0; k < cause->ranks.count; k++)
            any = any || cause->ranks.at[k] == job->culprits.at[i];
    return hang_names_culprits(cause->class) && cause->ranks.count && !any;
}

static const char *why_in_doubt(const struct hang_job *job, uint32_t rank)
{
    if (job->runs_apart)
        return "; but the dumps are of several runs, or clocks are wrong";
    if (job->doubts[DOUBT_VERSION_UNKNOWN][rank])
        return "; its dump is of a version that is not known, and may mean something else";
    if (job->silent[rank])
        return "; its dump holds no operations, and whether it waits itself is not known";
    if (job->doubts[DOUBT_NO_TIMES][rank])
        return "; but its dump records no times, and may be older than the others";
    if (job->doubts[DOUBT_P2P_NOT_RECORDED][rank])
        return "; it may wait in a send or receive, which gloo does not record";
    if (job->doubts[DOUBT_USUALLY_LAST][rank])
        return "; it came last in the three operations before, too, and may be slow rather than stuck";
    return job->has_doubt[DOUBT_COMPLETION_NOT_RECORDED]
               ? "; the others may have gone on since its dump was written, which their backend does not record"
               : "; the others may have gone on since its dump was written, which their dumps do not tell";
}

static void write_verdict(struct hang_job *job)
{
    enum { TOLD = 3 };
    SCOPED struct buffer text = { 0 };
    size_t told = 0, left = 0;
    FOR_EACH(cause, &job->causes) {
        if (!is_main(job, cause))
            continue;
        if (told == TOLD) {
            left++;
            continue;
        }
        if (told++)
            buffer_puts(&text, ". ");
        bool in_doubt = hang_is_in_doubt(job, cause);
        hang_add_cause(&text, job, cause, true, in_doubt);
        add_waiters(&text, cause);
        if (in_doubt)
            buffer_puts(&text, why_in_doubt(job, cause->ranks.at[0]));
    }
    if (told == 0) {
        add_without_cause(&text, job);
    } else {
        if (left)
            buffer_printf(&text, ". %zu more cause%s below", left, left == 1 ? " is" : "s are");
        buffer_putc(&text, '.');
        add_last_call(&text, job);
    }
    job->verdict = arena_strndup(job->arena, text.at, text.count);
}

void hang_judge(struct hang_job *job)
{
    bool stale = false;
    job->spared = hang_zeroed(job, job->world, sizeof *job->spared);
    look_for_timeouts(job);
    if (job->runs_apart) /* what several dumps tell together is no proof */
        job->proof &= PROOF_TIMED_OUT;
    find_doubts(job);
    find_culprits(job);
    for (uint32_t r = 0; r < job->world; r++)
        stale = stale || job->stale[r];
    job->state = job->proof          ? HANG_STUCK
                 : job->causes.count ? HANG_WAITING
                 : stale             ? HANG_MOVING
                 : job->waits.count  ? HANG_WAITING
                                     : HANG_CLEAN;
    write_verdict(job);
}
