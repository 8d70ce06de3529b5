/* Lockstep: compares translated code with the interpreter while a program runs.
 *
 * Each stretch of execution is run twice: in a forked copy of this process by the interpreter,
 * which leaves its state in shared memory, and here by translated code. Compared are registers,
 * FPSCR, time, the reason of the stop, the contents of writable memory, and every signal of the
 * core and of the memory hierarchy. A second copy waits at the start of the stretch. When the
 * results differ, it bisects to the first block behind which they differ and reports it.
 *
 * Limit: memory that the guest shares between processes would be written twice, so programs that
 * use it cannot be compared.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/jit/jit_impl.h"

enum { SIGNALS_MAX = 8192 };

struct state {
    struct core_regs regs;
    struct core_exit exit;
    uint64_t cycles, crossings, memory;
    uint64_t signals[CORE_SIGNAL_COUNT];
    unsigned cache_count;
    uint64_t cache_signals[SIGNALS_MAX][2];
};

/* --- Capturing ------------------------------------------------------------------------------- */

static uint64_t hash_memory(const struct mem *mem)
{
    uint64_t hash = 0;
    for (uint32_t page = 0; page < MEM_PAGES; page++) {
        if (!(mem_granted(mem, page * MEM_PAGE) & MEM_WRITE)) continue;
        const uint64_t *words = (const uint64_t *)mem_host(mem, page * MEM_PAGE);
        for (unsigned i = 0; i < MEM_PAGE / 8; i++)
            hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 47);
        hash ^= page;
    }
    return hash;
}

static void capture(struct core *core, const struct core_exit *exit, struct state *state)
{
    const struct cache *cache = core->cores->options.cache;
    fp_sync(&core->fp);
    state->regs = *core->regs;
    state->regs.fpscr = core->fp.fpscr;
    state->exit = *exit;
    state->cycles = core->cycles;
    /* Free memory has no lines: translated code does not see the crossings. */
    state->crossings = cache_is_free(core->cores->options.cache) ? 0 : core->crossings;
    state->memory = hash_memory(core->mem);
    core_signal_counts(core, state->signals);
    state->cache_count = 0;
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t i = 0; i < cache_signal_instances(cache, (enum cache_signal_id)id); i++) {
            if (state->cache_count == SIGNALS_MAX) return;
            uint64_t *counts = state->cache_signals[state->cache_count++];
            cache_signal_count(cache, (struct cache_signal){(enum cache_signal_id)id, i},
                               &counts[0], &counts[1]);
        }
}

/* --- Comparing ------------------------------------------------------------------------------- */

typedef void differ(void *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void ignore(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

static void report_line(void *context, const char *format, ...)
{
    const struct lockstep *lockstep = context;
    char line[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (lockstep->report) lockstep->report(lockstep->context, line);
}

static void name_signal(const struct cache *cache, unsigned index, char *name)
{
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t i = 0; i < cache_signal_instances(cache, (enum cache_signal_id)id); i++)
            if (!index--) {
                cache_signal_name((struct cache_signal){(enum cache_signal_id)id, i}, name);
                return;
            }
}

#define COMPARE(what, a, b)                                                                        \
    do {                                                                                           \
        uint64_t interpreted = (uint64_t)(a), translated = (uint64_t)(b);                          \
        if (interpreted == translated) break;                                                      \
        report(context, "  %s: interpreted %llx, translated %llx", what,                           \
               (unsigned long long)interpreted, (unsigned long long)translated);                   \
        same = false;                                                                              \
    } while (0)

static bool compare_regs(const struct core_regs *a, const struct core_regs *b, differ *report,
                         void *context)
{
    bool same = true;
    char name[16];
    COMPARE("pc", a->pc, b->pc);
    for (unsigned i = 0; i < 32; i++) {
        (void)snprintf(name, sizeof name, "r%u", i);
        COMPARE(name, a->gpr[i], b->gpr[i]);
        (void)snprintf(name, sizeof name, "f%u", i);
        COMPARE(name, a->fpr[i], b->fpr[i]);
        (void)snprintf(name, sizeof name, "f%u secondary", i);
        COMPARE(name, a->fpr2[i], b->fpr2[i]);
    }
    COMPARE("cr", core_cr_get(a), core_cr_get(b));
    COMPARE("xer", core_xer_get(a), core_xer_get(b));
    COMPARE("lr", a->lr, b->lr);
    COMPARE("ctr", a->ctr, b->ctr);
    COMPARE("fpscr", a->fpscr, b->fpscr);
    COMPARE("reservation", a->reserved, b->reserved);
    return same;
}

static bool compare(const struct core *core, const struct state *a, const struct state *b,
                    differ *report, void *context)
{
    bool same = compare_regs(&a->regs, &b->regs, report, context);
    char name[CACHE_NAME];
    COMPARE("why it stopped", a->exit.reason, b->exit.reason);
    COMPARE("address of the stop", a->exit.address, b->exit.address);
    COMPARE("cycles", a->cycles, b->cycles);
    COMPARE("line crossings", a->crossings, b->crossings);
    COMPARE("memory (hash)", a->memory, b->memory);
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++) {
        (void)snprintf(name, sizeof name, "core signal %u", i);
        COMPARE(name, a->signals[i], b->signals[i]);
    }
    for (unsigned i = 0; i < a->cache_count && i < b->cache_count; i++) {
        if (memcmp(a->cache_signals[i], b->cache_signals[i], sizeof a->cache_signals[i]) == 0)
            continue;
        name_signal(core->cores->options.cache, i, name);
        COMPARE(name, a->cache_signals[i][0], b->cache_signals[i][0]);
        COMPARE(name, a->cache_signals[i][1], b->cache_signals[i][1]);
    }
    return same;
}

/* --- Copies ---------------------------------------------------------------------------------- */

static void *shared(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* A copy that runs to the limit, leaves its state and ends. */
static pid_t copy(const struct lockstep *lockstep, struct core *core, uint64_t limit,
                  bool interpret, struct state *state)
{
    pid_t pid = fork();
    if (pid) return pid;
    struct core_exit exit = {.reason = CORE_BUDGET};
    *lockstep->frozen = true;
    if (interpret) core->cores->options.translator = NULL;
    core_run_on(core, limit, &exit);
    capture(core, &exit, state);
    _exit(0); /* allowed: a copy of the process */
}

static bool ended_well(pid_t pid)
{
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Whether both engines agree after `cycles`; leaves both states. */
static bool agree(const struct lockstep *lockstep, struct core *core, uint64_t cycles,
                  struct state *states)
{
    for (unsigned i = 0; i < 2; i++)
        if (!ended_well(copy(lockstep, core, core->cycles + cycles, i == 0, &states[i])))
            return false;
    return compare(core, &states[0], &states[1], ignore, NULL);
}

static void show_code(const struct lockstep *lockstep, const struct core *core, uint32_t pc)
{
    char text[ISA_TEXT_MAX];
    for (unsigned i = 0; i < BLOCK_OPS; i++, pc += 4) {
        uint32_t word;
        if (!mem_get32(core->mem, pc, &word)) return;
        isa_disassemble_simplified(word, pc, text, sizeof text);
        report_line((void *)lockstep, "  %08x  %s", pc, text);
        enum isa_id id = isa_decode(word);
        if (id == ISA_ILLEGAL || isa_row(id)->flags & ISA_ENDS_BLOCK) return;
    }
}

/* In the copy at the start of the stretch: the shortest stretch behind which they differ. */
static void look_closer(const struct lockstep *lockstep, struct core *core, uint64_t cycles)
{
    struct state *states = shared(2 * sizeof *states);
    uint64_t same = 0, other = cycles;
    uint32_t pc = core->regs->pc;
    if (!states) return;
    while (other - same > 1) {
        uint64_t middle = same + (other - same) / 2;
        if (agree(lockstep, core, middle, states)) {
            same = middle;
            pc = states[0].regs.pc;
        } else {
            other = middle;
        }
    }
    report_line((void *)lockstep,
                "translated code differs from the interpreter behind the block at pc 0x%08x:", pc);
    show_code(lockstep, core, pc);
    (void)agree(lockstep, core, other, states);
    if (compare(core, &states[0], &states[1], report_line, (void *)lockstep))
        report_line((void *)lockstep, "  (not again: it depends on what was translated when)");
}

bool lockstep_run(const struct lockstep *lockstep, struct core *core, uint64_t limit,
                  struct core_exit *exit)
{
    struct state *states = shared(2 * sizeof *states);
    uint64_t cycles = limit - core->cycles;
    int wake[2];
    if (!states || pipe(wake)) return false;
    pid_t spare = fork();
    if (!spare) {
        char go;
        (void)close(wake[1]);
        *lockstep->frozen = true;
        if (read(wake[0], &go, 1) == 1) look_closer(lockstep, core, cycles);
        _exit(0); /* allowed: a copy of the process */
    }
    (void)close(wake[0]);
    pid_t other = copy(lockstep, core, limit, true, &states[0]);
    core_run_on(core, limit, exit);
    capture(core, exit, &states[1]);
    bool same = ended_well(other) && compare(core, &states[0], &states[1], ignore, NULL);
    if (!same) {
        if (write(wake[1], "!", 1) != 1)
            report_line((void *)lockstep, "translated code differs from the interpreter");
    }
    (void)close(wake[1]);
    (void)waitpid(spare, NULL, 0);
    (void)munmap(states, 2 * sizeof *states);
    return same;
}
