/* The collective network: what happens at a router, and its registers. The arbiter is in
 * net_collective_route.c, links in net_collective_link.c, FIFOs in net_collective_port.c, counts in
 * net_collective_count.c.
 */
#include "machine/net/net_collective.h"

#include <stdlib.h>

#include "machine/net/net_collective_router.h"

/* packet, hop, ALU, inject, receive, empty, idle, greedy */
const struct net_collective_params net_collective_bgl = {532, 60, 8, 64, 64, 128, 2048, 8192};
const struct net_collective_params net_collective_bgp = {266, 40, 8, 40, 40, 128, 2048, 8192};

static int check(const struct net_collective_config *config, struct chil_error *error)
{
    const struct net_collective_params *p = &config->params;
    if (!config->nodes)
        return chil_error_set(error, CHIL_EINVAL, "collective network: 0 nodes; at least 1");
    if (!p->hop_cycles || !p->inject_cycles || !p->receive_cycles || !p->empty_cycles ||
        !p->greedy_cycles)
        return chil_error_set(error, CHIL_EINVAL,
                              "collective network: each time must be at least 1 cycle");
    if (p->alu_cycles >= p->packet_cycles)
        return chil_error_set(error, CHIL_EINVAL,
                              "collective network: the ALU's %u cycles must be less than the %u of "
                              "a packet",
                              p->alu_cycles, p->packet_cycles);
    if (p->idle_cycles < p->hop_cycles)
        return chil_error_set(error, CHIL_EINVAL,
                              "collective network: an idle packet each %u cycles; at least the %u "
                              "of a hop",
                              p->idle_cycles, p->hop_cycles);
    return CHIL_OK;
}

int net_collective_new(struct net_collective **network, const struct net_collective_config *config,
                       struct chil_error *error)
{
    int status = check(config, error);
    if (status) return status;
    struct net_collective *n = base_calloc(1, sizeof *n);
    n->config = *config;
    n->reserved = config->nodes * sizeof(struct collective_router *);
    n->routers = base_reserve(n->reserved);
    *network = n;
    return CHIL_OK;
}

void net_collective_free(struct net_collective *network)
{
    if (!network) return;
    base_release(network->routers, network->reserved);
    free(network);
}

const struct net_collective_config *net_collective_config(const struct net_collective *network)
{
    return &network->config;
}

uint32_t net_collective_neighbour(const struct net_collective *network, uint32_t node,
                                  unsigned link)
{
    if (link == 0) return node ? (node - 1) / 2 : UINT32_MAX;
    uint64_t child = 2 * (uint64_t)node + link;
    return child < network->config.nodes ? (uint32_t)child : UINT32_MAX;
}

/* ---- events ---- */

static void apply_moved(struct net_collective_part *part, struct collective_router *router,
                        const struct net_event *event)
{
    unsigned vc = event->channel;
    router->busy &= (uint16_t)~event->value;
    for (unsigned side = 0; side < SIDES; side++) {
        if (!(event->value >> side & 1)) continue;
        router->moving &= (uint8_t) ~(1u << (COLLECTIVE_VCS * side + vc));
        if (side != LOCAL) {
            collective_pulse(router, COLLECTIVE_TAKEN + side);
            collective_send(part, router->link[side].neighbour,
                            event->time + collective_params(part)->hop_cycles, COLLECTIVE_PLACE,
                            collective_back(router->node, side), vc, 0, NULL);
            continue;
        }
        collective_pulse(router, COLLECTIVE_TAKEN_LOCAL);
        collective_pulse(router, COLLECTIVE_INJECT_TAKEN + vc);
        router->injection[vc].headers--;
        router->injection[vc].quads -= COLLECTIVE_QUADS;
        net_partition_act_now(part->partition, &(struct net_event){.time = event->time,
                                                                   .node = router->node,
                                                                   .unit = part->unit,
                                                                   .kind = COLLECTIVE_INJECTED,
                                                                   .channel = event->channel});
    }
}

static void apply(void *self, const struct net_event *event)
{
    struct net_collective_part *part = self;
    struct collective_router *router = collective_router_get(part, event->node);
    struct collective_link *link = &router->link[event->port];
    unsigned vc = event->channel;
    switch ((enum collective_kind)event->kind) {
    case COLLECTIVE_ARRIVE: collective_arrive(part, router, event); return;
    case COLLECTIVE_ARRIVED: collective_arrived(part, router, event); return;
    case COLLECTIVE_ANSWER: collective_answer(part, router, event); return;
    case COLLECTIVE_EMPTY:
        collective_pulse(router, COLLECTIVE_RECEIVED_EMPTY + COLLECTIVE_VCS * event->port + vc);
        return;
    case COLLECTIVE_MOVED: apply_moved(part, router, event); break;
    case COLLECTIVE_OUT: collective_append(&link->out[vc], event->packet); break;
    case COLLECTIVE_LINK_FREE: link->busy = false; break;
    case COLLECTIVE_ACKED: collective_acknowledge(router, event->port, true); break;
    case COLLECTIVE_REFUSED: collective_acknowledge(router, event->port, false); break;
    case COLLECTIVE_PLACE: link->places[vc]++; break;
    case COLLECTIVE_ELIGIBLE: router->injection[vc].eligible++; break;
    case COLLECTIVE_AGED: break;
    case COLLECTIVE_DELIVER:
    case COLLECTIVE_INJECTED: return;
    }
    collective_touch(part, router);
}

static void act(void *self, const struct net_event *event)
{
    struct net_collective_part *part = self;
    struct collective_router *router = part->network->routers[event->node];
    const struct net_collective_owner *owner = &part->owner;
    unsigned vc = event->channel;
    if (event->kind == COLLECTIVE_INJECTED) {
        if (owner->injected) owner->injected(owner->self, event->node, vc);
        return;
    }
    if (event->value) {
        collective_pulse(router, COLLECTIVE_RECEPTION_DISCARDED + vc);
        collective_packet_free(part, event->packet);
        return;
    }
    collective_pulse(router, COLLECTIVE_RECEPTION_PACKETS + vc);
    router->reception[vc].coming--;
    collective_append(&router->reception[vc].packets, event->packet);
    if (owner->received) owner->received(owner->self, event->node, vc);
}

struct net_collective_part *net_collective_part_new(struct net_collective *network,
                                                    struct net_partition *partition,
                                                    const struct net_collective_owner *owner)
{
    struct net_collective_part *part = base_calloc(1, sizeof *part);
    part->network = network;
    part->partition = partition;
    if (owner) part->owner = *owner;
    net_partition_nodes(partition, &part->first, &part->end);
    arena_init(&part->arena);
    part->unit =
        net_partition_add(partition, &(struct net_unit){.self = part,
                                                        .apply = apply,
                                                        .act = act,
                                                        .arbitrate = collective_arbitrate,
                                                        .pack = collective_packet_pack,
                                                        .unpack = collective_packet_unpack});
    return part;
}

void net_collective_part_free(struct net_collective_part *part)
{
    if (!part) return;
    for (size_t i = 0; i < part->router_count; i++) {
        free(part->network->routers[part->used[i]]);
        part->network->routers[part->used[i]] = NULL;
    }
    free(part->used);
    arena_fini(&part->arena);
    free(part);
}

/* ---- registers ---- */

void net_collective_set_route(struct net_collective_part *part, uint32_t node, unsigned class,
                              uint16_t route)
{
    struct collective_router *router = collective_router_get(part, node);
    router->route[class % COLLECTIVE_CLASSES] = route;
    collective_touch(part, router);
}

uint16_t net_collective_route(const struct net_collective_part *part, uint32_t node, unsigned class)
{
    const struct collective_router *router = part->network->routers[node];
    return router ? router->route[class % COLLECTIVE_CLASSES]
                  : collective_first_route(part->network, node);
}

void net_collective_set_address(struct net_collective_part *part, uint32_t node, uint32_t address,
                                bool receive_all)
{
    struct collective_router *router = collective_router_get(part, node);
    router->address = address;
    router->receive_all = receive_all;
    collective_touch(part, router);
}
