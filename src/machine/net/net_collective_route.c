/* What the arbiter of the collective network decides in a cycle.
 *
 * A request is a packet at the head of an input, or all packets that are combined. It is mature
 * when all of them are there. Decisions:
 *
 *   1. The arbiter goes through the mature requests, the oldest first (ties: the lowest input). One
 *      starts if all parts that it needs are free, its senders have a place, and the reception FIFO
 *      has room.
 *   2. One that cannot start and has waited for greedy_cycles reserves its parts: no later one
 *      takes them. So an old combine that needs many parts gets them. Until then the mode is
 * greedy.
 *   3. A move takes its packets off the heads at once, and everything it uses for the time of a
 *      packet. The ALU is used when packets are combined; its result comes alu_cycles later.
 *   4. A combine has the header of its first packet, in the order links 0, 1, 2, local.
 *   5. Where the class has no way, the packet is moved to nowhere and counted.
 *
 * Then each idle link starts a packet (net_collective_link.c). A router is looked at only when
 * something changed; levels are those after all this.
 */
#include <assert.h>

#include "machine/net/net_collective_router.h"

struct request {
    uint64_t since;
    struct net_collective_header header;
    uint8_t input, vc;
    uint8_t sides, targets; /* masks */
    uint16_t parts;
    bool discard; /* the filter drops it */
};

struct round {
    struct net_collective_part *part;
    struct collective_router *router;
    uint64_t now;
    struct request request[INPUTS];
    unsigned count;
    uint8_t mature; /* inputs */
    bool waiting, aged;
};

/* ---- ways ---- */

static unsigned sources_of(const struct collective_router *router, unsigned class)
{
    uint16_t route = router->route[class];
    return (route >> 12 & 7u & router->links) | (route & COLLECTIVE_SOURCE_LOCAL ? 1u << LOCAL : 0);
}

static unsigned targets_of(const struct collective_router *router, unsigned class)
{
    uint16_t route = router->route[class];
    return (route >> 8 & 7u & router->links) | (route & COLLECTIVE_TARGET_LOCAL ? 1u << LOCAL : 0);
}

static bool known_op(unsigned op)
{
    return op <= COLLECTIVE_XOR || op == COLLECTIVE_MAX || op == COLLECTIVE_ADD;
}

/* Where a packet from a side goes, as a mask of sides. */
static unsigned way_of(const struct collective_router *router, unsigned side,
                       const struct net_collective_header *h)
{
    unsigned sources = sources_of(router, h->class), targets = targets_of(router, h->class);
    if (!known_op(h->op)) return 0;
    if (sources >> side & 1) return targets;
    return targets >> side & 1 ? sources : 0;
}

const char *collective_no_way(const struct collective_router *router, uint32_t header)
{
    struct net_collective_header h;
    net_collective_header_decode(header, &h);
    if (!known_op(h.op)) return "its operation does not exist";
    return way_of(router, LOCAL, &h) ? NULL : "its class leads nowhere from here";
}

/* ---- requests ---- */

static struct net_collective_packet *head(const struct collective_router *router, unsigned input)
{
    unsigned side = input / COLLECTIVE_VCS, vc = input % COLLECTIVE_VCS;
    if (router->moving >> input & 1) return NULL;
    if (side != LOCAL) return collective_front(&router->in[input]);
    const struct collective_injection *fifo = &router->injection[vc];
    return fifo->eligible ? collective_front(&fifo->packets) : NULL;
}

/* Whether the head of an input is a packet to be combined in a class. */
static bool joins(const struct collective_router *router, unsigned input, unsigned class)
{
    const struct net_collective_packet *packet = head(router, input);
    struct net_collective_header h;
    if (!packet) return false;
    net_collective_header_decode(packet->header, &h);
    return h.class == class && h.op != COLLECTIVE_ROUTE && known_op(h.op);
}

/* The sides of the packets that move with the one of an input; 0: not all are there. */
static unsigned group_of(const struct collective_router *router, unsigned input,
                         const struct net_collective_header *h)
{
    unsigned side = input / COLLECTIVE_VCS, vc = input % COLLECTIVE_VCS;
    unsigned sources = sources_of(router, h->class);
    if (h->op == COLLECTIVE_ROUTE || !known_op(h->op) || !(sources >> side & 1)) return 1u << side;
    for (unsigned i = 0; i < SIDES; i++)
        if (sources >> i & 1 && !joins(router, COLLECTIVE_VCS * i + vc, h->class)) return 0;
    return sources;
}

static void find_request(struct round *a, unsigned input)
{
    struct collective_router *router = a->router;
    const struct net_collective_packet *packet = head(router, input);
    struct request r = {.input = (uint8_t)input, .vc = input % COLLECTIVE_VCS};
    unsigned side = input / COLLECTIVE_VCS;
    if (!packet) return;
    net_collective_header_decode(packet->header, &r.header);
    r.sides = (uint8_t)group_of(router, input, &r.header);
    if (!r.sides || r.sides & ((1u << side) - 1)) return; /* found at its lowest input */
    for (unsigned i = 0; i < SIDES; i++)
        if (r.sides >> i & 1) a->mature |= (uint8_t)(1u << (COLLECTIVE_VCS * i + r.vc));
    r.targets = (uint8_t)way_of(router, side, &r.header);
    r.parts = (uint16_t)(r.sides | (unsigned)r.targets << PART_SENDER |
                         (r.sides & (r.sides - 1u) ? 1u << PART_ALU : 0));
    r.discard =
        r.header.point_to_point && r.header.target != router->address && !router->receive_all;
    if (router->since[input] == NET_NEVER) router->since[input] = a->now;
    r.since = router->since[input];
    unsigned at = a->count++;
    for (; at && a->request[at - 1].since > r.since; at--)
        a->request[at] = a->request[at - 1];
    a->request[at] = r;
}

static void find_requests(struct round *a)
{
    uint64_t since[INPUTS];
    for (unsigned i = 0; i < INPUTS; i++) {
        unsigned found = a->count;
        find_request(a, i);
        since[i] = a->count > found ? a->router->since[i] : NET_NEVER;
    }
    for (unsigned i = 0; i < INPUTS; i++)
        a->router->since[i] = since[i];
}

static bool has_room(const struct collective_router *router, const struct request *r)
{
    const struct collective_reception *fifo = &router->reception[r->vc];
    for (unsigned l = 0; l < COLLECTIVE_LINKS; l++)
        if (r->targets >> l & 1 && router->link[l].taken[r->vc] == COLLECTIVE_PLACES) return false;
    return !(r->targets >> LOCAL & 1) || r->discard ||
           fifo->packets.count + fifo->coming < COLLECTIVE_FIFO_PACKETS;
}

/* ---- moves ---- */

/* Takes a packet off the head of an input. */
static struct net_collective_packet *take(struct round *a, unsigned side, unsigned vc)
{
    struct collective_router *router = a->router;
    unsigned input = COLLECTIVE_VCS * side + vc;
    router->moving |= (uint8_t)(1u << input);
    if (side == LOCAL) {
        router->injection[vc].eligible--;
        return collective_remove(&router->injection[vc].packets);
    }
    struct net_collective_packet *packet = collective_remove(&router->in[input]);
    if (a->now < packet->arrived + collective_params(a->part)->packet_cycles)
        collective_pulse(router, COLLECTIVE_RECEIVER_CUT + input);
    return packet;
}

/* Takes the packets of a request and combines them. */
static struct net_collective_packet *take_all(struct round *a, const struct request *r)
{
    struct net_collective_packet *first = NULL;
    for (unsigned side = 0; side < SIDES; side++) {
        if (!(r->sides >> side & 1)) continue;
        struct net_collective_packet *packet = take(a, side, r->vc);
        a->router->moved++;
        if (!first) {
            first = packet;
            continue;
        }
        net_collective_combine(r->header.op, r->header.words, first->payload, packet->payload);
        collective_packet_free(a->part, packet);
        a->router->merged++;
    }
    return first;
}

static void put(struct round *a, const struct request *r, unsigned side,
                struct net_collective_packet *packet)
{
    struct collective_router *router = a->router;
    const struct net_collective_params *params = collective_params(a->part);
    bool combined = r->parts >> PART_ALU & 1;
    uint64_t comes = a->now + (combined ? params->alu_cycles : 0);
    packet->arrived = comes;
    router->copies++;
    if (side == LOCAL) {
        if (!r->discard) router->reception[r->vc].coming++;
        collective_send(a->part, router->node,
                        comes + params->packet_cycles + params->receive_cycles, COLLECTIVE_DELIVER,
                        0, r->vc, r->discard, packet);
        return;
    }
    router->link[side].taken[r->vc]++;
    if (comes > a->now)
        collective_send(a->part, router->node, comes, COLLECTIVE_OUT, side, r->vc, 0, packet);
    else
        collective_append(&router->link[side].out[r->vc], packet);
}

static void start(struct round *a, const struct request *r)
{
    struct collective_router *router = a->router;
    struct net_collective_packet *packet = take_all(a, r);
    router->busy |= r->parts;
    router->since[r->input] = NET_NEVER;
    collective_pulse(router, COLLECTIVE_WINS + r->header.class);
    collective_send(a->part, router->node, a->now + collective_params(a->part)->packet_cycles,
                    COLLECTIVE_MOVED, 0, r->vc, r->parts, NULL);
    if (!r->targets) {
        router->strays += (unsigned)__builtin_popcount(r->sides);
        collective_packet_free(a->part, packet);
    }
    for (unsigned left = r->targets; left; left &= left - 1) {
        struct net_collective_packet *copy = packet;
        if (left & (left - 1)) {
            copy = collective_packet_new(a->part);
            *copy = *packet;
        }
        put(a, r, (unsigned)__builtin_ctz(left), copy);
    }
}

/* A request that goes on waiting. Returns the parts that it reserves. Parts come free after a
 * packet's time. Room may come only after other packets have moved, so a request without room
 * reserves nothing: it would block the other channel, for ever if that has to move first. */
static unsigned wait(struct round *a, const struct request *r)
{
    uint64_t old = r->since + collective_params(a->part)->greedy_cycles;
    a->waiting = true;
    if (old <= a->now) {
        a->aged = true;
        return has_room(a->router, r) ? r->parts : 0;
    }
    if (a->router->awaited[r->input] != r->since)
        collective_send(a->part, a->router->node, old, COLLECTIVE_AGED, 0, 0, 0, NULL);
    a->router->awaited[r->input] = r->since;
    return 0;
}

/* ---- levels ---- */

static uint64_t bit(unsigned level)
{
    return UINT64_C(1) << level;
}

static uint64_t link_levels(const struct collective_router *router, unsigned number)
{
    const struct collective_link *link = &router->link[number];
    uint64_t levels = link->resync ? bit(COLLECTIVE_RESYNC + number) : 0;
    for (unsigned vc = 0; vc < COLLECTIVE_VCS; vc++) {
        unsigned input = COLLECTIVE_VCS * number + vc;
        if (router->in[input].count + (router->moving >> input & 1) == COLLECTIVE_PLACES)
            levels |= bit(COLLECTIVE_RECEIVER_FULL + input);
        if (!link->taken[vc]) levels |= bit(COLLECTIVE_SENDER_EMPTY + input);
    }
    return levels;
}

static uint64_t levels_now(const struct round *a)
{
    const struct collective_router *router = a->router;
    unsigned have = router->moving, busy = router->busy;
    for (unsigned i = 0; i < INPUTS; i++)
        if (head(router, i)) have |= 1u << i;
    uint64_t levels = (uint64_t)have << COLLECTIVE_HAVE |
                      (uint64_t)(a->mature | router->moving) << COLLECTIVE_MATURE |
                      (uint64_t)(busy & 0xFF) << COLLECTIVE_RECEIVER_BUSY;
    if (have) levels |= bit(COLLECTIVE_PENDING);
    if (a->waiting) levels |= bit(COLLECTIVE_WAITING);
    if (have && !a->aged) levels |= bit(COLLECTIVE_GREEDY);
    if (busy >> PART_ALU) levels |= bit(COLLECTIVE_ALU_BUSY);
    for (unsigned l = 0; l < COLLECTIVE_LINKS; l++)
        if (router->links >> l & 1) levels |= link_levels(router, l);
    return levels;
}

/* Inputs and parts are in the order of their events. */
_Static_assert(COLLECTIVE_HAVE_LOCAL == COLLECTIVE_HAVE + COLLECTIVE_VCS * LOCAL, "inputs");
_Static_assert(COLLECTIVE_MATURE_LOCAL == COLLECTIVE_MATURE + COLLECTIVE_VCS * LOCAL, "inputs");
_Static_assert(COLLECTIVE_INJECT_BUSY == COLLECTIVE_RECEIVER_BUSY + LOCAL, "parts");
_Static_assert(COLLECTIVE_SENDER_BUSY == COLLECTIVE_RECEIVER_BUSY + PART_SENDER, "parts");
_Static_assert(COLLECTIVE_RECEPTION_BUSY == COLLECTIVE_SENDER_BUSY + LOCAL, "parts");

static void set_levels(struct collective_router *router, uint64_t levels, uint64_t now)
{
    uint64_t changed = router->high ^ levels;
    router->high = levels;
    for (; changed; changed &= changed - 1) {
        unsigned number = (unsigned)__builtin_ctzll(changed);
        struct collective_level *level = &router->levels[number];
        if (levels & bit(number)) {
            level->since = now;
            level->rises++;
        } else {
            level->cycles += now - level->since;
        }
    }
}

void collective_arbitrate(void *self, uint32_t node)
{
    struct net_collective_part *part = self;
    struct round a = {.part = part,
                      .router = part->network->routers[node],
                      .now = net_partition_now(part->partition)};
    unsigned reserved = 0;
    a.router->touched = false;
    find_requests(&a);
    for (unsigned i = 0; i < a.count; i++) {
        const struct request *r = &a.request[i];
        if (!(r->parts & (a.router->busy | reserved)) && has_room(a.router, r))
            start(&a, r);
        else
            reserved |= wait(&a, r);
    }
    collective_serve_links(part, a.router);
    set_levels(a.router, levels_now(&a), a.now);
}
