/*
 * absent.c - stands in for zstd and PCRE2, which a 64-bit distribution does not package for 32 bits.
 *
 * zstd's part packs nothing smaller, so that a writer of .tpa files stores all; and unpacks nothing: a reader calls what
 * is packed damaged. PCRE2's part matches by the C library: enough for the patterns that `summary` makes of names.
 */
#include <regex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
NOTHING_MADE(pcre2_compile_context_create_8)
NOTHING_MADE(pcre2_compile_context_free_8)
NOTHING_MADE(pcre2_general_context_create_8)
NOTHING_MADE(pcre2_general_context_free_8)
NOTHING_MADE(pcre2_get_error_message_8)
NOTHING_MADE(pcre2_jit_compile_8)
NOTHING_MADE(pcre2_match_context_create_8)
NOTHING_MADE(pcre2_match_context_free_8)
NOTHING_MADE(pcre2_match_data_create_8)
NOTHING_MADE(pcre2_match_data_free_8)
NOTHING_MADE(pcre2_set_depth_limit_8)
NOTHING_MADE(pcre2_set_heap_limit_8)
NOTHING_MADE(pcre2_set_match_limit_8)
NOTHING_MADE(pcre2_set_parens_nest_limit_8)
// clang-format on

void *pcre2_compile_8(const char *pattern, size_t len, uint32_t options, int *error, size_t *at,
                      void *context);
void *pcre2_compile_8(const char *pattern, size_t len, uint32_t options, int *error, size_t *at,
                      void *context)
{
    (void)len, (void)options, (void)context;
    regex_t *code = malloc(sizeof *code);
    *at = 0;
    *error = code ? regcomp(code, pattern, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;
    return *error == 0 ? code : NULL;
}

void pcre2_code_free_8(void *code);
void pcre2_code_free_8(void *code)
{
    regfree(code);
    free(code);
}

int pcre2_match_8(const void *code, const char *text, size_t len, size_t start, uint32_t options, void *match,
                  void *context);
int pcre2_match_8(const void *code, const char *text, size_t len, size_t start, uint32_t options, void *match,
                  void *context)
{
    (void)start, (void)options, (void)match, (void)context;
    regmatch_t whole = { .rm_so = 0, .rm_eo = (regoff_t)len };
    return regexec(code, text, 1, &whole, REG_STARTEND) == 0 ? 0 : -1; /* PCRE2_ERROR_NOMATCH */
}
