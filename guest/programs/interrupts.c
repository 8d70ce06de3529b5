/* Interrupts of the networks on Blue Gene/P: the controller's registers, and a signal handler.
 *
 *   interrupts put       node 1 computes until a transfer of node 0 has come
 *              sleep     the same, and it waits in sigsuspend
 *              barrier   all nodes compute until the barrier is over, node n n x 1000 rounds late
 *              local     one node copies to itself and computes
 *              blocked   the signal is blocked: the status shows the interrupt
 *              never     node 1 waits for a transfer that no node makes
 *
 * Prints a line for each interrupt: node, case, cycles since the cause; the exit status is the
 * number of mistakes. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "chiliad/dma.h"

enum { BIC = 0xFFFDE000, GROUP = 0x80, CLEAR = 0x08, TARGET = 0x10, CORE_0 = 0x780 };
enum { RECEPTION_ZERO = 102, BARRIER = 4 * 32 + 12 }; /* of the library's group 2; channel 0 */

static volatile int hits, mistakes;
static volatile uint64_t at;
static unsigned line;
static uint64_t sent __attribute__((aligned(32)));
static uint64_t sent_there __attribute__((aligned(32)));

static volatile uint32_t *bic(unsigned offset)
{
    return (volatile uint32_t *)(BIC + offset);
}

static void handler(int signal)
{
    uint32_t bit = 0x80000000u >> line % 32;
    at = net_time();
    if (signal != SIGURG || !(*bic(line / 32 * GROUP) & bit)) mistakes++;
    if (*bic(CORE_0) != 0x80000000u >> line / 32) mistakes++;
    *bic(line / 32 * GROUP + CLEAR) = bit;
    if (*bic(line / 32 * GROUP) & bit || *bic(CORE_0)) mistakes++;
    hits++;
}

static void enable(unsigned number)
{
    struct sigaction action = {.sa_handler = handler};
    line = number;
    sigaction(SIGURG, &action, NULL);
    *bic(line / 32 * GROUP + TARGET + line % 32 / 8 * 4) = 4u << (28 - line % 8 * 4);
}

static void result(const char *name, uint64_t since)
{
    if (hits != 1) mistakes++;
    printf("%u %s %u\n", (unsigned)net_node(), name, (unsigned)(at - since));
}

static void compute(void)
{
    while (!hits) {
    }
}

static void wait_suspended(void)
{
    sigset_t set, none;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    sigprocmask(SIG_BLOCK, &set, NULL);
    net_barrier();
    while (!hits)
        sigsuspend(&none);
}

/* Node 0 sends 32 bytes: the time, of which node 1 knows how long it took. */
static void send_time(unsigned node)
{
    struct net_dma_transfer t = {.node = node,
                                 .local = &sent,
                                 .remote = (uint32_t)&sent_there,
                                 .bytes = 32,
                                 .counter = 1,
                                 .sent = 2};
    sent = net_time();
    net_dma_put(&t);
    if (node != net_node()) net_dma_wait_sent(2); /* memory of a program that ends is gone */
}

static void put(const char *name, int suspended)
{
    (void)net_dma_open();
    net_dma_expect(1, 32);
    if (net_node() == 1) enable(RECEPTION_ZERO);
    if (net_node() == 1 && suspended) {
        wait_suspended();
    } else {
        net_barrier();
        if (net_node() == 1) compute();
    }
    if (net_node() == 0) send_time(1);
    if (net_node() != 1) return;
    if (!net_dma_done(1)) mistakes++;
    result(name, sent_there);
}

static void local(void)
{
    (void)net_dma_open();
    net_dma_expect(1, 32);
    enable(RECEPTION_ZERO);
    send_time(net_node());
    compute();
    if (!net_dma_done(1)) mistakes++;
    result("local", sent_there);
}

static void blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    sigprocmask(SIG_BLOCK, &set, NULL);
    (void)net_dma_open();
    net_dma_expect(1, 32);
    enable(RECEPTION_ZERO);
    send_time(net_node());
    net_dma_wait(1);
    if (hits || *bic(CORE_0) != 0x80000000u >> line / 32) mistakes++;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    if (hits != 1) mistakes++;
}

static void barrier(void)
{
    uint64_t start = net_time();
    enable(BARRIER);
    for (volatile unsigned i = 0; i < 1000 * net_node(); i++) {
    }
    net_barrier_arrive();
    compute();
    if (!net_barrier_is_over()) mistakes++;
    result("barrier", start);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "put") == 0) put(name, 0);
    if (strcmp(name, "sleep") == 0) put(name, 1);
    if (strcmp(name, "barrier") == 0) barrier();
    if (strcmp(name, "local") == 0) local();
    if (strcmp(name, "blocked") == 0) blocked();
    if (strcmp(name, "never") == 0 && net_node() == 1) {
        (void)net_dma_open();
        enable(RECEPTION_ZERO);
        sigset_t none;
        sigemptyset(&none);
        sigsuspend(&none);
    }
    return mistakes;
}
