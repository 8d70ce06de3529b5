/* What os_load.c, which reads programs, passes to os_load_stack.c, which fills the first stack. */
#ifndef OS_LOAD_IMPL_H
#define OS_LOAD_IMPL_H

#include "machine/os/os_space_impl.h"

/* What the auxiliary vector says of the program. */
struct load_facts {
    uint32_t phdr, phnum; /* where its program headers are in memory */
    uint32_t base;        /* where its interpreter is; 0 without */
    uint32_t entry;
    const char *path; /* as execve named it: AT_EXECFN */
};

/* Fills the mapped stack and sets space->stack_pointer. */
int load_stack(struct os_space *space, const struct load_facts *facts, char *const argv[],
               char *const envp[], struct chil_error *err);

#endif
