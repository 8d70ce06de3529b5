/* What the inline fast path leaves over.
 *
 * fp_slow first asks whether host arithmetic can show that the result is exact: then nothing sticky changes, whatever
 * XX was, and a note is enough. That keeps programs fast that compute in whole numbers and never set XX, and products
 * with zero, whose result the inline test refuses. Everything else is the reference's.
 *
 * The proofs (r is the host's rounded result, all in round-to-nearest):
 *   sum       TwoSum's error term is 0. If one of its steps overflows, the term is a NaN and proves nothing.
 *   product   fma(a, c, -r) is 0, with r large enough that the error term cannot underflow; or a factor is 0.
 *   quotient  fma(-r, b, a) is 0, with a and r large enough; or a is 0 and b is not.
 *   fused     the product is exact, and so is its sum with b; its rounding is then the fused one.
 *   single    the double is exact and is a single, normal or 0. If XX is known, it may be any exact double of single's
 *             range: rounding that is rounding once.
 */
#include "fp/fp_fast.h"

/* Exponent field from which products and remainders of 53-bit numbers do not reach below the least denormal. */
enum { ERROR_TERM_SAFE = 200 };

static bool error_term_safe(double r)
{
    return fp_exponent_within(fp_from_host(r), ERROR_TERM_SAFE);
}

static bool exact_sum(double x, double y, double *r)
{
    double s = x + y;
    double y1 = s - x;
    double x1 = s - y1;
    *r = s;
    return fp_sum_ok(s) && (x - x1) + (y - y1) == 0;
}

static bool exact_product(double x, double y, double *r)
{
    *r = x * y;
    if (x == 0 || y == 0) return *r == 0;
    return error_term_safe(*r) && fp_host_fma(x, y, -*r) == 0;
}

static bool exact_quotient(double x, double y, double *r)
{
    *r = x / y;
    if (x == 0) return *r == 0;
    return error_term_safe(*r) && error_term_safe(x) && fp_host_fma(-*r, y, x) == 0;
}

static bool exact_fused(double x, double y, double z, double *r)
{
    double p;
    return exact_product(x, y, &p) && exact_sum(p, z, r);
}

static bool exact_double(enum fp_op op, double a, double b, double c, double *r)
{
    bool exact = false;
    switch (op) {
    case FP_FADD:
    case FP_FADDS: return exact_sum(a, b, r);
    case FP_FSUB:
    case FP_FSUBS: return exact_sum(a, -b, r);
    case FP_FMUL:
    case FP_FMULS: return exact_product(a, c, r);
    case FP_FDIV:
    case FP_FDIVS: return exact_quotient(a, b, r);
    case FP_FMADD:
    case FP_FMADDS: return exact_fused(a, c, b, r);
    case FP_FMSUB:
    case FP_FMSUBS: return exact_fused(a, c, -b, r);
    case FP_FNMADD:
    case FP_FNMADDS:
        exact = exact_fused(a, c, b, r);
        *r = -*r;
        return exact;
    case FP_FNMSUB:
    case FP_FNMSUBS:
        exact = exact_fused(a, c, -b, r);
        *r = -*r;
        return exact;
    case FP_FRSP: *r = b; return fp_sum_ok(b);
    default: return false;
    }
}

/* Whether the host's result, put in *r, is the guest's and raises nothing that is not known. */
static bool right_on_host(const struct fp_state *s, enum fp_op op, uint64_t a, uint64_t b, uint64_t c, double *r)
{
    if (!exact_double(op, fp_to_host(a), fp_to_host(b), fp_to_host(c), r)) return false;
    if (!fp_op_is_single(op) || *r == 0) return true;
    double d = *r;
    *r = (double)(float)d;
    return fp_single_ok(*r) && (*r == d || fp_notes_suffice(s));
}

unsigned fp_slow(struct fp_state *s, enum fp_op op, uint64_t *target, uint64_t a, uint64_t b, uint64_t c)
{
    double r = 0;
    if (FP_HOST_IEEE && !(s->fpscr & (FP_FEX | FP_UE | FP_RN)) && right_on_host(s, op, a, b, c, &r)) {
        fp_note(s, op, a, b, c);
        *target = fp_from_host(r);
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
    fp_note(s, FP_FRES, 0, b, 0);
    *target = fp_from_host(r);
    return FP_WRITTEN;
}

unsigned fp_fast_frsqrte(struct fp_state *s, uint64_t *target, uint64_t b)
{
    if (!FP_HOST_IEEE || s->fpscr & (FP_FEX | FP_RN) || b >> 63 || !fp_exponent_within(b, 1))
        return fp_slow(s, FP_FRSQRTE, target, 0, b, 0);
    fp_note(s, FP_FRSQRTE, 0, b, 0);
    *target = fp_from_host(1.0 / __builtin_sqrt(fp_to_host(b)));
    return FP_WRITTEN;
}

unsigned fp_slow_compare(struct fp_state *s, bool ordered, uint64_t a, uint64_t b)
{
    s->noted |= FP_NOTED_COMPARE;
    return ordered ? fp_compare_ordered(&s->fpscr, a, b) : fp_compare_unordered(&s->fpscr, a, b);
}

void fp_settle(struct fp_state *s)
{
    enum fp_op op = (enum fp_op)(s->noted & 0xff);
    if (op != FP_OP_NONE) {
        uint32_t described = FP_FR | FP_FI | FP_FPRF;
        uint32_t again = s->fpscr;
        uint64_t result;
        (void)fp_arith(op, &again, &result, s->a, s->b, s->c);
        if (s->noted & FP_NOTED_COMPARE) described &= ~FP_FPCC;
        if (s->noted & FP_NOTED_CONVERT) described &= ~(FP_FR | FP_FI);
        s->fpscr = (s->fpscr & ~described) | (again & described);
    }
    s->noted = FP_OP_NONE;
}
