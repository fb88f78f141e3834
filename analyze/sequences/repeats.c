/*
 * repeats.c - chains of operations that occur again and again on a stream.
 *
 * The chains of length L are numbered: two places have the same number exactly when the names of the L operations from there
 * on are equal. Those of length L + 1 get theirs from the pair of numbers of their two chains of length L, so that
 * names are never compared again; a chain that occurs once is in no longer one that repeats, so its place drops out.
 * Occurrences are counted from the left, those of one chain never overlapping.
 *
 * A loop of n operations has n rows that differ only in where they begin. From the first row on, each claims the operations
 * that it covers; a row most of whose operations belong to one group goes into that.
 */
#include "analyze/sequences/parts.h"

#include "base/rows.h"
#include "base/runs.h"
#include "trace/span.h"

#define NO_CHAIN UINT32_MAX

enum { MOST_ROWS = 1 << 14 };

/* Of SEQUENCE_MOST shorter operations the time fits 32 bits. */
enum { LONG_NS = 1 << 28 };
_Static_assert(SEQUENCE_MOST *(uint64_t)LONG_NS <= UINT32_MAX + UINT64_C(1) &&
                   SEQUENCE_MOST * (uint64_t)SEQUENCE_PAUSE_NS <= UINT32_MAX,
               "sums of a chain fit 32 bits");

struct chain {
    uint32_t first, last; /* places of the first occurrence and of the last one yet */
    uint32_t count, every;
    uint32_t behind,
        longer; /* the chain one place on where this one was met last, and what both are; NO_CHAIN: none yet */
    bool hidden; /* a longer one says as much */
};

/* A chain that gets a row. */
struct repeat {
    uint32_t stream, first, count, every, length, group;
    size_t occurrences; /* of repeat_query.occurrences: COUNT from there on */
    bool left_out;
    int64_t work_ns, gaps_ns;
};

struct repeat_query {
    const struct stream_operations *operations;
    const uint32_t *order; /* by name_id: its place among the names in alphabetical order */
    /* Of all operations of the stream before a place, modulo 2^32: those of a chain are less, unless works are LONG. */
    uint32_t *work_ns, *gaps_ns;
    bool are_long; /* operations of the stream */
    VEC_OF(struct repeat) found;
    VEC_OF(uint32_t) occurrences; /* of the found: where each begins, of operations->at */
};

/* The name of the operation at AT of operations->at. */
static name_id name_at(const struct stream_operations *operations, size_t at)
{
    return operations->trace->name[work_event(operations, &operations->at[at])];
}

/* ---- the chains of a stream ---- */

struct pair {
    uint64_t key;
    uint32_t number; /* NO_CHAIN: the slot is free */
};

/* From pairs of numbers to a number. There are few different ones where chains repeat, so that the table stays in the cache. */
struct pairs {
    struct pair *at; /* room for as many as there may ever be */
    size_t mask;
    uint32_t count;
};

/* Empty, with room for LIKELY pairs before it grows. */
static void pairs_clear(struct pairs *pairs, size_t likely)
{
    size_t size = 16;
    while (size < 2 * likely)
        size *= 2;
    pairs->mask = size - 1;
    pairs->count = 0;
    memset(pairs->at, 0xff, size * sizeof *pairs->at);
}

static struct pair *slot_of(struct pairs *pairs, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash ^ hash >> 29) & pairs->mask;
    while (pairs->at[at].number != NO_CHAIN && pairs->at[at].key != key)
        at = (at + 1) & pairs->mask;
    return &pairs->at[at];
}

static void pairs_grow(struct pairs *pairs)
{
    size_t size = pairs->mask + 1;
    SCOPED struct pair *old = mem_alloc(mem_times(size, sizeof *old));
    uint32_t count = pairs->count;
    memcpy(old, pairs->at, size * sizeof *old);
    pairs_clear(pairs, size);
    pairs->count = count;
    for (size_t i = 0; i < size; i++)
        if (old[i].number != NO_CHAIN)
            *slot_of(pairs, old[i].key) = old[i];
}

static uint32_t number_of_pair(struct pairs *pairs, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b;
    struct pair *pair = slot_of(pairs, key);
    if (pair->number != NO_CHAIN)
        return pair->number;
    if (2 * (size_t)pairs->count > pairs->mask) {
        pairs_grow(pairs);
        pair = slot_of(pairs, key);
    }
    *pair = (struct pair){ key, pairs->count++ };
    return pair->number;
}

/* What is computed of one stream at a time: COUNT places, and one behind them without a chain. */
struct level {
    uint32_t *shorter, *longer;           /* by place: number of the chain from there on, or NO_CHAIN */
    uint32_t *next_shorter, *next_longer; /* by place: that of the chain's next occurrence, or NO_CHAIN */
    struct chain *of_shorter, *of_longer; /* by number */
    size_t shorter_count, longer_count;
    struct pairs pairs;
};

/* How long the LENGTH operations from PLACE on took. */
static int64_t work_of_chain_ns(const struct repeat_query *query, const struct operations_of_stream *stream,
                                uint32_t place, uint32_t length)
{
    if (!query->are_long)
        return (uint32_t)(query->work_ns[place + length] - query->work_ns[place]);
    int64_t work_ns = 0;
    for (uint32_t i = place; i < place + length; i++)
        work_ns += work_dur_ns(query->operations, &query->operations->at[stream->first + i]);
    return work_ns;
}

/* Count the occurrence of CHAIN, of LENGTH operations, at PLACE, unless it overlaps the one before. */
static void count_occurrence(uint32_t *next, struct chain *chain, uint32_t place, uint32_t length)
{
    next[place] = NO_CHAIN;
    if (chain->count) {
        uint32_t distance = place - chain->last;
        if (distance < length)
            return;
        next[chain->last] = place;
        chain->every = chain->count == 1 || distance < chain->every ? distance : chain->every;
    } else {
        chain->first = place;
    }
    chain->last = place;
    chain->count++;
}

/* PLACE begins the longer chain of the pair A and B, of LENGTH operations. Returns the number of that chain. */
static uint32_t add_occurrence(struct level *level, uint32_t a, uint32_t b, uint32_t place, uint32_t length)
{
    uint32_t number = number_of_pair(&level->pairs, a, b);
    if (number == level->longer_count)
        level->of_longer[level->longer_count++] = (struct chain){ .behind = NO_CHAIN, .longer = NO_CHAIN };
    level->longer[place] = number;
    count_occurrence(level->next_longer, &level->of_longer[number], place, length);
    return number;
}

static void clear_longer(const struct operations_of_stream *stream, struct level *level, size_t likely)
{
    level->longer_count = 0;
    level->longer[stream->count] = NO_CHAIN;
    pairs_clear(&level->pairs, likely < stream->count ? likely : stream->count);
}

_Static_assert(SEQUENCE_LEAST == 2, "the shortest chains are pairs");

/* The chains of two operations, between which there is no pause. */
static void find_pairs(const struct repeat_query *query, const struct operations_of_stream *stream,
                       struct level *level)
{
    const struct stream_operations *operations = query->operations;
    clear_longer(stream, level, 0);
    for (uint32_t place = 0; place < stream->count; place++) {
        size_t at = stream->first + place;
        level->longer[place] = NO_CHAIN;
        if (place + 1 < stream->count && !operations->at[at + 1].paused)
            add_occurrence(level, name_at(operations, at), name_at(operations, at + 1), place,
                           SEQUENCE_LEAST);
    }
}

/* The chain of LEVEL->shorter at PLACE, if it repeats; else NO_CHAIN. */
static uint32_t repeated_at(const struct level *level, uint32_t place)
{
    uint32_t number = level->shorter[place];
    return number != NO_CHAIN && level->of_shorter[number].count >= SEQUENCE_LEAST ? number : NO_CHAIN;
}

/* Number the chains of LENGTH operations from those that are shorter by one, and count them. Mostly a chain goes on as
 * it did where it was met last, so that no pair is looked up. */
static void lengthen(const struct operations_of_stream *stream, struct level *level, uint32_t length)
{
    clear_longer(stream, level, 2 * level->shorter_count);
    for (uint32_t place = 0, a = repeated_at(level, 0), b; place < stream->count; place++, a = b) {
        b = repeated_at(level, place + 1);
        level->longer[place] = NO_CHAIN;
        if (a == NO_CHAIN || b == NO_CHAIN)
            continue;
        struct chain *chain = &level->of_shorter[a];
        if (chain->behind == b) {
            level->longer[place] = chain->longer;
            count_occurrence(level->next_longer, &level->of_longer[chain->longer], place, length);
        } else {
            chain->longer = add_occurrence(level, a, b, place, length);
            chain->behind = b;
        }
    }
}

/* The shorter chains in those that occur as often are hidden. */
static void compare_levels(struct level *level)
{
    FOR_EACH_OF(longer, level->of_longer, level->longer_count) {
        for (uint32_t place = longer->first; place <= longer->first + 1; place++) {
            struct chain *part = &level->of_shorter[level->shorter[place]];
            part->hidden = part->hidden || longer->count >= part->count;
        }
    }
}

/* The shorter chains, of LENGTH operations, that get a row. */
static void keep_chains(struct repeat_query *query, uint32_t number, const struct level *level,
                        uint32_t length)
{
    const struct chain *chains = level->of_shorter;
    const struct operations_of_stream *stream = &query->operations->streams.at[number];
    uint32_t first = (uint32_t)stream->first;
    for (size_t i = 0; i < level->shorter_count; i++) {
        if (chains[i].count < SEQUENCE_LEAST || chains[i].hidden)
            continue;
        struct repeat repeat = { .stream = number,
                                 .first = first + chains[i].first,
                                 .count = chains[i].count,
                                 .every = chains[i].every,
                                 .length = length,
                                 .occurrences = query->occurrences.count };
        VEC_RESERVE(&query->occurrences, chains[i].count);
        uint32_t *occurrence = query->occurrences.at + query->occurrences.count;
        for (uint32_t place = chains[i].first; place != NO_CHAIN; place = level->next_shorter[place]) {
            *occurrence++ = first + place;
            repeat.work_ns += work_of_chain_ns(query, stream, place, length);
            repeat.gaps_ns += (uint32_t)(query->gaps_ns[place + length] - query->gaps_ns[place + 1]);
        }
        query->occurrences.count += chains[i].count;
        *VEC_PUSH(&query->found) = repeat;
    }
}

static void swap_levels(struct level *level)
{
    uint32_t *longer = level->longer, *next = level->next_longer;
    struct chain *of_longer = level->of_longer;
    level->next_longer = level->next_shorter;
    level->next_shorter = next;
    level->longer = level->shorter;
    level->of_longer = level->of_shorter;
    level->shorter = longer;
    level->of_shorter = of_longer;
    level->shorter_count = level->longer_count;
}

/* Time of the operations, and of the gaps before them, up to each place: a pause is in no chain, so it counts as none. */
static void add_up(struct repeat_query *query, const struct operations_of_stream *stream)
{
    query->work_ns[0] = query->gaps_ns[0] = 0;
    query->are_long = false;
    for (size_t i = 0; i < stream->count; i++) {
        const struct stream_work *work = &query->operations->at[stream->first + i];
        int64_t work_ns = work_dur_ns(query->operations, work);
        query->are_long = query->are_long || work_ns > LONG_NS - 1;
        query->work_ns[i + 1] = query->work_ns[i] + (uint32_t)work_ns;
        query->gaps_ns[i + 1] =
            query->gaps_ns[i] + (uint32_t)(work->paused ? 0 : work_gap_ns(query->operations, work));
    }
}

static void repeats_find_chains(struct repeat_query *query, uint32_t number, struct level *level)
{
    const struct operations_of_stream *stream = &query->operations->streams.at[number];
    add_up(query, stream);
    find_pairs(query, stream, level);
    swap_levels(level);
    for (uint32_t length = SEQUENCE_LEAST + 1; length <= SEQUENCE_MOST && level->shorter_count; length++) {
        lengthen(stream, level, length);
        compare_levels(level);
        keep_chains(query, number, level, length - 1);
        swap_levels(level);
    }
    if (level->shorter_count)
        keep_chains(query, number, level, SEQUENCE_MOST);
}

static void find_all(struct repeat_query *query)
{
    size_t most = 0, table = 16;
    for (size_t s = 0; s < query->operations->streams.count; s++)
        if (query->operations->streams.at[s].count > most)
            most = query->operations->streams.at[s].count;
    while (table < 4 * most) /* see pairs_grow */
        table *= 2;
    struct level level = { .shorter = mem_alloc(mem_times(most + 1, sizeof *level.shorter)),
                           .longer = mem_alloc(mem_times(most + 1, sizeof *level.longer)),
                           .next_shorter = mem_alloc(mem_times(most + 1, sizeof *level.next_shorter)),
                           .next_longer = mem_alloc(mem_times(most + 1, sizeof *level.next_longer)),
                           .of_shorter = mem_alloc(mem_times(most + 1, sizeof *level.of_shorter)),
                           .of_longer = mem_alloc(mem_times(most + 1, sizeof *level.of_longer)),
                           .pairs = { .at = mem_alloc(mem_times(table, sizeof *level.pairs.at)) } };
    query->work_ns = mem_alloc(mem_times(most + 1, sizeof *query->work_ns));
    query->gaps_ns = mem_alloc(mem_times(most + 1, sizeof *query->gaps_ns));
    for (uint32_t s = 0; s < query->operations->streams.count; s++)
        repeats_find_chains(query, s, &level);
    EACH(free, level.shorter, level.longer, level.next_shorter, level.next_longer, level.of_shorter,
         level.of_longer, level.pairs.at, query->work_ns, query->gaps_ns);
}

/* ---- their order ---- */

struct named {
    const char *text;
    name_id name;
};

static const struct key by_text[] = { ASC(struct named, text), KEY_END };

/* By name_id: the place of each name of OPERATIONS in alphabetical order. New; free with free(). */
static uint32_t *order_names(const struct stream_operations *operations)
{
    const struct trace *trace = operations->trace;
    size_t all = names_count(trace->names);
    uint32_t *order = mem_zalloc(all + 1, sizeof *order);
    SCOPED VEC_OF(struct named) used = { 0 };
    for (size_t i = 0; i < operations->count; i++) {
        name_id name = name_at(operations, i);
        if (order[name]++ == 0)
            *VEC_PUSH(&used) = (struct named){ names_text(trace->names, name), name };
    }
    SORT(&used, by_text);
    for (size_t i = 0; i < used.count; i++)
        order[used.at[i].name] = (uint32_t)i;
    return order;
}

static bool repeats_is_behind(const void *context, const void *left, const void *right)
{
    const struct repeat_query *query = context;
    const struct repeat *a = left, *b = right;
    if (a->gaps_ns != b->gaps_ns)
        return a->gaps_ns < b->gaps_ns;
    if (a->count != b->count)
        return a->count < b->count;
    if (a->length != b->length)
        return a->length < b->length;
    for (uint32_t i = 0; i < a->length; i++) {
        uint32_t of_a = query->order[name_at(query->operations, a->first + i)],
                 of_b = query->order[name_at(query->operations, b->first + i)];
        if (of_a != of_b)
            return of_a > of_b;
    }
    return a->stream > b->stream;
}

/* ---- groups of rows that lie shifted over each other ---- */

#define NO_GROUP UINT32_MAX

/* The group that most of the operations of REPEAT belong to; NO_GROUP when there is none. */
static uint32_t majority(const struct repeat_query *query, const struct repeat *repeat, const uint32_t *owner)
{
    uint32_t candidate = NO_GROUP;
    uint64_t votes = 0, held = 0;
    const uint32_t *at = &query->occurrences.at[repeat->occurrences];
    for (uint32_t k = 0; k < repeat->count; k++)
        for (uint32_t i = at[k]; i < at[k] + repeat->length; i++) {
            if (votes == 0)
                candidate = owner[i];
            votes = owner[i] == candidate ? votes + 1 : votes - 1;
        }
    uint64_t all = (uint64_t)repeat->count * repeat->length;
    if (candidate == NO_GROUP || votes == all) /* as mostly */
        return candidate;
    for (uint32_t k = 0; k < repeat->count && 2 * held <= all; k++)
        for (uint32_t i = at[k]; i < at[k] + repeat->length; i++)
            held += owner[i] == candidate;
    return 2 * held > all ? candidate : NO_GROUP;
}

static void claim(const struct repeat_query *query, const struct repeat *repeat, uint32_t *owner)
{
    const uint32_t *at = &query->occurrences.at[repeat->occurrences];
    for (uint32_t k = 0; k < repeat->count; k++)
        for (uint32_t i = at[k]; i < at[k] + repeat->length; i++)
            if (owner[i] == NO_GROUP)
                owner[i] = repeat->group;
}

static void collect_names(const struct stream_operations *operations, const struct repeat *repeat,
                          name_id names[SEQUENCE_MOST])
{
    for (uint32_t i = 0; i < repeat->length; i++)
        names[i] = name_at(operations, repeat->first + i);
}

/* The operations after which the names of REPEAT come again: its length where they do not, and at least 2. */
static uint32_t period_of(const struct repeat_query *query, const struct repeat *repeat)
{
    name_id names[SEQUENCE_MOST];
    collect_names(query->operations, repeat, names);
    for (uint32_t period = 1; 2 * period <= repeat->length; period++)
        if (memcmp(names, names + period, (repeat->length - period) * sizeof *names) == 0)
            return period < SEQUENCE_LEAST ? SEQUENCE_LEAST : period;
    return repeat->length;
}

/* Does its first occurrence begin where nothing goes before: after a pause, or in a new step? */
static bool begins_period(const struct repeat_query *query, const struct repeat *repeat)
{
    return query->operations->at[repeat->first].paused;
}

struct repeat_group {
    uint32_t leader, shown; /* of repeat_query.found */
    uint32_t period;
    uint32_t members;
};

/* Is MEMBER a better picture of GROUP than what is shown? The period instead of several, then where that begins. */
static bool shows_more(const struct repeat_query *query, const struct repeat_group *group,
                       const struct repeat *member)
{
    const struct repeat *leader = &query->found.at[group->leader], *shown = &query->found.at[group->shown];
    if (member->length != group->period || member->stream != leader->stream ||
        member->count < leader->count || period_of(query, member) != group->period)
        return false;
    return shown->length != group->period || (begins_period(query, member) && !begins_period(query, shown));
}

/* Put the rows into groups; all but one of each are left out. New array of groups; free with free(). */
static struct repeat_group *group_rows(struct repeat_query *query)
{
    VEC_OF(struct repeat_group) groups = { 0 };
    VEC_RESERVE(&groups, 1);
    SCOPED uint32_t *owner = mem_alloc(mem_times(query->operations->count + 1, sizeof *owner));
    memset(owner, 0xff, query->operations->count * sizeof *owner);
    for (uint32_t i = 0; i < query->found.count; i++) {
        struct repeat *repeat = &query->found.at[i];
        repeat->group = majority(query, repeat, owner);
        if (repeat->group == NO_GROUP) {
            repeat->group = (uint32_t)groups.count;
            *VEC_PUSH(&groups) = (struct repeat_group){ i, i, period_of(query, repeat), 0 };
            claim(query, repeat, owner);
        }
        struct repeat_group *group = &groups.at[repeat->group];
        group->members++;
        repeat->left_out = true;
        if (shows_more(query, group, repeat))
            group->shown = i;
    }
    for (size_t g = 0; g < groups.count; g++)
        query->found.at[groups.at[g].shown].left_out = false;
    return groups.at;
}

/* ---- rows ---- */

static struct repeat_row row_of(const struct repeat_query *query, struct work_words *words,
                                const struct repeat *repeat, const struct repeat_group *groups)
{
    const struct stream_operations *operations = query->operations;
    const struct operations_of_stream *stream = &operations->streams.at[repeat->stream];
    struct repeat_row row = { .count = repeat->count,
                              .length = repeat->length,
                              .every = repeat->every,
                              .work_ns = repeat->work_ns,
                              .gaps_ns = repeat->gaps_ns,
                              .alike = groups ? groups[repeat->group].members - 1 : TABLE_INT_MISSING };
    stream_operations_place(operations, stream, &row.rank, &row.device, &row.stream);
    row.cycle = selection_cycle(operations->trace, operations->trace->tracks[stream->track].file);
    row.start_ns = work_start_ns(operations, &operations->at[repeat->first]) -
                   trace_file_span(operations->trace, operations->trace->tracks[stream->track].file).start_ns;
    name_id names[SEQUENCE_MOST];
    collect_names(operations, repeat, names);
    row.operations = operations_in_few_words(words, names, repeat->length);
    row.names = operations_in_full(words, names, repeat->length);
    return row;
}

void sequences_add_repeats(struct sequences *sequences, const struct stream_operations *operations,
                           struct work_words *words, bool all)
{
    struct repeat_query query = { .operations = operations };
    SCOPED uint32_t *order = order_names(operations);
    query.order = order;
    find_all(&query);
    runs_sort(query.found.at, query.found.count, sizeof *query.found.at, repeats_is_behind, &query);
    SCOPED struct repeat_group *groups = all ? NULL : group_rows(&query);
    for (size_t i = 0; i < query.found.count; i++) {
        if (query.found.at[i].left_out)
            continue;
        if (sequences->repeats.count < MOST_ROWS)
            *VEC_PUSH(&sequences->repeats) = row_of(&query, words, &query.found.at[i], groups);
        else
            sequences->left_out++;
    }
    EACH(VEC_FREE, &query.occurrences, &query.found);
}
