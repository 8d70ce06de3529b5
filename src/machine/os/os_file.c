/* Descriptors: the table of a process, and the open files its numbers stand for.
 *
 * A number leads to a struct file, which dup, fork and F_DUPFD share together with its offset and
 * flags; close-on-exec belongs to the number. Numbers are given lowest first, as POSIX wants, up to
 * RLIMIT_NOFILE (1024). The working directory lives here, too: threads share it with the table,
 * fork copies both.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { DESCRIPTORS_MAX = 4096, DESCRIPTORS = 1024 };

struct descriptor {
    struct file *file; /* NULL when free */
    bool close_on_exec;
};

struct os_files {
    unsigned users;
    struct fs *fs;
    char *cwd;
    struct descriptor *table;
    size_t capacity;
    unsigned count; /* above every open descriptor */
    unsigned most;  /* RLIMIT_NOFILE */
};

/* ---- open files ---- */

struct file *file_new(struct fs *fs, const struct file_ops *ops, unsigned flags)
{
    struct file *file = base_calloc(1, sizeof *file);
    file->users = 1;
    file->fs = fs_share(fs);
    file->ops = ops;
    file->flags = flags & ~(unsigned)(G_O_CREAT | G_O_EXCL | G_O_NOCTTY | G_O_TRUNC | G_O_CLOEXEC);
    file->host = -1;
    fs_count_open(fs, 1);
    return file;
}

char *file_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(base_calloc(size, 1), text, size);
}

struct file *file_share(struct file *file)
{
    file->users++;
    return file;
}

void file_release(struct file *file)
{
    if (!file || --file->users) return;
    locks_end_file(file);
    if (file->ops->close) file->ops->close(file);
    if (file->host >= 0 && !file->borrowed) close(file->host);
    fs_count_open(file->fs, -1);
    fs_release(file->fs);
    free(file->path);
    free(file->text);
    free(file);
}

bool file_readable(const struct file *file)
{
    return !(file->flags & G_O_PATH) && (file->flags & G_O_ACCESS) != G_O_WRONLY;
}

bool file_writable(const struct file *file)
{
    return !(file->flags & G_O_PATH) && (file->flags & G_O_ACCESS) != G_O_RDONLY;
}

/* ---- the table ---- */

struct os_files *os_files_new(const struct os_rules *rules, struct chil_error *err)
{
    char cwd[PATH_MAX];
    struct fs *fs;
    if (fs_new(&fs, rules, cwd, err)) return NULL;
    struct os_files *files = base_calloc(1, sizeof *files);
    files->users = 1;
    files->most = DESCRIPTORS;
    files->fs = fs;
    files_set_cwd(files, cwd);
    for (int host = 0; host < 3; host++) {
        struct file *file = file_of_host(fs, host, host ? G_O_WRONLY : G_O_RDONLY);
        if (file) (void)files_put(files, file, (unsigned)host, false);
    }
    return files;
}

struct os_files *os_files_fork(struct os_files *files)
{
    struct os_files *copy = base_calloc(1, sizeof *copy);
    copy->users = 1;
    copy->most = DESCRIPTORS_MAX; /* for what is copied */
    copy->fs = fs_share(files->fs);
    files_set_cwd(copy, files->cwd);
    for (unsigned i = 0; i < files->count; i++)
        if (files->table[i].file)
            (void)files_put(copy, file_share(files->table[i].file), i,
                            files->table[i].close_on_exec);
    copy->most = files->most;
    return copy;
}

struct os_files *os_files_share(struct os_files *files)
{
    files->users++;
    return files;
}

void os_files_close_on_exec(struct os_files *files)
{
    for (unsigned i = 0; i < files->count; i++)
        if (files->table[i].file && files->table[i].close_on_exec) (void)files_close(files, i);
}

void os_files_release(struct os_files *files)
{
    if (!files || --files->users) return;
    locks_end_records(files, NULL);
    for (unsigned i = 0; i < files->count; i++)
        file_release(files->table[i].file);
    fs_release(files->fs);
    free(files->cwd);
    free(files->table);
    free(files);
}

void files_set_limit(struct os_files *files, uint64_t most)
{
    files->most = most < DESCRIPTORS_MAX ? (unsigned)most : DESCRIPTORS_MAX;
}

struct fs *files_fs(const struct os_files *files)
{
    return files->fs;
}

const char *files_cwd(const struct os_files *files)
{
    return files->cwd;
}

void files_set_cwd(struct os_files *files, const char *path)
{
    char *copy = file_text(path);
    free(files->cwd);
    files->cwd = copy;
}

static struct descriptor *descriptor(const struct os_files *files, uint32_t number)
{
    return number < files->count && files->table[number].file ? &files->table[number] : NULL;
}

int files_put(struct os_files *files, struct file *file, unsigned number, bool close_on_exec)
{
    if (number >= files->most) {
        file_release(file);
        return -EBADF;
    }
    if (number >= files->capacity) {
        size_t old = files->capacity;
        files->table = base_grow(files->table, &files->capacity, number + 1, sizeof *files->table);
        memset(files->table + old, 0, (files->capacity - old) * sizeof *files->table);
    }
    struct file *before = files->table[number].file;
    files->table[number] = (struct descriptor){file, close_on_exec};
    if (number >= files->count) files->count = number + 1;
    if (before) locks_end_records(files, before);
    file_release(before);
    return (int)number;
}

int files_add(struct os_files *files, struct file *file, unsigned lowest, bool close_on_exec)
{
    for (unsigned number = lowest; number < files->most; number++)
        if (!descriptor(files, number)) return files_put(files, file, number, close_on_exec);
    file_release(file);
    return lowest < files->most ? -EMFILE : -EINVAL;
}

struct file *files_get(const struct os_files *files, uint32_t number)
{
    const struct descriptor *found = descriptor(files, number);
    return found ? found->file : NULL;
}

int files_close(struct os_files *files, uint32_t number)
{
    struct descriptor *found = descriptor(files, number);
    if (!found) return -EBADF;
    struct file *file = found->file;
    *found = (struct descriptor){0};
    while (files->count && !files->table[files->count - 1].file)
        files->count--;
    locks_end_records(files, file);
    file_release(file);
    return 0;
}

bool *files_close_on_exec(const struct os_files *files, uint32_t number)
{
    struct descriptor *found = descriptor(files, number);
    return found ? &found->close_on_exec : NULL;
}

unsigned files_limit(const struct os_files *files)
{
    return files->count;
}
