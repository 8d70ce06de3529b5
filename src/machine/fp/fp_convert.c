/* Conversions: to single, to and from integers, and the formats of single-precision loads and
 * stores. */
#include "machine/fp/fp_impl.h"

void fp_do_rsp(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    if (fp_give_nan(calc, b, 0, 0)) return;
    struct fp_unpacked x = fp_unpack(b);
    if (x.kind == FP_KIND_ZERO)
        fp_give_zero(calc, x.sign);
    else if (x.kind == FP_KIND_INF)
        fp_give_infinity(calc, x.sign);
    else
        fp_give_number(calc, (struct fp_number){x.sign, x.exp, (fp_u128)x.sig << 64});
}

void fp_do_cfid(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    bool sign = b >> 63;
    uint64_t magnitude = sign ? -b : b;
    if (!magnitude) {
        fp_give_zero(calc, false);
        return;
    }
    int zeros = __builtin_clzll(magnitude);
    fp_give_number(calc, (struct fp_number){sign, 63 - zeros, (fp_u128)(magnitude << zeros) << 64});
}

/* To a signed integer of `bits` bits, which is sign-extended into the register: the manual leaves
 * the high word of fctiw undefined. FPRF, undefined too, stays. */
static void convert(struct fp_calc *calc, uint64_t b, unsigned rn, unsigned bits)
{
    struct fp_unpacked x = fp_unpack(b);
    uint64_t limit =
        UINT64_C(1) << (bits - 1); /* of a negative magnitude; a positive one is below it */
    bool nan = fp_is_nan(b);
    if (fp_is_snan(b)) calc->raised |= FP_VXSNAN;

    uint64_t magnitude = 0;
    unsigned lost = 0;
    bool fits = x.kind == FP_KIND_ZERO;
    if (x.kind == FP_KIND_FINITE && x.exp < 64) {
        /* Bit 64 of y is worth 1; what is below is lost. */
        fp_u128 y = fp_shift_right_jam((fp_u128)x.sig << 64, (unsigned)(63 - x.exp));
        magnitude = (uint64_t)(y >> 64);
        lost = (unsigned)((uint64_t)y >> 63) << 1 | ((uint64_t)y << 1 != 0);
        bool up = fp_rounds_up(rn, x.sign, magnitude & 1, lost);
        magnitude += up; /* no carry: where bits are lost, fewer than 64 are kept */
        fits = x.sign ? magnitude <= limit : magnitude < limit;
        if (fits && lost) calc->raised |= FP_XX | FP_FI | (up ? FP_FR : 0);
    }
    if (!fits) {
        calc->raised |= FP_VXCVI;
        magnitude = nan || x.sign ? limit : limit - 1;
    }
    calc->result = x.sign || nan ? -magnitude : magnitude;
}

void fp_do_ctiw(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    convert(calc, b, calc->before & FP_RN, 32);
}

void fp_do_ctiwz(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    convert(calc, b, FP_RN_ZERO, 32);
}

void fp_do_ctid(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    convert(calc, b, calc->before & FP_RN, 64);
}

void fp_do_ctidz(struct fp_calc *calc, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a;
    (void)c;
    convert(calc, b, FP_RN_ZERO, 64);
}

uint64_t fp_load_single(uint32_t word)
{
    uint64_t sign = (uint64_t)(word >> 31) << 63;
    uint64_t exp = word >> 23 & 0xff;
    uint64_t fraction = (uint64_t)(word & 0x7fffff) << 29;
    if (exp == 0xff) return sign | FP_INFINITY | fraction;
    if (!exp && fraction) {
        int zeros = __builtin_clzll(fraction) - 11; /* until the leading one is the implicit bit */
        return sign | (uint64_t)(897 - zeros) << 52 | (fraction << zeros & FP_FRACTION);
    }
    return sign | (exp ? exp + 896 : 0) << 52 | fraction;
}

uint32_t fp_store_single_tiny(uint64_t frs)
{
    uint32_t sign = (uint32_t)(frs >> 63) << 31;
    unsigned exp = (unsigned)(frs >> 52 & 0x7ff);
    if (exp < 874) return sign; /* undefined by the manual unless zero */
    return sign | (uint32_t)((UINT64_C(1) << 52 | (frs & FP_FRACTION)) >> (29 + 897 - exp));
}
