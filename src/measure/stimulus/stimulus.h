/* Inside a stimulus: its steps.
 *
 * Terms: docs/glossary.md
 */
#ifndef STIMULUS_H
#define STIMULUS_H

#include "base/mem.h"
#include "chiliad/stimulus.h"

enum stimulus_verb {
    STIMULUS_COUNT,
    STIMULUS_THRESHOLD,
    STIMULUS_PRELOAD,
    STIMULUS_START,
    STIMULUS_STOP,
    STIMULUS_LEVEL,
    STIMULUS_PULSE,
    STIMULUS_READ,
    STIMULUS_LOAD,
    STIMULUS_STORE,
    STIMULUS_FLIP,
    STIMULUS_END
};

struct stimulus_step {
    unsigned line;
    enum stimulus_verb verb;
    uint64_t cycle;
    const char *what; /* event or offset, as written */
    uint64_t wire;    /* or register offset */
    uint64_t number;  /* threshold, value, level, pulses, bit */
    uint64_t period;  /* of pulses; width of a register access */
    uint64_t high;
    struct chil_upc_config config;
};

struct chil_stimulus {
    struct arena arena;
    const char *name;
    struct chil_upc_geometry geometry;
    bool has_geometry;
    struct stimulus_step *steps;
    size_t step_count, step_capacity;
};

#endif
