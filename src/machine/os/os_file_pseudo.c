/* Pseudo files: /dev, /proc and /sys as a guest sees them, the same on every host.
 *
 * One row per path; what is not in the table does not exist (ENOENT), whatever the host has there.
 * /dev/urandom and /dev/random give one fixed stream per run. /dev/tty exists and cannot be opened
 * (ENXIO): a guest has no terminal. /proc/PID of the process itself is /proc/self, and there are no
 * others. To add a file: a row, and for a text the function that writes it; it is called when the
 * file is opened.
 */
#include "machine/os/os_file_impl.h"
#include "machine/os/os_task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/os/os_file_door.h"

/* ---- texts ---- */

static void text_cpuinfo(struct os_call *call, FILE *out)
{
    for (unsigned i = 0; i < fs_cores(files_fs(call->process->files)); i++)
        (void)fprintf(out, "processor\t: %u\ncpu\t\t: PowerPC 440\n\n", i);
    (void)fputs("platform\t: chiliad\n", out);
}

static void text_cpus(struct os_call *call, FILE *out)
{
    unsigned cores = fs_cores(files_fs(call->process->files));
    if (cores == 1)
        (void)fputs("0\n", out);
    else
        (void)fprintf(out, "0-%u\n", cores - 1);
}

static void text_meminfo(struct os_call *call, FILE *out)
{
    unsigned long long total = os_process_memory(call->os) >> 10;
    (void)fprintf(
        out,
        "MemTotal:       %8llu kB\nMemFree:        %8llu kB\nMemAvailable:   %8llu kB\n"
        "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n"
        "SwapFree:              0 kB\n",
        total, total / 2, total / 2);
}

static unsigned page_kind(const struct mem *mem, size_t page)
{
    uint32_t address = (uint32_t)(page << MEM_PAGE_BITS);
    return mem_granted(mem, address) | (mem_rights(mem, address) & MEM_MAPPED);
}

static void text_maps(struct os_call *call, FILE *out)
{
    const struct os_space *space = call->process->space;
    for (size_t page = 0; page < MEM_PAGES;) {
        size_t first = page;
        unsigned kind = page_kind(call->mem, first);
        for (page++; page < MEM_PAGES; page++) {
            uint32_t at = (uint32_t)(page << MEM_PAGE_BITS);
            if (page_kind(call->mem, page) != kind || at == space->brk_start ||
                at == space->stack_low)
                break;
        }
        if (!(kind & MEM_MAPPED)) continue;
        uint32_t start = (uint32_t)(first << MEM_PAGE_BITS);
        const char *what = "";
        if (start == space->stack_low)
            what = "[stack]";
        else if (start == space->brk_start && space->brk > space->brk_start)
            what = "[heap]";
        (void)fprintf(out, "%08x-%08zx %c%c%cp 00000000 00:00 0 %s%s\n", start,
                      page << MEM_PAGE_BITS, kind & MEM_READ ? 'r' : '-',
                      kind & MEM_WRITE ? 'w' : '-', kind & MEM_EXEC ? 'x' : '-',
                      *what ? "                         " : "", what);
    }
}

/* ---- the table ---- */

struct row {
    const char *path;
    enum pseudo_kind kind;
    const char *target;
    void (*write)(struct os_call *call, FILE *out);
};

static const struct row rows[] = {
    {"/dev", PSEUDO_FOLDER, NULL, NULL},
    {"/dev/fd", PSEUDO_LINK, "/proc/self/fd", NULL},
    {"/dev/full", PSEUDO_FULL, NULL, NULL},
    {"/dev/node", PSEUDO_NODE, NULL, NULL},
    {"/dev/null", PSEUDO_NULL, NULL, NULL},
    {"/dev/random", PSEUDO_RANDOM, NULL, NULL},
    {"/dev/stderr", PSEUDO_LINK, "/proc/self/fd/2", NULL},
    {"/dev/stdin", PSEUDO_LINK, "/proc/self/fd/0", NULL},
    {"/dev/stdout", PSEUDO_LINK, "/proc/self/fd/1", NULL},
    {"/dev/tty", PSEUDO_TTY, NULL, NULL},
    {"/dev/urandom", PSEUDO_RANDOM, NULL, NULL},
    {"/dev/zero", PSEUDO_ZERO, NULL, NULL},
    {"/proc", PSEUDO_FOLDER, NULL, NULL},
    {"/proc/cpuinfo", PSEUDO_TEXT, NULL, text_cpuinfo},
    {"/proc/meminfo", PSEUDO_TEXT, NULL, text_meminfo},
    {OS_PROGRAM_FOLDER, PSEUDO_LINK, NULL, NULL}, /* to the first program's folder */
    {"/proc/self", PSEUDO_FOLDER, NULL, NULL},
    {"/proc/self/exe", PSEUDO_LINK, NULL, NULL}, /* to the program */
    {"/proc/self/fd", PSEUDO_FOLDER, NULL, NULL},
    {"/proc/self/maps", PSEUDO_TEXT, NULL, text_maps},
    {"/sys", PSEUDO_FOLDER, NULL, NULL},
    {"/sys/devices", PSEUDO_FOLDER, NULL, NULL},
    {"/sys/devices/system", PSEUDO_FOLDER, NULL, NULL},
    {"/sys/devices/system/cpu", PSEUDO_FOLDER, NULL, NULL},
    {"/sys/devices/system/cpu/online", PSEUDO_TEXT, NULL, text_cpus},
    {"/sys/devices/system/cpu/possible", PSEUDO_TEXT, NULL, text_cpus},
    {"/sys/devices/system/cpu/present", PSEUDO_TEXT, NULL, text_cpus},
};
enum {
    ROWS = sizeof rows / sizeof rows[0],
    NUMBER_BASE = 1 << 20 /* st_ino, away from those of files */
};

bool pseudo_area(const char *path)
{
    static const char *const tops[] = {"/dev", "/proc", "/sys"};
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++) {
        size_t length = strlen(tops[i]);
        if (strncmp(path, tops[i], length) == 0 && (!path[length] || path[length] == '/'))
            return true;
    }
    return false;
}

/* A decimal number that is all of `text`; -1 when it is none, or too large for a descriptor. */
static int small_number(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9' || strlen(text) > 6) return -1;
    long value = strtol(text, &end, 10);
    return *end ? -1 : (int)value;
}

struct pseudo pseudo_find(struct os_call *call, const char *path)
{
    char own[64], self[PATH_MAX];
    if (call) {
        int length = snprintf(own, sizeof own, "/proc/%d", call->process->pid);
        if (strncmp(path, own, (size_t)length) == 0 && (!path[length] || path[length] == '/')) {
            (void)snprintf(self, sizeof self, "/proc/self%s", path + length);
            path = self;
        }
        static const char descriptors[] = "/proc/self/fd/";
        if (strncmp(path, descriptors, sizeof descriptors - 1) == 0) {
            int number = small_number(path + sizeof descriptors - 1);
            if (number >= 0 && files_get(call->process->files, (uint32_t)number))
                return (struct pseudo){PSEUDO_DESCRIPTOR, (unsigned)number};
        }
    }
    for (unsigned i = 0; i < ROWS; i++)
        if (strcmp(path, rows[i].path) == 0) return (struct pseudo){rows[i].kind, i};
    return (struct pseudo){PSEUDO_NONE, 0};
}

/* Where the links lead that have no target in their row. */
static int link_to_program(const struct fs *fs, const struct os_call *call, const struct row *row,
                           char target[PATH_MAX])
{
    bool folder = strcmp(row->path, OS_PROGRAM_FOLDER) == 0;
    const char *to = folder ? fs_program_folder(fs) : call ? call->process->space->program : NULL;
    if (!to) return -ENOENT;
    if (folder)
        (void)snprintf(target, PATH_MAX, "%s", to);
    else
        fs_show_program(fs, to, target);
    return 0;
}

int pseudo_link(const struct fs *fs, struct os_call *call, struct pseudo pseudo,
                char target[PATH_MAX])
{
    if (pseudo.kind == PSEUDO_DESCRIPTOR && call) {
        const struct file *file = files_get(call->process->files, pseudo.number);
        if (!file) return -ENOENT;
        if (file->path)
            (void)memccpy(target, file->path, 0, PATH_MAX);
        else
            (void)snprintf(target, PATH_MAX, "%s:[%u]", file->out ? "socket" : "pipe",
                           file->pipe ? pipe_number(file) : file->number);
        return 0;
    }
    if (pseudo.kind != PSEUDO_LINK) return -EINVAL;
    const struct row *row = &rows[pseudo.number];
    if (!row->target) return link_to_program(fs, call, row, target);
    (void)memccpy(target, row->target, 0, PATH_MAX);
    return 0;
}

void pseudo_stat(struct pseudo pseudo, struct stat *status)
{
    static const struct {
        enum pseudo_kind kind;
        mode_t mode;
        unsigned major, minor;
    } looks[] = {
        {PSEUDO_FOLDER, S_IFDIR | 0555, 0, 0}, {PSEUDO_LINK, S_IFLNK | 0777, 0, 0},
        {PSEUDO_TEXT, S_IFREG | 0444, 0, 0},   {PSEUDO_NULL, S_IFCHR | 0666, 1, 3},
        {PSEUDO_ZERO, S_IFCHR | 0666, 1, 5},   {PSEUDO_FULL, S_IFCHR | 0666, 1, 7},
        {PSEUDO_RANDOM, S_IFCHR | 0666, 1, 9}, {PSEUDO_TTY, S_IFCHR | 0666, 5, 0},
        {PSEUDO_NODE, S_IFCHR | 0666, 1, 1},   {PSEUDO_DESCRIPTOR, S_IFLNK | 0700, 0, 0},
    };
    *status = (struct stat){
        .st_nlink = 1, .st_ino = NUMBER_BASE + pseudo.number, .st_mtime = (time_t)OS_EPOCH};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (looks[i].kind == pseudo.kind) {
            status->st_mode = looks[i].mode;
            status->st_rdev = looks[i].major << 8 | looks[i].minor;
        }
    if (pseudo.kind == PSEUDO_DESCRIPTOR) status->st_ino += ROWS;
}

const char *pseudo_name(const char *folder, unsigned index, enum pseudo_kind *kind)
{
    size_t length = strlen(folder);
    for (unsigned i = 0; i < ROWS; i++) {
        const char *path = rows[i].path;
        if (strncmp(path, folder, length) != 0 || path[length] != '/' ||
            strchr(path + length + 1, '/'))
            continue;
        if (index--) continue;
        *kind = rows[i].kind;
        return path + length + 1;
    }
    return NULL;
}

/* ---- open pseudo files ---- */

static int64_t pseudo_read(struct os_call *call, struct file *file, void *bytes, size_t count,
                           int64_t at)
{
    (void)call;
    switch (file->pseudo.kind) {
    case PSEUDO_NULL: return 0;
    case PSEUDO_ZERO:
    case PSEUDO_FULL: memset(bytes, 0, count); return (int64_t)count;
    case PSEUDO_RANDOM:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)bytes)[i] = (uint8_t)(fs_random(file->fs) >> 56);
        return (int64_t)count;
    default: break;
    }
    int64_t from = at < 0 ? file->position : at;
    if ((uint64_t)from >= file->text_length) return 0;
    if (count > file->text_length - (size_t)from) count = file->text_length - (size_t)from;
    memcpy(bytes, file->text + from, count);
    if (at < 0) file->position += (int64_t)count;
    return (int64_t)count;
}

static int64_t pseudo_write(struct os_call *call, struct file *file, const void *bytes,
                            size_t count, int64_t at)
{
    (void)call, (void)bytes, (void)at;
    return file->pseudo.kind == PSEUDO_FULL ? -ENOSPC : (int64_t)count;
}

static int64_t pseudo_seek(struct file *file, int64_t offset, int whence)
{
    if (file->pseudo.kind != PSEUDO_TEXT) return 0;
    int64_t base = whence == SEEK_CUR   ? file->position
                   : whence == SEEK_END ? (int64_t)file->text_length
                                        : 0;
    int64_t at;
    if (whence > SEEK_END || __builtin_add_overflow(base, offset, &at) || at < 0) return -EINVAL;
    file->position = at;
    return at;
}

static void pseudo_file_stat(struct file *file, struct stat *status)
{
    pseudo_stat(file->pseudo, status);
}

static const struct file_ops pseudo_ops = {
    .read = pseudo_read, .write = pseudo_write, .seek = pseudo_seek, .stat = pseudo_file_stat};

/* O_TRUNC cuts a file of the host that may be changed, whatever the descriptor was opened for. */
static int cut(struct os_call *call, struct file *file)
{
    if (file->host < 0 || file->borrowed || !file->path || file->folder) return 0;
    if (!file->may_change) return -EROFS;
    const struct place place = {.fs = file->fs, .parent = -1, .found = file->host};
    int error = file_writable(file) ? (ftruncate(file->host, 0) == 0 ? 0 : -errno)
                                    : door_truncate(&place, 0);
    if (!error) fs_touch(call, file->inode);
    return error;
}

/* A descriptor's own name: the same open file once more, if it allows the access mode. */
static int open_descriptor(struct os_call *call, struct pseudo pseudo, unsigned flags,
                           struct file **result)
{
    struct file *file = files_get(call->process->files, pseudo.number);
    if (!file) return -ENOENT;
    unsigned mode = flags & G_O_ACCESS;
    if (mode != G_O_WRONLY && !file_readable(file)) return -EACCES;
    if (mode != G_O_RDONLY && !file_writable(file)) return -EACCES;
    int error = flags & G_O_TRUNC ? cut(call, file) : 0;
    if (!error) *result = file_share(file);
    return error;
}

int pseudo_open(struct os_call *call, const char *path, struct pseudo pseudo, unsigned flags,
                struct file **result)
{
    unsigned mode = flags & G_O_ACCESS;
    if (pseudo.kind == PSEUDO_NONE) return flags & G_O_CREAT ? -EROFS : -ENOENT;
    if ((flags & G_O_CREAT) && (flags & G_O_EXCL)) return -EEXIST;
    if (pseudo.kind == PSEUDO_DESCRIPTOR) return open_descriptor(call, pseudo, flags, result);
    if (pseudo.kind == PSEUDO_LINK) return -ELOOP; /* O_NOFOLLOW */
    if (pseudo.kind == PSEUDO_TTY) return -ENXIO;
    if (pseudo.kind == PSEUDO_FOLDER && mode != G_O_RDONLY) return -EISDIR;
    if (pseudo.kind != PSEUDO_FOLDER && flags & G_O_DIRECTORY) return -ENOTDIR;
    if (pseudo.kind == PSEUDO_TEXT && mode != G_O_RDONLY) return -EACCES;
    struct file *file = file_new(files_fs(call->process->files), &pseudo_ops, flags);
    file->pseudo = pseudo;
    file->path = file_text(path);
    if (pseudo.kind == PSEUDO_FOLDER) {
        file->ops = &file_folder_ops;
        file->folder = true;
    }
    if (pseudo.kind == PSEUDO_TEXT) {
        FILE *out = open_memstream(&file->text, &file->text_length);
        if (out) {
            rows[pseudo.number].write(call, out);
            (void)fclose(out);
        }
    }
    *result = file;
    return 0;
}
