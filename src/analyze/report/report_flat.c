/* Flat profiles: sums by region or by module instead of by call path. */
#include "analyze/report/report_impl.h"

#include <stdlib.h>
#include <string.h>

struct groups {
    struct chil_report_flat *flat;
    size_t count, capacity;
    size_t *of_region;
};

static const char *module_of(const struct chil_exp_region *region)
{
    return *region->module ? region->module : "(unknown)";
}

static size_t group_get(struct groups *g, const struct chil_exp *exp, int region, bool by_module)
{
    const char *module = module_of(&exp->region[region]);
    for (size_t i = 0; by_module && i < g->count; i++)
        if (strcmp(g->flat[i].module, module) == 0) return i;
    g->flat = base_grow(g->flat, &g->capacity, g->count + 1, sizeof *g->flat);
    g->flat[g->count] =
        (struct chil_report_flat){.name = by_module ? module : exp->region[region].name,
                                  .module = module,
                                  .region = by_module ? -1 : region};
    return g->count++;
}

static int compare(const void *a, const void *b)
{
    const struct chil_report_flat *x = a, *y = b;
    if (x->own != y->own) return x->own < y->own ? 1 : -1;
    if (x->whole != y->whole) return x->whole < y->whole ? 1 : -1;
    int order = strcmp(x->name, y->name);
    return order ? order : x->region < y->region ? -1 : x->region > y->region;
}

/* Whether a call path is below another one of the same group. */
static bool is_inside(const struct groups *g, const struct chil_exp *exp, int node)
{
    size_t group = g->of_region[exp->node[node].region];
    for (int n = exp->node[node].parent; n >= 0; n = exp->node[n].parent)
        if (g->of_region[exp->node[n].region] == group) return true;
    return false;
}

struct chil_report_flat *chil_report_flat(const struct chil_report *r, bool by_module,
                                          enum chil_report_mode mode, size_t *count)
{
    const struct chil_exp *exp = r->exp;
    struct groups g = {.of_region = base_calloc(exp->regions + 1, sizeof *g.of_region)};
    double *own = base_calloc(exp->nodes, sizeof *own),
           *whole = base_calloc(exp->nodes, sizeof *whole);
    double *visits = base_calloc(exp->nodes, sizeof *visits);
    struct report_masks masks = report_masks_of(r, CHIL_REPORT_CALLS);
    int visited = chil_metric_find(exp, "visits");
    mode = report_mode_in(CHIL_REPORT_CALLS, mode);
    double total = report_total(r, r->metric, r->own, masks);
    double base = mode == CHIL_REPORT_OWN_ROOT ? total : report_base(r, mode);
    report_by_node(r, r->metric, r->own, masks, own);
    memcpy(whole, own, exp->nodes * sizeof *whole);
    report_fold_nodes(exp, whole);
    if (visited >= 0) report_by_node(r, visited, false, masks, visits);
    for (size_t i = 0; i < exp->regions; i++)
        g.of_region[i] = group_get(&g, exp, (int)i, by_module);
    for (size_t n = 0; n < exp->nodes; n++) {
        struct chil_report_flat *flat = &g.flat[g.of_region[exp->node[n].region]];
        flat->own += own[n];
        flat->visits += visits[n];
        if (!is_inside(&g, exp, (int)n)) flat->whole += whole[n];
    }
    for (size_t i = 0; i < g.count; i++)
        g.flat[i].percent = report_percent(g.flat[i].own, base, &g.flat[i].defined);
    if (g.count) qsort(g.flat, g.count, sizeof *g.flat, compare);
    free(g.of_region);
    free(own);
    free(whole);
    free(visits);
    *count = g.count;
    return g.flat;
}
