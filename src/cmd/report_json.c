/* Reports for other programs: lines with separators, and everything as an object. */
#include <math.h>
#include <stdlib.h>

#include "cmd/report.h"

/* --- Lines ----------------------------------------------------------------------------------- */

static void print_flat_lines(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    const char *s = r->separator;
    int metric = chil_report_metric(r->report);
    size_t count;
    struct chil_report_flat *flat = chil_report_flat(r->report, r->by_module, r->view.mode, &count);
    (void)printf("name%smodule%smetric%sown%swhole%sshare%scalls\n", s, s, s, s, s, s);
    for (size_t i = 0; i < count; i++) {
        char number[REPORT_NUMBER_MAX];
        if (flat[i].own == 0 && flat[i].whole == 0) continue;
        cmd_field(flat[i].name, s, s);
        cmd_field(flat[i].module, s, s);
        cmd_field(exp->metric[metric].title, s, s);
        (void)printf("%s%s", report_number(exp, metric, flat[i].own, false, number), s);
        (void)printf("%s%s", report_number(exp, metric, flat[i].whole, false, number), s);
        (void)printf("%.6g%s%.0f\n", flat[i].percent, s, flat[i].visits);
    }
    free(flat);
}

/* A line for each call path that has the metric. */
static int print_metric_lines(const struct chil_exp *exp, const struct report *r, int metric)
{
    const char *s = r->separator;
    double *own = calloc(exp->nodes, sizeof *own), *whole = calloc(exp->nodes, sizeof *whole);
    bool room = own && whole;
    if (room) chil_exp_sum_nodes(exp, metric, false, -1, own);
    if (room) chil_exp_sum_nodes(exp, metric, true, -1, whole);
    for (size_t n = 0; room && n < exp->nodes; n++) {
        char number[REPORT_NUMBER_MAX], pedigree[64];
        if (own[n] == 0 && whole[n] == 0) continue;
        char *path = chil_report_path(exp, (int)n, "/");
        cmd_field(exp->metric[metric].title, s, s);
        cmd_field(exp->metric[metric].unit, s, s);
        cmd_field(path, s, s);
        (void)printf("%s%s", report_number(exp, metric, own[n], false, number), s);
        (void)printf("%s%s%s", report_number(exp, metric, whole[n], false, number), s,
                     exp->metric[metric].partial ? "~" : "");
        cmd_field(report_pedigree(exp, metric, pedigree), s, "\n");
        free(path);
    }
    free(own);
    free(whole);
    return room ? 0 : cmd_fail("report", "out of memory");
}

/* Call paths and threads that are selected; metrics that are, or all. */
int report_print_lines(struct report *r)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    const char *s = r->separator;
    int status = 0;
    if (r->flat) {
        print_flat_lines(r);
        return 0;
    }
    if (chil_report_order(r->report, "csm", &err) ||
        chil_report_cut(r->report, CHIL_REPORT_METRICS, &exp, &err))
        return cmd_fail_error("report", &err);
    (void)printf("metric%sunit%scall path%sown%swhole%sfrom\n", s, s, s, s, s);
    for (size_t i = 0; i < r->metrics && !status; i++)
        if (!report_ratio(r, r->metric[i]))
            status = print_metric_lines(exp, r, chil_metric_find(exp, r->metric[i]));
    for (size_t i = 0; !r->metrics && i < exp->metrics && !status; i++)
        status = print_metric_lines(exp, r, (int)i);
    chil_exp_free(exp);
    return status;
}

/* --- An object ------------------------------------------------------------------------------- */

static json_t *text(const char *string)
{
    json_t *value = json_string(string);
    return value ? value : json_string("?"); /* not UTF-8 */
}

static json_t *number(const struct chil_exp *exp, int metric, double value)
{
    return exp->metric[metric].kind == CHIL_EXP_COUNT && fabs(value) < 0x1p63
               ? json_integer((json_int_t)value)
               : json_real(value);
}

static json_t *metrics_json(const struct chil_report *report)
{
    static const char *const origins[] = {"measured", "composed", "computed"};
    const struct chil_exp *exp = chil_report_exp(report);
    json_t *list = json_array();
    for (size_t i = 0; i < exp->metrics; i++) {
        const struct chil_exp_metric *m = &exp->metric[i];
        json_t *row = json_object(), *cells = json_array();
        double low, high;
        size_t count;
        const struct chil_exp_cell *cell = chil_exp_cells(exp, (int)i, &count);
        chil_exp_range(exp, (int)i, &low, &high);
        (void)json_object_set_new(row, "name", text(m->name));
        (void)json_object_set_new(row, "title", text(m->title));
        (void)json_object_set_new(row, "unit", text(m->unit));
        (void)json_object_set_new(row, "text", text(m->text));
        (void)json_object_set_new(row, "formula", text(m->formula));
        (void)json_object_set_new(row, "exactness", text(m->exactness));
        (void)json_object_set_new(row, "parent", json_integer(m->parent));
        (void)json_object_set_new(row, "from", text(origins[m->origin]));
        (void)json_object_set_new(row, "partial", json_boolean(m->partial));
        (void)json_object_set_new(row, "apart", json_boolean(chil_report_is_apart(report, (int)i)));
        (void)json_object_set_new(row, "runs", json_integer(m->runs));
        (void)json_object_set_new(row, "low", number(exp, (int)i, low));
        (void)json_object_set_new(row, "high", number(exp, (int)i, high));
        for (size_t k = 0; k < count; k++)
            (void)json_array_append_new(
                cells, json_pack("[i,i,o]", (int)cell[k].node, (int)cell[k].thread,
                                 m->kind == CHIL_EXP_COUNT ? json_integer(cell[k].count)
                                                           : json_real(cell[k].real)));
        (void)json_object_set_new(row, "cells", cells);
        (void)json_array_append_new(list, row);
    }
    return list;
}

static json_t *regions_json(const struct chil_exp *exp)
{
    json_t *list = json_array();
    for (size_t i = 0; i < exp->regions; i++) {
        const struct chil_exp_region *g = &exp->region[i];
        (void)json_array_append_new(list, json_pack("{s:o,s:o,s:i,s:i,s:o,s:o}", "name",
                                                    text(g->name), "module", text(g->module),
                                                    "begin", g->begin, "end", g->end, "paradigm",
                                                    text(g->paradigm), "role", text(g->role)));
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
        (void)json_array_append_new(list,
                                    json_pack("{s:o,s:o,s:i,s:i,s:i}", "name", text(p->name),
                                              "level", text(levels[p->level]), "parent", p->parent,
                                              "rank", p->rank, "thread", p->thread));
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
                dimensions, json_pack("{s:o,s:i,s:b}", "name", text(t->dimension_name[d]), "size",
                                      t->size[d], "periodic", (int)t->periodic[d]));
        for (size_t k = 0; k < exp->threads; k++) {
            json_t *place = json_array();
            for (unsigned d = 0; d < t->dimensions; d++)
                (void)json_array_append_new(place,
                                            json_integer(t->coordinates[k * t->dimensions + d]));
            (void)json_array_append_new(threads, place);
        }
        (void)json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "name", text(t->name),
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
            list, json_pack("{s:o,s:o,s:o,s:o,s:b}", "name", text(item[i].name), "unit",
                            text(item[i].unit), "formula", text(item[i].formula), "value",
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
        (void)json_array_append_new(list, json_pack("{s:o,s:i,s:f,s:o,s:o}", "name", text(f->name),
                                                    "call_path", f->node, "share", f->share, "text",
                                                    text(f->text), "evidence", evidence));
    }
    *needs = findings->needs;
    chil_findings_free(findings);
    return list;
}

/* What a tree shows, with the selections. */
static json_t *rows_json(const struct report *r, enum chil_report_pane pane)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct chil_report_view view = r->view;
    size_t count;
    json_t *list = json_array();
    if (pane == CHIL_REPORT_METRICS) view.depth = r->metric_depth;
    if (pane == CHIL_REPORT_SYSTEM) view.depth = CHIL_REPORT_DEPTH_MOST;
    struct chil_report_row *row = chil_report_rows(r->report, pane, &view, &count);
    for (size_t i = 0; i < count; i++) {
        int metric = pane == CHIL_REPORT_METRICS ? row[i].index : chil_report_metric(r->report);
        (void)json_array_append_new(
            list, json_pack("{s:i,s:i,s:i,s:b,s:o,s:o,s:o}", "index", row[i].index, "depth",
                            (int)row[i].depth, "others", (int)row[i].others, "open",
                            (int)row[i].open, "whole", number(exp, metric, row[i].whole), "value",
                            number(exp, metric, row[i].value), "percent",
                            row[i].defined ? json_real(row[i].percent) : json_null()));
    }
    free(row);
    return list;
}

int report_print_json(struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    json_t *root = json_object(), *attributes = json_object();
    for (size_t i = 0; i < exp->attributes; i++)
        (void)json_object_set_new(attributes, exp->attribute[i].key, text(exp->attribute[i].value));
    (void)json_object_set_new(root, "file", text(r->file));
    (void)json_object_set_new(root, "attributes", attributes);
    (void)json_object_set_new(root, "specification",
                              r->spec ? text(chil_spec_name(r->spec)) : json_null());
    (void)json_object_set_new(root, "metrics", metrics_json(r->report));
    (void)json_object_set_new(root, "regions", regions_json(exp));
    (void)json_object_set_new(root, "call_paths", calls_json(exp));
    (void)json_object_set_new(root, "places", places_json(exp));
    (void)json_object_set_new(root, "topologies", topologies_json(exp));
    (void)json_object_set_new(root, "ratios", ratios_json(r));
    const char *needs = NULL;
    (void)json_object_set_new(root, "findings", findings_json(r, &needs));
    (void)json_object_set_new(root, "findings_need", needs ? text(needs) : json_null());
    (void)json_object_set_new(root, "selected_metric", json_integer(chil_report_metric(r->report)));
    (void)json_object_set_new(root, "metric_rows", rows_json(r, CHIL_REPORT_METRICS));
    (void)json_object_set_new(root, "call_rows", rows_json(r, CHIL_REPORT_CALLS));
    (void)json_object_set_new(root, "system_rows", rows_json(r, CHIL_REPORT_SYSTEM));
    (void)json_dumpf(root, stdout, JSON_COMPACT);
    (void)putchar('\n');
    json_decref(root);
    return 0;
}
