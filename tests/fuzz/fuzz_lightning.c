/* fuzz_lightning.c - any bytes as a report of Lightning's SimpleProfiler. */
#include "ingest/lightning.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    action_report_free(source ? lightning_read(source, &err) : NULL);
    lightning_sniff((const char *)data, size);
    source_free(source);
    return 0;
}
