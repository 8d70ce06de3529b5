/* The DMA engine of a Blue Gene/P node, from a program: bulk transfers that cost a core a few
 * stores. `man 3 chiliad_dma` has an example; docs/model-network.md of Chiliad is the reference of
 * the hardware.
 *
 * Addresses are effective addresses of the process that they are in: put and get need no address of
 * another kind. A transfer counts bytes down in a counter: at the sender when they were read, at
 * the receiver when they were written. A counter that comes to 0 sets its bit, which net_dma_done
 * looks at. Several transfers may share a counter.
 *
 * Each process of a node has 64 counters of both kinds, of which the last 2 are the library's, and
 * FIFOs of its own. The engine uses the torus FIFOs of group 1, so with one or two processes on a
 * node it runs beside net_send and net_receive (chiliad/net.h), which use group 0. With four,
 * processes 0 and 1 share group 0 with them: then do not use both. Nor after
 * net_dma_use_all_fifos.
 *
 * Functions are for one thread of a process. */
#ifndef CHILIAD_DMA_H
#define CHILIAD_DMA_H

#include <stddef.h>
#include <stdint.h>

#include "chiliad/net.h"

enum { NET_DMA_COUNTERS = 62, NET_DMA_NONE = 63 };

/* Sets the engine up for this process, the first time; NET_WRONG: there is none (Blue Gene/L).
 * Another node may send once all have called it: a net_barrier between. In a program with MPI that
 * library has counters 32 to 61 of both kinds. */
int net_dma_open(void);
/* Then the engine takes the torus FIFOs of group 0, too: six links are busy at once, not three. For
 * programs whose cores send no packets (net_send, MPI). */
void net_dma_use_all_fifos(void);

/* Reception: expects `bytes` in counter `counter`, by any number of transfers. With _add, so many
 * more. */
void net_dma_expect(unsigned counter, uint32_t bytes);
void net_dma_expect_more(unsigned counter, uint32_t bytes);
/* Whether a reception counter has come to 0; and waits until it has. Both end the expectation. */
int net_dma_done(unsigned counter);
void net_dma_wait(unsigned counter);
/* Bytes that are still to come. */
uint32_t net_dma_left(unsigned counter);

/* The same for what this process sends: an injection counter. net_dma_put and others add to it. */
int net_dma_sent(unsigned counter);
void net_dma_wait_sent(unsigned counter);

/* The injection counter is to count so many bytes, of transfers by net_dma_try_put. */
void net_dma_expect_sent(unsigned counter, uint32_t bytes);
/* For loops that wait for several counters: two words, of reception counters or of injection ones;
 * the bit of counter c, 0x80000000 >> c % 32 of word c / 32, is set when it has come to 0. */
const volatile uint32_t *net_dma_hits(int reception);

struct net_dma_transfer {
    uint32_t node, process; /* the other side; process: t on its node */
    void *local;            /* address here */
    uint32_t remote;        /* address there */
    uint32_t bytes;         /* any number; 16-byte alignment is not needed */
    unsigned counter;       /* reception counter, of the side that receives */
    unsigned sent;          /* put: injection counter of this process, or NET_DMA_NONE */
    unsigned route;         /* enum net_route; NET_DEPOSIT: to all nodes on the way */
};

/* Writes `bytes` from `local` to `remote` of the other process, and counts them down in its
 * reception counter. Returns when the transfer is queued; `local` may change after net_dma_sent. */
void net_dma_put(const struct net_dma_transfer *transfer);
/* The same without waiting: NET_FULL if the FIFO that comes next has no place. The injection
 * counter is not added to: net_dma_expect_sent has set it. */
int net_dma_try_put(const struct net_dma_transfer *transfer);
/* Reads `bytes` from `remote` of the other process to `local`, and counts them down in the
 * reception counter of this process. No core of the other node has a part in it. */
void net_dma_get(const struct net_dma_transfer *transfer);

/* Packets of at most NET_PACKET_MAX bytes into the reception FIFO of a process, in its memory.
 * `tag` has 8 bits. Packets of NET_ORDERED and NET_PRIORITY between two processes stay in order.
 * Data are copied: they may change at once. The FIFO has 64 KB, less 512 bytes: then packets wait
 * in the network. */
void net_dma_send(uint32_t node, uint32_t process, unsigned tag, const void *data, unsigned bytes,
                  unsigned route);
struct net_dma_packet {
    uint32_t node; /* that sent it */
    unsigned tag, bytes;
    const void *data; /* in the FIFO, as long as until the next net_dma_receive */
};
/* Takes a packet, if one is there: 1, or 0. */
int net_dma_receive(struct net_dma_packet *packet);
/* Waits until net_dma_receive has something to take. */
void net_dma_wait_packet(void);

#endif
