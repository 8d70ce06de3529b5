/* What a router decides in a cycle: which packets are received, and which start on which link.
 *
 * Decisions, in the order in which they are applied:
 *
 *   1. A lost packet is repeated as soon as its link is idle.
 *   2. Reception. The packets at the front of the buffers that are to be received here compete. The
 *      one whose header came first is taken (ties: the lowest source); if its FIFO has no room for
 *      all of it, that FIFO takes nothing more in this cycle. This repeats. A deposit packet must
 *      be copied before it is sent on.
 *   3. Each packet at the front of an idle source chooses a link and a channel that it could start
 *      on now. Dynamic: among the directions of its hints and both dynamic channels, the one with
 *      the most tokens (ties: the lower direction, then channel 0); if there is none, and for
 *      deterministic packets, bubble normal in the first direction of its hints; for packets with
 *      priority, bubble priority in that direction.
 *   4. Links in their order each take one of the packets that chose it, by class: priority, in
 *      transit, injection; round robin over sources within a class. A waiting injection is served
 *      after TORUS_TRANSIT_RUN packets in transit. Packets that lost choose again. Links are gone
 *      through again until none takes a packet.
 *
 * A router is looked at only when something changed. That is enough, since step 4 ends when nothing
 * more can start, and then only an event can change that.
 */
#include <assert.h>

#include "machine/net/net_torus_router.h"

enum { NO_LINK = TORUS_LINKS, CLASSES = 3 };
enum { CLASS_PRIORITY, CLASS_TRANSIT, CLASS_INJECTION };

/* The state of one arbitration. */
struct round {
    struct net_torus_part *part;
    struct torus_router *router;
    uint64_t now;
    uint8_t open;      /* links on which a packet may start */
    uint32_t passed;   /* sources whose fresh packet was sent on at once */
    uint32_t priority; /* waiting sources whose packet has priority */
    uint32_t requests[TORUS_LINKS];
    uint8_t channel[SOURCES]; /* that the packet at the front chose */
};

static uint32_t bit(unsigned source)
{
    return UINT32_C(1) << source;
}

static unsigned first_direction(unsigned hints)
{
    return (unsigned)__builtin_clz(hints) - 26;
}

static struct net_torus_packet *front(const struct torus_router *router, unsigned source)
{
    return router->last[source]->next;
}

/* ---- reception ---- */

static bool to_receive(const struct net_torus_packet *packet)
{
    return !packet->hints || (packet->deposit && !packet->copied);
}

static unsigned reception_fifo(const struct net_torus_packet *packet, unsigned source)
{
    return packet->group * 7u + (packet->route == ROUTE_PRIORITY ? 6 : source / TORUS_CHANNELS);
}

static void deliver(struct round *a, struct net_torus_packet *packet, unsigned source,
                    uint64_t time)
{
    packet->words[0] = (packet->words[0] & ~(UINT32_C(0x3F) << 18)) | (uint32_t)packet->hints << 18;
    torus_send(a->part, a->router->node, time + a->part->torus->config.params.receive_cycles,
               TORUS_DELIVER, reception_fifo(packet, source), source, a->router->deliveries++,
               packet);
}

/* Receives the packet at the front of a buffer, or a copy of it. */
static void receive(struct round *a, unsigned source)
{
    struct torus_router *router = a->router;
    struct net_torus_packet *packet = front(router, source);
    uint64_t end = packet->arrived + torus_occupancy(a->part, packet->chunks);
    uint64_t time = a->now > end ? a->now : end;
    router->reception[reception_fifo(packet, source)].chunks += packet->chunks;
    if (packet->hints) {
        packet->copied = true;
        deliver(a, torus_packet_copy(a->part, packet), source, time);
        return;
    }
    unsigned receiver = source / TORUS_CHANNELS;
    (void)torus_remove(&router->last[source]);
    if (!router->last[source]) router->filled &= ~bit(source);
    if (a->now > end) router->link[receiver].pulses[TORUS_TOKEN_ACK]++;
    torus_send(a->part, router->link[receiver].neighbour,
               time + a->part->torus->config.params.hop_cycles, TORUS_RETURN, receiver ^ 1,
               source % TORUS_CHANNELS, packet->chunks, NULL);
    deliver(a, packet, source, time);
}

static void receive_all(struct round *a)
{
    struct torus_router *router = a->router;
    uint32_t refused = 0; /* FIFOs */
    for (;;) {
        unsigned oldest = NO_SOURCE;
        uint32_t candidates = router->filled & ~router->busy & TRANSIT_MASK;
        for (; candidates; candidates &= candidates - 1) {
            unsigned source = (unsigned)__builtin_ctz(candidates);
            const struct net_torus_packet *packet = front(router, source);
            if (!to_receive(packet) || refused & bit(reception_fifo(packet, source))) continue;
            if (oldest == NO_SOURCE || packet->arrived < front(router, oldest)->arrived)
                oldest = source;
        }
        if (oldest == NO_SOURCE) return;
        const struct net_torus_packet *packet = front(router, oldest);
        unsigned fifo = reception_fifo(packet, oldest);
        if (router->reception[fifo].chunks + packet->chunks > TORUS_FIFO_CHUNKS)
            refused |= bit(fifo);
        else
            receive(a, oldest);
    }
}

/* ---- links ---- */

/* Whether there are tokens for a packet to start in a bubble channel. */
static bool bubble_free(const struct torus_router *router, const struct net_torus_packet *packet,
                        unsigned source, unsigned direction, unsigned channel)
{
    bool stays = source == (direction ^ 1) * TORUS_CHANNELS + channel;
    unsigned need = packet->chunks + (stays ? 0u : TORUS_CHUNKS_MAX);
    return router->link[direction].tokens[channel] >= need;
}

static unsigned choose_dynamic(const struct round *a, const struct net_torus_packet *packet,
                               unsigned *channel)
{
    unsigned best = NO_LINK, most = packet->chunks - 1u;
    for (unsigned links = packet->hints & a->open; links;
         links &= ~(0x20u >> first_direction(links))) {
        unsigned d = first_direction(links);
        for (unsigned c = TORUS_DYNAMIC_0; c <= TORUS_DYNAMIC_1; c++) {
            if (a->router->link[d].tokens[c] <= most) continue;
            most = a->router->link[d].tokens[c];
            best = d;
            *channel = c;
        }
    }
    return best;
}

/* Enters the request of the packet at the front of a source, if there is a link for it. */
static void request(struct round *a, unsigned source)
{
    const struct net_torus_packet *packet = front(a->router, source);
    unsigned direction = NO_LINK, channel = TORUS_BUBBLE_NORMAL;
    if (packet->route == ROUTE_PRIORITY) {
        a->priority |= bit(source);
        channel = TORUS_BUBBLE_PRIORITY;
    } else if (packet->route == ROUTE_DYNAMIC) {
        direction = choose_dynamic(a, packet, &channel);
    }
    if (direction == NO_LINK) {
        direction = first_direction(packet->hints);
        if (!(a->open & net_torus_hint(direction)) ||
            !bubble_free(a->router, packet, source, direction, channel))
            return;
    }
    a->requests[direction] |= bit(source);
    a->channel[source] = (uint8_t)channel;
}

static unsigned round_robin(uint8_t *next, uint32_t requests)
{
    uint32_t after = *next < SOURCES ? requests & (UINT32_MAX << *next) : 0;
    unsigned source = (unsigned)__builtin_ctz(after ? after : requests);
    *next = (uint8_t)(source + 1);
    return source;
}

static unsigned pick(struct round *a, unsigned direction)
{
    struct torus_link *link = &a->router->link[direction];
    uint32_t requests = a->requests[direction];
    uint32_t priority = requests & a->priority;
    if (priority) return round_robin(&link->next[CLASS_PRIORITY], priority);
    uint32_t transit = requests & TRANSIT_MASK, injection = requests & ~TRANSIT_MASK;
    if (transit && (!injection || link->transit_run < TORUS_TRANSIT_RUN)) {
        if (injection) link->transit_run++;
        return round_robin(&link->next[CLASS_TRANSIT], transit);
    }
    link->transit_run = 0;
    return round_robin(&link->next[CLASS_INJECTION], injection);
}

/* Takes the packet out of its source and starts it. */
static void grant(struct round *a, unsigned direction, unsigned source)
{
    struct torus_router *router = a->router;
    struct torus_link *link = &router->link[direction];
    struct net_torus_packet *packet = torus_remove(&router->last[source]);
    unsigned channel = a->channel[source], receiver = source / TORUS_CHANNELS;
    uint64_t end = a->now + torus_occupancy(a->part, packet->chunks);
    uint32_t value = packet->chunks;
    link->tokens[channel] = (uint8_t)(link->tokens[channel] - packet->chunks);
    router->busy |= bit(source);
    if (source < TRANSIT_SOURCES) {
        bool passes = packet->arrived == a->now;
        if (passes) a->passed |= bit(source);
        value |= passes ? FREE_PASSED : FREE_BUFFERED;
        torus_send(a->part, router->link[receiver].neighbour,
                   end + a->part->torus->config.params.hop_cycles, TORUS_RETURN, receiver ^ 1,
                   source % TORUS_CHANNELS, packet->chunks, NULL);
        if (!router->last[source]) router->filled &= ~bit(source);
    } else if (--router->eligible[source - TRANSIT_SOURCES] == 0) {
        router->filled &= ~bit(source);
    }
    torus_send(a->part, router->node, end, TORUS_FREE, direction, source, value, NULL);
    unsigned dimension = direction / 2, size = a->part->torus->config.shape.size[dimension];
    unsigned at = router->at[dimension] + (direction % 2 ? size - 1 : 1);
    if ((at >= size ? at - size : at) == packet->target[dimension])
        packet->hints &= (uint8_t)~net_torus_hint(direction);
    packet->copied = false;
    torus_transmit(a->part, router, direction, packet, channel);
    a->open &= (uint8_t)~net_torus_hint(direction);
}

static void serve_links(struct round *a, uint32_t waiting)
{
    bool granted = true;
    for (; waiting; waiting &= waiting - 1)
        request(a, (unsigned)__builtin_ctz(waiting));
    while (granted) {
        granted = false;
        for (unsigned d = 0; d < TORUS_LINKS; d++) {
            if (!a->requests[d]) continue;
            unsigned source = pick(a, d);
            uint32_t losers = a->requests[d] & ~bit(source);
            a->requests[d] = 0;
            grant(a, d, source);
            granted = true;
            for (; losers; losers &= losers - 1)
                request(a, (unsigned)__builtin_ctz(losers));
        }
    }
}

/* ---- levels ---- */

/* Sources whose front packet waits for a link. */
static uint32_t waiting_sources(const struct torus_router *router)
{
    uint32_t waiting = 0;
    for (uint32_t idle = router->filled & ~router->busy; idle; idle &= idle - 1) {
        unsigned source = (unsigned)__builtin_ctz(idle);
        if (source >= TRANSIT_SOURCES || !to_receive(front(router, source))) waiting |= bit(source);
    }
    return waiting;
}

/* The levels that are high now. Packets that still wait for an open link lack tokens for it, since
 * serve_links went on until nothing could start. */
static uint32_t levels_now(const struct round *a, uint32_t waiting)
{
    uint32_t levels = 0;
    for (; waiting; waiting &= waiting - 1) {
        const struct net_torus_packet *packet = front(a->router, (unsigned)__builtin_ctz(waiting));
        unsigned first = first_direction(packet->hints);
        bool first_open = a->open & net_torus_hint(first);
        if (packet->route == ROUTE_PRIORITY) {
            if (first_open) levels |= bit(LEVELS * first + TORUS_NO_VCBP_TOKENS - TORUS_NO_TOKENS);
            continue;
        }
        if (first_open)
            levels |=
                bit(LEVELS * first) | bit(LEVELS * first + TORUS_NO_VCBN_TOKENS - TORUS_NO_TOKENS);
        if (packet->route != ROUTE_DYNAMIC) continue;
        for (unsigned links = packet->hints & a->open; links;
             links &= ~(0x20u >> first_direction(links))) {
            unsigned d = first_direction(links);
            levels |= bit(LEVELS * d) | bit(LEVELS * d + TORUS_NO_VCD_TOKENS - TORUS_NO_TOKENS);
        }
    }
    return levels;
}

static void set_levels(struct torus_router *router, uint32_t levels, uint64_t now)
{
    uint32_t changed = router->levels ^ levels;
    router->levels = levels;
    for (; changed; changed &= changed - 1) {
        unsigned number = (unsigned)__builtin_ctz(changed);
        struct torus_level *level = &router->link[number / LEVELS].levels[number % LEVELS];
        if (levels & bit(number)) {
            level->since = now;
            level->rises++;
        } else {
            level->cycles += now - level->since;
        }
    }
}

/* The ends of headers that came now and were not sent on at once are acknowledged when they come.
 */
static void expect_ends(struct round *a)
{
    struct torus_router *router = a->router;
    for (uint32_t fresh = router->fresh & ~a->passed; fresh; fresh &= fresh - 1) {
        unsigned source = (unsigned)__builtin_ctz(fresh);
        torus_send(a->part, router->node,
                   a->now + torus_occupancy(a->part, router->fresh_chunks[source / TORUS_CHANNELS]),
                   TORUS_ACK, source / TORUS_CHANNELS, 0, 0, NULL);
    }
    router->fresh = 0;
}

void torus_arbitrate(void *self, uint32_t node)
{
    struct net_torus_part *part = self;
    struct torus_router *router = part->torus->routers[node];
    struct round a = {.part = part, .router = router, .now = net_partition_now(part->partition)};
    router->touched = false;
    torus_replay(part, router);
    receive_all(&a);
    uint32_t waiting = waiting_sources(router);
    a.open = torus_open_links(part, router);
    if (waiting) {
        serve_links(&a, waiting);
        set_levels(router, levels_now(&a, waiting_sources(router)), a.now);
    }
    if (router->fresh) expect_ends(&a);
}
