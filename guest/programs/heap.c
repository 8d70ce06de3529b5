/* Blocks of the heap with known misses: each is walked from its first whole line on, with its own stride, and is more
 * than L1 holds. What a walk misses is BYTES / stride; a block that was freed and given out again is another's then. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 1 << 16, LINE = 32, LINKS = 16, ROOM = LINKS + LINE };

__attribute__((noinline)) static void walk_grid(volatile char *grid)
{
    for (unsigned i = 0; i < BYTES; i += 32)
        (void)grid[i];
}

__attribute__((noinline)) static void walk_list(volatile char *list)
{
    for (unsigned i = 0; i < BYTES; i += 256)
        (void)list[i];
}

/* The first whole line of a block behind what free keeps in it. */
static char *line(void *block)
{
    if (!block) _exit(1);
    return (char *)(((uintptr_t)block + ROOM - 1) & ~(uintptr_t)(LINE - 1));
}

int main(void)
{
    void *grid = malloc(BYTES + ROOM);
    void *list = calloc(1, BYTES + ROOM), *page = NULL;
    void *wall = malloc(64); /* behind it, so that it cannot grow where it is */
    walk_grid(line(grid));
    walk_list(line(list));
    walk_grid(line(grid));
    walk_list(line(list));

    free(grid);
    walk_grid(line(grid)); /* no block: it is the heap's */
    void *other = malloc(BYTES + ROOM);
    walk_grid(line(other));

    char *old = line(list);
    list = realloc(list, 2 * BYTES);
    walk_grid(line(other));
    walk_list(old); /* no block, too */
    walk_list(line(list));
    if (posix_memalign(&page, 4096, BYTES)) _exit(1);
    walk_list(page);
    free(page);
    free(list);
    free(other);
    free(wall);
    return grid != other; /* it was given out again */
}
