/* What chiliad validate prints: mean, spread and extremes of the draws beside the expected count.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/validate.h"

struct statistics {
    double mean, sd; /* sd: of the sample (n - 1); not for one draw */
    int64_t least, most;
};

static struct statistics statistics_of(const struct validate_sample *sample)
{
    struct statistics s = {.least = INT64_MAX, .most = INT64_MIN};
    double squares = 0;
    for (uint64_t i = 0; i < sample->count; i++) {
        s.mean += (double)sample->value[i] / (double)sample->count;
        if (sample->value[i] < s.least) s.least = sample->value[i];
        if (sample->value[i] > s.most) s.most = sample->value[i];
    }
    for (uint64_t i = 0; i < sample->count; i++) {
        double distance = (double)sample->value[i] - s.mean;
        squares += distance * distance;
    }
    if (sample->count > 1) s.sd = sqrt(squares / (double)(sample->count - 1));
    return s;
}

enum { FUNCTION, COUNTER, DRAWN, EXPECTED, MEASURED, ERROR, SD, LEAST, MOST, PAPER, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [FUNCTION] = {.title = "function", .left = true, .least = 12},
    [COUNTER] = {.title = "counter", .left = true, .least = 14, .gap = " "},
    [DRAWN] = {.title = "draws", .forms = VIEW_IN_JSON},
    [EXPECTED] = {.title = "expected", .least = 10, .gap = " ", .plain = true},
    [MEASURED] = {.title = "measured", .least = 10, .gap = " ", .plain = true, .real = "%.1f"},
    [ERROR] =
        {.title = "error", .least = 9, .gap = " ", .plain = true, .sign = true, .real = "%+.1f"},
    [SD] = {.title = "sd", .least = 6, .gap = " ", .real = "%.1f", .none = "-", .null = true},
    [LEAST] = {.title = "least",
               .key = "least_error",
               .least = 6,
               .gap = " ",
               .plain = true,
               .sign = true,
               .none = "-",
               .null = true},
    [MOST] = {.title = "most",
              .key = "most_error",
              .least = 6,
              .gap = " ",
              .plain = true,
              .sign = true,
              .none = "-",
              .null = true},
    [PAPER] = {.title = "paper's error",
               .key = "paper_error",
               .least = 15,
               .gap = " ",
               .plain = true,
               .sign = true,
               .none = "-",
               .null = true},
};

/* The mean is a real number; the count of a single run is an integer. */
static void fill_row(struct view_cell *row, const struct validate_cell *cell,
                     const struct validate_sample *sample)
{
    struct statistics s = statistics_of(sample);
    row[FUNCTION] = view_text(cell->function);
    row[COUNTER] = view_text(cell->counter);
    row[DRAWN] = view_count(sample->count);
    row[EXPECTED] = view_integer(cell->expected);
    row[MEASURED] = sample->count > 1 ? view_real(s.mean) : view_integer(s.least);
    row[ERROR] = sample->count > 1 ? view_real(s.mean - (double)cell->expected)
                                   : view_integer(s.least - cell->expected);
    if (sample->count > 1) {
        row[SD] = view_real(s.sd);
        row[LEAST] = view_integer(s.least - cell->expected);
        row[MOST] = view_integer(s.most - cell->expected);
    }
    if (cell->paper_error != VALIDATE_NO_ERROR) row[PAPER] = view_integer(cell->paper_error);
}

/* Rows of the table, with all counts. */
static void print_json(const struct view *view, const struct validate_sample *samples)
{
    json_t *rows = view_json(view);
    for (size_t i = 0; i < VALIDATE_CELLS; i++) {
        json_t *values = json_array();
        for (uint64_t draw = 0; draw < samples[i].count; draw++)
            json_array_append_new(values, json_integer((json_int_t)samples[i].value[draw]));
        json_object_set_new(json_array_get(rows, i), "values", values);
    }
    (void)view_json_write(rows, stdout, JSON_INDENT(2));
}

static uint64_t number_of(const struct chil_machine *machine, const char *key)
{
    uint64_t value = 0;
    return chil_machine_number(machine, key, &value) ? 0 : value;
}

/* Parameters that the counts depend on and the paper does not state (ERR-12). */
static void print_caches(const struct chil_machine *machine)
{
    const char *policy = chil_machine_word(machine, "l1d.policy");
    (void)printf(
        "%s: L1D of %" PRIu64 " bytes, lines of %" PRIu64 ", %" PRIu64 " ways, %s; TLB of %" PRIu64
        " entries; L3 of %" PRIu64 " bytes, lines of %" PRIu64 ", %" PRIu64 " ways\n",
        chil_machine_name(machine), number_of(machine, "l1d.size"), number_of(machine, "l1d.line"),
        number_of(machine, "l1d.ways"), policy ? policy : "round-robin",
        number_of(machine, "tlb.entries"), number_of(machine, "l3.size"),
        number_of(machine, "l3.line"), number_of(machine, "l3.ways"));
}

void validate_print(const struct chil_machine *machine, const struct validate_options *o,
                    const struct validate_sample *samples)
{
    struct view view;
    view_init(&view, columns, COLUMNS);
    for (size_t i = 0; i < VALIDATE_CELLS; i++)
        fill_row(view_row(&view), &validate_cells[i], &samples[i]);
    if (o->json) {
        print_json(&view, samples);
    } else {
        view_table(&view, stdout, &(struct view_table_style){.heading = true});
        (void)printf("random_*, multiple_*: mean of %" PRIu64 " draws (seeds 1 to %" PRIu64
                     "), standard deviation, least and most error; the paper's error is of one "
                     "draw\n",
                     o->draws, o->draws);
        print_caches(machine);
    }
    view_fini(&view);
}
