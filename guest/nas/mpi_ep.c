/* NAS EP with MPI: the ranks share the batches of ep.c, and reduce the sums. */
#include <mpi.h>

#define main sequential
#include "ep.c"
#undef main

int main(int argc, char **argv)
{
    static double uniform[2 * BATCH];
    int rank, ranks;
    struct nas nas;
    struct tally own = {0}, tally;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank && !freopen("/dev/null", "w", stdout)) return 2;
    nas_init(&nas, "EP", argc, argv);
    for (long batch = rank; batch < 1L << (PAIRS_LOG - BATCH_LOG); batch += ranks) {
        double x = SEED;
        nas_random(&x, nas_random_power(NAS_MULTIPLIER, batch * 2 * BATCH));
        nas_random_vector(2 * BATCH, &x, NAS_MULTIPLIER, uniform);
        tally_batch(&own, uniform);
    }
    MPI_Allreduce(&own, &tally, sizeof own / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double accepted = 0;
    for (int i = 0; i < RINGS; i++)
        accepted += tally.rings[i];
    nas_verify_count(&nas, "pairs accepted", (long)accepted, ACCEPTED);
    nas_verify(&nas, "sum of X", tally.sum_x, SUM_X, EPSILON);
    nas_verify(&nas, "sum of Y", tally.sum_y, SUM_Y, EPSILON);
    MPI_Finalize();
    return nas_verdict(&nas);
}
