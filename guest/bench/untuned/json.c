/* Writes a JSON document into memory, parses it into a tree, and adds up the tree. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, STRING, ARRAY, OBJECT, WORD };

struct value {
    enum kind kind;
    double number;
    char *text, *key;
    struct value *first, *next;
};

static const char *at;

static void blanks(void)
{
    while (isspace((unsigned char)*at))
        at++;
}

static void fail(const char *what)
{
    fprintf(stderr, "expected %s at '%.10s'\n", what, at);
    exit(1);
}

static char *parse_string(void)
{
    size_t length = 0, room = 16;
    char *text = malloc(room);
    if (*at++ != '"') fail("a string");
    while (*at && *at != '"') {
        char c = *at++;
        if (c == '\\') {
            c = *at++;
            if (c == 'n')
                c = '\n';
            else if (c == 't')
                c = '\t';
        }
        if (length + 1 == room) text = realloc(text, room *= 2);
        text[length++] = c;
    }
    if (*at++ != '"') fail("a quote");
    text[length] = 0;
    return text;
}

static struct value *parse(void)
{
    struct value *v = calloc(1, sizeof *v), **last = &v->first;
    blanks();
    if (*at == '"') {
        v->kind = STRING;
        v->text = parse_string();
    } else if (*at == '[' || *at == '{') {
        char end = *at == '[' ? ']' : '}';
        v->kind = *at++ == '[' ? ARRAY : OBJECT;
        blanks();
        while (*at != end) {
            char *key = NULL;
            if (v->kind == OBJECT) {
                blanks();
                key = parse_string();
                blanks();
                if (*at++ != ':') fail("a colon");
            }
            *last = parse();
            (*last)->key = key;
            last = &(*last)->next;
            blanks();
            if (*at == ',')
                at++;
            else if (*at != end)
                fail("a comma or an end");
        }
        at++;
    } else if (*at == '-' || isdigit((unsigned char)*at)) {
        char *end;
        v->kind = NUMBER;
        v->number = strtod(at, &end);
        at = end;
    } else {
        v->kind = WORD;
        while (isalpha((unsigned char)*at))
            at++;
    }
    return v;
}

static void release(struct value *v)
{
    while (v) {
        struct value *next = v->next;
        release(v->first);
        free(v->text);
        free(v->key);
        free(v);
        v = next;
    }
}

static double sum(const struct value *v, long *values, long *letters)
{
    double total = 0;
    for (; v; v = v->next) {
        ++*values;
        if (v->text) *letters += (long)strlen(v->text);
        if (v->key) *letters += (long)strlen(v->key);
        total += v->number + sum(v->first, values, letters);
    }
    return total;
}

int main(void)
{
    size_t room = 1 << 20, length = 0;
    char *text = malloc(room);
    length += (size_t)sprintf(text, "[");
    for (int i = 0; i < 6000; i++)
        length += (size_t)sprintf(
            text + length,
            "%s\n  {\"id\": %d, \"name\": \"item \\\"%d\\\"\", \"price\": %d.%02d, "
            "\"tags\": [\"a%d\", \"b\", true, null], \"size\": {\"w\": %d, \"h\": -%d}}",
            i ? "," : "", i, i * 7, i % 97, i % 100, i % 13, i % 31, i % 17);
    sprintf(text + length, "\n]\n");
    for (int round = 0; round < 15; round++) {
        long values = 0, letters = 0;
        at = text;
        struct value *root = parse();
        double total = sum(root, &values, &letters);
        if (round == 14) printf("%ld values, %ld letters, sum %.2f\n", values, letters, total);
        release(root);
    }
    free(text);
    return 0;
}
