/* Locks of files: flock, and the record locks of fcntl.
 *
 * A lock keeps out the other processes of the run, on its node and on all others. Programs outside
 * of the simulator and other runs are not kept out: when they let go depends on the host's time.
 *
 *   kind     belongs to               covers   ends with
 *   flock    open file description    all      LOCK_UN, the last close
 *   record   table of descriptors     a range  F_UNLCK, any close of the file, the process
 *   OFD      open file description    a range  F_UNLCK, the last close
 *
 * flock and the other two do not see each other, as on Linux. A record lock that would wait for
 * itself around a circle of processes of one node is EDEADLK.
 *
 * Who waits for a lock of its own node is woken when one ends. The end of a lock of another node is
 * seen by looking again every RETRY cycles. Requests come in the order of simulated time over all
 * nodes, but a process may end before its node's turn; so a lock that ended stays in the list with
 * that moment, until a request is later.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/os/os_file.h"

enum { RETRY = 10000, LOCKS_MAX = 65536 };
enum { READ_LOCK = 0, WRITE_LOCK = 1, UNLOCK = 2 }; /* l_type */

enum lock_kind { LOCK_FLOCK, LOCK_RECORD, LOCK_OFD };

struct lock_file {
    const void *fs; /* for what is no file of the host */
    uint64_t device, number;
};

struct lock {
    struct lock *next;
    struct lock_file file;
    enum lock_kind kind;
    const void *owner; /* a struct file or a struct os_files; NULL when it ended */
    bool exclusive;
    int64_t first, last; /* bytes */
    int pid;
    struct os *os;
    uint64_t ended; /* the cycle; UINT64_MAX while it is held */
};

/* Shared by the nodes of a run; the mutex is for nodes in threads. */
struct os_locks {
    pthread_mutex_t mutex;
    unsigned users; /* file systems, and the run */
    unsigned count;
    struct lock *list;
};

struct os_locks *os_locks_new(void)
{
    struct os_locks *locks = base_calloc(1, sizeof *locks);
    (void)pthread_mutex_init(&locks->mutex, NULL);
    locks->users = 1;
    return locks;
}

struct os_locks *os_locks_share(struct os_locks *locks)
{
    (void)pthread_mutex_lock(&locks->mutex);
    locks->users++;
    (void)pthread_mutex_unlock(&locks->mutex);
    return locks;
}

void os_locks_release(struct os_locks *locks)
{
    if (!locks) return;
    (void)pthread_mutex_lock(&locks->mutex);
    unsigned users = --locks->users;
    (void)pthread_mutex_unlock(&locks->mutex);
    if (users) return;
    while (locks->list) {
        struct lock *next = locks->list->next;
        free(locks->list);
        locks->list = next;
    }
    (void)pthread_mutex_destroy(&locks->mutex);
    free(locks);
}

/* ---- the list; the mutex is held ---- */

static bool is_same_file(const struct lock_file *a, const struct lock_file *b)
{
    return a->fs == b->fs && a->device == b->device && a->number == b->number;
}

static bool is_own(const struct lock *lock, const struct lock *wish)
{
    return lock->owner == wish->owner && lock->kind == wish->kind &&
           is_same_file(&lock->file, &wish->file);
}

static bool overlaps(const struct lock *lock, const struct lock *wish)
{
    return lock->first <= wish->last && wish->first <= lock->last;
}

static void add(struct os_locks *locks, const struct lock *model)
{
    struct lock *lock = base_calloc(1, sizeof *lock);
    *lock = *model;
    lock->next = locks->list;
    locks->list = lock;
    locks->count++;
}

static void remove_at(struct os_locks *locks, struct lock **at)
{
    struct lock *lock = *at;
    *at = lock->next;
    locks->count--;
    free(lock);
}

static void forget_ended(struct os_locks *locks, uint64_t now)
{
    for (struct lock **at = &locks->list; *at;)
        if ((*at)->ended <= now)
            remove_at(locks, at);
        else
            at = &(*at)->next;
}

/* The first lock that keeps `wish` out. */
static const struct lock *conflict(const struct os_locks *locks, const struct lock *wish)
{
    for (const struct lock *lock = locks->list; lock; lock = lock->next)
        if (is_same_file(&lock->file, &wish->file) && !is_own(lock, wish) &&
            (lock->kind == LOCK_FLOCK) == (wish->kind == LOCK_FLOCK) && overlaps(lock, wish) &&
            (lock->exclusive || wish->exclusive))
            return lock;
    return NULL;
}

/* Takes the range of `wish` out of the owner's locks; whether there was any. */
static bool cut(struct os_locks *locks, const struct lock *wish)
{
    bool any = false;
    for (struct lock **at = &locks->list; *at;) {
        struct lock *lock = *at;
        if (!is_own(lock, wish) || !overlaps(lock, wish)) {
            at = &lock->next;
            continue;
        }
        any = true;
        struct lock rest = *lock;
        bool left = lock->first < wish->first;
        bool right = lock->last > wish->last;
        if (left) {
            lock->last = wish->first - 1;
            at = &lock->next;
        } else {
            remove_at(locks, at);
        }
        if (!right) continue;
        rest.first = wish->last + 1;
        add(locks, &rest); /* in front, which the loop has passed */
    }
    return any;
}

static void merge_into(struct os_locks *locks, struct lock *wish)
{
    for (struct lock **at = &locks->list; *at;) {
        struct lock *lock = *at;
        bool touches = (wish->first == 0 || lock->last >= wish->first - 1) &&
                       (lock->first == 0 || lock->first - 1 <= wish->last);
        if (!is_own(lock, wish) || lock->exclusive != wish->exclusive || !touches) {
            at = &lock->next;
            continue;
        }
        if (lock->first < wish->first) wish->first = lock->first;
        if (lock->last > wish->last) wish->last = lock->last;
        remove_at(locks, at);
    }
}

static bool set(struct os_locks *locks, struct lock *wish)
{
    bool any = cut(locks, wish);
    merge_into(locks, wish);
    add(locks, wish);
    return any;
}

/* ---- the end of a file or of a process ---- */

static void end_locks(struct os_locks *locks, const void *owner, const struct lock_file *file)
{
    struct os *os = NULL;
    (void)pthread_mutex_lock(&locks->mutex);
    for (struct lock *lock = locks->list; lock; lock = lock->next) {
        if (lock->owner != owner || (file && !is_same_file(&lock->file, file))) continue;
        os = lock->os;
        lock->owner = NULL;
        lock->ended = os_now(os);
    }
    (void)pthread_mutex_unlock(&locks->mutex);
    if (os) os_wake_all(os, locks);
}

static struct lock_file file_key(const struct file *file)
{
    struct stat status;
    if (file->host >= 0 && fstat(file->host, &status) == 0)
        return (struct lock_file){NULL, status.st_dev, status.st_ino};
    return (struct lock_file){file->fs, file->pseudo.kind,
                              file->pipe ? pipe_number(file) : file->pseudo.number};
}

void locks_end_file(const struct file *file)
{
    end_locks(fs_locks(file->fs), file, NULL);
}

void locks_end_records(const struct os_files *files, const struct file *file)
{
    struct lock_file key = {0};
    if (file) key = file_key(file);
    end_locks(fs_locks(files_fs(files)), files, file ? &key : NULL);
}

/* ---- requests ---- */

static struct lock wish_of(const struct os_call *call, const struct file *file, enum lock_kind kind)
{
    return (struct lock){.file = file_key(file),
                         .kind = kind,
                         .owner = kind == LOCK_RECORD ? (const void *)call->process->files
                                                      : (const void *)file,
                         .last = INT64_MAX,
                         .pid = kind == LOCK_OFD ? -1 : call->process->pid,
                         .os = call->os,
                         .ended = UINT64_MAX};
}

/* Whether the holder waits, over others, for what the caller has. */
static bool is_circle(const struct os_call *call, const struct lock *wish, const void *holder)
{
    const struct os_locks *locks = fs_locks(files_fs(call->process->files));
    for (unsigned steps = 0; steps < LOCKS_MAX; steps++) {
        if (holder == wish->owner) return true;
        const struct os_task *task = NULL;
        do
            task = os_next_waiting(call->os, locks, task);
        while (task && (task->process->files != holder || !task->lock_holder));
        if (!task) return false;
        holder = task->lock_holder;
    }
    return false;
}

static int64_t wait_for(struct os_call *call, const struct lock *wish, const void *holder)
{
    struct os_locks *locks = fs_locks(files_fs(call->process->files));
    bool record = wish->kind == LOCK_RECORD;
    if (record && is_circle(call, wish, holder)) return -EDEADLK;
    call->task->lock_holder = record ? holder : NULL;
    return os_wait(call, locks, locks->users > 2 ? RETRY : UINT64_MAX);
}

/* Locks, or unlocks when `unlock`; 0, -errno or OS_WAIT. */
static int64_t request(struct os_call *call, struct lock *wish, bool unlock, bool waits)
{
    struct os_locks *locks = fs_locks(files_fs(call->process->files));
    const struct lock *other = NULL;
    const void *holder = NULL;
    (void)pthread_mutex_lock(&locks->mutex);
    forget_ended(locks, os_now(call->os));
    bool is_full = locks->count >= LOCKS_MAX, ended = false;
    if (unlock || (wish->kind == LOCK_FLOCK && !call->again)) ended = cut(locks, wish);
    if (!unlock) other = conflict(locks, wish);
    if (other) holder = other->owner;
    if (!unlock && !other && !is_full) ended |= set(locks, wish);
    (void)pthread_mutex_unlock(&locks->mutex);
    if (ended) os_wake_all(call->os, locks);
    if (other) return waits ? wait_for(call, wish, holder) : -EAGAIN;
    return !unlock && is_full ? -ENOLCK : 0;
}

int64_t sys_flock(struct os_call *call)
{
    enum { SHARED = 1, EXCLUSIVE = 2, NO_WAIT = 4, FREE = 8 };
    uint32_t what = call->arg[1] & ~(uint32_t)NO_WAIT;
    const struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file) return -EBADF;
    if (what != SHARED && what != EXCLUSIVE && what != FREE) return -EINVAL;
    if (file->flags & G_O_PATH) return -EBADF;
    struct lock wish = wish_of(call, file, LOCK_FLOCK);
    wish.exclusive = what == EXCLUSIVE;
    return request(call, &wish, what == FREE, !(call->arg[1] & NO_WAIT));
}

/* ---- struct flock and flock64 ----
 *
 *             l_type l_whence l_start l_len l_pid
 *   flock     0      2        4       8     12
 *   flock64   0      2        8       16    24
 */

static bool read_offset(struct os_call *call, uint32_t at, bool wide, int64_t *value)
{
    uint64_t both;
    uint32_t word;
    if (wide ? !mem_get64(call->mem, at, &both) : !mem_get32(call->mem, at, &word)) return false;
    *value = wide ? (int64_t)both : (int32_t)word;
    return true;
}

static bool write_offset(struct os_call *call, uint32_t at, bool wide, int64_t value)
{
    return wide ? mem_put64(call->mem, at, (uint64_t)value)
                : mem_put32(call->mem, at, (uint32_t)value);
}

static int64_t base_of(struct file *file, unsigned whence)
{
    struct stat status = {0};
    if (whence == SEEK_SET) return 0;
    if (whence == SEEK_CUR) {
        int64_t at = file->ops->seek ? file->ops->seek(file, 0, SEEK_CUR) : 0;
        return at < 0 ? 0 : at;
    }
    return file->host >= 0 && fstat(file->host, &status) == 0 ? status.st_size : 0;
}

static int read_range(struct os_call *call, struct file *file, bool wide, unsigned *type,
                      struct lock *wish)
{
    uint32_t head, at = call->arg[2];
    int64_t start, length, base;
    if (!mem_get32(call->mem, at, &head) || !read_offset(call, at + (wide ? 8 : 4), wide, &start) ||
        !read_offset(call, at + (wide ? 16 : 8), wide, &length))
        return -EFAULT;
    *type = head >> 16;
    unsigned whence = head & 0xffff;
    if (*type > UNLOCK || whence > SEEK_END) return -EINVAL;
    base = base_of(file, whence);
    if (start > 0 && base > INT64_MAX - start) return -EOVERFLOW;
    wish->first = base + start;
    if (wish->first < 0) return -EINVAL;
    if (length > 0) {
        if (length - 1 > INT64_MAX - wish->first) return -EOVERFLOW;
        wish->last = wish->first + length - 1;
    } else if (length < 0) {
        if (length < -wish->first) return -EINVAL;
        wish->last = wish->first - 1;
        wish->first += length;
    }
    wish->exclusive = *type == WRITE_LOCK;
    return 0;
}

static int64_t find_lock(struct os_call *call, const struct lock *wish, bool wide)
{
    struct os_locks *locks = fs_locks(files_fs(call->process->files));
    uint32_t at = call->arg[2];
    (void)pthread_mutex_lock(&locks->mutex);
    forget_ended(locks, os_now(call->os));
    const struct lock *found = conflict(locks, wish);
    struct lock other = found ? *found : *wish;
    (void)pthread_mutex_unlock(&locks->mutex);
    if (!found) {
        uint8_t *type = mem_writable(call->mem, at, 2);
        if (!type) return -EFAULT;
        type[0] = 0;
        type[1] = UNLOCK;
        return 0;
    }
    int64_t length = other.last == INT64_MAX ? 0 : other.last - other.first + 1;
    if (!wide && (other.first > INT32_MAX || length > INT32_MAX)) return -EOVERFLOW;
    uint32_t head = (uint32_t)(other.exclusive ? WRITE_LOCK : READ_LOCK) << 16 | SEEK_SET;
    bool done = mem_put32(call->mem, at, head) &&
                write_offset(call, at + (wide ? 8 : 4), wide, other.first) &&
                write_offset(call, at + (wide ? 16 : 8), wide, length) &&
                mem_put32(call->mem, at + (wide ? 24 : 12), (uint32_t)other.pid);
    return done ? 0 : -EFAULT;
}

int64_t lock_records(struct os_call *call, struct file *file, enum lock_command command, bool wide,
                     bool of_description)
{
    unsigned type;
    uint32_t pid = 0;
    struct lock wish = wish_of(call, file, of_description ? LOCK_OFD : LOCK_RECORD);
    int wrong = read_range(call, file, wide, &type, &wish);
    if (wrong) return wrong;
    if (of_description && !mem_get32(call->mem, call->arg[2] + 24, &pid)) return -EFAULT;
    if (pid) return -EINVAL;
    if (command == LOCK_GET) return type == UNLOCK ? -EINVAL : find_lock(call, &wish, wide);
    if (type == READ_LOCK && !file_readable(file)) return -EBADF;
    if (type == WRITE_LOCK && !file_writable(file)) return -EBADF;
    return request(call, &wish, type == UNLOCK, command == LOCK_WAIT);
}
