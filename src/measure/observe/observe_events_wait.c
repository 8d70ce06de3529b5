/* Threads of the program that wait for a count: what their cores watch for. The thread gets a
 * signal behind the instruction that reaches the count. */
#include <stdlib.h>

#include "measure/observe/observe_events_impl.h"

enum { SIGXCPU_POWERPC = 24 };

void events_forget_waits(struct thread *thread)
{
    for (unsigned i = 0; i < thread->wait_count; i++)
        free(thread->waits[i].events);
    free(thread->waits);
    thread->waits = NULL;
    thread->wait_count = 0;
}

static struct thread *waiting_on(const struct observe_events *e, unsigned core)
{
    struct thread *thread =
        e->active && e->slots[core].tid ? events_find_thread(e, e->slots[core].tid) : NULL;
    return thread && thread->wait_count ? thread : NULL;
}

static struct view look_at(struct observe_events *e, unsigned core, const struct thread *thread)
{
    return (struct view){
        .events = e, .counts = &thread->counts, .live = &e->slots[core], .core = core};
}

static uint64_t wait_left(struct view *view, const struct wait *wait)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < wait->count; i++)
        sum += events_count(view, wait->events[i]);
    return sum < wait->target ? wait->target - sum : 0;
}

static bool is_of_memory(struct observe_events *e, const struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++)
        for (size_t k = 0; k < events_get(e, wait->events[i])->signal_count; k++)
            if (!node_signal_is_of_memory(&events_signals(e, wait->events[i])[k])) return false;
    return true;
}

static void find_room(struct observe_events *e, const struct wait *wait, uint64_t left,
                      struct core_room *room)
{
    struct node_growth growth = {0};
    for (uint32_t i = 0; i < wait->count; i++) {
        const struct chil_event *event = events_get(e, wait->events[i]);
        node_growth_add(&growth, events_signals(e, wait->events[i]), event->signal_count,
                        event->mode);
    }
    node_growth_room(&growth, left, room);
}

bool events_left(void *context, unsigned core, bool inside, struct core_room *room)
{
    struct observe_events *e = context;
    const struct thread *thread = waiting_on(e, core);
    bool all = true;
    if (!thread) return true;
    struct view view = look_at(e, core, thread);
    for (unsigned i = 0; i < thread->wait_count; i++) {
        const struct wait *wait = &thread->waits[i];
        if (!wait->polled || (inside && !wait->of_memory)) continue;
        uint64_t left = wait_left(&view, wait);
        if (left)
            find_room(e, wait, left, room);
        else
            all = false;
    }
    return all;
}

/* True when only instructions of this core raise the signals, each once: then the core watches the
 * sum of their weights. */
static bool watch_signals(const struct observe_events *e, const struct wait *wait, unsigned core,
                          uint64_t left, struct core_watch *watch)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < wait->count; i++) {
        const struct chil_event *event = events_get(e, wait->events[i]);
        const struct node_signal *signals = events_signals(e, wait->events[i]);
        for (size_t k = 0; k < event->signal_count; k++) {
            uint64_t bit = UINT64_C(1) << signals[k].signal;
            if (signals[k].kind != NODE_SIGNAL_CORE ||
                (signals[k].core != CORE_ALL && signals[k].core != core))
                return false;
            if (set & bit || event->clock != 1) return false;
            set |= bit;
        }
    }
    if (watch->count == CORE_WATCHES) return false;
    watch->sums[watch->count].signals = set;
    watch->sums[watch->count++].left = left;
    return true;
}

static bool watch_cycles(const struct observe_events *e, const struct wait *wait, unsigned core,
                         uint64_t left, struct core_watch *watch)
{
    const struct chil_event *event = events_get(e, wait->events[0]);
    if (wait->count != 1 || event->signal_count != 1) return false;
    if (events_signals(e, wait->events[0])->kind != NODE_SIGNAL_CYCLES) return false;
    uint64_t cycle = core_cycles(cores_get(e->node->cores, core)) + left;
    if (!watch->cycle || cycle < watch->cycle) watch->cycle = cycle;
    return true;
}

/* Adds the waits of the thread on a core to what that core watches; true: one of them is polled
 * with events_left. */
static bool watch_thread(struct observe_events *e, unsigned core)
{
    struct core_watch *watch = node_watch_get(e->node, core);
    struct thread *thread = waiting_on(e, core);
    bool polled = false;
    if (!thread) return false;
    struct view view = look_at(e, core, thread);
    for (unsigned i = 0; i < thread->wait_count; i++) {
        struct wait *wait = &thread->waits[i];
        uint64_t left = wait_left(&view, wait);
        if (!left) left = 1; /* at the next occasion */
        wait->polled =
            !watch_cycles(e, wait, core, left, watch) && !watch_signals(e, wait, core, left, watch);
        wait->of_memory = wait->polled && is_of_memory(e, wait);
        polled |= wait->polled;
    }
    return polled;
}

uint64_t events_watch(void *context)
{
    struct observe_events *e = context;
    uint64_t polling = 0;
    for (unsigned i = 0; i < e->node->core_count; i++)
        if (watch_thread(e, i)) polling |= UINT64_C(1) << i;
    return polling;
}

void events_reached(void *context, unsigned core, int *process_signal, int *task_signal)
{
    struct observe_events *e = context;
    struct thread *thread = waiting_on(e, core);
    (void)process_signal;
    if (!thread) return;
    struct view view = look_at(e, core, thread);
    unsigned kept = 0, count = thread->wait_count;
    for (unsigned i = 0; i < count; i++) {
        if (wait_left(&view, &thread->waits[i]))
            thread->waits[kept++] = thread->waits[i];
        else
            free(thread->waits[i].events);
    }
    thread->wait_count = kept;
    if (kept < count) *task_signal = SIGXCPU_POWERPC;
}
