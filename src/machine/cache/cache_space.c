/* Address spaces: which bytes tell the core what is free of cost, and the TLB. Which frame is
 * behind a page: src/machine/mem/mem_frames.h.
 *
 * Decisions: a page of a space is in a core's TLB when the CACHE_PAGE bit of its first line byte is
 * set, so the TLB needs no search; the TLB is one for data and code, tagged with the space,
 * replaced round-robin by the handler (Linux on the 440 does so); losing an entry clears the bytes
 * of its page, or, where the page is larger than L1, those of all lines in L1.
 */
#include "machine/cache/cache_space_access.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

/* `bytes` of zeros, of which the first `written` may be written to: a host that promises no more
 * memory than it has counts these only. (qemu-user refuses an mprotect of 0 bytes.) */
static void *reserve_part(size_t bytes, size_t written)
{
    void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || (written && mprotect(at, written, PROT_READ | PROT_WRITE) != 0))
        return base_calloc(SIZE_MAX, 1); /* out of memory ends there, in one place */
    return at;
}

/* Reserved memory, larger; what is new is 0. */
static void *regrow(void *at, size_t old, size_t bytes)
{
    if (!at) return base_reserve(bytes);
    at = mremap(at, old, bytes, MREMAP_MAYMOVE);
    return at == MAP_FAILED ? base_calloc(SIZE_MAX, 1) : at;
}

/* Bytes of a table with an entry for each line of `frames`, and some for the lines next to them. */
enum { NEXT_TO = 2, FIRST_FRAMES = 4096 };

static size_t table_bytes(size_t frames, unsigned shift, size_t entry)
{
    return frames ? ((frames << FRAME_BITS >> shift) + 2 * NEXT_TO) * entry : 0;
}

/* Tables by line of L2s and L3 grow for more frames. */
static void grow_tables(struct cache *cache, size_t frames)
{
    size_t before = cache->table_frames;
    unsigned l2 = cache->shape.l2_shift, l3 = cache->shape.l3_shift;
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct l2_entry **table = &cache->core[i]->l2.entry;
        *table = (struct l2_entry *)regrow(*table ? *table - NEXT_TO : NULL,
                                           table_bytes(before, l2, sizeof **table),
                                           table_bytes(frames, l2, sizeof **table)) +
                 NEXT_TO;
    }
    cache->l3_line = regrow(cache->l3_line, table_bytes(before, l3, sizeof *cache->l3_line),
                            table_bytes(frames, l3, sizeof *cache->l3_line));
    cache->ordered =
        regrow(cache->ordered, before * sizeof *cache->ordered, frames * sizeof *cache->ordered);
    cache->table_frames = frames;
}

static void free_tables(struct cache *cache)
{
    size_t frames = cache->table_frames;
    if (!frames) return;
    for (unsigned i = 0; i < cache->config.cores; i++)
        munmap(cache->core[i]->l2.entry - NEXT_TO,
               table_bytes(frames, cache->shape.l2_shift, sizeof *cache->core[i]->l2.entry));
    munmap(cache->l3_line, table_bytes(frames, cache->shape.l3_shift, sizeof *cache->l3_line));
    munmap(cache->ordered, frames * sizeof *cache->ordered);
}

/* As with CACHE_TABLE, 15 times as many follow. */
static const size_t pages_bytes = MEM_PAGES * sizeof(uint32_t), pages_table = 16 * pages_bytes;

void spaces_init(struct cache *cache)
{
    cache->no_pages = reserve_part(pages_table, 0);
}

unsigned cache_space_new(struct cache *cache)
{
    unsigned space = mem_space_new(&cache->frames);
    if (space == cache->space_count) {
        cache->spaces = base_grow(cache->spaces, &cache->space_capacity, cache->space_count + 1,
                                  sizeof *cache->spaces);
        cache->space_count++;
    }
    cache->spaces[space] = (struct space){0};
    return space;
}

struct mem_frames *cache_frames(struct cache *cache)
{
    return &cache->frames;
}

static bool is_space(const struct cache *cache, unsigned space)
{
    return space < cache->space_count && cache->frames.tables[space].used;
}

struct cache_view *space_view_new(struct cache *cache, unsigned core, unsigned space)
{
    assert(core < cache->config.cores && is_space(cache, space));
    struct cache_view *view = base_calloc(1, sizeof *view);
    *view = (struct cache_view){cache, cache->core[core], space,
                                reserve_part(CACHE_TABLE, CACHE_GRANULES),
                                reserve_part(pages_table, pages_bytes)};
    return cache->spaces[space].view[core] = view;
}

struct cache_view *cache_view(struct cache *cache, unsigned core, unsigned space)
{
    return space_view(cache, core, space);
}

struct cache_fast *cache_fast(struct cache_view *view)
{
    return &view->core->fast;
}

const uint8_t *cache_lines(struct cache *cache, unsigned core, unsigned space)
{
    return space_lines(cache, core, space);
}

/* The page loses its fast-path rights. */
static void fast_forget_page(struct cache *cache, unsigned space, uint32_t page)
{
    for (unsigned core = 0; core < cache->config.cores; core++) {
        const struct cache_view *view = cache->spaces[space].view[core];
        if (view && view->pages[page]) view->pages[page] = 0;
    }
}

/* --- Frames ---------------------------------------------------------------------------------- */

void space_touch(struct cache *cache, unsigned space, uint32_t page)
{
    (void)mem_first_touch(&cache->frames, space, page);
    if (cache->frames.count > cache->table_frames)
        grow_tables(cache, cache->table_frames ? 2 * cache->table_frames : FIRST_FRAMES);
    if (cache->any_contended) order_forget(cache, cache->frames.tables[space].entry[page] / 2 - 1);
}

/* The page's bytes no longer stand for its open lines. */
static void leave_open(struct cache_core *core, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < CACHE_OPEN_LINES; i++) {
        uint8_t **at = &core->open[i].at;
        if (*at < bytes || *at >= bytes + (FRAME >> CACHE_GRANULE_BITS)) continue;
        **at &= (uint8_t)~CACHE_OPEN; /* the byte will be another line's */
        *at = NULL;
    }
}

/* The page's bytes no longer stand for its lines in L1D. */
static void leave_page(struct cache *cache, unsigned space, uint32_t page, uint32_t frame)
{
    for (unsigned core = 0; core < cache->config.cores; core++) {
        const struct l1 *l1 = &cache->core[core]->data;
        const struct cache_view *view = cache->spaces[space].view[core];
        if (!view) continue;
        uint8_t *bytes = view->lines + ((size_t)page << (FRAME_BITS - CACHE_GRANULE_BITS));
        leave_open(cache->core[core], bytes);
        for (uint32_t i = 0; i < FRAME >> CACHE_GRANULE_BITS; i += l1->granules) {
            if (!(bytes[i] & CACHE_IN_L1D)) continue;
            uint32_t line =
                (uint32_t)(((uint64_t)frame << FRAME_BITS | i << CACHE_GRANULE_BITS) >> l1->shift);
            int way = tags_find(&l1->tags, &l1->tags.ways, line & l1->tags.set_mask, line);
            if (way >= 0) l1->at[way] = NULL;
            for (uint32_t k = 0; k < l1->granules; k++)
                bytes[i + k] &= (uint8_t)~CACHE_IN_L1D;
        }
    }
}

static void unmap(struct cache *cache, unsigned space, uint32_t page)
{
    leave_page(cache, space, page, cache->frames.tables[space].entry[page] / 2 - 1);
    fast_forget_page(cache, space, page);
    mem_frames_unmap(&cache->frames, space, page);
}

/* --- Line bytes ------------------------------------------------------------------------------ */

static void clear_bytes(uint8_t *bytes, size_t count, uint8_t bits)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] & bits) bytes[i] &= (uint8_t)~bits; /* no write to untouched host pages */
}

void space_clear(struct cache *cache, unsigned core, uint64_t physical, uint32_t length,
                 uint8_t bits)
{
    uint32_t offset = (uint32_t)(physical & (FRAME - 1)) >> CACHE_GRANULE_BITS;
    for (const struct mem_mapping *mapping =
             mem_frames_first(&cache->frames, physical >> FRAME_BITS);
         mapping; mapping = mem_frames_after(&cache->frames, mapping)) {
        const struct cache_view *view = cache->spaces[mapping->space].view[core];
        if (!view) continue;
        uint32_t first = mapping->page << (FRAME_BITS - CACHE_GRANULE_BITS) | offset;
        clear_bytes(view->lines + first, length >> CACHE_GRANULE_BITS, bits);
    }
}

void space_contend(struct cache *cache, uint64_t physical, uint32_t length)
{
    uint32_t offset = (uint32_t)(physical & (FRAME - 1)) >> CACHE_GRANULE_BITS;
    for (const struct mem_mapping *mapping =
             mem_frames_first(&cache->frames, physical >> FRAME_BITS);
         mapping; mapping = mem_frames_after(&cache->frames, mapping))
        for (unsigned core = 0; core < cache->config.cores; core++) {
            const struct cache_view *view = cache->spaces[mapping->space].view[core];
            if (!view) continue;
            uint8_t *bytes =
                view->lines + (mapping->page << (FRAME_BITS - CACHE_GRANULE_BITS) | offset);
            for (uint32_t i = 0; i < length >> CACHE_GRANULE_BITS; i++)
                bytes[i] = (uint8_t)((bytes[i] & ~(CACHE_LOAD | CACHE_STORE)) | CACHE_CONTENDED);
        }
}

/* --- TLB ------------------------------------------------------------------------------------- */

enum { CLEAR_AT_ONCE = 64 << 10 };

enum { ACCESS_BITS = CACHE_LOAD | CACHE_STORE | CACHE_FETCH };

struct page_bytes {
    const uint8_t *first;
    size_t count;
};

/* Clears all bits of the bytes that map a line, if they are the page's, or if all mappings must be
 * searched. */
static void clear_line(struct cache *cache, unsigned core, const struct l1 *l1, uint32_t line,
                       uint8_t *at, struct page_bytes page)
{
    if (line == NO_LINE) return;
    if (!at)
        space_clear(cache, core, (uint64_t)line << l1->shift, 1U << l1->shift, ACCESS_BITS);
    else if (at >= page.first && at < page.first + page.count)
        clear_bytes(at, l1->granules, ACCESS_BITS);
}

static void clear_l1(struct cache *cache, unsigned core, const struct l1 *l1,
                     struct page_bytes page)
{
    uint32_t size = (l1->tags.set_mask + 1) * l1->tags.ways.stride;
    for (uint32_t i = 0; i < size; i++)
        clear_line(cache, core, l1, l1->tags.line[i], l1->at[i], page);
}

/* All bytes of a page lose all bits but BITS_OF_LINE. A page that is too large for
 * that has no bits but for lines in L1 and the open ones. */
static void clear_page(struct cache *cache, unsigned core, unsigned space, uint32_t page)
{
    uint8_t *first =
        space_page(&cache->shape, space_lines(cache, core, space), page << cache->shape.page_shift);
    struct page_bytes bytes = {first, cache->config.page >> CACHE_GRANULE_BITS};
    if (cache->fast_geometry) {
        page_leave(space_view(cache, core, space), page);
        return;
    }
    if (cache->config.page <= CLEAR_AT_ONCE) {
        typedef uint64_t eight __attribute__((may_alias));
        for (size_t i = 0; i < bytes.count / sizeof(eight);
             i++) /* a page has at least 32 bytes of them */
            ((eight *)first)[i] &= BITS_OF_LINE * UINT64_C(0x0101010101010101);
        return;
    }
    struct cache_core *this_core = cache->core[core];
    *first &= (uint8_t)~CACHE_PAGE;
    clear_l1(cache, core, &this_core->data, bytes);
    clear_l1(cache, core, &this_core->code, bytes);
    for (uint32_t i = 0; i < cache->config.store_lines; i++)
        clear_line(cache, core, &this_core->data, this_core->open[i].line, this_core->open[i].at,
                   bytes);
}

void space_tlb_fill(struct cache *cache, unsigned core, unsigned space, uint32_t address)
{
    struct tlb_entry *entry = take_tlb_entry(cache, cache->core[core]);
    if (entry->space != UINT32_MAX) clear_page(cache, core, entry->space, entry->page);
    *entry = (struct tlb_entry){space, address >> cache->shape.page_shift};
    if (cache->fast_geometry)
        page_enter(space_view(cache, core, space), address >> FRAME_BITS);
    else
        *space_page(&cache->shape, space_lines(cache, core, space), address) |= CACHE_PAGE;
}

static void drop_tlb(struct cache *cache, unsigned space, uint64_t first, uint64_t last)
{
    for (unsigned core = 0; core < cache->config.cores; core++)
        for (uint32_t i = 0; i < cache->config.tlb_entries; i++) {
            struct tlb_entry *entry = &cache->core[core]->tlb[i];
            if (entry->space != space || entry->page < first || entry->page > last) continue;
            clear_page(cache, core, space, entry->page);
            entry->space = UINT32_MAX;
        }
}

/* Accesses to these addresses are calls again. */
static void recheck_bytes(struct cache *cache, unsigned space, uint32_t address, uint64_t length)
{
    uint64_t end = (address + length + (1 << CACHE_GRANULE_BITS) - 1) >> CACHE_GRANULE_BITS;
    for (unsigned core = 0; core < cache->config.cores; core++) {
        const struct cache_view *view = cache->spaces[space].view[core];
        uint32_t first = address >> CACHE_GRANULE_BITS;
        if (view) clear_bytes(view->lines + first, end - first, ACCESS_BITS);
    }
}

/* --- Ranges ---------------------------------------------------------------------------------- */

/* Pages lose the rights that the model `none` gave them. */
static void forbid(struct cache *cache, unsigned space, uint32_t address, uint64_t last)
{
    uint32_t end = (uint32_t)(last >> FRAME_BITS);
    if (address) recheck_bytes(cache, space, address - 1, 1);
    for (uint32_t page = address >> FRAME_BITS;
         (page = mem_frames_next(&cache->frames, space, page, end)) <= end; page++)
        recheck_bytes(cache, space, page << FRAME_BITS, FRAME);
}

void cache_forget(struct cache *cache, unsigned space, uint32_t address, uint64_t length)
{
    assert(is_space(cache, space));
    if (!length) return;
    uint64_t last = (address + length - 1) | (FRAME - 1);
    if (last > UINT32_MAX) last = UINT32_MAX;
    address &= ~(uint32_t)(FRAME - 1);
    if (memory_is_free(cache)) forbid(cache, space, address, last);
    drop_tlb(cache, space, address >> cache->shape.page_shift, last >> cache->shape.page_shift);
    uint32_t end = (uint32_t)(last >> FRAME_BITS);
    for (uint32_t page = address >> FRAME_BITS;
         (page = mem_frames_next(&cache->frames, space, page, end)) <= end; page++)
        unmap(cache, space, page);
}

void cache_share(struct cache *cache, unsigned space, uint32_t address, unsigned from,
                 uint32_t from_address, uint64_t length)
{
    assert(address % FRAME == 0 && from_address % FRAME == 0 && length % FRAME == 0);
    cache_forget(cache, space, address, length);
    for (uint32_t i = 0; i < length >> FRAME_BITS; i++) {
        uint64_t physical = space_translate(cache, from, from_address + (i << FRAME_BITS)).address;
        fast_forget_page(cache, from, (from_address >> FRAME_BITS) + i);
        mem_frames_map(&cache->frames, space, (address >> FRAME_BITS) + i,
                       (uint32_t)(physical >> FRAME_BITS));
    }
}

static void drop_space(struct space *space)
{
    for (unsigned core = 0; core < CACHE_CORES; core++)
        if (space->view[core]) {
            struct cache_core *this_core = space->view[core]->core;
            if (this_core->fast.view == space->view[core]) {
                this_core->fast.view = NULL;
                fast_set_pages(this_core);
            }
            munmap(space->view[core]->lines, CACHE_TABLE);
            munmap(space->view[core]->pages, pages_table);
            free(space->view[core]);
        }
    *space = (struct space){0};
}

/* Drops the shortcut from lines to bytes: those of a space that ends may be among them. */
static void forget_bytes(struct cache_core *core)
{
    struct l1 *l1[] = {&core->data, &core->code};
    for (unsigned i = 0; i < 2; i++)
        memset(l1[i]->at, 0,
               (size_t)(l1[i]->tags.set_mask + 1) * l1[i]->tags.ways.stride * sizeof *l1[i]->at);
    for (uint32_t i = 0; i < CACHE_OPEN_LINES; i++)
        core->open[i].at = NULL;
}

void cache_space_free(struct cache *cache, unsigned space)
{
    cache_forget(cache, space, 0, UINT64_C(1) << 32);
    for (unsigned core = 0; core < cache->config.cores; core++)
        forget_bytes(cache->core[core]);
    drop_space(&cache->spaces[space]);
    mem_space_free(&cache->frames, space);
}

void spaces_fini(struct cache *cache)
{
    for (size_t i = 0; i < cache->space_count; i++)
        drop_space(&cache->spaces[i]);
    free(cache->spaces);
    munmap(cache->no_pages, pages_table);
    free_tables(cache);
    mem_frames_fini(&cache->frames);
}

void cache_recheck(struct cache *cache, unsigned space, uint32_t address, uint64_t length)
{
    for (uint64_t page = address >> FRAME_BITS;
         length && page <= (address + length - 1) >> FRAME_BITS; page++)
        fast_forget_page(cache, space, (uint32_t)page);
    uint32_t before = memory_is_free(cache) && address; /* an access from there may end here */
    recheck_bytes(cache, space, address - before, length + before);
}
