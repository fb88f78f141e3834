/*
 * fuzz_folders.c - any bytes as a folder: recordings whose files complete one another, as Ascend's with its tables of memory,
 * rocprofv3's tables, dumps of the flight recorder, and ranks of a job.
 *
 * The last two bytes choose the question and the format. Each file begins with a byte 0x1c and one that chooses its name; what
 * stands before the first has the first name. The mutator changes cells: what stands between commas, colons, quotes and ends
 * of lines.
 */
#define _GNU_SOURCE /* asprintf */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/program.h"

#include <sys/stat.h>
#include <unistd.h>

enum { BEGINS_FILE = 0x1c, CHOICES = 2 };

#define OUTPUT "a_ascend_pt/ASCEND_PROFILER_OUTPUT/"

static const char *const folders[] = { "", "a_ascend_pt", "a_ascend_pt/ASCEND_PROFILER_OUTPUT",
                                       "b_ascend_pt" };

static const char *const names[] = {
    OUTPUT "trace_view.json",
    OUTPUT "operator_memory.csv",
    OUTPUT "memory_record.csv",
    OUTPUT "communication.json",
    OUTPUT "ascend_pytorch_profiler_0.db",
    "a_ascend_pt/profiler_info_0.json",
    "b_ascend_pt/trace_view.json",
    "b_ascend_pt/operator_memory.csv",
    "b_ascend_pt/profiler_info_1.json",
    "12_kernel_trace.csv",
    "12_memory_copy_trace.csv",
    "12_hip_api_trace.csv",
    "12_marker_api_trace.csv",
    "12_counter_collection.csv",
    "12_memory_allocation_trace.csv",
    "12_agent_info.csv",
    "13_kernel_trace.csv",
    "rank_0",
    "rank_1",
    "rank0.json",
};

static const char *const command_lines[] = {
    "info t",   "summary t",   "memory --columns all t", "kernels --columns all t",
    "gpu t",    "transfers t", "steps --columns all t",  "comm t",
    "hang t",   "job t",       "fleet --columns all t",  "convert --to chrome t",
    "report t", "facts t",
};

static const char *const output_formats[] = { "", "json", "csv", "md" };

enum {
    FOLDERS = sizeof folders / sizeof *folders,
    NAMES = sizeof names / sizeof *names,
    COMMAND_LINES = sizeof command_lines / sizeof *command_lines,
    FORMATS = sizeof output_formats / sizeof *output_formats
};

/* A folder that lives as long as the process, with nothing in it; new, free(). */
static char *make_root(void)
{
    char *root = NULL;
    const char *place = getenv("TMPDIR");
    if (asprintf(&root, "%s/tpa-fuzz-XXXXXX", place ? place : "/tmp") < 0 || !mkdtemp(root))
        abort();
    return root;
}

/* The path of NAME in ROOT; valid until the next call. */
static const char *path_in(const char *root, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void write_file(const char *root, const char *name, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path_in(root, name), "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void make_files(const char *root, const uint8_t *data, size_t size)
{
    size_t name = 0, begin = 0;
    for (size_t i = 0; i < FOLDERS; i++)
        mkdir(path_in(root, folders[i]), 0700);
    for (size_t i = 0; i <= size; i++) {
        if (i < size && data[i] != BEGINS_FILE)
            continue;
        if (i > begin)
            write_file(root, names[name], data + begin, i - begin);
        name = i + 1 < size ? data[i + 1] % NAMES : 0;
        begin = i + 2 < size ? i + 2 : size;
        i += i < size;
    }
}

static void remove_files(const char *root)
{
    for (size_t i = 0; i < NAMES; i++)
        unlink(path_in(root, names[i]));
    for (size_t i = FOLDERS; i-- > 0;)
        rmdir(path_in(root, folders[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CHOICES)
        return 0;
    const char *command = command_lines[data[size - 1] % COMMAND_LINES];
    const char *format = output_formats[data[size - 2] % FORMATS];
    if (strncmp(command, "convert", 7) == 0 || strncmp(command, "report", 6) == 0 ||
        strncmp(command, "facts", 5) == 0)
        format = "";
    char *root = make_root(), line[80], *words[8];
    make_files(root, data, size - CHOICES);
    int count = 0;
    snprintf(line, sizeof line, "%s%s%s", command, *format ? " --format " : "", format);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    program_run(count, words, &(struct program_files){ .paths = { root, root } });
    remove_files(root);
    free(root);
    return 0;
}

/* ---- the mutator ---- */

static bool ends_cell(uint8_t byte)
{
    return byte == ',' || byte == ':' || byte == '"' || byte == '\n' || byte == BEGINS_FILE;
}

static void mutate_cell(struct mutated *input, uint64_t *state)
{
    static const char *const values[] = {
        "",
        "0",
        "-1",
        "1",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e308",
        "1e-308",
        "nan",
        "inf",
        "0.0000000001",
        "\"",
        "2000000000000000\t",
        "-0.5",
        "N/A",
        ",",
        "\n",
        "1.7e19",
        "Stream Ptr",
        "PTA",
    };
    size_t begin = mutate_random(state, input->size), end = begin;
    while (begin > 0 && !ends_cell(input->at[begin - 1]))
        begin--;
    while (end < input->size && !ends_cell(input->at[end]))
        end++;
    const char *value = values[mutate_random(state, sizeof values / sizeof *values)];
    mutate_replace(input, begin, end, value, strlen(value));
}

/* A line is dropped, or stands once more in another place. */
static void mutate_line(struct mutated *input, uint64_t *state)
{
    uint8_t line[512];
    size_t begin = mutate_random(state, input->size), end = begin;
    while (begin > 0 && input->at[begin - 1] != '\n')
        begin--;
    while (end < input->size && input->at[end] != '\n')
        end++;
    end += end < input->size;
    if (mutate_random(state, 2) == 0 || end - begin > sizeof line) {
        mutate_replace(input, begin, end, "", 0);
        return;
    }
    size_t len = end - begin, at = mutate_random(state, input->size);
    memcpy(line, input->at + begin, len);
    while (at > 0 && input->at[at - 1] != '\n')
        at--;
    mutate_replace(input, at, at, line, len);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed;
    if (size < CHOICES + 1 || mutate_random(&state, 4) == 0)
        return LLVMFuzzerMutate(data, size, most);
    uint8_t choices[CHOICES];
    memcpy(choices, data + size - CHOICES, CHOICES);
    if (mutate_random(&state, 2) == 0)
        choices[mutate_random(&state, CHOICES)] = (uint8_t)mutate_random(&state, 256);
    struct mutated input = { data, size - CHOICES, most - CHOICES };
    for (size_t changes = 1 + mutate_random(&state, 4); changes > 0 && input.size; changes--)
        (mutate_random(&state, 3) ? mutate_cell : mutate_line)(&input, &state);
    memcpy(data + input.size, choices, CHOICES);
    return input.size + CHOICES;
}
