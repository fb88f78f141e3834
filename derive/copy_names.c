#include "derive/copy_names.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word;
    enum copy_direction direction;
} directions[] = {
    { "HtoD", COPY_HTOD }, { "H2D", COPY_HTOD },  { "HostToDevice", COPY_HTOD },
    { "DtoH", COPY_DTOH }, { "D2H", COPY_DTOH },  { "DeviceToHost", COPY_DTOH },
    { "DtoD", COPY_DTOD }, { "D2D", COPY_DTOD },  { "DeviceToDevice", COPY_DTOD },
    { "PtoP", COPY_PTOP }, { "P2P", COPY_PTOP },  { "PeerToPeer", COPY_PTOP },
    { "HtoH", COPY_HTOH }, { "H2H", COPY_HTOH },  { "HostToHost", COPY_HTOH },
    { "HtoA", COPY_HTOD }, { "AtoH", COPY_DTOH }, { "AtoD", COPY_DTOD },
    { "DtoA", COPY_DTOD }, { "AtoA", COPY_DTOD },
};

struct copy_kind copy_kind_of(const char *name)
{
    struct copy_kind kind = { COPY_UNKNOWN, MEMORY_NONE };
    for (size_t i = 0; i < sizeof directions / sizeof *directions && kind.direction == COPY_UNKNOWN; i++)
        if (strcasestr(name, directions[i].word))
            kind.direction = directions[i].direction;
    if (kind.direction == COPY_HTOD || kind.direction == COPY_DTOH || kind.direction == COPY_HTOH)
        kind.memory = MEMORY_UNKNOWN;
    return copy_kind_with(kind, name);
}

struct copy_kind copy_kind_with(struct copy_kind kind, const char *memory)
{
    if (!memory)
        return kind;
    if (strcasestr(memory, "managed") || strcasestr(memory, "unified")) {
        kind.direction = COPY_MANAGED;
        kind.memory = MEMORY_MANAGED;
    } else if (strcasestr(memory, "pageable")) {
        kind.memory = MEMORY_PAGEABLE;
    } else if (strcasestr(memory, "pinned")) {
        kind.memory = MEMORY_PINNED;
    }
    return kind;
}

const char *copy_direction_name(enum copy_direction direction)
{
    static const char *const names[COPY_DIRECTIONS] = {
        [COPY_UNKNOWN] = "unknown", [COPY_HTOD] = "HtoD", [COPY_DTOH] = "DtoH",       [COPY_DTOD] = "DtoD",
        [COPY_PTOP] = "PtoP",       [COPY_HTOH] = "HtoH", [COPY_MANAGED] = "managed",
    };
    return names[direction];
}

const char *copy_memory_name(enum copy_memory memory)
{
    static const char *const names[COPY_MEMORIES] = {
        [MEMORY_NONE] = NULL,       [MEMORY_UNKNOWN] = "unknown", [MEMORY_PAGEABLE] = "pageable",
        [MEMORY_PINNED] = "pinned", [MEMORY_MANAGED] = "managed",
    };
    return names[memory];
}
