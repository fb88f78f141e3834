#include "charts/parts.h"

#include "trace/span.h"
#include <math.h>

struct chart_axis chart_time_axis(const struct chart_request *request, uint32_t file)
{
    struct chart_axis axis = { .title = "Time from the start of the trace", .kind = TABLE_MOMENT };
    struct interval span = trace_file_span(request->trace, file);
    if (request->selection->windows == NULL && span.end_ns > span.start_ns) {
        axis.has_least = axis.has_most = true;
        axis.least = 0;
        axis.most = (double)(span.end_ns - span.start_ns);
    }
    return axis;
}

/* Axes of time are as long as the longest, so that the same moment is in the same place. */
static void share_time(struct picture *picture)
{
    double most = 0;
    for (size_t i = 0; i < picture->charts.count; i++)
        most = fmax(most, picture->charts.at[i]->x.has_most ? picture->charts.at[i]->x.most : 0);
    for (size_t i = 0; i < picture->charts.count; i++)
        if (picture->charts.at[i]->x.kind == TABLE_MOMENT && picture->charts.at[i]->x.has_most)
            picture->charts.at[i]->x.most = most;
}

void chart_describe_panels(struct picture *picture, size_t panels, size_t count, const char *things)
{
    share_time(picture);
    for (size_t i = 0; i < picture->charts.count; i++)
        picture->charts.at[i]->panel = true;
    if (picture->charts.count == 0 || panels >= count)
        return;
    struct chart *last = picture->charts.at[picture->charts.count - 1];
    last->note = arena_printf(&last->arena, "%s%s%zu of %zu %s are shown; --device and --rank choose others",
                              last->note ? last->note : "", last->note ? "; " : "", panels, count, things);
}

bool chart_is_drawn(const struct picture *picture, struct tpa_error *err, const char *what)
{
    return picture->charts.count > 0 || tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: %s", what);
}
