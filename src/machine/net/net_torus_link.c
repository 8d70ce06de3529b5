/* Sending a packet over a link, and repeating it after an injected bit error.
 *
 * Decision: a corrupt packet is dropped as a whole at its header, and so is every later packet of
 * the link until the corrupt one was repeated (go-back-n). The sender repeats when it had no
 * acknowledge for `retry_cycles` since it started the oldest packet that it has none for. Up to
 * TORUS_WINDOW packets may be without acknowledge.
 *
 * Without faults at most 3 packets can be without acknowledge (net_torus_new refuses parameters
 * with which it could be more), so acknowledges are events with faults only.
 */
#include <assert.h>

#include "machine/net/net_torus_router.h"

bool net_torus_fault(const struct net_torus_config *config, uint32_t node, unsigned direction,
                     uint64_t n, uint64_t bits)
{
    return net_fault(config->fault_seed, config->bit_error_rate, node, direction, n, bits);
}

static unsigned opposite(unsigned direction)
{
    return direction ^ 1;
}

/* A packet that comes from an injection FIFO has made no hop. */
static void notify(const struct net_torus_part *part, uint32_t node, unsigned direction,
                   const struct net_torus_packet *packet)
{
    uint64_t ready = packet->hops ? packet->arrived
                                  : packet->injected + part->torus->config.params.inject_cycles;
    part->listener->started(part->listener->self, node, direction, packet, ready);
}

/* Puts a packet on the link. Returns whether it gets to the other end intact. */
static bool start(struct net_torus_part *part, struct torus_router *router, unsigned direction,
                  const struct net_torus_packet *packet, unsigned channel)
{
    struct torus_link *link = &router->link[direction];
    uint64_t n = link->pulses[TORUS_PACKETS]++;
    link->pulses[TORUS_CHUNKS] += packet->chunks;
    link->pulses[TORUS_VCD0_CHUNKS + channel] += packet->chunks;
    link->started = net_partition_now(part->partition);
    link->chunks = packet->chunks;
    link->channel = (uint8_t)channel;
    router->busy_links |= net_torus_hint(direction);
    if (part->listener) notify(part, router->node, direction, packet);
    uint64_t bits = (uint64_t)(TORUS_CHUNK * packet->chunks + TORUS_OVERHEAD) * 8;
    return !part->torus->config.bit_error_rate ||
           !net_torus_fault(&part->torus->config, router->node, direction, n, bits);
}

/* A packet that is not dropped: its header, and with faults its acknowledge, is on the way. */
static void pass_on(struct net_torus_part *part, struct torus_router *router, unsigned direction,
                    struct net_torus_packet *packet, unsigned channel)
{
    const struct net_torus_params *params = &part->torus->config.params;
    uint64_t arrival = net_partition_now(part->partition) + params->hop_cycles;
    if (part->torus->config.bit_error_rate)
        torus_send(part, router->node,
                   arrival + torus_occupancy(part, packet->chunks) + params->hop_cycles,
                   TORUS_ACKED, direction, 0, 0, NULL);
    packet->hops++;
    torus_send(part, router->link[direction].neighbour, arrival, TORUS_ARRIVE, opposite(direction),
               channel, 0, packet);
}

static void set_timeout(struct net_torus_part *part, struct torus_router *router,
                        unsigned direction)
{
    uint64_t now = net_partition_now(part->partition);
    torus_send(part, router->node, now + part->torus->config.params.retry_cycles, TORUS_TIMEOUT,
               direction, 0, 0, NULL);
}

void torus_transmit(struct net_torus_part *part, struct torus_router *router, unsigned direction,
                    struct net_torus_packet *packet, unsigned channel)
{
    struct torus_link *link = &router->link[direction];
    bool intact = start(part, router, direction, packet, channel);
    if (!part->torus->config.bit_error_rate) {
        pass_on(part, router, direction, packet, channel);
        return;
    }
    if (!link->retry) {
        link->retry = base_calloc(1, sizeof *link->retry);
        part->retries++;
    }
    struct torus_retry *retry = link->retry;
    retry->unacknowledged++;
    if (intact && !retry->count) {
        pass_on(part, router, direction, packet, channel);
        return;
    }
    if (!retry->count) set_timeout(part, router, direction);
    retry->lost[retry->count] = packet;
    retry->channel[retry->count++] = (uint8_t)channel;
}

void torus_timeout(struct net_torus_part *part, struct torus_router *router, unsigned direction)
{
    struct torus_retry *retry = router->link[direction].retry;
    assert(retry && retry->count && !retry->replaying);
    retry->replaying = true;
    retry->broken = false;
    retry->next = 0;
    torus_touch(part, router);
}

static void remove_first(struct torus_retry *retry)
{
    retry->count--;
    for (unsigned i = 0; i < retry->count; i++) {
        retry->lost[i] = retry->lost[i + 1];
        retry->channel[i] = retry->channel[i + 1];
    }
}

static void repeat(struct net_torus_part *part, struct torus_router *router, unsigned direction)
{
    struct torus_link *link = &router->link[direction];
    struct torus_retry *retry = link->retry;
    struct net_torus_packet *packet = retry->lost[retry->next];
    unsigned channel = retry->channel[retry->next];
    bool intact = start(part, router, direction, packet, channel);
    link->pulses[TORUS_RETRIES]++;
    torus_send(part, router->node, link->started + torus_occupancy(part, packet->chunks),
               TORUS_FREE, direction, NO_SOURCE, packet->chunks, NULL);
    if (intact && !retry->broken) {
        remove_first(retry);
        pass_on(part, router, direction, packet, channel);
    } else {
        if (!retry->broken) set_timeout(part, router, direction);
        retry->broken = true;
        retry->next++;
    }
    if (retry->next == retry->count) retry->replaying = false;
}

void torus_replay(struct net_torus_part *part, struct torus_router *router)
{
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        const struct torus_retry *retry = router->link[d].retry;
        if (retry && retry->replaying && !(router->busy_links & net_torus_hint(d)))
            repeat(part, router, d);
    }
}

uint8_t torus_open_links(const struct net_torus_part *part, const struct torus_router *router)
{
    uint8_t open = router->links & (uint8_t)~router->busy_links;
    if (!part->torus->config.bit_error_rate) return open;
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        const struct torus_retry *retry = router->link[d].retry;
        if (retry && (retry->replaying || retry->unacknowledged == TORUS_WINDOW))
            open &= (uint8_t)~net_torus_hint(d);
    }
    return open;
}
