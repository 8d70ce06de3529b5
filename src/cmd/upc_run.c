/* chiliad upc run: feeds the counter unit a stimulus and prints what it counted. */
#include <inttypes.h>

#include "chiliad/catalog.h"
#include "chiliad/stimulus.h"
#include "chiliad/upc.h"
#include "cmd/upc.h"

static const char *event_of(const struct chil_stimulus_result *result, uint32_t counter)
{
    for (size_t i = 0; i < result->counter_count; i++)
        if (result->counters[i].counter == counter) return result->counters[i].event;
    return "";
}

static const char *notice_word(const struct chil_upc_notice *notice)
{
    return notice->kind == CHIL_UPC_INTERRUPT ? "interrupt" : "parity fault";
}

enum { COUNTER, EVENT, COUNT, INTERRUPT, VALUE, THRESHOLD, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [COUNTER] = {.title = "counter", .left = true, .least = 8, .fixed = true, .plain = true},
    [EVENT] = {.title = "event", .left = true, .least = 40, .fixed = true, .gap = " "},
    [COUNT] = {.title = "count", .left = true, .least = 6, .fixed = true, .gap = " "},
    [INTERRUPT] = {.title = "interrupt", .forms = VIEW_IN_JSON},
    [VALUE] = {.title = "value",
               .least = 20,
               .fixed = true,
               .gap = " ",
               .none = "bad parity",
               .null = true},
    [THRESHOLD] = {.title = "threshold", .least = 16, .fixed = true, .gap = " ", .null = true},
};

static void view_counters(struct view *view, const struct chil_stimulus_result *result)
{
    view_init(view, columns, COLUMNS);
    for (size_t i = 0; i < result->counter_count; i++) {
        const struct chil_stimulus_counter *c = &result->counters[i];
        struct view_cell *cell = view_row(view);
        cell[COUNTER] = view_count(c->counter);
        cell[EVENT] = view_text(c->event);
        cell[COUNT] = view_text(chil_count_mode_word((int)c->config.mode));
        cell[INTERRUPT] = view_truth(c->config.interrupt);
        if (!c->status) cell[VALUE] = view_count(c->value);
        if (c->threshold) cell[THRESHOLD] = view_count(c->threshold);
    }
}

static void print_counters(const struct chil_stimulus_result *result)
{
    struct view view;
    view_counters(&view, result);
    view_table(&view, stdout, &(struct view_table_style){.heading = true});
    view_fini(&view);
}

static void print_polls(const struct chil_stimulus_result *result, uint64_t every)
{
    char a[32], b[32], c[32];
    for (size_t i = 0; i < result->poll_count; i++) {
        const struct chil_stimulus_poll *p = &result->polls[i];
        if (p->interrupt_cycle == UINT64_MAX || p->seen_cycle == UINT64_MAX)
            (void)printf("poll: counter %u did not reach its threshold\n", p->counter);
        else
            (void)printf("poll: counter %u is seen at cycle %s, %s cycles after its interrupt\n",
                         p->counter, view_grouped(p->seen_cycle, a),
                         view_grouped(p->seen_cycle - p->interrupt_cycle, b));
    }
    (void)printf("poll: every %s cycles took %s counter reads; interrupts take none\n",
                 view_grouped(every, a), view_grouped(result->poll_reads, c));
}

static void print_result(const struct chil_stimulus_result *result, uint64_t poll)
{
    char a[32], b[32];
    for (size_t i = 0; i < result->reading_count; i++)
        (void)printf("line %u, cycle %s: %s is %s\n", result->readings[i].line,
                     view_grouped(result->readings[i].cycle, a), result->readings[i].what,
                     result->readings[i].status ? "bad parity"
                                                : view_grouped(result->readings[i].value, b));
    for (size_t i = 0; i < result->notice_count; i++)
        (void)printf("%s at cycle %s: counter %u %s\n", notice_word(&result->notices[i]),
                     view_grouped(result->notices[i].cycle, a), result->notices[i].counter,
                     event_of(result, result->notices[i].counter));
    if (result->reading_count || result->notice_count) (void)putchar('\n');
    print_counters(result);
    (void)printf("\n%s cycles\n", view_grouped(result->end, a));
    if (poll) print_polls(result, poll);
}

static json_t *json_counters(const struct chil_stimulus_result *result)
{
    struct view view;
    view_counters(&view, result);
    json_t *rows = view_json(&view);
    view_fini(&view);
    return rows;
}

static json_t *json_notices(const struct chil_stimulus_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->notice_count; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:i, s:I}", "kind", notice_word(&result->notices[i]),
                                        "counter", (int)result->notices[i].counter, "cycle",
                                        (json_int_t)result->notices[i].cycle));
    return array;
}

static json_t *json_readings(const struct chil_stimulus_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->reading_count; i++) {
        const struct chil_stimulus_reading *r = &result->readings[i];
        json_array_append_new(array,
                              json_pack("{s:i, s:I, s:s, s:o}", "line", (int)r->line, "cycle",
                                        (json_int_t)r->cycle, "what", r->what, "value",
                                        r->status ? json_null() : view_json_count(r->value)));
    }
    return array;
}

static int print_result_json(const struct chil_stimulus_result *result)
{
    return upc_print_json(json_pack("{s:I, s:o, s:o, s:o, s:I}", "cycles", (json_int_t)result->end,
                                    "counters", json_counters(result), "notices",
                                    json_notices(result), "readings", json_readings(result),
                                    "poll_reads", (json_int_t)result->poll_reads));
}

/* Exit status 1 at the first difference; says nothing in JSON when there is none. */
static int compare(const struct chil_stimulus_result *fast,
                   const struct chil_stimulus_result *reference, bool quiet)
{
    char difference[200];
    if (!chil_stimulus_same(fast, reference, difference, sizeof difference)) {
        (void)cmd_fail("upc", "the models differ: %s", difference);
        return CMD_DIFFERS;
    }
    if (!quiet)
        (void)printf("reference: the same %zu counters, %zu readings, %zu notices\n",
                     reference->counter_count, reference->reading_count, reference->notice_count);
    return 0;
}

/* Both runs are over before anything is printed: a refused one leaves standard output empty. The
 * reference polls too, as a read finds a bad word. */
static int run_stimulus(const struct chil_stimulus *stimulus, const struct upc_options *options)
{
    struct chil_stimulus_result fast = {0}, reference = {0};
    struct chil_stimulus_options how = {.model = CHIL_UPC_FAST, .poll = options->poll};
    struct chil_error err;
    int status = chil_stimulus_run(stimulus, &how, &fast, &err);
    how.model = CHIL_UPC_REFERENCE;
    if (!status && options->reference) status = chil_stimulus_run(stimulus, &how, &reference, &err);
    if (status)
        status = cmd_fail_error("upc", &err);
    else if (options->json)
        status = print_result_json(&fast);
    else
        print_result(&fast, options->poll);
    if (options->reference && !status) status = compare(&fast, &reference, options->json);
    chil_stimulus_result_free(&reference);
    chil_stimulus_result_free(&fast);
    return status;
}

int upc_run(const char *path, const struct chil_machine *machine, const struct upc_options *options)
{
    struct chil_stimulus *stimulus;
    struct chil_error err;
    if (chil_stimulus_open(&stimulus, path, machine, &err)) return cmd_fail_error("upc", &err);
    int status = run_stimulus(stimulus, options);
    chil_stimulus_free(stimulus);
    return status;
}
