/* What the memory hierarchy counted for each instruction of a recorded run: a table by function and
 * address, with the counts of every unit (struct cache_attribution).
 *
 * The hierarchy calls back behind each access. What was counted since the last one belongs to this
 * access's instruction and to the function whose path the core is in, so the sums over a function's
 * instructions are those of its call paths. A fetch belongs to the first instruction of its line
 * that its block executes. Without a call path (no recorded thread runs) counts wait for the next
 * access with one.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "measure/observe/observe.h"

struct entry {
    const struct record_function *function; /* NULL: free */
    uint32_t pc;
    struct cache_attribution counts;
};

struct observe_code {
    struct cores *cores;
    struct cache_attributor *attributor;
    struct entry *entry;
    size_t count, capacity; /* a power of two, more than half of it free */
};

enum { FIRST = 1024 };

/* The entry, or the free one where it would be. The place in the table decides nothing but the time
 * of the search. */
static struct entry *find(const struct observe_code *code, const struct record_function *function,
                          uint32_t pc)
{
    size_t at = (size_t)(pc / 4 * UINT32_C(2654435761)) & (code->capacity - 1);
    while (code->entry[at].function &&
           (code->entry[at].function != function || code->entry[at].pc != pc))
        at = (at + 1) & (code->capacity - 1);
    return &code->entry[at];
}

static void grow(struct observe_code *code)
{
    struct observe_code old = *code;
    code->capacity *= 2;
    code->entry = base_calloc(code->capacity, sizeof *code->entry);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entry[i].function)
            *find(code, old.entry[i].function, old.entry[i].pc) = old.entry[i];
    free(old.entry);
}

static void accessed(void *context, unsigned number)
{
    struct observe_code *code = context;
    const struct core *core = cores_get(code->cores, number);
    const struct record_path *path = core_path(core);
    if (!path) return;
    uint32_t pc = core_access_line_pc(core);
    struct entry *entry = find(code, path->function, pc);
    if (!entry->function) {
        if (2 * ++code->count > code->capacity) {
            grow(code);
            entry = find(code, path->function, pc);
        }
        *entry = (struct entry){.function = path->function, .pc = pc};
    }
    cache_attribute(code->attributor, number, &entry->counts);
}

struct observe_code *observe_code_new(const struct observe *observe)
{
    if (!observe->options.record || !observe->options.record_code_misses) return NULL;
    struct observe_code *code = base_calloc(1, sizeof *code);
    code->capacity = FIRST;
    code->entry = base_calloc(code->capacity, sizeof *code->entry);
    return code;
}

void observe_code_attach(struct observe *observe)
{
    struct observe_code *code = observe->code;
    if (!code) return;
    code->cores = observe->node->cores;
    code->attributor = cache_attributor_new(observe->node->cache);
    cores_notify_accesses(code->cores, accessed, code);
}

void observe_code_free(struct observe_code *code)
{
    if (!code) return;
    for (size_t i = 0; i < code->capacity && code->attributor; i++)
        cache_attribution_fini(code->attributor, &code->entry[i].counts);
    cache_attributor_free(code->attributor);
    free(code->entry);
    free(code);
}

bool observe_code_add(const struct observe_code *code, const struct record_function *function,
                      uint32_t pc, struct cache *counts)
{
    const struct entry *entry = code ? find(code, function, pc) : NULL;
    if (!entry || !entry->function) return false;
    cache_counts_add(counts, code->attributor, &entry->counts);
    return true;
}
