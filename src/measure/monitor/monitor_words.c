/* Variables and the words that stand for their values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/name.h"
#include "measure/monitor/monitor_impl.h"

enum { NODE_BITS = 8 }; /* as the board's sender; more where a run has more nodes */

static const struct {
    const char *name;
    unsigned bits; /* of its values; 0: as many as there are names */
} variables[CHIL_VARIABLES] = {
    [CHIL_VAR_LATENCY] = {"latency", CHIL_MONITOR_CLOCK_BITS},
    [CHIL_VAR_SIZE] = {"size", 12},
    [CHIL_VAR_SENDER] = {"sender", NODE_BITS},
    [CHIL_VAR_CATEGORY] = {"category", 4},
    [CHIL_VAR_TAG] = {"tag", 4},
    [CHIL_VAR_CORE] = {"core", 8},
    [CHIL_VAR_PID] = {"pid", 22},
    [CHIL_VAR_TID] = {"tid", 22},
    [CHIL_VAR_KIND] = {"kind", 3},
    [CHIL_VAR_LEVEL] = {"level", 2},
    [CHIL_VAR_CAUSE] = {"cause", 3},
    [CHIL_VAR_NODE] = {"node", NODE_BITS},
    [CHIL_VAR_RECEIVER] = {"receiver", NODE_BITS},
    [CHIL_VAR_HOPS] = {"hops", 10},
    [CHIL_VAR_LINK] = {"link", 3},
    [CHIL_VAR_WAIT] = {"wait", 32},
    [CHIL_VAR_FUNCTION] = {"function", 0},
    [CHIL_VAR_SYMBOL] = {"symbol", 0},
    [CHIL_VAR_CALLPATH] = {"callpath", 0},
    [CHIL_VAR_PAGE] = {"page", 20},
    [CHIL_VAR_ADDRESS] = {"address", 32},
    [CHIL_VAR_PC] = {"pc", 32},
};

static const char *const kinds[CHIL_TRANSACTION_KINDS] = {"load",         "store",  "fetch",
                                                          "invalidation", "packet", "hop"};
static const char *const levels[CHIL_LEVELS] = {"none", "l2", "l3", "ddr"};
static const char *const causes[CHIL_CAUSES] = {"none", "cold", "capacity", "conflict",
                                                "coherence"};
static const char *const links[CHIL_LINKS] = {"none", "xp", "xm", "yp", "ym", "zp", "zm"};
static const char other[] = "other";

const char *chil_variable_name(enum chil_variable variable)
{
    return variable < CHIL_VARIABLES ? variables[variable].name : "?";
}

const char *chil_transaction_kind_name(unsigned kind)
{
    return kind < CHIL_TRANSACTION_KINDS ? kinds[kind] : "?";
}

const char *chil_level_name(unsigned level)
{
    return level < CHIL_LEVELS ? levels[level] : "?";
}

const char *chil_link_name(unsigned link)
{
    return link < CHIL_LINKS ? links[link] : "?";
}

/* The words of variables whose values are the same in all runs. */
static const char *const *fixed_words(enum chil_variable variable, uint32_t *count)
{
    static const struct {
        const char *const *words;
        uint32_t count;
    } fixed[CHIL_VARIABLES] = {[CHIL_VAR_KIND] = {kinds, CHIL_TRANSACTION_KINDS},
                               [CHIL_VAR_LEVEL] = {levels, CHIL_LEVELS},
                               [CHIL_VAR_CAUSE] = {causes, CHIL_CAUSES},
                               [CHIL_VAR_LINK] = {links, CHIL_LINKS}};
    *count = fixed[variable].count;
    return fixed[variable].words;
}

static struct chil_ranges *names_of(const struct chil_hist_names *names,
                                    enum chil_variable variable)
{
    switch (variable) {
    case CHIL_VAR_CATEGORY: return names->categories;
    case CHIL_VAR_TAG: return names->tags;
    case CHIL_VAR_FUNCTION: return names->functions;
    case CHIL_VAR_SYMBOL: return names->symbols;
    case CHIL_VAR_CALLPATH: return names->callpaths;
    default: return NULL;
    }
}

bool monitor_has_words(const struct chil_hist_names *names, enum chil_variable variable)
{
    uint32_t count;
    return fixed_words(variable, &count) || names_of(names, variable);
}

uint32_t monitor_word_count(const struct chil_hist_names *names, enum chil_variable variable)
{
    const struct chil_ranges *of = names_of(names, variable);
    uint32_t count;
    if (fixed_words(variable, &count)) return count;
    return of ? chil_ranges_count(of) + 1 : 0;
}

const char *monitor_word(const struct chil_hist_names *names, enum chil_variable variable,
                         uint64_t value)
{
    uint32_t count;
    const char *const *words = fixed_words(variable, &count);
    if (value >= monitor_word_count(names, variable)) return "?";
    if (words) return words[value];
    return value ? chil_ranges_get(names_of(names, variable), (uint32_t)value) : other;
}

/* A table that may grow has room for TOLD_BITS, or as many names again. */
unsigned monitor_width(const struct chil_hist_names *names, enum chil_variable variable)
{
    enum { TOLD_BITS = 16 };
    bool of_nodes =
        variable == CHIL_VAR_NODE || variable == CHIL_VAR_SENDER || variable == CHIL_VAR_RECEIVER;
    if (of_nodes && names->nodes > 1U << NODE_BITS) return bits_ceil_log2(names->nodes);
    if (!names_of(names, variable)) return variables[variable].bits;
    unsigned bits = bits_ceil_log2(monitor_word_count(names, variable));
    if (!monitor_is_carried(names, variable)) return bits;
    return bits < TOLD_BITS ? TOLD_BITS : bits + 1;
}

struct variable_words {
    const struct chil_hist_names *names;
    enum chil_variable variable;
};

static const char *word_at(const void *table, size_t index)
{
    const struct variable_words *variable_words = table;
    return monitor_word(variable_words->names, variable_words->variable, index);
}

/* The word as it was written; to be freed. */
static char *word_of(const char *text, size_t length)
{
    char *word = base_calloc(length + 1, 1);
    memcpy(word, text, length);
    char *written = name_written(word);
    if (written) free(word);
    return written ? written : word;
}

bool monitor_word_find(const struct chil_hist_names *names, enum chil_variable variable,
                       const char *text, size_t length, uint64_t *value, char *hint,
                       size_t hint_size)
{
    char *word = word_of(text, length);
    uint32_t count = monitor_word_count(names, variable), i = 0;
    while (i < count && strcmp(monitor_word(names, variable, i), word) != 0)
        i++;
    *value = i;
    if (i == count)
        (void)text_hint(
            hint, hint_size,
            text_nearest(word, &(struct variable_words){names, variable}, count, word_at));
    free(word);
    return i < count;
}

bool monitor_word_may_come(const struct chil_hist_names *names, enum chil_variable variable,
                           bool is_quoted)
{
    uint32_t variables_that_may = is_quoted ? names->carried : names->open;
    return names_of(names, variable) && variables_that_may >> variable & 1;
}

uint32_t monitor_word_add(const struct chil_hist_names *names, enum chil_variable variable,
                          const char *text, size_t length)
{
    char *name = word_of(text, length);
    uint32_t number = chil_ranges_name(names_of(names, variable), name);
    free(name);
    return number;
}

static const char *variable_at(const void *table, size_t index)
{
    (void)table;
    return variables[index].name;
}

int monitor_take_variable(struct monitor_text *text, enum chil_variable *variable)
{
    monitor_skip(text);
    const char *at = text->at;
    size_t length = monitor_word_length(at);
    char word[40], hint[80];
    if (!length)
        return monitor_complain(text, at, "a variable is wanted here, such as latency or tag");
    for (unsigned i = 0; i < CHIL_VARIABLES; i++) {
        if (strlen(variables[i].name) != length || strncmp(variables[i].name, at, length) != 0)
            continue;
        *variable = (enum chil_variable)i;
        text->at += length;
        if (variables[i].bits || names_of(text->names, *variable)) return 0;
        return monitor_complain(text, at, "'%s' needs the names of a program", variables[i].name);
    }
    (void)snprintf(word, sizeof word, "%.*s",
                   length < sizeof word ? (int)length : (int)sizeof word - 1, at);
    (void)text_hint(hint, sizeof hint, text_nearest(word, NULL, CHIL_VARIABLES, variable_at));
    return monitor_complain(text, at, "there is no variable '%s'%s", word, hint);
}
