/* A total order of experiments by their contents.
 *
 * Merge and mean sort their inputs by it. So the result does not depend on the order in which the
 * caller names them: the first tree, the titles and the last bit of each sum of reals are the same.
 */
#include "analyze/exp/exp_align.h"

#include <string.h>

static int by_size(size_t a, size_t b)
{
    return (a < b) - (a > b); /* larger first */
}

static int by_number(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_metrics(const struct chil_exp_metric *a, const struct chil_exp_metric *b)
{
    int order = strcmp(a->name, b->name);
    if (!order) order = strcmp(a->title, b->title);
    if (!order) order = strcmp(a->unit, b->unit);
    if (!order) order = strcmp(a->text, b->text);
    if (!order) order = strcmp(a->formula, b->formula);
    if (!order) order = strcmp(a->exactness, b->exactness);
    if (!order) order = by_number(a->parent, b->parent);
    if (!order) order = by_number(a->kind, b->kind);
    if (!order) order = by_number(a->origin, b->origin);
    if (!order) order = by_number(a->partial, b->partial);
    if (!order) order = by_number(a->derived, b->derived);
    if (!order) order = by_number(a->runs, b->runs);
    if (!order && a->runs > 1) order = by_number(a->low, b->low);
    if (!order && a->runs > 1) order = by_number(a->high, b->high);
    return order;
}

static int compare_nodes(const struct chil_exp *a, const struct chil_exp *b, size_t i)
{
    const struct chil_exp_node *x = &a->node[i], *y = &b->node[i];
    const struct chil_exp_region *r = &a->region[x->region], *s = &b->region[y->region];
    int order = by_number(x->parent, y->parent);
    if (!order) order = by_number(x->line, y->line);
    if (!order) order = strcmp(x->module, y->module);
    if (!order) order = strcmp(r->name, s->name);
    if (!order) order = strcmp(r->mangled, s->mangled);
    if (!order) order = strcmp(r->module, s->module);
    if (!order) order = by_number(r->begin, s->begin);
    if (!order) order = by_number(r->end, s->end);
    if (!order) order = strcmp(r->paradigm, s->paradigm);
    return order ? order : strcmp(r->role, s->role);
}

static int compare_places(const struct chil_exp_place *a, const struct chil_exp_place *b)
{
    int order = by_number(a->parent, b->parent);
    if (!order) order = by_number(a->level, b->level);
    if (!order) order = by_number(a->rank, b->rank);
    return order ? order : strcmp(a->name, b->name);
}

static int compare_attributes(const struct chil_exp_attribute *a,
                              const struct chil_exp_attribute *b)
{
    int order = strcmp(a->key, b->key);
    return order ? order : strcmp(a->value, b->value);
}

static int compare_cells(const struct chil_exp *a, const struct chil_exp *b, int metric)
{
    size_t x_count, y_count;
    const struct chil_exp_cell *x = chil_exp_cells(a, metric, &x_count),
                               *y = chil_exp_cells(b, metric, &y_count);
    int order = by_size(x_count, y_count);
    return order || !x_count ? order : memcmp(x, y, x_count * sizeof *x);
}

static int compare_topologies(const struct chil_exp *a, const struct chil_exp *b, size_t i)
{
    const struct chil_exp_topology *x = &a->topology[i], *y = &b->topology[i];
    int order = strcmp(x->name, y->name);
    if (!order) order = by_number(x->dimensions, y->dimensions);
    for (unsigned d = 0; d < x->dimensions && !order; d++) {
        order = strcmp(x->dimension_name[d], y->dimension_name[d]);
        if (!order) order = by_number(x->size[d], y->size[d]);
        if (!order) order = by_number(x->periodic[d], y->periodic[d]);
    }
    for (size_t k = 0; k < a->threads * x->dimensions && !order; k++)
        order = by_number(x->coordinates[k], y->coordinates[k]);
    return order;
}

int exp_compare(const struct chil_exp *a, const struct chil_exp *b)
{
    int order = a == b ? 0 : by_size(a->metrics, b->metrics);
    if (a == b) return 0;
    if (!order) order = by_size(a->nodes, b->nodes);
    if (!order) order = by_size(a->places, b->places);
    if (!order) order = by_size(a->attributes, b->attributes);
    if (!order) order = by_size(a->topologies, b->topologies);
    for (size_t i = 0; i < a->metrics && !order; i++)
        order = compare_metrics(&a->metric[i], &b->metric[i]);
    for (size_t i = 0; i < a->nodes && !order; i++)
        order = compare_nodes(a, b, i);
    for (size_t i = 0; i < a->places && !order; i++)
        order = compare_places(&a->place[i], &b->place[i]);
    for (size_t i = 0; i < a->attributes && !order; i++)
        order = compare_attributes(&a->attribute[i], &b->attribute[i]);
    for (size_t i = 0; i < a->topologies && !order; i++)
        order = compare_topologies(a, b, i);
    for (size_t i = 0; i < a->metrics && !order; i++)
        order = compare_cells(a, b, (int)i);
    return order;
}
