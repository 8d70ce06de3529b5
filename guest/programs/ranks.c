/* Says where each process of a run is: its rank, node and place, cores and memory. The last rank of a
 * run ends with status 7 if argv[1] is "fail".
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "chiliad/personality.h"

int main(int argc, char **argv)
{
    struct chiliad_personality p = chiliad_personality();
    uint32_t rank = chiliad_rank(), ranks = chiliad_ranks(), node, process;
    cpu_set_t cores;
    struct rlimit data;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) || getrlimit(RLIMIT_DATA, &data)) return 99;
    chiliad_rank_place(rank, &node, &process);
    if (node != p.node || process != chiliad_personality_word(CHILIAD_PERSONALITY_PROCESS)) return 98;
    char line[120];
    snprintf(line, sizeof line, "rank %u of %u at %u,%u,%u,%u cores %x of %u, %u MiB%s\n", (unsigned)rank,
             (unsigned)ranks, (unsigned)p.at[0], (unsigned)p.at[1], (unsigned)p.at[2], (unsigned)process,
             (unsigned)cores.__bits[0], (unsigned)chiliad_personality_word(CHILIAD_PERSONALITY_PROCESS_CORES),
             (unsigned)chiliad_personality_word(CHILIAD_PERSONALITY_MEGABYTES),
             data.rlim_cur == RLIM_INFINITY ? "" : " limited");
    if (write(1, line, strlen(line)) < 0) return 97;
    return argc > 1 && rank == ranks - 1 ? 7 : 0;
}
