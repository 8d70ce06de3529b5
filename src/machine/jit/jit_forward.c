/* Store-to-load forwarding within a block: a load of a word that the block itself has stored takes
 * the stored value. The load is still tested and counted like any other.
 *
 * A word is identified by base register and displacement. Two of them are different words if they
 * have the same base and their displacements do not overlap modulo a page (a page may be mapped
 * twice). A store through another base may alias any word and drops all others, as does a change
 * of their base register. No other core stores while a block runs.
 */
#include "machine/jit/jit_impl.h"

static void drop(struct emit *e, unsigned i)
{
    e->words[i] = e->words[--e->word_count];
}

void emit_forget(struct emit *e)
{
    e->word_count = 0;
}

void emit_forget_base(struct emit *e, unsigned base)
{
    for (unsigned i = e->word_count; i-- > 0;)
        if (base && e->words[i].base == base) drop(e, i);
}

static void add(struct emit *e, int32_t at, ir_value v, bool is_double, int part,
                struct emit_half half)
{
    if (e->word_count == FORWARDED_WORDS) return;
    unsigned i = e->word_count++;
    e->words[i].base = isa_ra(e->word);
    e->words[i].at = at;
    e->words[i].value = v;
    e->words[i].is_double = is_double;
    e->words[i].part = part;
    e->words[i].half = half;
}

void emit_forward_store(struct emit *e, unsigned size, ir_value v, bool is_double,
                        struct emit_half half)
{
    int32_t at = isa_si(e->word);
    for (unsigned i = e->word_count; i-- > 0;) {
        uint32_t behind = (uint32_t)(at - e->words[i].at) % MEM_PAGE;
        bool other = e->words[i].base != isa_ra(e->word);
        if (other || behind < 4 || behind > MEM_PAGE - size) drop(e, i);
    }
    if (size == 4) add(e, at, v, false, WORD_WHOLE, half);
    if (size == 8) {
        add(e, at, v, is_double, WORD_HIGH, (struct emit_half){0});
        add(e, at + 4, v, is_double, WORD_LOW, half);
    }
}

/* The index of the word, or -1. */
static int find(const struct emit *e, int32_t at)
{
    for (unsigned i = 0; i < e->word_count; i++)
        if (e->words[i].base == isa_ra(e->word) && e->words[i].at == at) return (int)i;
    return -1;
}

ir_value emit_forwarded_word(struct emit *e, unsigned by, struct emit_half *half)
{
    int i = find(e, isa_si(e->word) + (int32_t)by);
    *half = i < 0 ? (struct emit_half){0} : e->words[i].half;
    if (i < 0) return NULL;
    ir_value v = e->words[i].value;
    if (e->words[i].part == WORD_WHOLE) return v;
    if (e->words[i].is_double) v = ir_convert(e->ir, IR_BITS, IR_I64, v);
    if (e->words[i].part == WORD_HIGH) v = ir_op(e->ir, IR_LSHR, v, ir_const(e->ir, IR_I64, 32));
    return ir_convert(e->ir, IR_TRUNC, IR_I32, v);
}

ir_value emit_forwarded_double(struct emit *e)
{
    int high = find(e, isa_si(e->word)), low = find(e, isa_si(e->word) + 4);
    if (high < 0 || low < 0 || e->words[high].value != e->words[low].value) return NULL;
    if (e->words[high].part != WORD_HIGH || e->words[low].part != WORD_LOW) return NULL;
    ir_value v = e->words[high].value;
    return e->words[high].is_double ? v : ir_convert(e->ir, IR_BITS, IR_F64, v);
}
