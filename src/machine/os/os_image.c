/* Copies of programs' files.
 *
 * A file is copied into a sealed host memory file when it is loaded or mapped to be executed. The
 * loader, and later the readers of symbols and source lines (src/measure/observe), use the copy. So
 * a guest that cuts, overwrites or replaces its own program changes nothing for them: no SIGBUS, no
 * FIFO that never ends, no other file behind the name.
 *
 * A run has one copy of a file as long as its number, size and times are the same. Blocks of zeros
 * take no memory. Files over IMAGE_MAX are refused.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

enum { BLOCK = 1 << 16 };
#define IMAGE_MAX (UINT64_C(1) << 30)

/* Shared by the nodes of a run, and by the images themselves; the lock is for nodes in threads. */
struct os_images {
    pthread_mutex_t lock;
    unsigned users;
    struct os_image *first;
};

struct os_image {
    unsigned users; /* under the lock of `all` */
    int fd;
    struct stat status; /* of the file */
    struct os_images *all;
    struct os_image *next;
};

static bool is_of(const struct os_image *image, const struct stat *status)
{
    const struct stat *own = &image->status;
    return own->st_dev == status->st_dev && own->st_ino == status->st_ino &&
           own->st_size == status->st_size &&
           memcmp(&own->st_mtim, &status->st_mtim, sizeof own->st_mtim) == 0 &&
           memcmp(&own->st_ctim, &status->st_ctim, sizeof own->st_ctim) == 0;
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Up to `size` bytes; a file that becomes shorter meanwhile ends in zeros. */
static int copy_bytes(int from, int to, uint64_t size)
{
    uint8_t *block = base_calloc(BLOCK, 1);
    int status = 0;
    for (uint64_t done = 0; done < size && !status;) {
        size_t wanted = size - done < BLOCK ? (size_t)(size - done) : BLOCK;
        ssize_t got = pread(from, block, wanted, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = -errno;
        if (got <= 0) break;
        if (!is_zero(block, (size_t)got) && pwrite(to, block, (size_t)got, (off_t)done) != got)
            status = -ENOMEM;
        done += (uint64_t)got;
    }
    free(block);
    return status;
}

static int make_copy(int from, uint64_t size)
{
    int fd = memfd_create("chiliad program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -errno;
    int status = ftruncate(fd, (off_t)size) == 0 ? copy_bytes(from, fd, size) : -ENOMEM;
    if (!status &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        status = -errno;
    if (!status) return fd;
    (void)close(fd);
    return status;
}

struct os_images *os_images_new(void)
{
    struct os_images *all = base_calloc(1, sizeof *all);
    all->users = 1;
    (void)pthread_mutex_init(&all->lock, NULL);
    return all;
}

struct os_images *os_images_share(struct os_images *all)
{
    (void)pthread_mutex_lock(&all->lock);
    all->users++;
    (void)pthread_mutex_unlock(&all->lock);
    return all;
}

void os_images_release(struct os_images *all)
{
    if (!all) return;
    (void)pthread_mutex_lock(&all->lock);
    bool last = !--all->users;
    (void)pthread_mutex_unlock(&all->lock);
    if (!last) return;
    (void)pthread_mutex_destroy(&all->lock);
    free(all);
}

static int find_or_copy(struct os_image **image, struct os_images *all, int fd,
                        const struct stat *status)
{
    for (struct os_image *old = all->first; old; old = old->next)
        if (is_of(old, status)) {
            old->users++;
            *image = old;
            return 0;
        }
    int copy = make_copy(fd, (uint64_t)status->st_size);
    if (copy < 0) return copy;
    struct os_image *new = base_calloc(1, sizeof *new);
    *new = (struct os_image){
        .users = 1, .fd = copy, .status = *status, .all = all, .next = all->first};
    all->first = new;
    all->users++;
    *image = new;
    return 0;
}

int os_image_of(struct os_image **image, struct os_images *all, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) return -errno;
    if (!S_ISREG(status.st_mode)) return -EACCES;
    if ((uint64_t)status.st_size > IMAGE_MAX) return -EFBIG;
    (void)pthread_mutex_lock(&all->lock);
    int result = find_or_copy(image, all, fd, &status);
    (void)pthread_mutex_unlock(&all->lock);
    return result;
}

struct os_image *os_image_share(struct os_image *image)
{
    (void)pthread_mutex_lock(&image->all->lock);
    image->users++;
    (void)pthread_mutex_unlock(&image->all->lock);
    return image;
}

void os_image_release(struct os_image *image)
{
    if (!image) return;
    struct os_images *all = image->all;
    (void)pthread_mutex_lock(&all->lock);
    bool last = !--image->users;
    for (struct os_image **at = &all->first; last && *at; at = &(*at)->next)
        if (*at == image) {
            *at = image->next;
            break;
        }
    (void)pthread_mutex_unlock(&all->lock);
    if (!last) return;
    (void)close(image->fd);
    free(image);
    os_images_release(all);
}

int os_image_descriptor(const struct os_image *image)
{
    return image->fd;
}

/* FNV-1a, 64 bits: enough to see that two programs are not the same. */
bool os_image_hash(const struct os_image *image, uint64_t *hash)
{
    uint8_t *block = base_calloc(BLOCK, 1);
    ssize_t got;
    *hash = UINT64_C(0xcbf29ce484222325);
    for (off_t at = 0; (got = pread(image->fd, block, BLOCK, at)) > 0; at += got)
        for (ssize_t i = 0; i < got; i++)
            *hash = (*hash ^ block[i]) * UINT64_C(0x100000001b3);
    free(block);
    return got == 0;
}
