/* OpenMP over the node's cores. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    static double values[10000];
    double sum = 0;
    int threads = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for schedule(static)
        for (int i = 0; i < 10000; i++)
            values[i] = i * 0.5;
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 10000; i++)
            sum += values[i];
#pragma omp critical
        values[0] += 1;
#pragma omp barrier
    }
    printf("%d threads, sum %.1f, %.1f\n", threads, sum, values[0]);
    return 0;
}
