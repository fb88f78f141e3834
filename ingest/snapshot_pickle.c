/* snapshot_pickle.c - see object_readers.h: the steps of pickle.h, run by the machine of objects.h. */
#include "ingest/object_readers.h"

#include "ingest/object_values.h"

/* The most common operations, with all of their bytes buffered: dicts that are records, references, and small numbers.
 * False if OP is another; nothing was done. */
static inline bool quick_step(struct pickle *in, struct objects *o, uint8_t op)
{
    const uint8_t *at = in->window + in->at + 1;
    switch (op) {
    case '}':
        at = pickle_quick_records(o, at, in->window + in->end);
        if (!at)
            return false;
        in->at = (size_t)(at - in->window);
        return true;
    case 'h':
        if (!objects_quick_get(o, *at))
            return false;
        in->at += 2;
        return true;
    case 'j':
        if (!objects_quick_get(o, (uint32_t)little_endian(at, 4)))
            return false;
        in->at += 5;
        return true;
    case 'K':
        objects_quick_int(o, *at);
        in->at += 2;
        return true;
    case 'M':
        objects_quick_int(o, (int64_t)little_endian(at, 2));
        in->at += 3;
        return true;
    case 'J':
        objects_quick_int(o, (int32_t)(uint32_t)little_endian(at, 4));
        in->at += 5;
        return true;
    case 0x8a: /* LONG1 of up to seven bytes: addresses, times */
        if (*at == 0 || *at > 7)
            return false;
        objects_quick_int(o, (int64_t)(little_endian(at + 1, 8) << (64 - 8 * *at)) >> (64 - 8 * *at));
        in->at += 2 + (size_t)*at;
        return true;
    default: return false;
    }
}

/* Run STEP, which ends at OFFSET. False and ERR, without an offset, if the stack does not allow it. */
static bool snapshot_run_step(struct objects *o, const struct pickle_step *step, int64_t offset,
                              struct tpa_error *err)
{
    switch (step->kind) {
    case PICKLE_NOTHING: return true;
    case PICKLE_NONE: objects_push_none(o); return true;
    case PICKLE_BOOL: objects_push_bool(o, step->flag); return true;
    case PICKLE_INT: objects_push_int(o, step->integer); return true;
    case PICKLE_WIDE: objects_push_wide(o, step->magnitude, step->flag); return true;
    case PICKLE_NUMBER: objects_push_number(o, step->number); return true;
    case PICKLE_TEXT: objects_push_text(o, step->text, step->len); return true;
    case PICKLE_OTHER: objects_push_other(o); return true;
    case PICKLE_EMPTY_LIST: objects_push_list(o); return true;
    case PICKLE_EMPTY_DICT: objects_push_dict(o); return true;
    case PICKLE_MARK: objects_mark(o); return true;
    case PICKLE_GET: return objects_get(o, step->magnitude, err);
    case PICKLE_APPEND: return objects_append(o, err);
    case PICKLE_APPEND_MARKED: return objects_append_marked(o, err);
    case PICKLE_SET_ITEM: return objects_set_item(o, err);
    case PICKLE_SET_ITEMS: return objects_set_items(o, err);
    case PICKLE_TUPLE: return objects_make_tuple(o, (size_t)step->magnitude, err);
    case PICKLE_MARKED_LIST: return objects_make_marked(o, false, err);
    case PICKLE_MARKED_DICT: return objects_make_marked(o, true, err);
    case PICKLE_POP: return objects_pop(o, err);
    case PICKLE_POP_MARK: return objects_pop_marked(o, err);
    case PICKLE_DUPLICATE: return objects_duplicate(o, err);
    case PICKLE_PUT: return objects_add(o, step->magnitude, offset, err);
    case PICKLE_PUT_NEXT: return objects_add_next(o, err);
    }
    return true;
}

static void notice_snapshot_damage(struct snapshot *snapshot, struct objects *o, const char *what,
                                   int64_t offset)
{
    snapshot_lacks(
        snapshot, LACK_DAMAGED,
        arena_printf(&snapshot->arena, "the snapshot is damaged, and what comes before is shown: %s", what),
        1, offset);
    objects_close_cut(o);
}

/* The file ends before the pickle does. */
static void notice_cut(struct snapshot *snapshot, struct objects *o, const struct pickle *in)
{
    const char *damage = source_damage(in->source);
    snapshot_lacks(snapshot, LACK_CUT_SHORT,
                   arena_printf(&snapshot->arena,
                                "the snapshot ends in the middle; what comes before is shown%s%s",
                                damage ? ": " : "", damage ? damage : ""),
                   1, pickle_offset(in));
    objects_close_cut(o);
}

/* Check bytes after the end: up to three zero bytes are normal, anything else is reported. */
static void check_rest(struct snapshot *snapshot, struct pickle *in)
{
    bool zeros;
    int64_t offset = pickle_offset(in);
    uint64_t rest = pickle_pass_rest(in, &zeros);
    if (rest > 3 || !zeros)
        snapshot_notice(snapshot, "bytes_behind", "bytes follow the end of the snapshot, and were not read",
                        rest, offset);
}

static void run(struct pickle *in, struct snapshot *snapshot, struct objects *o)
{
    struct tpa_error odd = { 0 }; /* large, so it is cleared once: a step writes it only on failure */
    struct pickle_step step;
    while (!in->stopped && !in->failed && !in->cut && pickle_fill(in)) {
        int64_t offset = pickle_offset(in);
        if (in->end - in->at > PICKLE_SLACK && quick_step(in, o, in->window[in->at]))
            continue;
        if ((!pickle_next(in, &step, &odd) || !snapshot_run_step(o, &step, pickle_offset(in), &odd)) &&
            !in->cut && !in->failed) {
            notice_snapshot_damage(snapshot, o, odd.message, offset);
            return;
        }
    }
    if (in->failed)
        return;
    if (!in->stopped)
        notice_cut(snapshot, o, in);
    else if (objects_depth(o) != 1)
        notice_snapshot_damage(snapshot, o, "it ends with more or less than one object", pickle_offset(in));
    else
        check_rest(snapshot, in);
}

bool snapshot_pickle_read(struct source *source, struct objects *o, struct snapshot *snapshot,
                          struct tpa_error *err)
{
    struct pickle in = { 0 };
    pickle_begin(&in, source, "a memory snapshot", err);
    run(&in, snapshot, o);
    snapshot->bytes = pickle_offset(&in);
    snapshot->form = arena_printf(&snapshot->arena, "pickle, protocol %d", in.protocol);
    pickle_release(&in);
    return !in.failed;
}
