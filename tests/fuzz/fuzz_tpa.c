/*
 * fuzz_tpa.c - any bytes as a .tpa file: the reader must neither crash nor run away.
 *
 * Bytes that were changed have wrong checksums and are left out before anything looks into them, so the input is read
 * as it is and once more with the checksums made right.
 */
#define XXH_INLINE_ALL
#include "tests/fuzz/fuzz.h"
#include "trace/tpafile.h"
#include "trace/tpafile_bytes.h"

#include <xxhash.h>

extern const struct format format_tpa;

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
    trace_free(fuzz_read(&format_tpa, data, size));
    SCOPED uint8_t *copy = mem_alloc(size);
    if (size)
        memcpy(copy, data, size);
    mend(copy, size);
    trace_free(fuzz_read(&format_tpa, copy, size));
    return 0;
}
