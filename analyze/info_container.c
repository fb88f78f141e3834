/* info_container.c - `tpa info` on .tpa files: of what blocks they are, how well they pack, what was lost. */
#include "analyze/info.h"

#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_KIND,
    COLUMN_BLOCKS,
    COLUMN_RECORDS,
    COLUMN_PACKED,
    COLUMN_UNPACKED,
    COLUMN_RATIO,
    COLUMN_EACH,
    COLUMN_FILE
};

/* clang-format off */
static const struct table_column columns[] = {
    [COLUMN_KIND] = { "kind", "Blocks of", TABLE_NAME, "what the blocks hold" },
    [COLUMN_BLOCKS] = { "blocks", "Blocks", TABLE_COUNT, "blocks of this kind" },
    [COLUMN_RECORDS] = { "records", "Records", TABLE_COUNT, "records in them" },
    [COLUMN_PACKED] = { "packed", "On disk", TABLE_BYTES, "their size in the file" },
    [COLUMN_UNPACKED] = { "unpacked", "Columns", TABLE_BYTES, "what is in them as numbers of 8 bytes, and texts" },
    [COLUMN_RATIO] = { "ratio", "Ratio", TABLE_NUMBER, "columns over size on disk" },
    [COLUMN_EACH] = { "each", "Bytes each", TABLE_NUMBER, "size on disk over records" },
    [COLUMN_FILE] = { "file", "File", TABLE_TEXT, "the .tpa file", TABLE_OPTIONAL },
};
/* clang-format on */

static void add_kinds(const struct trace_container *container, struct table *table)
{
    for (size_t i = 0; i < container->kinds.count; i++) {
        const struct trace_container_kind *kind = &container->kinds.at[i];
        size_t row = table_add_row(table);
        table_set_text(table, row, COLUMN_KIND, kind->word, strlen(kind->word));
        table_set_int(table, row, COLUMN_BLOCKS, (int64_t)kind->blocks);
        table_set_int(table, row, COLUMN_RECORDS, (int64_t)kind->records);
        table_set_int(table, row, COLUMN_PACKED, (int64_t)kind->packed);
        table_set_int(table, row, COLUMN_UNPACKED, (int64_t)kind->unpacked);
        if (kind->packed)
            table_set_number(table, row, COLUMN_RATIO, (double)kind->unpacked / (double)kind->packed);
        if (kind->records)
            table_set_number(table, row, COLUMN_EACH, (double)kind->packed / (double)kind->records);
        table_set_text(table, row, COLUMN_FILE, container->path, strlen(container->path));
    }
}

/* Is FILE the first of those that lie in its container? */
static bool is_first(const struct trace *trace, size_t file)
{
    for (size_t i = 0; i < file; i++)
        if (trace->files[i].container == trace->files[file].container)
            return false;
    return true;
}

static union table_cell whole(int64_t value)
{
    return (union table_cell){ .i = value };
}

/* The COUNT containers at AT as a table; EVENTS of all of them, 0 where there are none. */
static void add_table(struct trace_container *const *at, size_t count, size_t events, struct result *result)
{
    if (count == 0)
        return;
    struct table *table =
        table_open("container", "Blocks of the .tpa file", columns, sizeof columns / sizeof *columns);
    int64_t size = 0, lost_blocks = 0, lost_bytes = 0, tail_bytes = 0;
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        const struct trace_container *container = at[i];
        open += !container->closed;
        size += container->size;
        lost_blocks += (int64_t)container->lost_blocks;
        lost_bytes += container->lost_bytes;
        tail_bytes += container->tail_bytes;
        add_kinds(container, table);
    }
    table_sort(table, COLUMN_PACKED, false);
    table_add_footer(table, "size", "Size", TABLE_BYTES, whole(size));
    if (events > 0)
        table_add_footer(table, "bytes_per_event", "Bytes an event", TABLE_NUMBER,
                         (union table_cell){ .f = (double)size / (double)events });
    if (open)
        table_add_footer(table, "unfinished", "Files without an end", TABLE_COUNT, whole((int64_t)open));
    if (lost_blocks)
        table_add_footer(table, "lost_blocks", "Lost blocks", TABLE_COUNT, whole(lost_blocks));
    if (lost_bytes)
        table_add_footer(table, "lost_bytes", "Damaged bytes", TABLE_BYTES, whole(lost_bytes));
    if (tail_bytes)
        table_add_footer(table, "unfinished_bytes", "Bytes of an unfinished block", TABLE_BYTES,
                         whole(tail_bytes));
    result_add_table(result, table);
}

void info_add_container_table(const struct trace *trace, struct result *result)
{
    VEC_OF(struct trace_container *) containers = { 0 };
    for (size_t i = 0; i < trace->file_count; i++)
        if (trace->files[i].container && is_first(trace, i))
            *VEC_PUSH(&containers) = trace->files[i].container;
    add_table(containers.at, containers.count, trace->event_count, result);
    VEC_FREE(&containers);
}

void info_add_containers_of_sums(const struct sums_origin *origin, struct result *result)
{
    add_table(origin->containers.at, origin->containers.count, 0, result);
}
