/*
 * NAS FT: solves a diffusion equation on a periodic grid with three-dimensional Fourier transforms (specification,
 * "Kernel FT").
 *
 * One transform of the initial state; then for each time t the coefficients are multiplied by exp(-4 alpha pi^2 |k|^2
 * t) and transformed back, and 1024 elements are summed.
 *
 * A 3-D transform is 1-D transforms along each dimension. They are done BLOCK at a time, copied to a work space in
 * which their equal elements are neighbours, by Stockham's method, which needs no bit reversal but goes back and forth
 * between two arrays; so every loop has stride one. That is the layout of NPB 2's serial program.
 */
#include "nas.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 6, BLOCK = 16, PADDED = 18, SAMPLES = 1024 };

static const double ALPHA = 1e-6, EPSILON = 1e-12, PI = 3.141592653589793238;

struct complex {
    double re, im;
};

#if NAS_CLASS == 'S'
enum { NX = 64, NY = 64, NZ = 64 };
static const struct complex CHECKSUM[STEPS] = {
    {5.546087004964e2, 4.845363331978e2}, {5.546385409189e2, 4.865304269511e2}, {5.546148406171e2, 4.883910722336e2},
    {5.545423607415e2, 4.901273169046e2}, {5.544255039624e2, 4.917475857993e2}, {5.542683411902e2, 4.932597244941e2},
};
#elif NAS_CLASS == 'W'
enum { NX = 128, NY = 128, NZ = 32 };
static const struct complex CHECKSUM[STEPS] = {
    {5.673612178944e2, 5.293246849175e2}, {5.631436885271e2, 5.282149986629e2}, {5.594024089970e2, 5.270996558037e2},
    {5.560698047020e2, 5.260027904925e2}, {5.530898991250e2, 5.249400845633e2}, {5.504159734538e2, 5.239212247086e2},
};
#else
enum { NX = 256, NY = 256, NZ = 128 };
static const struct complex CHECKSUM[STEPS] = {
    {5.046735008193e2, 5.114047905510e2}, {5.059412319734e2, 5.098809666433e2}, {5.069376896287e2, 5.098144042213e2},
    {5.077892868474e2, 5.101336130759e2}, {5.085233095391e2, 5.104914655194e2}, {5.091487099959e2, 5.107917842803e2},
};
#endif

enum { POINTS = NX * NY * NZ, LONGEST = 256, MOST_EXPONENT = STEPS * (NX * NX + NY * NY + NZ * NZ) / 4 };

/* The direction is the sign of the exponent. */
enum direction { FORWARD = -1, BACKWARD = 1 };

static struct complex state[POINTS];      /* the transform of the initial state; x is the fastest index */
static struct complex evolved[POINTS];    /* the same at time t, and its transform */
static struct complex result[POINTS];     /* back in space */
static int square_distance[POINTS];       /* |k|^2 */
static double decay[MOST_EXPONENT + 1];   /* exp(-4 alpha pi^2)^i */
static struct complex roots[2 * LONGEST]; /* of unity: those of order 2^l from 2^(l-1) - 1 on, half a turn */

static int logarithm(int n)
{
    int log = 0;
    while (1 << log < n)
        log++;
    return log;
}

/* Real and imaginary parts are successive random numbers. */
static void make_state(struct complex *u)
{
    double random = NAS_SEED;
    for (int z = 0; z < NZ; z++)
        nas_random_vector(2 * NX * NY, &random, NAS_MULTIPLIER, &u[z * NX * NY].re);
}

/* The wave number of index i: 0, 1 ... n/2 - 1, -n/2 ... -1. */
static int wave_number(int i, int n)
{
    return (i + n / 2) % n - n / 2;
}

static void make_decay(void)
{
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                int kx = wave_number(x, NX), ky = wave_number(y, NY), kz = wave_number(z, NZ);
                square_distance[(z * NY + y) * NX + x] = kx * kx + ky * ky + kz * kz;
            }
    decay[0] = 1;
    double once = exp(-4 * ALPHA * PI * PI);
    for (int i = 1; i <= MOST_EXPONENT; i++)
        decay[i] = decay[i - 1] * once;
}

static void make_roots(void)
{
    int longest = logarithm(LONGEST);
    struct complex *root = roots;
    for (int level = 0; level < longest; level++)
        for (int i = 0; i < 1 << level; i++) {
            double angle = PI * i / (1 << level);
            *root++ = (struct complex){cos(angle), sin(angle)};
        }
}

/*
 * Step `level` (from 1) of a transform of length 2^levels, on BLOCK transforms at once: butterflies between the halves
 * of `from`, whose results go side by side to `to`. This and transform_along are not inlined: the two in one function
 * have more addresses than the machine has registers, and its loads and stores would be the compiler's.
 */
static __attribute__((noinline)) void butterflies(enum direction direction, int level, int levels,
                                                  const struct complex *restrict from, struct complex *restrict to)
{
    int half = 1 << (levels - 1);
    int run = 1 << (level - 1); /* elements with the same root */
    int runs = 1 << (levels - level);
    for (int i = 0; i < runs; i++) {
        struct complex root = roots[runs - 1 + i];
        root.im *= direction;
        for (int k = i * run; k < (i + 1) * run; k++) {
            const struct complex *low = from + k * PADDED, *high = from + (k + half) * PADDED;
            struct complex *sum = to + (k + i * run) * PADDED, *turned = to + (k + (i + 1) * run) * PADDED;
            for (int j = 0; j < BLOCK; j++) {
                struct complex a = low[j], b = high[j];
                struct complex d = {a.re - b.re, a.im - b.im};
                sum[j] = (struct complex){a.re + b.re, a.im + b.im};
                turned[j] = (struct complex){root.re * d.re - root.im * d.im, root.re * d.im + root.im * d.re};
            }
        }
    }
}

/* Parts are copied one by one: a compiler would move a whole structure through integer registers, in four words. */
static inline void copy_block(const struct complex *from, int from_apart, struct complex *to, int to_apart)
{
    for (int j = 0; j < BLOCK; j++) {
        to[j * to_apart].re = from[j * from_apart].re;
        to[j * to_apart].im = from[j * from_apart].im;
    }
}

/* BLOCK transforms of length n in place; element i of transform j is work[0][i * PADDED + j]. */
static void transform_block(enum direction direction, int n, struct complex work[2][LONGEST * PADDED])
{
    int levels = logarithm(n);
    for (int level = 1; level <= levels; level++)
        butterflies(direction, level, levels, work[(level + 1) % 2], work[level % 2]);
    if (levels % 2 == 0) return;
    for (int i = 0; i < n; i++)
        copy_block(work[1] + i * PADDED, 1, work[0] + i * PADDED, 1);
}

/*
 * Transforms along one dimension of length n and stride `stride`: of `across` neighbours `apart` elements apart, on
 * each of `planes` planes, `plane` elements apart.
 */
struct dimension {
    int n, stride, across, apart, planes, plane;
};

static const struct dimension ALONG_X = {NX, 1, NY, NX, NZ, NX *NY}, ALONG_Y = {NY, NX, NX, 1, NZ, NX *NY},
                              ALONG_Z = {NZ, NX *NY, NX, 1, NY, NX};

static __attribute__((noinline)) void transform_along(const struct dimension *along, enum direction direction,
                                                      const struct complex *from, struct complex *to)
{
    static struct complex work[2][LONGEST * PADDED];
    for (int p = 0; p < along->planes; p++)
        for (int first = 0; first < along->across; first += BLOCK) {
            int start = p * along->plane + first * along->apart;
            for (int i = 0; i < along->n; i++)
                copy_block(from + start + i * along->stride, along->apart, work[0] + i * PADDED, 1);
            transform_block(direction, along->n, work);
            for (int i = 0; i < along->n; i++)
                copy_block(work[0] + i * PADDED, 1, to + start + i * along->stride, along->apart);
        }
}

/* The 3-D transform from `from`, which is overwritten, to `to`. Not normalised. */
static void transform(enum direction direction, struct complex *from, struct complex *to)
{
    const struct dimension *order[3] = {&ALONG_X, &ALONG_Y, &ALONG_Z};
    for (int i = 0; i < 3; i++) {
        const struct dimension *along = direction == FORWARD ? order[i] : order[2 - i];
        transform_along(along, direction, from, i < 2 ? from : to);
    }
}

static void evolve(int time)
{
    for (int i = 0; i < POINTS; i++) {
        double factor = decay[time * square_distance[i]];
        evolved[i].re = state[i].re * factor;
        evolved[i].im = state[i].im * factor;
    }
}

/* The checksum: elements (j mod NX, 3j mod NY, 5j mod NZ), of the normalised inverse transform. */
static struct complex checksum(void)
{
    struct complex sum = {0, 0};
    for (int j = 1; j <= SAMPLES; j++) {
        struct complex sample = result[(5 * j % NZ * NY + 3 * j % NY) * NX + j % NX];
        sum.re += sample.re;
        sum.im += sample.im;
    }
    return (struct complex){sum.re / POINTS, sum.im / POINTS};
}

/* What comes before the first checksum: it is part of the timed work, and done once before, to touch all memory. */
static void prepare(void)
{
    make_decay();
    make_state(evolved);
    make_roots();
    transform(FORWARD, evolved, state);
}

int main(int argc, char **argv)
{
    struct nas nas;
    struct complex sum[STEPS];
    nas_init(&nas, "FT", argc, argv);
    printf("%d x %d x %d points, %d steps\n", NX, NY, NZ, STEPS);
    prepare();

    nas_timed_begin(&nas);
    prepare();
    for (int step = 0; step < STEPS; step++) {
        evolve(step + 1);
        transform(BACKWARD, evolved, result);
        sum[step] = checksum();
    }
    nas_timed_end(&nas);

    for (int step = 0; step < STEPS; step++) {
        char what[32];
        snprintf(what, sizeof what, "sum %d, real", step + 1);
        nas_verify(&nas, what, sum[step].re, CHECKSUM[step].re, EPSILON);
        snprintf(what, sizeof what, "sum %d, imaginary", step + 1);
        nas_verify(&nas, what, sum[step].im, CHECKSUM[step].im, EPSILON);
    }
    return nas_verdict(&nas);
}
