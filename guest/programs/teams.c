/* Teams and threads with known work, for call paths: nodes of OpenMP and of POSIX threads.
 *   teams loops     two parallel regions at different lines, one of them from two callers
 *   teams nested    a region in a region
 *   teams threads   threads from two places, and a start routine that is also called
 *   teams locks     critical, atomic, ordered, tasks, a lock
 */
#include <omp.h>
#include <pthread.h>
#include <string.h>

enum { TEAM = 3, TURNS = 10 };

static volatile int sink;

/* A known function: every call is the same instructions. */
__attribute__((noinline)) static void work(void)
{
    sink = 1;
}

__attribute__((noinline)) static void region(int turns)
{
#pragma omp parallel num_threads(TEAM)
    for (int i = 0; i < turns; i++)
        work();
}

__attribute__((noinline)) static void first(void)
{
    region(TURNS);
}

__attribute__((noinline)) static void second(void)
{
    region(2 * TURNS);
}

static void loops(void)
{
    first();
    second();
#pragma omp parallel for num_threads(TEAM) schedule(dynamic)
    for (int i = 0; i < 9; i++)
        work();
}

static void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        work();
#pragma omp parallel num_threads(2)
        work();
    }
}

static void *start(void *argument)
{
    for (int i = 0; i < *(int *)argument; i++)
        work();
    return NULL;
}

__attribute__((noinline)) static void create(pthread_t *thread, int *argument)
{
    pthread_create(thread, NULL, start, argument);
}

static void threads(void)
{
    static int turns[] = {5, 7, 11};
    pthread_t thread[2];
    create(&thread[0], &turns[0]);
    pthread_create(&thread[1], NULL, start, &turns[1]);
    (void)start(&turns[2]);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

static void locks(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(TEAM)
    {
        work();
#pragma omp barrier
#pragma omp critical
        work();
        omp_set_lock(&lock);
        work();
        omp_unset_lock(&lock);
#pragma omp single
        {
#pragma omp task
            work();
#pragma omp taskwait
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"loops", loops}, {"nested", nested}, {"threads", threads}, {"locks", locks}};
    for (int i = 1; i < argc; i++)
        for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++)
            if (strcmp(argv[i], parts[p].name) == 0) parts[p].run();
    return 0;
}
