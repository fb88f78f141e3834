#include "report/page_uses.h"

#include "base/rows.h"

static const struct key by_time_name[] = { ASC(struct timeline_use, at_ns), ASC(struct timeline_use, name),
                                           KEY_END };

static int64_t round_up(int64_t at_ns, int64_t every_ns)
{
    return at_ns / every_ns * every_ns + (at_ns % every_ns ? every_ns : 0);
}

/* Make those of the same time and name one, in place. */
static void merge(struct page_uses *uses)
{
    size_t kept = 0;
    if (uses->count)
        SORT(uses, by_time_name);
    for (size_t i = 0; i < uses->count;) {
        struct timeline_use sum = uses->at[i++];
        for (; i < uses->count && rows_compare(&sum, &uses->at[i], by_time_name) == 0; i++) {
            sum.bytes += uses->at[i].bytes;
            sum.blocks += uses->at[i].blocks;
        }
        if (sum.bytes || sum.blocks)
            uses->at[kept++] = sum;
    }
    uses->count = kept;
}

struct page_uses page_uses_of(const struct timeline *timeline, size_t most)
{
    struct page_uses uses = { .every_ns = 1000 }; /* the allocator's history has microseconds */
    for (size_t i = 0; i < timeline->uses.count; i++)
        *VEC_PUSH(&uses) = timeline->uses.at[i];
    for (;;) {
        for (size_t i = 0; i < uses.count; i++)
            uses.at[i].at_ns = round_up(uses.at[i].at_ns, uses.every_ns);
        merge(&uses);
        if (uses.count <= most || uses.every_ns > timeline->dur_ns)
            return uses;
        uses.every_ns *= 4; /* so that what was rounded to the last one can be rounded to it */
    }
}
