/* Low parts, carries, arming and interrupts of the counter unit, as a program sees them on the
 * node: "what happens: yes" or "no" for each statement. Counter 22 counts FP adds, one for each
 * add(1).
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

enum {
    COUNTERS = 256,
    FP_ADDS = 22,
    FP_LOADS = 32,
    ROUND = 4096,
    CONFIG = 0x800 / 4,
    START = 0x904 / 4,
    THRESHOLD = 0x910 / 4,
    PENDING = 0x940 / 4,
    ARMED = 0x960 / 4,
    INTERRUPT = 0x10
};

#define UNIT ((volatile uint32_t *)0xFFFDA000)

static volatile double sum;
static volatile double *at = &sum;
static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void check(const char *what, int holds)
{
    printf("%s: %s\n", what, holds ? "yes" : "no");
}

static uint64_t counter(unsigned number)
{
    uint64_t high = UNIT[2 * number];
    return high << 32 | UNIT[2 * number + 1];
}

static void write_counter(unsigned number, uint64_t value)
{
    UNIT[2 * number] = (uint32_t)(value >> 32);
    UNIT[2 * number + 1] = (uint32_t)value;
}

static void configure(unsigned number, unsigned byte)
{
    uint32_t shift = 24 - 8 * (number % 4);
    uint32_t word = UNIT[CONFIG + number / 4] & ~(0xFFu << shift);
    UNIT[CONFIG + number / 4] = word | byte << shift;
}

static int bit(unsigned block, unsigned number)
{
    return UNIT[block + number / 32] >> (31 - number % 32) & 1;
}

static uint32_t cycles(void)
{
    uint32_t low;
    __asm__ volatile("mftb %0" : "=r"(low));
    return low;
}

static void __attribute__((noinline)) add(unsigned times)
{
    while (times--)
        *at = *at + 1;
}

static void wait(uint32_t many)
{
    uint32_t begin = cycles();
    while (cycles() - begin < many)
        ;
}

/* Every value at which bits roll over, one event at a time and many. */
static int rolls(void)
{
    static const unsigned bits[] = {12, 13, 24, 31, 32, 33, 52, 63, 64};
    int wrong = 0;
    for (unsigned b = 0; b < sizeof bits / sizeof *bits; b++) {
        uint64_t edge = bits[b] < 64 ? UINT64_C(1) << bits[b] : 0;
        write_counter(FP_ADDS, edge - 3);
        UNIT[START] = 1;
        for (uint64_t i = 0; i < 6; i++) {
            wrong += counter(FP_ADDS) != edge - 3 + i;
            add(1);
        }
        add(2 * ROUND);
        wrong += counter(FP_ADDS) != edge + 3 + 2 * ROUND;
        wait(ROUND + 16); /* every word has been visited */
        wrong += counter(FP_ADDS) != edge + 3 + 2 * ROUND;
        UNIT[START] = 0;
    }
    return !wrong;
}

/* No counter counts more events than there were cycles; the busiest one counts more than a tenth.
 */
static int one_a_cycle(void)
{
    uint64_t most = 0;
    for (unsigned c = 0; c < COUNTERS; c++)
        write_counter(c, 0);
    uint32_t begin = cycles();
    UNIT[START] = 1;
    for (volatile int i = 0; i < 2000; i++)
        add(1);
    UNIT[START] = 0;
    uint32_t spent = cycles() - begin;
    for (unsigned c = 0; c < COUNTERS; c++)
        if (counter(c) > most) most = counter(c);
    return most <= spent && most > spent / 10;
}

/* The word is reached by a carry; then it arms within a round, and the next carry interrupts with
 * that very event. */
static void arming(void)
{
    uint64_t n = 3;
    UNIT[THRESHOLD] = 0;
    UNIT[THRESHOLD + 1] = (uint32_t)(n * ROUND);
    configure(FP_ADDS, INTERRUPT);
    configure(FP_LOADS, 0); /* has the same value, and no interrupt */
    write_counter(FP_ADDS, n * ROUND - 2);
    write_counter(FP_LOADS, n * ROUND - 2);
    UNIT[START] = 1;
    add(1);
    wait(2 * ROUND);
    check("not armed before the word is reached", !bit(ARMED, FP_ADDS));
    add(1);
    wait(ROUND + 16);
    check("armed within a round of the carry",
          bit(ARMED, FP_ADDS) && counter(FP_ADDS) == n * ROUND);
    check("a counter without interrupt is not armed",
          !bit(ARMED, FP_LOADS) && counter(FP_LOADS) >= n * ROUND);
    add(ROUND - 1);
    wait(2 * ROUND);
    check("no interrupt before the next carry", !signals && !bit(PENDING, FP_ADDS));
    add(1);
    check("the next carry interrupts at once", signals == 1 && bit(PENDING, FP_ADDS));
    check("at the event that reached it", counter(FP_ADDS) == (n + 1) * ROUND);
    check("and disarms", !bit(ARMED, FP_ADDS));
    add(2 * ROUND);
    wait(2 * ROUND);
    check("another carry does not interrupt", signals == 1);
    UNIT[START] = 0;
    configure(FP_ADDS, 0);
}

int main(void)
{
    signal(SIGXCPU, on_signal);
    check("no event is lost at any roll-over", rolls());
    check("no counter counts more than one event a cycle", one_a_cycle());
    arming();
    return 0;
}
