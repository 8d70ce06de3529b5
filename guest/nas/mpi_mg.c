/* NAS MG with MPI: the cube is divided in z, y and x, each rank has a box with a layer around it,
 * which neighbours exchange. Grids that are too coarse to be divided are whole in every rank: what
 * the ranks have of the finest of them is gathered, and each rank does the rest of the way down and
 * up. The number of ranks is a power of two. */
#include <mpi.h>

#include <string.h>

#define main __attribute__((unused)) static sequential
#include "mg.c"
#undef main

enum { Z, Y, X, DIMENSIONS };

/* A rank's part of a cube: sizes with the layer around. Divided levels have boxes, others the grids of mg.c. */
struct box {
    int n[DIMENSIONS];
    double *point;
};

static int rank, ranks, parts[DIMENSIONS], at[DIMENSIONS], lower[DIMENSIONS], upper[DIMENSIONS];
static int coarsest; /* divided level */
static struct box own_solution[LEVELS], own_residual[LEVELS], own_charge;
static double *face_out[2], *face_in[2];

static double *allocate(size_t count)
{
    double *memory = calloc(count, sizeof *memory);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

static int inside(int level, int d)
{
    return (2 << level) / parts[d];
}

static struct box box_new(int level)
{
    struct box box;
    for (int d = 0; d < DIMENSIONS; d++)
        box.n[d] = inside(level, d) + 2;
    box.point = allocate((size_t)box.n[Z] * box.n[Y] * box.n[X]);
    return box;
}

static inline double *line_of(const struct box *box, int z, int y)
{
    return box->point + ((size_t)z * box->n[Y] + y) * box->n[X];
}

/* ---- the layer around a box ---- */

/* Copies layer `layer` of dimension d between the box and a face. Layers of x have the inner points of z and y,
 * those of y all x as well, those of z all points: so corners come along. */
static int copy_face(const struct box *box, int d, int layer, double *face, int to_box)
{
    int low[DIMENSIONS] = {1, 1, 1}, high[DIMENSIONS], count = 0;
    for (int k = 0; k < DIMENSIONS; k++) {
        high[k] = box->n[k] - 1;
        if (k > d) low[k] = 0, high[k]++;
    }
    low[d] = layer;
    high[d] = layer + 1;
    for (int z = low[Z]; z < high[Z]; z++)
        for (int y = low[Y]; y < high[Y]; y++) {
            double *line = line_of(box, z, y);
            for (int x = low[X]; x < high[X]; x++, count++)
                if (to_box)
                    line[x] = face[count];
                else
                    face[count] = line[x];
        }
    return count;
}

static void exchange_box(const struct box *box)
{
    for (int d = X; d >= Z; d--) {
        MPI_Request request[4];
        int last = box->n[d] - 2, count = copy_face(box, d, 1, face_out[0], 0);
        copy_face(box, d, last, face_out[1], 0);
        if (parts[d] == 1) {
            copy_face(box, d, last + 1, face_out[0], 1);
            copy_face(box, d, 0, face_out[1], 1);
            continue;
        }
        MPI_Irecv(face_in[0], count, MPI_DOUBLE, lower[d], 2 * d, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(face_in[1], count, MPI_DOUBLE, upper[d], 2 * d + 1, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(face_out[1], count, MPI_DOUBLE, upper[d], 2 * d, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(face_out[0], count, MPI_DOUBLE, lower[d], 2 * d + 1, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        copy_face(box, d, 0, face_in[0], 1);
        copy_face(box, d, last + 1, face_in[1], 1);
    }
}

/* ---- the operators of mg.c on boxes ---- */

static inline void ring(const struct box *box, int z, int y, double *restrict faces, double *restrict edges)
{
    const double *south = line_of(box, z, y - 1), *north = line_of(box, z, y + 1);
    const double *below = line_of(box, z - 1, y), *above = line_of(box, z + 1, y);
    const double *below_south = line_of(box, z - 1, y - 1), *below_north = line_of(box, z - 1, y + 1);
    const double *above_south = line_of(box, z + 1, y - 1), *above_north = line_of(box, z + 1, y + 1);
    for (int x = 0; x < box->n[X]; x++) {
        faces[x] = south[x] + north[x] + below[x] + above[x];
        edges[x] = below_south[x] + below_north[x] + above_south[x] + above_north[x];
    }
}

static void box_residual(const struct box *u, const struct box *v, const struct box *r)
{
    double faces[LONGEST], edges[LONGEST];
    for (int z = 1; z < u->n[Z] - 1; z++)
        for (int y = 1; y < u->n[Y] - 1; y++) {
            const double *restrict up = line_of(u, z, y), *vp = line_of(v, z, y);
            double *rp = line_of(r, z, y);
            ring(u, z, y, faces, edges);
            for (int x = 1; x < u->n[X] - 1; x++)
                rp[x] = vp[x] - A[0] * up[x] - A[2] * (edges[x] + faces[x - 1] + faces[x + 1]) -
                        A[3] * (edges[x - 1] + edges[x + 1]);
        }
    exchange_box(r);
}

static void box_smooth(const struct box *r, const struct box *u)
{
    double faces[LONGEST], edges[LONGEST];
    for (int z = 1; z < u->n[Z] - 1; z++)
        for (int y = 1; y < u->n[Y] - 1; y++) {
            const double *rp = line_of(r, z, y);
            double *restrict up = line_of(u, z, y);
            ring(r, z, y, faces, edges);
            for (int x = 1; x < u->n[X] - 1; x++)
                up[x] = up[x] + C[0] * rp[x] + C[1] * (rp[x - 1] + rp[x + 1] + faces[x]) +
                        C[2] * (edges[x] + faces[x - 1] + faces[x + 1]);
        }
    exchange_box(u);
}

/* A line of P fine. */
static void restrict_line(const struct box *fine, int z, int y, double *to, int count)
{
    double faces[LONGEST], edges[LONGEST];
    const double *from = line_of(fine, 2 * z, 2 * y);
    ring(fine, 2 * z, 2 * y, faces, edges);
    for (int x = 1; x <= count; x++) {
        int i = 2 * x;
        to[x] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1] + faces[i]) +
                0.125 * (faces[i - 1] + faces[i + 1] + edges[i]) + 0.0625 * (edges[i - 1] + edges[i + 1]);
    }
}

static void box_restrict(const struct box *fine, const struct box *coarse)
{
    for (int z = 1; z < coarse->n[Z] - 1; z++)
        for (int y = 1; y < coarse->n[Y] - 1; y++)
            restrict_line(fine, z, y, line_of(coarse, z, y), coarse->n[X] - 2);
    exchange_box(coarse);
}

/* Lines of the coarse grid that surround a rank's fine box begin at `first` of the coarse box or whole grid. */
static void interpolate_from(const double *coarse, const int stride[2], const struct box *fine)
{
    double in_y[LONGEST], in_z[LONGEST], in_both[LONGEST];
    int m[DIMENSIONS];
    for (int d = 0; d < DIMENSIONS; d++)
        m[d] = (fine->n[d] - 2) / 2 + 2;
    for (int z = 0; z < m[Z] - 1; z++)
        for (int y = 0; y < m[Y] - 1; y++) {
            const double *from = coarse + z * stride[0] + y * stride[1], *north = from + stride[1];
            const double *above = from + stride[0], *above_north = above + stride[1];
            for (int x = 0; x < m[X]; x++) {
                in_y[x] = north[x] + from[x];
                in_z[x] = above[x] + from[x];
                in_both[x] = above_north[x] + above[x] + in_y[x];
            }
            add_line(line_of(fine, 2 * z, 2 * y), from, m[X], 1);
            add_line(line_of(fine, 2 * z, 2 * y + 1), in_y, m[X], 0.5);
            add_line(line_of(fine, 2 * z + 1, 2 * y), in_z, m[X], 0.5);
            add_line(line_of(fine, 2 * z + 1, 2 * y + 1), in_both, m[X], 0.25);
        }
}

static void box_clear(const struct box *box)
{
    memset(box->point, 0, sizeof(double) * box->n[Z] * box->n[Y] * box->n[X]);
}

/* ---- grids that every rank has ---- */

/* The finest of them, from what the ranks have of the residual above it. */
static void gather_coarse(void)
{
    const struct grid *whole = &residual[coarsest - 1];
    int part[DIMENSIONS], count = 1;
    double line[LONGEST];
    for (int d = 0; d < DIMENSIONS; d++)
        count *= part[d] = inside(coarsest - 1, d);
    double *own = allocate((size_t)count), *all = allocate((size_t)count * ranks);
    for (int z = 0; z < part[Z]; z++)
        for (int y = 0; y < part[Y]; y++) {
            restrict_line(&own_residual[coarsest], z + 1, y + 1, line, part[X]);
            memcpy(own + (z * part[Y] + y) * part[X], line + 1, part[X] * sizeof *line);
        }
    MPI_Allgather(own, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        int z0 = r / (parts[Y] * parts[X]) * part[Z], y0 = r / parts[X] % parts[Y] * part[Y], x0 = r % parts[X] * part[X];
        for (int z = 0; z < part[Z]; z++)
            for (int y = 0; y < part[Y]; y++)
                memcpy(row(whole, z0 + z + 1, y0 + y + 1) + x0 + 1, all + r * count + (z * part[Y] + y) * part[X],
                       part[X] * sizeof *all);
    }
    free(own);
    free(all);
    exchange(whole);
}

/* Down from there and back up: solution[coarsest - 1] is right afterwards. */
static void solve_coarse(void)
{
    gather_coarse();
    for (int level = coarsest - 1; level > 0; level--)
        restrict_grid(&residual[level], &residual[level - 1]);
    clear(&solution[0]);
    smooth(&residual[0], &solution[0]);
    for (int level = 1; level < coarsest; level++) {
        clear(&solution[level]);
        interpolate(&solution[level - 1], &solution[level]);
        find_residual(&solution[level], &residual[level], &residual[level]);
        smooth(&residual[level], &solution[level]);
    }
}

static void interpolate_to(int level)
{
    const struct box *fine = &own_solution[level], *coarse = &own_solution[level - 1];
    const struct grid *whole = &solution[level - 1];
    if (level > coarsest) {
        interpolate_from(coarse->point, (int[]){coarse->n[Y] * coarse->n[X], coarse->n[X]}, fine);
        return;
    }
    const double *first = row(whole, at[Z] * inside(level - 1, Z), at[Y] * inside(level - 1, Y)) + at[X] * inside(level - 1, X);
    interpolate_from(first, (int[]){whole->n * whole->n, whole->n}, fine);
}

static void cycle_boxes(void)
{
    const int finest = LEVELS - 1;
    for (int level = finest; level > coarsest; level--)
        box_restrict(&own_residual[level], &own_residual[level - 1]);
    solve_coarse();
    for (int level = coarsest; level < finest; level++) {
        box_clear(&own_solution[level]);
        interpolate_to(level);
        box_residual(&own_solution[level], &own_residual[level], &own_residual[level]);
        box_smooth(&own_residual[level], &own_solution[level]);
    }
    interpolate_to(finest);
    box_residual(&own_solution[finest], &own_charge, &own_residual[finest]);
    box_smooth(&own_residual[finest], &own_solution[finest]);
}

/* ---- the beginning and the end ---- */

static double box_norm(const struct box *box)
{
    double sum = 0;
    for (int z = 1; z < box->n[Z] - 1; z++)
        for (int y = 1; y < box->n[Y] - 1; y++)
            for (int x = 1; x < box->n[X] - 1; x++)
                sum += line_of(box, z, y)[x] * line_of(box, z, y)[x];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(sum / ((double)POINTS * POINTS * POINTS));
}

static void divide(void)
{
    for (int d = 0; d < DIMENSIONS; d++)
        parts[d] = 1;
    for (int left = ranks, d = Z; left > 1; left /= 2, d = (d + 1) % DIMENSIONS)
        parts[d] *= 2;
    int of[DIMENSIONS] = {parts[Y] * parts[X], parts[X], 1};
    for (int d = 0; d < DIMENSIONS; d++) {
        at[d] = rank / of[d] % parts[d];
        lower[d] = rank + ((at[d] + parts[d] - 1) % parts[d] - at[d]) * of[d];
        upper[d] = rank + ((at[d] + 1) % parts[d] - at[d]) * of[d];
    }
    for (coarsest = LEVELS - 1; coarsest > 1 && inside(coarsest - 1, Z) > 1; coarsest--)
        ;
}

/* The ten largest and smallest random numbers of all, by what each rank has of the ten. */
static void place_own_charges(void)
{
    const struct box *box = &own_charge;
    struct extreme own[2][CHARGES], all[2][CHARGES], *theirs = malloc(sizeof own * ranks);
    double line[LONGEST];
    if (!theirs) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < CHARGES; i++) {
        own[0][i] = all[0][i] = (struct extreme){0, 0};
        own[1][i] = all[1][i] = (struct extreme){-1, 0};
    }
    for (int z = 0; z < box->n[Z] - 2; z++)
        for (int y = 0; y < box->n[Y] - 2; y++) {
            size_t first = ((size_t)(at[Z] * (box->n[Z] - 2) + z) * POINTS + at[Y] * (box->n[Y] - 2) + y) * POINTS +
                           at[X] * (box->n[X] - 2);
            double random = NAS_SEED;
            nas_random(&random, nas_random_power(NAS_MULTIPLIER, (long)first));
            nas_random_vector(box->n[X] - 2, &random, NAS_MULTIPLIER, line);
            for (int x = 0; x < box->n[X] - 2; x++) {
                keep_largest(own[0], line[x], first + x);
                keep_largest(own[1], -line[x], first + x);
            }
        }
    MPI_Allgather(own, sizeof own, MPI_BYTE, theirs, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * CHARGES * ranks; i++)
        keep_largest(all[i / CHARGES % 2], theirs[i].value, theirs[i].place);
    free(theirs);
    box_clear(box);
    for (int i = 0; i < 2 * CHARGES; i++) {
        size_t place = all[i / CHARGES][i % CHARGES].place;
        int p[DIMENSIONS] = {(int)(place / POINTS / POINTS), (int)(place / POINTS % POINTS), (int)(place % POINTS)}, here = 1;
        for (int d = 0; d < DIMENSIONS; d++) {
            p[d] -= at[d] * (box->n[d] - 2);
            here &= p[d] >= 0 && p[d] < box->n[d] - 2;
        }
        if (here) line_of(box, p[Z] + 1, p[Y] + 1)[p[X] + 1] = i < CHARGES ? 1 : -1;
    }
    exchange_box(box);
}

static void allocate_all(void)
{
    size_t face = (size_t)(inside(LEVELS - 1, Y) + 2) * (inside(LEVELS - 1, X) + 2),
           other = (size_t)(inside(LEVELS - 1, Z) + 2) * (inside(LEVELS - 1, X) + 2);
    for (int i = 0; i < 2; i++) {
        face_out[i] = allocate(face > other ? face : other);
        face_in[i] = allocate(face > other ? face : other);
    }
    for (int level = 0; level < LEVELS; level++)
        if (level >= coarsest) {
            own_solution[level] = box_new(level);
            own_residual[level] = box_new(level);
        } else {
            solution[level] = grid_new(level);
            residual[level] = grid_new(level);
        }
    own_charge = box_new(LEVELS - 1);
}

int main(int argc, char **argv)
{
    struct nas nas;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    divide();
    if ((ranks & (ranks - 1)) || inside(LEVELS - 1, Z) < 2) {
        if (!rank) fprintf(stderr, "mg: %d ranks: not a power of two, or too many\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank && !freopen("/dev/null", "w", stdout)) return 2;
    nas_init(&nas, "MG", argc, argv);
    allocate_all();
    place_own_charges();
    const struct box *u = &own_solution[LEVELS - 1], *r = &own_residual[LEVELS - 1];
    box_residual(u, &own_charge, r);
    for (int i = 0; i < CYCLES; i++) {
        cycle_boxes();
        box_residual(u, &own_charge, r);
    }
    double norm = box_norm(r);
    MPI_Finalize();
    if (rank) return 0;
    nas_verify(&nas, "L2 norm after", norm, NORM, EPSILON);
    return nas_verdict(&nas);
}
