/* The DMA engine against the literal one (net_literal_dma.c), each on its own torus, on random
 * machines with random programs: memory, every register that is loaded, every interrupt and fault
 * with its time, and every count are equal. The event-driven one runs in 1 to 3 partitions.
 *
 * What each node's program does in a cycle is a function of seed, node, cycle and what it loads.
 *
 * Faults that were planted and found: a turn of a FIFO that ends with the fetch of a descriptor;
 * the torus FIFO with the highest number on a tie; put offsets that do not grow; available from 16
 * quads on; a level that falls between two packets; local packets limited by 64 quads; a packet
 * that is lost when cores filled its torus FIFO.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net_literal_dma.h"
#include "random.h"

enum {
    MEMORY = 0x8000,
    RING = 0x600,    /* bytes of a FIFO */
    BUFFER = 0x4000, /* messages */
    GOT = 0x7C00,    /* descriptors that remote gets carry */
    PARTITIONS = 3,
    LOADED = 1,
    INTERRUPT,
    FAULT
};

struct record {
    uint64_t time, value;
    uint32_t node;
    int kind;
};

struct log {
    struct record *records;
    size_t count, capacity;
};

struct trial {
    struct net_torus_config config;
    uint64_t seed;
    unsigned every;
    uint64_t until; /* no new work later */
    uint32_t nodes;
    /* event-driven */
    struct net_dma *dma;
    struct net_torus *torus;
    struct net_partition *partition[PARTITIONS];
    struct net_dma_part *part[PARTITIONS];
    struct net_torus_part *torus_part[PARTITIONS];
    struct owner {
        struct trial *trial;
        unsigned number;
    } owner[PARTITIONS];
    uint32_t first[PARTITIONS + 1];
    unsigned partitions;
    uint8_t *memory;
    struct log *log;
    /* literal */
    struct literal_torus *literal_torus;
    struct literal_dma *literal;
    uint8_t *literal_memory;
    struct log *literal_log;
};

/* One of both models at one node, for the random program. */
struct machine {
    struct trial *trial;
    bool literal;
    uint32_t node;
    uint64_t cycle;
};

static void add(struct log *log, uint64_t time, uint32_t node, int kind, uint64_t value)
{
    if (log->count == log->capacity)
        log->records =
            base_grow(log->records, &log->capacity, log->count + 1, sizeof *log->records);
    log->records[log->count++] = (struct record){time, value, node, kind};
}

static unsigned part_of(const struct trial *t, uint32_t node)
{
    unsigned p = 0;
    while (node >= t->first[p + 1])
        p++;
    return p;
}

static uint32_t load(const struct machine *m, uint32_t offset)
{
    const struct trial *t = m->trial;
    return m->literal ? literal_dma_load(t->literal, m->node, offset)
                      : net_dma_load(t->part[part_of(t, m->node)], m->node, offset);
}

static void store(const struct machine *m, uint32_t offset, uint32_t value)
{
    const struct trial *t = m->trial;
    if (m->literal)
        literal_dma_store(t->literal, m->node, offset, value);
    else
        net_dma_store(t->part[part_of(t, m->node)], m->node, offset, value);
}

static void store_dcr(const struct machine *m, unsigned dcr, uint32_t value)
{
    const struct trial *t = m->trial;
    if (m->literal)
        t->literal->node[m->node].dcr[dcr] = value;
    else
        net_dma_dcr_store(t->part[part_of(t, m->node)], m->node, dcr, value);
}

static uint8_t *memory_of(const struct machine *m)
{
    const struct trial *t = m->trial;
    return (m->literal ? t->literal_memory : t->memory) + (size_t)m->node * MEMORY;
}

/* ---- what programs do ---- */

static const uint8_t fifos[] = {0, 33, 34, 101}; /* injection, of all groups */
enum { FIFOS = sizeof fifos };

static uint32_t injection(unsigned i)
{
    return 0x1000u * (fifos[i] / 32) + 0x10u * (fifos[i] % 32);
}

static uint32_t counter_at(unsigned counter, bool reception)
{
    return 0x1000 * (counter / 64) + (reception ? 0xC00 : 0x400) + 0x10 * (counter % 64);
}

/* Rings 0-3 for injection, 4-7 for the reception FIFOs to which each pid's packets go. */
static void set_up(const struct machine *m)
{
    for (unsigned i = 0; i < 8; i++) {
        uint32_t at = i < 4 ? injection(i) : 0x1000 * (i - 4) + 0x800, ring = i * RING / 16;
        store(m, at, ring);
        store(m, at + 4, ring + RING / 16);
        store(m, at + 8, ring + 6 * i);
        store(m, at + 12, ring + 6 * i);
    }
    for (unsigned i = 0; i < 4; i++) {
        store(m, 0x1000 * i + 0x224, 0xFFFFFFFF);
        store(m, 0x1000 * i + 0x308, 0xF0000000);
        store(m, 0x1000 * i + 0xB08, 0xF0000000);
        store_dcr(m, 0x60 + 2 * i, 0x80808080);
        store_dcr(m, 0x61 + 2 * i, 0x80808080);
        for (unsigned c = 64 * i; c < 64 * i + 4; c++) {
            store(m, counter_at(c, false), 3000);
            store(m, counter_at(c, false) + 8, BUFFER / 16);
            store(m, counter_at(c, true), 2000);
            store(m, counter_at(c, true) + 8, BUFFER / 16);
            store(m, counter_at(c, true) + 12, MEMORY / 16 - 1);
        }
    }
}

static void choose_descriptor(const struct machine *m, uint64_t *random, bool may_get,
                              uint8_t bytes[32])
{
    const struct trial *t = m->trial;
    struct net_torus_header h = {0};
    struct net_torus_put put = {0};
    struct net_dma_descriptor d = {
        .counter = (uint8_t)(64 * random_below(random, 4) + random_below(random, 4)),
        .offset = (uint32_t)random_below(random, 0x3000),
        .length = (uint32_t)random_below(random, 700)};
    uint32_t to = (uint32_t)random_below(random, t->nodes);
    net_torus_coordinates(&t->config.shape, to, h.target);
    d.local = to == m->node || !random_below(random, 8);
    d.prefetch_only = !random_below(random, 20);
    h.chunks = (uint8_t)(random_below(random, 3) ? 8 : 1 + random_below(random, 8));
    h.group = (uint8_t)random_below(random, 4);
    h.dynamic = random_below(random, 2);
    h.channel = (uint8_t)(2 + !random_below(random, 6));
    h.direct = random_below(random, 2);
    put.offset = (uint32_t)random_below(random, 0x3000);
    put.counter = (uint8_t)(64 * random_below(random, 4) + random_below(random, 4));
    if (may_get && h.direct && !random_below(random, 3)) {
        put.flags = 1;
        put.fifo = fifos[random_below(random, FIFOS)];
        d.offset = GOT - BUFFER + 32 * (uint32_t)random_below(random, 8);
        d.length = 32 * (1 + (uint32_t)random_below(random, 7));
    }
    switch (random_below(random, 60)) { /* mistakes */
    case 0: d.counter = 9; break;
    case 1: d.offset = MEMORY; break;
    case 2: put.counter = 200; break;
    case 3: put.offset = MEMORY - BUFFER - 100; break;
    case 4: h.target[0] = 99; break;
    case 5: put.fifo = 5; break;
    case 6: d.length += 8; break;
    default: break;
    }
    net_torus_put_encode(&put, h.software);
    net_torus_header_encode(&h, d.header);
    net_dma_descriptor_encode(&d, bytes);
}

static void inject(const struct machine *m, uint64_t *random)
{
    unsigned i = (unsigned)random_below(random, FIFOS);
    uint32_t at = injection(i), start = load(m, at), end = load(m, at + 4);
    uint32_t head = load(m, at + 8), tail = load(m, at + 12), size = end - start;
    uint8_t bytes[32];
    choose_descriptor(m, random, true, bytes);
    if (start * 16 >= MEMORY || (tail + size - head) % size + 40 > size) return;
    memcpy(memory_of(m) + (size_t)16 * tail, bytes, 16);
    tail = tail + 1 == end ? start : tail + 1;
    memcpy(memory_of(m) + (size_t)16 * tail, bytes + 16, 16);
    store(m, at + 12, tail + 1 == end ? start : tail + 1);
}

static void look(const struct machine *m, uint64_t *random)
{
    static const uint16_t registers[] = {0x008, 0x200, 0x208, 0x210, 0x220, 0x300, 0x320, 0x330,
                                         0x400, 0x410, 0x80C, 0xA00, 0xA08, 0xA10, 0xB00, 0xB20,
                                         0xB30, 0xC00, 0xC10, 0xC20, 0x01C, 0x02C};
    uint32_t offset = 0x1000 * (uint32_t)random_below(random, 4) +
                      registers[random_below(random, sizeof registers / 2)];
    const struct trial *t = m->trial;
    add(&(m->literal ? t->literal_log : t->log)[m->node], m->cycle, m->node, LOADED,
        (uint64_t)offset << 32 | load(m, offset));
}

static void take_packets(const struct machine *m, uint64_t *random)
{
    uint32_t at = 0x1000 * (uint32_t)random_below(random, 4) + 0x800;
    store(m, at + 8, load(m, at + 12));
}

static void set_something(const struct machine *m, uint64_t *random)
{
    unsigned group = (unsigned)random_below(random, 4), counter = (unsigned)random_below(random, 4);
    uint32_t window = 0x1000 * group, bits = (uint32_t)random_next(random);
    switch (random_below(random, 14)) {
    case 0: store(m, window + 0x228, bits); break;
    case 1: store_dcr(m, 0x32 + group, bits); break;
    case 2: store_dcr(m, 0x3C + 8 * group, bits | 0x11000011); break;
    case 3: store_dcr(m, 0x2C + group, random_below(random, 3) ? UINT32_MAX : bits); break;
    case 4: store_dcr(m, 0x36, (uint32_t)random_below(random, 90)); break;
    case 5: store_dcr(m, 0x3A + group % 2, (uint32_t)random_below(random, 90)); break;
    case 6: store_dcr(m, 0x5C + group, random_below(random, 2) ? 0 : bits & bits << 7); break;
    case 7: store(m, window + 0x328, bits); break;
    case 8: store(m, window + 0xB28, bits); break;
    case 9: store(m, window + 0xA18, bits); break;
    case 10: store(m, window + 0x218, bits); break;
    case 11: store(m, counter_at(64 * group + counter, true) + 4, bits % 900); break;
    case 12: store(m, counter_at(64 * group + counter, false) + 4, bits % 900); break;
    default: store_dcr(m, 0x38, bits); break;
    }
}

/* A core injects a packet itself, so that torus FIFOs are full when the engine comes. */
static void inject_as_core(const struct machine *m, uint64_t *random)
{
    struct trial *t = m->trial;
    uint8_t bytes[32], payload[TORUS_PAYLOAD_MAX] = {0};
    struct net_dma_descriptor d;
    unsigned fifo = (unsigned)random_below(random, 8);
    struct net_torus_header h;
    choose_descriptor(m, random, false, bytes);
    net_dma_descriptor_decode(bytes, &d);
    net_torus_header_decode(d.header, &h);
    uint8_t at[3];
    net_torus_coordinates(&t->config.shape, m->node, at);
    if (h.target[0] == 99 || memcmp(at, h.target, 3) == 0) return;
    h.direct = false;
    net_torus_header_encode(&h, d.header);
    if (m->literal)
        (void)literal_torus_inject(t->literal_torus, m->node, fifo, d.header, payload, 0);
    else
        (void)net_torus_inject(t->torus_part[part_of(t, m->node)], m->node, fifo, d.header, payload,
                               0, NULL);
}

static void act(const struct machine *m, uint64_t random)
{
    bool ended = m->cycle >= m->trial->until;
    switch (random_below(&random, ended ? 3 : 12)) {
    case 0: look(m, &random); break;
    case 1: take_packets(m, &random); break;
    case 2: /* so that what was stopped goes on */
        store(m, 0x1000 * (uint32_t)random_below(&random, 4) + 0x224, UINT32_MAX);
        if (ended) store_dcr(m, 0x2C + (unsigned)random_below(&random, 4), UINT32_MAX);
        break;
    case 3: set_something(m, &random); break;
    case 4: inject_as_core(m, &random); break;
    default: inject(m, &random); break;
    }
}

static bool acts(const struct trial *t, uint32_t node, uint64_t cycle, uint64_t *random)
{
    *random = t->seed ^ (cycle * t->nodes + node + 1) * UINT64_C(0x2545F4914F6CDD1D);
    (void)random_next(random);
    return !random_below(random, cycle >= t->until ? 200 : t->every);
}

/* ---- owners ---- */

static uint8_t *range(uint8_t *memory, uint32_t node, uint64_t address, uint32_t size)
{
    return address + size <= MEMORY ? memory + (size_t)node * MEMORY + address : NULL;
}

static bool fast_read(void *self, uint32_t node, uint64_t address, void *bytes, uint32_t size)
{
    const struct owner *owner = self;
    const uint8_t *from = range(owner->trial->memory, node, address, size);
    if (from) memcpy(bytes, from, size);
    return from;
}

static bool fast_write(void *self, uint32_t node, uint64_t address, const void *bytes,
                       uint32_t size)
{
    const struct owner *owner = self;
    uint8_t *to = range(owner->trial->memory, node, address, size);
    if (to) memcpy(to, bytes, size);
    return to;
}

static void fast_interrupt(void *self, uint32_t node, enum net_dma_interrupt number)
{
    const struct owner *owner = self;
    struct trial *t = owner->trial;
    add(&t->log[node], net_partition_now(t->partition[owner->number]), node, INTERRUPT, number);
}

static void fast_fault(void *self, uint32_t node, const struct chil_error *error)
{
    const struct owner *owner = self;
    struct trial *t = owner->trial;
    (void)error;
    add(&t->log[node], net_partition_now(t->partition[owner->number]), node, FAULT, 0);
}

static uint8_t *literal_memory(void *self, uint32_t node, uint64_t address, uint32_t size)
{
    const struct trial *t = self;
    return range(t->literal_memory, node, address, size);
}

static void literal_interrupt(void *self, uint32_t node, int number)
{
    struct trial *t = self;
    add(&t->literal_log[node], t->literal_torus->now, node, INTERRUPT, (uint64_t)number);
}

static void literal_fault(void *self, uint32_t node)
{
    struct trial *t = self;
    add(&t->literal_log[node], t->literal_torus->now, node, FAULT, 0);
}

/* ---- running ---- */

static void fast_run(struct trial *t, uint64_t from, uint64_t until)
{
    uint64_t window = t->partitions == 1 ? until - from : t->config.params.hop_cycles, random;
    for (; from < until; from += window) {
        uint64_t end = from + window < until ? from + window : until;
        for (unsigned p = 0; p < t->partitions; p++) {
            for (uint64_t cycle = from; cycle < end; cycle++)
                for (uint32_t node = t->first[p]; node < t->first[p + 1]; node++) {
                    if (!acts(t, node, cycle, &random)) continue;
                    net_partition_advance(t->partition[p], cycle);
                    act(&(struct machine){t, false, node, cycle}, random);
                }
            net_partition_advance(t->partition[p], end);
        }
        for (unsigned p = 0; p < t->partitions; p++) {
            size_t count;
            const struct net_event *events = net_partition_outbox(t->partition[p], &count);
            for (size_t i = 0; i < count; i++)
                net_partition_post(t->partition[part_of(t, events[i].node)], &events[i]);
            net_partition_outbox_clear(t->partition[p]);
        }
    }
}

static void literal_run(struct trial *t, uint64_t until)
{
    uint64_t random;
    while (t->literal_torus->now < until) {
        uint64_t cycle = t->literal_torus->now;
        for (uint32_t node = 0; node < t->nodes; node++)
            if (acts(t, node, cycle, &random)) act(&(struct machine){t, true, node, cycle}, random);
        literal_dma_step(t->literal);
    }
}

static void make(struct trial *t, uint64_t *random)
{
    t->memory = base_calloc(t->nodes, MEMORY);
    t->literal_memory = base_calloc(t->nodes, MEMORY);
    t->log = base_calloc(t->nodes, sizeof *t->log);
    t->literal_log = base_calloc(t->nodes, sizeof *t->log);
    for (size_t i = 0; i < (size_t)t->nodes * MEMORY; i++)
        t->memory[i] = (uint8_t)random_next(random);
    for (uint32_t n = 0; n < t->nodes; n++)
        for (unsigned i = 0; i < 16; i++)
            choose_descriptor(&(struct machine){t, false, n, 0}, random, false,
                              t->memory + (size_t)n * MEMORY + GOT + (size_t)32 * i);
    memcpy(t->literal_memory, t->memory, (size_t)t->nodes * MEMORY);
    const struct net_dma_params params = {
        1 + (uint32_t)random_below(random, 90), 1 + (uint32_t)random_below(random, 90),
        1 + (uint32_t)random_below(random, 5), 1 + (uint32_t)random_below(random, 60)};
    t->dma = net_dma_new(t->nodes, &params);
    assert_int_equal(net_torus_new(&t->torus, &t->config, NULL), CHIL_OK);
    for (unsigned p = 0; p < t->partitions; p++) {
        t->first[p] = t->nodes * p / t->partitions;
        t->first[p + 1] = t->nodes * (p + 1) / t->partitions;
        t->owner[p] = (struct owner){t, p};
        t->partition[p] = net_partition_new(t->first[p], t->first[p + 1]);
        t->part[p] = net_dma_part_new(t->dma, t->partition[p],
                                      &(struct net_dma_owner){.self = &t->owner[p],
                                                              .read = fast_read,
                                                              .write = fast_write,
                                                              .interrupt = fast_interrupt,
                                                              .fault = fast_fault});
        struct net_torus_owner owner = net_dma_torus_owner(t->part[p]);
        t->torus_part[p] = net_torus_part_new(t->torus, t->partition[p], &owner);
        net_dma_attach(t->part[p], t->torus_part[p]);
    }
    t->literal_torus = literal_torus_new(&t->config);
    t->literal = literal_dma_new(t->literal_torus, &params);
    t->literal->owner = t;
    t->literal->memory = literal_memory;
    t->literal->interrupt = literal_interrupt;
    t->literal->fault = literal_fault;
    for (uint32_t n = 0; n < t->nodes; n++) {
        set_up(&(struct machine){t, false, n, 0});
        set_up(&(struct machine){t, true, n, 0});
    }
}

static void unmake(struct trial *t)
{
    for (unsigned p = 0; p < t->partitions; p++) {
        net_dma_part_free(t->part[p]);
        net_torus_part_free(t->torus_part[p]);
        net_partition_free(t->partition[p]);
    }
    net_dma_free(t->dma);
    net_torus_free(t->torus);
    literal_dma_free(t->literal);
    literal_torus_free(t->literal_torus);
    for (uint32_t n = 0; n < t->nodes; n++) {
        free(t->log[n].records);
        free(t->literal_log[n].records);
    }
    free(t->log);
    free(t->literal_log);
    free(t->memory);
    free(t->literal_memory);
}

/* ---- comparison ---- */

static void print_record(const char *model, const struct log *log, size_t i)
{
    static const char *const kinds[] = {"", "loaded", "interrupt", "fault"};
    if (i >= log->count)
        print_message("  %s: nothing\n", model);
    else
        print_message("  %s: cycle %llu %s %llx\n", model, (unsigned long long)log->records[i].time,
                      kinds[log->records[i].kind], (unsigned long long)log->records[i].value);
}

static bool same_log(const struct trial *t, uint32_t n)
{
    const struct log *a = &t->literal_log[n], *b = &t->log[n];
    size_t i = 0;
    while (i < a->count && i < b->count &&
           memcmp(&a->records[i], &b->records[i], sizeof a->records[i]) == 0)
        i++;
    if (i == a->count && i == b->count) return true;
    print_message("node %u, record %zu:\n", n, i);
    print_record("literal", a, i);
    print_record("fast   ", b, i);
    return false;
}

static bool same(const struct trial *t)
{
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (!same_log(t, n)) return false;
        for (enum net_dma_event e = 0; e < DMA_EVENTS; e++) {
            struct net_count a = t->literal->node[n].count[e];
            struct net_count b = net_dma_count(t->part[part_of(t, n)], n, e);
            if (a.occurrences == b.occurrences && a.high == b.high) continue;
            print_message("cycle %llu node %u %s: literal %llu (%llu high), fast %llu (%llu)\n",
                          (unsigned long long)t->literal_torus->now, n, net_dma_event_rows[e].name,
                          (unsigned long long)a.occurrences, (unsigned long long)a.high,
                          (unsigned long long)b.occurrences, (unsigned long long)b.high);
            return false;
        }
        const uint8_t *a = t->literal_memory + (size_t)n * MEMORY,
                      *b = t->memory + (size_t)n * MEMORY;
        for (unsigned i = 0; i < MEMORY; i++)
            if (a[i] != b[i]) {
                print_message("node %u memory 0x%x: literal %02x, fast %02x\n", n, i, a[i], b[i]);
                return false;
            }
    }
    return true;
}

static void literal_and_event_driven_models_agree(void **state)
{
    (void)state;
    struct net_dma_totals all = {0};
    unsigned quiet = 0;
    for (uint64_t trial = 0; trial < random_trials(12); trial++) {
        uint64_t random = trial * 31 + 3;
        struct trial t = {.seed = random_next(&random), .until = 12000};
        t.every = (unsigned)(60 << random_below(&random, 4));
        t.config.params = net_torus_bgp;
        for (unsigned i = 0; i < 3; i++) {
            t.config.shape.size[i] = (uint16_t)(1 + random_below(&random, 3));
            t.config.shape.torus[i] = random_below(&random, 2);
        }
        t.nodes = net_torus_nodes(&t.config.shape);
        t.partitions =
            1 + (unsigned)random_below(&random, t.nodes < PARTITIONS ? t.nodes : PARTITIONS);
        make(&t, &random);
        bool equal = true;
        for (uint64_t from = 0; equal && from < 40000;) {
            uint64_t until = from + 1 + random_below(&random, 9000);
            fast_run(&t, from, until);
            literal_run(&t, until);
            equal = same(&t);
            from = until;
        }
        if (!equal)
            print_message("trial %llu: %u nodes, %u partitions\n", (unsigned long long)trial,
                          t.nodes, t.partitions);
        assert_true(equal);
        struct net_dma_totals totals = {0};
        for (unsigned p = 0; p < t.partitions; p++)
            net_dma_add_totals(t.part[p], &totals);
        if (!totals.left) {
            int law = net_dma_broken_law(&totals);
            if (law >= 0)
                print_message("trial %llu breaks: %s\n", (unsigned long long)trial,
                              net_dma_law((unsigned)law));
            assert_int_equal(law, -1);
            quiet++;
        }
        for (enum net_dma_event e = 0; e < DMA_EVENTS; e++)
            all.count[e].occurrences += totals.count[e].occurrences;
        all.dropped += totals.dropped;
        all.foreign += totals.foreign;
        all.got_descriptors += totals.got_descriptors;
        unmake(&t);
    }
    print_message("%llu packets, %llu by remote get, %llu local, %llu of cores, %llu faults, %u "
                  "trials became quiet\n",
                  (unsigned long long)all.count[DMA_INJECTED].occurrences,
                  (unsigned long long)all.got_descriptors,
                  (unsigned long long)all.count[DMA_LOCAL_PACKETS].occurrences,
                  (unsigned long long)all.foreign, (unsigned long long)all.dropped, quiet);
    for (enum net_dma_event e = 0; e < DMA_EVENTS; e++)
        assert_true(all.count[e].occurrences);
    assert_true(all.got_descriptors && all.dropped && all.foreign);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_and_event_driven_models_agree),
    };
    return cmocka_run_group_tests_name("net_dma_models", tests, NULL, NULL);
}
