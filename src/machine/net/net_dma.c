/* The DMA engine: its parts on nodes, what its units share, and its registers. The injection unit
 * is in net_dma_inject.c, the reception unit in net_dma_receive.c, counts in net_dma_count.c.
 */
#include "machine/net/net_dma.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/net/net_dma_node.h"

const struct net_dma_params net_dma_bgp = {60, 50, 2, 20};

/* ---- descriptors ---- */

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void word_put(uint8_t *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

void net_dma_descriptor_encode(const struct net_dma_descriptor *d, uint8_t bytes[DMA_DESCRIPTOR])
{
    word_put(bytes, (uint32_t)d->prefetch_only << 1 | d->local);
    word_put(bytes + 4, d->counter);
    word_put(bytes + 8, d->offset);
    word_put(bytes + 12, d->length);
    for (unsigned i = 0; i < 4; i++)
        word_put(bytes + 16 + 4 * i, d->header[i]);
}

void net_dma_descriptor_decode(const uint8_t bytes[DMA_DESCRIPTOR], struct net_dma_descriptor *d)
{
    *d = (struct net_dma_descriptor){.prefetch_only = bytes[3] & 2,
                                     .local = bytes[3] & 1,
                                     .counter = bytes[7],
                                     .offset = word_at(bytes + 8),
                                     .length = word_at(bytes + 12)};
    for (unsigned i = 0; i < 4; i++)
        d->header[i] = word_at(bytes + 16 + 4 * i);
}

/* ---- what the units share ---- */

static void set_defaults(struct dma_node *node)
{
    node->dcr[DMA_DCR_BASE_CONTROL] = UINT32_C(1) << 31;
    for (unsigned group = 0; group < DMA_GROUPS; group++)
        node->dcr[DMA_DCR_INJECTION_ENABLE + group] = UINT32_MAX;
    node->dcr[DMA_DCR_RECEPTION_ENABLE] = UINT32_MAX;
    for (unsigned i = 0; i < INJECTION_FIFOS / 4; i++)
        node->dcr[DMA_DCR_TORUS_MAP + i] = UINT32_C(0xEEEEEEEE);
    for (unsigned pid = 0; pid < DMA_GROUPS; pid++) {
        node->dcr[DMA_DCR_RECEPTION_MAP + 2 * pid] = UINT32_C(0x80402010);
        node->dcr[DMA_DCR_RECEPTION_MAP + 2 * pid + 1] = UINT32_C(0x08040201);
    }
}

struct dma_node *dma_node_get(struct net_dma_part *part, uint32_t number)
{
    struct dma_node *node = part->dma->nodes[number];
    if (node) return node;
    node = base_calloc(1, sizeof *node);
    node->node = number;
    set_defaults(node);
    if (part->used_count == part->used_capacity)
        part->used =
            base_grow(part->used, &part->used_capacity, part->used_count + 1, sizeof *part->used);
    part->used[part->used_count++] = number;
    return part->dma->nodes[number] = node;
}

void dma_touch(struct net_dma_part *part, struct dma_node *node)
{
    if (node->touched) return;
    node->touched = true;
    net_partition_touch(part->partition, part->unit, node->node);
}

void dma_changed(struct net_dma_part *part, const struct dma_node *node)
{
    if (part->owner.changed) part->owner.changed(part->owner.self, node->node);
}

void dma_interrupt(struct net_dma_part *part, const struct dma_node *node, unsigned number)
{
    if (part->owner.interrupt)
        part->owner.interrupt(part->owner.self, node->node, (enum net_dma_interrupt)number);
}

void dma_fault(struct net_dma_part *part, const struct dma_node *node, unsigned interrupt,
               const char *format, ...)
{
    struct chil_error error = {0};
    char text[200];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    (void)chil_error_set(&error, CHIL_EINVAL, "DMA engine of node %u: %s", node->node, text);
    if (part->owner.fault) part->owner.fault(part->owner.self, node->node, &error);
    dma_interrupt(part, node, interrupt);
}

unsigned dma_traffic(struct net_dma_part *part, const struct dma_node *node, uint64_t address,
                     uint32_t size, bool write)
{
    unsigned lines = 0;
    uint64_t now = net_partition_now(part->partition);
    for (uint64_t end = address + size; address < end; lines++) {
        uint64_t next = (address | (LINE - 1)) + 1;
        uint32_t some = (uint32_t)((next < end ? next : end) - address);
        if (part->owner.traffic)
            part->owner.traffic(part->owner.self, node->node, now, address, some, write);
        address += some;
    }
    return lines;
}

bool dma_fifo_copy(struct net_dma_part *part, const struct dma_node *node,
                   const struct dma_fifo *fifo, uint32_t at, uint8_t *bytes, uint32_t size,
                   bool write)
{
    const struct net_dma_owner *owner = &part->owner;
    uint32_t first = (fifo->word[1] - at) * QUAD;
    if (first > size) first = size;
    uint64_t address = (uint64_t)at * QUAD, start = (uint64_t)fifo->word[0] * QUAD;
    if (write)
        return owner->write(owner->self, node->node, address, bytes, first) &&
               (first == size ||
                owner->write(owner->self, node->node, start, bytes + first, size - first));
    return owner->read(owner->self, node->node, address, bytes, first) &&
           (first == size ||
            owner->read(owner->self, node->node, start, bytes + first, size - first));
}

void dma_count_down(struct net_dma_part *part, struct dma_node *node, unsigned number,
                    uint32_t bytes, bool reception)
{
    struct dma_counter *counter =
        reception ? &node->reception_counter[number] : &node->injection_counter[number];
    uint32_t *zero = (reception ? node->reception_zero : node->injection_zero) + number / 32;
    uint32_t bit = UINT32_C(0x80000000) >> number % 32;
    if (!bytes) return;
    if (counter->value < bytes)
        dma_fault(part, node, DMA_IRQ_COUNTER_ERROR,
                  "%s counter %u of group %u is %u and goes down by %u",
                  reception ? "reception" : "injection", number % DMA_COUNTERS,
                  number / DMA_COUNTERS, counter->value, bytes);
    counter->value -= bytes;
    *(reception ? &node->totals.reception_bytes : &node->totals.injection_bytes) += bytes;
    if (counter->value || *zero & bit) return;
    *zero |= bit;
    dma_interrupt(part, node,
                  (reception ? DMA_IRQ_RECEPTION_ZERO : DMA_IRQ_INJECTION_ZERO) +
                      number / DMA_COUNTERS);
}

/* ---- events ---- */

static void apply(void *self, const struct net_event *event)
{
    (void)self;
    (void)event;
}

static void act(void *self, const struct net_event *event)
{
    struct net_dma_part *part = self;
    struct dma_node *node = part->dma->nodes[event->node];
    if (event->kind == DMA_INJECTION_END)
        dma_end_injection(part, node);
    else
        dma_end_reception(part, node);
    dma_touch(part, node);
}

static void arbitrate(void *self, uint32_t number)
{
    struct net_dma_part *part = self;
    struct dma_node *node = part->dma->nodes[number];
    node->touched = false;
    if (!dma_bit(node->dcr[DMA_DCR_BASE_CONTROL], 0)) return;
    if (node->state == DMA_IS_IDLE) dma_start_injection(part, node);
    if (!node->receiving) dma_start_reception(part, node);
}

/* An engine that was never used comes into being with a packet that only it can take. */
static void received(void *self, uint32_t number, unsigned fifo)
{
    struct net_dma_part *part = self;
    struct dma_node *node = part->dma->nodes[number];
    const struct net_torus_packet *front = net_torus_front(part->torus, number, fifo);
    for (const struct net_torus_packet *p = front; !node && p;
         p = p->next == front ? NULL : p->next)
        if (p->words[0] >> 11 & 1) node = dma_node_get(part, number);
    if (node) dma_touch(part, node);
}

static void injected(void *self, uint32_t number, unsigned fifo)
{
    struct net_dma_part *part = self;
    struct dma_node *node = part->dma->nodes[number];
    (void)fifo;
    if (!node) return;
    if (node->state == DMA_IS_BLOCKED) dma_retry_injection(part, node);
    dma_touch(part, node);
}

/* ---- making ---- */

struct net_dma *net_dma_new(uint32_t nodes, const struct net_dma_params *params)
{
    struct net_dma *dma = base_calloc(1, sizeof *dma);
    assert(params->descriptor_cycles && params->read_cycles && params->quad_cycles &&
           params->write_cycles);
    dma->params = *params;
    dma->reserved = nodes * sizeof *dma->nodes;
    dma->nodes = base_reserve(dma->reserved);
    return dma;
}

void net_dma_free(struct net_dma *dma)
{
    if (!dma) return;
    base_release(dma->nodes, dma->reserved);
    free(dma);
}

struct net_dma_part *net_dma_part_new(struct net_dma *dma, struct net_partition *partition,
                                      const struct net_dma_owner *owner)
{
    struct net_dma_part *part = base_calloc(1, sizeof *part);
    part->dma = dma;
    part->partition = partition;
    part->owner = *owner;
    part->unit = net_partition_add(
        partition,
        &(struct net_unit){.self = part, .apply = apply, .act = act, .arbitrate = arbitrate});
    return part;
}

void net_dma_part_free(struct net_dma_part *part)
{
    if (!part) return;
    for (size_t i = 0; i < part->used_count; i++) {
        struct dma_node *node = part->dma->nodes[part->used[i]];
        while (node->local) {
            struct dma_packet *first = node->local->next;
            if (first == node->local)
                node->local = NULL;
            else
                node->local->next = first->next;
            free(first);
        }
        free(node);
        part->dma->nodes[part->used[i]] = NULL;
    }
    free(part->used);
    free(part);
}

struct net_torus_owner net_dma_torus_owner(struct net_dma_part *part)
{
    return (struct net_torus_owner){.self = part, .received = received, .injected = injected};
}

void net_dma_attach(struct net_dma_part *part, struct net_torus_part *torus)
{
    part->torus = torus;
}
