/* Every event of the catalogue for the program that runs: services 16 to 20
 * (docs/formats/callthru.md).
 *
 * The counter unit counts 256 events at a time; here a program reads as many as it likes at one
 * moment, between two instructions. Counts only grow; a program that wants those of a region takes
 * a difference. An event has an index: the machine's rows first, in the order of their ids, then
 * the simulator's own.
 *
 * Whose counts. A row of the machine names its core or unit and is counted by what drives that
 * unit, as on the chip. The simulator's own name no core: their wires on cores count what the
 * calling thread did, wherever it ran. So per core there is the state of all its wires when it was
 * last looked at, and per thread the sum of the differences while it was on; cores are looked at
 * when they go to another thread and when someone asks. None of that is done before the first read:
 * programs that ask nothing pay nothing, and what was before counts for nobody.
 *
 * A thread can wait for counts: the cores watch for it (node_watch.c), and it gets a signal behind
 * the instruction that gets there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/node/node.h"

enum {
    SERVICE_EVENTS = 16, /* the last number of this file: 20 */
    SERVICE_EVENT = 17,
    SERVICE_EVENTS_READ = 18,
    SERVICE_EVENTS_WAIT = 19,
    SERVICE_PARAMETER = 20
};

/* As in guest/include/chiliad/callthru.h. */
enum {
    EVENT_NAME = 64,
    EVENT_UNIT = 32,
    EVENT_TEXT = 160,
    PARAMETER_NAME = 64,
    PARAMETER_TEXT = 64,
    LIST_MAX = 65536
};
enum event_kind { KIND_RESERVED, KIND_MACHINE, KIND_OWN };
enum scope { SCOPE_THREAD, SCOPE_PROCESS, SCOPE_NODE, SCOPES };

/* What a core, or a thread on cores, has done: all wires that belong to a core. */
struct tally {
    uint64_t signals[CORE_SIGNAL_COUNT];
    uint64_t crossings, cycles;
    uint64_t rises[CACHE_WIRES], highs[CACHE_WIRES];
};

/* A sum of events, and where it has to get to. */
struct wait {
    uint32_t *events;
    uint32_t count;
    uint64_t target;
    bool asked; /* the core cannot watch for it by itself */
};

struct thread {
    int pid, tid;
    struct tally tally;
    struct wait *waits;
    unsigned wait_count;
    struct thread *next;
};

struct wires {
    struct node_wire *wire; /* NULL: not looked up yet */
};

struct node_events {
    size_t machine_count, count;
    const struct chil_event *machine;
    struct wires *wires; /* by index */
    bool active;
    struct thread *threads;
    struct slot {
        int pid, tid; /* of the task on this core; 0: none yet */
        struct tally last;
    } * slots; /* per core */
};

struct node_events *node_events_new(struct chil_run *run)
{
    struct node_events *e = base_calloc(1, sizeof *e);
    e->machine = chil_machine_events(run->machine, &e->machine_count);
    e->count = e->machine_count + run->own_count;
    e->wires = base_calloc(e->count, sizeof *e->wires);
    e->slots = base_calloc(run->core_count, sizeof *e->slots);
    return e;
}

static void forget_waits(struct thread *thread)
{
    for (unsigned i = 0; i < thread->wait_count; i++)
        free(thread->waits[i].events);
    free(thread->waits);
    thread->waits = NULL;
    thread->wait_count = 0;
}

void node_events_free(struct node_events *e)
{
    if (!e) return;
    for (struct thread *next; e->threads; e->threads = next) {
        next = e->threads->next;
        forget_waits(e->threads);
        free(e->threads);
    }
    for (size_t i = 0; i < e->count; i++)
        free(e->wires[i].wire);
    free(e->wires);
    free(e->slots);
    free(e);
}

/* --- Tallies --------------------------------------------------------------------------------- */

static bool is_core_wire(enum cache_wire_id id)
{
    return cache_wire_scope(id) <= CACHE_OF_SNOOP;
}

static void tally_core(const struct chil_run *run, unsigned number, struct tally *now)
{
    struct core *core = cores_get(run->cores, number);
    core_signal_counts(core, now->signals);
    now->crossings = core_crossings(core);
    now->cycles = core_cycles(core) - core_idle_cycles(core);
    for (unsigned id = 0; id < CACHE_WIRES; id++)
        if (is_core_wire((enum cache_wire_id)id))
            cache_wire_count(run->cache, (struct cache_wire){(enum cache_wire_id)id, number},
                             &now->rises[id], &now->highs[id]);
}

/* Tallies are structs of nothing but uint64_t. */
static void tally_add(struct tally *sum, const struct tally *now, const struct tally *before)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *plus = (const uint64_t *)now, *minus = (const uint64_t *)before;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += plus[i] - (minus ? minus[i] : 0);
}

static struct thread *find_thread(const struct node_events *e, int tid)
{
    struct thread *thread = e->threads;
    while (thread && thread->tid != tid)
        thread = thread->next;
    return thread;
}

static struct thread *thread_on(struct node_events *e, unsigned core)
{
    const struct slot *slot = &e->slots[core];
    struct thread *thread = slot->tid ? find_thread(e, slot->tid) : NULL;
    if (thread || !slot->tid) return thread;
    thread = base_calloc(1, sizeof *thread);
    thread->pid = slot->pid;
    thread->tid = slot->tid;
    thread->next = e->threads;
    return e->threads = thread;
}

/* Gives what a core has done since it was last looked at to the thread on it. */
static void settle(struct chil_run *run, unsigned core)
{
    struct node_events *e = run->events;
    struct tally now = {0};
    tally_core(run, core, &now);
    struct thread *thread = thread_on(e, core);
    if (thread) tally_add(&thread->tally, &now, &e->slots[core].last);
    e->slots[core].last = now;
}

static void activate(struct chil_run *run)
{
    if (run->events->active) return;
    run->events->active = true;
    for (unsigned i = 0; i < run->core_count; i++)
        tally_core(run, i, &run->events->slots[i].last);
}

void node_events_switched(struct chil_run *run, unsigned core, int pid, int tid)
{
    struct node_events *e = run->events;
    struct slot *slot = &e->slots[core];
    const struct thread *before = e->active && slot->tid ? find_thread(e, slot->tid) : NULL;
    if (e->active) settle(run, core);
    slot->pid = pid;
    slot->tid = tid;
    const struct thread *after = e->active ? find_thread(e, tid) : NULL;
    if (!(before && before->wait_count) && !(after && after->wait_count)) return;
    if (run->upc && node_upc_is_running(run))
        node_upc_catch_up(run, core_cycles(cores_get(run->cores, core)));
    node_watch_all(run);
}

void node_events_ended(struct chil_run *run, int pid)
{
    struct node_events *e = run->events;
    for (unsigned i = 0; i < run->core_count; i++) {
        if (e->slots[i].pid != pid) continue;
        if (e->active) settle(run, i);
        e->slots[i].pid = e->slots[i].tid = 0;
    }
    for (struct thread **at = &e->threads; *at;) {
        struct thread *thread = *at;
        if (thread->pid != pid) {
            at = &thread->next;
            continue;
        }
        *at = thread->next;
        forget_waits(thread);
        free(thread);
    }
}

/* --- Counts ---------------------------------------------------------------------------------- */

static const struct chil_event *event_at(const struct chil_run *run, uint32_t index)
{
    const struct node_events *e = run->events;
    if (index < e->machine_count) return &e->machine[index];
    return index < e->count ? &run->own[index - e->machine_count] : NULL;
}

static const struct node_wire *wires_of(const struct chil_run *run, uint32_t index)
{
    struct wires *wires = &run->events->wires[index];
    const struct chil_event *event = event_at(run, index);
    if (wires->wire || !event->signal_count) return wires->wire;
    wires->wire = base_calloc(event->signal_count, sizeof *wires->wire);
    for (size_t i = 0; i < event->signal_count; i++)
        node_wire_find(run, event->signals[i], &wires->wire[i]);
    return wires->wire;
}

static bool is_of_cores(const struct node_wire *wire)
{
    switch (wire->kind) {
    case NODE_WIRE_CORE: return wire->core == CORE_ALL;
    case NODE_WIRE_MEMORY:
    case NODE_WIRE_DATA_HITS:
    case NODE_WIRE_CODE_HITS:
        return wire->memory.instance == CACHE_ALL && is_core_wire(wire->memory.id);
    default: return wire->kind == NODE_WIRE_CYCLES;
    }
}

/* A look at counts: of a tally, and with `live` of what the core has done since the tally was
 * taken, too; without a tally, of the node. Instructions are added up only when something asks for
 * them. */
struct view {
    struct chil_run *run;
    const struct tally *tally;
    const struct slot *live;
    unsigned core;
    bool counted, fresh;
    uint64_t signals[CORE_SIGNAL_COUNT]; /* of the live core */
};

static uint64_t view_signal(struct view *view, enum core_signal signal)
{
    uint64_t count = view->tally->signals[signal];
    if (!view->live) return count;
    if (!view->counted) core_signal_counts(cores_get(view->run->cores, view->core), view->signals);
    view->counted = true;
    return count + view->signals[signal] - view->live->last.signals[signal];
}

static uint64_t view_memory(const struct view *view, enum cache_wire_id id,
                            enum chil_count_mode mode)
{
    bool high = mode == CHIL_COUNT_HIGH;
    uint64_t count = high ? view->tally->highs[id] : view->tally->rises[id], rises, highs;
    if (!view->live) return count;
    cache_wire_count(view->run->cache, (struct cache_wire){id, view->core}, &rises, &highs);
    return count + (high ? highs - view->live->last.highs[id] : rises - view->live->last.rises[id]);
}

static uint64_t view_crossings(const struct view *view)
{
    uint64_t count = view->tally->crossings;
    if (!view->live) return count;
    return count + core_crossings(cores_get(view->run->cores, view->core)) -
           view->live->last.crossings;
}

static uint64_t view_cycles(const struct view *view)
{
    const struct core *core = cores_get(view->run->cores, view->core);
    uint64_t count = view->tally->cycles;
    return view->live ? count + core_cycles(core) - core_idle_cycles(core) - view->live->last.cycles
                      : count;
}

static uint64_t view_node(struct view *view, const struct node_wire *wire,
                          enum chil_count_mode mode)
{
    if (!view->fresh && wire->kind != NODE_WIRE_MEMORY)
        for (unsigned i = 0; i < view->run->core_count; i++)
            core_signal_counts(cores_get(view->run->cores, i), view->run->counts[i]);
    view->fresh |= wire->kind != NODE_WIRE_MEMORY;
    return node_wire_count(view->run, wire, mode);
}

static uint64_t view_wire(struct view *view, const struct node_wire *wire,
                          enum chil_count_mode mode)
{
    if (!view->tally || !is_of_cores(wire)) return view_node(view, wire, mode);
    switch (wire->kind) {
    case NODE_WIRE_CORE: return view_signal(view, wire->signal);
    case NODE_WIRE_MEMORY: return view_memory(view, wire->memory.id, mode);
    case NODE_WIRE_DATA_HITS:
        return view_signal(view, CORE_SIGNAL_LOAD) + view_signal(view, CORE_SIGNAL_STORE) +
               view_crossings(view) - view_memory(view, wire->memory.id, CHIL_COUNT_RISE);
    case NODE_WIRE_CODE_HITS:
        return view_signal(view, CORE_SIGNAL_FETCH) -
               view_memory(view, wire->memory.id, CHIL_COUNT_RISE);
    default: return view_cycles(view);
    }
}

/* Low is what is left of the time; falls are as many as rises. */
static uint64_t count_in(struct view *view, uint32_t index, enum chil_count_mode mode)
{
    const struct chil_event *event = event_at(view->run, index);
    const struct node_wire *wires = wires_of(view->run, index), time = {.kind = NODE_WIRE_ELAPSED};
    bool level = mode == CHIL_COUNT_HIGH || mode == CHIL_COUNT_LOW;
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++)
        sum += view_wire(view, &wires[i], level ? CHIL_COUNT_HIGH : mode);
    if (mode == CHIL_COUNT_LOW) sum = view_node(view, &time, mode) - sum;
    return level ? sum / event->clock : sum;
}

static uint64_t count_event(struct view *view, uint32_t index)
{
    return count_in(view, index, event_at(view->run, index)->mode);
}

/* In a list to be read an index has in its upper bits how to count: 0 as the event's row says, else
 * 1 + the mode. */
enum { WAY_BIT = 28, INDEX_MASK = (1 << WAY_BIT) - 1, WAYS = 4 };

static uint64_t count_asked(struct view *view, uint32_t asked)
{
    uint32_t way = asked >> WAY_BIT, index = asked & INDEX_MASK;
    return way ? count_in(view, index, (enum chil_count_mode)(way - 1)) : count_event(view, index);
}

/* What the scope covers, up to now. */
static void tally_scope(struct chil_run *run, unsigned core, enum scope scope, struct tally *tally)
{
    struct node_events *e = run->events;
    *tally = (struct tally){0};
    for (unsigned i = 0; i < run->core_count; i++)
        if (i == core || scope == SCOPE_PROCESS) settle(run, i);
    for (const struct thread *thread = e->threads; thread; thread = thread->next)
        if (scope == SCOPE_PROCESS ? thread->pid == e->slots[core].pid
                                   : thread->tid == e->slots[core].tid)
            tally_add(tally, &thread->tally, NULL);
}

/* --- Waiting --------------------------------------------------------------------------------- */

static struct thread *waiting_on(const struct chil_run *run, unsigned core)
{
    const struct node_events *e = run->events;
    struct thread *thread =
        e->active && e->slots[core].tid ? find_thread(e, e->slots[core].tid) : NULL;
    return thread && thread->wait_count ? thread : NULL;
}

static struct view look_at(struct chil_run *run, unsigned core, const struct thread *thread)
{
    return (struct view){
        .run = run, .tally = &thread->tally, .live = &run->events->slots[core], .core = core};
}

static uint64_t wait_left(struct view *view, const struct wait *wait)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < wait->count; i++)
        sum += count_event(view, wait->events[i]);
    return sum < wait->target ? wait->target - sum : 0;
}

uint64_t node_events_left(struct chil_run *run, unsigned core)
{
    const struct thread *thread = waiting_on(run, core);
    uint64_t least = UINT64_MAX;
    if (!thread) return least;
    struct view view = look_at(run, core, thread);
    for (unsigned i = 0; i < thread->wait_count; i++) {
        uint64_t left = thread->waits[i].asked ? wait_left(&view, &thread->waits[i]) : UINT64_MAX;
        if (left < least) least = left;
    }
    return least;
}

/* A wait for what only this core's instructions raise, each signal once: the core can watch for it
 * by itself. */
static bool watch_signals(const struct chil_run *run, const struct wait *wait, unsigned core,
                          uint64_t left, struct core_watch *watch)
{
    uint64_t signals = 0;
    for (uint32_t i = 0; i < wait->count; i++) {
        const struct chil_event *event = event_at(run, wait->events[i]);
        const struct node_wire *wires = wires_of(run, wait->events[i]);
        for (size_t k = 0; k < event->signal_count; k++) {
            uint64_t bit = UINT64_C(1) << wires[k].signal;
            if (wires[k].kind != NODE_WIRE_CORE ||
                (wires[k].core != CORE_ALL && wires[k].core != core))
                return false;
            if (signals & bit || event->clock != 1) return false;
            signals |= bit;
        }
    }
    if (watch->count == CORE_WATCHES) return false;
    watch->sums[watch->count].signals = signals;
    watch->sums[watch->count++].left = left;
    return true;
}

static bool watch_cycles(const struct chil_run *run, const struct wait *wait, unsigned core,
                         uint64_t left, struct core_watch *watch)
{
    const struct chil_event *event = event_at(run, wait->events[0]);
    if (wait->count != 1 || event->signal_count != 1) return false;
    if (wires_of(run, wait->events[0])->kind != NODE_WIRE_CYCLES) return false;
    uint64_t cycle = core_cycles(cores_get(run->cores, core)) + left;
    if (!watch->cycle || cycle < watch->cycle) watch->cycle = cycle;
    return true;
}

bool node_events_watch(struct chil_run *run, unsigned core, struct core_watch *watch)
{
    struct thread *thread = waiting_on(run, core);
    bool asked = false;
    if (!thread) return false;
    struct view view = look_at(run, core, thread);
    for (unsigned i = 0; i < thread->wait_count; i++) {
        struct wait *wait = &thread->waits[i];
        uint64_t left = wait_left(&view, wait);
        if (!left) left = 1; /* at the next occasion */
        wait->asked = !watch_cycles(run, wait, core, left, watch) &&
                      !watch_signals(run, wait, core, left, watch);
        asked |= wait->asked;
    }
    return asked;
}

bool node_events_reached(struct chil_run *run, unsigned core)
{
    struct thread *thread = waiting_on(run, core);
    if (!thread) return false;
    struct view view = look_at(run, core, thread);
    unsigned kept = 0, count = thread->wait_count;
    for (unsigned i = 0; i < count; i++) {
        if (wait_left(&view, &thread->waits[i]))
            thread->waits[kept++] = thread->waits[i];
        else
            free(thread->waits[i].events);
    }
    thread->wait_count = kept;
    return kept < count;
}

/* --- Services -------------------------------------------------------------------------------- */

/* Fixed places in a record: NUL-terminated, cut to fit. */
static void put_text(char *place, size_t size, const char *text)
{
    memset(place, 0, size);
    (void)snprintf(place, size, "%s", text ? text : "");
}

static int32_t tell_event(const struct chil_run *run, uint32_t index, uint32_t address,
                          struct mem *mem)
{
    enum { WORDS = 12 };
    const struct chil_event *event = event_at(run, index);
    if (!event) return -EINVAL;
    char *at = mem_writable(mem, address, WORDS + EVENT_NAME + EVENT_UNIT + EVENT_TEXT);
    if (!at) return -EFAULT;
    enum event_kind kind = event->simulator  ? KIND_OWN
                           : event->reserved ? KIND_RESERVED
                                             : KIND_MACHINE;
    mem_host_put32(at, event->id);
    mem_host_put32(at + 4, kind);
    mem_host_put32(at + 8, (uint32_t)event->exactness);
    put_text(at + WORDS, EVENT_NAME, event->name);
    put_text(at + WORDS + EVENT_NAME, EVENT_UNIT, event->unit);
    put_text(at + WORDS + EVENT_NAME + EVENT_UNIT, EVENT_TEXT, event->text);
    return 0;
}

/* Reads a list of event indices, with so many ways to count at most; NULL and *error when it is no
 * good. */
static uint32_t *get_list(const struct chil_run *run, const struct mem *mem, uint32_t address,
                          uint32_t count, uint32_t ways, int32_t *error)
{
    const char *at = count <= LIST_MAX ? mem_readable(mem, address, 4 * (uint64_t)count) : NULL;
    *error = count > LIST_MAX ? -EINVAL : -EFAULT;
    if (!at) return NULL;
    uint32_t *list = base_calloc(count ? count : 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = mem_host_get32(at + 4 * i);
        if (list[i] >> WAY_BIT <= ways && event_at(run, list[i] & INDEX_MASK)) continue;
        *error = -EINVAL;
        free(list);
        return NULL;
    }
    return list;
}

/* A request: count, scope, where the indices are, where the counts go. */
static int32_t read_events(struct chil_run *run, unsigned core, uint32_t request, struct mem *mem)
{
    uint32_t word[4];
    int32_t error;
    struct tally tally;
    for (unsigned i = 0; i < 4; i++)
        if (!mem_get32(mem, request + 4 * i, &word[i])) return -EFAULT;
    if (word[1] >= SCOPES) return -EINVAL;
    uint32_t *list = get_list(run, mem, word[2], word[0], WAYS, &error);
    if (!list) return error;
    activate(run);
    tally_scope(run, core, (enum scope)word[1], &tally);
    struct view view = {.run = run, .tally = word[1] == SCOPE_NODE ? NULL : &tally};
    error = 0;
    for (uint32_t i = 0; i < word[0] && !error; i++)
        if (!mem_put64(mem, word[3] + 8 * i, count_asked(&view, list[i]))) error = -EFAULT;
    free(list);
    return error;
}

/* A wait in memory: how many events, where their indices are, the sum as 64 bits. */
static int32_t get_wait(const struct chil_run *run, const struct mem *mem, uint32_t address,
                        struct wait *wait)
{
    enum { EVENTS_OF_WAIT = 64 };
    uint32_t list;
    int32_t error;
    if (!mem_get32(mem, address, &wait->count) || !mem_get32(mem, address + 4, &list))
        return -EFAULT;
    if (!mem_get64(mem, address + 8, &wait->target)) return -EFAULT;
    if (!wait->count || wait->count > EVENTS_OF_WAIT) return -EINVAL;
    wait->events = get_list(run, mem, list, wait->count, 0, &error);
    return wait->events ? 0 : error;
}

static int32_t wait_for(struct chil_run *run, unsigned core, uint32_t address, uint32_t count,
                        struct mem *mem)
{
    enum { WAIT_BYTES = 16 };
    int32_t error = 0;
    if (count > CORE_WATCHES) return -EINVAL;
    activate(run);
    struct thread *thread = thread_on(run->events, core);
    if (!thread) return -EPERM;
    forget_waits(thread);
    if (count) thread->waits = base_calloc(count, sizeof *thread->waits);
    for (; !error && thread->wait_count < count; thread->wait_count += !error)
        error = get_wait(run, mem, address + WAIT_BYTES * thread->wait_count,
                         &thread->waits[thread->wait_count]);
    if (error) forget_waits(thread);
    if (run->upc && node_upc_is_running(run))
        node_upc_catch_up(run, core_cycles(cores_get(run->cores, core)));
    node_watch_all(run);
    return error;
}

/* A parameter of the machine as text; numbers in decimal. */
static int32_t tell_parameter(const struct chil_run *run, uint32_t name_at, uint32_t address,
                              struct mem *mem)
{
    int64_t length = mem_strlen(mem, name_at, PARAMETER_NAME);
    if (length < 0) return -EFAULT;
    if (length >= PARAMETER_NAME) return -EINVAL;
    const char *name = mem_readable(mem, name_at, (uint64_t)length + 1);
    char *at = mem_writable(mem, address, PARAMETER_TEXT), number[24];
    if (!name || !at) return -EFAULT;
    uint64_t value;
    const char *word = chil_machine_word(run->machine, name);
    if (!word) return -ENOENT;
    (void)snprintf(number, sizeof number, "%llu",
                   chil_machine_number(run->machine, name, &value) ? 0 : (unsigned long long)value);
    put_text(at, PARAMETER_TEXT, chil_machine_number(run->machine, name, &value) ? word : number);
    return 0;
}

bool node_events_serve(struct chil_run *run, unsigned core, const uint32_t *arg, struct mem *mem,
                       int32_t *result)
{
    switch (arg[0]) {
    case SERVICE_EVENTS: *result = (int32_t)run->events->count; return true;
    case SERVICE_EVENT: *result = tell_event(run, arg[1], arg[2], mem); return true;
    case SERVICE_EVENTS_READ: *result = read_events(run, core, arg[1], mem); return true;
    case SERVICE_EVENTS_WAIT: *result = wait_for(run, core, arg[1], arg[2], mem); return true;
    case SERVICE_PARAMETER: *result = tell_parameter(run, arg[1], arg[2], mem); return true;
    default: return false;
    }
}
