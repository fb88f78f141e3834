/* fuzz_pstats.c - any bytes as a pstats dump: read, added to itself, stripped of directories. */
#include "ingest/pstats.h"
#include "tests/fuzz/fuzz.h"

static struct profile *read(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    struct profile *profile = source ? pstats_read(source, &err) : NULL;
    source_free(source);
    return profile;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile *profile = read(data, size);
    if (profile) {
        profile_add(profile, read(data, size));
        profile_free(profile_strip_dirs(profile, size % 2));
    }
    return 0;
}
