/* Handles: a table of objects for each kind. Numbers below FIRST are those of predefined objects.
 */
#include "mpi_impl.h"

#include <stdio.h>

enum { FIRST = 0x80, NUMBER = 0xffffff };

static struct table {
    void **objects;
    int size, used, free; /* free: the first of a list in the unused objects, 0: none */
} tables[KINDS];

void *mpi_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (memory) return memory;
    (void)fprintf(stderr, "mpi: rank %d: %s: out of memory\n", mpi.rank,
                  mpi_call ? mpi_call : "MPI");
    mpi_abort(MPI_ERR_NO_MEM);
}

static void grow(struct table *table, int number)
{
    int size = table->size ? 2 * table->size : 2 * FIRST;
    if (number < table->size) return;
    while (size <= number)
        size *= 2;
    table->objects = realloc(table->objects, (size_t)size * sizeof *table->objects);
    if (!table->objects) abort();
    memset(table->objects + table->size, 0, (size_t)(size - table->size) * sizeof *table->objects);
    table->size = size;
}

void mpi_handle_set(int handle, void *object)
{
    struct table *table = &tables[handle >> 24];
    grow(table, handle & NUMBER);
    table->objects[handle & NUMBER] = object;
}

int mpi_handles(enum kind kind)
{
    return (int)kind << 24 | tables[kind].used;
}

/* Unused objects hold the number of the next one, odd. */
int mpi_handle_new(enum kind kind, void *object)
{
    struct table *table = &tables[kind];
    int number = table->free;
    if (number)
        table->free = (int)((uintptr_t)table->objects[number] >> 1);
    else {
        if (table->used < FIRST) table->used = FIRST;
        number = table->used++;
        grow(table, number);
    }
    table->objects[number] = object;
    return (int)kind << 24 | number;
}

void mpi_handle_free(int handle)
{
    struct table *table = &tables[handle >> 24];
    int number = handle & NUMBER;
    if (number < FIRST) {
        table->objects[number] = NULL;
        return;
    }
    table->objects[number] = (void *)((uintptr_t)table->free << 1 | 1);
    table->free = number;
}

void *mpi_object(enum kind kind, int handle)
{
    const struct table *table = &tables[kind];
    int number = handle & NUMBER;
    if (handle >> 24 != (int)kind || number >= table->size) return NULL;
    void *object = table->objects[number];
    return (uintptr_t)object & 1 ? NULL : object;
}
