/* Processes of a node: packets between them, through memory that they share (/dev/node).
 *
 * Each process has a box, a ring of packets, and a bell, a number that grows when something
 * happened to it. A process that waits sleeps until its bell rings, but for one of the node, which
 * looks at the network and rings. That one is the first that waits; when it stops waiting, another
 * one takes over. So a node whose processes all wait has one task that can run, which only looks.
 */
#include "mpi_impl.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROCESSES = 4, SLOTS = 64 };

struct slot {
    int place;
    uint32_t type, word, bytes;
    uint8_t data[PACKET_DATA];
};

struct box {
    uint32_t head, tail; /* head: packets put into it so far; tail: taken out */
    uint32_t bell, waits;
    uint32_t senders_wait; /* for room */
    uint32_t spare[3];
    struct slot slots[SLOTS];
};

struct shared {
    uint32_t lock;  /* 0 free, 1 taken, 2 taken and waited for */
    uint32_t looks; /* process + 1 that looks at the network; 0: none does */
    uint32_t stuck; /* process + 1 that holds a packet of the network for a full box */
    uint32_t spare[5];
    struct box boxes[PROCESSES];
};

static struct {
    struct shared *shared;
    struct box *box; /* of this process */
    unsigned processes, self;
} node;

static void futex(uint32_t *word, int what, uint32_t value)
{
    (void)syscall(SYS_futex, word, what, value, NULL, NULL, 0);
}

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void store(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static bool change(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool mpi_node_init(unsigned processes, unsigned self)
{
    if (processes < 2) return false;
    int file = open("/dev/node", O_RDWR);
    void *memory =
        file < 0 ? MAP_FAILED
                 : mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        (void)fprintf(stderr, "mpi: rank %d: MPI_Init: there is no /dev/node\n", mpi.rank);
        mpi_abort(MPI_ERR_OTHER);
    }
    (void)close(file);
    node.shared = memory;
    node.processes = processes;
    node.self = self;
    node.box = &node.shared->boxes[self];
    return true;
}

void mpi_node_lock(void)
{
    uint32_t *lock = &node.shared->lock;
    if (change(lock, 0, 1)) return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_SEQ_CST))
        futex(lock, FUTEX_WAIT, 2);
}

void mpi_node_unlock(void)
{
    uint32_t *lock = &node.shared->lock;
    if (__atomic_exchange_n(lock, 0, __ATOMIC_SEQ_CST) == 2) futex(lock, FUTEX_WAKE, 1);
}

static void ring(struct box *box)
{
    (void)__atomic_add_fetch(&box->bell, 1, __ATOMIC_SEQ_CST);
    if (load(&box->waits)) futex(&box->bell, FUTEX_WAKE, INT_MAX);
}

/* Under the lock. */
static bool put(unsigned to, const struct packet *packet)
{
    struct box *box = &node.shared->boxes[to];
    if (box->head - load(&box->tail) == SLOTS) {
        store(&box->senders_wait, 1);
        if (box->head - load(&box->tail) == SLOTS) return false;
    }
    struct slot *slot = &box->slots[box->head % SLOTS];
    slot->place = packet->place >> 2 == mpi.place >> 2 ? mpi.place : packet->place;
    slot->type = packet->type;
    slot->word = packet->word;
    slot->bytes = packet->bytes;
    memcpy(slot->data, packet->data, packet->bytes);
    store(&box->head, box->head + 1);
    ring(box);
    return true;
}

bool mpi_node_send(unsigned to, const struct packet *packet)
{
    mpi_node_lock();
    bool sent = put(to, packet);
    mpi_node_unlock();
    return sent;
}

bool mpi_node_turn(void)
{
    struct shared *shared = node.shared;
    mpi_node_lock();
    if (load(&node.box->head) == node.box->tail &&
        (!shared->stuck || shared->stuck == node.self + 1))
        return true;
    mpi_node_unlock();
    return false;
}

bool mpi_node_forward(unsigned to, const struct packet *packet)
{
    bool sent = put(to, packet);
    node.shared->stuck = sent ? 0 : node.self + 1;
    return sent;
}

bool mpi_node_receive(struct packet *packet)
{
    static uint8_t data[PACKET_DATA] __attribute__((aligned(16)));
    struct box *box = node.box;
    if (load(&box->head) == box->tail) return false;
    const struct slot *slot = &box->slots[box->tail % SLOTS];
    *packet = (struct packet){slot->place, slot->type, slot->word, slot->bytes, false, data};
    memcpy(data, slot->data, slot->bytes);
    store(&box->tail, box->tail + 1);
    if (load(&box->senders_wait)) {
        store(&box->senders_wait, 0);
        for (unsigned i = 0; i < node.processes; i++)
            if (i != node.self) ring(&node.shared->boxes[i]);
    }
    return true;
}

const volatile uint32_t *mpi_node_bell(void)
{
    return &node.box->bell;
}

bool mpi_node_wait(uint32_t bell)
{
    struct shared *shared = node.shared;
    store(&node.box->waits, 1);
    if (shared->looks == node.self + 1 || change(&shared->looks, 0, node.self + 1)) {
        store(&node.box->waits, 0);
        return false;
    }
    futex(&node.box->bell, FUTEX_WAIT, bell);
    store(&node.box->waits, 0);
    return true;
}

void mpi_node_ring_all(void)
{
    for (unsigned i = 0; i < node.processes; i++)
        if (i != node.self) ring(&node.shared->boxes[i]);
}

void mpi_node_leave(void)
{
    struct shared *shared = node.shared;
    if (load(&shared->looks) == node.self + 1) store(&shared->looks, 0);
    if (load(&shared->looks)) return;
    for (unsigned i = 0; i < node.processes; i++)
        if (load(&shared->boxes[i].waits)) {
            ring(&shared->boxes[i]);
            return;
        }
}
