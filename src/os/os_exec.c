/* execve: another program in the same process.
 *
 * Everything that can fail is done before the old program is touched: the strings are copied out of its memory and the
 * new one is loaded beside it. Scripts are run by what their first line names, as Linux does: `#! INTERPRETER
 * [ARGUMENT]` becomes INTERPRETER [ARGUMENT] PATH ARGV[1]….
 */
#include "os/os_task.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

enum { PATH_LIMIT = 4096, STRING_LIMIT = 131072, TOTAL_LIMIT = 2 << 20, SCRIPT_LINE = 256, SCRIPTS_DEEP = 5 };

/* A NULL-terminated list of strings, all in one arena. */
struct strings {
    char **list;
    size_t count, capacity;
};

static void strings_add(struct strings *strings, char *text)
{
    strings->list = base_grow(strings->list, &strings->capacity, strings->count + 2, sizeof *strings->list);
    strings->list[strings->count++] = text;
    strings->list[strings->count] = NULL;
}

static int64_t get_string(const struct os_call *call, uint32_t address, uint32_t limit, struct arena *arena,
                          char **text)
{
    int64_t length = mem_strlen(call->mem, address, limit);
    if (length < 0) return -EFAULT;
    if (length >= limit) return limit == PATH_LIMIT ? -ENAMETOOLONG : -E2BIG;
    *text = arena_strndup(arena, mem_readable(call->mem, address, (uint64_t)length + 1), (size_t)length);
    return length + 1;
}

static int64_t get_strings(const struct os_call *call, uint32_t address, struct arena *arena, struct strings *strings,
                           uint64_t *total)
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

/* Cuts "#! INTERPRETER [ARGUMENT]" in two; false when there is no interpreter. */
static bool cut_script_line(char *line, char **interpreter, char **argument)
{
    line[strcspn(line, "\n")] = 0;
    char *at = line + 2 + strspn(line + 2, " \t");
    size_t length = strlen(at);
    while (length && strchr(" \t\r", at[length - 1]))
        at[--length] = 0;
    *interpreter = at;
    at += strcspn(at, " \t");
    *argument = NULL;
    if (*at) {
        *at++ = 0;
        *argument = at + strspn(at, " \t");
    }
    return **interpreter != 0;
}

/* Opens the path to see whether it may be run, and follows scripts to the program that runs them. */
static int64_t resolve(const struct os_call *call, char **path, struct strings *argv, struct arena *arena)
{
    for (unsigned depth = 0; depth <= SCRIPTS_DEEP; depth++) {
        int fd = os_files_open_program(call->process->files, *path);
        if (fd < 0) return fd;
        char line[SCRIPT_LINE + 1] = {0};
        ssize_t got = pread(fd, line, SCRIPT_LINE, 0);
        close(fd);
        if (got < 2 || line[0] != '#' || line[1] != '!') return 0;
        char *interpreter, *argument;
        if (!cut_script_line(line, &interpreter, &argument)) return -ENOEXEC;
        struct strings longer = {0};
        strings_add(&longer, arena_strdup(arena, interpreter));
        if (argument) strings_add(&longer, arena_strdup(arena, argument));
        strings_add(&longer, *path);
        for (size_t a = 1; a < argv->count; a++)
            strings_add(&longer, argv->list[a]);
        free(argv->list);
        *argv = longer;
        *path = longer.list[0];
    }
    return -ELOOP;
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
    os_family_leave(process);
    os_family_join(process, NULL);
    process->has_run_program = true;
    task->tid = process->pid;
    task->clear_tid = task->robust_list = 0;
    task->altstack = task->altstack_size = 0;
    task->altstack_flags = 2;
    os_task_start_program(task);
}

static int64_t exec_load(const struct os_call *call, char *path, struct strings *argv, struct strings *envp,
                         struct arena *arena, struct os_space **space)
{
    uint64_t total = 0;
    int64_t wrong = get_strings(call, call->arg[1], arena, argv, &total);
    if (!wrong) wrong = get_strings(call, call->arg[2], arena, envp, &total);
    if (!wrong) wrong = resolve(call, &path, argv, arena);
    if (wrong) return wrong;
    struct chil_error err = {0};
    if (os_load(space, call->process->files, &call->os->options.rules, path, argv->list, envp->list, &err)) {
        os_say_once(call->os, path, "execve of '%s': %s", path, err.text);
        return -ENOEXEC;
    }
    return 0;
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
