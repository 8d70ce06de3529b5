/* BGLCounters: the simulator's own counters, for the program that runs on it (paper 002, section 3).
 *
 * 64 counters of 64 bits, in two sets: what the program did in user mode and what the kernel did for it. Any of them
 * count together; counting does not disturb the program. All calls return 0 or a negative error number.
 */
#ifndef BGLCOUNTERS_H
#define BGLCOUNTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BGLCOUNTERS = 64 };

int BGLCounters_Init(void);                /* -ENOSYS when there is no simulator below */
int BGLCounters_Select(uint64_t counters); /* bit i for counter i; all by default */
int BGLCounters_Start(void);
int BGLCounters_Stop(void);
int BGLCounters_Reset(void);
/* BGLCOUNTERS values each; counters that are not selected read as 0. Both pointers may be NULL. */
int BGLCounters_Read(uint64_t *user, uint64_t *kernel);

/* "BGL_INST" and "Instructions completed", from the simulator; NULL for a number without a counter, and without a
 * simulator. */
const char *BGLCounters_Name(int counter);
const char *BGLCounters_Text(int counter);

#ifdef __cplusplus
}
#endif
#endif
