/* Packets over the collective network; see chiliad/net.h.
 *
 * A message is cut into packets of 256 bytes. Up to 8 of them are on their way, as many as the FIFO
 * holds, so that the tree is always full. All nodes send, the root of a broadcast its data and the
 * others zeros, combined with OR: that is how IBM's software does it. */
#include <string.h>

#include "net_impl.h"

enum { DATA_IN = 0x00, HEADER_IN = 0x10, DATA_OUT = 0x20, HEADER_OUT = 0x30, STATUS = 0x40 };
enum { QUAD = 16, QUADS = NET_TREE_BYTES / QUAD };

static uint32_t channels[2];

static uint32_t channel(unsigned vc)
{
    if (!channels[0])
        for (unsigned i = 0; i < 2; i++)
            channels[i] = chiliad_personality_word(CHILIAD_PERSONALITY_COLLECTIVE + i);
    return channels[vc];
}

static inline volatile uint32_t *word_at(uint32_t address)
{
    return (volatile uint32_t *)address;
}

uint32_t net_tree_header(unsigned class, enum net_op op, unsigned operand_bytes)
{
    return class << 28 | (uint32_t)op << 23 | (operand_bytes / 2 - 1) << 16;
}

/* ---- one packet ---- */

static unsigned injected(uint32_t status)
{
    unsigned quads = status >> 24, headers = status >> 16 & 0xF;
    return headers > (quads + QUADS - 1) / QUADS ? headers : (quads + QUADS - 1) / QUADS;
}

static unsigned received(uint32_t status)
{
    return status & 0xF;
}

static void put(uint32_t port, uint32_t header, const void *data)
{
    *word_at(port + HEADER_IN) = header;
    for (unsigned i = 0; i < QUADS; i++)
        net_quad_copy(port + DATA_IN, (uint32_t)data + QUAD * i);
}

static uint32_t take(uint32_t port, void *data)
{
    uint32_t header = *word_at(port + HEADER_OUT);
    for (unsigned i = 0; i < QUADS; i++)
        net_quad_copy((uint32_t)data + QUAD * i, port + DATA_OUT);
    return header;
}

int net_tree_try_send(unsigned vc, uint32_t header, const void *data)
{
    uint32_t port = channel(vc);
    if (injected(*word_at(port + STATUS)) >= NET_TREE_PACKETS) return 0;
    put(port, header, data);
    return 1;
}

void net_tree_send(unsigned vc, uint32_t header, const void *data)
{
    uint32_t port = channel(vc);
    while (injected(*word_at(port + STATUS)) >= NET_TREE_PACKETS) {
    }
    put(port, header, data);
}

int net_tree_try_receive(unsigned vc, uint32_t *header, void *data)
{
    uint32_t port = channel(vc);
    if (!received(*word_at(port + STATUS))) return 0;
    *header = take(port, data);
    return 1;
}

void net_tree_receive(unsigned vc, uint32_t *header, void *data)
{
    uint32_t port = channel(vc);
    while (!received(*word_at(port + STATUS))) {
    }
    *header = take(port, data);
}

/* ---- messages ---- */

typedef uint8_t packet_bytes[NET_TREE_BYTES] __attribute__((aligned(16)));

static inline size_t part_of(size_t bytes, size_t at)
{
    return bytes - at < NET_TREE_BYTES ? bytes - at : NET_TREE_BYTES;
}

static int is_aligned(const void *data, size_t part)
{
    return part == NET_TREE_BYTES && (uint32_t)data % QUAD == 0;
}

/* Packet at `at` of a message; `from` NULL: of zeros. */
static void send_part(uint32_t port, uint32_t header, const uint8_t *from, size_t bytes, size_t at)
{
    static const packet_bytes zeros;
    packet_bytes copy;
    size_t part = part_of(bytes, at);
    if (!from) {
        put(port, header, zeros);
    } else if (is_aligned(from + at, part)) {
        put(port, header, from + at);
    } else {
        memcpy(copy, from + at, part);
        memset(copy + part, 0, sizeof copy - part);
        put(port, header, copy);
    }
}

static void receive_part(uint32_t port, uint8_t *to, size_t bytes, size_t at)
{
    packet_bytes copy;
    size_t part = part_of(bytes, at);
    if (is_aligned(to + at, part)) {
        (void)take(port, to + at);
        return;
    }
    (void)take(port, copy);
    memcpy(to + at, copy, part);
}

/* Sends a message and receives what comes of it, so many packets ahead as there is room for. */
static void stream(uint8_t *to, const uint8_t *from, size_t bytes, uint32_t header)
{
    uint32_t port = channel(0);
    size_t sent = 0, got = 0;
    while (got < bytes) {
        uint32_t status = *word_at(port + STATUS);
        unsigned room = NET_TREE_PACKETS - injected(status), ready = received(status);
        size_t ahead = (sent - got) / NET_TREE_BYTES;
        for (; room && sent < bytes && ahead < 2 * NET_TREE_PACKETS; room--, ahead++) {
            send_part(port, header, from, bytes, sent);
            sent += NET_TREE_BYTES;
        }
        for (; ready && got < bytes; ready--) {
            receive_part(port, to, bytes, got);
            got += NET_TREE_BYTES;
        }
    }
}

void net_combine(void *result, const void *operands, size_t bytes, enum net_op op,
                 unsigned operand_bytes)
{
    stream(result, operands, bytes, net_tree_header(NET_TREE_CLASS, op, operand_bytes));
}

void net_broadcast(void *data, size_t bytes, unsigned root)
{
    stream(data, net_node() == root ? data : NULL, bytes,
           net_tree_header(NET_TREE_CLASS, NET_OR, 2));
}

/* ---- sums of doubles ---- */

enum {
    BLOCK = 1024,    /* summands of which both passes are made */
    DOUBLES = 21,    /* numbers of 96 bits in a packet */
    LIMBS = 3,       /* words of one */
    SPECIAL = 0x7FF, /* exponent of infinities and NaN */
    SHIFT = 25,      /* of the largest summand's 53 bits: 96 - 53 - 1 sign - 17 carries */
};

static unsigned exponent_of(double value)
{
    union {
        double d;
        uint64_t u;
    } bits = {value};
    unsigned exponent = bits.u >> 52 & SPECIAL;
    return exponent ? exponent : 1;
}

/* The summand as a number of 96 bits with the scale of the largest exponent. */
static void to_fixed(double value, unsigned largest, uint32_t limb[LIMBS])
{
    union {
        double d;
        uint64_t u;
    } bits = {value};
    uint64_t mantissa = bits.u & 0xFFFFFFFFFFFFFull;
    unsigned own = bits.u >> 52 & SPECIAL;
    if (largest == SPECIAL) { /* NaN, minus and plus infinity: a count of each */
        limb[0] = own == SPECIAL && mantissa;
        limb[1] = own == SPECIAL && !mantissa && bits.u >> 63;
        limb[2] = own == SPECIAL && !mantissa && !(bits.u >> 63);
        return;
    }
    if (own) mantissa |= 1ull << 52;
    unsigned down = largest - (own ? own : 1);
    /* mantissa << SHIFT >> down, in 96 bits */
    uint64_t high = mantissa >> (64 - SHIFT), low = mantissa << SHIFT;
    if (down >= 64) {
        low = down - 64 < 32 ? high >> (down - 64) : 0;
        high = 0;
    } else if (down) {
        low = low >> down | high << (64 - down);
        high >>= down;
    }
    if (bits.u >> 63) {
        low = ~low + 1;
        high = ~high + !low;
    }
    limb[0] = (uint32_t)high;
    limb[1] = (uint32_t)(low >> 32);
    limb[2] = (uint32_t)low;
}

static double scaled(double value, int exponent)
{
    while (exponent > 1000) {
        value *= 0x1p1000;
        exponent -= 1000;
    }
    while (exponent < -1000) {
        value *= 0x1p-1000;
        exponent += 1000;
    }
    union {
        uint64_t u;
        double d;
    } power = {(uint64_t)(exponent + 1023) << 52};
    return value * power.d;
}

static double from_fixed(const uint32_t limb[LIMBS], unsigned largest)
{
    if (largest == SPECIAL) {
        if (limb[0] || (limb[1] && limb[2])) return __builtin_nan("");
        return limb[1] ? -__builtin_inf() : __builtin_inf();
    }
    uint64_t high = limb[0], low = (uint64_t)limb[1] << 32 | limb[2];
    int negative = limb[0] >> 31;
    if (negative) {
        low = ~low + 1;
        high = (uint32_t)(~high + !low);
    }
    /* The top 64 bits that are set, with a last one for all below. */
    int exponent = (int)largest - 1023 - 52 - SHIFT;
    if (high) {
        unsigned up = (unsigned)__builtin_clzll(high);
        uint64_t rest = low << up;
        low = up ? high << up | low >> (64 - up) : high;
        low |= rest != 0;
        exponent += 64 - (int)up;
    }
    double value = scaled((double)low, exponent);
    return negative ? -value : value;
}

void net_sum_double(double *result, const double *summands, size_t count)
{
    uint16_t exponents[BLOCK] __attribute__((aligned(16)));
    uint32_t limbs[(BLOCK + DOUBLES - 1) / DOUBLES][NET_TREE_BYTES / 4]
        __attribute__((aligned(16)));
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t part = count - at < BLOCK ? count - at : BLOCK;
        size_t packets = (part + DOUBLES - 1) / DOUBLES;
        for (size_t i = 0; i < part; i++)
            exponents[i] = (uint16_t)exponent_of(summands[at + i]);
        net_combine(exponents, exponents, 2 * part, NET_MAX, 2);
        memset(limbs, 0, packets * NET_TREE_BYTES);
        for (size_t i = 0; i < part; i++)
            to_fixed(summands[at + i], exponents[i], limbs[i / DOUBLES] + LIMBS * (i % DOUBLES));
        net_combine(limbs, limbs, packets * NET_TREE_BYTES, NET_ADD, 4 * LIMBS);
        for (size_t i = 0; i < part; i++)
            result[at + i] = from_fixed(limbs[i / DOUBLES] + LIMBS * (i % DOUBLES), exponents[i]);
    }
}
