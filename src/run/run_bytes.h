/* Numbers and texts as bytes, for what ranks send each other: seven bits a byte, low bits first.
 * The bytes come from the same program on another rank and are not checked. */
#ifndef RUN_BYTES_H
#define RUN_BYTES_H

#include <string.h>

#include "base/ranks.h"

static inline void run_put(struct ranks_message *message, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; value >= 128; value >>= 7)
        bytes[count++] = (uint8_t)(value | 128);
    bytes[count++] = (uint8_t)value;
    ranks_message_add(message, bytes, count);
}

static inline uint64_t run_take(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return value;
    }
}

/* Of either sign. */
static inline void run_put_signed(struct ranks_message *message, int64_t value)
{
    run_put(message, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline int64_t run_take_signed(const uint8_t **at)
{
    uint64_t value = run_take(at);
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* A text may be NULL. One that is taken is in the bytes. */
static inline void run_put_text(struct ranks_message *message, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    run_put(message, size);
    if (size) ranks_message_add(message, text, size);
}

static inline const char *run_take_text(const uint8_t **at)
{
    size_t size = (size_t)run_take(at);
    const char *text = (const char *)*at;
    *at += size;
    return size ? text : NULL;
}

#endif
