/* info_container.c - `tpa info` on .tpa files: their blocks, compression, and losses. */
#include "analyze/info.h"

#include <math.h>

struct container_row {
    struct text kind;
    int64_t blocks, records, packed, unpacked;
    double ratio, each;
    struct text file;
};

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct container_row, kind, "kind", "Blocks of", TABLE_NAME, "contents of the blocks"),
    COLUMN(struct container_row, blocks, "blocks", "Blocks", TABLE_TALLY, "blocks of this kind"),
    COLUMN(struct container_row, records, "records", "Records", TABLE_TALLY, "records in them"),
    COLUMN(struct container_row, packed, "packed", "On disk", TABLE_BYTES, "their size in the file"),
    COLUMN(struct container_row, unpacked, "unpacked", "Columns", TABLE_BYTES, "their contents as numbers of 8 bytes, and texts"),
    COLUMN(struct container_row, ratio, "ratio", "Ratio", TABLE_NUMBER, "columns over size on disk"),
    COLUMN(struct container_row, each, "each", "Bytes each", TABLE_NUMBER, "size on disk over records"),
    COLUMN(struct container_row, file, "file", "File", TABLE_TEXT, "the .tpa file", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

static double ratio_of(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

static void add_kinds(const struct trace_container *container, struct table *table)
{
    FOR_EACH(kind, &container->kinds) {
        struct container_row row = { .kind = as_text(kind->word),
                                     .blocks = (int64_t)kind->blocks,
                                     .records = (int64_t)kind->records,
                                     .packed = (int64_t)kind->packed,
                                     .unpacked = (int64_t)kind->unpacked,
                                     .ratio = ratio_of(kind->unpacked, kind->packed),
                                     .each = ratio_of(kind->packed, kind->records),
                                     .file = as_text(container->path) };
        table_add_rows(table, &row, 1, sizeof row);
    }
}

/* Is FILE the first one in its container? */
static bool is_first(const struct trace *trace, size_t file)
{
    return !ANY(i, file, trace->files[i].container == trace->files[file].container);
}

/* The COUNT containers at AT as a table; EVENTS is their total. */
static void add_table(struct trace_container *const *at, size_t count, size_t events, struct result *result)
{
    if (count == 0)
        return;
    struct table *table =
        TABLE_OF_ROWS("container", "Blocks of the .tpa file", columns, (struct container_row *)NULL, 0);
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
    TABLE_SORT(table, struct container_row, packed);
    table_add_footer(table, "size", "Size", TABLE_BYTES, table_int(size));
    if (events > 0)
        table_add_footer(table, "bytes_per_event", "Bytes an event", TABLE_NUMBER,
                         table_number((double)size / (double)events));
    if (open)
        table_add_footer(table, "unfinished", "Files without an end", TABLE_COUNT, table_int((int64_t)open));
    if (lost_blocks)
        table_add_footer(table, "lost_blocks", "Lost blocks", TABLE_TALLY, table_int(lost_blocks));
    if (lost_bytes)
        table_add_footer(table, "lost_bytes", "Damaged bytes", TABLE_BYTES, table_int(lost_bytes));
    if (tail_bytes)
        table_add_footer(table, "unfinished_bytes", "Bytes of an unfinished block", TABLE_BYTES,
                         table_int(tail_bytes));
    result_add_table(result, table);
}

void info_add_container_table(const struct trace *trace, struct result *result)
{
    SCOPED VEC_OF(struct trace_container *) containers = { 0 };
    for (size_t i = 0; i < trace->file_count; i++)
        if (trace->files[i].container && is_first(trace, i))
            *VEC_PUSH(&containers) = trace->files[i].container;
    add_table(containers.at, containers.count, trace->event_count, result);
}

const struct table_shape info_container_tables[] = {
    TABLE_SHAPE("container", columns),
    { 0 },
};
