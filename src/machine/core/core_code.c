/* Decodes guest code into blocks, and invalidates them when the code changes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_impl.h"
#include "machine/mem/mem_frames.h"

/* --- Decoding -------------------------------------------------------------------------------- */

static bool has_operand(const struct isa_row *row, enum isa_operand operand)
{
    for (unsigned i = 0; i < ISA_OPERANDS_MAX; i++)
        if (isa_row_operand(row, i) == operand) return true;
    return false;
}

/* The mask of the rotates: ones from mb to me, wrapping around. */
static uint32_t rotate_mask(unsigned mb, unsigned me)
{
    uint32_t from = UINT32_MAX >> mb, to = UINT32_MAX << (31 - me);
    return mb <= me ? from & to : from | to;
}

static uint32_t immediate(enum isa_id id, const struct isa_row *row, uint32_t word, uint32_t pc)
{
    if (id == ISA_ADDIS) return (uint32_t)isa_si(word) << 16;
    if (id == ISA_ORIS || id == ISA_XORIS || id == ISA_ANDIS_RC) return isa_ui(word) << 16;
    if (has_operand(row, ISA_OP_SI) || has_operand(row, ISA_OP_D)) return (uint32_t)isa_si(word);
    if (has_operand(row, ISA_OP_UI)) return isa_ui(word);
    if (has_operand(row, ISA_OP_MB)) return rotate_mask(isa_frc(word), isa_me(word));
    if (has_operand(row, ISA_OP_LI)) return pc + (uint32_t)isa_li(word);
    if (has_operand(row, ISA_OP_LIA)) return (uint32_t)isa_li(word);
    if (has_operand(row, ISA_OP_BD)) return pc + (uint32_t)isa_bd(word);
    if (has_operand(row, ISA_OP_BDA)) return (uint32_t)isa_bd(word);
    return word;
}

/* Frequent forms have labels of their own. */
static unsigned special_label(enum isa_id id, uint32_t word)
{
    unsigned bo = isa_rt(word);
    if (id == ISA_BC && (bo & 0x14) == 0x04) return LABEL_BC_CR;
    if (id == ISA_BC && (bo & 0x16) == 0x10) return LABEL_BDNZ;
    if ((id == ISA_ADDI || id == ISA_ADDIS) && isa_ra(word) == 0) return LABEL_LI;
    if (id == ISA_OR && isa_rt(word) == isa_rb(word)) return LABEL_MR;
    return id;
}

/* Decodes one instruction; returns whether it ends the block. */
static bool decode(const struct cores *cores, uint32_t word, uint32_t pc, struct op *op)
{
    enum isa_id id = isa_decode(word);
    if (id != ISA_ILLEGAL &&
        !(cores->options.units & isa_unit_bit((enum isa_unit)isa_row(id)->unit)))
        id = ISA_ILLEGAL;
    if (id == ISA_ILLEGAL) {
        *op = (struct op){.label = cores->labels[ISA_ILLEGAL]};
        return true;
    }
    const struct isa_row *row = isa_row(id);
    *op = (struct op){
        .label =
            cores->labels[isa_is_privileged(id, word) ? LABEL_SUPERVISOR : special_label(id, word)],
        .t = (uint8_t)isa_rt(word),
        .a = (uint8_t)isa_ra(word),
        .b = (uint8_t)isa_rb(word),
        .c = (uint8_t)isa_frc(word),
        .imm = immediate(id, row, word, pc),
    };
    return isa_is_privileged(id, word) || row->flags & ISA_ENDS_BLOCK;
}

static void grow_counts(uint64_t **counts, size_t before, size_t capacity)
{
    size_t old = before ? before + COUNTS_TOGETHER : 0, grown = old;
    *counts = base_grow(*counts, &grown, capacity + COUNTS_TOGETHER, sizeof **counts);
    memset(*counts + old, 0, (grown - old) * sizeof **counts);
}

static uint32_t new_id(struct cores *cores, struct block *block)
{
    if (cores->free_count) {
        uint32_t id = cores->free_ids[--cores->free_count];
        cores->blocks[id] = block;
        return id;
    }
    size_t before = cores->block_capacity;
    cores->blocks = base_grow(cores->blocks, &cores->block_capacity, cores->block_count + 1,
                              sizeof(struct block *));
    for (unsigned i = 0; before != cores->block_capacity && i < cores->count; i++) {
        grow_counts(&cores->core[i].counts, before, cores->block_capacity);
        grow_counts(&cores->core[i].summed, before, cores->block_capacity);
    }
    cores->blocks[cores->block_count] = block;
    return (uint32_t)cores->block_count++;
}

static struct block *decode_block(struct code *code, uint32_t pc)
{
    uint32_t words[BLOCK_OPS];
    struct op ops[BLOCK_OPS];
    struct weight weights[CORE_SIGNAL_COUNT];
    unsigned limit = (MEM_PAGE - pc % MEM_PAGE) / 4, count = 0;
    bool ends = false;
    while (!ends && count < limit && count < BLOCK_OPS) {
        words[count] = mem_host_get32(mem_host(code->mem, pc + 4 * count));
        ends = decode(code->cores, words[count], pc + 4 * count, &ops[count]);
        count++;
    }
    struct block *block = base_calloc(1, sizeof *block + (count + 1) * sizeof *ops);
    memcpy(block->ops, ops, count * sizeof *ops);
    block->ops[count].label =
        code->cores
            ->labels[LABEL_END]; /* reached when nothing ended it, or a branch fell through */
    block->pc = pc;
    block->end = pc + 4 * count;
    block->count = (uint16_t)count;
    if (code->cores->options.translator)
        block->entries_until_hot = code->cores->options.translator->entries_until_hot;
    block_schedule(block, words, weights);
    block->weights = base_calloc(block->weight_count, sizeof *weights);
    memcpy(block->weights, weights, block->weight_count * sizeof *weights);
    block->words = base_calloc(count, sizeof *words);
    memcpy(block->words, words, count * sizeof *words);
    block->id = new_id(code->cores, block);
    return block;
}

struct block *code_block(struct code *code, uint32_t pc)
{
    struct block **page = code->pages[pc / MEM_PAGE];
    if (pc % 4) return NULL;
    if (page && page[pc % MEM_PAGE / 4]) return page[pc % MEM_PAGE / 4];
    if ((mem_rights(code->mem, pc) & (MEM_READ | MEM_EXEC)) != (MEM_READ | MEM_EXEC)) return NULL;
    if (!page) {
        page = code->pages[pc / MEM_PAGE] = base_calloc(CODE_PAGE_OPS, sizeof(struct block *));
        code->decoded[pc / MEM_PAGE / CODE_GROUP]++;
    }
    mem_mark_code(code->mem, pc & ~(uint32_t)(MEM_PAGE - 1));
    return page[pc % MEM_PAGE / 4] = decode_block(code, pc);
}

/* --- Stopping inside a block ----------------------------------------------------------------- */

void core_report_fault(const struct core *core, struct core_exit *exit, enum core_reason reason,
                       uint32_t address, unsigned size)
{
    unsigned right = reason == CORE_LOAD ? MEM_READ : MEM_WRITE | MEM_SHADOW;
    for (uint32_t last = address + size - 1;
         (address ^ last) / MEM_PAGE && mem_rights(core->mem, address) & right;)
        address = last & ~(uint32_t)(MEM_PAGE - 1); /* the first page is fine: it is the second */
    *exit = (struct core_exit){reason, address, mem_rights(core->mem, address) & MEM_MAPPED};
}

/* A program that accesses devices stops in the same places again and again. */
static const struct block_part *part_of(struct block *block, unsigned done)
{
    struct block_part *part = block->part;
    uint64_t counts[CORE_SIGNAL_COUNT] = {0};
    if (part && part->done == done) return part;
    if (!part) part = block->part = base_calloc(1, sizeof *part);
    part->done = done;
    part->count = 0;
    part->cycles = done ? block_weigh(block->words, done, counts) : 0;
    for (unsigned signal = 0; signal < CORE_SIGNAL_COUNT; signal++)
        if (counts[signal])
            part->weights[part->count++] =
                (struct weight){(uint8_t)signal, (uint8_t)counts[signal]};
    return part;
}

void core_count_part(struct core *core, const struct block *block, unsigned done)
{
    const struct block_part *part = part_of((struct block *)block, done);
    uint32_t lines = block_lines(block);
    core->cycles -= block->cycles;
    core->folded[CORE_SIGNAL_FETCH] += lines;
    core->cycles += part->cycles;
    for (unsigned w = 0; w < part->count; w++)
        core->folded[part->weights[w].signal] += part->weights[w].count;
    if (core->path) {
        uint64_t *folded = core_record_fold(core, block->pc, block->words, done);
        core->path_counts[block->index]--;
        folded[CORE_SIGNAL_FETCH] += lines;
        if (done) (void)block_weigh(block->words, done, folded);
    }
    if (core->cores->blocks[block->id] == block)
        core->counts[block->id]--;
    else /* invalidated meanwhile: its count was folded */
        for (unsigned w = 0; w < block->weight_count; w++)
            core->folded[block->weights[w].signal] -= block->weights[w].count;
}

/* --- Invalidation ---------------------------------------------------------------------------- */

void block_invalidate(struct cores *cores, struct block *block)
{
    for (unsigned i = 0; i < cores->count; i++) {
        struct core *core = &cores->core[i];
        for (unsigned w = 0; w < block->weight_count; w++)
            core->folded[block->weights[w].signal] +=
                (core->counts[block->id] - core->summed[block->id]) * block->weights[w].count;
        core->counts[block->id] = core->summed[block->id] = 0;
    }
    cores->blocks[block->id] = NULL;
    cores->free_ids = base_grow(cores->free_ids, &cores->free_capacity, cores->free_count + 1,
                                sizeof *cores->free_ids);
    cores->free_ids[cores->free_count++] = block->id;
    block->next_invalidated = cores->invalidated;
    cores->invalidated = block;
}

static void invalidate_page(struct code *code, uint32_t page)
{
    struct block **blocks = code->pages[page];
    for (unsigned i = 0; i < CODE_PAGE_OPS; i++)
        if (blocks[i]) block_invalidate(code->cores, blocks[i]);
    free(blocks);
    code->pages[page] = NULL;
    code->decoded[page / CODE_GROUP]--;
}

static void unchain_all(struct cores *cores)
{
    for (size_t i = 0; i < cores->block_count; i++)
        if (cores->blocks[i]) cores->blocks[i]->next[0] = cores->blocks[i]->next[1] = NULL;
}

static void invalidate_translated(struct code *code)
{
    const struct core_translator *translator = code->cores->options.translator;
    if (translator && code->translated) translator->invalidate(translator->context, code);
}

static void page_changed(void *context, uint32_t address)
{
    struct code *code = context;
    uint32_t page = address / MEM_PAGE;
    if (!code->pages[page]) return;
    invalidate_page(code, page);
    invalidate_translated(code);
    unchain_all(code->cores);
    for (unsigned i = 0; i < code->cores->count; i++)
        code->cores->core[i].code_changed = true;
}

static void rights_changed(void *context, uint32_t address, uint64_t length, bool gone)
{
    const struct code *code = context;
    if (gone)
        cache_forget(code->cores->options.cache, code->mem->space, address, length);
    else
        cache_recheck(code->cores->options.cache, code->mem->space, address, length);
}

void code_free_invalidated(struct cores *cores)
{
    const struct core_translator *translator = cores->options.translator;
    if (!cores->invalidated) return;
    for (unsigned i = 0; i < cores->count; i++)
        if (cores->core[i].inside.block) return; /* it waits there */
    if (translator) translator->reclaim(translator->context);
    while (cores->invalidated) {
        struct block *next = cores->invalidated->next_invalidated;
        free(cores->invalidated->weights);
        free(cores->invalidated->words);
        free(cores->invalidated->part);
        free(cores->invalidated);
        cores->invalidated = next;
    }
}

struct code *code_of(struct cores *cores, struct mem *mem)
{
    for (struct code *code = cores->codes; code; code = code->next)
        if (code->mem == mem) return code;
    struct code *code = base_reserve(sizeof *code);
    code->cores = cores;
    code->mem = mem;
    code->next = cores->codes;
    cores->codes = code;
    if (cores->options.cache) {
        struct cache *cache = cores->options.cache;
        mem_attach(mem, cache_frames(cache), cache_space_new(cache));
        mem->rights_changed = rights_changed;
    }
    mem->code_changed = page_changed;
    mem->context = code;
    return code;
}

void cores_forget(struct cores *cores, struct mem *mem)
{
    for (struct code **link = &cores->codes; *link; link = &(*link)->next) {
        struct code *code = *link;
        if (code->mem != mem) continue;
        *link = code->next;
        for (uint32_t page = 0; page < MEM_PAGES; page++) {
            if (!code->decoded[page / CODE_GROUP])
                page |= CODE_GROUP - 1;
            else if (code->pages[page])
                invalidate_page(code, page);
        }
        invalidate_translated(code);
        unchain_all(cores);
        for (unsigned i = 0; i < cores->count; i++)
            if (cores->core[i].code == code) cores->core[i].code = NULL;
        mem->code_changed = NULL;
        mem->rights_changed = NULL;
        if (cores->options.cache) cache_space_free(cores->options.cache, mem->space);
        mem_attach(mem, NULL, 0);
        base_release(code, sizeof *code);
        code_free_invalidated(cores);
        return;
    }
}
