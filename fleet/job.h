/*
 * job.h - which recordings are the ranks of the selected job, and which are left out.
 *
 *     struct fleet_job job;
 *     fleet_job_init(&job, facts);
 *     for (size_t m = 0; m < job.members.count; m++)
 *         printf("%" PRId64 "\n", job.members.at[m].rank);
 *     fleet_job_release(&job);
 *
 * The job is the most common one of the recordings: those with one name (tpa facts --job) and one number of ranks;
 * recordings without these belong to it. A rank may have several recordings, one after the other: later ones must begin
 * after the previous one has ended, with a later step. If no recording has a rank, they are numbered in the order of
 * their file names.
 */
#ifndef TPA_FLEET_JOB_H
#define TPA_FLEET_JOB_H

#include "figures/facts.h"

struct fleet_member {
    const struct facts_recording *recording; /* borrowed from the facts */
    int64_t rank;
    size_t first[FACTS_TABLES], count[FACTS_TABLES]; /* its rows in the tables */
};

enum fleet_left_out { LEFT_OUT_OTHER_JOB, LEFT_OUT_DUPLICATE, LEFT_OUT_NO_RANK };

struct fleet_stranger {
    const struct facts_recording *recording;
    enum fleet_left_out why;
};

struct fleet_range {
    int64_t first, last;
};

struct fleet_job {
    const struct facts *facts;            /* borrowed; finished */
    VEC_OF(struct fleet_member) members;  /* by rank, then by time */
    VEC_OF(struct fleet_stranger) others; /* left out; by rank, then by file */
    int64_t world_size;                   /* FACTS_MISSING: not recorded */
    int64_t ranks;                        /* ranks with recordings */
    int64_t missing_count;                /* ranks below world_size without recordings */
    VEC_OF(struct fleet_range) missing;   /* these, ascending */
    bool numbered;                        /* no recording has a rank */
    uint32_t *by_recording;               /* members by the number of their recording: fleet_job_find */
};

/* Release with fleet_job_release. */
void fleet_job_init(struct fleet_job *job, const struct facts *facts);
/* As fleet_job_init, but every recording of FACTS is a member, regardless of its job. */
void fleet_job_of_all(struct fleet_job *job, const struct facts *facts);
void fleet_job_release(struct fleet_job *job);

/* The member of this recording; FLEET_NO_MEMBER: none. */
#define FLEET_NO_MEMBER UINT32_MAX
uint32_t fleet_job_find(const struct fleet_job *job, int64_t recording);

/* What the recording of MEMBER lacks: a set of enum lacks (base/lacks.h); 0: nothing is known to lack. */
unsigned fleet_member_lacks(const struct fleet_job *job, const struct fleet_member *member);

/* The text of ID in the facts; missing for NAME_NONE. */
struct text fleet_text(const struct facts *facts, name_id id);

#endif
