#include "trace/container.h"

void trace_container_free(struct trace_container *container)
{
    if (!container)
        return;
    VEC_FREE(&container->kinds);
    free(container);
}

void sums_origin_release(struct sums_origin *origin)
{
    VEC_FREE(&origin->notices);
}

void sums_origin_add(struct sums_origin *origin, const struct sums_notice *notice)
{
    origin->lacks |= lacks_of_word(notice->kind);
    *VEC_PUSH(&origin->notices) = *notice;
}

void sums_origin_lacks(struct sums_origin *origin, enum lack lack, const char *text, const char *path,
                       uint64_t count, int64_t offset)
{
    sums_origin_add(origin, &(struct sums_notice){ lack_word(lack), text, path, count, offset });
}

void sums_origin_adopt(struct sums_origin *to, struct sums_origin *from)
{
    to->lacks |= from->lacks;
    for (size_t i = 0; i < from->notices.count; i++)
        *VEC_PUSH(&to->notices) = from->notices.at[i];
    sums_origin_release(from);
}
