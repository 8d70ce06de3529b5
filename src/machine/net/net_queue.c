/* A timing wheel with a heap behind it; see net_queue.h. */
#include "machine/net/net_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

_Static_assert(NET_WHEEL == 64 * 64, "the summary is one word");

void net_queue_init(struct net_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    queue->cell_count = 1;
    queue->cells = base_grow(NULL, &queue->cell_capacity, 64, sizeof *queue->cells);
}

void net_queue_fini(struct net_queue *queue)
{
    free(queue->cells);
    free(queue->later);
}

static uint32_t cell_new(struct net_queue *queue)
{
    uint32_t cell = queue->free_cell;
    if (cell) {
        queue->free_cell = queue->cells[cell].next;
        return cell;
    }
    if (queue->cell_count == queue->cell_capacity)
        queue->cells = base_grow(queue->cells, &queue->cell_capacity, queue->cell_count + 1,
                                 sizeof *queue->cells);
    return (uint32_t)queue->cell_count++;
}

static void later_add(struct net_queue *queue, const struct net_event *event)
{
    if (queue->later_count == queue->later_capacity)
        queue->later = base_grow(queue->later, &queue->later_capacity, queue->later_count + 1,
                                 sizeof *queue->later);
    size_t at = queue->later_count++;
    while (at > 0 && queue->later[(at - 1) / 2].time > event->time) {
        queue->later[at] = queue->later[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->later[at] = *event;
}

static void later_remove(struct net_queue *queue)
{
    struct net_event last = queue->later[--queue->later_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < queue->later_count) {
        if (child + 1 < queue->later_count &&
            queue->later[child + 1].time < queue->later[child].time)
            child++;
        if (queue->later[child].time >= last.time) break;
        queue->later[at] = queue->later[child];
        at = child;
    }
    queue->later[at] = last;
}

void net_queue_add(struct net_queue *queue, const struct net_event *event)
{
    assert(event->time >= queue->now);
    if (event->time - queue->now >= NET_WHEEL) {
        later_add(queue, event);
        return;
    }
    uint32_t slot = event->time % NET_WHEEL;
    uint32_t cell = cell_new(queue);
    queue->cells[cell].event = *event;
    queue->cells[cell].next = queue->slot[slot];
    queue->slot[slot] = cell;
    queue->filled[slot / 64] |= UINT64_C(1) << slot % 64;
    queue->summary |= UINT64_C(1) << slot / 64;
}

/* The first filled slot at or after `slot`, round the wheel; the wheel is not empty. */
static uint32_t filled_from(const struct net_queue *queue, uint32_t slot)
{
    uint32_t word = slot / 64;
    uint64_t bits = queue->filled[word] & UINT64_MAX << slot % 64;
    if (bits) return word * 64 + (uint32_t)__builtin_ctzll(bits);
    uint64_t words = word == 63 ? 0 : queue->summary & UINT64_MAX << (word + 1);
    if (!words) words = queue->summary;
    word = (uint32_t)__builtin_ctzll(words);
    return word * 64 + (uint32_t)__builtin_ctzll(queue->filled[word]);
}

uint64_t net_queue_next(const struct net_queue *queue)
{
    uint64_t later = queue->later_count ? queue->later[0].time : NET_NEVER;
    if (!queue->summary) return later;
    uint32_t slot = queue->now % NET_WHEEL;
    uint64_t wheel = queue->now + (filled_from(queue, slot) + NET_WHEEL - slot) % NET_WHEEL;
    return wheel < later ? wheel : later;
}

bool net_queue_take(struct net_queue *queue, struct net_event *event)
{
    uint32_t slot = queue->now % NET_WHEEL;
    uint32_t cell = queue->slot[slot];
    if (cell) {
        *event = queue->cells[cell].event;
        queue->slot[slot] = queue->cells[cell].next;
        queue->cells[cell].next = queue->free_cell;
        queue->free_cell = cell;
        if (!queue->slot[slot]) {
            queue->filled[slot / 64] &= ~(UINT64_C(1) << slot % 64);
            if (!queue->filled[slot / 64]) queue->summary &= ~(UINT64_C(1) << slot / 64);
        }
        return true;
    }
    if (!queue->later_count || queue->later[0].time != queue->now) return false;
    *event = queue->later[0];
    later_remove(queue);
    return true;
}
