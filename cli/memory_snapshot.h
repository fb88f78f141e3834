/* memory_snapshot.h - `tpa memory` and `tpa summary` for snapshots of the allocator instead of traces. */
#ifndef TPA_CLI_MEMORY_SNAPSHOT_H
#define TPA_CLI_MEMORY_SNAPSHOT_H

#include "cli/output.h"
#include "ingest/formats.h"
#include "memory/alive.h"

struct memory_snapshot_query {
    const char *at; /* NULL: the peak */
    enum alive_by by;
    bool segments;
    struct ranges devices;
};

/* Print the results for the snapshots in INGESTED. Returns the exit code. */
int memory_of_snapshots(const struct ingested *ingested, const struct memory_snapshot_query *query,
                        const struct output_args *output, struct tpa_error *err);

/* One screen of results: the first out-of-memory error of each device, or else its peak, the lines with the most
 * memory, and leaks. */
int summary_of_snapshots(const struct ingested *ingested, const struct ranges *devices,
                         const struct output_args *output, struct tpa_error *err);

#endif
