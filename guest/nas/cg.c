/*
 * NAS CG: the smallest eigenvalue of a large sparse matrix by inverse power iteration; each step solves A z = x by 25
 * iterations of the conjugate gradient method (specification, "Kernel CG").
 *
 * The matrix is A = sum over i of w_i x_i x_i^T + (RCOND - SHIFT) I. The x_i are sparse random vectors with
 * element i equal to 1/2; the w_i fall geometrically from 1 to RCOND. It is built row by row: row j is the sum of those
 * vectors that have an element j. Nearly all instructions are in multiply(), whose loads are indirect and in no order.
 */
#include "nas.h"

#include <math.h>
#include <stdio.h>

enum { SOLVER_STEPS = 25, ITERATIONS = 15 };

static const double RCOND = 0.1, EPSILON = 1e-10;

#if NAS_CLASS == 'S'
enum { N = 1400, NONZERO = 7, SHIFT = 10 };
static const double ZETA = 8.5971775078648;
#elif NAS_CLASS == 'W'
enum { N = 7000, NONZERO = 8, SHIFT = 12 };
static const double ZETA = 10.362595087124;
#else
enum { N = 14000, NONZERO = 11, SHIFT = 20 };
static const double ZETA = 17.130235054029;
#endif

/* A random vector x_i: NONZERO drawn elements and perhaps one more for element i. */
struct sparse_vector {
    int size;
    int index[NONZERO + 1];
    double value[NONZERO + 1];
};

/* Compressed rows; row j is the elements row[j] up to row[j + 1]. */
struct sparse_matrix {
    int row[N + 1];
    int *column;
    double *value;
};

/* The elements of row j are wanted one after the other: which vectors have an element j, and which of theirs it is. */
struct user {
    int vector, element;
};

static struct sparse_vector vectors[N];
static struct sparse_matrix matrix;

/* Draws a value and a place until NONZERO different places below N are found; places are drawn below the next power
 * of 2. */
static void draw_elements(struct sparse_vector *vector, double *random)
{
    int range = 1;
    while (range < N)
        range *= 2;
    for (vector->size = 0; vector->size < NONZERO;) {
        double value = nas_random(random, NAS_MULTIPLIER);
        int place = (int)(range * nas_random(random, NAS_MULTIPLIER));
        bool taken = place >= N;
        for (int i = 0; i < vector->size; i++)
            taken |= vector->index[i] == place;
        if (taken) continue;
        vector->index[vector->size] = place;
        vector->value[vector->size++] = value;
    }
}

static void set_element(struct sparse_vector *vector, int place, double value)
{
    int i = 0;
    while (i < vector->size && vector->index[i] != place)
        i++;
    if (i == vector->size) vector->size++;
    vector->index[i] = place;
    vector->value[i] = value;
}

/* Sorts the users of every row by row; first[j] up to first[j + 1] are those of row j. */
static void find_users(int *first, struct user *users)
{
    static int next[N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < vectors[i].size; k++)
            first[vectors[i].index[k] + 1]++;
    for (int j = 0; j < N; j++) {
        first[j + 1] += first[j];
        next[j] = first[j];
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < vectors[i].size; k++)
            users[next[vectors[i].index[k]]++] = (struct user){i, k};
}

/* Sums row j in `dense`, its columns in the order in which they come up, and appends it to the matrix. */
static void make_row(int j, const struct user *users, int count, const double *weight, double *dense)
{
    static int seen_in[N]; /* the last row + 1 that had this column */
    int *column = matrix.column + matrix.row[j];
    int size = 0;
    for (int u = 0; u < count; u++) {
        const struct sparse_vector *vector = &vectors[users[u].vector];
        double scale = weight[users[u].vector] * vector->value[users[u].element];
        for (int k = 0; k < vector->size; k++) {
            int place = vector->index[k];
            if (seen_in[place] != j + 1) {
                seen_in[place] = j + 1;
                dense[place] = 0;
                column[size++] = place;
            }
            dense[place] += scale * vector->value[k];
        }
    }
    dense[j] += RCOND - SHIFT;
    for (int k = 0; k < size; k++)
        matrix.value[matrix.row[j] + k] = dense[column[k]];
    matrix.row[j + 1] = matrix.row[j] + size;
}

static void make_matrix(void)
{
    enum { MOST_USERS = N * (NONZERO + 1), MOST_ELEMENTS = MOST_USERS * (NONZERO + 1) };
    static int first[N + 1];
    static struct user users[MOST_USERS];
    static double weight[N], dense[N];
    static int column[MOST_ELEMENTS];
    static double value[MOST_ELEMENTS];

    double random = NAS_SEED, w = 1, ratio = pow(RCOND, 1.0 / N);
    nas_random(&random, NAS_MULTIPLIER); /* NPB draws one number before the matrix */
    for (int i = 0; i < N; i++) {
        draw_elements(&vectors[i], &random);
        set_element(&vectors[i], i, 0.5);
        weight[i] = w;
        w *= ratio;
    }
    find_users(first, users);
    matrix.column = column;
    matrix.value = value;
    for (int j = 0; j < N; j++)
        make_row(j, users + first[j], first[j + 1] - first[j], weight, dense);
}

static void multiply(double *restrict product, const double *restrict x)
{
    const int *column = matrix.column;
    const double *value = matrix.value;
    for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = matrix.row[j]; k < matrix.row[j + 1]; k++)
            sum += value[k] * x[column[k]];
        product[j] = sum;
    }
}

static double dot(const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Solves A z = x by the conjugate gradient method; returns the norm of x - A z. */
static double solve(double *restrict z, const double *restrict x)
{
    static double p[N], q[N], r[N];
    for (int i = 0; i < N; i++) {
        z[i] = 0;
        r[i] = x[i];
        p[i] = x[i];
    }
    double rho = dot(r, r);
    for (int step = 0; step < SOLVER_STEPS; step++) {
        multiply(q, p);
        double alpha = rho / dot(p, q), rho_before = rho;
        for (int i = 0; i < N; i++) {
            z[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rho = dot(r, r);
        double beta = rho / rho_before;
        for (int i = 0; i < N; i++)
            p[i] = r[i] + beta * p[i];
    }
    multiply(r, z);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double d = x[i] - r[i];
        sum += d * d;
    }
    return sqrt(sum);
}

static void set_ones(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 1;
}

/* One step of the power iteration: the estimate of the eigenvalue; x becomes z normalised. */
static double iterate(double *restrict x, double *restrict z, double *residual)
{
    *residual = solve(z, x);
    double zeta = SHIFT + 1 / dot(x, z), scale = 1 / sqrt(dot(z, z));
    for (int i = 0; i < N; i++)
        x[i] = scale * z[i];
    return zeta;
}

int main(int argc, char **argv)
{
    static double x[N], z[N];
    double zeta[ITERATIONS], residual[ITERATIONS];
    struct nas nas;
    nas_init(&nas, "CG", argc, argv);
    make_matrix();
    printf("order %d, %d elements, shift %d, %d iterations\n", N, matrix.row[N], SHIFT, ITERATIONS);
    set_ones(x);
    iterate(x, z, residual); /* touches all memory once */
    set_ones(x);

    nas_timed_begin(&nas);
    for (int i = 0; i < ITERATIONS; i++)
        zeta[i] = iterate(x, z, &residual[i]);
    nas_timed_end(&nas);

    for (int i = 0; i < ITERATIONS; i++)
        printf("%3d  |r| %10.3e  zeta %.13f\n", i + 1, residual[i], zeta[i]);
    nas_verify(&nas, "zeta", zeta[ITERATIONS - 1], ZETA, EPSILON);
    return nas_verdict(&nas);
}
