/* Inside chiliad hist: the options, the histogram of a run, and how it is printed. */
#ifndef CMD_HIST_H
#define CMD_HIST_H

#include "chiliad/monitor.h"
#include "cmd/cmd.h"

enum { HIST_CANDIDATES_MAX = 13 };

struct hist_options {
    struct cmd_program program;
    const char *declaration, *event, *where, *separator, *output, *svg, *relief, *given, *read,
        *page;
    struct cmd_places places;
    uint64_t top;
    bool json, rank;
};

/* A dimension that could be added: a histogram with it. */
struct hist_candidate {
    const char *name;
    struct chil_hist *hist;
};

struct hist {
    struct hist_options *options;
    struct chil_hist_names names;
    struct chil_hist *hist;
    struct hist_candidate candidates[HIST_CANDIDATES_MAX];
    size_t candidate_count;
    struct chil_run_names wanted;  /* of the run */
    const char *machine, *program; /* that it is of */
    struct hist_input *input;      /* a trace; NULL: a run */
    const struct chil_run *run;
    uint32_t nodes; /* of the run */
    int given;      /* the dimension of --given, or -1 */
};

/* What -e names: kinds of transactions, and a predicate or NULL. */
struct hist_event {
    const char *name;
    uint32_t kinds;
    const char *where;
};
int hist_find_event(const struct hist_event **event, const char *name);
/* What is counted without -e: packets if a dimension is theirs only. */
const char *hist_default_event(const char *declaration);
/* Whether a text names a variable. */
bool hist_names(const char *text, const char *word);
/* Makes the names and the histograms of `h`, of transactions of `event`. */
int hist_prepare(struct hist *h, const struct hist_event *event);

/* To the histogram, and to those with another dimension; `context` is a struct hist. */
void hist_tell(void *context, const struct chil_transaction *transaction);

/* A trace instead of a run: its head, then its records of these kinds. Errors are reported
 * (hist_read.c). */
struct hist_input;
int hist_read_open(struct hist *h);
int hist_read_all(struct hist *h, uint32_t kinds);
void hist_read_close(struct hist *h);

/* On ranks (hist_ranks.c): names that come up while a program runs have other numbers on each, so
 * they are refused; after the run rank 0 has the bins of all. */
int hist_ranks_check(const struct hist *h);
int hist_ranks_add(struct hist *h);

/* Counts of a dimension's bins, all others added up; in the order of the bins. To be freed. */
struct hist_bar {
    uint64_t index, count;
};
struct hist_bar *hist_marginal(struct chil_hist *hist, unsigned dimension, size_t *count);
/* The `most` largest of them; *left: how many are left out. `ordered`: by value, else the largest
 * first. */
struct hist_bar *hist_largest(struct chil_hist *hist, unsigned dimension, size_t most, bool ordered,
                              size_t *count, size_t *left);
/* Whether the values of a dimension have an order that tables keep: latencies, sizes, levels. */
bool hist_is_ordered(const struct chil_hist *hist, unsigned dimension);
/* Bits: of the whole key, and of one dimension. */
double hist_entropy(struct chil_hist *hist);
double hist_entropy_of(struct chil_hist *hist, unsigned dimension);
/* Mutual information in bits: of two dimensions; of the last dimension and all others together. */
double hist_information(struct chil_hist *hist, unsigned a, unsigned b);
double hist_gain(struct chil_hist *hist);

const char *hist_variable(const struct hist *h, unsigned dimension);
/* Mutual information, and the candidates by what they explain (hist_rank.c). */
void hist_print_information(FILE *out, struct hist *h);
void hist_print_rank(FILE *out, struct hist *h);
json_t *hist_json_rank(struct hist *h);
void hist_print(FILE *out, struct hist *h);
bool hist_print_json(FILE *out, struct hist *h);
void hist_print_separated(FILE *out, struct hist *h);
/* Pictures (hist_grid.c): a text map of two dimensions; bars of one or a heat map of two, as SVG; a
 * relief of two. */
void hist_map(FILE *out, struct hist *h);
void hist_svg(FILE *out, struct hist *h);
void hist_relief(FILE *out, struct hist *h);

#endif
