/* test_memory_room.c - base/memory_room.h: the least of what the machine has and control groups allow, by files made here. */

#include "tests/unit/unit.h"
#include "base/memory_room.h"
#include <ftw.h>
#include <sys/stat.h>

static char root[] = "/tmp/tpa-test-room-XXXXXX";

/* The file PATH below the root, with TEXT in it, and the folders it takes. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int make_root(void **state)
{
    (void)state;
    memcpy(strrchr(root, '-') + 1, "XXXXXX", 6);
    if (!mkdtemp(root))
        return -1;
    put("/proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    5000 kB\nSwapFree:   1000 kB\n");
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void check_room(uint64_t bytes, const char *of)
{
    struct memory_room room;
    assert_true(memory_room_below(root, &room));
    assert_string_equal(room.of, of);
    assert_true(room.bytes == bytes);
}

TEST_WITHIN(machine_has_memory_and_swap, make_root, remove_root)
{
    check_room(6000 * 1024, "the machine");
}

TEST_WITHIN(nothing_is_known_without_files, make_root, remove_root)
{
    struct memory_room room;
    assert_false(memory_room_below("/nowhere/at/all", &room));
}

/* Of 1,000,000 bytes the group holds 700,000, of which 100,000 and 50,000 are pages of files: 450,000 are left. */
TEST_WITHIN(group_does_not_count_pages_of_files, make_root, remove_root)
{
    put("/proc/self/cgroup", "0::/batch/job7\n");
    put("/sys/fs/cgroup/batch/job7/memory.max", "1000000\n");
    put("/sys/fs/cgroup/batch/job7/memory.current", "700000\n");
    put("/sys/fs/cgroup/batch/job7/memory.stat", "anon 550000\ninactive_file 100000\nactive_file 50000\n");
    check_room(450000, "its control group");
}

TEST_WITHIN(limit_of_a_group_above_holds, make_root, remove_root)
{
    put("/proc/self/cgroup", "0::/batch/job7\n");
    put("/sys/fs/cgroup/batch/job7/memory.max", "max\n");
    put("/sys/fs/cgroup/batch/job7/memory.current", "700000\n");
    put("/sys/fs/cgroup/batch/memory.max", "1000000\n");
    put("/sys/fs/cgroup/batch/memory.current", "900000\n");
    check_room(100000, "its control group");
}

/* In a container the path is the host's, and the files are those of the mount point. */
TEST_WITHIN(group_of_a_container_is_at_the_mount_point, make_root, remove_root)
{
    put("/proc/self/cgroup", "0::/../../host/path\n");
    put("/sys/fs/cgroup/memory.max", "2000000\n");
    put("/sys/fs/cgroup/memory.current", "2500000\n");
    check_room(0, "its control group");
}

TEST_WITHIN(first_version_of_groups_is_read, make_root, remove_root)
{
    put("/proc/self/cgroup", "8:pids:/x\n4:memory:/job\n0::/\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000000\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000000\n");
    put("/sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 400000\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "9000000\n");
    check_room(2400000, "its control group");
}
