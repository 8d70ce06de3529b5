/* A small program to count: the product of two 40 x 40 matrices.
 *   chiliad cc -O2 docs/examples/matrix.c -o matrix && chiliad stat ./matrix
 */
#include <stdio.h>

enum { N = 40 };

static double a[N][N], b[N][N], c[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = i + 1;
            b[i][k] = k - 1;
        }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += a[i][j] * b[j][k];
            c[i][k] = sum;
        }
    printf("c[%d][%d] is %g\n", N - 1, N - 1, c[N - 1][N - 1]);
    return 0;
}
