/* Names of address ranges, for looking one up at every miss.
 *
 * Ranges are kept as they came. A page is resolved at its first look-up: one number
 * where a range covers all of it, else a table with a number for each word, made by painting the
 * ranges in order. A word that ranges share has a mark, and is looked up range by range; that is
 * rare.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "measure/monitor/monitor_impl.h"

enum { PAGE_WORDS = 1 << (MONITOR_PAGE_BITS - 2), PAGE_LAST = (1 << MONITOR_PAGE_BITS) - 1 };
#define SHARED UINT32_MAX           /* of a word: more than one number */
#define TABLE  UINT32_C(0x80000000) /* of a page: the rest is the index of its table */

struct range {
    uint32_t first, last, number;
};

struct chil_ranges {
    struct arena arena;
    const char **names; /* by number - 1 */
    size_t count, name_capacity;
    uint32_t *numbers; /* by a hash of the name, chained to the next place; 0: none */
    size_t places;     /* a power of two, more than twice as many as names; 0 at first */
    struct range *ranges;
    size_t range_count, range_capacity;
    uint32_t *pages; /* by page: 0 not known yet, 1 + number, or TABLE | index */
    uint32_t (*tables)[PAGE_WORDS];
    size_t table_count, table_capacity;
};

struct chil_ranges *chil_ranges_new(void)
{
    struct chil_ranges *all = base_calloc(1, sizeof *all);
    arena_init(&all->arena);
    all->pages = base_calloc(MONITOR_PAGES, sizeof *all->pages);
    return all;
}

void chil_ranges_free(struct chil_ranges *all)
{
    if (!all) return;
    arena_fini(&all->arena);
    free(all->names);
    free(all->numbers);
    free(all->ranges);
    free(all->pages);
    free(all->tables);
    free(all);
}

/* Where the number of a name is, or would be. */
static uint32_t *place_of(const struct chil_ranges *all, const char *name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    size_t at = (hash ^ hash >> 32) & (all->places - 1);
    while (all->numbers[at] && strcmp(all->names[all->numbers[at] - 1], name) != 0)
        at = (at + 1) & (all->places - 1);
    return &all->numbers[at];
}

uint32_t chil_ranges_find(const struct chil_ranges *all, const char *name)
{
    return all->places ? *place_of(all, name) : 0;
}

/* Room for one more name. */
static void make_room(struct chil_ranges *all)
{
    all->names = base_grow(all->names, &all->name_capacity, all->count + 1, sizeof *all->names);
    if (2 * (all->count + 1) < all->places) return;
    free(all->numbers);
    all->places = all->places ? 2 * all->places : 64;
    all->numbers = base_calloc(all->places, sizeof *all->numbers);
    for (size_t i = 0; i < all->count; i++)
        *place_of(all, all->names[i]) = (uint32_t)i + 1;
}

uint32_t chil_ranges_name(struct chil_ranges *all, const char *name)
{
    if (!name_is_printable(name)) name = name_printable(arena_strdup(&all->arena, name));
    uint32_t number = chil_ranges_find(all, name);
    if (number) return number;
    make_room(all);
    all->names[all->count] = arena_strdup(&all->arena, name);
    number = (uint32_t)++all->count;
    *place_of(all, name) = number;
    return number;
}

uint32_t chil_ranges_add(struct chil_ranges *all, const char *name, uint32_t first, uint32_t last)
{
    uint32_t number = chil_ranges_name(all, name);
    all->ranges =
        base_grow(all->ranges, &all->range_capacity, all->range_count + 1, sizeof *all->ranges);
    all->ranges[all->range_count++] = (struct range){first, last, number};
    return number;
}

uint32_t chil_ranges_count(const struct chil_ranges *all)
{
    return (uint32_t)all->count;
}

const char *chil_ranges_get(const struct chil_ranges *all, uint32_t number)
{
    return number && number <= all->count ? all->names[number - 1] : NULL;
}

/* --- Looking up ------------------------------------------------------------------------------ */

static uint32_t search(const struct chil_ranges *all, uint32_t address)
{
    for (size_t i = all->range_count; i--;)
        if (address >= all->ranges[i].first && address <= all->ranges[i].last)
            return all->ranges[i].number;
    return 0;
}

static void paint(uint32_t *words, uint32_t start, const struct range *range)
{
    uint32_t first = range->first > start ? range->first - start : 0;
    uint32_t last = range->last - start < PAGE_LAST ? range->last - start : PAGE_LAST;
    for (uint32_t word = first / 4; word <= last / 4; word++) {
        bool whole = 4 * word >= first && 4 * word + 3 <= last;
        words[word] = whole || words[word] == range->number ? range->number : SHARED;
    }
}

static uint32_t make_table(struct chil_ranges *all, uint32_t start)
{
    all->tables =
        base_grow(all->tables, &all->table_capacity, all->table_count + 1, sizeof *all->tables);
    uint32_t *words = all->tables[all->table_count];
    memset(words, 0, sizeof *all->tables);
    for (size_t i = 0; i < all->range_count; i++)
        if (all->ranges[i].first <= start + PAGE_LAST && all->ranges[i].last >= start)
            paint(words, start, &all->ranges[i]);
    return TABLE | (uint32_t)all->table_count++;
}

static uint32_t make_page(struct chil_ranges *all, uint32_t page)
{
    uint32_t start = page << MONITOR_PAGE_BITS;
    for (size_t i = all->range_count; i--;) {
        const struct range *range = &all->ranges[i];
        if (range->last < start || range->first > start + PAGE_LAST) continue;
        bool whole = range->first <= start && range->last >= start + PAGE_LAST;
        return all->pages[page] = whole ? 1 + range->number : make_table(all, start);
    }
    return all->pages[page] = 1;
}

uint32_t chil_ranges_look_up(struct chil_ranges *all, uint32_t address)
{
    uint32_t page = address >> MONITOR_PAGE_BITS, found = all->pages[page];
    if (!found) found = make_page(all, page);
    if (!(found & TABLE)) return found - 1;
    uint32_t number = all->tables[found & ~TABLE][(address & PAGE_LAST) / 4];
    return number != SHARED ? number : search(all, address);
}
