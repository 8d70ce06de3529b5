/* Experiments in commands. Each tells what is wrong and returns CMD_BAD, or 0. */
#ifndef CMD_EXPERIMENT_H
#define CMD_EXPERIMENT_H

#include "chiliad/experiment.h"
#include "cmd/cmd.h"

int cmd_exp_read(const char *command, const char *path, struct chil_exp **exp);
int cmd_exp_write(const char *command, const struct chil_exp *exp, const char *path);

#endif
