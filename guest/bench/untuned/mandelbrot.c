/* The Mandelbrot set: points of a grid that stay bounded. */
#include <stdio.h>

enum { WIDTH = 800, HEIGHT = 800, LIMIT = 100 };

int main(void)
{
    long inside = 0, steps = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double cr = 2.0 * x / WIDTH - 1.5, ci = 2.0 * y / HEIGHT - 1.0, zr = 0, zi = 0;
            int i = 0;
            while (i < LIMIT && zr * zr + zi * zi <= 4) {
                double t = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = t;
                i++;
            }
            inside += i == LIMIT;
            steps += i;
        }
    printf("%ld inside, %ld steps\n", inside, steps);
    return 0;
}
