/* The call-through as a kernel uses it: the core stops for it in both modes, and in supervisor mode
 * task switch and task exit move the simulator's own counters (rows BGL-09, BGL-11, BGL-12). There
 * is no kernel yet: the test is one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "machine/isa/isa.h"
#include "measure/counters/counters.h"
#include "measure/observe/observe.h"
#include "rig_bluegene.h"
#include "rig_machine.h"

enum {
    CODE = 0x10000,
    CALLTHRU = 0x001f47cc,
    NOP = 0x60000000,
    INST = 0,
    TASK_SWITCH = 2,
    TASK_EXIT = 3
};

struct rig {
    struct chil_machine *machine;
    struct node node;
    struct observe_counters *counters;
    struct mem *mem;
    struct core_regs regs;
    int said;
};

static void on_say(void *context, const char *line)
{
    (void)line;
    ((struct rig *)context)->said++;
}

static void rig_open(struct rig *rig)
{
    struct cache_config memory = rig_bluegene("bgp");
    memset(rig, 0, sizeof *rig);
    rig->machine = rig_machine_file("bgp");
    struct node *node = &rig->node;
    node->machine = rig->machine;
    node->report = on_say;
    node->report_context = rig;
    node->core_count = 1;
    node->cache = cache_new(&memory);
    node->cores = cores_new(1, &(struct core_options){.units = UINT32_MAX, .cache = node->cache});
    node->counts = base_calloc(1, sizeof *node->counts);
    rig->counters = observe_counters_new(node);
    rig->mem = rig_memory((struct rig_layout){.code = CODE, .code_bytes = MEM_PAGE});
    core_switch(cores_get(node->cores, 0), &rig->regs, rig->mem);
}

static void rig_close(struct rig *rig)
{
    observe_counters_free(rig->counters);
    cores_free(rig->node.cores);
    cache_free(rig->node.cache);
    free(rig->node.counts);
    mem_free(rig->mem);
    chil_machine_free(rig->machine);
}

/* So many instructions, the last of them the call-through with this service; returns its result. */
static int32_t work_and_call(struct rig *rig, unsigned instructions, uint32_t msr, uint32_t service,
                             uint32_t argument)
{
    for (uint32_t i = 0; i < instructions; i++)
        assert_true(mem_put32(rig->mem, CODE + 4 * i, i + 1 < instructions ? NOP : CALLTHRU));
    rig->regs.pc = CODE;
    rig->regs.msr = msr;
    rig->regs.gpr[3] = service;
    rig->regs.gpr[4] = argument;
    struct core_exit exit = core_run(cores_get(rig->node.cores, 0), 1000000);
    assert_int_equal(exit.reason, CORE_CALLTHRU);
    assert_int_equal(rig->regs.pc, CODE + 4 * instructions);
    assert_true(node_call_through(&rig->node, 0, &rig->regs, rig->mem));
    return (int32_t)rig->regs.gpr[3];
}

static uint64_t instructions_of(struct rig *rig, int pid)
{
    uint64_t user[COUNTERS_SET];
    assert_true(counters_of(observe_counters_get(rig->counters), pid, user));
    return user[INST];
}

static void BGL_09_the_call_through_works_in_user_and_in_supervisor_mode(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig);
    assert_int_equal(work_and_call(&rig, 3, 0, 0, 0), 1);
    assert_int_equal(work_and_call(&rig, 3, MSR_PR, 0, 0), 1);
    assert_int_equal(work_and_call(&rig, 3, 0, 99, 0), -ENOSYS);
    assert_int_equal(work_and_call(&rig, 3, MSR_PR, 99, 0), -ENOSYS);
    rig_close(&rig);
}

static void BGL_11_a_task_switch_selects_the_process_that_is_counted(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig);
    assert_int_equal(work_and_call(&rig, 10, 0, TASK_SWITCH, 41),
                     0); /* before that of no process */
    assert_int_equal(work_and_call(&rig, 7, 0, TASK_SWITCH, 42), 0);
    assert_int_equal(work_and_call(&rig, 20, 0, TASK_SWITCH, 41), 0);
    assert_int_equal(instructions_of(&rig, 41), 7);
    assert_int_equal(instructions_of(&rig, 42), 20);
    assert_int_equal(work_and_call(&rig, 5, MSR_PR, TASK_SWITCH, 42),
                     -EPERM); /* a program may not */
    assert_int_equal(work_and_call(&rig, 4, 0, TASK_SWITCH, 42), 0);
    assert_int_equal(instructions_of(&rig, 41), 7 + 5 + 4);
    assert_int_equal(instructions_of(&rig, 42), 20);
    rig_close(&rig);
}

/* Planted: the set stays taken. */
static void BGL_12_a_task_exit_frees_the_set(void **state)
{
    struct rig rig;
    uint64_t user[COUNTERS_SET];
    (void)state;
    rig_open(&rig);
    for (uint32_t pid = 1; pid <= COUNTERS_PROCESSES; pid++)
        assert_int_equal(work_and_call(&rig, 2, 0, TASK_SWITCH, pid), 0);
    assert_int_equal(rig.said, 0);
    assert_int_equal(work_and_call(&rig, 2, MSR_PR, TASK_EXIT, 1), -EPERM);
    assert_true(counters_of(observe_counters_get(rig.counters), 1, user));
    assert_int_equal(work_and_call(&rig, 2, 0, TASK_EXIT, 1), 0);
    assert_false(counters_of(observe_counters_get(rig.counters), 1, user));
    assert_int_equal(work_and_call(&rig, 2, 0, TASK_SWITCH, 5000), 0); /* its set is this one's */
    assert_int_equal(work_and_call(&rig, 9, 0, TASK_SWITCH, 2), 0);
    assert_int_equal(instructions_of(&rig, 5000), 9);
    assert_int_equal(rig.said, 0);
    assert_int_equal(work_and_call(&rig, 2, 0, TASK_SWITCH, 5001), 0);
    assert_int_equal(rig.said, 1); /* now there are 129 */
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BGL_09_the_call_through_works_in_user_and_in_supervisor_mode),
        cmocka_unit_test(BGL_11_a_task_switch_selects_the_process_that_is_counted),
        cmocka_unit_test(BGL_12_a_task_exit_frees_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
