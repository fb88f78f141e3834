/* gap_colors.c - see gap_colors.h: the cause with the most time gets its own colour, later ones a remaining colour. */
#include "analyze/gap_colors.h"

/* Those with a meaning of their own come late; those of computation, communication and copies are the last. */
static const enum chart_color free_colors[] = {
    CHART_COLOR_OF_HOST,          CHART_OLIVE,
    CHART_COLOR_OF_CALLS,         CHART_COLOR_OF_OTHER,
    CHART_COLOR_OF_WAITING,       CHART_COLOR_OF_LOADING,
    CHART_COLOR_OF_COMPUTATION,   CHART_COLOR_OF_COPIES,
    CHART_COLOR_OF_COMMUNICATION,
};
enum { ALL_COLORS = sizeof free_colors / sizeof *free_colors, IDLE_COLORS = ALL_COLORS - 3 };

static enum chart_color color_for(enum gap_cause cause, bool alone, bool taken[CHART_COLORS])
{
    enum chart_color color = gap_causes[cause].color;
    for (size_t i = 0; taken[color] && i < (alone ? ALL_COLORS : IDLE_COLORS); i++)
        color = free_colors[i];
    if (taken[color])
        return CHART_COLOR_OF_IDLE;
    taken[color] = true;
    return color;
}

void gap_colors(const struct gaps *gaps, bool alone, enum chart_color colors[GAP_CAUSES])
{
    bool taken[CHART_COLORS] = { false }, done[GAP_CAUSES] = { false };
    for (size_t n = 0; n < GAP_CAUSES; n++) {
        size_t most = GAP_CAUSES;
        for (size_t i = 0; i < GAP_CAUSES; i++)
            if (!done[i] && (most == GAP_CAUSES || gaps->part_ns[i] > gaps->part_ns[most]))
                most = i;
        done[most] = true;
        colors[most] =
            gaps->part_ns[most] > 0 ? color_for((enum gap_cause)most, alone, taken) : gap_causes[most].color;
    }
}
