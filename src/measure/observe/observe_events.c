/* Reads every event of the catalogue for the guest program: services 16 to 20
 * (docs/formats/callthru.md).
 *
 * The counter unit counts 256 events at a time; here a program reads any number of events at one
 * moment, between two instructions. Counts only grow; a program takes differences. An event has an
 * index: the machine's rows first, in the order of their ids, then the simulator's own.
 *
 * Attribution. A row of the machine names its core or unit and counts that unit's signals, as on
 * the chip. The simulator's own events name no core: their signals on cores count what the calling
 * thread did, on any core. A core keeps the counts of its last reading, and a thread the sum of the
 * differences while it was on. Counts of a core are read when it switches threads and when a
 * program reads an event. Attribution begins with the first read: earlier counts go to no thread,
 * and programs that read nothing pay nothing.
 *
 * A thread can wait for a count: the cores watch for it (node_watch.c), and the thread gets a
 * signal behind the instruction that reaches it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/observe/observe_events_impl.h"

/* --- Counts of threads ----------------------------------------------------------------------- */

static bool is_of_core(enum cache_signal_id id)
{
    return cache_signal_scope(id) <= CACHE_OF_SNOOP;
}

static void counts_of_core(const struct observe_events *e, unsigned number, struct counts *now)
{
    struct core *core = cores_get(e->node->cores, number);
    core_signal_counts(core, now->signals);
    now->crossings = core_crossings(core);
    now->cycles = core_cycles(core) - core_idle_cycles(core);
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        if (is_of_core((enum cache_signal_id)id))
            cache_signal_count(e->node->cache,
                               (struct cache_signal){(enum cache_signal_id)id, number},
                               &now->rises[id], &now->highs[id]);
}

static void counts_add(struct counts *sum, const struct counts *now, const struct counts *before)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *plus = (const uint64_t *)now, *minus = (const uint64_t *)before;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += plus[i] - (minus ? minus[i] : 0);
}

struct thread *events_find_thread(const struct observe_events *e, int tid)
{
    struct thread *thread = e->threads;
    while (thread && thread->tid != tid)
        thread = thread->next;
    return thread;
}

struct thread *events_thread_on(struct observe_events *e, unsigned core)
{
    const struct slot *slot = &e->slots[core];
    struct thread *thread = slot->tid ? events_find_thread(e, slot->tid) : NULL;
    if (thread || !slot->tid) return thread;
    thread = base_calloc(1, sizeof *thread);
    thread->pid = slot->pid;
    thread->tid = slot->tid;
    thread->next = e->threads;
    return e->threads = thread;
}

/* Adds what a core has counted since its last reading to the thread on it. */
static void attribute(struct observe_events *e, unsigned core)
{
    struct counts now = {0};
    counts_of_core(e, core, &now);
    struct thread *thread = events_thread_on(e, core);
    if (thread) counts_add(&thread->counts, &now, &e->slots[core].last);
    e->slots[core].last = now;
}

void events_activate(struct observe_events *e)
{
    if (e->active) return;
    e->active = true;
    for (unsigned i = 0; i < e->node->core_count; i++)
        counts_of_core(e, i, &e->slots[i].last);
}

static void switched(void *context, unsigned core, int pid, int tid)
{
    struct observe_events *e = context;
    struct slot *slot = &e->slots[core];
    const struct thread *before = e->active && slot->tid ? events_find_thread(e, slot->tid) : NULL;
    if (e->active) attribute(e, core);
    slot->pid = pid;
    slot->tid = tid;
    const struct thread *after = e->active ? events_find_thread(e, tid) : NULL;
    if (!(before && before->wait_count) && !(after && after->wait_count)) return;
    node_watch_all(e->node);
}

static void ended(void *context, int pid)
{
    struct observe_events *e = context;
    for (unsigned i = 0; i < e->node->core_count; i++) {
        if (e->slots[i].pid != pid) continue;
        if (e->active) attribute(e, i);
        e->slots[i].pid = e->slots[i].tid = 0;
    }
    for (struct thread **at = &e->threads; *at;) {
        struct thread *thread = *at;
        if (thread->pid != pid) {
            at = &thread->next;
            continue;
        }
        *at = thread->next;
        events_forget_waits(thread);
        free(thread);
    }
}

/* --- Counts of events ------------------------------------------------------------------------ */

const struct chil_event *events_get(const struct observe_events *e, uint32_t index)
{
    if (index < e->machine_count) return &e->machine[index];
    return index < e->count ? &e->own[index - e->machine_count] : NULL;
}

const struct node_signal *events_signals(const struct observe_events *e, uint32_t index)
{
    struct node_signal **found = &e->signals[index];
    const struct chil_event *event = events_get(e, index);
    if (*found || !event->signal_count) return *found;
    *found = base_calloc(event->signal_count, sizeof **found);
    for (size_t i = 0; i < event->signal_count; i++)
        node_signal_find(e->node, event->signals[i], &(*found)[i]);
    return *found;
}

static uint64_t view_signal(struct view *view, enum core_signal signal)
{
    uint64_t count = view->counts->signals[signal];
    if (!view->live) return count;
    if (!view->counted)
        core_signal_counts(cores_get(view->events->node->cores, view->core), view->signals);
    view->counted = true;
    return count + view->signals[signal] - view->live->last.signals[signal];
}

static uint64_t view_memory(const struct view *view, enum cache_signal_id id,
                            enum chil_count_mode mode)
{
    bool high = mode == CHIL_COUNT_HIGH;
    uint64_t count = high ? view->counts->highs[id] : view->counts->rises[id], rises, highs;
    if (!view->live) return count;
    cache_signal_count(view->events->node->cache, (struct cache_signal){id, view->core}, &rises,
                       &highs);
    return count + (high ? highs - view->live->last.highs[id] : rises - view->live->last.rises[id]);
}

static uint64_t view_crossings(const struct view *view)
{
    uint64_t count = view->counts->crossings;
    if (!view->live) return count;
    return count + core_crossings(cores_get(view->events->node->cores, view->core)) -
           view->live->last.crossings;
}

static uint64_t view_cycles(const struct view *view)
{
    const struct core *core = cores_get(view->events->node->cores, view->core);
    uint64_t count = view->counts->cycles;
    return view->live ? count + core_cycles(core) - core_idle_cycles(core) - view->live->last.cycles
                      : count;
}

static uint64_t view_node(struct view *view, const struct node_signal *signal,
                          enum chil_count_mode mode)
{
    if (!view->fresh && signal->kind != NODE_SIGNAL_MEMORY) node_counts_take(view->events->node);
    view->fresh |= signal->kind != NODE_SIGNAL_MEMORY;
    return node_signal_count(view->events->node, signal, mode);
}

static uint64_t view_named(struct view *view, const struct node_signal *signal,
                           enum chil_count_mode mode)
{
    if (!view->counts || !node_signal_is_of_cores(signal)) return view_node(view, signal, mode);
    switch (signal->kind) {
    case NODE_SIGNAL_CORE: return view_signal(view, signal->signal);
    case NODE_SIGNAL_MEMORY: return view_memory(view, signal->memory.id, mode);
    case NODE_SIGNAL_DATA_HITS:
        return view_signal(view, CORE_SIGNAL_LOAD) + view_signal(view, CORE_SIGNAL_STORE) +
               view_crossings(view) - view_memory(view, signal->memory.id, CHIL_COUNT_RISE);
    case NODE_SIGNAL_CODE_HITS:
        return view_signal(view, CORE_SIGNAL_FETCH) -
               view_memory(view, signal->memory.id, CHIL_COUNT_RISE);
    default: return view_cycles(view);
    }
}

/* Low is what is left of the time; falls are as many as rises. */
static uint64_t count_in(struct view *view, uint32_t index, enum chil_count_mode mode)
{
    const struct chil_event *event = events_get(view->events, index);
    const struct node_signal *signals = events_signals(view->events, index),
                             time = {.kind = NODE_SIGNAL_ELAPSED};
    bool level = mode == CHIL_COUNT_HIGH || mode == CHIL_COUNT_LOW;
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++)
        sum += view_named(view, &signals[i], level ? CHIL_COUNT_HIGH : mode);
    if (mode == CHIL_COUNT_LOW) sum = view_node(view, &time, mode) - sum;
    return level ? sum / event->clock : sum;
}

uint64_t events_count(struct view *view, uint32_t index)
{
    return count_in(view, index, events_get(view->events, index)->mode);
}

uint64_t events_count_as(struct view *view, uint32_t index_and_mode)
{
    uint32_t mode = index_and_mode >> MODE_BIT, index = index_and_mode & INDEX_MASK;
    return mode ? count_in(view, index, (enum chil_count_mode)(mode - 1))
                : events_count(view, index);
}

/* What the scope covers, up to now. */
void events_count_scope(struct observe_events *e, unsigned core, enum scope scope,
                        struct counts *counts)
{
    *counts = (struct counts){0};
    for (unsigned i = 0; i < e->node->core_count; i++)
        if (i == core || scope == SCOPE_PROCESS) attribute(e, i);
    for (const struct thread *thread = e->threads; thread; thread = thread->next)
        if (scope == SCOPE_PROCESS ? thread->pid == e->slots[core].pid
                                   : thread->tid == e->slots[core].tid)
            counts_add(counts, &thread->counts, NULL);
}

/* --- Making ---------------------------------------------------------------------------------- */

struct observe_events *observe_events_new(struct node *node)
{
    struct observe_events *e = base_calloc(1, sizeof *e);
    e->node = node;
    e->machine = chil_machine_events(node->machine, &e->machine_count);
    e->own = chil_machine_own_events(node->machine, &e->own_count);
    e->count = e->machine_count + e->own_count;
    e->signals = base_calloc(e->count, sizeof *e->signals);
    e->slots = base_calloc(node->core_count, sizeof *e->slots);
    e->listener = (struct node_listener){.context = e, .switched = switched, .ended = ended};
    e->service = (struct node_service){.context = e, .serve = events_serve};
    e->watcher = (struct node_watcher){
        .context = e, .watch = events_watch, .left = events_left, .reached = events_reached};
    node_attach_listener(node, &e->listener);
    node_attach_service(node, &e->service);
    node_attach_watcher(node, &e->watcher);
    return e;
}

void observe_events_free(struct observe_events *e)
{
    if (!e) return;
    for (struct thread *next; e->threads; e->threads = next) {
        next = e->threads->next;
        events_forget_waits(e->threads);
        free(e->threads);
    }
    for (size_t i = 0; i < e->count; i++)
        free(e->signals[i]);
    free(e->signals);
    free(e->slots);
    free(e);
}
