/* Inside rules: expressions over counts, bins, assertions, and the reader's state.
 *
 * Terms: docs/glossary.md
 */
#ifndef RULES_IMPL_H
#define RULES_IMPL_H

#include "base/text.h"
#include "chiliad/rules.h"

enum { RULES_STEPS = 64, RULES_PIECES = 16, RULES_DEPTH = 24, RULES_MANY = 4096 };

/* An expression: steps of a small stack machine. */
enum rules_operation {
    RULES_NUMBER,
    RULES_IN, /* an event in a function, by call paths */
    RULES_EVENT,
    RULES_COUNT,
    RULES_ADD,
    RULES_SUBTRACT,
    RULES_MULTIPLY,
    RULES_DIVIDE
};
/* An event of many nodes: their sum, the least and the most of a node, the mean, one node's. */
enum rules_over { RULES_SUM, RULES_LEAST, RULES_MOST, RULES_MEAN, RULES_NODE };
struct rules_step {
    enum rules_operation operation;
    enum rules_over over; /* of RULES_EVENT */
    unsigned node;        /* of RULES_NODE; a bin's conditions name nodes themselves */
    long double number;
    const struct chil_event *event;
    size_t bin;
    const char *function; /* the rules': of RULES_IN */
    unsigned column;      /* of an event or count, for messages */
};
struct rules_expression {
    struct rules_step steps[RULES_STEPS];
    unsigned count;
};

/* A predicate is the conjunction of its pieces; each has its place in the file until it is bound.
 */
struct rules_piece {
    char *text;
    unsigned line, column;
    struct chil_where *where;
};

/* What counts accesses, or misses of some kinds, for which a predicate holds. `word` starts at
 * `preset` and overflows with the first event that is too many, if it is armed. */
struct rules_bin {
    bool access;
    uint32_t kinds; /* bits of enum chil_transaction_kind */
    int core;       /* the only one, or -1 */
    struct rules_piece pieces[RULES_PIECES];
    unsigned piece_count;
    bool shared; /* of a `let`: several rules may use it */
    bool armed;
    size_t assertion; /* whose it is, if it is armed */
    uint64_t word, preset;
};

enum rules_relation {
    RULES_EQUAL,
    RULES_UNEQUAL,
    RULES_BELOW,
    RULES_AT_MOST,
    RULES_ABOVE,
    RULES_AT_LEAST
};

struct rules_rule {
    struct rules_expression left, right;
    enum rules_relation relation;
    bool early;  /* is also compared before the end, */
    bool late;   /* only behind it: call paths are not known before */
    bool always; /* and must hold each time */
};

struct rules_let {
    char *name;
    struct rules_expression expression;
};

struct chil_rules {
    char *name;
    const struct chil_machine *machine;
    struct chil_assertion *assertions;
    struct rules_rule *rules; /* one for each assertion */
    size_t count, assertion_capacity, rule_capacity;
    struct rules_bin *bins;
    size_t bin_count, bin_capacity;
    struct rules_let *lets;
    size_t let_count, let_capacity;
    struct rules_function {
        char *name;
        unsigned line, column;
    } * functions; /* of in= with events that only call paths know */
    size_t function_count, function_capacity;
    unsigned most_node, most_node_line, most_node_column; /* that an expression names */
    const struct chil_exp *exp;                           /* borrowed */
    struct chil_rules_place *places;
    size_t place_count, place_capacity;
};

/* The bin that counts what an event counts, when that is transactions of the hierarchy
 * (rules_run.c). */
bool rules_event_bin(const struct chil_event *event, struct rules_bin *bin);

void rules_free_bin(struct rules_bin *bin); /* what is in it */

/* One number, from the counts of a run and the bins; without a run events are 0. */
long double rules_value(const struct chil_rules *rules, const struct rules_expression *expression,
                        const struct chil_run *run);
/* The node that an expression is about: that of its first `min`, `max` or `node`; -1: none. */
int rules_node(const struct rules_expression *expression, const struct chil_run *run);
const char *rules_relation_text(enum rules_relation relation);

#endif
