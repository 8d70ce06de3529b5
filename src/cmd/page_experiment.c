/* An experiment as a document of a page (docs/formats/page.md).
 *
 * Ratios are evaluated here, for every call path, because their formulas are evaluated after sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "cmd/page.h"

enum { RATIO_NODES_MAX = 20000 }; /* of larger call trees ratios are given for the whole only */

/* Own and inclusive values of a ratio for every call path; what is undefined is NaN. `small` has a
 * bit for each where the denominator is next to nothing. */
static void add_ratio(struct view_page *page, const struct report *r, json_t *row)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct chil_ratio_value *value = calloc(exp->nodes + 1, sizeof *value);
    double *real = calloc(exp->nodes + 1, sizeof *real);
    int64_t *small = calloc(exp->nodes + 1, sizeof *small);
    const char *name = json_string_value(json_object_get(row, "name"));
    for (int subtree = 0; subtree < 2 && value && real && small; subtree++) {
        if (chil_ratio_nodes(exp, r->spec, name, subtree, -1, value, NULL)) continue;
        for (size_t i = 0; i < exp->nodes; i++) {
            real[i] = value[i].defined ? value[i].value : NAN;
            small[i] |= value[i].small ? 1 << subtree : 0;
        }
        (void)json_object_set_new(row, subtree ? "whole" : "own",
                                  view_page_reals(page, real, exp->nodes));
    }
    if (small) (void)json_object_set_new(row, "small", view_page_counts(page, small, exp->nodes));
    free(small);
    free(real);
    free(value);
}

static void add_parameter(void *context, const char *key, const char *word)
{
    (void)json_object_set_new(context, key, view_json_text(word));
}

/* The parameters of the machine that was simulated; null when there is no such machine here. */
static json_t *machine_json(const struct chil_exp *exp)
{
    const char *name = chil_exp_attribute(exp, "machine");
    struct chil_machine *machine = NULL;
    if (!name || strchr(name, '/') || chil_machine_open(&machine, name, NULL)) return json_null();
    json_t *parameters = json_object();
    chil_machine_each(machine, add_parameter, parameters);
    chil_machine_free(machine);
    return parameters;
}

static json_t *count_json(const struct chil_exp *exp, int metric)
{
    size_t count;
    (void)chil_exp_cells(exp, metric, &count);
    return json_pack("{s:I}", "count", (json_int_t)count);
}

json_t *page_experiment(struct view_page *page, const struct report *r, bool values)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    json_t *document = report_json(r), *row, *code;
    size_t i;
    (void)json_object_set_new(document, "kind", json_string("experiment"));
    if (!values) (void)json_object_set_new(document, "asks", json_true());
    json_array_foreach(json_object_get(document, "metrics"), i, row)
    {
        (void)json_object_set_new(
            row, "cells", values ? view_page_cells(page, exp, (int)i) : count_json(exp, (int)i));
    }
    json_array_foreach(json_object_get(document, "ratios"), i, row)
    {
        if (exp->nodes <= RATIO_NODES_MAX) add_ratio(page, r, row);
    }
    (void)json_object_set_new(document, "machine", machine_json(exp));
    if ((code = page_code(page, r))) (void)json_object_set_new(document, "code", code);
    return document;
}
