/* The nodes of a machine, and what connects them. There is one clock; system_advance runs all nodes
 * up to a simulated time and decides when the machine has ended or is in deadlock, which no node
 * can know alone.
 *
 * A node runs until it does what can be seen outside of it: a call about files, a device access, a
 * service of the simulator. Such an action at time t waits for its turn: every other node must have
 * passed t. Turns come in the order of time, then of the number of the node. So files, lines of
 * output and networks see the same order in every run, whatever the host does, and no node waits
 * for anything but simulated time: there is no deadlock between turns. What a turn costs depends on
 * the number of turns, not on the time that is simulated.
 *
 * The system owns the networks and runs them: before a node acts at time t, all that the networks
 * do before t has happened. A node knows its devices only (system_net.c).
 *
 * Invariants:
 *   1. A member's time is a lower bound: it will not act outside before it.
 *   2. Members that have neither ended nor sleep are in a heap by (time, number); only the first
 *      one acts outside. Other threads may run members up to their next turn (system_threads.c).
 *   3. Lines of a node are whole, and come out in the order of turns.
 *
 * Nodes may be in several processes (system_ranks.c), which exchange what the networks carry; a
 * turn may then also have to wait for other ranks.
 *
 * A node that only looks at a network again and again sleeps until the network changes what it
 * would see (system_idle.c); its looks are counted and not executed. When all nodes sleep and the
 * networks are quiet, the machine is in deadlock.
 *
 * Terms: docs/glossary.md.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "base/ranks.h"
#include "machine/net/net_torus.h"
#include "machine/node/node.h"

#define SYSTEM_PERSONALITY_PAGE UINT32_C(0xFFFF8000) /* system_personality.c */
#define SYSTEM_RANKS_PAGE       UINT32_C(0xFFC00000)

struct system;

struct system_options {
    const struct chil_machine *machine;
    unsigned node_count;
    unsigned threads;             /* of the host that run nodes; 0: one. No result depends on it */
    struct net_torus_shape shape; /* where they are */
    /* Processes that a node starts, and their ranks: a place is node x processes + process. Both
     * tables are borrowed. */
    unsigned processes;
    const uint32_t *place_of_rank, *rank_of_place;
    struct ranks *ranks;                      /* processes that share the nodes; NULL: one */
    const struct net_torus_listener *packets; /* of this process's nodes, on one thread; or NULL */
    /* Asked while other ranks are awaited: true when the host's user wants the run to end. */
    bool (*stops)(void *context);
    /* A line about a node for the user, in order; NULL: not wanted. */
    void (*report)(void *context, unsigned node, const char *line);
    /* Where an instruction is, for such a line: function, file and line; may be NULL. */
    void (*place)(void *context, unsigned node, unsigned core, uint32_t pc, char *text,
                  size_t size);
    void *context;
};

int system_new(struct system **system, const struct system_options *options,
               struct chil_error *err);
void system_free(struct system *system); /* before its nodes */
/* The nodes of this process: *first to *end - 1. The others have no struct node here. */
void system_range(const struct system_options *options, unsigned *first, unsigned *end);
/* The node with this number, borrowed; all are attached before their node_load. */
void system_attach(struct system *system, unsigned number, struct node *node);

enum system_progress { SYSTEM_ENDED, SYSTEM_TIME_REACHED };

/* Runs until `until`, or until every task of every node has ended. When all of a node's tasks wait
 * and nothing can wake one, reports the deadlock and kills them. */
enum system_progress system_advance(struct system *system, uint64_t until);
uint64_t system_now(const struct system *system); /* simulated time, in cycles */
/* Over all ranks, called by each at the same point; nothing when alone. Sums of values; messages to
 * rank 0, which takes them in the order of ranks. */
void system_sum(struct system *system, uint64_t *values, size_t count);
void system_gather(struct system *system, const struct ranks_message *own,
                   void (*take)(void *context, unsigned rank, const uint8_t *bytes, size_t count),
                   void *context);
bool system_lost(const struct system *system); /* another rank did not answer: nothing goes on */
/* For the listener of packets: the networks' time, and what the torus needs without other packets:
 * cycles for which a packet keeps a link busy, and from its injection to its delivery. */
uint64_t system_network_now(const struct system *system);
uint64_t system_network_busy(const struct system *system, unsigned chunks);
uint64_t system_network_latency(const struct system *system, unsigned chunks, unsigned hops);
unsigned system_asleep(const struct system *system); /* nodes that wait for a network */
/* Within a callback of a node: no other thread runs a node in between, so all may be looked at. */
void system_hold(struct system *system);
void system_release(struct system *system);

/* A line that a node's part of the simulator has for the user; it comes out in the node's turn. */
void system_report(struct system *system, unsigned number, const char *line);

/* Checks the laws of the networks (net_torus_law and others) over all nodes, after SYSTEM_ENDED:
 * how many hold; CHIL_ELAW and which law when one does not. Without traffic there is nothing to
 * check; packets that no node took are reported, and then laws of a quiet network do not apply. */
int system_check_laws(struct system *system, unsigned *checked, struct chil_error *err);

/* The node that was the first to end with another status than 0; -1: none. */
int system_first_failed(const struct system *system);
uint64_t system_failed_at(const struct system *system); /* and when, of this process's nodes */

#endif
