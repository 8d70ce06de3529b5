/* Signal frames: what a handler finds on its stack, and the way back.
 *
 * Laid out as Linux does for 32-bit PowerPC (arch/powerpc/kernel/signal_32.c), because programs
 * look: handlers read and change the registers in their ucontext, and unwinders find them from the
 * frame's position. From high to low addresses:
 *
 *   SA_SIGINFO handler                           other handlers
 *   frame + 1312  224 bytes of nothing (ABI)     frame + 1024  224 bytes of nothing
 *   frame + 320   mcontext, 992 bytes            frame + 32    mcontext
 *   frame + 128   ucontext (192 before mcontext) frame + 0     sigcontext, 32 bytes
 *   frame + 0     siginfo, 128 bytes             frame - 64    a stack frame; r1
 *   frame - 80    a stack frame; r1
 *
 * mcontext: 48 words of registers (enum greg), 33 doubles (the last is the FPSCR), 2 words, 33
 * vectors. A 440 has no vectors, so the first 256 bytes of their place keep the secondary
 * floating-point registers, which Linux forgets; the word FP2_MARK says that they are there.
 *
 * The way back (li r0,sigreturn; sc) is in no frame, as stacks need not be executable, but in a
 * page of its own at OS_TRAMPOLINE, which every address space has and no mmap can reach. Unwinders
 * know it by its two instructions.
 */
#include "machine/os/os_task.h"

#include <errno.h>

enum greg {
    GREG_NIP = 32,
    GREG_MSR,
    GREG_ORIG_R3,
    GREG_CTR,
    GREG_LINK,
    GREG_XER,
    GREG_CCR,
    GREG_MQ,
    GREG_TRAP,
    GREG_DAR,
    GREG_MARK = 47,
    GREGS
};

enum {
    MCONTEXT_FREGS = 4 * GREGS,
    MCONTEXT_FPSCR = MCONTEXT_FREGS + 256 + 4,
    MCONTEXT_VREGS = 464,
    MCONTEXT_SIZE = 992,
    UCONTEXT_LINK = 4,
    UCONTEXT_STACK = 8,
    UCONTEXT_REGS = 48,
    UCONTEXT_MASK = 52,
    UCONTEXT_MCONTEXT = 192,
    UCONTEXT_SIZE = UCONTEXT_MCONTEXT + MCONTEXT_SIZE,
    ABI_GAP = 224,
    CALLER_FRAME = 64,
    RT_CALLER_FRAME = CALLER_FRAME + 16,
    RT_UCONTEXT = OS_SIGINFO_SIZE,
    RT_SIZE = RT_UCONTEXT + UCONTEXT_SIZE + ABI_GAP,
    SIGCONTEXT_MASK_HIGH = 12,
    SIGCONTEXT_SIGNAL = 16,
    SIGCONTEXT_HANDLER = 20,
    SIGCONTEXT_MASK = 24,
    SIGCONTEXT_REGS = 28,
    SIGCONTEXT_SIZE = 32,
    PLAIN_SIZE = SIGCONTEXT_SIZE + MCONTEXT_SIZE + ABI_GAP
};
#define FP2_MARK UINT32_C(0x46503220)

_Static_assert(RT_SIZE == 1536, "struct rt_sigframe");
_Static_assert(PLAIN_SIZE == 1248, "struct sigframe");

enum { SA_SIGINFO = 4, SA_ONSTACK = 0x08000000 };
enum { SS_ONSTACK = 1, SS_DISABLE = 2, MINSIGSTKSZ = 2048 };
#define SS_AUTODISARM UINT32_C(0x80000000)

enum { NR_SIGRETURN = 119, NR_RT_SIGRETURN = 172, TRAMPOLINE_RT = 8 };

void os_trampoline_map(struct mem *mem)
{
    static const uint32_t code[] = {0x38000000 | NR_SIGRETURN, 0x44000002,
                                    0x38000000 | NR_RT_SIGRETURN, 0x44000002};
    mem_map(mem, OS_TRAMPOLINE, MEM_PAGE, MEM_READ | MEM_EXEC);
    for (size_t w = 0; w < sizeof code / sizeof *code; w++)
        mem_host_put32(mem_host(mem, OS_TRAMPOLINE) + 4 * w, code[w]);
}

/* ---- registers ---- */

static void put64(uint8_t *host, uint64_t value)
{
    mem_host_put32(host, (uint32_t)(value >> 32));
    mem_host_put32(host + 4, (uint32_t)value);
}

static uint64_t get64(const uint8_t *host)
{
    return os_pair(mem_host_get32(host), mem_host_get32(host + 4));
}

static void save_registers(uint8_t *mcontext, const struct os_task *task)
{
    const struct core_regs *regs = &task->regs;
    uint32_t greg[GREGS] = {0};
    memcpy(greg, regs->gpr, sizeof regs->gpr);
    greg[GREG_NIP] = regs->pc;
    greg[GREG_MSR] = regs->msr;
    greg[GREG_ORIG_R3] = regs->gpr[3];
    greg[GREG_CTR] = regs->ctr;
    greg[GREG_LINK] = regs->lr;
    greg[GREG_XER] = core_xer_get(regs);
    greg[GREG_CCR] = core_cr_get(regs);
    greg[GREG_TRAP] = task->fault_trap;
    greg[GREG_DAR] = task->fault_address;
    greg[GREG_MARK] = FP2_MARK;
    for (size_t g = 0; g < GREGS; g++)
        mem_host_put32(mcontext + 4 * g, greg[g]);
    for (size_t f = 0; f < 32; f++) {
        put64(mcontext + MCONTEXT_FREGS + 8 * f, regs->fpr[f]);
        put64(mcontext + MCONTEXT_VREGS + 8 * f, regs->fpr2[f]);
    }
    mem_host_put32(mcontext + MCONTEXT_FPSCR - 4, 0);
    mem_host_put32(mcontext + MCONTEXT_FPSCR, regs->fpscr);
}

/* All but the MSR, which stays the kernel's; r2, the thread pointer, only on the way back from a
 * signal. */
static bool restore_registers(struct os_task *task, uint32_t address, bool from_signal)
{
    const uint8_t *mcontext = mem_readable(task->process->space->mem, address, MCONTEXT_SIZE);
    struct core_regs *regs = &task->regs;
    uint32_t greg[GREGS], thread = regs->gpr[2];
    if (!mcontext) return false;
    for (size_t g = 0; g < GREGS; g++)
        greg[g] = mem_host_get32(mcontext + 4 * g);
    memcpy(regs->gpr, greg, sizeof regs->gpr);
    if (!from_signal) regs->gpr[2] = thread;
    regs->pc = greg[GREG_NIP] & ~UINT32_C(3);
    regs->ctr = greg[GREG_CTR];
    regs->lr = greg[GREG_LINK];
    core_xer_set(regs, greg[GREG_XER]);
    core_cr_set(regs, greg[GREG_CCR]);
    for (size_t f = 0; f < 32; f++) {
        regs->fpr[f] = get64(mcontext + MCONTEXT_FREGS + 8 * f);
        if (greg[GREG_MARK] == FP2_MARK) regs->fpr2[f] = get64(mcontext + MCONTEXT_VREGS + 8 * f);
    }
    regs->fpscr = mem_host_get32(mcontext + MCONTEXT_FPSCR);
    regs->reserved = false;
    return true;
}

/* ---- stacks ---- */

static bool on_altstack(const struct os_task *task)
{
    uint32_t sp = task->regs.gpr[1];
    if (task->altstack_flags & SS_AUTODISARM) return false;
    return sp > task->altstack && sp - task->altstack <= task->altstack_size;
}

uint32_t os_altstack_flags(const struct os_task *task)
{
    if (!task->altstack_size) return SS_DISABLE;
    return (on_altstack(task) ? SS_ONSTACK : 0) | (task->altstack_flags & SS_AUTODISARM);
}

static void put_altstack(uint8_t *host, const struct os_task *task)
{
    mem_host_put32(host, task->altstack);
    mem_host_put32(host + 4, os_altstack_flags(task));
    mem_host_put32(host + 8, task->altstack_size);
}

static int64_t set_altstack(struct os_task *task, const uint8_t *host)
{
    uint32_t sp = mem_host_get32(host), flags = mem_host_get32(host + 4),
             size = mem_host_get32(host + 8);
    uint32_t mode = flags & ~SS_AUTODISARM;
    if (on_altstack(task)) return -EPERM;
    if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE) return -EINVAL;
    if (mode != SS_DISABLE && size < MINSIGSTKSZ) return -ENOMEM;
    task->altstack = mode == SS_DISABLE ? 0 : sp;
    task->altstack_size = mode == SS_DISABLE ? 0 : size;
    task->altstack_flags = flags;
    return 0;
}

int64_t sys_sigaltstack(struct os_call *call)
{
    uint8_t old[12];
    put_altstack(old, call->task);
    if (call->arg[0]) {
        const uint8_t *host = mem_readable(call->mem, call->arg[0], sizeof old);
        if (!host) return -EFAULT;
        int64_t wrong = set_altstack(call->task, host);
        if (wrong) return wrong;
    }
    if (!call->arg[1]) return 0;
    void *host = mem_writable(call->mem, call->arg[1], sizeof old);
    if (!host) return -EFAULT;
    memcpy(host, old, sizeof old);
    return 0;
}

/* ---- frames ---- */

static void put_mask(uint8_t *host, uint64_t mask)
{
    mem_host_put32(host, (uint32_t)mask);
    mem_host_put32(host + 4, (uint32_t)(mask >> 32));
}

static void fill_rt(struct os_task *task, uint8_t *host, uint32_t frame, uint64_t old)
{
    uint8_t *ucontext = host + RT_UCONTEXT;
    mem_host_put32(ucontext + UCONTEXT_REGS, frame + RT_UCONTEXT + UCONTEXT_MCONTEXT);
    put_altstack(ucontext + UCONTEXT_STACK, task);
    put_mask(ucontext + UCONTEXT_MASK, old);
    save_registers(ucontext + UCONTEXT_MCONTEXT, task);
}

static void fill_plain(const struct os_task *task, uint8_t *host, uint32_t frame, int signal,
                       uint32_t handler, uint64_t old)
{
    mem_host_put32(host + SIGCONTEXT_MASK_HIGH, (uint32_t)(old >> 32));
    mem_host_put32(host + SIGCONTEXT_SIGNAL, (uint32_t)signal);
    mem_host_put32(host + SIGCONTEXT_HANDLER, handler);
    mem_host_put32(host + SIGCONTEXT_MASK, (uint32_t)old);
    mem_host_put32(host + SIGCONTEXT_REGS, frame + SIGCONTEXT_SIZE);
    save_registers(host + SIGCONTEXT_SIZE, task);
}

/* A block that a watch has cut goes on behind the handler with the rest of its schedule (struct
 * core_cut). Of handlers on top of more than OS_CUTS others the oldest are forgotten: the rest of
 * their blocks is then scheduled by itself. */
static void keep_cut(struct os_task *task, uint32_t frame)
{
    struct core_cut cut = task->regs.cut;
    for (unsigned i = 0; i < OS_CUTS; i++)
        if (task->cuts[i].frame == frame) task->cuts[i].frame = 0; /* left by a jump */
    task->regs.cut = (struct core_cut){0, 0};
    if (!cut.done) return;
    task->cuts[task->next_cut++ % OS_CUTS] = (struct os_cut){frame, cut};
}

static void restore_cut(struct os_task *task, uint32_t frame)
{
    for (unsigned i = 0; i < OS_CUTS; i++) {
        if (task->cuts[i].frame != frame) continue;
        task->cuts[i].frame = 0;
        task->regs.cut = task->cuts[i].cut; /* good only if the pc is still there */
    }
}

bool os_frame_push(struct os_task *task, const struct os_sigaction *action,
                   const struct os_siginfo *info, uint64_t old)
{
    struct mem *mem = task->process->space->mem;
    struct core_regs *regs = &task->regs;
    bool rt = action->flags & SA_SIGINFO;
    uint32_t sp = regs->gpr[1];
    if (action->flags & SA_ONSTACK && task->altstack_size && !on_altstack(task))
        sp = task->altstack + task->altstack_size;
    uint32_t size = rt ? RT_SIZE : PLAIN_SIZE, below = rt ? RT_CALLER_FRAME : CALLER_FRAME;
    uint32_t frame = (sp - size) & ~UINT32_C(15);
    uint8_t *host = mem_writable(mem, frame - below, size + below);
    if (!host) return false;
    memset(host, 0, size + below);
    mem_host_put32(host, regs->gpr[1]);
    host += below;
    if (rt) {
        fill_rt(task, host, frame, old);
        os_put_siginfo(mem, frame, info);
        regs->gpr[4] = frame;
        regs->gpr[5] = frame + RT_UCONTEXT;
        regs->gpr[6] = frame;
    } else {
        fill_plain(task, host, frame, info->signal, action->handler, old);
        regs->gpr[4] = frame;
    }
    keep_cut(task, frame);
    if (task->altstack_flags & SS_AUTODISARM)
        task->altstack = task->altstack_size = task->altstack_flags = 0;
    regs->gpr[1] = frame - below;
    regs->gpr[3] = (uint32_t)info->signal;
    regs->lr = OS_TRAMPOLINE + (rt ? TRAMPOLINE_RT : 0);
    regs->pc = action->handler & ~UINT32_C(3);
    regs->fpscr = 0;
    task->fault_trap = task->fault_address = 0;
    return true;
}

/* ---- the way back ---- */

static int64_t bad_frame(struct os_task *task)
{
    struct os_siginfo info = {.signal = OS_SIGSEGV, .code = OS_SI_KERNEL};
    os_signal_force(task, &info);
    return OS_RETURNED;
}

static void set_blocked(struct os_task *task, uint64_t mask)
{
    task->blocked = mask & ~(os_signal_bit(OS_SIGKILL) | os_signal_bit(OS_SIGSTOP));
}

static bool set_context(struct os_task *task, uint32_t ucontext, bool from_signal)
{
    const struct mem *mem = task->process->space->mem;
    uint64_t mask;
    uint32_t registers;
    if (!os_get_sigset(mem, ucontext + UCONTEXT_MASK, &mask) ||
        !mem_get32(mem, ucontext + UCONTEXT_REGS, &registers) ||
        !restore_registers(task, registers, from_signal))
        return false;
    set_blocked(task, mask);
    return true;
}

int64_t sys_rt_sigreturn(struct os_call *call)
{
    struct os_task *task = call->task;
    uint32_t ucontext = task->regs.gpr[1] + RT_CALLER_FRAME + RT_UCONTEXT;
    if (!set_context(task, ucontext, true)) return bad_frame(task);
    const uint8_t *stack = mem_readable(call->mem, ucontext + UCONTEXT_STACK, 12);
    if (stack) (void)set_altstack(task, stack);
    restore_cut(task, ucontext - RT_UCONTEXT);
    return OS_RETURNED;
}

int64_t sys_sigreturn(struct os_call *call)
{
    struct os_task *task = call->task;
    uint32_t frame = task->regs.gpr[1] + CALLER_FRAME;
    uint32_t low, high;
    if (!mem_get32(call->mem, frame + SIGCONTEXT_MASK, &low) ||
        !mem_get32(call->mem, frame + SIGCONTEXT_MASK_HIGH, &high) ||
        !restore_registers(task, frame + SIGCONTEXT_SIZE, true))
        return bad_frame(task);
    set_blocked(task, os_pair(high, low));
    restore_cut(task, frame);
    return OS_RETURNED;
}

/* swapcontext(old, new, size): getcontext and setcontext in one; a context that is gone back to
 * finds r3 = 0. */
int64_t sys_swapcontext(struct os_call *call)
{
    struct os_task *task = call->task;
    if (call->arg[2] < UCONTEXT_SIZE) return -EINVAL;
    if (call->arg[0]) {
        uint32_t mcontext = (call->arg[0] + UCONTEXT_MCONTEXT) & ~UINT32_C(15);
        uint8_t *host = mem_writable(call->mem, call->arg[0], UCONTEXT_SIZE);
        if (!host) return -EFAULT;
        struct core_regs regs = task->regs;
        task->regs.gpr[3] = 0;
        task->regs.cr[0] &= (uint8_t)~CR_SO;
        save_registers(host + (mcontext - call->arg[0]), task);
        task->regs = regs;
        put_mask(host + UCONTEXT_MASK, task->blocked);
        mem_host_put32(host + UCONTEXT_REGS, mcontext);
    }
    if (!call->arg[1]) return 0;
    return set_context(task, call->arg[1], false) ? OS_RETURNED : bad_frame(task);
}
