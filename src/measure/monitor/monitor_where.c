/* Predicates over transactions: "tag=ro & (sender!=0 | latency>100)".
 *
 * & binds closer than |; ! and parentheses as usual. What is read becomes steps of a small stack
 * machine whose stack is the bits of a number, so nesting is limited to DEPTH.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/monitor/monitor_impl.h"

enum { STEPS_MAX = 256, DEPTH = 24 };

enum operation { EQUAL, UNEQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST, NOT, AND, OR };

struct step {
    uint8_t operation, variable;
    uint64_t value;
};

struct chil_where {
    struct chil_hist_names names;
    struct step steps[STEPS_MAX];
    unsigned count;
};

struct reader {
    struct monitor_text text;
    struct chil_where *where;
    unsigned depth;
};

static int add(struct reader *r, enum operation operation, enum chil_variable variable,
               uint64_t value)
{
    if (r->where->count == STEPS_MAX)
        return monitor_complain(&r->text, r->text.at, "more than %d comparisons and signs",
                                STEPS_MAX);
    r->where->steps[r->where->count++] =
        (struct step){(uint8_t)operation, (uint8_t)variable, value};
    return 0;
}

static int take_operator(struct reader *r, enum operation *operation)
{
    static const struct {
        const char *text;
        enum operation operation;
    } operators[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST},
                     {"=", EQUAL},  {"<", BELOW},    {">", ABOVE}};
    monitor_skip(&r->text);
    for (unsigned i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t length = strlen(operators[i].text);
        if (strncmp(r->text.at, operators[i].text, length) != 0) continue;
        r->text.at += length;
        *operation = operators[i].operation;
        return 0;
    }
    return monitor_complain(&r->text, r->text.at, "a comparison is wanted here: = != < <= > >=");
}

static int take_comparison(struct reader *r)
{
    enum chil_variable variable;
    enum operation operation = EQUAL;
    uint64_t value;
    char hint[80];
    int status = monitor_take_variable(&r->text, &variable);
    if (!status) status = take_operator(r, &operation);
    if (status) return status;
    monitor_skip(&r->text);
    const char *at = r->text.at;
    if (!monitor_has_words(r->text.names, variable)) {
        status = monitor_take_number(&r->text, UINT64_MAX, "a value", &value);
        return status ? status : add(r, operation, variable, value);
    }
    char quote = *at;
    if (quote != '"' && quote != '\'') quote = 0;
    const char *name = quote ? at + 1 : at, *end = quote ? strchr(name, quote) : NULL;
    size_t length = end ? (size_t)(end - name) : monitor_word_length(name);
    if (quote && !end)
        return monitor_complain(&r->text, at, "the name has no end; %c is wanted behind it", quote);
    if (!length) return monitor_complain(&r->text, at, "a name is wanted here");
    if (operation > UNEQUAL)
        return monitor_complain(
            &r->text, at, "values of '%s' are names: only = and !=", chil_variable_name(variable));
    bool known =
        monitor_word_find(r->text.names, variable, name, length, &value, hint, sizeof hint);
    if (!known && !monitor_word_may_come(r->text.names, variable, quote))
        return monitor_complain(&r->text, at, "there is no %s '%.*s'%s",
                                chil_variable_name(variable), length < 60 ? (int)length : 60, name,
                                hint);
    if (!known) value = monitor_word_add(r->text.names, variable, name, length);
    r->text.at = name + length + (quote ? 1 : 0);
    return add(r, operation, variable, value);
}

static int take_either(struct reader *r);

static int take_one(struct reader *r)
{
    int status;
    monitor_skip(&r->text);
    if (*r->text.at != '!' && *r->text.at != '(') return take_comparison(r);
    bool is_not = *r->text.at == '!';
    const char *at = r->text.at++;
    if (++r->depth > DEPTH)
        return monitor_complain(&r->text, at, "nested more than %d deep", DEPTH);
    if (is_not) {
        status = take_one(r);
        if (!status) status = add(r, NOT, CHIL_VAR_LATENCY, 0);
    } else {
        status = take_either(r);
        monitor_skip(&r->text);
        if (!status && *r->text.at != ')')
            return monitor_complain(&r->text, r->text.at, "')' is wanted here");
        if (!status) r->text.at++;
    }
    r->depth--;
    return status;
}

static int take_all(struct reader *r)
{
    int status = take_one(r);
    for (monitor_skip(&r->text); !status && *r->text.at == '&'; monitor_skip(&r->text)) {
        r->text.at += r->text.at[1] == '&' ? 2 : 1;
        status = take_one(r);
        if (!status) status = add(r, AND, CHIL_VAR_LATENCY, 0);
    }
    return status;
}

static int take_either(struct reader *r)
{
    int status = take_all(r);
    for (monitor_skip(&r->text); !status && *r->text.at == '|'; monitor_skip(&r->text)) {
        r->text.at += r->text.at[1] == '|' ? 2 : 1;
        status = take_all(r);
        if (!status) status = add(r, OR, CHIL_VAR_LATENCY, 0);
    }
    return status;
}

int chil_where_new(struct chil_where **where, const char *text, const struct chil_hist_names *names,
                   struct chil_error *err)
{
    static const struct chil_hist_names none;
    struct chil_where *w = base_calloc(1, sizeof *w);
    w->names = names ? *names : none;
    struct reader r = {.text = {"predicate", text, text, &w->names, err}, .where = w};
    int status = take_either(&r);
    if (!status && *r.text.at)
        status = monitor_complain(&r.text, r.text.at, "'&', '|' or the end is wanted here");
    if (status)
        free(w);
    else
        *where = w;
    return status;
}

void chil_where_free(struct chil_where *where)
{
    free(where);
}

bool chil_where_uses(const struct chil_where *where, enum chil_variable variable)
{
    for (unsigned i = 0; i < where->count; i++)
        if (where->steps[i].operation < NOT && where->steps[i].variable == variable) return true;
    return false;
}

static bool compare(enum operation operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case EQUAL: return a == b;
    case UNEQUAL: return a != b;
    case BELOW: return a < b;
    case AT_MOST: return a <= b;
    case ABOVE: return a > b;
    default: return a >= b;
    }
}

bool chil_where_holds(const struct chil_where *where, const struct chil_transaction *t)
{
    uint64_t stack = 0; /* the last result is the lowest bit */
    for (unsigned i = 0; i < where->count; i++) {
        const struct step *step = &where->steps[i];
        enum operation operation = (enum operation)step->operation;
        if (operation == NOT)
            stack ^= 1;
        else if (operation == AND)
            stack = stack >> 1 & (stack | ~UINT64_C(1));
        else if (operation == OR)
            stack = stack >> 1 | (stack & 1);
        else
            stack = stack << 1 |
                    compare(operation,
                            monitor_value(&where->names, (enum chil_variable)step->variable, t),
                            step->value);
    }
    return stack & 1;
}
