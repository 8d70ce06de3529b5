/* A partition's event queue against a list, and the order of the steps of a cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/net/net.h"
#include "random.h"

enum { EVENTS = 20000, KIND_APPLY = 1, KIND_ACT = NET_ACT };

struct rig {
    struct net_partition *partition;
    uint64_t random;
    uint64_t due[EVENTS], came[EVENTS]; /* by number of the event */
    unsigned sent;
    char order[64];
    unsigned length;
};

/* Near, about a turn of the wheel away, exactly one, and far. */
static uint64_t delay(struct rig *rig)
{
    static const uint64_t limits[] = {3, 200, 4095, 4096, 4097, 8192, 100000};
    uint64_t limit = limits[random_below(&rig->random, 7)];
    return random_below(&rig->random, 2) ? limit : 1 + random_below(&rig->random, limit);
}

static void send_some(struct rig *rig, unsigned count)
{
    for (; count && rig->sent < EVENTS; count--, rig->sent++) {
        uint64_t time = net_partition_now(rig->partition) + delay(rig);
        rig->due[rig->sent] = time;
        net_partition_send(
            rig->partition,
            &(struct net_event){.time = time, .value = rig->sent, .kind = KIND_APPLY});
    }
}

static void apply(void *self, const struct net_event *event)
{
    struct rig *rig = self;
    assert_int_equal(rig->came[event->value], 0);
    rig->came[event->value] = net_partition_now(rig->partition);
    send_some(rig, (unsigned)random_below(&rig->random, 3));
}

/* Faults planted: a delay of exactly 4,096 in the wheel; the heap's smaller child not taken. */
static void every_event_comes_in_its_cycle(void **state)
{
    (void)state;
    struct rig *rig = calloc(1, sizeof *rig);
    rig->partition = net_partition_new(0, 1);
    (void)net_partition_add(rig->partition, &(struct net_unit){.self = rig, .apply = apply});
    while (rig->sent < EVENTS) {
        send_some(rig, 5);
        net_partition_advance(rig->partition,
                              net_partition_now(rig->partition) + random_below(&rig->random, 9000));
    }
    net_partition_advance(rig->partition, NET_NEVER);
    for (unsigned i = 0; i < EVENTS; i++)
        assert_int_equal(rig->came[i], rig->due[i]);
    assert_int_equal(net_partition_events(rig->partition), EVENTS);
    net_partition_free(rig->partition);
    free(rig);
}

static void note(struct rig *rig, char letter)
{
    rig->order[rig->length++] = letter;
}

static void note_apply(void *self, const struct net_event *event)
{
    struct rig *rig = self;
    note(rig, 'a');
    net_partition_touch(rig->partition, event->unit, event->node);
    net_partition_act_now(rig->partition,
                          &(struct net_event){.node = event->node, .kind = KIND_ACT, .value = 'v'});
}

static void note_act(void *self, const struct net_event *event)
{
    note(self, (char)event->value);
}

static void note_arbitrate(void *self, uint32_t node)
{
    (void)node;
    note(self, '.');
}

static void a_cycle_applies_then_acts_in_the_order_of_keys_then_arbitrates(void **state)
{
    (void)state;
    static const struct net_event events[] = {
        {.time = 5, .node = 1, .kind = KIND_ACT, .port = 2, .value = 'q'},
        {.time = 5, .node = 1, .kind = KIND_ACT, .port = 1, .channel = 1, .value = 'p'},
        {.time = 5, .node = 0, .kind = KIND_APPLY},
        {.time = 5, .node = 1, .kind = KIND_ACT, .port = 1, .channel = 1, .value = 'o'},
        {.time = 5, .node = 1, .kind = KIND_ACT, .port = 1, .value = 'n'},
        {.time = 6, .node = 0, .kind = KIND_ACT, .value = 'z'},
        {.time = 5, .node = 0, .kind = KIND_ACT | 1, .value = 'w'},
    };
    for (unsigned first = 0; first < 7; first++) {
        struct rig rig = {.partition = net_partition_new(0, 2)};
        (void)net_partition_add(rig.partition, &(struct net_unit){.self = &rig,
                                                                  .apply = note_apply,
                                                                  .act = note_act,
                                                                  .arbitrate = note_arbitrate});
        for (unsigned i = 0; i < 7; i++)
            net_partition_send(rig.partition, &events[(first + i) % 7]);
        net_partition_advance(rig.partition, 6);
        assert_string_equal(rig.order, "avwnopq.");
        assert_int_equal(net_partition_next(rig.partition), 6);
        net_partition_advance(rig.partition, 7);
        assert_string_equal(rig.order, "avwnopq.z");
        net_partition_free(rig.partition);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_comes_in_its_cycle),
        cmocka_unit_test(a_cycle_applies_then_acts_in_the_order_of_keys_then_arbitrates),
    };
    return cmocka_run_group_tests_name("net_partition", tests, NULL, NULL);
}
