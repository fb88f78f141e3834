/*
 * memory_room.h - how much more memory this process may take, before the system ends it or refuses.
 *
 *     struct memory_room room;
 *     if (memory_room(&room) && need > room.bytes)
 *         ... "%s", room.of ...
 *
 * Read from Linux's /proc and the limits of control groups, which is where containers and batch jobs have theirs; about 0.1 ms.
 */
#ifndef TPA_BASE_MEMORY_ROOM_H
#define TPA_BASE_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct memory_room {
    uint64_t bytes;       /* that may still be taken */
    const char *of;       /* what sets the limit, for people: "the machine", "ulimit -v"; a literal */
    bool counts_reserved; /* addresses that were never touched count, too */
};

/* The least room of all limits. False when none is known. */
bool memory_room(struct memory_room *room);

/* The same for a system whose files are below ROOT, without the limit of the process itself. For tests. */
bool memory_room_below(const char *root, struct memory_room *room);

#endif
