/* Runs the nodes of a machine. */
#include "machine/system/system.h"

#include <assert.h>

enum system_progress system_advance(struct system *system, uint64_t until)
{
    assert(system->node_count == 1);
    struct node *node = system->nodes[0];
    for (;;) {
        switch (node_advance(node, until)) {
        case OS_ALL_ENDED: return SYSTEM_ENDED;
        case OS_TIME_REACHED: return SYSTEM_TIME_REACHED;
        case OS_ALL_WAIT: os_end_deadlock(node->os); break; /* no other node could wake one */
        }
    }
}

uint64_t system_now(const struct system *system)
{
    return os_now(system->nodes[0]->os);
}
