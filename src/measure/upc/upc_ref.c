/* The reference model: the counter unit cycle by cycle, as the paper's sections 4 to 6 describe it.
 *
 * In each cycle, in this order (ERR-06):
 *   1. the wires take their levels;
 *   2. every counter looks at its selected wire; if that counts in its mode and the unit runs, the
 * low part ticks; at its maximum it rolls to zero and sets the carry latch, and if the counter is
 * armed, raises the interrupt;
 *   3. in the last cycle of a slot the maintenance machine serves the slot's word: reads it, checks
 * its parity, adds the carry if the latch is set (the one incrementer), writes it back, clears the
 * latch, and for a counter with interrupt compares it with the threshold's high part; a match arms.
 *
 * Decisions where the paper is silent: the machine serves words whether the unit counts or not; a
 * word with bad parity is reported once, disarms its counter and is left alone until software
 * writes the counter. Nothing here is optimised; upc_fast.c is compared with it.
 */
#include "measure/upc/upc_ref.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct change {
    uint64_t cycle;
    uint64_t
        order; /* in the order of the calls: a fall and a rise in one cycle leave the later one */
    uint32_t wire;
    bool level;
};

struct ref_wire {
    uint64_t reported; /* nothing may be reported before this cycle */
    bool told_level;
    bool level, before; /* in this cycle and in the one before it */
};

struct ref {
    struct ref_wire *wires;
    struct upc_ref_counter *counters;
    struct change *changes;
    size_t change_count, change_capacity;
    uint64_t order;
    struct upc_ref_work work;
};

static void add_change(struct chil_upc *upc, uint32_t wire, uint64_t cycle, bool level)
{
    struct ref *ref = upc->model;
    ref->changes =
        base_grow(ref->changes, &ref->change_capacity, ref->change_count + 1, sizeof *ref->changes);
    ref->changes[ref->change_count++] = (struct change){cycle, ref->order++, wire, level};
    if (cycle > upc->frontier) upc->frontier = cycle;
    ref->wires[wire].reported = cycle;
    ref->wires[wire].told_level = level;
}

static int raise_one(struct chil_upc *upc, const struct chil_upc_train *train)
{
    const struct ref *ref = upc->model;
    uint64_t end;
    if (!upc_train_fits(upc, train, &end)) return CHIL_EINVAL;
    const struct ref_wire *wire = &ref->wires[train->wire];
    if (train->cycle < wire->reported || train->cycle < upc->now) return CHIL_EORDER;
    if (wire->told_level) return CHIL_EINVAL;
    for (uint64_t k = 0; k < train->count; k++) {
        add_change(upc, train->wire, train->cycle + k * train->period, true);
        add_change(upc, train->wire, train->cycle + k * train->period + train->high, false);
    }
    return 0;
}

static int ref_raise(struct chil_upc *upc, const struct chil_upc_train *trains, size_t count,
                     size_t *done)
{
    for (*done = 0; *done < count; ++*done) {
        int status = raise_one(upc, &trains[*done]);
        if (status) return status;
    }
    return 0;
}

static int ref_level(struct chil_upc *upc, uint32_t wire, uint64_t cycle, bool level)
{
    const struct ref *ref = upc->model;
    if (cycle < ref->wires[wire].reported || cycle < upc->now) return CHIL_EORDER;
    add_change(upc, wire, cycle, level);
    return 0;
}

/* --- The array ------------------------------------------------------------------------------- */

static uint64_t parity_of(uint64_t word)
{
    uint64_t parity = 0;
    for (unsigned byte = 0; byte < 8; byte++)
        parity |= (uint64_t)__builtin_parityll(word >> 8 * byte & 0xFF) << byte;
    return parity;
}

static void store_word(const struct chil_upc *upc, struct upc_ref_counter *counter, uint64_t word)
{
    counter->word = word & upc_word_mask(upc);
    counter->parity = parity_of(counter->word);
}

/* Reads a word: true if it is good. A word found bad is reported once. */
static bool read_word(struct chil_upc *upc, uint32_t c, uint64_t cycle)
{
    struct ref *ref = upc->model;
    struct upc_ref_counter *counter = &ref->counters[c];
    if (upc->counters[c].bad) return false;
    if (counter->parity == parity_of(counter->word)) return true;
    upc->counters[c].bad = true;
    counter->armed = false;
    upc_notice_add(upc, CHIL_UPC_PARITY, c, cycle);
    return false;
}

/* The one comparator: every comparison with a threshold is counted. */
static bool matches(struct chil_upc *upc, uint64_t word, uint64_t threshold)
{
    struct ref *ref = upc->model;
    ref->work.compares++;
    return (word & upc_word_mask(upc)) == upc_high(upc, threshold);
}

static void visit(struct chil_upc *upc, uint32_t c, uint64_t cycle)
{
    struct ref *ref = upc->model;
    struct upc_ref_counter *counter = &ref->counters[c];
    ref->work.visits++;
    bool good = read_word(upc, c, cycle);
    if (good && counter->carry) {
        ref->work.increments++;
        store_word(upc, counter, counter->word + 1);
    }
    counter->carry = false;
    if (!good || !upc->counters[c].interrupt) return;
    if (matches(upc, counter->word, upc->threshold)) counter->armed = true;
}

/* A write that touches a counter compares at once (ERR-02), with the carry that is still in its
 * latch. */
static void compare_now(struct chil_upc *upc, uint32_t c, uint64_t threshold)
{
    struct ref *ref = upc->model;
    struct upc_ref_counter *counter = &ref->counters[c];
    if (!upc->counters[c].interrupt || !read_word(upc, c, upc->now)) return;
    if (matches(upc, counter->word + counter->carry, threshold)) counter->armed = true;
}

/* --- A cycle --------------------------------------------------------------------------------- */

static void tick(struct chil_upc *upc, uint32_t c, uint64_t cycle)
{
    struct ref *ref = upc->model;
    struct upc_ref_counter *counter = &ref->counters[c];
    if (counter->low < bits_mask64(upc->geometry.low_bits)) {
        counter->low++;
        return;
    }
    counter->low = 0;
    if (counter->carry) ref->work.lost_carries++;
    counter->carry = true;
    if (counter->armed) upc_notice_add(upc, CHIL_UPC_INTERRUPT, c, cycle);
    counter->armed = false;
}

static bool counts(const struct ref_wire *wire, unsigned mode)
{
    switch (mode) {
    case CHIL_COUNT_HIGH: return wire->level;
    case CHIL_COUNT_LOW: return !wire->level;
    case CHIL_COUNT_RISE: return wire->level && !wire->before;
    case CHIL_COUNT_FALL: return !wire->level && wire->before;
    default: return false;
    }
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void step(struct chil_upc *upc, uint64_t cycle, const struct change *changes, size_t count)
{
    struct ref *ref = upc->model;
    const struct chil_upc_geometry *g = &upc->geometry;
    assert(g->slot_cycles && g->counters);
    for (size_t i = 0; i < count; i++)
        ref->wires[changes[i].wire].level = changes[i].level;
    for (uint32_t c = 0; upc->running && c < g->counters; c++)
        if (counts(&ref->wires[upc->counters[c].wire], upc->counters[c].mode)) tick(upc, c, cycle);
    if (cycle % g->slot_cycles == g->slot_cycles - 1)
        visit(upc, (uint32_t)(cycle / g->slot_cycles % g->counters), cycle);
    for (size_t i = 0; i < count; i++)
        ref->wires[changes[i].wire].before = ref->wires[changes[i].wire].level;
}

static uint64_t value_of(const struct chil_upc *upc, uint32_t c)
{
    const struct ref *ref = upc->model;
    const struct upc_ref_counter *counter = &ref->counters[c];
    return ((counter->word + counter->carry) << upc->geometry.low_bits) + counter->low;
}

static void ref_publish(struct chil_upc *upc)
{
    for (uint32_t c = 0; c < upc->geometry.counters; c++)
        atomic_store_explicit(&upc->counters[c].value, value_of(upc, c), memory_order_release);
}

static void ref_advance(struct chil_upc *upc, uint64_t end)
{
    struct ref *ref = upc->model;
    if (ref->change_count > 1)
        qsort(ref->changes, ref->change_count, sizeof *ref->changes, compare_changes);
    size_t done = 0;
    for (uint64_t cycle = upc->now; cycle < end; cycle++) {
        size_t first = done;
        while (done < ref->change_count && ref->changes[done].cycle == cycle)
            done++;
        step(upc, cycle, done > first ? &ref->changes[first] : NULL, done - first);
    }
    for (size_t i = done; i < ref->change_count; i++)
        ref->changes[i - done] = ref->changes[i];
    ref->change_count -= done;
    upc->now = end;
    ref_publish(upc);
}

/* --- Observations and changes ---------------------------------------------------------------- */

static int ref_read(struct chil_upc *upc, uint32_t c, uint64_t *value)
{
    if (!read_word(upc, c, upc->now)) return CHIL_EPARITY;
    *value = value_of(upc, c);
    return 0;
}

static bool ref_armed(struct chil_upc *upc, uint32_t c)
{
    return upc_ref_counter(upc, c)->armed;
}

static void ref_configure(struct chil_upc *upc, uint32_t c, const struct chil_upc_config *config)
{
    struct ref *ref = upc->model;
    upc->counters[c].wire = config->input * upc->geometry.counters + c;
    upc->counters[c].mode = (uint8_t)config->mode;
    upc->counters[c].interrupt = config->interrupt;
    ref->counters[c].armed = false;
    compare_now(upc, c, upc->threshold);
}

static void ref_run(struct chil_upc *upc, bool running)
{
    for (uint32_t c = 0; running && c < upc->geometry.counters; c++)
        compare_now(upc, c, upc->threshold);
}

static void ref_set_threshold(struct chil_upc *upc, uint64_t threshold)
{
    struct ref *ref = upc->model;
    for (uint32_t c = 0; c < upc->geometry.counters; c++) {
        ref->counters[c].armed = false;
        compare_now(upc, c, threshold);
    }
}

static void ref_write(struct chil_upc *upc, uint32_t c, uint64_t value)
{
    struct ref *ref = upc->model;
    struct upc_ref_counter *counter = &ref->counters[c];
    counter->low = (uint32_t)(value & bits_mask64(upc->geometry.low_bits));
    counter->carry = false;
    counter->armed = false;
    store_word(upc, counter, upc_high(upc, value));
    upc->counters[c].bad = false;
    atomic_store_explicit(&upc->counters[c].value, value, memory_order_release);
    compare_now(upc, c, upc->threshold);
}

static void ref_flip(struct chil_upc *upc, uint32_t c, uint32_t bit)
{
    struct ref *ref = upc->model;
    unsigned word_bits = upc_word_bits(upc);
    if (bit < word_bits)
        ref->counters[c].word ^= UINT64_C(1) << bit;
    else
        ref->counters[c].parity ^= UINT64_C(1) << (bit - word_bits);
    atomic_store_explicit(&upc->counters[c].value, value_of(upc, c), memory_order_release);
}

static void *ref_create(struct chil_upc *upc)
{
    struct ref *ref = base_calloc(1, sizeof *ref);
    ref->wires =
        base_calloc((size_t)upc->geometry.counters * upc->geometry.inputs, sizeof *ref->wires);
    ref->counters = base_calloc(upc->geometry.counters, sizeof *ref->counters);
    return ref;
}

static void ref_destroy(void *model)
{
    struct ref *ref = model;
    free(ref->wires);
    free(ref->counters);
    free(ref->changes);
    free(ref);
}

const struct upc_ops upc_ref_ops = {
    .create = ref_create,
    .destroy = ref_destroy,
    .raise = ref_raise,
    .level = ref_level,
    .advance = ref_advance,
    .configure = ref_configure,
    .run = ref_run,
    .set_threshold = ref_set_threshold,
    .read = ref_read,
    .write = ref_write,
    .armed = ref_armed,
    .flip = ref_flip,
    .publish = ref_publish,
};

const struct upc_ref_counter *upc_ref_counter(const struct chil_upc *upc, uint32_t counter)
{
    const struct ref *ref = upc->model;
    return &ref->counters[counter];
}

const struct upc_ref_work *upc_ref_work(const struct chil_upc *upc)
{
    const struct ref *ref = upc->model;
    return &ref->work;
}

struct chil_upc *upc_ref_unchecked(const struct chil_upc_geometry *geometry)
{
    struct chil_upc *upc;
    (void)chil_upc_new(
        &upc,
        &(struct chil_upc_geometry){geometry->counters, geometry->inputs, CHIL_UPC_LOW_BITS_MAX, 1},
        CHIL_UPC_REFERENCE, NULL, NULL, NULL);
    upc->geometry = *geometry;
    return upc;
}
