/* The call-through's file transfer: a file that the host lends becomes a file of the program's.
 *
 * In user-mode runs programs see the host's files, as far as the rules of the run allow, so a
 * transfer is a copy. It is made of the calls that the program could make itself, and so can read
 * and write nothing that these could not; but it takes no time, leaves no descriptor open, and
 * waits for nothing: only regular files are taken.
 */
#include <errno.h>
#include <unistd.h>

#include "machine/os/os_file.h"
#include "machine/os/os_file_impl.h"
#include "machine/os/os_task.h"

enum { MODE = 0666 };

static int64_t call_with(struct os_call *call, os_handler handler, uint32_t a, uint32_t b,
                         uint32_t c, uint32_t d)
{
    call->arg[0] = a;
    call->arg[1] = b;
    call->arg[2] = c;
    call->arg[3] = d;
    return handler(call);
}

/* What can be copied: a regular file, which never waits. */
static int regular(const struct os_call *call, uint32_t number)
{
    const struct file *file = files_get(call->process->files, number);
    if (file && file->folder) return -EISDIR;
    return file && file->ops == &file_host_ops ? 0 : -EINVAL;
}

static int64_t copy(struct os_call *call, uint32_t in, uint32_t out)
{
    const struct os_files *files = call->process->files;
    if (files_get(files, in)->inode == files_get(files, out)->inode) return -EINVAL;
    int64_t size = call_with(call, sys_lseek, in, 0, SEEK_END, 0);
    if (size < 0) return size;
    if (size > INT32_MAX) return -EFBIG; /* the result is a register's */
    int64_t status = call_with(call, sys_lseek, in, 0, SEEK_SET, 0);
    if (!status) status = call_with(call, sys_ftruncate, out, 0, 0, 0);
    for (int64_t left = size; !status && left > 0;) {
        int64_t some = call_with(call, sys_sendfile, out, in, 0, (uint32_t)left);
        if (some <= 0) status = some ? some : -EIO; /* it became shorter */
        left -= some;
    }
    return status ? status : size;
}

int64_t os_transfer(struct os *os, unsigned core, uint32_t from, uint32_t to)
{
    struct os_task *task = os->cores[core].current;
    struct os_call call = {
        .os = os, .task = task, .process = task->process, .mem = task->process->space->mem};
    int64_t in = call_with(&call, sys_open, from, G_O_RDONLY | G_O_LARGEFILE, 0, 0), out = -1;
    if (in < 0) return in;
    int64_t status = regular(&call, (uint32_t)in);
    if (!status)
        status = out =
            call_with(&call, sys_open, to, G_O_WRONLY | G_O_CREAT | G_O_LARGEFILE, MODE, 0);
    if (out >= 0) {
        status = regular(&call, (uint32_t)out);
        if (!status) status = copy(&call, (uint32_t)in, (uint32_t)out);
        (void)call_with(&call, sys_close, (uint32_t)out, 0, 0, 0);
    }
    (void)call_with(&call, sys_close, (uint32_t)in, 0, 0, 0);
    return status;
}
