/* A dense floating-point loop: matrix products, about 500 million instructions. */
#include <stdio.h>

enum { N = 96, ROUNDS = 100 };

int main(void)
{
    static double a[N][N], b[N][N], c[N][N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = 1.0 / (i + k + 1);
            b[i][k] = (i == k) + 0.001 * (i - k);
        }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++) {
                double sum = round * 1e-9;
                for (int j = 0; j < N; j++)
                    sum += a[i][j] * b[j][k];
                c[i][k] = sum;
            }
    double trace = 0;
    for (int i = 0; i < N; i++)
        trace += c[i][i];
    printf("%.15g\n", trace);
    return 0;
}
