/* chiliad dump: print a stage of the flow as text.
 *
 *     $ chiliad dump --stage=decode ./hello | head -3
 *     section .text:
 *     10000240:	48000004	b       10000244
 *     ...
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/experiment.h"
#include "chiliad/run.h"

struct dump_options {
    const char *stage;
};

static const struct option_row option_rows[] = {
    {"stage", 0, "STAGE",
     "decode: the instructions of PROGRAM's executable sections, as Chiliad "
     "decodes them; experiment: the values of FILE, a line each: metric, thread, "
     "value, call path",
     OPTION_SET_TEXT(struct dump_options, stage), .values = "decode experiment"},
};

const struct option_table cmd_dump_options = {
    .forms = {"--stage=decode PROGRAM", "--stage=experiment FILE.cubex"},
    .about = "Prints a stage of the data flow as text.",
    .groups = {OPTION_ROWS(option_rows)},
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
    struct dump_options o = {0};
    struct chil_error err = {0};
    int status = options_parse(&cmd_dump_options, &o, argc, argv);
    if (status) return status < 0 ? 0 : status;
    bool experiment = o.stage && strcmp(o.stage, "experiment") == 0;
    if (!o.stage || (!experiment && strcmp(o.stage, "decode") != 0))
        return cmd_fail("dump", "%s; the stages there are: --stage=decode, --stage=experiment",
                        o.stage ? "no such stage" : "no stage given");
    if (optind + 1 != argc)
        return cmd_fail("dump", "one %s is wanted; see 'chiliad dump --help'",
                        experiment ? "file" : "program");
    if (experiment) return dump_experiment(argv[optind]);
    if (chil_disassemble(argv[optind], print_line, NULL, &err)) return cmd_fail_error("dump", &err);
    return 0;
}
