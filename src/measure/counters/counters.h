/* The simulator's own counters: 64 per process, counted whatever else is counted (paper 002,
 * section 3).
 *
 * A listener: it is told which process a core runs, and asks for the core's counts when that
 * changes or when someone reads. So a task switch costs the program nothing, and the sums over
 * processes are the machine's totals. There are 128 double sets, user and kernel; the 129th process
 * shares one set with all after it, and that is told. User-mode runs have no kernel: its set stays
 * 0.
 *
 * A program can select, start, stop, reset and read its set. That concerns what it reads; what is
 * kept per process goes on underneath.
 *
 * Terms: docs/glossary.md
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum { COUNTERS_SET = 64, COUNTERS_PROCESSES = 128, COUNTERS_CORES = 64 };

struct counters;

struct counters_options {
    unsigned cores;
    /* The counts of a core since the beginning: COUNTERS_SET values that only grow. */
    void (*read)(void *context, unsigned core, uint64_t *values);
    /* A process beyond the sets has come; may be NULL. */
    void (*overflow)(void *context, int pid);
    void *context;
};

struct counters *counters_new(const struct counters_options *options);
void counters_free(struct counters *counters);

/* A core runs this process from now on; pid 0: none. */
void counters_switch(struct counters *counters, unsigned core, int pid);
/* A process has ended; its set may be given to another, its counts stay in the totals. */
void counters_exit(struct counters *counters, int pid);

/* For the process that `core` runs. Counters that are not selected read as 0. */
void counters_select(struct counters *counters, unsigned core, uint64_t mask);
void counters_start(struct counters *counters, unsigned core);
void counters_stop(struct counters *counters, unsigned core);
void counters_reset(struct counters *counters, unsigned core);
void counters_read(struct counters *counters, unsigned core, uint64_t *user, uint64_t *kernel);

/* What a process has done so far, started or not; false when it has no set. And all processes,
 * ended ones too. */
bool counters_of(struct counters *counters, int pid, uint64_t *user);
void counters_total(struct counters *counters, uint64_t *user);

#endif
