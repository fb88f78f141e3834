/*
 * fuzz_mcp.c - any bytes as lines that an MCP client sends, each handled alone: what is answered is JSON, in lines.
 *
 * No call runs: the tools are those of the program, and the only root is an empty folder.
 */
#include "cli/mcp_tools.h"
#include "tests/fuzz/fuzz.h"

static bool refuse_to_run(int count, char **argv, struct buffer *document, struct buffer *message)
{
    (void)count, (void)argv, (void)document, (void)message;
    return false;
}

/* Every line of ANSWERS must be JSON. */
static void check_answers(const struct buffer *answers)
{
    for (size_t at = 0; at < answers->count;) {
        const char *line = answers->at + at, *end = memchr(line, '\n', answers->count - at);
        if (!end || !json_is_value(line, (size_t)(end - line)))
            abort();
        at += (size_t)(end - line) + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[] = "/proc/self/fdinfo"; /* holds no trace */
    char *paths[] = { folder };
    struct roots roots = { .at = paths, .count = 1 };
    struct mcp_tools tools = { .roots = &roots, .budget_bytes = 10000 };
    struct mcp_server server = { .name = "tpa",
                                 .version = "0",
                                 .instructions = "",
                                 .tools = "[]",
                                 .context = &tools,
                                 .prepare = mcp_tools_prepare,
                                 .work = { .run = refuse_to_run } };
    SCOPED struct buffer answers = { 0 };
    for (size_t at = 0; at < size;) {
        const char *line = (const char *)data + at, *end = memchr(line, '\n', size - at);
        size_t len = end ? (size_t)(end - line) : size - at;
        mcp_handle_line(&server, line, len, &answers);
        at += len + 1;
    }
    check_answers(&answers);
    return 0;
}
