/* Parses formulas of composed and computed metrics for a merge: sums and differences of names.
 *
 * Names are separated by blanks, so that HT_I/O_XFER is one name. Formulas with products,
 * quotients, numbers or parentheses are not parsed: exp_formula_terms returns -1.
 */
#include "analyze/exp/exp_align.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int exp_formula_terms(const struct chil_exp *exp, const char *formula, struct exp_term **terms)
{
    char *copy = base_strdup(formula), *rest = copy;
    size_t count = 0, room = 0;
    int sign = 1; /* 0: an operator is wanted next */
    bool good = true;
    *terms = NULL;
    for (char *word; good && (word = strsep(&rest, " \t\r\n"));) {
        if (!*word) continue;
        bool minus = strcmp(word, "-") == 0, is_operator = minus || strcmp(word, "+") == 0;
        if (is_operator) {
            good = sign == 0 || count == 0;
            sign = minus ? -1 : 1;
        } else {
            good = sign != 0 && !strpbrk(word, "*()") && strcmp(word, "/") != 0 &&
                   (*word < '0' || *word > '9');
            *terms = base_grow(*terms, &room, count + 1, sizeof **terms);
            (*terms)[count++] = (struct exp_term){sign, chil_exp_find_metric(exp, word)};
            sign = 0;
        }
    }
    free(copy);
    if (good && count && sign == 0) return (int)count;
    free(*terms);
    *terms = NULL;
    return -1;
}
