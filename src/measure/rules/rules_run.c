/* Checks rules in a run: counts accesses and transactions in bins, and compares counts. */
#include <string.h>

#include "chiliad/experiment.h"
#include "measure/rules/rules_impl.h"

const char *rules_relation_text(enum rules_relation relation)
{
    static const char *const texts[] = {"==", "!=", "<", "<=", ">", ">="};
    return texts[relation];
}

/* "core.l1d.miss.load", "core2.l1i.miss": whose misses, and which. */
static bool signal_kinds(const char *signal, uint32_t *kinds, int *core)
{
    static const struct {
        const char *name;
        uint32_t kinds;
    } signals[] = {{".l1d.miss.load", 1U << CHIL_LOAD_MISS},
                   {".l1d.miss.store", 1U << CHIL_STORE_MISS},
                   {".l1d.miss", 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS},
                   {".l1i.miss", 1U << CHIL_FETCH_MISS}};
    if (strncmp(signal, "core", 4) != 0) return false;
    size_t digits = strspn(signal + 4, "0123456789");
    *core = -1;
    for (size_t i = 0; i < digits && i < 3; i++)
        *core = (*core < 0 ? 0 : *core * 10) + (signal[4 + i] - '0');
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (strcmp(signal + 4 + digits, signals[i].name) != 0) continue;
        *kinds = signals[i].kinds;
        return true;
    }
    return false;
}

bool rules_event_bin(const struct chil_event *event, struct rules_bin *bin)
{
    *bin = (struct rules_bin){0};
    if (event->mode != CHIL_COUNT_RISE || !event->signal_count) return false;
    for (size_t i = 0; i < event->signal_count; i++) {
        uint32_t kinds;
        int core;
        if (!signal_kinds(event->signals[i], &kinds, &core) || (i && core != bin->core) ||
            kinds & bin->kinds)
            return false;
        bin->kinds |= kinds;
        bin->core = core;
    }
    return true;
}

/* --- Notifications --------------------------------------------------------------------------- */

bool chil_rules_want_accesses(const struct chil_rules *rules)
{
    for (size_t i = 0; i < rules->bin_count; i++)
        if (rules->bins[i].access) return true;
    return false;
}

uint32_t chil_rules_want_transactions(const struct chil_rules *rules)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < rules->bin_count; i++)
        if (!rules->bins[i].access) kinds |= rules->bins[i].kinds;
    return kinds;
}

static bool holds(const struct rules_bin *bin, const struct chil_transaction *t)
{
    if (!(bin->kinds >> t->kind & 1) || (bin->core >= 0 && t->core != bin->core)) return false;
    for (unsigned i = 0; i < bin->piece_count; i++)
        if (!chil_where_holds(bin->pieces[i].where, t)) return false;
    return true;
}

static bool overflow(struct chil_rules *rules, const struct rules_bin *bin,
                     const struct chil_transaction *t)
{
    struct chil_assertion *a = &rules->assertions[bin->assertion];
    if (a->broken) return false;
    a->broken = a->has_first = true;
    a->access = bin->access;
    a->first = *t;
    a->cycle = t->start;
    return true;
}

static bool check(struct chil_rules *rules, const struct chil_transaction *t, bool access)
{
    bool broken = false;
    for (size_t i = 0; i < rules->bin_count; i++) {
        struct rules_bin *bin = &rules->bins[i];
        if (bin->access != access || !holds(bin, t)) continue;
        if (++bin->word == 0 && bin->armed) broken |= overflow(rules, bin, t);
    }
    return broken;
}

bool chil_rules_access(struct chil_rules *rules, const struct chil_transaction *access)
{
    return check(rules, access, true);
}

bool chil_rules_transaction(struct chil_rules *rules, const struct chil_transaction *transaction)
{
    return check(rules, transaction, false);
}

/* --- Comparing ------------------------------------------------------------------------------- */

/* A recorded function may have several nodes, and an event that never counted is no metric. */
static long double count_in(const struct chil_exp *exp, const struct rules_step *step)
{
    long double sum = 0;
    int metric = chil_exp_find_metric(exp, step->event->name);
    for (size_t i = 0; metric >= 0 && i < exp->nodes; i++)
        if (strcmp(exp->region[exp->node[i].region].name, step->function) == 0)
            sum += (long double)chil_exp_sum_count(exp, metric, (int)i, false, -1);
    return sum;
}

bool chil_rules_want_paths(const struct chil_rules *rules)
{
    return rules->function_count > 0;
}

void chil_rules_set_paths(struct chil_rules *rules, const struct chil_exp *exp)
{
    rules->exp = exp;
}

/* The first of the nodes with the least or the most. */
static unsigned extreme(const struct rules_step *s, const struct chil_run *run)
{
    unsigned best = 0;
    uint64_t found = chil_run_node_count(run, 0, s->event);
    for (unsigned i = 1; i < chil_run_nodes(run); i++) {
        uint64_t count = chil_run_node_count(run, i, s->event);
        if (s->over == RULES_LEAST ? count >= found : count <= found) continue;
        found = count;
        best = i;
    }
    return best;
}

static long double event_value(const struct rules_step *s, const struct chil_run *run)
{
    switch (s->over) {
    case RULES_LEAST:
    case RULES_MOST: return (long double)chil_run_node_count(run, extreme(s, run), s->event);
    case RULES_NODE: return (long double)chil_run_node_count(run, s->node, s->event);
    case RULES_MEAN: return (long double)chil_run_count(run, s->event) / chil_run_nodes(run);
    case RULES_SUM: break;
    }
    return (long double)chil_run_count(run, s->event);
}

int rules_node(const struct rules_expression *e, const struct chil_run *run)
{
    for (unsigned i = 0; i < e->count; i++) {
        const struct rules_step *s = &e->steps[i];
        if (s->operation != RULES_EVENT) continue;
        if (s->over == RULES_NODE) return (int)s->node;
        if (s->over == RULES_LEAST || s->over == RULES_MOST) return (int)extreme(s, run);
    }
    return -1;
}

/* long double holds every count exactly. What is divided by 0 is 0: nothing has happened yet. */
long double rules_value(const struct chil_rules *rules, const struct rules_expression *e,
                        const struct chil_run *run)
{
    long double stack[RULES_STEPS] = {0};
    unsigned top = 0;
    for (unsigned i = 0; i < e->count; i++) {
        const struct rules_step *s = &e->steps[i];
        const struct rules_bin *bin = s->operation == RULES_COUNT ? &rules->bins[s->bin] : NULL;
        switch (s->operation) {
        case RULES_NUMBER: stack[top++] = s->number; break;
        case RULES_IN: stack[top++] = rules->exp ? count_in(rules->exp, s) : 0; break;
        case RULES_EVENT: stack[top++] = run ? event_value(s, run) : 0; break;
        case RULES_COUNT: stack[top++] = (long double)(bin->word - bin->preset); break;
        case RULES_ADD: top--, stack[top - 1] += stack[top]; break;
        case RULES_SUBTRACT: top--, stack[top - 1] -= stack[top]; break;
        case RULES_MULTIPLY: top--, stack[top - 1] *= stack[top]; break;
        case RULES_DIVIDE:
            top--, stack[top - 1] = stack[top] == 0 ? 0 : stack[top - 1] / stack[top];
            break;
        }
    }
    return stack[0];
}

static bool compare(enum rules_relation relation, long double a, long double b)
{
    switch (relation) {
    case RULES_EQUAL: return a == b;
    case RULES_UNEQUAL: return a != b;
    case RULES_BELOW: return a < b;
    case RULES_AT_MOST: return a <= b;
    case RULES_ABOVE: return a > b;
    default: return a >= b;
    }
}

bool chil_rules_look(struct chil_rules *rules, const struct chil_run *run, bool end)
{
    bool broken = false;
    for (size_t i = 0; i < rules->count; i++) {
        const struct rules_rule *rule = &rules->rules[i];
        struct chil_assertion *a = &rules->assertions[i];
        if (!end && (!rule->early || rule->late || a->broken)) continue;
        long double left = rules_value(rules, &rule->left, run),
                    right = rules_value(rules, &rule->right, run);
        bool now = !compare(rule->relation, left, right);
        if (!(a->broken && rule->always)) {
            a->left = left;
            a->right = right;
            a->node = rules_node(&rule->left, run);
            if (a->node < 0) a->node = rules_node(&rule->right, run);
        }
        if (!now || a->broken) continue;
        a->broken = broken = true;
        a->cycle = chil_run_cycles(run);
    }
    return broken;
}

const struct chil_assertion *chil_rules_assertions(const struct chil_rules *rules, size_t *count)
{
    *count = rules->count;
    return rules->assertions;
}

const struct chil_rules_place *chil_rules_places(const struct chil_rules *rules, size_t *count)
{
    *count = rules->place_count;
    return rules->places;
}

const char *chil_rules_name(const struct chil_rules *rules)
{
    return rules->name;
}
