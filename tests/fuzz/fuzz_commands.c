/*
 * fuzz_commands.c - any bytes as a trace, asked by one of the commands: the analyses and what shows their tables.
 *
 * The last two bytes choose the question and the format; what comes before them is the trace. A second trace is its first
 * half, so that two sides differ. What must hold of the output is in program.h.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/program.h"
#include "tests/fuzz/command_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *command = command_lines[data[size - 1] % COMMAND_LINE_COUNT];
    const char *format = choose_format(command, data[size - 2]);
    size -= 2;
    struct program_files files = { { program_file(0, data, size), program_file(1, data, size / 2) } };

    program_run_line(command, format, &files);
    return 0;
}
