/* Physical addresses: the page frames of a node, and which page of which address space has which.
 *
 * mem.h defines the three forms of an address. This header owns effective -> physical and the way
 * back. A frame is a 4 KiB page of physical memory; frames are numbered from 0. A space is the
 * number of an address space; numbers are small and the lowest free one is taken. A mapping says
 * that a page of a space has a frame. Several pages may have the same frame (shared memory).
 *
 * Invariants:
 *   1. A page has a frame from its first touch (mem_translate) until mem_frames_unmap.
 *   2. A frame without a mapping is free. Frames are given out in the order of first touch, the
 *      frame freed last first, so the same run has the same physical addresses.
 *   3. A page is `alone` when no other page ever had its frame: what caches hold of that frame came
 *      from this page.
 *
 * Users: the caches translate (src/machine/cache); cores and translated code name a space and an
 * effective address and never see a physical one; src/machine/os reads
 * mem_first_touches, the number of page faults that Linux would have taken.
 *
 * A booted kernel keeps this interface. The operating system, not the first touch, then decides
 * which frame a page has: a TLB entry that is written calls mem_frames_map with the frame it names,
 * one that goes calls mem_frames_unmap, and the number of a space stands for a pair of process id
 * and address space bit (mem.h has the host's side).
 */
#ifndef MEM_FRAMES_H
#define MEM_FRAMES_H

#include "machine/mem/mem.h"

/* What one address space maps. */
struct mem_table {
    bool used;
    uint32_t *entry; /* by page: 0 without a frame, else (frame + 1) * 2, + MEM_ALONE */
    uint64_t first_touches;
};
enum { MEM_ALONE = 1 };

struct mem_mapping {
    uint32_t space, page, next; /* next: of the same frame, index into mappings; 0: none */
};

/* Read by its users, changed by the functions below only. Embedded: it has no address of its own to
 * follow. */
struct mem_frames {
    struct mem_table *tables; /* by space */
    size_t table_count, table_capacity;
    uint32_t *first; /* by frame: its newest mapping, index into mappings; 0: the frame is free */
    size_t count, capacity;
    struct mem_mapping *mappings; /* [0] is no mapping */
    size_t mapping_count, mapping_capacity;
    uint32_t free_mapping; /* chained by next */
    uint32_t *free;
    size_t free_count, free_capacity;
    uint64_t first_touches; /* of all spaces, ended ones included; never goes back */
};

/* Zeroed memory is a good mem_frames. */
void mem_frames_fini(struct mem_frames *frames);

unsigned mem_space_new(struct mem_frames *frames);
void mem_space_free(struct mem_frames *frames, unsigned space); /* its pages have no frames */

/* The slow path of mem_translate: the page gets a frame; returns its entry. */
uint32_t mem_first_touch(struct mem_frames *frames, unsigned space, uint32_t page);
/* The page, which has none, gets this frame. */
void mem_frames_map(struct mem_frames *frames, unsigned space, uint32_t page, uint32_t frame);
/* The page, which has one, loses its frame. */
void mem_frames_unmap(struct mem_frames *frames, unsigned space, uint32_t page);
/* The first page from `page` to `last` that has a frame; more than `last`: none has. */
uint32_t mem_frames_next(const struct mem_frames *frames, unsigned space, uint32_t page,
                         uint32_t last);

struct mem_physical {
    uint64_t address;
    bool alone;
};

static inline bool mem_is_touched(const struct mem_frames *frames, unsigned space, uint32_t address)
{
    return frames->tables[space].entry[address >> MEM_PAGE_BITS];
}

/* The address space `mem` is `space` of these frames, from now on or (NULL) no longer. */
static inline void mem_attach(struct mem *mem, struct mem_frames *frames, unsigned space)
{
    mem->frames = frames;
    mem->space = space;
}

/* How many pages of the address space were touched first: page faults, as Linux counts them. */
static inline uint64_t mem_first_touches(const struct mem *mem)
{
    return mem->frames ? mem->frames->tables[mem->space].first_touches : 0;
}

/* Effective -> physical. */
static inline struct mem_physical mem_translate(struct mem_frames *frames, unsigned space,
                                                uint32_t address)
{
    uint32_t entry = frames->tables[space].entry[address >> MEM_PAGE_BITS];
    if (!entry) entry = mem_first_touch(frames, space, address >> MEM_PAGE_BITS);
    return (struct mem_physical){
        (uint64_t)(entry / 2 - 1) << MEM_PAGE_BITS | (address & (MEM_PAGE - 1)), entry & MEM_ALONE};
}

/* Physical -> effective: the pages that have a frame, the newest mapping first.
 *   for (const struct mem_mapping *m = mem_frames_first(f, frame); m; m = mem_frames_after(f, m))
 */
static inline const struct mem_mapping *mem_frames_after(const struct mem_frames *frames,
                                                         const struct mem_mapping *mapping)
{
    return mapping->next ? &frames->mappings[mapping->next] : NULL;
}

static inline const struct mem_mapping *mem_frames_first(const struct mem_frames *frames,
                                                         uint64_t frame)
{
    return frames->first[frame] ? &frames->mappings[frames->first[frame]] : NULL;
}

#endif
