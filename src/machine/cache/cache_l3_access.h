/* L3: the path of reads and writes that find their line there; the rest is in cache_l3.c. */
#ifndef CACHE_L3_ACCESS_H
#define CACHE_L3_ACCESS_H

#include "machine/cache/cache_l1_access.h"

struct l3_answer {
    uint64_t ready;
    bool from_ddr, found; /* found: in L3 */
};

INLINE struct place place_of(struct cache *cache, const struct shape *shape,
                             struct cache_core *core, uint32_t l2_line)
{
    uint32_t line = l2_line >> (shape->l3_shift - shape->l2_shift);
    return (struct place){
        .bank = cache->bank[line & cache->bank_mask],
        .line = line,
        .directory = line >> cache->bank_shift & 1,
        .port = core->port,
    };
}

/* Of the ports of all banks, those of one kind. */
INLINE size_t port_of_bank(const struct cache *cache, const struct place *at)
{
    return (size_t)at->port * cache->config.l3_banks + (at->line & cache->bank_mask);
}

INLINE void count_wait(struct span_count *count, uint64_t from, uint64_t to)
{
    if (!UNLIKELY(to != from)) return;
    count->count++;
    count->cycles += to - from;
}

/* Marks a way of a set of eight as the most recently used. */
INLINE void lru_use(struct cache *cache, uint32_t l3_way)
{
    uint64_t *lru = &cache->lru[l3_way / (LRU_WAYS << L3_BITS)];
    uint32_t way = l3_way % (LRU_WAYS << L3_BITS);
    *lru = (*lru | cache->lru_row[way]) & cache->lru_column[way];
}

INLINE void l3_use(struct cache *cache, struct bank *bank, const struct ways *ways, uint32_t l3_way)
{
    if (has_lru_matrix(ways))
        lru_use(cache, l3_way);
    else
        tags_use(&bank->tags, ways, (int)(l3_way_index(l3_way) - bank->first));
}

/* Fetches the line from DDR into a way of its set, with `state`; returns its arrival. */
uint64_t l3_allocate(struct cache *cache, struct bank *bank, uint32_t line, uint64_t now,
                     unsigned state);
/* A line is written to DDR. */
void l3_store_ddr(struct cache *cache, uint32_t line, uint64_t now);

/* A prefetched line is used for the first time. Whether that is what its fetch from DDR was for. */
INLINE bool l3_claim(struct cache *cache, uint32_t l2_line, bool from_ddr)
{
    uint32_t line = l2_line >> (cache->shape.l3_shift - cache->shape.l2_shift),
             l3_way = cache->l3_line[line];
    if (!l3_way) return from_ddr; /* replaced since */
    cache->l3_line[line] = l3_way | L3_DEMANDED;
    return !(l3_way & L3_DEMANDED);
}

/* Whether a line in L3 is in flight at `now`, and its arrival. */
INLINE bool in_flight(const struct cache *cache, uint32_t l3_way, uint64_t now, uint64_t *ready)
{
    if (now >= cache->fetching_until) return false;
    uint64_t start = cache->fetched[l3_way_index(l3_way)];
    *ready = start + cache->ddr_latency;
    return now - start < cache->ddr_latency;
}

/* Records the time of a request. A directory may forget since when it has been busy, if cores'
 * clocks differ. */
INLINE void l3_note_latest(struct cache *cache, const struct unit *directory, uint64_t now)
{
    if (now > cache->latest) cache->latest = now;
    if (UNLIKELY(directory->from > cache->latest)) cache->latest = directory->from;
}

/* Something is busy until then, or at most a cycle less. */
INLINE void l3_note_busy(struct cache *cache, uint64_t until)
{
    if (UNLIKELY(until < cache->busy_until)) until = cache->busy_until;
    cache->busy_until = until;
}

/* Lines that end within `transfer` of another on the port follow it. */
INLINE uint64_t deliver(struct cache *cache, const struct place *at, uint64_t ready)
{
    uint64_t *last = &cache->delivered[port_of_bank(cache, at)];
    if (UNLIKELY(ready - *last < cache->l3_transfer)) {
        at->bank->counts.read[at->port].collision++;
        ready = *last + cache->l3_transfer;
    }
    *last = ready;
    return ready;
}

INLINE struct l3_answer l3_read(struct cache *cache, const struct shape *shape,
                                struct cache_core *core, uint32_t l2_line, bool prefetch,
                                uint64_t now)
{
    struct place at = place_of(cache, shape, core, l2_line);
    struct bank *bank = at.bank;
    struct bank_counts *counts = &bank->counts;
    uint32_t l3_way = cache->l3_line[at.line];
    struct l3_answer answer = {.found = l3_way};
    cache->bank_changes++;
    struct unit *directory = &cache->directory[at.line & cache->directory_mask];
    l3_note_latest(cache, directory, now);
    uint64_t start = unit_serve(directory, now, cache->l3_busy), ready;
    count_wait(&counts->not_taken[at.directory], now, start);
    counts->read[at.port].burst += prefetch;
    if (shape->kinds) (void)note_use(cache->kinds, counts->miss_kind, at.line, !answer.found, true);
    if (!UNLIKELY(!answer.found)) {
        counts->read[at.port].hit[at.directory]++;
        l3_use(cache, bank, &shape->l3, l3_way);
        if (UNLIKELY(!prefetch && !(l3_way & L3_DEMANDED))) {
            answer.from_ddr = true;
            cache->l3_line[at.line] = l3_way | L3_DEMANDED;
        }
        answer.ready = start + cache->l3_latency;
        if (UNLIKELY(in_flight(cache, l3_way, start, &ready))) {
            counts->in_flight++;
            if (ready > answer.ready) answer.ready = ready;
        }
    } else {
        counts->read[at.port].miss[at.directory]++;
        counts->prefetch_miss += prefetch;
        answer.from_ddr = true;
        answer.ready = l3_allocate(cache, bank, at.line, start, prefetch ? 0 : L3_DEMANDED);
    }
    answer.ready = deliver(cache, &at, answer.ready);
    l3_note_busy(cache, start + cache->l3_busy);
    l3_note_busy(cache, answer.ready + cache->l3_transfer - cache->l3_latency);
    l3_note_busy(cache, answer.ready);
    return answer;
}

/* A write arrives: true if it joins the last one of its port; else its directory is probed at
 * `start`. */
INLINE bool l3_deposit(struct cache *cache, const struct place *at, uint64_t now, uint64_t *start)
{
    struct bank_counts *counts = &at->bank->counts;
    struct unit *directory = &cache->directory[at->line & cache->directory_mask];
    l3_note_latest(cache, directory, now);
    cache->bank_changes++;
    counts->write[at->port].deposit++;
    if (cache->deposited[port_of_bank(cache, at)] == at->line) {
        counts->write[at->port].merged++;
        return true;
    }
    *start = unit_serve(directory, now, cache->l3_busy);
    count_wait(&counts->write[at->port].not_taken, now, *start);
    counts->lookup[at->directory]++;
    return false;
}

INLINE void l3_write(struct cache *cache, const struct shape *shape, struct cache_core *core,
                     uint32_t l2_line, uint64_t now)
{
    struct place at = place_of(cache, shape, core, l2_line);
    struct bank *bank = at.bank;
    uint32_t l3_way = cache->l3_line[at.line];
    uint64_t start, ready;
    if (l3_deposit(cache, &at, now, &start)) return;
    if (shape->kinds) (void)note_use(cache->kinds, bank->counts.miss_kind, at.line, !l3_way, true);
    if (!UNLIKELY(!l3_way)) {
        bank->counts.in_flight += in_flight(cache, l3_way, start, &ready);
        cache->l3_line[at.line] = l3_way | L3_DIRTY;
        l3_use(cache, bank, &shape->l3, l3_way);
    } else {
        bank->counts.write[at.port].miss++;
        (void)l3_allocate(cache, bank, at.line, start, L3_DEMANDED | L3_DIRTY);
    }
    if (shape->l3.count) {
        cache->deposited[port_of_bank(cache, &at)] = at.line;
        return;
    }
    bank->counts.castout++;
    l3_store_ddr(cache, at.line, start);
}

/* --- Fast path, for Blue Gene's sizes; counts_of and bank_counts_of add what it leaves out -----
 */

/* A read hits and its units are idle. */
INLINE void l3_take(struct cache *cache, struct cache_core *core, uint32_t line, uint32_t l3_way,
                    uint64_t now)
{
    cache->lane[line % LANES] = (struct unit){now, now + cache->l3_busy};
    core->delivered[line % LANE_BANKS] = now + cache->l3_latency;
    lru_use(cache, l3_way);
}

/* A write off the fast path. */
void l3_write_else(struct cache *cache, struct cache_core *core, uint32_t line, uint64_t now);

#endif
