/* Events of the DMA engine and the laws between them. */
#include "machine/net/net_dma_node.h"

enum { PULSE, LEVEL };

const struct net_dma_event_row net_dma_event_rows[DMA_EVENTS] = {
#define ROW(id, name, bgp, kind) [DMA_##id] = {name, bgp, (kind) == LEVEL},
    NET_DMA_EVENTS(ROW)
#undef ROW
};

struct net_count net_dma_count(const struct net_dma_part *part, uint32_t number,
                               enum net_dma_event event)
{
    const struct dma_node *node = part->dma->nodes[number];
    if (!node) return (struct net_count){0};
    if (event != DMA_WRITING)
        return (struct net_count){node->pulses[event], 2 * node->pulses[event]};
    uint64_t now = net_partition_now(part->partition);
    return (struct net_count){node->writing_rises,
                              node->writing_cycles +
                                  (node->receiving ? now - node->writing_since : 0)};
}

static uint64_t left_in(const struct net_dma_part *part, const struct dma_node *node)
{
    uint64_t left = (node->state != DMA_IS_IDLE) + node->receiving;
    struct net_torus_header h;
    for (unsigned i = 0; i < INJECTION_FIFOS; i++)
        left += node->message[i].active;
    for (const struct dma_packet *p = node->local ? node->local->next : NULL; p;
         p = p == node->local ? NULL : p->next)
        left++;
    for (unsigned fifo = 0; fifo < TORUS_RECEPTION_FIFOS; fifo++) {
        const struct net_torus_packet *front = net_torus_front(part->torus, node->node, fifo);
        for (const struct net_torus_packet *p = front; p; p = p->next == front ? NULL : p->next) {
            net_torus_header_decode(p->words, &h);
            left += h.direct || p->serial & NET_DMA_SERIAL;
        }
    }
    return left;
}

void net_dma_add_totals(const struct net_dma_part *part, struct net_dma_totals *totals)
{
    totals->write_cycles = part->dma->params.write_cycles;
    totals->quad_cycles = part->dma->params.quad_cycles;
    for (size_t i = 0; i < part->used_count; i++) {
        const struct dma_node *node = part->dma->nodes[part->used[i]];
        for (enum net_dma_event e = 0; e < DMA_EVENTS; e++) {
            struct net_count count = net_dma_count(part, node->node, e);
            totals->count[e].occurrences += count.occurrences;
            totals->count[e].high += count.high;
        }
        totals->read_bytes += node->totals.read_bytes;
        totals->written_bytes += node->totals.written_bytes;
        totals->injection_bytes += node->totals.injection_bytes;
        totals->reception_bytes += node->totals.reception_bytes;
        totals->put_bytes += node->totals.put_bytes;
        totals->got_descriptors += node->totals.got_descriptors;
        totals->dropped += node->totals.dropped;
        totals->copies += node->totals.copies;
        totals->foreign += node->totals.foreign;
        totals->left += left_in(part, node);
    }
}

/* ---- laws ---- */

static uint64_t of(const struct net_dma_totals *t, enum net_dma_event event)
{
    return t->count[event].occurrences;
}

static uint64_t received(const struct net_dma_totals *t)
{
    return of(t, DMA_FIFO_PACKETS) + of(t, DMA_PUT_PACKETS) + of(t, DMA_GET_PACKETS);
}

static bool all_received(const struct net_dma_totals *t)
{
    return received(t) == of(t, DMA_INJECTED) + t->copies + t->foreign;
}

static bool reads_acked(const struct net_dma_totals *t)
{
    return of(t, DMA_ACKED) == of(t, DMA_READS) + of(t, DMA_DESCRIPTORS);
}

static bool beats_returned(const struct net_dma_totals *t)
{
    uint64_t beats = of(t, DMA_BEATS) - of(t, DMA_DESCRIPTORS);
    return of(t, DMA_READS) <= beats && beats <= LINE / TORUS_CHUNK * of(t, DMA_READS);
}

static bool counters_went_down(const struct net_dma_totals *t)
{
    return t->injection_bytes == t->read_bytes && t->reception_bytes == t->put_bytes;
}

static bool lines_written(const struct net_dma_totals *t)
{
    return of(t, DMA_WRITES) * LINE >= t->written_bytes && t->put_bytes <= t->written_bytes;
}

static bool writing_time(const struct net_dma_totals *t)
{
    return t->count[DMA_WRITING].high >= received(t) * t->write_cycles +
                                             t->written_bytes / QUAD * t->quad_cycles -
                                             received(t) * t->quad_cycles;
}

static bool descriptors_read(const struct net_dma_totals *t)
{
    return t->got_descriptors <= of(t, DMA_DESCRIPTORS) &&
           of(t, DMA_LOCAL_PACKETS) <= of(t, DMA_INJECTED);
}

/* text, check */
static const struct {
    const char *text;
    bool (*holds)(const struct net_dma_totals *totals);
} laws[] = {
    {"packets received = packets injected + copies + packets that cores injected", all_received},
    {"reads acknowledged = lines read + descriptors", reads_acked},
    {"lines read <= beats returned - descriptors <= 4 x lines read", beats_returned},
    {"counters went down by the bytes read, and by the bytes put", counters_went_down},
    {"bytes put <= bytes written <= 128 x lines written", lines_written},
    {"writing takes its time for each packet and each 16 bytes", writing_time},
    {"descriptors got <= descriptors read; local packets <= packets injected", descriptors_read},
};

const char *net_dma_law(unsigned number)
{
    return number < sizeof laws / sizeof laws[0] ? laws[number].text : NULL;
}

int net_dma_broken_law(const struct net_dma_totals *totals)
{
    for (unsigned i = 0; net_dma_law(i); i++)
        if (!laws[i].holds(totals)) return (int)i;
    return -1;
}

size_t net_dma_memory(const struct net_dma_part *part)
{
    return sizeof *part + part->used_count * sizeof(struct dma_node) +
           part->used_capacity * sizeof *part->used + part->locals * sizeof(struct dma_packet);
}
