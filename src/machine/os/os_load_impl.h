/* Between the loader's two halves: os_load.c reads programs, os_load_stack.c makes their first
 * stack. */
#ifndef OS_LOAD_IMPL_H
#define OS_LOAD_IMPL_H

#include "machine/os/os_space_impl.h"

/* What the auxiliary vector tells of the program. */
struct load_facts {
    uint32_t phdr, phnum; /* where its program headers are in memory */
    uint32_t base;        /* where its interpreter is; 0 without */
    uint32_t entry;
    const char *path; /* as it was asked for: AT_EXECFN */
};

/* Fills the mapped stack and sets space->stack_pointer. */
int load_stack(struct os_space *space, const struct load_facts *facts, char *const argv[],
               char *const envp[], struct chil_error *err);

#endif
