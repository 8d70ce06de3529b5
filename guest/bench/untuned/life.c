/* Conway's game of life on a torus. */
#include <stdio.h>
#include <string.h>

enum { ROWS = 256, COLUMNS = 256, GENERATIONS = 400 };

static unsigned char now[ROWS][COLUMNS], then[ROWS][COLUMNS];

static int neighbours(int r, int c)
{
    int count = 0;
    for (int dr = -1; dr <= 1; dr++)
        for (int dc = -1; dc <= 1; dc++)
            if (dr || dc) count += now[(r + dr + ROWS) % ROWS][(c + dc + COLUMNS) % COLUMNS];
    return count;
}

int main(void)
{
    unsigned state = 7;
    int alive = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            state = state * 1103515245u + 12345u;
            now[r][c] = (state >> 20) % 3 == 0;
        }
    for (int g = 0; g < GENERATIONS; g++) {
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++) {
                int n = neighbours(r, c);
                then[r][c] = n == 3 || (n == 2 && now[r][c]);
            }
        memcpy(now, then, sizeof now);
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            alive += now[r][c];
    printf("%d alive\n", alive);
    return 0;
}
