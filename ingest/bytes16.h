/*
 * bytes16.h - operations on 16 bytes of text at once: by SSE2 on x86, by NEON on 64-bit ARM.
 *
 * HAVE_BYTES16 is 0 without either; the includer then uses plain C. Operations work byte by byte on two vectors. A
 * comparison gives 0xff for true. Masks have one bit per byte, the first byte in the lowest bit.
 *
 *     bytes16_load(at)       the 16 bytes at AT, of any alignment
 *     bytes16_all(c)         16 times C
 *     bytes16_equal(a, b)    is a == b?        bytes16_at_most(a, b)    is a <= b, without sign?
 *     bytes16_or(a, b)       a | b             bytes16_minus(a, b)      a - b, which wraps
 *     bytes16_mask(v)        the highest bit of each byte, 16 bits
 *     bytes16_mask_of_4(v)   the same of four vectors, 64 bits
 */
#ifndef TPA_INGEST_BYTES16_H
#define TPA_INGEST_BYTES16_H

#include <stdint.h>

#if defined(__SSE2__)
#define HAVE_BYTES16 1
#define BYTES16_INSTRUCTIONS "SSE2"
#include <emmintrin.h>

typedef __m128i bytes16;

static inline bytes16 bytes16_load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline bytes16 bytes16_all(char c)
{
    return _mm_set1_epi8(c);
}

static inline bytes16 bytes16_equal(bytes16 a, bytes16 b)
{
    return _mm_cmpeq_epi8(a, b);
}

static inline bytes16 bytes16_or(bytes16 a, bytes16 b)
{
    return _mm_or_si128(a, b);
}

static inline bytes16 bytes16_minus(bytes16 a, bytes16 b)
{
    return _mm_sub_epi8(a, b);
}

/* Unsigned. */
static inline bytes16 bytes16_at_most(bytes16 a, bytes16 b)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(a, b), a);
}

static inline unsigned bytes16_mask(bytes16 v)
{
    return (unsigned)_mm_movemask_epi8(v);
}

static inline uint64_t bytes16_mask_of_4(const bytes16 v[4])
{
    return bytes16_mask(v[0]) | (uint64_t)bytes16_mask(v[1]) << 16 | (uint64_t)bytes16_mask(v[2]) << 32 |
           (uint64_t)bytes16_mask(v[3]) << 48;
}

#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HAVE_BYTES16 1
#define BYTES16_INSTRUCTIONS "NEON"
#include <arm_neon.h>

typedef uint8x16_t bytes16;

static inline bytes16 bytes16_load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

static inline bytes16 bytes16_all(char c)
{
    return vdupq_n_u8((uint8_t)c);
}

static inline bytes16 bytes16_equal(bytes16 a, bytes16 b)
{
    return vceqq_u8(a, b);
}

static inline bytes16 bytes16_or(bytes16 a, bytes16 b)
{
    return vorrq_u8(a, b);
}

static inline bytes16 bytes16_minus(bytes16 a, bytes16 b)
{
    return vsubq_u8(a, b);
}

static inline bytes16 bytes16_at_most(bytes16 a, bytes16 b)
{
    return vcleq_u8(a, b);
}

/* NEON has no movemask: each byte keeps the bit of its place among 8, and neighbours are added up three times. */
static inline bytes16 bytes16_own_bits(bytes16 v)
{
    static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    return vandq_u8(v, vld1q_u8(bits));
}

static inline uint64_t bytes16_mask_of_4(const bytes16 v[4])
{
    bytes16 low = vpaddq_u8(bytes16_own_bits(v[0]), bytes16_own_bits(v[1]));
    bytes16 high = vpaddq_u8(bytes16_own_bits(v[2]), bytes16_own_bits(v[3]));
    bytes16 all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline unsigned bytes16_mask(bytes16 v)
{
    bytes16 sums = bytes16_own_bits(v);
    sums = vpaddq_u8(sums, sums);
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(sums, sums)), 0);
}

#else
#define HAVE_BYTES16 0
#endif

#endif
