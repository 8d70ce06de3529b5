/* Datatypes: what they are made of, and packing.
 *
 * A datatype is the list of its blocks, consecutive values of one basic type, in the order of its
 * type map; neighbours are merged. Packed bytes are in that order, without gaps. A position in
 * packed bytes is found by division and binary search, so packing may begin anywhere: the protocols
 * move messages by packets.
 */
#include "mpi_impl.h"

#include <complex.h>
#include <wchar.h>

/* class: what operations may do with it; see mpi_op.c */
#define ROW(n, text, type, class) [n] = {"MPI_" text, sizeof(type), _Alignof(type), class}
const struct basic mpi_basics[BASIC_COUNT] = {
    ROW(0x01, "CHAR", char, 'C'),
    ROW(0x02, "SIGNED_CHAR", char, 'a'),
    ROW(0x03, "UNSIGNED_CHAR", char, 'A'),
    ROW(0x04, "BYTE", char, 'y'),
    ROW(0x05, "WCHAR", wchar_t, 'C'),
    ROW(0x06, "SHORT", short, 'b'),
    ROW(0x07, "UNSIGNED_SHORT", short, 'B'),
    ROW(0x08, "INT", int, 'd'),
    ROW(0x09, "UNSIGNED", int, 'D'),
    ROW(0x0a, "LONG", long, 'd'),
    ROW(0x0b, "UNSIGNED_LONG", long, 'D'),
    ROW(0x0c, "LONG_LONG_INT", long long, 'h'),
    ROW(0x0d, "UNSIGNED_LONG_LONG", long long, 'H'),
    ROW(0x0e, "FLOAT", float, 'f'),
    ROW(0x0f, "DOUBLE", double, 'g'),
    ROW(0x10, "LONG_DOUBLE", long double, 'q'),
    ROW(0x11, "PACKED", char, 0),
    [0x12] = {"MPI_LB", 0, 1, 0},
    [0x13] = {"MPI_UB", 0, 1, 0},
    ROW(0x14, "INT8_T", int8_t, 'a'),
    ROW(0x15, "INT16_T", int16_t, 'b'),
    ROW(0x16, "INT32_T", int32_t, 'd'),
    ROW(0x17, "INT64_T", int64_t, 'h'),
    ROW(0x18, "UINT8_T", uint8_t, 'A'),
    ROW(0x19, "UINT16_T", uint16_t, 'B'),
    ROW(0x1a, "UINT32_T", uint32_t, 'D'),
    ROW(0x1b, "UINT64_T", uint64_t, 'H'),
    ROW(0x1c, "C_BOOL", _Bool, 'l'),
    ROW(0x1d, "C_COMPLEX", float _Complex, 'x'),
    ROW(0x1e, "C_DOUBLE_COMPLEX", double _Complex, 'z'),
    ROW(0x1f, "C_LONG_DOUBLE_COMPLEX", long double _Complex, 'w'),
    ROW(0x20, "AINT", MPI_Aint, 'd'),
    ROW(0x21, "OFFSET", MPI_Offset, 'h'),
    ROW(0x22, "COUNT", MPI_Count, 'h'),
    ROW(0x23, "CHARACTER", char, 'C'),
    ROW(0x24, "LOGICAL", int, 'L'),
    ROW(0x25, "INTEGER", int, 'd'),
    ROW(0x26, "REAL", float, 'f'),
    ROW(0x27, "DOUBLE_PRECISION", double, 'g'),
    ROW(0x28, "COMPLEX", float _Complex, 'x'),
    ROW(0x29, "DOUBLE_COMPLEX", double _Complex, 'z'),
    ROW(0x2a, "INTEGER1", int8_t, 'a'),
    ROW(0x2b, "INTEGER2", int16_t, 'b'),
    ROW(0x2c, "INTEGER4", int32_t, 'd'),
    ROW(0x2d, "INTEGER8", int64_t, 'h'),
    ROW(0x2e, "REAL4", float, 'f'),
    ROW(0x2f, "REAL8", double, 'g'),
    ROW(0x30, "REAL16", long double, 'q'),
    ROW(0x31, "COMPLEX8", float _Complex, 'x'),
    ROW(0x32, "COMPLEX16", double _Complex, 'z'),
    ROW(0x33, "COMPLEX32", long double _Complex, 'w'),
    ROW(0x34, "CXX_BOOL", _Bool, 'l'),
    ROW(0x35, "CXX_FLOAT_COMPLEX", float _Complex, 'x'),
    ROW(0x36, "CXX_DOUBLE_COMPLEX", double _Complex, 'z'),
    ROW(0x37, "CXX_LONG_DOUBLE_COMPLEX", long double _Complex, 'w'),
    [0x38] = {.name = "MPI_FLOAT_INT"},
    {.name = "MPI_DOUBLE_INT"},
    {.name = "MPI_LONG_INT"},
    {.name = "MPI_2INT"},
    {.name = "MPI_SHORT_INT"},
    {.name = "MPI_LONG_DOUBLE_INT"},
    {.name = "MPI_2REAL"},
    {.name = "MPI_2DOUBLE_PRECISION"},
    {.name = "MPI_2INTEGER"}};

/* Pairs of a value and an index. */
static const struct block pair_blocks[][2] = {{{0, 1, 0x0e},
                                               {offsetof(
                                                    struct {
                                                        float a;
                                                        int b;
                                                    },
                                                    b),
                                                1, 8}},
                                              {{0, 1, 0x0f},
                                               {offsetof(
                                                    struct {
                                                        double a;
                                                        int b;
                                                    },
                                                    b),
                                                1, 8}},
                                              {{0, 1, 0x0a}, {4, 1, 8}},
                                              {{0, 2, 8}, {0, 0, 0}},
                                              {{0, 1, 6}, {4, 1, 8}},
                                              {{0, 1, 0x10}, {16, 1, 8}},
                                              {{0, 2, 0x26}, {0, 0, 0}},
                                              {{0, 2, 0x27}, {0, 0, 0}},
                                              {{0, 2, 0x25}, {0, 0, 0}}};

static struct type predefined[BASIC_COUNT];
static struct block simple[BASIC_COUNT];

static void init_one(unsigned n)
{
    struct type *t = &predefined[n];
    const struct block *blocks = &simple[n];
    unsigned count = n == BASIC_LB || n == BASIC_UB ? 0 : 1;
    simple[n] = (struct block){0, 1, n};
    if (n >= BASIC_PAIRS) {
        blocks = pair_blocks[n - BASIC_PAIRS];
        count = blocks[1].count ? 2 : 1;
    }
    *t = (struct type){.handle = mpi_null(KIND_TYPE) + (int)n,
                       .refs = 1,
                       .predefined = true,
                       .committed = true,
                       .blocks = blocks,
                       .block_count = count,
                       .combiner = MPI_COMBINER_NAMED};
    t->align = 1;
    for (unsigned i = 0; i < count; i++) {
        const struct basic *b = &mpi_basics[blocks[i].basic];
        t->size += b->size * blocks[i].count;
        t->ub = blocks[i].at + (MPI_Aint)(b->size * blocks[i].count);
        if (b->align > t->align) t->align = b->align;
    }
    t->true_ub = t->ub;
    t->ub = (t->ub + (MPI_Aint)t->align - 1) / (MPI_Aint)t->align * (MPI_Aint)t->align;
    t->dense = (MPI_Aint)t->size == t->ub;
    t->has_lb = n == BASIC_LB;
    t->has_ub = n == BASIC_UB;
    mpi_handle_set(t->handle, t);
}

void mpi_type_init(void)
{
    for (unsigned n = 1; n < BASIC_COUNT; n++)
        init_one(n);
    mpi.byte = &predefined[BASIC_BYTE];
    mpi.packed = &predefined[BASIC_PACKED];
}

struct type *mpi_type(MPI_Datatype handle)
{
    return mpi_object(KIND_TYPE, handle);
}

const char *mpi_type_text(MPI_Datatype handle)
{
    return handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                       : "this is no datatype";
}

void mpi_type_retain(struct type *type)
{
    if (type && !type->predefined) type->refs++;
}

void mpi_type_release(struct type *type)
{
    if (!type || type->predefined || --type->refs) return;
    for (int i = 0; i < type->type_count; i++)
        mpi_type_release(type->types[i]);
    mpi_handle_free(type->handle);
    free((void *)type->blocks);
    free(type->before);
    free(type->integers);
    free(type->addresses);
    free(type->types);
    free(type->name);
    free(type);
}

/* ---- packing ---- */

static size_t bytes_of(const struct block *block)
{
    return (size_t)block->count * mpi_basics[block->basic].size;
}

static const uint32_t *before(struct type *type)
{
    if (type->before) return type->before;
    uint32_t *sum = mpi_alloc((type->block_count + 1) * sizeof *sum);
    for (uint32_t i = 0; i < type->block_count; i++)
        sum[i + 1] = sum[i] + (uint32_t)bytes_of(&type->blocks[i]);
    return type->before = sum;
}

static uint32_t find_block(const uint32_t *sum, uint32_t count, size_t offset)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (sum[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void move(struct type *type, char *buffer, size_t position, char *packed, size_t bytes,
                 bool pack)
{
    const struct block *blocks = type->blocks;
    const uint32_t *sum = before(type);
    MPI_Aint extent = type_extent(type);
    size_t element = position / type->size, offset = position % type->size;
    uint32_t i = find_block(sum, type->block_count, offset);
    char *base = buffer + (MPI_Aint)element * extent;
    offset -= sum[i];
    while (bytes) {
        size_t part = bytes_of(&blocks[i]) - offset;
        char *at = base + blocks[i].at + offset;
        if (part > bytes) part = bytes;
        if (pack)
            memcpy(packed, at, part);
        else
            memcpy(at, packed, part);
        packed += part;
        bytes -= part;
        offset = 0;
        if (++i == type->block_count) {
            i = 0;
            base += extent;
        }
    }
}

void mpi_type_pack(const struct type *type, const void *buffer, size_t position, void *to,
                   size_t bytes)
{
    if (type->dense)
        memcpy(to, at_offset(buffer, type->true_lb + (MPI_Aint)position), bytes);
    else
        move((struct type *)type, (char *)buffer, position, to, bytes, true);
}

void mpi_type_unpack(const struct type *type, void *buffer, size_t position, const void *from,
                     size_t bytes)
{
    if (type->dense)
        memcpy(at_offset(buffer, type->true_lb + (MPI_Aint)position), from, bytes);
    else
        move((struct type *)type, buffer, position, (char *)from, bytes, false);
}

size_t mpi_type_copy(const void *from, size_t from_count, const struct type *from_type, void *to,
                     size_t to_count, const struct type *to_type)
{
    char part[512];
    size_t bytes = from_count * from_type->size, room = to_count * to_type->size;
    if (bytes > room) bytes = room;
    if (from_type->dense)
        mpi_type_unpack(to_type, to, 0, at_offset(from, from_type->true_lb), bytes);
    else if (to_type->dense)
        mpi_type_pack(from_type, from, 0, at_offset(to, to_type->true_lb), bytes);
    else
        for (size_t done = 0; done < bytes; done += sizeof part) {
            size_t now = bytes - done < sizeof part ? bytes - done : sizeof part;
            mpi_type_pack(from_type, from, done, part, now);
            mpi_type_unpack(to_type, to, done, part, now);
        }
    return bytes;
}

unsigned mpi_type_basic(const struct type *type)
{
    unsigned basic = type->block_count ? type->blocks[0].basic : 0;
    for (uint32_t i = 1; i < type->block_count; i++)
        if (type->blocks[i].basic != basic) return 0;
    return basic;
}

long long mpi_type_elements(const struct type *type, size_t bytes)
{
    long long whole = 0, count = 0;
    if (!type->size) return bytes ? MPI_UNDEFINED : 0;
    for (uint32_t i = 0; i < type->block_count; i++)
        whole += type->blocks[i].count;
    count = (long long)(bytes / type->size) * whole;
    bytes %= type->size;
    for (uint32_t i = 0; bytes && i < type->block_count; i++) {
        size_t size = mpi_basics[type->blocks[i].basic].size, part = bytes_of(&type->blocks[i]);
        if (part > bytes) part = bytes;
        if (part % size) return MPI_UNDEFINED;
        count += (long long)(part / size);
        bytes -= part;
    }
    return count;
}
