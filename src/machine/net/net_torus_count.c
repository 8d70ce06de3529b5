/* Events of the torus and the laws between them.
 *
 * Chunks are counted one by one: of a packet that is on the link now, only the started ones.
 * Levels are counted by intervals: a level that is high now counts up to now.
 */
#include "machine/net/net_torus_router.h"

enum { PULSE, LEVEL };

const struct net_torus_event_row net_torus_event_rows[TORUS_EVENTS] = {
#define ROW(id, name, bgp, step, bgl, kind) [TORUS_##id] = {name, bgp, step, bgl, (kind) == LEVEL},
    NET_TORUS_EVENTS(ROW)
#undef ROW
};

static struct net_count level_count(const struct torus_router *router, unsigned direction,
                                    unsigned number, uint64_t now)
{
    const struct torus_level *level = &router->link[direction].levels[number];
    bool high = router->levels >> (LEVELS * direction + number) & 1;
    return (struct net_count){level->rises, level->cycles + (high ? now - level->since : 0)};
}

/* Chunks of the packet on the link that were not started before `now`. */
static uint64_t chunks_to_come(const struct net_torus_part *part, const struct torus_link *link,
                               uint64_t now)
{
    uint64_t cycles = (uint64_t)TORUS_CHUNK * part->torus->config.params.cycles_per_byte;
    uint64_t started = now > link->started ? (now - link->started - 1) / cycles + 1 : 0;
    return started < link->chunks ? link->chunks - started : 0;
}

struct net_count net_torus_count(const struct net_torus_part *part, uint32_t node,
                                 unsigned direction, enum net_torus_event event)
{
    const struct torus_router *router = part->torus->routers[node];
    uint64_t now = net_partition_now(part->partition);
    if (!router) return (struct net_count){0};
    const struct torus_link *link = &router->link[direction];
    if (event >= TORUS_NO_TOKENS && event <= TORUS_NO_VCBP_TOKENS)
        return level_count(router, direction, event - TORUS_NO_TOKENS, now);
    uint64_t count = link->pulses[event];
    bool busy = router->busy_links & net_torus_hint(direction);
    if (event == TORUS_BUSY)
        return (struct net_count){link->pulses[TORUS_PACKETS],
                                  count + (busy ? now - link->started : 0)};
    enum net_torus_event on_link = TORUS_VCD0_CHUNKS + (enum net_torus_event)link->channel;
    if (busy && (event == TORUS_CHUNKS || event == on_link))
        count -= chunks_to_come(part, link, now);
    return (struct net_count){count, 2 * count};
}

void net_torus_add_totals(const struct net_torus_part *part, struct net_torus_totals *totals)
{
    totals->elapsed = net_partition_now(part->partition);
    totals->cycles_per_byte = part->torus->config.params.cycles_per_byte;
    for (size_t i = 0; i < part->router_count; i++) {
        const struct torus_router *router = part->torus->routers[part->used[i]];
        totals->injected += router->injected;
        totals->copies += router->copies;
        totals->delivered += router->delivered;
        totals->hops += router->hops;
        for (unsigned d = 0; d < TORUS_LINKS; d++) {
            if (!(router->links & net_torus_hint(d))) continue;
            totals->links[d]++;
            for (unsigned c = 0; c < TORUS_CHANNELS; c++)
                totals->tokens_out += TORUS_TOKENS - router->link[d].tokens[c];
            for (enum net_torus_event e = 0; e < TORUS_EVENTS; e++) {
                struct net_count count = net_torus_count(part, router->node, d, e);
                totals->count[d][e].occurrences += count.occurrences;
                totals->count[d][e].high += count.high;
            }
        }
    }
}

/* ---- laws ---- */

static bool acknowledged(const struct net_torus_totals *t)
{
    for (unsigned d = 0; d < TORUS_LINKS; d++)
        if (t->count[d][TORUS_PACKETS].occurrences !=
            t->count[d ^ 1][TORUS_ACKS].occurrences + t->count[d][TORUS_RETRIES].occurrences)
            return false;
    return true;
}

static bool token_packets(const struct net_torus_totals *t)
{
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        uint64_t acks = t->count[d][TORUS_ACKS].occurrences;
        uint64_t both = t->count[d][TORUS_TOKEN_ACK].occurrences;
        if (both < acks || both > 2 * acks) return false;
    }
    return true;
}

static bool chunks_by_channel(const struct net_torus_totals *t)
{
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        uint64_t packets = t->count[d][TORUS_PACKETS].occurrences;
        uint64_t chunks = t->count[d][TORUS_CHUNKS].occurrences, sum = 0;
        for (unsigned c = 0; c < TORUS_CHANNELS; c++)
            sum += t->count[d][TORUS_VCD0_CHUNKS + c].occurrences;
        if (sum != chunks || chunks < packets || chunks > TORUS_CHUNKS_MAX * packets) return false;
    }
    return true;
}

static bool tokens_back(const struct net_torus_totals *t)
{
    return t->tokens_out == 0;
}

static bool hops_made(const struct net_torus_totals *t)
{
    uint64_t packets = 0;
    for (unsigned d = 0; d < TORUS_LINKS; d++)
        packets += t->count[d][TORUS_PACKETS].occurrences - t->count[d][TORUS_RETRIES].occurrences;
    return packets == t->hops;
}

static bool all_delivered(const struct net_torus_totals *t)
{
    return t->delivered == t->injected + t->copies;
}

static bool link_time(const struct net_torus_totals *t)
{
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        uint64_t bytes = TORUS_OVERHEAD * t->count[d][TORUS_PACKETS].occurrences +
                         TORUS_CHUNK * t->count[d][TORUS_CHUNKS].occurrences;
        if (t->count[d][TORUS_BUSY].high != bytes * t->cycles_per_byte) return false;
    }
    return true;
}

static bool token_waits(const struct net_torus_totals *t)
{
    for (unsigned d = 0; d < TORUS_LINKS; d++) {
        uint64_t none = t->count[d][TORUS_NO_TOKENS].high;
        if (none > t->count[d][TORUS_NO_VCD_TOKENS].high + t->count[d][TORUS_NO_VCBN_TOKENS].high)
            return false;
        if (none + t->count[d][TORUS_BUSY].high > t->links[d] * t->elapsed) return false;
    }
    return true;
}

/* text, check */
static const struct {
    const char *text;
    bool (*holds)(const struct net_torus_totals *totals);
} laws[] = {
    {"packets of a direction = acknowledges of the opposite one + retries", acknowledged},
    {"acknowledges <= token_ack packets <= 2 x acknowledges", token_packets},
    {"chunks = chunks of the four channels; packets <= chunks <= 8 x packets", chunks_by_channel},
    {"all tokens are in the senders' hands", tokens_back},
    {"packets on links - retries = hops of the packets injected", hops_made},
    {"packets delivered = packets injected + copies", all_delivered},
    {"busy cycles of links = cycles per byte x (14 x packets + 32 x chunks)", link_time},
    {"no_tokens <= no_vcd_tokens + no_vcbn_tokens; no_tokens <= elapsed - busy", token_waits},
};

const char *net_torus_law(unsigned number)
{
    return number < sizeof laws / sizeof laws[0] ? laws[number].text : NULL;
}

int net_torus_broken_law(const struct net_torus_totals *totals)
{
    for (unsigned i = 0; net_torus_law(i); i++)
        if (!laws[i].holds(totals)) return (int)i;
    return -1;
}
