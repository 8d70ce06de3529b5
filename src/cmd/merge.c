/* chiliad merge and chiliad mean: one experiment of several.
 *
 *     $ chiliad merge -o all.cubex run1.cubex run2.cubex run3.cubex
 *     $ chiliad mean -o mean.cubex first.cubex second.cubex
 *
 * Merge takes each metric from the experiment that measured it best, and completes partial metrics.
 * Mean averages repeated runs. If the experiments have hierarchies of one specification, merge
 * derives them from the merged counts.
 */
#include <stdlib.h>
#include <string.h>

#include "chiliad/metric.h"
#include "cmd/experiment.h"

struct combining {
    const char *command, *output, *metrics;
    struct chil_exp_align align;
    struct chil_exp **input;
    size_t inputs;
};

static const struct option_row option_rows[] = {
    {"output", 'o', "OUT", "the result: .cubex, or .cube for CUBE 3",
     OPTION_SET_TEXT(struct combining, output)},
    {"by-name", 0, NULL, "match functions by name alone, so that edited sources still match",
     OPTION_SET_FLAG(struct combining, align.by_name)},
};

static const struct option_row merge_rows[] = {
    {"metrics", 0, "SPEC",
     "derive the hierarchies of SPEC from the merged counts: a name of 'chiliad "
     "list metrics', a path, or none; default: the specification that all FILEs "
     "were derived with, if there is one",
     OPTION_SET_TEXT(struct combining, metrics), .values = "none @metrics"},
};

const struct option_table cmd_merge_options = {
    .forms = {"-o OUT.cubex [OPTIONS] FILE..."},
    .about = "Merges experiments with different metrics, call paths or threads. A metric "
             "that several measured is averaged; a value that one FILE alone has is kept "
             "whole. A measured value is preferred to a composed one. Partial "
             "compositions (~) are completed when their parts are there.",
    .groups = {OPTION_ROWS(option_rows), OPTION_ROWS(merge_rows)},
};

const struct option_table cmd_mean_options = {
    .forms = {"-o OUT.cubex [OPTIONS] FILE..."},
    .about = "Averages repeated runs. Each metric is divided by the number of runs that "
             "measured it. The result keeps that number and the least and greatest total. "
             "Counts whose average is not whole become real numbers.",
    .groups = {OPTION_ROWS(option_rows)},
};

/* The specification of the result; NULL: it keeps the metrics that it has. */
static int open_spec(const struct combining *c, struct chil_spec **spec, struct chil_error *err)
{
    *spec = NULL;
    if (strcmp(c->command, "mean") == 0 || (c->metrics && strcmp(c->metrics, "none") == 0))
        return 0;
    if (c->metrics) return chil_spec_open(spec, c->metrics, err);
    const char *name = chil_exp_attribute(c->input[0], "metrics");
    for (size_t i = 1; i < c->inputs; i++) {
        const char *other = chil_exp_attribute(c->input[i], "metrics");
        if (!name || !other || strcmp(name, other) != 0) return 0;
    }
    if (!name) return 0;
    if (chil_exp_attribute(c->input[0], "platform"))
        return chil_spec_open_for(spec, c->input[0], err);
    (void)chil_spec_open(spec, name,
                         NULL); /* a user's file may be gone: metrics stay as they are */
    return 0;
}

static int put_together(const struct combining *c, struct chil_exp **result)
{
    const struct chil_exp *const *from = (const struct chil_exp *const *)c->input;
    struct chil_spec *spec;
    struct chil_error err = {0};
    int status = open_spec(c, &spec, &err);
    if (!status && spec)
        status = chil_metric_merge(result, from, c->inputs, &c->align, spec, NULL, &err);
    else if (!status)
        status = strcmp(c->command, "mean") == 0
                     ? chil_exp_mean(result, from, c->inputs, &c->align, &err)
                     : chil_exp_merge(result, from, c->inputs, &c->align, &err);
    chil_spec_free(spec);
    return status ? cmd_fail_error(c->command, &err) : 0;
}

static int combine(struct combining *c, char **path)
{
    struct chil_exp *result = NULL;
    int status = 0;
    c->input = calloc(c->inputs, sizeof(void *));
    if (!c->input) return cmd_fail(c->command, "out of memory");
    for (size_t i = 0; i < c->inputs && !status; i++)
        status = cmd_exp_read(c->command, path[i], &c->input[i]);
    if (!status) status = put_together(c, &result);
    if (!status) status = cmd_exp_write(c->command, result, c->output);
    for (size_t i = 0; i < c->inputs; i++)
        chil_exp_free(c->input[i]);
    chil_exp_free(result);
    free(c->input); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    return status;
}

int cmd_merge(int argc, char **argv)
{
    struct combining c = {.command = argv[0]};
    bool mean = strcmp(c.command, "mean") == 0;
    int status = options_parse(mean ? &cmd_mean_options : &cmd_merge_options, &c, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (!c.output) return cmd_fail(c.command, "-o OUT.cubex says where the result goes");
    if (optind == argc) return cmd_fail(c.command, "name the experiments to join");
    c.inputs = (size_t)(argc - optind);
    return combine(&c, argv + optind);
}
