/* Runs a program on a simulated node and gives its counts.
 *
 * A run is one program with all it starts, on one node of a machine or on several, in simulated
 * time. Load it with chil_run_new, run it to the end with chil_run_go, then read counts. The same
 * program with the same options gives the same counts, always; reading changes nothing. A run
 * belongs to one thread at a time; different runs share nothing.
 */
#ifndef CHILIAD_RUN_H
#define CHILIAD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/catalog.h"
#include "chiliad/error.h"
#include "chiliad/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trace: one record for each instruction that a core completes, in the order in which the
 * simulator does them. Of one core that is the order of time; cores are up to a quantum (1000
 * cycles) apart. */
enum chil_access { CHIL_NO_ACCESS, CHIL_ACCESS_LOAD, CHIL_ACCESS_STORE, CHIL_ACCESS_CACHE };
struct chil_trace_record {
    uint64_t cycle; /* in which it issued */
    unsigned node, core;
    int pid, tid;
    uint32_t pc, word;
    enum chil_access access;
    uint32_t address, size; /* of the access; a cache instruction's are its line's */
    uint8_t category,
        tag; /* as the program has set them on the monitor's board; tag: of the access's page */
    uint32_t function, symbol, callpath, site, section; /* as of a transaction */
};

/* Tables of names that a run adds to as they come up; each may be NULL: not wanted. They outlive
 * the run; numbers in transactions and records are theirs. `functions` and `symbols` are those of
 * the files that a process has mapped. The others need calls and returns to be followed, which
 * takes host time but changes no count: `callpaths`; `sites`, where blocks of the heap were
 * allocated, which are then also symbols; `sections` of libHPM and other regions. */
struct chil_run_names {
    struct chil_ranges *functions, *symbols, *callpaths, *sites, *sections;
};

/* What the MPI library of a program does, in the order of time of each thread. Peers are ranks in
 * the communicator, which its context stands for: a process has no two communicators of one context
 * at a time. A request is 0 in calls that wait for the message themselves. */
enum chil_mpi_kind {
    CHIL_MPI_CALL, /* name; role, as that of an experiment's region */
    CHIL_MPI_RETURN,
    CHIL_MPI_WAIT,       /* not notified */
    CHIL_MPI_WAITED,     /* likewise */
    CHIL_MPI_SENT,       /* a send has begun: peer, tag, bytes, request, context */
    CHIL_MPI_POSTED,     /* a receive has begun that does not wait: request */
    CHIL_MPI_RECEIVED,   /* the program has a message: as sent */
    CHIL_MPI_COMPLETED,  /* the program knows that a send is over: request */
    CHIL_MPI_COLLECTIVE, /* the root or -1, bytes of this rank, received, context */
    CHIL_MPI_MEMBERS,    /* of a communicator: members, ranks of the world; context */
};
struct chil_mpi_event {
    enum chil_mpi_kind kind;
    uint64_t cycle;
    unsigned node, core;
    int tid;
    char name[40];
    const char *role; /* lives as long as the program */
    int peer, tag;
    uint64_t bytes, received, context;
    uint32_t request;
    const uint32_t *members; /* until the callback returns */
    uint32_t member_count;
};

struct chil_run;

/* Where nodes are: sizes in x, y and z, and in which dimensions the ring is open (a mesh). Nodes
 * are numbered through x first, then y, then z. */
struct chil_torus {
    unsigned size[3];
    bool mesh[3];
};
/* How many processes each node starts the program as: one, two, or one for each core (four at
 * most). Each has its part of the cores and of the memory. */
enum chil_run_mode { CHIL_RUN_SMP, CHIL_RUN_DUAL, CHIL_RUN_VN };
enum { CHIL_TORUS_SIZE_MAX = 256, CHIL_RUN_NODES_MAX = 65536, CHIL_RUN_THREADS_MAX = 1024 };
/* Reads "8x8x4", or "8x8x4m" with a mesh in z. */
int chil_torus_parse(const char *text, struct chil_torus *torus, struct chil_error *err);

/* The environment of a program on any host: "PATH=/usr/bin:/bin" and a few more, NULL at the end.
 * argv[0] and other ways to see its own path show /proc/program/NAME. */
extern char *const chil_run_environment[];

/* What the caller does while a program runs. Time and counts are the same with and without; the
 * library never handles signals of the host itself. */
struct chil_run_host {
    /* Called every few milliseconds, between instructions, and while the program waits for the
     * host's standard input; chil_run_progress may be asked. False ends the run there, without the
     * program's end. */
    bool (*go_on)(void *context, struct chil_run *run);
    /* Called before the program writes to standard output or error, and before a line of `report`;
     * may be NULL. */
    void (*writes)(void *context);
    void *context;
};

/* What the program and all that it starts may use on a node; 0: the default. Beyond it, calls fail
 * as on a kernel with that limit, and `report` gets a line. */
struct chil_run_maximum {
    uint64_t memory;  /* bytes that may be written; the machine's memory, on many nodes less */
    uint64_t tasks;   /* processes and threads at a time; 1024 */
    uint64_t files;   /* open at a time; 4096, or what the host allows */
    uint64_t signals; /* queued for a process, and timers of it; 4096 */
    uint64_t output;  /* bytes written to files and streams; 16 GiB */
};

/* Ranks of OpenMPI: processes that mpirun started, which do the same run together and own a range
 * of its nodes each. Every rank makes the same calls. Counts and reports are rank 0's; no result
 * depends on the number of ranks. */
struct chil_ranks;
/* *ranks is NULL when mpirun did not start this process. CHIL_ENOENT: OpenMPI is not there. */
int chil_ranks_start(struct chil_ranks **ranks, struct chil_error *err);
void chil_ranks_end(struct chil_ranks *ranks); /* after the runs; waits for all ranks */
unsigned chil_ranks_self(const struct chil_ranks *ranks);
unsigned chil_ranks_count(const struct chil_ranks *ranks);
/* After a run, called by all ranks: what each has made goes to rank 0, along a tree. A rank takes
 * the bytes of those behind it, in their order, and adds them to its own; then `make` gives its
 * bytes, borrowed until the return, for the rank before it. `stops` is asked while others are
 * awaited: true gives up after half a second. CHIL_EIO: a rank is lost. */
struct chil_ranks_reducer {
    void *context;
    void (*take)(void *context, const void *bytes, size_t count);
    const void *(*make)(void *context, size_t *count);
    bool (*stops)(void *context);
};
int chil_ranks_reduce(const struct chil_ranks *ranks, const struct chil_ranks_reducer *reducer,
                      struct chil_error *err);

struct chil_run_options {
    const struct chil_machine *machine; /* outlives the run */
    const char *program;                /* a path, as in a shell; no search */
    char *const *argv;                  /* NULL-terminated, argv[0] included */
    char *const *envp;                  /* NULL: chil_run_environment */
    const char *environment; /* how envp differs from that, for experiments; NULL: it does not */
    const char *sysroot; /* where ld.so.1 and the shared libraries are; NULL: Debian's cross root */
    const char *root;    /* confines all of the guest's paths below it; NULL: not */
    const char *const *writable; /* folders that may be written, besides the working directory */
    size_t writable_count;
    struct chil_run_maximum maximum;
    void (*report)(void *context,
                   const char *line); /* one line for the user, without newline; may be NULL */
    void *context;
    /* Called for every instruction while the trace is on; false ends the trace, not the run. NULL:
     * no trace, and no cost. The program switches it (call-through 4 and 5). Time and counts are
     * the same with and without. */
    bool (*trace)(void *context, const struct chil_trace_record *record);
    bool trace_off;      /* at the beginning */
    bool trace_switched; /* the caller heeds the switch, though it has no `trace`:
                            chil_run_trace_is_on */
    /* Called for every transaction of the memory hierarchy, in the order in which the simulator
     * does them; NULL: none, and no cost. Time and counts are the same with and without.
     * `transactions`: the kinds wanted, bit n is enum chil_transaction_kind n; 0: all of the memory
     * hierarchy. Packets and hops come in the order of their time, then of nodes. Whatever looks at
     * nodes, and not at packets only, makes a run of several nodes use one thread. */
    void (*transact)(void *context, const struct chil_transaction *transaction);
    /* May be NULL. Otherwise most transactions go here instead of to `transact`, at less cost:
     * `count` at once that differ in time and address only. `transaction` has no time, address, pc,
     * tag, cause and names; its `end` is the latency. The calls come late, but before `pause` and
     * the end of the run. */
    void (*transact_uniform)(void *context, const struct chil_transaction *transaction,
                             uint64_t count);
    uint32_t transactions;
    bool transact_pc;                   /* transactions have their pc; else it is 0 */
    const struct chil_run_names *names; /* NULL: none. Functions need transact_pc */
    /* Called for what the MPI libraries of the nodes do; NULL: not. Nodes run on several threads of
     * the host: calls about one node come one after another, those about two may come at once. */
    void (*mpi)(void *context, const struct chil_mpi_event *event);
    /* Called when about `pause_cycles` have passed since the last time, between instructions;
     * counts may be read. False ends the run there, without the program's end. NULL: never.
     * Time and counts are the same with and without.
     */
    bool (*pause)(void *context, struct chil_run *run);
    uint64_t pause_cycles;
    const struct chil_run_host *host; /* outlives the run; NULL: none */
    /* The run ends, without the program's end, behind the block of instructions at which the
     * elapsed time is so many cycles, or all cores have completed so many instructions; with
     * several busy cores a quantum (1000 cycles) later. 0: no limit. */
    uint64_t limit_cycles, limit_instructions;
    /* How instructions are executed; no result depends on it. "interp"; "jit": hot code is
     * translated; "auto", or NULL: that, where it can be; "lockstep": both, compared, which is
     * slow. What follows a colon is for tests: "jit:entries_until_hot=1,limit=65536,wait"
     * (docs/jit.md). */
    const char *engine;
    /* Counts are kept per call path, for chil_run_experiment. Time and counts are the same with
     * and without. */
    bool record;
    unsigned record_depth;   /* paths of at most so many calls, what is deeper counts there; 0:
                                CHIL_RECORD_DEPTH */
    bool record_flat;        /* functions only, no paths */
    bool record_code_misses; /* misses and waits of each instruction, too; takes longer */
    bool record_call_sites;  /* a path for each place where a function is called */
    bool record_inside_mpi;  /* functions below a call of MPI, which else count as the call */
    /* Globs of function names. Functions that match none of `only`, or one of `exclude`, count
     * where they are called.
     */
    const char *const *record_only, *const *record_exclude;
    size_t record_only_count, record_exclude_count;
    /* So many sets of counters take turns of `turn_cycles`, the first one first; what was counted
     * in each set's turns is kept apart, for chil_run_experiments. 0: one that is always on. Not
     * with `pause`. A turn ends with the first block of instructions that ends at or behind a
     * multiple of its length, and where several threads run at the end of a quantum (1000 cycles).
     */
    unsigned record_turns;
    uint64_t turn_cycles;
    /* How many nodes run the program, each a copy of its own; 0: as `torus` says, or one. Several
     * nodes have no counters that take turns. */
    unsigned nodes;
    struct chil_torus torus; /* size[0] 0: a torus as cubic as `nodes` allows */
    /* Threads of the host that run nodes; 0: as many as it has processors for this process. No
     * result depends on it. */
    unsigned threads;
    const struct chil_ranks *ranks; /* NULL: this process has all nodes */
    unsigned mode;                  /* enum chil_run_mode */
    /* Ranks of processes: a permutation of XYZT (T: the process of a node), whose first letter
     * changes first; or a file with a line "x y z t" for each rank. NULL: XYZT. */
    const char *mapping;
};
enum { CHIL_RECORD_DEPTH = 256 };

struct chil_exp;

/* CHIL_ENOPROGRAM: the program, or the interpreter that it needs, is not there; CHIL_EEXEC: it
 * cannot be executed. */
int chil_run_new(struct chil_run **run, const struct chil_run_options *options,
                 struct chil_error *err);
void chil_run_free(struct chil_run *run);

/* Runs to the end. The guest's standard streams are the caller's. Then holds the counts against the
 * laws between them (docs/model-memory.md): CHIL_ELAW when one is broken, which is a bug of the
 * simulator. */
int chil_run_go(struct chil_run *run, struct chil_error *err);
unsigned chil_run_laws(const struct chil_run *run); /* how many were checked, and held */
/* Before the program's end; no law was checked, and there is no exit status. */
enum chil_run_end { CHIL_RUN_ENDED, CHIL_RUN_STOPPED, CHIL_RUN_LIMIT };
enum chil_run_end chil_run_end(const struct chil_run *run); /* stopped: by `pause` or `go_on` */
bool chil_run_was_stopped(const struct chil_run *run);      /* by any of them */

/* Simulated time and instructions of all cores so far, while it runs. */
void chil_run_progress(const struct chil_run *run, uint64_t *cycles, uint64_t *instructions);

/* Nodes of this process that wait for a network; from `go_on`. */
unsigned chil_run_waiting(const struct chil_run *run);

/* From the callbacks of a run: moves the switch of the trace, as the program may. In `transact` the
 * first record is the instruction that causes the transaction, or with a fetch the first of its
 * block. */
void chil_run_trace_switch(struct chil_run *run, bool on);
bool chil_run_trace_is_on(const struct chil_run *run);
bool chil_run_node_trace_is_on(const struct chil_run *run, unsigned node); /* each has a switch */

/* --- Nodes ----------------------------------------------------------------------------------- */

/* Numbered from 0. Counts of the run are sums over its nodes; its status is that of the node that
 * was the first to end with another one than 0, its cycles those of the last node. */
unsigned chil_run_nodes(const struct chil_run *run);
struct chil_torus chil_run_torus(const struct chil_run *run);
void chil_run_coordinates(const struct chil_run *run, unsigned node, unsigned at[3]);
unsigned chil_run_processes(const struct chil_run *run); /* of a node */
unsigned chil_run_rank(const struct chil_run *run, unsigned node, unsigned process);
uint64_t chil_run_node_count(const struct chil_run *run, unsigned node,
                             const struct chil_event *event);
int chil_run_node_status(const struct chil_run *run, unsigned node);
uint64_t chil_run_node_cycles(const struct chil_run *run, unsigned node);
uint64_t chil_run_node_instructions(const struct chil_run *run, unsigned node);
int chil_run_failed_node(const struct chil_run *run); /* whose status it is; -1: none failed */

/* --- Results --------------------------------------------------------------------------------- */

/* The guest's own exit status; 128 + signal when it was killed. */
int chil_run_status(const struct chil_run *run);
bool chil_run_was_killed(const struct chil_run *run);
/* How it was killed: signal, pc, function and line if known, instruction and registers, several
 * lines. */
void chil_run_report(const struct chil_run *run, char *buffer, size_t size);

/* What the translator did, to explain host time; it differs from run to run.
 * False: there was none.
 */
struct chil_run_translation {
    uint64_t regions, blocks, instructions, dropped;
    double seconds; /* of a second thread */
};
bool chil_run_translation_get(const struct chil_run *run, struct chil_run_translation *translation);

uint64_t chil_run_instructions(const struct chil_run *run); /* all cores */
/* The parameter memory.model of the run's machine where it is less than the whole memory hierarchy,
 * "l1" or "none"; NULL: it is whole. Cycles are then those of a memory that takes no time. */
const char *chil_run_memory(const struct chil_run *run);
uint64_t
chil_run_cycles(const struct chil_run *run); /* of the core that was last; also in a pause */
/* What an event of the run's machine counted. */
uint64_t chil_run_count(const struct chil_run *run, const struct chil_event *event);

/* The experiment of a recorded run that has gone to its end, or from `pause` of what was counted so
 * far (chiliad/experiment.h): a metric for
 * each event that counted something, call paths of all threads, processes and threads. The sums
 * over paths and threads are chil_run_count's; what no path did (elapsed time, refreshes of memory,
 * half cycles of slower clocks) is at the program's node. Free it with chil_exp_free. CHIL_EINVAL
 * when the run was not recorded. */
int chil_run_experiment(struct chil_run *run, struct chil_exp **exp, struct chil_error *err);
/* The same, and into turn[record_turns] what was counted while each set was on: experiments with
 * the same rows in the same places, save that visits are always the whole run's. Of what no path
 * did they have the part that they have of all threads' cycles. For an event that counts
 * occurrences in paths they add up to the whole. */
int chil_run_experiments(struct chil_run *run, struct chil_exp **exp, struct chil_exp **turn,
                         struct chil_error *err);

/* The counts of the whole run (core -1) or of one core, as an experiment without call paths: what
 * the specifications of metrics are evaluated over (chiliad/metric.h). Events that a core does not
 * have are missing there, and events that `wanted` does not want (NULL: none). Free it with
 * chil_exp_free. */
struct chil_exp *chil_run_totals(const struct chil_run *run, int core,
                                 bool (*wanted)(void *context, const char *event), void *context);

/* Of one core, numbered from 0: cycles in which it had something to run; and what an event counted
 * there, false when the event is not of all cores together (BGL_INST is, BGL_DDR_READ and the
 * chip's own events are not). */
unsigned chil_run_cores(const struct chil_run *run);
uint64_t chil_run_core_cycles(const struct chil_run *run, unsigned core);
bool chil_run_core_count(const struct chil_run *run, unsigned core, const struct chil_event *event,
                         uint64_t *count);

/* --- Looking inside a program ---------------------------------------------------------------- */

/* An instruction as text, as an assembler would take it; CHIL_INSTRUCTION_TEXT bytes always
 * suffice. */
enum { CHIL_INSTRUCTION_TEXT = 80 };
void chil_instruction_text(uint32_t word, uint32_t pc, char *buffer, size_t size);

/* Calls back with a line of disassembly for each instruction of the program's executable sections.
 */
int chil_disassemble(const char *program, void (*line)(void *context, const char *text),
                     void *context, struct chil_error *err);

/* Where an address lies in a program: "function+0x10 (file.c:12)", as far as its symbols say; ""
 * otherwise. */
enum { CHIL_PLACE_TEXT = 400 };
void chil_program_place(const char *program, uint32_t address, char *buffer, size_t size);

/* The same in a run, in what the process on a core has mapped; from the run's callbacks. */
void chil_run_place(struct chil_run *run, unsigned node, unsigned core, uint32_t address,
                    char *buffer, size_t size);

/* A symbol's name as in the source, "grid::norm(int)", to be freed; NULL: it is one already. */
char *chil_program_name(const char *symbol);

/* Where a program's functions, data and sections are when it runs on a node, each with the areas
 * around them ("[heap]", "[stack]", "[mapped]", "[libraries]"; sections none). Names are as in the
 * source. Where ranges overlap, the later one counts. */
enum chil_program_part { CHIL_PROGRAM_FUNCTIONS, CHIL_PROGRAM_DATA, CHIL_PROGRAM_SECTIONS };
typedef void (*chil_program_range)(void *context, const char *name, uint32_t first, uint32_t last);
int chil_program_ranges(const char *program, enum chil_program_part part, chil_program_range report,
                        void *context, struct chil_error *err);

#ifdef __cplusplus
}
#endif
#endif
