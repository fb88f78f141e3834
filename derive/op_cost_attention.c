/*
 * op_cost_attention.c - attention: queries by keys, then scores by values, for the pairs of tokens that see each other.
 *
 * Forward 2 B H P (Dqk + Dv): B sequences, H heads of queries, P pairs, D numbers a head. Backward has five products
 * instead of two, of which one, the scores, is recomputed: 2 B H P (3 Dqk + 2 Dv). With a causal mask token i sees
 * those up to i + offset; the offset is 0 in torch, and keys - queries in flash_attn since 2.1, which aligns the ends.
 */
#include "derive/op_cost.h"

enum { ABSENT = 255 };

/* The indices of inputs. */
struct layout {
    uint8_t query;    /* keys and values follow it */
    uint8_t causal;   /* "True", or the kind of mask: 0 none, 1 aligned at the begins, 2 at the ends */
    uint8_t lengths;  /* offsets of sequences; if present, lengths vary */
    uint8_t window;   /* extent of the window to the left; the next input is the extent to the right */
    bool heads_first; /* [B, H, N, D]; else [B, N, H, D] */
    bool backward, aligned_at_end;
};

/* clang-format off */
static const struct layout layouts[] = {
    [ATTENTION_SDPA_FLASH] =          { 0, 4,  ABSENT, ABSENT, true,  false, false },
    [ATTENTION_SDPA_EFFICIENT] =      { 0, 6,  ABSENT, ABSENT, true,  false, false }, /* cuDNN's, too */
    [ATTENTION_SDPA_OVERRIDEABLE] =   { 0, 5,  ABSENT, ABSENT, true,  false, false },
    [ATTENTION_FLASH] =               { 0, 8,  3,      11,     false, false, false },
    [ATTENTION_EFFICIENT] =           { 0, 9,  4,      ABSENT, false, false, false },
    [ATTENTION_FLASH_ATTN] =          { 0, 5,  ABSENT, 6,      false, false, true },
    [ATTENTION_SDPA_FLASH_BACKWARD] = { 1, 11, ABSENT, ABSENT, true,  true,  false }, /* the efficient one's, too */
    [ATTENTION_SDPA_CPU_BACKWARD] =   { 1, 7,  ABSENT, ABSENT, true,  true,  false },
    [ATTENTION_SDPA_CUDNN_BACKWARD] = { 1, 14, ABSENT, ABSENT, true,  true,  false },
    [ATTENTION_FLASH_BACKWARD] =      { 1, 11, 6,      15,     false, true,  false },
    [ATTENTION_EFFICIENT_BACKWARD] =  { 1, 14, 6,      ABSENT, false, true,  false },
    [ATTENTION_FLASH_ATTN_BACKWARD] = { 1, 11, ABSENT, 12,     false, true,  true },
};
/* clang-format on */

struct attention {
    int64_t batch, heads, queries, keys, width, value_width;
};

static bool find_attention(const struct op_call *call, const struct layout *at, struct attention *attention)
{
    const struct op_input *q = &call->in[at->query], *k = q + 1, *v = q + 2;
    if (!op_call_sized(call, at->query) || !op_call_sized(call, at->query + 1) ||
        !op_call_sized(call, at->query + 2) || q->sizes.count != 4 || k->sizes.count != 4 ||
        v->sizes.count != 4)
        return false;
    size_t heads = at->heads_first ? 1 : 2, tokens = at->heads_first ? 2 : 1;
    *attention = (struct attention){
        q->sizes.size[0],      q->sizes.size[heads], q->sizes.size[tokens],
        k->sizes.size[tokens], q->sizes.size[3],     v->sizes.size[3],
    };
    return k->sizes.size[3] == attention->width && v->sizes.size[tokens] == attention->keys;
}

/* The sum of min(max(i + 1 + offset, 0), keys) over all i < queries. */
static int64_t causal_pairs(int64_t queries, int64_t keys, int64_t offset)
{
    enum { MOST = 1 << 30 };
    if (queries < 0 || keys < 0 || queries > MOST || keys > MOST)
        return OP_UNKNOWN;
    int64_t first = offset < 0 ? -offset : 0; /* the first query that sees any key */
    int64_t full = keys - offset;             /* queries from this one on, counted from 1, see all keys */
    if (first >= queries)
        return 0;
    full = full < first ? first : full > queries ? queries : full;
    /* queries first to full - 1 see i + 1 + offset keys, the others all */
    int64_t rising = full - first, least = first + 1 + offset, most = full + offset;
    return rising * (least + most) / 2 + (queries - full) * keys;
}

/* Pairs of one head of one sequence; unknown where the mask is not recorded. */
static int64_t pairs_of(const struct op_call *call, const struct layout *at, size_t causal,
                        const struct attention *of)
{
    int64_t all = count_times(of->queries, of->keys);
    enum op_flag flag = op_call_flag(call, causal);
    int64_t kind = flag == OP_FLAG_UNKNOWN ? op_call_integer(call, causal, OP_UNKNOWN) : (int64_t)flag;
    if (kind == 0)
        return all;
    if (kind != 1 && kind != 2)
        return OP_UNKNOWN;
    return causal_pairs(of->queries, of->keys, kind == 2 || at->aligned_at_end ? of->keys - of->queries : 0);
}

/* Is there a window that limits attention? -1 and a missing input mean none. */
static bool has_window(const struct op_call *call, size_t window)
{
    return window != ABSENT &&
           (op_call_integer(call, window, -1) >= 0 || op_call_integer(call, window + 1, -1) >= 0);
}

/* The input with the kind of mask of xFormers' operators: after the dropout, the only floating-point number, whose
 * position varies. */
static size_t mask_of_efficient(const struct op_call *call, size_t expected)
{
    for (size_t i = expected - 2; i < expected && i < call->count; i++) {
        struct text dropout = call->in[i].concrete;
        if (dropout.len && memchr(dropout.at, '.', dropout.len))
            return i + 1;
    }
    return expected;
}

void op_cost_attention(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    const struct layout *at = &layouts[model->form];
    struct attention of;
    if (!find_attention(call, at, &of) || (at->lengths != ABSENT && op_call_sized(call, at->lengths)))
        return;
    const struct op_input *query = &call->in[at->query];
    size_t causal =
        model->form == ATTENTION_EFFICIENT ? mask_of_efficient(call, at->causal) : (size_t)at->causal;
    int64_t pairs = has_window(call, at->window) ? OP_UNKNOWN : pairs_of(call, at, causal, &of);
    int64_t all = count_times(2, count_times(count_times(of.batch, of.heads), pairs));
    int64_t width = at->backward ? count_plus(count_times(3, of.width), count_times(2, of.value_width))
                                 : count_plus(of.width, of.value_width);
    int64_t read = bytes_read_all(call, 0, model->inputs), written;
    if (at->backward)
        written = count_plus(count_plus(bytes_of(query[0].elements, query[0].type),
                                        bytes_of(query[1].elements, query[1].type)),
                             bytes_of(query[2].elements, query[2].type));
    else
        written =
            bytes_of(count_times(count_times(of.batch, of.heads), count_times(of.queries, of.value_width)),
                     query->type);
    cost->type = query->type;
    cost->flops = count_times(all, width);
    cost->recomputed = at->backward && cost->flops != OP_UNKNOWN ? count_times(all, of.width) : 0;
    cost->bytes = count_plus(read, written);
}

/* Queries, keys and values of all sequences are concatenated: the inputs do not show which tokens see which. */
void op_cost_attention_varied(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    (void)model;
    (void)call;
    (void)cost;
}
