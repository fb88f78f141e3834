/* A control group may use its limit minus its current use; pages of files do not count, because the kernel drops them
 * on demand. Limits of parent groups apply as well. Version 2 has one tree, "0::/user.slice/..." in /proc/self/cgroup;
 * version 1 one per resource, "4:memory:/...". In a container the path may exist only on the host: then the files of
 * its parents up to the mount point are those of the container. */
#include "base/memory_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

/* A limit that no machine reaches: version 1's value for "no limit". */
#define NO_LIMIT (UINT64_C(1) << 60)

static void collect_least(struct memory_room *room, uint64_t limit, uint64_t held, const char *of)
{
    uint64_t bytes = limit > held ? limit - held : 0;
    if (limit >= NO_LIMIT || (room->of && bytes >= room->bytes))
        return;
    room->bytes = bytes;
    room->of = of;
}

/* The number at AT, after blanks; a number that is too large becomes the maximum. False if there is none ("max"). */
static bool read_digits(const char *at, uint64_t *number)
{
    at += strspn(at, " \t");
    if (*at < '0' || *at > '9')
        return false;
    *number = strtoull(at, NULL, 10);
    return true;
}

/* The number after WORD at the beginning of a line of the file ROOT PATH; without WORD its first number. */
static bool read_number(const char *root, const char *path, const char *word, uint64_t *number)
{
    char full[LONGEST_PATH], line[256];
    bool found = false;
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
        return false;
    FILE *file = fopen(full, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        size_t len = strlen(word);
        found = strncmp(line, word, len) == 0 && read_digits(line + len, number);
    }
    if (file)
        fclose(file);
    return found;
}

static bool read_in_group(const char *root, const char *group, const char *file, const char *word,
                          uint64_t *number)
{
    char path[LONGEST_PATH];
    return snprintf(path, sizeof path, "%s/%s", group, file) < (int)sizeof path &&
           read_number(root, path, word, number);
}

struct group_files {
    const char *mount;         /* root of the tree */
    const char *limit, *usage; /* files */
    const char *cache[2];      /* keys of memory.stat: pages of files */
};

static void collect_group(struct memory_room *room, const char *root, const struct group_files *files,
                          const char *group)
{
    uint64_t limit, usage, cache;
    if (!read_in_group(root, group, files->limit, "", &limit) ||
        !read_in_group(root, group, files->usage, "", &usage))
        return;
    for (int i = 0; i < 2; i++)
        if (read_in_group(root, group, "memory.stat", files->cache[i], &cache))
            usage -= cache < usage ? cache : usage;
    collect_least(room, limit, usage, "its control group");
}

/* The room of the group PATH of the tree of FILES and of its parents. */
static void collect_groups(struct memory_room *room, const char *root, const struct group_files *files,
                           const char *path)
{
    char group[LONGEST_PATH];
    size_t mount = strlen(files->mount);
    if (snprintf(group, sizeof group, "%s%s", files->mount, path) >= (int)sizeof group)
        return;
    for (;;) {
        collect_group(room, root, files, group);
        char *last = strrchr(group + mount, '/');
        if (!last)
            break;
        *last = '\0';
    }
}

static void collect_own_groups(struct memory_room *room, const char *root)
{
    static const struct group_files second = {
        "/sys/fs/cgroup", "memory.max", "memory.current", { "inactive_file ", "active_file " }
    };
    static const struct group_files first = { "/sys/fs/cgroup/memory",
                                              "memory.limit_in_bytes",
                                              "memory.usage_in_bytes",
                                              { "total_inactive_file ", "total_active_file " } };
    char full[LONGEST_PATH], line[LONGEST_PATH];
    if (snprintf(full, sizeof full, "%s/proc/self/cgroup", root) >= (int)sizeof full)
        return;
    FILE *file = fopen(full, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *memory = strstr(line, ":memory:");
        if (strncmp(line, "0::", 3) == 0)
            collect_groups(room, root, &second, line + 3);
        else if (memory)
            collect_groups(room, root, &first, memory + 8);
    }
    if (file)
        fclose(file);
}

/* The room of the machine, including its swap. */
static void collect_machine(struct memory_room *room, const char *root)
{
    uint64_t available_kib, swap_kib = 0;
    if (!read_number(root, "/proc/meminfo", "MemAvailable:", &available_kib))
        return;
    read_number(root, "/proc/meminfo", "SwapFree:", &swap_kib);
    collect_least(room, (available_kib + swap_kib) * 1024, 0, "the machine");
}

/* ulimit -v. */
static void collect_addresses(struct memory_room *room)
{
    struct rlimit limit;
    uint64_t pages;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        !read_number("", "/proc/self/statm", "", &pages))
        return;
    const char *before = room->of;
    collect_least(room, limit.rlim_cur, pages * (uint64_t)sysconf(_SC_PAGESIZE), "ulimit -v");
    room->counts_reserved = room->of != before;
}

bool memory_room_below(const char *root, struct memory_room *room)
{
    *room = (struct memory_room){ 0 };
    collect_machine(room, root);
    collect_own_groups(room, root);
    return room->of != NULL;
}

bool memory_room(struct memory_room *room)
{
    memory_room_below("", room);
    collect_addresses(room);
    return room->of != NULL;
}
