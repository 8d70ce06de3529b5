/* Emits IR for a region: entry and end of blocks, guest registers, helper calls. The instructions
 * themselves are emitted by the tables of jit_integer.c, jit_memory.c, jit_fp.c and jit_fpscr.c.
 *
 * A block's entry increments its count, adds its cycles and tests its lines' bits of the
 * instruction cache, as the interpreter does. Its end compares the time with the limit. An exit of
 * the region looks up the code at its target and jumps there without a return to C.
 */
#include <stddef.h>
#include <string.h>

#include "machine/cache/cache_fast.h"
#include "machine/jit/jit_impl.h"
#include "machine/jit/jit_miss.h"

/* What emitted code assumes of the structures it reads and writes. */
#define ELEMENT(structure, member, size)                                                           \
    _Static_assert(sizeof(((structure *)0)->member) == (size),                                     \
                   #structure "." #member " is of another size")
ELEMENT(struct core_regs, gpr[0], 4);
ELEMENT(struct core_regs, pc, 4);
ELEMENT(struct core_regs, lr, 4);
ELEMENT(struct core_regs, ctr, 4);
ELEMENT(struct core_regs, cr[0], 1);
ELEMENT(struct core_regs, xer_ca, 1);
ELEMENT(struct core_regs, fpr[0], 8);
ELEMENT(struct core_regs, fpr2[0], 8);
ELEMENT(struct core, cycles, 8);
ELEMENT(struct core, limit, 8);
ELEMENT(struct core, counts[0], 8);
ELEMENT(struct core, path_counts[0], 8);
ELEMENT(struct core, touched, 1);
ELEMENT(struct core, fp_sure, FP_SURES);
ELEMENT(struct core, fp.fpscr, 4);
ELEMENT(struct core, fp.lazy, 4);
ELEMENT(struct core, fp.a, 8);
ELEMENT(struct core, call.site, 8);
ELEMENT(struct core, call.address, 4);
ELEMENT(struct core, call.stall, 4);
ELEMENT(struct core, call.value[0], 8);
ELEMENT(struct jump, pc, 8);
_Static_assert(sizeof(struct jump) == 16, "emitted code steps over jumps");

#define CORE(member) offsetof(struct core, member)
#define REGS(member) offsetof(struct core_regs, member)

/* --- Registers ------------------------------------------------------------------------------- */

ir_value emit_const(struct emit *e, uint32_t value)
{
    return ir_const(e->ir, IR_I32, value);
}

static ir_variable lazily(struct emit *e, ir_variable *variable, enum ir_type type, ir_value base,
                          size_t offset)
{
    if (!*variable) *variable = ir_variable_new(e->ir, type, base, offset);
    return *variable;
}

static ir_variable gpr(struct emit *e, unsigned n)
{
    return lazily(e, &e->gpr[n], IR_I32, e->regs, REGS(gpr) + 4 * n);
}

ir_value emit_gpr(struct emit *e, unsigned n)
{
    return ir_get(e->ir, IR_I32, gpr(e, n));
}

ir_value emit_gpr_or_0(struct emit *e, unsigned n)
{
    return n ? emit_gpr(e, n) : emit_const(e, 0);
}

void emit_set_gpr(struct emit *e, unsigned n, ir_value v)
{
    emit_forget_base(e, n);
    e->half[n] = (struct emit_half){0};
    ir_set(e->ir, gpr(e, n), v);
    ir_store(e->ir, v, e->regs, NULL, REGS(gpr) + 4 * n);
}

static size_t fpr_offset(unsigned n)
{
    return n < 32 ? REGS(fpr) + 8 * n : REGS(fpr2) + 8 * (n - 32);
}

static ir_variable fpr(struct emit *e, unsigned n)
{
    return lazily(e, &e->fpr[n], IR_F64, e->regs, fpr_offset(n));
}

ir_value emit_fpr(struct emit *e, unsigned n)
{
    return ir_get(e->ir, IR_F64, fpr(e, n));
}

ir_value emit_fpr_bits(struct emit *e, unsigned n)
{
    return e->integer[n] ? e->integer[n] : ir_convert(e->ir, IR_BITS, IR_I64, emit_fpr(e, n));
}

void emit_set_fpr(struct emit *e, unsigned n, ir_value v)
{
    e->integer[n] = e->low[n] = e->negated[n] = NULL;
    ir_set(e->ir, fpr(e, n), v);
    ir_store(e->ir, v, e->regs, NULL, fpr_offset(n));
}

void emit_reload_fpr(struct emit *e, unsigned n)
{
    e->integer[n] = e->low[n] = e->negated[n] = NULL;
    ir_reload(e->ir, IR_F64, fpr(e, n), e->regs, fpr_offset(n));
}

ir_value emit_ca(struct emit *e)
{
    ir_value v = ir_get(e->ir, IR_I8, lazily(e, &e->ca, IR_I8, e->regs, REGS(xer_ca)));
    return ir_convert(e->ir, IR_ZEXT, IR_I32, v);
}

void emit_set_ca(struct emit *e, ir_value truth)
{
    ir_value v = ir_convert(e->ir, IR_ZEXT, IR_I8, truth);
    ir_set(e->ir, lazily(e, &e->ca, IR_I8, e->regs, REGS(xer_ca)), v);
    ir_store(e->ir, v, e->regs, NULL, REGS(xer_ca));
}

static ir_variable cr(struct emit *e, unsigned field)
{
    return lazily(e, &e->cr[field], IR_I8, e->regs, REGS(cr) + field);
}

ir_value emit_cr(struct emit *e, unsigned field)
{
    return ir_convert(e->ir, IR_ZEXT, IR_I32, ir_get(e->ir, IR_I8, cr(e, field)));
}

void emit_set_cr(struct emit *e, unsigned field, ir_value v)
{
    ir_value byte = ir_convert(e->ir, IR_TRUNC, IR_I8, v);
    e->compared[field].how = COMPARED_NOT;
    ir_set(e->ir, cr(e, field), byte);
    ir_store(e->ir, byte, e->regs, NULL, REGS(cr) + field);
}

void emit_reload_cr(struct emit *e, unsigned field)
{
    ir_reload(e->ir, IR_I8, cr(e, field), e->regs, REGS(cr) + field);
}

ir_value emit_special(struct emit *e, bool is_ctr)
{
    ir_variable *variable = is_ctr ? &e->ctr : &e->lr;
    return ir_get(e->ir, IR_I32,
                  lazily(e, variable, IR_I32, e->regs, is_ctr ? REGS(ctr) : REGS(lr)));
}

void emit_set_special(struct emit *e, bool is_ctr, ir_value v)
{
    ir_variable *variable = is_ctr ? &e->ctr : &e->lr;
    size_t offset = is_ctr ? REGS(ctr) : REGS(lr);
    ir_set(e->ir, lazily(e, variable, IR_I32, e->regs, offset), v);
    ir_store(e->ir, v, e->regs, NULL, offset);
}

/* --- Conditions ------------------------------------------------------------------------------ */

_Static_assert(CR_LT == 8 && CR_GT == 4 && CR_EQ == 2, "a comparison is what ir_compare makes");
/* XER[SO] is 0 in translated code (jit.c), so no compare sets CR's copy. */
void emit_compare(struct emit *e, unsigned field, bool is_signed, ir_value a, ir_value b)
{
    emit_set_cr(e, field, ir_compare(e->ir, is_signed, a, b));
    e->compared[field].a = a;
    e->compared[field].b = b;
    e->compared[field].how = is_signed ? COMPARED_SIGNED : COMPARED_UNSIGNED;
}

void emit_record(struct emit *e, ir_value v)
{
    emit_compare(e, 0, true, v, emit_const(e, 0));
}

ir_value emit_cr_bit(struct emit *e, unsigned bit)
{
    static const enum ir_test tests[2][3] = {{IR_SLT, IR_SGT, IR_EQ}, {IR_ULT, IR_UGT, IR_EQ}};
    static const enum ir_order orders[4] = {IR_LESS, IR_GREATER, IR_SAME, IR_UNORDERED};
    unsigned field = bit / 4, which = bit % 4;
    ir_value a = e->compared[field].a, b = e->compared[field].b;
    if (e->compared[field].how == COMPARED_FLOAT) return ir_order(e->ir, orders[which], a, b);
    if (e->compared[field].how != COMPARED_NOT && which < 3)
        return ir_test(e->ir, tests[e->compared[field].how == COMPARED_UNSIGNED][which], a, b);
    ir_value masked = ir_op(e->ir, IR_AND, emit_cr(e, field), emit_const(e, 8U >> which));
    return ir_test(e->ir, IR_NE, masked, emit_const(e, 0));
}

/* --- Calls ----------------------------------------------------------------------------------- */

ir_value emit_cycles(struct emit *e)
{
    return ir_get(e->ir, IR_I64, e->cycles);
}

void emit_write_lazy(struct emit *e)
{
    if (!e->lazy.op) return;
    const struct {
        ir_value v;
        size_t offset;
    } operands[] = {{e->lazy.a, CORE(fp.a)},
                    {e->lazy.b, CORE(fp.b)},
                    {e->lazy.c, CORE(fp.c)},
                    {e->lazy.converted, CORE(fp.converted)}};
    ir_value op = emit_const(e, e->lazy.op);
    if (e->lazy.compared) op = ir_op(e->ir, IR_OR, op, e->lazy.compared);
    ir_store(e->ir, op, e->core, NULL, CORE(fp.lazy));
    for (unsigned i = 0; i < sizeof operands / sizeof operands[0]; i++)
        if (operands[i].v) ir_store(e->ir, operands[i].v, e->core, NULL, operands[i].offset);
}

/* Where a helper call goes that has stopped the core: it stores the deferred operation and leaves.
 * Calls behind the same operation share it. */
static ir_block stop_block(struct emit *e)
{
    if (!e->lazy.op) return e->leave;
    if (!e->lazy.leave) {
        ir_block here = ir_here(e->ir);
        e->lazy.leave = ir_block_new(e->ir);
        ir_place(e->ir, e->lazy.leave);
        emit_write_lazy(e);
        ir_jump(e->ir, e->leave);
        ir_place(e->ir, here);
    }
    return e->lazy.leave;
}

void emit_call(struct emit *e, jit_function *function, const struct emit_call *call)
{
    struct ir *ir = e->ir;
    ir_block on = ir_block_new(ir);
    struct site *site = &e->region->sites[e->region->site_count++];
    *site = (struct site){e->block->block, call->info};
    ir_store(ir, ir_address(ir, site), e->core, NULL, CORE(call.site));
    if (call->address) ir_store(ir, call->address, e->core, NULL, CORE(call.address));
    for (unsigned i = 0; i < 3; i++)
        if (call->value[i]) ir_store(ir, call->value[i], e->core, NULL, CORE(call.value) + 8 * i);
    ir_store(ir, emit_cycles(e), e->core, NULL, CORE(cycles));
    if (e->region->recorded) ir_store(ir, ir_const(ir, IR_I8, 1), e->core, NULL, CORE(touched));
    ir_value stopped = ir_call(ir, (const void *)function);
    ir_reload(ir, IR_I64, e->cycles, e->core, CORE(cycles));
    ir_branch(ir, stopped, call->evaluates ? e->leave : stop_block(e), on, IR_UNLIKELY);
    ir_place(ir, on);
}

bool emit_has_probe(void)
{
#ifdef JIT_MISSES
    return true;
#else
    return false;
#endif
}

void emit_probe(struct emit *e, size_t code, ir_value address, unsigned size, ir_block done,
                ir_block otherwise)
{
    struct ir *ir = e->ir;
    if (!emit_has_probe()) {
        ir_jump(ir, otherwise);
        return;
    }
    if (e->region->recorded) ir_store(ir, ir_const(ir, IR_I8, 1), e->core, NULL, CORE(touched));
    const struct ir_probe probe = {.code = code,
                                   .pointer = ir_load(ir, IR_POINTER, e->core, NULL, CORE(fast)),
                                   .number = address,
                                   .shift = CACHE_GRANULE_BITS,
                                   .mask = size * (uint32_t)CACHE_GRANULES - 1,
                                   .time = e->cycles,
                                   .stall = CORE(call.stall)};
    ir_probe(ir, &probe, done, otherwise);
}

ir_value emit_call_result(struct emit *e)
{
    return ir_load(e->ir, IR_I64, e->core, NULL, CORE(call.value));
}

/* --- Blocks ---------------------------------------------------------------------------------- */

static void count_block(struct emit *e)
{
    struct ir *ir = e->ir;
    ir_increment(ir, ir_get(ir, IR_POINTER, e->counts), (uint64_t)e->block->id * 8);
    if (e->region->recorded)
        ir_increment(ir, ir_get(ir, IR_POINTER, e->path_counts), (uint64_t)e->block->index * 8);
    ir_set(ir, e->cycles,
           ir_op(ir, IR_ADD, emit_cycles(e), ir_const(ir, IR_I64, e->block->cycles)));
}

/* Whether `count` (at most 8) lines from `first` on are all in the instruction cache. */
static ir_value fetched(struct emit *e, uint32_t first, unsigned count)
{
    enum ir_type type = count == 1 ? IR_I8 : count == 2 ? IR_I16 : count <= 4 ? IR_I32 : IR_I64;
    uint64_t each = UINT64_C(0x0101010101010101) * CACHE_FETCH;
    ir_value all = ir_const(e->ir, type, each >> (64 - 8 * count));
    ir_value bits = ir_load(e->ir, type, e->lines, NULL, first);
    if (count == 1)
        return ir_test(e->ir, IR_NE, ir_op(e->ir, IR_AND, bits, all), ir_const(e->ir, type, 0));
    return ir_test(e->ir, IR_EQ, ir_op(e->ir, IR_AND, bits, all), all);
}

static void fetch_block(struct emit *e)
{
    uint32_t first = e->block->pc >> CACHE_GRANULE_BITS,
             last = (e->block->end - 4) >> CACHE_GRANULE_BITS;
    unsigned lines = last - first + 1;
    ir_block slow = ir_block_new(e->ir), on = ir_block_new(e->ir);
    ir_value present = fetched(e, first, lines > 8 ? 8 : lines);
    if (lines > 8) present = ir_op(e->ir, IR_AND, present, fetched(e, first + 8, lines - 8));
    ir_branch(e->ir, present, on, slow, IR_LIKELY);
    ir_place(e->ir, slow);
    emit_call(e, JIT_CALL(jit_fetch), &(struct emit_call){0});
    ir_jump(e->ir, on);
    ir_place(e->ir, on);
}

static void return_to(struct emit *e, ir_value pc)
{
    ir_store(e->ir, pc, e->regs, NULL, REGS(pc));
    ir_store(e->ir, emit_cycles(e), e->core, NULL, CORE(cycles));
    ir_return(e->ir);
}

/* Leaves the region: jumps to the code in the table if its pc matches (64 bits), else returns to C.
 */
static void go_to(struct emit *e, ir_value pc, ir_value table, uint64_t offset)
{
    struct ir *ir = e->ir;
    ir_block hit = ir_block_new(ir), miss = ir_block_new(ir);
    ir_value entry = ir_load(ir, IR_I64, table, NULL, offset + offsetof(struct jump, pc));
    ir_branch(ir, ir_test(ir, IR_EQ, entry, pc), hit, miss, IR_LIKELY);
    ir_place(ir, hit);
    ir_go(ir, ir_load(ir, IR_POINTER, table, NULL, offset + offsetof(struct jump, code)));
    ir_place(ir, miss);
    return_to(e, ir_convert(ir, IR_TRUNC, IR_I32, pc));
}

/* The block for a constant target: inside the region, or an exit, emitted once per target. Recorded
 * code enters another function by calls only; other jumps return to the interpreter. */
static ir_block target_block(struct emit *e, uint32_t pc, bool called)
{
    int inside = region_find(e->region, pc);
    bool same = !e->region->recorded ||
                (inside >= 0 && e->region->blocks[inside].function == e->block->function);
    if (inside >= 0 && (same || called)) return e->start[inside];
    for (unsigned i = 0; i < e->exit_count; i++)
        if (e->exits[i].pc == pc) return e->exits[i].block;
    e->exits[e->exit_count].pc = pc;
    return e->exits[e->exit_count++].block = ir_head_new(e->ir, 0);
}

static void place_exits(struct emit *e)
{
    for (unsigned i = 0; i < e->exit_count; i++) {
        ir_place(e->ir, e->exits[i].block);
        ir_value table = ir_address(e->ir, &e->region->jumps[jump_index(e->exits[i].pc)]);
        go_to(e, ir_const(e->ir, IR_I64, e->exits[i].pc), table, 0);
    }
}

/* A return: to the calls inside the region first. */
static void guess_returns(struct emit *e, ir_value pc)
{
    unsigned guesses = 0;
    for (unsigned i = 0; i < e->region->count && guesses < REGION_RETURNS; i++) {
        const struct region_block *from = &e->region->blocks[i];
        struct branch branch = branch_of(from->words[from->count - 1], from->end - 4);
        int to = region_find(e->region, from->end);
        if (!branch.links || to < 0) continue;
        ir_block next = ir_block_new(e->ir);
        ir_branch(e->ir, ir_test(e->ir, IR_EQ, pc, emit_const(e, from->end)), e->start[to], next,
                  IR_EVEN);
        ir_place(e->ir, next);
        guesses++;
    }
}

static ir_block register_target(struct emit *e, ir_value pc, bool is_return)
{
    struct ir *ir = e->ir;
    ir_block block = ir_block_new(ir);
    ir_place(ir, block);
    if (is_return) guess_returns(e, pc);
    ir_value index =
        ir_op(ir, IR_AND, ir_op(ir, IR_LSHR, pc, emit_const(e, 2)), emit_const(e, JUMPS - 1));
    ir_value offset =
        ir_op(ir, IR_MUL, ir_convert(ir, IR_ZEXT, IR_I64, index), ir_const(ir, IR_I64, 16));
    ir_value table = ir_offset(ir, ir_address(ir, e->region->jumps), offset);
    go_to(e, ir_convert(ir, IR_ZEXT, IR_I64, pc), table, 0);
    return block;
}

/* Counts CTR down, if the branch does; its new value. */
static ir_value count_down(struct emit *e, const struct branch *branch)
{
    if (!branch->uses_ctr) return NULL;
    ir_value ctr = ir_op(e->ir, IR_SUB, emit_special(e, true), emit_const(e, 1));
    emit_set_special(e, true, ctr);
    return ctr;
}

/* Whether the branch is taken, as a value for the current block. */
static ir_value taken(struct emit *e, const struct branch *branch, ir_value ctr)
{
    struct ir *ir = e->ir;
    ir_value go = NULL;
    if (branch->uses_ctr) go = ir_test(ir, branch->bo & 2 ? IR_EQ : IR_NE, ctr, emit_const(e, 0));
    if (branch->uses_cr) {
        ir_value bit = emit_cr_bit(e, branch->bi);
        if (!(branch->bo & 8)) bit = ir_op(ir, IR_XOR, bit, ir_const(ir, IR_I1, 1));
        go = go ? ir_op(ir, IR_AND, go, bit) : bit;
    }
    return go;
}

/* --- Recording: calls and returns call C, which may move the counts -------------------------- */

static void record_edge(struct emit *e, jit_function *function, ir_value to)
{
    struct ir *ir = e->ir;
    ir_store(ir, to, e->core, NULL, CORE(call.address));
    ir_store(ir, emit_cycles(e), e->core, NULL, CORE(cycles));
    (void)ir_call(ir, (const void *)function);
    ir_reload(ir, IR_POINTER, e->counts, e->core, CORE(counts));
    ir_reload(ir, IR_POINTER, e->path_counts, e->core, CORE(path_counts));
}

/* What is called when the branch is taken; NULL: nothing. */
static jit_function *edge_of(const struct region_block *block, const struct branch *branch)
{
    if (branch->links)
        return branch->indirect || branch->target != block->end ? JIT_CALL(jit_record_call) : NULL;
    return branch->indirect && !branch->through_ctr ? JIT_CALL(jit_record_return) : NULL;
}

/* The branch is taken: notifies the recorder, then continues at its target. */
static ir_block through_edge(struct emit *e, jit_function *function, ir_value to, ir_block there)
{
    ir_block here = ir_here(e->ir), edge = ir_block_new(e->ir), over = ir_block_new(e->ir);
    ir_place(e->ir, edge);
    record_edge(e, function, to);
    ir_branch(e->ir, ir_test(e->ir, IR_UGE, emit_cycles(e), e->limit), over, there, IR_UNLIKELY);
    ir_place(e->ir, over);
    return_to(e, to);
    ir_place(e->ir, here);
    return edge;
}

/* Code may be entered from any path. If the path is of another function, the interpreter takes
 * over. */
static void check_path(struct emit *e)
{
    struct ir *ir = e->ir;
    ir_block other = ir_block_new(ir);
    ir_value function = ir_load(ir, IR_POINTER, ir_load(ir, IR_POINTER, e->core, NULL, CORE(path)),
                                NULL, offsetof(struct record_path, function));
    ir_value same = ir_test(ir, IR_EQ, function, ir_address(ir, e->region->blocks[0].function));
    ir_branch(ir, same, e->start[0], other, IR_LIKELY);
    ir_place(ir, other);
    return_to(e, emit_const(e, e->region->blocks[0].pc));
}

static void end_block(struct emit *e)
{
    struct ir *ir = e->ir;
    const struct region_block *block = e->block;
    struct branch branch = branch_of(block->words[block->count - 1], block->end - 4);
    if (e->lazy.op) {
        emit_write_lazy(e);
        e->lazy.op = 0;
    }
    ir_value to = emit_const(e, branch.is_branch ? branch.target : block->end);
    if (branch.indirect)
        to = ir_op(ir, IR_AND, emit_special(e, branch.through_ctr), emit_const(e, ~UINT32_C(3)));
    if (branch.links) emit_set_special(e, false, emit_const(e, block->end));
    ir_value ctr = count_down(e, &branch);
    bool conditional = branch.uses_ctr || branch.uses_cr;
    ir_block over = ir_block_new(ir), on = ir_block_new(ir);
    jit_function *edge = e->region->recorded && branch.is_branch ? edge_of(block, &branch) : NULL;
    ir_block before = ir_here(ir);
    ir_block there =
        branch.indirect
            ? register_target(e, to, !branch.through_ctr)
            : target_block(e, branch.is_branch ? branch.target : block->end, edge != NULL);
    ir_place(ir, before);
    if (edge) { /* before the test of the time: it is part of the instruction */
        ir_block notify = through_edge(e, edge, to, there), not_taken = ir_block_new(ir);
        if (!conditional) {
            ir_jump(ir, notify);
            return;
        }
        ir_branch(ir, taken(e, &branch, ctr), notify, not_taken, IR_EVEN);
        ir_place(ir, not_taken);
        to = emit_const(e, block->end);
        there = target_block(e, block->end, false);
        conditional = false;
    }
    ir_branch(ir, ir_test(ir, IR_UGE, emit_cycles(e), e->limit), over, on, IR_UNLIKELY);
    ir_place(ir, over);
    return_to(e, conditional ? ir_select(ir, taken(e, &branch, ctr), to, emit_const(e, block->end))
                             : to);
    ir_place(ir, on);
    if (conditional)
        ir_branch(ir, taken(e, &branch, ctr), there, target_block(e, block->end, false), IR_EVEN);
    else
        ir_jump(ir, there);
}

/* --- Rows ------------------------------------------------------------------------------------ */

static const struct emit_entry *row_of(enum isa_id id)
{
    const struct emit_entry *const tables[] = {emit_integer_rows, emit_memory_rows, emit_fp_rows,
                                               emit_fpscr_rows};
    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (tables[i][id].emit) return &tables[i][id];
    return NULL;
}

bool emit_supports(uint32_t word)
{
    enum isa_id id = isa_decode(word);
    if (id == ISA_ILLEGAL || isa_is_privileged(id, word) || isa_is_invalid_form(id, word))
        return false;
    if (branch_of(word, 0).is_branch) return true;
    if (id == ISA_MFSPR || id == ISA_MFTB || id == ISA_MTSPR)
        return emit_supports_spr(id, isa_spr(word));
    return row_of(id) != NULL;
}

static void emit_block(struct emit *e, unsigned index)
{
    e->block = &e->region->blocks[index];
    for (unsigned i = 0; i < 8; i++)
        e->compared[i].how = COMPARED_NOT;
    e->lazy.op = 0;
    emit_forget(e);
    memset(e->integer, 0, sizeof e->integer);
    memset(e->low, 0, sizeof e->low);
    memset(e->negated, 0, sizeof e->negated);
    memset(e->half, 0, sizeof e->half);
    ir_place(e->ir, e->start[index]);
    count_block(e);
    if (!e->region->free) fetch_block(e);
    for (e->op = 0; e->op < e->block->count; e->op++) {
        e->word = e->block->words[e->op];
        const struct emit_entry *row = row_of(isa_decode(e->word));
        if (row) row->emit(e, row->variant);
    }
    end_block(e);
}

struct ir_code *emit_region(struct ir *ir, struct region *region)
{
    struct emit e = {.ir = ir, .region = region};
    ir_begin(ir);
    e.core = ir_argument(ir, IR_CORE);
    e.regs = ir_argument(ir, IR_REGS);
    e.base = ir_argument(ir, IR_BASE);
    e.lines = ir_argument(ir, IR_LINES);
    e.cycles = ir_variable_of(ir, ir_argument(ir, IR_TIME));
    e.limit = ir_shared(ir, CORE(limit));
    e.counts = ir_variable_new(ir, IR_POINTER, e.core, CORE(counts));
    if (region->recorded)
        e.path_counts = ir_variable_new(ir, IR_POINTER, e.core, CORE(path_counts));
    for (unsigned i = 0; i < region->count; i++)
        e.start[i] = ir_head_new(ir, region->blocks[i].weight);
    e.leave = ir_head_new(ir, 0);
    if (region->recorded)
        check_path(&e);
    else
        ir_jump(ir, e.start[0]);
    for (unsigned i = 0; i < region->count; i++)
        emit_block(&e, i);
    place_exits(&e);
    ir_place(ir, e.leave);
    ir_return(ir);
    return ir_finish(ir);
}
