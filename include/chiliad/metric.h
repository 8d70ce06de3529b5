/* Metrics: hierarchies derived from counts, counter sets of machines with few counters, and plans
 * of runs (paper 003).
 *
 * A specification is a text (docs/formats/metrics.md) that says how metrics are made of counters:
 * `compose` adds parts and makes them children, `measure` binds a metric to a counter, `compute` is
 * arithmetic without children, `ratio` is evaluated after everything else was added up. A platform
 * (docs/formats/sets.md) is how many counters a machine has, what each can count, and which sets of
 * counters are worth a run.
 *
 * Specifications and platforms are constant once they are read, own every string they hand out, and
 * may be read by any number of threads. What is derived from an experiment is a new experiment;
 * inputs never change.
 */
#ifndef CHILIAD_METRIC_H
#define CHILIAD_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "chiliad/error.h"
#include "chiliad/experiment.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Specifications -------------------------------------------------------------------------- */

/* kind, its word in a file */
#define CHIL_SPEC_KINDS(X)                                                                         \
    X(CHIL_SPEC_COMPOSE, "compose")                                                                \
    X(CHIL_SPEC_MEASURE, "measure")                                                                \
    X(CHIL_SPEC_COMPUTE, "compute")                                                                \
    X(CHIL_SPEC_AGGROUP, "aggroup")                                                                \
    X(CHIL_SPEC_RATIO, "ratio")                                                                    \
    X(CHIL_SPEC_FINDING, "finding")                                                                \
    X(CHIL_SPEC_ABSENT, "absent")                                                                  \
    X(CHIL_SPEC_APPROXIMATE, "approximate")                                                        \
    X(CHIL_SPEC_USE, "use")

enum chil_spec_kind {
#define CHIL_SPEC_ENUM(kind, word) kind,
    CHIL_SPEC_KINDS(CHIL_SPEC_ENUM)
#undef CHIL_SPEC_ENUM
};

struct chil_spec_item {
    enum chil_spec_kind kind;
    const char *name;    /* what it defines */
    const char *formula; /* what stands behind '=' or 'when', blanks made single */
    const char *unit;    /* "" when it says none */
    const char
        *text; /* of a finding behind 'because', of a ratio behind 'text', of a row its text */
    const char *file;
    unsigned line;
};

struct chil_spec;

/* By name from DATA/metrics/NAME.metrics, or by path when `name` contains a '/'. */
int chil_spec_open(struct chil_spec **spec, const char *name, struct chil_error *err);
/* From memory; `name` is for messages. Such a text can `use` specifications of the data directory
 * only. */
int chil_spec_parse(struct chil_spec **spec, const char *name, const void *bytes, size_t length,
                    struct chil_error *err);
/* The one that fits an experiment: of its attribute "platform" or "machine", else that of the
 * simulator's counters. */
int chil_spec_open_for(struct chil_spec **spec, const struct chil_exp *exp, struct chil_error *err);
void chil_spec_free(struct chil_spec *spec);
const char *chil_spec_name(const struct chil_spec *spec);
const char *chil_spec_kind_word(int kind);

/* All statements in force, in the order of the files. A statement that a later file replaced is not
 * in force. */
const struct chil_spec_item *chil_spec_items(const struct chil_spec *spec, size_t *count);
/* Calls back for every name that nothing defines and `known` does not know (NULL: knows nothing),
 * where it is first used, with the nearest name or NULL. */
void chil_spec_unknown(const struct chil_spec *spec, bool (*known)(void *context, const char *name),
                       void (*each)(void *context, const char *file, unsigned line,
                                    const char *name, const char *nearest),
                       void *context);
/* Whether a formula can ask an experiment for a metric of this name: the specification has it, or
 * it is the counter that stands for "busy". */
bool chil_spec_mentions(const struct chil_spec *spec, const char *name);
/* The names of all specifications of the data directory, sorted; free with chil_names_free. */
int chil_spec_names(char ***names, size_t *count, struct chil_error *err);
/* A metric's name as experiments have it: what CubePL cannot take becomes '_'. `size` includes the
 * NUL. */
const char *chil_metric_clean_name(char *buffer, size_t size, const char *name);

/* --- What can be derived --------------------------------------------------------------------- */

struct chil_metric_options {
    bool partial_computations; /* keep computations with missing inputs, marked partial */
    bool approximate;          /* follow `approximate` statements, marked partial */
    bool seconds;              /* hierarchies of cycles in seconds, by the experiment's clock_hz */
    bool time;     /* a hierarchy of time, with those cycles in it that are the program's own */
    bool no_apart; /* leave out what is in no hierarchy */
    bool keep_counters; /* every counter stays, below the hierarchies, which are marked `derived` */
};

/* A metric that can be had from what is counted. A parent comes before its children. */
struct chil_metric_row {
    const char *name; /* as in the specification: DATA_HIT_L1$ */
    int parent;       /* CHIL_EXP_NONE: a root */
    enum chil_exp_origin origin;
    bool partial;
    bool apart;          /* counted, and in no hierarchy */
    const char *formula; /* of a measured one the counter if it has another name, else "" */
};

struct chil_metric_tree;
/* Which metrics `count` counters give. NULL options: the defaults. */
struct chil_metric_tree *chil_metric_tree_new(const struct chil_spec *spec,
                                              const char *const *counters, size_t count,
                                              const struct chil_metric_options *options);
const struct chil_metric_row *chil_metric_tree_rows(const struct chil_metric_tree *tree,
                                                    size_t *count);
int chil_metric_tree_find(const struct chil_metric_tree *tree, const char *name); /* -1: none */
void chil_metric_tree_free(struct chil_metric_tree *tree);

/* The experiment with the metric trees of the specification. Only base counts are read: metrics of
 * `exp` that are measured, under their own name or that of the counter in their formula (and, where
 * the attribute "counted" is "all", events of its machine that are left out because they never
 * happened: zero); derived ones that the specification defines are derived again, so deriving after
 * a merge completes what was partial. Others are taken over as they are, but for those marked
 * `derived`, which are derived again or gone.
 */
int chil_metric_derive(struct chil_exp **result, const struct chil_exp *exp,
                       const struct chil_spec *spec, const struct chil_metric_options *options,
                       struct chil_error *err);
/* Merge (chiliad/experiment.h), then derive from the merged base counts: so every compose and
 * compute of the specification is evaluated with all inputs at hand, whatever arithmetic it is, and
 * ratios can be asked for. If an input has metrics marked `derived`, all counters are kept. */
int chil_metric_merge(struct chil_exp **result, const struct chil_exp *const *input, size_t inputs,
                      const struct chil_exp_align *align, const struct chil_spec *spec,
                      const struct chil_metric_options *options, struct chil_error *err);
/* A metric of an experiment by name, title, or the counter it was measured with; -1: none. */
int chil_metric_find(const struct chil_exp *exp, const char *name);

/* --- Ratios and findings: after everything was added up -------------------------------------- */

struct chil_ratio_value {
    double value;
    bool defined; /* false: something is divided by zero, or an input is not there */
    bool small;   /* a denominator is less than a thousandth of the whole program's: do not scale
                     colours by it */
    bool partial; /* an input is partial */
};

/* The ratio `name` for a node's own or its whole subtree (node -1: all), one thread's or all (-1).
 */
int chil_ratio(const struct chil_exp *exp, const struct chil_spec *spec, const char *name, int node,
               bool subtree, int thread, struct chil_ratio_value *value, struct chil_error *err);
/* The same for every node at once, into out[exp->nodes]. */
int chil_ratio_nodes(const struct chil_exp *exp, const struct chil_spec *spec, const char *name,
                     bool subtree, int thread, struct chil_ratio_value *out,
                     struct chil_error *err);

struct chil_finding_evidence {
    const char *name; /* of a metric or ratio that the rule names */
    double value;
};
struct chil_finding {
    const char *name; /* of the rule */
    int node;         /* CHIL_EXP_NONE: the whole program */
    double share;     /* of the program's cycles, or what the rule says with `of`: 0 to 1 */
    char *text;       /* with {NAME} replaced by values */
    struct chil_finding_evidence *evidence;
    size_t evidence_count;
};
struct chil_findings {
    struct chil_finding
        *finding; /* whole program first, then by falling share, then by rule and node */
    size_t count;
    size_t untried; /* rules that might hold where others do, if something had been recorded: */
    const char
        *needs; /* the machine's parameter that has to be on for it; NULL: nothing is untried */
};

enum { CHIL_FINDING_SHARE_PERCENT = 1 }; /* call paths with less of the whole are not looked at */

/* What the rules find on a derived experiment: for the whole program and for each call path's own
 * counts. */
int chil_findings_new(struct chil_findings **findings, const struct chil_exp *exp,
                      const struct chil_spec *spec, struct chil_error *err);
void chil_findings_free(struct chil_findings *findings);

/* --- Platforms and their counter sets -------------------------------------------------------- */

struct chil_set {
    const char *name;
    const char *const *events;
    size_t count;
    unsigned line;
};

struct chil_platform;

/* By name from DATA/sets/NAME.sets, or by path when `name` contains a '/'. Every set is proved to
 * fit. */
int chil_platform_open(struct chil_platform **platform, const char *name, struct chil_error *err);
int chil_platform_parse(struct chil_platform **platform, const char *name, const void *bytes,
                        size_t length, struct chil_error *err);
void chil_platform_free(struct chil_platform *platform);
int chil_platform_names(char ***names, size_t *count, struct chil_error *err);

const char *chil_platform_name(const struct chil_platform *platform);
const char *chil_platform_text(const struct chil_platform *platform);
const char *chil_platform_metrics(const struct chil_platform *platform); /* its specification */
unsigned chil_platform_counters(const struct chil_platform *platform);
const char *const *chil_platform_events(const struct chil_platform *platform, size_t *count);
const struct chil_set *chil_platform_sets(const struct chil_platform *platform, size_t *count);
const struct chil_set *chil_platform_set(const struct chil_platform *platform,
                                         const char *name); /* NULL: none */
/* An event in counters of a machine of ours: "BGL_LOAD + BGL_FP_LOAD"; NULL: it has no
 * equivalent of it. */
const char *chil_platform_like(const struct chil_platform *platform, const char *event);
/* Whether events can be counted in one run; `why` (may be NULL) says why not. */
bool chil_platform_fits(const struct chil_platform *platform, const char *const *events,
                        size_t count, char *why, size_t size);
/* The specification with the derivations of the platform's own file added where it has none
 * (ERR-16). */
int chil_platform_spec(struct chil_spec **spec, const struct chil_platform *platform,
                       struct chil_error *err);

/* What a run with these events would have seen of an experiment that has all counts: only those,
 * under the platform's names, as measured; times and visits stay. An event that the experiment has
 * under its own name is taken as it is. Events that nothing is like are left out. The attribute
 * "platform" says what it is. */
int chil_metric_limit(struct chil_exp **result, const struct chil_exp *exp,
                      const struct chil_platform *platform, const char *const *events, size_t count,
                      struct chil_error *err);

/* What one run in which these sets took turns would have estimated (chil_run_experiments: `turn` is
 * by set): each event's count while it was on, scaled by the thread's cycles over those in which it
 * was on. An event of several sets was on in the turns of all. Metrics are real and "estimated";
 * the attribute "counted" is "turns". */
#define CHIL_TURN_CYCLES "BGL_CYCLES" /* the event that counts how long a thread ran */
int chil_metric_turns(struct chil_exp **result, const struct chil_exp *exp,
                      const struct chil_exp *const *turn, const struct chil_platform *platform,
                      const struct chil_set *const *set, size_t sets, struct chil_error *err);

/* --- Plans: the fewest runs ------------------------------------------------------------------ */

struct chil_plan_options {
    bool only; /* the metrics' own values; otherwise everything below them too */
};

struct chil_plan_run {
    const char **events;   /* by counter */
    const char **counters; /* the counter of each; on a platform with fixed groups the group */
    size_t count;
    const char *set; /* a set of the platform that has all of them, or NULL */
};

struct chil_plan {
    struct chil_plan_run *run;
    size_t runs;
    size_t bound;          /* no plan has fewer runs */
    const char **complete; /* wanted metrics that the runs complete together */
    size_t completes;
    const char **partial; /* wanted ones that lack something the platform cannot count */
    size_t partials;
    const char **split; /* computations whose inputs no run has together */
    size_t splits;
    size_t events; /* different ones */
    void *memory;  /* private */
};

/* Metrics by name; none: the hierarchies CYCLES, INSTRUCTION, DATA_ACCESS, INST_ACCESS and
 * TLB_ACCESS. */
int chil_plan_new(struct chil_plan **plan, const struct chil_spec *spec,
                  const struct chil_platform *platform, const char *const *metrics, size_t count,
                  const struct chil_plan_options *options, struct chil_error *err);
void chil_plan_free(struct chil_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
