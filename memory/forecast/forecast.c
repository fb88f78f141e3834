#include "memory/forecast/forecast.h"

#include "base/lcs.h"
#include "base/rows.h"
#include <assert.h>
#include <math.h>

/* How a block of the base is predicted. */
struct plan_block {
    uint32_t *match; /* by recording: its counterpart; UINT32_MAX: none */
    bool matched;    /* in all recordings */
    struct growth growth;
};

struct plan {
    const struct forecast_recording *recordings;
    size_t count, base;
    const double *target;
    double (*sizes)[FORECAST_SIZES];
    unsigned varying;
    struct plan_block *blocks;
    uint32_t *matches;
    bool same_sequence;
};

static void find_sizes(struct plan *plan, struct arena *arena)
{
    plan->sizes = arena_alloc(arena, mem_times(plan->count, sizeof *plan->sizes));
    for (size_t k = 0; k < plan->count; k++) {
        memcpy(plan->sizes[k], plan->recordings[k].size, sizeof plan->sizes[k]);
        for (int i = 0; i < FORECAST_SIZES; i++)
            if (plan->recordings[k].size[i] != plan->recordings[0].size[i])
                plan->varying |= 1u << i;
    }
}

/* The recording nearest to the target, of equally near ones that with the larger peak. */
static size_t nearest(const struct forecast_recording *recordings, size_t count, const double *target)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t k = 0; k < count; k++) {
        double apart = 0;
        for (int i = 0; i < FORECAST_SIZES; i++)
            if (target[i] > 0)
                apart += fabs(log(recordings[k].size[i] / target[i]));
        if (apart < least - 1e-9 ||
            (apart < least + 1e-9 && recordings[k].peak_bytes > recordings[best].peak_bytes)) {
            best = k;
            least = apart;
        }
    }
    return best;
}

/* ---- matching ---- */

struct sequence {
    VEC_OF(uint32_t) keys, blocks;
};

/* The blocks in the order in which they were allocated; INITIAL: those that were there before. */
static struct sequence sequence_of(const struct forecast_recording *recording, bool initial)
{
    struct sequence sequence = { 0 };
    for (uint32_t b = 0; b < recording->blocks.count; b++)
        if (recording->blocks.at[b].initial == initial) {
            *VEC_PUSH(&sequence.keys) =
                recording->blocks.at[b].key == LCS_NOTHING ? LCS_NOTHING - 1 : recording->blocks.at[b].key;
            *VEC_PUSH(&sequence.blocks) = b;
        }
    return sequence;
}

static void match(struct plan *plan, size_t other, bool initial)
{
    enum { MOST_EDITS = 5000 };
    struct sequence a = sequence_of(&plan->recordings[plan->base], initial),
                    b = sequence_of(&plan->recordings[other], initial);
    SCOPED struct lcs_pairs pairs = { 0 };
    lcs_find(a.keys.at, a.keys.count, b.keys.at, b.keys.count, MOST_EDITS, &pairs);
    for (size_t i = 0; i < pairs.count; i++) {
        assert(a.blocks.at && b.blocks.at);
        plan->blocks[a.blocks.at[pairs.at[i].a]].match[other] = b.blocks.at[pairs.at[i].b];
    }
    if (!initial && (pairs.count < a.keys.count || pairs.count < b.keys.count))
        plan->same_sequence = false;
    EACH(VEC_FREE, &a.keys, &a.blocks, &b.keys, &b.blocks);
}

/* ---- growth ---- */

/* A block's ratio of growth, for those of the same key without counterpart. */
struct like {
    uint32_t key, block;
    int64_t kind; /* of growth, and the powers */
};

static const struct key by_kind[] = { ASC(struct like, key), ASC(struct like, kind), KEY_END };
static const struct key of_key[] = { ASC(struct like, key), KEY_END };

static int64_t kind_number(const struct growth *growth)
{
    int64_t number = growth->kind;
    for (int i = 0; i < FORECAST_SIZES; i++)
        number = number * 3 + growth->power[i];
    return number;
}

/* The growth of a block without counterpart: as LIKE; without any, between its size and its size times the ratio of sizes. */
static struct growth unmatched_growth(const struct plan *plan, uint32_t b, const struct growth *like)
{
    double bytes = (double)plan->recordings[plan->base].blocks.at[b].bytes, ratio = 1;
    struct growth growth = { .kind = GROWTH_IRREGULAR };
    for (int i = 0; i < FORECAST_SIZES; i++)
        ratio *= plan->varying >> i & 1 ? plan->target[i] / plan->sizes[plan->base][i] : 1;
    if (like) {
        double was = like->constant + like->at_base;
        growth = *like;
        growth.constant = bytes;
        growth.at_base = 0;
        growth.then = growth.low = growth.high = was > 0 ? bytes * like->then / was : bytes;
        growth.kind = growth_is_regular(like) ? like->kind : GROWTH_LINEAR;
        return growth;
    }
    growth.low = fmin(bytes, bytes * ratio);
    growth.high = fmax(bytes, bytes * ratio);
    growth.then = (growth.low + growth.high) / 2;
    growth.constant = bytes;
    growth.kind = GROWTH_LINEAR; /* predicted by itself, within its bounds */
    return growth;
}

static void find_growth(struct plan *plan)
{
    const struct forecast_recording *base = &plan->recordings[plan->base];
    SCOPED VEC_OF(struct like) likes = { 0 };
    SCOPED double *values = mem_alloc(mem_times(plan->count, sizeof *values));
    for (uint32_t b = 0; b < base->blocks.count; b++) {
        struct plan_block *block = &plan->blocks[b];
        block->matched = true;
        for (size_t k = 0; k < plan->count; k++) {
            uint32_t other = k == plan->base ? b : block->match[k];
            block->matched &= other != UINT32_MAX;
            values[k] = other == UINT32_MAX ? 0 : (double)plan->recordings[k].blocks.at[other].bytes;
        }
        if (!block->matched)
            continue;
        block->growth = growth_of(values, (const double(*)[FORECAST_SIZES])plan->sizes, plan->count,
                                  plan->base, plan->varying, plan->target);
        *VEC_PUSH(&likes) = (struct like){ base->blocks.at[b].key, b, kind_number(&block->growth) };
    }
    SORT(&likes, by_kind);
    for (uint32_t b = 0; b < base->blocks.count; b++) {
        if (plan->blocks[b].matched)
            continue;
        struct like wanted = { .key = base->blocks.at[b].key };
        const struct like *found = rows_find(likes.at, likes.count, sizeof wanted, of_key, &wanted),
                          *most = found;
        for (size_t longest = 0, run = 0; found && found < likes.at + likes.count && found->key == wanted.key;
             found++) {
            run = found > likes.at && found[-1].key == found->key && found[-1].kind == found->kind ? run + 1
                                                                                                   : 1;
            if (run > longest) {
                longest = run;
                most = found;
            }
        }
        plan->blocks[b].growth = unmatched_growth(plan, b, most ? &plan->blocks[most->block].growth : NULL);
    }
}

static struct plan plan_open(const struct forecast_recording *recordings, size_t count, size_t base,
                             const double *target, struct arena *arena)
{
    struct plan plan = {
        .recordings = recordings, .count = count, .base = base, .target = target, .same_sequence = true
    };
    size_t blocks = recordings[base].blocks.count;
    find_sizes(&plan, arena);
    plan.blocks = arena_zalloc(arena, blocks + 1, sizeof *plan.blocks);
    plan.matches = arena_alloc(arena, mem_times(blocks * count + 1, sizeof *plan.matches));
    memset(plan.matches, 0xff, blocks * count * sizeof *plan.matches);
    for (size_t b = 0; b < blocks; b++)
        plan.blocks[b].match = plan.matches + b * count;
    for (size_t k = 0; k < count; k++)
        if (k != base) {
            match(&plan, k, false);
            match(&plan, k, true);
        }
    find_growth(&plan);
    return plan;
}

/* ---- replay ---- */

/* What is in use now. Blocks of irregular growth are predicted by their sum. */
struct level {
    double regular, low, high; /* predicted */
    double *sums;              /* by recording: irregular blocks as recorded */
    struct growth vague;       /* their sum at the target */
    size_t vague_blocks;
};

static void level_move(const struct plan *plan, struct level *level, uint32_t b, int sign)
{
    const struct plan_block *block = &plan->blocks[b];
    if (growth_is_regular(&block->growth)) {
        level->regular += sign * block->growth.then;
        level->low += sign * block->growth.low;
        level->high += sign * block->growth.high;
        return;
    }
    for (size_t k = 0; k < plan->count; k++) {
        uint32_t other = k == plan->base ? b : block->match[k];
        level->sums[k] += sign * (double)plan->recordings[k].blocks.at[other].bytes;
    }
    level->vague_blocks += (size_t)sign;
    level->vague = (struct growth){ 0 };
    if (level->vague_blocks)
        level->vague = growth_of(level->sums, (const double(*)[FORECAST_SIZES])plan->sizes, plan->count,
                                 plan->base, plan->varying, plan->target);
}

struct peak {
    double bytes, low, high, vague; /* VAGUE: of BYTES, what does not grow regularly even as a sum */
    double vague_ratio;             /* of the irregular blocks: predicted against the base */
    size_t event;                   /* after which it is reached; SIZE_MAX: before the first */
    int64_t reserved, base_reserved;
};

static void peak_rise(const struct plan *plan, const struct level *level, size_t event, struct peak *peak)
{
    double bytes = level->regular + level->vague.then;
    peak->low = fmax(peak->low, level->low + level->vague.low);
    peak->high = fmax(peak->high, level->high + level->vague.high);
    if (bytes <= peak->bytes)
        return;
    peak->bytes = bytes;
    peak->vague = growth_is_regular(&level->vague) ? 0 : level->vague.then;
    peak->vague_ratio = level->sums[plan->base] > 0 ? level->vague.then / level->sums[plan->base] : 1;
    peak->event = event;
}

struct replay {
    struct allocator *then, *now;
    uint32_t *then_piece, *now_piece; /* by block */
};

static void replay_take(const struct plan *plan, struct replay *replay, const struct level *level, uint32_t b)
{
    const struct forecast_block *block = &plan->recordings[plan->base].blocks.at[b];
    const struct growth *growth = &plan->blocks[b].growth;
    double base_sum = level->sums[plan->base],
           then = growth_is_regular(growth) ? growth->then
                  : base_sum > 0            ? (double)block->bytes * level->vague.then / base_sum
                                            : growth->then;
    replay->then_piece[b] = allocator_take(replay->then, (int64_t)llround(fmin(then, 1e18)), block->stream);
    replay->now_piece[b] = allocator_take(replay->now, block->bytes, block->stream);
}

static struct peak replay_plan(const struct plan *plan, bool reserves)
{
    const struct forecast_recording *base = &plan->recordings[plan->base];
    size_t blocks = base->blocks.count;
    struct level level = { .sums = mem_zalloc(plan->count, sizeof *level.sums) };
    struct peak peak = { .event = SIZE_MAX, .reserved = -1 };
    struct replay replay = { 0 };
    if (reserves)
        replay = (struct replay){ allocator_open(), allocator_open(), mem_alloc(mem_times(blocks + 1, 4)),
                                  mem_alloc(mem_times(blocks + 1, 4)) };
    for (uint32_t b = 0; b < blocks; b++)
        if (base->blocks.at[b].initial) {
            level_move(plan, &level, b, 1);
            if (reserves)
                replay_take(plan, &replay, &level, b);
        }
    peak_rise(plan, &level, SIZE_MAX, &peak);
    for (size_t i = 0; i < base->events.count; i++) {
        const struct forecast_event *event = &base->events.at[i];
        level_move(plan, &level, event->block, event->frees ? -1 : 1);
        if (!event->frees)
            peak_rise(plan, &level, i, &peak);
        if (reserves && event->frees) {
            allocator_give(replay.then, replay.then_piece[event->block]);
            allocator_give(replay.now, replay.now_piece[event->block]);
        } else if (reserves) {
            replay_take(plan, &replay, &level, event->block);
        }
    }
    if (reserves) {
        peak.reserved = allocator_reserved(replay.then);
        peak.base_reserved = allocator_reserved(replay.now);
        EACH(allocator_free, replay.then, replay.now);
        EACH(free, replay.then_piece, replay.now_piece);
    }
    free(level.sums);
    return peak;
}

static const struct key by_name[] = { ASC(struct forecast_grown, name), KEY_END };
static const struct key by_growth[] = { DESC(struct forecast_grown, growth_bytes),
                                        DESC(struct forecast_grown, bytes), KEY_END };

static void find_grown(const struct plan *plan, const struct peak *peak, struct forecast *forecast)
{
    const struct forecast_recording *base = &plan->recordings[plan->base];
    bool *in_use = mem_zalloc(base->blocks.count + 1, sizeof *in_use);
    for (size_t b = 0; b < base->blocks.count; b++)
        in_use[b] = base->blocks.at[b].initial;
    for (size_t i = 0; peak->event != SIZE_MAX && i <= peak->event; i++)
        in_use[base->events.at[i].block] = !base->events.at[i].frees;
    for (size_t b = 0; b < base->blocks.count; b++) {
        if (!in_use[b])
            continue;
        const struct growth *growth = &plan->blocks[b].growth;
        double was = (double)base->blocks.at[b].bytes,
               then = growth_is_regular(growth) ? growth->then : was * peak->vague_ratio;
        struct forecast_grown row = { .name = base->blocks.at[b].name,
                                      .bytes = (int64_t)llround(then),
                                      .growth_bytes = (int64_t)llround(then) - base->blocks.at[b].bytes };
        row.by_kind[growth->kind] = row.bytes;
        *VEC_PUSH(&forecast->grown) = row;
    }
    free(in_use);
    SORT(&forecast->grown, by_name);
    size_t kept = 0;
    int64_t all = 0;
    FOR_GROUPS(&forecast->grown, by_name, first, end) {
        struct forecast_grown row = forecast->grown.at[first];
        for (size_t i = first + 1; i < end; i++) {
            row.bytes += forecast->grown.at[i].bytes;
            row.growth_bytes += forecast->grown.at[i].growth_bytes;
            for (int kind = 0; kind < GROWTH_KINDS; kind++)
                row.by_kind[kind] += forecast->grown.at[i].by_kind[kind];
        }
        for (int kind = 0; kind < GROWTH_KINDS; kind++)
            if (row.by_kind[kind] > row.by_kind[row.kind])
                row.kind = (enum growth_kind)kind;
        all += row.growth_bytes;
        forecast->grown.at[kept++] = row;
    }
    forecast->grown.count = kept;
    for (size_t i = 0; i < kept; i++)
        forecast->grown.at[i].share = all ? (double)forecast->grown.at[i].growth_bytes / (double)all : NAN;
    SORT(&forecast->grown, by_growth);
}

/* The peak that the recordings other than WITHOUT predict for it, against its own, as a share of that. */
static double error_of(const struct forecast_recording *recordings, size_t count, size_t without)
{
    SCOPED_ARENA struct arena scratch = { 0 };
    struct forecast_recording *others = arena_alloc(&scratch, mem_times(count, sizeof *others));
    size_t used = 0;
    for (size_t k = 0; k < count; k++)
        if (k != without)
            others[used++] = recordings[k];
    struct plan plan = plan_open(others, used, nearest(others, used, recordings[without].size),
                                 recordings[without].size, &scratch);
    struct peak peak = replay_plan(&plan, false);
    double truth = (double)recordings[without].peak_bytes;
    return truth > 0 ? fabs(peak.bytes - truth) / truth : 0;
}

static int64_t whole(double bytes)
{
    return (int64_t)llround(fmax(0, fmin(bytes, 9e18)));
}

/* What the allocator holds at the peak: the simulated sizes, as the base's are to those that were recorded. */
static void set_reserved(const struct plan *plan, const struct peak *peak, struct forecast *forecast)
{
    const struct forecast_recording *base = &plan->recordings[plan->base];
    double plain = (double)peak->reserved,
           scaled = peak->base_reserved > 0 && base->reserved_bytes > 0
                        ? plain * (double)base->reserved_bytes / (double)peak->base_reserved
                        : plain,
           low = fmin(plain, scaled), high = fmax(plain, scaled);
    for (size_t k = 0; k < plan->count; k++) {
        if (plan->recordings[k].reserved_bytes <= 0 || plan->recordings[k].peak_bytes <= 0)
            continue;
        double by_ratio =
            peak->bytes * (double)plan->recordings[k].reserved_bytes / (double)plan->recordings[k].peak_bytes;
        low = fmin(low, by_ratio);
        high = fmax(high, by_ratio);
    }
    forecast->reserved_bytes = whole(fmax(scaled, peak->bytes));
    forecast->reserved_low_bytes = whole(fmax(low, peak->bytes));
    forecast->reserved_high_bytes = whole(fmax(high, peak->bytes));
}

static const char *doubt_of(const struct forecast_recording *recordings, size_t count,
                            const struct peak *peak)
{
    static const double much = 0.1;
    if (ANY(k, count, recordings[k].steps_vary > much))
        return "steps of a recording differ: memory depends on more than the sizes named";
    if (peak->vague > much * peak->bytes)
        return "the recordings do not show how much of the peak grows";
    if (peak->high - peak->low > 2 * much * peak->bytes)
        return "the recordings do not tell the sizes apart";
    return NULL;
}

struct forecast *forecast_at(const struct forecast_recording *recordings, size_t count,
                             const double target[FORECAST_SIZES])
{
    enum { HOW_SURE = 2 };
    size_t base = nearest(recordings, count, target);
    SCOPED_ARENA struct arena scratch = { 0 };
    struct plan plan = plan_open(recordings, count, base, target, &scratch);
    bool reserves = recordings[base].reserved_bytes > 0;
    struct peak peak = replay_plan(&plan, reserves);
    struct forecast *forecast = arena_open(sizeof *forecast);
    ARENA_OWNS(arena_of(forecast), &forecast->grown);
    *forecast = (struct forecast){ .base = base,
                                   .peak_bytes = whole(peak.bytes),
                                   .reserved_bytes = TABLE_INT_MISSING,
                                   .reserved_low_bytes = TABLE_INT_MISSING,
                                   .reserved_high_bytes = TABLE_INT_MISSING };
    double low = peak.low, high = peak.high, error = count > HOW_SURE ? 0.002 : 0.005;
    for (size_t k = 0; k < count && count > HOW_SURE; k++)
        error = fmax(error, error_of(recordings, count, k));
    for (size_t k = 0; k < count && !plan.same_sequence; k++) {
        SCOPED_ARENA struct arena of_base = { 0 };
        struct plan other = plan_open(recordings, count, k, target, &of_base);
        struct peak of_other = replay_plan(&other, false);
        low = fmin(low, of_other.low);
        high = fmax(high, of_other.high);
    }
    forecast->low_bytes = whole(fmin(low, peak.bytes * (1 - error)));
    forecast->high_bytes = whole(fmax(high, peak.bytes * (1 + error)));
    forecast->why = doubt_of(recordings, count, &peak);
    forecast->sure = !forecast->why;
    if (reserves)
        set_reserved(&plan, &peak, forecast);
    find_grown(&plan, &peak, forecast);
    return forecast;
}
