/* The torus packet's header, bit by bit, and the sizes of messages.
 *
 * Source: IBM's bgp_torus_packet.h and BGL_TorusPktSPI.h. Bits are numbered from the most
 * significant one. Blue Gene/L has no meaning for pid1 and the DMA bit, and leaves words 2 and 3 to
 * software.
 */
#include "base/bits.h"
#include "machine/net/net_torus.h"

/* Word 0, as (first bit, bits). */
#define SKIP     0, 7
#define SKIP_ALL 7, 1
#define HINTS    8, 6
#define DEPOSIT  14, 1
#define PID0     15, 1
#define CHUNKS   16, 3
#define PID1     19, 1
#define DIRECT   20, 1
#define DYNAMIC  21, 1
#define CHANNEL  22, 2
#define TARGET_X 24, 8
/* Word 1. */
#define TARGET_Y 0, 8
#define TARGET_Z 8, 8
#define RESERVED 16, 16
/* Word 3 of a direct put. */
#define COUNTER 0, 8
#define PAYLOAD 8, 8
#define FLAGS   16, 8
#define FIFO    24, 8

static uint32_t field(uint32_t value, unsigned first, unsigned bits)
{
    return (value & (uint32_t)bits_mask64(bits)) << (32 - first - bits);
}

static uint32_t field_of(uint32_t word, unsigned first, unsigned bits)
{
    return word >> (32 - first - bits) & (uint32_t)bits_mask64(bits);
}

void net_torus_header_encode(const struct net_torus_header *h, uint32_t words[4])
{
    words[0] = field(h->checksum_skip, SKIP) | field(h->skip_checksum, SKIP_ALL) |
               field(h->hints, HINTS) | field(h->deposit, DEPOSIT) | field(h->group >> 1u, PID0) |
               field(h->chunks - 1u, CHUNKS) | field(h->group, PID1) | field(h->direct, DIRECT) |
               field(h->dynamic, DYNAMIC) | field(h->channel, CHANNEL) |
               field(h->target[0], TARGET_X);
    words[1] = field(h->target[1], TARGET_Y) | field(h->target[2], TARGET_Z) |
               field(h->reserved, RESERVED);
    words[2] = h->software[0];
    words[3] = h->software[1];
}

void net_torus_header_decode(const uint32_t words[4], struct net_torus_header *h)
{
    *h = (struct net_torus_header){
        .checksum_skip = (uint8_t)field_of(words[0], SKIP),
        .skip_checksum = field_of(words[0], SKIP_ALL),
        .hints = (uint8_t)field_of(words[0], HINTS),
        .deposit = field_of(words[0], DEPOSIT),
        .group = (uint8_t)(field_of(words[0], PID0) << 1 | field_of(words[0], PID1)),
        .chunks = (uint8_t)(field_of(words[0], CHUNKS) + 1),
        .direct = field_of(words[0], DIRECT),
        .dynamic = field_of(words[0], DYNAMIC),
        .channel = (uint8_t)field_of(words[0], CHANNEL),
        .target = {(uint8_t)field_of(words[0], TARGET_X), (uint8_t)field_of(words[1], TARGET_Y),
                   (uint8_t)field_of(words[1], TARGET_Z)},
        .reserved = (uint16_t)field_of(words[1], RESERVED),
        .software = {words[2], words[3]},
    };
}

void net_torus_put_encode(const struct net_torus_put *put, uint32_t software[2])
{
    software[0] = put->offset;
    software[1] = field(put->counter, COUNTER) | field(put->payload, PAYLOAD) |
                  field(put->flags, FLAGS) | field(put->fifo, FIFO);
}

void net_torus_put_decode(const uint32_t software[2], struct net_torus_put *put)
{
    *put = (struct net_torus_put){
        .offset = software[0],
        .counter = (uint8_t)field_of(software[1], COUNTER),
        .payload = (uint8_t)field_of(software[1], PAYLOAD),
        .flags = (uint8_t)field_of(software[1], FLAGS),
        .fifo = (uint8_t)field_of(software[1], FIFO),
    };
}

void net_torus_message_size(uint64_t bytes, uint64_t *packets, uint64_t *chunks)
{
    uint64_t rest = bytes % TORUS_PAYLOAD_MAX;
    *packets = bytes ? bits_ceil_div(bytes, TORUS_PAYLOAD_MAX) : 1;
    *chunks = bytes / TORUS_PAYLOAD_MAX * TORUS_CHUNKS_MAX;
    if (rest || !bytes) *chunks += bits_ceil_div(rest + TORUS_HEADER, TORUS_CHUNK);
}
