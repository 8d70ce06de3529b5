/*
 * What BT and SP share, from chapter 3 of the specification: the grid, the compressible Navier-Stokes equations on it, the
 * solution that is known, the steady state's forcing, the right-hand side and its norms. The two differ in how they solve
 * the implicit part of a step along the lines of the grid.
 *
 * Arrays are [k][j][i][m]: m is density, three momenta, energy; i is xi. A direction is 0 for xi, 1 for eta, 2 for zeta;
 * the equations are the same in each, with the momentum of that direction as the normal one.
 */
#ifndef NAS_FLOW_H
#define NAS_FLOW_H

#include <math.h>
#include <string.h>

#include "nas.h"

enum { M = 5, DIRECTIONS = 3 };

/* Ratio of specific heats and what follows; viscosity; the factors of section 3.2. */
static const double c1 = 1.4, c2 = 0.4, c1c5 = 1.4 * 1.4, c3c4 = 0.1, con43 = 4.0 / 3.0;
static const double dissipation = 0.25; /* of fourth order */
/* Artificial diffusion of second order in each direction. */
static const double diffusion[DIRECTIONS] = {0.75, 0.75, 1.0};

static double u[N][N][N][M], rhs[N][N][N][M], forcing[N][N][N][M];
static double rho_i[N][N][N], velocity[DIRECTIONS][N][N][N], square[N][N][N], qs[N][N][N];

static const double h = 1.0 / (N - 1);

/* The known solution: polynomials of fourth degree (table 3.2). */
static void exact(double xi, double eta, double zeta, double *result)
{
    static const double ce[M][13] = {
        {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
        {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
        {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2}};
    for (int m = 0; m < M; m++) {
        const double *c = ce[m];
        result[m] = c[0] + xi * (c[1] + xi * (c[4] + xi * (c[7] + xi * c[10]))) +
                    eta * (c[2] + eta * (c[5] + eta * (c[8] + eta * c[11]))) +
                    zeta * (c[3] + zeta * (c[6] + zeta * (c[9] + zeta * c[12])));
    }
}

/* The known solution on the surface of the cube, and inside of it what transfinite interpolation makes of that. */
static void flow_begin(void)
{
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                double x[DIRECTIONS] = {i * h, j * h, k * h}, side[DIRECTIONS][2][M];
                bool inside = i && j && k && i < N - 1 && j < N - 1 && k < N - 1;
                if (!inside) {
                    exact(x[0], x[1], x[2], u[k][j][i]);
                    continue;
                }
                for (int s = 0; s < 2; s++) {
                    exact(s, x[1], x[2], side[0][s]);
                    exact(x[0], s, x[2], side[1][s]);
                    exact(x[0], x[1], s, side[2][s]);
                }
                for (int m = 0; m < M; m++) {
                    double p[DIRECTIONS];
                    for (int d = 0; d < DIRECTIONS; d++)
                        p[d] = x[d] * side[d][1][m] + (1 - x[d]) * side[d][0][m];
                    u[k][j][i][m] = p[0] + p[1] + p[2] - p[0] * p[1] - p[0] * p[2] - p[1] * p[2] + p[0] * p[1] * p[2];
                }
            }
}

/* Quantities of a point that the equations use more than once. */
static void derive(void)
{
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                const double *at = u[k][j][i];
                double inverse = 1 / at[0];
                rho_i[k][j][i] = inverse;
                for (int d = 0; d < DIRECTIONS; d++)
                    velocity[d][k][j][i] = at[1 + d] * inverse;
                square[k][j][i] = 0.5 * (at[1] * at[1] + at[2] * at[2] + at[3] * at[3]) * inverse;
                qs[k][j][i] = square[k][j][i] * inverse;
            }
}

/* Adds fluxes and diffusion of one direction at a point to its right-hand side; `step` is the distance of its neighbours in
 * points. */
static inline void add_fluxes(int direction, int k, int j, int i, long step)
{
    const double t1 = 1 / (h * h), t2 = 1 / (2 * h), t3 = 1 / h;
    const double con2 = c3c4 * t3 * t3, con3 = c3c4 * (1 - c1c5) * t3 * t3, con4 = c3c4 / 6 * t3 * t3,
                 con5 = c3c4 * c1c5 * t3 * t3, d1 = diffusion[direction] * t1;
    const int n = 1 + direction;
    const double *const now = u[k][j][i], *const up = now + M * step, *const um = now - M * step;
    const double *const s = &square[k][j][i], *const q = &qs[k][j][i], *const r = &rho_i[k][j][i],
                        *const v = &velocity[direction][k][j][i];
    double *const to = rhs[k][j][i];
    to[0] += d1 * (up[0] - 2 * now[0] + um[0]) - t2 * (up[n] - um[n]);
    for (int d = 0; d < DIRECTIONS; d++) {
        const double *const w = &velocity[d][k][j][i];
        double con = d == direction ? con2 * con43 : con2;
        double pressure = d == direction ? (up[4] - s[step] - um[4] + s[-step]) * c2 : 0;
        to[1 + d] += d1 * (up[1 + d] - 2 * now[1 + d] + um[1 + d]) + con * (w[step] - 2 * w[0] + w[-step]) -
                     t2 * (up[1 + d] * v[step] - um[1 + d] * v[-step] + pressure);
    }
    to[4] += d1 * (up[4] - 2 * now[4] + um[4]) + con3 * (q[step] - 2 * q[0] + q[-step]) +
             con4 * (v[step] * v[step] - 2 * v[0] * v[0] + v[-step] * v[-step]) +
             con5 * (up[4] * r[step] - 2 * now[4] * r[0] + um[4] * r[-step]) -
             t2 * ((c1 * up[4] - c2 * s[step]) * v[step] - (c1 * um[4] - c2 * s[-step]) * v[-step]);
}

/* Dissipation of fourth order at place `at` of a line; the two next to each end are one-sided. */
static inline void add_dissipation(double *to, const double *now, int at, long step)
{
    for (int m = 0; m < M; m++) {
        double sum = (at == 1 || at == N - 2 ? 5 : 6) * now[m];
        if (at > 1) sum -= 4 * now[m - M * step];
        if (at < N - 2) sum -= 4 * now[m + M * step];
        if (at > 2) sum += now[m - 2 * M * step];
        if (at < N - 3) sum += now[m + 2 * M * step];
        to[m] -= dissipation * sum;
    }
}

/* rhs = forcing + the operator of section 3.2 on u, inside. */
static void flow_rhs(void)
{
    static const long step[DIRECTIONS] = {1, N, (long)N * N};
    derive();
    memcpy(rhs, forcing, sizeof rhs);
    for (int direction = 0; direction < DIRECTIONS; direction++)
        for (int k = 1; k < N - 1; k++)
            for (int j = 1; j < N - 1; j++)
                for (int i = 1; i < N - 1; i++) {
                    add_fluxes(direction, k, j, i, step[direction]);
                    add_dissipation(rhs[k][j][i], u[k][j][i], direction == 0 ? i : direction == 1 ? j : k,
                                    step[direction]);
                }
}

/* The forcing that makes the known solution a steady state. */
static void flow_forcing(void)
{
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                exact(i * h, j * h, k * h, u[k][j][i]);
    memset(forcing, 0, sizeof forcing);
    flow_rhs();
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                for (int m = 0; m < M; m++)
                    forcing[k][j][i][m] = -rhs[k][j][i][m];
}

static void flow_scale(double dt)
{
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                for (int m = 0; m < M; m++)
                    rhs[k][j][i][m] *= dt;
}

static void flow_add(void)
{
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                for (int m = 0; m < M; m++)
                    u[k][j][i][m] += rhs[k][j][i][m];
}

/* Norms of the right-hand side and of the difference from the known solution, each component's against its reference. */
static void flow_verify(struct nas *nas, const double residual[M], const double error[M])
{
    static const char *const names[M] = {"density", "momentum x", "momentum y", "momentum z", "energy"};
    const double points = (double)(N - 2) * (N - 2) * (N - 2);
    double sum[M] = {0}, known[M];
    flow_rhs();
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                for (int m = 0; m < M; m++)
                    sum[m] += rhs[k][j][i][m] * rhs[k][j][i][m];
    for (int m = 0; m < M; m++)
        nas_verify(nas, names[m], sqrt(sum[m] / points), residual[m], 1e-8);
    memset(sum, 0, sizeof sum);
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                exact(i * h, j * h, k * h, known);
                for (int m = 0; m < M; m++)
                    sum[m] += (u[k][j][i][m] - known[m]) * (u[k][j][i][m] - known[m]);
            }
    for (int m = 0; m < M; m++)
        nas_verify(nas, names[m], sqrt(sum[m] / points), error[m], 1e-8);
}

#endif
