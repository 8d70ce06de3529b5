/* What the commands over experiments share: reading them and writing one. */
#include "cmd/experiment.h"

int cmd_exp_read(const char *command, const char *path, struct chil_exp **exp)
{
    struct chil_error err = {0};
    return chil_exp_read(exp, path, &err) ? cmd_fail_error(command, &err) : 0;
}

int cmd_exp_write(const char *command, const struct chil_exp *exp, const char *path)
{
    struct chil_error err = {0};
    return chil_exp_write(exp, path, &err) ? cmd_fail_error(command, &err) : 0;
}
