/* Shortest paths in a random graph: Dijkstra's algorithm with a binary heap. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 20000, EDGES = 100000, SOURCES = 20 };

struct edge {
    int to, length, next;
};
struct entry {
    int distance, node;
};

static int head[NODES], distance[NODES];
static struct edge edges[EDGES];
static struct entry heap[EDGES + 1];
static int heap_size;
static unsigned state = 99;

static unsigned next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 7;
}

static void push(int d, int node)
{
    int i = heap_size++;
    while (i > 0 && heap[(i - 1) / 2].distance > d) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = (struct entry){d, node};
}

static struct entry pop(void)
{
    struct entry top = heap[0], last = heap[--heap_size];
    int i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child >= heap_size) break;
        if (child + 1 < heap_size && heap[child + 1].distance < heap[child].distance) child++;
        if (heap[child].distance >= last.distance) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

static void shortest(int source)
{
    for (int i = 0; i < NODES; i++)
        distance[i] = INT_MAX;
    distance[source] = 0;
    push(0, source);
    while (heap_size) {
        struct entry e = pop();
        if (e.distance > distance[e.node]) continue;
        for (int i = head[e.node]; i >= 0; i = edges[i].next) {
            int d = e.distance + edges[i].length;
            if (d < distance[edges[i].to]) {
                distance[edges[i].to] = d;
                push(d, edges[i].to);
            }
        }
    }
}

int main(void)
{
    for (int i = 0; i < NODES; i++)
        head[i] = -1;
    for (int i = 0; i < EDGES; i++) {
        int from = (int)(next() % NODES);
        edges[i] = (struct edge){(int)(next() % NODES), 1 + (int)(next() % 100), head[from]};
        head[from] = i;
    }
    for (int s = 0; s < SOURCES; s++) {
        long total = 0, reached = 0;
        shortest(s * 1000);
        for (int i = 0; i < NODES; i++)
            if (distance[i] != INT_MAX) {
                total += distance[i];
                reached++;
            }
        printf("from %d: %ld reached, total %ld\n", s * 1000, reached, total);
    }
    return 0;
}
