/* Reads experiments: .cubex or .cube, compressed with gzip or not, recognised by content. */
#include "analyze/exp/exp_cube.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { STEP = 1 << 16 };
enum kind { IS_TAR, IS_XML, IS_OTHER };

static bool is_gzip(const uint8_t *bytes, size_t size)
{
    return size > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/* Unpacks gzip into memory that the caller frees. */
static int unpack(struct exp_bytes *to, const char *name, const uint8_t *bytes, size_t size,
                  size_t most, struct chil_error *err)
{
    enum { WINDOW = 15 + 16 /* gzip */ };
    z_stream stream = {.next_in = (Bytef *)bytes};
    size_t left = size;
    int state = inflateInit2(&stream, WINDOW);
    while (state == Z_OK && to->size <= most) {
        if (!stream.avail_in) {
            stream.avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
            left -= stream.avail_in;
        }
        uint8_t *out = exp_bytes_add(to, STEP);
        stream.next_out = out;
        stream.avail_out = STEP;
        state = inflate(&stream, Z_NO_FLUSH);
        to->size -= stream.avail_out;
    }
    (void)inflateEnd(&stream);
    if (to->size > most)
        return chil_error_set(err, CHIL_EPARSE, "%s: too large when unpacked", name);
    return state == Z_STREAM_END
               ? 0
               : chil_error_set(err, CHIL_EPARSE, "%s: gzip data is damaged or cut off", name);
}

static int read_anchor(struct cube_doc *doc, struct exp_span anchor, struct chil_error *err)
{
    struct exp_bytes unpacked = {0};
    int status = 0;
    if (is_gzip(anchor.byte, anchor.size)) {
        status = unpack(&unpacked, doc->name, anchor.byte, anchor.size, EXP_XML_MAX, err);
        anchor = (struct exp_span){unpacked.byte, unpacked.size};
    }
    if (!status && anchor.size > EXP_XML_MAX)
        status = chil_error_set(err, CHIL_EPARSE, "%s: anchor.xml is too large", doc->name);
    if (!status) status = exp_xml_read(doc, anchor.byte, anchor.size, err);
    free(unpacked.byte);
    return status;
}

/* A metric without index and data is zero everywhere, as in cubelib; with one of the two the file
 * is damaged. */
static int read_metric(struct cube_doc *doc, const struct exp_tar *tar,
                       const struct cube_metric *metric, const uint32_t *wide,
                       struct chil_error *err)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%d.index", metric->id);
    struct exp_span index = exp_tar_find(tar, name);
    (void)snprintf(name, sizeof name, "%d.data", metric->id);
    struct exp_span data = exp_tar_find(tar, name);
    if (!index.byte && !data.byte && exp_tar_whole(tar)) return 0;
    if (!index.byte || !data.byte)
        return chil_error_set(err, CHIL_EPARSE, "%s: metric '%s' has no %s; the file is damaged",
                              doc->name, doc->exp->metric[metric->metric].name,
                              index.byte ? "data" : "index");
    return exp_rows_read(doc, metric, wide, index, data, err);
}

static int read_cubex(struct cube_doc *doc, const struct exp_tar *tar, struct chil_error *err)
{
    struct exp_span anchor = exp_tar_find(tar, "anchor.xml");
    if (!anchor.byte)
        return chil_error_set(
            err, CHIL_EPARSE,
            "%s: there is no whole anchor.xml in it; the file is damaged or no .cubex", doc->name);
    int status = read_anchor(doc, anchor, err);
    if (status) return status;
    uint32_t *wide = exp_wide_order(doc->exp);
    for (size_t i = 0; i < doc->metrics && !status; i++)
        status = read_metric(doc, tar, &doc->metric[i], wide, err);
    free(wide);
    struct exp_span code = exp_tar_find(tar, EXP_CODE);
    if (!status && code.byte && code.size)
        chil_exp_set_code(doc->exp, (const char *)code.byte, code.size);
    return status;
}

static void report_not_finite(struct cube_doc *doc)
{
    char text[80];
    if (!doc->not_finite) return;
    (void)snprintf(text, sizeof text, "%zu values that are not finite numbers are zero",
                   doc->not_finite);
    chil_exp_set_attribute(doc->exp, "chiliad:not finite", text);
}

static enum kind kind_of(const uint8_t *bytes, size_t size)
{
    size_t blank = 0;
    if (exp_is_tar(bytes, size)) return IS_TAR;
    while (blank < size && strchr(" \t\r\n", bytes[blank]) && bytes[blank])
        blank++;
    return blank < size && (bytes[blank] == '<' || bytes[blank] == 0xef) ? IS_XML : IS_OTHER;
}

static int no_experiment(const char *name, struct chil_error *err)
{
    return chil_error_set(err, CHIL_EPARSE, "%s: this is neither a .cubex archive nor a .cube file",
                          name);
}

static int too_large(const char *name, struct chil_error *err)
{
    return chil_error_set(err, CHIL_ERANGE, "'%s' is larger than 4 GB", name);
}

/* Reads bytes that are not compressed as a whole. */
static int read_plain(struct cube_doc *doc, const uint8_t *bytes, size_t size,
                      struct chil_error *err)
{
    enum kind kind = kind_of(bytes, size);
    if (kind == IS_TAR) {
        struct exp_tar *tar = exp_tar_open(bytes, size);
        int status = read_cubex(doc, tar, err);
        exp_tar_free(tar);
        return status;
    }
    return kind == IS_XML ? exp_xml_read(doc, bytes, size, err) : no_experiment(doc->name, err);
}

int chil_exp_read_bytes(struct chil_exp **exp, const char *name, const void *bytes, size_t size,
                        struct chil_error *err)
{
    struct cube_doc doc = {.name = name, .exp = chil_exp_new()};
    struct exp_bytes unpacked = {0};
    int status = 0;
    if (is_gzip(bytes, size)) {
        status = unpack(&unpacked, name, bytes, size, EXP_UNPACKED_MAX, err);
        bytes = unpacked.byte;
        size = unpacked.size;
    }
    if (!status) status = read_plain(&doc, bytes, size, err);
    if (!status) report_not_finite(&doc);
    free(unpacked.byte);
    cube_doc_fini(&doc);
    if (status) {
        chil_exp_free(doc.exp);
        return status;
    }
    *exp = doc.exp;
    return 0;
}

/* Reads until there are `wanted` bytes or more, or no more; false with errno. */
static bool read_to(struct exp_bytes *to, int fd, size_t wanted, size_t step)
{
    ssize_t got = 1;
    while (got > 0 && to->size < wanted) {
        got = read(fd, exp_bytes_add(to, step), step);
        to->size -= step - (got > 0 ? (size_t)got : 0);
        if (to->size > STEP) step = STEP;
    }
    return got >= 0;
}

/* The first bytes are looked at before all are read: the file may be a device, or large. */
static int read_open_file(struct exp_bytes *to, const char *path, int fd, struct chil_error *err)
{
    struct stat info;
    size_t step = STEP;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
    if (is_file && (uint64_t)info.st_size > EXP_FILE_MAX) return too_large(path, err);
    bool good = read_to(to, fd, STEP, STEP);
    if (good && !is_gzip(to->byte, to->size) && kind_of(to->byte, to->size) == IS_OTHER)
        return no_experiment(path, err);
    if (is_file && (size_t)info.st_size > to->size) step = (size_t)info.st_size - to->size + 1;
    if (good) good = read_to(to, fd, EXP_FILE_MAX + 1, step);
    if (!good) return chil_error_set(err, CHIL_EIO, "cannot read '%s': %s", path, strerror(errno));
    return to->size > EXP_FILE_MAX ? too_large(path, err) : 0;
}

static int read_file(struct exp_bytes *to, const char *path, struct chil_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return chil_error_set(err, CHIL_EIO, "cannot read '%s': %s", path, strerror(errno));
    int status = read_open_file(to, path, fd, err);
    (void)close(fd);
    return status;
}

int chil_exp_read(struct chil_exp **exp, const char *path, struct chil_error *err)
{
    struct exp_bytes bytes = {0};
    int status = read_file(&bytes, path, err);
    if (!status) status = chil_exp_read_bytes(exp, path, bytes.byte, bytes.size, err);
    free(bytes.byte);
    return status;
}
