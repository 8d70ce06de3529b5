/* A node's torus FIFOs in accesses of 16 bytes; see net_torus_port.h.
 *
 * The router has whole packets. The port keeps the packet that is being written of each injection
 * FIFO, and how much of the first packet of each reception FIFO was read, with a copy of it.
 */
#include "machine/net/net_torus_port.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    INJECTION_PER_GROUP = TORUS_INJECTION_FIFOS / TORUS_GROUPS,
    RECEPTION_PER_GROUP = TORUS_RECEPTION_FIFOS / TORUS_GROUPS,
    RECEPTION_STEP = 0x400,
    INJECTION_STEP = 0x1000,
    NO_FIFO = -1,
    UNKNOWN = UINT8_MAX,
};

struct begun {
    uint8_t bytes[TORUS_CHUNKS_MAX * TORUS_CHUNK];
    uint16_t written, size;
    uint8_t held; /* chunks that the FIFO holds at most, or UNKNOWN */
};

/* The first packet of a reception FIFO, of which a part was read. */
struct reading {
    uint8_t bytes[TORUS_CHUNKS_MAX * TORUS_CHUNK];
    uint16_t read, size; /* read 0: no copy */
};

struct net_torus_port {
    struct net_torus_part *part;
    uint32_t node;
    uint64_t taken;
    struct reading reading[TORUS_RECEPTION_FIFOS];
    struct begun begun[TORUS_INJECTION_FIFOS];
};

struct net_torus_port *net_torus_port_new(struct net_torus_part *part, uint32_t node)
{
    struct net_torus_port *port = base_calloc(1, sizeof *port);
    port->part = part;
    port->node = node;
    for (unsigned fifo = 0; fifo < TORUS_INJECTION_FIFOS; fifo++)
        port->begun[fifo].held = UNKNOWN;
    return port;
}

void net_torus_port_free(struct net_torus_port *port)
{
    free(port);
}

uint64_t net_torus_port_taken(const struct net_torus_port *port)
{
    return port->taken;
}

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void word_put(uint8_t *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* ---- status ---- */

static unsigned chunks_read(const struct net_torus_port *port, unsigned fifo)
{
    return port->reading[fifo].read / TORUS_CHUNK;
}

static unsigned chunks_begun(const struct begun *begun)
{
    return (begun->written + TORUS_CHUNK - 1u) / TORUS_CHUNK;
}

static void status_load(const struct net_torus_port *port, unsigned group, uint8_t *quad)
{
    memset(quad, 0, TORUS_PORT_QUAD);
    for (unsigned i = 0; i < RECEPTION_PER_GROUP; i++) {
        unsigned fifo = group * RECEPTION_PER_GROUP + i;
        quad[i] = (uint8_t)(net_torus_reception_chunks(port->part, port->node, fifo) -
                            chunks_read(port, fifo));
    }
    for (unsigned i = 0; i < INJECTION_PER_GROUP; i++) {
        unsigned fifo = group * INJECTION_PER_GROUP + i;
        quad[RECEPTION_PER_GROUP + i] =
            (uint8_t)(net_torus_injection_chunks(port->part, port->node, fifo) +
                      chunks_begun(&port->begun[fifo]));
    }
}

/* ---- FIFOs ---- */

static int reception_fifo(unsigned group, uint32_t offset)
{
    unsigned receiver = offset / RECEPTION_STEP;
    if (offset >= TORUS_PORT_HIGH) receiver = receiver == TORUS_PORT_HIGH / RECEPTION_STEP ? 6 : 7;
    return receiver < RECEPTION_PER_GROUP && (receiver < 6 || offset >= TORUS_PORT_HIGH)
               ? (int)(group * RECEPTION_PER_GROUP + receiver)
               : NO_FIFO;
}

static bool is_injection(uint32_t offset)
{
    return offset >= TORUS_PORT_INJECTION && offset < TORUS_PORT_STATUS;
}

static unsigned injection_fifo(unsigned group, uint32_t offset)
{
    return group * INJECTION_PER_GROUP + (offset - TORUS_PORT_INJECTION) / INJECTION_STEP;
}

static void copy_packet(struct reading *reading, const struct net_torus_packet *packet)
{
    reading->size = (uint16_t)(packet->chunks * TORUS_CHUNK);
    for (unsigned i = 0; i < 4; i++)
        word_put(reading->bytes + 4 * i, packet->words[i]);
    if (packet->payload)
        memcpy(reading->bytes + TORUS_HEADER, packet->payload, reading->size - TORUS_HEADER);
    else
        memset(reading->bytes + TORUS_HEADER, 0, reading->size - TORUS_HEADER);
}

static void take_quad(struct reading *reading, uint8_t *quad)
{
    memcpy(quad, reading->bytes + reading->read, TORUS_PORT_QUAD);
    reading->read = (uint16_t)(reading->read + TORUS_PORT_QUAD);
}

int net_torus_port_load(struct net_torus_port *port, unsigned group, uint32_t offset,
                        uint8_t quad[TORUS_PORT_QUAD], struct chil_error *error)
{
    assert(group < TORUS_GROUPS && offset < TORUS_PORT_SIZE && offset % TORUS_PORT_QUAD == 0);
    if (offset == TORUS_PORT_STATUS || offset == TORUS_PORT_OTHER_STATUS) {
        status_load(port, group ^ (offset == TORUS_PORT_OTHER_STATUS), quad);
        return CHIL_OK;
    }
    int fifo = reception_fifo(group, offset);
    memset(quad, 0, TORUS_PORT_QUAD);
    if (fifo == NO_FIFO)
        return chil_error_set(error, CHIL_ENOENT,
                              "torus FIFOs of node %u: load from 0x%04x of group %u; there is no "
                              "reception FIFO",
                              port->node, offset, group);
    const struct net_torus_packet *packet = net_torus_front(port->part, port->node, (unsigned)fifo);
    if (!packet)
        return chil_error_set(error, CHIL_EORDER,
                              "torus FIFOs of node %u: load from reception FIFO %u of group %u, "
                              "which is empty; read the status first",
                              port->node, (unsigned)fifo % RECEPTION_PER_GROUP, group);
    struct reading *reading = &port->reading[fifo];
    if (reading->read == 0) copy_packet(reading, packet);
    take_quad(reading, quad);
    if (reading->read >= packet->chunks * TORUS_CHUNK) {
        reading->read = 0;
        port->taken += packet->serial >> 63;
        net_torus_drop_front(port->part, port->node, (unsigned)fifo);
    }
    return CHIL_OK;
}

static void put_quad(struct begun *begun, const uint8_t *quad)
{
    memcpy(begun->bytes + begun->written, quad, TORUS_PORT_QUAD);
    if (begun->written == 0) {
        struct net_torus_header header;
        uint32_t words[4] = {word_at(quad)};
        net_torus_header_decode(words, &header);
        begun->size = (uint16_t)(header.chunks * TORUS_CHUNK);
    }
    begun->written = (uint16_t)(begun->written + TORUS_PORT_QUAD);
}

static int packet_complete(struct net_torus_port *port, unsigned fifo, uint64_t serial,
                           struct chil_error *error)
{
    struct begun *begun = &port->begun[fifo];
    uint32_t words[4];
    for (unsigned i = 0; i < 4; i++)
        words[i] = word_at(begun->bytes + 4 * i);
    begun->written = 0;
    begun->held = UNKNOWN;
    return net_torus_inject(port->part, port->node, fifo, words, begun->bytes + TORUS_HEADER,
                            serial, error);
}

int net_torus_port_store(struct net_torus_port *port, unsigned group, uint32_t offset,
                         const uint8_t quad[TORUS_PORT_QUAD], uint64_t serial,
                         struct chil_error *error)
{
    assert(group < TORUS_GROUPS && offset < TORUS_PORT_SIZE && offset % TORUS_PORT_QUAD == 0);
    if (!is_injection(offset))
        return chil_error_set(error, CHIL_ENOENT,
                              "torus FIFOs of node %u: store to 0x%04x of group %u; there is no "
                              "injection FIFO",
                              port->node, offset, group);
    unsigned fifo = injection_fifo(group, offset);
    struct begun *begun = &port->begun[fifo];
    unsigned held = net_torus_injection_chunks(port->part, port->node, fifo);
    if (held * TORUS_CHUNK + begun->written + TORUS_PORT_QUAD > TORUS_FIFO_CHUNKS * TORUS_CHUNK)
        return chil_error_set(error, CHIL_EBUSY,
                              "torus FIFOs of node %u: store into injection FIFO %u of group %u, "
                              "which is full; read the status first",
                              port->node, fifo % INJECTION_PER_GROUP, group);
    put_quad(begun, quad);
    return begun->written == begun->size ? packet_complete(port, fifo, serial, error) : CHIL_OK;
}

/* ---- private accesses ---- */

void net_torus_port_learn(struct net_torus_port *port, unsigned shared)
{
    for (unsigned fifo = 0; fifo < TORUS_INJECTION_FIFOS; fifo++)
        port->begun[fifo].held =
            shared >> fifo & 1 ? UNKNOWN
                               : (uint8_t)net_torus_injection_chunks(port->part, port->node, fifo);
}

bool net_torus_port_is_private(const struct net_torus_port *port, unsigned group, uint32_t offset,
                               bool load)
{
    if (offset % TORUS_PORT_QUAD || is_injection(offset) == load) return false;
    if (load) {
        int fifo = offset < TORUS_PORT_INJECTION ? reception_fifo(group, offset) : NO_FIFO;
        const struct reading *reading = fifo < 0 ? NULL : &port->reading[fifo];
        return reading && reading->read && reading->read + TORUS_PORT_QUAD < reading->size;
    }
    const struct begun *begun = &port->begun[injection_fifo(group, offset)];
    unsigned after = begun->written + TORUS_PORT_QUAD;
    return begun->held != UNKNOWN && (!begun->written || after < begun->size) &&
           begun->held * TORUS_CHUNK + after <= TORUS_FIFO_CHUNKS * TORUS_CHUNK;
}

void net_torus_port_load_private(struct net_torus_port *port, unsigned group, uint32_t offset,
                                 uint8_t quad[TORUS_PORT_QUAD])
{
    assert(net_torus_port_is_private(port, group, offset, true));
    take_quad(&port->reading[reception_fifo(group, offset)], quad);
}

void net_torus_port_store_private(struct net_torus_port *port, unsigned group, uint32_t offset,
                                  const uint8_t quad[TORUS_PORT_QUAD])
{
    assert(net_torus_port_is_private(port, group, offset, false));
    put_quad(&port->begun[injection_fifo(group, offset)], quad);
}
