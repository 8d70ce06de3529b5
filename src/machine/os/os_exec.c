/* execve: another program in the same process.
 *
 * Everything that can fail is done before the old program is touched: the strings are copied out of
 * its memory and the new one is loaded beside it (os_load.c, which also follows `#!` lines).
 */
#include "machine/os/os_file_impl.h"
#include "machine/os/os_task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

enum { PATH_LIMIT = 4096, STRING_LIMIT = 131072, TOTAL_LIMIT = 2 << 20 };

/* A NULL-terminated list of strings, all in one arena. */
struct strings {
    char **list;
    size_t count, capacity;
};

static void strings_add(struct strings *strings, char *text)
{
    strings->list =
        base_grow(strings->list, &strings->capacity, strings->count + 2, sizeof *strings->list);
    strings->list[strings->count++] = text;
    strings->list[strings->count] = NULL;
}

static int64_t get_string(const struct os_call *call, uint32_t address, uint32_t limit,
                          struct arena *arena, char **text)
{
    int64_t length = mem_strlen(call->mem, address, limit);
    if (length < 0) return -EFAULT;
    if (length >= limit) return limit == PATH_LIMIT ? -ENAMETOOLONG : -E2BIG;
    *text = arena_strndup(arena, mem_readable(call->mem, address, (uint64_t)length + 1),
                          (size_t)length);
    return length + 1;
}

static int64_t get_strings(const struct os_call *call, uint32_t address, struct arena *arena,
                           struct strings *strings, uint64_t *total)
{
    for (; address; address += 4) {
        uint32_t pointer;
        char *text;
        if (!mem_get32(call->mem, address, &pointer)) return -EFAULT;
        if (!pointer) break;
        int64_t size = get_string(call, pointer, STRING_LIMIT, arena, &text);
        if (size < 0) return size;
        *total += (uint64_t)size + 4;
        if (*total > TOTAL_LIMIT) return -E2BIG;
        strings_add(strings, text);
    }
    if (!strings->list) {
        strings_add(strings, NULL);
        strings->count = 0;
    }
    return 0;
}

/* The process forgets what belonged to the old program. */
static void replace_program(struct os_task *task, struct os_space *space)
{
    struct os_process *process = task->process;
    os_process_end_tasks(process, task);
    os_futex_exit(task);
    os_files_close_on_exec(process->files);
    os_process_drop_space(process);
    process->space = space;
    os_vfork_done(process);
    for (unsigned s = 1; s <= OS_SIGNALS; s++) {
        uint32_t handler = process->actions[s].handler;
        process->actions[s] = (struct os_sigaction){.handler = handler == 1};
    }
    os_timers_drop(process, false);
    process->has_run_program = process->dumpable = true;
    task->tid = process->pid;
    task->clear_tid = task->robust_list = 0;
    task->altstack = task->altstack_size = 0;
    task->altstack_flags = 2;
    os_task_start_program(task);
}

static int64_t exec_load(struct os_call *call, const char *path, struct strings *argv,
                         struct strings *envp, struct arena *arena, struct os_space **space)
{
    uint64_t total = 0;
    int64_t wrong = get_strings(call, call->arg[1], arena, argv, &total);
    if (!wrong) wrong = get_strings(call, call->arg[2], arena, envp, &total);
    if (wrong) return wrong;
    char real[PATH_MAX];
    struct chil_error err = {0};
    int failed = files_real_program(call, path, real);
    if (failed) return failed;
    int status = os_load(space, call->process->files, &call->os->options.rules, real, argv->list,
                         envp->list, &err);
    if (!status && !os_may_have_space(call->os, *space)) {
        os_space_release(*space);
        *space = NULL;
        return -ENOMEM;
    }
    if (!status) return 0;
    int error = os_load_errno(status);
    if (error == ENOEXEC)
        os_warn_once(call->os, path, "execve of '%s': %s", path,
                     err.text); /* not for a PATH search */
    return -error;
}

int64_t sys_execve(struct os_call *call)
{
    struct arena arena;
    arena_init(&arena);
    struct strings argv = {0}, envp = {0};
    struct os_space *space = NULL;
    char *path;
    int64_t result = get_string(call, call->arg[0], PATH_LIMIT, &arena, &path);
    if (result > 0) result = exec_load(call, path, &argv, &envp, &arena, &space);
    if (!result) {
        replace_program(call->task, space);
        result = OS_RETURNED;
    }
    free(argv.list);
    free(envp.list);
    arena_fini(&arena);
    return result;
}
