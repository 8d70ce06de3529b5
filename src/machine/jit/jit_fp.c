/* Rows of the FPU: what sem_fp.inc and sem_fp2.inc do, with the host's arithmetic where fp_fast.h
 * proves that its result is the guest's. The test is the same as there, a range of the result's
 * exponent, as one table lookup; while the FPSCR does not allow the fast path, the table is zero.
 *
 * Deferred FPSCR updates (fp_fast.h) are stored at the end of a block and before helper calls, only
 * the last operation's.
 */
#include <stddef.h>

#include "machine/jit/jit_impl.h"

#define CORE(member) offsetof(struct core, member)
#define FT           (isa_rt(e->word))
#define FA           (isa_ra(e->word))
#define FB           (isa_rb(e->word))
#define FC           (isa_frc(e->word))

static ir_value i64(struct emit *e, uint64_t v)
{
    return ir_const(e->ir, IR_I64, v);
}

static ir_value bits(struct emit *e, ir_value d)
{
    return d ? ir_convert(e->ir, IR_BITS, IR_I64, d) : i64(e, 0);
}

static ir_value real(struct emit *e, ir_value v)
{
    return ir_convert(e->ir, IR_BITS, IR_F64, v);
}

/* Of two neighbouring exponents at a time. */
#define EXPONENT(n) (2 * ((n) % 1024))
#define SURE(n)                                                                                    \
    (EXPONENT(n) + 1 == 0x7ff ? 0                                                                  \
                              : SURE_SUM | (EXPONENT(n) >= FP_SURE_DOUBLE ? SURE_DOUBLE : 0) |     \
                                    (EXPONENT(n) >= FP_SURE_SINGLE ? SURE_SINGLE : 0) |            \
                                    (EXPONENT(n) >= FP_REST_SAFE ? SURE_REST : 0) |                \
                                    (EXPONENT(n) + 1 < 1023 + 31 ? SURE_INTEGER : 0))
#define SURE_4(n)   SURE(n), SURE((n) + 1), SURE((n) + 2), SURE((n) + 3)
#define SURE_16(n)  SURE_4(n), SURE_4((n) + 4), SURE_4((n) + 8), SURE_4((n) + 12)
#define SURE_64(n)  SURE_16(n), SURE_16((n) + 16), SURE_16((n) + 32), SURE_16((n) + 48)
#define SURE_256(n) SURE_64(n), SURE_64((n) + 64), SURE_64((n) + 128), SURE_64((n) + 192)
#define SURE_1K(n)  SURE_256(n), SURE_256((n) + 256), SURE_256((n) + 512), SURE_256((n) + 768)
const uint8_t jit_fp_sure[FP_SURES] = {SURE_1K(0), SURE_1K(1024)};

/* fp_exponent_within and fp_lazy_allowed. */
ir_value emit_is_sure(struct emit *e, ir_value r, uint8_t of)
{
    struct ir *ir = e->ir;
    ir_value index = ir_op(ir, IR_LSHR, bits(e, r), i64(e, FP_SURE_SHIFT));
    ir_value byte = ir_op(ir, IR_AND, ir_load(ir, IR_I8, e->core, index, CORE(fp_sure)),
                          ir_const(ir, IR_I8, of));
    return ir_test(ir, IR_NE, byte, ir_const(ir, IR_I8, 0));
}

ir_value emit_lazy_allowed(struct emit *e)
{
    ir_value sure = ir_load(e->ir, IR_I8, e->core, NULL, CORE(fp_sure) + FP_SURE_1);
    return ir_test(e->ir, IR_NE, ir_op(e->ir, IR_AND, sure, ir_const(e->ir, IR_I8, SURE_SUM)),
                   ir_const(e->ir, IR_I8, 0));
}

static ir_value is_zero(struct emit *e, ir_value d)
{
    return ir_test(e->ir, IR_EQ, ir_op(e->ir, IR_SHL, bits(e, d), i64(e, 1)), i64(e, 0));
}

static ir_value low_bits(struct emit *e, ir_value v, uint64_t wanted, enum ir_test test)
{
    return ir_test(e->ir, test, ir_op(e->ir, IR_AND, v, i64(e, 0x1fffffff)), i64(e, wanted));
}

/* The operation in double precision, before the negation of fnmadd and fnmsub. */
static ir_value compute(struct emit *e, enum fp_op op, ir_value a, ir_value b, ir_value c)
{
    struct ir *ir = e->ir;
    switch (op) {
    case FP_FADD:
    case FP_FADDS: return ir_op(ir, IR_FADD, a, b);
    case FP_FSUB:
    case FP_FSUBS: return ir_op(ir, IR_FSUB, a, b);
    case FP_FMUL:
    case FP_FMULS: return ir_op(ir, IR_FMUL, a, c);
    case FP_FDIV:
    case FP_FDIVS: return ir_op(ir, IR_FDIV, a, b);
    case FP_FMADD:
    case FP_FMADDS:
    case FP_FNMADD:
    case FP_FNMADDS: return ir_fma(ir, a, c, b);
    case FP_FMSUB:
    case FP_FMSUBS:
    case FP_FNMSUB:
    case FP_FNMSUBS: return ir_fma(ir, a, c, ir_negate(ir, b));
    default: return b; /* frsp */
    }
}

static bool is_fused(enum fp_op op)
{
    return fp_op_operands(op)[1] != 0 && fp_op_operands(op)[2] != 0;
}

static bool negates(enum fp_op op)
{
    return op == FP_FNMADD || op == FP_FNMADDS || op == FP_FNMSUB || op == FP_FNMSUBS;
}

static uint8_t sure_of(enum fp_op op)
{
    if (fp_op_is_single(op)) return SURE_SINGLE;
    return op == FP_FADD || op == FP_FSUB ? SURE_SUM : SURE_DOUBLE;
}

/* What else must hold of a single-precision result: see fp_single_ok. */
static ir_value single_ok(struct emit *e, enum fp_op op, ir_value a, ir_value b, ir_value c,
                          ir_value d)
{
    if (op == FP_FRSP) return NULL;
    if (is_fused(op)) return low_bits(e, bits(e, d), 0x10000000, IR_NE);
    bool product = op == FP_FMULS;
    return low_bits(e, ir_op(e->ir, IR_OR, bits(e, a), bits(e, product ? c : b)), 0, IR_EQ);
}

/* The helper call for results that the test does not prove. `quiet`: the first half of a pair; the
 * second half stops the core for it. */
static void call_slow(struct emit *e, enum fp_op op, ir_value a, ir_value b, ir_value c,
                      unsigned target, bool quiet)
{
    emit_write_lazy(e);
    emit_call(e, JIT_CALL(jit_fp),
              &(struct emit_call){
                  INFO(e->op, op, target) | (quiet ? INFO_QUIET : 0), NULL, {a, b, c}, true});
    emit_reload_fpr(e, target);
}

static void defer(struct emit *e, enum fp_op op, ir_value a, ir_value b, ir_value c)
{
    e->lazy.op = op;
    e->lazy.a = a;
    e->lazy.b = b;
    e->lazy.c = c;
    e->lazy.converted = e->lazy.compared = NULL;
    e->lazy.leave = NULL;
}

/* Whether the double is 0 and exact: frequent, and refused by the test of the exponent. */
static ir_value exactly_zero(struct emit *e, enum fp_op op, ir_value a, ir_value c, ir_value d)
{
    struct ir *ir = e->ir;
    ir_value zero = ir_op(ir, IR_AND, is_zero(e, d), emit_lazy_allowed(e));
    if (c) return ir_op(ir, IR_AND, zero, ir_op(ir, IR_OR, is_zero(e, a), is_zero(e, c)));
    return op == FP_FDIV || op == FP_FDIVS ? ir_op(ir, IR_AND, zero, is_zero(e, a)) : zero;
}

/* Of a fused operation: the same result, without waiting for a factor that was negated before. Of
 * one that negates its result, if `negated`: that, and no other where it is neither 0 nor a NaN,
 * since rounding to the nearest has no side.
 */
static ir_value compute_fused(struct emit *e, enum fp_op op, ir_value a, ir_value b, ir_value c,
                              bool negated)
{
    ir_value positive = e->negated[FA] ? e->negated[FA] : e->negated[FC];
    bool minus = op == FP_FMSUB || op == FP_FMSUBS || op == FP_FNMSUB || op == FP_FNMSUBS;
    ir_value factor = positive ? positive : a, other = positive && !e->negated[FA] ? a : c;
    if (negated != (positive != NULL)) factor = ir_negate(e->ir, factor);
    return ir_fma(e->ir, factor, other, minus != negated ? ir_negate(e->ir, b) : b);
}

/* `d` is what compute says, or that with the sign that the result has, as compute_fused says. */
static void arithmetic(struct emit *e, enum fp_op op, ir_value a, ir_value b, ir_value c,
                       ir_value d, unsigned target, bool negated, bool quiet)
{
    struct ir *ir = e->ir;
    ir_block fast = ir_block_new(ir), other = ir_block_new(ir), slow = ir_block_new(ir),
             on = ir_block_new(ir);
    ir_block zero = negated ? ir_block_new(ir) : fast;
    ir_value r = d;
    if (fp_op_is_single(op))
        r = ir_convert(ir, IR_WIDEN, IR_F64, ir_convert(ir, IR_NARROW, IR_F32, d));
    if (negates(op) && !negated) r = ir_negate(ir, r);
    ir_value ok = emit_is_sure(e, r, sure_of(op));
    ir_value also = fp_op_is_single(op) ? single_ok(e, op, a, b, c, d) : NULL;
    ir_branch(ir, also ? ir_op(ir, IR_AND, ok, also) : ok, fast, other, IR_LIKELY);
    ir_place(ir, other);
    if (sure_of(op) == SURE_SUM)
        ir_jump(ir, slow);
    else
        ir_branch(ir, exactly_zero(e, op, a, c, d), zero, slow, IR_EVEN);
    if (negated) {
        ir_place(ir, zero);
        emit_set_fpr(e, target, ir_negate(ir, compute(e, op, a, b, c)));
        ir_jump(ir, on);
    }
    ir_place(ir, fast);
    emit_set_fpr(e, target, r);
    ir_jump(ir, on);
    ir_place(ir, slow);
    call_slow(e, op, a, b, c, target, quiet);
    ir_jump(ir, on);
    ir_place(ir, on);
    defer(e, op, a, b, c);
}

static void emit_arithmetic(struct emit *e, unsigned variant)
{
    enum fp_op op = (enum fp_op)variant;
    const char *operands = fp_op_operands(op);
    ir_value a = NULL, b = NULL, c = NULL;
    for (; *operands; operands++) {
        if (*operands == 'a') a = emit_fpr(e, FA);
        if (*operands == 'b') b = emit_fpr(e, FB);
        if (*operands == 'c') c = emit_fpr(e, FC);
    }
    bool negated = negates(op) && !fp_op_is_single(op);
    ir_value d = is_fused(op) ? compute_fused(e, op, a, b, c, negated) : compute(e, op, a, b, c);
    arithmetic(e, op, a, b, c, d, FT, negated, false);
}

/* Operations of a helper only, which leaves its deferred operation in memory. */
static void emit_slow(struct emit *e, unsigned variant)
{
    call_slow(e, (enum fp_op)variant, NULL, emit_fpr(e, FB), NULL, FT, false);
    e->lazy.op = 0;
}

/* Adds to the deferred operation in memory. */
static void defer_more(struct emit *e, uint32_t mask, ir_value bits)
{
    ir_value op = ir_load(e->ir, IR_I32, e->core, NULL, CORE(fp.lazy));
    op = ir_op(e->ir, IR_OR, ir_op(e->ir, IR_AND, op, emit_const(e, ~mask)), bits);
    ir_store(e->ir, op, e->core, NULL, CORE(fp.lazy));
}

static ir_value has(struct emit *e, ir_value fpscr, uint32_t bit)
{
    return ir_test(e->ir, IR_NE, ir_op(e->ir, IR_AND, fpscr, emit_const(e, bit)), emit_const(e, 0));
}

/* fctiwz leaves FPRF alone, so an earlier operation stays deferred. */
static void emit_to_integer(struct emit *e, unsigned variant)
{
    struct ir *ir = e->ir;
    ir_block fast = ir_block_new(ir), slow = ir_block_new(ir), on = ir_block_new(ir);
    ir_value b = emit_fpr(e, FB);
    (void)variant;
    ir_branch(ir, emit_is_sure(e, b, SURE_INTEGER), fast, slow, IR_LIKELY);
    ir_place(ir, fast);
    ir_value n = ir_convert(ir, IR_TO_SIGNED, IR_I64, b);
    ir_variable integer = ir_variable_of(ir, i64(e, 0));
    ir_set(ir, integer, n);
    ir_variable low = ir_variable_of(ir, real(e, i64(e, 0)));
    ir_value whole = ir_whole(ir, b);
    ir_set(ir, low, whole);
    emit_set_fpr(e, FT, ir_widen(ir, whole));
    bool pending = e->lazy.op;
    if (!pending) {
        ir_store(ir, b, e->core, NULL, CORE(fp.converted));
        defer_more(e, 0, emit_const(e, FP_LAZY_CONVERT));
    }
    ir_jump(ir, on);
    ir_place(ir, slow);
    call_slow(e, FP_FCTIWZ, NULL, b, NULL, FT, false);
    ir_set(ir, integer, emit_fpr_bits(e, FT));
    ir_set(ir, low, emit_fpr(e, FT));
    /* The helper may have evaluated the operation in memory; evaluating it again changes nothing.
     */
    ir_jump(ir, on);
    ir_place(ir, on);
    e->integer[FT] = ir_get(ir, IR_I64, integer);
    e->low[FT] = ir_get(ir, IR_F64, low);
    if (pending) {
        e->lazy.op |= FP_LAZY_CONVERT;
        e->lazy.converted = b;
        e->lazy.leave = NULL;
    }
}

/* --- Moves ----------------------------------------------------------------------------------- */

enum { MOVE, NEGATE, ABSOLUTE, NEGATIVE };

static ir_value moved(struct emit *e, unsigned how, ir_value v)
{
    struct ir *ir = e->ir;
    const uint64_t sign = UINT64_C(1) << 63;
    switch (how) {
    case NEGATE: return ir_negate(ir, v);
    case ABSOLUTE: return real(e, ir_op(ir, IR_AND, bits(e, v), i64(e, ~sign)));
    case NEGATIVE: return real(e, ir_op(ir, IR_OR, bits(e, v), i64(e, sign)));
    default: return v;
    }
}

static void emit_move(struct emit *e, unsigned how)
{
    ir_value from = emit_fpr(e, FB);
    emit_set_fpr(e, FT, moved(e, how, from));
    if (how == NEGATE) e->negated[FT] = from;
}

/* frC if frA >= 0, frB if it is less or a NaN. */
static ir_value selected(struct emit *e, ir_value a, ir_value b, ir_value c)
{
    ir_value zero = real(e, i64(e, 0));
    ir_value below = ir_op(e->ir, IR_OR, ir_order(e->ir, IR_LESS, a, zero),
                           ir_order(e->ir, IR_UNORDERED, a, zero));
    return ir_select(e->ir, below, b, c);
}

static void emit_select(struct emit *e, unsigned variant)
{
    (void)variant;
    emit_set_fpr(e, FT, selected(e, emit_fpr(e, FA), emit_fpr(e, FB), emit_fpr(e, FC)));
}

/* --- Compare --------------------------------------------------------------------------------- */

enum { COMPARE_ORDERED = 1, COMPARE_SECOND = 2 };

static ir_value compared(struct emit *e, ir_value cc)
{
    return ir_op(e->ir, IR_SHL, cc, emit_const(e, FP_FPRF_SHIFT));
}

static void emit_float_compare(struct emit *e, unsigned variant)
{
    struct ir *ir = e->ir;
    unsigned field = FT / 4, half = variant & COMPARE_SECOND ? 32 : 0;
    ir_block fast = ir_block_new(ir), slow = ir_block_new(ir), on = ir_block_new(ir);
    ir_value a = emit_fpr(e, FA + half), b = emit_fpr(e, FB + half);
    ir_value fpscr = ir_load(ir, IR_I32, e->core, NULL, CORE(fp.fpscr));
    ir_value bad = ir_op(ir, IR_OR, has(e, fpscr, FP_FEX), ir_order(ir, IR_UNORDERED, a, b));
    ir_branch(ir, bad, slow, fast, IR_UNLIKELY);
    ir_place(ir, fast);
    ir_value cc = ir_compare(ir, false, a, b);
    emit_set_cr(e, field, cc);
    bool pending = e->lazy.op;
    if (!pending)
        defer_more(e, FP_FPCC, ir_op(ir, IR_OR, compared(e, cc), emit_const(e, FP_LAZY_COMPARE)));
    ir_jump(ir, on);
    ir_place(ir, slow);
    emit_write_lazy(e);
    emit_call(
        e, JIT_CALL(jit_compare),
        &(struct emit_call){INFO(e->op, variant & COMPARE_ORDERED, field), NULL, {a, b}, true});
    emit_reload_cr(e, field);
    ir_jump(ir, on);
    ir_place(ir, on);
    if (pending) {
        e->lazy.op |= FP_LAZY_COMPARE;
        e->lazy.compared = compared(e, emit_cr(e, field));
        e->lazy.leave = NULL;
    }
    e->compared[field].a = a;
    e->compared[field].b = b;
    e->compared[field].how = COMPARED_FLOAT;
}

/* --- Pairs: secondary first, so that the primary's update is the one deferred ---------------- */

/* A half's operation, and which half of A and of C it multiplies. */
#define HALF(op, a, c) ((unsigned)(op) | (unsigned)(a) << 5 | (unsigned)(c) << 6)
#define PAIR(p, s)     ((p) | (s) << 8)
enum { P, S };

static void emit_pair(struct emit *e, unsigned variant)
{
    ir_value a[2], b[2], c[2];
    for (unsigned half = 0; half < 2; half++) {
        a[half] = emit_fpr(e, FA + 32 * half);
        b[half] = emit_fpr(e, FB + 32 * half);
        c[half] = emit_fpr(e, FC + 32 * half);
    }
    for (unsigned i = 0; i < 2; i++) {
        unsigned half = !i, how = variant >> (8 * half) & 0xFF;
        enum fp_op op = (enum fp_op)(how & 31);
        const char *operands = fp_op_operands(op);
        bool has_a = *operands == 'a',
             has_b = *operands == 'b' || operands[1] == 'b' || (operands[1] && operands[2]);
        ir_value x = has_a ? a[how >> 5 & 1] : NULL,
                 y = has_a && operands[1] == 'c' ? c[how >> 6 & 1] : NULL;
        ir_value z = has_b ? b[half] : NULL;
        arithmetic(e, op, x, z, y, compute(e, op, x, z, y), FT + 32 * half, false, half == S);
    }
}

/* Moves of pairs: what each half becomes, from which half. */
enum { KEEP = 4 };
#define MOVES(p, from_p, s, from_s)                                                                \
    ((unsigned)(p) | (unsigned)(from_p) << 3 | (unsigned)(s) << 4 | (unsigned)(from_s) << 7)

static void emit_move_pair(struct emit *e, unsigned variant)
{
    ir_value b[2] = {emit_fpr(e, FB), emit_fpr(e, FB + 32)};
    for (unsigned half = 0; half < 2; half++) {
        unsigned how = variant >> (4 * half);
        if ((how & 7) != KEEP) emit_set_fpr(e, FT + 32 * half, moved(e, how & 7, b[how >> 3 & 1]));
    }
}

static void emit_select_pair(struct emit *e, unsigned variant)
{
    ir_value first = selected(e, emit_fpr(e, FA), emit_fpr(e, FB), emit_fpr(e, FC));
    ir_value second = selected(e, emit_fpr(e, FA + 32), emit_fpr(e, FB + 32), emit_fpr(e, FC + 32));
    (void)variant;
    emit_set_fpr(e, FT, first);
    emit_set_fpr(e, FT + 32, second);
}

#define ARITHMETIC(id) [ISA_##id] = {emit_arithmetic, FP_##id}
#define SLOW(id)       [ISA_##id] = {emit_slow, FP_##id}
#define FUSED_PAIRS(END)                                                                           \
    [ISA_FP##END] = {emit_pair, PAIR(HALF(FP_F##END, P, P), HALF(FP_F##END, S, S))},               \
    [ISA_FX##END] = {emit_pair, PAIR(HALF(FP_F##END, S, P), HALF(FP_F##END, P, S))},               \
    [ISA_FXCP##END] = {emit_pair, PAIR(HALF(FP_F##END, P, P), HALF(FP_F##END, P, S))},             \
    [ISA_FXCS##END] = {emit_pair, PAIR(HALF(FP_F##END, S, P), HALF(FP_F##END, S, S))}
#define COMPLEX(id, op_p, ap, cp, op_s, as, cs)                                                    \
    [ISA_##id] = {emit_pair, PAIR(HALF(FP_##op_p, ap, cp), HALF(FP_##op_s, as, cs))}

const struct emit_entry emit_fp_rows[ISA_COUNT] = {
    ARITHMETIC(FADD),
    ARITHMETIC(FADDS),
    ARITHMETIC(FSUB),
    ARITHMETIC(FSUBS),
    ARITHMETIC(FMUL),
    ARITHMETIC(FMULS),
    ARITHMETIC(FDIV),
    ARITHMETIC(FDIVS),
    ARITHMETIC(FMADD),
    ARITHMETIC(FMADDS),
    ARITHMETIC(FMSUB),
    ARITHMETIC(FMSUBS),
    ARITHMETIC(FNMADD),
    ARITHMETIC(FNMADDS),
    ARITHMETIC(FNMSUB),
    ARITHMETIC(FNMSUBS),
    ARITHMETIC(FRSP),
    SLOW(FRES),
    SLOW(FRSQRTE),
    SLOW(FCTIW),
    SLOW(FSQRT),
    SLOW(FSQRTS),
    [ISA_FCTIWZ] = {emit_to_integer, 0},
    [ISA_FMR] = {emit_move, MOVE},
    [ISA_FNEG] = {emit_move, NEGATE},
    [ISA_FABS] = {emit_move, ABSOLUTE},
    [ISA_FNABS] = {emit_move, NEGATIVE},
    [ISA_FSEL] = {emit_select, 0},
    [ISA_FCMPU] = {emit_float_compare, 0},
    [ISA_FCMPO] = {emit_float_compare, COMPARE_ORDERED},
    [ISA_FSCMP] = {emit_float_compare, COMPARE_SECOND},
    COMPLEX(FPADD, FADD, P, P, FADD, S, S),
    COMPLEX(FPSUB, FSUB, P, P, FSUB, S, S),
    COMPLEX(FPMUL, FMUL, P, P, FMUL, S, S),
    COMPLEX(FXMUL, FMUL, S, P, FMUL, P, S),
    COMPLEX(FXPMUL, FMUL, P, P, FMUL, P, S),
    COMPLEX(FXSMUL, FMUL, S, P, FMUL, S, S),
    COMPLEX(FPRSP, FRSP, P, P, FRSP, S, S),
    FUSED_PAIRS(MADD),
    FUSED_PAIRS(MSUB),
    FUSED_PAIRS(NMADD),
    FUSED_PAIRS(NMSUB),
    COMPLEX(FXCPNPMA, FNMSUB, P, P, FMADD, P, S),
    COMPLEX(FXCSNPMA, FNMSUB, S, P, FMADD, S, S),
    COMPLEX(FXCPNSMA, FMADD, P, P, FNMSUB, P, S),
    COMPLEX(FXCSNSMA, FMADD, S, P, FNMSUB, S, S),
    COMPLEX(FXCXMA, FMADD, S, S, FMADD, S, P),
    COMPLEX(FXCXNPMA, FNMSUB, S, S, FMADD, S, P),
    COMPLEX(FXCXNSMA, FMADD, S, S, FNMSUB, S, P),
    COMPLEX(FXCXNMS, FNMSUB, S, S, FNMSUB, S, P),
    [ISA_FPMR] = {emit_move_pair, MOVES(MOVE, P, MOVE, S)},
    [ISA_FXMR] = {emit_move_pair, MOVES(MOVE, S, MOVE, P)},
    [ISA_FPNEG] = {emit_move_pair, MOVES(NEGATE, P, NEGATE, S)},
    [ISA_FPABS] = {emit_move_pair, MOVES(ABSOLUTE, P, ABSOLUTE, S)},
    [ISA_FPNABS] = {emit_move_pair, MOVES(NEGATIVE, P, NEGATIVE, S)},
    [ISA_FSMR] = {emit_move_pair, MOVES(KEEP, P, MOVE, S)},
    [ISA_FSNEG] = {emit_move_pair, MOVES(KEEP, P, NEGATE, S)},
    [ISA_FSABS] = {emit_move_pair, MOVES(KEEP, P, ABSOLUTE, S)},
    [ISA_FSNABS] = {emit_move_pair, MOVES(KEEP, P, NEGATIVE, S)},
    [ISA_FSMTP] = {emit_move_pair, MOVES(MOVE, S, KEEP, P)},
    [ISA_FSMFP] = {emit_move_pair, MOVES(KEEP, P, MOVE, P)},
    [ISA_FPSEL] = {emit_select_pair, 0},
};

enum fp_op emit_operation(uint32_t word)
{
    const struct emit_entry *row = &emit_fp_rows[isa_decode(word)];
    return row->emit == emit_arithmetic ? (enum fp_op)row->variant : FP_OP_NONE;
}
_Static_assert((int)FP_OP_COUNT <= 32, "HALF holds an enum fp_op in five bits");
