/*
 * fuzz_tpa.c - any bytes as a .tpa file: the reader must neither crash nor run away.
 *
 * Bytes that were changed have wrong checksums and are left out before anything looks into them, so the input is read
 * as it is and once more with the checksums made right.
 */
#define XXH_INLINE_ALL
#include "base/memory.h"
#include "ingest/formats.h"
#include "trace/tpafile.h"
#include "trace/tpafile_bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

extern const struct format format_tpa;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_bytes(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct ingest_options options = {
        .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true },
        .workers = 1,
    };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    if (!source)
        return;
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "fuzz", "tpa");
    if (format_tpa.read(source, builder, &options, &err))
        trace_free(trace_builder_finish(builder));
    else
        trace_builder_free(builder);
    source_free(source);
}

static void mend(uint8_t *bytes, size_t size)
{
    for (size_t at = TPAFILE_HEADER_SIZE; at + TPAFILE_BLOCK_HEAD <= size;) {
        uint8_t *head = bytes + at;
        if (memcmp(head, TPAFILE_BLOCK_MAGIC, 4) != 0) {
            at++;
            continue;
        }
        size_t left = size - at - TPAFILE_BLOCK_HEAD;
        if (get_u32(head + 12) > left)
            store_u32(head + 12, (uint32_t)left);
        uint32_t packed = get_u32(head + 12);
        if (head[6] == TPAFILE_STORED)
            store_u32(head + 16, packed);
        store_u64(head + 24, XXH3_64bits(head + TPAFILE_BLOCK_HEAD, packed));
        store_u64(head + 32, XXH3_64bits(head, 32));
        at += TPAFILE_BLOCK_HEAD + packed;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size);
    uint8_t *copy = mem_alloc(size);
    if (size)
        memcpy(copy, data, size);
    mend(copy, size);
    read_bytes(copy, size);
    free(copy);
    return 0;
}
