/* What the instructions of a recorded run missed and waited for: a table by function and address.
 *
 * Known are loads, stores and fetches that miss L1, and how long loads and fetches waited. The
 * hierarchy does not report which store waits for the store queue, nor which access misses the TLB.
 * A fetch belongs to the first instruction of its line that its block executes. */
#include <stdlib.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "measure/observe/observe.h"

struct entry {
    const struct record_function *function; /* NULL: free */
    uint32_t pc;
    struct observe_code_counts counts;
};

struct observe_code {
    struct entry *entry;
    size_t count, capacity; /* a power of two, more than half of it free */
};

enum { FIRST = 1024 };

struct observe_code *observe_code_new(const struct observe *observe)
{
    if (!observe->options.record || !observe->options.record_code_misses) return NULL;
    struct observe_code *code = base_calloc(1, sizeof *code);
    code->capacity = FIRST;
    code->entry = base_calloc(code->capacity, sizeof *code->entry);
    return code;
}

void observe_code_free(struct observe_code *code)
{
    if (code) free(code->entry);
    free(code);
}

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

void observe_code_miss(struct observe_code *code, const struct core *core,
                       const struct cache_transaction *miss, uint64_t cycles)
{
    const struct record_path *path = core_path(core);
    uint32_t pc = core_access_pc(core);
    if (!path || miss->kind == CACHE_INVALIDATION) return;
    if (miss->kind == CACHE_FETCH_MISS && pc < miss->address) pc = miss->address;
    struct entry *entry = find(code, path->function, pc);
    if (!entry->function) {
        if (2 * ++code->count > code->capacity) {
            grow(code);
            entry = find(code, path->function, pc);
        }
        *entry = (struct entry){.function = path->function, .pc = pc};
    }
    struct observe_code_counts *counts = &entry->counts;
    switch (miss->kind) {
    case CACHE_LOAD_MISS:
        counts->load_miss++;
        counts->load_stall += cycles;
        break;
    case CACHE_STORE_MISS: counts->store_miss++; break;
    default: counts->fetch_miss++; counts->fetch_stall += cycles;
    }
}

const struct observe_code_counts *observe_code_get(const struct observe_code *code,
                                                   const struct record_function *function,
                                                   uint32_t pc)
{
    const struct entry *entry = code ? find(code, function, pc) : NULL;
    return entry && entry->function ? &entry->counts : NULL;
}
