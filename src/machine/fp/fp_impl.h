/* The reference's inside: numbers taken apart, one instruction under way, and rounding. Only
 * src/machine/fp includes this. */
#ifndef FP_FP_IMPL_H
#define FP_FP_IMPL_H

#include "machine/fp/fp.h"

__extension__ typedef unsigned __int128 fp_u128;

#define FP_SIGN     (UINT64_C(1) << 63)
#define FP_INFINITY UINT64_C(0x7ff0000000000000)
#define FP_QUIET    (UINT64_C(1) << 51)
#define FP_FRACTION ((UINT64_C(1) << 52) - 1)
#define FP_NAN_SINGLE                                                                              \
    (~UINT64_C(0) << 29) /* what of a NaN survives a single-precision instruction */

/* FPRF: C, then FL FG FE FU. */
enum fp_class {
    FP_CLASS_QNAN = 0x11,
    FP_CLASS_NEG_INF = 0x09,
    FP_CLASS_NEG_NORMAL = 0x08,
    FP_CLASS_NEG_DENORMAL = 0x18,
    FP_CLASS_NEG_ZERO = 0x12,
    FP_CLASS_ZERO = 0x02,
    FP_CLASS_DENORMAL = 0x14,
    FP_CLASS_NORMAL = 0x04,
    FP_CLASS_INF = 0x05,
};

enum fp_kind { FP_KIND_ZERO, FP_KIND_FINITE, FP_KIND_INF, FP_KIND_QNAN, FP_KIND_SNAN };

/* A register taken apart. A finite value is sig * 2^(exp - 63) with bit 63 of sig set, denormals
 * too. */
struct fp_unpacked {
    enum fp_kind kind;
    bool sign;
    int exp;
    uint64_t sig;
};

/* A result before rounding: sig * 2^(exp - 127), bit 127 of sig set; bit 0 of sig also stands for
 * any nonzero tail. sig 0 is zero. */
struct fp_number {
    bool sign;
    int exp;
    fp_u128 sig;
};

enum fp_target { FP_TARGET_DOUBLE, FP_TARGET_SINGLE, FP_TARGET_INTEGER };

/* One instruction under way. Workers leave the result and what it raised; fp_arith does the rest.
 */
struct fp_calc {
    uint32_t before; /* the FPSCR before the instruction: RN and the enable bits are read from it */
    enum fp_target target;
    bool negate_addend;
    bool negate_result;
    uint32_t raised; /* exception bits, FR and FI */
    uint64_t result;
    unsigned fprf; /* 0: FPRF stays as it was */
};

typedef void fp_worker(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c);
fp_worker fp_do_add, fp_do_mul, fp_do_div, fp_do_madd, fp_do_sqrt, fp_do_res, fp_do_rsqrte;
fp_worker fp_do_rsp, fp_do_cfid, fp_do_ctiw, fp_do_ctiwz, fp_do_ctid, fp_do_ctidz;

static inline bool fp_is_nan(uint64_t bits)
{
    return (bits & ~FP_SIGN) > FP_INFINITY;
}
static inline bool fp_is_snan(uint64_t bits)
{
    return fp_is_nan(bits) && !(bits & FP_QUIET);
}

static inline struct fp_unpacked fp_unpack(uint64_t bits)
{
    struct fp_unpacked u = {
        .sign = bits >> 63, .exp = (int)(bits >> 52 & 0x7ff), .sig = bits << 11};
    if (u.exp == 0x7ff) {
        u.kind = !(bits & FP_FRACTION) ? FP_KIND_INF
                 : bits & FP_QUIET     ? FP_KIND_QNAN
                                       : FP_KIND_SNAN;
    } else if (u.exp) {
        u.kind = FP_KIND_FINITE;
        u.sig |= FP_SIGN;
        u.exp -= 1023;
    } else if (u.sig) {
        int zeros = __builtin_clzll(u.sig);
        u.kind = FP_KIND_FINITE;
        u.sig <<= zeros;
        u.exp = -1022 - zeros;
    }
    return u;
}

/* x / 2^shift with every lost bit gathered in bit 0. */
static inline fp_u128 fp_shift_right_jam(fp_u128 x, unsigned shift)
{
    if (!shift) return x;
    if (shift > 127) return x != 0;
    return x >> shift | ((x << (128 - shift)) != 0);
}

/* Whether rounding in mode rn moves a magnitude up, given its last kept bit and the lost part: 0
 * nothing, 1 below a half, 2 a half, 3 above. */
bool fp_rounds_up(unsigned rn, bool sign, bool odd, unsigned lost);

/* Ends a worker: the rounded number, an exact zero or infinity, a NaN. */
void fp_give_number(struct fp_calc *calc, struct fp_number x);
void fp_give_zero(struct fp_calc *calc, bool sign);
void fp_give_infinity(struct fp_calc *calc, bool sign);
void fp_give_invalid(struct fp_calc *calc, uint32_t cause); /* the generated QNaN */
/* If an operand is a NaN, gives the first one, quiet, in the order of the arguments, and returns
 * true. */
bool fp_give_nan(struct fp_calc *calc, uint64_t first, uint64_t second, uint64_t third);

#endif
