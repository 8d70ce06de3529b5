/* Counting: looks at the set's natives when it starts and when values are read, and what is between them.
 *
 * What the library itself does is in the counts from its first look to its return, and from the next call to the look
 * in there. So a start looks last, and stop and read look first, after no more than finding the set; docs/man/papi.md
 * says how many instructions that is, and tests/cmd/test_papi holds it to that.
 */
#include "papi_impl.h"

#include <stddef.h>

long long papi_slot_value(const struct papi_set *set, unsigned slot)
{
    const struct papi_formula *formula = &set->slots[slot].formula;
    long long value = set->start[slot];
    if (!(set->domain & PAPI_DOM_USER)) return value; /* programs run in user mode */
    for (unsigned i = 0; i < formula->count; i++) {
        uint32_t native = formula->terms[i].event;
        value += formula->terms[i].weight * (long long)(set->now[native] - set->base[native]);
    }
    return value;
}

void papi_set_values(const struct papi_set *set, long long *values)
{
    for (unsigned i = 0; i < set->count; i++)
        values[i] = papi_slot_value(set, i);
}

static enum chiliad_scope scope_of(const struct papi_set *set)
{
    if (set->inherit) return CHILIAD_NODE; /* every process of a run descends from its first one */
    if (set->granularity == PAPI_GRN_THR) return CHILIAD_THREAD;
    return set->granularity == PAPI_GRN_PROC ? CHILIAD_PROCESS : CHILIAD_NODE;
}

/* Counting begins here with the values it has: the natives' looks become one. */
static void begin_anew(struct papi_set *set)
{
    for (unsigned i = 0; i < set->native_count; i++)
        set->now[i] = set->base[i];
}

int PAPI_start(int EventSet)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    struct papi_set *set = papi_set_find(EventSet);
    struct papi_thread *thread = papi_thread_get();
    if (!set) return papi_return(PAPI_ENOEVST);
    if (set->state & PAPI_RUNNING) return papi_return(PAPI_EISRUN);
    if (!set->count) return papi_return(PAPI_EINVAL);
    if (!thread) return papi_return(PAPI_ENOMEM);
    if (thread->running) return papi_return(PAPI_EISRUN); /* one set of a component at a time */
    if (set->state & PAPI_OVERFLOWING && papi_overflow_prepare()) return papi_return(PAPI_ESYS);
    set->request.count = set->native_count;
    set->request.scope = scope_of(set);
    set->request.events = set->natives;
    set->thread = thread;
    thread->running = set;
    set->state = (set->state & ~PAPI_STOPPED) | PAPI_RUNNING;
    for (unsigned i = 0; i < set->count; i++)
        set->start[i] = 0;
    papi_look(set, set->base);
    if (set->state & PAPI_OVERFLOWING) papi_overflow_arm(set);
    return PAPI_OK;
}

int PAPI_stop(int EventSet, long long *values)
{
    struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(papi_is_up() ? PAPI_ENOEVST : PAPI_ENOINIT);
    if (!(set->state & PAPI_RUNNING)) return papi_return(PAPI_ENOTRUN);
    papi_look(set, set->now);
    if (set->state & PAPI_OVERFLOWING) papi_overflow_disarm(set);
    set->state = (set->state & ~PAPI_RUNNING) | PAPI_STOPPED;
    if (set->thread) set->thread->running = NULL;
    set->thread = NULL;
    if (values) papi_set_values(set, values);
    return PAPI_OK;
}

int PAPI_read(int EventSet, long long *values)
{
    struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(papi_is_up() ? PAPI_ENOEVST : PAPI_ENOINIT);
    if (!values) return papi_return(PAPI_EINVAL);
    if (set->state & PAPI_RUNNING) papi_look(set, set->now);
    papi_set_values(set, values);
    return PAPI_OK;
}

int PAPI_read_ts(int EventSet, long long *values, long long *cyc)
{
    if (!cyc) return papi_return(PAPI_EINVAL);
    int status = PAPI_read(EventSet, values);
    *cyc = PAPI_get_real_cyc();
    return status;
}

int PAPI_reset(int EventSet)
{
    struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(papi_is_up() ? PAPI_ENOEVST : PAPI_ENOINIT);
    for (unsigned i = 0; i < set->count; i++)
        set->start[i] = 0;
    if (set->state & PAPI_RUNNING) {
        papi_look(set, set->base);
        if (set->state & PAPI_OVERFLOWING) papi_overflow_arm(set);
    } else {
        begin_anew(set);
    }
    return PAPI_OK;
}

int PAPI_accum(int EventSet, long long *values)
{
    struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(papi_is_up() ? PAPI_ENOEVST : PAPI_ENOINIT);
    if (!values) return papi_return(PAPI_EINVAL);
    bool running = set->state & PAPI_RUNNING;
    if (running) papi_look(set, set->now);
    for (unsigned i = 0; i < set->count; i++) {
        values[i] += papi_slot_value(set, i);
        set->start[i] = 0;
    }
    for (unsigned i = 0; i < set->native_count; i++)
        set->base[i] = set->now[i]; /* nothing is lost between two calls */
    if (running && set->state & PAPI_OVERFLOWING) papi_overflow_arm(set);
    return PAPI_OK;
}

int PAPI_write(int EventSet, long long *values)
{
    struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(papi_is_up() ? PAPI_ENOEVST : PAPI_ENOINIT);
    if (!values) return papi_return(PAPI_EINVAL);
    for (unsigned i = 0; i < set->count; i++)
        set->start[i] = values[i];
    if (set->state & PAPI_RUNNING)
        papi_look(set, set->base);
    else
        begin_anew(set);
    return PAPI_OK;
}
