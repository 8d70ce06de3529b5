/* The barrier network: registers and times worked out by hand, and the event-driven model against
 * the literal one (net_literal_barrier.c) under random writes, in 1 to 4 partitions.
 *
 * Faults that were planted and found: up and down latency of one cycle less; the sticky bit of AND
 * set at a rise; no return to rest when the bit is set; a disarmed channel that fires; the
 * violation bit at the wrong place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net_literal_barrier.h"
#include "random.h"
#include "rig_net.h"

enum { NOTE_STICKY = 1, NOTE_DOWN };

struct rig {
    struct net_barrier *barrier;
    struct rig_partitions partitions;
    struct net_barrier_part *part[RIG_PARTITIONS];
    struct owner {
        struct rig *rig;
        struct net_partition *partition;
    } owner[RIG_PARTITIONS];
    struct rig_log *logs, *literal_logs;
    struct literal_barrier *literal;
    uint32_t nodes;
};

static void sticky(void *self, uint32_t node, unsigned channel)
{
    const struct owner *owner = self;
    rig_log_add(&owner->rig->logs[node],
                (struct rig_record){net_partition_now(owner->partition), NOTE_STICKY, {channel}});
}

static void down(void *self, uint32_t node, unsigned channel)
{
    const struct owner *owner = self;
    rig_log_add(&owner->rig->logs[node],
                (struct rig_record){net_partition_now(owner->partition), NOTE_DOWN, {channel}});
}

static void literal_sticky(void *self, uint32_t node, unsigned channel)
{
    struct rig *rig = self;
    rig_log_add(&rig->literal_logs[node],
                (struct rig_record){rig->literal->now, NOTE_STICKY, {channel}});
}

static void literal_down(void *self, uint32_t node, unsigned channel)
{
    struct rig *rig = self;
    rig_log_add(&rig->literal_logs[node],
                (struct rig_record){rig->literal->now, NOTE_DOWN, {channel}});
}

static void rig_init(struct rig *rig, struct net_barrier_config config, unsigned partitions)
{
    memset(rig, 0, sizeof *rig);
    rig->nodes = config.nodes;
    assert_int_equal(net_barrier_new(&rig->barrier, &config, NULL), CHIL_OK);
    rig_partitions_init(&rig->partitions, config.nodes, partitions);
    rig->logs = rig_logs_new(config.nodes);
    for (unsigned p = 0; p < rig->partitions.count; p++) {
        rig->owner[p] = (struct owner){rig, rig->partitions.partition[p]};
        rig->part[p] = net_barrier_part_new(
            rig->barrier, rig->partitions.partition[p],
            &(struct net_barrier_owner){.self = &rig->owner[p], .sticky = sticky, .down = down});
    }
}

static struct net_barrier_totals totals_of(const struct rig *rig)
{
    struct net_barrier_totals totals = {0};
    for (unsigned p = 0; p < rig->partitions.count; p++)
        net_barrier_add_totals(rig->part[p], &totals);
    return totals;
}

static void rig_fini(struct rig *rig)
{
    for (unsigned p = 0; p < rig->partitions.count; p++)
        net_barrier_part_free(rig->part[p]);
    rig_partitions_fini(&rig->partitions);
    net_barrier_free(rig->barrier);
    rig_logs_free(rig->logs, rig->nodes);
}

/* 20 cycles a level. */
static struct net_barrier_config machine(uint32_t nodes)
{
    return (struct net_barrier_config){nodes, 20, 40};
}

static uint32_t status(const struct rig *rig, uint32_t node)
{
    return net_barrier_load(rig->part[0], node);
}

static bool flag(const struct rig *rig, uint32_t node, unsigned field, unsigned channel)
{
    return status(rig, node) >> (31 - field - channel) & 1;
}

static void enter(struct rig *rig, uint32_t node)
{
    net_barrier_store(rig->part[0], node, BARRIER_FIRE, 0, true);
    net_barrier_store(rig->part[0], node, BARRIER_ARM, 1, true);
    net_barrier_store(rig->part[0], node, BARRIER_FIRE, 1, true);
}

/* ---- by hand ---- */

static void latency_is_a_number_of_cycles_for_each_level(void **state)
{
    (void)state;
    static const uint32_t rows[][3] = {/* nodes, Blue Gene/L, Blue Gene/P */
                                       {1, 32, 34},      {2, 32, 34},      {3, 32, 34},
                                       {4, 64, 68},      {1023, 288, 306}, {1024, 320, 340},
                                       {65536, 512, 544}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int bgp = 0; bgp < 2; bgp++) {
            struct rig rig;
            struct net_barrier_config config = bgp ? net_barrier_bgp : net_barrier_bgl;
            config.nodes = rows[i][0];
            rig_init(&rig, config, 1);
            assert_int_equal(net_barrier_latency(rig.barrier), rows[i][1 + bgp]);
            rig_fini(&rig);
        }
}

/* 8 nodes, 60 cycles each way. The last one fires at 1,000: all see it at 1,120, and the channel is
 * idle again at 1,240. */
static void nobody_passes_before_the_last_fires(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, machine(8), 1);
    struct net_partition *partition = rig.partitions.partition[0];
    for (uint32_t round = 0; round < 3; round++) {
        uint64_t start = 10000 * round;
        for (uint32_t n = 0; n < 8; n++) {
            net_partition_advance(partition, start + (n < 7 ? 100 * n : 1000));
            assert_true(flag(&rig, n, BARRIER_DOWN, 0));
            enter(&rig, n);
        }
        net_partition_advance(partition, start + 1000 + 120);
        for (uint32_t n = 0; n < 8; n++)
            assert_false(flag(&rig, n, BARRIER_STICKY, 0));
        net_partition_advance(partition, start + 1000 + 121);
        for (uint32_t n = 0; n < 8; n++) {
            assert_true(flag(&rig, n, BARRIER_STICKY, 0));
            assert_false(flag(&rig, n, BARRIER_DOWN, 0));
            assert_int_equal(rig.logs[n].records[rig.logs[n].count - 1].time, start + 1120);
        }
        net_partition_advance(partition, start + 1000 + 241);
        assert_true(flag(&rig, 3, BARRIER_DOWN, 0));
    }
    struct net_barrier_totals totals = totals_of(&rig);
    assert_int_equal(totals.fires[0], 24);
    assert_int_equal(totals.sticky[0], 24);
    assert_int_equal(totals.changes[0], 6);
    assert_int_equal(net_barrier_broken_law(&totals), -1);
    rig_fini(&rig);
}

/* One node of an OR channel alerts all. */
static void an_alert_reaches_all_nodes(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, machine(5), 1);
    for (uint32_t n = 0; n < 5; n++)
        net_barrier_store(rig.part[0], n, BARRIER_ARM + 1, 0, false);
    net_barrier_store(rig.part[0], 3, BARRIER_FIRE + 1, 1, false);
    net_partition_advance(rig.partitions.partition[0], 81);
    for (uint32_t n = 0; n < 5; n++) {
        assert_true(flag(&rig, n, BARRIER_STICKY, 1));
        assert_true(flag(&rig, n, BARRIER_DOWN, 1));
    }
    net_partition_advance(rig.partitions.partition[0], NET_NEVER);
    assert_false(flag(&rig, 0, BARRIER_DOWN, 1));
    rig_fini(&rig);
}

static void user_code_writes_to_enabled_channels_only(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig, machine(2), 1);
    assert_int_equal(status(&rig, 0), 0x00000B8B); /* down 1011, user 1000, up 1011 */
    net_barrier_store(rig.part[0], 0, BARRIER_ARM + 2, 1, true);
    assert_int_equal(status(&rig, 0), 0x00004B8B);
    net_barrier_store(rig.part[0], 0, BARRIER_RESETS, 0xF, true);
    assert_int_equal(status(&rig, 0), 0x00004B8B);
    net_barrier_store(rig.part[0], 0, BARRIER_RESETS, 0xF, false);
    assert_int_equal(status(&rig, 0), 0x00000B8B);
    net_barrier_store(rig.part[0], 0, BARRIER_USER, 0xA, false);
    net_barrier_store(rig.part[0], 0, BARRIER_ARM + 2, 1, true);
    assert_int_equal(status(&rig, 0), 0x20220BAB);
    struct net_barrier *barrier;
    struct chil_error error;
    assert_int_equal(net_barrier_new(&barrier, &net_barrier_bgp, &error), CHIL_EINVAL);
    assert_string_equal(error.text,
                        "barrier network: 0 nodes, 34 cycles a level; at least 1 of each");
    rig_fini(&rig);
}

static void laws_notice_a_wrong_count(void **state)
{
    (void)state;
    struct net_barrier_totals good = {
        .fires = {8}, .sticky = {8}, .changes = {2}, .downs = {16}, .nodes = 8};
    assert_int_equal(net_barrier_broken_law(&good), -1);
    struct net_barrier_totals bad[2] = {good, good};
    bad[0].downs[0]++;
    bad[1].sticky[0] = 17;
    for (int i = 0; i < 2; i++)
        assert_int_equal(net_barrier_broken_law(&bad[i]), i);
}

/* ---- against the literal model ---- */

/* What happens to a node in a cycle; mostly barriers, so that they complete. */
static bool store_of(uint64_t seed, uint32_t node, uint64_t cycle, unsigned *offset,
                     uint32_t *value, bool *user)
{
    uint64_t random = seed ^ (cycle * 4096 + node + 1) * UINT64_C(0x2545F4914F6CDD1D);
    (void)random_next(&random);
    if (random_below(&random, 40)) return false;
    unsigned channel = (unsigned)random_below(&random, 4);
    static const unsigned often[] = {BARRIER_ARM, BARRIER_FIRE, BARRIER_FIRE, BARRIER_FIRE};
    *offset = often[random_below(&random, 4)] + channel;
    *value = channel != 1;
    if (*offset < BARRIER_ARM) *value = random_below(&random, 8) != 0;
    if (!random_below(&random, 30)) {
        *offset = (unsigned)random_below(&random, 20);
        *value = (uint32_t)random_next(&random);
    }
    *user = !random_below(&random, 20);
    return true;
}

static void run(struct rig *rig, uint64_t seed, uint64_t from, uint64_t until)
{
    uint64_t window = net_barrier_latency(rig->barrier);
    for (uint64_t start = from; start < until; start += window) {
        uint64_t end = start + window < until ? start + window : until;
        for (unsigned p = 0; p < rig->partitions.count; p++) {
            struct net_partition *partition = rig->partitions.partition[p];
            for (uint64_t cycle = start; cycle < end; cycle++)
                for (uint32_t n = rig->partitions.first[p]; n < rig->partitions.first[p + 1]; n++) {
                    unsigned offset;
                    uint32_t value;
                    bool user;
                    if (!store_of(seed, n, cycle, &offset, &value, &user)) continue;
                    net_partition_advance(partition, cycle);
                    net_barrier_store(rig->part[p], n, offset, value, user);
                }
            net_partition_advance(partition, end);
        }
        rig_partitions_exchange(&rig->partitions);
    }
    for (uint64_t cycle = from; cycle < until; cycle++) {
        for (uint32_t n = 0; n < rig->nodes; n++) {
            unsigned offset;
            uint32_t value;
            bool user;
            if (store_of(seed, n, cycle, &offset, &value, &user))
                literal_barrier_store(rig->literal, n, offset, value, user);
        }
        literal_barrier_step(rig->literal);
    }
}

/* Notices of one node and cycle in the order of the event-driven model: down, then sticky, each by
 * channel. The literal model has them by channel. */
static void sort_notices(struct rig_log *log)
{
    for (size_t i = 1; i < log->count; i++)
        for (size_t k = i; k > 0; k--) {
            struct rig_record *a = &log->records[k - 1], *b = &log->records[k];
            if (a->time != b->time || a->kind > b->kind ||
                (a->kind == b->kind && a->value[0] <= b->value[0]))
                break;
            struct rig_record swap = *a;
            *a = *b;
            *b = swap;
        }
}

static void literal_and_event_driven_models_agree(void **state)
{
    (void)state;
    uint64_t fired = 0;
    for (uint64_t trial = 0; trial < random_trials(200); trial++) {
        uint64_t random = trial * 31 + 7;
        struct rig rig;
        struct net_barrier_config config = machine(1 + (uint32_t)random_below(&random, 9));
        config.level_cycles = 1 + (uint32_t)random_below(&random, 25);
        rig_init(&rig, config, 1 + (unsigned)random_below(&random, RIG_PARTITIONS));
        rig.literal_logs = rig_logs_new(config.nodes);
        rig.literal = literal_barrier_new(config.nodes, net_barrier_latency(rig.barrier));
        rig.literal->owner = &rig;
        rig.literal->sticky = literal_sticky;
        rig.literal->down = literal_down;
        for (uint64_t from = 0, until; from < 5000; from = until) {
            until = from + 1 + random_below(&random, 900);
            run(&rig, trial, from, until);
            for (uint32_t n = 0; n < config.nodes; n++) {
                assert_int_equal(
                    net_barrier_load(rig.part[rig_partition_of(&rig.partitions, n)], n),
                    literal_barrier_load(rig.literal, n));
                sort_notices(&rig.literal_logs[n]);
                sort_notices(&rig.logs[n]);
            }
            assert_true(rig_logs_same(rig.literal_logs, rig.logs, config.nodes));
        }
        for (int i = 0; i < 4; i++)
            fired += totals_of(&rig).sticky[i];
        literal_barrier_free(rig.literal);
        rig_logs_free(rig.literal_logs, config.nodes);
        rig_fini(&rig);
    }
    print_message("%llu sticky bits set\n", (unsigned long long)fired);
    assert_true(fired > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_is_a_number_of_cycles_for_each_level),
        cmocka_unit_test(nobody_passes_before_the_last_fires),
        cmocka_unit_test(an_alert_reaches_all_nodes),
        cmocka_unit_test(user_code_writes_to_enabled_channels_only),
        cmocka_unit_test(laws_notice_a_wrong_count),
        cmocka_unit_test(literal_and_event_driven_models_agree),
    };
    return cmocka_run_group_tests_name("net_barrier", tests, NULL, NULL);
}
