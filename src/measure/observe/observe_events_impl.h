/* Inside the events of the catalogue for programs (observe_events.c): counts of cores and threads,
 * and the waits of threads. */
#ifndef OBSERVE_EVENTS_IMPL_H
#define OBSERVE_EVENTS_IMPL_H

#include "measure/observe/observe.h"

/* What a core, or a thread on cores, has done: all signals that belong to a core. Nothing but
 * uint64_t. */
struct counts {
    uint64_t signals[CORE_SIGNAL_COUNT];
    uint64_t crossings, cycles;
    uint64_t rises[CACHE_SIGNALS], highs[CACHE_SIGNALS];
};

/* A sum of events, and where it has to get to. */
struct wait {
    uint32_t *events;
    uint32_t count;
    uint64_t target;
    bool polled;    /* no sum of weights: the core looks at what is left */
    bool of_memory; /* only memory raises it */
};

struct thread {
    int pid, tid;
    struct counts counts;
    struct wait *waits;
    unsigned wait_count;
    struct thread *next;
};

struct observe_events {
    struct node *node;
    struct node_listener listener;
    struct node_service service;
    struct node_watcher watcher;
    size_t machine_count, own_count, count;
    const struct chil_event *machine, *own; /* of the machine, and the simulator's */
    struct node_signal **signals;           /* by index; NULL: not looked up yet */
    bool active;
    struct thread *threads;
    struct slot {
        int pid, tid; /* of the task on this core; 0: none yet */
        struct counts last;
    } * slots; /* per core */
};

enum scope { SCOPE_THREAD, SCOPE_PROCESS, SCOPE_NODE, SCOPES };

/* Counts to be read: those of a thread, with `live` also what the core has done since they were
 * taken; without them, the node's. Instructions are added up only when an event needs them. */
struct view {
    struct observe_events *events;
    const struct counts *counts;
    const struct slot *live;
    unsigned core;
    bool counted, fresh;
    uint64_t signals[CORE_SIGNAL_COUNT]; /* of the live core */
};

/* In a list to be read an index has in its upper bits how to count: 0 as the event's row says, else
 * 1 + the mode. */
enum { MODE_BIT = 28, INDEX_MASK = (1 << MODE_BIT) - 1, MODES = 4 };

/* --- Counts (observe_events.c) --------------------------------------------------------------- */

const struct chil_event *events_get(const struct observe_events *e, uint32_t index);
const struct node_signal *events_signals(const struct observe_events *e, uint32_t index);
uint64_t events_count(struct view *view, uint32_t index);
uint64_t events_count_as(struct view *view,
                         uint32_t index_and_mode); /* with a mode in its upper bits */
/* What a scope has counted up to now. */
void events_count_scope(struct observe_events *e, unsigned core, enum scope scope,
                        struct counts *counts);
/* The first read or wait: counts are kept from now on. */
void events_activate(struct observe_events *e);
struct thread *events_find_thread(const struct observe_events *e, int tid);
struct thread *events_thread_on(struct observe_events *e, unsigned core);

/* --- Waits (observe_events_wait.c) ----------------------------------------------------------- */

void events_forget_waits(struct thread *thread);
/* The callbacks of struct node_watcher. */
uint64_t events_watch(void *context);
bool events_left(void *context, unsigned core, bool inside, struct core_room *room);
void events_reached(void *context, unsigned core, int *process_signal, int *task_signal);

/* --- Services (observe_events_serve.c) ------------------------------------------------------- */

bool events_serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result);

#endif
