/*
 * cmd_convert.c - `tpa convert`: write what a file holds in another form.
 */
#include "cli/convert.h"

#include "cli/command.h"
#include "cli/output_file.h"

#include <stdlib.h>
#include <string.h>

static const struct convert_form *const forms[] = { &convert_folded, &convert_dot, NULL };

static bool form_at(size_t index, struct opt_choice *choice)
{
    if (index == 0) {
        *choice = (struct opt_choice){ "auto", "what the name of the output ends in", NULL };
        return true;
    }
    if (forms[index - 1] == NULL)
        return false;
    *choice = (struct opt_choice){ forms[index - 1]->name, forms[index - 1]->help, NULL };
    return true;
}

/* gprof2dot's thresholds. */
static const struct convert_args convert_defaults = {
    .node_share = 0.005,
    .edge_share = 0.001,
    .stack_share = 0.00001,
    .load = LOAD_DEFAULTS,
};

static const struct opt convert_opts[] = {
    OPT_GROUP("Output"),
    OPT_FILE('o', "output", struct convert_args, path, "FILE",
             "write to FILE, which appears whole or not at all"),
    OPT_CHOICE_OF('t', "to", struct convert_args, form, form_at, "FORM", "what to write"),
    OPT_FLAG(0, "strip-dirs", struct convert_args, strip_dirs,
             "name files without their directories; what is then the same adds up"),
    OPT_SHARE(0, "node-threshold", struct convert_args, node_share, "SHARE",
              "dot: leave out functions with less of the time"),
    OPT_SHARE(0, "edge-threshold", struct convert_args, edge_share, "SHARE",
              "dot: leave out calls with less of the time"),
    OPT_SHARE(0, "stack-threshold", struct convert_args, stack_share, "SHARE",
              "folded: do not follow calls with less of the time"),
    LOAD_OPTIONS(struct convert_args, load),
    OPT_END,
};

/* Does PATH end in one of ENDINGS, which '|' separates? */
static bool ends_in(const char *path, const char *endings)
{
    size_t len = strlen(path);
    for (const char *at = endings; *at; at += strspn(at, "|")) {
        size_t end = strcspn(at, "|");
        if (len >= end && memcmp(path + len - end, at, end) == 0)
            return true;
        at += end;
    }
    return false;
}

/* The form asked for; NULL and ERR when that can not be told. */
static const struct convert_form *find_form(const struct convert_args *args, struct tpa_error *err)
{
    if (args->form > 0)
        return forms[args->form - 1];
    for (size_t i = 0; args->path && forms[i]; i++)
        if (ends_in(args->path, forms[i]->ending))
            return forms[i];
    if (args->path)
        tpa_fail(err, TPA_NOWHERE, "the name '%s' does not tell what to write", args->path);
    else
        tpa_fail(err, TPA_NOWHERE, "what to write is not said");
    tpa_hint(err, "name an output that ends in .folded or .dot, or say --to folded or --to dot");
    return NULL;
}

/* This form is not for what was read: say for what it is, and what that which was read becomes. */
static bool refuse_form(const struct convert_form *form, const struct ingested *ingested, const char *path,
                        struct tpa_error *err)
{
    if (ingested->actions) {
        tpa_fail(err, TPA_NOWHERE, "this is a report of times per action, and only tpa top reads those");
    } else if (ingested->profile) {
        tpa_fail(err, TPA_NOWHERE, "this is a Python profile, and only traces become %s", form->name);
        tpa_hint(err, "a profile becomes folded or dot");
    } else {
        tpa_fail(err, TPA_NOWHERE, "this is no Python profile, and only those become %s", form->name);
    }
    return tpa_in_file(err, path);
}

static bool can_write(const struct convert_form *form, const struct ingested *ingested)
{
    return (ingested->trace && form->write_trace) || (ingested->profile && form->write_profile);
}

static bool write_form(const struct convert_form *form, struct ingested *ingested,
                       const struct convert_args *args, struct buffer *summary, struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open(&file, args->path, err))
        return false;
    if (ingested->profile) {
        if (args->strip_dirs)
            ingested->profile = profile_strip_dirs(ingested->profile, false);
        form->write_profile(ingested->profile, args, file.stream, summary);
    } else if (!form->write_trace(ingested->trace, args, file.stream, summary, err)) {
        output_file_discard(&file);
        return false;
    }
    return output_file_commit(&file, err);
}

static void tell(const struct convert_form *form, const struct convert_args *args,
                 const struct buffer *summary)
{
    fwrite(summary->at, 1, summary->count, stderr);
    if (args->path && strcmp(args->path, "-") != 0) {
        fputs("next: ", stderr);
        fprintf(stderr, form->next, args->path);
        fputc('\n', stderr);
    }
}

static int convert_main(const struct invocation *call, struct tpa_error *err)
{
    const struct convert_args *args = call->args;
    const struct convert_form *form = find_form(args, err);
    struct ingested ingested;
    if (!form || !load_any(call, &args->load, &form->wants, &ingested, err))
        return EXIT_TROUBLE;
    struct buffer summary = { 0 };
    bool fine = can_write(form, &ingested) ? write_form(form, &ingested, args, &summary, err)
                                           : refuse_form(form, &ingested, call->operands[0], err);
    if (fine)
        tell(form, args, &summary);
    buffer_release(&summary);
    ingested_free(&ingested);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_convert = {
    .name = "convert",
    .summary = "write a Python profile as flame graph stacks or as a call graph",
    .operands = "FILE...",
    .description =
        "Stacks (--to folded) are inferred: a profile says who called whom and how long that took, not by which way. "
        "Frames whose time was apportioned among several callers end in \" ~\", and what could not be placed stands "
        "under \"[callers not known]\"; the times that end in a function add up to its tottime. How much of the whole "
        "is exact is told on stderr.\n\n"
        "The call graph (--to dot) leaves out what takes little time, and colours the hot path.",
    .options = convert_opts,
    COMMAND_ARGS(convert_defaults),
    .main = convert_main,
    .examples = { "tpa convert prof.stats -o out.folded  # then flamegraph.pl out.folded > flame.svg",
                  "tpa convert prof.stats --to dot | dot -Tsvg > graph.svg",
                  "tpa convert prof.stats -o all.dot --node-threshold 0 --edge-threshold 0" },
    .section = SECTION_SHOW,
    .reads_profiles = true,
};
