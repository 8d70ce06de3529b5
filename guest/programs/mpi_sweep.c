/* A wavefront as of particle transport (Sweep3D): flux goes through a grid from each of its eight corners. A cell needs
 * the outflow of the three cells before it. Ranks have columns of the grid in x and y and all of z; a rank works on blocks
 * of planes, for each of which it waits for two neighbours and sends on to the two others, so ranks on a diagonal work
 * at the same time.
 *
 *     mpi_sweep NX NY NZ [each]     cells of all ranks together, or of each
 *
 * A cell's arithmetic does not depend on where the grid is divided, and the checksum is a sum of whole numbers, so it is
 * the same for any number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES = 2, ANGLES = 6, TURNS = 2, TAG_X = 1, TAG_Y = 2 };

static struct side {
    int ranks, at, cells, lower, upper; /* lower, upper: the neighbours, or MPI_PROC_NULL */
} x, y;
static int nz, turn;
static double *flux, *from_x, *from_y, *from_z; /* of cells; inflows of the block and the plane, by angle */

static void divide(struct side *s, int ranks, int at, int cells, int step, int rank)
{
    *s = (struct side){.ranks = ranks, .at = at, .cells = cells * (at + 1) / ranks - cells * at / ranks};
    s->lower = at ? rank - step : MPI_PROC_NULL;
    s->upper = at + 1 < ranks ? rank + step : MPI_PROC_NULL;
}

/* One cell and all its angles: inflows become outflows. */
static inline void cell(double *phi, double *in_x, double *in_y, double *in_z, double source)
{
    for (int a = 0; a < ANGLES; a++) {
        double wx = 0.25 + 0.125 * a, wy = 0.5, wz = 1 - 0.0625 * a;
        double mean = (source + wx * in_x[a] + wy * in_y[a] + wz * in_z[a]) / (1.5 + wx + wy + wz);
        *phi += mean;
        in_x[a] = 2 * mean - in_x[a];
        in_y[a] = 2 * mean - in_y[a];
        in_z[a] = 2 * mean - in_z[a];
        if (in_x[a] < 0) in_x[a] = 0;
        if (in_y[a] < 0) in_y[a] = 0;
        if (in_z[a] < 0) in_z[a] = 0;
    }
}

static void block(int first, int planes, int dx, int dy, int dz)
{
    for (int p = 0; p < planes; p++) {
        int k = dz > 0 ? first + p : nz - 1 - first - p;
        for (int n = 0; n < y.cells; n++) {
            int j = dy > 0 ? n : y.cells - 1 - n;
            for (int m = 0; m < x.cells; m++) {
                int i = dx > 0 ? m : x.cells - 1 - m;
                cell(&flux[(k * y.cells + j) * x.cells + i], &from_x[(p * y.cells + j) * ANGLES],
                     &from_y[(p * x.cells + i) * ANGLES], &from_z[(j * x.cells + i) * ANGLES], 1 + turn);
            }
        }
    }
}

static void sweep(int dx, int dy, int dz)
{
    int x_before = dx > 0 ? x.lower : x.upper, x_behind = dx > 0 ? x.upper : x.lower;
    int y_before = dy > 0 ? y.lower : y.upper, y_behind = dy > 0 ? y.upper : y.lower;
    memset(from_z, 0, sizeof(double) * x.cells * y.cells * ANGLES);
    for (int first = 0; first < nz; first += PLANES) {
        int planes = nz - first < PLANES ? nz - first : PLANES;
        int x_count = planes * y.cells * ANGLES, y_count = planes * x.cells * ANGLES;
        memset(from_x, 0, x_count * sizeof *from_x);
        memset(from_y, 0, y_count * sizeof *from_y);
        MPI_Recv(from_x, x_count, MPI_DOUBLE, x_before, TAG_X, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(from_y, y_count, MPI_DOUBLE, y_before, TAG_Y, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        block(first, planes, dx, dy, dz);
        MPI_Send(from_x, x_count, MPI_DOUBLE, x_behind, TAG_X, MPI_COMM_WORLD);
        MPI_Send(from_y, y_count, MPI_DOUBLE, y_behind, TAG_Y, MPI_COMM_WORLD);
    }
}

static unsigned long long checksum(void)
{
    unsigned long long own = 0, all = 0, bits;
    for (int c = 0; c < x.cells * y.cells * nz; c++) {
        memcpy(&bits, &flux[c], sizeof bits);
        own += bits;
    }
    MPI_Allreduce(&own, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank, ranks, dims[2] = {0, 0}, size[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dims);
    for (int d = 0; d < 3; d++)
        size[d] = argc > d + 1 ? atoi(argv[d + 1]) : 0;
    for (int d = 0; argc == 5 && d < 2; d++)
        size[d] *= dims[d];
    if (size[0] < dims[0] || size[1] < dims[1] || size[2] < 1) {
        if (!rank) fprintf(stderr, "mpi_sweep: give NX NY NZ, at least %d %d 1\n", dims[0], dims[1]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    divide(&x, dims[0], rank / dims[1], size[0], dims[1], rank);
    divide(&y, dims[1], rank % dims[1], size[1], 1, rank);
    nz = size[2];
    flux = calloc((size_t)x.cells * y.cells * nz, sizeof *flux);
    from_x = calloc((size_t)PLANES * y.cells * ANGLES, sizeof *from_x);
    from_y = calloc((size_t)PLANES * x.cells * ANGLES, sizeof *from_y);
    from_z = calloc((size_t)x.cells * y.cells * ANGLES, sizeof *from_z);
    if (!flux || !from_x || !from_y || !from_z) MPI_Abort(MPI_COMM_WORLD, 2);
    for (turn = 0; turn < TURNS; turn++)
        for (int octant = 0; octant < 8; octant++)
            sweep(octant & 1 ? -1 : 1, octant & 2 ? -1 : 1, octant & 4 ? -1 : 1);
    unsigned long long sum = checksum();
    MPI_Finalize();
    if (!rank) printf("checksum %016llx\n", sum);
    return 0;
}
