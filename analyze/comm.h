/*
 * comm.h - collectives: size, bandwidth, exposed time, and, over several ranks, who waited for whom.
 *
 *     struct comm_options options = { .by = COMM_BY_DEFAULT };
 *     struct comm *comm = comm_analyze(trace, selection, &options, &err);
 *     if (!comm)
 *         ...                                           // filter or exclude is not a valid regular expression
 *     comm_free(comm);
 */
#ifndef TPA_ANALYZE_COMM_H
#define TPA_ANALYZE_COMM_H

#include "analyze/analysis.h"
#include "analyze/comm_rows.h"

extern const struct trace_wants comm_wants;

/* The analysis's own words of --by, which add to the dimensions. */
#define COMM_BY_COLLECTIVE BY_OWN(0)
#define COMM_BY_LIBRARY BY_OWN(1)
#define COMM_BY_GROUP BY_OWN(2) /* process group */
#define COMM_BY_TYPE BY_OWN(3)
#define COMM_BY_SIZE BY_OWN(4)
#define COMM_BY_DEFAULT (COMM_BY_COLLECTIVE | COMM_BY_LIBRARY | COMM_BY_GROUP | COMM_BY_TYPE | COMM_BY_SIZE)

struct comm_options {
    unsigned by; /* dimensions and the words above; 0: COMM_BY_DEFAULT */
    /* Regular expressions; NULL: none. They match the collective ("all_reduce"), the kernel and the operator. */
    const char *filter, *exclude;
};

/*
 * The collectives of SELECTION, which must select no names; steps and ranges select by the time of issue. New; free
 * with comm_free (NULL is allowed). NULL and ERR if an expression is invalid. Texts live as long as the result and
 * TRACE.
 */
struct comm *comm_analyze(const struct trace *trace, const struct selection *selection,
                          const struct comm_options *options, struct tpa_error *err);
void comm_free(struct comm *comm);

#endif
