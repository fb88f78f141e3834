/* cmd_convert.c - `tpa convert`: write the contents of a file in another format. */
#include "cli/convert/convert.h"
#include "cli/convert/files.h"

#include "base/shell_word.h"
#include "cli/convert/part.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "profile/view.h"
#include "memory/snapshot_analysis.h"

static const struct convert_form *const forms[] = {
    &convert_chrome, &convert_perfetto,   &convert_tpa,    &convert_csv, &convert_arrow,
    &convert_sqlite, &convert_speedscope, &convert_folded, NULL,
};

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

static const struct opt_choice times[] = {
    { "cpu", "time of threads: each frame without what it called", NULL },
    { "gpu", "time of kernels and copies, below the calls that launched them", NULL },
    { NULL, NULL, NULL },
};

static const struct convert_args convert_defaults = {
    .stack_share = 0.00001,
    .merge = true,
    .load = LOAD_DEFAULTS,
};

static const struct opt convert_opts[] = {
    OPT_GROUP("Output"),
    OPT_FILE('o', "output", struct convert_args, path, "FILE",
             "write to FILE, which appears whole or not at all"),
    OPT_CHOICE_OF('t', "to", struct convert_args, form, form_at, "FORM", "what to write"),
    OPT_CHOICE(0, "time", struct convert_args, time, times, "WHAT",
               "folded, of a trace: what the stacks add up"),
    OPT_FLAG(0, "strip-dirs", struct convert_args, strip_dirs,
             "drop directories from file names; functions that become identical are merged"),
    OPT_FLAG(
        0, "critical-path", struct convert_args, critical_path,
        "chrome or perfetto, of a trace: add the pieces of the critical path, and arrows where it changes tracks"),
    OPT_FLAG(0, "merge", struct convert_args, merge,
             "chrome and perfetto, of several ranks: leave their clocks as recorded, and draw no arrows from "
             "collective to collective"),
    OPT_SHARE(0, "stack-threshold", struct convert_args, stack_share, "SHARE",
              "folded: do not follow calls with less of the time"),
    SELECTION_OPTIONS(struct convert_args, selection),
    LOAD_OPTIONS(struct convert_args, load),
    OPT_END,
};

static const struct {
    const char *ending;
    enum source_packing packing;
} packings[] = { { ".gz", SOURCE_GZIP }, { ".zst", SOURCE_ZSTD } };

static bool convert_ends_in(const char *path, size_t len, const char *ending, size_t end)
{
    return len >= end && memcmp(path + len - end, ending, end) == 0;
}

/* Length of PATH without the extension of its compression, which is stored in *PACKING. */
static size_t length_unpacked(const char *path, enum source_packing *packing)
{
    size_t len = strlen(path);
    *packing = SOURCE_PLAIN;
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
        size_t end = strlen(packings[i].ending);
        if (!convert_ends_in(path, len, packings[i].ending, end))
            continue;
        *packing = packings[i].packing;
        return len - end;
    }
    return len;
}

enum source_packing convert_packing(const struct convert_args *args)
{
    enum source_packing packing = SOURCE_PLAIN;
    if (args->path)
        length_unpacked(args->path, &packing);
    return packing;
}

/* Length of the ending of FORM that PATH has; 0: it has none. */
static size_t match_ending(const char *path, const struct convert_form *form)
{
    enum source_packing packing;
    size_t len = form->packs ? length_unpacked(path, &packing) : strlen(path);
    for (const char *at = form->ending; *at; at += strspn(at, "|")) {
        size_t end = strcspn(at, "|");
        if (convert_ends_in(path, len, at, end))
            return end;
        at += end;
    }
    return 0;
}

/* The form for the name of the output: the longer extension wins, ".speedscope.json" over ".json". NULL: none. */
static const struct convert_form *form_of_name(const char *path)
{
    const struct convert_form *found = NULL;
    for (size_t i = 0, longest = 0; forms[i]; i++) {
        size_t len = match_ending(path, forms[i]);
        if (len > longest) {
            longest = len;
            found = forms[i];
        }
    }
    return found;
}

/* The form requested; NULL and ERR if unknown. */
static const struct convert_form *find_form(const struct convert_args *args, struct tpa_error *err)
{
    if (args->form > 0)
        return forms[args->form - 1];
    const struct convert_form *named = args->path ? form_of_name(args->path) : NULL;
    if (named)
        return named;
    if (args->path && strcmp(args->path, "-") != 0)
        tpa_fail(err, TPA_NOWHERE, "cannot derive the form of the output from the name '%s'", args->path);
    else
        tpa_fail(err, TPA_NOWHERE, "the form of the output is missing");
    SCOPED struct buffer words = { 0 };
    for (size_t i = 0; forms[i]; i++)
        buffer_printf(&words, "%s%s (%.*s)", i > 0 ? ", " : "", forms[i]->name,
                      (int)strcspn(forms[i]->ending, "|"), forms[i]->ending);
    tpa_hint(err, "say --to FORM, or name an output by its ending; the forms are %s", words.at);
    return NULL;
}

static bool can_write(const struct convert_form *form, const struct ingested *ingested)
{
    if (ingested->snapshots.of.count)
        return form->write_snapshots || (form->write_trace && !form->no_snapshots);
    return ingested->trace
               ? form->write_trace != NULL
               : ingested->profile && form->write_profile && profile_has_callers(ingested->profile);
}

/* The names of the forms that INGESTED can become: "chrome, folded or csv". */
static void list_forms(struct buffer *words, const struct ingested *ingested)
{
    const char *names[sizeof forms / sizeof *forms];
    size_t count = 0;
    for (size_t i = 0; forms[i]; i++)
        if (can_write(forms[i], ingested))
            names[count++] = forms[i]->name;
    for (size_t i = 0; i < count; i++)
        buffer_printf(words, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
}

/* Fail because this form is not for this input: name the forms for it. */
static bool refuse_form(const struct convert_form *form, const struct ingested *ingested, const char *path,
                        struct tpa_error *err)
{
    SCOPED struct buffer words = { 0 };
    list_forms(&words, ingested);
    if (ingested->snapshots.of.count) {
        tpa_fail(err, TPA_NOWHERE, "a memory snapshot cannot be converted to %s", form->name);
        tpa_hint(err, "a snapshot becomes %s", words.at);
    } else if (ingested->trace) {
        tpa_fail(err, TPA_NOWHERE, "a trace cannot be converted to %s", form->name);
        tpa_hint(err, "a trace becomes %s", words.at);
    } else if (ingested->actions || !profile_has_callers(ingested->profile)) {
        tpa_fail(err, TPA_NOWHERE, "%s: it cannot be converted",
                 ingested->actions
                     ? "a report holds sums of actions and no events"
                     : "the text of print_stats() has no events, and does not say who called whom");
        tpa_hint(err, "tpa top FILE --format csv or json writes its rows");
    } else {
        tpa_fail(err, TPA_NOWHERE, "a Python profile holds sums and no events: it cannot be converted to %s",
                 form->name);
        tpa_hint(err, "a profile becomes %s; tpa top FILE --format csv or json writes its rows", words.at);
    }
    return tpa_in_file(err, path);
}

/* Convert snapshots to a trace, for a form that holds events. */
static bool read_as_trace(const struct convert_form *form, struct ingested *ingested, struct tpa_error *err)
{
    if (ingested->snapshots.of.count == 0 || form->write_snapshots)
        return true;
    ingested->trace = snapshot_as_trace(&ingested->snapshots, &form->wants, err);
    return ingested->trace != NULL;
}

/* The input: FILES, one after the other, or everything in memory. */
struct input {
    struct convert_files *files; /* NULL: it is all in INGESTED */
    struct ingested *ingested;
};

static bool write_input(const struct convert_form *form, const struct input *input,
                        const struct convert_args *args, FILE *out, struct buffer *summary,
                        struct tpa_error *err)
{
    struct ingested *ingested = input->ingested;
    if (input->files)
        return form->write_files(input->files, args, out, summary, err);
    if (ingested->trace)
        return form->write_trace(ingested->trace, args, out, summary, err);
    if (ingested->snapshots.of.count)
        return form->write_snapshots(&ingested->snapshots, args, out, summary, err);
    if (args->strip_dirs)
        ingested->profile = profile_strip_dirs(ingested->profile, false);
    return form->write_profile(ingested->profile, args, out, summary, err);
}

/* ---- checking the output ---- */

/* The number of items of each kind in a file. */
struct amounts {
    size_t events, flows, samples;
};

static struct amounts amounts_of(const struct ingested *ingested, const struct trace_wants *wants)
{
    struct amounts amounts = { 0 };
    if (ingested->trace) {
        const struct trace *trace = ingested->trace;
        amounts.events = wants->only_count ? trace->events_counted : trace->event_count;
        if (wants->flows)
            amounts.flows = wants->only_count ? trace->flows_counted : trace->flow_count;
        if (wants->counters)
            amounts.samples = wants->only_count ? trace->samples_counted : trace->sample_count;
    }
    return amounts;
}

/* Report the first difference. True if there is none. */
static bool same_amounts(const struct amounts *written, const struct amounts *found, struct tpa_error *err)
{
    const struct {
        size_t written, found;
        const char *what;
    } counted[] = {
        { written->events, found->events, "events" },
        { written->flows, found->flows, "flow arrows" },
        { written->samples, found->samples, "counter samples" },
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        if (counted[i].written == counted[i].found)
            continue;
        tpa_fail(err, TPA_NOWHERE, "of %zu %s that were written, %zu can be read again; the file was removed",
                 counted[i].written, counted[i].what, counted[i].found);
        return tpa_hint(
            err, "the input holds numbers that this form cannot: tpa info shows what was odd about it");
    }
    return true;
}

static struct trace_wants wants_of_check(const struct convert_form *form)
{
    return (struct trace_wants){ .flows = form->check_all, .counters = form->check_all, .only_count = true };
}

/* Read the file at PATH back and compare it with WRITTEN. Exceeding a limit of the reader is not a failure: SUMMARY
 * says how it can be read. */
static bool check_written(const struct convert_form *form, const struct amounts *written,
                          const struct convert_args *args, const char *path, struct buffer *summary,
                          struct tpa_error *err)
{
    struct ingest_options options = { .wants = wants_of_check(form), .workers = (unsigned)args->load.jobs };
    struct ingested again = { 0 };
    struct tpa_error refused = { 0 };
    bool fine = ingest_read_any(&path, 1, &options, &again, &refused);
    if (!fine) {
        options.max_ratio = UINT64_MAX;
        fine = ingest_read_any(&path, 1, &options, &again, err);
        if (fine)
            buffer_printf(summary,
                          "note: it holds more than %d times its size: to read it again, say --max-ratio 0\n",
                          SOURCE_DEFAULT_MAX_RATIO);
    }
    if (!fine)
        return tpa_while(err, "reading what was written, which was removed");
    struct amounts found = amounts_of(&again, &options.wants);
    ingested_free(&again);
    return same_amounts(written, &found, err);
}

static struct amounts amounts_written(const struct convert_form *form, const struct input *input)
{
    struct trace_wants wants = { .flows = form->check_all, .counters = form->check_all };
    return input->files ? (struct amounts){ .events = input->files->events }
                        : amounts_of(input->ingested, &wants);
}

/* The input is freed first, so that it and the file read back are not in memory at once. */
static bool check_file(const struct convert_form *form, const struct input *input,
                       const struct convert_args *args, struct output_file *file, struct buffer *summary,
                       struct tpa_error *err)
{
    struct amounts written = amounts_written(form, input);
    ingested_free(input->ingested);
    if (!form->is_read || !file->temporary || fflush(file->stream) != 0) /* committing reports the reason */
        return true;
    return check_written(form, &written, args, file->temporary, summary, err);
}

/* Notices about the input, as in every other command. */
static void convert_add_notices(const struct input *input, struct result *notices)
{
    const struct ingested *ingested = input->ingested;
    snapshot_add_file_notices(&ingested->snapshots, notices);
    if (input->files)
        load_add_notices(input->files->all, notices);
    else if (ingested->trace)
        load_add_notices(ingested->trace, notices);
    else if (ingested->profile)
        profile_add_notices(notices, ingested->profile, &(struct profile_view){ 0 }, true);
}

/* Write INPUT, and free it; notices about it go to NOTICES. */
static bool write_form(const struct convert_form *form, const struct input *input,
                       const struct convert_args *args, struct buffer *summary, struct result *notices,
                       struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open(&file, args->path, err))
        return false;
    bool written = write_input(form, input, args, file.stream, summary, err);
    convert_add_notices(input, notices);
    if (!written) {
        bool on_stdout = file.path == NULL;
        output_file_discard(&file);
        if (!on_stdout || !output_reader_is_gone())
            return false;
        *err = (struct tpa_error){ 0 };
        return true;
    }
    if (!check_file(form, input, args, &file, summary, err)) {
        output_file_discard(&file);
        return false;
    }
    return output_file_commit(&file, err);
}

static void cmd_convert_print(const struct convert_form *form, const struct convert_args *args,
                              bool of_snapshot, const struct buffer *summary)
{
    const char *next = of_snapshot && form->next_of_snapshot ? form->next_of_snapshot : form->next;
    if (summary->count)
        terminal_print("%s", summary->at);
    if (args->path && strcmp(args->path, "-") != 0) {
        SCOPED struct buffer word = { 0 }, command = { 0 };
        shell_word_append(&word, args->path, strlen(args->path));
        buffer_printf(&command, next, word.at);
        terminal_print("next: %s\n", command.at);
    }
}

/* Only a trace has a critical path, and only timelines can show it. */
static bool check_critical_path(const struct convert_form *form, const struct ingested *ingested,
                                const struct convert_args *args, struct tpa_error *err)
{
    if (!args->critical_path || (form->marks_path && ingested->trace))
        return true;
    tpa_fail(err, TPA_NOWHERE, "--critical-path cannot be used for %s%s", form->name,
             ingested->trace ? "" : " of a file that is not a trace");
    return tpa_hint(
        err,
        "it adds the critical path of a trace to --to chrome or --to perfetto; tpa path shows it as tables");
}

/* Reduce the trace to the requested part, on the clock of the output. */
static bool convert_prepare(const struct convert_form *form, struct ingested *ingested,
                            const struct convert_args *args, struct buffer *summary, struct tpa_error *err)
{
    if (!read_as_trace(form, ingested, err))
        return false;
    if (!ingested->trace)
        return !convert_is_cut(&args->selection) ||
               tpa_fail(err, TPA_NOWHERE, "only traces can be converted in part; this holds no events");
    if (form->is_timeline && args->merge && ingested->trace->file_count > 1) {
        struct timeline_numbers numbers = { 0 };
        timeline_notice_numbers(&numbers, ingested->trace);
        free(convert_merge(ingested->trace, NULL, &numbers, summary));
    }
    return convert_cut(ingested->trace, &args->selection, summary, err);
}

/* Can each file be written as soon as it is read? A part, and the critical path, are of all files together. */
static bool goes_by_file(const struct invocation *call, const struct convert_args *args,
                         const struct convert_form *form)
{
    return form->write_files && !args->critical_path && !convert_is_cut(&args->selection) &&
           args->load.captures.count == 0 && convert_files_can(call);
}

/* Read the operands: completely or, if INPUT has files, only what is needed before they are written one by one. */
static bool convert_read_input(const struct invocation *call, const struct convert_args *args,
                               const struct convert_form *form, struct input *input, struct buffer *summary,
                               struct tpa_error *err)
{
    struct trace_wants wants = form->wants;
    if (convert_is_cut(&args->selection))
        wants.args |= ATTRIBUTION_WANTS; /* device work is selected by its launch */
    if (!goes_by_file(call, args, form))
        return load_any(call, &args->load, &wants, input->ingested, err);
    input->files = convert_files_open(call, &args->load, &wants, args->merge);
    if (!convert_files_read(input->files, input->ingested, summary, err))
        return false;
    if (input->files->all->file_count > 0)
        return true;
    convert_files_free(input->files); /* no traces */
    input->files = NULL;
    return true;
}

static bool convert_input(const struct invocation *call, const struct convert_form *form,
                          const struct input *input, struct buffer *summary, struct result *notices,
                          struct tpa_error *err)
{
    const struct convert_args *args = call->args;
    struct ingested *ingested = input->ingested;
    if (!input->files && !can_write(form, ingested))
        return refuse_form(form, ingested, call->operands[0], err);
    return (input->files || (check_critical_path(form, ingested, args, err) &&
                             convert_prepare(form, ingested, args, summary, err))) &&
           write_form(form, input, args, summary, notices, err);
}

static int convert_main(const struct invocation *call, struct tpa_error *err)
{
    const struct convert_args *args = call->args;
    const struct convert_form *form = find_form(args, err);
    if (!form)
        return EXIT_TROUBLE;
    struct ingested ingested = { 0 };
    struct input input = { .ingested = &ingested };
    SCOPED struct buffer summary = { 0 };
    SCOPED_BY(result_free_at) struct result *notices = result_open("tpa.convert/1");
    bool fine = convert_read_input(call, args, form, &input, &summary, err);
    bool of_snapshot = ingested.snapshots.of.count > 0; /* which are freed by writing */
    fine = fine && convert_input(call, form, &input, &summary, notices, err);
    if (fine) {
        result_order_notices(notices);
        output_print_notices(notices); /* on stderr, as standard output may be the file */
        cmd_convert_print(form, args, of_snapshot, &summary);
    }
    ingested_free(&ingested);
    convert_files_free(input.files);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_convert = {
    .name = "convert",
    .summary = "write a trace, profile or memory snapshot in another form",
    .operands = "FILE...",
    .description =
        "A trace becomes Chrome JSON (--to chrome), which Perfetto and chrome://tracing open and tpa reads again with "
        "the same results; Perfetto's own protobuf (--to perfetto), which is a fraction of that and opens faster; rows of its events (--to csv); a timeline for speedscope; or stacks for a flame graph "
        "(--to folded), of the time of threads or, with --time gpu, of kernels below the calls that launched them. "
        "Several files become one, in which each rank has its own processes; as a timeline (chrome, perfetto) on one clock, "
        "corrected by the ends of their collectives. --steps, --range, --filter and --rank write a part. An output whose name ends in .gz or "
        ".zst is packed.\n\n"
        "A trace becomes tpa's own compact file (--to tpa), which every command reads as it reads the original.\n\n"
        "Stacks of a Python profile (--to folded) are inferred: a profile says who called whom and how long that "
        "took, not by which way. Frames whose time was apportioned among several callers end in \" ~\", and what could "
        "not be placed stands under \"[callers not known]\"; the times that end in a function add up to its tottime. "
        "How much of the whole is exact is printed on stderr.\n\n"
        "A memory snapshot becomes stacks with the bytes they had in use at the peak (--to folded), or rows of its "
        "entries with the totals after each (--to csv). With --to chrome or --to tpa it becomes a trace of its allocations "
        "with counters of allocated, active and reserved bytes.",
    .options = convert_opts,
    COMMAND_ARGS(convert_defaults),
    .main = convert_main,
    .examples = { "tpa convert run.json.gz -o run.json.zst",
                  "tpa convert rank*.json.gz -o all.json.gz  # one timeline of all ranks, for Perfetto",
                  "tpa convert --steps 3..5 ranks/ -o some.json.gz  # a part of a job that is too large to open whole",
                  "tpa convert rank*.json.gz -o all.pftrace  # the same, smaller and faster to open",
                  "tpa convert trace.json --to folded --time gpu | flamegraph.pl --countname ns > gpu.svg",
                  "tpa convert prof.stats -o out.folded  # then flamegraph.pl out.folded > flame.svg" },
    .section = SECTION_SHOW,
    .reads_profiles = true,
    .needs_callers = true,
    .reads_snapshots = true,
    .reads_traces = true,
};
