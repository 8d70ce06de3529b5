/* Reports in the terminal: tables that fit its width, or 80 columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/report.h"

enum { LEAST_TITLE = 20, CELL = 400 };

static int terminal_width(void)
{
    return view_terminal_width(stdout);
}

/* --- Tables: a title, numbers to the right, perhaps a word behind them ----------------------- */

enum { COLUMNS = 4 }; /* whole, own, share, from */

struct line {
    char *cell[COLUMNS + 1]; /* the title first */
};

struct table {
    struct line *line;
    size_t count, room;
    bool failed;
};

static void add_line(struct table *t, const char *title, const char *const cells[COLUMNS])
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        struct line *more = reallocarray(t->line, room, sizeof *more);
        t->failed |= !more;
        if (!more) return;
        t->line = more;
        t->room = room;
    }
    struct line *line = &t->line[t->count++];
    line->cell[0] = strdup(title);
    for (int i = 0; i < COLUMNS; i++)
        line->cell[i + 1] = strdup(cells[i]);
    for (int i = 0; i <= COLUMNS; i++)
        t->failed |= !line->cell[i];
}

/* In print columns: bytes that continue a character of UTF-8 take none. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The title cut to the width, ".." where something is missing. */
static void print_title(const char *title, int width)
{
    int left = width_of(title) > width ? width - 2 : width;
    bool cut = left < width;
    const char *end = title;
    for (int n = 0; *end && (n < left || ((unsigned char)*end & 0xc0) == 0x80); end++)
        n += ((unsigned char)end[1] & 0xc0) != 0x80;
    (void)printf("%.*s%s", (int)(end - title), title, cut ? ".." : "");
    for (int n = width_of(title); n < width; n++)
        (void)putchar(' ');
}

static int finish_table(struct table *t)
{
    int width[COLUMNS + 1] = {0}, left = terminal_width();
    for (size_t i = 0; i < t->count && !t->failed; i++)
        for (int c = 0; c <= COLUMNS; c++)
            if (width_of(t->line[i].cell[c]) > width[c]) width[c] = width_of(t->line[i].cell[c]);
    for (int c = 1; c < COLUMNS; c++)
        left -= width[c] ? width[c] + 2 : 0;
    if (left - width[COLUMNS] - 2 < (width[0] < 2 * LEAST_TITLE ? width[0] : 2 * LEAST_TITLE))
        width[COLUMNS] = 0;
    if (width[COLUMNS]) left -= width[COLUMNS] + 2;
    if (left < LEAST_TITLE) left = LEAST_TITLE;
    if (width[0] > left) width[0] = left;
    for (size_t i = 0; i < t->count && !t->failed; i++) {
        print_title(t->line[i].cell[0], width[0]);
        int last = COLUMNS - 1;
        while (last > 0 && !*t->line[i].cell[last] && !*t->line[i].cell[COLUMNS])
            last--;
        for (int c = 1; c <= last; c++)
            if (width[c]) (void)printf("  %*s", width[c], t->line[i].cell[c]);
        if (width[COLUMNS] && *t->line[i].cell[COLUMNS])
            (void)printf("  %s", t->line[i].cell[COLUMNS]);
        (void)putchar('\n');
    }
    for (size_t i = 0; i < t->count; i++)
        for (int c = 0; c <= COLUMNS; c++)
            free(t->line[i].cell[c]);
    free(t->line);
    return t->failed ? cmd_fail("report", "out of memory") : 0;
}

/* --- Trees ----------------------------------------------------------------------------------- */

static void set_percent(char cell[16], double percent, bool defined)
{
    if (defined)
        (void)snprintf(cell, 16, "%.1f%%", percent);
    else
        (void)snprintf(cell, 16, "-");
}

static void set_title(const struct chil_exp *exp, enum chil_report_pane pane,
                      const struct chil_report_row *row, char title[CELL])
{
    const char *sign = row->open ? "- " : row->has_children ? "+ " : "  ";
    int indent = 2 * (int)row->depth < CELL / 2 ? 2 * (int)row->depth : CELL / 2;
    if (row->index < 0)
        (void)snprintf(title, CELL, "%*s  (%u other%s)", indent, "", row->others,
                       row->others == 1 ? "" : "s");
    else if (pane == CHIL_REPORT_METRICS)
        (void)snprintf(title, CELL, "%*s%s%s%s", indent, "", sign,
                       exp->metric[row->index].partial ? "~" : "", exp->metric[row->index].title);
    else if (pane == CHIL_REPORT_CALLS)
        (void)snprintf(title, CELL, "%*s%s%s", indent, "", sign,
                       exp->region[exp->node[row->index].region].name);
    else
        (void)snprintf(title, CELL, "%*s%s%s", indent, "", sign, exp->place[row->index].name);
}

/* "file.c:12", or nothing. */
static const char *set_site(const struct chil_exp *exp, enum chil_report_pane pane, int index,
                            char cell[CELL])
{
    const struct chil_exp_node *node =
        pane == CHIL_REPORT_CALLS && index >= 0 ? &exp->node[index] : NULL;
    const char *slash = node && node->line > 0 ? strrchr(node->module, '/') : NULL;
    *cell = 0;
    if (node && node->line > 0 && *node->module)
        (void)snprintf(cell, CELL, "%s:%d", slash ? slash + 1 : node->module, node->line);
    return cell;
}

static int print_tree(const struct report *r, enum chil_report_pane pane,
                      const struct chil_report_view *view, const char *title)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct table table = {0};
    size_t count, shown;
    struct chil_report_row *row = chil_report_rows(r->report, pane, view, &count);
    bool metrics = pane == CHIL_REPORT_METRICS, sites = false;
    char site[CELL];
    shown = r->top && count > r->top ? r->top : count;
    for (size_t i = 0; i < shown; i++)
        sites |= *set_site(exp, pane, row[i].index, site);
    add_line(&table, title,
             (const char *const[COLUMNS]){"whole", "own", "share",
                                          metrics ? "from"
                                          : sites ? "called at"
                                                  : ""});
    for (size_t i = 0; i < shown; i++) {
        char name[CELL], whole[REPORT_NUMBER_MAX], value[REPORT_NUMBER_MAX], share[16],
            pedigree[64];
        int metric = metrics ? row[i].index : chil_report_metric(r->report);
        bool inner = pane == CHIL_REPORT_SYSTEM && row[i].open && view->mode < CHIL_REPORT_PEER;
        set_title(exp, pane, &row[i], name);
        set_percent(share, row[i].percent, row[i].defined);
        (void)report_number(exp, metric, row[i].whole, true, whole);
        (void)report_number(exp, metric, row[i].value, true, value);
        add_line(&table, name,
                 (const char *const[COLUMNS]){
                     whole, pane == CHIL_REPORT_SYSTEM && row[i].open ? "" : value,
                     inner ? "" : share,
                     metrics ? report_pedigree(exp, metric, pedigree)
                             : set_site(exp, pane, row[i].index, site)});
    }
    int status = finish_table(&table);
    if (shown < count) (void)printf("(%zu more rows; --top 0 shows all)\n", count - shown);
    free(row);
    return status;
}

/* --- Ratios ---------------------------------------------------------------------------------- */

static void set_ratio(char cell[32], const struct chil_ratio_value *value)
{
    if (!value->defined)
        (void)snprintf(cell, 32, "-");
    else
        (void)snprintf(cell, 32, value->small ? "(%s%.4g)" : "%s%.4g", value->partial ? "~" : "",
                       value->value);
}

static int print_ratios(const struct report *r)
{
    struct table table = {0};
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    size_t count = 0, shown = 0;
    const struct chil_spec_item *item = r->spec ? chil_spec_items(r->spec, &count) : NULL;
    if (chil_report_cut(r->report, CHIL_REPORT_METRICS, &exp, &err))
        return cmd_fail_error("report", &err);
    for (size_t i = 0; i < count; i++) {
        struct chil_ratio_value value = {0};
        char cell[32];
        if (item[i].kind != CHIL_SPEC_RATIO) continue;
        if (chil_ratio(exp, r->spec, item[i].name, CHIL_EXP_NONE, true, -1, &value, &err) ||
            !value.defined)
            continue;
        if (!shown++)
            add_line(&table, "ratios", (const char *const[COLUMNS]){"value", "", "", "unit"});
        set_ratio(cell, &value);
        add_line(&table, item[i].name, (const char *const[COLUMNS]){cell, "", "", item[i].unit});
    }
    chil_exp_free(exp);
    if (shown) (void)putchar('\n');
    return finish_table(&table);
}

/* A ratio by call path; which paths, and in which order, is the selected metric's. */
static int print_ratio_tree(const struct report *r, const struct chil_spec_item *ratio)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    struct table table = {0};
    char name[CELL], share[16], cells[2][32];
    size_t count;
    if (chil_report_cut(r->report, CHIL_REPORT_CALLS, &exp, &err))
        return cmd_fail_error("report", &err);
    struct chil_report_row *row = chil_report_rows(r->report, CHIL_REPORT_CALLS, &r->view, &count);
    struct chil_ratio_value *own = calloc(exp->nodes, sizeof *own),
                            *whole = calloc(exp->nodes, sizeof *whole);
    bool room = own && whole;
    int status = room ? 0 : cmd_fail("report", "out of memory");
    if (room && (chil_ratio_nodes(exp, r->spec, ratio->name, false, -1, own, &err) ||
                 chil_ratio_nodes(exp, r->spec, ratio->name, true, -1, whole, &err)))
        status = cmd_fail_error("report", &err);
    const struct chil_exp *shown = chil_report_exp(r->report);
    (void)snprintf(name, sizeof name, "%s [%s] by call path", ratio->name, ratio->unit);
    (void)snprintf(share, sizeof share, "of %.12s",
                   shown->metric[chil_report_metric(r->report)].title);
    add_line(&table, name, (const char *const[COLUMNS]){"whole", "own", share, ""});
    for (size_t i = 0; room && i < count && !status && (!r->top || i < r->top); i++) {
        if (row[i].index < 0) continue;
        set_title(shown, CHIL_REPORT_CALLS, &row[i], name);
        set_ratio(cells[0], &whole[row[i].index]);
        set_ratio(cells[1], row[i].open ? &own[row[i].index] : &whole[row[i].index]);
        set_percent(share, row[i].percent, row[i].defined);
        add_line(&table, name, (const char *const[COLUMNS]){cells[0], cells[1], share, ""});
    }
    int finished = finish_table(&table);
    free(row);
    free(own);
    free(whole);
    chil_exp_free(exp);
    return status ? status : finished;
}

/* --- The parts around the trees -------------------------------------------------------------- */

static void print_head(const struct report *r)
{
    static const struct {
        const char *key, *before;
    } told[] = {{"command", ": "}, {"machine", " on "}};
    const struct chil_exp *exp = chil_report_exp(r->report);
    const char *clock = chil_exp_attribute(exp, "clock_hz");
    (void)printf("%s", r->file);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *value = chil_exp_attribute(exp, told[i].key);
        if (value) (void)printf("%s%s", told[i].before, value);
    }
    if (clock && strtod(clock, NULL) > 0) (void)printf(", %.10g MHz", strtod(clock, NULL) / 1e6);
    (void)printf("\n%zu metrics, %zu call paths, %zu thread%s", exp->metrics, exp->nodes,
                 exp->threads, exp->threads == 1 ? "" : "s");
    if (r->spec) (void)printf("; hierarchies of '%s'", chil_spec_name(r->spec));
    (void)printf("\n");
}

/* Words in lines of the terminal's width, all but the first line indented by `indent`. */
static void print_wrapped(const char *text, int indent)
{
    int width = terminal_width(), at = indent;
    (void)printf("%*s", indent, "");
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > indent && at + 1 + length > width) {
            (void)printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            (void)putchar(' ');
            at++;
        }
        (void)printf("%.*s", length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    (void)putchar('\n');
}

static void print_finding(const struct chil_exp *exp, const struct chil_finding *f)
{
    char *path = f->node >= 0 ? chil_report_path(exp, f->node, "/") : NULL;
    const char *where = path ? path : "the whole program";
    int room = terminal_width() - (int)strlen(f->name) - 14, longer = (int)strlen(where) - room;
    const char *rest = longer > 0 ? strchr(where + longer, '/') : NULL; /* the end says most */
    (void)printf("  %s: %s%s, %.1f%%\n", f->name, rest ? ".." : "", rest ? rest : where,
                 100 * f->share);
    free(path);
    print_wrapped(f->text, 6);
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
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct table table = {0};
    size_t count = 0;
    for (size_t i = 0; i < exp->metrics; i++) {
        char number[REPORT_NUMBER_MAX], pedigree[64];
        if (!chil_report_is_apart(r->report, (int)i)) continue;
        if (!count++)
            add_line(&table, "in no hierarchy",
                     (const char *const[COLUMNS]){"whole", "", "", "from"});
        if (!r->apart) continue;
        (void)report_number(exp, (int)i, chil_exp_sum(exp, (int)i, CHIL_EXP_NONE, false, -1), true,
                            number);
        add_line(
            &table, exp->metric[i].title,
            (const char *const[COLUMNS]){number, "", "", report_pedigree(exp, (int)i, pedigree)});
    }
    if (count && r->apart) {
        (void)putchar('\n');
        return finish_table(&table);
    }
    if (count)
        (void)printf("\n%zu counter%s in no hierarchy; --apart lists %s\n", count,
                     count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
    table.failed = false;
    for (size_t i = 0; i < table.count; i++)
        for (int c = 0; c <= COLUMNS; c++)
            free(table.line[i].cell[c]);
    free(table.line);
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
    char numbers[2][REPORT_NUMBER_MAX];
    for (size_t i = 0; i < count; i++) {
        if (exp->place[row[i].index].thread < 0) continue;
        least = fmin(least, row[i].value);
        most = fmax(most, row[i].value);
        sum += row[i].value;
    }
    free(row);
    if (exp->threads < 2 || most <= 0) return;
    (void)printf("least %s, mean %.6g, greatest %s, mean / greatest %.2f\n",
                 report_number(exp, chil_report_metric(r->report), least, true, numbers[0]),
                 sum / (double)exp->threads,
                 report_number(exp, chil_report_metric(r->report), most, true, numbers[1]),
                 sum / (double)exp->threads / most);
}

/* Titles say what the shares are of. */
static void set_tree_title(const struct report *r, enum chil_report_pane pane, char title[CELL])
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    const struct chil_exp_metric *m = &exp->metric[chil_report_metric(r->report)];
    const char *of =
        r->view.mode == CHIL_REPORT_USUAL ? "" : chil_report_mode_word((int)r->view.mode);
    const char *what[] = {"metrics", "call paths of", "system, by"};
    if (pane == CHIL_REPORT_METRICS)
        (void)snprintf(title, CELL, "metrics%s%s%s", *of ? " (" : "", of, *of ? ")" : "");
    else
        (void)snprintf(title, CELL, "%s %s%s [%s]%s%s%s", what[pane], m->partial ? "~" : "",
                       m->title, m->unit, *of ? " (" : "", of, *of ? ")" : "");
}

static bool is_shown(const struct report *r, char part)
{
    return !r->show || strchr(r->show, part);
}

static int print_pane(const struct report *r, enum chil_report_pane pane)
{
    char title[CELL];
    struct chil_report_view view = r->view;
    if (pane == CHIL_REPORT_METRICS) view.depth = r->metric_depth;
    if (pane == CHIL_REPORT_SYSTEM) view.depth = CHIL_REPORT_DEPTH_MOST;
    set_tree_title(r, pane, title);
    int status = 0;
    if (is_shown(r, "mcs"[pane])) {
        (void)putchar('\n');
        status = print_tree(r, pane, &view, title);
    }
    if (!status && pane == CHIL_REPORT_METRICS && is_shown(r, 'r')) status = print_ratios(r);
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
            status = print_ratio_tree(r, ratio);
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

int report_print_flat(struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct table table = {0};
    size_t count;
    char title[CELL];
    int metric = chil_report_metric(r->report);
    struct chil_report_flat *flat = chil_report_flat(r->report, r->by_module, r->view.mode, &count);
    (void)snprintf(title, sizeof title, "%s, %s [%s]", r->by_module ? "modules" : "functions",
                   exp->metric[metric].title, exp->metric[metric].unit);
    add_line(&table, title,
             (const char *const[COLUMNS]){"whole", "own", "share", r->by_module ? "" : "calls"});
    for (size_t i = 0; i < count && (!r->top || i < r->top); i++) {
        char whole[REPORT_NUMBER_MAX], own[REPORT_NUMBER_MAX], share[16], calls[VIEW_GROUPED_MAX];
        if (flat[i].own == 0 && flat[i].whole == 0) continue;
        set_percent(share, flat[i].percent, flat[i].defined);
        (void)report_number(exp, metric, flat[i].whole, true, whole);
        (void)report_number(exp, metric, flat[i].own, true, own);
        (void)view_grouped(flat[i].visits > 0 ? (uint64_t)flat[i].visits : 0, calls);
        add_line(&table, flat[i].name,
                 (const char *const[COLUMNS]){whole, own, share, r->by_module ? "" : calls});
    }
    free(flat);
    return finish_table(&table);
}

int report_describe(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct chil_error err = {0};
    char number[REPORT_NUMBER_MAX], pedigree[64];
    const struct chil_spec_item *ratio = report_ratio(r, r->describe);
    if (ratio) {
        (void)printf("%s = %s [%s], a ratio: evaluated after everything is added up\n", ratio->name,
                     ratio->formula, ratio->unit);
        return 0;
    }
    if (chil_report_select_metric(r->report, r->describe, &err))
        return cmd_fail_error("report", &err);
    int metric = chil_report_metric(r->report);
    const struct chil_exp_metric *m = &exp->metric[metric];
    (void)printf("%s%s [%s]\n", m->partial ? "~" : "", m->title, m->unit);
    if (*m->text) print_wrapped(m->text, 2);
    (void)printf(
        "  total      %s\n",
        report_number(exp, metric, chil_exp_sum(exp, metric, -1, false, -1), true, number));
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
