/* Inside the cores: decoded blocks, and what the interpreter works on.
 *
 * A block is straight-line code within one page, up to and including the first instruction that ends it. It is decoded
 * once: each instruction becomes a struct op with the address of the interpreter's code for it, and the block gets its
 * weights and cycles (core_schedule.c). Blocks of an address space are found through a table of pages; direct branches
 * remember the block they led to. When a page's code changes, its blocks are buried: their counts are folded into
 * `folded`, and they are freed once no core is inside one.
 */
#ifndef CORE_IMPL_H
#define CORE_IMPL_H

#include "cache/cache.h"
#include "core/core.h"
#include "fp/fp_fast.h"
#include "isa/isa.h"

enum { BLOCK_OPS = 64, CODE_PAGE_OPS = MEM_PAGE / 4 };

struct op {
    const void *label;
    uint8_t t, a, b, c; /* fields RT, RA, RB, RC (bits 6-10, 11-15, 16-20, 21-25) */
    uint32_t imm;       /* immediate, mask or branch target, by the instruction; else the word */
};

struct weight {
    uint8_t signal;
    uint8_t count;
};

struct block {
    uint32_t pc, end; /* end: the address after the last instruction */
    uint32_t id;      /* index of its execution count */
    uint16_t count;   /* instructions */
    uint16_t weight_count;
    uint32_t cycles;
    struct block *next[2]; /* where it goes: not taken or falling through, taken */
    struct block *buried;  /* list of those to be freed */
    struct weight *weights;
    uint32_t *words; /* as decoded: memory may have changed since */
    struct op ops[];
};

/* What is decoded of one address space. */
struct code {
    struct cores *cores;
    struct mem *mem;
    unsigned space;                  /* its number in the memory hierarchy */
    struct block **pages[MEM_PAGES]; /* NULL, or CODE_PAGE_OPS blocks by their first instruction */
    struct code *next;
};

struct core {
    struct cores *cores;
    unsigned number;
    struct core_regs *regs;
    struct mem *mem;
    struct code *code;
    const uint8_t *lines; /* which accesses are free of cost in this space (cache_lines) */
    uint64_t cycles;
    uint64_t crossings; /* accesses that touched a second line */
    uint64_t *counts;   /* per block id; grown by the decoder */
    uint64_t folded[CORE_SIGNAL_COUNT];
    struct fp_state fp;
    struct core_watch *watch;
    bool code_changed; /* by this core's own store: it must leave its block */
};

struct cores {
    unsigned count;
    struct core_options options;
    struct core *core;
    struct code *codes;
    const void *const *labels;
    struct block *graveyard;
    struct block **blocks; /* by id; NULL for buried */
    size_t block_count, block_capacity;
    uint32_t *free_ids; /* of buried blocks, to be given out again */
    size_t free_count, free_capacity;
};

/* Extra entries of the interpreter's label table, after those of the ISA's rows. */
enum { LABEL_END = ISA_COUNT, LABEL_PRIVILEGED, LABEL_BC_CR, LABEL_BDNZ, LABEL_LI, LABEL_MR, LABEL_COUNT };

/* The block that starts at pc, decoded if need be; NULL when it cannot be fetched. */
struct block *code_block(struct code *code, uint32_t pc);
struct code *code_of(struct cores *cores, struct mem *mem);
void code_free_buried(struct cores *cores);

/* A block of its first `count` instructions, in no page; and burying one that is in none any more. */
struct block *block_cut(struct code *code, const struct block *block, unsigned count);
void block_bury(struct cores *cores, struct block *block);
void core_run_watched(struct core *core, uint64_t limit, struct core_exit *exit);

/* Fills in weights and cycles. `words` are the block's instructions. */
void block_schedule(struct block *block, const uint32_t *words, struct weight *weights);
/* Adds `times` executions of the first `count` instructions to `counts`; returns their cycles. */
uint32_t block_weigh(const uint32_t *words, unsigned count, uint64_t *counts);

/* The interpreter, without and with a memory hierarchy; with a NULL core it returns its label table. */
const void *const *core_interpret(struct core *core, uint64_t limit, struct core_exit *exit);
const void *const *core_interpret_cached(struct core *core, uint64_t limit, struct core_exit *exit);

#endif
