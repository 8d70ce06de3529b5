/* Address spaces: what one core has of a space (line bytes, pages), the TLB. What is decided:
 * cache_space.c. Frames: src/machine/mem/mem_frames.h. The path of an access: cache_space_access.h.
 */
#ifndef CACHE_SPACE_H
#define CACHE_SPACE_H

#include "machine/cache/cache.h"
#include "machine/cache/cache_geometry.h"

struct cache;
struct cache_core;

struct tlb_entry {
    uint32_t space, page; /* space UINT32_MAX: empty */
};

struct cache_view {
    struct cache *cache;
    struct cache_core *core;
    uint32_t space;
    uint8_t *lines; /* line bytes */
    /* By page, 0 unless it is the only mapping of its frame: fast-path rights, + the number of its
     * first L1D line less that of its first byte in `lines`. Blue Gene's sizes only. */
    uint32_t *pages;
};

/* Lines of a page that is alone (mem_frames.h) have CACHE_IN_L1D while they are in L1D. */
struct space {
    struct cache_view *view[CACHE_CORES]; /* NULL: not looked at yet */
};

struct cache_view *space_view_new(struct cache *cache, unsigned core, unsigned space);
/* The first touch of a page: it gets a frame, and tables by frame get room for it. */
void space_touch(struct cache *cache, unsigned space, uint32_t page);
/* Takes bits from the bytes of a physical line of L1 in all spaces. */
void space_clear(struct cache *cache, unsigned core, uint64_t physical, uint32_t length,
                 uint8_t bits);
/* No byte of a physical line of L1D, in any space, allows a load or store; they are
 * CACHE_CONTENDED. */
void space_contend(struct cache *cache, uint64_t physical, uint32_t length);
/* A page that is not in the TLB comes into it. */
void space_tlb_fill(struct cache *cache, unsigned core, unsigned space, uint32_t address);
void spaces_init(struct cache *cache);
void spaces_fini(struct cache *cache);

#endif
