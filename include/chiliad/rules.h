/* Rules: assertions about counts and accesses, checked during a run.
 *
 * A file of rules (docs/formats/rules.md) is read, then bound to the names of a program, then
 * notified of the accesses and transactions of a run; at the end each assertion has held or not.
 * An assertion that one access or miss can break is a bin, as on the monitor's board: preset so
 * that the first event too many overflows it (SHR-40, SHR-41); that event is kept. All other
 * assertions are compared in chil_rules_look: in pauses of the run, and at its end.
 *
 * A struct belongs to one thread at a time; two share nothing.
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

/* Events are looked up in `machine`, which outlives the rules. Errors begin with
 * "FILE:LINE:COLUMN: ". */
int chil_rules_open(struct chil_rules **rules, const char *path, const struct chil_machine *machine,
                    struct chil_error *err);
int chil_rules_from_bytes(struct chil_rules **rules, const char *name, const void *bytes,
                          size_t length, const struct chil_machine *machine,
                          struct chil_error *err);
void chil_rules_free(struct chil_rules *rules);

/* The file's lines "tag NAME = PLACES" and "category NAME = PLACES", from which the caller makes
 * the tables of names. */
struct chil_rules_place {
    bool category;
    const char *text; /* "NAME=PLACE,PLACE" */
    const char *from; /* "FILE:LINE:COLUMN: tag", for messages */
};
const struct chil_rules_place *chil_rules_places(const struct chil_rules *rules, size_t *count);

/* Reads the predicates with these names, which outlive the rules. Call it before the first
 * notification. */
int chil_rules_bind(struct chil_rules *rules, const struct chil_hist_names *names,
                    struct chil_error *err);

/* What the rules must be notified of: every data access or not; which kinds of transactions, bit n
 * for enum chil_transaction_kind n. */
bool chil_rules_want_accesses(const struct chil_rules *rules);
uint32_t chil_rules_want_transactions(const struct chil_rules *rules);

/* True when rules count other events in functions. Then the run must be recorded (`record_flat`
 * suffices) and its experiment set before the last chil_rules_look, which it outlives. */
bool chil_rules_want_paths(const struct chil_rules *rules);
void chil_rules_set_paths(struct chil_rules *rules, const struct chil_exp *exp);

/* An access, as a transaction of kind load or store without level and latency; or a transaction of
 * the memory hierarchy. True when an assertion is broken by it for the first time. */
bool chil_rules_access(struct chil_rules *rules, const struct chil_transaction *access);
bool chil_rules_transaction(struct chil_rules *rules, const struct chil_transaction *transaction);
/* Compares counts, in a pause of the run or, with `end`, after it. True when an assertion is broken
 * for the first time. */
bool chil_rules_look(struct chil_rules *rules, const struct chil_run *run, bool end);

/* An assertion and its result, in the order of the file. */
struct chil_assertion {
    unsigned line, column;
    const char *text; /* as it was written */
    bool broken;
    bool has_first;                /* the event that broke it is known: */
    bool access;                   /* it is an access, else a transaction of the hierarchy */
    struct chil_transaction first; /* and this one */
    uint64_t cycle;                /* when it was seen to be broken */
    long double left, right;       /* the two sides, at the end */
    int node;                      /* that has the least or most that was compared; -1: none */
    const char *relation;          /* that should hold between them: "==", "<=" ... */
};
const struct chil_assertion *chil_rules_assertions(const struct chil_rules *rules, size_t *count);
const char *chil_rules_name(const struct chil_rules *rules); /* of the file */

#ifdef __cplusplus
}
#endif
#endif
