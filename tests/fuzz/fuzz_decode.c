/* Fuzzes the decoder: any words are decoded, printed, scheduled and executed; text and decoder must
 * agree.
 *
 * `tools/fuzz decode SECONDS` from the root of the repository. The input is code: it is put at
 * 0x10000 between two pages of data and runs for a few thousand cycles, starting again behind every
 * instruction that stops it.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/core/core.h"
#include "machine/isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { CODE = 0x10000, CODE_MAX = 4096 };

static void check_text(uint32_t word)
{
    char text[ISA_TEXT_MAX], simple[ISA_TEXT_MAX];
    int used = isa_disassemble(word, CODE, text, sizeof text);
    int used_simple = isa_disassemble_simplified(word, CODE, simple, sizeof simple);
    bool illegal = strncmp(text, ".long", 5) == 0;
    if (used <= 0 || used >= ISA_TEXT_MAX || used_simple <= 0 || used_simple >= ISA_TEXT_MAX)
        abort();
    if (illegal != (isa_decode(word) == ISA_ILLEGAL)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct mem *mem;
    if (length > CODE_MAX) length = CODE_MAX;
    length &= ~(size_t)3;
    if (mem_new(&mem)) abort();
    mem_map(mem, CODE - MEM_PAGE, 3 * MEM_PAGE, MEM_READ | MEM_WRITE | MEM_EXEC);
    memcpy(mem->base + CODE, bytes, length);
    for (size_t at = 0; at < length; at += 4)
        check_text(mem_host_get32(mem->base + CODE + at));
    struct cores *cores = cores_new(1, &(struct core_options){.units = UINT32_MAX});
    struct core *core = cores_get(cores, 0);
    struct core_regs regs = {.pc = CODE, .msr = MSR_PR | MSR_FP};
    for (unsigned i = 0; i < 32; i++)
        regs.gpr[i] = CODE + i * 100;
    core_switch(core, &regs, mem);
    for (int stops = 0; stops < 200; stops++) {
        struct core_exit exit = core_run(core, 500);
        if (exit.reason == CORE_FETCH) break;
        if (exit.reason != CORE_SYSCALL && exit.reason != CORE_CALLTHRU &&
            exit.reason != CORE_BUDGET)
            regs.pc += 4;
    }
    uint64_t counts[CORE_SIGNAL_COUNT];
    core_signal_counts(core, counts);
    if (counts[CORE_SIGNAL_LOAD] + counts[CORE_SIGNAL_STORE] > counts[CORE_SIGNAL_INSTRUCTIONS])
        abort();
    cores_forget(cores, mem);
    cores_free(cores);
    mem_free(mem);
    return 0;
}
