/* One node of a machine: its cores, the memory hierarchy, the operating system on them, and the
 * devices that are attached. node_advance runs it up to a simulated time.
 *
 * A node knows neither commands nor other nodes nor observers. Other parts attach themselves to it
 * before node_load:
 *   - a listener is notified of what happens to tasks, processes and address spaces;
 *   - a device has registers in a page of every address space;
 *   - a service answers the call-through instruction;
 *   - a watcher stops a core when a count is reached.
 * Each of them costs nothing while nothing of the kind happens.
 *
 * A signal is a named source of occurrences on the node, "core0.load" or "l2.miss"; an event of
 * data/events counts signals. node_signal_* finds and counts them; node_laws.c holds what must be
 * true between them. Terms: docs/glossary.md.
 */
#ifndef NODE_H
#define NODE_H

#include "chiliad/catalog.h"
#include "machine/cache/cache.h"
#include "machine/core/core.h"
#include "machine/os/os.h"

struct jit;
struct jit_thread;
struct node_watch;

/* --- Attached to a node ---------------------------------------------------------------------- */

/* Who is notified; every callback may be NULL. See struct os_options for the first five. */
struct node_listener {
    void *context;
    void (*switched)(void *context, unsigned core, int pid, int tid);
    void (*ended)(void *context, int pid);
    void (*forked)(void *context, int from, int pid, int tid);
    void (*memory)(void *context, enum os_memory what, const struct mem *mem,
                   const struct mem *from);
    void (*handled)(void *context, int tid, int signal, const struct core_regs *regs,
                    struct mem *mem);
    /* An access to a device has completed as an instruction of the core. */
    void (*retired)(void *context, unsigned core, const struct core_step *step);
};

/* A load or store of a device's register: words of GPRs, doublewords of FPRs, and quadwords of
 * pairs of FPRs (FP2), which are aligned. */
struct node_access {
    uint32_t address;
    uint64_t value;  /* of a store; a load's comes here; of a quadword the first 8 bytes */
    uint64_t second; /* of a quadword the last 8 bytes */
    unsigned width;
    bool load;
};
struct node_device {
    void *context;
    uint32_t page; /* the address of its registers in every address space */
    uint32_t size; /* whole pages; 0: one */
    bool outside;  /* other nodes see an access, or decide its answer: it waits for its turn */
    uint32_t load_cycles, store_cycles; /* of an access; 0: as the machine file has it */
    /* False: there is no such register, or it refuses. */
    bool (*access)(void *context, unsigned core, struct node_access *access);
    /* The access counts as an instruction now, and its time has passed; may be NULL. */
    void (*accessed)(void *context, unsigned core, const struct node_access *access);
};

/* Answers the call-through instruction: the number of the service in r3, arguments from
 * r4 on (docs/formats/callthru.md). False: the service is not one of these. */
struct node_service {
    void *context;
    bool (*serve)(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result);
};

/* Stops cores behind the instruction that reaches a count. */
struct node_watcher {
    void *context;
    /* Adds to node_watch_get of each core what that core can watch by itself. Returns a bit for
     * each core that must call `left` for the rest. */
    uint64_t (*watch)(void *context);
    /* As core_watch.remaining; only lowers what `room` has. */
    bool (*left)(void *context, unsigned core, bool inside, struct core_room *room);
    /* A core has stopped. Sets a signal for its process or its task, if it is the watcher's. */
    void (*reached)(void *context, unsigned core, int *process_signal, int *task_signal);
};

/* Signals of what the node is connected to, such as a network's. */
struct node_source {
    void *context;
    /* False: it has no such signal. The number is the source's. */
    bool (*find)(void *context, const char *name, uint32_t *number);
    void (*count)(void *context, uint32_t number, uint64_t *occurrences, uint64_t *high);
};

/* What a node needs when it is one of several: see struct os_options for both. */
struct node_outside {
    void *context; /* callbacks may be NULL */
    bool (*turn)(void *context, const struct os_action *action);
    int64_t (*output)(void *context, int stream, const void *bytes, size_t count);
};

/* What the host's user is to be asked or spared while the node runs: see struct os_options. Both
 * may be NULL. */
struct node_host {
    void *context;
    void (*writes)(void *context);
    bool (*waits)(void *context);
};

/* --- A node ---------------------------------------------------------------------------------- */

enum { NODE_ATTACHED = 8 }; /* of a kind, at most */

struct node {
    const struct chil_machine *machine;
    unsigned core_count;
    struct cache *cache;
    struct cores *cores;
    struct jit *jit;                       /* NULL: everything is interpreted */
    struct os *os;                         /* from node_load on */
    uint64_t (*counts)[CORE_SIGNAL_COUNT]; /* per core, as last taken: node_counts_take */

    void (*report)(void *context, const char *line); /* a line for the user; NULL: not wanted */
    void *report_context;
    const struct node_listener *listeners[NODE_ATTACHED];
    const struct node_service *services[NODE_ATTACHED];
    const struct node_watcher *watchers[NODE_ATTACHED];
    const struct node_device *devices[OS_DEVICES];
    const struct node_source *sources[NODE_ATTACHED];
    const struct node_outside *outside; /* NULL: it is the only node */
    const struct node_host *host;       /* NULL: no host is asked */
    struct node_watch *watches;         /* per core */
};

struct node_options {
    const struct chil_machine *machine; /* outlives the node, like all that is borrowed here */
    const char *engine;                 /* chil_run_options.engine */
    struct jit_thread *translation;     /* shared by nodes; NULL: an own one */
    void (*report)(void *context, const char *line);
    void *report_context;
};

/* Cores and hierarchy of the machine. Two hooks are part of the cores, so they must be known when
 * these are made, after the hierarchy: node_new makes the hierarchy, node_make_cores the cores. */
int node_new(struct node **node, const struct node_options *options, struct chil_error *err);
int node_make_cores(struct node *node, const struct node_options *options, struct core_trace *trace,
                    struct record *record, struct chil_error *err);
void node_free(struct node *node);

/* Borrowed until node_free; the first that was attached is the first that is notified. */
void node_attach_listener(struct node *node, const struct node_listener *listener);
void node_attach_device(struct node *node, const struct node_device *device);
void node_attach_service(struct node *node, const struct node_service *service);
void node_attach_watcher(struct node *node, const struct node_watcher *watcher);
void node_attach_source(struct node *node, const struct node_source *source);
void node_attach_outside(struct node *node, const struct node_outside *outside);
void node_attach_host(struct node *node, const struct node_host *host);

/* Loads a program: `program` has what is of the program and its files; the rest is filled in. */
int node_load(struct node *node, const struct os_options *program, struct chil_error *err);
/* Runs the node up to a simulated time (os_advance). */
enum os_progress node_advance(struct node *node, uint64_t until);

uint64_t node_elapsed(const struct node *node); /* cycles of the core that is furthest ahead */
/* A parameter of the machine file, or another value where it has none. */
uint64_t node_parameter(const struct chil_machine *machine, const char *key, uint64_t otherwise);

/* Answers a call-through (node_call.c); callback of the operating system. */
bool node_call_through(void *context, unsigned core, struct core_regs *regs, struct mem *mem);
/* Bytes of its registers' pages. */
static inline uint32_t node_device_size(const struct node_device *device)
{
    return device->size ? device->size : MEM_PAGE;
}
/* Does a load or store of a device's register (node_device.c); likewise. */
bool node_device_access(void *context, unsigned core, struct core_regs *regs, struct mem *mem,
                        uint32_t address);

/* --- Repeating (node_repeat.c) ---------------------------------------------------------------- */

/* What a core has done so far. Between two marks may be a round of a loop. */
struct node_mark {
    uint64_t cycles;
    uint64_t activity; /* of the memory hierarchy, but for devices */
    uint64_t device_loads;
    uint64_t signals[CORE_SIGNAL_COUNT];
};

/* Whether every instruction of the core is recorded or traced: then no round may be left out. */
bool node_is_followed(const struct node *node, unsigned core);
/* False: the loop cannot be repeated. Other tasks may run on the node, or a time limit or a signal
 * may come. */
bool node_mark_take(const struct node *node, unsigned core, struct node_mark *mark);
/* What was done between two marks; false: it was more than to read memory and registers of devices,
 * so the same again could be another thing. */
bool node_mark_difference(const struct node_mark *from, const struct node_mark *to,
                          struct node_mark *round);
/* The core does it so many times more, without executing it. Exact, if it would. */
void node_repeat(struct node *node, unsigned core, const struct node_mark *round, uint64_t times);

/* --- Watches (node_watch.c) ------------------------------------------------------------------ */

/* To be called whenever what a watcher waits for has changed. */
void node_watch_all(struct node *node);
struct core_watch *node_watch_get(struct node *node, unsigned core);
int node_watch_stopped(void *context, unsigned core, int *task_signal); /* likewise a callback */

/* --- Signals (node_count.c) ------------------------------------------------------------------ */

/* A signal, found once by its name. */
enum node_signal_kind {
    NODE_SIGNAL_NONE,
    NODE_SIGNAL_CORE,
    NODE_SIGNAL_MEMORY,
    NODE_SIGNAL_DATA_HITS,
    NODE_SIGNAL_CODE_HITS,
    NODE_SIGNAL_CYCLES,
    NODE_SIGNAL_ELAPSED,
    NODE_SIGNAL_SOURCE
};
struct node_signal {
    enum node_signal_kind kind;
    unsigned core;
    enum core_signal signal;
    struct cache_signal memory; /* for hits: of the misses */
    unsigned source;            /* its index in node->sources */
    uint32_t number;            /* the source's */
};
/* Nodes of one machine with the same sources have the same signals. */
void node_signal_find(const struct node *node, const char *name, struct node_signal *signal);
/* By how much a count of signals grows at most: with an access to the hierarchy, with one that
 * touches a second line, each time that one
 * of a set of a core's signals is raised, with a cycle. Begins as {0}. */
struct node_growth {
    uint64_t access, crossing, raise, cycle;
    uint64_t signals; /* the set */
};
void node_growth_add(struct node_growth *growth, const struct node_signal *signals, size_t count,
                     enum chil_count_mode mode);
/* Lowers `room` so that it cannot grow by `left` within it. */
void node_growth_room(const struct node_growth *growth, uint64_t left, struct core_room *room);
/* Whether what it counts is known within a block of instructions: only memory raises it. */
bool node_signal_is_of_memory(const struct node_signal *signal);
/* Whether it is of all cores, and each has a part of it: "core.load", but not "core0.load". */
bool node_signal_is_of_cores(const struct node_signal *signal);
/* Its count on the whole node; node->counts must be fresh. */
uint64_t node_signal_count(const struct node *node, const struct node_signal *signal,
                           enum chil_count_mode mode);
void node_counts_take(struct node *node); /* makes node->counts fresh */

/* What an event counted, on one core or on all (CORE_ALL); `signals` are that core's, when it is
 * one core. */
uint64_t node_count(const struct node *node, const struct chil_event *event, unsigned core,
                    const uint64_t *signals);
/* The same with the event's signals, found before: each look-up compares names. */
uint64_t node_found_count(const struct node *node, const struct chil_event *event,
                          const struct node_signal *found, unsigned core, const uint64_t *signals);

/* Counts that are attributed to a thread or a call path: what a core and the hierarchy did for it.
 * An event's may be negative: a read that overlaps an earlier one changes cycles with one
 * outstanding, counted then, into cycles with two. */
struct node_attribution {
    unsigned core;
    const uint64_t *signals;
    uint64_t crossings, cycles;
    const struct cache *cache;
};
int64_t node_attributed_count(const struct node *node, const struct chil_event *event,
                              const struct node_signal *signals,
                              const struct node_attribution *attribution);

/* Checks the laws between the counts, which must be fresh (node_laws.c): how many hold into
 * *checked; CHIL_ELAW and which law when one does not. */
int node_check_laws(const struct node *node, unsigned *checked, struct chil_error *err);

/* --- The engine (node_engine.c) -------------------------------------------------------------- */

/* How instructions are executed: makes node->jit and fills in what cores need to know. */
int node_engine(struct node *node, const struct node_options *options, bool traced,
                struct core_options *core, struct chil_error *err);

#endif
