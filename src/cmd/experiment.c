/* Shared by commands over experiments: reading and writing files, lists of threads. */
#include "cmd/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_exp_read(const char *command, const char *path, struct chil_exp **exp)
{
    static const char ending[] = ".cubex";
    struct chil_error err = {0};
    char *recorded; /* what 'chiliad record PATH' writes */
    if (!chil_exp_read(exp, path, &err)) return 0;
    if (asprintf(&recorded, "%s%s", path, ending) < 0) return cmd_fail_error(command, &err);
    bool is_there = access(recorded, R_OK) == 0;
    int status = is_there ? cmd_fail(command, "%s; did you mean '%s'?", err.text, recorded)
                          : cmd_fail_error(command, &err);
    free(recorded);
    return status;
}

int cmd_exp_write(const char *command, const struct chil_exp *exp, const char *path)
{
    struct chil_error err = {0};
    return chil_exp_write(exp, path, &err) ? cmd_fail_error(command, &err) : 0;
}

const char *cmd_ratio_of(const struct chil_spec_item *ratio, char text[CMD_RATIO_OF])
{
    (void)snprintf(text, CMD_RATIO_OF, "%s%s%s", ratio->text,
                   *ratio->text && *ratio->unit ? ", " : "", ratio->unit);
    return text;
}

/* "3", "3-5" or "*"; NULL when it is none of them. */
static char *take_range(char *at, long range[2])
{
    char *end;
    if (*at == '*') {
        range[0] = 0;
        range[1] = INT32_MAX;
        return at + 1;
    }
    if (*at < '0' || *at > '9') return NULL;
    range[0] = range[1] = strtol(at, &end, 10);
    if (*end != '-') return end;
    if (end[1] < '0' || end[1] > '9') return NULL;
    range[1] = strtol(end + 1, &end, 10);
    return end;
}

int cmd_threads_take(struct cmd_threads *threads, const char *command, const char *option,
                     char *list)
{
    for (char *item; (item = strsep(&list, ","));) {
        struct cmd_thread_range range = {{0, INT32_MAX}, {0, INT32_MAX}};
        char *at = take_range(item, range.thread);
        if (at && *at == '.') {
            memcpy(range.process, range.thread, sizeof range.process);
            at = take_range(at + 1, range.thread);
        }
        if (!at || *at)
            return cmd_fail(command, "%s wants T, P.T, P.* or ranges as 0-3, not '%s'", option,
                            item);
        if (threads->count == CMD_THREAD_RANGES)
            return cmd_fail(command, "%s has more than %d parts", option, CMD_THREAD_RANGES);
        threads->range[threads->count++] = range;
    }
    return 0;
}

bool cmd_threads_has(const struct cmd_threads *threads, const struct chil_exp *exp, int thread)
{
    const struct chil_exp_place *t = &exp->place[exp->thread[thread]];
    int process = exp->place[t->parent].rank;
    for (size_t i = 0; i < threads->count; i++) {
        const struct cmd_thread_range *r = &threads->range[i];
        if (process >= r->process[0] && process <= r->process[1] && t->rank >= r->thread[0] &&
            t->rank <= r->thread[1])
            return true;
    }
    return !threads->count;
}
