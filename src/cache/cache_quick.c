/* Misses and stores of the common kind, on a node with Blue Gene's sizes.
 *
 * Common is: the page is in the TLB and alone has its frame, so that the line's byte tells whether L1D has it; nothing
 * else is being filled; the line that goes is clean and known by one byte; and no other core notices. All that is
 * looked at before anything changes; whatever is not so is left to cache_l1.c, which does the same in general. Most
 * calls of most programs end here.
 */
#include "cache/cache_keep.h"

#include "cache/cache_quick.h"

/* A byte of the line at `address` and its number, where the frame is its page's own. */
struct own {
    uint8_t *at;
    const uint8_t *page;
    uint32_t line; /* NO_LINE: it is not */
};

INLINE struct own find_own(const struct cache *cache, unsigned core, unsigned space, uint32_t address)
{
    const struct space *of = &cache->spaces[space];
    uint32_t frame = of->frames[address >> FRAME_BITS];
    uint8_t *lines = of->lines[core];
    uint32_t in_frame = address >> blue_gene.l1d_shift & ((FRAME >> blue_gene.l1d_shift) - 1);
    if (!(frame & FRAME_OWN) || !lines) return (struct own){NULL, NULL, NO_LINE};
    return (struct own){
        .at = lines + (address >> CACHE_GRANULE_BITS),
        .page = lines + (address >> FRAME_BITS << (FRAME_BITS - CACHE_GRANULE_BITS)),
        .line = (frame / 2 - 1) << (FRAME_BITS - blue_gene.l1d_shift) | in_frame,
    };
}

/* --- Loads ---------------------------------------------------------------------------------------------------- */

uint32_t cache_load_quick(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    struct l1 *l1 = &of->data;
    struct own own = find_own(cache, core, space, address);
    if (!cache->quick_loads || cache->listener || own.line == NO_LINE || *own.at & CACHE_HERE ||
        !(*own.page & CACHE_PAGE))
        return CACHE_ELSE;
    uint32_t set = own.line & l1->tags.set_mask, next = l1->tags.next[set], way = set * blue_gene.l1d.stride + next;
    uint8_t *old_at = l1->at[way];
    if (!old_at || l1->dirty[way] || of->fills_until > now || cache->joining & of->others || cache->idle & of->bit)
        return CACHE_ELSE;
    if (cache->config.snoop_filter) {
        struct stream_set *active = &of->snoop.active;
        uint32_t *set_fills = &of->snoop.set_fills[set];
        if (*set_fills + 1 == blue_gene.l1d.count || active->logged + 1 == SNOOP_LOG) return CACHE_ELSE;
        *set_fills += 1;
        active->log[active->logged++] = own.line;
    }
    uint64_t end = l2_read(cache, &blue_gene, of, own.line >> (blue_gene.l2_shift - blue_gene.l1d_shift), true, now);
    count_calm(of, now, end);
    l1->tags.next[set] = (uint16_t)(next + 1 == blue_gene.l1d.count ? 0 : next + 1);
    l1->tags.line[way] = own.line;
    l1->at[way] = own.at;
    *old_at &= (uint8_t)~cache->line_bits;
    *own.at |= CACHE_LOAD | CACHE_HERE;
    return (uint32_t)(end - now);
}

/* --- Stores --------------------------------------------------------------------------------------------------- */

/* Whether no other core can notice a store: none has filled a line or has a store that others join. */
INLINE bool is_alone(const struct cache *cache, const struct cache_core *of)
{
    return !(of->others & (~cache->idle | cache->l2_users | cache->joining));
}

INLINE bool is_open(const struct cache *cache, const struct cache_core *of, uint32_t line)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++)
        if (of->open[i].line == line) return true;
    return false;
}

/* Shows a store to the idle cores. */
INLINE void show(const struct cache *cache, struct cache_core *of, uint32_t line)
{
    struct absent *shown = &of->snoop.shown;
    of->counts.snoop_sent++;
    for (uint32_t i = 0; i < blue_gene.absent_stride; i++)
        if (shown->line[i] == line) {
            of->snoop.shown_again++;
            return;
        }
    snoop_add(cache, shown, line);
}

uint32_t cache_store_quick(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    struct own own = find_own(cache, core, space, address);
    struct open_line *open = &of->open[of->next_open];
    if (!cache->quick_stores || own.line == NO_LINE || !is_alone(cache, of) || is_open(cache, of, own.line))
        return CACHE_ELSE;
    bool here = *own.at & CACHE_LOAD;
    if (!here && (*own.at & CACHE_HERE || !(*own.page & CACHE_PAGE) || cache->listener)) return CACHE_ELSE;
    if (!open->at && open->line != NO_LINE) return CACHE_ELSE;
    uint64_t start = take_store_entry(cache, of, now);
    if (open->at) *open->at &= (uint8_t)~CACHE_STORE;
    *open = (struct open_line){own.line, own.at};
    *own.at |= CACHE_STORE;
    of->next_open = of->next_open + 1 == cache->config.store_lines ? 0 : of->next_open + 1;
    cache->joining |= of->bit;
    of->counts.store_miss += !here;
    show(cache, of, own.line);
    uint32_t l2_line = own.line >> (blue_gene.l2_shift - blue_gene.l1d_shift);
    of->counts.write++;
    of->counts.snoop_hit_same += l2_find(&of->l2, l2_line) != 0;
    l3_write(cache, &blue_gene, of, l2_line, start);
    count_stall(&of->counts.stall_store, now, start);
    return (uint32_t)(start - now);
}
