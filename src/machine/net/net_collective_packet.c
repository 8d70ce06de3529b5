/* The collective network's packet: its header, bit by bit, and the operations of the ALU.
 *
 * Source: IBM's bgp_dcr.h and BGL_TreePktSPI.h. Bits are numbered from the most significant one.
 * Operands are unsigned and big-endian. A payload of 128 words of 16 bits has 128 / words operands;
 * what is left at its end is one shorter operand.
 */
#include <string.h>

#include "base/bits.h"
#include "machine/net/net_collective.h"

/* As (first bit, bits). */
#define CLASS          0, 4
#define POINT_TO_POINT 4, 1
#define INTERRUPT      5, 1
#define OP             6, 3
#define WORDS          9, 7
#define TAG            16, 14
#define TARGET         6, 24
#define CHECKSUM       30, 2

static uint32_t field(uint32_t value, unsigned first, unsigned bits)
{
    return (value & (uint32_t)bits_mask64(bits)) << (32 - first - bits);
}

static uint32_t field_of(uint32_t word, unsigned first, unsigned bits)
{
    return word >> (32 - first - bits) & (uint32_t)bits_mask64(bits);
}

uint32_t net_collective_header_encode(const struct net_collective_header *h)
{
    uint32_t word = field(h->class, CLASS) | field(h->point_to_point, POINT_TO_POINT) |
                    field(h->interrupt, INTERRUPT) | field(h->checksum, CHECKSUM);
    if (h->point_to_point) return word | field(h->target, TARGET);
    return word | field(h->op, OP) | field(h->words - 1u, WORDS) | field(h->tag, TAG);
}

void net_collective_header_decode(uint32_t word, struct net_collective_header *h)
{
    *h = (struct net_collective_header){
        .class = (uint8_t)field_of(word, CLASS),
        .point_to_point = field_of(word, POINT_TO_POINT),
        .interrupt = field_of(word, INTERRUPT),
        .checksum = (uint8_t)field_of(word, CHECKSUM),
    };
    if (h->point_to_point) {
        h->target = field_of(word, TARGET);
        return;
    }
    h->op = (uint8_t)field_of(word, OP);
    h->words = (uint8_t)(field_of(word, WORDS) + 1);
    h->tag = (uint16_t)field_of(word, TAG);
}

static void add(uint8_t *into, const uint8_t *from, unsigned bytes)
{
    unsigned carry = 0;
    while (bytes--) {
        carry += (unsigned)into[bytes] + from[bytes];
        into[bytes] = (uint8_t)carry;
        carry >>= 8;
    }
}

static void combine_operand(unsigned op, uint8_t *into, const uint8_t *from, unsigned bytes)
{
    if (op == COLLECTIVE_ADD) add(into, from, bytes);
    if (op == COLLECTIVE_MAX && memcmp(into, from, bytes) < 0) memcpy(into, from, bytes);
    for (unsigned i = 0; i < bytes; i++)
        switch (op) {
        case COLLECTIVE_OR: into[i] |= from[i]; break;
        case COLLECTIVE_AND: into[i] &= from[i]; break;
        case COLLECTIVE_XOR: into[i] ^= from[i]; break;
        default: break;
        }
}

void net_collective_combine(unsigned op, unsigned words, uint8_t into[COLLECTIVE_PAYLOAD],
                            const uint8_t from[COLLECTIVE_PAYLOAD])
{
    unsigned operand = 2 * words;
    for (unsigned at = 0; at < COLLECTIVE_PAYLOAD; at += operand) {
        unsigned rest = COLLECTIVE_PAYLOAD - at;
        combine_operand(op, into + at, from + at, operand < rest ? operand : rest);
    }
}
