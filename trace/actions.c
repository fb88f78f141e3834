#include "trace/actions.h"

void action_report_free(struct action_report *report)
{
    if (!report)
        return;
    VEC_FREE(&report->actions);
    sums_origin_release(&report->origin);
    arena_release(&report->arena);
    free(report);
}
