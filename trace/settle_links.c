/*
 * settle_links.c - decides which numbers link work to the call that launched it, when a trace is finished.
 *
 * The link is `correlation`. Profilers count calls from 1, and write 0 where they know none. Half of the traces that
 * PyTorch records on AMD devices have no such key: there a call and its work have the same `External id`, which no
 * other call has. (In libkineto of 2021 to 2024 the External id of both equals the correlation: attribution.h.)
 */
#include "base/search.h"
#include "trace/builder.h"
#include "trace/storage.h"
#include "base/rows.h"

/* ---- 0 is no number ---- */

/* Blocks of numbers above 0 need no look at each. */
static bool holds_zero(struct arg_storage *arg)
{
    const struct packed packed = packing_finish(&arg->values);
    for (size_t i = 0; i < arg->values.count; i++) {
        if (i % PACKED_VALUES == 0 && packed_least(&packed.blocks[i / PACKED_VALUES]) > 0)
            i += PACKED_VALUES - 1;
        else if (packed_value(&packed, i) == 0)
            return true;
    }
    return false;
}

static void drop_zeros(struct arg_storage *arg)
{
    struct arg_storage left = { 0 };
    size_t next = 0;
    for (size_t word = 0; word < arg->present_bytes / sizeof(uint64_t); word++)
        for (uint64_t bits = arg->present[word]; bits; bits &= bits - 1) {
            int64_t value = packing_value(&arg->values, next++);
            if (value != 0)
                arg_storage_add(&left, (event_id)(word * 64 + (size_t)__builtin_ctzll(bits)), value);
        }
    arg_storage_release(arg);
    *arg = left;
}

/* ---- External ids instead ---- */

struct id_list {
    VEC_OF(int64_t);
};

/* Sort IDS. Does any occur twice? */
static bool sort_unique(struct id_list *ids)
{
    SORT_NUMBERS(ids->at, ids->count);
    return !ANY_FROM(i, 1, ids->count, ids->at[i] == ids->at[i - 1]);
}

/* The ids of the calls of the file that has the events FIRST to END, and of its work; false if any has a correlation. */
static bool collect_ids(struct trace_storage *storage, size_t first, size_t end, size_t *value,
                        struct id_list *calls, struct id_list *work)
{
    const struct arg_storage *ids = &storage->args[ARG_EXTERNAL_ID];
    bool any_correlation = false;
    for (size_t e = first; e < end; e++) {
        enum event_kind kind = (enum event_kind)storage->kind[e];
        bool is_linked = event_is_call(kind) || event_is_launched(kind), has_id = arg_storage_has(ids, e);
        int64_t id = has_id ? packing_value(&ids->values, (*value)++) : 0;
        if (!is_linked)
            continue;
        any_correlation |= arg_storage_has(&storage->args[ARG_CORRELATION], e);
        if (id > 0)
            *VEC_PUSH(event_is_call(kind) ? calls : work) = id;
    }
    return !any_correlation;
}

/* Do the ids of CALLS link the most of WORK, each to one call? */
static bool ids_link(struct id_list *calls, const struct id_list *work)
{
    size_t found = 0;
    if (calls->count == 0 || work->count == 0 || !sort_unique(calls))
        return false;
    for (size_t i = 0; i < work->count; i++) {
        size_t at = search_from(calls->at, calls->count, work->at[i]);
        found += at < calls->count && calls->at[at] == work->at[i];
    }
    return 2 * found > work->count;
}

/* Let the External ids of calls and of what they launched be correlations, where BY_IDS, by file, says so. */
static void copy_ids(struct trace_storage *storage, const bool *by_ids)
{
    struct arg_storage *old = &storage->args[ARG_CORRELATION], *ids = &storage->args[ARG_EXTERNAL_ID];
    struct arg_storage merged = { 0 };
    size_t next = 0, next_id = 0;
    for (size_t e = 0; e < storage->count; e++) {
        enum event_kind kind = (enum event_kind)storage->kind[e];
        bool is_linked = event_is_call(kind) || event_is_launched(kind);
        int64_t id = arg_storage_has(ids, e) ? packing_value(&ids->values, next_id++) : 0;
        if (arg_storage_has(old, e))
            arg_storage_add(&merged, (event_id)e, packing_value(&old->values, next++));
        else if (is_linked && id > 0 && by_ids[storage->tracks.at[storage->track[e]].file])
            arg_storage_add(&merged, (event_id)e, id);
    }
    arg_storage_release(old);
    *old = merged;
}

static void link_by_ids(struct trace_storage *storage)
{
    bool *by_ids = mem_zalloc(storage->files.count + 1, sizeof *by_ids), any = false;
    size_t value = 0;
    for (size_t f = 0; f < storage->files.count; f++) {
        const struct trace_file *file = &storage->files.at[f];
        SCOPED struct id_list calls = { 0 }, work = { 0 };
        by_ids[f] = collect_ids(storage, file->first_event, file->first_event + file->event_count, &value,
                                &calls, &work) &&
                    ids_link(&calls, &work);
        any |= by_ids[f];
    }
    if (any)
        copy_ids(storage, by_ids);
    free(by_ids);
}

/* Is there a file whose calls and work may be without correlations? Mostly each has as many as it has ids or more. */
static bool may_lack_correlations(const struct trace_storage *storage)
{
    const struct arg_storage *correlations = &storage->args[ARG_CORRELATION];
    FOR_EACH(file, &storage->files) {
        bool any = false, any_linked = false;
        for (size_t e = file->first_event; e < file->first_event + file->event_count && !any; e++) {
            enum event_kind kind = (enum event_kind)storage->kind[e];
            bool is_linked = event_is_call(kind) || event_is_launched(kind);
            any_linked |= is_linked;
            any |= is_linked && arg_storage_has(correlations, e);
        }
        if (any_linked && !any)
            return true;
    }
    return false;
}

void builder_settle_links(struct trace_builder *builder)
{
    struct trace_storage *storage = builder->storage;
    if (holds_zero(&storage->args[ARG_CORRELATION]))
        drop_zeros(&storage->args[ARG_CORRELATION]);
    if (trace_builder_wants(builder, ARG_CORRELATION) && storage->args[ARG_EXTERNAL_ID].values.count &&
        may_lack_correlations(storage))
        link_by_ids(storage);
}
