/* Heat in a rod: each rank has a part of it, and gets the point beyond each end from its neighbours. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 40000, STEPS = 50 };

static int rank, ranks, count;
static double *now, *next; /* count points, and one more on each side */

static void exchange(void)
{
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 0, &now[count + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[count], 1, MPI_DOUBLE, right, 1, &now[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static double step(void)
{
    double change = 0;
    for (int i = 1; i <= count; i++) {
        next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
        change += (next[i] - now[i]) * (next[i] - now[i]);
    }
    double *swap = now;
    now = next;
    next = swap;
    return change;
}

int main(int argc, char **argv)
{
    double own = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    count = POINTS / ranks;
    now = calloc(count + 2, sizeof *now);
    next = calloc(count + 2, sizeof *next);
    if (!rank) now[0] = next[0] = 100; /* the hot end */
    for (int i = 0; i < STEPS; i++) {
        exchange();
        own = step();
        MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!rank) printf("change %.6f after %d steps\n", all, STEPS);
    MPI_Finalize();
    return 0;
}
