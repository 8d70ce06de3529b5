/* The fast model: the counter unit in closed form.
 *
 * A count is one 64-bit number; low part, carry latch and array word are parts of it. Three facts
 * about the parts can be observed, and only these are computed:
 *
 * - Arming. A visit arms a counter whose array word equals the threshold's high part n. As a round
 * of visits is no longer than 2^low_bits cycles and a counter takes one event a cycle, at least one
 * visit lies between the event that makes the high part n and the one that makes it n + 1, so the
 * interrupt comes with the latter, exactly. The armed bit is computed when it is read
 * (account_visits).
 * - The last carry (carry_cycle): whether it is still in its latch decides what a flipped bit of
 * the array word does.
 * - A flipped bit: it is found at the first visit or read after the flip.
 *
 * So counting is an addition. When it passes a multiple of 2^low_bits, carry() computes the rest.
 *
 * A wire is known up to a cycle, with the level of the last known cycle and the level that holds
 * from then on. An edge lies between the two, so it is decided only when the next cycle is: pulses
 * that touch never make one. Wires are extended lazily: a level that holds costs nothing until a
 * counter is read or an interrupt may come (see advance).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/upc/upc_impl.h"

struct fast_wire {
    uint64_t known;   /* the wire is known in all cycles before this one */
    uint32_t counter; /* the one that has it as an input */
    bool last;        /* its level in cycle known - 1; low before cycle 0 */
    bool hold;        /* its level from `known` on */
};

/* Flipped bits of an array word that parity sees: found at the first visit after the flip. */
struct fast_fault {
    uint64_t word;
    uint64_t parity;
};

struct fast {
    struct fast_wire *wires;
    struct fast_fault *faults; /* per counter; NULL until the first flip */
    uint64_t horizon; /* no interrupt or parity fault can come in a cycle before this one */
};

/* Counted events: number k (from 0) is counted in cycle first + k / burst * period + k % burst. */
struct run {
    uint64_t first, period, burst, count;
};

static inline uint64_t run_cycle(const struct run *run, uint64_t k)
{
    return run->burst == 1 ? run->first + k * run->period
                           : run->first + k / run->burst * run->period + k % run->burst;
}

static inline uint64_t value_of(const struct upc_counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline uint32_t index_of(const struct chil_upc *upc, const struct upc_counter *counter)
{
    return (uint32_t)(counter - upc->counters);
}

/* --- Visits ---------------------------------------------------------------------------------- */

/* The first cycle, not before `cycle`, at whose end the maintenance machine serves this counter. */
static uint64_t next_visit(const struct chil_upc *upc, uint32_t counter, uint64_t cycle)
{
    uint64_t slot = upc->geometry.slot_cycles, round = slot * upc->geometry.counters;
    uint64_t first = counter * slot + slot - 1;
    return cycle <= first ? first : first + bits_ceil_div(cycle - first, round) * round;
}

static bool has_fault(const struct chil_upc *upc, uint32_t counter)
{
    const struct fast *fast = upc->model;
    return fast->faults && (fast->faults[counter].word | fast->faults[counter].parity);
}

static void clear_fault(struct chil_upc *upc, uint32_t counter)
{
    struct fast *fast = upc->model;
    if (fast->faults) fast->faults[counter] = (struct fast_fault){0};
}

static void find_fault(struct chil_upc *upc, struct upc_counter *counter, uint64_t cycle)
{
    clear_fault(upc, index_of(upc, counter));
    atomic_store_explicit(&counter->bad, true, memory_order_release);
    counter->armed = false;
    upc_notice_add(upc, CHIL_UPC_PARITY, index_of(upc, counter), cycle);
}

/* What the maintenance machine does with a word it reads: checks its parity, compares it. */
static void look_at_word(struct chil_upc *upc, struct upc_counter *counter, uint64_t value,
                         uint64_t threshold, uint64_t cycle)
{
    if (counter->bad) return;
    if (has_fault(upc, index_of(upc, counter)))
        find_fault(upc, counter, cycle);
    else if (counter->interrupt && upc_high(upc, value) == upc_high(upc, threshold))
        counter->armed = true;
}

/* Accounts for the visits in cycles [visited_until, cycle), during which the counter had the high
 * part of `value`. */
static void account_visits(struct chil_upc *upc, struct upc_counter *counter, uint64_t value,
                           uint64_t cycle)
{
    if (cycle <= counter->visited_until) return;
    uint64_t visit = next_visit(upc, index_of(upc, counter), counter->visited_until);
    if (visit < cycle) look_at_word(upc, counter, value, upc->threshold, visit);
    counter->visited_until = cycle;
}

/* --- Counting -------------------------------------------------------------------------------- */

/* The addition of `run` to a counter at `old` passed at least one multiple of 2^low_bits. In one
 * cycle the tick comes before the visit, so a carry in cycle t is later than the visits before t
 * and earlier than the one in t. */
static __attribute__((noinline)) void carry(struct chil_upc *upc, struct upc_counter *counter,
                                            uint64_t old, const struct run *run)
{
    unsigned low_bits = upc->geometry.low_bits;
    uint64_t low = old & bits_mask64(low_bits);
    uint64_t carries = (low + run->count) >> low_bits;
    uint64_t first =
        (UINT64_C(1) << low_bits) - low - 1; /* index in the run of the first event that carries */

    account_visits(upc, counter, old, run_cycle(run, first));
    if (counter->armed)
        upc_notice_add(upc, CHIL_UPC_INTERRUPT, index_of(upc, counter), run_cycle(run, first));
    counter->armed = false;

    uint64_t last = run_cycle(run, first + ((carries - 1) << low_bits));
    bool sound = !counter->bad && !has_fault(upc, index_of(upc, counter));
    uint64_t ahead = (upc_high(upc, upc->threshold) - upc_high(upc, old)) & upc_word_mask(upc);
    if (counter->interrupt && sound && ahead > 0 && ahead < carries)
        upc_notice_add(upc, CHIL_UPC_INTERRUPT, index_of(upc, counter),
                       run_cycle(run, first + (ahead << low_bits)));
    if (!sound)
        account_visits(upc, counter, old,
                       last); /* a fault is found at the first visit, between carries or not */
    counter->visited_until = last;
    counter->carry_cycle = last;
}

static inline void count(struct chil_upc *upc, struct upc_counter *counter, struct run run)
{
    uint64_t old = value_of(counter), new = old + run.count;
    atomic_store_explicit(&counter->value, new, memory_order_relaxed);
    if (__builtin_expect((old ^ new) >> upc->geometry.low_bits != 0, 0))
        carry(upc, counter, old, &run);
}

/* The wire holds its level in cycles [known, cycle): an edge at known, then the level. */
static void extend(struct chil_upc *upc, struct fast_wire *wire, uint32_t number, uint64_t cycle)
{
    if (cycle <= wire->known) return;
    struct upc_counter *counter = &upc->counters[wire->counter];
    if (upc->running && counter->wire == number) {
        bool rise = wire->hold && !wire->last, fall = !wire->hold && wire->last;
        uint64_t cycles = cycle - wire->known;
        if ((counter->mode == CHIL_COUNT_RISE && rise) ||
            (counter->mode == CHIL_COUNT_FALL && fall))
            count(upc, counter, (struct run){wire->known, 1, 1, 1});
        else if ((counter->mode == CHIL_COUNT_HIGH && wire->hold) ||
                 (counter->mode == CHIL_COUNT_LOW && !wire->hold))
            count(upc, counter, (struct run){wire->known, cycles, cycles, cycles});
    }
    wire->last = wire->hold;
    wire->known = cycle;
}

/* Counts a train on a wire that is low from `known` up to its start. */
static inline void count_train(struct chil_upc *upc, struct upc_counter *counter,
                               const struct fast_wire *wire, const struct chil_upc_train *t)
{
    uint64_t gap = t->cycle - wire->known;
    bool touches = wire->last && gap == 0;
    switch (counter->mode) {
    case CHIL_COUNT_HIGH:
        count(upc, counter, (struct run){t->cycle, t->period, t->high, t->count * t->high});
        break;
    case CHIL_COUNT_RISE:
        count(upc, counter,
              (struct run){t->cycle + (touches ? t->period : 0), t->period, 1, t->count - touches});
        break;
    case CHIL_COUNT_FALL:
        if (wire->last && gap) count(upc, counter, (struct run){wire->known, 1, 1, 1});
        count(upc, counter, (struct run){t->cycle + t->high, t->period, 1, t->count - 1});
        break;
    case CHIL_COUNT_LOW:
        if (gap) count(upc, counter, (struct run){wire->known, gap, gap, gap});
        if (t->count > 1) {
            uint64_t low = t->period - t->high;
            count(upc, counter,
                  (struct run){t->cycle + t->high, t->period, low, (t->count - 1) * low});
        }
        break;
    default: break;
    }
}

static inline int raise_one(struct chil_upc *upc, const struct chil_upc_train *given)
{
    uint64_t end;
    if (!upc_train_fits(upc, given, &end)) return CHIL_EINVAL;
    struct chil_upc_train train = *given;
    if (train.high == train.period) { /* pulses that touch are one */
        train.high = train.period *= train.count;
        train.count = 1;
    }
    struct fast *fast = upc->model;
    struct fast_wire *wire = &fast->wires[train.wire];
    if (train.cycle < wire->known || train.cycle < upc->now) return CHIL_EORDER;
    if (wire->hold) return CHIL_EINVAL;
    struct upc_counter *counter = &upc->counters[wire->counter];
    if (counter->wire == train.wire && upc->running) count_train(upc, counter, wire, &train);
    wire->known = end;
    wire->last = true;
    if (end > upc->frontier) upc->frontier = end;
    return 0;
}

static int fast_raise(struct chil_upc *upc, const struct chil_upc_train *trains, size_t count_of,
                      size_t *done)
{
    for (*done = 0; *done < count_of; ++*done) {
        int status = raise_one(upc, &trains[*done]);
        if (status) return status;
    }
    return 0;
}

static int fast_level(struct chil_upc *upc, uint32_t number, uint64_t cycle, bool level)
{
    struct fast *fast = upc->model;
    struct fast_wire *wire = &fast->wires[number];
    if (cycle < wire->known || cycle < upc->now) return CHIL_EORDER;
    extend(upc, wire, number, cycle);
    wire->hold = level;
    if (cycle > upc->frontier) upc->frontier = cycle;
    return 0;
}

/* --- Observations ---------------------------------------------------------------------------- */

/* Brings one counter up to now. */
static void bring_up(struct chil_upc *upc, struct upc_counter *counter)
{
    struct fast *fast = upc->model;
    extend(upc, &fast->wires[counter->wire], counter->wire, upc->now);
    account_visits(upc, counter, value_of(counter), upc->now);
}

/* Brings all watched counters up to now and finds the next cycle in which one of them could give a
 * notice: at one event a cycle, none passes its threshold sooner than it has events left;
 * a fault waits for its visit. */
static void watch(struct chil_upc *upc)
{
    struct fast *fast = upc->model;
    fast->horizon = UPC_NEVER;
    for (uint32_t c = 0; c < upc->geometry.counters; c++) {
        struct upc_counter *counter = &upc->counters[c];
        if (!counter->interrupt && !has_fault(upc, c)) continue;
        bring_up(upc, counter);
        uint64_t limit = (upc_high(upc, upc->threshold) + 1) << upc->geometry.low_bits;
        uint64_t left = limit - 1 - value_of(counter); /* events before the one that interrupts */
        if (counter->armed)
            left &= bits_mask64(upc->geometry.low_bits); /* also after a flip moved the word away */
        uint64_t due = left > UPC_NEVER - upc->now ? UPC_NEVER : upc->now + left;
        if (has_fault(upc, c)) {
            uint64_t visit = next_visit(upc, c, upc->now);
            if (visit < due) due = visit;
        }
        if (due < fast->horizon) fast->horizon = due;
    }
}

static void fast_advance(struct chil_upc *upc, uint64_t cycle)
{
    const struct fast *fast = upc->model;
    upc->now = cycle;
    if (cycle > fast->horizon) watch(upc);
}

static int fast_read(struct chil_upc *upc, uint32_t number, uint64_t *value)
{
    struct upc_counter *counter = &upc->counters[number];
    bring_up(upc, counter);
    if (has_fault(upc, number)) find_fault(upc, counter, upc->now);
    if (counter->bad) return CHIL_EPARITY;
    *value = value_of(counter);
    return 0;
}

static bool fast_armed(struct chil_upc *upc, uint32_t number)
{
    bring_up(upc, &upc->counters[number]);
    return upc->counters[number].armed;
}

static void fast_publish(struct chil_upc *upc)
{
    for (uint32_t c = 0; c < upc->geometry.counters; c++)
        bring_up(upc, &upc->counters[c]);
}

/* --- Changes --------------------------------------------------------------------------------- */

/* A write that touches a counter compares at once (ERR-02), and watches anew. */
static void compare_now(struct chil_upc *upc, struct upc_counter *counter, uint64_t threshold)
{
    if (counter->interrupt) look_at_word(upc, counter, value_of(counter), threshold, upc->now);
}

static void fast_configure(struct chil_upc *upc, uint32_t number,
                           const struct chil_upc_config *config)
{
    struct fast *fast = upc->model;
    struct upc_counter *counter = &upc->counters[number];
    bring_up(upc, counter);
    counter->wire = UINT32_MAX; /* the new wire's past is not counted */
    uint32_t wire = config->input * upc->geometry.counters + number;
    extend(upc, &fast->wires[wire], wire, upc->now);
    counter->wire = wire;
    counter->mode = (uint8_t)config->mode;
    counter->interrupt = config->interrupt;
    counter->armed = false;
    compare_now(upc, counter, upc->threshold);
    fast->horizon = 0;
}

static void fast_run(struct chil_upc *upc, bool running)
{
    struct fast *fast = upc->model;
    fast_publish(upc);
    for (uint32_t c = 0; running && c < upc->geometry.counters; c++)
        compare_now(upc, &upc->counters[c], upc->threshold);
    fast->horizon = 0;
}

static void fast_set_threshold(struct chil_upc *upc, uint64_t threshold)
{
    struct fast *fast = upc->model;
    fast_publish(upc);
    for (uint32_t c = 0; c < upc->geometry.counters; c++) {
        upc->counters[c].armed = false;
        compare_now(upc, &upc->counters[c], threshold);
    }
    fast->horizon = 0;
}

static void fast_write(struct chil_upc *upc, uint32_t number, uint64_t value)
{
    struct fast *fast = upc->model;
    struct upc_counter *counter = &upc->counters[number];
    bring_up(upc, counter);
    clear_fault(upc, number);
    atomic_store_explicit(&counter->value, value, memory_order_release);
    atomic_store_explicit(&counter->bad, false, memory_order_release);
    counter->carry_cycle = UPC_NEVER;
    counter->armed = false;
    compare_now(upc, counter, upc->threshold);
    fast->horizon = 0;
}

/* Whether parity sees the flips: some byte of the word has an odd number of them, its parity bit
 * included. */
static bool is_seen(const struct fast_fault *fault)
{
    for (unsigned byte = 0; byte < 8; byte++)
        if (__builtin_parityll((fault->word >> 8 * byte & 0xFF) << 1 | (fault->parity >> byte & 1)))
            return true;
    return false;
}

static void fast_flip(struct chil_upc *upc, uint32_t number, uint32_t bit)
{
    struct fast *fast = upc->model;
    struct upc_counter *counter = &upc->counters[number];
    bring_up(upc, counter);
    if (counter->bad) return;
    if (!fast->faults) fast->faults = base_calloc(upc->geometry.counters, sizeof *fast->faults);
    struct fast_fault *fault = &fast->faults[number];
    unsigned word_bits = upc_word_bits(upc);
    if (bit < word_bits)
        fault->word ^= UINT64_C(1) << bit;
    else
        fault->parity ^= UINT64_C(1) << (bit - word_bits);
    fast->horizon = 0;
    if (is_seen(fault)) return;

    /* What parity does not see simply changes the word, under a carry that is still in its latch.
     */
    bool latched = counter->carry_cycle != UPC_NEVER &&
                   next_visit(upc, number, counter->carry_cycle) >= upc->now;
    uint64_t value = value_of(counter), low = value & bits_mask64(upc->geometry.low_bits);
    uint64_t word = ((upc_high(upc, value) - latched) ^ fault->word) & upc_word_mask(upc);
    atomic_store_explicit(&counter->value, ((word + latched) << upc->geometry.low_bits) + low,
                          memory_order_release);
    clear_fault(upc, number);
}

static void *fast_create(struct chil_upc *upc)
{
    struct fast *fast = base_calloc(1, sizeof *fast);
    uint32_t wires = upc->geometry.counters * upc->geometry.inputs;
    fast->wires = base_calloc(wires, sizeof *fast->wires);
    for (uint32_t w = 0; w < wires; w++)
        fast->wires[w].counter = w % upc->geometry.counters;
    fast->horizon = UPC_NEVER;
    return fast;
}

static void fast_destroy(void *model)
{
    struct fast *fast = model;
    free(fast->wires);
    free(fast->faults);
    free(fast);
}

const struct upc_ops upc_fast_ops = {
    .create = fast_create,
    .destroy = fast_destroy,
    .raise = fast_raise,
    .level = fast_level,
    .advance = fast_advance,
    .configure = fast_configure,
    .run = fast_run,
    .set_threshold = fast_set_threshold,
    .read = fast_read,
    .write = fast_write,
    .armed = fast_armed,
    .flip = fast_flip,
    .publish = fast_publish,
};
