/* Allocation that cannot fail: when the host is out of memory, the program ends here.
 *
 * base_calloc, base_grow and base_reserve never return NULL for a non-zero size. An arena hands out
 * zeroed memory that dies together, in one arena_fini; what a parser builds lives in one.
 *
 * Terms: docs/glossary.md
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* The same end for a host that lacks something else, where a result would be silently incomplete.
 */
void base_end(const char *why) __attribute__((noreturn));
char *base_strdup(const char *text);
void *base_calloc(size_t count, size_t size);
/* The same at a multiple of `alignment`, a power of two. */
void *base_calloc_aligned(size_t count, size_t size, size_t alignment);
/* Makes room for at least `need` elements of `size` bytes; *capacity is in elements and at least
 * doubles. */
void *base_grow(void *array, size_t *capacity, size_t need, size_t size);
/* Zeros that cost nothing until they are touched, for tables of which little is; base_calloc writes
 * the zeros where it has memory that was used before. Freed by base_release. */
void *base_reserve(size_t bytes);
void base_release(void *at, size_t bytes);

struct arena_block;
struct arena {
    struct arena_block *blocks;
    size_t used;
};

void arena_init(struct arena *arena);
void arena_fini(struct arena *arena);
void *arena_calloc(struct arena *arena, size_t count, size_t size);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);

#endif
