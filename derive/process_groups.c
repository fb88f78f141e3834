/* A file may list as many groups as it has collectives: they are looked up by
 * name, and the groups of a library are determined once. */
#include "derive/collectives.h"

/* The name of a library in a group's backends. RCCL uses the name of NCCL. */
static const char *const backends[][2] = { { "NCCL", "nccl" }, { "RCCL", "nccl" }, { "gloo", "gloo" },
                                           { "MPI", "mpi" },   { "UCC", "ucc" },   { "XCCL", "xccl" } };

enum { LIBRARIES = sizeof backends / sizeof *backends, ANY_LIBRARY = LIBRARIES };

/* The groups of a file that serve a library. */
struct served {
    bool known;                     /* the rest is filled in */
    const struct trace_group *only; /* NULL: none, or several */
    int64_t size;                   /* of each; -1 if they differ, or there is none */
};

struct process_groups {
    const struct trace *trace;
    struct names *names;                        /* of groups: the file's number and the name */
    VEC_OF(const struct trace_group *) by_name; /* by id in `names` */
    struct served (*served)[LIBRARIES + 1];     /* by file and library */
};

/* A key of names. */
struct name_in_file {
    uint32_t file;
    name_id name;
};

struct process_groups *process_groups_open(const struct trace *trace)
{
    struct process_groups *groups = arena_open(sizeof *groups);
    ARENA_OWNS(arena_of(groups), &groups->by_name, &groups->served);
    groups->trace = trace;
    groups->names = arena_hold(arena_of(groups), names_open());
    groups->served = mem_zalloc(trace->file_count + 1, sizeof *groups->served);
    for (uint32_t f = 0; f < trace->file_count; f++)
        FOR_EACH(group, &trace->files[f].groups) {
            struct name_in_file key = { f, group->name };
            if (names_add(groups->names, (const char *)&key, sizeof key) == groups->by_name.count)
                *VEC_PUSH(&groups->by_name) = group; /* the first of the name */
        }
    return groups;
}

static size_t library_number(const char *library)
{
    size_t i = 0;
    while (i < LIBRARIES && !(library && strcmp(library, backends[i][0]) == 0))
        i++;
    return i;
}

static const struct served *served_by(struct process_groups *groups, uint32_t f, const char *library)
{
    size_t number = library_number(library);
    struct served *served = &groups->served[f][number];
    if (served->known)
        return served;
    *served = (struct served){ .known = true, .size = -1 };
    const struct trace_file *file = &groups->trace->files[f];
    size_t count = 0;
    FOR_EACH(group, &file->groups) {
        if (number != ANY_LIBRARY && group->backends && !strstr(group->backends, backends[number][1]))
            continue;
        served->only = count == 0 ? group : NULL;
        served->size = count == 0 || served->size == group->size ? group->size : -1;
        count++;
    }
    return served;
}

const struct trace_group *process_group_of(struct process_groups *groups, uint32_t file, name_id name,
                                           const char *library)
{
    if (name != NAME_NONE) {
        struct name_in_file key = { file, name };
        name_id id = names_find(groups->names, (const char *)&key, sizeof key);
        return id == NAME_NONE ? NULL : groups->by_name.at[id];
    }
    return groups->trace->files[file].has_all_groups ? served_by(groups, file, library)->only : NULL;
}

int64_t process_group_size(struct process_groups *groups, uint32_t file, const char *library)
{
    return groups->trace->files[file].has_all_groups ? served_by(groups, file, library)->size : -1;
}
