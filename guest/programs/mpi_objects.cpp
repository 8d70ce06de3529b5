// MPI from C++ with threads of OpenMP: hybrid programs, MPI_THREAD_MULTIPLE. Prints one line if all
// is well.
#include <mpi.h>
#include <omp.h>

#include <cstdio>
#include <numeric>
#include <vector>

int main(int argc, char **argv)
{
    int provided, rank, ranks, bad = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    if (provided != MPI_THREAD_MULTIPLE) bad++;
#pragma omp parallel num_threads(4) reduction(+ : bad)
    {
        const int thread = omp_get_thread_num();
        std::vector<int> out(700 * (thread + 1)), in(out.size());
        std::iota(out.begin(), out.end(), rank * 1000000 + thread);
        for (int round = 0; round < 5; round++) {
            MPI_Sendrecv(out.data(), (int)out.size(), MPI_INT, next, thread, in.data(),
                         (int)in.size(), MPI_INT, last, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (size_t i = 0; i < in.size(); i++)
                bad += in[i] != last * 1000000 + thread + (int)i;
        }
    }
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = rank; i < 10000; i += ranks)
        sum += i;
    double all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    bad += all != 49995000.0;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && bad == 0) std::printf("all is well on %d ranks\n", ranks);
    MPI_Finalize();
}
