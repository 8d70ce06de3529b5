/* Which records of a run a trace keeps: all of them, or a window around a trigger.
 *
 * A *trigger* is one event of a run: the Nth transaction for which a predicate holds, or the Nth
 * time that the instruction at an address completes. A *window* is the last `before` records, the
 * trigger's record, and `after` more. A *pass* is one run of the program.
 *
 * The records before a trigger are known only when it comes, so a ring keeps the last ones. Every
 * run reports transactions at little cost, but instructions only on the interpreter's slow path.
 * A window with instructions before a transaction therefore takes two passes, unless `once`:
 *
 *   pass     the run reports                      the capture
 *   search   transactions                         finds the trigger's number among them
 *   window   transactions; instructions from a    fills the ring, compares the trigger with the
 *            little before that number            first one, keeps the window
 *
 * The window pass is repeated from 16 times as far back while the ring is not full at the trigger.
 * Runs are deterministic; the trigger differs only where a program reads what it has written or
 * input that is gone.
 *
 * The caller runs the program and forwards what the run reports:
 *
 *     do {
 *         chil_capture_begin(capture, &pass);
 *         ... run as `pass` says; chil_capture_transaction, chil_capture_record ...
 *         outcome = chil_capture_end(capture);
 *     } while (outcome == CHIL_CAPTURE_AGAIN);
 *
 * A capture belongs to one thread at a time; captures share nothing.
 */
#ifndef CHILIAD_CAPTURE_H
#define CHILIAD_CAPTURE_H

#include "chiliad/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All is borrowed until the capture is freed. */
struct chil_capture_options {
    enum chil_trace_kind kind;
    /* The trigger: `where` or `at_pc`; neither: all records are kept. `at_pc` is not for
     * transactions. */
    const struct chil_where *where;
    bool at_pc;
    uint32_t pc;
    uint64_t nth; /* from 1 */
    uint64_t before, after;
    bool once; /* one pass, with every instruction reported */
    /* Tags by address and categories by pc that replace the program's own; NULL: its own. */
    struct chil_ranges *tags, *categories;
    /* Receives each record that is kept; false: no more are wanted. */
    bool (*keep)(void *context, const struct chil_trace_item *item);
    /* Switches the run's reports of instructions (chil_run_trace_switch). */
    void (*report)(void *context, bool on);
    void *context;
};

struct chil_capture;
struct chil_capture *chil_capture_new(const struct chil_capture_options *options);
void chil_capture_free(struct chil_capture *capture);

/* What the run of a pass has to report. */
struct chil_capture_pass {
    bool instructions, transactions;
    bool starts_off; /* no instructions until the capture switches them on; without a trigger the
                        caller decides */
    bool is_search;  /* nothing is kept in this pass */
    bool is_repeat;  /* the program has run before: its effects must not be seen again */
};
void chil_capture_begin(struct chil_capture *capture, struct chil_capture_pass *pass);

/* From the callbacks of the run. `on`: the program has not switched the trace off. Both keep order:
 * a transaction comes before the record of its instruction. */
void chil_capture_transaction(struct chil_capture *capture,
                              const struct chil_transaction *transaction, bool on);
/* False: no more records are wanted. */
bool chil_capture_record(struct chil_capture *capture, const struct chil_trace_record *record);
/* Whether the rest of a repeated pass can change nothing. */
bool chil_capture_is_over(const struct chil_capture *capture);

enum chil_capture_outcome {
    CHIL_CAPTURE_DONE,
    CHIL_CAPTURE_AGAIN,  /* another pass is needed */
    CHIL_CAPTURE_ABSENT, /* the trigger did not come */
    CHIL_CAPTURE_DIFFERS /* the second pass did not come to the trigger of the first */
};
/* After a run that came to its end, or ended since the capture was over. */
enum chil_capture_outcome chil_capture_end(struct chil_capture *capture);

/* How often the trigger's condition held, and how many transactions there were, in the last pass
 * that looked for it. */
uint64_t chil_capture_matches(const struct chil_capture *capture);
uint64_t chil_capture_transactions(const struct chil_capture *capture);

#ifdef __cplusplus
}
#endif
#endif
