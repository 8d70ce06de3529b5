/* Code layout: traces, their side exits, entry and return (jit_backend.h).
 *
 * Fixed registers: rdi the core, rbp its registers (REGS_BIAS), r14 memory, r15 the line bytes, r13
 * the time. The limit and constants are at rsp. So code of one region continues in another's by a
 * jump, and helpers find the core in their first argument register.
 */
#include <string.h>

#include "base/mem.h"
#include "machine/jit/jit_backend.h"

static void add_exit(struct ir *f, unsigned label, int block, int position, int tested)
{
    struct side_exit *exit = arena_calloc(&f->arena, 1, sizeof *exit);
    *exit = (struct side_exit){label, block, position, state_copy(f, f->now), f->exits};
    exit->state->tested = tested;
    f->exits = exit;
}

/* The label of a pending side exit to the block whose state the current state satisfies; or 0. */
static unsigned find_exit(struct ir *f, int block)
{
    for (struct side_exit *exit = f->exits; exit; exit = exit->next)
        if (exit->block == block)
            return state_share(f, exit->state, exit->position) ? exit->label : 0;
    return 0;
}

/* Jumps to a head, or rejoins a trace. */
static void jump_to(struct ir *f, int block, int next_head)
{
    const struct basic_block *b = &f->blocks[block];
    if (!b->head)
        state_meet(f, b);
    else if (b->weight)
        state_head(f);
    if (block != next_head) x86_jump(&f->x, b->label);
}

/* The side of a branch that does not continue here. */
static void branch_away(struct ir *f, int condition, bool sense, int block, int position)
{
    const struct basic_block *b = &f->blocks[block];
    if (b->head) {
        select_jump_if(f, condition, sense, b->label);
        return;
    }
    unsigned label = x86_label(&f->x);
    select_jump_if(f, condition, sense, label);
    add_exit(f, label, block, position, select_tested(f, condition));
}

/* Whether nothing may be pending behind an ending. */
static bool leaves_trace(const struct ir *f, const struct basic_block *b, int follows)
{
    if (b->ending == END_JUMP) return b->yes != follows;
    if (b->ending == END_PROBE) return false;
    return b->ending != END_BRANCH || f->blocks[b->yes].head || f->blocks[b->no].head;
}

/* Calls the routine with the number in rax. Saves the clobbered registers that are live behind the
 * probe, or where the side exit rejoins. Carry set: the access was handled; else rax is the result.
 */
static void select_probe(struct ir *f, const struct node *probe, const struct state *wanted)
{
    struct x86 *x = &f->x;
    struct saved_regs kept;
    regs_save(f, wanted, &kept);
    if (f->now->tested != node_real(f, probe->b)) {
        reg_move(f, SCRATCH, reg_use(f, probe->b, SCRATCH));
        x86_op_imm(x, 0xC1, 1, x86_reg(SCRATCH), probe->how, 1); /* ror */
        x86_op_imm(x, 0x81, 4, x86_reg(SCRATCH), (int32_t)probe->mask, 4);
    }
    f->now->tested = 0;
    const struct node *pointer = &f->nodes[probe->a];
    x86_op(x, 0x8B | X86_W, SCRATCH_ADDRESS,
           x86_mem(reg_find(f, pointer->a), NONE, (int32_t)pointer->imm - bias_of(f, pointer->a)));
    x86_op(x, 0xFF, 2, x86_mem(SCRATCH_ADDRESS, NONE, (int32_t)f->nodes[probe->c].imm));
    regs_restore(f, &kept);
}

/* Whether no moves are needed between a probe that set the variable to n and its `yes` block. */
static bool goes_straight(struct ir *f, const struct basic_block *to, unsigned variable, int n)
{
    int pin = f->variables[variable].pin, position = f->position;
    if (to->head || reg_needed(f, f->now->content[pin])) return false;
    struct state *before = state_copy(f, f->now);
    f->now->content[pin] = f->now->variables[variable].value = n;
    bool met = state_is_met(f, to);
    state_become(f, before);
    f->position = position;
    return met;
}

/* On a trace, which continues behind it. The time may have changed. */
static void probe_on_trace(struct ir *f, const struct basic_block *b, int position)
{
    struct x86 *x = &f->x;
    const struct node *probe = &f->nodes[b->last];
    int pin = f->variables[probe->variable].pin;
    if (!f->nodes[probe->a].lazy || pin != TIME || reg_needed(f, f->now->content[pin]))
        f->failed = true;
    select_probe(f, probe, NULL);
    unsigned refused = x86_label(x), no = x86_label(x);
    x86_jump_if(x, CC_AE, refused);
    add_exit(f, no, b->no, position, 0);
    x->piece = 1;
    x86_place(x, refused);
    reg_store(f, IR_I32, SCRATCH, x86_mem(RDI, NONE, (int32_t)probe->imm));
    x86_jump(x, no);
    x->piece = 0;
    f->now->content[pin] = f->now->variables[probe->variable].value = b->last;
}

/* In a side exit. The time may have changed. */
static void probe_off_trace(struct ir *f, const struct basic_block *b, int position)
{
    struct x86 *x = &f->x;
    int n = b->last;
    unsigned variable = f->nodes[n].variable;
    int pin = f->variables[variable].pin;
    if (!f->in_exit || !f->nodes[f->nodes[n].a].lazy || pin != TIME) f->failed = true;
    select_probe(f, &f->nodes[n], f->blocks[b->yes].state);
    if (goes_straight(f, &f->blocks[b->yes], variable, n)) {
        x86_jump_if(x, CC_B, f->blocks[b->yes].label);
    } else {
        unsigned refused = x86_label(x);
        x86_jump_if(x, CC_AE, refused);
        struct state *before = state_copy(f, f->now);
        reg_clear(f, pin);
        f->now->content[pin] = f->now->variables[variable].value = n;
        jump_to(f, b->yes, 0);
        f->position = position - 1;
        state_become(f, before);
        x86_place(x, refused);
    }
    reg_store(f, IR_I32, SCRATCH, x86_mem(RDI, NONE, (int32_t)f->nodes[n].imm));
    unsigned no = find_exit(f, b->no);
    if (!no) {
        no = x86_label(x);
        add_exit(f, no, b->no, position, 0);
    }
    x86_jump(x, no);
}

/* Generates a block's ending; returns the block that follows here, or 0. */
static int generate_ending(struct ir *f, const struct basic_block *b, int position, int next_head)
{
    int follows = f->in_exit ? 0 : b->follows;
    bool to_head =
        (b->ending == END_BRANCH && (f->blocks[b->yes].weight || f->blocks[b->no].weight));
    if (leaves_trace(f, b, follows)) variables_write(f);
    if (to_head) state_head(f);
    switch (b->ending) {
    case END_PROBE:
        if (follows)
            probe_on_trace(f, b, position);
        else
            probe_off_trace(f, b, position);
        return follows;
    case END_JUMP:
        if (f->in_exit && !f->blocks[b->yes].head && !f->blocks[b->yes].in_trace) {
            unsigned shared = find_exit(f, b->yes);
            if (!shared) return b->yes;
            x86_jump(&f->x, shared);
            return 0;
        }
        if (b->yes == follows) return follows;
        jump_to(f, b->yes, next_head);
        return 0;
    case END_BRANCH:
        if (f->in_exit) {
            f->now->tested = 0;
            int on = b->odds == IR_UNLIKELY ? b->no : b->yes;
            if (f->blocks[on].head) on = on == b->no ? b->yes : b->no;
            branch_away(f, b->condition, on == b->no, on == b->no ? b->yes : b->no, position);
            if (!f->blocks[on].head && !f->blocks[on].in_trace) return on;
            jump_to(f, on, 0);
            return 0;
        }
        if (!follows) {
            if (b->yes == next_head && f->blocks[b->no].head) {
                branch_away(f, b->condition, false, b->no, position);
                return 0;
            }
            branch_away(f, b->condition, true, b->yes, position);
            if (f->blocks[b->no].head) {
                jump_to(f, b->no, next_head);
            } else {
                unsigned label = x86_label(&f->x);
                x86_jump(&f->x, label);
                add_exit(f, label, b->no, position, 0);
            }
            return 0;
        }
        branch_away(f, b->condition, follows == b->no, follows == b->no ? b->yes : b->no, position);
        return follows;
    case END_GO: x86_op(&f->x, 0xFF, 4, x86_reg(reg_use(f, b->condition, SCRATCH))); return 0;
    default: x86_jump(&f->x, f->leave); return 0;
    }
}

/* The variables that a trace reads before it sets them, and its end. */
static void look_ahead(struct ir *f, int head)
{
    for (size_t i = 0; i < f->variable_count; i++)
        f->variables[i].seen = f->variables[i].next_get = 0;
    for (int block = head; block; block = f->blocks[block].follows) {
        f->end = f->blocks[block].end;
        for (int n = f->blocks[block].first; n; n = f->nodes[n].next) {
            struct variable *v = &f->variables[f->nodes[n].variable];
            if (v->seen || (f->nodes[n].kind != NODE_GET && f->nodes[n].kind != NODE_SET)) continue;
            v->seen = 1;
            if (f->nodes[n].kind == NODE_GET) v->next_get = f->nodes[n].position;
        }
    }
}

static void generate_trace(struct ir *f, int head, int next_head)
{
    look_ahead(f, head);
    state_clear(f, f->blocks[head].weight == 0);
    f->slots = 0; /* no value of another trace is used */
    for (int block = head; block;) {
        struct basic_block *b = &f->blocks[block];
        if (block != head) state_arrive(f, block);
        x86_place(&f->x, b->label);
        for (int n = b->first; n; n = f->nodes[n].next) {
            f->position = f->nodes[n].position;
            select_node(f, n);
        }
        f->position = b->end - 1; /* what the ending needs is kept */
        block = generate_ending(f, &f->blocks[block], b->end + 1, next_head);
    }
}

/* Helpers do not read variables then. */
static bool leads_to_probe(const struct ir *f, int block)
{
    const struct basic_block *b = &f->blocks[block];
    return b->ending == END_PROBE;
}

/* Whether a node of a side exit preserves the scratch register, as the nodes before a probe do. */
static bool spares_scratch(const struct ir *f, const struct node *n)
{
    return n->lazy || n->kind == NODE_CONST || n->kind == NODE_PREFETCH || n->kind == NODE_PROBE ||
           (n->kind == NODE_CONVERT && n->how == IR_ZEXT) ||
           (n->kind == NODE_STORE && is_const(f, n->c) && f->nodes[n->c].type == IR_I8);
}

static void generate_exit(struct ir *f, const struct side_exit *exit)
{
    state_become(f, exit->state);
    f->locked = 0;
    x86_place(&f->x, exit->label);
    int block = exit->block;
    if (f->blocks[block].in_trace) { /* straight back */
        jump_to(f, block, 0);
        return;
    }
    if (!leads_to_probe(f, block)) {
        variables_write(f);
        f->now->tested = 0;
    }
    while (block) {
        f->position = exit->position - 1;
        for (int n = f->blocks[block].first; n; n = f->nodes[n].next) {
            if (!spares_scratch(f, &f->nodes[n])) f->now->tested = 0;
            select_node(f, n);
        }
        block = generate_ending(f, &f->blocks[block], exit->position, 0);
    }
}

static void generate_exits(struct ir *f)
{
    f->in_exit = true;
    f->x.piece = 1;
    while (f->exits) {
        struct side_exit *exit = f->exits;
        f->exits = exit->next;
        generate_exit(f, exit);
    }
    f->in_exit = false;
    f->locked = 0;
    f->x.piece = 0;
}

static bool to_generate(const struct ir *f, int block)
{
    const struct basic_block *b = &f->blocks[block];
    return b->head && !b->generated && b->label != f->leave;
}

/* The trace placed behind that of `head`: the most executed of its successors, else the next. */
static int head_behind(const struct ir *f, int head)
{
    int best = 0;
    for (int block = head; block; block = f->blocks[block].follows) {
        const int successors[] = {f->blocks[block].yes, f->blocks[block].no};
        for (unsigned i = 0; i < 2; i++)
            if (to_generate(f, successors[i]) &&
                f->blocks[successors[i]].weight > f->blocks[best].weight)
                best = successors[i];
    }
    for (int i = 1; i < (int)f->block_count && !best; i++)
        if (to_generate(f, i)) best = i;
    return best;
}

static const uint8_t saved[] = {RBX, RBP, R12, R13, R14, R15};

static void generate_leave(struct ir *f)
{
    x86_place(&f->x, f->leave);
    x86_op_imm(&f->x, 0x81 | X86_W, 0, x86_reg(RSP), FRAME, 4);
    for (unsigned i = sizeof saved; i > 0; i--)
        x86_pop(&f->x, saved[i - 1]);
    x86_byte(&f->x, 0xC3);
}

/* The entry from C: constants go to the stack, arguments to their registers. Other
 * regions jump to what follows. */
static void generate_entry(struct ir *f)
{
    struct x86 *x = &f->x;
    for (unsigned i = 0; i < sizeof saved; i++)
        x86_push(x, saved[i]);
    x86_op_imm(x, 0x81 | X86_W, 5, x86_reg(RSP), FRAME, 4);
    x86_set(x, RAX, UINT64_C(0x0001020304050607));
    x86_vex(x, 0x6E | X86_0F | X86_66 | X86_W, SWAPS - VECTOR, 0, x86_reg(RAX));
    x86_set(x, RAX, UINT64_C(1) << 63);
    x86_op(x, 0x89 | X86_W, RAX, x86_mem(RSP, NONE, FRAME_SIGN));
    x86_op_imm(x, 0xC7, 0, x86_mem(RSP, NONE, FRAME_2), 2, 4);
    x86_op_imm(x, 0xC7, 0, x86_mem(RSP, NONE, FRAME_8), 8, 4);
    x86_op(x, 0x8D | X86_W, RBP, x86_mem(RSI, NONE, REGS_BIAS));
    x86_op(x, 0x8D | X86_W, R14, x86_mem(RDX, NONE, MEMORY_BIAS));
    x86_op(x, 0x8D | X86_W, R15, x86_mem(RCX, NONE, LINES_BIAS));
    reg_move(f, R13, R8);
}

bool layout_function(struct ir *f)
{
    x86_begin(&f->x);
    f->leave = x86_label(&f->x);
    for (int i = 1; i < (int)f->block_count; i++) {
        struct basic_block *b = &f->blocks[i];
        b->label = b->ending == END_RETURN && !b->first ? f->leave : x86_label(&f->x);
    }
    generate_entry(f);
    f->target = f->x.pieces[0].size;
    f->now = state_new(f);
    for (int head = 1, next; head && !f->failed; head = next) {
        f->blocks[head].generated = true;
        next = head_behind(f, head);
        generate_trace(f, head, next);
        generate_exits(f);
    }
    generate_leave(f);
    return !f->failed;
}
