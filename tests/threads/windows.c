/*
 * windows.c - makes tpa read in windows of TPA_TEST_WINDOW bytes, and give each thread what little there is, for tests.
 *
 * The test links all of tpa once more with the linker's --wrap=ingest_read_any, so that what is tested is the program
 * and the program needs no option that only tests would use.
 */
#include "base/parallel.h"
#include "ingest/formats.h"

bool __real_ingest_read_any(const char *const *paths, size_t count, const struct ingest_options *options,
                            struct ingested *ingested, struct tpa_error *err);
bool __wrap_ingest_read_any(const char *const *paths, size_t count, const struct ingest_options *options,
                            struct ingested *ingested, struct tpa_error *err);

bool __wrap_ingest_read_any(const char *const *paths, size_t count, const struct ingest_options *options,
                            struct ingested *ingested, struct tpa_error *err)
{
    struct ingest_options changed = *options;
    const char *size = getenv("TPA_TEST_WINDOW");
    if (size)
        changed.window_size = (size_t)strtoul(size, NULL, 10);
    parallel_worth = 1;
    return __real_ingest_read_any(paths, count, &changed, ingested, err);
}
