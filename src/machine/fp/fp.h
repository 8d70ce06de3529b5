/* PowerPC floating-point arithmetic, exact to the bit: results, FPSCR, and what an enabled
 * exception suppresses.
 *
 * This header is the definition. It works in integers only (no host floating point), for every
 * rounding mode, and is what the fast path (fp_fast.h) is compared with. docs/fp.md names the
 * manual's rules, every choice where the manual says "undefined", and where qemu-ppc differs.
 *
 * An FPR is a uint64_t in double format. The FPSCR is a uint32_t, PowerPC bit 0 the most
 * significant; its FEX and VX bits are summaries and are right after every function here. The
 * operands are those of the instruction's fields: fmul multiplies frA by frC, fmadd adds frB to
 * that, an instruction of one operand takes frB. Unused operands are ignored. FPSCR[NI] is kept and
 * has no effect: arithmetic is always IEEE.
 *
 * Nothing is allocated, nothing is global; every function may be called from any thread.
 *
 * Terms: docs/glossary.md
 */
#ifndef FP_FP_H
#define FP_FP_H

#include <stdbool.h>
#include <stdint.h>

/* FPSCR bits. */
#define FP_FX     UINT32_C(0x80000000)
#define FP_FEX    UINT32_C(0x40000000)
#define FP_VX     UINT32_C(0x20000000)
#define FP_OX     UINT32_C(0x10000000)
#define FP_UX     UINT32_C(0x08000000)
#define FP_ZX     UINT32_C(0x04000000)
#define FP_XX     UINT32_C(0x02000000)
#define FP_VXSNAN UINT32_C(0x01000000)
#define FP_VXISI  UINT32_C(0x00800000)
#define FP_VXIDI  UINT32_C(0x00400000)
#define FP_VXZDZ  UINT32_C(0x00200000)
#define FP_VXIMZ  UINT32_C(0x00100000)
#define FP_VXVC   UINT32_C(0x00080000)
#define FP_FR     UINT32_C(0x00040000)
#define FP_FI     UINT32_C(0x00020000)
#define FP_FPRF   UINT32_C(0x0001f000) /* C and FPCC: class and sign of the last result */
#define FP_FPCC   UINT32_C(0x0000f000) /* FL FG FE FU */
#define FP_VXSOFT UINT32_C(0x00000400)
#define FP_VXSQRT UINT32_C(0x00000200)
#define FP_VXCVI  UINT32_C(0x00000100)
#define FP_VE     UINT32_C(0x00000080)
#define FP_OE     UINT32_C(0x00000040)
#define FP_UE     UINT32_C(0x00000020)
#define FP_ZE     UINT32_C(0x00000010)
#define FP_XE     UINT32_C(0x00000008)
#define FP_NI     UINT32_C(0x00000004)
#define FP_RN     UINT32_C(0x00000003)
#define FP_VX_ALL                                                                                  \
    (FP_VXSNAN | FP_VXISI | FP_VXIDI | FP_VXZDZ | FP_VXIMZ | FP_VXVC | FP_VXSOFT | FP_VXSQRT |     \
     FP_VXCVI)
/* The bits whose rise sets FX. */
#define FP_EXCEPTIONS (FP_OX | FP_UX | FP_ZX | FP_XX | FP_VX_ALL)
#define FP_RESERVED   UINT32_C(0x00000800) /* reads as 0 */

enum { FP_FPRF_SHIFT = 12 };
enum { FP_RN_NEAREST, FP_RN_ZERO, FP_RN_UP, FP_RN_DOWN };

#define FP_QNAN UINT64_C(0x7ff8000000000000) /* the QNaN that an invalid operation generates */

/* The arithmetic instructions, one row each: name in capitals, mnemonic, operand fields in the
 * order of the value's formula, worker, target precision, addend negated, result negated. To add
 * one: a row here and, if no worker of fp_ref.c or fp_convert.c fits, a worker. */
#define FP_OPS(X)                                                                                  \
    X(FADD, fadd, "ab", add, DOUBLE, 0, 0)                                                         \
    X(FADDS, fadds, "ab", add, SINGLE, 0, 0)                                                       \
    X(FSUB, fsub, "ab", add, DOUBLE, 1, 0)                                                         \
    X(FSUBS, fsubs, "ab", add, SINGLE, 1, 0)                                                       \
    X(FMUL, fmul, "ac", mul, DOUBLE, 0, 0)                                                         \
    X(FMULS, fmuls, "ac", mul, SINGLE, 0, 0)                                                       \
    X(FDIV, fdiv, "ab", div, DOUBLE, 0, 0)                                                         \
    X(FDIVS, fdivs, "ab", div, SINGLE, 0, 0)                                                       \
    X(FMADD, fmadd, "acb", madd, DOUBLE, 0, 0)                                                     \
    X(FMADDS, fmadds, "acb", madd, SINGLE, 0, 0)                                                   \
    X(FMSUB, fmsub, "acb", madd, DOUBLE, 1, 0)                                                     \
    X(FMSUBS, fmsubs, "acb", madd, SINGLE, 1, 0)                                                   \
    X(FNMADD, fnmadd, "acb", madd, DOUBLE, 0, 1)                                                   \
    X(FNMADDS, fnmadds, "acb", madd, SINGLE, 0, 1)                                                 \
    X(FNMSUB, fnmsub, "acb", madd, DOUBLE, 1, 1)                                                   \
    X(FNMSUBS, fnmsubs, "acb", madd, SINGLE, 1, 1)                                                 \
    X(FSQRT, fsqrt, "b", sqrt, DOUBLE, 0, 0)                                                       \
    X(FSQRTS, fsqrts, "b", sqrt, SINGLE, 0, 0)                                                     \
    X(FRES, fres, "b", res, SINGLE, 0, 0)                                                          \
    X(FRSQRTE, frsqrte, "b", rsqrte, DOUBLE, 0, 0)                                                 \
    X(FRSP, frsp, "b", rsp, SINGLE, 0, 0)                                                          \
    X(FCFID, fcfid, "b", cfid, DOUBLE, 0, 0)                                                       \
    X(FCTIW, fctiw, "b", ctiw, INTEGER, 0, 0)                                                      \
    X(FCTIWZ, fctiwz, "b", ctiwz, INTEGER, 0, 0)                                                   \
    X(FCTID, fctid, "b", ctid, INTEGER, 0, 0)                                                      \
    X(FCTIDZ, fctidz, "b", ctidz, INTEGER, 0, 0)

#define FP_OP_ENUMERATOR(upper, ...) FP_##upper,
enum fp_op { FP_OP_NONE, FP_OPS(FP_OP_ENUMERATOR) FP_OP_COUNT };
#undef FP_OP_ENUMERATOR

/* What fp_arith says about the instruction it did. */
enum {
    FP_WRITTEN = 1, /* the target was written; clear: an enabled exception left it, and FPSCR[FPRF],
                       as they were */
    FP_ENABLED =
        2, /* FPSCR[FEX] is 1: with MSR[FE0] or MSR[FE1], the caller raises the program interrupt */
};

/* Does one instruction: writes *target (only if the manual does) and *fpscr, returns FP_WRITTEN |
 * FP_ENABLED. */
unsigned fp_arith(enum fp_op op, uint32_t *fpscr, uint64_t *target, uint64_t a, uint64_t b,
                  uint64_t c);
const char *fp_op_name(enum fp_op op); /* the mnemonic */
bool fp_op_is_single(enum fp_op op);   /* the result is rounded to single */
const char *
fp_op_operands(enum fp_op op); /* "ab", "ac", "acb" or "b": the register fields it reads */

/* fcmpu, fcmpo: the CR field as FL FG FE FU = 8 4 2 1. FPCC gets the same; C, FR and FI stay. The
 * field is written whatever is enabled; the caller looks at FPSCR[FEX] for the interrupt. */
unsigned fp_compare_unordered(uint32_t *fpscr, uint64_t a, uint64_t b);
unsigned fp_compare_ordered(uint32_t *fpscr, uint64_t a, uint64_t b);

/* Instructions that only move bits; the FPSCR is not involved. */
static inline uint64_t fp_neg(uint64_t b)
{
    return b ^ UINT64_C(1) << 63;
}
static inline uint64_t fp_abs(uint64_t b)
{
    return b & ~(UINT64_C(1) << 63);
}
static inline uint64_t fp_nabs(uint64_t b)
{
    return b | UINT64_C(1) << 63;
}
/* fsel: frC if frA >= 0 (either zero), frB if frA < 0 or NaN. */
static inline uint64_t fp_select(uint64_t a, uint64_t b, uint64_t c)
{
    bool nan = fp_abs(a) > UINT64_C(0x7ff0000000000000);
    bool below = a > UINT64_C(1) << 63; /* negative and not -0 */
    return nan || below ? b : c;
}

uint64_t fp_load_single(uint32_t word);      /* lfs: exact; a signalling NaN stays one */
uint32_t fp_store_single_tiny(uint64_t frs); /* the rest of fp_store_single */
/* stfs: no rounding and no exception. What single format cannot hold is cut off, below 2^-149 to
 * zero. */
static inline uint32_t fp_store_single(uint64_t frs)
{
    if ((frs >> 52 & 0x7ff) > 896)
        return (uint32_t)(frs >> 32 & 0xc0000000) | (uint32_t)(frs >> 29 & 0x3fffffff);
    return fp_store_single_tiny(frs);
}

/* The FPSCR instructions. Reserved bits stay 0. FEX and VX follow from the other bits and cannot be
 * set. mffs is the FPSCR itself in the low word; the high word of the FPR is undefined and ours is
 * 0. */
static inline uint32_t fp_bit(unsigned bit) /* PowerPC bit number 0..31 */
{
    return UINT32_C(0x80000000) >> (bit & 31);
}
static inline uint32_t fp_field(unsigned field) /* 0..7 */
{
    return UINT32_C(0xf0000000) >> 4 * (field & 7);
}
static inline uint32_t fp_fields(unsigned mask) /* FM of mtfsf: bit 7 is field 0 */
{
    uint32_t each = mask & 0xff; /* a bit to each field, then four */
    each = (each | each << 12) & 0x000f000f;
    each = (each | each << 6) & 0x03030303;
    each = (each | each << 3) & 0x11111111;
    return each * 0xf;
}
uint32_t fp_summarise(uint32_t fpscr); /* FEX and VX made right, reserved cut */
void fp_mtfsf(uint32_t *fpscr, unsigned field_mask, uint64_t b);
void fp_mtfsfi(uint32_t *fpscr, unsigned field, unsigned value); /* field 0..7, value 0..15 */
void fp_mtfsb0(uint32_t *fpscr, unsigned bit);
void fp_mtfsb1(uint32_t *fpscr, unsigned bit);      /* sets FX if an exception bit rises */
unsigned fp_mcrfs(uint32_t *fpscr, unsigned field); /* CR field; its exception bits clear */
static inline unsigned fp_cr1(uint32_t fpscr)       /* CR1 of a form with Rc=1 */
{
    return fpscr >> 28;
}

#endif
