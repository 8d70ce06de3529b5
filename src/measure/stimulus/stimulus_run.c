/* Runs a stimulus on a counter unit.
 *
 * The unit must know all wires up to the cycle of a read, and none beyond it. The pulses of a line
 * may go on past the lines after it. So pulse trains are kept in a list and driven in parts, up to
 * each cycle at which a step is done; a pulse that is high at that cycle is driven as a level.
 */
#include "measure/stimulus/stimulus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    struct chil_upc_train train; /* what is left of it */
    bool open;                   /* its first pulse was driven as a level, and is still high */
    unsigned line;
};

struct runner {
    const struct chil_stimulus *stimulus;
    const struct chil_stimulus_options *options;
    struct chil_stimulus_result *result;
    struct chil_error *err;
    struct chil_upc *upc;
    struct waiting *waiting;
    size_t waiting_count, waiting_capacity;
    size_t counter_capacity, reading_capacity, notice_capacity, poll_capacity;
    uint64_t next_poll;
};

static void keep_notice(void *context, const struct chil_upc_notice *notice)
{
    struct runner *r = context;
    struct chil_stimulus_result *result = r->result;
    result->notices =
        base_grow(result->notices, &r->notice_capacity, result->notice_count + 1, sizeof *notice);
    result->notices[result->notice_count++] = *notice;
    for (size_t i = 0; i < result->poll_count; i++)
        if (notice->kind == CHIL_UPC_INTERRUPT && result->polls[i].counter == notice->counter &&
            result->polls[i].interrupt_cycle == UINT64_MAX)
            result->polls[i].interrupt_cycle = notice->cycle;
}

static int fail(const struct runner *r, unsigned line, int status, const char *what)
{
    return chil_error_set(r->err, status, "%s:%u: %s: %s", r->stimulus->name, line, what,
                          chil_status_text(status));
}

/* --- Pulses that wait ------------------------------------------------------------------------ */

/* Drives the part of a waiting train that lies before `cycle`; *done when nothing is left. */
static int raise_until(struct runner *r, struct waiting *w, uint64_t cycle, bool *done)
{
    struct chil_upc_train *t = &w->train;
    int status = 0;
    if (w->open && t->cycle + t->high <= cycle) {
        status = chil_upc_level(r->upc, t->wire, t->cycle + t->high, false);
        w->open = false;
        t->cycle += t->period;
        t->count--;
    }
    if (!status && !w->open && t->count && t->cycle + t->high <= cycle) {
        uint64_t whole = (cycle - t->high - t->cycle) / t->period + 1;
        struct chil_upc_train now = *t;
        if (now.count > whole) now.count = whole;
        status = chil_upc_raise(r->upc, &now);
        t->cycle += now.count * t->period;
        t->count -= now.count;
    }
    if (!status && !w->open && t->count && t->cycle < cycle) {
        status = chil_upc_level(r->upc, t->wire, t->cycle, true);
        w->open = true;
    }
    *done = t->count == 0;
    return status ? fail(r, w->line, status, "these pulses do not fit on their wire") : 0;
}

static int raise_all(struct runner *r, uint64_t cycle)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->waiting_count; i++) {
        bool done;
        int status = raise_until(r, &r->waiting[i], cycle, &done);
        if (status) return status;
        if (!done) r->waiting[kept++] = r->waiting[i];
    }
    r->waiting_count = kept;
    return 0;
}

/* --- Polling --------------------------------------------------------------------------------- */

static const struct chil_stimulus_counter *find_counter(const struct chil_stimulus_result *result,
                                                        uint32_t counter)
{
    for (size_t i = 0; i < result->counter_count; i++)
        if (result->counters[i].counter == counter) return &result->counters[i];
    return NULL;
}

static void poll_once(struct runner *r)
{
    for (size_t i = 0; i < r->result->poll_count; i++) {
        struct chil_stimulus_poll *poll = &r->result->polls[i];
        const struct chil_stimulus_counter *counter = find_counter(r->result, poll->counter);
        uint64_t value;
        if (poll->seen_cycle != UINT64_MAX) continue;
        r->result->poll_reads++;
        if (chil_upc_read(r->upc, poll->counter, &value) == 0 && value >= counter->threshold)
            poll->seen_cycle = chil_upc_now(r->upc);
    }
}

static int advance(struct runner *r, uint64_t cycle, unsigned line)
{
    for (;;) {
        uint64_t to = r->options->poll && r->next_poll < cycle ? r->next_poll : cycle;
        int status = raise_all(r, to);
        if (status) return status;
        status = chil_upc_advance(r->upc, to);
        if (status) return fail(r, line, status, "time cannot go on");
        if (to == cycle) return 0;
        poll_once(r);
        r->next_poll += r->options->poll;
    }
}

/* --- Steps ----------------------------------------------------------------------------------- */

static struct chil_stimulus_counter *configured(struct runner *r, const struct stimulus_step *step)
{
    struct chil_stimulus_result *result = r->result;
    uint32_t counter = (uint32_t)(step->wire % r->stimulus->geometry.counters);
    for (size_t i = 0; i < result->counter_count; i++)
        if (result->counters[i].counter == counter) return &result->counters[i];
    result->counters = base_grow(result->counters, &r->counter_capacity, result->counter_count + 1,
                                 sizeof *result->counters);
    struct chil_stimulus_counter *added = &result->counters[result->counter_count++];
    *added = (struct chil_stimulus_counter){.event = step->what, .counter = counter};
    return added;
}

static int do_count(struct runner *r, const struct stimulus_step *step)
{
    struct chil_stimulus_counter *counter = configured(r, step);
    counter->event = step->what;
    return chil_upc_configure(r->upc, counter->counter, &step->config);
}

static int do_threshold(struct runner *r, const struct stimulus_step *step)
{
    struct chil_stimulus_counter *counter = configured(r, step);
    int status = chil_upc_threshold(r->upc, counter->counter, step->number);
    if (status) return status;
    counter->threshold = step->number;
    if (!r->options->poll || !step->number) return 0;
    struct chil_stimulus_result *result = r->result;
    result->polls =
        base_grow(result->polls, &r->poll_capacity, result->poll_count + 1, sizeof *result->polls);
    result->polls[result->poll_count++] =
        (struct chil_stimulus_poll){counter->counter, UINT64_MAX, UINT64_MAX};
    return 0;
}

/* A number that must fit 32 bits; one that does not stays one that is refused. */
static uint32_t narrow(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static int do_read(struct runner *r, const struct stimulus_step *step)
{
    struct chil_stimulus_reading reading = {
        .line = step->line, .cycle = step->cycle, .what = step->what};
    struct chil_stimulus_result *result = r->result;
    uint32_t counter = (uint32_t)(step->wire % r->stimulus->geometry.counters);
    reading.status = step->verb == STIMULUS_READ
                         ? chil_upc_read(r->upc, counter, &reading.value)
                         : chil_upc_load(r->upc, step->wire, narrow(step->period), &reading.value);
    if (reading.status && reading.status != CHIL_EPARITY) return reading.status;
    result->readings = base_grow(result->readings, &r->reading_capacity, result->reading_count + 1,
                                 sizeof *result->readings);
    result->readings[result->reading_count++] = reading;
    return 0;
}

static int do_pulse(struct runner *r, const struct stimulus_step *step)
{
    struct chil_upc_train train = {(uint32_t)step->wire, step->cycle, step->number, step->period,
                                   step->high};
    if (train.high == train.period) { /* touching pulses are one */
        train.high = train.period *= train.count;
        train.count = 1;
    }
    for (size_t i = 0; i < r->waiting_count; i++)
        if (r->waiting[i].train.wire == train.wire)
            return chil_error_set(r->err, CHIL_EORDER,
                                  "%s:%u: the pulses of line %u still go on on this wire",
                                  r->stimulus->name, step->line, r->waiting[i].line);
    r->waiting =
        base_grow(r->waiting, &r->waiting_capacity, r->waiting_count + 1, sizeof *r->waiting);
    r->waiting[r->waiting_count++] = (struct waiting){train, false, step->line};
    return 0;
}

static int act(struct runner *r, const struct stimulus_step *step)
{
    uint32_t counter = (uint32_t)(step->wire % r->stimulus->geometry.counters);
    switch (step->verb) {
    case STIMULUS_COUNT: return do_count(r, step);
    case STIMULUS_THRESHOLD: return do_threshold(r, step);
    case STIMULUS_PRELOAD: return chil_upc_preload(r->upc, counter, step->number);
    case STIMULUS_START: return chil_upc_start(r->upc);
    case STIMULUS_STOP: return chil_upc_stop(r->upc);
    case STIMULUS_LEVEL:
        return chil_upc_level(r->upc, (uint32_t)step->wire, step->cycle, step->number);
    case STIMULUS_PULSE: return do_pulse(r, step);
    case STIMULUS_READ:
    case STIMULUS_LOAD: return do_read(r, step);
    case STIMULUS_STORE:
        return chil_upc_store(r->upc, step->wire, narrow(step->period), step->number);
    case STIMULUS_FLIP: return chil_upc_flip(r->upc, counter, narrow(step->number));
    default: return 0;
    }
}

/* Without an `end` line the run goes on until the last pulse is over. */
static uint64_t end_of(const struct chil_stimulus *s)
{
    const struct stimulus_step *last = &s->steps[s->step_count - 1];
    if (last->verb == STIMULUS_END) return last->cycle;
    uint64_t end = last->cycle + 1;
    for (size_t i = 0; i < s->step_count; i++) {
        const struct stimulus_step *step = &s->steps[i];
        uint64_t over = step->cycle + (step->number - 1) * step->period + step->high + 1;
        if (step->verb == STIMULUS_PULSE && over > end) end = over;
    }
    return end;
}

/* Work that grows with the cycles, not with the lines, has a limit: nothing hangs because of a
 * large number. */
enum { STEPS_MAX = 1 << 24 };
#define TICKS_MAX (UINT64_C(1) << 32) /* of all counters, on the reference */

static int check_length(const struct runner *r)
{
    unsigned long long end = end_of(r->stimulus);
    if (r->options->model == CHIL_UPC_REFERENCE && end > STEPS_MAX)
        return chil_error_set(
            r->err, CHIL_ERANGE,
            "%s: %llu cycles are too many for the reference, which steps through at most %d; leave "
            "--reference away or shorten it",
            r->stimulus->name, end, STEPS_MAX);
    if (r->options->model == CHIL_UPC_REFERENCE && end > TICKS_MAX / r->stimulus->geometry.counters)
        return chil_error_set(
            r->err, CHIL_ERANGE,
            "%s: %llu cycles of %u counters are too many for the reference, which steps through each; "
            "leave --reference away or shorten it",
            r->stimulus->name, end, r->stimulus->geometry.counters);
    if (r->options->poll && end / r->options->poll > STEPS_MAX)
        return chil_error_set(r->err, CHIL_ERANGE,
                              "%s: polling %llu times is too often; poll at most %d times",
                              r->stimulus->name, end / r->options->poll, STEPS_MAX);
    return 0;
}

static int run_steps(struct runner *r)
{
    const struct chil_stimulus *s = r->stimulus;
    for (size_t i = 0; i < s->step_count; i++) {
        const struct stimulus_step *step = &s->steps[i];
        int status = advance(r, step->cycle, step->line);
        if (status) return status;
        r->err->text[0] = 0;
        status = act(r, step);
        if (status)
            return r->err->text[0]
                       ? status
                       : fail(r, step->line, status, step->what ? step->what : "this step");
    }
    r->result->end = end_of(s);
    int status = advance(r, r->result->end, s->steps[s->step_count - 1].line);
    if (r->options->poll) poll_once(r);
    for (size_t i = 0; !status && i < r->result->counter_count; i++) {
        struct chil_stimulus_counter *counter = &r->result->counters[i];
        (void)chil_upc_config(r->upc, counter->counter, &counter->config);
        counter->status = chil_upc_read(r->upc, counter->counter, &counter->value);
    }
    return status;
}

int chil_stimulus_run(const struct chil_stimulus *stimulus,
                      const struct chil_stimulus_options *options,
                      struct chil_stimulus_result *result, struct chil_error *err)
{
    struct chil_error ignored;
    *result = (struct chil_stimulus_result){0};
    struct runner r = {
        .stimulus = stimulus, .options = options, .result = result, .err = err ? err : &ignored};
    r.next_poll = options->poll;
    int status = check_length(&r);
    if (status) return status;
    status = chil_upc_new(&r.upc, &stimulus->geometry, options->model, keep_notice, &r, err);
    if (status) return status;
    status = run_steps(&r);
    chil_upc_free(r.upc);
    free(r.waiting);
    if (status) chil_stimulus_result_free(result);
    return status;
}

void chil_stimulus_result_free(struct chil_stimulus_result *result)
{
    free(result->counters);
    free(result->readings);
    free(result->notices);
    free(result->polls);
    *result = (struct chil_stimulus_result){0};
}

/* --- Two models ------------------------------------------------------------------------------ */

static bool same_notices(const struct chil_stimulus_result *a, const struct chil_stimulus_result *b,
                         char *text, size_t size)
{
    for (size_t i = 0; i < a->notice_count || i < b->notice_count; i++) {
        const struct chil_upc_notice *x = i < a->notice_count ? &a->notices[i] : NULL;
        const struct chil_upc_notice *y = i < b->notice_count ? &b->notices[i] : NULL;
        if (x && y && x->kind == y->kind && x->counter == y->counter && x->cycle == y->cycle)
            continue;
        (void)snprintf(
            text, size,
            "notice %zu: fast counter %lld at cycle %lld, reference counter %lld at cycle %lld", i,
            x ? (long long)x->counter : -1, x ? (long long)x->cycle : -1,
            y ? (long long)y->counter : -1, y ? (long long)y->cycle : -1);
        return false;
    }
    return true;
}

bool chil_stimulus_same(const struct chil_stimulus_result *fast,
                        const struct chil_stimulus_result *reference, char *difference, size_t size)
{
    for (size_t i = 0; i < fast->reading_count && i < reference->reading_count; i++) {
        const struct chil_stimulus_reading *x = &fast->readings[i], *y = &reference->readings[i];
        if (x->status == y->status && x->value == y->value) continue;
        (void)snprintf(difference, size, "line %u, %s at cycle %llu: fast %llu, reference %llu",
                       x->line, x->what, (unsigned long long)x->cycle, (unsigned long long)x->value,
                       (unsigned long long)y->value);
        return false;
    }
    for (size_t i = 0; i < fast->counter_count && i < reference->counter_count; i++) {
        const struct chil_stimulus_counter *x = &fast->counters[i], *y = &reference->counters[i];
        if (x->status == y->status && x->value == y->value) continue;
        (void)snprintf(difference, size, "%s at the end: fast %llu, reference %llu", x->event,
                       (unsigned long long)x->value, (unsigned long long)y->value);
        return false;
    }
    return same_notices(fast, reference, difference, size);
}
