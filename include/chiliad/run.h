/* Running a program on a simulated node, and what it did.
 *
 * A run is one program with all it starts, on one node of a machine, in simulated time. Load it with chil_run_new, run
 * it to the end with chil_run_go, then ask. The same program with the same options gives the same counts, always;
 * asking changes nothing. A run belongs to one thread at a time; different runs share nothing.
 */
#ifndef CHILIAD_RUN_H
#define CHILIAD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/catalog.h"
#include "chiliad/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chil_run_options {
    const struct chil_machine *machine; /* outlives the run */
    const char *program;                /* a path, as in a shell; no search */
    char *const *argv;                  /* NULL-terminated, argv[0] included */
    char *const *envp;
    const char *sysroot;         /* where ld.so.1 and the shared libraries are; NULL: Debian's cross root */
    const char *root;            /* confines all of the guest's paths below it; NULL: not */
    const char *const *writable; /* folders that may be written, besides the working directory */
    size_t writable_count;
    void (*say)(void *context, const char *line); /* one line for the user, without newline; may be NULL */
    void *context;
};

struct chil_run;

int chil_run_new(struct chil_run **run, const struct chil_run_options *options, struct chil_error *err);
void chil_run_free(struct chil_run *run);

/* Runs to the end. The guest's standard streams are the caller's. */
int chil_run_go(struct chil_run *run, struct chil_error *err);

/* The guest's own exit status; 128 + signal when it was killed. */
int chil_run_status(const struct chil_run *run);
bool chil_run_was_killed(const struct chil_run *run);
/* How it was killed: signal, pc, function and line if known, instruction and registers, several lines. */
void chil_run_report(const struct chil_run *run, char *buffer, size_t size);

uint64_t chil_run_instructions(const struct chil_run *run); /* all cores */
uint64_t chil_run_cycles(const struct chil_run *run);       /* of the core that was last */
/* What an event of the run's machine counted. */
uint64_t chil_run_count(const struct chil_run *run, const struct chil_event *event);

/* --- Looking inside a program ----------------------------------------------------------------------------------- */

/* Calls back with a line of disassembly for each instruction of the program's executable sections. */
int chil_disassemble(const char *program, void (*line)(void *context, const char *text), void *context,
                     struct chil_error *err);

#ifdef __cplusplus
}
#endif
#endif
