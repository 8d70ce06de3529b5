/* The register allocator: which value is in which register, spills, and variables (jit_backend.h).
 */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "machine/jit/jit_backend.h"

/* --- Memory ---------------------------------------------------------------------------------- */

void reg_load(struct ir *f, unsigned type, int reg, struct x86_at from)
{
    struct x86 *x = &f->x;
    switch (type) {
    case IR_F64: x86_vex(x, 0x10 | X86_0F | X86_F2, reg - VECTOR, 0, from); break;
    case IR_F32: x86_vex(x, 0x10 | X86_0F | X86_F3, reg - VECTOR, 0, from); break;
    case IR_I1:
    case IR_I8: x86_op(x, 0xB6 | X86_0F, reg, from); break;
    case IR_I16: x86_op(x, 0xB7 | X86_0F, reg, from); break;
    default: x86_op(x, 0x8B | width(type), reg, from); break;
    }
}

void reg_store(struct ir *f, unsigned type, int reg, struct x86_at to)
{
    struct x86 *x = &f->x;
    switch (type) {
    case IR_F64: x86_vex(x, 0x11 | X86_0F | X86_F2, reg - VECTOR, 0, to); break;
    case IR_F32: x86_vex(x, 0x11 | X86_0F | X86_F3, reg - VECTOR, 0, to); break;
    case IR_I1:
    case IR_I8: x86_op(x, 0x88 | X86_BYTE, reg, to); break;
    case IR_I16: x86_op(x, 0x89 | X86_66, reg, to); break;
    default: x86_op(x, 0x89 | width(type), reg, to); break;
    }
}

/* --- Registers ------------------------------------------------------------------------------- */

bool reg_needed(const struct ir *f, int n)
{
    return f->nodes[n].last > f->position || f->nodes[n].kept > f->position;
}

int reg_find(const struct ir *f, int n)
{
    static const int8_t arguments[] = {RDI, RBP, R14, R15, R13, NONE};
    if (f->nodes[n].kind == NODE_ARGUMENT) return arguments[f->nodes[n].imm];
    for (int reg = 0; reg < REGISTERS; reg++)
        if (f->now->content[reg] == n) return reg;
    return NONE;
}

/* When the variable whose value it is will be read next; INT_MAX: never, here; 0: it is no
 * variable's. */
static int next_get(const struct ir *f, int n)
{
    int next = 0;
    for (unsigned i = 0; i < f->variable_count; i++) {
        if (f->now->variables[i].value != n) continue;
        int position = f->variables[i].next_get > f->position ? f->variables[i].next_get : INT_MAX;
        if (!next || position < next) next = position;
    }
    return next;
}

struct x86_at spill_slot(const struct ir *f, int n)
{
    return x86_mem(RSP, NONE, FRAME_SLOTS + 8 * f->nodes[n].slot);
}

int reg_use(struct ir *f, int n, int scratch)
{
    n = node_real(f, n);
    const struct node *node = &f->nodes[n];
    if (node->kind == NODE_CONST) {
        x86_set(&f->x, scratch, node->imm);
        return scratch;
    }
    int reg = reg_find(f, n);
    if (reg != NONE) return reg;
    if (node->kind == NODE_ARGUMENT)
        reg_load(f, IR_I64, scratch, x86_mem(RDI, NONE, f->shared_at));
    else if (node->slot)
        reg_load(f, node->type, scratch, spill_slot(f, n));
    else
        f->failed = true;
    return scratch;
}

static struct x86_at home_of(const struct ir *f, const struct variable *variable)
{
    return x86_mem(reg_find(f, variable->home), NONE,
                   (int32_t)variable->offset - bias_of(f, variable->home));
}

/* Variables with the value n, which is in a register, are written. */
static void write_value(struct ir *f, int n, int reg)
{
    for (unsigned i = 0; i < f->variable_count; i++) {
        struct variable_state *state = &f->now->variables[i];
        if (state->value != n || !state->pending) continue;
        reg_store(f, f->variables[i].type, reg, home_of(f, &f->variables[i]));
        state->pending = false;
    }
}

static void reg_lose(struct ir *f, int reg)
{
    int n = f->now->content[reg];
    f->now->content[reg] = 0;
    if (!n || reg_find(f, n) != NONE) return;
    write_value(f, n, reg);
    for (unsigned i = 0; i < f->variable_count; i++)
        if (f->now->variables[i].value == n && f->variables[i].has_home)
            f->now->variables[i].value = 0;
}

static void spill(struct ir *f, int reg)
{
    int n = f->now->content[reg];
    f->now->content[reg] = 0;
    if (f->slots == SLOTS && !f->nodes[n].slot) {
        f->failed = true;
        return;
    }
    if (!f->nodes[n].slot) f->nodes[n].slot = ++f->slots;
    write_value(f, n, reg);
    reg_store(f, f->nodes[n].type, reg, spill_slot(f, n));
}

/* Of these registers: a free one, else one whose value is not used any more, else one that only
 * saves a load, the latest, else any. What is pinned is loaded again at the end of the trace, if
 * not before. */
static int reg_among(struct ir *f, uint32_t candidates)
{
    int cached = NONE, far = NONE, latest = 0;
    for (int reg = 0; reg < REGISTERS; reg++) {
        if (!(candidates & BIT(reg))) continue;
        int n = f->now->content[reg];
        if (!n) return reg;
        if (reg_needed(f, n)) {
            if (far == NONE || f->nodes[n].last > f->nodes[f->now->content[far]].last) far = reg;
        } else {
            int next = next_get(f, n);
            if (!next) {
                f->now->content[reg] = 0;
                return reg;
            }
            if (f->pinned & BIT(reg) && next > f->end) next = f->end;
            if (next > latest) {
                latest = next;
                cached = reg;
            }
        }
    }
    if (cached != NONE)
        reg_lose(f, cached);
    else if (far != NONE)
        spill(f, far);
    return cached != NONE ? cached : far;
}

int reg_any(struct ir *f, bool vector, uint32_t avoid)
{
    int reg = reg_among(f, (vector ? VECTOR_REGISTERS : PLAIN_REGISTERS) & ~(avoid | f->locked));
    if (reg != NONE) return reg;
    f->failed = true;
    return vector ? SCRATCH_VECTOR : SCRATCH;
}

static void take(struct ir *f, int reg, int n)
{
    f->now->content[reg] = n;
    if (f->in_exit) f->locked |= BIT(reg);
}

/* Whether what is in a register may be overwritten by a new value of `variable` (0: of none). */
static bool may_replace(const struct ir *f, int reg, int variable)
{
    int n = f->now->content[reg];
    if (!n) return true;
    if (reg_needed(f, n) || f->locked & BIT(reg)) return false;
    for (int i = 0; i < (int)f->variable_count; i++)
        if (f->now->variables[i].value == n && i + 1 != variable) return false;
    return true;
}

/* Whether the variable that node n will become is set before anything reads its old value. */
static bool is_set_next(const struct ir *f, int n)
{
    unsigned variable = (unsigned)f->nodes[n].set - 1;
    for (int i = f->nodes[n].next; i; i = f->nodes[i].next) {
        const struct node *node = &f->nodes[i];
        if (node->kind == NODE_SET && node->variable == variable) return true;
        if (node->kind == NODE_CALL || (node->kind == NODE_GET && node->variable == variable))
            return false;
    }
    return false;
}

int reg_new(struct ir *f, int n, int prefer, uint32_t avoid)
{
    const struct node *node = &f->nodes[n];
    int reg = node->set ? f->variables[node->set - 1].pin : NONE;
    bool vector = is_float(node->type);
    if (reg == NONE || avoid & BIT(reg) || f->in_exit || !may_replace(f, reg, node->set)) {
        uint32_t usable = (vector ? VECTOR_REGISTERS : PLAIN_REGISTERS) & ~f->pinned;
        reg = prefer;
        if (prefer == NONE || !(usable & BIT(prefer)) || avoid & BIT(prefer) ||
            !may_replace(f, prefer, node->set))
            reg = reg_any(f, vector, avoid);
    }
    if (node->set && f->now->content[reg]) {
        struct variable_state *old = &f->now->variables[node->set - 1];
        if (old->pending && old->value == f->now->content[reg] && is_set_next(f, n))
            old->pending = false;
    }
    reg_lose(f, reg);
    take(f, reg, n);
    return reg;
}

void reg_move(struct ir *f, int to, int from)
{
    if (to == from) return;
    if (to >= VECTOR)
        x86_vex(&f->x, 0x28 | X86_0F, to - VECTOR, 0, x86_reg(from - VECTOR));
    else
        x86_op(&f->x, 0x8B | X86_W, to, x86_reg(from));
}

void reg_clear(struct ir *f, int reg)
{
    int n = f->now->content[reg];
    if (n && reg_needed(f, n)) {
        f->now->content[reg] = 0;
        if (reg_find(f, n) == NONE) {
            int other = reg_any(f, reg >= VECTOR, BIT(reg));
            reg_move(f, other, reg);
            take(f, other, n);
        }
        return;
    }
    reg_lose(f, reg);
}

/* --- Variables ------------------------------------------------------------------------------- */

void variable_load(struct ir *f, unsigned variable, int reg)
{
    const struct variable *v = &f->variables[variable];
    reg_load(f, v->type, reg, home_of(f, v));
}

void variable_get(struct ir *f, int n)
{
    struct node *node = &f->nodes[n];
    int *value = &f->now->variables[node->variable].value;
    f->variables[node->variable].next_get = node->next_get;
    if (*value) {
        int reg = reg_find(f, *value);
        node->same = *value;
        if (f->in_exit) {
            if (reg != NONE) f->locked |= BIT(reg);
        } else if (f->nodes[*value].last < node->last) {
            f->nodes[*value].last = node->last;
        }
        return;
    }
    node->same = 0;
    int reg = reg_new(f, n, NONE, 0);
    variable_load(f, node->variable, reg);
    *value = n;
}

void variable_write(struct ir *f, unsigned variable)
{
    const struct variable *v = &f->variables[variable];
    struct variable_state *state = &f->now->variables[variable];
    if (is_const(f, state->value))
        const_store(f, v->type, f->nodes[state->value].imm, home_of(f, v));
    else
        reg_store(f, v->type,
                  reg_use(f, state->value, is_float(v->type) ? SCRATCH_VECTOR : SCRATCH),
                  home_of(f, v));
    state->pending = false;
}

void variables_write(struct ir *f)
{
    for (unsigned i = 0; i < f->variable_count; i++)
        if (f->now->variables[i].pending) variable_write(f, i);
}

void variable_set(struct ir *f, const struct node *set)
{
    unsigned variable = set->variable;
    struct variable *v = &f->variables[variable];
    int n = node_real(f, set->a);
    if (!v->has_home && v->pin == NONE && f->nodes[n].kept < v->last_get)
        f->nodes[n].kept = v->last_get;
    if (v->pin != NONE && (!v->has_home || reg_find(f, n) == NONE) &&
        f->now->content[v->pin] != n) {
        f->now->variables[variable] = (struct variable_state){0, false};
        reg_clear(f, v->pin);
        int reg = reg_use(f, n, v->pin);
        reg_move(f, v->pin, reg);
        f->now->content[v->pin] = n;
    }
    f->now->variables[variable] = (struct variable_state){n, set->homed};
    bool has_place = is_const(f, n) || reg_find(f, n) != NONE;
    if (set->homed && (f->in_exit || !set->again || !has_place)) variable_write(f, variable);
}

void variable_reload(struct ir *f, int n)
{
    unsigned variable = f->nodes[n].variable;
    struct variable *v = &f->variables[variable];
    f->now->variables[variable] = (struct variable_state){0, false};
    if (v->has_home) return;
    /* the time: memory is right only now */
    reg_load(f, v->type, v->pin,
             x86_mem(reg_find(f, f->nodes[n].a), NONE, (int32_t)f->nodes[n].imm));
    f->now->content[v->pin] = f->now->variables[variable].value = n;
}

/* --- Probes ---------------------------------------------------------------------------------- */

/* The variable with a home whose value it is, or NULL. */
static const struct variable *variable_at_home(const struct ir *f, int n)
{
    for (unsigned i = 0; i < f->variable_count; i++)
        if (f->now->variables[i].value == n && f->variables[i].has_home) return &f->variables[i];
    return NULL;
}

void regs_save(struct ir *f, const struct state *wanted, struct saved_regs *kept)
{
    kept->count = 0;
    for (unsigned i = 0; f->in_exit && i < f->variable_count;
         i++) /* the trace has written it meanwhile */
        if (f->now->variables[i].pending && !(wanted && wanted->variables[i].pending))
            variable_write(f, i);
    for (int reg = 0; reg < VECTOR; reg++) {
        int n = f->now->content[reg];
        if (!(CLOBBERED_REGISTERS & BIT(reg)) || !n) continue;
        const struct variable *v = variable_at_home(f, n);
        if (!reg_needed(f, n) && !(v && wanted && wanted->content[reg] == n)) {
            reg_lose(f, reg);
            continue;
        }
        write_value(f, n, reg);
        struct x86_at at =
            v ? home_of(f, v) : x86_mem(RSP, NONE, FRAME_KEPT + 8 * (int)kept->count);
        unsigned type = v ? v->type : IR_I64;
        if (!v) reg_store(f, type, reg, at);
        kept->value[kept->count].reg = reg;
        kept->value[kept->count].type = type;
        kept->value[kept->count++].at = at;
    }
}

void regs_restore(struct ir *f, const struct saved_regs *kept)
{
    for (unsigned i = 0; i < kept->count; i++)
        reg_load(f, kept->value[i].type, kept->value[i].reg, kept->value[i].at);
}
