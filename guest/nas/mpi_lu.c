/* NAS LU with MPI: the grid is divided along eta and xi (j and i), each rank has all of zeta (k). A
 * sweep goes through the planes of k: a rank waits for the row and the column before its part, does
 * its part of the plane, and sends its last row and column on, so that ranks on a diagonal of the
 * grid work at the same time. Each rank has whole arrays, and uses its part and two points around. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define main __attribute__((unused)) static sequential
#include "lu.c"
#undef main

/* A direction of the division: this rank's points are [first, end), ranks are `step` apart. */
struct part {
    int parts, at, first, end, step;
};

static int rank, ranks;
static struct part across, along; /* j, i */

static void divide(struct part *p)
{
    p->first = 1 + (N - 2) * p->at / p->parts;
    p->end = 1 + (N - 2) * (p->at + 1) / p->parts;
}

/* ---- two points around ---- */

/* Copies u at j in [j0, j1), i in [i0, i1) and all k to or from a list; returns its length. */
static int copy_part(int j0, int j1, int i0, int i1, double *list, bool from_list)
{
    int count = 0;
    for (int k = 1; k < N - 1; k++)
        for (int j = j0; j < j1; j++)
            for (int i = i0; i < i1; i++)
                for (int m = 0; m < M; m++, count++)
                    if (from_list)
                        u[k][j][i][m] = list[count];
                    else
                        list[count] = u[k][j][i][m];
    return count;
}

/* What a part [first, end) needs of another one, on one side. */
static void needed(const struct part *of, const struct part *by, int *low, int *high)
{
    int from = of->at < by->at ? by->first - 2 : by->end, to = of->at < by->at ? by->first : by->end + 2;
    *low = from > of->first ? from : of->first;
    *high = to < of->end ? to : of->end;
}

static int copy_lines(const struct part *p, int low, int high, double *list, bool from_list)
{
    if (low >= high) return 0;
    return p == &across ? copy_part(low, high, along.first, along.end, list, from_list)
                        : copy_part(across.first, across.end, low, high, list, from_list);
}

/* Parts may be one point wide: so two neighbours on each side. */
static void exchange_lines(const struct part *p)
{
    static double list[4][2][2 * N * N * M];
    MPI_Request request[8];
    int requests = 0, low[4], high[4];
    struct part other[4];
    for (int n = 0; n < 4; n++) {
        static const int away[4] = {-2, -1, 1, 2};
        other[n] = *p;
        other[n].at += away[n];
        low[n] = high[n] = 0;
        if (other[n].at < 0 || other[n].at >= p->parts) continue;
        divide(&other[n]);
        int to = rank + away[n] * p->step, begin, end;
        needed(p, &other[n], &begin, &end);
        int count = copy_lines(p, begin, end, list[n][0], false);
        if (count) MPI_Isend(list[n][0], count, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &request[requests++]);
        needed(&other[n], p, &low[n], &high[n]);
        if (low[n] < high[n])
            MPI_Irecv(list[n][1], 2 * N * N * M, MPI_DOUBLE, to, 1, MPI_COMM_WORLD, &request[requests++]);
    }
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
    for (int n = 0; n < 4; n++)
        copy_lines(p, low[n], high[n], list[n][1], true);
}

/* ---- flow.h's work on a part ---- */

static void derive_part(void)
{
    int j0 = across.first - 2 > 0 ? across.first - 2 : 0, j1 = across.end + 2 < N ? across.end + 2 : N;
    int i0 = along.first - 2 > 0 ? along.first - 2 : 0, i1 = along.end + 2 < N ? along.end + 2 : N;
    for (int k = 0; k < N; k++)
        for (int j = j0; j < j1; j++)
            for (int i = i0; i < i1; i++) {
                const double *now = u[k][j][i];
                double inverse = 1 / now[0];
                rho_i[k][j][i] = inverse;
                for (int d = 0; d < DIRECTIONS; d++)
                    velocity[d][k][j][i] = now[1 + d] * inverse;
                square[k][j][i] = 0.5 * (now[1] * now[1] + now[2] * now[2] + now[3] * now[3]) * inverse;
                qs[k][j][i] = square[k][j][i] * inverse;
            }
}

#define EACH_POINT                                                                                                     \
    for (int k = 1; k < N - 1; k++)                                                                                    \
        for (int j = across.first; j < across.end; j++)                                                                \
            for (int i = along.first; i < along.end; i++)

static void rhs_part(void)
{
    exchange_lines(&across);
    exchange_lines(&along);
    derive_part();
    EACH_POINT memcpy(rhs[k][j][i], forcing[k][j][i], sizeof rhs[k][j][i]);
    for (int d = 0; d < DIRECTIONS; d++)
        EACH_POINT
        {
            static const long step[DIRECTIONS] = {1, N, (long)N * N};
            add_fluxes(d, k, j, i, step[d]);
            add_dissipation(rhs[k][j][i], u[k][j][i], d == 0 ? i : d == 1 ? j : k, step[d]);
        }
}

static void scale_part(double factor)
{
    EACH_POINT for (int m = 0; m < M; m++) rhs[k][j][i][m] *= factor;
}

static void add_part(void)
{
    EACH_POINT for (int m = 0; m < M; m++) u[k][j][i][m] += rhs[k][j][i][m];
}

/* ---- the sweeps ---- */

/* A row (of across) or a column (of along) of plane k at `place`, with the rank `away` in that direction. */
static void pass(const struct part *p, int k, int place, int away, bool sends)
{
    double list[N * M];
    int peer = p->at + away, count = 0;
    if (peer < 0 || peer >= p->parts) return;
    int first = p == &across ? along.first : across.first, end = p == &across ? along.end : across.end;
    for (int n = first; sends && n < end; n++)
        for (int m = 0; m < M; m++)
            list[count++] = p == &across ? rhs[k][place][n][m] : rhs[k][n][place][m];
    if (sends) {
        MPI_Send(list, count, MPI_DOUBLE, rank + away * p->step, 2, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(list, (end - first) * M, MPI_DOUBLE, rank + away * p->step, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int n = first; n < end; n++)
        for (int m = 0; m < M; m++)
            *(p == &across ? &rhs[k][place][n][m] : &rhs[k][n][place][m]) = list[count++];
}

static void plane_up(int k)
{
    block d;
    double sum[M];
    for (int j = across.first; j < across.end; j++)
        for (int i = along.first; i < along.end; i++) {
            double *r = rhs[k][j][i];
            relax(k, j, i, -1, sum);
            for (int m = 0; m < M; m++)
                r[m] -= sum[m];
            own(k, j, i, d);
            solve(d, r);
        }
}

static void plane_back(int k)
{
    block d;
    double sum[M];
    for (int j = across.end - 1; j >= across.first; j--)
        for (int i = along.end - 1; i >= along.first; i--) {
            double *r = rhs[k][j][i];
            relax(k, j, i, 1, sum);
            own(k, j, i, d);
            solve(d, sum);
            for (int m = 0; m < M; m++)
                r[m] -= sum[m];
        }
}

static void sweeps_together(void)
{
    for (int k = 1; k < N - 1; k++) {
        pass(&across, k, across.first - 1, -1, false);
        pass(&along, k, along.first - 1, -1, false);
        plane_up(k);
        pass(&across, k, across.end - 1, 1, true);
        pass(&along, k, along.end - 1, 1, true);
    }
    for (int k = N - 2; k > 0; k--) {
        pass(&across, k, across.end, 1, false);
        pass(&along, k, along.end, 1, false);
        plane_back(k);
        pass(&across, k, across.first, -1, true);
        pass(&along, k, along.first, -1, true);
    }
}

static void advance_part(void)
{
    scale_part(DT);
    sweeps_together();
    scale_part(1 / (OMEGA * (2 - OMEGA)));
    add_part();
    rhs_part();
}

/* The solution to rank 0, in planes: elsewhere than in its part a rank gives zeros. */
static void gather(void)
{
    static double plane[N][N][M];
    for (int k = 1; k < N - 1; k++) {
        memset(plane, 0, sizeof plane);
        for (int j = across.first; j < across.end; j++)
            for (int i = along.first; i < along.end; i++)
                memcpy(plane[j][i], u[k][j][i], sizeof plane[j][i]);
        MPI_Reduce(rank ? plane : MPI_IN_PLACE, plane, N * N * M, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        for (int j = 1; j < N - 1; j++)
            memcpy(u[k][j] + 1, plane[j] + 1, sizeof plane[j] - 2 * sizeof plane[j][0]);
    }
}

int main(int argc, char **argv)
{
    struct nas nas;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank && !freopen("/dev/null", "w", stdout)) return 2;
    int dims[2] = {0, 0};
    MPI_Dims_create(ranks, 2, dims);
    across = (struct part){.parts = dims[0], .at = rank / dims[1], .step = dims[1]};
    along = (struct part){.parts = dims[1], .at = rank % dims[1], .step = 1};
    divide(&across);
    divide(&along);
    if (dims[0] > N - 2) {
        if (!rank) fprintf(stderr, "lu: %d x %d ranks are too many for %d points a side\n", dims[0], dims[1], N - 2);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    nas_init(&nas, "LU", argc, argv);
    flow_forcing();
    flow_begin();
    memset(rhs, 0, sizeof rhs);
    rhs_part();
    for (int step = 0; step < STEPS; step++)
        advance_part();
    gather();
    MPI_Finalize();
    if (rank) return 0;
    flow_verify(&nas, reference.residual, reference.error);
    nas_verify(&nas, "surface", surface(), reference.integral, 1e-8);
    return nas_verdict(&nas);
}
