/*
 * fuzz_hlo.c - any bytes as the HloProto of a program: its operators and its assignment of buffers.
 */
#include "ingest/xplane/hlo.h"
#include "tests/fuzz/fuzz.h"

/* The sizes of the buffers at the peak add up to the peak, in each space. */
static void check_sums(const char *lines)
{
    struct {
        long long space;
        unsigned long long peak, sum;
    } spaces[64];
    size_t count = 0;
    for (const char *at = lines; *at; at = strchr(at, '\n') + 1) {
        long long space, bytes;
        char kind[16];
        if (sscanf(at, "space\t%lld\t%lld", &space, &bytes) == 2 && count < 64) {
            spaces[count].space = space;
            spaces[count].sum = 0;
            spaces[count++].peak = (unsigned long long)bytes;
        } else if (sscanf(at, "buffer\t%lld\t%15s\t%lld", &space, kind, &bytes) == 3) {
            for (size_t i = 0; i < count; i++)
                if (spaces[i].space == space)
                    spaces[i].sum = spaces[i].sum + (unsigned long long)bytes > INT64_MAX
                                        ? INT64_MAX
                                        : spaces[i].sum + (unsigned long long)bytes;
        }
    }
    for (size_t i = 0; i < count && count < 64; i++)
        if (spaces[i].sum != spaces[i].peak)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hlo_programs programs = { .wants_memory = true };
    hlo_programs_add(&programs, "jit_f(1)", 8, data, size);
    for (size_t i = 0; i < programs.memory.count; i++)
        check_sums(programs.memory.at[i].value);
    hlo_programs_release(&programs);
    return 0;
}
