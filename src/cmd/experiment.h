/* Experiments in commands. Functions report errors and return CMD_BAD, or 0. */
#ifndef CMD_EXPERIMENT_H
#define CMD_EXPERIMENT_H

#include "chiliad/experiment.h"
#include "chiliad/metric.h"
#include "cmd/cmd.h"

int cmd_exp_read(const char *command, const char *path, struct chil_exp **exp);
int cmd_exp_write(const char *command, const struct chil_exp *exp, const char *path);

/* What a ratio is of, as `chiliad stat` prints it: "text, unit". */
enum { CMD_RATIO_OF = 300 };
const char *cmd_ratio_of(const struct chil_spec_item *ratio, char text[CMD_RATIO_OF]);

/* Threads by number: T of every process, P.T, P.*, ranges as 0-3, with commas between. `list` is
 * cut up. */
enum { CMD_THREAD_RANGES = 256 };
struct cmd_threads {
    size_t count;
    struct cmd_thread_range {
        long process[2], thread[2]; /* first and last */
    } range[CMD_THREAD_RANGES];
};
int cmd_threads_take(struct cmd_threads *threads, const char *command, const char *option,
                     char *list);
/* By column; all when there is no list. */
bool cmd_threads_has(const struct cmd_threads *threads, const struct chil_exp *exp, int thread);

#endif
