/* System calls of files, folders, pipes and memory: the handlers that os_file_calls.def names.
 *
 * What the guest may see and change of the host's files is decided in os_file_path.c (where a path leads) and
 * os_file_rules.c (what may be written); the made-up parts of the tree, /dev, /proc and /sys, are in os_file_made.c.
 * What a result shows never depends on the host beyond the files' names, contents, permissions and times.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include "os/os_impl.h"

/* One declaration per handler; several rows share one. */
#define OS_FILE_HANDLERS(X)                                                                                            \
    X(access)                                                                                                          \
    X(brk) X(chdir) X(chmod) X(chown) X(close) X(close_range) X(copy_file_range) X(creat) X(dup) X(dup2) X(dup3)       \
        X(faccessat) X(faccessat2) X(fallocate) X(fchdir) X(fchmod) X(fchmodat) X(fchown) X(fchownat) X(fcntl)         \
            X(file_advice) X(fstat) X(fstat64) X(fstatat64) X(fstatfs) X(fstatfs64) X(fsync) X(ftruncate)              \
                X(ftruncate64) X(futimesat) X(getcwd) X(getdents) X(getdents64) X(ioctl) X(link) X(linkat) X(llseek)   \
                    X(lseek) X(lstat) X(lstat64) X(madvise) X(memory_advice) X(mincore) X(mkdir) X(mkdirat) X(mmap)    \
                        X(mmap2) X(mprotect) X(mremap) X(msync) X(munmap) X(no_socket) X(no_xattr) X(not_permitted)    \
                            X(open) X(openat) X(openat2) X(pipe) X(pipe2) X(poll) X(ppoll) X(ppoll_time64) X(pread64)  \
                                X(preadv) X(preadv2) X(pselect6) X(pselect6_time64) X(pwrite64) X(pwritev) X(pwritev2) \
                                    X(read) X(readlink) X(readlinkat) X(readv) X(rename) X(renameat) X(renameat2)      \
                                        X(rmdir) X(select) X(sendfile) X(sendfile64) X(stat) X(stat64) X(statfs)       \
                                            X(statfs64) X(statx) X(symlink) X(symlinkat) X(sync) X(truncate)           \
                                                X(truncate64) X(umask) X(unlink) X(unlinkat) X(utime) X(utimensat)     \
                                                    X(utimensat_time64) X(utimes) X(write) X(writev)

#define OS_FILE_DECLARE(name) int64_t sys_##name(struct os_call *call);
OS_FILE_HANDLERS(OS_FILE_DECLARE)
#undef OS_FILE_DECLARE

#endif
