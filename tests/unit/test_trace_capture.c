/* Windows of records around a trigger: what is kept is compared with a scan of the whole stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chiliad/capture.h"
#include "random.h"

/* A run as its listeners see it: records, some with a transaction before them. */
enum { STEPS = 4000, RECORDS_MAX = 2 * STEPS };

struct step {
    struct chil_trace_record record;
    bool has_transaction;
    struct chil_transaction transaction;
};

struct stream {
    struct step step[STEPS];
    unsigned passes;   /* how often it has run */
    unsigned altered;  /* from this pass on, addresses of transactions differ; 0: never */
    bool reports;      /* of instructions */
    uint64_t limit;    /* of kept records */
    uint64_t reported; /* records in the last pass */
    size_t kept;
    struct chil_trace_item item[RECORDS_MAX];
};

static void fill(struct stream *s, uint64_t seed, unsigned sparse)
{
    memset(s, 0, sizeof *s);
    s->limit = UINT64_MAX;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t r = random_next(&seed);
        struct step *step = &s->step[i];
        step->record =
            (struct chil_trace_record){.cycle = 10 * (uint64_t)i,
                                       .core = (unsigned)(r & 1),
                                       .pc = 0x1000 + 4 * (uint32_t)(r >> 8 & 31),
                                       .access = r >> 16 & 1 ? CHIL_ACCESS_LOAD : CHIL_NO_ACCESS,
                                       .address = (uint32_t)(r >> 20 & 0xFFF)};
        step->has_transaction = (r >> 32) % sparse == 0;
        step->transaction = (struct chil_transaction){.start = 10 * (uint64_t)i,
                                                      .end = 10 * (uint64_t)i + (r >> 40 & 63),
                                                      .address = step->record.address,
                                                      .pc = step->record.pc,
                                                      .sender = (uint16_t)step->record.core,
                                                      .core = (uint8_t)step->record.core,
                                                      .kind = CHIL_LOAD_MISS};
    }
}

static bool keep(void *context, const struct chil_trace_item *item)
{
    struct stream *s = context;
    if (s->kept < s->limit) s->item[s->kept++] = *item;
    return s->kept < s->limit;
}

static void report(void *context, bool on)
{
    struct stream *s = context;
    s->reports = on;
}

static enum chil_capture_outcome run_pass(struct stream *s, struct chil_capture *capture)
{
    struct chil_capture_pass pass;
    bool wants = true;
    chil_capture_begin(capture, &pass);
    assert_int_equal(pass.is_repeat, s->passes > 0);
    s->passes++;
    s->reports = !pass.starts_off;
    s->reported = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        struct chil_transaction transaction = s->step[i].transaction;
        if (s->altered && s->passes >= s->altered) transaction.address ^= 4;
        if (pass.transactions && s->step[i].has_transaction)
            chil_capture_transaction(capture, &transaction, true);
        if (!pass.instructions || !wants || !s->reports) continue;
        s->reported++;
        wants = chil_capture_record(capture, &s->step[i].record);
    }
    return chil_capture_end(capture);
}

static enum chil_capture_outcome run(struct stream *s, struct chil_capture_options options)
{
    enum chil_capture_outcome outcome;
    options.keep = keep;
    options.report = report;
    options.context = s;
    struct chil_capture *capture = chil_capture_new(&options);
    do
        outcome = run_pass(s, capture);
    while (outcome == CHIL_CAPTURE_AGAIN);
    chil_capture_free(capture);
    return outcome;
}

/* --- The scan of the whole stream ------------------------------------------------------------ */

struct expected {
    unsigned step[STEPS]; /* of each kept record */
    size_t count;
    size_t trigger; /* which of them; `count`: none */
};

static bool is_record(const struct stream *s, enum chil_trace_kind kind, unsigned i)
{
    if (chil_trace_has_transactions(kind)) return s->step[i].has_transaction;
    return kind == CHIL_TRACE_INSTRUCTION || s->step[i].record.access != CHIL_NO_ACCESS;
}

/* The step of the Nth trigger; STEPS: there is none. */
static unsigned find_trigger(const struct stream *s, const struct chil_capture_options *o)
{
    uint64_t matches = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        bool holds = o->where ? s->step[i].has_transaction &&
                                    chil_where_holds(o->where, &s->step[i].transaction)
                              : s->step[i].record.pc == o->pc;
        if (holds && ++matches == o->nth) return i;
    }
    return STEPS;
}

static void scan(struct expected *e, const struct stream *s, const struct chil_capture_options *o)
{
    unsigned trigger = find_trigger(s, o);
    uint64_t before = 0, after = 0;
    e->count = 0;
    for (unsigned i = 0; i < trigger; i++)
        before += is_record(s, o->kind, i);
    for (unsigned i = 0; i < STEPS; i++) {
        if (i < trigger && is_record(s, o->kind, i) && before-- <= o->before)
            e->step[e->count++] = i;
        if (i == trigger) e->trigger = e->count;
        if (i == trigger || (i > trigger && is_record(s, o->kind, i) && after++ < o->after))
            e->step[e->count++] = i;
    }
}

static void compare(const struct stream *s, const struct chil_capture_options *o)
{
    static struct expected e;
    scan(&e, s, o);
    assert_int_equal(s->kept, e.count);
    for (size_t i = 0; i < e.count; i++) {
        const struct chil_trace_item *item = &s->item[i];
        uint64_t cycle =
            chil_trace_has_transactions(o->kind) ? item->transaction.start : item->record.cycle;
        assert_int_equal(cycle, 10 * (uint64_t)e.step[i]);
        assert_int_equal(item->trigger, i == e.trigger);
    }
}

static struct chil_where *predicate(const char *text)
{
    struct chil_where *where = NULL;
    const struct chil_hist_names names = {0};
    assert_int_equal(chil_where_new(&where, text, &names, NULL), 0);
    return where;
}

/* --- Tests ----------------------------------------------------------------------------------- */

static struct stream stream; /* too large for a stack */

static void windows_are_those_of_a_scan(void **state)
{
    (void)state;
    struct chil_where *where = predicate("latency > 50");
    uint64_t seed = 21;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t r = random_next(&seed);
        struct chil_capture_options o = {.kind = (enum chil_trace_kind)(r % CHIL_TRACE_KINDS),
                                         .nth = 1 + (r >> 8) % 20,
                                         .before = (r >> 16) % 3 ? (r >> 20) % 200 : 0,
                                         .after = (r >> 32) % 2 ? (r >> 40) % 100 : UINT64_MAX,
                                         .once = r >> 50 & 1};
        if (chil_trace_has_transactions(o.kind) || (r >> 51 & 1))
            o.where = where;
        else
            o.at_pc = true, o.pc = 0x1040;
        fill(&stream, r, 1 + (unsigned)(r >> 56) % 12);
        assert_int_equal(run(&stream, o), CHIL_CAPTURE_DONE);
        compare(&stream, &o);
    }
    chil_where_free(where);
}

static void a_full_window_takes_two_passes_and_few_instructions(void **state)
{
    (void)state;
    struct chil_where *where = predicate("latency > 60");
    const struct chil_capture_options o = {.where = where, .nth = 10, .before = 50, .after = 10};
    fill(&stream, 3, 8);
    assert_int_equal(run(&stream, o), CHIL_CAPTURE_DONE);
    compare(&stream, &o);
    assert_int_equal(stream.passes, 2);
    assert_in_range(stream.reported, 60, 400);
    chil_where_free(where);
}

static void a_short_ring_is_filled_from_further_back(void **state)
{
    (void)state;
    struct chil_where *where = predicate("latency > 60");
    const struct chil_capture_options o = {.where = where, .nth = 20, .before = 200, .after = 0};
    fill(&stream, 4, 1); /* a transaction with every instruction */
    assert_int_equal(run(&stream, o), CHIL_CAPTURE_DONE);
    compare(&stream, &o);
    assert_int_equal(stream.passes, 3);
    chil_where_free(where);
}

static void a_second_pass_that_differs_is_refused(void **state)
{
    (void)state;
    struct chil_where *where = predicate("latency > 60");
    const struct chil_capture_options o = {.where = where, .nth = 20, .before = 5, .after = 5};
    fill(&stream, 5, 4);
    stream.altered = 2;
    assert_int_equal(run(&stream, o), CHIL_CAPTURE_DIFFERS);
    struct chil_capture_options once = o;
    once.once = true;
    fill(&stream, 5, 4);
    stream.altered = 2;
    assert_int_equal(run(&stream, once), CHIL_CAPTURE_DONE);
    assert_int_equal(stream.passes, 1);
    compare(&stream, &once);
    chil_where_free(where);
}

static void a_trigger_that_does_not_come_is_absent(void **state)
{
    (void)state;
    struct chil_where *where = predicate("latency > 1000");
    for (unsigned kind = 0; kind < CHIL_TRACE_KINDS; kind++) {
        const struct chil_capture_options o = {
            .kind = (enum chil_trace_kind)kind, .where = where, .nth = 1, .before = 5};
        fill(&stream, 6, 4);
        assert_int_equal(run(&stream, o), CHIL_CAPTURE_ABSENT);
        assert_int_equal(stream.kept, 0);
        assert_int_equal(stream.passes, 1);
    }
    chil_where_free(where);
}

static void without_a_trigger_all_is_kept_until_the_limit(void **state)
{
    (void)state;
    fill(&stream, 7, 4);
    stream.limit = 100;
    assert_int_equal(run(&stream, (struct chil_capture_options){0}), CHIL_CAPTURE_DONE);
    assert_int_equal(stream.kept, 100);
    assert_int_equal(stream.reported, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_those_of_a_scan),
        cmocka_unit_test(a_full_window_takes_two_passes_and_few_instructions),
        cmocka_unit_test(a_short_ring_is_filled_from_further_back),
        cmocka_unit_test(a_second_pass_that_differs_is_refused),
        cmocka_unit_test(a_trigger_that_does_not_come_is_absent),
        cmocka_unit_test(without_a_trigger_all_is_kept_until_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
