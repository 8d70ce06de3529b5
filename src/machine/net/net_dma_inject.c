/* The injection unit of the DMA engine. One thing at a time: it fetches the descriptor at the head
 * of a FIFO, or reads the payload of the next packet of a message and injects the packet.
 *
 * A FIFO's head moves when the last packet of its message was injected. A fault deactivates the
 * FIFO and leaves its head: once activated again, the descriptor is executed from its beginning.
 * A packet that finds its torus FIFO filled by a core meanwhile waits in the unit. */
#include <assert.h>
#include <string.h>

#include "machine/net/net_dma_node.h"

static unsigned chunks_of(uint32_t header)
{
    return (header >> 13 & 7) + 1;
}

static uint32_t payload_of(const struct dma_message *message)
{
    uint32_t most = TORUS_CHUNK * chunks_of(message->descriptor.header[0]) - TORUS_HEADER;
    uint32_t rest = message->descriptor.length - message->sent;
    return rest < most ? rest : most;
}

static unsigned packet_chunks(uint32_t payload)
{
    return (payload + TORUS_HEADER + TORUS_CHUNK - 1) / TORUS_CHUNK;
}

static bool is_local(const struct dma_node *node, unsigned fifo)
{
    return node->message[fifo].descriptor.local ||
           dma_bit(node->dcr[DMA_DCR_LOCAL + fifo / DMA_INJECTION_FIFOS],
                   fifo % DMA_INJECTION_FIFOS);
}

/* The torus FIFO of a FIFO's map that has room and holds the least; -1: none. */
static int torus_fifo(const struct net_dma_part *part, const struct dma_node *node, unsigned fifo,
                      unsigned chunks)
{
    uint32_t map = dma_torus_map(node, fifo);
    int best = -1;
    unsigned least = 0;
    for (unsigned i = 0; i < TORUS_INJECTION_FIFOS; i++) {
        if (!(map >> (7 - i) & 1)) continue;
        unsigned held = net_torus_injection_chunks(part->torus, node->node, i);
        if (held + chunks > TORUS_FIFO_CHUNKS || (best >= 0 && held >= least)) continue;
        best = (int)i;
        least = held;
    }
    return best;
}

unsigned net_dma_torus_fifos(const struct net_dma_part *part, uint32_t number)
{
    const struct dma_node *node = part->dma->nodes[number];
    unsigned fifos = 0;
    uint32_t map = 0;
    if (!node) return 0;
    if (node->state != DMA_IS_IDLE) map = dma_torus_map(node, node->fifo);
    for (unsigned group = 0; group < DMA_GROUPS; group++)
        for (uint32_t left = node->activated[group]; left; left &= left - 1)
            map |= dma_torus_map(node,
                                 DMA_INJECTION_FIFOS * group + 31 - (unsigned)__builtin_ctz(left));
    for (unsigned i = 0; i < TORUS_INJECTION_FIFOS; i++)
        fifos |= (map >> (7 - i) & 1) << i;
    return fifos;
}

static bool is_usable(const struct dma_node *node, unsigned fifo)
{
    unsigned group = fifo / DMA_INJECTION_FIFOS, number = fifo % DMA_INJECTION_FIFOS;
    return dma_bit(node->activated[group] & node->dcr[DMA_DCR_INJECTION_ENABLE + group], number) &&
           dma_fifo_used(&node->injection[fifo]) >= DMA_DESCRIPTOR / QUAD;
}

static bool can_start(const struct net_dma_part *part, const struct dma_node *node, unsigned fifo)
{
    const struct dma_message *message = &node->message[fifo];
    if (!is_usable(node, fifo)) return false;
    if (!message->active || message->descriptor.prefetch_only) return true;
    unsigned chunks = packet_chunks(payload_of(message));
    if (is_local(node, fifo)) return node->local_quads + 2 * chunks <= DMA_LOCAL_QUADS;
    return torus_fifo(part, node, fifo, chunks) >= 0;
}

static bool is_high(const struct dma_node *node, unsigned fifo)
{
    return dma_bit(node->dcr[DMA_DCR_PRIORITY + fifo / DMA_INJECTION_FIFOS],
                   fifo % DMA_INJECTION_FIFOS);
}

static int choose(const struct net_dma_part *part, const struct dma_node *node)
{
    uint32_t any = 0;
    for (unsigned group = 0; group < DMA_GROUPS; group++)
        any |= node->activated[group];
    for (unsigned high = 2; any && high-- > 0;)
        for (unsigned i = 0; i < INJECTION_FIFOS; i++) {
            unsigned fifo = (node->next[high] + i) % INJECTION_FIFOS;
            if (!node->activated[fifo / DMA_INJECTION_FIFOS]) {
                i += DMA_INJECTION_FIFOS - 1 - fifo % DMA_INJECTION_FIFOS;
                continue;
            }
            if (is_high(node, fifo) == high && can_start(part, node, fifo)) return (int)fifo;
        }
    return -1;
}

void dma_start_injection(struct net_dma_part *part, struct dma_node *node)
{
    const struct net_dma_params *p = &part->dma->params;
    int fifo = choose(part, node);
    if (fifo < 0) return;
    const struct dma_message *message = &node->message[fifo];
    uint64_t cycles = (uint64_t)p->descriptor_cycles + p->read_cycles;
    if (message->active)
        cycles =
            p->read_cycles + (uint64_t)p->quad_cycles * ((payload_of(message) + QUAD - 1) / QUAD);
    node->fifo = (uint8_t)fifo;
    node->state = message->active ? DMA_IS_READING : DMA_IS_FETCHING;
    net_partition_send(part->partition,
                       &(struct net_event){.time = net_partition_now(part->partition) + cycles,
                                           .node = node->node,
                                           .unit = part->unit,
                                           .kind = DMA_INJECTION_END});
}

static void stop_fifo(struct dma_node *node, unsigned fifo)
{
    node->activated[fifo / DMA_INJECTION_FIFOS] &=
        ~(UINT32_C(0x80000000) >> fifo % DMA_INJECTION_FIFOS);
    node->message[fifo].active = false;
    node->state = DMA_IS_IDLE;
}

static void end_fetch(struct net_dma_part *part, struct dma_node *node)
{
    unsigned fifo = node->fifo, group = fifo / DMA_INJECTION_FIFOS;
    struct dma_message *message = &node->message[fifo];
    struct dma_fifo *in = &node->injection[fifo];
    uint8_t bytes[DMA_DESCRIPTOR];
    uint32_t head = in->word[2];
    node->state = DMA_IS_IDLE;
    if (!dma_fifo_copy(part, node, in, head, bytes, sizeof bytes, false)) {
        dma_fault(part, node, DMA_IRQ_INVALID_READ,
                  "descriptor of injection FIFO %u of group %u at 0x%09llx; no memory is there",
                  fifo % DMA_INJECTION_FIFOS, group, (unsigned long long)head * QUAD);
        stop_fifo(node, fifo);
        return;
    }
    uint32_t before_end = head + 1 < in->word[1] ? DMA_DESCRIPTOR : QUAD;
    (void)dma_traffic(part, node, (uint64_t)head * QUAD, before_end, false);
    (void)dma_traffic(part, node, (uint64_t)in->word[0] * QUAD, DMA_DESCRIPTOR - before_end, false);
    node->pulses[DMA_DESCRIPTORS]++;
    node->pulses[DMA_ACKED]++;
    node->pulses[DMA_BEATS]++;
    net_dma_descriptor_decode(bytes, &message->descriptor);
    unsigned counter = message->descriptor.counter;
    if (!dma_bit(node->injection_enabled[counter / 32], counter % 32)) {
        dma_fault(part, node, DMA_IRQ_COUNTER_ERROR,
                  "descriptor of injection FIFO %u of group %u names injection counter %u of group "
                  "%u, which is not enabled",
                  fifo % DMA_INJECTION_FIFOS, group, counter % DMA_COUNTERS,
                  counter / DMA_COUNTERS);
        stop_fifo(node, fifo);
        return;
    }
    message->active = true;
    message->sent = 0;
}

/* ---- packets ---- */

static void advance_message(struct net_dma_part *part, struct dma_node *node, unsigned fifo,
                            uint32_t bytes)
{
    struct dma_message *message = &node->message[fifo];
    struct dma_fifo *in = &node->injection[fifo];
    message->sent += bytes;
    node->next[is_high(node, fifo)] = (uint8_t)((fifo + 1) % INJECTION_FIFOS);
    node->state = DMA_IS_IDLE;
    if (message->sent >= message->descriptor.length) {
        message->active = false;
        in->word[2] = dma_fifo_step(in, in->word[2], DMA_DESCRIPTOR / QUAD);
    }
    dma_changed(part, node);
}

static void local_append(struct net_dma_part *part, struct dma_node *node,
                         const struct dma_packet *packet)
{
    struct dma_packet *copy = base_calloc(1, sizeof *copy);
    *copy = *packet;
    copy->next = node->local ? node->local->next : copy;
    if (node->local) node->local->next = copy;
    node->local = copy;
    node->local_quads += 2u * packet->chunks;
    part->locals++;
    node->pulses[DMA_LOCAL_PACKETS]++;
    node->pulses[DMA_INJECTED]++;
}

/* Puts the unit's packet into a torus FIFO. False: none has room. */
static bool inject(struct net_dma_part *part, struct dma_node *node, bool *refused)
{
    const struct dma_packet *packet = &node->blocked;
    int fifo = torus_fifo(part, node, node->fifo, packet->chunks);
    struct chil_error error = {0};
    if (fifo < 0) return false;
    const struct torus_router *router = torus_router_get(part->torus, node->node);
    uint64_t copies = router->copies;
    int status = net_torus_inject(part->torus, node->node, (unsigned)fifo, packet->words,
                                  packet->payload, NET_DMA_SERIAL, &error);
    assert(status != CHIL_EBUSY);
    *refused = status;
    if (status) {
        dma_fault(part, node, DMA_IRQ_INVALID_READ, "injection FIFO %u of group %u: %s",
                  node->fifo % DMA_INJECTION_FIFOS, node->fifo / DMA_INJECTION_FIFOS, error.text);
        return true;
    }
    node->totals.copies += router->copies - copies;
    node->pulses[DMA_INJECTED]++;
    return true;
}

static void inject_or_block(struct net_dma_part *part, struct dma_node *node)
{
    unsigned fifo = node->fifo;
    bool refused = false;
    if (!inject(part, node, &refused)) {
        node->state = DMA_IS_BLOCKED;
    } else if (refused) {
        stop_fifo(node, fifo);
        dma_changed(part, node);
    } else if (node->message[fifo].active) {
        advance_message(part, node, fifo, payload_of(&node->message[fifo]));
    } else {
        node->state = DMA_IS_IDLE;
    }
}

void dma_retry_injection(struct net_dma_part *part, struct dma_node *node)
{
    inject_or_block(part, node);
}

static void make_header(const struct dma_message *message, uint32_t payload,
                        struct dma_packet *packet)
{
    struct net_torus_header h;
    net_torus_header_decode(message->descriptor.header, &h);
    h.chunks = packet->chunks = (uint8_t)packet_chunks(payload);
    h.software[0] += message->sent;
    if (h.direct) h.software[1] = (h.software[1] & UINT32_C(0xFF00FFFF)) | payload << 16;
    net_torus_header_encode(&h, packet->words);
}

static unsigned beats(uint64_t address, uint32_t size)
{
    return size ? (unsigned)((address + size - 1) / TORUS_CHUNK - address / TORUS_CHUNK + 1) : 0;
}

static void end_read(struct net_dma_part *part, struct dma_node *node)
{
    unsigned fifo = node->fifo;
    const struct dma_message *message = &node->message[fifo];
    const struct net_dma_descriptor *d = &message->descriptor;
    struct dma_packet *packet = &node->blocked;
    uint32_t payload = payload_of(message);
    uint64_t address =
        (uint64_t)node->injection_counter[d->counter].base * QUAD + d->offset + message->sent;
    memset(packet->payload, 0, sizeof packet->payload);
    if (payload &&
        !part->owner.read(part->owner.self, node->node, address, packet->payload, payload)) {
        dma_fault(part, node, DMA_IRQ_INVALID_READ,
                  "message of %u bytes of injection FIFO %u of group %u at 0x%09llx; no memory is "
                  "there",
                  d->length, fifo % DMA_INJECTION_FIFOS, fifo / DMA_INJECTION_FIFOS,
                  (unsigned long long)address);
        stop_fifo(node, fifo);
        dma_changed(part, node);
        return;
    }
    unsigned lines = dma_traffic(part, node, address, payload, false);
    node->pulses[DMA_READS] += lines;
    node->pulses[DMA_ACKED] += lines;
    node->pulses[DMA_BEATS] += beats(address, payload);
    node->totals.read_bytes += payload;
    dma_count_down(part, node, d->counter, payload, false);
    make_header(message, payload, packet);
    if (d->prefetch_only) {
        advance_message(part, node, fifo, payload);
    } else if (is_local(node, fifo)) {
        local_append(part, node, packet);
        advance_message(part, node, fifo, payload);
    } else {
        inject_or_block(part, node);
    }
}

void dma_end_injection(struct net_dma_part *part, struct dma_node *node)
{
    bool fetches = node->state == DMA_IS_FETCHING;
    if (fetches == node->message[node->fifo].active || !is_usable(node, node->fifo))
        node->state = DMA_IS_IDLE; /* the program has changed the FIFO meanwhile */
    else if (fetches)
        end_fetch(part, node);
    else
        end_read(part, node);
}
