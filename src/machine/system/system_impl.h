/* Inside machine/system: members, their order, their lines of output, and their networks. */
#ifndef SYSTEM_IMPL_H
#define SYSTEM_IMPL_H

#include "machine/net/net_barrier.h"
#include "machine/net/net_torus_port.h"
#include "machine/system/system.h"

enum { SYSTEM_STREAMS = 2 }; /* standard output and error */

/* What a node has written behind its last whole line. */
struct system_line {
    char *bytes;
    size_t count, capacity;
};

struct system_member {
    struct system *system;
    struct node *node;
    struct node_outside outside;
    struct node_device personality;
    struct node_device torus[TORUS_GROUPS], registers;
    struct net_torus_port *port;
    bool reported_fault;
    uint64_t time; /* it does nothing outside before */
    bool ended;    /* waits for its last turn, in which its rest comes out */
    struct system_line line[SYSTEM_STREAMS];
    struct system_line reports; /* for the user, each with a 0 at its end */
};

struct system {
    struct system_options options;
    struct system_member *members;
    unsigned *heap; /* of numbers of members that have not ended, by (time, number) */
    unsigned waiting;
    uint64_t last; /* the time at which the last member ended */
    int first_failed;
    /* The networks; NULL on machines without them. */
    struct net_torus *torus;
    struct net_barrier *barrier;
    struct net_partition *partition;
    struct net_torus_part *torus_part;
    struct net_barrier_part *barrier_part;
};

/* Attaches the page that names the node (system_personality.c). */
void system_personality_attach(struct system_member *member);

/* Networks (system_net.c): made for all nodes, and freed; the devices of a node. */
int system_net_new(struct system *system, struct chil_error *err);
void system_net_free(struct system *system);
void system_net_attach(struct system_member *member);
void system_net_detach(struct system_member *member);
/* Runs the networks up to a time, which may be one that they have passed. */
void system_net_advance(struct system *system, uint64_t time);

/* Lines (system_output.c): of the program; and for the user, which system_flush_reports hands on.
 * system_flush_lines writes what has no newline at its end. */
int64_t system_output(struct system_member *member, int stream, const void *bytes, size_t count);
void system_flush_lines(struct system_member *member);
void system_flush_reports(struct system_member *member);
void system_output_fini(struct system_member *member);

#endif
