/* The translator: hot code becomes host code, and nothing else changes.
 *
 * It plugs into a group of cores (struct core_translator). The interpreter asks when a block was
 * entered often enough; a region around it is then translated on a second thread, while the
 * interpreter goes on, and run from the next time on. Since translated code does to registers,
 * memory, time and counts what the interpreter does, when it becomes ready changes no result.
 *
 * Terms: docs/glossary.md
 */
#ifndef JIT_H
#define JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/core/core.h"

struct jit;

struct jit_options {
    uint32_t patience; /* entries of a block before it is translated; 0: the usual number */
    size_t code_limit; /* bytes of host code, about; then all is dropped. 0: the usual number */
    bool wait;         /* for each translation, instead of going on: for tests */
    bool irregular;    /* take all loads for irregular ones: for tests */
    uint64_t lockstep; /* cycles after which translated code and the interpreter are compared; 0:
                          never */
    void (*say)(void *context, const char *line); /* how they differ, several lines */
    void *context;
};

struct jit_figures {
    uint64_t regions, blocks, instructions; /* translated */
    uint64_t irregular;                     /* loads of those that ask without a test */
    uint64_t nanoseconds;                   /* that took, on the second thread */
    uint64_t failed;                        /* regions that could not be */
    uint64_t dropped; /* regions whose code changed or that had to make room */
};

/* Why nothing can be translated; NULL when it can. */
const char *jit_unavailable(void);
/* NULL when nothing can. */
struct jit *jit_new(const struct jit_options *options);
void jit_free(struct jit *jit); /* after the cores */
const struct core_translator *jit_translator(struct jit *jit);
bool jit_diverged(const struct jit *jit); /* translated code and interpreter did not do the same */
struct jit_figures jit_figures_get(struct jit *jit);

#endif
