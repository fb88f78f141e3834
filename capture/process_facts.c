#include "capture/parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The bytes of a file of /proc, NUL-terminated; returns how many. */
static size_t read_file(const char *path, char *bytes, size_t size)
{
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used + 1 < size) {
        ssize_t got = read(fd, bytes + used, size - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    bytes[used] = '\0';
    return used;
}

void process_executable(char *path, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", path, size - 1);
    path[len > 0 ? len : 0] = '\0';
}

void process_command(char *command, size_t size)
{
    size_t len = read_file("/proc/self/cmdline", command, size);
    while (len > 0 && command[len - 1] == '\0')
        len--;
    for (size_t i = 0; i < len; i++)
        if (command[i] == '\0')
            command[i] = ' ';
}

void process_driver_name(char *name, size_t size)
{
    read_file("/sys/module/nvidia/version", name, size);
    name[strcspn(name, "\n")] = '\0';
}

void process_thread_name(int64_t tid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%lld/comm", (long long)tid);
    read_file(path, name, size);
    name[strcspn(name, "\n")] = '\0';
}

int64_t process_start_wall_ns(void)
{
    char stat[1024];
    read_file("/proc/self/stat", stat, sizeof stat);
    /* Field 22, in clock ticks after boot; the second field is a name in parentheses that may contain any character. */
    const char *at = strrchr(stat, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    long ticks = sysconf(_SC_CLK_TCK);
    if (!at || ticks <= 0)
        return TPAFILE_NONE;
    int64_t start_ns = (int64_t)strtoll(at, NULL, 10) * (1000000000 / ticks);
    struct timespec wall, boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return ((int64_t)wall.tv_sec - boot.tv_sec) * 1000000000 + wall.tv_nsec - boot.tv_nsec + start_ns;
}
