/* chiliad report --table: experiments side by side (table 1 of paper 003).
 *
 *     in 10^9               power4          opteron
 *     platform              IBM p690+       Cray XD1
 *     clock                 1700 MHz        2200 MHz
 *     DATA_ACCESS           5235  100.0%    7456  100.0%
 *       DATA_HIT_L1$        5092   97.3%    7230   97.0%
 *
 * First the configuration: what the experiments say of themselves. Then every metric of a hierarchy
 * that one of them has, open all the way down, with its share of the hierarchy's root. '-' where an
 * experiment does not have it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"
#include "view/view.h"

enum { NAME = 26, COLUMN = 18 };

struct rows {
    const char *name[4096]; /* of metrics, borrowed */
    unsigned depth[4096];
    size_t count;
};

static unsigned depth_of(const struct chil_exp *exp, int metric)
{
    unsigned depth = 0;
    while ((metric = exp->metric[metric].parent) >= 0)
        depth++;
    return depth;
}

/* Where a metric is, or `count`. */
static size_t find_row(const struct rows *rows, const char *name)
{
    size_t i = 0;
    while (i < rows->count && strcmp(rows->name[i], name) != 0)
        i++;
    return i;
}

/* Behind everything that is below its parent. */
static void add_row(struct rows *rows, const char *parent, const char *name, unsigned depth)
{
    if (rows->count == sizeof rows->name / sizeof *rows->name) return;
    size_t at = parent ? find_row(rows, parent) + 1 : rows->count;
    if (at > rows->count) at = rows->count;
    while (at < rows->count && rows->depth[at] >= depth)
        at++;
    memmove(&rows->name[at + 1], &rows->name[at], (rows->count - at) * sizeof *rows->name);
    memmove(&rows->depth[at + 1], &rows->depth[at], (rows->count - at) * sizeof *rows->depth);
    rows->name[at] = name;
    rows->depth[at] = depth;
    rows->count++;
}

/* A metric and those below it; what only a later experiment has comes behind what the earlier ones
 * have there. */
static void add_metrics(struct rows *rows, const struct chil_report *report, int parent)
{
    const struct chil_exp *exp = chil_report_exp(report);
    for (size_t i = 0; i < exp->metrics; i++) {
        if (exp->metric[i].parent != parent || chil_report_is_apart(report, (int)i)) continue;
        if (find_row(rows, exp->metric[i].name) == rows->count)
            add_row(rows, parent < 0 ? NULL : exp->metric[parent].name, exp->metric[i].name,
                    depth_of(exp, (int)i));
        add_metrics(rows, report, (int)i);
    }
}

/* The power of 1000 in which the greatest number has one to three digits or more before the point.
 */
static double scale_of(const struct report *r, size_t count)
{
    double most = 0, scale = 1;
    for (size_t k = 0; k < count; k++) {
        const struct chil_exp *exp = chil_report_exp(r[k].report);
        for (size_t i = 0; i < exp->metrics; i++)
            if (!chil_report_is_apart(r[k].report, (int)i))
                most = fmax(most, fabs(chil_exp_sum(exp, (int)i, CHIL_EXP_NONE, false, -1)));
    }
    while (scale < 1e9 && most / scale >= 1e6)
        scale *= 1000;
    return scale;
}

/* ---- configuration: what the experiments say of themselves ---- */

static const char *places_of(const struct chil_exp *exp, enum chil_exp_level level, char *buffer,
                             size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < exp->places; i++)
        count += exp->place[i].level == level;
    if (!count) return NULL;
    (void)snprintf(buffer, size, "%zu", count);
    return buffer;
}

/* A row's text for an experiment, or NULL: an attribute, some of them in units for people, or a
 * count of the system tree. */
static const char *configured(const struct chil_exp *exp, const char *key, char *buffer,
                              size_t size)
{
    const char *value = chil_exp_attribute(exp, key);
    if (strcmp(key, "clock") == 0 && (value = chil_exp_attribute(exp, "clock_hz"))) {
        (void)snprintf(buffer, size, "%.6g MHz", strtod(value, NULL) / 1e6);
        return buffer;
    }
    if (strcmp(key, "wall_time") == 0 && value) {
        (void)snprintf(buffer, size, "%.6g s", strtod(value, NULL));
        return buffer;
    }
    if (strcmp(key, "nodes") == 0 && !value) return places_of(exp, CHIL_EXP_NODE, buffer, size);
    if (strcmp(key, "processes") == 0 && !value)
        return places_of(exp, CHIL_EXP_PROCESS, buffer, size);
    if (strcmp(key, "threads") == 0 && !value) {
        (void)snprintf(buffer, size, "%zu", exp->threads);
        return buffer;
    }
    return value;
}

/* The start of a text: what a platform is called comes first. */
static void print_cut(const char *text)
{
    int width = COLUMN - 1;
    if (view_width(text) <= width)
        (void)printf(" %*s", width, text);
    else
        (void)printf(" %.*s..", width - 2, text);
}

static void print_configuration(const struct report *r, size_t count)
{
    static const char *const keys[] = {
        "platform", "machine",          "processor", "cores", "clock", "counter_registers",
        "network",  "operating_system", "compiler",  "mpi",   "nodes", "processes",
        "threads",  "command",          "wall_time",
    };
    char buffer[40];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        bool any = false;
        for (size_t k = 0; k < count; k++)
            any |= configured(chil_report_exp(r[k].report), keys[i], buffer, sizeof buffer) != NULL;
        if (!any) continue;
        (void)printf("%-*s", NAME, keys[i]);
        for (size_t k = 0; k < count; k++) {
            const char *value =
                configured(chil_report_exp(r[k].report), keys[i], buffer, sizeof buffer);
            print_cut(value ? value : "-");
        }
        (void)putchar('\n');
    }
}

static void print_value(const struct chil_exp *exp, const char *name, double scale)
{
    int metric = chil_exp_find_metric(exp, name), root = metric;
    if (metric < 0) {
        (void)printf(" %*s", COLUMN - 1, "-");
        return;
    }
    while (exp->metric[root].parent >= 0)
        root = exp->metric[root].parent;
    double value = chil_exp_sum(exp, metric, CHIL_EXP_NONE, false, -1);
    double all = chil_exp_sum(exp, root, CHIL_EXP_NONE, false, -1);
    char number[40];
    if (strcmp(exp->metric[metric].unit, "sec") == 0) scale = 1;
    (void)snprintf(number, sizeof number, scale == 1 && value == rint(value) ? "%s%.0f" : "%s%.3f",
                   exp->metric[metric].partial ? "~" : "", value / scale);
    if (all != 0)
        (void)printf(" %*s%6.1f%%", COLUMN - 8, number, 100 * value / all);
    else
        (void)printf(" %*s%7s", COLUMN - 8, number, "-");
}

int report_print_table(const struct report *r, size_t count)
{
    struct rows *rows = calloc(1, sizeof *rows);
    if (!rows) return cmd_fail("report", "out of memory");
    double scale = scale_of(r, count);
    char title[NAME + 1] = "";
    if (scale > 1) (void)snprintf(title, sizeof title, "in 10^%.0f", log10(scale));
    (void)printf("%-*s", NAME, title);
    for (size_t k = 0; k < count; k++) {
        const char *slash = strrchr(r[k].file, '/');
        (void)printf(" %*.*s", COLUMN - 1, COLUMN - 1, slash ? slash + 1 : r[k].file);
    }
    (void)putchar('\n');
    print_configuration(r, count);
    for (size_t k = 0; k < count; k++)
        add_metrics(rows, r[k].report, CHIL_EXP_NONE);
    for (size_t i = 0; i < rows->count; i++) {
        const struct chil_exp *exp = NULL;
        for (size_t k = 0; k < count && (!exp || chil_exp_find_metric(exp, rows->name[i]) < 0); k++)
            exp = chil_report_exp(r[k].report);
        (void)snprintf(title, sizeof title, "%*s%s", 2 * (int)(rows->depth[i] % 10), "",
                       exp->metric[chil_exp_find_metric(exp, rows->name[i])].title);
        (void)printf("%-*s", NAME, title);
        for (size_t k = 0; k < count; k++)
            print_value(chil_report_exp(r[k].report), rows->name[i], scale);
        (void)putchar('\n');
    }
    free(rows);
    return 0;
}
