/* System calls of files, folders, pipes and memory: the handlers that os_file_calls.def names.
 *
 * What the guest may see and change of the host's files is decided in os_file_path.c (where a path
 * leads) and os_file_rules.c (what may be written); the pseudo parts of the tree, /dev, /proc and
 * /sys, are in os_file_pseudo.c. What a result shows never depends on the host beyond the files'
 * names, contents, permissions and times.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include "machine/os/os_impl.h"

/* One for each handler in the rows; several rows share one. */
int64_t sys_access(struct os_call *call);
int64_t sys_brk(struct os_call *call);
int64_t sys_chdir(struct os_call *call);
int64_t sys_chmod(struct os_call *call);
int64_t sys_chown(struct os_call *call);
int64_t sys_lchown(struct os_call *call);
int64_t sys_close(struct os_call *call);
int64_t sys_close_range(struct os_call *call);
int64_t sys_copy_file_range(struct os_call *call);
int64_t sys_creat(struct os_call *call);
int64_t sys_dup(struct os_call *call);
int64_t sys_dup2(struct os_call *call);
int64_t sys_dup3(struct os_call *call);
int64_t sys_faccessat(struct os_call *call);
int64_t sys_faccessat2(struct os_call *call);
int64_t sys_fallocate(struct os_call *call);
int64_t sys_fchdir(struct os_call *call);
int64_t sys_fchmod(struct os_call *call);
int64_t sys_fchmodat(struct os_call *call);
int64_t sys_fchown(struct os_call *call);
int64_t sys_fchownat(struct os_call *call);
int64_t sys_fcntl(struct os_call *call);
int64_t sys_file_advice(struct os_call *call);
int64_t sys_flock(struct os_call *call);
int64_t sys_fstat(struct os_call *call);
int64_t sys_fstat64(struct os_call *call);
int64_t sys_fstatat64(struct os_call *call);
int64_t sys_fstatfs(struct os_call *call);
int64_t sys_fstatfs64(struct os_call *call);
int64_t sys_fsync(struct os_call *call);
int64_t sys_ftruncate(struct os_call *call);
int64_t sys_ftruncate64(struct os_call *call);
int64_t sys_futimesat(struct os_call *call);
int64_t sys_getcwd(struct os_call *call);
int64_t sys_getdents(struct os_call *call);
int64_t sys_getdents64(struct os_call *call);
int64_t sys_ioctl(struct os_call *call);
int64_t sys_link(struct os_call *call);
int64_t sys_linkat(struct os_call *call);
int64_t sys_llseek(struct os_call *call);
int64_t sys_lseek(struct os_call *call);
int64_t sys_lstat(struct os_call *call);
int64_t sys_lstat64(struct os_call *call);
int64_t sys_madvise(struct os_call *call);
int64_t sys_mlock(struct os_call *call);
int64_t sys_mlockall(struct os_call *call);
int64_t sys_mincore(struct os_call *call);
int64_t sys_mkdir(struct os_call *call);
int64_t sys_mkdirat(struct os_call *call);
int64_t sys_mmap(struct os_call *call);
int64_t sys_mmap2(struct os_call *call);
int64_t sys_mprotect(struct os_call *call);
int64_t sys_mremap(struct os_call *call);
int64_t sys_msync(struct os_call *call);
int64_t sys_munlockall(struct os_call *call);
int64_t sys_munmap(struct os_call *call);
int64_t sys_no_socket(struct os_call *call);
int64_t sys_no_xattr(struct os_call *call);
int64_t sys_not_permitted(struct os_call *call);
int64_t sys_open(struct os_call *call);
int64_t sys_openat(struct os_call *call);
int64_t sys_openat2(struct os_call *call);
int64_t sys_pipe(struct os_call *call);
int64_t sys_pipe2(struct os_call *call);
int64_t sys_socketpair(struct os_call *call); /* os_file_socket.c */
int64_t sys_send(struct os_call *call);
int64_t sys_recv(struct os_call *call);
int64_t sys_recvfrom(struct os_call *call);
int64_t sys_sendmsg(struct os_call *call);
int64_t sys_recvmsg(struct os_call *call);
int64_t sys_shutdown(struct os_call *call);
int64_t sys_getsockname(struct os_call *call);
int64_t sys_getsockopt(struct os_call *call);
int64_t sys_poll(struct os_call *call);
int64_t sys_ppoll(struct os_call *call);
int64_t sys_ppoll_time64(struct os_call *call);
int64_t sys_pread64(struct os_call *call);
int64_t sys_preadv(struct os_call *call);
int64_t sys_preadv2(struct os_call *call);
int64_t sys_pselect6(struct os_call *call);
int64_t sys_pselect6_time64(struct os_call *call);
int64_t sys_pwrite64(struct os_call *call);
int64_t sys_pwritev(struct os_call *call);
int64_t sys_pwritev2(struct os_call *call);
int64_t sys_read(struct os_call *call);
int64_t sys_readlink(struct os_call *call);
int64_t sys_readlinkat(struct os_call *call);
int64_t sys_readv(struct os_call *call);
int64_t sys_rename(struct os_call *call);
int64_t sys_renameat(struct os_call *call);
int64_t sys_renameat2(struct os_call *call);
int64_t sys_rmdir(struct os_call *call);
int64_t sys_select(struct os_call *call);
int64_t sys_sendfile(struct os_call *call);
int64_t sys_sendfile64(struct os_call *call);
int64_t sys_stat(struct os_call *call);
int64_t sys_stat64(struct os_call *call);
int64_t sys_statfs(struct os_call *call);
int64_t sys_statfs64(struct os_call *call);
int64_t sys_statx(struct os_call *call);
int64_t sys_symlink(struct os_call *call);
int64_t sys_symlinkat(struct os_call *call);
int64_t sys_sync(struct os_call *call);
int64_t sys_truncate(struct os_call *call);
int64_t sys_truncate64(struct os_call *call);
int64_t sys_umask(struct os_call *call);
int64_t sys_unlink(struct os_call *call);
int64_t sys_unlinkat(struct os_call *call);
int64_t sys_utime(struct os_call *call);
int64_t sys_utimensat(struct os_call *call);
int64_t sys_utimensat_time64(struct os_call *call);
int64_t sys_utimes(struct os_call *call);
int64_t sys_write(struct os_call *call);
int64_t sys_writev(struct os_call *call);

#endif
