/* What a core watches for, collected from the watchers of its node. */
#ifndef NODE_WATCH_H
#define NODE_WATCH_H

#include "machine/node/node.h"

struct node_watch {
    struct core_watch watch;
    struct node *node;
    unsigned core;
};

#endif
