/* Call paths of a run: gives the cores symbols, and tells them of threads, handlers and regions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "machine/node/node.h"
#include "machine/node/node_names.h"
#include "machine/node/node_roles.h"
#include "machine/node/node_symbols.h"

struct node_record {
    struct record *cores;
};

static const void *find_function(void *context, struct mem *mem, uint32_t pc, uint32_t *low,
                                 uint32_t *high, uint32_t *address)
{
    const struct chil_run *run = context;
    return node_symbols_find(run->symbols, run->os, mem, pc, low, high, address);
}

static const void *name_unnamed(void *context, struct mem *mem, uint32_t pc)
{
    const struct chil_run *run = context;
    return node_symbols_unnamed(run->symbols, run->os, mem, pc);
}

static const void *find_program(void *context, struct mem *mem)
{
    const struct chil_run *run = context;
    const char *path = os_program_path(run->os, mem);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return node_symbols_label(run->symbols, slash ? slash + 1 : path ? path : "program");
}

static enum record_role find_role(void *context, const void *symbol)
{
    const struct node_code_symbol *code = symbol;
    const struct node_role *role = node_role_find(code->name, "");
    (void)context;
    return role ? role->record : RECORD_PLAIN;
}

struct node_record *node_record_new(struct chil_run *run)
{
    const struct chil_run_options *o = &run->options;
    const struct chil_run_names *names = o->names;
    if (!o->record && !(names && (names->callpaths || names->sites || names->sections)))
        return NULL;
    struct record_options options = {
        .cache = run->cache,
        .light = !o->record,
        .depth = o->record_flat    ? 0
                 : o->record_depth ? o->record_depth
                                   : CHIL_RECORD_DEPTH,
        .turns = o->record_turns,
        .context = run,
        .function = find_function,
        .unnamed = name_unnamed,
        .program = find_program,
        .told = names && names->sites ? node_sites_told : NULL,
        .called = node_sites_called,
        .returned = node_sites_returned,
        .role = find_role,
        .by_site = o->record_call_sites,
    };
    struct node_record *record = base_calloc(1, sizeof *record);
    record->cores = record_new(&options);
    return record;
}

void node_record_free(struct node_record *record)
{
    if (!record) return;
    record_free(record->cores);
    free(record);
}

struct record *node_record_of_cores(struct node_record *record)
{
    return record->cores;
}

void node_record_switched(struct chil_run *run, unsigned core, int pid, int tid)
{
    if (run->record) record_switch_thread(run->cores, core, pid, tid);
}

void node_record_turn(struct chil_run *run)
{
    record_turn_next(run->cores);
}

void node_record_forked(void *context, int from, int pid, int tid)
{
    const struct chil_run *run = context;
    record_fork_thread(run->cores, from, pid, tid);
}

void node_record_handled(void *context, int tid, int signal, const struct core_regs *regs,
                         struct mem *mem)
{
    const struct chil_run *run = context;
    char text[40];
    const char *name = sigabbrev_np(signal); /* the numbers up to 31 are PowerPC's, too */
    if (name)
        (void)snprintf(text, sizeof text, "signal SIG%s", name);
    else
        (void)snprintf(text, sizeof text, "signal %d", signal);
    record_signal(run->cores, tid, regs, mem, node_symbols_label(run->symbols, text));
}

/* --- Regions of the program's ---------------------------------------------------------------- */

enum { REGION_BEGIN = 24, REGION_END, FUNCTION_ENTER, FUNCTION_EXIT, LONGEST_NAME = 200 };

/* arg[1]: the name, or the function's address; arg[2]: how many functions further up it is. */
int32_t node_record_serve(struct chil_run *run, unsigned core, const uint32_t *arg,
                          const struct mem *mem)
{
    char name[LONGEST_NAME + 1];
    const struct node_code_symbol *symbol;
    uint32_t low, high, address;
    if (!run->record) return 0;
    struct node_symbols *symbols = run->symbols;
    if (arg[0] == FUNCTION_ENTER || arg[0] == FUNCTION_EXIT) {
        symbol = node_symbols_find(symbols, run->os, mem, arg[1], &low, &high, &address);
        if (!symbol) symbol = node_symbols_unnamed(symbols, run->os, mem, arg[1]);
        if (symbol == record_function_up(run->cores, core, arg[2]))
            return 0; /* it has a path of its own */
        symbol = node_symbols_label(symbols, node_symbols_name(symbol));
    } else {
        int64_t length = mem_strlen(mem, arg[1], LONGEST_NAME);
        if (length < 0) return -EFAULT;
        if (!length) return -EINVAL;
        memcpy(name, mem->base + arg[1], (size_t)length);
        name[length] = 0;
        symbol = node_symbols_label(symbols, name);
    }
    bool begin = arg[0] == REGION_BEGIN || arg[0] == FUNCTION_ENTER;
    return record_region(run->cores, core, begin, symbol, arg[2]) ? 0 : -EINVAL;
}
