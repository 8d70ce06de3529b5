/* Coherence in the order of time. What is decided: cache_order.c. */
#ifndef CACHE_ORDER_H
#define CACHE_ORDER_H

#include "machine/cache/cache_geometry.h"

#include <stdbool.h>
#include <stdint.h>

struct cache;
struct cache_core;

/* The contended lines of a frame: a bit each, and when a core last took one from another. */
enum { ORDER_WORDS = 2 };
struct order_frame {
    uint64_t lines[ORDER_WORDS], taken;
};

/* A core has taken an L1D line from another, or ended the joining of its stores. */
void order_mark(struct cache *cache, uint32_t line);
/* Whether the line is contended at `now`; whether any of its frame is. */
bool order_is_contended(struct cache *cache, uint32_t line, uint64_t now);
bool order_has_contended(const struct cache *cache, uint32_t line);
/* Sets CACHE_CONTENDED in the bytes of the page that is the only mapping of the line's frame. */
void order_show(const struct cache *cache, uint8_t *bytes, uint32_t line);
/* Whether the access must wait, which `now` is too late for unless it touches no other core. */
bool order_waits(struct cache *cache, const struct cache_core *core, unsigned space,
                 uint32_t address, uint32_t size, bool store, uint64_t now);
/* A frame has a new page. */
void order_forget(struct cache *cache, uint64_t frame);

#endif
