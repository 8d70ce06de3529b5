/* The board of the SHRIMP monitor on a node (papers/005): its registers are a page of every address
 * space (DEVICE_BOARD_PAGE), and transactions of the memory hierarchy go to it while the program
 * runs it.
 *
 * Every run has the board, and it costs nothing until the program starts it. It belongs to the
 * node, not to a process: one category for all, as in the paper. A program tags pages with service
 * 28 of the call-through, which takes the time of the kernel's stores: PAGE, and TAG for each page.
 * Entering the kernel takes none: system calls do not, either.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "measure/device/device.h"

enum { SERVICE_TAG = 28, SIGIO_POWERPC = 29, TAG_MAX = 15 };

struct device_board {
    struct node *node;
    struct node_device device;
    struct node_service service;
    struct node_watcher watcher;
    struct device_board_listener listener;
    struct chil_monitor *monitor; /* NULL until its first access */
    uint8_t category;
    bool tagged; /* some page is */
    bool running;
    bool signals;     /* its interrupts are signals */
    bool interrupted; /* by the transaction it is notified of */
    uint64_t waiting; /* cores whose threads have a signal to get, a bit for each */
};

bool device_board_running(const struct device_board *board)
{
    return board->running;
}

uint8_t device_board_category(const struct device_board *board)
{
    return board->category;
}

uint8_t device_board_tag(const struct device_board *board, uint32_t address)
{
    return board->tagged ? (uint8_t)chil_monitor_page_tag(board->monitor, address) : 0;
}

static __attribute__((noinline)) void count(struct device_board *board, struct chil_transaction *t)
{
    if (board->tagged) t->tag = (uint8_t)chil_monitor_page_tag(board->monitor, t->address);
    board->interrupted = false;
    if (board->running) chil_monitor_notify(board->monitor, t);
    if (!board->interrupted || !board->signals) return;
    board->waiting |= UINT64_C(1) << t->sender;
    core_stop_behind(cores_get(board->node->cores, t->sender));
}

void device_board_notify(struct device_board *board, struct chil_transaction *t)
{
    if (board->monitor) count(board, t);
}

static void on_interrupt(void *context, uint32_t address)
{
    struct device_board *board = context;
    (void)address;
    board->interrupted = true;
}

/* --- Registers ------------------------------------------------------------------------------- */

static struct chil_monitor *monitor_get(struct device_board *board)
{
    uint64_t bits = CHIL_MONITOR_ADDRESS_BITS;
    if (board->monitor) return board->monitor;
    (void)chil_machine_number(board->node->machine, "monitor.address_bits", &bits);
    (void)chil_monitor_new(&board->monitor, (unsigned)bits, on_interrupt, board, NULL);
    return board->monitor;
}

/* What a store to a register has changed. */
static void take_registers(struct device_board *board)
{
    uint64_t category, control;
    bool signalled = board->signals;
    (void)chil_monitor_load(board->monitor, CHIL_MONITOR_USER, CHIL_MONITOR_CATEGORY, 8, &category);
    (void)chil_monitor_load(board->monitor, CHIL_MONITOR_USER, CHIL_MONITOR_CONTROL, 8, &control);
    if (category != board->category) board->listener.category(board->listener.context);
    board->category = (uint8_t)category;
    board->running = chil_monitor_running(board->monitor);
    board->signals = board->running && control & CHIL_MONITOR_SIGNAL;
    if (board->signals || signalled) node_watch_all(board->node);
    board->listener.running(board->listener.context);
}

static bool access_register(void *context, unsigned core, struct node_access *access)
{
    struct device_board *board = context;
    uint64_t offset = access->address % MEM_PAGE;
    (void)core;
    if (access->load)
        return chil_monitor_load(monitor_get(board), CHIL_MONITOR_USER, offset, access->width,
                                 &access->value) == 0;
    if (chil_monitor_store(monitor_get(board), CHIL_MONITOR_USER, offset, access->width,
                           access->value))
        return false;
    take_registers(board);
    return true;
}

/* The time of so many stores to the board, which the kernel does for the thread on this core. */
static void charge_stores(const struct device_board *board, unsigned core, uint32_t stores)
{
    static const uint64_t no_signals[CORE_SIGNAL_COUNT];
    struct core *at = cores_get(board->node->cores, core);
    uint64_t cycles = 0;
    for (uint32_t i = 0; i < stores; i++)
        cycles += 1 + cache_device(board->node->cache, core, true, core_cycles(at) + cycles);
    core_repeat(at, cycles, no_signals, 1);
}

/* arg[1] points to three words: address, bytes, tag. */
static int32_t tag_pages(struct device_board *board, unsigned core, const struct mem *mem,
                         uint32_t at)
{
    uint32_t address, length, tag;
    if (!mem_get32(mem, at, &address) || !mem_get32(mem, at + 4, &length) ||
        !mem_get32(mem, at + 8, &tag))
        return -EFAULT;
    if (tag > TAG_MAX || !length || length - 1 > UINT32_MAX - address) return -EINVAL;
    struct chil_monitor *monitor = monitor_get(board);
    uint32_t first = address / MEM_PAGE, last = (address + length - 1) / MEM_PAGE;
    (void)chil_monitor_store(monitor, CHIL_MONITOR_SUPERVISOR, CHIL_MONITOR_PAGE, 8, first);
    for (uint32_t page = first; page <= last; page++)
        (void)chil_monitor_store(monitor, CHIL_MONITOR_SUPERVISOR, CHIL_MONITOR_TAG, 8, tag);
    board->tagged = true;
    charge_stores(board, core, 1 + last - first + 1);
    return 0;
}

static bool serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result)
{
    if (regs->gpr[3] != SERVICE_TAG) return false;
    *result = tag_pages(context, core, mem, regs->gpr[4]);
    return true;
}

/* --- Interrupts ------------------------------------------------------------------------------ */

/* The board is notified of every transaction, and stops the core itself. It only has to be watched
 * for a signal that waits. */
static uint64_t watch_bins(void *context)
{
    const struct device_board *board = context;
    return board->signals || board->waiting ? UINT64_MAX : 0;
}

static bool is_left(void *context, unsigned core, bool inside, struct core_room *room)
{
    const struct device_board *board = context;
    (void)inside;
    (void)room;
    return !(board->waiting >> core & 1);
}

/* A task gets one signal at a time: this one waits until behind the next instruction. */
static void reached(void *context, unsigned core, int *process_signal, int *task_signal)
{
    struct device_board *board = context;
    (void)process_signal;
    if (*task_signal || !(board->waiting >> core & 1)) return;
    board->waiting &= ~(UINT64_C(1) << core);
    *task_signal = SIGIO_POWERPC;
}

/* --- The board ------------------------------------------------------------------------------- */

struct device_board *device_board_new(struct node *node,
                                      const struct device_board_listener *listener)
{
    struct device_board *board = base_calloc(1, sizeof *board);
    board->node = node;
    board->listener = *listener;
    board->device = (struct node_device){
        .context = board, .page = DEVICE_BOARD_PAGE, .access = access_register};
    board->service = (struct node_service){.context = board, .serve = serve};
    board->watcher = (struct node_watcher){
        .context = board, .watch = watch_bins, .left = is_left, .reached = reached};
    node_attach_device(node, &board->device);
    node_attach_service(node, &board->service);
    node_attach_watcher(node, &board->watcher);
    return board;
}

void device_board_free(struct device_board *board)
{
    if (board) chil_monitor_free(board->monitor);
    free(board);
}
