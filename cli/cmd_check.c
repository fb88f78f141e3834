/* cmd_check.c - `tpa check`: the figures of a written answer, compared with the traces that it is about. */
#include "check/page.h"

#include "cli/kept.h"
#include "cli/parts.h"
#include "check/check.h"

struct check_args {
    const char *text;
    struct load_args load;
    struct output_args output;
};

static const struct check_args check_defaults = { .load = LOAD_DEFAULTS };

static const struct opt check_opts[] = {
    OPT_GROUP("Answer"),
    OPT_TEXT(0, "text", struct check_args, text, "SENTENCE", "check this sentence: all operands are traces"),
    OUTPUT_OPTIONS(struct check_args, output),
    LOAD_OPTIONS(struct check_args, load),
    OPT_END,
};

enum { MOST_BYTES = 64 << 20 }; /* of an answer */

/* Append the file at PATH, "-" for standard input, to TEXT. */
static bool read_answer(const char *path, struct buffer *text, struct tpa_error *err)
{
    SCOPED_BY(source_free_at)
    struct source *source = source_open(path, &(struct source_limits){ SOURCE_DEFAULT_MAX_RATIO }, err);
    if (!source)
        return false;
    char bytes[65536];
    int64_t count;
    while ((count = source_read(source, bytes, sizeof bytes, err)) > 0 && text->count <= MOST_BYTES)
        buffer_add(text, bytes, (size_t)count);
    bool good = count >= 0;
    if (good && text->count > MOST_BYTES) {
        good = tpa_fail(err, TPA_NOWHERE, "the answer is longer than 64 MiB");
        tpa_hint(err, "the answer comes first, then the traces: tpa check ANSWER.md TRACE...");
        tpa_in_file(err, path);
    } else if (good && text->count && memchr(text->at, '\0', text->count)) {
        good = tpa_fail(err, TPA_NOWHERE, "the answer holds NUL bytes, so it is not text");
        tpa_hint(err, "the answer comes first, then the traces: tpa check ANSWER.md TRACE...");
        tpa_in_file(err, path);
    }
    return good;
}

/* The exit code of RESULT: of a recording that is not complete nothing passes. */
static int check_exit_code(const struct check *check, const struct result *result, bool strict)
{
    bool none = check->outcomes[CHECK_OPEN] + check->outcomes[CHECK_CONTRADICTED] +
                    check->outcomes[CHECK_CONFIRMED] ==
                0;
    bool open = strict && (check->outcomes[CHECK_OPEN] > 0 || none);
    return check->outcomes[CHECK_CONTRADICTED] || open || result_lacks(result) ? EXIT_LIMIT_PASSED
                                                                               : EXIT_FINE;
}

/* A verdict depends on the text of the answer, whatever its file (FNV-1a). */
static struct kept_query check_query(const struct invocation *call, const struct check_input *input)
{
    struct kept_query query = { call, .variant = 0xcbf29ce484222325 };
    for (size_t i = 0; i < input->len; i++)
        query.variant = (query.variant ^ (unsigned char)input->text[i]) * 0x100000001b3;
    return query;
}

/* Print CHECK, which is taken. Returns the exit code. */
static int check_print(const struct invocation *call, const struct check_input *input,
                       const struct trace *trace, struct check *check, struct tpa_error *err)
{
    const struct check_args *args = call->args;
    const struct kept_query query = check_query(call, input);
    struct result *result = result_open("tpa.check/1");
    check_add_table(check, result);
    load_add_notices(trace, result);
    int code = check_exit_code(check, result, args->load.strict);
    if (!kept_output(&query, result, &args->output, err))
        code = EXIT_TROUBLE;
    arena_free(check);
    return code;
}

static int check_text(const struct invocation *call, const struct trace *trace,
                      const struct check_input *input, struct tpa_error *err)
{
    return check_print(call, input, trace, check_answer(check_facts_of(trace), input), err);
}

/* Compare the first screen of a page of tpa report with that of the page of its traces. */
static int check_report(const struct invocation *call, const struct trace *trace,
                        const struct check_input *input, struct tpa_error *err)
{
    const struct check_args *args = call->args;
    char *right = NULL;
    size_t len = 0;
    FILE *into = open_memstream(&right, &len);
    if (!into) {
        tpa_fail_errno(err, "cannot compare pages");
        return EXIT_TROUBLE;
    }
    struct load_args load = args->load;
    load.progress = false;
    bool good = report_page(input->files, input->file_count, &load, into, err);
    good = fclose(into) == 0 && good;
    struct check *check = good ? check_page(check_facts_of(trace), input, right, len) : NULL;
    free(right);
    if (good && !check) {
        tpa_fail(err, TPA_NOWHERE, "the page has no first screen of tpa report");
        tpa_hint(err, "answers in Markdown and pages of tpa report are checked");
    }
    return check ? check_print(call, input, trace, check, err) : EXIT_TROUBLE;
}

static int check_main(const struct invocation *call, struct tpa_error *err)
{
    const struct check_args *args = call->args;
    struct invocation traces = *call;
    struct buffer text = { 0 };
    struct check_input input = { .sentence = args->text };
    if (args->text) {
        buffer_puts(&text, args->text);
    } else if (call->operand_count < 2) {
        tpa_fail(err, TPA_NOWHERE, "the answer or its traces are missing");
        tpa_hint(err, "tpa check ANSWER.md TRACE..., or tpa check --text 'ONE SENTENCE' TRACE...");
        return EXIT_TROUBLE;
    } else {
        traces.operands++;
        traces.operand_count--;
        if (!read_answer(call->operands[0], &text, err)) {
            buffer_release(&text);
            return EXIT_TROUBLE;
        }
    }
    input.text = text.at;
    input.len = text.count;
    input.files = traces.operands;
    input.file_count = traces.operand_count;
    const struct kept_query query = check_query(call, &input);
    struct result *known = kept_find(&query);
    if (known) {
        buffer_release(&text);
        return output_result(known, &args->output, err) ? EXIT_FINE : EXIT_TROUBLE;
    }
    const struct trace_wants wants = check_wants();
    SCOPED_BY(trace_free_at) struct trace *trace = load_traces(&traces, &args->load, &wants, err);
    int code = EXIT_TROUBLE;
    if (trace)
        code = check_is_page(input.text, input.len) ? check_report(call, trace, &input, err)
                                                    : check_text(call, trace, &input, err);
    buffer_release(&text);
    return code;
}

const struct command cmd_check = {
    .name = "check",
    .summary = "which figures of a written answer are right",
    .operands = "[ANSWER.md] TRACE...",
    .description =
        "Reads an answer about traces, in Markdown; - is standard input. Each of its figures is confirmed, contradicted with the "
        "right figure and the command that prints it, or not checkable, with the reason. Figures are times, sizes, shares and "
        "counts of operators, calls, kernels, copies, steps, memory and the GPU. Of a page of tpa report, the figures of the first screen are "
        "checked.\n\n"
        "Exits with 1 if a figure is contradicted, or a recording is not complete; with --strict also if one is not checkable, or there is none.",
    .tables = { check_tables },
    .options = check_opts,
    COMMAND_ARGS(check_defaults),
    .main = check_main,
    .examples = {
        "tpa check answer.md trace.json",
        "tpa check --format json answer.md rank0.json rank1.json",
        "tpa check report.html trace.json",
        "tpa check --text 'The GPU is idle 39.4 % of the time.' trace.json",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
