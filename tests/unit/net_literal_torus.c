#include "net_literal_torus.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int cycles_of(const struct literal_torus *t, int chunks)
{
    return (32 * chunks + 14) * (int)t->config.params.cycles_per_byte;
}

static void count(struct literal_link *link, enum net_torus_event event)
{
    link->count[event].occurrences++;
    link->count[event].high += 2;
}

static void push(struct literal_queue *queue, struct literal_packet *packet)
{
    assert(queue->count < 64);
    queue->packet[queue->count++] = packet;
}

static struct literal_packet *pop(struct literal_queue *queue)
{
    struct literal_packet *packet = queue->packet[0];
    queue->count--;
    memmove(queue->packet, queue->packet + 1, (size_t)queue->count * sizeof packet);
    return packet;
}

static struct literal_packet *packet_new(struct literal_torus *t)
{
    if (t->all_count == t->all_capacity)
        t->all = base_grow(t->all, &t->all_capacity, t->all_count + 1, sizeof(void *));
    return t->all[t->all_count++] = base_calloc(1, sizeof(struct literal_packet));
}

static void send(struct literal_torus *t, struct literal_way way)
{
    assert(way.time > t->now);
    if (t->way_count == t->way_capacity)
        t->way = base_grow(t->way, &t->way_capacity, t->way_count + 1, sizeof way);
    t->way[t->way_count++] = way;
}

struct literal_torus *literal_torus_new(const struct net_torus_config *config)
{
    struct literal_torus *t = base_calloc(1, sizeof *t);
    t->config = *config;
    int size[3];
    for (int i = 0; i < 3; i++)
        size[i] = config->shape.size[i];
    t->nodes = (uint32_t)(size[0] * size[1] * size[2]);
    t->node = base_calloc(t->nodes, sizeof *t->node);
    for (int z = 0; z < size[2]; z++)
        for (int y = 0; y < size[1]; y++)
            for (int x = 0; x < size[0]; x++) {
                struct literal_node *node = &t->node[(z * size[1] + y) * size[0] + x];
                int at[3] = {x, y, z};
                memcpy(node->at, at, sizeof at);
                for (int d = 0; d < 6; d++) {
                    int to[3] = {x, y, z};
                    to[d / 2] += d % 2 ? -1 : 1;
                    bool outside = to[d / 2] < 0 || to[d / 2] >= size[d / 2];
                    to[d / 2] = (to[d / 2] + size[d / 2]) % size[d / 2];
                    node->link[d].exists = !outside || config->shape.torus[d / 2];
                    node->link[d].neighbour =
                        (uint32_t)((to[2] * size[1] + to[1]) * size[0] + to[0]);
                    for (int c = 0; c < 4; c++)
                        node->link[d].tokens[c] = 32;
                }
            }
    return t;
}

void literal_torus_free(struct literal_torus *t)
{
    for (size_t i = 0; i < t->all_count; i++)
        free(t->all[i]);
    free(t->all);
    free(t->way);
    free(t->node);
    free(t);
}

/* ---- things that come ---- */

static void header_comes(struct literal_torus *t, const struct literal_way *way)
{
    struct literal_node *node = &t->node[way->node];
    struct literal_link *link = &node->link[way->port];
    if (way->corrupt || way->sequence != link->expected) return;
    link->expected++;
    way->packet->arrived = t->now;
    push(&node->source[way->port * 4 + way->channel], way->packet);
    assert(link->debt_count < 160);
    link->debts[link->debt_count++] =
        (struct literal_debt){t->now + (uint64_t)cycles_of(t, way->packet->chunks), UINT64_MAX,
                              way->channel, way->packet->chunks};
}

static void ack_comes(struct literal_link *link)
{
    assert(link->unacknowledged > 0);
    link->unacknowledged--;
    memmove(link->window, link->window + 1, (size_t)link->unacknowledged * sizeof link->window[0]);
    link->cursor -= link->cursor > 0;
}

/* Deliveries of a node in a cycle are put into FIFOs in the order of FIFO, source. */
static void deliver(struct literal_torus *t, uint32_t n)
{
    for (int fifo = 0; fifo < 14; fifo++)
        for (int source = 0; source < 24; source++)
            for (size_t i = 0; i < t->way_count; i++) {
                struct literal_way *way = &t->way[i];
                if (way->time != t->now || way->kind != WAY_DELIVERY || way->node != n ||
                    way->port != fifo || way->channel != source)
                    continue;
                way->kind = WAY_DELIVERED;
                push(&t->node[n].reception[fifo], way->packet);
                if (t->received) t->received(t->owner, n, (unsigned)fifo);
            }
}

static void things_come(struct literal_torus *t)
{
    for (size_t i = 0; i < t->way_count; i++) {
        const struct literal_way *way = &t->way[i];
        if (way->time != t->now) continue;
        struct literal_link *link = &t->node[way->node].link[way->port < 6 ? way->port : 0];
        if (way->kind == WAY_HEADER) header_comes(t, way);
        if (way->kind == WAY_TOKENS) link->tokens[way->channel] += way->count;
        if (way->kind == WAY_ACK) ack_comes(link);
        if (way->kind == WAY_DELIVERY) deliver(t, way->node);
    }
    size_t kept = 0;
    for (size_t i = 0; i < t->way_count; i++)
        if (t->way[i].time != t->now) t->way[kept++] = t->way[i];
    t->way_count = kept;
}

/* ---- reception ---- */

static int fifo_of(const struct literal_packet *packet, int receiver)
{
    return packet->group * 7 + (packet->channel == TORUS_BUBBLE_PRIORITY ? 6 : receiver);
}

static bool source_waits(const struct literal_torus *t, const struct literal_node *node, int s)
{
    if (node->source[s].count == 0 || node->source_until[s] > t->now) return false;
    return s < 24 || node->source[s].packet[0]->eligible <= t->now;
}

static bool wants_reception(const struct literal_packet *packet)
{
    return packet->hints == 0 || (packet->deposit && !packet->copied);
}

/* The debt of the packet that came at `arrived`. */
static void set_freed(struct literal_torus *t, struct literal_link *link,
                      const struct literal_packet *packet, uint64_t freed)
{
    uint64_t end = packet->arrived + (uint64_t)cycles_of(t, packet->chunks);
    for (int i = 0; i < link->debt_count; i++)
        if (link->debts[i].end == end) {
            link->debts[i].freed = freed;
            return;
        }
    assert(0);
}

static void receive(struct literal_torus *t, uint32_t n, int s)
{
    struct literal_node *node = &t->node[n];
    struct literal_packet *packet = node->source[s].packet[0];
    int fifo = fifo_of(packet, s / 4);
    node->reserved[fifo] += packet->chunks;
    uint64_t end = packet->arrived + (uint64_t)cycles_of(t, packet->chunks);
    if (packet->hints) {
        struct literal_packet *copy = packet_new(t);
        packet->copied = true;
        *copy = *packet;
        packet = copy;
    } else {
        pop(&node->source[s]);
        set_freed(t, &node->link[s / 4], packet, t->now);
    }
    packet->words[0] = (packet->words[0] & 0xFF03FFFF) | (uint32_t)packet->hints << 18;
    send(t, (struct literal_way){.time = (end > t->now ? end : t->now) +
                                         t->config.params.receive_cycles,
                                 .kind = WAY_DELIVERY,
                                 .node = n,
                                 .port = fifo,
                                 .channel = s,
                                 .packet = packet});
}

static void receive_all(struct literal_torus *t, uint32_t n)
{
    struct literal_node *node = &t->node[n];
    bool refused[14] = {false};
    for (;;) {
        int oldest = -1;
        for (int s = 0; s < 24; s++) {
            if (!source_waits(t, node, s)) continue;
            const struct literal_packet *packet = node->source[s].packet[0];
            if (!wants_reception(packet) || refused[fifo_of(packet, s / 4)]) continue;
            if (oldest < 0 || packet->arrived < node->source[oldest].packet[0]->arrived) oldest = s;
        }
        if (oldest < 0) return;
        const struct literal_packet *packet = node->source[oldest].packet[0];
        int fifo = fifo_of(packet, oldest / 4);
        if (node->reserved[fifo] + packet->chunks > 32)
            refused[fifo] = true;
        else
            receive(t, n, oldest);
    }
}

/* ---- links ---- */

static bool link_open(const struct literal_torus *t, const struct literal_link *link)
{
    return link->exists && link->busy_until <= t->now && !link->replaying &&
           link->unacknowledged < TORUS_WINDOW;
}

static int bubble_need(const struct literal_packet *packet, int s, int d, int channel)
{
    bool from_same_direction = s < 24 && s / 4 == (d ^ 1);
    bool from_same_channel = s < 24 && s % 4 == channel;
    return packet->chunks + (from_same_direction && from_same_channel ? 0 : 8);
}

static bool hinted(const struct literal_packet *packet, int d)
{
    return packet->hints & (32 >> d);
}

static int first_hinted(const struct literal_packet *packet)
{
    int d = 0;
    while (!hinted(packet, d))
        d++;
    return d;
}

/* The link and channel on which the packet at the front of source s could start now; d < 0: none.
 */
static void choose(const struct literal_torus *t, const struct literal_node *node, int s, int *d,
                   int *channel)
{
    const struct literal_packet *packet = node->source[s].packet[0];
    *d = -1;
    if (packet->channel != TORUS_BUBBLE_PRIORITY && packet->dynamic)
        for (int i = 0; i < 6; i++)
            for (int c = 0; c < 2; c++) {
                const struct literal_link *link = &node->link[i];
                if (!hinted(packet, i) || !link_open(t, link) || link->tokens[c] < packet->chunks)
                    continue;
                if (*d >= 0 && link->tokens[c] <= node->link[*d].tokens[*channel]) continue;
                *d = i;
                *channel = c;
            }
    if (*d >= 0) return;
    int first = first_hinted(packet);
    int c = packet->channel == TORUS_BUBBLE_PRIORITY ? TORUS_BUBBLE_PRIORITY : TORUS_BUBBLE_NORMAL;
    if (!link_open(t, &node->link[first])) return;
    if (node->link[first].tokens[c] < bubble_need(packet, s, first, c)) return;
    *d = first;
    *channel = c;
}

static void transmit(struct literal_torus *t, uint32_t n, int d,
                     const struct literal_unacknowledged *entry)
{
    struct literal_link *link = &t->node[n].link[d];
    int cycles = cycles_of(t, entry->packet->chunks);
    link->started = t->now;
    link->busy_until = t->now + (uint64_t)cycles;
    link->chunks = entry->packet->chunks;
    link->channel = entry->channel;
    count(link, TORUS_PACKETS);
    bool corrupt = net_torus_fault(&t->config, n, (unsigned)d, link->transmissions++,
                                   (uint64_t)(32 * entry->packet->chunks + 14) * 8);
    send(t, (struct literal_way){.time = t->now + t->config.params.hop_cycles,
                                 .sequence = entry->sequence,
                                 .kind = WAY_HEADER,
                                 .node = link->neighbour,
                                 .port = d ^ 1,
                                 .channel = entry->channel,
                                 .corrupt = corrupt,
                                 .packet = entry->packet});
}

static void replay(struct literal_torus *t, uint32_t n, int d)
{
    struct literal_link *link = &t->node[n].link[d];
    if (!link->replaying && link->unacknowledged > 0 &&
        t->now >= link->window[0].started + t->config.params.retry_cycles) {
        link->replaying = true;
        link->cursor = 0;
    }
    if (!link->replaying || link->busy_until > t->now) return;
    link->window[link->cursor].started = t->now;
    transmit(t, n, d, &link->window[link->cursor]);
    count(link, TORUS_RETRIES);
    link->cursor++;
    if (link->cursor == link->unacknowledged) {
        link->replaying = false;
        link->cursor = 0;
    }
}

static void grant(struct literal_torus *t, uint32_t n, int d, int s, int channel)
{
    struct literal_node *node = &t->node[n];
    struct literal_link *link = &node->link[d];
    struct literal_packet *packet = pop(&node->source[s]);
    uint64_t end = t->now + (uint64_t)cycles_of(t, packet->chunks);
    link->tokens[channel] -= packet->chunks;
    assert(link->tokens[channel] >= 0);
    node->source_until[s] = end;
    if (s < 24)
        set_freed(t, &node->link[s / 4], packet, packet->arrived == t->now ? t->now : end);
    else
        node->sending[s] = packet->chunks;
    int size = t->config.shape.size[d / 2];
    int next = (node->at[d / 2] + (d % 2 ? size - 1 : 1)) % size;
    if (next == packet->target[d / 2]) packet->hints &= ~(32 >> d);
    packet->copied = false;
    struct literal_unacknowledged *entry = &link->window[link->unacknowledged++];
    *entry = (struct literal_unacknowledged){packet, t->now, link->next_sequence++, channel};
    transmit(t, n, d, entry);
}

static int class_of(const struct literal_packet *packet, int s)
{
    if (packet->channel == TORUS_BUBBLE_PRIORITY) return 0;
    return s < 24 ? 1 : 2;
}

/* Which of the sources that chose link d it takes, or -1. */
static int pick(struct literal_torus *t, uint32_t n, int d, int *channel)
{
    struct literal_node *node = &t->node[n];
    struct literal_link *link = &node->link[d];
    bool chose[32] = {false}, any[3] = {false};
    int channels[32], class[32];
    for (int s = 0; s < 32; s++) {
        int chosen;
        if (!source_waits(t, node, s) || (s < 24 && wants_reception(node->source[s].packet[0])))
            continue;
        choose(t, node, s, &chosen, &channels[s]);
        if (chosen != d) continue;
        chose[s] = true;
        class[s] = class_of(node->source[s].packet[0], s);
        any[class[s]] = true;
    }
    int best = any[0] ? 0 : any[1] && !(any[2] && link->run >= 8) ? 1 : any[2] ? 2 : -1;
    if (best < 0) return -1;
    if (best == 1 && any[2]) link->run++;
    if (best == 2) link->run = 0;
    int s = link->next[best] % 32;
    while (!chose[s] || class[s] != best)
        s = (s + 1) % 32;
    link->next[best] = s + 1;
    *channel = channels[s];
    return s;
}

static void serve_links(struct literal_torus *t, uint32_t n)
{
    bool granted;
    do {
        granted = false;
        for (int d = 0; d < 6; d++) {
            int channel = 0;
            if (!link_open(t, &t->node[n].link[d])) continue;
            int s = pick(t, n, d, &channel);
            if (s < 0) continue;
            grant(t, n, d, s, channel);
            granted = true;
        }
    } while (granted);
}

/* ---- counts of a cycle ---- */

static void count_levels(struct literal_torus *t, struct literal_node *node, int d)
{
    struct literal_link *link = &node->link[d];
    bool high[4] = {false};
    for (int s = 0; s < 32 && link_open(t, link); s++) {
        if (!source_waits(t, node, s)) continue;
        const struct literal_packet *packet = node->source[s].packet[0];
        if ((s < 24 && wants_reception(packet)) || !hinted(packet, d)) continue;
        bool first = first_hinted(packet) == d;
        bool no_bubble = first && link->tokens[TORUS_BUBBLE_NORMAL] <
                                      bubble_need(packet, s, d, TORUS_BUBBLE_NORMAL);
        bool no_dynamic = link->tokens[0] < packet->chunks && link->tokens[1] < packet->chunks;
        if (packet->channel == TORUS_BUBBLE_PRIORITY) {
            high[3] |= first && link->tokens[TORUS_BUBBLE_PRIORITY] <
                                    bubble_need(packet, s, d, TORUS_BUBBLE_PRIORITY);
        } else if (packet->dynamic) {
            high[0] |= no_dynamic && (!first || no_bubble);
            high[1] |= no_dynamic;
            high[2] |= no_bubble;
        } else {
            high[0] |= no_bubble;
            high[2] |= no_bubble;
        }
    }
    for (int i = 0; i < 4; i++) {
        struct net_count *level = &link->count[TORUS_NO_TOKENS + i];
        level->occurrences += high[i] && !link->level[i];
        level->high += high[i];
        link->level[i] = high[i];
    }
}

static void count_link(struct literal_torus *t, struct literal_link *link)
{
    if (link->busy_until <= t->now) return;
    uint64_t chunk = 32 * (uint64_t)t->config.params.cycles_per_byte;
    uint64_t since = t->now - link->started;
    link->count[TORUS_BUSY].high++;
    link->count[TORUS_BUSY].occurrences += since == 0;
    if (since % chunk == 0 && since / chunk < (uint64_t)link->chunks) {
        count(link, TORUS_CHUNKS);
        count(link, TORUS_VCD0_CHUNKS + (enum net_torus_event)link->channel);
    }
}

static void pay_debts(struct literal_torus *t, uint32_t n, int d)
{
    struct literal_link *link = &t->node[n].link[d];
    for (int i = 0; i < link->debt_count; i++) {
        struct literal_debt *debt = &link->debts[i];
        struct literal_way back = {.time = t->now + t->config.params.hop_cycles,
                                   .kind = WAY_ACK,
                                   .node = link->neighbour,
                                   .port = d ^ 1};
        if (debt->end == t->now) {
            count(link, TORUS_ACKS);
            count(link, TORUS_TOKEN_ACK);
            send(t, back);
        }
        if (debt->end > t->now || debt->freed > t->now) continue;
        if (debt->freed > debt->end) count(link, TORUS_TOKEN_ACK);
        back.kind = WAY_TOKENS;
        back.channel = debt->channel;
        back.count = debt->chunks;
        send(t, back);
        memmove(debt, debt + 1, (size_t)(link->debt_count - i - 1) * sizeof *debt);
        link->debt_count--;
        i--;
    }
}

void literal_torus_begin(struct literal_torus *t)
{
    things_come(t);
    for (uint32_t n = 0; n < t->nodes; n++) {
        struct literal_node *node = &t->node[n];
        for (int s = 24; s < 32; s++)
            if (node->sending[s] && node->source_until[s] <= t->now) {
                node->held[s - 24] -= node->sending[s];
                node->sending[s] = 0;
            }
    }
}

void literal_torus_end(struct literal_torus *t)
{
    for (uint32_t n = 0; n < t->nodes; n++) {
        struct literal_node *node = &t->node[n];
        for (int d = 0; d < 6; d++)
            replay(t, n, d);
        bool empty = true;
        for (int s = 0; s < 32; s++)
            empty &= node->source[s].count == 0;
        if (!empty) {
            receive_all(t, n);
            serve_links(t, n);
        }
        for (int d = 0; d < 6; d++) {
            pay_debts(t, n, d);
            count_levels(t, node, d);
            count_link(t, &node->link[d]);
        }
    }
    t->now++;
}

void literal_torus_step(struct literal_torus *t)
{
    literal_torus_begin(t);
    literal_torus_end(t);
}

int literal_torus_inject(struct literal_torus *t, uint32_t n, unsigned fifo,
                         const uint32_t words[4], const uint8_t *payload, uint64_t serial)
{
    struct literal_node *node = &t->node[n];
    int chunks = (int)(words[0] >> 13 & 7) + 1;
    if (node->held[fifo] + chunks > 32) return CHIL_EBUSY;
    struct literal_packet *packet = packet_new(t);
    packet->serial = serial;
    packet->eligible = t->now + t->config.params.inject_cycles;
    memcpy(packet->words, words, sizeof packet->words);
    memcpy(packet->payload, payload, (size_t)chunks * 32 - 16);
    packet->chunks = chunks;
    packet->hints = (int)(words[0] >> 18 & 0x3F);
    packet->deposit = words[0] >> 17 & 1;
    packet->group = (int)(words[0] >> 16 & 1);
    packet->dynamic = words[0] >> 10 & 1;
    packet->channel = (int)(words[0] >> 8 & 3);
    packet->target[0] = (int)(words[0] & 0xFF);
    packet->target[1] = (int)(words[1] >> 24);
    packet->target[2] = (int)(words[1] >> 16 & 0xFF);
    for (int i = 0; i < 3 && (words[0] >> 18 & 0x3F) == 0; i++) {
        int from = node->at[i], to = packet->target[i], size = t->config.shape.size[i];
        int up = 0, down = 0;
        while ((from + up) % size != to)
            up++;
        while ((from - down + size) % size != to)
            down++;
        bool plus = up < down || (up == down && from % 2 == 0);
        if (!t->config.shape.torus[i]) plus = to > from;
        if (from != to) packet->hints |= 32 >> (2 * i + !plus);
    }
    node->held[fifo] += chunks;
    push(&node->source[24 + fifo], packet);
    return CHIL_OK;
}

bool literal_torus_tokens(const struct literal_torus *t)
{
    for (uint32_t n = 0; n < t->nodes; n++)
        for (int d = 0; d < 6; d++)
            for (int c = 0; c < 4; c++) {
                const struct literal_link *link = &t->node[n].link[d];
                const struct literal_link *back = &t->node[link->neighbour].link[d ^ 1];
                int tokens = link->tokens[c];
                if (!link->exists) continue;
                for (int i = 0; i < back->debt_count; i++)
                    tokens += back->debts[i].channel == c ? back->debts[i].chunks : 0;
                for (int i = 0; i < link->unacknowledged; i++)
                    if (link->window[i].sequence >= back->expected && link->window[i].channel == c)
                        tokens += link->window[i].packet->chunks;
                for (size_t i = 0; i < t->way_count; i++)
                    if (t->way[i].kind == WAY_TOKENS && t->way[i].node == n &&
                        t->way[i].port == d && t->way[i].channel == c)
                        tokens += t->way[i].count;
                if (tokens != 32) return false;
            }
    return true;
}

void literal_torus_drop(struct literal_torus *t, uint32_t n, unsigned fifo)
{
    struct literal_node *node = &t->node[n];
    struct literal_queue *queue = &node->reception[fifo];
    node->reserved[fifo] -= queue->packet[0]->chunks;
    queue->count--;
    memmove(queue->packet, queue->packet + 1, (size_t)queue->count * sizeof queue->packet[0]);
}
