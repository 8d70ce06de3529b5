/* Drains fast-path misses through the L2 and L3 models and returns their stall cycles.
 *
 * A fast-path miss (cache_fast.c) changes L1D at once. Its L2 and L3 work is done here:
 * immediately, or, while the core defers (cache_defer.c), for up to CACHE_MISSES misses in one
 * loop, in program order, each at its own time. The loop lets the host overlap the table lookups of
 * several misses. */
#include "machine/cache/cache_no_vectors.h"

#include <assert.h>

#include "machine/cache/cache_l2_access.h"

/* Keeps a value in a register: the compiler must not compute it again. */
#define IN_REGISTER(value) __asm__("" : "+r"(value))

/* --- Loads, behind L1 ------------------------------------------------------------------------ */

/* A load goes on, not just to a line that was used in L2 or is in L3. */
NOINLINE static uint32_t load_slow(struct cache *cache, struct cache_core *core, uint64_t now,
                                   uint32_t l2_line)
{
    uint64_t end = l2_read(cache, &blue_gene, core, l2_line, true, now);
    count_uncontended(core, now, end);
    core->l2.entry[l2_line].fifo_number &= ~(uint32_t)L2_IN_FLIGHT; /* the core waits for it */
    return (uint32_t)(end - now) | cache->has_listener;
}

/* A load hits in L2, with `number`. The fill is not listed as in flight: the core waits for it. */
INLINE uint32_t take_l2(const struct cache *cache, struct cache_core *core, uint32_t number)
{
    core->counts.l2_hit++;
    core->counts.stream_hit += number & L2_PREFETCHED;
    return (uint32_t)cache->l2_stall;
}

/* Whether the L3 units of a load are busy at `now`. What they do later does not delay it. */
INLINE bool is_busy(const struct cache *cache, const struct cache_core *core, uint32_t line,
                    uint64_t now)
{
    const struct unit *directory = &cache->lane[line % LANES];
    return (now >= directory->from && now <= directory->until) ||
           now + cache->l3_latency - core->delivered[line % LANE_BANKS] < cache->l3_transfer;
}

/* Whether L3 reads nothing, and a line's directory has nothing to do. */
INLINE bool is_free(const struct cache *cache, uint32_t line, uint64_t now)
{
    return now > cache->busy_until && now > cache->lane[line % LANES].until;
}

/* [now, end) is high on a signal to which counts_of adds all of it: takes back the part that was
 * counted before. */
INLINE void count_high_again(uint64_t *until, uint64_t now, uint64_t end, uint64_t *cycles)
{
    uint64_t first = *until > now ? *until : now;
    if (UNLIKELY(first >= end))
        first = end;
    else
        *until = end;
    *cycles -= first - now;
}

/* A load takes a line from L3 into L2. */
INLINE void take_l3(struct cache *cache, struct cache_core *core, struct l2_entry *entry,
                    uint32_t line, uint32_t l3_way, uint64_t now)
{
    core->counts.l3_hit[line % LANES]++;
    l3_take(cache, core, line, l3_way, now);
    l2_insert(&core->l2, entry, 0);
}

/* While L3 is free. */
INLINE void take_l3_idle(struct cache *cache, struct cache_core *core, struct l2_entry *entry,
                         uint32_t line, uint32_t l3_way, uint64_t now)
{
    cache->busy_until = now + cache->l3_read_busy;
    core->l2.pending_until = now + cache->l3_latency;
    take_l3(cache, core, entry, line, l3_way, now);
}

/* Prefetches a line that is in L3 with an idle directory; false: it is not. May follow another line
 * on its port: the last one, or the line that began the stream. */
INLINE bool prefetch_fast(struct cache *cache, struct cache_core *core, uint64_t now, size_t line,
                          struct l2_entry *entry)
{
    struct l2 *l2 = &core->l2;
    uint32_t l3_way = cache->l3_line[line];
    struct unit *directory = &cache->lane[line % LANES];
    if (UNLIKELY(!l3_way || now < cache->fetching_until || now <= directory->until)) return false;
    directory->from = now;
    directory->until = now + cache->l3_busy;
    lru_use(cache, l3_way);
    core->counts.prefetched[line % LANES]++;
    uint64_t end = now + cache->l3_latency, *delivered = &core->delivered[line % LANE_BANKS];
    if (end - *delivered < cache->l3_transfer) {
        uint64_t late = *delivered + cache->l3_transfer - end;
        core->counts.prefetch_collided[line % LANE_BANKS]++;
        core->counts.prefetch.cycles += late;
        core->counts.l3_pending += late;
        end += late;
    }
    *delivered = end;
    l2_insert_in_flight(l2, entry, end, L2_PREFETCHED | L2_UNUSED);
    count_high_again(&l2->prefetch_until, now, end, &core->counts.prefetch.cycles);
    count_high_again(&l2->pending_until, now, end, &core->counts.l3_pending);
    l3_note_busy(cache, end + cache->l3_read_busy_after);
    return true;
}

/* Prefetches the lines up to `last`, by any path. Returns `stall`. */
NOINLINE static uint32_t prefetch_slow(struct cache *cache, struct cache_core *core, uint64_t now,
                                       uint32_t line, uint32_t last, uint32_t stall)
{
    for (; line <= last; line++) {
        struct l2_entry *entry = &core->l2.entry[line];
        if (l2_has(&core->l2, entry))
            core->counts.page_present++;
        else if (!prefetch_fast(cache, core, now, line, entry))
            l2_prefetch(cache, core, line, now);
    }
    return stall;
}

/* A stream reaches the next line and prefetches those ahead, as l2_advance does. Returns `stall`.
 */
NOINLINE static uint32_t stream_advance(struct cache *cache, struct cache_core *core, uint64_t now,
                                        uint32_t line, struct l2_entry *entry, uint32_t stall)
{
    uint32_t last = line + cache->config.l2_depth, frame = line | (FRAME_L2_LINES - 1);
    l2_reach_next(&core->l2, entry, line);
    if (last > frame) last = frame;
    while (++line <= last) {
        if (l2_has(&core->l2, ++entry))
            core->counts.page_present++;
        else if (UNLIKELY(!prefetch_fast(cache, core, now, line, entry)))
            return prefetch_slow(cache, core, now, line, last, stall);
    }
    return stall;
}

/* A load has filled a line into L2: updates filter and streams, as l2_follow does. */
INLINE uint32_t stream_follow(struct cache *cache, struct cache_core *core, uint64_t now,
                              uint32_t line, struct l2_entry *entry)
{
    uint32_t stall = (uint32_t)cache->l3_stall;
    if (l2_reached(entry)) return stall;
    if (entry->next < core->l2.filter_oldest) {
        l2_filter_insert(&core->l2, entry);
        return stall;
    }
    if (!l2_stream(entry)) l2_stream_begin(&core->l2, entry, l2_begin(cache, core, entry));
    return stream_advance(cache, core, now, line, entry, stall);
}

/* A load hits in L3 while L3 is busy, perhaps with requests that do not delay it. */
NOINLINE static uint32_t load_l3_busy(struct cache *cache, struct cache_core *core, uint64_t now,
                                      uint32_t line, struct l2_entry *entry)
{
    uint32_t l3_way = cache->l3_line[line];
    uint64_t ready;
    if (in_flight(cache, l3_way, now, &ready) || is_busy(cache, core, line, now))
        return load_slow(cache, core, now, line);
    const struct unit *directory = &cache->lane[line % LANES];
    if (now <= directory->until)
        l3_note_latest(cache, directory, now); /* it is ahead of this core, for another */
    l3_note_busy(cache, now + cache->l3_read_busy);
    count_high_again(&core->l2.pending_until, now, now + cache->l3_latency,
                     &core->counts.l3_pending);
    take_l3(cache, core, entry, line, l3_way, now);
    return stream_follow(cache, core, now, line, entry);
}

/* A load of a line that is not in L2, of any kind. */
NOINLINE static uint32_t load_not_in_l2(struct cache *cache, struct cache_core *core, uint64_t now,
                                        uint32_t line, struct l2_entry *entry)
{
    uint32_t l3_way = cache->l3_line[line];
    if (UNLIKELY(!(l3_way & L3_DEMANDED))) return load_slow(cache, core, now, line);
    if (!is_free(cache, line, now)) return load_l3_busy(cache, core, now, line, entry);
    take_l3_idle(cache, core, entry, line, l3_way, now);
    return stream_follow(cache, core, now, line, entry);
}

/* A load hits in L2 on a line that is unused, perhaps in flight, or next of a stream. */
NOINLINE static uint32_t load_in_l2(struct cache *cache, struct cache_core *core, uint64_t now,
                                    uint32_t line, struct l2_entry *entry)
{
    uint32_t number = entry->fifo_number;
    if (UNLIKELY(number & L2_IN_FLIGHT && *l2_ready(&core->l2, number) > now + cache->l2_latency))
        return load_slow(cache, core, now, line);
    entry->fifo_number = number & ~(uint32_t)(L2_IN_FLIGHT | L2_UNUSED);
    if (number & L2_UNUSED) {
        core->counts.self_hit++;
        if (UNLIKELY(!(cache->l3_line[line] & L3_DEMANDED)))
            l2_claim(cache, core, line, number, true);
    }
    uint32_t stall = take_l2(cache, core, number);
    if (entry->next < L2_STREAM || l2_reached(entry)) return stall;
    return stream_advance(cache, core, now, line, entry, stall);
}

/* --- Stores, behind L1 ----------------------------------------------------------------------- */

/* State of a drain that is written back to the core at its end. */
struct drain {
    const struct l2_entry *lines; /* of L2, as is `oldest` */
    uint32_t oldest;
    uint32_t *log;        /* where the next store is to be shown */
    struct queued *entry; /* its place in the queue */
    uint64_t time; /* the core's time without deferred misses, + what they have cost so far */
    uint64_t tags; /* of stores, what they are above their lines, added up */
};
enum { MISS_TAG = 29 };
_Static_assert(MISS_IN_L1D == 1 << MISS_TAG && MISS_STORE == 2 << MISS_TAG,
               "a store's tag is 2, or 3 if it is here");

INLINE struct drain drain_begin(struct cache_core *core, uint64_t time)
{
    return (struct drain){.lines = core->l2.entry,
                          .oldest = core->l2.oldest,
                          .log = core->snoop.shown_log + TAG_STRIDE + core->snoop.shown_logged,
                          .entry = core->next_store,
                          .time = time};
}

INLINE void drain_end(struct cache_core *core, const struct drain *drain)
{
    uint64_t logged = (uint64_t)(drain->log - (core->snoop.shown_log + TAG_STRIDE));
    core->counts.store_miss += 3 * (logged - core->snoop.shown_logged) - drain->tags;
    core->snoop.shown_logged = logged;
    core->next_store = drain->entry;
}

/* A store hits a dirty line of L3 and updates its directory. */
INLINE void store_in_l3(struct cache *cache, struct cache_core *core, uint64_t now, size_t line,
                        uint32_t l3_way)
{
    core->deposited[line % LANE_BANKS] = (uint32_t)line;
    lru_use(cache, l3_way);
    core->counts.stored[line % LANES]++;
    struct unit *directory = &cache->lane[line % LANES];
    uint64_t until = directory->until;
    if (!UNLIKELY(now <= until && now >= directory->from)) {
        if (now <= until)
            l3_note_latest(cache, directory, now); /* it is ahead of this core, for another */
        directory->from = now;
        directory->until = now + cache->l3_busy;
        return;
    }
    struct span_count *wait = &core->counts.l3_write_wait[line % LANE_BANKS];
    wait->count += now < until;
    wait->cycles += until - now;
    directory->until = until + cache->l3_busy;
}

/* The line is not there, or was not written, or some line is on its way. */
NOINLINE static void store_drain_slow(struct cache *cache, struct cache_core *core, uint64_t now,
                                      size_t line)
{
    const struct unit *directory = &cache->lane[line % LANES];
    uint32_t l3_way = cache->l3_line[line];
    bool waits = now <= directory->until && now >= directory->from;
    uint64_t ready;
    if (!l3_way || in_flight(cache, l3_way, waits ? directory->until : now, &ready)) {
        l3_write_else(cache, core, (uint32_t)line, now);
        return;
    }
    cache->l3_line[line] = l3_way | L3_DIRTY;
    store_in_l3(cache, core, now, line, l3_way);
}

/* It has to wait for its entry of the queue. */
INLINE uint64_t store_wait(struct cache_core *core, struct drain *drain, uint64_t came,
                           const struct queued *entry)
{
    IN_REGISTER(entry); /* its end is read again, not kept */
    uint64_t start = entry->end;
    core->counts.stall_store.count++;
    core->counts.stall_store.cycles += start - came;
    drain->time += start - came;
    return start;
}

/* Drains a store: takes an entry of the store queue, as take_store_entry does, and writes to L3. */
INLINE void store_drain(struct cache *cache, struct cache_core *core, struct drain *drain,
                        uint64_t now, uint32_t what)
{
    uint32_t l1_line = what & MISS_LINE;
    size_t line = l1_line >> L1_TO_L2;
    IN_REGISTER(line);
    struct queued *entry = drain->entry;
    if (UNLIKELY(entry->end > now)) now = store_wait(core, drain, now, entry);
    entry->end = now + cache->store_time;
    drain->entry = entry->next;
    *drain->log++ = l1_line;
    drain->tags += what >> MISS_TAG;
    core->counts.snoop_hit_same += drain->lines[line].fifo_number >= drain->oldest;
    if (core->deposited[line % LANE_BANKS] == (uint32_t)line) {
        core->counts.merged[line % LANE_BANKS]++;
        return;
    }
    uint32_t l3_way = cache->l3_line[line];
    if (UNLIKELY(!(l3_way & L3_DIRTY) || now < cache->fetching_until))
        store_drain_slow(cache, core, now, line);
    else
        store_in_l3(cache, core, now, line, l3_way);
}

/* --- Draining -------------------------------------------------------------------------------- */

/* The last use of L3 units by plain L3 hits of drain_all, by lane. Other cores may meet it there;
 * so may this core, whose time goes back a little when an instruction in mid-block stops. */
INLINE void drain_units(struct cache *cache, struct cache_core *core, const uint64_t *l3_hit_at)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct unit *directory = &cache->lane[lane];
        uint64_t now = l3_hit_at[lane], *delivered = &core->delivered[lane % LANE_BANKS];
        if (!now) continue; /* there was none: L3 has nothing then */
        if (now > directory->from) *directory = (struct unit){now, now + cache->l3_busy};
        if ((int64_t)(now + cache->l3_latency - *delivered) > 0)
            *delivered = now + cache->l3_latency;
        l3_note_busy(cache, now + cache->l3_read_busy);
        if (core->l2.pending_until < now + cache->l3_latency)
            core->l2.pending_until = now + cache->l3_latency;
    }
}

/* Whether a line in L2 was used there, has arrived, and is not next of a stream. */
INLINE bool is_plain_l2_hit(const struct l2_entry *entry, uint32_t number)
{
    return !UNLIKELY(number & (L2_UNUSED | L2_IN_FLIGHT) || entry->next >= L2_STREAM);
}

/* Whether a line not in L2 is expected by no stream or filter, is demanded in L3, and its units are
 * idle. */
INLINE bool is_plain_l3_hit(const struct cache *cache, const struct l2_entry *entry,
                            uint32_t filter_oldest, uint32_t l3_way, uint32_t line, uint64_t now)
{
    return !UNLIKELY(entry->next >= filter_oldest || l2_reached(entry) || !(l3_way & L3_DEMANDED) ||
                     !is_free(cache, line, now));
}

/* Whether the snoop logs must be drained. */
INLINE bool logs_full(const struct cache_core *core)
{
    return core->snoop.active.log_end > core->snoop.active.log_full ||
           core->snoop.shown_logged > SNOOPS_FULL;
}

/* Sets how many misses may be deferred next. */
NOINLINE static void drain_rearm(const struct cache *cache, struct cache_core *core, uint64_t now)
{
    core->fast.full = core->misses + (can_defer(cache, now) ? most_until_drain(core) : 1);
    if (logs_full(core)) fast_disable(core);
}

/* L1 alone is simulated (cache_model.c): loads find their lines in L2 and stores join others. */
NOINLINE static uint32_t drain_l1(struct cache_core *core, const cache_miss *miss,
                                  const cache_miss *end)
{
    struct drain drain = drain_begin(core, 0);
    uint32_t *log = core->snoop.active.log_end;
    for (; miss != end; miss++) {
        uint32_t what = (uint32_t)*miss;
        if (what < MISS_STORE) {
            *log++ = what;
            continue;
        }
        uint32_t line = what & MISS_LINE;
        *drain.log++ = line;
        drain.tags += what >> MISS_TAG;
        core->counts.merged[(line >> L1_TO_L2) % LANE_BANKS]++;
    }
    drain_end(core, &drain);
    core->counts.l2_hit += (uint64_t)(log - core->snoop.active.log_end);
    core->snoop.active.log_end = log;
    if (UNLIKELY(logs_full(core))) fast_disable(core);
    return 0;
}

/* Drains the deferred misses, at least one. Returns their stall cycles.
 *
 * A plain L3 hit waits longer than any unit works for it, so later requests of the same core cannot
 * meet it in a unit. Its time is recorded for other cores once, at the end (drain_units). */
NOINLINE uint32_t drain_all(struct cache *cache, struct cache_core *core)
{
    struct l2 *l2 = &core->l2;
    l2_check_numbers(cache, l2);
    const cache_miss *miss = core->misses, *end = core->fast.next_miss;
    if (UNLIKELY(cache->config.model)) {
        core->fast.next_miss = core->misses;
        return drain_l1(core, miss, end);
    }
    struct l2_entry *const table = l2->entry;
    struct drain drain = drain_begin(core, core->defer_start);
    uint32_t *log = core->snoop.active.log_end;
    uint64_t others = 0, ahead = 0,
             l3_hit_at[LANES] = {0}; /* others: loads that are no plain L2 hits */
    do {
        uint32_t what = (uint32_t)*miss;
        if (what >= MISS_STORE) {
            store_drain(cache, core, &drain, drain.time + ((*miss - core->defer_start_high) >> 32),
                        what);
            continue;
        }
        size_t line = what >> L1_TO_L2;
        IN_REGISTER(line);
        struct l2_entry *entry = &table[line];
        uint32_t number = entry->fifo_number;
        *log = what;
        IN_REGISTER(log);
        log++;
        if (!UNLIKELY(number < drain.oldest) && is_plain_l2_hit(entry, number)) {
            ahead += number & L2_PREFETCHED;
            drain.time += cache->l2_stall;
            continue;
        }
        uint64_t now = drain.time + ((*miss - core->defer_start_high) >> 32);
        others++;
        if (number < drain.oldest && is_plain_l3_hit(cache, entry, l2->filter_oldest,
                                                     cache->l3_line[line], (uint32_t)line, now)) {
            lru_use(cache, cache->l3_line[line]);
            core->counts.l3_hit[line % LANES]++;
            l3_hit_at[line % LANES] = now;
            entry->fifo_number = drain.oldest + l2->span;
            drain.oldest += L2_STEP;
            l2_filter_insert(l2, entry);
            drain.time += cache->l3_stall;
            continue;
        }
        l2->oldest = drain.oldest;
        drain.time += number >= drain.oldest
                          ? load_in_l2(cache, core, now, (uint32_t)line, entry)
                          : load_not_in_l2(cache, core, now, (uint32_t)line, entry);
        drain.oldest = l2->oldest;
    } while (++miss != end);
    l2->oldest = drain.oldest;
    drain_end(core, &drain);
    core->counts.l2_hit += (uint64_t)(log - core->snoop.active.log_end) - others;
    core->counts.stream_hit += ahead;
    core->snoop.active.log_end = log;
    core->fast.next_miss = core->misses;
    drain_units(cache, core, l3_hit_at);
    uint32_t used = count_accesses(core, (uint64_t)(end - core->misses));
    drain_rearm(cache, core, drain.time + ((end[-1] - core->defer_start_high) >> 32));
    return (uint32_t)(drain.time - core->defer_start) | used;
}

/* Drains one miss that was not deferred. */
NOINLINE uint32_t drain_one(struct cache *cache, struct cache_core *core, uint64_t now,
                            uint32_t what)
{
    struct l2 *l2 = &core->l2;
    uint32_t line = what >> L1_TO_L2, stall;
    cache_miss miss = what;
    if (UNLIKELY(cache->config.model)) return drain_l1(core, &miss, &miss + 1);
    l2_check_numbers(cache, l2);
    if (what >= MISS_STORE) {
        struct drain drain = drain_begin(core, 0);
        store_drain(cache, core, &drain, now, what);
        drain_end(core, &drain);
        stall = (uint32_t)drain.time;
    } else {
        struct l2_entry *entry = &l2->entry[line];
        uint32_t number = entry->fifo_number, l3_way = cache->l3_line[line];
        *core->snoop.active.log_end++ = what;
        if (number >= l2->oldest)
            stall = is_plain_l2_hit(entry, number) ? take_l2(cache, core, number)
                                                   : load_in_l2(cache, core, now, line, entry);
        else if (is_plain_l3_hit(cache, entry, l2->filter_oldest, l3_way, line, now)) {
            take_l3_idle(cache, core, entry, line, l3_way, now);
            l2_filter_insert(l2, entry);
            stall = (uint32_t)cache->l3_stall;
        } else
            stall = load_not_in_l2(cache, core, now, line, entry);
    }
    if (UNLIKELY(logs_full(core))) fast_disable(core);
    return stall | count_accesses(core, 1);
}

/* The same with a listener: records the level that served it. */
NOINLINE uint32_t drain_one_notified(struct cache *cache, struct cache_core *core, uint64_t now,
                                     uint32_t what)
{
    uint64_t l2_hit = core->counts.l2_hit, l3_hit = counts_l3_hit(&core->counts);
    uint32_t stall = drain_one(cache, core, now, what);
    if (core->counts.l2_hit != l2_hit) core->miss_level = CACHE_IN_L2;
    if (counts_l3_hit(&core->counts) != l3_hit) core->miss_level = CACHE_IN_L3;
    return stall;
}

uint32_t cache_drain_fast(struct cache_fast *fast)
{
    struct cache_core *core = (struct cache_core *)fast;
    _Static_assert(offsetof(struct cache_core, fast) == 0, "it is the beginning of its core");
    if (core->most_deferred > 1) return drain_all(core->cache, core);
    /* Read as they were just written, in halves, or the host waits. */
    typedef uint32_t half __attribute__((may_alias));
    uint32_t what = ((const half *)core->misses)[0],
             late = ((const half *)core->misses)[1] - (uint32_t)core->defer_start;
    fast->next_miss = core->misses;
    return core->cache->has_listener
               ? drain_one_notified(core->cache, core, core->defer_start + late, what)
               : drain_one(core->cache, core, core->defer_start + late, what);
}

uint32_t cache_drain(struct cache_view *view, uint64_t now)
{
    struct cache_core *core = view->core;
    if (core->fast.next_miss != core->misses) {
        uint32_t stall = drain_all(view->cache, core);
        assert(!(stall & CACHE_NOTIFY)); /* the list was not full */
        return stall;
    }
    if (core->most_deferred > 1)
        drain_rearm(view->cache, core, now); /* slow-path accesses may have left a backlog */
    return 0;
}
