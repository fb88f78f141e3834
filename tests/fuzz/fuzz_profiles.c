/* fuzz_profiles.c - any bytes as each of the profiles made of stacks (speedscope, collapsed stacks, V8, pprof), and as the
 * text of print_stats(). */
#include "tests/fuzz/fuzz.h"

extern const struct format format_speedscope, format_folded, format_cpuprofile, format_pprof,
    format_printed_stats;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format *const readers[] = { &format_speedscope, &format_folded, &format_cpuprofile,
                                             &format_pprof, &format_printed_stats };
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        profile_free(fuzz_profile(readers[i], data, size));
        readers[i]->sniff((const char *)data, size);
    }
    return 0;
}
