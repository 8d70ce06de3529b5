/* The slow part of fp_fast.h: evaluates deferred instructions, and decides on the host whether a
 * result is exact.
 *
 * An instruction's rounded result and the sign of its rounding error determine FI (the error is not
 * 0), FR (it points from the result to zero) and whether the result is exact. An exact result
 * changes nothing sticky, so the instruction may be deferred whatever XX was (fp_slow). That keeps
 * programs fast that compute in whole numbers and never set XX, and products with zero, which the
 * inline test refuses. Cases that the proofs do not cover go to the reference.
 *
 * The proofs (r is the host's rounded result, all in round-to-nearest):
 *   sum       TwoSum's error term; a NaN, which proves nothing, if one of its steps overflows.
 *   product   fma(a, c, -r), with r large enough that this cannot underflow; nothing if a factor is
 * 0. quotient  the sign of fma(-r, b, a), turned if b is negative, with a and r large enough;
 * nothing if a is 0, b not. fused     the sign of the error term of fma as Boldo and Muller compute
 * it (IEEE TC 60, 2011): the product and its error term are added to b by two TwoSums; b, product
 * and r large enough or 0. single    what rounding the double took away, if that is anything, as it
 * is more than half the double's last place; else what is missing in the double.
 */
#include "machine/fp/fp_fast.h"
#include "machine/fp/fp_impl.h"

/* A rounded result, and a number with the sign of what is missing in it. */
struct rounded {
    double value, rest;
};

static bool is_safe(double x)
{
    return fp_exponent_within(fp_from_host(x), FP_REST_SAFE);
}

static struct rounded sum(double x, double y)
{
    double s = x + y;
    double y1 = s - x;
    double x1 = s - y1;
    return (struct rounded){s, (x - x1) + (y - y1)};
}

static bool product(double x, double y, struct rounded *p)
{
    *p = (struct rounded){x * y, 0};
    if (x == 0 || y == 0) return p->value == 0;
    p->rest = fp_host_fma(x, y, -p->value);
    return is_safe(p->value);
}

static bool quotient(double x, double y, struct rounded *q)
{
    *q = (struct rounded){x / y, 0};
    if (x == 0) return q->value == 0;
    q->rest = fp_host_fma(-q->value, y, x);
    if (y < 0) q->rest = -q->rest;
    return is_safe(x) && is_safe(q->value);
}

static bool fused(double x, double y, double z, struct rounded *r)
{
    struct rounded p;
    if (!product(x, y, &p) || !(z == 0 || is_safe(z))) return false;
    struct rounded low = sum(z, p.rest), high = sum(p.value, low.value);
    *r = (struct rounded){fp_host_fma(x, y, z), 0};
    r->rest = ((high.value - r->value) + high.rest) + low.rest;
    return r->value == 0 ? r->rest == 0 : is_safe(r->value);
}

static bool in_double(enum fp_op op, double a, double b, double c, struct rounded *r)
{
    switch (op) {
    case FP_FADD:
    case FP_FADDS: *r = sum(a, b); return true;
    case FP_FSUB:
    case FP_FSUBS: *r = sum(a, -b); return true;
    case FP_FMUL:
    case FP_FMULS: return product(a, c, r);
    case FP_FDIV:
    case FP_FDIVS: return quotient(a, b, r);
    case FP_FMADD:
    case FP_FMADDS:
    case FP_FNMADD:
    case FP_FNMADDS: return fused(a, c, b, r);
    case FP_FMSUB:
    case FP_FMSUBS:
    case FP_FNMSUB:
    case FP_FNMSUBS: return fused(a, c, -b, r);
    case FP_FRSP: *r = (struct rounded){b, 0}; return true;
    default: return false;
    }
}

/* Rounds to single, where that equals rounding once. */
static bool in_single(struct rounded *r)
{
    double d = r->value;
    if (d == 0) return true;
    if (r->rest != 0 && !fp_not_halfway(d)) return false;
    r->value = (double)(float)d;
    if (r->value != d) r->rest = d - r->value;
    return fp_single_ok(r->value);
}

static bool on_host(enum fp_op op, uint64_t a, uint64_t b, uint64_t c, struct rounded *r)
{
    if (!in_double(op, fp_to_host(a), fp_to_host(b), fp_to_host(c), r)) return false;
    if (fp_op_is_single(op) && !in_single(r)) return false;
    if (op == FP_FNMADD || op == FP_FNMADDS || op == FP_FNMSUB || op == FP_FNMSUBS)
        *r = (struct rounded){-r->value, -r->rest};
    return fp_sum_ok(r->value) && r->rest == r->rest; /* and it is not tiny, unless it is exact */
}

unsigned fp_slow(struct fp_state *s, enum fp_op op, uint64_t *target, uint64_t a, uint64_t b,
                 uint64_t c)
{
    struct rounded r;
    if (FP_HOST_IEEE && !(s->fpscr & (FP_FEX | FP_UE | FP_RN)) && on_host(op, a, b, c, &r) &&
        (r.rest == 0 || s->fpscr & FP_XX)) {
        fp_defer(s, op, a, b, c);
        *target = fp_from_host(r.value);
        return FP_WRITTEN;
    }
    fp_sync(s); /* what the reference keeps (FPRF of a suppressed result) must be there */
    return fp_arith(op, &s->fpscr, target, a, b, c);
}

unsigned fp_fast_fres(struct fp_state *s, uint64_t *target, uint64_t b)
{
    double d = 1.0 / fp_to_host(b);
    double r = (double)(float)d;
    if (!FP_HOST_IEEE || s->fpscr & (FP_FEX | FP_RN) || !fp_single_ok(r) || !fp_not_halfway(d))
        return fp_slow(s, FP_FRES, target, 0, b, 0);
    fp_defer(s, FP_FRES, 0, b, 0);
    *target = fp_from_host(r);
    return FP_WRITTEN;
}

unsigned fp_fast_frsqrte(struct fp_state *s, uint64_t *target, uint64_t b)
{
    if (!FP_HOST_IEEE || s->fpscr & (FP_FEX | FP_RN) || b >> 63 || !fp_exponent_within(b, 1))
        return fp_slow(s, FP_FRSQRTE, target, 0, b, 0);
    fp_defer(s, FP_FRSQRTE, 0, b, 0);
    *target = fp_from_host(1.0 / __builtin_sqrt(fp_to_host(b)));
    return FP_WRITTEN;
}

unsigned fp_slow_compare(struct fp_state *s, bool ordered, uint64_t a, uint64_t b)
{
    unsigned cc = (ordered ? fp_compare_ordered : fp_compare_unordered)(&s->fpscr, a, b);
    s->lazy = (s->lazy & ~FP_FPCC) | FP_LAZY_COMPARE | cc << FP_FPRF_SHIFT;
    return cc;
}

/* FR, FI and FPRF of the deferred instruction. RN and UE are still as they were when it ran. */
static bool described_on_host(const struct fp_state *s, enum fp_op op, uint32_t *described)
{
    struct rounded r;
    if (!FP_HOST_IEEE || s->fpscr & (FP_UE | FP_RN) || !on_host(op, s->a, s->b, s->c, &r))
        return false;
    bool minus = fp_from_host(r.value) >> 63;
    uint64_t magnitude = fp_abs(fp_from_host(r.value));
    unsigned fprf = minus ? FP_CLASS_NEG_NORMAL : FP_CLASS_NORMAL;
    if (magnitude <= FP_FRACTION) fprf = minus ? FP_CLASS_NEG_DENORMAL : FP_CLASS_DENORMAL;
    if (magnitude == 0) fprf = minus ? FP_CLASS_NEG_ZERO : FP_CLASS_ZERO;
    /* Whether FR is set, no host can guess: without a branch. */
    uint32_t inexact = (r.rest != 0) * FP_FI, away = ((r.rest < 0) != minus) * FP_FR;
    *described = fprf << FP_FPRF_SHIFT | inexact | (away & inexact << 1);
    return true;
}

/* Of an fctiwz, in range or not. */
static uint32_t converted_inexactly(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 && (double)(int32_t)x != x ? FP_FI : 0;
}

void fp_evaluate(struct fp_state *s)
{
    enum fp_op op = (enum fp_op)(s->lazy & 0xff);
    if (op != FP_OP_NONE) {
        uint32_t again = s->fpscr;
        uint64_t result;
        if (!described_on_host(s, op, &again))
            (void)fp_arith(op, &again, &result, s->a, s->b, s->c);
        s->fpscr = (s->fpscr & ~FP_DESCRIBED) | (again & FP_DESCRIBED);
    }
    if (s->lazy & FP_LAZY_COMPARE) s->fpscr = (s->fpscr & ~FP_FPCC) | (s->lazy & FP_FPCC);
    if (s->lazy & FP_LAZY_CONVERT)
        s->fpscr = (s->fpscr & ~(FP_FR | FP_FI)) | converted_inexactly(fp_to_host(s->converted));
    s->lazy = FP_OP_NONE;
}

/* fp_evaluate does a deferred instruction again with the current FPSCR, so nothing that its result
 * depends on may have changed. Translated code defers instructions that helpers did, too.
 */
void fp_write_fpscr(struct fp_state *s, uint32_t mask, uint32_t value)
{
    uint32_t after = (s->fpscr & ~mask) | (value & mask);
    if ((mask & FP_DESCRIBED) == FP_DESCRIBED) {
        s->lazy = FP_OP_NONE;
    } else if (mask & FP_DESCRIBED || (after | s->fpscr) & (FP_UE | FP_RN) ||
               (after ^ s->fpscr) & FP_DECIDING) {
        fp_sync(s);
        after = (s->fpscr & ~mask) | (value & mask);
    }
    s->fpscr = fp_summarise(after);
}
