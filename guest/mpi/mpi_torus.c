/* Packets between processes, and waiting.
 *
 * Between nodes a packet is one of the torus (chiliad/net.h): its tag has the type, the process of
 * both sides and 24 bits for the protocol. All that must stay in order goes the same way, x, then
 * y, then z. To oneself a packet is a copy in memory.
 *
 * What waits only looks at the status of the FIFOs, so that the simulator need not execute it and
 * sees a deadlock.
 */
#include "mpi_note.h"

#include "chiliad/net.h"

enum { STATUS = 0x7000, ASK = 0xFF1, BARRIER_FIRE = 0x668, BARRIER_STICKY = 1 << 27 };
enum { TYPE_SHIFT = 28, FROM_SHIFT = 26, TO_SHIFT = 24, WORD = 0xffffff };

struct own {
    struct own *next;
    uint32_t type, word, bytes;
    uint8_t data[PACKET_DATA] __attribute__((aligned(16)));
};

static struct {
    const volatile uint32_t *status, *barrier;
    struct net_packet arrived;
    bool undelivered;                  /* it is for a process whose box is full */
    struct own *first, **last, *taken; /* packets to this process itself */
    uint32_t *places;                  /* of ranks, + 1; 0: not known yet */
    uint32_t noted[3];
    bool in_barrier;
    bool shares;                   /* with other processes of the node */
    const volatile uint32_t *bell; /* of mpi_node.c */
    uint32_t heard;
    uint32_t kicked;
    struct { /* the block of register ASK; asked: the simulator has found a deadlock */
        volatile uint32_t kicks, asked;
        char text[240];
    } report;
} torus;

void mpi_torus_init(void)
{
    static const uint32_t none;
    (void)net_self();
    uint32_t base = chiliad_personality_word(CHILIAD_PERSONALITY_TORUS);
    torus.status = (const volatile uint32_t *)(base + STATUS);
    torus.barrier =
        (const volatile uint32_t *)(chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS) +
                                    4 * BARRIER_FIRE);
    torus.last = &torus.first;
    torus.places = mpi_alloc((size_t)mpi.ranks * sizeof *torus.places);
    mpi.place = mpi_place_of(mpi.rank);
    torus.shares = mpi_node_init(chiliad_personality_word(CHILIAD_PERSONALITY_PROCESSES),
                                 (unsigned)mpi.place & 3);
    torus.bell = torus.shares ? mpi_node_bell() : &none;
    mpi_dma_init(torus.shares);
    *(volatile uint32_t *)(chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS) + 4 * ASK) =
        (uint32_t)&torus.report;
}

int mpi_place_of(int world)
{
    uint32_t node, process, *place = &torus.places[world];
    if (!*place) {
        chiliad_rank_place((uint32_t)world, &node, &process);
        *place = (node << 2 | process) + 1;
    }
    return (int)(*place - 1);
}

/* ---- to oneself ---- */

static void send_to_self(const struct packet *packet)
{
    struct own *own = mpi_alloc(sizeof *own);
    own->type = packet->type;
    own->word = packet->word;
    own->bytes = packet->bytes;
    memcpy(own->data, packet->data, packet->bytes);
    *torus.last = own;
    torus.last = &own->next;
}

static bool receive_own(struct packet *packet)
{
    struct own *own = torus.first;
    if (!own) return false;
    torus.first = own->next;
    if (!own->next) torus.last = &torus.first;
    torus.taken = own;
    *packet = (struct packet){mpi.place, own->type, own->word, own->bytes, false, own->data};
    return true;
}

/* ---- to others ---- */

static bool send(const struct packet *packet)
{
    uint32_t tag = packet->type << TYPE_SHIFT | (uint32_t)(mpi.place & 3) << FROM_SHIFT |
                   (uint32_t)(packet->place & 3) << TO_SHIFT | packet->word;
    return net_try_send((unsigned)packet->place >> 2, tag, packet->data, packet->bytes,
                        packet->unordered ? NET_DYNAMIC : NET_ORDERED) == NET_OK;
}

bool mpi_packet_send(const struct packet *packet)
{
    if (packet->place == mpi.place) {
        send_to_self(packet);
        return true;
    }
    if (packet->place >> 2 == mpi.place >> 2)
        return mpi_node_send((unsigned)packet->place & 3, packet);
    if (!torus.shares) return send(packet);
    mpi_node_lock();
    bool sent = send(packet);
    mpi_node_unlock();
    return sent;
}

static void describe(struct packet *packet, struct net_packet *in)
{
    *packet = (struct packet){(int)(in->node << 2 | (in->tag >> FROM_SHIFT & 3)),
                              in->tag >> TYPE_SHIFT,
                              in->tag & WORD,
                              in->bytes,
                              false,
                              in->data};
}

/* Packets for other processes of the node go to their boxes, in the order in which they came. */
static bool receive_shared(struct packet *packet)
{
    struct net_packet *in = &torus.arrived;
    for (;;) {
        if (mpi_node_receive(packet)) return true;
        if (!mpi_node_turn()) {
            if (mpi_node_receive(packet)) return true;
            return false;
        }
        bool any = torus.undelivered || net_receive(in);
        if (!any) {
            mpi_node_unlock();
            return false;
        }
        unsigned to = in->tag >> TO_SHIFT & 3;
        describe(packet, in);
        bool own = to == ((unsigned)mpi.place & 3);
        if (!own) torus.undelivered = !mpi_node_forward(to, packet);
        mpi_node_unlock();
        if (own) return true;
        if (torus.undelivered) return false;
    }
}

bool mpi_packet_holds(void)
{
    return torus.undelivered;
}

bool mpi_packet_receive(struct packet *packet)
{
    free(torus.taken);
    torus.taken = NULL;
    if (receive_own(packet)) return true;
    if (torus.shares) return receive_shared(packet);
    if (!net_receive(&torus.arrived)) return false;
    describe(packet, &torus.arrived);
    return true;
}

/* ---- waiting ---- */

void mpi_packet_begin(void)
{
    torus.heard = *torus.bell;
    torus.kicked = torus.report.kicks;
}

void mpi_packet_note(void)
{
    for (unsigned i = 0; i < 3; i++)
        torus.noted[i] = torus.status[i];
}

void mpi_packet_kick(void)
{
    torus.report.kicks++;
}

void mpi_packet_leave(void)
{
    if (torus.shares) mpi_node_leave();
}

/* The loops below end also when another process or thread has something for this one. */
#define QUIET (*bell == heard && torus.report.kicks == kicked)

static void wait_for_room(void)
{
    const volatile uint32_t *status = torus.status, *bell = torus.bell;
    uint32_t a = torus.noted[0], b = torus.noted[1], c = torus.noted[2], heard = torus.heard,
             kicked = torus.kicked;
    while (status[0] == a && status[1] == b && status[2] == c && QUIET) {
    }
}

static void wait_for_packet(void)
{
    const volatile uint32_t *status = torus.status, *bell = torus.bell;
    uint32_t heard = torus.heard, kicked = torus.kicked;
    while (!(status[0] | status[1] >> 8) && QUIET) {
    }
}

static void wait_for_barrier(void)
{
    const volatile uint32_t *status = torus.status, *barrier = torus.barrier, *bell = torus.bell;
    uint32_t heard = torus.heard, kicked = torus.kicked;
    while (!(status[0] | status[1] >> 8 | (*barrier & BARRIER_STICKY)) && QUIET) {
    }
}

static void wait_for_bell(void)
{
    const volatile uint32_t *bell = torus.bell;
    uint32_t heard = torus.heard, kicked = torus.kicked;
    while (QUIET) {
    }
}

/* While the DMA engine moves messages of this process: until something changes. */
static void wait_for_transfer(bool refused, const volatile uint32_t *in,
                              const volatile uint32_t *out)
{
    const volatile uint32_t *status = torus.status, *barrier = torus.barrier, *bell = torus.bell;
    uint32_t heard = torus.heard, kicked = torus.kicked,
             sticky = torus.in_barrier ? BARRIER_STICKY : 0;
    if (refused) {
        uint32_t a = torus.noted[0], b = torus.noted[1], c = torus.noted[2];
        while (status[0] == a && status[1] == b && status[2] == c && !(*in | *out) && QUIET) {
        }
    } else
        while (!(status[0] | status[1] >> 8 | *in | *out | (*barrier & sticky)) && QUIET) {
        }
}

static void wait_once(bool refused)
{
    const volatile uint32_t *in, *out;
    if (mpi_dma_moves(&in, &out)) {
        wait_for_transfer(refused, in, out);
        return;
    }
    /* No other process knows when there is room. */
    if (torus.shares && !refused && !torus.undelivered && mpi_node_wait(torus.heard)) return;
    if (torus.undelivered)
        wait_for_bell();
    else if (refused)
        wait_for_room();
    else if (torus.in_barrier)
        wait_for_barrier();
    else
        wait_for_packet();
}

/* The answer to the simulator's question; of a node that one of its processes was asked is enough.
 */
static void describe_waits(void)
{
    torus.report.asked = 0;
    torus.kicked = torus.report.kicks;
    mpi_describe_waits(torus.report.text, sizeof torus.report.text);
    if (torus.shares) mpi_node_ring_all();
}

void mpi_packet_wait(bool refused)
{
    if (torus.first) return;
    mpi_note_wait();
    wait_once(refused);
    if (torus.report.asked) {
        describe_waits();
        wait_once(refused);
    }
    mpi_note_waited();
}

/* ---- the barrier network ---- */

bool mpi_hardware_barrier_is_there(void)
{
    return !torus.shares && !torus.in_barrier;
}

void mpi_hardware_barrier_arrive(void)
{
    net_barrier_arrive();
    torus.in_barrier = true;
}

bool mpi_hardware_barrier_is_over(void)
{
    bool over = net_barrier_is_over();
    if (over) torus.in_barrier = false;
    return over;
}

bool mpi_hardware_barrier_waits(void)
{
    return torus.in_barrier;
}
