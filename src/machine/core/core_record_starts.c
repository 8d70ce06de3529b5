/* Functions that threads begin with: where in the tree they belong.
 *
 * A runtime is told a function and its argument, by a thread that forks a team or creates a thread,
 * and calls it later in another one. That call, with that argument, is then not kept below the
 * runtime's own code, where the thread waits for work, but below the path that forked or created,
 * in the tree of the thread that makes it.
 *
 * A team's function is known until it is told again or many others are; a created thread begins
 * once. Threads that a runtime creates for a team stay at their root: what they do besides the
 * team's work is nobody's.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "machine/core/core_record_impl.h"

enum { STARTS_MOST = 1024 };

struct record_start {
    struct record_start *next;
    const struct record_thread *told; /* by whom */
    int pid;
    uint32_t function, argument;
    struct record_path *path;
    bool once;
};

static void drop(struct record *record, struct record_start **at)
{
    struct record_start *start = *at;
    *at = start->next;
    free(start);
    record->start_count--;
}

static struct record_start **find(struct record *record, int pid, uint32_t function,
                                  const uint32_t *argument)
{
    struct record_start **at = &record->starts;
    while (*at && ((*at)->pid != pid || (*at)->function != function ||
                   (argument && (*at)->argument != *argument)))
        at = &(*at)->next;
    return at;
}

/* Whether a thread is created by the runtime of a team, and not by what the team does. */
static bool is_of_team(const struct record_path *path)
{
    for (path = path->parent; path && !path->start; path = path->parent)
        if (path->function->role == RECORD_FORKS) return true;
    return false;
}

void record_starts_announce(struct core *core, struct record_path *path)
{
    enum {
        FORK_FUNCTION = 3,
        CREATE_FUNCTION = 5
    }; /* registers; the argument is in the next one */
    struct record *record = core->cores->options.record;
    bool once = path->function->role == RECORD_CREATES;
    const uint32_t *told = &core->regs->gpr[once ? CREATE_FUNCTION : FORK_FUNCTION];
    int pid = core->thread->pid;
    if (once && is_of_team(path)) return;
    for (unsigned i = 0; !*find(record, pid, told[0], NULL) && i < RECORD_WAYS; i++)
        if (record->ways[i].to == told[0]) record->ways[i] = (struct way){0};
    struct record_start **same = find(record, pid, told[0], &told[1]);
    if (!once && *same) drop(record, same);
    if (record->start_count >= STARTS_MOST) {
        struct record_start **last = &record->starts;
        while ((*last)->next)
            last = &(*last)->next;
        drop(record, last);
    }
    struct record_start *start = base_calloc(1, sizeof *start);
    *start = (struct record_start){.next = record->starts,
                                   .told = core->thread,
                                   .pid = pid,
                                   .function = told[0],
                                   .argument = told[1],
                                   .path = path,
                                   .once = once};
    record->starts = start;
    record->start_count++;
}

struct record_path *record_starts_take(struct core *core, uint32_t to, bool *known)
{
    struct record *record = core->cores->options.record;
    int pid = core->thread->pid;
    *known = *find(record, pid, to, NULL) != NULL;
    if (!*known) return NULL;
    struct record_start **at = find(record, pid, to, &core->regs->gpr[3]), *start = *at;
    if (!start || (start->once && start->told == core->thread)) return NULL;
    struct record_path *path = record_twin(record, start->path, core->thread, core->number);
    if (start->once) drop(record, at);
    return path;
}

void record_starts_forget(struct record *record, int pid)
{
    for (struct record_start **at = &record->starts; *at;)
        if ((*at)->pid == pid)
            drop(record, at);
        else
            at = &(*at)->next;
}

void record_starts_free(struct record *record)
{
    while (record->starts)
        drop(record, &record->starts);
}
