/* Counter libraries in every rank of a hybrid program: each rank's counts of FMAs are known, with other ranks on the node.
 * Rank r has 1000 (r + 1) of them in each of its threads. Returns how many counts were wrong, over all ranks.
 *
 *     BGLCounters, libHPM   the process, all its threads       PAPI   the calling thread
 *     BGP_UPC               the core of the calling thread; the unit is the node's, so that process 0 of the node has it
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#include "bglcounters.h"
#include "chiliad/personality.h"
#include "libhpm.h"
#include "papi.h"
#if __has_include(<spi/UPC.h>) && !defined WITHOUT_UPC
#include <spi/UPC.h>
#define HAS_UPC 1
#endif

enum { FMA = 13 }; /* of BGLCounters */

static int rank, ranks, threads, wrong;

/* FMAs of one thread. */
static void __attribute__((noinline)) work(unsigned count)
{
    __asm__ volatile("mtctr %0\n"
                     "1:\tfmadd 1, 1, 1, 1\n\t"
                     "bdnz 1b"
                     :
                     : "r"(count)
                     : "ctr", "fr1");
}

static void team(void)
{
#pragma omp parallel num_threads(threads)
    work(1000 * (rank + 1));
}

static void same(const char *what, long long got, long long wanted)
{
    if (got == wanted) return;
    wrong++;
    fprintf(stderr, "rank %d: %s counts %lld, wanted %lld\n", rank, what, got, wanted);
}

static void bglcounters(void)
{
    uint64_t user[BGLCOUNTERS] = {0};
    if (BGLCounters_Init()) wrong++;
    BGLCounters_Reset();
    BGLCounters_Start();
    team();
    BGLCounters_Stop();
    BGLCounters_Read(user, NULL);
    same("BGLCounters", (long long)user[FMA], 1000LL * (rank + 1) * threads);
}

static void papi(void)
{
    int set = PAPI_NULL;
    long long value = -1;
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || PAPI_create_eventset(&set) ||
        PAPI_add_named_event(set, "BGL_FMA") || PAPI_start(set))
        wrong++;
    team();
    PAPI_stop(set, &value);
    same("PAPI", value, 1000LL * (rank + 1));
}

#ifdef HAS_UPC
/* With two processes a node, the second begins at core 2, whose events are of another mode; with four it has core 1. */
static void upc(void)
{
    uint32_t node, process;
    chiliad_rank_place((uint32_t)rank, &node, &process);
    if (!process) {
        BGP_UPC_Initialize();
        BGP_UPC_Start(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    team();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!process) BGP_UPC_Stop();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!process) same("BGP_UPC", BGP_UPC_Read_Counter(BGP_PU0_FPU_FMA_2, BGP_UPC_READ_SHARED), 1000LL * (rank + 1));
    if (process == 1 && threads == 1)
        same("BGP_UPC", BGP_UPC_Read_Counter(BGP_PU1_FPU_FMA_2, BGP_UPC_READ_SHARED), 1000LL * (rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
}
#endif

/* Section 1 in all ranks, twice; 2 in odd ones. */
static void hpm(void)
{
    hpmInit(rank, "mpi_counters");
    for (int i = 0; i < 2; i++) {
        hpmStart(1, "team");
        team();
        hpmStop(1);
    }
    if (rank % 2) {
        hpmStart(2, "odd");
        work(10);
        hpmStop(2);
    }
    hpmTerminate(rank);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    threads = omp_get_num_procs();
    bglcounters();
    papi();
#ifdef HAS_UPC
    upc();
#endif
    hpm();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank && !wrong) printf("right on %d ranks with %d threads\n", ranks, threads);
    MPI_Finalize();
    return wrong;
}
