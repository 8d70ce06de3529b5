/* What a block does and how long it takes: the pipe model, in one place.
 *
 * In-order dual issue, as the 440 does it (docs/model.md, "Pipes"): at most two instructions issue
 * in a cycle, each to a pipe of its own (I, J, L, F; a floating-point compare takes F and I), when
 * their operands are ready and the pipe is free. An instruction that may go to I or J takes the one
 * that is free first, J if both are. Latency and occupancy are those of the instruction table.
 * Every block starts with all pipes free and all operands ready, and ends with the cycle in which
 * its last instruction issues: stalls across blocks are not modelled yet.
 */
#include <string.h>

#include "machine/core/core_impl.h"

enum { PIPE_I, PIPE_J, PIPE_L, PIPE_F, PIPES };

struct schedule {
    uint32_t cycle;  /* of the last issue */
    unsigned issued; /* in that cycle */
    uint32_t free[PIPES];
    uint32_t gpr[32], fpr[32], cr[8], special[8]; /* when they are ready */
};

static const uint8_t raises[ISA_CLASS_COUNT][2] = {
#define CORE_RAISE(klass, in_i, in_j)                                                              \
    [ISA_CLASS_##klass] = {CORE_SIGNAL_##in_i, CORE_SIGNAL_##in_j},
#include "machine/core/core_signals.def"
};

static uint32_t latest(const uint32_t *ready, uint32_t set, uint32_t cycle)
{
    for (; set; set &= set - 1) {
        uint32_t at = ready[__builtin_ctz(set)];
        if (at > cycle) cycle = at;
    }
    return cycle;
}

static void set_ready(uint32_t *ready, uint32_t set, uint32_t cycle)
{
    for (; set; set &= set - 1)
        ready[__builtin_ctz(set)] = cycle;
}

static unsigned choose_pipe(const struct schedule *s, enum isa_pipe pipe, uint32_t cycle)
{
    switch (pipe) {
    case ISA_PIPE_IJ:
        return s->free[PIPE_J] <= cycle || s->free[PIPE_J] <= s->free[PIPE_I] ? PIPE_J : PIPE_I;
    case ISA_PIPE_L: return PIPE_L;
    case ISA_PIPE_F:
    case ISA_PIPE_FI: return PIPE_F;
    default: return PIPE_I;
    }
}

/* Issues one instruction; returns its pipe. */
static unsigned issue(struct schedule *s, enum isa_id id, uint32_t word)
{
    const struct isa_row *row = isa_row(id);
    const struct isa_timing_row *timing = isa_timing_row((enum isa_timing)row->timing);
    struct isa_deps deps;
    isa_deps(id, word, &deps);
    uint32_t cycle = s->cycle + (s->issued == 2);
    cycle = latest(s->gpr, deps.gpr_read, cycle);
    cycle = latest(s->fpr, deps.fpr_read, cycle);
    cycle = latest(s->cr, deps.cr_read, cycle);
    cycle = latest(s->special, deps.special_read, cycle);
    unsigned pipe = choose_pipe(s, (enum isa_pipe)timing->pipe, cycle);
    if (s->free[pipe] > cycle) cycle = s->free[pipe];
    bool both = timing->pipe == ISA_PIPE_FI;
    if (both && s->free[PIPE_I] > cycle) cycle = s->free[PIPE_I];
    s->issued = cycle == s->cycle ? s->issued + 1 : 1;
    s->cycle = cycle;
    uint32_t occupancy = timing->occupancy;
    if (row->flags & ISA_MULTIPLE && !(row->flags & ISA_COUNT_READ))
        occupancy *= isa_words_moved(id, word, 0);
    s->free[pipe] = cycle + occupancy;
    if (both) s->free[PIPE_I] = cycle + occupancy;
    set_ready(s->gpr, deps.gpr_write, cycle + timing->latency);
    set_ready(s->fpr, deps.fpr_write, cycle + timing->latency);
    set_ready(s->cr, deps.cr_write, cycle + timing->latency);
    set_ready(s->special, deps.special_write, cycle + timing->latency);
    return pipe;
}

static bool is_load(unsigned signal)
{
    return signal == CORE_SIGNAL_LOAD_INTEGER ||
           (signal >= CORE_SIGNAL_FP_LOAD_SINGLE && signal <= CORE_SIGNAL_FP_LOAD_QUAD);
}

static bool is_store(unsigned signal)
{
    return signal == CORE_SIGNAL_STORE_INTEGER ||
           (signal >= CORE_SIGNAL_FP_STORE_SINGLE && signal <= CORE_SIGNAL_FP_STORE_QUAD);
}

static unsigned operations(unsigned signal)
{
    if (signal >= CORE_SIGNAL_FP_ADD && signal <= CORE_SIGNAL_FP_DIV) return 1;
    return signal >= CORE_SIGNAL_FP_ADD_PAIR && signal <= CORE_SIGNAL_FP_FMA_PAIR ? 2 : 0;
}

static unsigned flops(unsigned signal)
{
    bool fused = signal == CORE_SIGNAL_FP_FMA || signal == CORE_SIGNAL_FP_FMA_PAIR;
    return operations(signal) << fused;
}

/* A branch whose BO field does not say "always". */
static bool is_conditional(unsigned signal, uint32_t word)
{
    return signal == CORE_SIGNAL_I_BRANCHES && word >> 26 != 18 && (isa_rt(word) & 0x14) != 0x14;
}

static void weigh_one(struct schedule *s, uint32_t word, uint64_t *counts)
{
    enum isa_id id = isa_decode(word);
    if (id == ISA_ILLEGAL) return;
    unsigned pipe = issue(s, id, word);
    unsigned signal = raises[isa_row(id)->klass][pipe == PIPE_J];
    counts[CORE_SIGNAL_INSTRUCTIONS]++;
    counts[signal]++;
    counts[CORE_SIGNAL_I_INSTRUCTIONS] += pipe == PIPE_I;
    counts[CORE_SIGNAL_J_INSTRUCTIONS] += pipe == PIPE_J;
    counts[CORE_SIGNAL_CONDITIONAL] += is_conditional(signal, word);
    counts[CORE_SIGNAL_LOAD] += is_load(signal);
    counts[CORE_SIGNAL_STORE] += is_store(signal);
    counts[CORE_SIGNAL_FP_OPERATIONS] += operations(signal);
    counts[CORE_SIGNAL_FP_FLOPS] += flops(signal);
    counts[CORE_SIGNAL_NONE] = 0;
}

uint32_t block_weigh(const uint32_t *words, unsigned count, uint64_t *counts)
{
    struct schedule s = {0};
    for (unsigned i = 0; i < count; i++)
        weigh_one(&s, words[i], counts);
    return s.cycle + 1;
}

static uint64_t sum_of(const uint64_t *counts, uint64_t signals)
{
    uint64_t sum = 0;
    for (; signals; signals &= signals - 1)
        sum += counts[__builtin_ctzll(signals)];
    return sum;
}

unsigned block_reaches(const struct block *block, unsigned from, uint64_t signals, uint64_t left)
{
    uint64_t counts[CORE_SIGNAL_COUNT] = {0}, before = 0;
    struct schedule s = {0};
    counts[CORE_SIGNAL_FETCH] = block_lines(block); /* all before the first instruction */
    for (unsigned i = 0; i < block->count; i++) {
        if (i && i == from) before = sum_of(counts, signals);
        weigh_one(&s, block->words[i], counts);
        if (i >= from && sum_of(counts, signals) - before >= left) return i + 1;
    }
    return 0;
}

void block_schedule(struct block *block, const uint32_t *words, struct weight *weights)
{
    uint64_t counts[CORE_SIGNAL_COUNT] = {0};
    block->cycles = block_weigh(words, block->count, counts);
    counts[CORE_SIGNAL_FETCH] = block_lines(block);
    block->weight_count = 0;
    for (unsigned signal = 0; signal < CORE_SIGNAL_COUNT; signal++)
        if (counts[signal])
            weights[block->weight_count++] =
                (struct weight){(uint8_t)signal, (uint8_t)counts[signal]};
}

void block_issue(const struct block *block, uint32_t *cycles)
{
    struct schedule s = {0};
    for (unsigned i = 0; i < block->count; i++) {
        enum isa_id id = isa_decode(block->words[i]);
        if (id != ISA_ILLEGAL) (void)issue(&s, id, block->words[i]);
        cycles[i] = s.cycle;
    }
}
