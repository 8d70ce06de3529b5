/* A machine for tests of the core: cores with their memory, if wanted with a memory hierarchy and a
 * translator. Code and data have one range of pages each. */
#ifndef RIG_MACHINE_H
#define RIG_MACHINE_H

#include <stdint.h>

#include "machine/cache/cache.h"
#include "machine/core/core.h"
#include "machine/jit/jit.h"
#include "machine/mem/mem.h"

enum { RIG_SC = 0x44000002 }; /* the word that ends most programs */

struct rig_layout {
    uint32_t code, code_bytes; /* read, write, execute */
    uint32_t data, data_bytes; /* read, write; 0 bytes: none */
};

struct rig_options {
    uint32_t units; /* of instructions (isa.h); 0: all */
    const struct cache_config *cache;
    const struct jit_options *jit;
};

struct rig_machine {
    struct mem *mem;
    struct cache *cache; /* NULL without */
    struct jit *jit;     /* likewise */
    struct cores *cores;
    struct core *core; /* the first */
    struct core_regs regs;
    struct rig_layout layout;
    uint32_t free; /* where rig_place puts the next words */
};

/* Without options: all instructions, no hierarchy, the interpreter. */
void rig_machine_open(struct rig_machine *machine, struct rig_layout layout, unsigned cores,
                      const struct rig_options *options);
void rig_machine_close(struct rig_machine *machine);
/* One more memory of that layout. */
struct mem *rig_memory(struct rig_layout layout);

/* Puts words behind the code that is there; returns their address. */
uint32_t rig_place(struct rig_machine *machine, const uint32_t *words, unsigned count);
/* An instruction and a system call. */
uint32_t rig_place_one(struct rig_machine *machine, uint32_t word);
/* The next words go to the beginning again. */
void rig_place_again(struct rig_machine *machine);
/* Runs from pc until the core stops, at most `budget` cycles. */
struct core_exit rig_run_on(struct rig_machine *machine, struct core *core, struct core_regs *regs,
                            uint32_t pc, uint64_t budget);

#endif
