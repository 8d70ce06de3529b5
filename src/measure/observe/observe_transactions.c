/* Adds core, task and names to the transactions of the memory hierarchy; passes them to the caller
 * of the run, and to the monitor board while it runs.
 *
 * Latency is the core's stall, in its own cycles. The size of a transaction is a line of L1. The
 * hierarchy has no listener while neither the caller nor the board wants transactions.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "machine/cache/cache_kinds.h"
#include "measure/device/device.h"
#include "measure/observe/observe_names.h"

struct observe_transactions {
    struct observe *observe;
    struct cache_listener each, uniform; /* one call each; uniform ones with a count */
    struct device_board *board;
    struct node_listener tasks;
    uint32_t line[2]; /* of L1D and L1I, in bytes */
    uint32_t kinds;   /* that the caller wants, a bit for each */
    bool has_causes;  /* the hierarchy knows the cause of a miss */
    struct {
        struct core *core;
        struct chil_transaction next; /* with the fields of the core and its task */
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

/* A trace that is switched on now begins with the instruction that causes this transaction, unless
 * it is only being fetched. */
static inline void add_pc(struct observe *observe, struct core *core, struct chil_transaction *t)
{
    t->pc = core_access_pc(core);
    observe->accessing = t->kind == CACHE_FETCH_MISS ? NULL : core;
    if (t->kind == CACHE_FETCH_MISS && t->pc < t->address)
        t->pc = t->address; /* a later line of its block */
}

static void notify(void *context, struct cache_transaction from, uint64_t start, uint64_t end)
{
    struct observe_transactions *o = context;
    struct observe *observe = o->observe;
    struct chil_transaction *t = &o->senders[from.sender].next;
    t->start = start;
    t->end = end;
    t->address = from.address;
    t->size = o->line[from.kind == CACHE_FETCH_MISS];
    t->core = from.core;
    t->kind = from.kind;
    t->level = from.level;
    if (o->has_causes)
        t->cause = from.kind <= CACHE_STORE_MISS
                       ? (uint8_t)(1 + cache_miss_kind(observe->node->cache, from.core))
                       : 0;
    device_board_notify(o->board, t);
    if (!(o->kinds >> from.kind & 1)) return;
    if (observe->options.transact_pc) add_pc(observe, o->senders[from.sender].core, t);
    if (observe->names) observe_names_transaction(observe->names, o->senders[from.sender].core, t);
    observe->options.transact(observe->options.context, t);
}

static void notify_uniform(void *context, struct cache_transaction from, uint32_t stall,
                           uint64_t count)
{
    const struct observe_transactions *o = context;
    struct chil_transaction t = o->senders[from.sender].next;
    if (!(o->kinds >> from.kind & 1)) return;
    t.start = t.address = t.tag = 0;
    t.end = stall;
    t.size = o->line[from.kind == CACHE_FETCH_MISS];
    t.core = from.core;
    t.kind = from.kind;
    t.level = from.level;
    o->observe->options.transact_uniform(o->observe->options.context, &t, count);
}

static void switched(void *context, unsigned core, int pid, int tid)
{
    struct observe_transactions *o = context;
    struct chil_transaction *next = &o->senders[core].next;
    const struct node *node = o->observe->node;
    if (next->pid != pid || next->tid != tid) cache_notify_uniform(node->cache, core);
    o->senders[core].core = cores_get(node->cores, core);
    next->sender = (uint16_t)core;
    next->pid = pid;
    next->tid = tid;
}

/* Listens if the caller or the board wants transactions. Called again when the board was started,
 * stopped or stored to. */
static void listen(void *context)
{
    struct observe_transactions *o = context;
    bool running = device_board_running(o->board);
    const struct cache_listener *listener =
        o->observe->options.transact_uniform && !running ? &o->uniform : &o->each;
    for (unsigned i = 0; i < OS_CORES_MAX; i++)
        o->senders[i].next.category = device_board_category(o->board);
    cache_listen(o->observe->node->cache, o->kinds || running ? listener : NULL);
}

static void category_changes(void *context)
{
    const struct observe_transactions *o = context;
    cache_notify_uniform(o->observe->node->cache, CACHE_ALL);
}

struct observe_transactions *observe_transactions_new(struct observe *observe)
{
    struct observe_transactions *o = base_calloc(1, sizeof *o);
    struct node *node = observe->node;
    const struct cache_config *config = cache_config_get(node->cache);
    const struct chil_run_options *options = &observe->options;
    o->observe = observe;
    o->each = (struct cache_listener){.notify = notify, .context = o};
    o->uniform =
        (struct cache_listener){.notify = notify, .notify_uniform = notify_uniform, .context = o};
    o->has_causes = config->miss_kinds;
    o->line[0] = config->l1d.line;
    o->line[1] = config->l1i.line;
    if (options->transact)
        o->kinds = CHIL_KINDS_MEMORY & (options->transactions ? options->transactions : UINT32_MAX);
    for (unsigned i = 0; i < OS_CORES_MAX; i++)
        o->senders[i].next.node = (uint16_t)observe->number;
    o->board =
        device_board_new(node, &(struct device_board_listener){
                                   .context = o, .running = listen, .category = category_changes});
    o->tasks = (struct node_listener){.context = o, .switched = switched};
    node_attach_listener(node, &o->tasks);
    listen(o);
    return o;
}

void observe_transactions_free(struct observe_transactions *o)
{
    if (o) device_board_free(o->board);
    free(o);
}

uint8_t observe_category(const struct observe *observe)
{
    return device_board_category(observe->transactions->board);
}

uint8_t observe_tag(const struct observe *observe, uint32_t address)
{
    return device_board_tag(observe->transactions->board, address);
}
