/*
 * NAS kernel BT, block tridiagonal: the specification's section 3.5.1. Each step solves, for every line of the grid in each
 * of the three directions, a block tridiagonal system of 5 x 5 blocks, by elimination without pivoting.
 */
#include "nas.h"

#if defined CLASS_A
enum { N = 64, STEPS = 200 };
#define DT 0.0008
#elif defined CLASS_W
enum { N = 24, STEPS = 200 };
#define DT 0.0008
#else
enum { N = 12, STEPS = 60 };
#define DT 0.010
#endif

#include "flow_blocks.h"

static const struct {
    double residual[M], error[M];
} reference = {
#if defined CLASS_A
    {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01, 2.3665622544678910e+01,
     2.5278963211748344e+02},
    {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01, 8.8302063039765474e-01,
     9.7379901770829278e+00}
#elif defined CLASS_W
    {1.125590409344e+02, 1.180007595731e+01, 2.710329767846e+01, 2.469174937669e+01, 2.638427874317e+02},
    {4.419655736008e+00, 4.638531260002e-01, 1.011551749967e+00, 9.235878729944e-01, 1.018045837718e+01}
#else
    {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02,
     1.9211784131744430e-01},
    {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05,
     8.9269630987491446e-04}
#endif
};

/* The blocks of one line, and its derivatives of fluxes and of diffusion. With -fopenmp, a thread has its own. */
static block lower[N], middle[N], upper[N], flux[N], viscous[N];
#pragma omp threadprivate(lower, middle, upper, flux, viscous)

static void set_blocks(int direction)
{
    const double t1 = DT / (h * h), t2 = DT / (2 * h), d = diffusion[direction];
    for (int at = 1; at < N - 1; at++)
        for (int m = 0; m < M; m++)
            for (int n = 0; n < M; n++) {
                double diagonal = m == n ? t1 * d : 0;
                lower[at][m][n] = -t2 * flux[at - 1][m][n] - t1 * viscous[at - 1][m][n] - diagonal;
                middle[at][m][n] = (m == n) + t1 * 2 * viscous[at][m][n] + 2 * diagonal;
                upper[at][m][n] = t2 * flux[at + 1][m][n] - t1 * viscous[at + 1][m][n] - diagonal;
            }
}

/* b c = c, b r = r: b becomes the identity. */
static inline void divide(block b, block c, double *r)
{
    for (int p = 0; p < M; p++) {
        double pivot = 1 / b[p][p];
        for (int n = p + 1; n < M; n++)
            b[p][n] *= pivot;
        for (int n = 0; n < M; n++)
            c[p][n] *= pivot;
        r[p] *= pivot;
        for (int m = 0; m < M; m++) {
            if (m == p) continue;
            double factor = b[m][p];
            for (int n = p + 1; n < M; n++)
                b[m][n] -= factor * b[p][n];
            for (int n = 0; n < M; n++)
                c[m][n] -= factor * c[p][n];
            r[m] -= factor * r[p];
        }
    }
}

/* b -= a c, r -= a s */
static inline void reduce(block a, block c, const double *s, block b, double *r)
{
    for (int m = 0; m < M; m++) {
        for (int n = 0; n < M; n++)
            b[m][n] -= a[m][0] * c[0][n] + a[m][1] * c[1][n] + a[m][2] * c[2][n] + a[m][3] * c[3][n] + a[m][4] * c[4][n];
        r[m] -= a[m][0] * s[0] + a[m][1] * s[1] + a[m][2] * s[2] + a[m][3] * s[3] + a[m][4] * s[4];
    }
}

/* The ends of a line are known, so their blocks are the identity and their right-hand side is 0. */
static void solve_line(double *first, long step)
{
    memset(upper[0], 0, sizeof(block));
    for (int at = 1; at < N - 1; at++) {
        double *r = first + at * step * M, *before = r - step * M;
        reduce(lower[at], upper[at - 1], before, middle[at], r);
        divide(middle[at], upper[at], r);
    }
    for (int at = N - 3; at > 0; at--) {
        double *r = first + at * step * M, *next = r + step * M;
        for (int m = 0; m < M; m++)
            for (int n = 0; n < M; n++)
                r[m] -= upper[at][m][n] * next[n];
    }
}

static void solve(int direction)
{
    static const long step[DIRECTIONS] = {1, N, (long)N * N};
#pragma omp parallel for schedule(static)
    for (int b = 1; b < N - 1; b++)
        for (int a = 1; a < N - 1; a++) {
            for (int at = 0; at < N; at++) {
                int i = direction == 0 ? at : a, j = direction == 1 ? at : direction == 0 ? a : b;
                int k = direction == 2 ? at : b;
                jacobians(direction, k, j, i, flux[at], viscous[at]);
            }
            set_blocks(direction);
            solve_line(direction == 0   ? rhs[b][a][0]
                       : direction == 1 ? rhs[b][0][a]
                                        : rhs[0][b][a],
                       step[direction]);
        }
}

static void advance(void)
{
    flow_rhs();
    flow_scale(DT);
    for (int direction = 0; direction < DIRECTIONS; direction++)
        solve(direction);
    flow_add();
}

int main(int argc, char **argv)
{
    struct nas nas;
    nas_init(&nas, "BT", argc, argv);
    flow_forcing();
    flow_begin();
    advance(); /* touches all data, as the benchmark does */
    flow_begin();
    nas_timed_begin(&nas);
    for (int step = 0; step < STEPS; step++)
        advance();
    nas_timed_end(&nas);
    flow_verify(&nas, reference.residual, reference.error);
    return nas_verdict(&nas);
}
