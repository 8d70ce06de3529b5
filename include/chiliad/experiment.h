/* Experiments: what happened (metric) x where in the program (call path) x where on the machine
 * (thread).
 *
 * An experiment is three trees and a sparse set of severities, one number for a metric, a call path
 * and a thread; what is not there is zero. Along the call tree a severity is exclusive (what the
 * path did itself); along the metric tree it is the metric's whole value, its children's included;
 * only threads carry severities. Counts are exact 64-bit integers, signed because differences are
 * experiments too. Every metric says where its numbers come from.
 *
 * The trees are plain arrays to be read; a parent comes before its children. Only the functions
 * below change them. An experiment belongs to one thread at a time; different experiments share
 * nothing. Operators never change their inputs.
 */
#ifndef CHILIAD_EXPERIMENT_H
#define CHILIAD_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CHIL_EXP_NONE = -1 }; /* no parent, no region */

/* --- The three dimensions -------------------------------------------------------------------- */

enum chil_exp_kind { CHIL_EXP_COUNT, CHIL_EXP_REAL };
enum chil_exp_origin { CHIL_EXP_MEASURED, CHIL_EXP_COMPOSED, CHIL_EXP_COMPUTED };

struct chil_exp_metric {
    char *name;  /* unique; letters, digits, '_', ':' and '=' (what CubePL takes) */
    char *title; /* for people: DATA_HIT_L1$ */
    char *unit;  /* "occ", "cycles", "sec", "bytes" */
    char *text;
    char *formula;   /* of a composed or computed one: "A + B"; or empty */
    char *exactness; /* "exact", "modelled", "estimated", or empty where unknown */
    int parent;
    enum chil_exp_kind kind;
    enum chil_exp_origin origin;
    bool partial;     /* parts are missing: shown with '~' */
    bool derived;     /* from counters that are in this experiment, too (chiliad/metric.h) */
    unsigned runs;    /* averaged over so many; 1 for a measurement */
    double low, high; /* the least and the greatest total of those runs */
};

struct chil_exp_region {
    char *name, *mangled;
    char *module;          /* the source file, or the object where that is unknown */
    int begin, end;        /* lines; -1 unknown */
    char *paradigm, *role; /* the CUBE words: "compiler", "function", "user" */
};

struct chil_exp_node { /* a call path: its last step */
    int parent, region;
    int line;     /* of the call; -1 unknown */
    char *module; /* of the call; may be empty */
};

enum chil_exp_level { CHIL_EXP_MACHINE, CHIL_EXP_NODE, CHIL_EXP_PROCESS, CHIL_EXP_THREAD };
struct chil_exp_place {
    char *name;
    enum chil_exp_level level;
    int parent;
    int rank;   /* a process's pid or rank, a thread's number in it; 0 above */
    int thread; /* its column in severities when it is a thread, else -1 */
};

struct chil_exp_attribute { /* metadata: machine, program's hash, clock_hz, ... */
    char *key, *value;
};

struct chil_exp_topology {
    char *name;
    unsigned dimensions; /* at most 8 */
    char *dimension_name[8];
    int size[8];
    bool periodic[8];
    int *coordinates; /* thread x dimensions */
};

/* A severity. Cells of a metric are sorted by node, then thread; no cell is zero. */
struct chil_exp_cell {
    uint32_t node, thread;
    union {
        int64_t count;
        double real;
    };
};

struct chil_exp {
    struct chil_exp_metric *metric;
    size_t metrics;
    struct chil_exp_region *region;
    size_t regions;
    struct chil_exp_node *node;
    size_t nodes;
    struct chil_exp_place *place;
    size_t places;
    int *thread; /* places that are threads, by column */
    size_t threads;
    struct chil_exp_attribute *attribute;
    size_t attributes;
    struct chil_exp_topology *topology;
    size_t topologies;
    struct chil_exp_values *values; /* private: cells of each metric */
};

/* --- Building -------------------------------------------------------------------------------- */

struct chil_exp *chil_exp_new(void);
void chil_exp_free(struct chil_exp *exp);

/* Each returns the index of the new row, or -1 when the parent or region does not exist or the
 * metric's name exists. Strings are copied, NULL is the empty string. A metric's
 * name gets '_' for each character it may not have; its title is then the name as given, if there
 * is none. `runs` of 0 are 1; `low` and `high` are used when `runs` is above 1, else they are the
 * total: see chil_exp_range. A thread is in a process, a process in a node or machine, a node in a
 * node, a machine or nothing; ranks are not negative. */
int chil_exp_add_metric(struct chil_exp *exp, const struct chil_exp_metric *metric);
int chil_exp_add_region(struct chil_exp *exp, const struct chil_exp_region *region);
int chil_exp_add_node(struct chil_exp *exp, int parent, int region, int line, const char *module);
/* Where a call path's last step is called. */
void chil_exp_set_call(struct chil_exp *exp, int node, int line, const char *module);
int chil_exp_add_place(struct chil_exp *exp, int parent, enum chil_exp_level level,
                       const char *name, int rank);
void chil_exp_set_attribute(struct chil_exp *exp, const char *key, const char *value);
const char *chil_exp_attribute(const struct chil_exp *exp, const char *key); /* NULL: none */
int chil_exp_add_topology(struct chil_exp *exp, const struct chil_exp_topology *topology);

/* The code that was executed and how often, as text (docs/formats/experiment.md): a copy is kept in
 * .cubex files. Operators and cuts give experiments without. */
void chil_exp_set_code(struct chil_exp *exp, const char *text, size_t size);
const char *chil_exp_code(const struct chil_exp *exp, size_t *size); /* NULL: none */

/* Adds to a severity. In any order; ascending (node, thread) is fastest. Counts stop at the ends of
 * 64 bits. A real added to a metric of counts makes it one of reals. A place that is not there is
 * left alone. Adding a topology copies its coordinates, which are -1 for a thread without, as for
 * threads that are added later. */
void chil_exp_add_count(struct chil_exp *exp, int metric, int node, int thread, int64_t count);
void chil_exp_add_real(struct chil_exp *exp, int metric, int node, int thread, double real);

/* --- Queries ---------------------------------------------------------------------------------- */

int chil_exp_find_metric(const struct chil_exp *exp,
                         const char *name); /* by name or title; -1: none */
const struct chil_exp_cell *chil_exp_cells(const struct chil_exp *exp, int metric, size_t *count);
int64_t chil_exp_count(const struct chil_exp *exp, int metric, int node, int thread);
double chil_exp_real(const struct chil_exp *exp, int metric, int node,
                     int thread); /* of a metric of counts or of reals */

/* The least and the greatest total of the runs; both are the total when there was one run. */
void chil_exp_range(const struct chil_exp *exp, int metric, double *low, double *high);

/* Sums: of a node's own or its whole subtree; of one thread (its column) or all (-1); node -1: all
 * call paths. */
int64_t chil_exp_sum_count(const struct chil_exp *exp, int metric, int node, bool subtree,
                           int thread);
double chil_exp_sum(const struct chil_exp *exp, int metric, int node, bool subtree, int thread);
/* The same for every node at once, into out[nodes]. */
void chil_exp_sum_nodes(const struct chil_exp *exp, int metric, bool subtree, int thread,
                        double *out);

/* --- Files ----------------------------------------------------------------------------------- */

/* .cubex (CUBE 4) or .cube (CUBE 3 XML), by content when read and by name when written. Writing is
 * atomic. */
int chil_exp_read(struct chil_exp **exp, const char *path, struct chil_error *err);
/* The same from memory; `name` is for messages. */
int chil_exp_read_bytes(struct chil_exp **exp, const char *name, const void *bytes, size_t size,
                        struct chil_error *err);
int chil_exp_write(const struct chil_exp *exp, const char *path, struct chil_error *err);
/* The same in two steps: a file is opened before the work that fills it, so a wrong path is an
 * error at once, and a program that runs meanwhile cannot change where the output goes. Closing
 * writes the experiment; NULL drops the file. It frees `output`, which may be NULL. */
struct chil_exp_output;
int chil_exp_output_open(struct chil_exp_output **output, const char *path, struct chil_error *err);
int chil_exp_output_close(struct chil_exp_output *output, const struct chil_exp *exp,
                          struct chil_error *err);

/* --- The algebra (CUBE, and paper 003 section 2.3) ------------------------------------------- */

struct chil_exp_align {
    /* Match regions by name alone, so that edited sources still match. If each input has one root,
     * the program, the roots match whatever their names. */
    bool by_name;
};

/* Result = inputs with metadata aligned, values combined; NULL align: the defaults. Merge: the
 * union; replicated measurements are averaged, measured wins over composed, partial compositions
 * are completed when their parts are there. Mean: of each metric over the runs that measured it.
 * Diff: a - b of the metrics that both have. The order of inputs to merge and mean does not matter;
 * counts whose average is not whole become reals. */
int chil_exp_merge(struct chil_exp **result, const struct chil_exp *const *input, size_t inputs,
                   const struct chil_exp_align *align, struct chil_error *err);
int chil_exp_mean(struct chil_exp **result, const struct chil_exp *const *input, size_t inputs,
                  const struct chil_exp_align *align, struct chil_error *err);
int chil_exp_diff(struct chil_exp **result, const struct chil_exp *a, const struct chil_exp *b,
                  const struct chil_exp_align *align, struct chil_error *err);

/* Both inputs of a difference on its trees, with zeros where they have nothing: same rows, same
 * indices. */
int chil_exp_extend(struct chil_exp *result[2], const struct chil_exp *a, const struct chil_exp *b,
                    const struct chil_exp_align *align, struct chil_error *err);

/* Keeps only the subtrees below call paths that `keep` accepts (their ancestors stay, empty), and
 * only threads that `thread` accepts; NULL keeps all. */
int chil_exp_cut(struct chil_exp **result, const struct chil_exp *exp,
                 bool (*keep)(void *context, int node), bool (*thread)(void *context, int thread),
                 void *context, struct chil_error *err);

/* Takes away call paths that `prune` accepts with all below them; what they counted goes to the
 * caller, or away with a root. */
int chil_exp_prune(struct chil_exp **result, const struct chil_exp *exp,
                   bool (*prune)(void *context, int node), void *context, struct chil_error *err);

#ifdef __cplusplus
}
#endif
#endif
