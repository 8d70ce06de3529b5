/* Region selection: which blocks are translated together.
 *
 * Selection starts at the hot block and follows direct branches, most executed first. A block is
 * added if it ran at least a sixth as often as the first, every instruction has a row, and it does
 * not begin a region itself (the code jumps there instead). Calls are followed like any branch. A
 * return compares its target with the return addresses of calls inside the region, else it leaves.
 */
#include <string.h>

#include "machine/jit/jit_impl.h"

enum { COLD = 6 };

struct branch branch_of(uint32_t word, uint32_t pc)
{
    struct branch branch = {0};
    switch (isa_decode(word)) {
    case ISA_BL:
    case ISA_BLA: branch.links = true; /* fall through */
    case ISA_B:
    case ISA_BA:
        branch.is_branch = true;
        branch.target = (uint32_t)isa_li(word) + (word & 2 ? 0 : pc);
        return branch;
    case ISA_BCL:
    case ISA_BCLA: branch.links = true; /* fall through */
    case ISA_BC:
    case ISA_BCA: branch.target = (uint32_t)isa_bd(word) + (word & 2 ? 0 : pc); break;
    case ISA_BCLRL: branch.links = true; /* fall through */
    case ISA_BCLR: branch.indirect = true; break;
    case ISA_BCCTRL: branch.links = true; /* fall through */
    case ISA_BCCTR: branch.indirect = branch.through_ctr = true; break;
    default: return branch;
    }
    branch.is_branch = true;
    branch.bo = isa_rt(word);
    branch.bi = isa_ra(word);
    branch.uses_ctr = isa_bo_uses_ctr(branch.bo) && !branch.through_ctr;
    branch.uses_cr = isa_bo_uses_cr(branch.bo);
    return branch;
}

int region_find(const struct region *region, uint32_t pc)
{
    for (unsigned i = 0; i < region->count; i++)
        if (region->blocks[i].pc == pc) return (int)i;
    return -1;
}

static bool can_translate(const struct core *core, const struct block *block)
{
    if (core->path && !block->function) return false; /* never entered */
    for (unsigned i = 0; i < block->count; i++)
        if (!emit_supports(block->words[i])) return false;
    return true;
}

static uint64_t times(const struct cores *cores, const struct block *block)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < cores->count; i++)
        sum += cores->core[i].counts[block->id];
    return sum;
}

static const struct block *decoded(const struct code *code, uint32_t pc)
{
    struct block **page = code->pages[pc / MEM_PAGE];
    return page && pc % 4 == 0 ? page[pc % MEM_PAGE / 4] : NULL;
}

static void add(struct region *region, const struct core *core, const struct block *block,
                uint64_t weight)
{
    struct region_block *to = &region->blocks[region->count++];
    to->block = block;
    to->pc = block->pc;
    to->end = block->end;
    to->id = block->id;
    to->cycles = block->cycles;
    to->index = block->index;
    to->function = block->function;
    to->count = block->count;
    to->weight = weight + 1;
    to->unpredictable = 0;
    for (unsigned i = 0; i < block->count; i++)
        if (region->unpredictable || core_is_unpredictable(core, block, i))
            to->unpredictable |= UINT64_C(1) << i;
    memcpy(to->words, block->words, block->count * sizeof *block->words);
}

/* Candidates: where blocks of the region go. */
struct frontier {
    uint32_t pc[4 * REGION_BLOCKS];
    unsigned count;
};

static void offer(struct frontier *f, uint32_t pc)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->pc[i] == pc) return;
    if (f->count < sizeof f->pc / sizeof *f->pc) f->pc[f->count++] = pc;
}

static void offer_next(struct frontier *f, const struct block *block)
{
    struct branch branch = branch_of(block->words[block->count - 1], block->end - 4);
    bool conditional = branch.uses_cr || branch.uses_ctr;
    if (!branch.is_branch || conditional || branch.links)
        offer(f, block->end); /* a call's return, too */
    if (branch.is_branch && !branch.indirect) offer(f, branch.target);
}

/* The most executed candidate that is not too cold, taken off the list; NULL when there is none. */
static const struct block *best(struct frontier *f, const struct region *region,
                                const struct core *core, uint64_t least, uint64_t *weight)
{
    const struct block *found = NULL;
    unsigned at = 0;
    *weight = 0;
    for (unsigned i = 0; i < f->count; i++) {
        const struct block *block = decoded(core->code, f->pc[i]);
        if (!block || block->translated || region_find(region, f->pc[i]) >= 0) continue;
        uint64_t n = times(core->cores, block);
        if (n < least || n <= *weight || !can_translate(core, block)) continue;
        *weight = n;
        found = block;
        at = i;
    }
    if (found) f->pc[at] = f->pc[--f->count];
    return found;
}

bool region_choose(struct region *region, const struct core *core, struct block *block)
{
    struct frontier f = {.count = 0};
    region->count = 0;
    region->ops = block->count;
    region->recorded = core->path != NULL;
    region->free = cache_is_free(core->cores->options.cache);
    region->lazy_op = core->fp.lazy & 0xff;
    if (!can_translate(core, block)) return false;
    uint64_t weight = times(core->cores, block), least = weight / COLD + 1;
    add(region, core, block, weight);
    offer_next(&f, block);
    while (region->count < REGION_BLOCKS) {
        const struct block *next = best(&f, region, core, least, &weight);
        if (!next) break;
        if (region->ops + next->count > REGION_OPS) continue;
        region->ops += next->count;
        add(region, core, next, weight);
        offer_next(&f, next);
    }
    return true;
}
