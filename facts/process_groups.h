/*
 * process_groups.h - in which process group a collective ran that does not tell it itself.
 *
 *     struct process_groups *groups = process_groups_open(trace);
 *     const struct trace_group *group = process_group_of(groups, file, NAME_NONE, "gloo");
 *     int64_t ranks = group ? group->size : process_group_size(groups, file, "gloo");
 *     process_groups_free(groups);
 *
 * A file may list the groups of its rank (trace_file.groups). A collective that gives a name ran in the group of this
 * name. One that gives none ran in the only group that its library serves, when there is but one: gloo in that whose
 * backends are "cpu:gloo,cuda:nccl", not in that of "cuda:nccl". If several are possible, only their size is known, if it is
 * the same for all.
 */
#ifndef TPA_FACTS_PROCESS_GROUPS_H
#define TPA_FACTS_PROCESS_GROUPS_H

#include "trace/trace.h"

struct process_groups;

/* New, of all files of TRACE, which must live as long; free with process_groups_free (NULL is allowed). */
struct process_groups *process_groups_open(const struct trace *trace);
void process_groups_free(struct process_groups *groups);

/* The group that a collective of FILE names NAME (NAME_NONE: it names none), of LIBRARY (NULL: not recorded). NULL: unknown. */
const struct trace_group *process_group_of(struct process_groups *groups, uint32_t file, name_id name,
                                           const char *library);

/* How many ranks are in every group of FILE that LIBRARY serves; -1 when unknown, or when they differ. */
int64_t process_group_size(struct process_groups *groups, uint32_t file, const char *library);

#endif
