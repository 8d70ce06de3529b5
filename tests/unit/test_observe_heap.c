/* Blocks of a heap against a plain list of them: random blocks come and go, next to each other and
 * over pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "measure/observe/observe_names.h"
#include "random.h"

/* Blocks begin at multiples of 8 and may touch; a slot has at most SLOT bytes. */
enum { SLOTS = 200, SLOT = 24000, FIRST = 0x10020000 };

struct slot {
    uint32_t size, site;
};

static uint32_t literal(const struct slot *slots, uint32_t address)
{
    const struct slot *slot = &slots[(address - FIRST) / SLOT];
    uint32_t end = (slot->size + 3) & ~UINT32_C(3);
    return (address - FIRST) % SLOT < end ? slot->site : 0;
}

static void compare(const struct observe_heap *heap, const struct slot *slots, uint64_t *random,
                    unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        uint32_t address = FIRST + (uint32_t)random_below(random, SLOTS * SLOT);
        uint32_t slot = (uint32_t)random_below(random, SLOTS),
                 edge = FIRST + slot * SLOT + slots[slot].size - 1;
        assert_int_equal(observe_heap_look_up(heap, address), literal(slots, address));
        if (slots[slot].size) assert_int_equal(observe_heap_look_up(heap, edge), slots[slot].site);
        assert_int_equal(observe_heap_look_up(heap, FIRST + slot * SLOT),
                         literal(slots, FIRST + slot * SLOT));
    }
}

static void blocks_have_their_sites_as_in_a_plain_list(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (uint64_t trial = random_trials(10); trial--;) {
        struct observe_heap *heap = observe_heap_new();
        struct slot slots[SLOTS] = {{0, 0}};
        for (unsigned step = 0; step < 2000; step++) {
            uint32_t i = (uint32_t)random_below(&random, SLOTS), address = FIRST + i * SLOT;
            if (random_below(&random, 3)) {
                uint32_t size =
                    (uint32_t)random_below(&random, random_below(&random, 2) ? 64 : SLOT + 1);
                slots[i] = (struct slot){size, 1 + (uint32_t)random_below(&random, 5)};
                observe_heap_add(heap, address, slots[i].size, slots[i].site);
            } else {
                slots[i] = (struct slot){0, 0};
                observe_heap_remove(heap, address);
            }
            compare(heap, slots, &random, 2);
        }
        struct observe_heap *copy = observe_heap_copy(heap);
        struct slot copied[SLOTS];
        memcpy(copied, slots, sizeof slots);
        for (uint32_t i = 0; i < SLOTS; i += 2) {
            observe_heap_remove(copy, FIRST + i * SLOT);
            copied[i] = (struct slot){0, 0};
        }
        compare(heap, slots, &random, 1000);
        compare(copy, copied, &random, 1000);
        observe_heap_free(copy);
        observe_heap_free(heap);
    }
}

static void many_blocks_are_found_again(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct observe_heap *heap = observe_heap_new();
    for (uint32_t i = 0; i < MANY; i++)
        observe_heap_add(heap, FIRST + 16 * i, 8, i + 1);
    for (uint32_t i = 0; i < MANY; i += 3)
        observe_heap_remove(heap, FIRST + 16 * i);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(observe_heap_look_up(heap, FIRST + 16 * i + 7), i % 3 ? i + 1 : 0);
        assert_int_equal(observe_heap_look_up(heap, FIRST + 16 * i + 8), 0);
    }
    observe_heap_free(heap);
}

static void the_end_of_memory_is_the_end(void **state)
{
    (void)state;
    struct observe_heap *heap = observe_heap_new();
    observe_heap_add(heap, 0xFFFFF000, 0x2000, 3);
    assert_int_equal(observe_heap_look_up(heap, 0xFFFFFFFF), 3);
    assert_int_equal(observe_heap_look_up(heap, 0), 0);
    observe_heap_remove(heap, 0x1234);
    observe_heap_remove(heap, 0xFFFFF000);
    assert_int_equal(observe_heap_look_up(heap, 0xFFFFFFFF), 0);
    observe_heap_free(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_their_sites_as_in_a_plain_list),
        cmocka_unit_test(many_blocks_are_found_again),
        cmocka_unit_test(the_end_of_memory_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
