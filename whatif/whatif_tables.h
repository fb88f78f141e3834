/* whatif_tables.h - what a set of edits would gain, as tables: "result", "steps", "edits"; and a sweep. */
#ifndef TPA_WHATIF_WHATIF_TABLES_H
#define TPA_WHATIF_WHATIF_TABLES_H

#include "whatif/whatif.h"

/* Add the tables to RESULT, with a sentence on top that is the answer, and what the prediction takes for granted. */
void whatif_add_tables(const struct whatif *whatif, const struct edit *edits, struct result *result);

/* One factor of a sweep. */
struct sweep_point {
    double factor;
    int64_t now_ns, then_ns;
};

/* Add the table "sweep", and a picture of it, to RESULT. WHAT is swept, in words, kept by RESULT. */
void whatif_add_sweep(const struct sweep_point *points, size_t count, const char *what,
                      struct result *result);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape whatif_tables[];

#endif
