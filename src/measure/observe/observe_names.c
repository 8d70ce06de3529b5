/* Looks up the function or data symbol of an address, in the files that its process has mapped.
 *
 * Each address space has its own ranges. They are made at the first look-up and again when more
 * code is mapped. Where ranges overlap, the later one counts: areas, the program's sections and
 * symbols, then the libraries' in the order of their mapping. Ranges are numbered per space; the
 * number in the caller's table is looked up once per range.
 */
#include "measure/observe/observe_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "measure/observe/observe_symbols.h"

/* Names of one part of a space. */
struct known {
    struct chil_ranges *ranges; /* NULL: not made yet */
    uint32_t *numbers;          /* by the ranges' own, in the caller's table */
};

/* Few instructions cause most misses: a direct-mapped cache of their functions. */
enum { MEMOS = 256 };
struct memo {
    uint32_t pc, function; /* pc 0: none */
};

struct space {
    struct space *next;
    const struct mem *mem;
    struct known functions, data;
    struct memo memos[MEMOS];
    struct observe_heap *heap; /* NULL: nothing was allocated yet */
};

struct observe_names {
    struct observe *observe;
    struct node_listener listener;
    struct chil_run_names tables;
    struct observe_sites *sites; /* NULL: not wanted; likewise */
    struct observe_paths *paths;
    struct space *spaces;
    struct space *at[OS_CORES_MAX]; /* that cores had last */
};

static void known_forget(struct known *known)
{
    chil_ranges_free(known->ranges);
    free(known->numbers);
    *known = (struct known){0};
}

static void space_free(struct space *space)
{
    known_forget(&space->functions);
    known_forget(&space->data);
    observe_heap_free(space->heap);
    free(space);
}

void observe_names_free(struct observe_names *names)
{
    if (!names) return;
    while (names->spaces) {
        struct space *next = names->spaces->next;
        space_free(names->spaces);
        names->spaces = next;
    }
    observe_sites_free(names->sites);
    observe_paths_free(names->paths);
    free(names);
}

struct observe_sites *observe_names_sites(const struct observe_names *names)
{
    return names->sites;
}

/* --- Spaces ---------------------------------------------------------------------------------- */

static struct space **space_find(struct observe_names *names, const struct mem *mem)
{
    struct space **at = &names->spaces;
    while (*at && (*at)->mem != mem)
        at = &(*at)->next;
    return at;
}

static struct space *space_get(struct observe_names *names, const struct mem *mem)
{
    struct space **at = space_find(names, mem);
    if (*at) return *at;
    *at = base_calloc(1, sizeof **at);
    (*at)->mem = mem;
    return *at;
}

struct observe_heap *observe_names_heap(struct observe_names *names, const struct mem *mem)
{
    struct space *space = space_get(names, mem);
    if (!space->heap) space->heap = observe_heap_new();
    return space->heap;
}

static void memory_changed(void *context, enum os_memory what, const struct mem *mem,
                           const struct mem *from)
{
    struct observe_names *names = context;
    struct space **at = space_find(names, mem), *space = *at, *parent;
    switch (what) {
    case OS_MEMORY_MAPPED:
        if (!space) break;
        known_forget(&space->functions);
        known_forget(&space->data);
        memset(space->memos, 0, sizeof space->memos);
        break;
    case OS_MEMORY_COPIED:
        parent = space_get(names, from);
        space = space_get(names, mem);
        if (parent->heap) space->heap = observe_heap_copy(parent->heap);
        break;
    default:
        if (!space) break;
        *at = space->next;
        space_free(space);
        memset(names->at, 0, sizeof names->at);
        break;
    }
}

struct observe_names *observe_names_new(struct observe *observe)
{
    const struct chil_run_names *wanted = observe->options.names;
    if (!wanted || !(wanted->functions || wanted->symbols || wanted->callpaths || wanted->sites ||
                     wanted->sections))
        return NULL;
    struct observe_names *names = base_calloc(1, sizeof *names);
    names->observe = observe;
    names->listener = (struct node_listener){.context = names, .memory = memory_changed};
    node_attach_listener(observe->node, &names->listener);
    names->tables = *wanted;
    if (wanted->sites) names->sites = observe_sites_new(wanted->sites, wanted->symbols);
    if (wanted->callpaths || wanted->sections)
        names->paths = observe_paths_new(wanted->callpaths, wanted->sections);
    return names;
}

/* --- Making ranges --------------------------------------------------------------------------- */

struct adding {
    struct chil_ranges *ranges;
    uint32_t bias;
};

static void add_range(void *context, const char *name, uint32_t first, uint32_t last)
{
    (void)chil_ranges_add(context, name, first, last);
}

static void add_function(void *context, const char *name, uint32_t address, uint32_t size)
{
    const struct adding *adding = context;
    uint32_t first = address + adding->bias;
    char *written = name_written(name);
    if (size && size - 1 <= UINT32_MAX - first)
        (void)chil_ranges_add(adding->ranges, written ? written : name, first, first + (size - 1));
    free(written);
}

static void add_object(const struct observe *observe, const struct os_object *object,
                       bool is_program, enum chil_program_part part, struct chil_ranges *ranges)
{
    struct adding adding = {.ranges = ranges};
    const char *slash = strrchr(object->path, '/');
    char prefix[300];
    if (!observe_symbols_bias(observe->symbols, object, &adding.bias)) return;
    (void)snprintf(prefix, sizeof prefix, "%.290s:", slash ? slash + 1 : object->path);
    observe_file_ranges(object, part, adding.bias, is_program ? NULL : prefix, add_range, ranges);
    if (part == CHIL_PROGRAM_FUNCTIONS)
        observe_symbols_each(observe->symbols, object, add_function, &adding);
}

/* The program first, because of the areas around it; then the others, in the order in which they
 * came. */
static void make(const struct observe *observe, const struct mem *mem, enum chil_program_part part,
                 struct known *known)
{
    const char *program = os_program_path(observe->node->os, mem);
    struct os_object object;
    size_t count = 0;
    known->ranges = chil_ranges_new();
    while (os_object_get(observe->node->os, mem, count, &object))
        count++;
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = count; i-- > 0;) {
            (void)os_object_get(observe->node->os, mem, i, &object);
            bool is_program = program && strcmp(object.path, program) == 0;
            if (is_program == (pass == 0))
                add_object(observe, &object, is_program, part, known->ranges);
        }
    known->numbers = base_calloc(chil_ranges_count(known->ranges) + 1, sizeof *known->numbers);
}

/* --- Looking up ------------------------------------------------------------------------------ */

static uint32_t look_up(struct observe_names *names, struct space *space,
                        enum chil_program_part part, uint32_t address)
{
    bool code = part == CHIL_PROGRAM_FUNCTIONS;
    struct known *known = code ? &space->functions : &space->data;
    if (!known->ranges) make(names->observe, space->mem, part, known);
    uint32_t own = chil_ranges_look_up(known->ranges, address);
    if (own && !known->numbers[own])
        known->numbers[own] =
            chil_ranges_name(code ? names->tables.functions : names->tables.symbols,
                             chil_ranges_get(known->ranges, own));
    return known->numbers[own];
}

static inline uint32_t function_at(struct observe_names *names, struct space *space, uint32_t pc)
{
    struct memo *memo = &space->memos[pc / 4 % MEMOS];
    if (memo->pc != pc)
        *memo = (struct memo){pc, look_up(names, space, CHIL_PROGRAM_FUNCTIONS, pc)};
    return memo->function;
}

static inline struct space *space_of_core(struct observe_names *names, const struct core *core,
                                          unsigned number)
{
    const struct mem *mem = core_memory(core);
    struct space *space = names->at[number];
    if (!space || space->mem != mem) space = names->at[number] = space_get(names, mem);
    return space;
}

static uint32_t site_at(const struct observe_names *names, const struct space *space,
                        uint32_t address)
{
    return names->sites && space->heap ? observe_heap_look_up(space->heap, address) : 0;
}

void observe_names_transaction(struct observe_names *names, const struct core *core,
                               struct chil_transaction *t)
{
    struct space *space = space_of_core(names, core, t->sender);
    uint32_t site = site_at(names, space, t->address);
    if (names->tables.functions) t->function = function_at(names, space, t->pc);
    if (names->tables.symbols)
        t->symbol = site ? observe_sites_symbol(names->sites, site)
                         : look_up(names, space, CHIL_PROGRAM_DATA, t->address);
    if (names->sites) t->site = observe_sites_name(names->sites, site);
    if (names->paths)
        observe_paths_look_up(names->paths, core_path(core), &t->callpath, &t->section);
}

void observe_names_record(struct observe_names *names, unsigned core, const struct core_step *step,
                          struct chil_trace_record *record)
{
    struct space *space = space_of_core(names, cores_get(names->observe->node->cores, core), core);
    if (names->tables.functions) record->function = function_at(names, space, step->pc);
    if (names->paths)
        observe_paths_look_up(names->paths, step->path, &record->callpath, &record->section);
    if (!step->size) return;
    uint32_t site = site_at(names, space, step->address);
    if (names->tables.symbols)
        record->symbol = site ? observe_sites_symbol(names->sites, site)
                              : look_up(names, space, CHIL_PROGRAM_DATA, step->address);
    if (names->sites) record->site = observe_sites_name(names->sites, site);
}
