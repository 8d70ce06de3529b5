/* A histogram as tables, as a heat map for terminals, as JSON and as separated values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

enum {
    BAR = 40,
    MAP_ROWS = 32,
    MAP_COLUMNS = 26,
    LABEL_MAX = 40,
    LABEL = 24,
    ROW_LABEL = 22,
    NUMBERS = 28,
    LEAST = 16
};

static const char *variable_of(const struct hist *h, unsigned dimension)
{
    return chil_variable_name(chil_hist_dimension(h->hist, dimension)->variable);
}

static int print_width(FILE *out)
{
    return view_terminal_width(out);
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

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* The middle of a name, which is left out so that the rest fits with "..": the end of a call path
 * says most, then its beginning, both of whole functions if they can be. */
static void find_middle(const char *name, int width, int *begin, int *end)
{
    static const char arrow[] = " > ";
    *begin = (width - 2) / 3;
    for (int i = *begin - (int)strlen(arrow); i > 0; i--)
        if (strncmp(name + i, arrow, strlen(arrow)) == 0) {
            *begin = i + (int)strlen(arrow);
            break;
        }
    while (*begin > 0 && continues(name[*begin]))
        --*begin;
    *end = (int)strlen(name) - (width - 2 - *begin);
    const char *next = strstr(name + *end, arrow);
    if (next) *end = (int)(next - name);
    while (continues(name[*end]))
        ++*end;
}

/* What a value is called, in at most `width` columns. */
static const char *value_in(const struct hist *h, unsigned d, uint64_t index, int width,
                            char text[CHIL_VALUE_TEXT])
{
    const char *whole = value_of(h, d, index, text);
    char cut[CHIL_VALUE_TEXT];
    int begin, end;
    if (width >= CHIL_VALUE_TEXT) width = CHIL_VALUE_TEXT - 1;
    if ((int)strlen(whole) <= width) return whole;
    find_middle(whole, width, &begin, &end);
    (void)snprintf(cut, sizeof cut, "%.*s..%s", begin, whole, whole + end);
    memcpy(text, cut, strlen(cut) + 1);
    return text;
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

static void print_row(FILE *out, const struct hist *h, const struct chil_bin *bin, uint64_t whole,
                      const int *width)
{
    char number[VIEW_GROUPED_MAX], text[CHIL_VALUE_TEXT];
    unsigned dimensions = chil_hist_dimensions(h->hist);
    (void)fprintf(out, "%20s  %6.2f", view_grouped(bin->count, number), percent(bin->count, whole));
    for (unsigned d = 0; d < dimensions; d++) {
        (void)fprintf(out, "  %-*s", d + 1 < dimensions ? width[d] : 0,
                      value_in(h, d, chil_hist_index(h->hist, d, bin->key), width[d], text));
    }
    (void)fputc('\n', out);
}

/* The columns of the table: as wide as what they show, but rows fit the width, and the widest
 * column gives way. */
static void find_widths(const struct hist *h, const struct chil_bin *bins, size_t shown, int most,
                        int *width)
{
    unsigned dimensions = chil_hist_dimensions(h->hist), widest;
    int whole = NUMBERS;
    for (unsigned d = 0; d < dimensions; d++) {
        char text[CHIL_VALUE_TEXT];
        width[d] = (int)strlen(variable_of(h, d));
        for (size_t i = 0; i < shown; i++) {
            int length =
                (int)strlen(value_of(h, d, chil_hist_index(h->hist, d, bins[i].key), text));
            if (length > width[d]) width[d] = length;
        }
        whole += 2 + width[d];
    }
    for (; whole > most; whole--) {
        widest = 0;
        for (unsigned d = 1; d < dimensions; d++)
            if (width[d] > width[widest]) widest = d;
        if (width[widest] <= LEAST) return;
        width[widest]--;
    }
}

static void print_bins(FILE *out, struct hist *h)
{
    size_t count, given_count = 0;
    const struct chil_bin *all = chil_hist_bins(h->hist, &count);
    unsigned dimensions = chil_hist_dimensions(h->hist);
    struct chil_bin *bins = calloc(count + 1, sizeof *bins);
    int width[CHIL_DIMENSIONS_MAX] = {0};
    if (!bins) return;
    memcpy(bins, all, count * sizeof *bins);
    if (dimensions > 1) qsort(bins, count, sizeof *bins, by_count);
    size_t shown = h->options->top && h->options->top < count ? (size_t)h->options->top : count;
    struct hist_bar *given =
        h->given < 0 ? NULL : hist_marginal(h->hist, (unsigned)h->given, &given_count);
    find_widths(h, bins, shown, print_width(out), width);
    (void)fprintf(out, "%20s  %6s", "count", "%");
    for (unsigned d = 0; d < dimensions; d++)
        (void)fprintf(out, "  %-*s", d + 1 < dimensions ? width[d] : 0, variable_of(h, d));
    (void)fputc('\n', out);
    for (size_t i = 0; i < shown; i++)
        print_row(out, h, &bins[i], whole_of(h, given, given_count, bins[i].key), width);
    if (shown < count)
        (void)fprintf(out, "%20s  %zu more bins; --top 0 shows all\n", "", count - shown);
    if (h->given >= 0)
        (void)fprintf(out, "%20s  %% of the transactions with the same %s\n", "",
                      variable_of(h, (unsigned)h->given));
    free(given);
    free(bins);
}

/* --- Marginals and the map ------------------------------------------------------------------- */

static void print_marginal(FILE *out, struct hist *h, unsigned dimension)
{
    size_t count, left;
    struct hist_bar *bars = hist_largest(
        h->hist, dimension, h->options->top ? (size_t)h->options->top : SIZE_MAX, &count, &left);
    uint64_t most = 1, total = chil_hist_total(h->hist);
    int room = print_width(out) - NUMBERS - 3, label = LABEL;
    for (size_t i = 0; i < count; i++) {
        char text[CHIL_VALUE_TEXT];
        int length = (int)strlen(value_of(h, dimension, bars[i].index, text));
        if (length > label && label < room - LEAST)
            label = length < room - LEAST ? length : room - LEAST;
        if (bars[i].count > most) most = bars[i].count;
    }
    int bar = room - label < BAR ? room - label : BAR;
    (void)fprintf(out, "\n by %s, %.3f bits\n", variable_of(h, dimension),
                  hist_entropy_of(h->hist, dimension));
    for (size_t i = 0; i < count; i++) {
        char text[CHIL_VALUE_TEXT], number[VIEW_GROUPED_MAX];
        int length = bar > 0 ? (int)((double)bars[i].count / (double)most * bar + 0.5) : 0;
        (void)fprintf(out, "%20s  %6.2f  %-*s %.*s\n", view_grouped(bars[i].count, number),
                      percent(bars[i].count, total), label,
                      value_in(h, dimension, bars[i].index, label, text), length,
                      "########################################");
    }
    if (left) (void)fprintf(out, "%20s  %zu more\n", "", left);
    free(bars);
}

static uint64_t count_at(struct chil_hist *hist, uint64_t row, uint64_t column)
{
    uint64_t key = row << chil_hist_dimension(hist, 0)->low | column;
    size_t count, low = 0;
    const struct chil_bin *bins = chil_hist_bins(hist, &count);
    for (size_t high = count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (bins[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && bins[low].key == key ? bins[low].count : 0;
}

/* Ten shades; each is a like factor of the count. */
static char shade(uint64_t count, uint64_t most)
{
    static const char shades[] = " .:-=+*#%@";
    unsigned bits = 0, of = 0;
    for (uint64_t i = count; i; i >>= 1)
        bits++;
    for (uint64_t i = most; i; i >>= 1)
        of++;
    if (!count) return shades[0];
    return shades[of > 1 ? 1 + 8 * (bits - 1) / (of - 1) : 9];
}

static void print_map(FILE *out, struct hist *h)
{
    size_t rows, columns, rows_left, columns_left;
    struct hist_bar *row = hist_largest(h->hist, 0, MAP_ROWS, &rows, &rows_left);
    struct hist_bar *column = hist_largest(h->hist, 1, MAP_COLUMNS, &columns, &columns_left);
    char text[CHIL_VALUE_TEXT];
    uint64_t most = 1;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            uint64_t count = count_at(h->hist, row[r].index, column[c].index);
            if (count > most) most = count;
        }
    (void)fprintf(out, "\n %s down, %s across; ' ' is none, '.' few, '@' most, by factors\n%24s",
                  variable_of(h, 0), variable_of(h, 1), "");
    for (size_t c = 0; c < columns; c++)
        (void)fprintf(out, " %c", (char)('a' + c));
    (void)fputc('\n', out);
    for (size_t r = 0; r < rows; r++) {
        (void)fprintf(out, "%*s  ", ROW_LABEL, value_in(h, 0, row[r].index, ROW_LABEL, text));
        for (size_t c = 0; c < columns; c++) {
            char s = shade(count_at(h->hist, row[r].index, column[c].index), most);
            (void)fprintf(out, "%c%c", s, s);
        }
        (void)fputc('\n', out);
    }
    for (size_t c = 0; c < columns; c++) {
        (void)fprintf(out, "%24s %c %s\n", "", (char)('a' + c),
                      value_in(h, 1, column[c].index, LABEL_MAX, text));
    }
    if (rows_left || columns_left)
        (void)fprintf(out, "%24s %zu rows and %zu columns with less are not shown\n", "", rows_left,
                      columns_left);
    free(row);
    free(column);
}

/* --- Information ----------------------------------------------------------------------------- */

static void print_information(FILE *out, struct hist *h)
{
    unsigned dimensions = chil_hist_dimensions(h->hist);
    (void)fputs("\n what dimensions tell of each other (mutual information)\n", out);
    for (unsigned a = 0; a < dimensions; a++)
        for (unsigned b = a + 1; b < dimensions; b++) {
            double shared = hist_information(h->hist, a, b);
            double of_a = hist_entropy_of(h->hist, a), of_b = hist_entropy_of(h->hist, b);
            (void)fprintf(out, "%10.3f bits  %s and %s: %.1f %% of %s, %.1f %% of %s\n", shared,
                          variable_of(h, a), variable_of(h, b), of_a > 0 ? 100 * shared / of_a : 0,
                          variable_of(h, a), of_b > 0 ? 100 * shared / of_b : 0, variable_of(h, b));
        }
}

struct ranked {
    const char *name;
    double gain, own;
};

static int by_gain(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    if (x->own != y->own) return x->own < y->own ? -1 : 1;
    return strcmp(x->name, y->name);
}

static size_t rank(struct hist *h, struct ranked *ranked)
{
    for (size_t i = 0; i < h->candidate_count; i++) {
        struct chil_hist *hist = h->candidates[i].hist;
        ranked[i] = (struct ranked){h->candidates[i].name, hist_gain(hist),
                                    hist_entropy_of(hist, chil_hist_dimensions(hist) - 1)};
    }
    qsort(ranked, h->candidate_count, sizeof *ranked, by_gain);
    return h->candidate_count;
}

static void print_rank(FILE *out, struct hist *h)
{
    struct ranked ranked[HIST_CANDIDATES_MAX];
    size_t count = rank(h, ranked);
    double spread = hist_entropy(h->hist);
    (void)fprintf(out, "\n what another dimension would explain of these %.3f bits\n", spread);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%10.3f bits  %5.1f %%  %s, which has %.3f bits\n", ranked[i].gain,
                      spread > 0 ? 100 * ranked[i].gain / spread : 0, ranked[i].name,
                      ranked[i].own);
}

void hist_print(FILE *out, struct hist *h)
{
    char number[VIEW_GROUPED_MAX];
    const struct hist_options *o = h->options;
    unsigned dimensions = chil_hist_dimensions(h->hist);
    (void)fprintf(out, "\n %s transactions (%s) of '%s' on %s: %s%s%s\n\n",
                  view_grouped(chil_hist_total(h->hist), number), o->event, h->program, h->machine,
                  o->declaration, o->where ? " where " : "", o->where ? o->where : "");
    print_bins(out, h);
    for (unsigned d = 0; d < dimensions && dimensions > 1; d++)
        print_marginal(out, h, d);
    if (dimensions == 2) print_map(out, h);
    if (dimensions > 1) print_information(out, h);
    if (o->rank) print_rank(out, h);
}

/* --- For programs ---------------------------------------------------------------------------- */

void hist_print_separated(FILE *out, struct hist *h)
{
    size_t count;
    const struct chil_bin *bins = chil_hist_bins(h->hist, &count);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%" PRIu64, bins[i].count);
        for (unsigned d = 0; d < chil_hist_dimensions(h->hist); d++) {
            char text[CHIL_VALUE_TEXT];
            (void)fprintf(out, "%s%s", h->options->separator,
                          value_of(h, d, chil_hist_index(h->hist, d, bins[i].key), text));
        }
        (void)fputc('\n', out);
    }
}

static json_t *json_dimensions(const struct hist *h)
{
    json_t *all = json_array();
    for (unsigned i = 0; i < chil_hist_dimensions(h->hist); i++) {
        const struct chil_dimension *d = chil_hist_dimension(h->hist, i);
        (void)json_array_append_new(
            all, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "variable", variable_of(h, i), "scale",
                           d->scale == CHIL_SCALE_LOG ? "log" : "linear", "parts", (int)d->parts,
                           "shift", (int)d->shift, "bits", (int)d->bits, "low", (int)d->low));
    }
    return all;
}

static json_t *json_bins(struct hist *h)
{
    size_t count;
    const struct chil_bin *bins = chil_hist_bins(h->hist, &count);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *values = json_array();
        for (unsigned d = 0; d < chil_hist_dimensions(h->hist); d++) {
            char text[CHIL_VALUE_TEXT];
            json_t *value =
                json_string(value_of(h, d, chil_hist_index(h->hist, d, bins[i].key), text));
            (void)json_array_append_new(values, value ? value : json_string("?"));
        }
        json_t *bin = json_object();
        (void)json_object_set_new(bin, "values", values);
        (void)json_object_set_new(bin, "count", view_json_count(bins[i].count));
        (void)json_array_append_new(all, bin);
    }
    return all;
}

static json_t *json_rank(struct hist *h)
{
    struct ranked ranked[HIST_CANDIDATES_MAX];
    size_t count = rank(h, ranked);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(all, json_pack("{s:s, s:f, s:f}", "dimension", ranked[i].name,
                                                   "explains_bits", ranked[i].gain, "own_bits",
                                                   ranked[i].own));
    return all;
}

bool hist_print_json(FILE *out, struct hist *h)
{
    const struct hist_options *o = h->options;
    json_t *root = json_object();
    (void)json_object_set_new(root, "machine", json_string(h->machine));
    (void)json_object_set_new(root, "declaration", json_string(o->declaration));
    (void)json_object_set_new(root, "event", json_string(o->event));
    if (o->where) (void)json_object_set_new(root, "where", json_string(o->where));
    (void)json_object_set_new(root, "dimensions", json_dimensions(h));
    (void)json_object_set_new(root, "total", view_json_count(chil_hist_total(h->hist)));
    if (h->run) (void)json_object_set_new(root, "cycles", view_json_count(chil_run_cycles(h->run)));
    if (h->run) (void)json_object_set_new(root, "status", json_integer(chil_run_status(h->run)));
    (void)json_object_set_new(root, "entropy_bits", json_real(hist_entropy(h->hist)));
    (void)json_object_set_new(root, "bins", json_bins(h));
    if (o->rank) (void)json_object_set_new(root, "rank", json_rank(h));
    bool good = json_dumpf(root, out, JSON_INDENT(1)) == 0 && fputc('\n', out) != EOF;
    json_decref(root);
    return good;
}
