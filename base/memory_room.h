/*
 * memory_room.h - how much more memory this process may take, before the system kills it or refuses.
 *
 *     struct memory_room room;
 *     if (memory_room(&room) && need > room.bytes)
 *         ... "%s", room.of ...
 *
 * Read from Linux's /proc and the limits of control groups, which is where containers and batch jobs set limits; about
 * 0.1 ms.
 */
#ifndef TPA_BASE_MEMORY_ROOM_H
#define TPA_BASE_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct memory_room {
    uint64_t bytes;       /* that may still be allocated */
    const char *of;       /* what sets the limit, for people: "the machine", "ulimit -v"; a literal */
    bool counts_reserved; /* the limit counts addresses, also those never touched */
};

/* The smallest room of all limits. False if none is known. */
bool memory_room(struct memory_room *room);

/* The same for a system whose files are below ROOT, without the limit of the process itself. For tests. */
bool memory_room_below(const char *root, struct memory_room *room);

#endif
