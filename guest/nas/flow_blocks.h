/*
 * What BT and LU share: the derivatives of fluxes and of diffusion at a point by its five components, as 5 x 5 blocks.
 */
#ifndef NAS_FLOW_BLOCKS_H
#define NAS_FLOW_BLOCKS_H

#include "flow.h"

typedef double block[M][M];

/* Of one direction, whose normal momentum is component n. */
static inline void jacobians(int direction, int k, int j, int i, block f, block v)
{
    const int n = 1 + direction;
    const double *at = u[k][j][i];
    double t1 = rho_i[k][j][i], t2 = t1 * t1, t3 = t1 * t2, c1345 = c1c5 * c3c4;
    memset(f, 0, sizeof(block));
    memset(v, 0, sizeof(block));
    f[0][n] = 1;
    v[4][0] = -c1345 * t2 * at[4];
    for (int m = 1; m < 4; m++) {
        double con = m == n ? con43 * c3c4 : c3c4;
        if (m == n) {
            f[m][0] = -(at[m] * t2 * at[m]) + c2 * qs[k][j][i];
            for (int l = 1; l < 4; l++)
                f[m][l] = l == n ? (2 - c2) * (at[m] * t1) : -c2 * (at[l] * t1);
            f[m][4] = c2;
            f[4][m] = c1 * at[4] * t1 - c2 * (at[m] * at[m] * t2 + qs[k][j][i]);
        } else {
            f[m][0] = -(at[n] * at[m]) * t2;
            f[m][n] = at[m] * t1;
            f[m][m] = at[n] * t1;
            f[4][m] = -c2 * (at[m] * at[n]) * t2;
        }
        v[m][0] = -con * t2 * at[m];
        v[m][m] = con * t1;
        v[4][0] -= (con - c1345) * t3 * (at[m] * at[m]);
        v[4][m] = (con - c1345) * t2 * at[m];
    }
    f[4][0] = (c2 * 2 * square[k][j][i] - c1 * at[4]) * (at[n] * t2);
    f[4][4] = c1 * (at[n] * t1);
    v[4][4] = c1345 * t1;
}

#endif
