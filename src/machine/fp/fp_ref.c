/* Exact arithmetic: sums, products, quotients, roots, fused sums of products.
 *
 * Each worker computes the result exactly, or to 126 bits and more with the rest gathered in the
 * lowest bit, and leaves rounding to fp_give_number. That the gathered bit suffices: where an
 * operand of a sum is shifted far enough to lose bits (by 22 or more), at most one leading bit
 * cancels, so the gathered bit stays far below the 53 that are kept and their half.
 */
#include "machine/fp/fp_impl.h"

static struct fp_number number_of(struct fp_unpacked u)
{
    return (struct fp_number){u.sign, u.exp, (fp_u128)u.sig << 64};
}

static struct fp_number normalised(bool sign, int exp, fp_u128 sig)
{
    uint64_t high = (uint64_t)(sig >> 64);
    int zeros =
        high ? __builtin_clzll(high) : 64 + ((uint64_t)sig ? __builtin_clzll((uint64_t)sig) : 0);
    return (struct fp_number){sign, exp - zeros, sig << zeros};
}

/* Both nonzero, with their lowest bit clear. */
static struct fp_number sum(struct fp_number x, struct fp_number y)
{
    if (x.exp < y.exp || (x.exp == y.exp && x.sig < y.sig)) {
        struct fp_number t = x;
        x = y;
        y = t;
    }
    fp_u128 small = fp_shift_right_jam(y.sig >> 1, (unsigned)(x.exp - y.exp));
    fp_u128 large = x.sig >> 1;
    return normalised(x.sign, x.exp + 1, x.sign == y.sign ? large + small : large - small);
}

static void give_sum(struct fp_calc *calc, struct fp_number x, struct fp_number y)
{
    bool down = (calc->before & FP_RN) == FP_RN_DOWN;
    if (!x.sig && !y.sig) {
        fp_give_zero(calc, x.sign == y.sign ? x.sign : down);
        return;
    }
    struct fp_number z = !x.sig ? y : !y.sig ? x : sum(x, y);
    if (!z.sig)
        fp_give_zero(calc, down);
    else
        fp_give_number(calc, z);
}

void fp_do_add(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    if (fp_give_nan(calc, a, b, 0)) return;
    struct fp_unpacked x = fp_unpack(a);
    struct fp_unpacked y = fp_unpack(b);
    y.sign ^= calc->negate_addend;
    if (x.kind == FP_KIND_INF && y.kind == FP_KIND_INF && x.sign != y.sign)
        fp_give_invalid(calc, FP_VXISI);
    else if (x.kind == FP_KIND_INF || y.kind == FP_KIND_INF)
        fp_give_infinity(calc, x.kind == FP_KIND_INF ? x.sign : y.sign);
    else
        give_sum(calc, number_of(x), number_of(y));
}

static struct fp_number product(struct fp_unpacked x, struct fp_unpacked y)
{
    fp_u128 sig = (fp_u128)x.sig * y.sig;
    bool sign = x.sign != y.sign;
    if (!sig) return (struct fp_number){.sign = sign};
    bool high = sig >> 127;
    return (struct fp_number){sign, x.exp + y.exp + high, sig << !high};
}

/* Whether x*y is infinity times zero, and whether it is infinite; neither is a NaN. */
static bool inf_times_zero(struct fp_unpacked x, struct fp_unpacked y)
{
    return (x.kind == FP_KIND_INF && y.kind == FP_KIND_ZERO) ||
           (x.kind == FP_KIND_ZERO && y.kind == FP_KIND_INF);
}

static bool inf_product(struct fp_unpacked x, struct fp_unpacked y)
{
    return x.kind == FP_KIND_INF || y.kind == FP_KIND_INF;
}

void fp_do_mul(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b;
    if (fp_give_nan(calc, a, c, 0)) return;
    struct fp_unpacked x = fp_unpack(a);
    struct fp_unpacked y = fp_unpack(c);
    if (inf_times_zero(x, y))
        fp_give_invalid(calc, FP_VXIMZ);
    else if (inf_product(x, y))
        fp_give_infinity(calc, x.sign != y.sign);
    else if (x.kind == FP_KIND_ZERO || y.kind == FP_KIND_ZERO)
        fp_give_zero(calc, x.sign != y.sign);
    else
        fp_give_number(calc, product(x, y));
}

void fp_do_madd(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    struct fp_unpacked x = fp_unpack(a);
    struct fp_unpacked y = fp_unpack(c);
    struct fp_unpacked z = fp_unpack(b);
    bool imz = inf_times_zero(x, y);
    if (fp_give_nan(calc, a, b, c)) {
        /* Only frB can be the NaN here: infinity times zero counts even when a NaN is added to it.
         */
        if (imz) calc->raised |= FP_VXIMZ;
        return;
    }
    bool sign = x.sign != y.sign;
    z.sign ^= calc->negate_addend;
    if (imz)
        fp_give_invalid(calc, FP_VXIMZ);
    else if (inf_product(x, y) && z.kind == FP_KIND_INF && sign != z.sign)
        fp_give_invalid(calc, FP_VXISI);
    else if (inf_product(x, y) || z.kind == FP_KIND_INF)
        fp_give_infinity(calc, z.kind == FP_KIND_INF ? z.sign : sign);
    else
        give_sum(calc, product(x, y), number_of(z));
}

/* Both finite and not zero. */
static struct fp_number quotient(struct fp_unpacked x, struct fp_unpacked y)
{
    fp_u128 dividend = (fp_u128)x.sig << 63; /* the quotient is in (2^62, 2^64) */
    uint64_t q = (uint64_t)(dividend / y.sig);
    bool rest = dividend % y.sig != 0;
    return normalised(x.sign != y.sign, x.exp - y.exp, ((fp_u128)q << 64 | rest));
}

void fp_do_div(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    if (fp_give_nan(calc, a, b, 0)) return;
    struct fp_unpacked x = fp_unpack(a);
    struct fp_unpacked y = fp_unpack(b);
    bool sign = x.sign != y.sign;
    if (x.kind == FP_KIND_INF && y.kind == FP_KIND_INF) {
        fp_give_invalid(calc, FP_VXIDI);
    } else if (x.kind == FP_KIND_ZERO && y.kind == FP_KIND_ZERO) {
        fp_give_invalid(calc, FP_VXZDZ);
    } else if (x.kind == FP_KIND_INF) {
        fp_give_infinity(calc, sign);
    } else if (x.kind == FP_KIND_ZERO || y.kind == FP_KIND_INF) {
        fp_give_zero(calc, sign);
    } else if (y.kind == FP_KIND_ZERO) {
        calc->raised |= FP_ZX;
        fp_give_infinity(calc, sign);
    } else {
        fp_give_number(calc, quotient(x, y));
    }
}

/* The integer square root of a number with its top or second bit set. */
static uint64_t root(fp_u128 x, bool *rest)
{
    uint64_t r = 0;
    fp_u128 left = x; /* x - r*r */
    for (int i = 63; i >= 0; i--) {
        fp_u128 step = ((fp_u128)r << (i + 1)) + ((fp_u128)1 << (2 * i)); /* (r + 2^i)^2 - r^2 */
        if (left >= step) {
            left -= step;
            r |= UINT64_C(1) << i;
        }
    }
    *rest = left != 0;
    return r;
}

static struct fp_number square_root(struct fp_unpacked x)
{
    bool rest = false;
    bool odd = x.exp & 1;
    uint64_t r = root((fp_u128)x.sig << 64 >> !odd, &rest);
    return (struct fp_number){false, (x.exp - odd) / 2, (fp_u128)r << 64 | rest};
}

void fp_do_sqrt(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    if (fp_give_nan(calc, b, 0, 0)) return;
    struct fp_unpacked x = fp_unpack(b);
    if (x.kind == FP_KIND_ZERO)
        fp_give_zero(calc, x.sign);
    else if (x.sign)
        fp_give_invalid(calc, FP_VXSQRT);
    else if (x.kind == FP_KIND_INF)
        fp_give_infinity(calc, false);
    else
        fp_give_number(calc, square_root(x));
}

/* fres and frsqrte. The manual asks for 1/256 and 1/32 and lets an implementation be better; ours
 * are rounded quotients, so a program's iterations start from the same value as under qemu-ppc. An
 * estimate never raises XX, and leaves FR and FI 0 where the manual leaves them undefined. */
#define ONE UINT64_C(0x3ff0000000000000)

static void forget_inexact(struct fp_calc *calc)
{
    calc->raised &= ~(FP_XX | FP_FR | FP_FI);
}

void fp_do_res(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    fp_do_div(calc, ONE, b, c);
    forget_inexact(calc);
}

void fp_do_rsqrte(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    if (fp_give_nan(calc, b, 0, 0)) return;
    fp_do_sqrt(calc, a, b, c);
    if (!(calc->raised & FP_VXSQRT)) fp_do_div(calc, ONE, calc->result, c);
    forget_inexact(calc);
}
