#include "exp_random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { BASES = 5, REALS = 2, METRICS = 10, LINE = 4096 };

static const struct {
    const char *name, *formula;
    int parent; /* in this table */
    enum chil_exp_origin origin;
    bool real;
} table[METRICS] = {
    {"ALL", "SUM + B2", -1, CHIL_EXP_COMPOSED, false},
    {"SUM", "B0 + B1", 0, CHIL_EXP_COMPOSED, false},
    {"B0", "", 1, CHIL_EXP_MEASURED, false},
    {"B1", "", 1, CHIL_EXP_MEASURED, false},
    {"B2", "", 0, CHIL_EXP_MEASURED, false},
    {"B3", "", -1, CHIL_EXP_MEASURED, false},
    {"B$4", "", -1, CHIL_EXP_MEASURED, false},
    {"LESS", "B3 - B$4", -1, CHIL_EXP_COMPUTED, false},
    {"R0", "", -1, CHIL_EXP_MEASURED, true},
    {"R1", "", -1, CHIL_EXP_MEASURED, true},
};

static void add_tree(struct chil_exp *exp, uint64_t *state)
{
    static const char *const modules[] = {"a.c", "b.c"};
    char name[16];
    for (int i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        (void)chil_exp_add_region(
            exp, &(struct chil_exp_region){
                     .name = name, .module = (char *)modules[i & 1], .begin = i, .end = i + 3});
    }
    size_t nodes = 1 + random_below(state, 12);
    for (size_t i = 0; i < nodes; i++) {
        int parent =
            i == 0 || random_below(state, 6) == 0 ? -1 : (int)random_below(state, exp->nodes);
        int region = (int)random_below(state, 5), line = (int)random_below(state, 3) - 1;
        bool duplicate = false;
        for (size_t k = 0; k < exp->nodes; k++)
            duplicate |= exp->node[k].parent == parent && exp->node[k].region == region &&
                         exp->node[k].line == line;
        if (!duplicate) (void)chil_exp_add_node(exp, parent, region, line, modules[region & 1]);
    }
}

static void add_system(struct chil_exp *exp, uint64_t *state)
{
    int machine = chil_exp_add_place(exp, -1, CHIL_EXP_MACHINE, "machine", 0);
    int node = chil_exp_add_place(exp, machine, CHIL_EXP_NODE, "node <0> & more", 0);
    size_t processes = 1 + random_below(state, 3);
    for (size_t p = 0; p < processes; p++) {
        int process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "process", (int)p);
        size_t threads = 1 + random_below(state, 3);
        for (size_t t = 0; t < threads; t++)
            (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "thread", (int)t);
    }
}

static void add_cells(struct chil_exp *exp, uint64_t *state, int metric, bool real)
{
    size_t cells = random_below(state, 2 * exp->nodes * exp->threads);
    for (size_t i = 0; i < cells; i++) {
        int node = (int)random_below(state, exp->nodes),
            thread = (int)random_below(state, exp->threads);
        int64_t value = (int64_t)random_below(state, 1000);
        if (real)
            chil_exp_add_real(exp, metric, node, thread, (double)value / 8);
        else
            chil_exp_add_count(exp, metric, node, thread, value);
    }
}

/* The sum of the parts that are there; returns whether all are. */
static bool derive(struct chil_exp *exp, int metric, const char *formula)
{
    char copy[64], *rest = copy;
    int sign = 1;
    bool whole = true;
    (void)snprintf(copy, sizeof copy, "%s", formula);
    for (char *word; (word = strsep(&rest, " "));) {
        if (strcmp(word, "+") == 0 || strcmp(word, "-") == 0) {
            sign = *word == '-' ? -1 : 1;
            continue;
        }
        int part = chil_exp_find_metric(exp, word);
        size_t count = 0;
        const struct chil_exp_cell *cell = part < 0 ? NULL : chil_exp_cells(exp, part, &count);
        whole = whole && part >= 0 && !exp->metric[part].partial;
        for (size_t i = 0; i < count; i++)
            chil_exp_add_count(exp, metric, (int)cell[i].node, (int)cell[i].thread,
                               sign * cell[i].count);
    }
    return whole;
}

struct chil_exp *exp_random(uint64_t *state)
{
    struct chil_exp *exp = chil_exp_new();
    int added[METRICS];
    bool used[METRICS];
    add_tree(exp, state);
    add_system(exp, state);
    for (int i = 0; i < METRICS; i++)
        used[i] = random_below(state, 4) != 0;
    used[8] |= !used[9];
    used[0] = used[0] && (used[1] || used[4]);
    used[1] = used[1] && (used[2] || used[3]);
    used[7] = used[7] && used[5] && used[6]; /* partial computations are dropped */
    for (int i = 0; i < METRICS; i++) {
        added[i] = -1;
        if (!used[i]) continue;
        struct chil_exp_metric metric = {.name = (char *)table[i].name,
                                         .unit = "occ",
                                         .formula = (char *)table[i].formula,
                                         .exactness = "exact",
                                         .parent =
                                             table[i].parent < 0 ? -1 : added[table[i].parent],
                                         .origin = table[i].origin,
                                         .derived = i == 7,
                                         .kind = table[i].real ? CHIL_EXP_REAL : CHIL_EXP_COUNT};
        added[i] = chil_exp_add_metric(exp, &metric);
        if (!*table[i].formula) add_cells(exp, state, added[i], table[i].real);
    }
    static const int derived[] = {1, 0, 7}; /* parts first */
    for (int k = 0; k < 3; k++)
        if (used[derived[k]])
            exp->metric[added[derived[k]]].partial =
                !derive(exp, added[derived[k]], table[derived[k]].formula);
    chil_exp_set_attribute(exp, "machine", "bgp");
    return exp;
}

/* --- Text ------------------------------------------------------------------------------------ */

static void write_path(FILE *out, const struct chil_exp *exp, int node)
{
    int steps[256], depth = 0;
    for (int n = node; n >= 0 && depth < 256; n = exp->node[n].parent)
        steps[depth++] = n;
    while (depth-- > 0) {
        const struct chil_exp_node *n = &exp->node[steps[depth]];
        (void)fprintf(out, "/%s|%s|%d", exp->region[n->region].name, exp->region[n->region].module,
                      n->line);
    }
}

static void write_value(FILE *out, enum chil_exp_kind kind, const struct chil_exp_cell *cell)
{
    if (kind == CHIL_EXP_COUNT)
        (void)fprintf(out, " %" PRId64 "\n", cell->count);
    else if (fabs(cell->real) < 1e15 && cell->real == floor(cell->real))
        (void)fprintf(out, " %.0f\n", cell->real);
    else
        (void)fprintf(out, " %.17g\n", cell->real);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *exp_sort_lines(char *text)
{
    size_t count = 0, size = strlen(text), at = 0;
    for (const char *c = text; *c; c++)
        count += *c == '\n';
    char **line = calloc(count + 1, sizeof *line), *sorted = calloc(size + 1, 1), *rest = text;
    for (size_t i = 0; i < count; i++)
        line[i] = strsep(&rest, "\n");
    qsort(line, count, sizeof *line, compare_lines);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(sorted + at, size + 1 - at, "%s\n", line[i]);
    free(line);
    free(text);
    return sorted;
}

char *exp_dump_of(const struct chil_exp *exp, const char *names)
{
    char *text = NULL, name[LINE];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t m = 0; m < exp->metrics; m++) {
        size_t count;
        const struct chil_exp_cell *cell = chil_exp_cells(exp, (int)m, &count);
        (void)snprintf(name, sizeof name, " %s ", exp->metric[m].name);
        for (size_t i = 0; (!names || strstr(names, name)) && i < count; i++) {
            const struct chil_exp_place *t = &exp->place[exp->thread[cell[i].thread]];
            (void)fprintf(out, "%s ", exp->metric[m].name);
            write_path(out, exp, (int)cell[i].node);
            (void)fprintf(out, " %d.%d", exp->place[t->parent].rank, t->rank);
            write_value(out, exp->metric[m].kind, &cell[i]);
        }
    }
    (void)fclose(out);
    return exp_sort_lines(text);
}

char *exp_dump(const struct chil_exp *exp)
{
    return exp_dump_of(exp, NULL);
}
