/* Transfers by the DMA engine between the nodes of a run, checked by the receivers; the exit status
 * is the number of mistakes.
 *
 *   dma CASE   put      each node writes blocks of many sizes into the next one's memory
 *              get      each node reads them from the next one's memory
 *              self     a node copies within its memory
 *              packets  packets of all sizes to every other node, and in order
 *              many     more packets than the reception FIFO holds
 *              big      node 0 writes 64 KB to the last node, and times it
 *              line     node 0 writes to all nodes of its row by deposit
 *              both     beside packets of cores
 *              outside, target, descriptor, counter, nowhere: what a program must not do
 *              never    node 1 waits for bytes that are never sent
 */
#include <stdio.h>
#include <string.h>

#include "chiliad/dma.h"

enum { LONGEST = 65536 };

static unsigned char from[LONGEST + 16] __attribute__((aligned(128))),
    to[LONGEST + 16] __attribute__((aligned(128)));
static int mistakes;

static void expect(int good, const char *what)
{
    if (good) return;
    printf("node %u: %s\n", net_node(), what);
    mistakes++;
}

static unsigned char byte_of(unsigned node, unsigned at)
{
    return (unsigned char)(37 * node + 11 * at + at / 251);
}

static void fill(void)
{
    for (unsigned i = 0; i < sizeof from; i++)
        from[i] = byte_of(net_node(), i);
}

static void check(unsigned node, unsigned shift_from, unsigned shift_to, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        if (to[shift_to + i] != byte_of(node, shift_from + i)) {
            expect(0, "another byte came");
            return;
        }
    expect(to[shift_to + bytes] == 0, "a byte behind the block has changed");
}

static const unsigned sizes[] = {1, 16, 31, 240, 241, 480, 1000, 4096, 10000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static unsigned next_node(void)
{
    return (net_node() + 1) % net_nodes();
}

static unsigned last_node(void)
{
    return (net_node() + net_nodes() - 1) % net_nodes();
}

static void put(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        memset(to, 0, sizeof to);
        net_dma_expect(5, sizes[i]);
        net_barrier();
        net_dma_put(&(struct net_dma_transfer){.node = next_node(),
                                               .local = from + i,
                                               .remote = (uint32_t)(to + 3 * i),
                                               .bytes = sizes[i],
                                               .counter = 5,
                                               .sent = 33});
        net_dma_wait_sent(33);
        net_dma_wait(5);
        check(last_node(), i, 3 * i, sizes[i]);
        expect(net_dma_left(5) == 0 && !net_dma_done(5), "a counter is done once");
    }
}

static void get(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        memset(to, 0, sizeof to);
        net_dma_expect(7, sizes[i]);
        net_dma_get(&(struct net_dma_transfer){.node = next_node(),
                                               .local = to + 5 * i,
                                               .remote = (uint32_t)(from + i),
                                               .bytes = sizes[i],
                                               .counter = 7});
        net_dma_wait(7);
        check(next_node(), i, 5 * i, sizes[i]);
    }
    net_barrier();
}

static void self(void)
{
    for (unsigned i = 0; i < SIZES; i++) {
        memset(to, 0, sizeof to);
        net_dma_expect(61, sizes[i]);
        net_dma_put(&(struct net_dma_transfer){
            .node = net_node(),
            .process = chiliad_personality_word(CHILIAD_PERSONALITY_PROCESS),
            .local = from,
            .remote = (uint32_t)to,
            .bytes = sizes[i],
            .counter = 61,
            .sent = NET_DMA_NONE});
        while (!net_dma_done(61)) {
        }
        check(net_node(), 0, 0, sizes[i]);
    }
}

static void take(struct net_dma_packet *packet)
{
    while (!net_dma_receive(packet))
        net_dma_wait_packet();
    const unsigned char *bytes = packet->data;
    for (unsigned i = 0; i < packet->bytes; i++)
        if (bytes[i] != byte_of(packet->node, i + packet->tag)) {
            expect(0, "another byte in a packet");
            return;
        }
}

static void packets(void)
{
    struct net_dma_packet packet;
    unsigned sum = 0, others = net_nodes() - 1;
    for (unsigned i = 0; i < 12; i++) {
        for (unsigned n = 1; n <= others; n++)
            net_dma_send((net_node() + n) % net_nodes(), 0, i, from + i, 20 * i, NET_DYNAMIC);
        for (unsigned n = 0; n < others; n++) {
            take(&packet);
            sum += packet.tag;
            expect(packet.bytes == 20 * packet.tag, "another length");
        }
    }
    expect(sum == others * 66, "other packets");
    net_barrier();
    for (unsigned i = 0; net_node() == 0 && i < 200; i++)
        net_dma_send(others, 0, i, from + i, i, NET_ORDERED);
    for (unsigned i = 0; net_node() == others && i < 200; i++) {
        take(&packet);
        expect(packet.tag == i && packet.bytes == i, "packets passed each other");
    }
}

static volatile unsigned spin;

static void many(void)
{
    struct net_dma_packet packet;
    for (unsigned i = 0; net_node() == 0 && i < 600; i++)
        net_dma_send(net_nodes() - 1, 0, i, from + (i & 0xFF), 240, NET_ORDERED);
    if (net_node() != net_nodes() - 1) return;
    for (unsigned i = 0; i < 60000; i++)
        spin = i;
    for (unsigned i = 0; i < 600; i++) {
        take(&packet);
        expect(packet.tag == (i & 0xFF), "packets passed each other");
    }
}

static void big(void)
{
    unsigned last = net_nodes() - 1;
    net_dma_expect(1, LONGEST);
    net_barrier();
    uint64_t start = net_time();
    if (net_node() == 0)
        net_dma_put(&(struct net_dma_transfer){.node = last,
                                               .local = from,
                                               .remote = (uint32_t)to,
                                               .bytes = LONGEST,
                                               .counter = 1,
                                               .sent = 1});
    if (net_node() != last) return;
    net_dma_wait(1);
    printf("%u cycles\n", (unsigned)(net_time() - start));
    check(0, 0, 0, LONGEST);
}

static void line(void)
{
    const struct chiliad_personality *me = net_self();
    unsigned ends = me->size[0] / 2;
    net_dma_expect(2, 1000);
    net_barrier();
    if (net_node() == 0)
        net_dma_put(&(struct net_dma_transfer){.node = ends,
                                               .local = from,
                                               .remote = (uint32_t)to,
                                               .bytes = 1000,
                                               .counter = 2,
                                               .sent = NET_DMA_NONE,
                                               .route = NET_ORDERED | NET_DEPOSIT});
    if (me->at[1] || me->at[2] || !me->at[0] || me->at[0] > ends) return;
    net_dma_wait(2);
    check(0, 0, 0, 1000);
}

static void both(void)
{
    struct net_packet packet;
    net_dma_expect(3, 2000);
    net_barrier();
    net_dma_put(&(struct net_dma_transfer){.node = next_node(),
                                           .local = from,
                                           .remote = (uint32_t)to,
                                           .bytes = 2000,
                                           .counter = 3,
                                           .sent = 3});
    for (unsigned i = 0; i < 20; i++) {
        net_send(next_node(), i, from, 100, NET_ORDERED);
        net_receive_next(&packet);
        expect(packet.tag == i && packet.node == last_node(), "another packet of a core");
    }
    net_dma_wait(3);
    check(last_node(), 0, 0, 2000);
}

/* Puts over links with bit errors, then what the registers say of repeats. */
static void retries(void)
{
    put();
    net_barrier();
    const volatile uint32_t *registers =
        (const volatile uint32_t *)chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS);
    unsigned sum = 0;
    for (unsigned i = 0; i < 6; i++)
        sum += registers[0xCF5 + i];
    printf("%u repeats\n", sum);
}

static void wrong(const char *what)
{
    struct net_dma_transfer t = {.node = 0, .local = from, .bytes = 100, .counter = 1, .sent = 4};
    net_dma_expect(1, 100);
    net_barrier();
    if (net_node() != 1) return;
    t.remote = (uint32_t)to;
    if (strcmp(what, "outside") == 0) t.local = (void *)0x00001000;
    if (strcmp(what, "target") == 0) t.remote = 0x00001000;
    if (strcmp(what, "nowhere") == 0) t.node = net_nodes() + 5;
    volatile uint32_t *words =
        (volatile uint32_t *)(chiliad_personality_word(CHILIAD_PERSONALITY_DMA) +
                              0x2000);                               /* group 2 */
    if (strcmp(what, "counter") == 0) words[0x310 / 4] = 0x08000000; /* disables counter 4 */
    if (strcmp(what, "descriptor") == 0)
        for (unsigned i = 8; i < 12; i++) /* FIFO 2 is where no memory is */
            words[i] = i == 9 ? 0x0FFFFFF0 : 0x10;
    net_dma_put(&t);
    for (unsigned i = 0; i < 1000; i++)
        spin = words[8];
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"put", put}, {"get", get},   {"self", self}, {"packets", packets}, {"many", many},
                 {"big", big}, {"line", line}, {"both", both}, {"retries", retries}};
    const char *name = argc > 1 ? argv[1] : "";
    unsigned found = 0;
    if (net_dma_open() != NET_OK) {
        printf("no DMA engine\n");
        return 111;
    }
    fill();
    if (chiliad_personality_word(CHILIAD_PERSONALITY_PROCESSES) >
        1) { /* the barrier is the node's */
        self();
        return mistakes;
    }
    net_barrier();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run();
            found = 1;
        }
    if (strcmp(name, "never") == 0) {
        net_dma_expect(9, 1);
        if (net_node() == 1) net_dma_wait(9);
    } else if (!found) {
        wrong(name);
    }
    net_barrier();
    return mistakes > 100 ? 100 : mistakes;
}
