/* Stimuli: the language of docs/formats/stimulus.md, what running one gives, and what is refused
 * and how.
 *
 * Rows UPC-21, UPC-33 and UPC-34 of the checklist are shown here, because a stimulus is the
 * shortest way to say them. Random stimuli are texts, so that a failing one can be printed and run
 * by hand. Tests run in the root of the repository.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "chiliad/catalog.h"
#include "chiliad/stimulus.h"
#include "rig_bluegene.h"
#include "random.h"

static const char example[] = "docs/examples/misses.stimulus";
static const struct chil_stimulus_options fast = {CHIL_UPC_FAST, 0},
                                          reference = {CHIL_UPC_REFERENCE, 0};

/* ---- fixtures ---- */

static int open_bgp(void **state)
{
    *state = rig_machine_file("bgp");
    return 0;
}

static int close_bgp(void **state)
{
    chil_machine_free(*state);
    return 0;
}

static struct chil_stimulus *parse(const char *text, const struct chil_machine *machine)
{
    struct chil_stimulus *stimulus = NULL;
    struct chil_error err = {0};
    if (chil_stimulus_parse(&stimulus, "t", text, strlen(text), machine, &err))
        fail_msg("%s\n%s", err.text, text);
    return stimulus;
}

/* What a run gave, and the stimulus, which owns the strings in it. */
struct outcome {
    struct chil_stimulus *stimulus;
    struct chil_stimulus_result result;
};

static void run_with(struct outcome *outcome, const char *text, const struct chil_machine *machine,
                     const struct chil_stimulus_options *options)
{
    struct chil_error err = {0};
    outcome->stimulus = parse(text, machine);
    if (chil_stimulus_run(outcome->stimulus, options, &outcome->result, &err))
        fail_msg("%s\n%s", err.text, text);
}

static void outcome_free(struct outcome *outcome)
{
    chil_stimulus_result_free(&outcome->result);
    chil_stimulus_free(outcome->stimulus);
}

/* Runs a text on both models, which must agree; keeps what the fast one said. */
static void run(struct outcome *outcome, const char *text, const struct chil_machine *machine)
{
    struct outcome second;
    char difference[200];
    run_with(outcome, text, machine, &fast);
    run_with(&second, text, machine, &reference);
    if (!chil_stimulus_same(&outcome->result, &second.result, difference, sizeof difference))
        fail_msg("%s\n%s", difference, text);
    assert_int_equal(outcome->result.counter_count, second.result.counter_count);
    assert_int_equal(outcome->result.reading_count, second.result.reading_count);
    outcome_free(&second);
}

/* Runs a text that gives exactly one reading, which must be `value`. */
static void gives(const char *text, uint64_t value)
{
    struct outcome o;
    run(&o, text, NULL);
    assert_int_equal(o.result.reading_count, 1);
    assert_int_equal(o.result.readings[0].status, 0);
    if (o.result.readings[0].value != value) print_error("%s\n", text);
    assert_int_equal(o.result.readings[0].value, value);
    outcome_free(&o);
}

static char *read_file(const char *path, size_t *length)
{
    enum { ROOM = 1 << 16 };
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(ROOM);
    assert_non_null(bytes);
    *length = fread(bytes, 1, ROOM - 1, file);
    bytes[*length] = 0;
    (void)fclose(file);
    return bytes;
}

/* ---- the language ---- */

#define BGP "geometry 256 4 12 16\n"

static void every_verb_does_what_the_reference_says(void **state)
{
    (void)state;
    gives(BGP "0 load 0x910\n", UINT64_MAX); /* the threshold after reset */
    gives(BGP "0 start\n5 pulse 7 10\n100 read 7\n",
          10); /* two cycles apart, one high: the defaults */
    gives(BGP "0 start\n5 pulse 7 10 9\n100 read 7\n", 10);   /* period */
    gives(BGP "0 start\n5 pulse 7 10 9 4\n200 read 7\n", 40); /* high time; counted by level */
    gives(BGP "0 count 7 rise\n0 start\n5 pulse 7 10 9 4\n200 read 7\n", 10);
    gives(BGP "0 count 7 fall\n0 start\n5 pulse 7 10 9 4\n200 read 7\n", 10);
    gives(BGP "0 count 7 low\n0 start\n5 pulse 7 10 9 4\n200 read 7\n", 160);
    gives(BGP "0 count 0x107 high\n0 start\n5 pulse 0x107 3\n9 pulse 7 40\n200 read 0x107\n",
          3); /* input 1 of 7 */
    gives(BGP "0 start\n10 level 7 1\n25 level 7 0\n90 read 7\n", 15);
    gives(BGP "0 preload 7 1000\n0 start\n10 pulse 7 5\n90 read 7\n", 1005);
    gives(BGP "0 start\n0 level 7 1\n40 stop\n60 start\n70 stop\n90 read 7\n", 50);
    gives(BGP "0 store 0x900 1\n0 level 7 1\n50 store 0x904 0 4\n60 load 0x38\n", 50);
    gives(BGP "0 store 0x38 0x123456789\n3 load 0x3C 4\n", 0x23456789);
    gives(BGP "0 preload 7 4K\n0 start\n1 read 7\n", 4096); /* numbers may have K, M or G */
    gives("# only a remark\n\n" BGP "\t0 start # here\n  0 level 7 1\r\n20 read 7\n20 end\n", 20);
}

static void a_threshold_interrupts_and_a_flip_is_found(void **state)
{
    (void)state;
    struct outcome o;
    run(&o,
        BGP
        "0 count 7 rise\n0 threshold 7 3\n0 start\n10 pulse 7 5 10\n60 flip 9 0\n60 count 9\n4000 end\n",
        NULL);
    assert_int_equal(o.result.end, 4000);
    assert_int_equal(o.result.notice_count, 2);
    assert_int_equal(o.result.notices[0].kind, CHIL_UPC_INTERRUPT);
    assert_int_equal(o.result.notices[0].counter, 7);
    assert_int_equal(o.result.notices[0].cycle, 30);
    assert_int_equal(o.result.notices[1].kind, CHIL_UPC_PARITY);
    assert_int_equal(o.result.notices[1].counter, 9);
    assert_int_equal(o.result.notices[1].cycle, 9 * 16 + 15);
    assert_int_equal(o.result.counter_count, 2);
    assert_int_equal(o.result.counters[0].counter, 7);
    assert_string_equal(o.result.counters[0].event, "7");
    assert_int_equal(o.result.counters[0].value, 5);
    assert_int_equal(o.result.counters[0].threshold, 3);
    assert_true(o.result.counters[0].config.interrupt);
    assert_int_equal(o.result.counters[1].status, CHIL_EPARITY);
    outcome_free(&o);
}

static void a_machine_gives_names_modes_and_geometry(void **state)
{
    struct outcome o;
    struct chil_stimulus *stimulus = parse("0 start\n", *state);
    const struct chil_upc_geometry *g = chil_stimulus_geometry(stimulus), *own;
    assert_int_equal(g->counters, 256);
    assert_int_equal(g->inputs, 4);
    assert_int_equal(g->low_bits, 12);
    assert_int_equal(g->slot_cycles, 16);
    chil_stimulus_free(stimulus);

    stimulus = parse("geometry 1024 4 14 16\n0 count 4095\n", *state); /* the text's own wins */
    own = chil_stimulus_geometry(stimulus);
    assert_int_equal(own->counters, 1024);
    assert_int_equal(own->low_bits, 14);
    chil_stimulus_free(stimulus);

    run(&o, "0 count BGP_PU0_DCACHE_MISS\n0 start\n1 pulse 15 4 9 5\n99 read bgp_pu0_dcache_miss\n",
        *state);
    assert_int_equal(o.result.counters[0].config.mode, CHIL_COUNT_RISE); /* as the catalogue says */
    assert_int_equal(o.result.readings[0].value, 4);
    assert_string_equal(o.result.readings[0].what, "bgp_pu0_dcache_miss");
    outcome_free(&o);
}

static void without_an_end_the_run_goes_on_until_the_last_pulse_is_over(void **state)
{
    (void)state;
    struct outcome o;
    run(&o, BGP "0 count 3\n0 start\n10 pulse 3 5 100 7\n20 read 3\n", NULL);
    assert_int_equal(o.result.end, 10 + 4 * 100 + 7 + 1);
    assert_int_equal(o.result.counters[0].value, 35);
    assert_int_equal(o.result.readings[0].value, 7);
    outcome_free(&o);
    run(&o, BGP "0 count 3\n0 start\n10 pulse 3 5 100 7\n212 end\n",
        NULL); /* an end cuts them off */
    assert_int_equal(o.result.end, 212);
    assert_int_equal(o.result.counters[0].value, 16);
    outcome_free(&o);
}

/* ---- mistakes ---- */

struct slip {
    const char *text, *message;
};

static void refused(const struct slip *slip, const struct chil_machine *machine)
{
    struct chil_stimulus *stimulus = NULL;
    struct chil_error err = {0};
    int status = chil_stimulus_parse(&stimulus, "t", slip->text, strlen(slip->text), machine, &err);
    if (status != CHIL_EPARSE || err.status != status || strcmp(err.text, slip->message) != 0)
        fail_msg("status %d, '%s'\nwanted '%s'\n%s", status, err.text, slip->message, slip->text);
    assert_null(stimulus);
    assert_int_equal(
        chil_stimulus_parse(&stimulus, "t", slip->text, strlen(slip->text), machine, NULL), status);
}

static void mistakes_are_reported_with_their_line(void **state)
{
    static const struct slip slips[] = {
        {"", "t: the stimulus is empty; see docs/formats/stimulus.md"},
        {"# nothing\n\n", "t:2: the stimulus is empty; see docs/formats/stimulus.md"},
        {BGP, "t:1: the stimulus is empty; see docs/formats/stimulus.md"},
        {"start\n", "t:1: 'start' is no cycle; a line is CYCLE VERB ARGUMENTS"},
        {"0 start\n-1 stop\n", "t:2: '-1' is no cycle; a line is CYCLE VERB ARGUMENTS"},
        {"0 start\n1.5 stop\n", "t:2: '1.5' is no cycle; a line is CYCLE VERB ARGUMENTS"},
        {"18446744073709551616 start\n",
         "t:1: '18446744073709551616' is no cycle; a line is CYCLE VERB ARGUMENTS"},
        {"4611686018427387905 start\n", "t:1: cycle 4611686018427387905 is beyond 2^62"},
        {"0 end\n0 stop\n", "t:2: nothing may follow 'end'"},
        {"9 start\n8 stop\n", "t:2: cycle 8 is before the line above it (9)"},
        {"0\n", "t:1: a verb is missing after the cycle"},
        {"0 strat\n", "t:1: 'strat' is no verb; did you mean 'start'?"},
        {"0 qqqqqqqq\n", "t:1: 'qqqqqqqq' is no verb"},
        {"0 start now\n", "t:1: 'now' is too much on this line"},
        {"0 end 7 8\n", "t:1: '7 8' is too much on this line"},
        {"0 count\n", "t:1: an event is missing"},
        {"0 count 1024\n", "t:1: event 1024 is beyond the 256 x 4 inputs of the unit"},
        {"0 count BGP_PU0_DCACHE_MIS\n",
         "t:1: bgp has no event 'BGP_PU0_DCACHE_MIS'; did you mean 'BGP_PU0_DCACHE_MISS'?"},
        {"0 count 1 high\n0 count 1 hi\n",
         "t:2: 'hi' is no way to count; use high, rise, fall, low or interrupt"},
        {"0 threshold 1\n", "t:1: a threshold is missing"},
        {"0 threshold 1 many\n",
         "t:1: 'many' is no threshold; write a whole number, decimal or 0x"},
        {"0 preload 1\n", "t:1: a value is missing"},
        {"0 level 1\n", "t:1: a level is missing"},
        {"0 level 1 2\n", "t:1: a level is 0 or 1"},
        {"0 pulse 1\n", "t:1: a number of pulses is missing"},
        {"0 pulse 1 0\n", "t:1: pulses must be at least 1, high for 1 cycle up to the period of 2"},
        {"0 pulse 1 4 3 0\n",
         "t:1: pulses must be at least 1, high for 1 cycle up to the period of 3"},
        {"0 pulse 1 4 3 4\n",
         "t:1: pulses must be at least 1, high for 1 cycle up to the period of 3"},
        {"0 pulse 1 4 x\n", "t:1: 'x' is no period; write a whole number, decimal or 0x"},
        {"0 pulse 1 4 3 x\n", "t:1: 'x' is no high time; write a whole number, decimal or 0x"},
        {"0 pulse 1 4 3 1 1\n", "t:1: '1' is too much on this line"},
        {"0 pulse 1 18446744073709551615 2\n", "t:1: the pulses end beyond cycle 2^62"},
        {"9 pulse 1 4611686018427387904 1\n", "t:1: the pulses end beyond cycle 2^62"},
        {"0 load\n", "t:1: a register offset is missing"},
        {"0 load r1\n", "t:1: 'r1' is no register offset; write a whole number, decimal or 0x"},
        {"0 load 0 x\n", "t:1: 'x' is no width; write a whole number, decimal or 0x"},
        {"0 store 0\n", "t:1: a value is missing"},
        {"0 store 0 1 x\n", "t:1: 'x' is no width; write a whole number, decimal or 0x"},
        {"0 flip 1\n", "t:1: a bit number is missing"},
        {"0 start\ngeometry 256 4 12 16\n", "t:2: geometry must come before the first step"},
        {"geometry 256 4 12\n0 start\n", "t:1: a number of slot cycles is missing"},
        {"geometry 256 4 many 16\n",
         "t:1: 'many' is no number of low bits; write a whole number, decimal or 0x"},
        {"geometry 8G 4 12 16\n", "t:1: 8589934592 is too large"},
        {"geometry 256 4 12 16 1\n", "t:1: '1' is too much on this line"},
        {"geometry 257 4 12 16\n",
         "t:1: 257 counters x 16-cycle slots make a round of 4112 cycles, but a 12-bit low "
         "part can carry every 4096: carries would be lost; use at least 13 low bits"},
        {"geometry 0 4 12 16\n",
         "t:1: no counter unit of 0 counters, 4 inputs, 12 low bits, 16-cycle slots: counters "
         "must be 1..65536, inputs 1..32, low bits 1..32, slots at least 1"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        refused(&slips[i], *state);
    static const struct slip alone[] = {
        {"0 start\n", "t:1: no counter unit: give a machine (-M) or a geometry line first"},
        {BGP "0 count BGP_PU0_DCACHE_MISS\n",
         "t:2: 'BGP_PU0_DCACHE_MISS' is no event id; names need a machine (-M)"},
    };
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        refused(&alone[i], NULL);
}

static void files_that_are_no_text_are_refused(void **state)
{
    struct chil_stimulus *stimulus = NULL;
    struct chil_error err = {0};
    assert_int_equal(chil_stimulus_parse(&stimulus, "t", "0 start\n\0", 9, *state, &err),
                     CHIL_EPARSE);
    assert_string_equal(err.text, "t: has a NUL byte; a text file is wanted");
    assert_int_equal(chil_stimulus_open(&stimulus, "docs/examples", *state, &err), CHIL_EIO);
    assert_string_equal(err.text, "cannot read 'docs/examples': Is a directory");
    assert_int_equal(chil_stimulus_open(&stimulus, "no/such", *state, &err), CHIL_EIO);
    assert_string_equal(err.text, "cannot open 'no/such': No such file or directory");
    assert_null(stimulus);
}

/* Errors that only a run can find: the line is named, the result is left empty. */
static void run_refused(const char *text, const struct chil_stimulus_options *options, int wanted,
                        const char *says)
{
    struct chil_stimulus *stimulus = parse(text, NULL);
    struct chil_stimulus_result result;
    struct chil_error err = {0};
    int status = chil_stimulus_run(stimulus, options, &result, &err);
    if (status != wanted || !strstr(err.text, says))
        fail_msg("status %d, '%s'\n%s", status, err.text, text);
    assert_null(result.counters);
    assert_null(result.readings);
    assert_null(result.notices);
    assert_int_equal(chil_stimulus_run(stimulus, options, &result, NULL), wanted);
    chil_stimulus_free(stimulus);
}

static void steps_that_cannot_be_done_are_reported_with_their_line(void **state)
{
    (void)state;
    const struct chil_stimulus_options *models[] = {&fast, &reference};
    for (int i = 0; i < 2; i++) {
        const struct chil_stimulus_options *m = models[i];
        run_refused(BGP "0 start\n0 pulse 5 40\n9 pulse 5 1\n", m, CHIL_EORDER,
                    "t:4: the pulses of line 3");
        run_refused(BGP "0 level 5 1\n9 pulse 5 1\n", m, CHIL_EINVAL,
                    "t:3: these pulses do not fit on their wire");
        run_refused(BGP "0 load 0x903\n", m, CHIL_EINVAL, "t:2: 0x903");
        run_refused(BGP "0 load 0 3\n", m, CHIL_EINVAL, "t:2: 0");
        run_refused(BGP "0 read 0\n0 load 0x9A0\n", m, CHIL_ENOENT, "t:3: 0x9A0");
        run_refused(BGP "0 store 0x9A0 1\n", m, CHIL_ENOENT, "t:2: 0x9A0");
        run_refused(BGP "0 flip 3 59\n", m, CHIL_EINVAL, "t:2: 3");
        run_refused(BGP "0 flip 3 4G\n", m, CHIL_EINVAL, "t:2: 3");
        run_refused(BGP "0 load 0 0x100000008\n", m, CHIL_EINVAL, "t:2: 0");
        run_refused(BGP "0 store 0 1 0x100000004\n", m, CHIL_EINVAL, "t:2: 0");
        run_refused(BGP "0 preload 3 9\n0 threshold 3 9\n", m, CHIL_ERANGE, "t:3: 3");
        run_refused(BGP "0 threshold 3 9\n0 preload 3 9\n", m, CHIL_ERANGE, "t:3: 3");
    }
}

static void work_without_bound_is_refused(void **state)
{
    (void)state;
    static const struct chil_stimulus_options often = {CHIL_UPC_FAST, 1},
                                              seldom = {CHIL_UPC_FAST, 1 << 20};
    struct outcome o;
    run_refused(BGP "0 start\n16777217 end\n", &reference, CHIL_ERANGE,
                "16777217 cycles are too many for the reference");
    run_refused(BGP "0 start\n1 pulse 3 9000000\n", &reference, CHIL_ERANGE,
                "too many for the reference");
    run_refused("geometry 4096 1 32 1\n0 start\n16777216 end\n", &reference, CHIL_ERANGE,
                "of 4096 counters are too many");
    run_refused(BGP "0 start\n4611686018427387904 end\n", &often, CHIL_ERANGE,
                "is too often; poll at most");
    run_refused(BGP "0 start\n4611686018427387904 end\n", &seldom, CHIL_ERANGE,
                "is too often; poll at most");
    run_with(&o, "geometry 1 1 4 1\n0 count 0\n0 start\n16777216 end\n", NULL,
             &reference); /* just not */
    outcome_free(&o);
    run_with(&o, BGP "0 count 3\n0 start\n0 level 3 1\n4611686018427387904 end\n", NULL, &fast);
    assert_int_equal(o.result.counters[0].value,
                     CHIL_UPC_CYCLE_MAX); /* the fast model just does it */
    outcome_free(&o);
}

/* ---- what runs show ---- */

/* Misses at cycles 100 + 74 k; the 80th at 5946. Read every 1000 cycles, the count is first seen at
 * 6000. */
static void UPC_21_polling_is_shown_with_its_cost(void **state)
{
    static const struct {
        uint64_t every, reads, seen;
    } rows[] = {{1000, 6, 6000}, {100, 60, 6000}, {7, 850, 5950},
                {1, 5947, 5947}, {5946, 2, 9000}, {5947, 1, 5947}};
    struct chil_stimulus *stimulus = NULL;
    assert_int_equal(chil_stimulus_open(&stimulus, example, *state, NULL), 0);
    for (int model = 0; model < 2; model++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct chil_stimulus_options options = {(enum chil_upc_model)model, rows[i].every};
            struct chil_stimulus_result result;
            assert_int_equal(chil_stimulus_run(stimulus, &options, &result, NULL), 0);
            assert_int_equal(result.poll_count, 1);
            assert_int_equal(result.polls[0].counter, 15);
            assert_int_equal(result.polls[0].interrupt_cycle, 100 + 79 * 74);
            assert_int_equal(result.polls[0].seen_cycle, rows[i].seen);
            assert_int_equal(result.poll_reads, rows[i].reads);
            chil_stimulus_result_free(&result);
        }
    struct chil_stimulus_result result; /* the interrupt itself needs none */
    assert_int_equal(chil_stimulus_run(stimulus, &fast, &result, NULL), 0);
    assert_int_equal(result.poll_reads, 0);
    assert_int_equal(result.poll_count, 0);
    assert_int_equal(result.notice_count, 1);
    assert_int_equal(result.notices[0].cycle, 100 + 79 * 74);
    chil_stimulus_result_free(&result);
    chil_stimulus_free(stimulus);
}

static void polling_costs_a_read_per_threshold_and_sees_nothing_that_never_comes(void **state)
{
    (void)state;
    static const struct chil_stimulus_options options = {CHIL_UPC_FAST, 100};
    struct outcome o;
    run_with(
        &o, BGP "0 threshold 1 10\n0 threshold 2 999\n0 start\n0 level 1 1\n0 level 2 1\n950 end\n",
        NULL, &options);
    assert_int_equal(o.result.poll_count, 2);
    assert_int_equal(o.result.polls[0].seen_cycle, 100);
    assert_true(o.result.polls[1].seen_cycle == UINT64_MAX &&
                o.result.polls[1].interrupt_cycle == UINT64_MAX);
    assert_int_equal(o.result.poll_reads,
                     1 + 10); /* counter 1 once; counter 2 at 100 to 900 and at the end */
    outcome_free(&o);
}

/* Pulses before, inside and after two started regions: only those inside count, whatever the mode.
 * Planted: a stopped unit counts trains. */
static void UPC_33_events_outside_a_started_region_add_nothing(void **state)
{
    static const char text[] = "0 count BGP_PU0_DCACHE_MISS rise\n"
                               "0 count BGP_PU0_DCACHE_LINEFILLINPROG high\n"
                               "0 count 14 low\n"
                               "0 pulse 15 1000 10 4\n" /* rises at 0, 10, 20 ... 9990 */
                               "0 pulse 13 1000 10 4\n"
                               "0 pulse 14 1000 10 4\n"
                               "1000 read 15\n"
                               "1000 start\n"
                               "1200 stop\n"
                               "1200 read 15\n"
                               "5000 read 15\n"
                               "5003 start\n" /* one cycle is left of the pulse that rose at 5000 */
                               "5051 stop\n"  /* one cycle into the pulse that rose at 5050 */
                               "9999 end\n";
    struct outcome o;
    run(&o, text, *state);
    assert_int_equal(o.result.readings[0].value, 0);
    assert_int_equal(o.result.readings[1].value, 20);
    assert_int_equal(o.result.readings[2].value, 20);
    assert_int_equal(o.result.counters[0].value, 20 + 5);
    assert_int_equal(o.result.counters[1].value, 20 * 4 + 1 + 4 * 4 + 1);
    assert_int_equal(o.result.counters[2].value, 20 * 6 + 5 * 6);
    assert_int_equal(o.result.notice_count, 0);
    outcome_free(&o);
}

/* A program makes an event every 5 cycles; from 400 to 700 a service runs, with an event every
 * cycle. It stops the unit when it begins and starts it again when it ends, here by a call, in the
 * second round by the register. Planted: a stop that does not. */
static void UPC_34_a_service_can_stop_counting_around_itself(void **state)
{
    (void)state;
    static const char *const stops[] = {"400 stop\n", "400 store 0x900 0\n"},
                             *const starts[] = {"700 start\n", "700 store 0x900 1\n"};
    for (int i = 0; i < 3; i++) {
        char text[400];
        struct outcome o;
        (void)snprintf(
            text, sizeof text,
            BGP "0 count 20\n0 threshold 20 81\n0 start\n0 pulse 20 80 5\n%s400 pulse 20 300 1\n%s"
                "700 pulse 20 60 5\n1000 stop\n2000 end\n",
            i < 2 ? stops[i] : "", i < 2 ? starts[i] : "");
        run(&o, text, NULL);
        assert_int_equal(o.result.counters[0].value, i < 2 ? 80 + 60 : 80 + 300 + 60);
        assert_int_equal(o.result.notice_count, 1);
        assert_int_equal(o.result.notices[0].cycle,
                         i < 2 ? 700 : 400); /* nor does the service interrupt */
        outcome_free(&o);
    }
}

/* ---- pulses ---- */

/* One train, cut at every few cycles by lines that do nothing to it, counts as the train driven at
 * once. */
static void pulses_go_on_past_later_lines(void **state)
{
    (void)state;
    static const struct {
        unsigned count, period, high;
    } trains[] = {{20, 2, 1}, {9, 7, 3}, {9, 7, 6}, {5, 13, 13}, {1, 60, 41}, {60, 1, 1}};
    for (size_t i = 0; i < sizeof trains / sizeof *trains; i++)
        for (int mode = 0; mode < 4; mode++)
            for (unsigned every = 1; every <= 9; every++) {
                char text[4096];
                struct outcome whole, cut;
                size_t used = (size_t)snprintf(
                    text, sizeof text, BGP "0 count 9 %s\n0 start\n3 pulse 9 %u %u %u\n",
                    chil_count_mode_word(mode), trains[i].count, trains[i].period, trains[i].high);
                (void)snprintf(text + used, sizeof text - used, "120 end\n");
                run(&whole, text, NULL);
                for (unsigned cycle = 3; cycle < 120; cycle += every)
                    used +=
                        (size_t)snprintf(text + used, sizeof text - used, "%u read 100\n", cycle);
                (void)snprintf(text + used, sizeof text - used, "120 end\n");
                run(&cut, text, NULL);
                assert_int_equal(cut.result.counters[0].value, whole.result.counters[0].value);
                outcome_free(&whole);
                outcome_free(&cut);
            }
}

/* ---- random stimuli ---- */

struct writer {
    char text[8192];
    size_t used;
    uint64_t random;
};

static __attribute__((format(printf, 2, 3))) void say(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof w->text - w->used);
    w->used += (size_t)n;
}

static unsigned pick(struct writer *w, unsigned limit)
{
    return (unsigned)random_below(&w->random, limit);
}

/* One step at `cycle` on a unit of 5 counters x 4 inputs with a 4-bit low part: any verb, often the
 * lively ones. */
static void write_step(struct writer *w, unsigned cycle)
{
    unsigned wire = pick(w, 20), high = 1 + pick(w, 5);
    switch (pick(w, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        say(w, "%u pulse %u %u %u %u\n", cycle, wire, 1 + pick(w, 40), high + pick(w, 5), high);
        break;
    case 4:
    case 5:
    case 6:
        say(w, "%u count %u %s%s\n", cycle, wire, chil_count_mode_word((int)pick(w, 4)),
            pick(w, 2) ? " interrupt" : "");
        break;
    case 7:
    case 8: say(w, "%u threshold %u %u\n", cycle, wire, 200 + pick(w, 600)); break;
    case 9: say(w, "%u preload %u %u\n", cycle, wire, pick(w, 100)); break;
    case 10: say(w, "%u %s\n", cycle, pick(w, 3) ? "start" : "stop"); break;
    case 11: say(w, "%u load %u %u\n", cycle, pick(w, 18) * 8, pick(w, 2) ? 8 : 4); break;
    case 12:
        say(w, "%u store %u 0x%x %u\n", cycle, pick(w, 12) * 8, pick(w, 1 << 20),
            pick(w, 2) ? 8 : 4);
        break;
    case 13:
        if (pick(w, 5) == 0) say(w, "%u flip %u %u\n", cycle, wire, pick(w, 68));
        break;
    default: say(w, "%u read %u\n", cycle, wire); break;
    }
}

/* Whether both models give the same results for a text; a refused step must be refused by both,
 * with the same words. */
static bool gives_the_same(const char *text)
{
    struct chil_stimulus *stimulus = parse(text, NULL);
    struct chil_stimulus_result a, b;
    struct chil_error e = {0}, f = {0};
    char difference[200];
    int first = chil_stimulus_run(stimulus, &fast, &a, &e),
        second = chil_stimulus_run(stimulus, &reference, &b, &f);
    if (first != second || strcmp(e.text, f.text) != 0)
        fail_msg("fast %d '%s', reference %d '%s'\n%s", first, e.text, second, f.text, text);
    if (!first && !chil_stimulus_same(&a, &b, difference, sizeof difference))
        fail_msg("%s\n%s", difference, text);
    chil_stimulus_result_free(&a);
    chil_stimulus_result_free(&b);
    chil_stimulus_free(stimulus);
    return first == 0;
}

static void random_stimuli_give_the_same_on_both_models(void **state)
{
    (void)state;
    uint64_t trials = random_trials(600), whole = 0;
    for (uint64_t trial = 0; trial < trials; trial++) {
        struct writer w = {.random = trial};
        unsigned cycle = 0;
        say(&w, "geometry 5 4 4 3\n0 start\n");
        for (unsigned steps = 5 + pick(&w, 30); steps; steps--) {
            write_step(&w, cycle);
            cycle += pick(&w, 3) ? pick(&w, 8) : pick(&w, 200);
        }
        say(&w, "%u end\n", cycle + pick(&w, 100));
        whole += gives_the_same(w.text);
    }
    assert_true(whole > trials / 8); /* enough of them get to their end */
}

/* ---- mutated examples ---- */

static const char *const pieces[] = {
    "0", "1",  "99999999999999999999", " ", "\n", "#",  "0x",  "count", "pulse",
    "-", "\t", "geometry 1 1 1 1\n",   "G", "4K", "\r", "end", "flip",  "store 0"};

static size_t mutate(uint64_t *seed, char *bytes, size_t length, size_t room)
{
    size_t at = random_below(seed, length + 1),
           cut = random_below(seed, 3) ? 0 : random_below(seed, 9);
    const char *piece = pieces[random_below(seed, sizeof pieces / sizeof *pieces)];
    char byte[2] = {(char)random_below(seed, 256), 0};
    if (random_below(seed, 3) == 0) piece = byte;
    size_t size = piece == byte ? 1 : strlen(piece);
    if (cut > length - at) cut = length - at;
    if (length - cut + size > room) return length;
    memmove(bytes + at + size, bytes + at + cut, length - at - cut);
    for (size_t i = 0; i < size; i++)
        bytes[at + i] = piece[i];
    return length - cut + size;
}

static void mutated_examples_run_or_are_refused_in_one_line(void **state)
{
    enum { ROOM = 1 << 14 };
    size_t length, ran = 0, refused_by_parser = 0;
    char *right = read_file(example, &length), *bytes = malloc(ROOM);
    uint64_t seed = 1;
    assert_non_null(bytes);
    for (uint64_t trial = 0, trials = random_trials(5000); trial < trials; trial++) {
        struct chil_stimulus *stimulus = NULL;
        struct chil_stimulus_result result;
        struct chil_stimulus_options options = {CHIL_UPC_FAST, random_below(&seed, 2) ? 0 : 500};
        struct chil_error err = {0};
        size_t size = length;
        memcpy(bytes, right, length);
        for (uint64_t times = 1 + random_below(&seed, 4); times; times--)
            size = mutate(&seed, bytes, size, ROOM);
        int status = chil_stimulus_parse(&stimulus, "t", bytes, size, *state, &err);
        refused_by_parser += status != 0;
        if (!status) {
            status = chil_stimulus_run(stimulus, &options, &result, &err);
            if (!status) chil_stimulus_result_free(&result);
            ran += status == 0;
        }
        if (status && (!*err.text || strchr(err.text, '\n') || err.status != status))
            fail_msg("trial %u: status %d, '%s'", (unsigned)trial, status, err.text);
        chil_stimulus_free(stimulus);
    }
    assert_true(ran > 0 && refused_by_parser > 0);
    free(right);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_does_what_the_reference_says),
        cmocka_unit_test(a_threshold_interrupts_and_a_flip_is_found),
        cmocka_unit_test(a_machine_gives_names_modes_and_geometry),
        cmocka_unit_test(without_an_end_the_run_goes_on_until_the_last_pulse_is_over),
        cmocka_unit_test(mistakes_are_reported_with_their_line),
        cmocka_unit_test(files_that_are_no_text_are_refused),
        cmocka_unit_test(steps_that_cannot_be_done_are_reported_with_their_line),
        cmocka_unit_test(work_without_bound_is_refused),
        cmocka_unit_test(UPC_21_polling_is_shown_with_its_cost),
        cmocka_unit_test(polling_costs_a_read_per_threshold_and_sees_nothing_that_never_comes),
        cmocka_unit_test(UPC_33_events_outside_a_started_region_add_nothing),
        cmocka_unit_test(UPC_34_a_service_can_stop_counting_around_itself),
        cmocka_unit_test(pulses_go_on_past_later_lines),
        cmocka_unit_test(random_stimuli_give_the_same_on_both_models),
        cmocka_unit_test(mutated_examples_run_or_are_refused_in_one_line),
    };
    return cmocka_run_group_tests_name("stimulus", tests, open_bgp, close_bgp);
}
