/* fuzz_samples.c - any bytes as the samples of a figure in a store; what was unpacked packs to what unpacks to the same. */
#include "history/store.h"
#include "tests/fuzz/fuzz.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCOPED struct samples samples = { 0 }, again = { 0 };
    if (samples_unpack(data, size, &samples)) {
        SCOPED struct buffer bytes = { 0 };
        samples_pack(&bytes, samples.at, samples.count, data[0] == 1);
        bool good = samples_unpack(bytes.at, bytes.count, &again);
        if (!good || again.count != samples.count ||
            (samples.count && memcmp(again.at, samples.at, samples.count * sizeof *samples.at) != 0))
            abort();
    }
    return 0;
}
