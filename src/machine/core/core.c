/* Cores as objects: making them, switching threads, reading counts. */
#include "machine/core/core.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_impl.h"

struct cores *cores_new(unsigned count, const struct core_options *options)
{
    struct cores *cores = base_calloc(1, sizeof *cores);
    cores->count = count;
    cores->options = *options;
    cores->core = base_calloc(count, sizeof *cores->core);
    cores->labels = core_interpreter_of(options)(NULL, 0, NULL);
    if (options->cache) cache_notify_accesses(options->cache, core_room_used, cores);
    for (unsigned i = 0; i < count; i++) {
        cores->core[i].cores = cores;
        cores->core[i].number = i;
        if (options->trace) cores->core[i].pending = base_calloc(1, sizeof(struct core_pending));
    }
    return cores;
}

void cores_free(struct cores *cores)
{
    if (!cores) return;
    while (cores->codes)
        cores_forget(cores, cores->codes->mem);
    code_free_invalidated(cores);
    for (unsigned i = 0; i < cores->count; i++) {
        free(cores->core[i].counts);
        free(cores->core[i].summed);
        free(cores->core[i].pending);
    }
    free(cores->core);
    free(cores->blocks);
    free(cores->free_ids);
    free(cores);
}

struct core *cores_get(struct cores *cores, unsigned number)
{
    return number < cores->count ? &cores->core[number] : NULL;
}

void core_switch(struct core *core, struct core_regs *regs, struct mem *mem)
{
    core->regs = regs;
    if (core->mem == mem && core->code) return;
    core->mem = mem;
    core->code = code_of(core->cores, mem);
    if (!core->cores->options.cache) return;
    core->lines = cache_lines(core->cores->options.cache, core->number, core->mem->space);
    core->view = cache_view(core->cores->options.cache, core->number, core->mem->space);
    core->fast = cache_fast(core->view);
}

void core_run_on(struct core *core, uint64_t limit, struct core_exit *exit)
{
    if (core->watch)
        core_run_watched(core, limit, exit);
    else
        (void)core_interpreter_of (&core->cores->options)(core, limit, exit);
}

struct core_exit core_run(struct core *core, uint64_t budget)
{
    struct core_exit exit = {.reason = CORE_BUDGET};
    fp_state_init(&core->fp, core->regs->fpscr);
    if (core->cores->options.record) core_record_begin(core);
    uint64_t left = UINT64_MAX - core->cycles;
    if (budget == 0 && !core->regs->cut.done) budget = 1;
    uint64_t limit = core->cycles + (budget < left ? budget : left);
    core->running = true;
    if (core->regs->cut.done)
        core_cut_resume(core);
    else if (core->inside.block && core->path &&
             core->path->function != core->inside.block->function)
        core_record_enter(core, core->inside.block);
    const struct core_translator *translator = core->cores->options.translator;
    if (translator && translator->run)
        translator->run(translator->context, core, limit, &exit);
    else
        core_run_on(core, limit, &exit);
    core->running = false;
    if (core->pending) core_trace_end(core);
    if (core->path) core_record_end(core);
    fp_sync(&core->fp);
    core->regs->fpscr = core->fp.fpscr;
    code_free_invalidated(core->cores);
    return exit;
}

void core_order(struct core *core, uint64_t limit)
{
    if (core->cores->options.cache) cache_order(core->cores->options.cache, core->number, limit);
}

/* The weights of an instruction alone. Programs access devices with few instructions, so they are
 * kept, in pairs of which the first was used last. */
static const struct retired *weigh_alone(struct core *core, uint32_t word)
{
    struct retired *pair = core->retired[word * UINT32_C(0x9E3779B1) >> (32 - RETIRED_BITS)];
    uint64_t counts[CORE_SIGNAL_COUNT] = {0};
    struct retired last = pair[0];
    if (last.cycles && last.word == word) return pair;
    pair[0] = pair[1];
    pair[1] = last;
    if (pair->cycles && pair->word == word) return pair;
    *pair = (struct retired){.word = word, .cycles = block_weigh(&word, 1, counts)};
    for (unsigned signal = 0; signal < CORE_SIGNAL_COUNT; signal++)
        if (counts[signal]) {
            assert(pair->count < RETIRED_WEIGHTS);
            pair->weights[pair->count++] =
                (struct weight){(uint8_t)signal, (uint8_t)counts[signal]};
        }
    return pair;
}

void core_retire(struct core *core, uint32_t pc, uint32_t word, uint64_t wait)
{
    const struct retired *kept = weigh_alone(core, word);
    for (unsigned i = 0; i < kept->count; i++)
        core->folded[kept->weights[i].signal] += kept->weights[i].count;
    core->cycles += kept->cycles + wait;
    if (!core->path) return;
    (void)block_weigh(&word, 1, core_record_fold(core, pc, &word, 1));
    core->touched = true; /* the device was behind the memory hierarchy */
    core_record_end(core);
}

void core_repeat(struct core *core, uint64_t cycles, const uint64_t *signals, uint64_t times)
{
    core->cycles += cycles * times;
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        core->folded[i] += signals[i] * times;
}

bool core_is_followed(const struct core *core)
{
    return core->watch || core->path || core->pending;
}

void core_raise(struct core *core, enum core_signal signal, uint64_t times)
{
    if (!times) return;
    core->folded[signal] += times;
    if (core->watch) core_watch_raised(core, signal, times);
    if (core->path) core_record_fold(core, 0, NULL, 0)[signal] += times;
}

const struct record_path *core_path(const struct core *core)
{
    return core->path;
}

const struct mem *core_memory(const struct core *core)
{
    return core->mem;
}

uint32_t core_access_pc(const struct core *core)
{
    return core->access.block->pc + 4 * (uint32_t)(core->access.op - core->access.block->ops);
}

uint32_t core_access_line_pc(const struct core *core)
{
    if (!core->running) return core->regs->pc; /* a device's register */
    uint32_t pc = core_access_pc(core);
    return core->access.line > pc ? core->access.line : pc;
}

void cores_notify_accesses(struct cores *cores, void (*accessed)(void *context, unsigned core),
                           void *context)
{
    cores->accessed = accessed;
    cores->accessed_context = context;
    for (unsigned i = 0; i < cores->count; i++)
        core_count_accesses(&cores->core[i], UINT64_MAX);
}

uint64_t core_cycles(const struct core *core)
{
    return core->cycles;
}

uint64_t core_crossings(const struct core *core)
{
    return core->crossings;
}

void core_idle_until(struct core *core, uint64_t cycle)
{
    if (cycle <= core->cycles) return;
    core->idle += cycle - core->cycles;
    core->cycles = cycle;
}

uint64_t core_idle_cycles(const struct core *core)
{
    return core->idle;
}

static void fold_count(struct core *core, size_t id)
{
    const struct block *block = core->cores->blocks[id];
    uint64_t more = core->counts[id] - core->summed[id];
    core->summed[id] = core->counts[id];
    for (unsigned w = 0; block && more && w < block->weight_count; w++)
        core->folded[block->weights[w].signal] += more * block->weights[w].count;
}

/* Whether any of the counts of COUNTS_TOGETHER blocks has changed. */
static bool has_changed(const uint64_t *now, const uint64_t *summed)
{
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
    const pair *a = (const pair *)now, *b = (const pair *)summed;
    pair changed = {0};
    for (unsigned i = 0; i < COUNTS_TOGETHER / 2; i++)
        changed |= a[i] ^ b[i];
    return changed[0] | changed[1];
}

/* Few blocks have run since the last time, of many. */
void core_fold_counts(struct core *core)
{
    for (size_t i = 0; i < core->cores->block_count; i += COUNTS_TOGETHER) {
        if (!has_changed(core->counts + i, core->summed + i)) continue;
        for (size_t k = i; k < i + COUNTS_TOGETHER && k < core->cores->block_count; k++)
            fold_count(core, k);
    }
}

void core_signal_counts(struct core *core, uint64_t *counts)
{
    core_fold_counts(core);
    memcpy(counts, core->folded, sizeof core->folded);
}

static const struct {
    const char *group, *name;
} signals[] = {
#define CORE_SIGNAL(id, group, name) [CORE_SIGNAL_##id] = {group, name},
#include "machine/core/core_signals.def"
};

bool core_signal_find(const char *name, unsigned *core, enum core_signal *signal)
{
    size_t length = strcspn(name, "0123456789.");
    char *end;
    unsigned long number = strtoul(name + length, &end, 10);
    if (*end != '.') return false;
    for (unsigned s = CORE_SIGNAL_NONE + 1; s < CORE_SIGNAL_COUNT; s++) {
        const char *group = signals[s].group;
        if (*group != *name || strncmp(name, group, length) != 0 || group[length]) continue;
        if (strcmp(end + 1, signals[s].name) != 0) continue;
        *core = end == name + length ? CORE_ALL : (unsigned)number;
        *signal = (enum core_signal)s;
        return true;
    }
    return false;
}

const char *core_signal_name(enum core_signal signal)
{
    return signals[signal].name;
}

bool core_signal_is_of_os(enum core_signal signal)
{
    return strcmp(signals[signal].group, "os") == 0 || strcmp(signals[signal].group, "mpi") == 0;
}

uint32_t core_cr_get(const struct core_regs *regs)
{
    uint32_t cr = 0;
    for (int field = 0; field < 8; field++)
        cr = cr << 4 | regs->cr[field];
    return cr;
}

void core_cr_set(struct core_regs *regs, uint32_t cr)
{
    for (int field = 7; field >= 0; field--, cr >>= 4)
        regs->cr[field] = cr & 15;
}

uint32_t core_xer_get(const struct core_regs *regs)
{
    return (uint32_t)regs->xer_so << 31 | (uint32_t)regs->xer_ov << 30 |
           (uint32_t)regs->xer_ca << 29 | regs->xer_count;
}

void core_xer_set(struct core_regs *regs, uint32_t xer)
{
    regs->xer_so = xer >> 31;
    regs->xer_ov = xer >> 30 & 1;
    regs->xer_ca = xer >> 29 & 1;
    regs->xer_count = xer & 0x7F;
}
