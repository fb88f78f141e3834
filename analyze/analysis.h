/*
 * analysis.h - the noun "an analysis": one question about traces, with everything the rest of the program needs to
 * offer it.
 *
 * An analysis is one file in analyze/ that ends in one constant, and one row in registry.h. From these come the command
 * with its help, manual page and completion, --steps, --by, --sort and the formats, a section of the report, a chart,
 * and the checks of its page in docs/commands/. `gaps`, for instance:
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
 * Other code computes with the struct that the analysis returns (gaps_analyze); run() makes tables of it.
 */
#ifndef TPA_ANALYZE_ANALYSIS_H
#define TPA_ANALYZE_ANALYSIS_H

#include "analyze/group.h"
#include "analyze/selection.h"
#include "base/result.h"

/* A query: the trace, the selection and the options of an analysis. */
struct analysis_query {
    const struct trace *trace;
    const struct selection *selection;
    /* set of dimensions, and the analysis's own words in higher bits: BY_OWN(0), BY_OWN(1) ... */
    unsigned by;
    const void *options;          /* of the analysis */
    const char *filter, *exclude; /* if the analysis filters its rows itself; NULL: not given */
    size_t most_rows;             /* rows shown of the limited table; 0: all, or not known yet */
    bool for_people;              /* is the output for people, so that trees are indented? */
    bool by_given;                /* was --by given? */
    bool only_rows;               /* nobody reads the footers of tables */
};

/* The bit of an analysis's own word of --by, in the order of its own_words. */
#define BY_OWN(index) (1u << (DIMENSIONS + (index)))

struct analysis {
    const char *name;        /* "gaps": the command, the page of the docs, the report's section */
    const char *summary;     /* one line, without a full stop */
    const char *description; /* paragraphs for --help, separated by an empty line; NULL: only the summary */
    const char *schema;      /* "tpa.gaps/1" */
    const char *examples[6]; /* lines to paste; with an optional comment " # ..." at the end */

    const struct trace_wants *wants;            /* data that it reads; --by adds the data of its dimensions */
    uint64_t (*more_args)(const void *options); /* arguments of events that its options add; NULL: none */
    unsigned needs;                             /* enum trace_feature: features that the trace must have */

    unsigned dimensions; /* dimensions of --by; 0 and no own words: no --by */
    unsigned by_default; /* default of --by */
    /* more words of --by, ending in { 0 }; NULL: none. with a refusal: not accepted */
    const struct opt_choice *own_words;
    bool one_by;         /* --by accepts a single word */
    const char *by_help; /* NULL: "what makes a row" */

    const struct opt *options; /* its own options, with headings; NULL: none */
    const void *defaults;      /* defaults of the options */
    size_t options_size;

    const struct table_shape *tables[5]; /* lists of the tables that run may make, each ending in { 0 } */

    bool compares;       /* diff can compare its saved tables */
    bool captures;       /* its rows are operators, shapes or modules, which --capture provides for graphs */
    bool filters_rows;   /* --filter and --exclude apply to its rows: the selection selects no names */
    bool sorts;          /* --sort and --reverse sort its first table */
    const char *limited; /* key of the only table that --limit applies to; NULL: all */

    /* Add the tables to RESULT; false and ERR if the options do not apply to the trace. */
    bool (*run)(const struct analysis_query *query, struct result *result, struct tpa_error *err);

    const char *section;       /* heading of its section in the report; NULL: none */
    const char *section_key;   /* its word in `tpa report --sections`; NULL: the name */
    const char *section_intro; /* a sentence or two for readers new to such a table; NULL: the summary */
    unsigned section_needs;    /* enum trace_feature, besides needs */
    const char *charts;        /* types of tpa chart that show it, separated by blanks; NULL: none */
};

#define ANALYSIS_DEFAULTS(options_) .defaults = &(options_), .options_size = sizeof(options_)

#endif
