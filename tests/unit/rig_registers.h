/* The registers of a core, for tests: random ones, and whether two sets are the same. */
#ifndef RIG_REGISTERS_H
#define RIG_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/core/core.h"

/* Everything a user program can see is random, but for FPSCR, which is 0; no reservation. */
struct core_regs rig_registers_random(uint64_t *seed);

/* All that a program can see or that decides what it does next. */
bool rig_registers_same(const struct core_regs *x, const struct core_regs *y);
/* Prints each register that differs. */
void rig_registers_print(const struct core_regs *expected, const struct core_regs *got);
/* Fails with `what` if they are not the same. */
void rig_registers_check(const char *what, const struct core_regs *expected,
                         const struct core_regs *got);

#endif
