/*
 * absent.c - stands in for zstd, which a 64-bit distribution does not package for 32 bits.
 *
 * It packs nothing smaller, so that a writer of .tpa files stores all; and unpacks nothing: a reader calls what is packed
 * damaged.
 */
#include <stddef.h>

/* A function of zstd that makes and frees nothing, or that returns the error ZSTD_error_GENERIC. */
#define NOTHING_MADE(function)                                                                               \
    void *function(void);                                                                                    \
    void *function(void)                                                                                     \
    {                                                                                                        \
        static char nothing;                                                                                 \
        return &nothing;                                                                                     \
    }
#define ALWAYS_FAILS(function)                                                                               \
    size_t function(void);                                                                                   \
    size_t function(void)                                                                                    \
    {                                                                                                        \
        return (size_t)-1;                                                                                   \
    }

size_t ZSTD_compressBound(size_t size);
size_t ZSTD_compressBound(size_t size)
{
    return size;
}

size_t ZSTD_compressCCtx(void *context, void *to, size_t room, const void *from, size_t size, int level);
size_t ZSTD_compressCCtx(void *context, void *to, size_t room, const void *from, size_t size, int level)
{
    (void)context, (void)to, (void)room, (void)from, (void)level;
    return size; /* as large as it was, which nobody takes */
}

unsigned long long ZSTD_getFrameContentSize(const void *from, size_t size);
unsigned long long ZSTD_getFrameContentSize(const void *from, size_t size)
{
    (void)from, (void)size;
    return -2ULL; /* ZSTD_CONTENTSIZE_ERROR */
}

unsigned ZSTD_isError(size_t code);
unsigned ZSTD_isError(size_t code)
{
    return code == (size_t)-1;
}

int ZSTD_getErrorCode(size_t code);
int ZSTD_getErrorCode(size_t code)
{
    return ZSTD_isError(code);
}

const char *ZSTD_getErrorName(size_t code);
const char *ZSTD_getErrorName(size_t code)
{
    return ZSTD_isError(code) ? "zstd is not in this program" : "no error";
}

// clang-format off
NOTHING_MADE(ZSTD_createCCtx)
NOTHING_MADE(ZSTD_createDCtx)
NOTHING_MADE(ZSTD_createDStream)
NOTHING_MADE(ZSTD_freeCCtx)
NOTHING_MADE(ZSTD_freeDCtx)
NOTHING_MADE(ZSTD_freeDStream)
ALWAYS_FAILS(ZSTD_decompress)
ALWAYS_FAILS(ZSTD_decompressDCtx)
ALWAYS_FAILS(ZSTD_decompressStream)
// clang-format on
