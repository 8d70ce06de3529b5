/* Registers of the DMA engine, as a core loads and stores them (net_dma.h). Masks of counters are
 * two words for each group. */
#include "machine/net/net_dma_node.h"

/* FIFOs of a mask for which a condition holds. */
static uint32_t mask_of(const struct dma_fifo *fifos, unsigned count,
                        bool (*holds)(const struct dma_fifo *fifo))
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < count; i++)
        if (holds(&fifos[i])) mask |= UINT32_C(0x80000000) >> i;
    return mask;
}

static bool has_something(const struct dma_fifo *fifo)
{
    return dma_fifo_used(fifo) > 0;
}

static bool is_available(const struct dma_fifo *fifo)
{
    return dma_fifo_free(fifo) >= DMA_AVAILABLE;
}

/* A bit for each 8 counters of all groups. */
static uint32_t status_of(const uint32_t zero[2 * DMA_GROUPS])
{
    uint32_t status = 0;
    for (unsigned i = 0; i < COUNTERS / 8; i++)
        if (zero[i / 4] << i % 4 * 8 >> 24) status |= UINT32_C(0x80000000) >> i;
    return status;
}

static uint32_t load_counters(const uint32_t *enabled, const uint32_t *zero, unsigned group,
                              uint32_t offset)
{
    unsigned word = 2 * group + (offset >> 2 & 1);
    switch (offset & ~7u) {
    case 0: return enabled[word];
    case DMA_HIT_ZERO: return zero[word];
    case DMA_COUNTER_STATUS: return offset & 4 ? 0 : status_of(zero);
    default: return 0;
    }
}

static uint32_t load_counter(const struct dma_counter *counter, uint32_t word, bool reception)
{
    switch (word) {
    case DMA_VALUE: return counter->value;
    case DMA_BASE: return counter->base;
    case DMA_MAXIMUM: return reception ? counter->maximum : 0;
    default: return 0;
    }
}

static uint32_t load_status(const struct dma_node *node, unsigned group, uint32_t offset)
{
    const struct dma_fifo *injection = &node->injection[DMA_INJECTION_FIFOS * group];
    switch (offset) {
    case DMA_INJECTION_NOT_EMPTY: return mask_of(injection, DMA_INJECTION_FIFOS, has_something);
    case DMA_INJECTION_AVAILABLE: return mask_of(injection, DMA_INJECTION_FIFOS, is_available);
    case DMA_INJECTION_THRESHOLD: return node->got_crossed[group];
    case DMA_ACTIVATED: return node->activated[group];
    case DMA_RECEPTION_NOT_EMPTY: return mask_of(node->reception, RECEPTION_FIFOS, has_something);
    case DMA_RECEPTION_AVAILABLE: return mask_of(node->reception, RECEPTION_FIFOS, is_available);
    case DMA_RECEPTION_THRESHOLD: return node->reception_crossed;
    default: return 0;
    }
}

uint32_t net_dma_load(const struct net_dma_part *part, uint32_t number, uint32_t offset)
{
    const struct dma_node *node = part->dma->nodes[number];
    unsigned group = offset >> 12, first = DMA_COUNTERS * group;
    offset &= 0xFFC;
    if (!node) return 0;
    if (offset < DMA_INJECTION_NOT_EMPTY)
        return node->injection[DMA_INJECTION_FIFOS * group + offset / 16].word[offset / 4 % 4];
    if (offset < DMA_INJECTION_ENABLED) return load_status(node, group, offset);
    if (offset < DMA_INJECTION_COUNTERS)
        return load_counters(node->injection_enabled, node->injection_zero, group,
                             offset - DMA_INJECTION_ENABLED);
    if (offset < DMA_RECEPTION)
        return load_counter(&node->injection_counter[first + offset / 16 % DMA_COUNTERS],
                            offset & 0xC, false);
    if (offset < DMA_RECEPTION + 16 * DMA_RECEPTION_FIFOS)
        return node->reception[DMA_RECEPTION_FIFOS * group + offset / 16 % 8].word[offset / 4 % 4];
    if (offset < DMA_RECEPTION_ENABLED) return load_status(node, group, offset);
    if (offset < DMA_RECEPTION_COUNTERS)
        return load_counters(node->reception_enabled, node->reception_zero, group,
                             offset - DMA_RECEPTION_ENABLED);
    return load_counter(&node->reception_counter[first + offset / 16 % DMA_COUNTERS], offset & 0xC,
                        true);
}

/* ---- stores ---- */

static void store_counters(uint32_t *enabled, uint32_t *zero, unsigned group, uint32_t offset,
                           uint32_t value)
{
    unsigned word = 2 * group + (offset >> 2 & 1);
    switch (offset & ~7u) {
    case DMA_ENABLE: enabled[word] |= value; break;
    case DMA_DISABLE: enabled[word] &= ~value; break;
    case DMA_CLEAR_HIT_ZERO: zero[word] &= ~value; break;
    default: break;
    }
}

static void store_counter(struct dma_counter *counter, uint32_t word, uint32_t value)
{
    switch (word) {
    case DMA_VALUE: counter->value = value; break;
    case DMA_INCREMENT: counter->value += value; break;
    case DMA_BASE: counter->base = value; break;
    default: counter->maximum = value; break;
    }
}

static void store_status(struct dma_node *node, unsigned group, uint32_t offset, uint32_t value)
{
    switch (offset) {
    case DMA_INJECTION_CLEAR_THRESHOLD: node->got_crossed[group] &= ~value; break;
    case DMA_ACTIVATE: node->activated[group] |= value; break;
    case DMA_DEACTIVATE: node->activated[group] &= ~value; break;
    case DMA_RECEPTION_CLEAR_THRESHOLD: node->reception_crossed &= ~value; break;
    default: break;
    }
}

/* A store to a FIFO other than its tail forgets the message that was begun. */
static void store_injection(struct dma_node *node, unsigned fifo, unsigned word, uint32_t value)
{
    node->injection[fifo].word[word] = value;
    if (word != DMA_TAIL / 4 && !(node->state == DMA_IS_BLOCKED && node->fifo == fifo))
        node->message[fifo].active = false;
}

/* Those of header FIFOs, behind the others, keep nothing. */
static void store_reception(struct dma_node *node, unsigned first, uint32_t offset, uint32_t value)
{
    if (offset < 16 * DMA_RECEPTION_FIFOS)
        node->reception[first + offset / 16].word[offset / 4 % 4] = value;
}

static bool is_status(uint32_t offset)
{
    return offset < DMA_INJECTION_ENABLED ||
           (offset >= DMA_RECEPTION_NOT_EMPTY && offset < DMA_RECEPTION_ENABLED);
}

void net_dma_store(struct net_dma_part *part, uint32_t number, uint32_t offset, uint32_t value)
{
    struct dma_node *node = dma_node_get(part, number);
    unsigned group = offset >> 12, first = DMA_COUNTERS * group;
    offset &= 0xFFC;
    if (offset < DMA_INJECTION_NOT_EMPTY)
        store_injection(node, DMA_INJECTION_FIFOS * group + offset / 16, offset / 4 % 4, value);
    else if (is_status(offset))
        store_status(node, group, offset, value);
    else if (offset < DMA_INJECTION_COUNTERS)
        store_counters(node->injection_enabled, node->injection_zero, group,
                       offset - DMA_INJECTION_ENABLED, value);
    else if (offset < DMA_RECEPTION)
        store_counter(&node->injection_counter[first + offset / 16 % DMA_COUNTERS], offset & 0xC,
                      value);
    else if (offset < DMA_RECEPTION_NOT_EMPTY)
        store_reception(node, DMA_RECEPTION_FIFOS * group, offset - DMA_RECEPTION, value);
    else if (offset < DMA_RECEPTION_COUNTERS)
        store_counters(node->reception_enabled, node->reception_zero, group,
                       offset - DMA_RECEPTION_ENABLED, value);
    else
        store_counter(&node->reception_counter[first + offset / 16 % DMA_COUNTERS], offset & 0xC,
                      value);
    dma_touch(part, node);
}

uint32_t net_dma_dcr_load(const struct net_dma_part *part, uint32_t number, unsigned dcr)
{
    struct dma_node *node = dma_node_get((struct net_dma_part *)part, number);
    return node->dcr[dcr % DMA_DCRS];
}

void net_dma_dcr_store(struct net_dma_part *part, uint32_t number, unsigned dcr, uint32_t value)
{
    struct dma_node *node = dma_node_get(part, number);
    node->dcr[dcr % DMA_DCRS] = value;
    dma_touch(part, node);
}
