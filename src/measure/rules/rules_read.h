/* Inside the reader of rules: where it is, and what a line is made of. */
#ifndef RULES_READ_H
#define RULES_READ_H

#include "measure/rules/rules_impl.h"

struct rules_reader {
    struct chil_rules *rules;
    struct text_file file;
    const char *start, *at; /* of the line, and in it */
    unsigned depth;
    struct chil_error *err;
};

/* "FILE:LINE:COLUMN: ...": `at` is where in the line. Returns CHIL_EPARSE. */
int rules_complain(const struct rules_reader *r, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
unsigned rules_column(const struct rules_reader *r, const char *at);
void rules_skip(struct rules_reader *r);              /* blanks */
bool rules_take(struct rules_reader *r, char letter); /* this one, behind blanks */
size_t rules_word_length(const char *at);
bool rules_take_word(struct rules_reader *r, const char *word); /* if it is this one */
char *rules_copy(const char *from, size_t length);

/* "miss, tag=ro, kind=store, in=solve" up to the closing parenthesis, which is left. */
int rules_take_conditions(struct rules_reader *r, struct rules_bin *bin);
int rules_add_function(const struct rules_reader *r, struct rules_bin *bin, const char *at,
                       const char *name, size_t length);
size_t rules_piece_length(const char *at); /* of a condition */
size_t rules_in_length(const char *at);    /* of "in =" with blanks; 0: it is not there */
/* Takes the bin's pieces, also when there is no room. */
int rules_add_bin(const struct rules_reader *r, const char *at, struct rules_bin *bin,
                  size_t *index);

int rules_add_step(const struct rules_reader *r, const char *at, struct rules_expression *e,
                   struct rules_step step);
const struct rules_let *rules_find_let(const struct chil_rules *rules, const char *at,
                                       size_t length);
int rules_take_sum(struct rules_reader *r, struct rules_expression *e);
int rules_take_relation(struct rules_reader *r, enum rules_relation *relation);

#endif
