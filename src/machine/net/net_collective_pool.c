/* Memory of a part of the collective network: routers, made when a node is first used, and packets,
 * which come from slabs and return to a free list. A packet may be freed by another part than the
 * one that made it.
 */
#include <string.h>

#include "machine/net/net_collective_router.h"

enum { SLAB = 64 };

uint16_t collective_first_route(const struct net_collective *network, uint32_t node)
{
    static const uint16_t sources[] = {COLLECTIVE_SOURCE_0, COLLECTIVE_SOURCE_1,
                                       COLLECTIVE_SOURCE_2};
    static const uint16_t targets[] = {COLLECTIVE_TARGET_0, COLLECTIVE_TARGET_1,
                                       COLLECTIVE_TARGET_2};
    uint16_t route = COLLECTIVE_SOURCE_LOCAL;
    if (node == 0) route |= COLLECTIVE_TARGET_LOCAL;
    for (unsigned link = 0; link < COLLECTIVE_LINKS; link++) {
        if (net_collective_neighbour(network, node, link) == UINT32_MAX) continue;
        if (link) route |= sources[link];
        if (!link || node == 0) route |= targets[link];
    }
    return route;
}

static void make_link(struct net_collective_part *part, struct collective_router *router,
                      unsigned number)
{
    struct collective_link *link = &router->link[number];
    link->neighbour = net_collective_neighbour(part->network, router->node, number);
    if (link->neighbour == UINT32_MAX) return;
    router->links |= (uint8_t)(1u << number);
    link->quiet_since = collective_params(part)->hop_cycles;
    for (unsigned vc = 0; vc < COLLECTIVE_VCS; vc++) {
        unsigned empty = COLLECTIVE_SENDER_EMPTY + COLLECTIVE_VCS * number + vc;
        link->places[vc] = COLLECTIVE_PLACES;
        router->high |= UINT64_C(1) << empty;
        router->levels[empty].rises = 1;
    }
}

struct collective_router *collective_router_get(struct net_collective_part *part, uint32_t node)
{
    struct collective_router *router = part->network->routers[node];
    if (router) return router;
    router = base_calloc(1, sizeof *router);
    router->node = node;
    router->address = node;
    for (unsigned i = 0; i < INPUTS; i++)
        router->since[i] = router->awaited[i] = NET_NEVER;
    for (unsigned i = 0; i < COLLECTIVE_LINKS; i++)
        make_link(part, router, i);
    for (unsigned i = 0; i < COLLECTIVE_CLASSES; i++)
        router->route[i] = collective_first_route(part->network, node);
    if (part->router_count == part->used_capacity)
        part->used =
            base_grow(part->used, &part->used_capacity, part->router_count + 1, sizeof *part->used);
    part->used[part->router_count++] = node;
    return part->network->routers[node] = router;
}

struct net_collective_packet *collective_packet_new(struct net_collective_part *part)
{
    if (!part->free_packets) {
        struct net_collective_packet *slab = arena_calloc(&part->arena, SLAB, sizeof *slab);
        for (unsigned i = 0; i < SLAB; i++)
            collective_packet_free(part, &slab[i]);
        part->packets += SLAB;
    }
    struct net_collective_packet *packet = part->free_packets;
    part->free_packets = packet->next;
    return packet;
}

void collective_packet_free(struct net_collective_part *part, struct net_collective_packet *packet)
{
    packet->next = part->free_packets;
    part->free_packets = packet;
}

size_t collective_packet_pack(void *self, const void *packet, uint8_t *bytes)
{
    struct net_collective_packet *from = (struct net_collective_packet *)packet;
    memcpy(bytes, from, sizeof *from);
    collective_packet_free(self, from);
    return sizeof *from;
}

void *collective_packet_unpack(void *self, const uint8_t *bytes)
{
    return memcpy(collective_packet_new(self), bytes, sizeof(struct net_collective_packet));
}

size_t net_collective_memory(const struct net_collective_part *part)
{
    return sizeof *part + part->packets * sizeof(struct net_collective_packet) +
           part->router_count * sizeof(struct collective_router) +
           part->used_capacity * sizeof *part->used;
}
