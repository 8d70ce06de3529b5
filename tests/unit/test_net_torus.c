/* The torus: header bits, routes, and times and counts worked out by hand. Blue Gene/P's numbers: a
 * link takes 2 cycles a byte, a hop 56 cycles, injection and reception 180 each.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "machine/net/net_torus.h"
#include "machine/net/net_torus_router.h"
#include "random.h"

enum { PARTS = 4, ROOM = 4096 };

struct arrival {
    uint64_t time, serial;
    uint32_t node;
    unsigned fifo;
};

struct rig {
    struct net_torus *torus;
    struct net_partition *partition;
    struct net_torus_part *part;
    struct arrival arrivals[ROOM];
    size_t count;
    bool keep;        /* packets stay in the reception FIFOs */
    unsigned refills; /* packets of 8 chunks that node 0 (and 1) still sends */
    uint32_t refill_to;
};

static void send_to(struct rig *rig, uint32_t from, uint32_t to, struct net_torus_header h,
                    uint64_t serial)
{
    uint32_t words[4];
    uint8_t payload[TORUS_PAYLOAD_MAX];
    memset(payload, (int)serial, sizeof payload);
    net_torus_coordinates(&net_torus_config(rig->torus)->shape, to, h.target);
    net_torus_header_encode(&h, words);
    assert_int_equal(net_torus_inject(rig->part, from, 0, words, payload, serial, NULL), CHIL_OK);
}

#define NORMAL(n) ((struct net_torus_header){.chunks = (n), .channel = TORUS_BUBBLE_NORMAL})

static void received(void *self, uint32_t node, unsigned fifo)
{
    struct rig *rig = self;
    assert_true(rig->count < ROOM);
    const struct net_torus_packet *packet = net_torus_front(rig->part, node, fifo);
    if (rig->keep)
        while (packet->next != net_torus_front(rig->part, node, fifo))
            packet = packet->next;
    rig->arrivals[rig->count++] =
        (struct arrival){net_partition_now(rig->partition), packet->serial, node, fifo};
    for (unsigned i = 0; i < 32u * packet->chunks - 16; i++)
        assert_int_equal(packet->payload[i], packet->serial & 0xFF);
    if (!rig->keep) net_torus_drop_front(rig->part, node, fifo);
}

static void injected(void *self, uint32_t node, unsigned fifo)
{
    struct rig *rig = self;
    (void)fifo;
    if (!rig->refills) return;
    rig->refills--;
    send_to(rig, node, rig->refill_to, NORMAL(8), node);
}

static void rig_init(struct rig *rig, struct net_torus_config config)
{
    memset(rig, 0, sizeof *rig);
    if (!config.params.hop_cycles) config.params = net_torus_bgp;
    assert_int_equal(net_torus_new(&rig->torus, &config, NULL), CHIL_OK);
    rig->partition = net_partition_new(0, net_torus_nodes(&config.shape));
    rig->part = net_torus_part_new(
        rig->torus, rig->partition,
        &(struct net_torus_owner){.self = rig, .received = received, .injected = injected});
}

static void rig_fini(struct rig *rig)
{
    net_torus_part_free(rig->part);
    net_partition_free(rig->partition);
    net_torus_free(rig->torus);
}

static struct net_torus_config line(uint16_t nodes, bool torus)
{
    return (struct net_torus_config){.shape = {{nodes, 1, 1}, {torus, true, true}}};
}

static uint64_t pulses(const struct rig *rig, uint32_t node, unsigned d, enum net_torus_event e)
{
    return net_torus_count(rig->part, node, d, e).occurrences;
}

static void assert_laws(const struct rig *rig)
{
    struct net_torus_totals totals = {0};
    net_torus_add_totals(rig->part, &totals);
    assert_int_equal(net_torus_broken_law(&totals), -1);
}

/* ---- header ---- */

/* Fault planted: PID1 at bit 18. */
static void header_bits_are_where_IBM_has_them(void **state)
{
    (void)state;
    static const struct {
        struct net_torus_header h;
        uint32_t word0, word1;
    } rows[] = {
        {{.chunks = 1, .checksum_skip = 0x7F}, 0xFE000000, 0},
        {{.chunks = 1, .skip_checksum = true}, 0x01000000, 0},
        {{.chunks = 1, .hints = 0x20}, 0x00800000, 0},
        {{.chunks = 1, .hints = 0x01}, 0x00040000, 0},
        {{.chunks = 1, .deposit = true}, 0x00020000, 0},
        {{.chunks = 1, .group = 2}, 0x00010000, 0},
        {{.chunks = 8}, 0x0000E000, 0},
        {{.chunks = 1, .group = 1}, 0x00001000, 0},
        {{.chunks = 1, .direct = true}, 0x00000800, 0},
        {{.chunks = 1, .dynamic = true}, 0x00000400, 0},
        {{.chunks = 1, .channel = 3}, 0x00000300, 0},
        {{.chunks = 1, .target = {0x12, 0x34, 0x56}}, 0x00000012, 0x34560000},
        {{.chunks = 1, .reserved = 0xABCD}, 0, 0x0000ABCD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t words[4];
        net_torus_header_encode(&rows[i].h, words);
        assert_int_equal(words[0], rows[i].word0);
        assert_int_equal(words[1], rows[i].word1);
    }
    uint64_t random = 1;
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t words[4], again[4];
        struct net_torus_header h;
        for (unsigned w = 0; w < 4; w++)
            words[w] = (uint32_t)random_next(&random);
        net_torus_header_decode(words, &h);
        net_torus_header_encode(&h, again);
        assert_memory_equal(words, again, sizeof words);
    }
    uint32_t software[2];
    net_torus_put_encode(&(struct net_torus_put){0x01020304, 0x11, 0xF0, 0x01, 0x33}, software);
    assert_int_equal(software[0], 0x01020304);
    assert_int_equal(software[1], 0x11F00133);
    struct net_torus_put put;
    net_torus_put_decode(software, &put);
    assert_true(put.counter == 0x11 && put.payload == 0xF0 && put.flags == 1 && put.fifo == 0x33);
}

static void messages_are_cut_as_by_IBM(void **state)
{
    (void)state;
    static const uint64_t rows[][3] = {
        {0, 1, 1},
        {1, 1, 1},
        {16, 1, 1},
        {17, 1, 2},
        {176, 1, 6},
        {177, 1, 7},
        {208, 1, 7},
        {209, 1, 8},
        {240, 1, 8},
        {241, 2, 9},
        {1 << 20, 4370, 34953},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t packets, chunks;
        net_torus_message_size(rows[i][0], &packets, &chunks);
        assert_int_equal(packets, rows[i][1]);
        assert_int_equal(chunks, rows[i][2]);
    }
}

/* ---- routes ---- */

static void hints_take_the_shorter_way(void **state)
{
    (void)state;
    struct net_torus_shape shape = {{8, 8, 4}, {true, false, true}};
    static const struct {
        uint8_t from[3], to[3], hints;
    } rows[] = {
        {{0, 0, 0}, {3, 0, 0}, 0x20}, {{0, 0, 0}, {5, 0, 0}, 0x10},
        {{0, 0, 0}, {4, 0, 0}, 0x20}, /* half way, from an even coordinate */
        {{1, 0, 0}, {5, 0, 0}, 0x10}, /* from an odd one */
        {{0, 0, 0}, {0, 7, 0}, 0x08}, /* a mesh: never across the edge */
        {{0, 7, 0}, {0, 0, 0}, 0x04}, {{0, 0, 3}, {0, 0, 0}, 0x02},
        {{7, 6, 1}, {0, 5, 0}, 0x25}, {{2, 2, 2}, {2, 2, 2}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(net_torus_hints(&shape, rows[i].from, rows[i].to), rows[i].hints);
}

static int inject(struct rig *rig, struct net_torus_header h, struct chil_error *error)
{
    uint32_t words[4];
    net_torus_header_encode(&h, words);
    return net_torus_inject(rig->part, 0, 0, words, NULL, 0, error);
}

static void headers_that_lead_nowhere_are_refused(void **state)
{
    (void)state;
    struct rig rig;
    struct chil_error error;
    rig_init(&rig, (struct net_torus_config){.shape = {{4, 4, 4}, {true, false, true}}});
    assert_int_equal(inject(&rig, (struct net_torus_header){.chunks = 1, .target = {4}}, &error),
                     CHIL_ENOENT);
    assert_string_equal(error.text,
                        "packet of node 0: no node at (4, 0, 0); the machine is 4 x 4 x 4");
    assert_int_equal(inject(&rig, (struct net_torus_header){.chunks = 1}, &error), CHIL_EINVAL);
    assert_string_equal(error.text, "packet of node 0 to itself; it needs at least one hint bit");
    assert_int_equal(
        inject(&rig, (struct net_torus_header){.chunks = 1, .hints = 4, .target = {0, 1}}, &error),
        CHIL_EINVAL);
    assert_string_equal(error.text, "packet of node 0: hints 0x04 do not lead to y = 1");
    assert_int_equal(
        inject(&rig, (struct net_torus_header){.chunks = 1, .hints = 0x30, .target = {1}}, &error),
        CHIL_EINVAL);
    assert_int_equal(
        inject(&rig, (struct net_torus_header){.chunks = 1, .deposit = true, .target = {1, 1}},
               &error),
        CHIL_EINVAL);
    assert_string_equal(error.text,
                        "packet of node 0: deposit along 2 dimensions; one is possible");
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(inject(&rig, (struct net_torus_header){.chunks = 8, .target = {1}}, NULL),
                         CHIL_OK);
    assert_int_equal(inject(&rig, (struct net_torus_header){.chunks = 1, .target = {1}}, NULL),
                     CHIL_EBUSY);
    assert_int_equal(net_torus_injection_chunks(rig.part, 0, 0), 32);
    struct net_torus_config config = line(2, false);
    struct net_torus *torus;
    config.params = net_torus_bgp;
    config.params.hop_cycles = 139; /* 1.5 x (32 + 14) x 2 = 138 */
    assert_int_equal(net_torus_new(&torus, &config, &error), CHIL_EINVAL);
    rig_fini(&rig);
}

/* ---- times ---- */

/* 180 + 56 h + 2 (32 c + 14) + 180. Fault planted: the packet is delivered without its overhead. */
static void a_packet_takes_what_the_table_says(void **state)
{
    (void)state;
    for (uint32_t hops = 1; hops < 8; hops++)
        for (uint8_t chunks = 1; chunks <= 8; chunks++) {
            struct rig rig;
            rig_init(&rig, line(8, false));
            net_partition_advance(rig.partition, 1000);
            send_to(&rig, 0, hops, NORMAL(chunks), 7);
            net_partition_advance(rig.partition, NET_NEVER);
            assert_int_equal(rig.count, 1);
            assert_int_equal(rig.arrivals[0].node, hops);
            assert_int_equal(rig.arrivals[0].fifo, TORUS_XM);
            assert_int_equal(rig.arrivals[0].time,
                             1000 + 180 + 56 * hops + 2 * (32 * chunks + 14) + 180);
            for (uint32_t n = 0; n < hops; n++) {
                assert_int_equal(pulses(&rig, n, TORUS_XP, TORUS_PACKETS), 1);
                assert_int_equal(pulses(&rig, n, TORUS_XP, TORUS_VCBN_CHUNKS), chunks);
                assert_int_equal(pulses(&rig, n + 1, TORUS_XM, TORUS_ACKS), 1);
                assert_int_equal(pulses(&rig, n + 1, TORUS_XM, TORUS_TOKEN_ACK), 1);
            }
            assert_laws(&rig);
            rig_fini(&rig);
        }
}

/* A stream of full packets: one every 540 cycles, 240 bytes each, 377.8 MB/s. */
static void a_link_carries_a_full_packet_in_540_cycles(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, line(3, false));
    rig.refills = 60;
    rig.refill_to = 2;
    for (unsigned i = 0; i < 4; i++)
        send_to(&rig, 0, 2, NORMAL(8), 0);
    net_partition_advance(rig.partition, NET_NEVER);
    assert_int_equal(rig.count, 64);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(rig.arrivals[i].time, 180 + 2 * 56 + 540 + 180 + 540 * i);
    assert_int_equal(net_torus_count(rig.part, 0, TORUS_XP, TORUS_BUSY).high, 64 * 540);
    assert_laws(&rig);
    rig_fini(&rig);
}

/* Nodes 0 and 1 of a line both send to node 2 over the link of node 1. Packets in transit go first;
 * after 8 of them one injection is served. */
static void two_flows_over_a_link_share_it(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, line(3, false));
    rig.refills = 100;
    rig.refill_to = 2;
    for (unsigned i = 0; i < 4; i++) {
        send_to(&rig, 0, 2, NORMAL(8), 0);
        send_to(&rig, 1, 2, NORMAL(8), 1);
    }
    net_partition_advance(rig.partition, 180 + 540 * 50);
    unsigned run = 0, longest = 0, own = 0;
    for (size_t i = 0; i < rig.count; i++) {
        own += rig.arrivals[i].serial == 1;
        run = rig.arrivals[i].serial == 0 ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    assert_int_equal(longest, TORUS_TRANSIT_RUN);
    assert_true(own >= rig.count / 9);
    assert_int_equal(pulses(&rig, 1, TORUS_XP, TORUS_PACKETS), 50);
    net_partition_advance(rig.partition, NET_NEVER);
    assert_laws(&rig);
    rig_fini(&rig);
}

/* A reception FIFO of 32 chunks takes 4 full packets. The 5th waits in its buffer, keeps its 8
 * tokens, and costs a token packet of its own when it leaves. */
static void a_full_reception_fifo_holds_packets_in_the_network(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, line(2, false));
    rig.keep = true;
    rig.refills = 1;
    rig.refill_to = 1;
    for (unsigned i = 0; i < 4; i++)
        send_to(&rig, 0, 1, NORMAL(8), 0);
    net_partition_advance(rig.partition, 10000);
    assert_int_equal(rig.count, 4);
    assert_int_equal(net_torus_reception_chunks(rig.part, 1, TORUS_XM), 32);
    struct net_torus_totals totals = {0};
    net_torus_add_totals(rig.part, &totals);
    assert_int_equal(totals.tokens_out, 8);
    assert_int_equal(pulses(&rig, 1, TORUS_XM, TORUS_ACKS), 5);
    assert_int_equal(pulses(&rig, 1, TORUS_XM, TORUS_TOKEN_ACK), 5);
    net_torus_drop_front(rig.part, 1, TORUS_XM);
    net_partition_advance(rig.partition, 10000 + 181);
    assert_int_equal(rig.count, 5);
    assert_int_equal(rig.arrivals[4].time, 10000 + 180);
    assert_int_equal(pulses(&rig, 1, TORUS_XM, TORUS_TOKEN_ACK), 6);
    rig_fini(&rig);
}

/* Bubble normal has 32 tokens, 16 are needed to enter it: of two packets that stay in the next
 * buffer (16 tokens) the third can start, of three (24) the fourth cannot. */
static void entering_a_bubble_channel_leaves_a_full_packet_free(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, line(2, false));
    rig.keep = true;
    rig.refills = 8;
    rig.refill_to = 1;
    for (unsigned i = 0; i < 4; i++)
        send_to(&rig, 0, 1, NORMAL(8), 0);
    net_partition_advance(rig.partition, 20000);
    /* 4 received, 3 in the buffer. */
    assert_int_equal(pulses(&rig, 0, TORUS_XP, TORUS_PACKETS), 7);
    struct net_count no = net_torus_count(rig.part, 0, TORUS_XP, TORUS_NO_VCBN_TOKENS);
    assert_int_equal(no.occurrences, 1);
    assert_int_equal(no.high, 20000 - (180 + 7 * 540));
    rig_fini(&rig);
}

static void deposit_leaves_a_copy_at_every_node(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, line(6, true));
    struct net_torus_header h = NORMAL(3);
    h.deposit = true;
    h.hints = net_torus_hint(TORUS_XM);
    send_to(&rig, 1, 3, h, 9); /* 1 -> 0, 5, 4, 3 */
    net_partition_advance(rig.partition, NET_NEVER);
    static const uint32_t nodes[] = {0, 5, 4, 3};
    assert_int_equal(rig.count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(rig.arrivals[i].node, nodes[i]);
        assert_int_equal(rig.arrivals[i].time, 180 + 56 * (i + 1) + 2 * (3 * 32 + 14) + 180);
    }
    assert_laws(&rig);
    rig_fini(&rig);
}

/* ---- faults ---- */

static void a_dead_link_repeats_for_ever(void **state)
{
    (void)state;
    struct rig rig;
    struct net_torus_config config = line(2, false);
    config.bit_error_rate = UINT64_MAX;
    rig_init(&rig, config);
    for (unsigned i = 0; i < 4; i++)
        send_to(&rig, 0, 1, NORMAL(1), i);
    net_partition_advance(rig.partition, 180 + 10 * 4096 + 1000);
    /* The window is 4 packets; all of them are repeated every 4,096 cycles. */
    assert_int_equal(pulses(&rig, 0, TORUS_XP, TORUS_PACKETS), 44);
    assert_int_equal(pulses(&rig, 0, TORUS_XP, TORUS_RETRIES), 40);
    assert_int_equal(pulses(&rig, 1, TORUS_XM, TORUS_ACKS), 0);
    assert_int_equal(rig.count, 0);
    rig_fini(&rig);
}

static void bit_errors_are_repaired(void **state)
{
    (void)state;
    struct rig rig;
    struct net_torus_config config = line(2, false);
    config.bit_error_rate = UINT64_MAX / 2160 / 10; /* a tenth of full packets */
    config.fault_seed = 3;
    rig_init(&rig, config);
    rig.refills = 996;
    rig.refill_to = 1;
    for (unsigned i = 0; i < 4; i++)
        send_to(&rig, 0, 1, NORMAL(8), 0);
    net_partition_advance(rig.partition, NET_NEVER);
    assert_int_equal(rig.count, 1000);
    uint64_t retries = pulses(&rig, 0, TORUS_XP, TORUS_RETRIES);
    assert_int_equal(pulses(&rig, 0, TORUS_XP, TORUS_PACKETS), 1000 + retries);
    assert_int_equal(pulses(&rig, 1, TORUS_XM, TORUS_ACKS), 1000);
    assert_true(retries > 200 && retries < 700); /* 1 to 4 for each of about 100 errors */
    assert_laws(&rig);
    rig_fini(&rig);
}

/* ---- laws, memory, threads ---- */

/* Every law is broken by some wrong count: one is added to each in turn. */
static void laws_notice_a_wrong_count(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, line(4, true));
    for (unsigned i = 0; i < 3; i++)
        send_to(&rig, 0, 1 + i, NORMAL(4), 0);
    net_partition_advance(rig.partition, NET_NEVER);
    struct net_torus_totals good = {0};
    net_torus_add_totals(rig.part, &good);
    assert_int_equal(net_torus_broken_law(&good), -1);
    bool broken[16] = {false};
    for (unsigned e = TORUS_PACKETS; e <= TORUS_BUSY; e++) {
        struct net_torus_totals bad = good;
        bad.count[TORUS_XP][e].occurrences++;
        bad.count[TORUS_XP][e].high++;
        int law = net_torus_broken_law(&bad);
        if (e == TORUS_TOKEN_ACK) continue; /* one more is lawful */
        if (e >= TORUS_NO_VCD_TOKENS && e <= TORUS_NO_VCBP_TOKENS) continue;
        assert_true(law >= 0);
        broken[law] = true;
    }
    struct net_torus_totals bad[5] = {good, good, good, good, good};
    bad[0].tokens_out++;
    bad[1].hops++;
    bad[2].delivered++;
    bad[3].count[TORUS_XP][TORUS_TOKEN_ACK].occurrences = 2 * 3 + 1;
    bad[4].count[TORUS_XP][TORUS_VCD0_CHUNKS].occurrences++;
    for (unsigned i = 0; i < 5; i++) {
        assert_true(net_torus_broken_law(&bad[i]) >= 0);
        broken[net_torus_broken_law(&bad[i])] = true;
    }
    struct net_torus_totals busy = good;
    busy.cycles_per_byte++;
    broken[net_torus_broken_law(&busy)] = true;
    for (unsigned law = 0; net_torus_law(law); law++)
        assert_true(broken[law]);
    rig_fini(&rig);
}

static void idle_nodes_cost_a_pointer(void **state)
{
    (void)state;
    struct rig *rig = base_calloc(1, sizeof *rig);
    rig_init(rig, (struct net_torus_config){.shape = {{64, 32, 32}, {true, true, true}}});
    send_to(rig, 0, 65535, NORMAL(8), 1);
    net_partition_advance(rig->partition, NET_NEVER);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig->part->router_count, 4);
    assert_true(sizeof(struct torus_router) < 2800);
    assert_true(net_torus_memory(rig->part) < 64 * 1024);
    rig_fini(rig);
    free(rig);
}

struct thread {
    pthread_t thread;
    pthread_barrier_t *barrier;
    struct net_torus *torus;
    struct net_partition **partitions;
    struct net_torus_part *part;
    unsigned number, count;
    uint32_t first, end;
    uint64_t hash;
};

static void thread_received(void *self, uint32_t node, unsigned fifo)
{
    struct thread *t = self;
    const struct net_torus_packet *packet = net_torus_front(t->part, node, fifo);
    uint64_t at = net_partition_now(t->partitions[t->number]);
    /* A sum: it does not depend on the order of nodes. */
    t->hash += (at * 31 + node) * UINT64_C(0x9E3779B97F4A7C15) ^ packet->serial * 7919;
    net_torus_drop_front(t->part, node, fifo);
}

static void thread_inject(struct thread *t, uint64_t window)
{
    for (uint32_t n = t->first; n < t->end; n++) {
        uint64_t random = window * 4096 + n;
        struct net_torus_header h = {.chunks = 1 + random_next(&random) % 8, .dynamic = true};
        uint32_t words[4], to = (uint32_t)random_below(&random, 64);
        if (to == n || random_below(&random, 4)) continue;
        net_torus_coordinates(&net_torus_config(t->torus)->shape, to, h.target);
        net_torus_header_encode(&h, words);
        (void)net_torus_inject(t->part, n, n % 3, words, NULL, random, NULL);
    }
}

static void *thread_run(void *self)
{
    struct thread *t = self;
    struct net_partition *mine = t->partitions[t->number];
    for (uint64_t window = 0; window < 600; window++) {
        if (window < 300) thread_inject(t, window);
        net_partition_advance(mine, (window + 1) * 56);
        pthread_barrier_wait(t->barrier);
        for (unsigned p = 0; p < t->count; p++) {
            size_t count;
            const struct net_event *events = net_partition_outbox(t->partitions[p], &count);
            for (size_t i = 0; i < count; i++)
                if (events[i].node >= t->first && events[i].node < t->end)
                    net_partition_post(mine, &events[i]);
        }
        pthread_barrier_wait(t->barrier);
        net_partition_outbox_clear(mine);
    }
    return NULL;
}

static uint64_t run_threads(unsigned count, struct net_torus_totals *totals)
{
    struct net_torus_config config = {.shape = {{4, 4, 4}, {true, true, true}},
                                      .params = net_torus_bgp};
    struct net_torus *torus;
    struct net_partition *partitions[PARTS];
    struct thread threads[PARTS];
    pthread_barrier_t barrier;
    uint64_t hash = 0;
    assert_int_equal(net_torus_new(&torus, &config, NULL), CHIL_OK);
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        struct thread *t = &threads[i];
        *t = (struct thread){.barrier = &barrier,
                             .torus = torus,
                             .partitions = partitions,
                             .number = i,
                             .count = count,
                             .first = 64 * i / count,
                             .end = 64 * (i + 1) / count};
        partitions[i] = net_partition_new(t->first, t->end);
        t->part =
            net_torus_part_new(torus, partitions[i],
                               &(struct net_torus_owner){.self = t, .received = thread_received});
    }
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i].thread, NULL, thread_run, &threads[i]), 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    for (unsigned i = 0; i < count; i++) {
        hash += threads[i].hash;
        net_torus_add_totals(threads[i].part, totals);
    }
    for (unsigned i = 0; i < count; i++) {
        net_torus_part_free(threads[i].part);
        net_partition_free(partitions[i]);
    }
    pthread_barrier_destroy(&barrier);
    net_torus_free(torus);
    return hash;
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    struct net_torus_totals one = {0};
    uint64_t hash = run_threads(1, &one);
    assert_true(one.delivered > 2000);
    assert_int_equal(net_torus_broken_law(&one), -1);
    for (unsigned count = 2; count <= PARTS; count++) {
        struct net_torus_totals many = {0};
        assert_int_equal(run_threads(count, &many), hash);
        assert_memory_equal(&many, &one, sizeof one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_bits_are_where_IBM_has_them),
        cmocka_unit_test(messages_are_cut_as_by_IBM),
        cmocka_unit_test(hints_take_the_shorter_way),
        cmocka_unit_test(headers_that_lead_nowhere_are_refused),
        cmocka_unit_test(a_packet_takes_what_the_table_says),
        cmocka_unit_test(a_link_carries_a_full_packet_in_540_cycles),
        cmocka_unit_test(two_flows_over_a_link_share_it),
        cmocka_unit_test(a_full_reception_fifo_holds_packets_in_the_network),
        cmocka_unit_test(entering_a_bubble_channel_leaves_a_full_packet_free),
        cmocka_unit_test(deposit_leaves_a_copy_at_every_node),
        cmocka_unit_test(a_dead_link_repeats_for_ever),
        cmocka_unit_test(bit_errors_are_repaired),
        cmocka_unit_test(laws_notice_a_wrong_count),
        cmocka_unit_test(idle_nodes_cost_a_pointer),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests_name("net_torus", tests, NULL, NULL);
}
