/* A halo exchange on a 3-dimensional torus: in each step every node works on its block and sends
 * the six faces to its neighbours, whose faces it receives.
 *
 *   halo [STEPS [CELLS [PACKETS]]]    10 steps, 16 x 16 x 16 cells, 3 packets for each face
 *
 * With 16 x 16 x 16 cells a step has some 10^5 instructions. Each node checks the sums of what it
 * received; the exit status is the number of mistakes, 100 at most. */
#include <stdio.h>
#include <stdlib.h>

#include "chiliad/net.h"

enum { CELLS_MAX = 40, FACES = 6 };

static double cell[2][CELLS_MAX + 2][CELLS_MAX + 2][CELLS_MAX + 2];
static unsigned n = 16, packets = 3;
static unsigned neighbour[FACES];

/* A point of the new block is the mean of its six neighbours in the old one. */
static void work(unsigned from)
{
    for (unsigned z = 1; z <= n; z++)
        for (unsigned y = 1; y <= n; y++)
            for (unsigned x = 1; x <= n; x++)
                cell[!from][z][y][x] =
                    (cell[from][z - 1][y][x] + cell[from][z + 1][y][x] + cell[from][z][y - 1][x] +
                     cell[from][z][y + 1][x] + cell[from][z][y][x - 1] + cell[from][z][y][x + 1]) *
                    (1.0 / 6);
}

static void find_neighbours(void)
{
    const struct chiliad_personality *self = net_self();
    for (unsigned i = 0; i < FACES; i++) {
        unsigned at[3] = {self->at[0], self->at[1], self->at[2]}, d = i / 2;
        at[d] = (at[d] + (i % 2 ? self->size[d] - 1 : 1)) % self->size[d];
        neighbour[i] = net_node_at(at);
    }
}

/* Faces that lead back to the node itself need no packet. */
static unsigned expected(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FACES; i++)
        count += neighbour[i] != net_node();
    return count * packets;
}

static unsigned got[2];
static int mistakes;

/* A neighbour may be a step ahead: the tag says of which step a packet is. */
static void take(void)
{
    static struct net_packet packet;
    while (net_receive(&packet)) {
        got[packet.tag & 1]++;
        cell[0][0][1][packet.tag % n + 1] += *(const double *)packet.data;
    }
}

static void exchange(unsigned step, unsigned from)
{
    for (unsigned p = 0; p < packets; p++)
        for (unsigned i = 0; i < FACES; i++) {
            if (neighbour[i] == net_node()) continue;
            while (net_try_send(neighbour[i], step, &cell[from][1 + i][1 + p][1], 8 * n,
                                NET_DYNAMIC) == NET_FULL)
                take();
        }
    for (take(); got[step & 1] < expected(); take())
        net_wait();
    if (got[step & 1] != expected()) mistakes++;
    got[step & 1] = 0;
}

int main(int argc, char **argv)
{
    unsigned steps = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    if (argc > 2) n = (unsigned)atoi(argv[2]);
    if (argc > 3) packets = (unsigned)atoi(argv[3]);
    if (n < 1 || n > 30 || packets > n) return 101;
    find_neighbours();
    for (unsigned x = 0; x <= n; x++)
        cell[0][1][1][x] = net_node() + x;
    for (unsigned step = 0; step < steps; step++) {
        work(step & 1);
        exchange(step, step & 1);
    }
    net_barrier();
    return mistakes > 100 ? 100 : mistakes;
}
