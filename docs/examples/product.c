/* The product of two matrices, slow on purpose: the program of docs/tutorial.md. */
#include <stdio.h>

enum { N = 128 };

static double a[N][N], b[N][N], c[N][N];

__attribute__((noinline)) static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = i + k;
            b[i][k] = i - k;
        }
}

__attribute__((noinline)) static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][k] += a[i][j] * b[j][k];
}

int main(void)
{
    fill();
    multiply();
    printf("c[1][1] is %g\n", c[1][1]);
    return 0;
}
