/* Inside a run: a node's cores, the operating system on them, and the counts of its wires.
 *
 * Terms: docs/glossary.md
 */
#ifndef NODE_H
#define NODE_H

#include "machine/cache/cache.h"
#include "chiliad/run.h"
#include "machine/core/core.h"
#include "measure/counters/counters.h"
#include "machine/os/os.h"

struct jit;
struct node_upc;
struct node_monitor;
struct node_trace;
struct node_events;
struct node_record;
struct node_names;
struct node_symbols;
struct record_function;

struct chil_run {
    const struct chil_machine *machine;
    struct cache *cache;
    struct cores *cores;
    struct jit *jit; /* NULL: everything is interpreted */
    unsigned core_count;
    struct os *os;
    struct os_result result;
    struct chil_run_options options;
    struct counters *counters; /* per process */
    struct node_upc *upc;      /* NULL on machines with another unit */
    struct node_monitor *monitor;
    struct node_events *events;
    struct node_watch *watches; /* per core */
    struct node_trace *trace;   /* NULL without one */
    bool trace_on;              /* the switch, whether there is a trace or not */
    bool stopped;               /* by the caller, before its end */
    struct core *telling;       /* whose data access the caller is being told of */
    struct node_symbols *symbols;
    struct node_record *record; /* NULL unless call paths are recorded */
    struct node_names *names;   /* NULL unless they are asked for */
    const struct chil_event *own;
    size_t own_count;
    uint64_t (*counts)[CORE_SIGNAL_COUNT]; /* per core, as last taken */
    unsigned laws;                         /* that held at the end */
};

/* A wire, found once by name, and its count on the whole node; `run->counts` must be fresh. */
enum node_wire_kind {
    NODE_WIRE_NONE,
    NODE_WIRE_CORE,
    NODE_WIRE_MEMORY,
    NODE_WIRE_DATA_HITS,
    NODE_WIRE_CODE_HITS,
    NODE_WIRE_CYCLES,
    NODE_WIRE_ELAPSED
};
struct node_wire {
    enum node_wire_kind kind;
    unsigned core;
    enum core_signal signal;
    struct cache_wire memory; /* for hits: of the misses */
};
void node_wire_find(const struct chil_run *run, const char *name, struct node_wire *wire);
uint64_t node_wire_count(const struct chil_run *run, const struct node_wire *wire,
                         enum chil_count_mode mode);

/* What an event counted, on one core or on all (CORE_ALL); `signals` are that core's, when only one
 * is asked for. */
uint64_t node_count(const struct chil_run *run, const struct chil_event *event, unsigned core,
                    const uint64_t *signals);

/* The same for a part of what a core and the memory hierarchy did, which has counts of its own. May
 * be negative: a read that overlaps an earlier one turns cycles with one outstanding, counted then,
 * into cycles with two. */
struct node_part {
    unsigned core;
    const uint64_t *signals;
    uint64_t crossings, cycles;
    const struct cache *cache;
};
int64_t node_part_count(const struct chil_run *run, const struct chil_event *event,
                        const struct node_wire *wires, const struct node_part *part);

/* Holds the counts, which must be fresh, against the laws between them; CHIL_ELAW and which law
 * (node_laws.c). */
int node_check_laws(struct chil_run *run, struct chil_error *err);

/* How instructions are executed (node_engine.c): fills in what cores need to know. */
int node_engine(struct chil_run *run, struct core_options *options, struct chil_error *err);

/* The simulator's own counters and the call-through (node_service.c); the last three are callbacks
 * of the system. */
struct counters *node_counters_new(struct chil_run *run);
bool node_call_through(void *context, unsigned core, struct core_regs *regs, struct mem *mem);
void node_switched(void *context, unsigned core, int pid, int tid);
void node_ended(void *context, int pid);

/* The counter unit (node_upc.c). */
struct node_upc *node_upc_new(struct chil_run *run);
void node_upc_free(struct node_upc *unit);
void node_upc_catch_up(struct chil_run *run,
                       uint64_t now); /* tells it everything up to that cycle */
bool node_upc_is_running(const struct chil_run *run);
bool node_upc_interrupted(struct chil_run *run); /* since last asked */
/* Adds what its thresholds wait for; true when some of it has to be asked for: how much is left of
 * that. */
bool node_upc_watch(struct chil_run *run);
uint64_t node_upc_left(struct chil_run *run);

/* Loads and stores of devices' registers (node_device.c): words of GPRs and doublewords of FPRs. */
struct node_access {
    uint32_t address;
    uint64_t value; /* of a store; a load's comes here */
    unsigned width;
    bool load;
};
bool node_device(void *context, unsigned core, struct core_regs *regs, struct mem *mem,
                 uint32_t address);
/* False: there is no such register, or it refuses. */
bool node_upc_access(struct chil_run *run, unsigned core, struct node_access *access);
void node_upc_accessed(struct chil_run *run, unsigned core,
                       const struct node_access *access); /* time has passed */
bool node_monitor_access(struct chil_run *run, unsigned core, struct node_access *access);

/* Transactions of the node, for the run's caller and for the monitor's board (node_monitor.c). */
#define NODE_MONITOR_BASE                                                                          \
    UINT32_C(0xFFFDB000) /* of the board's registers: the page behind the counter unit's */
struct node_monitor *node_monitor_new(struct chil_run *run);
void node_monitor_free(struct node_monitor *monitor);
void node_monitor_task(struct chil_run *run, unsigned core, int pid, int tid);
/* Its interrupts as signals: whether cores must watch for them, how many transactions are left at
 * least, and whether the thread on a core has caused one since last asked. */
bool node_monitor_watch(const struct chil_run *run);
uint64_t node_monitor_left(const struct chil_run *run, unsigned core);
bool node_monitor_interrupted(struct chil_run *run, unsigned core);
void node_monitor_names(const struct chil_run *run, uint32_t address, uint8_t *category,
                        uint8_t *tag);
/* Service 24: tags pages; `at` has three words: address, bytes, tag. */
int32_t node_monitor_tag(struct chil_run *run, struct mem *mem, uint32_t at);

/* All events of the catalogue for programs, thread by thread (node_events.c). */
struct node_events *node_events_new(struct chil_run *run);
void node_events_free(struct node_events *events);
bool node_events_serve(struct chil_run *run, unsigned core, const uint32_t *arg, struct mem *mem,
                       int32_t *result);
void node_events_switched(struct chil_run *run, unsigned core, int pid, int tid);
void node_events_ended(struct chil_run *run, int pid);
/* What the thread on a core waits for: likewise; and takes off what it has reached: true when there
 * was something. */
bool node_events_watch(struct chil_run *run, unsigned core, struct core_watch *watch);
uint64_t node_events_left(struct chil_run *run, unsigned core);
bool node_events_reached(struct chil_run *run, unsigned core);

/* What cores watch for, of both (node_watch.c). To be called whenever that may have changed. */
struct node_watch {
    struct core_watch watch;
    struct chil_run *run;
    unsigned core;
};
void node_watch_all(struct chil_run *run);
/* A callback of the system: a core has stopped for it. */
int node_watch(void *context, unsigned core, int *task_signal);

/* The trace (node_trace.c): switched by programs; who runs where; an instruction that was done for
 * a core. */
struct node_trace *node_trace_new(struct chil_run *run);
struct core_trace *node_trace_of_cores(struct node_trace *trace);
bool node_trace_switch(struct chil_run *run, bool on); /* false when nobody cares */
void node_trace_task(struct chil_run *run, unsigned core, int pid, int tid);
void node_trace_retired(struct chil_run *run, unsigned core, const struct core_step *step);

/* Call paths (node_record.c): for cores_new; callbacks of the system; regions of the program's. */
struct record;
struct node_code_symbol;
struct node_record *node_record_new(struct chil_run *run);
void node_record_free(struct node_record *record);
struct record *node_record_of_cores(struct node_record *record);
struct chil_exp;
void node_record_code(struct node_record *record,
                      struct chil_exp *exp); /* gives it the code (node_code.c) */
/* Its call tree: regions and nodes (node_calls.c). Gives the node of each path by its number, to be
 * freed. */
int *node_calls_add(struct chil_run *run, struct chil_exp *exp);
/* Where an instruction of a function is in its file; in none: in memory. */
uint32_t node_calls_address(const struct record_function *function, uint32_t pc);
void node_record_switched(struct chil_run *run, unsigned core, int pid, int tid);
void node_record_turn(struct chil_run *run); /* the next set of counters is on */
void node_record_forked(void *context, int from, int pid, int tid);
void node_record_handled(void *context, int tid, int signal, const struct core_regs *regs,
                         struct mem *mem);
int32_t node_record_serve(struct chil_run *run, unsigned core, const uint32_t *arg,
                          const struct mem *mem);

/* The ranges of a file that is mapped `bias` away from its own addresses (node_ranges.c). `prefix`:
 * of the names of its sections, for libraries; NULL: it is the program, with areas around it. A
 * file that cannot be read has none. */
void node_file_ranges(const char *file, enum chil_program_part part, uint32_t bias,
                      const char *prefix, chil_program_range tell, void *context);

/* Where an address lies in a program: "function+0x10 (file.c:12)", as far as its symbols tell; ""
 * otherwise. */
void node_symbol(const char *program, uint32_t address, char *buffer, size_t size);

#endif
