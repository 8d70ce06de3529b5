/* The monitor's board on the node, for the program that runs on it: registers at CHILIAD_MONITOR, 64 bits each, of
 * which the low word is at + 4. docs/formats/monitor-registers.md of Chiliad is the reference. The board is one for the
 * node.
 *
 * The category and tags that a program sets here are also those of `chiliad hist`.
 */
#ifndef CHILIAD_MONITOR_H
#define CHILIAD_MONITOR_H

#include <stdint.h>

#include "chiliad/callthru.h"

#define CHILIAD_MONITOR UINT32_C(0xFFFDB000)

enum chiliad_monitor_register {
    CHILIAD_MONITOR_CONTROL = 0x00,
    CHILIAD_MONITOR_CATEGORY = 0x08,
    CHILIAD_MONITOR_THRESHOLD = 0x10,
    CHILIAD_MONITOR_CHUNKS = 0x18,
    CHILIAD_MONITOR_SHIFT = 0x20,
    CHILIAD_MONITOR_MINIMUM = 0x28,
    CHILIAD_MONITOR_MAXIMUM = 0x30,
    CHILIAD_MONITOR_JUMPERS = 0x38,
    CHILIAD_MONITOR_ADDRESS = 0x40,
    CHILIAD_MONITOR_COUNT = 0x48,
    CHILIAD_MONITOR_DATA = 0x50,
    CHILIAD_MONITOR_FILL = 0x58,
    CHILIAD_MONITOR_STATUS = 0x60,
    CHILIAD_MONITOR_OVERFLOW = 0x68,
    CHILIAD_MONITOR_QUEUED = 0x70,
    CHILIAD_MONITOR_RECORDS = 0x78,
    CHILIAD_MONITOR_LAYOUT = 0x80,
    CHILIAD_MONITOR_EXPORT = 0x88
};

/* Bits of CONTROL. With SIGNAL an interrupt is a SIGIO for the thread that caused it, behind the instruction that did;
 * the handler reads the bins from OVERFLOW. Without a handler it ends the program. */
enum {
    CHILIAD_MONITOR_RUN = 1,
    CHILIAD_MONITOR_TRACE = 2,
    CHILIAD_MONITOR_TOGGLE = 4,
    CHILIAD_MONITOR_WRAP = 8,
    CHILIAD_MONITOR_ONCE = 16,
    CHILIAD_MONITOR_SIGNAL = 32
};

/* Numbers of up to 32 bits: one store. */
static inline void chiliad_monitor_set(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(CHILIAD_MONITOR + offset + 4) = value;
}

static inline void chiliad_monitor_set64(uint32_t offset, uint64_t value)
{
    *(volatile uint32_t *)(CHILIAD_MONITOR + offset) = (uint32_t)(value >> 32);
    *(volatile uint32_t *)(CHILIAD_MONITOR + offset + 4) = (uint32_t)value;
}

static inline uint64_t chiliad_monitor_get(uint32_t offset)
{
    uint32_t high = *(volatile uint32_t *)(CHILIAD_MONITOR + offset);
    return (uint64_t)high << 32 | *(volatile uint32_t *)(CHILIAD_MONITOR + offset + 4);
}

/* 0 to 15: what transactions from now on are counted under. */
static inline void chiliad_category(uint32_t category)
{
    chiliad_monitor_set(CHILIAD_MONITOR_CATEGORY, category);
}

/* The pages that hold these bytes get a tag, 0 to 15. Page tables are the simulator's: this is a call-through. Returns
 * 0 or a negative error number. */
static inline long chiliad_tag(const volatile void *bytes, uint32_t length, uint32_t tag)
{
    const uint32_t request[3] = {(uint32_t)bytes, length, tag};
    return chiliad_callthru(CHILIAD_TAG, (long)request, 0);
}

#endif
