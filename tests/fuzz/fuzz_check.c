/*
 * fuzz_check.c - any bytes as a written answer about a small trace, as Markdown and as one sentence.
 *
 * Whatever the text, there is a verdict with all that belongs to it on each figure, the outcomes add up, and the same text
 * gets the same verdicts twice.
 */
#include "check/check.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

extern const struct format format_chrome;

static const char trace_text[] =
    "{\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\"}],\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":100},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":90},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"the\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":50},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":20,\"args\":{\"External id\":7}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm_out\",\"pid\":1,\"tid\":1,\"ts\":40,\"dur\":5,\"args\":{\"External id\":8}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":12,\"dur\":3,"
    "\"args\":{\"correlation\":3,\"External id\":7}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"_ZN3gem4mainEf\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":15,"
    "\"args\":{\"correlation\":3,\"device\":0,\"stream\":7,\"External id\":7}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel(int*)\",\"pid\":0,\"tid\":8,\"ts\":30,\"dur\":15,"
    "\"args\":{\"device\":0,\"stream\":8}},"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"pid\":0,\"tid\":7,\"ts\":60,\"dur\":4,"
    "\"args\":{\"device\":0,\"stream\":7,\"bytes\":4096}},"
    "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":15,"
    "\"args\":{\"Device Type\":1,\"Device Id\":0,\"Addr\":16,\"Bytes\":512,\"Total Allocated\":512,\"Total Reserved\":1024}}]}";

static struct trace *read_trace(void)
{
    struct ingest_options options = { .wants = check_wants(), .workers = 1 };
    struct trace *trace =
        read_bytes_as(&format_chrome, trace_text, sizeof trace_text - 1, &options, &(struct tpa_error){ 0 });
    must(trace != NULL);
    return trace;
}

static bool is_same(struct text a, struct text b)
{
    return a.len == b.len && (a.at == NULL) == (b.at == NULL) && (!a.at || memcmp(a.at, b.at, a.len) == 0);
}

static struct check *check_twice(struct check_facts *facts, const struct check_input *input)
{
    struct check *check = check_answer(facts, input), *again = check_answer(facts, input);
    must(check->count == again->count);
    size_t outcomes = 0;
    for (int v = 0; v < CHECK_VERDICT_COUNT; v++)
        outcomes += (size_t)check->outcomes[v];
    must(outcomes == check->count);
    int64_t line = 1;
    for (size_t i = 0; i < check->count; i++) {
        const struct check_row *row = &check->at[i], *other = &again->at[i];
        must(row->line >= line && is_same(row->verdict, other->verdict) &&
             is_same(row->subject, other->subject));
        line = row->line;
        bool judged = row->outcome != CHECK_OPEN;
        must(row->statement.at && row->verdict.at && (row->reason.at == NULL) == judged);
        must((row->command.at != NULL) == judged && (row->quantity.at != NULL) == judged);
        must(!judged || (isfinite(row->said) && isfinite(row->right) && row->subject.at));
    }
    arena_free(again);
    return check;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct check_facts *facts; /* of one trace, for all inputs */
    if (!facts)
        facts = check_facts_open(read_trace());
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    char file[] = "trace.json", *files[] = { file };
    struct check_input input = { .text = text, .len = size, .files = files, .file_count = 1 };
    SCOPED_OBJECT struct check *check = check_twice(facts, &input);
    struct result *result = result_open("tpa.check/1");
    check_add_table(check, result);
    result_free(result);
    input.sentence = true;
    arena_free(check_twice(facts, &input));
    free(text);
    return 0;
}
