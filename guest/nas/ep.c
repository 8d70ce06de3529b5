/*
 * NAS EP: makes pairs of Gaussian deviates by the acceptance-rejection method and counts them in square rings
 * (specification, "Kernel EP").
 *
 * Uniform numbers are drawn in batches of 2^16 pairs. Each batch finds its own seed by leaping ahead, as a parallel
 * program would; the batches share nothing but the sums.
 */
#include "nas.h"

#include <math.h>
#include <stdio.h>

enum { BATCH_LOG = 16, BATCH = 1 << BATCH_LOG, RINGS = 10 };

static const double SEED = 271828183.0, EPSILON = 1e-8;

#if NAS_CLASS == 'S'
enum { PAIRS_LOG = 24, ACCEPTED = 13176389 };
static const double SUM_X = -3.247834652034740e3, SUM_Y = -6.958407078382297e3;
#elif NAS_CLASS == 'W'
enum { PAIRS_LOG = 25, ACCEPTED = 26354769 };
static const double SUM_X = -2.863319731645753e3, SUM_Y = -6.320053679109499e3;
#else
enum { PAIRS_LOG = 28, ACCEPTED = 210832767 };
static const double SUM_X = -4.295875165629892e3, SUM_Y = -1.580732573678431e4;
#endif

struct tally {
    double sum_x, sum_y;
    double rings[RINGS]; /* pairs with l <= max(|X|, |Y|) < l + 1 */
};

/* The pairs of one batch of uniform numbers in (0, 1). */
static void tally_batch(struct tally *tally, const double *uniform)
{
    for (int i = 0; i < BATCH; i++) {
        double x = 2 * uniform[2 * i] - 1;
        double y = 2 * uniform[2 * i + 1] - 1;
        double t = x * x + y * y;
        if (t > 1) continue;
        double scale = sqrt(-2 * log(t) / t);
        double gauss_x = x * scale, gauss_y = y * scale;
        tally->rings[(int)fmax(fabs(gauss_x), fabs(gauss_y))] += 1;
        tally->sum_x += gauss_x;
        tally->sum_y += gauss_y;
    }
}

static void tally_all(struct tally *tally)
{
    static double uniform[2 * BATCH];
    for (long batch = 0; batch < 1L << (PAIRS_LOG - BATCH_LOG); batch++) {
        double x = SEED;
        nas_random(&x, nas_random_power(NAS_MULTIPLIER, batch * 2 * BATCH));
        nas_random_vector(2 * BATCH, &x, NAS_MULTIPLIER, uniform);
        tally_batch(tally, uniform);
    }
}

int main(int argc, char **argv)
{
    struct nas nas;
    struct tally tally = {0};
    nas_init(&nas, "EP", argc, argv);
    printf("2^%d pairs\n", PAIRS_LOG);

    nas_timed_begin(&nas);
    tally_all(&tally);
    nas_timed_end(&nas);

    double accepted = 0;
    for (int i = 0; i < RINGS; i++) {
        printf("ring %d %12.0f\n", i, tally.rings[i]);
        accepted += tally.rings[i];
    }
    nas_verify_count(&nas, "pairs accepted", (long)accepted, ACCEPTED);
    nas_verify(&nas, "sum of X", tally.sum_x, SUM_X, EPSILON);
    nas_verify(&nas, "sum of Y", tally.sum_y, SUM_Y, EPSILON);
    return nas_verdict(&nas);
}
