/* blocks.h - two memory snapshots of one process: which blocks are still in use, which came, which went. */
#ifndef TPA_COMPARE_BLOCKS_H
#define TPA_COMPARE_BLOCKS_H

#include "base/result.h"
#include "compare/measure.h"

/* A line of code. A block is the same on both sides when device, address, size and stack are. */
struct block_row {
    struct text line;
    int64_t kept_bytes, kept_count, new_bytes, new_count, gone_bytes, gone_count;
};

struct block_changes {
    VEC_OF(struct block_row) rows; /* most new bytes first */
    struct block_row sum;          /* its line is not set */
    bool one_process;              /* more than a tenth of the blocks of the smaller side are on both */
};

/* What became of the blocks of BEFORE; texts live as long as both. VEC_FREE the rows. */
void blocks_compare(const struct measures *before, const struct measures *after,
                    struct block_changes *changes);

/* Where both sides are of one process: the table "blocks", and a sentence. */
void blocks_add_table(const struct measures *before, const struct measures *after, struct result *result);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape blocks_tables[];

#endif
