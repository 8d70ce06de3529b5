/* What commands to the monitor's board cost. A mode and a number:
 *   category N      changes the category N times
 *   tag N PAGES     changes the tag of PAGES pages N times
 *   poll N          walks an array, and looks N times for the misses of this core: all bins of one sender
 *   memory N        walks it under category N with jumpers from the category, and looks where its misses are: in bins
 *                   of 20 bits, or above, where the board has more memory; prints where, and the largest word
 *   interrupt N     walks it with the same selection and a threshold of N; the handler reads the bin's address
 * The exit status counts what is wrong; `interrupt` prints the bin. */
#include <chiliad/monitor.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 16, BINS = 1 << 12, RUN = 1, SENDER_SIZE = 0x3E0 };

static volatile char array[PAGES << 12] __attribute__((aligned(4096)));
static volatile uint32_t bin = UINT32_MAX, signals;

static void handler(int number)
{
    (void)number;
    bin = (uint32_t)chiliad_monitor_get(CHILIAD_MONITOR_OVERFLOW);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    signals++;
}

/* All packets of sender 0. */
__attribute__((noinline)) static uint64_t poll_sender(void)
{
    uint64_t all = 0;
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 0 << 12);
    for (unsigned i = 0; i < BINS; i++)
        all += chiliad_monitor_get(CHILIAD_MONITOR_DATA);
    return all;
}

/* The bins from `address` on, one for each latency. */
__attribute__((noinline)) static uint64_t sum_of(uint32_t address)
{
    uint64_t all = 0;
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, address);
    for (unsigned i = 0; i < BINS; i++)
        all += chiliad_monitor_get(CHILIAD_MONITOR_DATA);
    return all;
}

/* Latency in all 20 bits, the four bits of the category above them. */
static void look_at_memory(uint32_t category)
{
    /* Bits 45 to 48 of the variables, counted from 1. */
    chiliad_monitor_set(CHILIAD_MONITOR_JUMPERS, 48U << 24 | 47 << 16 | 46 << 8 | 45);
    chiliad_category(category);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, RUN);
    for (unsigned i = 0; i < PAGES << 12; i += 32)
        (void)array[i];
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 0xFFFFFF);
    chiliad_monitor_set64(CHILIAD_MONITOR_DATA, UINT64_MAX);
    uint64_t low = sum_of(0), high = sum_of(category << 20);
    chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, 0xFFFFFF);
    printf("misses %s, last word 0x%llx\n", low >= PAGES << 7 ? "below" : high >= PAGES << 7 ? "above" : "nowhere",
           (unsigned long long)chiliad_monitor_get(CHILIAD_MONITOR_DATA));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, wrong = 0;
    unsigned pages = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    if (strcmp(mode, "category") == 0)
        for (unsigned i = 0; i < n; i++)
            chiliad_category(i & 15);
    if (strcmp(mode, "tag") == 0)
        for (unsigned i = 0; i < n; i++)
            wrong += chiliad_tag(array, pages << 12, i & 15) != 0;
    if (strcmp(mode, "memory") == 0) look_at_memory(n);
    if (strcmp(mode, "poll") == 0 || strcmp(mode, "interrupt") == 0) {
        int control = RUN;
        chiliad_monitor_set(CHILIAD_MONITOR_CHUNKS, SENDER_SIZE);
        if (*mode == 'i') {
            (void)signal(SIGIO, handler);
            chiliad_monitor_set(CHILIAD_MONITOR_THRESHOLD, n);
            control |= CHILIAD_MONITOR_SIGNAL | CHILIAD_MONITOR_ONCE;
        }
        chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, (uint32_t)control);
        for (unsigned i = 0; i < PAGES << 12; i += 32)
            (void)array[i];
        chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
        for (unsigned i = 0; *mode == 'p' && i < n; i++)
            wrong += poll_sender() - (PAGES << 7) > 4; /* the array's misses, and a few of code and stack */
        if (*mode == 'i') wrong += signals != 1;
    }
    if (signals) printf("sender %u, size %u\n", bin >> 12, bin & 4095);
    return (int)wrong;
}
