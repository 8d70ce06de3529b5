/* Commands under mpirun. `stat`, `record` and `hist` run their nodes on all ranks of OpenMPI; rank
 * 0 alone has standard output and error, files and the exit status. Other commands run once, not as
 * many times as there are ranks. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"

/* What OpenMPI needs of the host is not in the sandbox. */
int cmd_ranks_start(const char *command, struct cmd_program *p)
{
    struct chil_ranks *ranks;
    struct chil_error err = {0};
    if (chil_ranks_start(&ranks, &err)) return cmd_fail_error(command, &err);
    p->run.ranks = ranks;
    if (chil_ranks_count(ranks) > 1) p->no_sandbox = true;
    if (!chil_ranks_self(ranks)) return 0;
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return CMD_BAD;
    return 0;
}

int cmd_ranks_end(const struct cmd_program *p, int status)
{
    struct chil_ranks *ranks = (struct chil_ranks *)p->run.ranks;
    bool is_root = chil_ranks_self(ranks) == 0;
    (void)fflush(NULL);
    chil_ranks_end(ranks);
    return is_root ? status : 0;
}

void cmd_ranks_outputs(const struct cmd_program *p, const char **outputs[], size_t count)
{
    for (size_t i = 0; chil_ranks_self(p->run.ranks) && i < count; i++)
        *outputs[i] = NULL;
}

static bool stops(void *context)
{
    (void)context;
    return cmd_signal_caught() != 0;
}

int cmd_ranks_reduce(const struct cmd_program *p, const char *command,
                     struct chil_ranks_reducer reducer)
{
    struct chil_error err = {0};
    reducer.stops = p->partial ? NULL : stops; /* then a signal has ended the run */
    if (chil_ranks_count(p->run.ranks) < 2) return 0;
    return chil_ranks_reduce(p->run.ranks, &reducer, &err) ? cmd_fail_error(command, &err) : 0;
}

int cmd_ranks_refuse(const struct cmd_program *p, const char *command)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (p->run.ranks || !size || strtoul(size, NULL, 10) < 2) return 0;
    return cmd_fail(command, "only 'chiliad stat', 'record' and 'hist' run on several ranks; run "
                             "this without mpirun");
}
