/* Sorts strings by quicksort and by heapsort, and compares the results. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRINGS = 100000, LENGTH = 20 };

static uint32_t state = 12345;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void swap(char **a, char **b)
{
    char *t = *a;
    *a = *b;
    *b = t;
}

static void quicksort(char **v, int low, int high)
{
    while (low < high) {
        char *pivot = v[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (strcmp(v[i], pivot) < 0)
                i++;
            while (strcmp(v[j], pivot) > 0)
                j--;
            if (i <= j) swap(&v[i++], &v[j--]);
        }
        if (j - low < high - i) {
            quicksort(v, low, j);
            low = i;
        } else {
            quicksort(v, i, high);
            high = j;
        }
    }
}

static void sift(char **v, int at, int count)
{
    for (;;) {
        int child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && strcmp(v[child], v[child + 1]) < 0) child++;
        if (strcmp(v[at], v[child]) >= 0) return;
        swap(&v[at], &v[child]);
        at = child;
    }
}

static void heapsort_strings(char **v, int count)
{
    for (int i = count / 2 - 1; i >= 0; i--)
        sift(v, i, count);
    for (int i = count - 1; i > 0; i--) {
        swap(&v[0], &v[i]);
        sift(v, 0, i);
    }
}

int main(void)
{
    char **a = malloc(STRINGS * sizeof *a), **b = malloc(STRINGS * sizeof *b);
    for (int i = 0; i < STRINGS; i++) {
        int length = 4 + (int)(next() % (LENGTH - 4));
        a[i] = malloc((size_t)length + 1);
        for (int j = 0; j < length; j++)
            a[i][j] = (char)('a' + next() % 26);
        a[i][length] = 0;
        b[i] = a[i];
    }
    quicksort(a, 0, STRINGS - 1);
    heapsort_strings(b, STRINGS);
    for (int i = 0; i < STRINGS; i++)
        if (strcmp(a[i], b[i]) != 0) {
            printf("differ at %d\n", i);
            return 1;
        }
    printf("%s %s %s\n", a[0], a[STRINGS / 2], a[STRINGS - 1]);
    return 0;
}
