/* Rows that read and write the FPSCR. Writing is in line as long as no exception and no mode
 * changes, as when a saved value is restored. Reading evaluates the deferred operation (fp_fast.h):
 * in line for the operations that mostly come before a square root, whose code in C libraries
 * begins by saving the FPSCR. Other operations, and operands outside the middle of the range, where
 * the proofs of fp_fast.c need more, are evaluated by a helper.
 */
#include <stddef.h>

#include "machine/jit/jit_impl.h"

#define CORE(member) offsetof(struct core, member)
#define FT           (isa_rt(e->word))
#define FB           (isa_rb(e->word))

static ir_value i64(struct emit *e, uint64_t v)
{
    return ir_const(e->ir, IR_I64, v);
}

static ir_value bits(struct emit *e, ir_value d)
{
    return ir_convert(e->ir, IR_BITS, IR_I64, d);
}

static ir_value has(struct emit *e, ir_value fpscr, uint32_t bit)
{
    return ir_test(e->ir, IR_NE, ir_op(e->ir, IR_AND, fpscr, emit_const(e, bit)), emit_const(e, 0));
}

/* --- Evaluation in line: fp_fast.c's described_on_host --------------------------------------- */

/* A rounded result in double precision, what is missing in it, an integer with the sign of that,
 * and whether this is proven. */
struct rounded {
    ir_value value, rest, sign, proven;
};

static ir_value both(struct emit *e, ir_value a, ir_value b)
{
    return ir_op(e->ir, IR_AND, a, b);
}

/* The exponent is far enough from underflow for the error terms, and lazy evaluation is allowed. */
static ir_value is_safe(struct emit *e, ir_value d)
{
    return emit_is_sure(e, d, SURE_REST);
}

static void add(struct emit *e, ir_value x, ir_value y, struct rounded *r)
{
    struct ir *ir = e->ir;
    r->value = ir_op(ir, IR_FADD, x, y);
    ir_value y1 = ir_op(ir, IR_FSUB, r->value, x);
    ir_value x1 = ir_op(ir, IR_FSUB, r->value, y1);
    r->rest = ir_op(ir, IR_FADD, ir_op(ir, IR_FSUB, x, x1), ir_op(ir, IR_FSUB, y, y1));
}

static void multiply(struct emit *e, ir_value x, ir_value y, struct rounded *r)
{
    r->value = ir_op(e->ir, IR_FMUL, x, y);
    r->rest = ir_fma(e->ir, x, y, ir_negate(e->ir, r->value));
}

static void multiply_add(struct emit *e, ir_value x, ir_value y, ir_value z, struct rounded *r)
{
    struct ir *ir = e->ir;
    struct rounded p, low, high;
    multiply(e, x, y, &p);
    add(e, z, p.rest, &low);
    add(e, p.value, low.value, &high);
    r->value = ir_fma(ir, x, y, z);
    r->rest = ir_op(ir, IR_FADD, ir_op(ir, IR_FSUB, high.value, r->value), high.rest);
    r->rest = ir_op(ir, IR_FADD, r->rest, low.rest);
    r->proven = both(e, is_safe(e, p.value), is_safe(e, z));
}

/* The rest's sign is turned if b's is. */
static void divide(struct emit *e, ir_value a, ir_value b, struct rounded *r)
{
    struct ir *ir = e->ir;
    r->value = ir_op(ir, IR_FDIV, a, b);
    r->rest = ir_fma(ir, r->value, b, ir_negate(ir, a)); /* negative */
    r->sign = ir_op(ir, IR_XOR, ir_op(ir, IR_XOR, bits(e, r->rest), bits(e, b)),
                    i64(e, UINT64_C(1) << 63));
    r->proven = is_safe(e, a);
}

static bool has_rest(enum fp_op op)
{
    return op == FP_FADD || op == FP_FSUB || op == FP_FMUL || op == FP_FDIV || op == FP_FMADD ||
           op == FP_FMSUB;
}

/* The deferred operation's result and error term. */
static void find_rest(struct emit *e, enum fp_op op, struct rounded *r)
{
    struct ir *ir = e->ir;
    const char *operands = fp_op_operands(op);
    ir_value v[3] = {NULL, NULL, NULL};
    const size_t offsets[3] = {CORE(fp.a), CORE(fp.b), CORE(fp.c)};
    *r = (struct rounded){0};
    for (; *operands; operands++)
        v[*operands - 'a'] = ir_load(ir, IR_F64, e->core, NULL, offsets[*operands - 'a']);
    switch (op) {
    case FP_FADD: add(e, v[0], v[1], r); break;
    case FP_FSUB: add(e, v[0], ir_negate(ir, v[1]), r); break;
    case FP_FMUL: multiply(e, v[0], v[2], r); break;
    case FP_FDIV: divide(e, v[0], v[1], r); break;
    default: multiply_add(e, v[0], v[2], op == FP_FMSUB ? ir_negate(ir, v[1]) : v[1], r); break;
    }
    if (!r->sign) r->sign = bits(e, r->rest);
    ir_value is_number =
        ir_op(ir, IR_XOR, ir_order(ir, IR_UNORDERED, r->rest, r->rest), ir_const(ir, IR_I1, 1));
    ir_value proven = both(e, is_safe(e, r->value), is_number);
    r->proven = r->proven ? both(e, r->proven, proven) : proven;
}

/* FR, FI and FPRF of a result that is normal. */
static ir_value described(struct emit *e, const struct rounded *r)
{
    struct ir *ir = e->ir;
    enum { SIGN_SHIFT = 63, FR_SHIFT = 18 };
    _Static_assert(FP_FR == 1 << FR_SHIFT, "FR is where it is");
    ir_value minus = ir_op(ir, IR_LSHR, bits(e, r->value), i64(e, SIGN_SHIFT));
    ir_value away =
        ir_op(ir, IR_LSHR, ir_op(ir, IR_XOR, r->sign, bits(e, r->value)), i64(e, SIGN_SHIFT));
    ir_value fi = i64(e, FP_FI), fr = ir_op(ir, IR_SHL, away, i64(e, FR_SHIFT));
    ir_value exact = ir_order(ir, IR_SAME, r->rest, ir_convert(ir, IR_BITS, IR_F64, i64(e, 0)));
    ir_value rounding = ir_select(ir, exact, i64(e, 0), ir_op(ir, IR_OR, fr, fi));
    ir_value fprf = ir_op(ir, IR_SHL, i64(e, UINT64_C(4) << FP_FPRF_SHIFT), minus); /* FG, or FL */
    return ir_convert(ir, IR_TRUNC, IR_I32, ir_op(ir, IR_OR, rounding, fprf));
}

/* Evaluates a deferred `op` and continues at `done`; at `otherwise` when another operation is
 * deferred, or when anything but a comparison came later. */
static void evaluate(struct emit *e, ir_value lazy, enum fp_op op, ir_block done,
                     ir_block otherwise)
{
    struct ir *ir = e->ir;
    ir_block same = ir_block_new(ir), proven = ir_block_new(ir);
    ir_value which = ir_op(ir, IR_AND, lazy, emit_const(e, FP_LAZY_CONVERT | 0xff));
    ir_branch(ir, ir_test(ir, IR_EQ, which, emit_const(e, op)), same, otherwise, IR_LIKELY);
    ir_place(ir, same);
    struct rounded r;
    find_rest(e, op, &r);
    ir_value fpscr = ir_load(ir, IR_I32, e->core, NULL, CORE(fp.fpscr));
    ir_branch(ir, r.proven, proven, otherwise, IR_LIKELY);
    ir_place(ir, proven);
    fpscr =
        ir_op(ir, IR_OR, ir_op(ir, IR_AND, fpscr, emit_const(e, ~FP_DESCRIBED)), described(e, &r));
    ir_value compared = ir_op(ir, IR_OR, ir_op(ir, IR_AND, fpscr, emit_const(e, ~FP_FPCC)),
                              ir_op(ir, IR_AND, lazy, emit_const(e, FP_FPCC)));
    fpscr = ir_select(ir, has(e, lazy, FP_LAZY_COMPARE), compared, fpscr);
    ir_store(ir, fpscr, e->core, NULL, CORE(fp.fpscr));
    ir_store(ir, emit_const(e, 0), e->core, NULL, CORE(fp.lazy));
    ir_jump(ir, done);
}

/* --- The operation that is expected ---------------------------------------------------------- */

/* The block of the region that goes to pc and runs most often, or -1. */
static int block_before(const struct region *region, uint32_t pc)
{
    int found = -1;
    for (unsigned i = 0; i < region->count; i++) {
        const struct region_block *b = &region->blocks[i];
        struct branch branch = branch_of(b->words[b->count - 1], b->end - 4);
        bool goes_on = !branch.is_branch || branch.uses_ctr || branch.uses_cr;
        bool leads = (goes_on && b->end == pc) ||
                     (branch.is_branch && !branch.indirect && branch.target == pc);
        if (leads && b->pc != pc && (found < 0 || b->weight > region->blocks[found].weight))
            found = (int)i;
    }
    return found;
}

/* The last operation before this instruction on the most executed path. */
static enum fp_op operation_before(const struct emit *e)
{
    enum { FAR = 8 };
    const struct region *region = e->region;
    const struct region_block *b = e->block;
    for (unsigned blocks = 0, i = e->op; blocks < FAR; blocks++) {
        while (i-- > 0)
            if (emit_operation(b->words[i])) return emit_operation(b->words[i]);
        if (b == &region->blocks[0]) return (enum fp_op)region->lazy_op;
        int before = block_before(region, b->pc);
        if (before < 0) break;
        b = &region->blocks[before];
        i = b->count;
    }
    return FP_OP_NONE;
}

static void emit_read_fpscr(struct emit *e, unsigned variant)
{
    struct ir *ir = e->ir;
    ir_block other = ir_block_new(ir), call = ir_block_new(ir), on = ir_block_new(ir);
    enum fp_op op = operation_before(e);
    (void)variant;
    emit_write_lazy(e);
    ir_value lazy = ir_load(ir, IR_I32, e->core, NULL, CORE(fp.lazy));
    if (has_rest(op))
        evaluate(e, lazy, op, on, other);
    else
        ir_jump(ir, other);
    ir_place(ir, other);
    ir_branch(ir, ir_test(ir, IR_EQ, lazy, emit_const(e, 0)), on, call, IR_EVEN);
    ir_place(ir, call);
    emit_call(e, JIT_CALL(jit_sync_fpscr), &(struct emit_call){.evaluates = true});
    ir_jump(ir, on);
    ir_place(ir, on);
    e->lazy.op = 0;
    ir_value fpscr = ir_load(ir, IR_I32, e->core, NULL, CORE(fp.fpscr));
    emit_set_fpr(e, FT, ir_convert(ir, IR_BITS, IR_F64, ir_convert(ir, IR_ZEXT, IR_I64, fpscr)));
}

/* --- Writing --------------------------------------------------------------------------------- */

/* fp_write_fpscr in line, while lazy evaluation is allowed and neither an exception nor a mode
 * changes: a deferred operation stays right, unless all its bits are overwritten. */
static void write_fpscr(struct emit *e, uint32_t mask, ir_value value, bool raises)
{
    struct ir *ir = e->ir;
    ir_block fast = ir_block_new(ir), slow = ir_block_new(ir), on = ir_block_new(ir);
    bool forgets = (mask & FP_DESCRIBED) == FP_DESCRIBED;
    if (!forgets) emit_write_lazy(e);
    e->lazy.op = 0;
    if (raises || (mask & FP_DESCRIBED && !forgets)) {
        ir_jump(ir, slow);
    } else {
        uint32_t written = mask & ~(FP_FEX | FP_VX | FP_RESERVED);
        ir_value before = ir_load(ir, IR_I32, e->core, NULL, CORE(fp.fpscr));
        ir_value other =
            has(e, ir_op(ir, IR_XOR, before, value), written & ~(FP_DESCRIBED | FP_NI));
        ir_value unsure = ir_op(ir, IR_XOR, emit_lazy_allowed(e), ir_const(ir, IR_I1, 1));
        ir_branch(ir, ir_op(ir, IR_OR, other, unsure), slow, fast, IR_UNLIKELY);
        ir_place(ir, fast);
        ir_value after = ir_op(ir, IR_OR, ir_op(ir, IR_AND, before, emit_const(e, ~written)),
                               ir_op(ir, IR_AND, value, emit_const(e, written)));
        ir_store(ir, after, e->core, NULL, CORE(fp.fpscr));
        if (forgets) ir_store(ir, emit_const(e, 0), e->core, NULL, CORE(fp.lazy));
        ir_jump(ir, on);
    }
    ir_place(ir, slow);
    emit_call(e, JIT_CALL(jit_fpscr),
              &(struct emit_call){INFO(e->op, raises ? 1 : 0, 0),
                                  NULL,
                                  {ir_convert(ir, IR_ZEXT, IR_I64, value), i64(e, mask)},
                                  true});
    ir_jump(ir, on);
    ir_place(ir, on);
}

static void emit_write_fpscr(struct emit *e, unsigned id)
{
    uint32_t bit = fp_bit(FT);
    switch (id) {
    case ISA_MTFSF:
        write_fpscr(e, fp_fields(isa_flm(e->word)),
                    ir_convert(e->ir, IR_TRUNC, IR_I32, emit_fpr_bits(e, FB)), false);
        break;
    case ISA_MTFSFI:
        write_fpscr(e, fp_field(isa_bf(e->word)),
                    emit_const(e, isa_u(e->word) * UINT32_C(0x11111111)), false);
        break;
    case ISA_MTFSB0: write_fpscr(e, bit, emit_const(e, 0), false); break;
    default: write_fpscr(e, bit, emit_const(e, bit), (bit & FP_EXCEPTIONS) != 0); break;
    }
}

const struct emit_entry emit_fpscr_rows[ISA_COUNT] = {
    [ISA_MFFS] = {emit_read_fpscr, 0},
    [ISA_MTFSF] = {emit_write_fpscr, ISA_MTFSF},
    [ISA_MTFSFI] = {emit_write_fpscr, ISA_MTFSFI},
    [ISA_MTFSB0] = {emit_write_fpscr, ISA_MTFSB0},
    [ISA_MTFSB1] = {emit_write_fpscr, ISA_MTFSB1},
};
