/* Maps ids of a file to indices of the experiment. */
#include "analyze/exp/exp_cube.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct exp_map_entry *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void exp_map_add(struct exp_map *map, int id, int index)
{
    map->entry = base_grow(map->entry, &map->capacity, map->count + 1, sizeof *map->entry);
    map->unsorted |= map->count && map->entry[map->count - 1].id > id;
    map->entry[map->count++] = (struct exp_map_entry){id, index};
}

static void sort_ids(struct exp_map *map)
{
    if (map->unsorted) qsort(map->entry, map->count, sizeof *map->entry, compare);
    map->unsorted = false;
}

int exp_map_find(struct exp_map *map, int id)
{
    sort_ids(map);
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->entry[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && map->entry[low].id == id ? map->entry[low].index : -1;
}

bool exp_map_unique(struct exp_map *map)
{
    sort_ids(map);
    for (size_t i = 1; i < map->count; i++)
        if (map->entry[i].id == map->entry[i - 1].id) return false;
    return true;
}

void exp_map_fini(struct exp_map *map)
{
    free(map->entry);
}
