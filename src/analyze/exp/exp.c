/* Experiments in memory: the three trees and the metadata. Cells are in exp_cells.c. */
#include "analyze/exp/exp.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct exp_name {
    const char *name;
    int metric;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct exp_name *)a)->name, ((const struct exp_name *)b)->name);
}

static void keep_name(void *name)
{
    (void)name; /* it lives in the arena */
}

struct chil_exp *chil_exp_new(void)
{
    struct chil_exp *exp = base_calloc(1, sizeof *exp);
    exp->values = base_calloc(1, sizeof *exp->values);
    arena_init(&exp->values->arena);
    return exp;
}

void chil_exp_free(struct chil_exp *exp)
{
    if (!exp) return;
    for (size_t i = 0; i < exp->metrics; i++)
        free(exp->values->column[i].cell);
    for (size_t i = 0; i < exp->topologies; i++)
        free(exp->topology[i].coordinates);
    tdestroy(exp->values->names, keep_name);
    free(exp->values->column);
    arena_fini(&exp->values->arena);
    free(exp->values);
    free(exp->metric);
    free(exp->region);
    free(exp->node);
    free(exp->place);
    free(exp->thread);
    free(exp->attribute);
    free(exp->topology);
    free(exp);
}

void chil_exp_set_code(struct chil_exp *exp, const char *text, size_t size)
{
    exp->values->code = arena_strndup(&exp->values->arena, text, size);
    exp->values->code_size = size;
}

const char *chil_exp_code(const struct chil_exp *exp, size_t *size)
{
    *size = exp->values->code_size;
    return exp->values->code;
}

char *exp_text(struct chil_exp *exp, const char *text)
{
    return arena_strdup(&exp->values->arena, text ? text : "");
}

void exp_make_name(char *name)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:=";
    while (*(name += strspn(name, good)))
        *name++ = '_';
}

static int find_name(const struct chil_exp *exp, const char *name)
{
    struct exp_name key = {name, 0};
    struct exp_name **found = tfind(&key, &exp->values->names, compare_names);
    return found ? (*found)->metric : -1;
}

/* --- Building -------------------------------------------------------------------------------- */

static bool is_parent(int parent, size_t count)
{
    return parent == CHIL_EXP_NONE || (parent >= 0 && (size_t)parent < count);
}

int chil_exp_add_metric(struct chil_exp *exp, const struct chil_exp_metric *metric)
{
    struct chil_exp_values *v = exp->values;
    if (!metric->name || !*metric->name || !is_parent(metric->parent, exp->metrics)) return -1;
    char *name = exp_text(exp, metric->name);
    exp_make_name(name);
    if (find_name(exp, name) >= 0) return -1;
    exp->metric = base_grow(exp->metric, &v->metric_room, exp->metrics + 1, sizeof *exp->metric);
    v->column = base_grow(v->column, &v->column_room, exp->metrics + 1, sizeof *v->column);
    int index = (int)exp->metrics++;
    struct chil_exp_metric *m = &exp->metric[index];
    *m = *metric;
    m->name = name;
    m->title = exp_text(exp, metric->title && *metric->title ? metric->title : metric->name);
    m->unit = exp_text(exp, metric->unit);
    m->text = exp_text(exp, metric->text);
    m->formula = exp_text(exp, metric->formula);
    m->exactness = exp_text(exp, metric->exactness);
    if (!m->runs) m->runs = 1;
    v->column[index] = (struct exp_column){0};
    struct exp_name *entry = arena_calloc(&v->arena, 1, sizeof *entry);
    *entry = (struct exp_name){name, index};
    (void)tsearch(entry, &v->names, compare_names);
    return index;
}

int chil_exp_add_region(struct chil_exp *exp, const struct chil_exp_region *region)
{
    exp->region =
        base_grow(exp->region, &exp->values->region_room, exp->regions + 1, sizeof *exp->region);
    struct chil_exp_region *r = &exp->region[exp->regions];
    *r = *region;
    r->name = exp_text(exp, region->name);
    r->mangled =
        exp_text(exp, region->mangled && *region->mangled ? region->mangled : region->name);
    r->module = exp_text(exp, region->module);
    r->paradigm =
        exp_text(exp, region->paradigm && *region->paradigm ? region->paradigm : "compiler");
    r->role = exp_text(exp, region->role && *region->role ? region->role : "function");
    return (int)exp->regions++;
}

int chil_exp_add_node(struct chil_exp *exp, int parent, int region, int line, const char *module)
{
    if (!is_parent(parent, exp->nodes) || region < 0 || (size_t)region >= exp->regions) return -1;
    exp->node = base_grow(exp->node, &exp->values->node_room, exp->nodes + 1, sizeof *exp->node);
    exp->node[exp->nodes] = (struct chil_exp_node){parent, region, line, exp_text(exp, module)};
    return (int)exp->nodes++;
}

void chil_exp_set_call(struct chil_exp *exp, int node, int line, const char *module)
{
    if (node < 0 || (size_t)node >= exp->nodes) return;
    exp->node[node].line = line;
    exp->node[node].module = exp_text(exp, module);
}

/* Threads are in processes, processes in nodes or machines; nodes may be in nodes (racks, boards).
 */
static bool place_fits(const struct chil_exp *exp, int parent, enum chil_exp_level level)
{
    if (parent == CHIL_EXP_NONE) return level <= CHIL_EXP_NODE;
    enum chil_exp_level above = exp->place[parent].level;
    if (level == CHIL_EXP_THREAD) return above == CHIL_EXP_PROCESS;
    return level != CHIL_EXP_MACHINE && above <= CHIL_EXP_NODE;
}

/* A thread that comes after topologies has no coordinates. */
static void extend_topologies(struct chil_exp *exp)
{
    for (size_t i = 0; i < exp->topologies; i++) {
        struct chil_exp_topology *t = &exp->topology[i];
        size_t had = (exp->threads - 1) * t->dimensions, room = had;
        t->coordinates =
            base_grow(t->coordinates, &room, had + t->dimensions, sizeof *t->coordinates);
        for (unsigned d = 0; d < t->dimensions; d++)
            t->coordinates[had + d] = -1;
    }
}

int chil_exp_add_place(struct chil_exp *exp, int parent, enum chil_exp_level level,
                       const char *name, int rank)
{
    struct chil_exp_values *v = exp->values;
    if (!is_parent(parent, exp->places) || !place_fits(exp, parent, level) || rank < 0) return -1;
    exp->place = base_grow(exp->place, &v->place_room, exp->places + 1, sizeof *exp->place);
    int thread = -1;
    if (level == CHIL_EXP_THREAD) {
        exp->thread =
            base_grow(exp->thread, &v->thread_room, exp->threads + 1, sizeof *exp->thread);
        exp->thread[exp->threads] = (int)exp->places;
        thread = (int)exp->threads++;
        extend_topologies(exp);
    }
    exp->place[exp->places] =
        (struct chil_exp_place){exp_text(exp, name), level, parent, rank, thread};
    return (int)exp->places++;
}

static struct chil_exp_attribute *find_attribute(const struct chil_exp *exp, const char *key)
{
    for (size_t i = 0; i < exp->attributes; i++)
        if (strcmp(exp->attribute[i].key, key) == 0) return &exp->attribute[i];
    return NULL;
}

void chil_exp_set_attribute(struct chil_exp *exp, const char *key, const char *value)
{
    struct chil_exp_attribute *found = find_attribute(exp, key);
    if (found) {
        found->value = exp_text(exp, value);
        return;
    }
    exp->attribute = base_grow(exp->attribute, &exp->values->attribute_room, exp->attributes + 1,
                               sizeof *exp->attribute);
    exp->attribute[exp->attributes++] =
        (struct chil_exp_attribute){exp_text(exp, key), exp_text(exp, value)};
}

const char *chil_exp_attribute(const struct chil_exp *exp, const char *key)
{
    const struct chil_exp_attribute *found = find_attribute(exp, key);
    return found ? found->value : NULL;
}

int chil_exp_add_topology(struct chil_exp *exp, const struct chil_exp_topology *topology)
{
    struct chil_exp_topology copy = *topology;
    if (!copy.dimensions || copy.dimensions > sizeof copy.size / sizeof *copy.size) return -1;
    copy.name = exp_text(exp, topology->name);
    for (unsigned d = 0; d < copy.dimensions; d++)
        copy.dimension_name[d] = exp_text(exp, topology->dimension_name[d]);
    size_t coordinates = exp->threads * copy.dimensions;
    copy.coordinates = base_calloc(coordinates, sizeof *copy.coordinates);
    if (coordinates)
        memcpy(copy.coordinates, topology->coordinates, coordinates * sizeof *copy.coordinates);
    exp->topology = base_grow(exp->topology, &exp->values->topology_room, exp->topologies + 1,
                              sizeof *exp->topology);
    exp->topology[exp->topologies] = copy;
    return (int)exp->topologies++;
}

/* --- Queries ---------------------------------------------------------------------------------- */

int chil_exp_find_metric(const struct chil_exp *exp, const char *name)
{
    int found = find_name(exp, name);
    for (size_t i = 0; found < 0 && i < exp->metrics; i++)
        if (strcmp(exp->metric[i].title, name) == 0) found = (int)i;
    return found;
}

void chil_exp_range(const struct chil_exp *exp, int metric, double *low, double *high)
{
    const struct chil_exp_metric *m = &exp->metric[metric];
    bool single = m->runs <= 1;
    double total = single ? chil_exp_sum(exp, metric, CHIL_EXP_NONE, false, -1) : 0;
    *low = single ? total : m->low;
    *high = single ? total : m->high;
}

/* --- Trees as lists of children -------------------------------------------------------------- */

int exp_metric_parent(const struct chil_exp *exp, size_t index)
{
    return exp->metric[index].parent;
}

int exp_node_parent(const struct chil_exp *exp, size_t index)
{
    return exp->node[index].parent;
}

int exp_place_parent(const struct chil_exp *exp, size_t index)
{
    return exp->place[index].parent;
}

void exp_tree_init(struct exp_tree *tree, const struct chil_exp *exp, size_t count,
                   exp_parent_of parent_of)
{
    tree->first = base_calloc(count, sizeof *tree->first);
    tree->next = base_calloc(count, sizeof *tree->next);
    tree->first_root = CHIL_EXP_NONE;
    for (size_t i = 0; i < count; i++)
        tree->first[i] = CHIL_EXP_NONE;
    for (size_t i = count; i-- > 0;) { /* backwards, so that lists are in the rows' order */
        int parent = parent_of(exp, i);
        int *head = parent < 0 ? &tree->first_root : &tree->first[parent];
        tree->next[i] = *head;
        *head = (int)i;
    }
}

void exp_tree_fini(struct exp_tree *tree)
{
    free(tree->first);
    free(tree->next);
}

int exp_tree_next(const struct exp_tree *tree, const struct chil_exp *exp, exp_parent_of parent_of,
                  int at)
{
    if (at < 0) return tree->first_root;
    if (tree->first[at] >= 0) return tree->first[at];
    while (at >= 0 && tree->next[at] < 0)
        at = parent_of(exp, (size_t)at);
    return at < 0 ? CHIL_EXP_NONE : tree->next[at];
}
