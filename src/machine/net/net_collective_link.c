/* Links of the collective network: sending, acknowledges, repeats, empty and idle packets.
 *
 * Decisions. Each packet on a link is acknowledged: the sender keeps its place until the end of the
 * packet has been at the other end and the acknowledge has come back. A corrupt packet is dropped
 * as a whole and refused; the receiver drops all later ones until it was repeated, and the sender
 * repeats it and all later ones in their order, before new packets. Acknowledges, empty and idle
 * packets are never lost and take no time on a link.
 *
 * Which packets the neighbour drops is known here at the start, since faults are a function of the
 * number of the transmission. So a packet that is dropped stays with the sender.
 */
#include <assert.h>
#include <string.h>

#include "machine/net/net_collective_router.h"

enum { PACKET_BITS = 266 * 8 }; /* 133 words of 16 bits */

bool net_collective_fault(const struct net_collective_config *config, uint32_t node, unsigned link,
                          uint64_t n)
{
    return net_fault(config->fault_seed, config->bit_error_rate, node, link, n, PACKET_BITS);
}

uint64_t collective_idle(const struct net_collective_part *part, uint64_t since, uint64_t now)
{
    return now > since ? (now - 1 - since) / collective_params(part)->idle_cycles : 0;
}

/* What becomes of a packet without acknowledge that is started now. */
static enum collective_outcome outcome_of(const struct net_collective_part *part,
                                          const struct collective_router *router, unsigned number,
                                          unsigned index)
{
    const struct collective_link *link = &router->link[number];
    bool corrupt =
        net_collective_fault(&part->network->config, router->node, number, link->transmissions);
    if (index == 0 || !link->sent[index - 1]) return corrupt ? OUTCOME_REFUSED : OUTCOME_GOOD;
    return corrupt ? OUTCOME_CORRUPT : OUTCOME_UNEXPECTED;
}

static void transmit(struct net_collective_part *part, struct collective_router *router,
                     unsigned number, unsigned index)
{
    const struct net_collective_params *params = collective_params(part);
    struct collective_link *link = &router->link[number];
    uint64_t now = net_partition_now(part->partition);
    unsigned vc = link->sent_vc[index];
    enum collective_outcome outcome = outcome_of(part, router, number, index);
    struct net_collective_packet *packet = outcome == OUTCOME_GOOD ? link->sent[index] : NULL;
    if (packet) link->sent[index] = NULL;
    link->transmissions++;
    link->idle_sent += collective_idle(part, link->idle_since, now);
    link->idle_since = now + params->packet_cycles;
    link->started = now;
    link->busy = true;
    collective_pulse(router, COLLECTIVE_SENT + COLLECTIVE_VCS * number + vc);
    collective_pulse(router, COLLECTIVE_SENT_DATA + COLLECTIVE_VCS * number + vc);
    collective_send(part, router->node, now + params->packet_cycles, COLLECTIVE_LINK_FREE, number,
                    0, 0, NULL);
    collective_send(part, link->neighbour, now + params->hop_cycles, COLLECTIVE_ARRIVE,
                    collective_back(router->node, number), vc, outcome, packet);
    if (outcome == OUTCOME_GOOD || outcome == OUTCOME_REFUSED)
        collective_send(part, router->node,
                        now + params->packet_cycles + 2 * (uint64_t)params->hop_cycles,
                        packet ? COLLECTIVE_ACKED : COLLECTIVE_REFUSED, number, 0, 0, NULL);
}

static void start_new(struct net_collective_part *part, struct collective_router *router,
                      unsigned number, unsigned vc)
{
    struct collective_link *link = &router->link[number];
    struct net_collective_packet *packet = collective_remove(&link->out[vc]);
    uint64_t whole = packet->arrived + collective_params(part)->packet_cycles;
    unsigned index = link->sent_count++;
    assert(index < UNACKNOWLEDGED);
    if (net_partition_now(part->partition) < whole)
        collective_pulse(router, COLLECTIVE_SENDER_CUT + COLLECTIVE_VCS * number + vc);
    link->places[vc]--;
    link->next_vc = (uint8_t)(vc ^ 1);
    link->sent[index] = packet;
    link->sent_vc[index] = (uint8_t)vc;
    link->cursor = link->sent_count;
    transmit(part, router, number, index);
}

static void serve(struct net_collective_part *part, struct collective_router *router,
                  unsigned number)
{
    struct collective_link *link = &router->link[number];
    if (link->cursor < link->sent_count) {
        collective_pulse(router, COLLECTIVE_RESENDS + number);
        transmit(part, router, number, link->cursor++);
        return;
    }
    for (unsigned i = 0; i < COLLECTIVE_VCS; i++) {
        unsigned vc = link->next_vc ^ i;
        if (!link->out[vc].count || !link->places[vc]) continue;
        start_new(part, router, number, vc);
        return;
    }
}

void collective_serve_links(struct net_collective_part *part, struct collective_router *router)
{
    for (unsigned l = 0; l < COLLECTIVE_LINKS; l++)
        if (router->links >> l & 1 && !router->link[l].busy) serve(part, router, l);
}

void collective_acknowledge(struct collective_router *router, unsigned number, bool good)
{
    struct collective_link *link = &router->link[number];
    assert(link->sent_count && !link->sent[0] == good);
    if (!good) {
        link->cursor = 0;
        return;
    }
    link->taken[link->sent_vc[0]]--;
    link->sent_count--;
    link->cursor--;
    memmove(link->sent, link->sent + 1, link->sent_count * sizeof link->sent[0]);
    memmove(link->sent_vc, link->sent_vc + 1, link->sent_count);
}

/* ---- the receiver ---- */

void collective_arrive(struct net_collective_part *part, struct collective_router *router,
                       const struct net_event *event)
{
    struct collective_link *link = &router->link[event->port];
    uint64_t end = event->time + collective_params(part)->packet_cycles;
    link->idle_received += collective_idle(part, link->quiet_since, event->time);
    link->quiet_since = end;
    collective_send(part, router->node, end, COLLECTIVE_ARRIVED, event->port, event->channel,
                    event->value, NULL);
    if (!event->packet) return;
    struct net_collective_packet *packet = event->packet;
    packet->arrived = event->time;
    collective_append(&router->in[COLLECTIVE_VCS * event->port + event->channel], packet);
    collective_touch(part, router);
}

void collective_arrived(struct net_collective_part *part, struct collective_router *router,
                        const struct net_event *event)
{
    struct collective_link *link = &router->link[event->port];
    bool resync = link->resync;
    switch ((enum collective_outcome)event->value) {
    case OUTCOME_GOOD:
        collective_pulse(router,
                         COLLECTIVE_RECEIVED + COLLECTIVE_VCS * event->port + event->channel);
        collective_send(part, router->node, event->time + collective_params(part)->empty_cycles,
                        COLLECTIVE_ANSWER, event->port, event->channel, 0, NULL);
        resync = false;
        break;
    case OUTCOME_REFUSED: resync = true; __attribute__((fallthrough));
    case OUTCOME_CORRUPT: collective_pulse(router, COLLECTIVE_CRC_ERROR + event->port); break;
    case OUTCOME_UNEXPECTED: collective_pulse(router, COLLECTIVE_UNEXPECTED + event->port); break;
    }
    if (resync != link->resync) collective_touch(part, router);
    link->resync = resync;
}

void collective_answer(struct net_collective_part *part, struct collective_router *router,
                       const struct net_event *event)
{
    const struct net_collective_params *params = collective_params(part);
    const struct collective_link *link = &router->link[event->port];
    if (link->started >= event->time - params->empty_cycles) return;
    collective_pulse(router, COLLECTIVE_SENT + COLLECTIVE_VCS * event->port + event->channel);
    collective_send(part, link->neighbour, event->time + params->hop_cycles, COLLECTIVE_EMPTY,
                    collective_back(router->node, event->port), event->channel, 0, NULL);
}
