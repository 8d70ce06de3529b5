/* Masks and small arithmetic on powers of two, in one place. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>

static inline uint64_t bits_mask64(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static inline uint64_t bits_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* The smallest n with 2^n >= value. */
static inline unsigned bits_ceil_log2(uint64_t value)
{
    return value <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(value - 1);
}

#endif
