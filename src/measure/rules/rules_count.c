/* The parts that statements of rules are made of: words, conditions of accesses and misses, and
 * sums of counts.
 *
 * Conditions are kept as text, piece by piece, until the names are there.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/rules/rules_read.h"

/* --- Words ----------------------------------------------------------------------------------- */

unsigned rules_column(const struct rules_reader *r, const char *at)
{
    return (unsigned)(at - r->start) + 1;
}

int rules_complain(const struct rules_reader *r, const char *at, const char *format, ...)
{
    char what[240];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (char *c = what; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    return chil_error_set(r->err, CHIL_EPARSE, "%s:%u:%u: %s", r->rules->name, r->file.line,
                          rules_column(r, at), what);
}

void rules_skip(struct rules_reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

bool rules_take(struct rules_reader *r, char letter)
{
    rules_skip(r);
    if (*r->at != letter) return false;
    r->at++;
    return true;
}

size_t rules_word_length(const char *at)
{
    size_t length = 0;
    if (!isalpha((unsigned char)*at) && *at != '_') return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

/* Takes a word if it is this one. */
bool rules_take_word(struct rules_reader *r, const char *word)
{
    rules_skip(r);
    if (rules_word_length(r->at) != strlen(word) || strncmp(r->at, word, strlen(word)) != 0)
        return false;
    r->at += strlen(word);
    return true;
}

char *rules_copy(const char *from, size_t length)
{
    char *text = base_calloc(length + 1, 1);
    memcpy(text, from, length);
    return text;
}

/* --- Predicates ------------------------------------------------------------------------------ */

static int add_piece(const struct rules_reader *r, struct rules_bin *bin, const char *at,
                     char *text)
{
    if (bin->piece_count == RULES_PIECES) {
        free(text);
        return rules_complain(r, at, "more than %d conditions", RULES_PIECES);
    }
    bin->pieces[bin->piece_count++] =
        (struct rules_piece){text, r->file.line, rules_column(r, at), NULL};
    return 0;
}

int rules_add_function(const struct rules_reader *r, struct rules_bin *bin, const char *at,
                       const char *name, size_t length)
{
    size_t size = length + sizeof "function=";
    char *text = base_calloc(size, 1);
    (void)snprintf(text, size, "function=%.*s", (int)length, name);
    int status = add_piece(r, bin, at, text);
    /* Columns of the piece are those of the name, as it stands behind in=. */
    if (!status)
        bin->pieces[bin->piece_count - 1].column =
            rules_column(r, name) - (unsigned)strlen("function=");
    return status;
}

/* How long a name in quotes is that begins here, with both of them; 0: none does. */
static size_t quoted_length(const char *at)
{
    const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
    return end ? (size_t)(end - at) + 1 : 0;
}

/* To the next comma or the parenthesis that ends the list, parentheses and names in quotes left
 * alone. */
size_t rules_piece_length(const char *at)
{
    size_t length = 0;
    unsigned depth = 0;
    for (; at[length]; length++) {
        for (size_t quoted; (quoted = quoted_length(at + length)) > 0;)
            length += quoted;
        if (!at[length]) break;
        if (at[length] == '(') depth++;
        if (depth == 0 && (at[length] == ')' || at[length] == ',')) break;
        if (at[length] == ')') depth--;
    }
    while (length && isspace((unsigned char)at[length - 1]))
        length--;
    return length;
}

static bool mentions(const char *at, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++) {
        for (size_t quoted; i < length && (quoted = quoted_length(at + i)) > 0;)
            i += quoted;
        size_t here = i < length ? rules_word_length(at + i) : 0;
        if (here == strlen(word) && strncmp(at + i, word, here) == 0) return true;
        if (here) i += here - 1;
    }
    return false;
}

/* What misses have and accesses have not. */
static int check_access(const struct rules_reader *r, const char *at, size_t length)
{
    static const struct {
        const char *name, *of;
    } words[] = {{"latency", "miss"}, {"level", "miss"},        {"cause", "miss"},
                 {"fetch", "miss"},   {"invalidation", "miss"}, {"packet", "packet"},
                 {"hop", "hop"},      {"receiver", "packet"},   {"hops", "packet"},
                 {"link", "packet"},  {"wait", "packet"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mentions(at, length, words[i].name))
            return rules_complain(
                r, at, "an access has no '%s'; write '%s' before the conditions to mean %s%s",
                words[i].name, words[i].of, words[i].of,
                strcmp(words[i].of, "miss") == 0 ? "es" : "s");
    return 0;
}

size_t rules_in_length(const char *at)
{
    if (strncmp(at, "in", 2) != 0) return 0;
    size_t length = 2;
    while (isspace((unsigned char)at[length]))
        length++;
    if (at[length] != '=' || at[length + 1] == '=') return 0;
    length++;
    while (isspace((unsigned char)at[length]))
        length++;
    return length;
}

/* What conditions are about, their first word; *kinds 0: accesses. */
static bool take_what(const char *at, size_t length, uint32_t *kinds)
{
    static const struct {
        const char *name;
        uint32_t kinds;
    } whats[] = {{"access", 0},
                 {"miss", CHIL_KINDS_MEMORY},
                 {"packet", 1U << CHIL_PACKET},
                 {"hop", 1U << CHIL_HOP}};
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++)
        if (strlen(whats[i].name) == length && strncmp(at, whats[i].name, length) == 0) {
            *kinds = whats[i].kinds;
            return true;
        }
    return false;
}

/* "miss, tag=ro, kind=store, in=solve" up to the closing parenthesis, which is left. */
int rules_take_conditions(struct rules_reader *r, struct rules_bin *bin)
{
    *bin = (struct rules_bin){
        .access = true, .kinds = 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS, .core = -1};
    bool first = true;
    int status = 0;
    do {
        rules_skip(r);
        const char *at = r->at;
        size_t length = rules_piece_length(at), in = rules_in_length(at);
        uint32_t kinds;
        bool is_what = take_what(at, length, &kinds);
        if (!length) return rules_complain(r, at, "a condition is wanted here, such as kind=store");
        r->at += length;
        if (is_what && !first) return rules_complain(r, at, "'%.*s' comes first", (int)length, at);
        first = false;
        if (is_what && kinds) *bin = (struct rules_bin){.kinds = kinds, .core = -1};
        if (is_what) continue;
        if (in && in < length) {
            status = rules_add_function(r, bin, at, at + in, length - in);
        } else {
            status = bin->access ? check_access(r, at, length) : 0;
            if (!status) status = add_piece(r, bin, at, rules_copy(at, length));
        }
    } while (!status && rules_take(r, ','));
    return status;
}

/* Takes the bin's pieces, also when there is no room. */
int rules_add_bin(const struct rules_reader *r, const char *at, struct rules_bin *bin,
                  size_t *index)
{
    struct chil_rules *rules = r->rules;
    if (rules->bin_count == RULES_MANY) {
        rules_free_bin(bin);
        return rules_complain(r, at, "more than %d counts in one file", RULES_MANY);
    }
    rules->bins =
        base_grow(rules->bins, &rules->bin_capacity, rules->bin_count + 1, sizeof *rules->bins);
    rules->bins[ *index = rules->bin_count++] = *bin;
    return 0;
}

/* --- Expressions ----------------------------------------------------------------------------- */

int rules_add_step(const struct rules_reader *r, const char *at, struct rules_expression *e,
                   struct rules_step step)
{
    if (e->count == RULES_STEPS)
        return rules_complain(r, at, "more than %d numbers and signs", RULES_STEPS);
    step.column = rules_column(r, at);
    e->steps[e->count++] = step;
    return 0;
}

/* 66, 0.5, 66K; K, M and G are 2^10, 2^20 and 2^30, as everywhere. */
static int take_number(struct rules_reader *r, long double *value)
{
    const char *at = r->at;
    long double part = 1;
    for (*value = 0; isdigit((unsigned char)*r->at); r->at++)
        *value = *value * 10 + (*r->at - '0');
    if (*r->at == '.')
        for (r->at++; isdigit((unsigned char)*r->at); r->at++)
            *value += (part /= 10) * (*r->at - '0');
    if (*value >= 0x1p63L) return rules_complain(r, at, "this number is too large");
    static const char letters[] = "KMG";
    const char *letter = *r->at ? strchr(letters, *r->at) : NULL;
    if (letter) r->at++;
    for (long power = letter ? letter - letters + 1 : 0; power; power--)
        *value *= 1024;
    if (isalnum((unsigned char)*r->at) || *r->at == '_')
        return rules_complain(r, at, "this is neither a number nor a name");
    return 0;
}

const struct rules_let *rules_find_let(const struct chil_rules *rules, const char *at,
                                       size_t length)
{
    for (size_t i = 0; i < rules->let_count; i++)
        if (strlen(rules->lets[i].name) == length && strncmp(rules->lets[i].name, at, length) == 0)
            return &rules->lets[i];
    return NULL;
}

static int take_count(struct rules_reader *r, const char *at, struct rules_expression *e)
{
    struct rules_bin bin = {0};
    size_t index = 0;
    if (!rules_take(r, '(')) return rules_complain(r, r->at, "'(' and conditions are wanted here");
    int status = rules_take_conditions(r, &bin);
    if (!status && !rules_take(r, ')'))
        status = rules_complain(r, r->at, "',' or ')' is wanted here");
    if (status) {
        rules_free_bin(&bin);
        return status;
    }
    status = rules_add_bin(r, at, &bin, &index);
    return status ? status
                  : rules_add_step(r, at, e,
                                   (struct rules_step){.operation = RULES_COUNT, .bin = index});
}

/* The largest number is compared with the run's when rules are bound. */
static void note_node(const struct rules_reader *r, const char *at, unsigned node)
{
    struct chil_rules *rules = r->rules;
    if (rules->most_node && node <= rules->most_node) return;
    rules->most_node = node;
    rules->most_node_line = r->file.line;
    rules->most_node_column = rules_column(r, at);
}

static int find_event(const struct rules_reader *r, const char *at, size_t length,
                      const struct chil_event **event)
{
    struct chil_error err = {0};
    char *name = rules_copy(at, length);
    int status = chil_machine_find_event(r->rules->machine, name, event, &err);
    free(name);
    if (status) return rules_complain(r, at, "%s", err.text);
    if ((*event)->needs && (*event)->exactness == CHIL_NONE)
        return rules_complain(r, at, "'%s' is not counted while %s is off; use --set %s=on",
                              (*event)->name, (*event)->needs, (*event)->needs);
    return 0;
}

/* "min(EVENT)", "max(EVENT)", "mean(EVENT)", "node(N, EVENT)", behind the word. */
static int take_over(struct rules_reader *r, const char *at, enum rules_over over,
                     struct rules_expression *e)
{
    struct rules_step step = {.operation = RULES_EVENT, .over = over};
    long double number = 0;
    int status = 0;
    if (!rules_take(r, '(')) return rules_complain(r, r->at, "'(' is wanted here");
    rules_skip(r);
    const char *node = r->at;
    if (over == RULES_NODE) {
        if (!isdigit((unsigned char)*node))
            return rules_complain(r, node, "the number of a node is wanted here");
        status = take_number(r, &number);
        if (!status && number >= CHIL_RUN_NODES_MAX)
            status = rules_complain(r, node, "a node is below %d", CHIL_RUN_NODES_MAX);
        if (!status && !rules_take(r, ','))
            status = rules_complain(r, r->at, "',' and an event are wanted here");
        if (status) return status;
        step.node = (unsigned)number;
        note_node(r, node, step.node);
        rules_skip(r);
    }
    size_t length = rules_word_length(r->at);
    if (!length) return rules_complain(r, r->at, "an event is wanted here");
    status = find_event(r, r->at, length, &step.event);
    if (status) return status;
    r->at += length;
    if (!rules_take(r, ')')) return rules_complain(r, r->at, "')' is wanted here");
    return rules_add_step(r, at, e, step);
}

static int take_name(struct rules_reader *r, struct rules_expression *e)
{
    static const char *const overs[] = {
        [RULES_LEAST] = "min", [RULES_MOST] = "max", [RULES_MEAN] = "mean", [RULES_NODE] = "node"};
    const char *at = r->at;
    size_t length = rules_word_length(at);
    const struct chil_event *event;
    if (!length) return rules_complain(r, at, "an event, count(...) or a number is wanted here");
    if (rules_take_word(r, "count")) return take_count(r, at, e);
    for (unsigned over = RULES_LEAST; over <= RULES_NODE; over++)
        if (rules_take_word(r, overs[over])) return take_over(r, at, (enum rules_over)over, e);
    r->at += length;
    const struct rules_let *let = rules_find_let(r->rules, at, length);
    for (unsigned i = 0; let && i < let->expression.count; i++) {
        int status = rules_add_step(r, at, e, let->expression.steps[i]);
        if (status) return status;
    }
    if (let) return 0;
    int status = find_event(r, at, length, &event);
    if (status) return status;
    return rules_add_step(r, at, e, (struct rules_step){.operation = RULES_EVENT, .event = event});
}

static int take_factor(struct rules_reader *r, struct rules_expression *e)
{
    rules_skip(r);
    const char *at = r->at;
    if (isdigit((unsigned char)*at)) {
        long double value;
        int status = take_number(r, &value);
        return status
                   ? status
                   : rules_add_step(
                         r, at, e, (struct rules_step){.operation = RULES_NUMBER, .number = value});
    }
    if (!rules_take(r, '(')) return take_name(r, e);
    if (++r->depth > RULES_DEPTH)
        return rules_complain(r, at, "nested more than %d deep", RULES_DEPTH);
    int status = rules_take_sum(r, e);
    r->depth--;
    if (status) return status;
    return rules_take(r, ')') ? 0 : rules_complain(r, r->at, "')' is wanted here");
}

static int take_product(struct rules_reader *r, struct rules_expression *e)
{
    int status = take_factor(r, e);
    for (rules_skip(r); !status && (*r->at == '*' || *r->at == '/'); rules_skip(r)) {
        const char *at = r->at++;
        status = take_factor(r, e);
        if (!status)
            status = rules_add_step(
                r, at, e,
                (struct rules_step){.operation = *at == '*' ? RULES_MULTIPLY : RULES_DIVIDE});
    }
    return status;
}

/* Behind "+ N": "N %" of what is before, which is as well times 1 + N / 100. */
static int take_percent(struct rules_reader *r, struct rules_expression *e, const char *sign,
                        unsigned before)
{
    struct rules_step *last = &e->steps[e->count - 1];
    if (e->count != before + 1 || last->operation != RULES_NUMBER)
        return rules_complain(r, r->at, "only a number can have '%%'");
    r->at++;
    last->number = (100 + (*sign == '+' ? last->number : -last->number));
    int status = rules_add_step(r, sign, e, (struct rules_step){.operation = RULES_MULTIPLY});
    if (!status)
        status = rules_add_step(r, sign, e,
                                (struct rules_step){.operation = RULES_NUMBER, .number = 100});
    return status ? status
                  : rules_add_step(r, sign, e, (struct rules_step){.operation = RULES_DIVIDE});
}

int rules_take_sum(struct rules_reader *r, struct rules_expression *e)
{
    int status = take_product(r, e);
    for (rules_skip(r); !status && (*r->at == '+' || *r->at == '-'); rules_skip(r)) {
        const char *sign = r->at++;
        unsigned before = e->count;
        status = take_product(r, e);
        rules_skip(r);
        if (!status && *r->at == '%')
            status = take_percent(r, e, sign, before);
        else if (!status)
            status = rules_add_step(
                r, sign, e,
                (struct rules_step){.operation = *sign == '+' ? RULES_ADD : RULES_SUBTRACT});
    }
    return status;
}

int rules_take_relation(struct rules_reader *r, enum rules_relation *relation)
{
    static const enum rules_relation order[] = {RULES_EQUAL,    RULES_UNEQUAL, RULES_AT_MOST,
                                                RULES_AT_LEAST, RULES_BELOW,   RULES_ABOVE};
    rules_skip(r);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *text = rules_relation_text(order[i]);
        if (strncmp(r->at, text, strlen(text)) != 0) continue;
        r->at += strlen(text);
        *relation = order[i];
        return 0;
    }
    return rules_complain(r, r->at, "a comparison is wanted here: == != < <= > >=");
}
