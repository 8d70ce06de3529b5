/* Instructions that Linux does for programs when the core refuses them
 * (arch/powerpc/kernel/traps.c).
 *
 * The C library reads the processor version from user mode (mfpvr, a privileged instruction) at
 * every start; dcba, popcntb and isel are what compilers for other members of the family emit. They
 * take no time beyond the trap, and are no instructions of the core's counts: hardware would have
 * trapped, too. What else Linux emulates (mcrxr, string moves, variants of sync) the core does
 * itself.
 *
 * To add one: a row with a mask and a value, and a function that changes registers and returns
 * whether it did.
 */
#include "machine/os/os_task.h"

enum { PVR_440 = 0x422218d3 }; /* a 440EP, which Linux and the C library know */

/* Register fields, counted from the left as the manuals do: RT or RS, RA, RB, and BC of isel. */
static unsigned field(uint32_t word, unsigned first)
{
    return word >> (27 - first) & 31;
}

static void mfpvr(struct os_task *task, uint32_t word)
{
    uint32_t pvr = task->process->os->options.pvr;
    task->regs.gpr[field(word, 6)] = pvr ? pvr : PVR_440;
}

static void dcba(struct os_task *task, uint32_t word)
{
    (void)task;
    (void)word;
}

static void popcntb(struct os_task *task, uint32_t word)
{
    uint32_t value = task->regs.gpr[field(word, 6)], result = 0;
    for (unsigned byte = 0; byte < 32; byte += 8)
        result |= (uint32_t)__builtin_popcount(value >> byte & 0xff) << byte;
    task->regs.gpr[field(word, 11)] = result;
}

static void isel(struct os_task *task, uint32_t word)
{
    struct core_regs *regs = &task->regs;
    unsigned ra = field(word, 11), bit = field(word, 21);
    uint32_t first = ra ? regs->gpr[ra] : 0;
    bool set = regs->cr[bit / 4] >> (3 - bit % 4) & 1;
    regs->gpr[field(word, 6)] = set ? first : regs->gpr[field(word, 16)];
}

static const struct {
    uint32_t mask, value;
    void (*perform)(struct os_task *task, uint32_t word);
} rows[] = {{0xfc1ffffe, 0x7c1f42a6, mfpvr},
            {0xfc0007fe, 0x7c0005ec, dcba},
            {0xfc0007fe, 0x7c0000f4, popcntb},
            {0xfc00003e, 0x7c00001e, isel}};

bool os_emulate(struct os_task *task)
{
    const void *host = mem_readable(task->process->space->mem, task->regs.pc, 4);
    if (!host) return false;
    uint32_t word = mem_host_get32(host);
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        if ((word & rows[row].mask) != rows[row].value) continue;
        rows[row].perform(task, word);
        task->regs.pc += 4;
        return true;
    }
    return false;
}
