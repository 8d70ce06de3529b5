/* Blocks of a process's heap. Free memory has no site.
 *
 * Blocks are in a hash table by their address, so that one can be taken out; and painted into
 * pages, whole ones or word by word, so that an address is looked up with two loads. A block ends
 * at a multiple of four: allocators give no less.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/mem/mem.h"
#include "measure/observe/observe_names.h"

enum { PAGE_WORDS = MEM_PAGE / 4, FIRST_PLACES = 1024 };

struct block {
    uint32_t address, size, site; /* site 0: an empty place */
};

struct observe_heap {
    uint32_t *words[MEM_PAGES]; /* sites by page and word; NULL: */
    uint32_t whole[MEM_PAGES];  /* the page has one */
    struct block *blocks;
    size_t places, count; /* places: a power of two */
};

struct observe_heap *observe_heap_new(void)
{
    struct observe_heap *heap = base_calloc(1, sizeof *heap);
    heap->places = FIRST_PLACES;
    heap->blocks = base_calloc(heap->places, sizeof *heap->blocks);
    return heap;
}

struct observe_heap *observe_heap_copy(const struct observe_heap *heap)
{
    struct observe_heap *copy = base_calloc(1, sizeof *copy);
    *copy = *heap;
    copy->blocks = base_calloc(copy->places, sizeof *copy->blocks);
    memcpy(copy->blocks, heap->blocks, copy->places * sizeof *copy->blocks);
    for (size_t i = 0; i < MEM_PAGES; i++) {
        if (!heap->words[i]) continue;
        copy->words[i] = base_calloc(PAGE_WORDS, sizeof *copy->words[i]);
        memcpy(copy->words[i], heap->words[i], PAGE_WORDS * sizeof *copy->words[i]);
    }
    return copy;
}

void observe_heap_free(struct observe_heap *heap)
{
    if (!heap) return;
    for (size_t i = 0; i < MEM_PAGES; i++)
        free(heap->words[i]);
    free(heap->blocks);
    free(heap);
}

/* --- Words ----------------------------------------------------------------------------------- */

static void paint_words(struct observe_heap *heap, uint32_t page, uint32_t first, uint32_t last,
                        uint32_t from, uint32_t to)
{
    uint32_t *words = heap->words[page];
    if (!words) {
        words = heap->words[page] = base_calloc(PAGE_WORDS, sizeof *words);
        for (uint32_t i = 0; heap->whole[page] && i < PAGE_WORDS; i++)
            words[i] = heap->whole[page];
    }
    for (uint32_t i = first; i <= last; i++)
        if (!from || words[i] == from) words[i] = to;
}

/* Words of a block that are `from` become `to`; if that is 0, all do. */
static void paint(struct observe_heap *heap, const struct block *block, uint32_t from, uint32_t to)
{
    if (!block->size) return;
    uint32_t first = block->address, last = first + (block->size - 1);
    if (last < first) last = UINT32_MAX;
    for (uint32_t page = first / MEM_PAGE; page <= last / MEM_PAGE; page++) {
        uint32_t begin = page == first / MEM_PAGE ? first % MEM_PAGE / 4 : 0;
        uint32_t end = page == last / MEM_PAGE ? last % MEM_PAGE / 4 : PAGE_WORDS - 1;
        bool all = begin == 0 && end == PAGE_WORDS - 1;
        if (all && heap->words[page] && !from) {
            free(heap->words[page]);
            heap->words[page] = NULL;
        }
        if (!all || heap->words[page])
            paint_words(heap, page, begin, end, from, to);
        else if (!from || heap->whole[page] == from)
            heap->whole[page] = to;
    }
}

uint32_t observe_heap_look_up(const struct observe_heap *heap, uint32_t address)
{
    const uint32_t *words = heap->words[address / MEM_PAGE];
    return words ? words[address % MEM_PAGE / 4] : heap->whole[address / MEM_PAGE];
}

/* --- Blocks ---------------------------------------------------------------------------------- */

static size_t place_of(const struct observe_heap *heap, uint32_t address)
{
    return (address >> 3) * UINT32_C(0x9E3779B1) & (heap->places - 1);
}

static struct block *find(const struct observe_heap *heap, uint32_t address)
{
    size_t at = place_of(heap, address);
    while (heap->blocks[at].site && heap->blocks[at].address != address)
        at = (at + 1) & (heap->places - 1);
    return &heap->blocks[at];
}

static void grow(struct observe_heap *heap)
{
    struct block *old = heap->blocks;
    size_t places = heap->places;
    heap->places *= 2;
    heap->blocks = base_calloc(heap->places, sizeof *heap->blocks);
    for (size_t i = 0; i < places; i++)
        if (old[i].site) *find(heap, old[i].address) = old[i];
    free(old);
}

/* Empties a place; those behind it that it kept from theirs move up. */
static void take_out(struct observe_heap *heap, struct block *block)
{
    size_t mask = heap->places - 1, hole = (size_t)(block - heap->blocks);
    for (size_t at = (hole + 1) & mask; heap->blocks[at].site; at = (at + 1) & mask) {
        size_t wanted = place_of(heap, heap->blocks[at].address);
        if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
        heap->blocks[hole] = heap->blocks[at];
        hole = at;
    }
    heap->blocks[hole] = (struct block){0};
    heap->count--;
}

void observe_heap_remove(struct observe_heap *heap, uint32_t address)
{
    struct block *block = find(heap, address);
    if (!block->site) return;
    paint(heap, block, block->site, 0);
    take_out(heap, block);
}

void observe_heap_add(struct observe_heap *heap, uint32_t address, uint32_t size, uint32_t site)
{
    observe_heap_remove(heap, address);
    if (2 * ++heap->count > heap->places) grow(heap);
    struct block *block = find(heap, address);
    *block = (struct block){address, size, site};
    paint(heap, block, 0, site);
}
