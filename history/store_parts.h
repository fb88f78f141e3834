/* store_parts.h - declarations shared by the files of the store. */
#ifndef TPA_HISTORY_STORE_PARTS_H
#define TPA_HISTORY_STORE_PARTS_H

#include "history/nightly.h"
#include "history/sql.h"

struct store {
    struct sql *sql;
};

/* The columns of a run; and a run read from such a row, with texts in ARENA. */
#define STORE_RUN_COLUMNS                                                                                    \
    "run.id, label.text, gpu.text, run.commit_id, run.host, run.unit, run.time_ns, run.sample_count, "       \
    "(SELECT why.text FROM fact JOIN name AS key ON key.id = fact.key JOIN name AS why ON why.id = "         \
    "fact.value WHERE fact.run = run.id AND key.text = CAST('" NIGHT_NO_BASELINE "' AS BLOB))"
#define STORE_RUN_TABLES "run JOIN name AS label ON label.id = run.label JOIN name AS gpu ON gpu.id = run.gpu"

#endif
