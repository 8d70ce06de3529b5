/* NAS IS with MPI: each rank has a part of the keys and counts a range of values. For a ranking the
 * keys go to the rank of their range, all to all. */
#include <mpi.h>

#define main sequential
#include "is.c"
#undef main

static int rank, ranks;
static int sent[1024], sent_at[1024], got[1024], got_at[1024], sorted[KEYS], mine[KEYS];

static int owner_of(int key)
{
    return (int)((long)key * ranks / (MAX_KEY + 1));
}

/* The keys from `from` up to `to` go to their owners; returns how many come. */
static int exchange(int from, int to)
{
    int all = 0;
    for (int i = 0; i < ranks; i++)
        sent[i] = 0;
    for (int i = from; i < to; i++)
        sent[owner_of(keys[i])]++;
    for (int i = 0, at = 0; i < ranks; at += sent[i++])
        sent_at[i] = at;
    for (int i = from; i < to; i++)
        sorted[sent_at[owner_of(keys[i])]++] = keys[i];
    for (int i = 0; i < ranks; i++)
        sent_at[i] -= sent[i];
    MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        got_at[i] = all;
        all += got[i];
    }
    MPI_Alltoallv(sorted, sent, sent_at, MPI_INT, mine, got, got_at, MPI_INT, MPI_COMM_WORLD);
    return all;
}

/* One ranking; returns how many of the probed ranks are right. */
static int rank_together(int iteration, int from, int to)
{
    int probed[PROBES], places[PROBES] = {0}, before = 0, good = 0;
    keys[iteration] = iteration; /* every rank has all keys, and uses its part */
    keys[iteration + ITERATIONS] = MAX_KEY - iteration;
    for (int i = 0; i < PROBES; i++)
        probed[i] = keys[PROBE[i].index];
    int all = exchange(from, to);
    MPI_Exscan(&all, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!rank) before = 0;
    for (int i = 0; i < PROBES; i++) {
        if (owner_of(probed[i]) != rank) continue;
        places[i] = before;
        for (int k = 0; k < all; k++)
            places[i] += mine[k] < probed[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, places, PROBES, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < PROBES; i++)
        good += places[i] == wanted_rank(i, iteration);
    return good;
}

int main(int argc, char **argv)
{
    struct nas nas;
    long right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank && !freopen("/dev/null", "w", stdout)) return 2;
    nas_init(&nas, "IS", argc, argv);
    create_keys();
    int from = (int)((long)KEYS * rank / ranks), to = (int)((long)KEYS * (rank + 1) / ranks);
    for (int iteration = 1; iteration <= ITERATIONS; iteration++)
        right += rank_together(iteration, from, to);
    nas_verify_count(&nas, "right ranks", right, ITERATIONS * PROBES);
    MPI_Finalize();
    return nas_verdict(&nas);
}
