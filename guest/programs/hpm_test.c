/* libHPM with sections whose floating-point counts are known: nested, repeated, in threads, and used wrongly. What it
 * prints itself goes to standard error; with HPM_STDOUT=no standard output is empty.
 *   hpm_test [wrong|many]     with the mistakes, too, or with more than 100 sections
 */
#include <pthread.h>
#include <stdio.h>

#include "libhpm.h"

enum { N = 1000, REPEATS = 5 };

/* Volatile: one load and one store of memory per element, whatever the compiler thinks. */
static volatile double x[N], y[N];

/* N times: two loads, an FMA, a store. */
static void triads(double a)
{
    for (int i = 0; i < N; i++)
        y[i] = __builtin_fma(a, x[i], y[i]);
}

/* N times: a load, a divide, a store. */
static void quotients(double a)
{
    for (int i = 0; i < N; i++)
        y[i] = x[i] / a;
}

static void *work(void *argument)
{
    int section = *(int *)argument;
    hpmTstart(section, "thread");
    for (int i = 0; i < N; i++)
        x[i] = (double)i;
    hpmTstop(section);
    return NULL;
}

static void mistakes(void)
{
    hpmStop(77);
    hpmStop(77);
    hpmStart(20, "open twice");
    hpmStart(20, "open twice");
    hpmStart(20, "open twice");
    hpmStop(20);
    hpmStop(20);
    hpmStart(21, "outer");
    hpmStart(22, "inner");
    hpmStop(21);
    hpmStop(22);
    hpmStart(0, "no number");
    hpmStart(23, "never stopped");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    hpmInit(3, "hpm_test");
    hpmStart(1, "outer: all - of it");
    triads(2.0);
    for (int i = 0; i < REPEATS; i++) {
        hpmStart(2, "inner");
        triads(3.0);
        hpmStop(2);
    }
    hpmStart(9, "quotients");
    quotients(3.0);
    hpmStop(9);
    hpmStop(1);
    hpmStart(5, "empty");
    hpmStop(5);

    long long counts[HPM_COUNTERS], all[70];
    double time;
    hpmGetCounters(counts);
    hpmGetTimeAndCounters(70, &time, all);
    fprintf(stderr, "FMA %lld %lld, beyond %lld, time %d\n", counts[13], all[13], all[69], time > 0 && time < 1);

    static int sections[2] = {11, 12};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &sections[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 100; i < 200 && *mode == 'm'; i++) {
        hpmStart(i, "many");
        hpmStop(i);
    }
    if (*mode == 'w') mistakes();
    hpmTerminate(3);
    if (*mode == 'w') hpmStart(1, "too late");
    fprintf(stderr, "errors %d\n", hpm_error_count);
    return 0;
}
