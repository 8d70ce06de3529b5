#include "base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not abort: that would look like the end of a guest by SIGABRT. 125: as a bad input of a command.
 */
enum { ARENA_BLOCK = 64 * 1024, STATUS = 125 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

void base_end(const char *why)
{
    (void)fputs("chiliad: ", stderr);
    (void)fputs(why, stderr);
    (void)fputc('\n', stderr);
    _exit(STATUS);
}

static void *memory_or_end(void *p)
{
    if (p) return p;
    base_end("out of memory; give it more (ulimit -v, memory of the host) or a smaller task");
}

void *base_calloc(size_t count, size_t size)
{
    return memory_or_end(calloc(count ? count : 1, size ? size : 1));
}

char *base_strdup(const char *text)
{
    return memory_or_end(strdup(text));
}

void *base_calloc_aligned(size_t count, size_t size, size_t alignment)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return memory_or_end(NULL);
    bytes = (bytes + alignment - 1) & ~(alignment - 1);
    return memset(memory_or_end(aligned_alloc(alignment, bytes ? bytes : alignment)), 0, bytes);
}

void *base_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) return array;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < need && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    *capacity = wanted < need ? need : wanted;
    return memory_or_end(reallocarray(array, *capacity, size));
}

void *base_reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory_or_end(at == MAP_FAILED ? NULL : at);
}

void base_release(void *at, size_t bytes)
{
    (void)munmap(at, bytes);
}

void arena_init(struct arena *arena)
{
    arena->blocks = NULL;
    arena->used = 0;
}

void arena_fini(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->used = 0;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return memory_or_end(NULL);
    bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (!arena->blocks || arena->blocks->size - arena->used < bytes) {
        size_t room = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK;
        struct arena_block *block = base_calloc(1, sizeof *block + room);
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
    }
    void *p = arena->blocks->bytes + arena->used;
    arena->used += bytes;
    return p;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_calloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}
