/* LZ77 compression with hash chains, and decompression. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE = 4 << 20,
    WINDOW = 1 << 15,
    HASHES = 1 << 14,
    CHAIN = 16,
    MATCH_MIN = 4,
    MATCH_MAX = 258
};

static uint8_t input[SIZE], packed[2 * SIZE], output[SIZE];
static int head[HASHES], previous[WINDOW];

static void make_input(void)
{
    static const char *const words[] = {"the ",  "counter ", "of ",   "a ",   "cache ",   "line ",
                                        "node ", "is ",      "read ", "and ", "written ", "by ",
                                        "core ", "two ",     "when ", "it ",  "stops. "};
    uint32_t state = 4711;
    size_t at = 0;
    while (at < SIZE) {
        state = state * 1664525u + 1013904223u;
        const char *word = words[(state >> 10) % (sizeof words / sizeof *words)];
        size_t length = strlen(word);
        if (length > SIZE - at) length = SIZE - at;
        memcpy(input + at, word, length);
        at += length;
        if ((state >> 4) % 64 == 0 && at < SIZE) input[at++] = (uint8_t)(state >> 16);
    }
}

static unsigned hash(const uint8_t *p)
{
    uint32_t x = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return x * 2654435761u >> 18;
}

static void insert(int at)
{
    unsigned h = hash(input + at);
    previous[at % WINDOW] = head[h];
    head[h] = at;
}

static int longest(int at, int *from)
{
    int best = 0, limit = SIZE - at < MATCH_MAX ? SIZE - at : MATCH_MAX;
    int candidate = head[hash(input + at)];
    for (int i = 0; i < CHAIN && candidate >= 0 && at - candidate < WINDOW; i++) {
        int length = 0;
        while (length < limit && input[candidate + length] == input[at + length])
            length++;
        if (length > best) {
            best = length;
            *from = candidate;
        }
        candidate = previous[candidate % WINDOW];
    }
    return best;
}

/* A token: a 0 byte and a literal, or the length - 3 and a distance of two bytes. */
static size_t compress_input(void)
{
    size_t size = 0;
    memset(head, -1, sizeof head);
    for (int at = 0; at < SIZE;) {
        int from = 0, length = at + MATCH_MIN <= SIZE ? longest(at, &from) : 0;
        if (length < MATCH_MIN) {
            packed[size++] = 0;
            packed[size++] = input[at];
            length = 1;
        } else {
            packed[size++] = (uint8_t)(length - 3);
            packed[size++] = (uint8_t)((at - from) >> 8);
            packed[size++] = (uint8_t)(at - from);
        }
        for (int end = at + length; at < end; at++)
            if (at + MATCH_MIN <= SIZE) insert(at);
    }
    return size;
}

static void expand(size_t size)
{
    size_t to = 0;
    for (size_t at = 0; at < size;) {
        int length = packed[at++];
        if (length == 0) {
            output[to++] = packed[at++];
            continue;
        }
        size_t distance = (size_t)packed[at] << 8 | packed[at + 1];
        at += 2;
        for (length += 3; length > 0; length--, to++)
            output[to] = output[to - distance];
    }
}

int main(void)
{
    make_input();
    size_t size = compress_input();
    expand(size);
    printf("%d -> %zu, %s\n", SIZE, size, memcmp(input, output, SIZE) ? "different" : "the same");
    return memcmp(input, output, SIZE) != 0;
}
