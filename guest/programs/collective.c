/* The collective network between the nodes of a run, checked by every node; the exit status is the
 * number of mistakes.
 *
 *   collective CASE   combine    each operation, on operands of 2 to 256 bytes, odd lengths
 *                     broadcast  from each node in turn, lengths around a packet's
 *                     doubles    sums, among them of infinities, of large and small numbers
 *                     stream     20 packets of 256 bytes: one follows the other
 *                     empty, full, nowhere: what a program must not do
 *                     never      node 0 does not take part
 */
#include <stdio.h>
#include <string.h>

#include "chiliad/net.h"

enum { LONGEST = 20 * NET_TREE_BYTES };

static unsigned char mine[LONGEST] __attribute__((aligned(16)));
static unsigned char result[LONGEST] __attribute__((aligned(16)));
static int mistakes;

static void expect(int good, const char *what)
{
    if (good) return;
    printf("node %u: %s\n", net_node(), what);
    mistakes++;
}

static unsigned char byte_of(unsigned node, unsigned at)
{
    return (unsigned char)(29 * node + 13 * at + at / 256);
}

/* into = into op from, for one operand, byte by byte. */
static void expected(unsigned op, unsigned size, unsigned char *into, const unsigned char *from)
{
    unsigned carry = 0;
    if (op == NET_MAX && memcmp(from, into, size) > 0) memcpy(into, from, size);
    for (unsigned i = size; i-- > 0;) {
        if (op == NET_OR) into[i] |= from[i];
        if (op == NET_AND) into[i] &= from[i];
        if (op == NET_XOR) into[i] ^= from[i];
        if (op != NET_ADD) continue;
        carry += (unsigned)into[i] + from[i];
        into[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

static void combine(void)
{
    static const unsigned char ops[] = {NET_OR, NET_AND, NET_XOR, NET_MAX, NET_ADD};
    static const unsigned short sizes[] = {2, 4, 8, 16, 256}, lengths[] = {256, 16, 768, 272};
    unsigned char want[1024], other[256];
    for (unsigned o = 0; o < sizeof ops; o++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            unsigned size = sizes[s], length = lengths[(o + s) % 4];
            if (length % size) length = size;
            for (unsigned i = 0; i < length; i++) {
                mine[i] = byte_of(net_node(), i);
                want[i] = byte_of(0, i);
            }
            for (unsigned node = 1; node < net_nodes(); node++)
                for (unsigned at = 0; at < length; at += size) {
                    for (unsigned i = 0; i < size; i++)
                        other[i] = byte_of(node, at + i);
                    expected(ops[o], size, want + at, other);
                }
            net_combine(result + o, mine, length, ops[o], size);
            expect(memcmp(result + o, want, length) == 0, "another result of an operation");
        }
}

static void broadcast(void)
{
    static const unsigned short lengths[] = {1, 255, 256, 257, 1000, 2048};
    for (unsigned root = 0; root < net_nodes(); root++) {
        unsigned length = lengths[root % 6];
        for (unsigned i = 0; i < length; i++)
            mine[i] = net_node() == root ? byte_of(root, i) : 77;
        mine[length] = 99;
        net_broadcast(mine, length, root);
        for (unsigned i = 0; i < length; i++)
            if (mine[i] != byte_of(root, i)) {
                expect(0, "another byte of a broadcast");
                break;
            }
        expect(mine[length] == 99, "a byte behind a broadcast changed");
    }
}

static void doubles(void)
{
    static double in[1500], sum[1500];
    double n = net_nodes(), number = net_node(), infinity = __builtin_inf();
    for (unsigned i = 0; i < 1500; i++)
        in[i] = (number + 1) * (i % 3 ? 0.5 : -1) * i;
    in[0] = net_node() ? 1 : -infinity;
    in[1] = net_node() ? -infinity : infinity;
    in[2] = net_node() == 1 ? 0x1p70 : 1;                             /* small ones are not lost */
    in[3] = net_node() == 0 ? 0x1p60 : net_node() == 1 ? -0x1p60 : 3; /* nor cancelled */
    in[4] = 0;
    in[5] = 0x1p-1074 * (number + 1);
    in[6] = net_node() == 0 ? 1e300 : 1e-300;
    net_sum_double(sum, in, 1500);
    expect(sum[0] == -infinity, "minus infinity");
    expect(sum[1] != sum[1], "infinity - infinity is no number");
    expect(sum[2] == 0x1p70 + (n - 1), "2^70 + nodes - 1");
    expect(sum[3] == 3 * (n - 2), "cancelled");
    expect(sum[4] == 0 && sum[5] == 0x1p-1074 * (n * (n + 1) / 2) && sum[6] == 1e300,
           "zero, small");
    for (unsigned i = 7; i < 1500; i++)
        if (sum[i] != n * (n + 1) / 2 * (i % 3 ? 0.5 : -1) * i) {
            expect(0, "another sum");
            break;
        }
}

static void stream(void)
{
    uint64_t start = net_time();
    net_combine(result, mine, LONGEST, NET_OR, 2);
    if (net_node() == 0) printf("%u cycles\n", (unsigned)(net_time() - start));
}

static void wrong(const char *what)
{
    uint32_t page = chiliad_personality_word(CHILIAD_PERSONALITY_COLLECTIVE);
    volatile uint32_t *words = (volatile uint32_t *)page;
    if (net_node() != 1) return;
    if (strcmp(what, "empty") == 0) expect(words[12] == 0, "an empty FIFO gives zeros");
    for (unsigned i = 0; strcmp(what, "full") == 0 && i < 12; i++)
        words[4] = net_tree_header(0, NET_OR, 2);
    if (strcmp(what, "nowhere") == 0) {
        volatile uint32_t *route =
            (volatile uint32_t *)chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS) + 0xC02;
        *route = 0;
        expect(*route == 0, "a route is what was stored");
        net_tree_send(0, net_tree_header(5, NET_OR, 2), mine);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"combine", combine}, {"broadcast", broadcast}, {"doubles", doubles}, {"stream", stream}};
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "never") == 0 && net_node() != 0) net_combine(result, mine, 256, NET_OR, 2);
    wrong(name);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) cases[i].run();
    return mistakes > 100 ? 100 : mistakes;
}
