/* parts.h - what the files of charts/ share, each of which ends in a `const struct chart_type
 * chart_type_NAME`. */
#ifndef TPA_CHARTS_PARTS_H
#define TPA_CHARTS_PARTS_H

#include "charts/charts.h"

/* The axis of time of FILE: all of its span, so that charts below each other line up; less when less was requested. */
struct chart_axis chart_time_axis(const struct chart_request *request, uint32_t file);

/* The charts of PICTURE so far are panels (base/chart.h), with one axis of time. Say in the last panel of PICTURE that only the first PANELS of COUNT THINGS ("devices") are there;
 * nothing when all are. */
void chart_describe_panels(struct picture *picture, size_t panels, size_t count, const char *things);

/* Ends a draw function: false and ERR, saying WHAT is missing, when PICTURE is empty. */
bool chart_is_drawn(const struct picture *picture, struct tpa_error *err, const char *what);

/* A chart of PICTURE with a bar of time for each name; borrowed. */
struct chart *picture_add_times(struct picture *picture, const char *key, const char *title);

/* By enum path_part (whatif/path.h): its colour, in the chart of paths and in the timeline. */
extern const enum chart_color path_colors[];

#endif
