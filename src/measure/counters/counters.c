#include "measure/counters/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct set {
    int pid; /* 0: free */
    bool running;
    uint64_t mask;
    uint64_t total[COUNTERS_SET];   /* all counts of the process */
    uint64_t visible[COUNTERS_SET]; /* the part counted while started, up to the last stop */
    uint64_t since[COUNTERS_SET];   /* total at the last start */
};

struct counters {
    struct counters_options options;
    struct set
        sets[COUNTERS_PROCESSES + 1]; /* the last one is shared by all processes beyond the limit */
    uint64_t ended[COUNTERS_SET];
    struct set *on[COUNTERS_CORES];
    uint64_t last[COUNTERS_CORES][COUNTERS_SET];
};

struct counters *counters_new(const struct counters_options *options)
{
    struct counters *c = base_reserve(sizeof *c); /* of sets and cores few are used */
    c->options = *options;
    return c;
}

void counters_free(struct counters *c)
{
    if (c) base_release(c, sizeof *c);
}

/* Adds what a core has counted since the last call to the process that it runs. */
static void attribute(struct counters *c, unsigned core)
{
    uint64_t now[COUNTERS_SET];
    c->options.read(c->options.context, core, now);
    uint64_t *to = c->on[core] ? c->on[core]->total : c->ended;
    for (unsigned i = 0; i < COUNTERS_SET; i++)
        to[i] += now[i] - c->last[core][i];
    memcpy(c->last[core], now, sizeof now);
}

static void attribute_all(struct counters *c)
{
    for (unsigned core = 0; core < c->options.cores; core++)
        attribute(c, core);
}

static struct set *find(struct counters *c, int pid)
{
    struct set *free_set = NULL;
    for (struct set *set = c->sets; set < c->sets + COUNTERS_PROCESSES; set++) {
        if (set->pid == pid) return set;
        if (!set->pid && !free_set) free_set = set;
    }
    struct set *shared = &c->sets[COUNTERS_PROCESSES];
    if (!free_set && !shared->pid && c->options.overflow)
        c->options.overflow(c->options.context, pid);
    struct set *given = free_set ? free_set : shared;
    if (!given->pid) *given = (struct set){.mask = UINT64_MAX};
    given->pid = free_set ? pid : -1;
    return given;
}

void counters_switch(struct counters *c, unsigned core, int pid)
{
    if (c->on[core] && c->on[core]->pid == pid) return;
    attribute(c, core);
    c->on[core] = pid ? find(c, pid) : NULL;
}

void counters_exit(struct counters *c, int pid)
{
    for (struct set *set = c->sets; set < c->sets + COUNTERS_PROCESSES; set++) {
        if (set->pid != pid) continue;
        attribute_all(c);
        for (unsigned i = 0; i < COUNTERS_SET; i++)
            c->ended[i] += set->total[i];
        for (unsigned core = 0; core < c->options.cores; core++)
            if (c->on[core] == set) c->on[core] = NULL;
        *set = (struct set){0};
    }
}

/* The set of the process on a core, up to date; NULL when it runs none. */
static struct set *current(struct counters *c, unsigned core)
{
    attribute_all(c);
    return c->on[core];
}

void counters_select(struct counters *c, unsigned core, uint64_t mask)
{
    struct set *set = current(c, core);
    if (set) set->mask = mask;
}

void counters_start(struct counters *c, unsigned core)
{
    struct set *set = current(c, core);
    if (!set || set->running) return;
    memcpy(set->since, set->total, sizeof set->since);
    set->running = true;
}

void counters_stop(struct counters *c, unsigned core)
{
    struct set *set = current(c, core);
    if (!set || !set->running) return;
    for (unsigned i = 0; i < COUNTERS_SET; i++)
        set->visible[i] += set->total[i] - set->since[i];
    set->running = false;
}

void counters_reset(struct counters *c, unsigned core)
{
    struct set *set = current(c, core);
    if (!set) return;
    memset(set->visible, 0, sizeof set->visible);
    memcpy(set->since, set->total, sizeof set->since);
}

void counters_read(struct counters *c, unsigned core, uint64_t *user, uint64_t *kernel)
{
    const struct set *set = current(c, core);
    memset(user, 0, COUNTERS_SET * sizeof *user);
    memset(kernel, 0, COUNTERS_SET * sizeof *kernel);
    for (unsigned i = 0; set && i < COUNTERS_SET; i++)
        if (set->mask >> i & 1)
            user[i] = set->visible[i] + (set->running ? set->total[i] - set->since[i] : 0);
}

bool counters_of(struct counters *c, int pid, uint64_t *user)
{
    attribute_all(c);
    for (const struct set *set = c->sets; set < c->sets + COUNTERS_PROCESSES; set++) {
        if (set->pid != pid) continue;
        memcpy(user, set->total, sizeof set->total);
        return true;
    }
    return false;
}

void counters_total(struct counters *c, uint64_t *user)
{
    attribute_all(c);
    memcpy(user, c->ended, sizeof c->ended);
    for (const struct set *set = c->sets; set <= c->sets + COUNTERS_PROCESSES; set++)
        for (unsigned i = 0; set->pid && i < COUNTERS_SET; i++)
            user[i] += set->total[i];
}
