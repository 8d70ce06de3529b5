/* Writes an experiment of NODES x PATHS x METRICS with about VALUES values, for the page's speed.
 *
 *     build/bench/large_experiment FILE.cubex [NODES PATHS METRICS VALUES]
 *
 * Metrics are in trees of ten. Each has values in some of the call paths, and there in all threads:
 * events of a program that all nodes run. Numbers come from a generator with a fixed seed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "chiliad/experiment.h"

enum { PER_TREE = 10, FAN = 4, DIMENSION = 10 };

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void add_metrics(struct chil_exp *exp, long metrics)
{
    for (long i = 0; i < metrics; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "EVENT_%ld", i);
        struct chil_exp_metric metric = {.name = name,
                                         .unit = (char *)"occ",
                                         .text = (char *)"an event",
                                         .exactness = (char *)"exact",
                                         .parent =
                                             i % PER_TREE ? (int)(i - i % PER_TREE) : CHIL_EXP_NONE,
                                         .kind = CHIL_EXP_COUNT};
        (void)chil_exp_add_metric(exp, &metric);
    }
}

static void add_paths(struct chil_exp *exp, long paths)
{
    for (long i = 0; i < paths; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "function_%ld", i);
        struct chil_exp_region region = {
            .name = name, .module = (char *)"large.c", .begin = -1, .end = -1};
        int index = chil_exp_add_region(exp, &region);
        (void)chil_exp_add_node(exp, i ? (int)((i - 1) / FAN) : CHIL_EXP_NONE, index, -1, "");
    }
}

static void add_system(struct chil_exp *exp, long nodes)
{
    int machine = chil_exp_add_place(exp, CHIL_EXP_NONE, CHIL_EXP_MACHINE, "machine", 0);
    int *at = calloc((size_t)nodes * 3, sizeof *at);
    for (long i = 0; i < nodes; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "node %ld", i);
        int node = chil_exp_add_place(exp, machine, CHIL_EXP_NODE, name, (int)i);
        int process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "process", (int)i);
        (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "thread", 0);
        if (!at) continue;
        at[3 * i] = (int)(i % DIMENSION);
        at[3 * i + 1] = (int)(i / DIMENSION % DIMENSION);
        at[3 * i + 2] = (int)(i / DIMENSION / DIMENSION);
    }
    struct chil_exp_topology torus = {.name = (char *)"torus",
                                      .dimensions = 3,
                                      .dimension_name = {(char *)"x", (char *)"y", (char *)"z"},
                                      .size = {DIMENSION, DIMENSION, DIMENSION},
                                      .coordinates = at};
    if (at && nodes == DIMENSION * DIMENSION * DIMENSION) (void)chil_exp_add_topology(exp, &torus);
    free(at);
}

int main(int argc, char **argv)
{
    long size[4] = {1000, 1000, 1000, 10000000};
    uint64_t state = 1;
    struct chil_error err = {0};
    for (int i = 0; i < 4 && i + 2 < argc; i++)
        size[i] = strtol(argv[i + 2], NULL, 10);
    long nodes = size[0], paths = size[1], metrics = size[2];
    if (argc < 2 || nodes < 1 || paths < 1 || metrics < 1) {
        (void)fprintf(stderr, "usage: large_experiment FILE.cubex [NODES PATHS METRICS VALUES]\n");
        return 2;
    }
    struct chil_exp *exp = chil_exp_new();
    chil_exp_set_attribute(exp, "program", "large");
    add_metrics(exp, metrics);
    add_paths(exp, paths);
    add_system(exp, nodes);
    long rows = size[3] / nodes; /* of all metrics: call paths with values */
    for (long m = 0; m < metrics; m++) {
        long first = (long)(next(&state) % (uint64_t)paths),
             count = rows / metrics + (m < rows % metrics);
        if (count > paths) count = paths;
        for (long k = 0; k < count; k++)
            for (long t = 0; t < nodes; t++)
                chil_exp_add_count(exp, (int)m, (int)((first + k * 7) % paths), (int)t,
                                   (int64_t)(next(&state) % 1000000 + 1));
    }
    int status = chil_exp_write(exp, argv[1], &err);
    if (status) (void)fprintf(stderr, "%s\n", err.text);
    chil_exp_free(exp);
    return status ? 1 : 0;
}
