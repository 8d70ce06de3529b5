/* Inside the cores: decoded blocks, and what the interpreter works on.
 *
 * A block is straight-line code within one page, up to and including the first instruction that
 * ends it. It is decoded once: each instruction becomes a struct op with the address of the
 * interpreter's code for it, and the block gets its weights and cycles (core_schedule.c). Blocks of
 * an address space are found through a table of pages; direct branches are chained to the block
 * they led to. When a page's code changes, its blocks are invalidated: their counts are folded into
 * `folded`, and they are freed once no core is inside one.
 */
#ifndef CORE_IMPL_H
#define CORE_IMPL_H

#include "machine/cache/cache.h"
#include "machine/core/core.h"
#include "machine/core/core_record.h"
#include "machine/fp/fp_fast.h"
#include "machine/isa/isa.h"

enum {
    BLOCK_OPS = 64,
    CODE_PAGE_OPS = MEM_PAGE / 4,
    CODE_GROUP = 1024,
    CODE_GROUPS = MEM_PAGES / CODE_GROUP
};

struct op {
    const void *label;
    uint8_t t, a, b, c; /* fields RT, RA, RB, RC (bits 6-10, 11-15, 16-20, 21-25) */
    uint32_t imm;       /* immediate, mask or branch target, by the instruction; else the word */
};

struct weight {
    uint8_t signal;
    uint8_t count;
};

/* What the first `done` instructions of a block raise: kept of the last such part that ran. */
struct block_part {
    unsigned done;
    uint32_t cycles;
    uint16_t count;
    struct weight weights[CORE_SIGNAL_COUNT];
};

struct block {
    uint32_t pc, end; /* end: the address after the last instruction */
    uint32_t id;      /* index of its execution count */
    uint16_t count;   /* instructions */
    uint16_t weight_count;
    uint32_t cycles;
    struct block *next[2]; /* where it goes: not taken or falling through, taken */
    struct block *next_invalidated;
    uint32_t entries_until_hot; /* entries until the translator is called; 0: never (it wraps) */
    void *translated;           /* the translator's */
    /* In a recorded run, once it was entered: its function, and the index of its count in paths of
     * that function. */
    struct record_function *function;
    uint32_t index;
    struct weight *weights;
    struct block_part *part; /* NULL: it never stopped inside */
    uint32_t *words;         /* as decoded: memory may have changed since */
    struct op ops[];
};

/* What is decoded of one address space. */
struct code {
    struct cores *cores;
    struct mem *mem;
    void *translated;                /* the translator's */
    struct block **pages[MEM_PAGES]; /* NULL, or CODE_PAGE_OPS blocks by their first instruction */
    uint16_t decoded[CODE_GROUPS];   /* by group of pages: how many of them are not NULL */
    struct code *next;
};

/* The misses of a load (core_miss_history.c). */
enum { MISS_HISTORIES = 128, HISTORY_PASTS = 16 };
struct miss_history {
    uint32_t pc, block;   /* block: its id, as several may have the load */
    uint32_t past;        /* the last gaps between its misses, a byte each */
    uint64_t first, last; /* entries of its block at its first recorded and at its last miss */
    uint64_t surprises;   /* gaps that differ from the one after the same past before */
    uint8_t expected[HISTORY_PASTS]; /* by a hash of the past: the gap that followed */
};

/* What core_retire has found about an instruction: its weights and cycles alone. */
enum { RETIRED_BITS = 4, RETIRED_WEIGHTS = 6 };
struct retired {
    uint32_t word, cycles; /* cycles 0: none */
    uint8_t count;
    struct weight weights[RETIRED_WEIGHTS];
};

struct core {
    uint8_t fp_sure[2048]; /* for translated code: results that prove themselves (jit_impl.h) */
    struct cores *cores;
    unsigned number;
    struct core_regs *regs;
    struct mem *mem;
    struct code *code;
    const uint8_t *lines; /* the line bytes of this space (cache_lines) */
    struct cache_view *view;
    struct cache_fast *fast; /* the core's */
    uint64_t cycles;
    uint64_t crossings; /* accesses that touched a second line */
    uint64_t *counts;   /* per block id; grown by the decoder */
    uint64_t *summed; /* per block id: the part of its count that is in `folded`; as long as counts,
                         which has room for COUNTS_TOGETHER more */
    uint64_t folded[CORE_SIGNAL_COUNT]; /* of blocks, as far as `summed`, and all else */
    struct fp_state fp;
    struct core_watch *watch;
    struct core_pending *pending; /* of a core that is traced */
    uint64_t idle;                /* cycles with nothing to run */
    struct {                      /* arguments and results of helpers of translated code */
        const void *site;
        uint64_t value[3];
        uint32_t address; /* read as wide as it is written, or the host waits for the store */
        uint32_t stall; /* of a load whose listeners are not notified yet; 0 or CACHE_SLOW: none */
    } call;
    struct { /* the instruction whose access is in progress; of a fetch, the block's first */
        const struct block *block;
        const struct op *op;
        uint32_t line; /* of a fetch, its address; else 0 */
    } access;
    uint64_t limit; /* of the run: no block begins at or behind it; 0: stop */
    struct {        /* where the interpreter continues, in a block that is counted; or NULL */
        struct block *block;
        unsigned op;
    } inside;
    struct { /* the instruction before which it stops: its label is LABEL_CUT; or NULL */
        struct block *block;
        unsigned op;
        const void *label;
    } patch;
    struct core_room room;   /* as of `remaining`'s last look outside a block */
    uint64_t room_crossings; /* how many there are when room.crossings are used up */
    uint64_t room_until;     /* the cycle in which room.cycles are used up */
    uint64_t accesses_set;   /* how many the hierarchy counts down before it calls back */
    bool only_looks;        /* it stops for `remaining` to look, not because something is reached */
    bool running;           /* in core_run */
    bool stopping;          /* core_stop_behind was called, and it has not stopped yet */
    bool access_done;       /* the access of the instruction at `inside` has been done */
    bool in_translated;     /* translated code runs */
    struct core_exit *exit; /* the reason why translated code stopped, */
    bool stopped;           /* if it did */
    bool code_changed;      /* by this core's own store: it must leave its block */
    /* Of a recorded run (core_record.c): */
    struct record_path *path;     /* the call path it is in */
    uint64_t *path_counts;        /* per index of block */
    struct record_thread *thread; /* that it runs */
    uint64_t path_since, path_crossings;
    bool touched; /* the memory hierarchy was called since it came to the path */
    struct miss_history miss_histories[MISS_HISTORIES]; /* of loads in code that may be translated;
                                                           by a hash, the latest wins */
    struct retired retired[1 << RETIRED_BITS][2];       /* pairs, by a hash of the word */
};

struct cores {
    unsigned count;
    struct core_options options;
    struct core *core;
    void (*accessed)(void *context, unsigned core); /* cores_notify_accesses; or NULL */
    void *accessed_context;
    struct code *codes;
    const void *const *labels;
    struct block *invalidated; /* to be freed */
    struct block **blocks;     /* by id; NULL for invalidated */
    size_t block_count, block_capacity;
    uint32_t *free_ids; /* of invalidated blocks, to be reused */
    size_t free_count, free_capacity;
};

enum { COUNTS_TOGETHER = 16 }; /* blocks whose counts are tested for a change at once */

/* Extra entries of the interpreter's label table, after those of the ISA's rows. */
enum {
    LABEL_END = ISA_COUNT,
    LABEL_CUT,
    LABEL_SUPERVISOR, /* privileged instructions: what they do depends on MSR[PR] */
    LABEL_BC_CR,
    LABEL_BDNZ,
    LABEL_LI,
    LABEL_MR,
    LABEL_COUNT
};

/* The block that starts at pc, decoded if need be; NULL when it cannot be fetched. */
struct block *code_block(struct code *code, uint32_t pc);
struct code *code_of(struct cores *cores, struct mem *mem);
void code_free_invalidated(struct cores *cores);

/* The cycles of the load in core->access, which misses. And whether a load of the block is
 * unpredictable (core_miss_history.c). */
uint32_t core_load(struct core *core, uint32_t address, unsigned size);
bool core_is_unpredictable(const struct core *core, const struct block *block, unsigned op);

/* Adds what blocks have raised since the last time to `folded`. */
void core_fold_counts(struct core *core);
/* Takes back an entry of the block and counts its first `done` instructions instead. */
void core_count_part(struct core *core, const struct block *block, unsigned done);
/* Fills in *exit for an access without the right. */
void core_report_fault(const struct core *core, struct core_exit *exit, enum core_reason reason,
                       uint32_t address, unsigned size);

/* A block that is in no page any more. */
void block_invalidate(struct cores *cores, struct block *block);
/* --- Stopping inside a block (core_cut.c) ----------------------------------------------------- */

/* The core stops behind instruction `op` of the block, which it is executing: before the next one,
 * or at the block's end. */
void core_stop_after(struct core *core, struct block *block, unsigned op);
/* Before instruction `op` of the block, which it will come to. */
void core_stop_before(struct core *core, struct block *block, unsigned op);
/* Takes that back. Returns whether the core is there, with `done` instructions of the block done.
 */
bool core_stopped_there(struct core *core, unsigned done);
/* The core has come to the patched instruction: the first `done` of the block count, the rest is
 * left in regs->cut. */
void core_cut_block(struct core *core, struct block *block, unsigned done);
/* The core waits inside the block, before instruction `op`, which it has come to. */
void core_wait_before(struct core *core, struct block *block, unsigned op);
/* Continues a block that was cut, if regs->pc is still there: sets `inside`. */
void core_cut_resume(struct core *core);

/* Runs to the limit, with a watch or without. */
void core_run_on(struct core *core, uint64_t limit, struct core_exit *exit);
void core_run_watched(struct core *core, uint64_t limit, struct core_exit *exit);
/* The hierarchy's callback: accesses are used up. Returns whether the core has to stop. */
bool core_room_used(void *cores, unsigned number, uint32_t stall);
/* It is called behind so many accesses of the core, or behind each (cores_notify_accesses). */
void core_count_accesses(struct core *core, uint64_t accesses);
void core_watch_raised(struct core *core, enum core_signal signal, uint64_t times); /* core_raise */

/* Fills in weights and cycles. `words` are the block's instructions. */
void block_schedule(struct block *block, const uint32_t *words, struct weight *weights);
/* Adds the signals of the first `count` instructions to `counts`; returns their cycles. */
uint32_t block_weigh(const uint32_t *words, unsigned count, uint64_t *counts);
/* How many instructions of the block are done when those from `from` on have raised `left` of a set
 * of signals; 0: fewer are raised. */
unsigned block_reaches(const struct block *block, unsigned from, uint64_t signals, uint64_t left);
/* Lines of L1I in which the block lies: what CORE_SIGNAL_FETCH counts for it. */
static inline uint32_t block_lines(const struct block *block)
{
    return ((block->end - 4) >> CACHE_GRANULE_BITS) - (block->pc >> CACHE_GRANULE_BITS) + 1;
}

/* The cycle of the block in which each of its instructions issues. */
void block_issue(const struct block *block, uint32_t *cycles);

/* The interpreter without and with a memory hierarchy, with a trace, recording, and with both; with
 * a NULL core it returns its label table. Labels are of one of the five, so a core stays with one.
 */
const void *const *core_interpret(struct core *core, uint64_t limit, struct core_exit *exit);
const void *const *core_interpret_cached(struct core *core, uint64_t limit, struct core_exit *exit);
const void *const *core_interpret_traced(struct core *core, uint64_t limit, struct core_exit *exit);
const void *const *core_interpret_recorded(struct core *core, uint64_t limit,
                                           struct core_exit *exit);
const void *const *core_interpret_followed(struct core *core, uint64_t limit,
                                           struct core_exit *exit);
/* The one that a group of cores uses. */
typedef const void *const *(*core_interpreter)(struct core *core, uint64_t limit,
                                               struct core_exit *exit);
static inline core_interpreter core_interpreter_of(const struct core_options *options)
{
    if (options->trace && options->cache)
        return options->record ? core_interpret_followed : core_interpret_traced;
    if (options->record) return core_interpret_recorded;
    return options->cache ? core_interpret_cached : core_interpret;
}

/* --- Recording (core_record.c) --------------------------------------------------------------- */

/* A branch that links, or one to LR, is about to go to `to`; regs->lr is set already. core->cycles
 * must be right. */
void core_record_call(struct core *core, uint32_t to);
void core_record_return(struct core *core, uint32_t to);
/* A block is entered that is not of the path's function, or was never entered before. */
void core_record_enter(struct core *core, struct block *block);
void core_record_begin(struct core *core); /* before and */
void core_record_end(struct core *core);   /* behind core_run */
/* Signals that are raised besides whole blocks, by these instructions. */
uint64_t *core_record_fold(struct core *core, uint32_t pc, const uint32_t *words, unsigned count);

/* --- Tracing (core_trace.c) ------------------------------------------------------------------ */

/* The instruction that a core is about to do; the trace gets it when it is done. */
struct core_pending {
    struct core_step step;
    bool valid;
    const struct block *block; /* whose issue cycles these are, until core_trace_end */
    uint32_t issued[BLOCK_OPS];
};
void core_trace_op(struct core *core, const struct block *block,
                   unsigned op);          /* op: its index, or behind the last */
void core_trace_fault(struct core *core); /* it will not be done */
void core_trace_end(struct core *core);   /* the core stops behind it */

#endif
