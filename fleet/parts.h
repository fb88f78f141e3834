/* parts.h - what the files of the fleet share. */
#ifndef TPA_FLEET_PARTS_H
#define TPA_FLEET_PARTS_H

#include "figures/facts.h"
#include "derive/rank_clocks.h"
#include "derive/rank_steps.h"
#include "base/source.h"

/*
 * job.c - which recordings are the ranks of the selected job, and which are left out.
 *
 *     struct fleet_job job;
 *     fleet_job_init(&job, facts, &arena);
 *     for (size_t m = 0; m < job.members.count; m++)
 *         printf("%" PRId64 "\n", job.members.at[m].rank);
 *     arena_release(&arena);
 *
 * The job is the most common one of the recordings: those with one name (tpa facts --job) and one number of ranks;
 * recordings without these belong to it. A rank may have several recordings, one after the other: later ones must begin
 * after the previous one has ended, with a later step. If no recording has a rank, they are numbered in the order of
 * their file names.
 */

struct fleet_member {
    const struct facts_recording *recording; /* borrowed from the facts */
    int64_t rank;
    size_t first[FACTS_TABLES], count[FACTS_TABLES]; /* its rows in the tables */
    struct rank_steps_lack steps_lack; /* of its rank; OF is 0: it has the steps of the others */
    bool no_work;                      /* of its device, though others have some and its backend needs one */
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

/* The memory is of ARENA, and JOB must stay where it is as long. */
void fleet_job_init(struct fleet_job *job, const struct facts *facts, struct arena *arena);
/* As fleet_job_init, but every recording of FACTS is a member, regardless of its job. */
void fleet_job_of_all(struct fleet_job *job, const struct facts *facts, struct arena *arena);

/* The member of this recording; FLEET_NO_MEMBER: none. */
#define FLEET_NO_MEMBER UINT32_MAX
uint32_t fleet_job_find(const struct fleet_job *job, int64_t recording);

/* What the recording of MEMBER lacks: a set of enum lacks (base/lacks.h); 0: nothing is known to lack. */
unsigned fleet_member_lacks(const struct fleet_job *job, const struct fleet_member *member);

/* The text of ID in the facts; missing for NAME_NONE. */
struct text fleet_text(const struct facts *facts, name_id id);

/*
 * slice.c - a set of collectives with all of their ranks: those of a whole job, or a part of them.
 *
 *     struct slice *slice = slice_of_facts(&job);
 *     for (size_t m = 0; m < slice->meetings.count; m++)
 *         ... slice->arrivals + slice->meetings.at[m].first ...
 *     arena_free(slice);
 *
 * Collectives of several ranks match by the rules of derive/collective_matches.h: same process group and number in it,
 * else the n-th of their kind in the group and step; sends and receives by source and target.
 */

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
    uint64_t unmatched;    /* rows that met no other */
    uint64_t found_groups; /* as identities_match counts them */
};

/* All collectives of the members of JOB, which must outlive the slice. New; free with arena_free. Time is n log n. */
struct slice *slice_of_facts(const struct fleet_job *job);

/* New, without any; free with arena_free. */
struct slice *slice_open(const struct fleet_job *job);

/* The same for its records. */
void slice_finish(struct slice *slice);

/* The number of collectives of MEMBER, in the facts or in separate files. */
int64_t slice_collectives_of(const struct fleet_job *job, const struct fleet_member *member);

/* Does every rank have to arrive at COLLECTIVE before any can leave? */
bool slice_joins_all(const struct fleet_job *job, const struct facts_collective *collective);

/* The process group of ROW, borrowed; NULL: not recorded. */
const struct facts_group *slice_group(const struct fleet_job *job, const struct slice_row *row);

/*
 * ends.c - the ends of collectives that need all ranks, and the clocks that follow from them.
 *
 *     struct ends ends;
 *     ends_init(&ends, &job, &arena);
 *     ends_add(&ends, &slice);                       // for each slice
 *     ends_find_clocks(&ends, &clocks);
 *     uint64_t refuted = ends_refute(&ends, clocks.first);
 *     arena_release(&arena);
 *
 * Clocks are computed twice: from all ends, and from those of meetings that are consistent with the first result.
 * Collectives matched by order that did not end together are no meeting.
 */

/* A meeting that needs all ranks, and the ends of its ranks. */
struct joining {
    size_t first, count; /* of the ends */
    int64_t shortest_ns; /* of the durations */
    bool checked;        /* it was matched by its order: it must have ended together */
    bool refuted;
};

struct ends {
    const struct fleet_job *job; /* borrowed */
    VEC_OF(struct clock_end) at; /* by the members' own clocks */
    VEC_OF(struct joining) joining;
    bool *meets; /* by member: meets another rank, also in collectives that do not need all ranks */
};

/* By member. */
struct fleet_clocks {
    struct rank_clock *first;   /* by all ends, but those that contradict the clocks by all */
    struct rank_clock *settled; /* without the meetings that contradict FIRST */
};

/* The memory is of ARENA, and ENDS must stay where it is as long. */
void ends_init(struct ends *ends, const struct fleet_job *job, struct arena *arena);

/* Add those of SLICE: one joining for each of its meetings for which ends_has is true, in order. */
void ends_add(struct ends *ends, const struct slice *slice);
bool ends_has(const struct slice *slice, const struct slice_meeting *meeting);

/* New; free both with free(). Time is n log n. */
void ends_find_clocks(struct ends *ends, struct fleet_clocks *clocks);

/* Mark the meetings that contradict FIRST. Returns their number of collectives. */
uint64_t ends_refute(struct ends *ends, const struct rank_clock *first);

/* medians.c - lower medians. */

/* Sort VALUES and return their lower median: FACTS_MISSING or NaN if there are none. */
int64_t fleet_median(int64_t *values, size_t count);
double fleet_median_of(double *values, size_t count);

/*
 * slice_file.c - the collectives of facts in separate files, each with all ranks of some collectives.
 *
 *     struct slicing *slicing = slicing_open(facts, 64);       // of one rank, on its machine
 *     for (size_t i = 0; i < 64; i++)
 *         slicing_save(slicing, i, files[i]);
 *     arena_free(slicing);
 *     ...                                                      // join files of equal number of all ranks
 *     slice_add_file(&slice, facts, mixed, false, source, &err); // and look at one after another
 *     slice_finish(&slice);
 *
 * The file of a collective depends on its group and its number in it; unnumbered ones of a group go to one file. So
 * collectives that meet are in one file, except for mixed groups with numbered and unnumbered ones: these are read from
 * all files together. A row also holds the needed data of the previous one of its group.
 *
 * A file is a table "arrivals", in Arrow's format like those of facts_file.h; files may be concatenated.
 */

struct slicing;

/* New: FACTS, finished and borrowed, divided into COUNT files. Free with arena_free (NULL is allowed). */
struct slicing *slicing_open(struct facts *facts, size_t count);

/* Does any collective go to file NUMBER? */
bool slicing_has(const struct slicing *slicing, size_t number);

/* Write file NUMBER. False, with errno set, if writing fails. */
bool slicing_save(const struct slicing *slicing, size_t number, FILE *file);

/* Add the collectives of SOURCE to FACTS, undoing the separation. False and ERR if it is damaged or cannot be read. */
bool slice_merge(struct facts *facts, struct source *source, struct tpa_error *err);

/* By row of the table of groups: is it a mixed group, with numbered and unnumbered collectives? */
bool *slice_find_mixed(const struct fleet_job *job, bool *any);

/* Add the records of SOURCE that belong to members of the job, and whose group is mixed if WANTED, else not. Texts are
 * added to FACTS, which are those of the job. False and ERR if it is damaged. */
bool slice_add_file(struct slice *slice, struct facts *facts, const bool *mixed, bool wanted,
                    struct source *source, struct tpa_error *err);

/* Sort the records of several files in the order of facts. */
void slice_sort(struct slice *slice);

#endif
