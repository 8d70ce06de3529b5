/* What fast-path accesses do to other cores (cache_fast.c).
 *
 * A store snoops all other cores. If one has the line in L1D or as an open line, the slow path
 * handles it. Otherwise it is logged for their snoop filters (cache_snoop.c) and taken out of their
 * L2.
 *
 * A load ends the joining of other cores' stores to the lines that it brings into L2. A core that
 * opens a line in a page revokes the other cores' FAST_LOAD there; a core that tests and finds no
 * open line in the page gets it back. Pages are marked only while another core could be affected.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_snoop_access.h"

void fast_set_pages(struct cache_core *core)
{
    struct cache_fast *fast = &core->fast;
    const uint32_t *pages = fast->view ? fast->view->pages : core->cache->no_pages;
    fast->load_pages = fast->ready & FAST_LOAD ? pages : core->cache->no_pages;
    fast->store_pages = fast->ready & FAST_STORE ? pages : core->cache->no_pages;
}

void fast_mark_open(const struct cache_view *view, uint32_t page)
{
    struct cache *cache = view->cache;
    cache->has_marked_open |= view->core->bit;
    view->pages[page] |= PAGE_HAS_OPEN_LINE;
    for (uint32_t others = view->core->others; others; others &= others - 1) {
        const struct cache_view *other = cache->spaces[view->space].view[__builtin_ctz(others)];
        if (other) other->pages[page] &= ~(uint32_t)FAST_LOAD;
    }
}

/* Marks the pages with open lines, once other cores can be affected by them. */
NOINLINE static void mark_open(const struct cache *cache, const struct cache_core *core)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++) {
        uint32_t line = core->open[i].line;
        if (line == NO_LINE) continue;
        const struct mem_mapping *mapping = mem_frames_first(&cache->frames, line / FRAME_LINES);
        if (!mapping) continue; /* with several mappings the page has no fast path */
        const struct cache_view *view = cache->spaces[mapping->space].view[core->number];
        if (view) fast_mark_open(view, mapping->page);
    }
}

void fast_update(struct cache *cache)
{
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *core = cache->core[i];
        bool loads = !(cache->idle & core->bit);
        /* no other core has filled a line, has one in L2, or has an open line */
        bool stores = !(core->others & (~cache->idle | cache->l2_users | cache->has_open));
        bool care = !cache->config.write_through;
        if (stores)
            core->open_unmarked = true;
        else if (core->open_unmarked && cache->fast_geometry) {
            mark_open(cache, core);
            core->open_unmarked = false;
        }
        core->fast.ready = 0;
        if (cache->fast_loads && loads && !core->fast_disabled)
            core->fast.ready |= FAST_LOAD_CHECKED | (care ? 0U : FAST_LOAD);
        if (cache->fast_stores && !core->fast_disabled) {
            if (stores) core->fast.ready |= FAST_STORE_LISTENED;
            if (!cache->has_listener) core->fast.ready |= stores ? FAST_STORE : FAST_STORE_SHOWN;
        }
        fast_set_pages(core);
    }
}

/* If no other core has an open line in the page at all, FAST_LOAD returns. */
bool others_join(const struct cache_view *view, uint32_t page, uint32_t line)
{
    const struct cache *cache = view->cache;
    uint32_t opened = 0;
    for (uint32_t others = cache->has_marked_open & view->core->others; others;
         others &= others - 1) {
        unsigned core = (unsigned)__builtin_ctz(others);
        for (uint32_t i = 0; i < cache->config.store_lines; i++) {
            uint32_t open = cache->core[core]->open[i].line;
            if (open / FRAME_LINES != line / FRAME_LINES) continue;
            if ((open >> L1_TO_L2) - (line >> L1_TO_L2) <= cache->config.l2_depth) return true;
            opened |= 1U << core;
        }
    }
    if (opened) return false;
    for (uint32_t others = cache->has_marked_open & view->core->others; others;
         others &= others - 1) {
        const struct cache_view *other = cache->spaces[view->space].view[__builtin_ctz(others)];
        if (other) other->pages[page] &= ~(uint32_t)PAGE_HAS_OPEN_LINE;
    }
    if (view->pages[page] & FAST_LOAD_CHECKED)
        view->pages[page] |= FAST_LOAD; /* else it is out of the TLB */
    return false;
}

/* The page is the only mapping of its frame, so other cores know the line by the same byte. */
bool others_see(const struct cache_view *view, uint32_t granule, uint32_t line)
{
    struct cache *cache = view->cache;
    struct cache_view *const *views = cache->spaces[view->space].view;
    uint32_t noticing = view->core->others & (~cache->idle | cache->l2_users | cache->has_open);
    for (uint32_t others = noticing; others; others &= others - 1) {
        unsigned core = (unsigned)__builtin_ctz(others);
        const struct stream_set *active = &cache->core[core]->snoop.active;
        if (views[core] && views[core]->lines[granule] & (CACHE_IN_L1D | CACHE_OPEN)) return false;
        if (active->log_end > active->log_full) return false;
    }
    for (uint32_t others = noticing; others; others &= others - 1) {
        struct cache_core *other = cache->core[__builtin_ctz(others)];
        struct l2_entry *entry = &other->l2.entry[line >> L1_TO_L2];
        if (!(cache->idle & other->bit)) snoop_log(other, view->core->number, line);
        if (!l2_has(&other->l2, entry)) continue; /* also false for cores that never used L2 */
        other->counts.snoop_hit_other++;
        entry->fifo_number = 0;
    }
    return true;
}
