/* edits_peak.c - operators that reach at least a share of what the device could; products on tensor cores. */
#include "whatif/editing.h"

#include "analyze/roofline.h"

/* Where operators of TRACE do not reach SHARE; it lives as long as ARENA. */
static struct roofline_slow find_slow(const struct trace *trace, double share, struct arena *arena)
{
    struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    const struct roofline *roofline = roofline_open(trace, all, ROOFLINE_BY_DEFAULT, NULL);
    struct roofline_slow slow = roofline_find_slow(roofline, share, arena);
    arena_free(roofline);
    arena_free(all);
    return slow;
}

void edit_at_peak(const struct editing *editing)
{
    double share = editing->edit->factor;
    bool is_usual = share == ROOFLINE_SLOW;
    struct arena arena = { 0 };
    struct roofline_slow own = { 0 };
    if (!is_usual)
        own = find_slow(editing->trace, share, &arena);
    const struct roofline_slow *slow = is_usual ? &roofline_of(editing->trace)->slow : &own;
    for (size_t i = 0; i < slow->count; i++)
        editing_scale_work(editing, slow->work[i], slow->factor[i]);
    arena_release(&arena);
}

void edit_tensor_cores(const struct editing *editing)
{
    const struct tensor_cores *found = &roofline_of(editing->trace)->tensor_cores;
    for (size_t i = 0; i < found->work.count; i++)
        editing_scale_work(editing, found->work.at[i].place, found->work.at[i].factor);
}
