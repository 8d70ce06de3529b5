/* Call paths as text, and folded stacks for flame graphs. */
#include "analyze/report/report_impl.h"

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

void report_print_name(FILE *out, const char *name, const char *not_these)
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
            report_print_name(out, exp->region[exp->node[step[depth]].region].name, ";");
            if (depth) (void)fputc(';', out);
        }
        (void)fprintf(out, " %.0f\n", own[n]);
    }
    free(own);
    free(step);
}
