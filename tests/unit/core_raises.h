/* What an instruction raises besides the signal of its class, written down apart from
 * src/machine/core/core_schedule.c. test_core_count.c and test_core_qemu.c compare counts with it.
 */
#ifndef TEST_CORE_RAISES_H
#define TEST_CORE_RAISES_H

#include "machine/core/core.h"
#include "machine/isa/isa.h"

static inline void core_raises_also(uint32_t word, uint64_t *counts)
{
    const struct isa_row *row = isa_row(isa_decode(word));
    bool branch = row->klass == ISA_CLASS_BRANCH;
    bool has_bo = word >> 26 != 18; /* all but b, bl, ba, bla */
    counts[CORE_SIGNAL_CONDITIONAL] += branch && has_bo && !(word >> 25 & 1 && word >> 23 & 1);
}

#endif
