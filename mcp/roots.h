/*
 * roots.h - the folders that a server may read, and whether a path lies below them.
 *
 *     struct roots roots = { 0 };
 *     roots_add(&roots, "/traces", err);
 *     if (roots_check(&roots, "run/rank0.json") == ROOTS_INSIDE) ...
 *
 * A path is followed link by link, whether its file exists or not: what lies outside looks the same in both cases.
 */
#ifndef TPA_MCP_ROOTS_H
#define TPA_MCP_ROOTS_H

#include "base/arena.h"
#include "base/memory.h"

struct roots {
    VEC_OF(char *); /* absolute, without links; of the arena */
    struct arena arena;
};

enum roots_place {
    ROOTS_OUTSIDE,
    ROOTS_UNREADABLE, /* below a root, and missing, or no regular file or folder */
    ROOTS_INSIDE,
};

/* Add the folder PATH. False and ERR if it is none. */
bool roots_add(struct roots *roots, const char *path, struct tpa_error *err);

/* Where PATH lies as a client typed it; relative ones are below the current folder. "..", "~", "-", schemes and the empty text
 * are outside. */
enum roots_place roots_check(const struct roots *roots, const char *path);

/* Does PATH lead below a root, all links followed? */
bool roots_hold(const struct roots *roots, const char *path);

#endif
