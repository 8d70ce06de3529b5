/* Synthetic traffic on the torus model: throughput and latency against offered load, beside the
 * bound that the bisection sets.
 *
 *   bench_network [XxYxZ [PATTERN [LOAD]]]     default: 8x8x8 with all patterns and loads
 *
 * Each node makes packets of 256 bytes (240 of payload) at random times, with a mean rate of LOAD x
 * the bound of its pattern, and sends them by dynamic routing; receivers take them at once. A
 * packet that finds no room in an injection FIFO waits in the node; its latency counts from its
 * making.
 *
 *   pattern     to whom                                           bound, in links a node
 *   random      any other node                                    8 / D
 *   neighbour   one of six                                        6
 *   alltoall    node + 1, node + 2, ... in turn                   8 / D
 *   hotspot     a tenth to one node, else random                  6 / (N / 10), 8 / D
 *   complement  X - 1 - x, Y - 1 - y, Z - 1 - z                   4 / D
 *
 * D is the longest side, N the number of nodes, a link 425 MB/s (Blue Gene/P). The first half of
 * the time is not measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "machine/net/net_torus.h"

enum { PACKET_CYCLES = 540, BACKLOG = 64, FIFOS = 6 };

struct node {
    uint64_t random;
    uint64_t made[BACKLOG]; /* times of packets that wait in the node */
    uint32_t first, waiting, turn;
};

struct bench {
    struct net_torus_config config;
    unsigned pattern;
    double rate; /* packets a node and cycle */
    uint32_t nodes;
    struct node *node;
    struct net_torus *torus;
    struct net_partition *partition;
    struct net_torus_part *part;
    uint8_t unit;
    uint64_t from, until, received, sum, most, hops, lost;
};

static const char *const patterns[] = {"random", "neighbour", "alltoall", "hotspot", "complement"};
enum { RANDOM, NEIGHBOUR, ALLTOALL, HOTSPOT, COMPLEMENT, PATTERNS };

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static double bound(const struct bench *b)
{
    double longest = 0, hot = 60.0 / b->nodes;
    for (unsigned i = 0; i < 3; i++)
        if (b->config.shape.size[i] > longest) longest = b->config.shape.size[i];
    double random = 8 / longest < 6 ? 8 / longest : 6;
    switch (b->pattern) {
    case NEIGHBOUR: return 6;
    case HOTSPOT: return hot < random ? hot : random;
    case COMPLEMENT: return 4 / longest;
    default: return random;
    }
}

static uint32_t target(struct bench *b, uint32_t from)
{
    struct node *node = &b->node[from];
    const struct net_torus_shape *shape = &b->config.shape;
    uint64_t random = next_random(&node->random);
    uint8_t at[3];
    switch (b->pattern) {
    case NEIGHBOUR: return net_torus_neighbour(shape, from, (unsigned)(random % TORUS_LINKS));
    case ALLTOALL:
        node->turn = node->turn % (b->nodes - 1) + 1;
        return (from + node->turn) % b->nodes;
    case COMPLEMENT:
        net_torus_coordinates(shape, from, at);
        for (unsigned i = 0; i < 3; i++)
            at[i] = (uint8_t)(shape->size[i] - 1 - at[i]);
        return net_torus_node(shape, at);
    case HOTSPOT:
        if (random >> 32 < UINT32_MAX / 10 && from != b->nodes / 2) return b->nodes / 2;
        break;
    default: break;
    }
    return (from + 1 + (uint32_t)(random % (b->nodes - 1))) % b->nodes;
}

static void inject(struct bench *b, uint32_t from)
{
    struct node *node = &b->node[from];
    struct net_torus_header h = {.chunks = 8, .dynamic = true, .channel = 0};
    uint32_t words[4];
    while (node->waiting) {
        unsigned i = 0; /* normal FIFOs of both groups */
        while (i < FIFOS &&
               net_torus_injection_chunks(b->part, from, i + i / 3) + 8 > TORUS_FIFO_CHUNKS)
            i++;
        if (i == FIFOS) return;
        uint32_t to = target(b, from);
        if (to != from) {
            net_torus_coordinates(&b->config.shape, to, h.target);
            net_torus_header_encode(&h, words);
            (void)net_torus_inject(b->part, from, i + i / 3, words, NULL, node->made[node->first],
                                   NULL);
        }
        node->first = (node->first + 1) % BACKLOG;
        node->waiting--;
    }
}

/* The time to a node's next packet: exponential, by the bits of a random number. */
static uint64_t gap(struct bench *b, struct node *node)
{
    double u = (double)(next_random(&node->random) >> 11) * 0x1p-53, sum = 0, term = 1;
    for (int k = 1; k < 60; k++) { /* -ln(1 - u) */
        term *= u;
        sum += term / k;
    }
    uint64_t cycles = (uint64_t)(sum / b->rate);
    return cycles ? cycles : 1;
}

static void schedule(struct bench *b, uint32_t n)
{
    uint64_t time = net_partition_now(b->partition) + gap(b, &b->node[n]);
    net_partition_send(
        b->partition,
        &(struct net_event){.time = time, .node = n, .unit = b->unit, .kind = NET_ACT});
}

static void make_packet(void *self, const struct net_event *event)
{
    struct bench *b = self;
    struct node *node = &b->node[event->node];
    if (node->waiting < BACKLOG)
        node->made[(node->first + node->waiting++) % BACKLOG] = event->time;
    else
        b->lost++;
    inject(b, event->node);
    schedule(b, event->node);
}

static void received(void *self, uint32_t n, unsigned fifo)
{
    struct bench *b = self;
    const struct net_torus_packet *packet = net_torus_front(b->part, n, fifo);
    uint64_t now = net_partition_now(b->partition), latency = now - packet->serial;
    if (now >= b->from) {
        b->received++;
        b->sum += latency;
        b->hops += packet->hops;
        if (latency > b->most) b->most = latency;
    }
    net_torus_drop_front(b->part, n, fifo);
}

static void injected(void *self, uint32_t n, unsigned fifo)
{
    (void)fifo;
    inject(self, n);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run(struct bench *b, double load)
{
    double most = bound(b), start = seconds();
    b->node = base_calloc(b->nodes, sizeof *b->node);
    b->rate = load * most / PACKET_CYCLES;
    double packets = b->nodes > 8192 ? 8 : 60; /* of a node */
    b->until = (uint64_t)(packets / b->rate);
    if (packets / b->rate < 1000 * packets) b->until = (uint64_t)(1000 * packets);
    b->from = b->until / 2;
    struct chil_error error;
    if (net_torus_new(&b->torus, &b->config, &error)) abort();
    b->partition = net_partition_new(0, b->nodes);
    b->part = net_torus_part_new(
        b->torus, b->partition,
        &(struct net_torus_owner){.self = b, .received = received, .injected = injected});
    b->unit = net_partition_add(b->partition, &(struct net_unit){.self = b, .act = make_packet});
    for (uint32_t n = 0; n < b->nodes; n++) {
        b->node[n].random = n;
        b->node[n].turn = n % (b->nodes - 1);
        schedule(b, n);
    }
    net_partition_advance(b->partition, b->until);
    double links = (double)b->received / b->nodes / (double)(b->until - b->from) * PACKET_CYCLES;
    double took = seconds() - start, hops = (double)b->hops / (double)(b->received + !b->received);
    uint64_t handled = net_partition_events(b->partition);
    size_t memory = net_torus_memory(b->part) + net_partition_memory(b->partition);
    printf("%-10s %5.2f %9.1f %9.1f %6.2f %8.2f %9.2f %6.1f %7.1f %7.0f %6.1f\n",
           patterns[b->pattern], load, load * most * 377.8, links * 377.8, links / most,
           (double)b->sum / (double)(b->received + !b->received) / 850, (double)b->most / 850, hops,
           took, took / (double)handled * 1e9, (double)memory / 1024 / b->nodes);
    (void)fflush(stdout);
    net_torus_part_free(b->part);
    net_torus_free(b->torus);
    net_partition_free(b->partition);
    free(b->node);
}

int main(int argc, char **argv)
{
    static const double loads[] = {0.2, 0.5, 0.8, 1, 1.5};
    unsigned long size[3] = {8, 8, 8};
    char *end = argc > 1 ? argv[1] : NULL;
    for (unsigned i = 0; end && i < 3; i++) {
        size[i] = strtoul(end, &end, 10);
        if (size[i] < 1 || size[i] > 256 || *end != (i < 2 ? 'x' : 0)) {
            (void)fprintf(stderr, "usage: bench_network [XxYxZ [PATTERN [LOAD]]]\n");
            return 125;
        }
        end++;
    }
    unsigned x = (unsigned)size[0], y = (unsigned)size[1], z = (unsigned)size[2];
    printf("%u x %u x %u, Blue Gene/P; MB/s of payload a node\n", x, y, z);
    printf("%-10s %5s %9s %9s %6s %8s %9s %6s %7s %7s %6s\n", "pattern", "load", "offered", "MB/s",
           "bound", "mean us", "most us", "hops", "host s", "ns/evt", "KB");
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
        for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++) {
            struct bench b = {
                .pattern = pattern,
                .nodes = x * y * z,
                .config = {.shape = {{(uint16_t)x, (uint16_t)y, (uint16_t)z}, {true, true, true}},
                           .params = net_torus_bgp}};
            if (argc > 2 && strcmp(argv[2], patterns[pattern]) != 0) continue;
            double load = argc > 3 ? strtod(argv[3], NULL) : loads[i];
            if (argc > 3 && i) continue;
            run(&b, load);
        }
    return 0;
}
