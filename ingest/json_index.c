/* For each block of 64 bytes three masks are computed, one bit per byte: quotes, backslashes, brackets. Quotes after an
 * odd run of backslashes do not count; a prefix xor over the other quotes gives the bytes inside strings. (The method
 * is Langdale and Lemire's, "Parsing Gigabytes of JSON per Second", 2019; half the work is saved because brackets
 * differ only in bit 5.) The masks are computed with AVX2 if the CPU has it, else by SSE2 or NEON (bytes16.h), else by
 * plain C. */
#include "ingest/json_index.h"

#include "ingest/bytes16.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX2 1
#include <immintrin.h>
#else
#define HAVE_AVX2 0
#endif

struct masks {
    uint64_t quote, backslash, bracket;
};

#if HAVE_BYTES16
static inline uint64_t equal_mask(const bytes16 v[4], char c)
{
    bytes16 wanted = bytes16_all(c);
    const bytes16 equal[4] = { bytes16_equal(v[0], wanted), bytes16_equal(v[1], wanted),
                               bytes16_equal(v[2], wanted), bytes16_equal(v[3], wanted) };
    return bytes16_mask_of_4(equal);
}

static inline struct masks scan_16(const char *block)
{
    bytes16 v[4], folded[4];
    for (size_t i = 0; i < 4; i++) {
        v[i] = bytes16_load(block + 16 * i);
        folded[i] = bytes16_or(v[i], bytes16_all(0x20));
    }
    return (struct masks){
        .quote = equal_mask(v, '"'),
        .backslash = equal_mask(v, '\\'),
        .bracket = equal_mask(folded, '{') | equal_mask(folded, '}'),
    };
}
#else
static inline struct masks scan_plain(const char *block)
{
    struct masks masks = { 0 };
    for (int i = 0; i < 64; i++) {
        unsigned char c = (unsigned char)block[i];
        masks.quote |= (uint64_t)(c == '"') << i;
        masks.backslash |= (uint64_t)(c == '\\') << i;
        masks.bracket |= (uint64_t)((c | 0x20) == '{' || (c | 0x20) == '}') << i;
    }
    return masks;
}
#endif

#if HAVE_AVX2
#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

AVX2 static inline uint64_t avx2_bits(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

AVX2 static inline struct masks scan_avx2(const char *block)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)block);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(block + 32));
    __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    __m256i fold = _mm256_set1_epi8(0x20), open = _mm256_set1_epi8('{'), close = _mm256_set1_epi8('}');
    __m256i low_folded = _mm256_or_si256(low, fold), high_folded = _mm256_or_si256(high, fold);
    return (struct masks){
        .quote = avx2_bits(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote)),
        .backslash = avx2_bits(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash)),
        .bracket = avx2_bits(
            _mm256_or_si256(_mm256_cmpeq_epi8(low_folded, open), _mm256_cmpeq_epi8(low_folded, close)),
            _mm256_or_si256(_mm256_cmpeq_epi8(high_folded, open), _mm256_cmpeq_epi8(high_folded, close))),
    };
}
#endif

/* Mask of the bytes escaped by a backslash. *ESCAPED carries over blocks: is the first byte escaped? In a run of
 * backslashes every other one escapes; runs that start at odd offsets are distinguished from those at even ones by
 * adding the start to the run and checking the carry. */
static inline uint64_t escaped_bytes(uint64_t backslash, uint64_t *escaped)
{
    const uint64_t even = UINT64_C(0x5555555555555555);
    if (backslash == 0) {
        uint64_t first = *escaped;
        *escaped = 0;
        return first;
    }
    backslash &= ~*escaped;
    uint64_t follows = backslash << 1 | *escaped;
    uint64_t odd_starts = backslash & ~even & ~follows;
    uint64_t sum = odd_starts + backslash;
    *escaped = sum < backslash; /* a run that extends beyond the block */
    uint64_t invert = sum << 1;
    return (even ^ invert) & follows;
}

/* Bit i of the result: how many bits up to and including i are set, odd or even. */
static inline uint64_t running_xor(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
    return bits;
}

/* Convert the masks of one block to positions. Writes up to 72 positions at OUT, returns how many are valid. */
static inline size_t index_block(struct json_index *index, struct masks masks, uint64_t valid, uint32_t base,
                                 uint32_t *out)
{
    uint64_t quote = masks.quote & ~escaped_bytes(masks.backslash, &index->escaped) & valid;
    uint64_t inside = running_xor(quote) ^ index->in_string;
    index->in_string = (uint64_t)((int64_t)inside >> 63);
    uint64_t bits = quote | (masks.bracket & ~inside & valid);
    size_t count = (size_t)__builtin_popcountll(bits);
    /* Eight at a time without branches: most blocks of a trace hold about that many. */
    for (size_t done = 0; done < count; done += 8) {
        for (int i = 0; i < 8; i++) {
            out[done + (size_t)i] = base + (uint32_t)__builtin_ctzll(bits | UINT64_C(1) << 63);
            bits &= bits - 1;
        }
    }
    return count;
}

#define INDEX_STRETCH(name, scan, attributes)                                                                \
    attributes static void name(struct json_index *index, size_t end)                                        \
    {                                                                                                        \
        size_t at = index->indexed;                                                                          \
        uint32_t *out = index->at + index->count;                                                            \
        uint64_t backslashes = 0;                                                                            \
        for (; at + 64 <= end; at += 64) {                                                                   \
            struct masks masks = scan(index->text + at);                                                     \
            backslashes |= masks.backslash;                                                                  \
            out += index_block(index, masks, ~UINT64_C(0), (uint32_t)at, out);                               \
        }                                                                                                    \
        if (at < end) { /* the last bytes: padding follows them */                                           \
            struct masks masks = scan(index->text + at);                                                     \
            uint64_t valid = ~(~UINT64_C(0) << (end - at));                                                  \
            backslashes |= masks.backslash & valid;                                                          \
            out += index_block(index, masks, valid, (uint32_t)at, out);                                      \
        }                                                                                                    \
        index->count = (size_t)(out - index->at);                                                            \
        index->has_backslash |= backslashes != 0;                                                            \
    }

const char *json_index_instructions(void)
{
#if HAVE_AVX2
    if (__builtin_cpu_supports("avx2"))
        return "AVX2";
#endif
#if HAVE_BYTES16
    return BYTES16_INSTRUCTIONS;
#else
    return "none";
#endif
}

#if HAVE_AVX2
INDEX_STRETCH(index_avx2, scan_avx2, AVX2)
#endif
#if HAVE_BYTES16
INDEX_STRETCH(index_16, scan_16, )
#else
INDEX_STRETCH(index_plain, scan_plain, )
#endif

static void index_stretch(struct json_index *index, size_t end)
{
#if HAVE_AVX2
    if (__builtin_cpu_supports("avx2")) {
        index_avx2(index, end);
        return;
    }
#endif
#if HAVE_BYTES16
    index_16(index, end);
#else
    index_plain(index, end);
#endif
}

static void add_sentinels(struct json_index *index)
{
    for (size_t i = 0; i < JSON_SENTINELS; i++)
        index->at[index->count + i] = (uint32_t)index->indexed;
}

static void reserve(struct json_index *index, size_t more)
{
    size_t need = index->count + more + 72 + JSON_SENTINELS;
    if (need > index->capacity) {
        index->capacity = need + need / 2;
        index->at = mem_realloc(index->at, mem_times(index->capacity, sizeof *index->at));
    }
}

void json_index_start(struct json_index *index, const char *text, size_t len, size_t from)
{
    index->text = text;
    index->len = len;
    index->count = 0;
    index->indexed = from;
    index->stretch = JSON_FIRST_STRETCH;
    index->in_string = 0;
    index->escaped = 0;
    index->has_backslash = false;
    reserve(index, 0);
    add_sentinels(index);
}

bool json_index_more(struct json_index *index)
{
    if (index->indexed >= index->len)
        return false;
    size_t left = index->len - index->indexed;
    size_t size = left < index->stretch ? left : index->stretch;
    if (index->stretch < JSON_STRETCH)
        index->stretch *= 2;
    reserve(index, size);
    size_t end = index->indexed + size;
    index_stretch(index, end);
    index->indexed = end;
    add_sentinels(index);
    return true;
}

void json_index_drop(struct json_index *index, size_t count)
{
    index->count -= count;
    memmove(index->at, index->at + count, (index->count + JSON_SENTINELS) * sizeof *index->at);
}

void json_index_release(struct json_index *index)
{
    free(index->at);
    *index = (struct json_index){ 0 };
}
