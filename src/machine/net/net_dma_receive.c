/* The reception unit of the DMA engine. One packet at a time, from a torus reception FIFO or from
 * the FIFO between the units (local copies); it stays there until it was written.
 *
 * A packet that finds no room in memory, or whose reception FIFO was never set up, waits where it
 * is, and others of the same torus FIFO behind it; other torus FIFOs are served. */
#include <stdlib.h>
#include <string.h>

#include "machine/net/net_dma_node.h"

/* The packet at the front of a source. */
struct front {
    const uint32_t *words;
    const uint8_t *payload;
    unsigned chunks;
    bool foreign;
};

static bool front_of(const struct net_dma_part *part, const struct dma_node *node, unsigned source,
                     struct front *front)
{
    if (source == LOCAL_SOURCE) {
        if (!node->local) return false;
        const struct dma_packet *first = node->local->next;
        *front = (struct front){first->words, first->payload, first->chunks, false};
        return true;
    }
    const struct net_torus_packet *packet = net_torus_front(part->torus, node->node, source);
    if (!packet) return false;
    *front = (struct front){packet->words, packet->payload, packet->chunks,
                            !(packet->serial & NET_DMA_SERIAL)};
    return true;
}

static void drop(struct net_dma_part *part, struct dma_node *node, unsigned source)
{
    if (source != LOCAL_SOURCE) {
        net_torus_drop_front(part->torus, node->node, source);
        return;
    }
    struct dma_packet *first = node->local->next;
    node->local_quads -= 2u * first->chunks;
    if (first == node->local)
        node->local = NULL;
    else
        node->local->next = first->next;
    part->locals--;
    free(first);
}

/* What a packet is for. */
struct purpose {
    enum { TO_FIFO, TO_COUNTER, TO_DESCRIPTORS } kind;
    int fifo;         /* memory FIFO, or injection FIFO of a remote get; -1: none, a fault */
    unsigned counter; /* of a put */
    uint32_t offset, payload;
};

static struct purpose purpose_of(const struct dma_node *node, unsigned source,
                                 const struct front *front)
{
    struct net_torus_header h;
    struct net_torus_put put;
    struct purpose p = {.kind = TO_FIFO, .fifo = -1};
    net_torus_header_decode(front->words, &h);
    net_torus_put_decode(h.software, &put);
    if (h.direct) {
        bool get = put.flags & FLAG_REMOTE_GET;
        p.kind = get ? TO_DESCRIPTORS : TO_COUNTER;
        p.fifo = get && put.fifo < INJECTION_FIFOS && dma_fifo_is_set_up(&node->injection[put.fifo])
                     ? put.fifo
                     : -1;
        p.counter = put.counter;
        p.offset = put.offset;
        p.payload = put.payload;
        return p;
    }
    unsigned receiver = source == LOCAL_SOURCE ? 7 : source % 7;
    uint32_t map =
        node->dcr[DMA_DCR_RECEPTION_MAP + 2u * h.group + receiver / 4] >> (24 - receiver % 4 * 8) &
        0xFF;
    if (map && !(map & (map - 1)))
        p.fifo = h.group * DMA_RECEPTION_FIFOS + (int)(7 - (unsigned)__builtin_ctz(map));
    p.payload = TORUS_CHUNK * front->chunks;
    return p;
}

/* Whether the packet can be taken now. */
static bool is_accepted(const struct dma_node *node, const struct purpose *p)
{
    if (p->kind == TO_COUNTER || p->fifo < 0) return true;
    if (p->kind == TO_DESCRIPTORS) return dma_fifo_free(&node->injection[p->fifo]) >= DMA_AVAILABLE;
    return dma_bit(node->dcr[DMA_DCR_RECEPTION_ENABLE], (unsigned)p->fifo) &&
           dma_fifo_free(&node->reception[p->fifo]) >= DMA_AVAILABLE;
}

static bool is_high(unsigned source)
{
    return source != LOCAL_SOURCE && source % 7 == 6;
}

void dma_start_reception(struct net_dma_part *part, struct dma_node *node)
{
    const struct net_dma_params *params = &part->dma->params;
    uint64_t now = net_partition_now(part->partition);
    bool get_waits = false;
    struct front front;
    for (unsigned high = 2; high-- > 0;)
        for (unsigned i = 0; i < SOURCES_RECEIVED; i++) {
            unsigned source = (node->next_source[high] + i) % SOURCES_RECEIVED;
            if (is_high(source) != high || !front_of(part, node, source, &front)) continue;
            struct purpose p = purpose_of(node, source, &front);
            if (!is_accepted(node, &p)) {
                get_waits |= p.kind == TO_DESCRIPTORS;
                continue;
            }
            node->receiving = true;
            node->source = (uint8_t)source;
            if (node->writing_end != now || !node->writing_rises) node->writing_rises++;
            node->writing_since = now;
            uint64_t cycles = params->write_cycles +
                              (uint64_t)params->quad_cycles * ((p.payload + QUAD - 1) / QUAD);
            net_partition_send(part->partition, &(struct net_event){.time = now + cycles,
                                                                    .node = node->node,
                                                                    .unit = part->unit,
                                                                    .kind = DMA_RECEPTION_END});
            return;
        }
    if (get_waits && !node->get_waits) dma_interrupt(part, node, DMA_IRQ_GET_FULL);
    node->get_waits = get_waits;
}

/* ---- what is written ---- */

static void write_lines(struct net_dma_part *part, struct dma_node *node, uint64_t address,
                        uint32_t size)
{
    node->pulses[DMA_WRITES] += dma_traffic(part, node, address, size, true);
    node->totals.written_bytes += size;
}

/* Appends to a FIFO in memory. */
static bool append(struct net_dma_part *part, struct dma_node *node, struct dma_fifo *fifo,
                   uint8_t *bytes, uint32_t size)
{
    uint32_t tail = fifo->word[3], first = (fifo->word[1] - tail) * QUAD;
    if (!dma_fifo_copy(part, node, fifo, tail, bytes, size, true)) return false;
    if (first > size) first = size;
    write_lines(part, node, (uint64_t)tail * QUAD, first);
    write_lines(part, node, (uint64_t)fifo->word[0] * QUAD, size - first);
    fifo->word[3] = dma_fifo_step(fifo, tail, size / QUAD);
    return true;
}

static const char *take_fifo_packet(struct net_dma_part *part, struct dma_node *node,
                                    const struct front *front, const struct purpose *p)
{
    uint8_t bytes[TORUS_CHUNK * TORUS_CHUNKS_MAX];
    node->pulses[DMA_FIFO_PACKETS]++;
    if (p->fifo < 0) return "its place in the reception map has not one bit";
    struct dma_fifo *fifo = &node->reception[p->fifo];
    for (unsigned i = 0; i < TORUS_HEADER; i++)
        bytes[i] = (uint8_t)(front->words[i / 4] >> (24 - i % 4 * 8));
    memset(bytes + TORUS_HEADER, 0, sizeof bytes - TORUS_HEADER);
    if (front->payload)
        memcpy(bytes + TORUS_HEADER, front->payload, TORUS_CHUNK * front->chunks - TORUS_HEADER);
    if (!append(part, node, fifo, bytes, TORUS_CHUNK * front->chunks))
        return "no memory is at the tail of its reception FIFO";
    unsigned type = dma_bit(node->dcr[DMA_DCR_TYPE], (unsigned)p->fifo);
    uint32_t bit = UINT32_C(0x80000000) >> p->fifo;
    if (dma_fifo_free(fifo) < node->dcr[DMA_DCR_THRESHOLDS + type] &&
        !(node->reception_crossed & bit)) {
        node->reception_crossed |= bit;
        dma_interrupt(part, node, DMA_IRQ_RECEPTION_THRESHOLD + type);
    }
    return NULL;
}

static const char *take_put(struct net_dma_part *part, struct dma_node *node,
                            const struct front *front, const struct purpose *p)
{
    const struct dma_counter *counter = &node->reception_counter[p->counter];
    uint64_t address = (uint64_t)counter->base * QUAD + p->offset;
    node->pulses[DMA_PUT_PACKETS]++;
    if (!dma_bit(node->reception_enabled[p->counter / 32], p->counter % 32))
        return "its reception counter is not enabled";
    if (p->payload > TORUS_CHUNK * front->chunks - TORUS_HEADER)
        return "it says that it has more payload than it can have";
    if (address + p->payload > ((uint64_t)counter->maximum + 1) * QUAD)
        return "it ends above its counter's maximum";
    if (p->payload &&
        !part->owner.write(part->owner.self, node->node, address, front->payload, p->payload))
        return "no memory is where it should go";
    write_lines(part, node, address, p->payload);
    node->totals.put_bytes += p->payload;
    dma_count_down(part, node, p->counter, p->payload, true);
    return NULL;
}

static const char *take_get(struct net_dma_part *part, struct dma_node *node,
                            const struct front *front, const struct purpose *p)
{
    uint8_t bytes[DMA_DESCRIPTORS_MAX * DMA_DESCRIPTOR];
    node->pulses[DMA_GET_PACKETS]++;
    if (p->fifo < 0) return "its injection FIFO was never set up";
    if (!p->payload || p->payload % DMA_DESCRIPTOR || p->payload > sizeof bytes ||
        p->payload > TORUS_CHUNK * front->chunks - TORUS_HEADER)
        return "a remote get has 1 to 7 descriptors of 32 bytes";
    struct dma_fifo *fifo = &node->injection[p->fifo];
    unsigned group = (unsigned)p->fifo / DMA_INJECTION_FIFOS;
    memcpy(bytes, front->payload, p->payload);
    if (!append(part, node, fifo, bytes, p->payload))
        return "no memory is at the tail of its injection FIFO";
    node->totals.got_descriptors += p->payload / DMA_DESCRIPTOR;
    uint32_t bit = UINT32_C(0x80000000) >> p->fifo % DMA_INJECTION_FIFOS;
    if (dma_fifo_free(fifo) < node->dcr[DMA_DCR_GET_THRESHOLD] &&
        !(node->got_crossed[group] & bit)) {
        node->got_crossed[group] |= bit;
        dma_interrupt(part, node, DMA_IRQ_INJECTION_THRESHOLD + group);
    }
    return NULL;
}

void dma_end_reception(struct net_dma_part *part, struct dma_node *node)
{
    static const char *(*const take[])(struct net_dma_part *, struct dma_node *,
                                       const struct front *, const struct purpose *) = {
        take_fifo_packet, take_put, take_get};
    uint64_t now = net_partition_now(part->partition);
    unsigned source = node->source;
    struct front front;
    node->receiving = false;
    node->writing_cycles += now - node->writing_since;
    node->writing_end = now;
    node->next_source[is_high(source)] = (uint8_t)((source + 1) % SOURCES_RECEIVED);
    if (!front_of(part, node, source, &front)) return; /* a core has read it */
    struct purpose p = purpose_of(node, source, &front);
    if (!is_accepted(node, &p)) return; /* a core has changed the FIFO */
    node->totals.foreign += front.foreign;
    const char *why = take[p.kind](part, node, &front, &p);
    if (why) {
        node->totals.dropped++;
        dma_fault(part, node, p.kind == TO_COUNTER ? DMA_IRQ_COUNTER_ERROR : DMA_IRQ_WRITE_ERROR,
                  "a packet with header %08x %08x %08x %08x was dropped: %s", front.words[0],
                  front.words[1], front.words[2], front.words[3], why);
    }
    drop(part, node, source);
    dma_changed(part, node);
}
