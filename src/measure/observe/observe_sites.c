/* Allocation sites: calls of the allocator, seen as cores make them, say where each block of the
 * heap comes from.
 *
 * A function allocates if it has the name of one; so it does not matter whether it is in the
 * program or in a library, or whose malloc it is. The first call counts: what operator new gets
 * from malloc is operator new's. The site is the function that called and the place of that call,
 * which debugging data turns into a line. A function that ends with a jump to malloc has given its
 * frame away: then the site is its caller.
 *
 * A block has a name from the return of the call that made it until it is given to free, realloc or
 * operator delete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "machine/mem/mem.h"
#include "measure/observe/observe_names.h"
#include "measure/observe/observe_symbols.h"

/* Which argument has what: from 1 on, 0 for none. A block has `size` bytes, or times `count`. */
static const struct allocator {
    const char *symbol, *name;
    uint8_t size, count;
    uint8_t old;     /* is freed, at the call or, if there is a size, when it succeeds */
    uint8_t pointer; /* points to the word that gets the address; else that is the result */
} allocators[] = {
    {"malloc", "malloc", 1, 0, 0, 0},
    {"calloc", "calloc", 1, 2, 0, 0},
    {"realloc", "realloc", 2, 0, 1, 0},
    {"reallocarray", "reallocarray", 2, 3, 1, 0},
    {"memalign", "memalign", 2, 0, 0, 0},
    {"aligned_alloc", "aligned_alloc", 2, 0, 0, 0},
    {"posix_memalign", "posix_memalign", 3, 0, 0, 1},
    {"valloc", "valloc", 1, 0, 0, 0},
    {"pvalloc", "pvalloc", 1, 0, 0, 0},
    {"free", "free", 0, 0, 1, 0},
    {"cfree", "free", 0, 0, 1, 0},
    {"_Znwj", "operator new", 1, 0, 0, 0},
    {"_Znaj", "operator new[]", 1, 0, 0, 0},
    {"_ZnwjRKSt9nothrow_t", "operator new", 1, 0, 0, 0},
    {"_ZnajRKSt9nothrow_t", "operator new[]", 1, 0, 0, 0},
    {"_ZnwjSt11align_val_t", "operator new", 1, 0, 0, 0},
    {"_ZnajSt11align_val_t", "operator new[]", 1, 0, 0, 0},
    {"_ZnwjSt11align_val_tRKSt9nothrow_t", "operator new", 1, 0, 0, 0},
    {"_ZnajSt11align_val_tRKSt9nothrow_t", "operator new[]", 1, 0, 0, 0},
    {"_ZdlPv", "operator delete", 0, 0, 1, 0},
    {"_ZdaPv", "operator delete[]", 0, 0, 1, 0},
    {"_ZdlPvj", "operator delete", 0, 0, 1, 0},
    {"_ZdaPvj", "operator delete[]", 0, 0, 1, 0},
    {"_ZdlPvSt11align_val_t", "operator delete", 0, 0, 1, 0},
    {"_ZdaPvSt11align_val_t", "operator delete[]", 0, 0, 1, 0},
    {"_ZdlPvjSt11align_val_t", "operator delete", 0, 0, 1, 0},
    {"_ZdaPvjSt11align_val_t", "operator delete[]", 0, 0, 1, 0},
};
enum { ALLOCATORS = sizeof allocators / sizeof *allocators, BUCKETS = 1024, SITE_TEXT = 600 };

struct site {
    const struct record_function *function;
    uint32_t back, next; /* next: in the bucket, 1 + index */
    uint8_t allocator;
    uint32_t name, symbol; /* numbers in the tables */
};

struct observe_sites {
    struct chil_ranges *names, *symbols;
    struct site *all; /* a site's number is its index + 1 */
    size_t count, capacity;
    uint32_t buckets[BUCKETS];
};

struct observe_sites *observe_sites_new(struct chil_ranges *names, struct chil_ranges *symbols)
{
    struct observe_sites *sites = base_calloc(1, sizeof *sites);
    sites->names = names;
    sites->symbols = symbols;
    return sites;
}

void observe_sites_free(struct observe_sites *sites)
{
    if (sites) free(sites->all);
    free(sites);
}

uint32_t observe_sites_name(const struct observe_sites *sites, uint32_t site)
{
    return site ? sites->all[site - 1].name : 0;
}

uint32_t observe_sites_symbol(const struct observe_sites *sites, uint32_t site)
{
    return site ? sites->all[site - 1].symbol : 0;
}

/* --- Names ----------------------------------------------------------------------------------- */

/* "malloc in solve (solve.c:12)", or "malloc in solve+0x1c" where no line is known. */
static void name_site(const struct site *site, char text[SITE_TEXT])
{
    enum { CALL = 4 };
    const struct record_function *f = site->function;
    const struct observe_symbol *symbol = f->symbol;
    const char *what = allocators[site->allocator].name;
    int line = -1;
    if (!symbol || f->low == f->high) {
        (void)snprintf(text, SITE_TEXT, "%s in %.400s", what,
                       symbol ? observe_symbols_name(symbol) : "nowhere");
        return;
    }
    uint32_t into = site->back - CALL - f->low;
    const char *file = observe_symbols_line(symbol, f->address + into, &line);
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (file && line > 0)
        (void)snprintf(text, SITE_TEXT, "%s in %.300s (%.200s:%d)", what,
                       observe_symbols_name(symbol), slash ? slash + 1 : file, line);
    else
        (void)snprintf(text, SITE_TEXT, "%s in %.400s+0x%x", what, observe_symbols_name(symbol),
                       into);
}

static uint32_t site_get(struct observe_sites *sites, const struct record_call *call)
{
    const struct record_function *function = call->caller->function;
    uint8_t allocator = (uint8_t)(call->id - 1);
    uint32_t *bucket = &sites->buckets[call->back / 4 % BUCKETS];
    for (uint32_t i = *bucket; i; i = sites->all[i - 1].next) {
        const struct site *site = &sites->all[i - 1];
        if (site->function == function && site->back == call->back && site->allocator == allocator)
            return i;
    }
    sites->all = base_grow(sites->all, &sites->capacity, sites->count + 1, sizeof *sites->all);
    struct site *site = &sites->all[sites->count++];
    *site = (struct site){
        .function = function, .back = call->back, .next = *bucket, .allocator = allocator};
    char text[SITE_TEXT];
    name_site(site, text);
    if (sites->names) site->name = chil_ranges_name(sites->names, text);
    if (sites->symbols) site->symbol = chil_ranges_name(sites->symbols, text);
    return *bucket = (uint32_t)sites->count;
}

/* --- Calls ----------------------------------------------------------------------------------- */

uint8_t observe_sites_call_id(void *context, const void *symbol)
{
    const struct observe_symbol *code = symbol;
    (void)context;
    for (unsigned i = 0; i < ALLOCATORS; i++)
        if (strcmp(allocators[i].symbol, code->name) == 0) return (uint8_t)(i + 1);
    return 0;
}

static uint32_t argument(const struct record_call *call, uint8_t number)
{
    return number ? call->argument[number - 1] : 0;
}

void observe_sites_called(void *context, const struct record_call *call)
{
    const struct observe *observe = context;
    const struct allocator *a = &allocators[call->id - 1];
    if (a->old && !a->size)
        observe_heap_remove(observe_names_heap(observe->names, call->mem), argument(call, a->old));
}

void observe_sites_returned(void *context, const struct record_call *call, uint32_t result)
{
    const struct observe *observe = context;
    const struct allocator *a = &allocators[call->id - 1];
    struct observe_heap *heap = observe_names_heap(observe->names, call->mem);
    uint32_t address = result, size = argument(call, a->size);
    if (!a->size) return;
    if (a->count) size *= argument(call, a->count); /* more than 4 GiB has failed */
    if (a->pointer && (result || !mem_get32(call->mem, argument(call, a->pointer), &address)))
        return;
    bool freed = a->old && (address || !size);
    if (freed) observe_heap_remove(heap, argument(call, a->old));
    if (address)
        observe_heap_add(heap, address, size, site_get(observe_names_sites(observe->names), call));
}
