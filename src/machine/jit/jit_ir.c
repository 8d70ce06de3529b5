/* The IR's interface (jit_ir.h): builds a function as nodes in basic blocks, folds constants, and
 * keeps the generated code in executable memory. The back end is in jit_backend.h. */
#include "machine/jit/jit_backend.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

struct ir_code {
    uint8_t *bytes;
    size_t size, target;
};

#define N(v)   ((int)(intptr_t)(v))
#define B(b)   ((int)(intptr_t)(b))
#define VAR(v) ((unsigned)(intptr_t)(v)-1)

/* Handles of the interface are numbers. */
union handle {
    intptr_t number;
    ir_value value;
    ir_block block;
    ir_variable variable;
};
#define V(n) (((union handle){.number = (n)}).value)

const char *ir_unavailable(void)
{
    return x86_host_supported() ? NULL : "this host lacks AVX2, BMI, FMA, LZCNT or MOVBE";
}

struct ir *ir_new(void)
{
    return x86_host_supported() ? base_calloc(1, sizeof(struct ir)) : NULL;
}

void ir_free(struct ir *ir)
{
    if (!ir) return;
    x86_fini(&ir->x);
    free(ir->nodes);
    free(ir->blocks);
    free(ir->variables);
    free(ir->changes);
    free(ir);
}

/* --- Functions ------------------------------------------------------------------------------- */

static int node_new(struct ir *f, struct node node)
{
    f->nodes = base_grow(f->nodes, &f->node_capacity, f->node_count + 1, sizeof *f->nodes);
    f->nodes[f->node_count] = node;
    return (int)f->node_count++;
}

static int block_new(struct ir *f, bool head, uint64_t weight)
{
    f->blocks = base_grow(f->blocks, &f->block_capacity, f->block_count + 1, sizeof *f->blocks);
    f->blocks[f->block_count] = (struct basic_block){.head = head, .weight = weight};
    return (int)f->block_count++;
}

void ir_begin(struct ir *ir)
{
    ir->node_count = ir->block_count = ir->variable_count = 0;
    ir->pinned = ir->locked = 0;
    ir->slots = 0;
    ir->failed = ir->in_exit = false;
    ir->exits = NULL;
    (void)node_new(ir, (struct node){0}); /* 0 is none */
    (void)block_new(ir, false, 0);
    ir->here = block_new(ir, true, 0);
}

static struct ir_code *keep(const struct ir *f)
{
    size_t size = (x86_size(&f->x) + 4095) & ~(size_t)4095;
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return NULL;
    x86_copy(&f->x, bytes);
    if (mprotect(bytes, size, PROT_READ | PROT_EXEC)) {
        (void)munmap(bytes, size);
        return NULL;
    }
    struct ir_code *code = base_calloc(1, sizeof *code);
    *code = (struct ir_code){bytes, size, f->target};
    return code;
}

struct ir_code *ir_finish(struct ir *ir)
{
    arena_init(&ir->arena);
    analyze_liveness(ir);
    struct ir_code *code = layout_function(ir) ? keep(ir) : NULL;
    arena_fini(&ir->arena);
    return code;
}

void *ir_code_entry(const struct ir_code *code)
{
    return code->bytes;
}

void *ir_code_target(const struct ir_code *code)
{
    return code->bytes + code->target;
}

size_t ir_code_size(const struct ir_code *code)
{
    return code->size;
}

void ir_code_free(struct ir_code *code)
{
    (void)munmap(code->bytes, code->size);
    free(code);
}

/* --- Values ---------------------------------------------------------------------------------- */

/* Appends a node to the block that is being built. */
static int add(struct ir *ir, struct node node)
{
    struct ir *f = ir;
    node.block = f->here;
    int n = node_new(f, node);
    struct basic_block *block = &f->blocks[f->here];
    if (block->last)
        f->nodes[block->last].next = n;
    else
        block->first = n;
    block->last = n;
    return n;
}

static uint8_t type_of(struct ir *ir, ir_value v)
{
    return ir->nodes[N(v)].type;
}

ir_value ir_argument(struct ir *ir, enum ir_argument argument)
{
    return V(node_new(ir, (struct node){.kind = NODE_ARGUMENT, .type = IR_I64, .imm = argument}));
}

ir_value ir_shared(struct ir *ir, size_t offset)
{
    ir_value shared = ir_argument(ir, IR_ARGUMENTS);
    ir->shared_at = (int32_t)offset;
    return shared;
}

ir_value ir_const(struct ir *ir, enum ir_type type, uint64_t value)
{
    static const uint64_t masks[] = {
        [IR_I1] = 1, [IR_I8] = 0xFF, [IR_I16] = 0xFFFF, [IR_I32] = UINT32_MAX};
    if (type < IR_I64) value &= masks[type];
    return V(node_new(ir, (struct node){.kind = NODE_CONST, .type = (uint8_t)type, .imm = value}));
}

ir_value ir_address(struct ir *ir, const void *p)
{
    return V(
        node_new(ir, (struct node){.kind = NODE_CONST, .type = IR_POINTER, .imm = (uintptr_t)p}));
}

/* --- Of constants: what rows leave of the operands that are part of an instruction ----------- */

static unsigned bits_of(unsigned type)
{
    static const uint8_t bits[] = {
        [IR_I1] = 1, [IR_I8] = 8, [IR_I16] = 16, [IR_I32] = 32, [IR_I64] = 64};
    return bits[type];
}

static int64_t signed_of(const struct node *n)
{
    unsigned unused = 64 - bits_of(n->type);
    return (int64_t)(n->imm << unused) >> unused;
}

static bool fold_op(enum ir_binary op, const struct node *a, const struct node *b, uint64_t *result)
{
    switch (op) {
    case IR_ADD: *result = a->imm + b->imm; return true;
    case IR_SUB: *result = a->imm - b->imm; return true;
    case IR_AND: *result = a->imm & b->imm; return true;
    case IR_OR: *result = a->imm | b->imm; return true;
    case IR_XOR: *result = a->imm ^ b->imm; return true;
    case IR_SHL: *result = a->imm << (b->imm & 63); return b->imm < bits_of(a->type);
    case IR_LSHR: *result = a->imm >> (b->imm & 63); return b->imm < bits_of(a->type);
    default: return false;
    }
}

static bool fold_test(enum ir_test test, const struct node *a, const struct node *b)
{
    switch (test) {
    case IR_EQ: return a->imm == b->imm;
    case IR_NE: return a->imm != b->imm;
    case IR_ULT: return a->imm < b->imm;
    case IR_UGE: return a->imm >= b->imm;
    case IR_UGT: return a->imm > b->imm;
    case IR_SLT: return signed_of(a) < signed_of(b);
    default: return signed_of(a) > signed_of(b);
    }
}

/* The node if it is a constant integer, else NULL. */
static const struct node *constant_of(struct ir *ir, ir_value v)
{
    const struct node *n = &ir->nodes[N(v)];
    return n->kind == NODE_CONST && n->type <= IR_I64 ? n : NULL;
}

ir_value ir_op(struct ir *ir, enum ir_binary op, ir_value a, ir_value b)
{
    uint64_t result;
    if (constant_of(ir, a) && constant_of(ir, b) &&
        fold_op(op, constant_of(ir, a), constant_of(ir, b), &result))
        return ir_const(ir, (enum ir_type)type_of(ir, a), result);
    return V(add(ir, (struct node){.kind = NODE_BINARY,
                                   .type = type_of(ir, a),
                                   .how = (uint8_t)op,
                                   .a = N(a),
                                   .b = N(b)}));
}

ir_value ir_test(struct ir *ir, enum ir_test test, ir_value a, ir_value b)
{
    if (constant_of(ir, a) && constant_of(ir, b))
        return ir_const(ir, IR_I1, fold_test(test, constant_of(ir, a), constant_of(ir, b)));
    return V(
        add(ir, (struct node){
                    .kind = NODE_TEST, .type = IR_I1, .how = (uint8_t)test, .a = N(a), .b = N(b)}));
}

ir_value ir_order(struct ir *ir, enum ir_order order, ir_value a, ir_value b)
{
    return V(add(
        ir, (struct node){
                .kind = NODE_ORDER, .type = IR_I1, .how = (uint8_t)order, .a = N(a), .b = N(b)}));
}

ir_value ir_compare(struct ir *ir, bool is_signed, ir_value a, ir_value b)
{
    return V(
        add(ir, (struct node){
                    .kind = NODE_COMPARE, .type = IR_I32, .how = is_signed, .a = N(a), .b = N(b)}));
}

ir_value ir_select(struct ir *ir, ir_value condition, ir_value a, ir_value b)
{
    if (constant_of(ir, condition)) return constant_of(ir, condition)->imm ? a : b;
    return V(add(
        ir,
        (struct node){
            .kind = NODE_SELECT, .type = type_of(ir, a), .a = N(condition), .b = N(a), .c = N(b)}));
}

ir_value ir_convert(struct ir *ir, enum ir_convert how, enum ir_type to, ir_value v)
{
    if (constant_of(ir, v) && how == IR_SEXT)
        return ir_const(ir, to, (uint64_t)signed_of(constant_of(ir, v)));
    if (constant_of(ir, v) && (how == IR_ZEXT || how == IR_TRUNC))
        return ir_const(ir, to, constant_of(ir, v)->imm);
    return V(add(
        ir,
        (struct node){.kind = NODE_CONVERT, .type = (uint8_t)to, .how = (uint8_t)how, .a = N(v)}));
}

static ir_value of(struct ir *ir, enum node_kind kind, ir_value a, ir_value b, ir_value c)
{
    return V(add(
        ir, (struct node){
                .kind = (uint8_t)kind, .type = type_of(ir, a), .a = N(a), .b = N(b), .c = N(c)}));
}

ir_value ir_negate(struct ir *ir, ir_value v)
{
    return of(ir, NODE_NEGATE, v, NULL, NULL);
}

ir_value ir_fma(struct ir *ir, ir_value x, ir_value y, ir_value z)
{
    return of(ir, NODE_FMA, x, y, z);
}

ir_value ir_swap(struct ir *ir, ir_value v)
{
    return of(ir, NODE_SWAP, v, NULL, NULL);
}

ir_value ir_whole(struct ir *ir, ir_value v)
{
    return of(ir, NODE_WHOLE, v, NULL, NULL);
}

ir_value ir_widen(struct ir *ir, ir_value v)
{
    return of(ir, NODE_WIDEN, v, NULL, NULL);
}

ir_value ir_words(struct ir *ir, ir_value high, ir_value low, bool flip)
{
    return V(add(
        ir,
        (struct node){.kind = NODE_WORDS, .type = IR_F64, .how = flip, .a = N(high), .b = N(low)}));
}

ir_value ir_leading_zeros(struct ir *ir, ir_value v)
{
    return of(ir, NODE_LEADING_ZEROS, v, NULL, NULL);
}

ir_value ir_rotate(struct ir *ir, ir_value v, ir_value left)
{
    return of(ir, NODE_ROTATE, v, left, NULL);
}

/* --- Memory and variables -------------------------------------------------------------------- */

ir_value ir_offset(struct ir *ir, ir_value base, ir_value by)
{
    return V(add(
        ir, (struct node){
                .kind = NODE_BINARY, .type = IR_POINTER, .how = IR_ADD, .a = N(base), .b = N(by)}));
}

ir_value ir_load(struct ir *ir, enum ir_type type, ir_value base, ir_value index, uint64_t offset)
{
    return V(add(
        ir,
        (struct node){
            .kind = NODE_LOAD, .type = (uint8_t)type, .a = N(base), .b = N(index), .imm = offset}));
}

void ir_store(struct ir *ir, ir_value v, ir_value base, ir_value index, uint64_t offset)
{
    struct ir *f = ir;
    int last = f->blocks[f->here].last;
    struct node *set = &f->nodes[last];
    const struct variable *variable = &f->variables[set->variable];
    if (last && set->kind == NODE_SET && set->a == N(v) && variable->has_home &&
        variable->home == N(base) && !index && variable->offset == offset)
        set->homed = true; /* as promised */
    else
        (void)add(ir,
                  (struct node){
                      .kind = NODE_STORE, .a = N(base), .b = N(index), .c = N(v), .imm = offset});
}

void ir_prefetch(struct ir *ir, ir_value base, ir_value index)
{
    (void)add(ir, (struct node){.kind = NODE_PREFETCH, .a = N(base), .b = N(index)});
}

void ir_increment(struct ir *ir, ir_value base, uint64_t offset)
{
    (void)add(ir, (struct node){.kind = NODE_ADD_TO, .a = N(base), .imm = offset});
}

static ir_variable variable_new(struct ir *ir, struct variable variable)
{
    struct ir *f = ir;
    f->variables =
        base_grow(f->variables, &f->variable_capacity, f->variable_count + 1, sizeof *f->variables);
    f->variables[f->variable_count++] = variable;
    return ((union handle){.number = (intptr_t)f->variable_count}).variable;
}

ir_variable ir_variable_new(struct ir *ir, enum ir_type type, ir_value base, uint64_t offset)
{
    return variable_new(ir, (struct variable){.type = (uint8_t)type,
                                              .has_home = true,
                                              .home = N(base),
                                              .offset = offset,
                                              .pin = NONE});
}

ir_variable ir_variable_of(struct ir *ir, ir_value first)
{
    bool is_time = ir->nodes[N(first)].kind == NODE_ARGUMENT;
    return variable_new(ir, (struct variable){.type = type_of(ir, first),
                                              .first = N(first),
                                              .pin = is_time ? R13 : NONE});
}

ir_value ir_get(struct ir *ir, enum ir_type type, ir_variable variable)
{
    return V(
        add(ir, (struct node){.kind = NODE_GET, .type = (uint8_t)type, .variable = VAR(variable)}));
}

void ir_set(struct ir *ir, ir_variable variable, ir_value v)
{
    (void)add(ir, (struct node){.kind = NODE_SET, .variable = VAR(variable), .a = N(v)});
}

void ir_reload(struct ir *ir, enum ir_type type, ir_variable variable, ir_value base,
               uint64_t offset)
{
    (void)add(ir, (struct node){.kind = NODE_RELOAD,
                                .type = (uint8_t)type,
                                .variable = VAR(variable),
                                .a = N(base),
                                .imm = offset});
}

/* --- Flow ------------------------------------------------------------------------------------ */

ir_block ir_block_new(struct ir *ir)
{
    return ((union handle){.number = block_new(ir, false, 0)}).block;
}

ir_block ir_head_new(struct ir *ir, uint64_t weight)
{
    return ((union handle){.number = block_new(ir, true, weight)}).block;
}

void ir_place(struct ir *ir, ir_block block)
{
    ir->here = B(block);
}

ir_block ir_here(struct ir *ir)
{
    return ((union handle){.number = ir->here}).block;
}

static void end(struct ir *ir, enum ending ending, ir_value condition, ir_block yes, ir_block no,
                enum ir_odds odds)
{
    struct basic_block *block = &ir->blocks[ir->here];
    block->ending = ending;
    block->condition = N(condition);
    block->yes = B(yes);
    block->no = B(no);
    block->odds = odds;
}

void ir_jump(struct ir *ir, ir_block block)
{
    end(ir, END_JUMP, NULL, block, NULL, IR_EVEN);
}

void ir_branch(struct ir *ir, ir_value condition, ir_block yes, ir_block no, enum ir_odds odds)
{
    end(ir, END_BRANCH, condition, yes, no, odds);
}

void ir_return(struct ir *ir)
{
    end(ir, END_RETURN, NULL, NULL, NULL, IR_EVEN);
}

ir_value ir_call(struct ir *ir, const void *function)
{
    /* The core is in the register where the function expects it. */
    return V(add(ir, (struct node){.kind = NODE_CALL, .type = IR_I1, .imm = (uintptr_t)function}));
}

void ir_probe(struct ir *ir, const struct ir_probe *probe, ir_block yes, ir_block no)
{
    (void)add(ir, (struct node){.kind = NODE_PROBE,
                                .variable = VAR(probe->time),
                                .how = (uint8_t)probe->shift,
                                .mask = probe->mask,
                                .a = N(probe->pointer),
                                .b = N(probe->number),
                                .c = N(ir_const(ir, IR_I64, probe->code)),
                                .imm = probe->stall});
    end(ir, END_PROBE, NULL, yes, no, IR_LIKELY);
}

void ir_go(struct ir *ir, ir_value function)
{
    end(ir, END_GO, function, NULL, NULL, IR_EVEN);
}
