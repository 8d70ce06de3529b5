/* The counter unit on the node: its registers as a page of every address space, its wires told by cores and memory.
 *
 * A program loads and stores the registers as the paper says, without a system call. Such an access stops the core
 * before it, exactly; then the unit is told what happened on the selected wires since the last access, the access is
 * done, and the instruction counts as one. So start and stop take effect between two instructions.
 *
 * Wires are told in bulk: in the cycles since the last access, so many rises and so many high cycles. A waveform that
 * has both is made of single-cycle pulses and one longer one (tell). Where a wire was high in every cycle, its pulses
 * touched, and rises cannot be told apart, as on a real wire; the level counts are exact.
 * Threshold interrupts are seen in the status block at the next access; they are not yet signals (docs/model.md).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chiliad/upc.h"
#include "isa/isa.h"
#include "node/node.h"

struct node_upc {
    struct chil_upc *upc;
    const struct chil_event *events; /* by wire */
    uint64_t told;                   /* up to this cycle */
    uint64_t *rises, *highs;         /* of each counter's wire, as told */
};

struct node_upc *node_upc_new(struct chil_run *run)
{
    uint64_t counters, inputs, low_bits, slot_cycles, base;
    const struct chil_machine *m = run->machine;
    if (chil_machine_number(m, "upc.counters", &counters) || chil_machine_number(m, "upc.inputs", &inputs) ||
        chil_machine_number(m, "upc.low_bits", &low_bits) || chil_machine_number(m, "upc.slot_cycles", &slot_cycles) ||
        chil_machine_number(m, "upc.base", &base))
        return NULL; /* another kind of unit */
    struct chil_upc_geometry geometry = {(uint32_t)counters, (uint32_t)inputs, (uint32_t)low_bits,
                                         (uint32_t)slot_cycles};
    struct chil_upc_map map;
    chil_upc_map(&geometry, &map);
    struct node_upc *unit = base_calloc(1, sizeof *unit);
    if (map.end > MEM_PAGE || base % MEM_PAGE || chil_upc_new(&unit->upc, &geometry, CHIL_UPC_FAST, NULL, NULL, NULL)) {
        free(unit);
        return NULL; /* a unit that was grown past a page has no place in a program's memory yet */
    }
    size_t count;
    unit->events = chil_machine_events(m, &count);
    unit->rises = base_calloc(geometry.counters, sizeof *unit->rises);
    unit->highs = base_calloc(geometry.counters, sizeof *unit->highs);
    return unit;
}

void node_upc_free(struct node_upc *unit)
{
    if (!unit) return;
    chil_upc_free(unit->upc);
    free(unit->rises);
    free(unit->highs);
    free(unit);
}

/* --- Telling ---------------------------------------------------------------------------------------------------------
 */

static uint32_t wire_of(const struct node_upc *unit, uint32_t counter)
{
    struct chil_upc_config config;
    (void)chil_upc_config(unit->upc, counter, &config);
    return config.input * chil_upc_geometry(unit->upc)->counters + counter;
}

/* So many rises and high cycles in [from, to): all but one pulse are one cycle long and two apart. */
static void tell(struct node_upc *unit, uint32_t wire, uint64_t from, uint64_t to, uint64_t rises, uint64_t high)
{
    uint64_t room = to - from;
    if (high > room) high = room; /* overlapping occurrences keep a wire high, not higher */
    if (!high || !rises) return;
    if (rises > high) rises = high;
    if (rises + high > room + 1) rises = room + 1 - high; /* the others touch */
    if (rises - 1 + high < room) from++;                  /* and the first does not touch what was before */
    struct chil_upc_train trains[2] = {{wire, from, rises - 1, 2, 1},
                                       {wire, from + 2 * (rises - 1), 1, high - (rises - 1), high - (rises - 1)}};
    (void)chil_upc_raise_many(unit->upc, trains + (rises == 1), rises == 1 ? 1 : 2, NULL);
}

/* Reads what each selected wire has done; tells the difference to the unit when `telling`. */
static void look(struct chil_run *run, uint64_t to, bool telling)
{
    struct node_upc *unit = run->upc;
    for (unsigned i = 0; i < run->core_count; i++)
        core_signal_counts(cores_get(run->cores, i), run->counts[i]);
    for (uint32_t c = 0; c < chil_upc_geometry(unit->upc)->counters; c++) {
        struct chil_event event = unit->events[wire_of(unit, c)];
        event.clock = 1;
        event.mode = CHIL_COUNT_RISE;
        uint64_t rises = node_count(run, &event, CORE_ALL, NULL);
        event.mode = CHIL_COUNT_HIGH;
        uint64_t high = node_count(run, &event, CORE_ALL, NULL);
        if (telling) tell(unit, event.id, unit->told, to, rises - unit->rises[c], high - unit->highs[c]);
        unit->rises[c] = rises;
        unit->highs[c] = high;
    }
}

static void catch_up(struct chil_run *run, uint64_t now)
{
    struct node_upc *unit = run->upc;
    if (now < unit->told) now = unit->told; /* a core that is behind another */
    look(run, now, true);
    (void)chil_upc_advance(unit->upc, now);
    unit->told = now;
}

/* --- Accesses --------------------------------------------------------------------------------------------------------
 */

/* Loads and stores of words and doublewords, of GPRs and FPRs, are what registers take. */
static bool do_access(struct chil_run *run, const struct isa_row *row, uint32_t word, struct core_regs *regs,
                      uint64_t offset)
{
    bool floating = row->klass == ISA_CLASS_FP_LOAD_DOUBLE || row->klass == ISA_CLASS_FP_STORE_DOUBLE;
    bool load = row->klass == ISA_CLASS_LOAD || row->klass == ISA_CLASS_FP_LOAD_DOUBLE;
    bool store = row->klass == ISA_CLASS_STORE || row->klass == ISA_CLASS_FP_STORE_DOUBLE;
    uint32_t not_plain = ISA_REVERSED | ISA_RESERVATION | ISA_MULTIPLE | ISA_S_READ | ISA_S_WRITE;
    if ((!load && !store) || row->flags & not_plain || row->size != (floating ? 8 : 4)) return false;
    uint64_t value = floating ? regs->fpr[isa_rt(word)] : regs->gpr[isa_rt(word)];
    int status = load ? chil_upc_load(run->upc->upc, offset, row->size, &value)
                      : chil_upc_store(run->upc->upc, offset, row->size, value);
    if (status) return false;
    if (load && floating) regs->fpr[isa_rt(word)] = value;
    if (load && !floating) regs->gpr[isa_rt(word)] = (uint32_t)value;
    if (store) look(run, run->upc->told, false); /* a counter may look at another wire now */
    return true;
}

bool node_device(void *context, unsigned core, struct core_regs *regs, struct mem *mem, uint32_t address)
{
    struct chil_run *run = context;
    uint32_t word;
    if (!run->upc || !mem_get32(mem, regs->pc, &word)) return false;
    enum isa_id id = isa_decode(word);
    if (id == ISA_ILLEGAL) return false;
    const struct isa_row *row = isa_row(id);
    struct core *at = cores_get(run->cores, core);
    catch_up(run, core_cycles(at));
    if (!do_access(run, row, word, regs, address % MEM_PAGE)) return false;
    if (row->flags & ISA_UPDATE) regs->gpr[isa_ra(word)] = address;
    regs->pc += 4;
    bool store = row->klass == ISA_CLASS_STORE || row->klass == ISA_CLASS_FP_STORE_DOUBLE;
    core_retire(at, word, cache_device(run->cache, core, store, core_cycles(at)));
    return true;
}
