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

enum { OPTION_ROOT = 256, OPTION_PRUNE, OPTION_THREAD, PATTERNS = 64, RANGES = 256 };

struct range {
    long process[2], thread[2]; /* first and last */
};

struct cut {
    const struct chil_exp *exp;
    const char *output, *root[PATTERNS], *prune[PATTERNS];
    size_t roots, prunes, ranges;
    struct range range[RANGES];
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"root", required_argument, NULL, OPTION_ROOT},
    {"prune", required_argument, NULL, OPTION_PRUNE},
    {"thread", required_argument, NULL, OPTION_THREAD},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* --- The command line ----------------------------------------------------------------------------------------------
 */

/* "3", "3-5" or "*"; NULL when it is none of them. */
static char *take_range(char *at, long range[2])
{
    char *end;
    if (*at == '*') {
        range[0] = 0;
        range[1] = INT32_MAX;
        return at + 1;
    }
    if (*at < '0' || *at > '9') return NULL;
    range[0] = range[1] = strtol(at, &end, 10);
    if (*end != '-') return end;
    if (end[1] < '0' || end[1] > '9') return NULL;
    range[1] = strtol(end + 1, &end, 10);
    return end;
}

static int take_threads(struct cut *cut, char *list)
{
    for (char *item; (item = strsep(&list, ","));) {
        struct range range = {{0, INT32_MAX}, {0, INT32_MAX}};
        char *at = take_range(item, range.thread);
        if (at && *at == '.') {
            memcpy(range.process, range.thread, sizeof range.process);
            at = take_range(at + 1, range.thread);
        }
        if (!at || *at) return cmd_fail("cut", "--thread wants T, P.T, P.* or ranges as 0-3, not '%s'", item);
        if (cut->ranges == RANGES) return cmd_fail("cut", "--thread has more than %d parts", RANGES);
        cut->range[cut->ranges++] = range;
    }
    return 0;
}

static int take_pattern(const char **list, size_t *count, const char *pattern)
{
    if (*count == PATTERNS) return cmd_fail("cut", "more than %d patterns", PATTERNS);
    list[(*count)++] = pattern;
    return 0;
}

/* --- What is kept --------------------------------------------------------------------------------------------------
 */

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
    const struct chil_exp_place *t = &cut->exp->place[cut->exp->thread[thread]];
    int process = cut->exp->place[t->parent].rank;
    for (size_t i = 0; i < cut->ranges; i++) {
        const struct range *r = &cut->range[i];
        if (process >= r->process[0] && process <= r->process[1] && t->rank >= r->thread[0] && t->rank <= r->thread[1])
            return true;
    }
    return !cut->ranges;
}

/* Prunes, then cuts; `exp` is what was read. */
static int cut_it(struct cut *cut, const struct chil_exp *exp)
{
    struct chil_exp *pruned = NULL, *result = NULL;
    struct chil_error err = {0};
    cut->exp = exp;
    if (cut->prunes && chil_exp_prune(&pruned, exp, is_pruned, cut, &err)) return cmd_fail_error("cut", &err);
    if (pruned) cut->exp = pruned;
    int status = 0;
    if (chil_exp_cut(&result, cut->exp, is_root, is_wanted, cut, &err))
        status = cmd_fail_error("cut", &err);
    else if (!result->nodes)
        status = cmd_fail("cut", "no call path is left: no function matches --root, or --prune takes all");
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
    for (int letter; !status && (letter = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        switch (letter) {
        case 'o': cut.output = optarg; break;
        case OPTION_ROOT: status = take_pattern(cut.root, &cut.roots, optarg); break;
        case OPTION_PRUNE: status = take_pattern(cut.prune, &cut.prunes, optarg); break;
        case OPTION_THREAD: status = take_threads(&cut, optarg); break;
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
