/* chiliad merge and chiliad mean: one experiment of several.
 *
 *     $ chiliad merge -o all.cubex run1.cubex run2.cubex run3.cubex
 *     $ chiliad mean -o mean.cubex first.cubex second.cubex
 *
 * Merge takes each metric from where it is known best and completes what was partial; mean averages repeated runs.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/experiment.h"

static const char merge_help[] =
    "usage: chiliad merge -o OUT.cubex [--by-name] FILE...\n"
    "\n"
    "Puts experiments with different metrics, call paths or threads together. What several measured is averaged;\n"
    "measured is preferred to composed; partial compositions (~) are completed when their parts are there.\n"
    "\n"
    "  -o, --output OUT        the result: .cubex, or .cube for CUBE 3\n"
    "      --by-name           match functions by name alone, so that edited sources still match\n"
    "  -h, --help              this text\n";

static const char mean_help[] =
    "usage: chiliad mean -o OUT.cubex [--by-name] FILE...\n"
    "\n"
    "Averages repeated runs. Each metric is divided by the number of runs that measured it; the result keeps that "
    "number\n"
    "and the least and greatest total. Counts whose average is not whole become real numbers.\n"
    "\n"
    "  -o, --output OUT        the result: .cubex, or .cube for CUBE 3\n"
    "      --by-name           match functions by name alone, so that edited sources still match\n"
    "  -h, --help              this text\n";

enum { OPTION_BY_NAME = 256 };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"by-name", no_argument, NULL, OPTION_BY_NAME},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int combine(const char *command, const char *output, const struct chil_exp_align *align, char **path,
                   size_t paths)
{
    struct chil_exp **input = calloc(paths, sizeof(void *)), *result = NULL;
    struct chil_error err = {0};
    int status = input ? 0 : cmd_fail(command, "out of memory");
    for (size_t i = 0; i < paths && !status; i++)
        status = cmd_exp_read(command, path[i], &input[i]);
    if (!status) {
        const struct chil_exp *const *from = (const struct chil_exp *const *)input;
        int failed = strcmp(command, "mean") == 0 ? chil_exp_mean(&result, from, paths, align, &err)
                                                  : chil_exp_merge(&result, from, paths, align, &err);
        status = failed ? cmd_fail_error(command, &err) : cmd_exp_write(command, result, output);
    }
    for (size_t i = 0; input && i < paths; i++)
        chil_exp_free(input[i]);
    chil_exp_free(result);
    free(input);
    return status;
}

int cmd_merge(int argc, char **argv)
{
    const char *command = argv[0], *output = NULL;
    struct chil_exp_align align = {0};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        switch (letter) {
        case 'o': output = optarg; break;
        case OPTION_BY_NAME: align.by_name = true; break;
        case 'h': (void)fputs(strcmp(command, "mean") == 0 ? mean_help : merge_help, stdout); return 0;
        default: return cmd_bad_option(command, letter, argv);
        }
    }
    if (!output) return cmd_fail(command, "-o OUT.cubex says where the result goes");
    if (optind == argc) return cmd_fail(command, "name the experiments to put together");
    return combine(command, output, &align, argv + optind, (size_t)(argc - optind));
}
