/* Topologies: Cartesian, graph, distributed graph; collectives among neighbours. Ranks are not
 * reordered: MPI_Dims_create and the default mapping both have neighbours close already. */
#include "mpi_coll_steps.h"
#include "mpi_note.h"

int mpi_comm_split(struct comm *comm, int color, int key, MPI_Comm *result);

void mpi_topo_release(struct topo *topo)
{
    if (!topo || --topo->refs) return;
    free(topo->sizes);
    free(topo->periods);
    free(topo->coords);
    free(topo->index);
    free(topo->edges);
    free(topo->sources);
    free(topo->targets);
    free(topo->in_weights);
    free(topo->out_weights);
    free(topo);
}

int mpi_topo_copy(const struct comm *from, struct comm *to)
{
    to->topo = from->topo;
    if (to->topo) to->topo->refs++;
    return MPI_SUCCESS;
}

static struct topo *new_topo(int kind)
{
    struct topo *topo = mpi_alloc(sizeof *topo);
    topo->kind = kind;
    topo->refs = 1;
    return topo;
}

static int *copy_ints(const int *from, int count)
{
    int *copy = mpi_alloc((size_t)count * sizeof *copy);
    if (count) memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

/* The communicator and its topology of this kind. */
#define TOPO(variable, found, handle, wanted, what)                                                \
    COMM(variable, handle);                                                                        \
    const struct topo *found = variable->topo;                                                     \
    if (!found || found->kind != (wanted))                                                         \
    return mpi_fail(variable, MPI_ERR_TOPOLOGY, "there is no " what " topology")

static void to_coords(const struct topo *t, int rank, int *coords)
{
    for (int i = t->dims - 1; i >= 0; i--) {
        coords[i] = rank % t->sizes[i];
        rank /= t->sizes[i];
    }
}

/* MPI_PROC_NULL: outside. */
static int to_rank(const struct topo *t, const int *coords)
{
    int rank = 0;
    for (int i = 0; i < t->dims; i++) {
        int at = coords[i], size = t->sizes[i];
        if (at < 0 || at >= size) {
            if (!t->periods[i]) return MPI_PROC_NULL;
            at = (at % size + size) % size;
        }
        rank = rank * size + at;
    }
    return rank;
}

/* ---- Cartesian ---- */

static int cart_nodes(const struct comm *comm, int dims, const int *sizes, int *nodes)
{
    long long all = 1;
    if (dims < 0) return mpi_fail(comm, MPI_ERR_DIMS, "%d dimensions", dims);
    for (int i = 0; i < dims; i++) {
        if (sizes[i] < 1)
            return mpi_fail(comm, MPI_ERR_DIMS, "dimension %d has size %d", i, sizes[i]);
        all *= sizes[i];
    }
    if (all > comm->local->count)
        return mpi_fail(comm, MPI_ERR_DIMS, "%lld processes are wanted, there are %d", all,
                        comm->local->count);
    *nodes = (int)all;
    return MPI_SUCCESS;
}

MPI(int, Cart_create,
    (MPI_Comm handle, int dims, const int *sizes, const int *periods, int reorder,
     MPI_Comm *result))
{
    ENTER("Cart_create");
    (void)reorder;
    COMM(comm, handle);
    int nodes;
    if (comm->remote) return mpi_fail(comm, MPI_ERR_COMM, "this is an inter-communicator");
    TRY(cart_nodes(comm, dims, sizes, &nodes));
    TRY(mpi_comm_split(comm, comm->local->rank < nodes ? 0 : MPI_UNDEFINED, comm->local->rank,
                       result));
    if (*result == MPI_COMM_NULL) return MPI_SUCCESS;
    struct topo *t = mpi_comm(*result)->topo = new_topo(MPI_CART);
    t->dims = dims;
    t->sizes = copy_ints(sizes, dims);
    t->periods = copy_ints(periods, dims);
    t->coords = mpi_alloc((size_t)dims * sizeof(int));
    for (int i = 0; i < dims; i++)
        t->periods[i] = t->periods[i] != 0;
    to_coords(t, comm->local->rank, t->coords);
    return MPI_SUCCESS;
}

MPI(int, Cartdim_get, (MPI_Comm handle, int *dims))
{
    ENTER("Cartdim_get");
    TOPO(comm, t, handle, MPI_CART, "Cartesian");
    *dims = t->dims;
    return MPI_SUCCESS;
}

MPI(int, Cart_get, (MPI_Comm handle, int max, int *sizes, int *periods, int *coords))
{
    ENTER("Cart_get");
    TOPO(comm, t, handle, MPI_CART, "Cartesian");
    if (max < t->dims) return mpi_fail(comm, MPI_ERR_DIMS, "there are %d dimensions", t->dims);
    for (int i = 0; i < t->dims; i++) {
        sizes[i] = t->sizes[i];
        periods[i] = t->periods[i];
        coords[i] = t->coords[i];
    }
    return MPI_SUCCESS;
}

MPI(int, Cart_rank, (MPI_Comm handle, const int *coords, int *rank))
{
    ENTER("Cart_rank");
    TOPO(comm, t, handle, MPI_CART, "Cartesian");
    *rank = to_rank(t, coords);
    if (*rank == MPI_PROC_NULL) return mpi_fail(comm, MPI_ERR_RANK, "the coordinates are outside");
    return MPI_SUCCESS;
}

MPI(int, Cart_coords, (MPI_Comm handle, int rank, int max, int *coords))
{
    ENTER("Cart_coords");
    TOPO(comm, t, handle, MPI_CART, "Cartesian");
    if (rank < 0 || rank >= comm->local->count)
        return mpi_fail(comm, MPI_ERR_RANK, "there is no rank %d", rank);
    if (max < t->dims) return mpi_fail(comm, MPI_ERR_DIMS, "there are %d dimensions", t->dims);
    to_coords(t, rank, coords);
    return MPI_SUCCESS;
}

static int shifted(const struct topo *t, int direction, int by)
{
    int coords[t->dims + 1];
    memcpy(coords, t->coords, (size_t)t->dims * sizeof(int));
    coords[direction] += by;
    return to_rank(t, coords);
}

MPI(int, Cart_shift, (MPI_Comm handle, int direction, int by, int *source, int *dest))
{
    ENTER("Cart_shift");
    TOPO(comm, t, handle, MPI_CART, "Cartesian");
    if (direction < 0 || direction >= t->dims)
        return mpi_fail(comm, MPI_ERR_ARG, "direction %d of %d", direction, t->dims);
    *source = shifted(t, direction, -by);
    *dest = shifted(t, direction, by);
    return MPI_SUCCESS;
}

MPI(int, Cart_sub, (MPI_Comm handle, const int *remain, MPI_Comm *result))
{
    ENTER("Cart_sub");
    TOPO(comm, t, handle, MPI_CART, "Cartesian");
    int color = 0, key = 0, dims = 0;
    for (int i = 0; i < t->dims; i++) {
        *(remain[i] ? &key : &color) = *(remain[i] ? &key : &color) * t->sizes[i] + t->coords[i];
        dims += remain[i] != 0;
    }
    if (!dims) color = comm->local->rank ? MPI_UNDEFINED : 0; /* MPICH: one process has it */
    TRY(mpi_comm_split(comm, color, key, result));
    if (*result == MPI_COMM_NULL) return MPI_SUCCESS;
    struct topo *sub = mpi_comm(*result)->topo = new_topo(MPI_CART);
    sub->dims = dims;
    sub->sizes = mpi_alloc((size_t)dims * sizeof(int));
    sub->periods = mpi_alloc((size_t)dims * sizeof(int));
    sub->coords = mpi_alloc((size_t)dims * sizeof(int));
    for (int i = 0, n = 0; i < t->dims; i++)
        if (remain[i]) {
            sub->sizes[n] = t->sizes[i];
            sub->periods[n] = t->periods[i];
            sub->coords[n++] = t->coords[i];
        }
    return MPI_SUCCESS;
}

MPI(int, Cart_map, (MPI_Comm handle, int dims, const int *sizes, const int *periods, int *rank))
{
    ENTER("Cart_map");
    (void)periods;
    COMM(comm, handle);
    int nodes;
    TRY(cart_nodes(comm, dims, sizes, &nodes));
    *rank = comm->local->rank < nodes ? comm->local->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* A split of nodes into factors, the largest first. */
struct split {
    int dims, *now, *best; /* best: so far */
    int spread;            /* of the best: its largest less its smallest factor */
};

/* The largest number whose power is at most `nodes`. */
static int root_of(int nodes, int power)
{
    int root = 1;
    for (;; root++) {
        double most = 1;
        for (int i = 0; i < power; i++)
            most *= root + 1;
        if (most > nodes) return root;
    }
}

/* The least spread, then the largest last factors: as MPICH has it. */
static bool is_better(const struct split *s)
{
    int i = s->dims - 1, spread = s->now[0] - s->now[i];
    if (spread != s->spread) return spread < s->spread;
    while (i > 0 && s->now[i] == s->best[i])
        i--;
    return s->now[i] > s->best[i];
}

static void keep(struct split *s)
{
    s->spread = s->now[0] - s->now[s->dims - 1];
    memcpy(s->best, s->now, (size_t)s->dims * sizeof *s->best);
}

/* Tries splits of what is left into factors of at most `max`, from dimension `at` on. The smallest
 * factor will be at most the root of what is left, which bounds the spread. */
static void try_splits(struct split *s, int at, int nodes, int max)
{
    int left = s->dims - at;
    if (left == 1) {
        s->now[at] = nodes;
        if (nodes <= max && is_better(s)) keep(s);
        return;
    }
    int root = root_of(nodes, left);
    for (int factor = root; factor <= max && factor <= nodes; factor++) {
        if ((at ? s->now[0] : factor) - root > s->spread) return;
        if (nodes % factor) continue;
        s->now[at] = factor;
        try_splits(s, at + 1, nodes / factor, factor);
    }
}

/* The free dimensions get factors as close to each other as can be. */
static void best_split(int nodes, int dims, int *out)
{
    struct split s = {dims, mpi_alloc((size_t)dims * sizeof(int)), out, nodes + 1};
    memset(out, 0, (size_t)dims * sizeof *out);
    try_splits(&s, 0, nodes, nodes);
    free(s.now);
}

MPI(int, Dims_create, (int nodes, int dims, int *sizes))
{
    ENTER("Dims_create");
    int fixed = 1, left = 0;
    if (nodes < 1 || dims < 0)
        return mpi_fail(NULL, MPI_ERR_DIMS, "%d nodes in %d dimensions", nodes, dims);
    for (int i = 0; i < dims; i++) {
        if (sizes[i] < 0)
            return mpi_fail(NULL, MPI_ERR_DIMS, "dimension %d has size %d", i, sizes[i]);
        fixed *= sizes[i] ? sizes[i] : 1;
        left += !sizes[i];
    }
    if (nodes % fixed)
        return mpi_fail(NULL, MPI_ERR_DIMS, "%d nodes are not a multiple of %d", nodes, fixed);
    if (!left) {
        if (dims && fixed != nodes)
            return mpi_fail(NULL, MPI_ERR_DIMS, "%d nodes, but sizes of %d", nodes, fixed);
        return MPI_SUCCESS;
    }
    int *found = mpi_alloc((size_t)left * sizeof *found);
    best_split(nodes / fixed, left, found);
    for (int i = 0, n = 0; i < dims; i++)
        if (!sizes[i]) sizes[i] = found[n++];
    free(found);
    return MPI_SUCCESS;
}

/* ---- graphs ---- */

MPI(int, Graph_create,
    (MPI_Comm handle, int nodes, const int *index, const int *edges, int reorder, MPI_Comm *result))
{
    ENTER("Graph_create");
    (void)reorder;
    COMM(comm, handle);
    if (comm->remote) return mpi_fail(comm, MPI_ERR_COMM, "this is an inter-communicator");
    if (nodes < 0 || nodes > comm->local->count)
        return mpi_fail(comm, MPI_ERR_ARG, "%d nodes, there are %d processes", nodes,
                        comm->local->count);
    int count = nodes ? index[nodes - 1] : 0;
    for (int i = 0; i < nodes; i++)
        if (index[i] < (i ? index[i - 1] : 0))
            return mpi_fail(comm, MPI_ERR_ARG, "index %d is wrong", i);
    for (int i = 0; i < count; i++)
        if (edges[i] < 0 || edges[i] >= nodes)
            return mpi_fail(comm, MPI_ERR_ARG, "edge %d is wrong", i);
    TRY(mpi_comm_split(comm, comm->local->rank < nodes ? 0 : MPI_UNDEFINED, comm->local->rank,
                       result));
    if (*result == MPI_COMM_NULL) return MPI_SUCCESS;
    struct topo *t = mpi_comm(*result)->topo = new_topo(MPI_GRAPH);
    t->nodes = nodes;
    t->index = copy_ints(index, nodes);
    t->edges = copy_ints(edges, count);
    return MPI_SUCCESS;
}

MPI(int, Graph_map, (MPI_Comm handle, int nodes, const int *index, const int *edges, int *rank))
{
    ENTER("Graph_map");
    (void)index;
    (void)edges;
    COMM(comm, handle);
    if (nodes < 1 || nodes > comm->local->count)
        return mpi_fail(comm, MPI_ERR_ARG, "%d nodes", nodes);
    *rank = comm->local->rank < nodes ? comm->local->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

MPI(int, Topo_test, (MPI_Comm handle, int *status))
{
    ENTER("Topo_test");
    COMM(comm, handle);
    *status = comm->topo ? comm->topo->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int edges_of(const struct topo *t)
{
    return t->nodes ? t->index[t->nodes - 1] : 0;
}

MPI(int, Graphdims_get, (MPI_Comm handle, int *nodes, int *edges))
{
    ENTER("Graphdims_get");
    TOPO(comm, t, handle, MPI_GRAPH, "graph");
    *nodes = t->nodes;
    *edges = edges_of(t);
    return MPI_SUCCESS;
}

MPI(int, Graph_get, (MPI_Comm handle, int max_index, int max_edges, int *index, int *edges))
{
    ENTER("Graph_get");
    TOPO(comm, t, handle, MPI_GRAPH, "graph");
    for (int i = 0; i < t->nodes && i < max_index; i++)
        index[i] = t->index[i];
    for (int i = 0; i < edges_of(t) && i < max_edges; i++)
        edges[i] = t->edges[i];
    return MPI_SUCCESS;
}

static int graph_first(const struct topo *t, int rank)
{
    return rank ? t->index[rank - 1] : 0;
}

MPI(int, Graph_neighbors_count, (MPI_Comm handle, int rank, int *count))
{
    ENTER("Graph_neighbors_count");
    TOPO(comm, t, handle, MPI_GRAPH, "graph");
    if (rank < 0 || rank >= t->nodes)
        return mpi_fail(comm, MPI_ERR_RANK, "there is no rank %d", rank);
    *count = t->index[rank] - graph_first(t, rank);
    return MPI_SUCCESS;
}

MPI(int, Graph_neighbors, (MPI_Comm handle, int rank, int max, int *neighbors))
{
    ENTER("Graph_neighbors");
    TOPO(comm, t, handle, MPI_GRAPH, "graph");
    if (rank < 0 || rank >= t->nodes)
        return mpi_fail(comm, MPI_ERR_RANK, "there is no rank %d", rank);
    int first = graph_first(t, rank);
    for (int i = 0; i < t->index[rank] - first && i < max; i++)
        neighbors[i] = t->edges[first + i];
    return MPI_SUCCESS;
}

/* ---- distributed graphs ---- */

static bool has_weights(const int *weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY && weights;
}

MPI(int, Dist_graph_create_adjacent,
    (MPI_Comm handle, int in, const int *sources, const int *in_weights, int out,
     const int *targets, const int *out_weights, MPI_Info info, int reorder, MPI_Comm *result))
{
    ENTER("Dist_graph_create_adjacent");
    (void)info;
    (void)reorder;
    COMM(comm, handle);
    if (in < 0 || out < 0) return mpi_fail(comm, MPI_ERR_ARG, "a degree is negative");
    TRY(mpi_comm_split(comm, 0, comm->local->rank, result));
    struct topo *t = mpi_comm(*result)->topo = new_topo(MPI_DIST_GRAPH);
    t->in = in;
    t->out = out;
    t->weighted = in_weights != MPI_UNWEIGHTED;
    t->sources = copy_ints(sources, in);
    t->targets = copy_ints(targets, out);
    if (has_weights(in_weights)) t->in_weights = copy_ints(in_weights, in);
    if (has_weights(out_weights)) t->out_weights = copy_ints(out_weights, out);
    return MPI_SUCCESS;
}

/* Everyone gets all edges, and keeps its own, in the order of the ranks that named them. */
MPI(int, Dist_graph_create,
    (MPI_Comm handle, int count, const int *nodes, const int *degrees, const int *targets,
     const int *weights, MPI_Info info, int reorder, MPI_Comm *result))
{
    ENTER("Dist_graph_create");
    (void)info;
    (void)reorder;
    COMM(comm, handle);
    int ranks = comm->local->count, rank = comm->local->rank, edges = 0, all = 0, at = 0;
    for (int i = 0; i < count; i++)
        edges += degrees[i];
    int *counts = mpi_alloc((size_t)ranks * sizeof *counts), largest = 0;
    mpi_allgather(comm, &edges, 1, MPI_INT, counts);
    for (int i = 0; i < ranks; i++) {
        if (counts[i] > largest) largest = counts[i];
        all += counts[i];
    }
    int(*mine)[3] = mpi_alloc((size_t)largest * sizeof *mine),
    (*list)[3] = mpi_alloc((size_t)largest * (size_t)ranks * sizeof *list);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < degrees[i]; k++, at++) {
            mine[at][0] = nodes[i];
            mine[at][1] = targets[at];
            mine[at][2] = has_weights(weights) ? weights[at] : 1;
        }
    if (largest) mpi_allgather(comm, mine, 3 * largest, MPI_INT, list);
    TRY(mpi_comm_split(comm, 0, rank, result));
    struct topo *t = mpi_comm(*result)->topo = new_topo(MPI_DIST_GRAPH);
    t->weighted = weights != MPI_UNWEIGHTED;
    size_t size = (size_t)(all + 1) * sizeof(int);
    t->sources = mpi_alloc(size);
    t->targets = mpi_alloc(size);
    t->in_weights = mpi_alloc(size);
    t->out_weights = mpi_alloc(size);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < counts[r]; i++) {
            const int *edge = list[(size_t)r * (size_t)largest + (size_t)i];
            if (edge[0] == rank) {
                t->targets[t->out] = edge[1];
                t->out_weights[t->out++] = edge[2];
            }
            if (edge[1] == rank) {
                t->sources[t->in] = edge[0];
                t->in_weights[t->in++] = edge[2];
            }
        }
    free(counts);
    free(mine);
    free(list);
    return MPI_SUCCESS;
}

MPI(int, Dist_graph_neighbors_count, (MPI_Comm handle, int *in, int *out, int *weighted))
{
    ENTER("Dist_graph_neighbors_count");
    TOPO(comm, t, handle, MPI_DIST_GRAPH, "distributed graph");
    *in = t->in;
    *out = t->out;
    *weighted = t->weighted;
    return MPI_SUCCESS;
}

static void give(int *out, const int *from, int count, int max)
{
    if (!has_weights(out)) return;
    for (int i = 0; i < count && i < max; i++)
        out[i] = from ? from[i] : 1;
}

MPI(int, Dist_graph_neighbors,
    (MPI_Comm handle, int max_in, int *sources, int *in_weights, int max_out, int *targets,
     int *out_weights))
{
    ENTER("Dist_graph_neighbors");
    TOPO(comm, t, handle, MPI_DIST_GRAPH, "distributed graph");
    give(sources, t->sources, t->in, max_in);
    give(targets, t->targets, t->out, max_out);
    if (t->weighted) {
        give(in_weights, t->in_weights, t->in, max_in);
        give(out_weights, t->out_weights, t->out, max_out);
    }
    return MPI_SUCCESS;
}

/* ---- collectives among neighbours ---- */

struct neighbors {
    int in, out, *sources, *targets;
};

static int neighbors_of(struct comm *comm, struct schedule *s, struct neighbors *n)
{
    const struct topo *t = comm->topo;
    if (!t) return mpi_fail(comm, MPI_ERR_TOPOLOGY, "there is no topology");
    if (t->kind == MPI_DIST_GRAPH)
        *n = (struct neighbors){t->in, t->out, t->sources, t->targets};
    else if (t->kind == MPI_GRAPH) {
        int first = graph_first(t, comm->local->rank), count = t->index[comm->local->rank] - first;
        *n = (struct neighbors){count, count, t->edges + first, t->edges + first};
    } else {
        int *list = schedule_alloc(s, 2 * (size_t)t->dims * sizeof *list);
        for (int i = 0; i < t->dims; i++) {
            list[2 * i] = shifted(t, i, -1);
            list[2 * i + 1] = shifted(t, i, 1);
        }
        *n = (struct neighbors){2 * t->dims, 2 * t->dims, list, list};
    }
    return MPI_SUCCESS;
}

/* A block for each neighbour. */
struct side {
    const char *base;
    int count;
    bool same; /* every neighbour gets the same block */
    const int *counts, *places;
    const MPI_Aint *addresses;
    MPI_Datatype type;
    const MPI_Datatype *types;
};

static int block(struct comm *comm, const struct side *side, int i, char **at, int *count,
                 struct type **found)
{
    TYPE(comm, type, side->types ? side->types[i] : side->type);
    *count = side->counts ? side->counts[i] : side->count;
    if (*count < 0) return mpi_fail(comm, MPI_ERR_COUNT, "count is %d", *count);
    MPI_Aint extent = type_extent(type);
    MPI_Aint offset = side->addresses ? side->addresses[i]
                      : side->places  ? side->places[i] * extent
                      : side->same    ? 0
                                      : (MPI_Aint)i * side->count * extent;
    *at = at_offset(side->base, offset);
    *found = type;
    return MPI_SUCCESS;
}

/* In a torus of two the neighbours on both sides are one process. What goes up arrives as what came
 * from below: of a Cartesian topology messages are sent in the order of the receiver. */
static int fill(struct schedule *s, struct comm *comm, const struct side *send,
                const struct side *receive)
{
    struct neighbors n = {0};
    char *at;
    int count;
    size_t given = 0, taken = 0;
    struct type *type;
    TRY(neighbors_of(comm, s, &n));
    bool cart = comm->topo->kind == MPI_CART;
    for (int i = 0; i < n.in; i++) {
        if (n.sources[i] == MPI_PROC_NULL) continue;
        TRY(block(comm, receive, i, &at, &count, &type));
        schedule_receive(s, at, count, type, n.sources[i]);
        taken += (size_t)count * type->size;
    }
    for (int k = 0; k < n.out; k++) {
        int i = cart ? k ^ 1 : k;
        if (n.targets[i] == MPI_PROC_NULL) continue;
        TRY(block(comm, send, i, &at, &count, &type));
        schedule_send(s, at, count, type, n.targets[i]);
        given += (size_t)count * type->size;
    }
    mpi_note_collective(comm, -1, given, taken);
    return MPI_SUCCESS;
}

static int make(struct schedule **out, struct comm *comm, struct side send, struct side receive)
{
    struct schedule *s = mpi_schedule_new(comm);
    schedule_keep(s, send.types ? NULL : mpi_type(send.type), NULL);
    schedule_keep(s, receive.types ? NULL : mpi_type(receive.type), NULL);
    int error = fill(s, comm, &send, &receive);
    if (error)
        mpi_schedule_free(s);
    else
        *out = s;
    return error;
}

#define UNPACK(...) __VA_ARGS__
#define NEIGHBOR(name, text, iname, itext, parameters, send, receive)                              \
    MPI(int, name, (UNPACK parameters, MPI_Comm handle))                                           \
    {                                                                                              \
        ENTER(text);                                                                               \
        COMM(comm, handle);                                                                        \
        struct schedule *s = NULL;                                                                 \
        TRY(make(&s, comm, (struct side){UNPACK send}, (struct side){UNPACK receive}));            \
        return mpi_schedule_run(s);                                                                \
    }                                                                                              \
    MPI(int, iname, (UNPACK parameters, MPI_Comm handle, MPI_Request * request))                   \
    {                                                                                              \
        ENTER(itext);                                                                              \
        COMM(comm, handle);                                                                        \
        struct schedule *s = NULL;                                                                 \
        TRY(make(&s, comm, (struct side){UNPACK send}, (struct side){UNPACK receive}));            \
        return mpi_schedule_start(s, request);                                                     \
    }

NEIGHBOR(Neighbor_allgather, "Neighbor_allgather", Ineighbor_allgather, "Ineighbor_allgather",
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype),
         (.base = sendbuf, .count = sendcount, .same = true, .type = sendtype),
         (.base = recvbuf, .count = recvcount, .type = recvtype))
NEIGHBOR(Neighbor_allgatherv, "Neighbor_allgatherv", Ineighbor_allgatherv, "Ineighbor_allgatherv",
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
          const int *recvcounts, const int *places, MPI_Datatype recvtype),
         (.base = sendbuf, .count = sendcount, .same = true, .type = sendtype),
         (.base = recvbuf, .counts = recvcounts, .places = places, .type = recvtype))
NEIGHBOR(Neighbor_alltoall, "Neighbor_alltoall", Ineighbor_alltoall, "Ineighbor_alltoall",
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype),
         (.base = sendbuf, .count = sendcount, .type = sendtype),
         (.base = recvbuf, .count = recvcount, .type = recvtype))
NEIGHBOR(Neighbor_alltoallv, "Neighbor_alltoallv", Ineighbor_alltoallv, "Ineighbor_alltoallv",
         (const void *sendbuf, const int *sendcounts, const int *sendplaces, MPI_Datatype sendtype,
          void *recvbuf, const int *recvcounts, const int *recvplaces, MPI_Datatype recvtype),
         (.base = sendbuf, .counts = sendcounts, .places = sendplaces, .type = sendtype),
         (.base = recvbuf, .counts = recvcounts, .places = recvplaces, .type = recvtype))
NEIGHBOR(Neighbor_alltoallw, "Neighbor_alltoallw", Ineighbor_alltoallw, "Ineighbor_alltoallw",
         (const void *sendbuf, const int *sendcounts, const MPI_Aint *sendplaces,
          const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts,
          const MPI_Aint *recvplaces, const MPI_Datatype *recvtypes),
         (.base = sendbuf, .counts = sendcounts, .addresses = sendplaces, .types = sendtypes),
         (.base = recvbuf, .counts = recvcounts, .addresses = recvplaces, .types = recvtypes))
