/* Packets over the torus FIFOs and the barrier's registers; see chiliad/net.h.
 *
 * FIFOs are read and written in 16 bytes, through a pair of floating-point registers. The header's
 * last two words are the software's: node << 8 | bytes, and the tag. All packets use the FIFOs of
 * group 0; the injection FIFO is that of the first dimension in which the nodes differ, so packets
 * to one node are in one FIFO. */
#include <string.h>

#include "net_impl.h"

enum {
    RECEPTION_STEP = 0x400,
    RECEPTION_HIGH = 0x2000,
    INJECTION = 0x3000,
    INJECTION_STEP = 0x1000,
    STATUS = 0x7000,
    CHUNK = 32,
    FIFO_CHUNKS = 32,
    HIGH = 6, /* reception FIFO of packets with priority */
    INJECTION_HIGH = 3,
};

/* Bits of the header's first word. */
enum { DEPOSIT = 1 << 17, DYNAMIC = 1 << 10, CHANNEL = 8, CHUNKS = 13, HINTS = 18 };
enum { BUBBLE_NORMAL = 2, BUBBLE_PRIORITY = 3 };

/* Device control registers of the barrier, and bits of its status; channel 0. */
enum { BARRIER_FIRE = 0x668, BARRIER_ARM = 0x66C };
enum { BARRIER_STICKY = 1 << 27, BARRIER_DOWN = 1 << 11 };

static struct {
    struct chiliad_personality self;
    uint32_t torus, registers;
    unsigned next; /* reception FIFO that comes first */
} net;

static __attribute__((noinline)) void look(void)
{
    net.self = chiliad_personality();
    net.torus = chiliad_personality_word(CHILIAD_PERSONALITY_TORUS);
    net.registers = chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS);
}

const struct chiliad_personality *net_self(void)
{
    if (!net.self.version) look();
    return &net.self;
}

/* ---- shape ---- */

unsigned net_node_at(const unsigned at[3])
{
    const uint32_t *size = net_self()->size;
    return (at[2] * size[1] + at[1]) * size[0] + at[0];
}

static void coordinates(unsigned node, unsigned at[3])
{
    const uint32_t *size = net_self()->size;
    at[0] = node % size[0];
    at[1] = node / size[0] % size[1];
    at[2] = node / size[0] / size[1];
}

unsigned net_hops(unsigned from, unsigned to)
{
    unsigned a[3], b[3], hops = 0;
    coordinates(from, a);
    coordinates(to, b);
    for (unsigned i = 0; i < 3; i++) {
        unsigned way = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i], round = net.self.size[i] - way;
        hops += net.self.closed >> (2 - i) & 1 && round < way ? round : way;
    }
    return hops;
}

/* ---- 16 bytes at a time ---- */

static inline uint32_t status_word(unsigned number)
{
    return ((const volatile uint32_t *)(net.torus + STATUS))[number];
}

/* ---- sending ---- */

static unsigned injected_chunks(unsigned fifo)
{
    unsigned at = 7 + fifo;
    return status_word(at / 4) >> (24 - at % 4 * 8) & 0xFF;
}

static unsigned fifo_of(const unsigned at[3], unsigned route)
{
    unsigned i = 0;
    if (route & NET_PRIORITY) return INJECTION_HIGH;
    while (i < 2 && at[i] == net.self.at[i])
        i++;
    return i;
}

static void fill_header(uint32_t words[4], const unsigned at[3], uint32_t tag, unsigned bytes,
                        unsigned route)
{
    unsigned channel = route & NET_PRIORITY  ? BUBBLE_PRIORITY
                       : route & NET_ORDERED ? BUBBLE_NORMAL
                                             : 0;
    words[0] = at[0] | channel << CHANNEL | (net_chunks(bytes) - 1) << CHUNKS |
               (route & (NET_ORDERED | NET_PRIORITY) ? 0 : DYNAMIC) |
               (route & NET_DEPOSIT ? DEPOSIT : 0);
    words[1] = at[1] << 24 | at[2] << 16;
    words[2] = net.self.node << 8 | bytes;
    words[3] = tag;
}

int net_try_send(unsigned node, uint32_t tag, const void *data, unsigned bytes, unsigned route)
{
    uint32_t copy[(CHUNK * 8) / 4] __attribute__((aligned(16)));
    unsigned at[3];
    if (node == net_node() || node >= net.self.nodes || bytes > NET_PACKET_MAX) return NET_WRONG;
    coordinates(node, at);
    unsigned fifo = fifo_of(at, route), chunks = net_chunks(bytes);
    if (injected_chunks(fifo) + chunks > FIFO_CHUNKS) return NET_FULL;
    fill_header(copy, at, tag, bytes, route);
    memcpy(copy + 4, data, bytes);
    uint32_t to = net.torus + INJECTION + fifo * INJECTION_STEP;
    for (unsigned i = 0; i < chunks * CHUNK; i += 16)
        net_quad_copy(to, (uint32_t)copy + i);
    return NET_OK;
}

int net_send(unsigned node, uint32_t tag, const void *data, unsigned bytes, unsigned route)
{
    int status = net_try_send(node, tag, data, bytes, route);
    while (status == NET_FULL) {
        unsigned at[3], fifo;
        coordinates(node, at);
        fifo = fifo_of(at, route);
        while (injected_chunks(fifo) + net_chunks(bytes) > FIFO_CHUNKS) {
        }
        status = net_try_send(node, tag, data, bytes, route);
    }
    return status;
}

/* ---- receiving ---- */

/* The FIFO to read: the one with priority, or the next in turn that has something; -1: all are
 * empty. */
static int choose(void)
{
    uint32_t first = status_word(0), second = status_word(1);
    if (second >> 8 & 0xFF) return HIGH;
    if (!first && !(second >> 16)) return -1;
    for (;;) {
        unsigned fifo = net.next;
        net.next = net.next == 5 ? 0 : net.next + 1;
        if ((fifo < 4 ? first >> (24 - 8 * fifo) : second >> (24 - 8 * (fifo - 4))) & 0xFF)
            return (int)fifo;
    }
}

int net_receive(struct net_packet *packet)
{
    uint32_t words[4] __attribute__((aligned(16)));
    (void)net_self();
    int fifo = choose();
    if (fifo < 0) return 0;
    uint32_t from = net.torus + (fifo == HIGH ? RECEPTION_HIGH : (unsigned)fifo * RECEPTION_STEP);
    net_quad_copy((uint32_t)words, from);
    unsigned quads = 2 * ((words[0] >> CHUNKS & 7) + 1) - 1;
    for (unsigned i = 0; i < quads; i++)
        net_quad_copy((uint32_t)packet->data + 16 * i, from);
    packet->hints = words[0];
    packet->node = words[2] >> 8;
    packet->bytes = words[2] & 0xFF;
    packet->tag = words[3];
    return 1;
}

void net_wait(void)
{
    const volatile uint32_t *status = (const volatile uint32_t *)(net_self(), net.torus + STATUS);
    while (!(status[0] | status[1] >> 8)) {
    }
}

/* ---- barrier ---- */

static volatile uint32_t *barrier_register(unsigned number)
{
    return (volatile uint32_t *)(net_self(), net.registers + 4 * number);
}

void net_barrier_arrive(void)
{
    volatile uint32_t *fire = barrier_register(BARRIER_FIRE);
    while (!(*fire & BARRIER_DOWN)) {
    }
    *fire = 0;
    *barrier_register(BARRIER_ARM) = 1;
    *fire = 1;
}

int net_barrier_is_over(void)
{
    return (*barrier_register(BARRIER_FIRE) & BARRIER_STICKY) != 0;
}

void net_barrier(void)
{
    net_barrier_arrive();
    const volatile uint32_t *status = barrier_register(BARRIER_FIRE);
    while (!(*status & BARRIER_STICKY)) {
    }
}
