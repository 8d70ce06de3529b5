/* What cores notice of each other where accesses are of the common kind (cache_fast.c).
 *
 * A store is shown to all other cores. Those that have the line in L1D, or whose own stores join
 * it, lose it: that is not common. For the others' snoop filters it is a count, which is worked out
 * later (cache_snoop.c), and L2 forgets the line.
 *
 * A load ends the joining of other cores' stores to what it brings into L2. Who opens a line in a
 * page takes from all others the right to load there without looking (FAST_LOAD); who looks and
 * finds no open line there has it again. While nobody else could notice, pages are not marked; when
 * somebody can, those of open lines are.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_snoop_access.h"

void quick_pages(struct cache_core *of)
{
    struct cache_fast *fast = &of->fast;
    const uint32_t *pages = fast->view ? fast->view->pages : of->cache->no_pages;
    fast->load_pages = fast->ready & FAST_LOAD ? pages : of->cache->no_pages;
    fast->store_pages = fast->ready & FAST_STORE ? pages : of->cache->no_pages;
}

void quick_open(const struct cache_view *view, uint32_t page)
{
    struct cache *cache = view->cache;
    cache->opening |= view->of->bit;
    view->pages[page] |= PAGE_HAS_OPEN_LINE;
    for (uint32_t others = view->of->others; others; others &= others - 1) {
        const struct cache_view *other = cache->spaces[view->space].view[__builtin_ctz(others)];
        if (other) other->pages[page] &= ~(uint32_t)FAST_LOAD;
    }
}

/* Others begin to notice what a core does: pages with open lines. */
APART static void mark_open(const struct cache *cache, const struct cache_core *of)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++) {
        uint32_t line = of->open[i].line;
        if (line == NO_LINE) continue;
        const struct mem_mapping *mapping = mem_frames_first(&cache->frames, line / FRAME_LINES);
        if (!mapping) continue; /* if there are more than one, nothing is quick there */
        const struct cache_view *view = cache->spaces[mapping->space].view[of->number];
        if (view) quick_open(view, mapping->page);
    }
}

void quick_change(struct cache *cache)
{
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *of = cache->core[i];
        bool loads = !(cache->idle & of->bit);
        /* No other core has filled a line, or has one in L2, or a store that others join. */
        bool stores = !(of->others & (~cache->idle | cache->l2_users | cache->joining));
        bool care = !cache->config.write_through;
        if (stores)
            of->unmarked = true;
        else if (of->unmarked && cache->is_common) {
            mark_open(cache, of);
            of->unmarked = false;
        }
        of->fast.ready = 0;
        if (cache->quick_loads && loads && !of->tired)
            of->fast.ready |= FAST_LOAD_CHECKED | (care ? 0U : FAST_LOAD);
        if (cache->quick_stores && !of->tired) {
            if (stores) of->fast.ready |= FAST_STORE_LISTENED;
            if (!cache->heard) of->fast.ready |= stores ? FAST_STORE : FAST_STORE_SHOWN;
        }
        quick_pages(of);
    }
}

/* As long as others have no open line in the page at all, nobody has to look again. */
bool others_join(const struct cache_view *view, uint32_t page, uint32_t line)
{
    const struct cache *cache = view->cache;
    uint32_t opened = 0;
    for (uint32_t others = cache->opening & view->of->others; others; others &= others - 1) {
        unsigned core = (unsigned)__builtin_ctz(others);
        for (uint32_t i = 0; i < cache->config.store_lines; i++) {
            uint32_t open = cache->core[core]->open[i].line;
            if (open / FRAME_LINES != line / FRAME_LINES) continue;
            if ((open >> L1_TO_L2) - (line >> L1_TO_L2) <= cache->config.l2_depth) return true;
            opened |= 1U << core;
        }
    }
    if (opened) return false;
    for (uint32_t others = cache->opening & view->of->others; others; others &= others - 1) {
        const struct cache_view *other = cache->spaces[view->space].view[__builtin_ctz(others)];
        if (other) other->pages[page] &= ~(uint32_t)PAGE_HAS_OPEN_LINE;
    }
    if (view->pages[page] & FAST_LOAD_CHECKED)
        view->pages[page] |= FAST_LOAD; /* else it is out of the TLB */
    return false;
}

/* As the page alone has its frame, others know the line by the same byte. */
bool others_see(const struct cache_view *view, uint32_t granule, uint32_t line)
{
    struct cache *cache = view->cache;
    struct cache_view *const *views = cache->spaces[view->space].view;
    uint32_t noticing = view->of->others & (~cache->idle | cache->l2_users | cache->joining);
    for (uint32_t others = noticing; others; others &= others - 1) {
        unsigned core = (unsigned)__builtin_ctz(others);
        const struct stream_set *active = &cache->core[core]->snoop.active;
        if (views[core] && views[core]->lines[granule] & (CACHE_HERE | CACHE_OPEN)) return false;
        if (active->log_end > active->log_full) return false;
    }
    for (uint32_t others = noticing; others; others &= others - 1) {
        struct cache_core *other = cache->core[__builtin_ctz(others)];
        struct l2_known *known = &other->l2.known[line >> L1_TO_L2];
        if (!(cache->idle & other->bit)) snoop_note(other, view->of->number, line);
        if (!l2_has(&other->l2, known)) continue; /* who never had a line has none */
        other->counts.snoop_hit_other++;
        known->put = 0;
    }
    return true;
}
