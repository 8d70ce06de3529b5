/* Inside a run: a machine, a program, its devices and observers. */
#ifndef RUN_IMPL_H
#define RUN_IMPL_H

#include "machine/net/net_torus.h"
#include "machine/system/system.h"
#include "measure/device/device.h"
#include "measure/observe/observe.h"

struct chil_ranks {
    struct ranks *ranks;
};

/* A node of the run, with its devices and observers. */
struct run_node {
    struct chil_run *run;
    struct node *node;
    struct device_upc *upc; /* NULL on machines with another unit */
    struct observe observe;
    struct node_host host;
    struct os_result result;
};

struct chil_run {
    struct chil_run_options options;
    struct run_node *nodes;
    unsigned node_count;
    unsigned first_node, end_node; /* the nodes of this process: all, or a rank's */
    struct run_found *found;       /* signals of events (run_count.c) */
    struct run_others *others; /* what other ranks counted; NULL: there are none (run_ranks.c) */
    struct net_torus_shape shape;
    unsigned processes, ranks;               /* of a node; of the run */
    uint32_t *place_of_rank, *rank_of_place; /* run_mapping.c */
    struct system *system;
    struct run_packets *packets;    /* NULL: they are not wanted */
    struct jit_thread *translation; /* translates for all nodes */
    struct os_images *images;       /* files of programs, copied once for all nodes */
    struct os_locks *locks;         /* of files, the same */
    struct node *node;       /* the first, which is the only one where observers are wanted */
    struct observe *observe; /* its */
    struct os_result result; /* of the first node that failed, or of node 0; cycles of the last */
    enum chil_run_end end;
    unsigned laws; /* that held at the end */
};

struct record_function;

/* Runs to the end or to where it is to be stopped (run_advance.c). */
void run_advance(struct chil_run *run);
/* Makes the counts of all nodes those of now. */
void run_take_counts(struct chil_run *run);
/* Before its node_load: the callbacks of a node about the caller. */
void run_attach_host(struct run_node *node);

/* How many nodes, and where they are (run_nodes.c). */
int run_shape(struct chil_run *run, struct chil_error *err);

/* The signals of the events that were asked for (run_count.c). */
struct run_found *run_found_new(const struct chil_machine *machine);
void run_found_free(struct run_found *found);

/* How many processes a node has, and their ranks (run_mapping.c); after run_shape. */
int run_mapping(struct chil_run *run, struct chil_error *err);

/* Packets as transactions (run_packets.c): NULL when none are wanted. `_flush`: the last cycle's.
 */
struct run_packets *run_packets_new(struct chil_run *run);
const struct net_torus_listener *run_packets_listener(const struct run_packets *packets);
void run_packets_flush(struct run_packets *packets);
void run_packets_free(struct run_packets *packets);

/* Ranks (run_ranks.c): rank 0 gets what the others counted. Fails when one is lost. The rest are 0
 * without other ranks. */
struct run_other {
    uint64_t instructions, cycles;
    int64_t status;
};
int run_ranks_lost(struct chil_error *err);
int run_ranks_gather(struct chil_run *run, int status, struct chil_error *err);
void run_ranks_free(struct chil_run *run);
bool run_others_has(const struct chil_run *run, unsigned node); /* it is another rank's */
const struct run_other *run_others_node(const struct chil_run *run, unsigned node);
uint64_t run_others_instructions(const struct chil_run *run);
uint64_t run_others_count(const struct chil_run *run, unsigned node,
                          const struct chil_event *event);
uint64_t run_others_core_count(const struct chil_run *run, unsigned core,
                               const struct chil_event *event);
uint64_t run_others_core_cycles(const struct chil_run *run, unsigned core);
const char *run_others_report(const struct chil_run *run); /* NULL: no node there was killed */

/* The code that a recorded run executed, for its experiment (run_code.c). */
bool run_code_add(struct chil_run *run, struct chil_exp *exp);

/* The attributes of an experiment that formulas name: machine, clock_hz, cycles, wall_time, peak
 * (of so many cores) and line (run_totals.c). */
void run_attributes_set(const struct chil_run *run, unsigned cores, struct chil_exp *exp);

/* Its call tree: regions and nodes (run_calls.c). Gives the node of each path by its number, to be
 * freed. */
struct run_calls;
struct run_calls *run_calls_new(struct chil_run *run, struct chil_exp *exp);
int *run_calls_add(struct run_calls *calls, const struct run_node *node);
bool run_calls_is_mpi(const struct chil_exp *exp, int node); /* a call of MPI */
void run_calls_free(struct run_calls *calls); /* after all nodes: says where nodes are called */

/* The same between ranks (run_calls_ranks.c): a tree as bytes, before run_calls_free; there, nodes
 * get their place when first asked for by their number; sites come last. */
struct run_calls_part;
void run_calls_pack(struct run_calls *calls, struct ranks_message *message);
struct run_calls_part *run_calls_part_new(const uint8_t **at); /* borrows the bytes */
int run_calls_part_node(struct run_calls *calls, struct run_calls_part *part, size_t number);
void run_calls_part_sites(struct run_calls *calls, struct run_calls_part *part);
void run_calls_part_free(struct run_calls_part *part);

/* A thread of an experiment, as its row names it. */
struct run_thread {
    int pid, number; /* number: in the process */
    unsigned core;
    char name[400];
};

/* What other ranks recorded (run_experiment_ranks.c). Their message is run_calls_pack's bytes, the
 * number of nodes, `_node` and `_visits` for each, `_values` with a key for each metric, 0. */
struct run_recorded;
void run_recorded_node(struct ranks_message *message, unsigned number,
                       const struct run_thread *threads, size_t count);
void run_recorded_visits(struct ranks_message *message, const int *node_of, size_t paths,
                         size_t nodes);
void run_recorded_values(struct ranks_message *message, const struct chil_exp *exp, int metric,
                         uint64_t key);
/* On all ranks; rank 0 then has what the others recorded: for each node first its threads, which
 * are put into columns of the experiment, then its part of the call tree; at the end all values. */
int run_recorded_gather(struct chil_run *run, const struct ranks_message *own,
                        struct run_recorded **recorded, struct chil_error *err);
void run_recorded_free(struct run_recorded *recorded);
const struct run_thread *run_recorded_threads(struct run_recorded *recorded, unsigned number,
                                              size_t first_column, size_t *count);
void run_recorded_calls(struct run_recorded *recorded, struct run_calls *calls, unsigned number);
void run_recorded_finish(struct run_recorded *recorded, struct run_calls *calls,
                         struct chil_exp *exp, int (*metric)(void *context, uint64_t key),
                         void *context);

/* Events by their number (run_ranks.c). */
size_t run_event_number(const struct chil_run *run, const struct chil_event *event);

/* The system tree of an experiment (run_places.c): the nodes in its order, and a node's place. */
struct run_place {
    unsigned node, card, midplane, rack;
};
struct run_place *run_places_new(const struct chil_run *run); /* to be freed */
int run_places_add(const struct chil_run *run, struct chil_exp *exp, const struct run_place *place);
/* Where an instruction of a function is in its file; in none: in memory. */
uint32_t run_calls_address(const struct record_function *function, uint32_t pc);

#endif
