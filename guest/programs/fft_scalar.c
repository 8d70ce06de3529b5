/* The transform with one pipe: doubles one by one. */
#include "fft.h"

static double *at(double *data, unsigned offset)
{
    return data + offset / sizeof *data;
}

static void swap(double *a, double *b)
{
    double real = a[0], imaginary = a[1];
    a[0] = b[0];
    a[1] = b[1];
    b[0] = real;
    b[1] = imaginary;
}

static void butterfly(double *a, double *b, const double *root)
{
    double real = -__builtin_fma(root[1], b[1], -(root[0] * b[0])); /* fnmsub */
    double imaginary = __builtin_fma(root[1], b[0], root[0] * b[1]);
    double a_real = a[0], a_imaginary = a[1];
    a[0] = a_real + real;
    a[1] = a_imaginary + imaginary;
    b[0] = a_real - real;
    b[1] = a_imaginary - imaginary;
}

void fft(double *data, const double *roots, unsigned n, const unsigned *swaps, unsigned swap_count)
{
    for (unsigned i = 0; i < swap_count; i++)
        swap(at(data, swaps[2 * i]), at(data, swaps[2 * i + 1]));
    for (unsigned half = 1, stride = n; half < n; half *= 2, stride /= 2)
        for (unsigned group = 0; group < n; group += 2 * half)
            for (unsigned i = 0; i < half; i++)
                butterfly(data + 2 * (group + i), data + 2 * (group + half + i), roots + i * stride);
}
