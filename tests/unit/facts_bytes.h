/* facts_bytes.h - files of facts that are changed, for tests and fuzz targets. */
#ifndef TPA_TESTS_FACTS_BYTES_H
#define TPA_TESTS_FACTS_BYTES_H

#include "base/buffer.h"
#include "figures/facts_file.h"

/* Make the checksums of the LEN bytes of facts at BYTES right again, as far as they can be read, so that a change is looked into. */
static inline void facts_fix_checks(char *bytes, size_t len)
{
    struct source *source = source_open_memory(bytes, len, "facts", NULL);
    struct arrow_reader reader;
    arrow_reader_init(&reader, source);
    while (source && arrow_read_schema(&reader, NULL)) {
        struct text table = arrow_fact(&reader, "tpa.table");
        bool is_check = table.at && table.len == 5 && memcmp(table.at, "check", 5) == 0 &&
                        reader.fields.count == 1 && reader.fields.at[0].type == ARROW_READ_INT64;
        uint64_t sum = reader.sum;
        struct arrow_batch batch = { 0 };
        while (arrow_read_batch(&reader, &batch, NULL))
            if (is_check && batch.rows == 1)
                memcpy(bytes + reader.at + (batch.columns.at[0].values - reader.message.at), &sum,
                       sizeof sum);
        VEC_FREE(&batch.columns);
        if (is_check)
            arrow_begin_sum(&reader);
    }
    arrow_reader_release(&reader);
    source_free(source);
}

#endif
