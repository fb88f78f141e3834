/* waits.c - the operations in which each rank waits, and the members that are missing in each: see hang.h. */
#include "base/rows.h"
#include "hang/hang.h"

#include "base/order.h"
#include "base/search.h"
#include <assert.h>

/* ---- sends and receives ---- */

/* A send or receive, for pairing: the k-th send from one rank to another belongs to the k-th receive. */
struct p2p {
    uint32_t group, from, to, entry;
    bool sends, open; /* OPEN: pending or failed */
};

/* Sends first; entries of a rank are in order. */
static const struct key by_pair[] = { ASC(struct p2p, group),  ASC(struct p2p, from),  ASC(struct p2p, to),
                                      DESC(struct p2p, sends), ASC(struct p2p, entry), KEY_END };

static const struct key of_pair[] = { ASC(struct p2p, group), ASC(struct p2p, from), ASC(struct p2p, to),
                                      KEY_END };

static bool is_open(const struct flight_entry *entry)
{
    return entry->status == FLIGHT_PENDING || entry->status == FLIGHT_FAILED;
}

/* The rank with which the send or receive ENTRY of RANK is; HANG_NONE: not recorded. */
static uint32_t find_peer(const struct hang_job *job, const struct hang_group *group, uint32_t entry)
{
    uint32_t place = flight_op(job->flight, entry)->peer;
    if (place == FLIGHT_NO_RANK)
        return HANG_NONE;
    if (group->list)
        return place < group->list_count ? group->list[place] : HANG_NONE;
    return group->known && place < group->count ? group->members[place].rank : HANG_NONE;
}

static void add_wait(struct hang_job *job, const struct hang_wait *wait)
{
    *VEC_PUSH(&job->waits) = *wait;
}

struct pairing {
    VEC_OF(struct p2p) of;
    uint32_t *partner; /* by entry of the flight: the entry that it belongs to; HANG_NONE. NULL: no sends */
    uint8_t *missing;  /* by entry: its peer is missing */
};

static void pair_run(struct hang_job *job, struct pairing *pairing, const struct p2p *run, size_t count)
{
    size_t sends = 0;
    while (sends < count && run[sends].sends)
        sends++;
    bool all = job->dump_of[run->from] != HANG_NONE && job->dump_of[run->to] != HANG_NONE &&
               job->whole[run->from] && job->whole[run->to];
    const struct p2p *send = run, *send_end = run + sends, *recv = send_end, *recv_end = run + count;
    for (;;) {
        while (send < send_end && !all && !send->open)
            send++;
        while (recv < recv_end && !all && !recv->open)
            recv++;
        bool has_send = send < send_end, has_recv = recv < recv_end;
        if (!has_send && !has_recv)
            return;
        if (has_send && has_recv) {
            pairing->partner[send->entry] = recv->entry;
            pairing->partner[recv->entry] = send->entry;
        } else if (has_send) {
            pairing->missing[send->entry] = 1;
        } else {
            pairing->missing[recv->entry] = 1;
        }
        send += has_send;
        recv += has_recv;
    }
}

static void pair_sends(struct hang_job *job, struct pairing *pairing)
{
    struct flight *flight = job->flight;
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        for (size_t e = dump->first; e < dump->first + dump->count; e++) {
            const struct flight_entry *entry = &flight->entries.at[e];
            if (!entry->p2p)
                continue;
            uint32_t g = job->group_of[dump->first_group + entry->group];
            uint32_t peer = find_peer(job, &job->groups.at[g], (uint32_t)e);
            bool sends = flight_op(flight, e)->sends;
            if (peer != HANG_NONE)
                *VEC_PUSH(&pairing->of) = (struct p2p){ g,
                                                        sends ? dump->rank : peer,
                                                        sends ? peer : dump->rank,
                                                        (uint32_t)e,
                                                        sends,
                                                        is_open(entry) };
        }
    }
    if (pairing->of.count == 0)
        return;
    pairing->partner = mem_alloc(mem_times(flight->entries.count, sizeof *pairing->partner));
    memset(pairing->partner, 0xff, flight->entries.count * sizeof *pairing->partner);
    pairing->missing = mem_zalloc(flight->entries.count, 1);
    SORT(&pairing->of, by_pair);
    FOR_GROUPS(&pairing->of, of_pair, first, end)
        pair_run(job, pairing, &pairing->of.at[first], end - first);
}

static void add_p2p_wait(struct hang_job *job, const struct pairing *pairing, uint32_t rank, uint32_t group,
                         uint32_t entry)
{
    uint32_t peer = find_peer(job, &job->groups.at[group], entry);
    struct hang_wait wait = { .rank = rank,
                              .group = group,
                              .entry = entry,
                              .peer = peer,
                              .partner = HANG_NONE,
                              .op = HANG_NONE,
                              .seq = HANG_UNKNOWN,
                              .kind = hang_entry(job, entry)->status == FLIGHT_FAILED ? WAIT_FAILED
                                                                                      : WAIT_PENDING };
    if (peer == HANG_NONE) {
        hang_doubt(job, DOUBT_PEER_UNKNOWN, rank);
    } else if (job->dump_of[peer] == HANG_NONE) {
        wait.missing = 1;
    } else {
        assert(pairing->partner && pairing->missing);
        wait.partner = pairing->partner[entry];
        wait.missing = pairing->missing[entry] && !job->stale[peer];
    }
    add_wait(job, &wait);
}

/* ---- collectives ---- */

static void add_collective_wait(struct hang_job *job, const struct flight_dump *dump, uint32_t group,
                                uint32_t e)
{
    const struct flight_entry *entry = hang_entry(job, e);
    struct hang_wait wait = { .rank = dump->rank,
                              .group = group,
                              .entry = e,
                              .peer = HANG_NONE,
                              .partner = HANG_NONE,
                              .seq = entry->seq };
    if (!job->unsure[dump->rank]) {
        wait.op = hang_find_op(job, group, entry->seq);
        wait.missing = hang_missing(&job->groups.at[group], entry->seq);
    } else { /* its place in the group is not known */
        wait.op = HANG_NONE;
        wait.seq = HANG_UNKNOWN;
    }
    bool others_missing = wait.missing > job->groups.at[group].absent;
    switch ((enum flight_status)entry->status) {
    case FLIGHT_DONE: return;
    case FLIGHT_PENDING: wait.kind = WAIT_PENDING; break;
    case FLIGHT_FAILED: wait.kind = WAIT_FAILED; break;
    case FLIGHT_ENDED:
        if (!others_missing || !flight_op(job->flight, e)->needs_all)
            return;
        wait.kind = WAIT_ENDED;
        job->proof |= PROOF_ENDED_WITHOUT_ALL;
        break;
    case FLIGHT_ISSUED:
        if (wait.missing == 0 || e + 1 != dump->first + dump->count)
            return;
        wait.kind = WAIT_ISSUED;
        if (flight_op(job->flight, e)->writer == FLIGHT_HOOK)
            hang_doubt(job, DOUBT_COMPLETION_NOT_RECORDED, dump->rank);
        break;
    }
    add_wait(job, &wait);
}

/* The collective that MEMBER entered and has not completed by its status, without an entry, in which others are missing. */
static void add_lost_wait(struct hang_job *job, uint32_t g, const struct hang_member *member)
{
    const struct hang_group *group = &job->groups.at[g];
    size_t count;
    bool records_completion = !(group->writers & 1u << FLIGHT_HOOK) || group->most_completed[0] > 0;
    if (member->completed == HANG_UNKNOWN || !records_completion)
        return;
    int64_t seq = member->completed + 1;
    uint32_t next = hang_find_op(job, g, seq);
    if (!group->is_gloo && seq <= member->enqueued &&
        (next == HANG_NONE || !hang_refs_of(job, &job->ops.at[next], member->rank, &count))) {
        job->older_lost[member->rank] = true;
        hang_doubt(job, DOUBT_RING_TOO_SHORT, member->rank);
    }
    if (group->order_count == 0)
        return;
    if (group->absent == 0 && group->members[group->order[0]].entered + 1 > seq)
        seq = group->members[group->order[0]].entered + 1;
    for (; seq <= member->enqueued; seq++) {
        uint32_t op = hang_find_op(job, g, seq);
        if (op != HANG_NONE && hang_refs_of(job, &job->ops.at[op], member->rank, &count))
            continue;
        hang_doubt(job, DOUBT_RING_TOO_SHORT, member->rank);
        add_wait(job, &(struct hang_wait){ .rank = member->rank,
                                           .group = g,
                                           .entry = HANG_NONE,
                                           .peer = HANG_NONE,
                                           .partner = HANG_NONE,
                                           .op = op,
                                           .seq = seq,
                                           .missing = hang_missing(group, seq),
                                           .kind = WAIT_LOST });
        return;
    }
}

/* ---- waits by operation ---- */

static void group_waits(struct hang_job *job)
{
    size_t count = job->waits.count;
    SCOPED uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    for (size_t w = 0; w < count; w++) {
        const struct hang_wait *wait = &job->waits.at[w];
        uint64_t seq = wait->seq == HANG_UNKNOWN ? (UINT64_C(1) << 40) - 1 : (uint64_t)wait->seq;
        keys[w] = (uint64_t)wait->group << 40 | seq;
    }
    job->by_op = order_open(count);
    order_by(job->by_op, count, keys);
    for (size_t i = 0; i < count; i++) {
        const struct hang_wait *wait = &job->waits.at[job->by_op[i]];
        bool is_new = i == 0 || wait->seq == HANG_UNKNOWN || keys[job->by_op[i]] != keys[job->by_op[i - 1]];
        if (is_new)
            *VEC_PUSH(&job->wait_ops) = (struct hang_wait_op){ .group = wait->group,
                                                               .seq = wait->seq,
                                                               .first = i,
                                                               .missing = wait->missing,
                                                               .created_ns = INT64_MAX };
        struct hang_wait_op *op = &job->wait_ops.at[job->wait_ops.count - 1];
        op->count++;
        if (wait->entry != HANG_NONE && hang_entry(job, wait->entry)->created_ns < op->created_ns)
            op->created_ns = hang_entry(job, wait->entry)->created_ns;
    }
}

static const struct key by_group[] = { ASC(struct hang_wait, group), KEY_END };

void hang_find_waits(struct hang_job *job)
{
    struct flight *flight = job->flight;
    struct pairing pairing = { 0 };
    job->older_lost = hang_zeroed(job, job->world, sizeof *job->older_lost);
    pair_sends(job, &pairing);
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = &flight->dumps.at[job->dumps.at[i]];
        for (size_t e = dump->first; e < dump->first + dump->count; e++) {
            const struct flight_entry *entry = &flight->entries.at[e];
            uint32_t group = job->group_of[dump->first_group + entry->group];
            if (entry->status == FLIGHT_FAILED)
                job->proof |= PROOF_TIMED_OUT;
            if (!entry->p2p)
                add_collective_wait(job, dump, group, (uint32_t)e);
            else if (is_open(entry))
                add_p2p_wait(job, &pairing, dump->rank, group, (uint32_t)e);
        }
    }
    for (size_t g = 0; g < job->groups.count; g++)
        for (size_t m = 0; m < job->groups.at[g].count; m++)
            add_lost_wait(job, (uint32_t)g, &job->groups.at[g].members[m]);
    struct hang_wait *at = job->waits.at;
    SORT(&job->waits, by_group);
    SORT_BY(at, job->waits.count, i, at[i].entry == HANG_NONE ? -1 : (int64_t)at[i].entry);
    SORT_BY(at, job->waits.count, i, at[i].rank);
    job->first_wait = mem_zalloc((size_t)job->world + 2, sizeof *job->first_wait);
    for (size_t w = 0; w < job->waits.count; w++)
        job->first_wait[job->waits.at[w].rank + 1]++;
    for (uint32_t r = 0; r < job->world; r++)
        job->first_wait[r + 1] += job->first_wait[r];
    group_waits(job);
    VEC_FREE(&pairing.of);
    EACH(free, pairing.partner, pairing.missing);
}
