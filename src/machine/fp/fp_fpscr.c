/* The FPSCR's own instructions, and comparison, which changes nothing else.
 *
 * FX is sticky: any instruction here but mtfsf and mtfsfi raises it with an exception bit. FEX and
 * VX are never stored, always derived.
 */
#include "machine/fp/fp_impl.h"

#define SUMMARIES (FP_FEX | FP_VX)

uint32_t fp_summarise(uint32_t fpscr)
{
    fpscr &= ~(SUMMARIES | FP_RESERVED);
    if (fpscr & FP_VX_ALL) fpscr |= FP_VX;
    /* VX OX UX ZX XX are bits 2..6, VE OE UE ZE XE bits 24..28, in the same order. */
    if ((fpscr >> 22) & fpscr & (FP_VE | FP_OE | FP_UE | FP_ZE | FP_XE)) fpscr |= FP_FEX;
    return fpscr;
}

_Static_assert(FP_VX >> 22 == FP_VE && FP_XX >> 22 == FP_XE,
               "fp_summarise pairs exceptions with their enable bits");

static uint32_t raise_bits(uint32_t fpscr, uint32_t bits)
{
    if (bits & FP_EXCEPTIONS & ~fpscr) fpscr |= FP_FX;
    return fp_summarise(fpscr | bits);
}

static void store(uint32_t *fpscr, uint32_t mask, uint32_t value)
{
    *fpscr = fp_summarise((*fpscr & ~mask) | (value & mask));
}

void fp_mtfsf(uint32_t *fpscr, unsigned field_mask, uint64_t b)
{
    store(fpscr, fp_fields(field_mask), (uint32_t)b);
}

void fp_mtfsfi(uint32_t *fpscr, unsigned field, unsigned value)
{
    store(fpscr, fp_field(field), (value & 0xf) * UINT32_C(0x11111111));
}

void fp_mtfsb0(uint32_t *fpscr, unsigned bit)
{
    store(fpscr, fp_bit(bit), 0);
}

void fp_mtfsb1(uint32_t *fpscr, unsigned bit)
{
    *fpscr = raise_bits(*fpscr, fp_bit(bit));
}

unsigned fp_mcrfs(uint32_t *fpscr, unsigned field)
{
    unsigned shift = 4 * (7 - (field & 7));
    uint32_t bits = *fpscr & UINT32_C(0xf) << shift;
    *fpscr = fp_summarise(*fpscr & ~(bits & (FP_FX | FP_EXCEPTIONS)));
    return bits >> shift;
}

/* Totally ordered integers for numbers, the zeros equal. */
static int64_t order(uint64_t x)
{
    int64_t magnitude = (int64_t)(x & ~FP_SIGN);
    return x & FP_SIGN ? -magnitude : magnitude;
}

static unsigned compare(uint32_t *fpscr, uint64_t a, uint64_t b, uint32_t exceptions)
{
    unsigned cc = fp_is_nan(a) || fp_is_nan(b) ? 1
                  : order(a) < order(b)        ? 8
                  : order(a) > order(b)        ? 4
                                               : 2;
    *fpscr = raise_bits((*fpscr & ~FP_FPCC) | cc << FP_FPRF_SHIFT, exceptions);
    return cc;
}

unsigned fp_compare_unordered(uint32_t *fpscr, uint64_t a, uint64_t b)
{
    return compare(fpscr, a, b, fp_is_snan(a) || fp_is_snan(b) ? FP_VXSNAN : 0);
}

unsigned fp_compare_ordered(uint32_t *fpscr, uint64_t a, uint64_t b)
{
    uint32_t exceptions = 0;
    if (fp_is_snan(a) || fp_is_snan(b))
        exceptions = FP_VXSNAN | (*fpscr & FP_VE ? 0 : FP_VXVC);
    else if (fp_is_nan(a) || fp_is_nan(b))
        exceptions = FP_VXVC;
    return compare(fpscr, a, b, exceptions);
}
