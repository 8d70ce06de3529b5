/* Packets of the torus as transactions, for the caller of a run.
 *
 * A packet is reported when its receiver has it, a hop when it starts. What happens in one cycle is
 * kept until the cycle is over and then reported in the order of nodes, so that the order is the
 * same for any number of ranks. The networks run on one thread, whatever runs the nodes.
 *
 * `wait` is what a packet takes longer than in an empty network: queues in FIFOs and buffers, links
 * that others use, missing tokens, repeats after bit errors. Of a hop it is the time between the
 * cycle in which the header was ready and its start on the link. */
#include <stdlib.h>

#include "base/mem.h"
#include "run/run_impl.h"

struct run_packets {
    struct chil_run *run;
    struct net_torus_listener listener;
    uint32_t kinds;
    uint64_t now; /* the cycle whose transactions are kept */
    struct kept {
        struct chil_transaction transaction;
        size_t order;
    } * kept;
    size_t count, capacity;
};

static int by_node(const void *left, const void *right)
{
    const struct kept *a = left, *b = right;
    if (a->transaction.node != b->transaction.node)
        return a->transaction.node < b->transaction.node ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void run_packets_flush(struct run_packets *p)
{
    if (!p) return;
    const struct chil_run_options *o = &p->run->options;
    if (p->count > 1) qsort(p->kept, p->count, sizeof *p->kept, by_node);
    for (size_t i = 0; i < p->count; i++)
        o->transact(o->context, &p->kept[i].transaction);
    p->count = 0;
}

static void keep(struct run_packets *p, uint64_t time, const struct chil_transaction *transaction)
{
    if (!(p->kinds >> transaction->kind & 1)) return;
    if (time != p->now) run_packets_flush(p);
    p->now = time;
    p->kept = base_grow(p->kept, &p->capacity, p->count + 1, sizeof *p->kept);
    p->kept[p->count] = (struct kept){*transaction, p->count};
    p->count++;
}

static uint32_t limited(uint64_t cycles)
{
    return cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

static struct chil_transaction of_packet(const struct net_torus_packet *packet, uint32_t node,
                                         unsigned direction)
{
    return (struct chil_transaction){.size = TORUS_CHUNK * packet->chunks,
                                     .sender = (uint16_t)packet->source,
                                     .node = (uint16_t)node,
                                     .link = (uint8_t)(CHIL_LINK_XP + direction),
                                     .packet = packet->number};
}

static void started(void *self, uint32_t node, unsigned direction,
                    const struct net_torus_packet *packet, uint64_t ready)
{
    struct run_packets *p = self;
    struct chil_transaction t = of_packet(packet, node, direction);
    uint64_t now = system_network_now(p->run->system);
    t.kind = CHIL_HOP;
    t.receiver = (uint16_t)net_torus_node(&p->run->shape, packet->target);
    t.hops = (uint16_t)(packet->hops + 1);
    t.wait = limited(now - ready);
    t.start = ready;
    t.end = now + system_network_busy(p->run->system, packet->chunks);
    keep(p, now, &t);
}

static void delivered(void *self, uint32_t node, unsigned direction,
                      const struct net_torus_packet *packet)
{
    struct run_packets *p = self;
    struct chil_transaction t = of_packet(packet, node, direction);
    uint64_t now = system_network_now(p->run->system),
             least = system_network_latency(p->run->system, packet->chunks, packet->hops);
    t.kind = CHIL_PACKET;
    t.receiver = (uint16_t)node;
    t.hops = packet->hops;
    t.wait = limited(now - packet->injected - least);
    t.start = packet->injected;
    t.end = now;
    keep(p, now, &t);
}

struct run_packets *run_packets_new(struct chil_run *run)
{
    const struct chil_run_options *o = &run->options;
    if (!o->transact || !(o->transactions & CHIL_KINDS_NETWORK)) return NULL;
    struct run_packets *p = base_calloc(1, sizeof *p);
    p->run = run;
    p->kinds = o->transactions;
    p->listener =
        (struct net_torus_listener){.self = p, .started = started, .delivered = delivered};
    return p;
}

const struct net_torus_listener *run_packets_listener(const struct run_packets *p)
{
    return p ? &p->listener : NULL;
}

void run_packets_free(struct run_packets *p)
{
    if (p) free(p->kept);
    free(p);
}
