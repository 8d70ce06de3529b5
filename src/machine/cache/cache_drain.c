/* What L2 and L3 make of misses and stores of the common kind (cache_fast.c), and what that costs.
 *
 * They hear of a miss when it is settled: at once, or, while the core postpones (cache_defer.c),
 * when many have come together. The guest does not wait for what they say, only its time does; nor
 * does the host then, which may have begun with the next instructions of the guest, and does the
 * work of one miss while it waits for the data of another's.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l2_access.h"

/* A value is worked out where it is written so, not again or later, where it would need more
 * registers. */
#define SETTLED(value) __asm__("" : "+r"(value))

/* --- Loads, behind L1 ------------------------------------------------------------------------ */

/* A load goes on, not just to a line that was used in L2 or is in L3. */
APART static uint32_t load_on(struct cache *cache, struct cache_core *of, uint64_t now,
                              uint32_t l2_line)
{
    uint64_t end = l2_read(cache, &blue_gene, of, l2_line, true, now);
    count_calm(of, now, end);
    of->l2.known[l2_line].put &= ~(uint32_t)L2_LATE; /* the core waits for it */
    return (uint32_t)(end - now) | cache->heard;
}

/* A load takes a line from L2, which has it with `put`. That it is being filled until then is noted
 * nowhere, since the core waits. */
INLINE uint32_t take_near(const struct cache *cache, struct cache_core *of, uint32_t put)
{
    of->counts.near++;
    of->counts.stream_hit += put & L2_PREFETCHED;
    return (uint32_t)cache->near_stall;
}

/* Whether those units of L3 that a load needs are busy; what they do in its future is in nobody's
 * way. */
INLINE bool is_busy(const struct cache *cache, const struct cache_core *of, uint32_t line,
                    uint64_t now)
{
    const struct unit *directory = &cache->lane[line % LANES];
    return (now >= directory->from && now <= directory->until) ||
           now + cache->l3_latency - of->returned[line % LANE_BANKS] < cache->l3_transfer;
}

/* Whether L3 reads nothing, and a line's directory has nothing to do. */
INLINE bool is_free(const struct cache *cache, uint32_t line, uint64_t now)
{
    return now > cache->busy_until && now > cache->lane[line % LANES].until;
}

/* [now, end) is high on a signal, for which counts_of adds all of it: what has been counted before
 * is taken back. */
INLINE void cover_again(uint64_t *until, uint64_t now, uint64_t end, uint64_t *cycles)
{
    uint64_t first = *until > now ? *until : now;
    if (SELDOM(first >= end))
        first = end;
    else
        *until = end;
    *cycles -= first - now;
}

/* A load takes a line from L3 into L2. */
INLINE void take_far(struct cache *cache, struct cache_core *of, struct l2_known *known,
                     uint32_t line, uint32_t there, uint64_t now)
{
    of->counts.far[line % LANES]++;
    l3_take(cache, of, line, there, now);
    l2_put(&of->l2, known, 0);
}

/* While L3 is free. */
INLINE void take_free(struct cache *cache, struct cache_core *of, struct l2_known *known,
                      uint32_t line, uint32_t there, uint64_t now)
{
    cache->busy_until = now + cache->far_busy;
    of->l2.pending_until = now + cache->l3_latency;
    take_far(cache, of, known, line, there, now);
}

/* A stream asks for a line, if it is in L3 and its directory is free; false: it is not. It may
 * follow another line on its port: the last one, or what the stream was begun for. */
INLINE bool ask_ahead(struct cache *cache, struct cache_core *of, uint64_t now, size_t line,
                      struct l2_known *known)
{
    struct l2 *l2 = &of->l2;
    uint32_t there = cache->l3_line[line];
    struct unit *directory = &cache->lane[line % LANES];
    if (SELDOM(!there || now < cache->fetching_until || now <= directory->until)) return false;
    directory->from = now;
    directory->until = now + cache->l3_busy;
    order_use(cache, there);
    of->counts.ahead[line % LANES]++;
    uint64_t end = now + cache->l3_latency, *returned = &of->returned[line % LANE_BANKS];
    if (end - *returned < cache->l3_transfer) {
        uint64_t late = *returned + cache->l3_transfer - end;
        of->counts.collided[line % LANE_BANKS]++;
        of->counts.prefetch.cycles += late;
        of->counts.l3_pending += late;
        end += late;
    }
    *returned = end;
    l2_put_late(l2, known, end, L2_PREFETCHED | L2_UNUSED);
    cover_again(&l2->prefetch_until, now, end, &of->counts.prefetch.cycles);
    cover_again(&l2->pending_until, now, end, &of->counts.l3_pending);
    l3_note_busy(cache, end + cache->far_after);
    return true;
}

/* A stream asks for lines up to `last`, in any way. Returns `stall`. */
APART static uint32_t load_ahead_else(struct cache *cache, struct cache_core *of, uint64_t now,
                                      uint32_t line, uint32_t last, uint32_t stall)
{
    for (; line <= last; line++) {
        struct l2_known *known = &of->l2.known[line];
        if (l2_has(&of->l2, known))
            of->counts.page_present++;
        else if (!ask_ahead(cache, of, now, line, known))
            l2_prefetch(cache, of, line, now);
    }
    return stall;
}

/* The stream that has reached the line before this one reaches it, and asks for those ahead, as
 * l2_advance does. Returns `stall`. */
APART static uint32_t load_ahead(struct cache *cache, struct cache_core *of, uint64_t now,
                                 uint32_t line, struct l2_known *known, uint32_t stall)
{
    uint32_t last = line + cache->config.l2_depth, frame = line | (FRAME_L2_LINES - 1);
    l2_reach_next(&of->l2, known, line);
    if (last > frame) last = frame;
    while (++line <= last) {
        if (l2_has(&of->l2, ++known))
            of->counts.page_present++;
        else if (SELDOM(!ask_ahead(cache, of, now, line, known)))
            return load_ahead_else(cache, of, now, line, last, stall);
    }
    return stall;
}

/* A load has brought a line into L2: what streams make of that, as in l2_follow. */
INLINE uint32_t load_follow(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                            struct l2_known *known)
{
    uint32_t stall = (uint32_t)cache->far_stall;
    if (l2_reached(known)) return stall;
    if (known->next < of->l2.expects) {
        l2_expect(&of->l2, known);
        return stall;
    }
    if (!l2_stream(known)) l2_lead(&of->l2, known, l2_begin(cache, of, known));
    return load_ahead(cache, of, now, line, known, stall);
}

/* A load of a line that is in L3 and not in L2, while L3 is busy, perhaps with what is in nobody's
 * way. */
APART static uint32_t load_busy(struct cache *cache, struct cache_core *of, uint64_t now,
                                uint32_t line, struct l2_known *known)
{
    uint32_t there = cache->l3_line[line];
    uint64_t ready;
    if (in_flight(cache, there, now, &ready) || is_busy(cache, of, line, now))
        return load_on(cache, of, now, line);
    const struct unit *directory = &cache->lane[line % LANES];
    if (now <= directory->until)
        l3_note_latest(cache, directory, now); /* it is ahead of this core, for another */
    l3_note_busy(cache, now + cache->far_busy);
    cover_again(&of->l2.pending_until, now, now + cache->l3_latency, &of->counts.l3_pending);
    take_far(cache, of, known, line, there, now);
    return load_follow(cache, of, now, line, known);
}

/* A load of a line that is not in L2, of any kind. */
APART static uint32_t load_far(struct cache *cache, struct cache_core *of, uint64_t now,
                               uint32_t line, struct l2_known *known)
{
    uint32_t there = cache->l3_line[line];
    if (SELDOM(!(there & L3_ASKED))) return load_on(cache, of, now, line);
    if (!is_free(cache, line, now)) return load_busy(cache, of, now, line, known);
    take_free(cache, of, known, line, there, now);
    return load_follow(cache, of, now, line, known);
}

/* A load of a line that L2 has but that nobody used there, or that may still be on its way, or that
 * a stream is about to reach. */
APART static uint32_t load_near(struct cache *cache, struct cache_core *of, uint64_t now,
                                uint32_t line, struct l2_known *known)
{
    uint32_t put = known->put;
    if (SELDOM(put & L2_LATE && *l2_ready(&of->l2, put) > now + cache->l2_latency))
        return load_on(cache, of, now, line);
    known->put = put & ~(uint32_t)(L2_LATE | L2_UNUSED);
    if (put & L2_UNUSED) {
        of->counts.self_hit++;
        if (SELDOM(!(cache->l3_line[line] & L3_ASKED))) l2_claim(cache, of, line, put, true);
    }
    uint32_t stall = take_near(cache, of, put);
    if (known->next < L2_STREAM || l2_reached(known)) return stall;
    return load_ahead(cache, of, now, line, known, stall);
}

/* --- Stores, behind L1 ----------------------------------------------------------------------- */

/* What misses that are settled together change of their core, put back at the end. */
struct settling {
    const struct l2_known *known; /* of L2, as is `oldest` */
    uint32_t oldest;
    uint32_t *log;        /* where the next store is to be shown */
    struct queued *entry; /* its place in the queue */
    uint64_t time;        /* from which they are settled, + what they have cost so far */
    uint64_t tags;        /* of stores, what they are above their lines, added up */
};
enum { MISS_TAG = 29 };
_Static_assert(MISS_HERE == 1 << MISS_TAG && MISS_STORE == 2 << MISS_TAG,
               "a store's tag is 2, or 3 if it is here");

INLINE struct settling settle_begin(struct cache_core *of, uint64_t time)
{
    return (struct settling){.known = of->l2.known,
                             .oldest = of->l2.oldest,
                             .log = of->snoop.shown_log + TAG_STRIDE + of->snoop.shown_logged,
                             .entry = of->next_store,
                             .time = time};
}

INLINE void settle_end(struct cache_core *of, const struct settling *settling)
{
    uint64_t logged = (uint64_t)(settling->log - (of->snoop.shown_log + TAG_STRIDE));
    of->counts.store_miss += 3 * (logged - of->snoop.shown_logged) - settling->tags;
    of->snoop.shown_logged = logged;
    of->next_store = settling->entry;
}

/* A store goes to a line that is in L3, and written there. */
INLINE void store_there(struct cache *cache, struct cache_core *of, uint64_t now, size_t line,
                        uint32_t there)
{
    of->deposited[line % LANE_BANKS] = (uint32_t)line;
    order_use(cache, there);
    of->counts.stored[line % LANES]++;
    struct unit *directory = &cache->lane[line % LANES];
    uint64_t until = directory->until;
    if (!SELDOM(now <= until && now >= directory->from)) {
        if (now <= until)
            l3_note_latest(cache, directory, now); /* it is ahead of this core, for another */
        directory->from = now;
        directory->until = now + cache->l3_busy;
        return;
    }
    struct span_count *wait = &of->counts.l3_write_wait[line % LANE_BANKS];
    wait->count += now < until;
    wait->cycles += until - now;
    directory->until = until + cache->l3_busy;
}

/* The line is not there, or was not written, or some line is on its way. */
APART static void store_behind_else(struct cache *cache, struct cache_core *of, uint64_t now,
                                    size_t line)
{
    const struct unit *directory = &cache->lane[line % LANES];
    uint32_t there = cache->l3_line[line];
    bool waits = now <= directory->until && now >= directory->from;
    uint64_t ready;
    if (!there || in_flight(cache, there, waits ? directory->until : now, &ready)) {
        l3_write_else(cache, of, (uint32_t)line, now);
        return;
    }
    cache->l3_line[line] = there | L3_DIRTY;
    store_there(cache, of, now, line, there);
}

/* It has to wait for its entry of the queue. */
INLINE uint64_t store_wait(struct cache_core *of, struct settling *settling, uint64_t came,
                           const struct queued *entry)
{
    SETTLED(entry); /* its end is read again, not kept */
    uint64_t start = entry->end;
    of->counts.stall_store.count++;
    of->counts.stall_store.cycles += start - came;
    settling->time += start - came;
    return start;
}

/* A store takes a place in the queue, as in take_store_entry, and goes on to L3. */
INLINE void store_behind(struct cache *cache, struct cache_core *of, struct settling *settling,
                         uint64_t now, uint32_t what)
{
    uint32_t l1_line = what & MISS_LINE;
    size_t line = l1_line >> L1_TO_L2;
    SETTLED(line);
    struct queued *entry = settling->entry;
    if (SELDOM(entry->end > now)) now = store_wait(of, settling, now, entry);
    entry->end = now + cache->store_time;
    settling->entry = entry->next;
    *settling->log++ = l1_line;
    settling->tags += what >> MISS_TAG;
    of->counts.snoop_hit_same += settling->known[line].put >= settling->oldest;
    if (of->deposited[line % LANE_BANKS] == (uint32_t)line) {
        of->counts.merged[line % LANE_BANKS]++;
        return;
    }
    uint32_t there = cache->l3_line[line];
    if (SELDOM(!(there & L3_DIRTY) || now < cache->fetching_until))
        store_behind_else(cache, of, now, line);
    else
        store_there(cache, of, now, line, there);
}

/* --- Settling -------------------------------------------------------------------------------- */

/* What units of L3 did last for loads of the common kind from there, by lane (settle_all). Others
 * may meet it there, and so may this core, whose time goes back a little when an instruction in the
 * middle of a block stops. */
INLINE void settle_units(struct cache *cache, struct cache_core *of, const uint64_t *far_at)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct unit *directory = &cache->lane[lane];
        uint64_t now = far_at[lane], *returned = &of->returned[lane % LANE_BANKS];
        if (!now) continue; /* there was none: L3 has nothing then */
        if (now > directory->from) *directory = (struct unit){now, now + cache->l3_busy};
        if ((int64_t)(now + cache->l3_latency - *returned) > 0) *returned = now + cache->l3_latency;
        l3_note_busy(cache, now + cache->far_busy);
        if (of->l2.pending_until < now + cache->l3_latency)
            of->l2.pending_until = now + cache->l3_latency;
    }
}

/* A load takes a line that L2 has: whether it was used there, is surely there, and no stream is
 * about to reach it. */
INLINE bool is_plain_near(const struct l2_known *known, uint32_t put)
{
    return !SELDOM(put & (L2_UNUSED | L2_LATE) || known->next >= L2_STREAM);
}

/* Or one that it has not: whether no stream cares, L3 has it and did not fetch it in vain, and
 * everybody is free. */
INLINE bool is_plain_far(const struct cache *cache, const struct l2_known *known, uint32_t expects,
                         uint32_t there, uint32_t line, uint64_t now)
{
    return !SELDOM(known->next >= expects || l2_reached(known) || !(there & L3_ASKED) ||
                   !is_free(cache, line, now));
}

/* Of logs that misses go to: whether they have to be looked at. */
INLINE bool logs_full(const struct cache_core *of)
{
    return of->snoop.active.log_end > of->snoop.active.log_full ||
           of->snoop.shown_logged > SNOOPS_FULL;
}

/* How many misses may come together next. */
APART static void settle_else(const struct cache *cache, struct cache_core *of, uint64_t now)
{
    of->fast.full = of->misses + (can_postpone(cache, now) ? of->most_misses : 1);
    if (logs_full(of)) quick_tire(of);
}

/* L2 and L3 hear of misses, at least one. Returns what that costs.
 *
 * A load that takes a line from L3 while everybody is free waits for longer than any unit has to do
 * with it, so nothing that the same core does behind it can meet it there. When it was is noted for
 * other cores, at the end. */
APART uint32_t settle_all(struct cache *cache, struct cache_core *of)
{
    struct l2 *l2 = &of->l2;
    l2_check_numbers(cache, l2);
    const cache_miss *miss = of->misses, *end = of->fast.next_miss;
    struct l2_known *const table = l2->known;
    struct settling settling = settle_begin(of, of->missed_from);
    uint32_t *log = of->snoop.active.log_end;
    uint64_t others = 0, ahead = 0, far_at[LANES] = {0}; /* others: loads that are not plain near */
    do {
        uint32_t what = (uint32_t)*miss;
        if (what >= MISS_STORE) {
            store_behind(cache, of, &settling, settling.time + ((*miss - of->missed_since) >> 32),
                         what);
            continue;
        }
        size_t line = what >> L1_TO_L2;
        SETTLED(line);
        struct l2_known *known = &table[line];
        uint32_t put = known->put;
        *log = what;
        SETTLED(log);
        log++;
        if (!SELDOM(put < settling.oldest) && is_plain_near(known, put)) {
            ahead += put & L2_PREFETCHED;
            settling.time += cache->near_stall;
            continue;
        }
        uint64_t now = settling.time + ((*miss - of->missed_since) >> 32);
        others++;
        if (put < settling.oldest &&
            is_plain_far(cache, known, l2->expects, cache->l3_line[line], (uint32_t)line, now)) {
            order_use(cache, cache->l3_line[line]);
            of->counts.far[line % LANES]++;
            far_at[line % LANES] = now;
            known->put = settling.oldest + l2->span;
            settling.oldest += L2_PUT;
            l2_expect(l2, known);
            settling.time += cache->far_stall;
            continue;
        }
        l2->oldest = settling.oldest;
        settling.time += put >= settling.oldest ? load_near(cache, of, now, (uint32_t)line, known)
                                                : load_far(cache, of, now, (uint32_t)line, known);
        settling.oldest = l2->oldest;
    } while (++miss != end);
    l2->oldest = settling.oldest;
    settle_end(of, &settling);
    of->counts.near += (uint64_t)(log - of->snoop.active.log_end) - others;
    of->counts.stream_hit += ahead;
    of->snoop.active.log_end = log;
    of->fast.next_miss = of->misses;
    settle_units(cache, of, far_at);
    settle_else(cache, of, settling.time + ((end[-1] - of->missed_since) >> 32));
    return (uint32_t)(settling.time - of->missed_from);
}

/* The same for one that is not postponed. */
APART uint32_t settle_one(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t what)
{
    struct l2 *l2 = &of->l2;
    uint32_t line = what >> L1_TO_L2, stall;
    l2_check_numbers(cache, l2);
    if (what >= MISS_STORE) {
        struct settling settling = settle_begin(of, 0);
        store_behind(cache, of, &settling, now, what);
        settle_end(of, &settling);
        stall = (uint32_t)settling.time;
    } else {
        struct l2_known *known = &l2->known[line];
        uint32_t put = known->put, there = cache->l3_line[line];
        *of->snoop.active.log_end++ = what;
        if (put >= l2->oldest)
            stall = is_plain_near(known, put) ? take_near(cache, of, put)
                                              : load_near(cache, of, now, line, known);
        else if (is_plain_far(cache, known, l2->expects, there, line, now)) {
            take_free(cache, of, known, line, there, now);
            l2_expect(l2, known);
            stall = (uint32_t)cache->far_stall;
        } else
            stall = load_far(cache, of, now, line, known);
    }
    if (SELDOM(logs_full(of))) quick_tire(of);
    return stall;
}

/* And while somebody listens: where L2 found its line. */
APART uint32_t settle_heard(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t what)
{
    uint64_t near = of->counts.near, far = counts_far(&of->counts);
    uint32_t stall = settle_one(cache, of, now, what);
    if (of->counts.near != near) of->served = CACHE_IN_L2;
    if (counts_far(&of->counts) != far) of->served = CACHE_IN_L3;
    return stall;
}

uint32_t cache_drain_fast(struct cache_fast *fast)
{
    struct cache_core *of = (struct cache_core *)fast;
    _Static_assert(offsetof(struct cache_core, fast) == 0, "it is the beginning of its core");
    if (of->most_misses > 1) return settle_all(of->cache, of);
    /* Read as they were just written, in halves, or the host waits. */
    typedef uint32_t half __attribute__((may_alias));
    uint32_t what = ((const half *)of->misses)[0],
             late = ((const half *)of->misses)[1] - (uint32_t)of->missed_from;
    fast->next_miss = of->misses;
    return of->cache->heard ? settle_heard(of->cache, of, of->missed_from + late, what)
                            : settle_one(of->cache, of, of->missed_from + late, what);
}

uint32_t cache_drain(struct cache_view *view, uint64_t now)
{
    struct cache_core *of = view->of;
    if (of->fast.next_miss != of->misses) return settle_all(view->cache, of);
    if (of->most_misses > 1)
        settle_else(view->cache, of, now); /* of what accesses that were not quick have left */
    return 0;
}
