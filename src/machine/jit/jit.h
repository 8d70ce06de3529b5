/* The translator: hot guest code becomes host code.
 *
 * It implements struct core_translator for a group of cores. When a block has been entered
 * `entries_until_hot` times, a region around it is translated on a second thread while the
 * interpreter continues; later entries run the translation. Translated code changes registers,
 * memory, time and counts exactly as the interpreter does, so the moment at which a translation
 * becomes ready changes no result.
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

/* A translation thread that several translators share; freed after them. Each may be used by
 * another thread. */
struct jit_thread;
struct jit_thread *jit_thread_new(void);
void jit_thread_free(struct jit_thread *thread);

struct jit_options {
    struct jit_thread *thread;  /* NULL: an own one */
    uint32_t entries_until_hot; /* entries of a block before it is translated; 0: the default */
    size_t code_limit;  /* bytes of host code, about; then all is invalidated. 0: the default */
    bool wait;          /* the guest waits for each translation: for tests */
    bool unpredictable; /* all loads are taken for unpredictable: for tests */
    uint64_t lockstep;  /* cycles after which translated code and the interpreter are compared; 0:
                           never */
    void (*report)(void *context, const char *line); /* how they differ, several lines */
    void *context;
};

struct jit_figures {
    uint64_t regions, blocks, instructions; /* translated */
    uint64_t unpredictable;                 /* loads of them with a branch-free probe */
    uint64_t nanoseconds;                   /* spent on the translation thread */
    uint64_t failed;                        /* regions that could not be translated */
    uint64_t dropped;                       /* regions that were invalidated */
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
