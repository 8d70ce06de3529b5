/* Internals of experiments, shared by the file readers and writers and by the operators.
 *
 * The cells of a metric are one array, 16 bytes a cell. Adding a cell appends it. The first read
 * after cells were added out of order sorts the array and adds up cells of the same call path and
 * thread (exp_normalize). Strings live in the experiment's arena and are freed with it.
 *
 * Terms: docs/glossary.md
 */
#ifndef EXP_EXP_H
#define EXP_EXP_H

#include <stdio.h>

#include "base/mem.h"
#include "chiliad/experiment.h"

struct exp_column {
    struct chil_exp_cell *cell;
    size_t count, capacity;
    bool unsorted; /* or with zeros: exp_normalize has to run */
};

struct chil_exp_values {
    struct arena arena;
    struct exp_column *column; /* one for each metric */
    char *code;                /* or NULL; in the arena */
    size_t code_size;
    void *names; /* tree of struct exp_name, by name */
    size_t metric_room, column_room, region_room, node_room, place_room, thread_room,
        attribute_room, topology_room;
};

_Static_assert(sizeof(struct chil_exp_cell) == 16, "10 million values are 160 MB");

/* A copy that lives as long as the experiment; NULL becomes "". */
char *exp_text(struct chil_exp *exp, const char *text);

/* Sorts cells by node and thread, adds up equal places, drops zeros. */
void exp_normalize(struct exp_column *column, enum chil_exp_kind kind);
/* Adds a cell of the metric's kind. */
void exp_add_cell(struct chil_exp *exp, int metric, struct chil_exp_cell cell);
/* Converts a metric of counts and its cells to reals. */
void exp_make_real(struct chil_exp *exp, int metric);
/* Replaces each character that a CubePL name cannot have by '_'. */
void exp_make_name(char *name);

/* --- Trees as lists of children -------------------------------------------------------------- */

struct exp_tree {
    int *first, *next; /* the first child of each row, and the next child of its parent;
                          CHIL_EXP_NONE: no more */
    int first_root;
};
/* The parent in one of the three trees. */
typedef int (*exp_parent_of)(const struct chil_exp *exp, size_t index);
int exp_metric_parent(const struct chil_exp *exp, size_t index);
int exp_node_parent(const struct chil_exp *exp, size_t index);
int exp_place_parent(const struct chil_exp *exp, size_t index);
void exp_tree_init(struct exp_tree *tree, const struct chil_exp *exp, size_t count,
                   exp_parent_of parent_of);
void exp_tree_fini(struct exp_tree *tree);
/* The row after `at` in document order, parents first; after CHIL_EXP_NONE the first, after the
 * last CHIL_EXP_NONE. */
int exp_tree_next(const struct exp_tree *tree, const struct chil_exp *exp, exp_parent_of parent_of,
                  int at);

#endif
