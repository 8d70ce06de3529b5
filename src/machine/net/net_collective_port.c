/* FIFOs of the collective network: whole packets, and the accesses of a core.
 *
 * Decisions: a FIFO has room for 8 headers and 128 quads, which are written and read apart. Header
 * n and quads 16n to 16n + 15 are a packet. An injected packet holds its room until the arbiter has
 * taken it, a received one until its header and all its quads were read. A header that cannot be
 * routed is stored and reported; the arbiter drops its packet, so that headers and quads stay in
 * step.
 */
#include <assert.h>
#include <string.h>

#include "machine/net/net_collective_router.h"

enum { QUADS_MAX = COLLECTIVE_FIFO_PACKETS * COLLECTIVE_QUADS };

static struct net_collective_packet *at(const struct collective_queue *queue, unsigned index)
{
    struct net_collective_packet *packet = collective_front(queue);
    while (index--)
        packet = packet->next;
    assert(packet);
    return packet;
}

/* ---- injection ---- */

/* Packet number `index` of the packets that are in the FIFO or being moved out of it. */
static struct net_collective_packet *in_the_making(struct net_collective_part *part,
                                                   struct collective_router *router, unsigned vc,
                                                   unsigned index)
{
    struct collective_queue *packets = &router->injection[vc].packets;
    index -= router->moving >> (COLLECTIVE_VCS * LOCAL + vc) & 1;
    if (index == packets->count) collective_append(packets, collective_packet_new(part));
    return at(packets, index);
}

static unsigned whole(const struct collective_injection *fifo)
{
    unsigned packets = fifo->quads / COLLECTIVE_QUADS;
    return packets < fifo->headers ? packets : fifo->headers;
}

static void grew(struct net_collective_part *part, const struct collective_router *router,
                 unsigned vc, unsigned before)
{
    if (whole(&router->injection[vc]) == before) return;
    collective_send(part, router->node,
                    net_partition_now(part->partition) + collective_params(part)->inject_cycles,
                    COLLECTIVE_ELIGIBLE, 0, vc, 0, NULL);
}

static int refuse(const struct collective_router *router, uint32_t header, struct chil_error *error)
{
    const char *why = collective_no_way(router, header);
    if (!why) return CHIL_OK;
    return chil_error_set(error, CHIL_EINVAL, "packet of node %u with header 0x%08x: %s",
                          router->node, header, why);
}

int net_collective_store_header(struct net_collective_part *part, uint32_t node, unsigned vc,
                                uint32_t header, uint64_t serial, struct chil_error *error)
{
    struct collective_router *router = collective_router_get(part, node);
    struct collective_injection *fifo = &router->injection[vc];
    unsigned before = whole(fifo);
    if (fifo->headers == COLLECTIVE_FIFO_PACKETS)
        return chil_error_set(error, CHIL_EBUSY,
                              "node %u: header stored into the full injection FIFO of channel %u",
                              node, vc);
    struct net_collective_packet *packet = in_the_making(part, router, vc, fifo->headers);
    packet->header = header;
    packet->serial = serial;
    fifo->headers++;
    collective_pulse(router, COLLECTIVE_INJECT_HEADERS + vc);
    grew(part, router, vc, before);
    return refuse(router, header, error);
}

int net_collective_store_data(struct net_collective_part *part, uint32_t node, unsigned vc,
                              const uint8_t quad[COLLECTIVE_QUAD], struct chil_error *error)
{
    struct collective_router *router = collective_router_get(part, node);
    struct collective_injection *fifo = &router->injection[vc];
    unsigned before = whole(fifo);
    if (fifo->quads == QUADS_MAX)
        return chil_error_set(error, CHIL_EBUSY,
                              "node %u: data stored into the full injection FIFO of channel %u",
                              node, vc);
    struct net_collective_packet *packet =
        in_the_making(part, router, vc, fifo->quads / COLLECTIVE_QUADS);
    memcpy(packet->payload + COLLECTIVE_QUAD * (fifo->quads % COLLECTIVE_QUADS), quad,
           COLLECTIVE_QUAD);
    fifo->quads++;
    collective_pulse(router, COLLECTIVE_INJECT_PAYLOAD + vc);
    grew(part, router, vc, before);
    return CHIL_OK;
}

int net_collective_inject(struct net_collective_part *part, uint32_t node, unsigned vc,
                          uint32_t header, const uint8_t payload[COLLECTIVE_PAYLOAD],
                          uint64_t serial, struct chil_error *error)
{
    struct collective_router *router = collective_router_get(part, node);
    const struct collective_injection *fifo = &router->injection[vc];
    int status = refuse(router, header, error);
    if (status) return status;
    if (fifo->headers == COLLECTIVE_FIFO_PACKETS || fifo->quads + COLLECTIVE_QUADS > QUADS_MAX)
        return CHIL_EBUSY;
    status = net_collective_store_header(part, node, vc, header, serial, error);
    for (unsigned i = 0; !status && i < COLLECTIVE_QUADS; i++)
        status =
            net_collective_store_data(part, node, vc, payload + (size_t)COLLECTIVE_QUAD * i, error);
    return status;
}

unsigned net_collective_injection_packets(const struct net_collective_part *part, uint32_t node,
                                          unsigned vc)
{
    const struct collective_router *router = part->network->routers[node];
    return router ? whole(&router->injection[vc]) : 0;
}

/* ---- reception ---- */

unsigned net_collective_reception_packets(const struct net_collective_part *part, uint32_t node,
                                          unsigned vc)
{
    const struct collective_router *router = part->network->routers[node];
    return router ? router->reception[vc].packets.count : 0;
}

const struct net_collective_packet *net_collective_front(const struct net_collective_part *part,
                                                         uint32_t node, unsigned vc)
{
    const struct collective_router *router = part->network->routers[node];
    return router ? collective_front(&router->reception[vc].packets) : NULL;
}

static void drop_what_was_read(struct net_collective_part *part, struct collective_router *router,
                               unsigned vc)
{
    struct collective_reception *fifo = &router->reception[vc];
    if (!fifo->headers_read || fifo->quads_read < COLLECTIVE_QUADS) return;
    fifo->headers_read--;
    fifo->quads_read -= COLLECTIVE_QUADS;
    collective_packet_free(part, collective_remove(&fifo->packets));
    collective_touch(part, router);
}

int net_collective_load_header(struct net_collective_part *part, uint32_t node, unsigned vc,
                               uint32_t *header, struct chil_error *error)
{
    struct collective_router *router = collective_router_get(part, node);
    struct collective_reception *fifo = &router->reception[vc];
    *header = 0;
    if (fifo->headers_read == fifo->packets.count)
        return chil_error_set(error, CHIL_EORDER,
                              "node %u: header loaded from the empty reception FIFO of channel %u",
                              node, vc);
    *header = at(&fifo->packets, fifo->headers_read++)->header;
    collective_pulse(router, COLLECTIVE_RECEPTION_HEADERS + vc);
    drop_what_was_read(part, router, vc);
    return CHIL_OK;
}

int net_collective_load_data(struct net_collective_part *part, uint32_t node, unsigned vc,
                             uint8_t quad[COLLECTIVE_QUAD], struct chil_error *error)
{
    struct collective_router *router = collective_router_get(part, node);
    struct collective_reception *fifo = &router->reception[vc];
    unsigned number = fifo->quads_read;
    memset(quad, 0, COLLECTIVE_QUAD);
    if (number == COLLECTIVE_QUADS * fifo->packets.count)
        return chil_error_set(error, CHIL_EORDER,
                              "node %u: data loaded from the empty reception FIFO of channel %u",
                              node, vc);
    const struct net_collective_packet *packet = at(&fifo->packets, number / COLLECTIVE_QUADS);
    memcpy(quad, packet->payload + COLLECTIVE_QUAD * (number % COLLECTIVE_QUADS), COLLECTIVE_QUAD);
    fifo->quads_read++;
    collective_pulse(router, COLLECTIVE_RECEPTION_PAYLOAD + vc);
    drop_what_was_read(part, router, vc);
    return CHIL_OK;
}

void net_collective_drop_front(struct net_collective_part *part, uint32_t node, unsigned vc)
{
    const struct collective_reception *fifo = &part->network->routers[node]->reception[vc];
    uint8_t quad[COLLECTIVE_QUAD];
    uint32_t header;
    unsigned quads = fifo->quads_read < COLLECTIVE_QUADS ? COLLECTIVE_QUADS - fifo->quads_read : 0;
    if (!fifo->headers_read) (void)net_collective_load_header(part, node, vc, &header, NULL);
    while (quads--)
        (void)net_collective_load_data(part, node, vc, quad, NULL);
}

uint32_t net_collective_status(const struct net_collective_part *part, uint32_t node, unsigned vc)
{
    const struct collective_router *router = part->network->routers[node];
    if (!router) return 0;
    const struct collective_injection *in = &router->injection[vc];
    const struct collective_reception *out = &router->reception[vc];
    unsigned packets = out->packets.count;
    return (uint32_t)in->quads << 24 | (uint32_t)in->headers << 16 |
           (packets * COLLECTIVE_QUADS - out->quads_read) << 8 | (packets - out->headers_read);
}

/* ---- what a core has written and read ---- */

unsigned net_collective_injection_quads(const struct net_collective_part *part, uint32_t node,
                                        unsigned vc)
{
    const struct collective_router *router = part->network->routers[node];
    return router ? router->injection[vc].quads : 0;
}

unsigned net_collective_quads_read(const struct net_collective_part *part, uint32_t node,
                                   unsigned vc)
{
    const struct collective_router *router = part->network->routers[node];
    return router ? router->reception[vc].quads_read : 0;
}
