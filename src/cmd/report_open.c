/* Opens an experiment for a report: reads it, derives its metrics, selects parts of its trees. */
#include <math.h>
#include <string.h>

#include "cmd/report.h"

const struct chil_spec_item *report_ratio(const struct report *r, const char *name)
{
    size_t count = 0;
    const struct chil_spec_item *item = r->spec ? chil_spec_items(r->spec, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (item[i].kind == CHIL_SPEC_RATIO && strcmp(item[i].name, name) == 0) return &item[i];
    return NULL;
}

const char *report_pedigree(const struct chil_exp *exp, int metric, char buffer[64])
{
    static const char *const origins[] = {"measured", "composed", "computed"};
    const struct chil_exp_metric *m = &exp->metric[metric];
    double low, high, total = chil_exp_sum(exp, metric, CHIL_EXP_NONE, false, -1);
    chil_exp_range(exp, metric, &low, &high);
    if (m->runs > 1)
        (void)snprintf(buffer, 64, "%s, %u runs +-%.1f%%", origins[m->origin], m->runs,
                       total != 0 ? 50 * (high - low) / fabs(total) : 0.0);
    else
        (void)snprintf(buffer, 64, "%s", origins[m->origin]);
    return buffer;
}

static bool is_thread_wanted(void *context, int thread)
{
    const struct report *r = context;
    return cmd_threads_has(&r->threads, chil_report_exp(r->report), thread);
}

static const char *command_of(const struct report *r)
{
    return r->command ? r->command : "report";
}

/* The other experiment, derived as this one is. */
static int read_reference(struct report *r)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    if (!r->reference && r->view.mode == CHIL_REPORT_EXTERNAL)
        return cmd_fail(command_of(r), "--percent external wants --reference FILE");
    if (!r->reference) return 0;
    int status = cmd_exp_read(command_of(r), r->reference, &exp);
    if (status) return status;
    status = chil_report_new(&r->other, exp, r->spec, &r->options, &err);
    chil_exp_free(exp);
    if (status) return cmd_fail_error(command_of(r), &err);
    chil_report_set_reference(r->report, chil_report_exp(r->other));
    return 0;
}

/* Whether the specification defines any metric of the report. */
static bool has_hierarchies(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    char name[256];
    size_t count;
    const struct chil_spec_item *item = chil_spec_items(r->spec, &count);
    for (size_t i = 0; i < count; i++)
        if (item[i].kind <= CHIL_SPEC_COMPUTE &&
            chil_exp_find_metric(exp, chil_metric_clean_name(name, sizeof name, item[i].name)) >= 0)
            return true;
    return false;
}

/* The default specification is of no use for files of other tools: their metrics stay as they are.
 */
static int drop_default(struct report *r, struct chil_error *err)
{
    if (r->spec_name || r->options.time || r->options.seconds || has_hierarchies(r)) return 0;
    chil_report_free(r->report);
    chil_spec_free(r->spec);
    r->spec = NULL;
    return chil_report_new(&r->report, r->read, NULL, &r->options, err);
}

int report_open(struct report *r)
{
    struct chil_error err = {0};
    int status = r->read ? 0 : cmd_exp_read(command_of(r), r->file, &r->read);
    if (status) return status;
    if (!r->spec_name)
        status = chil_spec_open_for(&r->spec, r->read, &err);
    else if (strcmp(r->spec_name, "none") != 0)
        status = chil_spec_open(&r->spec, r->spec_name, &err);
    if (!status) status = chil_report_new(&r->report, r->read, r->spec, &r->options, &err);
    if (!status) status = drop_default(r, &err);
    if (!status && r->order) status = chil_report_order(r->report, r->order, &err);
    if (!status && r->calls) status = chil_report_select_calls(r->report, r->call, r->calls, &err);
    if (!status && r->threads.count)
        status = chil_report_select_threads(r->report, is_thread_wanted, r, &err);
    for (size_t i = 0; i < r->metrics && !status; i++)
        if (!report_ratio(r, r->metric[i]))
            status = chil_report_select_metric(r->report, r->metric[i], &err);
    if (status) return cmd_fail_error(command_of(r), &err);
    chil_report_select_own(r->report, r->own);
    return read_reference(r);
}

void report_close(struct report *r)
{
    chil_report_free(r->report);
    chil_report_free(r->other);
    chil_spec_free(r->spec);
    if (!r->is_borrowed) chil_exp_free(r->read);
}
