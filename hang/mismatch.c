/* mismatch.c - members of a group that issued different operations as the same collective: see hang.h. */
#include "hang/hang.h"

/* What is compared, in this order: the first that differs is the mismatch. */
enum part { PART_OP, PART_DTYPE, PART_SIZE, PARTS };

/* One rank at a collective. */
struct entrant {
    const struct hang_ref *refs; /* several if it is coalesced */
    size_t count;
    uint32_t rank;
    uint32_t variant; /* ranks with the same key */
};

struct comparison {
    const struct hang_job *job;
    VEC_OF(struct entrant) of; /* by rank */
    VEC_OF(size_t) first_of;   /* by variant: the first rank */
    VEC_OF(size_t) counts;     /* by variant */
};

/* ---- the parts of an operation; a part that is not recorded, or may differ, fits any ---- */

static name_id types_of(const struct hang_job *job, uint32_t entry)
{
    enum flight_kind kind = flight_op(job->flight, entry)->kind;
    return kind == FLIGHT_GATHER || kind == FLIGHT_SCATTER ? NAME_NONE
                                                           : flight_shape(job->flight, entry)->types;
}

/* Must the counts of elements of inputs, or of outputs, agree between ranks? */
static bool counts_agree(const struct flight_op *op, bool of_inputs)
{
    switch (op->kind) {
    case FLIGHT_ALL_TO_ALL: return false;
    case FLIGHT_ALL_REDUCE:
    case FLIGHT_ALL_GATHER: return true;
    case FLIGHT_BROADCAST:
    case FLIGHT_REDUCE:
    case FLIGHT_GATHER: return of_inputs;
    case FLIGHT_REDUCE_SCATTER: return !of_inputs || op->base;
    case FLIGHT_SCATTER: return !of_inputs;
    default: return of_inputs && op->base;
    }
}

struct counts {
    const int64_t *at;
    size_t count; /* 0: fits any */
};

static struct counts counts_of(const struct hang_job *job, uint32_t entry, bool of_inputs)
{
    const struct flight_shape *shape = flight_shape(job->flight, entry);
    if (!counts_agree(flight_op(job->flight, entry), of_inputs))
        return (struct counts){ NULL, 0 };
    return of_inputs ? (struct counts){ shape->in, shape->in_count }
                     : (struct counts){ shape->out, shape->out_count };
}

static bool counts_fit(const struct hang_job *job, uint32_t a, uint32_t b, bool of_inputs)
{
    struct counts left = counts_of(job, a, of_inputs), right = counts_of(job, b, of_inputs);
    return left.count == 0 || right.count == 0 ||
           (left.count == right.count && memcmp(left.at, right.at, left.count * sizeof *left.at) == 0);
}

static bool parts_fit(const struct hang_job *job, const struct entrant *a, const struct entrant *b,
                      enum part part)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        uint32_t left = a->refs[i].entry, right = b->refs[i].entry;
        name_id left_types = types_of(job, left), right_types = types_of(job, right);
        switch (part) {
        case PART_OP:
            if (flight_op(job->flight, left)->text != flight_op(job->flight, right)->text)
                return false;
            break;
        case PART_DTYPE:
            if (left_types != NAME_NONE && right_types != NAME_NONE && left_types != right_types)
                return false;
            break;
        default:
            if (!counts_fit(job, left, right, true) || !counts_fit(job, left, right, false))
                return false;
            break;
        }
    }
    return true;
}

static void add_key(struct buffer *key, const struct hang_job *job, uint32_t entry, enum part part)
{
    name_id types = types_of(job, entry);
    if (part == PART_OP) {
        buffer_add(key, (const char *)&flight_op(job->flight, entry)->text, sizeof(name_id));
    } else if (part == PART_DTYPE) {
        buffer_add(key, (const char *)&types, sizeof types);
    } else {
        for (int inputs = 0; inputs < 2; inputs++) {
            struct counts counts = counts_of(job, entry, inputs);
            buffer_add(key, (const char *)&counts.count, sizeof counts.count);
            if (counts.count)
                buffer_add(key, (const char *)counts.at, counts.count * sizeof *counts.at);
        }
    }
}

/* Number the variants of PART. */
static void find_variants(struct comparison *in, enum part part)
{
    SCOPED_OBJECT struct names *keys = names_open();
    SCOPED struct buffer key = { 0 };
    in->first_of.count = in->counts.count = 0;
    for (size_t i = 0; i < in->of.count; i++) {
        struct entrant *entrant = &in->of.at[i];
        buffer_clear(&key);
        for (size_t k = 0; k < entrant->count; k++)
            add_key(&key, in->job, entrant->refs[k].entry, part);
        entrant->variant = names_add(keys, key.at, key.count);
        if (entrant->variant == in->first_of.count) {
            *VEC_PUSH(&in->first_of) = i;
            *VEC_PUSH(&in->counts) = 0;
        }
        in->counts.at[entrant->variant]++;
    }
}

static bool all_fit(const struct comparison *in, enum part part)
{
    for (size_t a = 0; a < in->first_of.count; a++)
        for (size_t b = a + 1; b < in->first_of.count; b++)
            if (!parts_fit(in->job, &in->of.at[in->first_of.at[a]], &in->of.at[in->first_of.at[b]], part))
                return false;
    return true;
}

/* ---- collectives ---- */

/* Have all entries the same name, sizes and types? Then nothing needs to be compared. */
static bool is_uniform(const struct hang_job *job, const struct hang_op *op)
{
    const struct flight_entry *first = hang_entry(job, job->refs[op->first].entry);
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const struct flight_entry *entry = hang_entry(job, job->refs[i].entry);
        bool doubled = i > op->first && job->refs[i].rank == job->refs[i - 1].rank;
        if (entry->op != first->op || entry->shape != first->shape || doubled)
            return false;
    }
    return true;
}

/* Is the collective done on all that entered it, or over on all, which have entered a later one? Then nothing hangs there.
 * A device may have many queued behind one that is not over. */
static bool is_over(const struct hang_job *job, const struct hang_op *op)
{
    bool all_done = true, all_on = true;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const struct hang_member *member = hang_member(&job->groups.at[op->group], job->refs[i].rank);
        enum flight_status status = hang_entry(job, job->refs[i].entry)->status;
        all_done = all_done && status == FLIGHT_DONE;
        all_on = all_on && member && member->entered > op->seq && status != FLIGHT_PENDING &&
                 status != FLIGHT_FAILED;
    }
    return all_done || all_on;
}

static void find_entrants(struct comparison *in, const struct hang_op *op)
{
    in->of.count = 0;
    for (size_t i = op->first; i < op->first + op->count; i++) {
        const struct hang_ref *ref = &in->job->refs[i];
        if (in->of.count == 0 || in->of.at[in->of.count - 1].rank != ref->rank)
            *VEC_PUSH(&in->of) = (struct entrant){ ref, 0, ref->rank, 0 };
        in->of.at[in->of.count - 1].count++;
    }
}

static name_id text_of(const struct hang_job *job, const struct hang_ref *ref)
{
    return flight_op(job->flight, ref->entry)->text;
}

/* Did RANK swap two operations? Within the next four collectives, those of the majority have what RANK has here, where
 * RANK has what the majority has here. BEST: the variant of the majority. */
static bool is_swapped(const struct comparison *in, const struct hang_op *op, const struct entrant *rank,
                       uint32_t best)
{
    enum { WITHIN = 4 };
    const struct hang_job *job = in->job;
    name_id mine = text_of(job, rank->refs), theirs = text_of(job, in->of.at[in->first_of.at[best]].refs);
    for (int64_t k = 1; k <= WITHIN; k++) {
        uint32_t o = hang_find_op(job, op->group, op->seq + k);
        size_t count;
        const struct hang_ref *later =
            o == HANG_NONE ? NULL : hang_refs_of(job, &job->ops.at[o], rank->rank, &count);
        if (!later || text_of(job, later) != theirs)
            continue;
        bool any = false, all = true;
        for (size_t i = 0; i < in->of.count && all; i++) {
            const struct hang_ref *other = hang_refs_of(job, &job->ops.at[o], in->of.at[i].rank, &count);
            if (in->of.at[i].variant != best || !other)
                continue;
            any = true;
            all = text_of(job, other) == mine;
        }
        if (any && all)
            return true;
    }
    return false;
}

static void find_minority(struct hang_job *job, const struct comparison *in, uint32_t o, enum part part)
{
    static const enum hang_class classes[PARTS] = {
        [PART_OP] = HANG_MISMATCH_OP,
        [PART_DTYPE] = HANG_MISMATCH_DTYPE,
        [PART_SIZE] = HANG_MISMATCH_SIZE,
    };
    const struct hang_op *op = &job->ops.at[o];
    const struct hang_group *group = &job->groups.at[op->group];
    SCOPED uint8_t *entered = mem_zalloc((size_t)job->world + 1, 1),
                   *minority = mem_zalloc((size_t)job->world + 1, 1);
    size_t entered_count = 0;
    for (size_t i = 0; i < in->of.count; i++)
        entered[in->of.at[i].rank] = 1;
    for (size_t m = 0; m < group->count; m++) {
        if (group->members[m].entered >= op->seq)
            entered[group->members[m].rank] = 1;
        entered_count += entered[group->members[m].rank];
    }
    uint32_t best = 0;
    for (uint32_t v = 1; v < in->counts.count; v++)
        if (in->counts.at[v] > in->counts.at[best])
            best = v;
    bool any = false, swapped = part == PART_OP;
    for (size_t i = 0; i < in->of.count && 2 * in->counts.at[best] > entered_count; i++) {
        if (parts_fit(job, &in->of.at[i], &in->of.at[in->first_of.at[best]], part))
            continue;
        minority[in->of.at[i].rank] = 1;
        any = true;
        swapped = swapped && is_swapped(in, op, &in->of.at[i], best);
    }
    *VEC_PUSH(&job->mismatches) =
        (struct hang_mismatch){ .group = op->group,
                                .op = o,
                                .class = any && swapped ? HANG_MISMATCH_ORDER : classes[part],
                                .minority = hang_ranks_of(job, minority),
                                .entered = hang_ranks_of(job, entered) };
}

void hang_find_mismatches(struct hang_job *job)
{
    struct comparison in = { .job = job };
    FOR_EACH(group, &job->groups) {
        bool found = false;
        for (size_t o = group->first_op; o < group->first_op + group->op_count && !found; o++) {
            const struct hang_op *op = &job->ops.at[o];
            if (is_uniform(job, op) || is_over(job, op))
                continue;
            find_entrants(&in, op);
            for (enum part part = PART_OP; part < PARTS && !found; part++) {
                find_variants(&in, part);
                found = !all_fit(&in, part);
                if (found)
                    find_minority(job, &in, (uint32_t)o, part);
            }
        }
    }
    EACH(VEC_FREE, &in.of, &in.first_of, &in.counts);
}
