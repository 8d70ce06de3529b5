/* Thresholds of the counter unit: SIGXCPU comes at the exact event, for random thresholds on twenty events. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include <spi/UPC.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)

enum { START = 0x904 / 4, CONFIG = 0x800 / 4, THRESHOLD = 0x910 / 4, PENDING = 0x940 / 4 };
enum { RISE = 0x04, INTERRUPT = 0x10 }; /* of a configuration byte */
enum { LINES = 60, WORDS = 32, ROOM = 40 * LINES, TIMES = 8 };

static volatile uint64_t seen;
static volatile unsigned watched, signals;

static uint64_t read_counter(unsigned counter)
{
    uint64_t high = UNIT[2 * counter];
    return high << 32 | UNIT[2 * counter + 1];
}

/* The handler stops the unit before it touches memory: nothing but its first instructions, an add and a logical
 * operation in the J pipe and an add in the I pipe, happens between the event and the stop. */
void on_threshold(int number);
__asm__(".globl on_threshold\n"
        "on_threshold:\n"
        "    lis 9, 0xFFFD\n"
        "    ori 9, 9, 0xA000\n"
        "    li 10, 0\n"
        "    stw 10, 0x904(9)\n"
        "    b look\n");

void look(int number);
void look(int number)
{
    (void)number;
    signals++;
    seen = read_counter(watched);
}

/* Lines of L3's size, walked downwards, so that nothing is prefetched; more than L1 and L2 hold, so that each is found
 * in L3 when its turn comes again. */
static volatile unsigned lines[ROOM][WORDS] __attribute__((aligned(128)));
static volatile double values[LINES];
static volatile int words[2 * LINES];
static unsigned place;

static void __attribute__((noinline)) region(void)
{
    for (int i = 0; i < LINES; i++) {
        place = place ? place - 1 : ROOM - 1;
        words[i] += (int)lines[place][0] * words[i]; /* L1 miss, L2 miss, L3 hit */
        words[i] ^= (int)lines[place][8];            /* L1 miss, L2 hit */
        lines[place][16] = i;                        /* a write to memory */
        values[i] = __builtin_fma(values[i], 1.5, 2);
        values[i] = values[i] + 1;
        values[i] = values[i] * 0.5;
        values[i] = -values[i] / 3;
    }
}

static void configure(unsigned counter, unsigned byte)
{
    uint32_t shift = 24 - 8 * (counter % 4);
    uint32_t word = UNIT[CONFIG + counter / 4] & ~(0xFFu << shift);
    UNIT[CONFIG + counter / 4] = word | byte << shift;
}

/* Events by level are those of instructions: a pulse is a cycle long, and two may touch. `handler` is how many the
 * handler adds before it stops the unit. */
static const struct {
    unsigned counter, mode, most, handler;
} events[] = {
    {BGP_PU0_JPIPE_ADD_SUB, 0, LINES, 1},
    {BGP_PU0_JPIPE_LOGICAL_OPS, 0, LINES, 1},
    {BGP_PU0_IPIPE_INSTRUCTIONS, 0, LINES, 1},
    {BGP_PU0_IPIPE_MULT_DIV, 0, LINES, 0},
    {BGP_PU0_IPIPE_BRANCHES, 0, LINES, 0},
    {BGP_PU0_DATA_LOADS, 0, 5 * LINES, 0},
    {BGP_PU0_DATA_STORES, 0, LINES, 0},
    {BGP_PU0_FPU_ADD_SUB_1, 0, LINES, 0},
    {BGP_PU0_FPU_MULT_1, 0, LINES, 0},
    {BGP_PU0_FPU_FMA_2, 0, LINES, 0},
    {BGP_PU0_FPU_DIV_1, 0, LINES, 0},
    {BGP_PU0_FPU_OTHER_LOADS, 0, 4 * LINES, 0},
    {BGP_PU0_FPU_OTHER_STORES, 0, 4 * LINES, 0},
    {BGP_PU0_DCACHE_MISS, RISE, 2 * LINES, 0},
    {BGP_PU0_DCACHE_HIT, 0, 5 * LINES, 0},
    {BGP_PU0_L2_READ_REQUESTS, RISE, 2 * LINES, 0},
    {BGP_PU0_L2_HIT, RISE, LINES, 0},
    {BGP_PU0_L2_MEMORY_WRITES, RISE, LINES, 0},
    {BGP_PU0_L2_L3_READ_REQUESTS, RISE, LINES, 0},
    {BGP_L3_M0_RD0_SINGLE_LINE_DELIVERED_L2, RISE, LINES / 2, 0},
    {BGP_L3_M1_RD0_DIR1_HIT_OR_INFLIGHT, RISE, LINES / 4, 0},
};
enum { EVENTS = sizeof events / sizeof *events };

/* Lets `threshold` events of a counter happen in the region; returns how many more there were when the handler stopped
 * the unit. -1: no signal, or several. */
static int try(unsigned event, unsigned threshold)
{
    unsigned counter = watched = events[event].counter;
    signals = 0;
    configure(counter, INTERRUPT | events[event].mode);
    UNIT[THRESHOLD] = 0; /* compare with array word 0; the high half waits for the low one */
    UNIT[THRESHOLD + 1] = 0;
    UNIT[2 * counter] = 0;
    UNIT[2 * counter + 1] = 4096 - threshold; /* so that the carry is the threshold's event */
    UNIT[START] = 1;
    region();
    UNIT[START] = 0;
    configure(counter, 0);
    for (int i = 0; i < 8; i++)
        UNIT[PENDING + i] = 0xFFFFFFFF;
    return signals == 1 ? (int)(seen - 4096) : -1;
}

int main(void)
{
    uint32_t random = 12345;
    int tests = 0, wrong = 0;
    signal(SIGXCPU, on_threshold);
    for (int i = 0; i < ROOM / LINES; i++)
        region();
    (void)try(0, 1); /* the handler's code is in L1 now */
    for (unsigned e = 0; e < EVENTS; e++) {
        for (int t = 0; t < TIMES; t++, tests++) {
            random = random * 1664525 + 1013904223;
            unsigned threshold = 1 + (random >> 16) % events[e].most;
            int more = try(e, threshold);
            if (more == (int)events[e].handler) continue;
            printf("event %u, threshold %u: %d more, not %u\n", events[e].counter, threshold, more, events[e].handler);
            wrong++;
        }
    }
    printf("%d thresholds on %d events, %d wrong\n", tests, EVENTS, wrong);
    return wrong != 0;
}
