/* src/machine/fp against the manual's tables and the host's own arithmetic, and the fast path
 * against the reference.
 *
 * The other opinion, qemu-ppc's, is in test_fp_qemu.c. A failure prints the instruction and its
 * operands.
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

#include "fp_operands.h"

/* ---- The manual's tables. */

struct known {
    enum fp_op op;
    uint32_t fpscr;
    uint64_t a, b, c;
    uint64_t result; /* UNTOUCHED: not written */
    uint32_t after;
};

#define INVALID  (FP_FX | FP_VX)
#define OLD_FPRF FPRF(0x1f)

static const struct known knowns[] = {
    /* invalid operations, disabled and enabled */
    {FP_FADD, FP_FR | FP_FI, INFINITE, INFINITE | SIGN, 0, FP_QNAN, INVALID | FP_VXISI | FPRF_QNAN},
    {FP_FADD, FP_VE | OLD_FPRF, INFINITE, INFINITE | SIGN, 0, UNTOUCHED,
     INVALID | FP_FEX | FP_VXISI | FP_VE | OLD_FPRF},
    {FP_FSUB, 0, INFINITE, INFINITE, 0, FP_QNAN, INVALID | FP_VXISI | FPRF_QNAN},
    {FP_FDIV, 0, INFINITE, INFINITE, 0, FP_QNAN, INVALID | FP_VXIDI | FPRF_QNAN},
    {FP_FDIV, 0, 0, SIGN, 0, FP_QNAN, INVALID | FP_VXZDZ | FPRF_QNAN},
    {FP_FMUL, 0, INFINITE, 0, 0, FP_QNAN, INVALID | FP_VXIMZ | FPRF_QNAN},
    {FP_FMADD, 0, INFINITE, SNAN_A, 0, SNAN_A | QUIET, INVALID | FP_VXIMZ | FP_VXSNAN | FPRF_QNAN},
    {FP_FMADD, 0, INFINITE, INFINITE | SIGN, ONE, FP_QNAN, INVALID | FP_VXISI | FPRF_QNAN},
    {FP_FNMSUB, 0, INFINITE, INFINITE, ONE, FP_QNAN, INVALID | FP_VXISI | FPRF_QNAN},
    {FP_FSQRT, 0, 0, ONE | SIGN, 0, FP_QNAN, INVALID | FP_VXSQRT | FPRF_QNAN},
    {FP_FSQRT, 0, 0, SIGN, 0, SIGN, FPRF(0x12)},
    {FP_FRSQRTE, 0, 0, INFINITE | SIGN, 0, FP_QNAN, INVALID | FP_VXSQRT | FPRF_QNAN},
    {FP_FCTIW, 0, 0, SNAN_A, 0, UINT64_C(0xffffffff80000000), INVALID | FP_VXSNAN | FP_VXCVI},
    {FP_FCTIW, FP_VE, 0, QNAN_B, 0, UNTOUCHED, INVALID | FP_FEX | FP_VXCVI | FP_VE},
    {FP_FCTIWZ, 0, 0, UINT64_C(0x41e0000000000000), 0, 0x7fffffff, INVALID | FP_VXCVI},
    {FP_FCTIDZ, 0, 0, INFINITE | SIGN, 0, SIGN, INVALID | FP_VXCVI},
    /* NaNs: frA, then frB, then frC; made quiet, sign kept, never negated; cut in single */
    {FP_FMADD, 0, ONE, QNAN_A, QNAN_B, QNAN_A, FPRF_QNAN},
    {FP_FNMADD, 0, QNAN_A, QNAN_B, SNAN_A, QNAN_A, INVALID | FP_VXSNAN | FPRF_QNAN},
    {FP_FNMSUB, 0, ONE, QNAN_B, TWO, QNAN_B, FPRF_QNAN},
    {FP_FSUB, 0, ONE, QNAN_B, 0, QNAN_B, FPRF_QNAN},
    {FP_FRSP, 0, 0, SNAN_A, 0, (SNAN_A | QUIET) & ~UINT64_C(0x1fffffff),
     INVALID | FP_VXSNAN | FPRF_QNAN},
    /* zero divide, disabled and enabled; no second FX for a bit that is set already */
    {FP_FDIV, 0, ONE | SIGN, 0, 0, INFINITE | SIGN, FP_FX | FP_ZX | FPRF(0x09)},
    {FP_FDIV, FP_ZX, ONE, 0, 0, INFINITE, FP_ZX | FPRF(0x05)},
    {FP_FDIV, FP_ZE | OLD_FPRF | FP_FI, ONE, 0, 0, UNTOUCHED,
     FP_FX | FP_FEX | FP_ZX | FP_ZE | OLD_FPRF},
    {FP_FRES, 0, 0, SIGN, 0, INFINITE | SIGN, FP_FX | FP_ZX | FPRF(0x09)},
    {FP_FRES, 0, 0, INFINITE, 0, 0, FPRF(0x02)},
    {FP_FRSQRTE, 0, 0, SIGN, 0, INFINITE | SIGN, FP_FX | FP_ZX | FPRF(0x09)},
    {FP_FRSQRTE, 0, 0, INFINITE, 0, 0, FPRF(0x02)},
    /* overflow by rounding mode; enabled: exponent less 1536 or 192 */
    {FP_FMUL, 0, MAX, 0, TWO, INFINITE, FP_FX | FP_OX | FP_XX | FP_FR | FP_FI | FPRF(0x05)},
    {FP_FMUL, 1, MAX, 0, TWO, MAX, FP_FX | FP_OX | FP_XX | FP_FI | FPRF(0x04) | 1},
    {FP_FMUL, 2, MAX | SIGN, 0, TWO, MAX | SIGN, FP_FX | FP_OX | FP_XX | FP_FI | FPRF(0x08) | 2},
    {FP_FMUL, FP_OE, MAX, 0, TWO, UINT64_C(0x1fffffffffffffff),
     FP_FX | FP_FEX | FP_OX | FP_OE | FPRF(0x04)},
    {FP_FRSP, FP_OE, 0, UINT64_C(0x47f0000000000000), 0, UINT64_C(0x3bf0000000000000),
     FP_FX | FP_FEX | FP_OX | FP_OE | FPRF(0x04)},
    /* underflow: tiny before rounding, though rounding gives the least normal number; exact is none
       unless enabled */
    {FP_FMUL, 0, UINT64_C(0x3fefffffffffffff), 0, MIN, MIN,
     FP_FX | FP_UX | FP_XX | FP_FR | FP_FI | FPRF(0x04)},
    {FP_FMUL, 0, UINT64_C(0x3fe0000000000000), 0, MIN, MIN / 2, FPRF(0x14)},
    {FP_FMUL, FP_UE, UINT64_C(0x3fe0000000000000), 0, MIN, UINT64_C(0x6000000000000000),
     FP_FX | FP_FEX | FP_UX | FP_UE | FPRF(0x04)},
    {FP_FRSP, 0, 0, UINT64_C(0x36a0000000000000), 0, UINT64_C(0x36a0000000000000), FPRF(0x14)},
    /* the sign of a difference of zero; negation comes after rounding */
    {FP_FSUB, 0, ONE, ONE, 0, 0, FPRF(0x02)},
    {FP_FSUB, 3, ONE, ONE, 0, SIGN, FPRF(0x12) | 3},
    {FP_FNMSUB, 0, ONE, ONE, ONE, SIGN, FPRF(0x12)},
    {FP_FNMADD, 2, ONE, 1, ONE, (ONE + 1) | SIGN, FP_FX | FP_XX | FP_FR | FP_FI | FPRF(0x08) | 2},
    /* one rounding to single: 1 + 2^-24 + 2^-60 rounds up, though its double is a tie */
    {FP_FADDS, 0, UINT64_C(0x3ff0000010000000), UINT64_C(0x3c30000000000000), 0,
     UINT64_C(0x3ff0000020000000), FP_FX | FP_XX | FP_FR | FP_FI | FPRF(0x04)},
    {FP_FCFID, 0, 0, UINT64_C(0xffffffffffffffff), 0, ONE | SIGN, FPRF(0x08)},
    {FP_FCTIW, OLD_FPRF, 0, UINT64_C(0x3ff8000000000000), 0, 2,
     FP_FX | FP_XX | FP_FR | FP_FI | OLD_FPRF},
};

static void test_manual_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++) {
        const struct known *k = &knowns[i];
        uint32_t fpscr = k->fpscr;
        uint64_t target = UNTOUCHED;
        unsigned said = fp_arith(k->op, &fpscr, &target, k->a, k->b, k->c);
        unsigned expected =
            (k->result != UNTOUCHED ? FP_WRITTEN : 0) | (k->after & FP_FEX ? FP_ENABLED : 0);
        if (target != k->result || fpscr != k->after || said != expected)
            fail_msg("row %zu, %s: result %016llx, fpscr %08x; expected %016llx, %08x", i,
                     fp_op_name(k->op), (unsigned long long)target, fpscr,
                     (unsigned long long)k->result, k->after);
    }
}

/* Operands that an instruction has no field for do not matter; the deferral of the fast path relies
 * on it. */
static void test_unused_operands(void **state)
{
    (void)state;
    random_state = 6;
    for (size_t i = 0; i < times(20000); i++) {
        enum fp_op op = 1 + random_below(FP_OP_COUNT - 1);
        uint32_t fpscr[2] = {random_fpscr()};
        uint64_t f[3];
        uint64_t target[2] = {UNTOUCHED, UNTOUCHED};
        random_operands(f);
        fpscr[1] = fpscr[0];
        fp_arith(op, &fpscr[0], &target[0], f[0], f[1], f[2]);
        for (int k = 0; k < 3; k++)
            if (!strchr(fp_op_operands(op), "abc"[k])) f[k] = operand(ONE);
        fp_arith(op, &fpscr[1], &target[1], f[0], f[1], f[2]);
        assert_int_equal(target[0], target[1]);
        assert_int_equal(fpscr[0], fpscr[1]);
    }
}

static void test_compare(void **state)
{
    (void)state;
    static const struct {
        uint64_t a, b;
        bool ordered;
        uint32_t before;
        unsigned cc;
        uint32_t raised;
    } rows[] = {
        {ONE, TWO, false, 0, 8, 0},
        {TWO, ONE, true, 0, 4, 0},
        {0, SIGN, true, 0, 2, 0},
        {ONE | SIGN, ONE, false, 0, 8, 0},
        {INFINITE | SIGN, MAX | SIGN, false, 0, 8, 0},
        {QNAN_A, ONE, false, 0, 1, 0},
        {QNAN_A, ONE, true, 0, 1, FP_FX | FP_VX | FP_VXVC},
        {ONE, SNAN_A, false, 0, 1, FP_FX | FP_VX | FP_VXSNAN},
        {ONE, SNAN_A, true, 0, 1, FP_FX | FP_VX | FP_VXSNAN | FP_VXVC},
        {ONE, SNAN_A, true, FP_VE, 1, FP_FX | FP_FEX | FP_VX | FP_VXSNAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t kept = FP_FR | FP_FI | FPRF(0x10) | rows[i].before;
        uint32_t fpscr = kept | FPRF(0x0f);
        unsigned cc = rows[i].ordered ? fp_compare_ordered(&fpscr, rows[i].a, rows[i].b)
                                      : fp_compare_unordered(&fpscr, rows[i].a, rows[i].b);
        assert_int_equal(cc, rows[i].cc);
        assert_int_equal(fpscr, kept | rows[i].raised | cc << FP_FPRF_SHIFT);
    }
}

static void test_select_and_signs(void **state)
{
    (void)state;
    assert_int_equal(fp_select(SIGN, 1, 2), 2);
    assert_int_equal(fp_select(ONE, 1, 2), 2);
    assert_int_equal(fp_select(1 | SIGN, 1, 2), 1);
    assert_int_equal(fp_select(QNAN_B, 1, 2), 1);
    assert_int_equal(fp_select(QNAN_A, 1, 2), 1);
    assert_int_equal(fp_neg(SNAN_A), SNAN_A | SIGN);
    assert_int_equal(fp_abs(QNAN_A), QNAN_A & ~SIGN);
    assert_int_equal(fp_nabs(ONE), ONE | SIGN);
}

static void test_fpscr_instructions(void **state)
{
    (void)state;
    uint32_t fpscr = 0;
    fp_mtfsf(&fpscr, 0xff, UINT64_C(0xffffffff60000000)); /* FEX and VX cannot be set */
    assert_int_equal(fpscr, 0);
    fp_mtfsf(&fpscr, 0xff, FP_OX | FP_OE); /* no FX by mtfsf; FEX follows */
    assert_int_equal(fpscr, FP_FEX | FP_OX | FP_OE);
    fp_mtfsf(&fpscr, 0x01, 0xffffffff); /* field 7 only */
    assert_int_equal(fpscr, FP_FEX | FP_OX | FP_OE | FP_XE | FP_NI | FP_RN);
    fp_mtfsfi(&fpscr, 7, 0);
    fp_mtfsfi(&fpscr, 0, 0);
    assert_int_equal(fpscr, FP_OE);
    fp_mtfsb1(&fpscr, 10); /* VXZDZ */
    assert_int_equal(fpscr, FP_FX | FP_VX | FP_VXZDZ | FP_OE);
    fp_mtfsb0(&fpscr, 2); /* VX is a summary */
    assert_int_equal(fpscr, FP_FX | FP_VX | FP_VXZDZ | FP_OE);
    assert_int_equal(fp_mcrfs(&fpscr, 0), 0xa); /* takes FX, leaves VX */
    assert_int_equal(fpscr, FP_VX | FP_VXZDZ | FP_OE);
    assert_int_equal(fp_mcrfs(&fpscr, 2), 2);
    assert_int_equal(fpscr, FP_OE);
    fp_mtfsb1(&fpscr, 1);
    fp_mtfsb1(&fpscr, 20); /* reserved */
    assert_int_equal(fpscr, FP_OE);
    fpscr = FP_VX | FP_VXVC | FP_FR | FP_FI | FPRF(0x1f);
    assert_int_equal(fp_mcrfs(&fpscr, 3), 0xf); /* of field 3 only VXVC is an exception bit */
    assert_int_equal(fpscr, FP_FR | FP_FI | FPRF(0x1f));
    assert_int_equal(fp_cr1(FP_FX | FP_OX), 9);
}

/* lfs of every exponent and edge, stfs back, and what stfs cuts. */
static void test_single_format(void **state)
{
    (void)state;
    size_t count = times(1000000);
    for (size_t i = 0; i < count; i++) {
        uint32_t word =
            i < 1024 ? (uint32_t)((i & 511) << 23 | (i >> 9) * 0x7fffff) : (uint32_t)random_bits();
        if (i % 4 == 3) word &= 0x807fffff;
        uint64_t loaded = fp_load_single(word);
        assert_int_equal(fp_store_single(loaded), word);
        float f;
        memcpy(&f, &word, sizeof f);
        if (!isnan(f)) assert_int_equal(loaded, bits_of((double)f));
    }
    assert_int_equal(fp_load_single(0x7fa00001),
                     UINT64_C(0x7ff4000020000000)); /* a signalling NaN stays one */
    assert_int_equal(fp_store_single(ONE + 0x1fffffff), 0x3f800000);
    assert_int_equal(fp_store_single(UINT64_C(0x3690000000000000)), 0);
}

/* fres within 1/256, frsqrte within 1/32, over all they are defined for. */
static void test_estimates(void **state)
{
    (void)state;
    size_t count = times(200000);
    for (size_t i = 0; i < count; i++) {
        uint64_t b = (UINT64_C(898) + random_below(250)) << 52 | random_fraction();
        uint64_t r = 0;
        uint32_t fpscr = random_below(4);
        uint32_t before = fpscr;
        fp_arith(FP_FRES, &fpscr, &r, 0, b, 0);
        assert_true(fabs(fp_to_host(r) * fp_to_host(b) - 1) <= 1.0 / 256);
        assert_int_equal(fpscr & ~FP_FPRF, before);
        b = (random_bits() >> 1) % INFINITE;
        if (b < MIN) continue;
        fp_arith(FP_FRSQRTE, &fpscr, &r, 0, b, 0);
        double x = fp_to_host(r) * sqrt(fp_to_host(b));
        assert_true(fabs(x - 1) <= 1.0 / 32);
        assert_int_equal(fpscr & ~FP_FPRF, before);
    }
}

/* ---- The host's arithmetic, in its four rounding modes. */

static const int host_modes[] = {[FP_RN_NEAREST] = FE_TONEAREST,
                                 [FP_RN_ZERO] = FE_TOWARDZERO,
                                 [FP_RN_UP] = FE_UPWARD,
                                 [FP_RN_DOWN] = FE_DOWNWARD};

struct host_answer {
    double result;
    int flags;
    bool known; /* the host has this operation, with these operands */
};

static struct host_answer host_double(enum fp_op op, double a0, double b0, double c0)
{
    volatile double a = a0;
    volatile double b = b0;
    volatile double c = c0;
    volatile double r = 0;
    bool known = true;
    feclearexcept(FE_ALL_EXCEPT);
    switch (op) {
    case FP_FADD: r = a + b; break;
    case FP_FSUB: r = a - b; break;
    case FP_FMUL: r = a * c; break;
    case FP_FDIV: r = a / b; break;
    case FP_FMADD: r = fma(a, c, b); break;
    case FP_FMSUB: r = fma(a, c, -b); break;
    case FP_FNMADD:
        r = fma(a, c, b);
        r = -r;
        break;
    case FP_FNMSUB:
        r = fma(a, c, -b);
        r = -r;
        break;
    case FP_FSQRT: r = sqrt(b); break;
    case FP_FRSP: r = (double)(float)b; break;
    default: known = false; break;
    }
    return (struct host_answer){r, fetestexcept(FE_ALL_EXCEPT), known};
}

static struct host_answer host_single(enum fp_op op, float a0, float b0, float c0)
{
    volatile float a = a0;
    volatile float b = b0;
    volatile float c = c0;
    volatile float r = 0;
    bool known = true;
    feclearexcept(FE_ALL_EXCEPT);
    switch (op) {
    case FP_FADDS: r = a + b; break;
    case FP_FSUBS: r = a - b; break;
    case FP_FMULS: r = a * c; break;
    case FP_FDIVS: r = a / b; break;
    case FP_FMADDS: r = fmaf(a, c, b); break;
    case FP_FMSUBS: r = fmaf(a, c, -b); break;
    case FP_FNMADDS:
        r = fmaf(a, c, b);
        r = -r;
        break;
    case FP_FNMSUBS:
        r = fmaf(a, c, -b);
        r = -r;
        break;
    case FP_FSQRTS: r = sqrtf(b); break;
    default: known = false; break;
    }
    int flags = fetestexcept(FE_ALL_EXCEPT);
    return (struct host_answer){(double)r, flags, known};
}

static bool all_singles(const uint64_t f[3])
{
    for (int i = 0; i < 3; i++)
        if (isnan(fp_to_host(f[i])) || (double)(float)fp_to_host(f[i]) != fp_to_host(f[i]))
            return false;
    return true;
}

/* The host may detect tininess after rounding (x86 does), so its underflow implies ours, and ours
 * implies its unless the result became the least normal number. It may also call infinity times
 * zero plus a NaN valid. */
static bool host_agrees(enum fp_op op, const struct host_answer *host, uint64_t result,
                        uint32_t fpscr)
{
    double r = fp_to_host(result);
    bool host_ux = host->flags & FE_UNDERFLOW;
    bool least = fabs(r) == (fp_op_is_single(op) ? 0x1p-126 : 0x1p-1022);
    if (isnan(r) || isnan(host->result)) return isnan(r) && isnan(host->result);
    return bits_of(host->result) == result && !(host->flags & FE_INVALID) == !(fpscr & FP_VX) &&
           !(host->flags & FE_INEXACT) == !(fpscr & FP_XX) &&
           !(host->flags & FE_OVERFLOW) == !(fpscr & FP_OX) &&
           !(host->flags & FE_DIVBYZERO) == !(fpscr & FP_ZX) &&
           (host_ux ? !!(fpscr & FP_UX) : !(fpscr & FP_UX) || least);
}

static void test_reference_equals_host(void **state)
{
    (void)state;
    size_t count = times(400000);
    random_state = 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t f[3];
        random_operands(f);
        enum fp_op op = 1 + random_below(FP_FRSP);
        unsigned rn = random_below(4);
        fesetround(host_modes[rn]);
        struct host_answer host =
            host_double(op, fp_to_host(f[0]), fp_to_host(f[1]), fp_to_host(f[2]));
        if (!host.known && all_singles(f))
            host = host_single(op, (float)fp_to_host(f[0]), (float)fp_to_host(f[1]),
                               (float)fp_to_host(f[2]));
        fesetround(FE_TONEAREST);
        if (!host.known) continue;
        uint32_t fpscr = rn;
        uint64_t result = 0;
        fp_arith(op, &fpscr, &result, f[0], f[1], f[2]);
        if (!host_agrees(op, &host, result, fpscr))
            fail_msg("%s rn %u a %016llx b %016llx c %016llx: %016llx %08x, host %016llx %x",
                     fp_op_name(op), rn, (unsigned long long)f[0], (unsigned long long)f[1],
                     (unsigned long long)f[2], (unsigned long long)result, fpscr,
                     (unsigned long long)bits_of(host.result), host.flags);
    }
}

/* Enabled overflow and underflow: the host computes the adjusted product from factors adjusted by
 * half as much. */
static void test_adjusted_exponents_equal_host(void **state)
{
    (void)state;
    size_t count = times(100000);
    random_state = 2;
    for (size_t i = 0; i < count; i++) {
        bool over = random_bits() & 1;
        unsigned rn = random_below(4);
        uint64_t a = (random_bits() & SIGN) |
                     (uint64_t)(over ? 1540 + random_below(500) : random_below(500)) << 52;
        uint64_t c = (random_bits() & SIGN) |
                     (uint64_t)(over ? 1540 + random_below(500) : random_below(500)) << 52;
        a |= random_fraction();
        c |= random_fraction();
        volatile double x = ldexp(fp_to_host(a), over ? -768 : 768);
        volatile double y = ldexp(fp_to_host(c), over ? -768 : 768);
        fesetround(host_modes[rn]);
        volatile double r = x * y;
        fesetround(FE_TONEAREST);
        uint32_t fpscr = FP_OE | FP_UE | rn;
        uint64_t result = 0;
        fp_arith(FP_FMUL, &fpscr, &result, a, 0, c);
        if (x == 0 || y == 0) continue;
        assert_int_equal(result, bits_of(r));
        assert_true(fpscr & (over ? FP_OX : FP_UX));
        assert_true(fpscr & FP_FEX);
    }
}

/* By address: gcc's own code for rint is right only for rounding to nearest. */
static double (*volatile host_rint)(double) = rint;

static void test_integers_equal_host(void **state)
{
    (void)state;
    size_t count = times(300000);
    random_state = 3;
    for (size_t i = 0; i < count; i++) {
        unsigned rn = random_below(4);
        uint64_t b = operand((UINT64_C(1023) + random_below(66)) << 52);
        volatile double x = fp_to_host(b);
        fesetround(host_modes[rn]);
        volatile double rounded = host_rint(x);
        volatile int64_t n = (int64_t)random_bits() >> random_below(64);
        volatile double from = (double)n;
        fesetround(FE_TONEAREST);
        double truncated = trunc(x);
        for (enum fp_op op = FP_FCTIW; op <= FP_FCTIDZ; op++) {
            double y = op == FP_FCTIW || op == FP_FCTID ? rounded : truncated;
            bool word = op == FP_FCTIW || op == FP_FCTIWZ;
            double limit = word ? 0x1p31 : 0x1p63;
            uint64_t result = 0;
            uint32_t fpscr = rn;
            fp_arith(op, &fpscr, &result, 0, b, 0);
            if (y >= -limit && y < limit) {
                assert_int_equal(result, (int64_t)y);
                assert_int_equal(fpscr & ~FP_FR, rn | (y != x ? FP_FX | FP_XX | FP_FI : 0));
                assert_int_equal(!!(fpscr & FP_FR), fabs(y) > fabs(x));
            } else {
                assert_int_equal(result, y >= limit ? (word ? INT32_MAX : INT64_MAX)
                                                    : (word ? INT32_MIN : INT64_MIN));
                assert_int_equal(fpscr & ~FP_VXSNAN, rn | FP_FX | FP_VX | FP_VXCVI);
            }
        }
        uint64_t result = 0;
        uint32_t fpscr = rn;
        fp_arith(FP_FCFID, &fpscr, &result, 0, (uint64_t)n, 0);
        assert_int_equal(result, bits_of(from));
    }
}

/* ---- The fast path. */

static unsigned do_fast(struct fp_state *s, enum fp_op op, uint64_t *t, uint64_t a, uint64_t b,
                        uint64_t c)
{
    switch (op) {
    case FP_FADD: return fp_fast_fadd(s, t, a, b);
    case FP_FADDS: return fp_fast_fadds(s, t, a, b);
    case FP_FSUB: return fp_fast_fsub(s, t, a, b);
    case FP_FSUBS: return fp_fast_fsubs(s, t, a, b);
    case FP_FMUL: return fp_fast_fmul(s, t, a, c);
    case FP_FMULS: return fp_fast_fmuls(s, t, a, c);
    case FP_FDIV: return fp_fast_fdiv(s, t, a, b);
    case FP_FDIVS: return fp_fast_fdivs(s, t, a, b);
    case FP_FMADD: return fp_fast_fmadd(s, t, a, b, c);
    case FP_FMADDS: return fp_fast_fmadds(s, t, a, b, c);
    case FP_FMSUB: return fp_fast_fmsub(s, t, a, b, c);
    case FP_FMSUBS: return fp_fast_fmsubs(s, t, a, b, c);
    case FP_FNMADD: return fp_fast_fnmadd(s, t, a, b, c);
    case FP_FNMADDS: return fp_fast_fnmadds(s, t, a, b, c);
    case FP_FNMSUB: return fp_fast_fnmsub(s, t, a, b, c);
    case FP_FNMSUBS: return fp_fast_fnmsubs(s, t, a, b, c);
    case FP_FRSP: return fp_fast_frsp(s, t, b);
    case FP_FCTIWZ: return fp_fast_fctiwz(s, t, b);
    case FP_FRES: return fp_fast_fres(s, t, b);
    case FP_FRSQRTE: return fp_fast_frsqrte(s, t, b);
    default: return fp_slow(s, op, t, a, b, c);
    }
}

/* One of the three that write FPSCR bits as they are given, by both. */
static void write_fpscr(struct fp_state *s, uint32_t *fpscr)
{
    unsigned n = random_below(256);
    uint32_t value = random_below(4) ? random_fpscr() : FP_XX;
    switch (random_below(4)) {
    case 0: n = 0xff; /* fall through */
    case 1:
        fp_write_fpscr(s, fp_fields(n), value);
        fp_mtfsf(fpscr, n, value);
        break;
    case 2:
        n = random_below(2) ? 7 : n & 7;
        value &= random_below(2) ? 0xc : 0xf;
        fp_write_fpscr(s, fp_field(n), (value & 0xf) * UINT32_C(0x11111111));
        fp_mtfsfi(fpscr, n, value & 0xf);
        break;
    default:
        fp_write_fpscr(s, fp_bit(n), 0);
        fp_mtfsb0(fpscr, n & 31);
        break;
    }
}

/* Runs of instructions through both, the FPSCR looked at only now and then; a comparison and a
 * change of the FPSCR now and then too. */
static void test_fast_equals_reference(void **state)
{
    (void)state;
    size_t count = times(6000000);
    size_t deferred[FP_OP_COUNT] = {0};
    struct fp_state s = {0};
    uint32_t fpscr = 0;
    random_state = 4;
    for (size_t i = 0; i < count; i++) {
        uint64_t f[3];
        uint64_t fast = UNTOUCHED;
        uint64_t reference = UNTOUCHED;
        random_operands(f);
        if (random_below(8) == 0) {
            fpscr = random_fpscr();
            fp_state_init(&s, fpscr);
        }
        enum fp_op op = 1 + random_below(FP_OP_COUNT - 1);
        unsigned said_fast;
        unsigned said;
        if (random_below(8) == 0) {
            bool ordered = random_bits() & 1;
            op = FP_OP_NONE;
            said_fast = fp_fast_compare(&s, ordered, f[0], f[1]);
            said = (ordered ? fp_compare_ordered : fp_compare_unordered)(&fpscr, f[0], f[1]);
        } else if (random_below(16) == 0) {
            op = FP_OP_NONE;
            said_fast = said = 0;
            write_fpscr(&s, &fpscr);
        } else {
            said_fast = do_fast(&s, op, &fast, f[0], f[1], f[2]);
            said = fp_arith(op, &fpscr, &reference, f[0], f[1], f[2]);
            deferred[op] += s.lazy == op;
        }
        uint32_t lazy = FP_FR | FP_FI | FP_FPRF;
        bool good = said == said_fast && fast == reference && (s.fpscr & ~lazy) == (fpscr & ~lazy);
        if (random_bits() & 1) {
            fp_sync(&s);
            good = good && s.fpscr == fpscr;
        }
        if (!good)
            fail_msg(
                "%s a %016llx b %016llx c %016llx: fast %016llx %08x %u, reference %016llx %08x %u",
                op ? fp_op_name(op) : "compare or write", (unsigned long long)f[0],
                (unsigned long long)f[1], (unsigned long long)f[2], (unsigned long long)fast,
                s.fpscr, said_fast, (unsigned long long)reference, fpscr, said);
    }
    for (enum fp_op op = FP_FADD; op <= FP_FNMSUBS; op++)
        assert_true(deferred[op] > count / FP_OP_COUNT / 20); /* the fast path was taken */
    assert_true(deferred[FP_FRSP] && deferred[FP_FRES] && deferred[FP_FRSQRTE]);
}

/* A program of whole numbers never sets XX and still never needs the reference. */
static void test_exact_results_stay_fast(void **state)
{
    (void)state;
    struct fp_state s = {0};
    uint64_t sum = 0;
    for (int i = 1; i < 1000; i++) {
        assert_int_equal(fp_fast_fmadd(&s, &sum, bits_of(i), sum, bits_of(i + 1)), FP_WRITTEN);
        assert_int_equal(s.lazy, FP_FMADD);
    }
    assert_int_equal(sum, bits_of(333333000));
    assert_int_equal(fp_read_fpscr(&s), FPRF(0x04));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual_cases),
        cmocka_unit_test(test_unused_operands),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_select_and_signs),
        cmocka_unit_test(test_fpscr_instructions),
        cmocka_unit_test(test_single_format),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_reference_equals_host),
        cmocka_unit_test(test_adjusted_exponents_equal_host),
        cmocka_unit_test(test_integers_equal_host),
        cmocka_unit_test(test_fast_equals_reference),
        cmocka_unit_test(test_exact_results_stay_fast),
    };
    return cmocka_run_group_tests_name("fp", tests, NULL, NULL);
}
