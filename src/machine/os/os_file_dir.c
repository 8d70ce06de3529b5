/* Folders: getdents, in the order of names.
 *
 * A host lists a folder in whatever order its file system keeps; here the names are read at once
 * when the listing begins, sorted as bytes after "." and "..", and given out from there. A program
 * that seeks back to the beginning sees the folder anew. d_off is the index of the next entry,
 * which lseek takes back.
 *
 *   linux_dirent    0 d_ino 4  4 d_off 4  8 d_reclen 2  10 d_name …  d_reclen - 1 d_type 1   (to a
 * multiple of 4) linux_dirent64  0 d_ino 8  8 d_off 8 16 d_reclen 2  18 d_type 1  19 d_name … (to a
 * multiple of 8)
 */
#include "machine/os/os_file_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/os/os_file.h"

struct entry {
    char *name;
    struct stat status; /* st_dev and st_ino only */
    uint8_t type;
};

struct folder_list {
    struct entry *entries;
    size_t count, capacity;
};

/* ---- the list ---- */

static void list_free(struct folder_list *list)
{
    if (!list) return;
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].name);
    free(list->entries);
    free(list);
}

static void list_add(struct folder_list *list, const char *name, const struct stat *status,
                     uint8_t type)
{
    list->entries =
        base_grow(list->entries, &list->capacity, list->count + 1, sizeof *list->entries);
    struct entry *entry = &list->entries[list->count++];
    *entry = (struct entry){.name = file_text(name), .type = type};
    entry->status.st_dev = status->st_dev;
    entry->status.st_ino = status->st_ino;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int compare(const void *a, const void *b)
{
    const char *x = ((const struct entry *)a)->name, *y = ((const struct entry *)b)->name;
    if (is_dots(x) != is_dots(y)) return is_dots(x) ? -1 : 1;
    return strcmp(x, y);
}

static uint8_t pseudo_type(enum pseudo_kind kind)
{
    return kind == PSEUDO_FOLDER ? DT_DIR
           : kind == PSEUDO_LINK ? DT_LNK
           : kind == PSEUDO_TEXT ? DT_REG
                                 : DT_CHR;
}

static void list_pseudo(struct folder_list *list, const struct file *file)
{
    struct stat none = {0};
    list_add(list, ".", &none, DT_DIR);
    list_add(list, "..", &none, DT_DIR);
    enum pseudo_kind kind;
    const char *name;
    for (unsigned i = 0; (name = pseudo_name(file->path, i, &kind)); i++)
        list_add(list, name, &none, pseudo_type(kind));
}

/* Some file systems of the host do not say; a guest should not notice which it is on. */
static uint8_t ask_type(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? IFTODT(status.st_mode)
                                                                    : DT_UNKNOWN;
}

static int list_host(struct folder_list *list, const struct file *file)
{
    int again = openat(file->host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    struct stat status;
    if (!dir || fstat(again, &status) != 0) {
        int error = errno;
        if (dir)
            closedir(dir);
        else if (again >= 0)
            close(again);
        return -error;
    }
    const struct dirent *found;
    while ((found = readdir(dir))) {
        struct stat own = {.st_dev = status.st_dev, .st_ino = found->d_ino};
        /* The host's number of what is above the guest's root must not get one of ours. */
        if (strcmp(found->d_name, "..") == 0) own.st_ino = status.st_ino;
        list_add(list, found->d_name, &own,
                 found->d_type == DT_UNKNOWN ? ask_type(again, found->d_name) : found->d_type);
    }
    closedir(dir);
    qsort(list->entries, list->count, sizeof *list->entries, compare);
    return 0;
}

static int list_fill(struct file *file)
{
    if (file->list) return 0;
    struct folder_list *list = base_calloc(1, sizeof *list);
    int status = 0;
    if (file->host < 0)
        list_pseudo(list, file);
    else
        status = list_host(list, file);
    if (status)
        list_free(list);
    else
        file->list = list;
    return status;
}

/* ---- the file ---- */

static int64_t folder_read(struct os_call *call, struct file *file, void *bytes, size_t count,
                           int64_t at)
{
    (void)call, (void)file, (void)bytes, (void)count, (void)at;
    return -EISDIR;
}

static int64_t folder_seek(struct file *file, int64_t offset, int whence)
{
    if (whence == SEEK_CUR) offset += file->position;
    if (whence > SEEK_CUR || offset < 0) return -EINVAL;
    if (offset == 0) {
        list_free(file->list);
        file->list = NULL;
    }
    file->position = offset;
    return offset;
}

static void folder_stat(struct file *file, struct stat *status)
{
    if (file->host < 0)
        pseudo_stat(file->pseudo, status);
    else if (fstat(file->host, status) != 0)
        *status = (struct stat){.st_mode = S_IFDIR};
}

static void folder_close(struct file *file)
{
    list_free(file->list);
}

const struct file_ops file_folder_ops = {
    .read = folder_read, .seek = folder_seek, .stat = folder_stat, .close = folder_close};

/* ---- getdents ---- */

static void put64(uint8_t *at, uint64_t value)
{
    mem_host_put32(at, (uint32_t)(value >> 32));
    mem_host_put32(at + 4, (uint32_t)value);
}

/* One record at `out`; returns its length, 0 when there is no room for it. */
static size_t put_entry(uint8_t *out, size_t room, const struct entry *entry, uint32_t number,
                        uint64_t next, bool wide)
{
    size_t name = strlen(entry->name) + 1;
    size_t size = wide ? (19 + name + 7) & ~(size_t)7 : (10 + name + 1 + 3) & ~(size_t)3;
    if (size > room) return 0;
    memset(out, 0, size);
    uint8_t *length = out + (wide ? 16 : 8);
    length[0] = (uint8_t)(size >> 8);
    length[1] = (uint8_t)size;
    if (wide) {
        put64(out, number);
        put64(out + 8, next);
        out[18] = entry->type;
        memcpy(out + 19, entry->name, name);
    } else {
        mem_host_put32(out, number);
        mem_host_put32(out + 4, (uint32_t)next);
        memcpy(out + 10, entry->name, name);
        out[size - 1] = entry->type;
    }
    return size;
}

static int64_t list_out(struct os_call *call, bool wide)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file || !file_readable(file)) return -EBADF;
    if (!file->folder) return -ENOTDIR;
    uint32_t room = call->arg[2] < 65536 ? call->arg[2] : 65536;
    uint8_t *out = mem_writable(call->mem, call->arg[1], room);
    if (!out) return -EFAULT;
    int status = list_fill(file);
    if (status) return status;
    size_t done = 0;
    while ((uint64_t)file->position < file->list->count) {
        const struct entry *entry = &file->list->entries[file->position];
        uint32_t number = entry->status.st_ino ? fs_inode(file->fs, &entry->status)->number : 1;
        size_t size =
            put_entry(out + done, room - done, entry, number, (uint64_t)file->position + 1, wide);
        if (!size) break;
        done += size;
        file->position++;
    }
    bool more = (uint64_t)file->position < file->list->count;
    return done || !more ? (int64_t)done : -EINVAL;
}

int64_t sys_getdents(struct os_call *call)
{
    return list_out(call, false);
}

int64_t sys_getdents64(struct os_call *call)
{
    return list_out(call, true);
}
