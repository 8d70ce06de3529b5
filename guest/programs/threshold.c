/* Thresholds of the counter unit: SIGXCPU comes at the exact event. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)

enum { START = 0x904 / 4, CONFIG = 0x800 / 4, THRESHOLD = 0x910 / 4, PENDING = 0x940 / 4 };

static volatile uint64_t seen;
static volatile unsigned watched, signals;

static uint64_t read_counter(unsigned counter)
{
    uint64_t high = UNIT[2 * counter];
    return high << 32 | UNIT[2 * counter + 1];
}

/* The first thing the handler does is to stop the unit; the counts it then reads are those of the moment. */
static void on_threshold(int number)
{
    (void)number;
    UNIT[START] = 0;
    signals++;
    seen = read_counter(watched);
}

static volatile double values[200];
static volatile int words[200];

static void __attribute__((noinline)) region(void)
{
    for (int i = 0; i < 200; i++) {
        values[i] = values[i] * 1.5 + 2;
        words[i] += i * words[i];
    }
}

/* One of the counter's events, input 0, by level, with interrupt: byte 0x10 of its configuration. */
static void configure(unsigned counter, int interrupt)
{
    uint32_t shift = 24 - 8 * (counter % 4);
    uint32_t word = UNIT[CONFIG + counter / 4] & ~(0xFFu << shift);
    UNIT[CONFIG + counter / 4] = word | (interrupt ? 0x10u << shift : 0);
}

/* Counts `threshold` events of a counter in the region; returns how many more there were when the handler stopped the
 * unit: its own first instructions, the same for every threshold if the signal comes at the exact event. -1: no signal.
 */
static int try(unsigned counter, unsigned threshold)
{
    watched = counter;
    signals = 0;
    configure(counter, 1);
    UNIT[THRESHOLD] = 0; /* compare with array word 0; the high half waits for the low one */
    UNIT[THRESHOLD + 1] = 0;
    UNIT[2 * counter] = 0;
    UNIT[2 * counter + 1] = 4096 - threshold; /* so that the carry is the threshold's event */
    UNIT[START] = 1;
    region();
    UNIT[START] = 0;
    configure(counter, 0);
    UNIT[PENDING] = UNIT[PENDING + 1] = 0xFFFFFFFF;
    return signals == 1 ? (int)(seen - 4096) : -1;
}

int main(void)
{
    /* multiplies, branches, loads, stores, FP adds, multiplies, loads, stores */
    static const unsigned events[] = {5, 9, 17, 18, 22, 23, 32, 34};
    uint32_t random = 12345;
    int tests = 0, wrong = 0;
    signal(SIGXCPU, on_threshold);
    for (unsigned e = 0; e < sizeof events / sizeof *events; e++) {
        int first = try(events[e], 1);
        for (int t = 0; t < 20; t++) {
            random = random * 1664525 + 1013904223;
            unsigned threshold = 1 + (random >> 16) % 190;
            int more = try(events[e], threshold);
            tests++;
            wrong += more < 0 || more != first;
            if (more < 0 || more != first)
                printf("event %u, threshold %u: %d, not %d\n", events[e], threshold, more, first);
        }
    }
    printf("%d thresholds on %u events, %d wrong\n", tests, (unsigned)(sizeof events / sizeof *events), wrong);
    printf("misses: %s\n", try(16, 100) >= 0 && try(21, 50) >= 0 ? "signalled" : "not signalled");
    return wrong != 0;
}
