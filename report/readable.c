#include "report/readable.h"

#include "base/names.h"
#include "report/shorten.h"

struct readable {
    size_t max;
    struct names *names;
    struct arena arena;
    VEC_OF(const struct readable_name *); /* by name */
};

struct readable *readable_open(size_t max)
{
    struct readable *readable = mem_zalloc(1, sizeof *readable);
    readable->max = max;
    readable->names = names_open();
    return readable;
}

void readable_free(struct readable *readable)
{
    if (!readable)
        return;
    names_free(readable->names);
    arena_release(&readable->arena);
    VEC_FREE(readable);
    free(readable);
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
    struct readable_name *made = arena_alloc(&readable->arena, sizeof *made);
    made->shorter = shorten_readable(&full, &shown, names_text(readable->names, id), len, readable->max);
    made->full = keep(&readable->arena, &full);
    made->shown = keep(&readable->arena, &shown);
    EACH(buffer_release, &full, &shown);
    return *VEC_PUSH(readable) = made;
}
