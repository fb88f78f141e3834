/* nightly.h - declarations shared by the files of `tpa nightly`: its arguments, and the verdict on a run as
 * checks. */
#ifndef TPA_CLI_NIGHTLY_H
#define TPA_CLI_NIGHTLY_H

#include "cli/load.h"
#include "cli/output.h"
#include "history/store.h"

/* "1%" or "50us": the minimum change. */
struct nightly_change {
    double share;
    int64_t time_ns;
};

/* --fail-on: what makes the exit code 1. */
enum nightly_fail_on { NIGHTLY_FAIL_ON_NEW, NIGHTLY_FAIL_ON_EXISTING };

struct nightly_args {
    const char *store, *label, *gpu, *commit, *time, *reason, *metric, *before;
    uint64_t window, keep, run;
    double false_alarms;
    struct nightly_change min_change;
    struct opt_list gates;
    int unsure;  /* enum gate_unsure */
    int fail_on; /* enum nightly_fail_on */
    bool all, missing_ranks;
    int64_t wait_ns;
    struct load_args load;
    struct output_args output;
};

/* A measured run, and its properties. */
struct nightly_measured {
    struct night *night;
    struct night_hash hash;
    char *ranks;     /* "0-3"; NULL: not recorded */
    int64_t time_ns; /* when the recording began; 0: not recorded */
    char *host;      /* NULL: not recorded */
};

/* Measure the operands of CALL as one run. Notices about them go to RESULT. */
bool nightly_measure(const struct invocation *call, struct nightly_measured *measured, struct result *result,
                     struct tpa_error *err);
void nightly_measured_release(struct nightly_measured *measured);

/* Add the table "checks" (report/cases.h) to RESULT: the gates of ARGS or, without gates, one check for each figure of
 * the head and for each kind of rows, which fails if NEW. *FAILS: must the build fail? */
bool nightly_check(const struct nightly *nightly, const struct nightly_args *args, struct result *result,
                   bool *fails, struct tpa_error *err);

/* Add notices to RESULT: NEW figures and since when, or why nothing can be judged. */
void nightly_notice(const struct nightly *nightly, const struct nightly_args *args, struct result *result);

/* The subcommands. Each prints its own result, and returns the exit code. */
int nightly_list(const struct nightly_args *args, struct tpa_error *err);
int nightly_accept(const struct nightly_args *args, struct tpa_error *err);
int nightly_prune(const struct nightly_args *args, struct tpa_error *err);
int nightly_export(const struct nightly_args *args, struct tpa_error *err);

/* ---- shared functions ---- */

/* Is TEXT, the value of OPTION (NULL: not given), short enough to be stored and shown in every list? */
bool nightly_may_keep(const char *option, const char *text, struct tpa_error *err);

/* Open the store that ARGS name. New; free with store_close. NULL and ERR on failure. */
struct store *nightly_open(const struct nightly_args *args, enum store_mode mode, struct tpa_error *err);

/* Label and GPU of the newest run in STORE, of those of LABEL and on GPU (NULL: any), in ARENA. False and ERR if there
 * is none, or the runs have several labels. */
bool nightly_newest(struct store *store, const char *label, const char *gpu, struct arena *arena,
                    const char **of_label, const char **of_gpu, struct tpa_error *err);

/* Load the label and GPU selected by ARGS: named, of --run, or of the newest run of a store with one label. */
bool nightly_load(struct store *store, const struct nightly_args *args, struct nightly *nightly,
                  struct tpa_error *err);

/* Judge RUN (an index), with the minimum changes. */
void nightly_look(struct nightly *nightly, size_t run, const struct nightly_args *args);

/* Print RESULT, whose rows are cut already, under the output options. */
bool nightly_print(struct result *result, const struct nightly_args *args, struct tpa_error *err);

/* The tables that may be added, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape nightly_history_tables[], nightly_check_tables[];

#endif
