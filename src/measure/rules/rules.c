/* Binds rules to the names of a program, and frees them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/rules/rules_impl.h"

/* The predicate's own column becomes one of the file. */
static int bind(const struct chil_rules *rules, struct rules_piece *piece,
                const struct chil_hist_names *names, struct chil_error *err)
{
    struct chil_error own = {0};
    unsigned column = 1;
    int status = chil_where_new(&piece->where, piece->text, names, &own);
    if (!status) return 0;
    const char *what = strstr(own.text, ": ");
    (void)sscanf(own.text, "predicate, column %u", &column); // NOLINT(cert-err34-c)
    return chil_error_set(err, status, "%s:%u:%u: %s", rules->name, piece->line,
                          piece->column + column - 1, what ? what + 2 : own.text);
}

int chil_rules_bind(struct chil_rules *rules, const struct chil_hist_names *names,
                    struct chil_error *err)
{
    uint32_t nodes = names->nodes ? names->nodes : 1;
    if (rules->most_node >= nodes)
        return chil_error_set(err, CHIL_EPARSE, "%s:%u:%u: there is no node %u; the run has %u",
                              rules->name, rules->most_node_line, rules->most_node_column,
                              rules->most_node, nodes);
    for (size_t i = 0; i < rules->bin_count; i++)
        for (unsigned k = 0; k < rules->bins[i].piece_count; k++) {
            int status = bind(rules, &rules->bins[i].pieces[k], names, err);
            if (status) return status;
        }
    for (size_t i = 0; i < rules->function_count; i++) {
        const struct rules_function *f = &rules->functions[i];
        if (!names->functions || !chil_ranges_find(names->functions, f->name))
            return chil_error_set(err, CHIL_EPARSE, "%s:%u:%u: there is no function '%.100s'",
                                  rules->name, f->line, f->column, f->name);
    }
    return 0;
}

void rules_free_bin(struct rules_bin *bin)
{
    for (unsigned i = 0; i < bin->piece_count; i++) {
        free(bin->pieces[i].text);
        chil_where_free(bin->pieces[i].where);
    }
}

void chil_rules_free(struct chil_rules *rules)
{
    if (!rules) return;
    for (size_t i = 0; i < rules->bin_count; i++)
        rules_free_bin(&rules->bins[i]);
    for (size_t i = 0; i < rules->count; i++)
        free((void *)rules->assertions[i].text);
    for (size_t i = 0; i < rules->let_count; i++)
        free(rules->lets[i].name);
    for (size_t i = 0; i < rules->place_count; i++) {
        free((void *)rules->places[i].text);
        free((void *)rules->places[i].from);
    }
    for (size_t i = 0; i < rules->function_count; i++)
        free(rules->functions[i].name);
    free(rules->functions);
    free(rules->lets);
    free(rules->places);
    free(rules->bins);
    free(rules->rules);
    free(rules->assertions);
    free(rules->name);
    free(rules);
}
