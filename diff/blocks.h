/* blocks.h - two memory snapshots of one process: which blocks are in use in both, new or gone. */
#ifndef TPA_DIFF_BLOCKS_H
#define TPA_DIFF_BLOCKS_H

#include "base/result.h"
#include "diff/measure.h"

/* A line of code. A block is the same on both sides if device, address, size and stack are equal. */
struct block_row {
    struct text line;
    int64_t kept_bytes, kept_count, new_bytes, new_count, gone_bytes, gone_count;
};

struct block_changes {
    VEC_OF(struct block_row) rows; /* most new bytes first */
    struct block_row sum;          /* its line is not set */
    bool one_process;              /* more than a tenth of the blocks of the smaller side are on both */
};

/* Compare the blocks of BEFORE with those of AFTER. Texts of the rows are borrowed from both sides; free the rows with
 * VEC_FREE. */
void blocks_compare(const struct measures *before, const struct measures *after,
                    struct block_changes *changes);

/* If both sides are snapshots of one process, add the table "blocks" and a notice. */
void blocks_add_table(const struct measures *before, const struct measures *after, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape blocks_tables[];

#endif
