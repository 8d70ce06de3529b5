/*
 * NAS MG: four V-cycles of a multigrid method for the Poisson equation on a cube with periodic boundaries
 * (specification, "Kernel MG").
 *
 * Four operators, each a stencil of 27 points with one weight for each distance: the residual r = v - A u, the smoother
 * u += C r, the restriction P to every second point, the interpolation Q back. A line of a grid needs sums over the 8
 * lines around it; they are made once for the line and used three times (sum_ring), which NPB does too and which
 * decides how many loads and additions there are.
 */
#include "nas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CYCLES = 4, CHARGES = 10 };

static const double EPSILON = 1e-8;

#if NAS_CLASS == 'S'
enum { LEVELS = 5 };
static const double NORM = 0.5307707005734e-4;
#elif NAS_CLASS == 'W'
enum { LEVELS = 7 };
static const double NORM = 0.6467329375339e-5;
#else
enum { LEVELS = 8 };
static const double NORM = 0.2433365309069e-5;
#endif

enum { POINTS = 1 << LEVELS, LONGEST = POINTS + 2 };

/* Weights of the four kinds of neighbours: the point itself, 6 faces, 12 edges, 8 corners. */
static const double A[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};   /* the operator */
static const double C[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}; /* the smoother */

/* A cube of n points a side, a copied layer around the n - 2 that count. */
struct grid {
    int n;
    double *point;
};

/* By level; level 0 is the coarsest, 2 points a side. */
static struct grid solution[LEVELS], residual[LEVELS];
static struct grid charge;

static struct grid grid_new(int level)
{
    int n = (2 << level) + 2;
    struct grid grid = {n, calloc((size_t)n * n * n, sizeof(double))};
    if (!grid.point) {
        fprintf(stderr, "mg: no memory for a grid of %d points a side\n", n);
        exit(2);
    }
    return grid;
}

static inline double *row(const struct grid *grid, int z, int y)
{
    return grid->point + ((size_t)z * grid->n + y) * grid->n;
}

static void clear(const struct grid *grid)
{
    for (int z = 0; z < grid->n; z++)
        for (int y = 0; y < grid->n; y++) {
            double *to = row(grid, z, y);
            for (int x = 0; x < grid->n; x++)
                to[x] = 0;
        }
}

/* Makes the outer layer the opposite inner one, in x, y and z: the boundary is periodic. */
static void exchange(const struct grid *grid)
{
    int n = grid->n;
    for (int z = 1; z < n - 1; z++) {
        for (int y = 1; y < n - 1; y++) {
            double *line = row(grid, z, y);
            line[0] = line[n - 2];
            line[n - 1] = line[1];
        }
        for (int x = 0; x < n; x++) {
            row(grid, z, 0)[x] = row(grid, z, n - 2)[x];
            row(grid, z, n - 1)[x] = row(grid, z, 1)[x];
        }
    }
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            row(grid, 0, y)[x] = row(grid, n - 2, y)[x];
            row(grid, n - 1, y)[x] = row(grid, 1, y)[x];
        }
}

/*
 * The sums over a ring of rows around row (z, y) that all operators share: faces[x] of the 4 rows beside it, edges[x]
 * of the 4 diagonal ones.
 */
static inline void sum_ring(const struct grid *grid, int z, int y, double *restrict faces, double *restrict edges)
{
    const double *south = row(grid, z, y - 1), *north = row(grid, z, y + 1);
    const double *below = row(grid, z - 1, y), *above = row(grid, z + 1, y);
    const double *below_south = row(grid, z - 1, y - 1), *below_north = row(grid, z - 1, y + 1);
    const double *above_south = row(grid, z + 1, y - 1), *above_north = row(grid, z + 1, y + 1);
    for (int x = 0; x < grid->n; x++) {
        faces[x] = south[x] + north[x] + below[x] + above[x];
        edges[x] = below_south[x] + below_north[x] + above_south[x] + above_north[x];
    }
}

/* r = v - A u. v may be r. The face weight is 0 and left out. */
static void find_residual(const struct grid *u, const struct grid *v, const struct grid *r)
{
    double faces[LONGEST] = {0}, edges[LONGEST] = {0};
    int n = u->n;
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            const double *restrict up = row(u, z, y), *vp = row(v, z, y);
            double *rp = row(r, z, y);
            sum_ring(u, z, y, faces, edges);
            for (int x = 1; x < n - 1; x++)
                rp[x] = vp[x] - A[0] * up[x] - A[2] * (edges[x] + faces[x - 1] + faces[x + 1]) -
                        A[3] * (edges[x - 1] + edges[x + 1]);
        }
    exchange(r);
}

/* u = u + C r. The corner weight is 0 and left out. */
static void smooth(const struct grid *r, const struct grid *u)
{
    double faces[LONGEST] = {0}, edges[LONGEST] = {0};
    int n = u->n;
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            const double *rp = row(r, z, y);
            double *restrict up = row(u, z, y);
            sum_ring(r, z, y, faces, edges);
            for (int x = 1; x < n - 1; x++)
                up[x] = up[x] + C[0] * rp[x] + C[1] * (rp[x - 1] + rp[x + 1] + faces[x]) +
                        C[2] * (edges[x] + faces[x - 1] + faces[x + 1]);
        }
    exchange(u);
}

/* coarse = P fine: the average with weights 1/2, 1/4, 1/8, 1/16 around every second point. */
static void restrict_grid(const struct grid *fine, const struct grid *coarse)
{
    double faces[LONGEST] = {0}, edges[LONGEST] = {0};
    int m = coarse->n;
    for (int z = 1; z < m - 1; z++)
        for (int y = 1; y < m - 1; y++) {
            const double *from = row(fine, 2 * z, 2 * y);
            double *to = row(coarse, z, y);
            sum_ring(fine, 2 * z, 2 * y, faces, edges);
            for (int x = 1; x < m - 1; x++) {
                int i = 2 * x;
                to[x] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1] + faces[i]) +
                        0.125 * (faces[i - 1] + faces[i + 1] + edges[i]) + 0.0625 * (edges[i - 1] + edges[i + 1]);
            }
        }
    exchange(coarse);
}

/* Adds `weight` times a coarse line to a fine one: its points to every second, the means of neighbours to those
 * between. */
static inline void add_line(double *restrict to, const double *line, int m, double weight)
{
    for (int x = 0; x < m - 1; x++)
        to[2 * x] += weight * line[x];
    for (int x = 0; x < m - 1; x++)
        to[2 * x + 1] += 0.5 * weight * (line[x] + line[x + 1]);
}

/* fine = fine + Q coarse: trilinear interpolation, the outer layer included. */
static void interpolate(const struct grid *coarse, const struct grid *fine)
{
    double in_y[LONGEST], in_z[LONGEST], in_both[LONGEST];
    int m = coarse->n;
    for (int z = 0; z < m - 1; z++)
        for (int y = 0; y < m - 1; y++) {
            const double *from = row(coarse, z, y), *north = row(coarse, z, y + 1);
            const double *above = row(coarse, z + 1, y), *above_north = row(coarse, z + 1, y + 1);
            for (int x = 0; x < m; x++) {
                in_y[x] = north[x] + from[x];
                in_z[x] = above[x] + from[x];
                in_both[x] = above_north[x] + above[x] + in_y[x];
            }
            add_line(row(fine, 2 * z, 2 * y), from, m, 1);
            add_line(row(fine, 2 * z, 2 * y + 1), in_y, m, 0.5);
            add_line(row(fine, 2 * z + 1, 2 * y), in_z, m, 0.5);
            add_line(row(fine, 2 * z + 1, 2 * y + 1), in_both, m, 0.25);
        }
}

/* The V-cycle of the specification: from r = v - A u down to the coarsest grid, and back up to a better u. */
static void cycle(void)
{
    const int finest = LEVELS - 1;
    for (int level = finest; level > 0; level--)
        restrict_grid(&residual[level], &residual[level - 1]);
    clear(&solution[0]);
    smooth(&residual[0], &solution[0]);
    for (int level = 1; level < finest; level++) {
        clear(&solution[level]);
        interpolate(&solution[level - 1], &solution[level]);
        find_residual(&solution[level], &residual[level], &residual[level]);
        smooth(&residual[level], &solution[level]);
    }
    interpolate(&solution[finest - 1], &solution[finest]);
    find_residual(&solution[finest], &charge, &residual[finest]);
    smooth(&residual[finest], &solution[finest]);
}

/* The L2 norm of a grid, over its points, and its largest element. */
static double norm(const struct grid *grid, double *largest)
{
    double sum = 0, most = 0;
    int n = grid->n;
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            const double *from = row(grid, z, y);
            for (int x = 1; x < n - 1; x++) {
                sum += from[x] * from[x];
                double size = fabs(from[x]);
                if (size > most) most = size;
            }
        }
    *largest = most;
    return sqrt(sum / ((double)POINTS * POINTS * POINTS));
}

struct extreme {
    double value;
    size_t place;
};

/* Keeps the CHARGES largest values, the smallest of them first. */
static inline void keep_largest(struct extreme *largest, double value, size_t place)
{
    if (value <= largest[0].value) return;
    int i = 0;
    for (; i + 1 < CHARGES && largest[i + 1].value < value; i++)
        largest[i] = largest[i + 1];
    largest[i] = (struct extreme){value, place};
}

/*
 * The right-hand side: a random number at each point; then +1 where the ten largest are, -1 where the ten smallest are,
 * 0 elsewhere.
 */
static void place_charges(const struct grid *grid)
{
    struct extreme high[CHARGES], low[CHARGES];
    double random = NAS_SEED;
    int n = grid->n;
    for (int i = 0; i < CHARGES; i++) {
        high[i] = (struct extreme){0, 0};
        low[i] = (struct extreme){-1, 0};
    }
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            nas_random_vector(n - 2, &random, NAS_MULTIPLIER, row(grid, z, y) + 1);
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            double *line = row(grid, z, y);
            for (int x = 1; x < n - 1; x++) {
                keep_largest(high, line[x], (size_t)(line + x - grid->point));
                keep_largest(low, -line[x], (size_t)(line + x - grid->point));
            }
        }
    clear(grid);
    for (int i = 0; i < CHARGES; i++) {
        grid->point[high[i].place] = 1;
        grid->point[low[i].place] = -1;
    }
    exchange(grid);
}

static void start(void)
{
    clear(&solution[LEVELS - 1]);
    place_charges(&charge);
}

/* The benchmark proper; the norms of the residual before and after go to norms[0] and norms[1]. */
static void solve(int cycles, double *norms, double *largest)
{
    const struct grid *u = &solution[LEVELS - 1], *r = &residual[LEVELS - 1];
    find_residual(u, &charge, r);
    norms[0] = norm(r, largest);
    for (int i = 0; i < cycles; i++) {
        cycle();
        find_residual(u, &charge, r);
    }
    norms[1] = norm(r, largest);
}

int main(int argc, char **argv)
{
    struct nas nas;
    double norms[2], largest;
    nas_init(&nas, "MG", argc, argv);
    printf("%d^3 points, %d cycles\n", POINTS, CYCLES);
    for (int level = 0; level < LEVELS; level++) {
        solution[level] = grid_new(level);
        residual[level] = grid_new(level);
    }
    charge = grid_new(LEVELS - 1);
    start();
    solve(1, norms, &largest); /* touches all memory once */
    start();

    nas_timed_begin(&nas);
    solve(CYCLES, norms, &largest);
    nas_timed_end(&nas);

    printf("L2 norm before   %22.15e\n", norms[0]);
    printf("largest after    %22.15e\n", largest);
    nas_verify(&nas, "L2 norm after", norms[1], NORM, EPSILON);
    return nas_verdict(&nas);
}
