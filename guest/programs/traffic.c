/* Traffic to memory that can be worked out: reads a word of each L3 line of so many megabytes ("read"), then writes a
 * word of each line of as many and reads others, so that what was written leaves L3 ("write"); prints what the counter
 * unit saw of each part: "PART EVENT COUNT".
 *
 *   traffic MEGABYTES         16 or 32: at least twice L3
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <spi/UPC.h>

enum { MOST = 32, LINE = 128 };

static volatile uint32_t first[MOST << 18] __attribute__((aligned(4096))),
    second[MOST << 18] __attribute__((aligned(4096)));
static volatile uint32_t third[MOST << 18] __attribute__((aligned(4096)));

static unsigned words;

static const struct {
    int event;
    const char *name;
} events[] = {
    {BGP_L3_M0_MH_DDR_FETCHES, "M0_DDR_FETCHES"},
    {BGP_L3_M1_MH_DDR_FETCHES, "M1_DDR_FETCHES"},
    {BGP_L3_M0_MH_DDR_STORES, "M0_DDR_STORES"},
    {BGP_L3_M1_MH_DDR_STORES, "M1_DDR_STORES"},
    {BGP_PU0_L2_CYCLES_READ_REQUEST_PENDING, "CYCLES_READ_REQUEST_PENDING"},
    {BGP_PU0_L2_READ_REQUESTS, "READ_REQUESTS"},
    {BGP_PU0_DATA_LOADS, "DATA_LOADS"},
    {BGP_MISC_ELAPSED_TIME, "ELAPSED_TIME"},
    {BGP_PU1_SNOOP_PORT0_REMOTE_SOURCE_REQUESTS, "CORE_1_SNOOPS"},
};

static void print(const char *part)
{
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
        printf("%s %s %lld\n", part, events[i].name,
               (long long)BGP_UPC_Read_Counter(events[i].event, BGP_UPC_READ_EXCLUSIVE));
}

static void __attribute__((noinline)) read_all(volatile const uint32_t *from)
{
    unsigned count = words;
    for (unsigned i = 0; i < count; i += LINE / 4)
        (void)from[i];
}

static void __attribute__((noinline)) write_all(volatile uint32_t *to)
{
    unsigned count = words;
    for (unsigned i = 0; i < count; i += LINE / 4)
        to[i] = i;
}

int main(int argc, char **argv)
{
    words = argc == 2 ? (unsigned)atoi(argv[1]) << 18 : 0;
    if (words < 16 << 18 || words > MOST << 18) {
        fprintf(stderr, "usage: traffic MEGABYTES, from 16 to %d\n", MOST);
        return 2;
    }
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, BGP_UPC_CFG_EDGE_DEFAULT);
    read_all(first); /* whatever was in L3 is out of it */
    BGP_UPC_Start(1);
    read_all(second);
    BGP_UPC_Stop();
    print("read");
    read_all(first);
    BGP_UPC_Start(1);
    write_all(second);
    read_all(third);
    BGP_UPC_Stop();
    print("write");
    return 0;
}
