/*
 * trend.h - a table of figures over runs, which the HTML page of `tpa nightly` draws: a chart for each name.
 *
 * Any table with these columns is one. The rows of one name follow each other, oldest first.
 *
 *     name       name    of the chart: "step time"
 *     run        count   number of the run
 *     time       text    when it ran
 *     commit     text    or missing
 *     value      any     what was measured; missing: it was not
 *     error      as it   how far it may be off; missing: not known
 *     reference  as it   the level it was compared with; missing: none
 *     verdict    text    TREND_NEW and the like are marked
 */
#ifndef TPA_REPORT_TREND_H
#define TPA_REPORT_TREND_H

#include "report/printer.h"

#define TREND_NAME "name"
#define TREND_RUN "run"
#define TREND_TIME "time"
#define TREND_COMMIT "commit"
#define TREND_VALUE "value"
#define TREND_ERROR "error"
#define TREND_REFERENCE "reference"
#define TREND_VERDICT "verdict"

/* One page, with everything in it: no script, no font, nothing to fetch. */
extern const struct printer printer_trend;

#endif
