/* The file system of a run: what the rules of the command line mean, and the numbers and times that
 * files show.
 *
 * Writing. A guest may change what is below its working directory as of the start, and below each
 * --writable folder; everything else is a read-only file system to it (EROFS). Paths are judged
 * free of symbolic links, so a link that leads out gives no right outside. A hard link there to a
 * file outside looks like any other file, and may be written.
 *
 * --root DIR. The guest's "/" is DIR. Its working directory is the host's when that is below DIR
 * and "/" otherwise; so with the host's elsewhere, all of DIR may be written, as after chroot. A
 * --writable folder must be below DIR.
 *
 * The program. A guest that knows where its program is on the host executes other instructions for
 * each length of that path. So programs of the folder that the first one is in show as
 * /proc/program/NAME (argv[0], AT_EXECFN, /proc/self/exe); /proc/program is a link to the folder.
 *
 * Numbers. st_ino is the order in which a run first saw the file, st_dev one constant: the host's
 * numbers would differ from machine to machine. A file that a guest removed is forgotten, because
 * the host may or may not use its number again at once.
 *
 * Times. A file shows its modification time, for all of its three times. When a guest changes it,
 * it shows the simulated time of the change from then on, to the guests of this run only: on the
 * disk the host's clock stands, so that make and people are not misled.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/os/os_file_door.h"

#define SYSROOT "/usr/powerpc-linux-gnu" /* where Debian's cross compilers keep theirs */

enum { BUCKETS = 1 << 12, NANOSECONDS = 1000000000 };

struct fs {
    unsigned users;
    int root, sysroot;
    bool confined, has_openat2, has_proc;
    unsigned cores;
    char *program_folder; /* canonical guest path; NULL: not hidden */
    char **writable;
    size_t writable_count;
    struct inode *inodes[BUCKETS];
    uint32_t last_number;
    uint64_t random;
    struct os_images *images;
    struct os_locks *locks;
    uint64_t open, most_open;
    char change;
};

/* ---- rules ---- */

/* Whether one path is the other or below it; both are free of symbolic links. */
static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length == 1) return true; /* "/" */
    return strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/');
}

/* The guest path of a host path; NULL when it is not below the root. */
static const char *guest_of(const char *host, const char *root)
{
    if (!is_below(host, root)) return NULL;
    const char *rest = strlen(root) == 1 ? host : host + strlen(root);
    return *rest ? rest : "/";
}

static int add_writable(struct fs *fs, const char *folder, const char *root, struct chil_error *err)
{
    char real[PATH_MAX];
    struct stat status;
    if (!realpath(folder, real) || stat(real, &status) != 0)
        return chil_error_set(err, CHIL_ENOENT,
                              "writable folder '%s': %s; make it first, or name another", folder,
                              strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return chil_error_set(err, CHIL_EINVAL,
                              "writable folder '%s' is not a folder; name the one it is in",
                              folder);
    const char *guest = guest_of(real, root);
    if (!guest)
        return chil_error_set(err, CHIL_EINVAL,
                              "writable folder '%s' is not below the root '%s'; name one that is",
                              folder, root);
    fs->writable[fs->writable_count++] = file_text(guest);
    return CHIL_OK;
}

static int open_root(struct fs *fs, const struct os_rules *rules, char real[PATH_MAX],
                     struct chil_error *err)
{
    const char *root = rules->root ? rules->root : "/";
    fs->confined = rules->root != NULL;
    fs->root = -1;
    if (realpath(root, real)) fs->root = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    fs->has_openat2 = fs->root >= 0 && !rules->old_host && door_has_openat2(fs->root);
    fs->has_proc = !rules->old_host && door_has_proc();
    if (fs->root >= 0) return CHIL_OK;
    return chil_error_set(err, CHIL_ENOENT, "root folder '%s': %s; name a folder that is there",
                          root, strerror(errno));
}

/* Some descriptors are the simulator's own: programs' files, folders on the way to a name. */
static uint64_t open_files_max(uint64_t wanted)
{
    enum { OWN = 64, USUAL = 4096 };
    struct rlimit host;
    if (!wanted) wanted = USUAL;
    if (getrlimit(RLIMIT_NOFILE, &host) != 0 || host.rlim_cur >= wanted + OWN) return wanted;
    return host.rlim_cur > OWN + 8 ? host.rlim_cur - OWN : 8;
}

int fs_new(struct fs **result, const struct os_rules *rules, char cwd[PATH_MAX],
           struct chil_error *err)
{
    struct fs *fs = base_calloc(1, sizeof *fs);
    fs->users = 1;
    fs->cores = rules->cores ? rules->cores : 1;
    fs->random = UINT64_C(0x43484c4941440001);
    fs->sysroot = -1;
    fs->most_open = open_files_max(rules->files);
    fs->images = rules->images ? os_images_share(rules->images) : os_images_new();
    fs->locks = os_locks_share(rules->locks ? rules->locks : os_locks_new());
    if (!rules->locks) os_locks_release(fs->locks);
    fs->writable = (char **)base_calloc(rules->writable_count + 1, sizeof *fs->writable);
    char root[PATH_MAX];
    int status = open_root(fs, rules, root, err);
    char here[PATH_MAX];
    if (!status) {
        const char *guest = getcwd(here, sizeof here) ? guest_of(here, root) : NULL;
        if (guest || fs->confined) status = add_writable(fs, guest ? here : root, root, err);
        (void)memccpy(cwd, guest ? guest : "/", 0, PATH_MAX);
    }
    for (size_t i = 0; !status && i < rules->writable_count; i++)
        status = add_writable(fs, rules->writable[i], root, err);
    if (status) {
        fs_release(fs);
        return status;
    }
    const char *sysroot = rules->sysroot ? rules->sysroot : SYSROOT;
    fs->sysroot = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fs->sysroot < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
        status = chil_error_set(err, CHIL_EIO, "cannot open '%s': %s", sysroot, strerror(errno));
        fs_release(fs);
        return status;
    }
    *result = fs;
    return CHIL_OK;
}

struct fs *fs_share(struct fs *fs)
{
    fs->users++;
    return fs;
}

void fs_release(struct fs *fs)
{
    if (--fs->users) return;
    os_images_release(fs->images);
    os_locks_release(fs->locks);
    for (size_t i = 0; i < BUCKETS; i++)
        while (fs->inodes[i]) {
            struct inode *next = fs->inodes[i]->next;
            free(fs->inodes[i]);
            fs->inodes[i] = next;
        }
    for (size_t i = 0; i < fs->writable_count; i++)
        free(fs->writable[i]);
    free((void *)fs->writable);
    free(fs->program_folder);
    if (fs->root >= 0) close(fs->root);
    if (fs->sysroot >= 0) close(fs->sysroot);
    free(fs);
}

void fs_count_open(struct fs *fs, int change)
{
    fs->open += (uint64_t)change;
}

bool fs_may_open(const struct os_call *call, unsigned count)
{
    const struct fs *fs = files_fs(call->process->files);
    if (fs->open + count <= fs->most_open) return true;
    os_warn_once(call->os, "files",
                 "the program and its children have %llu files open and wanted more (ENFILE); "
                 "'--max files=N', or 'ulimit -n' gives more",
                 (unsigned long long)fs->most_open);
    return false;
}

struct os_images *fs_images(const struct fs *fs)
{
    return fs->images;
}

struct os_locks *fs_locks(const struct fs *fs)
{
    return fs->locks;
}

int fs_root(const struct fs *fs)
{
    return fs->root;
}

int fs_sysroot(const struct fs *fs)
{
    return fs->sysroot;
}

bool fs_confined(const struct fs *fs)
{
    return fs->confined;
}

bool fs_has_openat2(const struct fs *fs)
{
    return fs->has_openat2;
}

bool fs_has_proc(const struct fs *fs)
{
    return fs->has_proc;
}

unsigned fs_cores(const struct fs *fs)
{
    return fs->cores;
}

bool fs_may_change(const struct fs *fs, const char *path)
{
    for (size_t i = 0; i < fs->writable_count; i++)
        if (is_below(path, fs->writable[i])) return true;
    return false;
}

bool fs_is_own_folder(const struct fs *fs, const char *path)
{
    for (size_t i = 0; i < fs->writable_count; i++) {
        const char *folder = fs->writable[i];
        if (pseudo_area(folder) && strchr(folder + 1, '/') && is_below(path, folder)) return true;
    }
    return false;
}

/* ---- the program's folder ---- */

void fs_hide_program(struct fs *fs, const char *path)
{
    free(fs->program_folder);
    fs->program_folder = file_text(path);
    *strrchr(fs->program_folder, '/') = 0;
}

const char *fs_program_folder(const struct fs *fs)
{
    if (!fs->program_folder) return NULL;
    return *fs->program_folder ? fs->program_folder : "/";
}

void fs_show_program(const struct fs *fs, const char *path, char shown[PATH_MAX])
{
    const char *name = strrchr(path, '/') + 1;
    size_t length = (size_t)(name - 1 - path);
    if (fs->program_folder && strlen(fs->program_folder) == length &&
        strncmp(path, fs->program_folder, length) == 0)
        (void)snprintf(shown, PATH_MAX, OS_PROGRAM_FOLDER "/%s", name);
    else
        (void)snprintf(shown, PATH_MAX, "%s", path);
}

/* ---- numbers and times ---- */

static struct inode **find_inode(struct fs *fs, const struct stat *status)
{
    uint64_t mixed =
        (status->st_ino ^ (uint64_t)status->st_dev << 40) * UINT64_C(0x9E3779B97F4A7C15);
    struct inode **at = &fs->inodes[mixed >> 52];
    while (*at && ((*at)->device != status->st_dev || (*at)->host_number != status->st_ino))
        at = &(*at)->next;
    return at;
}

struct inode *fs_inode(struct fs *fs, const struct stat *status)
{
    struct inode **at = find_inode(fs, status);
    if (*at) return *at;
    struct inode *inode = base_calloc(1, sizeof *inode);
    inode->device = status->st_dev;
    inode->host_number = status->st_ino;
    inode->number = fs_next_number(fs);
    *at = inode;
    return inode;
}

void fs_forget(struct fs *fs, const struct stat *status)
{
    struct inode *inode = *find_inode(fs, status);
    /* It stays in its chain, for files that are still open, but no path leads to it: ~0 is no
     * host's device. */
    if (inode) inode->device = UINT64_MAX;
}

uint32_t fs_next_number(struct fs *fs)
{
    return ++fs->last_number;
}

void fs_touch(const struct os_call *call, struct inode *inode)
{
    if (!call || !inode) return;
    uint64_t now = os_nanoseconds(call);
    inode->timed = true;
    inode->seconds = (int64_t)(OS_EPOCH + now / NANOSECONDS);
    inode->nanoseconds = (uint32_t)(now % NANOSECONDS);
}

void fs_touch_folder(const struct os_call *call, int host)
{
    struct stat status;
    if (fstat(host, &status) == 0)
        fs_touch(call, fs_inode(files_fs(call->process->files), &status));
}

uint64_t fs_random(struct fs *fs)
{
    uint64_t z = (fs->random += UINT64_C(0x9E3779B97F4A7C15)); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

const void *fs_change(const struct fs *fs)
{
    return &fs->change;
}
