/* A monitor thread reads live counts while another drives the unit (UPC-36). Run under
 * ThreadSanitizer too. */
#include "rig_upc.h"

#include <pthread.h>
#include <stdatomic.h>

enum { COUNTERS = 256 };

struct shared {
    struct chil_upc *upc;
    _Atomic bool stop;
    _Atomic uint64_t looks;
    _Atomic bool went_back;
};

/* Counts only grow, and a threshold's hidden offset must never show. */
static void *watch(void *context)
{
    struct shared *shared = context;
    uint64_t last[COUNTERS] = {0};
    while (!atomic_load(&shared->stop)) {
        for (uint32_t c = 0; c < COUNTERS; c++) {
            uint64_t value = 0;
            if (chil_upc_peek(shared->upc, c, &value) || value < last[c])
                atomic_store(&shared->went_back, true);
            last[c] = value;
        }
        atomic_fetch_add(&shared->looks, 1);
    }
    return NULL;
}

static void UPC_36_another_thread_reads_live_values(void **state)
{
    (void)state;
    struct shared shared = {0};
    pthread_t monitor;
    uint64_t now = 0, expected[COUNTERS] = {0}, random = 5;
    assert_int_equal(chil_upc_new(&shared.upc, &(struct chil_upc_geometry){COUNTERS, 4, 12, 16},
                                  CHIL_UPC_FAST, NULL, NULL, NULL),
                     0);
    chil_upc_start(shared.upc);
    assert_int_equal(pthread_create(&monitor, NULL, watch, &shared), 0);
    for (uint64_t round = 0; round < random_trials(20000) || atomic_load(&shared.looks) < 50;
         round++) {
        uint32_t c = (uint32_t)random_below(&random, COUNTERS);
        struct chil_upc_train train = {c, now, 1 + random_below(&random, 3000), 2, 1};
        assert_int_equal(chil_upc_raise(shared.upc, &train), 0);
        expected[c] += train.count;
        now += train.count * 2;
        assert_int_equal(chil_upc_advance(shared.upc, now), 0);
        if (round % 64 == 0)
            assert_int_equal(chil_upc_threshold(shared.upc, c, expected[c] + 1000), 0);
    }
    atomic_store(&shared.stop, true);
    assert_int_equal(pthread_join(monitor, NULL), 0);
    assert_false(atomic_load(&shared.went_back));
    for (uint32_t c = 0; c < COUNTERS; c++) {
        uint64_t value = 0;
        assert_int_equal(chil_upc_peek(shared.upc, c, &value), 0);
        assert_int_equal(value, expected[c]);
    }
    chil_upc_free(shared.upc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(UPC_36_another_thread_reads_live_values)};
    return cmocka_run_group_tests_name("upc threads", tests, NULL, NULL);
}
