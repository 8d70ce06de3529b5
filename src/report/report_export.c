/* What other tools read: folded stacks for flame graphs, callgrind's format for KCachegrind.
 *
 * Callgrind knows functions and calls, not paths: a function's costs are those of all its paths, a call's are those of
 * all paths from the one function to the other, with everything below. Where calls are is not known, so they stand at
 * the line where the caller begins.
 */
#include "report/report_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *chil_report_path(const struct chil_exp *exp, int node, const char *between)
{
    char *text = NULL;
    size_t size = 0, depth = 0;
    for (int n = node; n >= 0; n = exp->node[n].parent)
        depth++;
    int *step = base_calloc(depth + 1, sizeof *step);
    for (int n = node, at = (int)depth; n >= 0; n = exp->node[n].parent)
        step[--at] = n;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out && i < depth; i++)
        (void)fprintf(out, "%s%s", i ? between : "", exp->region[exp->node[step[i]].region].name);
    if (out) (void)fclose(out);
    free(step);
    return text ? text : base_calloc(1, 1);
}

/* A name without what the formats use themselves. */
static void print_name(FILE *out, const char *name, const char *not_these)
{
    for (; *name; name++)
        (void)fputc((unsigned char)*name < ' ' || strchr(not_these, *name) ? '_' : *name, out);
}

void chil_report_folded(const struct chil_report *r, FILE *out)
{
    const struct chil_exp *exp = r->exp;
    double *own = base_calloc(exp->nodes, sizeof *own);
    int *step = base_calloc(exp->nodes, sizeof *step);
    report_by_node(r, r->metric, r->own, report_masks_of(r, CHIL_REPORT_CALLS), own);
    for (size_t n = 0; n < exp->nodes; n++) {
        size_t depth = 0;
        if (own[n] < 0.5) continue;
        for (int k = (int)n; k >= 0; k = exp->node[k].parent)
            step[depth++] = k;
        while (depth-- > 0) {
            print_name(out, exp->region[exp->node[step[depth]].region].name, ";");
            if (depth) (void)fputc(';', out);
        }
        (void)fprintf(out, " %.0f\n", own[n]);
    }
    free(own);
    free(step);
}

/* --- Callgrind ----------------------------------------------------------------------------------------------------
 */

struct edge {
    int caller, callee;
    double visits;
    double *whole; /* by metric */
};

struct callgrind {
    const struct chil_report *report;
    FILE *out;
    int *metric;
    size_t metrics;
    double **own, **whole; /* by metric, by call path */
    double *visits;
    struct edge *edge;
    size_t edges, edge_capacity;
};

/* Own counts by call path; false: some are negative or not whole. */
static bool take_metric(const struct callgrind *c, int metric, double *own, double *whole)
{
    const struct chil_exp *exp = c->report->exp;
    report_by_node(c->report, metric, false, report_masks_of(c->report, CHIL_REPORT_CALLS), own);
    for (size_t n = 0; n < exp->nodes; n++)
        if (own[n] < 0 || own[n] != rint(own[n])) return false;
    memcpy(whole, own, exp->nodes * sizeof *whole);
    report_fold_nodes(exp, whole);
    return true;
}

static void take_metrics(struct callgrind *c, const int *metrics, size_t count)
{
    size_t nodes = c->report->exp->nodes;
    c->metric = base_calloc(count + 1, sizeof *c->metric);
    c->own = base_calloc(count + 1, sizeof(double *));
    c->whole = base_calloc(count + 1, sizeof(double *));
    for (size_t i = 0; i < count; i++) {
        double *own = base_calloc(nodes, sizeof *own), *whole = base_calloc(nodes, sizeof *whole);
        if (take_metric(c, metrics[i], own, whole)) {
            c->metric[c->metrics] = metrics[i];
            c->own[c->metrics] = own;
            c->whole[c->metrics++] = whole;
        } else {
            free(own);
            free(whole);
        }
    }
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->caller != y->caller) return x->caller < y->caller ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void add_edge(struct callgrind *c, int node)
{
    const struct chil_exp *exp = c->report->exp;
    struct edge *edge = NULL;
    int caller = exp->node[exp->node[node].parent].region, callee = exp->node[node].region;
    for (size_t i = 0; i < c->edges && !edge; i++)
        if (c->edge[i].caller == caller && c->edge[i].callee == callee) edge = &c->edge[i];
    if (!edge) {
        c->edge = base_grow(c->edge, &c->edge_capacity, c->edges + 1, sizeof *c->edge);
        edge = &c->edge[c->edges++];
        *edge = (struct edge){.caller = caller, .callee = callee};
        edge->whole = base_calloc(c->metrics + 1, sizeof *edge->whole);
    }
    edge->visits += c->visits[node];
    for (size_t m = 0; m < c->metrics; m++)
        edge->whole[m] += c->whole[m][node];
}

static int line_of(const struct chil_exp *exp, int region)
{
    return exp->region[region].begin > 0 ? exp->region[region].begin : 0;
}

/* Where the source is not known, the module is an object. */
static void print_file(const struct callgrind *c, const char *object, const char *file, int region)
{
    const struct chil_exp_region *g = &c->report->exp->region[region];
    bool source = g->begin > 0 && *g->module;
    (void)fprintf(c->out, "%s=", object);
    print_name(c->out, source || !*g->module ? "???" : g->module, "");
    (void)fprintf(c->out, "\n%s=", file);
    print_name(c->out, source ? g->module : "???", "");
    (void)fputc('\n', c->out);
}

static void print_function(const struct callgrind *c, const char *key, int region)
{
    (void)fprintf(c->out, "%s=", key);
    print_name(c->out, c->report->exp->region[region].name, "");
    (void)fputc('\n', c->out);
}

static void print_costs(const struct callgrind *c, int line, const double *cost)
{
    (void)fprintf(c->out, "%d", line);
    for (size_t m = 0; m < c->metrics; m++)
        (void)fprintf(c->out, " %.0f", cost[m]);
    (void)fputc('\n', c->out);
}

static void print_region(const struct callgrind *c, int region, size_t *edge)
{
    const struct chil_exp *exp = c->report->exp;
    double *cost = base_calloc(c->metrics + 1, sizeof *cost);
    for (size_t n = 0; n < exp->nodes; n++)
        for (size_t m = 0; exp->node[n].region == region && m < c->metrics; m++)
            cost[m] += c->own[m][n];
    (void)fputc('\n', c->out);
    print_file(c, "ob", "fl", region);
    print_function(c, "fn", region);
    print_costs(c, line_of(exp, region), cost);
    for (; *edge < c->edges && c->edge[*edge].caller == region; (*edge)++) {
        const struct edge *e = &c->edge[*edge];
        print_file(c, "cob", "cfi", e->callee);
        print_function(c, "cfn", e->callee);
        (void)fprintf(c->out, "calls=%.0f %d\n", e->visits, line_of(exp, e->callee));
        print_costs(c, line_of(exp, region), e->whole);
    }
    free(cost);
}

static void print_head(const struct callgrind *c)
{
    const struct chil_exp *exp = c->report->exp;
    const char *command = chil_exp_attribute(exp, "command");
    (void)fprintf(c->out, "# callgrind format\nversion: 1\ncreator: chiliad report\n");
    if (command) {
        (void)fprintf(c->out, "cmd: ");
        print_name(c->out, command, "");
        (void)fputc('\n', c->out);
    }
    (void)fprintf(c->out, "positions: line\n");
    for (size_t m = 0; m < c->metrics; m++) {
        (void)fprintf(c->out, "event: %s : ", exp->metric[c->metric[m]].name);
        print_name(c->out, exp->metric[c->metric[m]].title, "");
        (void)fputc('\n', c->out);
    }
    (void)fprintf(c->out, "events:");
    for (size_t m = 0; m < c->metrics; m++)
        (void)fprintf(c->out, " %s", exp->metric[c->metric[m]].name);
    (void)fprintf(c->out, "\nsummary:");
    for (size_t m = 0; m < c->metrics; m++) {
        double sum = 0;
        for (size_t n = 0; n < exp->nodes; n++)
            sum += c->own[m][n];
        (void)fprintf(c->out, " %.0f", sum);
    }
    (void)fputc('\n', c->out);
}

size_t chil_report_callgrind(const struct chil_report *report, const int *metrics, size_t count, FILE *out)
{
    const struct chil_exp *exp = report->exp;
    struct callgrind c = {.report = report, .out = out};
    size_t at = 0;
    int visits = chil_metric_find(exp, "visits");
    take_metrics(&c, metrics, count);
    c.visits = base_calloc(exp->nodes, sizeof *c.visits);
    if (visits >= 0) report_by_node(report, visits, false, report_masks_of(report, CHIL_REPORT_CALLS), c.visits);
    for (size_t n = 0; n < exp->nodes; n++)
        if (exp->node[n].parent >= 0) add_edge(&c, (int)n);
    if (c.edges) qsort(c.edge, c.edges, sizeof *c.edge, compare_edges);
    print_head(&c);
    for (size_t i = 0; i < exp->regions; i++)
        print_region(&c, (int)i, &at);
    for (size_t i = 0; i < c.edges; i++)
        free(c.edge[i].whole);
    for (size_t m = 0; m < c.metrics; m++) {
        free(c.own[m]);
        free(c.whole[m]);
    }
    free(c.edge);
    free(c.own);   // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(c.whole); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(c.metric);
    free(c.visits);
    return c.metrics;
}
