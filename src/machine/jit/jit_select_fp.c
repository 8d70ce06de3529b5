/* Instruction selection for floating-point nodes and conversions (jit_select.c has the rest).
 *
 * Doubles and singles are in the low part of vector registers; the upper parts are undefined. VEX
 * encodings are used throughout, so no operation waits for the old upper half of its target.
 */
#include "machine/jit/jit_backend.h"

#define X(n) (x86_reg((n)&15))

void select_float_operation(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    static const uint8_t codes[] = {
        [IR_FADD] = 0x58, [IR_FSUB] = 0x5C, [IR_FMUL] = 0x59, [IR_FDIV] = 0x5E};
    int a = reg_use(f, node->a, SCRATCH_VECTOR), b = reg_use(f, node->b, SCRATCH_VECTOR + 1);
    int to = reg_new(f, n, a, 0);
    x86_vex(&f->x, codes[node->how] | X86_0F | (node->type == IR_F32 ? X86_F3 : X86_F2),
            to - VECTOR, a - VECTOR, X(b));
}

static void select_narrow(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n], *of = node_at(f, node->a);
    if (of->kind == NODE_CONST && !f->in_exit) {
        select_const(f, n, of->imm);
        return;
    }
    bool is_shifted =
        of->kind == NODE_BINARY && of->how == IR_LSHR && of->type == IR_I64 && is_const(f, of->b);
    bool is_small = is_shifted && f->nodes[of->b].imm >= 32 && node->type == IR_I32;
    if (is_small || of->kind == NODE_COMPARE) { /* nothing to cut off */
        select_same(f, n, node->a);
        return;
    }
    int from = reg_use(f, node->a, SCRATCH);
    int to = reg_new(f, n, from, 0);
    switch (node->type) {
    case IR_I32: x86_op(&f->x, 0x8B, to, x86_reg(from)); break;
    case IR_I16: x86_op(&f->x, 0xB7 | X86_0F, to, x86_reg(from)); break;
    default: x86_op(&f->x, 0xB6 | X86_0F | X86_BYTE, to, x86_reg(from)); break;
    }
}

static void select_signed(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    int from = reg_use(f, node->a, SCRATCH);
    int to = reg_new(f, n, from, 0);
    switch (f->nodes[node->a].type) {
    case IR_I8:
        x86_op(&f->x, 0xBE | X86_0F | X86_BYTE | width(node->type), to, x86_reg(from));
        break;
    case IR_I16: x86_op(&f->x, 0xBF | X86_0F | width(node->type), to, x86_reg(from)); break;
    default: x86_op(&f->x, 0x63 | X86_W, to, x86_reg(from)); break;
    }
}

static void select_bits(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    unsigned wide = node->type == IR_F64 || node->type == IR_I64 ? X86_W : 0;
    if (is_float(node->type)) {
        int from = reg_use(f, node->a, SCRATCH);
        int to = reg_new(f, n, NONE, 0);
        x86_vex(&f->x, 0x6E | X86_0F | X86_66 | wide, to - VECTOR, 0, x86_reg(from));
    } else {
        int from = reg_use(f, node->a, SCRATCH_VECTOR);
        int to = reg_new(f, n, NONE, 0);
        x86_vex(&f->x, 0x7E | X86_0F | X86_66 | wide, from - VECTOR, 0, x86_reg(to));
    }
}

void select_convert(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    int from, to;
    switch (node->how) {
    case IR_ZEXT: select_same(f, n, node->a); return;
    case IR_TRUNC: select_narrow(f, n); return;
    case IR_SEXT: select_signed(f, n); return;
    case IR_BITS: select_bits(f, n); return;
    case IR_WIDEN:
    case IR_NARROW:
        from = reg_use(f, node->a, SCRATCH_VECTOR);
        to = reg_new(f, n, from, 0);
        x86_vex(&f->x, 0x5A | X86_0F | (node->how == IR_WIDEN ? X86_F3 : X86_F2), to - VECTOR,
                from - VECTOR, X(from));
        return;
    case IR_TO_SIGNED:
        from = reg_use(f, node->a, SCRATCH_VECTOR);
        to = reg_new(f, n, NONE, 0);
        x86_vex(&f->x, 0x2C | X86_0F | X86_F2 | width(node->type), to, 0, X(from));
        return;
    default:
        from = reg_use(f, node->a, SCRATCH);
        to = reg_new(f, n, NONE, 0);
        x86_vex(&f->x, 0x57 | X86_0F | X86_66, to - VECTOR, to - VECTOR,
                X(to)); /* no old value to wait for */
        x86_vex(&f->x, 0x2A | X86_0F | X86_F2 | width(f->nodes[node->a].type), to - VECTOR,
                to - VECTOR, x86_reg(from));
        return;
    }
}

void select_negate(struct ir *f, int n)
{
    int from = reg_use(f, f->nodes[n].a, SCRATCH_VECTOR);
    int to = reg_new(f, n, from, 0);
    x86_vex(&f->x, 0x57 | X86_0F | X86_66, to - VECTOR, from - VECTOR,
            x86_mem(RSP, NONE, FRAME_SIGN));
}

/* x * y + z: into z's register, x's, or a copy of z. Of z and x the negative may be meant. */
void select_fma(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    bool minus = f->nodes[node->c].lazy, negated = f->nodes[node->a].lazy;
    int factor = negated ? f->nodes[node->a].a : node->a,
        addend = minus ? f->nodes[node->c].a : node->c;
    int x = reg_use(f, factor, SCRATCH_VECTOR), y = reg_use(f, node->b, SCRATCH_VECTOR + 1);
    int z = reg_use(f, addend, SCRATCH_VECTOR + 2);
    int to = reg_new(f, n, z, 0);
    unsigned code = X86_0F38 | X86_66 | X86_W | (minus ? 2 : 0) | (negated ? 4 : 0);
    if (to == x) {
        x86_vex(&f->x, 0xA9 | code, to - VECTOR, y - VECTOR, X(z));
    } else if (to == y) {
        x86_vex(&f->x, 0xA9 | code, to - VECTOR, x - VECTOR, X(z));
    } else {
        reg_move(f, to, z);
        x86_vex(&f->x, 0xB9 | code, to - VECTOR, x - VECTOR, X(y));
    }
}

/* Converts both doubles of the register; the upper one is unused. */
void select_whole(struct ir *f, int n)
{
    int from = reg_use(f, f->nodes[n].a, SCRATCH_VECTOR);
    int to = reg_new(f, n, NONE, 0);
    x86_vex(&f->x, 0xE6 | X86_0F | X86_66, to - VECTOR, 0, X(from)); /* vcvttpd2dq */
}

void select_widen(struct ir *f, int n)
{
    int from = reg_use(f, f->nodes[n].a, SCRATCH_VECTOR);
    int to = reg_new(f, n, NONE, 0);
    x86_vex(&f->x, 0x25 | X86_0F38 | X86_66, to - VECTOR, 0, X(from)); /* vpmovsxdq */
}

void select_words(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    int low = reg_use(f, node->b, SCRATCH_VECTOR);
    x86_vex(&f->x, 0x6E | X86_0F | X86_66, SCRATCH_VECTOR + 1 - VECTOR, 0,
            x86_reg(reg_use(f, node->a, SCRATCH)));
    if (node->how) {
        x86_vex(&f->x, 0xEF | X86_0F | X86_66, SCRATCH_VECTOR - VECTOR, low - VECTOR,
                x86_mem(RSP, NONE, FRAME_SIGN_32)); /* vpxor */
        low = SCRATCH_VECTOR;
    }
    int to = reg_new(f, n, NONE, 0);
    x86_vex(&f->x, 0x62 | X86_0F | X86_66, to - VECTOR, low - VECTOR,
            X(SCRATCH_VECTOR + 1)); /* vpunpckldq */
}
