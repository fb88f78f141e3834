/*
 * fuzz_fields.c - well-formed .tpa files whose fields may hold anything (make_tpa.h), asked by one of the commands.
 *
 * The last two bytes choose the question and the format, as in fuzz_commands.c; what comes before them chooses the
 * file. A second file is made of the first half of that, so that two sides differ. Beyond the questions of command_lines.h
 * the file is added to an empty store, which is then asked.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/make_tpa.h"
#include "tests/fuzz/program.h"
#include "tests/fuzz/command_lines.h"

#include <unistd.h>

static char folder[64], store[80];

static void remove_files(void)
{
    unlink(store);
    rmdir(folder);
}

static void set_up(void)
{
    snprintf(folder, sizeof folder, "%s/fuzz_fields.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        abort();
    snprintf(store, sizeof store, "%s/s", folder);
    atexit(remove_files);
}

/* Two nights, and what is reported of them. */
static void ask_store(const struct program_files *traces, const char *format)
{
    struct program_files files = { { traces->paths[0], traces->paths[1] }, store };
    char add[96];
    for (int i = 0; i < 2; i++) {
        snprintf(add, sizeof add, "nightly --label a %s", files.paths[i]);
        program_run_line(add, format, &files);
    }
    program_run_line("nightly show --all", format, &files);
    program_run_line("nightly list", format, &files);
    program_run_line("chart --type trend", "", &files);
    unlink(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats_of_stores[] = { "", "json", "csv", "md" };
    if (!*folder)
        set_up();
    if (size < 2)
        return 0;
    size_t choice = data[size - 1] % (COMMAND_LINE_COUNT + 1);
    uint8_t format = data[size - 2];
    size -= 2;
    struct buffer bytes[2] = { 0 };
    make_tpa(data, size, &bytes[0]);
    make_tpa(data, size / 2, &bytes[1]);
    struct program_files files = { .paths = {
                                       program_file(0, (const uint8_t *)bytes[0].at, bytes[0].count),
                                       program_file(1, (const uint8_t *)bytes[1].at, bytes[1].count),
                                   } };
    if (choice == COMMAND_LINE_COUNT)
        ask_store(&files, formats_of_stores[format % 4]);
    else
        program_run_line(command_lines[choice], choose_format(command_lines[choice], format), &files);
    buffer_release(&bytes[0]);
    buffer_release(&bytes[1]);
    return 0;
}
