/* Latency and bandwidth of MPI between neighbours, a barrier, a broadcast and an allreduce of all.
 * `mpi point` measures neighbours only.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20, ROUNDS = 10 };
static char buffer[MOST];

static double half_round_trip(int rank, int peer, int bytes)
{
    double start = 0;
    for (int i = -2; i < ROUNDS; i++) {
        if (i == 0) start = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == peer) {
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - start) / ROUNDS / 2;
}

static double of_all(int what, int count)
{
    static double in[1 << 16], out[1 << 16];
    double start = 0;
    for (int i = -2; i < ROUNDS; i++) {
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
        }
        if (what == 0) MPI_Barrier(MPI_COMM_WORLD);
        if (what == 1) MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (what == 2) MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / ROUNDS;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"barrier", "bcast", "allreduce"};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int bytes = 0; bytes <= MOST; bytes = bytes ? bytes * 8 : 1) {
        double time = half_round_trip(rank, 1, bytes);
        if (rank == 0)
            printf("%7d bytes  %9.2f us  %6.1f MB/s\n", bytes, time * 1e6, bytes / time / 1e6);
    }
    for (int what = 0; what < 3 && argc < 2; what++)
        for (int count = 1; count <= (what ? 1 << 16 : 1); count *= 256) {
            double time = of_all(what, count);
            if (rank == 0)
                printf("%-9s %6d doubles  %9.2f us\n", names[what], what ? count : 0, time * 1e6);
        }
    MPI_Finalize();
}
