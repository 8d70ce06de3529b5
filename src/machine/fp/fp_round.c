/* Rounding and the end of an instruction: the one place where results meet the FPSCR.
 *
 * The manual's order is kept: an intermediate result of unbounded range and precision is tested for
 * tininess, then denormalised or (underflow enabled) brought into range by adding 1536 or 192 to
 * its exponent, rounded, then tested for overflow. A single-precision result is a double whose
 * value single format can hold, and FPRF calls it denormal if it would be one there.
 */
#include "machine/fp/fp_impl.h"

struct fp_format {
    int precision; /* bits of significand, with the leading one */
    int exp_min, exp_max;
    int adjust; /* of the exponent, for an enabled overflow or underflow */
};

static const struct fp_format formats[] = {
    [FP_TARGET_DOUBLE] = {53, -1022, 1023, 1536},
    [FP_TARGET_SINGLE] = {24, -126, 127, 192},
};

bool fp_rounds_up(unsigned rn, bool sign, bool odd, unsigned lost)
{
    switch (rn) {
    case FP_RN_NEAREST: return lost > 2 || (lost == 2 && odd);
    case FP_RN_ZERO: return false;
    case FP_RN_UP: return lost && !sign;
    default: return lost && sign;
    }
}

static void give_class(struct fp_calc *calc, bool sign, enum fp_class positive,
                       enum fp_class negative)
{
    calc->fprf = sign ? negative : positive;
}

/* sig, of `precision` bits or fewer, is in units of 2^(exp - precision + 1). */
static void give_rounded(struct fp_calc *calc, const struct fp_format *format, bool sign, int exp,
                         uint64_t sig)
{
    bool denormal = !(sig >> (format->precision - 1));
    sign ^= calc->negate_result;
    if (!sig) {
        calc->result = (uint64_t)sign << 63;
        give_class(calc, sign, FP_CLASS_ZERO, FP_CLASS_NEG_ZERO);
        return;
    }
    sig <<= 53 - format->precision;
    if (denormal && calc->target == FP_TARGET_DOUBLE) {
        exp = -1023;
    } else if (denormal) {
        int zeros = __builtin_clzll(sig) - 11;
        sig <<= zeros;
        exp -= zeros;
    }
    /* An adjusted exponent that even double format cannot hold comes only from operands that are no
     * singles, for which the manual defines nothing; its low bits are kept. */
    calc->result =
        (uint64_t)sign << 63 | ((uint64_t)(exp + 1023) & 0x7ff) << 52 | (sig & FP_FRACTION);
    if (denormal)
        give_class(calc, sign, FP_CLASS_DENORMAL, FP_CLASS_NEG_DENORMAL);
    else
        give_class(calc, sign, FP_CLASS_NORMAL, FP_CLASS_NEG_NORMAL);
}

static void give_overflow(struct fp_calc *calc, const struct fp_format *format, bool sign)
{
    unsigned rn = calc->before & FP_RN;
    calc->raised &= ~FP_FR;
    calc->raised |= FP_OX | FP_XX | FP_FI;
    if (fp_rounds_up(rn, sign, true, 3)) {
        calc->raised |= FP_FR;
        fp_give_infinity(calc, sign);
    } else {
        give_rounded(calc, format, sign, format->exp_max, (UINT64_C(1) << format->precision) - 1);
    }
}

void fp_give_number(struct fp_calc *calc, struct fp_number x)
{
    const struct fp_format *format = &formats[calc->target];
    bool tiny = x.exp < format->exp_min;
    if (tiny && calc->before & FP_UE) {
        calc->raised |= FP_UX;
        x.exp += format->adjust;
    } else if (tiny) {
        x.sig = fp_shift_right_jam(x.sig, (unsigned)(format->exp_min - x.exp));
        x.exp = format->exp_min;
    }

    unsigned drop = 128 - (unsigned)format->precision;
    uint64_t sig = (uint64_t)(x.sig >> drop);
    unsigned lost = (unsigned)(x.sig >> (drop - 1) & 1) << 1 | ((x.sig << (129 - drop)) != 0);
    if (lost) {
        calc->raised |= FP_XX | FP_FI | (tiny ? FP_UX : 0);
        if (fp_rounds_up(calc->before & FP_RN, x.sign, sig & 1, lost)) {
            calc->raised |= FP_FR;
            if (++sig >> format->precision) {
                sig >>= 1;
                x.exp++;
            }
        }
    }

    if (x.exp > format->exp_max) {
        if (!(calc->before & FP_OE)) {
            give_overflow(calc, format, x.sign);
            return;
        }
        calc->raised |= FP_OX;
        x.exp -= format->adjust;
    }
    give_rounded(calc, format, x.sign, x.exp, sig);
}

void fp_give_zero(struct fp_calc *calc, bool sign)
{
    give_rounded(calc, &formats[calc->target], sign, 0, 0);
}

void fp_give_infinity(struct fp_calc *calc, bool sign)
{
    sign ^= calc->negate_result;
    calc->result = (uint64_t)sign << 63 | FP_INFINITY;
    give_class(calc, sign, FP_CLASS_INF, FP_CLASS_NEG_INF);
}

void fp_give_invalid(struct fp_calc *calc, uint32_t cause)
{
    calc->raised |= cause;
    calc->result = FP_QNAN;
    calc->fprf = FP_CLASS_QNAN;
}

bool fp_give_nan(struct fp_calc *calc, uint64_t first, uint64_t second, uint64_t third)
{
    uint64_t nan = fp_is_nan(first) ? first : fp_is_nan(second) ? second : third;
    if (!fp_is_nan(nan)) return false;
    if (fp_is_snan(first) || fp_is_snan(second) || fp_is_snan(third)) calc->raised |= FP_VXSNAN;
    calc->result =
        (nan | FP_QUIET) & (calc->target == FP_TARGET_SINGLE ? FP_NAN_SINGLE : ~UINT64_C(0));
    calc->fprf = FP_CLASS_QNAN;
    return true;
}

/* The rows of FP_OPS. */
struct fp_row {
    const char *name, *operands;
    fp_worker *work;
    enum fp_target target;
    bool negate_addend, negate_result;
};

#define FP_ROW(upper, name, operands, worker, precision, addend, result)                           \
    [FP_##upper] = {#name, operands, fp_do_##worker, FP_TARGET_##precision, addend, result},
static const struct fp_row rows[FP_OP_COUNT] = {FP_OPS(FP_ROW)};
#undef FP_ROW

const char *fp_op_name(enum fp_op op)
{
    return rows[op].name;
}

bool fp_op_is_single(enum fp_op op)
{
    return rows[op].target == FP_TARGET_SINGLE;
}

const char *fp_op_operands(enum fp_op op)
{
    return rows[op].operands;
}

unsigned fp_arith(enum fp_op op, uint32_t *fpscr, uint64_t *target, uint64_t a, uint64_t b,
                  uint64_t c)
{
    const struct fp_row *row = &rows[op];
    uint32_t before = *fpscr;
    struct fp_calc calc = {.before = before,
                           .target = row->target,
                           .negate_addend = row->negate_addend,
                           .negate_result = row->negate_result};
    row->work(&calc, a, b, c);

    bool suppressed =
        (calc.raised & FP_VX_ALL && before & FP_VE) || (calc.raised & FP_ZX && before & FP_ZE);
    uint32_t after = (before & ~(FP_FR | FP_FI)) | calc.raised;
    if (calc.raised & FP_EXCEPTIONS & ~before) after |= FP_FX;
    if (!suppressed) {
        *target = calc.result;
        if (calc.fprf) after = (after & ~FP_FPRF) | calc.fprf << FP_FPRF_SHIFT;
    }
    *fpscr = after = fp_summarise(after);
    return (suppressed ? 0 : FP_WRITTEN) | (after & FP_FEX ? FP_ENABLED : 0);
}
