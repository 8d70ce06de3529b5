/* Output files of commands: those of view, with errors on standard error. */
#include "cmd/cmd.h"

int cmd_output_open(struct cmd_output *output, const char *command, const char *path)
{
    struct chil_error err = {0};
    *output = (struct cmd_output){.command = command};
    if (view_file_open(&output->whole, path, &err)) return cmd_fail_error(command, &err);
    output->file = output->whole.file;
    return 0;
}

int cmd_output_close(struct cmd_output *output, bool good)
{
    struct chil_error err = {0};
    return view_file_close(&output->whole, good, &err) ? cmd_fail_error(output->command, &err) : 0;
}
