/* Ways through a program that a recorder of call paths has to follow: calls, tail calls, recursion, longjmp, signals,
 * threads, processes, regions. paths_known.S has the functions whose counts are known. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chiliad.h"

int leaf(int x), twice(int x), jumper(int x), down(int n), through(int x);

#define APART __attribute__((noinline, noipa))

static jmp_buf place;
static sigjmp_buf signal_place;
static int sum;

APART static void calls(void)
{
    for (int i = 0; i < 100; i++)
        sum += twice(i);
    for (int i = 0; i < 10; i++)
        sum += through(i);
}

APART static void jumps(void)
{
    for (int i = 0; i < 50; i++)
        sum += jumper(i);
}

APART static void deep(void)
{
    sum += down(20);
}

APART static void throws(int depth)
{
    if (depth) throws(depth - 1);
    longjmp(place, 1);
}

APART static void catches(void)
{
    for (volatile int i = 0; i < 7; i++)
        if (setjmp(place) == 0)
            throws(5);
        else
            sum += leaf(i);
}

static void handler(int number)
{
    sum += leaf(number);
}

static void thrower(int number)
{
    siglongjmp(signal_place, number);
}

APART static void interrupted(void)
{
    sum += leaf(1);
    raise(SIGUSR1);
    sum += leaf(2);
}

APART static void signalled(void)
{
    signal(SIGUSR1, handler);
    for (int i = 0; i < 3; i++)
        interrupted();
    signal(SIGUSR2, thrower);
    if (sigsetjmp(signal_place, 1) == 0)
        raise(SIGUSR2);
    else
        sum += leaf(3);
}

static void *worker(void *times)
{
    for (long i = 0; i < (long)times; i++)
        leaf((int)i);
    return NULL;
}

APART static void threaded(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)((i + 1) * 1000)); // NOLINT: a number
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

APART static void forks(void)
{
    int status;
    sum += leaf(1);
    pid_t child = fork();
    if (child == 0) {
        sum += leaf(2);
        _exit(0);
    }
    waitpid(child, &status, 0);
}

APART static void inner(void)
{
    sum += leaf(1);
    CHILIAD_REGION_BEGIN("left open");
    sum += leaf(2);
}

APART static void regions(void)
{
    for (int i = 0; i < 4; i++) {
        CHILIAD_REGION_BEGIN("outer");
        sum += leaf(i);
        CHILIAD_REGION_BEGIN("in it");
        sum += leaf(i);
        CHILIAD_REGION_END("in it");
        inner();
        CHILIAD_REGION_END("outer");
        CHILIAD_REGION_END("never begun");
    }
    sum += leaf(1);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"calls", calls},       {"jumps", jumps},      {"deep", deep},   {"catches", catches},
            {"signals", signalled}, {"threads", threaded}, {"forks", forks}, {"regions", regions}};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            if (strcmp(argv[i], ways[k].name) == 0) ways[k].run();
    printf("%d\n", sum);
    return 0;
}
