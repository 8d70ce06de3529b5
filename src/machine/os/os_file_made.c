/* The made-up part of the tree: /dev, /proc and /sys, the same on every host.
 *
 * One row per path; what is not in the table does not exist (ENOENT), whatever the host has there.
 * /dev/urandom and /dev/random give one fixed stream per run. /dev/tty exists and cannot be opened
 * (ENXIO): a guest has no terminal. /proc/PID of the process itself is /proc/self, and there are no
 * others. To add a file: a row, and for a text the function that writes it; it is called when the
 * file is opened.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
    (void)call;
    (void)fputs(
        "MemTotal:         524288 kB\nMemFree:          262144 kB\nMemAvailable:     262144 kB\n"
        "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\n"
        "SwapFree:              0 kB\n",
        out);
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
    enum made_kind kind;
    const char *target;
    void (*write)(struct os_call *call, FILE *out);
};

static const struct row rows[] = {
    {"/dev", MADE_FOLDER, NULL, NULL},
    {"/dev/fd", MADE_LINK, "/proc/self/fd", NULL},
    {"/dev/full", MADE_FULL, NULL, NULL},
    {"/dev/null", MADE_NULL, NULL, NULL},
    {"/dev/random", MADE_RANDOM, NULL, NULL},
    {"/dev/stderr", MADE_LINK, "/proc/self/fd/2", NULL},
    {"/dev/stdin", MADE_LINK, "/proc/self/fd/0", NULL},
    {"/dev/stdout", MADE_LINK, "/proc/self/fd/1", NULL},
    {"/dev/tty", MADE_TTY, NULL, NULL},
    {"/dev/urandom", MADE_RANDOM, NULL, NULL},
    {"/dev/zero", MADE_ZERO, NULL, NULL},
    {"/proc", MADE_FOLDER, NULL, NULL},
    {"/proc/cpuinfo", MADE_TEXT, NULL, text_cpuinfo},
    {"/proc/meminfo", MADE_TEXT, NULL, text_meminfo},
    {"/proc/self", MADE_FOLDER, NULL, NULL},
    {"/proc/self/exe", MADE_LINK, NULL, NULL}, /* to the program */
    {"/proc/self/fd", MADE_FOLDER, NULL, NULL},
    {"/proc/self/maps", MADE_TEXT, NULL, text_maps},
    {"/sys", MADE_FOLDER, NULL, NULL},
    {"/sys/devices", MADE_FOLDER, NULL, NULL},
    {"/sys/devices/system", MADE_FOLDER, NULL, NULL},
    {"/sys/devices/system/cpu", MADE_FOLDER, NULL, NULL},
    {"/sys/devices/system/cpu/online", MADE_TEXT, NULL, text_cpus},
    {"/sys/devices/system/cpu/possible", MADE_TEXT, NULL, text_cpus},
    {"/sys/devices/system/cpu/present", MADE_TEXT, NULL, text_cpus},
};
enum {
    ROWS = sizeof rows / sizeof rows[0],
    NUMBER_BASE = 1 << 20 /* st_ino, away from those of files */
};

bool made_area(const char *path)
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

struct made made_find(struct os_call *call, const char *path)
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
                return (struct made){MADE_DESCRIPTOR, (unsigned)number};
        }
    }
    for (unsigned i = 0; i < ROWS; i++)
        if (strcmp(path, rows[i].path) == 0) return (struct made){rows[i].kind, i};
    return (struct made){MADE_NONE, 0};
}

int made_link(struct os_call *call, struct made made, char target[PATH_MAX])
{
    if (made.kind == MADE_DESCRIPTOR && call) {
        const struct file *file = files_get(call->process->files, made.number);
        if (!file) return -ENOENT;
        if (file->path)
            (void)memccpy(target, file->path, 0, PATH_MAX);
        else
            (void)snprintf(target, PATH_MAX, "pipe:[%u]",
                           file->pipe ? pipe_number(file) : file->number);
        return 0;
    }
    if (made.kind != MADE_LINK) return -EINVAL;
    const char *to = rows[made.number].target;
    if (!to) to = call ? call->process->space->program : NULL;
    if (!to) return -ENOENT;
    (void)memccpy(target, to, 0, PATH_MAX);
    return 0;
}

void made_stat(struct made made, struct stat *status)
{
    static const struct {
        enum made_kind kind;
        mode_t mode;
        unsigned major, minor;
    } looks[] = {
        {MADE_FOLDER, S_IFDIR | 0555, 0, 0},     {MADE_LINK, S_IFLNK | 0777, 0, 0},
        {MADE_TEXT, S_IFREG | 0444, 0, 0},       {MADE_NULL, S_IFCHR | 0666, 1, 3},
        {MADE_ZERO, S_IFCHR | 0666, 1, 5},       {MADE_FULL, S_IFCHR | 0666, 1, 7},
        {MADE_RANDOM, S_IFCHR | 0666, 1, 9},     {MADE_TTY, S_IFCHR | 0666, 5, 0},
        {MADE_DESCRIPTOR, S_IFLNK | 0700, 0, 0},
    };
    *status = (struct stat){
        .st_nlink = 1, .st_ino = NUMBER_BASE + made.number, .st_mtime = (time_t)OS_EPOCH};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (looks[i].kind == made.kind) {
            status->st_mode = looks[i].mode;
            status->st_rdev = looks[i].major << 8 | looks[i].minor;
        }
    if (made.kind == MADE_DESCRIPTOR) status->st_ino += ROWS;
}

const char *made_name(const char *folder, unsigned index, enum made_kind *kind)
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

/* ---- open made-up files ---- */

static int64_t made_read(struct os_call *call, struct file *file, void *bytes, size_t count,
                         int64_t at)
{
    (void)call;
    switch (file->made.kind) {
    case MADE_NULL: return 0;
    case MADE_ZERO:
    case MADE_FULL: memset(bytes, 0, count); return (int64_t)count;
    case MADE_RANDOM:
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

static int64_t made_write(struct os_call *call, struct file *file, const void *bytes, size_t count,
                          int64_t at)
{
    (void)call, (void)bytes, (void)at;
    return file->made.kind == MADE_FULL ? -ENOSPC : (int64_t)count;
}

static int64_t made_seek(struct file *file, int64_t offset, int whence)
{
    if (file->made.kind != MADE_TEXT) return 0;
    int64_t base = whence == SEEK_CUR   ? file->position
                   : whence == SEEK_END ? (int64_t)file->text_length
                                        : 0;
    int64_t at;
    if (whence > SEEK_END || __builtin_add_overflow(base, offset, &at) || at < 0) return -EINVAL;
    file->position = at;
    return at;
}

static void made_file_stat(struct file *file, struct stat *status)
{
    made_stat(file->made, status);
}

static const struct file_ops made_ops = {
    .read = made_read, .write = made_write, .seek = made_seek, .stat = made_file_stat};

/* A descriptor's own name: the same open file once more, if it allows what is asked for. */
static int open_descriptor(struct os_call *call, struct made made, unsigned flags,
                           struct file **result)
{
    struct file *file = files_get(call->process->files, made.number);
    if (!file) return -ENOENT;
    unsigned mode = flags & G_O_ACCESS;
    if (mode != G_O_WRONLY && !file_readable(file)) return -EACCES;
    if (mode != G_O_RDONLY && !file_writable(file)) return -EACCES;
    *result = file_share(file);
    return 0;
}

int made_open(struct os_call *call, const char *path, struct made made, unsigned flags,
              struct file **result)
{
    unsigned mode = flags & G_O_ACCESS;
    if (made.kind == MADE_NONE) return flags & G_O_CREAT ? -EROFS : -ENOENT;
    if ((flags & G_O_CREAT) && (flags & G_O_EXCL)) return -EEXIST;
    if (made.kind == MADE_DESCRIPTOR) return open_descriptor(call, made, flags, result);
    if (made.kind == MADE_LINK) return -ELOOP; /* O_NOFOLLOW */
    if (made.kind == MADE_TTY) return -ENXIO;
    if (made.kind == MADE_FOLDER && mode != G_O_RDONLY) return -EISDIR;
    if (made.kind != MADE_FOLDER && flags & G_O_DIRECTORY) return -ENOTDIR;
    if (made.kind == MADE_TEXT && mode != G_O_RDONLY) return -EACCES;
    struct file *file = file_new(files_fs(call->process->files), &made_ops, flags);
    file->made = made;
    file->path = file_text(path);
    if (made.kind == MADE_FOLDER) {
        file->ops = &file_folder_ops;
        file->folder = true;
    }
    if (made.kind == MADE_TEXT) {
        FILE *out = open_memstream(&file->text, &file->text_length);
        if (out) {
            rows[made.number].write(call, out);
            (void)fclose(out);
        }
    }
    *result = file;
    return 0;
}
