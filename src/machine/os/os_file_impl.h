/* Inside os_file*.c and os_space*.c: what a descriptor stands for, and where a path leads.
 *
 * Three nouns. A `struct fs` is the file system as the guests of one run see it: the tree, what may
 * be written, the numbers that files get. A `struct file` is an open file description as POSIX
 * means it: what dup and fork share. A `struct place` is the end of a path: the folder's host
 * descriptor and the last name, with every symbolic link on the way resolved, so that an operation
 * on it cannot lead anywhere else.
 *
 * Functions return 0 or -errno (Linux's numbers are the same for PowerPC and the hosts we run on up
 * to 34, and from 35 to 133 but for EDEADLOCK, which is never returned). One host thread runs a
 * struct os, so nothing here is locked.
 */
#ifndef OS_FILE_IMPL_H
#define OS_FILE_IMPL_H

#include <limits.h>
#include <sys/stat.h>

#include "machine/os/os_impl.h"

/* Flags of open on PowerPC: these differ from other machines' in places. */
enum {
    G_O_ACCESS = 3,
    G_O_RDONLY = 0,
    G_O_WRONLY = 1,
    G_O_RDWR = 2,
    G_O_CREAT = 0100,
    G_O_EXCL = 0200,
    G_O_NOCTTY = 0400,
    G_O_TRUNC = 01000,
    G_O_APPEND = 02000,
    G_O_NONBLOCK = 04000,
    G_O_ASYNC = 020000,
    G_O_DIRECTORY = 040000,
    G_O_NOFOLLOW = 0100000,
    G_O_LARGEFILE = 0200000,
    G_O_CLOEXEC = 02000000,
    G_O_PATH = 010000000,
    G_O_TMPFILE = 020000000 /* without O_DIRECTORY, which always comes with it */
};

enum {
    G_AT_FDCWD = -100,
    G_AT_SYMLINK_NOFOLLOW = 0x100,
    G_AT_REMOVEDIR = 0x200,
    G_AT_EACCESS = 0x200,
    G_AT_SYMLINK_FOLLOW = 0x400,
    G_AT_NO_AUTOMOUNT = 0x800,
    G_AT_EMPTY_PATH = 0x1000
};

enum { G_POLLIN = 1, G_POLLPRI = 2, G_POLLOUT = 4, G_POLLERR = 8, G_POLLHUP = 16, G_POLLNVAL = 32 };

#define G_RW_MAX 0x7ffff000u /* the most one read or write moves */

/* ---- os_file_rules.c: the file system of a run ---- */

/* A file that was seen: its number in order of first sight and, when a guest changed it, the
 * simulated time of that. */
struct inode {
    struct inode *next;
    uint64_t device, host_number;
    uint32_t number;
    bool timed;
    int64_t seconds;
    uint32_t nanoseconds;
};

struct fs;
int fs_new(struct fs **fs, const struct os_rules *rules, char cwd[PATH_MAX],
           struct chil_error *err);
struct fs *fs_share(struct fs *fs);
void fs_release(struct fs *fs);
int fs_root(const struct fs *fs);    /* the guest's "/", a host descriptor */
int fs_sysroot(const struct fs *fs); /* the same of the sysroot; -1 when there is none */
bool fs_confined(const struct fs *fs);
bool fs_has_openat2(const struct fs *fs);
bool fs_has_proc(const struct fs *fs);
unsigned fs_cores(const struct fs *fs);
/* Whether what is at this guest path, free of symbolic links, may be changed. */
bool fs_may_change(const struct fs *fs, const char *path);
/* Below a writable folder that is itself below /dev, /proc or /sys, such as /dev/shm/work: a file
 * of the host, no pseudo file. */
bool fs_is_own_folder(const struct fs *fs, const char *path);
/* The program at this path, and others of its folder, are shown in OS_PROGRAM_FOLDER. */
#define OS_PROGRAM_FOLDER "/proc/program"
void fs_hide_program(struct fs *fs, const char *path);
const char *
fs_program_folder(const struct fs *fs); /* where OS_PROGRAM_FOLDER leads; NULL: nowhere */
/* The path by which guests see the program at a canonical path. */
void fs_show_program(const struct fs *fs, const char *path, char shown[PATH_MAX]);
struct inode *fs_inode(struct fs *fs, const struct stat *status);
/* The file is gone: if the host uses its number again, that is another file. */
void fs_forget(struct fs *fs, const struct stat *status);
uint32_t fs_next_number(struct fs *fs);
/* A guest changed the file: from now on its time is the simulated one of this moment. */
void fs_touch(const struct os_call *call, struct inode *inode);
void fs_touch_folder(const struct os_call *call,
                     int host);                   /* the same for a folder a name was changed in */
struct os_images *fs_images(const struct fs *fs); /* of programs (os_image.c) */
struct os_locks *fs_locks(const struct fs *fs);
void fs_count_open(struct fs *fs, int change);                /* struct files */
bool fs_may_open(const struct os_call *call, unsigned count); /* so many more; else ENFILE */
uint64_t fs_random(struct fs *fs);                            /* the next of /dev/urandom */
const void *fs_change(const struct fs *fs);                   /* what tasks in poll wait for */

/* ---- os_file_pseudo.c: /dev, /proc and /sys ---- */

enum pseudo_kind {
    PSEUDO_NOT, /* an ordinary file */
    PSEUDO_NONE,
    PSEUDO_FOLDER,
    PSEUDO_LINK,
    PSEUDO_TEXT,
    PSEUDO_NULL,
    PSEUDO_ZERO,
    PSEUDO_FULL,
    PSEUDO_RANDOM,
    PSEUDO_TTY,
    PSEUDO_NODE,      /* memory that processes of the node share (os_space.c) */
    PSEUDO_DESCRIPTOR /* /proc/self/fd/N */
};
struct pseudo {
    enum pseudo_kind kind;
    unsigned number; /* of the row, or of the descriptor */
};
struct file;
bool pseudo_area(const char *path); /* below (or at) one of the folders that are pseudo */
struct pseudo pseudo_find(struct os_call *call, const char *path);
int pseudo_link(const struct fs *fs, struct os_call *call, struct pseudo pseudo,
                char target[PATH_MAX]);
void pseudo_stat(struct pseudo pseudo, struct stat *status);
/* The names in a pseudo folder, one after the other from 0; NULL at the end. */
const char *pseudo_name(const char *folder, unsigned index, enum pseudo_kind *kind);
int pseudo_open(struct os_call *call, const char *path, struct pseudo pseudo, unsigned flags,
                struct file **file);

/* ---- os_file_path.c: where a path leads ---- */

enum {
    PLACE_FOLLOW = 1, /* a symbolic link at the end, too */
    PLACE_CHANGE = 2, /* a name is to be made, removed or changed: the sysroot is not looked at */
    PLACE_SYSROOT = 4 /* what is not found is looked for in the sysroot, whatever its path */
};

struct place {
    const struct fs *fs;
    int parent; /* the folder, owned; -1 in a pseudo one */
    int found;  /* what is there, owned, O_PATH; -1: nothing, pseudo, or the folder itself */
    char name[NAME_MAX + 1]; /* in it; "." when the path names the folder itself */
    char path[PATH_MAX];     /* absolute guest path, free of symbolic links and dots */
    struct pseudo pseudo;    /* when it is pseudo */
    bool exists;
    bool slash;         /* written with a slash at the end: must be a folder */
    bool may_change;    /* what is there may be changed */
    bool may_rename;    /* the name may be made, removed or changed */
    struct stat status; /* of what is there; st_mode only when pseudo */
};

int place_find(struct place *place, const struct os_files *files, struct os_call *call,
               const char *base, const char *path, unsigned flags);
/* The same for a path in guest memory, relative to descriptor `folder` (or G_AT_FDCWD). */
int place_of(struct place *place, struct os_call *call, uint32_t folder, uint32_t address,
             unsigned flags);
void place_fini(struct place *place);
/* -EROFS, and a hint for the user, once. */
int place_denied(const struct os_call *call, const struct place *place);
int guest_path(const struct os_call *call, uint32_t address, char path[PATH_MAX]);
/* os_files_open_program with the canonical path of what was opened. */
int files_open_program(const struct os_files *files, const char *guest, char path[PATH_MAX]);

/* Where the names of /proc and /dev lead that execve is given (/proc/self/exe, /proc/self/fd/N);
 * other paths stay as they are. */
int files_real_program(struct os_call *call, const char *path, char real[PATH_MAX]);

/* ---- os_file.c: descriptors ---- */

/* What kinds of files do differently. A NULL `read` or `write` is EINVAL, `seek` ESPIPE; a NULL
 * `poll` is always ready. `at` is where to read or write, negative for the file's own place. `call`
 * may be NULL for files that never wait. */
struct file_ops {
    int64_t (*read)(struct os_call *call, struct file *file, void *bytes, size_t count, int64_t at);
    int64_t (*write)(struct os_call *call, struct file *file, const void *bytes, size_t count,
                     int64_t at);
    int64_t (*seek)(struct file *file, int64_t offset, int whence);
    void (*stat)(struct file *file, struct stat *status);
    unsigned (*poll)(const struct file *file);
    void (*close)(struct file *file);
};

struct folder_list; /* os_file_dir.c */
struct pipe;        /* os_file_pipe.c */

struct file {
    unsigned users;
    const struct file_ops *ops;
    struct fs *fs;  /* shared */
    unsigned flags; /* as F_GETFL returns them */
    uint32_t owner; /* F_SETOWN */
    int host;       /* -1 without */
    bool borrowed;  /* the host's 0, 1, 2: not to be closed */
    bool folder;
    bool may_change;     /* fchmod and the like */
    char *path;          /* canonical guest path, owned; NULL for pipes and the host's 0, 1, 2 */
    struct inode *inode; /* NULL for what is not the host's file */
    uint32_t number;     /* st_ino when `inode` is NULL */
    struct pseudo pseudo;
    char *text; /* PSEUDO_TEXT: all of it */
    size_t text_length;
    int64_t position; /* of text and folders */
    struct folder_list *list;
    struct pipe *pipe;            /* of a socket: that it reads from, */
    struct pipe *out;             /* and that it writes to; NULL: it is no socket */
    bool read_ended, write_ended; /* by shutdown */
};

struct file *file_new(struct fs *fs, const struct file_ops *ops, unsigned flags);
struct file *file_share(struct file *file);
void file_release(struct file *file);
bool file_readable(const struct file *file);
bool file_writable(const struct file *file);

char *file_text(const char *text); /* a copy */

struct fs *files_fs(const struct os_files *files);
const char *files_cwd(const struct os_files *files);
void files_set_cwd(struct os_files *files, const char *path);
/* Takes the file (released on failure); the lowest free number from `lowest` on, or -EMFILE. */
int files_add(struct os_files *files, struct file *file, unsigned lowest, bool close_on_exec);
int files_put(struct os_files *files, struct file *file, unsigned number,
              bool close_on_exec);                                     /* dup2 */
struct file *files_get(const struct os_files *files, uint32_t number); /* NULL: EBADF */
int files_close(struct os_files *files, uint32_t number);
bool *files_close_on_exec(const struct os_files *files, uint32_t number);
unsigned files_limit(const struct os_files *files); /* above every open descriptor */

/* ---- os_file_lock.c ---- */

enum lock_command { LOCK_GET, LOCK_TRY, LOCK_WAIT };
/* fcntl's F_GETLK, F_SETLK and F_SETLKW; `wide` with struct flock64. */
int64_t lock_records(struct os_call *call, struct file *file, enum lock_command command, bool wide,
                     bool of_description);
/* The locks of an open file description end; the record locks of a process, of one file or all. */
void locks_end_file(const struct file *file);
void locks_end_records(const struct os_files *files, const struct file *file);

/* ---- os_file_host.c, os_file_pipe.c, os_file_dir.c: kinds of files ---- */
extern const struct file_ops file_host_ops;
extern const struct file_ops file_folder_ops;
struct file *file_of_host(struct fs *fs, int host, unsigned flags); /* one of 0, 1, 2 */
/* The ends of a pipe, for pipes and sockets. `flags`: PIPE_... */
enum { PIPE_NO_WAIT = 1, PIPE_PEEK = 2, PIPE_WHOLE = 4, PIPE_NO_SIGNAL = 8 };
struct pipe *pipe_new(struct os *os, struct fs *fs); /* with a reader and a writer */
int64_t pipe_take(struct os_call *call, struct file *file, void *bytes, size_t count,
                  unsigned flags);
int64_t pipe_give(struct os_call *call, struct file *file, struct pipe *pipe, const void *bytes,
                  size_t count, unsigned flags);
unsigned pipe_events(const struct pipe *pipe, bool reader);
/* A reader or a writer ends; the last of both ends the pipe. */
void pipe_leave(struct pipe *pipe, const struct fs *fs, bool reader);
/* Takes both files and stores their numbers. */
int64_t files_add_two(struct os_files *files, struct file *first, struct file *second,
                      bool close_on_exec, uint8_t *numbers);
uint32_t pipe_waiting(const struct file *file); /* bytes to be read */
uint32_t pipe_number(const struct file *file);

/* ---- os_file_stat.c ---- */

/* Makes what the host says of a file what a guest sees of it. */
void shown_stat(struct stat *status, const struct inode *inode);

#endif
