/* Writes the XML of CUBE files: anchor.xml of .cubex, and all of .cube.
 *
 * It is written for the strictest reader, cubelib's lexer: first line and version to the letter, no
 * comments, "/>" only for attr, dim and parameter, elements in the order of the grammar, only the
 * five named escapes. The origin of a metric is in <val> and in attributes "chiliad:...", which
 * other readers ignore.
 */
#include "analyze/exp/exp_cube.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character at `text`; 0: it is none that XML takes. */
static size_t character_length(const unsigned char *text)
{
    unsigned char c = text[0];
    if (c < 0x80) return c >= ' ' && c != 0x7f ? 1 : 0;
    size_t length = c >= 0xc2 && c < 0xe0   ? 2
                    : c >= 0xe0 && c < 0xf0 ? 3
                    : c >= 0xf0 && c < 0xf5 ? 4
                                            : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f))
        return 0;                                                  /* too long; surrogate */
    if (c == 0xef && text[1] == 0xbf && text[2] >= 0xbe) return 0; /* not characters */
    if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f)) return 0;
    return length;
}

static void put_text(FILE *out, const char *text)
{
    static const char *const escapes[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&apos;"};
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = character_length(at);
        if (length == 1 && *at < sizeof escapes / sizeof *escapes && escapes[*at])
            (void)fputs(escapes[*at], out);
        else if (length)
            (void)fwrite(at, 1, length, out);
        else
            (void)fputc(*at < ' ' ? ' ' : '?',
                        out); /* attributes cannot have line ends without references */
        at += length ? length : 1;
    }
}

/* `format` with %s for texts to be escaped. */
static void put(FILE *out, const char *format, const char *text)
{
    const char *at = strstr(format, "%s");
    if (!at) {
        (void)fputs(format, out);
        return;
    }
    (void)fwrite(format, 1, (size_t)(at - format), out);
    put_text(out, text);
    (void)fputs(at + 2, out);
}

static void put_attribute(FILE *out, const char *key, const char *value)
{
    put(out, "<attr key=\"%s\"", key);
    put(out, " value=\"%s\"/>\n", value);
}

/* --- Metrics --------------------------------------------------------------------------------- */

bool exp_has_negative(const struct chil_exp *exp, int metric)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    for (size_t i = 0; i < count; i++)
        if (cell[i].count < 0) return true;
    return false;
}

static const char *dtype_of(const struct chil_exp *exp, int metric, bool cube3)
{
    if (exp->metric[metric].kind == CHIL_EXP_REAL) return cube3 ? "FLOAT" : "DOUBLE";
    if (cube3) return "INTEGER";
    return exp_has_negative(exp, metric) ? "INT64" : "UINT64";
}

static void put_pedigree(FILE *out, const struct chil_exp_metric *m)
{
    char number[40];
    if (*m->formula) put_attribute(out, "chiliad:formula", m->formula);
    if (*m->exactness) put_attribute(out, "chiliad:exactness", m->exactness);
    if (m->partial) put_attribute(out, "chiliad:partial", "1");
    if (m->derived) put_attribute(out, "chiliad:derived", "1");
    if (m->runs <= 1) return;
    (void)snprintf(number, sizeof number, "%u", m->runs);
    put_attribute(out, "chiliad:runs", number);
    (void)snprintf(number, sizeof number, "%.17g", m->low);
    put_attribute(out, "chiliad:low", number);
    (void)snprintf(number, sizeof number, "%.17g", m->high);
    put_attribute(out, "chiliad:high", number);
}

/* "exactness=exact;derived=1;runs=3;low=1;high=2;formula=A + B" */
static void put_pedigree3(FILE *out, const struct chil_exp_metric *m)
{
    char *text = NULL;
    size_t size = 0;
    bool any = *m->formula || *m->exactness || m->derived || m->runs > 1;
    FILE *value = any ? open_memstream(&text, &size) : NULL;
    if (!value) return;
    (void)fprintf(value, "exactness=%s;%s", m->exactness, m->derived ? "derived=1;" : "");
    if (m->runs > 1)
        (void)fprintf(value, "runs=%u;low=%.17g;high=%.17g;", m->runs, m->low, m->high);
    (void)fprintf(value, "formula=%s", m->formula);
    (void)fclose(value);
    put(out, "<attr key=\"" EXP_PEDIGREE "%s\"", m->name);
    put(out, " value=\"%s\"/>\n", text);
    free(text);
}

static void open_metric(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                        int metric, bool cube3)
{
    static const char *const origins[] = {"MEASURED", "COMPOSED", "COMPUTED"};
    const struct chil_exp_metric *m = &exp->metric[metric];
    (void)fprintf(out, "<metric id=\"%d\"%s>\n", layout->metric_position[metric],
                  cube3 ? "" : " type=\"EXCLUSIVE\"");
    put(out, m->partial ? "<disp_name>~%s</disp_name>\n" : "<disp_name>%s</disp_name>\n", m->title);
    put(out, "<uniq_name>%s</uniq_name>\n", m->name);
    put(out, "<dtype>%s</dtype>\n", dtype_of(exp, metric, cube3));
    put(out, "<uom>%s</uom>\n", m->unit);
    put(out, "<val>%s</val>\n<url></url>\n", origins[m->origin]);
    put(out, "<descr>%s</descr>\n", m->text);
    if (!cube3) put_pedigree(out, m);
}

static void write_metrics(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                          bool cube3)
{
    int open = CHIL_EXP_NONE;
    (void)fputs("<metrics>\n", out);
    for (int m = CHIL_EXP_NONE;
         (m = exp_tree_next(&layout->metric_tree, exp, exp_metric_parent, m)) >= 0; open = m) {
        for (; open >= 0 && open != exp->metric[m].parent; open = exp->metric[open].parent)
            (void)fputs("</metric>\n", out);
        open_metric(out, exp, layout, m, cube3);
    }
    for (; open >= 0; open = exp->metric[open].parent)
        (void)fputs("</metric>\n", out);
    (void)fputs("</metrics>\n", out);
}

/* --- Program --------------------------------------------------------------------------------- */

static void write_region(FILE *out, const struct chil_exp_region *r, size_t id, bool cube3)
{
    (void)fprintf(out, "<region id=\"%zu\"", id);
    put(out, " mod=\"%s\"", r->module);
    (void)fprintf(out, " begin=\"%d\" end=\"%d\">\n", r->begin, r->end);
    put(out, "<name>%s</name>\n", r->name);
    if (!cube3) {
        put(out, "<mangled_name>%s</mangled_name>\n", r->mangled);
        put(out, "<paradigm>%s</paradigm>\n", r->paradigm);
        put(out, "<role>%s</role>\n", r->role);
    }
    (void)fputs("<url></url>\n<descr></descr>\n</region>\n", out);
}

static void open_node(FILE *out, const struct chil_exp_node *n, uint32_t id)
{
    (void)fprintf(out, "<cnode id=\"%" PRIu32 "\" calleeId=\"%d\"", id, n->region);
    if (n->line >= 0) (void)fprintf(out, " line=\"%d\"", n->line);
    if (*n->module) put(out, " mod=\"%s\"", n->module);
    (void)fputs(">\n", out);
}

static void write_program(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                          bool cube3)
{
    static const struct chil_exp_region all = {"all call paths", "all call paths", "", -1, -1,
                                               "measurement",    "artificial"};
    int open = CHIL_EXP_NONE;
    (void)fputs("<program>\n", out);
    for (size_t i = 0; i < exp->regions; i++)
        write_region(out, &exp->region[i], i, cube3);
    if (layout->synthetic_call) {
        write_region(out, &all, exp->regions, cube3);
        (void)fprintf(out, "<cnode id=\"0\" calleeId=\"%zu\">\n", exp->regions);
    }
    for (int n = CHIL_EXP_NONE;
         (n = exp_tree_next(&layout->node_tree, exp, exp_node_parent, n)) >= 0; open = n) {
        for (; open >= 0 && open != exp->node[n].parent; open = exp->node[open].parent)
            (void)fputs("</cnode>\n", out);
        open_node(out, &exp->node[n], layout->node_position[n]);
    }
    for (; open >= 0; open = exp->node[open].parent)
        (void)fputs("</cnode>\n", out);
    if (layout->synthetic_call) (void)fputs("</cnode>\n", out);
    (void)fputs("</program>\n", out);
}

/* --- System ---------------------------------------------------------------------------------- */

static const char *const closings[] = {"</systemtreenode>\n", "</systemtreenode>\n",
                                       "</locationgroup>\n", "</location>\n"};

static void open_place(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                       int place, int *nodes)
{
    static const char *const types[] = {
        [CHIL_EXP_PROCESS] = "process", [CHIL_EXP_THREAD] = "thread"};
    const struct chil_exp_place *p = &exp->place[place];
    if (p->level <= CHIL_EXP_NODE) {
        (void)fprintf(out, "<systemtreenode Id=\"%d\">\n", (*nodes)++);
        put(out, "<name>%s</name>\n", p->name);
        put(out, "<class>%s</class>\n", p->level == CHIL_EXP_MACHINE ? "machine" : "node");
        return;
    }
    if (p->level == CHIL_EXP_PROCESS)
        (void)fprintf(out, "<locationgroup Id=\"%d\">\n", layout->process_position[place]);
    else
        (void)fprintf(out, "<location Id=\"%" PRIu32 "\">\n", layout->thread_position[p->thread]);
    put(out, "<name>%s</name>\n", p->name);
    (void)fprintf(out, "<rank>%d</rank>\n<type>%s</type>\n", p->rank, types[p->level]);
}

static void write_places(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout)
{
    int open = CHIL_EXP_NONE, nodes = 0;
    if (layout->synthetic_system)
        (void)fprintf(
            out, "<systemtreenode Id=\"%d\">\n<name>all machines</name>\n<class>machine</class>\n",
            nodes++);
    for (int p = CHIL_EXP_NONE;
         (p = exp_tree_next(&layout->place_tree, exp, exp_place_parent, p)) >= 0;) {
        if (!layout->place_used[p]) continue;
        for (; open >= 0 && open != exp->place[p].parent; open = exp->place[open].parent)
            (void)fputs(closings[exp->place[open].level], out);
        open_place(out, exp, layout, p, &nodes);
        open = p;
    }
    for (; open >= 0; open = exp->place[open].parent)
        (void)fputs(closings[exp->place[open].level], out);
    if (layout->synthetic_system) (void)fputs("</systemtreenode>\n", out);
}

static bool is_inside(const struct chil_exp *exp, int place, int root)
{
    while (place >= 0 && place != root)
        place = exp->place[place].parent;
    return place >= 0;
}

static void write_process3(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                           int process)
{
    (void)fprintf(out, "<process Id=\"%d\">\n", layout->process_position[process]);
    put(out, "<name>%s</name>\n", exp->place[process].name);
    (void)fprintf(out, "<rank>%d</rank>\n", exp->place[process].rank);
    for (int t = layout->place_tree.first[process]; t >= 0; t = layout->place_tree.next[t]) {
        (void)fprintf(out, "<thread Id=\"%" PRIu32 "\">\n",
                      layout->thread_position[exp->place[t].thread]);
        put(out, "<name>%s</name>\n", exp->place[t].name);
        (void)fprintf(out, "<rank>%d</rank>\n</thread>\n", exp->place[t].rank);
    }
    (void)fputs("</process>\n", out);
}

/* CUBE 3 has four levels: a root is a machine, and what directly has processes a node in it. */
static void write_places3(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout)
{
    const struct exp_tree *tree = &layout->place_tree;
    int machines = 0, nodes = 0;
    for (int root = tree->first_root; root >= 0; root = tree->next[root]) {
        if (!layout->place_used[root]) continue;
        (void)fprintf(out, "<machine Id=\"%d\">\n", machines++);
        put(out, "<name>%s</name>\n", exp->place[root].name);
        for (int p = root; p >= 0 && is_inside(exp, p, root);
             p = exp_tree_next(tree, exp, exp_place_parent, p)) {
            int child = tree->first[p];
            while (child >= 0 && !layout->place_used[child])
                child = tree->next[child];
            if (child < 0 || exp->place[child].level != CHIL_EXP_PROCESS) continue;
            (void)fprintf(out, "<node Id=\"%d\">\n", nodes++);
            put(out, "<name>%s</name>\n", exp->place[p].name);
            for (; child >= 0 && exp->place[child].level == CHIL_EXP_PROCESS;
                 child = tree->next[child])
                if (layout->place_used[child]) write_process3(out, exp, layout, child);
            (void)fputs("</node>\n", out);
        }
        (void)fputs("</machine>\n", out);
    }
}

static void write_topology(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                           const struct chil_exp_topology *t, bool cube3)
{
    put(out, *t->name && !cube3 ? "<cart name=\"%s\"" : "<cart", t->name);
    (void)fprintf(out, " ndims=\"%u\">\n", t->dimensions);
    for (unsigned d = 0; d < t->dimensions; d++) {
        put(out, *t->dimension_name[d] && !cube3 ? "<dim name=\"%s\"" : "<dim",
            t->dimension_name[d]);
        (void)fprintf(out, " size=\"%d\" periodic=\"%s\"/>\n", t->size[d],
                      t->periodic[d] ? "true" : "false");
    }
    for (size_t i = 0; i < exp->threads; i++) {
        const int *coordinates = &t->coordinates[i * t->dimensions];
        if (coordinates[0] < 0) continue;
        (void)fprintf(out, "<coord %s=\"%" PRIu32 "\">", cube3 ? "thrdId" : "locId",
                      layout->thread_position[i]);
        for (unsigned d = 0; d < t->dimensions; d++)
            (void)fprintf(out, d ? " %d" : "%d", coordinates[d]);
        (void)fputs("</coord>\n", out);
    }
    (void)fputs("</cart>\n", out);
}

/* --- The whole ------------------------------------------------------------------------------- */

void exp_xml_write(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout,
                   bool cube3)
{
    (void)fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"%s\">\n",
                  cube3 ? "3.0" : "4.4");
    if (!chil_exp_attribute(exp, "Creator"))
        put_attribute(out, "Creator", "Chiliad " CHILIAD_VERSION);
    if (layout->synthetic_call || layout->synthetic_system)
        put_attribute(out, EXP_SYNTHETIC,
                      !layout->synthetic_system ? "call"
                      : layout->synthetic_call  ? "call system"
                                                : "system");
    for (size_t i = 0; i < exp->attributes; i++)
        put_attribute(out, exp->attribute[i].key, exp->attribute[i].value);
    for (size_t i = 0; cube3 && i < exp->metrics; i++)
        put_pedigree3(out, &exp->metric[i]);
    write_metrics(out, exp, layout, cube3);
    write_program(out, exp, layout, cube3);
    (void)fputs("<system>\n", out);
    if (cube3)
        write_places3(out, exp, layout);
    else
        write_places(out, exp, layout);
    if (exp->topologies) (void)fputs("<topologies>\n", out);
    for (size_t i = 0; i < exp->topologies; i++)
        write_topology(out, exp, layout, &exp->topology[i], cube3);
    if (exp->topologies) (void)fputs("</topologies>\n", out);
    (void)fputs("</system>\n", out);
    if (!cube3) (void)fputs("</cube>\n", out);
}

/* A number for each thread in the order of their ids. */
static void write_row(FILE *out, const struct chil_exp *exp, enum chil_exp_kind kind,
                      const struct chil_exp_cell *row)
{
    for (size_t t = 0; t < exp->threads; t++)
        if (kind == CHIL_EXP_COUNT)
            (void)fprintf(out, "%" PRId64 "\n", row[t].count);
        else
            (void)fprintf(out, "%.17g\n", row[t].real);
    (void)fputs("</row>\n", out);
}

void exp_xml_write_severity(FILE *out, const struct chil_exp *exp, const struct exp_layout *layout)
{
    struct chil_exp_cell *row = base_calloc(exp->threads, sizeof *row);
    (void)fputs("<severity>\n", out);
    for (size_t position = 0; position < exp->metrics; position++) {
        size_t count;
        int metric = layout->metric_at[position];
        const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
        (void)fprintf(out, "<matrix metricId=\"%zu\">\n", position);
        for (size_t i = 0; i < count;) {
            uint32_t node = cell[i].node;
            memset(row, 0, exp->threads * sizeof *row);
            for (; i < count && cell[i].node == node; i++)
                row[layout->thread_position[cell[i].thread]] = cell[i];
            (void)fprintf(out, "<row cnodeId=\"%" PRIu32 "\">\n", layout->node_position[node]);
            write_row(out, exp, exp->metric[metric].kind, row);
        }
        (void)fputs("</matrix>\n", out);
    }
    (void)fputs("</severity>\n</cube>\n", out);
    free(row);
}
