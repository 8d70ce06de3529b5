/* Rules: what a program must and must not do, in counts and in accesses, and whether it did.
 *
 * A file of rules (docs/formats/rules.md) is read, then bound to the names of a program, then told
 * what happens in a run; at the end each assertion has held or not. What can be decided at one
 * access or miss becomes a bin of its own, as on the monitor's board: preset so that it overflows
 * with the first event that is too many (SHR-40, SHR-41), which is kept. Everything else is
 * compared when somebody looks: now and then, and at the end.
 *
 * One thread at a time; two objects share nothing.
 */
#ifndef CHILIAD_RULES_H
#define CHILIAD_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/catalog.h"
#include "chiliad/error.h"
#include "chiliad/monitor.h"
#include "chiliad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chil_rules;

/* Events are looked up in `machine`, which outlives the rules. What is wrong is told as
 * "FILE:LINE:COLUMN: ...". */
int chil_rules_open(struct chil_rules **rules, const char *path, const struct chil_machine *machine,
                    struct chil_error *err);
int chil_rules_from_bytes(struct chil_rules **rules, const char *name, const void *bytes,
                          size_t length, const struct chil_machine *machine,
                          struct chil_error *err);
void chil_rules_free(struct chil_rules *rules);

/* The file's lines "tag NAME = PLACES" and "category NAME = PLACES", for whoever makes the names.
 */
struct chil_rules_place {
    bool category;
    const char *text; /* "NAME=PLACE,PLACE" */
    const char *from; /* "FILE:LINE:COLUMN: tag", for messages */
};
const struct chil_rules_place *chil_rules_places(const struct chil_rules *rules, size_t *count);

/* Reads the predicates with these names, which outlive the rules. Before anything is told. */
int chil_rules_bind(struct chil_rules *rules, const struct chil_hist_names *names,
                    struct chil_error *err);

/* What the rules need to be told: every data access, and which kinds of transactions (bits). */
bool chil_rules_want_accesses(const struct chil_rules *rules);
uint32_t chil_rules_want_transactions(const struct chil_rules *rules);

/* Whether functions' counts of other events are needed: then the run is recorded (`record_flat`
 * suffices), and its experiment set before the look at the end; it outlives that. */
bool chil_rules_want_paths(const struct chil_rules *rules);
void chil_rules_set_paths(struct chil_rules *rules, const struct chil_exp *exp);

/* An access, as a transaction of kind load or store without level and latency; or a transaction of
 * the memory hierarchy. True when an assertion is broken by it for the first time. */
bool chil_rules_access(struct chil_rules *rules, const struct chil_transaction *access);
bool chil_rules_transaction(struct chil_rules *rules, const struct chil_transaction *transaction);
/* Compares counts, in a pause of the run or, with `end`, after it. True when one is broken for the
 * first time. */
bool chil_rules_look(struct chil_rules *rules, const struct chil_run *run, bool end);

/* An assertion and what came of it, in the order of the file. */
struct chil_assertion {
    unsigned line, column;
    const char *text; /* as it was written */
    bool broken;
    bool has_first;                /* the event that broke it is known: */
    bool access;                   /* it is an access, else a transaction of the hierarchy */
    struct chil_transaction first; /* and this one */
    uint64_t cycle;                /* when it was seen to be broken */
    long double left, right;       /* the two sides, at the end */
    const char *relation;          /* that should hold between them: "==", "<=" ... */
};
const struct chil_assertion *chil_rules_assertions(const struct chil_rules *rules, size_t *count);
const char *chil_rules_name(const struct chil_rules *rules); /* of the file */

#ifdef __cplusplus
}
#endif
#endif
