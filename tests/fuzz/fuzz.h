/* fuzz.h - for fuzz targets: the function that each defines, and its checks. */
#ifndef TPA_TESTS_FUZZ_FUZZ_H
#define TPA_TESTS_FUZZ_FUZZ_H

#include "tests/read_bytes.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

/* The trace in DATA with all that can be requested; NULL if reading fails. Free with trace_free. */
static inline struct trace *fuzz_read(const struct format *format, const uint8_t *data, size_t size)
{
    struct ingest_options options = { .wants = want_everything(), .workers = 1 };
    format->sniff((const char *)data, size < 4096 ? size : 4096);
    return read_bytes_as(format, data, size, &options, &(struct tpa_error){ 0 });
}

#endif
