/* The board's data path as the paper says it, wire by wire: a packet in, an address out, a bin
 * incremented. Slow and plain, for comparing. */
#ifndef MONITOR_LITERAL_H
#define MONITOR_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

struct literal_packet {
    uint64_t stamp, clock; /* the sender's and the receiver's */
    unsigned size, sender;
    uint32_t address;
};

struct literal_board {
    bool trace, toggle, wrap, once;
    int shift;
    uint64_t minimum, maximum, threshold;
    int category;
    const uint8_t *page_tags; /* by page */
    int field[5];             /* the chunk that each takes, 0 the lowest */
    uint64_t *memory;         /* 2^20 words */
    bool *fired;              /* 2^20 */
    uint64_t next;            /* record */
    bool interrupt, lost, full;
    uint32_t queue[16];
    int queued;
};

/* All choices of five chunks of twelve, in some order: their masks; 792 of them. */
int literal_choices(uint32_t masks[792]);
/* The rule it breaks: 0 none, 2 contiguous latency, 3 whole sender. */
int literal_rule(uint32_t mask);
/* Where the multiplexers put a legal choice; false if they cannot. */
bool literal_layout(uint32_t mask, int field[5]);
void literal_take(struct literal_board *board, const struct literal_packet *packet);

#endif
