/* Inside a run: a node's cores, the operating system on them, and the counts of its wires. */
#ifndef NODE_H
#define NODE_H

#include "chiliad/run.h"
#include "core/core.h"
#include "os/os.h"

struct chil_run {
    const struct chil_machine *machine;
    struct cores *cores;
    unsigned core_count;
    struct os *os;
    struct os_result result;
    uint64_t (*counts)[CORE_SIGNAL_COUNT]; /* per core, once the run is over */
};

/* Where an address lies in a program: "function+0x10 (file.c:12)", as far as its symbols tell; "" otherwise. */
void node_symbol(const char *program, uint32_t address, char *buffer, size_t size);

#endif
