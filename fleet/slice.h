/*
 * slice.h - a set of collectives with all of their ranks: those of a whole job, or a part of them.
 *
 *     struct slice slice;
 *     slice_of_facts(&slice, &job);
 *     for (size_t m = 0; m < slice.meetings.count; m++)
 *         ... slice.arrivals + slice.meetings.at[m].first ...
 *     slice_release(&slice);
 *
 * Collectives of several ranks match by the rules of derive/collective_matches.h: same process group and number in it,
 * else the n-th of their kind in the group and step; sends and receives by source and target.
 */
#ifndef TPA_FLEET_SLICE_H
#define TPA_FLEET_SLICE_H

#include "base/memory.h"
#include "fleet/job.h"

/* A collective of a member of the job. */
struct slice_row {
    const struct facts_collective *collective; /* borrowed */
    const struct facts_collective *
        /* the previous one of the same group, member and device; NULL: none. Only its times and totals until its end
         * are valid */
        before;
    uint32_t member; /* of job.members */
};

struct slice_arrival {
    const struct slice_row *row;
    int64_t start_ns, end_ns; /* by the clock of the member, until they are corrected */
    int64_t waited_ns;
};

struct slice_meeting {
    size_t first, count; /* of arrivals; by member and device, at least 2 */
    int64_t number;      /* in the group, or place in the order */
    bool by_order;
};

/* A row of a file, and data of the previous one; if there is none, its start is missing. */
struct slice_record {
    struct facts_collective one, before;
    uint32_t member;
};

struct slice {
    const struct fleet_job *job;         /* borrowed */
    VEC_OF(struct slice_record) records; /* of files (slice_file.h) */
    uint64_t strangers;                  /* rows of files whose recording is not in the facts */
    VEC_OF(struct slice_row) rows;
    struct slice_arrival *arrivals; /* of all meetings */
    size_t arrival_count;
    VEC_OF(struct slice_meeting) meetings;
    uint64_t unmatched; /* rows that met no other */
};

/* All collectives of the members of JOB, which must outlive the slice. Release with slice_release. Time is n log n. */
void slice_of_facts(struct slice *slice, const struct fleet_job *job);
void slice_release(struct slice *slice);

/* The same for its records. */
void slice_finish(struct slice *slice);

/* The number of collectives of MEMBER, in the facts or in separate files. */
int64_t slice_collectives_of(const struct fleet_job *job, const struct fleet_member *member);

/* Does every rank have to arrive at COLLECTIVE before any can leave? */
bool slice_joins_all(const struct fleet_job *job, const struct facts_collective *collective);

/* The process group of ROW, borrowed; NULL: not recorded. */
const struct facts_group *slice_group(const struct fleet_job *job, const struct slice_row *row);

#endif
