/* How a program was killed, as text; and where an address lies in a run. */
#include "run/run_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine/isa/isa.h"
#include "machine/os/os_impl.h"
#include "measure/observe/observe_symbols.h"

static int add_line(char *buffer, size_t size, int used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int add_line(char *buffer, size_t size, int used, const char *format, ...)
{
    if (used < 0 || (size_t)used >= size) return used;
    va_list args;
    va_start(args, format);
    int added = vsnprintf(buffer + used, size - (size_t)used, format, args);
    va_end(args);
    return used + added;
}

void chil_run_report(const struct chil_run *run, char *buffer, size_t size)
{
    const struct os_crash *crash = &run->result.crash;
    char where[200] = "", text[ISA_TEXT_MAX] = "not readable";
    *buffer = 0;
    if (!run->result.killed) return;
    if (run_others_report(run)) {
        (void)snprintf(buffer, size, "%s", run_others_report(run));
        return;
    }
    if (crash->space && crash->space->program)
        observe_place(crash->space->program, crash->space->image, crash->pc, where, sizeof where);
    if (crash->has_instruction)
        isa_disassemble_simplified(crash->instruction, crash->pc, text, sizeof text);
    int used =
        add_line(buffer, size, 0, "killed by signal %d (%s) at pc 0x%08x%s%s, address 0x%08x\n",
                 crash->signal, strsignal(crash->signal), crash->pc, *where ? " in " : "", where,
                 crash->address);
    used = add_line(buffer, size, used, "  instruction: %s\n", text);
    for (unsigned i = 0; i < 32; i += 8) {
        used = add_line(buffer, size, used, "  r%-2u", i);
        for (unsigned k = i; k < i + 8; k++)
            used = add_line(buffer, size, used, " %08x", crash->regs.gpr[k]);
        used = add_line(buffer, size, used, "\n");
    }
    (void)add_line(buffer, size, used, "  lr %08x ctr %08x cr %08x xer %08x\n", crash->regs.lr,
                   crash->regs.ctr, core_cr_get(&crash->regs), core_xer_get(&crash->regs));
}

void chil_run_place(struct chil_run *run, unsigned node, unsigned core, uint32_t address,
                    char *buffer, size_t size)
{
    const struct run_node *at = &run->nodes[node];
    uint32_t low, high, start;
    int line = -1;
    const struct observe_symbol *symbol = observe_symbols_find(
        at->observe.symbols, at->node->os, core_memory(cores_get(at->node->cores, core)), address,
        &low, &high, &start);
    *buffer = 0;
    if (!symbol) return;
    const char *file = observe_symbols_line(symbol, start + (address - low), &line);
    int used = snprintf(buffer, size, "%.200s+0x%x", observe_symbols_name(symbol), address - low);
    if (file && used > 0 && (size_t)used < size)
        (void)snprintf(buffer + used, size - (size_t)used, " (%s:%d)", file, line);
}
