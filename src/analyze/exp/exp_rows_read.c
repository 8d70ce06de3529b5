/* Reads the rows of a metric of any .cubex: sparse or dense, compressed or not, big- or
 * little-endian, exclusive or inclusive.
 *
 * Every size is checked against the bytes that are left before it is used. An inclusive value is
 * added to its call path and subtracted from the caller; the sums are the exclusive values.
 */
#include "analyze/exp/exp_cube.h"
#include "analyze/exp/exp_zeros.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    NONE = 0,
    SPARSE = 1,
    DENSE = 3,
    INDEX_HEAD = 18,
    PLAIN_HEAD = 10,
    PACKED_HEAD = 19,
    ROW_TABLE = 24
};

struct rows {
    struct cube_doc *doc;
    const struct cube_metric *metric;
    const uint32_t *wide; /* NULL: keys are document order */
    bool swap;            /* numbers are big-endian */
    const uint8_t *keys;  /* NULL: all rows are there */
    uint64_t count;
    size_t row_bytes;
    struct exp_span data;
    struct chil_error *err;
};

static uint64_t get(const uint8_t *from, unsigned bytes, bool big)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * (big ? bytes - 1 - i : i);
    return value;
}

static int fail(const struct rows *r, const char *what)
{
    return chil_error_set(r->err, CHIL_EPARSE, "%s: metric '%s': %s; the file is damaged",
                          r->doc->name, r->doc->exp->metric[r->metric->metric].name, what);
}

int cube_doc_add(struct cube_doc *doc, const struct cube_metric *metric, int node, int thread,
                 double real, int64_t count, struct chil_error *err)
{
    bool is_real = doc->exp->metric[metric->metric].kind == CHIL_EXP_REAL;
    struct chil_exp_cell cell = {
        .node = (uint32_t)node, .thread = (uint32_t)thread, .count = count};
    if (is_real) {
        if (!isfinite(real)) {
            doc->not_finite++;
            return 0;
        }
        cell.real = real;
    }
    if (is_real ? real == 0 : count == 0) return 0;
    if (++doc->cells > EXP_CELLS_MAX)
        return chil_error_set(err, CHIL_ERANGE, "%s: more than %d values", doc->name,
                              EXP_CELLS_MAX);
    exp_add_cell(doc->exp, metric->metric, cell);
    return 0;
}

/* One value of a row, at a call path and for inclusive metrics at its caller. */
static int add_value(struct rows *r, int node, int thread, const uint8_t *from)
{
    const struct exp_dtype *dtype = r->metric->dtype;
    uint64_t bits = get(from, dtype->size, r->swap);
    double real = 0;
    if (!bits) return 0;
    if (dtype->number == EXP_FLOAT) {
        memcpy(&real, &bits, sizeof real);
    } else if (dtype->number == EXP_SIGNED) {
        unsigned spare = 64 - 8 * dtype->size;
        bits = (uint64_t)((int64_t)(bits << spare) >> spare);
        real = (double)(int64_t)bits;
    } else {
        real = (double)bits;
        if (bits > INT64_MAX)
            exp_make_real(r->doc->exp, r->metric->metric); /* more than counts can hold */
    }
    int status = cube_doc_add(r->doc, r->metric, node, thread, real, (int64_t)bits, r->err);
    int caller = r->doc->exp->node[node].parent;
    if (status || !r->metric->inclusive || caller < 0) return status;
    return cube_doc_add(r->doc, r->metric, caller, thread, -real, (int64_t)(0 - bits), r->err);
}

/* The call path of a row: -1 the synthetic root, -2 there is none. */
static int node_of(const struct rows *r, uint64_t row)
{
    const struct chil_exp *exp = r->doc->exp;
    uint64_t key = r->keys ? get(r->keys + 4 * row, 4, r->swap) : row;
    if (key < (uint64_t)r->doc->shifted) return -1;
    key -= r->doc->shifted;
    if (key >= exp->nodes) return -2;
    return r->wide ? (int)r->wide[key] : (int)key;
}

static int add_row(struct rows *r, uint64_t row, const uint8_t *bytes)
{
    int node = node_of(r, row);
    if (node == -2) return fail(r, "a row is of no call path");
    unsigned size = r->metric->dtype->size;
    for (size_t column = 0; node >= 0 && column < r->doc->exp->threads; column++) {
        int status = add_value(r, node, r->doc->thread_of[column], bytes + column * size);
        if (status) return status;
    }
    return 0;
}

/* --- The two files --------------------------------------------------------------------------- */

static int read_index(struct rows *r, struct exp_span index)
{
    if (index.size < INDEX_HEAD || memcmp(index.byte, "CUBEX.INDEX", 11) != 0)
        return fail(r, "its index does not start as one");
    r->swap = get(index.byte + 11, 4, false) != 1;
    if (get(index.byte + 11, 4, r->swap) != 1) return fail(r, "its index has neither byte order");
    if (index.byte[17] == DENSE) {
        r->count = r->doc->exp->nodes + r->doc->shifted;
        return 0;
    }
    if (index.byte[17] != SPARSE && index.byte[17] != NONE)
        return fail(r, "its index is of an unknown sort");
    if (index.size == INDEX_HEAD) return 0; /* cubelib's index of a metric that is zero: no rows */
    if (index.byte[17] == NONE || index.size < INDEX_HEAD + 4)
        return fail(r, "its index is cut off");
    r->count = get(index.byte + INDEX_HEAD, 4, r->swap);
    r->keys = index.byte + INDEX_HEAD + 4;
    return r->count > (index.size - INDEX_HEAD - 4) / 4 ? fail(r, "its index is cut off") : 0;
}

static int read_plain(struct rows *r)
{
    if (r->row_bytes && r->count > (r->data.size - PLAIN_HEAD) / r->row_bytes)
        return fail(r, "its data is cut off");
    for (uint64_t row = 0; row < r->count; row++) {
        int status = add_row(r, row, r->data.byte + PLAIN_HEAD + row * r->row_bytes);
        if (status) return status;
    }
    return 0;
}

/* Unpacks one row; the stream must give exactly its bytes. */
static bool unpack(z_stream *stream, struct exp_span packed, uint8_t *row, size_t row_bytes)
{
    stream->next_in = (Bytef *)packed.byte;
    stream->avail_in = (uInt)packed.size;
    stream->next_out = row;
    stream->avail_out = (uInt)row_bytes;
    bool good = inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_out == 0;
    return inflateReset(stream) == Z_OK && good;
}

/* Adds the columns that exp_unpack_row found not to be zero. */
static int add_touched(struct rows *r, uint64_t row, const struct exp_unpacker *unpacker,
                       const uint8_t *bytes)
{
    int node = node_of(r, row), status = 0;
    if (node == -2) return fail(r, "a row is of no call path");
    unsigned size = r->metric->dtype->size;
    for (size_t i = 0; node >= 0 && i < unpacker->touched_count && !status; i++) {
        uint32_t column = unpacker->touched[i];
        status = add_value(r, node, r->doc->thread_of[column], bytes + (size_t)column * size);
    }
    return status;
}

struct unpacking {
    struct exp_unpacker fast;
    z_stream zlib;
    uint8_t *row;   /* the output of zlib */
    uint8_t *zeros; /* the output of exp_unpack_row; all zero between rows */
};

static int add_packed(struct rows *r, struct unpacking *u, uint64_t row, struct exp_span packed)
{
    unsigned size = r->metric->dtype->size;
    if (exp_unpack_row(&u->fast, packed, size, u->zeros, r->row_bytes)) {
        int status = add_touched(r, row, &u->fast, u->zeros);
        exp_unpacker_clear(&u->fast, size, u->zeros);
        return status;
    }
    if (!unpack(&u->zlib, packed, u->row, r->row_bytes)) return fail(r, "a row cannot be unpacked");
    return add_row(r, row, u->row);
}

static int read_packed_rows(struct rows *r, struct unpacking *u)
{
    uint64_t streams = get(r->data.byte + 11, 8, r->swap);
    if (streams < r->count || streams > (r->data.size - PACKED_HEAD) / ROW_TABLE)
        return fail(r, "its table of rows is cut off");
    struct exp_span area = {r->data.byte + PACKED_HEAD + streams * ROW_TABLE, 0};
    area.size = r->data.size - (size_t)(area.byte - r->data.byte);
    uint64_t before = 0; /* streams do not overlap: what is unpacked is bounded by what is there */
    for (uint64_t row = 0; row < r->count; row++) {
        const uint8_t *entry = r->data.byte + PACKED_HEAD + row * ROW_TABLE;
        uint64_t start = get(entry + 8, 8, r->swap), size = get(entry + 16, 8, r->swap);
        if (get(entry, 8, r->swap) != row * r->row_bytes || start < before || start > area.size ||
            size > area.size - start || size > UINT32_MAX)
            return fail(r, "its table of rows is wrong");
        before = start + size;
        int status = add_packed(r, u, row, (struct exp_span){area.byte + start, (size_t)size});
        if (status) return status;
    }
    return 0;
}

static int read_packed(struct rows *r)
{
    struct unpacking u = {.zlib = {0}};
    if (r->row_bytes > UINT32_MAX) return fail(r, "a row is too long");
    if (inflateInit(&u.zlib) != Z_OK) return fail(r, "zlib does not start");
    exp_unpacker_init(&u.fast, r->doc->exp->threads);
    u.row = base_calloc(1, r->row_bytes);
    u.zeros = base_calloc(1, r->row_bytes);
    int status = read_packed_rows(r, &u);
    free(u.row);
    free(u.zeros);
    exp_unpacker_fini(&u.fast);
    (void)inflateEnd(&u.zlib);
    return status;
}

int exp_rows_read(struct cube_doc *doc, const struct cube_metric *metric, const uint32_t *wide,
                  struct exp_span index, struct exp_span data, struct chil_error *err)
{
    struct rows r = {.doc = doc,
                     .metric = metric,
                     .wide = metric->inclusive ? wide : NULL,
                     .data = data,
                     .err = err};
    r.row_bytes = doc->exp->threads * metric->dtype->size;
    int status = read_index(&r, index);
    if (status || !r.count) return status;
    if (data.size >= PLAIN_HEAD && memcmp(data.byte, "CUBEX.DATA", PLAIN_HEAD) == 0)
        return read_plain(&r);
    if (data.size >= PACKED_HEAD && memcmp(data.byte, "ZCUBEX.DATA", 11) == 0)
        return read_packed(&r);
    return fail(&r, "its data does not start as such");
}

/* For each root: the root, then for each node in document order all its children. */
uint32_t *exp_wide_order(const struct chil_exp *exp)
{
    struct exp_tree tree;
    uint32_t *order = base_calloc(exp->nodes, sizeof *order);
    size_t count = 0;
    exp_tree_init(&tree, exp, exp->nodes, exp_node_parent);
    for (int n = CHIL_EXP_NONE; (n = exp_tree_next(&tree, exp, exp_node_parent, n)) >= 0;) {
        if (exp->node[n].parent < 0) order[count++] = (uint32_t)n;
        for (int child = tree.first[n]; child >= 0; child = tree.next[child])
            order[count++] = (uint32_t)child;
    }
    exp_tree_fini(&tree);
    return order;
}
