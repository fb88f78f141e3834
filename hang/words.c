#include "base/rows.h"
#include "hang/hang.h"

#include <inttypes.h>

const char *hang_class_word(enum hang_class class)
{
    static const char *const words[HANG_CLASSES] = {
        [HANG_MISMATCH_OP] = "mismatch_op",
        [HANG_MISMATCH_ORDER] = "mismatch_order",
        [HANG_MISMATCH_DTYPE] = "mismatch_dtype",
        [HANG_MISMATCH_SIZE] = "mismatch_size",
        [HANG_DEVICE_STOPPED] = "device_stopped",
        [HANG_FAILED_BEFORE] = "failed_before",
        [HANG_DEADLOCK_ORDER] = "deadlock_order",
        [HANG_DEADLOCK] = "deadlock",
        [HANG_NEVER_ENTERED] = "never_entered",
        [HANG_NOT_STARTED] = "not_started",
        [HANG_NO_DUMP] = "no_dump",
        [HANG_RING_TOO_SHORT] = "ring_too_short",
        [HANG_IN_FLIGHT] = "in_flight",
    };
    return words[class];
}

const char *hang_state_word(enum hang_state state)
{
    static const char *const words[] = {
        [HANG_CLEAN] = "clean",
        [HANG_MOVING] = "moving",
        [HANG_WAITING] = "waiting",
        [HANG_STUCK] = "stuck",
    };
    return words[state];
}

const char *hang_doubt_word(enum hang_doubt doubt)
{
    static const char *const words[HANG_DOUBTS] = {
        [DOUBT_NO_DUMP] = "no_dump",
        [DOUBT_RING_TOO_SHORT] = "ring_too_short",
        [DOUBT_SNAPSHOTS_DIFFER] = "snapshots_differ",
        [DOUBT_P2P_NOT_RECORDED] = "p2p_not_recorded",
        [DOUBT_COMPLETION_NOT_RECORDED] = "completion_not_recorded",
        [DOUBT_MEMBERS_UNKNOWN] = "members_unknown",
        [DOUBT_PEER_UNKNOWN] = "peer_unknown",
        [DOUBT_USUALLY_LAST] = "usually_last",
        [DOUBT_WAITS_ITSELF] = "waits_itself",
        [DOUBT_ENTERED_BY_ALL_AND_PENDING] = "entered_by_all_and_pending",
        [DOUBT_SEQUENCE_UNSURE] = "sequence_unsure",
        [DOUBT_VERSION_UNKNOWN] = "version_unknown",
        [DOUBT_STATE_UNKNOWN] = "state_unknown",
        [DOUBT_NO_ENTRIES] = "no_entries",
        [DOUBT_SEVERAL_RUNS] = "several_runs",
        [DOUBT_NO_TIMES] = "no_times",
    };
    return words[doubt];
}

bool hang_names_culprits(enum hang_class class)
{
    return class != HANG_NO_DUMP && class != HANG_RING_TOO_SHORT && class != HANG_IN_FLIGHT &&
           class != HANG_DEADLOCK;
}

void hang_add_proofs(struct buffer *out, unsigned proof)
{
    static const char *const words[PROOFS] = { "timed_out", "ended_without_all", "over_timeout", "mismatch",
                                               "deadlock" };
    for (unsigned i = 0, any = 0; i < PROOFS; i++)
        if (proof >> i & 1)
            buffer_printf(out, any++ ? ", %s" : "%s", words[i]);
}

/* ---- ranks ---- */

void hang_add_ranks(struct buffer *out, struct hang_ranks ranks, bool for_people)
{
    if (!for_people)
        buffer_putc(out, '[');
    FOR_RUNS(i, next, ranks.count, for_people && ranks.at[next] == ranks.at[next - 1] + 1) {
        buffer_printf(out, i ? ", %" PRIu32 : "%" PRIu32, ranks.at[i]);
        if (next > i + 2)
            buffer_printf(out, "-%" PRIu32, ranks.at[next - 1]);
        else if (next == i + 2)
            buffer_printf(out, ", %" PRIu32, ranks.at[next - 1]);
    }
    if (!for_people)
        buffer_putc(out, ']');
}

void hang_add_count(struct buffer *out, size_t count)
{
    if (count >= 1000) {
        hang_add_count(out, count / 1000);
        buffer_printf(out, ",%03zu", count % 1000);
    } else {
        buffer_printf(out, "%zu", count);
    }
}

void hang_add_rank_words(struct buffer *out, struct hang_ranks ranks, bool upper)
{
    enum { MOST = 72 }; /* characters; the tables have all */
    SCOPED struct buffer list = { 0 };
    hang_add_ranks(&list, ranks, true);
    if (list.count > MOST) {
        hang_add_count(out, ranks.count);
        buffer_printf(out, " ranks (of %" PRIu32 " to %" PRIu32 ")", ranks.at[0], ranks.at[ranks.count - 1]);
    } else {
        buffer_puts(out, upper              ? ranks.count == 1 ? "Rank " : "Ranks "
                         : ranks.count == 1 ? "rank "
                                            : "ranks ");
        char *comma = list.at ? memrchr(list.at, ',', list.count) : NULL;
        if (comma)
            buffer_printf(out, "%.*s and %s", (int)(comma - list.at), list.at, comma + 2);
        else
            buffer_puts(out, list.at ? list.at : "");
    }
}

/* ---- operations ---- */

const char *hang_group_title(const struct hang_job *job, uint32_t g)
{
    const struct hang_group *group = &job->groups.at[g];
    const char *desc = flight_text(job->flight, group->desc);
    static const char *const backends[] = { "undefined", "nccl", "ncclx", "rccl",
                                            "gloo",      "xccl", "hccl",  "mccl" };
    bool tells = *desc != '\0';
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) /* torchcomms has the backend there */
        tells = tells && strcmp(desc, backends[i]) != 0;
    return tells ? desc : flight_text(job->flight, group->name);
}

void hang_add_operation(struct buffer *out, const struct hang_job *job, uint32_t group, int64_t seq,
                        name_id op)
{
    const char *text = op == NAME_NONE ? "operation" : flight_text(job->flight, op);
    buffer_puts(out, text);
    if (seq != HANG_UNKNOWN)
        buffer_printf(out, " #%" PRId64, seq);
    buffer_printf(out, " of %s", hang_group_title(job, group));
}

const char *hang_last_call(const struct hang_job *job, uint32_t rank)
{
    const struct flight_dump *dump = hang_dump(job, rank);
    if (!dump || dump->count == 0)
        return NULL;
    name_id call = job->flight->entries.at[dump->first + dump->count - 1].call;
    return call == NAME_NONE ? NULL : flight_text(job->flight, call);
}

/* ---- causes ---- */

/* "broadcast of [64], Float" for the first entry of RANK in the collective of CAUSE. */
static void add_variant(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause,
                        uint32_t rank)
{
    size_t count;
    uint32_t o = hang_find_op(job, cause->group, cause->seq);
    const struct hang_ref *ref = o == HANG_NONE ? NULL : hang_refs_of(job, &job->ops.at[o], rank, &count);
    if (!ref) {
        buffer_puts(out, "an operation that is not recorded");
        return;
    }
    const struct flight_shape *shape = flight_shape(job->flight, ref->entry);
    buffer_puts(out, flight_text(job->flight, flight_op(job->flight, ref->entry)->text));
    if (cause->class == HANG_MISMATCH_SIZE)
        buffer_printf(out, " of %s", flight_text(job->flight, shape->sizes));
    else if (cause->class == HANG_MISMATCH_DTYPE && shape->types != NAME_NONE)
        buffer_printf(out, " of %s", flight_text(job->flight, shape->types));
}

static void add_place(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause)
{
    buffer_printf(out, "collective #%" PRId64 " of %s", cause->seq, hang_group_title(job, cause->group));
}

static void add_mismatch_words(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause,
                               bool upper)
{
    if (cause->ranks.count == 0) {
        hang_add_rank_words(out, cause->between, upper);
        buffer_printf(out, " do not agree on the %s of ",
                      cause->class == HANG_MISMATCH_DTYPE  ? "type"
                      : cause->class == HANG_MISMATCH_SIZE ? "size"
                                                           : "operation");
        add_place(out, job, cause);
        buffer_puts(out, ", and no majority tells who is wrong");
        return;
    }
    hang_add_rank_words(out, cause->ranks, upper);
    buffer_puts(out, " issued ");
    add_variant(out, job, cause, cause->ranks.at[0]);
    buffer_puts(out, " as ");
    add_place(out, job, cause);
    uint32_t other = cause->direct.at[0];
    size_t count;
    uint32_t o = hang_find_op(job, cause->group, cause->seq);
    for (size_t i = 0; i < cause->direct.count && o != HANG_NONE; i++)
        if (hang_refs_of(job, &job->ops.at[o], cause->direct.at[i], &count)) {
            other = cause->direct.at[i];
            break;
        }
    buffer_puts(out, ", where the others issued ");
    add_variant(out, job, cause, other);
    if (cause->class == HANG_MISMATCH_ORDER)
        buffer_puts(out, "; the two are swapped");
}

static const char *plural(struct hang_ranks ranks, const char *one, const char *many)
{
    return ranks.count == 1 ? one : many;
}

static void add_never_entered(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause,
                              bool upper, bool in_doubt)
{
    hang_add_rank_words(out, cause->ranks, upper);
    if (cause->waiter == HANG_NONE) {
        buffer_puts(out, !in_doubt ? " never entered "
                                   : plural(cause->ranks, " has not entered ", " have not entered "));
        hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        return;
    }
    bool sends = strncmp(flight_text(job->flight, cause->op), "send", 4) == 0;
    buffer_printf(out, " never %s what rank %" PRIu32 " %s (%s of %s)", sends ? "received" : "sent",
                  cause->waiter, sends ? "sends" : "waits for", flight_text(job->flight, cause->op),
                  hang_group_title(job, cause->group));
}

/* The first wait of RANK in which someone is missing; NULL. */
static const struct hang_wait *first_with_missing(const struct hang_job *job, uint32_t rank)
{
    for (size_t w = job->first_wait[rank]; w < job->first_wait[rank + 1]; w++)
        if (job->waits.at[w].missing)
            return &job->waits.at[w];
    return NULL;
}

static bool is_same_operation(const struct hang_wait *a, const struct hang_wait *b)
{
    return a->group == b->group && a->seq == b->seq && (a->seq != HANG_UNKNOWN || a->entry == b->entry);
}

/* ": ranks 0-2 in all_reduce #5 of weights, rank 3 in ...": where the ranks of a deadlock wait, by operation. */
static void add_deadlock_waits(struct buffer *out, const struct hang_job *job, struct hang_ranks ranks)
{
    enum { SHOWN = 4 };
    const struct hang_wait *seen[SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < ranks.count && count < SHOWN; i++) {
        const struct hang_wait *wait = first_with_missing(job, ranks.at[i]);
        bool known = !wait;
        for (size_t s = 0; s < count && !known; s++)
            known = is_same_operation(seen[s], wait);
        if (known)
            continue;
        SCOPED VEC_OF(uint32_t) same = { 0 };
        for (size_t k = i; k < ranks.count; k++) {
            const struct hang_wait *other = first_with_missing(job, ranks.at[k]);
            if (other && is_same_operation(wait, other))
                *VEC_PUSH(&same) = ranks.at[k];
        }
        buffer_puts(out, count ? ", " : ": ");
        seen[count++] = wait;
        hang_add_rank_words(out, (struct hang_ranks){ same.at, same.count }, false);
        buffer_puts(out, " in ");
        hang_add_operation(out, job, wait->group, wait->seq,
                           wait->entry != HANG_NONE ? flight_op(job->flight, wait->entry)->text : NAME_NONE);
    }
    if (count == SHOWN)
        buffer_puts(out, ", ...");
}

/* Is there a file of one of RANKS, none of which has a dump? */
static bool has_file(const struct hang_job *job, struct hang_ranks ranks)
{
    bool found = false;
    for (size_t u = 0; u < job->unreadable.count && !found; u++)
        for (size_t i = 0; i < ranks.count && !found; i++)
            found = job->flight->unreadable.at[job->unreadable.at[u]].rank == ranks.at[i];
    return found;
}

void hang_add_cause(struct buffer *out, const struct hang_job *job, const struct hang_cause *cause,
                    bool upper, bool in_doubt)
{
    switch (cause->class) {
    case HANG_MISMATCH_OP:
    case HANG_MISMATCH_ORDER:
    case HANG_MISMATCH_DTYPE:
    case HANG_MISMATCH_SIZE: add_mismatch_words(out, job, cause, upper); return;
    case HANG_DEVICE_STOPPED:
        buffer_puts(out, upper ? plural(cause->ranks, "The device of ", "The devices of ")
                               : plural(cause->ranks, "the device of ", "the devices of "));
        hang_add_rank_words(out, cause->ranks, false);
        buffer_printf(out, " stopped: from ");
        hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        buffer_printf(out, " on, %" PRId64 " operations that others have done are pending there", cause->lag);
        return;
    case HANG_FAILED_BEFORE:
        hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        buffer_puts(out, " failed on ");
        hang_add_rank_words(out, cause->ranks, false);
        buffer_puts(out, " although others have done it");
        return;
    case HANG_DEADLOCK_ORDER:
        hang_add_rank_words(out, cause->ranks, upper);
        buffer_printf(out, " %s two groups of the same members in another order than the others",
                      plural(cause->ranks, "uses", "use"));
        add_deadlock_waits(out, job, cause->between);
        return;
    case HANG_DEADLOCK:
        hang_add_rank_words(out, cause->between, upper);
        buffer_puts(out, " wait for each other");
        add_deadlock_waits(out, job, cause->between);
        return;
    case HANG_NEVER_ENTERED: add_never_entered(out, job, cause, upper, in_doubt); return;
    case HANG_NOT_STARTED:
        buffer_puts(out, upper ? plural(cause->ranks, "The device of ", "The devices of ")
                               : plural(cause->ranks, "the device of ", "the devices of "));
        hang_add_rank_words(out, cause->ranks, false);
        buffer_printf(out, " %s not begun ", plural(cause->ranks, "has", "have"));
        hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        buffer_puts(out, ", which is queued there and runs on the others");
        return;
    case HANG_NO_DUMP:
        hang_add_rank_words(out, cause->ranks, upper);
        buffer_printf(out, " left no %sdump and may be missing in ",
                      has_file(job, cause->ranks) ? "usable " : "");
        if (cause->waiter == HANG_NONE)
            hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        else
            buffer_printf(out, "%s of %s", flight_text(job->flight, cause->op),
                          hang_group_title(job, cause->group));
        return;
    case HANG_RING_TOO_SHORT:
        buffer_puts(out, upper ? "It is not known whether " : "it is not known whether ");
        hang_add_rank_words(out, cause->ranks, false);
        buffer_puts(out, " entered ");
        hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        buffer_puts(out, ": the recorded rings are too short");
        return;
    case HANG_IN_FLIGHT:
        buffer_puts(out, upper ? "All members entered " : "all members entered ");
        hang_add_operation(out, job, cause->group, cause->seq, cause->op);
        buffer_puts(out, ", and it is pending on ");
        hang_add_rank_words(out, cause->between, false);
        buffer_puts(out, ": the network, a device, or the dumps were taken while it ran");
        return;
    case HANG_CLASSES: return;
    }
}

void hang_add_doubt(struct buffer *out, struct hang_job *job, enum hang_doubt doubt)
{
    static const char *const texts[HANG_DOUBTS] = {
        [DOUBT_NO_DUMP] = "no dump of these ranks was read; each may wait, hold up others, or be gone",
        [DOUBT_RING_TOO_SHORT] =
            "the ring of these ranks has dropped entries that would tell how far they are, or what "
            "they wait in; a larger TORCH_FR_BUFFER_SIZE keeps them",
        [DOUBT_SNAPSHOTS_DIFFER] =
            "the dumps of these ranks are older than those of others, which have done operations "
            "beyond; nothing is said against them",
        [DOUBT_P2P_NOT_RECORDED] =
            "gloo records no send and no receive, and these ranks used some: they may wait in one, "
            "and are suspects only",
        [DOUBT_COMPLETION_NOT_RECORDED] =
            "the backend records no completion: the newest operation of these ranks may be "
            "over",
        [DOUBT_MEMBERS_UNKNOWN] =
            "all known members have entered a pending operation; gloo does not record the members "
            "of a group, and one that never used it cannot be seen",
        [DOUBT_PEER_UNKNOWN] = "the other end of a send or receive of these ranks is not recorded",
        [DOUBT_USUALLY_LAST] =
            "these ranks came last by 50 ms or more in the three operations before, too: slow, perhaps "
            "not stuck",
        [DOUBT_WAITS_ITSELF] = "the device of these ranks stopped, and they also wait for others",
        [DOUBT_ENTERED_BY_ALL_AND_PENDING] =
            "others wait for these ranks, which are inside an operation that all members "
            "have entered",
        [DOUBT_SEQUENCE_UNSURE] =
            "the first entries of these ranks are lost, and torchcomms numbers operations over all "
            "groups: their places in the groups are not known",
        [DOUBT_VERSION_UNKNOWN] =
            "the dumps of these ranks are of a version that is not known, and are read as 2.10: they may mean "
            "something else, and these ranks are suspects only",
        [DOUBT_STATE_UNKNOWN] =
            "the dumps of these ranks have operations in a state that is not known: whether they are over is not "
            "known either",
        [DOUBT_NO_ENTRIES] =
            "the dumps of these ranks hold no operations, although those of others hold some that are over: what "
            "these ranks did, and whether they wait themselves, is not known",
        [DOUBT_NO_TIMES] =
            "the dumps of these ranks record no times: whether they are older than the others cannot be seen, so what "
            "these ranks have not entered yet proves nothing. Write the dumps of all ranks at once, with time_created_ns",
        [DOUBT_SEVERAL_RUNS] =
            "the operations of these ranks are ten minutes or more apart: the dumps are of several runs, or the clocks of hosts are wrong, and no "
            "rank is more than a suspect",
    };
    (void)job;
    buffer_puts(out, texts[doubt]);
}
