#include "rig_registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"

struct core_regs rig_registers_random(uint64_t *seed)
{
    struct core_regs regs;
    memset(&regs, 0, sizeof regs);
    for (unsigned i = 0; i < 32; i++) {
        regs.gpr[i] = (uint32_t)random_next(seed);
        regs.fpr[i] = random_next(seed);
        regs.fpr2[i] = random_next(seed);
    }
    for (unsigned i = 0; i < 8; i++)
        regs.cr[i] = random_next(seed) & 15;
    regs.lr = (uint32_t)random_next(seed), regs.ctr = (uint32_t)random_next(seed);
    regs.xer_so = random_next(seed) & 1, regs.xer_ov = random_next(seed) & 1,
    regs.xer_ca = random_next(seed) & 1;
    regs.xer_count = random_next(seed) & 0x7F;
    regs.msr = MSR_PR | MSR_FP;
    return regs;
}

bool rig_registers_same(const struct core_regs *x, const struct core_regs *y)
{
    return memcmp(x->gpr, y->gpr, sizeof x->gpr) == 0 &&
           memcmp(x->fpr, y->fpr, sizeof x->fpr) == 0 &&
           memcmp(x->fpr2, y->fpr2, sizeof x->fpr2) == 0 &&
           memcmp(x->cr, y->cr, sizeof x->cr) == 0 && x->pc == y->pc && x->lr == y->lr &&
           x->ctr == y->ctr && core_xer_get(x) == core_xer_get(y) && x->fpscr == y->fpscr &&
           x->msr == y->msr && x->usprg0 == y->usprg0 && x->reserved == y->reserved &&
           x->reserve_address == y->reserve_address && x->reserve_value == y->reserve_value;
}

static void print(const char *name, unsigned number, uint64_t expected, uint64_t got)
{
    if (expected != got)
        print_error("%s%u: expected %llx, is %llx\n", name, number, (unsigned long long)expected,
                    (unsigned long long)got);
}

void rig_registers_print(const struct core_regs *expected, const struct core_regs *got)
{
    for (unsigned i = 0; i < 32; i++)
        print("r", i, expected->gpr[i], got->gpr[i]);
    for (unsigned i = 0; i < 32; i++) {
        print("primary f", i, expected->fpr[i], got->fpr[i]);
        print("secondary f", i, expected->fpr2[i], got->fpr2[i]);
    }
    for (unsigned i = 0; i < 8; i++)
        print("cr", i, expected->cr[i], got->cr[i]);
    const struct {
        const char *name;
        uint32_t expected, got;
    } rows[] = {
        {"pc", expected->pc, got->pc},
        {"lr", expected->lr, got->lr},
        {"ctr", expected->ctr, got->ctr},
        {"xer", core_xer_get(expected), core_xer_get(got)},
        {"fpscr", expected->fpscr, got->fpscr},
        {"msr", expected->msr, got->msr},
        {"usprg0", expected->usprg0, got->usprg0},
        {"reserved", expected->reserved, got->reserved},
        {"address of the reservation", expected->reserve_address, got->reserve_address},
        {"value of the reservation", expected->reserve_value, got->reserve_value},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].expected != rows[i].got)
            print_error("%s: expected %08x, is %08x\n", rows[i].name, rows[i].expected,
                        rows[i].got);
}

void rig_registers_check(const char *what, const struct core_regs *expected,
                         const struct core_regs *got)
{
    if (rig_registers_same(expected, got)) return;
    rig_registers_print(expected, got);
    fail_msg("%s: the registers above differ", what);
}
