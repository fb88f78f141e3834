/*
 * analysis.h - the common procedure of most commands: read the traces, select, fill tables, print.
 *
 *     static void add_tables(const struct trace *trace, const struct selection *selection, const void *args,
 *                            struct result *result);
 *
 *     static int gpu_main(const struct invocation *call, struct tpa_error *err)
 *     {
 *         const struct gpu_args *args = call->args;
 *         return analysis_run(call, &(struct analysis_call){ "tpa.gpu/1", &gpu_wants, &args->load, &args->selection,
 *                                                       &args->output, add_tables }, err);
 *     }
 *
 * A trace that lacks what the command needs (command->needs) gives no tables but a notice that says how to record it.
 */
#ifndef TPA_CLI_ANALYSIS_H
#define TPA_CLI_ANALYSIS_H

#include "cli/load.h"
#include "cli/output.h"

/* The value of --limit if not given: a share that cannot be typed. People get a first page, programs everything. */
#define ANALYSIS_LIMIT_DEFAULT                                                                               \
    {                                                                                                        \
        .share = LIMIT_NOT_GIVEN                                                                             \
    }
enum { ANALYSIS_LIMIT_FOR_PEOPLE = 25 };

/* The limit in OUTPUT, or the default. */
struct limit analysis_limit(const struct output_args *output);

struct analysis_call {
    const char *schema;
    const struct trace_wants *wants;
    const struct load_args *load;
    const struct selection_query *query;
    const struct output_args *output;
    bool sorts; /* --sort and --reverse sort its first table */
    const char *sort;
    bool reverse;
    const char *limited; /* key of the only table that --limit cuts; NULL: it cuts all */
    /* Fills RESULT; false and ERR if the arguments of the command do not apply to the trace. */
    bool (*add_tables)(const struct trace *trace, const struct selection *selection, const void *args,
                       struct result *result, struct tpa_error *err);
};

/* The number of rows of a table that OUTPUT shows, if known beforehand; 0: all, or a share, or the rest is kept, too. */
size_t analysis_most_rows(const struct output_args *output);

/* Sort TABLE by the column called KEY, if not NULL. False and ERR, with a suggestion, if there is none. */
bool analysis_sort(struct table *table, const char *key, bool reverse, struct tpa_error *err);

/* Notice on top of RESULT that nothing matches, and what there is, where SELECTION, that of QUERY, holds no event of TRACE. */
void analysis_notice_empty_selection(const struct trace *trace, const struct selection *selection,
                                     const struct selection_query *query, struct result *result);

/* Sort the first table of RESULT as ANALYSIS says. False and ERR if it has no such column. */
bool analysis_order(const struct analysis_call *analysis, struct result *result, struct tpa_error *err);

/* Add to RESULT the tables and notices of ANALYSIS with ARGS on TRACE; a trace that lacks one of
 * the features NEEDS gives no tables but a notice. Nothing is limited or printed. */
bool analysis_answer(const struct trace *trace, unsigned needs, const struct analysis_call *analysis,
                     const void *args, struct result *result, struct tpa_error *err);

/* As analysis_run, for a TRACE that was already read, which is taken. */
int analysis_run_on(const struct invocation *call, const struct analysis_call *analysis, struct trace *trace,
                    struct tpa_error *err);

/* Print the result. Returns the exit code. */
int analysis_run(const struct invocation *call, const struct analysis_call *analysis, struct tpa_error *err);

#endif
