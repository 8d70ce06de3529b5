/* The code that a recorded run executed, as text for its experiment (docs/formats/experiment.md,
 * "chiliad.code"):
 *
 *     function main
 *     object /home/u/matrix
 *     file /home/u/matrix.c
 *     100005a0 9421fff0 1 12
 *
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

struct instruction {
    uint32_t address, word;
    uint64_t count;
};

struct code {
    const struct record_function **function;
    uint64_t **counts; /* by function, by block */
    size_t count, capacity;
    FILE *out;
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

static void take_instructions(struct code *code, const struct record_function *f,
                              const uint64_t *counts)
{
    for (size_t i = 0; i < f->block_count; i++) {
        const struct record_block *block = &f->blocks[i];
        for (unsigned k = 0; counts[i] && k < block->count; k++) {
            code->instruction = base_grow(code->instruction, &code->instruction_capacity,
                                          code->instructions + 1, sizeof *code->instruction);
            code->instruction[code->instructions++] = (struct instruction){
                run_calls_address(f, block->pc + 4 * k), block->words[k], counts[i]};
        }
    }
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
        uint64_t count = 0;
        int line;
        for (end = i;
             end < code->instructions && compare_instructions(at, &code->instruction[end]) == 0;
             end++)
            count += code->instruction[end].count;
        const char *source = observe_symbols_line(symbol, at->address, &line);
        if (source && strcmp(source, file) != 0)
            (void)fprintf(code->out, "file %s\n", file = source);
        (void)fprintf(code->out, "%08" PRIx32 " %08" PRIx32 " %" PRIu64 " %d\n", at->address,
                      at->word, count, source && line > 0 ? line : 0);
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
    free(code.instruction);
    free(text);
    return good;
}
