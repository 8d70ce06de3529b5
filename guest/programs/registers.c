/* The counter unit's registers at an address that the command line gives.
 *   registers BASE region        FP adds of a region of 1000, and the bits of a register that is
 * written and read registers BASE rounds N      N times: all counters and configurations written
 * and read, a start, a stop registers BASE service HOW   1000 FP adds, and a timer's handler that
 * does 300 more: "counted", or "apart", where the handler stops the unit while it works
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum {
    COUNTERS = 256,
    FP_ADDS = 22,
    CONFIG = 0x800 / 4,
    START = 0x904 / 4,
    ADDS = 1000,
    HANDLER_ADDS = 300
};

static volatile uint32_t *unit;
static volatile double sum;
static volatile sig_atomic_t handled;
static int apart;

static void add(int times)
{
    for (int i = 0; i < times; i++)
        sum = sum + 1;
}

static unsigned long long counter(unsigned number)
{
    unsigned long long high = unit[2 * number];
    return high << 32 | unit[2 * number + 1];
}

static void region(void)
{
    unit[START] = 1;
    add(ADDS);
    unit[START] = 0;
    unit[2 * 200 + 1] = 0x12345678;
    printf("%llu adds, counter 200 has %llx\n", counter(FP_ADDS), counter(200));
}

static void rounds(int times)
{
    uint32_t read = 0;
    for (int i = 0; i < times; i++) {
        for (unsigned c = 0; c < COUNTERS; c++) {
            unit[2 * c] = c;
            unit[2 * c + 1] = (uint32_t)i;
            read += unit[2 * c] + unit[2 * c + 1];
        }
        for (unsigned c = 0; c < COUNTERS; c += 4)
            unit[CONFIG + c / 4] = unit[CONFIG + c / 4];
        unit[START] = 1;
        add(10);
        unit[START] = 0;
    }
    printf("%d\n", read != 0);
}

static void on_timer(int number)
{
    (void)number;
    if (apart) unit[START] = 0;
    add(HANDLER_ADDS);
    handled = 1;
    if (apart) unit[START] = 1;
}

static void service(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 50}};
    struct sigaction action = {.sa_handler = on_timer};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    unit[START] = 1;
    add(ADDS / 2);
    while (!handled)
        ;
    add(ADDS / 2);
    unit[START] = 0;
    printf("%llu adds\n", counter(FP_ADDS));
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    unit = (volatile uint32_t *)(uintptr_t)strtoul(argv[1], NULL, 16);
    if (!strcmp(argv[2], "region"))
        region();
    else if (!strcmp(argv[2], "rounds"))
        rounds(atoi(argv[3]));
    else {
        apart = !strcmp(argv[3], "apart");
        service();
    }
    return 0;
}
