/* Processor cores: what the architecture says they are, and how they are run.
 *
 * The cores of a node come as one group (struct cores), since they share what was decoded of each
 * address space. A core executes the registers it is given: `regs` belongs to a thread, and a task
 * switch is one pointer change. It stops for one reason at a time (struct core_exit), with the
 * registers exact: pc is the instruction that stopped (for CORE_SYSCALL and CORE_CALLTHRU the
 * one after it), and nothing of that instruction has happened. (After CORE_FP it has, but for the
 * results that the enabled exception suppresses.) What to do about it is the operating system's
 * business (src/machine/os).
 *
 * Counting: what a block of instructions does is known when it is decoded. A core keeps one
 * execution count per block and a block a list of weights; core_signal_counts adds them up.
 *
 * Terms: docs/glossary.md
 */
#ifndef CORE_H
#define CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/mem/mem.h"

/* Bits of a CR field. */
enum { CR_LT = 8, CR_GT = 4, CR_EQ = 2, CR_SO = 1 };

/* Bits of the MSR. MSR_PR: problem state, in which supervisor instructions are not executed but
 * raise CORE_PRIVILEGED; looked up when one executes. */
enum {
    MSR_WE = 0x40000,
    MSR_CE = 0x20000,
    MSR_EE = 0x8000,
    MSR_PR = 0x4000,
    MSR_FP = 0x2000,
    MSR_ME = 0x1000,
    MSR_FE0 = 0x0800,
    MSR_DWE = 0x0400,
    MSR_DE = 0x0200,
    MSR_FE1 = 0x0100,
    MSR_IS = 0x0020,
    MSR_DS = 0x0010
};

/* A block that was stopped before instruction `done` less CORE_CUT of it; 0: none. The rest takes
 * what is left of the block's schedule, and no fetch. Valid while pc is there. */
#define CORE_CUT (UINT32_C(1) << 31)
struct core_cut {
    uint32_t block, done;
};

/* The architected registers of a thread. */
struct core_regs {
    uint32_t gpr[32];
    uint32_t pc, lr, ctr;
    uint8_t cr[8]; /* field 0 first, four bits each */
    uint8_t xer_so, xer_ov, xer_ca, xer_count;
    uint64_t fpr[32];  /* primary: double bit patterns */
    uint64_t fpr2[32]; /* secondary (FP2) */
    uint32_t fpscr;
    uint32_t msr; /* MSR_PR is set in user mode */
    uint32_t usprg0;
    uint32_t reserve_address, reserve_value; /* lwarx */
    uint32_t reserved; /* 0 or 1. There is no padding: registers are compared as bytes */
    struct core_cut cut;
};
_Static_assert(sizeof(struct core_regs) ==
                   offsetof(struct core_regs, cut) + sizeof(struct core_cut),
               "struct core_regs has no padding");

uint32_t core_cr_get(
    const struct core_regs *regs); /* all eight fields, field 0 in the most significant bits */
void core_cr_set(struct core_regs *regs, uint32_t cr);
uint32_t core_xer_get(const struct core_regs *regs);
void core_xer_set(struct core_regs *regs, uint32_t xer);

enum core_reason {
    CORE_BUDGET,     /* the budget is used up */
    CORE_SYSCALL,    /* sc */
    CORE_CALLTHRU,   /* the reserved instruction: a service of the simulator */
    CORE_ILLEGAL,    /* no such instruction on this machine */
    CORE_PRIVILEGED, /* a supervisor instruction in user mode */
    CORE_TRAP,       /* tw, twi */
    CORE_LOAD,       /* data access without the right; `address` */
    CORE_STORE,
    CORE_FETCH,     /* instruction fetch without the right */
    CORE_ALIGNMENT, /* an access that hardware does not do unaligned: lwarx, stwcx., quadword FP2 */
    CORE_FP,        /* an enabled floating-point exception */
    CORE_WATCH,     /* a watched sum was reached, by the instruction before pc */
    CORE_ORDER      /* other cores see the access, and its time is not before the core's limit */
};

struct core_exit {
    enum core_reason reason;
    uint32_t address; /* of the access */
    bool mapped;      /* the page exists but lacks the right (SEGV_ACCERR, not SEGV_MAPERR) */
};

struct cores;
struct core;

struct cache;
struct record_path;

/* An instruction that a core has completed: what a trace is made of. */
struct core_step {
    uint64_t cycle; /* in which it issued */
    uint32_t pc, word;
    uint32_t address, size; /* of its data access; size 0 without one */
    bool store,
        manages; /* what the access is: a store, or a cache instruction, whose size is a line's */
    const struct record_path *path; /* that it is in; NULL unless call paths are recorded */
};

/* The listener of a trace: notified of every instruction while `on`. */
struct core_trace {
    void (*step)(void *context, unsigned core, const struct core_step *step);
    void *context;
    bool on;
};

/* The translator of hot blocks (src/machine/jit). A translated block changes registers, memory,
 * time and counts exactly as the interpreter does. */
struct block;
struct code;
struct record;
enum core_hot {
    CORE_HOT_NOTHING, /* interpret the block */
    CORE_HOT_RAN,     /* translated code ran; go on at regs->pc */
    CORE_HOT_STOPPED  /* it did, and *exit says why the core stops */
};
struct core_translator {
    void *context;
    uint32_t entries_until_hot; /* entries of a block before `hot` is called */
    enum core_hot (*hot)(void *context, struct core *core, struct block *block, uint64_t limit,
                         struct core_exit *exit);
    void (*invalidate)(void *context, struct code *code); /* code has changed, or the space ends */
    void (*reclaim)(void *context); /* no core is inside any code: invalidated code may be freed */
    /* Runs a core instead of core_run, to compare engines; or NULL. */
    void (*run)(void *context, struct core *core, uint64_t limit, struct core_exit *exit);
};

struct core_options {
    uint32_t units;      /* which instructions exist: isa_unit_bit() of each */
    struct cache *cache; /* the memory hierarchy that loads, stores and fetches go through; NULL:
                            memory without cost */
    struct core_trace *trace; /* borrowed; NULL: never. Needs a cache. Time and counts are the same
                                 with and without. */
    const struct core_translator
        *translator; /* borrowed; NULL: none. Needs a cache, and no trace. */
    struct record
        *record; /* borrowed; NULL: call paths are not recorded (core_record.h). Needs a cache. */
};

struct cores *cores_new(unsigned count, const struct core_options *options);
void cores_free(struct cores *cores);
struct core *cores_get(struct cores *cores, unsigned number);
/* An address space ends: what was decoded of it is dropped, its counts kept. */
void cores_forget(struct cores *cores, struct mem *mem);

/* Which thread, in which address space. */
void core_switch(struct core *core, struct core_regs *regs, struct mem *mem);

/* Runs until something stops it, at least one instruction, at most until `budget` cycles have
 * passed (a little more: blocks are whole). */
struct core_exit core_run(struct core *core, uint64_t budget);

/* From cycle `limit` on, the core stops before an access that other cores see, with CORE_ORDER: it
 * waits in its block, whose count and time are those of the whole block, and core_cycles is the
 * time of the access. The next core_run continues there. Without this call the core never waits. */
void core_order(struct core *core, uint64_t limit);
/* Makes a core that waits a core that was cut there (struct core_cut): what was not done does not
 * count. Before counts of cores are read, and before its thread may do anything else. */
void core_cut_waiting(struct core *core);

/* An instruction that was done for the core from outside (a device access): it counts and takes its
 * time. */
void core_retire(struct core *core, uint32_t pc, uint32_t word, uint64_t wait);

/* The core does what takes so many cycles and raises these signals, so many times more. */
void core_repeat(struct core *core, uint64_t cycles, const uint64_t *signals, uint64_t times);
/* Something follows what it does from one instruction to the next: a watch, a trace, call paths. */
bool core_is_followed(const struct core *core);

const struct record_path *
core_path(const struct core *core);                     /* NULL unless call paths are recorded */
const struct mem *core_memory(const struct core *core); /* the address space that it has now */
/* The instruction whose access the memory hierarchy is handling; of a fetch, the first of its
 * block. */
uint32_t core_access_pc(const struct core *core);
/* The same; of a fetch, the first instruction of the line that its block executes. */
uint32_t core_access_line_pc(const struct core *core);
/* Calls back behind each access to the memory hierarchy, whose counts are right then: no miss is
 * deferred. */
void cores_notify_accesses(struct cores *cores, void (*accessed)(void *context, unsigned core),
                           void *context);
/* The trace was switched on during that instruction's access, which is no fetch: the instruction is
 * the first of the trace. */
void core_trace_begin(struct core *core);
uint64_t core_cycles(const struct core *core);           /* since the beginning */
void core_idle_until(struct core *core, uint64_t cycle); /* nothing to run: time passes */
uint64_t core_idle_cycles(const struct core *core);      /* how much of it passed so */
/* Whether `word`, about to execute, accesses data, and which: fills in all but cycle, pc and word.
 */
bool core_access(const struct core_regs *regs, uint32_t word, struct core_step *step);

/* The signals that instructions raise, and the operating system. */
enum core_signal {
#define CORE_SIGNAL(id, group, name) CORE_SIGNAL_##id,
#include "machine/core/core_signals.def"
    CORE_SIGNAL_COUNT
};
_Static_assert(CORE_SIGNAL_COUNT <= 64, "core_watch has a bit for each");

/* The operating system did this for the thread on the core, between two instructions. A watch of
 * the signal stops the core behind the next instruction. */
void core_raise(struct core *core, enum core_signal signal, uint64_t times);

/* Data accesses that touched a second line, which the memory hierarchy sees as two. */
uint64_t core_crossings(const struct core *core);

/* How far a core is from what its watch's `remaining` looks at. Nothing is reached before one of
 * these is used up:
 *   accesses  to the memory hierarchy; then `remaining` looks within the block, at counts that only
 *             memory raises
 *   mixed     accesses again, for sums that instructions raise, too: then it looks at all, behind
 *             the instruction
 *   crossings accesses that touch a second line; likewise
 *   raises    of a set of signals, together
 *   cycles    of the core */
struct core_room {
    uint64_t accesses, mixed, crossings;
    uint64_t signals, raises;
    uint64_t cycles;
};

/* Stops the core behind the instruction that reaches a sum: each is a set of signals (bit n is enum
 * core_signal n) and how many more may be raised; `left` counts down and is 0 for the sums that
 * were reached. `cycle`, unless 0, stops it behind the instruction in which the core's clock gets
 * there, or what follows it in its block when memory was slow. `remaining`, if given, looks at
 * anything else that cores do: false when it was reached. It is called whenever the room that it
 * returned last is used up; `inside`: within a block, whose instructions are all counted already,
 * so only what memory does can be looked at. Borrowed; NULL to watch nothing.
 *
 * A watch changes neither time nor counts, reached or not: blocks keep their schedules (struct
 * core_cut). */
enum { CORE_WATCHES = 256 };
struct core_watch {
    struct {
        uint64_t signals, left;
        uint64_t seen;        /* private to the core: the sum's count when `left` was right */
    } sums[CORE_WATCHES + 1]; /* behind the last one, private to the core: room.raises */
    unsigned count;
    uint64_t cycle;
    bool (*remaining)(void *context, bool inside, struct core_room *room);
    void *context;
    /* Private to the core: until cycle `safe` nothing can be reached, and `left` is as of `seen`.
     */
    uint64_t safe;
    bool lagging;
};
void core_set_watch(struct core *core, struct core_watch *watch);
/* How much an instruction raises signals of a set together, at most; two issue in a cycle. */
uint64_t core_most_raised(uint64_t signals);
/* A listener of the hierarchy wants the core to stop, as by a watch that is reached, behind the
 * instruction whose access it is notified of. Without a watch the core does not stop. */
void core_stop_behind(struct core *core);

/* How often each signal was raised: counts[CORE_SIGNAL_COUNT]. */
void core_signal_counts(struct core *core, uint64_t *counts);
/* The signal of a name ("core0.load") and its core; without a number ("core.load") the core is
 * CORE_ALL. False when cores have no such signal. */
#define CORE_ALL UINT32_MAX
bool core_signal_find(const char *name, unsigned *core, enum core_signal *signal);
const char *core_signal_name(enum core_signal signal); /* without its group: "load" */
bool core_signal_is_of_os(enum core_signal signal);    /* raised by core_raise */

#endif
