/* NAS FT with MPI: each rank has planes of z. Transforms along x and y are its own; before that along
 * z the grid is transposed, all to all, so that each rank has rows of y with all z; and back after
 * the inverse one. The coefficients stay transposed. The number of ranks divides NY and NZ. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#define main __attribute__((unused)) static sequential
#include "ft.c"
#undef main

static int rank, ranks, planes, rows; /* of a rank: planes of z, rows of y */
static struct complex *coefficients, *own_evolved, *own_result, *spare;

static struct complex *grid_new(void)
{
    struct complex *grid = malloc(sizeof *grid * (POINTS / ranks));
    if (!grid) MPI_Abort(MPI_COMM_WORLD, 2);
    return grid;
}

/* From planes to rows: a plane's rows of one rank are one behind the other, and arrive in place. */
static void to_rows(const struct complex *from, struct complex *to)
{
    int part = rows * NX;
    for (int r = 0; r < ranks; r++)
        for (int z = 0; z < planes; z++)
            memcpy(spare + (r * planes + z) * part, from + z * NX * NY + r * part, part * sizeof *from);
    MPI_Alltoall(spare, 2 * planes * part, MPI_DOUBLE, to, 2 * planes * part, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void to_planes(const struct complex *from, struct complex *to)
{
    int part = rows * NX;
    MPI_Alltoall(from, 2 * planes * part, MPI_DOUBLE, spare, 2 * planes * part, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int z = 0; z < planes; z++)
            memcpy(to + z * NX * NY + r * part, spare + (r * planes + z) * part, part * sizeof *to);
}

static void transform_own(enum direction direction, struct complex *from, struct complex *to)
{
    const struct dimension along_x = {NX, 1, NY, NX, planes, NX * NY}, along_y = {NY, NX, NX, 1, planes, NX * NY},
                           along_z = {NZ, rows * NX, NX, 1, rows, NX};
    if (direction == FORWARD) {
        transform_along(&along_x, direction, from, from);
        transform_along(&along_y, direction, from, from);
        to_rows(from, to);
        transform_along(&along_z, direction, to, to);
        return;
    }
    transform_along(&along_z, direction, from, from);
    to_planes(from, to);
    transform_along(&along_y, direction, to, to);
    transform_along(&along_x, direction, to, to);
}

static void make_own_state(struct complex *u)
{
    double random = NAS_SEED;
    nas_random(&random, nas_random_power(NAS_MULTIPLIER, 2L * NX * NY * planes * rank));
    for (int z = 0; z < planes; z++)
        nas_random_vector(2 * NX * NY, &random, NAS_MULTIPLIER, &u[z * NX * NY].re);
}

static void make_powers(void)
{
    double once = exp(-4 * ALPHA * PI * PI);
    decay[0] = 1;
    for (int i = 1; i <= MOST_EXPONENT; i++)
        decay[i] = decay[i - 1] * once;
}

static void evolve_own(int time)
{
    for (int z = 0, i = 0; z < NZ; z++)
        for (int y = 0; y < rows; y++) {
            int kz = wave_number(z, NZ), ky = wave_number(rank * rows + y, NY), rest = ky * ky + kz * kz;
            for (int x = 0; x < NX; x++, i++) {
                int kx = wave_number(x, NX);
                double factor = decay[time * (kx * kx + rest)];
                own_evolved[i].re = coefficients[i].re * factor;
                own_evolved[i].im = coefficients[i].im * factor;
            }
        }
}

static struct complex checksum_own(void)
{
    struct complex sum = {0, 0}, all;
    for (int j = 1; j <= SAMPLES; j++) {
        int z = 5 * j % NZ - rank * planes;
        if (z < 0 || z >= planes) continue;
        struct complex sample = own_result[(z * NY + 3 * j % NY) * NX + j % NX];
        sum.re += sample.re;
        sum.im += sample.im;
    }
    MPI_Reduce(&sum, &all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return (struct complex){all.re / POINTS, all.im / POINTS};
}

static int verdict(struct nas *nas, const struct complex *sum)
{
    for (int step = 0; step < STEPS; step++) {
        char what[32];
        snprintf(what, sizeof what, "sum %d, real", step + 1);
        nas_verify(nas, what, sum[step].re, CHECKSUM[step].re, EPSILON);
        snprintf(what, sizeof what, "sum %d, imaginary", step + 1);
        nas_verify(nas, what, sum[step].im, CHECKSUM[step].im, EPSILON);
    }
    return nas_verdict(nas);
}

int main(int argc, char **argv)
{
    struct nas nas;
    struct complex sum[STEPS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (NZ % ranks || NY % ranks) {
        if (!rank) fprintf(stderr, "ft: %d ranks do not divide %d x %d rows of z and y\n", ranks, NZ, NY);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank && !freopen("/dev/null", "w", stdout)) return 2;
    nas_init(&nas, "FT", argc, argv);
    planes = NZ / ranks;
    rows = NY / ranks;
    coefficients = grid_new();
    own_evolved = grid_new();
    own_result = grid_new();
    spare = grid_new();
    make_powers();
    make_roots();
    make_own_state(own_evolved);
    transform_own(FORWARD, own_evolved, coefficients);
    for (int step = 0; step < STEPS; step++) {
        evolve_own(step + 1);
        transform_own(BACKWARD, own_evolved, own_result);
        sum[step] = checksum_own();
    }
    MPI_Finalize();
    return rank ? 0 : verdict(&nas, sum);
}
