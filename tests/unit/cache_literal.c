/* See cache_literal.h. In the order of a miss, last level first: L3 and DDR, L2, snoops, L1,
 * spaces, accesses. */
#include "cache_literal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kinds_literal.h"
#include "machine/cache/cache_unit.h" /* CALENDAR_WINDOW */
#include "random.h"

enum { INSTANCES = CACHE_CORES * CACHE_PORTS, PAGES = 1 << 20, SPACES = 16 };
#define NO_ADDRESS UINT64_MAX

struct way {
    bool valid, dirty;
    bool ahead;       /* came from DDR for a prefetch; not asked for since */
    uint64_t address; /* of the line's first byte */
    uint64_t used, start, ready;
};

struct store {
    uint64_t line, sets, ways;
    enum cache_policy policy;
    uint64_t random, clock;
    struct way *way;     /* [set][way] */
    uint64_t *next;      /* [set] */
    uint64_t *set_fills; /* [set], since the last wrap */
};

struct entry {
    bool valid, prefetched, used, from_ddr;
    uint64_t address, ready;
};

struct interval {
    uint64_t start, end;
};

struct intervals {
    struct interval *all;
    size_t count, capacity;
    size_t past; /* how many at the beginning have long ended */
};

struct stream {
    uint64_t base, mask;
};

struct core {
    struct store code, data;
    struct literal_kinds kinds; /* of L1D */
    struct {
        bool valid;
        unsigned space;
        uint32_t page;
    } tlb[512];
    unsigned next_tlb;
    struct entry buffer[64];
    unsigned next_entry;
    uint64_t streams[64], expected[64]; /* line addresses, NO_ADDRESS: none */
    unsigned next_stream, next_expected;
    struct intervals reads; /* of L2 */
    struct intervals fills, prefetches, l3_reads;
    uint64_t queue[CACHE_STORES];
    uint64_t
        open[CACHE_OPEN_LINES]; /* lines of the last stores to memory, a ring; NO_ADDRESS: none */
    unsigned next_open;
    struct stream active[64], history[64];
    unsigned active_count, history_count;
    uint64_t low, high;
    uint64_t absent[CACHE_PORTS][64];
    unsigned next_absent[CACHE_PORTS];
};

struct busy {
    uint64_t from, until;
};

/* A DDR controller: when it is busy, by request, in any order, as far as is known: from `floor` on.
 */
struct bookings {
    struct intervals busy;
    uint64_t floor;
};

struct bank {
    struct store store;
    struct busy directory[2];
    uint64_t delivered[2], deposited[2];
};

struct literal {
    struct cache_config config;
    struct core *cores;
    struct bank *banks;
    struct literal_kinds kinds; /* of L3 */
    struct bookings *ddr;       /* by controller */
    uint64_t *row;              /* by controller; NO_ADDRESS: none open */
    int64_t *frame[SPACES];     /* by page; -1: none */
    unsigned *owners;           /* by frame: how many pages */
    int64_t frames;
    int64_t *free_frames;
    size_t free_count;
    uint64_t latest;
    uint64_t occurrences[CACHE_SIGNALS][INSTANCES], high[CACHE_SIGNALS][INSTANCES];
};

/* --- Counting -------------------------------------------------------------------------------- */

#define RAISE(lit, id, instance) raise_signal(lit, CACHE_SIGNAL_##id, instance, true, 0)
#define HOLD(lit, id, instance, cycles)                                                            \
    raise_signal(lit, CACHE_SIGNAL_##id, instance, false, cycles)

static void raise_signal(struct literal *lit, enum cache_signal_id id, unsigned instance,
                         bool pulse, uint64_t cycles)
{
    lit->occurrences[id][instance]++;
    if (pulse) cycles = cache_signal_scope(id) == CACHE_OF_CORE ? 1 : 2;
    lit->high[id][instance] += cycles;
}

static void add_interval(struct intervals *list, uint64_t start, uint64_t end)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 1024;
        list->all = realloc(list->all, list->capacity * sizeof *list->all);
        assert(list->all);
    }
    list->all[list->count++] = (struct interval){start, end};
}

static int by_time(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Cycles in which exactly `level` of the intervals are there; level 0: at least one. */
static uint64_t at_level(const struct intervals *list, unsigned level)
{
    uint64_t(*edges)[2] = malloc((2 * list->count + 1) * sizeof *edges), sum = 0, now = 0;
    assert(edges);
    for (size_t i = 0; i < list->count; i++) {
        edges[2 * i][0] = list->all[i].start, edges[2 * i][1] = 1;
        edges[2 * i + 1][0] = list->all[i].end, edges[2 * i + 1][1] = UINT64_MAX;
    }
    qsort(edges, 2 * list->count, sizeof *edges, by_time);
    for (size_t i = 0; i < 2 * list->count; i++) {
        bool counts = level ? now == level : now > 0;
        if (i && counts) sum += edges[i][0] - edges[i - 1][0];
        now += edges[i][1];
    }
    free(edges);
    return sum;
}

static uint64_t high_of(const struct literal *lit, struct cache_signal signal)
{
    unsigned n = signal.instance;
    switch (signal.id) {
    case CACHE_SIGNAL_L1D_FILL: return at_level(&lit->cores[n].fills, 0);
    case CACHE_SIGNAL_L2_READ_PENDING: return at_level(&lit->cores[n].reads, 0);
    case CACHE_SIGNAL_L2_READ_1: return at_level(&lit->cores[n].reads, 1);
    case CACHE_SIGNAL_L2_READ_2: return at_level(&lit->cores[n].reads, 2);
    case CACHE_SIGNAL_L2_READ_3: return at_level(&lit->cores[n].reads, 3);
    case CACHE_SIGNAL_L2_READ_L3_PENDING: return at_level(&lit->cores[n].l3_reads, 0);
    case CACHE_SIGNAL_L2_PREFETCH_PENDING: return at_level(&lit->cores[n].prefetches, 0);
    default: return lit->high[signal.id][n];
    }
}

/* eDRAM refreshes itself at every multiple of the interval, up to the last request that came to L3.
 */
static void refresh(struct literal *lit)
{
    lit->occurrences[CACHE_SIGNAL_L3_REFRESH][0] = lit->high[CACHE_SIGNAL_L3_REFRESH][0] = 0;
    if (!lit->config.l3_size || !lit->config.l3_refresh_interval) return;
    for (uint64_t at = lit->config.l3_refresh_interval; at <= lit->latest;
         at += lit->config.l3_refresh_interval)
        HOLD(lit, L3_REFRESH, 0, lit->config.l3_refresh);
}

static void note_request(struct literal *lit, uint64_t now)
{
    if (now > lit->latest) lit->latest = now;
}

void literal_count(struct literal *lit, struct cache_signal signal, uint64_t *occurrences,
                   uint64_t *high)
{
    if (signal.id == CACHE_SIGNAL_L3_REFRESH) refresh(lit);
    *occurrences = lit->occurrences[signal.id][signal.instance];
    *high = high_of(lit, signal);
}

bool literal_differs(struct literal *lit, const struct cache *fast,
                     struct literal_difference *difference)
{
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t n = 0; n < cache_signal_instances(fast, (enum cache_signal_id)id); n++) {
            struct cache_signal signal = {(enum cache_signal_id)id, n};
            uint64_t counted, wanted, high, wanted_high;
            cache_signal_count(fast, signal, &counted, &high);
            literal_count(lit, signal, &wanted, &wanted_high);
            if (counted == wanted && high == wanted_high) continue;
            cache_signal_name(signal, difference->name);
            difference->fast = counted == wanted ? high : counted;
            difference->literal = counted == wanted ? wanted_high : wanted;
            return true;
        }
    return false;
}

/* --- Sets ------------------------------------------------------------------------------------ */

static void store_init(struct store *store, uint64_t size, uint64_t line, uint64_t ways,
                       enum cache_policy policy, uint64_t seed)
{
    *store = (struct store){line, size / line / ways, ways, policy, seed, 0, NULL, NULL, NULL};
    store->way = calloc(store->sets * ways + 1, sizeof *store->way);
    store->next = calloc(store->sets + 1, sizeof *store->next);
    store->set_fills = calloc(store->sets + 1, sizeof *store->set_fills);
}

static void store_fini(struct store *store)
{
    free(store->way);
    free(store->next);
    free(store->set_fills);
}

/* Banks take every banks-th line. */
static struct way *set_of(const struct store *store, uint64_t address, uint64_t banks)
{
    return &store->way[address / store->line / banks % store->sets * store->ways];
}

static struct way *find(const struct store *store, uint64_t address, uint64_t banks)
{
    if (!store->sets) return NULL;
    struct way *set = set_of(store, address, banks);
    for (uint64_t i = 0; i < store->ways; i++)
        if (set[i].valid && set[i].address == address) return &set[i];
    return NULL;
}

static struct way *victim(struct store *store, uint64_t address, uint64_t banks)
{
    assert(store->sets && store->ways);
    struct way *set = set_of(store, address, banks), *oldest = set;
    if (store->policy == CACHE_ROUND_ROBIN) {
        uint64_t *next = &store->next[address / store->line / banks % store->sets];
        struct way *way = &set[*next];
        *next = (*next + 1) % store->ways;
        return way;
    }
    for (uint64_t i = 0; i < store->ways; i++) {
        if (!set[i].valid) return &set[i];
        if (set[i].used < oldest->used) oldest = &set[i];
    }
    return store->policy == CACHE_LRU ? oldest : &set[random_below(&store->random, store->ways)];
}

static void use(struct store *store, struct way *way)
{
    way->used = ++store->clock;
}

/* --- L3 and DDR ------------------------------------------------------------------------------ */

static uint64_t serve(struct busy *busy, uint64_t now, uint64_t length)
{
    if (now < busy->from || now > busy->until) *busy = (struct busy){now, now};
    uint64_t start = busy->until;
    busy->until += length;
    return start;
}

/* The booking that overlaps [start, end); NULL: none. */
static const struct interval *booked(const struct bookings *bookings, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < bookings->busy.count; i++)
        if (bookings->busy.all[i].start < end && bookings->busy.all[i].end > start)
            return &bookings->busy.all[i];
    return NULL;
}

/* When the last period without a pause began. */
static uint64_t last_period(const struct bookings *bookings)
{
    const struct intervals *busy = &bookings->busy;
    const struct interval *last = &busy->all[0];
    for (size_t i = 0; i < busy->count; i++)
        if (busy->all[i].start > last->start) last = &busy->all[i];
    uint64_t start = last->start;
    for (size_t i = 0; i < busy->count; i++)
        if (busy->all[i].end == start) {
            start = busy->all[i].start;
            i = SIZE_MAX; /* from the first on again */
        }
    return start;
}

/* The first free time for a request. Bookings are known until the last busy period begins more than
 * CALENDAR_WINDOW cycles behind them. */
static uint64_t serve_in_gap(struct bookings *bookings, uint64_t now, uint64_t length)
{
    struct intervals *busy = &bookings->busy;
    const struct interval *other;
    size_t kept = 0;
    if (!length || now < bookings->floor) return now;
    while ((other = booked(bookings, now, now + length)) != NULL)
        now = other->end;
    add_interval(busy, now, now + length);
    uint64_t last = last_period(bookings);
    if (last > bookings->floor + CALENDAR_WINDOW) bookings->floor = last - CALENDAR_WINDOW;
    for (size_t i = 0; i < busy->count; i++)
        if (busy->all[i].end >= bookings->floor) busy->all[kept++] = busy->all[i];
    busy->count = kept;
    return now;
}

/* A pair of cores shares a port; on a node of two cores each has its own. */
static unsigned port_of(const struct literal *lit, unsigned core)
{
    return lit->config.cores > 2 ? core / 2 % 2 : core % 2;
}

static void touch_row(struct literal *lit, uint64_t address)
{
    unsigned c = (unsigned)(address / lit->config.l3_line % lit->config.controllers);
    uint64_t row = address / lit->config.ddr_row;
    if (lit->row[c] == row) return;
    if (lit->row[c] != NO_ADDRESS) RAISE(lit, L3_PAGE_CLOSE, 0);
    RAISE(lit, L3_PAGE_OPEN, 0);
    lit->row[c] = row;
}

static uint64_t use_ddr(struct literal *lit, uint64_t address, bool write, uint64_t now)
{
    unsigned c = (unsigned)(address / lit->config.l3_line % lit->config.controllers);
    uint64_t start = serve_in_gap(&lit->ddr[c], now, lit->config.ddr_busy);
    if (write) {
        RAISE(lit, DDR_STORE, c);
        RAISE(lit, L3_DDR_STORE, 0);
    } else {
        RAISE(lit, DDR_FETCH, c);
        RAISE(lit, L3_DDR_FETCH, 0);
    }
    touch_row(lit, address);
    return start;
}

static void edram(struct literal *lit)
{
    HOLD(lit, L3_EDRAM_ACCESS, 0, lit->config.l3_busy);
}

static void castout_l3(struct literal *lit, uint64_t address, uint64_t now)
{
    RAISE(lit, L3_MISS_CASTOUT, 0);
    RAISE(lit, L3_REQUEST_CASTOUT, 0);
    RAISE(lit, L3_EDRAM_READ, 0);
    edram(lit);
    use_ddr(lit, address, true, now);
}

static void evict_l3(struct literal *lit, struct bank *bank, struct way *way, uint64_t now)
{
    if (!way->valid) return;
    RAISE(lit, L3_EVICT, 0);
    for (unsigned port = 0; port < 2; port++)
        if (bank->deposited[port] == way->address) bank->deposited[port] = NO_ADDRESS;
    if (way->dirty) castout_l3(lit, way->address, now);
}

static uint64_t miss_l3(struct literal *lit, unsigned b, uint64_t address, bool dirty, bool ahead,
                        uint64_t now)
{
    struct bank *bank = &lit->banks[b];
    RAISE(lit, MH_ALLOCATION, b);
    RAISE(lit, L3_REQUEST, 0);
    RAISE(lit, L3_TAKEN, 0);
    RAISE(lit, L3_REQUEST_REFILL, 0);
    RAISE(lit, L3_EDRAM_WRITE, 0);
    edram(lit);
    uint64_t start = use_ddr(lit, address, false, now);
    if (start > now) HOLD(lit, MH_NOT_TAKEN, b, start - now);
    uint64_t ready = start + lit->config.ddr_latency - lit->config.l1_latency;
    if (!bank->store.sets) return ready;
    struct way *way = victim(&bank->store, address, lit->config.l3_banks);
    evict_l3(lit, bank, way, start);
    *way = (struct way){.valid = true, .dirty = dirty, .ahead = ahead, .address = address};
    way->start = start;
    way->ready = ready;
    use(&bank->store, way);
    return ready;
}

#define WIRE(id) CACHE_SIGNAL_##id

/* By port, by directory, by hit or miss. */
static const enum cache_signal_id read_signals[2][2][2] = {
    {{WIRE(RD0_MISS0), WIRE(RD0_HIT0)}, {WIRE(RD0_MISS1), WIRE(RD0_HIT1)}},
    {{WIRE(RD1_MISS0), WIRE(RD1_HIT0)}, {WIRE(RD1_MISS1), WIRE(RD1_HIT1)}},
};
static const enum cache_signal_id line_signals[2][2] = {{WIRE(RD0_SINGLE), WIRE(RD0_BURST)},
                                                        {WIRE(RD1_SINGLE), WIRE(RD1_BURST)}};
static const enum cache_signal_id lookup_signals[2] = {WIRE(DIR0_LOOKUP), WIRE(DIR1_LOOKUP)};
static const enum cache_signal_id wait_signals[2] = {WIRE(DIR0_NOT_TAKEN), WIRE(DIR1_NOT_TAKEN)};
static const enum cache_signal_id collision_signals[2] = {WIRE(RD0_COLLISION), WIRE(RD1_COLLISION)};
static const enum cache_signal_id taken_signals[2] = {WIRE(L3_TAKEN_READ0), WIRE(L3_TAKEN_READ1)};
static const enum cache_signal_id l3_kind_signals[] = {WIRE(L3_COLD), WIRE(L3_CAPACITY),
                                                       WIRE(L3_CONFLICT)};
static const enum cache_signal_id deposit_signals[2] = {WIRE(WR0_DEPOSIT), WIRE(WR1_DEPOSIT)};
static const enum cache_signal_id node_deposit_signals[2] = {WIRE(L3_WRITE0), WIRE(L3_WRITE1)};
static const enum cache_signal_id joined_signals[2] = {WIRE(L3_WRITE0_HIT), WIRE(L3_WRITE1_HIT)};
static const enum cache_signal_id write_wait_signals[2] = {WIRE(WR0_NOT_TAKEN),
                                                           WIRE(WR1_NOT_TAKEN)};

static void raise_read(struct literal *lit, unsigned b, unsigned port, unsigned dir, bool hit)
{
    raise_signal(lit, read_signals[port][dir][hit], b, true, 0);
    if (hit) return;
    RAISE(lit, L3_MISS_REFILL, 0);
    raise_signal(lit, taken_signals[port], 0, true, 0);
}

static struct way *look_up(struct literal *lit, unsigned b, unsigned dir, uint64_t address,
                           uint64_t start)
{
    struct way *way = find(&lit->banks[b].store, address, lit->config.l3_banks);
    raise_signal(lit, lookup_signals[dir], b, true, 0);
    if (lit->config.miss_kinds) {
        enum kind kind = literal_kinds_use(&lit->kinds, address / lit->config.l3_line, true);
        if (!way) raise_signal(lit, l3_kind_signals[kind], 0, true, 0);
    }
    if (!way) return NULL;
    if (start >= way->start && start < way->ready)
        RAISE(lit, L3_IN_FLIGHT, 0);
    else
        RAISE(lit, L3_HIT, 0);
    use(&lit->banks[b].store, way);
    return way;
}

static uint64_t read_l3(struct literal *lit, unsigned core, uint64_t address, bool prefetch,
                        uint64_t now, bool *from_ddr)
{
    const struct cache_config *c = &lit->config;
    address -= address % c->l3_line;
    note_request(lit, now);
    unsigned b = (unsigned)(address / c->l3_line % c->l3_banks);
    unsigned dir = (unsigned)(address / c->l3_line / c->l3_banks % 2), port = port_of(lit, core);
    struct bank *bank = &lit->banks[b];
    uint64_t start = serve(&bank->directory[dir], now, c->l3_busy), ready;
    if (start > now) raise_signal(lit, wait_signals[dir], b, false, start - now);
    raise_signal(lit, line_signals[port][prefetch], b, true, 0);
    if (prefetch) RAISE(lit, L3_PREFETCH_ACCEPTED, 0);
    RAISE(lit, L3_EDRAM_READ, 0);
    RAISE(lit, L3_EDRAM_BURST, 0);
    edram(lit);
    struct way *way = look_up(lit, b, dir, address, start);
    raise_read(lit, b, port, dir, way != NULL);
    *from_ddr = !way;
    if (way) {
        if (!prefetch) {
            *from_ddr = way->ahead;
            way->ahead = false;
        }
        ready = start + c->l3_latency - c->l1_latency;
        if (way->start <= start && way->ready > ready) ready = way->ready;
    } else {
        if (prefetch) RAISE(lit, BANK_PREFETCH, b);
        ready = miss_l3(lit, b, address, false, prefetch, start);
    }
    uint64_t last = bank->delivered[port];
    if (last && ready >= last && ready - last < c->l3_transfer) {
        raise_signal(lit, collision_signals[port], b, true, 0);
        ready = last + c->l3_transfer;
    }
    return bank->delivered[port] = ready;
}

static void write_l3(struct literal *lit, unsigned core, uint64_t address, uint64_t now)
{
    const struct cache_config *c = &lit->config;
    address -= address % c->l3_line;
    note_request(lit, now);
    unsigned b = (unsigned)(address / c->l3_line % c->l3_banks);
    unsigned dir = (unsigned)(address / c->l3_line / c->l3_banks % 2), port = port_of(lit, core);
    struct bank *bank = &lit->banks[b];
    raise_signal(lit, deposit_signals[port], b, true, 0);
    raise_signal(lit, node_deposit_signals[port], 0, true, 0);
    if (bank->deposited[port] == address) {
        raise_signal(lit, joined_signals[port], 0, true, 0);
        return;
    }
    RAISE(lit, L3_BUFFER_ALLOCATE, 0);
    RAISE(lit, L3_EDRAM_WRITE, 0);
    HOLD(lit, L3_EDRAM_RMW, 0, c->l3_busy);
    edram(lit);
    uint64_t start = serve(&bank->directory[dir], now, c->l3_busy);
    if (start > now) raise_signal(lit, write_wait_signals[port], b, false, start - now);
    struct way *way = look_up(lit, b, dir, address, start);
    if (way)
        way->dirty = true;
    else {
        RAISE(lit, L3_TAKEN_WRITE, 0);
        miss_l3(lit, b, address, true, false, start);
    }
    if (bank->store.sets)
        bank->deposited[port] = address;
    else
        castout_l3(lit, address, start);
}

/* --- L2 -------------------------------------------------------------------------------------- */

static struct entry *in_buffer(struct literal *lit, unsigned core, uint64_t address)
{
    for (unsigned i = 0; i < lit->config.l2_entries; i++) {
        struct entry *entry = &lit->cores[core].buffer[i];
        if (entry->valid && entry->address == address) return entry;
    }
    return NULL;
}

/* Others' stores within these bytes no longer join the one before. */
static void end_joining(struct literal *lit, unsigned core, uint64_t address, uint64_t length)
{
    for (unsigned i = 0; i < lit->config.cores; i++) {
        uint64_t *open = lit->cores[i].open;
        for (unsigned k = 0; i != core && k < CACHE_OPEN_LINES; k++)
            if (open[k] != NO_ADDRESS && open[k] >= address && open[k] < address + length)
                open[k] = NO_ADDRESS;
    }
}

/* Where the core's stores to a line join; NULL: nowhere. */
static uint64_t *find_open(struct core *of, uint64_t line)
{
    for (unsigned i = 0; i < CACHE_OPEN_LINES; i++)
        if (of->open[i] == line) return &of->open[i];
    return NULL;
}

static void close_line(struct core *of, uint64_t line)
{
    uint64_t *open = find_open(of, line);
    if (open) *open = NO_ADDRESS;
}

static void put_in_buffer(struct literal *lit, unsigned core, struct entry entry)
{
    struct core *of = &lit->cores[core];
    end_joining(lit, core, entry.address, lit->config.l2_line);
    if (!lit->config.l2_entries) return;
    of->buffer[of->next_entry] = entry;
    of->next_entry = of->next_entry + 1 < lit->config.l2_entries ? of->next_entry + 1 : 0;
}

static void prefetch(struct literal *lit, unsigned core, uint64_t address, uint64_t now)
{
    struct core *of = &lit->cores[core];
    for (unsigned i = 1; i <= lit->config.l2_depth; i++) {
        uint64_t ahead = address + (uint64_t)i * lit->config.l2_line;
        if (ahead / 4096 != address / 4096) break;
        if (in_buffer(lit, core, ahead)) {
            RAISE(lit, L2_PRESENT, core);
            continue;
        }
        struct entry entry = {.valid = true, .prefetched = true, .address = ahead};
        entry.ready = read_l3(lit, core, ahead, true, now, &entry.from_ddr);
        RAISE(lit, L2_PREFETCH, core);
        RAISE(lit, L2_READ_L3, core);
        HOLD(lit, L2_PREFETCH_PENDING, core, 0);
        HOLD(lit, L2_READ_L3_PENDING, core, 0);
        add_interval(&of->prefetches, now, entry.ready);
        add_interval(&of->l3_reads, now, entry.ready);
        put_in_buffer(lit, core, entry);
    }
}

static void streams(struct literal *lit, unsigned core, uint64_t address, bool missed, uint64_t now)
{
    struct core *of = &lit->cores[core];
    const struct cache_config *c = &lit->config;
    if (!c->l2_streams || !c->l2_depth || !c->l2_entries) return;
    for (unsigned i = 0; i < c->l2_streams; i++)
        if (of->streams[i] == address) return;
    for (unsigned i = 0; i < c->l2_streams; i++)
        if (of->streams[i] != NO_ADDRESS && of->streams[i] + c->l2_line == address) {
            of->streams[i] = address;
            prefetch(lit, core, address, now);
            return;
        }
    if (!missed) return;
    for (unsigned i = 0; i < c->l2_filter; i++)
        if (of->expected[i] == address) {
            RAISE(lit, L2_FILTER_HIT, core);
            for (unsigned k = i; k < c->l2_filter; k++) /* it may have missed twice */
                if (of->expected[k] == address) of->expected[k] = NO_ADDRESS;
            of->streams[of->next_stream] = address;
            of->next_stream = (of->next_stream + 1) % c->l2_streams;
            prefetch(lit, core, address, now);
            return;
        }
    of->expected[of->next_expected] = address + c->l2_line;
    of->next_expected = of->next_expected + 1 < c->l2_filter ? of->next_expected + 1 : 0;
}

/* A prefetched line is used: whether its way from DDR ends here, and not at another core's earlier
 * use. */
static bool was_for_this(struct literal *lit, uint64_t address, bool from_ddr)
{
    address -= address % lit->config.l3_line;
    struct bank *bank = &lit->banks[address / lit->config.l3_line % lit->config.l3_banks];
    struct way *way = find(&bank->store, address, lit->config.l3_banks);
    if (!way) return from_ddr;
    bool ahead = way->ahead;
    way->ahead = false;
    return ahead;
}

static uint64_t read_l2(struct literal *lit, unsigned core, uint64_t address, bool data,
                        uint64_t now)
{
    struct core *of = &lit->cores[core];
    address -= address % lit->config.l2_line;
    struct entry *entry = in_buffer(lit, core, address);
    uint64_t end;
    bool missed = !entry;
    RAISE(lit, L2_READ, core);
    RAISE(lit, L2_PREFETCHABLE, core);
    RAISE(lit, L2_VALID, core);
    HOLD(lit, L2_READ_PENDING, core, 0);
    if (entry) {
        RAISE(lit, L2_HIT, core);
        if (entry->prefetched) RAISE(lit, L2_STREAM_HIT, core);
        if (!entry->used) RAISE(lit, L2_SELF_HIT, core);
        bool from_ddr = !entry->used && was_for_this(lit, address, entry->from_ddr);
        if (from_ddr && data) RAISE(lit, D2_MISS, core);
        if (from_ddr && !data) RAISE(lit, I2_MISS, core);
        if (!from_ddr && data) RAISE(lit, DATA_L2, core);
        if (!from_ddr && !data) RAISE(lit, CODE_L2, core);
        entry->used = true;
        end = now + lit->config.l2_latency - lit->config.l1_latency;
        if (entry->ready > end) end = entry->ready;
    } else {
        struct entry fresh = {.valid = true, .used = true, .address = address};
        bool from_ddr;
        RAISE(lit, L2_MISS, core);
        RAISE(lit, L2_READ_L3, core);
        HOLD(lit, L2_READ_L3_PENDING, core, 0);
        end = fresh.ready = read_l3(lit, core, address, false, now, &from_ddr);
        if (from_ddr && data) RAISE(lit, D2_MISS, core);
        if (from_ddr && !data) RAISE(lit, I2_MISS, core);
        HOLD(lit, L2_READ_L3_WAIT, core, end - now);
        add_interval(&of->l3_reads, now, end);
        put_in_buffer(lit, core, fresh);
    }
    streams(lit, core, address, missed, now);
    return end;
}

static void show_l2(struct literal *lit, unsigned core, unsigned source)
{
    if (core == source)
        RAISE(lit, L2_SNOOP_SAME, core);
    else if (core / 2 == source / 2)
        RAISE(lit, L2_SNOOP_OTHER, core);
    else if (source % 2 == 0)
        RAISE(lit, L2_SNOOP_PAIR0, core);
    else
        RAISE(lit, L2_SNOOP_PAIR1, core);
}

static void write_memory(struct literal *lit, unsigned core, uint64_t address, uint64_t now)
{
    uint64_t line = address - address % lit->config.l2_line;
    RAISE(lit, L2_WRITE, core);
    end_joining(lit, core, address, lit->config.l1d.line);
    for (unsigned i = 0; i < lit->config.cores; i++) {
        show_l2(lit, i, core);
        struct entry *entry = in_buffer(lit, i, line);
        if (entry && i == core) RAISE(lit, L2_SNOOP_HIT_SAME, i);
        if (entry && i != core) {
            RAISE(lit, L2_SNOOP_HIT_OTHER, i);
            entry->valid = false;
        }
    }
    write_l3(lit, core, address, now);
}

/* --- Snoops ---------------------------------------------------------------------------------- */

static bool fits(const struct stream *set, unsigned count, uint64_t line)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++)
        if ((set[i].base & set[i].mask) == (line & set[i].mask)) any = true;
    return any;
}

static void clean(struct literal *lit, unsigned core, struct way *way, uint64_t now)
{
    if (!way->dirty) return;
    way->dirty = false;
    RAISE(lit, L1D_CASTOUT, core);
    write_memory(lit, core, way->address, now);
}

static bool passes_filter(struct literal *lit, unsigned core, unsigned port, uint64_t line)
{
    struct core *of = &lit->cores[core];
    unsigned n = core * CACHE_PORTS + port;
    bool in_range = line >= of->low && line <= of->high;
    bool active = fits(of->active, of->active_count, line),
         history = fits(of->history, of->history_count, line);
    bool known = false;
    for (unsigned i = 0; i < lit->config.snoop_lines; i++)
        if (of->absent[port][i] == line) known = true;
    if (!in_range) RAISE(lit, PORT_RANGE_REJECTED, n);
    if (active) RAISE(lit, PORT_ACTIVE_HIT, n);
    if (history) RAISE(lit, PORT_HISTORY_HIT, n);
    if (!active && !history) RAISE(lit, PORT_STREAM_REJECTED, n);
    if (known) RAISE(lit, PORT_CACHE_REJECTED, n);
    if (known && !active && !history) RAISE(lit, PORT_BOTH, n);
    if (!known && lit->config.snoop_lines) {
        of->absent[port][of->next_absent[port]] = line;
        of->next_absent[port] = (of->next_absent[port] + 1) % lit->config.snoop_lines;
        RAISE(lit, PORT_CACHE_UPDATED, n);
    }
    bool pass = in_range && (active || history) && !known;
    if (!pass) RAISE(lit, PORT_REJECTED, n);
    return pass;
}

static void show_store(struct literal *lit, unsigned core, uint64_t address, uint64_t now)
{
    end_joining(lit, core, address, lit->config.l1d.line);
    for (unsigned other = 0; other < lit->config.cores; other++) {
        if (other == core) continue;
        unsigned port = (other > core ? core : core - 1) % 3;
        struct way *way = find(&lit->cores[other].data, address, 1);
        RAISE(lit, PORT_REQUEST, other * CACHE_PORTS + port);
        if (lit->config.snoop_filter &&
            !passes_filter(lit, other, port, address / lit->config.l1d.line)) {
            assert(!way); /* no filter may drop a snoop of a line that is there */
            continue;
        }
        RAISE(lit, L1D_INVALIDATE, other);
        if (!way) continue;
        RAISE(lit, L1D_INVALIDATED, other);
        clean(lit, other, way, now);
        way->valid = false;
        literal_kinds_take(&lit->cores[other].kinds, address / lit->config.l1d.line);
    }
}

static unsigned shared_bits(uint64_t value)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 32; i++)
        count += value >> i & 1;
    return count;
}

static void note_fill(struct literal *lit, unsigned core, uint64_t address)
{
    struct core *of = &lit->cores[core];
    uint64_t line = address / lit->config.l1d.line;
    if (!lit->config.coherent || !lit->config.snoop_filter) return;
    if (line < of->low) of->low = line;
    if (line > of->high) of->high = line;
    for (unsigned port = 0; port < CACHE_PORTS; port++)
        for (unsigned i = 0; i < lit->config.snoop_lines; i++)
            if (of->absent[port][i] == line) of->absent[port][i] = NO_ADDRESS;
    if (!fits(of->active, of->active_count, line)) {
        if (of->active_count < lit->config.snoop_streams)
            of->active[of->active_count++] = (struct stream){line, UINT32_MAX};
        else {
            struct stream *best = &of->active[0];
            for (unsigned i = 0; i < of->active_count; i++)
                if (shared_bits(of->active[i].mask & ~(of->active[i].base ^ line)) >
                    shared_bits(best->mask & ~(best->base ^ line)))
                    best = &of->active[i];
            best->mask &= ~(best->base ^ line);
        }
    }
    if (of->data.policy != CACHE_ROUND_ROBIN) return;
    assert(of->data.sets);
    of->data.set_fills[line % of->data.sets]++;
    for (uint64_t i = 0; i < of->data.sets; i++)
        if (of->data.set_fills[i] < of->data.ways) return;
    RAISE(lit, SNOOP_WRAP, core);
    memset(of->data.set_fills, 0, of->data.sets * sizeof *of->data.set_fills);
    memcpy(of->history, of->active, sizeof of->active);
    of->history_count = of->active_count;
    of->active_count = 0;
}

/* --- L1 -------------------------------------------------------------------------------------- */

static unsigned outstanding(struct intervals *list, uint64_t now, uint64_t *first_end)
{
    unsigned count = 0;
    *first_end = UINT64_MAX;
    while (list->past < list->count && list->all[list->past].end <= now)
        list->past++;
    for (size_t i = list->past; i < list->count; i++) {
        if (list->all[i].end <= now) continue;
        count++;
        if (list->all[i].end < *first_end) *first_end = list->all[i].end;
    }
    return count;
}

static struct interval read_line(struct literal *lit, unsigned core, uint64_t address, bool data,
                                 uint64_t now)
{
    struct core *of = &lit->cores[core];
    struct interval fill = {now, 0};
    uint64_t end;
    unsigned others;
    while ((others = outstanding(&of->reads, fill.start, &end)) >= lit->config.fills)
        fill.start = end;
    if (others == 0) HOLD(lit, L2_READ_1, core, 0);
    if (others == 1) HOLD(lit, L2_READ_2, core, 0);
    if (others == 2) HOLD(lit, L2_READ_3, core, 0);
    fill.end = read_l2(lit, core, address, data, fill.start);
    add_interval(&of->reads, fill.start, fill.end);
    return fill;
}

static struct way *place(struct literal *lit, unsigned core, uint64_t address, uint64_t now)
{
    struct store *data = &lit->cores[core].data;
    struct way *way = victim(data, address, 1);
    if (way->valid) clean(lit, core, way, now);
    *way = (struct way){.valid = true, .address = address};
    use(data, way);
    note_fill(lit, core, address);
    if (!lit->config.write_through) close_line(&lit->cores[core], address);
    return way;
}

static struct interval fill_data(struct literal *lit, unsigned core, uint64_t address, uint64_t now,
                                 struct way **way)
{
    struct core *of = &lit->cores[core];
    if (!lit->config.write_through && lit->config.coherent)
        for (unsigned i = 0; i < lit->config.cores; i++) {
            struct way *other = find(&lit->cores[i].data, address, 1);
            if (i != core && other) clean(lit, i, other, now);
        }
    struct interval fill = read_line(lit, core, address, true, now);
    HOLD(lit, L1D_FILL, core, 0);
    add_interval(&of->fills, fill.start, fill.end);
    *way = place(lit, core, address, fill.start);
    return fill;
}

static uint64_t enqueue(struct literal *lit, unsigned core, uint64_t address, uint64_t now)
{
    struct core *of = &lit->cores[core];
    if (find_open(of, address)) return now;
    uint64_t *slot = &of->queue[0];
    for (unsigned i = 1; i < lit->config.stores; i++)
        if (of->queue[i] < *slot) slot = &of->queue[i];
    if (*slot > now) now = *slot;
    *slot = now + lit->config.store_time;
    if (lit->config.coherent) show_store(lit, core, address, now);
    write_memory(lit, core, address, now);
    of->open[of->next_open] = address;
    of->next_open = (of->next_open + 1) % lit->config.store_lines;
    return now;
}

/* --- Spaces ---------------------------------------------------------------------------------- */

static int64_t frame_of(struct literal *lit, unsigned space, uint32_t page)
{
    int64_t *frame = &lit->frame[space][page];
    if (*frame >= 0) return *frame;
    *frame = lit->free_count ? lit->free_frames[--lit->free_count] : lit->frames++;
    lit->owners[*frame] = 1;
    return *frame;
}

static bool in_tlb(const struct literal *lit, unsigned core, unsigned space, uint32_t address)
{
    const struct core *of = &lit->cores[core];
    for (unsigned i = 0; i < lit->config.tlb_entries; i++)
        if (of->tlb[i].valid && of->tlb[i].space == space &&
            of->tlb[i].page == address / lit->config.page)
            return true;
    return false;
}

static uint64_t translate(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                          bool data, uint64_t *now)
{
    struct core *of = &lit->cores[core];
    if (!in_tlb(lit, core, space, address)) {
        of->tlb[of->next_tlb].valid = true;
        of->tlb[of->next_tlb].space = space;
        of->tlb[of->next_tlb].page = address / lit->config.page;
        of->next_tlb = (of->next_tlb + 1) % lit->config.tlb_entries;
        if (data)
            RAISE(lit, DTLB_MISS, core);
        else
            RAISE(lit, ITLB_MISS, core);
        HOLD(lit, STALL_TLB, core, lit->config.tlb_miss);
        *now += lit->config.tlb_miss;
    }
    if (lit->frame[space][address / 4096] < 0) RAISE(lit, PAGE_FAULT, core);
    return (uint64_t)frame_of(lit, space, address / 4096) * 4096 + address % 4096;
}

unsigned literal_space_new(struct literal *lit)
{
    unsigned space = 0;
    while (lit->frame[space])
        space++;
    assert(space < SPACES);
    lit->frame[space] = malloc(PAGES * sizeof *lit->frame[space]);
    memset(lit->frame[space], 0xff, PAGES * sizeof *lit->frame[space]);
    return space;
}

void literal_forget(struct literal *lit, unsigned space, uint32_t address, uint64_t length)
{
    if (!length) return;
    uint64_t last = (address + length - 1) / 4096 * 4096 + 4095;
    address -= address % 4096;
    for (unsigned core = 0; core < lit->config.cores; core++)
        for (unsigned i = 0; i < lit->config.tlb_entries; i++) {
            uint64_t page = lit->cores[core].tlb[i].page;
            if (lit->cores[core].tlb[i].space == space && page >= address / lit->config.page &&
                page <= last / lit->config.page)
                lit->cores[core].tlb[i].valid = false;
        }
    for (uint64_t page = address / 4096; page <= last / 4096 && page < PAGES; page++) {
        int64_t frame = lit->frame[space][page];
        if (frame < 0) continue;
        lit->frame[space][page] = -1;
        if (--lit->owners[frame] == 0) lit->free_frames[lit->free_count++] = frame;
    }
}

void literal_space_free(struct literal *lit, unsigned space)
{
    literal_forget(lit, space, 0, UINT64_C(1) << 32);
    free(lit->frame[space]);
    lit->frame[space] = NULL;
}

void literal_share(struct literal *lit, unsigned space, uint32_t address, unsigned from,
                   uint32_t from_address, uint64_t length)
{
    literal_forget(lit, space, address, length);
    for (uint32_t i = 0; i < length / 4096; i++) {
        int64_t frame = frame_of(lit, from, from_address / 4096 + i);
        lit->frame[space][address / 4096 + i] = frame;
        lit->owners[frame]++;
    }
}

/* --- Kinds of misses ------------------------------------------------------------------------- */

static const enum cache_signal_id kind_signals[2][KINDS] = {
    {WIRE(L1D_LOAD_COLD), WIRE(L1D_LOAD_CAPACITY), WIRE(L1D_LOAD_CONFLICT),
     WIRE(L1D_LOAD_COHERENCE)},
    {WIRE(L1D_STORE_COLD), WIRE(L1D_STORE_CAPACITY), WIRE(L1D_STORE_CONFLICT),
     WIRE(L1D_STORE_COHERENCE)},
};

static void use_kinds(struct literal *lit, unsigned core, uint64_t address, bool missed,
                      bool brings, bool store)
{
    if (!lit->config.miss_kinds) return;
    enum kind kind =
        literal_kinds_use(&lit->cores[core].kinds, address / lit->config.l1d.line, brings);
    if (missed) raise_signal(lit, kind_signals[store][kind], core, true, 0);
}

/* --- Accesses -------------------------------------------------------------------------------- */

static uint64_t load_line(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                          uint64_t now)
{
    struct store *data = &lit->cores[core].data;
    uint64_t line = translate(lit, core, space, address, true, &now);
    line -= line % data->line;
    struct way *way = find(data, line, 1);
    use_kinds(lit, core, line, !way, true, false);
    if (way) {
        use(data, way);
        return now;
    }
    RAISE(lit, L1D_MISS, core);
    RAISE(lit, L1D_MISS_LOAD, core);
    uint64_t end = fill_data(lit, core, line, now, &way).end;
    HOLD(lit, STALL_LOAD, core, end - now);
    return end;
}

static uint64_t store_line(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                           bool zero, uint64_t now)
{
    struct store *data = &lit->cores[core].data;
    uint64_t line = translate(lit, core, space, address, true, &now);
    line -= line % data->line;
    uint64_t start = now;
    struct way *way = find(data, line, 1);
    bool missed = !way && !zero && !find_open(&lit->cores[core], line);
    if (zero)
        use_kinds(lit, core, line, false, !lit->config.write_through, true);
    else
        use_kinds(lit, core, line, missed, lit->config.store_allocate && (way || missed), true);
    if (way)
        use(data, way);
    else if (zero) {
        if (!lit->config.write_through) way = place(lit, core, line, now);
    } else if (missed) {
        RAISE(lit, L1D_MISS, core);
        RAISE(lit, L1D_MISS_STORE, core);
        if (lit->config.store_allocate) start = fill_data(lit, core, line, now, &way).start;
    }
    if (lit->config.write_through || !way)
        start = enqueue(lit, core, line, start);
    else if (!way->dirty) {
        if (lit->config.coherent) show_store(lit, core, line, start);
        way->dirty = true;
    }
    if (start > now) HOLD(lit, STALL_STORE, core, start - now);
    return start;
}

uint32_t literal_load(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                      uint32_t size, uint64_t now)
{
    uint64_t end = load_line(lit, core, space, address, now);
    uint32_t last = address + size - 1;
    if (last / lit->config.l1d.line != address / lit->config.l1d.line)
        end = load_line(lit, core, space, last, end);
    return (uint32_t)(end - now);
}

uint32_t literal_store(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                       uint32_t size, uint64_t now)
{
    uint64_t end = store_line(lit, core, space, address, false, now);
    uint32_t last = address + size - 1;
    if (last / lit->config.l1d.line != address / lit->config.l1d.line)
        end = store_line(lit, core, space, last, false, end);
    return (uint32_t)(end - now);
}

uint32_t literal_fetch(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                       uint64_t now)
{
    struct store *code = &lit->cores[core].code;
    uint64_t begin = now, line = translate(lit, core, space, address, false, &now);
    line -= line % code->line;
    struct way *way = find(code, line, 1);
    if (way)
        use(code, way);
    else {
        struct interval fill = read_line(lit, core, line, false, now);
        RAISE(lit, L1I_MISS, core);
        HOLD(lit, L1I_FILL, core, fill.end - fill.start);
        HOLD(lit, STALL_FETCH, core, fill.end - now);
        way = victim(code, line, 1);
        *way = (struct way){.valid = true, .address = line};
        use(code, way);
        now = fill.end;
    }
    return (uint32_t)(now - begin);
}

static void touch(struct literal *lit, unsigned core, unsigned space, uint32_t address,
                  uint64_t now)
{
    struct store *data = &lit->cores[core].data;
    uint64_t end;
    if (!in_tlb(lit, core, space, address)) return;
    uint64_t line = translate(lit, core, space, address, true, &now);
    line -= line % data->line;
    struct way *way = find(data, line, 1);
    if (way)
        use(data, way);
    else if (outstanding(&lit->cores[core].reads, now, &end) < lit->config.fills) {
        RAISE(lit, L1D_TOUCH, core);
        (void)fill_data(lit, core, line, now, &way);
    }
    if (way) use_kinds(lit, core, line, false, true, false);
}

static void manage_one(struct literal *lit, enum cache_op op, unsigned core, uint64_t physical,
                       uint64_t now)
{
    struct core *of = &lit->cores[core];
    if (op == CACHE_INVALIDATE_CODE) {
        struct way *code = find(&of->code, physical - physical % of->code.line, 1);
        if (code) code->valid = false;
        return;
    }
    struct way *way = find(&of->data, physical - physical % of->data.line, 1);
    if (!way) return;
    if (op == CACHE_FLUSH || op == CACHE_CLEAN) clean(lit, core, way, now);
    if (op == CACHE_CLEAN) return;
    way->valid = way->dirty = false;
    literal_kinds_take(&of->kinds, physical / of->data.line);
}

uint32_t literal_manage(struct literal *lit, enum cache_op op, unsigned core, unsigned space,
                        uint32_t address, uint64_t now)
{
    uint64_t end = now;
    if (op == CACHE_ZERO) return (uint32_t)(store_line(lit, core, space, address, true, now) - now);
    if (op == CACHE_TOUCH) {
        touch(lit, core, space, address, now);
        return 0;
    }
    uint64_t physical = translate(lit, core, space, address, true, &end);
    if (op != CACHE_INVALIDATE_CODE)
        close_line(&lit->cores[core], physical - physical % lit->config.l1d.line);
    for (unsigned i = 0; i < lit->config.cores; i++)
        if (i == core || lit->config.coherent) manage_one(lit, op, i, physical, end);
    return (uint32_t)(end - now);
}

uint32_t literal_sync(struct literal *lit, unsigned core, uint64_t now)
{
    struct core *of = &lit->cores[core];
    uint64_t end = now;
    for (unsigned i = 0; i < lit->config.stores; i++)
        if (of->queue[i] > end) end = of->queue[i];
    memset(of->open, 0xff, sizeof of->open);
    if (end > now) HOLD(lit, STALL_STORE, core, end - now);
    return (uint32_t)(end - now);
}

uint32_t literal_device(struct literal *lit, unsigned core, bool store, uint64_t now)
{
    (void)now;
    if (store)
        RAISE(lit, L2_WRITE_DEVBUS, core);
    else
        RAISE(lit, L2_READ_DEVBUS, core);
    return store ? lit->config.device_store - 1
                 : lit->config.device_latency - lit->config.l1_latency;
}

unsigned literal_allows(const struct literal *lit, unsigned core, unsigned space, uint32_t address)
{
    struct core *of = &lit->cores[core];
    int64_t frame = lit->frame[space] ? lit->frame[space][address / 4096] : -1;
    unsigned bits = 0;
    if (frame < 0 || !in_tlb(lit, core, space, address)) return 0;
    uint64_t physical = (uint64_t)frame * 4096 + address % 4096,
             line = physical - physical % of->data.line;
    const struct way *way = find(&of->data, line, 1);
    bool stays = lit->config.write_through || !way ? find_open(of, line) != NULL : way->dirty;
    bool changes = of->data.policy == CACHE_LRU || lit->config.miss_kinds;
    if (!changes && way) bits |= CACHE_LOAD;
    if (!changes && stays) bits |= CACHE_STORE;
    if (of->code.policy != CACHE_LRU && find(&of->code, physical - physical % of->code.line, 1))
        bits |= CACHE_FETCH;
    return bits;
}

/* --- Life ------------------------------------------------------------------------------------ */

struct literal *literal_new(const struct cache_config *config)
{
    struct literal *lit = calloc(1, sizeof *lit);
    lit->config = *config;
    lit->cores = calloc(config->cores, sizeof *lit->cores);
    lit->banks = calloc(config->l3_banks, sizeof *lit->banks);
    lit->ddr = calloc(config->controllers, sizeof *lit->ddr);
    lit->row = malloc(config->controllers * sizeof *lit->row);
    memset(lit->row, 0xff, config->controllers * sizeof *lit->row);
    lit->owners = calloc(PAGES, sizeof *lit->owners);
    lit->free_frames = calloc(PAGES, sizeof *lit->free_frames);
    for (unsigned i = 0; i < config->cores; i++) {
        struct core *core = &lit->cores[i];
        const struct cache_l1_config *code = &config->l1i, *data = &config->l1d;
        store_init(&core->code, code->size, code->line, code->ways, code->policy,
                   config->seed + 2 * i);
        store_init(&core->data, data->size, data->line, data->ways, data->policy,
                   config->seed + 2 * i + 1);
        memset(core->streams, 0xff, sizeof core->streams);
        memset(core->expected, 0xff, sizeof core->expected);
        memset(core->absent, 0xff, sizeof core->absent);
        core->kinds.room = data->size / data->line;
        memset(core->open, 0xff, sizeof core->open);
        core->low = UINT64_MAX;
    }
    lit->kinds.room = config->l3_size / config->l3_line;
    for (unsigned i = 0; i < config->l3_banks; i++) {
        store_init(&lit->banks[i].store, config->l3_size / config->l3_banks, config->l3_line,
                   config->l3_ways, config->l3_policy, config->seed + 2 * config->cores + i);
        lit->banks[i].deposited[0] = lit->banks[i].deposited[1] = NO_ADDRESS;
    }
    return lit;
}

void literal_free(struct literal *lit)
{
    for (unsigned i = 0; i < lit->config.cores; i++) {
        store_fini(&lit->cores[i].code);
        store_fini(&lit->cores[i].data);
        literal_kinds_fini(&lit->cores[i].kinds);
        free(lit->cores[i].reads.all);
        free(lit->cores[i].fills.all);
        free(lit->cores[i].prefetches.all);
        free(lit->cores[i].l3_reads.all);
    }
    for (unsigned i = 0; i < lit->config.l3_banks; i++)
        store_fini(&lit->banks[i].store);
    for (unsigned i = 0; i < SPACES; i++)
        free(lit->frame[i]);
    literal_kinds_fini(&lit->kinds);
    free(lit->owners);
    free(lit->free_frames);
    free(lit->cores);
    free(lit->banks);
    for (unsigned i = 0; i < lit->config.controllers; i++)
        free(lit->ddr[i].busy.all);
    free(lit->ddr);
    free(lit->row);
    free(lit);
}
