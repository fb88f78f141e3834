/* tpafile_bytes.h - numbers as the bytes of a .tpa file: little-endian on every machine. For trace/tpafile*.c. */
#ifndef TPA_TRACE_TPAFILE_BYTES_H
#define TPA_TRACE_TPAFILE_BYTES_H

#include <stdint.h>

/* Write VALUE to the 2, 4 or 8 bytes at AT, or read it from there: all functions of this header. */
static inline void store_u16(unsigned char *at, uint16_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static inline void store_u32(unsigned char *at, uint32_t value)
{
    store_u16(at, (uint16_t)value);
    store_u16(at + 2, (uint16_t)(value >> 16));
}

static inline void store_u64(unsigned char *at, uint64_t value)
{
    store_u32(at, (uint32_t)value);
    store_u32(at + 4, (uint32_t)(value >> 32));
}

static inline uint16_t get_u16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t get_u32(const unsigned char *at)
{
    return get_u16(at) | (uint32_t)get_u16(at + 2) << 16;
}

static inline uint64_t get_u64(const unsigned char *at)
{
    return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

#endif
