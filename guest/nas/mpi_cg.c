/* NAS CG with MPI: each rank has a block of rows. The vector that the matrix is multiplied by is
 * gathered before each product; dot products are reduced. The matrix is that of cg.c, which every
 * rank draws. */
#include <mpi.h>

#define main sequential
#include "cg.c"
#undef main

static int first, last; /* rows of this rank */
static int counts[1024], places[1024];

static void share_rows(int rank, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        places[i] = (int)((long)N * i / ranks);
        counts[i] = (int)((long)N * (i + 1) / ranks) - places[i];
    }
    first = places[rank];
    last = first + counts[rank];
}

static void gather(double *x)
{
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, x, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void multiply_rows(double *product, const double *x)
{
    for (int j = first; j < last; j++) {
        double sum = 0;
        for (int k = matrix.row[j]; k < matrix.row[j + 1]; k++)
            sum += matrix.value[k] * x[matrix.column[k]];
        product[j] = sum;
    }
}

static double dot_rows(const double *x, const double *y)
{
    double sum = 0;
    for (int i = first; i < last; i++)
        sum += x[i] * y[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double solve_rows(double *z, const double *x)
{
    static double p[N], q[N], r[N];
    for (int i = first; i < last; i++) {
        z[i] = 0;
        r[i] = p[i] = x[i];
    }
    double rho = dot_rows(r, r);
    for (int step = 0; step < SOLVER_STEPS; step++) {
        gather(p);
        multiply_rows(q, p);
        double alpha = rho / dot_rows(p, q), rho_before = rho;
        for (int i = first; i < last; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rho = dot_rows(r, r);
        for (int i = first; i < last; i++)
            p[i] = r[i] + rho / rho_before * p[i];
    }
    gather(z);
    multiply_rows(r, z);
    for (int i = first; i < last; i++)
        r[i] = x[i] - r[i];
    return sqrt(dot_rows(r, r));
}

int main(int argc, char **argv)
{
    static double x[N], z[N];
    double zeta = 0, residual = 0;
    int rank, ranks;
    struct nas nas;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank && !freopen("/dev/null", "w", stdout)) return 2;
    nas_init(&nas, "CG", argc, argv);
    make_matrix();
    share_rows(rank, ranks);
    set_ones(x);
    for (int i = 0; i < ITERATIONS; i++) {
        residual = solve_rows(z, x);
        zeta = SHIFT + 1 / dot_rows(x, z);
        double scale = 1 / sqrt(dot_rows(z, z));
        for (int k = first; k < last; k++)
            x[k] = scale * z[k];
    }
    printf("%d ranks  |r| %10.3e  zeta %.13f\n", ranks, residual, zeta);
    nas_verify(&nas, "zeta", zeta, ZETA, EPSILON);
    MPI_Finalize();
    return nas_verdict(&nas);
}
