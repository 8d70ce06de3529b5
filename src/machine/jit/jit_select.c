/* Instruction selection: host instructions for memory, integer and condition nodes. Floating point
 * and conversions are in jit_select_fp.c.
 *
 * Integers in registers have zeros above their type's bits, so zero extension is free. rax, r11 and
 * three vector registers are scratch within a node: r11 for addresses, rax for the rest. Helper
 * calls preserve all registers but rax and r11.
 */
#include <limits.h>

#include "machine/jit/jit_backend.h"

#define X(n) (x86_reg((n)&15))

static const uint64_t masks[] = {
    [IR_I1] = 1,           [IR_I8] = 0xFF,        [IR_I16] = 0xFFFF,
    [IR_I32] = UINT32_MAX, [IR_I64] = UINT64_MAX, [IR_POINTER] = UINT64_MAX};

static bool fits(uint64_t imm, unsigned type)
{
    return !is_wide(type) || imm == (uint64_t)(int64_t)(int32_t)imm;
}

static const uint8_t alu[] = {[IR_ADD] = 0, [IR_SUB] = 5, [IR_AND] = 4, [IR_OR] = 1, [IR_XOR] = 6};
enum { ALU_COMPARE = 7 };

static void alu_imm(struct ir *f, unsigned what, unsigned type, int reg, uint64_t imm)
{
    int32_t value = (int32_t)imm;
    if (value == (int8_t)value)
        x86_op_imm(&f->x, 0x83 | width(type), (int)what, x86_reg(reg), value, 1);
    else
        x86_op_imm(&f->x, 0x81 | width(type), (int)what, x86_reg(reg), value, 4);
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* A lazy index, in the scratch register. */
static int select_index(struct ir *f, const struct node *index)
{
    const struct node *masked = &f->nodes[index->a], *rotated = &f->nodes[masked->a];
    int from = reg_use(f, rotated->a, SCRATCH);
    x86_vex_imm(&f->x, 0xF0 | X86_0F3A | X86_F2, SCRATCH, 0, x86_reg(from),
                -f->nodes[rotated->b].imm & 31); /* rorx */
    alu_imm(f, alu[IR_AND], IR_I32, SCRATCH, f->nodes[masked->b].imm);
    return SCRATCH;
}

/* The address operand of a load or store. */
static struct x86_at memory(struct ir *f, const struct node *n)
{
    uint64_t disp = n->imm;
    int index = NONE;
    if (n->b && node_at(f, n->b)->kind == NODE_CONST)
        disp += node_at(f, n->b)->imm;
    else if (n->b)
        index = f->nodes[n->b].lazy ? select_index(f, &f->nodes[n->b])
                                    : reg_use(f, n->b, SCRATCH_ADDRESS);
    if (disp > INT32_MAX) { /* rare: a constant address */
        if (index != NONE) f->failed = true;
        x86_set(&f->x, SCRATCH_ADDRESS, disp);
        index = SCRATCH_ADDRESS;
        disp = 0;
    }
    int base = reg_use(f, n->a, SCRATCH_ADDRESS);
    if (base == index) f->failed = true;
    return x86_mem(base, index, (int32_t)disp - bias_of(f, n->a));
}

static void select_load(struct ir *f, int n)
{
    struct x86_at from = memory(f, &f->nodes[n]);
    int reg = reg_new(f, n, NONE, 0);
    reg_load(f, f->nodes[n].type, reg, from);
}

void const_store(struct ir *f, unsigned type, uint64_t imm, struct x86_at to)
{
    struct x86 *x = &f->x;
    if (type == IR_I1 || type == IR_I8) {
        x86_op_imm(x, 0xC6, 0, to, (int32_t)imm, 1);
    } else if (type == IR_I16) {
        x86_op_imm(x, 0xC7 | X86_66, 0, to, (int32_t)imm, 2);
    } else if (fits(imm, type)) {
        x86_op_imm(x, 0xC7 | width(type), 0, to, (int32_t)imm, 4);
    } else {
        int scratch =
            to.reg == SCRATCH_ADDRESS || to.index == SCRATCH_ADDRESS ? SCRATCH : SCRATCH_ADDRESS;
        x86_set(x, scratch, imm);
        reg_store(f, type, scratch, to);
    }
}

static void select_store(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    struct x86_at to = memory(f, node);
    const struct node *value = &f->nodes[node->c];
    if (value->lazy) { /* swapped */
        int reg = reg_use(f, value->a, SCRATCH);
        x86_op(&f->x, 0xF1 | X86_0F38 | width(value->type), reg, to);
        return;
    }
    unsigned type = value->type;
    const struct node *constant = node_at(f, node->c);
    if (constant->kind == NODE_CONST)
        const_store(f, type, constant->imm, to);
    else
        reg_store(f, type, reg_use(f, node->c, is_float(type) ? SCRATCH_VECTOR : SCRATCH), to);
}

/* --- Integers -------------------------------------------------------------------------------- */

/* reg = reg what n */
static void alu_with(struct ir *f, unsigned what, unsigned type, int reg, int n)
{
    const struct node *node = node_at(f, n);
    if (node->kind == NODE_CONST && fits(node->imm, type))
        alu_imm(f, what, type, reg, node->imm);
    else if (node->kind == NODE_ARGUMENT && node->imm == IR_ARGUMENTS)
        x86_op(&f->x, (what << 3 | 3) | width(type), reg, x86_mem(RDI, NONE, f->shared_at));
    else
        x86_op(&f->x, (what << 3 | 3) | width(type), reg, x86_reg(reg_use(f, n, SCRATCH_ADDRESS)));
}

static bool is_imm(struct ir *f, int n, unsigned type)
{
    const struct node *node = node_at(f, n);
    return node->kind == NODE_CONST && fits(node->imm, type);
}

void select_same(struct ir *f, int n, int as)
{
    as = node_real(f, as);
    f->nodes[n].same = as;
    if (!f->in_exit && f->nodes[as].last < f->nodes[n].last) f->nodes[as].last = f->nodes[n].last;
}

static void select_sum(struct ir *f, int n, int a, int b, bool minus)
{
    unsigned type = f->nodes[n].type;
    if (node_at(f, b)->kind == NODE_CONST && !node_at(f, b)->imm) {
        select_same(f, n, a);
        return;
    }
    int from = reg_use(f, a, SCRATCH);
    if (is_imm(f, b, type)) {
        uint64_t by = minus ? -node_at(f, b)->imm : node_at(f, b)->imm;
        int to = reg_new(f, n, from, 0);
        if (to == from)
            alu_imm(f, alu[IR_ADD], type, to, by);
        else
            x86_op(&f->x, 0x8D | width(type), to, x86_mem(from, NONE, (int32_t)by));
        return;
    }
    int by = reg_use(f, b, SCRATCH_ADDRESS);
    int to = reg_new(f, n, from, minus ? BIT(by) : 0);
    if (minus) {
        reg_move(f, to, from);
        x86_op(&f->x, 0x2B | width(type), to, x86_reg(by));
    } else if (to == from || to == by) {
        x86_op(&f->x, 0x03 | width(type), to, x86_reg(to == from ? by : from));
    } else {
        x86_op(&f->x, 0x8D | width(type), to, x86_mem(from, by, 0));
    }
}

/* and, or, xor, products: of two operands in any order */
static void select_logic(struct ir *f, int n, int a, int b)
{
    unsigned type = f->nodes[n].type, how = f->nodes[n].how;
    int from = reg_use(f, a, SCRATCH);
    if (is_imm(f, b, type)) {
        int32_t imm = (int32_t)node_at(f, b)->imm;
        int to = reg_new(f, n, from, 0);
        if (how == IR_MUL) {
            x86_op_imm(&f->x, 0x69 | width(type), to, x86_reg(from), imm, 4);
            return;
        }
        reg_move(f, to, from);
        alu_imm(f, alu[how], type, to, (uint64_t)imm);
        return;
    }
    int by = reg_use(f, b, SCRATCH_ADDRESS);
    int to = reg_new(f, n, from, 0);
    if (to == by)
        by = from;
    else
        reg_move(f, to, from);
    x86_op(&f->x, (how == IR_MUL ? 0xAF | X86_0F : (unsigned)alu[how] << 3 | 3) | width(type), to,
           x86_reg(by));
}

static void select_shift(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    static const uint8_t by_imm[] = {[IR_SHL] = 4, [IR_LSHR] = 5, [IR_ASHR] = 7};
    static const unsigned by_reg[] = {[IR_SHL] = X86_66, [IR_LSHR] = X86_F2, [IR_ASHR] = X86_F3};
    unsigned type = node->type, how = node->how;
    int from = reg_use(f, node->a, SCRATCH);
    const struct node *count = node_at(f, node->b);
    if (count->kind == NODE_CONST) {
        uint8_t by = (uint8_t)count->imm;
        int to = reg_new(f, n, from, 0);
        if (how == IR_SHL && by == 1) {
            x86_op(&f->x, 0x8D | width(type), to, x86_mem(from, from, 0));
            return;
        }
        reg_move(f, to, from);
        x86_op_imm(&f->x, 0xC1 | width(type), by_imm[how], x86_reg(to), by, 1);
        return;
    }
    int by = reg_use(f, node->b, SCRATCH_ADDRESS);
    int to = reg_new(f, n, from, 0);
    x86_vex(&f->x, 0xF7 | X86_0F38 | by_reg[how] | width(type), to, by, x86_reg(from));
}

/* 32 bits only: rdx:rax by a register that is neither. */
static void select_quotient(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    bool is_signed = node->how == IR_SDIV;
    int by = reg_use(f, node->b, SCRATCH_ADDRESS);
    x86_op(&f->x, 0x8B, SCRATCH_ADDRESS, x86_reg(by));
    int from = reg_use(f, node->a, SCRATCH);
    reg_move(f, SCRATCH, from);
    reg_clear(f, RDX);
    if (is_signed)
        x86_byte(&f->x, 0x99); /* cdq */
    else
        x86_set(&f->x, RDX, 0);
    x86_op(&f->x, 0xF7, is_signed ? 7 : 6, x86_reg(SCRATCH_ADDRESS));
    int to = reg_new(f, n, RDX, 0);
    x86_op(&f->x, 0x8B, to, x86_reg(SCRATCH));
}

/* The node is a constant after all: variables have become some. */
void select_const(struct ir *f, int n, uint64_t imm)
{
    struct node *node = &f->nodes[n];
    *node = (struct node){.kind = NODE_CONST,
                          .type = node->type,
                          .imm = imm & masks[node->type],
                          .next = node->next,
                          .block = node->block,
                          .position = node->position};
}

static bool is_folded(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n], *a = node_at(f, node->a), *b = node_at(f, node->b);
    if (f->in_exit || a->kind != NODE_CONST || b->kind != NODE_CONST || is_float(node->type))
        return false;
    switch (node->how) {
    case IR_ADD: select_const(f, n, a->imm + b->imm); return true;
    case IR_OR: select_const(f, n, a->imm | b->imm); return true;
    default: return false;
    }
}

static void select_binary(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    int a = node->a, b = node->b;
    bool swapped = node_at(f, a)->kind == NODE_CONST;
    if (is_folded(f, n)) return;
    switch (node->how) {
    case IR_ADD: select_sum(f, n, swapped ? b : a, swapped ? a : b, false); break;
    case IR_SUB: select_sum(f, n, a, b, true); break;
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_MUL: select_logic(f, n, swapped ? b : a, swapped ? a : b); break;
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR: select_shift(f, n); break;
    case IR_UDIV:
    case IR_SDIV: select_quotient(f, n); break;
    default: select_float_operation(f, n); break;
    }
}

/* --- Conditions ------------------------------------------------------------------------------ */

/* Compares; the answer is yes when the condition holds. */
static enum x86_condition select_test(struct ir *f, const struct node *node)
{
    static const uint8_t conditions[] = {
        [IR_EQ] = CC_E,  [IR_NE] = CC_NE, [IR_ULT] = CC_B, [IR_UGE] = CC_AE,
        [IR_UGT] = CC_A, [IR_SLT] = CC_L, [IR_SGT] = CC_G};
    const struct node *a = &f->nodes[node->a];
    unsigned type = a->type;
    if (a->lazy) { /* bits, of memory or a register */
        const struct node *of = &f->nodes[a->a];
        int32_t mask = (int32_t)f->nodes[a->b].imm;
        if (of->lazy && of->type == IR_I8 && (mask == MEMORY_BIAS || mask == LINES_BIAS))
            x86_op(&f->x, 0x84 | X86_BYTE, mask == MEMORY_BIAS ? R14 : R15, memory(f, of));
        else if (of->lazy)
            x86_op_imm(&f->x, of->type == IR_I8 ? 0xF6 : 0xF7, 0, memory(f, of), mask,
                       of->type == IR_I8 ? 1 : 4);
        else if (mask <= UINT8_MAX)
            x86_op_imm(&f->x, 0xF6 | X86_BYTE, 0, x86_reg(reg_use(f, a->a, SCRATCH)), mask, 1);
        else
            x86_op_imm(&f->x, 0xF7, 0, x86_reg(reg_use(f, a->a, SCRATCH)), mask, 4);
        return conditions[node->how];
    }
    int reg = reg_use(f, node->a, SCRATCH);
    if (node->how <= IR_NE && node_at(f, node->b)->kind == NODE_CONST && !node_at(f, node->b)->imm)
        x86_op(&f->x, 0x85 | width(type), reg, x86_reg(reg));
    else
        alu_with(f, ALU_COMPARE, type, reg, node->b);
    return conditions[node->how];
}

static enum x86_condition select_order(struct ir *f, const struct node *node)
{
    int a = reg_use(f, node->a, SCRATCH_VECTOR), b = reg_use(f, node->b, SCRATCH_VECTOR + 1);
    if (node->how == IR_SAME) {
        x86_vex_imm(&f->x, 0xC2 | X86_0F | X86_F2, SCRATCH_VECTOR + 2 - VECTOR, a - VECTOR, X(b),
                    0);
        x86_vex(&f->x, 0x7E | X86_0F | X86_66, SCRATCH_VECTOR + 2 - VECTOR, 0, x86_reg(SCRATCH));
        x86_op(&f->x, 0x85, SCRATCH, x86_reg(SCRATCH));
        return CC_NE;
    }
    bool less = node->how == IR_LESS;
    x86_vex(&f->x, 0x2E | X86_0F | X86_66, (less ? b : a) - VECTOR, 0, X(less ? a : b));
    return node->how == IR_UNORDERED ? CC_P : CC_A;
}

/* The condition of a truth, which is compared only now if it is lazy. */
static enum x86_condition select_condition(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    if (node->lazy && node->kind == NODE_TEST) return select_test(f, node);
    if (node->lazy && node->kind == NODE_ORDER) return select_order(f, node);
    int reg = node->kind == NODE_CALL ? SCRATCH : reg_use(f, n, SCRATCH);
    x86_op(&f->x, 0x84 | X86_BYTE, reg, x86_reg(reg));
    return CC_NE;
}

void select_jump_if(struct ir *f, int n, bool sense, unsigned label)
{
    const struct node *node = &f->nodes[n];
    if (node->lazy && node->kind == NODE_BINARY) {
        if (node->how == IR_XOR) {
            select_jump_if(f, node->a, sense != (f->nodes[node->b].imm & 1), label);
        } else if ((node->how == IR_OR) == sense) {
            select_jump_if(f, node->a, sense, label);
            select_jump_if(f, node->b, sense, label);
        } else {
            unsigned over = x86_label(&f->x);
            select_jump_if(f, node->a, !sense, over);
            select_jump_if(f, node->b, sense, label);
            x86_place(&f->x, over);
        }
        return;
    }
    enum x86_condition condition = select_condition(f, n);
    x86_jump_if(&f->x, sense ? condition : condition ^ 1, label);
}

int select_tested(const struct ir *f, int condition)
{
    const struct node *test = &f->nodes[condition];
    if (!test->lazy || test->kind != NODE_TEST || !f->nodes[test->a].lazy) return 0;
    const struct node *load = &f->nodes[f->nodes[test->a].a];
    if (load->kind != NODE_LOAD || !load->lazy || !load->b || !f->nodes[load->b].lazy) return 0;
    int n = node_real(f, f->nodes[f->nodes[f->nodes[load->b].a].a].a);
    return reg_find(f, n) == NONE ? 0 : n;
}

/* A truth as a number. */
static void select_truth(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    enum x86_condition condition =
        node->kind == NODE_TEST ? select_test(f, node) : select_order(f, node);
    x86_op(&f->x, 0x90 | condition | X86_0F | X86_BYTE, 0, x86_reg(SCRATCH));
    int to = reg_new(f, n, NONE, 0);
    x86_op(&f->x, 0xB6 | X86_0F | X86_BYTE, to, x86_reg(SCRATCH));
}

static uint32_t regs_of(const struct ir *f, int n)
{
    if (!n) return 0;
    const struct node *node = &f->nodes[n];
    if (node->lazy) return regs_of(f, node->a) | regs_of(f, node->b) | regs_of(f, node->c);
    int reg = reg_find(f, node_real(f, n));
    return reg == NONE ? 0 : BIT(reg);
}

/* 4, or 2 or 8 from the frame (a move where one number is above another takes the host twice as
 * long). */
static void select_compare(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    bool is_signed = node->how, vector = is_float(f->nodes[node->a].type);
    int a = reg_use(f, node->a, vector ? SCRATCH_VECTOR : SCRATCH);
    int to = reg_new(f, n, NONE, BIT(a) | regs_of(f, node->b));
    if (vector)
        x86_vex(&f->x, 0x2E | X86_0F | X86_66, a - VECTOR, 0,
                X(reg_use(f, node->b, SCRATCH_VECTOR + 1)));
    else
        alu_with(f, ALU_COMPARE, f->nodes[node->a].type, a, node->b);
    x86_set(&f->x, to, 4);
    x86_op(&f->x, 0x40 | CC_E | X86_0F, to, x86_mem(RSP, NONE, FRAME_2));
    x86_op(&f->x, 0x40 | (is_signed ? CC_L : CC_B) | X86_0F, to, x86_mem(RSP, NONE, FRAME_8));
}

static void select_select(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    int a = node->a, b = node->b, c = node->c;
    bool vector = is_float(node->type);
    int to = reg_new(f, n, NONE, regs_of(f, a) | regs_of(f, b) | regs_of(f, c));
    int scratch = vector ? SCRATCH_VECTOR + 2 : to;
    reg_move(f, to, reg_use(f, c, scratch));
    enum x86_condition condition = select_condition(f, a);
    if (vector) {
        unsigned over = x86_label(&f->x);
        x86_jump_if(&f->x, condition ^ 1, over);
        reg_move(f, to, reg_use(f, b, SCRATCH_VECTOR));
        x86_place(&f->x, over);
        return;
    }
    int yes = reg_use(f, b, SCRATCH_ADDRESS);
    x86_op(&f->x, 0x40 | condition | X86_0F | width(f->nodes[n].type), to, x86_reg(yes));
}

/* --- The rest -------------------------------------------------------------------------------- */

static void select_swap(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    bool wide = node->type == IR_I64;
    if (is_float(node->type)) {
        int from = reg_use(f, node->a, SCRATCH_VECTOR);
        int to = reg_new(f, n, from, 0);
        x86_vex(&f->x, 0x00 | X86_0F38 | X86_66, to - VECTOR, from - VECTOR, X(SWAPS));
        return;
    }
    if (f->nodes[node->a].lazy) {
        struct x86_at from = memory(f, &f->nodes[node->a]);
        int to = reg_new(f, n, NONE, 0);
        x86_op(&f->x, 0xF0 | X86_0F38 | width(node->type), to, from);
        return;
    }
    int from = reg_use(f, node->a, SCRATCH);
    int to = reg_new(f, n, from, 0);
    reg_move(f, to, from);
    if (node->type == IR_I16)
        x86_op_imm(&f->x, 0xC1 | X86_66, 0, x86_reg(to), 8, 1); /* rol */
    else
        x86_swap_bytes(&f->x, wide, to);
}

static void select_leading_zeros(struct ir *f, int n)
{
    int from = reg_use(f, f->nodes[n].a, SCRATCH);
    int to = reg_new(f, n, from, 0);
    x86_op(&f->x, 0xBD | X86_0F | X86_F3 | width(f->nodes[n].type), to, x86_reg(from));
}

static void select_rotate(struct ir *f, int n)
{
    const struct node *node = &f->nodes[n];
    const struct node *by = node_at(f, node->b);
    if (by->kind == NODE_CONST) {
        uint8_t right = (uint8_t)(-by->imm & 31);
        int from = reg_use(f, node->a, SCRATCH);
        int to = reg_new(f, n, from, 0);
        x86_vex_imm(&f->x, 0xF0 | X86_0F3A | X86_F2, to, 0, x86_reg(from), right); /* rorx */
        return;
    }
    x86_op(&f->x, 0x8B, SCRATCH, x86_reg(reg_use(f, node->a, SCRATCH)));
    x86_op(&f->x, 0x8B, SCRATCH_ADDRESS, x86_reg(reg_use(f, node->b, SCRATCH_ADDRESS)));
    reg_clear(f, RCX);
    x86_op(&f->x, 0x8B, RCX, x86_reg(SCRATCH_ADDRESS));
    x86_op(&f->x, 0xD3, 0, x86_reg(SCRATCH)); /* rol by cl */
    int to = reg_new(f, n, RCX, 0);
    x86_op(&f->x, 0x8B, to, x86_reg(SCRATCH));
}

static void select_call(struct ir *f, int n)
{
    variables_write(f);
    x86_set(&f->x, SCRATCH, f->nodes[n].imm);
    x86_op(&f->x, 0xFF, 2, x86_reg(SCRATCH));
}

static bool has_effect(const struct node *n)
{
    return n->kind == NODE_STORE || n->kind == NODE_SET || n->kind == NODE_RELOAD ||
           n->kind == NODE_ADD_TO || n->kind == NODE_CALL || n->kind == NODE_PROBE ||
           n->kind == NODE_PREFETCH;
}

void select_node(struct ir *f, int n)
{
    struct node *node = &f->nodes[n];
    if (node->lazy || (!node->uses && !has_effect(node))) return;
    switch (node->kind) {
    case NODE_BINARY: select_binary(f, n); break;
    case NODE_TEST:
    case NODE_ORDER: select_truth(f, n); break;
    case NODE_COMPARE: select_compare(f, n); break;
    case NODE_SELECT: select_select(f, n); break;
    case NODE_CONVERT: select_convert(f, n); break;
    case NODE_NEGATE: select_negate(f, n); break;
    case NODE_FMA: select_fma(f, n); break;
    case NODE_SWAP: select_swap(f, n); break;
    case NODE_WHOLE: select_whole(f, n); break;
    case NODE_WIDEN: select_widen(f, n); break;
    case NODE_WORDS: select_words(f, n); break;
    case NODE_LEADING_ZEROS: select_leading_zeros(f, n); break;
    case NODE_ROTATE: select_rotate(f, n); break;
    case NODE_LOAD: select_load(f, n); break;
    case NODE_STORE: select_store(f, n); break;
    case NODE_GET: variable_get(f, n); break;
    case NODE_SET:
        f->variables[node->variable].next_get = node->next_get;
        variable_set(f, node);
        break;
    case NODE_RELOAD: variable_reload(f, n); break;
    case NODE_ADD_TO: x86_op_imm(&f->x, 0x83 | X86_W, 0, memory(f, node), 1, 1); break;
    case NODE_PREFETCH: x86_op(&f->x, 0x18 | X86_0F, 1, memory(f, node)); break;
    case NODE_CALL: select_call(f, n); break;
    case NODE_PROBE: break; /* the end of its block */
    default: f->failed = true; break;
    }
}
