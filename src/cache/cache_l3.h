/* The way of reads and writes through L3 that find their line there; the rest, and what is decided: cache_l3.c. */
#ifndef CACHE_L3_H
#define CACHE_L3_H

#include "cache/cache_impl.h"

struct l3_answer {
    uint64_t ready;
    uint32_t way;
    bool from_ddr, found; /* found: in L3 */
};

INLINE struct place place_of(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t l2_line)
{
    uint32_t line = l2_line >> (shape->l3_shift - shape->l2_shift), inner = line >> cache->bank_shift;
    struct bank *bank = cache->bank[line & (cache->config.l3_banks - 1)];
    uint32_t set = inner & bank->tags.set_mask;
    __builtin_prefetch(bank->fetched + (size_t)set * shape->l3.stride);
    return (struct place){
        .bank = bank,
        .line = line,
        .set = set,
        .directory = inner & 1,
        .port = of->port,
    };
}

INLINE void count_wait(struct span_count *count, uint64_t from, uint64_t to)
{
    if (to == from) return;
    count->count++;
    count->cycles += to - from;
}

/* The line comes from DDR and takes a way of its set, with `state`. */
struct l3_answer l3_allocate(struct cache *cache, struct bank *bank, uint32_t set, uint32_t line, uint64_t now,
                             unsigned state);
/* A line is written to DDR. */
void l3_store_ddr(struct cache *cache, uint32_t line, uint64_t now);
/* A prefetched line, which came from `way`, is used for the first time. Whether that is what its fetch from DDR was
 * for. */
bool l3_claim(struct cache *cache, struct cache_core *of, uint32_t l2_line, uint32_t way, bool from_ddr);

/* Whether the line is on its way at `now`; when it is there. */
INLINE bool in_flight(const struct cache *cache, uint64_t fetched, uint64_t now, uint64_t *ready)
{
    uint64_t start = fetched / L3_START;
    *ready = start + cache->ddr_latency;
    return start <= now && now < *ready;
}

INLINE int look_up(const struct shape *shape, const struct place *at)
{
    return shape->l3.count ? tags_find(&at->bank->tags, &shape->l3, at->set, at->line) : -1;
}

/* Lines that end within `transfer` of another on the port follow it. */
INLINE uint64_t deliver(struct cache *cache, const struct place *at, uint64_t ready)
{
    uint64_t *last = &at->bank->returned[at->port];
    if (ready - *last < cache->config.l3_transfer && *last) {
        at->bank->counts.read[at->port].collision++;
        ready = *last + cache->config.l3_transfer;
    }
    *last = ready;
    return ready;
}

INLINE struct l3_answer l3_read(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t l2_line,
                                bool prefetch, uint64_t now)
{
    struct place at = place_of(cache, shape, of, l2_line);
    struct bank *bank = at.bank;
    struct bank_counts *counts = &bank->counts;
    struct l3_answer answer;
    if (now > cache->latest) cache->latest = now;
    uint64_t start = unit_serve(&bank->directory[at.directory], now, cache->config.l3_busy), ready;
    count_wait(&counts->not_taken[at.directory], now, start);
    counts->read[at.port].burst += prefetch;
    int way = look_up(shape, &at);
    if (shape->kinds) (void)note_use(cache->kinds, counts->miss_kind, at.line, way < 0, true);
    if (way >= 0) {
        answer.from_ddr = !prefetch && bank->fetched[way] & L3_AHEAD;
        answer.way = (uint32_t)way;
        answer.found = true;
        if (answer.from_ddr) bank->fetched[way] &= ~(uint64_t)L3_AHEAD;
        counts->read[at.port].hit[at.directory]++;
        bool coming = in_flight(cache, bank->fetched[way], start, &ready);
        counts->in_flight += coming;
        answer.ready = start + cache->l3_latency;
        if (coming && ready > answer.ready) answer.ready = ready;
        tags_use(&bank->tags, &shape->l3, at.set, way);
    } else {
        counts->read[at.port].miss[at.directory]++;
        counts->prefetch_miss += prefetch;
        answer = l3_allocate(cache, bank, at.set, at.line, start, prefetch ? L3_AHEAD : 0);
    }
    answer.ready = deliver(cache, &at, answer.ready);
    return answer;
}

/* A write comes: true if it joins the one before on its port; else its directory is asked at `start`. */
INLINE bool l3_deposit(struct cache *cache, const struct place *at, uint64_t now, uint64_t *start)
{
    struct bank_counts *counts = &at->bank->counts;
    if (now > cache->latest) cache->latest = now;
    counts->write[at->port].deposit++;
    if (at->bank->deposited[at->port] == at->line) {
        counts->write[at->port].merged++;
        return true;
    }
    *start = unit_serve(&at->bank->directory[at->directory], now, cache->config.l3_busy);
    count_wait(&counts->write[at->port].not_taken, now, *start);
    counts->lookup[at->directory]++;
    return false;
}

INLINE void l3_write_hit(struct cache *cache, struct bank *bank, uint64_t *fetched, uint64_t start)
{
    uint64_t ready;
    bank->counts.in_flight += in_flight(cache, *fetched, start, &ready);
    *fetched |= L3_DIRTY;
}

/* A write to the line that is in `way`, or in none yet (-1); where it is then. */
INLINE int l3_write_at(struct cache *cache, const struct shape *shape, const struct place *at, int way, uint64_t start)
{
    struct bank *bank = at->bank;
    if (shape->kinds) (void)note_use(cache->kinds, bank->counts.miss_kind, at->line, way < 0, true);
    if (way >= 0) {
        l3_write_hit(cache, bank, &bank->fetched[way], start);
        tags_use(&bank->tags, &shape->l3, at->set, way);
    } else {
        bank->counts.write[at->port].miss++;
        way = (int)l3_allocate(cache, bank, at->set, at->line, start, L3_DIRTY).way;
    }
    if (shape->l3.count) bank->deposited[at->port] = at->line;
    return way;
}

INLINE void l3_write(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t l2_line,
                     uint64_t now)
{
    struct place at = place_of(cache, shape, of, l2_line);
    struct bank *bank = at.bank;
    uint64_t start;
    if (l3_deposit(cache, &at, now, &start)) return;
    (void)l3_write_at(cache, shape, &at, look_up(shape, &at), start);
    if (shape->l3.count) return;
    bank->counts.castout++;
    l3_store_ddr(cache, at.line, start);
}

#endif
