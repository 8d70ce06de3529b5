/* See net_literal_dma.h. */
#include "net_literal_dma.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { START, END, HEAD, TAIL };

struct literal_dma *literal_dma_new(struct literal_torus *torus,
                                    const struct net_dma_params *params)
{
    struct literal_dma *dma = base_calloc(1, sizeof *dma);
    dma->params = *params;
    dma->torus = torus;
    dma->node = base_calloc(torus->nodes, sizeof *dma->node);
    for (uint32_t n = 0; n < torus->nodes; n++) {
        uint32_t *dcr = dma->node[n].dcr;
        dcr[0x01] = 0x80000000;
        for (int i = 0x2C; i <= 0x30; i++)
            dcr[i] = 0xFFFFFFFF;
        for (int i = 0x3C; i <= 0x5B; i++)
            dcr[i] = 0xEEEEEEEE;
        for (int i = 0x60; i <= 0x67; i++)
            dcr[i] = i % 2 ? 0x08040201 : 0x80402010;
    }
    return dma;
}

void literal_dma_free(struct literal_dma *dma)
{
    free(dma->node);
    free(dma);
}

/* ---- FIFOs in memory ---- */

static bool good(const uint32_t f[4])
{
    return f[START] < f[END] && f[HEAD] >= f[START] && f[HEAD] < f[END] && f[TAIL] >= f[START] &&
           f[TAIL] < f[END];
}

static int used(const uint32_t f[4])
{
    int quads = 0;
    for (uint32_t at = f[HEAD]; good(f) && at != f[TAIL]; quads++)
        at = at + 1 == f[END] ? f[START] : at + 1;
    return quads;
}

static int unused(const uint32_t f[4])
{
    return good(f) ? (int)(f[END] - f[START]) - used(f) : 0;
}

static void forward(const uint32_t f[4], uint32_t *at, int quads)
{
    while (quads-- > 0)
        *at = *at + 1 == f[END] ? f[START] : *at + 1;
}

static bool bit(uint32_t mask, int number)
{
    return mask >> (31 - number) & 1;
}

static uint8_t *memory(struct literal_dma *dma, uint32_t n, uint64_t address, uint32_t size)
{
    return dma->memory(dma->owner, n, address, size);
}

static void count(struct literal_dma_node *node, enum net_dma_event event, int times)
{
    node->count[event].occurrences += (uint64_t)times;
    node->count[event].high += 2 * (uint64_t)times;
}

static int touched(uint64_t address, uint32_t size, int unit)
{
    int units = 0;
    for (uint32_t i = 0; i < size; i++)
        units += i == 0 || (address + i) % (uint64_t)unit == 0;
    return units;
}

static void fault(struct literal_dma *dma, uint32_t n, int interrupt)
{
    dma->fault(dma->owner, n);
    dma->interrupt(dma->owner, n, interrupt);
}

static uint32_t word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void set_word(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void count_down(struct literal_dma *dma, uint32_t n, int counter, uint32_t bytes, bool send)
{
    struct literal_dma_node *node = &dma->node[n];
    uint32_t *value = send ? &node->sends[counter][0] : &node->receives[counter][0];
    bool *hit = send ? &node->sends_hit[counter] : &node->receives_hit[counter];
    if (bytes == 0) return;
    if (bytes > *value) fault(dma, n, 104);
    *value -= bytes;
    if (*value == 0 && !*hit) {
        *hit = true;
        dma->interrupt(dma->owner, n, (send ? 96 : 100) + counter / 64);
    }
}

/* ---- injection ---- */

static uint32_t length(const struct literal_dma_node *node, int fifo)
{
    return word(node->descriptor[fifo] + 12);
}

static uint32_t next_bytes(const struct literal_dma_node *node, int fifo)
{
    uint32_t most = (uint32_t)((node->descriptor[fifo][18] >> 5) + 1) * 32 - 16;
    uint32_t rest = length(node, fifo) - node->done[fifo];
    return rest > most ? most : rest;
}

static int chunks_for(uint32_t bytes)
{
    int chunks = 1;
    while ((uint32_t)chunks * 32 < bytes + 16)
        chunks++;
    return chunks;
}

static bool goes_local(const struct literal_dma_node *node, int fifo)
{
    return node->descriptor[fifo][3] & 1 || bit(node->dcr[0x5C + fifo / 32], fifo % 32);
}

static int torus_fifo(const struct literal_dma *dma, uint32_t n, int fifo, int chunks)
{
    const struct literal_node *torus = &dma->torus->node[n];
    uint32_t maps = dma->node[n].dcr[0x3C + fifo / 4];
    int best = -1;
    for (int i = 7; i >= 0; i--) {
        if (!bit(maps, fifo % 4 * 8 + i) || torus->held[i] + chunks > 32) continue;
        if (best < 0 || torus->held[i] <= torus->held[best]) best = i;
    }
    return best;
}

static bool may_work(const struct literal_dma_node *node, int fifo)
{
    return node->activated[fifo] && bit(node->dcr[0x2C + fifo / 32], fifo % 32) &&
           used(node->injection[fifo]) >= 2;
}

static bool may_start(const struct literal_dma *dma, uint32_t n, int fifo)
{
    const struct literal_dma_node *node = &dma->node[n];
    if (!may_work(node, fifo)) return false;
    if (!node->known[fifo] || node->descriptor[fifo][3] & 2) return true;
    int chunks = chunks_for(next_bytes(node, fifo)), quads = 0;
    for (int i = 0; i < node->locals; i++)
        quads += 2 * node->local[i].chunks;
    if (goes_local(node, fifo)) return quads + 2 * chunks <= 128;
    return torus_fifo(dma, n, fifo, chunks) >= 0;
}

static void start_injection(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    if (node->does != DOES_NOTHING) return;
    for (int high = 1; high >= 0; high--)
        for (int i = 0; i < 128; i++) {
            int fifo = (node->turn[high] + i) % 128;
            if (bit(node->dcr[0x32 + fifo / 32], fifo % 32) != high || !may_start(dma, n, fifo))
                continue;
            uint32_t quads = (next_bytes(node, fifo) + 15) / 16;
            node->does = node->known[fifo] ? READS : FETCHES;
            node->fifo = fifo;
            node->until = dma->torus->now + dma->params.read_cycles +
                          (node->known[fifo] ? quads * dma->params.quad_cycles
                                             : dma->params.descriptor_cycles);
            return;
        }
}

static void give_up(struct literal_dma *dma, uint32_t n, int interrupt)
{
    struct literal_dma_node *node = &dma->node[n];
    fault(dma, n, interrupt);
    node->activated[node->fifo] = false;
    node->known[node->fifo] = false;
    node->does = DOES_NOTHING;
}

static void fetched(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    const uint32_t *f = node->injection[node->fifo];
    uint32_t at = f[HEAD];
    node->does = DOES_NOTHING;
    for (int i = 0; i < 2; i++) {
        const uint8_t *from = memory(dma, n, (uint64_t)at * 16, 16);
        if (!from) {
            give_up(dma, n, 86);
            return;
        }
        memcpy(node->descriptor[node->fifo] + 16 * i, from, 16);
        forward(f, &at, 1);
    }
    count(node, DMA_DESCRIPTORS, 1);
    count(node, DMA_ACKED, 1);
    count(node, DMA_BEATS, 1);
    if (!node->sends_on[node->descriptor[node->fifo][7]]) {
        give_up(dma, n, 104);
        return;
    }
    node->known[node->fifo] = true;
    node->done[node->fifo] = 0;
}

static void went(struct literal_dma_node *node, uint32_t bytes)
{
    int fifo = node->fifo;
    node->does = DOES_NOTHING;
    node->done[fifo] += bytes;
    node->turn[bit(node->dcr[0x32 + fifo / 32], fifo % 32)] = (fifo + 1) % 128;
    if (node->done[fifo] < length(node, fifo)) return;
    node->known[fifo] = false;
    forward(node->injection[fifo], &node->injection[fifo][HEAD], 2);
}

/* A node beyond the machine, and one that no hint leads to. */
static bool leads_nowhere(const struct literal_dma *dma, uint32_t n, const uint8_t *bytes)
{
    const struct net_torus_shape *shape = &dma->torus->config.shape;
    const int *at = dma->torus->node[n].at;
    bool here = bytes[3] == at[0] && bytes[4] == at[1] && bytes[5] == at[2];
    return bytes[3] >= shape->size[0] || bytes[4] >= shape->size[1] || bytes[5] >= shape->size[2] ||
           (here && !(word(bytes) >> 18 & 0x3F));
}

static void try_inject(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    int to = torus_fifo(dma, n, node->fifo, node->packet.chunks);
    uint32_t words[4];
    node->does = HAS_PACKET;
    if (to < 0) return;
    for (int i = 0; i < 4; i++)
        words[i] = word(node->packet.bytes + 4 * i);
    if (leads_nowhere(dma, n, node->packet.bytes)) {
        give_up(dma, n, 86);
        return;
    }
    int status =
        literal_torus_inject(dma->torus, n, (unsigned)to, words, node->packet.bytes + 16, 0);
    assert(status == CHIL_OK);
    count(node, DMA_INJECTED, 1);
    if (node->known[node->fifo])
        went(node, next_bytes(node, node->fifo));
    else
        node->does = DOES_NOTHING;
}

static void payload_read(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    const uint8_t *d = node->descriptor[node->fifo];
    struct literal_dma_packet *packet = &node->packet;
    uint32_t bytes = next_bytes(node, node->fifo);
    uint64_t address = (uint64_t)node->sends[d[7]][1] * 16 + word(d + 8) + node->done[node->fifo];
    const uint8_t *from = bytes ? memory(dma, n, address, bytes) : d;
    if (!from) {
        give_up(dma, n, 86);
        return;
    }
    memset(packet, 0, sizeof *packet);
    packet->chunks = chunks_for(bytes);
    memcpy(packet->bytes, d + 16, 16);
    memcpy(packet->bytes + 16, from, bytes);
    packet->bytes[2] = (uint8_t)((packet->bytes[2] & 0x1F) | (packet->chunks - 1) << 5);
    set_word(packet->bytes + 8, word(d + 24) + node->done[node->fifo]);
    if (packet->bytes[2] & 8) packet->bytes[13] = (uint8_t)bytes;
    int lines = touched(address, bytes, 128);
    count(node, DMA_READS, lines);
    count(node, DMA_ACKED, lines);
    count(node, DMA_BEATS, touched(address, bytes, 32));
    count_down(dma, n, d[7], bytes, true);
    if (d[3] & 2) {
        went(node, bytes);
    } else if (goes_local(node, node->fifo)) {
        node->local[node->locals++] = *packet;
        count(node, DMA_LOCAL_PACKETS, 1);
        count(node, DMA_INJECTED, 1);
        went(node, bytes);
    } else {
        try_inject(dma, n);
    }
}

static void end_injection(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    if (node->does == HAS_PACKET) try_inject(dma, n);
    if ((node->does != FETCHES && node->does != READS) || node->until != dma->torus->now) return;
    if ((node->does == READS) != node->known[node->fifo] || !may_work(node, node->fifo))
        node->does = DOES_NOTHING;
    else if (node->does == FETCHES)
        fetched(dma, n);
    else
        payload_read(dma, n);
}

/* ---- reception ---- */

/* The first packet of a source (14: local) as bytes; false: there is none. */
static bool first_of(const struct literal_dma *dma, uint32_t n, int source,
                     struct literal_dma_packet *packet)
{
    const struct literal_dma_node *node = &dma->node[n];
    if (source == 14) {
        if (node->locals) *packet = node->local[0];
        return node->locals > 0;
    }
    const struct literal_queue *queue = &dma->torus->node[n].reception[source];
    if (!queue->count) return false;
    const struct literal_packet *first = queue->packet[0];
    packet->chunks = first->chunks;
    for (int i = 0; i < 4; i++)
        set_word(packet->bytes + 4 * i, first->words[i]);
    memcpy(packet->bytes + 16, first->payload, (size_t)first->chunks * 32 - 16);
    return true;
}

static bool is_direct(const struct literal_dma_packet *packet)
{
    return packet->bytes[2] & 8;
}

static bool is_get(const struct literal_dma_packet *packet)
{
    return is_direct(packet) && packet->bytes[14] & 1;
}

/* The memory FIFO or injection FIFO that a packet goes to; -1: a fault. */
static int goes_to(const struct literal_dma_node *node, int source,
                   const struct literal_dma_packet *packet)
{
    if (is_get(packet))
        return packet->bytes[15] < 128 && good(node->injection[packet->bytes[15]])
                   ? packet->bytes[15]
                   : -1;
    int pid = (packet->bytes[1] & 1) * 2 + (packet->bytes[2] >> 4 & 1), fifo = -1;
    int receiver = source == 14 ? 7 : source % 7;
    for (int i = 0; i < 8; i++)
        if (bit(node->dcr[0x60 + 2 * pid + receiver / 4], receiver % 4 * 8 + i)) {
            if (fifo >= 0) return -1;
            fifo = 8 * pid + i;
        }
    return fifo;
}

static bool has_room(const struct literal_dma_node *node, int source,
                     const struct literal_dma_packet *packet)
{
    if (is_direct(packet) && !is_get(packet)) return true;
    int fifo = goes_to(node, source, packet);
    if (fifo < 0) return true;
    if (is_get(packet)) return unused(node->injection[fifo]) >= 32;
    return bit(node->dcr[0x30], fifo) && unused(node->reception[fifo]) >= 32;
}

static uint32_t written_bytes(const struct literal_dma_packet *packet)
{
    return is_direct(packet) ? packet->bytes[13] : (uint32_t)packet->chunks * 32;
}

static void start_reception(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    struct literal_dma_packet packet;
    bool waits = false;
    if (node->receives_now) return;
    for (int high = 1; high >= 0; high--)
        for (int i = 0; i < 15; i++) {
            int source = (node->from_turn[high] + i) % 15;
            if ((source == 6 || source == 13) != high || !first_of(dma, n, source, &packet))
                continue;
            if (!has_room(node, source, &packet)) {
                waits |= is_get(&packet);
                continue;
            }
            node->receives_now = true;
            node->from = source;
            node->receives_until = dma->torus->now + dma->params.write_cycles +
                                   (written_bytes(&packet) + 15) / 16 * dma->params.quad_cycles;
            return;
        }
    if (waits && !node->get_waits) dma->interrupt(dma->owner, n, 120);
    node->get_waits = waits;
}

/* Appends to a ring in memory, 16 bytes at a time. */
static bool append(struct literal_dma *dma, uint32_t n, uint32_t f[4], const uint8_t *bytes,
                   uint32_t size)
{
    uint32_t at = f[TAIL];
    uint64_t line = UINT64_MAX;
    int lines = 0;
    for (uint32_t i = 0; i < size; i += 16) {
        uint8_t *to = memory(dma, n, (uint64_t)at * 16, 16);
        if (!to) return false;
        memcpy(to, bytes + i, 16);
        lines += at / 8 != line || at == f[START];
        line = at / 8;
        forward(f, &at, 1);
    }
    f[TAIL] = at;
    count(&dma->node[n], DMA_WRITES, lines);
    return true;
}

static bool take_memory(struct literal_dma *dma, uint32_t n,
                        const struct literal_dma_packet *packet)
{
    struct literal_dma_node *node = &dma->node[n];
    int fifo = goes_to(node, node->from, packet);
    count(node, DMA_FIFO_PACKETS, 1);
    if (fifo < 0 ||
        !append(dma, n, node->reception[fifo], packet->bytes, (uint32_t)packet->chunks * 32))
        return false;
    int type = bit(node->dcr[0x38], fifo);
    if ((uint32_t)unused(node->reception[fifo]) < node->dcr[0x3A + type] && !node->crossed[fifo]) {
        node->crossed[fifo] = true;
        dma->interrupt(dma->owner, n, 92 + type);
    }
    return true;
}

static bool take_get(struct literal_dma *dma, uint32_t n, const struct literal_dma_packet *packet)
{
    struct literal_dma_node *node = &dma->node[n];
    int fifo = goes_to(node, node->from, packet);
    uint32_t bytes = packet->bytes[13];
    count(node, DMA_GET_PACKETS, 1);
    if (fifo < 0 || bytes == 0 || bytes % 32 || bytes > 224 ||
        bytes > (uint32_t)packet->chunks * 32 - 16 ||
        !append(dma, n, node->injection[fifo], packet->bytes + 16, bytes))
        return false;
    if ((uint32_t)unused(node->injection[fifo]) < node->dcr[0x36] && !node->got_crossed[fifo]) {
        node->got_crossed[fifo] = true;
        dma->interrupt(dma->owner, n, 88 + fifo / 32);
    }
    return true;
}

static bool take_put(struct literal_dma *dma, uint32_t n, const struct literal_dma_packet *packet)
{
    struct literal_dma_node *node = &dma->node[n];
    int counter = packet->bytes[12];
    uint32_t bytes = packet->bytes[13];
    uint64_t address = (uint64_t)node->receives[counter][1] * 16 + word(packet->bytes + 8);
    count(node, DMA_PUT_PACKETS, 1);
    if (!node->receives_on[counter] || bytes > (uint32_t)packet->chunks * 32 - 16) return false;
    for (uint32_t i = 0; i < bytes; i++)
        if ((address + i) / 16 > node->receives[counter][2]) return false;
    if (!bytes && address > ((uint64_t)node->receives[counter][2] + 1) * 16) return false;
    uint8_t *to = bytes ? memory(dma, n, address, bytes) : NULL;
    if (bytes && !to) return false;
    if (bytes) memcpy(to, packet->bytes + 16, bytes);
    count(node, DMA_WRITES, touched(address, bytes, 128));
    count_down(dma, n, counter, bytes, false);
    return true;
}

static void end_reception(struct literal_dma *dma, uint32_t n)
{
    struct literal_dma_node *node = &dma->node[n];
    struct literal_dma_packet packet = {.chunks = 0};
    if (!node->receives_now || node->receives_until != dma->torus->now) return;
    int from = node->from;
    node->receives_now = false;
    node->from_turn[from == 6 || from == 13] = (from + 1) % 15;
    if (!first_of(dma, n, from, &packet) || !has_room(node, from, &packet)) return;
    bool taken = is_get(&packet)      ? take_get(dma, n, &packet)
                 : is_direct(&packet) ? take_put(dma, n, &packet)
                                      : take_memory(dma, n, &packet);
    if (!taken) fault(dma, n, is_direct(&packet) && !is_get(&packet) ? 104 : 111);
    if (from != 14) {
        literal_torus_drop(dma->torus, n, (unsigned)from);
        return;
    }
    node->locals--;
    memmove(node->local, node->local + 1, (size_t)node->locals * sizeof node->local[0]);
}

void literal_dma_step(struct literal_dma *dma)
{
    literal_torus_begin(dma->torus);
    for (uint32_t n = 0; n < dma->torus->nodes; n++) {
        struct literal_dma_node *node = &dma->node[n];
        end_injection(dma, n);
        end_reception(dma, n);
        if (bit(node->dcr[0x01], 0)) {
            start_injection(dma, n);
            start_reception(dma, n);
        }
        node->count[DMA_WRITING].occurrences += node->receives_now && !node->was_receiving;
        node->count[DMA_WRITING].high += node->receives_now;
        node->was_receiving = node->receives_now;
    }
    literal_torus_end(dma->torus);
}

/* ---- registers ---- */

static uint32_t mask(const bool *bits)
{
    uint32_t word_of = 0;
    for (int i = 0; i < 32; i++)
        word_of |= (uint32_t)bits[i] << (31 - i);
    return word_of;
}

static void change(bool *bits, uint32_t which, bool to)
{
    for (int i = 0; i < 32; i++)
        if (bit(which, i)) bits[i] = to;
}

static uint32_t status(const bool *hit)
{
    uint32_t word_of = 0;
    for (int i = 0; i < 256; i++)
        word_of |= (uint32_t)hit[i] << (31 - i / 8);
    return word_of;
}

uint32_t literal_dma_load(const struct literal_dma *dma, uint32_t n, uint32_t offset)
{
    const struct literal_dma_node *node = &dma->node[n];
    uint32_t group = offset / 0x1000, at = offset % 0x1000, i = at / 16 % 64, w = at / 4 % 4;
    uint32_t half = 64 * group + 32 * (at / 4 % 2), result = 0;
    if (at < 0x200) return node->injection[32 * group + at / 16][w];
    if (at >= 0x800 && at < 0x880) return node->reception[8 * group + at / 16 % 8][w];
    if (at >= 0x400 && at < 0x800)
        return w == 0   ? node->sends[64 * group + i][0]
               : w == 2 ? node->sends[64 * group + i][1]
                        : 0;
    if (at >= 0xC00) return w == 1 ? 0 : node->receives[64 * group + i][w ? w - 1 : 0];
    for (uint32_t f = 0; f < 32; f++) {
        const uint32_t *in = node->injection[32 * group + f], *out = node->reception[f];
        bool b = (at == 0x200 && used(in) > 0) || (at == 0x208 && unused(in) >= 32) ||
                 (at == 0xA00 && used(out) > 0) || (at == 0xA08 && unused(out) >= 32);
        result |= (uint32_t)b << (31 - f);
    }
    if (at == 0x210) return mask(node->got_crossed + 32 * group);
    if (at == 0x220) return mask(node->activated + 32 * group);
    if (at == 0xA10) return mask(node->crossed);
    if (at == 0x300 || at == 0x304) return mask(node->sends_on + half);
    if (at == 0xB00 || at == 0xB04) return mask(node->receives_on + half);
    if (at == 0x320 || at == 0x324) return mask(node->sends_hit + half);
    if (at == 0xB20 || at == 0xB24) return mask(node->receives_hit + half);
    if (at == 0x330) return status(node->sends_hit);
    if (at == 0xB30) return status(node->receives_hit);
    return result;
}

static void store_counter(uint32_t *value, uint32_t *rest, uint32_t w, uint32_t number)
{
    if (w == 0) *value = number;
    if (w == 1) *value += number;
    if (w >= 2) rest[w - 2] = number;
}

void literal_dma_store(struct literal_dma *dma, uint32_t n, uint32_t offset, uint32_t value)
{
    struct literal_dma_node *node = &dma->node[n];
    uint32_t group = offset / 0x1000, at = offset % 0x1000, i = 64 * group + at / 16 % 64;
    uint32_t w = at / 4 % 4, half = 64 * group + 32 * (at / 4 % 2), first = 32 * group;
    if (at < 0x200) {
        node->injection[first + at / 16][w] = value;
        if (w != TAIL && !(node->does == HAS_PACKET && node->fifo == (int)(first + at / 16)))
            node->known[first + at / 16] = false;
    }
    if (at >= 0x800 && at < 0x880) node->reception[8 * group + at / 16 % 8][w] = value;
    if (at >= 0x400 && at < 0x800 && w < 3)
        store_counter(&node->sends[i][0], &node->sends[i][1], w, value);
    if (at >= 0xC00) store_counter(&node->receives[i][0], &node->receives[i][1], w, value);
    if (at == 0x218) change(node->got_crossed + first, value, false);
    if (at == 0x224) change(node->activated + first, value, true);
    if (at == 0x228) change(node->activated + first, value, false);
    if (at == 0xA18) change(node->crossed, value, false);
    if (at == 0x308 || at == 0x30C) change(node->sends_on + half, value, true);
    if (at == 0x310 || at == 0x314) change(node->sends_on + half, value, false);
    if (at == 0x328 || at == 0x32C) change(node->sends_hit + half, value, false);
    if (at == 0xB08 || at == 0xB0C) change(node->receives_on + half, value, true);
    if (at == 0xB10 || at == 0xB14) change(node->receives_on + half, value, false);
    if (at == 0xB28 || at == 0xB2C) change(node->receives_hit + half, value, false);
}
