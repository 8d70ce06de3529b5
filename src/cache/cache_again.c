/* Stores that alternate between a few lines.
 *
 * Where L1 writes through, stores that alternate between a few lines (a stack, two arrays) all leave the core, and find
 * everything where the last one to their line found it. What that found is kept by line, as long as no mapping, no idle
 * core and no user of L2 has changed; what else can change is looked at again. That is half of all calls of many
 * programs, so translated code comes here first, and here no host register but the plain ones is touched, which saves
 * it the others.
 */
#if defined __x86_64__ && !defined __clang__
#pragma GCC target("general-regs-only")
#endif
#include "cache/cache_again.h"
#include "cache/cache_l2.h"

/* Whether what was found is still so, and nobody else could notice. */
INLINE bool is_again(const struct cache *cache, const struct cache_core *of, const struct again *again, bool *here)
{
    uint8_t byte = *again->at;
    *here = byte & CACHE_LOAD;
    if (!*here && (byte & CACHE_HERE || !(*again->page & CACHE_PAGE))) return false;
    if (!of->open_at || of->open == again->line || cache->joining & of->others) return false;
    return *again->tag == again->place.line;
}

INLINE bool is_in_l2(const struct l2 *l2, struct again *again)
{
    if (l2->line[again->in_l2] == again->place.line) return true;
    if (!l2->present[again->place.line % L2_HASH]) return false;
    for (uint32_t i = 0; i < blue_gene.l2_stride; i++)
        if (l2->line[i] == again->place.line) {
            again->in_l2 = i;
            return true;
        }
    return false;
}

uint32_t cache_store_again(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    struct again *again = again_of(of, address);
    bool here;
    if (again->epoch != cache->epoch || again->granule != address >> CACHE_GRANULE_BITS || again->space != space ||
        !is_again(cache, of, again, &here))
        return CACHE_ELSE;
    struct bank *bank = again->place.bank;
    uint64_t start = take_store_entry(cache, of, now), looked_up;
    open_line(of, again->line, again->at);
    of->counts.store_miss += !here;
    of->counts.snoop_sent++;
    if (of->snoop.shown.line[again->shown] == again->line)
        of->snoop.shown_again++;
    else
        again->shown = show(cache, of, again->line);
    of->counts.write++;
    of->counts.snoop_hit_same += is_in_l2(&of->l2, again);
    if (!l3_deposit(cache, &again->place, start, &looked_up)) {
        l3_write_hit(cache, bank, &bank->fetched[again->way], looked_up);
        tags_use(&bank->tags, &blue_gene.l3, again->place.set, again->way);
        bank->deposited[again->place.port] = again->place.line;
    }
    count_stall(&of->counts.stall_store, now, start);
    return (uint32_t)(start - now);
}
