/* Call paths of a run: gives the cores the symbols they follow calls by, and notifies them of
 * threads, signal handlers and regions of the program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "machine/core/core_record.h"
#include "measure/observe/observe.h"
#include "measure/observe/observe_names.h"
#include "measure/observe/observe_roles.h"
#include "measure/observe/observe_symbols.h"

struct observe_record {
    struct record *cores;
    struct node_listener listener;
};

static const void *find_function(void *context, struct mem *mem, uint32_t pc, uint32_t *low,
                                 uint32_t *high, uint32_t *address)
{
    const struct observe *observe = context;
    return observe_symbols_find(observe->symbols, observe->node->os, mem, pc, low, high, address);
}

static const void *name_unnamed(void *context, struct mem *mem, uint32_t pc)
{
    const struct observe *observe = context;
    return observe_symbols_unnamed(observe->symbols, observe->node->os, mem, pc);
}

static const void *find_program(void *context, struct mem *mem)
{
    const struct observe *observe = context;
    const char *path = os_program_path(observe->node->os, mem);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return observe_symbols_label(observe->symbols, slash ? slash + 1 : path ? path : "program");
}

static enum record_role find_role(void *context, const void *symbol)
{
    const struct observe_symbol *code = symbol;
    const struct observe_role *role = observe_role_find(code->name, "");
    (void)context;
    return role ? role->record : RECORD_PLAIN;
}

struct observe_record *observe_record_new(struct observe *observe)
{
    const struct chil_run_options *o = &observe->options;
    const struct chil_run_names *names = o->names;
    if (!o->record && !(names && (names->callpaths || names->sites || names->sections)))
        return NULL;
    struct record_options options = {
        .cache = observe->node->cache,
        .light = !o->record,
        .depth = o->record_flat    ? 0
                 : o->record_depth ? o->record_depth
                                   : CHIL_RECORD_DEPTH,
        .turns = o->record_turns,
        .context = observe,
        .function = find_function,
        .unnamed = name_unnamed,
        .program = find_program,
        .call_id = names && names->sites ? observe_sites_call_id : NULL,
        .called = observe_sites_called,
        .returned = observe_sites_returned,
        .role = find_role,
        .by_site = o->record_call_sites,
    };
    struct observe_record *record = base_calloc(1, sizeof *record);
    record->cores = record_new(&options);
    return record;
}

void observe_record_free(struct observe_record *record)
{
    if (!record) return;
    record_free(record->cores);
    free(record);
}

struct record *observe_record_of_cores(struct observe_record *record)
{
    return record ? record->cores : NULL;
}

static void switched(void *context, unsigned core, int pid, int tid)
{
    const struct observe *observe = context;
    record_switch_thread(observe->node->cores, core, pid, tid);
}

static void forked(void *context, int from, int pid, int tid)
{
    const struct observe *observe = context;
    record_fork_thread(observe->node->cores, from, pid, tid);
}

static void handled(void *context, int tid, int signal, const struct core_regs *regs,
                    struct mem *mem)
{
    const struct observe *observe = context;
    char text[40];
    const char *name = sigabbrev_np(signal); /* the numbers up to 31 are PowerPC's, too */
    if (name)
        (void)snprintf(text, sizeof text, "signal SIG%s", name);
    else
        (void)snprintf(text, sizeof text, "signal %d", signal);
    record_signal(observe->node->cores, tid, regs, mem,
                  observe_symbols_label(observe->symbols, text));
}

/* --- Regions of the program's ---------------------------------------------------------------- */

enum { REGION_BEGIN = 24, REGION_END, FUNCTION_ENTER, FUNCTION_EXIT, LONGEST_NAME = 200 };

/* arg[1]: the name, or the function's address; arg[2]: how many functions further up it is. */
static int32_t change_region(struct observe *observe, unsigned core, const uint32_t *arg,
                             const struct mem *mem)
{
    char name[LONGEST_NAME + 1];
    const struct observe_symbol *symbol;
    uint32_t low, high, address;
    struct observe_symbols *symbols = observe->symbols;
    const struct node *node = observe->node;
    if (arg[0] == FUNCTION_ENTER || arg[0] == FUNCTION_EXIT) {
        symbol = observe_symbols_find(symbols, node->os, mem, arg[1], &low, &high, &address);
        if (!symbol) symbol = observe_symbols_unnamed(symbols, node->os, mem, arg[1]);
        if (symbol == record_function_up(node->cores, core, arg[2]))
            return 0; /* it has a path of its own */
        symbol = observe_symbols_label(symbols, observe_symbols_name(symbol));
    } else {
        int64_t length = mem_strlen(mem, arg[1], LONGEST_NAME);
        if (length < 0) return -EFAULT;
        if (!length) return -EINVAL;
        memcpy(name, mem_host(mem, arg[1]), (size_t)length);
        name[length] = 0;
        (void)name_printable(name);
        symbol = observe_symbols_label(symbols, name);
    }
    bool begin = arg[0] == REGION_BEGIN || arg[0] == FUNCTION_ENTER;
    return record_region(node->cores, core, begin, symbol, arg[2]) ? 0 : -EINVAL;
}

static bool serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result)
{
    struct observe *observe = context;
    if (regs->gpr[3] < REGION_BEGIN || regs->gpr[3] > FUNCTION_EXIT) return false;
    *result = observe->record ? change_region(observe, core, &regs->gpr[3], mem) : 0;
    return true;
}

void observe_record_attach(struct observe *observe)
{
    observe->region_service = (struct node_service){.context = observe, .serve = serve};
    node_attach_service(observe->node, &observe->region_service);
    if (!observe->record) return;
    observe->record->listener = (struct node_listener){
        .context = observe, .switched = switched, .forked = forked, .handled = handled};
    node_attach_listener(observe->node, &observe->record->listener);
}
