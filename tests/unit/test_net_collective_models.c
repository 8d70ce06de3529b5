/* The event-driven collective network against the literal one (net_literal_collective.c), on random
 * trees, random routes and random traffic: every arrival time, content and count is equal. The
 * event-driven one runs in 1 to 4 partitions.
 *
 * What a node's owner does is a function of seed, node, cycle and of what it did before, so that
 * both models and any number of partitions see the same owners.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net_literal_collective.h"
#include "random.h"
#include "rig_net.h"

enum { STORE = 1, LOAD, RECEIVED = 100, INJECTED };

struct traffic {
    uint64_t seed;
    unsigned store_every, load_every; /* an owner's actions: once in so many cycles */
    unsigned combines;                /* of each node and channel */
    unsigned single_of_8;             /* packets that are not combined */
    bool whole;                       /* packets are injected in one call */
    bool random_routes;
    uint64_t until; /* only what completes combines is stored later */
};

/* Of one node in one model. */
struct owner {
    unsigned headers[2], quads[2], combines[2];
    bool combined[2]; /* the packet whose header was stored last */
};

struct fast {
    struct net_collective *network;
    struct rig_partitions partitions;
    struct net_collective_part *part[RIG_PARTITIONS];
    struct fast_self {
        struct fast *fast;
        unsigned number;
    } self[RIG_PARTITIONS];
    struct rig_log *logs;
    struct owner *owners;
};

struct trial {
    struct net_collective_config config;
    struct traffic traffic;
    struct fast fast;
    struct literal_collective *literal;
    struct rig_log *logs;
    struct owner *owners;
};

/* One of both models, and the node that acts. */
struct actor {
    struct trial *trial;
    struct net_collective_part *part; /* NULL: literal */
    uint32_t node;
    uint64_t cycle;
    struct owner *owner;
    struct rig_log *log;
};

static void note(const struct actor *a, uint64_t kind, uint64_t x, uint64_t y, uint64_t z)
{
    rig_log_add(a->log, (struct rig_record){a->cycle, kind, {x, y, z}});
}

static int store_header(const struct actor *a, unsigned vc, uint32_t header, uint64_t serial)
{
    return a->part
               ? net_collective_store_header(a->part, a->node, vc, header, serial, NULL)
               : literal_collective_store_header(a->trial->literal, a->node, vc, header, serial);
}

static int store_data(const struct actor *a, unsigned vc, const uint8_t quad[16])
{
    return a->part ? net_collective_store_data(a->part, a->node, vc, quad, NULL)
                   : literal_collective_store_data(a->trial->literal, a->node, vc, quad);
}

/* ---- what owners do ---- */

/* Number `number` of the combines of a channel has the same header at all nodes; a few do not. */
static uint32_t combine_header(const struct actor *a, unsigned vc, unsigned number,
                               uint64_t *random)
{
    static const uint8_t ops[] = {1, 2, 3, 5, 6};
    uint64_t common = a->trial->traffic.seed + number * 2 + vc;
    struct net_collective_header h = {.class = (uint8_t)vc};
    (void)random_next(&common);
    uint64_t *from = random_below(random, 16) ? &common : random;
    h.op = ops[random_below(from, 5)];
    h.words = (uint8_t)(1 + random_below(from, 128));
    h.tag = (uint16_t)number;
    return net_collective_header_encode(&h);
}

static uint32_t single_header(const struct actor *a, uint64_t *random)
{
    const struct trial *t = a->trial;
    struct net_collective_header h = {.class = (uint8_t)random_below(random, 16), .words = 1};
    if (random_below(random, 2)) {
        h.point_to_point = true;
        h.target = (uint32_t)random_below(random, t->config.nodes);
    } else if (t->traffic.random_routes) {
        h.op = (uint8_t)random_below(random, 8);
    }
    return net_collective_header_encode(&h);
}

/* The header of the next packet of a channel; false: none. */
static bool next_header(const struct actor *a, unsigned vc, uint64_t *random, uint32_t *header)
{
    const struct traffic *traffic = &a->trial->traffic;
    struct owner *o = a->owner;
    bool late = a->cycle >= traffic->until, single = random_below(random, 8) < traffic->single_of_8;
    o->combined[vc] = !single && o->combines[vc] < traffic->combines;
    if (late) o->combined[vc] = o->combines[vc] < traffic->combines;
    if (late && (!o->combined[vc] || traffic->random_routes)) return false;
    *header =
        o->combined[vc] ? combine_header(a, vc, o->combines[vc], random) : single_header(a, random);
    return true;
}

static void count_header(const struct actor *a, unsigned vc)
{
    a->owner->headers[vc]++;
    a->owner->combines[vc] += a->owner->combined[vc];
}

static void store_whole(const struct actor *a, unsigned vc, uint64_t *random)
{
    uint32_t header;
    uint8_t payload[COLLECTIVE_PAYLOAD];
    int status = CHIL_OK;
    if (!next_header(a, vc, random, &header)) return;
    for (unsigned i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)random_next(random);
    if (a->part) {
        status = net_collective_inject(a->part, a->node, vc, header, payload, a->cycle, NULL);
    } else {
        const struct tree_node *n = &a->trial->literal->node[a->node];
        if (n->injection[vc].headers == 8 || n->injection[vc].quads > 112) status = CHIL_EBUSY;
        if (literal_collective_no_way(a->trial->literal, a->node, header)) status = CHIL_EINVAL;
        if (!status) status = store_header(a, vc, header, a->cycle);
        for (unsigned i = 0; i < 16 && status == CHIL_OK; i++)
            status = store_data(a, vc, payload + (size_t)16 * i);
    }
    if (status == CHIL_OK) count_header(a, vc);
    note(a, STORE, vc, (uint64_t)(int64_t)status, header);
}

/* One access; headers and quads are at most some packets apart. */
static void store_piece(const struct actor *a, unsigned vc, uint64_t *random)
{
    struct owner *o = a->owner;
    bool late = a->cycle >= a->trial->traffic.until;
    uint8_t quad[16];
    uint32_t header;
    if (16 * o->headers[vc] <= o->quads[vc] + (late ? 0 : random_below(random, 30))) {
        if (!next_header(a, vc, random, &header)) return;
        int status = store_header(a, vc, header, a->cycle);
        if (status != CHIL_EBUSY) count_header(a, vc);
        note(a, STORE, vc, (uint64_t)(int64_t)status, header);
        return;
    }
    if (late && o->quads[vc] >= 16 * o->headers[vc]) return;
    for (unsigned i = 0; i < 16; i++)
        quad[i] = (uint8_t)random_next(random);
    int status = store_data(a, vc, quad);
    if (status == CHIL_OK) o->quads[vc]++;
    note(a, STORE, vc, (uint64_t)(int64_t)status, 1);
}

static void load(const struct actor *a, unsigned vc, uint64_t *random)
{
    struct literal_collective *l = a->trial->literal;
    uint8_t quad[16];
    uint32_t header = 0;
    int status;
    if (!random_below(random, 12)) {
        status = a->part ? net_collective_load_header(a->part, a->node, vc, &header, NULL)
                         : literal_collective_load_header(l, a->node, vc, &header);
        note(a, LOAD, (uint64_t)(int64_t)status, header, 0);
        return;
    }
    for (uint64_t n = random_below(random, 24) + 1; n; n--) {
        status = a->part ? net_collective_load_data(a->part, a->node, vc, quad, NULL)
                         : literal_collective_load_data(l, a->node, vc, quad);
        note(a, LOAD, (uint64_t)(int64_t)status, rig_hash(0, quad, 16), 1);
    }
}

static void act(struct actor *a)
{
    const struct traffic *traffic = &a->trial->traffic;
    uint64_t random = traffic->seed ^ (a->cycle * a->trial->config.nodes + a->node + 1) *
                                          UINT64_C(0x2545F4914F6CDD1D);
    (void)random_next(&random);
    uint64_t what = random_below(&random, (uint64_t)traffic->store_every * traffic->load_every);
    bool stores = what % traffic->store_every == 0, loads = what / traffic->store_every == 0;
    if (a->cycle >= traffic->until) loads = random_below(&random, 10) == 0;
    if (!stores && !loads) return;
    if (a->part)
        net_partition_advance(a->trial->fast.partitions
                                  .partition[rig_partition_of(&a->trial->fast.partitions, a->node)],
                              a->cycle);
    unsigned vc = (unsigned)random_below(&random, 2);
    if (loads) load(a, vc, &random);
    if (stores && traffic->whole) store_whole(a, vc, &random);
    if (stores && !traffic->whole) store_piece(a, vc, &random);
    uint32_t status = a->part ? net_collective_status(a->part, a->node, vc)
                              : literal_collective_status(a->trial->literal, a->node, vc);
    note(a, STORE, status, 0, 2);
}

/* ---- both models ---- */

static void fast_received(void *self, uint32_t node, unsigned vc)
{
    const struct fast_self *s = self;
    const struct net_collective_part *part = s->fast->part[s->number];
    const struct net_collective_packet *packet = net_collective_front(part, node, vc);
    while (packet->next != net_collective_front(part, node, vc))
        packet = packet->next; /* the one that came is the last of the list */
    rig_log_add(
        &s->fast->logs[node],
        (struct rig_record){net_partition_now(s->fast->partitions.partition[s->number]),
                            RECEIVED,
                            {vc, packet->serial,
                             rig_hash(packet->header, packet->payload, sizeof packet->payload)}});
}

static void fast_injected(void *self, uint32_t node, unsigned vc)
{
    const struct fast_self *s = self;
    rig_log_add(&s->fast->logs[node],
                (struct rig_record){
                    net_partition_now(s->fast->partitions.partition[s->number]), INJECTED, {vc}});
}

static void literal_received(void *self, uint32_t node, unsigned vc)
{
    struct trial *t = self;
    const struct tree_queue *queue = &t->literal->node[node].reception[vc].queue;
    const struct tree_packet *packet = queue->packet[queue->count - 1];
    rig_log_add(&t->logs[node], (struct rig_record){t->literal->now,
                                                    RECEIVED,
                                                    {vc, packet->serial,
                                                     rig_hash(packet->header, packet->payload,
                                                              sizeof packet->payload)}});
}

static void literal_injected(void *self, uint32_t node, unsigned vc)
{
    struct trial *t = self;
    rig_log_add(&t->logs[node], (struct rig_record){t->literal->now, INJECTED, {vc}});
}

static void fast_run(struct trial *t, uint64_t from, uint64_t until)
{
    struct fast *f = &t->fast;
    uint64_t window = f->partitions.count == 1 ? until - from : t->config.params.hop_cycles;
    for (; from < until; from += window) {
        uint64_t end = from + window < until ? from + window : until;
        for (unsigned p = 0; p < f->partitions.count; p++) {
            for (uint64_t cycle = from; cycle < end; cycle++)
                for (uint32_t n = f->partitions.first[p]; n < f->partitions.first[p + 1]; n++)
                    act(&(struct actor){t, f->part[p], n, cycle, &f->owners[n], &f->logs[n]});
            net_partition_advance(f->partitions.partition[p], end);
        }
        rig_partitions_exchange(&f->partitions);
    }
}

static void literal_run(struct trial *t, uint64_t until)
{
    while (t->literal->now < until) {
        for (uint32_t n = 0; n < t->config.nodes; n++)
            act(&(struct actor){t, NULL, n, t->literal->now, &t->owners[n], &t->logs[n]});
        literal_collective_step(t->literal);
    }
}

static void new_models(struct trial *t, unsigned partitions)
{
    struct fast *f = &t->fast;
    uint32_t nodes = t->config.nodes;
    assert_int_equal(net_collective_new(&f->network, &t->config, NULL), CHIL_OK);
    rig_partitions_init(&f->partitions, nodes, partitions);
    f->logs = rig_logs_new(nodes);
    f->owners = base_calloc(nodes, sizeof *f->owners);
    for (unsigned p = 0; p < f->partitions.count; p++) {
        f->self[p] = (struct fast_self){f, p};
        f->part[p] = net_collective_part_new(
            f->network, f->partitions.partition[p],
            &(struct net_collective_owner){&f->self[p], fast_received, fast_injected});
    }
    t->literal = literal_collective_new(&t->config);
    t->literal->owner = t;
    t->literal->received = literal_received;
    t->literal->injected = literal_injected;
    t->logs = rig_logs_new(nodes);
    t->owners = base_calloc(nodes, sizeof *t->owners);
}

static void free_models(struct trial *t)
{
    struct fast *f = &t->fast;
    for (unsigned p = 0; p < f->partitions.count; p++)
        net_collective_part_free(f->part[p]);
    rig_partitions_fini(&f->partitions);
    net_collective_free(f->network);
    rig_logs_free(f->logs, t->config.nodes);
    rig_logs_free(t->logs, t->config.nodes);
    free(f->owners);
    free(t->owners);
    literal_collective_free(t->literal);
}

static void set_route(struct trial *t, uint32_t n, unsigned class, uint16_t route)
{
    unsigned p = rig_partition_of(&t->fast.partitions, n);
    net_collective_set_route(t->fast.part[p], n, class, route);
    t->literal->node[n].route[class] = route;
    assert_int_equal(net_collective_route(t->fast.part[p], n, class), route);
}

static void set_registers(struct trial *t, uint64_t *random)
{
    for (uint32_t n = 0; n < t->config.nodes; n++) {
        if (!random_below(random, 8)) {
            bool all = random_below(random, 2);
            uint32_t address = (uint32_t)random_below(random, t->config.nodes);
            net_collective_set_address(t->fast.part[rig_partition_of(&t->fast.partitions, n)], n,
                                       address, all);
            t->literal->node[n].address = address;
            t->literal->node[n].receive_all = all;
        }
        if (!t->traffic.random_routes) continue;
        for (unsigned class = 2; class < COLLECTIVE_CLASSES; class ++)
            if (random_below(random, 2)) set_route(t, n, class, (uint16_t)random_next(random));
    }
}

/* ---- comparison ---- */

/* Notices of one cycle in the order of the event-driven model. */
static void sort_notices(struct rig_log *log)
{
    for (size_t i = 1; i < log->count; i++)
        for (size_t k = i; k > 0; k--) {
            struct rig_record *a = &log->records[k - 1], *b = &log->records[k];
            if (a->time != b->time || a->kind < RECEIVED || a->kind < b->kind ||
                (a->kind == b->kind && a->value[0] <= b->value[0]))
                break;
            struct rig_record swap = *a;
            *a = *b;
            *b = swap;
        }
}

static bool same_counts(const struct trial *t)
{
    for (uint32_t n = 0; n < t->config.nodes; n++)
        for (enum net_collective_event e = 0; e < COLLECTIVE_EVENTS; e++) {
            struct net_count a = t->literal->node[n].count[e];
            struct net_count b =
                net_collective_count(t->fast.part[rig_partition_of(&t->fast.partitions, n)], n, e);
            char name[32];
            if (a.occurrences == b.occurrences && a.high == b.high) continue;
            net_collective_event_name(e, name);
            print_message(
                "cycle %llu node %u %s: literal %llu (%llu high), fast %llu (%llu high)\n",
                (unsigned long long)t->literal->now, n, name, (unsigned long long)a.occurrences,
                (unsigned long long)a.high, (unsigned long long)b.occurrences,
                (unsigned long long)b.high);
            return false;
        }
    return true;
}

static struct net_collective_totals totals_of(const struct fast *f)
{
    struct net_collective_totals totals = {0};
    for (unsigned p = 0; p < f->partitions.count; p++)
        net_collective_add_totals(f->part[p], &totals);
    return totals;
}

static bool quiet(const struct trial *t)
{
    struct net_collective_totals totals = totals_of(&t->fast);
    bool done = !totals.unread_headers && !totals.unread_quads;
    for (uint32_t n = 0; n < t->config.nodes; n++)
        for (unsigned vc = 0; vc < 2; vc++) {
            const struct owner *o = &t->owners[n];
            done &= o->combines[vc] == t->traffic.combines;
            done &= t->traffic.whole || o->quads[vc] >= 16 * o->headers[vc];
        }
    return done && rig_partitions_quiet(&t->fast.partitions);
}

/* Every third machine has faults. */
static void choose(struct trial *t, uint64_t trial, uint64_t *random)
{
    t->config.nodes = (uint32_t)(1 + random_below(random, trial % 4 ? 6 : 20));
    t->config.params = random_below(random, 2) ? net_collective_bgp : net_collective_bgl;
    if (!random_below(random, 3))
        t->config.params = (struct net_collective_params){
            .packet_cycles = 9 + (uint32_t)random_below(random, 90),
            .hop_cycles = 1 + (uint32_t)random_below(random, 200),
            .alu_cycles = (uint32_t)random_below(random, 9),
            .inject_cycles = 1 + (uint32_t)random_below(random, 9),
            .receive_cycles = 1 + (uint32_t)random_below(random, 9),
            .empty_cycles = 1 + (uint32_t)random_below(random, 300),
            .idle_cycles = 200 + (uint32_t)random_below(random, 300),
            .greedy_cycles = 1 + (uint32_t)random_below(random, 2000)};
    if (trial % 3 == 1) {
        t->config.fault_seed = random_next(random);
        t->config.bit_error_rate = (UINT64_C(1) << 51) >> random_below(random, 4);
    }
    t->traffic = (struct traffic){.seed = random_next(random),
                                  .store_every = (unsigned)(2 << random_below(random, 6)),
                                  .load_every = (unsigned)(2 << random_below(random, 6)),
                                  .combines = (unsigned)random_below(random, 30),
                                  .single_of_8 = (unsigned)random_below(random, 6),
                                  .whole = random_below(random, 2),
                                  .random_routes = trial % 5 == 4,
                                  .until = 6000};
    if (t->traffic.whole) t->traffic.store_every *= 8;
}

static bool run_trial(struct trial *t, uint64_t *random)
{
    bool same = true;
    uint64_t from = 0;
    uint64_t end = t->traffic.random_routes ? 12000 : 400000;
    while (same && from < end && (from < t->traffic.until || !quiet(t))) {
        uint64_t until = from + 1 + random_below(random, 6000);
        fast_run(t, from, until);
        literal_run(t, until);
        for (uint32_t n = 0; n < t->config.nodes; n++) {
            sort_notices(&t->logs[n]);
            sort_notices(&t->fast.logs[n]);
        }
        same = rig_logs_same(t->logs, t->fast.logs, t->config.nodes) && same_counts(t);
        from = until;
    }
    if (same && !t->traffic.random_routes) assert_true(quiet(t));
    return same;
}

static void literal_and_event_driven_models_agree(void **state)
{
    (void)state;
    struct net_collective_totals all = {0};
    for (uint64_t trial = 0; trial < random_trials(24); trial++) {
        uint64_t random = trial * 91 + 3;
        struct trial t = {0};
        choose(&t, trial, &random);
        new_models(&t, 1 + (unsigned)random_below(&random, RIG_PARTITIONS));
        set_registers(&t, &random);
        bool same = run_trial(&t, &random);
        if (!same)
            print_message("trial %llu: %u nodes, %u partitions, errors %llx\n",
                          (unsigned long long)trial, t.config.nodes, t.fast.partitions.count,
                          (unsigned long long)t.config.bit_error_rate);
        assert_true(same);
        struct net_collective_totals totals = totals_of(&t.fast);
        int law = t.traffic.random_routes ? -1 : net_collective_broken_law(&totals);
        if (law >= 0)
            print_message("trial %llu breaks: %s\n", (unsigned long long)trial,
                          net_collective_law((unsigned)law));
        assert_int_equal(law, -1);
        for (enum net_collective_event e = 0; e < COLLECTIVE_EVENTS; e++)
            all.count[e].occurrences += totals.count[e].occurrences;
        all.merged += totals.merged;
        all.strays += totals.strays;
        free_models(&t);
    }
    unsigned never = 0;
    for (enum net_collective_event e = 0; e < COLLECTIVE_EVENTS; e++) {
        char name[32];
        net_collective_event_name(e, name);
        bool fault = strstr(name, "abort") || strstr(name, "bad_marker") ||
                     strstr(name, "parity_error") || strstr(name, "sram_corrected");
        assert_true(!fault || !all.count[e].occurrences);
        if (!fault && !all.count[e].occurrences) print_message("never: %s\n", name);
        never += !fault && !all.count[e].occurrences;
    }
    print_message("%llu packets merged, %llu strays\n", (unsigned long long)all.merged,
                  (unsigned long long)all.strays);
    const char *length = getenv("CHILIAD_TEST_LENGTH");
    if (!length || strcmp(length, "short") != 0) assert_int_equal(never, 0);
    assert_true(all.merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_and_event_driven_models_agree),
    };
    return cmocka_run_group_tests_name("net_collective_models", tests, NULL, NULL);
}
