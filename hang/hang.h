/*
 * hang.h - the post-mortem of stuck distributed jobs, from dumps of the Flight Recorder.
 *
 *     struct flight *flight = flight_read(paths, count, max_ratio, err);
 *     struct hang *hang = hang_open(flight);            // a job, or several
 *     hang_add_tables(hang, for_people, result);
 *     result->picture = hang_picture(hang);
 *     hang_free(hang);
 *     flight_free(flight);
 */
#ifndef TPA_HANG_HANG_H
#define TPA_HANG_HANG_H

#include "base/result.h"
#include "hang/job.h"

struct hang {
    struct flight *flight; /* borrowed */
    VEC_OF(struct hang_job) jobs;
};

/*
 * Split FLIGHT, which is borrowed and changed (entries of torchcomms get numbers of their own), into jobs, and judge
 * each. New; free with hang_free.
 */
struct hang *hang_open(struct flight *flight);
void hang_free(struct hang *hang);

/* The worst state of all jobs. */
enum hang_state hang_worst(const struct hang *hang);

/*
 * Add the tables verdict, causes, groups, ranks and doubts, and notices: the verdicts, what could not be read, what to
 * do next. FOR_PEOPLE: runs of ranks are shortened.
 */
void hang_add_tables(struct hang *hang, bool for_people, struct result *result);
extern const struct table_shape hang_tables[];

/* Fill the answer of RESULT: of several jobs that of the first of the worst state. Texts are copied. */
void hang_add_answer(struct hang *hang, struct result *result);

/* Who waits for whom, a chart for each job with something to draw, equal ranks together; NULL if there is none. */
struct picture *hang_picture(struct hang *hang);

#endif
