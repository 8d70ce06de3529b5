/* Groups: ordered sets of ranks of the world. */
#include "mpi_impl.h"

static struct group empty = {.handle = MPI_GROUP_EMPTY, .refs = 1, .rank = MPI_UNDEFINED};

void mpi_group_init(void)
{
    mpi_handle_set(MPI_GROUP_EMPTY, &empty);
}

/* In a group of one's own numbers. */
int mpi_group_find(const struct group *group, int world)
{
    if (!group->world) return world < group->count ? world : MPI_UNDEFINED;
    for (int i = 0; i < group->count; i++)
        if (group->world[i] == world) return i;
    return MPI_UNDEFINED;
}

struct group *mpi_group_new(int count, int *world)
{
    if (!count) {
        free(world);
        return mpi_group_retain(&empty);
    }
    struct group *group = mpi_alloc(sizeof *group);
    *group = (struct group){.refs = 1, .count = count, .world = world};
    group->rank = mpi_group_find(group, mpi.rank);
    return group;
}

struct group *mpi_group_retain(struct group *group)
{
    group->refs++;
    return group;
}

void mpi_group_release(struct group *group)
{
    if (!group || --group->refs || group == &empty) return;
    if (group->handle) mpi_handle_free(group->handle);
    free(group->world);
    free(group);
}

#define GROUP(variable, number)                                                                    \
    struct group *variable = mpi_object(KIND_GROUP, number);                                       \
    if (!variable)                                                                                 \
    return mpi_fail(NULL, MPI_ERR_GROUP,                                                           \
                    (number) == MPI_GROUP_NULL ? "the group is MPI_GROUP_NULL"                     \
                                               : "this is no group")

/* The reference becomes the user's. */
int mpi_group_give(struct group *group, MPI_Group *out)
{
    if (!group->handle) group->handle = mpi_handle_new(KIND_GROUP, group);
    *out = group->handle;
    return MPI_SUCCESS;
}

MPI(int, Group_size, (MPI_Group handle, int *size))
{
    ENTER("Group_size");
    GROUP(group, handle);
    *size = group->count;
    return MPI_SUCCESS;
}

MPI(int, Group_rank, (MPI_Group handle, int *rank))
{
    ENTER("Group_rank");
    GROUP(group, handle);
    *rank = group->rank;
    return MPI_SUCCESS;
}

MPI(int, Group_translate_ranks,
    (MPI_Group handle, int count, const int *ranks, MPI_Group other_handle, int *other_ranks))
{
    ENTER("Group_translate_ranks");
    GROUP(group, handle);
    GROUP(other, other_handle);
    if (count < 0) return mpi_fail(NULL, MPI_ERR_ARG, "%d ranks", count);
    for (int i = 0; i < count; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            other_ranks[i] = MPI_PROC_NULL;
            continue;
        }
        if (ranks[i] < 0 || ranks[i] >= group->count)
            return mpi_fail(NULL, MPI_ERR_RANK, "rank %d of a group of %d", ranks[i], group->count);
        other_ranks[i] = mpi_group_find(other, group_world(group, ranks[i]));
    }
    return MPI_SUCCESS;
}

int mpi_group_compare(const struct group *a, const struct group *b)
{
    int result = MPI_IDENT;
    if (a->count != b->count) return MPI_UNEQUAL;
    for (int i = 0; i < a->count; i++)
        if (group_world(a, i) != group_world(b, i)) {
            result = MPI_SIMILAR;
            if (mpi_group_find(b, group_world(a, i)) == MPI_UNDEFINED) return MPI_UNEQUAL;
        }
    return result;
}

MPI(int, Group_compare, (MPI_Group handle, MPI_Group other_handle, int *result))
{
    ENTER("Group_compare");
    GROUP(group, handle);
    GROUP(other, other_handle);
    *result = mpi_group_compare(group, other);
    return MPI_SUCCESS;
}

/* The members of `a` that are in `b`, or are not; then, if wanted, those of `b` that are not in
 * `a`. */
static int combine(const struct group *a, const struct group *b, bool want_in, bool want_out,
                   bool append, MPI_Group *out)
{
    int *world = mpi_alloc((size_t)(a->count + b->count) * sizeof *world), count = 0;
    for (int i = 0; i < a->count; i++) {
        bool in = mpi_group_find(b, group_world(a, i)) != MPI_UNDEFINED;
        if (in ? want_in : want_out) world[count++] = group_world(a, i);
    }
    for (int i = 0; append && i < b->count; i++)
        if (mpi_group_find(a, group_world(b, i)) == MPI_UNDEFINED)
            world[count++] = group_world(b, i);
    return mpi_group_give(mpi_group_new(count, world), out);
}

MPI(int, Group_union, (MPI_Group handle, MPI_Group other_handle, MPI_Group *result))
{
    ENTER("Group_union");
    GROUP(group, handle);
    GROUP(other, other_handle);
    return combine(group, other, true, true, true, result);
}

MPI(int, Group_intersection, (MPI_Group handle, MPI_Group other_handle, MPI_Group *result))
{
    ENTER("Group_intersection");
    GROUP(group, handle);
    GROUP(other, other_handle);
    return combine(group, other, true, false, false, result);
}

MPI(int, Group_difference, (MPI_Group handle, MPI_Group other_handle, MPI_Group *result))
{
    ENTER("Group_difference");
    GROUP(group, handle);
    GROUP(other, other_handle);
    return combine(group, other, false, true, false, result);
}

/* Marks ranks: a list of `count` of them. NULL after an error, which is in *error. */
static bool *mark(const struct group *group, int count, const int *ranks, int *error)
{
    bool *marked = mpi_alloc((size_t)group->count);
    for (int i = 0; i < count; i++) {
        int rank = ranks[i];
        if (rank >= 0 && rank < group->count && !marked[rank]) {
            marked[rank] = true;
            continue;
        }
        free(marked);
        *error = mpi_fail(NULL, MPI_ERR_RANK,
                          rank >= 0 && rank < group->count ? "rank %d stands there twice"
                                                           : "there is no rank %d in the group",
                          rank);
        return NULL;
    }
    return marked;
}

static int include(const struct group *group, int count, const int *ranks, MPI_Group *result)
{
    int error = MPI_SUCCESS;
    if (count < 0) return mpi_fail(NULL, MPI_ERR_ARG, "%d ranks", count);
    bool *marked = mark(group, count, ranks, &error);
    if (!marked) return error;
    free(marked);
    int *world = mpi_alloc((size_t)count * sizeof *world);
    for (int i = 0; i < count; i++)
        world[i] = group_world(group, ranks[i]);
    return mpi_group_give(mpi_group_new(count, world), result);
}

static int exclude(const struct group *group, int count, const int *ranks, MPI_Group *result)
{
    int error = MPI_SUCCESS, left = 0;
    if (count < 0) return mpi_fail(NULL, MPI_ERR_ARG, "%d ranks", count);
    bool *marked = mark(group, count, ranks, &error);
    if (!marked) return error;
    int *world = mpi_alloc((size_t)group->count * sizeof *world);
    for (int i = 0; i < group->count; i++)
        if (!marked[i]) world[left++] = group_world(group, i);
    free(marked);
    return mpi_group_give(mpi_group_new(left, world), result);
}

MPI(int, Group_incl, (MPI_Group handle, int count, const int *ranks, MPI_Group *result))
{
    ENTER("Group_incl");
    GROUP(group, handle);
    return include(group, count, ranks, result);
}

MPI(int, Group_excl, (MPI_Group handle, int count, const int *ranks, MPI_Group *result))
{
    ENTER("Group_excl");
    GROUP(group, handle);
    return exclude(group, count, ranks, result);
}

/* The ranks of ranges first, last, stride: at most as many as there are, and one. NULL: an error.
 */
static int *expand(const struct group *group, int ranges, int (*range)[3], int *count, int *error)
{
    int *ranks = mpi_alloc((size_t)(group->count + 1) * sizeof *ranks);
    *count = 0;
    for (int i = 0; i < ranges; i++) {
        int first = range[i][0], last = range[i][1], stride = range[i][2];
        if (!stride || (stride > 0 ? first > last : first < last)) {
            *error = mpi_fail(NULL, MPI_ERR_ARG, "the range %d:%d:%d is empty or endless", first,
                              last, stride);
            free(ranks);
            return NULL;
        }
        for (int r = first; stride > 0 ? r <= last : r >= last; r += stride)
            if (*count <= group->count) ranks[(*count)++] = r;
    }
    return ranks;
}

static int ranged(const struct group *group, int ranges, int (*range)[3], bool in,
                  MPI_Group *result)
{
    int count, error = MPI_SUCCESS;
    if (ranges < 0) return mpi_fail(NULL, MPI_ERR_ARG, "%d ranges", ranges);
    int *ranks = expand(group, ranges, range, &count, &error);
    if (!ranks) return error;
    error = in ? include(group, count, ranks, result) : exclude(group, count, ranks, result);
    free(ranks);
    return error;
}

MPI(int, Group_range_incl, (MPI_Group handle, int count, int (*ranges)[3], MPI_Group *result))
{
    ENTER("Group_range_incl");
    GROUP(group, handle);
    return ranged(group, count, ranges, true, result);
}

MPI(int, Group_range_excl, (MPI_Group handle, int count, int (*ranges)[3], MPI_Group *result))
{
    ENTER("Group_range_excl");
    GROUP(group, handle);
    return ranged(group, count, ranges, false, result);
}

MPI(int, Group_free, (MPI_Group * handle))
{
    ENTER("Group_free");
    GROUP(group, *handle);
    mpi_group_release(group);
    *handle = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}
