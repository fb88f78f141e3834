/* fuzz_saved.c - any bytes as a result that was saved; what is read is also measured, as a side of a comparison. */
#include "diff/diff.h"
#include "ingest/saved.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    struct result *saved = source ? saved_read(source, &err) : NULL;
    saved_sniff((const char *)data, size);
    source_free(source);
    if (!saved)
        return 0;
    SCOPED_OBJECT struct measures *side = measures_open();
    if (measure_result(side, saved, &err)) {
        measures_finish(side);
        SCOPED_OBJECT struct diff *diff = diff_open(side, side, &(struct diff_options){ 0 }, &err);
        struct result *result = result_open("tpa.diff/1");
        if (diff)
            diff_add_tables(diff, result);
        result_free(result);
    }
    result_free(saved);
    return 0;
}
