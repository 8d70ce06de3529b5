/* Multiplexing, as units with few counters need it: every counter looks at each of its four inputs in turn, a slice of
 * the work at a time, and what it saw of its first input times four is the estimate. Beside it, the true count from a
 * counter that never looks away: "EVENT ESTIMATE TRUE". */
#include <stdint.h>
#include <stdio.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)

enum { START = 0x904 / 4, CONFIG = 0x800 / 4, SLICES = 200, INPUTS = 4 };

static const struct {
    unsigned counter;
    const char *name;
} events[] = {
    {9, "IPIPE_BRANCHES"}, {15, "DCACHE_MISS"}, {17, "DATA_LOADS"},      {18, "DATA_STORES"},
    {22, "FPU_ADD_SUB_1"}, {23, "FPU_MULT_1"},  {32, "FPU_OTHER_LOADS"}, {34, "FPU_OTHER_STORES"},
};
enum { EVENTS = sizeof events / sizeof *events };

static volatile double values[20000];

/* The amount of work and its mix change slowly, as a program's phases do. */
static void __attribute__((noinline)) slice(unsigned number)
{
    unsigned count = 100 + number % 50 * 4;
    for (unsigned i = 0; i < count; i++)
        values[i * (31 + number % 27)] += 1;
    for (unsigned i = 0; i < number; i++)
        values[i] *= 1.5;
}

/* A counter: its input and signal mode, the byte of its configuration. Misses are counted by their rising edge. */
static void look_at(unsigned counter, uint32_t input)
{
    uint32_t shift = 24 - 8 * (counter % 4), mode = counter == 15 ? 4 : 0;
    volatile uint32_t *word = &UNIT[CONFIG + counter / 4];
    *word = (*word & ~(0xFFu << shift)) | (input | mode) << shift;
}

static uint64_t take(unsigned counter)
{
    uint64_t value = (uint64_t)UNIT[2 * counter] << 32;
    value |= UNIT[2 * counter + 1];
    UNIT[2 * counter] = 0;
    UNIT[2 * counter + 1] = 0;
    return value;
}

/* Runs all slices and adds up by input; counters look at input 0 only, or at each of the four in turn. */
static void count(unsigned inputs, uint64_t counts[INPUTS][EVENTS])
{
    for (unsigned number = 0; number < SLICES; number++) {
        uint32_t input = number % inputs;
        for (unsigned i = 0; i < EVENTS; i++)
            look_at(events[i].counter, input);
        UNIT[START] = 1;
        slice(number);
        UNIT[START] = 0;
        for (unsigned i = 0; i < EVENTS; i++)
            counts[input][i] += take(events[i].counter);
    }
}

int main(void)
{
    static uint64_t warm[INPUTS][EVENTS], whole[INPUTS][EVENTS], parts[INPUTS][EVENTS];
    count(1, warm); /* the caches are as full for one as for the other */
    count(1, whole);
    count(INPUTS, parts);
    for (unsigned i = 0; i < EVENTS; i++)
        printf("%s %llu %llu\n", events[i].name, (unsigned long long)(INPUTS * parts[0][i]),
               (unsigned long long)whole[0][i]);
    return 0;
}
