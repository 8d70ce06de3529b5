/* Inside a run: a machine, a program, its devices and observers. */
#ifndef RUN_IMPL_H
#define RUN_IMPL_H

#include "machine/system/system.h"
#include "measure/device/device.h"
#include "measure/observe/observe.h"

struct chil_run {
    struct chil_run_options options;
    struct node *node; /* the only one of the system */
    struct system system;
    struct device_upc *upc; /* NULL on machines with another unit */
    struct observe observe;
    struct os_result result;
    bool stopped;  /* by the caller, before its end */
    unsigned laws; /* that held at the end */
};

struct record_function;

/* The code that a recorded run executed, for its experiment (run_code.c). */
void run_code_add(struct chil_run *run, struct chil_exp *exp);

/* The attributes of an experiment that formulas name: machine, clock_hz, cycles, wall_time, peak
 * (of so many cores) and line (run_totals.c). */
void run_attributes_set(const struct chil_run *run, unsigned cores, struct chil_exp *exp);

/* Its call tree: regions and nodes (run_calls.c). Gives the node of each path by its number, to be
 * freed. */
int *run_calls_add(struct chil_run *run, struct chil_exp *exp);
/* Where an instruction of a function is in its file; in none: in memory. */
uint32_t run_calls_address(const struct record_function *function, uint32_t pc);

#endif
