/* The torus FIFOs in accesses of 16 bytes: windows, status, wrong accesses, and random accesses
 * against a literal port that keeps each FIFO as a string of bytes.
 *
 * Faults that were planted and found: the other group's status at 0x7000; a status that does not
 * count a begun chunk; the high FIFO at 0x1800; payload from 16 bytes further; a packet that leaves
 * one access early; a store into a full FIFO that is taken; the last store of a packet, or one into
 * a full FIFO, said to be private; a private load of the quad before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "machine/net/net_torus_port.h"
#include "random.h"

enum { QUAD = TORUS_PORT_QUAD };

struct rig {
    struct net_torus *torus;
    struct net_partition *partition;
    struct net_torus_part *part;
    struct net_torus_port *port[2];
};

static void rig_init(struct rig *rig)
{
    struct net_torus_config config = {.shape = {{2, 1, 1}, {true, true, true}},
                                      .params = net_torus_bgl};
    assert_int_equal(net_torus_new(&rig->torus, &config, NULL), CHIL_OK);
    rig->partition = net_partition_new(0, 2);
    rig->part = net_torus_part_new(rig->torus, rig->partition, NULL);
    for (uint32_t n = 0; n < 2; n++)
        rig->port[n] = net_torus_port_new(rig->part, n);
}

static void rig_fini(struct rig *rig)
{
    for (uint32_t n = 0; n < 2; n++)
        net_torus_port_free(rig->port[n]);
    net_torus_part_free(rig->part);
    net_partition_free(rig->partition);
    net_torus_free(rig->torus);
}

/* A packet from node 0 to node 1 over x+, or the other way over x-, as bytes. */
static void packet_bytes(uint8_t *bytes, uint32_t from, unsigned chunks, bool priority,
                         unsigned group, uint64_t *random)
{
    for (unsigned i = 0; i < 32 * chunks; i++)
        bytes[i] = (uint8_t)random_next(random);
    uint32_t word = (from ? 0x10u : 0x20u) << 18 | group << 16 | (chunks - 1) << 13 |
                    (priority ? 3u : 2u) << 8 | !from;
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
    bytes[4] = bytes[5] = bytes[6] = bytes[7] = 0;
}

static void assert_status(struct rig *rig, uint32_t node, unsigned group, unsigned byte,
                          unsigned value)
{
    uint8_t quad[QUAD];
    for (unsigned other = 0; other < 2; other++) {
        assert_int_equal(net_torus_port_load(rig->port[node], group ^ other,
                                             TORUS_PORT_STATUS + other * QUAD, quad, NULL),
                         CHIL_OK);
        for (unsigned i = 0; i < QUAD; i++)
            assert_int_equal(quad[i], i == byte ? value : 0);
    }
}

/* ---- by hand ---- */

static void a_packet_goes_from_window_to_window(void **state)
{
    (void)state;
    for (unsigned fifo = 0; fifo < 4; fifo++)
        for (unsigned group = 0; group < 2; group++) {
            struct rig rig;
            uint64_t random = fifo;
            uint8_t bytes[96], quad[QUAD];
            rig_init(&rig);
            packet_bytes(bytes, 0, 3, fifo == 3, group, &random);
            for (unsigned i = 0; i < 6; i++) {
                assert_status(&rig, 0, 1, 7 + fifo, (i + 1) / 2);
                assert_int_equal(net_torus_port_store(rig.port[0], 1,
                                                      0x3000 + 0x1000 * fifo + i * QUAD,
                                                      bytes + i * QUAD, 5, NULL),
                                 CHIL_OK);
            }
            assert_status(&rig, 0, 1, 7 + fifo, 3);
            net_partition_advance(rig.partition, NET_NEVER);
            assert_status(&rig, 0, 1, 7 + fifo, 0);
            /* Node 1 receives from x-; packets with priority are in the high FIFO. */
            unsigned receiver = fifo == 3 ? 6 : TORUS_XM;
            uint32_t offset = fifo == 3 ? 0x2000 : 0x400 * receiver;
            bytes[1] &= 3; /* the hint was cleared */
            for (unsigned i = 0; i < 6; i++) {
                assert_status(&rig, 1, group, receiver, 3 - i / 2);
                assert_int_equal(
                    net_torus_port_load(rig.port[1], group, offset + i * QUAD, quad, NULL),
                    CHIL_OK);
                assert_memory_equal(quad, bytes + i * QUAD, QUAD);
            }
            assert_status(&rig, 1, group, receiver, 0);
            rig_fini(&rig);
        }
}

static void wrong_accesses_have_a_message(void **state)
{
    (void)state;
    struct rig rig;
    struct chil_error error;
    uint8_t quad[QUAD];
    rig_init(&rig);
    static const struct {
        bool store;
        uint32_t offset;
        int status;
        const char *text;
    } rows[] = {
        {false, 0x0400, CHIL_EORDER,
         "torus FIFOs of node 1: load from reception FIFO 1 of group 1, which is empty; read the "
         "status first"},
        {false, 0x23F0, CHIL_EORDER,
         "torus FIFOs of node 1: load from reception FIFO 6 of group 1, which is empty; read the "
         "status first"},
        {false, 0x1800, CHIL_ENOENT,
         "torus FIFOs of node 1: load from 0x1800 of group 1; there is no reception FIFO"},
        {false, 0x2400, CHIL_ENOENT,
         "torus FIFOs of node 1: load from 0x2400 of group 1; there is no reception FIFO"},
        {false, 0x7020, CHIL_ENOENT,
         "torus FIFOs of node 1: load from 0x7020 of group 1; there is no reception FIFO"},
        {true, 0x2FF0, CHIL_ENOENT,
         "torus FIFOs of node 1: store to 0x2ff0 of group 1; there is no injection FIFO"},
        {true, 0x7000, CHIL_ENOENT,
         "torus FIFOs of node 1: store to 0x7000 of group 1; there is no injection FIFO"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memset(quad, 0xEE, QUAD);
        int status = rows[i].store
                         ? net_torus_port_store(rig.port[1], 1, rows[i].offset, quad, 0, &error)
                         : net_torus_port_load(rig.port[1], 1, rows[i].offset, quad, &error);
        assert_int_equal(status, rows[i].status);
        assert_string_equal(error.text, rows[i].text);
        if (!rows[i].store) assert_int_equal(quad[0] | quad[15], 0);
    }
    memset(quad, 0, QUAD); /* 1 chunk, to oneself */
    assert_int_equal(net_torus_port_store(rig.port[0], 0, 0x3000, quad, 0, NULL), CHIL_OK);
    assert_int_equal(net_torus_port_store(rig.port[0], 0, 0x3010, quad, 0, &error), CHIL_EINVAL);
    assert_string_equal(error.text, "packet of node 0 to itself; it needs at least one hint bit");
    assert_status(&rig, 0, 0, 0, 0);
    rig_fini(&rig);
}

static void a_full_fifo_takes_nothing(void **state)
{
    (void)state;
    struct rig rig;
    struct chil_error error;
    uint64_t random = 3;
    uint8_t bytes[256];
    rig_init(&rig);
    packet_bytes(bytes, 0, 8, false, 0, &random);
    for (unsigned i = 0; i < 4 * 16; i++)
        assert_int_equal(
            net_torus_port_store(rig.port[0], 0, 0x4000, bytes + i % 16 * QUAD, 0, NULL), CHIL_OK);
    assert_status(&rig, 0, 0, 8, 32);
    assert_int_equal(net_torus_port_store(rig.port[0], 0, 0x4000, bytes, 0, &error), CHIL_EBUSY);
    assert_string_equal(error.text,
                        "torus FIFOs of node 0: store into injection FIFO 1 of group 0, "
                        "which is full; read the status first");
    rig_fini(&rig);
}

/* A store or a load: a private one if it may be, and *private counts it. */
static int store_any(struct net_torus_port *port, unsigned group, uint32_t offset,
                     const uint8_t *quad, uint64_t *private)
{
    if (!net_torus_port_is_private(port, group, offset, false))
        return net_torus_port_store(port, group, offset, quad, 0, NULL);
    net_torus_port_store_private(port, group, offset, quad);
    ++*private;
    return CHIL_OK;
}

static int load_any(struct net_torus_port *port, unsigned group, uint32_t offset, uint8_t *quad,
                    uint64_t *private)
{
    if (!net_torus_port_is_private(port, group, offset, true))
        return net_torus_port_load(port, group, offset, quad, NULL);
    net_torus_port_load_private(port, group, offset, quad);
    ++*private;
    return CHIL_OK;
}

static void what_is_within_a_packet_is_private(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t random = 7;
    uint8_t bytes[96], quad[QUAD];
    rig_init(&rig);
    packet_bytes(bytes, 0, 3, false, 0, &random);
    assert_false(net_torus_port_is_private(rig.port[0], 0, 0x3000, false)); /* room is not known */
    net_torus_port_learn(rig.port[0], 1);
    assert_false(net_torus_port_is_private(rig.port[0], 0, 0x3000, false)); /* shared */
    assert_true(net_torus_port_is_private(rig.port[0], 0, 0x4000, false));
    net_torus_port_learn(rig.port[0], 0);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(net_torus_port_is_private(rig.port[0], 0, 0x3000, false), i < 5);
        assert_false(net_torus_port_is_private(rig.port[0], 0, 0x7000, false));
        uint64_t private = 0;
        assert_int_equal(store_any(rig.port[0], 0, 0x3000, bytes + i * QUAD, &private), CHIL_OK);
    }
    net_partition_advance(rig.partition, NET_NEVER);
    bytes[1] &= 3;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t private = 0;
        assert_int_equal(load_any(rig.port[1], 0, 0x400 * TORUS_XM, quad, &private), CHIL_OK);
        assert_int_equal(private, i > 0 && i < 5);
        assert_memory_equal(quad, bytes + i * QUAD, QUAD);
    }
    rig_fini(&rig);
}

/* ---- against strings of bytes ---- */

/* One FIFO of node 0 (injection) and where its packets are received: what was stored and loaded. */
struct stream {
    uint8_t bytes[1 << 16];
    size_t stored, loaded, begun; /* `begun`: of the packet that is being stored */
    uint8_t packet[256];
    unsigned size;
};

static void random_accesses_move_the_bytes(void **state)
{
    (void)state;
    struct stream *stream = base_calloc(1, sizeof *stream);
    uint64_t moved = 0, stores = 0, loads = 0;
    for (uint64_t trial = 0; trial < random_trials(40); trial++) {
        struct rig rig;
        uint64_t random = trial;
        bool priority = random_below(&random, 2);
        unsigned group = (unsigned)random_below(&random, 2);
        uint32_t in = priority ? 0x6000 : 0x3000, out = priority ? 0x2000 : 0x400 * TORUS_XM;
        memset(stream, 0, sizeof *stream);
        rig_init(&rig);
        for (unsigned i = 0; i < 4000; i++) {
            uint8_t quad[QUAD];
            unsigned held;
            assert_int_equal(net_torus_port_load(rig.port[0], group, 0x7000, quad, NULL), CHIL_OK);
            held = quad[priority ? 10 : 7];
            assert_true(held <= 32);
            /* The FIFO has at least what was begun, at most what was stored and not loaded. */
            assert_true(held >= (stream->begun + 31) / 32);
            assert_true(held <= (stream->stored - stream->loaded + 31) / 32);
            if (random_below(&random, 3) && stream->stored < sizeof stream->bytes - 512) {
                if (!stream->begun) {
                    stream->size = 1 + (unsigned)random_below(&random, 8);
                    packet_bytes(stream->packet, 0, stream->size, priority, group, &random);
                }
                bool room = held < 32 || stream->begun % 32 == 16;
                if (random_below(&random, 2)) net_torus_port_learn(rig.port[0], 0);
                if (stream->begun + QUAD == 32 * stream->size || !room)
                    assert_false(net_torus_port_is_private(rig.port[0], group,
                                                           in + (uint32_t)stream->begun, false));
                int status = store_any(rig.port[0], group, in + (uint32_t)stream->begun,
                                       stream->packet + stream->begun, &stores);
                assert_int_equal(status, room ? CHIL_OK : CHIL_EBUSY);
                if (room) {
                    memcpy(stream->bytes + stream->stored, stream->packet + stream->begun, QUAD);
                    if (!stream->begun) stream->bytes[stream->stored + 1] &= 3;
                    stream->stored += QUAD;
                    stream->begun = (stream->begun + QUAD) % (32 * stream->size);
                }
            }
            int status = load_any(rig.port[1], group, out, quad, &loads);
            assert_true(status == CHIL_OK || status == CHIL_EORDER);
            if (status == CHIL_OK) {
                assert_memory_equal(quad, stream->bytes + stream->loaded, QUAD);
                stream->loaded += QUAD;
            }
            net_partition_advance(rig.partition, net_partition_now(rig.partition) +
                                                     random_below(&random, trial % 2 ? 400 : 100));
        }
        moved += stream->loaded;
        rig_fini(&rig);
    }
    print_message("%llu bytes, %llu private stores, %llu private loads\n",
                  (unsigned long long)moved, (unsigned long long)stores, (unsigned long long)loads);
    assert_true(moved > 20000 && stores > 500 && loads > 500);
    free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_goes_from_window_to_window),
        cmocka_unit_test(wrong_accesses_have_a_message),
        cmocka_unit_test(a_full_fifo_takes_nothing),
        cmocka_unit_test(what_is_within_a_packet_is_private),
        cmocka_unit_test(random_accesses_move_the_bytes),
    };
    return cmocka_run_group_tests_name("net_torus_port", tests, NULL, NULL);
}
