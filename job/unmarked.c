/*
 * unmarked.c - the computations of a recording without marks (Schedule1F1B of torch, Megatron-LM): see recording.h.
 *
 * Work is cut where the host issues a message, and where it changes between forward and backward: work is backward if it was
 * launched while autograd evaluated a function. Pieces of preparation look like forward passes: of those before the last
 * backward one of a step, the longest count, as many as there are backward ones.
 */
#include "base/rows.h"
#include "base/search.h"
#include "job/recording.h"

struct piece {
    int64_t step;
    bool backward;
    size_t cuts; /* messages issued before */
    struct interval issued, ran;
    int64_t length_ns;
};

struct pieces {
    VEC_OF(struct piece);
};

/* Operators within others of their thread are parts of these. */
static size_t keep_outermost(struct work *work, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || work[kept - 1].track != work[i].track || work[kept - 1].end_ns <= work[i].start_ns)
            work[kept++] = work[i];
    return kept;
}

static void add_work(struct pieces *pieces, const struct work *work, const struct piece *where)
{
    struct piece *last = pieces->count ? &pieces->at[pieces->count - 1] : NULL;
    if (!last || last->step != where->step || last->backward != where->backward ||
        last->cuts != where->cuts) {
        last = VEC_PUSH(pieces);
        *last = *where;
        last->issued = (struct interval){ work->issued_ns, work->issued_end_ns };
        last->ran = (struct interval){ work->start_ns, work->end_ns };
        return;
    }
    if (work->issued_end_ns > last->issued.end_ns)
        last->issued.end_ns = work->issued_end_ns;
    if (work->start_ns < last->ran.start_ns)
        last->ran.start_ns = work->start_ns;
    if (work->end_ns > last->ran.end_ns)
        last->ran.end_ns = work->end_ns;
}

static const struct key by_issue[] = { ASC(struct work, issued_ns), KEY_END };

static void cut(struct recording *of, struct pieces *pieces)
{
    SCOPED VEC_OF(int64_t) cuts = { 0 };
    for (size_t i = 0; i < of->messages.count; i++)
        if (of->messages.at[i].kind == COLLECTIVE_SEND || of->messages.at[i].kind == COLLECTIVE_RECV)
            *VEC_PUSH(&cuts) = of->messages.at[i].issued_ns;
    if (of->form == JOB_OF_HOSTS) {
        of->work.count = keep_outermost(of->work.at, of->work.count);
        SORT(&of->work, by_issue);
    }
    FOR_EACH(work, &of->work) {
        struct piece where = { .step = recording_step(of, work->issued_ns) };
        if (work->communicates || where.step == FACTS_MISSING ||
            intervals_contain(&of->optimizers, work->issued_ns))
            continue;
        where.backward = intervals_contain(&of->backward, work->issued_ns);
        SEARCH(where.cuts, cuts.count, cuts.at[where.cuts] <= work->issued_ns);
        add_work(pieces, work, &where);
    }
}

static const struct key by_step[] = { ASC(struct piece, step), ASC(struct piece, issued.start_ns), KEY_END };
static const struct key of_step[] = { ASC(struct piece, step), KEY_END };
static const struct key by_length[] = { DESC(struct piece, length_ns), ASC(struct piece, issued.start_ns),
                                        KEY_END };
static const struct key by_start[] = { ASC(struct piece, issued.start_ns), KEY_END };

static void add_pieces(struct recording *of, const struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->at[i];
        uint32_t place = recording_add_computation(of, piece->backward ? BACKWARD_COMPUTE : FORWARD_COMPUTE,
                                                   piece->step, piece->issued, piece->ran);
        of->found.at[place].row.microbatch = (int64_t)i;
        of->found.at[place].row.chunk = 0;
    }
}

/* Add the computations among COUNT pieces of a step, which are in order of issue. */
static void add_step(struct recording *of, const struct piece *at, size_t count)
{
    SCOPED struct pieces forward = { 0 }, backward = { 0 };
    size_t end = count;
    while (end > 0 && !at[end - 1].backward)
        end--;
    for (size_t i = 0; i < end; i++) {
        struct piece *piece = at[i].backward ? VEC_PUSH(&backward) : VEC_PUSH(&forward);
        *piece = at[i];
        piece->length_ns = piece->ran.end_ns - piece->ran.start_ns;
    }
    SORT(&forward, by_length);
    if (forward.count > backward.count)
        forward.count = backward.count;
    SORT(&forward, by_start);
    add_pieces(of, &forward);
    add_pieces(of, &backward);
}

void recording_add_unmarked(struct recording *of)
{
    SCOPED struct pieces pieces = { 0 };
    cut(of, &pieces);
    SORT(&pieces, by_step);
    FOR_GROUPS(&pieces, of_step, first, end)
        add_step(of, &pieces.at[first], end - first);
}
