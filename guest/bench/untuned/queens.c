/* Counts the ways to place n queens on a board of n x n, by backtracking. */
#include <stdbool.h>
#include <stdio.h>

enum { N = 12 };

static int column[N];
static long solutions;

static bool fits(int row, int c)
{
    for (int r = 0; r < row; r++) {
        int distance = row - r;
        if (column[r] == c || column[r] == c - distance || column[r] == c + distance) return false;
    }
    return true;
}

static void place(int row)
{
    if (row == N) {
        solutions++;
        return;
    }
    for (int c = 0; c < N; c++)
        if (fits(row, c)) {
            column[row] = c;
            place(row + 1);
        }
}

int main(void)
{
    place(0);
    printf("%d queens: %ld solutions\n", N, solutions);
    return 0;
}
