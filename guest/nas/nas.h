/*
 * What the NAS kernels share: the class, the random numbers, the timed part, the verdict.
 *
 * The kernels are written from chapters 2 and 3 of "The NAS Parallel Benchmarks", RNR-94-007 (below: the specification), with
 * loops in the order that NPB 2 and 3 made customary, so that their counts can be set beside published ones. Sizes and
 * reference values are those of NPB 2 and 3; where the two differ (MG class W), those of NPB 3.
 *
 *     powerpc-linux-gnu-gcc -O3 -mcpu=440fp -static -DCLASS_S cg.c nas.c -o cg -lm
 *     cg            the whole program: prints what it computed and VERIFICATION SUCCESSFUL (status 0) or UNSUCCESSFUL
 * (1) cg setup      ends where the benchmark's clock would start cg timed      ends where it would stop
 *
 * On a machine whose runs repeat exactly, counts of `timed` minus counts of `setup` are those of the timed part, and
 * the program needs no instrument. bench/nas does that.
 */
#ifndef NAS_H
#define NAS_H

#include <stdbool.h>

#if defined CLASS_A
#define NAS_CLASS 'A'
#elif defined CLASS_W
#define NAS_CLASS 'W'
#else
#define NAS_CLASS 'S'
#endif

/* The multiplier 5^13 of the generator, and the seed that all kernels but EP start from. */
#define NAS_MULTIPLIER 1220703125.0
#define NAS_SEED       314159265.0

enum nas_stop { NAS_STOP_NEVER, NAS_STOP_SETUP, NAS_STOP_TIMED };

/* One run of one kernel; lives in main. */
struct nas {
    const char *kernel;
    enum nas_stop stop;
    bool good; /* every value verified so far */
};

/* Reads the command line and prints the kernel and its class. A bad command line ends the program with status 2. */
void nas_init(struct nas *nas, const char *kernel, int argc, char **argv);

/* Around the timed part. Each may end the program, see above. */
void nas_timed_begin(const struct nas *nas);
void nas_timed_end(const struct nas *nas);

/* Prints a computed value with its reference, and remembers whether |computed - reference| <= epsilon |reference|. */
void nas_verify(struct nas *nas, const char *what, double computed, double reference, double epsilon);

/* The same for a count, which must be equal. */
void nas_verify_count(struct nas *nas, const char *what, long computed, long reference);

/* Prints the verdict; returns the status of the program. */
int nas_verdict(const struct nas *nas);

/*
 * The generator of specification 2.3: x' = a x mod 2^46, both held as whole numbers in doubles. nas_random advances *x
 * and returns x' 2^-46, which is in (0, 1). nas_random_vector does so n times. Every operation is exact, with or
 * without fused multiply-adds, so all machines draw the same numbers.
 */
double nas_random(double *x, double a);
void nas_random_vector(int n, double *x, double a, double *y);

/* a^exponent mod 2^46: the multiplier that leaps `exponent` numbers ahead. */
double nas_random_power(double a, long exponent);

#endif
