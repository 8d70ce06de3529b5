/* The memory hierarchy again, as literally as possible, to compare src/machine/cache with.
 *
 * It has no line bytes, no vectors, no derived counts: every access is a call, every lookup a walk
 * over all ways, every signal is raised where its event happens, and durations are kept as
 * intervals and added up when they are read. What is decided and why is in docs/model-memory.md;
 * here is only what happens.
 */
#ifndef TEST_CACHE_LITERAL_H
#define TEST_CACHE_LITERAL_H

#include "machine/cache/cache.h"

struct literal;

struct literal *literal_new(const struct cache_config *config);
void literal_free(struct literal *lit);
unsigned literal_space_new(struct literal *lit);
void literal_space_free(struct literal *lit, unsigned space);
void literal_forget(struct literal *lit, unsigned space, uint32_t address, uint64_t length);
void literal_share(struct literal *lit, unsigned space, uint32_t address, unsigned from,
                   uint32_t from_address, uint64_t length);
uint32_t literal_load(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                      uint32_t size, uint64_t now);
uint32_t literal_store(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                       uint32_t size, uint64_t now);
uint32_t literal_fetch(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                       uint64_t now);
uint32_t literal_manage(struct literal *lit, enum cache_op op, unsigned core, unsigned space,
                        uint32_t address, uint64_t now);
uint32_t literal_sync(struct literal *lit, unsigned core, uint64_t now);
uint32_t literal_device(struct literal *lit, unsigned core, bool store, uint64_t now);

/* Which of CACHE_LOAD, CACHE_STORE and CACHE_FETCH would be free and change nothing. */
unsigned literal_allows(const struct literal *lit, unsigned core, unsigned space, uint32_t address);
void literal_count(struct literal *lit, struct cache_signal signal, uint64_t *occurrences,
                   uint64_t *high);

/* The first signal that the two count differently: its name, and occurrences or cycles of both.
 * False: all are. */
struct literal_difference {
    char name[CACHE_NAME];
    uint64_t fast, literal;
};
bool literal_differs(struct literal *lit, const struct cache *fast,
                     struct literal_difference *difference);

#endif
