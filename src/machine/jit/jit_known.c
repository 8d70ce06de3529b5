/* Words in memory that a block has stored itself and may load again: the values are still at hand,
 * and the load, which is tested and counted like any other, need not wait for the stores.
 *
 * A word is known by a base register and a displacement. Two such are different words if their
 * registers are the same and their displacements do not overlap, modulo a page, should one be
 * mapped twice; a store by another register may be to any word, and makes the others unknown, as
 * does a change of their register. Only the core itself stores while its block runs.
 */
#include "machine/jit/jit_impl.h"

static void drop(struct emit *e, unsigned i)
{
    e->known[i] = e->known[--e->known_count];
}

void emit_forget(struct emit *e)
{
    e->known_count = 0;
}

void emit_forget_base(struct emit *e, unsigned base)
{
    for (unsigned i = e->known_count; i-- > 0;)
        if (base && e->known[i].base == base) drop(e, i);
}

static void add(struct emit *e, int32_t at, ir_value v, bool is_double, int part,
                struct emit_half half)
{
    if (e->known_count == KNOWN_WORDS) return;
    unsigned i = e->known_count++;
    e->known[i].base = isa_ra(e->word);
    e->known[i].at = at;
    e->known[i].value = v;
    e->known[i].is_double = is_double;
    e->known[i].part = part;
    e->known[i].half = half;
}

void emit_know(struct emit *e, unsigned size, ir_value v, bool is_double, struct emit_half half)
{
    int32_t at = isa_si(e->word);
    for (unsigned i = e->known_count; i-- > 0;) {
        uint32_t behind = (uint32_t)(at - e->known[i].at) % MEM_PAGE;
        bool other = e->known[i].base != isa_ra(e->word);
        if (other || behind < 4 || behind > MEM_PAGE - size) drop(e, i);
    }
    if (size == 4) add(e, at, v, false, KNOWN_WHOLE, half);
    if (size == 8) {
        add(e, at, v, is_double, KNOWN_HIGH, (struct emit_half){0});
        add(e, at + 4, v, is_double, KNOWN_LOW, half);
    }
}

/* The index of the word, or -1. */
static int find(const struct emit *e, int32_t at)
{
    for (unsigned i = 0; i < e->known_count; i++)
        if (e->known[i].base == isa_ra(e->word) && e->known[i].at == at) return (int)i;
    return -1;
}

ir_value emit_known_word(struct emit *e, unsigned by, struct emit_half *half)
{
    int i = find(e, isa_si(e->word) + (int32_t)by);
    *half = i < 0 ? (struct emit_half){0} : e->known[i].half;
    if (i < 0) return NULL;
    ir_value v = e->known[i].value;
    if (e->known[i].part == KNOWN_WHOLE) return v;
    if (e->known[i].is_double) v = ir_convert(e->ir, IR_BITS, IR_I64, v);
    if (e->known[i].part == KNOWN_HIGH) v = ir_op(e->ir, IR_LSHR, v, ir_const(e->ir, IR_I64, 32));
    return ir_convert(e->ir, IR_TRUNC, IR_I32, v);
}

ir_value emit_known_double(struct emit *e)
{
    int high = find(e, isa_si(e->word)), low = find(e, isa_si(e->word) + 4);
    if (high < 0 || low < 0 || e->known[high].value != e->known[low].value) return NULL;
    if (e->known[high].part != KNOWN_HIGH || e->known[low].part != KNOWN_LOW) return NULL;
    ir_value v = e->known[high].value;
    return e->known[high].is_double ? v : ir_convert(e->ir, IR_BITS, IR_F64, v);
}
