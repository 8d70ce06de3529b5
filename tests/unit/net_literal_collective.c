#include "net_literal_collective.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { RIGHT = 3 }; /* the local side */

static void pulse(struct tree_node *node, int event)
{
    node->count[event].occurrences++;
    node->count[event].high += 2;
}

static void push(struct tree_queue *queue, struct tree_packet *packet)
{
    assert(queue->count < 16);
    queue->packet[queue->count++] = packet;
}

static struct tree_packet *pop(struct tree_queue *queue)
{
    struct tree_packet *packet = queue->packet[0];
    queue->count--;
    memmove(queue->packet, queue->packet + 1, (size_t)queue->count * sizeof packet);
    return packet;
}

static struct tree_packet *packet_new(struct literal_collective *t)
{
    if (t->all_count == t->all_capacity)
        t->all = base_grow(t->all, &t->all_capacity, t->all_count + 1, sizeof(void *));
    return t->all[t->all_count++] = base_calloc(1, sizeof(struct tree_packet));
}

static void send(struct literal_collective *t, struct tree_way way)
{
    assert(way.time > t->now);
    if (t->way_count == t->way_capacity)
        t->way = base_grow(t->way, &t->way_capacity, t->way_count + 1, sizeof way);
    t->way[t->way_count++] = way;
}

struct literal_collective *literal_collective_new(const struct net_collective_config *config)
{
    struct literal_collective *t = base_calloc(1, sizeof *t);
    t->config = *config;
    t->node = base_calloc(config->nodes, sizeof *t->node);
    for (uint32_t n = 0; n < config->nodes; n++) {
        struct tree_node *node = &t->node[n];
        node->address = n;
        for (int s = 0; s < 4; s++)
            node->since[s][0] = node->since[s][1] = NET_NEVER;
        uint32_t to[3] = {n ? (n - 1) / 2 : UINT32_MAX, 2 * n + 1, 2 * n + 2};
        int back[3] = {n % 2 ? 1 : 2, 0, 0};
        uint16_t route = 0x0002;
        for (int l = 0; l < 3; l++) {
            node->link[l].exists = to[l] < config->nodes;
            node->link[l].neighbour = to[l];
            node->link[l].back = back[l];
            node->link[l].places[0] = node->link[l].places[1] = 4;
            if (!node->link[l].exists) continue;
            if (l > 0) route |= (uint16_t)(0x1000 << l);
            if (l == 0 || n == 0) route |= (uint16_t)(0x0100 << l);
        }
        if (n == 0) route |= 0x0001;
        for (int c = 0; c < 16; c++)
            node->route[c] = route;
    }
    return t;
}

void literal_collective_free(struct literal_collective *t)
{
    for (size_t i = 0; i < t->all_count; i++)
        free(t->all[i]);
    free(t->all);
    free(t->way);
    free(t->node);
    free(t);
}

/* ---- things that come ---- */

static void header_comes(struct literal_collective *t, const struct tree_way *way)
{
    struct tree_node *node = &t->node[way->node];
    struct tree_link *link = &node->link[way->link];
    struct tree_way end = *way;
    end.time = t->now + t->config.params.packet_cycles;
    end.kind = TREE_END;
    end.in_sequence = way->sequence == link->expected;
    end.packet = NULL;
    if (end.in_sequence && !way->corrupt) {
        link->expected++;
        struct tree_packet *packet = packet_new(t);
        *packet = *way->packet;
        packet->arrived = t->now;
        push(&node->in[way->link][way->vc], packet);
        end.packet = packet;
    }
    send(t, end);
}

static void end_comes(struct literal_collective *t, const struct tree_way *way)
{
    struct tree_node *node = &t->node[way->node];
    struct tree_link *link = &node->link[way->link];
    struct tree_way answer = {.time = t->now + t->config.params.hop_cycles,
                              .sequence = way->sequence,
                              .kind = TREE_ACK,
                              .node = link->neighbour,
                              .link = link->back};
    if (way->packet) {
        pulse(node, COLLECTIVE_RECEIVED + 2 * way->link + way->vc);
        link->resync = false;
        link->debts[link->debt_count++] = (struct tree_debt){t->now, way->vc};
        assert(link->debt_count < 64);
        send(t, answer);
        return;
    }
    pulse(node, (way->corrupt ? COLLECTIVE_CRC_ERROR : COLLECTIVE_UNEXPECTED) + way->link);
    if (!way->in_sequence) return;
    link->resync = true;
    answer.kind = TREE_NACK;
    send(t, answer);
}

static void delivery_comes(struct literal_collective *t, const struct tree_way *way)
{
    struct tree_node *node = &t->node[way->node];
    if (way->corrupt) { /* to be discarded */
        pulse(node, COLLECTIVE_RECEPTION_DISCARDED + way->vc);
        return;
    }
    pulse(node, COLLECTIVE_RECEPTION_PACKETS + way->vc);
    node->reception[way->vc].coming--;
    push(&node->reception[way->vc].queue, way->packet);
    t->received(t->owner, way->node, (unsigned)way->vc);
}

static void acknowledged(struct tree_link *link, const struct tree_way *way)
{
    assert(link->window_count && link->window[0].sequence == way->sequence);
    if (way->kind == TREE_NACK) {
        link->cursor = 0;
        return;
    }
    link->window_count--;
    link->cursor--;
    memmove(link->window, link->window + 1, (size_t)link->window_count * sizeof link->window[0]);
}

static void comes(struct literal_collective *t, const struct tree_way *way)
{
    struct tree_node *node = &t->node[way->node];
    switch (way->kind) {
    case TREE_HEADER: header_comes(t, way); break;
    case TREE_END: end_comes(t, way); break;
    case TREE_ACK:
    case TREE_NACK: acknowledged(&node->link[way->link], way); break;
    case TREE_PLACE: node->link[way->link].places[way->vc]++; break;
    case TREE_EMPTY: pulse(node, COLLECTIVE_RECEIVED_EMPTY + 2 * way->link + way->vc); break;
    case TREE_IDLE: pulse(node, COLLECTIVE_RECEIVED_IDLE + way->link); break;
    case TREE_DELIVERY: delivery_comes(t, way); break;
    }
}

static void things_come(struct literal_collective *t)
{
    size_t kept = 0, count = t->way_count;
    struct tree_way *now = base_calloc(count + 1, sizeof *now);
    size_t now_count = 0;
    for (size_t i = 0; i < count; i++)
        if (t->way[i].time == t->now)
            now[now_count++] = t->way[i];
        else
            t->way[kept++] = t->way[i];
    t->way_count = kept;
    for (size_t i = 0; i < now_count; i++)
        comes(t, &now[i]);
    free(now);
}

/* ---- the arbiter ---- */

static bool is_source(const struct tree_node *node, int class, int side)
{
    static const uint16_t bit[4] = {0x1000, 0x2000, 0x4000, 0x0002};
    return node->route[class] & bit[side] && (side == RIGHT || node->link[side].exists);
}

static bool is_target(const struct tree_node *node, int class, int side)
{
    static const uint16_t bit[4] = {0x0100, 0x0200, 0x0400, 0x0001};
    return node->route[class] & bit[side] && (side == RIGHT || node->link[side].exists);
}

static int class_of(uint32_t header)
{
    return (int)(header >> 28);
}

static bool point_to_point(uint32_t header)
{
    return header & 0x08000000;
}

static int op_of(uint32_t header)
{
    return point_to_point(header) ? 0 : (int)(header >> 23 & 7);
}

static bool bad(uint32_t header)
{
    return op_of(header) == 4 || op_of(header) == 7;
}

/* The move that takes the head of an input now, or NULL. */
static struct tree_move *move_of(struct tree_node *node, int side, int vc)
{
    for (int i = 0; i < 16; i++)
        if (node->move[i].active && node->move_vc[i] == vc && node->move[i].source[side])
            return &node->move[i];
    return NULL;
}

/* The packet at an input that could be moved; its header in *header. */
static bool head(const struct literal_collective *t, struct tree_node *node, int side, int vc,
                 uint32_t *header)
{
    if (move_of(node, side, vc)) return false;
    if (side != RIGHT) {
        if (!node->in[side][vc].count) return false;
        *header = node->in[side][vc].packet[0]->header;
        return true;
    }
    const struct tree_injection *in = &node->injection[vc];
    if (!in->packets || in->visible[0] > t->now) return false;
    *header = in->header[0];
    return true;
}

/* Whether the head of an input is ready to be moved, and with which other ones. */
static bool ready(const struct literal_collective *t, struct tree_node *node, int side, int vc,
                  bool with[4])
{
    uint32_t header, other;
    memset(with, 0, 4 * sizeof with[0]);
    if (!head(t, node, side, vc, &header)) return false;
    with[side] = true;
    if (op_of(header) == 0 || bad(header) || !is_source(node, class_of(header), side)) return true;
    for (int s = 0; s < 4; s++) {
        if (!is_source(node, class_of(header), s)) continue;
        with[s] = true;
        if (!head(t, node, s, vc, &other) || class_of(other) != class_of(header) ||
            op_of(other) == 0 || bad(other))
            return false;
    }
    return true;
}

static void add_words(uint8_t *into, const uint8_t *from, int words)
{
    unsigned carry = 0;
    for (int w = words - 1; w >= 0; w--) {
        unsigned a = (unsigned)into[2 * w] << 8 | into[2 * w + 1];
        unsigned b = (unsigned)from[2 * w] << 8 | from[2 * w + 1];
        unsigned sum = a + b + carry;
        into[2 * w] = (uint8_t)(sum >> 8);
        into[2 * w + 1] = (uint8_t)sum;
        carry = sum >> 16;
    }
}

static void combine(uint32_t header, uint8_t *into, const uint8_t *from)
{
    int words = (int)(header >> 16 & 0x7F) + 1, op = op_of(header);
    for (int w = 0; w < 128; w += words) {
        int n = w + words <= 128 ? words : 128 - w;
        uint8_t *a = into + 2 * (size_t)w;
        const uint8_t *b = from + 2 * (size_t)w;
        bool less = false, decided = false;
        if (op == 6) add_words(a, b, n);
        for (int i = 0; i < 2 * n; i++) {
            if (op == 1) a[i] = (uint8_t)(a[i] | b[i]);
            if (op == 2) a[i] = (uint8_t)(a[i] & b[i]);
            if (op == 3) a[i] = (uint8_t)(a[i] ^ b[i]);
            if (!decided && a[i] != b[i]) {
                less = a[i] < b[i];
                decided = true;
            }
        }
        for (int i = 0; i < 2 * n && op == 5 && less; i++)
            a[i] = b[i];
    }
}

struct need {
    bool source[4], target[4], alu;
};

static bool taken(struct tree_node *node, const struct need *need)
{
    for (int i = 0; i < 16; i++) {
        const struct tree_move *m = &node->move[i];
        if (!m->active) continue;
        if (m->alu && need->alu) return true;
        for (int s = 0; s < 4; s++)
            if ((m->source[s] && need->source[s]) || (m->target[s] && need->target[s])) return true;
    }
    return false;
}

static bool overlap(const struct need *a, const struct need *b)
{
    for (int s = 0; s < 4; s++)
        if ((a->source[s] && b->source[s]) || (a->target[s] && b->target[s])) return true;
    return a->alu && b->alu;
}

static struct tree_packet *take(struct literal_collective *t, struct tree_node *node, int side,
                                int vc)
{
    if (side != RIGHT) {
        struct tree_packet *packet = node->in[side][vc].packet[0]; /* stays until the move's end */
        if (t->now < packet->arrived + t->config.params.packet_cycles)
            pulse(node, COLLECTIVE_RECEIVER_CUT + 2 * side + vc);
        return packet;
    }
    struct tree_packet *packet = packet_new(t);
    packet->header = node->injection[vc].header[0];
    packet->serial = node->injection[vc].serial[0];
    memcpy(packet->payload, node->injection[vc].quad, 256);
    return packet;
}

static bool filtered(const struct tree_node *node, uint32_t header)
{
    return point_to_point(header) && !node->receive_all &&
           (header >> 2 & 0xFFFFFF) != node->address;
}

static bool room(const struct tree_node *node, const struct need *need, int vc, uint32_t header)
{
    for (int l = 0; l < 3; l++) {
        int held = node->link[l].out[vc].count;
        for (int i = 0; i < node->link[l].window_count; i++)
            held += node->link[l].window[i].vc == vc;
        if (need->target[l] && held >= 4) return false;
    }
    const struct tree_reception *r = &node->reception[vc];
    return !need->target[RIGHT] || filtered(node, header) || r->queue.count + r->coming < 8;
}

static void start(struct literal_collective *t, uint32_t n, const struct need *need, int vc)
{
    struct tree_node *node = &t->node[n];
    struct tree_packet *result = packet_new(t);
    bool first = true;
    for (int s = 0; s < 4; s++) {
        if (!need->source[s]) continue;
        const struct tree_packet *packet = take(t, node, s, vc);
        if (first)
            *result = *packet;
        else
            combine(result->header, result->payload, packet->payload);
        first = false;
    }
    pulse(node, COLLECTIVE_WINS + class_of(result->header));
    result->arrived = t->now + (need->alu ? t->config.params.alu_cycles : 0);
    for (int s = 0; s < 4; s++) {
        if (!need->target[s]) continue;
        struct tree_packet *copy = packet_new(t);
        *copy = *result;
        if (s != RIGHT) {
            push(&node->link[s].out[vc], copy);
            continue;
        }
        bool drop = filtered(node, copy->header);
        if (!drop) node->reception[vc].coming++;
        send(t, (struct tree_way){.time = copy->arrived + t->config.params.packet_cycles +
                                          t->config.params.receive_cycles,
                                  .kind = TREE_DELIVERY,
                                  .node = n,
                                  .vc = vc,
                                  .corrupt = drop,
                                  .packet = copy});
    }
    int i = 0;
    while (node->move[i].active)
        i++;
    node->move_vc[i] = vc;
    node->move[i].active = true;
    node->move[i].end = t->now + t->config.params.packet_cycles;
    node->move[i].alu = need->alu;
    memcpy(node->move[i].source, need->source, sizeof need->source);
    memcpy(node->move[i].target, need->target, sizeof need->target);
}

struct wish {
    int side, vc;
    struct need need;
    uint32_t header;
    bool done;
};

/* Requests that wait are in `wishes` afterwards. */
static void arbitrate(struct literal_collective *t, uint32_t n, bool mature[4][2], bool *waiting,
                      bool *aged)
{
    struct tree_node *node = &t->node[n];
    struct wish wish[8];
    struct need reserved[8];
    int count = 0, reservations = 0;
    for (int side = 0; side < 4; side++)
        for (int vc = 0; vc < 2; vc++) {
            struct need need = {0};
            bool is_ready = ready(t, node, side, vc, need.source);
            int lowest = 0, packets = 0;
            while (lowest < 3 && !need.source[lowest])
                lowest++;
            for (int s = 0; s < 4; s++)
                packets += need.source[s];
            if (!is_ready || lowest != side) {
                node->since[side][vc] = NET_NEVER;
                continue;
            }
            if (node->since[side][vc] == NET_NEVER) node->since[side][vc] = t->now;
            uint32_t header = 0;
            (void)head(t, node, side, vc, &header);
            for (int s = 0; s < 4; s++) {
                int class = class_of(header);
                mature[s][vc] |= need.source[s];
                if (bad(header)) continue;
                if (is_source(node, class, side))
                    need.target[s] = is_target(node, class, s);
                else if (is_target(node, class, side))
                    need.target[s] = is_source(node, class, s);
            }
            need.alu = packets > 1;
            wish[count++] = (struct wish){side, vc, need, header, false};
        }
    for (int k = 0; k < count; k++) {
        struct wish *oldest = NULL;
        for (int i = 0; i < count; i++)
            if (!wish[i].done && (!oldest || node->since[wish[i].side][wish[i].vc] <
                                                 node->since[oldest->side][oldest->vc]))
                oldest = &wish[i];
        oldest->done = true;
        bool stopped =
            taken(node, &oldest->need) || !room(node, &oldest->need, oldest->vc, oldest->header);
        for (int i = 0; i < reservations; i++)
            stopped |= overlap(&reserved[i], &oldest->need);
        uint64_t *since = &node->since[oldest->side][oldest->vc];
        if (!stopped) {
            start(t, n, &oldest->need, oldest->vc);
            *since = NET_NEVER;
            continue;
        }
        *waiting = true;
        if (t->now - *since < t->config.params.greedy_cycles) continue;
        *aged = true;
        if (room(node, &oldest->need, oldest->vc, oldest->header))
            reserved[reservations++] = oldest->need;
    }
}

static void end_moves(struct literal_collective *t, uint32_t n)
{
    struct tree_node *node = &t->node[n];
    for (int i = 0; i < 16; i++) {
        struct tree_move *move = &node->move[i];
        int vc = node->move_vc[i];
        if (!move->active || move->end != t->now) continue;
        move->active = false;
        for (int l = 0; l < 3; l++) {
            if (!move->source[l]) continue;
            (void)pop(&node->in[l][vc]);
            pulse(node, COLLECTIVE_TAKEN + l);
            send(t, (struct tree_way){.time = t->now + t->config.params.hop_cycles,
                                      .kind = TREE_PLACE,
                                      .node = node->link[l].neighbour,
                                      .link = node->link[l].back,
                                      .vc = vc});
        }
        if (!move->source[RIGHT]) continue;
        struct tree_injection *in = &node->injection[vc];
        pulse(node, COLLECTIVE_TAKEN_LOCAL);
        pulse(node, COLLECTIVE_INJECT_TAKEN + vc);
        in->headers--;
        in->quads -= 16;
        in->packets--;
        memmove(in->header, in->header + 1, sizeof in->header - sizeof in->header[0]);
        memmove(in->serial, in->serial + 1, sizeof in->serial - sizeof in->serial[0]);
        memmove(in->visible, in->visible + 1, sizeof in->visible - sizeof in->visible[0]);
        memmove(in->quad, in->quad + 16, sizeof in->quad - 16 * sizeof in->quad[0]);
        t->injected(t->owner, n, (unsigned)vc);
    }
}

/* ---- links ---- */

static void transmit(struct literal_collective *t, uint32_t n, int l, const struct tree_sent *sent)
{
    struct tree_node *node = &t->node[n];
    struct tree_link *link = &node->link[l];
    link->busy_until = t->now + t->config.params.packet_cycles;
    link->last_start = t->now;
    link->ever_started = true;
    pulse(node, COLLECTIVE_SENT + 2 * l + sent->vc);
    pulse(node, COLLECTIVE_SENT_DATA + 2 * l + sent->vc);
    send(t, (struct tree_way){
                .time = t->now + t->config.params.hop_cycles,
                .sequence = sent->sequence,
                .kind = TREE_HEADER,
                .node = link->neighbour,
                .link = link->back,
                .vc = sent->vc,
                .corrupt = net_collective_fault(&t->config, n, (unsigned)l, link->transmissions),
                .packet = sent->packet});
    link->transmissions++;
}

static void serve_link(struct literal_collective *t, uint32_t n, int l)
{
    struct tree_node *node = &t->node[n];
    struct tree_link *link = &node->link[l];
    if (link->busy_until > t->now) return;
    if (link->cursor < link->window_count) {
        pulse(node, COLLECTIVE_RESENDS + l);
        transmit(t, n, l, &link->window[link->cursor++]);
        return;
    }
    for (int i = 0; i < 2; i++) {
        int vc = (link->next_vc + i) % 2;
        struct tree_queue *out = &link->out[vc];
        if (!out->count || out->packet[0]->arrived > t->now || !link->places[vc]) continue;
        struct tree_packet *packet = pop(out);
        if (t->now < packet->arrived + t->config.params.packet_cycles)
            pulse(node, COLLECTIVE_SENDER_CUT + 2 * l + vc);
        link->places[vc]--;
        link->next_vc = !vc;
        struct tree_sent *sent = &link->window[link->window_count++];
        *sent = (struct tree_sent){packet, link->next_sequence++, vc};
        link->cursor = link->window_count;
        transmit(t, n, l, sent);
        return;
    }
}

static void answer(struct literal_collective *t, struct tree_node *node, int l)
{
    struct tree_link *link = &node->link[l];
    while (link->debt_count && link->debts[0].end + t->config.params.empty_cycles == t->now) {
        struct tree_debt debt = link->debts[0];
        link->debt_count--;
        memmove(link->debts, link->debts + 1, (size_t)link->debt_count * sizeof debt);
        if (link->ever_started && link->last_start >= debt.end) continue;
        pulse(node, COLLECTIVE_SENT + 2 * l + debt.vc);
        send(t, (struct tree_way){.time = t->now + t->config.params.hop_cycles,
                                  .kind = TREE_EMPTY,
                                  .node = link->neighbour,
                                  .link = link->back,
                                  .vc = debt.vc});
    }
}

static void idle(struct literal_collective *t, struct tree_node *node, int l)
{
    struct tree_link *link = &node->link[l];
    uint64_t since = link->busy_until;
    if (since >= t->now || (t->now - since) % t->config.params.idle_cycles) return;
    pulse(node, COLLECTIVE_SENT_IDLE + l);
    send(t, (struct tree_way){.time = t->now + t->config.params.hop_cycles,
                              .kind = TREE_IDLE,
                              .node = link->neighbour,
                              .link = link->back});
}

/* ---- counts of a cycle ---- */

static void level(struct tree_node *node, int event, bool high)
{
    node->count[event].occurrences += high && !node->level[event];
    node->count[event].high += high;
    node->level[event] = high;
}

static void count_parts(struct tree_node *node)
{
    bool source[4] = {false}, target[4] = {false}, alu = false;
    for (int i = 0; i < 16; i++)
        for (int s = 0; s < 4 && node->move[i].active; s++) {
            source[s] |= node->move[i].source[s];
            target[s] |= node->move[i].target[s];
            alu |= node->move[i].alu;
        }
    for (int l = 0; l < 3; l++) {
        level(node, COLLECTIVE_RECEIVER_BUSY + l, source[l]);
        level(node, COLLECTIVE_SENDER_BUSY + l, target[l]);
    }
    level(node, COLLECTIVE_INJECT_BUSY, source[RIGHT]);
    level(node, COLLECTIVE_RECEPTION_BUSY, target[RIGHT]);
    level(node, COLLECTIVE_ALU_BUSY, alu);
}

static void count_links(struct tree_node *node)
{
    for (int l = 0; l < 3; l++) {
        const struct tree_link *link = &node->link[l];
        if (!link->exists) continue;
        level(node, COLLECTIVE_RESYNC + l, link->resync);
        for (int vc = 0; vc < 2; vc++) {
            int held = link->out[vc].count;
            for (int i = 0; i < link->window_count; i++)
                held += link->window[i].vc == vc;
            level(node, COLLECTIVE_SENDER_EMPTY + 2 * l + vc, held == 0);
            level(node, COLLECTIVE_RECEIVER_FULL + 2 * l + vc, node->in[l][vc].count == 4);
        }
    }
}

void literal_collective_step(struct literal_collective *t)
{
    things_come(t);
    for (uint32_t n = 0; n < t->config.nodes; n++) {
        struct tree_node *node = &t->node[n];
        bool mature[4][2] = {{false}}, waiting = false, aged = false, pending = false;
        for (int l = 0; l < 3; l++)
            answer(t, node, l);
        end_moves(t, n);
        arbitrate(t, n, mature, &waiting, &aged);
        for (int l = 0; l < 3; l++) {
            if (!node->link[l].exists) continue;
            serve_link(t, n, l);
            idle(t, node, l);
        }
        for (int s = 0; s < 4; s++)
            for (int vc = 0; vc < 2; vc++) {
                uint32_t header;
                bool moving = move_of(node, s, vc) != NULL;
                bool have = moving || head(t, node, s, vc, &header);
                pending |= have;
                level(node, COLLECTIVE_HAVE + 2 * s + vc, have);
                level(node, COLLECTIVE_MATURE + 2 * s + vc, moving || mature[s][vc]);
            }
        level(node, COLLECTIVE_PENDING, pending);
        level(node, COLLECTIVE_WAITING, waiting);
        level(node, COLLECTIVE_GREEDY, pending && !aged);
        count_parts(node);
        count_links(node);
    }
    t->now++;
}

/* ---- FIFOs ---- */

static void written(struct literal_collective *t, struct tree_injection *in)
{
    if (in->packets < in->headers && in->packets < in->quads / 16)
        in->visible[in->packets++] = t->now + t->config.params.inject_cycles;
}

bool literal_collective_no_way(const struct literal_collective *t, uint32_t n, uint32_t header)
{
    const struct tree_node *node = &t->node[n];
    int class = class_of(header);
    bool way = false;
    for (int s = 0; s < 4; s++)
        way |= (is_source(node, class, RIGHT) && is_target(node, class, s)) ||
               (!is_source(node, class, RIGHT) && is_target(node, class, RIGHT) &&
                is_source(node, class, s));
    return bad(header) || !way;
}

int literal_collective_store_header(struct literal_collective *t, uint32_t n, unsigned vc,
                                    uint32_t header, uint64_t serial)
{
    struct tree_node *node = &t->node[n];
    struct tree_injection *in = &node->injection[vc];
    if (in->headers == 8) return CHIL_EBUSY;
    in->header[in->headers] = header;
    in->serial[in->headers++] = serial;
    pulse(node, COLLECTIVE_INJECT_HEADERS + (int)vc);
    written(t, in);
    return literal_collective_no_way(t, n, header) ? CHIL_EINVAL : CHIL_OK;
}

int literal_collective_store_data(struct literal_collective *t, uint32_t n, unsigned vc,
                                  const uint8_t quad[16])
{
    struct tree_injection *in = &t->node[n].injection[vc];
    if (in->quads == 128) return CHIL_EBUSY;
    memcpy(in->quad[in->quads++], quad, 16);
    pulse(&t->node[n], COLLECTIVE_INJECT_PAYLOAD + (int)vc);
    written(t, in);
    return CHIL_OK;
}

static void read(struct tree_reception *r)
{
    if (!r->headers_read || r->quads_read < 16) return;
    r->headers_read--;
    r->quads_read -= 16;
    (void)pop(&r->queue);
}

int literal_collective_load_header(struct literal_collective *t, uint32_t n, unsigned vc,
                                   uint32_t *header)
{
    struct tree_reception *r = &t->node[n].reception[vc];
    *header = 0;
    if (r->headers_read == r->queue.count) return CHIL_EORDER;
    *header = r->queue.packet[r->headers_read++]->header;
    pulse(&t->node[n], COLLECTIVE_RECEPTION_HEADERS + (int)vc);
    read(r);
    return CHIL_OK;
}

int literal_collective_load_data(struct literal_collective *t, uint32_t n, unsigned vc,
                                 uint8_t quad[16])
{
    struct tree_reception *r = &t->node[n].reception[vc];
    memset(quad, 0, 16);
    if (r->quads_read == 16 * r->queue.count) return CHIL_EORDER;
    memcpy(quad, r->queue.packet[r->quads_read / 16]->payload + 16 * (r->quads_read % 16), 16);
    r->quads_read++;
    pulse(&t->node[n], COLLECTIVE_RECEPTION_PAYLOAD + (int)vc);
    read(r);
    return CHIL_OK;
}

uint32_t literal_collective_status(const struct literal_collective *t, uint32_t n, unsigned vc)
{
    const struct tree_injection *in = &t->node[n].injection[vc];
    const struct tree_reception *r = &t->node[n].reception[vc];
    return (uint32_t)in->quads << 24 | (uint32_t)in->headers << 16 |
           (uint32_t)(16 * r->queue.count - r->quads_read) << 8 |
           (uint32_t)(r->queue.count - r->headers_read);
}
