/* snapshot.h - `tpa report` for memory snapshots: a page, or the same tables. */
#ifndef TPA_CLI_REPORT_SNAPSHOT_H
#define TPA_CLI_REPORT_SNAPSHOT_H

#include "report/page.h"
#include "memory/snapshot_analysis.h"

/* Everything that is shown; released by report_snapshot_release. */
struct report_snapshot {
    struct snapshot_answers *answers;
    struct result *result;
    struct picture *picture;
    VEC_OF(struct timeline *) timelines;
    VEC_OF(struct flame *) flames;
};

/* Analyse DEVICES of SNAPSHOTS, which REPORT borrows. Release it with report_snapshot_release. */
void report_snapshot_make(const struct snapshots *snapshots, const struct ranges *devices,
                          struct report_snapshot *report);
void report_snapshot_release(struct report_snapshot *report);

/* The sections of the page; REPORT must outlive it. */
void report_snapshot_fill(const struct report_snapshot *report, struct page *page);

#endif
