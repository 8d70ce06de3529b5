/* A PowerPC program that executes short programs on request: the other opinion in
 * tests/unit/test_core_qemu.c.
 *
 * Everything is done by signals. A handler on a stack of its own gets the whole state of what was
 * stopped (a program ends with a trap, or earlier with a fault), keeps it as an answer, puts the
 * next request's state in its place and returns: the return from the signal loads every register at
 * once. What a return does not load is the rounding mode (qemu 7.2 writes the FPSCR past it), so
 * each program is entered through four words that load the FPSCR with mtfsf from low memory, where
 * no base register is needed.
 *
 * Memory, the same in the test: see tests/unit/core_random.h. Standard input: requests; standard
 * output: answers; all big-endian. An argument "usprg0" says that the CPU has SPR 256 as USPRG0.
 * Built and run by tests/diff/run-insn.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    WORDS = 72,
    PADS = 0x4000, /* traps, for branches to absolute addresses */
    LOW = 0x7000,  /* FPSCR, f31 */
    ENTRIES = 0x00800000,
    CODE = 0x01000000,
    CODE_BYTES = 0x01000000,
    SCRATCH = 0x30000000,
    STACK = 0x38000000,
    WINDOW = 128,
    MEMORY = 4 * WINDOW,
    TRAP = 0x7fe00008
};

struct request {
    uint32_t gpr[32], pc, lr, ctr, cr, xer, fpscr, slot, seed;
    uint64_t fpr[32];
    uint32_t words[WORDS];
};

struct answer {
    uint32_t gpr[32], pc, lr, ctr, cr, xer, fpscr, signal, address;
    uint64_t fpr[32];
    uint32_t memory[MEMORY / 4];
};

enum { NIP = 32, MSR = 33, CTR = 35, LNK = 36, XER = 37, CCR = 38 };

static struct request *requests;
static struct answer *answers;
static long count, current = -1;
static int has_usprg0;

/* The parts of scratch memory that programs change, as four windows. */
static uint32_t *window(unsigned i)
{
    static const uint32_t at[4] = {PAGE, 2 * PAGE - WINDOW, 2 * PAGE, 3 * PAGE - WINDOW};
    return (uint32_t *)(SCRATCH + at[i]);
}

static void fill(uint32_t x)
{
    for (unsigned i = 0; i < MEMORY / 4; i++) {
        x = x * 1664525u + 1013904223u;
        window(i / (WINDOW / 4))[i % (WINDOW / 4)] = x ^ x >> 15;
    }
}

static void leave(int status)
{
    register long r0 __asm__("r0") = SYS_exit_group;
    register long r3 __asm__("r3") = status;
    __asm__ volatile("sc" : "+r"(r0), "+r"(r3) : : "memory", "cr0");
    __builtin_unreachable();
}

static void write_all(void)
{
    const char *p = (const char *)answers, *end = (const char *)(answers + count);
    while (p < end) {
        register long r0 __asm__("r0") = SYS_write;
        register long r3 __asm__("r3") = 1;
        register const char *r4 __asm__("r4") = p;
        register long r5 __asm__("r5") = end - p > 1 << 20 ? 1 << 20 : end - p;
        __asm__ volatile("sc"
                         : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
                         :
                         : "memory", "cr0", "r6", "r7", "r8");
        if (r3 <= 0) leave(3);
        p += r3;
    }
}

/* No library calls here: r2 and r13 belong to the test. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    unsigned long *g = uc->uc_mcontext.uc_regs->gregs;
    uint64_t *f = (uint64_t *)&uc->uc_mcontext.uc_regs->fpregs;
    if (current >= 0) {
        struct answer *a = &answers[current];
        for (unsigned i = 0; i < 32; i++) {
            a->gpr[i] = g[i];
            a->fpr[i] = f[i];
        }
        a->pc = g[NIP];
        a->lr = g[LNK];
        a->ctr = g[CTR];
        a->cr = g[CCR];
        a->xer = g[XER];
        a->fpscr = (uint32_t)f[32];
        a->signal = (uint32_t)number;
        a->address = (uint32_t)(uintptr_t)info->si_addr;
        for (unsigned i = 0; i < MEMORY / 4; i++)
            a->memory[i] = window(i / (WINDOW / 4))[i % (WINDOW / 4)];
    }
    if (++current == count) {
        write_all();
        leave(0);
    }
    const struct request *q = &requests[current];
    uint64_t *low = (uint64_t *)LOW;
    for (unsigned i = 0; i < 32; i++) {
        g[i] = q->gpr[i];
        f[i] = q->fpr[i];
    }
    low[0] = q->fpscr;
    low[1] = q->fpr[31];
    f[32] = 0;
    g[NIP] = ENTRIES + 16 * (uint32_t)current;
    g[LNK] = q->lr;
    g[CTR] = q->ctr;
    g[CCR] = q->cr;
    g[XER] = q->xer;
    fill(q->seed);
    __asm__ volatile("stwcx. %0,0,%1"
                     :
                     : "r"(0), "r"(&current)
                     : "cr0", "memory"); /* no reservation is left */
    if (has_usprg0) __asm__ volatile("mtspr 256,%0" : : "r"(0));
}

static void *map(uint32_t address, uint32_t length, int rights)
{
    void *p = mmap((void *)address, length, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (p == MAP_FAILED) {
        perror("insn_guest: mmap");
        exit(2);
    }
    return p;
}

static void fill_traps(uint32_t address, uint32_t length)
{
    for (uint32_t at = address; at < address + length; at += 4)
        *(uint32_t *)at = TRAP;
}

static void lay_out(void)
{
    const int rw = PROT_READ | PROT_WRITE, rwx = rw | PROT_EXEC;
    map(PADS, LOW - PADS, rwx);
    fill_traps(PADS, LOW - PADS);
    mprotect((void *)PADS, LOW - PADS, PROT_READ | PROT_EXEC);
    map(LOW, PAGE, rw);
    map(ENTRIES, ((uint32_t)count * 16 + PAGE) & -PAGE, rwx);
    uint32_t last = requests[count - 1].slot + WORDS * 8;
    map(CODE, (last - CODE + PAGE) & -PAGE, rwx);
    fill_traps(CODE, last - CODE);
    map(SCRATCH + PAGE, 3 * PAGE, rw);
    memset((void *)(SCRATCH + PAGE), 0x5a, 3 * PAGE);
    mprotect((void *)(SCRATCH + 3 * PAGE), PAGE, PROT_READ);
    for (long i = 0; i < count; i++) {
        const struct request *q = &requests[i];
        uint32_t entry = ENTRIES + 16 * (uint32_t)i, *e = (uint32_t *)entry;
        memcpy((void *)q->slot, q->words, sizeof q->words);
        e[0] = 0xcbe00000 | LOW;                                 /* lfd f31,LOW(0) */
        e[1] = 0xfdfefd8e;                                       /* mtfsf 255,f31 */
        e[2] = 0xcbe00000 | (LOW + 8);                           /* lfd f31,LOW+8(0) */
        e[3] = 0x48000000 | ((q->pc - entry - 12) & 0x03fffffc); /* b */
    }
    __builtin___clear_cache((char *)CODE, (char *)last);
}

int main(int argc, char **argv)
{
    struct stat st;
    has_usprg0 = argc > 1 && strcmp(argv[1], "usprg0") == 0;
    if (fstat(0, &st) || st.st_size % sizeof *requests || st.st_size == 0) return 2;
    count = st.st_size / (long)sizeof *requests;
    requests = malloc((size_t)st.st_size);
    answers = calloc((size_t)count, sizeof *answers);
    if (!requests || !answers ||
        fread(requests, sizeof *requests, (size_t)count, stdin) != (size_t)count)
        return 2;
    lay_out();

    /* A test's r1 may lie in it by chance: signals then go below that. So there is more below. */
    map(STACK - (1 << 20), (1 << 20) + (1 << 14), PROT_READ | PROT_WRITE);
    stack_t alternate = {.ss_sp = (void *)STACK, .ss_size = 1 << 14};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    static const int signals[] = {SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS};
    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    __asm__ volatile("trap" ::: "memory");
    return 2;
}
