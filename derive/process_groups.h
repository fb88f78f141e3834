/*
 * process_groups.h - the process group of collectives that do not record it.
 *
 *     struct process_groups *groups = process_groups_open(trace);
 *     const struct trace_group *group = process_group_of(groups, file, NAME_NONE, "gloo");
 *     int64_t ranks = group ? group->size : process_group_size(groups, file, "gloo");
 *     process_groups_free(groups);
 *
 * A file may list the groups of its rank (trace_file.groups). A collective with a group name ran in that group. One
 * without ran in the only group served by its library, if there is just one: gloo in that with the backends
 * "cpu:gloo,cuda:nccl", not in that of "cuda:nccl". If several are possible, only their size is known, if it is the
 * same for all.
 */
#ifndef TPA_DERIVE_PROCESS_GROUPS_H
#define TPA_DERIVE_PROCESS_GROUPS_H

#include "trace/trace.h"

struct process_groups;

/* New, of all files of TRACE, which must live as long; free with process_groups_free (NULL is allowed). */
struct process_groups *process_groups_open(const struct trace *trace);
void process_groups_free(struct process_groups *groups);

/* The group of a collective of FILE with the group name NAME (NAME_NONE: none) and LIBRARY (NULL: not recorded).
 * Borrowed; NULL if unknown. */
const struct trace_group *process_group_of(struct process_groups *groups, uint32_t file, name_id name,
                                           const char *library);

/* The number of ranks in each group of FILE that LIBRARY serves; -1 if unknown, or if they differ. */
int64_t process_group_size(struct process_groups *groups, uint32_t file, const char *library);

#endif
