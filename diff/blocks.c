#include "diff/diff.h"

#include "base/rows.h"
#include <inttypes.h>

/* A block as three texts, numbered equally on both sides. */
struct shared_block {
    struct measure_block block;
    bool after;
};

static const struct key by_block[] = {
    ASC(struct shared_block, block.device), ASC(struct shared_block, block.addr),
    ASC(struct shared_block, block.stack),  ASC(struct shared_block, block.bytes),
    ASC(struct shared_block, after),        KEY_END
};

static bool blocks_is_same(const struct shared_block *a, const struct shared_block *b)
{
    return a->after != b->after && a->block.device == b->block.device && a->block.addr == b->block.addr &&
           a->block.stack == b->block.stack && a->block.bytes == b->block.bytes;
}

/* Ids in TEXTS of all texts of SIDE. New; free with free(). */
static name_id *share(struct names *texts, const struct measures *side)
{
    size_t count = names_count(side->block_texts);
    name_id *shared = mem_alloc(mem_times(count + 1, sizeof *shared));
    for (name_id id = 0; id < count; id++)
        shared[id] = names_add(texts, names_text(side->block_texts, id), names_length(side->block_texts, id));
    return shared;
}

static void count_block(struct block_row *row, int64_t bytes, bool kept, bool after)
{
    int64_t *sum = kept ? &row->kept_bytes : after ? &row->new_bytes : &row->gone_bytes;
    int64_t *count = kept ? &row->kept_count : after ? &row->new_count : &row->gone_count;
    *sum += bytes;
    ++*count;
}

static const struct key by_new_bytes_gone_bytes[] = { DESC(struct block_row, new_bytes),
                                                      DESC(struct block_row, gone_bytes), KEY_END };

void blocks_compare(const struct measures *before, const struct measures *after,
                    struct block_changes *changes)
{
    *changes = (struct block_changes){ 0 };
    size_t counts[2] = { before->blocks.count, after->blocks.count }, count = counts[0] + counts[1];
    if (counts[0] == 0 || counts[1] == 0)
        return;
    SCOPED struct shared_block *all = mem_alloc(mem_times(count, sizeof *all));
    SCOPED_OBJECT struct names *texts = names_open();
    const struct measures *sides[2] = { before, after };
    name_id *shared[2] = { share(texts, before), share(texts, after) };
    size_t filled = 0;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < counts[side]; i++) {
            struct measure_block block = sides[side]->blocks.at[i];
            block.stack = block.stack == NAME_NONE ? NAME_NONE : shared[side][block.stack];
            block.line = shared[side][block.line];
            all[filled++] = (struct shared_block){ block, side == 1 };
        }
    SORT_ARRAY(all, count, by_block);
    SCOPED struct block_row *rows = mem_zalloc(names_count(texts), sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const struct measure_block *block = &all[i].block;
        bool kept = i + 1 < count && blocks_is_same(&all[i], &all[i + 1]);
        count_block(&rows[block->line], block->bytes, kept, all[i].after);
        count_block(&changes->sum, block->bytes, kept, all[i].after);
        i += kept;
    }
    for (int side = 0; side < 2; side++) /* every line, its text borrowed from a side */
        for (size_t i = 0; i < counts[side]; i++) {
            const struct measures *of = sides[side];
            name_id line = of->blocks.at[i].line;
            struct block_row *row = &rows[shared[side][line]];
            if (row->kept_count + row->new_count + row->gone_count == 0)
                continue;
            row->line =
                (struct text){ names_text(of->block_texts, line), names_length(of->block_texts, line) };
            *VEC_PUSH(&changes->rows) = *row;
            *row = (struct block_row){ 0 };
        }
    size_t smaller = counts[0] < counts[1] ? counts[0] : counts[1];
    changes->one_process = (size_t)changes->sum.kept_count * 10 > smaller;
    SORT(&changes->rows, by_new_bytes_gone_bytes);
    EACH(free, shared[0], shared[1]);
}

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct block_row, line, "line", "Line of code", TABLE_NAME, "the line that allocated"),
    COLUMN(struct block_row, new_bytes, "new_bytes", "New", TABLE_BYTES, "in use in the second snapshot only"),
    COLUMN(struct block_row, new_count, "new_count", "New blocks", TABLE_TALLY, "blocks of it"),
    COLUMN(struct block_row, gone_bytes, "gone_bytes", "Gone", TABLE_BYTES, "in use in the first snapshot only"),
    COLUMN(struct block_row, gone_count, "gone_count", "Gone blocks", TABLE_TALLY, "blocks of it"),
    COLUMN(struct block_row, kept_bytes, "kept_bytes", "Kept", TABLE_BYTES, "in use in both, at the same address, by the same stack"),
    COLUMN(struct block_row, kept_count, "kept_count", "Kept blocks", TABLE_TALLY, "blocks of it"),
};
/* clang-format on */

void blocks_add_table(const struct measures *before, const struct measures *after, struct result *result)
{
    struct block_changes changes;
    blocks_compare(before, after, &changes);
    if (changes.one_process) {
        const struct block_row *sum = &changes.sum;
        result_add_table(result, TABLE_OF_ROWS("blocks", "Blocks in use when the snapshots were taken",
                                               columns, changes.rows.at, changes.rows.count));
        ADD_NOTICE(result, "one_process", sum->kept_count,
                   "both snapshots are of one process: %" PRId64 " blocks (%s) are in use in both, %" PRId64
                   " (%s) are new, %" PRId64 " (%s) are gone",
                   sum->kept_count, SIZE_TEXT(sum->kept_bytes), sum->new_count, SIZE_TEXT(sum->new_bytes),
                   sum->gone_count, SIZE_TEXT(sum->gone_bytes));
    }
    VEC_FREE(&changes.rows);
}

const struct table_shape blocks_tables[] = {
    TABLE_SHAPE("blocks", columns, .of = "snapshots"),
    { 0 },
};
