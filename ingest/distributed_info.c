#include "ingest/distributed_info.h"

#include "ingest/json_text.h"
#include <inttypes.h>

/* The ranks as collectives write them: "[0, 1]". Stores their number in *COUNT. */
static name_id read_ranks(struct trace_builder *builder, const struct json_text *text, int64_t *count)
{
    struct json_pull in = { text->at, text->at + text->len };
    struct json_text rank;
    struct buffer list = { 0 };
    *count = 0;
    if (!json_enter(&in, '['))
        return NAME_NONE;
    while (json_next_element(&in) && json_read(&in, &rank))
        buffer_printf(&list, "%s%" PRId64, (*count)++ ? ", " : "[", json_text_integer(&rank, -1));
    buffer_putc(&list, ']');
    name_id id = *count ? trace_builder_text(builder, list.at, list.count) : NAME_NONE;
    buffer_release(&list);
    return id;
}

static void read_group(struct trace_builder *builder, struct json_pull *in)
{
    struct trace_group group = {
        .name = NAME_NONE, .description = NAME_NONE, .ranks = NAME_NONE, .size = -1
    };
    struct json_text key, value;
    int64_t listed = 0;
    while (json_next_key(in, &key) && json_read(in, &value)) {
        if (json_text_is(&key, "pg_name"))
            group.name = json_text_name(builder, &value);
        else if (json_text_is(&key, "pg_desc"))
            group.description = json_text_name(builder, &value);
        else if (json_text_is(&key, "backend_config"))
            group.backends = json_text_keep(builder, &value);
        else if (json_text_is(&key, "pg_size"))
            group.size = json_text_integer(&value, -1);
        else if (json_text_is(&key, "ranks"))
            group.ranks = read_ranks(builder, &value, &listed);
    }
    if (group.size <= 0)
        group.size = listed > 0 ? listed : -1;
    *VEC_PUSH(&trace_builder_current_file(builder)->groups) = group;
}

static void read_groups(struct trace_builder *builder, const struct json_text *text)
{
    struct json_pull in = { text->at, text->at + text->len };
    if (!json_enter(&in, '['))
        return;
    while (json_next_element(&in)) {
        if (json_enter(&in, '{'))
            read_group(builder, &in);
        else if (!json_skip(&in))
            return;
    }
}

void distributed_info_apply(struct trace_builder *builder, const char *text, size_t len)
{
    struct trace_file *file = trace_builder_current_file(builder);
    struct json_pull in = { text, text + len };
    struct json_text key, value;
    int64_t group_count = -1;
    if (!json_enter(&in, '{'))
        return;
    file->groups.count = 0; /* the last value wins, as with the others */
    while (json_next_key(&in, &key) && json_read(&in, &value)) {
        if (json_text_is(&key, "rank"))
            file->rank = json_text_integer(&value, -1);
        else if (json_text_is(&key, "world_size"))
            file->world_size = json_text_integer(&value, -1);
        else if (json_text_is(&key, "backend"))
            file->backend = json_text_keep(builder, &value);
        else if (json_text_is(&key, "nccl_version"))
            file->nccl_version = json_text_keep(builder, &value);
        else if (json_text_is(&key, "pg_count"))
            group_count = json_text_integer(&value, -1);
        else if (json_text_is(&key, "pg_config"))
            read_groups(builder, &value);
    }
    file->has_all_groups = group_count <= (int64_t)file->groups.count;
}
