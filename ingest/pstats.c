/*
 * pstats.c - the reader of pstats dumps.
 *
 * A dump is one dict, written by Python's marshal (marshal.h):
 *
 *     { (file, line, function): (primitive calls, calls, total time, cumulative time,
 *                                { (file, line, function) of a caller: its share of the figures, ... }), ... }
 *
 * Details, learnt from CPython 2.7 to 3.14, yappi 1.7 and the pstats output of CPython 3.15's sampling profiler:
 *
 *   - A function's figures begin with (primitive calls, calls), a caller's share is (calls, primitive calls, total
 *     time, cumulative time): in the opposite order.
 *   - yappi writes the function's two in the opposite order as well. There are never fewer calls than primitive calls,
 *     so such a file was written by yappi.
 *   - The module `profile` and the sampling profiler write a caller's share as one number, the calls.
 *   - A built-in function has the file "~" and line 0; under `profile` it has an empty file.
 *   - A sampled profile has an extra key of one element, ("__sampled__",).
 *   - Python 3.4 and later write an object that is in use elsewhere once and refer to it then: file names, the keys
 *     of functions where they occur as callers. Any other object may be shared as well.
 *
 * Only texts are kept, in the arena of the profile.
 */
#include "ingest/pstats.h"

#include "ingest/formats.h"
#include "ingest/marshal.h"

#include <inttypes.h>
#include <math.h>

/* The note on a shared object: its kind in the upper bits, an index below. */
enum { NOTE_SHIFT = 56 };
enum note_kind {
    NOTE_FUNCTION = 1, /* a key: the function_id */
    NOTE_FIGURES,      /* a function's value: the function_id */
    NOTE_SHARE,        /* a caller's value: the index of the edge */
    NOTE_CALLERS,      /* a dict of callers: the index in shared_callers */
};

struct edge_range {
    uint32_t first, count;
};

struct reader {
    struct marshal in;
    struct profile *profile;
    VEC_OF(struct edge_range) shared_callers;
    uint64_t listed_edges;
};

static uint64_t make_note(enum note_kind kind, uint64_t index)
{
    return (uint64_t)kind << NOTE_SHIFT | index;
}

/* Is ITEM a reference to something of KIND? *INDEX is its index. */
static bool refers_to(const struct marshal_item *item, enum note_kind kind, uint64_t *index)
{
    if (item->type != MARSHAL_REFERENCE || item->note == MARSHAL_NO_NOTE ||
        item->note >> NOTE_SHIFT != (uint64_t)kind)
        return false;
    *index = item->note & ((UINT64_C(1) << NOTE_SHIFT) - 1);
    return true;
}

/* The readers below return false for damage, which ends reading, and set *GOOD if the object had the right shape; if
 * not, it was skipped. */

static bool is_sequence(const struct marshal_item *item, uint32_t count)
{
    return (item->type == MARSHAL_TUPLE || item->type == MARSHAL_LIST) && item->count == count;
}

/* Read an element of a sequence; the end of a dict is invalid there. */
static bool next_element(struct reader *reader, struct marshal_item *item, struct tpa_error *err)
{
    if (!marshal_next(&reader->in, item, err))
        return false;
    if (item->type == MARSHAL_END)
        return tpa_fail(err, item->offset, "the end of a dict where an object is expected");
    return true;
}

/* Read an element; a container is skipped, because only scalars are needed here. */
static bool next_scalar(struct reader *reader, struct marshal_item *item, struct tpa_error *err)
{
    return next_element(reader, item, err) && marshal_skip(&reader->in, item, err);
}

static bool is_text(const struct marshal_item *item)
{
    return item->type == MARSHAL_TEXT || item->type == MARSHAL_BYTES;
}

/* Read the key of a function, whose head is ITEM. */
static bool pstats_read_key(struct reader *reader, const struct marshal_item *item, function_id *id,
                            bool *good, struct tpa_error *err)
{
    uint64_t index;
    *good = refers_to(item, NOTE_FUNCTION, &index);
    if (*good) {
        *id = (function_id)index;
        return true;
    }
    if (!is_sequence(item, 3))
        return marshal_skip(&reader->in, item, err);
    struct marshal_item file, line, name;
    if (!next_scalar(reader, &file, err) || !next_scalar(reader, &line, err) ||
        !next_scalar(reader, &name, err))
        return false;
    *good = is_text(&file) && line.type == MARSHAL_INT && is_text(&name);
    if (*good) {
        if (reader->profile->function_count == FUNCTION_NONE)
            return tpa_fail(err, item->offset, "more than %u functions", FUNCTION_NONE);
        *id = profile_function(reader->profile, file.text, file.length, line.integer, name.text, name.length);
        marshal_note(&reader->in, item, make_note(NOTE_FUNCTION, *id));
    }
    return true;
}

static bool pstats_read_count(struct reader *reader, int64_t *count, bool *good, struct tpa_error *err)
{
    struct marshal_item item;
    if (marshal_quick_int(&reader->in, count))
        return true;
    if (!next_scalar(reader, &item, err))
        return false;
    *count = item.integer;
    if (item.type == MARSHAL_FLOAT && fabs(item.number) < 0x1p53 && item.number == rint(item.number))
        *count = (int64_t)item.number;
    else if (item.type != MARSHAL_INT && item.type != MARSHAL_BOOL)
        *good = false;
    return true;
}

static bool read_seconds(struct reader *reader, double *seconds, bool *good, struct tpa_error *err)
{
    struct marshal_item item;
    if (marshal_quick_float(&reader->in, seconds))
        return true;
    if (!next_scalar(reader, &item, err))
        return false;
    if (item.type == MARSHAL_FLOAT || item.type == MARSHAL_BIG_INT)
        *seconds = item.number;
    else if (item.type == MARSHAL_INT || item.type == MARSHAL_BOOL)
        *seconds = (double)item.integer;
    else
        *good = false;
    return true;
}

/* Read a caller's share, whose head is ITEM, into EDGE. */
static bool read_share(struct reader *reader, const struct marshal_item *item, struct profile_edge *edge,
                       bool *good, struct tpa_error *err)
{
    struct profile_cost *cost = &edge->cost;
    uint64_t index;
    *good = true;
    if (refers_to(item, NOTE_SHARE, &index)) {
        edge->cost = reader->profile->edges[index].cost;
        edge->count_only = reader->profile->edges[index].count_only;
        return true;
    }
    if (item->type == MARSHAL_INT || item->type == MARSHAL_BOOL) {
        edge->count_only = true;
        cost->calls = cost->primitive_calls = item->integer;
        return true;
    }
    if (is_sequence(item, 4))
        return pstats_read_count(reader, &cost->calls, good, err) &&
               pstats_read_count(reader, &cost->primitive_calls, good, err) &&
               read_seconds(reader, &cost->total_s, good, err) &&
               read_seconds(reader, &cost->cumulative_s, good, err);
    *good = false;
    return marshal_skip(&reader->in, item, err);
}

static void record_odd(struct reader *reader, const struct marshal_item *item)
{
    if (reader->profile->odd_entries++ == 0)
        reader->profile->odd_offset = item->offset;
}

/* Read the callers of a function: a dict whose head is ITEM. */
static bool read_callers(struct reader *reader, const struct marshal_item *item, struct edge_range *range,
                         bool *good, struct tpa_error *err)
{
    struct profile *profile = reader->profile;
    uint64_t index;
    *good = true;
    if (refers_to(item, NOTE_CALLERS, &index)) {
        *range = reader->shared_callers.at[index];
        return true;
    }
    if (item->type != MARSHAL_DICT) {
        *good = false;
        return marshal_skip(&reader->in, item, err);
    }
    range->first = (uint32_t)profile->edge_count;
    for (;;) {
        struct marshal_item key, value;
        if (!marshal_next(&reader->in, &key, err))
            return false;
        if (key.type == MARSHAL_END)
            break;
        struct profile_edge edge = { 0 };
        bool good_key = false, good_share = false;
        if (!pstats_read_key(reader, &key, &edge.caller, &good_key, err) ||
            !next_element(reader, &value, err) || !read_share(reader, &value, &edge, &good_share, err))
            return false;
        if (!good_key || !good_share) {
            record_odd(reader, &key);
            continue;
        }
        if (profile->edge_count == UINT32_MAX)
            return tpa_fail(err, key.offset, "more than %u callers", UINT32_MAX);
        uint32_t index_of_edge = profile_add_edge(profile, range->first, &edge);
        marshal_note(&reader->in, &value, make_note(NOTE_SHARE, index_of_edge));
    }
    range->count = (uint32_t)profile->edge_count - range->first;
    marshal_note(&reader->in, item, make_note(NOTE_CALLERS, reader->shared_callers.count));
    if (item->slot != MARSHAL_NO_SLOT)
        *VEC_PUSH(&reader->shared_callers) = *range;
    return true;
}

/* Read the figures of function ID (FUNCTION_NONE: ignore them, but record shared objects), a sequence whose head is
 * ITEM. */
static bool read_figures(struct reader *reader, const struct marshal_item *item, function_id id, bool *good,
                         struct tpa_error *err)
{
    struct profile *profile = reader->profile;
    struct profile_cost cost = { 0 };
    struct edge_range callers = { 0 };
    uint64_t index;
    *good = true;
    if (refers_to(item, NOTE_FIGURES, &index)) {
        const struct profile_function *same = &profile->functions[index];
        cost = same->cost;
        callers = (struct edge_range){ same->first_edge, same->edge_count };
    } else if (!is_sequence(item, 5)) {
        *good = false;
        return marshal_skip(&reader->in, item, err);
    } else {
        struct marshal_item dict;
        bool good_callers;
        if (!pstats_read_count(reader, &cost.primitive_calls, good, err) ||
            !pstats_read_count(reader, &cost.calls, good, err) ||
            !read_seconds(reader, &cost.total_s, good, err) ||
            !read_seconds(reader, &cost.cumulative_s, good, err) || !next_element(reader, &dict, err) ||
            !read_callers(reader, &dict, &callers, &good_callers, err))
            return false;
        *good = *good && good_callers;
        if (*good && id != FUNCTION_NONE)
            marshal_note(&reader->in, item, make_note(NOTE_FIGURES, id));
    }
    *good = *good && id != FUNCTION_NONE;
    if (!*good)
        return true;
    reader->listed_edges += callers.count;
    if (reader->listed_edges > UINT32_MAX)
        return tpa_fail(err, item->offset, "more than %u callers", UINT32_MAX);
    profile_list(profile, id, &cost, callers.first, callers.count);
    return true;
}

/* Read a key of one element, which is about the whole profile; ITEM is its head. */
static bool read_remark(struct reader *reader, const struct marshal_item *item, struct tpa_error *err)
{
    static const char sampled[] = "__sampled__";
    struct marshal_item word, value;
    if (!next_scalar(reader, &word, err) || !next_scalar(reader, &value, err))
        return false;
    if (is_text(&word) && word.length == strlen(sampled) && memcmp(word.text, sampled, word.length) == 0)
        reader->profile->sampled = value.type != MARSHAL_BOOL || value.integer;
    else
        record_odd(reader, item);
    return true;
}

static bool read_entry(struct reader *reader, const struct marshal_item *key, struct tpa_error *err)
{
    if (is_sequence(key, 1))
        return read_remark(reader, key, err);
    function_id id = FUNCTION_NONE;
    bool good_key, good_figures;
    struct marshal_item value;
    if (!pstats_read_key(reader, key, &id, &good_key, err) || !next_element(reader, &value, err) ||
        !read_figures(reader, &value, good_key ? id : FUNCTION_NONE, &good_figures, err))
        return false;
    if (!good_figures)
        record_odd(reader, key);
    return true;
}

static bool read_dump(struct reader *reader, struct tpa_error *err)
{
    struct marshal_item item;
    char words[64];
    if (!marshal_next(&reader->in, &item, err))
        return false;
    if (item.type != MARSHAL_DICT)
        return tpa_fail(err, 0, "expected a dict of functions but found %s", marshal_describe(&item, words));
    for (;;) {
        if (!marshal_next(&reader->in, &item, err))
            return false;
        if (item.type == MARSHAL_END)
            break;
        if (!read_entry(reader, &item, err))
            return false;
    }
    struct profile *profile = reader->profile;
    profile->trailing_offset = marshal_offset(&reader->in);
    if (!marshal_count_rest(&reader->in, &profile->trailing_bytes, err))
        return false;
    /* Functions may share one dict of callers, which is stored once here, but copied when profiles are merged. */
    if (reader->listed_edges > (uint64_t)marshal_offset(&reader->in))
        return tpa_fail(err, TPA_NOWHERE,
                        "the functions have %" PRIu64 " callers, more than the file has bytes",
                        reader->listed_edges);
    if (reader->profile->listed_count == 0) {
        tpa_fail(err, TPA_NOWHERE, "the profile holds no function");
        return reader->profile->odd_entries == 0 && tpa_hint(err, "was the profiler ever switched on?");
    }
    return true;
}

struct profile *pstats_read(struct source *source, struct tpa_error *err)
{
    struct profile *profile = profile_open();
    struct reader reader = {
        .in = { .source = source,
                .total = source_packing(source) == SOURCE_PLAIN ? source_packed_size(source) : -1,
                .texts = &profile->arena },
        .profile = profile,
    };
    if (reader.in.total > 0)
        profile_expect(profile, (size_t)reader.in.total);
    bool read = read_dump(&reader, err);
    if (!read && source_damage(source))
        tpa_hint(err, "%s", source_damage(source));
    marshal_release(&reader.in);
    VEC_FREE(&reader.shared_callers);
    if (!read) {
        profile_free(profile);
        return NULL;
    }
    profile_settle_counts(profile);
    profile_finish(profile);
    return profile;
}

int pstats_sniff(const char *bytes, size_t len)
{
    /* JSON begins with '{' too, but then comes a quote, a blank or '}'. */
    if (len < 2 || (bytes[0] & 0x7f) != '{')
        return 0;
    switch (bytes[1] & 0x7f) {
    case ')': return len >= 3 && bytes[2] == 3 ? 99 : 60;
    case '(': return len >= 3 && bytes[2] == 3 ? 95 : 60;
    case '0': return 50;
    default: return 0;
    }
}

extern const struct format format_pstats;
const struct format format_pstats = {
    .name = "pstats",
    .description = "Python profile: cProfile, profile, yappi, profiling.sampling (.prof, .stats, .pstats)",
    .sniff = pstats_sniff,
    .read_profile = pstats_read,
};
