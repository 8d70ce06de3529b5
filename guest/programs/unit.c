/* The counter unit from inside a program: its registers are memory, and what lies between start and stop is counted. */
#include <stdint.h>
#include <stdio.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)

enum { START = 0x904 / 4, CONFIG = 0x800 / 4, THRESHOLD = 0x910 / 4 };

static volatile double values[1000];
static volatile int words[1000];

/* Two 32-bit loads, the high half first, are one 64-bit value. */
static uint64_t read_counter(unsigned counter)
{
    uint64_t high = UNIT[2 * counter];
    return high << 32 | UNIT[2 * counter + 1];
}

static void write_counter(unsigned counter, uint64_t value)
{
    UNIT[2 * counter] = (uint32_t)(value >> 32);
    UNIT[2 * counter + 1] = (uint32_t)value;
}

static void __attribute__((noinline)) region(void)
{
    double one = values[0] + 1;
    for (int i = 0; i < 1000; i++)
        values[i] = values[i] + one;
    for (int i = 0; i < 500; i++)
        words[i]++;
}

/* Events 15, 17, 18, 22, 32, 34: misses, loads, stores, FP adds, FP loads and stores of core 0. */
static const unsigned counters[] = {17, 18, 22, 32, 34};

int main(void)
{
    region(); /* not started: nothing */
    for (unsigned i = 0; i < 5; i++)
        printf("%u: %llu\n", counters[i], (unsigned long long)read_counter(counters[i]));
    for (int round = 0; round < 2; round++) {
        UNIT[START] = 1;
        region();
        UNIT[START] = 0;
        region();
        for (unsigned i = 0; i < 5; i++)
            printf("%u: %llu\n", counters[i], (unsigned long long)read_counter(counters[i]));
    }
    write_counter(22, 0xFFFFFFFFull); /* 64 bits wide */
    UNIT[START] = 1;
    region();
    UNIT[START] = 0;
    printf("22: %llx, started %u\n", (unsigned long long)read_counter(22), UNIT[START]);
    volatile double *counter = (volatile double *)UNIT;
    union {
        double d;
        uint64_t u;
    } whole = {.d = counter[22]}; /* one 64-bit load */
    printf("22: %llx by a doubleword\n", (unsigned long long)whole.u);
    return 0;
}
