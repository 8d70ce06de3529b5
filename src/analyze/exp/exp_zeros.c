#include "analyze/exp/exp_zeros.h"

#include <stdlib.h>
#include <string.h>

enum {
    END = 256,         /* the symbol */
    MATCHES = 29,      /* symbols 257 to 285 */
    LONGEST = 258,     /* bytes of a match */
    ADLER = 65521,     /* the modulus of the checksum */
    HEADER = 0x0178,   /* of zlib, as a little-endian number: window 32 KB, fastest */
    BLOCK_HEAD = 3,    /* the last block, fixed codes; three bits */
    DISTANCE_BITS = 5, /* distance 1 is code 0 */
    TAIL = 4
};

/* The least length of each match symbol; the rest is in extra bits. */
static const struct {
    uint16_t length;
    uint8_t extra;
} matches[MATCHES] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1},  {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3},  {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
};

/* The fixed code of a literal or match symbol, first bit lowest. */
static struct exp_code code_of(unsigned symbol)
{
    unsigned code, count;
    if (symbol < 144)
        code = 0x30 + symbol, count = 8;
    else if (symbol < 256)
        code = 0x190 + symbol - 144, count = 9;
    else if (symbol < 280)
        code = symbol - 256, count = 7;
    else
        code = 0xc0 + symbol - 280, count = 8;
    struct exp_code reversed = {0, (uint8_t)count};
    for (unsigned i = 0; i < count; i++)
        reversed.bits |= (uint16_t)((code >> i & 1) << (count - 1 - i));
    return reversed;
}

/* --- Packing --------------------------------------------------------------------------------- */

void exp_packer_init(struct exp_packer *packer)
{
    memset(packer, 0, sizeof *packer);
    for (unsigned i = 0; i < 256; i++)
        packer->literal[i] = code_of(i);
    for (unsigned m = 0; m < MATCHES; m++) {
        struct exp_code code = code_of(257 + m);
        for (unsigned extra = 0;
             extra < 1U << matches[m].extra && matches[m].length + extra < ZEROS_LENGTHS; extra++)
            packer->match[matches[m].length + extra] =
                (struct exp_code){(uint16_t)(code.bits | extra << code.count),
                                  (uint8_t)(code.count + matches[m].extra + DISTANCE_BITS)};
    }
}

struct writer {
    const struct exp_packer *packer;
    uint8_t *at;
    uint64_t bits;
    unsigned count;
    uint32_t a, b; /* the checksum */
};

static void put(struct writer *w, struct exp_code code)
{
    w->bits |= (uint64_t)code.bits << w->count;
    w->count += code.count;
    while (w->count >= 8) {
        *w->at++ = (uint8_t)w->bits;
        w->bits >>= 8;
        w->count -= 8;
    }
}

static void put_byte(struct writer *w, uint8_t byte)
{
    put(w, w->packer->literal[byte]);
    w->a = (w->a + byte) % ADLER;
    w->b = (w->b + w->a) % ADLER;
}

/* A run of zeros: one, then matches with it; two at the end that are too short for one are
 * literals. */
static void put_zeros(struct writer *w, size_t run)
{
    if (!run) return;
    w->b = (uint32_t)((w->b + (uint64_t)run * w->a) % ADLER);
    put(w, w->packer->literal[0]);
    for (run--; run >= 3;) {
        size_t length = run < LONGEST ? run : LONGEST;
        put(w, w->packer->match[length]);
        run -= length;
    }
    while (run-- > 0)
        put(w, w->packer->literal[0]);
}

void exp_pack_row(const struct exp_packer *packer, const struct chil_exp_cell *cell, size_t cells,
                  size_t row_bytes, struct exp_bytes *out)
{
    size_t most =
        64 + cells * 40 + row_bytes / 100; /* a value takes at most 72 bits, and four runs of 46 */
    uint8_t *start = exp_bytes_add(out, most);
    struct writer w = {.packer = packer,
                       .at = start,
                       .bits = HEADER | (uint64_t)BLOCK_HEAD << 16,
                       .count = 19,
                       .a = 1};
    size_t position = 0;
    for (size_t i = 0; i < cells; i++) {
        uint64_t value = (uint64_t)cell[i].count; /* or the bits of a real */
        for (size_t at = cell[i].thread * sizeof value; value; value >>= 8, at++) {
            if (!(value & 0xff)) continue;
            put_zeros(&w, at - position);
            put_byte(&w, (uint8_t)value);
            position = at + 1;
        }
    }
    put_zeros(&w, row_bytes - position);
    put(&w, code_of(END));
    put(&w, (struct exp_code){0, 7}); /* to a whole byte */
    for (int i = TAIL - 1; i >= 0; i--)
        *w.at++ = (uint8_t)((w.b << 16 | w.a) >> 8 * i);
    out->size -= most - (size_t)(w.at - start);
}

/* --- Unpacking ------------------------------------------------------------------------------- */

void exp_unpacker_init(struct exp_unpacker *unpacker, size_t columns)
{
    memset(unpacker, 0, sizeof *unpacker);
    unpacker->columns = columns;
    unpacker->touched = base_calloc(columns, sizeof *unpacker->touched);
    for (unsigned symbol = 0; symbol < 257 + MATCHES; symbol++) {
        struct exp_code code = code_of(symbol);
        for (unsigned rest = 0; rest < 512U >> code.count; rest++)
            unpacker->symbol[code.bits | rest << code.count] =
                (struct exp_symbol){(uint16_t)symbol, code.count};
    }
}

void exp_unpacker_fini(struct exp_unpacker *unpacker)
{
    free(unpacker->touched);
}

void exp_unpacker_clear(struct exp_unpacker *unpacker, unsigned size, uint8_t *row)
{
    for (size_t i = 0; i < unpacker->touched_count; i++)
        memset(row + (size_t)unpacker->touched[i] * size, 0, size);
    unpacker->touched_count = 0;
}

struct reader {
    const uint8_t *at, *end;
    uint64_t bits;
    unsigned count;
};

static void fill(struct reader *r)
{
    while (r->count <= 56 && r->at < r->end) {
        r->bits |= (uint64_t)*r->at++ << r->count;
        r->count += 8;
    }
}

static unsigned take(struct reader *r, unsigned count)
{
    unsigned bits = (unsigned)(r->bits & ((1U << count) - 1));
    r->bits >>= count;
    r->count -= count;
    return bits;
}

/* The symbols of the block into the row; false where it is not what exp_pack_row writes. */
static bool unpack_block(struct exp_unpacker *unpacker, struct reader *r, unsigned size,
                         uint8_t *row, size_t row_bytes, uint32_t *sum)
{
    uint32_t a = 1, b = 0;
    size_t position = 0;
    unsigned last = 1; /* the byte before; a run of zeros needs one */
    for (;;) {
        fill(r);
        struct exp_symbol symbol = unpacker->symbol[r->bits & 511];
        if (!symbol.count || symbol.count > r->count) return false;
        (void)take(r, symbol.count);
        if (symbol.symbol == END) break;
        if (symbol.symbol < END) {
            if (position == row_bytes) return false;
            last = symbol.symbol;
            if (last) {
                uint32_t column = (uint32_t)(position / size);
                size_t count = unpacker->touched_count;
                if (!count || unpacker->touched[count - 1] != column)
                    unpacker->touched[unpacker->touched_count++] = column;
                row[position] = (uint8_t)last;
            }
            a = (a + last) % ADLER;
            b = (b + a) % ADLER;
            position++;
            continue;
        }
        unsigned extra = matches[symbol.symbol - 257].extra;
        if (last || r->count < extra + DISTANCE_BITS) return false;
        size_t length = matches[symbol.symbol - 257].length + (size_t)take(r, extra);
        if (take(r, DISTANCE_BITS) != 0 || length > row_bytes - position) return false;
        position += length;
        b = (uint32_t)((b + (uint64_t)length * a) % ADLER);
    }
    *sum = b << 16 | a;
    return position == row_bytes;
}

bool exp_unpack_row(struct exp_unpacker *unpacker, struct exp_span packed, unsigned size,
                    uint8_t *row, size_t row_bytes)
{
    uint32_t sum = 0;
    unpacker->touched_count = 0;
    if (packed.size < 2 + TAIL) return false;
    struct reader r = {.at = packed.byte, .end = packed.byte + packed.size - TAIL};
    fill(&r);
    if (take(&r, 16) != HEADER || r.count < 3 || take(&r, 3) != BLOCK_HEAD) return false;
    bool good =
        unpack_block(unpacker, &r, size, row, row_bytes, &sum) && r.count < 8 && r.at == r.end;
    for (int i = 0; i < TAIL; i++)
        good = good && packed.byte[packed.size - 1 - (size_t)i] == (uint8_t)(sum >> 8 * i);
    if (!good) exp_unpacker_clear(unpacker, size, row);
    return good;
}
