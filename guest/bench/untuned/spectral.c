/* The spectral norm of an infinite matrix, by the power method on its first rows and columns. */
#include <math.h>
#include <stdio.h>

enum { N = 1000 };

static double element(int i, int j)
{
    return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1);
}

static void multiply(const double *v, double *out)
{
    for (int i = 0; i < N; i++) {
        out[i] = 0;
        for (int j = 0; j < N; j++)
            out[i] += element(i, j) * v[j];
    }
}

static void multiply_transposed(const double *v, double *out)
{
    for (int i = 0; i < N; i++) {
        out[i] = 0;
        for (int j = 0; j < N; j++)
            out[i] += element(j, i) * v[j];
    }
}

int main(void)
{
    static double u[N], v[N], t[N];
    double uv = 0, vv = 0;
    for (int i = 0; i < N; i++)
        u[i] = 1;
    for (int k = 0; k < 10; k++) {
        multiply(u, t);
        multiply_transposed(t, v);
        multiply(v, t);
        multiply_transposed(t, u);
    }
    for (int i = 0; i < N; i++) {
        uv += u[i] * v[i];
        vv += v[i] * v[i];
    }
    printf("%.9f\n", sqrt(uv / vv));
    return 0;
}
