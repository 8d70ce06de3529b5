/* Operands, FPSCRs and counts for the tests of src/machine/fp.
 *
 * Operands are made, not only drawn: specials, limits of both formats, halfway cases, near
 * cancellation. The generator is seeded by each test, so that a failure repeats.
 * CHILIAD_TEST_LENGTH is short, quick (the default) or long.
 */
#ifndef TESTS_FP_OPERANDS_H
#define TESTS_FP_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine/fp/fp.h"
#include "machine/fp/fp_fast.h"

#define SIGN      (UINT64_C(1) << 63)
#define INFINITE  UINT64_C(0x7ff0000000000000)
#define QUIET     (UINT64_C(1) << 51)
#define ONE       UINT64_C(0x3ff0000000000000)
#define TWO       UINT64_C(0x4000000000000000)
#define MAX       UINT64_C(0x7fefffffffffffff)
#define MIN       UINT64_C(0x0010000000000000)
#define SNAN_A    UINT64_C(0x7ff4dead12345678)
#define QNAN_A    UINT64_C(0xfffcbeefcafe1234)
#define QNAN_B    UINT64_C(0x7ff8000055555555)
#define UNTOUCHED UINT64_C(0x5ca1ab1e0ddba11)

#define FPRF(code) (UINT32_C(code) << FP_FPRF_SHIFT)
#define FPRF_QNAN  FPRF(0x11)

/* Counts for the three lengths. */
static inline size_t times(size_t quick)
{
    const char *length = getenv("CHILIAD_TEST_LENGTH");
    if (length && strcmp(length, "short") == 0) return quick / 10;
    if (length && strcmp(length, "long") == 0) return quick * 40;
    return quick;
}

static uint64_t random_state;

static inline uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline unsigned random_below(unsigned n)
{
    return (unsigned)(random_bits() >> 32) % n;
}

static const uint64_t specials[] = {
    0,
    1,
    2,
    MIN - 1,
    MIN,
    MIN + 1,
    2 * MIN,
    MAX,
    MAX - 1,
    INFINITE,
    SNAN_A,
    QNAN_A,
    QNAN_B,
    INFINITE + 1,
    INFINITE | (UINT64_C(1) << 29),
    FP_QNAN,
    ONE,
    ONE + 1,
    ONE - 1,
    TWO,
    UINT64_C(0x3fe0000000000000),
    UINT64_C(0x3ff8000000000000),
    UINT64_C(0x4330000000000000) /* 2^52 */,
    UINT64_C(0x4330000000000001),
    /* single: 2^-150, 2^-149, below and at 2^-126, the largest, and from where it rounds to
       infinity */
    UINT64_C(0x3690000000000000),
    UINT64_C(0x36a0000000000000),
    UINT64_C(0x380fffffc0000000),
    UINT64_C(0x380fffffe0000000),
    UINT64_C(0x380fffffffffffff),
    UINT64_C(0x3810000000000000),
    UINT64_C(0x47efffffe0000000),
    UINT64_C(0x47efffffefffffff),
    UINT64_C(0x47effffff0000000),
    UINT64_C(0x47f0000000000000),
    /* integers: 2^31 - 1, with a half, 2^31, with a half, 2^63 */
    UINT64_C(0x41dfffffffc00000),
    UINT64_C(0x41dfffffffe00000),
    UINT64_C(0x41e0000000000000),
    UINT64_C(0x41e0000000100000),
    UINT64_C(0x43e0000000000000),
    UINT64_C(0x43dfffffffffffff),
    UINT64_C(0x7fffffffffffffff),
};
enum { SPECIALS = sizeof specials / sizeof specials[0] };

/* A fraction with few bits, or close below a power of two, or with the bits that make singles tie.
 */
static inline uint64_t random_fraction(void)
{
    uint64_t x = random_bits() >> 12;
    switch (random_below(7)) {
    case 0: return x & ~UINT64_C(0) << (40 + random_below(12));
    case 1: return x & ~UINT64_C(0) << 29;
    case 2: return (x & ~UINT64_C(0) << 29) | 0x10000000;
    case 3: return (x & ~UINT64_C(0) << 29) | (0xfffffff + random_below(3));
    case 4: return (x >> random_below(52)) ^ (x & 1 ? UINT64_C(0xfffffffffffff) : 0);
    default: return x;
    }
}

/* An operand on its own, or related to one before. */
static inline uint64_t operand(uint64_t before)
{
    static const int exponents[] = {0,    1,    30,   500,  873,  874,  897,  898,
                                    1000, 1023, 1050, 1086, 1150, 1151, 1500, 2046};
    uint64_t sign = random_bits() & SIGN;
    uint64_t exponent;
    switch (random_below(10)) {
    case 0: return sign | specials[random_below(SPECIALS)];
    case 1: return sign ^ (before + random_below(5) - 2);
    case 2: exponent = (before >> 52 & 0x7ff) + random_below(7) - 3; break;
    case 3: exponent = (before >> 52 & 0x7ff) + random_below(120) - 60; break;
    case 4: exponent = (uint64_t)exponents[random_below(16)] + random_below(3); break;
    case 5:
        exponent = (before >> 52 & 0x7ff) + (random_bits() & 1 ? 54 : 25) + random_below(3) - 1;
        break;
    case 6: return random_bits();
    case 7: exponent = 897 + random_below(253); break;
    default: exponent = 1013 + random_below(20); break;
    }
    return sign | (exponent & 0x7ff) << 52 | random_fraction();
}

static inline void random_operands(uint64_t f[3])
{
    f[0] = operand(ONE);
    f[1] = operand(f[0]);
    f[2] = operand(random_bits() & 1 ? f[0] : f[1]);
    if (random_below(4) == 0) {
        /* fmadd near cancellation: b close to -a*c */
        f[1] = fp_from_host(fp_to_host(f[0]) * fp_to_host(f[2])) ^ (random_bits() & SIGN);
        f[1] += random_below(3) - 1;
    }
    if (random_below(12) == 0) {
        for (int i = 0; i < 3; i++)
            f[i] = specials[random_below(SPECIALS)] ^ (random_bits() & SIGN);
        return;
    }
    if (random_below(16) == 0) {
        /* fres near a tie of singles */
        uint64_t tie = ((random_bits() >> 12) & ~UINT64_C(0) << 29) | 0x10000000;
        f[1] = fp_from_host(1.0 / fp_to_host((UINT64_C(950) + random_below(150)) << 52 | tie));
        return;
    }
    if (random_below(3) == 0) {
        for (int i = 0; i < 3; i++)
            f[i] &= ~UINT64_C(0) << 29;
    }
}

static inline uint32_t random_fpscr(void)
{
    uint32_t fpscr = (uint32_t)random_bits();
    if (random_below(2)) fpscr &= ~(FP_VE | FP_OE | FP_UE | FP_ZE | FP_XE);
    if (random_below(2)) fpscr &= ~FP_EXCEPTIONS | FP_XX;
    if (random_below(3)) fpscr &= ~FP_RN;
    return fp_summarise(fpscr);
}

static inline uint64_t bits_of(double x)
{
    return fp_from_host(x);
}

#endif
