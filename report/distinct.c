/* Each name is computed once and looked up for every further row. */
#include "report/distinct.h"

#include "base/arena.h"
#include "base/memory.h"
#include "base/names.h"

struct distinct {
    struct names *full, *shown;
    VEC_OF(uint32_t) numbers; /* by id in full */
    VEC_OF(uint32_t) counts;  /* by id in shown: names that look like this */
};

struct distinct *distinct_open(void)
{
    struct distinct *names = arena_open(sizeof *names);
    ARENA_OWNS(arena_of(names), &names->numbers, &names->counts);
    names->full = arena_hold(arena_of(names), names_open());
    names->shown = arena_hold(arena_of(names), names_open());
    return names;
}

size_t distinct_number(struct distinct *names, const char *full, size_t full_len, const char *shown,
                       size_t shown_len)
{
    name_id id = names_add(names->full, full, full_len);
    if (id < names->numbers.count)
        return names->numbers.at[id];
    name_id look = names_add(names->shown, shown, shown_len);
    if (look == names->counts.count)
        *VEC_PUSH(&names->counts) = 0;
    *VEC_PUSH(&names->numbers) = ++names->counts.at[look];
    return names->numbers.at[id];
}
