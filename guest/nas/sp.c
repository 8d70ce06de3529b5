/*
 * NAS kernel SP, scalar pentadiagonal: the specification's section 3.5.2. The blocks of BT are diagonalised, so each step
 * solves five scalar pentadiagonal systems for every line of the grid, between changes of variables.
 */
#include "nas.h"

#if defined CLASS_A
enum { N = 64, STEPS = 400 };
#define DT 0.0015
#elif defined CLASS_W
enum { N = 36, STEPS = 400 };
#define DT 0.0015
#else
enum { N = 12, STEPS = 100 };
#define DT 0.015
#endif

#include "flow.h"

static const struct {
    double residual[M], error[M];
} reference = {
#if defined CLASS_A
    {2.4799822399300195, 1.1276337964368832, 1.5028977888770491, 1.4217816211695179, 2.1292113035138280},
    {1.0900140297820550e-04, 3.7343951769282091e-05, 5.0092785406541633e-05, 4.7671093939528255e-05,
     1.3621613399213001e-04}
#elif defined CLASS_W
    {1.893253733584e-03, 1.717075447775e-04, 2.778153350936e-04, 2.887475409984e-04, 3.143611161242e-03},
    {7.542088599534e-05, 6.512852253086e-06, 1.049092285688e-05, 1.128838671535e-05, 1.212845639773e-04}
#else
    {2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02, 1.5840557224455615e-02,
     3.4849040609362460e-02},
    {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05, 1.5750704994480102e-05,
     3.4177666183390531e-05}
#endif
};

static double speed[N][N][N]; /* of sound */

/* The five diagonals of a line: of the three eigenvalues that are the velocity, and of those with the speed of sound. */
static double same[N][5], plus[N][5], minus[N][5];

/* Whether all of rhs is inside; the changes of variables are of every point there. */
#define INSIDE(k, j, i)                                                                                                \
    for (int k = 1; k < N - 1; k++)                                                                                    \
        for (int j = 1; j < N - 1; j++)                                                                                \
            for (int i = 1; i < N - 1; i++)

static void to_characteristic(void)
{
    const double bt = sqrt(0.5);
    INSIDE(k, j, i)
    {
        double *r = rhs[k][j][i], inverse = rho_i[k][j][i], c = speed[k][j][i];
        double x = velocity[0][k][j][i], y = velocity[1][k][j][i], z = velocity[2][k][j][i];
        double t1 = c2 / (c * c) * (qs[k][j][i] * r[0] - x * r[1] - y * r[2] - z * r[3] + r[4]);
        double t2 = bt * inverse * (x * r[0] - r[1]), t3 = bt * inverse * c * t1;
        double r0 = r[0], r2 = r[2], r3 = r[3];
        r[0] = r0 - t1;
        r[1] = -inverse * (z * r0 - r3);
        r[2] = inverse * (y * r0 - r2);
        r[3] = -t2 + t3;
        r[4] = t2 + t3;
    }
}

/* From the variables of xi to those of eta, and from those of eta to those of zeta. */
static void xi_to_eta(void)
{
    const double bt = sqrt(0.5);
    INSIDE(k, j, i)
    {
        double *r = rhs[k][j][i], t1 = bt * r[2], t2 = 0.5 * (r[3] + r[4]);
        double r0 = r[0], r1 = r[1], difference = bt * (r[3] - r[4]);
        r[0] = -r1;
        r[1] = r0;
        r[2] = difference;
        r[3] = -t1 + t2;
        r[4] = t1 + t2;
    }
}

static void eta_to_zeta(void)
{
    const double bt = sqrt(0.5);
    INSIDE(k, j, i)
    {
        double *r = rhs[k][j][i], t1 = bt * r[0], t2 = 0.5 * (r[3] + r[4]);
        double r1 = r[1], r2 = r[2], difference = bt * (r[3] - r[4]);
        r[0] = difference;
        r[1] = -r2;
        r[2] = r1;
        r[3] = -t1 + t2;
        r[4] = t1 + t2;
    }
}

static void from_zeta(void)
{
    const double bt = sqrt(0.5);
    INSIDE(k, j, i)
    {
        double *r = rhs[k][j][i], density = u[k][j][i][0], c = speed[k][j][i];
        double x = velocity[0][k][j][i], y = velocity[1][k][j][i], z = velocity[2][k][j][i];
        double r0 = r[0], r1 = r[1], b = bt * density;
        double t1 = b / c * (r[3] + r[4]), t2 = r[2] + t1, t3 = b * (r[3] - r[4]);
        r[0] = t2;
        r[1] = -density * r1 + x * t2;
        r[2] = density * r0 + y * t2;
        r[3] = z * t2 + t3;
        r[4] = density * (-x * r1 + y * r0) + qs[k][j][i] * t2 + 2.5 * c * c * t1 + z * t3;
    }
}

static void set_speed(void)
{
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                speed[k][j][i] = sqrt(c1 * c2 * rho_i[k][j][i] * (u[k][j][i][4] - square[k][j][i]));
}

static inline double largest(double a, double b)
{
    return a > b ? a : b;
}

/* The diagonals of a line whose points are `step` apart. */
static void set_diagonals(int direction, const double *v, const double *r, const double *c, long step)
{
    const double t1 = DT / (h * h), t2 = DT / (2 * h), d = diffusion[direction], damp = DT * dissipation;
    double rho[N];
    for (int at = 0; at < N; at++) {
        double ru = c3c4 * r[at * step];
        rho[at] = largest(largest(d + con43 * ru, d + c1c5 * ru), largest(d + ru, d));
    }
    memset(same, 0, sizeof same);
    memset(plus, 0, sizeof plus);
    memset(minus, 0, sizeof minus);
    same[0][2] = plus[0][2] = minus[0][2] = same[N - 1][2] = plus[N - 1][2] = minus[N - 1][2] = 1;
    for (int at = 1; at < N - 1; at++) {
        double *s = same[at];
        s[1] = -t2 * v[(at - 1) * step] - t1 * rho[at - 1];
        s[2] = 1 + 2 * t1 * rho[at];
        s[3] = t2 * v[(at + 1) * step] - t1 * rho[at + 1];
        if (at > 2) s[0] += damp;
        if (at > 1) s[1] -= 4 * damp;
        s[2] += (at == 1 || at == N - 2 ? 5 : 6) * damp;
        if (at < N - 2) s[3] -= 4 * damp;
        if (at < N - 3) s[4] += damp;
        memcpy(plus[at], s, sizeof same[at]);
        memcpy(minus[at], s, sizeof same[at]);
        plus[at][1] -= t2 * c[(at - 1) * step];
        plus[at][3] += t2 * c[(at + 1) * step];
        minus[at][1] += t2 * c[(at - 1) * step];
        minus[at][3] -= t2 * c[(at + 1) * step];
    }
}

/* Solves for components first to last of a line. */
static void eliminate(double diagonal[N][5], double *line, long step, int first, int last)
{
    for (int at = 0; at < N; at++) {
        double *a = diagonal[at], *r = line + at * step * M, factor = 1 / a[2];
        a[3] *= factor;
        a[4] *= factor;
        for (int m = first; m <= last; m++)
            r[m] *= factor;
        for (int next = 1; next < 3 && at + next < N; next++) {
            double *b = diagonal[at + next], *s = r + next * step * M, below = b[2 - next];
            b[3 - next] -= below * a[3];
            b[4 - next] -= below * a[4];
            for (int m = first; m <= last; m++)
                s[m] -= below * r[m];
        }
    }
    for (int at = N - 2; at >= 0; at--) {
        double *r = line + at * step * M, *s = r + step * M, *t = s + step * M;
        for (int m = first; m <= last; m++)
            r[m] -= diagonal[at][3] * s[m] + (at < N - 2 ? diagonal[at][4] * t[m] : 0);
    }
}

static void solve(int direction)
{
    static const long step[DIRECTIONS] = {1, N, (long)N * N};
    for (int b = 1; b < N - 1; b++)
        for (int a = 1; a < N - 1; a++) {
            int i = direction == 0 ? 0 : a, j = direction == 1 ? 0 : direction == 0 ? a : b;
            int k = direction == 2 ? 0 : b;
            set_diagonals(direction, &velocity[direction][k][j][i], &rho_i[k][j][i], &speed[k][j][i], step[direction]);
            eliminate(same, rhs[k][j][i], step[direction], 0, 2);
            eliminate(plus, rhs[k][j][i], step[direction], 3, 3);
            eliminate(minus, rhs[k][j][i], step[direction], 4, 4);
        }
}

static void advance(void)
{
    flow_rhs();
    flow_scale(DT);
    set_speed();
    to_characteristic();
    solve(0);
    xi_to_eta();
    solve(1);
    eta_to_zeta();
    solve(2);
    from_zeta();
    flow_add();
}

int main(int argc, char **argv)
{
    struct nas nas;
    nas_init(&nas, "SP", argc, argv);
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
