#include "report/readable.h"

#include "base/names.h"
#include "report/shorten.h"

struct readable {
    size_t max;
    struct names *names;
    VEC_OF(const struct readable_name *); /* by name */
};

struct readable *readable_open(size_t max)
{
    struct readable *readable = arena_open(sizeof *readable);
    ARENA_OWNS(arena_of(readable), &readable->at);
    readable->max = max;
    readable->names = arena_hold(arena_of(readable), names_open());
    return readable;
}

size_t readable_max(const struct readable *readable)
{
    return readable->max;
}

static struct text keep(struct arena *arena, const struct buffer *text)
{
    return (struct text){ arena_strndup(arena, text->at ? text->at : "", text->count), text->count };
}

const struct readable_name *readable_of(struct readable *readable, const char *name, size_t len)
{
    name_id id = names_add(readable->names, name, len);
    if (id < readable->count)
        return readable->at[id];
    struct buffer full = { 0 }, shown = { 0 };
    struct readable_name *made = arena_alloc(arena_of(readable), sizeof *made);
    made->shorter = shorten_readable(&full, &shown, names_text(readable->names, id), len, readable->max);
    made->full = keep(arena_of(readable), &full);
    made->shown = keep(arena_of(readable), &shown);
    EACH(buffer_release, &full, &shown);
    return *VEC_PUSH(readable) = made;
}
