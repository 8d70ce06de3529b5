/* Constructors of datatypes, and calls about them.
 *
 * Each constructor adds copies of old types at displacements; the blocks and bounds follow. What
 * was given is kept for MPI_Type_get_contents. A structure's extent is rounded up to its alignment,
 * as a C compiler's is, unless MPI_UB says where it ends.
 */
#include "mpi_impl.h"

#include <limits.h>
#include <stdio.h>

struct making {
    struct block *blocks;
    uint32_t count, size;
    bool any, any_data, has_lb, has_ub;
    MPI_Aint lb, ub, true_lb, true_ub;
    uint32_t align;
    size_t bytes;
};

static void add_block(struct making *m, MPI_Aint at, uint32_t count, uint32_t basic)
{
    struct block *last = m->count ? &m->blocks[m->count - 1] : NULL;
    if (last && last->basic == basic &&
        last->at + (MPI_Aint)(last->count * mpi_basics[basic].size) == at) {
        last->count += count;
        return;
    }
    if (m->count == m->size) {
        m->size = m->size ? 2 * m->size : 4;
        m->blocks = realloc(m->blocks, m->size * sizeof *m->blocks);
        if (!m->blocks) mpi_abort(MPI_ERR_NO_MEM);
    }
    m->blocks[m->count++] = (struct block){at, count, basic};
}

static void widen(MPI_Aint *low, MPI_Aint *high, bool *any, MPI_Aint from, MPI_Aint to)
{
    if (!*any || from < *low) *low = from;
    if (!*any || to > *high) *high = to;
    *any = true;
}

/* A marker (MPI_LB, MPI_UB, a resized type) counts more than what is not one. */
static void add_bounds(struct making *m, const struct type *old, MPI_Aint first, MPI_Aint last)
{
    MPI_Aint low = (first < last ? first : last) + old->lb,
             high = (first > last ? first : last) + old->ub;
    bool marks_lb = old->has_lb, marks_ub = old->has_ub,
         only_lb = marks_lb && !marks_ub && !old->block_count,
         only_ub = marks_ub && !marks_lb && !old->block_count;
    if (!only_ub && (!m->has_lb || marks_lb)) {
        if (!m->any || low < m->lb || (marks_lb && !m->has_lb)) m->lb = low;
        m->has_lb |= marks_lb;
    }
    if (!only_lb && (!m->has_ub || marks_ub)) {
        if (!m->any || high > m->ub || (marks_ub && !m->has_ub)) m->ub = high;
        m->has_ub |= marks_ub;
    }
    m->any = true;
}

static void add_copies(struct making *m, const struct type *old, int count, MPI_Aint at)
{
    MPI_Aint extent = type_extent(old), last = at + (count - 1) * extent;
    if (count <= 0) return;
    add_bounds(m, old, at, last);
    if (old->align > m->align) m->align = old->align;
    m->bytes += old->size * (size_t)count;
    if (!old->block_count) return;
    widen(&m->true_lb, &m->true_ub, &m->any_data, (at < last ? at : last) + old->true_lb,
          (at > last ? at : last) + old->true_ub);
    if (old->dense && old->block_count == 1) {
        const struct block *b = &old->blocks[0];
        add_block(m, at + b->at, b->count * (uint32_t)count, b->basic);
        return;
    }
    for (int i = 0; i < count; i++)
        for (uint32_t k = 0; k < old->block_count; k++)
            add_block(m, at + i * extent + old->blocks[k].at, old->blocks[k].count,
                      old->blocks[k].basic);
}

static struct type *make(struct making *m, int combiner)
{
    struct type *type = mpi_alloc(sizeof *type);
    *type = (struct type){.refs = 1,
                          .has_lb = m->has_lb,
                          .has_ub = m->has_ub,
                          .lb = m->lb,
                          .ub = m->ub,
                          .true_lb = m->true_lb,
                          .true_ub = m->true_ub,
                          .size = m->bytes,
                          .align = m->align,
                          .blocks = m->blocks,
                          .block_count = m->count,
                          .combiner = combiner};
    type->handle = mpi_handle_new(KIND_TYPE, type);
    bool gaps = type->true_ub - type->true_lb != (MPI_Aint)type->size, ordered = true;
    for (uint32_t i = 1; i < m->count; i++)
        ordered &= m->blocks[i].at ==
                   m->blocks[i - 1].at +
                       (MPI_Aint)(m->blocks[i - 1].count * mpi_basics[m->blocks[i - 1].basic].size);
    type->dense = !gaps && ordered && type_extent(type) == (MPI_Aint)type->size;
    return type;
}

/* ---- what was given ---- */

static void keep_types(struct type *type, int count, const MPI_Datatype *handles)
{
    type->type_count = count;
    type->types = mpi_alloc((size_t)count * sizeof(struct type *));
    for (int i = 0; i < count; i++) {
        type->types[i] = mpi_type(handles[i]);
        mpi_type_retain(type->types[i]);
    }
}

static int *keep_integers(struct type *type, int count)
{
    type->integer_count = count;
    return type->integers = mpi_alloc((size_t)count * sizeof(int));
}

static MPI_Aint *keep_addresses(struct type *type, int count)
{
    type->address_count = count;
    return type->addresses = mpi_alloc((size_t)count * sizeof(MPI_Aint));
}

#define OLD(variable, handle)                                                                      \
    struct type *variable = mpi_type(handle);                                                      \
    if (!variable) return mpi_fail(NULL, MPI_ERR_TYPE, "%s", mpi_type_text(handle))

static int check(int count)
{
    return count < 0 ? mpi_fail(NULL, MPI_ERR_COUNT, "count is %d", count) : MPI_SUCCESS;
}

static int check_lengths(int count, const int *lengths)
{
    TRY(check(count));
    for (int i = 0; lengths && i < count; i++)
        if (lengths[i] < 0)
            return mpi_fail(NULL, MPI_ERR_ARG, "block %d has length %d", i, lengths[i]);
    return MPI_SUCCESS;
}

static int give(struct type *type, MPI_Datatype *out)
{
    *out = type->handle;
    return MPI_SUCCESS;
}

/* ---- constructors ---- */

MPI(int, Type_contiguous, (int count, MPI_Datatype handle, MPI_Datatype *out))
{
    ENTER("Type_contiguous");
    struct making m = {.align = 1};
    OLD(old, handle);
    TRY(check(count));
    add_copies(&m, old, count, 0);
    struct type *type = make(&m, MPI_COMBINER_CONTIGUOUS);
    keep_integers(type, 1)[0] = count;
    keep_types(type, 1, &handle);
    return give(type, out);
}

static int vector(int count, int length, MPI_Aint stride, bool bytes, int combiner,
                  MPI_Datatype handle, MPI_Datatype *out)
{
    struct making m = {.align = 1};
    OLD(old, handle);
    TRY(check(count));
    if (length < 0) return mpi_fail(NULL, MPI_ERR_ARG, "the length of blocks is %d", length);
    for (int i = 0; i < count; i++)
        add_copies(&m, old, length, i * stride * (bytes ? 1 : type_extent(old)));
    struct type *type = make(&m, combiner);
    int *integers = keep_integers(type, bytes ? 2 : 3);
    integers[0] = count;
    integers[1] = length;
    if (bytes)
        keep_addresses(type, 1)[0] = stride;
    else
        integers[2] = (int)stride;
    keep_types(type, 1, &handle);
    return give(type, out);
}

MPI(int, Type_vector, (int count, int length, int stride, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_vector");
    return vector(count, length, stride, false, MPI_COMBINER_VECTOR, old, out);
}

MPI(int, Type_hvector,
    (int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_hvector");
    return vector(count, length, stride, true, MPI_COMBINER_HVECTOR, old, out);
}

MPI(int, Type_create_hvector,
    (int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_create_hvector");
    return vector(count, length, stride, true, MPI_COMBINER_HVECTOR, old, out);
}

/* Blocks of lengths[i] (or `length`) at places[i] (extents) or addresses[i] (bytes). */
static int indexed(int count, const int *lengths, int length, const int *places,
                   const MPI_Aint *addresses, int combiner, MPI_Datatype handle, MPI_Datatype *out)
{
    struct making m = {.align = 1};
    OLD(old, handle);
    TRY(check_lengths(count, lengths));
    if (length < 0) return mpi_fail(NULL, MPI_ERR_ARG, "the length of blocks is %d", length);
    for (int i = 0; i < count; i++)
        add_copies(&m, old, lengths ? lengths[i] : length,
                   places ? places[i] * type_extent(old) : addresses[i]);
    struct type *type = make(&m, combiner);
    int *integers = keep_integers(type, 1 + (lengths ? count : 1) + (places ? count : 0)), n = 0;
    integers[n++] = count;
    if (!lengths) integers[n++] = length;
    for (int i = 0; lengths && i < count; i++)
        integers[n++] = lengths[i];
    for (int i = 0; places && i < count; i++)
        integers[n++] = places[i];
    if (!places && count)
        memcpy(keep_addresses(type, count), addresses, (size_t)count * sizeof *addresses);
    keep_types(type, 1, &handle);
    return give(type, out);
}

MPI(int, Type_indexed,
    (int count, const int *lengths, const int *places, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_indexed");
    static const int none;
    return indexed(count, lengths ? lengths : &none, 0, places ? places : &none, NULL,
                   MPI_COMBINER_INDEXED, old, out);
}

static int hindexed(int count, const int *lengths, const MPI_Aint *places, MPI_Datatype old,
                    MPI_Datatype *out)
{
    static const int none;
    return indexed(count, lengths ? lengths : &none, 0, NULL, places, MPI_COMBINER_HINDEXED, old,
                   out);
}

MPI(int, Type_hindexed,
    (int count, const int *lengths, const MPI_Aint *places, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_hindexed");
    return hindexed(count, lengths, places, old, out);
}

MPI(int, Type_create_hindexed,
    (int count, const int *lengths, const MPI_Aint *places, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_create_hindexed");
    return hindexed(count, lengths, places, old, out);
}

MPI(int, Type_create_indexed_block,
    (int count, int length, const int *places, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_create_indexed_block");
    static const int none;
    return indexed(count, NULL, length, places ? places : &none, NULL, MPI_COMBINER_INDEXED_BLOCK,
                   old, out);
}

MPI(int, Type_create_hindexed_block,
    (int count, int length, const MPI_Aint *places, MPI_Datatype old, MPI_Datatype *out))
{
    ENTER("Type_create_hindexed_block");
    return indexed(count, NULL, length, NULL, places, MPI_COMBINER_HINDEXED_BLOCK, old, out);
}

static int structure(int count, const int *lengths, const MPI_Aint *places,
                     const MPI_Datatype *types, MPI_Datatype *out)
{
    struct making m = {.align = 1};
    TRY(check_lengths(count, lengths));
    for (int i = 0; i < count; i++) {
        OLD(old, types[i]);
        add_copies(&m, old, lengths[i], places[i]);
    }
    if (!m.has_ub && m.align > 1) {
        MPI_Aint align = (MPI_Aint)m.align, over = (m.ub - m.lb) % align;
        if (over) m.ub += align - over;
    }
    struct type *type = make(&m, MPI_COMBINER_STRUCT);
    int *integers = keep_integers(type, count + 1);
    integers[0] = count;
    if (count) {
        memcpy(integers + 1, lengths, (size_t)count * sizeof *lengths);
        memcpy(keep_addresses(type, count), places, (size_t)count * sizeof *places);
    }
    keep_types(type, count, types);
    return give(type, out);
}

MPI(int, Type_struct,
    (int count, const int *lengths, const MPI_Aint *places, const MPI_Datatype *types,
     MPI_Datatype *out))
{
    ENTER("Type_struct");
    return structure(count, lengths, places, types, out);
}

MPI(int, Type_create_struct,
    (int count, const int *lengths, const MPI_Aint *places, const MPI_Datatype *types,
     MPI_Datatype *out))
{
    ENTER("Type_create_struct");
    return structure(count, lengths, places, types, out);
}

MPI(int, Type_create_resized,
    (MPI_Datatype handle, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *out))
{
    ENTER("Type_create_resized");
    struct making m = {.align = 1};
    OLD(old, handle);
    add_copies(&m, old, 1, 0);
    m.has_lb = m.has_ub = true;
    m.lb = lb;
    m.ub = lb + extent;
    struct type *type = make(&m, MPI_COMBINER_RESIZED);
    MPI_Aint *addresses = keep_addresses(type, 2);
    addresses[0] = lb;
    addresses[1] = extent;
    keep_types(type, 1, &handle);
    return give(type, out);
}

MPI(int, Type_dup, (MPI_Datatype handle, MPI_Datatype *out))
{
    ENTER("Type_dup");
    struct making m = {.align = 1};
    OLD(old, handle);
    for (uint32_t i = 0; i < old->block_count; i++)
        add_block(&m, old->blocks[i].at, old->blocks[i].count, old->blocks[i].basic);
    m.any = true;
    m.has_lb = old->has_lb;
    m.has_ub = old->has_ub;
    m.lb = old->lb;
    m.ub = old->ub;
    m.true_lb = old->true_lb;
    m.true_ub = old->true_ub;
    m.align = old->align;
    m.bytes = old->size;
    struct type *type = make(&m, MPI_COMBINER_DUP);
    type->committed = old->committed;
    keep_types(type, 1, &handle);
    int error = mpi_attr_copy_all(KIND_TYPE, handle, old->attributes, &type->attributes);
    if (error) {
        mpi_type_release(type);
        *out = MPI_DATATYPE_NULL;
        return mpi_fail(NULL, error, "a copy function of an attribute failed");
    }
    return give(type, out);
}

/* ---- arrays ---- */

/* Blocks of an array with the last dimension the quickest: pieces[d] lists the indices of dimension
 * d. */
struct pieces {
    int count, *indices;
};

static void add_array(struct making *m, const struct type *old, int dims, const int *sizes,
                      const struct pieces *pieces, int dim, MPI_Aint at)
{
    MPI_Aint stride = type_extent(old);
    for (int i = dim + 1; i < dims; i++)
        stride *= sizes[i];
    if (dim == dims - 1) {
        for (int i = 0, run; i < pieces[dim].count; i += run) {
            for (run = 1; i + run < pieces[dim].count &&
                          pieces[dim].indices[i + run] == pieces[dim].indices[i] + run;)
                run++;
            add_copies(m, old, run, at + pieces[dim].indices[i] * stride);
        }
        return;
    }
    for (int i = 0; i < pieces[dim].count; i++)
        add_array(m, old, dims, sizes, pieces, dim + 1, at + pieces[dim].indices[i] * stride);
}

/* The whole array is the extent. */
static struct type *make_array(const struct type *old, int dims, const int *sizes,
                               struct pieces *pieces, int order, int combiner)
{
    struct making m = {.align = 1};
    int *turned = mpi_alloc((size_t)dims * sizeof *turned);
    struct pieces *list = mpi_alloc((size_t)dims * sizeof *list);
    MPI_Aint all = type_extent(old);
    for (int i = 0; i < dims; i++) {
        int from = order == MPI_ORDER_C ? i : dims - 1 - i;
        turned[i] = sizes[from];
        list[i] = pieces[from];
        all *= sizes[i];
    }
    add_array(&m, old, dims, turned, list, 0, 0);
    m.has_lb = m.has_ub = true;
    m.lb = 0;
    m.ub = all;
    free(turned);
    free(list);
    for (int i = 0; i < dims; i++)
        free(pieces[i].indices);
    return make(&m, combiner);
}

MPI(int, Type_create_subarray,
    (int dims, const int *sizes, const int *subsizes, const int *starts, int order,
     MPI_Datatype handle, MPI_Datatype *out))
{
    ENTER("Type_create_subarray");
    OLD(old, handle);
    if (dims < 1) return mpi_fail(NULL, MPI_ERR_ARG, "%d dimensions", dims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return mpi_fail(NULL, MPI_ERR_ARG, "order %d", order);
    for (int i = 0; i < dims; i++)
        if (sizes[i] < 1 || subsizes[i] < 1 || starts[i] < 0 || starts[i] + subsizes[i] > sizes[i])
            return mpi_fail(NULL, MPI_ERR_ARG, "dimension %d: %d from %d on of %d", i, subsizes[i],
                            starts[i], sizes[i]);
    struct pieces *pieces = mpi_alloc((size_t)dims * sizeof *pieces);
    for (int i = 0; i < dims; i++) {
        pieces[i].count = subsizes[i];
        pieces[i].indices = mpi_alloc((size_t)subsizes[i] * sizeof(int));
        for (int k = 0; k < subsizes[i]; k++)
            pieces[i].indices[k] = starts[i] + k;
    }
    struct type *type = make_array(old, dims, sizes, pieces, order, MPI_COMBINER_SUBARRAY);
    free(pieces);
    int *integers = keep_integers(type, 3 * dims + 2);
    integers[0] = dims;
    memcpy(integers + 1, sizes, (size_t)dims * sizeof *sizes);
    memcpy(integers + 1 + dims, subsizes, (size_t)dims * sizeof *sizes);
    memcpy(integers + 1 + 2 * dims, starts, (size_t)dims * sizeof *sizes);
    integers[3 * dims + 1] = order;
    keep_types(type, 1, &handle);
    return give(type, out);
}

/* Indices of a dimension that process `at` of `processes` has. */
static int distribute(struct pieces *piece, int size, int distribution, int argument, int at,
                      int processes)
{
    int block = argument;
    if (distribution == MPI_DISTRIBUTE_NONE) {
        at = 0;
        processes = 1;
        block = size;
    } else if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
    if (block < 1 || (distribution == MPI_DISTRIBUTE_BLOCK && (long long)block * processes < size))
        return mpi_fail(NULL, MPI_ERR_ARG, "a distribution's argument is %d", argument);
    piece->indices = mpi_alloc((size_t)size * sizeof(int));
    for (int start = at * block; start < size; start += processes * block)
        for (int i = start; i < start + block && i < size; i++)
            piece->indices[piece->count++] = i;
    return MPI_SUCCESS;
}

MPI(int, Type_create_darray,
    (int size, int rank, int dims, const int *gsizes, const int *distribs, const int *dargs,
     const int *psizes, int order, MPI_Datatype handle, MPI_Datatype *out))
{
    ENTER("Type_create_darray");
    OLD(old, handle);
    if (dims < 1 || rank < 0 || rank >= size)
        return mpi_fail(NULL, MPI_ERR_ARG, "rank %d of %d", rank, size);
    struct pieces *pieces = mpi_alloc((size_t)dims * sizeof *pieces);
    int left = rank, below = size;
    for (int i = 0; i < dims; i++) {
        below /= psizes[i] ? psizes[i] : 1;
        int at = below ? left / below : 0;
        left -= at * below;
        TRY(distribute(&pieces[i], gsizes[i], distribs[i], dargs[i], at, psizes[i]));
    }
    struct type *type = make_array(old, dims, gsizes, pieces, order, MPI_COMBINER_DARRAY);
    free(pieces);
    int *integers = keep_integers(type, 4 * dims + 4);
    integers[0] = size;
    integers[1] = rank;
    integers[2] = dims;
    const int *const lists[] = {gsizes, distribs, dargs, psizes};
    for (int i = 0; i < 4; i++)
        memcpy(integers + 3 + i * dims, lists[i], (size_t)dims * sizeof(int));
    integers[4 * dims + 3] = order;
    keep_types(type, 1, &handle);
    return give(type, out);
}

/* ---- life ---- */

MPI(int, Type_commit, (MPI_Datatype * handle))
{
    ENTER("Type_commit");
    OLD(type, *handle);
    type->committed = true;
    return MPI_SUCCESS;
}

MPI(int, Type_free, (MPI_Datatype * handle))
{
    ENTER("Type_free");
    OLD(type, *handle);
    if (type->predefined)
        return mpi_fail(NULL, MPI_ERR_TYPE, "a predefined datatype cannot be freed");
    int error = mpi_attr_delete_all(*handle, &type->attributes);
    if (error) return mpi_fail(NULL, error, "a delete function of an attribute failed");
    *handle = MPI_DATATYPE_NULL;
    mpi_type_release(type);
    return MPI_SUCCESS;
}

/* ---- questions ---- */

MPI(int, Type_size, (MPI_Datatype handle, int *size))
{
    ENTER("Type_size");
    OLD(type, handle);
    *size = (int)type->size;
    return MPI_SUCCESS;
}

MPI(int, Type_size_x, (MPI_Datatype handle, MPI_Count *size))
{
    ENTER("Type_size_x");
    OLD(type, handle);
    *size = (MPI_Count)type->size;
    return MPI_SUCCESS;
}

MPI(int, Type_extent, (MPI_Datatype handle, MPI_Aint *extent))
{
    ENTER("Type_extent");
    OLD(type, handle);
    *extent = type_extent(type);
    return MPI_SUCCESS;
}

MPI(int, Type_lb, (MPI_Datatype handle, MPI_Aint *lb))
{
    ENTER("Type_lb");
    OLD(type, handle);
    *lb = type->lb;
    return MPI_SUCCESS;
}

MPI(int, Type_ub, (MPI_Datatype handle, MPI_Aint *ub))
{
    ENTER("Type_ub");
    OLD(type, handle);
    *ub = type->ub;
    return MPI_SUCCESS;
}

MPI(int, Type_get_extent, (MPI_Datatype handle, MPI_Aint *lb, MPI_Aint *extent))
{
    ENTER("Type_get_extent");
    OLD(type, handle);
    *lb = type->lb;
    *extent = type_extent(type);
    return MPI_SUCCESS;
}

MPI(int, Type_get_extent_x, (MPI_Datatype handle, MPI_Count *lb, MPI_Count *extent))
{
    ENTER("Type_get_extent_x");
    OLD(type, handle);
    *lb = type->lb;
    *extent = type_extent(type);
    return MPI_SUCCESS;
}

MPI(int, Type_get_true_extent, (MPI_Datatype handle, MPI_Aint *lb, MPI_Aint *extent))
{
    ENTER("Type_get_true_extent");
    OLD(type, handle);
    *lb = type->true_lb;
    *extent = type->true_ub - type->true_lb;
    return MPI_SUCCESS;
}

MPI(int, Type_get_true_extent_x, (MPI_Datatype handle, MPI_Count *lb, MPI_Count *extent))
{
    ENTER("Type_get_true_extent_x");
    OLD(type, handle);
    *lb = type->true_lb;
    *extent = type->true_ub - type->true_lb;
    return MPI_SUCCESS;
}

MPI(int, Type_get_envelope,
    (MPI_Datatype handle, int *integers, int *addresses, int *datatypes, int *combiner))
{
    ENTER("Type_get_envelope");
    OLD(type, handle);
    *integers = type->integer_count;
    *addresses = type->address_count;
    *datatypes = type->type_count;
    *combiner = type->combiner;
    return MPI_SUCCESS;
}

MPI(int, Type_get_contents,
    (MPI_Datatype handle, int max_integers, int max_addresses, int max_datatypes, int *integers,
     MPI_Aint *addresses, MPI_Datatype *datatypes))
{
    ENTER("Type_get_contents");
    OLD(type, handle);
    if (type->predefined)
        return mpi_fail(NULL, MPI_ERR_TYPE, "a predefined datatype has no contents");
    if (max_integers < type->integer_count || max_addresses < type->address_count ||
        max_datatypes < type->type_count)
        return mpi_fail(NULL, MPI_ERR_ARG, "there is not room for all of the contents");
    if (type->integer_count)
        memcpy(integers, type->integers, (size_t)type->integer_count * sizeof *integers);
    if (type->address_count)
        memcpy(addresses, type->addresses, (size_t)type->address_count * sizeof *addresses);
    for (int i = 0; i < type->type_count; i++) {
        datatypes[i] = type->types[i]->handle;
        mpi_type_retain(type->types[i]);
    }
    return MPI_SUCCESS;
}

MPI(int, Type_set_name, (MPI_Datatype handle, const char *name))
{
    ENTER("Type_set_name");
    OLD(type, handle);
    free(type->name);
    type->name = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    return MPI_SUCCESS;
}

MPI(int, Type_get_name, (MPI_Datatype handle, char *name, int *length))
{
    ENTER("Type_get_name");
    OLD(type, handle);
    strcpy(name, type->name ? type->name : type->predefined ? mpi_basics[handle & 0xff].name : "");
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

/* ---- Fortran's types by what they can hold ---- */

static int by_size(MPI_Datatype type, MPI_Datatype *out, const char *what)
{
    *out = type;
    if (type == MPI_DATATYPE_NULL) return mpi_fail(NULL, MPI_ERR_ARG, "there is no such %s", what);
    return MPI_SUCCESS;
}

MPI(int, Type_create_f90_integer, (int range, MPI_Datatype *out))
{
    ENTER("Type_create_f90_integer");
    return by_size(range <= 2    ? MPI_INTEGER1
                   : range <= 4  ? MPI_INTEGER2
                   : range <= 9  ? MPI_INTEGER4
                   : range <= 18 ? MPI_INTEGER8
                                 : MPI_DATATYPE_NULL,
                   out, "integer");
}

static int real_size(int precision, int range)
{
    if (precision == MPI_UNDEFINED) precision = 0;
    if (range == MPI_UNDEFINED) range = 0;
    return precision <= 6 && range <= 37     ? 4
           : precision <= 15 && range <= 307 ? 8
           : precision <= 31 && range <= 291 ? 16
                                             : 0;
}

MPI(int, Type_create_f90_real, (int precision, int range, MPI_Datatype *out))
{
    ENTER("Type_create_f90_real");
    int size = real_size(precision, range);
    return by_size(size == 4   ? MPI_REAL4
                   : size == 8 ? MPI_REAL8
                   : size      ? MPI_REAL16
                               : MPI_DATATYPE_NULL,
                   out, "real");
}

MPI(int, Type_create_f90_complex, (int precision, int range, MPI_Datatype *out))
{
    ENTER("Type_create_f90_complex");
    int size = real_size(precision, range);
    return by_size(size == 4   ? MPI_COMPLEX8
                   : size == 8 ? MPI_COMPLEX16
                   : size      ? MPI_COMPLEX32
                               : MPI_DATATYPE_NULL,
                   out, "complex");
}

MPI(int, Type_match_size, (int class, int size, MPI_Datatype *out))
{
    ENTER("Type_match_size");
    static const struct {
        int class, size;
        MPI_Datatype type;
    } rows[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16}, {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
    *out = MPI_DATATYPE_NULL;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].class == class && rows[i].size == size) *out = rows[i].type;
    return by_size(*out, out, "type");
}

/* ---- addresses ---- */

MPI(int, Get_address, (const void *location, MPI_Aint *address))
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

MPI(int, Address, (const void *location, MPI_Aint *address))
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

MPI(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint more))
{
    return base + more;
}

MPI(MPI_Aint, Aint_diff, (MPI_Aint one, MPI_Aint other))
{
    return one - other;
}
