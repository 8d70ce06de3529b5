/* Stores that alternate between a few lines.
 *
 * Where L1 writes through, stores that alternate between a few lines (a stack, two arrays) all leave the core, and find
 * everything where the last one to their line found it. What that found is kept by line, as long as no mapping, no idle
 * core, no user of L2 and no core's being with an open line has changed; what else can change is looked at again. That
 * is half of all calls of many programs, so translated code comes here first, and here no host register but the plain
 * ones is touched, which saves it the others.
 */
#if defined __x86_64__ && !defined __clang__
#pragma GCC target("general-regs-only")
#endif
#include "cache/cache_again.h"
#include "cache/cache_l2.h"

/* Whether what was found is still so. */
INLINE bool is_again(const struct cache_core *of, const struct again *again, bool *here)
{
    uint8_t byte = *again->at;
    *here = byte & CACHE_LOAD;
    if (!*here && (byte & CACHE_HERE || !(*again->page & CACHE_PAGE))) return false;
    return of->open_at && of->open != again->line && *again->tag == again->l3_line;
}

INLINE bool is_in_l2(const struct l2 *l2, struct again *again)
{
    if (*again->in_l2 == again->l3_line) return true;
    if (!l2->present[again->l3_line % L2_HASH]) return false;
    int at = l2_find(&blue_gene, l2, again->l3_line);
    if (at >= 0) again->in_l2 = &l2->line[at];
    return at >= 0;
}

/* l3_write, where everything is known. */
INLINE void write_again(struct cache *cache, const struct again *again, uint64_t now)
{
    if (now > cache->latest) cache->latest = now;
    again->counts->deposit++;
    if (*again->deposited == again->l3_line) {
        again->counts->merged++;
        return;
    }
    uint64_t start = unit_serve(again->directory, now, cache->config.l3_busy);
    count_wait(&again->counts->not_taken, now, start);
    *again->lookups += 1;
    l3_write_hit(cache, again->bank, again->fetched, start);
    if ((*again->order & 15) != again->way) *again->order = order_use(*again->order, again->way);
    *again->deposited = again->l3_line;
}

uint32_t cache_store_again(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    struct again *again = again_of(of, address);
    bool here;
    if (again->epoch != cache->epoch || again->key != again_key(space, address) || !is_again(of, again, &here))
        return CACHE_ELSE;
    if (!here && cache->listener) return CACHE_ELSE; /* to be told, which is not for here */
    uint64_t start = take_store_entry(cache, of, now);
    open_line(of, again->line, again->at);
    of->counts.store_miss += !here;
    of->counts.snoop_sent++;
    if (*again->shown == again->line)
        of->snoop.shown_again++;
    else
        again->shown = &of->snoop.shown.line[show(cache, of, again->line)];
    of->counts.write++;
    of->counts.snoop_hit_same += is_in_l2(&of->l2, again);
    write_again(cache, again, start);
    count_stall(&of->counts.stall_store, now, start);
    return (uint32_t)(start - now);
}
