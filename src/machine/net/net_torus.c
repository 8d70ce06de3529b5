/* The torus network: what happens at a router, and what its owner does. Routing is in
 * net_torus_route.c, links in net_torus_link.c, counts in net_torus_count.c.
 */
#include "machine/net/net_torus.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "machine/net/net_torus_router.h"

static int check_params(const struct net_torus_params *p, struct chil_error *error)
{
    uint64_t smallest = (uint64_t)(TORUS_CHUNK + TORUS_OVERHEAD) * p->cycles_per_byte;
    uint64_t largest =
        (uint64_t)(TORUS_CHUNK * TORUS_CHUNKS_MAX + TORUS_OVERHEAD) * p->cycles_per_byte;
    if (!p->cycles_per_byte || !p->hop_cycles || !p->inject_cycles || !p->receive_cycles)
        return chil_error_set(error, CHIL_EINVAL, "torus: each time must be at least 1 cycle");
    if (2 * (uint64_t)p->hop_cycles > 3 * smallest)
        return chil_error_set(error, CHIL_EINVAL,
                              "torus: a hop of %u cycles lets more than %d packets be without "
                              "acknowledge; at most %llu",
                              p->hop_cycles, TORUS_WINDOW, (unsigned long long)(3 * smallest / 2));
    if (p->retry_cycles <= 3 * largest)
        return chil_error_set(error, CHIL_EINVAL,
                              "torus: %u cycles until a repeat are less than 3 packets take; at "
                              "least %llu",
                              p->retry_cycles, 3ULL * largest + 1);
    return CHIL_OK;
}

int net_torus_new(struct net_torus **torus, const struct net_torus_config *config,
                  struct chil_error *error)
{
    for (unsigned i = 0; i < 3; i++)
        if (config->shape.size[i] < 1 || config->shape.size[i] > 256)
            return chil_error_set(error, CHIL_EINVAL, "torus: size %u in %c; 1 to 256 is possible",
                                  config->shape.size[i], "xyz"[i]);
    int status = check_params(&config->params, error);
    if (status) return status;
    struct net_torus *t = base_calloc(1, sizeof *t);
    t->config = *config;
    t->reserved = net_torus_nodes(&config->shape) * sizeof(struct torus_router *);
    t->routers = base_reserve(t->reserved);
    *torus = t;
    return CHIL_OK;
}

void net_torus_free(struct net_torus *torus)
{
    if (!torus) return;
    base_release(torus->routers, torus->reserved);
    free(torus);
}

const struct net_torus_config *net_torus_config(const struct net_torus *torus)
{
    return &torus->config;
}

/* ---- events ---- */

/* Has the router arbitrate, if a packet waits there. */
static void touch_if_waiting(struct net_torus_part *part, struct torus_router *router)
{
    if (router->filled & ~router->busy) torus_touch(part, router);
}

static void apply_arrive(struct net_torus_part *part, struct torus_router *router,
                         const struct net_event *event)
{
    struct net_torus_packet *packet = event->packet;
    unsigned source = event->port * TORUS_CHANNELS + event->channel;
    packet->arrived = event->time;
    torus_append(&router->last[source], packet);
    router->filled |= UINT32_C(1) << source;
    router->fresh |= UINT32_C(1) << source;
    router->fresh_chunks[event->port] = packet->chunks;
    torus_touch(part, router);
}

static void apply_free(struct net_torus_part *part, struct torus_router *router,
                       const struct net_event *event)
{
    unsigned source = event->channel, chunks = event->value & FREE_CHUNKS;
    router->busy_links &= (uint8_t)~net_torus_hint(event->port);
    router->link[event->port].pulses[TORUS_BUSY] += torus_occupancy(part, chunks);
    if (source != NO_SOURCE) router->busy &= ~(UINT32_C(1) << source);
    if (event->value & (FREE_PASSED | FREE_BUFFERED)) {
        struct torus_link *back = &router->link[source / TORUS_CHANNELS];
        back->pulses[TORUS_TOKEN_ACK]++;
        if (event->value & FREE_PASSED) back->pulses[TORUS_ACKS]++;
    } else if (source != NO_SOURCE) {
        unsigned fifo = source - TRANSIT_SOURCES;
        router->held[fifo] = (uint8_t)(router->held[fifo] - chunks);
        net_partition_act_now(part->partition, &(struct net_event){.time = event->time,
                                                                   .node = router->node,
                                                                   .unit = part->unit,
                                                                   .kind = TORUS_INJECTED,
                                                                   .port = (uint8_t)fifo});
    }
    const struct torus_retry *retry = router->link[event->port].retry;
    if (retry && retry->replaying) torus_touch(part, router);
    touch_if_waiting(part, router);
}

static void apply(void *self, const struct net_event *event)
{
    struct net_torus_part *part = self;
    struct torus_router *router = torus_router_get(part, event->node);
    struct torus_link *link = &router->link[event->port < TORUS_LINKS ? event->port : 0];
    switch ((enum torus_kind)event->kind) {
    case TORUS_ARRIVE: apply_arrive(part, router, event); break;
    case TORUS_FREE: apply_free(part, router, event); break;
    case TORUS_RETURN:
        link->tokens[event->channel] = (uint8_t)(link->tokens[event->channel] + event->value);
        assert(link->tokens[event->channel] <= TORUS_TOKENS);
        touch_if_waiting(part, router);
        break;
    case TORUS_ACK:
        link->pulses[TORUS_ACKS]++;
        link->pulses[TORUS_TOKEN_ACK]++;
        break;
    case TORUS_ELIGIBLE:
        router->eligible[event->port]++;
        router->filled |= UINT32_C(1) << (TRANSIT_SOURCES + event->port);
        touch_if_waiting(part, router);
        break;
    case TORUS_ACKED:
        link->retry->unacknowledged--;
        touch_if_waiting(part, router);
        break;
    case TORUS_TIMEOUT: torus_timeout(part, router, event->port); break;
    case TORUS_DELIVER:
    case TORUS_INJECTED: break;
    }
}

static void act(void *self, const struct net_event *event)
{
    struct net_torus_part *part = self;
    struct torus_router *router = part->torus->routers[event->node];
    const struct net_torus_owner *owner = &part->owner;
    if (event->kind == TORUS_DELIVER) {
        torus_append(&router->reception[event->port].last, event->packet);
        router->delivered++;
        if (part->listener)
            part->listener->delivered(part->listener->self, event->node,
                                      event->channel / TORUS_CHANNELS ^ 1u, event->packet);
        if (owner->received) owner->received(owner->self, event->node, event->port);
    } else if (owner->injected) {
        owner->injected(owner->self, event->node, event->port);
    }
}

struct net_torus_part *net_torus_part_new(struct net_torus *torus, struct net_partition *partition,
                                          const struct net_torus_owner *owner)
{
    struct net_torus_part *part = base_calloc(1, sizeof *part);
    part->torus = torus;
    part->partition = partition;
    if (owner) part->owner = *owner;
    arena_init(&part->arena);
    part->unit = net_partition_add(partition, &(struct net_unit){.self = part,
                                                                 .apply = apply,
                                                                 .act = act,
                                                                 .arbitrate = torus_arbitrate,
                                                                 .pack = torus_packet_pack,
                                                                 .unpack = torus_packet_unpack});
    return part;
}

void net_torus_part_free(struct net_torus_part *part)
{
    if (!part) return;
    for (size_t i = 0; i < part->router_count; i++) {
        struct torus_router *router = part->torus->routers[part->used[i]];
        for (unsigned d = 0; d < TORUS_LINKS; d++)
            free(router->link[d].retry);
        free(router);
        part->torus->routers[part->used[i]] = NULL;
    }
    free(part->used);
    arena_fini(&part->arena);
    free(part);
}

void net_torus_listen(struct net_torus_part *part, const struct net_torus_listener *listener)
{
    part->listener = listener;
}

uint64_t net_torus_busy(const struct net_torus *torus, unsigned chunks)
{
    return (uint64_t)(TORUS_CHUNK * chunks + TORUS_OVERHEAD) * torus->config.params.cycles_per_byte;
}

uint64_t net_torus_latency(const struct net_torus *torus, unsigned chunks, unsigned hops)
{
    const struct net_torus_params *p = &torus->config.params;
    return p->inject_cycles + (uint64_t)hops * p->hop_cycles + net_torus_busy(torus, chunks) +
           p->receive_cycles;
}

/* ---- owner ---- */

/* Links that a packet with these hints goes over in one dimension, or -1 if it never gets there. */
static int path_length(const struct net_torus_shape *shape, const uint8_t from[3],
                       const uint8_t to[3], unsigned hints, unsigned dimension)
{
    unsigned pair = hints >> (4 - 2 * dimension) & 3, size = shape->size[dimension];
    if (!pair) return 0;
    bool plus = pair == 2;
    if (pair == 3 || to[dimension] >= size) return -1;
    unsigned a = from[dimension], b = to[dimension];
    if (!shape->torus[dimension] && (plus ? b <= a : b >= a)) return -1;
    unsigned way = plus ? (b + size - a) % size : (a + size - b) % size;
    return way ? (int)way : (int)size;
}

static int route(const struct net_torus_part *part, const struct torus_router *router,
                 struct net_torus_header *h, unsigned *hops, struct chil_error *error)
{
    const struct net_torus_shape *shape = &part->torus->config.shape;
    *hops = 0;
    for (unsigned i = 0; i < 3; i++)
        if (h->target[i] >= shape->size[i])
            return chil_error_set(error, CHIL_ENOENT,
                                  "packet of node %u: no node at (%u, %u, %u); the machine is "
                                  "%u x %u x %u",
                                  router->node, h->target[0], h->target[1], h->target[2],
                                  shape->size[0], shape->size[1], shape->size[2]);
    if (!h->hints) h->hints = net_torus_hints(shape, router->at, h->target);
    if (!h->hints)
        return chil_error_set(error, CHIL_EINVAL,
                              "packet of node %u to itself; it needs at least one hint bit",
                              router->node);
    unsigned dimensions = 0;
    for (unsigned i = 0; i < 3; i++) {
        int length = path_length(shape, router->at, h->target, h->hints, i);
        if (length < 0)
            return chil_error_set(error, CHIL_EINVAL,
                                  "packet of node %u: hints 0x%02x do not lead to %c = %u",
                                  router->node, h->hints, "xyz"[i], h -> target[i]);
        *hops += (unsigned)length;
        dimensions += length > 0;
    }
    if (h->deposit && dimensions > 1)
        return chil_error_set(error, CHIL_EINVAL,
                              "packet of node %u: deposit along %u dimensions; one is possible",
                              router->node, dimensions);
    return CHIL_OK;
}

int net_torus_inject(struct net_torus_part *part, uint32_t node, unsigned fifo,
                     const uint32_t words[4], const uint8_t *payload, uint64_t serial,
                     struct chil_error *error)
{
    struct torus_router *router = torus_router_get(part, node);
    struct net_torus_header h;
    unsigned hops;
    assert(fifo < TORUS_INJECTION_FIFOS);
    net_torus_header_decode(words, &h);
    int status = route(part, router, &h, &hops, error);
    if (status) return status;
    if (router->held[fifo] + h.chunks > TORUS_FIFO_CHUNKS) return CHIL_EBUSY;
    uint64_t now = net_partition_now(part->partition);
    struct net_torus_packet *packet = torus_packet_new(part, h.chunks, payload);
    memcpy(packet->words, words, sizeof packet->words);
    packet->injected = now;
    packet->serial = serial;
    packet->source = node;
    packet->number = (uint32_t)router->injected;
    packet->hints = h.hints;
    packet->route = h.channel == TORUS_BUBBLE_PRIORITY ? ROUTE_PRIORITY
                    : h.dynamic                        ? ROUTE_DYNAMIC
                                                       : ROUTE_NORMAL;
    packet->group = h.group >> 1;
    packet->deposit = h.deposit;
    memcpy(packet->target, h.target, sizeof packet->target);
    router->held[fifo] = (uint8_t)(router->held[fifo] + h.chunks);
    router->injected++;
    router->hops += hops;
    if (h.deposit) router->copies += hops - 1;
    torus_append(&router->last[TRANSIT_SOURCES + fifo], packet);
    torus_send(part, node, now + part->torus->config.params.inject_cycles, TORUS_ELIGIBLE, fifo, 0,
               0, NULL);
    return CHIL_OK;
}

unsigned net_torus_injection_chunks(const struct net_torus_part *part, uint32_t node, unsigned fifo)
{
    const struct torus_router *router = part->torus->routers[node];
    return router ? router->held[fifo] : 0;
}

/* The status byte shows what can be read, not what is on its way. */
unsigned net_torus_reception_chunks(const struct net_torus_part *part, uint32_t node, unsigned fifo)
{
    const struct torus_router *router = part->torus->routers[node];
    const struct net_torus_packet *last = router ? router->reception[fifo].last : NULL;
    unsigned chunks = last ? last->chunks : 0;
    for (const struct net_torus_packet *packet = torus_front((struct net_torus_packet *)last);
         packet != last; packet = packet->next)
        chunks += packet->chunks;
    return chunks;
}

const struct net_torus_packet *net_torus_front(const struct net_torus_part *part, uint32_t node,
                                               unsigned fifo)
{
    const struct torus_router *router = part->torus->routers[node];
    return router ? torus_front(router->reception[fifo].last) : NULL;
}

void net_torus_drop_front(struct net_torus_part *part, uint32_t node, unsigned fifo)
{
    struct torus_router *router = part->torus->routers[node];
    struct torus_fifo *reception = &router->reception[fifo];
    struct net_torus_packet *packet = torus_remove(&reception->last);
    reception->chunks = (uint8_t)(reception->chunks - packet->chunks);
    torus_packet_free(part, packet);
    touch_if_waiting(part, router);
}
