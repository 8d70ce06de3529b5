/* The DMA engine again, cycle by cycle and as plainly as possible, to compare
 * src/machine/net/net_dma*.c with. It is written from docs/model-network.md, on the literal torus:
 * both units of every node are looked at in every cycle, masks are arrays of bool, and descriptors
 * and headers are taken apart byte by byte.
 */
#ifndef TEST_NET_LITERAL_DMA_H
#define TEST_NET_LITERAL_DMA_H

#include "machine/net/net_dma.h"
#include "net_literal_torus.h"

struct literal_dma_packet {
    uint8_t bytes[256]; /* header and payload */
    int chunks;
};

struct literal_dma_node {
    uint32_t injection[128][4], reception[32][4]; /* start, end, head, tail */
    uint32_t sends[256][2], receives[256][3];     /* value, base, maximum */
    bool sends_on[256], receives_on[256], sends_hit[256], receives_hit[256];
    bool activated[128], got_crossed[128], crossed[32];
    uint32_t dcr[256];
    bool known[128]; /* the descriptor at the head was read */
    uint8_t descriptor[128][32];
    uint32_t done[128]; /* bytes of it */
    enum { DOES_NOTHING, FETCHES, READS, HAS_PACKET } does;
    int fifo, turn[2];
    uint64_t until;
    struct literal_dma_packet packet; /* HAS_PACKET: no torus FIFO has room for it */
    bool packet_counts;               /* its message goes on with it */
    struct literal_dma_packet local[64];
    int locals;
    bool receives_now, was_receiving, get_waits;
    int from, from_turn[2];
    uint64_t receives_until;
    struct net_count count[DMA_EVENTS];
};

struct literal_dma {
    struct net_dma_params params;
    struct literal_torus *torus;
    struct literal_dma_node *node;
    void *owner;
    uint8_t *(*memory)(void *owner, uint32_t node, uint64_t address, uint32_t size); /* or NULL */
    void (*fault)(void *owner, uint32_t node);
    void (*interrupt)(void *owner, uint32_t node, int number);
};

struct literal_dma *literal_dma_new(struct literal_torus *torus,
                                    const struct net_dma_params *params);
void literal_dma_free(struct literal_dma *dma);
/* One cycle, of the torus too. */
void literal_dma_step(struct literal_dma *dma);
uint32_t literal_dma_load(const struct literal_dma *dma, uint32_t node, uint32_t offset);
void literal_dma_store(struct literal_dma *dma, uint32_t node, uint32_t offset, uint32_t value);

#endif
