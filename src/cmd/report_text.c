/* Reports in the terminal: head, findings, trees, ratios, counters apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"

void report_table(const struct view *view)
{
    const struct view_table_style style = {
        .heading = true, .trim = true, .width = view_terminal_width(stdout)};
    view_table(view, stdout, &style);
}

static int print_tree(const struct report *r, enum chil_report_pane pane, const char *title)
{
    struct report_tree tree;
    report_tree_init(&tree, r, pane, title, r->top);
    report_table(&tree.view);
    if (tree.left_out) (void)printf("(%zu more rows; --top 0 shows all)\n", tree.left_out);
    view_fini(&tree.view);
    return 0;
}

/* --- The parts around the trees -------------------------------------------------------------- */

static void print_head(const struct report *r)
{
    static const struct {
        const char *key, *before;
    } shown[] = {{"command", ": "}, {"machine", " on "}};
    const struct chil_exp *exp = chil_report_exp(r->report);
    const char *clock = chil_exp_attribute(exp, "clock_hz");
    (void)printf("%s", r->file);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const char *value = chil_exp_attribute(exp, shown[i].key);
        if (value) (void)printf("%s%s", shown[i].before, value);
    }
    if (clock && strtod(clock, NULL) > 0) (void)printf(", %.10g MHz", strtod(clock, NULL) / 1e6);
    const char *memory = chil_exp_attribute(exp, "memory");
    if (memory) (void)printf("\nmemory: %s; no cycles were counted", memory);
    const char *partial = chil_exp_attribute(exp, "partial");
    if (partial) (void)printf("\npartial: %s", partial);
    (void)printf("\n%zu metrics, %zu call paths, %zu thread%s", exp->metrics, exp->nodes,
                 exp->threads, exp->threads == 1 ? "" : "s");
    if (r->spec) (void)printf("; hierarchies of '%s'", chil_spec_name(r->spec));
    (void)printf("\n");
}

static void print_finding(const struct chil_exp *exp, const struct chil_finding *f)
{
    char *path = f->node >= 0 ? chil_report_path(exp, f->node, "/") : NULL;
    const char *where = path ? path : "the whole program";
    int width = view_terminal_width(stdout), room = width - (int)strlen(f->name) - 14,
        longer = width ? (int)strlen(where) - room : 0;
    const char *rest = longer > 0 ? strchr(where + longer, '/') : NULL; /* the end says most */
    (void)printf("  %s: %s%s, %.1f%%\n", f->name, rest ? ".." : "", rest ? rest : where,
                 100 * f->share);
    free(path);
    view_wrapped(stdout, f->text, 6, view_text_width(stdout));
}

static int print_findings(const struct report *r)
{
    struct chil_findings *findings = NULL;
    struct chil_error err = {0};
    enum { MOST = 10 };
    if (!r->spec) return 0;
    if (chil_findings_new(&findings, chil_report_exp(r->report), r->spec, &err))
        return cmd_fail_error("report", &err);
    size_t shown = r->top && findings->count > MOST ? MOST : findings->count;
    if (shown) (void)printf("\nfindings\n");
    for (size_t i = 0; i < shown; i++)
        print_finding(chil_report_exp(r->report), &findings->finding[i]);
    if (shown < findings->count)
        (void)printf("  (%zu more; --top 0 shows all)\n", findings->count - shown);
    if (findings->untried) {
        bool kinds = strcmp(findings->needs, "misses.kinds") == 0;
        (void)printf("  (%zu more not tried: 'chiliad record %s%s%s' counts what they need)\n",
                     findings->untried, kinds ? "--miss-kinds" : "--set ",
                     kinds ? "" : findings->needs, kinds ? "" : "=on");
    }
    chil_findings_free(findings);
    return 0;
}

static int print_apart(const struct report *r)
{
    enum { TITLE, WHOLE, FROM, COLUMNS };
    static const struct view_column columns[COLUMNS] = {
        [TITLE] = {.title = "in no hierarchy", .left = true, .fit = VIEW_FIT_END},
        [WHOLE] = {.title = "whole"},
        [FROM] = {.title = "from", .left = true, .fit = VIEW_FIT_DROP},
    };
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct view view;
    view_init(&view, columns, COLUMNS);
    for (size_t i = 0; i < exp->metrics; i++) {
        char pedigree[64];
        if (!chil_report_is_apart(r->report, (int)i)) continue;
        struct view_cell *cell = view_row(&view);
        cell[TITLE] = view_text(exp->metric[i].title);
        cell[WHOLE] = view_value(chil_exp_sum(exp, (int)i, CHIL_EXP_NONE, false, -1),
                                 exp->metric[i].kind == CHIL_EXP_COUNT);
        cell[FROM] = view_copy(&view, report_pedigree(exp, (int)i, pedigree));
    }
    if (view.rows && r->apart) {
        (void)putchar('\n');
        report_table(&view);
    } else if (view.rows) {
        (void)printf("\n%zu counter%s in no hierarchy; --apart lists %s\n", view.rows,
                     view.rows == 1 ? " is" : "s are", view.rows == 1 ? "it" : "them");
    }
    view_fini(&view);
    return 0;
}

/* "threads: least 10, mean 15.0, greatest 20, mean / greatest 0.75": what the system's tree adds
 * up. */
static void print_balance(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct chil_report_view view = {.depth = CHIL_REPORT_DEPTH_MOST};
    size_t count;
    struct chil_report_row *row = chil_report_rows(r->report, CHIL_REPORT_SYSTEM, &view, &count);
    double least = INFINITY, most = -INFINITY, sum = 0;
    char numbers[3][VIEW_GROUPED_MAX];
    for (size_t i = 0; i < count; i++) {
        if (exp->place[row[i].index].thread < 0) continue;
        least = fmin(least, row[i].value);
        most = fmax(most, row[i].value);
        sum += row[i].value;
    }
    free(row);
    if (exp->threads < 2 || most <= 0) return;
    double mean = sum / (double)exp->threads;
    bool whole = exp->metric[chil_report_metric(r->report)].kind == CHIL_EXP_COUNT;
    (void)printf("least %s, mean %s, greatest %s, mean / greatest %.2f\n",
                 view_grouped_value(least, whole, numbers[0]),
                 view_grouped_value(whole ? round(mean) : mean, whole, numbers[2]),
                 view_grouped_value(most, whole, numbers[1]), mean / most);
}

/* Titles say what the shares are of. */
static void set_tree_title(const struct report *r, enum chil_report_pane pane,
                           char title[REPORT_TITLE])
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    const struct chil_exp_metric *m = &exp->metric[chil_report_metric(r->report)];
    const char *of =
        r->view.mode == CHIL_REPORT_USUAL ? "" : chil_report_mode_word((int)r->view.mode);
    const char *what[] = {"metrics", "call paths of", "system, by"};
    if (pane == CHIL_REPORT_METRICS)
        (void)snprintf(title, REPORT_TITLE, "metrics%s%s%s", *of ? " (" : "", of, *of ? ")" : "");
    else
        (void)snprintf(title, REPORT_TITLE, "%s %s%s [%s]%s%s%s", what[pane], m->partial ? "~" : "",
                       m->title, m->unit, *of ? " (" : "", of, *of ? ")" : "");
}

static bool is_shown(const struct report *r, char part)
{
    return !r->show || strchr(r->show, part);
}

static int print_pane(const struct report *r, enum chil_report_pane pane)
{
    char title[REPORT_TITLE];
    set_tree_title(r, pane, title);
    int status = 0;
    if (is_shown(r, "mcs"[pane])) {
        (void)putchar('\n');
        status = print_tree(r, pane, title);
    }
    if (!status && pane == CHIL_REPORT_METRICS && is_shown(r, 'r')) status = report_print_ratios(r);
    if (!status && pane == CHIL_REPORT_SYSTEM && is_shown(r, 's')) print_balance(r);
    return status;
}

/* One metric or ratio: its call paths and its threads. */
static int print_metric(const struct report *r, const char *name, bool metrics_too)
{
    struct chil_error err = {0};
    const char *order = r->order ? r->order : "mcs";
    const struct chil_spec_item *ratio = name ? report_ratio(r, name) : NULL;
    if (name && !ratio && chil_report_select_metric(r->report, name, &err))
        return cmd_fail_error("report", &err);
    int status = 0;
    for (const char *at = order; *at && !status; at++) {
        if (*at == 'm') {
            if (metrics_too) status = print_pane(r, CHIL_REPORT_METRICS);
        } else if (!ratio) {
            status = print_pane(r, *at == 'c' ? CHIL_REPORT_CALLS : CHIL_REPORT_SYSTEM);
        } else if (*at == 'c' && is_shown(r, 'c')) {
            (void)putchar('\n');
            status = report_print_ratio_tree(r, ratio);
        }
    }
    return status;
}

int report_print_text(struct report *r)
{
    print_head(r);
    int status = is_shown(r, 'f') ? print_findings(r) : 0;
    if (!status) status = print_metric(r, r->metrics ? r->metric[0] : NULL, true);
    for (size_t i = 1; i < r->metrics && !status; i++)
        status = print_metric(r, r->metric[i], false);
    return status || !is_shown(r, 'a') ? status : print_apart(r);
}
