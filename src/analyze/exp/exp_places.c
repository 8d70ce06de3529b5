/* Places: the pairs of call path and thread where an input of a merge counted anything.
 *
 * An input that lacks a place says nothing about it: it is a cut of other threads, or of other call
 * paths whose callers stay in it without values, or a run that never came there. An input that has
 * the place and no value of a metric there counted zero.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/exp/exp_algebra.h"

static uint64_t key_of(const struct chil_exp_cell *cell)
{
    return (uint64_t)cell->node << 32 | cell->thread;
}

/* The sorted places of a source; their counts are of no use. */
static struct exp_column collect(const struct exp_source *source)
{
    struct exp_column places = {.cell = NULL};
    size_t sorted = 0;
    for (size_t m = 0; m < source->exp->metrics; m++) {
        size_t count;
        const struct chil_exp_cell *cell = chil_exp_cells(source->exp, (int)m, &count);
        for (size_t i = 0; i < count; i++) {
            places.cell = base_grow(places.cell, &places.capacity, places.count + 1, sizeof *cell);
            places.cell[places.count++] =
                (struct chil_exp_cell){.node = (uint32_t)source->node[cell[i].node],
                                       .thread = (uint32_t)source->thread[cell[i].thread],
                                       .count = 1};
        }
        if (places.count <= 2 * sorted && m + 1 < source->exp->metrics) continue;
        places.unsorted = true;
        exp_normalize(&places, CHIL_EXP_COUNT);
        sorted = places.count;
    }
    return places;
}

void exp_places_init(struct exp_places *places, const struct exp_aligned *aligned)
{
    places->sources = aligned->sources;
    places->column = base_calloc(places->sources, sizeof *places->column);
    places->weight = base_calloc(places->sources, sizeof *places->weight);
    places->runs = 0;
    for (size_t i = 0; i < places->sources; i++)
        places->column[i] = collect(&aligned->source[i]);
}

void exp_places_fini(struct exp_places *places)
{
    for (size_t i = 0; i < places->sources; i++)
        free(places->column[i].cell);
    free(places->column);
    free(places->weight);
}

bool exp_places_has(const struct exp_places *places, size_t source, size_t *at,
                    const struct chil_exp_cell *place)
{
    const struct chil_exp_cell *cell = places->column[source].cell;
    size_t count = places->column[source].count, step = 1;
    while (*at + step < count && key_of(&cell[*at + step]) < key_of(place))
        step *= 2;
    size_t high = *at + step < count ? *at + step + 1 : count;
    while (*at < high) {
        size_t middle = *at + (high - *at) / 2;
        if (key_of(&cell[middle]) < key_of(place))
            *at = middle + 1;
        else
            high = middle;
    }
    return *at < count && key_of(&cell[*at]) == key_of(place);
}

/* The weights of the sources that have the least place from `at` on, which move on; 0: the end. */
static unsigned next_weight(const struct exp_places *places, const unsigned *weight, size_t *at)
{
    uint64_t least = UINT64_MAX;
    unsigned sum = 0;
    for (size_t i = 0; i < places->sources; i++)
        if (weight[i] && at[i] < places->column[i].count &&
            key_of(&places->column[i].cell[at[i]]) < least)
            least = key_of(&places->column[i].cell[at[i]]);
    for (size_t i = 0; i < places->sources; i++)
        if (weight[i] && at[i] < places->column[i].count &&
            key_of(&places->column[i].cell[at[i]]) == least) {
            sum += weight[i];
            at[i]++;
        }
    return sum;
}

unsigned exp_places_runs(struct exp_places *places, const unsigned *weight)
{
    size_t bytes = places->sources * sizeof *weight;
    unsigned runs = 0;
    if (places->runs && memcmp(places->weight, weight, bytes) == 0) return places->runs;
    size_t *at = base_calloc(places->sources, sizeof *at);
    for (size_t i = 0; i < places->sources; i++)
        runs = weight[i] > runs ? weight[i] : runs;
    for (unsigned sum; (sum = next_weight(places, weight, at));)
        runs = sum > runs ? sum : runs;
    free(at);
    memcpy(places->weight, weight, bytes);
    return places->runs = runs;
}
