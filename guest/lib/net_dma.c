/* Transfers by the DMA engine; see chiliad/dma.h.
 *
 * Process t of up to two on a node uses group 2 + t of the engine: packets of groups 2 and 3 arrive
 * in the torus FIFOs of group 1, so cores may use group 0. Of four processes, t uses group t.
 *
 * Counters have the start of the process's memory as their base, so an offset is an effective
 * address. Eight injection FIFOs: one for packets in order (one torus FIFO), one for descriptors
 * that others send (remote get), and six for transfers in turn: the engine serves them a packet
 * each. Each place of a FIFO has a buffer of 256 bytes for the data that the library itself sends.
 */
#include "chiliad/dma.h"

#include <string.h>

enum {
    GROUP_STRIDE = 0x1000,
    INJECTION = 0x000,
    ACTIVATE = 0x224,
    INJECTION_COUNTERS = 0x400,
    RECEPTION = 0x800,
    RECEPTION_COUNTERS = 0xC00,
    /* of counters, from 0x300 for injection and 0xB00 for reception on */
    INJECTION_MASKS = 0x300,
    RECEPTION_MASKS = 0xB00,
    ENABLE = 0x08,
    HIT_ZERO = 0x20,
    CLEAR_HIT_ZERO = 0x28,
};
enum { START = 0, END = 4, HEAD = 8, TAIL = 12, VALUE = 0, INCREMENT = 4, BASE = 8, MAXIMUM = 12 };
enum { DCR_TORUS_MAP = 0xD3C, DCR_RECEPTION_MAP = 0xD60 };
enum { GROUP_1_FIFOS = 0x0E, ALL_FIFOS = 0xEE }; /* normal ones of the torus, as maps have them */
enum { ORDERED, GETS, BULK, FIFOS = BULK + 6 };
enum {
    PLACES = 64, /* descriptors of a FIFO */
    DESCRIPTOR = 32,
    PACKET_BYTES = 65536,
    SHARED_COUNTER = NET_DMA_NONE, /* injection: for what others get, and what is not waited for */
    COPY_COUNTER = NET_DMA_NONE - 1,
};
enum { DEPOSIT = 1 << 17, PID0 = 1 << 16, PID1 = 1 << 12, DIRECT = 1 << 11, DYNAMIC = 1 << 10 };
enum { CHUNKS = 13, CHANNEL = 8, BUBBLE_NORMAL = 2, BUBBLE_PRIORITY = 3, REMOTE_GET = 1 << 8 };

struct place {
    uint32_t words[8];
};

struct fifo {
    struct place places[PLACES] __attribute__((aligned(32)));
    uint8_t copies[PLACES][256] __attribute__((aligned(16)));
    uint32_t at, free; /* the next place; places known to be free */
};

static struct {
    uint32_t registers, group, process, base, self, processes, dcr;
    struct fifo fifo[FIFOS];
    uint8_t packets[PACKET_BYTES] __attribute__((aligned(32)));
    unsigned turn;                                   /* bulk FIFO that comes next */
    uint32_t packets_head, packets_tail;             /* bytes */
    uint8_t whole[256] __attribute__((aligned(16))); /* of a packet that lies round the end */
} dma;

static inline volatile uint32_t *at(uint32_t offset)
{
    return (volatile uint32_t *)(dma.registers + offset);
}

static inline uint32_t group_of(uint32_t process)
{
    return dma.processes > 2 ? process : 2 + process;
}

/* Bits 0-31 of a physical address >> 4: the process, and the effective address. */
static inline uint32_t physical(uint32_t process, uint32_t address)
{
    return process << 28 | address >> 4;
}

static void set_fifo(uint32_t offset, const void *memory, uint32_t bytes)
{
    uint32_t start = physical(dma.process, (uint32_t)memory);
    *at(offset + START) = start;
    *at(offset + END) = start + bytes / 16;
    *at(offset + HEAD) = start;
    *at(offset + TAIL) = start;
}

static void set_counter(uint32_t offset, int reception)
{
    *at(offset + VALUE) = 0;
    *at(offset + BASE) = dma.base;
    if (reception) *at(offset + MAXIMUM) = dma.base | 0x0FFFFFFF;
}

/* The torus FIFOs that each injection FIFO may use, 8 bits each: the ordered one the first of group
 * 1, the others `all`. */
static void set_torus_maps(uint32_t all)
{
    volatile uint32_t *dcr = (volatile uint32_t *)dma.dcr;
    dcr[DCR_TORUS_MAP + 8 * dma.group] = 0x08u << 24 | all << 16 | all << 8 | all;
    dcr[DCR_TORUS_MAP + 8 * dma.group + 1] = all << 24 | all << 16 | all << 8 | all;
}

void net_dma_use_all_fifos(void)
{
    set_torus_maps(ALL_FIFOS);
}

int net_dma_open(void)
{
    const struct chiliad_personality *self = net_self();
    uint32_t window = chiliad_personality_word(CHILIAD_PERSONALITY_DMA);
    if (!window) return NET_WRONG;
    if (dma.registers) return NET_OK;
    dma.processes = chiliad_personality_word(CHILIAD_PERSONALITY_PROCESSES);
    dma.process = chiliad_personality_word(CHILIAD_PERSONALITY_PROCESS);
    dma.dcr = chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS);
    dma.self = self->node;
    dma.group = group_of(dma.process);
    dma.registers = window + GROUP_STRIDE * dma.group;
    dma.base = physical(dma.process, 0);
    volatile uint32_t *dcr = (volatile uint32_t *)dma.dcr;
    set_torus_maps(dma.processes > 2 ? ALL_FIFOS : GROUP_1_FIFOS);
    dcr[DCR_RECEPTION_MAP + 2 * dma.group] = 0x80808080;
    dcr[DCR_RECEPTION_MAP + 2 * dma.group + 1] = 0x80808080;
    for (unsigned i = 0; i < 64; i++) {
        set_counter(INJECTION_COUNTERS + 16 * i, 0);
        set_counter(RECEPTION_COUNTERS + 16 * i, 1);
    }
    *at(INJECTION_COUNTERS + 16 * SHARED_COUNTER + VALUE) = 0xFFFFFFFF;
    *at(INJECTION_COUNTERS + 16 * COPY_COUNTER + VALUE) = 0xFFFFFFFF;
    for (unsigned word = 0; word < 8; word += 4) {
        *at(INJECTION_MASKS + ENABLE + word) = 0xFFFFFFFF;
        *at(RECEPTION_MASKS + ENABLE + word) = 0xFFFFFFFF;
    }
    for (unsigned i = 0; i < FIFOS; i++) {
        set_fifo(INJECTION + 16 * i, dma.fifo[i].places, sizeof dma.fifo[i].places);
        dma.fifo[i].at = 0;
        dma.fifo[i].free = PLACES - 1;
    }
    set_fifo(RECEPTION, dma.packets, PACKET_BYTES);
    *at(ACTIVATE) = 0xFF000000;
    return NET_OK;
}

/* ---- counters ---- */

static inline int has_hit(uint32_t masks, unsigned counter)
{
    return *at(masks + HIT_ZERO + counter / 32 * 4) << counter % 32 >> 31;
}

static void clear(uint32_t masks, unsigned counter)
{
    *at(masks + CLEAR_HIT_ZERO + counter / 32 * 4) = 0x80000000u >> counter % 32;
}

static int take_hit(uint32_t masks, unsigned counter)
{
    if (!has_hit(masks, counter)) return 0;
    clear(masks, counter);
    return 1;
}

static void wait_hit(uint32_t masks, unsigned counter)
{
    const volatile uint32_t *word = at(masks + HIT_ZERO + counter / 32 * 4);
    uint32_t bit = 0x80000000u >> counter % 32;
    while (!(*word & bit)) {
    }
    clear(masks, counter);
}

void net_dma_expect(unsigned counter, uint32_t bytes)
{
    clear(RECEPTION_MASKS, counter);
    *at(RECEPTION_COUNTERS + 16 * counter + VALUE) = bytes;
}

void net_dma_expect_more(unsigned counter, uint32_t bytes)
{
    *at(RECEPTION_COUNTERS + 16 * counter + INCREMENT) = bytes;
}

int net_dma_done(unsigned counter)
{
    return take_hit(RECEPTION_MASKS, counter);
}

void net_dma_wait(unsigned counter)
{
    wait_hit(RECEPTION_MASKS, counter);
}

uint32_t net_dma_left(unsigned counter)
{
    return *at(RECEPTION_COUNTERS + 16 * counter + VALUE);
}

void net_dma_expect_sent(unsigned counter, uint32_t bytes)
{
    clear(INJECTION_MASKS, counter);
    *at(INJECTION_COUNTERS + 16 * counter + VALUE) = bytes;
}

const volatile uint32_t *net_dma_hits(int reception)
{
    return at((reception ? RECEPTION_MASKS : INJECTION_MASKS) + HIT_ZERO);
}

int net_dma_sent(unsigned counter)
{
    return take_hit(INJECTION_MASKS, counter);
}

void net_dma_wait_sent(unsigned counter)
{
    wait_hit(INJECTION_MASKS, counter);
}

/* ---- descriptors ---- */

/* Whether the next place of a FIFO is free. One place stays empty. */
static int has_place(unsigned number)
{
    struct fifo *fifo = &dma.fifo[number];
    if (fifo->free) return 1;
    uint32_t start = physical(dma.process, (uint32_t)fifo->places);
    uint32_t head = (*at(INJECTION + 16 * number + HEAD) - start) / 2;
    fifo->free = (head + PLACES - fifo->at - 1) % PLACES;
    return fifo->free != 0;
}

static void wait_place(unsigned number)
{
    while (!has_place(number)) {
    }
}

static void move_tail(unsigned number)
{
    struct fifo *fifo = &dma.fifo[number];
    fifo->at = (fifo->at + 1) % PLACES;
    fifo->free--;
    __asm__ volatile("sync" : : : "memory");
    *at(INJECTION + 16 * number + TAIL) = physical(dma.process, (uint32_t)&fifo->places[fifo->at]);
}

static void fill(struct place *place, uint32_t node, uint32_t process, unsigned route, int direct,
                 uint32_t group, unsigned sent, uint32_t address, uint32_t bytes)
{
    const uint32_t *size = net_self()->size;
    uint32_t channel = route & NET_PRIORITY  ? BUBBLE_PRIORITY
                       : route & NET_ORDERED ? BUBBLE_NORMAL
                                             : 0;
    uint32_t pid = group_of(process);
    uint32_t x = node % size[0], y = node / size[0] % size[1], z = node / size[0] / size[1];
    place->words[0] = 0;
    place->words[1] = 64 * group + sent;
    place->words[2] = address;
    place->words[3] = bytes;
    place->words[4] = x | channel << CHANNEL | 7u << CHUNKS | (direct ? DIRECT : 0) |
                      (route & (NET_ORDERED | NET_PRIORITY) ? 0 : DYNAMIC) |
                      (route & NET_DEPOSIT ? DEPOSIT : 0) | (pid & 2 ? PID0 : 0) |
                      (pid & 1 ? PID1 : 0);
    place->words[5] = y << 24 | z << 16;
    place->words[6] = place->words[7] = 0;
}

/* Transfers take the bulk FIFOs in turn, so that several of them share the links. */
static unsigned next_bulk(void)
{
    unsigned number = BULK + dma.turn;
    dma.turn = dma.turn + 1 == FIFOS - BULK ? 0 : dma.turn + 1;
    wait_place(number);
    return number;
}

static void queue_put(const struct net_dma_transfer *t, unsigned number)
{
    struct fifo *fifo = &dma.fifo[number];
    struct place *place = &fifo->places[fifo->at];
    fill(place, t->node, t->process, t->route, 1, dma.group, t->sent, (uint32_t)t->local, t->bytes);
    place->words[0] = t->node == dma.self;
    place->words[6] = t->remote;
    place->words[7] = (64 * group_of(t->process) + t->counter) << 24;
    move_tail(number);
}

void net_dma_put(const struct net_dma_transfer *t)
{
    unsigned number = next_bulk();
    if (t->sent != NET_DMA_NONE && t->bytes)
        *at(INJECTION_COUNTERS + 16 * t->sent + INCREMENT) = t->bytes;
    queue_put(t, number);
}

int net_dma_try_put(const struct net_dma_transfer *t)
{
    if (!has_place(BULK + dma.turn)) return NET_FULL;
    queue_put(t, next_bulk());
    return NET_OK;
}

void net_dma_get(const struct net_dma_transfer *t)
{
    unsigned number = next_bulk();
    struct fifo *fifo = &dma.fifo[number];
    struct place *place = &fifo->places[fifo->at];
    struct place *there = (struct place *)fifo->copies[fifo->at];
    /* The put that the other node's engine makes. */
    fill(there, dma.self, dma.process, t->route, 1, group_of(t->process), SHARED_COUNTER, t->remote,
         t->bytes);
    there->words[0] = t->node == dma.self;
    there->words[6] = (uint32_t)t->local;
    there->words[7] = (64 * dma.group + t->counter) << 24;
    fill(place, t->node, t->process, t->route, 1, dma.group, COPY_COUNTER, (uint32_t)there,
         DESCRIPTOR);
    place->words[0] = t->node == dma.self;
    place->words[7] = REMOTE_GET | (32 * group_of(t->process) + GETS);
    move_tail(number);
}

/* ---- packets ---- */

void net_dma_send(uint32_t node, uint32_t process, unsigned tag, const void *data, unsigned bytes,
                  unsigned route)
{
    unsigned number = ORDERED;
    if (route & (NET_ORDERED | NET_PRIORITY))
        wait_place(number);
    else
        number = next_bulk();
    struct fifo *fifo = &dma.fifo[number];
    struct place *place = &fifo->places[fifo->at];
    memcpy(fifo->copies[fifo->at], data, bytes);
    fill(place, node, process, route, 0, dma.group, COPY_COUNTER, (uint32_t)fifo->copies[fifo->at],
         bytes);
    place->words[0] = node == dma.self;
    place->words[6] = bytes;
    place->words[7] = dma.self << 8 | (tag & 0xFF);
    move_tail(number);
}

/* What the engine has written, in bytes from the start. */
static uint32_t look_at_tail(void)
{
    return (*at(RECEPTION + TAIL) - physical(dma.process, (uint32_t)dma.packets)) * 16;
}

int net_dma_receive(struct net_dma_packet *packet)
{
    static uint32_t taken;
    if (taken != dma.packets_head) { /* the packet that was returned last has been read */
        taken = dma.packets_head;
        *at(RECEPTION + HEAD) = physical(dma.process, (uint32_t)dma.packets + taken);
    }
    if (dma.packets_head == dma.packets_tail) dma.packets_tail = look_at_tail();
    if (dma.packets_head == dma.packets_tail) return 0;
    const uint8_t *from = dma.packets + dma.packets_head;
    const uint32_t *words = (const uint32_t *)from;
    uint32_t size = 32 * ((words[0] >> CHUNKS & 7) + 1), first = PACKET_BYTES - dma.packets_head;
    packet->bytes = words[2];
    packet->node = words[3] >> 8;
    packet->tag = words[3] & 0xFF;
    if (size > first) {
        memcpy(dma.whole, from, first);
        memcpy(dma.whole + first, dma.packets, size - first);
        from = dma.whole;
    }
    packet->data = from + 16;
    dma.packets_head = (dma.packets_head + size) % PACKET_BYTES;
    return 1;
}

void net_dma_wait_packet(void)
{
    uint32_t base = physical(dma.process, (uint32_t)dma.packets);
    uint32_t head = base + dma.packets_head / 16;
    const volatile uint32_t *tail = at(RECEPTION + TAIL);
    if (dma.packets_head != dma.packets_tail) return;
    while (*tail == head) {
    }
}
