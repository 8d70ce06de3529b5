/* A histogram as tables, as JSON and as separated values. */
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

enum { BAR = 40, LABEL = 24, NUMBERS = 28, LEAST = 16 };

const char *hist_variable(const struct hist *h, unsigned dimension)
{
    return chil_variable_name(chil_hist_dimension(h->hist, dimension)->variable);
}

/* A name whole, however long. */
static const char *value_of(const struct hist *h, unsigned d, uint64_t index,
                            char text[CHIL_VALUE_TEXT])
{
    const char *name = chil_hist_name(h->hist, d, index);
    if (name) return name;
    chil_hist_value(h->hist, d, index, text);
    return text;
}

static struct view_cell value_cell(struct view *view, const struct hist *h, unsigned d,
                                   uint64_t index)
{
    char text[CHIL_VALUE_TEXT];
    const char *value = value_of(h, d, index, text);
    return value == text ? view_copy(view, text) : view_text(value);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* --- The bins -------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct chil_bin *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* What a bin's percentage is of: everything, or its value of --given. */
static uint64_t whole_of(const struct hist *h, const struct hist_bar *given, size_t count,
                         uint64_t key)
{
    if (h->given < 0) return chil_hist_total(h->hist);
    uint64_t index = chil_hist_index(h->hist, (unsigned)h->given, key);
    for (size_t i = 0; i < count; i++)
        if (given[i].index == index) return given[i].count;
    return 0;
}

/* The columns of a bin: its count, its share, and its value in each dimension. */
enum { COUNT, PERCENT, VALUES, COLUMNS_MAX = VALUES + CHIL_DIMENSIONS_MAX + 1 };

static size_t set_columns(const struct hist *h, struct view_column columns[COLUMNS_MAX])
{
    unsigned dimensions = chil_hist_dimensions(h->hist);
    columns[COUNT] =
        (struct view_column){.title = "count", .least = 20, .forms = VIEW_IN_TABLE | VIEW_IN_LINES};
    columns[PERCENT] =
        (struct view_column){.title = "%", .least = 6, .real = "%.2f", .forms = VIEW_IN_TABLE};
    for (unsigned d = 0; d < dimensions; d++)
        columns[VALUES + d] = (struct view_column){.title = hist_variable(h, d),
                                                   .list = "values",
                                                   .bare = true,
                                                   .left = true,
                                                   .fit = VIEW_FIT_MIDDLE};
    columns[VALUES + dimensions] = (struct view_column){.title = "count", .forms = VIEW_IN_JSON};
    return VALUES + dimensions + 1;
}

static void add_bin(struct view *view, const struct hist *h, const struct chil_bin *bin,
                    uint64_t whole)
{
    unsigned dimensions = chil_hist_dimensions(h->hist);
    struct view_cell *cell = view_row(view);
    cell[COUNT] = cell[VALUES + dimensions] = view_count(bin->count);
    cell[PERCENT] = view_real(percent(bin->count, whole));
    for (unsigned d = 0; d < dimensions; d++)
        cell[VALUES + d] = value_cell(view, h, d, chil_hist_index(h->hist, d, bin->key));
}

static int by_key(const void *a, const void *b)
{
    const struct chil_bin *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The largest bins; *shown: how many. Of one dimension with an order they are in that order. */
static struct chil_bin *largest_bins(struct hist *h, size_t *count, size_t *shown)
{
    const struct chil_bin *all = chil_hist_bins(h->hist, count);
    struct chil_bin *bins = base_calloc(*count + 1, sizeof *bins);
    memcpy(bins, all, *count * sizeof *bins);
    qsort(bins, *count, sizeof *bins, by_count);
    *shown = h->options->top && h->options->top < *count ? (size_t)h->options->top : *count;
    if (chil_hist_dimensions(h->hist) == 1 && hist_is_ordered(h->hist, 0))
        qsort(bins, *shown, sizeof *bins, by_key);
    return bins;
}

static void print_bins(FILE *out, struct hist *h)
{
    size_t count, shown, given_count = 0;
    struct chil_bin *bins = largest_bins(h, &count, &shown);
    struct view_column columns[COLUMNS_MAX];
    struct view view;
    struct hist_bar *given =
        h->given < 0 ? NULL : hist_marginal(h->hist, (unsigned)h->given, &given_count);
    view_init(&view, columns, set_columns(h, columns));
    for (size_t i = 0; i < shown; i++)
        add_bin(&view, h, &bins[i], whole_of(h, given, given_count, bins[i].key));
    view_table(&view, out,
               &(struct view_table_style){.heading = true, .width = view_terminal_width(out)});
    view_fini(&view);
    if (shown < count)
        (void)fprintf(out, "%20s  %zu more bins; --top 0 shows all\n", "", count - shown);
    if (h->given >= 0)
        (void)fprintf(out, "%20s  %% of the transactions with the same %s\n", "",
                      hist_variable(h, (unsigned)h->given));
    free(given);
    free(bins);
}

/* --- Marginals ------------------------------------------------------------------------------- */

/* The width of the names, of the longest of them where the bars have room beside it. */
static int label_width(const struct hist *h, unsigned dimension, const struct hist_bar *bars,
                       size_t count, int room)
{
    int label = LABEL;
    for (size_t i = 0; i < count; i++) {
        char text[CHIL_VALUE_TEXT];
        int length = (int)strlen(value_of(h, dimension, bars[i].index, text));
        if (length > label && label < room - LEAST)
            label = length < room - LEAST ? length : room - LEAST;
    }
    return label;
}

static void print_bars(FILE *out, struct hist *h, unsigned dimension, const struct hist_bar *bars,
                       size_t count)
{
    static const char whole_bar[] = "########################################";
    int room = view_text_width(out) - NUMBERS - 3;
    int label = label_width(h, dimension, bars, count, room),
        bar = room - label < BAR ? room - label : BAR;
    const struct view_column columns[] = {
        {.title = "", .least = 20},
        {.title = "", .least = 6, .real = "%.2f"},
        {.title = "", .left = true, .least = label, .fixed = true, .fit = VIEW_FIT_MIDDLE},
        {.title = "", .left = true, .least = 1, .gap = " "},
    };
    uint64_t most = 1, total = chil_hist_total(h->hist);
    struct view view;
    for (size_t i = 0; i < count; i++)
        if (bars[i].count > most) most = bars[i].count;
    view_init(&view, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        int length = bar > 0 ? (int)((double)bars[i].count / (double)most * bar + 0.5) : 0;
        struct view_cell *cell = view_row(&view);
        cell[0] = view_count(bars[i].count);
        cell[1] = view_real(percent(bars[i].count, total));
        cell[2] = value_cell(&view, h, dimension, bars[i].index);
        cell[3] = view_text(whole_bar + BAR - length);
    }
    view_table(&view, out, &(struct view_table_style){0});
    view_fini(&view);
}

static void print_marginal(FILE *out, struct hist *h, unsigned dimension)
{
    size_t count, left, most = h->options->top ? (size_t)h->options->top : SIZE_MAX;
    bool ordered = hist_is_ordered(h->hist, dimension);
    struct hist_bar *bars = hist_largest(h->hist, dimension, most, ordered, &count, &left);
    (void)fprintf(out, "\n by %s, %.3f bits\n", hist_variable(h, dimension),
                  hist_entropy_of(h->hist, dimension));
    print_bars(out, h, dimension, bars, count);
    if (left) (void)fprintf(out, "%20s  %zu more\n", "", left);
    free(bars);
}

void hist_print(FILE *out, struct hist *h)
{
    char number[VIEW_GROUPED_MAX];
    const struct hist_options *o = h->options;
    unsigned dimensions = chil_hist_dimensions(h->hist);
    (void)fprintf(out, "\n %s transactions (%s) of '%s' on %s: %s%s%s\n\n",
                  view_grouped(chil_hist_total(h->hist), number), o->event, h->program, h->machine,
                  o->declaration, o->where ? " where " : "", o->where ? o->where : "");
    if (o->program.partial)
        (void)fprintf(out, " partial: %s; transactions so far\n\n", o->program.partial);
    print_bins(out, h);
    for (unsigned d = 0; d < dimensions && dimensions > 1; d++)
        print_marginal(out, h, d);
    if (dimensions == 2) hist_map(out, h);
    if (dimensions > 1) hist_print_information(out, h);
    if (o->rank) hist_print_rank(out, h);
}

/* --- For programs ---------------------------------------------------------------------------- */

/* All bins in the order of their keys. */
static void view_bins(struct view *view, struct hist *h, struct view_column columns[COLUMNS_MAX])
{
    size_t count;
    const struct chil_bin *bins = chil_hist_bins(h->hist, &count);
    view_init(view, columns, set_columns(h, columns));
    for (size_t i = 0; i < count; i++)
        add_bin(view, h, &bins[i], chil_hist_total(h->hist));
}

void hist_print_separated(FILE *out, struct hist *h)
{
    struct view_column columns[COLUMNS_MAX];
    struct view view;
    const char *partial = h->options->program.partial;
    if (partial) (void)fprintf(out, "# partial: %s\n", partial);
    view_bins(&view, h, columns);
    view_lines(&view, out, h->options->separator);
    view_fini(&view);
}

static json_t *json_dimensions(const struct hist *h)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < chil_hist_dimensions(h->hist); i++) {
        const struct chil_dimension *d = chil_hist_dimension(h->hist, i);
        (void)json_array_append_new(all, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "variable",
                                                   hist_variable(h, i), "scale",
                                                   d->scale == CHIL_SCALE_LOG ? "log" : "linear",
                                                   "parts", (int)d->parts, "shift", (int)d->shift,
                                                   "bits", (int)d->bits, "low", (int)d->low));
    }
    return all;
}

static json_t *json_bins(struct hist *h)
{
    struct view_column columns[COLUMNS_MAX];
    struct view view;
    view_bins(&view, h, columns);
    json_t *bins = view_json(&view);
    view_fini(&view);
    return bins;
}

bool hist_print_json(FILE *out, struct hist *h)
{
    const struct hist_options *o = h->options;
    json_t *root = json_object();
    (void)json_object_set_new(root, "machine", json_string(h->machine));
    if (o->program.run.environment)
        (void)json_object_set_new(root, "environment", json_string(o->program.run.environment));
    (void)json_object_set_new(root, "declaration", json_string(o->declaration));
    (void)json_object_set_new(root, "event", json_string(o->event));
    if (o->where) (void)json_object_set_new(root, "where", json_string(o->where));
    (void)json_object_set_new(root, "dimensions", json_dimensions(h));
    (void)json_object_set_new(root, "total", view_json_count(chil_hist_total(h->hist)));
    if (h->run) (void)json_object_set_new(root, "cycles", view_json_count(chil_run_cycles(h->run)));
    if (h->run)
        (void)json_object_set_new(root, "status",
                                  o->program.partial ? json_null()
                                                     : json_integer(chil_run_status(h->run)));
    if (o->program.partial)
        (void)json_object_set_new(root, "partial", json_string(o->program.partial));
    (void)json_object_set_new(root, "entropy_bits", json_real(hist_entropy(h->hist)));
    (void)json_object_set_new(root, "bins", json_bins(h));
    if (o->rank) (void)json_object_set_new(root, "rank", hist_json_rank(h));
    return view_json_write(root, out, JSON_INDENT(1));
}
