/* Rows of the integer unit, the condition register and the special registers: what sem_integer.inc
 * and sem_branch.inc do. Without a row, and so left to the interpreter: overflow forms (XER[SO]
 * stays 0 in translated code), the 440's multiply-accumulate, traps, strings.
 */
#include <stddef.h>

#include "machine/jit/jit_impl.h"

#define RT (isa_rt(e->word))
#define RA (isa_ra(e->word))
#define RB (isa_rb(e->word))

static ir_value op(struct emit *e, enum ir_binary what, ir_value a, ir_value b)
{
    return ir_op(e->ir, what, a, b);
}

static ir_value not(struct emit * e, ir_value v)
{
    return op(e, IR_XOR, v, emit_const(e, UINT32_MAX));
}

static bool records(const struct emit *e)
{
    return isa_row(isa_decode(e->word))->flags & ISA_RC;
}

/* --- Sums: x + y + carry in ------------------------------------------------------------------ */

enum {
    X_NOT = 1, /* x is the complement of RA, else RA */
    Y_RB = 0,
    Y_SI = 2,
    Y_ZERO = 4,
    Y_ONES = 6,
    Y_MASK = 6,
    IN_0 = 0,
    IN_1 = 8,
    IN_CA = 16,
    IN_MASK = 24,
    CARRIES = 32
};

static ir_value second(struct emit *e, unsigned variant)
{
    switch (variant & Y_MASK) {
    case Y_SI: return emit_const(e, (uint32_t)isa_si(e->word));
    case Y_ZERO: return emit_const(e, 0);
    case Y_ONES: return emit_const(e, UINT32_MAX);
    default: return emit_gpr(e, RB);
    }
}

static void emit_sum(struct emit *e, unsigned variant)
{
    struct ir *ir = e->ir;
    ir_value x = emit_gpr(e, RA), y = second(e, variant), sum;
    unsigned in = variant & IN_MASK;
    if (variant & CARRIES) {
        ir_value carry = in == IN_CA ? emit_ca(e) : emit_const(e, in == IN_1);
        if (variant & X_NOT) x = not(e, x);
        ir_value wide =
            op(e, IR_ADD, ir_convert(ir, IR_ZEXT, IR_I64, x), ir_convert(ir, IR_ZEXT, IR_I64, y));
        wide = op(e, IR_ADD, wide, ir_convert(ir, IR_ZEXT, IR_I64, carry));
        sum = ir_convert(ir, IR_TRUNC, IR_I32, wide);
        emit_set_ca(
            e, ir_convert(ir, IR_TRUNC, IR_I1, op(e, IR_LSHR, wide, ir_const(ir, IR_I64, 32))));
    } else {
        sum = variant & X_NOT ? op(e, IR_SUB, y, x) : op(e, IR_ADD, x, y); /* ~x + y + 1 */
    }
    emit_set_gpr(e, RT, sum);
    if (records(e)) emit_record(e, sum);
}

static void emit_addi(struct emit *e, unsigned shift)
{
    uint32_t value = (uint32_t)isa_si(e->word) << shift;
    emit_set_gpr(e, RT,
                 RA ? op(e, IR_ADD, emit_gpr(e, RA), emit_const(e, value)) : emit_const(e, value));
}

/* --- Products and quotients ------------------------------------------------------------------ */

enum { PRODUCT_LOW, PRODUCT_HIGH, PRODUCT_HIGH_UNSIGNED, PRODUCT_IMMEDIATE };

static void emit_product(struct emit *e, unsigned variant)
{
    struct ir *ir = e->ir;
    ir_value x = emit_gpr(e, RA), y, result;
    y = variant == PRODUCT_IMMEDIATE ? emit_const(e, (uint32_t)isa_si(e->word)) : emit_gpr(e, RB);
    if (variant == PRODUCT_LOW || variant == PRODUCT_IMMEDIATE) {
        result = op(e, IR_MUL, x, y);
    } else {
        enum ir_convert how = variant == PRODUCT_HIGH ? IR_SEXT : IR_ZEXT;
        ir_value wide =
            op(e, IR_MUL, ir_convert(ir, how, IR_I64, x), ir_convert(ir, how, IR_I64, y));
        result = ir_convert(ir, IR_TRUNC, IR_I32, op(e, IR_LSHR, wide, ir_const(ir, IR_I64, 32)));
    }
    emit_set_gpr(e, RT, result);
    if (records(e)) emit_record(e, result);
}

/* Without a quotient the result is the dividend: divided by 1. */
static void emit_quotient(struct emit *e, unsigned is_signed)
{
    struct ir *ir = e->ir;
    ir_value x = emit_gpr(e, RA), y = emit_gpr(e, RB);
    ir_value none = ir_test(ir, IR_EQ, y, emit_const(e, 0));
    if (is_signed) {
        ir_value least = ir_test(ir, IR_EQ, x, emit_const(e, UINT32_C(0x80000000)));
        ir_value minus = ir_test(ir, IR_EQ, y, emit_const(e, UINT32_MAX));
        none = op(e, IR_OR, none, op(e, IR_AND, least, minus));
    }
    y = ir_select(ir, none, emit_const(e, 1), y);
    ir_value result = op(e, is_signed ? IR_SDIV : IR_UDIV, x, y);
    emit_set_gpr(e, RT, result);
    if (records(e)) emit_record(e, result);
}

/* --- Compare, select ------------------------------------------------------------------------- */

enum { COMPARE_SIGNED = 1, COMPARE_IMMEDIATE = 2 };

static void emit_compare_row(struct emit *e, unsigned variant)
{
    bool is_signed = variant & COMPARE_SIGNED;
    uint32_t immediate = is_signed ? (uint32_t)isa_si(e->word) : isa_ui(e->word);
    ir_value y = variant & COMPARE_IMMEDIATE ? emit_const(e, immediate) : emit_gpr(e, RB);
    emit_compare(e, isa_bf(e->word), is_signed, emit_gpr(e, RA), y);
}

static void emit_isel(struct emit *e, unsigned variant)
{
    (void)variant;
    emit_set_gpr(
        e, RT,
        ir_select(e->ir, emit_cr_bit(e, isa_frc(e->word)), emit_gpr_or_0(e, RA), emit_gpr(e, RB)));
}

/* --- Logic and shifts: from RT's field to RA's ----------------------------------------------- */

enum {
    LOGIC_AND,
    LOGIC_ANDC,
    LOGIC_EQV,
    LOGIC_NAND,
    LOGIC_NOR,
    LOGIC_OR,
    LOGIC_ORC,
    LOGIC_XOR,
    LOGIC_CNTLZW,
    LOGIC_EXTSB,
    LOGIC_EXTSH,
    LOGIC_RLWIMI,
    LOGIC_RLWINM,
    LOGIC_RLWNM,
    LOGIC_SLW,
    LOGIC_SRW,
    LOGIC_ORI,
    LOGIC_ORIS,
    LOGIC_XORI,
    LOGIC_XORIS,
    LOGIC_ANDI,
    LOGIC_ANDIS
};

static uint32_t rotate_mask(uint32_t word)
{
    unsigned mb = isa_frc(word), me = isa_me(word);
    uint32_t from = UINT32_MAX >> mb, to = UINT32_MAX << (31 - me);
    return mb <= me ? from & to : from | to;
}

static ir_value rotated(struct emit *e, ir_value s, ir_value by)
{
    uint32_t mask = rotate_mask(e->word);
    ir_value r = ir_rotate(e->ir, s, by);
    return mask == UINT32_MAX ? r : op(e, IR_AND, r, emit_const(e, mask));
}

/* rlwinm that is a plain shift is one for the host, too. */
static ir_value rotated_by(struct emit *e, ir_value s, unsigned by)
{
    uint32_t mask = rotate_mask(e->word);
    if (!by) return op(e, IR_AND, s, emit_const(e, mask));
    if (mask == UINT32_MAX << by) return op(e, IR_SHL, s, emit_const(e, by));
    if (mask == UINT32_MAX >> (32 - by)) return op(e, IR_LSHR, s, emit_const(e, 32 - by));
    return rotated(e, s, emit_const(e, by));
}

static ir_value insert(struct emit *e, ir_value s)
{
    uint32_t mask = rotate_mask(e->word);
    ir_value in = op(e, IR_AND, ir_rotate(e->ir, s, emit_const(e, RB)), emit_const(e, mask));
    return op(e, IR_OR, in, op(e, IR_AND, emit_gpr(e, RA), emit_const(e, ~mask)));
}

static ir_value shifted(struct emit *e, enum ir_binary what, ir_value s)
{
    ir_value by = emit_gpr(e, RB);
    ir_value out = ir_test(e->ir, IR_NE, op(e, IR_AND, by, emit_const(e, 32)), emit_const(e, 0));
    ir_value result = op(e, what, s, op(e, IR_AND, by, emit_const(e, 31)));
    return ir_select(e->ir, out, emit_const(e, 0), result);
}

static ir_value extended(struct emit *e, ir_value s, enum ir_type type)
{
    return ir_convert(e->ir, IR_SEXT, IR_I32, ir_convert(e->ir, IR_TRUNC, type, s));
}

static ir_value logic(struct emit *e, unsigned variant, ir_value s)
{
    ir_value ui = emit_const(e, isa_ui(e->word)), high = emit_const(e, isa_ui(e->word) << 16);
    switch (variant) {
    case LOGIC_AND: return op(e, IR_AND, s, emit_gpr(e, RB));
    case LOGIC_ANDC: return op(e, IR_AND, s, not(e, emit_gpr(e, RB)));
    case LOGIC_EQV: return not(e, op(e, IR_XOR, s, emit_gpr(e, RB)));
    case LOGIC_NAND: return not(e, op(e, IR_AND, s, emit_gpr(e, RB)));
    case LOGIC_NOR: return not(e, op(e, IR_OR, s, emit_gpr(e, RB)));
    case LOGIC_OR: return RT == RB ? s : op(e, IR_OR, s, emit_gpr(e, RB));
    case LOGIC_ORC: return op(e, IR_OR, s, not(e, emit_gpr(e, RB)));
    case LOGIC_XOR: return op(e, IR_XOR, s, emit_gpr(e, RB));
    case LOGIC_CNTLZW: return ir_leading_zeros(e->ir, s);
    case LOGIC_EXTSB: return extended(e, s, IR_I8);
    case LOGIC_EXTSH: return extended(e, s, IR_I16);
    case LOGIC_RLWIMI: return insert(e, s);
    case LOGIC_RLWINM: return rotated_by(e, s, RB);
    case LOGIC_RLWNM: return rotated(e, s, emit_gpr(e, RB));
    case LOGIC_SLW: return shifted(e, IR_SHL, s);
    case LOGIC_SRW: return shifted(e, IR_LSHR, s);
    case LOGIC_ORI: return op(e, IR_OR, s, ui);
    case LOGIC_ORIS: return op(e, IR_OR, s, high);
    case LOGIC_XORI: return op(e, IR_XOR, s, ui);
    case LOGIC_XORIS: return op(e, IR_XOR, s, high);
    case LOGIC_ANDI: return op(e, IR_AND, s, ui);
    default: return op(e, IR_AND, s, high);
    }
}

static void emit_logic(struct emit *e, unsigned variant)
{
    if (variant == LOGIC_ORI && e->word == 0x60000000) return; /* nop */
    ir_value result = logic(e, variant, emit_gpr(e, RT));
    struct emit_half half = e->half[RT];
    emit_set_gpr(e, RA, result);
    if (variant == LOGIC_XORIS && isa_ui(e->word) == 0x8000)
        e->half[RA] =
            (struct emit_half){half.of, !half.flipped}; /* a step from integers to doubles */
    if (records(e)) emit_record(e, result);
}

/* CA is set when ones were shifted out of a negative number. */
static void emit_shift_arithmetic(struct emit *e, unsigned immediate)
{
    struct ir *ir = e->ir;
    ir_value s = emit_gpr(e, RT), by = immediate ? emit_const(e, RB) : emit_gpr(e, RB);
    ir_value out = ir_test(ir, IR_NE, op(e, IR_AND, by, emit_const(e, 32)), emit_const(e, 0));
    ir_value n = op(e, IR_AND, by, emit_const(e, 31));
    ir_value mask = op(e, IR_SUB, op(e, IR_SHL, emit_const(e, 1), n), emit_const(e, 1));
    ir_value lost = ir_select(ir, out, s, op(e, IR_AND, s, mask));
    ir_value result = op(e, IR_ASHR, s, ir_select(ir, out, emit_const(e, 31), n));
    ir_value negative = ir_test(ir, IR_SLT, s, emit_const(e, 0));
    emit_set_ca(e, op(e, IR_AND, negative, ir_test(ir, IR_NE, lost, emit_const(e, 0))));
    emit_set_gpr(e, RA, result);
    if (records(e)) emit_record(e, result);
}

/* --- Condition register ---------------------------------------------------------------------- */

static ir_value cr_bit_number(struct emit *e, unsigned bit)
{
    ir_value v = op(e, IR_LSHR, emit_cr(e, bit / 4), emit_const(e, 3 - bit % 4));
    return op(e, IR_AND, v, emit_const(e, 1));
}

static void emit_cr_logic(struct emit *e, unsigned variant)
{
    ir_value x = cr_bit_number(e, RA), y = cr_bit_number(e, RB), one = emit_const(e, 1), v;
    if (variant == LOGIC_ANDC || variant == LOGIC_ORC) y = op(e, IR_XOR, y, one);
    switch (variant) {
    case LOGIC_AND:
    case LOGIC_NAND:
    case LOGIC_ANDC: v = op(e, IR_AND, x, y); break;
    case LOGIC_OR:
    case LOGIC_NOR:
    case LOGIC_ORC: v = op(e, IR_OR, x, y); break;
    default: v = op(e, IR_XOR, x, y); break;
    }
    if (variant == LOGIC_NAND || variant == LOGIC_NOR || variant == LOGIC_EQV)
        v = op(e, IR_XOR, v, one);
    unsigned shift = 3 - RT % 4;
    ir_value rest = op(e, IR_AND, emit_cr(e, RT / 4), emit_const(e, 15 & ~(1U << shift)));
    emit_set_cr(e, RT / 4, op(e, IR_OR, rest, op(e, IR_SHL, v, emit_const(e, shift))));
}

static void emit_mcrf(struct emit *e, unsigned variant)
{
    (void)variant;
    emit_set_cr(e, RT / 4, emit_cr(e, RA / 4));
}

static void emit_mfcr(struct emit *e, unsigned variant)
{
    ir_value v = emit_cr(e, 0);
    (void)variant;
    for (unsigned field = 1; field < 8; field++)
        v = op(e, IR_OR, op(e, IR_SHL, v, emit_const(e, 4)), emit_cr(e, field));
    emit_set_gpr(e, RT, v);
}

static void emit_mtcrf(struct emit *e, unsigned variant)
{
    unsigned mask = isa_fxm(e->word);
    ir_value v = emit_gpr(e, RT);
    (void)variant;
    for (unsigned field = 0; field < 8; field++)
        if (mask & 0x80 >> field)
            emit_set_cr(
                e, field,
                op(e, IR_AND, op(e, IR_LSHR, v, emit_const(e, 28 - 4 * field)), emit_const(e, 15)));
}

/* --- Special registers ----------------------------------------------------------------------- */

enum { SPR_LR = 8, SPR_CTR = 9, SPR_USPRG0 = 256, SPR_TBL = 268, SPR_TBU = 269 };

bool emit_supports_spr(enum isa_id id, unsigned spr)
{
    if (id != ISA_MTSPR && (spr == SPR_TBL || spr == SPR_TBU)) return true;
    return spr == SPR_LR || spr == SPR_CTR;
}

static void emit_from_spr(struct emit *e, unsigned variant)
{
    unsigned spr = isa_spr(e->word);
    (void)variant;
    if (spr == SPR_LR || spr == SPR_CTR) {
        emit_set_gpr(e, RT, emit_special(e, spr == SPR_CTR));
        return;
    }
    emit_call(e, JIT_CALL(jit_time), &(struct emit_call){0});
    ir_value time = emit_cycles(e);
    if (spr == SPR_TBU) time = op(e, IR_LSHR, time, ir_const(e->ir, IR_I64, 32));
    emit_set_gpr(e, RT, ir_convert(e->ir, IR_TRUNC, IR_I32, time));
}

static void emit_to_spr(struct emit *e, unsigned variant)
{
    (void)variant;
    emit_set_special(e, isa_spr(e->word) == SPR_CTR, emit_gpr(e, RT));
}

static void emit_nothing(struct emit *e, unsigned variant)
{
    (void)e;
    (void)variant;
}

#define BOTH(id, function, variant)                                                                \
    [ISA_##id] = {function, variant}, [ISA_##id##_RC] = {function, variant}
#define LOGIC(id)         BOTH(id, emit_logic, LOGIC_##id)
#define SUMS(id, variant) BOTH(id, emit_sum, variant)

const struct emit_entry emit_integer_rows[ISA_COUNT] = {
    SUMS(ADD, Y_RB),
    SUMS(ADDC, Y_RB | CARRIES),
    SUMS(ADDE, Y_RB | IN_CA | CARRIES),
    SUMS(ADDME, Y_ONES | IN_CA | CARRIES),
    SUMS(ADDZE, Y_ZERO | IN_CA | CARRIES),
    SUMS(SUBF, X_NOT | Y_RB),
    SUMS(SUBFC, X_NOT | Y_RB | IN_1 | CARRIES),
    SUMS(SUBFE, X_NOT | Y_RB | IN_CA | CARRIES),
    SUMS(SUBFME, X_NOT | Y_ONES | IN_CA | CARRIES),
    SUMS(SUBFZE, X_NOT | Y_ZERO | IN_CA | CARRIES),
    SUMS(NEG, X_NOT | Y_ZERO),
    SUMS(ADDIC, Y_SI | CARRIES),
    [ISA_SUBFIC] = {emit_sum, X_NOT | Y_SI | IN_1 | CARRIES},
    [ISA_ADDI] = {emit_addi, 0},
    [ISA_ADDIS] = {emit_addi, 16},
    BOTH(MULLW, emit_product, PRODUCT_LOW),
    BOTH(MULHW, emit_product, PRODUCT_HIGH),
    BOTH(MULHWU, emit_product, PRODUCT_HIGH_UNSIGNED),
    [ISA_MULLI] = {emit_product, PRODUCT_IMMEDIATE},
    BOTH(DIVW, emit_quotient, true),
    BOTH(DIVWU, emit_quotient, false),
    [ISA_CMPI] = {emit_compare_row, COMPARE_SIGNED | COMPARE_IMMEDIATE},
    [ISA_CMPLI] = {emit_compare_row, COMPARE_IMMEDIATE},
    [ISA_CMP] = {emit_compare_row, COMPARE_SIGNED},
    [ISA_CMPL] = {emit_compare_row, 0},
    [ISA_ISEL] = {emit_isel, 0},
    LOGIC(AND),
    LOGIC(ANDC),
    LOGIC(EQV),
    LOGIC(NAND),
    LOGIC(NOR),
    LOGIC(OR),
    LOGIC(ORC),
    LOGIC(XOR),
    LOGIC(CNTLZW),
    LOGIC(EXTSB),
    LOGIC(EXTSH),
    LOGIC(RLWIMI),
    LOGIC(RLWINM),
    LOGIC(RLWNM),
    LOGIC(SLW),
    LOGIC(SRW),
    [ISA_ORI] = {emit_logic, LOGIC_ORI},
    [ISA_ORIS] = {emit_logic, LOGIC_ORIS},
    [ISA_XORI] = {emit_logic, LOGIC_XORI},
    [ISA_XORIS] = {emit_logic, LOGIC_XORIS},
    [ISA_ANDI_RC] = {emit_logic, LOGIC_ANDI},
    [ISA_ANDIS_RC] = {emit_logic, LOGIC_ANDIS},
    BOTH(SRAW, emit_shift_arithmetic, false),
    BOTH(SRAWI, emit_shift_arithmetic, true),
    [ISA_CRAND] = {emit_cr_logic, LOGIC_AND},
    [ISA_CRANDC] = {emit_cr_logic, LOGIC_ANDC},
    [ISA_CREQV] = {emit_cr_logic, LOGIC_EQV},
    [ISA_CRNAND] = {emit_cr_logic, LOGIC_NAND},
    [ISA_CRNOR] = {emit_cr_logic, LOGIC_NOR},
    [ISA_CROR] = {emit_cr_logic, LOGIC_OR},
    [ISA_CRORC] = {emit_cr_logic, LOGIC_ORC},
    [ISA_CRXOR] = {emit_cr_logic, LOGIC_XOR},
    [ISA_MCRF] = {emit_mcrf, 0},
    [ISA_MFCR] = {emit_mfcr, 0},
    [ISA_MTCRF] = {emit_mtcrf, 0},
    [ISA_MFSPR] = {emit_from_spr, 0},
    [ISA_MFTB] = {emit_from_spr, 0},
    [ISA_MTSPR] = {emit_to_spr, 0},
    [ISA_ISYNC] = {emit_nothing, 0},
    [ISA_NOP_RESERVED] = {emit_nothing, 0},
};
