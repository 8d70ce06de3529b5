/* A second wall around programs, held by the host's kernel.
 *
 * The simulator decides what a guest may do (docs/security.md). If a guest ever makes the simulator
 * itself do something else, the kernel refuses it: chil_sandbox_enter gives up, for ever and for
 * all threads that are made later, what no run needs. Enter it before the first chil_run_new, when
 * devices, libraries and networks that the caller needs are open.
 *
 *   Landlock   files: reading of what guests may read, writing in the named folders only, no
 *              execution, no signals to other processes
 *   seccomp    system calls: those of a list; no new sockets, no programs, no processes, no ptrace.
 *              Others fail with ENOSYS, as on a kernel that does not have them
 *
 * A kernel may lack one or both; the state says what is there.
 *
 * Terms: docs/glossary.md
 */
#ifndef CHILIAD_SANDBOX_H
#define CHILIAD_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sockets that the process keeps. SERVES: it accepts and uses what is open already. USES: it may
 * make new ones, as a rank of MPI does. */
enum chil_sandbox_sockets {
    CHIL_SANDBOX_NO_SOCKETS,
    CHIL_SANDBOX_SERVES,
    CHIL_SANDBOX_USES,
};

struct chil_sandbox_options {
    const char *root;        /* of chil_run_options; NULL: every file may be read */
    const char *const *read; /* with `root`: files and folders that may be read besides */
    size_t read_count;
    const char *const *write; /* folders below which everything may change */
    size_t write_count;
    const char *const *outputs; /* files that may be made, in folders of any place */
    size_t output_count;
    enum chil_sandbox_sockets sockets;
    bool forks; /* it forks copies of itself, as the engine "lockstep" does */
};

struct chil_sandbox_state {
    int files;         /* the version of Landlock; 0: none */
    bool system_calls; /* seccomp */
};

/* What the kernel, or this build, does not have is left out; that is no error. */
struct chil_sandbox_state chil_sandbox_enter(const struct chil_sandbox_options *options);
/* "files by Landlock 7, system calls by seccomp"; CHIL_SANDBOX_TEXT bytes always suffice. */
enum { CHIL_SANDBOX_TEXT = 120 };
void chil_sandbox_text(struct chil_sandbox_state state, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
