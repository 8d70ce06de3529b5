/* The call tree of a recorded run. Paths with the same symbols are one node, whichever thread took
 * them on whichever core. What the user does not want to see counts in the node above, and so do
 * these:
 *   - what is deeper than the limit;
 *   - a function inside a region of the user's counts as the region;
 *   - a function inside a call of MPI counts as the call, unless `record_inside_mpi`;
 *   - a stub of a procedure linkage table counts as the function that it leads to.
 *
 * A function that is called at several places of its caller is one node, as with Score-P; where it
 * was called most often is the node's call site. Constructs of OpenMP are called after their place
 * in the source, so each place is a node.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/observe/observe_roles.h"
#include "run/run_calls_impl.h"

/* --- Regions --------------------------------------------------------------------------------- */

uint32_t run_calls_address(const struct record_function *f, uint32_t pc)
{
    const struct observe_symbol *symbol = f->symbol;
    return pc - f->low + (f->low == f->high ? symbol->address : f->address);
}

static const char *object_of(const struct observe_symbol *symbol)
{
    return symbol->object ? observe_object_path(symbol->object) : "";
}

/* Each node has read the symbols of its program itself. */
static bool is_same_symbol(const struct run_calls *c, const struct run_region *a,
                           const struct run_region *b)
{
    if (c->run->node_count == 1) return a->symbol == b->symbol;
    return a->address == b->address && strcmp(a->name, b->name) == 0 &&
           strcmp(a->object, b->object) == 0;
}

static bool is_same_construct(const struct run_region *a, const struct run_region *b)
{
    if (strcmp(a->construct, b->construct) != 0 || a->line != b->line) return false;
    return a->file ? b->file && strcmp(a->file, b->file) == 0 : !b->file;
}

int run_region_find(const struct run_calls *c, const struct run_region *wanted)
{
    for (size_t i = 0; i < c->region_count; i++) {
        const struct run_region *r = &c->regions[i];
        if (r->kind != wanted->kind || !r->construct != !wanted->construct) continue;
        if (r->construct && wanted->construct ? is_same_construct(r, wanted)
                                              : is_same_symbol(c, r, wanted))
            return r->region;
    }
    return -1;
}

int run_region_add(struct run_calls *c, const struct run_region *like,
                   const struct chil_exp_region *shown)
{
    c->regions =
        base_grow(c->regions, &c->region_capacity, c->region_count + 1, sizeof *c->regions);
    c->regions[c->region_count] = *like;
    return c->regions[c->region_count++].region = chil_exp_add_region(c->exp, shown);
}

static struct run_region region_of(const struct observe_symbol *symbol, enum record_kind kind)
{
    return (struct run_region){.symbol = symbol,
                               .name = symbol->name,
                               .object = object_of(symbol),
                               .address = symbol->address,
                               .kind = kind};
}

static int region_get(struct run_calls *c, const struct observe_symbol *symbol,
                      enum record_kind kind)
{
    const struct run_region wanted = region_of(symbol, kind);
    int found = run_region_find(c, &wanted);
    if (found >= 0) return found;
    char module[4096];
    const struct observe_role *role =
        kind == RECORD_CALL ? observe_role_find(symbol->name, object_of(symbol)) : NULL;
    struct chil_exp_region region = {.name = (char *)observe_symbols_name(symbol),
                                     .mangled = (char *)symbol->name,
                                     .module = module,
                                     .paradigm = (char *)(role ? role->paradigm : "compiler"),
                                     .role = (char *)(role ? role->role : "function")};
    if (kind == RECORD_REGION) region.paradigm = region.role = (char *)"user";
    if (kind == RECORD_ROOT || kind == RECORD_SIGNAL) region.paradigm = (char *)"measurement";
    if (kind == RECORD_ROOT || kind == RECORD_SIGNAL) region.role = (char *)"artificial";
    observe_symbols_source(symbol, module, sizeof module, &region.begin, &region.end);
    return run_region_add(c, &wanted, &region);
}

/* Where a construct is: where it is called. A team's function begins at the line of its construct;
 * gcc gives the call of the runtime, which is in no source line, any line before it. */
static const struct observe_symbol *
place_of(const struct record_path *path, const struct record_function *function, uint32_t *address)
{
    const struct record_path *at = path;
    if (path->function != function) /* a stub: what it led to is beside it */
        for (at = path->parent->child; at && (at->function != function || at->at != path->at);)
            at = at->sibling;
    for (at = at ? at->child : NULL; at && !at->start;)
        at = at->sibling;
    if (at) {
        *address = run_calls_address(at->function, at->function->low);
        return at->symbol;
    }
    *address = run_calls_address(path->sites->caller, path->sites->at);
    return path->sites->caller->symbol;
}

/* "!$omp parallel @file.c:12"; without lines, the address. */
static int construct_get(struct run_calls *c, const struct record_path *path,
                         const struct record_function *function)
{
    uint32_t address;
    char name[400];
    const struct observe_symbol *symbol = function->symbol,
                                *caller = place_of(path, function, &address);
    const struct observe_role *role = observe_role_find(symbol->name, "");
    struct run_region wanted = region_of(symbol, RECORD_CALL);
    wanted.construct = role->construct;
    wanted.file = observe_symbols_line(caller, address, &wanted.line);
    if (!wanted.file) wanted.line = (int)address;
    int found = run_region_find(c, &wanted);
    if (found >= 0) return found;
    const char *file = wanted.file ? wanted.file : object_of(caller);
    const char *slash = strrchr(file, '/');
    (void)snprintf(name, sizeof name, wanted.file ? "!$omp %s @%.300s:%d" : "!$omp %s @%.300s+0x%x",
                   wanted.construct, slash ? slash + 1 : file, wanted.line);
    int line = wanted.file ? wanted.line : -1;
    return run_region_add(c, &wanted,
                          &(struct chil_exp_region){.name = name,
                                                    .mangled = (char *)symbol->name,
                                                    .module = (char *)file,
                                                    .begin = line,
                                                    .end = line,
                                                    .paradigm = (char *)role->paradigm,
                                                    .role = (char *)role->role});
}

/* --- Nodes ----------------------------------------------------------------------------------- */

int run_calls_node(struct run_calls *c, int parent, int region, uint32_t at)
{
    for (int node = c->families[parent + 1].child; node >= 0; node = c->families[node + 1].sibling)
        if (c->exp->node[node].region == region && c->families[node + 1].at == at) return node;
    int node = chil_exp_add_node(c->exp, parent, region, -1, NULL);
    c->families =
        base_grow(c->families, &c->family_capacity, (size_t)node + 2, sizeof *c->families);
    c->families[node + 1] = (struct run_family){-1, c->families[parent + 1].child, at};
    c->families[parent + 1].child = node;
    return node;
}

static bool is_in(const char *const *patterns, size_t count, const struct observe_symbol *symbol)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found |= fnmatch(patterns[i], observe_symbols_name(symbol), 0) == 0 ||
                 fnmatch(patterns[i], symbol->name, 0) == 0;
    return found;
}

static bool is_wanted(const struct chil_run_options *o, const struct observe_symbol *symbol)
{
    return (!o->record_only_count || is_in(o->record_only, o->record_only_count, symbol)) &&
           !is_in(o->record_exclude, o->record_exclude_count, symbol);
}

/* Where a stub leads to, at last. */
static const struct record_function *behind_stubs(const struct record_function *function)
{
    for (unsigned i = 0; i < 8 && function->stub && function->callee; i++)
        function = function->callee;
    return function;
}

/* What distinguishes nodes of one function below one caller: the line of the call, or its address.
 */
static uint32_t split_by(const struct run_calls *c, const struct record_path *path)
{
    int line = -1;
    if (!c->run->options.record_call_sites || !path->at || !path->sites) return 0;
    const struct record_function *caller = path->sites->caller;
    (void)observe_symbols_line(caller->symbol, run_calls_address(caller, path->at), &line);
    return line > 0 ? (uint32_t)line : path->at;
}

/* Also says where it is: there it is called. */
static int construct_node(struct run_calls *c, int above, const struct record_path *path,
                          const struct record_function *function)
{
    int node = run_calls_node(c, above, construct_get(c, path, function), 0);
    const struct chil_exp_region *region = &c->exp->region[c->exp->node[node].region];
    if (region->begin > 0) chil_exp_set_call(c->exp, node, region->begin, region->module);
    return node;
}

bool run_calls_is_mpi(const struct chil_exp *exp, int node)
{
    return strcmp(exp->region[exp->node[node].region].paradigm, "mpi") == 0;
}

static int node_of_path(struct run_calls *c, const struct record_path *path)
{
    const struct chil_run_options *o = &c->run->options;
    const struct observe_symbol *symbol = path->symbol;
    unsigned limit = o->record_depth ? o->record_depth : CHIL_RECORD_DEPTH;
    if (path->kind == RECORD_ROOT)
        return run_calls_node(c, CHIL_EXP_NONE, region_get(c, symbol, RECORD_ROOT), 0);
    int above = c->node_of[path->parent->number];
    if (path->kind == RECORD_INSIDE || (!o->record_flat && path->depth > limit)) return above;
    if (!o->record_inside_mpi && run_calls_is_mpi(c->exp, above)) return above;
    const struct record_function *function = behind_stubs(path->function);
    if (path->kind == RECORD_CALL) symbol = function->symbol;
    if (path->kind == RECORD_CALL && !is_wanted(o, symbol)) return above;
    bool construct = function->role == RECORD_CONSTRUCT || function->role == RECORD_FORKS;
    if (construct && path->at && path->sites) return construct_node(c, above, path, function);
    return run_calls_node(c, above, region_get(c, symbol, path->kind), split_by(c, path));
}

/* --- Call sites ------------------------------------------------------------------------------ */

/* Of a function that is called by one that is not shown, where that one is called. */
static void take_sites(struct run_calls *c, const struct record_path *path)
{
    int node = c->node_of[path->number];
    if (path->kind != RECORD_CALL || node == c->node_of[path->parent->number] ||
        c->exp->node[node].line > 0)
        return;
    while (path->parent->kind == RECORD_CALL &&
           c->node_of[path->parent->number] == c->node_of[path->parent->parent->number])
        path = path->parent;
    for (const struct record_site *site = path->sites; site; site = site->next)
        run_calls_add_site(c,
                           &(struct run_call){.node = node,
                                              .caller = site->caller->symbol,
                                              .object = object_of(site->caller->symbol),
                                              .address = run_calls_address(site->caller, site->at),
                                              .calls = site->calls});
}

void run_calls_add_site(struct run_calls *c, const struct run_call *site)
{
    c->sites = base_grow(c->sites, &c->site_capacity, c->site_count + 1, sizeof *c->sites);
    c->sites[c->site_count++] = *site;
}

static int compare(const void *a, const void *b)
{
    const struct run_call *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    int order = strcmp(x->object, y->object);
    return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

void run_calls_sort_sites(struct run_calls *c)
{
    size_t count = 0;
    if (c->site_count) qsort(c->sites, c->site_count, sizeof *c->sites, compare);
    for (size_t i = 0; i < c->site_count; i++)
        if (count && compare(&c->sites[count - 1], &c->sites[i]) == 0)
            c->sites[count - 1].calls += c->sites[i].calls;
        else
            c->sites[count++] = c->sites[i];
    c->site_count = count;
}

const char *run_call_line(const struct run_call *call, int *line)
{
    if (call->caller) return observe_symbols_line(call->caller, call->address, line);
    *line = call->line;
    return call->file;
}

/* The one that was taken most often; of several, the first in its file. */
static void set_sites(struct run_calls *c)
{
    run_calls_sort_sites(c);
    for (size_t i = 0, end; i < c->site_count; i = end) {
        const struct run_call *best = &c->sites[i];
        int line;
        for (end = i + 1; end < c->site_count && c->sites[end].node == best->node; end++)
            if (c->sites[end].calls > best->calls) best = &c->sites[end];
        const char *file = run_call_line(best, &line);
        if (file && line > 0) chil_exp_set_call(c->exp, best->node, line, file);
    }
}

struct run_calls *run_calls_new(struct chil_run *run, struct chil_exp *exp)
{
    struct run_calls *c = base_calloc(1, sizeof *c);
    c->run = run;
    c->exp = exp;
    c->families = base_grow(NULL, &c->family_capacity, 1, sizeof *c->families);
    c->families[0] = (struct run_family){-1, -1, 0};
    return c;
}

int *run_calls_add(struct run_calls *c, const struct run_node *node)
{
    size_t count;
    struct record_path *const *path =
        record_paths(observe_record_of_cores(node->observe.record), &count);
    c->node_of = base_calloc(count + 1, sizeof *c->node_of);
    for (size_t i = 0; i < count; i++)
        c->node_of[i] = node_of_path(c, path[i]);
    for (size_t i = 0; i < count && !c->run->options.record_flat; i++)
        take_sites(c, path[i]);
    return c->node_of;
}

void run_calls_free(struct run_calls *c)
{
    set_sites(c);
    free(c->families);
    free(c->regions);
    free(c->sites);
    free(c);
}
