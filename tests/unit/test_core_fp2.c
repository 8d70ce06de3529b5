/* The two-pipe FPU: all 73 FP2 instructions, run by the core, against an oracle that shares nothing
 * with src/machine/fp.
 *
 * The oracle. What each half computes is typed here as a formula over AP AS BP BS CP CS, copied
 * from facts/fp2_isa.csv and not from src/machine/core. A formula is evaluated exactly: a double is
 * an integer times a power of two, so a product and a sum are whole numbers of 67 limbs with a
 * fixed point; rounding, FPSCR bits and adjusted exponents are then read off that number by the
 * manual's rules. Words are assembled here from the CSV's opcode numbers.
 *
 * What the CSV leaves open and docs/model.md and docs/fp.md decide: both halves are computed from
 * the old registers, the secondary first; FPRF, FR, FI describe the primary; sticky bits come from
 * both; an enabled exception of one half suppresses that half alone. fpre is 1/b rounded to single,
 * fprsqrte the rounded quotient of the rounded root.
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/core/core.h"
#include "machine/isa/isa.h"
#include "random.h"
#include "rig_machine.h"
#include "rig_registers.h"

__extension__ typedef unsigned __int128 u128;

/* ---- The FPSCR, by the manual's bit numbers. */

#define BIT(n)      (UINT32_C(0x80000000) >> (n))
#define FX          BIT(0)
#define FEX         BIT(1)
#define VX          BIT(2)
#define OX          BIT(3)
#define UX          BIT(4)
#define ZX          BIT(5)
#define XX          BIT(6)
#define VXSNAN      BIT(7)
#define VXISI       BIT(8)
#define VXIMZ       BIT(11)
#define FR          BIT(13)
#define FI          BIT(14)
#define FPRF        UINT32_C(0x0001F000)
#define FPCC        UINT32_C(0x0000F000)
#define RESERVED    BIT(20)
#define VXSQRT      BIT(22)
#define VXCVI       BIT(23)
#define VE          BIT(24)
#define OE          BIT(25)
#define UE          BIT(26)
#define ZE          BIT(27)
#define XE          BIT(28)
#define RN          UINT32_C(3)
#define ENABLES     (VE | OE | UE | ZE | XE)
#define VX_CAUSES   (UINT32_C(0x01F80000) | UINT32_C(0x00000700))
#define EXCEPTIONS  (OX | UX | ZX | XX | VX_CAUSES)
#define SIGN        (UINT64_C(1) << 63)
#define INFINITE    UINT64_C(0x7FF0000000000000)
#define QUIET       (UINT64_C(1) << 51)
#define MADE_QNAN   UINT64_C(0x7FF8000000000000)
#define SINGLE_PART (~UINT64_C(0x1FFFFFFF)) /* of a NaN's payload */

static uint32_t summarised(uint32_t f)
{
    f &= ~(FEX | VX | RESERVED);
    if (f & VX_CAUSES) f |= VX;
    if ((f & VX && f & VE) || (f & OX && f & OE) || (f & UX && f & UE) || (f & ZX && f & ZE) ||
        (f & XX && f & XE))
        f |= FEX;
    return f;
}

/* What one half of an instruction gives. */
struct outcome {
    uint64_t value;
    uint32_t raised; /* exceptions, FR, FI */
    int fprf;        /* -1: FPRF stays */
};

/* The instruction ends: status into the FPSCR. Returns whether the target is written. */
static bool finish(uint32_t *fpscr, struct outcome o)
{
    bool suppressed = (o.raised & VX_CAUSES && *fpscr & VE) || (o.raised & ZX && *fpscr & ZE);
    uint32_t risen = o.raised & EXCEPTIONS & ~*fpscr;
    uint32_t f = (*fpscr & ~(FR | FI)) | o.raised | (risen ? FX : 0);
    if (suppressed) f &= ~(FR | FI);
    if (!suppressed && o.fprf >= 0) f = (f & ~FPRF) | (uint32_t)o.fprf << 12;
    *fpscr = summarised(f);
    return !suppressed;
}

/* ---- Exact numbers: bit i of the magnitude is worth 2^(i - POINT). */

enum { LIMBS = 67, POINT = 2200 };

struct wide {
    bool negative;
    uint64_t limb[LIMBS];
};

static struct wide wide_of(bool negative, u128 magnitude, int exponent)
{
    struct wide w = {.negative = negative};
    unsigned at = (unsigned)(exponent + POINT), low = at % 64;
    w.limb[at / 64] = (uint64_t)(magnitude << low);
    w.limb[at / 64 + 1] = (uint64_t)(low ? magnitude >> (64 - low) : magnitude >> 64);
    w.limb[at / 64 + 2] = low ? (uint64_t)(magnitude >> 64 >> (64 - low)) : 0;
    return w;
}

static int compare_magnitudes(const struct wide *x, const struct wide *y)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (x->limb[i] != y->limb[i]) return x->limb[i] < y->limb[i] ? -1 : 1;
    return 0;
}

/* The sign of a zero sum is the caller's business. */
static struct wide wide_sum(struct wide x, struct wide y)
{
    if (compare_magnitudes(&x, &y) < 0) {
        struct wide z = x;
        x = y;
        y = z;
    }
    bool subtract = x.negative != y.negative;
    u128 carry = subtract;
    for (int i = 0; i < LIMBS; i++) {
        carry += (u128)x.limb[i] + (subtract ? ~y.limb[i] : y.limb[i]);
        x.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return x;
}

/* The exponent of the first one; INT32_MIN for zero. */
static int wide_exponent(const struct wide *w)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (w->limb[i]) return 64 * i + 63 - __builtin_clzll(w->limb[i]) - POINT;
    return INT32_MIN;
}

static unsigned wide_bit(const struct wide *w, int exponent)
{
    int at = exponent + POINT;
    return at < 0 || at >= 64 * LIMBS ? 0 : w->limb[at / 64] >> (at % 64) & 1;
}

static bool ones_below(const struct wide *w, int exponent)
{
    for (int e = exponent - 1; e >= -POINT && (e + POINT) % 64 != 63; e--)
        if (wide_bit(w, e)) return true;
    for (int i = (exponent + POINT) / 64 - 1; i >= 0; i--)
        if (w->limb[i]) return true;
    return false;
}

/* ---- Formats. */

static bool is_nan(uint64_t x)
{
    return (x & ~SIGN) > INFINITE;
}

static bool is_snan(uint64_t x)
{
    return is_nan(x) && !(x & QUIET);
}

static bool is_infinite(uint64_t x)
{
    return (x & ~SIGN) == INFINITE;
}

static bool is_zero(uint64_t x)
{
    return (x & ~SIGN) == 0;
}

static double number_of(uint64_t x)
{
    double d;
    memcpy(&d, &x, sizeof d);
    return d;
}

static uint64_t bits_of(double d)
{
    uint64_t x;
    memcpy(&x, &d, sizeof x);
    return x;
}

/* A finite number as integer and exponent. */
static uint64_t integer_part(uint64_t x, int *exponent)
{
    int field = (int)(x >> 52 & 0x7FF);
    *exponent = (field ? field : 1) - 1075;
    return (x & ((UINT64_C(1) << 52) - 1)) | (field ? UINT64_C(1) << 52 : 0);
}

struct format {
    int precision, least, most,
        adjust; /* exponents of the least and largest normal number; of enabled exceptions */
};
static const struct format to_double = {53, -1022, 1023, 1536}, to_single = {24, -126, 127, 192};

static struct outcome give_zero(bool negative)
{
    return (struct outcome){negative ? SIGN : 0, 0, negative ? 0x12 : 0x02};
}

static struct outcome give_infinity(bool negative)
{
    return (struct outcome){INFINITE | (negative ? SIGN : 0), 0, negative ? 0x09 : 0x05};
}

static struct outcome give_invalid(uint32_t cause)
{
    return (struct outcome){MADE_QNAN, cause, 0x11};
}

/* Whether the magnitude goes up, from the manual's table of rounding modes. */
static bool goes_up(unsigned mode, bool negative, bool odd, bool half, bool rest)
{
    switch (mode) {
    case 0: return half && (rest || odd);
    case 1: return false;
    case 2: return !negative && (half || rest);
    default: return negative && (half || rest);
    }
}

/* Rounds a number that is not zero. */
static struct outcome rounded(struct wide w, const struct format *to, uint32_t fpscr)
{
    struct outcome o = {0};
    int exponent = wide_exponent(&w);
    bool tiny = exponent < to->least;
    int last = (tiny && !(fpscr & UE) ? to->least : exponent) -
               (to->precision - 1); /* exponent of the last bit kept */
    uint64_t kept = 0;
    for (int e = exponent; e >= last; e--)
        kept = kept << 1 | wide_bit(&w, e);
    bool half = wide_bit(&w, last - 1), rest = ones_below(&w, last - 1);
    bool inexact = half || rest, up = goes_up(fpscr & RN, w.negative, kept & 1, half, rest);
    kept += up;
    if (kept >> to->precision) kept >>= 1, last++;
    bool huge = kept >> (to->precision - 1) && last + to->precision - 1 > to->most;
    bool denormal = kept && !(kept >> (to->precision - 1));
    if (tiny && fpscr & UE) o.raised |= UX, last += to->adjust;
    if (tiny && !(fpscr & UE) && inexact) o.raised |= UX;
    if (huge) o.raised |= OX;
    if (huge && !(fpscr & OE)) {
        bool infinite = (fpscr & RN) == 0 || (fpscr & RN) == (w.negative ? 3 : 2);
        struct outcome limit = give_infinity(w.negative);
        if (!infinite) { /* the largest number */
            limit.value = bits_of(
                ldexp((double)((UINT64_C(1) << to->precision) - 1), to->most - to->precision + 1));
            limit.value |= w.negative ? SIGN : 0;
            limit.fprf = w.negative ? 0x08 : 0x04;
        }
        limit.raised = OX | XX | FI | (infinite ? FR : 0);
        return limit;
    }
    if (huge) last -= to->adjust;
    if (inexact) o.raised |= XX | FI | (up ? FR : 0);
    if (!kept) {
        struct outcome zero = give_zero(w.negative);
        zero.raised = o.raised;
        return zero;
    }
    o.value = bits_of(ldexp((double)kept, last)) | (w.negative ? SIGN : 0);
    o.fprf = denormal ? (w.negative ? 0x18 : 0x14) : w.negative ? 0x08 : 0x04;
    return o;
}

/* ---- Operations. An absent operand is NULL. */

/* The first NaN of frA, frB, frC, quiet. */
static bool give_nan(struct outcome *o, const uint64_t *a, const uint64_t *b, const uint64_t *c)
{
    const uint64_t *const operands[] = {a, b, c};
    const uint64_t *first = NULL;
    *o = (struct outcome){.fprf = 0x11};
    for (int i = 0; i < 3; i++) {
        if (!operands[i] || !is_nan(*operands[i])) continue;
        if (!first) first = operands[i];
        if (is_snan(*operands[i])) o->raised |= VXSNAN;
    }
    if (first) o->value = *first | QUIET;
    return first;
}

/* (a * c) + b, or what is there of it; the result negated after rounding if `negate`. */
static struct outcome fused(const uint64_t *a, const uint64_t *c, const uint64_t *b, bool negate_b,
                            bool negate, uint32_t fpscr)
{
    struct outcome o;
    static const uint64_t one = UINT64_C(0x3FF0000000000000);
    uint64_t x = *a, y = c ? *c : one, z = b ? *b ^ (negate_b ? SIGN : 0) : 0;
    bool product_negative = (x ^ y) >> 63, z_negative = z >> 63;
    bool infinity_times_zero = (is_infinite(x) && is_zero(y)) || (is_zero(x) && is_infinite(y));
    if (give_nan(&o, a, b, c)) {
        if (infinity_times_zero) o.raised |= VXIMZ;
        return o;
    }
    if (infinity_times_zero) return give_invalid(VXIMZ);
    bool product_infinite = is_infinite(x) || is_infinite(y);
    if (product_infinite && b && is_infinite(z) && product_negative != z_negative)
        return give_invalid(VXISI);
    if (product_infinite || (b && is_infinite(z))) {
        o = give_infinity(product_infinite ? product_negative : z_negative);
    } else {
        int ex, ey, ez;
        uint64_t mx = integer_part(x, &ex), my = integer_part(y, &ey), mz = integer_part(z, &ez);
        struct wide w = wide_of(product_negative, (u128)mx * my, ex + ey);
        if (b) w = wide_sum(w, wide_of(z_negative, mz, ez));
        if (wide_exponent(&w) != INT32_MIN)
            o = rounded(w, &to_double, fpscr);
        else if (!b || product_negative == z_negative) /* a zero product, or zeros of one sign */
            o = give_zero(product_negative);
        else
            o = give_zero((fpscr & RN) == 3);
    }
    if (negate) {
        static const uint8_t other[32] = {
            [0x02] = 0x12, [0x12] = 0x02, [0x04] = 0x08, [0x08] = 0x04,
            [0x14] = 0x18, [0x18] = 0x14, [0x05] = 0x09, [0x09] = 0x05};
        o.value ^= SIGN;
        o.fprf = other[o.fprf];
    }
    return o;
}

static struct outcome round_to_single(const uint64_t *b, uint32_t fpscr)
{
    struct outcome o;
    int exponent;
    if (give_nan(&o, NULL, b, NULL)) {
        o.value &= SINGLE_PART;
        return o;
    }
    if (is_infinite(*b)) return give_infinity(*b >> 63);
    if (is_zero(*b)) return give_zero(*b >> 63);
    uint64_t m = integer_part(*b, &exponent);
    return rounded(wide_of(*b >> 63, m, exponent), &to_single, fpscr);
}

static struct outcome reciprocal(const uint64_t *b, uint32_t fpscr)
{
    struct outcome o;
    int exponent;
    if (give_nan(&o, NULL, b, NULL)) {
        o.value &= SINGLE_PART;
        return o;
    }
    if (is_infinite(*b)) return give_zero(*b >> 63);
    if (is_zero(*b)) {
        o = give_infinity(*b >> 63);
        o.raised = ZX;
        return o;
    }
    uint64_t m = integer_part(*b, &exponent);
    u128 q = ((u128)1 << 120) / m;
    u128 doubled = q << 1 | (q * m != (u128)1 << 120); /* the last bit stands for the remainder */
    o = rounded(wide_of(*b >> 63, doubled, -121 - exponent), &to_single, fpscr);
    o.raised &= ~(XX | FR | FI);
    return o;
}

static struct outcome reciprocal_root(const uint64_t *b, uint32_t fpscr)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    struct outcome o;
    if (give_nan(&o, NULL, b, NULL)) return o;
    if (is_zero(*b)) {
        o = give_infinity(*b >> 63);
        o.raised = ZX;
        return o;
    }
    if (*b >> 63) return give_invalid(VXSQRT);
    if (is_infinite(*b)) return give_zero(false);
    fesetround(modes[fpscr & RN]);
    volatile double x = number_of(*b), one = 1;
    volatile double root = sqrt(x);
    volatile double estimate = one / root;
    fesetround(FE_TONEAREST);
    return (struct outcome){bits_of(estimate), 0, 0x04};
}

static struct outcome to_integer(const uint64_t *b, unsigned mode)
{
    struct outcome o = {.fprf = -1};
    if (is_nan(*b) || is_infinite(*b) || fabs(number_of(*b)) > 4294967296.0) {
        bool low = is_nan(*b) || *b >> 63;
        o.raised = VXCVI | (is_snan(*b) ? VXSNAN : 0);
        o.value = low ? UINT64_C(0xFFFFFFFF80000000) : UINT64_C(0x7FFFFFFF);
        return o;
    }
    double x = number_of(*b), below = floor(x), above = ceil(x), result = below;
    if (mode == 2 || (mode == 1 && x < 0)) result = above;
    if (mode == 0 && (x - below > 0.5 || (x - below == 0.5 && fmod(below, 2) != 0))) result = above;
    if (result > INT32_MAX || result < INT32_MIN) {
        o.raised = VXCVI;
        o.value = result < 0 ? UINT64_C(0xFFFFFFFF80000000) : UINT64_C(0x7FFFFFFF);
        return o;
    }
    o.value = (uint64_t)(int64_t)result;
    if (result != x) o.raised = XX | FI | (fabs(result) > fabs(x) ? FR : 0);
    return o;
}

/* ---- The instructions. Formulas as facts/fp2_isa.csv has them; "=" leaves the half alone. */

struct instruction {
    const char *name;
    unsigned primary, extended;
    char form; /* A, X */
    enum core_signal class;
    const char *primary_half, *secondary_half;
};

#define MUL  CORE_SIGNAL_FP_MULT_PAIR
#define ADD  CORE_SIGNAL_FP_ADD_PAIR
#define FMA  CORE_SIGNAL_FP_FMA_PAIR
#define DUAL CORE_SIGNAL_FP_OTHER_PAIR
#define OTHER                                                                                      \
    CORE_SIGNAL_FP_OTHER /* the CSV: "single- or dual-pipe class not stated"; docs/isa.md decides  \
                          */

static const struct instruction instructions[] = {
    {"fpsel", 0, 5, 'A', DUAL, "sel(AP,CP,BP)", "sel(AS,CS,BS)"},
    {"fpmul", 0, 8, 'A', MUL, "AP*CP", "AS*CS"},
    {"fxmul", 0, 9, 'A', MUL, "AS*CP", "AP*CS"},
    {"fxpmul", 0, 10, 'A', MUL, "AP*CP", "AP*CS"},
    {"fxsmul", 0, 11, 'A', MUL, "AS*CP", "AS*CS"},
    {"fpadd", 0, 12, 'A', ADD, "AP+BP", "AS+BS"},
    {"fpsub", 0, 13, 'A', ADD, "AP-BP", "AS-BS"},
    {"fpre", 0, 14, 'A', DUAL, "re(BP)", "re(BS)"},
    {"fprsqrte", 0, 15, 'A', DUAL, "rsqrte(BP)", "rsqrte(BS)"},
    {"fpmadd", 0, 16, 'A', FMA, "AP*CP+BP", "AS*CS+BS"},
    {"fxmadd", 0, 17, 'A', FMA, "AS*CP+BP", "AP*CS+BS"},
    {"fxcpmadd", 0, 18, 'A', FMA, "AP*CP+BP", "AP*CS+BS"},
    {"fxcsmadd", 0, 19, 'A', FMA, "AS*CP+BP", "AS*CS+BS"},
    {"fpnmadd", 0, 20, 'A', FMA, "-(AP*CP+BP)", "-(AS*CS+BS)"},
    {"fxnmadd", 0, 21, 'A', FMA, "-(AS*CP+BP)", "-(AP*CS+BS)"},
    {"fxcpnmadd", 0, 22, 'A', FMA, "-(AP*CP+BP)", "-(AP*CS+BS)"},
    {"fxcsnmadd", 0, 23, 'A', FMA, "-(AS*CP+BP)", "-(AS*CS+BS)"},
    {"fpmsub", 0, 24, 'A', FMA, "AP*CP-BP", "AS*CS-BS"},
    {"fxmsub", 0, 25, 'A', FMA, "AS*CP-BP", "AP*CS-BS"},
    {"fxcpmsub", 0, 26, 'A', FMA, "AP*CP-BP", "AP*CS-BS"},
    {"fxcsmsub", 0, 27, 'A', FMA, "AS*CP-BP", "AS*CS-BS"},
    {"fpnmsub", 0, 28, 'A', FMA, "-(AP*CP-BP)", "-(AS*CS-BS)"},
    {"fxnmsub", 0, 29, 'A', FMA, "-(AS*CP-BP)", "-(AP*CS-BS)"},
    {"fxcpnmsub", 0, 30, 'A', FMA, "-(AP*CP-BP)", "-(AP*CS-BS)"},
    {"fxcsnmsub", 0, 31, 'A', FMA, "-(AS*CP-BP)", "-(AS*CS-BS)"},
    {"fxcpnpma", 4, 24, 'A', FMA, "-(AP*CP-BP)", "AP*CS+BS"},
    {"fxcsnpma", 4, 25, 'A', FMA, "-(AS*CP-BP)", "AS*CS+BS"},
    {"fxcpnsma", 4, 26, 'A', FMA, "AP*CP+BP", "-(AP*CS-BS)"},
    {"fxcsnsma", 4, 27, 'A', FMA, "AS*CP+BP", "-(AS*CS-BS)"},
    {"fxcxma", 4, 28, 'A', FMA, "AS*CS+BP", "AS*CP+BS"},
    {"fxcxnpma", 4, 29, 'A', FMA, "-(AS*CS-BP)", "AS*CP+BS"},
    {"fxcxnsma", 4, 30, 'A', FMA, "AS*CS+BP", "-(AS*CP-BS)"},
    {"fxcxnms", 4, 31, 'A', FMA, "-(AS*CS-BP)", "-(AS*CP-BS)"},
    {"fpmr", 0, 32, 'X', DUAL, "BP", "BS"},
    {"fpabs", 0, 96, 'X', DUAL, "|BP|", "|BS|"},
    {"fpneg", 0, 160, 'X', DUAL, "-BP", "-BS"},
    {"fprsp", 0, 192, 'X', DUAL, "rsp(BP)", "rsp(BS)"},
    {"fpnabs", 0, 224, 'X', DUAL, "-|BP|", "-|BS|"},
    {"fsmr", 0, 288, 'X', OTHER, "=", "BS"},
    {"fscmp", 0, 320, 'X', OTHER, "=", "cmp(AS,BS)"},
    {"fsabs", 0, 352, 'X', OTHER, "=", "|BS|"},
    {"fsneg", 0, 416, 'X', OTHER, "=", "-BS"},
    {"fsnabs", 0, 480, 'X', OTHER, "=", "-|BS|"},
    {"fxmr", 0, 544, 'X', DUAL, "BS", "BP"},
    {"fpctiw", 0, 576, 'X', DUAL, "ctiw(BP)", "ctiw(BS)"},
    {"fpctiwz", 0, 704, 'X', DUAL, "ctiwz(BP)", "ctiwz(BS)"},
    {"fsmtp", 0, 800, 'X', OTHER, "BS", "="},
    {"fsmfp", 0, 928, 'X', OTHER, "=", "BP"},
};
enum { INSTRUCTIONS = sizeof instructions / sizeof instructions[0] };

/* Loads and stores, primary opcode 31. Pieces: half, kind (s single, d double, w low word) and
 * offset, in order. */
struct transfer {
    const char *name;
    unsigned extended;
    bool update, store, quad;
    enum core_signal class;
    unsigned bytes;
    const char *pieces;
};

#define LOAD1  CORE_SIGNAL_FP_LOAD_SINGLE
#define LOAD2  CORE_SIGNAL_FP_LOAD_DOUBLE
#define LOAD4  CORE_SIGNAL_FP_LOAD_QUAD
#define STORE1 CORE_SIGNAL_FP_STORE_SINGLE
#define STORE2 CORE_SIGNAL_FP_STORE_DOUBLE
#define STORE4 CORE_SIGNAL_FP_STORE_QUAD

static const struct transfer transfers[] = {
    {"lfssx", 142, false, false, false, LOAD1, 4, "Ss0"},
    {"lfssux", 174, true, false, false, LOAD1, 4, "Ss0"},
    {"lfsdx", 206, false, false, false, LOAD2, 8, "Sd0"},
    {"lfsdux", 238, true, false, false, LOAD2, 8, "Sd0"},
    {"lfxsx", 270, false, false, false, LOAD2, 8, "Ss0Ps4"},
    {"lfxsux", 302, true, false, false, LOAD2, 8, "Ss0Ps4"},
    {"lfxdx", 334, false, false, true, LOAD4, 16, "Sd0Pd8"},
    {"lfxdux", 366, true, false, true, LOAD4, 16, "Sd0Pd8"},
    {"lfpsx", 398, false, false, false, LOAD2, 8, "Ps0Ss4"},
    {"lfpsux", 430, true, false, false, LOAD2, 8, "Ps0Ss4"},
    {"lfpdx", 462, false, false, true, LOAD4, 16, "Pd0Sd8"},
    {"lfpdux", 494, true, false, true, LOAD4, 16, "Pd0Sd8"},
    {"stfpiwx", 526, false, true, false, STORE2, 8, "Pw0Sw4"},
    {"stfssx", 654, false, true, false, STORE1, 4, "Ss0"},
    {"stfssux", 686, true, true, false, STORE1, 4, "Ss0"},
    {"stfsdx", 718, false, true, false, STORE2, 8, "Sd0"},
    {"stfsdux", 750, true, true, false, STORE2, 8, "Sd0"},
    {"stfxsx", 782, false, true, false, STORE2, 8, "Ss0Ps4"},
    {"stfxsux", 814, true, true, false, STORE2, 8, "Ss0Ps4"},
    {"stfxdx", 846, false, true, true, STORE4, 16, "Sd0Pd8"},
    {"stfxdux", 878, true, true, true, STORE4, 16, "Sd0Pd8"},
    {"stfpsx", 910, false, true, false, STORE2, 8, "Ps0Ss4"},
    {"stfpsux", 942, true, true, false, STORE2, 8, "Ps0Ss4"},
    {"stfpdx", 974, false, true, true, STORE4, 16, "Pd0Sd8"},
    {"stfpdux", 1006, true, true, true, STORE4, 16, "Pd0Sd8"},
};
enum { TRANSFERS = sizeof transfers / sizeof transfers[0] };

_Static_assert(INSTRUCTIONS + TRANSFERS == 73, "FP2 has 73 instructions");

static uint32_t assemble(unsigned primary, char form, unsigned extended, unsigned t, unsigned a,
                         unsigned b, unsigned c)
{
    return primary << 26 | t << 21 | a << 16 | b << 11 | (form == 'A' ? c << 6 : 0) | extended << 1;
}

/* ---- Formulas. */

struct fields {
    unsigned t, a, b, c;
};

/* "AP" in the registers as they were before the instruction. */
static const uint64_t *operand(const char *name, const struct core_regs *old, struct fields f)
{
    unsigned number = name[0] == 'A' ? f.a : name[0] == 'B' ? f.b : f.c;
    return name[1] == 'P' ? &old->fpr[number] : &old->fpr2[number];
}

static bool begins(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0) return false;
    *text += length;
    return true;
}

/* Sums and products: [-(] X [*Y] [+Z | -Z] [)] */
static struct outcome arithmetic(const char *formula, const struct core_regs *old, struct fields f,
                                 uint32_t fpscr)
{
    bool negate = begins(&formula, "-(");
    const uint64_t *a = operand(formula, old, f), *b = NULL, *c = NULL;
    formula += 2;
    if (begins(&formula, "*")) {
        c = operand(formula, old, f);
        formula += 2;
    }
    bool minus = *formula == '-';
    if (*formula == '+' || *formula == '-') b = operand(formula + 1, old, f);
    return fused(a, c, b, minus, negate, fpscr);
}

/* Compares into the CR field of t; C, FR and FI stay. */
static void expect_compare(struct core_regs *regs, uint64_t a, uint64_t b, struct fields f)
{
    unsigned cc = 1;
    if (!is_nan(a) && !is_nan(b))
        cc = number_of(a) < number_of(b) ? 8 : number_of(a) > number_of(b) ? 4 : 2;
    uint32_t raised = is_snan(a) || is_snan(b) ? VXSNAN : 0;
    regs->cr[f.t >> 2] = (uint8_t)cc;
    regs->fpscr = (regs->fpscr & ~FPCC) | cc << 12 | raised | (raised & ~regs->fpscr ? FX : 0);
    regs->fpscr = summarised(regs->fpscr);
}

/* One half: into `target`, status into regs->fpscr. */
static void expect_half(const char *formula, const struct core_regs *old, struct fields f,
                        struct core_regs *regs, uint64_t *target)
{
    struct outcome o;
    const char *text = formula;
    uint32_t fpscr = regs->fpscr;
    if (begins(&text, "=")) return;
    if (begins(&text, "cmp(")) {
        expect_compare(regs, *operand(text, old, f), *operand(text + 3, old, f), f);
    } else if (begins(&text, "sel(")) {
        uint64_t x = *operand(text, old, f);
        bool not_below = !is_nan(x) && (is_zero(x) || !(x >> 63));
        *target = *operand(text + (not_below ? 3 : 6), old, f);
    } else if (begins(&text, "|")) {
        *target = *operand(text, old, f) & ~SIGN;
    } else if (begins(&text, "-|")) {
        *target = *operand(text, old, f) | SIGN;
    } else if (strlen(formula) == 2) {
        *target = *operand(formula, old, f);
    } else if (strlen(formula) == 3) {
        *target = *operand(formula + 1, old, f) ^ SIGN;
    } else {
        if (begins(&text, "rsqrte("))
            o = reciprocal_root(operand(text, old, f), fpscr);
        else if (begins(&text, "re("))
            o = reciprocal(operand(text, old, f), fpscr);
        else if (begins(&text, "rsp("))
            o = round_to_single(operand(text, old, f), fpscr);
        else if (begins(&text, "ctiw("))
            o = to_integer(operand(text, old, f), fpscr & RN);
        else if (begins(&text, "ctiwz("))
            o = to_integer(operand(text, old, f), 1);
        else
            o = arithmetic(formula, old, f, fpscr);
        if (finish(&regs->fpscr, o)) *target = o.value;
    }
}

static void expect_instruction(const struct instruction *i, struct fields f, struct core_regs *regs)
{
    const struct core_regs old = *regs;
    expect_half(i->secondary_half, &old, f, regs, &regs->fpr2[f.t]);
    expect_half(i->primary_half, &old, f, regs, &regs->fpr[f.t]);
}

/* ---- Memory formats: the manual's text for lfs and stfs. */

static uint64_t widened(uint32_t word)
{
    float single;
    memcpy(&single, &word, sizeof single);
    if ((word & 0x7F800000) != 0x7F800000) return bits_of((double)single);
    return (uint64_t)(word >> 31) << 63 | INFINITE | (uint64_t)(word & 0x7FFFFF) << 29;
}

static uint32_t narrowed(uint64_t frs)
{
    uint32_t sign = (uint32_t)(frs >> 63) << 31;
    int exponent = (int)(frs >> 52 & 0x7FF) - 1023;
    if (exponent + 1023 > 896 || is_zero(frs))
        return (uint32_t)(frs >> 62) << 30 | (uint32_t)(frs >> 29 & 0x3FFFFFFF);
    if (exponent + 1023 < 874) return sign; /* undefined; docs/fp.md */
    uint64_t fraction = (frs & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    for (; exponent < -126; exponent++)
        fraction >>= 1;
    return sign | (uint32_t)(fraction >> 29);
}

static uint64_t get_big(const uint8_t *p, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++)
        x = x << 8 | p[i];
    return x;
}

static void put_big(uint8_t *p, unsigned bytes, uint64_t x)
{
    for (unsigned i = bytes; i--; x >>= 8)
        p[i] = (uint8_t)x;
}

/* Does a transfer on `bytes`, the memory at EA. */
static void expect_transfer(const struct transfer *x, unsigned t, struct core_regs *regs,
                            uint8_t *bytes)
{
    for (const char *p = x->pieces; *p; p += 3) {
        uint64_t *half = p[0] == 'P' ? &regs->fpr[t] : &regs->fpr2[t];
        uint8_t *at = bytes + (p[2] - '0');
        unsigned size = p[1] == 'd' ? 8 : 4;
        if (x->store)
            put_big(at, size, p[1] == 's' ? narrowed(*half) : *half);
        else
            *half = p[1] == 's' ? widened((uint32_t)get_big(at, 4)) : get_big(at, 8);
    }
}

/* ---- The machine. */

enum { CODE = 0x10000, CODE_BYTES = 0x40000, DATA = 0x100000, DATA_BYTES = 0x4000 };

static struct rig_machine machine;
static uint64_t seed;

static int start(void **state)
{
    (void)state;
    rig_machine_open(&machine, (struct rig_layout){CODE, CODE_BYTES, DATA, DATA_BYTES}, 1, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rig_machine_close(&machine);
    return 0;
}

static uint32_t place(const uint32_t *words, unsigned count)
{
    return rig_place(&machine, words, count);
}

static uint32_t place_one(uint32_t word)
{
    return rig_place_one(&machine, word);
}

static struct core_exit run(struct core_regs *regs, uint32_t pc)
{
    return rig_run_on(&machine, machine.core, regs, pc, 1000000);
}

static void show(const char *name, uint32_t word, const struct core_regs *before,
                 const struct core_regs *expected, const struct core_regs *got)
{
    print_error("%s (%08x), fpscr before %08x\n", name, word, before->fpscr);
    for (unsigned i = 0; i < 32; i++)
        if (before->fpr[i] != got->fpr[i] || before->fpr2[i] != got->fpr2[i] ||
            expected->fpr[i] != got->fpr[i] || expected->fpr2[i] != got->fpr2[i] ||
            i == isa_rt(word) || i == isa_ra(word) || i == isa_rb(word) || i == isa_frc(word))
            print_error("f%u was %016llx %016llx, expected %016llx %016llx, is %016llx %016llx\n",
                        i, (unsigned long long)before->fpr[i], (unsigned long long)before->fpr2[i],
                        (unsigned long long)expected->fpr[i], (unsigned long long)expected->fpr2[i],
                        (unsigned long long)got->fpr[i], (unsigned long long)got->fpr2[i]);
    fail_msg("%s: fpscr expected %08x, is %08x; cr %08x, %08x; pc %08x, %08x", name,
             expected->fpscr, got->fpscr, core_cr_get(expected), core_cr_get(got), expected->pc,
             got->pc);
}

static void assert_same_regs(const char *name, uint32_t word, const struct core_regs *before,
                             const struct core_regs *expected, const struct core_regs *got)
{
    if (!rig_registers_same(expected, got)) show(name, word, before, expected, got);
}

/* ---- Operands. */

static const uint64_t specials[] = {
    0,
    1,
    2,
    UINT64_C(0x000FFFFFFFFFFFFF),
    UINT64_C(0x0010000000000000),
    UINT64_C(0x0010000000000001),
    UINT64_C(0x0020000000000000),
    UINT64_C(0x7FEFFFFFFFFFFFFF),
    UINT64_C(0x7FEFFFFFFFFFFFFE),
    INFINITE,
    UINT64_C(0x7FF4DEAD12345678),
    UINT64_C(0x7FF0000000000001),
    UINT64_C(0x7FF0000020000000),
    UINT64_C(0x7FFCBEEFCAFE1234),
    MADE_QNAN,
    UINT64_C(0x7FFFFFFFFFFFFFFF),
    UINT64_C(0x3FF0000000000000),
    UINT64_C(0x3FF0000000000001),
    UINT64_C(0x3FEFFFFFFFFFFFFF),
    UINT64_C(0x3FF8000000000000),
    UINT64_C(0x3FE0000000000000),
    UINT64_C(0x4000000000000000),
    UINT64_C(0x4340000000000000),
    UINT64_C(0x3CA0000000000000),
    UINT64_C(0x3CB0000000000000),
    /* single: 2^-150, 2^-149, around 2^-126, the largest, and where it rounds to infinity */
    UINT64_C(0x3690000000000000),
    UINT64_C(0x36A0000000000000),
    UINT64_C(0x380FFFFFFFFFFFFF),
    UINT64_C(0x3810000000000000),
    UINT64_C(0x47EFFFFFE0000000),
    UINT64_C(0x47EFFFFFEFFFFFFF),
    UINT64_C(0x47EFFFFFF0000000),
    /* integers: 2.5, 2^31 - 1, and a half, 2^31, and a half */
    UINT64_C(0x4004000000000000),
    UINT64_C(0x41DFFFFFFFC00000),
    UINT64_C(0x41DFFFFFFFE00000),
    UINT64_C(0x41E0000000000000),
    UINT64_C(0x41E0000000100000),
};

static uint64_t any(uint64_t before)
{
    uint64_t x = random_next(&seed), sign = random_next(&seed) & SIGN;
    uint64_t fraction = x & ((UINT64_C(1) << 52) - 1);
    switch (random_below(&seed, 5)) { /* few bits: exact and halfway cases */
    case 0: fraction &= ~UINT64_C(0) << (26 + random_below(&seed, 26)); break;
    case 1: fraction = (fraction & SINGLE_PART) | UINT64_C(0x10000000); break;
    case 2: fraction &= SINGLE_PART; break;
    default: break;
    }
    uint64_t field = before >> 52 & 0x7FF;
    switch (random_below(&seed, 12)) {
    case 0:
    case 1: return sign | specials[random_below(&seed, sizeof specials / sizeof specials[0])];
    case 2: return random_next(&seed);
    case 3: return sign | fraction; /* denormal */
    case 4: field += random_below(&seed, 7) - 3; break;
    case 5: field += 52 + random_below(&seed, 4); break;
    case 6: field = 2047 - field; break; /* products near 1 */
    case 7: field = 2046 - random_below(&seed, 3); break;
    case 8: field = 870 + random_below(&seed, 290); break; /* about the range of singles */
    case 9: return sign ^ (before + random_below(&seed, 3) - 1);
    default: field = 1013 + random_below(&seed, 42); break;
    }
    return sign | (field & 0x7FF) << 52 | fraction;
}

/* Numbers in the middle, so that programs use the core's fast path. */
static uint64_t ordinary(void)
{
    uint64_t x = random_next(&seed);
    if (random_below(&seed, 3) == 0) x &= ~UINT64_C(0) << 40;
    return (x & ~(UINT64_C(0x7FF) << 52)) | (1003 + random_below(&seed, 40)) << 52;
}

static uint32_t random_fpscr(void)
{
    uint32_t f = (uint32_t)random_next(&seed);
    if (random_below(&seed, 2)) f &= ~ENABLES;
    if (random_below(&seed, 2)) f &= ~EXCEPTIONS | XX;
    if (random_below(&seed, 3) == 0) f &= ~RN;
    return summarised(f);
}

/* All registers random; the fields' registers made interesting together. */
static void random_regs(struct core_regs *regs, struct fields f)
{
    memset(regs, 0, sizeof *regs);
    regs->msr = MSR_PR | MSR_FP;
    bool plain = random_below(&seed, 4) == 0;
    for (unsigned i = 0; i < 32; i++) {
        regs->gpr[i] = (uint32_t)random_next(&seed);
        regs->fpr[i] = random_next(&seed);
        regs->fpr2[i] = random_next(&seed);
    }
    for (unsigned i = 0; i < 8; i++)
        regs->cr[i] = random_next(&seed) & 15;
    regs->fpscr = random_fpscr();
    const unsigned used[] = {f.a, f.c, f.b};
    uint64_t last = UINT64_C(0x3FF0000000000000);
    for (unsigned i = 0; i < 3; i++) {
        regs->fpr[used[i]] = last = plain ? ordinary() : any(last);
        regs->fpr2[used[i]] = last = plain ? ordinary() : any(last);
    }
    if (random_below(&seed, 4) == 0) { /* near cancellation: B about A * C of either pairing */
        bool crossed = random_next(&seed) & 1;
        double ap = number_of(regs->fpr[f.a]), as = number_of(regs->fpr2[f.a]);
        uint64_t p = bits_of((crossed ? as : ap) * number_of(regs->fpr[f.c]));
        uint64_t s = bits_of((crossed ? ap : as) * number_of(regs->fpr2[f.c]));
        regs->fpr[f.b] = (p + random_below(&seed, 3) - 1) ^ (random_next(&seed) & SIGN);
        regs->fpr2[f.b] = (s + random_below(&seed, 3) - 1) ^ (random_next(&seed) & SIGN);
    }
    if (random_below(&seed, 4) == 0 && plain) regs->fpscr = FX | XX;
}

/* ---- Tests. */

enum { SHAPES = 9 };

/* Which registers coincide. */
static struct fields shape_of(unsigned shape)
{
    unsigned base = (unsigned)random_below(&seed, 32);
    unsigned r[4];
    for (unsigned i = 0; i < 4; i++)
        r[i] = (base + i * (1 + 2 * (unsigned)random_below(&seed, 4))) % 32;
    r[1] = (r[0] + 1) % 32, r[2] = (r[0] + 2) % 32, r[3] = (r[0] + 3) % 32;
    switch (shape) {
    case 1: return (struct fields){r[1], r[1], r[2], r[3]}; /* FRT is FRA */
    case 2: return (struct fields){r[2], r[1], r[2], r[3]}; /* FRT is FRB */
    case 3: return (struct fields){r[3], r[1], r[2], r[3]}; /* FRT is FRC */
    case 4: return (struct fields){r[0], r[0], r[0], r[0]};
    case 5: return (struct fields){r[0], r[1], r[1], r[1]};
    case 6: return (struct fields){r[0], r[1], r[2], r[1]};
    case 7: return (struct fields){r[0], r[0], r[0], r[1]};
    case 8: return (struct fields){31, 0, 31, 0};
    default: return (struct fields){r[0], r[1], r[2], r[3]};
    }
}

static void every_instruction_gives_what_its_formula_says(void **state)
{
    (void)state;
    seed = 1;
    static struct fields fields[INSTRUCTIONS][SHAPES];
    static uint32_t words[INSTRUCTIONS][SHAPES], at[INSTRUCTIONS][SHAPES];
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        for (unsigned s = 0; s < SHAPES; s++) {
            const struct instruction *row = &instructions[i];
            struct fields f = fields[i][s] = shape_of(s);
            words[i][s] = assemble(row->primary, row->form, row->extended, f.t, f.a, f.b, f.c);
            at[i][s] = place_one(words[i][s]);
        }
    for (uint64_t trial = 0; trial < random_trials(400); trial++)
        for (unsigned i = 0; i < INSTRUCTIONS; i++)
            for (unsigned s = 0; s < SHAPES; s++) {
                struct core_regs before, expected, got;
                random_regs(&before, fields[i][s]);
                got = before;
                struct core_exit exit = run(&got, at[i][s]);
                assert_int_equal(exit.reason, CORE_SYSCALL);
                expected = before;
                expected.pc = at[i][s] + 8;
                expect_instruction(&instructions[i], fields[i][s], &expected);
                assert_same_regs(instructions[i].name, words[i][s], &before, &expected, &got);
            }
}

/* Every pair of special operands in every rounding mode, nothing and everything enabled. */
static void special_operands_in_all_rounding_modes(void **state)
{
    (void)state;
    seed = 2;
    enum { COUNT = sizeof specials / sizeof specials[0] };
    const struct fields f = {1, 2, 3, 4};
    unsigned step = random_trials(100) < 100 ? 7 : 1;
    for (unsigned i = 0; i < INSTRUCTIONS; i++) {
        const struct instruction *row = &instructions[i];
        uint32_t word = assemble(row->primary, row->form, row->extended, f.t, f.a, f.b, f.c),
                 at = place_one(word);
        for (unsigned x = 0; x < COUNT * 2; x += step)
            for (unsigned y = 0; y < COUNT * 2; y++) {
                struct core_regs before = {.msr = MSR_PR | MSR_FP}, expected, got;
                uint64_t p = specials[x / 2] ^ (x & 1 ? SIGN : 0),
                         s = specials[y / 2] ^ (y & 1 ? SIGN : 0);
                uint64_t third = specials[random_below(&seed, COUNT)] ^ (random_next(&seed) & SIGN);
                bool turn = random_next(&seed) & 1;
                before.fpr[f.a] = p, before.fpr2[f.a] = s;
                before.fpr[f.b] = turn ? s : third, before.fpr2[f.b] = turn ? p : third;
                before.fpr[f.c] = turn ? third : s, before.fpr2[f.c] = turn ? third : p;
                before.fpscr =
                    (uint32_t)((x + y) & 3) | (random_below(&seed, 3) == 0 ? ENABLES : 0);
                got = before;
                assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
                expected = before;
                expected.pc = at + 8;
                expect_instruction(row, f, &expected);
                assert_same_regs(row->name, word, &before, &expected, &got);
            }
    }
}

/* Programs of many FP2 instructions with the FPSCR looked at only now and then: the core may not
 * lose what it puts off. Quadword loads bring new operands. */
static void long_programs_keep_registers_and_fpscr(void **state)
{
    (void)state;
    seed = 3;
    enum { PROGRAMS = 150, LENGTH = 60, REGISTERS = 6, MFFS = 583 };
    static struct {
        int row; /* or -1 for lfpdx, -2 for mffs */
        struct fields f;
    } program[LENGTH];
    for (unsigned n = 0; n < PROGRAMS; n++) {
        uint32_t words[LENGTH + 1];
        for (unsigned i = 0; i < LENGTH; i++) {
            unsigned kind = (unsigned)random_below(&seed, 20);
            struct fields f = {
                (unsigned)random_below(&seed, REGISTERS), (unsigned)random_below(&seed, REGISTERS),
                (unsigned)random_below(&seed, REGISTERS), (unsigned)random_below(&seed, REGISTERS)};
            program[i].row = kind == 0  ? -2
                             : kind < 6 ? -1
                                        : (int)random_below(&seed, INSTRUCTIONS);
            program[i].f = f;
            const struct instruction *row =
                program[i].row < 0 ? NULL : &instructions[program[i].row];
            words[i] = row ? assemble(row->primary, row->form, row->extended, f.t, f.a, f.b, f.c)
                       : kind == 0 ? assemble(63, 'X', MFFS, f.t, 0, 0, 0)
                                   : assemble(31, 'X', 462, f.t, 0, 8 + f.b, 0);
        }
        words[LENGTH] = RIG_SC;
        uint32_t at = place(words, LENGTH + 1);
        for (unsigned trial = 0; trial < random_trials(20); trial++) {
            struct core_regs before, expected, got;
            random_regs(&before, (struct fields){0, 1, 2, 3});
            if (trial % 2)
                before.fpscr = FX | XX | (uint32_t)random_below(&seed, trial % 4 == 1 ? 1 : 4);
            for (unsigned i = 0; i < REGISTERS; i++) {
                before.gpr[8 + i] = DATA + 16 * i;
                put_big(machine.mem->base + DATA + 16 * i, 8, trial % 2 ? ordinary() : any(0));
                put_big(machine.mem->base + DATA + 16 * i + 8, 8, trial % 2 ? ordinary() : any(0));
            }
            got = expected = before;
            assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
            expected.pc = at + 4 * (LENGTH + 1);
            for (unsigned i = 0; i < LENGTH; i++) {
                struct fields f = program[i].f;
                if (program[i].row >= 0)
                    expect_instruction(&instructions[program[i].row], f, &expected);
                if (program[i].row == -2) expected.fpr[f.t] = expected.fpscr;
                if (program[i].row == -1)
                    expect_transfer(&transfers[10], f.t, &expected,
                                    machine.mem->base + expected.gpr[8 + f.b]);
            }
            assert_same_regs("program", words[0], &before, &expected, &got);
        }
    }
}

/* An enabled exception stops at the instruction if the MSR wants it; the other half is done. */
static void enabled_exceptions_stop_the_core(void **state)
{
    (void)state;
    const struct fields f = {1, 2, 3, 4};
    uint32_t word = assemble(0, 'A', 12, f.t, f.a, f.b, 0), at = place_one(word); /* fpadd */
    static const uint64_t one = UINT64_C(0x3FF0000000000000);
    for (unsigned half = 0; half < 2; half++)
        for (unsigned mode = 0; mode < 4; mode++) {
            struct core_regs before = {.msr = MSR_PR | MSR_FP | (mode & 1 ? MSR_FE0 : 0) |
                                              (mode & 2 ? MSR_FE1 : 0)};
            before.fpscr = VE;
            before.fpr[f.t] = 5, before.fpr2[f.t] = 6;
            before.fpr[f.a] = before.fpr[f.b] = before.fpr2[f.a] = before.fpr2[f.b] = one;
            (half ? before.fpr2 : before.fpr)[f.a] = INFINITE;
            (half ? before.fpr2 : before.fpr)[f.b] = INFINITE | SIGN;
            uint64_t counts[2][CORE_SIGNAL_COUNT];
            struct core_regs got = before, expected = before;
            core_switch(machine.core, &got, machine.mem);
            core_signal_counts(machine.core, counts[0]);
            struct core_exit exit = run(&got, at);
            core_signal_counts(machine.core, counts[1]);
            expect_instruction(&instructions[5], f, &expected);
            expected.pc = mode ? at : at + 8;
            assert_int_equal(exit.reason, mode ? CORE_FP : CORE_SYSCALL);
            assert_int_equal(counts[1][CORE_SIGNAL_INSTRUCTIONS] -
                                 counts[0][CORE_SIGNAL_INSTRUCTIONS],
                             mode ? 0 : 2);
            assert_same_regs("fpadd", word, &before, &expected, &got);
            assert_int_equal(got.fpr[f.t], half ? UINT64_C(0x4000000000000000) : 5);
            assert_int_equal(got.fpr2[f.t], half ? 6 : UINT64_C(0x4000000000000000));
            assert_int_equal(got.fpscr & (FX | FEX | VX | VXISI), FX | FEX | VX | VXISI);
        }
}

/* FPRF, FR and FI are the primary's though the secondary raised more; sticky bits are from both. */
static void status_is_of_the_primary_and_sticky_bits_of_both(void **state)
{
    (void)state;
    static const uint64_t one = UINT64_C(0x3FF0000000000000), most = UINT64_C(0x7FEFFFFFFFFFFFFF);
    uint32_t at = place_one(assemble(0, 'A', 8, 1, 2, 0, 4)); /* fpmul f1,f2,f4 */
    struct core_regs regs = {.msr = MSR_PR | MSR_FP};
    regs.fpr[2] = one, regs.fpr[4] = one;
    regs.fpr2[2] = most | SIGN, regs.fpr2[4] = most; /* overflows */
    assert_int_equal(run(&regs, at).reason, CORE_SYSCALL);
    assert_int_equal(regs.fpscr, FX | OX | XX | 0x04 << 12);
    assert_int_equal(regs.fpr2[1], INFINITE | SIGN);
    regs = (struct core_regs){.msr = MSR_PR | MSR_FP};
    regs.fpr[2] = most, regs.fpr[4] = most;
    regs.fpr2[2] = INFINITE, regs.fpr2[4] = 0;
    assert_int_equal(run(&regs, at).reason, CORE_SYSCALL);
    assert_int_equal(regs.fpscr, FX | VX | VXIMZ | OX | XX | FR | FI | 0x05 << 12);
}

/* ---- Loads and stores. */

static struct core_regs transfer_regs(uint32_t base, uint32_t index)
{
    struct core_regs regs;
    random_regs(&regs, (struct fields){7, 7, 8, 9});
    regs.gpr[3] = base, regs.gpr[4] = index;
    if (random_next(&seed) & 1) { /* what single format cannot hold, and what it can just hold */
        regs.fpr[7] =
            (random_next(&seed) & ~(UINT64_C(0x7FF) << 52)) | (870 + random_below(&seed, 30)) << 52;
        regs.fpr2[7] =
            (random_next(&seed) & ~(UINT64_C(0x7FF) << 52)) | (870 + random_below(&seed, 30)) << 52;
    }
    return regs;
}

static void fill_data(uint8_t *copy)
{
    uint8_t *data = machine.mem->base + DATA;
    for (unsigned i = 0; i < DATA_BYTES; i++)
        data[i] = (uint8_t)random_next(&seed);
    for (unsigned i = 0; i < DATA_BYTES; i += 64) /* some singles that are special */
        put_big(data + i, 4,
                (uint64_t)((const uint32_t[]){0x7F800000, 0xFF800001, 0x00000001, 0x807FFFFF,
                                              0x7FC12345})[i / 64 % 5]);
    memcpy(copy, data, DATA_BYTES);
}

static void transfers_move_the_bytes_the_csv_says(void **state)
{
    (void)state;
    seed = 4;
    static uint8_t copy[DATA_BYTES];
    for (unsigned i = 0; i < TRANSFERS; i++) {
        const struct transfer *x = &transfers[i];
        uint32_t word = assemble(31, 'X', x->extended, 7, 3, 4, 0), at = place_one(word);
        uint32_t word0 = assemble(31, 'X', x->extended, 7, 0, 4, 0), at0 = place_one(word0);
        for (unsigned trial = 0; trial < random_trials(300); trial++) {
            uint32_t offset = (uint32_t)random_below(&seed, DATA_BYTES - 16);
            if (trial % 3 == 0)
                offset =
                    MEM_PAGE - (uint32_t)random_below(&seed, 18); /* at and over a page's end */
            if (x->quad) offset &= ~15U;
            bool zero = trial % 5 == 0 && !x->update; /* RA is 0: EA is RB alone */
            uint32_t index = zero ? DATA + offset : (uint32_t)random_next(&seed);
            if (trial % 10 == 0) fill_data(copy);
            struct core_regs before = transfer_regs(DATA + offset - index, index),
                             expected = before, got = before;
            assert_int_equal(run(&got, zero ? at0 : at).reason, CORE_SYSCALL);
            expect_transfer(x, 7, &expected, copy + offset);
            if (x->update) expected.gpr[3] = DATA + offset;
            expected.pc = (zero ? at0 : at) + 8;
            assert_same_regs(x->name, zero ? word0 : word, &before, &expected, &got);
            assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
        }
    }
}

/* The byte layout in full view: one fixed pattern per order. */
static void byte_order_of_pairs(void **state)
{
    (void)state;
    struct core_regs regs = {.msr = MSR_PR | MSR_FP};
    uint8_t *data = machine.mem->base + DATA;
    regs.fpr[7] = UINT64_C(0x0102030405060708), regs.fpr2[7] = UINT64_C(0x1112131415161718);
    regs.gpr[4] = DATA;
    static const uint8_t straight[16] = {1, 2, 3, 4, 5, 6, 7, 8, 17, 18, 19, 20, 21, 22, 23, 24};
    static const uint8_t crossed[16] = {17, 18, 19, 20, 21, 22, 23, 24, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t low_words[8] = {5, 6, 7, 8, 21, 22, 23, 24};
    run(&regs, place_one(assemble(31, 'X', 974, 7, 0, 4, 0))); /* stfpdx */
    assert_memory_equal(data, straight, 16);
    run(&regs, place_one(assemble(31, 'X', 846, 7, 0, 4, 0))); /* stfxdx */
    assert_memory_equal(data, crossed, 16);
    run(&regs, place_one(assemble(31, 'X', 526, 7, 0, 4, 0))); /* stfpiwx */
    assert_memory_equal(data, low_words, 8);
    regs.fpr[7] = UINT64_C(0x3FF8000000000000),
    regs.fpr2[7] = UINT64_C(0xC000000000000000);               /* 1.5, -2 */
    run(&regs, place_one(assemble(31, 'X', 782, 7, 0, 4, 0))); /* stfxsx */
    assert_memory_equal(data, ((const uint8_t[]){0xC0, 0, 0, 0, 0x3F, 0xC0, 0, 0}), 8);
    run(&regs, place_one(assemble(31, 'X', 398, 8, 0, 4, 0))); /* lfpsx */
    assert_int_equal(regs.fpr[8], UINT64_C(0xC000000000000000));
    assert_int_equal(regs.fpr2[8], UINT64_C(0x3FF8000000000000));
}

/* Runs a transfer that must stop for `reason` with nothing changed. */
static void expect_stop(const struct transfer *x, uint32_t at, uint32_t ea, struct core_exit wanted)
{
    static uint8_t copy[DATA_BYTES];
    fill_data(copy);
    struct core_regs before = transfer_regs(ea - 0x55, 0x55), expected = before, got = before;
    uint64_t counts[2][CORE_SIGNAL_COUNT];
    core_switch(machine.core, &got, machine.mem);
    core_signal_counts(machine.core, counts[0]);
    uint64_t cycles = core_cycles(machine.core);
    struct core_exit exit = run(&got, at);
    core_signal_counts(machine.core, counts[1]);
    counts[0][CORE_SIGNAL_FETCH] = counts[1][CORE_SIGNAL_FETCH]; /* the instruction was fetched */
    expected.pc = at;
    if (exit.reason != wanted.reason || exit.address != wanted.address ||
        exit.mapped != wanted.mapped)
        fail_msg("%s at %08x: stop %d, address %08x, mapped %d; expected %d, %08x, %d", x->name, ea,
                 (int)exit.reason, exit.address, exit.mapped, (int)wanted.reason, wanted.address,
                 wanted.mapped);
    assert_same_regs(x->name, 0, &before, &expected, &got);
    assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
    assert_int_equal(core_cycles(machine.core), cycles);
}

static void quadwords_must_be_aligned(void **state)
{
    (void)state;
    seed = 5;
    for (unsigned i = 0; i < TRANSFERS; i++) {
        const struct transfer *x = &transfers[i];
        if (!x->quad) continue;
        uint32_t at = place_one(assemble(31, 'X', x->extended, 7, 3, 4, 0));
        for (uint32_t offset = 1; offset < 16; offset++) {
            struct core_exit wanted = {CORE_ALIGNMENT, DATA + 64 + offset, false};
            expect_stop(x, at, DATA + 64 + offset, wanted);
            wanted.address = DATA + MEM_PAGE - 16 + offset; /* and across pages */
            expect_stop(x, at, wanted.address, wanted);
        }
    }
}

/* DATA to its end is mapped; what is behind it is not. Page 0 of DATA is then made read-only, then
 * inaccessible. */
static void faults_change_nothing(void **state)
{
    (void)state;
    seed = 6;
    for (unsigned i = 0; i < TRANSFERS; i++) {
        const struct transfer *x = &transfers[i];
        enum core_reason reason = x->store ? CORE_STORE : CORE_LOAD;
        uint32_t at = place_one(assemble(31, 'X', x->extended, 7, 3, 4, 0)),
                 end = DATA + DATA_BYTES;
        expect_stop(x, at, end, (struct core_exit){reason, end, false});
        expect_stop(x, at, 0xFFFFFFF0, (struct core_exit){reason, 0xFFFFFFF0, false});
        for (uint32_t inside = 1; inside < x->bytes && !x->quad; inside++) {
            expect_stop(x, at, end - inside, (struct core_exit){reason, end, false});
            expect_stop(x, at, DATA - inside, (struct core_exit){reason, DATA - inside, false});
        }
        mem_protect(machine.mem, DATA + MEM_PAGE, MEM_PAGE, x->store ? MEM_READ : 0);
        expect_stop(x, at, DATA + MEM_PAGE + 32,
                    (struct core_exit){reason, DATA + MEM_PAGE + 32, true});
        for (uint32_t inside = 1; inside < x->bytes && !x->quad; inside++) {
            expect_stop(x, at, DATA + MEM_PAGE - inside,
                        (struct core_exit){reason, DATA + MEM_PAGE, true});
            expect_stop(x, at, DATA + 2 * MEM_PAGE - inside,
                        (struct core_exit){reason, DATA + 2 * MEM_PAGE - inside, true});
        }
        mem_protect(machine.mem, DATA + MEM_PAGE, MEM_PAGE, MEM_READ | MEM_WRITE);
    }
}

/* ---- What exists, and what it counts as. */

static void without_the_unit_there_is_no_fp2(void **state)
{
    (void)state;
    struct core_options options = {.units = ~isa_unit_bit(ISA_UNIT_FP2)};
    struct cores *cores = cores_new(1, &options);
    for (unsigned i = 0; i < INSTRUCTIONS + TRANSFERS; i++) {
        uint32_t word = i < INSTRUCTIONS
                            ? assemble(instructions[i].primary, instructions[i].form,
                                       instructions[i].extended, 1, 2, 3, 4)
                            : assemble(31, 'X', transfers[i - INSTRUCTIONS].extended, 1, 2, 3, 0);
        uint32_t at = place_one(word),
                 at_1 = place_one(word | 1); /* no record forms: illegal anyway */
        struct core_regs regs = {.pc = at, .msr = MSR_PR | MSR_FP};
        core_switch(cores_get(cores, 0), &regs, machine.mem);
        assert_int_equal(core_run(cores_get(cores, 0), 100).reason, CORE_ILLEGAL);
        assert_int_equal(regs.pc, at);
        cores_forget(cores, machine.mem);
        regs.pc = at_1;
        assert_int_equal(run(&regs, at_1).reason, CORE_ILLEGAL);
        cores_forget(machine.cores, machine.mem);
    }
    cores_free(cores);
}

static void each_raises_the_wires_of_its_class(void **state)
{
    (void)state;
    for (unsigned i = 0; i < INSTRUCTIONS + TRANSFERS; i++) {
        const struct transfer *x = i < INSTRUCTIONS ? NULL : &transfers[i - INSTRUCTIONS];
        enum core_signal class = x ? x->class : instructions[i].class;
        uint32_t at = place_one(x ? assemble(31, 'X', x->extended, 1, 2, 3, 0)
                                  : assemble(instructions[i].primary, instructions[i].form,
                                             instructions[i].extended, 1, 2, 3, 4));
        struct core_regs regs = {.msr = MSR_PR | MSR_FP};
        regs.gpr[2] = DATA;
        uint64_t before[CORE_SIGNAL_COUNT], after[CORE_SIGNAL_COUNT],
            expected[CORE_SIGNAL_COUNT] = {0};
        core_signal_counts(machine.core, before);
        assert_int_equal(run(&regs, at).reason, CORE_SYSCALL);
        core_signal_counts(machine.core, after);
        expected[CORE_SIGNAL_INSTRUCTIONS] = 2;
        expected[CORE_SIGNAL_I_INSTRUCTIONS] = expected[CORE_SIGNAL_I_CONTROL] = 1; /* sc */
        expected[class] = 1;
        expected[CORE_SIGNAL_LOAD] = x && !x->store;
        expected[CORE_SIGNAL_STORE] = x && x->store;
        expected[CORE_SIGNAL_FP_OPERATIONS] = class == MUL || class == ADD || class == FMA ? 2 : 0;
        expected[CORE_SIGNAL_FP_FLOPS] = expected[CORE_SIGNAL_FP_OPERATIONS] << (class == FMA);
        expected[CORE_SIGNAL_FETCH] =
            after[CORE_SIGNAL_FETCH] - before[CORE_SIGNAL_FETCH]; /* by blocks */
        for (unsigned s = 0; s < CORE_SIGNAL_COUNT; s++)
            if (after[s] - before[s] != expected[s])
                fail_msg(
                    "%s: signal %u rose by %llu, expected %llu", x ? x->name : instructions[i].name,
                    s, (unsigned long long)(after[s] - before[s]), (unsigned long long)expected[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_instruction_gives_what_its_formula_says, start, stop),
        cmocka_unit_test_setup_teardown(special_operands_in_all_rounding_modes, start, stop),
        cmocka_unit_test_setup_teardown(long_programs_keep_registers_and_fpscr, start, stop),
        cmocka_unit_test_setup_teardown(enabled_exceptions_stop_the_core, start, stop),
        cmocka_unit_test_setup_teardown(status_is_of_the_primary_and_sticky_bits_of_both, start,
                                        stop),
        cmocka_unit_test_setup_teardown(transfers_move_the_bytes_the_csv_says, start, stop),
        cmocka_unit_test_setup_teardown(byte_order_of_pairs, start, stop),
        cmocka_unit_test_setup_teardown(quadwords_must_be_aligned, start, stop),
        cmocka_unit_test_setup_teardown(faults_change_nothing, start, stop),
        cmocka_unit_test_setup_teardown(without_the_unit_there_is_no_fp2, start, stop),
        cmocka_unit_test_setup_teardown(each_raises_the_wires_of_its_class, start, stop),
    };
    return cmocka_run_group_tests_name("core fp2", tests, NULL, NULL);
}
