/* Traces, their detours, and how code is entered and left: see jit_fast.h.
 *
 * Throughout, rdi is the core, rbp its registers (REGS_BIAS), r14 memory, r15 the lines, r13 the
 * time, and the limit, constants and the core are at rsp. So code of one region goes on in
 * another's by a jump, and calls of C find the core where they expect it.
 */
#include <string.h>

#include "base/mem.h"
#include "machine/jit/jit_fast.h"

static void add_detour(struct ir *f, unsigned label, int block, int position, int tested)
{
    struct detour *detour = arena_calloc(&f->arena, 1, sizeof *detour);
    *detour = (struct detour){label, block, position, state_copy(f, f->now), f->detours};
    detour->state->tested = tested;
    f->detours = detour;
}

/* The label of a detour to the block that is still to be made and that does from here, too; or 0.
 */
static unsigned find_detour(struct ir *f, int block)
{
    for (struct detour *detour = f->detours; detour; detour = detour->next)
        if (detour->block == block)
            return state_share(f, detour->state, detour->position) ? detour->label : 0;
    return 0;
}

/* To a block that is an anchor or elsewhere. */
static void jump_to(struct ir *f, int block, int next_anchor)
{
    const struct fast_block *b = &f->blocks[block];
    if (!b->anchor)
        state_meet(f, b);
    else if (b->weight)
        state_anchor(f);
    if (block != next_anchor) x86_jump(&f->x, b->label);
}

/* Where a branch goes that does not go on here. */
static void branch_away(struct ir *f, int condition, bool sense, int block, int position)
{
    const struct fast_block *b = &f->blocks[block];
    if (b->anchor) {
        fast_jump_if(f, condition, sense, b->label);
        return;
    }
    unsigned label = x86_label(&f->x);
    fast_jump_if(f, condition, sense, label);
    add_detour(f, label, block, position, fast_tested(f, condition));
}

/* Whether an end leads to where nothing is pending. */
static bool leaves_trace(const struct ir *f, const struct fast_block *b, int follows)
{
    if (b->ending == END_JUMP) return b->yes != follows;
    if (b->ending == END_ASK) return false;
    return b->ending != END_BRANCH || f->blocks[b->yes].anchor || f->blocks[b->no].anchor;
}

/* Asks, with the number in rax. Of the registers that change only what is needed is kept, behind
 * the question or where the detour comes back to. The carry says whether there is no answer in rax.
 */
static void make_question(struct ir *f, const struct node *ask, const struct state *wanted)
{
    struct x86 *x = &f->x;
    struct kept kept;
    regs_keep(f, wanted, &kept);
    if (f->now->tested != node_real(f, ask->b)) {
        reg_move(f, SCRATCH, reg_use(f, ask->b, SCRATCH));
        x86_op_imm(x, 0xC1, 1, x86_reg(SCRATCH), ask->how, 1); /* ror */
        x86_op_imm(x, 0x81, 4, x86_reg(SCRATCH), (int32_t)ask->mask, 4);
    }
    f->now->tested = 0;
    const struct node *pointer = &f->nodes[ask->a];
    x86_op(x, 0x8B | X86_W, SCRATCH_ADDRESS,
           x86_mem(reg_find(f, pointer->a), NONE, (int32_t)pointer->imm - bias_of(f, pointer->a)));
    x86_op(x, 0xFF, 2, x86_mem(SCRATCH_ADDRESS, NONE, (int32_t)f->nodes[ask->c].imm));
    regs_restore(f, &kept);
}

/* Whether nothing is left to do before a block that a question leads to, which has changed the
 * variable to n. */
static bool goes_straight(struct ir *f, const struct fast_block *to, unsigned variable, int n)
{
    int pin = f->variables[variable].pin, position = f->position;
    if (to->anchor || reg_needed(f, f->now->content[pin])) return false;
    struct state *before = state_copy(f, f->now);
    f->now->content[pin] = f->now->variables[variable].value = n;
    bool met = state_is_met(f, to);
    state_become(f, before);
    f->position = position;
    return met;
}

/* On a trace, which goes on behind it. The time may have changed. */
static void make_ask_here(struct ir *f, const struct fast_block *b, int position)
{
    struct x86 *x = &f->x;
    const struct node *ask = &f->nodes[b->last];
    int pin = f->variables[ask->variable].pin;
    if (!f->nodes[ask->a].lazy || pin != TIME || reg_needed(f, f->now->content[pin]))
        f->failed = true;
    make_question(f, ask, NULL);
    unsigned refused = x86_label(x), no = x86_label(x);
    x86_jump_if(x, CC_AE, refused);
    add_detour(f, no, b->no, position, 0);
    x->piece = 1;
    x86_place(x, refused);
    reg_store(f, IR_I32, SCRATCH, x86_mem(RDI, NONE, (int32_t)ask->imm));
    x86_jump(x, no);
    x->piece = 0;
    f->now->content[pin] = f->now->variables[ask->variable].value = b->last;
}

/* In a detour. The time may have changed. */
static void make_ask(struct ir *f, const struct fast_block *b, int position)
{
    struct x86 *x = &f->x;
    int n = b->last;
    unsigned variable = f->nodes[n].variable;
    int pin = f->variables[variable].pin;
    if (!f->in_detour || !f->nodes[f->nodes[n].a].lazy || pin != TIME) f->failed = true;
    make_question(f, &f->nodes[n], f->blocks[b->yes].state);
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
    unsigned no = find_detour(f, b->no);
    if (!no) {
        no = x86_label(x);
        add_detour(f, no, b->no, position, 0);
    }
    x86_jump(x, no);
}

/* Ends a block; returns the one that follows here, or 0. */
static int make_ending(struct ir *f, const struct fast_block *b, int position, int next_anchor)
{
    int follows = f->in_detour ? 0 : b->follows;
    bool to_anchor =
        (b->ending == END_BRANCH && (f->blocks[b->yes].weight || f->blocks[b->no].weight));
    if (leaves_trace(f, b, follows)) variables_write(f);
    if (to_anchor) state_anchor(f);
    switch (b->ending) {
    case END_ASK:
        if (follows)
            make_ask_here(f, b, position);
        else
            make_ask(f, b, position);
        return follows;
    case END_JUMP:
        if (f->in_detour && !f->blocks[b->yes].anchor && !f->blocks[b->yes].in_trace) {
            unsigned shared = find_detour(f, b->yes);
            if (!shared) return b->yes;
            x86_jump(&f->x, shared);
            return 0;
        }
        if (b->yes == follows) return follows;
        jump_to(f, b->yes, next_anchor);
        return 0;
    case END_BRANCH:
        if (f->in_detour) {
            f->now->tested = 0;
            int on = b->odds == IR_UNLIKELY ? b->no : b->yes;
            if (f->blocks[on].anchor) on = on == b->no ? b->yes : b->no;
            branch_away(f, b->condition, on == b->no, on == b->no ? b->yes : b->no, position);
            if (!f->blocks[on].anchor && !f->blocks[on].in_trace) return on;
            jump_to(f, on, 0);
            return 0;
        }
        if (!follows) {
            if (b->yes == next_anchor && f->blocks[b->no].anchor) {
                branch_away(f, b->condition, false, b->no, position);
                return 0;
            }
            branch_away(f, b->condition, true, b->yes, position);
            if (f->blocks[b->no].anchor) {
                jump_to(f, b->no, next_anchor);
            } else {
                unsigned label = x86_label(&f->x);
                x86_jump(&f->x, label);
                add_detour(f, label, b->no, position, 0);
            }
            return 0;
        }
        branch_away(f, b->condition, follows == b->no, follows == b->no ? b->yes : b->no, position);
        return follows;
    case END_GO: x86_op(&f->x, 0xFF, 4, x86_reg(reg_use(f, b->condition, SCRATCH))); return 0;
    default: x86_jump(&f->x, f->leave); return 0;
    }
}

/* Which variables a trace begins by reading, and where it ends. */
static void look_ahead(struct ir *f, int anchor)
{
    for (size_t i = 0; i < f->variable_count; i++)
        f->variables[i].seen = f->variables[i].next_get = 0;
    for (int block = anchor; block; block = f->blocks[block].follows) {
        f->end = f->blocks[block].end;
        for (int n = f->blocks[block].first; n; n = f->nodes[n].next) {
            struct variable *v = &f->variables[f->nodes[n].variable];
            if (v->seen || (f->nodes[n].kind != NODE_GET && f->nodes[n].kind != NODE_SET)) continue;
            v->seen = 1;
            if (f->nodes[n].kind == NODE_GET) v->next_get = f->nodes[n].position;
        }
    }
}

static void make_trace(struct ir *f, int anchor, int next_anchor)
{
    look_ahead(f, anchor);
    state_clear(f, f->blocks[anchor].weight == 0);
    f->slots = 0; /* no value of another trace is used */
    for (int block = anchor; block;) {
        struct fast_block *b = &f->blocks[block];
        if (block != anchor) state_arrive(f, block);
        x86_place(&f->x, b->label);
        for (int n = b->first; n; n = f->nodes[n].next) {
            f->position = f->nodes[n].position;
            fast_node(f, n);
        }
        f->position = b->end - 1; /* what the ending needs is kept */
        block = make_ending(f, &f->blocks[block], b->end + 1, next_anchor);
    }
}

/* C does not look at variables then. */
static bool leads_to_question(const struct ir *f, int block)
{
    const struct fast_block *b = &f->blocks[block];
    return b->ending == END_ASK;
}

/* Whether a node of a detour leaves the scratch register alone: those before a question do. */
static bool spares_scratch(const struct ir *f, const struct node *n)
{
    return n->lazy || n->kind == NODE_CONST || n->kind == NODE_PREFETCH || n->kind == NODE_ASK ||
           (n->kind == NODE_CONVERT && n->how == IR_ZEXT) ||
           (n->kind == NODE_STORE && is_const(f, n->c) && f->nodes[n->c].type == IR_I8);
}

static void make_detour(struct ir *f, const struct detour *detour)
{
    state_become(f, detour->state);
    f->locked = 0;
    x86_place(&f->x, detour->label);
    int block = detour->block;
    if (f->blocks[block].in_trace) { /* straight back */
        jump_to(f, block, 0);
        return;
    }
    if (!leads_to_question(f, block)) {
        variables_write(f);
        f->now->tested = 0;
    }
    while (block) {
        f->position = detour->position - 1;
        for (int n = f->blocks[block].first; n; n = f->nodes[n].next) {
            if (!spares_scratch(f, &f->nodes[n])) f->now->tested = 0;
            fast_node(f, n);
        }
        block = make_ending(f, &f->blocks[block], detour->position, 0);
    }
}

static void make_detours(struct ir *f)
{
    f->in_detour = true;
    f->x.piece = 1;
    while (f->detours) {
        struct detour *detour = f->detours;
        f->detours = detour->next;
        make_detour(f, detour);
    }
    f->in_detour = false;
    f->locked = 0;
    f->x.piece = 0;
}

static bool to_be_made(const struct ir *f, int block)
{
    const struct fast_block *b = &f->blocks[block];
    return b->anchor && !b->made && b->label != f->leave;
}

/* The trace to be placed behind that of `anchor`: of those it leads to the most executed, else the
 * next one. */
static int anchor_behind(const struct ir *f, int anchor)
{
    int best = 0;
    for (int block = anchor; block; block = f->blocks[block].follows) {
        const int ways[] = {f->blocks[block].yes, f->blocks[block].no};
        for (unsigned i = 0; i < 2; i++)
            if (to_be_made(f, ways[i]) && f->blocks[ways[i]].weight > f->blocks[best].weight)
                best = ways[i];
    }
    for (int i = 1; i < (int)f->block_count && !best; i++)
        if (to_be_made(f, i)) best = i;
    return best;
}

static const uint8_t saved[] = {RBX, RBP, R12, R13, R14, R15};

static void make_leave(struct ir *f)
{
    x86_place(&f->x, f->leave);
    x86_op_imm(&f->x, 0x81 | X86_W, 0, x86_reg(RSP), FRAME, 4);
    for (unsigned i = sizeof saved; i > 0; i--)
        x86_pop(&f->x, saved[i - 1]);
    x86_byte(&f->x, 0xC3);
}

/* How C enters: constants on the stack, arguments go to their registers, the limit on the stack.
 * Other code jumps to what follows. */
static void make_entry(struct ir *f)
{
    struct x86 *x = &f->x;
    for (unsigned i = 0; i < sizeof saved; i++)
        x86_push(x, saved[i]);
    x86_op_imm(x, 0x81 | X86_W, 5, x86_reg(RSP), FRAME, 4);
    x86_op(x, 0x89 | X86_W, R9, x86_mem(RSP, NONE, FRAME_LIMIT));
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

bool fast_make(struct ir *f)
{
    x86_begin(&f->x);
    f->leave = x86_label(&f->x);
    for (int i = 1; i < (int)f->block_count; i++) {
        struct fast_block *b = &f->blocks[i];
        b->label = b->ending == END_RETURN && !b->first ? f->leave : x86_label(&f->x);
    }
    make_entry(f);
    f->target = f->x.pieces[0].size;
    f->now = state_new(f);
    for (int anchor = 1, next; anchor && !f->failed; anchor = next) {
        f->blocks[anchor].made = true;
        next = anchor_behind(f, anchor);
        make_trace(f, anchor, next);
        make_detours(f);
    }
    make_leave(f);
    return !f->failed;
}
