/* Sums of an experiment's values, for pages whose experiment is too large for a browser.
 *
 * A page shows a value for each call path or thread of one metric, and one for each metric. Both
 * are sums over the values that a selection of call paths and of threads leaves. They are added
 * here in the order in which the page adds values that it has (ui/src/data.ts), so that both give
 * the same doubles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/serve.h"

/* --- Selections ------------------------------------------------------------------------------ */

static bool read_number(const char **at, size_t limit, size_t *number)
{
    char *end;
    if (**at < '0' || **at > '9') return false;
    errno = 0;
    unsigned long long value = strtoull(*at, &end, 10);
    if (errno || value >= limit) return false;
    *number = (size_t)value;
    *at = end;
    return true;
}

/* "0-3,7": a byte of each of `count` numbers, 1 if it is selected. No text: NULL, all are. */
static bool read_selection(const char *text, size_t count, unsigned char **selected)
{
    *selected = NULL;
    if (!text) return true;
    *selected = calloc(count + 1, 1);
    for (const char *at = text; *selected && *at;) {
        size_t first, last;
        if (!read_number(&at, count, &first)) return false;
        last = first;
        if (*at == '-' && (at++, !read_number(&at, count, &last))) return false;
        if (last < first) return false;
        memset(*selected + first, 1, last - first + 1);
        if (*at == ',' && at[1])
            at++;
        else if (*at)
            return false;
    }
    return *selected != NULL;
}

/* --- Sums ------------------------------------------------------------------------------------ */

struct summed {
    const struct chil_exp *exp;
    unsigned char *calls, *threads; /* NULL: all */
    bool by_thread;
};

static double value_of(const struct chil_exp *exp, int metric, const struct chil_exp_cell *cell)
{
    return exp->metric[metric].kind == CHIL_EXP_COUNT ? (double)cell->count : cell->real;
}

static void add_metric(const struct summed *s, int metric, double sign, double *sum)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(s->exp, metric, &count);
    for (size_t i = 0; i < count; i++) {
        if (s->calls && !s->calls[cell[i].node]) continue;
        if (s->threads && !s->threads[cell[i].thread]) continue;
        sum[s->by_thread ? cell[i].thread : cell[i].node] +=
            sign * value_of(s->exp, metric, &cell[i]);
    }
}

/* A sum for each thread first, as the page does when there is a selection. */
static double total_of(const struct summed *s, int metric, double *thread)
{
    double total = 0;
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(s->exp, metric, &count);
    if (!s->calls && !s->threads) {
        for (size_t i = 0; i < count; i++)
            total += value_of(s->exp, metric, &cell[i]);
        return total;
    }
    memset(thread, 0, s->exp->threads * sizeof *thread);
    add_metric(s, metric, 1, thread);
    for (size_t i = 0; i < s->exp->threads; i++)
        total += thread[i];
    return total;
}

static void add_all(const struct summed *s, const struct serve_wanted *w, double *sum)
{
    add_metric(s, w->metric, 1, sum);
    for (size_t i = 0; i < s->exp->metrics && w->own; i++)
        if (s->exp->metric[i].parent == w->metric) add_metric(s, (int)i, -1, sum);
}

static struct serve_bytes *bytes_of(const double *sum, size_t count)
{
    struct serve_bytes *bytes = serve_bytes_new(NULL, count * sizeof *sum);
    for (size_t i = 0; bytes && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &sum[i], sizeof bits);
        for (unsigned b = 0; b < sizeof bits; b++)
            bytes->data[sizeof bits * i + b] = (char)(bits >> 8 * b);
    }
    return bytes;
}

struct serve_bytes *serve_sums(const struct chil_exp *exp, const struct serve_wanted *w, bool *good)
{
    bool totals = w->metric < 0;
    struct summed s = {.exp = exp, .by_thread = totals || w->by_thread};
    size_t count = totals ? exp->metrics : w->by_thread ? exp->threads : exp->nodes;
    double *sum = calloc(count + 1, sizeof *sum), *thread = calloc(exp->threads + 1, sizeof *sum);
    struct serve_bytes *bytes = NULL;
    *good = w->metric < (int)exp->metrics && read_selection(w->calls, exp->nodes, &s.calls) &&
            read_selection(w->threads, exp->threads, &s.threads);
    if (*good && sum && thread) {
        if (!totals) add_all(&s, w, sum);
        for (size_t i = 0; i < count && totals; i++)
            sum[i] = total_of(&s, (int)i, thread);
        bytes = bytes_of(sum, count);
    }
    free(s.calls);
    free(s.threads);
    free(thread);
    free(sum);
    return bytes;
}
