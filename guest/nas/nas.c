/*
 * What the NAS kernels share; see nas.h.
 *
 * The product of two 46-bit numbers does not fit a double, so it is made from halves of 23 bits: with a = 2^23 a1 + a2
 * and x = 2^23 x1 + x2, a x mod 2^46 = (2^23 (a1 x2 + a2 x1 mod 2^23) + a2 x2) mod 2^46, where no intermediate value
 * needs more than 53 bits. Halves are cut off by conversion to int, as NPB's randdp does: that is where EP's integer
 * loads and stores come from, since a PowerPC 440 converts through memory.
 */
#include "nas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TWO_23 = 0x1p23, TWO_46 = 0x1p46, PER_23 = 0x1p-23, PER_46 = 0x1p-46;

/* One step; a1 and a2 are the halves of the multiplier. */
static inline double advance(double x, double a1, double a2)
{
    double x1 = (int)(PER_23 * x);
    double x2 = x - TWO_23 * x1;
    double cross = a1 * x2 + a2 * x1;
    double cross_high = (int)(PER_23 * cross);
    double sum = TWO_23 * (cross - TWO_23 * cross_high) + a2 * x2;
    double sum_high = (int)(PER_46 * sum);
    return sum - TWO_46 * sum_high;
}

double nas_random(double *x, double a)
{
    double a1 = (int)(PER_23 * a);
    *x = advance(*x, a1, a - TWO_23 * a1);
    return PER_46 * *x;
}

void nas_random_vector(int n, double *x, double a, double *y)
{
    double a1 = (int)(PER_23 * a), a2 = a - TWO_23 * a1, now = *x;
    for (int i = 0; i < n; i++) {
        now = advance(now, a1, a2);
        y[i] = PER_46 * now;
    }
    *x = now;
}

double nas_random_power(double a, long exponent)
{
    double power = 1, square = a;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2) nas_random(&power, square);
        nas_random(&square, square);
    }
    return power;
}

void nas_init(struct nas *nas, const char *kernel, int argc, char **argv)
{
    *nas = (struct nas){.kernel = kernel, .stop = NAS_STOP_NEVER, .good = true};
    if (argc == 2 && strcmp(argv[1], "setup") == 0) {
        nas->stop = NAS_STOP_SETUP;
    } else if (argc == 2 && strcmp(argv[1], "timed") == 0) {
        nas->stop = NAS_STOP_TIMED;
    } else if (argc > 1) {
        fprintf(stderr, "%s: unknown argument '%s'; give 'setup', 'timed' or nothing\n", argv[0], argv[1]);
        exit(2);
    }
    printf("NAS %s, class %c\n", kernel, NAS_CLASS);
}

void nas_timed_begin(const struct nas *nas)
{
    if (nas->stop == NAS_STOP_SETUP) exit(0);
}

void nas_timed_end(const struct nas *nas)
{
    if (nas->stop == NAS_STOP_TIMED) exit(0);
}

void nas_verify(struct nas *nas, const char *what, double computed, double reference, double epsilon)
{
    /* Written so that a NaN is not good. */
    bool good = fabs(computed - reference) <= epsilon * fabs(reference);
    printf("%-16s %22.15e  reference %20.13e  %s\n", what, computed, reference, good ? "good" : "WRONG");
    if (!good) nas->good = false;
}

void nas_verify_count(struct nas *nas, const char *what, long computed, long reference)
{
    printf("%-16s %22ld  reference %20ld  %s\n", what, computed, reference, computed == reference ? "good" : "WRONG");
    if (computed != reference) nas->good = false;
}

int nas_verdict(const struct nas *nas)
{
    printf("VERIFICATION %s\n", nas->good ? "SUCCESSFUL" : "UNSUCCESSFUL");
    return nas->good ? 0 : 1;
}
