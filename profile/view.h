/* view.h - profiles as people look at them. */
#ifndef TPA_PROFILE_VIEW_H
#define TPA_PROFILE_VIEW_H

#include "analyze/selection.h"
#include "trace/profile.h"
#include "base/options.h"
#include "base/result.h"
#include "trace/actions.h"
#include "base/timeline.h"

/*
 * of_trace.c - the calls of a trace, aggregated to a profile, so that analyses of Python profiles apply to traces:
 * callers and callees, with counts and times.
 *
 * Functions are names of host events with a duration (operators, annotations, Python frames, runtime calls), nested as
 * in calltree.h; steps are one, `ProfilerStep*`. In torch's traces a call whose only callee has its own name counts
 * once, and regions that are asynchronous (async_regions.h) have no callers, no callees and no own time, as in `tpa
 * top`. A recursive call, at any depth, adds to the calls but not to the cumulative time.
 *
 * Times become doubles of seconds, which hold nanoseconds exactly up to 104 days.
 */

/* The profile of the part of TRACE in SELECTION, regardless of names. New, free with profile_free; borrows from
 * TRACE. */
struct profile *trace_profile(const struct trace *trace, const struct selection *selection);

/* view.c - a Python profile, and what is shown of it. */

/*
 * view.c - which functions of a profile are shown, and in which order: the sort words and restrictions that
 * users know from Python's pstats.
 *
 *     struct profile_sort sort = { 0 };
 *     if (!profile_sort_parse(&sort, "cumulative,name", err))
 *         ...
 *     struct profile_view view = { 0 };
 *     if (profile_view_make(&view, profile, &sort, &(struct profile_restriction){ .limit = limit }, err))
 *         for (size_t i = 0; i < view.count; i++)
 *             ... profile->functions[view.at[i]] ...
 *     profile_view_release(&view);
 */

enum profile_key {
    PROFILE_BY_CALLS,
    PROFILE_BY_PRIMITIVE_CALLS,
    PROFILE_BY_TOTTIME,
    PROFILE_BY_CUMTIME,
    PROFILE_BY_TOTTIME_PER_CALL,
    PROFILE_BY_CUMTIME_PER_CALL,
    PROFILE_BY_FILE,
    PROFILE_BY_LINE,
    PROFILE_BY_NAME,
    PROFILE_BY_STDNAME, /* by the text "file:line(name)" */
};

enum { PROFILE_SORT_KEYS = 16 };

/* Sort by the first key, then by the second ...; ties stay in the file's order. */
struct profile_sort {
    enum profile_key keys[PROFILE_SORT_KEYS];
    unsigned count;            /* 0: the file's order */
    bool reverse;              /* reverse the finished list, as pstats' reverse_order() does */
    struct buffer description; /* "cumulative time, function name" */
};

/* Add the keys for WORDS, separated by commas or blanks: pstats' words or unambiguous prefixes of them, its old numbers
 * -1 .. 2, the words of PyTorch's tables, or "none". False and ERR for other words. */
bool profile_sort_parse(struct profile_sort *sort, const char *words, struct tpa_error *err);

/* The I-th word for --sort, for help and completion; an opt_choice_at. */
bool profile_sort_word(size_t index, struct opt_choice *choice);

/* Applied one after the other, in this order. */
struct profile_restriction {
    const char *filter;  /* a regular expression that must match; NULL: none */
    const char *exclude; /* one that must not match; NULL: none */
    struct limit limit;
};

/* One restriction that left functions out. */
struct profile_reduction {
    size_t before, after;
    char *restriction; /* as Python would write the value: 10, 0.1 or 'train\\.py' */
    bool by_limit;
};

struct profile_view {
    function_id *at;
    size_t count;
    bool by_device; /* of PROFILE_DEVICE_TIME: a row for each device of a function */
    VEC_OF(struct profile_reduction) reductions;
};

/* Zero-initialise VIEW. False and ERR if a pattern is invalid. */
bool profile_view_make(struct profile_view *view, const struct profile *profile,
                       const struct profile_sort *sort, const struct profile_restriction *restriction,
                       struct tpa_error *err);
void profile_view_release(struct profile_view *view);

/* The calls that one function makes: its callees, each with its edge. */
struct profile_call {
    function_id callee;
    uint32_t edge;
};

/* All edges by caller: the calls of function F are at[first[F]] .. at[first[F + 1] - 1]. */
struct profile_callees {
    struct profile_call *at;
    uint32_t *first;
};

/* Compute the callees of all functions of PROFILE, which is not borrowed; they live as long as ARENA. */
void profile_callees_make(struct profile_callees *callees, const struct profile *profile,
                          struct arena *arena);

/* The callers of function ID (or, with CALLEES, its callees), sorted by file, line and name. *AT is grown to hold them;
 * returns the count. In each, `callee` is the function to show. */
struct profile_calls {
    VEC_OF(struct profile_call);
};
void profile_calls_of(struct profile_calls *calls, const struct profile *profile, function_id id,
                      const struct profile_callees *callees);

/* tables.c - the tables of a Python profile, and of a report on actions. */

/* Add to RESULT the functions of VIEW and their costs. A million functions take some 350 MB of cells. */
void profile_add_functions(struct result *result, const struct profile *profile,
                           const struct profile_view *view);

/* Add a line to the table of functions added last about its order, by cumulative time or else by self time. */
void profile_mark_sorted(struct result *result, bool cumulative);

/* Add to RESULT the callers of the functions of VIEW or, with CALLEES, their callees. */
void profile_add_calls(struct result *result, const struct profile *profile, const struct profile_view *view,
                       bool callees);

/* Add notices to RESULT about PROFILE, and about the restrictions of VIEW; not about its limit if ROWS_TELL_LIMIT: a
 * table with a row per function shows it already. */
void profile_add_notices(struct result *result, const struct profile *profile,
                         const struct profile_view *view, bool rows_tell_limit);

/* Add notices to RESULT about the .tpa files that aggregates came from. */
void sums_add_notices(struct result *result, const struct sums_origin *origin);

/* Add to RESULT the actions of REPORT, in its order, and notices about them. */
void actions_add_table(struct result *result, const struct action_report *report);

/* Add notices to RESULT about REPORT. */
void actions_add_notices(struct result *result, const struct action_report *report);

/* The tables that may be added, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape profile_top_tables[], profile_callers_tables[], profile_callees_tables[],
    profile_overview_tables[], profile_action_tables[];

/*
 * overview.c - a Python profile on one screen: the most expensive functions by own and by cumulative time, their
 * callers, and the call tree.
 *
 *     profile_add_overview(result, profile, 25, &err);       // tables "own", "cumulative", "callers", "callees"; the
 *                                                            answer
 *     struct flame *flame = profile_flame(profile);          // free with flame_free
 *     profile_draw(picture, profile, 15);
 *
 * Sampling profilers record stacks, of which the call tree is then made. Others, as cProfile, have totals by pairs of
 * caller and callee alone. So their call tree is an estimate, as in snakeviz and gprof2dot: the time of a function is
 * divided among its callers in the same proportion everywhere, independent of their callers.
 */

/* Add the MOST functions by own and by cumulative time, and the callers and callees of the most expensive ones; the
 * verdict is a notice on top. False and ERR if the profile cannot be sorted. */
bool profile_add_overview(struct result *result, const struct profile *profile, size_t most,
                          struct tpa_error *err);

/* The call tree; estimated where the file has no stacks: recursion is then cut where a function would repeat. New, without frames if no time was
 * recorded. */
struct flame *profile_flame(const struct profile *profile);

/* Add the chart of the MOST functions by their own time. */
void profile_draw(struct picture *picture, const struct profile *profile, size_t most);

/* info.c - `tpa info` on files with aggregates instead of events: Python profiles and reports of actions. */

/* Add the tables "files" and "profile" to RESULT; or the table "actions". */
void info_add_profile_tables(const struct profile *profile, struct result *result);
void info_add_action_tables(const struct action_report *report, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape profile_info_tables[];

/*
 * actions.c - a report of actions, as Lightning's SimpleProfiler prints it, on one screen.
 *
 *     actions_add_overview(result, report);        // the answer, and the table "actions"
 *     actions_draw(picture, report, 15);
 *
 * What the report does not hold is left out: without `extended`, calls, shares and the total are unknown.
 */

void actions_add_overview(struct result *result, const struct action_report *report);

/* Add the chart of the first MOST actions of REPORT (0: all) by their total time. */
void actions_draw(struct picture *picture, const struct action_report *report, size_t most);

/*
 * stacks.c - call stacks inferred from a Python profile, for flame graphs.
 *
 * A profile holds calls between pairs of functions and their costs, not stacks. If a function has one caller, its time
 * belongs to one stack exactly. If it has several, the time of its callees is divided among them by the cumulative time
 * of the function's calls from each: if train() caused half of load(), half of the reads in load() are attributed to
 * train(), which is an estimate.
 *
 * Time that is not placed on a stack (recursion through several functions; stacks below the threshold) is reported as a
 * stack of the function alone, marked STACK_UNPLACED. So the times of all stacks that end in a function add up to its
 * tottime, to the nanosecond.
 */

enum stack_kind { STACK_EXACT, STACK_APPORTIONED, STACK_UNPLACED, STACK_KINDS };

struct profile_stack {
    const function_id *frames; /* the outermost first */
    size_t depth;
    size_t exact_depth; /* number of exact frames; the time of inner ones is estimated */
    int64_t time_ns;    /* in the innermost frame itself */
    enum stack_kind kind;
};

typedef void profile_stack_visit(void *context, const struct profile_stack *stack);

struct profile_stack_sums {
    size_t stacks[STACK_KINDS];
    int64_t time_ns[STACK_KINDS];
};

/* Call VISIT for every stack with time of its own, callers before callees. Calls below MIN_SHARE of the whole time are
 * not followed. Returns the totals by kind. */
struct profile_stack_sums profile_stacks(const struct profile *profile, double min_share,
                                         profile_stack_visit *visit, void *context);

#endif
