/* fuzz_profiles.c - any bytes as each of the profiles made of stacks (speedscope, collapsed stacks, V8, pprof), and as the
 * text of print_stats(). */
#include "tests/fuzz/fuzz.h"
#include "trace/profile.h"

extern const struct format format_speedscope, format_folded, format_cpuprofile, format_pprof,
    format_printed_stats;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format *const readers[] = { &format_speedscope, &format_folded, &format_cpuprofile,
                                             &format_pprof, &format_printed_stats };
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        struct tpa_error err = { 0 };
        struct source *source = source_open_memory(data, size, "fuzz", &err);
        profile_free(source ? readers[i]->read_profile(source, &err) : NULL);
        readers[i]->sniff((const char *)data, size);
        source_free(source);
    }
    return 0;
}
