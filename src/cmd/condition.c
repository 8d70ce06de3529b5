/* Parses and evaluates conditions of `chiliad diff --fail-if` in one pass, by recursive descent.
 *
 *     $ chiliad diff --fail-if 'CYCLES > 1.05 * A.CYCLES' main.cubex branch.cubex
 *     chiliad diff: it holds that CYCLES > 1.05 * A.CYCLES
 *
 * Totals are long doubles, which hold every count. */
#include "cmd/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 200, DEPTH_MAX = 100 };

struct condition {
    const char *text, *at;
    const struct condition_side *side; /* A and B */
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

static long double total_of(const struct chil_exp *exp, int metric)
{
    if (exp->metric[metric].kind == CHIL_EXP_COUNT)
        return chil_exp_sum_count(exp, metric, -1, false, -1);
    return chil_exp_sum(exp, metric, -1, false, -1);
}

static bool is_ratio(const struct condition_side *side, const char *name)
{
    size_t count;
    const struct chil_spec_item *item = chil_spec_items(side->spec, &count);
    for (size_t i = 0; i < count; i++)
        if (item[i].kind == CHIL_SPEC_RATIO && strcmp(item[i].name, name) == 0) return true;
    return false;
}

static bool has_metric(const struct condition_side *side, const char *metric)
{
    return chil_exp_find_metric(side->input, metric) >= 0 ||
           chil_metric_find(side->derived, metric) >= 0;
}

/* Whether an event is 0: everything was counted, and files leave out what never happened. */
static bool is_zero(const struct condition *c, int which, const char *metric)
{
    const char *counted = chil_exp_attribute(c->side[which].input, "counted");
    return counted && strcmp(counted, "all") == 0 && has_metric(&c->side[!which], metric);
}

static long double ratio(struct condition *c, int which, const char *name)
{
    const struct condition_side *side = &c->side[which];
    struct chil_ratio_value value = {0};
    int status = chil_ratio(side->derived, side->spec, name, -1, false, -1, &value, c->why);
    if (!status && !value.defined)
        status = chil_error_set(c->why, CHIL_EINVAL, "in '%s': '%s' has no value in %s", c->text,
                                name, which ? "B" : "A");
    if (!c->status) c->status = status;
    return value.value;
}

static long double total(struct condition *c, int which, const char *metric)
{
    const struct condition_side *side = &c->side[which];
    int found = chil_exp_find_metric(side->input, metric);
    if (found >= 0) return total_of(side->input, found);
    found = chil_metric_find(side->derived, metric);
    if (found >= 0) return total_of(side->derived, found);
    if (is_ratio(side, metric)) return ratio(c, which, metric);
    if (!is_zero(c, which, metric) && !c->status)
        c->status = chil_error_set(c->why, CHIL_ENOENT, "in '%s': %s has no metric '%s'", c->text,
                                   which ? "B" : "A", metric);
    return 0;
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

int condition_holds(const char *text, const struct condition_side side[2], bool *holds,
                    struct chil_error *why)
{
    struct condition c = {.text = text, .at = text, .side = side, .why = why};
    *holds = all_of(&c);
    while (!c.status && takes(&c, "or"))
        *holds = all_of(&c) || *holds;
    if (!c.status && (takes(&c, " ") || *c.at)) (void)bad(&c, "wanted 'and', 'or' or the end");
    return c.status;
}
