/* chiliad cut: a part of an experiment.
 *
 *     $ chiliad cut -o solver.cubex --root 'solve*' --thread 0.0-3 run.cubex
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/experiment.h"

static const char help[] =
    "usage: chiliad cut -o OUT.cubex [--root PATTERN] [--prune PATTERN] [--thread LIST] FILE\n"
    "\n"
    "Keeps a part of an experiment.\n"
    "\n"
    "  -o, --output OUT        the result: .cubex, or .cube for CUBE 3\n"
    "      --root PATTERN      only calls of functions that match, with what they call; callers stay, empty\n"
    "      --prune PATTERN     take calls of functions that match away; their counts go to the caller\n"
    "      --thread LIST       only these threads: T of every process, P.T, P.* or ranges, with commas between\n"
    "  -h, --help              this text\n"
    "\n"
    "Patterns are those of the shell; --root and --prune may be repeated.\n";

enum { OPTION_ROOT = 256, OPTION_PRUNE, OPTION_THREAD, PATTERNS = 64 };

struct cut {
    const struct chil_exp *exp;
    const char *output, *root[PATTERNS], *prune[PATTERNS];
    size_t roots, prunes;
    struct cmd_threads threads;
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"root", required_argument, NULL, OPTION_ROOT},
    {"prune", required_argument, NULL, OPTION_PRUNE},
    {"thread", required_argument, NULL, OPTION_THREAD},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* --- The command line ------------------------------------------------------------------------ */

static int take_pattern(const char **list, size_t *count, const char *pattern)
{
    if (*count == PATTERNS) return cmd_fail("cut", "more than %d patterns", PATTERNS);
    list[(*count)++] = pattern;
    return 0;
}

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
    int status = 0;
    opterr = 0;
    for (int letter;
         !status && (letter = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        switch (letter) {
        case 'o': cut.output = optarg; break;
        case OPTION_ROOT: status = take_pattern(cut.root, &cut.roots, optarg); break;
        case OPTION_PRUNE: status = take_pattern(cut.prune, &cut.prunes, optarg); break;
        case OPTION_THREAD:
            status = cmd_threads_take(&cut.threads, "cut", "--thread", optarg);
            break;
        case 'h': (void)fputs(help, stdout); return 0;
        default: return cmd_bad_option("cut", letter, argv);
        }
    }
    if (status) return status;
    if (!cut.output) return cmd_fail("cut", "-o OUT.cubex says where the result goes");
    if (optind + 1 != argc) return cmd_fail("cut", "name one experiment to cut");
    status = cmd_exp_read("cut", argv[optind], &exp);
    if (!status) status = cut_it(&cut, exp);
    chil_exp_free(exp);
    return status;
}
