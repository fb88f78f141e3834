/* calls_command.c - see calls_command.h. */
#include "cli/calls_command.h"

const struct calls_args calls_defaults = { .output = { .limit = { .share = LIMIT_NOT_GIVEN } },
                                           .load = LOAD_DEFAULTS };

const struct opt calls_opts[] = {
    OPT_GROUP("Selection"),
    OPT_TEXT('F', "filter", struct calls_args, query.filter, "REGEX",
             "only functions whose file:line(name) matches REGEX"),
    OPT_TEXT('x', "exclude", struct calls_args, query.exclude, "REGEX", "no functions that match REGEX"),
    OPT_WORD('s', "sort", struct calls_args, query.sort, profile_sort_word, "KEYS",
             "order of the functions: words of pstats, separated by commas, or none; without it tottime"),
    OPT_FLAG('r', "reverse", struct calls_args, query.reverse, "turn the order round"),
    OPT_FLAG(0, "strip-dirs", struct calls_args, query.strip_dirs,
             "name files without their directories; the same names add up"),
    OUTPUT_OPTIONS_WITH(struct calls_args, output, profile_format_at),
    LOAD_OPTIONS(struct calls_args, load),
    OPT_END,
};

int calls_command(enum pstats_report report, const struct invocation *call, struct tpa_error *err)
{
    const struct calls_args *args = call->args;
    struct ingested ingested;
    if (!load_any(call, &args->load, &(struct trace_wants){ 0 }, &ingested, err))
        return EXIT_TROUBLE;
    int exit_code = EXIT_TROUBLE;
    if (ingested.profile) {
        bool as_pstats = profile_format_is_pstats(args->output.format);
        exit_code = profile_report(report, &ingested, &args->query, &args->output, as_pstats, err);
    } else {
        tpa_fail(err, TPA_NOWHERE, "this is no Python profile, of which tpa %s tells", call->command->name);
        tpa_in_file(err, call->operands[0]);
    }
    ingested_free(&ingested);
    return exit_code;
}
