/* The host calls on what guest paths lead to; see os_file_door.c. All return 0 or a descriptor, or
 * -errno. */
#ifndef OS_FILE_DOOR_H
#define OS_FILE_DOOR_H

#include <sys/types.h>
#include <time.h>

#include "machine/os/os_file_impl.h"

/* What `path`, free of links and dots, is below a folder: an O_PATH descriptor, also of a link.
 * `flags`: O_DIRECTORY or 0. */
int door_look(const struct fs *fs, int folder, const char *path, int flags);
bool door_has_openat2(int folder);
bool door_has_proc(void);

/* Opens what was found at the place and nothing else; the caller has looked at its type. Neither
 * O_CREAT nor O_TRUNC. */
int door_open(const struct place *place, int flags);
int door_truncate(const struct place *place, int64_t length);
int door_chmod(const struct place *place, mode_t mode);
int door_access(const struct place *place, int mode);
int door_set_times(const struct place *place, const struct timespec times[2]);
ssize_t door_read_link(int fd, char text[PATH_MAX]); /* the length, without a zero behind it */

/* Names. They follow no link. */
int door_make_file(const struct place *place, int flags, mode_t mode); /* O_EXCL; open */
int door_make_folder(struct place *place, mode_t mode);
int door_make_link(const struct place *place, const char *text);
int door_link(const struct place *from, const struct place *to);
int door_remove(const struct place *place, bool folder);
int door_rename(const struct place *from, const struct place *to, unsigned flags);

#endif
