/* The tar container of .cubex files.
 *
 * libarchive writes it but cannot read all of them: cubelib pads a member whose size is a multiple
 * of 512 with one more block, and its release 4.8.0 wrote wrong checksums. So this file reads the
 * headers itself, as cubelib does: it skips zero blocks, and a member starts at each header. A
 * truncated archive yields its complete members.
 */
#include "analyze/exp/exp_cube.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, NAME = 100, SIZE_AT = 124, SIZE_DIGITS = 12, TYPE_AT = 156, MAGIC_AT = 257 };

struct member {
    char name[NAME + 1];
    struct exp_span span;
};

struct exp_tar {
    struct member *member;
    size_t members, room;
    bool whole; /* no member is cut off, and a zero block comes after the last */
};

bool exp_is_tar(const uint8_t *bytes, size_t size)
{
    return size >= BLOCK && memcmp(bytes + MAGIC_AT, "ustar", 5) == 0;
}

/* Octal digits, or GNU tar's big-endian number behind a set top bit. */
static uint64_t size_of(const uint8_t *header)
{
    const uint8_t *field = header + SIZE_AT;
    uint64_t size = 0;
    if (field[0] & 0x80) {
        for (int i = SIZE_DIGITS - 8; i < SIZE_DIGITS; i++)
            size = size << 8 | field[i];
        return size;
    }
    for (int i = 0;
         i < SIZE_DIGITS && field[i] && (field[i] == ' ' || (field[i] >= '0' && field[i] <= '7'));
         i++)
        if (field[i] != ' ') size = size << 3 | (unsigned)(field[i] - '0');
    return size;
}

/* The size that a pax header gives to the member after it, in its record "NN size=N\n"; 0: it gives
 * none. */
static uint64_t pax_size(const uint8_t *bytes, size_t size)
{
    const uint8_t *at = memmem(bytes, size, " size=", 6), *end = bytes + size;
    uint64_t value = 0;
    for (at = at ? at + 6 : end; at < end && *at >= '0' && *at <= '9' && value < UINT64_MAX / 16;
         at++)
        value = value * 10 + (unsigned)(*at - '0');
    return value;
}

static void add_member(struct exp_tar *tar, const uint8_t *header, const uint8_t *bytes,
                       size_t size)
{
    tar->member = base_grow(tar->member, &tar->room, tar->members + 1, sizeof *tar->member);
    struct member *m = &tar->member[tar->members++];
    *m = (struct member){.span = {bytes, size}};
    memcpy(m->name, header, NAME);
    if (strncmp(m->name, "./", 2) == 0) memmove(m->name, m->name + 2, NAME - 1);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->span.byte > y->span.byte) - (x->span.byte < y->span.byte);
}

struct exp_tar *exp_tar_open(const uint8_t *bytes, size_t size)
{
    struct exp_tar *tar = base_calloc(1, sizeof *tar);
    uint64_t announced = 0;
    for (size_t at = 0; size >= BLOCK && at <= size - BLOCK;) {
        const uint8_t *header = bytes + at;
        at += BLOCK;
        if (memcmp(header + MAGIC_AT, "ustar", 5) != 0) { /* padding or the end */
            tar->whole = true;
            continue;
        }
        tar->whole = false;
        uint64_t length = announced ? announced : size_of(header);
        announced = 0;
        if (length > size - at) break; /* cut off */
        if (header[TYPE_AT] == 'x')
            announced = pax_size(bytes + at, (size_t)length);
        else if (header[TYPE_AT] == '0' || header[TYPE_AT] == 0)
            add_member(tar, header, bytes + at, (size_t)length);
        size_t padded = ((size_t)length + BLOCK - 1) / BLOCK * BLOCK;
        at = padded > size - at ? size : at + padded;
    }
    if (tar->members) qsort(tar->member, tar->members, sizeof *tar->member, compare_members);
    return tar;
}

bool exp_tar_whole(const struct exp_tar *tar)
{
    return tar->whole;
}

struct exp_span exp_tar_find(const struct exp_tar *tar, const char *name)
{
    size_t low = 0, high = tar->members;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(tar->member[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < tar->members && strcmp(tar->member[low].name, name) == 0)
        return tar->member[low].span;
    return (struct exp_span){NULL, 0};
}

void exp_tar_free(struct exp_tar *tar)
{
    if (!tar) return;
    free(tar->member);
    free(tar);
}

/* --- Writing --------------------------------------------------------------------------------- */

static int fail(struct archive *archive, struct chil_error *err)
{
    int why = archive_errno(archive);
    return chil_error_set(err, CHIL_EIO, "%s", why > 0 ? strerror(why) : "unknown error");
}

struct archive *exp_tar_create(int fd)
{
    struct archive *archive = archive_write_new();
    if (!archive) return NULL;
    if (archive_write_set_format_ustar(archive) == ARCHIVE_OK &&
        archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK &&
        archive_write_set_bytes_per_block(archive, 1 << 20) == ARCHIVE_OK &&
        archive_write_open_fd(archive, fd) == ARCHIVE_OK)
        return archive;
    (void)archive_write_free(archive);
    return NULL;
}

int exp_tar_add(struct archive *archive, const char *name, const void *bytes, size_t size,
                struct chil_error *err)
{
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return chil_error_set(err, CHIL_EIO, "out of memory");
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_entry_set_mtime(entry, 0, 0); /* the same experiment gives the same bytes */
    archive_entry_set_uname(entry, "nouser");
    archive_entry_set_gname(entry, "users");
    bool good = archive_write_header(archive, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    for (size_t done = 0; good && done < size;) {
        la_ssize_t wrote = archive_write_data(archive, (const char *)bytes + done, size - done);
        good = wrote > 0;
        if (good) done += (size_t)wrote;
    }
    return good ? 0 : fail(archive, err);
}

int exp_tar_close(struct archive *archive, struct chil_error *err)
{
    int status = archive_write_close(archive) == ARCHIVE_OK ? 0 : fail(archive, err);
    (void)archive_write_free(archive);
    return status;
}
