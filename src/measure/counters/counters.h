/* The simulator's own counters: 64 per process, always counting (BGL paper, section 3).
 *
 * A listener: it is notified of the process that a core runs, and reads the core's counts when that
 * process changes and when a set is read. Task switches cost no simulated time. The sums over
 * processes are the machine's totals.
 *
 * There are 128 sets, each of 64 user and 64 kernel counters. The 129th process and all later ones
 * share one set, and `overflow` is called. User-mode runs have no kernel: kernel counters stay 0.
 *
 * A program can select, start, stop, reset and read its set. That changes what it reads; the totals
 * of the process count on.
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

/* The core runs this process from now on; pid 0: none. */
void counters_switch(struct counters *counters, unsigned core, int pid);
/* A process has ended; its set may be given to another, its counts stay in the totals. */
void counters_exit(struct counters *counters, int pid);

/* For the process that `core` runs. Counters that are not selected read as 0. */
void counters_select(struct counters *counters, unsigned core, uint64_t mask);
void counters_start(struct counters *counters, unsigned core);
void counters_stop(struct counters *counters, unsigned core);
void counters_reset(struct counters *counters, unsigned core);
void counters_read(struct counters *counters, unsigned core, uint64_t *user, uint64_t *kernel);

/* The counts of a process so far, started or not; false when it has no set. */
bool counters_of(struct counters *counters, int pid, uint64_t *user);
/* The counts of all processes, ended ones included. */
void counters_total(struct counters *counters, uint64_t *user);

#endif
