/* Operations: a function for each, with a row for each kind of basic type.
 *
 * The class of a basic type (mpi_basics) says which C type computes and what is allowed:
 * small letters: signed integers a b d h of 1, 2, 4, 8 bytes, floating point f g q; capitals
 * unsigned; y bytes, l and L logical, x z w complex, C characters (nothing), 0 pairs and the rest.
 */
#include "mpi_impl.h"

#include <complex.h>

#define INTEGERS(X)                                                                                \
    X('a', int8_t)                                                                                 \
    X('A', uint8_t)                                                                                \
    X('b', int16_t)                                                                                \
    X('B', uint16_t) X('d', int32_t) X('D', uint32_t) X('h', int64_t) X('H', uint64_t)
#define REALS(X)     X('f', float) X('g', double) X('q', long double)
#define COMPLEXES(X) X('x', float _Complex) X('z', double _Complex) X('w', long double _Complex)
#define LOGICALS(X)  X('l', _Bool) X('L', int32_t)
#define BYTES(X)     X('y', uint8_t)

#define LOOP(letter, type, what)                                                                   \
    case letter: {                                                                                 \
        const type *a = in;                                                                        \
        type *b = inout;                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            b[i] = (type)(what);                                                                   \
        return;                                                                                    \
    }
#define OPERATION(name, list)                                                                      \
    static void name(char class, const void *in, void *inout, size_t n)                            \
    {                                                                                              \
        switch (class) {                                                                           \
            list                                                                                   \
        }                                                                                          \
    }

#define MAX_ROW(l, t)  LOOP(l, t, a[i] > b[i] ? a[i] : b[i])
#define MIN_ROW(l, t)  LOOP(l, t, a[i] < b[i] ? a[i] : b[i])
#define SUM_ROW(l, t)  LOOP(l, t, a[i] + b[i])
#define PROD_ROW(l, t) LOOP(l, t, a[i] * b[i])
#define LAND_ROW(l, t) LOOP(l, t, a[i] && b[i])
#define LOR_ROW(l, t)  LOOP(l, t, a[i] || b[i])
#define LXOR_ROW(l, t) LOOP(l, t, !a[i] != !b[i])
#define BAND_ROW(l, t) LOOP(l, t, a[i] & b[i])
#define BOR_ROW(l, t)  LOOP(l, t, a[i] | b[i])
#define BXOR_ROW(l, t) LOOP(l, t, a[i] ^ b[i])

OPERATION(do_max, INTEGERS(MAX_ROW) REALS(MAX_ROW))
OPERATION(do_min, INTEGERS(MIN_ROW) REALS(MIN_ROW))
OPERATION(do_sum, INTEGERS(SUM_ROW) REALS(SUM_ROW) COMPLEXES(SUM_ROW))
OPERATION(do_prod, INTEGERS(PROD_ROW) REALS(PROD_ROW) COMPLEXES(PROD_ROW))
OPERATION(do_land, INTEGERS(LAND_ROW) REALS(LAND_ROW) LOGICALS(LAND_ROW))
OPERATION(do_lor, INTEGERS(LOR_ROW) REALS(LOR_ROW) LOGICALS(LOR_ROW))
OPERATION(do_lxor, INTEGERS(LXOR_ROW) REALS(LXOR_ROW) LOGICALS(LXOR_ROW))
OPERATION(do_band, INTEGERS(BAND_ROW) BYTES(BAND_ROW) LOGICALS(BAND_ROW))
OPERATION(do_bor, INTEGERS(BOR_ROW) BYTES(BOR_ROW) LOGICALS(BOR_ROW))
OPERATION(do_bxor, INTEGERS(BXOR_ROW) BYTES(BXOR_ROW) LOGICALS(BXOR_ROW))

static const struct {
    void (*apply)(char class, const void *in, void *inout, size_t n);
    const char *classes;
} rows[] = {[1] = {do_max, "aAbBdDhHfgq"}, {do_min, "aAbBdDhHfgq"},    {do_sum, "aAbBdDhHfgqxzw"},
            {do_prod, "aAbBdDhHfgqxzw"},   {do_land, "aAbBdDhHfgqlL"}, {do_band, "aAbBdDhHylL"},
            {do_lor, "aAbBdDhHfgqlL"},     {do_bor, "aAbBdDhHylL"},    {do_lxor, "aAbBdDhHfgqlL"},
            {do_bxor, "aAbBdDhHylL"}};
enum { MINLOC = 0xb, MAXLOC = 0xc, REPLACE = 0xd, NOTHING = 0xe, OPS = 0xf };

/* ---- pairs ---- */

#define LOCATION(n, value, index)                                                                  \
    case n: {                                                                                      \
        const struct {                                                                             \
            value v;                                                                               \
            index i;                                                                               \
        } *a = in;                                                                                 \
        struct {                                                                                   \
            value v;                                                                               \
            index i;                                                                               \
        } *b = inout;                                                                              \
        for (size_t k = 0; k < count; k++)                                                         \
            if (a[k].v == b[k].v) {                                                                \
                if (a[k].i < b[k].i) b[k].i = a[k].i;                                              \
            } else if (max ? a[k].v > b[k].v : a[k].v < b[k].v) {                                  \
                b[k].v = a[k].v;                                                                   \
                b[k].i = a[k].i;                                                                   \
            }                                                                                      \
        return;                                                                                    \
    }

static void locate(int pair, bool max, const void *in, void *inout, size_t count)
{
    switch (pair) {
        LOCATION(0x38, float, int)
        LOCATION(0x39, double, int)
        LOCATION(0x3a, long, int)
        LOCATION(0x3b, int, int)
        LOCATION(0x3c, short, int)
        LOCATION(0x3d, long double, int)
        LOCATION(0x3e, float, float)
        LOCATION(0x3f, double, double)
        LOCATION(0x40, int, int)
    }
}

/* ---- the objects ---- */

static struct op predefined[OPS];

void mpi_op_init(void)
{
    for (int i = 1; i < OPS; i++) {
        predefined[i] = (struct op){.handle = mpi_null(KIND_OP) + i,
                                    .refs = 1,
                                    .commutes = i != REPLACE,
                                    .predefined = true};
        mpi_handle_set(predefined[i].handle, &predefined[i]);
    }
}

struct op *mpi_op(MPI_Op handle)
{
    return mpi_object(KIND_OP, handle);
}

void mpi_op_release(struct op *op)
{
    if (op->predefined || --op->refs) return;
    mpi_handle_free(op->handle);
    free(op);
}

static unsigned number_of(const struct op *op)
{
    return (unsigned)op->handle & 0xff;
}

int mpi_op_check(const struct comm *comm, const struct op *op, const struct type *type)
{
    if (!op) return mpi_fail(comm, MPI_ERR_OP, "this is no operation");
    if (!op->predefined) return MPI_SUCCESS;
    unsigned n = number_of(op), t = (unsigned)type->handle & 0xffffff;
    if (n >= REPLACE) return MPI_SUCCESS;
    if (n >= MINLOC && type->predefined && t >= BASIC_PAIRS) return MPI_SUCCESS;
    if (n < MINLOC && type->predefined && t < BASIC_PAIRS && mpi_basics[t].class &&
        strchr(rows[n].classes, mpi_basics[t].class))
        return MPI_SUCCESS;
    return mpi_fail(comm, MPI_ERR_OP, "the operation is not defined for the datatype%s%s",
                    type->predefined ? " " : "", type->predefined ? mpi_basics[t].name : "");
}

static void apply_basic(unsigned n, unsigned basic, const void *in, void *inout, size_t count)
{
    if (n == MINLOC || n == MAXLOC)
        locate((int)basic, n == MAXLOC, in, inout, count);
    else
        rows[n].apply((char)mpi_basics[basic].class, in, inout, count);
}

void mpi_op_apply(const struct op *op, const void *in, void *inout, int count, struct type *type)
{
    unsigned n = number_of(op);
    if (!op->predefined) {
        int length = count;
        MPI_Datatype handle = type->handle;
        op->function((void *)in, inout, &length, &handle);
    } else if (n == REPLACE)
        (void)mpi_type_copy(in, (size_t)count, type, inout, (size_t)count, type);
    else if (n < REPLACE)
        apply_basic(n, (unsigned)type->handle & 0xffffff, in, inout, (size_t)count);
}

/* Of one-sided operations: a predefined operation on packed values of one basic type. */
void mpi_op_apply_basic(const struct op *op, unsigned basic, const void *in, void *inout,
                        size_t count)
{
    unsigned n = number_of(op);
    if (n < REPLACE) apply_basic(n, basic, in, inout, count);
}

MPI(int, Op_create, (MPI_User_function * function, int commute, MPI_Op *out))
{
    ENTER("Op_create");
    struct op *op = mpi_alloc(sizeof *op);
    *op = (struct op){.refs = 1, .commutes = commute, .function = function};
    *out = op->handle = mpi_handle_new(KIND_OP, op);
    return MPI_SUCCESS;
}

MPI(int, Op_free, (MPI_Op * handle))
{
    ENTER("Op_free");
    struct op *op = mpi_op(*handle);
    if (!op || op->predefined)
        return mpi_fail(NULL, MPI_ERR_OP,
                        op ? "a predefined operation cannot be freed" : "this is no operation");
    mpi_op_release(op);
    *handle = MPI_OP_NULL;
    return MPI_SUCCESS;
}

MPI(int, Op_commutative, (MPI_Op handle, int *commute))
{
    ENTER("Op_commutative");
    const struct op *op = mpi_op(handle);
    if (!op) return mpi_fail(NULL, MPI_ERR_OP, "this is no operation");
    *commute = op->commutes;
    return MPI_SUCCESS;
}

MPI(int, Reduce_local,
    (const void *in, void *inout, int count, MPI_Datatype datatype, MPI_Op handle))
{
    ENTER("Reduce_local");
    TYPE(NULL, type, datatype);
    const struct op *op = mpi_op(handle);
    TRY(mpi_op_check(NULL, op, type));
    if (count < 0) return mpi_fail(NULL, MPI_ERR_COUNT, "count is %d", count);
    if (count) mpi_op_apply(op, in, inout, count, type);
    return MPI_SUCCESS;
}
