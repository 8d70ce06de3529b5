/* Transforms 2^K random numbers, checks every result against the sum that defines it, and prints what the counter unit
 * saw of the transform alone: one line "EVENT COUNT" each, and a hash of the results' bits. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spi/UPC.h>

#include "fft.h"

enum { LOG_MAX = 14, N_MAX = 1 << LOG_MAX };

static double data[2 * N_MAX] __attribute__((aligned(32))), roots[N_MAX] __attribute__((aligned(32)));
static double input[2 * N_MAX];
static unsigned swaps[2 * N_MAX];

static unsigned find_swaps(unsigned n, unsigned log)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < log; bit++)
            reversed |= (i >> bit & 1) << (log - 1 - bit);
        if (i >= reversed) continue;
        swaps[2 * count] = 16 * i;
        swaps[2 * count++ + 1] = 16 * reversed;
    }
    return count;
}

static void fill(unsigned n)
{
    uint32_t random = 1;
    for (unsigned i = 0; i < 2 * n; i++) {
        random = random * 1664525 + 1013904223;
        input[i] = (double)(random >> 8) / (1 << 24) - 0.5;
    }
    for (unsigned i = 0; i < n / 2; i++) {
        roots[2 * i] = cos(2 * M_PI * i / n);
        roots[2 * i + 1] = -sin(2 * M_PI * i / n);
    }
    memcpy(data, input, 2 * n * sizeof *data);
}

/* Element k by its definition; the roots from n/2 on are the negative ones. */
static double error_of(unsigned n, unsigned k)
{
    double real = 0, imaginary = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned power = i * k % n, half = n / 2;
        double sign = power < half ? 1 : -1, *root = roots + 2 * (power % half);
        real += sign * (root[0] * input[2 * i] - root[1] * input[2 * i + 1]);
        imaginary += sign * (root[0] * input[2 * i + 1] + root[1] * input[2 * i]);
    }
    return fmax(fabs(real - data[2 * k]), fabs(imaginary - data[2 * k + 1]));
}

static uint64_t hash(unsigned n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 2 * n; i++) {
        uint64_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211u;
    }
    return sum;
}

static const struct {
    BGP_UPC_Event_Id_t event;
    const char *name;
} events[] = {
    {BGP_PU0_FPU_ADD_SUB_1, "FPU_ADD_SUB_1"},
    {BGP_PU0_FPU_MULT_1, "FPU_MULT_1"},
    {BGP_PU0_FPU_FMA_2, "FPU_FMA_2"},
    {BGP_PU0_FPU_DIV_1, "FPU_DIV_1"},
    {BGP_PU0_FPU_OTHER_NON_STORAGE_OPS, "FPU_OTHER_NON_STORAGE_OPS"},
    {BGP_PU0_FPU_ADD_SUB_2, "FPU_ADD_SUB_2"},
    {BGP_PU0_FPU_MULT_2, "FPU_MULT_2"},
    {BGP_PU0_FPU_FMA_4, "FPU_FMA_4"},
    {BGP_PU0_FPU_DUAL_PIPE_OTHER_NON_STORAGE_OPS, "FPU_DUAL_PIPE_OTHER_NON_STORAGE_OPS"},
    {BGP_PU0_FPU_OTHER_LOADS, "FPU_OTHER_LOADS"},
    {BGP_PU0_FPU_OTHER_STORES, "FPU_OTHER_STORES"},
    {BGP_PU0_FPU_QUADWORD_LOADS, "FPU_QUADWORD_LOADS"},
    {BGP_PU0_FPU_QUADWORD_STORES, "FPU_QUADWORD_STORES"},
    {BGP_PU0_DATA_LOADS, "DATA_LOADS"},
    {BGP_PU0_DATA_STORES, "DATA_STORES"},
    {BGP_PU0_JPIPE_INSTRUCTIONS, "JPIPE_INSTRUCTIONS"},
    {BGP_PU0_IPIPE_INSTRUCTIONS, "IPIPE_INSTRUCTIONS"},
    {BGP_PU0_DCACHE_MISS, "DCACHE_MISS"},
    {BGP_MISC_ELAPSED_TIME, "ELAPSED_TIME"},
};

int main(int argc, char **argv)
{
    int log = argc == 2 ? atoi(argv[1]) : 0;
    if (log < 1 || log > LOG_MAX) {
        fprintf(stderr, "usage: fft K, for 2^K numbers, K from 1 to %d\n", LOG_MAX);
        return 2;
    }
    unsigned n = 1u << log, swap_count = find_swaps(n, (unsigned)log);
    double error = 0;
    fill(n);
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, BGP_UPC_CFG_EDGE_DEFAULT);
    BGP_UPC_Start(1);
    fft(data, roots, n, swaps, swap_count);
    BGP_UPC_Stop();
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
        printf("%s %lld\n", events[i].name, (long long)BGP_UPC_Read_Counter(events[i].event, BGP_UPC_READ_EXCLUSIVE));
    for (unsigned k = 0; k < n; k++)
        error = fmax(error, error_of(n, k));
    printf("hash %016llx\n", (unsigned long long)hash(n));
    printf("error %s\n", error < 1e-13 * n ? "small" : "LARGE");
    return error < 1e-13 * n ? 0 : 1;
}
