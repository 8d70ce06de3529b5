/* The register allocator's state at a point of the code, and what happens where paths join: a side
 * exit that rejoins its trace, or a jump to a head, moves every value to the place that the target
 * expects (jit_backend.h). Within a path, jit_regalloc.c changes the state.
 */
#include <string.h>

#include "base/mem.h"
#include "machine/jit/jit_backend.h"

/* --- States ---------------------------------------------------------------------------------- */

static size_t state_size(const struct ir *f)
{
    return sizeof(struct state) + f->variable_count * sizeof(struct variable_state);
}

struct state *state_new(struct ir *f)
{
    return arena_calloc(&f->arena, 1, state_size(f));
}

struct state *state_copy(struct ir *f, const struct state *state)
{
    struct state *copy = state_new(f);
    memcpy(copy, state, state_size(f));
    return copy;
}

void state_become(struct ir *f, const struct state *state)
{
    memcpy(f->now, state, state_size(f));
}

/* A value without an instruction: of a variable, where control flow joins. */
static int value_new(struct ir *f, unsigned variable)
{
    f->nodes = base_grow(f->nodes, &f->node_capacity, f->node_count + 1, sizeof *f->nodes);
    f->nodes[f->node_count] =
        (struct node){.kind = NODE_VALUE, .type = f->variables[variable].type};
    return (int)f->node_count++;
}

void state_clear(struct ir *f, bool bare)
{
    memset(f->now, 0, state_size(f));
    for (unsigned i = 0; i < f->variable_count; i++) {
        struct variable *v = &f->variables[i];
        if (v->pin != NONE && (!bare || !v->has_home))
            f->now->content[v->pin] = f->now->variables[i].value = value_new(f, i);
        if (!v->has_home && v->pin == NONE) f->now->variables[i].value = v->first;
    }
}

/* --- Joins ----------------------------------------------------------------------------------- */

void state_head(struct ir *f)
{
    for (unsigned i = 0; i < f->variable_count; i++) {
        int pin = f->variables[i].pin, n = f->now->variables[i].value;
        if (pin == NONE || (n && f->now->content[pin] == n)) continue;
        f->now->variables[i].value = 0;
        reg_clear(f, pin);
        int from = n ? reg_find(f, n) : NONE;
        if (from != NONE)
            reg_move(f, pin, from);
        else
            variable_load(f, i, pin);
        f->now->content[pin] = f->now->variables[i].value = n ? n : value_new(f, i);
    }
}

/* Variables that exits change get a new value here, in the register where they are. */
void state_arrive(struct ir *f, int block)
{
    struct basic_block *b = &f->blocks[block];
    f->position = b->position - 1;
    for (int i = b->changed; i; i = f->changes[i].next) {
        unsigned variable = f->changes[i].variable;
        const struct variable *v = &f->variables[variable];
        int n = f->now->variables[variable].value;
        int reg = n ? reg_find(f, n) : NONE;
        if (!v->has_home && v->pin == NONE && v->last_get <= f->position) continue;
        if (reg == NONE && v->has_home) {
            if (f->now->variables[variable].pending) variable_write(f, variable);
            f->now->variables[variable].value = 0;
            continue;
        }
        int fresh = value_new(f, variable);
        if (reg == NONE || f->nodes[n].last > f->position ||
            (!v->has_home && v->pin != NONE && v->pin != reg)) {
            int to = v->pin;
            if (to == NONE)
                to = reg_any(f, is_float(v->type), 0);
            else
                reg_clear(f, to);
            reg_move(f, to, reg_use(f, n, to));
            reg = to;
        }
        if (!v->has_home && v->pin == NONE) f->nodes[fresh].kept = v->last_get;
        f->now->content[reg] = f->now->variables[variable].value = fresh;
    }
    b->state = state_copy(f, f->now);
}

/* What a register must hold where a side exit comes back, and where that is now. */
struct move {
    int to, from;
    int node;     /* that is a constant or on the stack */
    int variable; /* from its memory */
};

static struct move move_for(struct ir *f, const struct state *wanted, int reg)
{
    int n = wanted->content[reg];
    struct move none = {NONE, NONE, 0, -1};
    if (f->now->content[reg] == n) return none;
    for (unsigned i = 0; i < f->variable_count; i++) {
        if (wanted->variables[i].value != n) continue;
        int value = f->now->variables[i].value;
        int from = value ? reg_find(f, value) : NONE;
        if (from == reg) return none;
        if (from != NONE) return (struct move){reg, from, 0, -1};
        if (value && (is_const(f, value) || f->nodes[value].slot))
            return (struct move){reg, NONE, value, -1};
        if (f->variables[i].has_home) return (struct move){reg, NONE, 0, (int)i};
    }
    if (f->nodes[n].last < f->position && f->nodes[n].kept < f->position) return none;
    int from = reg_find(f, n);
    if (from == NONE && !f->nodes[n].slot) f->failed = true;
    return (struct move){reg, from, n, -1};
}

/* Whether another move still needs what is in the register that this one writes. */
static bool is_blocked(const struct move *moves, unsigned count, unsigned i)
{
    for (unsigned j = 0; j < count; j++)
        if (j != i && moves[j].to != NONE && moves[j].from == moves[i].to) return true;
    return false;
}

static void do_move(struct ir *f, struct move *move)
{
    if (move->from != NONE)
        reg_move(f, move->to, move->from);
    else if (move->variable >= 0)
        variable_load(f, (unsigned)move->variable, move->to);
    else
        (void)reg_use(f, move->node, move->to);
    move->to = NONE;
}

static void do_moves(struct ir *f, struct move *moves, unsigned count)
{
    for (unsigned left = count; left;) {
        unsigned before = left, first = count;
        for (unsigned i = 0; i < count; i++) {
            if (moves[i].to == NONE) continue;
            if (is_blocked(moves, count, i)) {
                first = i;
            } else {
                do_move(f, &moves[i]);
                left--;
            }
        }
        if (left != before) continue;
        int to = moves[first].to,
            aside = to >= VECTOR ? SCRATCH_VECTOR : SCRATCH; /* they wait for each other */
        reg_move(f, aside, to);
        for (unsigned i = 0; i < count; i++)
            if (moves[i].from == to) moves[i].from = aside;
    }
}

/* Whether the trace has put on the stack since what is still in a register here. */
static bool to_stack(const struct ir *f, const struct basic_block *block, int reg)
{
    int n = f->now->content[reg];
    if (!n || !f->nodes[n].slot ||
        (f->nodes[n].last < block->position && f->nodes[n].kept < block->position))
        return false;
    for (int other = 0; other < REGISTERS; other++)
        if (block->state->content[other] == n) return false;
    return true;
}

void state_meet(struct ir *f, const struct basic_block *block)
{
    const struct state *wanted = block->state;
    struct move moves[REGISTERS];
    unsigned count = 0;
    f->position = block->position;
    for (unsigned i = 0; i < f->variable_count; i++) /* what the trace has written since */
        if (f->now->variables[i].pending && !wanted->variables[i].pending) variable_write(f, i);
    for (int reg = 0; reg < REGISTERS; reg++)
        if (to_stack(f, block, reg))
            reg_store(f, f->nodes[f->now->content[reg]].type, reg,
                      spill_slot(f, f->now->content[reg]));
    for (int reg = 0; reg < REGISTERS; reg++) {
        if (!wanted->content[reg]) continue;
        struct move move = move_for(f, wanted, reg);
        if (move.to != NONE) moves[count++] = move;
    }
    do_moves(f, moves, count);
}

bool state_is_met(struct ir *f, const struct basic_block *block)
{
    const struct state *wanted = block->state;
    f->position = block->position;
    for (unsigned i = 0; i < f->variable_count; i++)
        if (f->now->variables[i].pending && !wanted->variables[i].pending) return false;
    for (int reg = 0; reg < REGISTERS; reg++)
        if (to_stack(f, block, reg) ||
            (wanted->content[reg] && move_for(f, wanted, reg).to != NONE))
            return false;
    return true;
}

/* Whether a value is in the same place in both. */
static bool is_shared(const struct ir *f, const struct state *state, int n)
{
    for (int reg = 0; reg < REGISTERS; reg++)
        if (state->content[reg] == n && f->now->content[reg] == n) return true;
    return is_const(f, n);
}

bool state_share(struct ir *f, struct state *state, int position)
{
    for (unsigned i = 0; i < f->variable_count; i++) {
        const struct variable_state *a = &state->variables[i], *b = &f->now->variables[i];
        if (a->value != b->value && !f->variables[i].has_home) return false;
        if (a->pending ? a->value != b->value || !is_shared(f, state, a->value) : b->pending)
            return false;
    }
    for (int reg = 0; reg < REGISTERS; reg++) {
        int n = state->content[reg];
        if (n && n != f->now->content[reg] &&
            (f->nodes[n].last >= position || f->nodes[n].kept >= position))
            return false;
    }
    for (unsigned i = 0; i < f->variable_count; i++) {
        struct variable_state *a = &state->variables[i];
        bool same = a->value == f->now->variables[i].value && is_shared(f, state, a->value);
        if (f->variables[i].has_home && !same) a->value = 0;
    }
    for (int reg = 0; reg < REGISTERS; reg++)
        if (state->content[reg] != f->now->content[reg]) state->content[reg] = 0;
    state->tested = 0;
    return true;
}
