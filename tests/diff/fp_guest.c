/* A PowerPC program that executes single instructions on request: the other opinion in
 * tests/unit/test_fp.c.
 *
 * Standard input, all big-endian: a count, that many instruction words, then records {uint32 index
 * of the instruction, uint32 FPSCR, uint64 f0, f1, f2, f3}. For each record it sets the FPSCR and
 * f0..f3, clears CR, puts the low word of f1 where r4 points, executes the instruction once and
 * writes {uint64 f0, uint32 FPSCR, uint32 CR, uint32 the word at r4, uint32 number of SIGFPEs,
 * 0x10000 for SIGILL}. Built and run by tests/diff/run-fp.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

struct request {
    uint32_t index, fpscr;
    uint64_t f[4];
};

struct answer {
    uint64_t target;
    uint32_t fpscr, cr, word, traps;
};

enum { NIP = 32, BLR = 0x4e800020, ILLEGAL = 0x10000 };

static volatile uint32_t traps;

/* An enabled exception, or an instruction that the CPU lacks: note it and go on behind the
 * instruction. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)info;
    traps += number == SIGILL ? ILLEGAL : 1;
    uc->uc_mcontext.uc_regs->gregs[NIP] += 4;
}

static void execute(const uint32_t *stub, const struct request *q, struct answer *a)
{
    uint32_t scratch[2] = {(uint32_t)q->f[1], 0};
    uint64_t fpscr[3] = {q->fpscr, 0, 0}; /* to set, found, zero */
    uint64_t target = 0;
    uint32_t cr = 0;
    traps = 0;
    __asm__ volatile("lfd 4,0(%[fpscr])\n\t"
                     "lfd 0,0(%[f])\n\t"
                     "lfd 1,8(%[f])\n\t"
                     "lfd 2,16(%[f])\n\t"
                     "lfd 3,24(%[f])\n\t"
                     "mr 4,%[scratch]\n\t"
                     "li 0,0\n\t"
                     "mtcr 0\n\t"
                     "mtfsf 255,4\n\t"
                     "mtctr %[stub]\n\t"
                     "bctrl\n\t"
                     "mfcr %[cr]\n\t"
                     "mffs 5\n\t"
                     "stfd 5,8(%[fpscr])\n\t"
                     "stfd 0,0(%[target])\n\t"
                     "mtfsfi 6,0\n\t"
                     "mtfsfi 7,0\n\t"
                     : [cr] "=&r"(cr)
                     : [stub] "b"(stub), [fpscr] "b"(fpscr), [f] "b"(q->f), [scratch] "b"(scratch),
                       [target] "b"(&target)
                     : "memory", "r0", "r4", "ctr", "lr", "cc", "fr0", "fr1", "fr2", "fr3", "fr4",
                       "fr5");
    *a = (struct answer){target, (uint32_t)fpscr[1], cr, scratch[0], traps};
}

int main(void)
{
    uint32_t count;
    if (fread(&count, sizeof count, 1, stdin) != 1 || count > 4096) return 2;
    uint32_t *code = mmap(NULL, (size_t)(count + 1) * 8, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) return 2;
    for (uint32_t i = 0; i < count; i++) {
        if (fread(&code[(size_t)2 * i], sizeof *code, 1, stdin) != 1) return 2;
        code[(size_t)2 * i + 1] = BLR;
    }
    __builtin___clear_cache((char *)code, (char *)(code + (size_t)2 * count));

    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);

    struct request q;
    while (fread(&q, sizeof q, 1, stdin) == 1) {
        struct answer a;
        if (q.index >= count) return 2;
        execute(&code[(size_t)2 * q.index], &q, &a);
        if (fwrite(&a, sizeof a, 1, stdout) != 1) return 2;
    }
    return fflush(stdout) ? 2 : 0;
}
