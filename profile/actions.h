/*
 * actions.h - a report of actions, as Lightning's SimpleProfiler prints it, on one screen.
 *
 *     actions_add_overview(result, report);        // the answer, and the table "actions"
 *     actions_draw(picture, report, 15);
 *
 * What the report does not hold is left out: without `extended`, calls, shares and the total are unknown.
 */
#ifndef TPA_PROFILE_ACTIONS_H
#define TPA_PROFILE_ACTIONS_H

#include "base/chart.h"
#include "base/result.h"
#include "trace/actions.h"

void actions_add_overview(struct result *result, const struct action_report *report);

/* Add the chart of the first MOST actions of REPORT (0: all) by their total time. */
void actions_draw(struct picture *picture, const struct action_report *report, size_t most);

#endif
