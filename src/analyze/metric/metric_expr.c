/* Expressions: + - * /, parentheses, numbers, names, seconds(NAME); with logic also comparisons,
 * and, or, not.
 *
 * A parsed expression is a row of nodes, operands before operators, so evaluating is a loop and its
 * depth costs no stack; only parsing nests, to DEPTH_MAX.
 */
#include "analyze/metric/metric_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

struct parser {
    struct expr *e;
    struct reader *r;
    bool logic;
    expr_symbol symbol;
    void *context;
    struct chil_error *err;
    int status;
    unsigned depth;
};

static int add(struct parser *p, struct expr_node node)
{
    p->e->node = base_grow(p->e->node, &p->e->capacity, p->e->nodes + 1, sizeof *p->e->node);
    p->e->node[p->e->nodes] = node;
    return (int)p->e->nodes++;
}

static int parse_or(struct parser *p);

static bool accept(struct parser *p, const char *text)
{
    struct token token = reader_peek(p->r);
    if (p->status || !token_is(&token, text)) return false;
    (void)reader_token(p->r);
    return true;
}

static int fail(struct parser *p, const struct token *token, const char *what)
{
    if (!p->status)
        p->status = *token->at
                        ? reader_error(p->r, token->at, p->err, "%s at '%.40s'", what, token->at)
                        : reader_error(p->r, token->at, p->err, "%s at the end", what);
    return 0;
}

static int parse_name(struct parser *p, const struct token *token, enum expr_op op)
{
    char name[METRIC_NAME_MAX];
    if (token->length >= sizeof name) return fail(p, token, "a name is too long");
    memcpy(name, token->at, token->length);
    name[token->length] = 0;
    return add(
        p, (struct expr_node){.op = op, .symbol = p->symbol(p->context, name, p->r, token->at)});
}

static int parse_seconds(struct parser *p)
{
    struct token open = reader_token(p->r), name = reader_token(p->r);
    if (!token_is(&open, "(") || name.kind != TOKEN_NAME)
        return fail(p, &open, "seconds(NAME) is wanted");
    int node = parse_name(p, &name, EXPR_SECONDS);
    struct token close = reader_token(p->r);
    if (!token_is(&close, ")")) return fail(p, &close, "')' is missing");
    return node;
}

static int parse_atom(struct parser *p)
{
    struct token token = reader_token(p->r);
    if (p->status) return 0;
    if (token.kind == TOKEN_NUMBER) {
        if (!isfinite(token.number)) return fail(p, &token, "a number is too large");
        return add(p, (struct expr_node){.op = EXPR_NUMBER, .number = token.number});
    }
    if (token_is(&token, "seconds")) return parse_seconds(p);
    if (token.kind == TOKEN_NAME) return parse_name(p, &token, EXPR_NAME);
    if (token_is(&token, "(")) {
        int node = parse_or(p);
        struct token close = reader_token(p->r);
        return token_is(&close, ")") ? node : fail(p, &close, "')' is missing");
    }
    return fail(p, &token, "a name, a number or '(' is missing");
}

static int parse_unary(struct parser *p)
{
    if (++p->depth > DEPTH_MAX) {
        struct token token = reader_peek(p->r);
        return fail(p, &token, "too many parentheses and signs");
    }
    int node;
    if (accept(p, "-")) {
        node = parse_unary(p);
        node = p->status ? 0 : add(p, (struct expr_node){.op = EXPR_NEGATE, .left = node});
    } else if (accept(p, "+")) {
        node = parse_unary(p);
    } else {
        node = parse_atom(p);
    }
    p->depth--;
    return node;
}

static const struct level {
    struct {
        const char *text;
        enum expr_op op;
    } of[6];
    bool logic;
} levels[] = {
    {.of = {{"or", EXPR_OR}}, .logic = true},
    {.of = {{"and", EXPR_AND}}, .logic = true},
    {.of = {{"<", EXPR_LESS},
            {"<=", EXPR_LESS_EQUAL},
            {">", EXPR_MORE},
            {">=", EXPR_MORE_EQUAL},
            {"==", EXPR_EQUAL},
            {"!=", EXPR_UNEQUAL}},
     .logic = true},
    {.of = {{"+", EXPR_ADD}, {"-", EXPR_SUBTRACT}}},
    {.of = {{"*", EXPR_MULTIPLY}, {"/", EXPR_DIVIDE}}},
};
enum { LEVELS = sizeof levels / sizeof *levels, LEVEL_AND = 1, LEVEL_COMPARE = 2 };

static int parse_level(struct parser *p, size_t level);

static int parse_operand(struct parser *p, size_t level)
{
    if (level + 1 < LEVELS) return parse_level(p, level + 1);
    return parse_unary(p);
}

static int parse_level(struct parser *p, size_t level)
{
    if (level == LEVEL_COMPARE && p->logic && accept(p, "not")) {
        if (++p->depth > DEPTH_MAX) {
            struct token token = reader_peek(p->r);
            return fail(p, &token, "too many parentheses and signs");
        }
        int of = parse_level(p, level);
        p->depth--;
        return p->status ? 0 : add(p, (struct expr_node){.op = EXPR_NOT, .left = of});
    }
    int left = parse_operand(p, level);
    if (levels[level].logic && !p->logic) return left;
    for (bool found = true; found && !p->status;) {
        found = false;
        for (size_t i = 0; i < 6 && levels[level].of[i].text && !found; i++) {
            if (!accept(p, levels[level].of[i].text)) continue;
            found = true;
            int right = parse_operand(p, level);
            if (p->status) return 0;
            left = add(
                p, (struct expr_node){.op = levels[level].of[i].op, .left = left, .right = right});
        }
    }
    return left;
}

static int parse_or(struct parser *p)
{
    return parse_level(p, 0);
}

/* Two names side by side: most often an underscore was lost (ERR-17). */
static int missing_operator(struct parser *p, const char *before, const struct token *token)
{
    size_t length = 0;
    while (before > p->r->text && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    while (before - length > p->r->text && !strchr(" \t()+-*=", before[-(ptrdiff_t)length - 1]))
        length++;
    const char *first = before - length;
    return reader_error(
        p->r, token->at, p->err,
        "an operator is missing between '%.*s' and '%.*s'; did you mean '%.*s_%.*s'?",
        (int)(length < 60 ? length : 60), first, (int)(token->length < 60 ? token->length : 60),
        token->at, (int)(length < 60 ? length : 60), first,
        (int)(token->length < 60 ? token->length : 60), token->at);
}

static bool ends(const struct token *token)
{
    return token->kind == TOKEN_END || token_is(token, "unit") || token_is(token, "text") ||
           token_is(token, "of") || token_is(token, "because");
}

int expr_parse(struct expr *e, struct reader *r, bool logic, expr_symbol symbol, void *context,
               struct chil_error *err)
{
    struct parser p = {
        .e = e, .r = r, .logic = logic, .symbol = symbol, .context = context, .err = err};
    *e = (struct expr){0};
    (void)parse_or(&p);
    struct token token = reader_peek(r);
    if (!p.status && token.kind == TOKEN_NAME && !ends(&token))
        p.status = missing_operator(&p, r->at, &token);
    if (!p.status && !ends(&token)) (void)fail(&p, &token, "not part of an expression");
    if (p.status) expr_fini(e);
    return p.status;
}

void expr_fini(struct expr *e)
{
    free(e->node);
    *e = (struct expr){0};
}

/* --- Sums ------------------------------------------------------------------------------------ */

/* What a node adds, times `factor`; a constant is left in *number. Parts are visited from the root
 * down: a node is part of one other, so each has one factor. */
bool expr_terms(const struct expr *e, struct arena *arena, struct terms *terms)
{
    double *factor = base_calloc(e->nodes, sizeof *factor),
           *number = base_calloc(e->nodes, sizeof *number);
    bool *constant = base_calloc(e->nodes, sizeof *constant);
    bool good = true;
    terms->term = arena_calloc(arena, e->nodes, sizeof *terms->term);
    terms->count = 0;
    for (size_t i = 0; i < e->nodes; i++) { /* which parts are numbers, upwards */
        const struct expr_node *n = &e->node[i];
        double a = number[n->left], b = number[n->right];
        bool both = constant[n->left] && constant[n->right];
        switch (n->op) {
        case EXPR_NUMBER: constant[i] = true, number[i] = n->number; break;
        case EXPR_NEGATE: constant[i] = constant[n->left], number[i] = -a; break;
        case EXPR_ADD: constant[i] = both, number[i] = a + b; break;
        case EXPR_SUBTRACT: constant[i] = both, number[i] = a - b; break;
        case EXPR_MULTIPLY: constant[i] = both, number[i] = a * b; break;
        case EXPR_DIVIDE: constant[i] = both && b != 0, number[i] = b != 0 ? a / b : 0; break;
        default: break;
        }
    }
    if (e->nodes) factor[e->nodes - 1] = 1;
    for (size_t i = e->nodes; i-- > 0 && good;) { /* what each part is multiplied with, downwards */
        const struct expr_node *n = &e->node[i];
        if (factor[i] == 0) continue;
        if (constant[i]) {
            good = number[i] == 0; /* a sum of counts has no number by itself, but nothing is 0 */
            continue;
        }
        switch (n->op) {
        case EXPR_NAME: {
            size_t at = 0;
            while (at < terms->count && terms->term[at].symbol != n->symbol)
                at++;
            if (at == terms->count) terms->term[terms->count++].symbol = n->symbol;
            terms->term[at].factor += factor[i];
            break;
        }
        case EXPR_NEGATE: factor[n->left] = -factor[i]; break;
        case EXPR_ADD: factor[n->left] = factor[n->right] = factor[i]; break;
        case EXPR_SUBTRACT:
            factor[n->left] = factor[i];
            factor[n->right] = -factor[i];
            break;
        case EXPR_MULTIPLY:
            good = constant[n->left] || constant[n->right];
            if (good) {
                int part = constant[n->left] ? n->right : n->left;
                factor[part] = factor[i] * number[constant[n->left] ? n->left : n->right];
            }
            break;
        case EXPR_DIVIDE:
            good = constant[n->right] && number[n->right] != 0;
            if (good) factor[n->left] = factor[i] / number[n->right];
            break;
        default: good = false;
        }
    }
    /* From the root downwards names came last to first. */
    for (size_t i = 0; i < terms->count / 2; i++) {
        struct term other = terms->term[i];
        terms->term[i] = terms->term[terms->count - 1 - i];
        terms->term[terms->count - 1 - i] = other;
    }
    free(factor);
    free(number);
    free(constant);
    return good;
}

/* --- Values ---------------------------------------------------------------------------------- */

static double divide(double a, double b, size_t node, struct expr_scope *scope)
{
    if (scope->denominator) scope->denominator[node] = b;
    if (b == 0 || !isfinite(b)) {
        scope->undefined = true;
        return 0;
    }
    if (scope->whole && fabs(b) * 1000 < fabs(scope->whole[node])) scope->small = true;
    return a / b;
}

double expr_value(const struct expr *e, struct expr_scope *scope)
{
    double some[32], *value = e->nodes <= 32 ? some : base_calloc(e->nodes, sizeof *value);
    scope->undefined = scope->small = false;
    for (size_t i = 0; i < e->nodes; i++) {
        const struct expr_node *n = &e->node[i];
        double a = i ? value[n->left] : 0, b = i ? value[n->right] : 0;
        switch (n->op) {
        case EXPR_NUMBER: value[i] = n->number; break;
        case EXPR_NAME: value[i] = scope->value(scope->context, n->symbol); break;
        case EXPR_SECONDS:
            value[i] = divide(scope->value(scope->context, n->symbol), scope->clock, i, scope);
            break;
        case EXPR_NEGATE: value[i] = -a; break;
        case EXPR_NOT: value[i] = a == 0; break;
        case EXPR_ADD: value[i] = a + b; break;
        case EXPR_SUBTRACT: value[i] = a - b; break;
        case EXPR_MULTIPLY: value[i] = a * b; break;
        case EXPR_DIVIDE: value[i] = divide(a, b, i, scope); break;
        case EXPR_LESS: value[i] = a < b; break;
        case EXPR_LESS_EQUAL: value[i] = a <= b; break;
        case EXPR_MORE: value[i] = a > b; break;
        case EXPR_MORE_EQUAL: value[i] = a >= b; break;
        case EXPR_EQUAL: value[i] = a == b; break;
        case EXPR_UNEQUAL: value[i] = a != b; break;
        case EXPR_AND: value[i] = a != 0 && b != 0; break;
        case EXPR_OR: value[i] = a != 0 || b != 0; break;
        }
    }
    double result = e->nodes ? value[e->nodes - 1] : 0;
    if (value != some) free(value);
    if (!isfinite(result)) scope->undefined = true;
    return result;
}
