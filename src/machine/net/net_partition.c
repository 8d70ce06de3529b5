/* A range of nodes and the three steps of each of their cycles; net.h has the rules. */
#include "machine/net/net.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/net/net_queue.h"

struct touched {
    uint32_t node;
    uint8_t unit;
};

struct net_partition {
    uint32_t first, end;
    unsigned unit_count;
    struct net_unit units[NET_UNITS];
    struct net_event *acts; /* of this cycle */
    size_t act_count, act_capacity;
    struct touched *touched;
    size_t touched_count, touched_capacity;
    struct net_event *outbox;
    size_t outbox_count, outbox_capacity;
    uint64_t events;
    struct net_queue queue;
};

struct net_partition *net_partition_new(uint32_t first, uint32_t end)
{
    struct net_partition *p = base_calloc(1, sizeof *p);
    p->first = first;
    p->end = end;
    net_queue_init(&p->queue);
    return p;
}

void net_partition_free(struct net_partition *p)
{
    if (!p) return;
    net_queue_fini(&p->queue);
    free(p->acts);
    free(p->touched);
    free(p->outbox);
    free(p);
}

uint8_t net_partition_add(struct net_partition *p, const struct net_unit *unit)
{
    assert(p->unit_count < NET_UNITS);
    p->units[p->unit_count] = *unit;
    return (uint8_t)p->unit_count++;
}

void net_partition_nodes(const struct net_partition *p, uint32_t *first, uint32_t *end)
{
    *first = p->first;
    *end = p->end;
}

uint64_t net_partition_now(const struct net_partition *p)
{
    return p->queue.now;
}

uint64_t net_partition_next(const struct net_partition *p)
{
    return p->touched_count ? p->queue.now : net_queue_next(&p->queue);
}

void net_partition_send(struct net_partition *p, const struct net_event *event)
{
    assert(event->time > p->queue.now);
    if (event->node >= p->first && event->node < p->end) {
        net_queue_add(&p->queue, event);
        return;
    }
    if (p->outbox_count == p->outbox_capacity)
        p->outbox =
            base_grow(p->outbox, &p->outbox_capacity, p->outbox_count + 1, sizeof *p->outbox);
    p->outbox[p->outbox_count++] = *event;
}

void net_partition_act_now(struct net_partition *p, const struct net_event *event)
{
    if (p->act_count == p->act_capacity)
        p->acts = base_grow(p->acts, &p->act_capacity, p->act_count + 1, sizeof *p->acts);
    p->acts[p->act_count++] = *event;
}

void net_partition_touch(struct net_partition *p, uint8_t unit, uint32_t node)
{
    if (p->touched_count == p->touched_capacity)
        p->touched =
            base_grow(p->touched, &p->touched_capacity, p->touched_count + 1, sizeof *p->touched);
    p->touched[p->touched_count++] = (struct touched){node, unit};
}

const struct net_event *net_partition_outbox(const struct net_partition *p, size_t *count)
{
    *count = p->outbox_count;
    return p->outbox;
}

void net_partition_outbox_clear(struct net_partition *p)
{
    p->outbox_count = 0;
}

void net_partition_post(struct net_partition *p, const struct net_event *event)
{
    assert(event->node >= p->first && event->node < p->end);
    net_queue_add(&p->queue, event);
}

/* The event as it is here, the length of its packet, the packet. Both processes run the same
 * program on hosts of one kind. */
void net_partition_pack(struct net_partition *p, const struct net_event *event, uint8_t **bytes,
                        size_t *count, size_t *capacity)
{
    const struct net_unit *unit = &p->units[event->unit];
    size_t most = sizeof *event + sizeof(uint32_t) + NET_PACKED_MAX;
    *bytes = base_grow(*bytes, capacity, *count + most, 1);
    uint8_t *at = *bytes + *count;
    uint32_t size = 0;
    assert(!event->packet || unit->pack);
    if (event->packet)
        size = (uint32_t)unit->pack(unit->self, event->packet, at + sizeof *event + sizeof size);
    assert(size <= NET_PACKED_MAX);
    memcpy(at, event, sizeof *event);
    memcpy(at + sizeof *event, &size, sizeof size);
    *count += sizeof *event + sizeof size + size;
}

size_t net_partition_unpack(struct net_partition *p, const uint8_t *bytes)
{
    struct net_event event;
    uint32_t size;
    memcpy(&event, bytes, sizeof event);
    memcpy(&size, bytes + sizeof event, sizeof size);
    const struct net_unit *unit = &p->units[event.unit];
    event.packet = size ? unit->unpack(unit->self, bytes + sizeof event + sizeof size) : NULL;
    net_partition_post(p, &event);
    return sizeof event + sizeof size + size;
}

static uint32_t act_class(const struct net_event *e)
{
    return (uint32_t)e->unit << 24 | (uint32_t)e->kind << 16 | (uint32_t)e->port << 8 | e->channel;
}

static int by_key(const void *left, const void *right)
{
    const struct net_event *a = left, *b = right;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    uint32_t x = act_class(a), y = act_class(b);
    if (x != y) return x < y ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static void run_cycle(struct net_partition *p)
{
    struct net_event event;
    while (net_queue_take(&p->queue, &event)) {
        p->events++;
        if (event.kind & NET_ACT)
            net_partition_act_now(p, &event);
        else
            p->units[event.unit].apply(p->units[event.unit].self, &event);
    }
    if (p->act_count > 1) qsort(p->acts, p->act_count, sizeof *p->acts, by_key);
    for (size_t i = 0; i < p->act_count; i++) {
        event = p->acts[i];
        p->units[event.unit].act(p->units[event.unit].self, &event);
    }
    p->act_count = 0;
    for (size_t i = 0; i < p->touched_count; i++) {
        const struct net_unit *unit = &p->units[p->touched[i].unit];
        unit->arbitrate(unit->self, p->touched[i].node);
    }
    p->touched_count = 0;
}

void net_partition_advance(struct net_partition *p, uint64_t limit)
{
    uint64_t time;
    while ((time = net_partition_next(p)) < limit) {
        p->queue.now = time;
        run_cycle(p);
        p->queue.now = time + 1;
    }
    if (p->queue.now < limit && limit != NET_NEVER) p->queue.now = limit;
}

uint64_t net_partition_events(const struct net_partition *p)
{
    return p->events;
}

size_t net_partition_memory(const struct net_partition *p)
{
    return sizeof *p + p->queue.cell_capacity * sizeof *p->queue.cells +
           (p->queue.later_capacity + p->act_capacity + p->outbox_capacity) *
               sizeof(struct net_event) +
           p->touched_capacity * sizeof *p->touched;
}

bool net_fault(uint64_t seed, uint64_t bit_error_rate, uint32_t node, unsigned link, uint64_t n,
               uint64_t bits)
{
    uint64_t z = seed + (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z ^= ((uint64_t)node << 3 | link) * UINT64_C(0xD1B54A32D192ED03);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    uint64_t limit;
    if (__builtin_mul_overflow(bit_error_rate, bits, &limit)) limit = UINT64_MAX;
    return (z ^ (z >> 31)) < limit;
}
