/* Address spaces: inline code of an access. */
#ifndef CACHE_SPACE_ACCESS_H
#define CACHE_SPACE_ACCESS_H

#include "machine/cache/cache_fast_access.h"

INLINE struct cache_view *space_view(struct cache *cache, unsigned core, unsigned space)
{
    struct cache_view *view = cache->spaces[space].view[core];
    return view ? view : space_view_new(cache, core, space);
}

INLINE uint8_t *space_lines(struct cache *cache, unsigned core, unsigned space)
{
    return space_view(cache, core, space)->lines;
}

INLINE struct mem_physical space_translate(struct cache *cache, unsigned space, uint32_t address)
{
    if (UNLIKELY(!mem_is_touched(&cache->frames, space, address)))
        space_touch(cache, space, address >> FRAME_BITS);
    return mem_translate(&cache->frames, space, address);
}

/* The entry of the TLB to be replaced. */
INLINE struct tlb_entry *take_tlb_entry(const struct cache *cache, struct cache_core *core)
{
    struct tlb_entry *entry = &core->tlb[core->next_tlb];
    core->next_tlb = core->next_tlb + 1 == cache->config.tlb_entries ? 0 : core->next_tlb + 1;
    return entry;
}

/* What a byte keeps whatever the TLB has. */
enum { BITS_OF_LINE = CACHE_IN_L1D | CACHE_CONTENDED | CACHE_OPEN };

/* With Blue Gene's sizes: a page leaves the TLB, and its bytes lose all bits but BITS_OF_LINE; it
 * enters.
 */
INLINE void page_leave(struct cache_view *view, uint32_t page)
{
    typedef uint64_t eight __attribute__((may_alias));
    eight *bytes = (eight *)(view->lines + (size_t)page * FRAME_LINES);
    uint32_t was = view->pages[page];
    UNROLL
    for (size_t i = 0; i < FRAME_LINES / sizeof *bytes; i++)
        bytes[i] &= BITS_OF_LINE * UINT64_C(0x0101010101010101);
    view->pages[page] = (was & ~(FRAME_LINES - 1U)) |
                        (was & FAST_LOAD_CHECKED ? EVICTED_LOAD : 0U) |
                        (was & FAST_STORE ? EVICTED_STORE : 0U);
}

INLINE void page_enter(struct cache_view *view, uint32_t page)
{
    uint32_t was = view->pages[page];
    view->lines[(size_t)page * FRAME_LINES] |= CACHE_PAGE;
    if (was)
        view->pages[page] = (was & ~(FRAME_LINES - 1U)) |
                            (was & EVICTED_LOAD ? fast_load_right(view) : 0U) |
                            (was & EVICTED_STORE ? FAST_STORE | FAST_STORE_LISTENED : 0U);
}

/* The first line byte of a page. */
INLINE uint8_t *space_page(const struct shape *shape, uint8_t *lines, uint32_t address)
{
    return lines +
           ((uint64_t)(address >> shape->page_shift) << (shape->page_shift - CACHE_GRANULE_BITS));
}

#endif
