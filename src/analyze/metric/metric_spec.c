/* Reads specifications: statements become items, names become symbols.
 *
 * A symbol is any name: a metric, a counter, or a name that nothing measures. The statements of a
 * file replace those of the files that it uses, wherever `use` stands. Two statements of a kind for
 * one name in one file are an error; only `measure` may be repeated, its lines are alternatives.
 * Symbols are compared in the spelling of experiments, so two names with one spelling are an error.
 */
#include "analyze/metric/metric_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chiliad/catalog.h"

enum { USE_DEPTH_MAX = 8, NEST_MAX = 200 };

static const char *const words[] = {
#define WORD(kind, word) word,
    CHIL_SPEC_KINDS(WORD)
#undef WORD
};
enum { KINDS = sizeof words / sizeof *words };

const char *chil_spec_kind_word(int kind)
{
    return kind >= 0 && kind < KINDS ? words[kind] : "unknown";
}

static const char *word_at(const void *table, size_t index)
{
    (void)table;
    return words[index];
}

static int kind_of(const char *word, size_t length)
{
    for (int i = 0; i < KINDS; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0) return i;
    return METRIC_NONE;
}

static bool is_keyword(const char *word, size_t length)
{
    return kind_of(word, length) >= 0;
}

/* --- Symbols --------------------------------------------------------------------------------- */

const char *chil_metric_clean_name(char *buffer, size_t size, const char *name)
{
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++)
        buffer[i] =
            (char)(isalnum((unsigned char)name[i]) || strchr("_:=", name[i]) ? name[i] : '_');
    if (size) buffer[i] = 0;
    return buffer;
}

static size_t slot_of(const struct chil_spec *spec, const char *clean)
{
    uint32_t hash = 2166136261u;
    for (const char *c = clean; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    size_t slot = hash & (spec->index_size - 1);
    while (spec->index[slot] && strcmp(spec->symbol[spec->index[slot] - 1].clean, clean) != 0)
        slot = (slot + 1) & (spec->index_size - 1);
    return slot;
}

int spec_find_clean(const struct chil_spec *spec, const char *name)
{
    char clean[METRIC_NAME_MAX];
    if (!spec->index_size || strlen(name) >= sizeof clean) return METRIC_NONE;
    return (int)spec->index[slot_of(spec, chil_metric_clean_name(clean, sizeof clean, name))] - 1;
}

int spec_find(const struct chil_spec *spec, const char *name)
{
    int found = spec_find_clean(spec, name);
    return found >= 0 && strcmp(spec->symbol[found].name, name) == 0 ? found : METRIC_NONE;
}

bool chil_spec_mentions(const struct chil_spec *spec, const char *name)
{
    return spec_find_clean(spec, name) >= 0 || strcmp(name, CHIL_TURN_CYCLES) == 0;
}

static void index_grow(struct chil_spec *spec)
{
    free(spec->index);
    spec->index_size = spec->index_size ? spec->index_size * 2 : 256;
    spec->index = base_calloc(spec->index_size, sizeof *spec->index);
    for (size_t i = 0; i < spec->symbols; i++)
        spec->index[slot_of(spec, spec->symbol[i].clean)] = (uint32_t)i + 1;
}

static size_t symbol_get(struct chil_spec *spec, const char *name, const char *file, unsigned line)
{
    char clean[METRIC_NAME_MAX];
    if ((spec->symbols + 1) * 2 > spec->index_size) index_grow(spec);
    size_t slot = slot_of(spec, chil_metric_clean_name(clean, sizeof clean, name));
    if (spec->index[slot]) return spec->index[slot] - 1;
    spec->symbol =
        base_grow(spec->symbol, &spec->symbol_capacity, spec->symbols + 1, sizeof *spec->symbol);
    spec->symbol[spec->symbols] = (struct symbol){.name = arena_strdup(&spec->arena, name),
                                                  .clean = arena_strdup(&spec->arena, clean),
                                                  .compose = METRIC_NONE,
                                                  .compute = METRIC_NONE,
                                                  .ratio = METRIC_NONE,
                                                  .approximate = METRIC_NONE,
                                                  .parent = METRIC_NONE,
                                                  .file = file,
                                                  .line = line};
    spec->index[slot] = (uint32_t)++spec->symbols;
    return spec->symbols - 1;
}

bool spec_defines(const struct chil_spec *spec, size_t symbol)
{
    const struct symbol *s = &spec->symbol[symbol];
    return s->compose >= 0 || s->compute >= 0 || s->measures || s->absent;
}

/* --- Statements ------------------------------------------------------------------------------ */

/* A statement while it is read. */
struct reading {
    struct chil_spec *spec;
    struct reader *reader;
    const char *file; /* kept by the specification */
    const char *path; /* NULL: from memory */
    unsigned source, depth;
    struct chil_error *err;
    int status; /* of a name that is refused inside an expression */
};

static size_t symbol_at(void *context, const char *name, const struct reader *r, const char *at)
{
    struct reading *in = context;
    size_t symbol = symbol_get(in->spec, name, in->file, reader_line(r, at));
    if (strcmp(in->spec->symbol[symbol].name, name) != 0 && !in->status)
        in->status = reader_error(
            r, at, in->err, "'%s' and '%s' are one name to experiments, '%s'; rename one", name,
            in->spec->symbol[symbol].name, in->spec->symbol[symbol].clean);
    return symbol;
}

static int read_symbol(struct reading *in, const char *what, size_t *symbol)
{
    char name[METRIC_NAME_MAX];
    struct token token = reader_peek(in->reader);
    int status = reader_name(in->reader, what, name, in->err);
    if (status) return status;
    *symbol = symbol_at(in, name, in->reader, token.at);
    return in->status;
}

/* Names up to the end of the statement, into the terms of an item. */
static int read_names(struct reading *in, const char *what, struct terms *terms)
{
    size_t capacity = 0;
    struct term *list = NULL;
    int status = 0;
    terms->count = 0;
    do {
        size_t symbol = 0;
        status = read_symbol(in, what, &symbol);
        if (status) break;
        for (size_t i = 0; i < terms->count && !status; i++)
            if (list[i].symbol == symbol)
                status = reader_error(in->reader, in->reader->at - 1, in->err,
                                      "'%s' is there twice", in->spec->symbol[symbol].name);
        list = base_grow(list, &capacity, terms->count + 1, sizeof *list);
        list[terms->count++] = (struct term){.symbol = symbol, .factor = 1};
    } while (!status && reader_peek(in->reader).kind != TOKEN_END);
    terms->term = arena_calloc(&in->spec->arena, terms->count, sizeof *terms->term);
    if (terms->count) memcpy(terms->term, list, terms->count * sizeof *list);
    free(list);
    return status;
}

static int read_unit(struct reading *in, struct chil_spec_item *item)
{
    struct token token = reader_peek(in->reader);
    if (!token_is(&token, "unit")) return 0;
    (void)reader_token(in->reader);
    item->unit = reader_raw(in->reader, &in->spec->arena, true);
    return *item->unit
               ? 0
               : reader_error(in->reader, token.at, in->err, "a unit is missing behind 'unit'");
}

/* "text TEXT" behind a ratio's unit: what `chiliad stat` prints for it. */
static int read_text(struct reading *in, struct chil_spec_item *item)
{
    struct token token = reader_peek(in->reader);
    if (!token_is(&token, "text")) return 0;
    (void)reader_token(in->reader);
    item->text = reader_raw(in->reader, &in->spec->arena, true);
    return *item->text
               ? 0
               : reader_error(in->reader, token.at, in->err, "a text is missing behind 'text'");
}

static int parse_expression(struct reading *in, struct item *detail, bool logic,
                            struct chil_spec_item *item)
{
    const char *begin = in->reader->at;
    int status = expr_parse(&detail->expr, in->reader, logic, symbol_at, in, in->err);
    if (!status) status = in->status;
    item->formula = reader_since(in->reader, &in->spec->arena, begin);
    return status;
}

/* Compositions add names, measurements are one name, computations are sums. */
static int check_terms(struct reading *in, const struct chil_spec_item *item, struct item *detail)
{
    const struct reader *r = in->reader;
    const struct expr *e = &detail->expr;
    for (size_t i = 0; i < e->nodes; i++) {
        if (item->kind == CHIL_SPEC_MEASURE && e->node[i].op != EXPR_NAME)
            return reader_error(r, r->text, in->err,
                                "'measure %s' takes one counter; use 'compose' or 'compute'",
                                item->name);
        if (item->kind == CHIL_SPEC_COMPOSE && e->node[i].op != EXPR_NAME &&
            e->node[i].op != EXPR_ADD)
            return reader_error(r, r->text, in->err, "'compose %s' only adds names; use 'compute'",
                                item->name);
    }
    if (!expr_terms(e, &in->spec->arena, &detail->terms))
        return reader_error(r, r->text, in->err,
                            "'%s %s' is no sum of counts; use 'ratio' for anything else",
                            words[item->kind], item->name);
    for (size_t i = 0; i < detail->terms.count && item->kind == CHIL_SPEC_COMPOSE; i++)
        if (detail->terms.term[i].factor != 1)
            return reader_error(r, r->text, in->err, "'compose %s' has '%s' twice", item->name,
                                in->spec->symbol[detail->terms.term[i].symbol].name);
    return 0;
}

static int read_sum(struct reading *in, struct chil_spec_item *item, struct item *detail)
{
    int status = reader_expect(in->reader, "=", in->err);
    if (!status) status = parse_expression(in, detail, false, item);
    if (!status) status = read_unit(in, item);
    if (!status && item->kind == CHIL_SPEC_RATIO) status = read_text(in, item);
    if (!status && item->kind != CHIL_SPEC_RATIO) {
        status = check_terms(in, item, detail);
        expr_fini(&detail->expr);
    }
    return status;
}

static int read_finding(struct reading *in, struct chil_spec_item *item, struct item *detail)
{
    int status = reader_expect(in->reader, "when", in->err);
    if (!status) status = parse_expression(in, detail, true, item);
    if (status) return status;
    struct token token = reader_peek(in->reader);
    detail->weight = SIZE_MAX;
    if (token_is(&token, "of")) {
        (void)reader_token(in->reader);
        status = read_symbol(in, "a metric", &detail->weight);
    }
    if (!status) status = reader_expect(in->reader, "because", in->err);
    if (status) return status;
    item->text = reader_raw(in->reader, &in->spec->arena, false);
    return *item->text ? 0
                       : reader_error(in->reader, in->reader->text, in->err,
                                      "a text is missing behind 'because'");
}

static int read_list(struct reading *in, struct chil_spec_item *item, struct item *detail)
{
    int status = 0;
    const char *begin = in->reader->at;
    if (item->kind == CHIL_SPEC_AGGROUP) status = reader_expect(in->reader, "=", in->err);
    if (item->kind == CHIL_SPEC_APPROXIMATE) status = reader_expect(in->reader, "without", in->err);
    if (item->kind != CHIL_SPEC_ABSENT) begin = in->reader->at;
    if (!status && item->kind == CHIL_SPEC_ABSENT && reader_peek(in->reader).kind == TOKEN_END)
        return 0;
    if (!status) status = read_names(in, "a name", &detail->terms);
    item->formula = reader_since(in->reader, &in->spec->arena, begin);
    return status;
}

/* --- Items ----------------------------------------------------------------------------------- */

/* Where the new item goes: the end, or the place of one that it replaces; nowhere if what is there
 * comes first. */
static int place_item(struct reading *in, const struct chil_spec_item *item,
                      const struct item *detail, size_t *place)
{
    *place = in->spec->items;
    for (size_t i = 0; i < in->spec->items; i++) {
        struct item *old = &in->spec->detail[i];
        if (old->dead || old->symbol != detail->symbol || in->spec->item[i].kind != item->kind)
            continue;
        if (old->source == detail->source && item->kind != CHIL_SPEC_MEASURE &&
            item->kind != CHIL_SPEC_ABSENT)
            return reader_error(in->reader, in->reader->text, in->err,
                                "'%s %s' is given again; line %u has it", words[item->kind],
                                item->name, in->spec->item[i].line);
        if (old->source == detail->source) continue;
        old->dead = old->depth >= in->depth;
        if (*place == in->spec->items) *place = old->dead ? i : SIZE_MAX;
    }
    return 0;
}

static int keep_item(struct reading *in, struct chil_spec_item *item, struct item *detail)
{
    struct chil_spec *spec = in->spec;
    size_t place;
    detail->source = in->source;
    detail->depth = in->depth;
    int status = place_item(in, item, detail, &place);
    if (status) return status;
    if (place == SIZE_MAX) {
        expr_fini(&detail->expr);
        return 0;
    }
    if (place < spec->items) {
        expr_fini(&spec->detail[place].expr);
        spec->item[place] = *item;
        spec->detail[place] = *detail;
        return 0;
    }
    spec->item = base_grow(spec->item, &spec->item_capacity, spec->items + 1, sizeof *spec->item);
    spec->detail =
        base_grow(spec->detail, &spec->detail_capacity, spec->items + 1, sizeof *spec->detail);
    spec->item[spec->items] = *item;
    spec->detail[spec->items++] = *detail;
    return 0;
}

static int read_use(struct reading *in);

/* "text ; unit ; formula", the rows of chiliad stat: a ratio whose name is made of its text and
 * unit. */
static int read_row(struct reading *in)
{
    struct chil_spec *spec = in->spec;
    struct chil_spec_item item = {
        .kind = CHIL_SPEC_RATIO, .unit = "", .text = "", .file = in->file};
    struct item detail = {0};
    struct reader *r = in->reader;
    char name[METRIC_NAME_MAX], clean[METRIC_NAME_MAX];
    char *first = strchr(r->text, ';'), *second = strchr(first + 1, ';');
    item.line = reader_line(r, r->text);
    if (!second || strchr(second + 1, ';'))
        return reader_error(r, r->text, in->err, "a row is 'text ; unit ; formula'");
    r->at = first;
    item.text = reader_since(r, &spec->arena, r->text);
    r->at = second;
    item.unit = reader_since(r, &spec->arena, first + 1);
    if (!*item.text) return reader_error(r, r->text, in->err, "a row is 'text ; unit ; formula'");
    (void)snprintf(name, sizeof name, "%.90s%s%.90s", item.text, *item.unit ? "_" : "", item.unit);
    chil_metric_clean_name(clean, sizeof clean, name);
    r->at = second + 1;
    int status = parse_expression(in, &detail, false, &item);
    if (!status) status = reader_end(r, in->err);
    if (!status) {
        detail.symbol = symbol_get(spec, clean, in->file, item.line);
        item.name = spec->symbol[detail.symbol].name;
        status = keep_item(in, &item, &detail);
    }
    if (status) expr_fini(&detail.expr);
    return status;
}

static int unknown_statement(struct reading *in, const struct token *word)
{
    char name[60], hint[100];
    (void)snprintf(name, sizeof name, "%.*s", (int)word->length, word->at);
    return reader_error(in->reader, word->at, in->err, "'%.40s' begins no statement%s",
                        word->length ? name : word->at,
                        text_hint(hint, sizeof hint, text_nearest(name, words, KINDS, word_at)));
}

static int read_kind(struct reading *in, enum chil_spec_kind kind, const char *at)
{
    struct chil_spec_item item = {
        .kind = kind, .formula = "", .unit = "", .text = "", .file = in->file};
    struct item detail = {0};
    item.line = reader_line(in->reader, at);
    int status = read_symbol(in, "a name", &detail.symbol);
    if (status) return status;
    item.name = in->spec->symbol[detail.symbol].name;
    switch (item.kind) {
    case CHIL_SPEC_FINDING: status = read_finding(in, &item, &detail); break;
    case CHIL_SPEC_AGGROUP:
    case CHIL_SPEC_ABSENT:
    case CHIL_SPEC_APPROXIMATE: status = read_list(in, &item, &detail); break;
    default: status = read_sum(in, &item, &detail);
    }
    if (!status && item.kind != CHIL_SPEC_FINDING) status = reader_end(in->reader, in->err);
    if (!status) status = keep_item(in, &item, &detail);
    if (status) expr_fini(&detail.expr);
    return status;
}

static int read_statement(struct reading *in)
{
    struct token word = reader_token(in->reader);
    int kind = word.kind == TOKEN_NAME ? kind_of(word.at, word.length) : METRIC_NONE;
    if (kind != CHIL_SPEC_FINDING && strchr(in->reader->text, ';')) return read_row(in);
    if (kind < 0) return unknown_statement(in, &word);
    if (kind == CHIL_SPEC_USE) return read_use(in);
    return read_kind(in, (enum chil_spec_kind)kind, word.at);
}

/* --- Files ----------------------------------------------------------------------------------- */

/* Where a used file is: beside the using one, or in the data directory. */
static int find_used(struct reading *in, const char *name, char path[METRIC_PATH_MAX])
{
    const char *slash = in->path ? strrchr(in->path, '/') : NULL;
    int folder = slash ? (int)(slash - in->path + 1) : 0;
    static const char *const endings[] = {"", ".metrics"};
    for (size_t i = 0; i < 2 && in->path && *name != '/'; i++) {
        int length =
            snprintf(path, METRIC_PATH_MAX, "%.*s%s%s", folder, in->path, name, endings[i]);
        if (length < METRIC_PATH_MAX && access(path, R_OK) == 0) return 0;
    }
    if (!in->path && strchr(name, '/'))
        return reader_error(in->reader, in->reader->text, in->err,
                            "a text in memory uses no files by path");
    return metric_path(path, "metrics", name, in->err);
}

static int read_use(struct reading *in)
{
    char path[METRIC_PATH_MAX];
    const char *name = reader_raw(in->reader, &in->spec->arena, true);
    if (!*name)
        return reader_error(in->reader, in->reader->text, in->err,
                            "a file is missing behind 'use'");
    if (in->depth + 1 > USE_DEPTH_MAX)
        return reader_error(in->reader, in->reader->text, in->err,
                            "files use one another more than %d deep", USE_DEPTH_MAX);
    int status = reader_end(in->reader, in->err);
    if (!status) status = find_used(in, name, path);
    if (status) return status;
    struct text_file file;
    struct chil_error why = {0};
    if (text_file_open_named(&file, path, &why))
        return reader_error(in->reader, in->reader->text, in->err, "%.250s", why.text);
    return spec_read(in->spec, &file, path, in->depth + 1, in->err);
}

int spec_read(struct chil_spec *spec, struct text_file *file, const char *path, unsigned depth,
              struct chil_error *err)
{
    struct reader reader;
    struct reading in = {.spec = spec, .reader = &reader, .depth = depth, .path = path, .err = err};
    int status = 0;
    in.file = arena_strdup(&spec->arena, file->name);
    in.source = spec->sources++;
    reader_init(&reader, is_keyword);
    reader.file = *file;
    reader.file.name = in.file;
    while (!status && reader_next(&reader))
        status = read_statement(&in);
    reader_fini(&reader);
    return status;
}

int spec_read_compute(struct chil_spec *spec, struct reader *r, struct chil_error *err)
{
    struct reading in = {.spec = spec, .reader = r, .file = r->file.name, .err = err};
    return read_kind(&in, CHIL_SPEC_COMPUTE, r->text);
}

static bool computes(const struct chil_spec *spec, size_t symbol)
{
    for (size_t i = 0; i < spec->items; i++)
        if (!spec->detail[i].dead && spec->detail[i].symbol == symbol &&
            spec->item[i].kind == CHIL_SPEC_COMPUTE)
            return true;
    return false;
}

int spec_add(struct chil_spec *spec, const struct chil_spec *from)
{
    for (size_t i = 0; i < from->items; i++) {
        struct chil_spec_item item = from->item[i];
        struct item detail = {.source = spec->sources};
        item.file = arena_strdup(&spec->arena, item.file);
        item.formula = arena_strdup(&spec->arena, item.formula);
        item.unit = arena_strdup(&spec->arena, item.unit);
        detail.symbol = symbol_get(spec, item.name, item.file, item.line);
        item.name = spec->symbol[detail.symbol].name;
        if (computes(spec, detail.symbol)) continue;
        const struct terms *terms = &from->detail[i].terms;
        detail.terms.term = arena_calloc(&spec->arena, terms->count + 1, sizeof *terms->term);
        for (size_t t = 0; t < terms->count; t++) {
            const char *name = from->symbol[terms->term[t].symbol].name;
            detail.terms.term[detail.terms.count++] =
                (struct term){.symbol = symbol_get(spec, name, item.file, item.line),
                              .factor = terms->term[t].factor};
        }
        spec->item =
            base_grow(spec->item, &spec->item_capacity, spec->items + 1, sizeof *spec->item);
        spec->detail =
            base_grow(spec->detail, &spec->detail_capacity, spec->items + 1, sizeof *spec->detail);
        spec->item[spec->items] = item;
        spec->detail[spec->items++] = detail;
    }
    return 0;
}

/* --- Putting together ------------------------------------------------------------------------ */

static void bind(struct chil_spec *spec, size_t index)
{
    struct symbol *symbol = &spec->symbol[spec->detail[index].symbol];
    switch (spec->item[index].kind) {
    case CHIL_SPEC_COMPOSE: symbol->compose = (int)index; break;
    case CHIL_SPEC_COMPUTE: symbol->compute = (int)index; break;
    case CHIL_SPEC_RATIO: symbol->ratio = (int)index; break;
    case CHIL_SPEC_APPROXIMATE: symbol->approximate = (int)index; break;
    case CHIL_SPEC_ABSENT:
        symbol->absent = true;
        for (size_t i = 0; i < spec->detail[index].terms.count; i++)
            spec->symbol[spec->detail[index].terms.term[i].symbol].absent = true;
        break;
    case CHIL_SPEC_MEASURE:
        if (!symbol->measure)
            symbol->measure = arena_calloc(&spec->arena, spec->items, sizeof *symbol->measure);
        symbol->measure[symbol->measures++] = (int)index;
        break;
    default: break;
    }
}

/* Takes items that were replaced out. */
static void sweep(struct chil_spec *spec)
{
    size_t kept = 0;
    for (size_t i = 0; i < spec->items; i++) {
        if (spec->detail[i].dead) {
            expr_fini(&spec->detail[i].expr);
            continue;
        }
        spec->item[kept] = spec->item[i];
        spec->detail[kept++] = spec->detail[i];
    }
    spec->items = kept;
}

static int visit(struct chil_spec *spec, size_t at, unsigned depth, struct chil_error *err)
{
    enum { OPEN = 1, DONE = 2 };
    struct symbol *symbol = &spec->symbol[at];
    const int of[] = {symbol->compose, symbol->compute};
    if (symbol->mark == DONE) return 0;
    const struct chil_spec_item *item = &spec->item[of[0] >= 0 ? of[0] : of[1] >= 0 ? of[1] : 0];
    if (symbol->mark == OPEN)
        return chil_error_set(err, CHIL_EPARSE, "%s:%u: '%s' is part of itself", item->file,
                              item->line, symbol->name);
    if (depth > NEST_MAX)
        return chil_error_set(err, CHIL_EPARSE, "%s:%u: '%s' is more than %d levels deep",
                              item->file, item->line, symbol->name, NEST_MAX);
    symbol->mark = OPEN;
    int status = 0;
    for (size_t k = 0; k < 2; k++) {
        if (of[k] < 0) continue;
        const struct terms *terms = &spec->detail[of[k]].terms;
        for (size_t i = 0; i < terms->count && !status; i++)
            status = visit(spec, terms->term[i].symbol, depth + 1, err);
    }
    symbol->mark = DONE;
    return status;
}

int spec_link(struct chil_spec *spec, struct chil_error *err)
{
    sweep(spec);
    for (size_t i = 0; i < spec->items; i++)
        bind(spec, i);
    int status = 0;
    for (size_t i = 0; i < spec->items && !status; i++) {
        const struct terms *terms = &spec->detail[i].terms;
        for (size_t t = 0; spec->item[i].kind == CHIL_SPEC_COMPOSE && t < terms->count; t++) {
            struct symbol *part = &spec->symbol[terms->term[t].symbol];
            if (part->parent < 0) part->parent = (int)spec->detail[i].symbol;
        }
        status = visit(spec, spec->detail[i].symbol, 0, err);
    }
    return status;
}

struct chil_spec *spec_new(const char *name)
{
    struct chil_spec *spec = base_calloc(1, sizeof *spec);
    arena_init(&spec->arena);
    spec->name = arena_strdup(&spec->arena, name);
    return spec;
}

void chil_spec_free(struct chil_spec *spec)
{
    if (!spec) return;
    for (size_t i = 0; i < spec->items; i++)
        expr_fini(&spec->detail[i].expr);
    free(spec->item);
    free(spec->detail);
    free(spec->symbol);
    free(spec->index);
    arena_fini(&spec->arena);
    free(spec);
}
