/* Inside the call tree of a recorded run (run_calls.c, run_calls_ranks.c). */
#ifndef RUN_CALLS_IMPL_H
#define RUN_CALLS_IMPL_H

#include "chiliad/experiment.h"
#include "machine/core/core_record.h"
#include "measure/observe/observe_symbols.h"
#include "run/run_impl.h"

/* The experiment's nodes once more, with lists of children; [0] has those of no node, [n + 1] those
 * of node n. */
struct run_family {
    int child, sibling;
    uint32_t at; /* of the node, if nodes are split by their calls */
};

/* What distinguishes regions. Texts are borrowed. */
struct run_region {
    const struct observe_symbol *symbol; /* NULL: another rank's */
    const char *name, *object;           /* of the symbol, */
    uint32_t address;                    /* and where it is there */
    enum record_kind kind;
    const char *construct; /* of OpenMP; NULL: an ordinary function */
    const char *file;      /* the construct's place */
    int line;
    int region;
};

/* How often a node was called at an instruction. */
struct run_call {
    int node;
    const struct observe_symbol *caller; /* NULL: another rank's, which gives the line */
    const char *object;                  /* the caller's */
    uint32_t address;
    uint64_t calls;
    const char *file;
    int line;
};

struct run_calls {
    struct chil_run *run;
    struct chil_exp *exp;
    struct run_family *families;
    size_t family_capacity;
    struct run_region *regions; /* by number */
    size_t region_count, region_capacity;
    struct run_call *sites;
    size_t site_count, site_capacity;
    int *node_of; /* by number of the path */
};

/* The region, new or not; `shown` is how the experiment has it. -1: there is none. */
int run_region_find(const struct run_calls *calls, const struct run_region *wanted);
int run_region_add(struct run_calls *calls, const struct run_region *like,
                   const struct chil_exp_region *shown);
int run_calls_node(struct run_calls *calls, int parent, int region, uint32_t at);
void run_calls_add_site(struct run_calls *calls, const struct run_call *site);
/* Sorts the sites and adds those of one place up. */
void run_calls_sort_sites(struct run_calls *calls);
/* Where a call is; NULL: unknown. */
const char *run_call_line(const struct run_call *call, int *line);

#endif
