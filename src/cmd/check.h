/* Inside chiliad check: the options, the results of a run, and how they are printed. */
#ifndef CMD_CHECK_H
#define CMD_CHECK_H

#include "chiliad/rules.h"
#include "cmd/cmd.h"
#include "view/view_trace.h"

enum { CHECK_AROUND_MAX = 1000, CHECK_BROKEN = CMD_DIFFERS };

/* The last records of a stream, and those behind the violation. */
struct check_ring {
    struct chil_trace_item *items; /* 2 * around + 1 */
    size_t count, next;            /* before the violation: a ring of around + 1 */
    size_t behind; /* how many came since; the violation is in `items` from then on in order */
    bool caught;
    struct chil_trace_item unwanted; /* where the rest goes */
};

/* The source line of the event that broke a rule, looked up while the program was there. */
struct check_place {
    bool known;
    char text[CHIL_PLACE_TEXT];
};

struct check {
    struct cmd_program program;
    const char *file, *junit, *output;
    uint64_t around;
    bool stop;
    struct chil_rules *rules;
    struct cmd_places places;
    struct chil_hist_names names;
    struct chil_run_names wanted;    /* of the run */
    struct check_place *found;       /* for each assertion */
    struct chil_trace_head heads[2]; /* of the two streams: instructions, transactions */
    struct check_ring rings[2];
    bool broken;    /* some rule is */
    bool by_access; /* the first by an access, else by a transaction, */
    bool by_event;  /* if it was by either */
    struct chil_run *run;
};

/* The report, and the same as JUnit XML. */
void check_print(FILE *out, const struct check *c);
void check_print_junit(FILE *out, const struct check *c);

#endif
