/* chiliad cut: a part of an experiment.
 *
 *     $ chiliad cut -o solver.cubex --root 'solve*' --thread 0.0-3 run.cubex
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/experiment.h"

enum { PATTERNS = 64 };

struct cut {
    const struct chil_exp *exp;
    const char *output, *root[PATTERNS], *prune[PATTERNS];
    size_t roots, prunes;
    struct cmd_threads threads;
};

static int take_threads(void *options, const char *command, char *value)
{
    struct cut *cut = options;
    return cmd_threads_take(&cut->threads, command, "--thread", value);
}

static const struct option_row option_rows[] = {
    {"output", 'o', "OUT", "the result: .cubex, or .cube for CUBE 3",
     OPTION_SET_TEXT(struct cut, output)},
    {"root", 0, "PATTERN",
     "keep only calls of matching functions and what they call; callers stay "
     "without counts; may be repeated",
     OPTION_ADD_TEXT(struct cut, root, roots)},
    {"prune", 0, "PATTERN",
     "remove calls of matching functions; their counts go to the caller; may be "
     "repeated",
     OPTION_ADD_TEXT(struct cut, prune, prunes)},
    {"thread", 0, "LIST",
     "keep only these threads: T of every process, P.T, P.* or ranges, separated "
     "by commas",
     OPTION_CALLS(take_threads)},
};

const struct option_table cmd_cut_options = {
    .forms = {"-o OUT.cubex [OPTIONS] FILE"},
    .about = "Keeps a part of an experiment. Pruning comes first.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes = "A PATTERN is one of the shell's: *, ?, [a-z].",
};

/* --- What is kept ---------------------------------------------------------------------------- */

static bool matches(const struct cut *cut, int node, const char *const *pattern, size_t patterns)
{
    const char *name = cut->exp->region[cut->exp->node[node].region].name;
    for (size_t i = 0; i < patterns; i++)
        if (fnmatch(pattern[i], name, 0) == 0) return true;
    return false;
}

static bool is_root(void *context, int node)
{
    const struct cut *cut = context;
    return !cut->roots || matches(cut, node, cut->root, cut->roots);
}

static bool is_pruned(void *context, int node)
{
    const struct cut *cut = context;
    return matches(cut, node, cut->prune, cut->prunes);
}

static bool is_wanted(void *context, int thread)
{
    const struct cut *cut = context;
    return cmd_threads_has(&cut->threads, cut->exp, thread);
}

/* Prunes, then cuts; `exp` is what was read. */
static int cut_it(struct cut *cut, const struct chil_exp *exp)
{
    struct chil_exp *pruned = NULL, *result = NULL;
    struct chil_error err = {0};
    cut->exp = exp;
    if (cut->prunes && chil_exp_prune(&pruned, exp, is_pruned, cut, &err))
        return cmd_fail_error("cut", &err);
    if (pruned) cut->exp = pruned;
    int status = 0;
    if (chil_exp_cut(&result, cut->exp, is_root, is_wanted, cut, &err))
        status = cmd_fail_error("cut", &err);
    else if (!result->nodes)
        status = cmd_fail("cut",
                          "no call path is left: no function matches --root, or --prune takes all");
    else if (!result->threads)
        status = cmd_fail("cut", "no thread is left: none is in --thread");
    else
        status = cmd_exp_write("cut", result, cut->output);
    chil_exp_free(result);
    chil_exp_free(pruned);
    return status;
}

int cmd_cut(int argc, char **argv)
{
    struct cut cut = {0};
    struct chil_exp *exp = NULL;
    int status = options_parse(&cmd_cut_options, &cut, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (!cut.output) return cmd_fail("cut", "-o OUT.cubex says where the result goes");
    if (optind + 1 != argc) return cmd_fail("cut", "name one experiment to cut");
    status = cmd_exp_read("cut", argv[optind], &exp);
    if (!status) status = cut_it(&cut, exp);
    chil_exp_free(exp);
    return status;
}
