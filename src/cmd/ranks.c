/* Commands under mpirun. `stat` runs its nodes on all ranks of OpenMPI; rank 0 alone has standard
 * output and error, files and the exit status. Other commands run once, not as many times as there
 * are ranks. */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"

int cmd_ranks_start(const char *command, struct chil_ranks **ranks)
{
    struct chil_error err = {0};
    if (chil_ranks_start(ranks, &err)) return cmd_fail_error(command, &err);
    if (!chil_ranks_self(*ranks)) return 0;
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return CMD_BAD;
    return 0;
}

int cmd_ranks_end(struct chil_ranks *ranks, int status)
{
    bool is_root = chil_ranks_self(ranks) == 0;
    (void)fflush(NULL);
    chil_ranks_end(ranks);
    return is_root ? status : 0;
}

int cmd_ranks_refuse(const struct cmd_program *p, const char *command)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (p->run.ranks || !size || strtoul(size, NULL, 10) < 2) return 0;
    return cmd_fail(command, "only 'chiliad stat' runs on several ranks; run this without mpirun");
}
