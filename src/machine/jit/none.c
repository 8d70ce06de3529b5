/* The translator on hosts other than x86-64: there is none, and guests are interpreted. */
#include "machine/jit/jit.h"

const char *jit_unavailable(void)
{
    return "hosts other than x86-64 have no translator";
}

struct jit_thread *jit_thread_new(void)
{
    return NULL;
}

void jit_thread_free(struct jit_thread *thread)
{
    (void)thread;
}

struct jit *jit_new(const struct jit_options *options)
{
    (void)options;
    return NULL;
}

void jit_free(struct jit *jit)
{
    (void)jit;
}

const struct core_translator *jit_translator(struct jit *jit)
{
    (void)jit;
    return NULL;
}

bool jit_diverged(const struct jit *jit)
{
    (void)jit;
    return false;
}

struct jit_figures jit_figures_get(struct jit *jit)
{
    (void)jit;
    return (struct jit_figures){0};
}
