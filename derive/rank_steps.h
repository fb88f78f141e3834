/*
 * rank_steps.h - ranks of a job that lack steps which others recorded.
 *
 *     VEC_OF(struct rank_step) steps = { 0 };            // of each rank: its marked steps
 *     struct rank_steps lacking = rank_steps_lacking(steps.at, steps.count);
 *     for (size_t i = 0; i < lacking.count; i++) ...      // lacking.at[i].rank has lacking.at[i].has of lacking.at[i].of
 *     VEC_FREE(&lacking);
 *
 * The steps of a job are those that at least half of its ranks have. A rank may lack the first and the last of them: profilers
 * begin and stop apart. What lacks more, or half of all, has lost its steps, or was recorded at another time; figures of the
 * job are then not of the same steps on all ranks.
 */
#ifndef TPA_DERIVE_RANK_STEPS_H
#define TPA_DERIVE_RANK_STEPS_H

#include "base/buffer.h"

/* Instead of a number: there is such a rank, whether it has steps or not. */
#define RANK_STEP_NONE INT64_MIN

/* A step of a rank. SOURCE is the caller's, such as a file. */
struct rank_step {
    int64_t job, rank, number, source;
};

struct rank_step_list {
    VEC_OF(struct rank_step);
};

struct rank_steps_lack {
    int64_t job, rank, source; /* SOURCE: of one of its steps */
    int64_t has, of;           /* of the steps of the job, OF, it has so many */
};

struct rank_steps {
    VEC_OF(struct rank_steps_lack); /* by job and rank */
};

/* The ranks that lack steps, among those of COUNT STEPS, which are sorted, and of which those that repeat go. A rank
 * without steps needs one of RANK_STEP_NONE to be known. Free with VEC_FREE. */
struct rank_steps rank_steps_lacking(struct rank_step *steps, size_t count);

/* Append "rank 1 has 4 of the 8 steps that most ranks have". */
void rank_steps_describe(const struct rank_steps_lack *lack, struct buffer *out);

#endif
