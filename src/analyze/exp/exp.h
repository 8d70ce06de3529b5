/* Inside experiments: how cells are kept, and what the files and the operators share.
 *
 * A metric's cells are one array of 16 bytes each. Cells that come in order are only appended;
 * others are sorted in, and equal places added up, when somebody asks. Strings live in the
 * experiment's arena and die with it.
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
    bool loose; /* not sorted, or with zeros */
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

/* Puts cells into order, adds up equal places, drops zeros. */
void exp_settle(struct exp_column *column, enum chil_exp_kind kind);
/* Adds a cell of the metric's kind. */
void exp_add_cell(struct chil_exp *exp, int metric, struct chil_exp_cell cell);
/* Turns a metric of counts into one of reals, with its cells. */
void exp_make_real(struct chil_exp *exp, int metric);
/* Puts '_' for each character that CubePL's names cannot have. */
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
