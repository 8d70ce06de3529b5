/* Transactions of the node: what the memory hierarchy tells, with who did it, goes to the caller of
 * the run and to the monitor's board, if its program has started it.
 *
 * The board is there in every run: its registers are a page of every address space
 * (NODE_MONITOR_BASE), and it costs nothing until the program runs it. It is the node's, not a
 * process's: one category for all, as in the paper.
 *
 * Latency is how long the core waited, in its own cycles. The size of every transaction is a line
 * of L1.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "machine/cache/cache_kinds.h"
#include "chiliad/monitor.h"
#include "machine/node/node_names.h"

struct node_monitor {
    struct cache_listener each,
        alike;                  /* the caller gets every transaction; what is alike together */
    struct chil_monitor *board; /* NULL until its first access */
    uint32_t line[2];           /* of L1D and L1I, in bytes */
    uint32_t kinds;             /* that the caller wants, a bit for each */
    bool told_apart;            /* misses are, by their cause */
    bool tagged;                /* some page is */
    bool running;               /* the board is */
    bool signals;               /* and its interrupts are signals */
    bool interrupted;           /* just now */
    uint64_t waiting;           /* cores whose threads have a signal to get, a bit for each */
    struct {
        struct core *core;
        struct chil_transaction next; /* with what is of the core and its task already in it */
    } senders[OS_CORES_MAX];
};

_Static_assert((int)CACHE_LOAD_MISS == CHIL_LOAD_MISS &&
                   (int)CACHE_INVALIDATION == CHIL_INVALIDATION &&
                   (int)CACHE_IN_L2 == CHIL_LEVEL_L2 && (int)CACHE_IN_DDR == CHIL_LEVEL_DDR,
               "the hierarchy's kinds and levels are the monitor's");
_Static_assert((int)KIND_COLD + 1 == CHIL_CAUSE_COLD &&
                   (int)KIND_CAPACITY + 1 == CHIL_CAUSE_CAPACITY &&
                   (int)KIND_CONFLICT + 1 == CHIL_CAUSE_CONFLICT &&
                   (int)KIND_COHERENCE + 1 == CHIL_CAUSE_COHERENCE,
               "its kinds of misses are the monitor's causes");

static __attribute__((noinline)) void tell_board(struct node_monitor *m, struct chil_transaction *t)
{
    if (m->tagged) t->tag = (uint8_t)chil_monitor_page_tag(m->board, t->address);
    m->interrupted = false;
    if (m->running) chil_monitor_tell(m->board, t);
    if (m->interrupted && m->signals) m->waiting |= UINT64_C(1) << t->sender;
}

/* A trace that is switched on now begins with the instruction that is being told, unless it is only
 * being fetched. */
static inline void add_pc(struct chil_run *run, struct core *core, struct chil_transaction *t)
{
    t->pc = core_access_pc(core);
    run->telling = t->kind == CACHE_FETCH_MISS ? NULL : core;
    if (t->kind == CACHE_FETCH_MISS && t->pc < t->address)
        t->pc = t->address; /* a later line of its block */
}

static void tell(void *context, struct cache_transaction told, uint64_t start, uint64_t end)
{
    struct chil_run *run = context;
    struct node_monitor *m = run->monitor;
    struct chil_transaction *t = &m->senders[told.sender].next;
    t->start = start;
    t->end = end;
    t->address = told.address;
    t->size = m->line[told.kind == CACHE_FETCH_MISS];
    t->core = told.core;
    t->kind = told.kind;
    t->level = told.level;
    if (m->told_apart)
        t->cause = told.kind <= CACHE_STORE_MISS
                       ? (uint8_t)(1 + cache_miss_kind(run->cache, told.core))
                       : 0;
    if (m->board) tell_board(m, t);
    if (!(m->kinds >> told.kind & 1)) return;
    if (run->options.transact_pc) add_pc(run, m->senders[told.sender].core, t);
    if (run->names) node_names_transaction(run, m->senders[told.sender].core, t);
    run->options.transact(run->options.context, t);
}

static void tell_alike(void *context, struct cache_transaction told, uint32_t stall, uint64_t count)
{
    struct chil_run *run = context;
    const struct node_monitor *m = run->monitor;
    struct chil_transaction t = m->senders[told.sender].next;
    if (!(m->kinds >> told.kind & 1)) return;
    t.start = t.address = t.tag = 0;
    t.end = stall;
    t.size = m->line[told.kind == CACHE_FETCH_MISS];
    t.core = told.core;
    t.kind = told.kind;
    t.level = told.level;
    run->options.transact_alike(run->options.context, &t, count);
}

static void interrupt(void *context, uint32_t address)
{
    struct node_monitor *m = context;
    (void)address;
    m->interrupted = true;
}

/* Listens if anybody wants to know. */
static void listen(struct chil_run *run)
{
    const struct node_monitor *m = run->monitor;
    const struct cache_listener *listener =
        run->options.transact_alike && !m->running ? &m->alike : &m->each;
    cache_listen(run->cache, m->kinds || m->running ? listener : NULL);
}

struct node_monitor *node_monitor_new(struct chil_run *run)
{
    struct node_monitor *m = base_calloc(1, sizeof *m);
    const struct cache_config *config = cache_config_get(run->cache);
    m->each = (struct cache_listener){.tell = tell, .context = run};
    m->alike = (struct cache_listener){.tell = tell, .tell_alike = tell_alike, .context = run};
    m->told_apart = config->miss_kinds;
    m->line[0] = config->l1d.line;
    m->line[1] = config->l1i.line;
    if (run->options.transact)
        m->kinds = run->options.transactions ? run->options.transactions : UINT32_MAX;
    run->monitor = m;
    listen(run);
    return m;
}

void node_monitor_free(struct node_monitor *m)
{
    if (m) chil_monitor_free(m->board);
    free(m);
}

void node_monitor_task(struct chil_run *run, unsigned core, int pid, int tid)
{
    struct chil_transaction *next = &run->monitor->senders[core].next;
    if (next->pid != pid || next->tid != tid) cache_tell_alike(run->cache, core);
    run->monitor->senders[core].core = cores_get(run->cores, core);
    next->sender = (uint16_t)core;
    next->pid = pid;
    next->tid = tid;
}

static struct chil_monitor *board_of(struct node_monitor *m)
{
    if (!m->board) (void)chil_monitor_new(&m->board, CHIL_MONITOR_ADDRESS_BITS, interrupt, m, NULL);
    return m->board;
}

bool node_monitor_access(struct chil_run *run, unsigned core, struct node_access *access)
{
    struct node_monitor *m = run->monitor;
    uint64_t offset = access->address % MEM_PAGE, category, control;
    (void)core;
    if (access->load)
        return chil_monitor_load(board_of(m), CHIL_MONITOR_USER, offset, access->width,
                                 &access->value) == 0;
    if (chil_monitor_store(board_of(m), CHIL_MONITOR_USER, offset, access->width, access->value))
        return false;
    (void)chil_monitor_load(m->board, CHIL_MONITOR_USER, CHIL_MONITOR_CATEGORY, 8, &category);
    if (category != m->senders[0].next.category) cache_tell_alike(run->cache, CACHE_ALL);
    for (unsigned i = 0; i < OS_CORES_MAX; i++)
        m->senders[i].next.category = (uint8_t)category;
    (void)chil_monitor_load(m->board, CHIL_MONITOR_USER, CHIL_MONITOR_CONTROL, 8, &control);
    bool signalled = m->signals;
    m->running = chil_monitor_running(m->board);
    m->signals = m->running && control & CHIL_MONITOR_SIGNAL;
    if (m->signals || signalled)
        node_watch_all(run); /* bins may be nearer to the threshold than before */
    listen(run);
    return true;
}

/* Behind a threshold lies one transaction or more, and an instruction makes few: so the core is
 * near to it only when a word is. With a forbidden bin one always is. */
bool node_monitor_watch(const struct chil_run *run)
{
    return run->monitor->signals || run->monitor->waiting;
}

uint64_t node_monitor_left(const struct chil_run *run, unsigned core)
{
    const struct node_monitor *m = run->monitor;
    if (m->waiting >> core & 1) return 0;
    return m->signals ? chil_monitor_left(m->board) : UINT64_MAX;
}

bool node_monitor_interrupted(struct chil_run *run, unsigned core)
{
    struct node_monitor *m = run->monitor;
    bool waits = m->waiting >> core & 1;
    m->waiting &= ~(UINT64_C(1) << core);
    return waits;
}

void node_monitor_names(const struct chil_run *run, uint32_t address, uint8_t *category,
                        uint8_t *tag)
{
    const struct node_monitor *m = run->monitor;
    *category = m->senders[0].next.category;
    *tag = m->tagged ? (uint8_t)chil_monitor_page_tag(m->board, address) : 0;
}

int32_t node_monitor_tag(struct chil_run *run, struct mem *mem, uint32_t at)
{
    struct node_monitor *m = run->monitor;
    uint32_t address, length, tag;
    if (!mem_get32(mem, at, &address) || !mem_get32(mem, at + 4, &length) ||
        !mem_get32(mem, at + 8, &tag))
        return -EFAULT;
    if (tag > 15 || !length || length - 1 > UINT32_MAX - address) return -EINVAL;
    struct chil_monitor *board = board_of(m);
    uint32_t first = address / MEM_PAGE, last = (address + length - 1) / MEM_PAGE;
    (void)chil_monitor_store(board, CHIL_MONITOR_SUPERVISOR, CHIL_MONITOR_PAGE, 8, first);
    for (uint32_t page = first; page <= last; page++)
        (void)chil_monitor_store(board, CHIL_MONITOR_SUPERVISOR, CHIL_MONITOR_TAG, 8, tag);
    m->tagged = true;
    return 0;
}
