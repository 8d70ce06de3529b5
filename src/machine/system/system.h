/* The nodes of a machine, and what connects them. There is one clock; system_advance runs all nodes
 * up to a simulated time and decides when the machine has ended or is in deadlock, which no node
 * can know alone.
 *
 * Today a machine has one node, and a system adds nothing to what its run costs. Networks will
 * stand here: a link delivers messages between nodes at simulated times. Terms: docs/glossary.md.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "machine/node/node.h"

struct system {
    struct node **nodes; /* borrowed */
    unsigned node_count;
};

enum system_progress { SYSTEM_ENDED, SYSTEM_TIME_REACHED };

/* Runs until `until`, or until every task of every node has ended. When all of them wait and
 * nothing can wake one, reports the deadlock and kills them. */
enum system_progress system_advance(struct system *system, uint64_t until);
uint64_t system_now(const struct system *system); /* simulated time, in cycles */

#endif
