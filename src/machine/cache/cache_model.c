/* Less than the whole hierarchy (memory.model).
 *
 * none: every access is free. The first load, store or fetch of a page gives all its line bytes the
 * bit, so the next is no call. There are no TLB entries, lines, misses or stalls; only frames of
 * pages are given out, as other parts of the simulator translate addresses.
 *   The last byte of a page has a bit only if the next page has it, too. So in this model a set bit
 * also allows accesses that begin in those 32 bytes and end behind them, and translated code need
 * not test alignment.
 *
 * l1: L1, TLB and coherence are as with the whole hierarchy, by the same code. A miss finds its
 * line in L2 at once and a store its place in the queue (l2_read, l2_write, model_drain); nothing
 * that is simulated takes time. */
#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_space_access.h"

enum { PAGES = 1 << (32 - FRAME_BITS), LAST = FRAME_LINES - 1 };

static void allow(const struct cache_view *view, uint32_t page, uint8_t bit)
{
    typedef uint64_t eight __attribute__((may_alias));
    uint8_t *bytes = view->lines + (size_t)page * FRAME_LINES, last = bytes[LAST];
    for (uint32_t i = 0; i < FRAME_LINES / sizeof(eight); i++)
        ((eight *)bytes)[i] |= bit * UINT64_C(0x0101010101010101);
    bytes[LAST] = last | (page + 1 < PAGES ? bytes[FRAME_LINES] & bit : 0);
    if (page) bytes[-1] |= bit & bytes[-FRAME_LINES];
}

uint32_t model_allow(struct cache *cache, struct cache_core *core, unsigned space, uint32_t address,
                     uint32_t size, uint8_t bit)
{
    const struct cache_view *view = space_view(cache, core->number, space);
    for (uint32_t page = address >> FRAME_BITS; page <= (address + size - 1) >> FRAME_BITS;
         page++) {
        core->counts.page_fault += !mem_is_touched(&cache->frames, space, page << FRAME_BITS);
        (void)space_translate(cache, space, page << FRAME_BITS);
        allow(view, page, bit);
    }
    return 0;
}

void model_init(struct cache *cache)
{
    if (cache->config.model == CACHE_MODEL_FULL) return;
    cache->config.tlb_miss = 0;
    cache->store_time = 0;
    cache->l2_latency = cache->l3_latency = cache->ddr_latency = 0;
    cache->l2_stall = cache->l3_stall = 0;
    if (cache->config.model == CACHE_MODEL_L1) return;
    cache->fast_loads = cache->fast_stores = false;
    for (unsigned i = 0; i < cache->config.cores; i++)
        cache->core[i]->fast_disabled = true; /* so accesses come to model_allow */
}

bool cache_is_free(const struct cache *cache)
{
    return memory_is_free(cache);
}
