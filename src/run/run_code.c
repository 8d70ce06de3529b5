/* The code that a recorded run executed, as text for its experiment (docs/formats/experiment.md,
 * "chiliad.code"):
 *
 *     events cycles BGL_LOAD BGL_D1_L_MISS
 *     function main
 *     object /home/u/matrix
 *     file /home/u/matrix.c
 *     100005a0 9421fff0 1 12 0:1
 *
 * Behind the line of the source is what the instruction counted of each event that is not zero.
 * Events are the simulator's own whose signals instructions raise; with record_code_misses also
 * those of the memory hierarchy (observe_code.c). `cycles` are those in which the instruction
 * issues, as its block is scheduled, and with record_code_misses those in which it waits.
 * Functions by name, object and address, instructions by address. Blocks may overlap; an address
 * and its word are one instruction, whose count is the sum over the blocks and call paths that have
 * it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chiliad/experiment.h"
#include "machine/core/core_record.h"
#include "run/run_impl.h"
#include "measure/observe/observe_symbols.h"

enum { EVENTS = 96 };

struct instruction {
    uint32_t address, word, pc; /* address: in its file, pc: in memory */
    uint64_t count;
    uint64_t value[EVENTS]; /* of code.event */
};

struct code {
    const struct record_function **function;
    uint64_t **counts; /* by function, by block */
    size_t count, capacity;
    FILE *out;
    const struct node *node;
    const struct observe_code *memory;      /* NULL: not recorded */
    struct cache *memory_counts;            /* likewise: of one instruction */
    const struct chil_event *event[EVENTS]; /* the first is NULL, for cycles, */
    unsigned first; /* event that is written: 1 where no cycles are counted */
    struct node_signal *signals[EVENTS];
    unsigned events;
    struct instruction *instruction;
    size_t instructions, instruction_capacity;
};

static void add_function(void *context, const struct record_function *f)
{
    struct code *code = context;
    code->function =
        base_grow((void *)code->function, &code->capacity, code->count + 1, sizeof(void *));
    code->function[code->count++] = f;
}

static const char *object_of(const struct observe_symbol *symbol)
{
    return symbol->object ? observe_object_path(symbol->object) : "";
}

static int compare_functions(const void *a, const void *b)
{
    const struct record_function *x = *(const struct record_function *const *)a;
    const struct record_function *y = *(const struct record_function *const *)b;
    const struct observe_symbol *sx = x->symbol, *sy = y->symbol;
    int order = strcmp(sx->name, sy->name);
    if (!order) order = strcmp(object_of(sx), object_of(sy));
    uint32_t ax = run_calls_address(x, x->low), ay = run_calls_address(y, y->low);
    if (!order) order = ax < ay ? -1 : ax > ay;
    if (!order) order = x->low < y->low ? -1 : x->low > y->low;
    return order               ? order
           : x->high < y->high ? -1
                               : x->high > y->high; /* a stub where unwinding data has a function */
}

static int compare_instructions(const void *a, const void *b)
{
    const struct instruction *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static void add_counts(const struct record_path *path, const struct record_counts *ledger,
                       uint64_t *counts)
{
    for (size_t i = 0; ledger && i < path->function->block_count && i < ledger->capacity; i++)
        counts[i] += ledger->counts[i];
}

static void add_path(const struct code *code, const struct record *record,
                     const struct record_path *path)
{
    size_t low = 0, high = path->function->block_count ? code->count : 0;
    while (low < high) { /* the functions are sorted */
        size_t middle = low + (high - low) / 2;
        int order = compare_functions(&path->function, &code->function[middle]);
        if (!order) {
            for (unsigned t = 0; t < record_turns(record); t++)
                add_counts(path, record_path_counts(record, path, t), code->counts[middle]);
            return;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
}

/* --- Events ---------------------------------------------------------------------------------- */

/* Whether the counts of instructions add up to the signal. Refreshes of L3 are not caused by any;
 * hits are what is left of accesses. */
static bool is_of_instructions(const struct code *code, const struct node_signal *signal)
{
    switch (signal->kind) {
    case NODE_SIGNAL_CORE: return signal->core == CORE_ALL && !core_signal_is_of_os(signal->signal);
    case NODE_SIGNAL_CYCLES: return code->memory && !code->first;
    case NODE_SIGNAL_MEMORY: return code->memory && signal->memory.id != CACHE_SIGNAL_L3_REFRESH;
    default: return false;
    }
}

static void choose_events(struct code *code, const struct node *node)
{
    size_t count;
    const struct chil_event *own = chil_machine_own_events(node->machine, &count);
    code->events = 1;
    for (size_t i = 0; i < count && code->events < EVENTS; i++) {
        bool all = own[i].signal_count > 0 && !own[i].reserved && own[i].exactness != CHIL_NONE;
        struct node_signal *signals = base_calloc(own[i].signal_count + 1, sizeof *signals);
        for (size_t s = 0; s < own[i].signal_count && all; s++) {
            node_signal_find(node, own[i].signals[s], &signals[s]);
            all = is_of_instructions(code, &signals[s]);
        }
        if (!all) {
            free(signals);
            continue;
        }
        code->event[code->events] = &own[i];
        code->signals[code->events++] = signals;
    }
}

/* The cycles in which memory let the instruction of `counts` wait. */
static uint64_t waits_of(const struct cache *counts)
{
    static const enum cache_signal_id waits[] = {CACHE_SIGNAL_STALL_LOAD, CACHE_SIGNAL_STALL_STORE,
                                                 CACHE_SIGNAL_STALL_FETCH, CACHE_SIGNAL_STALL_TLB};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        uint64_t occurrences, cycles;
        cache_signal_count(counts, (struct cache_signal){waits[i], CACHE_ALL}, &occurrences,
                           &cycles);
        sum += cycles;
    }
    return sum;
}

/* What instructions raise by being executed. */
static void add_raised(const struct code *code, struct instruction *at, uint64_t cycles,
                       const uint64_t *raised)
{
    at->value[0] += cycles;
    for (unsigned e = 1; e < code->events; e++)
        for (size_t s = 0; s < code->event[e]->signal_count; s++) {
            const struct node_signal *signal = &code->signals[e][s];
            if (signal->kind == NODE_SIGNAL_CORE) at->value[e] += raised[signal->signal];
            if (signal->kind == NODE_SIGNAL_CYCLES) at->value[e] += cycles;
        }
}

/* What memory counted for them. */
static void add_memory(const struct code *code, struct instruction *at)
{
    static const uint64_t nothing[CORE_SIGNAL_COUNT];
    const struct node_attribution of = {
        .signals = nothing, .cycles = waits_of(code->memory_counts), .cache = code->memory_counts};
    at->value[0] += of.cycles;
    for (unsigned e = 1; e < code->events; e++)
        at->value[e] +=
            (uint64_t)node_attributed_count(code->node, code->event[e], code->signals[e], &of);
}

/* An instruction of a block that ran so many times. `before`: what those before it raise. */
static void count_events(const struct code *code, struct instruction *at,
                         const struct record_block *block, unsigned k, uint64_t *before,
                         uint32_t *cycles)
{
    uint64_t raised[CORE_SIGNAL_COUNT] = {0};
    uint32_t until = record_block_weigh(block, k + 1, raised);
    raised[CORE_SIGNAL_FETCH] = before[CORE_SIGNAL_FETCH] + (!k || (block->pc + 4 * k) % 32 == 0);
    uint64_t all[CORE_SIGNAL_COUNT];
    for (unsigned s = 0; s < CORE_SIGNAL_COUNT; s++) {
        all[s] = (raised[s] - before[s]) * at->count;
        before[s] = raised[s];
    }
    add_raised(code, at, (until - *cycles) * at->count, all);
    *cycles = until;
}

/* What memory counted for an instruction goes to the first of its blocks. */
static void count_memory(const struct code *code, const struct record_function *f, size_t first)
{
    for (size_t i = first; i < code->instructions && code->memory; i++) {
        struct instruction *at = &code->instruction[i];
        bool seen = false;
        if (!observe_code_add(code->memory, f, at->pc, code->memory_counts)) continue;
        for (size_t k = first; k < i && !seen; k++)
            seen = code->instruction[k].pc == at->pc;
        if (!seen) add_memory(code, at);
        cache_counts_clear(code->memory_counts);
    }
}

static void take_instructions(struct code *code, const struct record_function *f,
                              const uint64_t *counts)
{
    size_t first = code->instructions;
    for (size_t i = 0; i < f->block_count; i++) {
        const struct record_block *block = &f->blocks[i];
        uint64_t before[CORE_SIGNAL_COUNT] = {0};
        uint32_t cycles = 0;
        for (unsigned k = 0; counts[i] && k < block->count; k++) {
            code->instruction = base_grow(code->instruction, &code->instruction_capacity,
                                          code->instructions + 1, sizeof *code->instruction);
            struct instruction *at = &code->instruction[code->instructions++];
            *at = (struct instruction){.address = run_calls_address(f, block->pc + 4 * k),
                                       .pc = block->pc + 4 * k,
                                       .word = block->words[k],
                                       .count = counts[i]};
            count_events(code, at, block, k, before, &cycles);
        }
    }
    count_memory(code, f, first);
}

/* The instructions taken so far, of one function in one object. */
static void print_function(struct code *code, const struct observe_symbol *symbol)
{
    const char *file = "";
    size_t end;
    if (!code->instructions) return;
    qsort(code->instruction, code->instructions, sizeof *code->instruction, compare_instructions);
    (void)fprintf(code->out, "function %s\nobject %s\n", observe_symbols_name(symbol),
                  object_of(symbol));
    for (size_t i = 0; i < code->instructions; i = end) {
        const struct instruction *at = &code->instruction[i];
        uint64_t count = 0, value[EVENTS] = {0};
        int line;
        for (end = i;
             end < code->instructions && compare_instructions(at, &code->instruction[end]) == 0;
             end++) {
            count += code->instruction[end].count;
            for (unsigned e = 0; e < code->events; e++)
                value[e] += code->instruction[end].value[e];
        }
        const char *source = observe_symbols_line(symbol, at->address, &line);
        if (source && strcmp(source, file) != 0)
            (void)fprintf(code->out, "file %s\n", file = source);
        (void)fprintf(code->out, "%08" PRIx32 " %08" PRIx32 " %" PRIu64 " %d", at->address,
                      at->word, count, source && line > 0 ? line : 0);
        for (unsigned e = code->first; e < code->events; e++)
            if (value[e]) (void)fprintf(code->out, " %u:%" PRIu64, e - code->first, value[e]);
        (void)fputc('\n', code->out);
    }
    code->instructions = 0;
}

bool run_code_add(struct chil_run *run, struct chil_exp *exp)
{
    struct code code = {0};
    char *text = NULL;
    size_t size = 0, paths;
    const struct record *cores = observe_record_of_cores(run->observe->record);
    struct record_path *const *path = record_paths(cores, &paths);
    code.out = open_memstream(&text, &size);
    if (!code.out) return false;
    code.node = run->node;
    code.first = chil_run_memory(run) ? 1 : 0;
    code.memory = run->observe->code;
    if (code.memory) code.memory_counts = cache_counts_new(run->node->cache);
    choose_events(&code, run->node);
    (void)fputs(code.first ? "events" : "events cycles", code.out);
    for (unsigned e = 1; e < code.events; e++)
        (void)fprintf(code.out, " %s", code.event[e]->name);
    (void)fputc('\n', code.out);
    record_each_function(cores, add_function, &code);
    if (code.count) qsort(code.function, code.count, sizeof(void *), compare_functions);
    code.counts = base_calloc(code.count + 1, sizeof *code.counts);
    for (size_t i = 0; i < code.count; i++)
        code.counts[i] = base_calloc(code.function[i]->block_count, sizeof **code.counts);
    for (size_t i = 0; i < paths; i++)
        add_path(&code, cores, path[i]);
    for (size_t i = 0; i < code.count; i++) {
        const struct observe_symbol *symbol = code.function[i]->symbol;
        const struct observe_symbol *next =
            i + 1 < code.count ? code.function[i + 1]->symbol : NULL;
        take_instructions(&code, code.function[i], code.counts[i]);
        bool same = next && strcmp(next->name, symbol->name) == 0 && next->object == symbol->object;
        if (!same) print_function(&code, symbol);
    }
    bool good = !ferror(code.out);
    good &= fclose(code.out) == 0;
    if (good) chil_exp_set_code(exp, text, size);
    for (size_t i = 0; i < code.count; i++)
        free(code.counts[i]);
    free(code.counts);   // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(code.function); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    for (unsigned e = 1; e < code.events; e++)
        free(code.signals[e]);
    cache_counts_free(code.memory_counts);
    free(code.instruction);
    free(text);
    return good;
}
