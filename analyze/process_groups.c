/* process_groups.c - see process_groups.h. */
#include "analyze/process_groups.h"

#include <string.h>

/* The word that a group's backends have for LIBRARY; NULL: any group may be meant. RCCL goes by the name of NCCL. */
static const char *backend_of(const char *library)
{
    static const char *const words[][2] = { { "NCCL", "nccl" }, { "RCCL", "nccl" }, { "gloo", "gloo" },
                                            { "MPI", "mpi" },   { "UCC", "ucc" },   { "XCCL", "xccl" } };
    for (size_t i = 0; library && i < sizeof words / sizeof *words; i++)
        if (strcmp(library, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

static bool is_served(const struct trace_group *group, const char *backend)
{
    return !backend || !group->backends || strstr(group->backends, backend) != NULL;
}

const struct trace_group *process_group_of(const struct trace_file *file, name_id name, const char *library)
{
    const char *backend = backend_of(library);
    const struct trace_group *only = NULL;
    for (size_t i = 0; i < file->groups.count; i++) {
        const struct trace_group *group = &file->groups.at[i];
        if (name != NAME_NONE && group->name == name)
            return group;
        if (name != NAME_NONE || !is_served(group, backend))
            continue;
        if (only)
            return NULL;
        only = group;
    }
    return file->has_all_groups ? only : NULL;
}

int64_t process_group_size(const struct trace_file *file, const char *library)
{
    const char *backend = backend_of(library);
    int64_t size = -1;
    for (size_t i = 0; i < file->groups.count; i++) {
        if (!is_served(&file->groups.at[i], backend))
            continue;
        if (size >= 0 && file->groups.at[i].size != size)
            return -1;
        size = file->groups.at[i].size;
    }
    return file->has_all_groups ? size : -1;
}
