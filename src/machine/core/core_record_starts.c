/* Start functions of threads, and their place in the tree of call paths.
 *
 * A thread that forks a team or creates a thread gives the runtime a function and its argument; the
 * runtime calls the function later in another thread. That call is recorded below the path that
 * forked or created, in the calling thread's tree, and not below the runtime's wait loop.
 *
 * A team's function is kept until it is registered again or STARTS_MAX others are; that of a
 * created thread is used once. Threads that a runtime creates for a team stay at their root, with
 * what they do besides the team's work.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "machine/core/core_record_impl.h"

enum { STARTS_MAX = 1024 };

struct record_start {
    struct record_start *next;
    const struct record_thread *by; /* the thread that registered it */
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
    const uint32_t *given = &core->regs->gpr[once ? CREATE_FUNCTION : FORK_FUNCTION];
    int pid = core->thread->pid;
    if (once && is_of_team(path)) return;
    for (unsigned i = 0; !*find(record, pid, given[0], NULL) && i < RECORD_EDGES; i++)
        if (record->edges[i].to == given[0]) record->edges[i] = (struct edge){0};
    struct record_start **same = find(record, pid, given[0], &given[1]);
    if (!once && *same) drop(record, same);
    if (record->start_count >= STARTS_MAX) {
        struct record_start **last = &record->starts;
        while ((*last)->next)
            last = &(*last)->next;
        drop(record, last);
    }
    struct record_start *start = base_calloc(1, sizeof *start);
    *start = (struct record_start){.next = record->starts,
                                   .by = core->thread,
                                   .pid = pid,
                                   .function = given[0],
                                   .argument = given[1],
                                   .path = path,
                                   .once = once};
    record->starts = start;
    record->start_count++;
}

struct record_path *record_starts_take(struct core *core, uint32_t to, bool *is_start)
{
    struct record *record = core->cores->options.record;
    int pid = core->thread->pid;
    *is_start = *find(record, pid, to, NULL) != NULL;
    if (!*is_start) return NULL;
    struct record_start **at = find(record, pid, to, &core->regs->gpr[3]), *start = *at;
    if (!start || (start->once && start->by == core->thread)) return NULL;
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
