/* Miss history: finds unpredictable loads, which hit and miss in an order that the host's branch
 * predictor cannot learn (a gather, a hash table). A mispredicted branch costs the host as much as
 * some 40 instructions, so translated code uses a branch-free probe for such loads (jit_memory.c).
 *
 * The history of a load is the sequence of gaps between its misses, in entries of its block. A gap
 * is a surprise if the same preceding gaps were followed by another one before. The interpreter
 * records it until the block is translated. Only the translator's choice of code depends on it, no
 * result.
 */
#include "machine/core/core_impl.h"

enum { SURPRISES_MIN = 32, SURPRISE_RATE = 4 }; /* unpredictable: one surprise in 4 executions */
enum { ENTRIES_OBSERVED = 20000 };              /* of a block; later misses are not recorded */

static size_t slot_of(const struct block *block, unsigned op)
{
    return (block->id * 41 + op) % MISS_HISTORIES;
}

static bool is_for(const struct miss_history *history, const struct block *block, unsigned op)
{
    return history->block == block->id && history->pc == block->pc + 4 * op;
}

static void record_miss(struct core *core, const struct block *block, unsigned index)
{
    struct miss_history *history = &core->miss_histories[slot_of(block, index)];
    uint64_t now = core->counts[block->id];
    if (!is_for(history, block, index)) {
        *history = (struct miss_history){
            .pc = block->pc + 4 * index, .block = block->id, .first = now, .last = now};
        return;
    }
    uint64_t gap = now - history->last;
    uint8_t *expected = &history->expected[history->past * UINT32_C(0x9E3779B1) >> 28],
            seen = gap < UINT8_MAX ? (uint8_t)gap : UINT8_MAX;
    _Static_assert(HISTORY_PASTS == 1 << (32 - 28), "the upper bits are the index");
    history->surprises += *expected != seen;
    *expected = seen;
    history->past = history->past << 8 | seen;
    history->last = now;
}

static uint32_t load(const struct core *core, uint32_t address, unsigned size)
{
    return cache_load(core->cores->options.cache, core->number, core->mem->space, address, size,
                      core->cycles);
}

/* Out of line, so that other loads pay for the test only. */
static __attribute__((noinline)) uint32_t load_and_record(struct core *core, uint32_t address,
                                                          unsigned size)
{
    record_miss(core, core->access.block, (unsigned)(core->access.op - core->access.block->ops));
    return load(core, address, size);
}

uint32_t core_load(struct core *core, uint32_t address, unsigned size)
{
    bool observes =
        core->cores->options.translator && core->counts[core->access.block->id] < ENTRIES_OBSERVED;
    return observes ? load_and_record(core, address, size) : load(core, address, size);
}

bool core_is_unpredictable(const struct core *core, const struct block *block, unsigned op)
{
    const struct miss_history *history = &core->miss_histories[slot_of(block, op)];
    return is_for(history, block, op) && history->surprises >= SURPRISES_MIN &&
           history->surprises * SURPRISE_RATE >= core->counts[block->id] - history->first;
}
