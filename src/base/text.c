#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/named.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

int text_file_from_bytes(struct text_file *file, const char *name, const void *bytes, size_t length,
                         struct chil_error *err)
{
    *file = (struct text_file){.name = name};
    if (length > TEXT_FILE_MAX)
        return chil_error_set(err, CHIL_EPARSE, "%s: larger than %d MiB; give a smaller file", name,
                              TEXT_FILE_MAX >> 20);
    if (memchr(bytes, 0, length))
        return chil_error_set(err, CHIL_EPARSE, "%s: has a NUL byte; a text file is wanted", name);
    file->bytes = base_calloc(length + 1, 1);
    memcpy(file->bytes, bytes, length);
    file->next = file->bytes;
    return 0;
}

/* Reads all of fd; *length bytes at the returned address, or NULL with errno set. */
static char *read_all(int fd, size_t *length)
{
    size_t capacity = 0;
    char *bytes = NULL;
    for (*length = 0; *length <= TEXT_FILE_MAX;) {
        bytes = base_grow(bytes, &capacity, *length + 65536, 1);
        ssize_t got = read(fd, bytes + *length, capacity - *length);
        if (got == 0) return bytes;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            free(bytes);
            return NULL;
        }
        *length += (size_t)got;
    }
    return bytes;
}

/* `fd` is closed; negative: errno says why. */
static int take_file(struct text_file *file, const char *path, int fd, struct chil_error *err)
{
    *file = (struct text_file){.name = path};
    if (fd < 0) return chil_error_set(err, CHIL_EIO, "cannot open '%s': %s", path, strerror(errno));
    size_t length;
    char *bytes = read_all(fd, &length);
    int read_errno = errno;
    (void)close(fd);
    if (!bytes)
        return chil_error_set(err, CHIL_EIO, "cannot read '%s': %s", path, strerror(read_errno));
    int status = text_file_from_bytes(file, path, bytes, length, err);
    free(bytes);
    return status;
}

int text_file_open(struct text_file *file, const char *path, struct chil_error *err)
{
    return take_file(file, path, open(path, O_RDONLY | O_CLOEXEC), err);
}

int text_file_open_named(struct text_file *file, const char *path, struct chil_error *err)
{
    int fd = named_open(path, TEXT_FILE_MAX);
    if (fd < 0 && errno == EINVAL) {
        *file = (struct text_file){.name = path};
        return chil_error_set(err, CHIL_EIO, "cannot read '%s': it is not a regular file", path);
    }
    return take_file(file, path, fd, err);
}

void text_file_close(struct text_file *file)
{
    free(file->bytes);
    *file = (struct text_file){0};
}

char *text_next_line(struct text_file *file)
{
    while (file->next && *file->next) {
        char *line = file->next;
        char *end = strchr(line, '\n');
        file->next = end ? end + 1 : NULL;
        if (end) *end = 0;
        file->line++;
        for (char *c = strchr(line, '#'); c; c = strchr(c + 1, '#'))
            if (c == line || is_blank(c[-1])) {
                *c = 0;
                break;
            }
        while (is_blank(*line))
            line++;
        for (char *last = line + strlen(line); last > line && is_blank(last[-1]); last--)
            last[-1] = 0;
        if (*line) return line;
    }
    return NULL;
}

char *text_rest(char **rest)
{
    while (is_blank(**rest))
        (*rest)++;
    return *rest;
}

char *text_next_field(char **rest)
{
    char *field = text_rest(rest);
    if (!*field) return NULL;
    char *end = field;
    while (*end && !is_blank(*end))
        end++;
    *rest = *end ? end + 1 : end;
    *end = 0;
    return field;
}

int text_error(const struct text_file *file, struct chil_error *err, const char *format, ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (!file->line) return chil_error_set(err, CHIL_EPARSE, "%s: %s", file->name, what);
    return chil_error_set(err, CHIL_EPARSE, "%s:%u: %s", file->name, file->line, what);
}

bool text_to_u64(const char *text, uint64_t *value)
{
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    const char *digits = base == 16 ? text + 2 : text;
    if (!isxdigit((unsigned char)*digits) || (base == 10 && !isdigit((unsigned char)*digits)))
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(digits, &end, base);
    if (errno) return false;
    unsigned shift = 0;
    if (*end == 'K') shift = 10;
    if (*end == 'M') shift = 20;
    if (*end == 'G') shift = 30;
    if (shift) end++;
    if (*end || number > UINT64_MAX >> shift) return false;
    *value = (uint64_t)number << shift;
    return true;
}

bool text_is_number(const char *text)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    size_t count = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    const char *end = digits + count;
    return count && (!*end || (strchr("KMG", *end) && !end[1]));
}

/* Edit distance with a swap of neighbours as one step, cut off at names of 63 characters. Case does
 * not matter. */
enum { NEAR_MAX = 64 };

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

static unsigned edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned d[3][NEAR_MAX];
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *row = d[i % 3], *above = d[(i + 2) % 3], *two = d[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] =
                min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !is_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]) &&
                two[j - 2] + 1 < row[j])
                row[j] = two[j - 2] + 1;
        }
    }
    return d[na % 3][nb];
}

/* How many edits may lie between what was typed and what was meant: one in three characters, one
 * at least, never all. A first word that both have ("BGL_") says nothing about the rest. */
static unsigned edits_allowed(const char *name, size_t length, const char *other)
{
    size_t word = strcspn(name, "_");
    if (name[word] && strncasecmp(name, other, word + 1) == 0) length -= word + 1;
    return length < 2 ? 0 : length < 6 ? 1 : (unsigned)length / 3;
}

const char *text_nearest(const char *name, const void *table, size_t count, text_name_at name_at)
{
    size_t length = strlen(name);
    if (length >= NEAR_MAX) return NULL;
    unsigned best = UINT_MAX;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *other = name_at(table, i);
        size_t other_length = strlen(other);
        if (other_length >= NEAR_MAX) continue;
        unsigned distance = edit_distance(name, length, other, other_length);
        if (distance < best && distance <= edits_allowed(name, length, other)) {
            best = distance;
            nearest = other;
        }
    }
    return nearest;
}

const char *text_hint(char *buffer, size_t size, const char *nearest)
{
    if (nearest)
        (void)snprintf(buffer, size, "; did you mean '%s'?", nearest);
    else
        *buffer = 0;
    return buffer;
}
