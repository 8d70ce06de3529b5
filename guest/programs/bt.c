/* What the NAS benchmark BT does most of its time, on two cores: block tridiagonal systems of 5 x 5 blocks along the
 * lines of a grid, in three directions. The counter unit counts all that it can count at once; the table has what both
 * cores and their L2s did.
 *
 * The arithmetic is known: 365 flops to eliminate a block, 300 to take the block before it into account, 50 to
 * substitute back.
 */
#include <math.h>
#include <omp.h>
#include <spi/UPC.h>
#include <stdio.h>
#include <string.h>

enum { N = 12, B = 5, LINES = N * N, DIRECTIONS = 3 };

static double grid[N][N][N][B], before[N][N][N][B];

/* The blocks of a line: diagonally dominant, different in each direction. */
static double lower[B][B], middle[B][B], upper[B][B];

static double *cell(int direction, int line, int at)
{
    int a = line / N, b = line % N;
    return direction == 0 ? grid[at][a][b] : direction == 1 ? grid[a][at][b] : grid[a][b][at];
}

static void set_blocks(int direction)
{
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) {
            middle[i][j] = i == j ? 8 + direction : 0.25 * (i + 1) / (j + 1);
            lower[i][j] = i == j ? -1 : 0.0625 * i;
            upper[i][j] = i == j ? -1 : 0.0625 * j;
        }
}

/* block and right become the identity, next and x what solves for them. */
static void eliminate(double block[B][B], double next[B][B], double *x)
{
    for (int k = 0; k < B; k++) {
        double pivot = 1 / block[k][k];
        for (int j = k + 1; j < B; j++)
            block[k][j] *= pivot;
        for (int j = 0; j < B; j++)
            next[k][j] *= pivot;
        x[k] *= pivot;
        for (int i = 0; i < B; i++) {
            if (i == k) continue;
            double factor = block[i][k];
            for (int j = k + 1; j < B; j++)
                block[i][j] -= factor * block[k][j];
            for (int j = 0; j < B; j++)
                next[i][j] -= factor * next[k][j];
            x[i] -= factor * x[k];
        }
    }
}

static void take_off(double block[B][B], double left[B][B], double next[B][B])
{
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++)
            for (int k = 0; k < B; k++)
                block[i][j] -= left[i][k] * next[k][j];
}

static void take_off_vector(double *x, double block[B][B], const double *other)
{
    for (int i = 0; i < B; i++)
        for (int k = 0; k < B; k++)
            x[i] -= block[i][k] * other[k];
}

static void solve_line(int direction, int line)
{
    double next[N][B][B], block[B][B];
    for (int at = 0; at < N; at++) {
        memcpy(block, middle, sizeof block);
        memcpy(next[at], upper, sizeof next[at]);
        if (at) {
            take_off(block, lower, next[at - 1]);
            take_off_vector(cell(direction, line, at), lower, cell(direction, line, at - 1));
        }
        eliminate(block, next[at], cell(direction, line, at));
    }
    for (int at = N - 2; at >= 0; at--)
        take_off_vector(cell(direction, line, at), next[at], cell(direction, line, at + 1));
}

static void solve(int direction)
{
    set_blocks(direction);
    BGP_UPC_Start(0);
#pragma omp parallel for num_threads(2) schedule(static)
    for (int line = 0; line < LINES; line++)
        solve_line(direction, line);
    BGP_UPC_Stop();
}

/* The greatest difference between what a line's blocks make of the solution and what was to be solved. */
static double residual(int direction)
{
    double most = 0;
    for (int line = 0; line < LINES; line++)
        for (int at = 0; at < N; at++)
            for (int i = 0; i < B; i++) {
                size_t where = (size_t)(cell(direction, line, at) - &grid[0][0][0][0]) + (size_t)i;
                double sum = -(&before[0][0][0][0])[where];
                for (int k = 0; k < B; k++) {
                    sum += middle[i][k] * cell(direction, line, at)[k];
                    if (at) sum += lower[i][k] * cell(direction, line, at - 1)[k];
                    if (at < N - 1) sum += upper[i][k] * cell(direction, line, at + 1)[k];
                }
                most = fmax(most, fabs(sum));
            }
    return most;
}

int main(void)
{
    double most = 0;
    for (size_t i = 0; i < sizeof grid / sizeof(double); i++)
        (&grid[0][0][0][0])[i] = (double)(i % 17) / 16;
    BGP_UPC_Initialize();
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, BGP_UPC_CFG_EDGE_DEFAULT);
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        memcpy(before, grid, sizeof before);
        solve(direction);
        most = fmax(most, residual(direction));
    }
    for (int event = 0; event < 256; event++) {
        char name[80];
        if (BGP_UPC_Get_Event_Name(event, sizeof name, name) || strncmp(name, "BGP_PU", 6) != 0) continue;
        printf("%-45s %12lld\n", name, (long long)BGP_UPC_Read_Counter(event, BGP_UPC_READ_EXCLUSIVE));
    }
    puts(most < 1e-9 ? "SOLVED" : "NOT SOLVED");
    return most >= 1e-9;
}
