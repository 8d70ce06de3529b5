/* zlib streams of rows that are mostly zeros, made and taken apart in time that grows with what is
 * not zero.
 *
 * A .cubex has a stream for each row, and a row a value for each thread. Where an experiment of 256
 * threads has one value in a row, zlib spends microseconds on 2 KB of zeros; ten million such rows
 * are a minute. So streams of one shape are written here: one block with the fixed Huffman codes,
 * bytes as literals, runs of zeros as matches at distance 1 (RFC 1950 and 1951). Any zlib reads
 * them. Streams of another shape are for zlib to read.
 */
#ifndef EXP_ZEROS_H
#define EXP_ZEROS_H

#include "analyze/exp/exp_cube.h"

enum { ZEROS_LENGTHS = 259 };

struct exp_packer {
    struct exp_code {
        uint16_t bits;
        uint8_t count;
    } literal[256];
    struct exp_code
        match[ZEROS_LENGTHS]; /* of that many bytes, at distance 1; extra bits included */
};
void exp_packer_init(struct exp_packer *packer);
/* Appends the stream of a row of `row_bytes` bytes with 64-bit values at `cells`, which are sorted
 * by thread. */
void exp_pack_row(const struct exp_packer *packer, const struct chil_exp_cell *cell, size_t cells,
                  size_t row_bytes, struct exp_bytes *out);

struct exp_unpacker {
    struct exp_symbol {
        uint16_t symbol;
        uint8_t count; /* of bits; 0: no code */
    } symbol[512];     /* by the next nine bits */
    uint32_t *touched; /* columns that are not zero, ascending */
    size_t columns, touched_count;
};
void exp_unpacker_init(struct exp_unpacker *unpacker, size_t columns);
void exp_unpacker_fini(struct exp_unpacker *unpacker);
/* Fills a row of zeros of `size` bytes a column, and `touched`; false: not of this shape, or
 * damaged. */
bool exp_unpack_row(struct exp_unpacker *unpacker, struct exp_span packed, unsigned size,
                    uint8_t *row, size_t row_bytes);
/* Makes what exp_unpack_row filled zero again. */
void exp_unpacker_clear(struct exp_unpacker *unpacker, unsigned size, uint8_t *row);

#endif
