/*
 * profile_report.h - `tpa top`, `callers` and `callees` for a Python profile or a report on actions instead of a trace.
 *
 *     if (ingested.profile)
 *         return profile_report(PSTATS_STATS, &ingested, &query, &args->output, err);
 */
#ifndef TPA_CLI_PROFILE_REPORT_H
#define TPA_CLI_PROFILE_REPORT_H

#include "profile/view.h"
#include "cli/output.h"
#include "cli/pstats_text.h"
#include "ingest/formats.h"

/* The limit among the output options is on functions, not on rows. Zero-initialised: all, by tottime. */
struct profile_query {
    const char *sort; /* as profile_sort_parse; NULL: by tottime, or in pstats' text the order of the file */
    bool reverse;
    const char *filter, *exclude; /* regular expressions over "file:line(name)" */
    bool strip_dirs;
};

/* Print the profile in INGESTED, as text of pstats or according to OUTPUT. Returns the exit code. */
int profile_report(enum pstats_report report, struct ingested *ingested, const struct profile_query *query,
                   const struct output_args *output, struct tpa_error *err);

/* Print the actions in INGESTED. Returns the exit code. */
int actions_report(const struct ingested *ingested, const struct profile_query *query,
                   const struct output_args *output, struct tpa_error *err);

/* The printer of --format pstats; and was it selected? */
extern const struct printer profile_pstats_text;
bool profile_wants_pstats(const struct output_args *output);

#endif
