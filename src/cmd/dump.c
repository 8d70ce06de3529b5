/* chiliad dump: print a stage of the flow as text.
 *
 *     $ chiliad dump --stage=decode ./hello | head -3
 *     section .text:
 *     10000240:	48000004	b       10000244
 *     ...
 */
#include "cmd/cmd.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/experiment.h"
#include "chiliad/run.h"

static const char help[] =
    "usage: chiliad dump --stage=decode PROGRAM\n"
    "       chiliad dump --stage=experiment FILE.cubex\n"
    "\n"
    "Prints a stage of the flow as text.\n"
    "\n"
    "  --stage=decode       the instructions of PROGRAM's executable sections, as Chiliad decodes them\n"
    "  --stage=experiment   the values of an experiment, a line each: metric, thread, value, call path\n"
    "  -h, --help           this text\n";

static const struct option long_options[] = {
    {"stage", required_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void print_line(void *context, const char *text)
{
    (void)context;
    (void)puts(text);
}

/* `steps` has room for the deepest path. */
static void print_path(const struct chil_exp *exp, int node, int *steps)
{
    size_t count = 0;
    for (; node >= 0; node = exp->node[node].parent)
        steps[count++] = node;
    while (count) {
        (void)fputs(exp->region[exp->node[steps[--count]].region].name, stdout);
        (void)putchar(count ? '/' : '\n');
    }
}

static int dump_experiment(const char *path)
{
    struct chil_exp *exp;
    struct chil_error err = {0};
    if (chil_exp_read(&exp, path, &err)) return cmd_fail_error("dump", &err);
    int *steps = calloc(exp->nodes + 1, sizeof *steps);
    if (!steps) return cmd_fail("dump", "out of memory");
    for (size_t m = 0; m < exp->metrics; m++) {
        size_t count;
        const struct chil_exp_cell *cells = chil_exp_cells(exp, (int)m, &count);
        for (size_t i = 0; i < count; i++) {
            const struct chil_exp_place *thread = &exp->place[exp->thread[cells[i].thread]];
            (void)printf("%s %d.%d ", exp->metric[m].name, exp->place[thread->parent].rank,
                         thread->rank);
            if (exp->metric[m].kind == CHIL_EXP_COUNT)
                (void)printf("%" PRId64 " ", cells[i].count);
            else
                (void)printf("%.17g ", cells[i].real);
            print_path(exp, (int)cells[i].node, steps);
        }
    }
    free(steps);
    chil_exp_free(exp);
    return 0;
}

int cmd_dump(int argc, char **argv)
{
    const char *stage = NULL;
    struct chil_error err = {0};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (letter == 'h') {
            (void)fputs(help, stdout);
            return 0;
        }
        if (letter != 's')
            return cmd_fail("dump", "unknown or incomplete option '%s'; see 'chiliad dump --help'",
                            argv[optind - 1]);
        stage = optarg;
    }
    bool experiment = stage && strcmp(stage, "experiment") == 0;
    if (!stage || (!experiment && strcmp(stage, "decode") != 0))
        return cmd_fail("dump", "%s; the stages there are: --stage=decode, --stage=experiment",
                        stage ? "no such stage" : "no stage given");
    if (optind + 1 != argc)
        return cmd_fail("dump", "one %s is wanted; see 'chiliad dump --help'",
                        experiment ? "file" : "program");
    if (experiment) return dump_experiment(argv[optind]);
    if (chil_disassemble(argv[optind], print_line, NULL, &err)) return cmd_fail_error("dump", &err);
    return 0;
}
