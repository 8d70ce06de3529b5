/* The parts of chiliad record. Functions report errors and return CMD_BAD, or 0. */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include "chiliad/experiment.h"
#include "chiliad/metric.h"
#include "cmd/cmd.h"

/* A platform with few counters, and which of its sets are counted (record_limit.c). */
struct record_limit {
    struct chil_platform *platform; /* NULL: there is no limit */
    struct chil_spec *spec;
    const struct chil_set **set;
    size_t sets;
    uint64_t turn_cycles; /* 0: sets take no turns */
    bool rotate;          /* the experiment is what they give in turns, */
    bool compare;         /* compares all ways of counting */
};
enum { RECORD_TURN_CYCLES = 100000 }; /* unless it is said */

/* `sets`: names with commas between; NULL or "all": all of them. */
int record_limit_open(struct record_limit *limit, const char *platform, const char *sets);
void record_limit_close(struct record_limit *limit);

/* What was counted: in one run, all of it and by turn of each set; and in a run for each set, if
 * there were such. */
struct record_counted {
    struct chil_exp *exact;
    struct chil_exp **turn; /* by set; NULL: sets took no turns */
    struct chil_exp **run;  /* by set; NULL: every run would be the exact one */
};
int record_counted_init(struct record_counted *counted, const struct record_limit *limit,
                        bool runs);
void record_counted_fini(struct record_counted *counted, const struct record_limit *limit);

/* What the platform makes of it: its sets' counts merged or estimated, with its hierarchies; says
 * on standard error how that differs from counting all at once. The caller frees the result. */
int record_limit_apply(const struct record_limit *limit, const struct record_counted *counted,
                       struct chil_exp **result);

/* The tables (record_compare.c), of experiments with the platform's events or with its metrics. */
struct record_ways {
    const struct chil_exp *once;     /* all events at once: the truth */
    const struct chil_exp *merged;   /* a run for each set */
    const struct chil_exp *estimate; /* sets in turns; NULL: not done */
    const struct chil_exp *events,
        *turns_events; /* truth and estimate as they were counted, before metrics */
};
void record_tell_runs(const struct record_limit *limit, const struct record_ways *ways);
void record_tell_turns(const struct record_limit *limit, const struct record_counted *counted,
                       const struct record_ways *ways);
void record_tell_all(const struct record_limit *limit, const struct record_ways *ways);

/* Runs that differ (record_runs.c): the environment of run `number`, which moves the stack by some
 * bytes; the caller frees it. */
char **record_environment(char *const *usual, uint64_t seed, size_t number);
void record_environment_free(char **environment);
/* Between these, the program reads its input from the start if it can, else nothing, and its output
 * is thrown away. */
struct record_streams {
    int saved[3];
    long long start; /* of its input; -1: it cannot be read again */
};
void record_streams_init(struct record_streams *streams); /* before the first run */
int record_streams_mute(struct record_streams *streams);
void record_streams_restore(struct record_streams *streams);

#endif
