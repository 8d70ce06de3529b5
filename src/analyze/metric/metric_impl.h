/* Internals of src/analyze/metric: statements and tokens of a text, expressions, specifications,
 * trees, platforms.
 *
 * Terms: docs/glossary.md
 */
#ifndef METRIC_IMPL_H
#define METRIC_IMPL_H

#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "chiliad/metric.h"

enum { METRIC_NONE = -1, METRIC_NAME_MAX = 200, METRIC_PATH_MAX = 4096 };

/* --- Text: statements that may go over several lines ----------------------------------------- */

/* A statement begins with a keyword. A line that begins with a blank or an operator, and the line
 * after one that ends with an operator or '=', continue it. '#' starts a comment anywhere. */
struct reader {
    struct text_file file;
    bool (*is_keyword)(const char *word, size_t length);
    char *text; /* the statement, one line */
    size_t capacity;
    struct reader_piece { /* where its lines begin */
        size_t offset;
        unsigned line;
    } * piece;
    size_t pieces, piece_capacity;
    char *held; /* the line that begins the next one, or NULL */
    unsigned held_line;
    const char *at; /* where the next token is looked for */
};

void reader_init(struct reader *r,
                 bool (*is_keyword)(const char *word, size_t length)); /* file is the caller's */
void reader_fini(struct reader *r);
bool reader_next(struct reader *r); /* false at the end */
/* FILE:LINE of a place in the statement: what is wrong. Returns CHIL_EPARSE. */
int reader_error(const struct reader *r, const char *at, struct chil_error *err, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
unsigned reader_line(const struct reader *r, const char *at);

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_OPERATOR, TOKEN_BAD };
struct token {
    enum token_kind kind;
    const char *at;
    size_t length;
    double number;
};
struct token reader_token(struct reader *r);
struct token reader_peek(const struct reader *r);
bool token_is(const struct token *token, const char *text);
/* What follows as it is, to the end or, with `word`, to the next blank; a text in quotes without
 * them. */
char *reader_raw(struct reader *r, struct arena *arena, bool word);
/* From `at` up to the next token, outer blanks cut off. */
char *reader_since(const struct reader *r, struct arena *arena, const char *at);
/* Names before '=' and after, for both kinds of files. */
int reader_name(struct reader *r, const char *what, char name[METRIC_NAME_MAX],
                struct chil_error *err);
int reader_expect(struct reader *r, const char *text, struct chil_error *err);
int reader_end(struct reader *r, struct chil_error *err);

/* DATA/KIND/NAME.KIND, or `name` itself if it is a path; the names there are. */
int metric_path(char path[METRIC_PATH_MAX], const char *kind, const char *name,
                struct chil_error *err);
int metric_open(struct text_file *file, char path[METRIC_PATH_MAX], const char *kind,
                const char *what, const char *name, struct chil_error *err);
int metric_names(char ***names, size_t *count, const char *kind, struct chil_error *err);

/* --- Expressions ----------------------------------------------------------------------------- */

enum expr_op {
    EXPR_NUMBER,
    EXPR_NAME,
    EXPR_SECONDS, /* of a name: divided by the clock */
    EXPR_NEGATE,
    EXPR_NOT,
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_LESS,
    EXPR_LESS_EQUAL,
    EXPR_MORE,
    EXPR_MORE_EQUAL,
    EXPR_EQUAL,
    EXPR_UNEQUAL,
    EXPR_AND,
    EXPR_OR,
};

struct expr_node {
    enum expr_op op;
    double number;
    size_t symbol;
    int left, right;
};

struct expr {
    struct expr_node *node; /* operands before operators; the last is the root */
    size_t nodes, capacity;
};

/* A sum of names times factors, and nothing else. */
struct term {
    size_t symbol;
    double factor;
};
struct terms {
    struct term *term;
    size_t count;
};

typedef size_t (*expr_symbol)(void *context, const char *name, const struct reader *r,
                              const char *at);
/* Parses to the end of the statement or a word that ends it ("unit", "of", "because"); `logic`
 * allows comparisons. */
int expr_parse(struct expr *e, struct reader *r, bool logic, expr_symbol symbol, void *context,
               struct chil_error *err);
void expr_fini(struct expr *e);
/* The expression as a sum of factor * name, one term per name; false if it is not one (products of
 * names, or a constant). */
bool expr_terms(const struct expr *e, struct arena *arena, struct terms *terms);

/* The values of names when evaluating, and what happened. */
struct expr_scope {
    double (*value)(void *context, size_t symbol);
    void *context;
    double clock;          /* Hz; 0: unknown */
    const double *whole;   /* denominators of the whole program by node, or NULL */
    double *denominator;   /* filled by node when not NULL */
    bool undefined, small; /* out */
};
double expr_value(const struct expr *e, struct expr_scope *scope);

/* --- Specifications -------------------------------------------------------------------------- */

struct item { /* what belongs to the public item of the same index */
    size_t symbol;
    struct terms
        terms; /* compose, compute, measure (one), aggroup, absent, approximate (those left out) */
    struct expr expr;       /* ratio, finding */
    size_t weight;          /* finding: of this symbol */
    unsigned source, depth; /* which file, and how deep it is used */
    bool dead;              /* replaced by a later file */
};

struct symbol {
    const char *name, *clean;
    int compose, compute, ratio, approximate; /* items, or METRIC_NONE */
    int *measure;                             /* items in order */
    size_t measures;
    bool absent;
    int parent;       /* the first composition that names it: its symbol */
    const char *file; /* where it is first used */
    unsigned line;
    uint8_t mark; /* search for cycles */
};

struct chil_spec {
    struct arena arena;
    const char *name;
    struct chil_spec_item *item;
    struct item *detail;
    size_t items, item_capacity, detail_capacity;
    struct symbol *symbol;
    size_t symbols, symbol_capacity;
    uint32_t *index; /* symbols by name, open addressing; 0: free */
    size_t index_size;
    unsigned sources; /* files read */
};

int spec_find(const struct chil_spec *spec, const char *name); /* a symbol by name */
int spec_find_clean(const struct chil_spec *spec,
                    const char *name); /* or by how experiments spell it */
bool spec_defines(const struct chil_spec *spec, size_t symbol);
struct chil_spec *spec_new(const char *name);
/* Reads one more file into it; `use` may name files beside it, or of the data directory only if
 * path is NULL. */
int spec_read(struct chil_spec *spec, struct text_file *file, const char *path, unsigned depth,
              struct chil_error *err);
/* Reads "NAME = sum" at the reader's place, whose file's name must outlive the specification. */
int spec_read_compute(struct chil_spec *spec, struct reader *r, struct chil_error *err);
/* Adds the computations of another where this one has none; before spec_link. */
int spec_add(struct chil_spec *spec, const struct chil_spec *from);
/* After everything is read: who is whose child, and no metric is part of itself. */
int spec_link(struct chil_spec *spec, struct chil_error *err);

/* --- What is derived ------------------------------------------------------------------------- */

struct tree_row {
    struct terms base; /* over bases: the counters handed in, by index */
};

struct chil_metric_tree {
    struct arena arena;
    struct chil_metric_row *row;
    struct tree_row *detail;
    size_t rows, capacity, detail_capacity;
};

/* A counter that is there, under a name. Several names may stand for one base. */
struct tree_base {
    const char *name;
    size_t base;
    bool alias; /* not its own name: never listed apart */
    bool zero;  /* counted, and nothing happened: there is no base */
};
struct chil_metric_tree *tree_new(const struct chil_spec *spec, const struct tree_base *names,
                                  size_t count, const struct chil_metric_options *options);

/* Experiments of which the attribute "counted" is "all" have every event of their machine, but
 * leave out what never happened: the machine, or NULL; and whether a name is such an event.
 */
struct chil_machine *metric_machine_of(const struct chil_exp *exp);
bool metric_is_zero(const struct chil_machine *machine, const char *name);
/* A new experiment with the same program, places and metadata, and no metrics. */
struct chil_exp *metric_copy_frame(const struct chil_exp *exp);

/* --- Platforms ------------------------------------------------------------------------------- */

enum { PLATFORM_COUNTERS_MAX = 16 };

struct chil_platform {
    struct arena arena;
    const char *name, *text, *metrics, *file;
    const char *counter[PLATFORM_COUNTERS_MAX];
    unsigned counters;
    const char **event;
    uint32_t *allowed; /* counters of each event, a bit each */
    size_t events, event_capacity, allowed_capacity;
    struct chil_set *set, *group; /* groups: if there are any, a run is within one */
    size_t sets, set_capacity, groups, group_capacity;
    struct chil_spec *own;   /* derivations of the file's own */
    struct chil_spec *likes; /* events as sums of our counters */
};

int platform_event(const struct chil_platform *platform, const char *name); /* -1: none */
bool platform_in_group(const struct chil_set *group, const char *const *events, size_t count);
/* Gives each event (an index) a counter: taken[counter] is the place in `events` or -1. false:
 * *without gets none. */
bool platform_seats(const struct chil_platform *platform, const int *events, size_t count,
                    int *taken, size_t *without);

/* --- metric_time.c --------------------------------------------------------------------------- */

/* The root of the hierarchy of time, which comes first; -1: there is something of this name. And
 * the rest of it, when all is derived; `clock` in hertz. */
int metric_time_root(struct chil_exp *exp);
int metric_add_time(struct chil_exp *exp, int time, double clock, struct chil_error *err);

#endif
