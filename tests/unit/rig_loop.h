/* Random loops of all instructions that a program may have, and random registers for them: what
 * engines and watches are tested with. */
#ifndef RIG_LOOP_H
#define RIG_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/core/core.h"

enum {
    RIG_LOOP_BODY = 48,      /* instructions; behind them a bdnz and a trap */
    RIG_LOOP_DATA = 0x40000, /* where most addresses are, up to twice that */
    RIG_LOOP_ROUNDS = 12,
    RIG_LOOP_TRAP = 0x7fe00008,
    RIG_LOOP_BDNZ = 0x42000000
};

/* A loop with forward branches, behind it a trap. `few`: floating point that looks at the FPSCR, on
 * few registers; else any instructions. */
void rig_loop_write(uint8_t *code, uint64_t *random, bool few);
void rig_loop_state(struct core_regs *regs, uint64_t *random, bool few);

#endif
