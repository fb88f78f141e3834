/* store_parts.h - what the files of the store share. */
#ifndef TPA_STORE_STORE_PARTS_H
#define TPA_STORE_STORE_PARTS_H

#include "compare/nightly.h"
#include "store/sql.h"

struct store {
    struct sql *sql;
};

/* Columns of the run as `runs` gives them; and a run from a row of it, whose texts go to ARENA. */
#define STORE_RUN_COLUMNS                                                                                    \
    "run.id, label.text, gpu.text, run.commit_id, run.host, run.unit, run.time_ns, run.sample_count"
#define STORE_RUN_TABLES "run JOIN name AS label ON label.id = run.label JOIN name AS gpu ON gpu.id = run.gpu"

#endif
