/* A monitor thread: on a core of its own, it reads the counters of core 0 while that works, hands them to an optimiser
 * and writes each sample to standard output, from where anyone may read it: "SAMPLE LOADS MISSES ORDER". The optimiser
 * changes the order of the loops when more than a quarter of the loads miss. A flag notifies the work, in its own
 * time. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <spi/UPC.h>

enum { N = 128, SWEEPS = 60, PAUSE = 500000 /* ns */ };

static volatile double matrix[N][N];
static volatile int by_rows, ended;

static void *monitor(void *argument)
{
    int64_t loads = 0, misses = 0;
    for (unsigned sample = 0; !ended; sample++) {
        struct timespec pause = {0, PAUSE};
        int64_t new_loads = BGP_UPC_Read_Counter(BGP_PU0_DATA_LOADS, BGP_UPC_READ_SHARED);
        int64_t new_misses = BGP_UPC_Read_Counter(BGP_PU0_DCACHE_MISS, BGP_UPC_READ_SHARED);
        printf("%u %lld %lld %d\n", sample, (long long)(new_loads - loads), (long long)(new_misses - misses), by_rows);
        if (4 * (new_misses - misses) > new_loads - loads) by_rows = 1;
        loads = new_loads;
        misses = new_misses;
        nanosleep(&pause, NULL);
    }
    return argument;
}

static void __attribute__((noinline)) sweep(void)
{
    double sum = 0;
    int order = by_rows;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            sum += order ? matrix[i][k] : matrix[k][i];
    matrix[0][0] = sum;
}

int main(void)
{
    pthread_t thread;
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, BGP_UPC_CFG_EDGE_DEFAULT);
    BGP_UPC_Start(1);
    pthread_create(&thread, NULL, monitor, NULL);
    for (int i = 0; i < SWEEPS; i++)
        sweep();
    BGP_UPC_Stop();
    ended = 1;
    pthread_join(thread, NULL);
    return 0;
}
