/* The pass before code generation (jit_backend.h): traces, positions of nodes, live ranges, nodes
 * that are folded into their user, and pinned variables. */
#include <limits.h>

#include "base/mem.h"
#include "machine/jit/jit_backend.h"

/* Where a trace goes on behind a block; 0: it ends there. A trace never enters a head or what is
 * in a trace. */
static bool can_follow(const struct ir *f, int block)
{
    return !f->blocks[block].head && !f->blocks[block].in_trace;
}

static int follow(const struct ir *f, const struct basic_block *block)
{
    if (block->ending == END_JUMP || block->ending == END_PROBE)
        return can_follow(f, block->yes) ? block->yes : 0;
    if (block->ending != END_BRANCH) return 0;
    bool yes = can_follow(f, block->yes), no = can_follow(f, block->no);
    if (yes && no) return block->odds == IR_UNLIKELY ? block->no : block->yes;
    if (yes && block->odds != IR_UNLIKELY) return block->yes;
    return no && block->odds != IR_LIKELY ? block->no : 0;
}

/* --- Nodes that are done where they are used ------------------------------------------------- */

static bool is_truth(const struct node *n)
{
    return n->kind == NODE_BINARY && n->type == IR_I1 &&
           (n->how == IR_AND || n->how == IR_OR || n->how == IR_XOR);
}

static bool is_zero(const struct ir *f, int n)
{
    return is_const(f, n) && f->nodes[n].imm == 0;
}

/* Nothing between a load and its user (0: the end of its block) writes memory. */
static bool is_undisturbed(const struct ir *f, const struct node *load, int user)
{
    for (int n = load->next; n; n = f->nodes[n].next) {
        if (n == user) return true;
        if (f->nodes[n].kind == NODE_STORE || f->nodes[n].kind == NODE_CALL ||
            f->nodes[n].kind == NODE_ADD_TO)
            return false;
    }
    return user == 0;
}

/* Whether an index is a number rotated and masked by constants (a line, jit_memory.c), for nothing
 * but a byte that is tested at the end of the block: the scratch register will do for it. */
static bool is_tested_line(const struct ir *f, const struct node *index)
{
    const struct node *load = &f->nodes[index->user], *masked = &f->nodes[index->a],
                      *rotated = &f->nodes[masked->a];
    if (index->how != IR_ZEXT || load->kind != NODE_LOAD || !load->lazy ||
        &f->nodes[load->b] != index)
        return false;
    if (!f->nodes[f->nodes[load->user].user].by_branch) return false;
    return masked->kind == NODE_BINARY && masked->how == IR_AND && masked->type == IR_I32 &&
           masked->uses == 1 && is_const(f, masked->b) && masked->block == index->block &&
           rotated->kind == NODE_ROTATE && rotated->uses == 1 && is_const(f, rotated->b) &&
           rotated->block == index->block;
}

static bool is_lazy_index(const struct node *n)
{
    return n->kind == NODE_CONVERT && n->lazy;
}

static bool to_be_lazy(const struct ir *f, const struct node *n)
{
    if (n->uses != 1) return false;
    if (n->by_branch) {
        if (n->kind == NODE_TEST || n->kind == NODE_ORDER) return true;
        return is_truth(n) && (n->how != IR_XOR || is_const(f, n->b)) && n->user == n->block;
    }
    const struct node *user = &f->nodes[n->user];
    if (user->block != n->block) return false;
    switch (n->kind) {
    case NODE_TEST:
    case NODE_ORDER: return user->kind == NODE_SELECT || (user->lazy && is_truth(user));
    case NODE_BINARY:
        if (is_truth(n) && user->lazy && is_truth(user))
            return n->how != IR_XOR || is_const(f, n->b);
        if (is_lazy_index(user)) return true;
        return n->how == IR_AND && is_const(f, n->b) && user->kind == NODE_TEST && user->lazy &&
               user->how <= IR_NE && is_zero(f, user->b) && f->nodes[n->b].imm <= INT32_MAX;
    case NODE_LOAD:
        if ((n->type == IR_I8 || n->type == IR_I32) && user->lazy && user->kind == NODE_BINARY &&
            user->how == IR_AND)
            return is_undisturbed(f, n, 0);
        if (user->kind == NODE_SWAP)
            return (n->type == IR_I32 || n->type == IR_I64) && !user->lazy &&
                   is_undisturbed(f, n, n->user);
        return user->kind == NODE_PROBE && n->type == IR_POINTER && is_undisturbed(f, n, n->user);
    case NODE_SWAP: return user->kind == NODE_STORE && (n->type == IR_I32 || n->type == IR_I64);
    case NODE_NEGATE: return user->kind == NODE_FMA;
    case NODE_CONVERT: return is_tested_line(f, n);
    case NODE_ROTATE: return user->lazy && is_lazy_index(&f->nodes[user->user]);
    default: return false;
    }
}

static void count_use(struct ir *f, int of, int user, bool by_branch)
{
    if (!of) return;
    struct node *n = &f->nodes[of];
    n->uses++;
    n->user = user;
    n->by_branch = by_branch;
}

/* Behind this: each node's number of users, and whether it is lazy. Nodes come after what they use.
 */
static void find_lazy(struct ir *f)
{
    for (int i = 1; i < (int)f->node_count; i++) {
        const struct node *n = &f->nodes[i];
        count_use(f, n->a, i, false);
        count_use(f, n->b, i, false);
        count_use(f, n->c, i, false);
    }
    for (int i = 1; i < (int)f->block_count; i++)
        count_use(f, f->blocks[i].condition, i, f->blocks[i].ending == END_BRANCH);
    for (int i = (int)f->node_count - 1; i > 0; i--)
        f->nodes[i].lazy = to_be_lazy(f, &f->nodes[i]);
}

/* --- Traces, positions, uses ----------------------------------------------------------------- */

static void use_at(struct ir *f, int n, int position)
{
    if (!n) return;
    struct node *node = &f->nodes[n];
    if (node->last < position) node->last = position;
    if (!node->lazy) return;
    use_at(f, node->a, position);
    use_at(f, node->b, position);
    use_at(f, node->c, position);
}

static void use_operands(struct ir *f, const struct node *n, int position)
{
    use_at(f, n->a, position);
    use_at(f, n->b, position);
    use_at(f, n->c, position);
}

static void note_change(struct ir *f, int block, unsigned variable)
{
    struct basic_block *b = &f->blocks[block];
    for (int i = b->changed; i; i = f->changes[i].next)
        if (f->changes[i].variable == variable) return;
    f->changes =
        base_grow(f->changes, &f->change_capacity, f->change_count + 1, sizeof *f->changes);
    f->changes[f->change_count] = (struct change){variable, b->changed};
    b->changed = (int)f->change_count++;
}

/* A exit that leaves a trace at `position`: what it uses is used there. `path` are the blocks
 * before this one. */
struct path {
    int block;
    const struct path *before;
};

static void walk_exit(struct ir *f, int block, int position, const struct path *before)
{
    struct basic_block *b = &f->blocks[block];
    if (b->head) return;
    if (b->in_trace) { /* it rejoins: variables that the exit changed */
        for (const struct path *p = before; p; p = p->before)
            for (int n = f->blocks[p->block].first; n; n = f->nodes[n].next)
                if (f->nodes[n].kind == NODE_SET || f->nodes[n].kind == NODE_RELOAD ||
                    f->nodes[n].kind == NODE_PROBE)
                    note_change(f, block, f->nodes[n].variable);
        return;
    }
    for (int n = b->first; n; n = f->nodes[n].next) {
        struct node *node = &f->nodes[n];
        node->last = INT_MAX;
        use_operands(f, node, position);
        struct variable *variable = &f->variables[node->variable];
        if (node->kind == NODE_GET && variable->last_get < position) variable->last_get = position;
    }
    use_at(f, b->condition, position);
    struct path here = {block, before};
    bool forks = b->ending == END_BRANCH || b->ending == END_PROBE;
    if (b->ending == END_JUMP || forks) walk_exit(f, b->yes, position, &here);
    if (forks) walk_exit(f, b->no, position, &here);
}

/* Links the accesses of a trace to each variable. */
static void note_access(struct ir *f, int head, int n)
{
    struct variable *variable = &f->variables[f->nodes[n].variable];
    if (variable->seen != head)
        variable->change = 0;
    else if (f->nodes[n].kind == NODE_GET)
        f->nodes[variable->access].next_get = f->nodes[n].position;
    if (f->nodes[n].kind == NODE_SET) {
        f->nodes[variable->change].again = true;
        variable->change = n;
    }
    variable->seen = head;
    variable->access = n;
}

static void number_block(struct ir *f, int head, int block, int *position)
{
    struct basic_block *b = &f->blocks[block];
    b->position = *position;
    for (int n = b->first; n; n = f->nodes[n].next) {
        struct node *node = &f->nodes[n];
        node->position = (*position)++;
        struct variable *variable = &f->variables[node->variable];
        if (node->kind == NODE_GET) variable->last_get = node->position;
        if (node->kind == NODE_GET || node->kind == NODE_SET) note_access(f, head, n);
        if (node->kind == NODE_SET && !f->nodes[node->a].set)
            f->nodes[node->a].set = (int)node->variable + 1;
        if (!node->lazy) use_operands(f, node, node->position);
    }
    b->end = *position;
    *position += 2; /* exits use what they do behind the end */
    use_at(f, b->condition, b->end);
    if (b->ending == END_PROBE) use_operands(f, &f->nodes[b->last], b->end);
}

static void find_traces(struct ir *f)
{
    int position = 1;
    for (int i = 1; i < (int)f->block_count; i++)
        for (int b = f->blocks[i].head ? i : 0; b; b = f->blocks[b].follows) {
            f->blocks[b].in_trace = true;
            f->blocks[b].follows = follow(f, &f->blocks[b]);
            number_block(f, i, b, &position);
        }
}

static void find_exits(struct ir *f)
{
    for (int i = 1; i < (int)f->block_count; i++) {
        const struct basic_block *b = &f->blocks[i];
        if (!b->in_trace) continue;
        if ((b->ending == END_BRANCH || b->ending == END_PROBE) && b->no != b->follows)
            walk_exit(f, b->no, b->end + 1, NULL);
        if (b->ending == END_BRANCH && b->yes != b->follows) walk_exit(f, b->yes, b->end + 1, NULL);
    }
}

/* --- Pins: variables that blocks in loops begin by reading ----------------------------------- */

enum { LOOP_HEADS = 64 };
static const uint8_t pins[] = {RBX,        R12,        RSI,        R8,         R9,
                               VECTOR,     VECTOR + 1, VECTOR + 2, VECTOR + 3, VECTOR + 4,
                               VECTOR + 5, VECTOR + 6, VECTOR + 7}; /* C keeps two */

static void add_gains(struct ir *f, int head)
{
    for (size_t i = 0; i < f->variable_count; i++)
        f->variables[i].seen = 0;
    for (int b = head; b; b = f->blocks[b].follows)
        for (int n = f->blocks[b].first; n; n = f->nodes[n].next) {
            const struct node *node = &f->nodes[n];
            if (node->kind != NODE_GET && node->kind != NODE_SET) continue;
            struct variable *variable = &f->variables[node->variable];
            if (variable->seen == head) continue;
            variable->seen = head;
            if (node->kind == NODE_GET) variable->gain += f->blocks[head].weight;
        }
}

/* The heads that can be reached from a trace, as bits by their order. */
static uint64_t reached(const struct ir *f, int head, const int *heads, unsigned count)
{
    uint64_t set = 0;
    for (int b = head; b; b = f->blocks[b].follows)
        for (unsigned i = 0; i < count; i++)
            if (f->blocks[b].yes == heads[i] || f->blocks[b].no == heads[i])
                set |= UINT64_C(1) << i;
    return set;
}

static void choose_pins(struct ir *f)
{
    int heads[LOOP_HEADS];
    uint64_t reach[LOOP_HEADS];
    unsigned count = 0;
    for (int i = 1; i < (int)f->block_count && count < LOOP_HEADS; i++)
        if (f->blocks[i].head && f->blocks[i].weight) heads[count++] = i;
    for (unsigned i = 0; i < count; i++)
        reach[i] = reached(f, heads[i], heads, count);
    for (unsigned over = 0; over < count; over++)
        for (unsigned i = 0; i < count; i++)
            if (reach[i] >> over & 1) reach[i] |= reach[over];
    for (unsigned i = 0; i < count; i++)
        if (reach[i] >> i & 1) add_gains(f, heads[i]);
    for (unsigned pin = 0; pin < sizeof pins; pin++) {
        int reg = pins[pin];
        struct variable *best = NULL;
        for (size_t i = 0; i < f->variable_count; i++) {
            struct variable *v = &f->variables[i];
            if (v->has_home && v->pin == NONE && is_float(v->type) == (reg >= VECTOR) && v->gain &&
                (!best || v->gain > best->gain))
                best = v;
        }
        if (!best) continue;
        best->pin = reg;
        f->pinned |= BIT(reg);
    }
}

void analyze_liveness(struct ir *f)
{
    f->change_count = 1;
    find_lazy(f);
    find_traces(f);
    find_exits(f);
    choose_pins(f);
}
