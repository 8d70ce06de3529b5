/* What a metric or ratio is: text, unit, formula, total, place in its hierarchy. */
#include "cmd/report.h"

int report_describe(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct chil_error err = {0};
    char number[VIEW_GROUPED_MAX], pedigree[64], of[CMD_RATIO_OF];
    const struct chil_spec_item *ratio = report_ratio(r, r->describe);
    if (ratio) {
        (void)printf("%s = %s [%s], a ratio: evaluated after everything is added up\n", ratio->name,
                     ratio->formula, cmd_ratio_of(ratio, of));
        return 0;
    }
    if (chil_report_select_metric(r->report, r->describe, &err))
        return cmd_fail_error("report", &err);
    int metric = chil_report_metric(r->report);
    const struct chil_exp_metric *m = &exp->metric[metric];
    (void)printf("%s%s [%s]\n", m->partial ? "~" : "", m->title, m->unit);
    if (*m->text) view_wrapped(stdout, m->text, 2, view_text_width(stdout));
    (void)printf("  total      %s\n",
                 view_grouped_value(chil_exp_sum(exp, metric, -1, false, -1),
                                    exp->metric[metric].kind == CHIL_EXP_COUNT, number));
    (void)printf("  from       %s%s%s\n", report_pedigree(exp, metric, pedigree),
                 *m->formula ? ": " : "", m->formula);
    if (*m->exactness) (void)printf("  counts are %s\n", m->exactness);
    if (m->partial) (void)printf("  ~          parts are missing\n");
    if (m->parent >= 0) (void)printf("  part of    %s\n", exp->metric[m->parent].title);
    for (size_t i = 0; i < exp->metrics; i++)
        if (exp->metric[i].parent == metric)
            (void)printf("  has        %s\n", exp->metric[i].title);
    return 0;
}
