/* Reports: an experiment as people look at it (paper 003, section 3.1).
 *
 * Three linked trees: metrics, call paths, the system. What is selected in a tree decides what the
 * trees to its right show. A node shows its whole value while it is closed, and only its own while
 * it is open; so what is shown of a tree adds up to its root. Percentages have the bases of the
 * paper and of CUBE.
 *
 * A metric is always selected; trees to the left of the metrics show that one. Without a selection
 * of call paths or threads, all are. Values are doubles: counts are exact up to 2^53.
 *
 * A report owns the experiment that it derived, borrows the specification, and belongs to one
 * thread at a time.
 */
#ifndef CHILIAD_REPORT_H
#define CHILIAD_REPORT_H

#include <stdio.h>

#include "chiliad/experiment.h"
#include "chiliad/metric.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chil_report;

/* Derives the specification's hierarchies (NULL: the experiment's metrics as they are). `exp` is
 * not kept. */
int chil_report_new(struct chil_report **report, const struct chil_exp *exp,
                    const struct chil_spec *spec, const struct chil_metric_options *options,
                    struct chil_error *err);
void chil_report_free(struct chil_report *report);
const struct chil_exp *chil_report_exp(const struct chil_report *report); /* the derived one */
/* Whether a metric is a counter's that belongs to no hierarchy. */
bool chil_report_is_apart(const struct chil_report *report, int metric);

/* --- Selections ------------------------------------------------------------------------------ */

enum chil_report_pane { CHIL_REPORT_METRICS, CHIL_REPORT_CALLS, CHIL_REPORT_SYSTEM };

/* Left to right: "mcs" at first, or any other order of these three letters. */
int chil_report_order(struct chil_report *report, const char *letters, struct chil_error *err);
/* By name, title or counter. At first: CYCLES, else time, else the first root. */
int chil_report_select_metric(struct chil_report *report, const char *name, struct chil_error *err);
int chil_report_metric(const struct chil_report *report);
/* Call paths that match one of the patterns, with all below them. A pattern is the end of a path
 * with '/' between the functions, each as in a shell: "solve", "main/s*"; one that begins with '/'
 * is the whole path; a step "**" is any number of steps. CHIL_ENOENT when there is none. */
int chil_report_select_calls(struct chil_report *report, const char *const *patterns, size_t count,
                             struct chil_error *err);
/* Threads that `wanted` accepts, by column; CHIL_ENOENT when there is none. */
int chil_report_select_threads(struct chil_report *report,
                               bool (*wanted)(void *context, int thread), void *context,
                               struct chil_error *err);
/* The selected are open: the metric without its children, call paths without what they call. */
void chil_report_select_own(struct chil_report *report, bool own);
/* The experiment cut down to what a tree shows: selections to its left applied. Free it with
 * chil_exp_free. */
int chil_report_cut(const struct chil_report *report, enum chil_report_pane pane,
                    struct chil_exp **exp, struct chil_error *err);

/* --- Trees ----------------------------------------------------------------------------------- */

/* mode, its word. USUAL is own root for metrics, metric selection for call paths, call selection
 * for the system. EXTERNAL is of the root of the metric's hierarchy in another experiment,
 * chil_report_set_reference. PEER is of the greatest on the same level of the system, PEER_RANGE
 * from 0 for the least to 100 for the greatest there; elsewhere both are USUAL. */
#define CHIL_REPORT_MODES(X)                                                                       \
    X(CHIL_REPORT_USUAL, "usual")                                                                  \
    X(CHIL_REPORT_OWN_ROOT, "own-root")                                                            \
    X(CHIL_REPORT_METRIC_ROOT, "metric-root")                                                      \
    X(CHIL_REPORT_METRIC_SELECTION, "metric-selection")                                            \
    X(CHIL_REPORT_CALL_ROOT, "call-root")                                                          \
    X(CHIL_REPORT_CALL_SELECTION, "call-selection")                                                \
    X(CHIL_REPORT_SYSTEM_ROOT, "system-root")                                                      \
    X(CHIL_REPORT_SYSTEM_SELECTION, "system-selection")                                            \
    X(CHIL_REPORT_EXTERNAL, "external")                                                            \
    X(CHIL_REPORT_PEER, "peer")                                                                    \
    X(CHIL_REPORT_PEER_RANGE, "peer-range")

enum chil_report_mode {
#define CHIL_REPORT_ENUM(mode, word) mode,
    CHIL_REPORT_MODES(CHIL_REPORT_ENUM)
#undef CHIL_REPORT_ENUM
};
/* What EXTERNAL is of, with metrics derived as the report's are; borrowed. NULL: nothing, no such
 * share is defined. */
void chil_report_set_reference(struct chil_report *report, const struct chil_exp *reference);
int chil_report_mode_find(const char *word); /* -1: none */
const char *chil_report_mode_word(int mode);

enum { CHIL_REPORT_DEPTH_MOST = 1000 }; /* what is deeper is closed */
struct chil_report_view {
    enum chil_report_mode mode;
    unsigned depth;   /* nodes less deep than this are open; roots are 0 deep */
    double threshold; /* call paths with less than this share of the tree are gathered below their
                         caller */
};

struct chil_report_row {
    int index;       /* metric, call path or place; -1: several call paths together */
    int parent;      /* of several: their caller */
    unsigned depth;  /* roots: 0 */
    unsigned others; /* how many several are, those below them not counted */
    bool open, has_children;
    double whole, value; /* with all below, and what is shown: the whole when closed */
    double percent;      /* of what is shown */
    bool defined;        /* false: the percentage's base is zero and the value is not */
};

/* Rows of a tree, parents first; call paths by falling weight. Metrics that are apart are not in
 * it. The array is to be freed. */
struct chil_report_row *chil_report_rows(const struct chil_report *report,
                                         enum chil_report_pane pane,
                                         const struct chil_report_view *view, size_t *count);

/* Regions or modules instead of call paths: by falling own value, then by name. */
struct chil_report_flat {
    const char *name, *module;
    int region;        /* -1: a module */
    double own, whole; /* whole: of all its call paths, recursion counted once */
    double visits;     /* 0 where the experiment does not say */
    double percent;    /* of own, in the base of the tree of call paths */
    bool defined;
};
struct chil_report_flat *chil_report_flat(const struct chil_report *report, bool by_module,
                                          enum chil_report_mode mode, size_t *count);

/* "main/solve/kernel", in memory that the caller frees. */
char *chil_report_path(const struct chil_exp *exp, int node, const char *between);

/* --- Code ------------------------------------------------------------------------------------ */

struct chil_report_instruction {
    uint32_t address, word;
    uint64_t count;        /* how often it was executed */
    const uint64_t *value; /* of each event of the code; NULL: all are 0 */
    const char *file;      /* of its source; "" unknown */
    int line;              /* 0 unknown */
};
struct chil_report_function {
    const char *name, *object;
    struct chil_report_instruction *instruction; /* all that were executed, by address */
    size_t count;
};
enum { CHIL_REPORT_CODE_EVENTS = 64 };
struct chil_report_code {
    struct chil_report_function *function;
    size_t count;
    const char **event; /* names of what is known of each instruction; none in older files */
    size_t events;
    void *memory; /* private */
};
/* The functions of an experiment as it was recorded whose names match a shell pattern. CHIL_ENOENT
 * when there is none, or no code: only what `chiliad record` wrote has it. `name` of the experiment
 * is for messages. */
int chil_report_code_new(struct chil_report_code **code, const struct chil_exp *exp,
                         const char *name, const char *pattern, struct chil_error *err);
void chil_report_code_free(struct chil_report_code *code);

/* --- For other tools ------------------------------------------------------------------------- */

/* "main;solve;kernel 123" a line: input of flame graphs; counts are rounded, negative ones left
 * out. What the tree of call paths shows. */
void chil_report_folded(const struct chil_report *report, FILE *out);
/* A callgrind.out file of these metrics, for KCachegrind and callgrind_annotate: own counts and
 * calls by function, calls at their lines. With the code (all of it), instructions that were
 * executed are at theirs; NULL: without. A metric that is negative somewhere, or not whole, is left
 * out; returns how many are in it. */
size_t chil_report_callgrind(const struct chil_report *report, const struct chil_report_code *code,
                             const int *metrics, size_t count, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
