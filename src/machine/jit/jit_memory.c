/* Rows of loads, stores and cache management: what sem_memory.inc and the memory part of
 * sem_fp2.inc do.
 *
 * A hit costs one test: a set bit of the line byte, at an aligned address, so that the access is
 * within one line. A miss takes the fast path (emit_probe). An unpredictable load has no test; its
 * branch-free probe handles hit and miss. Everything else is a helper call, which does what the
 * interpreter does, including the store itself.
 */
#include <stddef.h>

#include "machine/cache/cache_fast.h"
#include "machine/jit/jit_impl.h"

#define RT (isa_rt(e->word))
#define RA (isa_ra(e->word))
#define RB (isa_rb(e->word))

enum {
    TO_GPR,
    TO_FPR,
    TO_SECOND
}; /* which register a row moves; with ISA_SINGLE the number is single in memory */

static const struct isa_row *row_of(const struct emit *e)
{
    return isa_row(isa_decode(e->word));
}

static ir_value address(struct emit *e)
{
    const struct isa_row *row = row_of(e);
    ir_value base = row->flags & ISA_UPDATE ? emit_gpr(e, RA) : emit_gpr_or_0(e, RA);
    ir_value by =
        row->flags & ISA_INDEXED ? emit_gpr(e, RB) : emit_const(e, (uint32_t)isa_si(e->word));
    return ir_op(e->ir, IR_ADD, base, by);
}

static uint32_t info(const struct emit *e, unsigned size)
{
    return INFO(e->op, size, row_of(e)->flags & ISA_UPDATE ? RA : NO_UPDATE);
}

static ir_value wide(struct emit *e, ir_value ea)
{
    return ir_convert(e->ir, IR_ZEXT, IR_I64, ea);
}

/* Whether the load gets a branch-free probe. */
static bool is_unpredictable(const struct emit *e)
{
    return e->block->unpredictable >> e->op & 1 && emit_has_probe() && !e->region->free;
}

/* Where memory is free: continues in a new block when the page has been used before. */
static ir_block test_free(struct emit *e, ir_value ea, unsigned bit, ir_block slow)
{
    struct ir *ir = e->ir;
    ir_block on = ir_block_new(ir);
    ir_value line = wide(e, ir_op(ir, IR_LSHR, ea, emit_const(e, CACHE_GRANULE_BITS)));
    ir_value byte =
        ir_op(ir, IR_AND, ir_load(ir, IR_I8, e->lines, line, 0), ir_const(ir, IR_I8, bit));
    ir_branch(ir, ir_test(ir, IR_NE, byte, ir_const(ir, IR_I8, 0)), on, slow, IR_LIKELY);
    ir_place(ir, on);
    return on;
}

/* Continues in a new block when the access is aligned and either hits or was handled by the fast
 * path; else at `slow`. The address is rotated to its line number, with the offset's bits above;
 * the offset bits that must be 0 remain, and no index that has one set is a hit (cache_lines). */
static ir_block test_access(struct emit *e, ir_value ea, unsigned size, unsigned bit, ir_block slow)
{
    struct ir *ir = e->ir;
    if (e->region->free) return test_free(e, ea, bit, slow);
    ir_block on = ir_block_new(ir);
    if (bit == CACHE_LOAD && is_unpredictable(e)) {
        e->region->unpredictable_loads++;
        emit_probe(e, offsetof(struct cache_fast, probe), ea, size, on, slow);
        ir_place(ir, on);
        return on;
    }
    ir_block miss = ir_block_new(ir);
    ir_value line = ir_rotate(ir, ea, emit_const(e, 32 - CACHE_GRANULE_BITS));
    line = wide(e, ir_op(ir, IR_AND, line, emit_const(e, size * (uint32_t)CACHE_GRANULES - 1)));
    ir_value byte =
        ir_op(ir, IR_AND, ir_load(ir, IR_I8, e->lines, line, 0), ir_const(ir, IR_I8, bit));
    ir_branch(ir, ir_test(ir, IR_NE, byte, ir_const(ir, IR_I8, 0)), on, miss, IR_LIKELY);
    ir_place(ir, miss);
    ir_prefetch(ir, e->base, wide(e, ea)); /* a guest L1 miss may be a host miss */
    size_t code =
        bit == CACHE_LOAD ? offsetof(struct cache_fast, load) : offsetof(struct cache_fast, store);
    emit_probe(e, code, ea, size, on, slow);
    ir_place(ir, on);
    return on;
}

static void check_load(struct emit *e, ir_value ea, unsigned size)
{
    struct ir *ir = e->ir;
    ir_block slow = ir_block_new(ir);
    ir_block on = test_access(e, ea, size, CACHE_LOAD, slow);
    ir_place(ir, slow);
    emit_call(e, JIT_CALL(jit_load), &(struct emit_call){info(e, size), ea, {NULL}, false});
    ir_jump(ir, on);
    ir_place(ir, on);
}

static enum ir_type type_of(unsigned size)
{
    return size == 1 ? IR_I8 : size == 2 ? IR_I16 : size == 4 ? IR_I32 : IR_I64;
}

static ir_value load(struct emit *e, ir_value ea, unsigned size, unsigned offset)
{
    ir_value raw = ir_load(e->ir, type_of(size), e->base, wide(e, ea), offset);
    return size == 1 ? raw : ir_swap(e->ir, raw);
}

static ir_value load_double(struct emit *e, ir_value ea, unsigned offset)
{
    return ir_swap(e->ir, ir_load(e->ir, IR_F64, e->base, wide(e, ea), offset));
}

/* The same for a whole instruction, with store-to-load forwarding: guests build doubles from two
 * stored words, and a host load that spans two stores waits for both to complete. */
static ir_value load_forwarded(struct emit *e, ir_value ea, unsigned size, struct emit_half *half)
{
    *half = (struct emit_half){0};
    ir_value stored =
        size == 4 && !(row_of(e)->flags & ISA_INDEXED) ? emit_forwarded_word(e, 0, half) : NULL;
    return stored ? stored : load(e, ea, size, 0);
}

static ir_value load_forwarded_double(struct emit *e, ir_value ea)
{
    struct ir *ir = e->ir;
    if (row_of(e)->flags & ISA_INDEXED) return load_double(e, ea, 0);
    ir_value both = emit_forwarded_double(e);
    if (both) return both;
    struct emit_half upper, lower;
    ir_value first = emit_forwarded_word(e, 0, &upper), second = emit_forwarded_word(e, 4, &lower);
    if (!first && !second) return load_double(e, ea, 0);
    if (!first) first = load(e, ea, 4, 0);
    if (lower.of) return ir_words(ir, first, lower.of, lower.flipped);
    if (!second) second = load(e, ea, 4, 4);
    ir_value high =
        ir_op(ir, IR_SHL, ir_convert(ir, IR_ZEXT, IR_I64, first), ir_const(ir, IR_I64, 32));
    return ir_convert(ir, IR_BITS, IR_F64,
                      ir_op(ir, IR_OR, high, ir_convert(ir, IR_ZEXT, IR_I64, second)));
}

/* The host's conversion is exact but makes signalling NaNs quiet. */
static ir_value from_single(struct emit *e, ir_value word)
{
    struct ir *ir = e->ir;
    ir_value d = ir_convert(ir, IR_WIDEN, IR_F64, ir_convert(ir, IR_BITS, IR_F32, word));
    ir_variable result =
        ir_variable_of(ir, ir_convert(ir, IR_BITS, IR_F64, ir_const(ir, IR_I64, 0)));
    ir_block nan = ir_block_new(ir), on = ir_block_new(ir);
    ir_set(ir, result, d);
    ir_branch(ir, ir_order(ir, IR_UNORDERED, d, d), nan, on, IR_UNLIKELY);
    ir_place(ir, nan);
    emit_call(e, JIT_CALL(jit_load_single),
              &(struct emit_call){.value = {ir_convert(ir, IR_ZEXT, IR_I64, word)}});
    ir_set(ir, result, ir_convert(ir, IR_BITS, IR_F64, emit_call_result(e)));
    ir_jump(ir, on);
    ir_place(ir, on);
    return ir_get(ir, IR_F64, result);
}

static ir_value to_single(struct emit *e, ir_value bits)
{
    struct ir *ir = e->ir;
    ir_value exponent = ir_op(ir, IR_AND, ir_op(ir, IR_LSHR, bits, ir_const(ir, IR_I64, 52)),
                              ir_const(ir, IR_I64, 0x7ff));
    ir_value zero = ir_test(ir, IR_EQ, ir_op(ir, IR_SHL, bits, ir_const(ir, IR_I64, 1)),
                            ir_const(ir, IR_I64, 0));
    ir_value normal = ir_test(ir, IR_UGT, exponent, ir_const(ir, IR_I64, 896));
    ir_value high = ir_op(ir, IR_AND, ir_op(ir, IR_LSHR, bits, ir_const(ir, IR_I64, 32)),
                          ir_const(ir, IR_I64, 0xc0000000));
    ir_value low = ir_op(ir, IR_AND, ir_op(ir, IR_LSHR, bits, ir_const(ir, IR_I64, 29)),
                         ir_const(ir, IR_I64, 0x3fffffff));
    ir_variable result = ir_variable_of(ir, emit_const(e, 0));
    ir_block tiny = ir_block_new(ir), on = ir_block_new(ir);
    ir_set(ir, result, ir_convert(ir, IR_TRUNC, IR_I32, ir_op(ir, IR_OR, high, low)));
    ir_branch(ir, ir_op(ir, IR_OR, normal, zero), on, tiny, IR_LIKELY);
    ir_place(ir, tiny);
    emit_call(e, JIT_CALL(jit_store_single), &(struct emit_call){.value = {bits}});
    ir_set(ir, result, ir_convert(ir, IR_TRUNC, IR_I32, emit_call_result(e)));
    ir_jump(ir, on);
    ir_place(ir, on);
    return ir_get(ir, IR_I32, result);
}

static void emit_load(struct emit *e, unsigned to)
{
    struct ir *ir = e->ir;
    const struct isa_row *row = row_of(e);
    ir_value ea = address(e);
    struct emit_half half;
    check_load(e, ea, row->size);
    if (to == TO_GPR) {
        ir_value raw = load_forwarded(e, ea, row->size, &half);
        if (row->flags & ISA_REVERSED) raw = ir_swap(ir, raw);
        enum ir_convert how = row->flags & ISA_SIGNED ? IR_SEXT : IR_ZEXT;
        emit_set_gpr(e, RT, row->size == 4 ? raw : ir_convert(ir, how, IR_I32, raw));
        e->half[RT] = half;
    } else {
        ir_value d = row->size == 4 ? from_single(e, load_forwarded(e, ea, 4, &half))
                                    : load_forwarded_double(e, ea);
        emit_set_fpr(e, RT + (to == TO_SECOND ? 32 : 0), d);
    }
    if (row->flags & ISA_UPDATE) emit_set_gpr(e, RA, ea);
}

/* The register's bits as an integer value, where there is one. */
static ir_value as_integer(struct emit *e, unsigned from)
{
    return e->integer[RT + (from == TO_SECOND ? 32 : 0)];
}

/* What is stored, as wide as memory has it; a double may be one. */
static ir_value stored(struct emit *e, unsigned from, unsigned size)
{
    struct ir *ir = e->ir;
    const struct isa_row *row = row_of(e);
    if (from == TO_GPR) {
        ir_value v = emit_gpr(e, RT);
        if (size != 4) v = ir_convert(ir, IR_TRUNC, type_of(size), v);
        return row->flags & ISA_REVERSED ? ir_swap(ir, v) : v;
    }
    unsigned n = RT + (from == TO_SECOND ? 32 : 0);
    if (size == 8) return as_integer(e, from) ? as_integer(e, from) : emit_fpr(e, n);
    ir_value bits = emit_fpr_bits(e, n);
    if (isa_decode(e->word) == ISA_STFIWX) return ir_convert(ir, IR_TRUNC, IR_I32, bits);
    return to_single(e, bits);
}

/* The double whose lower word is stored last. */
static struct emit_half stored_half(struct emit *e, unsigned from, unsigned size)
{
    if (from == TO_GPR) return e->half[RT];
    unsigned n = RT + (from == TO_SECOND ? 32 : 0);
    if (size == 8) return (struct emit_half){e->low[n] ? e->low[n] : emit_fpr(e, n), false};
    return (struct emit_half){0};
}

static void store(struct emit *e, ir_value ea, unsigned size, unsigned offset, ir_value v)
{
    ir_store(e->ir, size == 1 ? v : ir_swap(e->ir, v), e->base, wide(e, ea), offset);
}

static jit_function *store_call(unsigned size)
{
    switch (size) {
    case 1: return JIT_CALL(jit_store_8);
    case 2: return JIT_CALL(jit_store_16);
    case 4: return JIT_CALL(jit_store_32);
    default: return JIT_CALL(jit_store_64);
    }
}

static void emit_store(struct emit *e, unsigned from)
{
    struct ir *ir = e->ir;
    const struct isa_row *row = row_of(e);
    ir_value ea = address(e), v = stored(e, from, row->size);
    ir_block slow = ir_block_new(ir), on = ir_block_new(ir);
    (void)test_access(e, ea, row->size, CACHE_STORE, slow);
    store(e, ea, row->size, 0, v);
    ir_jump(ir, on);
    ir_place(ir, slow);
    ir_value bits = row->size == 8 ? v : ir_convert(ir, IR_ZEXT, IR_I64, v);
    emit_call(e, store_call(row->size), &(struct emit_call){info(e, row->size), ea, {bits}, false});
    ir_jump(ir, on);
    ir_place(ir, on);
    if (row->flags & ISA_INDEXED)
        emit_forget(e);
    else
        emit_forward_store(e, row->size, v, row->size == 8 && !as_integer(e, from),
                           stored_half(e, from, row->size));
    if (row->flags & ISA_UPDATE) emit_set_gpr(e, RA, ea);
}

/* --- Pairs: the first number in memory is the primary's, crossed the secondary's. Quadwords must
 * lie on 16 bytes --- */

static void check_quad(struct emit *e, ir_value ea)
{
    struct ir *ir = e->ir;
    ir_block bad = ir_block_new(ir), on = ir_block_new(ir);
    ir_value low = ir_op(ir, IR_AND, ea, emit_const(e, 15));
    ir_branch(ir, ir_test(ir, IR_EQ, low, emit_const(e, 0)), on, bad, IR_LIKELY);
    ir_place(ir, bad);
    emit_call(e, JIT_CALL(jit_misaligned), &(struct emit_call){info(e, 16), ea, {NULL}, false});
    ir_jump(ir, on);
    ir_place(ir, on);
}

static void emit_load_pair(struct emit *e, unsigned half)
{
    const struct isa_row *row = row_of(e);
    bool crossed = row->flags & ISA_CROSS;
    ir_value ea = address(e);
    if (half == 8) check_quad(e, ea);
    check_load(e, ea, 2 * half);
    for (unsigned i = 0; i < 2; i++) {
        ir_value d = half == 4 ? from_single(e, load(e, ea, 4, 4 * i)) : load_double(e, ea, 8 * i);
        emit_set_fpr(e, RT + (crossed == (i == 0) ? 32 : 0), d);
    }
    if (row->flags & ISA_UPDATE) emit_set_gpr(e, RA, ea);
}

static void emit_store_pair(struct emit *e, unsigned half)
{
    struct ir *ir = e->ir;
    const struct isa_row *row = row_of(e);
    bool crossed = row->flags & ISA_CROSS;
    ir_value ea = address(e);
    if (half == 8) check_quad(e, ea);
    ir_value first = stored(e, crossed ? TO_SECOND : TO_FPR, half);
    ir_value second = stored(e, crossed ? TO_FPR : TO_SECOND, half);
    ir_block slow = ir_block_new(ir), on = ir_block_new(ir);
    (void)test_access(e, ea, 2 * half, CACHE_STORE, slow);
    store(e, ea, half, 0, first);
    store(e, ea, half, half, second);
    ir_jump(ir, on);
    ir_place(ir, slow);
    if (half == 4) {
        first = ir_convert(ir, IR_ZEXT, IR_I64, first);
        second = ir_convert(ir, IR_ZEXT, IR_I64, second);
    }
    emit_call(e, JIT_CALL(jit_store_pair),
              &(struct emit_call){info(e, 2 * half), ea, {first, second}, false});
    ir_jump(ir, on);
    ir_place(ir, on);
    emit_forget(e);
    if (row->flags & ISA_UPDATE) emit_set_gpr(e, RA, ea);
}

/* --- Many registers, caches ------------------------------------------------------------------ */

static void emit_load_multiple(struct emit *e, unsigned variant)
{
    ir_value ea = address(e);
    (void)variant;
    emit_call(e, JIT_CALL(jit_load),
              &(struct emit_call){info(e, 4 * (32 - RT)), ea, {NULL}, false});
    for (unsigned i = RT; i < 32; i++)
        emit_set_gpr(e, i, load(e, ea, 4, 4 * (i - RT)));
}

static void emit_store_multiple(struct emit *e, unsigned variant)
{
    ir_value ea = address(e);
    (void)variant;
    emit_call(e, JIT_CALL(jit_store_many),
              &(struct emit_call){info(e, 4 * (32 - RT)), ea, {NULL}, false});
    emit_forget(e);
}

/* dcbz where memory is free. */
static void zero_free(struct emit *e, ir_value ea)
{
    struct ir *ir = e->ir;
    ir_block slow = ir_block_new(ir), on = ir_block_new(ir);
    ir_value line = ir_op(ir, IR_AND, ea, emit_const(e, ~UINT32_C(31)));
    (void)test_free(e, line, CACHE_STORE, slow);
    for (unsigned i = 0; i < 32; i += 8)
        ir_store(ir, ir_const(ir, IR_I64, 0), e->base, wide(e, line), i);
    ir_jump(ir, on);
    ir_place(ir, slow);
    emit_call(e, JIT_CALL(jit_manage),
              &(struct emit_call){INFO(e->op, CACHE_ZERO, NO_UPDATE), ea, {NULL}, false});
    ir_jump(ir, on);
    ir_place(ir, on);
    emit_forget(e);
}

static void emit_manage(struct emit *e, unsigned what)
{
    ir_value ea = ir_op(e->ir, IR_ADD, emit_gpr_or_0(e, RA), emit_gpr(e, RB));
    if (e->region->free && what == CACHE_TOUCH) return;
    if (e->region->free && what == CACHE_ZERO) {
        zero_free(e, ea);
        return;
    }
    emit_call(e, JIT_CALL(jit_manage),
              &(struct emit_call){INFO(e->op, what, NO_UPDATE), ea, {NULL}, false});
    emit_forget(e);
}

static void emit_sync(struct emit *e, unsigned variant)
{
    (void)variant;
    emit_call(e, JIT_CALL(jit_sync), &(struct emit_call){.info = INFO(e->op, 0, NO_UPDATE)});
}

static void emit_hint(struct emit *e, unsigned variant)
{
    (void)e;
    (void)variant;
}

#define FORMS(id, function, variant)                                                               \
    [ISA_##id] = {function, variant}, [ISA_##id##U] = {function, variant},                         \
    [ISA_##id##X] = {function, variant}, [ISA_##id##UX] = {function, variant}
#define INDEXED(id, function, variant)                                                             \
    [ISA_##id##X] = {function, variant}, [ISA_##id##UX] = {function, variant}

const struct emit_entry emit_memory_rows[ISA_COUNT] = {
    FORMS(LBZ, emit_load, TO_GPR),
    FORMS(LHZ, emit_load, TO_GPR),
    FORMS(LHA, emit_load, TO_GPR),
    FORMS(LWZ, emit_load, TO_GPR),
    FORMS(LFS, emit_load, TO_FPR),
    FORMS(LFD, emit_load, TO_FPR),
    FORMS(STB, emit_store, TO_GPR),
    FORMS(STH, emit_store, TO_GPR),
    FORMS(STW, emit_store, TO_GPR),
    FORMS(STFS, emit_store, TO_FPR),
    FORMS(STFD, emit_store, TO_FPR),
    [ISA_STFIWX] = {emit_store, TO_FPR},
    [ISA_LHBRX] = {emit_load, TO_GPR},
    [ISA_LWBRX] = {emit_load, TO_GPR},
    [ISA_STHBRX] = {emit_store, TO_GPR},
    [ISA_STWBRX] = {emit_store, TO_GPR},
    INDEXED(LFSS, emit_load, TO_SECOND),
    INDEXED(LFSD, emit_load, TO_SECOND),
    INDEXED(STFSS, emit_store, TO_SECOND),
    INDEXED(STFSD, emit_store, TO_SECOND),
    INDEXED(LFPS, emit_load_pair, 4),
    INDEXED(LFXS, emit_load_pair, 4),
    INDEXED(LFPD, emit_load_pair, 8),
    INDEXED(LFXD, emit_load_pair, 8),
    INDEXED(STFPS, emit_store_pair, 4),
    INDEXED(STFXS, emit_store_pair, 4),
    INDEXED(STFPD, emit_store_pair, 8),
    INDEXED(STFXD, emit_store_pair, 8),
    [ISA_LMW] = {emit_load_multiple, 0},
    [ISA_STMW] = {emit_store_multiple, 0},
    [ISA_DCBZ] = {emit_manage, CACHE_ZERO},
    [ISA_DCBF] = {emit_manage, CACHE_FLUSH},
    [ISA_DCBST] = {emit_manage, CACHE_CLEAN},
    [ISA_ICBI] = {emit_manage, CACHE_INVALIDATE_CODE},
    [ISA_DCBT] = {emit_manage, CACHE_TOUCH},
    [ISA_DCBTST] = {emit_manage, CACHE_TOUCH},
    [ISA_DCBA] = {emit_hint, 0},
    [ISA_ICBT] = {emit_hint, 0},
    [ISA_MSYNC] = {emit_sync, 0},
    [ISA_MBAR] = {emit_sync, 0},
};
