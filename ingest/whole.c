/* whole.c - see whole.h. */
#define _GNU_SOURCE
#include "ingest/whole.h"

#include "base/memory.h"
#include <sys/mman.h>

enum { FIRST_ROOM = 1 << 16, MOST_AT_ONCE = 4 << 20, GIVE_BACK = 8 << 20, PAGE = 4096 };

bool whole_read(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err)
{
    int64_t count = 0;
    do {
        if (whole->room == whole->size) {
            size_t room = whole->room ? whole->room * 2 : (size_t)FIRST_ROOM;
            whole->at = column_resize(whole->at, whole->room, room);
            whole->room = room;
        }
        size_t some = whole->room - whole->size < MOST_AT_ONCE ? whole->room - whole->size : MOST_AT_ONCE;
        count = source_read(source, whole->at + whole->size, some, err);
        whole->size += count > 0 ? (size_t)count : 0;
        if (options->progress)
            options->progress(options->progress_context, source_name(source), source_packed_read(source),
                              source_packed_size(source));
    } while (count > 0);
    return count == 0;
}

void whole_tell(const struct whole *whole, const struct source *source, struct trace_builder *builder)
{
    const char *damage = source_damage(source);
    trace_builder_current_file(builder)->size = (int64_t)whole->size;
    if (damage)
        trace_builder_notice(builder, "damaged_file", trace_builder_strndup(builder, damage, strlen(damage)),
                             1, TPA_NOWHERE);
}

void whole_done(struct whole *whole, size_t offset)
{
    size_t first = whole->done, end = offset & ~(size_t)(PAGE - 1);
    bool is_mapping = (uintptr_t)whole->at % PAGE == 0 && whole->room >= 2 * (size_t)GIVE_BACK;
    if (!is_mapping || end < first + GIVE_BACK)
        return;
    madvise(whole->at + first, end - first, MADV_DONTNEED);
    whole->done = end;
}

void whole_free(struct whole *whole)
{
    column_free(whole->at, whole->room);
    *whole = (struct whole){ 0 };
}
