/* Writes Callgrind's format, for KCachegrind and callgrind_annotate.
 *
 * The format has functions and calls, not call paths. A function's cost is the sum over its paths.
 * A call's cost is the sum over all paths from caller to callee, inclusive. A call is written at
 * its line if that is in the caller's file, else at the first line of the caller. A function's own
 * cost is written at its first line. Instructions are written at their own lines if the experiment
 * has the code.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/report_impl.h"

struct edge {
    int caller, callee, line;
    double visits;
    double *whole; /* by metric */
};

struct callgrind {
    const struct chil_report *report;
    const struct chil_report_code *code; /* NULL: none */
    FILE *out;
    int *metric;
    size_t metrics;
    size_t instructions;   /* the one that counts them, by its number here; `metrics`: none */
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
    if (x->callee != y->callee) return x->callee < y->callee ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int line_of(const struct chil_exp *exp, int region)
{
    return exp->region[region].begin > 0 ? exp->region[region].begin : 0;
}

static void add_edge(struct callgrind *c, int node)
{
    const struct chil_exp *exp = c->report->exp;
    struct edge *edge = NULL;
    const struct chil_exp_node *n = &exp->node[node];
    int caller = exp->node[n->parent].region, callee = n->region;
    bool here = n->line > 0 && exp->region[caller].begin > 0 &&
                strcmp(n->module, exp->region[caller].module) == 0;
    int line = here ? n->line : line_of(exp, caller);
    for (size_t i = 0; i < c->edges && !edge; i++)
        if (c->edge[i].caller == caller && c->edge[i].callee == callee && c->edge[i].line == line)
            edge = &c->edge[i];
    if (!edge) {
        c->edge = base_grow(c->edge, &c->edge_capacity, c->edges + 1, sizeof *c->edge);
        edge = &c->edge[c->edges++];
        *edge = (struct edge){.caller = caller, .callee = callee, .line = line};
        edge->whole = base_calloc(c->metrics + 1, sizeof *edge->whole);
    }
    edge->visits += c->visits[node];
    for (size_t m = 0; m < c->metrics; m++)
        edge->whole[m] += c->whole[m][node];
}

/* Where the source is not known, the module is an object. */
static void print_file(const struct callgrind *c, const char *object, const char *file, int region)
{
    const struct chil_exp_region *g = &c->report->exp->region[region];
    bool source = g->begin > 0 && *g->module;
    (void)fprintf(c->out, "%s=", object);
    report_print_name(c->out, source || !*g->module ? "???" : g->module, "");
    (void)fprintf(c->out, "\n%s=", file);
    report_print_name(c->out, source ? g->module : "???", "");
    (void)fputc('\n', c->out);
}

static void print_function(const struct callgrind *c, const char *key, int region)
{
    (void)fprintf(c->out, "%s=", key);
    report_print_name(c->out, c->report->exp->region[region].name, "");
    (void)fputc('\n', c->out);
}

static void print_costs(const struct callgrind *c, int line, const double *cost)
{
    (void)fprintf(c->out, "%d", line);
    for (size_t m = 0; m < c->metrics; m++)
        (void)fprintf(c->out, " %.0f", cost[m]);
    (void)fputc('\n', c->out);
}

/* --- Instructions by line -------------------------------------------------------------------- */

struct line_cost {
    const char *file;
    int line;
    double count;
};

struct line_costs {
    struct line_cost *cost;
    size_t count, capacity;
};

static int compare_costs(const void *a, const void *b)
{
    const struct line_cost *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* The lines of the function of this name in the region's file. False: its instructions are not the
 * region's count, because threads or call paths are selected, or several functions match. */
static bool find_costs(const struct callgrind *c, int region, double total,
                       struct line_costs *costs)
{
    const struct chil_exp_region *g = &c->report->exp->region[region];
    double sum = 0;
    for (size_t f = 0; c->code && g->begin > 0 && f < c->code->count; f++) {
        const struct chil_report_function *function = &c->code->function[f];
        bool here = false;
        if (strcmp(function->name, g->name) != 0) continue;
        for (size_t i = 0; i < function->count && !here; i++)
            here = strcmp(function->instruction[i].file, g->module) == 0;
        for (size_t i = 0; here && i < function->count; i++) {
            const struct chil_report_instruction *at = &function->instruction[i];
            bool known = at->line > 0 && *at->file;
            costs->cost =
                base_grow(costs->cost, &costs->capacity, costs->count + 1, sizeof *costs->cost);
            costs->cost[costs->count++] = (struct line_cost){
                known ? at->file : g->module, known ? at->line : g->begin, (double)at->count};
            sum += (double)at->count;
        }
    }
    if (costs->count) qsort(costs->cost, costs->count, sizeof *costs->cost, compare_costs);
    return costs->count && sum == total;
}

static void print_lines(const struct callgrind *c, int region, const struct line_costs *costs)
{
    const char *file = c->report->exp->region[region].module;
    double *cost = base_calloc(c->metrics + 1, sizeof *cost);
    size_t end;
    for (size_t i = 0; i < costs->count; i = end) {
        cost[c->instructions] = 0;
        for (end = i; end < costs->count && compare_costs(&costs->cost[i], &costs->cost[end]) == 0;
             end++)
            cost[c->instructions] += costs->cost[end].count;
        if (strcmp(costs->cost[i].file, file) != 0) {
            (void)fprintf(c->out, "fi=");
            report_print_name(c->out, file = costs->cost[i].file, "");
            (void)fputc('\n', c->out);
        }
        print_costs(c, costs->cost[i].line, cost);
    }
    if (strcmp(file, c->report->exp->region[region].module) != 0) {
        (void)fprintf(c->out, "fe=");
        report_print_name(c->out, c->report->exp->region[region].module, "");
        (void)fputc('\n', c->out);
    }
    free(cost);
}

static void print_own(const struct callgrind *c, int region)
{
    const struct chil_exp *exp = c->report->exp;
    struct line_costs costs = {0};
    double *cost = base_calloc(c->metrics + 1, sizeof *cost);
    for (size_t n = 0; n < exp->nodes; n++)
        for (size_t m = 0; exp->node[n].region == region && m < c->metrics; m++)
            cost[m] += c->own[m][n];
    bool by_line =
        c->instructions < c->metrics && find_costs(c, region, cost[c->instructions], &costs);
    if (by_line) cost[c->instructions] = 0;
    print_costs(c, line_of(exp, region), cost);
    if (by_line) print_lines(c, region, &costs);
    free(costs.cost);
    free(cost);
}

/* --- The file -------------------------------------------------------------------------------- */

static void print_region(const struct callgrind *c, int region, size_t *edge)
{
    const struct chil_exp *exp = c->report->exp;
    (void)fputc('\n', c->out);
    print_file(c, "ob", "fl", region);
    print_function(c, "fn", region);
    print_own(c, region);
    for (; *edge < c->edges && c->edge[*edge].caller == region; (*edge)++) {
        const struct edge *e = &c->edge[*edge];
        print_file(c, "cob", "cfi", e->callee);
        print_function(c, "cfn", e->callee);
        (void)fprintf(c->out, "calls=%.0f %d\n", e->visits, line_of(exp, e->callee));
        print_costs(c, e->line, e->whole);
    }
}

static void print_head(const struct callgrind *c)
{
    const struct chil_exp *exp = c->report->exp;
    const char *command = chil_exp_attribute(exp, "command");
    (void)fprintf(c->out, "# callgrind format\nversion: 1\ncreator: chiliad report\n");
    if (command) {
        (void)fprintf(c->out, "cmd: ");
        report_print_name(c->out, command, "");
        (void)fputc('\n', c->out);
    }
    (void)fprintf(c->out, "positions: line\n");
    for (size_t m = 0; m < c->metrics; m++) {
        (void)fprintf(c->out, "event: %s : ", exp->metric[c->metric[m]].name);
        report_print_name(c->out, exp->metric[c->metric[m]].title, "");
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

size_t chil_report_callgrind(const struct chil_report *report, const struct chil_report_code *code,
                             const int *metrics, size_t count, FILE *out)
{
    const struct chil_exp *exp = report->exp;
    struct callgrind c = {.report = report, .code = code, .out = out};
    size_t at = 0;
    int visits = chil_metric_find(exp, "visits");
    take_metrics(&c, metrics, count);
    int instructions = chil_metric_find(exp, "BGL_INST");
    while (c.instructions < c.metrics && c.metric[c.instructions] != instructions)
        c.instructions++;
    c.visits = base_calloc(exp->nodes, sizeof *c.visits);
    if (visits >= 0)
        report_by_node(report, visits, false, report_masks_of(report, CHIL_REPORT_CALLS), c.visits);
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
