/* Solves linear equations by LU decomposition with partial pivoting. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 500 };

static double a[N][N], kept[N][N], b[N], x[N];
static int row[N];

static void decompose(void)
{
    for (int i = 0; i < N; i++)
        row[i] = i;
    for (int k = 0; k < N; k++) {
        int pivot = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[row[i]][k]) > fabs(a[row[pivot]][k])) pivot = i;
        int t = row[k];
        row[k] = row[pivot];
        row[pivot] = t;
        for (int i = k + 1; i < N; i++) {
            double factor = a[row[i]][k] /= a[row[k]][k];
            for (int j = k + 1; j < N; j++)
                a[row[i]][j] -= factor * a[row[k]][j];
        }
    }
}

static void solve(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = b[row[i]];
        for (int j = 0; j < i; j++)
            x[i] -= a[row[i]][j] * x[j];
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++)
            x[i] -= a[row[i]][j] * x[j];
        x[i] /= a[row[i]][i];
    }
}

int main(void)
{
    unsigned state = 1;
    double worst = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                state = state * 1103515245u + 12345u;
                kept[i][j] = a[i][j] = (state >> 16 & 1023) / 512.0 - 1;
            }
            b[i] = i;
        }
        decompose();
        solve();
        for (int i = 0; i < N; i++) {
            double error = -b[i];
            for (int j = 0; j < N; j++)
                error += kept[i][j] * x[j];
            if (fabs(error) > worst) worst = fabs(error);
        }
    }
    printf("residual %s\n", worst < 1e-6 ? "small" : "large");
    return worst >= 1e-6;
}
