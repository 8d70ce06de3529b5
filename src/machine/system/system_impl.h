/* Inside machine/system: members, their order, their lines of output, and their networks. */
#ifndef SYSTEM_IMPL_H
#define SYSTEM_IMPL_H

#include "machine/net/net_barrier.h"
#include "machine/net/net_collective.h"
#include "machine/net/net_dma.h"
#include "machine/net/net_torus_port.h"
#include "machine/system/system.h"

enum { SYSTEM_STREAMS = 2 }; /* standard output and error */

/* What a node has written behind its last whole line. */
struct system_line {
    char *bytes;
    size_t count, capacity;
};

/* What a core does within packets of a channel of the collective network, in quads of 16 bytes,
 * before the network knows of it (system_collective.c). */
struct system_quads {
    uint8_t in[COLLECTIVE_PAYLOAD], out[COLLECTIVE_PAYLOAD];
    uint8_t stored, loaded; /* quads that the network does not know of */
    uint8_t in_at, out_at;  /* of their packets, quads that it knows of */
    uint8_t room;           /* quads that the injection FIFO has room for */
    bool out_is_valid;      /* `out` is the packet that is being read */
};

struct system_idle; /* how it waits (system_idle.c) */

/* A member that is handed to other threads (system_threads.c). */
enum system_run_state { SYSTEM_STOPPED, SYSTEM_QUEUED, SYSTEM_RUNNING };
struct system_run {
    enum system_run_state state;
    enum os_progress progress; /* at its last stop */
    uint64_t time;             /* that it has passed */
    struct system_member *next, *before;
    bool away; /* a thread runs it that grants no turns */
};

enum { SYSTEM_PROCESSES = 4, ASK_TEXT = 240 };

struct system_member {
    struct system *system;
    struct node *node;
    struct node_outside outside;
    struct node_device personality, ranks;
    struct node_device torus[TORUS_GROUPS], collective[COLLECTIVE_VCS], registers, dma_registers;
    struct system_dma *dma; /* what it has still to write (system_dma.c) */
    uint32_t filter[2];     /* of point-to-point packets: its registers (system_registers.c) */
    struct net_torus_port *port;
    struct system_quads quads[COLLECTIVE_VCS];
    struct node_source source;       /* signals of the networks */
    uint32_t asks[SYSTEM_PROCESSES]; /* addresses of texts (system_ask.c), 0: none */
    bool reported_fault;
    uint64_t changes;     /* of what its devices would answer */
    uint64_t own_changes; /* likewise, by private accesses; of the thread that runs the member */
    struct system_idle *idle;
    struct system_interrupts *interrupts; /* NULL: the machine has no controller of them */
    bool waits;    /* asleep, since all its tasks wait; an interrupt may wake one */
    bool asleep;   /* in no heap: it looks again and again, and nothing changes */
    uint64_t time; /* it does nothing outside before */
    bool ended;    /* waits for its last turn, in which its rest comes out */
    bool handed;   /* in the heap, at a time that it has passed; `run` says more */
    struct system_run run;
    struct system_line line[SYSTEM_STREAMS];
    struct system_line reports; /* for the user, each with a 0 at its end */
};

struct system {
    struct system_options options;
    struct system_member *members;
    unsigned *heap;   /* of numbers of members, by (time, number): neither asleep nor ended */
    unsigned waiting; /* in the heap */
    unsigned asleep;
    unsigned polling, stuck; /* members that look again and again and execute it (system_idle.c) */
    bool asked;              /* the programs, what they wait for */
    bool woken;              /* one was, since the networks were last asked to advance */
    uint64_t last;           /* the time at which the last member ended */
    int first_failed;
    uint64_t stop_at; /* a program ends all nodes; NET_NEVER: none does */
    uint64_t failed_at;
    uint64_t lookahead;             /* the shortest latency between nodes */
    struct system_ranks *ranks;     /* NULL: this process has all nodes */
    struct system_threads *threads; /* NULL: one thread does all */
    /* The networks; NULL on machines without them. */
    struct net_torus *torus;
    struct net_collective *collective;
    struct net_dma *dma;
    struct net_barrier *barrier;
    struct net_partition *partition;
    struct net_torus_part *torus_part;
    struct net_collective_part *collective_part;
    struct net_dma_part *dma_part;
    struct net_torus_owner dma_torus; /* what the engines do about packets */
    struct net_barrier_part *barrier_part;
};

/* The member's program ends those of all nodes, when it stops running. */
void system_stop(struct system_member *member);

/* Adds a member that is in no heap, at its time. */
void system_add(struct system *system, const struct system_member *member);

/* Other threads (system_threads.c), so many besides the first. A member in the heap is handed to
 * them, to be run until its next turn; `_take` waits for progress of the first one in the heap, and
 * is true if it has stopped and is the first thread's again. Else it has passed a later time.
 * Without another thread it runs the member itself, up to `time`. */
struct system_threads *system_threads_new(unsigned count);
void system_threads_free(struct system_threads *threads);
void system_threads_until(struct system_threads *threads, uint64_t until);
void system_threads_hand(struct system_threads *threads, struct system_member *member);
/* `_finish` waits until it has stopped; it stays handed. */
void system_threads_finish(struct system_threads *threads, struct system_member *member);
bool system_threads_take(struct system_threads *threads, struct system_member *member,
                         uint64_t time, enum os_progress *progress);

/* Ranks (system_ranks.c); `ranks` of a system is NULL when it is alone. */
struct system_ranks *system_ranks_new(const struct system_options *options);
void system_ranks_free(struct system_ranks *ranks);
enum system_progress system_ranks_advance(struct system *system, uint64_t until);
uint64_t system_ranks_now(const struct system *system);
/* A latency between nodes of one of the networks; with or without ranks. */
void system_ranks_lookahead(struct system *system, uint64_t cycles);
/* Whether all is known here of what other ranks do before a time; whether what happens here at a
 * time is the first of all ranks, alone always: if not, the round ends. */
bool system_ranks_safe(const struct system *system, uint64_t time);
uint64_t system_ranks_until(const struct system *system); /* the first time that is not safe */
bool system_ranks_first(struct system *system, uint64_t time);
/* Hands a line to rank 0: of a stream, or 0 and a text for the user. False: this is rank 0. */
bool system_ranks_line(struct system *system, unsigned node, int stream, const void *bytes,
                       size_t count);

/* Runs the first member until it waits for its turn, sleeps, ends, or reaches `until`. */
void system_run_first(struct system *system, uint64_t until);
/* Everything before stop_at is done, on all ranks: kills all nodes here. */
void system_stop_all(struct system *system);

/* Waiting members (system_idle.c). system_idle_look is called in the turn of a look, before it:
 * true if the member sleeps from now on and the look is not to be done. system_idle_answered keeps
 * what the look returned. system_idle_change is called when another answer may come from now on; it
 * wakes a member that sleeps. A member that was woken within a round is given the answers from
 * before the change by system_idle_replays until it has passed it. */
bool system_idle_look(struct system_member *member, const struct os_action *action);
void system_idle_answered(struct system_member *member, const struct node_access *access);
void system_idle_change(struct system_member *member);
void system_idle_forget(struct system_member *member); /* it no longer looks */
/* The same, if one of the answers that a member which sleeps gets in a round is now another one. */
void system_idle_recheck(struct system_member *member,
                         bool (*same)(struct system_member *member, unsigned what, uint32_t address,
                                      uint64_t value),
                         unsigned what);
bool system_idle_replays(const struct system_member *member, uint64_t time);
bool system_idle_replay(struct system_member *member, struct node_access *access);
/* Counts of members that sleep, up to a time. */
void system_idle_catch_up(struct system *system, uint64_t time);
void system_idle_wake(struct system_member *member);
/* Nothing will change any more: reports who waits for what, and ends them. `before` nodes of lower
 * ranks do, too, of `all`. */
void system_idle_deadlock(struct system *system, unsigned before, unsigned all);

/* What programs say that they wait for (system_ask.c): a core's program gives the address of its
 * block; all that sleep are asked and run on, false: they were asked before; the texts of a node.
 */
bool system_ask_set(struct system_member *member, unsigned core, uint32_t address);
bool system_ask_all(struct system *system);
void system_ask_text(const struct system_member *member, char *text, size_t size);

/* Interrupts (system_interrupts.c). A member of which one may be delivered runs until a time at
 * which the next may come. _raise: in the cycle of the networks. _asleep: all tasks of the member
 * wait; false: no interrupt can end that. */
void system_interrupts_attach(struct system_member *member);
bool system_interrupts_enabled(const struct system_member *member);
void system_interrupts_raise(struct system_member *member, unsigned number);
uint64_t system_interrupts_until(const struct system_member *member);
bool system_interrupts_asleep(struct system_member *member);

/* Attaches the page that names the node (system_personality.c). */
void system_personality_attach(struct system_member *member);

/* Networks (system_net.c): made for all nodes, and freed; the devices of a node. */
int system_net_new(struct system *system, struct chil_error *err);
void system_net_free(struct system *system);
void system_net_attach(struct system_member *member);
void system_net_detach(struct system_member *member);
/* Runs the networks up to a time, which may be one that they have passed. False: it stopped before,
 * since a member was woken. */
bool system_net_advance(struct system *system, uint64_t time);
/* Whether an access needs no turn: nothing outside of the node sees it or decides its answer. */
bool system_net_is_private(const struct system_member *member, const struct os_action *action);
/* In the last turn of a member: the networks know all that it did. */
void system_net_end(struct system_member *member);
/* What a program waits for that looks at an address again and again. */
const char *system_net_awaited(const struct system_member *member, uint32_t address);

/* Lines (system_output.c): of the program; and for the user, which system_flush_reports hands on.
 * system_flush_lines writes what has no newline at its end. */
int64_t system_write(struct system *system, unsigned node, int stream, const char *bytes,
                     size_t count);
int64_t system_output(struct system_member *member, int stream, const void *bytes, size_t count);
void system_flush_lines(struct system_member *member);
void system_flush_reports(struct system_member *member);
void system_output_fini(struct system_member *member);

#endif
