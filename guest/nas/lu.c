/*
 * NAS kernel LU: the specification's section 3.5.3. Each step is one symmetric successive over-relaxation: a sweep through
 * the grid in which every point depends on the three before it, and one back in which it depends on the three behind it.
 */
#include "nas.h"

#if defined CLASS_A
enum { N = 64, STEPS = 250 };
#define DT 2.0
#elif defined CLASS_W
enum { N = 33, STEPS = 300 };
#define DT 1.5e-3
#else
enum { N = 12, STEPS = 50 };
#define DT 0.5
#endif

#include "flow_blocks.h"

#define OMEGA 1.2

static const struct {
    double residual[M], error[M], integral;
} reference = {
#if defined CLASS_A
    {7.7902107606689367e+02, 6.3402765259692870e+01, 1.9499249727292479e+02, 1.7845301160418537e+02,
     1.8384760349464247e+03},
    {2.9964085685471943e+01, 2.8194576365003349, 7.3473412698774742, 6.7139225687777051, 7.0715315688392578e+01},
    2.6030925604886277e+01
#elif defined CLASS_W
    {1.236511638192e+01, 1.317228477799, 2.550120713095, 2.326187750252, 2.826799444189e+01},
    {4.867877144216e-01, 5.064652880982e-02, 9.281818101960e-02, 8.570126542733e-02, 1.084277417792},
    1.161399311023e+01
#else
    {1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
     3.4264073155896461e-02},
    {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
     1.3103347914111294e-03},
    7.8418928865937083
#endif
};

/* What a neighbour in one direction contributes, before (sign -1) or behind (1) the point. */
static inline void neighbour(int direction, int k, int j, int i, double sign, block to)
{
    const double t1 = DT / (h * h), t2 = sign * DT / (2 * h);
    block flux, viscous;
    jacobians(direction, k, j, i, flux, viscous);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < M; n++)
            to[m][n] = t2 * flux[m][n] - t1 * viscous[m][n] - (m == n ? t1 * diffusion[direction] : 0);
}

/* The block of the point itself. */
static inline void own(int k, int j, int i, block to)
{
    const double t1 = DT / (h * h);
    block flux, viscous;
    memset(to, 0, sizeof(block));
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        jacobians(direction, k, j, i, flux, viscous);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < M; n++)
                to[m][n] += 2 * t1 * (viscous[m][n] + (m == n ? diffusion[direction] : 0));
    }
    for (int m = 0; m < M; m++)
        to[m][m] += 1;
}

/* Solves b x = r; x is in r afterwards. */
static inline void solve(block b, double *r)
{
    for (int p = 0; p < M; p++) {
        double pivot = 1 / b[p][p];
        for (int m = p + 1; m < M; m++) {
            double factor = pivot * b[m][p];
            for (int n = p + 1; n < M; n++)
                b[m][n] -= factor * b[p][n];
            r[m] -= factor * r[p];
        }
    }
    for (int p = M - 1; p >= 0; p--) {
        for (int n = p + 1; n < M; n++)
            r[p] -= b[p][n] * r[n];
        r[p] /= b[p][p];
    }
}

/* One point of a sweep: `away` is -1 on the way up and 1 on the way back. */
static inline void relax(int k, int j, int i, int away, double sum[M])
{
    static const int dk[] = {0, 0, 1}, dj[] = {0, 1, 0}, di[] = {1, 0, 0};
    for (int m = 0; m < M; m++)
        sum[m] = 0;
    for (int direction = DIRECTIONS - 1; direction >= 0; direction--) {
        int kk = k + away * dk[direction], jj = j + away * dj[direction], ii = i + away * di[direction];
        const double *v = rhs[kk][jj][ii];
        block b;
        neighbour(direction, kk, jj, ii, away, b);
        for (int m = 0; m < M; m++)
            sum[m] += OMEGA * (b[m][0] * v[0] + b[m][1] * v[1] + b[m][2] * v[2] + b[m][3] * v[3] + b[m][4] * v[4]);
    }
}

static void sweeps(void)
{
    block d;
    double sum[M];
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++) {
                double *r = rhs[k][j][i];
                relax(k, j, i, -1, sum);
                for (int m = 0; m < M; m++)
                    r[m] -= sum[m];
                own(k, j, i, d);
                solve(d, r);
            }
    for (int k = N - 2; k > 0; k--)
        for (int j = N - 2; j > 0; j--)
            for (int i = N - 2; i > 0; i--) {
                double *r = rhs[k][j][i];
                relax(k, j, i, 1, sum);
                own(k, j, i, d);
                solve(d, sum);
                for (int m = 0; m < M; m++)
                    r[m] -= sum[m];
            }
}

/* rhs is that of the state when it begins and when it ends; on the surface it is 0. */
static void advance(void)
{
    const double share = 1 / (OMEGA * (2 - OMEGA));
    flow_scale(DT);
    sweeps();
    flow_scale(share);
    flow_add();
    flow_rhs();
}

/* The integral of the pressure over the surface of a box inside. */
static double surface(void)
{
    enum { I1 = 1, I2 = N - 2, J1 = 1, J2 = N - 3, K1 = 2, K2 = N - 2 };
    static double p[N][N][N];
    double sum = 0;
    for (int k = K1; k <= K2; k++)
        for (int j = J1; j <= J2; j++)
            for (int i = I1; i <= I2; i++) {
                const double *at = u[k][j][i];
                p[k][j][i] = c2 * (at[4] - 0.5 * (at[1] * at[1] + at[2] * at[2] + at[3] * at[3]) / at[0]);
            }
    for (int j = J1; j < J2; j++)
        for (int i = I1; i < I2; i++)
            for (int k = K1; k <= K2; k += K2 - K1)
                sum += p[k][j][i] + p[k][j][i + 1] + p[k][j + 1][i] + p[k][j + 1][i + 1];
    for (int k = K1; k < K2; k++)
        for (int i = I1; i < I2; i++)
            for (int j = J1; j <= J2; j += J2 - J1)
                sum += p[k][j][i] + p[k][j][i + 1] + p[k + 1][j][i] + p[k + 1][j][i + 1];
    for (int k = K1; k < K2; k++)
        for (int j = J1; j < J2; j++)
            for (int i = I1; i <= I2; i += I2 - I1)
                sum += p[k][j][i] + p[k][j + 1][i] + p[k + 1][j][i] + p[k + 1][j + 1][i];
    return 0.25 * h * h * sum;
}

int main(int argc, char **argv)
{
    struct nas nas;
    nas_init(&nas, "LU", argc, argv);
    flow_forcing();
    flow_begin();
    flow_rhs();
    advance(); /* touches all data, as the benchmark does */
    flow_begin();
    flow_rhs();
    nas_timed_begin(&nas);
    for (int step = 0; step < STEPS; step++)
        advance();
    nas_timed_end(&nas);
    flow_verify(&nas, reference.residual, reference.error);
    nas_verify(&nas, "surface", surface(), reference.integral, 1e-8);
    return nas_verdict(&nas);
}
