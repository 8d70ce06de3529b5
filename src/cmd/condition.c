/* Reads and evaluates a condition in one go, by recursive descent. Totals are long doubles, which
 * hold every count. */
#include "cmd/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 200, DEPTH_MAX = 100 };

struct condition {
    const char *text, *at;
    const struct chil_exp *exp[2]; /* A and B */
    struct chil_error *why;
    int status, depth;
};

static long double sum(struct condition *c);

static long double bad(struct condition *c, const char *what)
{
    if (!c->status)
        c->status =
            chil_error_set(c->why, CHIL_EPARSE, "in '%s', at '%.20s': %s", c->text, c->at, what);
    return 0;
}

static bool takes(struct condition *c, const char *token)
{
    while (isspace((unsigned char)*c->at))
        c->at++;
    size_t length = strlen(token);
    if (strncmp(c->at, token, length) != 0) return false;
    if (isalpha((unsigned char)token[length - 1]) &&
        /* a word ends where no letter follows */ (isalnum((unsigned char)c->at[length]) ||
                                                   c->at[length] == '_'))
        return false;
    c->at += length;
    return true;
}

/* A metric's name: letters, digits, '_', ':' and '$', or anything in double quotes. */
static bool name(struct condition *c, char out[NAME])
{
    size_t length = 0;
    bool quoted = takes(c, "\"");
    while (*c->at && length + 1 < NAME &&
           (quoted ? *c->at != '"' : isalnum((unsigned char)*c->at) || strchr("_:$", *c->at)))
        out[length++] = *c->at++;
    out[length] = 0;
    if (quoted && *c->at++ != '"') {
        c->at--;
        return false;
    }
    return length > 0;
}

static long double total(struct condition *c, int which, const char *metric)
{
    const struct chil_exp *exp = c->exp[which];
    int found = chil_exp_find_metric(exp, metric);
    if (found < 0) {
        if (!c->status)
            c->status = chil_error_set(c->why, CHIL_ENOENT, "in '%s': %s has no metric '%s'",
                                       c->text, which ? "B" : "A", metric);
        return 0;
    }
    if (exp->metric[found].kind == CHIL_EXP_COUNT)
        return chil_exp_sum_count(exp, found, -1, false, -1);
    return chil_exp_sum(exp, found, -1, false, -1);
}

/* delta(NAME): the change relative to A. */
static long double delta(struct condition *c)
{
    char metric[NAME];
    if (!name(c, metric) || !takes(c, ")")) return bad(c, "wanted delta(METRIC)");
    long double a = total(c, 0, metric), b = total(c, 1, metric);
    if (a == b) return 0;
    return (b - a) / fabsl(a);
}

static long double value(struct condition *c)
{
    char metric[NAME];
    if (++c->depth > DEPTH_MAX) return bad(c, "too many parentheses or signs");
    long double result = 0;
    if (takes(c, "-")) {
        result = -value(c);
    } else if (takes(c, "(")) {
        result = sum(c);
        if (!takes(c, ")")) (void)bad(c, "wanted ')'");
    } else if (takes(c, "delta(")) {
        result = delta(c);
    } else if (isdigit((unsigned char)*c->at) || *c->at == '.') {
        char *end;
        result = strtold(c->at, &end);
        c->at = end;
        if (takes(c, "%")) result /= 100;
    } else {
        int which = takes(c, "A.") ? 0 : 1;
        if (which) (void)takes(c, "B.");
        result =
            name(c, metric) ? total(c, which, metric) : bad(c, "wanted a number, a metric or '('");
    }
    c->depth--;
    return result;
}

static long double product(struct condition *c)
{
    long double result = value(c);
    while (!c->status) {
        if (takes(c, "*"))
            result *= value(c);
        else if (takes(c, "/"))
            result /= value(c);
        else
            break;
    }
    return result;
}

static long double sum(struct condition *c)
{
    long double result = product(c);
    while (!c->status) {
        if (takes(c, "+"))
            result += product(c);
        else if (takes(c, "-"))
            result -= product(c);
        else
            break;
    }
    return result;
}

static bool comparison(struct condition *c)
{
    static const char *const operators[] = {">=", "<=", "==", "!=", ">", "<"};
    long double left = sum(c);
    size_t i = 0;
    while (i < 6 && !takes(c, operators[i]))
        i++;
    if (i == 6) return bad(c, "wanted a comparison: > >= < <= == !=") != 0;
    long double right = sum(c);
    switch (i) {
    case 0: return left >= right;
    case 1: return left <= right;
    case 2: return left == right;
    case 3: return left != right;
    case 4: return left > right;
    default: return left < right;
    }
}

static bool all_of(struct condition *c)
{
    bool holds = comparison(c);
    while (!c->status && takes(c, "and"))
        holds = comparison(c) && holds;
    return holds;
}

int condition_holds(const char *text, const struct chil_exp *a, const struct chil_exp *b,
                    bool *holds, struct chil_error *why)
{
    struct condition c = {.text = text, .at = text, .exp = {a, b}, .why = why};
    *holds = all_of(&c);
    while (!c.status && takes(&c, "or"))
        *holds = all_of(&c) || *holds;
    if (!c.status && (takes(&c, " ") || *c.at)) (void)bad(&c, "wanted 'and', 'or' or the end");
    return c.status;
}
