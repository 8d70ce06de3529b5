/* Up to four threads on as many cores that contend for lines, with costs that can be worked out (tests/cmd/test_sharing).
 *
 *   contend HOW THREADS ROUNDS
 *
 *   flag     one word says whose turn it is; each thread waits for its turn and passes it on
 *   lock     each thread takes a lock (lwarx, stwcx.), counts in a second line, lets the lock go and works by itself;
 *            prints how often the lock went from one thread to another
 *   ring     a pipeline: thread i takes a word from the ring of thread i - 1 and puts it into its own, the first makes
 *            them, the last adds them up. A slot of a ring is a line with a word and whether it is full
 *   stream   each thread reads ROUNDS lines of 128 bytes of its own
 *
 * Loops touch no stack. Lines that a thread uses together lie in different sets of L1, so none takes another's place. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, SETS = 16, SLOTS = 8, LINE = 128, STREAM = 8192, DELAY = 100 };
enum { FULL, VALUE };                    /* words of a slot */
enum { COUNT, LAST, HANDED_OVER };       /* words of what the lock protects */
enum { FLAG = 0, LOCK = 0, GUARDED = 8 }; /* sets */

struct line {
    volatile unsigned word[8];
};
static struct line lines[THREADS][SETS] __attribute__((aligned(32 * SETS)));
static char data[THREADS][STREAM * LINE] __attribute__((aligned(4096)));
static unsigned threads, rounds, sum;

static void flag(unsigned me)
{
    unsigned next = me, step = threads, last = rounds * threads;
    volatile unsigned *turn = &lines[0][FLAG].word[0];
    for (; next < last; next += step) {
        while (*turn != next)
            ;
        *turn = next + 1;
    }
}

static void lock(unsigned me)
{
    unsigned *word = (unsigned *)&lines[0][LOCK].word[0];
    volatile unsigned *guarded = lines[0][GUARDED].word;
    for (unsigned i = 0, last = rounds; i < last; i++) {
        unsigned is_free = 0;
        while (!__atomic_compare_exchange_n(word, &is_free, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            is_free = 0;
        guarded[COUNT]++;
        if (guarded[LAST] != me) {
            guarded[LAST] = me;
            guarded[HANDED_OVER]++;
        }
        *(volatile unsigned *)word = 0;
        for (unsigned k = 0; k < DELAY; k++)
            __asm__ volatile("");
    }
}

/* Rings in turn have the lower and the upper half of the sets. */
static struct line *ring_of(unsigned thread)
{
    return &lines[thread][thread % 2 * SLOTS];
}

static void ring(unsigned me)
{
    struct line *from = me ? ring_of(me - 1) : NULL, *to = me + 1 < threads ? ring_of(me) : NULL;
    unsigned total = 0;
    for (unsigned i = 0, last = rounds; i < last; i++) {
        unsigned value = i;
        if (from) {
            volatile unsigned *slot = from[i % SLOTS].word;
            while (!slot[FULL])
                ;
            value = slot[VALUE];
            slot[FULL] = 0;
        }
        if (to) {
            volatile unsigned *slot = to[i % SLOTS].word;
            while (slot[FULL])
                ;
            slot[VALUE] = value;
            slot[FULL] = 1;
        }
        total += value;
    }
    if (!to) sum = total;
}

static void stream(unsigned me)
{
    const volatile char *at = data[me];
    for (unsigned i = 0, last = rounds; i < last; i++, at += LINE)
        (void)*at;
}

static void (*way)(unsigned me);

static void *start(void *me)
{
    way((unsigned)(unsigned long)me);
    return NULL;
}

static int is_right(void)
{
    if (way == lock) {
        volatile unsigned *guarded = lines[0][GUARDED].word;
        printf("%u\n", guarded[HANDED_OVER]);
        return guarded[COUNT] == threads * rounds;
    }
    return way != ring || sum == (unsigned)((unsigned long long)rounds * (rounds - 1) / 2);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*way)(unsigned me);
    } ways[] = {{"flag", flag}, {"lock", lock}, {"ring", ring}, {"stream", stream}};
    for (unsigned i = 0; argc == 4 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) way = ways[i].way;
    threads = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
    rounds = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
    if (!way || !threads || threads > THREADS || !rounds || (way == stream && rounds > STREAM)) {
        fprintf(stderr, "usage: contend flag|lock|ring|stream THREADS ROUNDS\n");
        return 2;
    }
    pthread_t other[THREADS];
    for (unsigned i = 1; i < threads; i++) /* this thread is on core 0, each new one on the next that is free */
        pthread_create(&other[i], NULL, start, (void *)(unsigned long)i);
    way(0);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(other[i], NULL);
    return !is_right();
}
