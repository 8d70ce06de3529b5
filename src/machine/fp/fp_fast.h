/* The same arithmetic at the host's speed, for interpreters and translated code: equal to fp.h
 * after fp_sync, always.
 *
 * Why it is sound. The host rounds to nearest as the guest does, so a result is the guest's if it
 * is finite and surely not tiny; then no exception but inexact is possible. That is tested on the
 * result alone, in two integer operations, since an infinity, a NaN, an invalid operation or a zero
 * divide always shows in it. A single-precision instruction is computed in double and rounded
 * again, where that is the same as rounding once. Everything else is left to the reference; so is
 * all that happens while FPSCR[RN] is not nearest, while underflow is enabled (exact results
 * underflow too, then) and while FEX is set.
 *
 * Why it is cheap: lazy evaluation of the FPSCR. XX is sticky: once it is set, FR, FI and FPRF,
 * which describe the last instruction, are all that an instruction changes. They are not computed;
 * the instruction and its operands are stored, and fp_sync evaluates them when the FPSCR is read.
 * Until XX is set, fp_slow finds out whether the result is exact. Both use error-free
 * transformations on the host (fp_fast.c).
 *
 * Who uses this must call fp_sync before anything but this header reads or writes state->fpscr
 * (fp_read_fpscr does); leave the host rounding to nearest and not flushing denormals; compile
 * without -ffast-math and with -ffp-contract=off. Without fp_sync, the sticky, summary, enable and
 * RN bits are right at any time; FR, FI and FPRF are not. A state belongs to one thread at a time
 * and may be copied.
 *
 * A translator need not defer an instruction that another deferred one follows before anything can
 * read the FPSCR.
 */
#ifndef FP_FP_FAST_H
#define FP_FP_FAST_H

#include <float.h>
#include <string.h>

#include "machine/fp/fp.h"

#ifdef __FAST_MATH__
#error "src/machine/fp needs IEEE arithmetic: compile without -ffast-math"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Hosts that compute with excess precision (x87) use the reference for everything. */
#if FLT_EVAL_METHOD == 0 && DBL_MANT_DIG == 53
#define FP_HOST_IEEE 1
#else
#define FP_HOST_IEEE 0
#endif

struct fp_state {
    uint32_t fpscr;
    uint32_t lazy;      /* enum fp_op of the deferred instruction, whose FR, FI and FPRF are not in
                           fpscr yet, or 0 */
    uint64_t a, b, c;   /* its operands */
    uint64_t converted; /* with FP_LAZY_CONVERT */
};
/* Added to `lazy` by later instructions. */
enum {
    FP_LAZY_COMPARE = 0x100, /* FPCC is that of a comparison, at its place in `lazy` */
    FP_LAZY_CONVERT = 0x200, /* FR and FI are those of fctiwz with the operand `converted` */
};
_Static_assert((int)FP_OP_COUNT <= (int)FP_LAZY_COMPARE, "lazy holds an enum fp_op and these");

/* A state with the given FPSCR. */
static inline void fp_state_init(struct fp_state *s, uint32_t fpscr)
{
    memset(s, 0, sizeof *s);
    s->fpscr = fp_summarise(fpscr);
}

void fp_evaluate(struct fp_state *s); /* the rest of fp_sync */
static inline void fp_sync(struct fp_state *s)
{
    if (s->lazy) fp_evaluate(s);
}

static inline uint32_t fp_read_fpscr(struct fp_state *s)
{
    fp_sync(s);
    return s->fpscr;
}

/* What a deferred instruction has yet to set. */
#define FP_DESCRIBED (FP_FR | FP_FI | FP_FPRF)
/* What the result of a deferred instruction depends on, and so may not change before it is
 * evaluated. */
#define FP_DECIDING (FP_VE | FP_OE | FP_UE | FP_ZE)

/* mtfsf, mtfsfi and mtfsb0: the bits of `mask` become those of `value`. A deferred instruction
 * stays if its evaluation gives the same later, and is dropped if all its bits are overwritten. */
void fp_write_fpscr(struct fp_state *s, uint32_t mask, uint32_t value);

/* Any instruction of FP_OPS, not inline: host arithmetic where that shows the result to be exact,
 * else the reference. Returns what fp_arith does. */
unsigned fp_slow(struct fp_state *s, enum fp_op op, uint64_t *target, uint64_t a, uint64_t b,
                 uint64_t c);

static inline double fp_to_host(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint64_t fp_from_host(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* x*y + z, rounded once. Built for plain x86-64 the compiler would call libm; a host that has the
 * instruction gets it in line, behind a branch that always goes the same way. */
static inline double fp_host_fma(double x, double y, double z)
{
#if defined(__x86_64__) && !defined(__FMA__)
    if (__builtin_expect(__builtin_cpu_supports("fma"), 1)) {
        __asm__("vfmadd213sd %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));
        return x;
    }
#endif
    return __builtin_fma(x, y, z);
}

/* Whether an instruction may be deferred: nearest, XX set and, as FEX is 0, not enabled. */
static inline bool fp_lazy_allowed(const struct fp_state *s)
{
    return FP_HOST_IEEE && (s->fpscr & (FP_FEX | FP_XX | FP_UE | FP_RN)) == FP_XX;
}

static inline void fp_defer(struct fp_state *s, enum fp_op op, uint64_t a, uint64_t b, uint64_t c)
{
    s->lazy = op;
    s->a = a;
    s->b = b;
    s->c = c;
}

/* Tests of a rounded result's bits, by exponent field. From `least` on, the result before rounding
 * was not tiny. */
static inline bool fp_exponent_within(uint64_t bits, unsigned least)
{
    return (bits << 1) - ((uint64_t)least << 53) < (uint64_t)(0x7ff - least) << 53;
}
enum { FP_SURE_DOUBLE = 2, FP_SURE_SINGLE = 898 }; /* one more than the least normal exponent */
/* The one from which products and remainders of 53-bit numbers do not reach below the least
 * denormal. */
enum { FP_REST_SAFE = 200 };

/* A sum of doubles is exact if it is tiny, so any finite one will do. */
static inline bool fp_sum_ok(double r)
{
    return fp_exponent_within(fp_from_host(r), 0);
}
static inline bool fp_double_ok(double r)
{
    return fp_exponent_within(fp_from_host(r), FP_SURE_DOUBLE);
}
/* A single-precision instruction: d is its result rounded to double, r that rounded to single.
 * Rounding twice is right if d is not halfway between two singles; or, for one sum, product or
 * quotient of singles, always, since 53 bits are two more than twice 24 (Figueroa 1995). Halfway is
 * rare for fused results and common for sums. */
static inline bool fp_single_ok(double r)
{
    return fp_exponent_within(fp_from_host(r), FP_SURE_SINGLE);
}
static inline bool fp_not_halfway(double d)
{
    return (fp_from_host(d) & 0x1fffffff) != 0x10000000;
}
static inline bool fp_both_singles(uint64_t x, uint64_t y)
{
    return !((x | y) & 0x1fffffff);
}

/* One function per instruction: unsigned fp_fast_fadd(state, &target, a, b), fp_fast_fmul(state,
 * &target, a, c), fp_fast_fmadd(state, &target, a, b, c) ... Operands by register field, returns
 * what fp_arith does. `fields`: the operands, which are stored. */
#define FP_FAST(name, upper, fields, value, result, ok)                                            \
    static inline unsigned fp_fast_##name(struct fp_state *s, uint64_t *target,                    \
                                          FP_PARAMETERS_##fields)                                  \
    {                                                                                              \
        double d = value;                                                                          \
        double r = result;                                                                         \
        if (__builtin_expect(!(fp_lazy_allowed(s) && (ok)), 0))                                    \
            return fp_slow(s, FP_##upper, target, FP_ARGUMENTS_##fields);                          \
        s->lazy = FP_##upper;                                                                      \
        FP_DEFER_##fields;                                                                         \
        *target = fp_from_host(r);                                                                 \
        return FP_WRITTEN;                                                                         \
    }
#define FP_PARAMETERS_ab  uint64_t a, uint64_t b
#define FP_PARAMETERS_ac  uint64_t a, uint64_t c
#define FP_PARAMETERS_abc uint64_t a, uint64_t b, uint64_t c
#define FP_ARGUMENTS_ab   a, b, 0
#define FP_ARGUMENTS_ac   a, 0, c
#define FP_ARGUMENTS_abc  a, b, c
#define FP_DEFER_ab       s->a = a, s->b = b
#define FP_DEFER_ac       s->a = a, s->c = c
#define FP_DEFER_abc      s->a = a, s->b = b, s->c = c

#define FP_SUM(sign)   (fp_to_host(a) sign fp_to_host(b))
#define FP_PRODUCT     (fp_to_host(a) * fp_to_host(c))
#define FP_QUOTIENT    (fp_to_host(a) / fp_to_host(b))
#define FP_FUSED(sign) (fp_host_fma(fp_to_host(a), fp_to_host(c), sign fp_to_host(b)))
#define FP_TO_SINGLE   ((double)(float)d)

FP_FAST(fadd, FADD, ab, FP_SUM(+), d, fp_sum_ok(r))
FP_FAST(fsub, FSUB, ab, FP_SUM(-), d, fp_sum_ok(r))
FP_FAST(fmul, FMUL, ac, FP_PRODUCT, d, fp_double_ok(r))
FP_FAST(fdiv, FDIV, ab, FP_QUOTIENT, d, fp_double_ok(r))
FP_FAST(fmadd, FMADD, abc, FP_FUSED(+), d, fp_double_ok(r))
FP_FAST(fmsub, FMSUB, abc, FP_FUSED(-), d, fp_double_ok(r))
FP_FAST(fnmadd, FNMADD, abc, FP_FUSED(+), -d, fp_double_ok(r))
FP_FAST(fnmsub, FNMSUB, abc, FP_FUSED(-), -d, fp_double_ok(r))

FP_FAST(fadds, FADDS, ab, FP_SUM(+), FP_TO_SINGLE, fp_single_ok(r) && fp_both_singles(a, b))
FP_FAST(fsubs, FSUBS, ab, FP_SUM(-), FP_TO_SINGLE, fp_single_ok(r) && fp_both_singles(a, b))
FP_FAST(fmuls, FMULS, ac, FP_PRODUCT, FP_TO_SINGLE, fp_single_ok(r) && fp_both_singles(a, c))
FP_FAST(fdivs, FDIVS, ab, FP_QUOTIENT, FP_TO_SINGLE, fp_single_ok(r) && fp_both_singles(a, b))
FP_FAST(fmadds, FMADDS, abc, FP_FUSED(+), FP_TO_SINGLE, fp_single_ok(r) && fp_not_halfway(d))
FP_FAST(fmsubs, FMSUBS, abc, FP_FUSED(-), FP_TO_SINGLE, fp_single_ok(r) && fp_not_halfway(d))
FP_FAST(fnmadds, FNMADDS, abc, FP_FUSED(+), -FP_TO_SINGLE, fp_single_ok(r) && fp_not_halfway(d))
FP_FAST(fnmsubs, FNMSUBS, abc, FP_FUSED(-), -FP_TO_SINGLE, fp_single_ok(r) && fp_not_halfway(d))

#undef FP_SUM
#undef FP_PRODUCT
#undef FP_QUOTIENT
#undef FP_FUSED
#undef FP_TO_SINGLE

static inline unsigned fp_fast_frsp(struct fp_state *s, uint64_t *target, uint64_t b)
{
    double r = (double)(float)fp_to_host(b);
    if (__builtin_expect(!(fp_lazy_allowed(s) && fp_single_ok(r)), 0))
        return fp_slow(s, FP_FRSP, target, 0, b, 0);
    fp_defer(s, FP_FRSP, 0, b, 0);
    *target = fp_from_host(r);
    return FP_WRITTEN;
}

/* fctiwz leaves FPRF alone, so an earlier instruction stays deferred. */
static inline unsigned fp_fast_fctiwz(struct fp_state *s, uint64_t *target, uint64_t b)
{
    if (__builtin_expect((b >> 52 & 0x7ff) < 1023 + 31 && !(s->fpscr & FP_FEX), 1)) {
        double x = fp_to_host(b);
        int32_t n = (int32_t)x;
        if (s->fpscr & FP_XX || (double)n == x) {
            s->converted = b;
            s->lazy |= FP_LAZY_CONVERT;
            *target = (uint64_t)(int64_t)n;
            return FP_WRITTEN;
        }
    }
    return fp_slow(s, FP_FCTIWZ, target, 0, b, 0);
}

/* The estimates do not set XX. */
unsigned fp_fast_fres(struct fp_state *s, uint64_t *target, uint64_t b);
unsigned fp_fast_frsqrte(struct fp_state *s, uint64_t *target, uint64_t b);

/* fcmpu and fcmpo are the same but for NaNs. */
unsigned fp_slow_compare(struct fp_state *s, bool ordered, uint64_t a, uint64_t b);
static inline unsigned fp_fast_compare(struct fp_state *s, bool ordered, uint64_t a, uint64_t b)
{
    double x = fp_to_host(a);
    double y = fp_to_host(b);
    if (__builtin_expect(__builtin_isunordered(x, y), 0)) return fp_slow_compare(s, ordered, a, b);
    unsigned cc = (unsigned)(x < y) << 3 | (unsigned)(x > y) << 2 | (unsigned)(x == y) << 1;
    s->lazy = (s->lazy & ~FP_FPCC) | FP_LAZY_COMPARE | cc << FP_FPRF_SHIFT;
    return cc;
}

#endif
