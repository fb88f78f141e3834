/*
 * overview.h - a Python profile on one screen: the most expensive functions by own and by cumulative time, their
 * callers, and the call tree.
 *
 *     profile_add_overview(result, profile, 25, &err);       // tables "own", "cumulative", "callers", "callees"; the
 *                                                            answer
 *     struct flame *flame = profile_flame(profile);          // free with flame_free
 *     profile_draw(picture, profile, 15);
 *
 * A profile holds totals by pairs of caller and callee, but no stacks. So the call tree is an estimate, as in snakeviz
 * and gprof2dot: the time of a function is divided among its callers in the same proportion everywhere, independent of
 * their callers.
 */
#ifndef TPA_PROFILE_OVERVIEW_H
#define TPA_PROFILE_OVERVIEW_H

#include "base/chart.h"
#include "base/result.h"
#include "base/timeline.h"
#include "trace/profile.h"

/* Add the MOST functions by own and by cumulative time, and the callers and callees of the most expensive ones; the
 * verdict is a notice on top. False and ERR if the profile cannot be sorted. */
bool profile_add_overview(struct result *result, const struct profile *profile, size_t most,
                          struct tpa_error *err);

/* The call tree, estimated; recursion is cut where a function would repeat. New, without frames if no time was
 * recorded. */
struct flame *profile_flame(const struct profile *profile);

/* Add the chart of the MOST functions by their own time. */
void profile_draw(struct picture *picture, const struct profile *profile, size_t most);

#endif
