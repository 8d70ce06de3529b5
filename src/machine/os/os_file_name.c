/* Names: folders, links, renaming, removing, and the working directory.
 *
 * Each call finds its places first, with every link on the way resolved, and needs the right to
 * change the folder that holds the name. A hard link needs that right at both ends: through a new
 * name of a file outside, the file could be written. A symbolic link may say anything; where it
 * leads is judged when it is walked.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "machine/os/os_file.h"
#include "machine/os/os_file_door.h"

/* What is wrong with making a new name at `place`. */
static int may_make(const struct os_call *call, const struct place *place)
{
    if (place->exists) return -EEXIST;
    if (place->pseudo.kind != PSEUDO_NOT || !place->may_rename) return place_denied(call, place);
    return 0;
}

/* … and with taking one away. */
static int may_remove(const struct os_call *call, const struct place *place)
{
    if (!place->exists) return -ENOENT;
    if (strcmp(place->name, ".") == 0) return -EBUSY;
    if (place->pseudo.kind != PSEUDO_NOT || !place->may_rename) return place_denied(call, place);
    return 0;
}

/* The name is gone; so is the file, if it was the last. */
static void removed(struct os_call *call, const struct place *place)
{
    fs_touch_folder(call, place->parent);
    if (S_ISDIR(place->status.st_mode) || place->status.st_nlink <= 1)
        fs_forget(files_fs(call->process->files), &place->status);
}

/* ---- folders ---- */

static int64_t mkdir_at(struct os_call *call, uint32_t folder, uint32_t path, uint32_t mode)
{
    struct place place;
    int error = place_of(&place, call, folder, path, PLACE_CHANGE);
    if (error) return error;
    error = may_make(call, &place);
    struct fs *fs = files_fs(call->process->files);
    if (!error) error = door_make_folder(&place, mode & 01777 & ~call->process->umask);
    if (!error) {
        fs_touch_folder(call, place.parent);
        if (place.found >= 0) fs_touch(call, fs_inode(fs, &place.status));
    }
    place_fini(&place);
    return error;
}

int64_t sys_mkdir(struct os_call *call)
{
    return mkdir_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1]);
}

int64_t sys_mkdirat(struct os_call *call)
{
    return mkdir_at(call, call->arg[0], call->arg[1], call->arg[2]);
}

static int64_t remove_at(struct os_call *call, uint32_t folder, uint32_t path, bool is_folder)
{
    struct place place;
    int error = place_of(&place, call, folder, path, PLACE_CHANGE);
    if (error) return error;
    error = may_remove(call, &place);
    if (!error && is_folder && !S_ISDIR(place.status.st_mode)) error = -ENOTDIR;
    if (!error && !is_folder && S_ISDIR(place.status.st_mode)) error = -EISDIR;
    if (!error) error = door_remove(&place, is_folder);
    if (!error) removed(call, &place);
    place_fini(&place);
    return error;
}

int64_t sys_rmdir(struct os_call *call)
{
    return remove_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], true);
}

int64_t sys_unlink(struct os_call *call)
{
    return remove_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], false);
}

int64_t sys_unlinkat(struct os_call *call)
{
    if (call->arg[2] & ~(uint32_t)G_AT_REMOVEDIR) return -EINVAL;
    return remove_at(call, call->arg[0], call->arg[1], call->arg[2] & G_AT_REMOVEDIR);
}

/* ---- renaming ---- */

static int64_t do_rename(struct os_call *call, struct place *from, struct place *to, uint32_t flags)
{
    int error = may_remove(call, from);
    if (error) return error;
    if (strcmp(to->name, ".") == 0) return -EBUSY;
    if (to->pseudo.kind != PSEUDO_NOT || !to->may_rename) return place_denied(call, to);
    if (to->slash && !S_ISDIR(from->status.st_mode)) return -ENOTDIR;
    error = door_rename(from, to, flags);
    if (error) return error;
    bool same = to->exists && to->status.st_ino == from->status.st_ino &&
                to->status.st_dev == from->status.st_dev;
    fs_touch_folder(call, from->parent);
    if (to->exists && !same && !(flags & RENAME_EXCHANGE))
        removed(call, to);
    else
        fs_touch_folder(call, to->parent);
    return 0;
}

static int64_t rename_at(struct os_call *call, uint32_t from_folder, uint32_t from_path,
                         uint32_t to_folder, uint32_t to_path, uint32_t flags)
{
    if (flags & ~(uint32_t)(RENAME_NOREPLACE | RENAME_EXCHANGE)) return -EINVAL;
    struct place from, to;
    int error = place_of(&from, call, from_folder, from_path, PLACE_CHANGE);
    if (error) return error;
    error = place_of(&to, call, to_folder, to_path, PLACE_CHANGE);
    int64_t result = error;
    if (!error) {
        result = do_rename(call, &from, &to, flags);
        place_fini(&to);
    }
    place_fini(&from);
    return result;
}

int64_t sys_rename(struct os_call *call)
{
    return rename_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], (uint32_t)G_AT_FDCWD, call->arg[1],
                     0);
}

int64_t sys_renameat(struct os_call *call)
{
    return rename_at(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3], 0);
}

int64_t sys_renameat2(struct os_call *call)
{
    return rename_at(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3], call->arg[4]);
}

/* ---- links ---- */

static int64_t do_link(struct os_call *call, const struct place *from, const struct place *to)
{
    if (!from->exists) return -ENOENT;
    int error = may_make(call, to);
    if (error) return error;
    if (from->pseudo.kind != PSEUDO_NOT) return -EXDEV;
    if (S_ISDIR(from->status.st_mode)) return -EPERM;
    if (!from->may_change || !from->may_rename) return place_denied(call, from);
    error = door_link(from, to);
    if (error) return error;
    fs_touch_folder(call, to->parent);
    return 0;
}

static int64_t link_at(struct os_call *call, uint32_t from_folder, uint32_t from_path,
                       uint32_t to_folder, uint32_t to_path, uint32_t flags)
{
    if (flags & ~(uint32_t)G_AT_SYMLINK_FOLLOW) return -EINVAL;
    struct place from, to;
    int error = place_of(&from, call, from_folder, from_path,
                         PLACE_CHANGE | (flags & G_AT_SYMLINK_FOLLOW ? PLACE_FOLLOW : 0));
    if (error) return error;
    error = place_of(&to, call, to_folder, to_path, PLACE_CHANGE);
    int64_t result = error;
    if (!error) {
        result = do_link(call, &from, &to);
        place_fini(&to);
    }
    place_fini(&from);
    return result;
}

int64_t sys_link(struct os_call *call)
{
    return link_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], (uint32_t)G_AT_FDCWD, call->arg[1], 0);
}

int64_t sys_linkat(struct os_call *call)
{
    return link_at(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3], call->arg[4]);
}

static int64_t symlink_at(struct os_call *call, uint32_t target, uint32_t folder, uint32_t path)
{
    char text[PATH_MAX];
    struct place place;
    int error = guest_path(call, target, text);
    if (error) return error;
    if (!*text) return -ENOENT;
    error = place_of(&place, call, folder, path, PLACE_CHANGE);
    if (error) return error;
    error = place.slash ? -ENOENT : may_make(call, &place);
    if (!error) error = door_make_link(&place, text);
    if (!error) fs_touch_folder(call, place.parent);
    place_fini(&place);
    return error;
}

int64_t sys_symlink(struct os_call *call)
{
    return symlink_at(call, call->arg[0], (uint32_t)G_AT_FDCWD, call->arg[1]);
}

int64_t sys_symlinkat(struct os_call *call)
{
    return symlink_at(call, call->arg[0], call->arg[1], call->arg[2]);
}

/* ---- the working directory ---- */

int64_t sys_chdir(struct os_call *call)
{
    struct place place;
    int error = place_of(&place, call, (uint32_t)G_AT_FDCWD, call->arg[0], PLACE_FOLLOW);
    if (error) return error;
    if (!place.exists)
        error = -ENOENT;
    else if (!S_ISDIR(place.status.st_mode))
        error = -ENOTDIR;
    else if (place.pseudo.kind == PSEUDO_NOT)
        error = door_access(&place, X_OK);
    if (!error) files_set_cwd(call->process->files, place.path);
    place_fini(&place);
    return error;
}

int64_t sys_fchdir(struct os_call *call)
{
    const struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file) return -EBADF;
    if (!file->folder) return -ENOTDIR;
    files_set_cwd(call->process->files, file->path);
    return 0;
}

int64_t sys_getcwd(struct os_call *call)
{
    const char *cwd = files_cwd(call->process->files);
    size_t size = strlen(cwd) + 1;
    if (call->arg[1] < size) return -ERANGE;
    void *out = mem_writable(call->mem, call->arg[0], size);
    if (!out) return -EFAULT;
    memcpy(out, cwd, size);
    return (int64_t)size;
}
