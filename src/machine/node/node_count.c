/* Finds signals by their names and counts them and the events that are made of them: on the node,
 * on one core, or as they are attributed to a thread or a call path. */
#include "machine/node/node.h"

#include <stdio.h>
#include <string.h>

struct counting {
    const struct node *node;
    unsigned core;
    const uint64_t *signals; /* of that core */
    const struct node_attribution *attribution;
};

static uint64_t count_signal(const struct counting *counting, unsigned core,
                             enum core_signal signal)
{
    uint64_t sum = 0;
    if (counting->attribution)
        return core == CORE_ALL || core == counting->attribution->core
                   ? counting->attribution->signals[signal]
                   : 0;
    if (counting->core != CORE_ALL)
        return core == CORE_ALL || core == counting->core ? counting->signals[signal] : 0;
    for (unsigned i = 0; i < counting->node->core_count; i++)
        if (core == CORE_ALL || core == i) sum += counting->node->counts[i][signal];
    return sum;
}

/* What the node is connected to counts for the node, not for its parts. */
static uint64_t count_source(const struct counting *counting, const struct node_signal *signal,
                             enum chil_count_mode mode)
{
    uint64_t occurrences, high;
    if (counting->attribution || counting->core != CORE_ALL) return 0;
    const struct node_source *source = counting->node->sources[signal->source];
    source->count(source->context, signal->number, &occurrences, &high);
    return mode == CHIL_COUNT_HIGH ? high : occurrences;
}

static uint64_t count_cache(const struct counting *counting, struct cache_signal signal,
                            enum chil_count_mode mode)
{
    uint64_t occurrences, high;
    if (signal.instance == CACHE_ALL && counting->core != CORE_ALL)
        signal.instance = counting->core;
    cache_signal_count(counting->attribution ? counting->attribution->cache : counting->node->cache,
                       signal, &occurrences, &high);
    return mode == CHIL_COUNT_HIGH ? high : occurrences;
}

/* Hits are what is left of the accesses: "coreN.l1d.hit" and "coreN.l1i.hit", found by their
 * misses. */
static bool find_hits(const struct node *node, const char *name, struct node_signal *signal)
{
    char miss[CACHE_NAME];
    const char *end = strrchr(name, '.');
    if (!end || strcmp(end, ".hit") != 0 || strncmp(name, "core", 4) != 0) return false;
    (void)snprintf(miss, sizeof miss, "%.*s.miss", (int)(end - name), name);
    signal->kind = strstr(name, ".l1d.") ? NODE_SIGNAL_DATA_HITS : NODE_SIGNAL_CODE_HITS;
    return cache_signal_find(node->cache, miss, &signal->memory);
}

static bool find_source(const struct node *node, const char *name, struct node_signal *signal)
{
    for (unsigned i = 0; i < NODE_ATTACHED && node->sources[i]; i++) {
        signal->source = i;
        if (node->sources[i]->find(node->sources[i]->context, name, &signal->number)) return true;
    }
    return false;
}

void node_signal_find(const struct node *node, const char *name, struct node_signal *signal)
{
    *signal = (struct node_signal){0};
    if (core_signal_find(name, &signal->core, &signal->signal))
        signal->kind = NODE_SIGNAL_CORE;
    else if (cache_signal_find(node->cache, name, &signal->memory))
        signal->kind = NODE_SIGNAL_MEMORY;
    else if (strcmp(name, "upc.elapsed") == 0)
        signal->kind = NODE_SIGNAL_ELAPSED;
    else if (strcmp(name, "core.cycles") == 0)
        signal->kind = NODE_SIGNAL_CYCLES;
    else if (find_source(node, name, signal))
        signal->kind = NODE_SIGNAL_SOURCE;
    else if (!find_hits(node, name, signal))
        signal->kind = NODE_SIGNAL_NONE;
}

bool node_signal_is_of_cores(const struct node_signal *signal)
{
    switch (signal->kind) {
    case NODE_SIGNAL_CORE: return signal->core == CORE_ALL;
    case NODE_SIGNAL_MEMORY:
    case NODE_SIGNAL_DATA_HITS:
    case NODE_SIGNAL_CODE_HITS:
        return signal->memory.instance == CACHE_ALL &&
               cache_signal_scope(signal->memory.id) <= CACHE_OF_SNOOP;
    default: return signal->kind == NODE_SIGNAL_CYCLES;
    }
}

bool node_signal_is_of_memory(const struct node_signal *signal)
{
    return signal->kind == NODE_SIGNAL_MEMORY;
}

/* An access of L1 or TLB is one line's and counts a miss or none. What L2 and L3 do for one is not
 * much more than a few lines, but they may evict, prefetch and snoop. Cycles in which a signal is
 * high have no bound. Refreshes of L3 are counted up to its last request. */
enum { PER_ACCESS = 64, UNBOUNDED = 1 << 30 };

static uint64_t most_of_access(const struct node_signal *signal, enum chil_count_mode mode)
{
    if (mode == CHIL_COUNT_HIGH || mode == CHIL_COUNT_LOW) return UNBOUNDED;
    switch (signal->memory.id) {
    case CACHE_SIGNAL_L1D_MISS:
    case CACHE_SIGNAL_L1D_MISS_LOAD:
    case CACHE_SIGNAL_L1D_MISS_STORE:
    case CACHE_SIGNAL_L1I_MISS:
    case CACHE_SIGNAL_DTLB_MISS:
    case CACHE_SIGNAL_ITLB_MISS: return 1;
    case CACHE_SIGNAL_L3_REFRESH: return UNBOUNDED;
    default: return PER_ACCESS;
    }
}

/* A signal that is in the set already grows the count twice. */
static void add_raise(struct node_growth *growth, enum core_signal signal)
{
    uint64_t bit = UINT64_C(1) << signal;
    if (growth->signals & bit || !growth->raise) growth->raise++;
    growth->signals |= bit;
}

/* Cycles in which the core waits for memory are cycles of the core. */
static bool is_waiting(const struct node_signal *signal, enum chil_count_mode mode)
{
    enum cache_signal_id id = signal->memory.id;
    return mode == CHIL_COUNT_HIGH &&
           (id == CACHE_SIGNAL_STALL_LOAD || id == CACHE_SIGNAL_STALL_STORE ||
            id == CACHE_SIGNAL_STALL_FETCH);
}

static void add_signal(struct node_growth *growth, const struct node_signal *signal,
                       enum chil_count_mode mode)
{
    switch (signal->kind) {
    case NODE_SIGNAL_MEMORY:
        if (is_waiting(signal, mode))
            growth->cycle++;
        else
            growth->access += most_of_access(signal, mode);
        break;
    case NODE_SIGNAL_CORE: add_raise(growth, signal->signal); break;
    case NODE_SIGNAL_CODE_HITS: add_raise(growth, CORE_SIGNAL_FETCH); break;
    case NODE_SIGNAL_DATA_HITS: /* an access of two lines is two */
        add_raise(growth, CORE_SIGNAL_LOAD);
        add_raise(growth, CORE_SIGNAL_STORE);
        growth->crossing++;
        break;
    case NODE_SIGNAL_CYCLES:
    case NODE_SIGNAL_ELAPSED: growth->cycle++; break;
    default: break; /* sources change while no core runs */
    }
}

void node_growth_add(struct node_growth *growth, const struct node_signal *signals, size_t count,
                     enum chil_count_mode mode)
{
    for (size_t i = 0; i < count; i++)
        add_signal(growth, &signals[i], mode);
}

static void lower(uint64_t *room, uint64_t most)
{
    if (most < *room) *room = most;
}

/* Of several parts memory has a quarter. In a cycle at most two instructions issue. */
void node_growth_room(const struct node_growth *growth, uint64_t left, struct core_room *room)
{
    uint64_t raise = growth->raise, cycle = growth->cycle;
    if (!raise && !cycle) {
        if (growth->access) lower(&room->accesses, left / growth->access);
        return;
    }
    if (growth->access) {
        uint64_t accesses = left / 4 / growth->access;
        lower(&room->mixed, accesses ? accesses : 1);
        left -= accesses * growth->access;
    }
    if (growth->crossing) {
        uint64_t crossings = left / 4 / growth->crossing;
        lower(&room->crossings, crossings ? crossings : 1);
        left -= crossings * growth->crossing;
    }
    if (cycle) {
        lower(&room->cycles, (left - 1) / (cycle + 2 * raise * core_most_raised(growth->signals)));
    } else {
        room->signals |= growth->signals;
        lower(&room->raises, (left - 1) / raise + 1);
    }
}

static uint64_t count_hits(const struct counting *counting, const struct node_signal *signal)
{
    bool data = signal->kind == NODE_SIGNAL_DATA_HITS;
    unsigned core = signal->memory.instance == CACHE_ALL ? counting->core : signal->memory.instance;
    uint64_t accesses = count_signal(counting, core, data ? CORE_SIGNAL_LOAD : CORE_SIGNAL_FETCH);
    if (data) accesses += count_signal(counting, core, CORE_SIGNAL_STORE);
    for (unsigned i = 0; data && i < counting->node->core_count; i++) {
        if (core != CORE_ALL && core != i) continue;
        if (!counting->attribution)
            accesses += core_crossings(cores_get(counting->node->cores, i));
        else if (i == counting->attribution->core)
            accesses += counting->attribution->crossings;
    }
    return accesses - count_cache(counting, signal->memory, CHIL_COUNT_RISE);
}

/* Cycles in which cores had something to run. */
static uint64_t count_cycles(const struct counting *counting)
{
    uint64_t sum = 0;
    if (counting->attribution) return counting->attribution->cycles;
    for (unsigned i = 0; i < counting->node->core_count; i++) {
        const struct core *core = cores_get(counting->node->cores, i);
        if (counting->core == CORE_ALL || counting->core == i)
            sum += core_cycles(core) - core_idle_cycles(core);
    }
    return sum;
}

static uint64_t count_named(const struct counting *counting, const struct node_signal *signal,
                            enum chil_count_mode mode)
{
    switch (signal->kind) {
    case NODE_SIGNAL_CORE: return count_signal(counting, signal->core, signal->signal);
    case NODE_SIGNAL_MEMORY: return count_cache(counting, signal->memory, mode);
    case NODE_SIGNAL_DATA_HITS:
    case NODE_SIGNAL_CODE_HITS: return count_hits(counting, signal);
    case NODE_SIGNAL_CYCLES: return count_cycles(counting);
    case NODE_SIGNAL_SOURCE: return count_source(counting, signal, mode);
    case NODE_SIGNAL_ELAPSED:
        return counting->attribution ? 0 : node_elapsed(counting->node); /* the node's, no part's */
    default: return 0;
    }
}

uint64_t node_signal_count(const struct node *node, const struct node_signal *signal,
                           enum chil_count_mode mode)
{
    return count_named(&(struct counting){.node = node, .core = CORE_ALL}, signal, mode);
}

/* A unit's cycle is seen `clock` times. */
static uint64_t in_clocks(const struct chil_event *event, uint64_t sum)
{
    return event->mode == CHIL_COUNT_HIGH ? sum / event->clock : sum;
}

uint64_t node_count(const struct node *node, const struct chil_event *event, unsigned core,
                    const uint64_t *signals)
{
    const struct counting counting = {.node = node, .core = core, .signals = signals};
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++) {
        struct node_signal signal;
        node_signal_find(node, event->signals[i], &signal);
        sum += count_named(&counting, &signal, event->mode);
    }
    return in_clocks(event, sum);
}

uint64_t node_found_count(const struct node *node, const struct chil_event *event,
                          const struct node_signal *found, unsigned core, const uint64_t *signals)
{
    const struct counting counting = {.node = node, .core = core, .signals = signals};
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++)
        sum += count_named(&counting, &found[i], event->mode);
    return in_clocks(event, sum);
}

int64_t node_attributed_count(const struct node *node, const struct chil_event *event,
                              const struct node_signal *signals,
                              const struct node_attribution *attribution)
{
    const struct counting counting = {.node = node, .core = CORE_ALL, .attribution = attribution};
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++)
        sum += count_named(&counting, &signals[i], event->mode);
    return event->mode == CHIL_COUNT_HIGH ? (int64_t)sum / (int64_t)event->clock : (int64_t)sum;
}

void node_counts_take(struct node *node)
{
    for (unsigned i = 0; i < node->core_count; i++)
        core_signal_counts(cores_get(node->cores, i), node->counts[i]);
}
