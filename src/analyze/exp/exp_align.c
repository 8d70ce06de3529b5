#include "analyze/exp/exp_align.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* --- Indices --------------------------------------------------------------------------------- */

struct index_entry {
    int key[4], value;
};

static int compare_entries(const void *a, const void *b)
{
    const struct index_entry *x = a, *y = b;
    for (int i = 0; i < 4; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static void keep(void *entry)
{
    (void)entry; /* it lives in an arena */
}

void exp_index_init(struct exp_index *index)
{
    index->root = NULL;
    arena_init(&index->arena);
}

void exp_index_fini(struct exp_index *index)
{
    tdestroy(index->root, keep);
    arena_fini(&index->arena);
}

int *exp_index_at(struct exp_index *index, int a, int b, int c, int d)
{
    struct index_entry key = {{a, b, c, d}, -1},
                       **found = tfind(&key, &index->root, compare_entries);
    if (found) return &(*found)->value;
    struct index_entry *made = arena_calloc(&index->arena, 1, sizeof *made);
    *made = key;
    (void)tsearch(made, &index->root, compare_entries);
    return &made->value;
}

/* How often this input had the key before. */
static int occurrence(struct exp_index *seen, int a, int b, int c)
{
    int *count = exp_index_at(seen, a, b, c, 0);
    return ++*count;
}

/* Texts as numbers: the same text, the same number. */
struct word {
    const char *text;
    int number;
};
struct words {
    void *root;
    struct arena arena;
    int count;
};

static int compare_words(const void *a, const void *b)
{
    return strcmp(((const struct word *)a)->text, ((const struct word *)b)->text);
}

static int word_number(struct words *words, const char *text)
{
    struct word key = {text, words->count}, **found = tfind(&key, &words->root, compare_words);
    if (found) return (*found)->number;
    struct word *made = arena_calloc(&words->arena, 1, sizeof *made);
    *made = (struct word){text, words->count}; /* texts live as long as the inputs */
    (void)tsearch(made, &words->root, compare_words);
    return words->count++;
}

/* --- Metrics --------------------------------------------------------------------------------- */

/* Collects all names, with the parent from the first input that has one; then adds them to the
 * result, parents first. */

struct wanted {
    const struct chil_exp_metric *metric; /* as the first input has it */
    int parent;                           /* in this list */
    int result;                           /* -1: not added yet */
    size_t inputs;                        /* that have it */
    bool waits;                           /* on the way up from a child */
};

struct pool {
    struct wanted *wanted;
    size_t count, room, needs; /* needs: inputs that must have a metric */
};

static void collect_metrics(struct pool *pool, struct words *words, int **in,
                            const struct chil_exp *exp)
{
    *in = base_calloc(exp->metrics, sizeof **in);
    for (size_t m = 0; m < exp->metrics; m++) {
        const struct chil_exp_metric *metric = &exp->metric[m];
        int at = word_number(words, metric->name);
        if ((size_t)at >= pool->count) {
            pool->wanted =
                base_grow(pool->wanted, &pool->room, pool->count + 1, sizeof *pool->wanted);
            pool->wanted[pool->count++] = (struct wanted){metric, -1, -1, 0, false};
        }
        assert(pool->wanted);
        pool->wanted[at].inputs++;
        if (metric->parent >= 0 && pool->wanted[at].parent < 0)
            pool->wanted[at].parent = (*in)[metric->parent];
        (*in)[m] = at;
    }
}

/* Adds a metric below its nearest ancestor in the result. Inputs may contradict each other: a cycle
 * of parents is cut. */
static void add_metric(struct pool *pool, struct chil_exp *result, int at, int *path)
{
    size_t depth = 0;
    int parent = -1;
    for (int up = at; up >= 0 && !pool->wanted[up].waits; up = pool->wanted[up].parent) {
        struct wanted *w = &pool->wanted[up];
        if (w->result >= 0) {
            parent = w->result;
            break;
        }
        w->waits = true;
        path[depth++] = up;
    }
    while (depth-- > 0) {
        struct wanted *w = &pool->wanted[path[depth]];
        w->waits = false;
        if (w->inputs < pool->needs) continue;
        struct chil_exp_metric metric = *w->metric;
        metric.parent = parent;
        metric.runs = 1;
        metric.low = metric.high = 0;
        parent = w->result = chil_exp_add_metric(result, &metric);
    }
}

static void align_metrics(struct exp_aligned *aligned, struct words *words, bool common)
{
    struct pool pool = {.needs = common ? aligned->sources : 1};
    for (size_t i = 0; i < aligned->sources; i++)
        collect_metrics(&pool, words, &aligned->source[i].metric, aligned->source[i].exp);
    int *path = base_calloc(pool.count, sizeof *path);
    for (size_t at = 0; at < pool.count; at++)
        if (pool.wanted[at].result < 0) add_metric(&pool, aligned->exp, (int)at, path);
    size_t metrics = aligned->exp->metrics;
    aligned->in = base_calloc(aligned->sources * metrics, sizeof *aligned->in);
    for (size_t i = 0; i < aligned->sources * metrics; i++)
        aligned->in[i] = -1;
    for (size_t i = 0; i < aligned->sources; i++)
        for (size_t m = 0; m < aligned->source[i].exp->metrics; m++) {
            int to = pool.wanted[aligned->source[i].metric[m]].result;
            aligned->source[i].metric[m] = to;
            if (to >= 0) aligned->in[i * metrics + (size_t)to] = (int)m;
        }
    free(path);
    free(pool.wanted);
}

/* --- Call paths ------------------------------------------------------------------------------ */

struct paths {
    struct exp_index region; /* result regions by name, module and first line, and by name, module
                                and number */
    struct exp_index node, seen;
    struct words *words;
    bool by_name, by_line;
    bool one_root; /* by name, and each input has one root: the program, whatever its name */
    int root;      /* its region in the result */
    size_t input, *last_input; /* by region of the result: 1 + the last input that has it */
    size_t last_input_room;
};

/* Whether the line of a call distinguishes call paths, as in CUBE. An experiment with one node for
 * all calls of a function by another has the line of the most frequent call. */
static bool has_lines(const struct chil_exp *exp)
{
    const char *sites = chil_exp_attribute(exp, "call_sites");
    return !sites || strcmp(sites, "merged") != 0;
}

static bool has_one_root(const struct chil_exp *exp)
{
    size_t roots = 0;
    for (size_t i = 0; i < exp->nodes; i++)
        roots += exp->node[i].parent < 0;
    return roots == 1;
}

static bool is_taken(const struct paths *paths, int region)
{
    return region >= 0 && paths->last_input[region] == paths->input + 1;
}

/* The region of the result that a region of an input is: the one of its name, module and first
 * line, else the next of its name and module that no other region of this input is, else a new one.
 */
static int align_region(struct chil_exp *result, const struct chil_exp_region *region,
                        struct paths *paths)
{
    enum { NUMBERED, LINED };
    int name = word_number(paths->words, region->name),
        module = word_number(paths->words, region->module), any = paths->by_name ? -1 : module;
    int *at = exp_index_at(&paths->region, name, module, region->begin, LINED), *lined = at;
    if (*at < 0 || is_taken(paths, *at)) {
        int *number = exp_index_at(&paths->seen, name, any, 0, 1);
        do {
            at = exp_index_at(&paths->region, name, any, ++*number, NUMBERED);
        } while (is_taken(paths, *at));
    }
    if (*at < 0) {
        *at = chil_exp_add_region(result, region);
        paths->last_input = base_grow(paths->last_input, &paths->last_input_room, result->regions,
                                      sizeof *paths->last_input);
    }
    if (*lined < 0) *lined = *at;
    paths->last_input[*at] = paths->input + 1;
    return *at;
}

static void align_nodes(struct chil_exp *result, struct exp_source *source, struct paths *paths)
{
    const struct chil_exp *exp = source->exp;
    struct exp_index seen;
    int *region =
        base_calloc(exp->regions, sizeof *region); /* of the result, plus 1; 0: not met yet */
    exp_index_init(&seen);
    exp_index_init(&paths->seen);
    source->node = base_calloc(exp->nodes, sizeof *source->node);
    for (size_t i = 0; i < exp->nodes; i++) {
        const struct chil_exp_node *n = &exp->node[i];
        if (!region[n->region])
            region[n->region] = 1 + align_region(result, &exp->region[n->region], paths);
        int parent = n->parent < 0 ? -1 : source->node[n->parent], callee = region[n->region] - 1;
        if (paths->one_root && parent < 0) {
            if (paths->root < 0) paths->root = callee;
            callee = paths->root;
        }
        int line = paths->by_line ? n->line : 0;
        int *at = exp_index_at(&paths->node, parent, callee, line,
                               occurrence(&seen, parent, callee, line));
        if (*at < 0)
            *at = chil_exp_add_node(result, parent, callee, n->line, n->module);
        else if (n->line != result->node[*at].line ||
                 strcmp(n->module, result->node[*at].module) != 0)
            chil_exp_set_call(result, *at, -1, NULL);
        source->node[i] = *at;
    }
    exp_index_fini(&seen);
    exp_index_fini(&paths->seen);
    free(region);
}

/* --- Places ---------------------------------------------------------------------------------- */

struct system {
    struct exp_index upper, process, thread;
    struct words *words;
};

/* Which process of the result each of the input's is (*: -1 new), and which places above new ones
 * are needed. */
static void match_processes(const struct chil_exp *exp, struct system *system, int **process,
                            bool *needed)
{
    struct exp_index seen;
    exp_index_init(&seen);
    for (size_t i = 0; i < exp->places; i++) {
        const struct chil_exp_place *p = &exp->place[i];
        if (p->level != CHIL_EXP_PROCESS) continue;
        process[i] =
            exp_index_at(&system->process, p->rank, occurrence(&seen, p->rank, 0, 0), 0, 0);
        for (int up = p->parent; *process[i] < 0 && up >= 0 && !needed[up];
             up = exp->place[up].parent)
            needed[up] = true;
    }
    exp_index_fini(&seen);
}

static void align_places(struct chil_exp *result, struct exp_source *source, struct system *system)
{
    const struct chil_exp *exp = source->exp;
    int **process = base_calloc(exp->places, sizeof *process),
        *place = base_calloc(exp->places, sizeof *place);
    bool *needed = base_calloc(exp->places, sizeof *needed);
    struct exp_index seen;
    exp_index_init(&seen);
    match_processes(exp, system, process, needed);
    source->thread = base_calloc(exp->threads, sizeof *source->thread);
    for (size_t i = 0; i < exp->places; i++) {
        const struct chil_exp_place *p = &exp->place[i];
        int parent = p->parent < 0 ? -1 : place[p->parent], new_place = -1, *at = process[i];
        if (p->level == CHIL_EXP_THREAD)
            at = exp_index_at(&system->thread, parent, p->rank,
                              occurrence(&seen, parent, p->rank, 0), 0);
        else if (p->level <= CHIL_EXP_NODE && needed[i])
            at = exp_index_at(&system->upper, parent, (int)p->level,
                              word_number(system->words, p->name), 0);
        if (!at)
            at = &new_place; /* above processes that are matched elsewhere */
        else if (*at < 0)
            *at = chil_exp_add_place(result, parent, p->level, p->name, p->rank);
        place[i] = *at;
        if (p->thread >= 0) source->thread[p->thread] = result->place[*at].thread;
    }
    exp_index_fini(&seen);
    free(needed);
    free(place);
    free(process);
}

/* --- Topologies and attributes --------------------------------------------------------------- */

static struct chil_exp_topology *find_topology(struct chil_exp *exp,
                                               const struct chil_exp_topology *like)
{
    for (size_t i = 0; i < exp->topologies; i++)
        if (strcmp(exp->topology[i].name, like->name) == 0) return &exp->topology[i];
    return NULL;
}

/* Topologies match by name. The first input's coordinates win; others add threads it lacks. */
static void align_topology(struct chil_exp *result, const struct exp_source *source,
                           const struct chil_exp_topology *t)
{
    struct chil_exp_topology *to = find_topology(result, t);
    if (!to) {
        struct chil_exp_topology empty = *t;
        size_t count = result->threads * t->dimensions;
        empty.coordinates = base_calloc(count, sizeof *empty.coordinates);
        for (size_t i = 0; i < count; i++)
            empty.coordinates[i] = -1;
        (void)chil_exp_add_topology(result, &empty);
        free(empty.coordinates);
        to = &result->topology[result->topologies - 1];
    }
    if (to->dimensions != t->dimensions) return;
    for (size_t i = 0; i < source->exp->threads; i++) {
        int *there = &to->coordinates[(size_t)source->thread[i] * t->dimensions];
        if (there[0] < 0)
            memcpy(there, &t->coordinates[i * t->dimensions], t->dimensions * sizeof *there);
    }
}

static bool has_part(const char *list, const char *part, size_t length)
{
    for (const char *at = list; at; at = strstr(at, "; ") ? strstr(at, "; ") + 2 : NULL)
        if (strncmp(at, part, length) == 0 && (!at[length] || strncmp(at + length, "; ", 2) == 0))
            return true;
    return false;
}

/* Values that differ stand beside each other, each once: "a; b". */
static void align_attribute(struct chil_exp *result, const struct chil_exp_attribute *attribute)
{
    const char *old = chil_exp_attribute(result, attribute->key);
    if (!old) {
        chil_exp_set_attribute(result, attribute->key, attribute->value);
        return;
    }
    for (const char *at = attribute->value; at;) {
        const char *end = strstr(at, "; ");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        old = chil_exp_attribute(result, attribute->key);
        if (!has_part(old, at, length)) {
            size_t size = strlen(old) + length + 3;
            char *both = base_calloc(size, 1);
            (void)snprintf(both, size, "%s; %.*s", old, (int)length, at);
            chil_exp_set_attribute(result, attribute->key, both);
            free(both);
        }
        at = end ? end + 2 : NULL;
    }
}

/* --- The whole ------------------------------------------------------------------------------- */

void exp_align(struct exp_aligned *aligned, const struct chil_exp *const *input, size_t inputs,
               const struct chil_exp_align *align, bool common)
{
    struct words names = {0}, words = {0};
    struct paths paths = {.words = &words, .by_name = align && align->by_name, .root = -1};
    struct system system = {.words = &words};
    enum { INDICES = 5 };
    struct exp_index *index[INDICES] = {&paths.region, &paths.node, &system.upper, &system.process,
                                        &system.thread};
    for (size_t i = 0; i < inputs && !paths.by_name && !paths.by_line; i++)
        paths.by_line = has_lines(input[i]);
    paths.one_root = paths.by_name;
    for (size_t i = 0; i < inputs; i++)
        paths.one_root &= has_one_root(input[i]);
    *aligned = (struct exp_aligned){chil_exp_new(), base_calloc(inputs, sizeof *aligned->source),
                                    inputs, NULL};
    for (size_t i = 0; i < INDICES; i++)
        exp_index_init(index[i]);
    for (size_t i = 0; i < inputs; i++)
        aligned->source[i].exp = input[i];
    align_metrics(aligned, &names, common);
    for (size_t i = 0; i < inputs; i++) {
        paths.input = i;
        align_nodes(aligned->exp, &aligned->source[i], &paths);
        align_places(aligned->exp, &aligned->source[i], &system);
        for (size_t a = 0; a < input[i]->attributes; a++)
            align_attribute(aligned->exp, &input[i]->attribute[a]);
    }
    for (size_t i = 0; i < inputs; i++)
        for (size_t t = 0; t < input[i]->topologies; t++)
            align_topology(aligned->exp, &aligned->source[i], &input[i]->topology[t]);
    for (size_t i = 0; i < INDICES; i++)
        exp_index_fini(index[i]);
    free(paths.last_input);
    tdestroy(names.root, keep);
    tdestroy(words.root, keep);
    arena_fini(&names.arena);
    arena_fini(&words.arena);
}

void exp_aligned_fini(struct exp_aligned *aligned)
{
    for (size_t i = 0; i < aligned->sources; i++) {
        free(aligned->source[i].metric);
        free(aligned->source[i].node);
        free(aligned->source[i].thread);
    }
    free(aligned->source);
    free(aligned->in);
}

struct exp_column exp_aligned_cells(const struct exp_aligned *aligned, size_t source, int metric)
{
    const struct exp_source *from = &aligned->source[source];
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(from->exp, metric, &count);
    struct exp_column column = {base_calloc(count, sizeof *cell), count, count, true};
    for (size_t i = 0; i < count; i++) {
        column.cell[i] = cell[i];
        column.cell[i].node = (uint32_t)from->node[cell[i].node];
        column.cell[i].thread = (uint32_t)from->thread[cell[i].thread];
    }
    exp_normalize(&column, from->exp->metric[metric].kind);
    return column;
}
