/*
 * overview.h - a Python profile on one screen: the functions that cost most, by themselves and with what they call, who calls
 * them, and its call tree.
 *
 *     profile_add_overview(result, profile, 25, &err);       // tables "own", "cumulative", "callers", "callees"; the answer
 *     struct flame *flame = profile_flame(profile);          // free with flame_free
 *     profile_draw(picture, profile, 15);
 *
 * A profile holds sums by pairs of caller and callee, and no stacks. So the call tree is an estimate, as snakeviz and gprof2dot
 * make it: the time of a function goes to its callers as it does in all, whoever called those.
 */
#ifndef TPA_PROFILE_OVERVIEW_H
#define TPA_PROFILE_OVERVIEW_H

#include "base/chart.h"
#include "base/result.h"
#include "base/timeline.h"
#include "trace/profile.h"

/* Add the MOST functions by each, and of the costliest who calls them and whom they call; the verdict is a notice on top.
 * False and ERR when the profile cannot be sorted. */
bool profile_add_overview(struct result *result, const struct profile *profile, size_t most,
                          struct tpa_error *err);

/* The call tree, estimated; recursion is cut where a function would come again. New, without frames when no time was recorded. */
struct flame *profile_flame(const struct profile *profile);

/* Add the chart of the MOST functions by their own time. */
void profile_draw(struct picture *picture, const struct profile *profile, size_t most);

#endif
