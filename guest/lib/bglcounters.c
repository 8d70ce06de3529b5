/* BGLCounters: thin wrappers over the call-through (BGL-23), and the table of names. */
#include "bglcounters.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "chiliad/callthru.h"

/* The rows of data/events/simulator.events. */
static const struct {
    const char *name, *text;
} names[BGLCOUNTERS] = {
    [0] = {"BGL_INST", "Instructions completed"},
    [1] = {"BGL_LOAD", "Loads completed"},
    [2] = {"BGL_STORE", "Stores completed"},
    [3] = {"BGL_D1_HIT", "L1 D cache hits (l/s)"},
    [4] = {"BGL_D1_L_MISS", "L1 D cache load misses"},
    [5] = {"BGL_D1_S_MISS", "L1 D cache store misses"},
    [6] = {"BGL_I1_MISS", "L1 I cache misses"},
    [7] = {"BGL_D2_MISS", "L2 data load misses"},
    [8] = {"BGL_DTLB_MISS", "Data TLB misses"},
    [9] = {"BGL_ITLB_MISS", "Instruction TLB misses"},
    [10] = {"BGL_FP_LOAD", "Floating point loads"},
    [11] = {"BGL_FP_STORE", "Floating point stores"},
    [12] = {"BGL_FP_DIV", "Floating point divides"},
    [13] = {"BGL_FMA", "Floating point multiply-add"},
    [14] = {"BGL_FLOPS", "Floating point operations"},
    [15] = {"BGL_BRANCH", "Branches"},
    [16] = {"BGL_INT_ALU", "Integer adds, logic, shifts"},
    [17] = {"BGL_INT_MUL", "Integer multiplies and divides"},
    [18] = {"BGL_FP_PAIR", "Two-pipe arithmetic instructions"},
    [19] = {"BGL_FP_QUAD", "Quadword loads and stores"},
    [20] = {"BGL_CACHE_OP", "Cache management instructions"},
    [21] = {"BGL_SYNC", "Memory barriers"},
    [22] = {"BGL_STALL_LOAD", "Cycles that loads waited for memory"},
    [23] = {"BGL_STALL_STORE", "Cycles that stores waited"},
    [24] = {"BGL_STALL_FETCH", "Cycles that instruction fetch waited"},
    [25] = {"BGL_STALL_TLB", "Cycles of TLB miss handling"},
    [26] = {"BGL_FLOP", "Flops: an FMA is two"},
    [27] = {"BGL_DDR_READ", "Lines read from DDR"},
    [28] = {"BGL_DDR_WRITE", "Lines written to DDR"},
    [29] = {"BGL_L2_READ", "Lines that L1 requested from L2"},
    [30] = {"BGL_L2_MISS", "Lines that L2 requested from L3"},
    [31] = {"BGL_L3_ACCESS", "L3 lookups"},
    [40] = {"BGL_CYCLES", "Cycles with something to run"},
    [41] = {"BGL_BR_COND", "Conditional branches"},
    [42] = {"BGL_FP_ADD", "Floating point adds"},
    [43] = {"BGL_FP_MULT", "Floating point multiplies"},
    [44] = {"BGL_FP_OTHER", "Floating point moves, compares, conversions"},
    [45] = {"BGL_I1_ACCESS", "L1 I cache lookups"},
    [46] = {"BGL_D1_FILL", "L1 D cache lines filled"},
    [47] = {"BGL_L2_HIT", "L2 read hits"},
    [48] = {"BGL_L2_WRITE", "L2 writes"},
    [49] = {"BGL_L2_PREFETCH", "L2 prefetches"},
    [50] = {"BGL_SNOOP", "Invalidation requests to L1 D"},
    [51] = {"BGL_FP_INST", "Floating point instructions"},
    [52] = {"BGL_D1_TOUCH", "L1 D lines filled by touches"},
    [53] = {"BGL_D2_BUFFER", "Data lines that the L2 buffer had"},
    [54] = {"BGL_I2_BUFFER", "Lines of code that the L2 buffer had"},
    [55] = {"BGL_I2_MISS", "Lines of code from DDR"},
};

static sigjmp_buf no_simulator;

static void on_illegal(int signal)
{
    siglongjmp(no_simulator, signal);
}

/* Apart from the jump, so that no register of the call is live across it. */
static long __attribute__((noinline)) version(void)
{
    return chiliad_callthru(CHILIAD_VERSION, 0, 0);
}

/* Outside the simulator the instruction is illegal; find that out without dying of it. */
int BGLCounters_Init(void)
{
    struct sigaction mine = {.sa_handler = on_illegal}, old;
    volatile int status = -ENOSYS;
    if (sigaction(SIGILL, &mine, &old)) return -errno;
    if (sigsetjmp(no_simulator, 1) == 0 && version() == 1) status = 0;
    sigaction(SIGILL, &old, NULL);
    if (status) return status;
    BGLCounters_Stop();
    BGLCounters_Select(UINT64_MAX);
    return BGLCounters_Reset();
}

int BGLCounters_Select(uint64_t counters)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_SELECT, (long)(counters >> 32),
                                 (long)(uint32_t)counters);
}

int BGLCounters_Start(void)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_START, 0, 0);
}

int BGLCounters_Stop(void)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_STOP, 0, 0);
}

int BGLCounters_Reset(void)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_RESET, 0, 0);
}

int BGLCounters_Read(uint64_t *user, uint64_t *kernel)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_READ, (long)user, (long)kernel);
}

const char *BGLCounters_Name(int counter)
{
    return counter >= 0 && counter < BGLCOUNTERS ? names[counter].name : NULL;
}

const char *BGLCounters_Text(int counter)
{
    return counter >= 0 && counter < BGLCOUNTERS ? names[counter].text : NULL;
}
