/* Reads rules: one statement a line. Errors name the column. docs/formats/rules.md is the
 * reference.
 *
 *     tag ro = table, .rodata
 *     let hits = BGL_LOAD - BGL_D1_L_MISS
 *     never(tag=ro, kind=store)
 *     at_most(BGL_D1_L_MISS, 66K + 2%, in=matmul)
 *     always(hits <= BGL_LOAD)
 *
 * An assertion becomes two expressions and a relation between them. rules_count.c reads the
 * expressions.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/rules/rules_read.h"

/* --- Assertions ------------------------------------------------------------------------------ */

/* A count of a `let` stays what it is: the rule gets its own. */
static int own_bin(const struct rules_reader *r, const char *at, struct rules_step *step)
{
    struct rules_bin bin = r->rules->bins[step->bin];
    if (!bin.shared) return 0;
    bin.shared = false;
    for (unsigned i = 0; i < bin.piece_count; i++)
        bin.pieces[i].text = rules_copy(bin.pieces[i].text, strlen(bin.pieces[i].text));
    return rules_add_bin(r, at, &bin, &step->bin);
}

/* An event that is no miss: what it counted in the paths that end in the function. */
static int take_path(const struct rules_reader *r, struct rules_step *step, const char *at,
                     const char *name, size_t length)
{
    struct chil_rules *rules = r->rules;
    if (rules->function_count == RULES_MANY)
        return rules_complain(r, at, "more than %d functions", RULES_MANY);
    rules->functions = base_grow(rules->functions, &rules->function_capacity,
                                 rules->function_count + 1, sizeof *rules->functions);
    char *own = rules_copy(name, length);
    rules->functions[rules->function_count++] =
        (struct rules_function){own, r->file.line, rules_column(r, name)};
    step->operation = RULES_IN;
    step->function = own;
    return 0;
}

/* in=FUNCTION: every count is of that function's own instructions. Misses and accesses know theirs;
 * for other events call paths are recorded. */
static int restrict_to(const struct rules_reader *r, struct rules_expression *e, const char *at,
                       const char *name, size_t length)
{
    int status = 0;
    for (unsigned i = 0; i < e->count; i++) {
        struct rules_step *s = &e->steps[i];
        struct rules_bin bin;
        if (s->operation == RULES_COUNT) {
            status = own_bin(r, at, s);
            if (!status) status = rules_add_function(r, &r->rules->bins[s->bin], at, name, length);
            if (status) return status;
        }
        if (s->operation != RULES_EVENT) continue;
        if (s->over != RULES_SUM)
            return rules_complain(r, at, "in= wants sums over nodes: no min, max, mean and node");
        if (!rules_event_bin(s->event, &bin))
            status = take_path(r, s, at, name, length);
        else if (!(status = rules_add_function(r, &bin, at, name, length)) &&
                 !(status = rules_add_bin(r, at, &bin, &s->bin)))
            s->operation = RULES_COUNT;
        if (status) return status;
    }
    return 0;
}

static int take_in(struct rules_reader *r, struct rules_rule *rule)
{
    rules_skip(r);
    const char *at = r->at;
    size_t in = rules_in_length(at), length = rules_piece_length(at);
    if (!in || in >= length) return rules_complain(r, at, "only in=FUNCTION may follow here");
    r->at += length;
    int status = restrict_to(r, &rule->left, at, at + in, length - in);
    return status ? status : restrict_to(r, &rule->right, at, at + in, length - in);
}

/* A limit that one count must not pass becomes a preset: the bin overflows with the event that
 * passes it. */
static int arm(const struct rules_reader *r, const char *at, struct rules_rule *rule)
{
    struct rules_step *s = &rule->left.steps[0];
    struct rules_bin bin;
    for (unsigned i = 0; i < rule->right.count; i++)
        if (rule->right.steps[i].operation < RULES_ADD &&
            rule->right.steps[i].operation != RULES_NUMBER)
            return 0;
    if (rule->relation != RULES_AT_MOST || rule->left.count != 1) return 0;
    long double limit = rules_value(r->rules, &rule->right, NULL);
    if (limit < 0 || limit >= 0x1p63L) return 0;
    if (s->operation == RULES_EVENT) {
        if (s->over != RULES_SUM || !rules_event_bin(s->event, &bin)) return 0;
        int status = rules_add_bin(r, at, &bin, &s->bin);
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

static int take_never(struct rules_reader *r, const char *at, struct rules_rule *rule)
{
    struct rules_bin bin = {0};
    struct rules_step step = {.operation = RULES_COUNT};
    int status = rules_take_conditions(r, &bin);
    if (status) {
        rules_free_bin(&bin);
        return status;
    }
    status = rules_add_bin(r, at, &bin, &step.bin);
    if (!status) status = rules_add_step(r, at, &rule->left, step);
    return status ? status
                  : rules_add_step(r, at, &rule->right,
                                   (struct rules_step){.operation = RULES_NUMBER});
}

static int take_two(struct rules_reader *r, struct rules_rule *rule)
{
    int status = rules_take_sum(r, &rule->left);
    if (!status && !rules_take(r, ','))
        status = rules_complain(r, r->at, "',' and a limit are wanted here");
    if (!status) status = rules_take_sum(r, &rule->right);
    return !status && rules_take(r, ',') ? take_in(r, rule) : status;
}

static int take_comparison(struct rules_reader *r, struct rules_rule *rule)
{
    int status = rules_take_sum(r, &rule->left);
    if (!status) status = rules_take_relation(r, &rule->relation);
    if (!status) status = rules_take_sum(r, &rule->right);
    return !status && rules_take(r, ',') ? take_in(r, rule) : status;
}

static int add_rule(const struct rules_reader *r, const char *at, const struct rules_rule *rule)
{
    struct chil_rules *rules = r->rules;
    if (rules->count == RULES_MANY)
        return rules_complain(r, at, "more than %d assertions in one file", RULES_MANY);
    rules->rules =
        base_grow(rules->rules, &rules->rule_capacity, rules->count + 1, sizeof *rules->rules);
    rules->assertions = base_grow(rules->assertions, &rules->assertion_capacity, rules->count + 1,
                                  sizeof *rules->assertions);
    rules->rules[rules->count] = *rule;
    rules->assertions[rules->count++] =
        (struct chil_assertion){.node = -1,
                                .line = r->file.line,
                                .column = rules_column(r, at),
                                .text = rules_copy(at, strlen(at)),
                                .relation = rules_relation_text(rule->relation)};
    return 0;
}

enum form { NEVER, AT_MOST, AT_LEAST, EQUAL, ALWAYS, FORMS };
static const char *const forms[FORMS] = {"never", "at_most", "at_least", "equal", "always"};

static const char *form_at(const void *table, size_t index)
{
    (void)table;
    return index < FORMS        ? forms[index]
           : index == FORMS     ? "let"
           : index == FORMS + 1 ? "tag"
                                : "category";
}

static int take_assertion(struct rules_reader *r, enum form form, const char *at)
{
    static const enum rules_relation relations[FORMS] = {RULES_AT_MOST, RULES_AT_MOST,
                                                         RULES_AT_LEAST, RULES_EQUAL, RULES_EQUAL};
    struct rules_rule rule = {.relation = relations[form],
                              .early = form == AT_MOST || form == ALWAYS};
    rule.always = form == ALWAYS;
    if (!rules_take(r, '(')) return rules_complain(r, r->at, "'(' is wanted here");
    int status = form == NEVER    ? take_never(r, at, &rule)
                 : form == ALWAYS ? take_comparison(r, &rule)
                                  : take_two(r, &rule);
    if (!status && !rules_take(r, ')'))
        status = rules_complain(r, r->at, "',' or ')' is wanted here");
    rules_skip(r);
    if (!status && *r->at) status = rules_complain(r, r->at, "nothing may follow an assertion");
    for (unsigned i = 0; i < RULES_STEPS; i++)
        rule.late |= (i < rule.left.count && rule.left.steps[i].operation == RULES_IN) ||
                     (i < rule.right.count && rule.right.steps[i].operation == RULES_IN);
    if (!status && rule.late && form == ALWAYS)
        status = rules_complain(
            r, at, "always cannot have in= with such an event: call paths are known at the end");
    if (!status && form != ALWAYS) status = arm(r, at, &rule);
    return status ? status : add_rule(r, at, &rule);
}

/* --- Other statements ------------------------------------------------------------------------ */

/* "tag NAME = PLACE, PLACE" as "NAME=PLACE,PLACE" */
static int take_place(struct rules_reader *r, const char *at, bool category)
{
    struct chil_rules *rules = r->rules;
    rules_skip(r);
    size_t length = rules_word_length(r->at), used = 0;
    const char *name = r->at, *kind = category ? "category" : "tag";
    if (!length) return rules_complain(r, r->at, "the name of a %s is wanted here", kind);
    r->at += length;
    if (!rules_take(r, '=')) return rules_complain(r, r->at, "'=' and places are wanted here");
    rules_skip(r);
    if (!*r->at)
        return rules_complain(
            r, r->at, "a place is wanted here: FIRST-LAST, FIRST+LENGTH, a section or a symbol");
    if (rules->place_count == RULES_MANY)
        return rules_complain(r, at, "more than %d places in one file", RULES_MANY);
    char *text = base_calloc(strlen(name) + 1, 1), *from = NULL;
    for (const char *c = name; *c; c++)
        if (!isspace((unsigned char)*c)) text[used++] = *c;
    if (asprintf(&from, "%s:%u:%u: %s", rules->name, r->file.line, rules_column(r, at), kind) < 0)
        from = rules_copy(kind, strlen(kind));
    rules->places = base_grow(rules->places, &rules->place_capacity, rules->place_count + 1,
                              sizeof *rules->places);
    rules->places[rules->place_count++] = (struct chil_rules_place){category, text, from};
    return 0;
}

static int take_let(struct rules_reader *r)
{
    struct chil_rules *rules = r->rules;
    struct rules_let let = {0};
    rules_skip(r);
    const char *name = r->at;
    size_t length = rules_word_length(name);
    if (!length) return rules_complain(r, name, "a name is wanted here");
    if (rules_find_let(rules, name, length))
        return rules_complain(r, name, "'%.*s' has a meaning already", (int)length, name);
    if (rules->let_count == RULES_MANY)
        return rules_complain(r, name, "more than %d names in one file", RULES_MANY);
    r->at += length;
    if (!rules_take(r, '='))
        return rules_complain(r, r->at, "'=' and an expression are wanted here");
    int status = rules_take_sum(r, &let.expression);
    rules_skip(r);
    if (!status && *r->at)
        status = rules_complain(r, r->at, "an operator or the end of the line is wanted here");
    if (status) return status;
    for (unsigned i = 0; i < let.expression.count; i++)
        if (let.expression.steps[i].operation == RULES_COUNT)
            rules->bins[let.expression.steps[i].bin].shared = true;
    let.name = rules_copy(name, length);
    rules->lets =
        base_grow(rules->lets, &rules->let_capacity, rules->let_count + 1, sizeof *rules->lets);
    rules->lets[rules->let_count++] = let;
    return 0;
}

static int take_line(struct rules_reader *r)
{
    const char *at = r->at;
    char word[40], hint[80];
    size_t length = rules_word_length(at);
    r->depth = 0;
    if (rules_take_word(r, "tag")) return take_place(r, at, false);
    if (rules_take_word(r, "category")) return take_place(r, at, true);
    if (rules_take_word(r, "let")) return take_let(r);
    for (unsigned form = 0; form < FORMS; form++)
        if (rules_take_word(r, forms[form])) return take_assertion(r, (enum form)form, at);
    if (!length)
        return rules_complain(r, at,
                              "a rule is wanted here: never, at_most, at_least, equal or always");
    (void)snprintf(word, sizeof word, "%.*s",
                   length < sizeof word ? (int)length : (int)sizeof word - 1, at);
    (void)text_hint(hint, sizeof hint, text_nearest(word, NULL, FORMS + 3, form_at));
    return rules_complain(r, at, "there is no rule '%s'%s", word,
                          *hint ? hint : "; use never, at_most, at_least, equal or always");
}

/* --- Files ----------------------------------------------------------------------------------- */

static int read_all(struct chil_rules **out, struct rules_reader *r)
{
    int status = 0;
    for (char *line; !status && (line = text_next_line(&r->file));) {
        r->start = r->at = line;
        while (r->start > r->file.bytes && r->start[-1] && r->start[-1] != '\n')
            r->start--;
        status = take_line(r);
    }
    if (!status && !r->rules->count)
        status = chil_error_set(r->err, CHIL_EPARSE, "%s:1:1: there is no rule in this file",
                                r->rules->name);
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
    rules->name = rules_copy(name, strlen(name));
    rules->machine = machine;
    return rules;
}

int chil_rules_open(struct chil_rules **rules, const char *path, const struct chil_machine *machine,
                    struct chil_error *err)
{
    struct rules_reader r = {.err = err};
    int status = text_file_open(&r.file, path, err);
    if (status) return status;
    r.rules = make(path, machine);
    return read_all(rules, &r);
}

int chil_rules_from_bytes(struct chil_rules **rules, const char *name, const void *bytes,
                          size_t length, const struct chil_machine *machine, struct chil_error *err)
{
    struct rules_reader r = {.err = err};
    int status = text_file_from_bytes(&r.file, name, bytes, length, err);
    if (status) return status;
    r.rules = make(name, machine);
    return read_all(rules, &r);
}
