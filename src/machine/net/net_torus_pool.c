/* Memory of a part of the torus: routers, made when a node is first used, and pools of packets.
 *
 * A router that was never used costs the 8 bytes of its pointer. Packets and payloads come from
 * slabs of the part's arena and return to free lists; a packet may be freed by another part than
 * the one that made it.
 */
#include <string.h>

#include "machine/net/net_torus_router.h"

enum { SLAB = 64 };

struct torus_router *torus_router_get(struct net_torus_part *part, uint32_t node)
{
    struct torus_router *router = part->torus->routers[node];
    if (router) return router;
    const struct net_torus_shape *shape = &part->torus->config.shape;
    router = base_calloc(1, sizeof *router);
    router->node = node;
    net_torus_coordinates(shape, node, router->at);
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        router->link[d].neighbour = net_torus_neighbour(shape, node, d);
        if (router->link[d].neighbour != UINT32_MAX) router->links |= net_torus_hint(d);
        memset(router->link[d].tokens, TORUS_TOKENS, TORUS_CHANNELS);
    }
    if (part->router_count == part->used_capacity)
        part->used =
            base_grow(part->used, &part->used_capacity, part->router_count + 1, sizeof *part->used);
    part->used[part->router_count++] = node;
    return part->torus->routers[node] = router;
}

static size_t payload_size(unsigned chunks)
{
    return (size_t)TORUS_CHUNK * chunks - TORUS_HEADER;
}

static uint8_t *payload_new(struct net_torus_part *part, unsigned chunks)
{
    void **pool = &part->free_payloads[chunks - 1];
    if (!*pool) {
        size_t size = payload_size(chunks);
        char *slab = arena_calloc(&part->arena, SLAB, size);
        for (unsigned i = 0; i < SLAB; i++, slab += size) {
            memcpy(slab, pool, sizeof *pool);
            *pool = slab;
        }
        part->payload_bytes += SLAB * size;
    }
    uint8_t *payload = *pool;
    memcpy(pool, payload, sizeof *pool);
    return payload;
}

struct net_torus_packet *torus_packet_new(struct net_torus_part *part, unsigned chunks,
                                          const uint8_t *payload)
{
    if (!part->free_packets) {
        struct net_torus_packet *slab = arena_calloc(&part->arena, SLAB, sizeof *slab);
        for (unsigned i = 0; i < SLAB; i++) {
            slab[i].next = part->free_packets;
            part->free_packets = &slab[i];
        }
        part->packets += SLAB;
    }
    struct net_torus_packet *packet = part->free_packets;
    part->free_packets = packet->next;
    memset(packet, 0, sizeof *packet);
    packet->chunks = (uint8_t)chunks;
    if (payload) {
        packet->payload = payload_new(part, chunks);
        memcpy(packet->payload, payload, payload_size(chunks));
    }
    return packet;
}

void torus_packet_free(struct net_torus_part *part, struct net_torus_packet *packet)
{
    if (packet->payload) {
        void **pool = &part->free_payloads[packet->chunks - 1];
        memcpy(packet->payload, pool, sizeof *pool);
        *pool = packet->payload;
    }
    packet->next = part->free_packets;
    part->free_packets = packet;
}

struct net_torus_packet *torus_packet_copy(struct net_torus_part *part,
                                           const struct net_torus_packet *packet)
{
    struct net_torus_packet *copy = torus_packet_new(part, packet->chunks, packet->payload);
    uint8_t *payload = copy->payload;
    *copy = *packet;
    copy->payload = payload;
    return copy;
}

size_t torus_packet_pack(void *self, const void *packet, uint8_t *bytes)
{
    struct net_torus_packet *from = (struct net_torus_packet *)packet;
    size_t size = from->payload ? payload_size(from->chunks) : 0;
    memcpy(bytes, from, sizeof *from);
    if (size) memcpy(bytes + sizeof *from, from->payload, size);
    torus_packet_free(self, from);
    return sizeof *from + size;
}

void *torus_packet_unpack(void *self, const uint8_t *bytes)
{
    struct net_torus_packet packet;
    memcpy(&packet, bytes, sizeof packet);
    if (packet.payload) packet.payload = (uint8_t *)bytes + sizeof packet;
    return torus_packet_copy(self, &packet);
}

size_t net_torus_memory(const struct net_torus_part *part)
{
    return sizeof *part + part->packets * sizeof(struct net_torus_packet) + part->payload_bytes +
           part->router_count * sizeof(struct torus_router) +
           part->used_capacity * sizeof *part->used + part->retries * sizeof(struct torus_retry);
}
