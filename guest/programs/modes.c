/* The four modes of the counter unit on one wire, of the same 200 misses of DDR: modes MODE INPUT. Counter 13 has
 * BGP_PU0_DCACHE_LINEFILLINPROG as input 0; counter 92 has no event, so that counting it low counts cycles. All other
 * counters count their input INPUT by its level. Prints both, then every counter at the stop and whether all were still
 * the same later. With "registers" it writes and reads every register of figure 5 and counts across every bit of a
 * counter; the exit status counts what is wrong. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)
enum { START = 0x904 / 4, CONFIG = 0x800 / 4, COUNTERS = 256, MISSES = 200, FILLS = 13, NOTHING = 92, LOW = 3 };

static volatile char pages[(MISSES + 1) << 12] __attribute__((aligned(4096)));

static uint64_t read_counter(unsigned counter)
{
    uint64_t high = UNIT[2 * counter];
    return high << 32 | UNIT[2 * counter + 1];
}

/* Each waits for the one before. */
__attribute__((noinline)) static unsigned walk(void)
{
    unsigned at = 0;
    for (unsigned i = 0; i < MISSES; i++)
        at = (unsigned)pages[((i + 1) << 12) + at];
    return at;
}

static void write_counter(unsigned counter, uint64_t value)
{
    UNIT[2 * counter] = (uint32_t)(value >> 32);
    UNIT[2 * counter + 1] = (uint32_t)value;
}

static uint64_t value_of(unsigned counter)
{
    return UINT64_C(0x0101010101010101) * counter + UINT64_C(0xF0E0D0C0B0A09080);
}

static int registers(void)
{
    enum { THRESHOLD = 0x910 / 4, FP_ADDS = 22, BYTES = 0x1F0B1307, ONE = 0x1F0B1207 };
    static volatile double sum = 1;
    int wrong = 0;
    for (unsigned c = 0; c < COUNTERS; c++)
        write_counter(c, value_of(c));
    for (unsigned c = 0; c < COUNTERS; c += 4)
        UNIT[CONFIG + c / 4] = c * 0x02040608 & 0x0F0F0F0F;
    UNIT[THRESHOLD] = 0x12345678;
    UNIT[THRESHOLD + 1] = 0x9ABCDEF0;
    for (unsigned c = 0; c < COUNTERS; c++)
        wrong += read_counter(c) != value_of(c);
    for (unsigned c = 0; c < COUNTERS; c += 4)
        wrong += UNIT[CONFIG + c / 4] != (c * 0x02040608 & 0x0F0F0F0F);
    wrong += UNIT[THRESHOLD] != 0x12345678 || UNIT[THRESHOLD + 1] != 0x9ABCDEF0 || UNIT[START] != 0;
    /* Input 3 and mode 3 with interrupt, and so on; then one counter's input alone: the neighbours stay. */
    UNIT[CONFIG] = BYTES;
    UNIT[CONFIG] = ONE;
    wrong += UNIT[CONFIG] != ONE || UNIT[CONFIG + 1] != (4 * 0x02040608 & 0x0F0F0F0F);
    for (unsigned c = 0; c < COUNTERS; c += 4)
        UNIT[CONFIG + c / 4] = 0;
    for (unsigned bit = 12; bit < 64; bit++) {
        uint64_t before = (UINT64_C(1) << bit) - 1;
        write_counter(FP_ADDS, before);
        UNIT[START] = 1;
        for (int i = 0; i < 3; i++)
            sum = sum + 1;
        wrong += UNIT[START] != 1;
        UNIT[START] = 0;
        wrong += read_counter(FP_ADDS) != before + 3;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "registers") == 0) return registers();
    static uint64_t stopped[COUNTERS];
    unsigned mode = argc > 1 ? (unsigned)atoi(argv[1]) : 0, input = argc > 2 ? (unsigned)atoi(argv[2]) : 0, same = 0;
    for (unsigned c = 0; c < COUNTERS; c += 4) {
        uint32_t word = input * 0x01010101;
        if (c / 4 == FILLS / 4) word = mode << 2 << 8 * (3 - FILLS % 4);
        if (c / 4 == NOTHING / 4) word = LOW << 2 << 8 * (3 - NOTHING % 4);
        UNIT[CONFIG + c / 4] = word;
    }
    (void)walk(); /* the TLB's and the pages' first touches */
    UNIT[START] = 1;
    (void)walk();
    UNIT[START] = 0;
    for (unsigned c = 0; c < COUNTERS; c++)
        stopped[c] = read_counter(c);
    (void)walk();
    for (unsigned c = 0; c < COUNTERS; c++)
        same += stopped[c] == read_counter(c);
    printf("fills %llu, cycles %llu, %u the same later\n", (unsigned long long)stopped[FILLS],
           (unsigned long long)stopped[NOTHING], same);
    for (unsigned c = 0; c < COUNTERS; c++)
        printf("%u %llu\n", c, (unsigned long long)stopped[c]);
    return 0;
}
