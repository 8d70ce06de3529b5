/* A window of records around a trigger. include/chiliad/capture.h has the passes. */
#include "chiliad/capture.h"

#include <stdlib.h>

#include "base/mem.h"

/* How far back the window pass starts, in transactions: the ring is likely full then, as most
 * transactions are many instructions apart. */
enum { BACK_LEAST = 16, BACK_SHARE = 8, BACK_FACTOR = 16 };

/* The last records, while the trigger has not come. */
struct ring {
    struct chil_trace_item *items; /* NULL: of size 0 */
    size_t size, count, next;
};

struct chil_capture {
    struct chil_capture_options options;
    bool two_passes, is_window; /* is_window: in the second pass or later */
    struct ring ring;
    uint64_t matches;      /* of the trigger's condition */
    uint64_t transactions; /* reported in this pass */
    bool fired;            /* the trigger has come */
    bool marked;           /* its record has been kept */
    uint64_t left;         /* records to be kept after it */
    /* The trigger, if it is a transaction, and its number in the search pass. */
    struct chil_transaction trigger;
    uint64_t trigger_number;
    /* The window pass. */
    uint64_t back, on_from; /* on_from: the transaction that switches instructions on */
    bool differs, is_short; /* is_short: the ring was not full at the trigger */
};

static bool has_trigger(const struct chil_capture *c)
{
    return c->options.where || c->options.at_pc;
}

struct chil_capture *chil_capture_new(const struct chil_capture_options *options)
{
    struct chil_capture *c = base_calloc(1, sizeof *c);
    c->options = *options;
    c->two_passes = !chil_trace_has_transactions(options->kind) && options->where &&
                    options->before && !options->once;
    c->back = options->before / BACK_SHARE + BACK_LEAST;
    c->ring.size = has_trigger(c) ? options->before : 0;
    if (c->ring.size) c->ring.items = base_reserve(c->ring.size * sizeof *c->ring.items);
    return c;
}

void chil_capture_free(struct chil_capture *c)
{
    if (!c) return;
    if (c->ring.items) base_release(c->ring.items, c->ring.size * sizeof *c->ring.items);
    free(c);
}

/* --- The ring -------------------------------------------------------------------------------- */

static void ring_push(struct ring *ring, const struct chil_trace_item *item)
{
    if (!ring->size) return;
    ring->items[ring->next] = *item;
    ring->next = (ring->next + 1) % ring->size;
    if (ring->count < ring->size) ring->count++;
}

/* Keeps what the ring has, the oldest first. */
static void ring_drain(struct chil_capture *c)
{
    struct ring *ring = &c->ring;
    if (!ring->size) return;
    size_t first = (ring->next + ring->size - ring->count) % ring->size;
    for (size_t i = 0; i < ring->count; i++)
        (void)c->options.keep(c->options.context, &ring->items[(first + i) % ring->size]);
    ring->count = 0;
}

/* --- Records --------------------------------------------------------------------------------- */

static bool keep_trigger(struct chil_capture *c, struct chil_trace_item *item)
{
    ring_drain(c);
    item->trigger = c->marked = true;
    c->left = c->options.after;
    return c->options.keep(c->options.context, item) && c->left;
}

static bool keep_after(struct chil_capture *c, const struct chil_trace_item *item)
{
    if (c->marked && !c->left) return false;
    if (c->marked) c->left--;
    return c->options.keep(c->options.context, item) && (!c->marked || c->left);
}

/* Whether the transaction is the trigger. */
static bool match(struct chil_capture *c, const struct chil_transaction *transaction)
{
    if (!chil_where_holds(c->options.where, transaction) || ++c->matches < c->options.nth)
        return false;
    c->fired = true;
    c->trigger = *transaction;
    c->trigger_number = c->transactions;
    return true;
}

static uint8_t number_of(struct chil_ranges *ranges, uint32_t address, uint8_t otherwise)
{
    return ranges ? (uint8_t)chil_ranges_look_up(ranges, address) : otherwise;
}

static void take_transaction(struct chil_capture *c, const struct chil_transaction *transaction)
{
    struct chil_trace_item item = {.transaction = *transaction};
    struct chil_transaction *t = &item.transaction;
    t->tag = number_of(c->options.tags, t->address, t->tag);
    t->category = number_of(c->options.categories, t->pc, t->category);
    if (!c->options.where || c->fired)
        (void)keep_after(c, &item);
    else if (match(c, transaction))
        (void)keep_trigger(c, &item);
    else
        ring_push(&c->ring, &item);
}

static bool is_same(const struct chil_transaction *a, const struct chil_transaction *b)
{
    return a->start == b->start && a->end == b->end && a->address == b->address && a->pc == b->pc &&
           a->kind == b->kind && a->sender == b->sender && a->core == b->core && a->pid == b->pid;
}

/* A transaction while the records are instructions. */
static void watch_transaction(struct chil_capture *c, const struct chil_transaction *transaction)
{
    if (!c->is_window) {
        if (!c->fired && match(c, transaction)) c->options.report(c->options.context, true);
        return;
    }
    if (c->transactions == c->on_from) c->options.report(c->options.context, true);
    if (c->transactions != c->trigger_number) return;
    c->fired = true;
    c->differs = !is_same(transaction, &c->trigger);
}

void chil_capture_transaction(struct chil_capture *c, const struct chil_transaction *transaction,
                              bool on)
{
    c->transactions++;
    if (!chil_trace_has_transactions(c->options.kind))
        watch_transaction(c, transaction);
    else if (on)
        take_transaction(c, transaction);
}

/* Whether the record is the trigger's: the instruction at the address, or the first one of the
 * transaction's sender at its pc. */
static bool is_trigger(struct chil_capture *c, const struct chil_trace_record *record)
{
    const struct chil_capture_options *o = &c->options;
    if (o->at_pc && !c->fired && record->pc == o->pc) return c->fired = ++c->matches == o->nth;
    return c->fired && !c->marked && record->core == c->trigger.sender &&
           record->pc == c->trigger.pc;
}

bool chil_capture_record(struct chil_capture *c, const struct chil_trace_record *record)
{
    bool trigger = is_trigger(c, record);
    if (c->options.kind == CHIL_TRACE_MEMORY && !record->access && !trigger) return true;
    struct chil_trace_item item = {.record = *record};
    struct chil_trace_record *r = &item.record;
    if (c->options.tags) r->tag = r->access ? number_of(c->options.tags, r->address, 0) : 0;
    r->category = number_of(c->options.categories, r->pc, r->category);
    if (!has_trigger(c) || c->marked) return keep_after(c, &item);
    if (!trigger) {
        ring_push(&c->ring, &item);
        return true;
    }
    c->is_short = c->is_window && c->on_from && c->ring.count < c->options.before;
    return !c->is_short && keep_trigger(c, &item);
}

/* --- Passes ---------------------------------------------------------------------------------- */

void chil_capture_begin(struct chil_capture *c, struct chil_capture_pass *pass)
{
    const struct chil_capture_options *o = &c->options;
    bool instructions = !chil_trace_has_transactions(o->kind),
         search = c->two_passes && !c->is_window;
    c->fired = c->marked = c->differs = c->is_short = false;
    c->transactions = c->ring.count = c->ring.next = 0;
    if (!c->is_window) c->matches = 0;
    c->on_from = c->is_window && c->trigger_number > c->back ? c->trigger_number - c->back : 0;
    *pass = (struct chil_capture_pass){.instructions = instructions && !search,
                                       .transactions = !instructions || o->where,
                                       .is_search = search,
                                       .is_repeat = c->is_window};
    if (instructions && o->where)
        pass->starts_off = c->is_window ? c->on_from > 0 : !o->once || !o->before;
}

bool chil_capture_is_over(const struct chil_capture *c)
{
    return c->is_window && (c->differs || c->is_short || (c->marked && !c->left));
}

enum chil_capture_outcome chil_capture_end(struct chil_capture *c)
{
    if (c->is_short) {
        c->back *= BACK_FACTOR;
        return CHIL_CAPTURE_AGAIN;
    }
    if (c->is_window && (c->differs || !c->fired)) return CHIL_CAPTURE_DIFFERS;
    if (has_trigger(c) && !c->fired) return CHIL_CAPTURE_ABSENT;
    if (c->two_passes && !c->is_window) {
        c->is_window = true;
        return CHIL_CAPTURE_AGAIN;
    }
    if (c->fired && !c->marked) ring_drain(c); /* the trigger's instruction did not complete */
    return CHIL_CAPTURE_DONE;
}

uint64_t chil_capture_matches(const struct chil_capture *c)
{
    return c->matches;
}

uint64_t chil_capture_transactions(const struct chil_capture *c)
{
    return c->transactions;
}
