/* The whole of a report as one JSON object. */
#include <stdlib.h>

#include "cmd/report.h"

static json_t *number(const struct chil_exp *exp, int metric, double value)
{
    return view_json_value(value, exp->metric[metric].kind == CHIL_EXP_COUNT);
}

static json_t *cells_json(const struct chil_exp *exp, int metric)
{
    json_t *cells = json_array();
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    for (size_t k = 0; k < count; k++)
        (void)json_array_append_new(cells,
                                    json_pack("[i,i,o]", (int)cell[k].node, (int)cell[k].thread,
                                              exp->metric[metric].kind == CHIL_EXP_COUNT
                                                  ? json_integer(cell[k].count)
                                                  : json_real(cell[k].real)));
    return cells;
}

static json_t *metrics_json(const struct chil_report *report)
{
    static const char *const origins[] = {"measured", "composed", "computed"};
    const struct chil_exp *exp = chil_report_exp(report);
    json_t *list = json_array();
    for (size_t i = 0; i < exp->metrics; i++) {
        const struct chil_exp_metric *m = &exp->metric[i];
        json_t *row = json_object();
        double low, high;
        chil_exp_range(exp, (int)i, &low, &high);
        (void)json_object_set_new(row, "name", view_json_text(m->name));
        (void)json_object_set_new(row, "title", view_json_text(m->title));
        (void)json_object_set_new(row, "unit", view_json_text(m->unit));
        (void)json_object_set_new(row, "text", view_json_text(m->text));
        (void)json_object_set_new(row, "formula", view_json_text(m->formula));
        (void)json_object_set_new(row, "exactness", view_json_text(m->exactness));
        (void)json_object_set_new(row, "parent", json_integer(m->parent));
        (void)json_object_set_new(row, "from", view_json_text(origins[m->origin]));
        (void)json_object_set_new(row, "partial", json_boolean(m->partial));
        (void)json_object_set_new(row, "apart", json_boolean(chil_report_is_apart(report, (int)i)));
        (void)json_object_set_new(row, "runs", json_integer(m->runs));
        (void)json_object_set_new(row, "low", number(exp, (int)i, low));
        (void)json_object_set_new(row, "high", number(exp, (int)i, high));
        (void)json_array_append_new(list, row);
    }
    return list;
}

static json_t *regions_json(const struct chil_exp *exp)
{
    json_t *list = json_array();
    for (size_t i = 0; i < exp->regions; i++) {
        const struct chil_exp_region *g = &exp->region[i];
        (void)json_array_append_new(
            list, json_pack("{s:o,s:o,s:i,s:i,s:o,s:o}", "name", view_json_text(g->name), "module",
                            view_json_text(g->module), "begin", g->begin, "end", g->end, "paradigm",
                            view_json_text(g->paradigm), "role", view_json_text(g->role)));
    }
    return list;
}

static json_t *calls_json(const struct chil_exp *exp)
{
    json_t *list = json_array();
    for (size_t i = 0; i < exp->nodes; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:i,s:i,s:i,s:s}", "parent", exp->node[i].parent,
                                              "region", exp->node[i].region, "line",
                                              exp->node[i].line, "module", exp->node[i].module));
    return list;
}

static json_t *places_json(const struct chil_exp *exp)
{
    static const char *const levels[] = {"machine", "node", "process", "thread"};
    json_t *list = json_array();
    for (size_t i = 0; i < exp->places; i++) {
        const struct chil_exp_place *p = &exp->place[i];
        (void)json_array_append_new(
            list, json_pack("{s:o,s:o,s:i,s:i,s:i}", "name", view_json_text(p->name), "level",
                            view_json_text(levels[p->level]), "parent", p->parent, "rank", p->rank,
                            "thread", p->thread));
    }
    return list;
}

static json_t *topologies_json(const struct chil_exp *exp)
{
    json_t *list = json_array();
    for (size_t i = 0; i < exp->topologies; i++) {
        const struct chil_exp_topology *t = &exp->topology[i];
        json_t *dimensions = json_array(), *threads = json_array();
        for (unsigned d = 0; d < t->dimensions; d++)
            (void)json_array_append_new(
                dimensions, json_pack("{s:o,s:i,s:b}", "name", view_json_text(t->dimension_name[d]),
                                      "size", t->size[d], "periodic", (int)t->periodic[d]));
        for (size_t k = 0; k < exp->threads; k++) {
            json_t *place = json_array();
            for (unsigned d = 0; d < t->dimensions; d++)
                (void)json_array_append_new(place,
                                            json_integer(t->coordinates[k * t->dimensions + d]));
            (void)json_array_append_new(threads, place);
        }
        (void)json_array_append_new(list,
                                    json_pack("{s:o,s:o,s:o}", "name", view_json_text(t->name),
                                              "dimensions", dimensions, "threads", threads));
    }
    return list;
}

static json_t *ratios_json(const struct report *r)
{
    size_t count = 0;
    const struct chil_spec_item *item = r->spec ? chil_spec_items(r->spec, &count) : NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        struct chil_ratio_value value = {0};
        if (item[i].kind != CHIL_SPEC_RATIO ||
            chil_ratio(chil_report_exp(r->report), r->spec, item[i].name, CHIL_EXP_NONE, true, -1,
                       &value, NULL))
            continue;
        (void)json_array_append_new(
            list,
            json_pack("{s:o,s:o,s:o,s:o,s:o,s:b}", "name", view_json_text(item[i].name), "text",
                      view_json_text(item[i].text), "unit", view_json_text(item[i].unit), "formula",
                      view_json_text(item[i].formula), "value",
                      value.defined ? json_real(value.value) : json_null(), "partial",
                      (int)value.partial));
    }
    return list;
}

/* *needs: what was not recorded and has to be on for rules that could not be tried; NULL: nothing.
 */
static json_t *findings_json(const struct report *r, const char **needs)
{
    struct chil_findings *findings = NULL;
    json_t *list = json_array();
    if (!r->spec || chil_findings_new(&findings, chil_report_exp(r->report), r->spec, NULL))
        return list;
    for (size_t i = 0; i < findings->count; i++) {
        const struct chil_finding *f = &findings->finding[i];
        json_t *evidence = json_object();
        for (size_t k = 0; k < f->evidence_count; k++)
            (void)json_object_set_new(evidence, f->evidence[k].name,
                                      json_real(f->evidence[k].value));
        (void)json_array_append_new(list, json_pack("{s:o,s:i,s:f,s:o,s:o}", "name",
                                                    view_json_text(f->name), "call_path", f->node,
                                                    "share", f->share, "text",
                                                    view_json_text(f->text), "evidence", evidence));
    }
    *needs = findings->needs;
    chil_findings_free(findings);
    return list;
}

/* What a tree shows, with the selections. */
static json_t *rows_json(const struct report *r, enum chil_report_pane pane)
{
    struct report_tree tree;
    report_tree_init(&tree, r, pane, "", 0);
    json_t *rows = view_json(&tree.view);
    view_fini(&tree.view);
    return rows;
}

json_t *report_json(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    json_t *root = json_object(), *attributes = json_object();
    for (size_t i = 0; i < exp->attributes; i++)
        (void)json_object_set_new(attributes, exp->attribute[i].key,
                                  view_json_text(exp->attribute[i].value));
    (void)json_object_set_new(root, "file", view_json_text(r->file));
    (void)json_object_set_new(root, "attributes", attributes);
    (void)json_object_set_new(root, "specification",
                              r->spec ? view_json_text(chil_spec_name(r->spec)) : json_null());
    (void)json_object_set_new(root, "metrics", metrics_json(r->report));
    (void)json_object_set_new(root, "regions", regions_json(exp));
    (void)json_object_set_new(root, "call_paths", calls_json(exp));
    (void)json_object_set_new(root, "places", places_json(exp));
    (void)json_object_set_new(root, "topologies", topologies_json(exp));
    (void)json_object_set_new(root, "ratios", ratios_json(r));
    const char *needs = NULL;
    (void)json_object_set_new(root, "findings", findings_json(r, &needs));
    (void)json_object_set_new(root, "findings_need", needs ? view_json_text(needs) : json_null());
    (void)json_object_set_new(root, "selected_metric", json_integer(chil_report_metric(r->report)));
    return root;
}

int report_print_json(struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    json_t *root = report_json(r), *metrics = json_object_get(root, "metrics");
    for (size_t i = 0; i < exp->metrics; i++)
        (void)json_object_set_new(json_array_get(metrics, i), "cells", cells_json(exp, (int)i));
    (void)json_object_set_new(root, "metric_rows", rows_json(r, CHIL_REPORT_METRICS));
    (void)json_object_set_new(root, "call_rows", rows_json(r, CHIL_REPORT_CALLS));
    (void)json_object_set_new(root, "system_rows", rows_json(r, CHIL_REPORT_SYSTEM));
    (void)view_json_write(root, stdout, JSON_COMPACT);
    return 0;
}
