/* path_places.h - in which modules, or on which lines of source, the time of a critical path was spent. */
#ifndef TPA_WHATIF_PATH_PLACES_H
#define TPA_WHATIF_PATH_PLACES_H

#include "derive/code_paths.h"
#include "whatif/path.h"

/* What the frames are found in, beyond REPLAY_WANTS. */
#define PATH_PLACES_WANTS CODE_PATHS_WANTS

struct path_place {
    uint32_t path;            /* of the struct code_paths that was used */
    int64_t time_ns, self_ns; /* on the critical path: in it and all within; in none of those within */
    size_t count;             /* pieces of the path in it and all within */
};

struct path_places {
    VEC_OF(struct path_place); /* most time of its own first */
};

/* The time of PATH by the frames of CODE that it was spent in. Of a piece of a host thread each moment is where the thread was
 * then; device work, and what it waited for, is where its launch was. New; release with VEC_FREE. */
struct path_places path_places_of(const struct replay_graph *graph, const struct path *path,
                                  const struct code_paths *code);

#endif
