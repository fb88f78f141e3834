/*
 * analysis.h - the noun "an analysis": one question about traces, and all that the rest of the program needs to offer it.
 *
 * A question is one file in analyze/ that ends in one constant, and one row in registry.h. From these come the command with
 * its help, manual page and completion, --steps, --by, --sort and the formats, a section of the report, a chart, and the
 * checks of its page in docs/commands/. `gaps`, for instance:
 *
 *     struct gaps_options { int64_t min_ns; };
 *     static const struct gaps_options defaults = { .min_ns = 10000 };
 *     static const struct opt options[] = {
 *         OPT_TIME('m', "min", struct gaps_options, min_ns, "TIME", "list gaps of TIME and more"), OPT_END };
 *
 *     static bool run(const struct analysis_query *query, struct result *result, struct tpa_error *err);
 *
 *     const struct analysis analysis_gaps = {
 *         .name = "gaps", .summary = "why each GPU was idle", .schema = "tpa.gaps/1",
 *         .wants = &gaps_wants, .needs = FEATURE_GPU,
 *         .dimensions = BY(DEVICE) | BY(STREAM) | BY(OP),
 *         .options = options, ANALYSIS_DEFAULTS(defaults), .run = run,
 *         .examples = { "tpa gaps trace.json" },
 *     };
 *
 * What other code of ours computes with is the struct that the analysis returns (gaps_analyze); run makes tables of it.
 */
#ifndef TPA_ANALYZE_ANALYSIS_H
#define TPA_ANALYZE_ANALYSIS_H

#include "analyze/group.h"
#include "analyze/selection.h"
#include "base/options.h"
#include "base/result.h"
#include "trace/trace.h"

/* A query: the trace, the selection and the options of an analysis. */
struct analysis_query {
    const struct trace *trace;
    const struct selection *selection;
    unsigned by; /* set of dimensions, and above them the analysis's own words: BY_OWN(0), BY_OWN(1) ... */
    const void *options;          /* the analysis's own */
    const char *filter, *exclude; /* where the analysis filters its rows itself; NULL: not given */
    size_t most_rows; /* of the table that is limited, how many are shown; 0: all, or it is not known yet */
    bool for_people;  /* is the answer for people, who see a tree by its indentation? */
    bool by_given;    /* was --by given? */
};

/* The bit of an analysis's own word of --by, in the order of its own_words. */
#define BY_OWN(index) (1u << (DIMENSIONS + (index)))

struct analysis {
    const char *name;    /* "gaps": the command, the page of the docs, the report's section */
    const char *summary; /* one line, without a full stop */
    const char
        *description;   /* paragraphs for --help, separated by an empty line; NULL: the summary says it all */
    const char *schema; /* "tpa.gaps/1" */
    const char *examples[6]; /* lines to paste; "  # ..." at the end says what for */

    const struct trace_wants *wants; /* what it reads; --by adds what its dimensions read */
    unsigned needs;                  /* enum trace_feature: without these there is no answer */

    unsigned dimensions; /* what --by takes; 0 and no own words: there is no --by */
    unsigned by_default; /* when --by is not given */
    const struct opt_choice
        *own_words;      /* more words of --by, ending in { 0 }; NULL: none. With a refusal: not taken */
    bool one_by;         /* --by takes one word, not several with commas */
    const char *by_help; /* NULL: "what makes a row" */

    const struct opt *options; /* its own, with headings; NULL: none */
    const void *defaults;      /* what they are when not given */
    size_t options_size;

    const struct table_shape *tables[4]; /* lists of the tables that run may make, each ending in { 0 } */

    bool compares;       /* diff compares its saved tables with others, or with those of a trace */
    bool captures;       /* its rows are operators, shapes or modules, which --capture supplies for graphs */
    bool filters_rows;   /* --filter and --exclude are about its rows: the selection selects no names */
    bool sorts;          /* --sort and --reverse order its first table */
    const char *limited; /* key of the only table that --limit cuts; NULL: it cuts all */

    /* Add the tables to RESULT; false and ERR when the options do not fit the trace. */
    bool (*run)(const struct analysis_query *query, struct result *result, struct tpa_error *err);

    const char *section;       /* heading of its section in the report; NULL: it has none */
    const char *section_key;   /* what `tpa report --sections` calls it; NULL: the name */
    const char *section_intro; /* a sentence or two for who never saw such a table; NULL: the summary */
    unsigned section_needs;    /* enum trace_feature, besides needs */
    const char *charts;        /* types of tpa chart that it shows, separated by blanks; NULL: none */
};

#define ANALYSIS_DEFAULTS(options_) .defaults = &(options_), .options_size = sizeof(options_)

#endif
