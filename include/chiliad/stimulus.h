/* A stimulus: what happens on the wires of a counter unit, and what is done to it, as a small text.
 *
 * docs/formats/stimulus.md is the language: a line is a cycle, a verb and its arguments, in the
 * order of time. A stimulus is read whole and checked line by line, then run as often as wanted. It
 * owns the strings it hands out.
 */
#ifndef CHILIAD_STIMULUS_H
#define CHILIAD_STIMULUS_H

#include "chiliad/upc.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chil_machine;
struct chil_stimulus;

/* Events are named as on `machine`; without one (NULL) they are wire numbers, and the text must
 * give a geometry. */
int chil_stimulus_open(struct chil_stimulus **stimulus, const char *path,
                       const struct chil_machine *machine, struct chil_error *err);
int chil_stimulus_parse(struct chil_stimulus **stimulus, const char *name, const void *bytes,
                        size_t length, const struct chil_machine *machine, struct chil_error *err);
void chil_stimulus_free(struct chil_stimulus *stimulus);

/* The geometry it runs on: the text's own, else the machine's. */
const struct chil_upc_geometry *chil_stimulus_geometry(const struct chil_stimulus *stimulus);

/* A counter that the text configured, as it stands at the end. */
struct chil_stimulus_counter {
    const char *event; /* as written */
    uint32_t counter;
    struct chil_upc_config config;
    int status; /* of the read: 0, or CHIL_EPARITY */
    uint64_t value;
    uint64_t threshold; /* 0 when there is none */
};

/* A `read` or `load` of the text. */
struct chil_stimulus_reading {
    unsigned line;
    uint64_t cycle;
    const char *what; /* event or offset, as written */
    int status;
    uint64_t value;
};

/* What polling would have seen of one threshold (--poll): the interrupt's cycle and the poll's,
 * UINT64_MAX for never.
 */
struct chil_stimulus_poll {
    uint32_t counter;
    uint64_t interrupt_cycle, seen_cycle;
};

struct chil_stimulus_result {
    uint64_t end; /* the last cycle is the one before it */
    struct chil_stimulus_counter *counters;
    size_t counter_count;
    struct chil_stimulus_reading *readings;
    size_t reading_count;
    struct chil_upc_notice *notices;
    size_t notice_count;
    struct chil_stimulus_poll *polls;
    size_t poll_count;
    uint64_t poll_reads; /* counters read by polling */
};

struct chil_stimulus_options {
    enum chil_upc_model model;
    uint64_t poll; /* read all counters with a threshold every so many cycles; 0 for not */
};

int chil_stimulus_run(const struct chil_stimulus *stimulus,
                      const struct chil_stimulus_options *options,
                      struct chil_stimulus_result *result, struct chil_error *err);
void chil_stimulus_result_free(struct chil_stimulus_result *result);

/* True when both results say the same; else the first difference as a line. */
bool chil_stimulus_same(const struct chil_stimulus_result *fast,
                        const struct chil_stimulus_result *reference, char *difference,
                        size_t size);

#ifdef __cplusplus
}
#endif
#endif
