/* Writes pages: packs numbers into blocks, compresses, encodes, and fills in the template.
 *
 * The data are magic, the header's length, the header, padding to 8, the blocks: one zlib stream.
 * A page of many numbers is compressed less, so that writing takes a second or two.
 */
#include "view/view_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "chiliad/catalog.h"

enum { ALIGN = 8, PIECE = 49152, FAST_ABOVE = 8 << 20, PATH_SIZE = 4096 };

void view_page_init(struct view_page *page)
{
    *page = (struct view_page){0};
}

void view_page_fini(struct view_page *page)
{
    free(page->byte);
}

/* --- Blocks ---------------------------------------------------------------------------------- */

static void put(unsigned char *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* Room for a block, and the header's words for it. */
static json_t *add_block(struct view_page *page, const char *type, unsigned bytes, size_t count,
                         unsigned char **at)
{
    size_t begin = (page->size + ALIGN - 1) / ALIGN * ALIGN, end = begin + bytes * count;
    page->byte = base_grow(page->byte, &page->capacity, end + 1, 1);
    memset(page->byte + page->size, 0, begin - page->size);
    page->size = end;
    *at = page->byte + begin;
    return json_pack("[s,I,I]", type, (json_int_t)begin, (json_int_t)count);
}

static json_t *add_doubles(struct view_page *page, const int64_t *count, const double *real,
                           size_t values)
{
    unsigned char *at;
    json_t *block = add_block(page, "f64", 8, values, &at);
    for (size_t i = 0; i < values; i++) {
        double value = real ? real[i] : (double)count[i];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        put(at + 8 * i, bits, 8);
    }
    return block;
}

json_t *view_page_counts(struct view_page *page, const int64_t *value, size_t count)
{
    static const int64_t exact = INT64_C(1) << 53;
    int64_t least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
    }
    bool wide = least < -exact || most > exact;
    if (!wide && (least < 0 || most > UINT32_MAX)) return add_doubles(page, value, NULL, count);
    unsigned bytes = wide ? 8 : most > UINT16_MAX ? 4 : most > UINT8_MAX ? 2 : 1;
    const char *type = wide ? "i64" : bytes == 4 ? "u32" : bytes == 2 ? "u16" : "u8";
    unsigned char *at;
    json_t *block = add_block(page, type, bytes, count, &at);
    for (size_t i = 0; i < count; i++)
        put(at + bytes * i, (uint64_t)value[i], bytes);
    return block;
}

json_t *view_page_reals(struct view_page *page, const double *value, size_t count)
{
    return add_doubles(page, NULL, value, count);
}

json_t *view_page_cells(struct view_page *page, const struct chil_exp *exp, int metric)
{
    size_t count, rows = 0;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    bool whole = exp->metric[metric].kind == CHIL_EXP_COUNT;
    int64_t *node = base_calloc(count + 1, sizeof *node),
            *first = base_calloc(count + 1, sizeof *first),
            *thread = base_calloc(count + 1, sizeof *thread),
            *number = base_calloc(count + 1, sizeof *number);
    double *real = base_calloc(count + 1, sizeof *real);
    for (size_t i = 0; i < count; i++) {
        if (!i || cell[i].node != cell[i - 1].node) {
            node[rows] = cell[i].node;
            first[rows++] = (int64_t)i;
        }
        thread[i] = cell[i].thread;
        if (whole)
            number[i] = cell[i].count;
        else
            real[i] = cell[i].real;
    }
    json_t *result = json_object();
    (void)json_object_set_new(result, "node", view_page_counts(page, node, rows));
    (void)json_object_set_new(result, "first", view_page_counts(page, first, rows));
    if (exp->threads > 1)
        (void)json_object_set_new(result, "thread", view_page_counts(page, thread, count));
    (void)json_object_set_new(result, "value",
                              whole ? view_page_counts(page, number, count)
                                    : view_page_reals(page, real, count));
    free(node);
    free(first);
    free(thread);
    free(number);
    free(real);
    return result;
}

/* --- The template ---------------------------------------------------------------------------- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (!file) return NULL;
    ssize_t got = getdelim(&text, &size, 0, file);
    (void)fclose(file);
    if (got > 0) return text;
    free(text);
    return NULL;
}

int view_page_template(char **text, struct chil_error *err)
{
    static const char *const places[] = {"page/page.html", "../page/page.html"};
    char path[PATH_SIZE + 32], folder[PATH_SIZE] = "";
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    *text = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && slash && !*text; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        *text = read_file(path);
    }
    if (!*text && chil_data_directory(folder, sizeof folder, err) == 0) {
        (void)snprintf(path, sizeof path, "%s/page/page.html", folder);
        *text = read_file(path);
    }
    if (*text) return 0;
    return chil_error_set(err, CHIL_ENOENT,
                          "this build has no page: install npm ('apt-get install nodejs npm') and "
                          "run 'make' again");
}

/* --- The file -------------------------------------------------------------------------------- */

struct encoder {
    z_stream z;
    FILE *out;
    unsigned char *packed; /* PIECE bytes, a multiple of 3 */
    char *text;            /* NULL: no base64 */
    bool good;
};

static void write_base64(struct encoder *e, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t at = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)e->packed[i] << 16;
        if (left > 1) bits |= (uint32_t)e->packed[i + 1] << 8;
        if (left > 2) bits |= e->packed[i + 2];
        e->text[at++] = digits[bits >> 18];
        e->text[at++] = digits[bits >> 12 & 63];
        e->text[at++] = digits[bits >> 6 & 63];
        e->text[at++] = digits[bits & 63];
    }
    if (size % 3) e->text[at - 1] = '=';
    if (size % 3 == 1) e->text[at - 2] = '=';
    e->good &= fwrite(e->text, 1, at, e->out) == at;
}

static void write_packed(struct encoder *e, size_t size)
{
    if (e->text)
        write_base64(e, size);
    else
        e->good &= fwrite(e->packed, 1, size, e->out) == size;
}

/* Compresses bytes; the last piece is written when there are no more. */
static void encode(struct encoder *e, const void *bytes, size_t size, bool last)
{
    enum { MOST = 1 << 30 }; /* zlib counts in 32 bits */
    const unsigned char *next = bytes;
    int status = Z_OK;
    do {
        size_t part = size < MOST ? size : MOST;
        e->z.next_in = (unsigned char *)next;
        e->z.avail_in = (unsigned)part;
        next += part;
        size -= part;
        int flush = last && !size ? Z_FINISH : Z_NO_FLUSH;
        do {
            status = deflate(&e->z, flush);
            if (e->z.avail_out && flush != Z_FINISH) break;
            write_packed(e, PIECE - e->z.avail_out);
            e->z.next_out = e->packed;
            e->z.avail_out = PIECE;
        } while (status == Z_OK && (e->z.avail_in || flush == Z_FINISH));
    } while (size);
}

static bool write_data(const struct view_page *page, const char *header, bool base64, FILE *out)
{
    static const char magic[ALIGN] = "CHILPAGE", zeros[ALIGN] = {0};
    struct encoder e = {.out = out, .good = true};
    unsigned char length[ALIGN];
    size_t size = strlen(header);
    int level = page->size > FAST_ABOVE ? 1 : Z_BEST_COMPRESSION;
    if (deflateInit(&e.z, level) != Z_OK) return false;
    e.packed = base_calloc(PIECE, 1);
    if (base64) e.text = base_calloc(PIECE / 3 * 4 + 4, 1);
    e.z.next_out = e.packed;
    e.z.avail_out = PIECE;
    put(length, size, ALIGN);
    encode(&e, magic, ALIGN, false);
    encode(&e, length, ALIGN, false);
    encode(&e, header, size, false);
    encode(&e, zeros, (ALIGN - size % ALIGN) % ALIGN, false);
    encode(&e, page->byte, page->size, true);
    (void)deflateEnd(&e.z);
    free(e.packed);
    free(e.text);
    return e.good;
}

int view_page_write(const struct view_page *page, json_t *header, const char *text, FILE *out,
                    struct chil_error *err)
{
    static const char marker[] = "@CHILIAD_DATA@";
    const char *at = strstr(text, marker);
    char *words = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    if (!at || !words) {
        free(words);
        return chil_error_set(err, CHIL_EINVAL, "the page's template is damaged; run 'make' again");
    }
    const char *rest = at + sizeof marker - 1;
    bool good = fwrite(text, 1, (size_t)(at - text), out) == (size_t)(at - text);
    good = write_data(page, words, true, out) && good;
    good = fputs(rest, out) != EOF && good;
    free(words);
    return good ? 0 : chil_error_set(err, CHIL_EIO, "cannot write the page: %s", strerror(errno));
}

int view_page_data(const struct view_page *page, json_t *header, FILE *out, struct chil_error *err)
{
    char *words = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    bool good = words && write_data(page, words, false, out);
    free(words);
    return good ? 0 : chil_error_set(err, CHIL_EIO, "cannot make the page's data");
}
