/* Reports: selections of metric, call paths and threads, sums over them, percentages. */
#include "analyze/report/report_impl.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* --- A report -------------------------------------------------------------------------------- */

void chil_report_free(struct chil_report *report)
{
    if (!report) return;
    chil_exp_free(report->exp);
    free(report->apart);
    free(report->chosen);
    free(report->node_in);
    free(report->thread_in);
    free(report);
}

const struct chil_exp *chil_report_exp(const struct chil_report *report)
{
    return report->exp;
}

static bool has_children(const struct chil_exp *exp, int metric)
{
    for (size_t i = (size_t)metric + 1; i < exp->metrics; i++)
        if (exp->metric[i].parent == metric) return true;
    return false;
}

bool chil_report_is_apart(const struct chil_report *report, int metric)
{
    return report->apart[metric];
}

static bool find_apart(const struct chil_report *report, int metric)
{
    const struct chil_exp_metric *m = &report->exp->metric[metric];
    size_t count;
    char name[256];
    if (!report->spec || m->parent >= 0 || has_children(report->exp, metric)) return false;
    const struct chil_spec_item *item = chil_spec_items(report->spec, &count);
    for (size_t i = 0; i < count; i++)
        if (item[i].kind <= CHIL_SPEC_COMPUTE &&
            strcmp(chil_metric_clean_name(name, sizeof name, item[i].name), m->name) == 0)
            return false;
    return true;
}

static const char *const usual_metrics[] = {"TIME", "CYCLES", "BGL_CYCLES", "time"};

int chil_report_new(struct chil_report **report, const struct chil_exp *exp,
                    const struct chil_spec *spec, const struct chil_metric_options *options,
                    struct chil_error *err)
{
    struct chil_exp *derived = NULL;
    *report = NULL;
    if (!exp->metrics || !exp->nodes || !exp->threads)
        return chil_error_set(err, CHIL_EINVAL,
                              "the experiment has no metrics, call paths or threads");
    int status = spec ? chil_metric_derive(&derived, exp, spec, options, err)
                      : chil_exp_merge(&derived, &exp, 1, NULL, err);
    if (status) return status;
    if (!derived->metrics) {
        chil_exp_free(derived);
        return chil_error_set(err, CHIL_EINVAL,
                              "nothing can be derived from the experiment's metrics");
    }
    struct chil_report *r = base_calloc(1, sizeof *r);
    *r = (struct chil_report){.exp = derived,
                              .spec = spec,
                              .at = {CHIL_REPORT_METRICS, CHIL_REPORT_CALLS, CHIL_REPORT_SYSTEM},
                              .metric = -1};
    r->chosen = base_calloc(derived->nodes + 1, sizeof *r->chosen);
    r->node_in = base_calloc(derived->nodes + 1, sizeof *r->node_in);
    r->thread_in = base_calloc(derived->threads + 1, sizeof *r->thread_in);
    for (size_t i = 0; r->metric < 0 && i < sizeof usual_metrics / sizeof *usual_metrics; i++)
        r->metric = chil_metric_find(derived, usual_metrics[i]);
    if (r->metric < 0) r->metric = 0; /* a parent comes before its children */
    r->apart = base_calloc(derived->metrics, sizeof *r->apart);
    for (size_t i = 0; i < derived->metrics; i++)
        r->apart[i] = find_apart(r, (int)i);
    *report = r;
    return 0;
}

/* --- Selections ------------------------------------------------------------------------------ */

int chil_report_order(struct chil_report *report, const char *letters, struct chil_error *err)
{
    static const char known[] = "mcs";
    enum chil_report_pane at[3] = {0};
    unsigned seen = 0;
    for (int i = 0; i < 3 && strlen(letters) == 3; i++) {
        const char *found = strchr(known, letters[i]);
        if (!found) break;
        at[i] = (enum chil_report_pane)(found - known);
        seen |= 1U << at[i];
    }
    if (seen != 7)
        return chil_error_set(err, CHIL_EINVAL,
                              "an order of trees is m, c and s once each, not '%s'", letters);
    memcpy(report->at, at, sizeof at);
    return 0;
}

static const char *title_at(const void *table, size_t index)
{
    const struct chil_exp *exp = table;
    return exp->metric[index].title;
}

int chil_report_select_metric(struct chil_report *report, const char *name, struct chil_error *err)
{
    char hint[300];
    int metric = chil_metric_find(report->exp, name);
    if (metric < 0)
        return chil_error_set(
            err, CHIL_ENOENT, "there is no metric '%s'%s", name,
            text_hint(hint, sizeof hint,
                      text_nearest(name, report->exp, report->exp->metrics, title_at)));
    report->metric = metric;
    return 0;
}

int chil_report_metric(const struct chil_report *report)
{
    return report->metric;
}

enum { STEPS = 62 };

struct pattern {
    char text[1024];
    const char *step[STEPS + 1];
    unsigned steps;
};

static bool is_any(const struct pattern *p, unsigned step)
{
    return strcmp(p->step[step], "**") == 0;
}

/* "a/b" is the end of a path, so "**" comes before it. */
static int take_pattern(struct pattern *p, const char *text, struct chil_error *err)
{
    bool whole = *text == '/';
    char *rest = p->text;
    p->steps = 0;
    if (strlen(text) < sizeof p->text && text[whole]) {
        (void)snprintf(p->text, sizeof p->text, "%s", text + whole);
        if (!whole) p->step[p->steps++] = "**";
        while (p->steps < STEPS && rest)
            p->step[p->steps++] = strsep(&rest, "/");
    }
    if (rest || !p->steps)
        return chil_error_set(err, CHIL_EINVAL, "'%.100s' is no pattern of call paths", text);
    return 0;
}

/* Bit n is set when the first n steps can stand for the path so far; a step of "**" may stand for
 * nothing. */
static uint64_t skip_any(const struct pattern *p, uint64_t state)
{
    for (unsigned i = 0; i < p->steps; i++)
        if (state >> i & 1 && is_any(p, i)) state |= UINT64_C(2) << i;
    return state;
}

static uint64_t next_state(const struct pattern *p, uint64_t state, const char *name)
{
    uint64_t next = 0;
    for (unsigned i = 0; i < p->steps; i++) {
        if (!(state >> i & 1)) continue;
        if (is_any(p, i))
            next |= UINT64_C(1) << i;
        else if (fnmatch(p->step[i], name, 0) == 0)
            next |= UINT64_C(2) << i;
    }
    return skip_any(p, next);
}

static int choose(struct chil_report *report, const char *text, struct chil_error *err)
{
    const struct chil_exp *exp = report->exp;
    struct pattern p;
    bool found = false;
    int status = take_pattern(&p, text, err);
    if (status) return status;
    uint64_t *state = base_calloc(exp->nodes, sizeof *state), first = skip_any(&p, 1);
    for (size_t n = 0; n < exp->nodes; n++) {
        int parent = exp->node[n].parent;
        state[n] = next_state(&p, parent < 0 ? first : state[parent],
                              exp->region[exp->node[n].region].name);
        if (state[n] >> p.steps & 1) report->chosen[n] = found = true;
    }
    free(state);
    return found ? 0 : chil_error_set(err, CHIL_ENOENT, "no call path matches '%.100s'", text);
}

int chil_report_select_calls(struct chil_report *report, const char *const *patterns, size_t count,
                             struct chil_error *err)
{
    const struct chil_exp *exp = report->exp;
    int status = 0;
    memset(report->chosen, 0, exp->nodes * sizeof *report->chosen);
    report->calls_chosen = count > 0;
    for (size_t i = 0; i < count && !status; i++)
        status = choose(report, patterns[i], err);
    for (size_t n = 0; n < exp->nodes; n++)
        report->node_in[n] =
            report->chosen[n] || (exp->node[n].parent >= 0 && report->node_in[exp->node[n].parent]);
    return status;
}

int chil_report_select_threads(struct chil_report *report,
                               bool (*wanted)(void *context, int thread), void *context,
                               struct chil_error *err)
{
    bool found = false;
    for (size_t t = 0; t < report->exp->threads; t++)
        found |= report->thread_in[t] = wanted(context, (int)t);
    report->threads_chosen = true;
    return found ? 0 : chil_error_set(err, CHIL_ENOENT, "no thread is selected");
}

void chil_report_select_own(struct chil_report *report, bool own)
{
    report->own = own;
}

struct report_masks report_masks_of(const struct chil_report *report, enum chil_report_pane pane)
{
    struct report_masks masks = {0};
    for (int i = 0; report->at[i] != pane; i++) {
        masks.calls |= report->at[i] == CHIL_REPORT_CALLS && report->calls_chosen;
        masks.threads |= report->at[i] == CHIL_REPORT_SYSTEM && report->threads_chosen;
    }
    return masks;
}

static bool is_chosen(void *context, int node)
{
    const struct chil_report *report = context;
    return report->chosen[node];
}

static bool is_thread_in(void *context, int thread)
{
    const struct chil_report *report = context;
    return report->thread_in[thread];
}

int chil_report_cut(const struct chil_report *report, enum chil_report_pane pane,
                    struct chil_exp **exp, struct chil_error *err)
{
    struct report_masks masks = report_masks_of(report, pane);
    return chil_exp_cut(exp, report->exp, masks.calls ? is_chosen : NULL,
                        masks.threads ? is_thread_in : NULL, (void *)report, err);
}

/* --- Sums ------------------------------------------------------------------------------------ */

static bool holds(const struct chil_report *r, const struct chil_exp_cell *cell,
                  struct report_masks masks)
{
    if (masks.calls && !(r->own ? r->chosen : r->node_in)[cell->node]) return false;
    return !masks.threads || r->thread_in[cell->thread];
}

/* Adds `sign` times a metric's cells, by call path or by thread. */
static void add_cells(const struct chil_report *r, int metric, double sign,
                      struct report_masks masks, bool by_thread, double *out)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(r->exp, metric, &count);
    bool whole = r->exp->metric[metric].kind == CHIL_EXP_COUNT;
    for (size_t i = 0; i < count; i++)
        if (holds(r, &cell[i], masks))
            out[by_thread ? cell[i].thread : cell[i].node] +=
                sign * (whole ? (double)cell[i].count : cell[i].real);
}

static void add_metric(const struct chil_report *r, int metric, bool open,
                       struct report_masks masks, bool by_thread, double *out)
{
    memset(out, 0, (by_thread ? r->exp->threads : r->exp->nodes) * sizeof *out);
    add_cells(r, metric, 1, masks, by_thread, out);
    for (size_t i = (size_t)metric + 1; open && i < r->exp->metrics; i++)
        if (r->exp->metric[i].parent == metric) add_cells(r, (int)i, -1, masks, by_thread, out);
}

void report_by_node(const struct chil_report *report, int metric, bool open,
                    struct report_masks masks, double *out)
{
    add_metric(report, metric, open, masks, false, out);
}

void report_by_thread(const struct chil_report *report, int metric, bool open,
                      struct report_masks masks, double *out)
{
    add_metric(report, metric, open, masks, true, out);
}

double report_total(const struct chil_report *report, int metric, bool open,
                    struct report_masks masks)
{
    double *own = base_calloc(report->exp->threads + 1, sizeof *own), total = 0;
    report_by_thread(report, metric, open, masks, own);
    for (size_t t = 0; t < report->exp->threads; t++)
        total += own[t];
    free(own);
    return total;
}

void report_fold_nodes(const struct chil_exp *exp, double *values)
{
    for (size_t n = exp->nodes; n-- > 0;)
        if (exp->node[n].parent >= 0) values[exp->node[n].parent] += values[n];
}

/* --- Percentages ----------------------------------------------------------------------------- */

static const char *const mode_words[] = {
#define REPORT_WORD(mode, word) word,
    CHIL_REPORT_MODES(REPORT_WORD)
#undef REPORT_WORD
};

int chil_report_mode_find(const char *word)
{
    for (size_t i = 0; i < sizeof mode_words / sizeof *mode_words; i++)
        if (strcmp(mode_words[i], word) == 0) return (int)i;
    return -1;
}

const char *chil_report_mode_word(int mode)
{
    return mode_words[mode];
}

enum chil_report_mode report_mode_in(enum chil_report_pane pane, enum chil_report_mode mode)
{
    static const enum chil_report_mode usual[] = {
        CHIL_REPORT_OWN_ROOT, CHIL_REPORT_METRIC_SELECTION, CHIL_REPORT_CALL_SELECTION};
    bool peer = mode == CHIL_REPORT_PEER || mode == CHIL_REPORT_PEER_RANGE;
    return mode == CHIL_REPORT_USUAL || (peer && pane != CHIL_REPORT_SYSTEM) ? usual[pane] : mode;
}

/* The selected call paths' value, or that of the roots above them, as the tree of call paths shows
 * them. */
static double base_of_calls(const struct chil_report *r, bool roots)
{
    const struct chil_exp *exp = r->exp;
    struct report_masks masks = report_masks_of(r, CHIL_REPORT_CALLS);
    if (!r->calls_chosen) return report_total(r, r->metric, r->own, masks);
    if (!roots) {
        masks.calls = true;
        return report_total(r, r->metric, r->own, masks);
    }
    double *value = base_calloc(exp->nodes, sizeof *value), sum = 0;
    bool *leads = base_calloc(exp->nodes, sizeof *leads);
    report_by_node(r, r->metric, r->own, masks, value);
    report_fold_nodes(exp, value);
    for (size_t n = exp->nodes; n-- > 0;) {
        leads[n] |= r->chosen[n];
        if (exp->node[n].parent >= 0) leads[exp->node[n].parent] |= leads[n];
        if (exp->node[n].parent < 0 && leads[n]) sum += value[n];
    }
    free(value);
    free(leads);
    return sum;
}

/* The same of the system: the selected threads', or the whole machine's. */
static double base_of_system(const struct chil_report *r, bool root)
{
    struct report_masks masks = report_masks_of(r, CHIL_REPORT_SYSTEM);
    masks.threads = !root && r->threads_chosen;
    return report_total(r, r->metric, r->own, masks);
}

void chil_report_set_reference(struct chil_report *report, const struct chil_exp *reference)
{
    report->reference = reference;
}

double report_external(const struct chil_report *r, int metric)
{
    while (r->exp->metric[metric].parent >= 0)
        metric = r->exp->metric[metric].parent;
    int same = r->reference ? chil_exp_find_metric(r->reference, r->exp->metric[metric].name) : -1;
    return same >= 0 ? chil_exp_sum(r->reference, same, CHIL_EXP_NONE, false, -1) : 0;
}

double report_base(const struct chil_report *r, enum chil_report_mode mode)
{
    int root = r->metric;
    while (r->exp->metric[root].parent >= 0)
        root = r->exp->metric[root].parent;
    switch (mode) {
    case CHIL_REPORT_METRIC_ROOT:
        return report_total(r, root, false, report_masks_of(r, CHIL_REPORT_METRICS));
    case CHIL_REPORT_METRIC_SELECTION:
        return report_total(r, r->metric, r->own, report_masks_of(r, CHIL_REPORT_METRICS));
    case CHIL_REPORT_CALL_ROOT: return base_of_calls(r, true);
    case CHIL_REPORT_CALL_SELECTION: return base_of_calls(r, false);
    case CHIL_REPORT_SYSTEM_ROOT: return base_of_system(r, true);
    case CHIL_REPORT_SYSTEM_SELECTION: return base_of_system(r, false);
    case CHIL_REPORT_EXTERNAL: return report_external(r, r->metric);
    default: return 0;
    }
}

double report_percent(double value, double base, bool *defined)
{
    *defined = base != 0 || value == 0;
    return base != 0 ? 100 * value / base : 0;
}
