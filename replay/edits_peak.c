/* edits_peak.c - operators that reach at least a share of what the device could. */
#include "replay/editing.h"

#include "analyze/roofline.h"
#include "replay/slow_work.h"

void edit_at_peak(const struct editing *editing)
{
    double share = editing->edit->factor;
    struct slow_work *own = share == ROOFLINE_SLOW ? NULL : slow_work_open(editing->trace, share);
    const struct slow_work *slow = own ? own : slow_work_of(editing->trace);
    for (size_t i = 0; i < slow->count; i++)
        editing_scale_work(editing, slow->work[i], slow->factor[i]);
    slow_work_free(own);
}
