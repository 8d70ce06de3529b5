/* Latency and bandwidth of the networks, over the guest library: what a program sees of them.
 *
 *   network CASE   pingpong    packets of cores to and fro: half a round trip by hops and size
 *                  put         a block into the neighbour's memory, 1 byte to 1 MB
 *                  halo        blocks to all six neighbours and from them
 *                  alltoall    a block to every other node
 *                  broadcast   over the tree
 *                  reduce      sums of 32-bit integers over the tree; of doubles
 *                  barrier     global interrupts, all at once
 *
 * Node 0 prints lines "CASE size hops cycles MB/s". Blue Gene/L has no put, halo and alltoall. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/dma.h"

enum { LONGEST = 1 << 20 };

static unsigned char from[LONGEST] __attribute__((aligned(128)));
static unsigned char to[LONGEST] __attribute__((aligned(128)));
static struct net_packet packet;

static void line(const char *what, unsigned bytes, unsigned hops, uint64_t cycles, double moved)
{
    if (net_node() == 0)
        printf("%-10s %8u %4u %8u %8.1f\n", what, bytes, hops, (unsigned)cycles,
               moved * net_self()->mhz / (double)cycles);
}

/* The first round warms caches up. */
static void pingpong(void)
{
    static const unsigned sizes[] = {16, 112, 240};
    for (unsigned node = 1; node < net_nodes();
         node = 2 * node + 1 < net_nodes() ? 2 * node + 1 : net_nodes())
        for (unsigned i = 0; i < 3; i++) {
            uint64_t start = 0;
            for (unsigned round = 0; round < 3; round++) {
                if (round == 2) start = net_time();
                if (net_node() == 0) {
                    net_send(node, 0, from, sizes[i], NET_ORDERED);
                    net_receive_next(&packet);
                } else if (net_node() == node) {
                    net_receive_next(&packet);
                    net_send(0, 0, from, sizes[i], NET_ORDERED);
                }
            }
            line("pingpong", sizes[i], net_hops(0, node), (net_time() - start) / 2, sizes[i]);
            net_barrier();
        }
}

static void transfer(unsigned node, unsigned offset, unsigned bytes)
{
    net_dma_put(&(struct net_dma_transfer){.node = node,
                                           .local = from + offset,
                                           .remote = (uint32_t)(to + offset),
                                           .bytes = bytes,
                                           .counter = 1,
                                           .sent = NET_DMA_NONE});
}

static void put(void)
{
    for (unsigned bytes = 1; bytes <= LONGEST; bytes *= 16) {
        uint64_t start = 0;
        for (unsigned round = 0; round < 2; round++) {
            net_dma_expect(1, bytes);
            net_barrier();
            start = net_time();
            if (net_node() == 0) transfer(1, 0, bytes);
            if (net_node() == 1) { /* and one byte back */
                net_dma_wait(1);
                net_send(0, 0, from, 1, NET_ORDERED);
            }
            if (net_node() == 0) net_receive_next(&packet);
        }
        line("put", bytes, net_hops(0, 1), net_time() - start, bytes);
    }
}

static void halo(void)
{
    const struct chiliad_personality *me = net_self();
    net_dma_use_all_fifos();
    for (unsigned bytes = 240; bytes <= 240 * 256; bytes *= 16) {
        uint64_t start = 0;
        for (unsigned round = 0; round < 2; round++) {
            net_dma_expect(1, 6 * bytes);
            net_barrier();
            start = net_time();
            for (unsigned d = 0; d < 6; d++) {
                unsigned at[3] = {me->at[0], me->at[1], me->at[2]}, size = me->size[d / 2];
                at[d / 2] = (at[d / 2] + (d % 2 ? size - 1 : 1)) % size;
                transfer(net_node_at(at), d * bytes, bytes);
            }
            net_dma_wait(1);
            net_barrier();
        }
        line("halo", bytes, 1, net_time() - start, 6.0 * bytes);
    }
}

static void alltoall(void)
{
    net_dma_use_all_fifos();
    for (unsigned bytes = 240; bytes <= 3840; bytes *= 4) {
        uint64_t start = 0;
        unsigned others = net_nodes() - 1;
        for (unsigned round = 0; round < 2; round++) {
            net_dma_expect(1, others * bytes);
            net_barrier();
            start = net_time();
            for (unsigned i = 1; i <= others; i++)
                transfer((net_node() + i) % net_nodes(), 0, bytes);
            net_dma_wait(1);
            net_barrier();
        }
        line("alltoall", bytes, 0, net_time() - start, (double)others * bytes);
    }
}

static void broadcast(void)
{
    for (unsigned bytes = 256; bytes <= 65536; bytes *= 16) {
        uint64_t start = 0;
        for (unsigned round = 0; round < 2; round++) {
            net_barrier();
            start = net_time();
            net_broadcast(from, bytes, 0);
        }
        line("broadcast", bytes, 0, net_time() - start, bytes);
    }
}

static void reduce(void)
{
    for (unsigned bytes = 256; bytes <= 65536; bytes *= 16) {
        uint64_t start = 0;
        for (unsigned round = 0; round < 2; round++) {
            net_barrier();
            start = net_time();
            net_combine(to, from, bytes, NET_ADD, 4);
        }
        line("reduce", bytes, 0, net_time() - start, bytes);
    }
    for (unsigned bytes = 8; bytes <= 8192; bytes *= 32) {
        uint64_t start = 0;
        for (unsigned round = 0; round < 2; round++) {
            net_barrier();
            start = net_time();
            net_sum_double((double *)to, (const double *)from, bytes / 8);
        }
        line("doubles", bytes, 0, net_time() - start, bytes);
    }
}

static void barrier(void)
{
    uint64_t start = 0;
    for (unsigned round = 0; round < 4; round++) {
        start = net_time();
        net_barrier();
    }
    line("barrier", 0, 0, net_time() - start, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"pingpong", pingpong},   {"put", put},       {"halo", halo},      {"alltoall", alltoall},
        {"broadcast", broadcast}, {"reduce", reduce}, {"barrier", barrier}};
    const char *name = argc > 1 ? argv[1] : "";
    (void)net_dma_open();
    memset(from, 1, sizeof from);
    net_barrier();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) cases[i].run();
    net_barrier();
    return 0;
}
