/* Looking must not change what is looked at: two threads do the same work, whatever watches them.
 * MODE says what does; all modes execute the same instructions. At the end the program reads every
 * event of the catalogue at one moment and prints them. Signals are ignored, so that what fires
 * changes nothing either. A fourth argument: they are not, and end it. looking MODE SEED p|l [x]
 * MODE: a letter, a: nothing looks; p: the machine has the counter unit of Blue Gene/P */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chiliad/callthru.h>
#include <chiliad/monitor.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)
enum {
    START = 0x904 / 4,
    CONFIG = 0x800 / 4,
    THRESHOLD = 0x910 / 4,
    MISSES = 15
}; /* BGP_PU0_DCACHE_MISS's counter */
enum {
    WORDS = 1 << 15,
    ROUNDS = 20000,
    RUN = CHILIAD_MONITOR_RUN,
    SIGNAL = RUN | CHILIAD_MONITOR_SIGNAL
};
enum { TAG = 5, UNUSED_TAG = 6, EVENTS = 1200 };

enum { L_MISS, INST, CYCLES, HIT, L2_READ, NAMES };
static const char *const names[NAMES] = {"BGL_D1_L_MISS", "BGL_INST", "BGL_CYCLES", "BGL_D1_HIT",
                                         "BGL_L2_READ"};
static uint32_t index_of[NAMES];

/* The board's CONTROL, the tag whose bins are forbidden; of the unit's counter the configuration
 * and the first value (its threshold is 4096); how many waits there are, for which event, how far
 * away. */
static const volatile struct mode {
    uint32_t control, tag, config, start, waits, event, left;
} modes[] = {
    {0, UNUSED_TAG, 0x04, 0, 0, L_MISS, 0},       {RUN, UNUSED_TAG, 0x04, 0, 0, L_MISS, 0},
    {SIGNAL, UNUSED_TAG, 0x04, 0, 0, L_MISS, 0},  {SIGNAL, TAG, 0x04, 0, 0, L_MISS, 0},
    {0, UNUSED_TAG, 0x14, 0, 0, L_MISS, 0},       {0, UNUSED_TAG, 0x14, 4000, 0, L_MISS, 0},
    {0, UNUSED_TAG, 0x04, 0, 1, L_MISS, 1000000}, {0, UNUSED_TAG, 0x04, 0, 1, L_MISS, 777},
    {0, UNUSED_TAG, 0x04, 0, 1, INST, 100000000}, {0, UNUSED_TAG, 0x04, 0, 1, INST, 54321},
    {0, UNUSED_TAG, 0x04, 0, 1, CYCLES, 65432},   {0, UNUSED_TAG, 0x04, 0, 1, HIT, 7654},
    {0, UNUSED_TAG, 0x04, 0, 1, L2_READ, 543},
};

static volatile uint32_t words[2][WORDS] __attribute__((aligned(4096)));
static volatile uint32_t unused[1024] __attribute__((aligned(4096)));
static volatile double sums[2];
static uint64_t counts[EVENTS];

static uint32_t work(unsigned self, uint32_t random)
{
    double sum = 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t at = random >> 17, near = at & 0xFF;
        if (random & 0x800) words[self][at] += random;
        if (random & 0x1000) words[self][near] ^= words[self][(at + 9) & (WORDS - 1)];
        if ((random & 0x6000) == 0) words[1 - self][near]++; /* the other's, sometimes */
        if ((random & 0x18000) == 0)
            random += *(volatile uint32_t *)((volatile char *)words[self] + at); /* unaligned */
        sum = sum * 0.75 + (double)(int)(random >> 20);
        random ^= random / (near + 1);
    }
    sums[self] = sum;
    return random;
}

static void *other(void *seed)
{
    return (void *)work(1, (uint32_t)seed);
}

/* Reads all modes, so that each makes the same accesses. */
static struct mode mode_of(uint32_t number)
{
    struct mode mode = {0};
    for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        volatile uint32_t mask = 0 - (uint32_t)(i == number);
        mode.control |= modes[i].control & mask;
        mode.tag |= modes[i].tag & mask;
        mode.config |= modes[i].config & mask;
        mode.start |= modes[i].start & mask;
        mode.waits |= modes[i].waits & mask;
        mode.event |= modes[i].event & mask;
        mode.left |= modes[i].left & mask;
    }
    return mode;
}

static uint32_t event_of(uint32_t number)
{
    uint32_t event = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        volatile uint32_t mask = 0 - (uint32_t)(i == number);
        event |= index_of[i] & mask;
    }
    return event;
}

static void find_events(void)
{
    struct chiliad_event event;
    long count = chiliad_callthru(CHILIAD_EVENTS, 0, 0);
    for (long i = 0; i < count; i++) {
        chiliad_callthru(CHILIAD_EVENT, i, (long)&event);
        for (unsigned n = 0; n < NAMES; n++)
            if (!strcmp(event.name, names[n])) index_of[n] = (uint32_t)i;
    }
}

static void arm_board(const struct mode *mode)
{
    chiliad_tag(words, sizeof words, TAG);
    chiliad_tag(unused, sizeof unused, UNUSED_TAG);
    chiliad_monitor_set(CHILIAD_MONITOR_CHUNKS, 0xC07); /* category, tag, 12 bits of latency */
    chiliad_monitor_set64(CHILIAD_MONITOR_THRESHOLD, (UINT64_C(1) << 40) - 1);
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS,
                        9 << 16 | mode->tag << 12 | 60); /* slow ones only */
    chiliad_monitor_set(CHILIAD_MONITOR_COUNT, 4096 - 60);
    chiliad_monitor_set64(CHILIAD_MONITOR_FILL, (UINT64_C(1) << 40) - 1);
    chiliad_category(9);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, mode->control);
}

static void arm_unit(const struct mode *mode)
{
    UNIT[CONFIG + MISSES / 4] = mode->config << (24 - 8 * (MISSES % 4));
    UNIT[THRESHOLD] = 0;
    UNIT[THRESHOLD + 1] = 0;
    UNIT[2 * MISSES] = 0;
    UNIT[2 * MISSES + 1] = mode->start;
    UNIT[START] = 1;
}

static void arm_wait(const struct mode *mode)
{
    uint64_t now = 0;
    uint32_t event = event_of(mode->event);
    struct chiliad_events_read read = {
        .count = 1, .scope = CHILIAD_THREAD, .events = &event, .values = &now};
    chiliad_callthru(CHILIAD_EVENTS_READ, (long)&read, 0);
    struct chiliad_events_wait wait = {.count = 1, .events = &event, .sum = now + mode->left};
    chiliad_callthru(CHILIAD_EVENTS_WAIT, (long)&wait, (long)mode->waits);
}

int main(int argc, char **argv)
{
    struct mode chosen = mode_of((uint32_t)(*argv[1] - 'a')), *mode = &chosen;
    uint32_t seed = (uint32_t)strtoul(argv[2], NULL, 10);
    static uint32_t all[EVENTS];
    pthread_t thread;
    signal(SIGIO, argc > 4 ? SIG_DFL : SIG_IGN);
    signal(SIGXCPU, argc > 4 ? SIG_DFL : SIG_IGN);
    find_events();
    for (uint32_t i = 0; i < EVENTS; i++)
        all[i] = i;
    if (argc > 3 && *argv[3] == 'p') arm_unit(mode);
    arm_wait(mode);
    arm_board(mode);
    pthread_create(&thread, NULL, other, (void *)(seed + 1));
    uint32_t result = work(0, seed);
    pthread_join(thread, NULL);
    struct chiliad_events_read read = {.count = (uint32_t)chiliad_callthru(CHILIAD_EVENTS, 0, 0),
                                       .scope = CHILIAD_NODE,
                                       .events = all,
                                       .values = counts};
    chiliad_callthru(CHILIAD_EVENTS_READ, (long)&read, 0);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    if (argc > 3 && *argv[3] == 'p') UNIT[START] = 0;
    printf("%u\n", result);
    for (uint32_t i = 0; i < read.count; i++)
        if (counts[i]) printf("%u %llu\n", i, (unsigned long long)counts[i]);
    return 0;
}
