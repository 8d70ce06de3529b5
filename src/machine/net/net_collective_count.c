/* Events of the collective network and the laws between them.
 *
 * Levels are counted by intervals: a level that is high now counts up to now. Idle packets of idle
 * links are counted in closed form, also for routers that were never used.
 */
#include <stdio.h>
#include <string.h>

#include "machine/net/net_collective_router.h"

/* first event, unit, units, virtual channels, what */
static const struct {
    const char *unit, *what;
    uint16_t first, last;
    uint8_t units, vcs;
} families[] = {
#define ROW(id, unit, units, vcs, what, kind)                                                      \
    {unit, what, COLLECTIVE_##id, COLLECTIVE_##id##_END, units, vcs},
    NET_COLLECTIVE_EVENTS(ROW)
#undef ROW
};

void net_collective_event_name(enum net_collective_event event, char text[32])
{
    size_t i = 0;
    while (event > families[i].last)
        i++;
    unsigned number = event - families[i].first, vcs = families[i].vcs;
    char unit[16] = "", vc[8] = "";
    if (families[i].units > 1) (void)snprintf(unit, sizeof unit, "%u", number / vcs);
    if (vcs > 1) (void)snprintf(vc, sizeof vc, ".vc%u", number % vcs);
    (void)snprintf(text, 32, "%s%s%s.%s", families[i].unit, unit, vc, families[i].what);
}

/* Takes a decimal number below `end` from the name, if there are several to choose from. */
static bool take_number(const char **name, unsigned end, unsigned *number)
{
    const char *digits = *name;
    *number = 0;
    if (end <= 1) return true;
    while (**name >= '0' && **name <= '9' && *number < end)
        *number = *number * 10 + (unsigned)(*(*name)++ - '0');
    bool one_spelling = *digits != '0' || *name == digits + 1;
    return *name > digits && *number < end && one_spelling;
}

static bool take_word(const char **name, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*name, word, length) != 0) return false;
    *name += length;
    return true;
}

/* The name's parts as net_collective_event_name puts them together: every run looks up hundreds. */
int net_collective_event_find(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *rest = name;
        unsigned unit, vc;
        if (!take_word(&rest, families[i].unit) || !take_number(&rest, families[i].units, &unit) ||
            (families[i].vcs > 1 && !take_word(&rest, ".vc")) ||
            !take_number(&rest, families[i].vcs, &vc) || !take_word(&rest, ".") ||
            strcmp(rest, families[i].what) != 0)
            continue;
        return families[i].first + (int)(unit * families[i].vcs + vc);
    }
    return -1;
}

/* ---- counts ---- */

static struct net_count pulses(uint64_t count)
{
    return (struct net_count){count, 2 * count};
}

/* What a router that was never used has done: its links were empty and idle. */
static struct net_count count_unused(const struct net_collective_part *part, uint32_t node,
                                     enum net_collective_event event)
{
    const struct net_collective *n = part->network;
    uint64_t now = net_partition_now(part->partition);
    unsigned link = 0;
    if (event >= COLLECTIVE_SENDER_EMPTY && event <= COLLECTIVE_SENDER_EMPTY_END) {
        link = (event - COLLECTIVE_SENDER_EMPTY) / COLLECTIVE_VCS;
        if (net_collective_neighbour(n, node, link) != UINT32_MAX)
            return (struct net_count){now > 0, now};
    }
    bool sent = event >= COLLECTIVE_SENT_IDLE && event <= COLLECTIVE_SENT_IDLE_END;
    bool received = event >= COLLECTIVE_RECEIVED_IDLE && event <= COLLECTIVE_RECEIVED_IDLE_END;
    if (!sent && !received) return (struct net_count){0};
    link = event - (sent ? COLLECTIVE_SENT_IDLE : COLLECTIVE_RECEIVED_IDLE);
    if (net_collective_neighbour(n, node, link) == UINT32_MAX) return (struct net_count){0};
    return pulses(collective_idle(part, sent ? 0 : n->config.params.hop_cycles, now));
}

static uint64_t idle_of(const struct net_collective_part *part,
                        const struct collective_router *router, unsigned number, bool sent)
{
    const struct collective_link *link = &router->link[number];
    uint64_t now = net_partition_now(part->partition);
    if (!(router->links >> number & 1)) return 0;
    return (sent ? link->idle_sent : link->idle_received) +
           collective_idle(part, sent ? link->idle_since : link->quiet_since, now);
}

struct net_count net_collective_count(const struct net_collective_part *part, uint32_t node,
                                      enum net_collective_event event)
{
    const struct collective_router *router = part->network->routers[node];
    uint64_t now = net_partition_now(part->partition);
    if (!router || !now) return count_unused(part, node, event);
    if ((unsigned)event < COLLECTIVE_LEVELS) {
        const struct collective_level *level = &router->levels[event];
        uint64_t high = router->high >> event & 1 ? now - level->since : 0;
        return (struct net_count){level->rises, level->cycles + high};
    }
    if (event >= COLLECTIVE_SENT_IDLE && event <= COLLECTIVE_SENT_IDLE_END)
        return pulses(idle_of(part, router, event - COLLECTIVE_SENT_IDLE, true));
    if (event >= COLLECTIVE_RECEIVED_IDLE && event <= COLLECTIVE_RECEIVED_IDLE_END)
        return pulses(idle_of(part, router, event - COLLECTIVE_RECEIVED_IDLE, false));
    return pulses(router->pulses[event - COLLECTIVE_LEVELS]);
}

static void add_router(const struct collective_router *router, struct net_collective_totals *totals)
{
    totals->moved += router->moved;
    totals->merged += router->merged;
    totals->copies += router->copies;
    totals->strays += router->strays;
    for (unsigned vc = 0; vc < COLLECTIVE_VCS; vc++) {
        const struct collective_reception *fifo = &router->reception[vc];
        totals->unread_headers += fifo->packets.count - fifo->headers_read;
        totals->unread_quads += (unsigned)COLLECTIVE_QUADS * fifo->packets.count - fifo->quads_read;
        for (unsigned l = 0; l < COLLECTIVE_LINKS; l++)
            if (router->links >> l & 1)
                totals->places_out += COLLECTIVE_PLACES - (unsigned)router->link[l].places[vc] +
                                      router->link[l].taken[vc];
    }
}

void net_collective_add_totals(const struct net_collective_part *part,
                               struct net_collective_totals *totals)
{
    totals->elapsed = net_partition_now(part->partition);
    for (uint32_t node = part->first; node < part->end; node++) {
        const struct collective_router *router = part->network->routers[node];
        if (router) add_router(router, totals);
        for (unsigned l = 0; l < COLLECTIVE_LINKS; l++)
            totals->links += net_collective_neighbour(part->network, node, l) != UINT32_MAX;
        for (enum net_collective_event e = 0; e < COLLECTIVE_EVENTS; e++) {
            struct net_count count = net_collective_count(part, node, e);
            totals->count[e].occurrences += count.occurrences;
            totals->count[e].high += count.high;
        }
    }
}

/* ---- laws ---- */

/* Occurrences of `events` consecutive events. */
static uint64_t sum(const struct net_collective_totals *t, unsigned first, unsigned events)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < events; i++)
        total += t->count[first + i].occurrences;
    return total;
}

uint64_t net_collective_left(const struct net_collective_totals *t)
{
    uint64_t headers = sum(t, COLLECTIVE_INJECT_HEADERS, 2);
    uint64_t quads =
        (sum(t, COLLECTIVE_INJECT_PAYLOAD, 2) + COLLECTIVE_QUADS - 1) / COLLECTIVE_QUADS;
    uint64_t injected = headers > quads ? headers : quads;
    return injected - sum(t, COLLECTIVE_TAKEN_LOCAL, 1) + sum(t, COLLECTIVE_RECEIVED, 6) -
           sum(t, COLLECTIVE_TAKEN, 3);
}

/* Sums over the links that lead up (to the parent), or the links that lead down: what `sent` counts
 * at their beginning and `received` at their end. */
static uint64_t begin(const struct net_collective_totals *t, unsigned sent, unsigned vcs, bool up)
{
    return up ? sum(t, sent, vcs) : sum(t, sent + vcs, 2 * vcs);
}

static uint64_t end(const struct net_collective_totals *t, unsigned received, unsigned vcs, bool up)
{
    return begin(t, received, vcs, !up);
}

static bool data_received(const struct net_collective_totals *t)
{
    for (int up = 0; up < 2; up++) {
        uint64_t dropped =
            end(t, COLLECTIVE_CRC_ERROR, 1, up) + end(t, COLLECTIVE_UNEXPECTED, 1, up);
        if (begin(t, COLLECTIVE_SENT_DATA, 2, up) != end(t, COLLECTIVE_RECEIVED, 2, up) + dropped ||
            begin(t, COLLECTIVE_RESENDS, 1, up) != dropped)
            return false;
    }
    return true;
}

static bool empty_received(const struct net_collective_totals *t)
{
    for (int up = 0; up < 2; up++)
        if (begin(t, COLLECTIVE_SENT, 2, up) !=
            begin(t, COLLECTIVE_SENT_DATA, 2, up) + end(t, COLLECTIVE_RECEIVED_EMPTY, 2, up))
            return false;
    return true;
}

static bool idle_received(const struct net_collective_totals *t)
{
    uint64_t sent = sum(t, COLLECTIVE_SENT_IDLE, 3), received = sum(t, COLLECTIVE_RECEIVED_IDLE, 3);
    return received <= sent && sent <= received + t->links;
}

static bool all_taken(const struct net_collective_totals *t)
{
    for (unsigned r = 0; r < COLLECTIVE_LINKS; r++)
        if (sum(t, COLLECTIVE_TAKEN + r, 1) != sum(t, COLLECTIVE_RECEIVED + 2 * r, 2)) return false;
    return true;
}

static bool all_injected(const struct net_collective_totals *t)
{
    uint64_t headers = sum(t, COLLECTIVE_INJECT_HEADERS, 2);
    return sum(t, COLLECTIVE_TAKEN_LOCAL, 1) == headers &&
           sum(t, COLLECTIVE_INJECT_TAKEN, 2) == headers &&
           sum(t, COLLECTIVE_INJECT_PAYLOAD, 2) == COLLECTIVE_QUADS * headers;
}

static bool moves(const struct net_collective_totals *t)
{
    uint64_t taken = sum(t, COLLECTIVE_TAKEN, 3) + sum(t, COLLECTIVE_TAKEN_LOCAL, 1);
    return taken == t->moved && sum(t, COLLECTIVE_WINS, 16) + t->merged == t->moved;
}

static bool copies_arrived(const struct net_collective_totals *t)
{
    return t->copies == sum(t, COLLECTIVE_SENT_DATA, 6) - sum(t, COLLECTIVE_RESENDS, 3) +
                            sum(t, COLLECTIVE_RECEPTION_PACKETS, 2) +
                            sum(t, COLLECTIVE_RECEPTION_DISCARDED, 2);
}

static bool places_free(const struct net_collective_totals *t)
{
    return t->places_out == 0;
}

static bool all_read(const struct net_collective_totals *t)
{
    uint64_t packets = sum(t, COLLECTIVE_RECEPTION_PACKETS, 2);
    return packets == sum(t, COLLECTIVE_RECEPTION_HEADERS, 2) + t->unread_headers &&
           COLLECTIVE_QUADS * packets == sum(t, COLLECTIVE_RECEPTION_PAYLOAD, 2) + t->unread_quads;
}

static bool levels_ordered(const struct net_collective_totals *t)
{
    uint64_t pending = t->count[COLLECTIVE_PENDING].high;
    for (unsigned i = 0; i < INPUTS; i++)
        if (t->count[COLLECTIVE_MATURE + i].high > t->count[COLLECTIVE_HAVE + i].high ||
            t->count[COLLECTIVE_HAVE + i].high > pending)
            return false;
    for (unsigned i = COLLECTIVE_SENDER_EMPTY; i <= COLLECTIVE_SENDER_EMPTY_END; i++)
        if (t->count[i].high > t->links * t->elapsed) return false;
    return t->count[COLLECTIVE_WAITING].high <= pending &&
           t->count[COLLECTIVE_GREEDY].high <= pending;
}

/* text, check */
static const struct {
    const char *text;
    bool (*holds)(const struct net_collective_totals *totals);
} laws[] = {
    {"data sent = data received + corrupt + unexpected; resends = corrupt + unexpected",
     data_received},
    {"packets sent = data sent + empty packets received", empty_received},
    {"idle packets received <= sent <= received + links", idle_received},
    {"packets taken from a receiver = data it received", all_taken},
    {"packets taken from the FIFOs = headers written = quads written / 16", all_injected},
    {"packets moved = packets taken = wins + packets merged", moves},
    {"copies made = data sent - resends + packets received + discarded", copies_arrived},
    {"all places are free", places_free},
    {"packets received = headers read + unread = quads read / 16 + unread", all_read},
    {"mature <= have <= pending; waiting, greedy <= pending; empty <= elapsed", levels_ordered},
};

const char *net_collective_law(unsigned number)
{
    return number < sizeof laws / sizeof laws[0] ? laws[number].text : NULL;
}

int net_collective_broken_law(const struct net_collective_totals *totals)
{
    for (unsigned i = 0; net_collective_law(i); i++)
        if (!laws[i].holds(totals)) return (int)i;
    return -1;
}
