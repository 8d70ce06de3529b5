/* What a guest's floating-point operation costs: ns on the fast path and in the integer reference,
 * beside the bare host operation.
 *
 * A row runs the same operation over an array of independent operands, in three loops: the host's
 * operation, fp_fast.h with a live FPSCR, fp_arith. Rounds alternate; the smallest time of each
 * counts. `bench_fp` takes no arguments.
 */
#include <stdio.h>
#include <time.h>

#include "machine/fp/fp_fast.h"

enum { OPERANDS = 1024, PASSES = 5000, REFERENCE_PASSES = 100, ROUNDS = 7 };

struct operands {
    double a[OPERANDS], b[OPERANDS], c[OPERANDS], result[OPERANDS];
};

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The three loops of one operation: ns an operation. */
#define LOOPS(name, upper, host, fast)                                                             \
    static double host_##name(struct operands *o)                                                  \
    {                                                                                              \
        double start = seconds();                                                                  \
        for (int pass = 0; pass < PASSES; pass++) {                                                \
            for (int i = 0; i < OPERANDS; i++) {                                                   \
                double a = o->a[i], b = o->b[i], c = o->c[i];                                      \
                (void)b, (void)c;                                                                  \
                o->result[i] = host;                                                               \
                __asm__ volatile("" ::: "memory");                                                 \
            }                                                                                      \
        }                                                                                          \
        return (seconds() - start) / ((double)PASSES * OPERANDS) * 1e9;                            \
    }                                                                                              \
    static double fast_##name(struct operands *o)                                                  \
    {                                                                                              \
        struct fp_state state;                                                                     \
        fp_state_init(&state, FP_XX | FP_FX);                                                      \
        double start = seconds();                                                                  \
        for (int pass = 0; pass < PASSES; pass++) {                                                \
            for (int i = 0; i < OPERANDS; i++) {                                                   \
                uint64_t a = fp_from_host(o->a[i]), b = fp_from_host(o->b[i]),                     \
                         c = fp_from_host(o->c[i]), target = 0;                                    \
                (void)b, (void)c;                                                                  \
                fast;                                                                              \
                o->result[i] = fp_to_host(target);                                                 \
                __asm__ volatile("" ::: "memory");                                                 \
            }                                                                                      \
        }                                                                                          \
        return (seconds() - start) / ((double)PASSES * OPERANDS) * 1e9;                            \
    }                                                                                              \
    static double reference_##name(struct operands *o)                                             \
    {                                                                                              \
        uint32_t fpscr = FP_XX | FP_FX;                                                            \
        double start = seconds();                                                                  \
        for (int pass = 0; pass < REFERENCE_PASSES; pass++) {                                      \
            for (int i = 0; i < OPERANDS; i++) {                                                   \
                uint64_t target = 0;                                                               \
                fp_arith(FP_##upper, &fpscr, &target, fp_from_host(o->a[i]),                       \
                         fp_from_host(o->b[i]), fp_from_host(o->c[i]));                            \
                o->result[i] = fp_to_host(target);                                                 \
            }                                                                                      \
        }                                                                                          \
        return (seconds() - start) / ((double)REFERENCE_PASSES * OPERANDS) * 1e9;                  \
    }
LOOPS(fadd, FADD, a + b, fp_fast_fadd(&state, &target, a, b))
LOOPS(fmul, FMUL, a *c, fp_fast_fmul(&state, &target, a, c))
LOOPS(fmadd, FMADD, fp_host_fma(a, c, b), fp_fast_fmadd(&state, &target, a, b, c))
LOOPS(fdiv, FDIV, a / b, fp_fast_fdiv(&state, &target, a, b))

static const struct {
    const char *name;
    double (*loop[3])(struct operands *);
} rows[] = {
    {"fadd", {host_fadd, fast_fadd, reference_fadd}},
    {"fmul", {host_fmul, fast_fmul, reference_fmul}},
    {"fmadd", {host_fmadd, fast_fmadd, reference_fmadd}},
    {"fdiv", {host_fdiv, fast_fdiv, reference_fdiv}},
};

int main(void)
{
    static struct operands operands;
    for (int i = 0; i < OPERANDS; i++) {
        operands.a[i] = 1 + i / 3.0;
        operands.b[i] = 2 + i / 7.0;
        operands.c[i] = 3 + i / 11.0;
    }
    printf("floating point, ns an operation: fast path, reference, bare host operation\n");
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        double least[3] = {1e9, 1e9, 1e9};
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < 3; i++) {
                double ns = rows[row].loop[i](&operands);
                if (ns < least[i]) least[i] = ns;
            }
        }
        printf("%-6s %6.2f %8.1f %6.2f\n", rows[row].name, least[1], least[2], least[0]);
    }
    return 0;
}
