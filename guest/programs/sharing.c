/* Four threads on four cores that share data in the ways that matter to coherence, in a fixed order.
 *
 *   sharing HOW ROUNDS
 *
 * A token goes round: core i waits for its flag, does its part and sets the flag of core i + 1. A flag has a line of
 * its own that one core writes and one reads, so nothing depends on who is faster, and what a round costs each core can
 * be worked out (tests/cmd/test_sharing).
 *
 *   ring       nothing but the token
 *   false      each core increments a word of its own; all are in one line
 *   pingpong   all increment the same word
 *   produce    core 0 writes a word in each of LINES lines, the others read them
 *   readonly   all read the same LINES lines
 *   private    each core writes a word in each of LINES lines of its own, which it has read before
 *
 * and, to see that cores which do nothing cost nothing, core 0 adds up an array that does not fit into L1
 *
 *   alone      as the only thread
 *   idle       while three others sleep
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CORES = 4, LINES = 6, SETS = 16, NUMBERS = 20480 };

/* A core's lines and the shared ones lie in different sets of L1, so that none takes another's place. */
enum { SHARED = 0, OWN = LINES, FLAG = 2 * LINES };

struct line {
    volatile unsigned word[8];
};
static struct line lines[CORES + 1][SETS] __attribute__((aligned(32 * SETS)));
#define shared lines[CORES]

static unsigned rounds, sums[CORES];

static inline unsigned ring(unsigned core)
{
    return core;
}

static inline unsigned false_sharing(unsigned core)
{
    return shared[SHARED].word[core]++;
}

static inline unsigned ping_pong(unsigned core)
{
    (void)core;
    return shared[SHARED].word[0]++;
}

static inline unsigned read_only(unsigned core)
{
    unsigned sum = core;
    for (unsigned i = 0; i < LINES; i++)
        sum += shared[SHARED + i].word[0];
    return sum;
}

static inline unsigned produce(unsigned core)
{
    if (core) return read_only(core);
    for (unsigned i = 0; i < LINES; i++)
        shared[SHARED + i].word[0] = i;
    return 0;
}

static inline unsigned private(unsigned core)
{
    for (unsigned i = 0; i < LINES; i++)
        lines[core][OWN + i].word[0] = i;
    return 0;
}

/* Each way has a loop of its own, without calls: nothing touches the stack while the token goes round. */
#define WAY(part)                                                                                                      \
    static void *part##_rounds(void *argument)                                                                         \
    {                                                                                                                  \
        unsigned core = (unsigned)(unsigned long)argument, next = (core + 1) % CORES, sum = 0;                         \
        for (unsigned i = 0; i < LINES; i++)                                                                           \
            sum += lines[core][OWN + i].word[0];                                                                       \
        for (unsigned round = 1, last = rounds; round <= last; round++) {                                              \
            while (lines[core][FLAG].word[0] != round)                                                                 \
                ;                                                                                                      \
            sum += part(core);                                                                                         \
            lines[next][FLAG].word[0] = round + (next == 0);                                                           \
        }                                                                                                              \
        sums[core] = sum;                                                                                              \
        return NULL;                                                                                                   \
    }
WAY(ring)
WAY(false_sharing)
WAY(ping_pong)
WAY(produce)
WAY(read_only)
WAY(private)

static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;

static void *sleep_on(void *argument)
{
    pthread_mutex_lock(&asleep);
    return argument;
}

static volatile unsigned numbers[NUMBERS] __attribute__((aligned(4096)));

static void *add_up(void *argument)
{
    unsigned sum = 0;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < NUMBERS; i++)
            sum += numbers[i];
    (void)argument;
    _exit(sum != 0); /* threads that sleep, sleep on */
}

static const struct {
    const char *name;
    void *(*first)(void *core), *(*others)(void *core);
    unsigned increments; /* a round */
} ways[] = {
    {"ring", ring_rounds, ring_rounds, 0},
    {"false", false_sharing_rounds, false_sharing_rounds, CORES},
    {"pingpong", ping_pong_rounds, ping_pong_rounds, CORES},
    {"produce", produce_rounds, produce_rounds, 0},
    {"readonly", read_only_rounds, read_only_rounds, 0},
    {"private", private_rounds, private_rounds, 0},
    {"alone", add_up, NULL, 0},
    {"idle", add_up, sleep_on, 0},
};

static int run(unsigned way)
{
    pthread_t threads[CORES];
    unsigned total = 0, others = ways[way].others ? CORES : 1;
    for (unsigned i = 0; i < NUMBERS; i++) /* pages get their place in memory by their first use */
        numbers[i] = 0;
    pthread_mutex_lock(&asleep);
    for (unsigned i = 1; i < others; i++) /* this thread is on core 0, each new one on the next that is free */
        pthread_create(&threads[i], NULL, ways[way].others, (void *)(unsigned long)i);
    lines[0][FLAG].word[0] = 1;
    ways[way].first(NULL);
    for (unsigned i = 1; i < others; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < CORES; i++)
        total += shared[SHARED].word[i];
    return total != ways[way].increments * rounds;
}

int main(int argc, char **argv)
{
    rounds = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
    for (unsigned i = 0; rounds && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) return run(i);
    fprintf(stderr, "usage: sharing ring|false|pingpong|produce|readonly|private|alone|idle ROUNDS\n");
    return 2;
}
