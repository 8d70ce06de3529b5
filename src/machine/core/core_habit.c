/* Which loads are irregular: free at times and a miss at others, with no pattern that a host could
 * learn (what a gather reads, or a hash table). A jump that depends on it is mispredicted, which
 * takes the host as long as forty instructions, so translated code does without one for such loads
 * (jit_memory.c).
 *
 * A pattern shows in the gaps between misses, by how often the load's block was entered: whether
 * after the same few gaps comes the one that came before. It is asked of what the interpreter has
 * seen of the load until its block is translated. Nothing but the translator's choice of code
 * depends on it.
 */
#include "machine/core/core_impl.h"

enum { FEWEST_SURPRISES = 32, SURPRISING = 5 }; /* once in so many executions */
enum { LEARNT = 20000 }; /* entries of a block, after which its loads are known */

static size_t place_of(const struct block *block, unsigned op)
{
    return (block->id * 41 + op) % HABITS;
}

static bool is_of(const struct habit *habit, const struct block *block, unsigned op)
{
    return habit->block == block->id && habit->pc == block->pc + 4 * op;
}

static void note_miss(struct core *core, const struct block *block, unsigned index)
{
    struct habit *habit = &core->habits[place_of(block, index)];
    uint64_t now = core->counts[block->id];
    if (!is_of(habit, block, index)) {
        *habit = (struct habit){
            .pc = block->pc + 4 * index, .block = block->id, .first = now, .last = now};
        return;
    }
    uint64_t gap = now - habit->last;
    uint8_t *then = &habit->then[habit->past * UINT32_C(0x9E3779B1) >> 28],
            came = gap < UINT8_MAX ? (uint8_t)gap : UINT8_MAX;
    _Static_assert(HABIT_PASTS == 1 << (32 - 28), "the upper bits say which");
    habit->surprises += *then != came;
    *then = came;
    habit->past = habit->past << 8 | came;
    habit->last = now;
}

static uint32_t load(const struct core *core, uint32_t address, unsigned size)
{
    return cache_load(core->cores->options.cache, core->number, core->mem->space, address, size,
                      core->cycles);
}

/* Apart, so that others pay for nothing but the question. */
static __attribute__((noinline)) uint32_t load_and_learn(struct core *core, uint32_t address,
                                                         unsigned size)
{
    note_miss(core, core->at.block, (unsigned)(core->at.op - core->at.block->ops));
    return load(core, address, size);
}

uint32_t core_load(struct core *core, uint32_t address, unsigned size)
{
    bool learns = core->cores->options.translator && core->counts[core->at.block->id] < LEARNT;
    return learns ? load_and_learn(core, address, size) : load(core, address, size);
}

bool core_is_irregular(const struct core *core, const struct block *block, unsigned op)
{
    const struct habit *habit = &core->habits[place_of(block, op)];
    return is_of(habit, block, op) && habit->surprises >= FEWEST_SURPRISES &&
           habit->surprises * SURPRISING >= core->counts[block->id] - habit->first;
}
