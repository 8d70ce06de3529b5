/* Random programs for the core, with the machine state they start from.
 *
 * Three kinds: one instruction of a given row; a sequence with loads, stores, forward branches, now
 * and then a loop or a fault in the middle; and a program that changes its own code. Everything
 * follows from a seed. A program lies in a slot of its own, the rest of the slot is traps, so it
 * ends with one. Slots do not divide pages: blocks cross them.
 *
 * Memory, the same for tests/diff/insn_guest.c:
 *   CORE_RANDOM_PADS     three pages of traps that branches to absolute addresses can reach
 *   CORE_RANDOM_CODE     slots; readable, writable, executable
 *   CORE_RANDOM_SCRATCH  one page not there, two writable, one read-only, then nothing. Programs
 * change only four windows of 128 bytes, at the ends of the two writable pages.
 */
#ifndef TESTS_CORE_RANDOM_H
#define TESTS_CORE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/isa/isa.h"

enum {
    CORE_RANDOM_WORDS = 72, /* more than a block of the core has */
    CORE_RANDOM_SLOT = 320,
    CORE_RANDOM_PADS = 0x4000,
    CORE_RANDOM_PADS_END = 0x7000,
    CORE_RANDOM_CODE = 0x01000000,
    CORE_RANDOM_SCRATCH = 0x30000000,
    CORE_RANDOM_PAGE = 4096,
    CORE_RANDOM_WINDOW = 128,
    CORE_RANDOM_MEMORY = 4 * CORE_RANDOM_WINDOW,
    CORE_RANDOM_TRAP = 0x7fe00008,
    CORE_RANDOM_NO_SYSCALL = 0x4321 /* r0 of every sc: a call that no system has */
};

/* What the guest is asked and answers, in its own words and order. */
struct core_request {
    uint32_t gpr[32], pc, lr, ctr, cr, xer, fpscr, slot, seed;
    uint64_t fpr[32];
    uint32_t words[CORE_RANDOM_WORDS];
};

struct core_answer {
    uint32_t gpr[32], pc, lr, ctr, cr, xer, fpscr, signal, address;
    uint64_t fpr[32];
    uint32_t memory[CORE_RANDOM_MEMORY / 4];
};

enum core_kind {
    CORE_SINGLE,
    CORE_SEQUENCE,
    CORE_SELF_MODIFYING, /* stores, dcbst, msync, icbi, isync, runs what it stored */
    CORE_UNSYNCED /* the same without what the architecture asks for: the core shows changes at once
                   */
};

enum { CORE_EXECUTED_MAX = 4 * CORE_RANDOM_WORDS };

struct core_program {
    struct core_request request;
    uint64_t seed;
    enum core_kind kind;
    enum isa_id id; /* CORE_SINGLE: the instruction */
    /* Programs that change themselves: how many instructions they execute and which; where they
     * change what. */
    unsigned executed;
    uint32_t words[CORE_EXECUTED_MAX];
    unsigned place;
    uint32_t patch;
    bool behind; /* the place has been executed already; it is once more */
};

/* Which rows a CPU has; sequences are made of those. With `all_results` there is no other CPU to
 * agree with: results that qemu computes differently, and enabled floating-point exceptions, are
 * wanted too. */
struct core_rows {
    bool has[ISA_COUNT];
    bool all_results;
};

void core_random_single(struct core_program *program, uint64_t seed, enum isa_id id, uint32_t slot);
void core_random_sequence(struct core_program *program, uint64_t seed, const struct core_rows *rows,
                          uint32_t slot);
void core_random_self_modifying(struct core_program *program, uint64_t seed,
                                const struct core_rows *rows, uint32_t slot, enum core_kind kind);
/* The offset of window 0..3 in scratch memory, and what a window holds at the start. */
uint32_t core_random_window(unsigned i);
void core_random_fill(uint32_t memory[CORE_RANDOM_MEMORY / 4], uint32_t seed);

#endif
