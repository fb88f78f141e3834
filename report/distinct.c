/* Each name is computed once and looked up for every further row. */
#include "report/distinct.h"

#include "base/memory.h"
#include "base/names.h"

struct distinct {
    struct names *full, *shown;
    VEC_OF(uint32_t) numbers; /* by id in full */
    VEC_OF(uint32_t) counts;  /* by id in shown: names that look like this */
};

struct distinct *distinct_open(void)
{
    struct distinct *names = mem_zalloc(1, sizeof *names);
    names->full = names_open();
    names->shown = names_open();
    return names;
}

void distinct_free(struct distinct *names)
{
    if (!names)
        return;
    EACH(names_free, names->full, names->shown);
    EACH(VEC_FREE, &names->numbers, &names->counts);
    free(names);
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
