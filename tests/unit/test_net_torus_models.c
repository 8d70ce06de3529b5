/* The event-driven torus against the literal one (net_literal_torus.c), on random machines and
 * random traffic: every arrival time, order, content and count is equal. The event-driven one runs
 * in 1 to 4 partitions.
 *
 * What each node's owner does in a cycle is a function of seed, node and cycle, so that both models
 * and any number of partitions see the same owners.
 *
 * Faults that were planted and found: no bubble (c instead of c + 8 tokens); a tie of tokens taken
 * by the higher direction; no limit of 8 packets in transit; losers that do not choose again; round
 * robin that starts at the same source; reception by source instead of age; half way always plus;
 * packets behind a corrupt one that are not repeated; deliveries of one cycle in any order; the
 * token packet of a buffered packet not counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net_literal_torus.h"
#include "random.h"

enum { PARTITIONS = 4, INJECT = 1, DROP, RECEIVED };

struct record {
    uint64_t time, serial, hash;
    uint32_t node;
    uint16_t kind, fifo;
};

struct log {
    struct record *records;
    size_t count, capacity;
};

struct traffic {
    uint64_t seed;
    unsigned inject_every, drop_every; /* an owner's actions: once in so many cycles */
    unsigned largest;                  /* chunks */
    unsigned deposit_of_8, dynamic_of_8, priority_of_8, hint_of_8;
    bool hot_spot;
    uint64_t until; /* no injection later */
};

struct fast {
    struct net_torus *torus;
    struct net_partition *partition[PARTITIONS];
    struct net_torus_part *part[PARTITIONS];
    uint32_t first[PARTITIONS + 1];
    unsigned partitions;
    struct log *logs; /* per node */
    struct owner {
        struct fast *fast;
        unsigned number;
    } owner[PARTITIONS];
};

struct trial {
    struct net_torus_config config;
    struct traffic traffic;
    uint32_t nodes;
    struct fast fast;
    struct literal_torus *literal;
    struct log *logs; /* of the literal one */
};

static void add(struct log *log, struct record record)
{
    if (log->count == log->capacity)
        log->records =
            base_grow(log->records, &log->capacity, log->count + 1, sizeof *log->records);
    log->records[log->count++] = record;
}

static uint64_t hash_of(const uint32_t words[4], const uint8_t *payload, unsigned chunks)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < 4; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x100000001B3);
    for (unsigned i = 0; i < 32 * chunks - 16; i++)
        hash = (hash ^ payload[i]) * UINT64_C(0x100000001B3);
    return hash;
}

/* ---- what owners do ---- */

struct action {
    int kind; /* 0: nothing */
    unsigned fifo;
    uint64_t serial;
    uint32_t words[4];
    uint8_t payload[TORUS_PAYLOAD_MAX];
};

static void choose_header(const struct trial *t, uint32_t node, uint64_t *random,
                          struct net_torus_header *h)
{
    const struct net_torus_shape *shape = &t->config.shape;
    const struct traffic *traffic = &t->traffic;
    uint8_t at[3];
    uint32_t to = traffic->hot_spot && random_below(random, 2)
                      ? t->nodes / 2
                      : (uint32_t)random_below(random, t->nodes);
    net_torus_coordinates(shape, node, at);
    net_torus_coordinates(shape, to, h->target);
    h->chunks = (uint8_t)(1 + random_below(random, traffic->largest));
    h->group = (uint8_t)random_below(random, 4);
    h->dynamic = random_below(random, 8) < traffic->dynamic_of_8;
    h->channel = random_below(random, 8) < traffic->priority_of_8 ? TORUS_BUBBLE_PRIORITY
                                                                  : TORUS_BUBBLE_NORMAL;
    h->deposit = random_below(random, 8) < traffic->deposit_of_8;
    unsigned line = (unsigned)random_below(random, 3);
    for (unsigned i = 0; i < 3 && h->deposit; i++)
        if (i != line) h->target[i] = at[i];
    h->hints = net_torus_hints(shape, at, h->target);
    /* The long way round in some dimensions, and round to oneself. */
    for (unsigned i = 0; i < 3; i++)
        if (shape->torus[i] && (!h->deposit || i == line) &&
            (random_below(random, 8) < traffic->hint_of_8 || !h->hints)) {
            h->hints &= (uint8_t) ~(net_torus_hint(2 * i) | net_torus_hint(2 * i + 1));
            h->hints |= net_torus_hint(2 * i + (unsigned)random_below(random, 2));
        }
    if (h->hints == net_torus_hints(shape, at, h->target) && random_below(random, 2)) h->hints = 0;
}

static struct action action_of(const struct trial *t, uint32_t node, uint64_t cycle)
{
    const struct traffic *traffic = &t->traffic;
    uint64_t random = traffic->seed ^ (cycle * t->nodes + node + 1) * UINT64_C(0x2545F4914F6CDD1D);
    struct action a = {0};
    (void)random_next(&random);
    bool ended = cycle >= traffic->until;
    if (!ended && !random_below(&random, traffic->inject_every)) {
        struct net_torus_header h = {0};
        a.kind = INJECT;
        a.serial = cycle * t->nodes + node;
        a.fifo = (unsigned)random_below(&random, TORUS_INJECTION_FIFOS);
        choose_header(t, node, &random, &h);
        h.software[0] = (uint32_t)random_next(&random);
        net_torus_header_encode(&h, a.words);
        for (unsigned i = 0; i < sizeof a.payload; i += 8)
            *(uint64_t *)(void *)(a.payload + i) = random_next(&random);
    } else if (!random_below(&random, ended ? 8 : traffic->drop_every)) {
        a.kind = DROP;
        a.fifo = (unsigned)random_below(&random, TORUS_RECEPTION_FIFOS);
    }
    return a;
}

/* ---- the event-driven torus ---- */

static void fast_received(void *self, uint32_t node, unsigned fifo)
{
    const struct owner *owner = self;
    struct net_torus_part *part = owner->fast->part[owner->number];
    const struct net_torus_packet *packet = net_torus_front(part, node, fifo);
    /* The one that came is the last of the list. */
    while (packet->next != net_torus_front(part, node, fifo))
        packet = packet->next;
    add(&owner->fast->logs[node],
        (struct record){.time = net_partition_now(owner->fast->partition[owner->number]),
                        .serial = packet->serial,
                        .hash = hash_of(packet->words, packet->payload, packet->chunks),
                        .node = node,
                        .kind = RECEIVED,
                        .fifo = (uint16_t)fifo});
}

static void fast_act(struct trial *t, unsigned p, uint32_t node, uint64_t cycle,
                     const struct action *a)
{
    struct net_torus_part *part = t->fast.part[p];
    struct record record = {.time = cycle,
                            .serial = a->serial,
                            .node = node,
                            .kind = (uint16_t)a->kind,
                            .fifo = (uint16_t)a->fifo};
    net_partition_advance(t->fast.partition[p], cycle);
    if (a->kind == INJECT) {
        struct chil_error error = {0};
        int status = net_torus_inject(part, node, a->fifo, a->words, a->payload, a->serial, &error);
        if (status == CHIL_EINVAL || status == CHIL_ENOENT) return;
        record.hash = (uint64_t)status;
    } else {
        const struct net_torus_packet *front = net_torus_front(part, node, a->fifo);
        if (!front) return;
        record.serial = front->serial;
        net_torus_drop_front(part, node, a->fifo);
    }
    add(&t->fast.logs[node], record);
}

/* Windows of a hop, after which partitions exchange what they sent each other. */
static void fast_run(struct trial *t, uint64_t from, uint64_t until)
{
    struct fast *f = &t->fast;
    uint64_t window = f->partitions == 1 ? until - from : t->config.params.hop_cycles;
    for (; from < until; from += window) {
        uint64_t end = from + window < until ? from + window : until;
        for (unsigned p = 0; p < f->partitions; p++) {
            for (uint64_t cycle = from; cycle < end; cycle++)
                for (uint32_t node = f->first[p]; node < f->first[p + 1]; node++) {
                    struct action a = action_of(t, node, cycle);
                    if (a.kind) fast_act(t, p, node, cycle, &a);
                }
            net_partition_advance(f->partition[p], end);
        }
        for (unsigned p = 0; p < f->partitions; p++) {
            size_t count;
            const struct net_event *events = net_partition_outbox(f->partition[p], &count);
            for (size_t i = 0; i < count; i++)
                for (unsigned q = 0; q < f->partitions; q++)
                    if (events[i].node >= f->first[q] && events[i].node < f->first[q + 1])
                        net_partition_post(f->partition[q], &events[i]);
            net_partition_outbox_clear(f->partition[p]);
        }
    }
}

static void fast_new(struct trial *t, unsigned partitions)
{
    struct fast *f = &t->fast;
    f->partitions = partitions;
    f->logs = base_calloc(t->nodes, sizeof *f->logs);
    assert_int_equal(net_torus_new(&f->torus, &t->config, NULL), CHIL_OK);
    for (unsigned p = 0; p < partitions; p++) {
        f->first[p] = t->nodes * p / partitions;
        f->first[p + 1] = t->nodes * (p + 1) / partitions;
        f->owner[p] = (struct owner){f, p};
        f->partition[p] = net_partition_new(f->first[p], f->first[p + 1]);
        f->part[p] = net_torus_part_new(
            f->torus, f->partition[p],
            &(struct net_torus_owner){.self = &f->owner[p], .received = fast_received});
    }
}

static void logs_free(struct log *logs, uint32_t nodes)
{
    for (uint32_t n = 0; n < nodes; n++)
        free(logs[n].records);
    free(logs);
}

static void fast_free(struct trial *t)
{
    for (unsigned p = 0; p < t->fast.partitions; p++) {
        net_torus_part_free(t->fast.part[p]);
        net_partition_free(t->fast.partition[p]);
    }
    net_torus_free(t->fast.torus);
    logs_free(t->fast.logs, t->nodes);
}

/* ---- the literal torus ---- */

static void literal_received(void *self, uint32_t node, unsigned fifo)
{
    struct trial *t = self;
    const struct literal_queue *queue = &t->literal->node[node].reception[fifo];
    const struct literal_packet *packet = queue->packet[queue->count - 1];
    add(&t->logs[node],
        (struct record){.time = t->literal->now,
                        .serial = packet->serial,
                        .hash = hash_of(packet->words, packet->payload, (unsigned)packet->chunks),
                        .node = node,
                        .kind = RECEIVED,
                        .fifo = (uint16_t)fifo});
}

static void literal_act(struct trial *t, uint32_t node, const struct action *a)
{
    struct literal_node *n = &t->literal->node[node];
    struct record record = {.time = t->literal->now,
                            .serial = a->serial,
                            .node = node,
                            .kind = (uint16_t)a->kind,
                            .fifo = (uint16_t)a->fifo};
    if (a->kind == INJECT) {
        struct net_torus_header h;
        uint8_t at[3];
        net_torus_header_decode(a->words, &h);
        net_torus_coordinates(&t->config.shape, node, at);
        if (!h.hints && !net_torus_hints(&t->config.shape, at, h.target)) return;
        record.hash = (uint64_t)literal_torus_inject(t->literal, node, a->fifo, a->words,
                                                     a->payload, a->serial);
    } else {
        struct literal_queue *queue = &n->reception[a->fifo];
        if (!queue->count) return;
        record.serial = queue->packet[0]->serial;
        n->reserved[a->fifo] -= queue->packet[0]->chunks;
        queue->count--;
        memmove(queue->packet, queue->packet + 1, (size_t)queue->count * sizeof queue->packet[0]);
    }
    add(&t->logs[node], record);
}

static void literal_run(struct trial *t, uint64_t until)
{
    while (t->literal->now < until) {
        for (uint32_t node = 0; node < t->nodes; node++) {
            struct action a = action_of(t, node, t->literal->now);
            if (a.kind) literal_act(t, node, &a);
        }
        literal_torus_step(t->literal);
        if (t->literal->now % 512 == 0) assert_true(literal_torus_tokens(t->literal));
    }
}

/* ---- comparison ---- */

static void print_record(const char *model, const struct log *log, size_t i)
{
    if (i >= log->count) {
        print_message("  %s: nothing\n", model);
        return;
    }
    const struct record *r = &log->records[i];
    static const char *const kinds[] = {"", "inject", "drop", "received"};
    print_message("  %s: cycle %llu node %u %s fifo %u serial %llu hash %llx\n", model,
                  (unsigned long long)r->time, r->node, kinds[r->kind], r->fifo,
                  (unsigned long long)r->serial, (unsigned long long)r->hash);
}

static bool same_record(const struct record *a, const struct record *b)
{
    return a->time == b->time && a->serial == b->serial && a->hash == b->hash &&
           a->kind == b->kind && a->fifo == b->fifo;
}

static bool same_logs(const struct trial *t)
{
    uint64_t earliest = UINT64_MAX;
    uint32_t worst = 0;
    size_t at = 0;
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct log *a = &t->logs[n], *b = &t->fast.logs[n];
        size_t i = 0, most = a->count > b->count ? a->count : b->count;
        while (i < most && i < a->count && i < b->count &&
               same_record(&a->records[i], &b->records[i]))
            i++;
        if (i == most) continue;
        uint64_t time = i < a->count ? a->records[i].time : b->records[i].time;
        if (i < b->count && b->records[i].time < time) time = b->records[i].time;
        if (time >= earliest) continue;
        earliest = time;
        worst = n;
        at = i;
    }
    if (earliest == UINT64_MAX) return true;
    print_message("first difference, record %zu of node %u:\n", at, worst);
    print_record("literal", &t->logs[worst], at);
    print_record("fast   ", &t->fast.logs[worst], at);
    return false;
}

static bool same_counts(const struct trial *t)
{
    const struct fast *f = &t->fast;
    for (unsigned p = 0; p < f->partitions; p++)
        for (uint32_t n = f->first[p]; n < f->first[p + 1]; n++)
            for (unsigned d = 0; d < TORUS_LINKS; d++)
                for (enum net_torus_event e = 0; e < TORUS_EVENTS; e++) {
                    struct net_count a = t->literal->node[n].link[d].count[e];
                    struct net_count b = net_torus_count(f->part[p], n, d, e);
                    if (a.occurrences == b.occurrences && a.high == b.high) continue;
                    print_message("cycle %llu node %u port %u %s: literal %llu (%llu high), fast "
                                  "%llu (%llu high)\n",
                                  (unsigned long long)t->literal->now, n, d,
                                  net_torus_event_rows[e].name, (unsigned long long)a.occurrences,
                                  (unsigned long long)a.high, (unsigned long long)b.occurrences,
                                  (unsigned long long)b.high);
                    return false;
                }
    return true;
}

static struct net_torus_totals totals_of(const struct fast *f)
{
    struct net_torus_totals totals = {0};
    for (unsigned p = 0; p < f->partitions; p++)
        net_torus_add_totals(f->part[p], &totals);
    return totals;
}

/* Every third machine has faults. */
static void choose_machine(struct trial *t, uint64_t trial, uint64_t *random)
{
    for (unsigned i = 0; i < 3; i++) {
        t->config.shape.size[i] = (uint16_t)(1 + random_below(random, 4));
        t->config.shape.torus[i] = random_below(random, 2);
    }
    if (!random_below(random, 4)) { /* lopsided */
        t->config.shape.size[random_below(random, 3)] = (uint16_t)(5 + random_below(random, 6));
        t->config.shape.size[0] = t->config.shape.size[0] > 4 ? t->config.shape.size[0] : 1;
        t->config.shape.size[2] = t->config.shape.size[2] > 4 ? t->config.shape.size[2] : 2;
    }
    t->config.params = random_below(random, 2) ? net_torus_bgp : net_torus_bgl;
    if (!random_below(random, 3))
        t->config.params = (struct net_torus_params){2, 1 + (uint32_t)random_below(random, 138),
                                                     1 + (uint32_t)random_below(random, 9),
                                                     1 + (uint32_t)random_below(random, 9), 2000};
    if (trial % 3 == 1) {
        t->config.fault_seed = random_next(random);
        t->config.bit_error_rate = (UINT64_C(1) << 50) >> random_below(random, 4);
    }
    t->nodes = net_torus_nodes(&t->config.shape);
}

static void choose_traffic(struct traffic *traffic, uint64_t trial, uint64_t *random)
{
    *traffic = (struct traffic){
        .seed = random_next(random),
        .inject_every = (unsigned)(20 << random_below(random, 7)),
        .drop_every = (unsigned)(10 << random_below(random, 7)),
        .largest = (unsigned)(random_below(random, 2) ? 8 : 1 + random_below(random, 8)),
        .deposit_of_8 = trial % 2 ? 2 : 0,
        .dynamic_of_8 = (unsigned)random_below(random, 9),
        .priority_of_8 = (unsigned)random_below(random, 3),
        .hint_of_8 = (unsigned)random_below(random, 3),
        .hot_spot = !random_below(random, 3),
        .until = 8000,
    };
}

/* Whether everything was delivered and nothing is under way. */
static bool quiet(const struct fast *f)
{
    struct net_torus_totals totals = totals_of(f);
    for (unsigned p = 0; p < f->partitions; p++)
        if (net_partition_next(f->partition[p]) != NET_NEVER) return false;
    return totals.delivered == totals.injected + totals.copies;
}

static bool run_trial(struct trial *t, uint64_t *random)
{
    uint64_t from = 0;
    bool same = true;
    while (same && (from < t->traffic.until || !quiet(&t->fast))) {
        uint64_t until = from + 1 + random_below(random, 9000);
        fast_run(t, from, until);
        literal_run(t, until);
        same = same_logs(t) && same_counts(t);
        from = until;
    }
    return same;
}

static void literal_and_event_driven_models_agree(void **state)
{
    (void)state;
    uint64_t packets = 0, retries = 0, waits = 0, copies = 0;
    for (uint64_t trial = 0; trial < random_trials(20); trial++) {
        uint64_t random = trial * 77 + 5;
        struct trial t = {0};
        choose_machine(&t, trial, &random);
        choose_traffic(&t.traffic, trial, &random);
        fast_new(&t, 1 + (unsigned)random_below(&random, t.nodes < 4 ? t.nodes : PARTITIONS));
        t.literal = literal_torus_new(&t.config);
        t.literal->owner = &t;
        t.literal->received = literal_received;
        t.logs = base_calloc(t.nodes, sizeof *t.logs);
        bool same = run_trial(&t, &random);
        if (!same)
            print_message("trial %llu: %u%s x %u%s x %u%s, %u partitions, errors %llx\n",
                          (unsigned long long)trial, t.config.shape.size[0],
                          t.config.shape.torus[0] ? "t" : "m", t.config.shape.size[1],
                          t.config.shape.torus[1] ? "t" : "m", t.config.shape.size[2],
                          t.config.shape.torus[2] ? "t" : "m", t.fast.partitions,
                          (unsigned long long)t.config.bit_error_rate);
        assert_true(same);
        struct net_torus_totals totals = totals_of(&t.fast);
        int law = net_torus_broken_law(&totals);
        if (law >= 0)
            print_message("trial %llu breaks: %s\n", (unsigned long long)trial,
                          net_torus_law((unsigned)law));
        assert_int_equal(law, -1);
        copies += totals.copies;
        for (unsigned d = 0; d < TORUS_LINKS; d++) {
            packets += totals.count[d][TORUS_PACKETS].occurrences;
            retries += totals.count[d][TORUS_RETRIES].occurrences;
            waits += totals.count[d][TORUS_NO_TOKENS].occurrences;
        }
        logs_free(t.logs, t.nodes);
        literal_torus_free(t.literal);
        fast_free(&t);
    }
    print_message("%llu packets on links, %llu repeats, %llu waits for tokens, %llu copies\n",
                  (unsigned long long)packets, (unsigned long long)retries,
                  (unsigned long long)waits, (unsigned long long)copies);
    assert_true(packets && retries && waits && copies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_and_event_driven_models_agree),
    };
    return cmocka_run_group_tests_name("net_torus_models", tests, NULL, NULL);
}
