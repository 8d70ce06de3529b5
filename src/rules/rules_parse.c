/* Reads rules: one statement a line, columns told. docs/formats/rules.md is the reference.
 *
 *     tag ro = table, .rodata
 *     let hits = BGL_LOAD - BGL_D1_L_MISS
 *     never(tag=ro, kind=store)
 *     at_most(BGL_D1_L_MISS, 66K + 2%, in=matmul)
 *     always(hits <= BGL_LOAD)
 *
 * An assertion becomes two expressions and a relation between them. Predicates are kept as text, piece by piece, until
 * the names are there.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rules/rules_impl.h"

struct reader {
    struct chil_rules *rules;
    struct text_file file;
    const char *start, *at; /* of the line, and in it */
    unsigned depth;
    struct chil_error *err;
};

static int complain(const struct reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static unsigned column_of(const struct reader *r, const char *at)
{
    return (unsigned)(at - r->start) + 1;
}

static int complain(const struct reader *r, const char *at, const char *format, ...)
{
    char what[240];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (char *c = what; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    return chil_error_set(r->err, CHIL_EPARSE, "%s:%u:%u: %s", r->rules->name, r->file.line, column_of(r, at), what);
}

static void skip(struct reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool take(struct reader *r, char letter)
{
    skip(r);
    if (*r->at != letter) return false;
    r->at++;
    return true;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    if (!isalpha((unsigned char)*at) && *at != '_') return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
        length++;
    return length;
}

/* Takes a word if it is this one. */
static bool take_word(struct reader *r, const char *word)
{
    skip(r);
    if (word_length(r->at) != strlen(word) || strncmp(r->at, word, strlen(word)) != 0) return false;
    r->at += strlen(word);
    return true;
}

static char *copy(const char *from, size_t length)
{
    char *text = base_calloc(length + 1, 1);
    memcpy(text, from, length);
    return text;
}

/* --- Predicates --------------------------------------------------------------------------------------------------- */

static int add_piece(const struct reader *r, struct rules_bin *bin, const char *at, char *text)
{
    if (bin->piece_count == RULES_PIECES) {
        free(text);
        return complain(r, at, "more than %d conditions", RULES_PIECES);
    }
    bin->pieces[bin->piece_count++] = (struct rules_piece){text, r->file.line, column_of(r, at), NULL};
    return 0;
}

static int add_function(const struct reader *r, struct rules_bin *bin, const char *at, const char *name, size_t length)
{
    size_t size = length + sizeof "function=";
    char *text = base_calloc(size, 1);
    (void)snprintf(text, size, "function=%.*s", (int)length, name);
    int status = add_piece(r, bin, at, text);
    /* Columns of the piece are those of the name, as it stands behind in=. */
    if (!status) bin->pieces[bin->piece_count - 1].column = column_of(r, name) - (unsigned)strlen("function=");
    return status;
}

/* To the next comma or the parenthesis that ends the list, parentheses inside left alone. */
static size_t piece_length(const char *at)
{
    size_t length = 0;
    unsigned depth = 0;
    for (; at[length]; length++) {
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
        size_t here = word_length(at + i);
        if (here == strlen(word) && strncmp(at + i, word, here) == 0) return true;
        if (here) i += here - 1;
    }
    return false;
}

/* What misses have and accesses have not. */
static int check_access(const struct reader *r, const char *at, size_t length)
{
    static const char *const words[] = {"latency", "level", "cause", "fetch", "invalidation", "packet"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mentions(at, length, words[i]))
            return complain(r, at, "an access has no '%s'; write 'miss' before the conditions to mean misses",
                            words[i]);
    return 0;
}

static size_t in_length(const char *at)
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

/* "miss, tag=ro, kind=store, in=solve" up to the closing parenthesis, which is left. */
static int take_conditions(struct reader *r, struct rules_bin *bin)
{
    *bin = (struct rules_bin){.access = true, .kinds = 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS, .core = -1};
    bool first = true;
    int status = 0;
    do {
        skip(r);
        const char *at = r->at;
        size_t length = piece_length(at), in = in_length(at);
        bool is_miss = length == 4 && strncmp(at, "miss", 4) == 0, is_access = length == 6 && !strncmp(at, "access", 6);
        if (!length) return complain(r, at, "a condition is wanted here, such as kind=store");
        r->at += length;
        if ((is_miss || is_access) && !first) return complain(r, at, "'%.*s' comes first", (int)length, at);
        first = false;
        if (is_miss) *bin = (struct rules_bin){.kinds = UINT32_MAX, .core = -1};
        if (is_miss || is_access) continue;
        if (in && in < length) {
            status = add_function(r, bin, at, at + in, length - in);
        } else {
            status = bin->access ? check_access(r, at, length) : 0;
            if (!status) status = add_piece(r, bin, at, copy(at, length));
        }
    } while (!status && take(r, ','));
    return status;
}

/* Takes the bin's pieces, also when there is no room. */
static int add_bin(const struct reader *r, const char *at, struct rules_bin *bin, size_t *index)
{
    struct chil_rules *rules = r->rules;
    if (rules->bin_count == RULES_MANY) {
        rules_free_bin(bin);
        return complain(r, at, "more than %d counts in one file", RULES_MANY);
    }
    rules->bins = base_grow(rules->bins, &rules->bin_capacity, rules->bin_count + 1, sizeof *rules->bins);
    rules->bins[ *index = rules->bin_count++] = *bin;
    return 0;
}

/* --- Expressions -------------------------------------------------------------------------------------------------- */

static int add_step(const struct reader *r, const char *at, struct rules_expression *e, struct rules_step step)
{
    if (e->count == RULES_STEPS) return complain(r, at, "more than %d numbers and signs", RULES_STEPS);
    step.column = column_of(r, at);
    e->steps[e->count++] = step;
    return 0;
}

/* 66, 0.5, 66K; K, M and G are 2^10, 2^20 and 2^30, as everywhere. */
static int take_number(struct reader *r, long double *value)
{
    const char *at = r->at;
    long double part = 1;
    for (*value = 0; isdigit((unsigned char)*r->at); r->at++)
        *value = *value * 10 + (*r->at - '0');
    if (*r->at == '.')
        for (r->at++; isdigit((unsigned char)*r->at); r->at++)
            *value += (part /= 10) * (*r->at - '0');
    if (*value >= 0x1p63L) return complain(r, at, "this number is too large");
    static const char letters[] = "KMG";
    const char *letter = *r->at ? strchr(letters, *r->at) : NULL;
    if (letter) r->at++;
    for (long power = letter ? letter - letters + 1 : 0; power; power--)
        *value *= 1024;
    if (isalnum((unsigned char)*r->at) || *r->at == '_') return complain(r, at, "this is neither a number nor a name");
    return 0;
}

static const struct rules_let *find_let(const struct chil_rules *rules, const char *at, size_t length)
{
    for (size_t i = 0; i < rules->let_count; i++)
        if (strlen(rules->lets[i].name) == length && strncmp(rules->lets[i].name, at, length) == 0)
            return &rules->lets[i];
    return NULL;
}

static int take_count(struct reader *r, const char *at, struct rules_expression *e)
{
    struct rules_bin bin = {0};
    size_t index = 0;
    if (!take(r, '(')) return complain(r, r->at, "'(' and conditions are wanted here");
    int status = take_conditions(r, &bin);
    if (!status && !take(r, ')')) status = complain(r, r->at, "',' or ')' is wanted here");
    if (status) {
        rules_free_bin(&bin);
        return status;
    }
    status = add_bin(r, at, &bin, &index);
    return status ? status : add_step(r, at, e, (struct rules_step){.operation = RULES_COUNT, .bin = index});
}

static int take_name(struct reader *r, struct rules_expression *e)
{
    const char *at = r->at;
    size_t length = word_length(at);
    const struct chil_event *event;
    struct chil_error err = {0};
    if (!length) return complain(r, at, "an event, count(...) or a number is wanted here");
    if (take_word(r, "count")) return take_count(r, at, e);
    r->at += length;
    const struct rules_let *let = find_let(r->rules, at, length);
    for (unsigned i = 0; let && i < let->expression.count; i++) {
        int status = add_step(r, at, e, let->expression.steps[i]);
        if (status) return status;
    }
    if (let) return 0;
    char *name = copy(at, length);
    int status = chil_machine_find_event(r->rules->machine, name, &event, &err);
    free(name);
    if (status) return complain(r, at, "%s", err.text);
    if (event->needs && event->exactness == CHIL_NONE)
        return complain(r, at, "'%s' is not counted while %s is off; use --set %s=on", event->name, event->needs,
                        event->needs);
    return add_step(r, at, e, (struct rules_step){.operation = RULES_EVENT, .event = event});
}

static int take_sum(struct reader *r, struct rules_expression *e);

static int take_factor(struct reader *r, struct rules_expression *e)
{
    skip(r);
    const char *at = r->at;
    if (isdigit((unsigned char)*at)) {
        long double value;
        int status = take_number(r, &value);
        return status ? status : add_step(r, at, e, (struct rules_step){.operation = RULES_NUMBER, .number = value});
    }
    if (!take(r, '(')) return take_name(r, e);
    if (++r->depth > RULES_DEPTH) return complain(r, at, "nested more than %d deep", RULES_DEPTH);
    int status = take_sum(r, e);
    r->depth--;
    if (status) return status;
    return take(r, ')') ? 0 : complain(r, r->at, "')' is wanted here");
}

static int take_product(struct reader *r, struct rules_expression *e)
{
    int status = take_factor(r, e);
    for (skip(r); !status && (*r->at == '*' || *r->at == '/'); skip(r)) {
        const char *at = r->at++;
        status = take_factor(r, e);
        if (!status)
            status = add_step(r, at, e, (struct rules_step){.operation = *at == '*' ? RULES_MULTIPLY : RULES_DIVIDE});
    }
    return status;
}

/* Behind "+ N": "N %" of what is before, which is as well times 1 + N / 100. */
static int take_percent(struct reader *r, struct rules_expression *e, const char *sign, unsigned before)
{
    struct rules_step *last = &e->steps[e->count - 1];
    if (e->count != before + 1 || last->operation != RULES_NUMBER)
        return complain(r, r->at, "only a number can have '%%'");
    r->at++;
    last->number = (100 + (*sign == '+' ? last->number : -last->number));
    int status = add_step(r, sign, e, (struct rules_step){.operation = RULES_MULTIPLY});
    if (!status) status = add_step(r, sign, e, (struct rules_step){.operation = RULES_NUMBER, .number = 100});
    return status ? status : add_step(r, sign, e, (struct rules_step){.operation = RULES_DIVIDE});
}

static int take_sum(struct reader *r, struct rules_expression *e)
{
    int status = take_product(r, e);
    for (skip(r); !status && (*r->at == '+' || *r->at == '-'); skip(r)) {
        const char *sign = r->at++;
        unsigned before = e->count;
        status = take_product(r, e);
        skip(r);
        if (!status && *r->at == '%')
            status = take_percent(r, e, sign, before);
        else if (!status)
            status = add_step(r, sign, e, (struct rules_step){.operation = *sign == '+' ? RULES_ADD : RULES_SUBTRACT});
    }
    return status;
}

static int take_relation(struct reader *r, enum rules_relation *relation)
{
    static const enum rules_relation order[] = {RULES_EQUAL,    RULES_UNEQUAL, RULES_AT_MOST,
                                                RULES_AT_LEAST, RULES_BELOW,   RULES_ABOVE};
    skip(r);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *text = rules_relation_text(order[i]);
        if (strncmp(r->at, text, strlen(text)) != 0) continue;
        r->at += strlen(text);
        *relation = order[i];
        return 0;
    }
    return complain(r, r->at, "a comparison is wanted here: == != < <= > >=");
}

/* --- Assertions --------------------------------------------------------------------------------------------------- */

/* A count of a `let` stays what it is: the rule gets its own. */
static int own_bin(const struct reader *r, const char *at, struct rules_step *step)
{
    struct rules_bin bin = r->rules->bins[step->bin];
    if (!bin.shared) return 0;
    bin.shared = false;
    for (unsigned i = 0; i < bin.piece_count; i++)
        bin.pieces[i].text = copy(bin.pieces[i].text, strlen(bin.pieces[i].text));
    return add_bin(r, at, &bin, &step->bin);
}

/* An event that is no miss: what it counted in the paths that end in the function. */
static int take_path(const struct reader *r, struct rules_step *step, const char *at, const char *name, size_t length)
{
    struct chil_rules *rules = r->rules;
    if (rules->function_count == RULES_MANY) return complain(r, at, "more than %d functions", RULES_MANY);
    rules->functions =
        base_grow(rules->functions, &rules->function_capacity, rules->function_count + 1, sizeof *rules->functions);
    char *own = copy(name, length);
    rules->functions[rules->function_count++] = (struct rules_function){own, r->file.line, column_of(r, name)};
    step->operation = RULES_IN;
    step->function = own;
    return 0;
}

/* in=FUNCTION: every count is of that function's own instructions. Misses and accesses know theirs; for other events
 * call paths are recorded. */
static int restrict_to(const struct reader *r, struct rules_expression *e, const char *at, const char *name,
                       size_t length)
{
    int status = 0;
    for (unsigned i = 0; i < e->count; i++) {
        struct rules_step *s = &e->steps[i];
        struct rules_bin bin;
        if (s->operation == RULES_COUNT) {
            status = own_bin(r, at, s);
            if (!status) status = add_function(r, &r->rules->bins[s->bin], at, name, length);
            if (status) return status;
        }
        if (s->operation != RULES_EVENT) continue;
        if (!rules_event_bin(s->event, &bin))
            status = take_path(r, s, at, name, length);
        else if (!(status = add_function(r, &bin, at, name, length)) && !(status = add_bin(r, at, &bin, &s->bin)))
            s->operation = RULES_COUNT;
        if (status) return status;
    }
    return 0;
}

static int take_in(struct reader *r, struct rules_rule *rule)
{
    skip(r);
    const char *at = r->at;
    size_t in = in_length(at), length = piece_length(at);
    if (!in || in >= length) return complain(r, at, "only in=FUNCTION may follow here");
    r->at += length;
    int status = restrict_to(r, &rule->left, at, at + in, length - in);
    return status ? status : restrict_to(r, &rule->right, at, at + in, length - in);
}

/* A limit that one count must not pass becomes a preset: the bin overflows with the event that passes it. */
static int arm(const struct reader *r, const char *at, struct rules_rule *rule)
{
    struct rules_step *s = &rule->left.steps[0];
    struct rules_bin bin;
    for (unsigned i = 0; i < rule->right.count; i++)
        if (rule->right.steps[i].operation < RULES_ADD && rule->right.steps[i].operation != RULES_NUMBER) return 0;
    if (rule->relation != RULES_AT_MOST || rule->left.count != 1) return 0;
    long double limit = rules_value(r->rules, &rule->right, NULL);
    if (limit < 0 || limit >= 0x1p63L) return 0;
    if (s->operation == RULES_EVENT) {
        if (!rules_event_bin(s->event, &bin)) return 0;
        int status = add_bin(r, at, &bin, &s->bin);
        if (status) return status;
        s->operation = RULES_COUNT;
    }
    if (s->operation != RULES_COUNT) return 0;
    int status = own_bin(r, at, s);
    if (status) return status;
    struct rules_bin *armed = &r->rules->bins[s->bin];
    armed->armed = true;
    armed->assertion = r->rules->count;
    armed->word = armed->preset = UINT64_MAX - (uint64_t)limit;
    return 0;
}

static int take_never(struct reader *r, const char *at, struct rules_rule *rule)
{
    struct rules_bin bin = {0};
    struct rules_step step = {.operation = RULES_COUNT};
    int status = take_conditions(r, &bin);
    if (status) {
        rules_free_bin(&bin);
        return status;
    }
    status = add_bin(r, at, &bin, &step.bin);
    if (!status) status = add_step(r, at, &rule->left, step);
    return status ? status : add_step(r, at, &rule->right, (struct rules_step){.operation = RULES_NUMBER});
}

static int take_two(struct reader *r, struct rules_rule *rule)
{
    int status = take_sum(r, &rule->left);
    if (!status && !take(r, ',')) status = complain(r, r->at, "',' and a limit are wanted here");
    if (!status) status = take_sum(r, &rule->right);
    return !status && take(r, ',') ? take_in(r, rule) : status;
}

static int take_comparison(struct reader *r, struct rules_rule *rule)
{
    int status = take_sum(r, &rule->left);
    if (!status) status = take_relation(r, &rule->relation);
    if (!status) status = take_sum(r, &rule->right);
    return !status && take(r, ',') ? take_in(r, rule) : status;
}

static int add_rule(const struct reader *r, const char *at, const struct rules_rule *rule)
{
    struct chil_rules *rules = r->rules;
    if (rules->count == RULES_MANY) return complain(r, at, "more than %d assertions in one file", RULES_MANY);
    rules->rules = base_grow(rules->rules, &rules->rule_capacity, rules->count + 1, sizeof *rules->rules);
    rules->assertions =
        base_grow(rules->assertions, &rules->assertion_capacity, rules->count + 1, sizeof *rules->assertions);
    rules->rules[rules->count] = *rule;
    rules->assertions[rules->count++] = (struct chil_assertion){.line = r->file.line,
                                                                .column = column_of(r, at),
                                                                .text = copy(at, strlen(at)),
                                                                .relation = rules_relation_text(rule->relation)};
    return 0;
}

enum form { NEVER, AT_MOST, AT_LEAST, EQUAL, ALWAYS, FORMS };
static const char *const forms[FORMS] = {"never", "at_most", "at_least", "equal", "always"};

static const char *form_at(const void *table, size_t index)
{
    (void)table;
    return index < FORMS ? forms[index] : index == FORMS ? "let" : index == FORMS + 1 ? "tag" : "category";
}

static int take_assertion(struct reader *r, enum form form, const char *at)
{
    static const enum rules_relation relations[FORMS] = {RULES_AT_MOST, RULES_AT_MOST, RULES_AT_LEAST, RULES_EQUAL,
                                                         RULES_EQUAL};
    struct rules_rule rule = {.relation = relations[form], .early = form == AT_MOST || form == ALWAYS};
    rule.always = form == ALWAYS;
    if (!take(r, '(')) return complain(r, r->at, "'(' is wanted here");
    int status = form == NEVER    ? take_never(r, at, &rule)
                 : form == ALWAYS ? take_comparison(r, &rule)
                                  : take_two(r, &rule);
    if (!status && !take(r, ')')) status = complain(r, r->at, "',' or ')' is wanted here");
    skip(r);
    if (!status && *r->at) status = complain(r, r->at, "nothing may follow an assertion");
    for (unsigned i = 0; i < RULES_STEPS; i++)
        rule.late |= (i < rule.left.count && rule.left.steps[i].operation == RULES_IN) ||
                     (i < rule.right.count && rule.right.steps[i].operation == RULES_IN);
    if (!status && rule.late && form == ALWAYS)
        status = complain(r, at, "always cannot have in= with such an event: call paths are known at the end");
    if (!status && form != ALWAYS) status = arm(r, at, &rule);
    return status ? status : add_rule(r, at, &rule);
}

/* --- Other statements --------------------------------------------------------------------------------------------- */

/* "tag NAME = PLACE, PLACE" as "NAME=PLACE,PLACE" */
static int take_place(struct reader *r, const char *at, bool category)
{
    struct chil_rules *rules = r->rules;
    skip(r);
    size_t length = word_length(r->at), used = 0;
    const char *name = r->at, *kind = category ? "category" : "tag";
    if (!length) return complain(r, r->at, "the name of a %s is wanted here", kind);
    r->at += length;
    if (!take(r, '=')) return complain(r, r->at, "'=' and places are wanted here");
    skip(r);
    if (!*r->at) return complain(r, r->at, "a place is wanted here: FIRST-LAST, FIRST+LENGTH, a section or a symbol");
    if (rules->place_count == RULES_MANY) return complain(r, at, "more than %d places in one file", RULES_MANY);
    char *text = base_calloc(strlen(name) + 1, 1), *from = NULL;
    for (const char *c = name; *c; c++)
        if (!isspace((unsigned char)*c)) text[used++] = *c;
    if (asprintf(&from, "%s:%u:%u: %s", rules->name, r->file.line, column_of(r, at), kind) < 0)
        from = copy(kind, strlen(kind));
    rules->places = base_grow(rules->places, &rules->place_capacity, rules->place_count + 1, sizeof *rules->places);
    rules->places[rules->place_count++] = (struct chil_rules_place){category, text, from};
    return 0;
}

static int take_let(struct reader *r)
{
    struct chil_rules *rules = r->rules;
    struct rules_let let = {0};
    skip(r);
    const char *name = r->at;
    size_t length = word_length(name);
    if (!length) return complain(r, name, "a name is wanted here");
    if (find_let(rules, name, length)) return complain(r, name, "'%.*s' has a meaning already", (int)length, name);
    if (rules->let_count == RULES_MANY) return complain(r, name, "more than %d names in one file", RULES_MANY);
    r->at += length;
    if (!take(r, '=')) return complain(r, r->at, "'=' and an expression are wanted here");
    int status = take_sum(r, &let.expression);
    skip(r);
    if (!status && *r->at) status = complain(r, r->at, "an operator or the end of the line is wanted here");
    if (status) return status;
    for (unsigned i = 0; i < let.expression.count; i++)
        if (let.expression.steps[i].operation == RULES_COUNT) rules->bins[let.expression.steps[i].bin].shared = true;
    let.name = copy(name, length);
    rules->lets = base_grow(rules->lets, &rules->let_capacity, rules->let_count + 1, sizeof *rules->lets);
    rules->lets[rules->let_count++] = let;
    return 0;
}

static int take_line(struct reader *r)
{
    const char *at = r->at;
    char word[40], hint[80];
    size_t length = word_length(at);
    r->depth = 0;
    if (take_word(r, "tag")) return take_place(r, at, false);
    if (take_word(r, "category")) return take_place(r, at, true);
    if (take_word(r, "let")) return take_let(r);
    for (unsigned form = 0; form < FORMS; form++)
        if (take_word(r, forms[form])) return take_assertion(r, (enum form)form, at);
    if (!length) return complain(r, at, "a rule is wanted here: never, at_most, at_least, equal or always");
    (void)snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, at);
    (void)text_hint(hint, sizeof hint, text_nearest(word, NULL, FORMS + 3, form_at));
    return complain(r, at, "there is no rule '%s'%s", word, hint);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static int read_all(struct chil_rules **out, struct reader *r)
{
    int status = 0;
    for (char *line; !status && (line = text_next_line(&r->file));) {
        r->start = r->at = line;
        while (r->start > r->file.bytes && r->start[-1] && r->start[-1] != '\n')
            r->start--;
        status = take_line(r);
    }
    if (!status && !r->rules->count)
        status = chil_error_set(r->err, CHIL_EPARSE, "%s:1:1: there is no rule in this file", r->rules->name);
    text_file_close(&r->file);
    if (status)
        chil_rules_free(r->rules);
    else
        *out = r->rules;
    return status;
}

static struct chil_rules *make(const char *name, const struct chil_machine *machine)
{
    struct chil_rules *rules = base_calloc(1, sizeof *rules);
    rules->name = copy(name, strlen(name));
    rules->machine = machine;
    return rules;
}

int chil_rules_open(struct chil_rules **rules, const char *path, const struct chil_machine *machine,
                    struct chil_error *err)
{
    struct reader r = {.err = err};
    int status = text_file_open(&r.file, path, err);
    if (status) return status;
    r.rules = make(path, machine);
    return read_all(rules, &r);
}

int chil_rules_from_bytes(struct chil_rules **rules, const char *name, const void *bytes, size_t length,
                          const struct chil_machine *machine, struct chil_error *err)
{
    struct reader r = {.err = err};
    int status = text_file_from_bytes(&r.file, name, bytes, length, err);
    if (status) return status;
    r.rules = make(name, machine);
    return read_all(rules, &r);
}
