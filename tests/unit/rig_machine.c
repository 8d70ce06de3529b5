#include "rig_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct mem *rig_memory(struct rig_layout layout)
{
    struct mem *mem;
    assert_int_equal(mem_new(&mem), 0);
    if (layout.code_bytes)
        mem_map(mem, layout.code, layout.code_bytes, MEM_READ | MEM_WRITE | MEM_EXEC);
    if (layout.data_bytes) mem_map(mem, layout.data, layout.data_bytes, MEM_READ | MEM_WRITE);
    return mem;
}

void rig_machine_open(struct rig_machine *machine, struct rig_layout layout, unsigned cores,
                      const struct rig_options *options)
{
    static const struct rig_options none;
    if (!options) options = &none;
    *machine = (struct rig_machine){.layout = layout, .free = layout.code};
    machine->mem = rig_memory(layout);
    struct core_options of_cores = {.units = options->units ? options->units : UINT32_MAX};
    if (options->cache) of_cores.cache = machine->cache = cache_new(options->cache);
    if (options->jit) {
        machine->jit = jit_new(options->jit);
        of_cores.translator = jit_translator(machine->jit);
    }
    machine->cores = cores_new(cores, &of_cores);
    machine->core = cores_get(machine->cores, 0);
}

void rig_machine_close(struct rig_machine *machine)
{
    cores_free(machine->cores);
    jit_free(machine->jit);
    if (machine->cache) cache_free(machine->cache);
    mem_free(machine->mem);
}

uint32_t rig_place(struct rig_machine *machine, const uint32_t *words, unsigned count)
{
    uint32_t at = machine->free;
    assert_true(at + 4 * count <= machine->layout.code + machine->layout.code_bytes);
    for (unsigned i = 0; i < count; i++)
        assert_true(mem_put32(machine->mem, at + 4 * i, words[i]));
    machine->free += 4 * count;
    return at;
}

uint32_t rig_place_one(struct rig_machine *machine, uint32_t word)
{
    return rig_place(machine, (const uint32_t[]){word, RIG_SC}, 2);
}

void rig_place_again(struct rig_machine *machine)
{
    cores_forget(machine->cores, machine->mem);
    machine->free = machine->layout.code;
}

struct core_exit rig_run_on(struct rig_machine *machine, struct core *core, struct core_regs *regs,
                            uint32_t pc, uint64_t budget)
{
    regs->pc = pc;
    core_switch(core, regs, machine->mem);
    return core_run(core, budget);
}
