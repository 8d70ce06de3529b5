/* Compresses and decompresses sparse rows as zlib streams, in time proportional to their non-zero
 * bytes.
 *
 * A .cubex has one stream per row, and a row has one value per thread. A row of 256 threads with
 * one value is 2 KB of zeros, on which zlib spends microseconds; ten million such rows take it a
 * minute. exp_pack_row writes one form of stream only: one block with the fixed Huffman codes,
 * bytes as literals, runs of zeros as matches at distance 1 (RFC 1950 and 1951). Any zlib reads
 * it. exp_unpack_row reads that form only; the caller passes other streams to zlib.
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
