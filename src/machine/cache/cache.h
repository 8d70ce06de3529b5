/* Simulates the memory hierarchy of a node: L1 I and D and a TLB per core, a prefetch buffer (L2)
 * per core, L3 banks, DDR controllers, L1 coherence and its snoop filters. It returns the stall
 * cycles of every access and counts the events that the chips' counters see.
 *
 * Left out: data (only the places of lines are kept), the 440's shadow TLBs. Counts are exact
 * for this model; docs/model-memory.md lists each decision, its source and what is a guess.
 *
 * Hits need no call. For each core and address space there is a table with one byte per 32 bytes of
 * guest address (cache_lines). A set bit promises that the access hits in L1 and TLB, costs nothing
 * and changes no state. When the bit is clear, the caller uses cache_load, cache_store or
 * cache_fetch; the call sets the bit when the next such access is free. Bits may be missing (after
 * a TLB entry returned), never wrong. Where a hit changes state (an LRU L1, or data with
 * `miss_kinds`), bits are never set: cache_is_slow.
 *
 * Hits are therefore not counted here: hits = accesses - misses, and the caller knows its accesses
 * (two where one crosses a line; cache management apart, ERR-11).
 *
 * Time: `now` is the calling core's cycle and never goes back on one core. Calls return the cycles
 * that the core has to wait. Clocks of different cores may differ. Cycles of a request in flight
 * are counted when it begins.
 *
 * Not thread-safe: one node is one thread at a time. Same calls, same bits: no host address, clock
 * or hash is used.
 *
 * Terms: docs/glossary.md */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "chiliad/catalog.h"
#include "chiliad/error.h"

enum {
    CACHE_CORES = 16,
    CACHE_FILLS = 8,
    CACHE_STORES = 64,
    CACHE_OPEN_LINES = 8,
    CACHE_PORTS = 4,
    CACHE_MISSES = 1000
};

/* How much of the hierarchy is simulated: all of it; L1 and TLB, whose misses take no time;
 * nothing.
 */
enum cache_model { CACHE_MODEL_FULL, CACHE_MODEL_L1, CACHE_MODEL_NONE };
enum cache_policy { CACHE_ROUND_ROBIN, CACHE_LRU, CACHE_RANDOM };

struct cache_l1_config {
    uint64_t size;
    uint32_t line, ways;
    enum cache_policy policy;
};

/* All times in core cycles. A latency is load-to-use from the core; the stall is what is beyond
 * that of L1. */
struct cache_config {
    unsigned cores;
    struct cache_l1_config l1i, l1d;
    bool write_through;   /* L1D: every store goes on to memory; else dirty lines are cast out */
    bool store_allocate;  /* L1D: a store miss fills the line */
    uint32_t fills;       /* lines that a core can wait for at a time */
    uint32_t stores;      /* entries of the store queue */
    uint32_t store_time;  /* how long a store occupies one */
    uint32_t store_lines; /* lines of the last stores to memory that stores join */
    uint32_t l1_latency;
    uint32_t tlb_entries, page, tlb_miss; /* tlb_miss: what the handler costs */
    uint32_t l2_entries, l2_line, l2_streams, l2_depth, l2_filter, l2_latency;
    uint64_t l3_size; /* all banks together; 0: there is none */
    uint32_t l3_banks, l3_line, l3_ways, l3_latency, l3_busy, l3_transfer;
    uint32_t l3_refresh_interval,
        l3_refresh; /* how often, and for how long, eDRAM refreshes itself; 0: never */
    enum cache_policy l3_policy;
    uint32_t controllers, ddr_latency, ddr_busy, ddr_row;
    uint32_t device_latency, device_store; /* of a load; of a store, with its own cycle */
    bool coherent;                         /* stores invalidate the line in other cores' L1D */
    bool snoop_filter;                     /* with `coherent` */
    uint32_t snoop_streams, snoop_lines;
    uint64_t seed; /* of random replacement */
    enum cache_model model;
    bool miss_kinds; /* misses of L1D and L3 are classified: cold, capacity, conflict, coherence */
};

/* What a machine file says; keys it does not give have the values of the table in cache_config.c.
 */
int cache_config_read(struct cache_config *config, const struct chil_machine *machine,
                      struct chil_error *err);
/* Whether sizes, lines and times fit together: one line that says what does not. cache_new needs a
 * good one. */
int cache_config_check(const struct cache_config *config, struct chil_error *err);

struct cache;

struct cache *cache_new(const struct cache_config *config);
void cache_free(struct cache *cache);
const struct cache_config *cache_config_get(const struct cache *cache);
/* Whether every data access, or every fetch, has to be a call. */
bool cache_is_slow(const struct cache *cache);
/* Whether every access is free (CACHE_MODEL_NONE): no fetch needs a test, no access an aligned
 * address. */
bool cache_is_free(const struct cache *cache);

/* --- Address spaces -------------------------------------------------------------------------- */

/* A space maps pages of 4 KiB to physical frames (src/machine/mem/mem_frames.h). The frames are the
 * cache's: the memory of a node is where its hierarchy ends. */
struct mem_frames;
struct mem_frames *cache_frames(struct cache *cache);
unsigned cache_space_new(struct cache *cache);
void cache_space_free(struct cache *cache, unsigned space);
/* The pages of the range are no longer mapped (munmap): their TLB entries go, their frames are
 * free. Lines stay in the caches, which are physical. Bytes of partial pages are rounded outwards.
 */
void cache_forget(struct cache *cache, unsigned space, uint32_t address, uint64_t length);
/* Rights of the range have changed: the next access to each line is a call. The model's state
 * stays. */
void cache_recheck(struct cache *cache, unsigned space, uint32_t address, uint64_t length);
/* Pages of `space` at `address` become the frames of `from` at `from_address` (shared memory). All
 * page-aligned. */
void cache_share(struct cache *cache, unsigned space, uint32_t address, unsigned from,
                 uint32_t from_address, uint64_t length);

enum { CACHE_GRANULE_BITS = 5, CACHE_GRANULES = 1 << (32 - CACHE_GRANULE_BITS) };

enum cache_bit {
    CACHE_LOAD = 1,
    CACHE_STORE = 2,
    CACHE_FETCH = 4,
    CACHE_PAGE = 8,    /* the model's own, in the first byte of a page: it is in the TLB */
    CACHE_IN_L1D = 16, /* the model's own: the line was filled into L1D through this address and is
                          there, whatever the TLB has */
    CACHE_CONTENDED = 32, /* the model's own: the line may be contended (cache_order.c), so it has
                             no fast path */
    CACHE_OPEN = 128 /* the model's own: the line was opened by a store to this address, likewise;
                        the sign, which is easily tested */
};

/* The table of one core and space: byte [address >> CACHE_GRANULE_BITS]. Lives as long as the
 * space. It is followed by 15 times as many bytes that are always 0, so an index with low address
 * bits above it finds no bit set. */
#define CACHE_TABLE ((size_t)16 * CACHE_GRANULES)
const uint8_t *cache_lines(struct cache *cache, unsigned core, unsigned space);
/* What one core has of one space: the argument of the fast path. Lives as long as the space. */
struct cache_view;
struct cache_view *cache_view(struct cache *cache, unsigned core, unsigned space);
struct cache_fast *cache_fast(struct cache_view *view); /* its core's */

/* --- Accesses -------------------------------------------------------------------------------- */

/* From `limit` on, accesses of the core that other cores see (cache_order.c) are not made: a load,
 * store or cache management then returns CACHE_WAITS and has changed nothing. Without this call, or
 * where L1D are not coherent, none waits. */
#define CACHE_WAITS UINT32_MAX
void cache_order(struct cache *cache, unsigned core, uint64_t limit);

uint32_t cache_load(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                    uint32_t size, uint64_t now);
uint32_t cache_store(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                     uint32_t size, uint64_t now);
/* The fast path, for an access within a line to a page with the rights it needs. Returns the stall,
 * or CACHE_SLOW when the slow path must do it; then nothing has changed. Uses no vector registers
 * of the host where CACHE_KEEPS_VECTORS is defined. Does not notify the listener: the caller does.
 */
#define CACHE_SLOW UINT32_MAX
#define CACHE_NOTIFY                                                                               \
    (UINT32_C(1) << 31) /* flag in a stall: the listener has to be notified, or accesses are used  \
                           up */
uint32_t cache_load_fast(struct cache_view *view, uint32_t address, uint64_t now);
uint32_t cache_store_fast(struct cache_view *view, uint32_t address, uint64_t now);
uint32_t cache_zero_fast(struct cache_view *view, uint32_t address,
                         uint64_t now); /* CACHE_ZERO of cache_manage */
void cache_notify_load(struct cache_view *view, uint32_t address, uint64_t start, uint32_t stall);
void cache_notify_used(struct cache_view *view,
                       uint32_t stall); /* of other accesses: only the latter */
/* For a stall with CACHE_NOTIFY: counts the miss for notify_uniform and clears the flag, if that
 * suffices. Fast path, too. */
uint32_t cache_count_load(struct cache_view *view, uint32_t stall);
#if defined __x86_64__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ &&                   \
    !defined __SANITIZE_THREAD__
#define CACHE_KEEPS_VECTORS
#endif
/* Defers misses. From here on, up to CACHE_MISSES fast-path misses of the core change L1 only and
 * return 0. The drain does their L2 and L3 work and returns their stall cycles: in the fast-path
 * call that fills the list, or in cache_drain. `now` of the calls excludes the cycles of deferred
 * misses. While it is less than the time returned here, all deferred misses together cost less than
 * `limit` allows. Until cache_drain only fast-path accesses may be made and no counts read. `none`:
 * the caller would drain too often, so no miss is deferred. */
uint64_t cache_defer(struct cache_view *view, uint64_t now, uint64_t limit, bool none);
/* cache_drain: drains the deferred misses, before every slow-path access. Returns what they cost;
 * `now` excludes that. cache_defer_end: the same, and no more misses are deferred. */
uint32_t cache_drain(struct cache_view *view, uint64_t now);
uint32_t cache_defer_end(struct cache_view *view);
/* The line that holds the instruction at `address`. */
uint32_t cache_fetch(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                     uint64_t now);

/* Cache management: the line that holds `address`. */
enum cache_op {
    CACHE_ZERO,       /* dcbz */
    CACHE_FLUSH,      /* dcbf: written back and gone, from all L1D where they are coherent */
    CACHE_CLEAN,      /* dcbst */
    CACHE_INVALIDATE, /* dcbi: gone, unwritten */
    CACHE_TOUCH, /* dcbt, dcbtst: fills without waiting; nothing on a TLB miss or with all fills
                    taken */
    CACHE_INVALIDATE_CODE, /* icbi */
};

uint32_t cache_manage(struct cache *cache, enum cache_op op, unsigned core, unsigned space,
                      uint32_t address, uint64_t now);
/* sync, msync: until the store queue is empty. */
uint32_t cache_sync(struct cache *cache, unsigned core, uint64_t now);
/* An access to a device's register, past the caches. */
uint32_t cache_device(struct cache *cache, unsigned core, bool store, uint64_t now);
/* The sum of all that a core's part of the hierarchy has counted, but for loads of devices: when it
 * is the same, nothing has changed there. */
uint64_t cache_activity(const struct cache *cache, unsigned core, uint64_t *device_loads);
void cache_repeat_device_loads(struct cache *cache, unsigned core, uint64_t times);

/* A DMA engine has read or written memory, without a core: L3 is looked up and filled
 * (cache_dma.c), lines that it wrote leave the L1D of all cores. `now` is not before any other
 * access's. */
void cache_dma(struct cache *cache, unsigned space, uint32_t address, uint32_t size, bool write,
               uint64_t now);

/* --- Listening ------------------------------------------------------------------------------- */

/* A transaction of the hierarchy. The listener is notified when its cost is known. Without a
 * listener a miss costs one test. */
enum cache_transaction_kind {
    CACHE_LOAD_MISS,
    CACHE_STORE_MISS,
    CACHE_FETCH_MISS,
    CACHE_INVALIDATION
};
enum cache_level { CACHE_NOWHERE, CACHE_IN_L2, CACHE_IN_L3, CACHE_IN_DDR };
struct cache_transaction {
    uint8_t core, sender; /* core: of the L1; sender: the core whose store caused an invalidation */
    uint8_t kind, level;  /* level: where the line was found */
    uint32_t address; /* of the access; of an invalidated line its first, in the space that mapped
                         its frame last */
};
struct cache_listener {
    /* The core waited from `start` to `end`. All in registers: this is on the way of every miss. */
    void (*notify)(void *context, struct cache_transaction transaction, uint64_t start,
                   uint64_t end);
    /* NULL: `notify` gets every miss. Else most misses come here, later, grouped by everything but
     * address (0) and time: `count` misses that stalled for `stall` cycles. */
    void (*notify_uniform)(void *context, struct cache_transaction transaction, uint32_t stall,
                           uint64_t count);
    void *context;
};
/* In a notification of an L1D miss: its kind (enum kind of cache_kinds.h), with `miss_kinds`. */
unsigned cache_miss_kind(const struct cache *cache, unsigned core);
/* Borrowed; NULL: no listener. The previous listener gets its outstanding notify_uniform calls
 * first. */
void cache_listen(struct cache *cache, const struct cache_listener *listener);
/* Makes the outstanding notify_uniform calls of a core, or of all (CACHE_ALL). For a listener whose
 * own attributes are about to change. */
void cache_notify_uniform(struct cache *cache, unsigned core);

/* --- Counting down --------------------------------------------------------------------------- */

/* Calls back when a core has made so many accesses, behind the last of them: with misses that are
 * not deferred longer than that, all counts are right. An access is a line that a load, store,
 * fetch, cache management, sync or device access comes to the hierarchy for; what hits by its line
 * byte counts nothing and is none. UINT64_MAX: never. `stall`: of the last access, if the core's
 * time may not have it yet. */
void cache_notify_accesses(struct cache *cache,
                           bool (*used)(void *context, unsigned core, uint32_t stall),
                           void *context);
void cache_count_accesses(struct cache *cache, unsigned core, uint64_t accesses); /* NULL: no-op */

/* --- Wires ----------------------------------------------------------------------------------- */

/* What a signal's number counts. */
enum cache_scope {
    CACHE_OF_CORE,  /* "coreN." and, for all cores together, "core." */
    CACHE_OF_L2,    /* "l2.N.", N a core, and "l2." for all */
    CACHE_OF_SNOOP, /* "snoop.N.", N a core */
    CACHE_OF_PORT,  /* "snoop.N.portP." */
    CACHE_OF_BANK,  /* "l3.N." */
    CACHE_OF_DDR,   /* "ddr.N." */
    CACHE_OF_NODE,  /* "l3.": all banks together, as Blue Gene/L's rows have it */
};

enum cache_signal_id {
#define CACHE_SIGNAL(scope, id, name, ...) CACHE_SIGNAL_##id,
#include "machine/cache/cache_signals.def"
    CACHE_SIGNALS
};

#define CACHE_ALL UINT32_MAX

struct cache_signal {
    enum cache_signal_id id;
    uint32_t instance; /* core, core * CACHE_PORTS + port, bank, controller; CACHE_ALL */
};

/* The signal of that name; false when the hierarchy drives no such signal on this node. */
bool cache_signal_find(const struct cache *cache, const char *name, struct cache_signal *signal);
/* Its name, in a buffer of at least CACHE_NAME bytes. */
enum { CACHE_NAME = 48 };
void cache_signal_name(struct cache_signal signal, char *name);
enum cache_scope cache_signal_scope(enum cache_signal_id id);
uint32_t cache_signal_instances(const struct cache *cache, enum cache_signal_id id);
/* How often it rose since the beginning, and for how many core cycles it was high. An event without
 * a duration is high for one cycle of its unit: a core cycle, or two from L2 on. */
void cache_signal_count(const struct cache *cache, struct cache_signal signal,
                        uint64_t *occurrences, uint64_t *high_cycles);

/* --- Attribution -------------------------------------------------------------------------------
 */

/* The counts of every unit that a caller is charged with. Begins as {0}. */
struct cache_attribution {
    uint64_t **unit; /* NULL: nothing yet */
};
struct cache_attributor;
struct cache_attributor *cache_attributor_new(const struct cache *cache);
void cache_attributor_free(struct cache_attributor *attributor);
/* Adds what was counted since the last call to `attribution`; `core` has been running. */
void cache_attribute(struct cache_attributor *attributor, unsigned core,
                     struct cache_attribution *attribution);
void cache_attribution_fini(const struct cache_attributor *attributor,
                            struct cache_attribution *attribution);
/* A struct cache of counts only, for cache_signal_count: zero, then attributions added up. */
struct cache *cache_counts_new(const struct cache *like);
void cache_counts_free(struct cache *counts);
void cache_counts_clear(struct cache *counts);
void cache_counts_add(struct cache *counts, const struct cache_attributor *attributor,
                      const struct cache_attribution *attribution);

/* What always holds between signals, all instances added up: sum of signed terms = 0. Checked by
 * tests and after every run (src/machine/node/node_laws.c). */
struct cache_law {
    const char *text;
    struct {
        int sign;
        enum cache_signal_id id;
    } terms[12]; /* ends with sign 0 */
};
extern const struct cache_law cache_laws[];
extern const unsigned cache_law_count;
/* The terms with sign 1 and those with -1, added up, of all instances (CACHE_ALL) or of one core.
 * Laws of what is not counted on this node (`miss_kinds`) hold: 0 = 0. */
void cache_law_sides(const struct cache *cache, const struct cache_law *law, uint32_t core,
                     uint64_t *left, uint64_t *right);
/* Whether all its signals are a core's or its L2's, so that it holds for each core by itself. */
bool cache_law_of_core(const struct cache_law *law);
/* The difference of both sides for all of this node; 0 when the law holds. */
int64_t cache_law_error(const struct cache *cache, const struct cache_law *law);
/* For how many cycles a DDR controller was busy, and until when it is: not more, as it serves one
 * line at a time. */
void cache_controller_busy(const struct cache *cache, unsigned controller, uint64_t *busy,
                           uint64_t *until);

#endif
