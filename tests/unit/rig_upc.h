/* A counter unit under test, with what it said. */
#ifndef RIG_UPC_H
#define RIG_UPC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "chiliad/upc.h"
#include "random.h"

enum { RIG_NOTICES = 1024 };

struct rig {
    struct chil_upc *upc;
    struct chil_upc_notice notices[RIG_NOTICES];
    size_t count;
};

void rig_open(struct rig *rig, struct chil_upc_geometry geometry, enum chil_upc_model model);
void rig_close(struct rig *rig);

/* `count` single-cycle pulses on a wire, one every `period` cycles from `cycle` on; then on to
 * `until`. */
void rig_pulses(struct rig *rig, uint32_t wire, uint64_t cycle, uint64_t count, uint64_t period,
                uint64_t until);
uint64_t rig_read(struct rig *rig, uint32_t counter);
uint64_t rig_load(struct rig *rig, uint64_t offset);
void rig_store(struct rig *rig, uint64_t offset, uint64_t value);
/* Counts every cycle: counter c's input 0 is held high and the level counted. */
void rig_hold_all_high(struct rig *rig);

/* Runs a test body on both models. */
#define RIG_BOTH(body)                                                                             \
    do {                                                                                           \
        body(CHIL_UPC_REFERENCE);                                                                  \
        body(CHIL_UPC_FAST);                                                                       \
    } while (0)

#endif
