/* Recording: what every call path did, exactly, from calls and returns as cores execute them.
 *
 * A path is a function and the path that called it. While a core runs in a path, the execution
 * count of every block also goes to the path's own array (blocks are numbered within their
 * function). Time and the memory hierarchy's counts are attributed to it when the core leaves it. A
 * run that is not recorded has none of this: recording is a variant of the interpreter and of
 * translated code.
 *
 * Which path a core is in: a branch that links, to anywhere but behind itself, is a call and makes
 * a frame with its return address and stack pointer; a branch to LR that fits the top frame is a
 * return. Everything else that leads to another function is found when its first block is entered:
 *   - the handler of a signal has returned, and the interrupted path goes on;
 *   - a jump to the middle of a function that has called, with its stack pointer: longjmp,
 * exceptions; frames go;
 *   - a jump to anywhere else: a tail call, the function takes the other's place, unless that has a
 * role, whose work this is. Functions are what the caller's symbols say; where there are none, what
 * a call leads to.
 *
 * Functions that a thread is started with, or a team of threads, are below the call that started
 * them (core_record_starts.c).
 *
 * Each thread has a tree for each core it ran on. Paths deeper than the limit are kept side by side
 * at the limit.
 */
#ifndef CORE_RECORD_H
#define CORE_RECORD_H

#include "machine/cache/cache.h"
#include "machine/core/core.h"

struct weight;

/* A block of a function, kept when the block is long gone. */
struct record_block {
    uint32_t pc;
    uint16_t count,
        weight_count; /* a part of a block has no weights: what it raised is in `folded` */
    const uint32_t *words;
    struct weight *weights;
};

enum record_role {
    RECORD_PLAIN,
    RECORD_CONSTRUCT, /* of a language: a path for each place where the program has it */
    RECORD_FORKS,  /* such a one, with a function for a team of threads: r3, and its argument in r4
                    */
    RECORD_CREATES /* a thread, with a function for it in r5 and its argument in r6 */
};

struct record_function {
    const void *symbol; /* from record_options.function */
    enum record_role role;
    uint32_t low, high;             /* its addresses; equal: unknown */
    uint32_t address;               /* where it begins in its file, if low and high are known */
    uint8_t call_id;                /* that record_options.call_id returned */
    bool stub;                      /* of a procedure linkage table, */
    struct record_function *callee; /* and where it led last */
    struct record_block *blocks;
    size_t block_count, block_capacity;
    struct record_function *next; /* with the same hash */
};

enum record_kind {
    RECORD_ROOT,   /* of a program */
    RECORD_CALL,   /* a function */
    RECORD_SIGNAL, /* between the interrupted path and the handler; the return trampoline counts
                      here */
    RECORD_REGION, /* of the user's, executing nothing itself */
    RECORD_INSIDE  /* the function that is in a region */
};

/* Where a path's function is called: the instruction, and the function that it is in. */
struct record_site {
    struct record_site *next;
    const struct record_function *caller;
    uint32_t at;
    uint64_t calls;
};

/* What a path did while one of several sets of counters was on (a turn); without --rotate, all that
 * it did. */
struct record_counts {
    uint64_t cycles, crossings;
    uint64_t *counts; /* per block of the function */
    size_t capacity;
    uint64_t *folded; /* signals of parts of blocks, by enum core_signal; NULL: none */
    struct cache_attribution attribution;
};

struct record_path {
    struct record_path *parent, *child, *sibling;
    struct record_function *function; /* one without code for roots and regions */
    const void *symbol;               /* the function's; of others their own */
    struct record_thread *thread;
    enum record_kind kind;
    unsigned core, depth, number;
    uint32_t at; /* the only place where it is called, for paths that are split by it; else 0 */
    bool start;  /* the start function of a thread that another one created */
    struct record_site *sites; /* where it was called */
    uint64_t calls;
    unsigned turn;            /* that `now` is of */
    struct record_counts now; /* what is counted goes here, */
    struct record_counts
        *other; /* and here, by turn, went what was counted in others; NULL: nothing */
};

struct record_frame {
    struct record_path *caller;
    struct record_path *region; /* NULL: a call */
    uint32_t back, sp;          /* where it returns to, and with which r1 */
};

/* A call that a listener is notified of. Of nested calls, the outermost. */
enum { RECORD_ARGUMENTS = 3 };
struct record_call {
    uint8_t id;    /* the function's call_id; 0: there is no such call */
    size_t frame;  /* of the thread: it is over when there are fewer */
    uint32_t back; /* where it returns to */
    uint32_t argument[RECORD_ARGUMENTS];
    const struct record_path *caller;
    struct mem *mem;
};

struct record_thread {
    int pid, tid;
    struct record_thread *next;
    struct mem *mem;
    struct record_path *path; /* when no core has it */
    struct record_path *roots;
    unsigned core;
    struct record_frame *frames;
    size_t frame_count, frame_capacity;
    struct record_call call; /* that has not returned */
};

struct record_options {
    struct cache *cache;
    bool light; /* paths are followed, the hierarchy's counts are not attributed to them */
    unsigned depth;
    bool by_site;   /* a path for each place where a function is called */
    unsigned turns; /* sets of counters that take turns; 0: one that is always on */
    void *context;
    /* The symbol at pc in an address space, where it begins and ends there, and where it begins in
     * its file; NULL: there is none. */
    const void *(*function)(void *context, struct mem *mem, uint32_t pc, uint32_t *low,
                            uint32_t *high, uint32_t *address);
    /* A symbol for code that has none, at its first instruction; and for the program in an address
     * space. */
    const void *(*unnamed)(void *context, struct mem *mem, uint32_t pc);
    const void *(*program)(void *context, struct mem *mem);
    /* Whether calls of a function are reported: 0, or the id that they get. NULL: never. `called`
     * is called before the function's first instruction, `returned` if it returns to its caller. */
    uint8_t (*call_id)(void *context, const void *symbol);
    void (*called)(void *context, const struct record_call *call);
    void (*returned)(void *context, const struct record_call *call, uint32_t result);
    enum record_role (*role)(void *context, const void *symbol);
};

struct record *record_new(const struct record_options *options);
void record_free(struct record *record);

/* A core runs this thread from now on. */
void record_switch_thread(struct cores *cores, unsigned core, int pid, int tid);
/* A thread begins where another one is: fork. (Others begin at a root.) */
void record_fork_thread(struct cores *cores, int from, int pid, int tid);
/* A thread's registers have been set to run the handler of a signal. */
void record_signal(struct cores *cores, int tid, const struct core_regs *regs, struct mem *mem,
                   const void *symbol);
/* The thread on a core enters or leaves a region of the user's; `levels` functions further up than
 * where it is. False: there is no such region or no such level. */
bool record_region(struct cores *cores, unsigned core, bool begin, const void *symbol,
                   unsigned levels);
/* Which function runs `levels` further up: its symbol, NULL for none. */
const void *record_function_up(struct cores *cores, unsigned core, unsigned levels);

/* The next turn begins on all cores, none of which is running. */
void record_turn_next(struct cores *cores);

/* --- When all is over ------------------------------------------------------------------------ */

/* All paths, parents before children, in the order in which they were first taken. */
struct record_path *const *record_paths(const struct record *record, size_t *count);
const struct cache_attributor *
record_attributor(const struct record *record); /* of the paths' attributions */
/* All functions that have blocks, each called back once, in no order. */
void record_each_function(const struct record *record,
                          void (*each)(void *context, const struct record_function *f),
                          void *context);
/* What the path did in a turn, from 0 on; NULL: nothing. */
const struct record_counts *record_path_counts(const struct record *record,
                                               const struct record_path *path, unsigned turn);
unsigned record_turns(const struct record *record); /* at least 1 */
/* Adds what the first instructions of a block raise, but for l1i.access, to
 * counts[CORE_SIGNAL_COUNT]; returns the cycles in which they issue. */
uint32_t record_block_weigh(const struct record_block *block, unsigned count, uint64_t *counts);
/* Adds what instructions raised there, to counts[CORE_SIGNAL_COUNT]. */
void record_path_signals(const struct record_path *path, const struct record_counts *ledger,
                         uint64_t *counts);

#endif
