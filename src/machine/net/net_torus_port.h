/* The torus FIFOs of a node as a core sees them: memory-mapped, in accesses of 16 bytes.
 *
 * Blue Gene/L's cores move packets through them; Blue Gene/P has the same window for when the DMA
 * engine is off. A group of FIFOs has a window of 32 KB:
 *
 *   offset          access   what
 *   0x0000 - 0x17FF load     reception FIFO x+ x- y+ y- z+ z-, 0x400 each
 *   0x2000 - 0x23FF load     reception FIFO, high
 *   0x3000 - 0x6FFF store    injection FIFO 0, 1, 2, high, 0x1000 each
 *   0x7000          load     status of this group
 *   0x7010          load     status of the other group
 *
 * Any offset in a FIFO's range is that FIFO. A load takes the next 16 bytes of its first packet,
 * the header first; after the last bytes the packet is gone and its chunks are free. A store
 * appends 16 bytes; the first 16 bytes of a packet are its header, which says how many follow; with
 * the last ones the packet starts on its way. Status: a byte for each reception FIFO (6, then
 * high), for each injection FIFO (3, then high), 5 bytes of 0; each is the number of 32-byte chunks
 * that the FIFO holds, begun ones included.
 *
 * What hardware leaves undefined is reported, so that a program's fault has a message: a load from
 * an empty FIFO gives zeros and CHIL_EORDER, a store into a full one is dropped with CHIL_EBUSY, a
 * header that leads nowhere gives net_torus_inject's message and the packet is dropped.
 *
 * Within a packet an access is private: nothing outside of the node sees it, and its answer does
 * not depend on anything outside. A store is private if room is known and it is not a packet's
 * last; a load if it is neither a packet's first nor its last. net_torus_port_is_private says so;
 * net_torus_port_learn refreshes what is known. A private access touches the port only, so another
 * thread than the partition's may do it.
 *
 * A port is a node's; the thread of the node's partition uses it. Source: IBM's BGL_TorusPktSPI.h.
 */
#ifndef NET_NET_TORUS_PORT_H
#define NET_NET_TORUS_PORT_H

#include "machine/net/net_torus.h"

enum {
    TORUS_PORT_QUAD = 16,
    TORUS_PORT_SIZE = 0x8000,
    TORUS_PORT_INJECTION = 0x3000,
    TORUS_PORT_HIGH = 0x2000, /* reception */
    TORUS_PORT_STATUS = 0x7000,
    TORUS_PORT_OTHER_STATUS = 0x7010,
};

struct net_torus_port;

struct net_torus_port *net_torus_port_new(struct net_torus_part *part, uint32_t node);
void net_torus_port_free(struct net_torus_port *port);

/* `group` is the window, `offset` a multiple of 16 below TORUS_PORT_SIZE. CHIL_OK, or a status and
 * a message. `serial` goes with a packet that this store completes. */
int net_torus_port_load(struct net_torus_port *port, unsigned group, uint32_t offset,
                        uint8_t quad[TORUS_PORT_QUAD], struct chil_error *error);
int net_torus_port_store(struct net_torus_port *port, unsigned group, uint32_t offset,
                         const uint8_t quad[TORUS_PORT_QUAD], uint64_t serial,
                         struct chil_error *error);

/* What the port knows of the injection FIFOs from now on, until it completes a packet; a bit of
 * `shared`, the lowest for FIFO 0: a FIFO that others than this port fill, of which nothing is
 * known. */
void net_torus_port_learn(struct net_torus_port *port, unsigned shared);
/* An access of 16 bytes; false also where there is no FIFO. */
bool net_torus_port_is_private(const struct net_torus_port *port, unsigned group, uint32_t offset,
                               bool load);
void net_torus_port_load_private(struct net_torus_port *port, unsigned group, uint32_t offset,
                                 uint8_t quad[TORUS_PORT_QUAD]);
void net_torus_port_store_private(struct net_torus_port *port, unsigned group, uint32_t offset,
                                  const uint8_t quad[TORUS_PORT_QUAD]);

/* Packets of a DMA engine (serials with the highest bit) that a core has read. */
uint64_t net_torus_port_taken(const struct net_torus_port *port);

#endif
