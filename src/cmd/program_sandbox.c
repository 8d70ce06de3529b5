/* Commands that run a program enter the sandbox before they load it (chiliad/sandbox.h): the kernel
 * then holds the simulator to what the run needs. What guests may read and write is that of
 * src/machine/os/os_file_rules.c; the files of the command's own outputs are added.
 *
 * A process enters once: every run of a command is under the same rules.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

void cmd_program_output(struct cmd_program *p, const char *path)
{
    if (path && p->output_count < CMD_OUTPUTS) p->outputs[p->output_count++] = path;
}

/* The working directory if it is below the root; else the root, as for guests. */
static const char *first_writable(const char *root, char real[PATH_MAX])
{
    char here[PATH_MAX];
    if (!root) return ".";
    if (!realpath(root, real) || !getcwd(here, sizeof here)) return root;
    size_t length = strlen(real);
    bool below =
        strncmp(here, real, length) == 0 && (length == 1 || !here[length] || here[length] == '/');
    return below ? "." : root;
}

static void enter(struct cmd_program *p)
{
    char data[PATH_MAX] = "", real[PATH_MAX];
    const char *read[2], *write[CMD_PROGRAM_LIST + 1];
    struct chil_sandbox_options o = {.root = p->run.root,
                                     .read = read,
                                     .write = write,
                                     .outputs = p->outputs,
                                     .output_count = p->output_count};
    if (p->run.sysroot) read[o.read_count++] = p->run.sysroot;
    if (chil_data_directory(data, sizeof data, NULL) == 0) read[o.read_count++] = data;
    write[o.write_count++] = first_writable(p->run.root, real);
    for (size_t i = 0; i < p->run.writable_count; i++)
        write[o.write_count++] = p->writable[i];
    o.forks = p->run.engine && strncmp(p->run.engine, "lockstep", strlen("lockstep")) == 0;
    p->sandbox = chil_sandbox_enter(&o);
}

int cmd_program_new(struct cmd_program *p, const struct chil_run_options *options,
                    struct chil_run **run, struct chil_error *err)
{
    if (!p->in_sandbox && !p->no_sandbox) enter(p);
    p->in_sandbox = true;
    return chil_run_new(run, options, err);
}
