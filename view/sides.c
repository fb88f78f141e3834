/* sides.c - see sides.h. */
#include "view/sides.h"

#include "derive/device_steps.h"
#include "derive/file_set.h"
#include "trace/builder.h"
#include "trace/span.h"
#include <inttypes.h>

/* The files of a side count from the earliest of their clocks; one without a clock, or far from the others, from its own. */
static void share_clock(struct view_sides *sides, const struct trace *trace, uint32_t side)
{
    int64_t first_ns = INT64_MAX;
    for (size_t f = 0; f < trace->file_count; f++)
        if (sides->side[f] == side && trace->files[f].has_base && trace->files[f].base_ns < first_ns)
            first_ns = trace->files[f].base_ns;
    for (size_t f = 0; f < trace->file_count; f++)
        if (sides->side[f] == side && trace->files[f].has_base &&
            trace->files[f].base_ns - first_ns <= TRACE_LATEST_NS)
            sides->shift_ns[f] = trace->files[f].base_ns - first_ns;
}

/* When step NUMBER of SIDE begins on its host, as its files lie; INT64_MAX: it has none. */
static int64_t begin_of_step(const struct view_sides *sides, const struct trace *trace, uint32_t side,
                             int64_t number)
{
    const struct device_steps *steps = device_steps_of(trace);
    int64_t first_ns = INT64_MAX;
    FOR_EACH(step, steps) {
        int64_t start_ns = step->host_start_ns + sides->shift_ns[step->file];
        if (sides->side[step->file] == side && step->number == number && start_ns < first_ns)
            first_ns = start_ns;
    }
    return first_ns;
}

/* When the recording of SIDE begins. */
static int64_t begin_of_side(const struct view_sides *sides, const struct trace *trace, uint32_t side)
{
    int64_t first_ns = INT64_MAX;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct interval span = trace_file_span(trace, f);
        if (sides->side[f] == side && span.start_ns < span.end_ns &&
            span.start_ns + sides->shift_ns[f] < first_ns)
            first_ns = span.start_ns + sides->shift_ns[f];
    }
    return first_ns == INT64_MAX ? 0 : first_ns;
}

/* The lowest and the highest number of a step of SIDE. */
static struct interval numbers_of(const struct view_sides *sides, const struct trace *trace, uint32_t side)
{
    const struct device_steps *steps = device_steps_of(trace);
    struct interval numbers = { INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < steps->count; i++) {
        int64_t number = steps->at[i].number;
        if (sides->side[steps->at[i].file] != side)
            continue;
        numbers.start_ns = number < numbers.start_ns ? number : numbers.start_ns;
        numbers.end_ns = number > numbers.end_ns ? number : numbers.end_ns;
    }
    return numbers;
}

/* The first step of the first side that all sides have, and WANTED holds. */
static void find_step(struct view_sides *sides, const struct trace *trace, const struct ranges *wanted)
{
    const struct device_steps *steps = device_steps_of(trace);
    struct interval all = { INT64_MIN, INT64_MAX };
    for (uint32_t side = 0; side < sides->count; side++) {
        struct interval own = numbers_of(sides, trace, side);
        all.start_ns = own.start_ns > all.start_ns ? own.start_ns : all.start_ns;
        all.end_ns = own.end_ns < all.end_ns ? own.end_ns : all.end_ns;
    }
    for (size_t i = 0; i < steps->count && !sides->has_step; i++) {
        bool common = sides->side[steps->at[i].file] == 0 && steps->at[i].number >= all.start_ns &&
                      steps->at[i].number <= all.end_ns && ranges_hold(wanted, steps->at[i].number);
        for (uint32_t side = 1; common && side < sides->count; side++)
            common = begin_of_step(sides, trace, side, steps->at[i].number) != INT64_MAX;
        sides->has_step = common;
        sides->number = steps->at[i].number;
    }
}

/* Move each side so that all begin the step, or their recordings, when the last of them does. */
static void align(struct view_sides *sides, const struct trace *trace)
{
    int64_t *begin_ns = mem_alloc(mem_times(sides->count, sizeof *begin_ns)), last_ns = INT64_MIN;
    for (uint32_t side = 0; side < sides->count; side++) {
        begin_ns[side] = sides->has_step ? begin_of_step(sides, trace, side, sides->number)
                                         : begin_of_side(sides, trace, side);
        last_ns = begin_ns[side] > last_ns ? begin_ns[side] : last_ns;
    }
    for (size_t f = 0; f < trace->file_count; f++) {
        int64_t ahead_ns;
        if (__builtin_sub_overflow(last_ns, begin_ns[sides->side[f]], &ahead_ns) ||
            __builtin_add_overflow(sides->shift_ns[f], ahead_ns, &sides->shift_ns[f]))
            sides->shift_ns[f] = 0; /* of a damaged file */
    }
    free(begin_ns);
}

static void name_sides(struct view_sides *sides, const struct trace *trace)
{
    static const char *const words[] = { "before", "after" };
    SCOPED size_t *files = mem_zalloc(sides->count, sizeof *files);
    for (size_t side = 0; side < sides->count; side++)
        sides->label[side] =
            sides->count == 2 ? words[side] : arena_printf(&sides->arena, "run %zu", side + 1);
    for (size_t f = 0; f < trace->file_count; f++)
        files[sides->side[f]]++;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const char *label = sides->label[sides->side[f]];
        sides->group[f] = files[sides->side[f]] == 1 ? label
                                                     : arena_printf(&sides->arena, "%s, rank %" PRId64, label,
                                                                    file_set_of(trace)->files[f].number);
    }
}

/* COUNT of SIZE bytes, all 0. */
static void *make_room(struct view_sides *sides, size_t count, size_t size)
{
    return memset(arena_alloc(&sides->arena, mem_times(count, size)), 0, count * size);
}

struct view_sides view_sides_of(const struct trace *trace, const struct ranges *wanted)
{
    const struct file_set *set = file_set_of(trace);
    struct view_sides sides = { .count = set->jobs < 2 ? 1 : set->jobs };
    if (sides.count == 1)
        return sides;
    sides.side = make_room(&sides, trace->file_count, sizeof *sides.side);
    sides.shift_ns = make_room(&sides, trace->file_count, sizeof *sides.shift_ns);
    sides.group = make_room(&sides, trace->file_count, sizeof *sides.group);
    sides.label = make_room(&sides, sides.count, sizeof *sides.label);
    for (size_t f = 0; f < trace->file_count; f++)
        sides.side[f] = set->files[f].job;
    for (uint32_t side = 0; side < sides.count; side++)
        share_clock(&sides, trace, side);
    find_step(&sides, trace, wanted);
    align(&sides, trace);
    name_sides(&sides, trace);
    return sides;
}
