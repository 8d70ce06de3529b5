/* Calls and messages of MPI. The guest's library (guest/mpi) notifies of them with the
 * call-through, services 32 to 41 (docs/formats/callthru.md); each notice becomes signals of group
 * "mpi" of the calling thread, and, if the caller of the run wants them, a struct chil_mpi_event.
 *
 * Only outermost calls are notified. The time of a call goes to the signal of its kind when it
 * returns, also that for which the thread or its core did something else. Waiting is the part of it
 * between two notices of the library. The kind of a call is decided by its name (observe_roles.c).
 *
 * Notices come from a program and may be in any order: a return without a call counts nothing, and
 * a thread that never returns has no time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/observe/observe.h"
#include "measure/observe/observe_roles.h"

enum {
    LONGEST_NAME = sizeof((struct chil_mpi_event *)0)->name - 1,
    NAMES = 64,
    MEMBERS_MAX = 1 << 20
};

/* A thread in or between calls. */
struct mpi_thread {
    struct mpi_thread *next;
    int tid;
    bool inside, waiting;
    enum core_signal signal; /* of the call's kind */
    uint64_t since, waits_since;
};

/* A name that a program's call had, by its address. */
struct mpi_name {
    char text[LONGEST_NAME + 1];
    uint32_t length;
    const char *role;
    enum core_signal signal;
};

struct observe_mpi {
    struct node_service service;
    struct node_listener listener;
    int tid_of_core[OS_CORES_MAX];
    struct mpi_thread *threads;
    struct mpi_name names[NAMES];
};

/* --- Kinds ----------------------------------------------------------------------------------- */

static enum core_signal kind_of(const char *wanted)
{
    static const struct {
        const char *role;
        enum core_signal signal;
    } kinds[] = {{"point2point", CORE_SIGNAL_MPI_POINT},
                 {"barrier", CORE_SIGNAL_MPI_BARRIER},
                 {"one2all", CORE_SIGNAL_MPI_COLLECTIVE},
                 {"all2one", CORE_SIGNAL_MPI_COLLECTIVE},
                 {"all2all", CORE_SIGNAL_MPI_COLLECTIVE},
                 {"other collective", CORE_SIGNAL_MPI_COLLECTIVE},
                 {"rma", CORE_SIGNAL_MPI_RMA},
                 {"file io", CORE_SIGNAL_MPI_IO},
                 {"init exit", CORE_SIGNAL_MPI_SETUP}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].role, wanted) == 0) return kinds[i].signal;
    return CORE_SIGNAL_MPI_OTHER;
}

/* NULL: there is no name. */
static const struct mpi_name *find_name(struct observe_mpi *mpi, const struct mem *mem,
                                        uint32_t address)
{
    struct mpi_name *name = &mpi->names[address / 4 % NAMES];
    int64_t length = mem_strlen(mem, address, LONGEST_NAME);
    if (length <= 0) return NULL;
    const void *text = mem_host(mem, address);
    if (name->length == length && memcmp(name->text, text, (size_t)length) == 0) return name;
    memcpy(name->text, text, (size_t)length);
    name->text[length] = 0;
    name->length = (uint32_t)length;
    const struct observe_role *role = observe_role_find(name->text, "");
    name->role = role ? role->role : "function";
    name->signal = kind_of(name->role);
    return name;
}

/* --- Notices --------------------------------------------------------------------------------- */

static struct mpi_thread *thread_of(struct observe_mpi *mpi, unsigned core)
{
    int tid = mpi->tid_of_core[core];
    struct mpi_thread **at = &mpi->threads, *thread;
    while (*at && (*at)->tid != tid)
        at = &(*at)->next;
    if (*at) return *at;
    *at = thread = base_calloc(1, sizeof *thread);
    thread->tid = tid;
    return thread;
}

static void end_wait(const struct observe *observe, unsigned core, struct mpi_thread *thread,
                     uint64_t now)
{
    if (thread->waiting)
        os_raise(observe->node->os, core, CORE_SIGNAL_MPI_WAIT, now - thread->waits_since);
    thread->waiting = false;
}

static void end_call(const struct observe *observe, unsigned core, struct mpi_thread *thread,
                     uint64_t now)
{
    end_wait(observe, core, thread, now);
    if (thread->inside) os_raise(observe->node->os, core, thread->signal, now - thread->since);
    thread->inside = false;
}

static int32_t note_call(struct observe *observe, unsigned core, const uint32_t *arg,
                         const struct mem *mem, struct chil_mpi_event *event)
{
    struct mpi_thread *thread = thread_of(observe->mpi, core);
    const struct mpi_name *name = find_name(observe->mpi, mem, arg[1]);
    if (!name) return -EFAULT;
    end_call(observe, core, thread, event->cycle);
    thread->inside = true;
    thread->signal = name->signal;
    thread->since = event->cycle;
    event->role = name->role;
    memcpy(event->name, name->text, name->length + 1);
    return 0;
}

static void note_message(const struct observe *observe, unsigned core, const uint32_t *arg,
                         struct chil_mpi_event *event)
{
    struct os *os = observe->node->os;
    bool sent = event->kind == CHIL_MPI_SENT, received = event->kind == CHIL_MPI_RECEIVED;
    event->peer = (int32_t)arg[1];
    event->tag = (int32_t)arg[2];
    event->bytes = arg[3];
    event->request = arg[4];
    event->context = (uint64_t)arg[5] << 32 | arg[6];
    if (!sent && !received) return;
    os_raise(os, core, sent ? CORE_SIGNAL_MPI_SENT : CORE_SIGNAL_MPI_RECEIVED, 1);
    os_raise(os, core, sent ? CORE_SIGNAL_MPI_SENT_BYTES : CORE_SIGNAL_MPI_RECEIVED_BYTES, arg[3]);
}

static void note_collective(const struct observe *observe, unsigned core, const uint32_t *arg,
                            struct chil_mpi_event *event)
{
    event->peer = (int32_t)arg[1];
    event->bytes = arg[2];
    event->received = arg[3];
    event->context = (uint64_t)arg[5] << 32 | arg[6];
    os_raise(observe->node->os, core, CORE_SIGNAL_MPI_GIVEN_BYTES, arg[2]);
    os_raise(observe->node->os, core, CORE_SIGNAL_MPI_TAKEN_BYTES, arg[3]);
}

/* Members of a communicator: ranks of the world; no array: these are the numbers from 0. */
static int32_t note_members(const struct observe *observe, const uint32_t *arg,
                            const struct mem *mem, struct chil_mpi_event *event)
{
    uint32_t count = arg[1];
    event->context = (uint64_t)arg[5] << 32 | arg[6];
    if (!observe->options.mpi) return 0;
    if (!count || count > MEMBERS_MAX) return -EINVAL;
    uint32_t *members = base_calloc(count, sizeof *members);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        if (arg[2])
            good = mem_get32(mem, arg[2] + 4 * i, &members[i]);
        else
            members[i] = i;
    event->members = members;
    event->member_count = count;
    if (good) observe->options.mpi(observe->options.context, event);
    free(members);
    return good ? 0 : -EFAULT;
}

static int32_t take_notice(struct observe *observe, unsigned core, const uint32_t *arg,
                           const struct mem *mem)
{
    struct chil_mpi_event event = {.kind = (enum chil_mpi_kind)(arg[0] - OS_NOTES_FIRST),
                                   .cycle = core_cycles(cores_get(observe->node->cores, core)),
                                   .node = observe->number,
                                   .core = core,
                                   .tid = observe->mpi->tid_of_core[core]};
    struct mpi_thread *thread = thread_of(observe->mpi, core);
    int32_t status = 0;
    switch (event.kind) {
    case CHIL_MPI_CALL: status = note_call(observe, core, arg, mem, &event); break;
    case CHIL_MPI_RETURN: end_call(observe, core, thread, event.cycle); break;
    case CHIL_MPI_WAIT:
        thread->waiting = thread->inside;
        thread->waits_since = event.cycle;
        return 0;
    case CHIL_MPI_WAITED: end_wait(observe, core, thread, event.cycle); return 0;
    case CHIL_MPI_SENT:
    case CHIL_MPI_POSTED:
    case CHIL_MPI_RECEIVED:
    case CHIL_MPI_COMPLETED: note_message(observe, core, arg, &event); break;
    case CHIL_MPI_COLLECTIVE: note_collective(observe, core, arg, &event); break;
    case CHIL_MPI_MEMBERS: return note_members(observe, arg, mem, &event);
    }
    if (!status && observe->options.mpi) observe->options.mpi(observe->options.context, &event);
    return status;
}

static bool serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result)
{
    if (regs->gpr[3] - OS_NOTES_FIRST > CHIL_MPI_MEMBERS) return false;
    *result = take_notice(context, core, &regs->gpr[3], mem);
    return true;
}

static void switched(void *context, unsigned core, int pid, int tid)
{
    const struct observe *observe = context;
    (void)pid;
    observe->mpi->tid_of_core[core] = tid;
}

void observe_mpi_attach(struct observe *observe)
{
    struct observe_mpi *mpi = observe->mpi = base_calloc(1, sizeof *mpi);
    mpi->service = (struct node_service){.context = observe, .serve = serve};
    mpi->listener = (struct node_listener){.context = observe, .switched = switched};
    node_attach_service(observe->node, &mpi->service);
    node_attach_listener(observe->node, &mpi->listener);
}

void observe_mpi_free(struct observe_mpi *mpi)
{
    for (struct mpi_thread *next; mpi && mpi->threads; mpi->threads = next) {
        next = mpi->threads->next;
        free(mpi->threads);
    }
    free(mpi);
}
