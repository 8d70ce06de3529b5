/* Packets and barriers between the nodes of a run, checked by the receivers; the exit status is the
 * number of mistakes.
 *
 *   net CASE    ring     each node sends a packet of every size to the next one
 *               all      each sends one to every other node
 *               order    node 0 sends 200 packets to the last one, by one way: they come in order
 *               deposit  node 0 sends one along its row: every node there has a copy
 *               barrier  nodes come late by their number: none leaves before the last one comes
 *               wait     node 0 works for long, the others wait for it
 *               nowhere, empty, full: what a program must not do
 *               never    node 1 waits for a packet that no node sends, node 2 for a barrier
 *
 * A second argument is in how many seconds an alarm comes, if it is even; then looks are executed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "chiliad/net.h"

static struct net_packet packet;
static unsigned char data[NET_PACKET_MAX];
static int mistakes;

static void expect(int good, const char *what)
{
    if (good) return;
    printf("node %u: %s\n", net_node(), what);
    mistakes++;
}

static unsigned char byte_of(unsigned node, unsigned tag, unsigned at)
{
    return (unsigned char)(31 * node + 7 * tag + at);
}

static void send(unsigned to, unsigned tag, unsigned bytes, unsigned route)
{
    for (unsigned i = 0; i < bytes; i++)
        data[i] = byte_of(net_node(), tag, i);
    expect(net_send(to, tag, data, bytes, route) == NET_OK, "cannot send");
}

static void receive(void)
{
    unsigned i = 0;
    net_receive_next(&packet);
    while (i < packet.bytes && packet.data[i] == byte_of(packet.node, packet.tag, i))
        i++;
    expect(i == packet.bytes, "data are not what was sent");
}

static void ring(void)
{
    unsigned next = (net_node() + 1) % net_nodes(),
             last = (net_node() + net_nodes() - 1) % net_nodes();
    for (unsigned bytes = 0; bytes <= NET_PACKET_MAX; bytes += bytes < 200 ? 40 : 8) {
        send(next, bytes, bytes, NET_DYNAMIC);
        receive();
        expect(packet.node == last && packet.tag == bytes && packet.bytes == bytes,
               "another packet came");
    }
}

static void all(void)
{
    unsigned char seen[64] = {0};
    for (unsigned i = 1; i < net_nodes(); i++)
        send((net_node() + i) % net_nodes(), i, NET_PACKET_MAX, NET_DYNAMIC);
    for (unsigned i = 1; i < net_nodes(); i++) {
        receive();
        expect((packet.node + packet.tag) % net_nodes() == net_node(), "a packet for another node");
        expect(!seen[packet.node]++, "a packet came twice");
    }
}

static void order(void)
{
    unsigned last = net_nodes() - 1;
    for (unsigned i = 0; net_node() == 0 && i < 200; i++)
        send(last, i, i, NET_ORDERED);
    for (unsigned i = 0; net_node() == last && i < 200; i++) {
        receive();
        expect(packet.tag == i, "packets passed each other");
    }
}

static void deposit(void)
{
    const struct chiliad_personality *self = net_self();
    if (net_node() == 0) send(self->size[0] / 2, 5, 100, NET_ORDERED | NET_DEPOSIT);
    if (!self->at[1] && !self->at[2] && self->at[0] && self->at[0] <= self->size[0] / 2) receive();
}

static volatile unsigned spin;

static void barrier(void)
{
    for (unsigned turn = 0; turn < 3; turn++) {
        unsigned late = (net_node() + turn) % net_nodes();
        for (unsigned i = 0; i < 500 * late; i++)
            spin = i;
        uint64_t came = net_time();
        net_barrier();
        uint64_t left = net_time();
        /* The last one says when it came. */
        if (late == net_nodes() - 1)
            for (unsigned i = 1; i < net_nodes(); i++)
                expect(net_send((net_node() + i) % net_nodes(), turn, &came, sizeof came,
                                NET_DYNAMIC) == NET_OK,
                       "cannot send");
        else {
            net_receive_next(&packet);
            memcpy(&came, packet.data, sizeof came);
        }
        expect(left > came, "left before the last came");
        expect(left - came < 2000, "left late");
    }
}

static void wait_long(void)
{
    if (net_node() == 0) {
        for (unsigned i = 0; i < 20000; i++)
            spin = i;
        for (unsigned i = 1; i < net_nodes(); i++)
            send(i, i, 8, NET_DYNAMIC);
    } else {
        receive();
    }
}

static void never(void)
{
    if (net_node() == 1) net_wait();
}

static inline __attribute__((always_inline)) void copy_quad(uint32_t to, uint32_t from)
{
    register uint32_t r9 __asm__("r9") = from;
    register uint32_t r10 __asm__("r10") = to;
    __asm__ volatile(".long 0x7C004B9C\n\t.long 0x7C00579C"
                     :
                     : "r"(r9), "r"(r10)
                     : "fr0", "memory"); /* lfpdx, stfpdx */
}

/* What the library never does; on node 1. */
static void wrong(const char *what)
{
    static uint32_t quad[4] __attribute__((aligned(16))) = {1};
    uint32_t torus = chiliad_personality_word(CHILIAD_PERSONALITY_TORUS);
    if (net_node() != 1) return;
    if (strcmp(what, "empty") == 0) copy_quad((uint32_t)quad, torus);
    if (strcmp(what, "empty") == 0) expect(quad[0] == 0, "an empty FIFO gives zeros");
    if (strcmp(what, "nowhere") == 0) quad[0] = 77;             /* x */
    if (strcmp(what, "full") == 0) quad[0] = 7 << 13 | 1 << 10; /* 8 chunks, to node 0 */
    for (unsigned i = 0; strcmp(what, "empty") != 0 && i < 200; i++)
        copy_quad(torus + 0x3000, (uint32_t)quad);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"ring", ring},       {"all", all},        {"order", order}, {"deposit", deposit},
                 {"barrier", barrier}, {"wait", wait_long}, {"never", never}};
    const char *name = argc > 1 ? argv[1] : "";
    int seconds = argc > 2 ? atoi(argv[2]) : 1;
    struct itimerval alarm = {.it_value.tv_sec = seconds * (1 - seconds % 2)};
    int found = 0;
    setitimer(ITIMER_REAL, &alarm, NULL);
    expect(net_try_send(net_node(), 0, data, 1, NET_DYNAMIC) == NET_WRONG, "a packet to oneself");
    expect(net_try_send(net_nodes(), 0, data, 1, NET_DYNAMIC) == NET_WRONG, "a packet to no node");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run();
            net_barrier();
            found = 1;
        }
    if (!found) wrong(name);
    expect(!net_receive(&packet) || !found, "a packet too many");
    return mistakes > 100 ? 100 : mistakes;
}
