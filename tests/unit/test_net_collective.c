/* The collective network by hand: header, ALU, latency and bandwidth, counts worked out from the
 * tree, errors, laws.
 *
 * Faults that were planted and found, here and in test_net_collective_models.c: ADD without carry
 * between bytes; the ALU's time left out; a sender that starts without a place; the youngest
 * request first; no reservation after greedy_cycles, or one without room (deadlock; a long run); a
 * place returned too early; resends after new packets; an empty packet although data left; idle
 * packets while data are sent; the filter applied to combined packets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/net/net_collective.h"
#include "random.h"
#include "rig_net.h"

enum { NODES_MAX = 64 };

struct rig {
    struct net_collective *network;
    struct rig_partitions partitions;
    struct net_collective_part *part[RIG_PARTITIONS];
    struct rig_self {
        struct rig *rig;
        unsigned number;
    } self[RIG_PARTITIONS];
    uint64_t last[NODES_MAX]; /* when a packet was received */
    unsigned packets[NODES_MAX];
    uint64_t sums[NODES_MAX]; /* of the first words of payloads */
};

/* Reads packets at once. */
static void received(void *self, uint32_t node, unsigned vc)
{
    const struct rig_self *s = self;
    struct rig *rig = s->rig;
    struct net_collective_part *part = rig->part[s->number];
    const struct net_collective_packet *packet = net_collective_front(part, node, vc);
    uint64_t sum = 0;
    for (unsigned i = 0; i < COLLECTIVE_PAYLOAD; i++)
        sum = sum * 31 + packet->payload[i];
    rig->sums[node] += sum;
    rig->last[node] = net_partition_now(rig->partitions.partition[s->number]);
    rig->packets[node]++;
    net_collective_drop_front(part, node, vc);
}

static void rig_init(struct rig *rig, uint32_t nodes, const struct net_collective_params *params,
                     uint64_t errors, unsigned partitions)
{
    struct net_collective_config config = {.nodes = nodes, .params = *params, .fault_seed = 7};
    config.bit_error_rate = errors;
    memset(rig, 0, sizeof *rig);
    assert_int_equal(net_collective_new(&rig->network, &config, NULL), CHIL_OK);
    rig_partitions_init(&rig->partitions, nodes, partitions);
    for (unsigned p = 0; p < rig->partitions.count; p++) {
        rig->self[p] = (struct rig_self){rig, p};
        rig->part[p] = net_collective_part_new(
            rig->network, rig->partitions.partition[p],
            &(struct net_collective_owner){.self = &rig->self[p], .received = received});
    }
}

static void rig_fini(struct rig *rig)
{
    for (unsigned p = 0; p < rig->partitions.count; p++)
        net_collective_part_free(rig->part[p]);
    rig_partitions_fini(&rig->partitions);
    net_collective_free(rig->network);
}

static struct net_collective_part *part_of(const struct rig *rig, uint32_t node)
{
    return rig->part[rig_partition_of(&rig->partitions, node)];
}

static void inject(const struct rig *rig, uint32_t node, const struct net_collective_header *h,
                   const uint8_t payload[COLLECTIVE_PAYLOAD])
{
    assert_int_equal(net_collective_inject(part_of(rig, node), node, 0,
                                           net_collective_header_encode(h), payload, 0, NULL),
                     CHIL_OK);
}

static void run(struct rig *rig)
{
    uint64_t window = net_collective_config(rig->network)->params.hop_cycles;
    for (uint64_t end = window; !rig_partitions_quiet(&rig->partitions); end += window) {
        for (unsigned p = 0; p < rig->partitions.count; p++)
            net_partition_advance(rig->partitions.partition[p], end);
        rig_partitions_exchange(&rig->partitions);
    }
}

static struct net_collective_totals totals_of(const struct rig *rig)
{
    struct net_collective_totals totals = {0};
    for (unsigned p = 0; p < rig->partitions.count; p++)
        net_collective_add_totals(rig->part[p], &totals);
    return totals;
}

static uint64_t count(const struct rig *rig, uint32_t node, const char *event)
{
    int e = net_collective_event_find(event);
    assert_true(e >= 0);
    return net_collective_count(part_of(rig, node), node, (enum net_collective_event)e).occurrences;
}

static const struct net_collective_header allreduce = {
    .class = 3, .op = COLLECTIVE_ADD, .words = 2, .tag = 0x1234};

/* ---- packets ---- */

static void header_bits_are_ibms(void **state)
{
    (void)state;
    /* class 3, op ADD (6) in bits 6-8, words - 1 in 9-15, tag in 16-29 */
    assert_int_equal(net_collective_header_encode(&allreduce), 0x330148D0);
    struct net_collective_header h = {
        .class = 15, .point_to_point = true, .interrupt = true, .target = 0xABCDEF, .checksum = 2};
    assert_int_equal(net_collective_header_encode(&h), 0xFEAF37BE);
    uint64_t random = 5;
    for (int i = 0; i < 1000; i++) {
        uint32_t word = (uint32_t)random_next(&random);
        net_collective_header_decode(word, &h);
        assert_int_equal(net_collective_header_encode(&h), word);
    }
}

static void operands_are_big_endian_and_wrap(void **state)
{
    (void)state;
    uint8_t a[COLLECTIVE_PAYLOAD] = {0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 9};
    uint8_t b[COLLECTIVE_PAYLOAD] = {0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 8, 7};
    static const uint8_t sum[10] = {0x01, 0x00, 0x00, 0x01, 0, 0, 0, 0, 17, 7};
    net_collective_combine(COLLECTIVE_ADD, 2, a, b);
    assert_memory_equal(a, sum, sizeof sum);
    uint8_t c[COLLECTIVE_PAYLOAD] = {1, 2, 3, 4, 0, 1}, d[COLLECTIVE_PAYLOAD] = {1, 2, 3, 3, 9, 9};
    static const uint8_t largest[8] = {1, 2, 3, 4, 9, 9};
    net_collective_combine(COLLECTIVE_MAX, 2, c, d); /* operands of 4 bytes */
    assert_memory_equal(c, largest, sizeof largest);
    /* 3 words: 21 operands of 6 bytes and one of 2 at the end */
    uint8_t e[COLLECTIVE_PAYLOAD] = {0}, f[COLLECTIVE_PAYLOAD] = {0};
    e[251] = e[254] = f[254] = 0xFF;
    e[255] = 0x80;
    f[255] = 0x81;
    net_collective_combine(COLLECTIVE_ADD, 3, e, f);
    assert_int_equal(e[255], 0x01);
    assert_int_equal(e[254], 0xFF);
    assert_int_equal(e[251], 0xFF); /* no carry into the operand before */
}

/* ---- time ---- */

/* docs/model-network.md, for a leaf of depth d: inject + 2d hops + d ALU times + packet + receive.
 */
static void an_allreduce_takes_two_ways_through_the_tree(void **state)
{
    (void)state;
    const struct net_collective_params *machines[] = {&net_collective_bgl, &net_collective_bgp};
    for (int m = 0; m < 2; m++)
        for (unsigned depth = 1; depth <= 5; depth++) {
            const struct net_collective_params *p = machines[m];
            uint32_t nodes = (2u << depth) - 1;
            uint8_t payload[COLLECTIVE_PAYLOAD] = {0, 0, 0, 1};
            struct rig rig;
            rig_init(&rig, nodes, p, 0, 1);
            for (uint32_t n = 0; n < nodes; n++)
                inject(&rig, n, &allreduce, payload);
            run(&rig);
            uint64_t root = p->inject_cycles + depth * (p->hop_cycles + p->alu_cycles) +
                            p->packet_cycles + p->receive_cycles;
            assert_int_equal(rig.last[0], root);
            assert_int_equal(rig.last[nodes - 1], root + (uint64_t)depth * p->hop_cycles);
            assert_int_equal(rig.last[2], root + p->hop_cycles);
            rig_fini(&rig);
        }
}

/* 7 nodes, 8 packets each: the first takes 548 cycles to a leaf, each further one a packet's time.
 * 256 bytes in 266 cycles at 850 MHz are 818 MB/s. */
static void packets_follow_each_other_without_a_gap(void **state)
{
    (void)state;
    uint8_t payload[COLLECTIVE_PAYLOAD] = {0};
    struct rig rig;
    rig_init(&rig, 7, &net_collective_bgp, 0, 1);
    for (uint32_t n = 0; n < 7; n++)
        for (int i = 0; i < 8; i++)
            inject(&rig, n, &allreduce, payload);
    run(&rig);
    for (uint32_t n = 3; n < 7; n++)
        assert_int_equal(rig.last[n], 40 + 4 * 40 + 2 * 8 + 266 + 40 + UINT64_C(7) * 266);
    rig_fini(&rig);
}

/* ---- counts ---- */

/* Law 15 of the facts: N nodes combine a packet: N - 1 go up, N - 1 come down, N are received. */
static void counts_of_an_allreduce_follow_from_the_tree(void **state)
{
    (void)state;
    uint8_t payload[COLLECTIVE_PAYLOAD] = {0, 0, 0, 3};
    struct rig rig;
    rig_init(&rig, 11, &net_collective_bgp, 0, 1);
    for (uint32_t n = 0; n < 11; n++)
        inject(&rig, n, &allreduce, payload);
    run(&rig);
    uint64_t sent = 0, received_packets = 0, wins = 0;
    for (uint32_t n = 0; n < 11; n++) {
        sent += count(&rig, n, "sender0.vc0.data") + count(&rig, n, "sender1.vc0.data") +
                count(&rig, n, "sender2.vc0.data");
        received_packets += count(&rig, n, "reception.vc0.packets");
        wins += count(&rig, n, "class3.wins");
        assert_int_equal(count(&rig, n, "reception.vc0.payload"), 16);
        assert_int_equal(count(&rig, n, "inject.vc0.payload"), 16);
        assert_int_equal(rig.sums[n], rig.sums[0]);
    }
    assert_int_equal(sent, 20);
    assert_int_equal(received_packets, 11);
    assert_int_equal(wins, 21); /* one up and one down at each node; the root does both at once */
    struct net_collective_totals totals = totals_of(&rig);
    assert_int_equal(totals.moved, 31); /* 11 local + 10 up + 10 down */
    assert_int_equal(totals.merged, 10);
    assert_int_equal(net_collective_broken_law(&totals), -1);
    rig_fini(&rig);
}

/* From the root down: N - 1 links. From another node: up to the root first. */
static void a_broadcast_reaches_all_and_an_address_one(void **state)
{
    (void)state;
    static const struct net_collective_header all = {.class = 1, .words = 1},
                                              one = {
                                                  .class = 1, .point_to_point = true, .target = 5};
    uint8_t payload[COLLECTIVE_PAYLOAD] = {42};
    struct rig rig;
    rig_init(&rig, 9, &net_collective_bgl, 0, 1);
    inject(&rig, 0, &all, payload);
    run(&rig);
    struct net_collective_totals totals = totals_of(&rig);
    assert_int_equal(totals.copies, 9 + 8);
    for (uint32_t n = 0; n < 9; n++)
        assert_int_equal(rig.packets[n], 1);
    inject(&rig, 8, &one, payload); /* up over 3 links, then down to all, where 8 drop it */
    run(&rig);
    totals = totals_of(&rig);
    assert_int_equal(totals.copies, 9 + 8 + 3 + 9 + 8);
    for (uint32_t n = 0; n < 9; n++) {
        assert_int_equal(rig.packets[n], n == 5 ? 2 : 1);
        assert_int_equal(count(&rig, n, "reception.vc0.discarded"), n != 5);
    }
    assert_int_equal(net_collective_broken_law(&totals), -1);
    rig_fini(&rig);
}

/* An idle link costs nothing: 2 nodes, 2,048 cycles for an idle packet each way. */
static void idle_packets_are_counted_without_work(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, 2, &net_collective_bgp, 0, 1);
    net_partition_advance(rig.partitions.partition[0], 2048 * 1000);
    assert_int_equal(count(&rig, 0, "sender1.idle"), 999);
    assert_int_equal(count(&rig, 1, "receiver0.idle"), 999);
    net_partition_advance(rig.partitions.partition[0], 2048 * 1000 + 1);
    assert_int_equal(count(&rig, 0, "sender1.idle"), 1000);
    assert_int_equal(count(&rig, 0, "sender2.idle"), 0); /* no such link */
    assert_int_equal(count(&rig, 1, "receiver0.idle"), 999);
    assert_int_equal(net_partition_events(rig.partitions.partition[0]), 0);
    rig_fini(&rig);
}

/* ---- errors ---- */

static void wrong_packets_are_refused(void **state)
{
    (void)state;
    struct chil_error error;
    uint8_t payload[COLLECTIVE_PAYLOAD] = {0};
    uint32_t header;
    struct rig rig;
    rig_init(&rig, 3, &net_collective_bgp, 0, 1);
    struct net_collective_header h = {.class = 2, .op = 4, .words = 1};
    assert_int_equal(net_collective_inject(rig.part[0], 1, 0, net_collective_header_encode(&h),
                                           payload, 0, &error),
                     CHIL_EINVAL);
    assert_string_equal(error.text,
                        "packet of node 1 with header 0x22000000: its operation does not exist");
    h.op = COLLECTIVE_OR;
    net_collective_set_route(rig.part[0], 1, 2, COLLECTIVE_SOURCE_1 | COLLECTIVE_TARGET_0);
    assert_int_equal(net_collective_inject(rig.part[0], 1, 0, net_collective_header_encode(&h),
                                           payload, 0, &error),
                     CHIL_EINVAL);
    assert_string_equal(
        error.text, "packet of node 1 with header 0x20800000: its class leads nowhere from here");
    h.class = 3;
    header = net_collective_header_encode(&h);
    for (int i = 0; i < 8; i++)
        inject(&rig, 1, &h, payload);
    assert_int_equal(net_collective_inject(rig.part[0], 1, 0, header, payload, 0, &error),
                     CHIL_EBUSY);
    assert_int_equal(net_collective_status(rig.part[0], 1, 0), 0x80080000);
    assert_int_equal(net_collective_store_header(rig.part[0], 1, 0, header, 0, &error), CHIL_EBUSY);
    assert_string_equal(error.text,
                        "node 1: header stored into the full injection FIFO of channel 0");
    assert_int_equal(net_collective_load_header(rig.part[0], 2, 1, &header, &error), CHIL_EORDER);
    assert_string_equal(error.text,
                        "node 2: header loaded from the empty reception FIFO of channel 1");
    rig_fini(&rig);
    struct net_collective *network;
    struct net_collective_config config = {.nodes = 1, .params = net_collective_bgp};
    config.params.idle_cycles = 39;
    assert_int_equal(net_collective_new(&network, &config, &error), CHIL_EINVAL);
    assert_string_equal(error.text, "collective network: an idle packet each 39 cycles; at least "
                                    "the 40 of a hop");
}

/* An allreduce with faults on all links gives what it gives without, later. */
static void run_with_errors(struct rig *rig, uint64_t errors, unsigned partitions)
{
    rig_init(rig, 21, &net_collective_bgp, errors, partitions);
    for (uint32_t n = 0; n < 21; n++)
        for (uint8_t i = 0; i < 8; i++) {
            uint8_t payload[COLLECTIVE_PAYLOAD] = {i, 0, (uint8_t)n, 1};
            inject(rig, n, &allreduce, payload);
        }
    run(rig);
}

static void corrupt_packets_are_repeated_and_data_stay_intact(void **state)
{
    (void)state;
    struct rig clean, faulty;
    run_with_errors(&clean, 0, 1);
    run_with_errors(&faulty, UINT64_C(1) << 51, 1); /* a packet in four */
    struct net_collective_totals totals = totals_of(&faulty);
    uint64_t resends = 0, errors = 0;
    for (unsigned l = 0; l < 3; l++) {
        resends += totals.count[COLLECTIVE_RESENDS + l].occurrences;
        errors += totals.count[COLLECTIVE_CRC_ERROR + l].occurrences;
    }
    assert_true(errors > 20);
    assert_true(resends >= errors);
    assert_int_equal(net_collective_broken_law(&totals), -1);
    for (uint32_t n = 0; n < 21; n++) {
        assert_int_equal(faulty.packets[n], 8);
        assert_int_equal(faulty.sums[n], clean.sums[n]);
        assert_true(faulty.last[n] > clean.last[n]);
    }
    rig_fini(&clean);
    rig_fini(&faulty);
}

static void any_number_of_partitions_gives_the_same_bits(void **state)
{
    (void)state;
    struct rig one, more;
    run_with_errors(&one, UINT64_C(1) << 50, 1);
    for (unsigned partitions = 2; partitions <= RIG_PARTITIONS; partitions++) {
        run_with_errors(&more, UINT64_C(1) << 50, partitions);
        assert_memory_equal(more.last, one.last, sizeof one.last);
        assert_memory_equal(more.sums, one.sums, sizeof one.sums);
        for (uint32_t n = 0; n < 21; n++)
            for (enum net_collective_event e = COLLECTIVE_WINS; e < COLLECTIVE_EVENTS; e++)
                if (e < COLLECTIVE_SENT_IDLE || e > COLLECTIVE_SENT_IDLE_END)
                    if (e < COLLECTIVE_RECEIVED_IDLE || e > COLLECTIVE_RECEIVED_IDLE_END)
                        assert_int_equal(net_collective_count(part_of(&more, n), n, e).occurrences,
                                         net_collective_count(part_of(&one, n), n, e).occurrences);
        rig_fini(&more);
    }
    rig_fini(&one);
}

static void laws_notice_a_wrong_count(void **state)
{
    (void)state;
    struct rig rig;
    run_with_errors(&rig, UINT64_C(1) << 51, 1);
    struct net_collective_totals good = totals_of(&rig), bad;
    assert_int_equal(net_collective_broken_law(&good), -1);
    static const struct {
        unsigned event;
        int law;
    } rows[] = {
        {COLLECTIVE_RESENDS, 0},
        {COLLECTIVE_RECEIVED_EMPTY, 1},
        {COLLECTIVE_RECEIVED_IDLE, 2},
        {COLLECTIVE_TAKEN, 3},
        {COLLECTIVE_INJECT_PAYLOAD, 4},
        {COLLECTIVE_WINS + 3, 5},
        {COLLECTIVE_RECEPTION_DISCARDED, 6},
        {COLLECTIVE_RECEPTION_HEADERS, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bad = good;
        bad.count[rows[i].event].occurrences += 100000;
        assert_int_equal(net_collective_broken_law(&bad), rows[i].law);
    }
    bad = good;
    bad.places_out = 1;
    assert_int_equal(net_collective_broken_law(&bad), 7);
    bad = good;
    bad.count[COLLECTIVE_MATURE].high = bad.count[COLLECTIVE_HAVE].high + 1;
    assert_int_equal(net_collective_broken_law(&bad), 9);
    assert_null(net_collective_law(10));
    rig_fini(&rig);
}

/* Planted once: a unit's number without its limit, so that "class16.wins" is another event. */
static void every_event_is_found_by_its_one_name(void **state)
{
    (void)state;
    static const char *const none[] = {"ch3.vc1.have",
                                       "class16.wins",
                                       "class015.wins",
                                       "class.wins",
                                       "class99999999999.wins",
                                       "receiver0.vc2.full",
                                       "receiver0.full",
                                       "alu0.busy",
                                       "receiver0.vc0.fullx",
                                       "alu.bus",
                                       "alu",
                                       ""};
    for (enum net_collective_event e = 0; e < COLLECTIVE_EVENTS; e++) {
        char text[32];
        net_collective_event_name(e, text);
        assert_int_equal(net_collective_event_find(text), e);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(net_collective_event_find(none[i]), -1);
}

static void events_have_the_names_of_signals(void **state)
{
    (void)state;
    static const char *const names[] = {
        "ch2.vc1.have", "arbiter.greedy", "client.busy.reception", "receiver0.vc1.full",
        "class15.wins", "alu.busy",       "inject.vc0.taken",      "sender2.resends"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[32];
        int event = net_collective_event_find(names[i]);
        assert_true(event >= 0);
        net_collective_event_name((enum net_collective_event)event, text);
        assert_string_equal(text, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_bits_are_ibms),
        cmocka_unit_test(operands_are_big_endian_and_wrap),
        cmocka_unit_test(an_allreduce_takes_two_ways_through_the_tree),
        cmocka_unit_test(packets_follow_each_other_without_a_gap),
        cmocka_unit_test(counts_of_an_allreduce_follow_from_the_tree),
        cmocka_unit_test(a_broadcast_reaches_all_and_an_address_one),
        cmocka_unit_test(idle_packets_are_counted_without_work),
        cmocka_unit_test(wrong_packets_are_refused),
        cmocka_unit_test(corrupt_packets_are_repeated_and_data_stay_intact),
        cmocka_unit_test(any_number_of_partitions_gives_the_same_bits),
        cmocka_unit_test(laws_notice_a_wrong_count),
        cmocka_unit_test(every_event_is_found_by_its_one_name),
        cmocka_unit_test(events_have_the_names_of_signals),
    };
    return cmocka_run_group_tests_name("net_collective", tests, NULL, NULL);
}
