/*
 * fuzz_options.c - any bytes as a command line: words, each ended by a NUL byte or a newline.
 *
 * The first word is the command, or its number. Operands and options that name files stand for one small trace whatever
 * they say; so the values of all others (--columns, --sort, --by, --steps, --range, --filter ...) are not only parsed but used.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/program.h"

#include "cli/commands.h"
#include "cli/help.h"

/* Two steps, an operator with a call that launches a kernel and a copy in each; memory, a collective, Python and a module. */
#define STEP(n, t)                                                                                                      \
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" #n                                             \
    "\",\"pid\":1,\"tid\":1,\"ts\":" #t "000,"                                                                          \
    "\"dur\":900},"                                                                                                     \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"model.py(7): forward\",\"pid\":1,\"tid\":1,\"ts\":" #t        \
    "010,\"dur\":400,\"args\":{\"Python id\":1,\"Python parent id\":null}},"                                            \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: Linear_0\",\"pid\":1,\"tid\":1,\"ts\":" #t         \
    "020,\"dur\":300,\"args\":{\"Python id\":2,\"Python parent id\":1,\"Python module id\":0}},"                        \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":" #t                             \
    "100,\"dur\":90,\"args\":{\"External id\":" #n                                                                      \
    ",\"Input Dims\":[[8,4],[4,2]],\"Input type\":[\"float\","                                                          \
    "\"float\"]}},"                                                                                                     \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":" #t               \
    "110,\"dur\":20,\"args\":{\"External id\":" #n ",\"correlation\":" #n "}},"                                         \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm_kernel\",\"pid\":0,\"tid\":7,\"ts\":" #t                          \
    "140,\"dur\":300,\"args\":{\"External id\":" #n ",\"correlation\":" #n ",\"device\":0,\"stream\":7,"                \
    "\"grid\":[4,1,1],\"block\":[128,1,1]}},"                                                                           \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"pid\":0,\"tid\":7,\"ts\":" #t \
    "500,\"dur\":50,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1" #n ",\"bytes\":4096}},"                      \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32_RING_LL\",\"pid\":0,\"tid\":9,"        \
    "\"ts\":" #t "600,\"dur\":80,\"args\":{\"device\":0,\"stream\":9,\"Collective name\":\"allreduce\","                \
    "\"In msg nelems\":1024,\"dtype\":\"Float\",\"Group size\":2}},"                                                    \
    "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":" #t      \
    "105,\"args\":{\"Total Allocated\":" #t                                                                             \
    "000,\"Bytes\":512,\"Addr\":64,\"Device Type\":1,\"Device Id\":0}}"

static const char trace[] = "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100\"}],"
                            "\"traceEvents\":[" STEP(1, 1) "," STEP(2, 2) "," STEP(3, 3) "]}";

/* The command that WORD names or numbers. */
static const char *command_name(const char *word)
{
    size_t count = 0;
    while (command_at(count))
        count++;
    for (size_t i = 0; i < count; i++)
        if (strcmp(command_at(i)->name, word) == 0)
            return word;
    return command_at((unsigned char)word[0] % count)->name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST_WORDS = 24, LONGEST = 4096 };
    static char text[LONGEST + 1];
    static char name[32];
    char *words[MOST_WORDS + 1] = { NULL };
    int count = 0;
    size = size < LONGEST ? size : LONGEST;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t at = 0; at < size && count < MOST_WORDS;) {
        words[count++] = text + at;
        at += strcspn(text + at, "\n");
        if (at < size)
            text[at++] = '\0';
    }
    if (count == 0)
        return 0;
    struct tpa_error err = { 0 };
    command_find(words[0], &err); /* what it suggests */
    strncpy(name, command_name(words[0]), sizeof name - 1);
    words[0] = name;
    struct program_files files = {
        .paths = { program_file(0, (const uint8_t *)trace, sizeof trace - 1),
                   program_file(1, (const uint8_t *)trace, sizeof trace / 2) },
    };
    program_run(count, words, &files);
    return 0;
}
