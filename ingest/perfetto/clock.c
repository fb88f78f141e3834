/*
 * clock.c - timestamps of any clock, made times of the trace.
 *
 * A ClockSnapshot says what several clocks showed at one moment. The trace's clock is the one that the first snapshot calls
 * primary, else BOOTTIME. A time of another clock is converted by the newest snapshot at or before it, else by the first;
 * where no snapshot has both, by way of a clock that shares one with each.
 */
#include "ingest/perfetto/parts.h"

#include "base/runs.h"
#include "base/search.h"

enum { MOST_HOPS = 4 };

static uint32_t clock_place(struct pf_clocks *clocks, uint64_t key)
{
    uint32_t place = id_table_find(&clocks->places, key);
    if (place != ID_TABLE_NONE)
        return place;
    place = (uint32_t)clocks->clocks.count;
    *VEC_PUSH(&clocks->clocks) = (struct pf_clock){ .key = key };
    id_table_set(&clocks->places, key, place);
    return place;
}

void pf_clocks_add(struct pf_clocks *clocks, struct wire in, uint32_t sequence)
{
    struct wire_field field, part;
    int64_t boot_ns = 0, real_ns = 0;
    bool has_boot = false, has_real = false;
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        if (wire_is(&field, 2, WIRE_VARINT) && clocks->primary == 0)
            clocks->primary = pf_clock_key(field.value, sequence);
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        struct wire clock = wire_in(&field);
        uint64_t id = 0, multiplier = 1;
        int64_t at_ns = 0;
        while (wire_next(&clock, &part) && part.type != WIRE_GROUP) {
            if (wire_is(&part, 1, WIRE_VARINT))
                id = part.value;
            else if (wire_is(&part, 2, WIRE_VARINT))
                at_ns = (int64_t)part.value;
            else if (wire_is(&part, 4, WIRE_VARINT) && part.value)
                multiplier = part.value;
        }
        if (id == 0 || __builtin_mul_overflow(at_ns, (int64_t)multiplier, &at_ns))
            continue;
        has_boot |= id == PF_BOOTTIME;
        has_real |= id == PF_REALTIME;
        boot_ns = id == PF_BOOTTIME ? at_ns : boot_ns;
        real_ns = id == PF_REALTIME ? at_ns : real_ns;
        *VEC_PUSH(&clocks->seen) =
            (struct pf_snapshot_clock){ clocks->snapshots, clock_place(clocks, pf_clock_key(id, sequence)),
                                        at_ns };
    }
    if (has_boot && has_real && !clocks->has_real)
        clocks->has_real = !__builtin_sub_overflow(real_ns, boot_ns, &clocks->real_minus_boot_ns);
    clocks->snapshots++;
}

static bool comes_later(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct pf_reading *a = left, *b = right;
    return a->at_ns > b->at_ns;
}

/* Readings of the clocks of one snapshot, of which one can be converted: the others can then, too. */
static void read_snapshot(struct pf_clocks *clocks, size_t first, size_t end, const bool *known)
{
    int64_t trace_ns;
    for (size_t i = first; i < end; i++) {
        const struct pf_snapshot_clock *from = &clocks->seen.at[i];
        if (!known[from->clock] ||
            !pf_clocks_convert(clocks, clocks->clocks.at[from->clock].key, from->at_ns, &trace_ns))
            continue;
        for (size_t k = first; k < end; k++) {
            const struct pf_snapshot_clock *to = &clocks->seen.at[k];
            if (!known[to->clock])
                *VEC_PUSH(&clocks->clocks.at[to->clock].readings) =
                    (struct pf_reading){ to->at_ns, trace_ns };
        }
        return;
    }
}

static size_t end_of_snapshot(const struct pf_clocks *clocks, size_t first)
{
    size_t end = first;
    while (end < clocks->seen.count && clocks->seen.at[end].snapshot == clocks->seen.at[first].snapshot)
        end++;
    return end;
}

void pf_clocks_settle(struct pf_clocks *clocks)
{
    bool has_boot = id_table_find(&clocks->places, PF_BOOTTIME) != ID_TABLE_NONE;
    if (clocks->primary == 0 || id_table_find(&clocks->places, clocks->primary) == ID_TABLE_NONE)
        clocks->primary = has_boot ? PF_BOOTTIME : 0;
    size_t count = clocks->clocks.count;
    SCOPED bool *known = mem_zalloc(count + 1, sizeof *known);
    for (size_t i = 0; i < count; i++)
        known[i] = clocks->clocks.at[i].key == clocks->primary;
    for (int hop = 0; hop < MOST_HOPS && clocks->primary; hop++) {
        for (size_t first = 0, end; first < clocks->seen.count; first = end) {
            end = end_of_snapshot(clocks, first);
            read_snapshot(clocks, first, end, known);
        }
        for (size_t i = 0; i < count; i++) {
            struct pf_clock *clock = &clocks->clocks.at[i];
            if (known[i] || clock->readings.count == 0)
                continue;
            known[i] = true;
            runs_sort(clock->readings.at, clock->readings.count, sizeof *clock->readings.at, comes_later,
                      NULL);
        }
    }
}

bool pf_clocks_convert(const struct pf_clocks *clocks, uint64_t key, int64_t at, int64_t *trace_ns)
{
    *trace_ns = at;
    if (key == clocks->primary)
        return true;
    uint32_t place = id_table_find(&clocks->places, key);
    if (place == ID_TABLE_NONE || clocks->clocks.at[place].readings.count == 0)
        return false;
    const struct pf_clock *clock = &clocks->clocks.at[place];
    size_t i = PLACE(k, clock->readings.count, clock->readings.at[k].at_ns <= at);
    const struct pf_reading *reading = &clock->readings.at[i ? i - 1 : 0];
    return !__builtin_sub_overflow(at, reading->at_ns, trace_ns) &&
           !__builtin_add_overflow(*trace_ns, reading->trace_ns, trace_ns);
}

void pf_clocks_release(struct pf_clocks *clocks)
{
    for (size_t i = 0; i < clocks->clocks.count; i++)
        VEC_FREE(&clocks->clocks.at[i].readings);
    EACH(VEC_FREE, &clocks->clocks, &clocks->seen);
    id_table_release(&clocks->places);
}
