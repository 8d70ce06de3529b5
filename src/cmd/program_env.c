/* The environment of the program: a fixed one, so that the same program counts the same for every
 * user and on every host, and what --env and --env-host add.
 *
 *     $ OMP_NUM_THREADS=2 chiliad stat --env OMP_NUM_THREADS --env OMP_SCHEDULE=static ./sum
 *
 * A variable that libraries of programs read, and that the user has set without passing it, is
 * named in a warning.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static size_t name_length(const char *entry)
{
    return strcspn(entry, "=");
}

static bool same_name(const char *a, const char *b)
{
    size_t length = name_length(a);
    return length == name_length(b) && strncmp(a, b, length) == 0;
}

/* The entry "NAME=VALUE" of a list that has the name of `entry`; NULL: none. */
static char **find(char **list, size_t count, const char *entry)
{
    for (size_t i = 0; i < count; i++)
        if (same_name(list[i], entry)) return &list[i];
    return NULL;
}

static size_t count_of(char **list)
{
    size_t count = 0;
    while (list[count])
        count++;
    return count;
}

static void warn_of_left_out(const struct cmd_program *p, const char *command)
{
    static const char *const starts[] = {"OMP_", "GOMP_",           "PAPI_",
                                         "HPM_", "LD_LIBRARY_PATH", "LD_PRELOAD"};
    for (char **entry = environ; *entry; entry++)
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            if (strncmp(*entry, starts[i], strlen(starts[i])) != 0) continue;
            if (find((char **)p->env_all, p->env_all_count, *entry)) continue;
            int length = (int)name_length(*entry);
            (void)fprintf(
                stderr,
                "chiliad %s: the program does not get your '%.*s'; pass it with --env %.*s\n",
                command, length, *entry, length, *entry);
        }
}

/* Adds an entry, in the place of one of the same name. */
static void add(struct cmd_program *p, char *entry)
{
    char **same = find(p->env_all, p->env_all_count, entry);
    if (same)
        *same = entry;
    else
        p->env_all[p->env_all_count++] = entry;
}

/* For results: "OMP_NUM_THREADS=2 X=1", or "host" and the same. */
static void describe(struct cmd_program *p)
{
    size_t used = 0;
    if (!p->env_count && !p->env_host) return;
    if (p->env_host) used = (size_t)snprintf(p->env_text, sizeof p->env_text, "host");
    for (size_t i = 0; i < p->env_count && used < sizeof p->env_text; i++)
        used += (size_t)snprintf(p->env_text + used, sizeof p->env_text - used, "%s%s",
                                 used ? " " : "", p->env[i]);
    p->run.environment = p->env_text;
}

/* "NAME" becomes "NAME=VALUE" with the user's value. */
static int complete(const char **entry, const char *command)
{
    if (!**entry || **entry == '=')
        return cmd_fail(command, "--env '%s' has no name; write NAME or NAME=VALUE", *entry);
    if (strchr(*entry, '=')) return 0;
    char **host = find(environ, count_of(environ), *entry);
    if (!host)
        return cmd_fail(command, "--env %s: your environment does not have it; write %s=VALUE",
                        *entry, *entry);
    *entry = *host;
    return 0;
}

int cmd_program_env(struct cmd_program *p, const char *command)
{
    for (size_t i = 0; i < p->env_count; i++) {
        int status = complete(&p->env[i], command);
        if (status) return status;
        if (p->env_host) (void)putenv((char *)p->env[i]);
    }
    describe(p);
    p->run.envp = environ;
    if (p->env_host) return 0;
    for (char *const *entry = chil_run_environment; *entry; entry++)
        add(p, *entry);
    for (size_t i = 0; i < p->env_count; i++)
        add(p, (char *)p->env[i]);
    p->run.envp = p->env_all;
    warn_of_left_out(p, command);
    return 0;
}
