#include "cube_literal.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "exp_random.h"

enum { METRICS = 64, REGIONS = 64, NODES = 256, THREADS = 64, TEXT = 400, BLOCK = 512 };

struct literal {
    uint8_t *bytes;
    size_t size;
    char *why;
    size_t why_size;
    jmp_buf bad;
    const char *at; /* in anchor.xml, which is followed by NUL */
    struct {
        int id;
        char name[TEXT], dtype[TEXT];
    } metric[METRICS];
    int metrics, open_metrics;
    struct {
        char name[TEXT], module[TEXT];
    } region[REGIONS];
    int regions;
    struct {
        int parent, region, line;
    } node[NODES];
    int nodes;
    struct {
        int process, rank;
    } thread[THREADS];
    int threads, process, system_roots, call_roots;
    bool synthetic;
    char text[TEXT];
};

static void bad(struct literal *l, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

static void bad(struct literal *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(l->why, l->why_size, format, args);
    va_end(args);
    longjmp(l->bad, 1);
}

/* --- The archive ----------------------------------------------------------------------------- */

static unsigned long octal(const uint8_t *field, int digits)
{
    char text[16] = "";
    memcpy(text, field, (size_t)digits);
    return strtoul(text, NULL, 8);
}

static const uint8_t *member(struct literal *l, const char *name, size_t *size)
{
    for (size_t at = 0; at + BLOCK <= l->size;) {
        const uint8_t *header = l->bytes + at;
        if (header[0] == 0) { /* a zero block */
            at += BLOCK;
            continue;
        }
        if (memcmp(header + 257,
                   "ustar\0"
                   "00",
                   8) != 0)
            bad(l, "no header at %zu", at);
        unsigned long sum = 8 * ' ';
        for (int i = 0; i < BLOCK; i++)
            if (i < 148 || i >= 156) sum += header[i];
        if (sum != octal(header + 148, 6) || header[154] != 0 || header[155] != ' ')
            bad(l, "wrong checksum at %zu", at);
        *size = octal(header + 124, 11);
        if (header[156] != '0') bad(l, "member '%s' is no plain file", header);
        if (strcmp((const char *)header, name) == 0) return header + BLOCK;
        at += BLOCK + (*size / BLOCK + 1) * BLOCK;
    }
    bad(l, "no member '%s'", name);
}

/* --- The lexer ------------------------------------------------------------------------------- */

static void blank(struct literal *l)
{
    while (*l->at == ' ' || *l->at == '\n' || *l->at == '\t')
        l->at++;
}

static bool sees(struct literal *l, const char *token)
{
    blank(l);
    return strncmp(l->at, token, strlen(token)) == 0;
}

static bool takes(struct literal *l, const char *token)
{
    bool there = sees(l, token);
    if (there) l->at += strlen(token);
    return there;
}

static void wants(struct literal *l, const char *token)
{
    if (!takes(l, token)) bad(l, "wanted %s at: %.60s", token, l->at);
}

/* Text up to `end`, with the five escapes taken back, into l->text. */
static const char *text_until(struct literal *l, char end)
{
    static const char *const escapes[][2] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}};
    size_t out = 0;
    while (*l->at != end) {
        char c = *l->at;
        size_t length = 1;
        if (!c || c == '<' || c == '>' || (c == '"' && end != '<'))
            bad(l, "a bare %c at: %.40s", c, l->at);
        for (size_t i = 0; c == '&' && i < 5; i++)
            if (strncmp(l->at, escapes[i][0], strlen(escapes[i][0])) == 0) {
                c = escapes[i][1][0];
                length = strlen(escapes[i][0]);
            }
        if (*l->at == '&' && length == 1) bad(l, "an unknown escape at: %.40s", l->at);
        if (out + 1 < TEXT) l->text[out++] = c;
        l->at += length;
    }
    l->text[out] = 0;
    return l->text;
}

static const char *attribute(struct literal *l, const char *name)
{
    wants(l, name);
    wants(l, "=\"");
    const char *text = text_until(l, '"');
    l->at++;
    return text;
}

static int number(struct literal *l, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (!*text || *end) bad(l, "no number: '%s'", text);
    return (int)value;
}

/* <NAME>text</NAME> */
static const char *element(struct literal *l, const char *name)
{
    char token[40];
    (void)snprintf(token, sizeof token, "<%s>", name);
    wants(l, token);
    const char *text = text_until(l, '<');
    (void)snprintf(token, sizeof token, "</%s>", name);
    wants(l, token);
    return text;
}

static void attributes(struct literal *l)
{
    while (takes(l, "<attr ")) {
        bool synthetic = strcmp(attribute(l, "key"), "chiliad:synthetic") == 0;
        if (synthetic && strstr(attribute(l, "value"), "call"))
            l->synthetic = true;
        else if (!synthetic)
            (void)attribute(l, "value");
        wants(l, "/>");
    }
}

/* --- The grammar ----------------------------------------------------------------------------- */

static void metric(struct literal *l)
{
    wants(l, "<metric ");
    int index = l->metrics++;
    if (index == METRICS) bad(l, "too many metrics");
    l->metric[index].id = number(l, attribute(l, "id"));
    if (strcmp(attribute(l, "type"), "EXCLUSIVE") != 0) bad(l, "type '%s'", l->text);
    wants(l, ">");
    (void)element(l, "disp_name");
    (void)snprintf(l->metric[index].name, TEXT, "%s", element(l, "uniq_name"));
    if (l->text[strspn(l->text,
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:=")])
        bad(l, "CubePL cannot name '%s'", l->text);
    (void)snprintf(l->metric[index].dtype, TEXT, "%s", element(l, "dtype"));
    (void)element(l, "uom");
    if (strcmp(element(l, "val"), "VOID") == 0) bad(l, "VOID");
    (void)element(l, "url");
    (void)element(l, "descr");
    attributes(l);
    while (sees(l, "<metric "))
        metric(l);
    wants(l, "</metric>");
}

static void region(struct literal *l)
{
    wants(l, "<region ");
    if (l->regions == REGIONS || number(l, attribute(l, "id")) != l->regions) bad(l, "region id");
    (void)snprintf(l->region[l->regions].module, TEXT, "%s", attribute(l, "mod"));
    (void)number(l, attribute(l, "begin"));
    (void)number(l, attribute(l, "end"));
    wants(l, ">");
    (void)snprintf(l->region[l->regions++].name, TEXT, "%s", element(l, "name"));
    static const char *const rest[] = {"mangled_name", "paradigm", "role", "url", "descr"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        (void)element(l, rest[i]);
    attributes(l);
    wants(l, "</region>");
}

static void cnode(struct literal *l, int parent)
{
    wants(l, "<cnode ");
    int index = l->nodes++;
    if (index == NODES || number(l, attribute(l, "id")) != index)
        bad(l, "cnode ids are not document order");
    l->node[index].parent = parent;
    l->node[index].region = number(l, attribute(l, "calleeId"));
    l->node[index].line = -1;
    if (l->node[index].region < 0 || l->node[index].region >= l->regions) bad(l, "calleeId");
    if (sees(l, "line=")) l->node[index].line = number(l, attribute(l, "line"));
    if (sees(l, "mod=")) (void)attribute(l, "mod");
    wants(l, ">");
    attributes(l);
    while (sees(l, "<cnode "))
        cnode(l, index);
    wants(l, "</cnode>");
}

static void location(struct literal *l)
{
    wants(l, "<location ");
    if (l->threads == THREADS || number(l, attribute(l, "Id")) != l->threads)
        bad(l, "location ids are not document order");
    wants(l, ">");
    (void)element(l, "name");
    int rank = number(l, element(l, "rank"));
    if (rank < 0 || strcmp(element(l, "type"), "thread") != 0) bad(l, "a location's rank or type");
    l->thread[l->threads].process = l->process;
    l->thread[l->threads++].rank = rank;
    attributes(l);
    wants(l, "</location>");
}

static void system_node(struct literal *l)
{
    wants(l, "<systemtreenode ");
    (void)number(l, attribute(l, "Id"));
    wants(l, ">");
    (void)element(l, "name");
    (void)element(l, "class");
    attributes(l);
    while (takes(l, "<locationgroup ")) {
        (void)number(l, attribute(l, "Id"));
        wants(l, ">");
        (void)element(l, "name");
        l->process = number(l, element(l, "rank"));
        if (l->process < 0 || strcmp(element(l, "type"), "process") != 0)
            bad(l, "a group's rank or type");
        attributes(l);
        do {
            location(l);
        } while (sees(l, "<location "));
        wants(l, "</locationgroup>");
    }
    while (sees(l, "<systemtreenode "))
        system_node(l);
    wants(l, "</systemtreenode>");
}

static void topologies(struct literal *l)
{
    if (!takes(l, "<topologies>")) return;
    while (takes(l, "<cart ")) {
        if (sees(l, "name=")) (void)attribute(l, "name");
        int dimensions = number(l, attribute(l, "ndims"));
        wants(l, ">");
        for (int d = 0; d < dimensions; d++) {
            wants(l, "<dim ");
            if (sees(l, "name=")) (void)attribute(l, "name");
            (void)number(l, attribute(l, "size"));
            const char *periodic = attribute(l, "periodic");
            if (strcmp(periodic, "true") != 0 && strcmp(periodic, "false") != 0) bad(l, "periodic");
            wants(l, "/>");
        }
        do {
            wants(l, "<coord ");
            int id = number(l, attribute(l, "locId"));
            if (id < 0 || id >= l->threads) bad(l, "locId");
            wants(l, ">");
            (void)text_until(l, '<');
            wants(l, "</coord>");
        } while (sees(l, "<coord "));
        wants(l, "</cart>");
    }
    wants(l, "</topologies>");
}

static void anchor(struct literal *l)
{
    static const char first[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    if (strncmp(l->at, first, strlen(first)) != 0) bad(l, "the first bytes");
    l->at += strlen(first);
    wants(l, "<cube version=\"4.4\">");
    attributes(l);
    wants(l, "<metrics>");
    do {
        metric(l);
    } while (sees(l, "<metric "));
    wants(l, "</metrics>");
    wants(l, "<program>");
    do {
        region(l);
    } while (sees(l, "<region "));
    cnode(l, -1); /* exactly one root, for pycubexr */
    wants(l, "</program>");
    wants(l, "<system>");
    system_node(l); /* likewise */
    topologies(l);
    wants(l, "</system>");
    wants(l, "</cube>");
    blank(l);
    if (*l->at) bad(l, "something after </cube>");
}

/* --- Values ---------------------------------------------------------------------------------- */

static uint64_t little(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* The row of a key, as cubelib finds it; -1: not there. */
static long row_of(const uint8_t *index, uint32_t key)
{
    long low = 0, high = (long)little(index + 18, 4) - 1;
    while (low <= high) {
        long middle = (low + high) / 2;
        uint32_t there = (uint32_t)little(index + 22 + 4 * middle, 4);
        if (there == key) return middle;
        if (there < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static void fetch_row(struct literal *l, const uint8_t *data, size_t size, long row, uint8_t *to)
{
    size_t bytes = (size_t)l->threads * 8;
    if (memcmp(data, "CUBEX.DATA", 10) == 0) {
        if (10 + ((size_t)row + 1) * bytes > size) bad(l, "data is short");
        memcpy(to, data + 10 + (size_t)row * bytes, bytes);
        return;
    }
    if (memcmp(data, "ZCUBEX.DATA", 11) != 0) bad(l, "data starts wrong");
    uint64_t rows = little(data + 11, 8);
    const uint8_t *entry = data + 19 + 24 * (size_t)row;
    if (little(entry, 8) != (uint64_t)row * bytes) bad(l, "start of row %ld", row);
    uLongf length = (uLongf)bytes;
    if (uncompress(to, &length, data + 19 + 24 * rows + little(entry + 8, 8),
                   (uLong)little(entry + 16, 8)) != Z_OK ||
        length != bytes)
        bad(l, "row %ld does not unpack", row);
}

static void print_path(struct literal *l, FILE *out, int node)
{
    if (l->node[node].parent >= 0) print_path(l, out, l->node[node].parent);
    if (l->synthetic && node == 0) return;
    (void)fprintf(out, "/%s|%s|%d", l->region[l->node[node].region].name,
                  l->region[l->node[node].region].module, l->node[node].line);
}

static void print_value(struct literal *l, FILE *out, const char *dtype, uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    if (strcmp(dtype, "UINT64") == 0)
        (void)fprintf(out, " %" PRIu64 "\n", bits);
    else if (strcmp(dtype, "INT64") == 0)
        (void)fprintf(out, " %" PRId64 "\n", (int64_t)bits);
    else if (strcmp(dtype, "DOUBLE") != 0)
        bad(l, "dtype '%s'", dtype);
    else
        (void)fprintf(out, fabs(real) < 1e15 && real == floor(real) ? " %.0f\n" : " %.17g\n", real);
}

static void values(struct literal *l, FILE *out, int m)
{
    char name[40];
    size_t index_size, data_size;
    uint8_t row[THREADS * 8];
    (void)snprintf(name, sizeof name, "%d.index", l->metric[m].id);
    const uint8_t *index = member(l, name, &index_size);
    (void)snprintf(name, sizeof name, "%d.data", l->metric[m].id);
    const uint8_t *data = member(l, name, &data_size);
    if (memcmp(index, "CUBEX.INDEX\1\0\0\0\0\0\1", 18) != 0)
        bad(l, "the index is not little-endian, version 0, sparse");
    if (index_size != 22 + 4 * little(index + 18, 4)) bad(l, "the index has a wrong size");
    if (!little(index + 18, 4)) bad(l, "%s: no rows, which pycubexr refuses", l->metric[m].name);
    if (index_size % BLOCK == 0 || data_size % BLOCK == 0) bad(l, "a member of whole blocks");
    for (int n = 0; n < l->nodes; n++) { /* document order is the order of EXCLUSIVE metrics */
        long at = row_of(index, (uint32_t)n);
        if (at < 0) continue;
        fetch_row(l, data, data_size, at, row);
        for (int t = 0; t < l->threads; t++) {
            uint64_t bits = little(row + 8 * t, 8);
            if (!bits) continue;
            (void)fprintf(out, "%s ", l->metric[m].name);
            print_path(l, out, n);
            (void)fprintf(out, " %d.%d", l->thread[t].process, l->thread[t].rank);
            print_value(l, out, l->metric[m].dtype, bits);
        }
    }
}

static void read_all(struct literal *l, const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in) bad(l, "cannot open %s", path);
    (void)fseek(in, 0, SEEK_END);
    l->size = (size_t)ftell(in);
    rewind(in);
    l->bytes = calloc(1, l->size + 1);
    size_t got = fread(l->bytes, 1, l->size, in);
    (void)fclose(in);
    if (got != l->size) bad(l, "cannot read %s", path);
}

char *cube_literal_dump(const char *path, char *why, size_t size)
{
    struct literal *l = calloc(1, sizeof *l);
    char *volatile text = NULL, *volatile xml = NULL, *dump = NULL;
    size_t length;
    l->why = why;
    l->why_size = size;
    FILE *out = open_memstream(&dump, &length);
    if (setjmp(l->bad) == 0) {
        read_all(l, path);
        const uint8_t *bytes = member(l, "anchor.xml", &length);
        if (length % BLOCK == 0) bad(l, "anchor.xml is of whole blocks");
        xml = strndup((const char *)bytes, length);
        l->at = xml;
        anchor(l);
        for (int m = 0; m < l->metrics; m++)
            values(l, out, m);
        (void)fflush(out);
        text = strdup(dump);
    }
    (void)fclose(out);
    free(dump);
    free(xml);
    free(l->bytes);
    free(l);
    return text ? exp_sort_lines(text) : NULL;
}
