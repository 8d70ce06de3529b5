/* The same radix-2 transform twice, for figure 7 of the counter unit's paper: fft_scalar.c with one FPU pipe,
 * fft_paired.S with both.
 *
 * `data` are n complex numbers, real part first, transformed in place; `roots` the n/2 powers of exp(-2 pi i / n).
 * `swaps` are pairs of byte offsets that put the data into bit-reversed order. A butterfly, n/2 times in each of log2 n
 * passes, is t = root x b by two products and two fused multiply-adds, a + t and a - t; both programs round in the same way.
 */
#ifndef FFT_H
#define FFT_H

void fft(double *data, const double *roots, unsigned n, const unsigned *swaps, unsigned swap_count);

#endif
