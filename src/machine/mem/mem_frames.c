/* Page frames: the tables of address spaces, first touch, and the list of pages by frame.
 *
 * A table has an entry for each of the 2^20 pages of a space, in memory that costs nothing until it
 * is touched. Behind the entries stands a count for each group of pages, so that a space which ends
 * passes over pages that were never touched.
 */
#include "machine/mem/mem_frames.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { GROUP = 1024, GROUPS = MEM_PAGES / GROUP };

static const size_t table_bytes = (MEM_PAGES + GROUPS) * sizeof(uint32_t);

static uint32_t *group_of(const struct mem_table *table, uint32_t page)
{
    return &table->entry[MEM_PAGES + page / GROUP];
}

/* ---- address spaces ---- */

unsigned mem_space_new(struct mem_frames *frames)
{
    unsigned space = 0;
    while (space < frames->table_count && frames->tables[space].used)
        space++;
    if (space == frames->table_count) {
        frames->tables =
            base_grow(frames->tables, &frames->table_capacity, space + 1, sizeof *frames->tables);
        frames->table_count++;
    }
    frames->tables[space] = (struct mem_table){.used = true, .entry = base_reserve(table_bytes)};
    return space;
}

void mem_space_free(struct mem_frames *frames, unsigned space)
{
    struct mem_table *table = &frames->tables[space];
    assert(table->used && mem_frames_next(frames, space, 0, MEM_PAGES - 1) == MEM_PAGES);
    base_release(table->entry, table_bytes);
    *table = (struct mem_table){0};
}

void mem_frames_fini(struct mem_frames *frames)
{
    for (size_t i = 0; i < frames->table_count; i++)
        if (frames->tables[i].used) base_release(frames->tables[i].entry, table_bytes);
    free(frames->tables);
    free(frames->first);
    free(frames->mappings);
    free(frames->free);
    *frames = (struct mem_frames){0};
}

/* ---- frames ---- */

static uint32_t new_mapping(struct mem_frames *frames)
{
    uint32_t at = frames->free_mapping;
    if (at) {
        assert(frames->mappings);
        frames->free_mapping = frames->mappings[at].next;
        return at;
    }
    at = frames->mapping_count ? (uint32_t)frames->mapping_count : 1;
    frames->mapping_count = at + 1;
    frames->mappings = base_grow(frames->mappings, &frames->mapping_capacity, frames->mapping_count,
                                 sizeof *frames->mappings);
    return at;
}

static void map(struct mem_frames *frames, unsigned space, uint32_t page, uint32_t frame,
                unsigned alone)
{
    uint32_t at = new_mapping(frames);
    frames->mappings[at] = (struct mem_mapping){space, page, frames->first[frame]};
    frames->first[frame] = at;
    struct mem_table *table = &frames->tables[space];
    table->entry[page] = (frame + 1) * 2 + alone;
    ++*group_of(table, page);
}

uint32_t mem_first_touch(struct mem_frames *frames, unsigned space, uint32_t page)
{
    unsigned alone = !frames->free_count;
    uint32_t frame;
    if (alone) {
        frame = (uint32_t)frames->count;
        frames->first =
            base_grow(frames->first, &frames->capacity, frames->count + 1, sizeof *frames->first);
        frames->first[frames->count++] = 0;
    } else {
        frame = frames->free[--frames->free_count];
    }
    map(frames, space, page, frame, alone);
    frames->tables[space].first_touches++;
    frames->first_touches++;
    return frames->tables[space].entry[page];
}

void mem_frames_map(struct mem_frames *frames, unsigned space, uint32_t page, uint32_t frame)
{
    assert(frame < frames->count && frames->first[frame] && !frames->tables[space].entry[page]);
    for (const struct mem_mapping *other = mem_frames_first(frames, frame); other;
         other = mem_frames_after(frames, other))
        frames->tables[other->space].entry[other->page] &= ~(uint32_t)MEM_ALONE;
    map(frames, space, page, frame, 0);
}

void mem_frames_unmap(struct mem_frames *frames, unsigned space, uint32_t page)
{
    struct mem_table *table = &frames->tables[space];
    uint32_t frame = table->entry[page] / 2 - 1, *link = &frames->first[frame];
    while (frames->mappings[*link].space != space || frames->mappings[*link].page != page)
        link = &frames->mappings[*link].next;
    uint32_t at = *link;
    *link = frames->mappings[at].next;
    frames->mappings[at].next = frames->free_mapping;
    frames->free_mapping = at;
    table->entry[page] = 0;
    --*group_of(table, page);
    if (frames->first[frame]) return;
    frames->free = base_grow(frames->free, &frames->free_capacity, frames->free_count + 1,
                             sizeof *frames->free);
    frames->free[frames->free_count++] = frame;
}

uint32_t mem_frames_next(const struct mem_frames *frames, unsigned space, uint32_t page,
                         uint32_t last)
{
    const struct mem_table *table = &frames->tables[space];
    for (; page <= last; page++) {
        if (!*group_of(table, page))
            page |= GROUP - 1;
        else if (table->entry[page])
            return page;
    }
    return last + 1;
}
