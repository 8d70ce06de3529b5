/* Inside a run: a node's cores, the operating system on them, and the counts of its wires. */
#ifndef NODE_H
#define NODE_H

#include "cache/cache.h"
#include "chiliad/run.h"
#include "core/core.h"
#include "counters/counters.h"
#include "os/os.h"

struct node_upc;

struct chil_run {
    const struct chil_machine *machine;
    struct cache *cache;
    struct cores *cores;
    unsigned core_count;
    struct os *os;
    struct os_result result;
    struct chil_run_options options;
    struct counters *counters; /* per process */
    struct node_upc *upc;      /* NULL on machines with another unit */
    const struct chil_event *own;
    size_t own_count;
    uint64_t (*counts)[CORE_SIGNAL_COUNT]; /* per core, as last taken */
};

/* A wire, found once by name, and its count on the whole node; `run->counts` must be fresh. */
enum node_wire_kind {
    NODE_WIRE_NONE,
    NODE_WIRE_CORE,
    NODE_WIRE_MEMORY,
    NODE_WIRE_DATA_HITS,
    NODE_WIRE_CODE_HITS,
    NODE_WIRE_ELAPSED
};
struct node_wire {
    enum node_wire_kind kind;
    unsigned core;
    enum core_signal signal;
    struct cache_wire memory; /* for hits: of the misses */
};
void node_wire_find(const struct chil_run *run, const char *name, struct node_wire *wire);
uint64_t node_wire_count(const struct chil_run *run, const struct node_wire *wire, enum chil_count_mode mode);

/* What an event counted, on one core or on all (CORE_ALL); `signals` are that core's, when only one is asked for. */
uint64_t node_count(const struct chil_run *run, const struct chil_event *event, unsigned core, const uint64_t *signals);

/* The simulator's own counters and the call-through (node_service.c); the last three are callbacks of the system. */
struct counters *node_counters_new(struct chil_run *run);
bool node_call_through(void *context, unsigned core, struct core_regs *regs, struct mem *mem);
void node_switched(void *context, unsigned core, int pid, int tid);
void node_ended(void *context, int pid);

/* The counter unit (node_upc.c). */
struct node_upc *node_upc_new(struct chil_run *run);
void node_upc_free(struct node_upc *unit);
int node_watch(void *context, unsigned core);
bool node_device(void *context, unsigned core, struct core_regs *regs, struct mem *mem, uint32_t address);

/* Where an address lies in a program: "function+0x10 (file.c:12)", as far as its symbols tell; "" otherwise. */
void node_symbol(const char *program, uint32_t address, char *buffer, size_t size);

#endif
