/* Counts words in a text with a chained hash table, and sorts them by count. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, SYLLABLES = 16, TEXT = 2 << 20 };

struct word {
    char *text;
    long count;
    struct word *next;
};

static struct word *bucket[BUCKETS];
static long different;

static void add(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    struct word **at = &bucket[hash % BUCKETS];
    while (*at && (strncmp((*at)->text, text, length) != 0 || (*at)->text[length]))
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        (*at)->text = malloc(length + 1);
        memcpy((*at)->text, text, length);
        (*at)->text[length] = 0;
        different++;
    }
    (*at)->count++;
}

static int by_count(const void *a, const void *b)
{
    const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->text, y->text);
}

int main(void)
{
    static const char *const syllable[SYLLABLES] = {"ba", "ce", "di", "fo", "gu", "ha", "ke", "li",
                                                    "mo", "nu", "pa", "re", "si", "to", "vu", "za"};
    static char text[TEXT + 16];
    uint32_t state = 31;
    size_t length = 0, start = 0;
    while (length < TEXT) {
        state = state * 1664525u + 1013904223u;
        for (uint32_t n = 1 + (state >> 28) % 4, bits = state >> 8; n; n--, bits >>= 4) {
            memcpy(text + length, syllable[bits % SYLLABLES], 2);
            length += 2;
        }
        text[length++] = (state >> 20) % 11 ? ' ' : '\n';
    }
    for (size_t i = 0; i <= length; i++)
        if (!isalpha((unsigned char)text[i])) {
            if (i > start) add(text + start, i - start);
            start = i + 1;
        }
    struct word **all = malloc((size_t)different * sizeof *all);
    long n = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (struct word *w = bucket[i]; w; w = w->next)
            all[n++] = w;
    qsort(all, (size_t)n, sizeof *all, by_count);
    for (int i = 0; i < 3; i++)
        printf("%s %ld\n", all[i]->text, all[i]->count);
    printf("%ld different\n", different);
    return 0;
}
