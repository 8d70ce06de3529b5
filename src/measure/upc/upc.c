/* The front of the counter unit: arguments, configuration, thresholds, notices. Counting is in the
 * models.
 *
 * Thresholds (ERR-01, ERR-04). The unit has one threshold register, and an interrupt comes with the
 * carry-out that follows a match of the array word with the register's high part n: when the stored
 * value passes (n + 1) << low_bits. chil_upc_threshold(T) stores (n + 1) << low_bits minus the
 * events still missing, and keeps the difference to the true count as the counter's offset. For the
 * first threshold n is (T - 1) >> low_bits, which for a zero count preloads just the low part, as
 * the paper says; later ones share that n and preload the whole word.
 */
#include "chiliad/upc.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chiliad/catalog.h"
#include "measure/upc/upc_impl.h"

static int refuse_geometry(const struct chil_upc_geometry *g, struct chil_error *err)
{
    return chil_error_set(
        err, CHIL_ERANGE,
        "no counter unit of %u counters, %u inputs, %u low bits, %u-cycle slots: counters must be "
        "1..%d, inputs 1..%d, low bits 1..%d, slots at least 1",
        g->counters, g->inputs, g->low_bits, g->slot_cycles, CHIL_UPC_COUNTERS_MAX,
        CHIL_UPC_INPUTS_MAX, CHIL_UPC_LOW_BITS_MAX);
}

int chil_upc_geometry_check(const struct chil_upc_geometry *g, struct chil_error *err)
{
    if (g->counters < 1 || g->counters > CHIL_UPC_COUNTERS_MAX || g->inputs < 1 ||
        g->inputs > CHIL_UPC_INPUTS_MAX || g->low_bits < 1 || g->low_bits > CHIL_UPC_LOW_BITS_MAX ||
        g->slot_cycles < 1)
        return refuse_geometry(g, err);
    uint64_t round = (uint64_t)g->counters * g->slot_cycles;
    if (round <= UINT64_C(1) << g->low_bits) return 0;
    unsigned needed = bits_ceil_log2(round);
    if (needed > CHIL_UPC_LOW_BITS_MAX)
        return chil_error_set(
            err, CHIL_EGEOMETRY,
            "%u counters x %u-cycle slots make a round of %llu cycles, longer than any low part "
            "lasts; use fewer counters or shorter slots",
            g->counters, g->slot_cycles, (unsigned long long)round);
    return chil_error_set(
        err, CHIL_EGEOMETRY,
        "%u counters x %u-cycle slots make a round of %llu cycles, but a %u-bit low part can carry "
        "every %llu: carries would be lost; use at least %u low bits",
        g->counters, g->slot_cycles, (unsigned long long)round, g->low_bits, 1ULL << g->low_bits,
        needed);
}

int chil_upc_geometry_of(const struct chil_machine *machine, struct chil_upc_geometry *geometry)
{
    uint64_t counters, inputs, low_bits, slot_cycles;
    if (chil_machine_number(machine, "upc.counters", &counters) ||
        chil_machine_number(machine, "upc.inputs", &inputs) ||
        chil_machine_number(machine, "upc.low_bits", &low_bits) ||
        chil_machine_number(machine, "upc.slot_cycles", &slot_cycles))
        return CHIL_ENOENT;
    *geometry = (struct chil_upc_geometry){(uint32_t)counters, (uint32_t)inputs, (uint32_t)low_bits,
                                           (uint32_t)slot_cycles};
    return 0;
}

void chil_upc_bits(const struct chil_upc_geometry *g, struct chil_upc_bits *bits)
{
    enum {
        MODE_BITS = 2,
        INTERRUPT_BITS = 1,
        CARRY_BITS = 1,
        ARMED_BITS = 1,
        THRESHOLD_BITS = 64,
        RUN_BITS = 1
    };
    bits->word_bits = 64 - g->low_bits;
    bits->parity_bits = bits_ceil_div(bits->word_bits, 8);
    bits->array = g->counters * (bits->word_bits + bits->parity_bits);
    bits->registers =
        (uint64_t)g->counters * (g->low_bits + CARRY_BITS + ARMED_BITS + bits_ceil_log2(g->inputs) +
                                 MODE_BITS + INTERRUPT_BITS) +
        THRESHOLD_BITS + RUN_BITS;
    bits->round_cycles = (uint64_t)g->counters * g->slot_cycles;
}

int chil_upc_new(struct chil_upc **out, const struct chil_upc_geometry *geometry,
                 enum chil_upc_model model, chil_upc_notify notify, void *context,
                 struct chil_error *err)
{
    int status = chil_upc_geometry_check(geometry, err);
    if (status) return status;
    struct chil_upc *upc = base_calloc(1, sizeof *upc);
    upc->geometry = *geometry;
    chil_upc_map(geometry, &upc->map);
    upc->ops = model == CHIL_UPC_REFERENCE ? &upc_ref_ops : &upc_fast_ops;
    upc->notify = notify;
    upc->context = context;
    upc->threshold = UINT64_MAX;
    upc->read_latch_offset = upc->write_hold_offset = UPC_NEVER;
    upc->counters =
        base_calloc_aligned(geometry->counters, sizeof *upc->counters, alignof(struct upc_counter));
    for (uint32_t c = 0; c < geometry->counters; c++) {
        upc->counters[c].wire = c;
        upc->counters[c].carry_cycle = UPC_NEVER;
    }
    upc->model = upc->ops->create(upc);
    *out = upc;
    return 0;
}

void chil_upc_free(struct chil_upc *upc)
{
    if (!upc) return;
    upc->ops->destroy(upc->model);
    free(upc->counters);
    free(upc->notices);
    free(upc);
}

const struct chil_upc_geometry *chil_upc_geometry(const struct chil_upc *upc)
{
    return &upc->geometry;
}

uint64_t chil_upc_now(const struct chil_upc *upc)
{
    return upc->now;
}

bool chil_upc_running(const struct chil_upc *upc)
{
    return upc->running;
}

/* --- Notices --------------------------------------------------------------------------------- */

void upc_notice_add(struct chil_upc *upc, enum chil_upc_notice_kind kind, uint32_t counter,
                    uint64_t cycle)
{
    upc->notices =
        base_grow(upc->notices, &upc->notice_capacity, upc->notice_count + 1, sizeof *upc->notices);
    upc->notices[upc->notice_count++] = (struct chil_upc_notice){kind, counter, cycle};
}

static int compare_notices(const void *a, const void *b)
{
    const struct chil_upc_notice *x = a, *y = b;
    if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->counter < y->counter ? -1 : x->counter > y->counter;
}

static void deliver(struct chil_upc *upc)
{
    if (upc->notice_count == 0) return;
    if (upc->notice_count > 1)
        qsort(upc->notices, upc->notice_count, sizeof *upc->notices, compare_notices);
    upc->delivering = true;
    for (size_t i = 0; i < upc->notice_count; i++) {
        const struct chil_upc_notice *notice = &upc->notices[i];
        struct upc_counter *counter = &upc->counters[notice->counter];
        if (notice->kind == CHIL_UPC_INTERRUPT) {
            if (counter->pending)
                upc->overruns++;
            else
                counter->pending_cycle = notice->cycle;
            counter->pending = true;
        }
        if (upc->notify) upc->notify(upc->context, notice);
    }
    upc->notice_count = 0;
    upc->delivering = false;
}

/* Every read and write begins with upc_enter and ends with upc_leave: not from inside a notice, not
 * before reported time is over. */
int upc_enter(struct chil_upc *upc)
{
    if (upc->delivering) return CHIL_EBUSY;
    return upc->frontier > upc->now ? CHIL_EORDER : 0;
}

int upc_leave(struct chil_upc *upc, int status)
{
    deliver(upc);
    return status;
}

static int enter_counter(struct chil_upc *upc, uint32_t counter)
{
    return counter < upc->geometry.counters ? upc_enter(upc) : CHIL_ENOENT;
}

/* --- Telling --------------------------------------------------------------------------------- */

int chil_upc_raise_many(struct chil_upc *upc, const struct chil_upc_train *trains, size_t count,
                        size_t *done)
{
    size_t ignored;
    if (upc->delivering) return CHIL_EBUSY;
    return upc->ops->raise(upc, trains, count, done ? done : &ignored);
}

int chil_upc_raise(struct chil_upc *upc, const struct chil_upc_train *train)
{
    return chil_upc_raise_many(upc, train, 1, NULL);
}

int chil_upc_batch(struct chil_upc *upc, uint32_t wire, uint64_t from, uint64_t to,
                   uint64_t occurrences, uint64_t high)
{
    if (to < from || to > CHIL_UPC_CYCLE_MAX || high < occurrences || high > to - from)
        return CHIL_EINVAL;
    if (occurrences == 0)
        return high == 0 && wire < upc->geometry.counters * upc->geometry.inputs ? 0 : CHIL_EINVAL;
    uint64_t period = (to - from) / occurrences, width = high / occurrences,
             longer = high % occurrences;
    if (width + (longer > 0) > period) return CHIL_EINVAL;
    struct chil_upc_train trains[2] = {
        {wire, from, longer, period, width + 1},
        {wire, from + longer * period, occurrences - longer, period, width},
    };
    return longer ? chil_upc_raise_many(upc, trains, 2, NULL) : chil_upc_raise(upc, &trains[1]);
}

int chil_upc_level(struct chil_upc *upc, uint32_t wire, uint64_t cycle, bool level)
{
    if (upc->delivering) return CHIL_EBUSY;
    if (wire >= upc->geometry.counters * upc->geometry.inputs || cycle > CHIL_UPC_CYCLE_MAX)
        return CHIL_EINVAL;
    return upc->ops->level(upc, wire, cycle, level);
}

int chil_upc_advance(struct chil_upc *upc, uint64_t cycle)
{
    if (upc->delivering) return CHIL_EBUSY;
    if (cycle < upc->frontier || cycle < upc->now) return CHIL_EORDER;
    if (cycle > CHIL_UPC_CYCLE_MAX) return CHIL_ERANGE;
    upc->ops->advance(upc, cycle);
    deliver(upc);
    return 0;
}

/* --- Configuration --------------------------------------------------------------------------- */

int chil_upc_configure(struct chil_upc *upc, uint32_t counter, const struct chil_upc_config *config)
{
    int status = enter_counter(upc, counter);
    if (status) return status;
    if (config->input >= upc->geometry.inputs || !chil_count_mode_word((int)config->mode))
        return CHIL_EINVAL;
    upc->ops->configure(upc, counter, config);
    return upc_leave(upc, 0);
}

int chil_upc_config(const struct chil_upc *upc, uint32_t counter, struct chil_upc_config *config)
{
    if (counter >= upc->geometry.counters) return CHIL_ENOENT;
    const struct upc_counter *c = &upc->counters[counter];
    *config = (struct chil_upc_config){c->wire / upc->geometry.counters,
                                       (enum chil_count_mode)c->mode, c->interrupt};
    return 0;
}

int chil_upc_select(struct chil_upc *upc, uint32_t wire, enum chil_count_mode mode)
{
    struct chil_upc_config config = {wire / upc->geometry.counters, mode, false};
    return chil_upc_configure(upc, wire % upc->geometry.counters, &config);
}

void upc_set_run(struct chil_upc *upc, bool running)
{
    upc->ops->run(upc, running);
    upc->running = running;
}

static int set_run(struct chil_upc *upc, bool running)
{
    int status = upc_enter(upc);
    if (status) return status;
    upc_set_run(upc, running);
    return upc_leave(upc, 0);
}

int chil_upc_start(struct chil_upc *upc)
{
    return set_run(upc, true);
}

int chil_upc_stop(struct chil_upc *upc)
{
    return set_run(upc, false);
}

/* --- Values and thresholds ------------------------------------------------------------------- */

/* Peeking threads must not pair a new value with an old offset: `writes` is odd in between. */
void upc_write_value(struct chil_upc *upc, uint32_t counter, uint64_t value, uint64_t offset)
{
    uint32_t writes = atomic_load_explicit(&upc->writes, memory_order_relaxed);
    atomic_store_explicit(&upc->writes, writes + 1, memory_order_relaxed);
    atomic_store_explicit(&upc->counters[counter].offset, offset, memory_order_release);
    upc->ops->write(upc, counter, value);
    atomic_store_explicit(&upc->writes, writes + 2, memory_order_release);
}

static uint64_t offset_of(const struct chil_upc *upc, uint32_t counter)
{
    return atomic_load_explicit(&upc->counters[counter].offset, memory_order_relaxed);
}

int chil_upc_read(struct chil_upc *upc, uint32_t counter, uint64_t *value)
{
    int status = enter_counter(upc, counter);
    if (status) return status;
    uint64_t stored;
    status = upc->ops->read(upc, counter, &stored);
    if (status == 0) *value = stored - offset_of(upc, counter);
    return upc_leave(upc, status);
}

void upc_set_threshold(struct chil_upc *upc, uint64_t threshold)
{
    upc->ops->set_threshold(upc, threshold);
    upc->threshold = threshold;
}

/* What to store so that `missing` more events raise the interrupt. */
static uint64_t stored_for(const struct chil_upc *upc, uint64_t missing)
{
    return ((upc_high(upc, upc->threshold) + 1) << upc->geometry.low_bits) - missing;
}

int chil_upc_preload(struct chil_upc *upc, uint32_t counter, uint64_t value)
{
    int status = enter_counter(upc, counter);
    if (status) return status;
    uint64_t threshold = upc->counters[counter].api_threshold;
    if (threshold && value >= threshold) return CHIL_ERANGE;
    uint64_t stored = threshold ? stored_for(upc, threshold - value) : value;
    upc_write_value(upc, counter, stored, stored - value);
    return upc_leave(upc, 0);
}

static void set_interrupt(struct chil_upc *upc, uint32_t counter, bool interrupt)
{
    struct chil_upc_config config;
    (void)chil_upc_config(upc, counter, &config);
    config.interrupt = interrupt;
    upc->ops->configure(upc, counter, &config);
}

int chil_upc_threshold(struct chil_upc *upc, uint32_t counter, uint64_t threshold)
{
    uint64_t value = 0;
    int status = chil_upc_read(upc, counter, &value);
    if (status) return status;
    if (threshold && threshold <= value) return CHIL_ERANGE;
    struct upc_counter *c = &upc->counters[counter];
    if (threshold && upc->api_thresholds ==
                         (c->api_threshold != 0)) /* no other counter relies on the register */
        upc_set_threshold(upc, (threshold - 1) & ~bits_mask64(upc->geometry.low_bits));
    upc->api_thresholds += (threshold != 0) - (c->api_threshold != 0);
    c->api_threshold = threshold;
    uint64_t stored = threshold ? stored_for(upc, threshold - value) : value;
    set_interrupt(upc, counter, threshold != 0);
    upc_write_value(upc, counter, stored, stored - value);
    return upc_leave(upc, 0);
}

int chil_upc_distance(struct chil_upc *upc, uint32_t counter, uint64_t *events)
{
    int status = enter_counter(upc, counter);
    if (status) return status;
    *events = UINT64_MAX;
    if (!upc->counters[counter].interrupt) return 0;
    uint64_t stored;
    status = upc->ops->read(upc, counter, &stored);
    if (status == 0) *events = stored_for(upc, stored);
    if (status == 0 && *events == 0) *events = UINT64_MAX;
    return upc_leave(upc, status);
}

int chil_upc_armed(struct chil_upc *upc, uint32_t counter, bool *armed)
{
    int status = enter_counter(upc, counter);
    if (status) return status;
    *armed = upc->ops->armed(upc, counter);
    return upc_leave(upc, 0);
}

int chil_upc_flip(struct chil_upc *upc, uint32_t counter, uint32_t bit)
{
    int status = enter_counter(upc, counter);
    if (status) return status;
    struct chil_upc_bits bits;
    chil_upc_bits(&upc->geometry, &bits);
    if (bit >= bits.word_bits + bits.parity_bits) return CHIL_EINVAL;
    upc->ops->flip(upc, counter, bit);
    return upc_leave(upc, 0);
}

int chil_upc_publish(struct chil_upc *upc)
{
    int status = upc_enter(upc);
    if (status) return status;
    upc->ops->publish(upc);
    return upc_leave(upc, 0);
}

int chil_upc_peek(const struct chil_upc *upc, uint32_t counter, uint64_t *value)
{
    if (counter >= upc->geometry.counters) return CHIL_ENOENT;
    const struct upc_counter *c = &upc->counters[counter];
    uint32_t before;
    do {
        before = atomic_load_explicit(&upc->writes, memory_order_acquire);
        if (atomic_load_explicit(&c->bad, memory_order_acquire)) return CHIL_EPARITY;
        uint64_t stored = atomic_load_explicit(&c->value, memory_order_acquire);
        *value = stored - atomic_load_explicit(&c->offset, memory_order_acquire);
    } while (before % 2 || before != atomic_load_explicit(&upc->writes, memory_order_relaxed));
    return 0;
}
