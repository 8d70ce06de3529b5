/* Where a guest's path leads, without ever leaving what the guest may see.
 *
 * The walk goes component by component: each is looked up in the folder before it (os_file_door.c),
 * and symbolic links are read and walked here, never by the host. An absolute link starts at the
 * guest's root again, and ".." is taken off the path walked so far and that path, free of links, is
 * looked up anew; so neither can get above the root, nor can a folder that is moved meanwhile. A
 * place is a folder's descriptor, one name in it, and the descriptor of what had that name then.
 * Whether that may be changed is decided from the path by which it was reached.
 *
 * /dev, /proc and /sys of the host are not there for a guest: os_file_pseudo.c has its own.
 *
 * The sysroot. Programs are PowerPC's and want PowerPC libraries, which a host has in another place
 * than the paths in the programs say. So for paths below /lib and /usr/lib, for /etc/ld.so.cache
 * and /etc/ld.so.preload, read-only: without --root, the sysroot's file if it has one, otherwise
 * the host's; but never the host's ld.so.cache or ld.so.preload, which are about the host's own
 * libraries; with --root, DIR's file if it has one, otherwise the sysroot's. Programs and
 * interpreters that are not found otherwise are looked for in the sysroot, whatever their path. The
 * sysroot is walked as a root of its own, so links in it stay in it.
 *
 * The working directory and folders that openat names are kept as paths. A guest that renames the
 * folder it is in would find it gone, where Linux would not.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/os/os_file_door.h"

enum { LINKS_MAX = 40, REST_MAX = 2 * PATH_MAX };

struct walk {
    const struct fs *fs;
    struct os_call *call; /* NULL for the loader */
    int root;             /* borrowed */
    bool pseudo;          /* this tree has pseudo folders */
    int folder;           /* where we are, owned; -1 in a pseudo folder */
    size_t length;
    char path[PATH_MAX]; /* the same as a path; "" at the root */
    char rest[REST_MAX]; /* what is still to be walked, from `next` on */
    const char *next;
    unsigned links;
};

/* ---- steps ---- */

/* Opens walk->path, in which there are no links. */
static int reopen(struct walk *walk)
{
    if (walk->folder >= 0) close(walk->folder);
    walk->folder = -1;
    if (walk->pseudo && pseudo_area(walk->path)) return 0;
    int folder = door_look(walk->fs, walk->root, walk->path, O_DIRECTORY);
    walk->folder = folder < 0 ? -1 : folder;
    return folder < 0 ? folder : 0;
}

static int append(struct walk *walk, const char *name)
{
    size_t length = strlen(name);
    if (walk->length + 1 + length >= PATH_MAX) return -ENAMETOOLONG;
    walk->path[walk->length] = '/';
    memcpy(walk->path + walk->length + 1, name, length + 1);
    walk->length += 1 + length;
    return 0;
}

static void drop_last(struct walk *walk)
{
    while (walk->length && walk->path[--walk->length] != '/')
        ;
    walk->path[walk->length] = 0;
}

/* A link to `target` was met: it is walked next, then what was left. */
static int follow(struct walk *walk, const char *target)
{
    if (++walk->links > LINKS_MAX) return -ELOOP;
    size_t first = strlen(target), second = strlen(walk->next);
    if (!first) return -ENOENT;
    if (first + 1 + second >= REST_MAX) return -ENAMETOOLONG;
    char joined[REST_MAX];
    memcpy(joined, target, first);
    joined[first] = '/';
    memcpy(joined + first + 1, walk->next, second + 1);
    /* Nothing left must stay nothing, or the link's end would seem to have a slash. */
    if (!second) joined[first] = 0;
    memcpy(walk->rest, joined, strlen(joined) + 1);
    walk->next = walk->rest;
    if (*target != '/') return 0;
    walk->length = 0;
    walk->path[0] = 0;
    return reopen(walk);
}

/* The next component: 1, or 0 at the end. *slashes: whether slashes follow it. */
static int take(struct walk *walk, char name[NAME_MAX + 1], bool *slashes)
{
    walk->next += strspn(walk->next, "/");
    size_t length = strcspn(walk->next, "/");
    if (!length) return 0;
    if (length > NAME_MAX) return -ENAMETOOLONG;
    memcpy(name, walk->next, length);
    name[length] = 0;
    walk->next += length;
    *slashes = *walk->next == '/';
    if (!walk->next[strspn(walk->next, "/")]) walk->next += strlen(walk->next);
    return 1;
}

/* ---- ends ---- */

static void finish(struct walk *walk, struct place *place, const char *name)
{
    (void)memccpy(place->name, name, 0, sizeof place->name);
    if (walk->length)
        memcpy(place->path, walk->path, walk->length + 1);
    else
        memcpy(place->path, "/", 2);
    place->parent = walk->folder;
    walk->folder = -1;
}

/* The path ended in a folder: "/", "." or "..". */
static int finish_here(struct walk *walk, struct place *place)
{
    if (walk->folder < 0) {
        place->pseudo = pseudo_find(walk->call, walk->path);
        pseudo_stat(place->pseudo, &place->status);
    } else if (fstat(walk->folder, &place->status) != 0) {
        return -errno;
    }
    place->exists = true;
    finish(walk, place, ".");
    return 0;
}

/* A step in a pseudo folder. 1: goes on, 0: done. */
static int step_pseudo(struct walk *walk, struct place *place, const char *name, bool last,
                       bool follow_last)
{
    int status = append(walk, name);
    if (status) return status;
    struct pseudo pseudo = pseudo_find(walk->call, walk->path);
    if (pseudo.kind == PSEUDO_LINK && (!last || follow_last)) {
        char target[PATH_MAX];
        status = pseudo_link(walk->fs, walk->call, pseudo, target);
        drop_last(walk);
        if (!status) status = follow(walk, target);
        return status ? status : 1;
    }
    if (!last) {
        if (pseudo.kind == PSEUDO_NONE) return -ENOENT;
        if (pseudo.kind != PSEUDO_FOLDER) return -ENOTDIR;
        if (walk->folder >= 0) close(walk->folder);
        walk->folder = -1;
        return 1;
    }
    if (pseudo.kind != PSEUDO_NONE && pseudo.kind != PSEUDO_FOLDER && place->slash) return -ENOTDIR;
    if (walk->folder >= 0) close(walk->folder);
    walk->folder = -1;
    place->pseudo = pseudo;
    place->exists = pseudo.kind != PSEUDO_NONE;
    pseudo_stat(pseudo, &place->status);
    finish(walk, place, name);
    return 0;
}

static int step_link(struct walk *walk, int fd)
{
    char target[PATH_MAX];
    ssize_t length = door_read_link(fd, target);
    (void)close(fd);
    if (length < 0) return (int)length;
    if (length == PATH_MAX) return -ENAMETOOLONG;
    target[length] = 0;
    int status = follow(walk, target);
    return status ? status : 1;
}

static int step_host(struct walk *walk, struct place *place, const char *name, bool last,
                     bool follow_last)
{
    int fd = door_look(walk->fs, walk->folder, name, 0);
    int status = fd < 0 ? fd : 0;
    if (fd < 0 && (status != -ENOENT || !last)) return status;
    if (fd >= 0 && fstat(fd, &place->status) != 0) {
        status = -errno;
        close(fd);
        return status;
    }
    if (fd >= 0 && S_ISLNK(place->status.st_mode) && (!last || follow_last))
        return step_link(walk, fd);
    status = append(walk, name);
    if (!status && fd >= 0 && (!last || place->slash) && !S_ISDIR(place->status.st_mode))
        status = -ENOTDIR;
    if (status || last) {
        place->exists = fd >= 0;
        place->found = fd;
        if (!status) finish(walk, place, name);
        return status;
    }
    close(walk->folder);
    walk->folder = fd;
    return 1;
}

static int walk_on(struct walk *walk, struct place *place, bool follow_last)
{
    for (;;) {
        char name[NAME_MAX + 1];
        bool slashes = false;
        int status = take(walk, name, &slashes);
        if (status < 0) return status;
        if (status == 0) return finish_here(walk, place);
        bool last = !*walk->next;
        if (last && slashes) place->slash = true;
        if (strcmp(name, ".") == 0) continue;
        if (strcmp(name, "..") == 0) {
            drop_last(walk);
            status = reopen(walk);
            if (status) return status;
            continue;
        }
        bool pseudo = walk->pseudo && (walk->folder < 0 || (walk->length == 0 && strlen(name) < 8));
        if (pseudo && walk->length == 0) {
            char top[16] = "/";
            (void)memccpy(top + 1, name, 0, sizeof top - 1);
            pseudo = pseudo_area(top);
        }
        bool through = follow_last || place->slash;
        status = pseudo ? step_pseudo(walk, place, name, last, through)
                        : step_host(walk, place, name, last, through);
        if (status <= 0) return status;
    }
}

static int walk_tree(struct place *place, const struct fs *fs, struct os_call *call, int root,
                     bool pseudo, const char *text, unsigned flags)
{
    struct walk walk = {.fs = fs, .call = call, .root = root, .pseudo = pseudo, .folder = -1};
    walk.next = walk.rest;
    memset(place, 0, sizeof *place);
    place->fs = fs;
    place->parent = place->found = -1;
    if (strlen(text) >= sizeof walk.rest) return -ENAMETOOLONG;
    memcpy(walk.rest, text, strlen(text) + 1);
    int status = reopen(&walk);
    if (!status) status = walk_on(&walk, place, flags & PLACE_FOLLOW);
    if (walk.folder >= 0) close(walk.folder);
    if (status) place_fini(place);
    return status;
}

/* ---- places ---- */

static bool is_cache(const char *text)
{
    return strcmp(text, "/etc/ld.so.cache") == 0 || strcmp(text, "/etc/ld.so.preload") == 0;
}

static bool is_library(const char *text)
{
    return strncmp(text, "/lib/", 5) == 0 || strncmp(text, "/usr/lib/", 9) == 0 || is_cache(text);
}

static bool missing(int status, const struct place *place)
{
    return status == -ENOENT || status == -ENOTDIR || (!status && !place->exists);
}

static int find_in_sysroot(struct place *place, const struct fs *fs, struct os_call *call,
                           const char *text, unsigned flags)
{
    if (fs_sysroot(fs) < 0) return -ENOENT;
    int status = walk_tree(place, fs, call, fs_sysroot(fs), false, text, flags);
    if (!missing(status, place)) return status;
    if (!status) place_fini(place);
    return -ENOENT;
}

static void judge(struct place *place, const struct fs *fs)
{
    if (place->pseudo.kind != PSEUDO_NOT) return;
    place->may_change = fs_may_change(fs, place->path);
    char parent[PATH_MAX];
    memcpy(parent, place->path, strlen(place->path) + 1);
    char *slash = strrchr(parent, '/');
    if (slash && place->path[1]) {
        slash[slash == parent] = 0;
        place->may_rename = fs_may_change(fs, parent);
    }
}

int place_find(struct place *place, const struct os_files *files, struct os_call *call,
               const char *base, const char *path, unsigned flags)
{
    const struct fs *fs = files_fs(files);
    char text[REST_MAX];
    size_t before = *path == '/' ? 0 : strlen(base), length = strlen(path);
    if (!length) return -ENOENT;
    if (length >= PATH_MAX || before + 1 + length >= sizeof text) return -ENAMETOOLONG;
    (void)snprintf(text, sizeof text, "%s%s%s", before ? base : "", before ? "/" : "", path);
    bool library = !(flags & PLACE_CHANGE) && is_library(text);
    if (library && !fs_confined(fs)) {
        int status = find_in_sysroot(place, fs, call, text, flags);
        if (status != -ENOENT) return status;
        if (is_cache(text)) return -ENOENT;
    }
    /* A path that leaves such a folder by ".." is not below it. */
    bool pseudo = !fs_is_own_folder(fs, text) || strstr(text, "..");
    int status = walk_tree(place, fs, call, fs_root(fs), pseudo, text, flags);
    if ((library || flags & PLACE_SYSROOT) && missing(status, place)) {
        if (!status) place_fini(place);
        return find_in_sysroot(place, fs, call, text, flags);
    }
    if (!status) judge(place, fs);
    return status;
}

void place_fini(struct place *place)
{
    if (place->parent >= 0) close(place->parent);
    if (place->found >= 0) close(place->found);
    place->parent = place->found = -1;
}

int guest_path(const struct os_call *call, uint32_t address, char path[PATH_MAX])
{
    int64_t length = mem_strlen(call->mem, address, PATH_MAX);
    if (length < 0) return -EFAULT;
    if (length >= PATH_MAX) return -ENAMETOOLONG;
    memcpy(path, mem_host(call->mem, address), (size_t)length);
    path[length] = 0;
    return 0;
}

int place_of(struct place *place, struct os_call *call, uint32_t folder, uint32_t address,
             unsigned flags)
{
    char path[PATH_MAX];
    int status = guest_path(call, address, path);
    if (status) return status;
    const struct os_files *files = call->process->files;
    const char *base = files_cwd(files);
    if (*path != '/' && (int32_t)folder != G_AT_FDCWD) {
        const struct file *file = files_get(files, folder);
        if (!file) return -EBADF;
        if (!file->folder) return -ENOTDIR;
        base = file->path;
    }
    return place_find(place, files, call, base, path, flags);
}

int place_denied(const struct os_call *call, const struct place *place)
{
    os_warn_once(
        call->os, "write",
        "'%s' may not be written: it is not below the working directory; allow it with --writable DIR",
        place->path);
    return -EROFS;
}

/* ---- for the loader ---- */

int files_open_program(const struct os_files *files, const char *guest, char path[PATH_MAX])
{
    struct place place;
    int status =
        place_find(&place, files, NULL, files_cwd(files), guest, PLACE_FOLLOW | PLACE_SYSROOT);
    if (status) return status;
    if (!place.exists)
        status = -ENOENT;
    else if (S_ISDIR(place.status.st_mode))
        status = -EISDIR;
    else if (place.pseudo.kind != PSEUDO_NOT || !S_ISREG(place.status.st_mode) ||
             !(place.status.st_mode & 0111))
        status = -EACCES;
    else
        status = door_access(&place, X_OK);
    if (!status) {
        status = door_open(&place, O_RDONLY);
        memcpy(path, place.path, strlen(place.path) + 1);
    }
    place_fini(&place);
    return status;
}

int files_real_program(struct os_call *call, const char *path, char real[PATH_MAX])
{
    const struct os_files *files = call->process->files;
    struct place place;
    (void)snprintf(real, PATH_MAX, "%s", path);
    if (!pseudo_area(path)) return 0;
    int status = place_find(&place, files, call, files_cwd(files), path, PLACE_FOLLOW);
    if (status) return status;
    const struct file *file =
        place.pseudo.kind == PSEUDO_DESCRIPTOR ? files_get(files, place.pseudo.number) : NULL;
    const char *found = file ? file->path : place.path;
    if (found && place.exists) (void)snprintf(real, PATH_MAX, "%s", found);
    place_fini(&place);
    return found ? 0 : -EACCES;
}

int os_files_hide_program(const struct os_files *files, const char *program, char guest[PATH_MAX])
{
    char path[PATH_MAX], again[PATH_MAX];
    int host = files_open_program(files, program, path);
    if (host < 0) return host;
    (void)close(host);
    fs_hide_program(files_fs(files), path);
    fs_show_program(files_fs(files), path, guest);
    host = files_open_program(files, guest, again);
    if (host < 0) return host == -ENOENT ? 0 : host; /* a program of the sysroot */
    (void)close(host);
    return strcmp(path, again) == 0;
}

int os_files_open_program(const struct os_files *files, const char *guest_path_text)
{
    char path[PATH_MAX];
    return files_open_program(files, guest_path_text, path);
}
